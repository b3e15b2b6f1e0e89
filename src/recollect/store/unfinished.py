"""Files in the making: beside what they become, for their owner's eyes only, under a name that nobody else has."""

import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

PART = "part"
_BESIDE = ("", "-wal", "-shm", "-journal", "-turn")
_NAME = re.compile(r"\.(\d{1,10})-[0-9a-f]{16}\.[a-z]{4,12}(?:-(?:wal|shm|journal|turn))?")


@contextmanager
def unfinished(target: Path, ending: str = PART) -> Generator[Path]:
    """A path beside the target that is free, to build at. What is left there when the block ends is removed, and so is
    what processes of ours left that came to an end before; what somebody else put there is not touched."""
    clear_left_over(target, ending)
    part = target.with_name(f"{target.name}.{os.getpid()}-{os.urandom(8).hex()}.{ending}")
    try:
        yield part
    finally:
        for beside in _BESIDE:
            part.with_name(part.name + beside).unlink(missing_ok=True)


def create(path: Path) -> int:
    """A file that was not there, open for writing. What is there already, be it a link, is neither followed nor
    overwritten: that is a FileExistsError."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)


def put_in_place(part: Path, target: Path) -> None:
    """The whole file under its name, which must be free: a FileExistsError where somebody took it meanwhile."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a file system that knows no second names
        if os.path.lexists(target):
            raise FileExistsError(17, "it is there already", str(target)) from None
        part.rename(target)
    sync_directory(target.parent)


def sync_directory(path: Path) -> None:
    """A name is durable only once its directory is. Windows opens no directories."""
    if os.name == "nt":
        return
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def clear_left_over(target: Path, ending: str = PART) -> list[Path]:
    """Remove what was left when a process was killed while it built the target: files of ours, by their names, whose
    process is no more."""
    removed: list[Path] = []
    with suppress(OSError):
        for file in target.parent.iterdir():
            name = file.name
            made = name.startswith(target.name) and _NAME.fullmatch(name, len(target.name))
            if made and f".{ending}" in name[len(target.name) :] and _is_ours(file) and not _runs(int(made[1])):
                file.unlink(missing_ok=True)
                removed.append(file)
    return removed


def _is_ours(file: Path) -> bool:
    found = file.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_uid == getattr(os, "geteuid", lambda: found.st_uid)()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's: it runs
        return True
    return True
