"""For every combination of filters and sight: what is found passes, and nothing that passes is missed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.change import Append, Create, Derive, Discard, Retract, Withdraw
from recollect.domain.event import Event
from recollect.domain.item import Item, Visibility
from recollect.domain.query import Filters
from recollect.domain.scope import Sight
from recollect.holdings import Vector, Wanted
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.hunt import examples
from tests.store.conftest import ENGINES, new_world
from tests.store.test_reading import CHOICES, NAMES, SIGHTS, TIMES, any_item, asked_for, in_sight
from tests.worlds import ANY_STATE, EVERYTHING, World, numbers

MODEL = "toy"
BEYOND = ("x", "y", None)
"""Roles of events."""


@dataclass
class Memories:
    """A tenant, and what the model knows of it: events with their episodes, items that have an R3."""

    world: World
    events: dict[str, tuple[Event, Item]]
    items: dict[str, Item]


@pytest.fixture(scope="module", params=[*ENGINES, "sqlite by bits"])
def memories(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memories]:
    if request.param == "postgres":
        store = request.getfixturevalue("postgres_store")
    else:
        bits_above = 10 if request.param == "sqlite by bits" else None
        store = SqlStore(SqliteEngine(tmp_path_factory.mktemp("found") / "memory.db", bits_above=bits_above))
    neighbour, world = new_world(store), new_world(store)
    fill(neighbour, Random(8))
    yield fill(world, Random(7))
    if request.param != "postgres":
        store.close()


def fill(world: World, chance: Random) -> Memories:
    everything = [any_item(world, chance) for _ in range(160)]
    episodes = [item for item in everything if item.kind == "episode"]
    witness = world.episode("witness", visibility=Visibility.SYSTEM, user_id=None)
    cited = world.event(witness, "coffee")
    said = [
        (world.event(e, f"tea {chance.random()}", role=chance.choice(BEYOND), ts=chance.choice(TIMES)), e)
        for e in episodes
        for _ in "ab"
    ]
    told = [(world.version(item, cited, content=f"tea {chance.random()}"), item) for item in everything]
    vectors = [Vector(MODEL, ref, numbers(chance.random(), chance.random(), 1)) for ref in _refs(said, told)]
    world.apply(
        *map(Create, [witness, *everything]),
        *(Append(event) for event in [cited, *(event for event, _ in said)]),
        *(Derive(version) for version, _ in told),
        vectors=vectors,
    )
    placed = {event.id: event for event in world.store.events_by_id(world.tenant, [event.id for event, _ in said])}
    hidden, silent = said[::7], told[::7]
    world.apply(*(Retract(placed[event.id]) for event, _ in hidden), *(Discard(version) for version, _ in silent))
    gone = [item for version, item in silent if item.kind != "episode"][::2]
    world.apply(*map(Withdraw, gone))
    return Memories(
        world,
        {event.id: (event, episode) for event, episode in said if (event, episode) not in hidden},
        {item.id: item for version, item in told if (version, item) not in silent},
    )


def _refs(said: list[tuple[Event, Item]], told: list[tuple[object, Item]]) -> list[str]:
    return [f"e:{event.id}" for event, _ in said] + [f"v:{version.id}" for version, _ in told]  # type: ignore[attr-defined]


ASKED = st.fixed_dictionaries({}, optional=CHOICES).map(lambda chosen: replace(ANY_STATE, **chosen))
WAYS = {
    "by words": Wanted(words=("tea",), filters=Filters(), sight=EVERYTHING),
    "by vectors": Wanted(
        vector=numbers(0.2, 0.5, 1),
        embedder=MODEL,
        filters=Filters(),
        sight=EVERYTHING,
    ),
}


def event_passes(event: Event, episode: Item, filters: Filters, sight: Sight) -> bool:
    owners = replace(
        filters,
        role=None,
        kinds=None,
        categories=None,
        without=frozenset(),
        valid_at=None,
        current_at=None,
        states=ANY_STATE.states,
    )
    own = filters.role is None or event.role == filters.role
    own = own and (filters.valid_at is None or event.ts <= filters.valid_at)
    return own and asked_for(episode, owners) and in_sight(episode, sight)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(60), deadline=None)
@given(filters=ASKED, sight=SIGHTS)
def test_exactly_the_items_that_pass_are_found(memories: Memories, way: str, filters: Filters, sight: Sight):
    world = memories.world
    found = world.store.find_items(world.tenant, replace(WAYS[way], filters=filters, sight=sight, limit=500)).hits
    passing = {id for id, item in memories.items.items() if asked_for(item, filters) and in_sight(item, sight)}
    assert {hit.item_id for hit in found} == passing
    assert len(found) == len(passing)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(60), deadline=None)
@given(filters=ASKED, sight=SIGHTS)
def test_exactly_the_events_that_pass_are_found(memories: Memories, way: str, filters: Filters, sight: Sight):
    world = memories.world
    found = world.store.find_events(world.tenant, replace(WAYS[way], filters=filters, sight=sight, limit=500)).hits
    passing = {id for id, (event, of) in memories.events.items() if event_passes(event, of, filters, sight)}
    assert {hit.ref[2:] for hit in found} == passing
    assert len(found) == len(passing)


@settings(max_examples=examples(40), deadline=None)
@given(filters=ASKED, sight=SIGHTS, limit=st.integers(1, 5))
def test_a_short_answer_holds_the_best_of_a_long_one(memories: Memories, filters: Filters, sight: Sight, limit: int):
    world = memories.world
    both = replace(WAYS["by vectors"], words=("tea",), filters=filters, sight=sight)
    long = world.store.find_items(world.tenant, replace(both, limit=500)).hits
    short = world.store.find_items(world.tenant, replace(both, limit=limit)).hits
    for score in ("text", "cosine"):
        best = sorted((getattr(hit, score) for hit in long if getattr(hit, score) is not None), reverse=True)[:limit]
        mine = sorted((getattr(hit, score) for hit in short if getattr(hit, score) is not None), reverse=True)[:limit]
        assert mine == pytest.approx(best, abs=0.01)
    assert {hit.ref for hit in short} <= {hit.ref for hit in long}


def test_the_model_tells_memories_apart(memories: Memories):
    """What is passed over by sight and what by filters: neither all nor nothing."""
    own = Sight(users=frozenset({"ana"}), projects=frozenset(), silo=None, readers=None)
    seen = [item for item in memories.items.values() if in_sight(item, own)]
    asked = [item for item in seen if asked_for(item, replace(ANY_STATE, categories=frozenset(NAMES[:1])))]
    assert 0 < len(asked) < len(seen) < len(memories.items)
