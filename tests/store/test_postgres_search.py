"""The text index: found by the GIN index, within the tenant, whatever the words are made of."""

import re
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest

from recollect.domain.change import Erase
from recollect.domain.ids import TenantId
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.postgres.words import PART, folded, parts
from recollect.store.sql import SqlStore
from tests.postgres import fresh_database
from tests.worlds import World

MANY = """
    insert into recollect.docs (tenant, ref, part, item_id, tsv)
    select 't' || n % 20, 'e:' || n, 0, 'i' || n,
           array_to_tsvector(array[recollect.mark('t' || n % 20)]) ||
           to_tsvector('recollect.words', 'tea with word' || n % 1000 || ' and more')
    from generate_series(1, 20000) as n
"""


@pytest.fixture(scope="module")
def database(postgres_server: str) -> Iterator[str]:
    """One for all tests, with 20,000 texts of 20 tenants. Each test has a tenant or a session of its own."""
    with fresh_database(postgres_server) as url:
        PostgresEngine(url).close()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(MANY.encode())
            connection.execute("vacuum analyze recollect.docs")
        yield url


@pytest.fixture
def world(database: str) -> Iterator[World]:
    engine = PostgresEngine(database)
    world = World(SqlStore(engine), TenantId(f"w{uuid4().hex}"))
    world.store.create_tenant(world.tenant, at=world.clock.now())
    yield world
    engine.close()


@pytest.fixture
def crowded(database: str) -> Iterator[psycopg.Connection]:
    """A superuser's connection."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def inner_query(connection: psycopg.Connection) -> str:
    """The statement that the function runs, its variables numbered: mine, wanted, within, hits."""
    row = connection.execute("select prosrc from pg_proc where proname = 'recollect_search'").fetchone()
    assert row is not None
    found = re.search(r"return query(.*?);", row[0], re.DOTALL)
    assert found is not None
    query = found[1]
    for number, name in enumerate(("mine", "wanted", "within", "hits"), 1):
        assert len(re.findall(rf"\b{name}\b", query)) == 1
        query = re.sub(rf"\b{name}\b", f"${number}", query)
    return query


@pytest.mark.parametrize("word", ["word21", "tea"])
def test_the_search_function_reads_the_index(crowded: psycopg.Connection, word: str):
    crowded.execute(f"prepare search (text, tsquery, tsquery, integer) as {inner_query(crowded)}".encode())
    crowded.execute("set role recollect_search")  # as whom the function runs
    within = f"quote_literal(recollect.mark('t1'))::tsquery && '{word}'"
    plan = "\n".join(
        row[0] for row in crowded.execute(f"explain (costs off) execute search ('t1', '{word}', {within}, 10)".encode())
    )
    assert re.search(r"Bitmap Index Scan on docs_\d_tsv_idx\s+Index Cond: \(tsv @@ ", plan), plan
    assert "Seq Scan" not in plan
    assert len(set(re.findall(r"docs_\d", plan))) == 1, "one part of eight is looked at"


def test_the_index_is_what_is_read_when_the_application_searches(crowded: psycopg.Connection):
    """Not the plan of a statement that looks like it, but the counters of the one that ran."""
    counters = (
        "select (select sum(idx_scan) from pg_stat_user_indexes where indexrelname like 'docs_%tsv_idx'), "
        "(select sum(idx_scan) from pg_stat_user_indexes where indexrelname like 'docs_%pkey'), "
        "(select sum(seq_scan) from pg_stat_user_tables where relname like 'docs%')"
    )

    def count() -> tuple[int, int, int]:
        crowded.execute("select pg_stat_force_next_flush()")
        row = crowded.execute(counters.encode()).fetchone()
        assert row is not None
        return row

    before = count()
    with crowded.transaction():
        crowded.execute("set local role recollect_app")
        crowded.execute("set local app.tenant = 't1'")
        for _ in range(10):
            found = crowded.execute("select ref from recollect.recollect_search(array['word21'], 100)").fetchall()
    assert {row[0] for row in found} == {f"e:{n}" for n in range(1, 20001) if n % 1000 == 21 and n % 20 == 1}
    after = count()
    assert tuple(b - a for a, b in zip(before, after, strict=True)) == (10, 0, 0)


@pytest.mark.parametrize(
    "asked",
    [
        "recollect_hits(array['word21', 'tea'], 100, false)",
        "recollect_find(array['word21', 'and more'], array[3.0, 1.0], 'e:', 20, 100, null, false)",
        "recollect_find(array['word21'], array[3.0], 'e:', 20, 100, array['e:1021', 'e:2021'], false)",
    ],
)
def test_indexes_are_what_is_read_when_a_query_looks_for_words(crowded: psycopg.Connection, asked: str):
    counters = (
        "select (select sum(idx_scan) from pg_stat_user_indexes where indexrelname like 'docs_%'), "
        "(select sum(seq_scan) from pg_stat_user_tables where relname like 'docs%')"
    )

    def count() -> tuple[int, int]:
        crowded.execute("select pg_stat_force_next_flush()")
        row = crowded.execute(counters.encode()).fetchone()
        assert row is not None
        return row

    before = count()
    with crowded.transaction():
        crowded.execute("set local role recollect_app")
        crowded.execute("set local app.tenant = 't1'")
        found = crowded.execute(f"select * from recollect.{asked}".encode()).fetchall()
    assert found
    after = count()
    assert after[0] > before[0]
    assert after[1] == before[1]


def test_the_same_question_under_the_tenants_policy_would_not_read_it(crowded: psycopg.Connection):
    """Why there is a function at all."""
    crowded.execute("set role recollect_app")
    crowded.execute("set app.tenant = 't1'")
    plan = crowded.execute("explain select ref from recollect.docs where tsv @@ 'word21'::tsquery").fetchall()
    assert not any("tsv_idx" in row[0] for row in plan)


def test_others_are_not_found(world: World):
    told = world.tell("tea with word21")
    assert set(world.found("word21", "tea", limit=1000)) == {f"e:{told.event.id}", f"v:{told.version.id}"}


@pytest.mark.parametrize("unset", ["reset app.tenant", "begin; set local app.tenant = 't1'; commit"])
def test_a_search_without_a_tenant_is_refused(crowded: psycopg.Connection, unset: str):
    crowded.execute(unset.encode())
    crowded.execute("set role recollect_app")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="without a tenant"):
        crowded.execute("select * from recollect.recollect_search(array['tea'], 10)")


def test_only_the_application_may_search(crowded: psycopg.Connection):
    crowded.execute("set app.tenant = 't1'")
    crowded.execute("set role recollect_worker")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        crowded.execute("select * from recollect.recollect_search(array['tea'], 10)")


def test_names_that_shadow_the_functions_own_do_not_lead_it_astray(crowded: psycopg.Connection):
    """It runs as a role that sees more than its caller: a caller's function in it would see as much."""
    with crowded.transaction(force_rollback=True):
        crowded.execute("create schema trap")
        crowded.execute("grant usage on schema trap to public")
        crowded.execute(
            "create function trap.ts_rank(tsvector, tsquery, integer) returns real language plpgsql as "
            "$$ begin raise exception 'trapped as %', current_user; end $$"
        )
        crowded.execute("set local search_path = trap, pg_catalog")
        crowded.execute("set local role recollect_app")
        crowded.execute("set local app.tenant = 't1'")
        crowded.execute("create temporary table docs (tenant text, ref text, tsv tsvector)")
        found = crowded.execute("select ref from recollect.recollect_search(array['tea'], 5)").fetchall()
    assert len(found) == 5


