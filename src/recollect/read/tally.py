"""What was served is counted after the answer, many answers at a time: nobody waits for a count."""

import logging
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta

from recollect.clock import Clock
from recollect.domain.ids import TenantId
from recollect.domain.observation import Observation, Operation, Used
from recollect.errors import RecollectError, StoreError
from recollect.ports import Store

_log = logging.getLogger(__name__)

MOST = 500
LONGEST = timedelta(seconds=5)
KEPT = 20 * MOST
"""Observations of a tenant that wait while the store cannot be written; the oldest of more are let go."""


class Tally:
    """Observations that wait to be written. A program that dies takes the last of them along: they are counts, and
    nothing that anybody was told is kept. No answer is refused because a count cannot be written: on a full disk they
    wait for room."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._guard = threading.Lock()
        self._waiting: dict[TenantId, list[Observation]] = {}
        self._since: datetime | None = None
        self._refused: datetime | None = None

    def add(self, tenant: TenantId, observations: Sequence[Observation]) -> None:
        """Counts are written with the next ones; what decides about the next answer is written at once."""
        urgent = any(not isinstance(one, Used | Operation) for one in observations)
        with self._guard:
            self._waiting.setdefault(tenant, []).extend(observations)
            now = self._clock.now()
            self._since = self._since or now
            full = sum(map(len, self._waiting.values())) >= MOST or now - self._since >= LONGEST
            refused = self._refused is not None and now - self._refused < LONGEST
        if (urgent or full) and not refused:
            self.flush()

    def flush(self) -> None:
        """Write what waits, tenant by tenant: what cannot be written of one is no matter of another."""
        with self._guard:
            waiting, self._waiting, self._since, self._refused = self._waiting, {}, None, None
        for tenant, observations in waiting.items():
            try:
                self._store.observe(tenant, observations)
            except StoreError:
                self._keep(tenant, observations)
            except RecollectError as error:
                _log.warning("what was served to %s is not counted: %s", tenant, type(error).__name__)

    def _keep(self, tenant: TenantId, observations: Sequence[Observation]) -> None:
        with self._guard:
            self._waiting[tenant] = [*observations, *self._waiting.get(tenant, ())][-KEPT:]
            self._since = self._refused = self._clock.now()
