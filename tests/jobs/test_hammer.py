"""The hammer as jobs: threads are closed when they have come to rest, and memories pressed by and by."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from recollect.care.restore import Session
from recollect.domain.change import Append, Create, Derive
from recollect.domain.event import Event
from recollect.domain.ids import CauseId, EventId, ItemId
from recollect.domain.item import Archived, Visibility
from recollect.domain.job import Leased
from recollect.domain.level import Level
from recollect.domain.query import Filters, Query
from recollect.errors import LeaseLost, Stale
from recollect.jobs import kinds, schedule
from recollect.jobs.kinds import KINDS
from recollect.policy import distil
from recollect.policy.distil import Draft, Material
from recollect.write.message import Message
from tests.jobs.conftest import House

SAID = (
    "We decided to move the login from JWT tokens to sessions because the tokens were too large.",
    "The session cookie lives for 30 days and is signed with the server key.",
    "The sessions live in PostgreSQL, in the schema auth.",
)


def say(house: House, *texts: str, thread: str = "login", **where: str) -> ItemId:
    messages = [Message(text=text, author="Mira") for text in texts or SAID]
    return house.memory.append(messages, thread_id=thread, **where).episode_id


def levels(house: House, item_id: ItemId) -> list[int]:
    return sorted(version.level for version in house.store.versions(house.tenant, item_id))


def work(house: House) -> int:
    return house.worker(KINDS).run_until_idle()


def due(house: House, episode: ItemId) -> datetime:
    return house.status("close", episode).job.not_before


# -- closing -------------------------------------------------------------------------------------------------


def test_a_thread_is_summed_up_when_it_has_been_silent_for_a_while_and_not_before(house: House):
    episode = say(house)
    house.clock.forward(minutes=59)
    work(house)
    assert levels(house, episode) == []
    house.clock.forward(minutes=2)
    work(house)
    assert levels(house, episode) == [1, 2, 3, 4, 5]
    assert house.status("close", episode).done_at is not None


def test_what_is_said_meanwhile_moves_the_close_on(house: House):
    episode = say(house)
    house.clock.forward(minutes=40)
    say(house, "The logout endpoint /api/logout clears the cookie.")
    later = house.clock.at
    house.clock.forward(minutes=21)
    assert work(house) == 1, "it looks, and finds that the thread is not silent"
    assert levels(house, episode) == []
    assert timedelta(0) <= later + timedelta(minutes=60) - due(house, episode) < timedelta(seconds=1)
    house.clock.forward(minutes=40)
    work(house)
    assert levels(house, episode) == [1, 2, 3, 4, 5]


def test_a_thread_that_goes_on_is_closed_again(house: House):
    episode = say(house)
    house.clock.forward(hours=2)
    work(house)
    say(house, "We decided to add passkeys to the login, next to the sessions.")
    house.clock.forward(hours=2)
    work(house)
    handles = [v.content for v in house.store.versions(house.tenant, episode) if v.level is Level.R5]
    assert handles == ["s:1-3", "s:1-4"]


def test_what_is_said_while_it_is_being_closed_is_not_forgotten(house: House):
    """The job is asked for while it runs: it runs again, and waits for the thread to fall silent once more."""
    episode = say(house)
    house.clock.forward(hours=2)
    leased = house.store.claim("bo", now=house.clock.now(), lease=timedelta(minutes=1), kinds=["close"], cap=9)
    assert leased is not None
    outcome = kinds.close(house.parts, leased)
    say(house, "We decided to add passkeys to the login, next to the sessions.")
    house.worker(KINDS)._write(leased, outcome)
    work(house)
    assert house.status("close", episode).done_at is None
    house.clock.forward(hours=2)
    work(house)
    assert house.status("close", episode).done_at is not None
    assert [v.content for v in house.store.versions(house.tenant, episode) if v.level is Level.R5][-1] == "s:1-4"


def test_a_thread_of_stated_memories_tells_no_story_and_is_summed_up_on_request_alone(house: House):
    for text in SAID:
        kept = house.memory.remember(text)
    [episode] = {event.item_id for event in house.store.events_by_id(house.tenant, [kept.event_id])}
    house.clock.forward(days=2)
    work(house)
    house.memory.compress()
    assert levels(house, episode) == []
    house.memory.close_episode(episode)
    assert levels(house, episode) == [1, 2, 3, 4, 5]


def test_a_locked_episode_is_closed_when_its_lock_has_run_out(house: House):
    episode = say(house)
    version = house.world.version(
        house.world.held(episode).item, house.store.events(house.tenant, episode)[0], content="The login moves."
    )
    house.world.apply(Derive(version))
    house.clock.forward(minutes=50)
    house.memory.promote(episode, version.id, minutes=60)
    house.clock.forward(minutes=20)
    work(house)
    assert levels(house, episode) == [3]
    house.clock.forward(minutes=45)
    work(house)
    assert levels(house, episode) == [1, 2, 3, 3, 4, 5]


def test_a_statement_closes_nothing(house: House):
    house.memory.remember("Mira drinks tea.")
    assert {status.job.kind for status in house.store.jobs(house.tenant)} <= {"embed", "judge"}


def test_messages_that_are_taken_in_close_their_thread_too(house: House):
    episode = house.memory.ingest([Message(text=text, author="Mira") for text in SAID], thread_id="a").episode_id
    house.clock.forward(hours=2)
    work(house)
    assert levels(house, episode) == [1, 2, 3, 4, 5]


def test_what_was_said_long_ago_is_closed_after_it_arrived(house: House):
    old = house.clock.at - timedelta(days=900)
    messages = [Message(text=text, author="Mira", ts=old) for text in SAID]
    episode = house.memory.append(messages, thread_id="import").episode_id
    house.clock.forward(minutes=30)
    work(house)
    assert levels(house, episode) == []
    house.clock.forward(minutes=31)
    work(house)
    assert levels(house, episode) == [1, 2, 3, 4, 5]


def test_a_thread_that_is_gone_is_not_closed(house: House):
    episode = say(house)
    house.memory.erase(episode)
    house.clock.forward(hours=2)
    work(house)
    assert house.status("close", episode).done_at is not None


def test_a_step_that_lost_its_lease_writes_nothing(house: House):
    episode = say(house)
    house.clock.forward(hours=2)
    leased = house.store.claim("bo", now=house.clock.now(), lease=timedelta(minutes=1), kinds=["close"], cap=9)
    assert isinstance(leased, Leased)
    outcome = kinds.close(house.parts, leased)
    house.clock.forward(minutes=5)
    work(house)
    with pytest.raises((LeaseLost, Stale)):
        house.worker(KINDS)._write(leased, outcome)
    assert levels(house, episode) == [1, 2, 3, 4, 5]


# -- by and by -----------------------------------------------------------------------------------------------


@pytest.fixture
def clockwork(house: House) -> House:
    schedule.ensure(house.store, house.tenant, house.clock.now(), {"compress": KINDS["compress"]})
    return house


def bare_thread(house: House, name: str, *texts: str, **fields: object) -> ItemId:
    """A thread that nobody asked to be closed, as an import leaves it."""
    house.clock.forward(seconds=1)
    episode = house.world.episode(name, user_id=fields.pop("user_id", "mira"), **fields)
    at = house.clock.now()
    said = [
        Event(id=EventId(house.clock.mint()), item_id=episode.id, ts=at, author="Mira", text=text)
        for text in texts or SAID
    ]
    house.world.apply(Create(episode), *map(Append, said))
    return episode.id


def test_threads_that_nobody_closed_are_found_by_the_clock(clockwork: House):
    threads = [bare_thread(clockwork, f"t{number}") for number in range(20)]
    clockwork.clock.forward(hours=2)
    steps = clockwork.worker({"compress": KINDS["compress"]}).run_until_idle()
    assert steps > 2, "a step does not do everything at once"
    assert all(levels(clockwork, thread) == [1, 2, 3, 4, 5] for thread in threads)
    before = clockwork.world.state()
    clockwork.clock.forward(hours=1)
    assert clockwork.worker({"compress": KINDS["compress"]}).run_until_idle() > 0
    assert clockwork.world.state() == before


def test_a_memory_that_cannot_be_compressed_holds_up_none_of_the_others(
    clockwork: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    odd, plain = bare_thread(clockwork, "odd", "walnut " * 9), bare_thread(clockwork, "plain")

    def clean(material: Material) -> Draft:
        if material.item.id == odd:
            raise ValueError(material.events[0].text)
        return distil.cleaning.clean(material)

    monkeypatch.setattr("recollect.policy.distil.clean", clean)
    clockwork.clock.forward(hours=2)
    clockwork.worker({"compress": KINDS["compress"]}).run_until_idle()
    assert levels(clockwork, plain) == [1, 2, 3, 4, 5]
    assert levels(clockwork, odd) == []
    assert odd in caplog.text
    assert "walnut" not in caplog.text, "a log holds no memory"


def test_a_thread_that_fell_silent_just_now_is_left_to_its_own_job(clockwork: House):
    thread = bare_thread(clockwork, "login")
    worker = clockwork.worker({"compress": KINDS["compress"]})
    clockwork.clock.forward(minutes=65)
    clockwork.job("compress", "now")
    worker.run_until_idle()
    assert levels(clockwork, thread) == []
    clockwork.clock.forward(minutes=6)
    clockwork.job("compress", "now")
    worker.run_until_idle()
    assert levels(clockwork, thread) == [1, 2, 3, 4, 5]


def test_an_old_episode_comes_down_by_the_clock_and_the_run_can_be_taken_back(clockwork: House):
    thread = bare_thread(clockwork, "login")
    worker = clockwork.worker({"compress": KINDS["compress"]})
    clockwork.clock.forward(hours=2)
    worker.run_until_idle()
    before = clockwork.world.state()
    clockwork.clock.forward(days=31)
    worker.run_until_idle()
    assert clockwork.world.held(thread).item.default_level is Level.R2
    last = clockwork.world.journal()[-1].header
    assert last.actor == "job:compress"
    assert last.cause
    clockwork.memory.rollback(Session(CauseId(last.cause)))
    assert clockwork.world.state() == before


def test_the_job_works_in_silos_and_nothing_leaves_them(clockwork: House):
    silo = {"visibility": Visibility.AGENT_SILO, "agent_id": "robin", "user_id": None, "topic_key": "login"}
    inside = [bare_thread(clockwork, f"s{number}", **silo) for number in range(2)]
    outside = bare_thread(clockwork, "login", topic_key="login")
    wren = bare_thread(clockwork, "login", **{**silo, "agent_id": "wren"})
    worker = clockwork.worker({"compress": KINDS["compress"]})
    clockwork.clock.forward(hours=2)
    worker.run_until_idle()
    clockwork.clock.forward(days=8)
    worker.run_until_idle()
    assert all(set(levels(clockwork, thread)) == {1, 2, 3, 4, 5} for thread in (*inside, outside, wren))
    states = {thread: clockwork.world.held(thread).item.state for thread in (*inside, outside, wren)}
    assert [isinstance(states[thread], Archived) for thread in (*inside, outside, wren)] == [True, False, False, False]
    assert clockwork.world.held(inside[0]).item.superseded_by == inside[1]


def test_what_an_erasure_took_is_made_anew_by_the_clock(clockwork: House):
    thread = bare_thread(clockwork, "login", *SAID)
    told = clockwork.world.tell("Mira hides the key under the walnut tree.", thread="login", user_id="mira")
    worker = clockwork.worker({"compress": KINDS["compress"]})
    clockwork.clock.forward(hours=2)
    worker.run_until_idle()
    clockwork.memory.erase(told.item.id)
    assert levels(clockwork, thread) == []
    clockwork.clock.forward(hours=1)
    worker.run_until_idle()
    assert levels(clockwork, thread) == [1, 2, 3, 4, 5]
    assert not any("walnut" in line for line in clockwork.world.state())


def test_that_a_fact_has_a_hint_by_now_is_no_news(clockwork: House):
    clockwork.memory.remember("The team uses PostgreSQL because of its JSON support.", thread_id="chat")
    asked = Query(text="which database does the team use?", thread_id="chat")
    assert clockwork.memory.query(asked).header
    clockwork.clock.forward(days=8)
    clockwork.worker({"compress": KINDS["compress"]}).run_until_idle()
    [fact] = clockwork.memory.items(Filters(kinds=frozenset({"fact"})))
    assert levels(clockwork, fact.id) == [1, 2, 3, 5]
    assert clockwork.memory.query(asked).header == ()


# -- what else comes by the clock ----------------------------------------------------------------------------


def test_memories_of_a_project_that_moved_on_are_archived_overnight(house: House):
    kept = house.memory.remember("The atlas uses tiles of 256 pixels.", project_id="atlas")
    house.memory.advance_epoch("atlas", "released")
    schedule.ensure(house.store, house.tenant, house.clock.now(), {"retire": KINDS["retire"]})
    house.clock.forward(days=20)
    house.worker({"retire": KINDS["retire"]}).run_until_idle()
    assert not isinstance(house.world.held(kept.item_id).item.state, Archived)
    house.clock.forward(days=20)
    house.worker({"retire": KINDS["retire"]}).run_until_idle()
    assert isinstance(house.world.held(kept.item_id).item.state, Archived)


def test_a_repository_that_cannot_be_read_holds_nothing_up(
    house: House, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    house.memory.remember("The atlas uses tiles of 256 pixels.", project_id="atlas")
    parts = replace(house.parts, repositories={"atlas": str(tmp_path / "nowhere")})
    house.job("follow")
    house.worker({"follow": KINDS["follow"]}, deps=parts).run_until_idle()
    assert house.status("follow").done_at is not None
    assert "atlas" in caplog.text
