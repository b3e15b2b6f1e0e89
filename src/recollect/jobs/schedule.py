"""The clockwork: which jobs come back by themselves, and at what time of day."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from recollect.clock import Clock
from recollect.domain.ids import JobId, TenantId, uuid7
from recollect.domain.job import Job
from recollect.jobs.kind import Kind
from recollect.jobs.kinds import KINDS
from recollect.ports import Store

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def ensure(store: Store, tenant: TenantId, now: datetime, kinds: Mapping[str, Kind] = KINDS) -> None:
    """See to it that the tenant's recurring jobs are in the outbox. Those that are there stay as they are."""
    store.enqueue(tenant, [recurring(tenant, name, kind.every, now) for name, kind in kinds.items() if kind.every])


class Schedule:
    """Sees to the recurring jobs of all tenants, those that come while it runs included, at most once in a while."""

    def __init__(self, store: Store, clock: Clock, every: timedelta = timedelta(minutes=1)) -> None:
        self._store, self._clock, self._every = store, clock, every
        self._seen: set[TenantId] = set()
        self._next: datetime | None = None

    def keep(self) -> None:
        now = self._clock.now()
        if self._next is not None and now < self._next:
            return
        self._next = now + self._every
        for tenant in set(self._store.tenants()) - self._seen:
            ensure(self._store, tenant, now)
            self._seen.add(tenant)


def recurring(tenant: TenantId, kind: str, every: timedelta, now: datetime) -> Job:
    """The tenant's own job of this kind, first due at the next of its times."""
    return Job(
        id=JobId(uuid7(now, _noise(tenant, kind))),
        kind=kind,
        key=kind,
        not_before=next_time(tenant, kind, every, now),
        every=every,
    )


def next_time(tenant: TenantId, kind: str, every: timedelta, now: datetime) -> datetime:
    """The first time after now. Each tenant has a time of its own for each kind, spread evenly over the period, so
    that a thousand tenants are not all due at midnight."""
    offset = timedelta(seconds=int.from_bytes(_noise(tenant, kind)) % max(1, int(every.total_seconds())))
    periods = (now - _EPOCH - offset) // every + 1
    return _EPOCH + offset + periods * every


def _noise(tenant: TenantId, kind: str) -> bytes:
    return sha256(f"{tenant} {kind}".encode()).digest()[:10]
