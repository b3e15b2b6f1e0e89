"""Whose turn it is to write: first come, first served within a process; between processes, nobody twice in a row
while another waits for long.

SQLite lets writers poll for its lock, so one of many can wait for ever. Here a writer first takes a turnstile (an
advisory lock on a file beside the database), then SQLite's own lock, then lets the next one into the turnstile. Who is
through the turnstile is not overtaken, and who has just written has to queue for it like everybody else.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock alone keeps writers apart there
    fcntl = None


class Queue:
    """A lock that serves its waiters in the order they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Event] = deque()

    def take(self, patience: float) -> bool:
        with self._lock:
            if not self._held:
                self._held = True
                return True
            called = threading.Event()
            self._waiting.append(called)
        if called.wait(patience):
            return True
        with self._lock:
            if called in self._waiting:
                self._waiting.remove(called)
                return False
        return True  # called in the moment of giving up

    def leave(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False


class Turnstile:
    """The lock between processes."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @contextmanager
    def pass_through(self, patience: float) -> Generator[bool]:
        """Holds the turnstile while the block runs; False when patience ran out first."""
        if fcntl is None:
            yield True
            return
        if not self._take(patience):
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _take(self, patience: float) -> bool:
        assert fcntl is not None
        deadline = time.monotonic() + patience
        pause = 0.0002
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(pause)
                pause = min(pause * 1.5, 0.005)

    def close(self) -> None:
        os.close(self._file)
