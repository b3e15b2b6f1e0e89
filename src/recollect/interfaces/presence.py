"""Where the server of a store is: a file beside the store, locked by its server for as long as that lives.

Little of the standard library and nothing else: the hook reads this before every prompt.
"""

import json
import os
import time
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

ENDING = ".server"
_CLAIMS, _PAUSE = 20, 0.01  # somebody who looks whether the file is locked holds it for a moment


class Presence(NamedTuple):
    """A server that runs: where it answers, with which token, as which process."""

    address: str
    token: str
    pid: int
    version: str


def beside(sidecar: object) -> str:
    """The file's name, from the name that files beside the store start with."""
    return f"{sidecar}{ENDING}"


def find(path: str) -> Presence | None:
    """The server that holds this file. A file that nobody holds was left by one that crashed: there is none."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        if not _held(file):
            return None
        return _read(file)
    finally:
        os.close(file)


def wait(path: str, seconds: float) -> Presence | None:
    """The server, once it is there; None when it is not in time."""
    end = time.monotonic() + seconds
    while (found := find(path)) is None and time.monotonic() < end:
        time.sleep(0.02)
    return found


class Claim:
    """The file in the hands of the one server. It says where the server is from `announce` until `release`."""

    def __init__(self, path: str, file: int) -> None:
        self._path, self._file = path, file

    def announce(self, presence: Presence) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, (json.dumps(presence._asdict()) + "\n").encode(), 0)
        os.fsync(self._file)

    def release(self) -> None:
        # Removed while it is held: whoever opened it meanwhile sees that the name has gone, and looks again.
        if _is_at(self._path, self._file):
            os.unlink(self._path)
        os.close(self._file)


def claim(path: str) -> Claim | None:
    """The right to be the server of this store, or None where another one has it. What a crash left is taken over."""
    if fcntl is None:
        raise OSError("a server needs a system whose files can be locked (flock)")
    for _ in range(_CLAIMS):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            time.sleep(_PAUSE)
            continue
        if _is_at(path, file):
            os.fchmod(file, 0o600)
            os.ftruncate(file, 0)
            return Claim(path, file)
        os.close(file)
    return None


def _held(file: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _read(file: int) -> Presence | None:
    try:
        told = json.loads(os.pread(file, 65_536, 0))
        return Presence(str(told["address"]), str(told["token"]), int(told["pid"]), str(told["version"]))
    except (ValueError, KeyError, TypeError):
        return None  # it is just starting


def _is_at(path: str, file: int) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    here = os.fstat(file)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
