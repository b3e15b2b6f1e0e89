"""When PostgreSQL fails: an error that says so, nothing torn, and work goes on when the server is back."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from bench.postgres import start_postgres, temporary_postgres
from recollect.domain.change import Create, Protect
from recollect.domain.ids import ItemId, TenantId
from recollect.errors import Invalid, NotFound, Stale, StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreUnreachable
from recollect.holdings import Vector
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql import SqlStore
from tests.postgres import fresh_database
from tests.worlds import World


@contextmanager
def opened(url: str, **settings: Any) -> Iterator[World]:
    engine = PostgresEngine(url, **settings)
    try:
        world = World(SqlStore(engine), TenantId(f"t{uuid4().hex}"))
        world.store.create_tenant(world.tenant, at=world.clock.now())
        yield world
    finally:
        engine.close()


@pytest.fixture(scope="module")
def database(postgres_server: str) -> Iterator[str]:
    """One for all tests; each has a tenant of its own."""
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture
def world(database: str) -> Iterator[World]:
    with opened(database) as world:
        yield world


@pytest.fixture
def superuser(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def hang_up(superuser: psycopg.Connection, state: str = "%") -> int:
    """Ends the other sessions of the database that are in this state, and waits until they are gone."""
    others = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state like %s"
    ended = superuser.execute(f"select pg_terminate_backend(pid) {others}".encode(), [state]).rowcount
    wait_until(lambda: superuser.execute(f"select 1 {others}".encode(), [state]).rowcount == 0)
    return ended


def wait_until(condition: Callable[[], bool], patience: float = 20) -> None:
    until = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.01)


def engine_of(world: World) -> PostgresEngine:
    return world.store._engine  # type: ignore[attr-defined]


def test_a_connection_that_died_idle_is_replaced_without_a_word(world: World, superuser: psycopg.Connection):
    world.tell("before")
    assert hang_up(superuser, "idle") >= 1
    world.tell("after")
    assert hang_up(superuser, "idle") >= 1
    assert len(world.found("before", "after")) == 4


def test_a_write_whose_connection_is_cut_leaves_nothing_behind(world: World, superuser: psycopg.Connection):
    def write() -> None:
        with engine_of(world).write(world.tenant) as tx:
            tx.run("insert into tombstones (tenant, ref, at) values (:tenant, 'e:1', now())")
            tx.one("select count(*) from tombstones where tenant = :tenant")
            hang_up(superuser)
            tx.run("update tenants set rev = 99 where tenant = :tenant")

    rows = world.dump()
    with pytest.raises(StoreUnreachable, match="nothing of this write was kept"):
        write()
    assert world.dump() == rows
    world.tell()
    assert world.is_whole()


def test_a_read_whose_connection_is_cut_says_so(world: World, superuser: psycopg.Connection):
    rows = world.store.dump(world.tenant)
    next(rows)
    hang_up(superuser)
    with pytest.raises(StoreUnreachable, match="does not answer"):
        list(rows)
    assert world.store.head(world.tenant).rev == 0


def test_a_commit_that_is_not_answered_is_called_unconfirmed(world: World, superuser: psycopg.Connection):
    superuser.execute("create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(10); end'")
    superuser.execute(
        "create constraint trigger dawdle after insert on recollect.records deferrable initially deferred "
        "for each row execute function dawdle()"
    )
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(_write_a_record, world)
        wait_until(lambda: hang_up_during(superuser, "commit"))
        with pytest.raises(StoreUnreachable, match=r"not confirmed.*same idempotency key"):
            writing.result()
    superuser.execute("drop function dawdle() cascade")


def _write_a_record(world: World) -> None:
    with engine_of(world).write(world.tenant) as tx:
        tx.run("insert into records (tenant, family, id, stage, body) values (:tenant, 'a', 'b', 'c', '{}')")


def hang_up_during(superuser: psycopg.Connection, query: str) -> bool:
    return bool(
        superuser.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() "
            "and state = 'active' and query = %s",
            [query],
        ).rowcount
    )


def test_a_crash_is_reported_at_once_and_what_was_in_the_air_is_there_as_a_whole_or_not_at_all():
    with temporary_postgres() as first, opened(first.url, patience=3600) as world:  # nobody is that patient
        confirmed: list[str] = []
        with ThreadPoolExecutor(3) as pool:
            writers = [pool.submit(_write_until_it_fails, world, confirmed) for _ in range(3)]
            wait_until(lambda: len(confirmed) > 20)
            first.kill()
            for writer in writers:
                assert isinstance(writer.result(), StoreUnreachable)
        for _ in range(3):
            with pytest.raises(StoreUnreachable):
                world.tell("lost")
        with start_postgres(first.folder):
            kept = {entry.header.item_id for entry in world.journal()}
            assert set(confirmed) <= kept
            assert len(kept) <= len(confirmed) + 3
            world.tell("after the crash")
            assert world.is_whole()


def _write_until_it_fails(world: World, confirmed: list[str]) -> StoreError:
    while True:
        item = world.item()
        try:
            world.apply(Create(item))
        except StoreError as error:
            return error
        confirmed.append(item.id)


def test_a_lock_that_somebody_keeps_is_given_up_after_the_patience(database: str, superuser: psycopg.Connection):
    with opened(database, patience=0.3) as world:
        with superuser.transaction():
            superuser.execute("select 1 from recollect.tenants for update")
            with pytest.raises(StoreBusy):
                world.tell()
        world.tell()
        assert world.is_whole()


def test_connections_that_are_all_in_use_are_given_up_after_the_patience(database: str):
    with opened(database, patience=0.3, connections=1) as world:
        with engine_of(world).write(world.tenant), pytest.raises(StoreBusy, match="all 1 connections"):
            world.store.head(world.tenant)
        assert world.store.head(world.tenant).rev == 0


def test_two_writers_in_a_circle_are_told_to_look_again(world: World, superuser: psycopg.Connection):
    a, b = world.keep(), world.keep()
    both_hold_one = threading.Barrier(2)

    def write(first: str, second: str) -> None:
        with engine_of(world).write(world.tenant) as tx:
            tx.run("update items set importance = 1 where tenant = :tenant and id = :id", id=first)
            both_hold_one.wait(10)
            tx.run("update items set importance = 2 where tenant = :tenant and id = :id", id=second)

    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(write, a.id, b.id).exception, pool.submit(write, b.id, a.id).exception]
        failed = [error for error in (end() for end in ends) if error]
    assert [type(error) for error in failed] == [Stale]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("53100", StoreFull),
        ("25006", StoreReadOnly),
        ("57014", StoreBusy),
        ("55P03", StoreBusy),
        ("40001", Stale),
        ("23505", Stale),
        ("22P02", Invalid),
        ("XX001", StoreError),
    ],
)
def test_what_the_server_refuses_comes_as_our_error(
    world: World, superuser: psycopg.Connection, code: str, error: type[Exception]
):
    superuser.execute(
        "create or replace function refuse() returns trigger language plpgsql as $$ begin "
        f"raise exception 'the row (secret words)' using errcode = '{code}', detail = 'secret details'; end $$".encode()
    )
    superuser.execute("create trigger refuse before insert on recollect.docs for each row execute function refuse()")
    rows = world.dump()
    with pytest.raises(error) as refused:
        world.tell()
    assert "secret details" not in str(refused.value)
    superuser.execute("drop trigger refuse on recollect.docs")
    assert world.dump() == rows
    world.tell()


def test_a_database_that_only_reads_can_be_read(postgres_database: str):
    with opened(postgres_database) as world:
        world.tell()
        rows = world.dump()
        with psycopg.connect(postgres_database, autocommit=True) as superuser:
            name = superuser.info.dbname
            superuser.execute(f"alter database {name} set default_transaction_read_only = on".encode())
            hang_up(superuser)
        with pytest.raises(StoreReadOnly):
            world.tell("another")
        assert world.dump() == rows


@pytest.mark.parametrize("waits", [True, False])
def test_an_error_that_the_block_passes_over_is_not_called_a_success(world: World, waits: bool):
    def write() -> None:
        with engine_of(world).write(world.tenant) as tx, suppress(psycopg.Error):
            if waits:
                tx.run("update tenants set rev = 1 / 0 where tenant = :tenant")
            else:
                tx.one("select 1 / 0 from tenants where tenant = :tenant")

    with pytest.raises(StoreError, match="undid this write"):
        write()


def test_a_write_that_is_refused_does_not_cost_a_connection(world: World):
    def session() -> object:
        with engine_of(world).read(world.tenant) as tx:
            return tx.one("select pg_backend_pid() where :tenant = :tenant")

    before = session()
    for _ in range(3):
        with pytest.raises(NotFound):
            world.apply(Protect(ItemId("nobody"), False, True))
        with pytest.raises(Stale):
            world.apply(Create(item := world.item()), Create(item))
    assert session() == before


def test_a_failure_of_a_statement_that_nobody_waited_for_fails_the_write(world: World):
    def write() -> None:
        with engine_of(world).write(world.tenant) as tx:
            tx.run("insert into tombstones (tenant, ref, at) values (:tenant, :ref, now())", ref="x")
            tx.many("insert into tombstones (tenant, ref, at) values (:tenant, :ref, now())", [{"ref": "x"}])

    with pytest.raises(Stale):
        write()
    assert world.store.tombstones(world.tenant) == []


@pytest.mark.parametrize("values", [b"", b"abc", b"\x00\x00\xc0\x7f", b"1234" * 16_001])
def test_a_vector_that_is_none_is_refused(world: World, values: bytes):
    told = world.tell()
    rows = world.dump()
    with pytest.raises(Invalid):
        world.apply(vectors=[Vector("mini", f"v:{told.version.id}", values)])
    assert world.dump() == rows


def test_a_closed_store_says_so(world: World):
    world.store.close()
    with pytest.raises(StoreError, match="is closed"):
        world.store.head(world.tenant)
