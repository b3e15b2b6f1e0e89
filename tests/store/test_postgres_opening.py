"""Opening a store: recognising the database, migrating it once, and being told what is missing."""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

from bench.postgres import temporary_postgres
from recollect.domain.ids import TenantId
from recollect.errors import Invalid, NotAStore, SchemaTooNew, StoreBusy, StoreError, StoreUnreachable
from recollect.store.migrations import migrations
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql import SqlStore
from tests.postgres import fresh_database
from tests.worlds import World, furnish

LATEST = len(migrations("recollect.store.postgres.migrations"))
ACME = TenantId("acme")


@contextmanager
def opened(url: str, **settings: object) -> Iterator[World]:
    engine = PostgresEngine(url, **settings)  # type: ignore[arg-type]
    try:
        yield World(SqlStore(engine), ACME)
    finally:
        engine.close()


def run(url: str, *statements: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements[:-1]:
            connection.execute(statement.encode())
        cursor = connection.execute(statements[-1].encode())
        return cursor.fetchall() if cursor.description else []


def version(url: str) -> int | None:
    found = run(url, "select max(version) from recollect.recollect_schema")
    return found[0][0]  # type: ignore[return-value]


def as_login(url: str, login: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{login}@{parts.hostname or ''}").geturl()


@pytest.fixture
def login(postgres_server: str) -> Iterator[str]:
    """A login that may do nothing yet."""
    name = f"login_{uuid4().hex[:12]}"
    run(postgres_server, f"create role {name} login noinherit")
    yield name
    run(postgres_server, f"drop role {name}")


def test_an_empty_database_becomes_a_store_and_stays_one(postgres_database: str):
    with opened(postgres_database) as world:
        assert world.store.create_tenant(ACME, at=world.clock.now())
        world.tell()
    with opened(postgres_database, create=False) as world:
        assert world.is_whole()
    assert version(postgres_database) == LATEST


def test_a_database_without_a_store_is_left_as_it_is_unless_one_is_asked_for(postgres_database: str):
    with pytest.raises(NotAStore, match="recollect init"):
        PostgresEngine(postgres_database, create=False)
    assert run(postgres_database, "select 1 from pg_namespace where nspname = 'recollect'") == []


def test_the_tables_of_others_are_no_hindrance(postgres_database: str):
    run(postgres_database, "create table items (x int)", "insert into items values (1)")
    with opened(postgres_database) as world:
        world.store.create_tenant(ACME, at=world.clock.now())
        world.tell()
    assert run(postgres_database, "select x from items") == [(1,)]


def test_a_schema_of_our_name_with_the_tables_of_others_is_refused(postgres_database: str):
    run(postgres_database, "create schema recollect", "create table recollect.items (x int)")
    for create in (True, False):
        with pytest.raises(NotAStore, match="another program"):
            PostgresEngine(postgres_database, create=create)
    assert run(postgres_database, "select count(*) from pg_class where relnamespace = 'recollect'::regnamespace") == [
        (1,)
    ]


def test_a_schema_that_a_newer_version_wrote_is_refused(postgres_database: str):
    with opened(postgres_database):
        pass
    run(postgres_database, f"insert into recollect.recollect_schema (version) values ({LATEST + 1})")
    with pytest.raises(SchemaTooNew, match="newer Recollect"):
        PostgresEngine(postgres_database)


def test_eight_who_open_at_once_migrate_once(postgres_database: str):
    with ThreadPoolExecutor(8) as pool:
        engines = list(pool.map(lambda _: PostgresEngine(postgres_database), range(8)))
    for engine in engines:
        assert engine.integrity() == []
        engine.close()
    assert run(postgres_database, "select version from recollect.recollect_schema order by 1") == [
        (number,) for number in range(1, LATEST + 1)
    ]


def test_databases_of_one_server_make_its_roles_at_once_and_an_owner_needs_no_superuser():
    """On a server of their own: elsewhere the roles are there already."""
    with temporary_postgres(options={"fsync": "off"}) as server:
        run(server.url, "create role keeper login createrole createdb")
        for name in "abcd":
            run(server.url, f"create database {name} owner keeper")
            run(urlsplit(server.url)._replace(path=f"/{name}").geturl(), "create extension vector")
        urls = [as_login(urlsplit(server.url)._replace(path=f"/{name}").geturl(), "keeper") for name in "abcd"]
        with ThreadPoolExecutor(8) as pool:
            engines = list(pool.map(PostgresEngine, urls * 2))
        for engine in engines:
            assert engine.integrity() == []
        world = World(SqlStore(engines[0]), ACME)
        world.store.create_tenant(ACME, at=world.clock.now())
        told = world.tell()
        assert set(world.found("tea")) == {f"e:{told.event.id}", f"v:{told.version.id}"}
        assert world.store.tenants() == [ACME]
        assert engines[0].scrub()
        # The owner, too, is under the policies.
        assert run(urls[0], "select * from recollect.items") == []
        assert run(urls[0], "select * from recollect.docs") == []
        for engine in engines:
            engine.close()


KILLED = """
import sys
from dataclasses import replace
import recollect.store.postgres.engine as engine

def slow(package, load=engine.migrations):
    first, second, *rest = load(package)
    middle = len(second.statements) // 2
    dawdle = (*second.statements[:middle], "select pg_sleep(3)", *second.statements[middle:])
    return [first, replace(second, statements=dawdle), *rest]

engine.migrations = slow
engine.PostgresEngine(sys.argv[1])
"""


def test_a_migration_that_was_killed_is_taken_up_where_the_last_whole_one_ended(postgres_database: str):
    migrating = subprocess.Popen([sys.executable, "-c", KILLED, postgres_database], cwd=Path(__file__).parents[2])
    with migrating:
        until = time.monotonic() + 30
        while not run(
            postgres_database,
            "select 1 from pg_stat_activity where query = 'select pg_sleep(3)' and datname = current_database()",
        ):
            assert time.monotonic() < until
            time.sleep(0.02)
        os.kill(migrating.pid, signal.SIGKILL)
    assert version(postgres_database) == 1
    assert run(postgres_database, "select to_regclass('recollect.journal')") == [(None,)]
    with opened(postgres_database) as world:
        assert version(postgres_database) == LATEST
        world.store.create_tenant(ACME, at=world.clock.now())
        world.tell()
        assert world.is_whole()


def test_a_migration_that_somebody_else_is_at_is_waited_for_as_long_as_the_patience(postgres_database: str):
    from recollect.store.postgres.schema import _LOCK

    with psycopg.connect(postgres_database) as other:
        other.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
        with pytest.raises(StoreBusy):
            PostgresEngine(postgres_database, patience=0.2)
    with opened(postgres_database):
        assert version(postgres_database) == LATEST


BEFORE_QUOTATIONS = (
    "drop table recollect.participants, recollect.private_events",
    "drop index recollect.items_private",
    "drop index recollect.items_seen",
    "set role recollect_search",
    "drop function recollect.recollect_hits(text[], integer, boolean)",
    "reset role",
    "alter table recollect.witnesses drop column quoted",
    "alter table recollect.events drop column names",
    "alter table recollect.versions drop column names",
    "delete from recollect.recollect_schema where version >= 5",
)


def test_an_old_store_learns_who_took_part_when_its_owner_opens_it_superuser_or_not():
    with temporary_postgres(options={"fsync": "off"}) as server:
        run(server.url, "create role keeper login createrole createdb", "create database memory owner keeper")
        place = urlsplit(server.url)._replace(path="/memory").geturl()
        run(place, "create extension vector")
        with opened(as_login(place, "keeper")) as world:
            for tenant in (ACME, TenantId("other")):
                world.store.create_tenant(tenant, at=world.clock.now())
                furnish(replace(world, tenant=tenant))
            before = {tenant: replace(world, tenant=tenant).dump() for tenant in world.store.tenants()}
        run(as_login(place, "keeper"), *BEFORE_QUOTATIONS)
        with opened(as_login(place, "keeper"), create=False) as world:
            for tenant, rows in before.items():
                kept = [row for row in rows if '"private_events"' not in row]
                assert any('"participants"' in row for row in kept)
                assert replace(world, tenant=tenant).dump() == kept


def test_a_login_that_is_only_the_applications_can_use_a_store(postgres_database: str, login: str):
    with opened(postgres_database):
        pass
    run(postgres_database, f"grant recollect_app to {login}")
    with opened(as_login(postgres_database, login), create=False) as world:
        world.store.create_tenant(ACME, at=world.clock.now())
        told = world.tell()
        world.apply(then=[world.job()])
        assert set(world.found("tea")) == {f"e:{told.event.id}", f"v:{told.version.id}"}
        assert world.is_whole()
        assert world.store.tenants() == [ACME]
        with pytest.raises(StoreError, match="may not vacuum"):
            world.store.scrub()
        run(postgres_database, f"grant recollect_app to {login} with inherit true")
        assert world.store.scrub()
        claim = {"now": world.clock.now(), "lease": world.clock.now() - world.clock.now(), "kinds": ["tidy"], "cap": 1}
        with pytest.raises(StoreError, match="grant recollect_app, recollect_worker"):
            world.store.claim("worker", **claim)
        run(postgres_database, f"grant recollect_worker to {login}")
        assert world.store.claim("worker", **claim)


def test_a_login_without_the_applications_role_is_told_what_it_lacks(postgres_database: str, login: str):
    with pytest.raises(StoreError, match="may create a schema"):
        PostgresEngine(as_login(postgres_database, login))
    with opened(postgres_database):
        pass
    with pytest.raises(StoreError, match="grant recollect_app"):
        PostgresEngine(as_login(postgres_database, login))


def test_a_login_that_is_not_the_owner_does_not_migrate(postgres_database: str, login: str):
    with opened(postgres_database):
        pass
    run(
        postgres_database,
        f"grant recollect_app to {login}",
        f"delete from recollect.recollect_schema where version = {LATEST}",
    )
    with pytest.raises(StoreError, match="may not"):
        PostgresEngine(as_login(postgres_database, login))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ana:hunter2@127.0.0.1:1/memory",
        "host=127.0.0.1 port=1 dbname=memory user=ana password=hunter2",
        "postgresql://ana:hunter2@no.such.host.invalid/memory",
        "postgresql://ana:hunter2@127.0.0.1:1,127.0.0.1:2/memory",
    ],
)
def test_a_server_that_does_not_answer_is_named_without_the_password(url: str):
    with pytest.raises(StoreUnreachable, match="/memory does not answer") as refused:
        PostgresEngine(url, patience=2)
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ana:hunter2@hunter2@127.0.0.1:1/memory",
        "postgresql://ana:hunter2/hunter2@127.0.0.1/memory",
        "postgresql://ana:1/hunter2@127.0.0.1/memory",
        "postgresql://ana:hunter2%zz@127.0.0.1/memory",
        "mysql://ana:hunter2@127.0.0.1/memory",
        "hunter2",
    ],
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str):
    with pytest.raises((Invalid, StoreUnreachable)) as refused:
        PostgresEngine(url, patience=2)
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


def test_a_wrong_password_is_not_repeated():
    with temporary_postgres(options={"fsync": "off"}) as server:
        run(server.url, "create role ana login password 'right'")
        (server.folder / "data" / "pg_hba.conf").write_text("local all ana scram-sha-256\nlocal all all trust\n")
        run(server.url, "select pg_reload_conf()")
        time.sleep(0.3)
        url = as_login(server.url, "ana:hunter2")
        with pytest.raises(StoreUnreachable, match="password authentication failed") as refused:
            PostgresEngine(url)
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


def test_what_is_shown_of_an_engine_holds_no_password(postgres_server: str):
    with fresh_database(postgres_server) as url:
        engine = PostgresEngine(url + "&password=hunter2")
        assert "hunter2" not in f"{engine!r} {engine.address!r} {engine.address}"
        assert str(engine.address).endswith(f":5432/{urlsplit(url).path[1:]}")
        engine.close()
