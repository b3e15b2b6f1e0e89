"""Whole tenants on the move: dumps across engines, states, backups."""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

import pytest

from recollect.domain import codec
from recollect.domain.change import Create, Link, Unlink, revise
from recollect.domain.ids import TenantId
from recollect.errors import Invalid, NotFound, RecollectError
from recollect.ports import Store
from recollect.store.dumping import TABLES
from tests.worlds import ALL, ANY_STATE, EVERYTHING, World, furnish


def copied(world: World, store: Store, rows: Iterator[Mapping[str, object]] | None = None) -> World:
    """The tenant in another store, by way of JSON."""
    lines = [json.dumps(row) for row in rows or world.store.dump(world.tenant)]
    tenant = TenantId(world.tenant + "-copy")
    store.load(tenant, map(json.loads, lines))
    return World(store, tenant, world.clock)


def test_a_dump_has_rows_of_every_table(world: World):
    furnish(world)
    tables = [json.loads(row)["table"] for row in world.dump()]
    assert {*tables} == {*TABLES, "vectors"}


def test_a_tenant_comes_out_of_the_other_engine_byte_for_byte(world: World, other_store: Store):
    furnish(world)
    there = copied(world, other_store)
    assert there.dump() == world.dump()
    assert there.state() == world.state()
    back = World(world.store, TenantId(world.tenant + "-back"))
    world.store.load(back.tenant, there.store.dump(there.tenant))
    assert back.dump() == world.dump()


def test_a_tenant_goes_on_where_it_was_loaded(world: World, other_store: Store):
    made = furnish(world)
    there = copied(world, other_store)
    assert there.store.head(there.tenant) == world.store.head(world.tenant)
    assert there.is_whole()
    assert set(there.found("tea")) == set(world.found("tea")) != set()
    held = there.held(made.told.item)
    there.apply(revise(held.item, replace(held.item, importance=5), there.clock.now()), expect={held.item.id: held.rev})
    _, [event] = there.say("and coffee")
    assert event.seq == 5, "the thread goes on counting"
    assert there.found("coffee") == [f"e:{event.id}"]
    assert there.is_whole()


def test_leases_are_left_behind_and_the_jobs_are_not(world: World, other_store: Store):
    furnish(world)
    there = copied(world, other_store)
    assert [status.job for status in there.store.jobs(there.tenant)] == [
        status.job for status in world.store.jobs(world.tenant)
    ]


def test_a_tenant_is_not_loaded_over_another(world: World, found: Callable[[], World]):
    furnish(world)
    taken = found()
    taken.tell("something")
    before = taken.dump()
    with pytest.raises(Invalid, match="not empty"):
        world.store.load(taken.tenant, world.store.dump(world.tenant))
    assert taken.dump() == before


def test_a_tenant_without_memories_may_be_filled_from_a_dump(world: World, found: Callable[[], World]):
    furnish(world)
    fresh = found()
    world.store.load(fresh.tenant, world.store.dump(world.tenant))
    assert fresh.dump() == world.dump()


def _without_tenant(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [row for row in rows if row["table"] != "tenants"]


def _unknown_table(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [*rows, {"table": "recipes", "id": "1"}]


def _twice(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [*rows, next(row for row in rows if row["table"] == "items")]


def _missing_field(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{k: v for k, v in row.items() if (row["table"], k) != ("items", "category")} for row in rows]


@pytest.mark.parametrize("spoil", [_without_tenant, _unknown_table, _twice, _missing_field])
def test_a_spoiled_dump_is_refused_and_leaves_nothing(world: World, spoil: Callable[..., list[dict[str, object]]]):
    furnish(world)
    rows = spoil([dict(row) for row in world.store.dump(world.tenant)])
    copy = TenantId(world.tenant + "-copy")
    with pytest.raises(RecollectError):
        world.store.load(copy, iter(rows))
    assert copy not in world.store.tenants()
    assert world.store.items(copy, ANY_STATE, EVERYTHING, ALL) == []
    world.store.load(copy, world.store.dump(world.tenant))


def test_a_dump_shows_one_moment_although_others_write(world: World):
    furnish(world)
    before = world.dump()
    rows = world.store.dump(world.tenant)
    first = [codec.canonical(row) for row in islice(rows, 3)]
    with ThreadPoolExecutor(1) as others:
        others.submit(world.tell, "written meanwhile").result()
    world.tell("written here")
    assert first + [codec.canonical(row) for row in rows] == before
    assert world.dump() != before


def test_a_dump_that_is_not_read_to_its_end_is_in_nobodys_way(world: World):
    furnish(world)
    rows = world.store.dump(world.tenant)
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    before = world.store.head(world.tenant).rev
    world.tell("later")
    assert world.store.head(world.tenant).rev == before + 1


def test_a_dump_may_be_read_on_by_another_thread_than_began_it(world: World):
    """A server that streams an export advances it on whichever thread is free."""
    furnish(world)
    before = world.dump()
    rows = world.store.dump(world.tenant)
    read = [codec.canonical(next(rows))]
    with ThreadPoolExecutor(1) as elsewhere:
        read += elsewhere.submit(lambda: [codec.canonical(row) for row in islice(rows, 10)]).result()
        rev = world.store.head(world.tenant).rev
        world.tell("written meanwhile")
        assert elsewhere.submit(lambda: world.store.head(world.tenant).rev).result() == rev + 1
        read += elsewhere.submit(lambda: [codec.canonical(row) for row in rows]).result()
    assert read == before
    assert world.store.head(world.tenant).rev == rev + 1


def test_two_dumps_at_a_time_show_a_moment_each(world: World, found: Callable[[], World]):
    furnish(world)
    before = world.dump()
    other = found()
    short, long = other.store.dump(other.tenant), world.store.dump(world.tenant)
    next(short)
    read = [codec.canonical(next(long))]
    list(short)  # the one that began first ends first
    with ThreadPoolExecutor(1) as others:
        others.submit(world.tell, "written meanwhile").result()
    assert read + [codec.canonical(row) for row in long] == before


def test_a_state_depends_on_what_memory_holds_and_on_nothing_else(found: Callable[[], World]):
    one, two = found(), found()
    items = [one.item() for _ in range(4)]
    for item in items:
        one.apply(Create(item))
    two.apply(*map(Create, reversed(items)))
    link = one.relation(items[0], items[3])
    one.apply(Link(link))
    two.apply(Link(link)), two.apply(Unlink(link)), two.apply(Link(link))
    assert one.state() == two.state()
    assert one.dump() != two.dump()


def test_a_state_shows_live_things_only(world: World):
    made = furnish(world)
    shown = "\n".join(world.state())
    assert made.told.item.id in shown
    for hidden in (made.hidden.item.id, made.hidden.event.id, made.hidden.version.id):
        assert hidden not in shown
    kinds = [next(iter(json.loads(row))) for row in world.state()]
    order = ["item", "version", "event", "relation", "contradiction"]
    assert kinds == sorted(kinds, key=order.index)
    assert {*kinds} == {*order}


def test_what_never_was_cannot_be_dumped(store: Store):
    with pytest.raises(NotFound):
        list(store.dump(TenantId("nowhere")))
