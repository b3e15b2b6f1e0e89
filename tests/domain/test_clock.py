"""Time within a process: it moves on, whatever the clock on the wall does."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from recollect.clock import SystemClock
from tests import strategies as some
from tests.strategies import NOON


@given(readings=st.lists(some.moments(), min_size=1, max_size=10))
def test_time_never_stands_still_or_runs_backwards(readings):
    clock = SystemClock(iter(readings).__next__)
    told = [clock.now() for _ in readings]
    assert all(one < other for one, other in pairwise(told))
    assert all(at >= reading for at, reading in zip(told, readings, strict=True))


@given(readings=st.lists(some.moments(), min_size=1, max_size=10, unique=True).map(sorted))
def test_a_clock_that_runs_well_is_believed(readings):
    clock = SystemClock(iter(readings).__next__)
    assert [clock.now() for _ in readings] == readings


def test_a_clock_that_was_set_back_moves_on_by_the_smallest_step():
    readings = iter([NOON, NOON - timedelta(hours=1), NOON - timedelta(minutes=30)])
    clock = SystemClock(readings.__next__)
    step = timedelta(microseconds=1)
    assert [clock.now() for _ in range(3)] == [NOON, NOON + step, NOON + 2 * step]


def test_no_two_threads_are_told_the_same_moment():
    clock = SystemClock(lambda: NOON)
    told: list[datetime] = []

    def ask() -> None:
        told.extend([clock.now() for _ in range(2000)])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == len(set(told)) == 8000


def test_the_moment_is_in_utc_and_now():
    before = datetime.now(UTC)
    at = SystemClock().now()
    assert at.tzinfo is UTC
    assert before <= at <= datetime.now(UTC)


def test_ids_are_made_of_the_moment_and_of_chance():
    clock = SystemClock(lambda: NOON)
    minted = {clock.mint() for _ in range(1000)}
    assert len(minted) == 1000
    assert {UUID(name).int >> 80 for name in minted} == {int(NOON.timestamp()) * 1000}
    assert {UUID(name).version for name in minted} == {7}
