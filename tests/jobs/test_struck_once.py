"""Two workers strike one memory at the same instant: its versions are made once, and no witness is lost."""

import threading
from collections.abc import Callable

import pytest

from recollect.custody import Deps
from recollect.domain.change import Derive
from recollect.domain.ids import ItemId
from recollect.domain.job import Leased
from recollect.domain.query import Filters
from recollect.errors import Stale
from recollect.jobs.kind import Kind, Outcome, Write
from recollect.jobs.kinds import KINDS
from recollect.write.message import Message
from tests.jobs.conftest import House

SAID = (
    "We decided to move the login from JWT tokens to sessions because the tokens were too large.",
    "The session cookie lives for 30 days and is signed with the server key.",
    "The sessions live in PostgreSQL, in the schema auth.",
)
FACTS = Filters(kinds=frozenset({"fact"}))


def levels(house: House, item_id: ItemId) -> list[int]:
    return sorted(version.level for version in house.store.versions(house.tenant, item_id))


def at_once(house: House, *names: str) -> None:
    """A worker for each kind, all of whom have decided before any of them writes."""
    decided = threading.Barrier(len(names))

    def together(run: Callable[[Deps, Leased], Outcome]) -> Callable[[Deps, Leased], Outcome]:
        first = True

        def step(deps: Deps, leased: Leased) -> Outcome:
            nonlocal first
            outcome = run(deps, leased)
            if first:
                first = False
                assert isinstance(outcome, Write)
                assert outcome.changes, "each of them wants to write"
                decided.wait(20)
            return outcome

        return step

    workers = [house.worker({name: Kind(together(KINDS[name].run))}, name=name, cap=9) for name in names]
    running = [threading.Thread(target=worker.run_until_idle) for worker in workers]
    for one in running:
        one.start()
    for one in running:
        one.join()


def test_a_thread_that_two_workers_close_at_once_gets_its_versions_once(house: House):
    messages = [Message(text=text, author="Mira") for text in SAID]
    episode = house.memory.append(messages, thread_id="login").episode_id
    house.clock.forward(hours=2)
    house.job("compress", "now")
    at_once(house, "close", "compress")
    assert levels(house, episode) == [1, 2, 3, 4, 5]
    assert house.status("close", episode).done_at is not None
    assert house.status("compress", "now").done_at is not None
    assert house.world.is_whole()


def test_a_fact_that_is_pressed_twice_at_once_gets_its_hint_once(house: House):
    house.memory.remember("The team uses PostgreSQL because of its JSON support.", thread_id="chat")
    [fact] = house.memory.items(FACTS)
    house.clock.forward(days=8)
    other = {**KINDS, "press": KINDS["compress"]}
    house.job("compress", "now")
    house.job("press", "now")
    names = ("compress", "press")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.jobs.test_struck_once.KINDS", other)
        at_once(house, *names)
    assert levels(house, fact.id) == [1, 2, 3, 5]


def test_a_version_made_of_what_was_read_before_another_came_is_refused(house: House):
    told = house.world.tell("Ana drinks tea.")
    held = house.world.held(told.item)
    house.world.apply(Derive(house.world.version(told.item, told.event)), expect={told.item.id: held.rev})
    with pytest.raises(Stale):
        house.world.apply(Derive(house.world.version(told.item, told.event)), expect={told.item.id: held.rev})
    assert len(house.store.versions(house.tenant, told.item.id)) == 2
