"""One SQLite store takes the place of another. The old one is set aside, never removed."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import cast

import apsw

from recollect.errors import NotAStore, StoreBusy
from recollect.store.sqlite.engine import Connection, recognise, typed
from recollect.store.sqlite.turn import Turnstile
from recollect.store.unfinished import create, sync_directory, unfinished

_PATIENCE = 2.0


@contextmanager
def workbench(target: Path) -> Generator[Path]:
    """A path beside the target to build its successor at. What is left there when the block ends is removed."""
    with unfinished(target, "restoring") as bench:
        yield bench


def copy_store(source: Path, to: Path) -> None:
    """A copy of a store or a backup, which itself is only read."""
    if not source.exists():
        raise NotAStore(f"there is no backup at {source}", "Check the name.")
    with typed(source):
        recognise(source, create=False)
    if source.stat().st_size == 0:
        raise NotAStore(f"{source} is empty", "Restore another one.")
    with typed(source):
        os.close(create(to))
        reader = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
        writer = apsw.Connection(str(to))
        try:
            with writer.backup("main", reader, "main") as work:
                while not work.done:
                    work.step(1000)
        finally:
            writer.close()
            reader.close()


def put_in_place(built: Path, target: Path, at: datetime) -> Path | None:
    """The built store under the target's name, in one step. Where the old one is now, if there was one.

    Refused while another process has the old one open.
    """
    if built.with_name(built.name + "-wal").exists():
        raise StoreBusy(f"{built} is still open", "Try again.")
    with typed(target):
        if not target.exists():
            _set_logs_aside(target, _free_name(target, at))
            built.replace(target)
            sync_directory(target.parent)
            return None
        aside = _free_name(target, at)
        with _alone_with(target):
            _set_logs_aside(target, aside)
            _give_second_name(target, aside)
            built.replace(target)
            sync_directory(target.parent)
        return aside


@contextmanager
def _alone_with(path: Path) -> Generator[None]:
    """The store, with nobody else in it. Leaving WAL mode is granted only to a connection that is the last one, and
    brings the log into the file: what is set aside is one file and whole. A damaged store has no log worth asking."""
    turnstile = Turnstile(path.with_name(path.name + "-turn"))
    try:
        with turnstile.pass_through(_PATIENCE) as passed:
            if not passed:
                raise _in_use(path)
            connection = cast(Connection, apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE))
            try:
                _close_to_others(connection, path)
                yield
            finally:
                connection.close()
    finally:
        turnstile.close()


def _close_to_others(connection: Connection, path: Path) -> None:
    connection.set_busy_timeout(int(_PATIENCE * 1000))
    try:
        connection.execute("pragma journal_mode = delete").fetchall()
        connection.execute("begin exclusive")
    except (apsw.BusyError, apsw.LockedError):
        raise _in_use(path) from None
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError):
        pass


def _in_use(path: Path) -> StoreBusy:
    return StoreBusy(f"another process has {path} open", "Stop it, then restore again.")


def _set_logs_aside(target: Path, aside: Path) -> None:
    """A log that is left over would be read into the new store."""
    for ending in ("-wal", "-shm", "-journal"):
        log = target.with_name(target.name + ending)
        if log.exists():
            log.rename(aside.with_name(aside.name + ending))


def _give_second_name(target: Path, aside: Path) -> None:
    """The old store under both names, so that there is no moment without a store; on a file system that knows no
    second names, it is moved."""
    try:
        os.link(target, aside)
    except OSError:
        target.rename(aside)


def _free_name(target: Path, at: datetime) -> Path:
    name = f"{target.name}.replaced-{at:%Y%m%dT%H%M%SZ}"
    tries = (target.with_name(name if not n else f"{name}-{n}") for n in range(1000))
    return next(path for path in tries if not path.exists())
