"""Steps that fail: tried again later and later, then parked; nothing of memory is said about it."""

import logging
from datetime import timedelta

import pytest

from recollect.custody import Deps
from recollect.domain.ids import Rev
from recollect.domain.item import Item
from recollect.domain.job import Finish, Leased
from recollect.domain.scope import Scope
from recollect.errors import NotFound
from recollect.jobs.kind import Kind, Outcome, Write
from recollect.jobs.retry import FIRST, LONGEST, delay
from tests.jobs.conftest import House
from tests.jobs.crew import tally

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


class Moody:
    """A step that fails as often as it is told to, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.tried = 0

    def __call__(self, deps: Deps, leased: Leased) -> Outcome:
        self.tried += 1
        if self.errors:
            raise self.errors.pop(0)
        return Write(scope=Scope(tenant=leased.tenant), step=Finish(leased))


def failing(count: int) -> Moody:
    return Moody(*[RuntimeError("Ana drinks tea.") for _ in range(count)])


def test_waits_grow_twofold_up_to_an_hour():
    assert [delay(attempt, 0) / FIRST for attempt in range(1, 6)] == [1, 2, 4, 8, 16]
    assert delay(11, 0) == delay(10_000, 0) == LONGEST


def test_chance_shortens_a_wait_by_up_to_a_half():
    assert delay(3, 1.0) == delay(3, 0.0) / 2
    assert delay(3, 1.0) < delay(3, 0.3) < delay(3, 0.0)


def test_a_step_that_failed_is_tried_again_when_its_wait_is_over(house: House):
    moody = failing(2)
    worker = house.worker({"moody": Kind(moody)})
    house.job("moody")
    for wait in (delay(1, 0), delay(2, 0)):
        assert worker.run_until_idle() == 1
        house.clock.move_to(house.clock.at + wait - timedelta(milliseconds=1))
        assert not worker.run_once()
        house.clock.forward(milliseconds=1)
    assert worker.run_until_idle() == 1
    assert moody.tried == 3
    assert house.status("moody").done_at is not None
    assert house.status("moody").last_error is None


def test_the_steps_before_a_failure_are_not_done_again(house: House):
    failed: list[int] = []

    def stumbling(deps: Deps, leased: Leased) -> Outcome:
        if leased.step == 1 and not failed:
            failed.append(leased.step)
            raise RuntimeError
        return tally(deps, leased)

    worker = house.worker({"tally": Kind(stumbling)})
    house.tally(steps=3)
    worker.run_until_idle()
    assert house.left() == ["one 0"]
    house.clock.forward(hours=1)
    worker.run_until_idle()
    assert house.left() == ["one 0", "one 1", "one 2"]


def test_each_step_has_all_its_attempts(house: House):
    """A step that succeeds in the end leaves nothing of its failures to the next one."""
    errors = {0: [RuntimeError()] * 2, 1: [RuntimeError()] * 2}

    def stumbling(deps: Deps, leased: Leased) -> Outcome:
        if errors[leased.step]:
            raise errors[leased.step].pop()
        return tally(deps, leased)

    worker = house.worker({"tally": Kind(stumbling, attempts=3)})
    house.tally(steps=2)
    for _ in range(6):
        worker.run_until_idle()
        house.clock.forward(hours=2)
    assert house.left() == ["one 0", "one 1"]


def test_a_job_is_parked_after_its_last_attempt_and_waits_for_a_person(house: House):
    moody = failing(3)
    worker = house.worker({"moody": Kind(moody, attempts=3)})
    house.job("moody")
    for _ in range(6):
        worker.run_until_idle()
        house.clock.forward(hours=2)
    assert moody.tried == 3
    assert house.status("moody").failed_at is not None
    assert not house.status("moody").leased
    house.job("moody")
    worker.run_until_idle()
    assert moody.tried == 4
    assert house.status("moody").done_at is not None
    assert house.status("moody").failed_at is None


def test_a_step_that_kills_its_workers_is_parked_too(house: House):
    moody = failing(0)
    house.job("moody")
    for _ in range(3):
        assert house.store.claim("bo", now=house.clock.now(), lease=MINUTE, kinds=["moody"], cap=2)
        house.clock.forward(minutes=2)  # and is never heard of again
    house.worker({"moody": Kind(moody, attempts=3)}).run_until_idle()
    assert moody.tried == 0
    assert house.status("moody").failed_at is not None
    assert "did not survive" in str(house.status("moody").last_error)


def test_a_recurring_job_is_never_parked_but_comes_back_at_its_next_time(house: House):
    moody = failing(2)
    worker = house.worker({"moody": Kind(moody, attempts=2)})
    job = house.job("moody", every=DAY)
    for _ in range(4):
        worker.run_until_idle()
        house.clock.forward(minutes=30)
    status = house.status("moody")
    assert moody.tried == 2
    assert (status.failed_at, status.attempts, status.step) == (None, 0, 0)
    assert status.last_error == "RuntimeError"
    assert status.job.not_before == job.not_before + DAY
    house.clock.move_to(job.not_before + DAY)
    worker.run_until_idle()
    assert moody.tried == 3
    assert house.status("moody").last_error is None
    assert house.status("moody").job.not_before == job.not_before + 2 * DAY


def test_a_failure_does_not_move_the_schedule(house: House):
    job = house.job("moody", every=DAY)
    worker = house.worker({"moody": Kind(failing(1))})
    worker.run_until_idle()
    house.clock.forward(minutes=5)
    worker.run_until_idle()
    assert house.status("moody").job.not_before == job.not_before + DAY


def test_a_job_asked_for_while_it_waits_out_a_failure_keeps_its_wait_and_its_error(house: House):
    worker = house.worker({"moody": Kind(failing(1))})
    house.job("moody")
    worker.run_until_idle()
    house.job("moody")
    assert not worker.run_once()
    assert house.status("moody").last_error == "RuntimeError"


def test_one_that_keeps_failing_does_not_keep_others_from_running(house: House):
    house.job("moody")
    house.tally(steps=1)
    house.worker({"moody": Kind(failing(9)), "tally": Kind(tally)}).run_until_idle()
    assert house.left() == ["one 0"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("Ana drinks tea."), "ValueError"),
        (NotFound("there is no memory 7", "Ask Ana, who drinks tea."), "NotFound: there is no memory 7"),
    ],
)
def test_what_is_kept_of_an_error_holds_no_memory_and_the_rest_is_logged(
    house: House, caplog: pytest.LogCaptureFixture, error: Exception, told: str
):
    house.job("moody")
    with caplog.at_level(logging.ERROR, "recollect.jobs"):
        house.worker({"moody": Kind(Moody(error))}).run_once()
    assert house.status("moody").last_error == told
    assert "Traceback" in caplog.text
    assert "tea" not in "".join(row for row in house.world.dump() if '"moody"' in row)


def test_memory_that_never_stops_moving_counts_as_a_failure(house: House):
    looks: list[Item] = []

    def late(deps: Deps, leased: Leased) -> Outcome:
        looks.append(house.world.keep())
        return Write(scope=Scope(tenant=leased.tenant), expect={looks[-1].id: Rev(0)}, step=Finish(leased))

    house.job("late")
    house.worker({"late": Kind(late)}).run_once()
    assert 1 < len(looks) < 10
    assert str(house.status("late").last_error).startswith("Stale: ")
    assert not house.status("late").leased
