"""Private words: kept from everybody who took no part in the thread, by every way in which the store hands out words."""  # noqa: E501

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.change import Append, Create, Derive, Discard, Erase, Retract, Withdraw, revise
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, VersionId
from recollect.domain.item import Episode, Fact, Item, Visibility
from recollect.domain.level import Level
from recollect.domain.query import Filters
from recollect.domain.scope import Actor, Role, Sight
from recollect.domain.version import Version
from recollect.domain.witness import RangeWitness
from recollect.holdings import Vector, Wanted
from recollect.ports import Store
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.hunt import LONG, examples
from tests.store.conftest import ENGINES, World, new_world
from tests.worlds import ALL, ANY_STATE, EVERYTHING, furnish, numbers

SHARED = {"visibility": Visibility.PROJECT_SHARED, "project_id": "house", "user_id": None}
PEOPLE = ("ana", "ben", "cleo", "dora")
ANYBODY = frozenset(PEOPLE)


def someone(name: str) -> Actor:
    return Actor(id=name, role=Role.MEMBER)


def sight(*readers: str) -> Sight:
    """What somebody of the project sees."""
    return Sight(users=frozenset(readers), projects=frozenset({"house"}), silo=None, readers=frozenset(readers))


@dataclass(frozen=True)
class Confided:
    """What ana said in a thread of the house, of which one thing is private, and a memory of each."""

    world: World
    thread: Item
    open: Event
    private: Event
    plain: Item
    secret: Item
    words: Version

    def events(self, *readers: str) -> set[str]:
        """The events that readers are shown, by every way to them; they agree."""
        store, tenant, thread = self.world.store, self.world.tenant, self.thread.id
        who = frozenset(readers)
        ids, places = [self.open.id, self.private.id], [(thread, self.open.seq), (thread, self.private.seq)]
        versions = [one.id for item in (self.plain, self.secret) for one in store.versions(tenant, item.id)]
        ways = [
            {event.id for event in store.events(tenant, thread, readers=who)},
            {event.id for event in store.latest(tenant, thread, 9, readers=who)},
            {event.id for event in store.events_by_id(tenant, ids, readers=who)},
            {event.id for event in store.cited(tenant, versions, readers=who)},
            {event.id for event in store.near_events(tenant, places, readers=who)},
            {hit.ref[2:] for hit in store.find_events(tenant, looking(sight(*readers))).hits},
            {hit.ref[2:] for hit in store.search(tenant, ["tea"], sight(*readers)) if hit.ref.startswith("e:")},
            set(ids) - {ref[2:] for ref in store.withheld(tenant, [f"e:{id}" for id in ids], who)},
        ]
        assert all(way & set(ids) == ways[-1] for way in ways), ways
        return ways[-1]

    def items(self, *readers: str) -> set[str]:
        """The memories that readers are shown, the same."""
        store, tenant, seen = self.world.store, self.world.tenant, sight(*readers)
        ids = [self.plain.id, self.secret.id]
        ways = [
            {held.item.id for held in store.items(tenant, ANY_STATE, seen, ALL) if held.item.id in ids},
            {item_id for id in ids for item_id in store.named(tenant, id, seen)},
            {hit.item_id for hit in store.find_items(tenant, looking(seen)).hits},
            {hit.item_id for hit in store.search(tenant, ["tea"], seen) if hit.ref.startswith("v:")},
            set(ids) - {ref[2:] for ref in store.withheld(tenant, [f"i:{id}" for id in ids], seen.readers)},
        ]
        assert all(way == ways[0] for way in ways), ways
        return ways[0]


def looking(seen: Sight) -> Wanted:
    return Wanted(words=["tea"], vector=numbers(1, 0), embedder="mini", filters=ANY_STATE, sight=seen)


def confided(world: World, *, marked: bool = True, private: bool = True) -> Confided:
    thread = world.episode("salon", **SHARED)
    said = [world.event(thread, "Tea at four."), world.event(thread, "I take my tea with insulin.")]
    plain, secret = world.item(**SHARED), world.item(Fact(value="insulin"), private=marked, **SHARED)
    words = [world.version(plain, said[0]), world.version(secret, said[1], content="Ana takes tea with insulin.")]
    vectors = [Vector("mini", f"e:{event.id}", numbers(1, 0.1)) for event in said]
    vectors += [Vector("mini", f"v:{version.id}", numbers(1, 0.1)) for version in words]
    world.apply(
        Create(thread),
        *map(Append, said),
        Create(plain),
        Create(secret),
        *map(Derive, words),
        actor=someone("ana"),
        vectors=vectors,
        private=[said[1].id] if private else [],
    )
    placed = list(world.store.events_by_id(world.tenant, [event.id for event in said]))
    return Confided(world, thread, placed[0], placed[1], plain, secret, words[1])


