"""Files of a SQLite store that somebody removes or replaces while it is open: it is noticed before anything more is
acknowledged, and what was acknowledged before is there."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.domain.ids import TenantId
from recollect.errors import StoreDamaged, StoreError
from recollect.store.sql import SqlStore
from recollect.store.sqlite import files
from recollect.store.sqlite.engine import SqliteEngine
from tests.interfaces.served import serving
from tests.worlds import DAWN, World

HOME = TenantId("home")


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    """The same bytes in another file: nothing but its place tells."""
    shutil.copy(path, part := path.with_name("part"))
    part.replace(path)


def move_away(path: Path) -> None:
    path.rename(path.with_name("away"))


@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
@pytest.mark.parametrize("happening", [remove, replace, move_away])
def test_a_file_that_goes_is_noticed_before_the_next_write(
    tmp_path: Path, ending: str, happening: Callable[[Path], None]
):
    path = tmp_path / "memory.db"
    store = SqlStore(SqliteEngine(path))
    world = World(store, HOME)
    store.create_tenant(HOME, at=DAWN)
    world.tell("the first thing")
    happening(path.with_name(path.name + ending))
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="removed or replaced"):
            world.tell("lost, if it were acknowledged")
    with pytest.raises(StoreError, match="removed or replaced"):
        world.store.head(HOME)
    store.close()


@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
@pytest.mark.parametrize("happening", [remove, replace, move_away])
def test_a_file_that_goes_is_noticed_where_its_folder_was_at_rest(
    tmp_path: Path, ending: str, happening: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
):
    """Then one look at the folder stands for those at the files."""
    monkeypatch.setattr(files, "_LONG_AGO", 50_000_000)
    path = tmp_path / "memory.db"
    store = SqlStore(SqliteEngine(path))
    world = World(store, HOME)
    store.create_tenant(HOME, at=DAWN)
    time.sleep(0.2)
    world.tell("the first thing")
    looked: list[object] = []
    with monkeypatch.context() as watched:
        watched.setattr(files.Files, "_look", lambda self: looked.append(self))
        world.tell("another")
    assert not looked
    happening(path.with_name(path.name + ending))
    with pytest.raises(StoreDamaged, match="removed or replaced"):
        world.tell("lost, if it were acknowledged")
    store.close()


def write_on(world: World, engine: SqliteEngine) -> None:
    world.tell("too late")


def read_on(world: World, engine: SqliteEngine) -> None:
    """Two threads at once: a further connection is opened."""
    with ThreadPoolExecutor() as others, engine.read(HOME):
        others.submit(world.store.head, HOME).result()


def examine(world: World, engine: SqliteEngine) -> None:
    engine.integrity()


def scrub(world: World, engine: SqliteEngine) -> None:
    engine.scrub()


@pytest.mark.parametrize("begun", [False, True], ids=["gone", "an empty one begun"])
@pytest.mark.parametrize("noticing", [write_on, read_on, examine, scrub])
def test_what_was_acknowledged_is_brought_into_the_database_when_its_log_is_removed(
    tmp_path: Path, noticing: Callable[[World, SqliteEngine], None], begun: bool
):
    path = tmp_path / "memory.db"
    child = os.fork()
    if not child:
        try:
            engine = SqliteEngine(path)
            world = World(SqlStore(engine), HOME)
            world.store.create_tenant(HOME, at=DAWN)
            world.tell("the first thing")
            path.with_name("memory.db-wal").unlink()
            if begun:
                path.with_name("memory.db-wal").touch()
            noticing(world, engine)
        except StoreDamaged:
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    path.with_name("memory.db-shm").unlink(missing_ok=True)
    again = World(SqlStore(SqliteEngine(path)), HOME)
    held = "\n".join(again.dump())
    again.store.close()
    assert "the first thing" in held
    assert "too late" not in held


def test_a_server_refuses_to_write_to_a_store_whose_log_is_gone(tmp_path: Path):
    plain = {"RECOLLECT_EMBEDDER": "none", "RECOLLECT_JUDGE": "none", "RECOLLECT_KEEPER": "none"}
    with serving(tmp_path, env=plain) as server:
        kept = server.ask("POST", "/api/memory/remember", {"text": "The ferry leaves at noon."})
        assert kept.status == 200
        (tmp_path / "memory.db-wal").unlink()
        refused = server.ask("POST", "/api/memory/remember", {"text": "The ferry leaves at one."})
        assert refused.status == 503
        assert str(tmp_path) not in refused.body.decode()
        assert "removed or replaced" in server.errors.read_text()
        server.stop(signal.SIGKILL)
    with serving(tmp_path, env=plain) as server:
        assert server.ask("GET", f"/api/memory/{kept.document['id']}").status == 200
