"""What texts are called by is in the text index, also of stores that were made before it was."""

from contextlib import closing

import psycopg

from recollect.domain.change import Append, Create, Derive, Erase
from recollect.domain.item import Fact
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.tx import Engine
from tests.postgres import fresh_database, opened_store
from tests.store.conftest import new_world
from tests.worlds import Told, World


def told(world: World) -> Told:
    """A fact with a tag, and its event out of a file."""
    episode = world.episode(None)
    event = world.event(episode, meta={"file": "Träume-2.md", "tags": ["Garten", "茶道"], "other": {"file": 3}})
    item = world.item(Fact(key="drink", value="tea"), tags=("tea-house", "茶"))
    version = world.version(item, event)
    world.apply(Create(episode))
    rev = world.apply(Append(event), Create(item), Derive(version))
    return Told(item, event, version, rev)


def forget_names(engine: Engine, world: World) -> None:
    """The text index as it was before it held names."""
    with engine.write(world.tenant) as tx:
        for table, mark, text in (("events", "e", "text"), ("versions", "v", "content")):
            for id, item_id, words, names in tx.all(
                f"select id, item_id, {text}, names from {table} where tenant = :tenant and names <> ''"
            ):
                tx.drop_text(f"{mark}:{id}", words, names)
                tx.add_text(f"{mark}:{id}", item_id, words, "")


def check(world: World, one: Told) -> None:
    """Everything is found by its names, and gone with them."""
    event, version = f"e:{one.event.id}", f"v:{one.version.id}"
    for name, refs in {
        "Träume-2.md": {event},
        "traume": {event},
        "garten": {event},
        "茶道": {event},
        "tea-house": {version},
        "house": {version},
        "drinks": {event},
    }.items():
        assert set(world.found(name)) == refs, name
    world.apply(Erase((one.item.id, one.event.item_id), (one.version.id,), (one.event.id,), (), "asked for"))
    assert not any(world.found(name) for name in ("traume", "garten", "house", "drinks"))
    assert world.store.integrity() == []


def test_texts_are_found_by_their_names(world: World):
    check(world, told(world))


def test_an_old_file_finds_by_names_when_it_is_opened(sqlite_store: SqlStore, sqlite_path):
    world = new_world(sqlite_store)
    one = told(world)
    plain = world.tell("Nothing is called anything.")
    engine: SqliteEngine = sqlite_store._opened  # type: ignore[assignment]
    forget_names(engine, world)
    assert world.found("garten") == []
    for statement in (
        "alter table events drop column names",
        "alter table versions drop column names",
        "pragma user_version = 5",
    ):
        engine._writer.execute(statement)  # type: ignore[attr-defined]
    sqlite_store.close()
    with closing(SqlStore(SqliteEngine(sqlite_path))) as again:
        world = World(again, world.tenant, world.clock)
        assert set(world.found("anything")) == {f"e:{plain.event.id}", f"v:{plain.version.id}"}
        check(world, one)


def test_an_old_database_finds_by_names_when_it_is_opened(postgres_url: str):
    with fresh_database(postgres_url) as url:
        with opened_store(url) as store:
            world = new_world(store)
            one = told(world)
            plain = world.tell("Nothing is called anything.")
            forget_names(store._opened, world)  # type: ignore[attr-defined]
            assert world.found("garten") == []
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in (
                "drop index recollect.items_seen",
                "set role recollect_search",
                "drop function recollect.recollect_hits(text[], integer, boolean)",
                "reset role",
                "alter table recollect.events drop column names",
                "alter table recollect.versions drop column names",
                "delete from recollect.recollect_schema where version >= 6",
            ):
                connection.execute(statement.encode())
        with closing(SqlStore(PostgresEngine(url))) as again:
            world = World(again, world.tenant, world.clock)
            assert set(world.found("anything")) == {f"e:{plain.event.id}", f"v:{plain.version.id}"}
            check(world, one)