# -- who took part ------------------------------------------------------------------------------------------


def test_a_private_event_is_shown_to_who_took_part_and_to_nobody_else(world: World):
    told = confided(world)
    everything = {told.open.id, told.private.id}
    assert told.events("ana") == everything
    assert told.events("ben") == {told.open.id}
    assert told.events() == {told.open.id}
    assert told.events("ben", "ana") == everything


@pytest.mark.parametrize(("marked", "private"), [(True, True), (True, False), (False, True)])
def test_a_private_memory_is_shown_to_who_took_part_and_to_nobody_else(world: World, marked: bool, private: bool):
    told = confided(world, marked=marked, private=private)
    assert told.items("ana") == {told.plain.id, told.secret.id}
    assert told.items("ben") == {told.plain.id}
    assert told.items() == {told.plain.id}


def test_who_appends_to_a_thread_takes_part_in_it(world: World):
    told = confided(world)
    world.apply(Append(world.event(told.thread, "Noted.", author="the assistant")), actor=someone("ben"))
    assert told.private.id in told.events("ben")
    assert told.secret.id in told.items("ben")
    assert told.private.id not in told.events("cleo")


def test_who_speaks_in_a_thread_takes_part_in_it_whoever_brings_it_in(world: World):
    told = confided(world)
    world.apply(Append(world.event(told.thread, "Me too.", author="cleo")), actor=someone("ana"))
    assert told.private.id in told.events("cleo")
    assert told.private.id not in told.events("ben")


def test_whose_a_thread_is_takes_part_in_it(world: World):
    owner = {**SHARED, "user_id": "ben", "actor_id": "cleo"}
    thread = world.keep(world.episode("den", **owner))
    event = world.event(thread, "tea")
    world.apply(Append(event), private=[event.id], actor=someone("ana"))
    for name, seen in (("ana", True), ("ben", True), ("cleo", True), ("dora", False)):
        assert bool(world.store.events(world.tenant, thread.id, readers=frozenset({name}))) == seen
    item = world.held(thread).item
    world.apply(revise(item, replace(item, user_id="dora"), world.clock.now()))
    assert world.store.events(world.tenant, thread.id, readers=frozenset({"dora"}))


def test_who_brings_an_event_back_did_not_take_part(world: World):
    told = confided(world)
    later = world.event(told.thread, "And later?", author="ana")
    world.apply(Append(later), actor=someone("ana"))
    later = world.store.events_by_id(world.tenant, [later.id])[0]
    world.apply(Retract(later), actor=someone("ben"))
    world.apply(Append(later), actor=someone("ben"))
    assert told.private.id not in told.events("ben")


# -- what is private ----------------------------------------------------------------------------------------


def test_an_event_becomes_private_when_that_is_known_and_all_that_cites_it_with_it(world: World):
    told = confided(world, marked=False, private=False)
    assert told.items("ben") == {told.plain.id, told.secret.id}
    assert told.events("ben") == {told.open.id, told.private.id}
    before, journal = world.store.head(world.tenant).rev, len(world.journal())
    assert world.apply(private=[told.private.id]) == before + 1
    assert [e.header.op for e in world.journal()[journal:]] == ["private"], "a mark is journalled, as a header alone"
    assert told.items("ben") == {told.plain.id}
    assert told.events("ben") == {told.open.id}
    world.apply(private=[told.private.id])
    assert told.events("ben") == {told.open.id}


def test_in_a_thread_that_is_not_shared_a_mark_says_nothing(world: World):
    told = world.tell("tea", private=True)
    silo = world.tell("tea", visibility=Visibility.AGENT_SILO, agent_id="robin", private=True)
    world.apply(private=[told.event.id, silo.event.id, EventId("0198aaaa-0000-7000-8000-000000000000")])
    admin = Sight(users=None, projects=None, silo="robin", readers=frozenset({"mona"}))
    assert {h.item.id for h in world.store.items(world.tenant, Filters(), admin, ALL)} >= {told.item.id, silo.item.id}
    assert len(world.store.find_events(world.tenant, looking(admin)).hits) == 2
    assert not [row for row in world.store.dump(world.tenant) if row["table"] == "private_events"]


