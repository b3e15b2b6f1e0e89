"""One worker, one step at a time: what is written, what is refused, and what goes on."""

import logging
import threading
import time
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.care.restore import Session
from recollect.clock import SystemClock
from recollect.custody import Deps
from recollect.domain.change import Append, Create, Verb, revise
from recollect.domain.ids import CauseId
from recollect.domain.job import Advance, Finish, Leased
from recollect.domain.scope import Scope
from recollect.errors import LeaseLost
from recollect.jobs.kind import Kind, Outcome, Write, cause
from tests.jobs.conftest import House
from tests.jobs.crew import TALLY, tally

MINUTE = timedelta(minutes=1)


def claimed(house: House, *kinds: str) -> Leased:
    leased = house.store.claim("bo", now=house.clock.now(), lease=MINUTE, kinds=kinds or ["tally"], cap=9)
    assert leased is not None
    return leased


def test_a_job_is_done_step_by_step_and_then_rests(house: House):
    house.tally(steps=3)
    assert house.worker().run_until_idle() == 3
    assert house.left() == ["one 0", "one 1", "one 2"]
    assert house.status("tally").done_at is not None


def test_a_step_starts_from_the_state_that_the_last_one_left(house: House):
    seen: list[object] = []

    def count(deps: Deps, leased: Leased) -> Outcome:
        seen.append(leased.state.get("done", 0))
        return tally(deps, leased)

    house.tally(steps=3)
    house.worker({"tally": Kind(count)}).run_until_idle()
    assert seen == [0, 1, 2]


def test_the_job_that_has_been_due_for_longest_comes_first(house: House):
    house.tally("later", steps=1)
    house.job("tally", "earlier", payload={"episode": house.episode(), "steps": 1}, not_before=house.clock.at - MINUTE)
    house.worker().run_until_idle()
    assert house.left() == ["earlier 0", "later 0"]


def test_a_job_does_not_begin_before_its_time(house: House):
    due = house.clock.at + timedelta(hours=1)
    house.job("tally", payload={"episode": house.episode(), "steps": 1}, not_before=due)
    assert not house.worker().run_once()
    house.clock.move_to(due)
    assert house.worker().run_once()


def test_a_kind_that_nobody_knows_is_left_alone(house: House):
    house.job("riddle")
    house.tally(steps=1)
    assert house.worker().run_until_idle() == 1
    status = house.status("riddle")
    assert (status.attempts, status.leased, status.done_at, status.failed_at) == (0, False, None, None)


def test_a_job_that_is_asked_for_while_it_runs_runs_again(house: House):
    def asking(deps: Deps, leased: Leased) -> Outcome:
        if len(house.left()) == 1:
            house.tally(steps=2)
        return tally(deps, leased)

    house.tally(steps=2)
    house.worker({"tally": Kind(asking)}).run_until_idle()
    assert house.left() == ["one 0", "one 1"] * 2


def test_a_job_that_is_asked_for_between_two_steps_runs_again(house: House):
    house.tally(steps=2)
    house.worker().run_once()
    house.tally(steps=2)
    house.worker().run_until_idle()
    assert house.left() == ["one 0", "one 1"] * 2


def test_a_job_that_waits_is_not_doubled_by_asking_again(house: House):
    house.tally(steps=1)
    house.tally(steps=1)
    house.worker().run_until_idle()
    assert house.left() == ["one 0"]


def test_a_job_that_is_asked_for_again_after_it_was_done_is_another_one(house: House):
    first = house.tally(steps=1)
    house.worker().run_until_idle()
    second = house.tally(steps=1)
    house.worker().run_until_idle()
    assert house.left() == ["one 0"] * 2
    assert {entry.header.cause for entry in house.world.journal()} == {None, first.id, second.id}


def test_a_step_can_ask_for_its_own_job_again(house: House):
    def twice(deps: Deps, leased: Leased) -> Outcome:
        outcome = tally(deps, leased)
        assert isinstance(outcome, Write)
        return replace(outcome, then=[leased.job] if not house.left() else [])

    house.tally(steps=1)
    house.worker({"tally": Kind(twice)}).run_until_idle()
    assert house.left() == ["one 0"] * 2


def test_what_a_step_asks_for_next_is_lost_with_a_write_that_is_refused(house: House):
    follow_up = house.world.job("riddle", not_before=house.clock.at)

    def stall(deps: Deps, leased: Leased) -> Outcome:
        house.clock.forward(hours=1)
        outcome = tally(deps, leased)
        assert isinstance(outcome, Write)
        return replace(outcome, then=[follow_up])

    house.tally(steps=1)
    house.worker({"tally": Kind(stall)}).run_once()
    assert house.left() == []
    assert [status.job.kind for status in house.store.jobs(house.tenant)] == ["tally"]


def test_a_worker_that_stalled_cannot_write_when_another_has_the_job(house: House):
    house.tally(steps=2)
    stalled = claimed(house)
    house.clock.forward(minutes=2)
    assert house.worker().run_once()
    outcome = tally(house.parts, stalled)
    assert isinstance(outcome, Write)
    with pytest.raises(LeaseLost):
        house.world.apply(*outcome.changes, step=outcome.step)
    assert house.left() == ["one 0"]


