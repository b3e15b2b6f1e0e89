"""Jobs as rows: put into the outbox with the write that wants them, claimed under a lease, advanced step by step.

A lease is for one step. `lease_until` means that nobody takes the job before then: it is held by the worker with the
token, or it waits out a failure. `not_before` is the time that was asked for, so a failure never moves a schedule.
"""

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import assert_never

from recollect.domain import codec
from recollect.domain.ids import TenantId
from recollect.domain.job import Advance, Finish, Job, JobStatus, Leased, Step
from recollect.errors import LeaseLost
from recollect.store import rows, turns
from recollect.store.tx import Outbox, Row, Tx

_OPEN = "jobs.done_at is null and jobs.failed_at is null"
_HELD = "tenant = :tenant and id = :id and lease_token = :token"
_FREE = (
    "{0}.done_at is null and {0}.failed_at is null and {0}.not_before <= :now "
    "and ({0}.lease_until is null or {0}.lease_until <= :now)"
)


def enqueue(tx: Tx, jobs: Sequence[Job]) -> None:
    """Once per (kind, key): a waiting job stays as it is, a running one runs again, a finished one starts anew under
    the new id. A recurring one comes back by itself and does not run again for being asked."""
    kept = ", ".join(
        f"{name} = case when {_OPEN} then jobs.{name} else excluded.{name} end"
        for name in ("id", "payload", "not_before", "step", "state", "attempts", "last_error")
    )
    tx.many(
        f"insert into jobs (tenant, step, state, attempts, again, {rows.JOB}) "
        f"values (:tenant, 0, '{{}}', 0, false, {rows.JOB_VALUES}) "
        f"on conflict (tenant, kind, key) do update set {kept}, "
        f"again = {_OPEN} "
        # between two steps, and while it waits out a failure, it is running too
        "and (jobs.again or jobs.step > 0 or jobs.lease_token is not null), "
        "every_s = excluded.every_s, done_at = null, failed_at = null",
        [rows.job_columns(job) for job in sorted(jobs, key=lambda job: (job.kind, job.key))],
    )


def advance(tx: Tx, step: Step, at: datetime) -> None:
    """Move a job on and let go of it, in the transaction of what the step did. Refused when the lease has run out:
    somebody else may have the job by now."""
    match step:
        case Advance(leased, state, not_before):
            moved = tx.run(
                "update jobs set step = step + 1, state = :state, attempts = 0, last_error = null, "
                "not_before = :not_before, lease_token = null, lease_until = null "
                f"where {_HELD} and step = :step and lease_until > :at",
                state=codec.canonical(state),
                not_before=not_before or leased.job.not_before,
                id=leased.job.id,
                token=leased.token,
                step=leased.step,
                at=at,
            )
        case Finish(leased):
            moved = tx.run(
                "update jobs set step = 0, state = '{}', attempts = 0, last_error = null, lease_token = null, "
                "lease_until = null, again = false, "
                "not_before = case when every_s is not null then :next when again then :at else not_before end, "
                "done_at = case when again or every_s is not null then null else :at end "
                f"where {_HELD} and step = :step and lease_until > :at",
                next=_next_time(leased.job, at),
                id=leased.job.id,
                token=leased.token,
                step=leased.step,
                at=at,
            )
        case _:
            assert_never(step)
    if not moved:
        raise LeaseLost(f"the lease of the job {leased.job.kind}/{leased.job.key} has run out")


