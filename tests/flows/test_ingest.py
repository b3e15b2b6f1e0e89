"""A turn goes in: durable, without secrets and repeats, and what is worth remembering in it becomes memories."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Memory, Message, Principal, Role, Visibility
from recollect.care.restore import ToRevision
from recollect.custody import Deps
from recollect.domain.change import Create
from recollect.domain.event import Trust
from recollect.domain.item import Artifact, ArtifactType, Episode, Fact
from recollect.domain.query import Filters
from recollect.domain.record import Open
from recollect.domain.witness import bare
from recollect.errors import Forbidden, KeyReused
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.models.local import LocalEmbedder
from recollect.policy import distil
from recollect.policy.distil.notation import SECTIONS
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.write.extraction import Caps
from recollect.write.foreign import Thread
from tests.hunt import examples
from tests.policy.talk import HIDDEN, LINES, Fake, Line, weighed
from tests.policy.test_vocabulary import made_up, sources
from tests.policy.test_vocabulary import words as words_of
from tests.worlds import World

EMBEDDER = LocalEmbedder()
KEEPER = Fake(lambda text: weighed(0.0 if "haha" in text else 0.9))
"""Everything is worth keeping but laughter."""
MARCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FACTS = Filters(kinds=frozenset({"fact"}))


@pytest.fixture
def memory(world: World, tmp_path: Path) -> Memory:
    erasures, seal = FileErasures(tmp_path / "erasures"), FileSeal(tmp_path / "key")
    deps = Deps(world.store, world.clock, erasures, seal, embedder=EMBEDDER, keeper=KEEPER)
    return Memory(deps, Principal(tenant=world.tenant, id="mira", role=Role.ADMIN))


def say(text: str, author: str = "Mira", role: str = "user", ts: datetime | None = None, **fields: object) -> Message:
    return Message(text=text, author=author, role=role, ts=ts, **fields)  # type: ignore[arg-type]


def settle(memory: Memory) -> None:
    Worker(deps=memory._deps, kinds=KINDS, name="test").run_until_idle()


def words(memory: Memory) -> list[str]:
    return sorted(shown.words for shown in memory.lines(FACTS))


@pytest.mark.parametrize("second", ["Mira drinks tea.", "Mira drinks tea in the garden.", "Mira drinks no tea."])
def test_an_agent_changes_no_memory_that_is_kept_for_another_agent(memory: Memory, second: str):
    robin, pilot = (
        memory.acting(Principal(tenant=memory.principal.tenant, id="mira", role=Role.AGENT, agent_id=agent))
        for agent in ("robin", "pilot")
    )
    place = {"user_id": "mira", "thread_id": "tea"}
    kept = robin.remember("Mira drinks tea.", **place).item_id
    with pytest.raises(Forbidden):
        pilot.archive(kept)
    before = memory.history(kept)
    made = pilot.remember(second, **place).item_id
    pilot.ingest([say(f"Correction: {second}")], user_id="mira", thread_id="talk", wait=True)
    settle(memory)
    assert (made != kept, memory.history(kept)) == (True, before)
    assert robin.remember("Mira drinks tea in the garden.", **place).item_id == kept, "its own it renews"


def test_a_turn_becomes_evidence_and_a_memory_that_cites_it(memory: Memory):
    taken = memory.ingest(
        [say("I'm allergic to walnuts, so please never use them.", ts=MARCH)], wait=True, thread_id="menu"
    )
    [item_id] = taken.items
    shown = memory.show(item_id)
    assert shown.words == 'Mira, 2 March 2026: "I\'m allergic to walnuts, so please never use them."'
    assert [event.id for event in shown.evidence] == list(taken.event_ids)
    assert shown.item.origin_at == MARCH


def test_a_turn_and_what_is_made_of_it_are_one_write(memory: Memory):
    before = memory.head().rev
    memory.ingest([say("My brother Emil lives in Graz.")], wait=True, thread_id="family")
    assert memory.head().rev == before + 1


def test_small_talk_is_evidence_and_nothing_more(memory: Memory):
    taken = memory.ingest([say("haha thanks, that was quick!")], wait=True, thread_id="menu")
    assert taken.items == ()
    assert len(memory.thread(taken.episode_id)) == 1


def test_secrets_are_gone_before_anything_is_written(memory: Memory, world: World):
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    taken = memory.ingest([say(f"use {token} for the mirror")], wait=True, thread_id="ops")
    kept = memory.remember(f"The mirror is reached with {token}.")
    memory.append([say(f"again: {token}")], thread_id="raw")
    beside = memory.remember("The mirror has a token.", body=Fact(key="mirror", value=token), tags=[f"t {token}"])
    memory.ingest([say("See the note.", meta={"header": [{"auth": token}]})], thread_id="meta", title=f"On {token}")
    memory.revise(beside.item_id, body=Fact(key="mirror", value=f"now {token}"))
    memory.archive(beside.item_id, reason=f"replaced {token}")
    assert taken.redacted
    assert kept.redacted
    assert not any(token in row for row in world.dump())


def test_a_repeat_is_told_and_not_written_again(memory: Memory):
    turns = [say("The launch moved to Thursday afternoon, says the whole team.", ts=MARCH), say("ok", ts=MARCH)]
    first = memory.ingest(turns, wait=True, thread_id="launch")
    again = memory.ingest(turns, wait=True, thread_id="launch")
    assert again.repeats == 2
    assert again.event_ids == first.event_ids
    assert len(memory.thread(first.episode_id)) == 2


def test_people_may_say_yes_twice(memory: Memory):
    taken = memory.ingest([say("yes"), say("yes")], wait=True, thread_id="launch")
    assert taken.repeats == 0


def test_the_same_words_in_another_thread_or_by_another_are_no_repeat(memory: Memory):
    text = "The launch moved to Thursday afternoon, says the whole team."
    memory.ingest([say(text, ts=MARCH)], wait=True, thread_id="a")
    assert memory.ingest([say(text, ts=MARCH)], wait=True, thread_id="b").repeats == 0
    assert memory.ingest([say(text, author="Emil", ts=MARCH)], wait=True, thread_id="a").repeats == 0


def test_what_is_known_gains_a_witness_instead_of_a_twin(memory: Memory):
    first = memory.remember("Mira is allergic to walnuts.")
    again = memory.remember("Mira is allergic to walnuts!", thread_id="later")
    assert again.outcome == "corroborated"
    assert again.item_id == first.item_id
    assert {event.id for event in memory.show(first.item_id).evidence} == {first.event_id, again.event_id}
    assert len(words(memory)) == 1


def test_a_new_value_of_a_key_takes_over_and_closes_the_old_one(memory: Memory):
    old = memory.remember("Mira works at Orbis.", body=Fact(key="employer", value="Orbis"), ts=MARCH)
    later = MARCH + timedelta(days=90)
    new = memory.remember("Mira works at Helix.", body=Fact(key="employer", value="Helix"), ts=later)
    assert new.outcome == "updated"
    before, after = memory.show(old.item_id).item, memory.show(new.item_id).item
    assert (before.valid_to, before.superseded_by) == (later, after.id)
    assert (after.valid_from, after.supersedes) == (later, before.id)


def test_what_was_said_earlier_but_arrives_later_does_not_take_over(memory: Memory):
    later = MARCH + timedelta(days=90)
    new = memory.remember("Mira works at Helix.", body=Fact(key="employer", value="Helix"), ts=later)
    old = memory.remember("Mira works at Orbis.", body=Fact(key="employer", value="Orbis"), ts=MARCH)
    assert memory.show(new.item_id).item.valid_to is None
    assert memory.show(old.item_id).item.valid_to == later
    assert memory.show(old.item_id).item.superseded_by == new.item_id


def test_memories_of_others_are_never_merged(memory: Memory, world: World):
    ana = memory.acting(Principal(tenant=world.tenant, id="ana", role=Role.MEMBER))
    mine = memory.remember("The door code changed last week for everybody.")
    theirs = ana.remember("The door code changed last week for everybody.")
    shared = memory.remember(
        "The door code changed last week for everybody.", project_id="house", visibility=Visibility.PROJECT_SHARED
    )
    assert len({mine.item_id, theirs.item_id, shared.item_id}) == 3


def test_memories_near_each_other_are_linked_once(memory: Memory, world: World):
    a = memory.remember("The billing service runs on PostgreSQL.")
    b = memory.remember("The billing service stores its invoices in PostgreSQL.")
    [edge] = world.store.relations(world.tenant, b.item_id)
    assert {edge.from_id, edge.to_id} == {a.item_id, b.item_id}
    assert 0.5 < edge.strength <= 1


def test_two_that_cannot_both_be_true_are_put_on_record_by_a_job(memory: Memory, world: World):
    memory.remember("Standup starts at 9:30 in the small room.")
    memory.remember("Standup starts at 10:15 in the small room.")
    settle(memory)
    [found] = world.store.records(world.tenant, "contradiction")
    assert isinstance(found, Open)


def test_what_is_derived_is_as_trusted_as_its_source(memory: Memory):
    page = say("Mira's brother Emil lives in Graz with his two dogs.", "web", "tool", trust=Trust.UNTRUSTED)
    for item_id in memory.ingest([page], wait=True, thread_id="web").items:
        assert memory.show(item_id).item.trust is Trust.UNTRUSTED
    kept = memory.remember("The account is DE02.", trust=Trust.UNTRUSTED)
    assert memory.show(kept.item_id).item.trust is Trust.UNTRUSTED


def test_nothing_untrusted_takes_over_from_what_is_trusted(memory: Memory):
    mine = memory.remember("The account is DE01.", body=Fact(key="account", value="DE01"))
    memory.remember("The account is DE02.", body=Fact(key="account", value="DE02"), trust=Trust.UNTRUSTED)
    assert memory.show(mine.item_id).item.superseded_by is None


def test_a_turn_makes_only_so_many_memories_and_what_is_left_out_is_named(memory: Memory):
    few = Memory(replace(memory._deps, caps=Caps(turn=1, day=2)), memory.principal)
    text = "My sister Ines lives in Lyon. My brother Emil works at Orbis. I'm allergic to celery. I prefer tea."
    taken = few.ingest([say(text, ts=MARCH)], wait=True, thread_id="a")
    assert len(taken.items) == 1
    assert len(taken.left_out) == 1
    assert len(few.ingest([say("My aunt Freya lives in Bergen.")], wait=True, thread_id="b").items) == 1
    assert few.ingest([say("My uncle Hugo lives in Porto.")], wait=True, thread_id="c").items == ()


def test_long_texts_are_cut_into_chunks_that_are_embedded_later(memory: Memory, world: World):
    page = " ".join(f"Paragraph {number} is about the harbour of Bergen." for number in range(60))
    taken = memory.ingest([say(page, "file", "document")], thread_id="docs")
    [event] = memory.thread(taken.episode_id)
    assert len(event.chunks) > 1
    assert taken.later
    settle(memory)
    assert not world.store.unembedded(world.tenant, EMBEDDER.name, taken.episode_id, 10)
    assert memory.evidence(taken.episode_id, f"c:{event.id}.2")[0].text in page


def test_what_comes_in_bulk_is_evidence_at_once_and_memory_soon(memory: Memory):
    turns = tuple(say(f"Note {n}: my cousin Ines{n} lives in Lyon.", ts=MARCH + timedelta(hours=n)) for n in range(5))
    told: list[int] = []
    result = memory.bulk([Thread("import 1", "Old notes", turns)], progress=told.append)
    assert (result.threads, result.messages, sum(told)) == (1, 5, 5)
    settle(memory)
    assert any("Lyon" in text for text in words(memory))
    assert memory.bulk([Thread("import 1", "Old notes", turns)]).repeats == 5


def test_a_thread_knows_what_it_is_about(memory: Memory):
    commit = Artifact(ArtifactType.COMMIT, "9ba5d74")
    taken = memory.ingest(
        [say("Merged the parser.")], wait=True, thread_id="git", title="The parser", artifacts=[commit]
    )
    memory.ingest(
        [say("And the lexer.")], wait=True, thread_id="git", artifacts=[Artifact(ArtifactType.FILE, "src/lexer.py")]
    )
    body = memory.show(taken.episode_id).item.body
    assert isinstance(body, Episode)
    assert body.title == "The parser"
    assert [artifact.ref for artifact in body.artifacts] == ["9ba5d74", "src/lexer.py"]


def test_a_key_is_ones_own_whoever_else_goes_by_the_same_id(memory: Memory):
    """A person's agents go by the person's id: none of them learns, or feels, which keys the others used."""
    tenant = memory.principal.tenant
    agents = [memory.acting(Principal(tenant=tenant, id="mira", role=Role.AGENT, agent_id=one)) for one in ("a", "b")]
    kept = [
        one.remember(f"Number {place} is up.", user_id="mira", key="k").item_id
        for place, one in enumerate((memory, *agents))
    ]
    assert len(set(kept)) == 3
    assert agents[1].remember("Number 2 is up.", user_id="mira", key="k").item_id == kept[2]


def test_a_repeat_with_a_key_answers_the_same(memory: Memory):
    turn = [say("My brother Emil lives in Graz.")]
    first = memory.ingest(turn, wait=True, thread_id="family", key="k1")
    assert memory.ingest(turn, wait=True, thread_id="family", key="k1") == first
    with pytest.raises(KeyReused):
        memory.ingest([say("Something else.")], wait=True, thread_id="family", key="k1")


def test_a_memory_made_of_a_turn_goes_when_the_turn_is_taken_back(memory: Memory, world: World):
    before = memory.head().rev
    memory.ingest([say("My brother Emil lives in Graz.")], wait=True, thread_id="family")
    assert words(memory)
    memory.rollback(ToRevision(world.scope, before))
    assert words(memory) == []


@pytest.mark.parametrize("text", ["", "   ", "a\x00b", "\ud800", "x" * 1_000_001])
def test_bad_text_is_refused_with_words_and_nothing_is_written(memory: Memory, text: str):
    before = memory.head().rev
    with pytest.raises(ValueError, match="text"):
        memory.ingest([say("fine"), say(text)], wait=True, thread_id="a")
    assert memory.head().rev == before


def test_everything_that_is_made_has_its_witnesses(memory: Memory, world: World):
    memory.ingest([say("My sister Ines lives in Lyon. I prefer tea to coffee.")], wait=True, thread_id="a")
    for entry in world.journal():
        change = entry.change
        if isinstance(change, Create) and change.item.kind == "fact":
            assert memory.show(change.item.id).evidence


# -- who said it, and how often -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["I live in Graz.", "We moved the release to Thursdays, because of the tests."])
def test_two_speakers_are_never_the_same_i(memory: Memory, text: str):
    memory.ingest([say(text, "Mira"), say(text, "Emil")], wait=True, thread_id="a")
    memory.ingest([say(text, "Freya")], wait=True, thread_id="b")
    kept = memory.lines(FACTS)
    assert sorted(one.words.split(",")[0].split()[0] for one in kept) == ["Emil", "Freya", "Mira"]
    assert all(len(memory.show(one.item.id).evidence) == 1 for one in kept)


@pytest.mark.parametrize("text", ["I live in Graz.", "We moved the release to Thursdays, because of the tests."])
def test_who_says_it_again_adds_a_witness_and_the_words_stay(memory: Memory, text: str):
    first = memory.ingest([say(text, ts=MARCH)], wait=True, thread_id="a")
    before = words(memory)
    again = memory.ingest([say(text.lower(), ts=MARCH + timedelta(days=3))], wait=True, thread_id="b")
    assert words(memory) == before
    assert again.items == first.items
    [item_id] = first.items
    assert {event.id for event in memory.show(item_id).evidence} == {*first.event_ids, *again.event_ids}


def test_what_is_said_twice_in_one_breath_counts_once_with_both_witnesses(memory: Memory):
    said = [say("I live in Graz.", ts=MARCH), say("haha"), say("i live in graz!", ts=MARCH + timedelta(hours=1))]
    taken = memory.ingest(said, wait=True, thread_id="a")
    [item_id] = taken.items
    assert words(memory) == ["Mira lives in Graz."]
    assert {event.id for event in memory.show(item_id).evidence} == {taken.event_ids[0], taken.event_ids[2]}


FACTS_OF_A_LIFE = [
    "I live in Graz.", "I live in Linz.", "My port is 8080.", "My port is 9090.", "We use tabs.", "We never use tabs.",
    "I work at Orbis.", "I work at Orbis as a baker.", "Our dog is called Rex.", "no wait, it's Max",
    "Я живу в Казани.", "I own 2 boats.", "I own 3 boats.", "I'm allergic to walnuts.", "I prefer tea.",
    "I prefer green tea.",
]  # fmt: skip


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["Mira", "Emil"]), st.sampled_from(FACTS_OF_A_LIFE)), min_size=1, max_size=8))
def test_every_fact_of_a_batch_is_decided(memory: Memory, told: list[tuple[str, str]]):
    """Whatever lies near it, and whatever was made of those before it: its turn bears witness to a memory."""
    mint = memory._deps.clock.mint()
    unlimited = Memory(replace(memory._deps, caps=Caps(turn=99, day=9_999)), memory.principal)
    said = [say(text, author, ts=MARCH + timedelta(hours=at)) for at, (author, text) in enumerate(told)]
    taken = unlimited.ingest(said, wait=True, thread_id=f"thread {mint}", user_id=f"user {mint}")
    cited = {event.id for item_id in taken.items for event in memory.show(item_id).evidence}
    assert cited == set(taken.event_ids)
    held = memory.items(Filters(user_id=f"user {mint}", kinds=frozenset({"fact"})))
    assert {item.id for item in held} == set(taken.items)


# -- what is stored -------------------------------------------------------------------------------------------


def stored(memory: Memory, world: World, user: str) -> list[tuple[str, str]]:
    """Every text that is stored of a user's memories, with its level, as it is served."""
    items = memory.items(Filters(user_id=user))
    versions = [one for item in items for one in world.store.versions(world.tenant, item.id)]
    return [(one.level.name, distil.served(one.content, one.bullets)) for one in versions]


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES)
def test_no_stored_text_holds_a_word_that_nobody_said(memory: Memory, world: World, lines: list[Line]):
    mint = memory._deps.clock.mint()
    user = f"user {mint}"
    said = [
        say(line[-1], line[0], line[1], MARCH + timedelta(minutes=at), trust=Trust.TRUSTED)  # type: ignore[arg-type]
        for at, line in enumerate(lines)
    ]
    taken = memory.ingest(said, wait=True, thread_id=f"thread {mint}", user_id=user)
    memory.close_episode(taken.episode_id)
    heard = sources(memory.thread(taken.episode_id))
    for level, text in stored(memory, world, user):
        if level in ("R3", "R2"):
            assert not made_up(bare(text), heard, words_of(*SECTIONS)), (level, text)
        assert level == "R4" or not any(secret in text for secret in HIDDEN), (level, text)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=2, max_size=6))
def test_values_of_one_key_in_any_order_leave_one_that_holds_and_no_overlap(
    memory: Memory, told: list[tuple[str, int]]
):
    user = f"user {memory._deps.clock.mint()}"
    for value, day in told:
        at, body = MARCH + timedelta(days=day), Fact(key="port", value=value * 2)
        memory.remember(f"The port is {value}{value}.", body=body, ts=at, user_id=user)
    held = memory.items(Filters(user_id=user, kinds=frozenset({"fact"})))
    assert sum(item.superseded_by is None for item in held) == 1
    assert all(item.valid_to is None or item.valid_to >= (item.valid_from or item.valid_to) for item in held)
