"""Jobs: what happens later. A job is a row in the outbox, written in the transaction that asked for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recollect.domain.ids import JobId, TenantId
from recollect.domain.text import name


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be done, once per (kind, key). The payload holds ids, never content: it outlives an erasure."""

    id: JobId
    kind: str
    key: str
    payload: Mapping[str, object] = field(default_factory=dict[str, object])
    not_before: datetime
    every: timedelta | None = None

    def __post_init__(self) -> None:
        name(self.kind, "the job's kind")
        name(self.key, "the job's key")
        if self.every is not None and self.every < timedelta(seconds=1):
            raise ValueError("a recurring job recurs at most once a second")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leased:
    """A job that one worker holds until the lease runs out. `token` proves the hold."""

    tenant: TenantId
    job: Job
    step: int
    state: Mapping[str, object]
    attempts: int
    token: str
    lease_until: datetime


@dataclass(frozen=True, slots=True)
class Advance:
    """The step is done; the next one starts from this state."""

    lease: Leased
    state: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Finish:
    """The job is done; a recurring one sleeps until its next time."""

    lease: Leased


Step = Advance | Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """How a job stands, for people."""

    tenant: TenantId
    job: Job
    step: int
    attempts: int
    leased: bool
    done_at: datetime | None
    failed_at: datetime | None
    last_error: str | None
