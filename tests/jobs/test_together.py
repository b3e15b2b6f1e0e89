"""Several workers, in threads and in processes: nothing is done twice, and nothing at the same time as itself."""

import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from recollect.clock import SystemClock
from recollect.domain.job import Finish
from recollect.errors import StoreUnreachable
from recollect.jobs.worker import Worker
from recollect.store import outbox
from recollect.store.sql import SqlStore
from recollect.store.tx import Engine
from tests.jobs.conftest import House
from tests.jobs.crew import Span, begun, deps, most_at_once, spans, start

PATIENCE = 30
STEPS = 3


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "this takes too long"
        time.sleep(0.02)


def all_done(house: House) -> bool:
    return all(status.done_at for status in house.store.jobs(house.tenant))


def overlapping(found: list[Span]) -> list[tuple[Span, Span]]:
    """Spans of one job that ran at the same time."""
    ordered = sorted(found, key=lambda span: (span.job, span.began))
    pairs = [list(run) for _, run in groupby(ordered, key=lambda span: span.job)]
    return [(a, b) for run in pairs for a, b in pairwise(run) if b.began < a.ended]


@contextmanager
def threads(house: House, tmp_path: Path, count: int, cap: int) -> Iterator[None]:
    stop = threading.Event()
    parts = replace(house.parts, clock=SystemClock())
    crew = [house.worker(deps=parts, name=str(n), cap=cap, poll=0.005) for n in range(count)]
    running = [threading.Thread(target=worker.run, args=[stop]) for worker in crew]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in running:
            thread.join()


