"""Reading memory: filters and sight against a model in Python, pages, words, threads, what stands on what."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.change import Append, Create, Derive, Discard, Erase, Retract, Withdraw
from recollect.domain.ids import EventId, ItemId, VersionId
from recollect.domain.item import (
    STATES,
    Active,
    Archived,
    Episode,
    Expired,
    Fact,
    Insight,
    Item,
    SoftDeleted,
    Visibility,
)
from recollect.domain.level import Level
from recollect.domain.query import Filters, Page
from recollect.domain.scope import Scope, Sight
from recollect.holdings import Citing, Kept, Outline, Rooted
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.hunt import examples
from tests.store.conftest import ENGINES, new_world
from tests.worlds import ALL, ANY_STATE, DAWN, EVERYTHING, World

# -- filters and sight, against a model ---------------------------------------------------------------------

USERS, AGENTS, PROJECTS, NAMES = ("ana", "ben"), ("robin", "otto"), ("house", "garden"), ("x", "y")
TIMES = [DAWN + timedelta(days=day) for day in range(5)]
STATE = [Active(), Archived(DAWN), Expired(DAWN), *(SoftDeleted(DAWN, at) for at in TIMES)]


def any_item(world: World, chance: Random) -> Item:
    pick = chance.choice
    visibility = pick(list(Visibility))
    needs = {
        Visibility.USER_PRIVATE: {"user_id": pick(USERS)},
        Visibility.PROJECT_SHARED: {"project_id": pick(PROJECTS)},
        Visibility.AGENT_SILO: {"agent_id": pick(AGENTS)},
        Visibility.SYSTEM: {},
    }[visibility]
    own = {
        "user_id": pick([None, *USERS]),
        "agent_id": pick([None, *AGENTS]),
        "project_id": pick([None, *PROJECTS]),
        "thread_id": pick([None, *NAMES]),
        "run_id": pick([None, *NAMES]),
        "actor_id": pick([None, *NAMES]),
        "role": pick([None, *NAMES]),
        "topic_key": pick([None, *NAMES]),
    }
    body = pick([Fact(value="tea"), Insight(), Episode()])
    if isinstance(body, Episode):
        own["thread_id"] = world.clock.mint()
    return world.item(
        body,
        **{**own, **needs},
        visibility=visibility,
        category=pick(NAMES),
        state=pick([Active(), *STATE]),
        importance=chance.randint(1, 5),
        core=pick([True, False]),
        pinned_min_level=pick([None, Level.R2]),
        updated_at=pick(TIMES),
        valid_from=pick([None, *TIMES[:3]]),
        valid_to=pick([None, *TIMES[3:]]),
        origin_at=pick(TIMES),
        superseded_by=pick([None, ItemId("another")]),
    )


@dataclass
class Crowd:
    """A tenant with many different items, and the same items as the model keeps them: newest first."""

    world: World
    items: list[Item]
    withdrawn: list[Item]


@pytest.fixture(scope="module", params=ENGINES)
def crowd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    if request.param == "postgres":
        store = request.getfixturevalue("postgres_store")
    else:
        store = SqlStore(SqliteEngine(tmp_path_factory.mktemp("crowd") / "memory.db"))
    world, neighbour = new_world(store), new_world(store)
    chance = Random(7)
    items = [any_item(world, chance) for _ in range(150)]
    gone = [any_item(world, chance) for _ in range(20)]
    world.apply(*map(Create, [*items, *gone]))
    world.apply(*map(Withdraw, gone))
    neighbour.apply(*map(Create, [any_item(neighbour, chance) for _ in range(20)]))
    yield Crowd(world, sorted(items, key=lambda item: item.id, reverse=True), gone)
    if request.param == "sqlite":
        store.close()


def asked_for(item: Item, filters: Filters) -> bool:
    """Whether the filters let an item through, said the plain way."""
    state, purge_at = STATES[type(item.state)], getattr(item.state, "purge_at", None)
    conditions = {
        **{
            name: getattr(item, name) == getattr(filters, name)
            for name in (
                "user_id",
                "agent_id",
                "project_id",
                "thread_id",
                "run_id",
                "actor_id",
                "role",
                "topic_key",
                "core",
            )
        },
        "kinds": filters.kinds is not None and item.kind in filters.kinds,
        "categories": filters.categories is not None and item.category in filters.categories,
        "without": item.category not in filters.without,
        "states": state in filters.states
        or (filters.valid_at is not None and state == "archived" and item.superseded_by is not None),
        "pinned": item.pinned == filters.pinned,
        "importance_min": filters.importance_min is not None and item.importance >= filters.importance_min,
        "importance_max": filters.importance_max is not None and item.importance <= filters.importance_max,
        "updated_after": filters.updated_after is not None and item.updated_at > filters.updated_after,
        "updated_before": filters.updated_before is not None and item.updated_at < filters.updated_before,
        "valid_at": bool(
            filters.valid_at
            and (item.valid_from or item.origin_at) <= filters.valid_at
            and (item.valid_to is None or filters.valid_at < item.valid_to)
        ),
        "current_at": bool(
            filters.current_at
            and (item.valid_from is None or item.valid_from <= filters.current_at)
            and (item.valid_to is None or filters.current_at < item.valid_to)
        ),
        "purge_due": bool(filters.purge_due and purge_at and purge_at <= filters.purge_due),
    }
    assert conditions.keys() == {field.name for field in fields(Filters)}, "a filter that the model does not know"
    return all(holds for name, holds in conditions.items() if getattr(filters, name) is not None)


def in_sight(item: Item, sight: Sight) -> bool:
    match item.visibility:
        case Visibility.SYSTEM:
            return True
        case Visibility.USER_PRIVATE:
            return sight.users is None or item.user_id in sight.users
        case Visibility.PROJECT_SHARED:
            return sight.projects is None or item.project_id in sight.projects
        case Visibility.AGENT_SILO:
            return sight.silo is not None and item.agent_id == sight.silo


def _maybe(*values: object) -> st.SearchStrategy[Any]:
    return st.sampled_from([None, *values])


def _some(*values: str) -> st.SearchStrategy[Any]:
    return st.none() | st.frozensets(st.sampled_from(values))


MOMENTS = [*TIMES, TIMES[1] + timedelta(microseconds=1), TIMES[1] - timedelta(microseconds=1)]
CHOICES: dict[str, st.SearchStrategy[Any]] = {
    "user_id": _maybe(*USERS, "nobody"),
    "agent_id": _maybe(*AGENTS),
    "project_id": _maybe(*PROJECTS),
    "thread_id": _maybe(*NAMES),
    "run_id": _maybe(*NAMES),
    "actor_id": _maybe(*NAMES),
    "role": _maybe(*NAMES),
    "topic_key": _maybe(*NAMES),
    "kinds": _some("fact", "insight", "episode", "workflow"),
    "categories": _some(*NAMES, "z"),
    "without": st.frozensets(st.sampled_from([*NAMES, "z"])),
    "states": st.frozensets(st.sampled_from(sorted(STATES.values())), min_size=0),
    "pinned": _maybe(True, False),
    "core": _maybe(True, False),
    "importance_min": _maybe(1, 2, 3, 5),
    "importance_max": _maybe(1, 3, 4, 5),
    "updated_after": _maybe(*MOMENTS),
    "updated_before": _maybe(*MOMENTS),
    "purge_due": _maybe(*MOMENTS),
    "valid_at": _maybe(*MOMENTS),
    "current_at": _maybe(*MOMENTS),
}
ROBINS = Sight(users=None, projects=None, silo="robin", readers=None)
SIGHTS = st.builds(Sight, users=_some(*USERS), projects=_some(*PROJECTS), silo=_maybe(*AGENTS), readers=st.none())


def _listed(world: World, filters: Filters, sight: Sight = EVERYTHING, page: Page = ALL) -> list[Item]:
    return [held.item for held in world.store.items(world.tenant, filters, sight, page)]


@pytest.mark.parametrize("name", CHOICES)
def test_each_filter_alone_keeps_what_the_model_keeps(crowd: Crowd, name: str):
    world, items = crowd.world, crowd.items
    seen = 0
    for value in _examples(name):
        filters = replace(ANY_STATE, **{name: value})
        kept = _listed(world, filters, ROBINS)
        expected = [i for i in items if asked_for(i, filters) and in_sight(i, ROBINS)]
        assert kept == expected
        seen += 0 < len(kept) < len(items)
    assert seen, "no value of this filter tells the items apart"


def _examples(name: str) -> list[object]:
    if name in ("kinds", "categories", "without", "states"):
        values = {
            "kinds": ("fact", "episode"),
            "categories": ("x",),
            "without": ("x",),
            "states": ("archived", "soft_deleted"),
        }[name]
        return [frozenset(), frozenset(values), frozenset(values[:1])]
    return {
        **{field: ["ana", "robin", "house", "x"] for field in CHOICES},
        **{field: [True, False] for field in ("pinned", "core")},
        **{field: [1, 3, 5] for field in ("importance_min", "importance_max")},
        **{field: MOMENTS for field in ("updated_after", "updated_before", "purge_due", "valid_at", "current_at")},
    }[name]


def test_every_filter_has_values_to_be_tried_with():
    assert CHOICES.keys() == {field.name for field in fields(Filters)}


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_filters_sight_and_page_together_keep_what_the_model_keeps(crowd: Crowd, data: st.DataObject):
    world, items = crowd.world, crowd.items
    names = data.draw(st.sets(st.sampled_from(sorted(CHOICES)), max_size=4), label="filters")
    filters = replace(ANY_STATE, **{name: data.draw(CHOICES[name], label=name) for name in sorted(names)})
    if filters.states is None:
        filters = replace(filters, states=ANY_STATE.states)
    sight = data.draw(SIGHTS, label="sight")
    before = data.draw(st.none() | st.sampled_from([item.id for item in items]), label="before")
    limit = data.draw(st.sampled_from([1, 3, 1000]), label="limit")
    kept = [item for item in items if asked_for(item, filters) and in_sight(item, sight)]
    page = [item for item in kept if before is None or item.id < before][:limit]
    assert _listed(world, filters, sight, Page(limit, before)) == page


def test_pages_follow_each_other_without_a_gap_or_a_repeat(crowd: Crowd):
    world, items = crowd.world, crowd.items
    sight = Sight(users=frozenset({"ana"}), projects=None, silo="otto", readers=None)
    before: ItemId | None = None
    read: list[Item] = []
    while page := _listed(world, ANY_STATE, sight, Page(7, before)):
        read += page
        before = page[-1].id
    assert read == [item for item in items if in_sight(item, sight)]
    assert len(read) > 21


@settings(max_examples=examples(40), deadline=None)
@given(SIGHTS, st.data())
def test_ids_are_found_by_their_ending_within_sight(crowd: Crowd, sight: Sight, data: st.DataObject):
    world, items = crowd.world, [*crowd.items, *crowd.withdrawn]
    ending = data.draw(st.sampled_from(items)).id[-data.draw(st.integers(1, 36)) :]
    expected = sorted(item.id for item in items if item.id.endswith(ending) and in_sight(item, sight))
    assert world.store.named(world.tenant, ending, sight) == expected[:20]


@pytest.mark.parametrize("ending", ["%", "_", "'", "0" * 40, "\\", "ANA"])
def test_an_ending_is_taken_by_its_letters(world: World, ending: str):
    world.keep()
    assert world.store.named(world.tenant, ending, EVERYTHING) == []


# -- threads and events -------------------------------------------------------------------------------------


def test_a_thread_is_found_by_exactly_its_own_ids(world: World):
    owners: list[dict[str, Any]] = [
        {},
        {"agent_id": "robin"},
        {"project_id": "house"},
        {"user_id": "ben"},
        {"user_id": None, "visibility": Visibility.SYSTEM},
        {"project_id": "house", "visibility": Visibility.PROJECT_SHARED},
    ]
    for owner in owners:
        world.keep(world.episode("kitchen", **owner))
    for owner in owners:
        wanted = {"user_id": "ana", "visibility": Visibility.USER_PRIVATE, **owner}
        ids = {name: id for name, id in wanted.items() if name != "visibility"}
        held = world.store.thread(Scope(tenant=world.tenant, thread_id="kitchen", **ids), wanted["visibility"])
        found = {name: getattr(held.item, name) for name in wanted}
        assert (found, held.withdrawn) == (wanted, False)
    for scope in (Scope(tenant=world.tenant, thread_id="cellar", user_id="ana"), replace(world.scope, user_id="ana")):
        assert world.store.thread(scope, Visibility.USER_PRIVATE) is None


def test_events_are_read_by_their_numbers(world: World):
    episode, events = world.say(*(f"turn {n}" for n in range(1, 11)))
    world.apply(Retract(events[3]))

    def seqs(*range_: int | None, **limit: int) -> list[int]:
        return [event.seq for event in world.store.events(world.tenant, episode.id, *range_, **limit)]

    assert seqs() == [1, 2, 3, 5, 6, 7, 8, 9, 10]
    assert seqs(3, 6) == [3, 5, 6]
    assert seqs(9) == [9, 10]
    assert seqs(4, 4) == []
    assert seqs(limit=2) == [1, 2]
    assert seqs(11) == seqs(5, 2) == []


def test_events_are_read_by_their_ids_in_the_order_of_their_threads(world: World):
    _, kitchen = world.say("one", "two", thread="kitchen")
    _, cellar = world.say("three", thread="cellar")
    world.apply(Retract(kitchen[0]))
    ids = [cellar[0].id, kitchen[1].id, kitchen[0].id, EventId("nobody")]
    assert world.store.events_by_id(world.tenant, ids) == [kitchen[1], cellar[0]]
    assert world.store.events_by_id(world.tenant, ids, withdrawn=True) == [*kitchen, cellar[0]]
    assert world.store.events_by_id(world.tenant, []) == []


# -- what stands on what ------------------------------------------------------------------------------------


def test_what_cites_an_event_is_told_with_all_that_it_cites(world: World):
    _, [one, two] = world.say("one", "two")
    item = world.keep()
    both, first = world.version(item, one, two), world.version(item, one)
    hidden = world.version(item, two)
    world.apply(Derive(both), Derive(first), Derive(hidden), Discard(hidden), Retract(two))
    assert world.store.citing(world.tenant, [two.id]) == [Citing(both.id, item.id, {one.id: True, two.id: False})]
    assert [citing.version_id for citing in world.store.citing(world.tenant, [one.id])] == [both.id, first.id]
    assert world.store.citing(world.tenant, []) == []
    assert world.store.cited(world.tenant, [both.id, first.id]) == [one]
    assert world.store.cited(world.tenant, [both.id, first.id], withdrawn=True) == [one, two]
    assert world.store.cited(world.tenant, []) == []


def test_what_was_made_of_an_event_is_outlined_by_the_version_that_speaks(world: World):
    episode, [one, two] = world.say("one", "two")
    gone = world.keep()
    hidden, summary = world.version(gone, one), world.version(episode, one)
    item = world.keep(category="profile", valid_to=DAWN + timedelta(days=9))
    older, speaks = world.version(item, two), world.version(item, two, one)
    world.apply(Derive(summary), Derive(older), Derive(speaks), Derive(hidden), Discard(hidden), Withdraw(gone))
    told = Outline(item.id, "fact", "profile", "active", item.valid_to, None, one.id)
    assert world.store.outlines(world.tenant, [one.id, two.id]) == {one.id: [told], two.id: [told]}
    world.apply(Discard(speaks))
    assert world.store.outlines(world.tenant, [one.id, two.id]) == {two.id: [replace(told, said_in=two.id)]}
    assert world.store.outlines(world.tenant, []) == {}


def test_items_are_read_by_their_ids_withdrawn_or_not(world: World):
    one, two = world.keep(), world.keep()
    world.apply(Withdraw(two))
    held = world.store.items_by_id(world.tenant, [two.id, one.id, ItemId("nobody")])
    assert held == [world.store.item(world.tenant, one.id), world.store.item(world.tenant, two.id)]
    assert world.store.items_by_id(world.tenant, []) == []


def test_what_memories_say_is_told_in_the_order_asked(world: World):
    """Not in whichever order the server comes by them: what is linked to would hang on it."""
    said = [world.tell(f"Tea number {n}.").item.id for n in range(6)]
    asked = [said[n] for n in (3, 0, 5, 1, 4, 2)]
    assert list(world.store.speaking(world.tenant, [*asked[:3], ItemId("nobody"), *asked[3:]])) == asked
    assert list(world.store.speaking(world.tenant, asked[::-1])) == asked[::-1]


def test_versions_are_listed_oldest_first(world: World):
    told = world.tell()
    hints = [world.shorter(told.version, f"hint {n}") for n in range(3)]
    world.apply(*map(Derive, hints), Discard(hints[1]))
    assert world.store.versions(world.tenant, told.item.id) == [told.version, hints[0], hints[2]]
    assert world.store.versions(world.tenant, told.item.id, withdrawn=True) == [told.version, *hints]


def test_what_falls_with_an_event_is_everything_that_came_of_it(world: World):
    told = world.tell("Ana drinks tea.")
    hint = world.shorter(told.version)
    other = world.keep()
    merged = world.shorter(hint, item_id=other.id, content="tea and more")
    apart = world.tell("Ben drinks milk.")
    world.apply(Derive(hint), Derive(merged), Discard(merged), Discard(hint))
    by_event = world.store.rooted(world.tenant, [], [told.event.id])
    versions = frozenset({told.version.id, hint.id, merged.id})
    assert by_event == Rooted(versions, frozenset({told.event.id}), frozenset({told.item.id, other.id}))
    by_item = world.store.rooted(world.tenant, [told.item.id], [])
    assert by_item == Rooted(versions, frozenset(), frozenset({other.id}))
    assert world.store.rooted(world.tenant, [apart.item.id], []).versions == {apart.version.id}
    nothing: frozenset[VersionId] = frozenset()
    assert world.store.rooted(world.tenant, [], []) == Rooted(nothing, frozenset(), frozenset())


def test_an_episode_does_not_fall_with_one_of_its_events(world: World):
    episode, [one, _] = world.say("one", "two")
    summary = world.version(episode, one)
    world.apply(Derive(summary))
    fallen = world.store.rooted(world.tenant, [], [one.id])
    assert fallen == Rooted(frozenset({summary.id}), frozenset({one.id}), frozenset())
    whole = world.store.rooted(world.tenant, [episode.id], [])
    assert len(whole.events) == 2


def test_what_is_kept_for_a_user_counts_withdrawn_things_too(world: World):
    mine, hidden = world.keep(), world.keep()
    world.keep(user_id="ben")
    world.apply(Withdraw(hidden))
    checkpoint = world.checkpoint({})
    world.store.save_checkpoint(world.scope, checkpoint, actor=world.actor)
    kept = Kept(frozenset({mine.id, hidden.id}), frozenset({checkpoint.id}), frozenset())
    assert world.store.kept_for(world.tenant, "ana") == kept
    assert world.store.kept_for(world.tenant, "nobody") == Kept(frozenset(), frozenset(), frozenset())


# -- words --------------------------------------------------------------------------------------------------


def test_a_word_is_found_in_events_and_in_versions(world: World):
    told = world.tell("The Kettle whistles: Grüße aus Köln, 茶.")
    world.tell("Something else entirely")
    both = {f"e:{told.event.id}", f"v:{told.version.id}"}
    for word in ("kettle", "KETTLE", "grüße", "Köln", "koln", "whistles", "whistle"):
        assert set(world.found(word)) == both, word
    assert set(world.found("nothing", "kettle")) == both
    assert world.found("kettl3") == world.found() == world.found("", "  ") == []


def test_a_hit_names_its_memory_and_the_best_comes_first(world: World):
    weak = world.tell("tea " + "and a very long tail of other words " * 10, thread="a")
    strong = world.tell("tea tea tea", thread="b")
    hits = world.store.search(world.tenant, ["tea"], EVERYTHING)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].ref in (f"e:{strong.event.id}", f"v:{strong.version.id}")
    assert {hit.ref: hit.item_id for hit in hits} == {
        f"e:{weak.event.id}": weak.event.item_id,
        f"v:{weak.version.id}": weak.item.id,
        f"e:{strong.event.id}": strong.event.item_id,
        f"v:{strong.version.id}": strong.item.id,
    }
    assert world.store.search(world.tenant, ["tea"], EVERYTHING, 1) == hits[:1]


def test_what_is_withdrawn_is_not_found_until_it_comes_back(world: World):
    told = world.tell("quixotic")
    event, version = f"e:{told.event.id}", f"v:{told.version.id}"
    world.apply(Discard(told.version))
    assert world.found("quixotic") == [event]
    world.apply(Retract(told.event))
    assert world.found("quixotic") == []
    world.apply(Append(told.event), Derive(told.version))
    assert set(world.found("quixotic")) == {event, version}


def test_only_summaries_are_indexed_not_their_hints(world: World):
    told = world.tell("tea")
    world.apply(Derive(world.shorter(told.version, "quixotic")))
    assert world.found("quixotic") == []


def test_words_of_another_tenant_are_not_found(found: Callable[[], World]):
    one, two = found(), found()
    one.tell("quixotic")
    assert two.found("quixotic") == []
    assert two.found(one.tenant, "t" + one.tenant.encode().hex()) == []


def test_words_out_of_sight_are_not_found(world: World):
    mine = world.tell("quixotic")
    world.tell("quixotic", user_id="ben", thread="bens")
    world.tell("quixotic", visibility=Visibility.AGENT_SILO, agent_id="robin", thread="robins")
    ana = Sight(users=frozenset({"ana"}), projects=frozenset(), silo=None, readers=None)
    assert set(world.found("quixotic", sight=ana)) == {f"e:{mine.event.id}", f"v:{mine.version.id}"}
    assert len(world.found("quixotic")) == 4
    robin = Sight(users=frozenset(), projects=frozenset(), silo="robin", readers=None)
    assert len(world.found("quixotic", sight=robin)) == 2


def test_what_others_wrote_does_not_crowd_out_ones_own(world: World):
    mine = world.tell("quixotic " + "and so on " * 40)
    episode = world.keep(world.episode("bens", user_id="ben"))
    world.apply(*(Append(world.event(episode, f"quixotic {n}")) for n in range(300)))
    ana = Sight(users=frozenset({"ana"}), projects=frozenset(), silo=None, readers=None)
    assert set(world.found("quixotic", sight=ana, limit=5)) == {f"e:{mine.event.id}", f"v:{mine.version.id}"}


STRANGE = [
    *"\"'*-(:%🍵\\\0\ud800",
    "tea*",
    "NEAR(tea)",
    "tea AND",
    "tenant:x",
    "c++",
    "a-b",
    "&|!",
    "<->",
    "e\u0301",
    "tea\0x",
]


@pytest.mark.parametrize("word", STRANGE, ids=range(len(STRANGE)))
def test_no_word_is_taken_for_a_command(world: World, word: str):
    told = world.tell("tea and company")
    assert set(world.found(word)) <= {f"e:{told.event.id}", f"v:{told.version.id}"}
    assert set(world.found(word, "company")) == {f"e:{told.event.id}", f"v:{told.version.id}"}


def test_a_very_long_text_is_indexed_to_its_end(world: World):
    text = " ".join(f"w{n:06d}" for n in range(60_000)) + " quixotic"
    _, [event] = world.say(text)
    assert world.found("quixotic") == [f"e:{event.id}"]
    assert world.store.events_by_id(world.tenant, [event.id])[0].text == text


# -- what was erased ----------------------------------------------------------------------------------------


def test_what_was_erased_leaves_a_stone_and_nothing_else(world: World):
    told = world.tell("quixotic")
    at: datetime = world.clock.now()
    world.apply(Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked for"), at=at)
    stones = {stone.ref: stone.at for stone in world.store.tombstones(world.tenant)}
    assert world.store.tombstones(world.tenant, [f"i:{told.item.id}", "i:x"])[0].ref == f"i:{told.item.id}"
    assert world.store.tombstones(world.tenant, []) == []
    assert stones == {ref: at for ref in (f"i:{told.item.id}", f"v:{told.version.id}", f"e:{told.event.id}")}
    assert world.store.item(world.tenant, told.item.id) is None
    assert world.store.versions(world.tenant, told.item.id) == []
    assert world.store.events_by_id(world.tenant, [told.event.id]) == []
    assert world.found("quixotic") == []
    assert not any("quixotic" in row for row in world.dump())
    assert world.is_whole()
