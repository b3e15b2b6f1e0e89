"""The outbox: once per kind and key, held under a lease, moved on in the transaction of what a step did."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from uuid import uuid4

import pytest

from recollect.domain.change import Create
from recollect.domain.job import Advance, Finish, Job, Leased
from recollect.errors import LeaseLost, Unreadable
from recollect.holdings import Receipt
from recollect.store.postgres.engine import PostgresEngine
from tests.worlds import World

LEASE = timedelta(seconds=30)


@pytest.fixture
def kind() -> str:
    """A kind of job that no other test has: workers serve all tenants of a store."""
    return f"tidy-{uuid4().hex[:8]}"


def claim(world: World, kind: str, *, at=None, cap: int = 10) -> Leased | None:
    now = at or world.clock.now()
    return world.store.claim("worker", now=now, lease=LEASE, kinds=[kind], cap=cap)


def queued(world: World, kind: str, key: str = "all", **fields: object) -> Job:
    job = world.job(kind, key, **fields)
    world.store.enqueue(world.tenant, [job])
    return job


def status(world: World):
    [found] = world.store.jobs(world.tenant)
    return found


def test_a_job_is_claimed_whole(world: World, kind: str):
    job = queued(world, kind, payload={"items": ["a", "b"]}, every=timedelta(minutes=90))
    now = world.clock.now()
    leased = claim(world, kind, at=now)
    assert leased == Leased(
        tenant=world.tenant, job=job, step=0, state={}, attempts=1, token=leased.token, lease_until=now + LEASE
    )
    found = status(world)
    assert (found.job, found.leased, found.attempts, found.done_at) == (job, True, 1, None)


@pytest.mark.parametrize("column", ["payload", "state", "not_before"])
def test_a_job_that_cannot_be_read_is_parked_and_the_next_is_done(world: World, kind: str, column: str):
    """Jobs are in no chain: whoever has the file can write anything there, and no worker may stop at it."""
    bad, good = queued(world, kind, "bad"), queued(world, kind, "good")
    never = "'-infinity'" if isinstance(world.store._engine, PostgresEngine) else "-(9e17)"
    odd = never if column == "not_before" else "'[7]'"
    with world.store._engine.write(world.tenant) as tx:
        tx.run(f"update jobs set {column} = {odd} where tenant = :tenant and id = :id", id=bad.id)
    assert claim(world, kind).job == good
    assert claim(world, kind) is None
    if column == "not_before":
        with pytest.raises(Unreadable):
            world.store.jobs(world.tenant)
        return
    [parked] = [found for found in world.store.jobs(world.tenant) if found.job.id == bad.id]
    assert parked.failed_at
    assert not parked.leased
    assert "cannot be read" in parked.last_error


def test_a_job_is_held_by_one_worker_until_its_lease_runs_out(world: World, kind: str):
    queued(world, kind)
    now = world.clock.now()
    first = claim(world, kind, at=now)
    assert claim(world, kind, at=now + LEASE - timedelta(seconds=1)) is None
    second = claim(world, kind, at=now + LEASE + timedelta(seconds=1))
    assert second.attempts == 2
    assert second.token != first.token


def test_a_job_is_not_claimed_before_its_time_nor_by_a_worker_of_other_kinds(world: World, kind: str):
    now = world.clock.now()
    queued(world, kind, not_before=now + timedelta(seconds=10))
    assert claim(world, kind, at=now + timedelta(seconds=9)) is None
    assert claim(world, kind + "x", at=now + timedelta(seconds=10)) is None
    assert claim(world, kind, at=now + timedelta(seconds=10)) is not None


def test_the_job_that_is_due_for_longest_comes_first(world: World, kind: str):
    now = world.clock.now()
    for key, late in (("b", 2), ("c", 3), ("a", 1)):
        queued(world, kind, key, not_before=now - timedelta(seconds=late))
    assert [claim(world, kind, at=now).job.key for _ in range(3)] == ["c", "b", "a"]


def test_a_tenant_has_no_more_jobs_running_than_its_cap(found: Callable[[], World], kind: str):
    busy, quiet = found(), found()
    for key in "abc":
        queued(busy, kind, key, not_before=busy.clock.now() - timedelta(hours=1))
    queued(quiet, kind)
    now = quiet.clock.now() + timedelta(seconds=5)
    taken = [claim(busy, kind, at=now, cap=2) for _ in range(4)]
    assert [leased and leased.tenant for leased in taken] == [busy.tenant, busy.tenant, quiet.tenant, None]


def test_a_waiting_job_that_is_asked_for_again_stays_as_it_is(world: World, kind: str):
    first = queued(world, kind, payload={"n": 1})
    queued(world, kind, payload={"n": 2})
    assert status(world).job == first


def test_a_running_job_that_is_asked_for_again_runs_again(world: World, kind: str):
    queued(world, kind)
    leased = claim(world, kind)
    queued(world, kind)
    world.apply(step=Finish(leased))
    assert status(world).done_at is None
    again = claim(world, kind, at=world.clock.now() + timedelta(seconds=5))
    assert again.step == 0
    world.apply(step=Finish(again))
    assert status(world).done_at is not None


def test_a_finished_job_that_is_asked_for_again_starts_anew(world: World, kind: str):
    queued(world, kind, payload={"n": 1})
    world.apply(step=Finish(claim(world, kind)))
    assert claim(world, kind) is None
    second = queued(world, kind, payload={"n": 2})
    assert status(world).job == second
    assert claim(world, kind).job == second


def test_a_step_moves_the_job_on_with_what_it_did(world: World, kind: str):
    queued(world, kind)
    item = world.item()
    world.apply(Create(item), step=Advance(claim(world, kind), {"cursor": 7}))
    leased = claim(world, kind)
    assert (leased.step, leased.state, leased.attempts) == (1, {"cursor": 7}, 1)
    world.apply(step=Finish(leased))
    found = status(world)
    assert (found.step, found.leased, found.last_error) == (0, False, None)
    assert world.held(item)


def test_a_worker_that_lost_its_lease_writes_nothing(world: World, kind: str):
    queued(world, kind)
    now = world.clock.now()
    slow = claim(world, kind, at=now)
    quick = claim(world, kind, at=now + 2 * LEASE)
    before = world.dump()
    for step in (Advance(slow, {}), Finish(slow)):
        with pytest.raises(LeaseLost):
            world.apply(Create(world.item()), step=step, at=now + 2 * LEASE, receipt=Receipt("k", "d", "{}"))
    assert world.dump() == before
    world.apply(Create(world.item()), step=Finish(quick), at=now + 2 * LEASE)


def test_a_step_is_done_once_although_its_worker_repeats_it(world: World, kind: str):
    queued(world, kind)
    leased = claim(world, kind)
    world.apply(Create(world.item()), step=Advance(leased, {}))
    with pytest.raises(LeaseLost):
        world.apply(Create(world.item()), step=Advance(leased, {}))
    assert len(world.journal()) == 1


def test_a_lease_can_be_renewed_until_it_is_lost(world: World, kind: str):
    queued(world, kind)
    now = world.clock.now()
    leased = claim(world, kind, at=now)
    later = now + timedelta(seconds=20)
    assert world.store.renew(leased, now=later, lease=LEASE)
    assert claim(world, kind, at=now + LEASE + timedelta(seconds=1)) is None
    assert claim(world, kind, at=later + LEASE + timedelta(seconds=1)) is not None
    assert not world.store.renew(leased, now=later + 3 * LEASE, lease=LEASE)


def test_a_lease_that_ran_out_is_not_renewed_although_nobody_took_the_job(world: World, kind: str):
    queued(world, kind)
    now = world.clock.now()
    leased = claim(world, kind, at=now)
    assert not world.store.renew(leased, now=now + LEASE + timedelta(seconds=1), lease=LEASE)
    assert world.store.renew(leased, now=now, lease=LEASE)


def test_a_step_that_failed_is_tried_again_at_its_time(world: World, kind: str):
    queued(world, kind)
    now = world.clock.now()
    leased = claim(world, kind, at=now)
    world.store.give_up(leased, error="no network", now=now, retry_at=now + timedelta(minutes=5))
    found = status(world)
    assert (found.leased, found.last_error, found.failed_at) == (False, "no network", None)
    assert claim(world, kind, at=now + timedelta(minutes=4)) is None
    assert claim(world, kind, at=now + timedelta(minutes=6)).attempts == 2


def test_a_job_that_is_given_up_for_good_is_left_for_people(world: World, kind: str):
    queued(world, kind)
    now = world.clock.now()
    world.store.give_up(claim(world, kind, at=now), error="x" * 1000, now=now, retry_at=None)
    found = status(world)
    assert (found.failed_at, found.last_error) == (now, "x" * 500)
    assert claim(world, kind, at=now + timedelta(days=1)) is None


def test_giving_up_a_job_that_somebody_else_holds_changes_nothing(world: World, kind: str):
    queued(world, kind)
    now = world.clock.now()
    slow = claim(world, kind, at=now)
    claim(world, kind, at=now + 2 * LEASE)
    before = world.store.jobs(world.tenant)
    world.store.give_up(slow, error="late", now=now, retry_at=None)
    assert world.store.jobs(world.tenant) == before


def test_a_recurring_job_sleeps_until_its_next_time(world: World, kind: str):
    job = queued(world, kind, every=timedelta(hours=1))
    at = job.not_before + timedelta(hours=2, minutes=30)
    world.apply(step=Finish(claim(world, kind, at=at)), at=at)
    found = status(world)
    assert found.done_at is None
    assert found.job == replace(job, not_before=job.not_before + timedelta(hours=3))


def test_a_recurring_job_that_fails_for_good_comes_back_at_its_next_time(world: World, kind: str):
    job = queued(world, kind, every=timedelta(hours=1))
    at = job.not_before
    world.store.give_up(claim(world, kind, at=at), error="broken", now=at, retry_at=None)
    assert claim(world, kind, at=at + timedelta(minutes=59)) is None
    assert claim(world, kind, at=at + timedelta(hours=1)).attempts == 1


def test_no_two_workers_get_the_same_job(world: World, kind: str):
    world.store.enqueue(world.tenant, [world.job(kind, f"k{n}") for n in range(24)])
    now = world.clock.now()
    ready = Barrier(6)

    def work(_: int) -> list[str]:
        ready.wait()
        taken = []
        while leased := world.store.claim("w", now=now, lease=LEASE, kinds=[kind], cap=100):
            taken.append(leased.job.key)
        return taken

    with ThreadPoolExecutor(6) as threads:
        taken = [key for keys in threads.map(work, range(6)) for key in keys]
    assert sorted(taken) == sorted(f"k{n}" for n in range(24))


def test_tidying_forgets_old_receipts_and_jobs_that_are_done(world: World, kind: str):
    old = world.clock.now()
    for key in ("done", "failed", "waiting"):
        queued(world, kind, key)
    now = world.clock.now() + timedelta(seconds=10)
    taken = {leased.job.key: leased for leased in (claim(world, kind, at=now) for _ in range(3))}
    world.store.give_up(taken["failed"], error="broken", now=now, retry_at=None)
    world.store.give_up(taken["waiting"], error="later", now=now, retry_at=now)
    world.apply(Create(world.item()), step=Finish(taken["done"]), at=now, receipt=Receipt("old", "d", "{}"))
    world.apply(Create(world.item()), at=now + timedelta(days=1), receipt=Receipt("new", "d", "{}"))
    assert world.store.tidy(world.tenant, before=old) == 0
    journal = world.journal()
    assert world.store.tidy(world.tenant, before=now + timedelta(seconds=1)) == 2
    assert {found.job.key for found in world.store.jobs(world.tenant)} == {"failed", "waiting"}
    assert world.store.receipt(world.tenant, world.actor.id, "old") is None
    assert world.store.receipt(world.tenant, world.actor.id, "new") is not None
    assert world.journal() == journal
