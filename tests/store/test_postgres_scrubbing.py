"""What an erasure leaves in the tables, and when it is gone from them."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bench.postgres import temporary_postgres
from recollect.domain.change import Erase
from recollect.domain.ids import TenantId
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql import SqlStore
from tests.worlds import World


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Path]]:
    """A server whose files can be looked into."""
    with temporary_postgres(options={"autovacuum": "off"}) as server:
        yield server.url, server.folder / "data" / "base"


@pytest.fixture
def world(server: tuple[str, Path]) -> Iterator[World]:
    engine = PostgresEngine(server[0])
    world = World(SqlStore(engine), TenantId("acme"))
    world.store.create_tenant(world.tenant, at=world.clock.now())
    yield world
    engine.close()


def files_with(server: tuple[str, Path], word: str) -> int:
    with psycopg.connect(server[0], autocommit=True) as superuser:
        superuser.execute("checkpoint")
    return sum(word.encode() in path.read_bytes() for path in server[1].rglob("*") if path.is_file())


def test_erased_words_are_out_of_the_tables_when_nobody_reads_an_older_moment(world: World, server: tuple[str, Path]):
    told = world.tell("quixotical words")
    for number in range(5):
        world.tell(f"others {number}")
    reading = world.store.dump(world.tenant)
    next(reading)
    world.apply(Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked"))
    assert not world.store.scrub(), "somebody reads the moment before"
    assert files_with(server, "quixotical")
    reading.close()
    assert world.store.scrub()
    assert not files_with(server, "quixotical")
    assert world.is_whole()
