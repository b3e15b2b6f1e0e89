"""Jobs that come back by themselves."""

from datetime import UTC, datetime, timedelta

from recollect.custody import Deps
from recollect.domain.ids import TenantId
from recollect.domain.job import Finish, Leased
from recollect.domain.scope import Scope
from recollect.jobs.kind import Kind, Outcome, Write
from recollect.jobs.kinds import KINDS
from recollect.jobs.schedule import ensure, next_time
from tests.jobs.conftest import House
from tests.jobs.crew import NOON

DAY = timedelta(days=1)


class Bell:
    """A recurring job that remembers when it rang."""

    def __init__(self) -> None:
        self.rang: list[datetime] = []

    def __call__(self, deps: Deps, leased: Leased) -> Outcome:
        self.rang.append(deps.clock.now())
        return Write(scope=Scope(tenant=leased.tenant), step=Finish(leased))


def test_a_recurring_job_comes_back_at_its_next_time(house: House):
    bell = Bell()
    worker = house.worker({"bell": Kind(bell)})
    first = house.job("bell", every=DAY).not_before
    for day in range(4):
        house.clock.move_to(first + day * DAY)
        assert worker.run_until_idle() == 1
        house.clock.move_to(first + (day + 1) * DAY - timedelta(seconds=1))
        assert worker.run_until_idle() == 0
    assert len(bell.rang) == 4


def test_a_recurring_job_that_runs_late_does_not_drift(house: House):
    worker = house.worker({"bell": Kind(Bell())})
    first = house.job("bell", every=DAY).not_before
    for day in range(5):
        house.clock.move_to(first + day * DAY + timedelta(hours=7))
        worker.run_until_idle()
    assert house.status("bell").job.not_before == first + 5 * DAY


def test_the_times_missed_in_a_pause_are_not_made_up_for(house: House):
    bell = Bell()
    worker = house.worker({"bell": Kind(bell)})
    first = house.job("bell", every=timedelta(seconds=1)).not_before
    house.clock.forward(days=400, microseconds=1)
    assert worker.run_once()
    assert not worker.run_once()
    assert len(bell.rang) == 1
    assert timedelta(0) < house.status("bell").job.not_before - house.clock.at <= timedelta(seconds=1)
    assert (house.status("bell").job.not_before - first) % timedelta(seconds=1) == timedelta(0)


def test_a_recurring_job_does_not_run_again_for_being_ensured_while_it_runs(house: House):
    bell = Bell()
    job = house.job("bell", every=DAY)

    def ensured(deps: Deps, leased: Leased) -> Outcome:
        house.store.enqueue(house.tenant, [job])
        return bell(deps, leased)

    assert house.worker({"bell": Kind(ensured)}).run_until_idle() == 1
    assert house.status("bell").job.not_before == job.not_before + DAY


def test_every_tenant_gets_its_recurring_jobs_once(house: House):
    ensure(house.store, house.tenant, house.clock.now())
    before = house.store.jobs(house.tenant)
    house.clock.forward(hours=9)
    ensure(house.store, house.tenant, house.clock.now())
    assert house.store.jobs(house.tenant) == before
    recurring = {name: kind.every for name, kind in KINDS.items() if kind.every}
    assert {status.job.kind: status.job.every for status in before} == recurring
    assert {"purge", "tidy", "compress"} <= recurring.keys()
    assert all(NOON < status.job.not_before <= NOON + recurring[status.job.kind] + DAY / 24 for status in before)


def test_the_times_of_day_are_the_same_every_day_and_differ_between_tenants():
    tenants = [TenantId(f"tenant-{number}") for number in range(240)]
    today = [next_time(tenant, "purge", DAY, NOON) for tenant in tenants]
    assert all(NOON < at <= NOON + DAY for at in today)
    assert [next_time(tenant, "purge", DAY, NOON + 9 * DAY) - 9 * DAY for tenant in tenants] == today
    assert {at.astimezone(UTC).hour for at in today} == set(range(24))
    assert next_time(tenants[0], "purge", DAY, today[0]) == today[0] + DAY


def test_the_recurring_kinds_do_their_work_on_an_empty_tenant(house: House):
    ensure(house.store, house.tenant, house.clock.now())
    house.clock.forward(days=1)
    assert house.worker(KINDS).run_until_idle() >= 3
    assert {status.last_error for status in house.store.jobs(house.tenant)} == {None}
    assert all(status.job.not_before > house.clock.at for status in house.store.jobs(house.tenant))
    assert house.world.journal() == []
