"""Processes that were forked: each opens a store of its own, and the parent's is refused before anything is spoilt."""

import os
import signal
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from recollect.errors import StoreError
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.faults.writers import open_store
from tests.worlds import DAWN, Ticking, World


def in_a_fork(act: Callable[[], None], timeout: float = 30) -> None:
    """The act, in a child of this process that ends with it. It raises here what it raised there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            act()
            os.write(writing, b"well")
        except BaseException:
            os.write(writing, traceback.format_exc().encode()[-4000:])
        finally:
            os._exit(0)
    os.close(writing)
    until = time.monotonic() + timeout
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    with os.fdopen(reading, "rb") as said:
        assert said.read() == b"well"


@pytest.fixture
def address(engine: str, request: pytest.FixtureRequest) -> str:
    if engine == "sqlite":
        return str(request.getfixturevalue("sqlite_path"))
    return request.getfixturevalue("postgres_url")


def test_a_forked_child_with_a_store_of_its_own_works_beside_its_parent(world: World, address: str):
    world.tell("before")

    def child() -> None:
        store = open_store(address)
        own = World(store, world.tenant, Ticking(DAWN + timedelta(days=1)))
        for number in range(5):
            own.tell(f"child {number}", thread="childs")
        assert own.is_whole()
        store.close()

    in_a_fork(child)
    world.tell("after")
    assert len(world.found("child", limit=100)) == 10
    assert world.is_whole()


def test_the_parents_store_is_refused_in_a_forked_child(world: World):
    told = world.tell("before")
    before = world.dump()
    rows = world.store.dump(world.tenant)
    next(rows)

    def child() -> None:
        uses: list[Callable[[], object]] = [
            lambda: world.tell("from the child"),
            lambda: world.held(told.item),
            world.dump,
            world.store.tenants,
            world.store.scrub,
            world.store.integrity,
            lambda: world.store.backup(Path("/nowhere")),
        ]
        for use in uses:
            with pytest.raises(StoreError, match="forked"):
                use()
        world.store.close()

    in_a_fork(child)
    assert [*rows]
    assert world.dump() == before
    world.tell("after")
    assert world.is_whole()


def test_a_child_that_ends_takes_nothing_of_its_parents_store_with_it(tmp_path: Path):
    """A child that ends in the ordinary way closes what it inherited."""
    path = tmp_path / "memory.db"
    store = SqlStore(SqliteEngine(path))
    world = World(store, "home")  # type: ignore[arg-type]
    store.create_tenant(world.tenant, at=world.clock.now())
    world.tell("before")
    for number in range(3):
        child = os.fork()
        if child == 0:
            engine = store._opened
            for connection in [engine._writer, *engine._idle]:  # type: ignore[attr-defined]
                connection.close()
            os._exit(0)
        os.waitpid(child, 0)
        world.tell(f"after {number}")
        other = SqlStore(SqliteEngine(path))
        World(other, world.tenant, world.clock).tell(f"from elsewhere {number}")
        other.close()
    assert len(world.journal()) == 4 + 6 * 3
    assert world.is_whole()
    store.close()
