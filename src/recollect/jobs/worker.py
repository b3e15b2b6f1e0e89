"""Workers: each takes a job that is due, does its next step, and looks for another. Any number may run, in threads
and processes, on one machine or many: the store keeps them apart."""

import logging
import random
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from recollect.care import erase
from recollect.custody import Deps
from recollect.domain.ids import TenantId
from recollect.domain.job import Leased
from recollect.domain.scope import Actor, Role
from recollect.errors import LeaseLost, RecollectError, Stale
from recollect.jobs import retry
from recollect.jobs.kind import Erasure, Kind, Outcome, Write, cause
from recollect.jobs.lease import held

log = logging.getLogger("recollect.jobs")

_LOOKS = 4  # how often a step looks again at once when memory changed under it
_PATIENCE_S = 5.0
_LOOK_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Does jobs of the kinds it knows and leaves all others alone.

    `lease`: for how long a job is its own unless it renews. `cap`: how many jobs of one tenant run at a time, over
    all workers. `poll`: seconds between two looks when nothing is due. `chance`: a number from 0 to 1, for jitter.
    """

    deps: Deps
    kinds: Mapping[str, Kind]
    name: str
    lease: timedelta = timedelta(seconds=60)
    cap: int = 2
    poll: float = 1.0
    chance: Callable[[], float] = random.random
    prepare: Callable[[], None] = lambda: None
    """Called before each look for a job."""

    def run(self, stop: threading.Event) -> None:
        """Work until told to stop; the step at hand is finished first. A store that is away is waited for."""
        while not stop.is_set():
            try:
                self.prepare()
                busy = self.run_once()
            except RecollectError as error:
                log.warning("%s cannot reach its jobs: %s", self.name, error)
                busy = False
            if not busy:
                stop.wait(self.poll)

    def run_until_idle(self) -> int:
        """Work until nothing is due: how many steps that took."""
        steps = 0
        while self.run_once():
            steps += 1
        return steps

    def run_until_done(self, tenant: TenantId, keys: Collection[str]) -> None:
        """Work, or wait for who has the job, until none of its kinds about one of these is to be done; not for long:
        others may have left more to do than one wants to wait for. It never fails: the outbox keeps what is left, and
        what was written before stays written."""
        until = time.monotonic() + _PATIENCE_S
        try:
            while keys and self._open(tenant, keys) and time.monotonic() < until:
                if not self.run_once():
                    time.sleep(_LOOK_S)
        except RecollectError as error:
            log.warning("what follows from this has to wait: %s", error)

    def _open(self, tenant: TenantId, keys: Collection[str]) -> bool:
        return any(
            status.job.kind in self.kinds and status.job.key in keys and not status.failed_at and not status.last_error
            for status in self.deps.store.jobs(tenant, open_only=True)
        )

    def run_once(self) -> bool:
        """Do one step of the job that has been due for longest; False when none is."""
        leased = self.deps.store.claim(
            self.name, now=self.deps.clock.now(), lease=self.lease, kinds=list(self.kinds), cap=self.cap
        )
        if leased is None:
            return False
        kind = self.kinds[leased.job.kind]
        if leased.attempts > kind.attempts:
            # A failure would have parked it: whoever tried it last did not live to report one.
            self._give_up(kind, leased, "the workers that tried this step did not survive it")
            return True
        try:
            with held(self.deps.store, self.deps.clock, leased, self.lease):
                self._step(kind, leased)
        except LeaseLost as lost:
            log.warning("%s wrote nothing: %s", self.name, lost.what)
        except Exception as error:  # whatever a step fails of, it is on record and the other jobs go on
            log.exception("%s failed at step %d of %s", self.name, leased.step, _title(leased))
            self._give_up(kind, leased, retry.told(error))
        return True

    def _step(self, kind: Kind, leased: Leased) -> None:
        """Decide and write; decide again where memory has moved on in between."""
        for look in range(1, _LOOKS + 1):
            outcome = kind.run(self.deps, leased)
            try:
                self._write(leased, outcome)
                return
            except Stale:
                if look == _LOOKS:
                    raise

    def _write(self, leased: Leased, outcome: Outcome) -> None:
        store, at = self.deps.store, self.deps.clock.now()
        actor = Actor(id=f"job:{leased.job.kind}", role=Role.ADMIN)
        match outcome:
            case Write():
                store.apply(
                    outcome.scope,
                    outcome.changes,
                    actor=actor,
                    at=at,
                    cause=cause(leased),
                    expect=outcome.expect,
                    then=outcome.then,
                    vectors=outcome.vectors,
                    private=outcome.private,
                    step=outcome.step,
                )
            case Erasure():
                # The list of erasures cannot be taken back: a worker that lost its job must not write to it.
                if not store.renew(leased, now=at, lease=self.lease):
                    raise LeaseLost(f"the lease of the job {_title(leased)} has run out")
                erase.wipe_out(
                    store,
                    self.deps.erasures,
                    outcome.scope,
                    outcome.wipe,
                    actor=actor,
                    at=at,
                    reason=outcome.reason,
                    cause=cause(leased),
                    expect=outcome.expect,
                    then=outcome.then,
                    step=outcome.step,
                )
            case _:
                assert_never(outcome)

    def _give_up(self, kind: Kind, leased: Leased, error: str) -> None:
        now = self.deps.clock.now()
        last = leased.attempts >= kind.attempts
        wait = retry.delay(leased.attempts, self.chance())
        self.deps.store.give_up(leased, error=error, now=now, retry_at=None if last else now + wait)


def _title(leased: Leased) -> str:
    return f"{leased.job.kind}/{leased.job.key} of {leased.tenant}"