def _next_time(job: Job, at: datetime) -> datetime:
    """The first time after this moment that the job's schedule names. Times that were missed are not made up for."""
    if job.every is None or at < job.not_before:
        return job.not_before
    return job.not_before + job.every * ((at - job.not_before) // job.every + 1)


def claim(box: Outbox, *, now: datetime, lease: timedelta, kinds: Sequence[str], cap: int) -> Leased | None:
    """Take the job that has been due for longest, unless its tenant has `cap` running already. One that cannot be read
    is parked for people: every worker would stop at it."""
    while True:
        token = os.urandom(16).hex()
        row = _claimed(box, token, now, lease, kinds, cap)
        if row is None:
            return None
        tenant, step, state, attempts, *job = row
        try:
            return Leased(
                tenant=TenantId(tenant),
                job=rows.read_job(tuple(job)),
                step=step,
                state=rows.read_object(state),
                attempts=attempts,
                token=token,
                lease_until=now + lease,
            )
        except ValueError as error:
            box.all(
                "update jobs set lease_token = null, lease_until = null, failed_at = :now, last_error = :error "
                "where tenant = :tenant and id = :id and lease_token = :token returning id",
                now=now,
                error=f"its row cannot be read: {error}"[:500],
                tenant=tenant,
                id=job[0],
                token=token,
            )


def _claimed(box: Outbox, token: str, now: datetime, lease: timedelta, kinds: Sequence[str], cap: int) -> Row | None:
    # Whether it is free is asked twice: where rows are locked one by one, it may have been finished since the first.
    # It is `=` and not `in`: PostgreSQL would ask the inner question once for every job there is.
    found = box.all(
        "update jobs set lease_token = :token, lease_until = :until, attempts = attempts + 1 "
        "where (tenant, id) = (select j.tenant, j.id from jobs j "
        f"where {_FREE.format('j')} and j.kind in :kinds[] and j.tenant not in (select r.tenant from jobs r "
        "where r.lease_token is not null and r.lease_until > :now and r.done_at is null and r.failed_at is null "
        "group by r.tenant having count(*) >= :cap) "
        f"order by j.not_before, j.id limit 1) and {_FREE.format('jobs')} "
        f"returning tenant, step, state, attempts, {rows.JOB}",
        token=token,
        until=now + lease,
        now=now,
        kinds=list(kinds),
        cap=cap,
    )
    return found[0] if found else None


def renew(tx: Tx, leased: Leased, *, now: datetime, lease: timedelta) -> bool:
    return bool(
        tx.run(
            f"update jobs set lease_until = :until where {_HELD} and lease_until > :now",
            until=now + lease,
            now=now,
            id=leased.job.id,
            token=leased.token,
        )
    )


def give_up(tx: Tx, leased: Leased, *, error: str, now: datetime, retry_at: datetime | None) -> None:
    """Let go of a job whose step failed. Without a time to try again it is parked; a recurring one starts anew at
    its next time instead."""
    if retry_at is None and leased.job.every is not None:
        tx.run(
            "update jobs set lease_token = null, lease_until = null, last_error = :error, "
            f"step = 0, state = '{{}}', attempts = 0, again = false, not_before = :next where {_HELD}",
            error=error[:500],
            next=_next_time(leased.job, now),
            id=leased.job.id,
            token=leased.token,
        )
        return
    tx.run(
        "update jobs set lease_token = null, lease_until = :retry_at, last_error = :error, failed_at = :failed_at "
        f"where {_HELD}",
        error=error[:500],
        retry_at=retry_at,
        failed_at=now if retry_at is None else None,
        id=leased.job.id,
        token=leased.token,
    )


def tidy(tx: Tx, before: datetime) -> int:
    """Forget receipts, turns, and jobs that were done, from before then. Parked jobs wait for a person."""
    receipts = tx.run("delete from receipts where tenant = :tenant and at < :before", before=before)
    jobs = tx.run("delete from jobs where tenant = :tenant and done_at < :before", before=before)
    return receipts + jobs + turns.forget(tx, before)


def list_jobs(tx: Tx, open_only: bool = False, key: str | None = None) -> list[JobStatus]:
    where = ["tenant = :tenant", *(["done_at is null"] if open_only else []), *(["key = :key"] if key else [])]
    found = tx.all(
        f"select step, state, attempts, lease_token is not null, done_at, failed_at, last_error, {rows.JOB} from jobs "
        f"where {' and '.join(where)} order by not_before, id",
        **({"key": key} if key else {}),
    )
    return [_status(tx, row) for row in found]


def _status(tx: Tx, row: Row) -> JobStatus:
    """What cannot be read of it is left out: who comes to do it parks it."""
    step, state, attempts, leased, done_at, failed_at, last_error, id, kind, key, payload, *when = row
    readable = {text: _is_object(text) for text in (payload, state)}
    return JobStatus(
        tenant=tx.tenant,
        job=rows.read_job((id, kind, key, payload if readable[payload] else "{}", *when)),
        step=step,
        attempts=attempts,
        leased=bool(leased),
        done_at=rows.moment(done_at),
        failed_at=rows.moment(failed_at),
        last_error=last_error,
        state=rows.read_object(state) if readable[state] else {},
        readable=all(readable.values()),
    )


def _is_object(text: str) -> bool:
    try:
        rows.read_object(text)
    except ValueError:
        return False
    return True
