"""Kinds of jobs: what a step is given, what it decides, and how patient one is with it.

A step gathers and decides; the worker writes what it decided and moves the job on in the same transaction. Whatever
happens to the worker, a step is therefore done once, or not yet.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256

from recollect.care.erase import Wipe
from recollect.custody import Deps
from recollect.domain.change import Change
from recollect.domain.ids import CauseId, EventId, ItemId, Rev, uuid7
from recollect.domain.job import Job, Leased, Step
from recollect.domain.scope import Scope
from recollect.holdings import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Changes to memory, none at all among them, and where the job goes from here."""

    scope: Scope
    step: Step
    changes: Sequence[Change] = ()
    expect: Mapping[ItemId, Rev] = field(default_factory=dict[ItemId, Rev])
    vectors: Sequence[Vector] = ()
    private: Sequence[EventId] = ()
    then: Sequence[Job] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Content to erase for good, at the revisions it was found at, and where the job goes from here."""

    scope: Scope
    step: Step
    wipe: Wipe
    expect: Mapping[ItemId, Rev]
    reason: str
    then: Sequence[Job] = ()


Outcome = Write | Erasure
Handler = Callable[[Deps, Leased], Outcome]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a job of this kind does in a step, how often a step is tried, and how often the job comes back.

    A job whose step was tried `attempts` times in vain is parked until a person looks at it; one that recurs waits
    for its next time instead.
    """

    run: Handler
    attempts: int = 10
    every: timedelta | None = None


def cause(leased: Leased) -> CauseId:
    """What the entries of a job name as their cause: the job's id, or for a recurring one an id of this very run,
    so that a rollback takes back one night and not all of them."""
    job = leased.job
    if job.every is None:
        return CauseId(job.id)
    run = sha256(f"{job.id} {job.not_before.isoformat()}".encode()).digest()
    return CauseId(uuid7(job.not_before, run[:10]))
