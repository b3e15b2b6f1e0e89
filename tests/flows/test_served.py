"""What an answer is made of: what held at the time, no more of a category than is set, nothing procedural unasked."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.domain.change import Link
from recollect.domain.item import Pattern, Workflow, kind
from recollect.domain.query import Filters, Query, Source
from recollect.domain.scope import Principal, Role
from recollect.policy.categories import SHIPPED, parse
from recollect.read.query import Reader
from tests.worlds import World


def day(month: int, number: int = 1) -> datetime:
    return datetime(2025, month, number, tzinfo=UTC)


def texts(world: World, question: str, *, categories=None, agent: str | None = None, **how) -> list[str]:
    role = Role.AGENT if agent else Role.ADMIN
    who = Principal(tenant=world.tenant, id=agent or "mira", role=role, agent_id=agent)
    reader = Reader(world.store, None, world.clock, who, parse({**SHIPPED, **(categories or {})}))
    return [result.text for result in reader.answer(Query(text=question, **how)).answer.results]


# -- at a time ----------------------------------------------------------------------------------------------


def at(world: World, question: str, moment: datetime, **how) -> str:
    return "\n".join(texts(world, question, filters=Filters(valid_at=moment), **how))


@pytest.fixture
def moved(world: World, tmp_path: Path) -> World:
    """Where the office was, and where it is."""
    memory = world.memory(tmp_path)
    old = memory.remember("The office is in Graz.", ts=day(1), topic_key="office", tags=["DECISION"])
    memory.remember("The office is in Linz.", ts=day(5), topic_key="office", supersedes=old.item_id)
    memory.remember("The office dog is called Bello.", ts=day(7))
    return world


@pytest.mark.parametrize("source", list(Source))
def test_what_held_then_is_served_and_nothing_that_came_later(moved, source):
    then = at(moved, "Where is the office?", day(3), source=source)
    assert "Graz" in then
    assert "Linz" not in then
    assert "Bello" not in at(moved, "What is the office dog called?", day(3), source=source)


def test_it_is_served_as_it_held(moved):
    assert "until" not in at(moved, "Where is the office?", day(3))


@pytest.mark.parametrize("source", [Source.ANY, Source.MEMORY])
def test_what_was_over_by_then_is_not_served_as_if_it_held(moved, source):
    then = at(moved, "Where is the office?", day(6), source=source)
    assert "Linz" in then
    assert "Bello" not in then
    assert source is Source.ANY or "Graz" not in then


def test_what_holds_by_its_own_words_from_earlier_on_is_served(world):
    world.tell("The gate has been green since March.", valid_from=day(3), origin_at=day(8))
    assert "green" in at(world, "Which colour is the gate?", day(4), source=Source.MEMORY)
    assert at(world, "Which colour is the gate?", day(2), source=Source.MEMORY) == ""


def test_now_a_memory_counts_whatever_the_clock_of_who_said_it(world):
    world.tell("The gate is green.", origin_at=datetime(2030, 1, 1, tzinfo=UTC))
    assert "green" in "\n".join(texts(world, "Which colour is the gate?", source=Source.MEMORY))


# -- no more of a category than is set ----------------------------------------------------------------------

TWO = {"categories": {"custom": [{"name": "recipes", "context": "rag", "rag_length": 2}]}}
SOUPS = ("leek", "carrot", "onion", "pumpkin", "lentil")


@pytest.mark.parametrize("source", [Source.ANY, Source.MEMORY])
def test_as_many_of_a_category_are_served_as_its_rag_length_says(world, source):
    soups = [world.tell(f"The {name} soup needs an hour of cooking.", category="recipes") for name in SOUPS]
    for other in soups[1:]:
        world.apply(Link(world.relation(soups[0].item, other.item)))
    question = "How long does the soup need?"
    assert len(texts(world, question, source=source)) > 2
    assert len(texts(world, question, source=source, categories=TWO)) == 2


def test_events_that_are_no_memories_of_the_category_are_served_beside(world):
    for name in SOUPS:
        world.tell(f"The {name} soup needs an hour of cooking.", category="recipes")
    world.say("The fish soup needs two hours of cooking.", thread="dinner")
    found = texts(world, "How long does the soup need?", categories=TWO)
    assert len(found) == 3
    assert any("fish" in text for text in found)


# -- how something is done ----------------------------------------------------------------------------------

STEPS = Workflow("deploy_request", ("Run the tests", "Tag the release"), "Deploying takes two steps", {})
TEMPLATE = Pattern("deploy handler", {"kind": "function"}, "Deploying is a handler")


@pytest.mark.parametrize(("body", "category"), [(STEPS, "procedural"), (STEPS, "knowledge"), (TEMPLATE, "knowledge")])
@pytest.mark.parametrize("agent", [None, "hook", "researcher"])
@pytest.mark.parametrize("source", [Source.ANY, Source.MEMORY])
def test_how_something_is_done_is_served_to_who_asks_for_it(world, body, category, agent, source):
    world.tell("To deploy, run the tests and tag the release.", category=category, body=body)
    world.tell("The deploy of Friday failed.", category="knowledge", thread="friday")
    question = "How do we deploy the release?"
    assert "run the tests" not in "\n".join(texts(world, question, agent=agent, source=source))
    if agent != "researcher" or category == "knowledge":
        for asked in (Filters(categories=frozenset({category})), Filters(kinds=frozenset({kind(body)}))):
            named = texts(world, question, agent=agent, source=source, filters=asked)
            assert "run the tests" in "\n".join(named)


def test_an_agent_whose_list_names_it_gets_how_something_is_done(world):
    world.tell("To deploy, run the tests and tag the release.", category="procedural", body=STEPS)
    assert "run the tests" in "\n".join(texts(world, "How do we deploy the release?", agent="executor"))


# -- why ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", list(Source))
def test_how_recent_a_memory_is_tells_when_it_was_said_however_late_it_was_taken_in(world, tmp_path, source):
    memory = world.memory(tmp_path)
    said = [datetime(year, 3, 1, tzinfo=UTC) for year in (2019, 2023, 2025)]
    names = ("leek", "carrot", "onion")
    for name, moment in zip(names, said, strict=True):
        memory.remember(f"The {name} soup needs an hour of cooking.", ts=moment)
    answer = memory.query(Query(text="How long does the soup need?", source=source, explain=True))
    fresh = {result.text: one["signals"]["recency"] for result, one in zip(answer.results, answer.explain, strict=True)}
    ordered = [next(value for text, value in fresh.items() if name in text) for name in names]
    assert ordered == sorted(ordered)
    assert len(set(ordered)) == 3


def test_a_memory_in_the_words_of_its_event_is_explained_by_what_ranks_the_event(world):
    told = [
        world.tell("The leek soup needs an hour of cooking.", importance=1),
        world.tell("The soup of the day is cooking.", importance=5),
    ]
    who = Principal(tenant=world.tenant, id="mira", role=Role.ADMIN)
    reader = Reader(world.store, None, world.clock, who)

    def explained(source: Source) -> dict[str, object]:
        asked = Query(text="How long does the leek soup need?", source=source, explain=True, threshold=0.0)
        return {str(one["id"]): one["signals"] for one in reader.answer(asked).answer.explain}

    together, events = explained(Source.ANY), explained(Source.EVIDENCE)
    assert {one.item.id: events[one.event.id] for one in told} == together
