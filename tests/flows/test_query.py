"""memory.query: what is asked for is served, within the budget, and nothing that may not be."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.care.restore import OneEntry
from recollect.domain.change import Append, Create, Derive, Link, Verb, move, revise
from recollect.domain.event import Trust
from recollect.domain.ids import Rev, TenantId
from recollect.domain.item import Archived, Expired, SoftDeleted, Visibility
from recollect.domain.observation import Operation, Told, Use, Used
from recollect.domain.query import Answer, Filters, Form, Query, Result, Source
from recollect.domain.scope import Principal, Role
from recollect.domain.text import tokens
from recollect.errors import Forbidden, ModelFailed
from recollect.holdings import Vector
from recollect.models.local import LocalEmbedder
from recollect.policy.categories import SHIPPED, Categories, parse
from recollect.read.query import Reader, Served
from tests.hunt import examples
from tests.worlds import Told as Evidence
from tests.worlds import World

pytestmark = pytest.mark.filterwarnings("error")


def reader(world: World, agent: str | None = None, categories: Categories | None = None, **bounds: object) -> Reader:
    """A reader as somebody of the tenant: an agent where one is named, else an admin."""
    role = Role.AGENT if agent else Role.ADMIN
    who = Principal(tenant=world.tenant, id=agent or "mira", role=role, agent_id=agent, **bounds)  # type: ignore[arg-type]
    return Reader(world.store, None, world.clock, who, categories)


def ask(world: World, text: str, agent: str | None = None, **how: object) -> Answer:
    served = serve(world, text, agent, **how)
    return served.answer


def serve(world: World, text: str, agent: str | None = None, **how: object) -> Served:
    served = reader(world, agent).answer(Query(text=text, **how))  # type: ignore[arg-type]
    world.store.observe(world.tenant, served.observations)
    return served


def texts(answer: Answer) -> list[str]:
    return [result.text for result in answer.results]


# -- what is found ------------------------------------------------------------------------------------------


def test_a_question_finds_the_memory_that_answers_it(world):
    told = world.tell("Ana's dentist is called Doctor Okafor.", category="relationships")
    world.tell("The boiler was repaired in March.")
    (result,) = ask(world, "Who is Ana's dentist?", top_k=1).results
    assert result.id == told.item.id
    assert result.category == "relationships"
    assert result.text == "[relationships] ana, 1 January 2026: Ana's dentist is called Doctor Okafor."
    assert 0 < result.score <= 1
    (alone,) = ask(world, "Who is Ana's dentist?", source=Source.MEMORY, top_k=1).results
    assert alone.text == "[relationships] Ana's dentist is called Doctor Okafor."


def test_an_unknown_topic_gets_no_results(world):
    world.tell("Ana's dentist is called Doctor Okafor.")
    for source in Source:
        assert ask(world, "How tall is the lighthouse of Alexandria?", source=source).results == ()


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("The build fails with ERR-4471 on Windows.", "What is ERR-4471?"),
        ("The rule lives in src/policy/rank.py now.", "What lives in src/policy/rank.py?"),
        ("The leak was fixed by commit 9fceb02d0ae598e9.", "What did 9fceb02d0ae598e9 fix?"),
        ("我的猫叫小白，住在里斯本。", "我的猫叫什么？"),  # noqa: RUF001
        ("Моя сестра живёт в Граце.", "Где живёт сестра?"),
        ("Die Schlüssel liegen im Gewächshaus.", "Wo liegen die Schlüssel?"),
    ],
)
def test_codes_and_other_languages_are_found(world, said, asked):
    told = world.tell(said)
    world.tell("The cat sleeps on the red chair all day.")
    world.tell("Nothing else happened in this project lately.")
    assert ask(world, asked).results[0].id == told.item.id
    assert ask(world, asked, source=Source.EVIDENCE).results[0].id == told.event.id


def test_evidence_is_served_word_for_word_with_who_said_it_and_when(world):
    episode, events = world.say("Shall we eat?", "The soup of the day is minestrone.", "Fine.")
    result = ask(world, "What is the soup of the day?", source=Source.EVIDENCE).results[0]
    assert result.id == events[1].id
    assert result.text == "The soup of the day is minestrone."
    assert result.meta["author"] == "ana"
    assert result.meta["episode"] == episode.id
    assert result.meta["seq"] == 2
    assert datetime.fromisoformat(str(result.meta["ts"])) == events[1].ts


def test_a_long_event_is_cut_to_the_slice_that_answers(world):
    world.say("We spoke of many things. " * 200 + "The spare key hangs behind the piano. " + "And so on. " * 200)
    answer = ask(world, "Where does the spare key hang?", source=Source.EVIDENCE, budget_tokens=60)
    assert "The spare key hangs behind the piano." in answer.results[0].text
    assert answer.tokens <= 60


def test_full_results_come_with_all_that_is_known(world):
    told = world.tell("Ana's passport expires in 2031.", importance=4, tags=("papers",))
    said = {Source.MEMORY: "", Source.ANY: "ana, 1 January 2026: "}
    for source, frame in said.items():
        (result,) = ask(world, "When does Ana's passport expire?", form=Form.FULL, source=source).results
        assert result.text == f"{frame}Ana's passport expires in 2031."
        assert result.meta["importance"] == 4
        assert result.meta["tags"] == ["papers"]
        assert result.meta["witnesses"] == f"e:{told.event.id}"
        assert {"kind", "key", "value", "scope", "confidence", "updated_at", "valid_from", "trust"} <= set(result.meta)


def test_explain_says_why_each_result_is_there(world):
    world.tell("Ana's passport expires in 2031.", importance=5)
    answer = ask(world, "When does Ana's passport expire?", explain=True)
    assert [one["id"] for one in answer.explain] == [result.id for result in answer.results]
    assert {"text", "recency"} <= set(answer.explain[0]["signals"])  # type: ignore[call-overload]
    assert ask(world, "When does Ana's passport expire?").explain == ()


def test_a_threshold_drops_what_is_less_likely(world):
    world.tell("Ana's passport expires in 2031.")
    world.tell("Ana's library card is blue.")
    all_ = ask(world, "When does Ana's passport expire?", threshold=0.0).results
    assert len(all_) == 2
    cut = (all_[0].score + all_[1].score) / 2
    assert len(ask(world, "When does Ana's passport expire?", threshold=cut).results) == 1
    assert ask(world, "When does Ana's passport expire?", threshold=1.0).results == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(15))
@given(budget=st.integers(1, 400), form=st.sampled_from(Form), source=st.sampled_from(Source))
def test_an_answer_never_exceeds_its_budget(world, budget, form, source):
    if not world.found("tomatoes"):
        for number in range(12):
            world.tell(f"Garden note {number}: the tomatoes stand in bed {number}, {'watered daily ' * number}.")
    served = reader(world).answer(
        Query(
            text="tomatoes in the garden", budget_tokens=budget, form=form, source=source, top_k=20, thread_id="kitchen"
        )
    )
    lines = [*served.answer.header, *texts(served.answer)]
    assert tokens("\n".join(lines)) <= budget
    assert served.answer.tokens <= budget


# -- what may not be found ----------------------------------------------------------------------------------


def test_states_are_served_only_where_they_are_asked_for(world):
    at = world.clock.now()
    kept = {}
    for state in (Archived(at), Expired(at), SoftDeleted(at, at + timedelta(days=30))):
        told = world.tell(f"The {type(state).__name__} lamp stands in the hall.")
        world.apply(move(told.item, state, world.clock.now()))
        kept[type(state)] = told.item.id
    assert ask(world, "Where does the lamp stand?", source=Source.MEMORY).results == ()
    [event] = ask(world, "Where does the lamp stand?").results
    assert "Expired" in event.text, "what nobody put away is found in the evidence"
    found = ask(world, "Where does the lamp stand?", filters=Filters(states=frozenset({"archived"})))
    assert [result.id for result in found.results] == [kept[Archived]]


def test_what_no_longer_holds_is_served_for_its_own_time_alone(world):
    then, now = datetime(2025, 1, 1, tzinfo=UTC), world.clock.now()
    old = world.tell("Ana lives in Graz.", valid_from=then, valid_to=datetime(2025, 12, 1, tzinfo=UTC))
    new = world.tell("Ana lives in Lisbon.", valid_from=datetime(2025, 12, 1, tzinfo=UTC))
    alone = {"source": Source.MEMORY}
    assert [result.id for result in ask(world, "Where does Ana live?", **alone).results] == [new.item.id]
    at = ask(world, "Where does Ana live?", filters=Filters(valid_at=datetime(2025, 6, 1, tzinfo=UTC)), **alone)
    assert [result.id for result in at.results] == [old.item.id]
    assert now.year == 2026
    past = ask(world, "Where did Ana live in June 2025?", **alone).results
    assert old.item.id in {result.id for result in past}
    ended = next(result for result in past if result.id == old.item.id)
    assert str(ended.meta["valid_to"]).startswith("2025-12-01")


def test_what_was_said_and_no_longer_holds_says_until_when(world):
    over = world.tell("Ana lives in Graz.", valid_to=datetime(2025, 12, 1, tzinfo=UTC))
    new = world.tell("Ana lives in Lisbon.", valid_from=datetime(2025, 12, 1, tzinfo=UTC))
    answer = ask(world, "Where does Ana live?")
    assert {result.id: result.text for result in answer.results} == {
        new.item.id: "[knowledge] ana, 1 January 2026: Ana lives in Lisbon.",
        over.event.id: "ana, 1 January 2026, until 1 December 2025: Ana lives in Graz.",
    }


def test_another_tenant_is_never_served(world, store):
    world.tell("The vault code is kestrel.")
    other = World(store, TenantId(f"{world.tenant}-x"))
    store.create_tenant(other.tenant, at=other.clock.now())
    other.tell("The vault holds nothing.")
    for source in Source:
        assert all("kestrel" not in text for text in texts(ask(other, "What is the vault code?", source=source)))


def test_a_silo_is_served_to_its_own_agent_alone(world):
    silo = {"visibility": Visibility.AGENT_SILO, "agent_id": "robin", "user_id": None}
    told = world.tell("The vault code is kestrel.", thread="inner", **silo)
    for source in Source:
        assert ask(world, "What is the vault code?", source=source).results == ()
        assert ask(world, "What is the vault code?", "heron", source=source).results == ()
    assert ask(world, "What is the vault code?", "robin").results[0].id == told.item.id


CATEGORIES = ("goals", "tasks", "tone", "knowledge", "relationship_dynamic", "procedural", "profile")
AGENTS = ("planner", "stylist", "supervisor", "executor", "gardener")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40))
@given(
    agent=st.sampled_from(AGENTS),
    categories=st.one_of(st.none(), st.frozensets(st.sampled_from(CATEGORIES), min_size=1)),
    filtered=st.one_of(st.none(), st.frozensets(st.sampled_from(CATEGORIES), min_size=1)),
    importance=st.one_of(st.none(), st.integers(1, 5)),
    user=st.sampled_from([None, "ana", "ben"]),
    source=st.sampled_from(Source),
    thread=st.sampled_from([None, "kitchen"]),
)
def test_the_allowlist_holds_for_every_combination_of_filters(
    world, agent, categories, filtered, importance, user, source, thread
):
    told = furnished(world)
    allowed = parse(SHIPPED).allowed(agent)
    filters = Filters(categories=filtered, importance_min=importance, user_id=user)
    query = Query(
        text="the walnut table",
        agent=agent,
        categories=categories,
        filters=filters,
        source=source,
        top_k=50,
        budget_tokens=4000,
        thread_id=thread,
    )
    asked = (categories or frozenset()) | (filtered or frozenset())
    try:
        answer = reader(world, agent).answer(query).answer
    except Forbidden:
        assert any(not allowed.holds(category) for category in asked)
        return
    assert all(allowed.holds(category) for category in asked)
    for result in answer.results:
        item = told[result.id]
        assert allowed.holds(item.category) or allowed.holds("episode")
        assert user in (None, item.user_id)
        if result.id != item.id:  # an event, and nobody asked for what memories alone have
            assert source is Source.EVIDENCE or (source is Source.ANY and importance is None)
            assert source is Source.EVIDENCE or allowed.holds(item.category)
            continue
        assert allowed.holds(item.category)
        assert item.importance >= (importance or 1)
        assert item.category in (categories or {item.category})
        assert item.category in (filtered or {item.category})
    for line in answer.header[1:]:
        assert any(f"[{name.replace('_', ' ').capitalize()}]" in line for name in CATEGORIES if allowed.holds(name))


def furnished(world: World) -> dict[str, object]:
    """A memory of every category and user about one table, made once; by id, and by the id of its event."""
    known = getattr(world, "_furnished", None)
    if known is None:
        known = {}
        for number, category in enumerate(CATEGORIES):
            for user in ("ana", "ben"):
                told = world.tell(
                    f"{category} says the walnut table is {user}'s.",
                    category=category,
                    user_id=user,
                    importance=number % 5 + 1,
                )
                known[told.item.id] = known[told.event.id] = told.item
        world._furnished = known  # type: ignore[attr-defined]
    return known


def test_a_request_outside_the_allowlist_is_rejected_with_what_is_allowed(world):
    with pytest.raises(Forbidden, match=r"'planner' may not read the category 'tone'.*goals, procedural, projects"):
        ask(world, "the tone", "planner", categories=frozenset({"tone"}))
    with pytest.raises(Forbidden, match="tone"):
        ask(world, "the tone", "planner", filters=Filters(categories=frozenset({"tone"})))


def test_how_to_steps_are_served_to_who_names_them(world):
    told = world.tell("Release by tagging the commit and pushing the tag.", category="procedural")
    named = frozenset({"procedural"})
    question = {"text": "How is a release made by tagging?", "agent": "gardener"}
    assert ask(world, *question.values(), source=Source.MEMORY).results == ()
    assert result_ids(ask(world, *question.values()).results) == [told.event.id], "that it was said is evidence"
    by_category = ask(world, "How is a release made by tagging?", "gardener", categories=named)
    by_filter = ask(world, "How is a release made by tagging?", "gardener", filters=Filters(categories=named))
    assert result_ids(by_category.results) == result_ids(by_filter.results) == [told.item.id]


def test_evidence_for_an_agent_is_what_its_memories_rest_on(world):
    seen = world.tell("The goal is to ship the walnut table.", category="goals")
    world.tell("The walnut table is secretly painted.", category="tone")
    found = ask(world, "walnut table", "planner", source=Source.EVIDENCE).results
    assert [result.id for result in found] == [seen.event.id]


def test_what_is_untrusted_never_outranks_what_is_trusted(world):
    episode, _ = world.say("Good morning.")
    claim = world.event(
        episode, "The wifi password of the office is stored in the blue safe.", author="web", trust=Trust.UNTRUSTED
    )
    claimed = world.item(trust=Trust.UNTRUSTED)
    world.apply(Append(claim), Create(claimed), Derive(world.version(claimed, claim, content=claim.text)))
    good = world.tell("The office wifi password is in the blue safe box.")
    trusted = {Source.MEMORY: None, Source.ANY: "trusted"}
    for source, trust in trusted.items():
        found = ask(world, "Where is the wifi password of the office stored?", source=source).results
        assert result_ids(found) == [good.item.id, claimed.id]
        assert [result.meta.get("trust") for result in found] == [trust, "untrusted"]
    assert found[1].text.startswith("[knowledge] web, 1 January 2026, untrusted: ")


# -- categories ---------------------------------------------------------------------------------------------


def test_a_category_served_whole_comes_first_for_an_agent(world):
    name = world.tell("Ana's pronouns are they and them.", category="profile")
    note = world.tell("The greenhouse roof leaks at the north end.")
    found = ask(world, "Where does the greenhouse roof leak?", "gardener").results
    assert [result.id for result in found] == [name.item.id, note.item.id]
    assert [result.id for result in ask(world, "Where does the greenhouse roof leak?").results] == [note.item.id]


def test_at_most_rag_length_of_a_category_is_considered(world):
    for number in range(6):
        world.tell(f"The parade of {2010 + number} passed the harbour.", category="parades")
    rules = parse({"categories": {"custom": [{"name": "parades", "context": "rag", "rag_length": 2}]}})
    question = Query(text="the parade at the harbour", top_k=10, source=Source.MEMORY)
    assert len(reader(world, categories=rules).answer(question).answer.results) == 2


# -- relations ----------------------------------------------------------------------------------------------


def test_one_or_two_related_memories_stand_beside_the_answer(world):
    found = world.tell("Ana's violin is kept at the workshop.")
    beside = [world.tell(text) for text in ("Pavel repairs instruments.", "Strings come from Graz.", "Bows are rare.")]
    secret = world.tell(
        "Robin alone knows.", visibility=Visibility.AGENT_SILO, agent_id="robin", user_id=None, thread="in"
    )
    world.apply(Link(world.relation(found.item, secret.item, strength=1.0)))
    for number, told in enumerate(beside):
        world.apply(Link(world.relation(found.item, told.item, strength=0.9 - number / 10)))
    expected = [(found.item.id, None), *((told.item.id, found.item.id) for told in beside[:2])]
    for how in ({"source": Source.MEMORY, "top_k": 1}, {}):
        results = ask(world, "Where is Ana's violin kept?", **how).results
        assert [(result.id, result.related_to) for result in results] == expected


# -- what is recorded ---------------------------------------------------------------------------------------


def test_what_is_served_is_counted_once_the_answer_is_given(world):
    told = world.tell("Ana's violin is kept at the workshop.")
    served = serve(world, "Where is Ana's violin kept?")
    assert [one for one in served.observations if isinstance(one, Used)] == [
        Used(told.item.id, Use.RETRIEVED, served.observations[0].ts, told.version.id)  # type: ignore[union-attr]
    ]
    (search,) = [one for one in served.observations if isinstance(one, Operation)]
    assert (search.node, search.op, search.status, search.memory_id) == ("context", "search", "ok", told.item.id)
    assert world.store.usage(world.tenant, [told.item.id])[told.item.id].retrieved == 1
    assert serve(world, "How tall is the lighthouse of Alexandria?").observations[0].status == "skipped"  # type: ignore[union-attr]


def test_what_was_cited_comes_before_what_was_ignored(world):
    first, second = world.tell("The red tram goes to the fair."), world.tell("The blue tram goes to the fair.")
    at = world.clock.now()
    world.store.observe(
        world.tenant, [Used(second.item.id, Use.CITED, at)] * 5 + [Used(first.item.id, Use.IGNORED, at)] * 5
    )
    assert ask(world, "Which tram goes to the fair?").results[0].id == second.item.id


# -- the delta header ---------------------------------------------------------------------------------------


def header(world: World, thread: str = "kitchen", agent: str | None = None) -> Sequence[str]:
    return ask(world, "anything at all", agent, thread_id=thread, budget_tokens=1000).header


def test_the_first_question_of_a_thread_is_told_what_was_made_in_it(world):
    world.tell("Ship v1 by September.", category="goals", importance=2, thread_id="kitchen")
    world.tell("Paint the fence.", category="goals", thread="yard", thread_id="yard")
    first, *rest = header(world)
    assert first == "Memory updates, nothing told before:"
    assert rest == ["- +created: [Goals] Ship v1 by September. (imp=2)"]
    assert header(world) == ()


def test_the_header_says_since_which_revision(world):
    """That of the last answer, also in a thread that nobody wrote to."""
    told = world.tell("Ship v1 by September.", category="goals")
    last = ask(world, "anything at all", thread_id="elsewhere", budget_tokens=1000).rev
    world.apply(revise(told.item, replace(told.item, importance=5), world.clock.now(), Verb.UPDATE))
    assert last > 0
    assert header(world, "elsewhere")[0] == f"Memory updates since rev {last}:"


def test_what_was_forgotten_and_brought_back_is_told_as_restored(world, tmp_path):
    told = world.tell("Ship v1 by September.", category="goals")
    gone = world.tell("Paint the fence.", category="goals", thread="yard")
    header(world)
    at = world.clock.now()
    deleted = replace(told.item, state=SoftDeleted(at, at + timedelta(days=30)))
    world.apply(revise(told.item, deleted, at, Verb.SOFT_DELETE))
    back = replace(told.item, updated_at=at)
    world.apply(move(replace(deleted, updated_at=at), back.state, at))
    world.apply(revise(back, replace(back, importance=5), at, Verb.UPDATE))
    rev = world.apply(move(gone.item, SoftDeleted(at, at + timedelta(days=30)), at))
    assert header(world)[1:] == (
        "- ⟲restored: [Goals] Ship v1 by September.",
        "- ◌soft_deleted: [Goals] Paint the fence.",
    )
    entry = next(one for one in world.store.entries(world.tenant, rev_after=Rev(rev - 1)))
    world.memory(tmp_path).rollback(OneEntry(entry.header.seq))
    assert header(world)[1:] == ("- ⟲restored: [Goals] Paint the fence.",)


def test_each_transition_is_told_once_per_thread_and_reader(world):
    assert header(world) == ()
    assert header(world, agent="gardener") == ()
    told = world.tell("Ship v1 by September.", category="goals")
    assert len(header(world)) == 2
    assert header(world) == ()
    assert len(header(world, agent="gardener")) == 2
    after = replace(told.item, importance=5)
    world.apply(revise(told.item, after, world.clock.now(), Verb.UPDATE))
    assert header(world)[1] == "- ↑updated: [Goals] Ship v1 by September."
    assert header(world) == ()


def test_forgetting_is_told_once(world):
    told = world.tell("Ship v1 by September.", category="goals")
    header(world)
    at = world.clock.now()
    world.apply(move(told.item, SoftDeleted(at, at + timedelta(days=30)), at))
    assert header(world)[1] == "- ◌soft_deleted: [Goals] Ship v1 by September."
    assert header(world) == ()


def test_the_header_tells_nothing_out_of_sight_or_off_the_allowlist(world):
    header(world, agent="planner")
    silo = {"visibility": Visibility.AGENT_SILO, "agent_id": "robin", "user_id": None}
    world.tell("The vault code is kestrel.", thread="inner", category="goals", **silo)
    world.tell("Ana sounds tired.", category="relationship_dynamic")
    world.tell("Finish the shed.", category="goals")
    assert header(world, agent="planner") == (
        "Memory updates since rev 0:",
        "- +created: [Goals] Finish the shed. (imp=3)",
    )


def test_being_told_is_recorded_with_the_answer_not_by_it(world):
    world.tell("Ship v1 by September.", category="goals")
    query = Query(text="anything", thread_id="kitchen", budget_tokens=500)
    first, second = reader(world).answer(query), reader(world).answer(query)
    assert first.answer.header == second.answer.header
    assert any(isinstance(one, Told) for one in first.observations)


def result_ids(results: Sequence[Result]) -> list[str]:
    return [result.id for result in results]


# -- times --------------------------------------------------------------------------------------------------


def test_a_time_in_the_question_prefers_what_was_said_then(world):
    episode, _ = world.say("hello there")
    may = world.event(episode, "We ate pancakes with Ben.", ts=datetime(2025, 5, 3, tzinfo=UTC))
    june = world.event(episode, "We ate pancakes with Ana.", ts=datetime(2025, 9, 3, tzinfo=UTC))
    world.apply(Append(june), Append(may))
    found = ask(world, "With whom did we eat pancakes in May 2025?", source=Source.EVIDENCE).results
    assert result_ids(found)[0] == may.id


# -- vectors ------------------------------------------------------------------------------------------------


class Failing:
    """An embedder that is down."""

    name = LocalEmbedder.name
    profile = LocalEmbedder.profile

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        raise ModelFailed("the model does not answer")


def embedded(world: World, told: Evidence) -> None:
    """Vectors of a fact and its event, as the write path makes them."""
    embedder = LocalEmbedder()
    event, version = embedder.embed([told.event.text, told.version.content])
    made = [Vector(embedder.name, f"e:{told.event.id}", event), Vector(embedder.name, f"v:{told.version.id}", version)]
    world.apply(vectors=made)


def test_a_question_in_other_words_finds_by_its_vector(world):
    told = world.tell("Ana adopted a kitten from the shelter.")
    embedded(world, told)
    embedded(world, world.tell("The boiler was repaired in March."))
    who = Principal(tenant=world.tenant, id="mira", role=Role.ADMIN)
    asking = Reader(world.store, LocalEmbedder(), world.clock, who)
    for source, found in ((Source.MEMORY, told.item.id), (Source.EVIDENCE, told.event.id)):
        question = Query(text="Did she get a young cat as a pet?", source=source, explain=True)
        answer = asking.answer(question).answer
        assert answer.results[0].id == found
        assert "vector" in answer.explain[0]["signals"]  # type: ignore[operator]
        assert asking.answer(replace(question, text="Which tax form do architects file?")).answer.results == ()


def test_words_are_found_while_the_embedder_is_down(world):
    told = world.tell("Ana adopted a kitten from the shelter.")
    embedded(world, told)
    who = Principal(tenant=world.tenant, id="mira", role=Role.ADMIN)
    for source, found in ((Source.MEMORY, told.item.id), (Source.EVIDENCE, told.event.id)):
        query = Query(text="Who adopted a kitten?", source=source)
        assert Reader(world.store, Failing(), world.clock, who).answer(query).answer.results[0].id == found