@contextmanager
def processes(address: str, folder: Path, *counts: int, **how: object) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes with so many workers each. They are asked to stop in the end, and do."""
    crew = [start(address, folder, workers=count, **how) for count in counts]
    try:
        assert all(map(begun, crew))
        yield crew
        for process in crew:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(PATIENCE) for process in crew] == [0] * len(crew)
    finally:
        for process in crew:
            process.kill()
            process.communicate()


def test_workers_in_threads_never_run_one_step_together(house: House, tmp_path: Path):
    notes = tmp_path / "notes"
    for number in range(6):
        house.tally(f"job{number}", steps=STEPS, notes=str(notes), pause=0.005)
    with threads(house, tmp_path, 6, cap=6):
        wait_until(lambda: all_done(house))
    assert Counter(house.left()) == Counter(f"job{n} {step}" for n in range(6) for step in range(STEPS))
    assert most_at_once(spans(notes)) > 1
    assert not overlapping(spans(notes))


def test_workers_in_processes_never_run_one_step_together(house: House, address: str, tmp_path: Path):
    notes = tmp_path / "notes"
    with processes(address, tmp_path, 2, 2, cap=6, lease=5):
        for number in range(6):
            house.tally(f"job{number}", steps=STEPS, notes=str(notes), pause=0.01)
        wait_until(lambda: all_done(house))
    assert Counter(house.left()) == Counter(f"job{n} {step}" for n in range(6) for step in range(STEPS))
    assert most_at_once(spans(notes)) > 1
    assert not overlapping(spans(notes))


def test_a_cap_of_two_holds_under_six_workers(house: House, address: str, tmp_path: Path):
    notes = tmp_path / "notes"
    other = House(house.parts, house.clock)
    with processes(address, tmp_path, 3, 3, cap=2, lease=5):
        for number in range(8):
            house.tally(f"job{number}", steps=2, notes=str(notes), pause=0.03)
            other.tally(f"job{number}", steps=2, notes=str(notes), pause=0.03)
        wait_until(lambda: all_done(house) and all_done(other))
    found = spans(notes)
    assert most_at_once([span for span in found if span.tenant == house.tenant]) == 2
    assert most_at_once([span for span in found if span.tenant == other.tenant]) == 2
    assert most_at_once(found) > 2


def test_a_tenant_at_its_cap_does_not_keep_others_waiting(house: House):
    other = House(house.parts, house.clock)
    for number in range(3):
        house.tally(f"job{number}")
    other.tally()
    for wanted in (house.tenant, house.tenant, other.tenant, None):
        leased = house.store.claim("ada", now=house.clock.now(), lease=timedelta(minutes=1), kinds=["tally"], cap=2)
        assert (leased and leased.tenant) == wanted


def test_a_job_that_is_being_finished_is_not_taken_by_a_claim_that_waits_for_it(house: House, engine: Engine):
    """The lease runs out while the last write is under way: whoever comes next must not begin the job anew."""
    house.tally(steps=1)
    at, minute = house.clock.now(), timedelta(minutes=1)
    leased = house.store.claim("ada", now=at, lease=minute, kinds=["tally"], cap=2)
    assert leased is not None
    taken: list[object] = []

    def take() -> None:
        taken.append(house.store.claim("bo", now=at + 2 * minute, lease=minute, kinds=["tally"], cap=2))

    other = threading.Thread(target=take)
    with engine.write(house.tenant) as tx:
        outbox.advance(tx, Finish(leased), at)
        other.start()
        other.join(0.3)
        assert other.is_alive()
    other.join()
    assert taken == [None]
    assert house.status("tally").done_at == at


@pytest.mark.parametrize("point", ["before", "within", "after"])
def test_a_job_killed_in_any_step_is_resumed_and_every_effect_happens_once(
    house: House, address: str, tmp_path: Path, point: str
):
    """Each step costs a process its life: before it writes, when all is written and nothing committed, right after."""
    house.tally(steps=STEPS)
    crew = [start(address, tmp_path, point=point) for _ in range(STEPS + 1)]
    try:
        assert all(map(begun, crew))
        wait_until(lambda: all_done(house) and sum(process.poll() is not None for process in crew) == STEPS)
    finally:
        for process in crew:
            process.terminate()
            process.communicate()
    assert sorted(process.returncode for process in crew) == [-signal.SIGKILL] * STEPS + [0]
    assert house.left() == [f"one {step}" for step in range(STEPS)]
    assert house.world.is_whole()


def test_jobs_killed_at_any_moment_are_resumed_and_every_effect_happens_once(
    house: House, address: str, tmp_path: Path
):
    chance = random.Random(7)
    jobs = [f"job{number}" for number in range(4)]
    for job in jobs:
        house.tally(job, steps=8, pause=0.02)
    kills = 0
    while not all_done(house):
        with processes(address, tmp_path, 2, cap=5, lease=0.2) as crew:
            time.sleep(chance.uniform(0.01, 0.15))
            if kills == 4:
                wait_until(lambda: all_done(house))
            else:
                kills += 1
                crew[0].kill()
                crew.pop().communicate()
    assert kills > 1
    for job in jobs:
        assert [text for text in house.left() if text.startswith(f"{job} ")] == [f"{job} {step}" for step in range(8)]
    assert house.world.is_whole()


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_told_to_stop_finishes_its_step_and_leaves_the_rest(
    house: House, address: str, tmp_path: Path, told: signal.Signals
):
    notes = tmp_path / "notes"
    house.tally(steps=3, notes=str(notes), pause=0.3)
    with processes(address, tmp_path, 2, lease=30) as [process]:
        wait_until(lambda: house.status("tally").leased)
        process.send_signal(told)
        assert process.wait(PATIENCE) == 0
    assert house.left() == ["one 0"]
    assert not house.status("tally").leased
    house.worker().run_until_idle()
    assert house.left() == ["one 0", "one 1", "one 2"]


def test_a_worker_waits_for_a_store_that_is_away(house: House, engine: Engine, tmp_path: Path):
    class Away(SqlStore):
        missing = 2

        def claim(self, *args: object, **how: object):  # type: ignore[no-untyped-def]
            if self.missing:
                self.missing -= 1
                raise StoreUnreachable("the database does not answer")
            return super().claim(*args, **how)  # type: ignore[arg-type]

    store = Away(engine)
    house.tally(steps=1)
    stop = threading.Event()
    worker = Worker(deps=deps(store, tmp_path), kinds=house.worker().kinds, name="ada", poll=0.01)
    thread = threading.Thread(target=worker.run, args=[stop])
    thread.start()
    wait_until(lambda: all_done(house))
    stop.set()
    thread.join()
    assert house.left() == ["one 0"]
