"""Threads that are too long to be read at once: closed stretch by stretch, by a job where nobody waits."""

from datetime import timedelta

import pytest

from recollect.care import ladder
from recollect.care.restore import Session
from recollect.domain.change import Discard, Edit, Retract, Revise, Verb
from recollect.domain.ids import CauseId, ItemId
from recollect.domain.level import Level
from recollect.domain.version import Version
from recollect.jobs import kinds
from recollect.jobs.kinds import KINDS
from recollect.policy import hammer
from recollect.write.foreign import Thread
from recollect.write.message import Message
from tests.jobs.conftest import House

STRETCH = 10
TURNS = 70


@pytest.fixture(autouse=True)
def _short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "LONG", STRETCH)
    monkeypatch.setattr(ladder, "AT_ONCE", 2)
    monkeypatch.setattr(ladder, "CONTEXT", 4)


def told(house: House, turns: int = TURNS, first: int = 1) -> ItemId:
    texts = (f"We decided that plank {number} of the boathouse is replaced." for number in range(first, first + turns))
    messages = [Message(text=text, author="Mira") for text in texts]
    house.memory.bulk([Thread("planks", "", messages)])
    [held] = [one for one in house.memory.items() if one.kind == "episode"]
    return held.id


def versions(house: House, thread: ItemId, level: Level) -> list[Version]:
    return [one for one in house.store.versions(house.tenant, thread) if one.level is level]


def covered(house: House, thread: ItemId) -> set[int]:
    """The places that the summary which speaks for the thread stands on, each in one handle alone."""
    held = house.store.item(house.tenant, thread)
    assert held is not None
    live = house.store.extent(house.tenant, thread).places
    family = hammer.Family(item=held.item, versions=house.store.versions(house.tenant, thread))
    standing = hammer.handles(family, live)
    assert hammer.summaries(family, standing), "a summary covers all of it"
    places = [seq for handle in standing for seq in hammer.places(handle)]
    assert len(places) == len(set(places))
    return set(places)


def steps(house: House) -> int:
    return house.worker({"close": KINDS["close"]}).run_until_idle()


def test_a_long_thread_is_left_to_a_job_and_a_short_one_is_closed_at_once(house: House):
    thread = told(house, 8)
    assert house.memory.close_episode(thread, wait=False).job is None
    assert covered(house, thread) == set(range(1, 9))
    told(house, TURNS, 9)
    left = house.memory.close_episode(thread, wait=False)
    assert left.job is not None
    assert left.cause == left.job
    assert left.strokes == ()
    assert house.memory.close_episode(thread, wait=False).job == left.job, "asked again, it is the same"
    assert steps(house) > 2
    again = house.memory.close_episode(thread, wait=False)
    assert again.job is None
    assert again.strokes[0].made == ()
    assert covered(house, thread) == set(range(1, 9 + TURNS))


def test_a_long_thread_of_which_nothing_can_be_summed_up_is_closed_all_the_same(house: House):
    """Asked again, it is done, until something comes or what was made is taken back."""
    output = [Message(text=f"0x{number:08x} 0x{number * 7:08x}", author="dump", role="tool") for number in range(TURNS)]
    house.memory.bulk([Thread("dump", "", output)])
    [thread] = [one.id for one in house.memory.items() if one.kind == "episode"]
    left = house.memory.close_episode(thread, wait=False)
    assert left.job is not None
    steps(house)
    assert not versions(house, thread, Level.R3)
    done = house.memory.close_episode(thread, wait=False)
    assert done.job is None
    assert done.cause == left.cause
    assert not steps(house)
    house.memory.rollback(Session(CauseId(left.job)))
    assert house.memory.close_episode(thread, wait=False).job is not None
    steps(house)
    house.memory.ingest([Message(text="0xdeadbeef", author="dump", role="tool")], thread_id="dump")
    assert house.memory.close_episode(thread, wait=False).job is not None


def test_whoever_waits_has_it_closed_when_it_returns(house: House):
    thread = told(house)
    done = house.memory.close_episode(thread)
    assert done.job is None
    assert covered(house, thread) == set(range(1, TURNS + 1))
    assert {one.level for one in done.strokes[0].made} >= {Level.R1, Level.R2, Level.R3}
    assert all(len(hammer.places(one)) <= STRETCH for one in versions(house, thread, Level.R5))


def test_one_rollback_takes_back_all_that_a_job_made_of_a_long_thread(house: House):
    thread = told(house)
    before = house.world.state()
    left = house.memory.close_episode(thread, wait=False)
    steps(house)
    assert left.cause is not None
    house.memory.rollback(Session(CauseId(left.cause)))
    assert house.world.state() == before


def test_every_step_is_done_once_whatever_becomes_of_the_worker(house: House):
    """Workers die after a step was decided: the next one goes on from the last that was written."""
    thread = told(house)
    house.memory.close_episode(thread, wait=False)
    lease = timedelta(minutes=1)
    for _ in range(40):
        leased = house.store.claim("dying", now=house.clock.now(), lease=lease, kinds=["close"], cap=9)
        if leased is None:
            break
        kinds.close(house.parts, leased)  # decided, never written
        house.clock.forward(minutes=2)
        again = house.store.claim("living", now=house.clock.now(), lease=lease, kinds=["close"], cap=9)
        assert again is not None
        house.worker(KINDS)._write(again, kinds.close(house.parts, again))
    logs = versions(house, thread, Level.R4)
    assert len(logs) == TURNS // STRETCH, "every stretch has one log"
    assert covered(house, thread) == set(range(1, TURNS + 1))


def test_a_thread_of_which_something_was_taken_back_is_summed_up_anew_to_its_end(house: House):
    thread = told(house)
    house.memory.close_episode(thread)
    [gone] = house.store.events(house.tenant, thread, 15, 15)
    house.world.apply(Retract(gone))
    house.clock.forward(minutes=1)  # versions of one moment come in any order
    house.memory.close_episode(thread, wait=False)
    assert steps(house) > 2
    assert covered(house, thread) == set(range(1, TURNS + 1)) - {15}
    assert "plank 15 " not in versions(house, thread, Level.R3)[-1].content


def test_what_falls_silent_is_closed_to_its_end_too(house: House):
    thread = told(house)
    house.clock.forward(hours=2)
    assert steps(house) > 2
    assert covered(house, thread) == set(range(1, TURNS + 1))


def test_the_hourly_hammer_leaves_a_long_thread_to_a_job_of_its_own(house: House):
    thread = told(house)
    house.clock.forward(days=1)
    job = house.world.job("compress", not_before=house.clock.now())
    house.store.enqueue(house.tenant, [job])
    house.worker({"compress": KINDS["compress"]}).run_until_idle()
    assert house.memory.close_episode(thread, wait=False).job is not None
    steps(house)
    assert covered(house, thread) == set(range(1, TURNS + 1))


def test_a_thread_whose_summaries_were_discarded_gets_one_for_the_stretches_it_has(house: House):
    thread = told(house)
    house.memory.close_episode(thread)
    found = house.store.versions(house.tenant, thread)
    short = sorted((one for one in found if one.level <= Level.R3), key=lambda one: one.level)
    item = house.world.held(thread).item
    nameless = Revise(thread, Verb.PROMOTE, (Edit("active_version_id", item.active_version_id, None),))
    house.world.apply(*([nameless] if item.active_version_id else []), *(Discard(one) for one in short))
    house.memory.close_episode(thread)
    assert len(versions(house, thread, Level.R5)) == TURNS // STRETCH, "no stretch got a second handle"
    assert covered(house, thread) == set(range(1, TURNS + 1))
