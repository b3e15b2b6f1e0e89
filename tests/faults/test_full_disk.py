"""A disk that runs full: the write is refused as a whole, reading goes on, and so does writing once there is room."""

from pathlib import Path

import pytest

from recollect.errors import StoreFull
from recollect.ports import Store
from recollect.store.sqlite.engine import SqliteEngine
from tests.faults.elsewhere import OWN_MOUNTS, can_mount, start, told
from tests.faults.full_disk import fill
from tests.store.conftest import new_world
from tests.worlds import World

PROGRAM = "tests.faults.full_disk"


@pytest.mark.skipif(not can_mount(), reason="no mounts of one's own here: the limit of pages below stands for the disk")
def test_a_full_disk_tears_nothing_and_is_forgiven_once_there_is_room(tmp_path: Path):
    found = told(start(PROGRAM, "store", tmp_path / "disk", before=OWN_MOUNTS))
    assert found["acked"] > 5
    assert found.pop("acked")
    assert found == {
        "refused": "StoreFull",
        "read": True,
        "whole": True,
        "kept": True,
        "again": "StoreFull",
        "erase": "StoreFull",
        "backup": "StoreFull",
        "nothing_torn": True,
        "parts": [],
        "opened": found["opened"],
        "same": True,
        "erased": True,
        "well": True,
    }
    assert found["opened"] in ("done", "StoreFull")


@pytest.mark.skipif(not can_mount(), reason="no mounts of one's own here")
def test_a_server_answers_on_while_its_disk_is_full(tmp_path: Path):
    found = told(start(PROGRAM, "served", tmp_path / "disk", before=OWN_MOUNTS))
    assert (found["status"], found["names_a_path"]) == (507, False)
    assert set(found["asked"]) == {200}
    assert (found["again"], found["there"], found["whole"]) == (200, [200, 200, 200], True)


@pytest.mark.skipif(not can_mount(), reason="no mounts of one's own here")
def test_a_store_is_opened_and_read_while_its_disk_is_full(tmp_path: Path):
    found = told(start(PROGRAM, "opened", tmp_path / "disk", before=OWN_MOUNTS))
    assert found == {"read": True, "refused": "StoreFull", "same": True, "whole": True}


@pytest.mark.skipif(not can_mount(), reason="no mounts of one's own here")
def test_a_full_disk_leaves_no_half_line_in_the_list_of_erasures(tmp_path: Path):
    found = told(start(PROGRAM, "list", tmp_path / "disk", before=OWN_MOUNTS))
    assert found == {"refused": "StoreFull", "listed": 0, "after": 1}


def test_a_store_that_may_not_grow_refuses_the_write_as_a_whole(sqlite_store: Store):
    engine: SqliteEngine = sqlite_store._engine  # type: ignore[attr-defined]
    world = new_world(sqlite_store)
    world.tell("the first thing")
    engine._writer.execute("pragma max_page_count = 500").fetchall()
    refused, acked = fill(world)
    assert (refused, len(acked) > 5) == ("StoreFull", True)
    before = world.dump()
    with pytest.raises(StoreFull, match="nothing of this write was kept"):
        world.tell("x" * 300_000)
    assert world.dump() == before
    assert world.is_whole()
    engine._writer.execute("pragma max_page_count = 5000").fetchall()
    assert World(world.store, world.tenant, world.clock).tell("x" * 300_000)
    assert world.is_whole()
