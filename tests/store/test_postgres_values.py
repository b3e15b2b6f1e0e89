"""What goes in comes out, letter for letter and bit for bit, and moves to the other engine and back."""

import gzip
import json
import random
import struct
import threading
from collections.abc import Iterator
from contextvars import copy_context
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import apsw
import psycopg
import pytest

from recollect.domain import codec
from recollect.domain.change import Append, Derive, Discard, Edit, Erase, Link, Note, Protect, Relink, Revise, Verb
from recollect.domain.ids import RecordId, TenantId
from recollect.domain.item import Artifact, ArtifactType, Episode, Visibility
from recollect.domain.observation import Operation, Use, Used
from recollect.domain.record import Rules
from recollect.errors import StoreReadOnly
from recollect.holdings import Receipt, Vector
from recollect.ports import Store
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.postgres.statement import translate
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.postgres import fresh_database
from tests.worlds import World

AWKWARD = "100% of O'Reilly's \\ says :name $1 %(x)s 'e:' ::text {} \t\r\n é 🦊 \u2028 end"


@pytest.fixture(scope="module")
def engine(postgres_server: str) -> Iterator[PostgresEngine]:
    """One for all tests; each has tenants of its own."""
    with fresh_database(postgres_server) as url:
        engine = PostgresEngine(url)
        yield engine
        engine.close()


@pytest.fixture
def world(engine: PostgresEngine) -> World:
    return founded(SqlStore(engine))


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Store]:
    store = SqlStore(SqliteEngine(tmp_path / "memory.db"))
    yield store
    store.close()


def named(store: Store) -> World:
    return World(store, TenantId(f"t{uuid4().hex}"))


def founded(store: Store) -> World:
    world = named(store)
    store.create_tenant(world.tenant, at=world.clock.now())
    return world


def live(world: World) -> None:
    """A little of everything that a tenant can hold."""
    a, b = world.tell(AWKWARD), world.tell("Ana drinks tea", thread="other")
    world.keep(world.item(Episode("T", (Artifact(ArtifactType.COMMIT, "abc"), Artifact(ArtifactType.FILE, "ä")))))
    world.apply(Revise(a.item.id, Verb.UPDATE, (Edit("importance", 3, 5), Edit("tags", (), ("é", AWKWARD[:50])))))
    relation = world.relation(a.item, b.item)
    world.apply(Link(relation))
    world.apply(Relink(relation, replace(relation, strength=0.1 + 0.2)))
    world.apply(Note(None, world.contradiction(a.item, b.item)), Note(None, Rules()), Protect(b.item.id, False, True))
    shorter = world.shorter(b.version, quality_score=1 / 3)
    episode, _ = world.say("one", "two", "three")
    world.apply(Append(world.event(episode, AWKWARD, meta={"b": 1.0, "a": [None, 1e300, AWKWARD]})))
    world.apply(Derive(shorter), Discard(shorter))
    house = {"visibility": Visibility.PROJECT_SHARED, "project_id": "house", "user_id": None}
    _, [aside] = world.say("between us", thread="hall", **house)
    world.apply(private=[aside.id])
    gone = world.tell("gone", thread="gone")
    world.apply(Erase((gone.item.id,), (gone.version.id,), (gone.event.id,), (), "asked"))
    world.apply(vectors=[Vector("mini", f"v:{a.version.id}", struct.pack("<3f", 1, 2, 3))])
    world.apply(
        then=[world.job(), world.job("é", AWKWARD, every=timedelta(seconds=90.5))], receipt=Receipt("k", "d", "a")
    )
    at = world.clock.now()
    happened = Operation(
        id=RecordId(world.clock.mint()), user_id=None, thread_id=None, node="n", op="o", status="s", sim=0.3, ts=at
    )
    world.store.observe(world.tenant, [Used(a.item.id, Use.RETRIEVED, at), Used(b.item.id, Use.CITED, at), happened])
    world.store.save_checkpoint(world.scope, world.checkpoint({"b": AWKWARD, "a": 0.1}), actor=world.actor)


