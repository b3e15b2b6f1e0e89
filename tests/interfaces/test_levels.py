"""Levels end to end over HTTP, on both engines: what is served, what more is served, who may, and what time does."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.client import Client
from recollect.domain.codec import moment
from recollect.domain.ids import ItemId
from recollect.domain.item import LockReason
from recollect.domain.query import Query
from recollect.domain.scope import Role
from recollect.domain.turn import NEED_MORE_CONTEXT, Mark, Mode, Reason, Task
from recollect.errors import Forbidden, NeedMoreContext, NotFound, NothingMore
from recollect.write.message import Message
from tests.interfaces.inside import Inside, inside
from tests.interfaces.served import Reply
from tests.models.service import Asked, serving
from tests.models.test_writer import chat
from tests.postgres import fresh_database

Start = Callable[..., AbstractContextManager[Inside]]


@pytest.fixture(params=["sqlite", "postgres"])
def start(request: pytest.FixtureRequest, tmp_path: Path, postgres_server: str) -> Iterator[Start]:
    """Starts a server over a store of its own, with the settings that it is given."""
    with ExitStack() as stack:
        store = str(tmp_path / "memory.db")
        if request.param == "postgres":
            store = stack.enter_context(fresh_database(postgres_server))
        yield lambda **chosen: inside(tmp_path, store, **chosen)


@pytest.fixture
def server(start: Start) -> Iterator[Inside]:
    with start() as running:
        yield running


SAID = [
    ("mira", "user", "Good morning! Where do we stand with the Kestrel ferry?"),
    ("asha", "user", "We decided to move the Kestrel ferry from Pier 2 to Pier 7."),
    ("assistant", "assistant", "Noted. Why does the Kestrel ferry move?"),
    ("asha", "user", "The Kestrel ferry moves because the crane at Pier 2 was condemned on 3 February."),
    ("mira", "user", "The Kestrel ferry departs from Pier 7 at 06:40 from Monday on."),
    ("assistant", "assistant", "Thank you, that is clear."),
    ("mira", "user", "Who tells the harbour office about the Kestrel ferry?"),
    ("asha", "user", "I called the harbour office on Tuesday; Ruben Holt confirmed Pier 7 for the Kestrel ferry."),
]
QUESTION = "Why does the Kestrel ferry move to Pier 7?"


def a_closed_thread(server: Inside, **place: str) -> ItemId:
    said = [Message(text=text, author=author, role=role) for author, role, text in SAID]
    kept = server.client.ingest(said, thread_id="ferry", **place)
    server.worker.run_until_idle()
    server.client.close_episode(kept.episode_id)
    return kept.episode_id


def version_of(client: Client, item_id: ItemId, level: str) -> str:
    return next(one["versionId"] for one in client.versions(item_id) if one["level"] == level)


def a_problem(reply: Reply, status: int, kind: str) -> dict[str, Any]:
    assert reply.status == status, reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.document["type"] == f"urn:recollect:{kind}"
    return reply.document


# -- levels ---------------------------------------------------------------------------------------------------


def test_a_closed_thread_has_all_five_levels_and_is_served_as_its_summary(server: Inside):
    episode = a_closed_thread(server)
    told = server.ask("GET", f"/api/memory/{episode}?level=auto").document
    assert (told["usedLevel"], told["escalated"], told["reason"]) == ("R3", False, None)
    assert told["witnessesAvailable"]
    assert told["more"]
    assert told["memory"]["id"] == told["id"] == episode
    for bullet in told["bullets"]:
        assert bullet["section"]
        for witness in bullet["witnesses"]:
            assert server.client.evidence(episode, witness["witness"])
    family = {one["level"]: one for one in server.client.versions(episode)}
    assert set(family) == {"R1", "R2", "R3", "R4", "R5"}
    assert [one["repLevel"] for one in family.values() if one["active"]] == [3]
    assert family["R3"]["versionId"] == told["versionId"]
    assert family["R3"]["derivationKind"] == "summarize"
    above = {one["versionId"]: one for one in family.values()}
    assert above[family["R1"]["derivedFromVersionId"]]["level"] == "R2"
    assert above[family["R4"]["derivedFromVersionId"]]["level"] == "R5"
    read = server.client.version(episode, family["R3"]["versionId"][-12:])
    assert read["content"] == told["content"]
    assert server.client.history(episode)[-1]["op"] == "disclose"


def test_more_is_one_step_at_a_time_until_there_is_nothing_more(server: Inside):
    episode = a_closed_thread(server)
    served = [server.client.serve(episode, turn_id="t")]
    while served[-1]["more"]:
        served.append(server.client.serve(episode, more=True, turn_id="t"))
    assert [one["usedLevel"] for one in served[:3]] == ["R3", "R4", "R5"]
    assert len({one["content"] for one in served}) == len(served)
    assert all(one["escalated"] for one in served[1:])
    with pytest.raises(NothingMore):
        server.client.serve(episode, more=True, turn_id="t")
    spent = server.ask("GET", f"/api/memory/{episode}?level=more&turn_id=t")
    assert a_problem(spent, 409, "nothing-more")["detail"]


@pytest.mark.parametrize("word", ["R5", "5", "r3", "full", "auto,more", ""])
def test_nobody_names_a_level(server: Inside, word: str):
    episode = a_closed_thread(server)
    for token in ("the owner's token", server.token("robin", Role.AGENT, agent_id="robin", users=frozenset({"mira"}))):
        refused = a_problem(server.ask("GET", f"/api/memory/{episode}?level={word}", token=token), 422, "invalid")
        assert "levels are not named" in refused["detail"]
        asked = {"query": QUESTION, "level": word}
        assert (
            "level" in a_problem(server.ask("POST", "/api/memory/query", asked, token=token), 422, "invalid")["detail"]
        )


# -- promote, pin, compress -----------------------------------------------------------------------------------


def test_what_is_promoted_stays_while_it_is_locked_and_the_hammer_may_when_it_is_not(server: Inside):
    episode = a_closed_thread(server)
    raw = version_of(server.client, episode, "R5")
    told = server.ask("PUT", f"/api/memory/{episode}/active/{raw}", {"reason": "dispute", "minutes": 30}).document
    assert (told["activeVersionId"], told["activeLockReason"]) == (raw, "dispute")
    assert moment(told["activeLockUntil"]) - server.clock.at <= timedelta(minutes=30)
    assert server.client.serve(episode)["usedLevel"] == "R5"
    [stroke] = server.client.compress(item_id=episode)["strokes"]
    assert stroke["skipped"].startswith("locked")
    assert stroke["made"] == []
    server.later(minutes=45)
    [speaking] = [one for one in server.client.versions(episode) if one["active"]]
    assert speaking["versionId"] == raw, "reading it had extended the lock"
    server.later(days=8)
    [stroke] = server.client.compress(item_id=episode)["strokes"]
    assert not stroke["skipped"]
    assert server.client.serve(episode)["usedLevel"] == "R3"


def test_a_pin_is_a_floor(server: Inside):
    episode = a_closed_thread(server)
    assert server.ask("POST", f"/api/memory/{episode}/pin").document["pinnedMinLevel"] == "R3"
    server.later(days=31)
    server.client.compress(item_id=episode)
    assert server.client.serve(episode)["usedLevel"] == "R3"
    server.client.unpin(episode)
    assert "pinned_min_level" not in server.client.show(episode)["memory"]
    server.later(days=31)
    assert server.client.serve(episode)["usedLevel"] == "R2", "it is old by now, and nothing holds it up"


def test_a_dry_run_says_what_would_be_made_and_makes_nothing(server: Inside):
    said = [Message(text=text, author=author, role=role) for author, role, text in SAID]
    episode = server.client.ingest(said, thread_id="ferry", topic_key="kestrel").episode_id
    before = server.ask("GET", "/api/audit?limit=1").document["entries"][0]["seq"]
    dry = server.client.compress(topic="kestrel", dry_run=True)
    assert (dry["dry_run"], dry["cause"]) == (True, None)
    assert server.ask("GET", "/api/audit?limit=1").document["entries"][0]["seq"] == before
    done = server.client.compress(topic="kestrel")
    [would], [did] = (
        [[made["level"] for made in stroke["made"]] for stroke in run["strokes"] if stroke["memory_id"] == episode]
        for run in (dry, done)
    )
    assert would == did
    assert done["cause"]


def test_archived_and_brought_back(server: Inside):
    kept = server.client.remember("The Kestrel ferry has a red funnel.")
    told = server.ask("POST", f"/api/memory/{kept.item_id}/archive", {"reason": "repainted"}).document
    assert told["state"] == "archived"
    assert not server.client.query(Query(text="What colour is the funnel?")).results
    assert server.ask("POST", f"/api/memory/{kept.item_id}/restore").document["state"] == "active"
    assert server.client.query(Query(text="What colour is the funnel?")).results
    server.client.archive(kept.item_id)
    assert state(server, kept.item_id) == "archived"


# -- more evidence for an answer ------------------------------------------------------------------------------


def test_a_reroll_is_never_answered_with_the_same_context(server: Inside):
    a_closed_thread(server)
    asked = Query(text=QUESTION, turn_id="t", budget_tokens=2000)
    answers = [server.client.query(asked)]
    for _ in range(3):
        server.client.feedback("t", Mark.REROLL)
        try:
            answers.append(server.client.query(asked))
        except NothingMore:
            break
    contexts = ["\n".join(result.text for result in answer.results) for answer in answers]
    assert len(set(contexts)) == len(contexts)
    assert [answer.used_level.name for answer in answers[:3]] == ["R3", "R4", "R5"]
    assert [answer.escalated for answer in answers[:3]] == [False, True, True]
    assert {answer.reason for answer in answers[1:]} == {Reason.DISPUTE}


def test_in_mode_a_the_model_is_asked_again_with_more(start: Start):
    because = "Because the crane at Pier 2 was condemned."

    def reply(asked: Asked) -> Any:
        enough = "condemned on 3 February" in json.dumps(asked.body) and len(service.asked) > 1
        return chat(asked, {"text": because if enough else "", "enough": enough})

    with serving(reply) as service:
        options = {"writer": "openai:small", "writer_url": service.url, "writer_key": "k"}
        with start(**options) as server:
            server.client.remember("We decided to move the Kestrel ferry from Pier 2 to Pier 7.")
            server.client.remember("The crane at Pier 2, where the Kestrel ferry was, was condemned on 3 February.")
            told = server.ask("POST", "/api/memory/answer", {"query": QUESTION, "turn_id": "t"}).document
    assert told["text"] == because
    assert (told["escalated"], told["usedLevel"], told["reason"]) == (True, "R4", "uncertainty")
    assert (told["attempts"], told["turn_id"]) == (2, "t")
    first, second = (json.dumps(one.body["messages"]) for one in service.asked)
    assert first != second


def test_in_mode_b_the_model_is_asked_again_when_people_agree(start: Start):
    with serving(
        lambda asked: chat(asked, {"text": "", "enough": False}),
        lambda asked: chat(asked, {"text": "Because of the crane.", "enough": True}),
    ) as service:
        options = {"writer": "openai:small", "writer_url": service.url, "writer_key": "k", "escalation_mode": "B"}
        with start(**options) as server:
            server.client.remember("The Kestrel ferry moves to Pier 7 because the crane at Pier 2 was condemned.")
            with pytest.raises(NeedMoreContext) as refused:
                server.client.answer(Query(text=QUESTION, turn_id="t"))
            assert refused.value.recommended_next_level == "R4"
            assert len(service.asked) == 1
            told = server.client.answer(Query(text=QUESTION, turn_id="t", agreed=True))
    assert told["text"] == "Because of the crane."
    assert (told["usedLevel"], told["escalated"]) == ("R4", True)


def test_without_a_language_model_nobody_answers(server: Inside):
    a_problem(server.ask("POST", "/api/memory/answer", {"query": QUESTION}), 422, "invalid")


@pytest.mark.parametrize("status", [409, 428])
def test_in_mode_b_people_are_asked_first(start: Start, status: int):
    with start(escalation_mode="B", escalation_status=str(status)) as server:
        episode = a_closed_thread(server)
        asked = {"query": QUESTION, "turn_id": "t"}
        assert server.ask("POST", "/api/memory/query", asked).document["usedLevel"] == "R3"
        unsure = {**asked, "said": f"I am not sure. {NEED_MORE_CONTEXT}"}
        told = a_problem(server.ask("POST", "/api/memory/query", unsure), status, "need-more-context")
        assert told["title"] == NEED_MORE_CONTEXT
        assert told["recommendedNextLevel"] == "R4"
        assert told["witnessesAvailable"] is True
        assert told["reason"] == "uncertainty"
        agreed = server.ask("POST", "/api/memory/query", {**unsure, "agreed": True}).document
        assert (agreed["usedLevel"], agreed["escalated"], agreed["reason"]) == ("R4", True, "uncertainty")
        with pytest.raises(NeedMoreContext) as refused:
            server.client.serve(episode, task=Task.AUDIT)
        assert (refused.value.recommended_next_level, refused.value.reason) == ("R4", "audit")
        assert server.client.serve(episode, more=True)["usedLevel"] == "R4", "to ask for more is to agree"


def test_a_question_may_choose_its_mode(server: Inside):
    a_closed_thread(server)
    asked = Query(text=QUESTION, task=Task.QUOTE)
    assert server.client.query(asked).escalated
    with pytest.raises(NeedMoreContext):
        server.client.query(Query(text=QUESTION, task=Task.QUOTE, mode=Mode.B))
    assert server.client.query(Query(text=QUESTION, task=Task.QUOTE, mode=Mode.B, agreed=True)).escalated


# -- what time does -------------------------------------------------------------------------------------------


def state(server: Inside, item_id: ItemId) -> str:
    return server.client.show(item_id)["memory"]["state"]


def test_what_nobody_asked_for_is_archived_when_the_project_moves_on(server: Inside):
    old = server.client.remember("The beta of Apollo ends in March.", project_id="apollo").item_id
    pinned = server.client.remember("Apollo is written in Rust.", project_id="apollo").item_id
    elsewhere = server.client.remember("The beta of Borealis ends in May.", project_id="borealis").item_id
    server.client.pin(pinned)
    assert server.client.epoch("apollo") is None
    server.later(days=31)
    assert state(server, old) == "active", "idle alone is not enough"
    server.later(days=31)
    fresh = server.client.remember("The beta of Apollo was extended.", project_id="apollo").item_id
    advanced = server.ask("POST", "/api/projects/apollo/epoch", {"reason": "2.0 is out"}).document
    assert (advanced["number"], advanced["reason"]) == (1, "2.0 is out")
    server.later(days=1)
    assert state(server, old) == "archived"
    assert [state(server, item) for item in (pinned, elsewhere, fresh)] == ["active"] * 3
    assert server.client.epoch("apollo") == server.memory.epoch("apollo")
    assert old not in {result.id for result in server.client.query(Query(text="beta of Apollo", top_k=50)).results}


def test_a_decision_that_supersedes_another_archives_it(server: Inside):
    before = server.client.remember("The release train leaves on Thursdays.", category="decisions").item_id
    after = server.client.remember(
        "The release train leaves on Tuesdays.",
        category="decisions",
        tags=["DECISION/SUPERSEDES"],
        supersedes=before,
    ).item_id
    server.later(days=1)
    assert state(server, before) == "archived"
    assert server.client.show(before)["memory"]["superseded_by"] == after
    found = [result.id for result in server.client.query(Query(text="When does the release train leave?")).results]
    assert found[0] == after
    assert before not in found
    server.client.restore(before)
    assert state(server, before) == "active"


# -- who may --------------------------------------------------------------------------------------------------


def test_an_agent_asks_for_more_and_does_nothing_else_to_levels(server: Inside):
    episode = a_closed_thread(server)
    token = server.token("robin", Role.AGENT, agent_id="robin", users=frozenset({"mira"}))
    agent = Client(server.address, token)
    assert agent.serve(episode)["usedLevel"] == "R3"
    assert agent.serve(episode, more=True)["usedLevel"] == "R4"
    raw = version_of(agent, episode, "R5")
    forbidden: list[tuple[str, str, object]] = [
        ("PUT", f"/api/memory/{episode}/active/{raw}", {}),
        ("GET", f"/api/memory/{episode}/versions/{raw}", None),
        ("POST", f"/api/memory/{episode}/pin", None),
        ("POST", f"/api/memory/{episode}/unpin", None),
        ("POST", "/api/memory/compress", {"memory_id": episode}),
        ("POST", "/api/memory/compress", {}),
        ("POST", "/api/projects/apollo/epoch", {}),
        ("GET", "/api/audit", None),
        ("GET", "/api/audit/verify", None),
    ]
    before = server.memory.head()
    for method, path, body in forbidden:
        a_problem(server.ask(method, path, body, token=token), 403, "forbidden")
    assert server.memory.head() == before
    with pytest.raises(Forbidden):
        agent.promote(episode, raw)


def test_what_is_anothers_is_not_there(server: Inside):
    episode = a_closed_thread(server)
    raw = version_of(server.client, episode, "R5")
    server.client.query(Query(text=QUESTION, turn_id="t"))
    agent = server.token("robin", Role.AGENT, agent_id="robin", users=frozenset({"asha"}))
    member = server.token("ruben", Role.MEMBER)
    hidden: list[tuple[str, str, object]] = [
        ("GET", f"/api/memory/{episode}", None),
        ("GET", f"/api/memory/{episode}?level=more", None),
        ("GET", f"/api/memory/{episode}/evidence", None),
        ("GET", f"/api/memory/{episode}/history", None),
        ("GET", f"/api/memory/{episode}/versions", None),
        ("POST", f"/api/memory/{episode}/archive", {}),
        ("POST", f"/api/memory/{episode}/restore", None),
        ("POST", f"/api/memory/{episode}/close", None),
        ("POST", "/api/turns/t/feedback", {"mark": "incorrect"}),
    ]
    for token in (agent, member):
        for method, path, body in hidden:
            a_problem(server.ask(method, path, body, token=token), 404, "not-found")
        for method, path in (("PUT", f"/api/memory/{episode}/active/{raw}"), ("POST", f"/api/memory/{episode}/pin")):
            assert server.ask(method, path, token=token).status in (403, 404)
        assert not Client(server.address, token).query(Query(text=QUESTION)).results
    with pytest.raises(NotFound):
        Client(server.address, member).serve(episode)


def test_a_moderator_looks_after_levels(server: Inside):
    episode = a_closed_thread(server, project_id="harbour")
    token = server.token("moss", Role.MODERATOR)
    moderator = Client(server.address, token)
    summary = version_of(moderator, episode, "R3")
    assert moderator.version(episode, summary)["bullets"]
    moderator.promote(episode, summary, reason=LockReason.AUDIT)
    moderator.compress(item_id=episode, dry_run=True)
    assert moderator.advance_epoch("harbour", "moved").number == 1
    entries = server.ask("GET", "/api/audit?limit=2", token=token).document
    assert len(entries["entries"]) == 2
    older = server.ask("GET", f"/api/audit?before={entries['next']}&limit=1000", token=token).document
    assert older["next"] is None
    assert older["entries"][0]["seq"] == entries["next"] - 1
    verified = server.ask("GET", "/api/audit/verify?deep=true", token=token).document
    assert verified["whole"], verified