def test_a_worker_that_stalled_cannot_write_even_when_nobody_took_the_job(house: House):
    house.tally(steps=2)
    stalled = claimed(house)
    house.clock.forward(minutes=2)
    for step in (Advance(stalled, {}), Finish(stalled)):
        with pytest.raises(LeaseLost):
            house.world.apply(step=step)
    assert not house.store.renew(stalled, now=house.clock.now(), lease=MINUTE)


def test_a_worker_that_lost_its_job_says_so_and_goes_on(house: House, caplog: pytest.LogCaptureFixture):
    def stall(deps: Deps, leased: Leased) -> Outcome:
        if leased.job.key == "one" and not house.left():
            house.clock.forward(minutes=2)
            house.worker(name="bo").run_once()
        return tally(deps, leased)

    house.tally("one", steps=1)
    house.tally("two", steps=1)
    with caplog.at_level(logging.WARNING, "recollect.jobs"):
        house.worker({"tally": Kind(stall)}).run_until_idle()
    assert house.left() == ["one 0", "two 0"]
    assert "the lease of the job tally/one has run out" in caplog.text
    assert "Traceback" not in caplog.text  # it is not a failure
    assert house.status("tally").last_error is None


def test_a_lease_is_renewed_for_as_long_as_the_step_takes(house: House):
    house.parts = replace(house.parts, clock=SystemClock())
    begun, taken = threading.Event(), []
    lease = timedelta(seconds=0.3)

    def slow(deps: Deps, leased: Leased) -> Outcome:
        begun.set()
        time.sleep(0.9)
        return tally(deps, leased)

    house.tally(steps=1)
    thread = threading.Thread(target=house.worker({"tally": Kind(slow)}, lease=lease).run_once)
    thread.start()
    begun.wait(5)
    while thread.is_alive():
        taken.append(house.worker(lease=lease).run_once())
        time.sleep(0.02)
    thread.join()
    assert len(taken) > 10
    assert not any(taken)
    assert house.left() == ["one 0"]


def test_a_step_looks_again_when_memory_moved_under_it(house: House):
    item = house.world.keep()
    looks: list[int] = []

    def edit(deps: Deps, leased: Leased) -> Outcome:
        held = house.world.held(item)
        looks.append(held.rev)
        if len(looks) == 1:
            house.world.apply(revise(held.item, replace(held.item, importance=5), house.clock.now()))
        change = revise(held.item, replace(held.item, tags=("seen",)), deps.clock.now(), Verb.UPDATE)
        scope = Scope(tenant=leased.tenant)
        return Write(scope=scope, changes=[change], expect={item.id: held.rev}, step=Finish(leased))

    house.job("edit")
    house.worker({"edit": Kind(edit)}).run_once()
    assert len(looks) == 2
    assert (house.world.held(item).item.importance, house.world.held(item).item.tags) == (5, ("seen",))
    assert house.status("edit").done_at is not None


def test_a_rollback_by_its_cause_takes_a_whole_job_back(house: House):
    def make(deps: Deps, leased: Leased) -> Outcome:
        episode = house.world.episode(f"thread {leased.step}")
        changes = [Create(episode), Append(house.world.event(episode))]
        step = Finish(leased) if leased.step == 2 else Advance(leased, {})
        return Write(scope=Scope(tenant=leased.tenant), changes=changes, step=step)

    house.world.tell("Ana drinks tea.")
    before = house.world.state()
    job = house.job("make")
    house.worker({"make": Kind(make)}).run_until_idle()
    house.world.tell("Ben drinks coffee.", thread="bar")
    assert len(house.store.entries(house.tenant, cause=CauseId(job.id))) == 6
    house.memory.rollback(Session(CauseId(job.id)))
    assert set(before) < set(house.world.state())
    assert not [row for row in house.world.state() if '"thread ' in row]
    assert house.world.is_whole()


def test_each_run_of_a_recurring_job_can_be_taken_back_on_its_own(house: House):
    causes: list[CauseId] = []

    def mark(deps: Deps, leased: Leased) -> Outcome:
        causes.append(cause(leased))
        return tally(deps, leased)

    payload = {"episode": house.episode(), "steps": 2}
    house.job("tally", payload=payload, every=timedelta(days=1))
    house.worker({"tally": Kind(mark)}).run_until_idle()
    house.clock.forward(days=1)
    house.worker({"tally": Kind(mark)}).run_until_idle()
    assert len(house.left()) == 4
    assert causes[0] == causes[1] != causes[2] == causes[3]
    house.memory.rollback(Session(causes[0]))
    assert len(house.left()) == 2


def test_the_journal_names_the_job_as_the_actor(house: House):
    house.tally(steps=1)
    house.worker(TALLY).run_once()
    assert house.world.journal()[-1].header.actor == "job:tally"