def test_system_memories_that_are_private_are_for_those_alone_who_took_part(world: World):
    system = {"visibility": Visibility.SYSTEM, "user_id": None}
    told = world.tell("tea", private=True, **system)
    world.apply(private=[told.event.id])
    for name, seen in (("mira", True), ("ben", False)):
        readers = frozenset({name})
        found = world.store.find_items(world.tenant, looking(replace(EVERYTHING, readers=readers))).hits
        assert bool(found) == seen
        assert bool(world.store.events_by_id(world.tenant, [told.event.id], readers=readers)) == seen


def test_a_memory_out_of_two_threads_is_for_those_who_took_part_in_both(world: World):
    told = confided(world)
    thread = world.keep(world.episode("den", **SHARED))
    more = world.event(thread, "So do I.", author="ben")
    words = world.version(told.secret, told.private, more, content="They take tea with insulin.")
    world.apply(Append(more), actor=someone("ben"))
    world.apply(Derive(words))
    assert told.items("ana") == {told.plain.id}, "the version that speaks cites a thread that she took no part in"
    assert told.items("ben") == {told.plain.id}
    world.apply(Append(world.event(thread, "I see.", author="ana")), actor=someone("ana"))
    assert told.secret.id in told.items("ana")
    world.apply(Discard(words))
    assert told.secret.id in told.items("ana")
    assert told.secret.id not in told.items("ben")


def test_a_summary_of_private_words_is_not_there_for_others_and_the_thread_is(world: World):
    told = confided(world)
    store, tenant, ben, ana = world.store, world.tenant, frozenset({"ben"}), frozenset({"ana"})
    old = world.version(told.thread, told.open, content="About tea.")
    new = world.version(told.thread, RangeWitness(told.thread.id, 1, 2), content="About tea and insulin.")
    hint, log = world.shorter(new, "tea and insulin"), world.version(told.thread, told.private, level=Level.R4)
    word = world.shorter(hint, "insulin", level=Level.R1)
    world.apply(*map(Derive, (old, new, hint, word, log)), private=[told.private.id])
    assert [one.id for one in store.versions(tenant, told.thread.id, readers=ben)] == [old.id]
    assert len(store.versions(tenant, told.thread.id, readers=ana)) == 5
    assert store.withheld(
        tenant, [f"i:{told.thread.id}", *(f"v:{v.id}" for v in (old, new, hint, word, log))], ben
    ) == {f"v:{v.id}" for v in (new, hint, word, log)}
    assert told.thread.id in {held.item.id for held in store.items(tenant, ANY_STATE, sight("ben"), ALL)}
    assert store.speaking(tenant, [told.thread.id], readers=ben) == {}
    assert store.known(tenant, [told.thread.id], sight=sight("ben")).speaking == {}
    assert store.speaking(tenant, [told.thread.id], readers=ana)[told.thread.id][1] == new
    found = {hit.item_id for hit in store.find_items(tenant, replace(looking(sight("ben")), words=["insulin"])).hits}
    assert told.thread.id not in found


def test_a_thread_that_is_marked_as_private_is_for_those_who_took_part(world: World):
    told = confided(world, private=False)
    item = world.held(told.thread).item
    world.apply(revise(item, replace(item, private=True), world.clock.now()))
    store, tenant = world.store, world.tenant
    assert store.withheld(tenant, [f"i:{told.thread.id}"], frozenset({"ben"})) == {f"i:{told.thread.id}"}
    assert store.withheld(tenant, [f"i:{told.thread.id}"], frozenset({"ana"})) == frozenset()
    assert store.find_events(tenant, looking(sight("ben"))).hits == []
    assert len(store.find_events(tenant, looking(sight("ana"))).hits) == 2


def test_a_private_memory_that_was_withdrawn_is_still_for_those_who_took_part(world: World):
    told = confided(world)
    world.apply(Discard(told.words), Withdraw(told.secret))
    ref = f"i:{told.secret.id}"
    assert world.store.withheld(world.tenant, [ref], frozenset({"ana"})) == frozenset()
    assert world.store.withheld(world.tenant, [ref], frozenset({"ben"})) == {ref}


