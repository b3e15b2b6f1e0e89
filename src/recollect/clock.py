"""The moment and the ids that come from it. The one place that reads the clock and draws random numbers."""

import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

from recollect.domain.ids import uuid7


class Clock(Protocol):
    def now(self) -> datetime: ...

    def mint(self) -> str: ...


class SystemClock:
    """Wall-clock time in UTC that never stands still or runs backwards within the process."""

    def __init__(self, read: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._read = read
        self._last = datetime.min.replace(tzinfo=UTC)
        self._lock = threading.Lock()

    def now(self) -> datetime:
        with self._lock:
            at = self._read()
            if at <= self._last:
                at = self._last + timedelta(microseconds=1)
            self._last = at
            return at

    def mint(self) -> str:
        """A new UUIDv7."""
        return uuid7(self._read(), os.urandom(10))