@pytest.mark.parametrize(
    "word",
    ["'", "\\", "''", "\\'", "&", "|", "!", "<->", ":*", "(", ")", "a & b", "'a':1A", "%s", "$1", ":name", "{}", "",
     " ", "\x00", "\ud800", "\x01", "\x0161636d65", "🦊", "x" * 5000, "NULL", '"', "tea' | 'coffee"],
)  # fmt: skip
def test_words_are_words_whatever_they_are_made_of(world: World, word: str):
    told = world.tell("tea")
    both = {f"e:{told.event.id}", f"v:{told.version.id}"}
    assert set(world.found(word)) == set()
    assert set(world.found(word, "tea")) == both


def test_words_are_found_as_a_reader_would_search_them(world: World):
    told = world.tell("Zoë's naïve résumé lies in src/kitchen/tea_pot.py, as of 3.14 (the foxes were running).")
    both = {f"e:{told.event.id}", f"v:{told.version.id}"}
    for word in ("zoe", "ZOË", "naive", "resume", "kitchen", "pot", "kitchen/tea", "tea_pot.py", "fox", "run", "3.14"):
        assert set(world.found(word)) == both, word
    for word in ("kitchen pot", "nai", "14.3"):
        assert world.found(word) == [], word


def test_stop_words_count_when_there_is_nothing_else(world: World):
    will = world.tell("Will is the one who knows")
    tea = world.tell("the tea")
    assert set(world.found("who", "will")) == {f"e:{will.event.id}", f"v:{will.version.id}"}
    assert set(world.found("the", "tea")) == {f"e:{tea.event.id}", f"v:{tea.version.id}"}


def test_the_best_comes_first_and_no_more_than_asked_for(world: World):
    world.say(*[f"tea and something else, number {n}" for n in range(30)])
    _, [best] = world.say("tea tea kettle")
    assert world.found("tea", "kettle")[0] == f"e:{best.id}"
    assert len(world.found("tea", limit=7)) == 7


def test_a_long_text_is_found_by_its_last_word_and_named_once(world: World):
    text = " ".join(f"wörter{n}" for n in range(80_000)) + " omega"
    assert len(text) > 9 * PART
    told = world.tell(text)
    assert set(world.found("omega")) == {f"e:{told.event.id}", f"v:{told.version.id}"}
    assert set(world.found("worter1", "worter50000", "omega")) == {f"e:{told.event.id}", f"v:{told.version.id}"}


def test_a_word_without_an_end_does_not_stop_a_write(world: World):
    told = world.tell("x" * 999_990 + " omega")
    assert f"e:{told.event.id}" in world.found("omega")


def test_what_was_erased_is_not_found(world: World, crowded: psycopg.Connection):
    told = world.tell("xylophone " + "and more " * 40_000)
    world.apply(Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked"))
    assert world.found("xylophone", "more") == []
    left = crowded.execute("select count(*) from recollect.docs where tenant = %s", [world.tenant]).fetchone()
    assert left == (0,)


def test_parts_hold_every_word_of_the_text():
    text = folded("one two-three " * 40_000)
    assert " ".join(" ".join(parts(text)).split()) == " ".join(text.split())
    assert all(len(part) <= PART for part in parts(text))