def test_a_private_memory_without_words_is_for_whose_it_is(world: World):
    item = world.keep(private=True, actor_id="cleo", **{**SHARED, "user_id": "ben"})
    for name in PEOPLE:
        found = world.store.items(world.tenant, Filters(), sight(name), ALL)
        assert bool(found) == (name in ("ben", "cleo")), name
    assert world.store.items(world.tenant, Filters(), EVERYTHING, ALL)[0].item == item


# -- what becomes of the marks ------------------------------------------------------------------------------


def test_marks_move_with_the_tenant(world: World, other_store: Store):
    told = confided(world)
    world.apply(Append(world.event(told.thread, "Hm.", author="someone")), actor=someone("ben"))
    there = World(other_store, world.tenant, world.clock)
    other_store.load(there.tenant, world.store.dump(world.tenant))
    assert there.dump() == world.dump()
    moved = replace(told, world=there)
    assert moved.events("cleo") == told.events("cleo")
    assert told.private.id in moved.events("ben") & moved.events("someone") & moved.events("ana")


def test_marks_go_with_what_is_erased(world: World):
    told = confided(world)
    events = (told.open.id, told.private.id)
    versions = tuple(v.id for item in (told.plain, told.secret) for v in world.store.versions(world.tenant, item.id))
    world.apply(Erase((told.thread.id, told.plain.id, told.secret.id), versions, events, (), "asked for"))
    tables = {row["table"] for row in world.store.dump(world.tenant)}
    assert not tables & {"participants", "private_events"}
    world.apply(private=[told.private.id])
    assert not [row for row in world.store.dump(world.tenant) if row["table"] == "private_events"]


def test_marks_go_with_their_event_alone(world: World):
    told = confided(world)
    world.apply(Erase((told.secret.id,), (told.words.id,), (told.private.id,), (), "asked for"))
    rows = list(world.store.dump(world.tenant))
    assert not [row for row in rows if row["table"] == "private_events"]
    assert {row["principal_id"] for row in rows if row["table"] == "participants"} == {"ana"}


def test_an_old_file_learns_who_took_part_when_it_is_opened(sqlite_store: SqlStore, sqlite_path):
    world = new_world(sqlite_store)
    furnish(world)
    confided(world)
    before = [row for row in world.dump() if '"private_events"' not in row]
    engine: SqliteEngine = sqlite_store._opened  # type: ignore[assignment]
    for statement in (
        "drop table participants",
        "drop table private_events",
        "drop index items_private",
        "alter table witnesses drop column quoted",
        "alter table events drop column names",
        "alter table versions drop column names",
        "delete from sqlite_stat1 where tbl in ('participants', 'private_events') or idx = 'items_private'",
        "pragma user_version = 4",
    ):
        engine._writer.execute(statement)  # type: ignore[attr-defined]
    sqlite_store.close()
    again = SqlStore(SqliteEngine(sqlite_path))
    assert World(again, world.tenant).dump() == before
    again.close()


# -- every reader, every memory -----------------------------------------------------------------------------


