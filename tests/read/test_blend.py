"""The default answer: memories and events together, no words twice, who and when on every line, within the budget."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.domain.change import Append, Create, Derive, Link, Note, Verb, move, revise
from recollect.domain.event import Event
from recollect.domain.ids import TenantId
from recollect.domain.item import Archived, Expired, Item, SoftDeleted, Visibility
from recollect.domain.level import Level
from recollect.domain.query import Answer, Filters, Query, Source
from recollect.domain.scope import Principal, Role
from recollect.domain.turn import NEED_MORE_CONTEXT, Reason, Task
from recollect.errors import NothingMore
from recollect.policy.currency import MAY_REPLACE
from recollect.policy.pack import cost
from recollect.ports import Store
from recollect.read.blend import newer_first
from recollect.read.query import Reader
from tests.hunt import examples
from tests.worlds import World

MAY, JUNE = datetime(2025, 5, 3, 9, tzinfo=UTC), datetime(2025, 6, 7, 9, tzinfo=UTC)
WHO_AND_WHEN = re.compile(r"(\[\w+\] )?(\w+, )?\d{1,2} [A-Z][a-z]+ \d{4}(, [^:]*)?: ")
QUESTION = "Where does the kitten sleep?"


def ask(world: World, text: str = QUESTION, who: Principal | None = None, **how: object) -> Answer:
    somebody = who or Principal(tenant=world.tenant, id="mira", role=Role.ADMIN)
    return Reader(world.store, None, world.clock, somebody).answer(Query(text=text, **how)).answer  # type: ignore[arg-type]


def ids(answer: Answer) -> list[str]:
    return [result.id for result in answer.results]


def said(world: World, text: str, at: datetime = MAY, thread: str = "kitchen", **fields: object) -> Event:
    """An event on its day."""
    owner = {name: fields.pop(name) for name in ("user_id", "visibility", "agent_id", "project_id") if name in fields}
    episode, _ = world.say(thread=thread, **owner)
    event = world.event(episode, text, ts=at, **fields)
    world.apply(Append(event))
    return world.store.events_by_id(world.tenant, [event.id])[0]


def quoted(world: World, event: Event, **fields: object) -> Item:
    """A memory that quotes an event."""
    item = world.item(**fields)
    world.apply(Create(item), Derive(world.quoting(item, event)))
    return item


def worded(world: World, event: Event, words: str, **fields: object) -> Item:
    """A memory that says in other words what an event says."""
    item = world.item(**fields)
    world.apply(Create(item), Derive(world.version(item, event, content=words)))
    return item


def replaced(world: World, old: Item, new: Item, at: datetime) -> None:
    """One memory takes over from another, as the judge writes it."""
    now = world.clock.now()
    world.apply(
        revise(old, replace(old, valid_to=at, superseded_by=new.id), now, Verb.UPDATE),
        revise(new, replace(new, valid_from=at, supersedes=old.id), now, Verb.UPDATE),
    )


# -- one line each ------------------------------------------------------------------------------------------


def test_a_quoted_memory_and_its_event_are_one_line_under_the_memorys_name(world: World):
    event = said(world, "The kitten sleeps on the piano.")
    item = quoted(world, event, category="pets")
    (result,) = ask(world).results
    assert (result.id, result.category) == (item.id, "pets")
    assert result.text == "[pets] ana, 3 May 2025: The kitten sleeps on the piano."
    assert result.meta["event"] == event.id
    assert result.meta["author"] == "ana"


def test_several_memories_of_one_event_are_one_line(world: World):
    event = said(world, "The kitten sleeps on the piano, and the dog sleeps under it.")
    quoted(world, event)
    worded(world, event, "The kitten sleeps on the piano.")
    (result,) = ask(world).results
    assert result.text.endswith(event.text)


def test_a_memory_in_its_own_words_stands_beside_its_event(world: World):
    event = said(world, "She curls up on top of the old Steinway, our kitten.")
    item = worded(world, event, "Miso is a kitten and likes to sleep where music is made.")
    answer = ask(world, "Where does the kitten curl up to sleep?")
    assert set(ids(answer)) == {item.id, event.id}
    frames = {result.text.split(": ")[0] for result in answer.results}
    assert frames == {"[knowledge] ana, 3 May 2025", "ana, 3 May 2025"}


def test_what_somebody_said_twice_on_a_day_is_served_once_and_on_two_days_twice(world: World):
    for thread, at in (("one", MAY), ("two", MAY + timedelta(hours=1)), ("three", JUNE)):
        said(world, "The kitten sleeps on the piano.", at, thread)
    assert Counter(result.text for result in ask(world).results) == {
        "ana, 3 May 2025: The kitten sleeps on the piano.": 1,
        "ana, 7 June 2025: The kitten sleeps on the piano.": 1,
    }


def test_the_summary_of_a_thread_is_no_line_of_the_default_answer_unless_threads_are_asked_for(world: World):
    event = said(world, "The kitten sleeps on the piano.")
    episode = world.held(event.item_id).item
    world.apply(Derive(world.version(episode, event, content="The kitten of Ana slept on the piano.")))
    assert ids(ask(world)) == [event.id]
    for narrowed in (Filters(kinds=frozenset({"episode"})), Filters(categories=frozenset({"episode"}))):
        assert ids(ask(world, filters=narrowed)) == [episode.id]


PLACES = ("piano", "sofa", "stove", "windowsill", "red armchair", "shelf by the door", "bed of the dog")
Way = Callable[[World, Event], object]
WAYS: Sequence[Way] = (
    lambda world, event: None,
    quoted,
    lambda world, event: worded(world, event, event.text),
    lambda world, event: worded(world, event, f"A kitten was seen at rest: {event.text.split()[-1]}"),
)


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(WAYS)), min_size=1, max_size=10),
    st.integers(30, 500),
    st.one_of(st.none(), st.integers(1, 6)),
)
def test_whatever_was_said_and_made_of_it_the_answer_keeps_its_promises(
    found: Callable[[], World], told: list[tuple[str, Way]], budget: int, top_k: int | None
):
    world = found()
    for place, way in told:
        way(world, said(world, f"The kitten sleeps on the {place}."))
    answer = ask(world, budget_tokens=budget, top_k=top_k)
    lines = [result.text for result in answer.results]
    assert sum(cost(line) for line in lines) <= budget
    assert len(lines) <= (top_k or len(lines))
    assert all(WHO_AND_WHEN.match(line) for line in lines)
    spoken = Counter(WHO_AND_WHEN.sub("", line, count=1) for line in lines)
    for place in PLACES:
        assert spoken[f"The kitten sleeps on the {place}."] <= 1, "no words twice"
    assert len(set(ids(answer))) == len(lines)
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True), "best first"


def test_every_line_says_who_and_when_whatever_it_is(world: World):
    piano = said(world, "The kitten sleeps on the piano.", author="Ben")
    quoted(world, piano)
    said(world, "Does the kitten sleep\nwell?", JUNE, author="Dr  Okafor")
    worded(world, said(world, "She curls up there, our Miso."), "Miso is a kitten and likes to sleep.")
    hidden = said(world, "Silent words of robin.", thread="inner", **SILO)
    worded(world, hidden, "The kitten may sleep anywhere.", origin_at=JUNE)
    lines = {result.text for result in ask(world, budget_tokens=2000).results}
    assert {line.split(": ")[0] for line in lines} == {
        "[knowledge] Ben, 3 May 2025",
        "Dr Okafor, 7 June 2025",
        "[knowledge] ana, 3 May 2025",
        "[knowledge] 7 June 2025",
    }


# -- the budget ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [60, 200, 600])
def test_the_budget_is_filled_while_something_relevant_is_left(world: World, budget: int):
    for number in range(60):
        said(world, f"The kitten sleeps in place number {number} of the house.", MAY + timedelta(days=number))
    lines = [result.text for result in ask(world, budget_tokens=budget).results]
    spent = sum(cost(line) for line in lines)
    assert spent <= budget < spent + max(cost(line) for line in lines)


def test_a_larger_budget_is_filled_from_further_down(world: World):
    for number in range(160):
        said(world, f"The kitten sleeps in place number {number} of the house.", MAY + timedelta(days=number))
    lines = [result.text for result in ask(world, budget_tokens=2_000).results]
    spent = sum(cost(line) for line in lines)
    assert spent <= 2_000 < spent + max(cost(line) for line in lines)


def test_a_long_event_is_cut_to_what_answers_before_others_are_left_out(world: World):
    filler = "We spoke of the weather and of the garden. " * 60
    long = said(world, f"{filler}The kitten sleeps on the piano. {filler}")
    short = said(world, "The kitten sleeps on the sofa, too.", JUNE)
    answer = ask(world, budget_tokens=200)
    texts = {result.id: result.text for result in answer.results}
    assert set(texts) == {long.id, short.id}
    assert "The kitten sleeps on the piano." in texts[long.id]
    assert texts[long.id].startswith("ana, 3 May 2025: … ")


def crowded(world: World) -> tuple[list[Item], list[Event]]:
    """Twelve memories in words of their own, and twenty events, all about one matter."""
    own = []
    for number in range(12):
        event = said(world, f"Miso again, day {number}, same spot as ever.", MAY + timedelta(days=number))
        words = f"On day {number} it was found that a kitten may sleep for hours wherever it pleases."
        own.append(worded(world, event, words))
    events = [said(world, f"The kitten sleeps beside lamp {number} in the hall.", JUNE) for number in range(20)]
    return own, events


@pytest.mark.parametrize("budget", [200, 400, 512])
def test_memories_in_own_words_get_at_most_a_third_where_events_fill_the_rest(world: World, budget: int):
    own, events = crowded(world)
    results = ask(world, budget_tokens=budget).results
    of_own = [result for result in results if result.id in {item.id for item in own}]
    assert of_own
    assert sum(cost(result.text) for result in of_own) <= budget // 3
    assert {result.id for result in results} & {event.id for event in events}
    assert sum(cost(result.text) for result in results) > budget - 40, "the rest is not left empty"


def test_events_get_the_room_that_memories_do_not_need(world: World):
    own, _ = crowded(world)
    for item in own[1:]:
        at = world.clock.now()
        world.apply(move(world.held(item).item, Archived(at), at))
    lines = [result.text for result in ask(world, budget_tokens=400).results]
    assert sum(cost(line) for line in lines if "beside lamp" in line) > 2 * 400 // 3


@pytest.mark.parametrize("budget", [40, 100, 512])
def test_weak_memories_never_hide_a_strong_event(world: World, budget: int):
    for number in range(15):
        event = said(world, f"A note of no account, number {number}.", MAY)
        worded(world, event, f"Kitten number {number} of the shelter was given away to good people.")
    strong = said(world, "The kitten sleeps on the piano.", JUNE)
    answer = ask(world, "Where does the kitten sleep, on the piano?", budget_tokens=budget)
    assert ids(answer)[0] == strong.id
    assert answer.results[0].text == "ana, 7 June 2025: The kitten sleeps on the piano."


@pytest.mark.parametrize("top_k", [1, 2, 5])
def test_top_k_holds_for_memories_and_events_together(world: World, top_k: int):
    crowded(world)
    best = ask(world, budget_tokens=4000).results
    answer = ask(world, budget_tokens=4000, top_k=top_k)
    assert len(answer.results) == top_k < len(best)


def test_a_category_that_is_served_whole_stands_before_what_was_found(world: World):
    name = quoted(world, said(world, "Call me Captain, please."), category="profile")
    found = quoted(world, said(world, "The kitten sleeps on the piano.", JUNE))
    agent = Principal(tenant=world.tenant, id="gardener", role=Role.AGENT, agent_id="gardener")
    assert ids(ask(world, who=agent)) == [name.id, found.id]
    assert ids(ask(world, who=agent, top_k=1)) == [name.id]


# -- what may not come in -----------------------------------------------------------------------------------

SILO = {"visibility": Visibility.AGENT_SILO, "agent_id": "robin", "user_id": None}
SECRET = "The kitten sleeps on the secret vault."


def member(world: World, name: str, **bounds: object) -> Principal:
    return Principal(tenant=world.tenant, id=name, role=Role.MEMBER, **bounds)  # type: ignore[arg-type]


def every_step(world: World, who: Principal) -> str:
    """All that is served to somebody about the kitten, step by step, until there is nothing more."""
    contexts: list[str] = []
    for _ in range(12):
        try:
            contexts += [one.text for one in ask(world, who=who, turn_id="t", budget_tokens=4000).results]
        except NothingMore:
            break
    return "\n".join(contexts)


def test_another_tenants_events_never_come_in(world: World, store: Store):
    said(world, SECRET)
    other = World(store, TenantId(f"{world.tenant}-x"))
    store.create_tenant(other.tenant, at=other.clock.now())
    open_ = said(other, "The kitten sleeps on the piano.")
    assert ids(ask(other)) == [open_.id]
    assert "vault" not in every_step(other, member(other, "ana"))


def test_a_silos_events_come_in_for_its_agent_alone(world: World):
    said(world, SECRET, thread="inner", **SILO)
    said(world, "The kitten sleeps on the piano.")
    agents = [
        Principal(tenant=world.tenant, id=name, role=Role.AGENT, agent_id=name, users=frozenset({"ana"}))
        for name in ("robin", "heron")
    ]
    admin = Principal(tenant=world.tenant, id="mira", role=Role.ADMIN)
    assert "vault" in every_step(world, agents[0])
    for who in (agents[1], admin, member(world, "ana")):
        context = every_step(world, who)
        assert "piano" in context
        assert "vault" not in context


def test_another_users_events_never_come_in_not_even_through_a_memory_that_is_shared(world: World):
    secret = said(world, SECRET, user_id="ana")
    shared = {"visibility": Visibility.PROJECT_SHARED, "project_id": "house"}
    fact = worded(world, secret, "The kitten sleeps in the house.", user_id="ana", **shared)
    ben = member(world, "ben", projects=frozenset({"house"}))
    (result,) = ask(world, who=ben).results
    assert (result.id, result.text) == (fact.id, f"[knowledge] {_day(fact)}: The kitten sleeps in the house.")
    assert "vault" not in every_step(world, ben)
    assert "vault" in every_step(world, member(world, "ana", projects=frozenset({"house"})))


def _day(item: Item) -> str:
    return f"{item.origin_at.day} January {item.origin_at.year}"


def test_private_words_of_a_shared_thread_come_in_for_who_said_them_alone(world: World):
    shared = {"visibility": Visibility.PROJECT_SHARED, "project_id": "house", "user_id": None}
    _, (open_, aside) = world.say("The kitten sleeps on the piano.", SECRET, thread="hall", **shared)
    world.apply(private=[aside.id])
    in_house = {"projects": frozenset({"house"})}
    assert ids(ask(world, who=member(world, "ben", **in_house))) == [open_.id]
    assert "vault" not in every_step(world, member(world, "ben", **in_house))
    assert set(ids(ask(world, who=member(world, "ana", **in_house)))) == {open_.id, aside.id}


def test_what_replaced_something_comes_in_only_where_it_may_be_read(world: World):
    shared = {"visibility": Visibility.PROJECT_SHARED, "project_id": "house", "user_id": "ana"}
    old = said(world, "The kitten sleeps on the piano.", thread="hall", **shared)
    new = said(world, "No longer: it is the vault.", JUNE, user_id="ana")
    replaced(world, quoted(world, old, **shared), quoted(world, new, user_id="ana"), JUNE)
    ben, ana = (member(world, name, projects=frozenset({"house"})) for name in ("ben", "ana"))
    (result,) = ask(world, who=ben).results
    assert result.text == "ana, 3 May 2025, until 7 June 2025: The kitten sleeps on the piano."
    assert "vault" not in every_step(world, ben)
    assert [result.text.split(": ", 1)[1] for result in ask(world, who=ana).results] == [new.text, old.text]


def test_what_replaced_something_is_held_to_the_allowlist_and_to_the_filters(world: World):
    old = said(world, "The kitten sleeps on the piano.", thread="hall")
    new = said(world, "No longer: it is the vault.", JUNE, thread="cellar")
    replaced(world, quoted(world, old, category="goals"), quoted(world, new, category="tone"), JUNE)
    planner = Principal(tenant=world.tenant, id="planner", role=Role.AGENT, agent_id="planner")
    assert "vault" not in repr(ask(world, who=planner))
    assert "vault" not in repr(ask(world, filters=Filters(actor_id="nobody")))
    assert ids(ask(world, filters=Filters(thread_id="hall"))) == [old.id]
    assert "vault" in repr(ask(world))


@pytest.mark.parametrize("state", [lambda at: Archived(at), lambda at: SoftDeleted(at, at + timedelta(days=30))])
def test_what_was_put_away_does_not_come_back_by_its_event(world: World, state: Callable[[datetime], object]):
    event = said(world, "The kitten sleeps on the piano.")
    item = quoted(world, event)
    kept = said(world, "The kitten sleeps on the sofa.", JUNE)
    at = world.clock.now()
    world.apply(move(item, state(at), at))  # type: ignore[arg-type]
    assert ids(ask(world)) == [kept.id]
    assert event.id in ids(ask(world, source=Source.EVIDENCE)), "the evidence stays"
    quoted(world, event, topic_key="another memory of the same words")
    assert len(ids(ask(world))) == 2


def test_what_was_forgotten_for_want_of_use_is_found_in_its_event_once_it_is_asked_for(world: World):
    event = said(world, "The kitten sleeps on the piano.")
    item = quoted(world, event)
    at = world.clock.now()
    world.apply(move(item, Expired(at, "never used in 90 days"), at))
    assert ids(ask(world)) == [event.id]
    assert ask(world, source=Source.MEMORY).results == ()


def test_a_question_narrowed_to_what_memories_have_gets_memories(world: World):
    item = quoted(world, said(world, "The kitten sleeps on the piano."), importance=5)
    said(world, "The kitten sleeps on the sofa.", JUNE)
    world.apply(revise(item, replace(item, pinned_min_level=Level.R3), world.clock.now(), Verb.PIN))
    for narrowed in (
        Filters(importance_min=4),
        Filters(pinned=True),
        Filters(kinds=frozenset({"fact"})),
        Filters(states=frozenset({"active", "archived"})),
    ):
        assert ids(ask(world, filters=narrowed)) == [item.id]
    assert ask(world, filters=Filters(importance_max=2)).results == ()
    assert len(ask(world, filters=Filters(thread_id="kitchen")).results) == 2


# -- what no longer holds -----------------------------------------------------------------------------------


def test_what_was_replaced_says_until_when_and_stands_behind_what_holds(world: World):
    old, new = said(world, "The kitten sleeps on the piano."), said(world, "No longer: it is the sofa.", JUNE)
    older, newer = quoted(world, old), quoted(world, new)
    replaced(world, older, newer, JUNE)
    first, second = ask(world, "Does the kitten sleep on the piano?").results
    assert first.text.endswith("ana, 7 June 2025: No longer: it is the sofa.")
    assert second.text.endswith("ana, 3 May 2025, until 7 June 2025: The kitten sleeps on the piano.")
    assert first.score > second.score


def test_what_was_replaced_over_and_over_says_until_when(world: World):
    days = [MAY + timedelta(days=number) for number in range(14)]
    words = ["The kitten sleeps on the piano.", *(f"Now it is box {number}." for number in range(13))]
    told = [quoted(world, said(world, text, day)) for text, day in zip(words, days, strict=True)]
    for older, newer, day in zip(told, told[1:], days[1:], strict=False):
        replaced(world, older, newer, day)
    [line] = ask(world, "Does the kitten sleep on the piano?").results
    assert line.text == "ana, 3 May 2025, until 4 May 2025: The kitten sleeps on the piano."


def doubted(world: World, newer: Item, older: Item) -> None:
    world.apply(Link(world.relation(newer, older, relation_type=MAY_REPLACE)))


def test_what_may_have_been_replaced_by_another_line_says_so_and_keeps_its_score(world: World):
    old, new = said(world, "The kitten sleeps on the piano."), said(world, "The kitten sleeps on the sofa.", JUNE)
    older, newer = quoted(world, old), quoted(world, new)
    before = {result.id: result.score for result in ask(world).results}
    doubted(world, newer, older)
    texts = {result.id: result.text for result in ask(world).results}
    assert texts[older.id].endswith("ana, 3 May 2025, perhaps until 7 June 2025: The kitten sleeps on the piano.")
    assert texts[newer.id].endswith("ana, 7 June 2025: The kitten sleeps on the sofa.")
    assert {result.id: result.score for result in ask(world).results} == before


def test_nothing_is_doubted_for_the_sake_of_what_is_not_served_beside_it(world: World):
    old, new = said(world, "The kitten sleeps on the piano."), said(world, "No longer: it is the sofa.", JUNE)
    older, newer = quoted(world, old), quoted(world, new)
    doubted(world, newer, older)
    [line] = ask(world, "Where did the kitten sleep, on the piano?", top_k=1).results
    assert line.id == older.id
    assert "perhaps" not in line.text
    assert "perhaps" in ask(world, "Where did the kitten sleep, on the piano?").results[0].text


def told(answer: Answer) -> list[str]:
    """The last word of each line."""
    return [result.text.rstrip(".").rpartition(" ")[2] for result in answer.results]


def test_what_may_have_been_replaced_comes_behind_its_replacement_where_a_question_asks_how_things_stand(world: World):
    old, new = said(world, "The kitten sleeps on the piano."), said(world, "The kitten took to the sofa.", JUNE)
    older, newer = quoted(world, old), quoted(world, new)
    now, then = "Does the kitten sleep on the piano?", "Where did the kitten sleep, on the piano?"
    assert told(ask(world, now)) == ["piano", "sofa"]
    doubted(world, newer, older)
    assert told(ask(world, now)) == ["sofa", "piano"]
    assert told(ask(world, then)) == ["piano", "sofa"]


def test_what_is_beside_the_point_does_not_come_first_for_what_it_may_have_replaced(world: World):
    old, new = said(world, "The kitten sleeps on the piano."), said(world, "No longer: it is the sofa.", JUNE)
    doubted(world, quoted(world, new), quoted(world, old))
    answer = ask(world, "Does the kitten sleep on the piano?")
    first, second = answer.results
    assert told(answer) == ["piano", "sofa"]
    assert first.score > 5 * second.score
    assert "perhaps until" in first.text


@given(st.lists(st.none() | st.integers(0, 9), max_size=10))
def test_every_line_is_served_once_and_behind_the_one_that_may_have_replaced_it(found: list[int | None]):
    count = len(found)
    by = {older: newer % count for older, newer in enumerate(found) if newer is not None and newer % count > older}
    order = newer_first(by, count)
    assert sorted(order) == list(range(count))
    assert all(order.index(newer) < order.index(older) for older, newer in by.items())
    in_a_ring = {number: (number + 1) % count for number in range(count)}
    assert sorted(newer_first(in_a_ring, count)) == list(range(count))


def test_however_few_lines_are_wanted_the_replacement_is_among_them(world: World):
    places = [("piano", MAY), ("sofa", JUNE), ("stove", JUNE + timedelta(days=30))]
    first, second, third = (
        quoted(world, said(world, f"The kitten sleeps on the {place}.", day)) for place, day in places
    )
    doubted(world, second, first)
    doubted(world, third, second)
    asked = "Does the kitten sleep on the piano?"
    assert told(ask(world, asked, top_k=1)) == ["stove"]
    assert told(ask(world, asked, top_k=2)) == ["stove", "sofa"]
    assert told(ask(world, asked)) == ["stove", "sofa", "piano"]


def test_of_several_that_may_have_replaced_one_memory_each_was_perhaps_replaced_by_the_next(world: World):
    july = JUNE + timedelta(days=30)
    places = [("piano", MAY), ("sofa", JUNE), ("stove", july)]
    told = [quoted(world, said(world, f"The kitten sleeps on the {place}.", day)) for place, day in places]
    for newer in told[1:]:
        doubted(world, newer, told[0])
    texts = {result.id: result.text for result in ask(world).results}
    assert ", perhaps until 7 June 2025: " in texts[told[0].id]
    assert ", perhaps until 7 July 2025: " in texts[told[1].id]
    assert "perhaps" not in texts[told[2].id]


def test_nothing_is_doubted_that_is_far_from_the_question(world: World):
    old, new = said(world, "The kitten has a blue collar."), said(world, "The kitten sleeps on the sofa.", JUNE)
    older, newer = quoted(world, old), quoted(world, new)
    doubted(world, newer, older)
    texts = {result.id: result for result in ask(world, "Does the kitten sleep on the sofa?", threshold=0.0).results}
    assert texts[older.id].score < 0.35 * texts[newer.id].score
    assert "perhaps" not in texts[older.id].text


def test_what_ended_on_the_day_that_it_was_said_says_so(world: World):
    later = MAY + timedelta(hours=1)
    old, new = said(world, "The kitten sleeps on the piano."), said(world, "The kitten sleeps on the sofa.", later)
    older, newer = quoted(world, old), quoted(world, new)
    doubted(world, newer, older)
    [line] = [result.text for result in ask(world).results if result.id == older.id]
    assert line.endswith("ana, 3 May 2025, perhaps until later that day: The kitten sleeps on the piano.")
    replaced(world, older, newer, later)
    [line] = [result.text for result in ask(world).results if "piano" in result.text]
    assert line.endswith("ana, 3 May 2025, until later that day: The kitten sleeps on the piano.")


def test_a_memory_in_its_own_words_says_that_it_may_be_over(world: World):
    old, new = said(world, "On the piano, as ever!"), said(world, "The kitten sleeps on the sofa.", JUNE)
    older, newer = worded(world, old, "The kitten sleeps on the piano."), quoted(world, new)
    doubted(world, newer, older)
    [line] = [result.text for result in ask(world).results if result.id == older.id]
    assert ", perhaps until 7 June 2025: " in line
    assert WHO_AND_WHEN.match(line)


def test_both_sides_of_a_dispute_are_served_in_the_words_that_were_said(world: World):
    sides = [said(world, "The kitten sleeps on the piano."), said(world, "The kitten never sleeps on the piano.", JUNE)]
    one, other = (quoted(world, event) for event in sides)
    world.apply(Note(None, world.contradiction(one, other)))
    answer = ask(world, "Does the kitten sleep on the piano?")
    assert {result.id: result.text.split(": ", 1)[1] for result in answer.results} == {
        one.id: sides[0].text,
        other.id: sides[1].text,
    }


# -- steps up -----------------------------------------------------------------------------------------------


def test_a_reroll_climbs_from_the_blend_to_the_evidence_and_around_it(world: World):
    said(world, "Good morning to you all.")
    quoted(world, said(world, "The kitten sleeps on the piano."))
    said(world, "How lovely that must be.")
    answers = [ask(world, turn_id="t") for _ in range(3)]
    assert [answer.used_level for answer in answers] == [Level.R3, Level.R4, Level.R5]
    assert [answer.escalated for answer in answers] == [False, True, True]
    assert [answer.reason for answer in answers] == [None, Reason.DISPUTE, Reason.DISPUTE]
    contexts = ["\n".join(result.text for result in answer.results) for answer in answers]
    assert len(set(contexts)) == 3
    assert all("on the piano" in context for context in contexts)
    assert "How lovely" not in contexts[0]
    assert "How lovely" in contexts[2]


@pytest.mark.parametrize("how", [{"task": Task.QUOTE}, {"task": Task.DISPUTE}, {"said": NEED_MORE_CONTEXT}])
def test_a_task_or_a_token_is_one_step_up_from_the_blend(world: World, how: dict[str, object]):
    quoted(world, said(world, "The kitten sleeps on the piano."))
    answer = ask(world, **how)
    assert (answer.used_level, answer.escalated) == (Level.R4, True)
    assert "on the piano" in answer.results[-1].text


def test_where_nothing_was_made_of_it_a_task_gets_the_best_events_and_a_reroll_what_is_around_them(world: World):
    event = said(world, "The kitten sleeps on the piano.")
    said(world, "How lovely that must be.")
    for task in Task:
        assert ids(ask(world, task=task)) == [event.id]
    first, second = (ask(world, turn_id="t") for _ in range(2))
    assert (first.escalated, second.escalated) == (False, True)
    assert "How lovely" in second.results[0].text


def test_what_is_served_counts_for_the_memory_that_it_is(world: World, tmp_path: Path):
    item = quoted(world, said(world, "The kitten sleeps on the piano.", user_id="mira"), user_id="mira")
    memory = world.memory(tmp_path)
    (result,) = memory.query(Query(text=QUESTION)).results
    memory._tally.flush()
    assert result.id == item.id
    assert world.store.usage(world.tenant, [item.id])[item.id].retrieved == 1


def test_a_step_up_is_about_the_question_not_about_all_that_came_with_the_first_answer(world: World):
    quoted(world, said(world, "The kitten sleeps on the piano in the hall."))
    for number in range(10):
        said(world, f"Number {number} of the choir sleeps late on Sundays.", thread=f"choir {number}")
    first, second = (ask(world, "Where in the hall does the kitten sleep on the piano?", turn_id="t") for _ in range(2))
    assert "choir" in repr(first.results)
    assert "piano" in repr(second.results[-1])
    assert "choir" not in repr(second.results)
