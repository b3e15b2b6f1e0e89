"""What was served is counted after the answer, many answers at a time: nobody waits for a count."""

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta

from recollect.clock import Clock
from recollect.domain.ids import TenantId
from recollect.domain.observation import Observation, Operation, Used
from recollect.ports import Store

MOST = 500
LONGEST = timedelta(seconds=5)


class Tally:
    """Observations that wait to be written. A program that dies takes the last of them along: they are counts, and
    nothing that anybody was told is kept."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._guard = threading.Lock()
        self._waiting: dict[TenantId, list[Observation]] = {}
        self._since: datetime | None = None

    def add(self, tenant: TenantId, observations: Sequence[Observation]) -> None:
        """Counts are written with the next ones; what decides about the next answer is written at once."""
        urgent = any(not isinstance(one, Used | Operation) for one in observations)
        with self._guard:
            self._waiting.setdefault(tenant, []).extend(observations)
            now = self._clock.now()
            self._since = self._since or now
            full = sum(map(len, self._waiting.values())) >= MOST or now - self._since >= LONGEST
        if urgent or full:
            self.flush()

    def flush(self) -> None:
        with self._guard:
            waiting, self._waiting, self._since = self._waiting, {}, None
        for tenant, observations in waiting.items():
            self._store.observe(tenant, observations)
