"""A store that cannot be written says so, and nothing of it changes."""

from pathlib import Path

import pytest

from tests.faults.elsewhere import OWN_MOUNTS, can_mount, start, told

pytestmark = pytest.mark.skipif(not can_mount(), reason="no mounts of one's own here")
PROGRAM = "tests.faults.read_only"


def test_a_file_that_cannot_be_written_can_be_read(tmp_path: Path):
    found = told(start(PROGRAM, tmp_path / "memory.db", "file", "closed", before=OWN_MOUNTS))
    assert (found["open"], found["read"], found["same"]) == ("done", "done", True)
    assert found["query"] == ["done", "done", "done"]
    assert (found["write"], found["erase"]) == ("StoreReadOnly", "StoreReadOnly")
    assert (found["untouched"], found["whole"]) == (True, True)


def test_a_store_in_a_directory_that_cannot_be_written_is_refused(tmp_path: Path):
    found = told(start(PROGRAM, tmp_path / "memory.db", "directory", "closed", before=OWN_MOUNTS))
    assert found == {"open": "StoreReadOnly", "untouched": True, "whole": True}


def test_nothing_is_erased_when_the_list_of_erasures_cannot_be_written(tmp_path: Path):
    """The directory became read-only while the store was open: its own files are still at hand, the list is not."""
    found = told(start(PROGRAM, tmp_path / "memory.db", "directory", "open", before=OWN_MOUNTS))
    assert (found["read"], found["write"], found["erase"], found["whole"]) == ("done", "done", "StoreReadOnly", True)