def test_a_tenant_moves_from_postgres_to_sqlite_and_back_byte_for_byte(world: World, embedded: Store):
    live(world)
    moved, back = named(embedded), named(world.store)
    embedded.load(moved.tenant, map(json.loads, world.dump()))
    assert moved.dump() == world.dump()
    back.store.load(back.tenant, map(json.loads, moved.dump()))
    assert back.dump() == world.dump()
    assert back.state() == moved.state() == world.state()
    assert len({json.loads(row)["table"] for row in world.dump()}) == 22, "every table has rows"


def test_a_tenant_moves_from_sqlite_to_postgres_byte_for_byte(world: World, embedded: Store):
    origin, moved = founded(embedded), named(world.store)
    live(origin)
    moved.store.load(moved.tenant, map(json.loads, origin.dump()))
    assert moved.dump() == origin.dump()
    assert sorted(moved.found("tea", "reilly")) == sorted(origin.found("tea", "reilly"))
    assert moved.is_whole()


def test_both_engines_sort_alike(world: World, embedded: Store):
    names = ["a", "B", "_", "-", "é", "z", "Z", "ä", "10", "9", "🦊", "\uffff", "a b", "a-b", "ab"]
    for name in names:
        world.say("text", thread=name)
    moved = named(embedded)
    embedded.load(moved.tenant, map(json.loads, world.dump()))
    assert moved.dump() == world.dump()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/New_York"])
