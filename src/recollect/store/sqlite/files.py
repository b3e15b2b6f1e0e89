"""The files of a store that is open: whether they are still the ones that were opened.

SQLite holds on to a file that was removed, and writes to it: what is acknowledged then is gone with the process. While
a connection is open, SQLite itself neither removes nor replaces any of them."""

import os
import time
from pathlib import Path

from recollect.errors import StoreDamaged

_Mark = tuple[int, int] | None

_LONG_AGO = 2_500_000_000
"""Nanoseconds: more than the clock of any file system takes from one time to the next."""


class Files:
    """The database, its log and the index of the log, as they were when the store was opened."""

    def __init__(self, path: Path) -> None:
        self._paths = (str(path), f"{path}-wal", f"{path}-shm")
        # Where a link leads to another folder, or a folder tells no time of its changes, each file is looked at.
        self._folder = os.path.dirname(path) or "." if os.name == "posix" and not os.path.islink(path) else ""
        self._unchanged: tuple[int, int, int] | None = None
        self._marks: tuple[_Mark, ...] = self._look()

    def are_there(self) -> bool:
        """A look at the folder, and at each file where anything came or went in it since. One that was not there yet
        may come."""
        folder = self._state()
        if folder is not None and folder == self._unchanged:
            return True
        found = self._look()
        expected = tuple(mark or now for mark, now in zip(self._marks, found, strict=True))
        self._marks = expected
        there = found == expected
        settled = folder is not None and time.time_ns() - folder[2] > _LONG_AGO
        self._unchanged = folder if there and settled else None
        return there

    def _state(self) -> tuple[int, int, int] | None:
        """Which folder it is, and when anything last came or went in it: nobody can set that time."""
        if not self._folder:
            return None
        try:
            found = os.stat(self._folder)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino, found.st_ctime_ns

    def can_be_saved(self) -> bool:
        """Whether the log alone was removed, and nobody has written to another one: whoever opens the store begins
        one, empty."""
        database, log, _ = self._look()
        return database == self._marks[0] and (log is None or _empty(self._paths[1]))

    def _look(self) -> tuple[_Mark, ...]:
        return tuple(map(_mark, self._paths))


def _mark(path: str) -> _Mark:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _empty(path: str) -> bool:
    try:
        return os.stat(path).st_size == 0
    except FileNotFoundError:
        return True


def files_gone(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"a file of the store {path} was removed or replaced while it was open; nothing of this was kept",
        "Stop what has it open, keep all files beside it, and open it again: recollect doctor says how it stands.",
    )
