"""Finding on PostgreSQL: through the indexes, within the tenant, and with nothing left behind in the session."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from struct import pack, unpack
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from recollect.domain.change import Append, Create
from recollect.domain.event import Event
from recollect.domain.ids import TenantId
from recollect.domain.query import Filters
from recollect.holdings import Vector, Wanted
from recollect.store.postgres import word_counts
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.postgres.finding import Finder, _Near
from recollect.store.sql import SqlStore
from recollect.store.tx import Sought
from tests.postgres import fresh_database
from tests.worlds import EVERYTHING, World

MODEL = "o'model"
DIMENSION = 48


@pytest.fixture(scope="module")
def database(postgres_server: str) -> Iterator[str]:
    with fresh_database(postgres_server) as url:
        PostgresEngine(url).close()
        yield url


@pytest.fixture
def engine(database: str) -> Iterator[PostgresEngine]:
    """One that takes more than 50 vectors for many."""
    engine = PostgresEngine(database)
    engine._finder = Finder(engine._finder._in, exact_up_to=50)
    yield engine
    engine.close()


@pytest.fixture
def superuser(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def found_world(engine: PostgresEngine) -> World:
    world = World(SqlStore(engine), TenantId(f"w{uuid4().hex}"))
    world.store.create_tenant(world.tenant, at=world.clock.now())
    return world


def vectors(count: int, seed: int) -> list[bytes]:
    chance = Random(seed)
    return [pack(f"<{DIMENSION}f", *(chance.gauss(0, 1) for _ in range(DIMENSION))) for _ in range(count)]


def fill(world: World, count: int, seed: int, user: str = "ana") -> list[Event]:
    episode = world.episode(user_id=user)
    said = [world.event(episode, f"tea {n}") for n in range(count)]
    embedded = [Vector(MODEL, f"e:{event.id}", v) for event, v in zip(said, vectors(count, seed), strict=True)]
    world.apply(Create(episode), *map(Append, said), vectors=embedded)
    return said


def near(world: World, vector: bytes, limit: int = 10, **filters: str) -> list[str]:
    asked = Wanted(vector=vector, embedder=MODEL, filters=Filters(**filters), sight=EVERYTHING, limit=limit)  # type: ignore[arg-type]
    return [hit.ref[2:] for hit in world.store.find_events(world.tenant, asked).hits]


def definitions(connection: psycopg.Connection) -> list[str]:
    rows = connection.execute("select indexdef from pg_indexes where schemaname = 'recollect' and indexdef ~ 'hnsw'")
    return [row[0] for row in rows]


def test_the_first_vectors_of_an_embedder_bring_an_index_of_their_own(
    engine: PostgresEngine, superuser: psycopg.Connection
):
    fill(found_world(engine), 3, 1)
    mine = [text for text in definitions(superuser) if "o''model" in text]
    assert mine
    assert all(f"halfvec({DIMENSION})" in text for text in mine)
    short = found_world(engine)
    told = short.tell("tea")
    short.apply(vectors=[Vector("short", f"e:{told.event.id}", pack("<2f", 1, 0))])
    assert not [text for text in definitions(superuser) if "short" in text]


def test_many_vectors_are_found_through_the_index_and_few_are_compared(engine: PostgresEngine):
    world, small = found_world(engine), found_world(engine)
    said, few = fill(world, 400, 2), fill(small, 20, 2)
    for n in (7, 77, 399):
        assert near(world, vectors(400, 2)[n])[0] == said[n].id
    assert near(small, vectors(20, 2)[7])[0] == few[7].id


def test_the_index_can_answer_what_is_asked_of_it(engine: PostgresEngine):
    """The statement names embedder and dimension as the index does; and the tenants' barrier does not stand before an
    order."""
    world = found_world(engine)
    fill(world, 60, 4)
    asked = Wanted(vector=vectors(1, 3)[0], embedder=MODEL, filters=Filters(), sight=EVERYTHING)
    with engine.read(world.tenant) as tx:
        question = _Near(tx, Sought.EVENTS, asked, engine._finder._in)
        tx.one("select set_config('enable_sort', 'off', true) where :tenant <> ''")
        plan = tx.all(
            f"explain select x.ref from vectors x where {question._ours} and {question._marks} "
            f"order by {question._about} limit 10",
            **question._query,
        )
    assert any("Order By: " in row[0] for row in plan), plan


@pytest.mark.parametrize("scale", [1e-9, 1e6])
def test_vectors_of_any_length_are_kept_and_found(engine: PostgresEngine, scale: float):
    world = found_world(engine)
    said = fill(world, 60, 25)
    longer = [pack(f"<{DIMENSION}f", *(scale * n for n in unpack(f"<{DIMENSION}f", v))) for v in vectors(60, 25)]
    refs = [f"e:{event.id}" for event in said]
    world.apply(vectors=[Vector(MODEL, ref, v) for ref, v in zip(refs, longer, strict=True)])
    assert near(world, longer[7])[0] == said[7].id


def test_through_the_index_or_not_the_same_is_found(engine: PostgresEngine):
    world = found_world(engine)
    fill(world, 300, 5)
    for question in vectors(5, 6):
        by_index = near(world, question, 20)
        engine._finder._exact_up_to = 10**6
        one_by_one = near(world, question, 20)
        engine._finder._exact_up_to = 50
        assert len(set(by_index) & set(one_by_one)) >= 18


def test_those_that_pass_are_found_among_many_that_do_not(engine: PostgresEngine):
    world = found_world(engine)
    fill(world, 300, 7, user="ben")
    mine = fill(world, 4, 8)
    assert set(near(world, vectors(1, 9)[0], 5, user_id="ana")) == {event.id for event in mine}


@pytest.mark.parametrize("mine", [4, 40, 200])
@pytest.mark.parametrize("exact_up_to", [50, 150])
def test_however_many_pass_the_nearest_of_them_are_found(engine: PostgresEngine, mine: int, exact_up_to: int):
    """Few are listed and compared, many are looked for further down the index."""
    world = found_world(engine)
    fill(world, 600, 17, user="ben")
    own = {event.id for event in fill(world, mine, 18)}
    engine._finder._exact_up_to = exact_up_to
    for question in vectors(3, 19):
        found = near(world, question, 20, user_id="ana")
        engine._finder._exact_up_to = 10**6
        one_by_one = near(world, question, 20, user_id="ana")
        engine._finder._exact_up_to = exact_up_to
        assert set(found) <= own
        assert len(one_by_one) == min(mine, 20)
        assert len(set(found) & set(one_by_one)) >= 0.9 * len(one_by_one)


@pytest.mark.parametrize("mine", [4, 40, 200])
def test_however_many_pass_their_words_are_found(engine: PostgresEngine, mine: int):
    world = found_world(engine)
    fill(world, 600, 17, user="ben")
    own = {event.id for event in fill(world, mine, 18)}
    asked = Wanted(words=("tea",), filters=Filters(user_id="ana"), sight=EVERYTHING, limit=20)
    found = [hit.ref[2:] for hit in world.store.find_events(world.tenant, asked).hits]
    assert len(found) == len(set(found)) == min(mine, 20)
    assert set(found) <= own


def test_how_common_a_word_is_is_judged_by_a_part_of_the_texts(engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch):
    fill(found_world(engine), 300, 20)
    world = found_world(engine)
    fill(world, 900, 21)
    monkeypatch.setattr(word_counts, "_COUNTED", 200)
    monkeypatch.setattr(word_counts, "_SAMPLE", 300)
    asked = Wanted(words=("tea", "3"), filters=Filters(), sight=EVERYTHING, limit=5)
    found = world.store.find_events(world.tenant, asked)
    assert 600 <= found.frequency["tea"] <= 900
    assert found.frequency["3"] == 1


def test_a_question_that_is_overtaken_by_a_newer_count_is_answered(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
):
    """Others write and ask between its two looks at what is remembered."""
    monkeypatch.setattr(word_counts, "_SMALL", 3)
    world = found_world(engine)
    fill(world, 5, 25)
    asked = Wanted(words=("tea",), filters=Filters(), sight=EVERYTHING, limit=5)
    frequencies, overtaken = word_counts.WordCounts.frequencies, [False]

    def late(*given: Any) -> dict[str, int]:
        if not overtaken[0]:
            overtaken[0] = True
            with ThreadPoolExecutor(1) as others:
                others.submit(fill, world, 300, 26, "ben").result()
                others.submit(world.store.find_events, world.tenant, asked).result()
        return frequencies(*given)

    monkeypatch.setattr(word_counts.WordCounts, "frequencies", late)
    found = world.store.find_events(world.tenant, asked)
    assert overtaken[0]
    assert len(found.hits) == 5
    assert found.frequency["tea"] <= found.documents == 5


def test_a_tenant_that_has_most_of_a_table_finds_its_own_alone(postgres_database: str):
    engine = PostgresEngine(postgres_database)
    try:
        world = found_world(engine)
        own = {event.id for event in fill(world, 600, 24)}
        with psycopg.connect(postgres_database, autocommit=True) as superuser:
            other = world
            while other is world or _part(superuser, other) != _part(superuser, world):
                other = found_world(engine)
                fill(other, 3, 22)
            superuser.execute("analyze recollect.docs")
        asked = Wanted(words=("tea",), filters=Filters(), sight=EVERYTHING, limit=10_000)
        for searching, said in ((world, own), (other, None)):
            found = {hit.ref[2:] for hit in searching.store.find_events(searching.tenant, asked).hits}
            assert found == said if said else len(found) == 3
            asker = word_counts.Asker(EVERYTHING, None, EVERYTHING, None)
            assert engine._finder._counts._sizes[searching.tenant, asker].size.alone is (searching is world)
    finally:
        engine.close()


def _part(superuser: psycopg.Connection, world: World) -> int | None:
    row = superuser.execute("select tableoid from recollect.docs where tenant = %s limit 1", [world.tenant]).fetchone()
    return row[0] if row else None


def test_nothing_crosses_tenants_although_they_share_an_index(engine: PostgresEngine):
    worlds = [found_world(engine) for _ in range(4)]
    said = [fill(world, 80, 10) for world in worlds]
    for world, own in zip(worlds, said, strict=True):
        found = near(world, vectors(80, 10)[3], 100)
        assert set(found) <= {event.id for event in own}
        assert found[0] == own[3].id
        assert len(found) == 80


def test_nothing_stays_in_the_session(engine: PostgresEngine):
    world = found_world(engine)
    fill(world, 100, 12)
    near(world, vectors(1, 13)[0])
    with engine._pool.lent() as connection:
        row = connection.execute(
            b"select current_setting('hnsw.iterative_scan', true), current_setting('hnsw.ef_search', true), "
            b"current_setting('app.tenant', true), current_user"
        ).fetchone()
    assert row is not None
    assert row[0] in ("off", "", None)
    assert row[1] in ("40", "", None)
    assert row[2] in ("", None)
    assert row[3] != "recollect_app"


@pytest.mark.parametrize(
    "function",
    [
        "recollect_hits(array['tea'], 9, false)",
        "recollect_find(array['tea'], array[1.0], 'e:', 1, 9, null, false)",
    ],
)
def test_looking_without_a_tenant_or_as_somebody_else_is_refused(superuser: psycopg.Connection, function: str):
    with superuser.transaction(force_rollback=True):
        superuser.execute("set local role recollect_app")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="without a tenant"):
            superuser.execute(f"select * from recollect.{function}".encode())
    with superuser.transaction(force_rollback=True):
        superuser.execute("set local app.tenant = 'x'")
        superuser.execute("set local role recollect_worker")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"):
            superuser.execute(f"select * from recollect.{function}".encode())


def test_an_index_is_made_for_who_may_make_none(database: str, superuser: psycopg.Connection):
    superuser.execute("drop role if exists guest")
    superuser.execute("create role guest login")
    superuser.execute("grant recollect_app, recollect_worker to guest")
    guest = PostgresEngine(database.replace("postgres@", "guest@"))
    try:
        world = found_world(guest)
        told = world.tell("tea")
        world.apply(vectors=[Vector("guests", f"e:{told.event.id}", vectors(1, 1)[0])])
    finally:
        guest.close()
    assert [text for text in definitions(superuser) if "'guests'" in text]


def test_the_planner_knows_of_tables_that_have_just_been_filled(postgres_server: str) -> None:
    """The server looks at new tables within a minute; until then a question took 40 seconds."""
    with fresh_database(postgres_server) as url:
        engine = PostgresEngine(url)
        fill(found_world(engine), 50, seed=20)
        with psycopg.connect(url, autocommit=True) as connection:
            rows = connection.execute(
                "select c.relname from pg_class c where c.relnamespace = 'recollect'::regnamespace and c.relkind = 'r' "
                "and c.relname ~ '^(items|events|docs|journal)_' and pg_relation_size(c.oid) > 0 and c.reltuples <= 0"
            )
            assert not rows.fetchall()
        engine.close()