@dataclass
class Crowd:
    """Threads, events, memories and versions at random, and who may see what of them."""

    world: World
    threads: dict[str, Item] = field(default_factory=dict)
    part: dict[str, set[str]] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    items: dict[str, Item] = field(default_factory=dict)
    versions: dict[str, list[Version]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    def shared(self, item: Item) -> bool:
        return item.visibility in (Visibility.PROJECT_SHARED, Visibility.SYSTEM)

    def kept_from(self, event_id: str, readers: frozenset[str]) -> bool:
        """Whether an event is a private one of others."""
        return event_id in self.private and not self.part[self.events[event_id].item_id] & readers

    def cited(self, version: Version) -> set[str]:
        return {witness.event_id for bullet in version.bullets for witness in bullet.witnesses}  # type: ignore[union-attr]

    def source(self, version: Version) -> Version:
        while not version.bullets:
            [version] = [one for kept in self.versions.values() for one in kept if one.id == version.derived_from]
        return version

    def shows(self, version: Version, readers: frozenset[str]) -> bool:
        return not any(self.kept_from(id, readers) for id in self.cited(self.source(version)))

    def speaking(self, item: Item) -> Version | None:
        live = [one for one in self.versions[item.id] if one.level is Level.R3 and one.id not in self.hidden]
        promoted = [one for one in live if one.id == item.active_version_id]
        return (promoted or sorted(live, key=lambda one: one.id) or [None])[-1]  # type: ignore[list-item]

    def telling(self, item: Item) -> list[Version]:
        speaking = self.speaking(item)
        return [speaking] if speaking else self.versions[item.id]

    def visible(self, item: Item, readers: frozenset[str]) -> bool:
        told = self.telling(item)
        cited = {id for one in told for id in self.cited(one)}
        own = any(event.item_id == item.id for event in self.events.values())
        if not own and any(self.kept_from(id, readers) for id in cited):
            return False
        if not item.private or not self.shared(item):
            return True
        threads = {self.events[id].item_id for id in cited} | ({item.id} if own else set())
        if not all(self.part[thread] & readers for thread in threads):
            return False
        return bool(told) or bool({item.user_id, item.actor_id} & readers or self.part.get(item.id, set()) & readers)


def crowd_in(store: Store, seed: int = 7) -> Crowd:
    world, chance = new_world(store), Random(seed)
    crowd = Crowd(world)
    for number in range(8):
        place = chance.choice([SHARED, SHARED, {"visibility": Visibility.SYSTEM, "user_id": None}, {"user_id": "ana"}])
        thread = world.episode(f"t{number}", private=chance.random() < 0.2, actor_id=chance.choice(PEOPLE), **place)
        world.apply(Create(thread), actor=someone("nobody"))
        crowd.threads[thread.id], crowd.items[thread.id] = thread, thread
        crowd.part[thread.id] = {name for name in (thread.user_id, thread.actor_id) if name}
        crowd.versions[thread.id] = []
        for _ in range(chance.randint(0, 4)):
            actor, author = chance.choice(PEOPLE), chance.choice([*PEOPLE, "the assistant"])
            event = world.event(thread, f"tea {chance.random()}", author=author)
            private = chance.random() < 0.5
            world.apply(
                Append(event),
                actor=someone(actor),
                private=[event.id] if private else [],
                vectors=[Vector("mini", f"e:{event.id}", numbers(1, chance.random()))],
            )
            crowd.part[thread.id] |= {actor, author}
            crowd.events[event.id] = world.store.events_by_id(world.tenant, [event.id])[0]
            crowd.private |= {event.id} if private and crowd.shared(thread) else set()
    for _ in range(30):
        place = chance.choice([SHARED, SHARED, {"visibility": Visibility.SYSTEM, "user_id": None}, {"user_id": "ana"}])
        item = world.item(private=chance.random() < 0.5, actor_id=chance.choice([None, *PEOPLE]), **place)
        world.keep(item)
        crowd.items[item.id], crowd.versions[item.id] = item, []
    for item in [*crowd.items.values()]:
        _say_something(crowd, chance, item)
    return crowd


def _say_something(crowd: Crowd, chance: Random, item: Item) -> None:
    """Some versions of an item, one of them perhaps promoted, some of them perhaps withdrawn again."""
    world = crowd.world
    for _ in range(chance.randint(0, 3)):
        cited = chance.sample(sorted(crowd.events), chance.randint(1, 2))
        level = chance.choice([Level.R3, Level.R3, Level.R4])
        made = [world.version(item, *(crowd.events[id] for id in cited), level=level, content=f"tea {chance.random()}")]
        if chance.random() < 0.5:
            made.append(world.shorter(made[0]))
            made.append(world.shorter(made[1], level=Level.R1))
        vectors = [Vector("mini", f"v:{made[0].id}", numbers(1, chance.random()))]
        world.apply(*map(Derive, made), vectors=vectors)
        crowd.versions[item.id] += made
        if chance.random() < 0.25:
            world.apply(*map(Discard, reversed(made)))
            crowd.hidden |= {version.id for version in made}
    live = [one for one in crowd.versions[item.id] if one.level is Level.R3 and one.id not in crowd.hidden]
    if live and chance.random() < 0.3:
        held = world.held(item).item
        pointed = replace(held, active_version_id=chance.choice(live).id)
        world.apply(revise(held, pointed, world.clock.now()))
        crowd.items[item.id] = world.held(item).item


SEEDS = [*product(ENGINES, (7,)), *product(ENGINES if LONG else ("sqlite",), (8, 9))]


@pytest.fixture(scope="module", params=[f"{engine} {seed}" for engine, seed in SEEDS])
def crowd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    engine, seed = request.param.split()
    if engine == "sqlite":
        store = SqlStore(SqliteEngine(tmp_path_factory.mktemp("crowd") / "memory.db"))
        yield crowd_in(store, int(seed))
        store.close()
    else:
        yield crowd_in(request.getfixturevalue("postgres_store"), int(seed))


READERS = st.frozensets(st.sampled_from([*PEOPLE, "the assistant", "nobody", "stranger"]), max_size=2)


@settings(max_examples=examples(30))
@given(readers=READERS)
def test_every_way_to_a_memory_agrees_on_who_may_see_it(crowd: Crowd, readers: frozenset[str]):
    store, tenant = crowd.world.store, crowd.world.tenant
    seen = Sight(users=None, projects=None, silo=None, readers=readers)
    visible = {item.id for item in crowd.items.values() if crowd.visible(item, readers)}
    assert {held.item.id for held in store.items(tenant, ANY_STATE, seen, ALL)} == visible
    assert {id for item_id in crowd.items for id in store.named(tenant, item_id, seen)} == visible
    refs = [f"i:{item_id}" for item_id in crowd.items]
    assert {ref[2:] for ref in refs} - {ref[2:] for ref in store.withheld(tenant, refs, readers)} == visible
    spoken = {
        item.id: version
        for item in crowd.items.values()
        if (version := crowd.speaking(item)) and crowd.shows(version, readers)
    }
    told = store.speaking(tenant, list(crowd.items), readers=readers)
    assert {item_id: version for item_id, (_, version) in told.items()} == spoken
    outlined = store.outlines(tenant, [EventId(id) for id in crowd.events], readers=readers).values()
    quoting = {
        id for id, version in spoken.items() if not isinstance(crowd.items[id].body, Episode) and version.said_in
    }
    assert {one.id for made in outlined for one in made} == quoting
    found = {hit.item_id for hit in store.find_items(tenant, replace(looking(seen), filters=ANY_STATE)).hits}
    assert found == {item_id for item_id in spoken if _marked(crowd, crowd.items[item_id], readers)}


def _marked(crowd: Crowd, item: Item, readers: frozenset[str]) -> bool:
    """Whether the mark of an item lets it be seen, whatever the events that it cites."""
    return crowd.visible(item, readers) or not (item.private and crowd.shared(item))


@settings(max_examples=examples(30))
@given(readers=READERS)
def test_every_way_to_an_event_agrees_on_who_may_see_it(crowd: Crowd, readers: frozenset[str]):
    store, tenant = crowd.world.store, crowd.world.tenant
    open = {event.id for event in crowd.events.values() if not crowd.kept_from(event.id, readers)}
    ids = [EventId(id) for id in crowd.events]
    places = [(event.item_id, event.seq) for event in crowd.events.values()]
    ways: list[Callable[[], set[str]]] = [
        lambda: {e.id for id in crowd.threads for e in store.events(tenant, ItemId(id), readers=readers)},
        lambda: {e.id for id in crowd.threads for e in store.latest(tenant, ItemId(id), 99, readers=readers)},
        lambda: {e.id for e in store.events_by_id(tenant, ids, readers=readers)},
        lambda: {e.id for e in store.near_events(tenant, places, readers=readers)},
        lambda: set(ids) - {ref[2:] for ref in store.withheld(tenant, [f"e:{id}" for id in ids], readers)},
    ]
    for way in ways:
        assert way() == open
    threads = {id for id, item in crowd.threads.items() if crowd.visible(crowd.items[id], readers) or not item.private}
    found = store.find_events(tenant, looking(Sight(users=None, projects=None, silo=None, readers=readers))).hits
    assert {hit.ref[2:] for hit in found} == {id for id in open if crowd.events[id].item_id in threads}


@settings(max_examples=examples(30))
@given(readers=READERS)
def test_every_version_that_takes_private_words_is_kept_back(crowd: Crowd, readers: frozenset[str]):
    store, tenant = crowd.world.store, crowd.world.tenant
    for item_id, made in crowd.versions.items():
        shown = [version.id for version in made if crowd.shows(version, readers)]
        kept = store.versions(tenant, ItemId(item_id), withdrawn=True, readers=readers)
        assert {version.id for version in kept} == set(shown)
        assert {version.id for version in store.versions(tenant, ItemId(item_id), readers=readers)} == {
            VersionId(id) for id in shown if id not in crowd.hidden
        }
