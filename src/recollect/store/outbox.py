"""Jobs as rows: put into the outbox with the write that wants them, claimed under a lease, advanced step by step."""

import json
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import assert_never

from recollect.domain import codec
from recollect.domain.ids import TenantId
from recollect.domain.job import Advance, Finish, Job, JobStatus, Leased, Step
from recollect.errors import LeaseLost
from recollect.store import rows
from recollect.store.tx import Outbox, Tx


def enqueue(tx: Tx, jobs: Sequence[Job]) -> None:
    """Once per (kind, key): a waiting job stays as it is, a running one runs again, a finished one starts anew."""
    tx.many(
        f"insert into jobs (tenant, step, state, attempts, again, {rows.JOB}) "
        f"values (:tenant, 0, '{{}}', 0, false, {rows.JOB_VALUES}) "
        "on conflict (tenant, kind, key) do update set "
        "again = jobs.lease_token is not null, "
        "step = case when jobs.done_at is null and jobs.failed_at is null then jobs.step else 0 end, "
        "state = case when jobs.done_at is null and jobs.failed_at is null then jobs.state else excluded.state end, "
        "payload = case when jobs.done_at is null and jobs.failed_at is null then jobs.payload else excluded.payload end, "
        "not_before = case when jobs.done_at is null and jobs.failed_at is null then jobs.not_before "
        "else excluded.not_before end, "
        "attempts = case when jobs.done_at is null and jobs.failed_at is null then jobs.attempts else 0 end, "
        "every_s = excluded.every_s, done_at = null, failed_at = null, last_error = null",
        [rows.job_columns(job) for job in sorted(jobs, key=lambda job: (job.kind, job.key))],
    )


def advance(tx: Tx, step: Step, at: datetime) -> None:
    """Move a job on, in the transaction of what the step did. Refused when the lease went to somebody else."""
    leased = step.lease
    match step:
        case Advance(_, state):
            moved = tx.run(
                "update jobs set step = step + 1, state = :state, attempts = 0 where tenant = :tenant and id = :id "
                "and lease_token = :token and step = :step",
                state=codec.canonical(state),
                id=leased.job.id,
                token=leased.token,
                step=leased.step,
            )
        case Finish():
            next_time = leased.job.not_before
            if leased.job.every:
                while next_time <= at:
                    next_time += leased.job.every
            moved = tx.run(
                "update jobs set step = 0, state = '{}', attempts = 0, lease_token = null, lease_until = null, "
                "not_before = :next, done_at = case when again or every_s is not null then null else :at end, "
                "again = false, last_error = null "
                "where tenant = :tenant and id = :id and lease_token = :token and step = :step",
                next=next_time,
                at=at,
                id=leased.job.id,
                token=leased.token,
                step=leased.step,
            )
        case _:
            assert_never(step)
    if not moved:
        raise LeaseLost(f"the job {leased.job.kind}/{leased.job.key} is held by another worker by now")


def claim(box: Outbox, *, now: datetime, lease: timedelta, kinds: Sequence[str], cap: int) -> Leased | None:
    """Take the job that has been due for longest, unless its tenant has `cap` running already."""
    token = os.urandom(16).hex()
    found = box.all(
        "update jobs set lease_token = :token, lease_until = :until, attempts = attempts + 1 "
        "where (tenant, id) in (select j.tenant, j.id from jobs j "
        "where j.done_at is null and j.failed_at is null and j.not_before <= :now and j.kind in :kinds[] "
        "and (j.lease_token is null or j.lease_until < :now) "
        "and (select count(*) from jobs r where r.tenant = j.tenant and r.lease_token is not null "
        "and r.lease_until >= :now) < :cap "
        "order by j.not_before, j.id limit 1) "
        f"returning tenant, step, state, attempts, {rows.JOB}",
        token=token,
        until=now + lease,
        now=now,
        kinds=list(kinds),
        cap=cap,
    )
    if not found:
        return None
    tenant, step, state, attempts, *job = found[0]
    return Leased(
        tenant=TenantId(tenant),
        job=rows.read_job(tuple(job)),
        step=step,
        state=json.loads(state),
        attempts=attempts,
        token=token,
        lease_until=now + lease,
    )


def renew(tx: Tx, leased: Leased, *, now: datetime, lease: timedelta) -> bool:
    return bool(
        tx.run(
            "update jobs set lease_until = :until where tenant = :tenant and id = :id and lease_token = :token",
            until=now + lease,
            id=leased.job.id,
            token=leased.token,
        )
    )


def give_up(tx: Tx, leased: Leased, *, error: str, now: datetime, retry_at: datetime | None) -> None:
    tx.run(
        "update jobs set lease_token = null, lease_until = null, last_error = :error, "
        "not_before = coalesce(:retry_at, not_before), failed_at = :failed_at "
        "where tenant = :tenant and id = :id and lease_token = :token",
        error=error[:500],
        retry_at=retry_at,
        failed_at=now if retry_at is None else None,
        id=leased.job.id,
        token=leased.token,
    )


def list_jobs(tx: Tx) -> list[JobStatus]:
    found = tx.all(
        f"select step, attempts, lease_token is not null, done_at, failed_at, last_error, {rows.JOB} from jobs "
        "where tenant = :tenant order by not_before, id"
    )
    return [
        JobStatus(
            tenant=tx.tenant,
            job=rows.read_job(tuple(job)),
            step=step,
            attempts=attempts,
            leased=bool(leased),
            done_at=rows.moment(done_at),
            failed_at=rows.moment(failed_at),
            last_error=last_error,
        )
        for step, attempts, leased, done_at, failed_at, last_error, *job in found
    ]