def test_moments_are_the_same_in_every_time_zone(postgres_database: str, zone: str):
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"alter database {name} set timezone = '{zone}'".encode())
        connection.execute(f"alter database {name} set datestyle = 'German'".encode())
        connection.execute(f"alter database {name} set extra_float_digits = '-3'".encode())
        connection.execute(f"alter database {name} set bytea_output = 'escape'".encode())
    engine = PostgresEngine(postgres_database)
    world = founded(SqlStore(engine))
    for at in (
        datetime.min.replace(tzinfo=UTC),
        datetime(1800, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ):
        item = world.keep(origin_at=at)
        assert world.held(item).item == item
    a, b = world.keep(), world.keep()
    relation = world.relation(a, b, strength=0.1 + 0.2)
    world.apply(Link(relation))
    assert world.store.relations(world.tenant, a.id) == [relation]
    assert world.is_whole()
    engine.close()


def test_vectors_come_back_bit_for_bit(world: World):
    told = world.tell()
    draw = random.Random(7)
    bits = [0, 1 << 31, 1, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000, *(draw.getrandbits(32) for _ in range(5000))]
    finite = [word for word in bits if word & 0x7F800000 != 0x7F800000]
    values = struct.pack(f"<{len(finite)}I", *finite)
    for embedder, size in (("all", len(values)), ("one", 4), ("two", 8)):
        world.apply(vectors=[Vector(embedder, f"v:{told.version.id}", values[:size])])
    with world.store._engine.read(world.tenant) as tx:  # type: ignore[attr-defined]
        found = {embedder: data for embedder, _, _, data in tx.vectors()}
    assert found == {"all": values, "one": values[:4], "two": values[:8]}


def test_a_newer_vector_replaces_the_older(world: World, engine: PostgresEngine):
    ref = f"v:{world.tell().version.id}"
    world.apply(vectors=[Vector("mini", ref, struct.pack("<2f", 1, 2))])
    rev = world.apply(vectors=[Vector("mini", ref, struct.pack("<3f", 3, 4, 5))])
    with engine.read(world.tenant) as tx:
        assert list(tx.vectors()) == [("mini", ref, rev, struct.pack("<3f", 3, 4, 5))]


@pytest.mark.parametrize(
    ("shared", "text", "names"),
    [
        ("select :a, :b, :a", "select $1, $2, $1", ("a", "b")),
        ("x in :ids[] and y in :seqs[]", "x = any($1) and y = any($2)", ("ids", "seqs")),
        ("'e:' || id = :id", "'e:' || id = $1", ("id",)),
        ("'it''s :no' || :yes", "'it''s :no' || $1", ("yes",)),
        (":a::text || '%'", "$1::text || '%'", ("a",)),
        ("x in (select y)", "x in (select y)", ()),
    ],
)
def test_shared_sql_is_translated(shared: str, text: str, names: tuple[str, ...]):
    assert (translate(shared).text.decode(), translate(shared).names) == (text, names)


@pytest.mark.parametrize("column", ["id", "rev", "withdrawn"])
def test_an_empty_list_matches_nothing(engine: PostgresEngine, world: World, column: str):
    world.keep()
    with engine.read(world.tenant) as tx:
        assert tx.all(f"select 1 from items where tenant = :tenant and {column} in :values[]", values=[]) == []


@pytest.mark.parametrize("seqs", [[1], [1, 2**40], list(range(70_000))])
def test_lists_of_numbers_are_numbers(world: World, seqs: list[int]):
    world.keep()
    assert [entry.header.seq for entry in world.store.entries(world.tenant, seqs=seqs)] == [1]  # type: ignore[arg-type]


def test_a_statement_says_how_many_rows_it_changed(engine: PostgresEngine, world: World):
    add = "insert into tombstones (tenant, ref, at) values (:tenant, :ref, :at)"
    at = world.clock.now()
    with engine.write(world.tenant) as tx:
        assert tx.run(add, ref="a", at=at) == 1
        assert tx.run(f"{add} on conflict do nothing", ref="a", at=at) == 0
        tx.many(add, [{"ref": f"r{n}", "at": at} for n in range(1234)])
        assert tx.run("update tombstones set at = at where tenant = :tenant") == 1235
        assert tx.run("delete from tombstones where tenant = :tenant and ref = 'x'") == 0
        assert len(tx.all("select ref from tombstones where tenant = :tenant")) == 1235


def test_a_statement_without_its_tenant_is_refused(engine: PostgresEngine, world: World):
    with engine.write(world.tenant) as tx:
        for call in (tx.all, tx.one, tx.run, lambda sql: list(tx.each(sql)), lambda sql: tx.many(sql, [{}])):
            with pytest.raises(AssertionError, match="without its tenant"):
                call("select * from items")


def test_rows_one_by_one_come_in_order_beside_other_reads(engine: PostgresEngine, world: World):
    world.say(*[f"text {n}" for n in range(250)])
    with engine.read(world.tenant) as tx:
        numbers = "select seq from events where tenant = :tenant order by seq"
        pairs = [(a, b) for (a,), (b,) in zip(tx.each(numbers), tx.each(numbers), strict=True)]
        assert tx.one("select count(*) from events where tenant = :tenant") == (250,)
    assert pairs == [(n, n) for n in range(1, 251)]


def test_reads_within_a_read_see_the_same_moment(engine: PostgresEngine, world: World):
    with engine.read(world.tenant):
        before = world.store.head(world.tenant)
        thread = threading.Thread(target=world.tell)
        thread.start()
        thread.join()
        assert world.store.head(world.tenant) == before
        rows = world.store.dump(world.tenant)
        next(rows)
    assert world.store.head(world.tenant).rev == before.rev + 1
    rows.close()


def test_a_stream_does_not_lend_its_moment_to_those_who_run_in_between(world: World):
    """As a server does it: every step of the stream in a copy of some context, on some thread."""
    told = world.tell()
    stream = world.store.dump(world.tenant)
    rows = [copy_context().run(next, stream)]
    world.tell("and more")
    assert world.store.head(world.tenant).rev == told.rev + 1
    rows += copy_context().run(list, stream)
    assert rows[0]["rev"] == told.rev
    assert {row["rev"] for row in rows if row["table"] == "journal"} == {told.rev}
    assert world.store.head(world.tenant).rev == told.rev + 1


def test_streams_that_end_in_another_order_than_they_began_leave_no_moment_behind(world: World):
    told = world.tell()
    first, second = world.store.dump(world.tenant), world.store.dump(world.tenant)
    assert next(first) == next(second)
    rest = [*map(codec.canonical, first)]
    assert [*map(codec.canonical, second)] == rest
    world.tell("and more")
    assert world.store.head(world.tenant).rev == told.rev + 1


def test_rows_of_two_tenants_side_by_side_are_not_lost(engine: PostgresEngine, world: World):
    """They share one moment, and with it one session, whose policies follow whoever is reading."""
    other = founded(world.store)
    add = "insert into tombstones (tenant, ref, at) values (:tenant, :ref, now())"
    for tenant in (world.tenant, other.tenant):
        with engine.write(tenant) as tx:
            tx.many(add, [{"ref": f"r{number:03}"} for number in range(250)])
    # No index helps here: the policy is asked about every row, when its turn comes.
    rows = "select ref from tombstones where tenant || '' = :tenant"
    with engine.read(world.tenant) as mine, engine.read(other.tenant) as theirs:
        mine.all("select set_config('enable_indexscan', 'off', true) where :tenant = :tenant")
        mine.all("select set_config('enable_bitmapscan', 'off', true) where :tenant = :tenant")
        mine.all("select set_config('enable_indexonlyscan', 'off', true) where :tenant = :tenant")
        pairs = list(zip(mine.each(rows), theirs.each(rows), strict=True))
    assert len(pairs) == 250


def test_a_read_cannot_write(engine: PostgresEngine, world: World):
    with pytest.raises(StoreReadOnly), engine.read(world.tenant) as tx:
        tx.run("delete from tenants where tenant = :tenant")
    assert world.tenant in world.store.tenants()


def test_a_backup_holds_every_tenant_of_one_moment(postgres_database: str, tmp_path: Path):
    engine = PostgresEngine(postgres_database)
    worlds = sorted((founded(SqlStore(engine)) for _ in range(2)), key=lambda world: world.tenant)
    expected: list[object] = [{"recollect": "backup", "format": 1}]
    for world in worlds:
        live(world)
        expected += [{"tenant": world.tenant}, *map(json.loads, world.dump())]
    target = tmp_path / "backup.gz"
    target.write_text("an older one")
    engine.backup(target)
    with gzip.open(target, "rt", encoding="utf-8") as lines:
        assert [json.loads(line) for line in lines] == expected
    assert [path.name for path in tmp_path.iterdir()] == ["backup.gz"]
    assert target.stat().st_mode & 0o077 == 0
    engine.close()


def test_a_backup_that_cannot_be_written_leaves_the_older_one(engine: PostgresEngine, tmp_path: Path):
    with pytest.raises(StoreReadOnly):
        engine.backup(tmp_path / "missing" / "backup.gz")
    assert list(tmp_path.iterdir()) == []


def test_both_engines_keep_the_same_columns(engine: PostgresEngine, embedded: Store, tmp_path: Path):
    with engine._maintaining() as connection:
        found = connection.execute(
            b"select c.relname || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid "
            b"where c.relnamespace = 'recollect'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition "
            b"and a.attnum > 0 and not a.attisdropped"
        ).fetchall()
    served = {row[0] for row in found if row[0].split(".")[0] not in ("docs", "recollect_schema")}
    file = apsw.Connection(str(tmp_path / "memory.db"))
    names = file.execute(
        "select t.name || '.' || c.name from sqlite_schema t, pragma_table_info(t.name) c "
        "where t.type = 'table' and t.name not like 'texts%' and t.name not like 'sqlite%' "
        "and t.name <> 'vocabulary' and c.name <> 'rid'"
    ).fetchall()
    file.close()
    assert served ^ {row[0] for row in names} == {"vectors.embedding", "vectors.data"}
