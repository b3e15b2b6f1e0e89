"""Jobs: what happens later. A job is a row in the outbox, written in the transaction that asked for it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

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
    """The step is done; the next one starts from this state, and with `not_before` not ahead of what is due by then."""

    lease: Leased
    state: Mapping[str, object]
    not_before: datetime | None = None


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
    state: Mapping[str, object] = field(default_factory=dict[str, object])
    """What its next step starts from."""
    readable: bool = True
    """Whether its row is one that a Recollect wrote."""

    @property
    def progress(self) -> tuple[int, int] | None:
        """How much of how much is done, where the job counts it: of messages to read, for one."""
        done = self.state.get("done", 0)
        total = self.state.get("total")
        if self.job.kind == "extract":
            total = len(cast(Sequence[str], self.job.payload.get("events", ())))
        return (done, total) if isinstance(done, int) and isinstance(total, int) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What jobs have still to make of messages. `messages`: so many are to be read, and will be. `jobs`: so much is to
    be done besides, such as to compare new memories with others. `parked`: so many messages nobody reads before a
    person looks. `why`: what was wrong the last time that something failed."""

    messages: int = 0
    jobs: int = 0
    parked: int = 0
    why: str = ""

    @property
    def left(self) -> int:
        return self.messages

    @property
    def besides(self) -> int:
        return self.jobs

    @property
    def settled(self) -> bool:
        """Whether nothing more will come of it by itself."""
        return not self.messages and not self.jobs


_READS = "extract"
_FOLLOWS = ("embed", "judge")


def pending(jobs: Iterable[JobStatus]) -> Pending:
    """How far jobs have come with what was taken in."""
    messages = others = parked = 0
    why = ""
    for status in jobs:
        if status.done_at or status.job.kind not in (_READS, *_FOLLOWS):
            continue
        done, total = status.progress or (0, 0)
        messages += 0 if status.failed_at else total - done
        parked += total - done if status.failed_at else 0
        others += status.job.kind in _FOLLOWS and not status.failed_at
        why = status.last_error or why
    return Pending(messages=messages, jobs=others, parked=parked, why=why)
