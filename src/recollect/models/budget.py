"""How many tokens of a language model each tenant may use in a day."""

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from threading import Lock

from recollect.domain.ids import TenantId
from recollect.errors import ModelFailed


@dataclass(slots=True)
class Bill:
    """What one question costs: what is set aside for it, then what it came to."""

    tokens: int


class TokenBudget:
    """Counts tokens per tenant and UTC day, in this process. What a question may cost is set aside before it is asked,
    so that questions asked at once do not exceed the budget together."""

    def __init__(self, per_day: int, now: Callable[[], datetime]) -> None:
        self._per_day, self._now = per_day, now
        self._lock = Lock()
        self._day: date | None = None
        self._used: Counter[TenantId] = Counter()

    @contextmanager
    def spend(self, tenant: TenantId, most: int) -> Generator[Bill]:
        """Sets `most` tokens aside; the bill, as the caller leaves it, is what was used. Raises ModelFailed when the
        tenant's day has not as many left."""
        with self._lock:
            day = self._today()
            left = self._per_day - self._used[tenant]
            if most > left:
                raise ModelFailed(
                    f"tenant {tenant} has {max(left, 0):,} of {self._per_day:,} tokens left today; {most:,} are needed",
                    "Wait for the next day (UTC), or raise writer_tokens.",
                )
            self._used[tenant] += most
        bill = Bill(most)
        try:
            yield bill
        finally:
            with self._lock:
                if self._today() == day:  # what was set aside yesterday was forgotten with yesterday
                    self._used[tenant] += max(bill.tokens, 0) - most

    def used(self, tenant: TenantId) -> int:
        """Tokens of today, with those that are set aside at the moment."""
        with self._lock:
            self._today()
            return self._used[tenant]

    def _today(self) -> date:
        day = self._now().astimezone(UTC).date()
        if day != self._day:
            self._day = day
            self._used.clear()
        return day
