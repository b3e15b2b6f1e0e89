"""One tenant's rows and nobody else's: by the policies of the database, whatever a query forgets."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from psycopg import sql

from recollect.domain.ids import TenantId
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql import SqlStore
from tests.worlds import World

ROLES = ("recollect_app", "recollect_search", "recollect_roster", "recollect_worker")


@pytest.fixture
def postgres_engine(postgres_database: str) -> Iterator[PostgresEngine]:
    engine = PostgresEngine(postgres_database)
    yield engine
    engine.close()


@pytest.fixture
def two_tenants(postgres_engine: PostgresEngine) -> tuple[World, World]:
    worlds: list[World] = []
    for name in ("acme", "beta"):
        world = World(SqlStore(postgres_engine), TenantId(name))
        world.store.create_tenant(world.tenant, at=world.clock.now())
        a, b = world.tell(f"{name} drinks tea"), world.tell(f"{name} drinks coffee")
        world.apply(then=[world.job()])
        world.store.save_checkpoint(world.scope, world.checkpoint({"of": name}), actor=world.actor)
        assert a.item.id != b.item.id
        worlds.append(world)
    return worlds[0], worlds[1]


@pytest.fixture
def superuser(postgres_database: str, two_tenants: tuple[World, World]) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("set search_path = recollect")
        yield connection


def tables(connection: psycopg.Connection) -> list[str]:
    found = connection.execute(
        "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' "
        "where c.relnamespace = 'recollect'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition"
    ).fetchall()
    return sorted(row[0] for row in found)


def seen(connection: psycopg.Connection, table: str) -> set[str]:
    found = connection.execute(sql.SQL("select * from {}").format(sql.Identifier(table)))
    assert found.description is not None
    place = [column.name for column in found.description].index("tenant")
    return {row[place] for row in found}


def test_a_query_without_a_condition_sees_only_its_own_tenant(superuser: psycopg.Connection):
    filled = [table for table in tables(superuser) if seen(superuser, table) == {"acme", "beta"}]
    assert {"items", "events", "versions", "docs", "journal_bodies", "jobs", "supervisor_checkpoints"} <= set(filled)
    superuser.execute("set role recollect_app")
    superuser.execute("select set_config('app.tenant', 'acme', false)")
    assert {table: seen(superuser, table) for table in filled} == {table: {"acme"} for table in filled}


@pytest.mark.parametrize("unset", ["reset app.tenant", "begin; set local app.tenant = 'acme'; commit"])
def test_a_session_without_a_tenant_sees_nothing(superuser: psycopg.Connection, unset: str):
    superuser.execute("set role recollect_app")
    superuser.execute(unset.encode())
    assert {table: seen(superuser, table) for table in tables(superuser)} == {t: set[str]() for t in tables(superuser)}


def test_a_row_cannot_be_written_for_or_given_to_another_tenant(superuser: psycopg.Connection):
    superuser.execute("set role recollect_app")
    superuser.execute("select set_config('app.tenant', 'acme', false)")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        superuser.execute("insert into tombstones values ('beta', 'e:1', now())")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        superuser.execute("update tenants set tenant = 'gamma'")
    assert superuser.execute("delete from tenants where tenant = 'beta'").rowcount == 0


def test_the_parts_of_a_table_are_out_of_reach(superuser: psycopg.Connection):
    superuser.execute("set role recollect_app")
    superuser.execute("select set_config('app.tenant', 'acme', false)")
    for part in range(8):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            superuser.execute(f"select * from items_{part}".encode())


def test_every_transaction_runs_as_the_application_and_never_as_the_owner(postgres_engine: PostgresEngine):
    question = "select current_user, current_setting('app.tenant'), current_setting('search_path') where :tenant <> ''"
    for opened in (postgres_engine.read, postgres_engine.write):
        with opened(TenantId("acme")) as tx:
            assert tx.one(question) == ("recollect_app", "acme", "recollect, pg_temp")


def test_nothing_of_a_transaction_stays_in_its_session(
    postgres_engine: PostgresEngine, two_tenants: tuple[World, World]
):
    """A pooler gives the next transaction of this connection to somebody else."""
    acme, _ = two_tenants
    acme.store.claim("worker", now=acme.clock.now(), lease=timedelta(minutes=1), kinds=["tidy"], cap=1)
    acme.tell("acme drinks water")
    acme.found("tea")
    with postgres_engine._pool.lent() as connection:
        left = connection.execute(
            b"select current_user = session_user, current_setting('app.tenant', true), current_setting('search_path'), "
            b"(select count(*) from pg_prepared_statements), (select count(*) from pg_cursors), "
            b"(select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())"
        ).fetchone()
    assert left == (True, "", '"$user", public', 0, 0, 0)


def test_the_roles_cannot_log_in_or_pass_by_the_policies(superuser: psycopg.Connection):
    found = superuser.execute(
        "select rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication "
        "from pg_roles where rolname = any(%s) order by rolname",
        [list(ROLES)],
    ).fetchall()
    assert found == [(role, *[False] * 6) for role in sorted(ROLES)]


def test_no_role_of_ours_owns_a_table(superuser: psycopg.Connection):
    owners = superuser.execute(
        "select distinct relowner::regrole::text from pg_class where relnamespace = 'recollect'::regnamespace"
    ).fetchall()
    assert not {row[0] for row in owners} & set(ROLES)


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("recollect_worker", {"jobs": {"acme", "beta"}}),
        ("recollect_search", {"docs": {"acme", "beta"}}),
        ("recollect_roster", {}),
    ],
)
def test_the_other_roles_reach_one_table_each(superuser: psycopg.Connection, role: str, allowed: dict[str, set[str]]):
    superuser.execute(f"set role {role}".encode())
    reached: dict[str, set[str]] = {}
    for table in tables(superuser):
        try:
            reached[table] = seen(superuser, table)
        except psycopg.errors.InsufficientPrivilege:
            continue
    assert reached == allowed


def test_the_roster_gives_names_and_nothing_else(postgres_engine: PostgresEngine, superuser: psycopg.Connection):
    assert postgres_engine.tenants() == ["acme", "beta"]
    superuser.execute("set role recollect_roster")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        superuser.execute("select dedup_key from tenants")


def test_a_read_within_a_read_of_another_tenant_keeps_them_apart(
    postgres_engine: PostgresEngine, two_tenants: tuple[World, World]
):
    acme, beta = two_tenants
    count = "select count(*) from items where tenant = :tenant"
    with postgres_engine.read(acme.tenant) as outer, postgres_engine.read(beta.tenant) as inner:
        assert outer.one(count) == inner.one(count) == outer.one(count) == (3,)
        assert outer.one("select current_setting('app.tenant') where :tenant = :tenant") == ("acme",)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("alter table items no force row level security", "items"),
        ("alter table items_3 disable row level security", "items_3"),
        ("create table recollect.stray (x int)", "stray"),
        ("alter table usage owner to recollect_app", "usage"),
        ("update pg_index set indisvalid = false where indexrelid = 'recollect.jobs_due'::regclass", "jobs_due"),
    ],
)
def test_a_protection_that_was_taken_off_is_found(
    postgres_engine: PostgresEngine, superuser: psycopg.Connection, damage: str, complaint: str
):
    assert postgres_engine.integrity() == []
    superuser.execute(damage.encode())
    assert any(complaint in line for line in postgres_engine.integrity())
