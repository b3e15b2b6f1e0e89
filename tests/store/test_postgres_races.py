"""Writers of one tenant overlap. What one of them erases, no other brings back."""

import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from recollect.domain.change import Change, Create, Derive, Discard, Edit, Erase, Retract, Revise, Verb
from recollect.domain.ids import ItemId, TenantId
from recollect.errors import Invalid, NotFound, Stale
from recollect.holdings import Vector
from recollect.store import clerk, door, outbox
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql import SqlStore
from tests.postgres import fresh_database
from tests.worlds import Told, World

FOUR = struct.pack("<4f", 1, 2, 3, 4)


@pytest.fixture(scope="module")
def database(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture
def world(database: str) -> Iterator[World]:
    engine = PostgresEngine(database, patience=20)
    world = World(SqlStore(engine), TenantId(f"t{uuid4().hex}"))
    world.store.create_tenant(world.tenant, at=world.clock.now())
    yield world
    engine.close()


@pytest.fixture
def meanwhile(database: str) -> Iterator[Callable[..., Future[Any]]]:
    """Starts something on another thread and returns when it waits for a lock."""
    with psycopg.connect(database, autocommit=True) as superuser, ThreadPoolExecutor(1) as pool:

        def start(call: Callable[..., Any], *args: Any, **how: Any) -> Future[Any]:
            started = pool.submit(call, *args, **how)
            until = time.monotonic() + 10
            waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
            while superuser.execute(waits).fetchone() is None:
                assert not started.done(), f"it did not wait: {started}"
                assert time.monotonic() < until
                time.sleep(0.01)
            return started

        yield start


@contextmanager
def under_way(world: World, *changes: Change, vectors: tuple[Vector, ...] = ()) -> Iterator[None]:
    """A write that is done but not committed before the block ends."""
    engine: PostgresEngine = world.store._engine  # type: ignore[attr-defined]
    with engine.write(world.tenant) as tx:
        door.apply(
            tx,
            world.scope,
            changes,
            actor=world.actor,
            at=world.clock.now(),
            cause=None,
            expect={},
            then=(),
            vectors=vectors,
            step=None,
            receipt=None,
        )
        yield


@contextmanager
def begun(world: World, *changes: Change) -> Iterator[None]:
    """A write that has its rows but not yet the tenant's, which others may take before it."""
    engine: PostgresEngine = world.store._engine  # type: ignore[attr-defined]
    with engine.write(world.tenant) as tx:
        writing = clerk.Clerk(tx, world.scope, world.clock.now())
        for change in changes:
            writing.write(change)
        yield


def erasure(told: Told) -> Erase:
    return Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked")


def citing(world: World, told: Told) -> list[Change]:
    item = world.item()
    return [Create(item), Derive(world.version(item, told.event))]


def vectors(world: World) -> list[str]:
    with world.store._engine.read(world.tenant) as tx:  # type: ignore[attr-defined]
        return [ref for _, ref, _, _ in tx.vectors()]


@pytest.mark.parametrize("write", [begun, under_way])
def test_an_erasure_finds_the_version_that_was_being_written_on_what_it_erases(
    world: World, meanwhile: Callable[..., Future[Any]], write: Callable[..., AbstractContextManager[None]]
):
    told, item = world.tell(), world.item()
    version = world.version(item, told.event)
    with write(world, Create(item), Derive(version)):
        erasing = meanwhile(world.apply, erasure(told))
    with pytest.raises(Stale) as stale:
        erasing.result()
    assert stale.value.things == (version.id,)


def test_a_version_cannot_stand_on_what_is_being_erased(world: World, meanwhile: Callable[..., Future[Any]]):
    told = world.tell()
    with under_way(world, erasure(told)):
        writing = meanwhile(world.apply, *citing(world, told))
    with pytest.raises(Invalid, match="points nowhere"):
        writing.result()
    assert world.is_whole()


def test_a_version_cannot_be_derived_from_one_that_is_being_erased(world: World, meanwhile: Callable[..., Future[Any]]):
    told, item = world.tell(), world.keep()
    with under_way(world, erasure(told)):
        writing = meanwhile(world.apply, Derive(world.shorter(told.version, item_id=item.id)))
    with pytest.raises(NotFound):
        writing.result()


def test_a_rollback_finds_the_version_that_was_being_written_on_what_it_hides(
    world: World, meanwhile: Callable[..., Future[Any]]
):
    _, [event] = world.say("tea")
    item = world.item()
    version = world.version(item, event)
    with begun(world, Create(item), Derive(version)):
        hiding = meanwhile(world.apply, Retract(event))
    with pytest.raises(Stale) as stale:
        hiding.result()
    assert stale.value.things == (version.id,)


def test_a_version_cannot_stand_on_what_is_being_hidden(world: World, meanwhile: Callable[..., Future[Any]]):
    told = world.tell()
    with under_way(world, Discard(told.version), Retract(told.event)):
        writing = meanwhile(world.apply, *citing(world, told))
    with pytest.raises(Invalid, match="points nowhere"):
        writing.result()


def test_an_erased_version_does_not_stay_the_active_one(world: World, meanwhile: Callable[..., Future[Any]]):
    told = world.tell()
    choose = Revise(told.item.id, Verb.UPDATE, (Edit("active_version_id", None, told.version.id),))
    with under_way(world, choose):
        erasing = meanwhile(world.apply, Erase((), (told.version.id,), (), (), "asked"))
    erasing.result()
    assert world.held(told.item).item.active_version_id is None


def test_the_vector_of_an_erased_text_goes_with_it(world: World, meanwhile: Callable[..., Future[Any]]):
    told = world.tell()
    refs = (f"e:{told.event.id}", f"v:{told.version.id}")
    with under_way(world, vectors=tuple(Vector("mini", ref, FOUR) for ref in refs)):
        erasing = meanwhile(world.apply, erasure(told))
    erasing.result()
    assert vectors(world) == []


def test_the_vector_of_an_erased_text_does_not_come_after_it(world: World, meanwhile: Callable[..., Future[Any]]):
    told = world.tell()
    refs = (f"e:{told.event.id}", f"v:{told.version.id}")
    with under_way(world, erasure(told)):
        embedding = meanwhile(world.apply, vectors=[Vector("mini", ref, FOUR) for ref in refs])
    embedding.result()
    assert vectors(world) == []


def test_of_two_who_change_what_both_have_read_one_is_told(world: World, meanwhile: Callable[..., Future[Any]]):
    told = world.tell()
    expect = {told.item.id: world.held(told.item).rev}
    change = Revise(told.item.id, Verb.UPDATE, (Edit("importance", 3, 4),))
    with under_way(world, change):
        late = meanwhile(world.apply, Create(world.item()), expect=expect)
    with pytest.raises(Stale):
        late.result()


def test_writers_of_one_tenant_make_one_chain(world: World):
    episode, _ = world.say("first")

    def write(number: int) -> ItemId:
        item = world.item()
        world.apply(Create(item), Derive(world.version(item, world.store.events(world.tenant, episode.id)[0])))
        world.say(f"turn {number}")
        return item.id

    with ThreadPoolExecutor(8) as pool:
        items = list(pool.map(write, range(40)))
    assert world.is_whole()
    assert [event.seq for event in world.store.events(world.tenant, episode.id)] == list(range(1, 42))
    assert {entry.header.item_id for entry in world.journal()} == {*items, episode.id}


def test_a_claim_counts_the_one_that_is_under_way(world: World, meanwhile: Callable[..., Future[Any]]):
    engine: PostgresEngine = world.store._engine  # type: ignore[attr-defined]
    kinds = [f"k{uuid4().hex}" for _ in range(2)]
    world.apply(then=[world.job(kind) for kind in kinds])
    how: dict[str, Any] = {"now": world.clock.now(), "lease": timedelta(minutes=5), "cap": 1}
    with engine.outbox() as box:
        assert outbox.claim(box, kinds=kinds[:1], **how)
        claiming = meanwhile(world.store.claim, "worker", kinds=kinds[1:], **how)
    assert claiming.result() is None


def test_claims_that_come_at_once_never_pass_the_cap_and_never_take_a_job_twice(world: World):
    kind = f"k{uuid4().hex}"
    world.apply(then=[world.job(kind, str(number)) for number in range(12)])
    now, lease = world.clock.now(), timedelta(minutes=5)

    def claim(_: int) -> object:
        return world.store.claim("worker", now=now, lease=lease, kinds=[kind], cap=5)

    with ThreadPoolExecutor(8) as pool:
        taken = [leased for leased in pool.map(claim, range(24)) if leased]
    assert len(taken) == 5
    assert len({leased.job.id for leased in taken}) == 5  # type: ignore[attr-defined]
