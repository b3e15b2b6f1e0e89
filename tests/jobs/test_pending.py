"""How much of what came in is still to be read: counted to the end, parked jobs and all."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from recollect.custody import Deps
from recollect.domain.item import Visibility
from recollect.domain.job import Leased, Pending
from recollect.domain.scope import Principal, Role
from recollect.errors import StoreBusy
from recollect.jobs.kind import Kind, Outcome
from recollect.jobs.kinds import KINDS
from recollect.memory import Memory
from recollect.write import later
from recollect.write.foreign import Thread
from recollect.write.message import Message
from tests.jobs.conftest import House

MANY = 330


def messages(count: int, author: str = "mira") -> tuple[Message, ...]:
    return tuple(Message(text=f"Note {n}: buoy {n} is green.", author=author, role="user") for n in range(count))


def take_in(house: House, count: int = MANY, **where: str) -> None:
    house.memory.bulk([Thread("chat", "Buoys", messages(count))], **where)


def broken(_: Deps, __: Leased) -> Outcome:
    raise StoreBusy("the reader is out")


def test_every_message_that_was_taken_in_is_counted_until_it_is_read(house: House):
    take_in(house)
    worker = house.worker({"extract": KINDS["extract"]})
    told = [house.memory.pending().messages]
    while worker.run_once():
        told.append(house.memory.pending().messages)
    assert told[0] == MANY
    assert told[-1] == 0
    assert [a - b for a, b in pairwise(told)].count(later.READ) >= MANY // later.READ - 2
    assert all(a > b for a, b in pairwise(told)), "every step shows"


def test_it_is_settled_when_what_follows_is_done_as_well(house: House):
    take_in(house, 20)
    house.job("judge", payload={"item_id": house.episode(), "near": []})
    house.worker({"extract": KINDS["extract"]}).run_until_idle()
    assert house.memory.pending() == Pending(jobs=1)
    assert not house.memory.pending().settled
    house.worker({"judge": KINDS["judge"]}).run_until_idle()
    assert house.memory.pending() == Pending()
    assert house.memory.pending().settled


def test_messages_of_a_job_that_failed_for_good_are_told_apart(house: House):
    take_in(house, 250)
    worker = house.worker({"extract": Kind(broken, attempts=1)})
    worker.run_once()
    found = house.memory.pending()
    assert (found.messages, found.parked) == (50, 200)
    assert "the reader is out" in found.why
    assert not found.settled
    worker.run_until_idle()
    assert house.memory.pending() == Pending(parked=250, why=found.why)
    assert house.memory.pending().settled, "nobody need wait for it"


def test_messages_that_wait_to_be_tried_again_are_still_to_be_read(house: House):
    take_in(house, 20)
    house.worker({"extract": Kind(broken)}).run_once()
    found = house.memory.pending()
    assert (found.messages, found.parked, found.settled) == (20, 0, False)
    assert "the reader is out" in found.why
    house.clock.forward(minutes=1)
    house.worker({"extract": KINDS["extract"]}).run_until_idle()
    assert house.memory.pending() == Pending()


def test_recurring_jobs_and_threads_that_are_closed_later_are_not_waited_for(house: House):
    take_in(house, 20)
    house.job("compress", every=timedelta(hours=1))
    house.worker({"extract": KINDS["extract"]}).run_until_idle()
    assert house.memory.pending().settled
    assert {status.job.kind for status in house.store.jobs(house.tenant, open_only=True)} == {"close", "compress"}


def test_what_is_done_is_left_out_of_the_open_ones(house: House):
    take_in(house, 20)
    assert "extract" in {status.job.kind for status in house.store.jobs(house.tenant, open_only=True)}
    house.worker({"extract": KINDS["extract"]}).run_until_idle()
    assert "extract" not in {status.job.kind for status in house.store.jobs(house.tenant, open_only=True)}
    assert "extract" in {status.job.kind for status in house.store.jobs(house.tenant)}


@pytest.mark.parametrize("role", [Role.MEMBER, Role.AGENT])
def test_who_does_not_oversee_the_jobs_is_told_of_ones_own_threads(house: House, role: Role):
    agent = "robin" if role is Role.AGENT else None
    bo = Principal(tenant=house.tenant, id="bo", role=role, agent_id=agent, users=frozenset({"bo"}))
    take_in(house, 20)
    Memory(house.parts, bo).bulk([Thread("mine", "", messages(7, "bo"))], user_id="bo")
    assert Memory(house.parts, bo).pending().messages == 7
    assert house.memory.pending().messages == 27


def test_a_job_of_a_silo_counts_for_nobody_else(house: House):
    robin = Principal(tenant=house.tenant, id="robin", role=Role.AGENT, agent_id="robin")
    memory = Memory(replace(house.parts), robin)
    memory.bulk([Thread("own", "", messages(5, "robin"))], visibility=Visibility.AGENT_SILO)
    bo = Principal(tenant=house.tenant, id="bo", role=Role.MEMBER)
    assert Memory(house.parts, bo).pending().messages == 0
    assert memory.pending().messages == 5
