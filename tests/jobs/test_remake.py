"""What rules of before made of messages is made anew from the messages: one run, one undo, nothing twice."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from recollect.care.remake import Remade
from recollect.care.restore import Session
from recollect.domain.change import Create, Derive, Link, Protect, Verb, revise
from recollect.domain.event import Event
from recollect.domain.ids import CauseId, ItemId, TenantId
from recollect.domain.item import Archived, Item, Visibility
from recollect.domain.level import Derivation, Level
from recollect.domain.prompt import Prompt
from recollect.domain.scope import Principal, Role
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness
from recollect.errors import Forbidden, LeaseLost, ModelFailed, Stale, StoreBusy
from recollect.jobs import remake as flow
from recollect.jobs.kind import Kind
from recollect.jobs.kinds import KINDS
from recollect.memory import Memory
from recollect.write.foreign import Thread
from recollect.write.message import Message
from tests.jobs.conftest import House
from tests.jobs.old_store import HAMMER, Old, old_thread, spoken, words

T = TypeVar("T")
REMAKE = {"remake": KINDS["remake"]}
WALNUTS = "I'm allergic to walnuts and my sister Ines must never cook with them."
GRAZ = "I live in the city of Graz."
RIGHT = "Mira lives in the city of Graz."
"""What the rules of now make of it."""


def run(house: House) -> Remade:
    """A whole run."""
    _, cause = house.memory.remake()
    assert cause is not None
    while house.worker(REMAKE).run_once():
        house.clock.forward(seconds=1)  # ids of one moment come in any order
    found = house.memory.remade(cause)
    assert found.settled
    assert not found.failed
    return found


def entries(house: House, cause: str) -> int:
    return len(house.store.entries(house.tenant, cause=CauseId(cause)))


def item(house: House, old: Item) -> Item:
    return house.world.held(old).item


@pytest.fixture
def thread(house: House) -> Old:
    return old_thread(house, "family", WALNUTS, GRAZ, "ok thanks!")


# -- facts ---------------------------------------------------------------------------------------------------


def test_a_memory_that_was_not_said_gives_way_to_the_words_that_were(house: House, thread: Old):
    false = thread.fact("Ines is allergic to walnuts.", 1)
    found = run(house)
    gone = item(house, false)
    assert isinstance(gone.state, Archived)
    assert gone.superseded_by is not None
    assert "walnuts" in spoken(house, gone.superseded_by).content
    quoted = spoken(house, gone.superseded_by).bullets[0].quotation
    assert quoted is not None
    assert quoted.words == WALNUTS
    cited = house.store.cited(house.tenant, [spoken(house, gone.superseded_by).id])
    assert [event.id for event in cited] == [thread.events[0].id]
    assert (found.created, found.hidden) == (2, 1)


def test_only_a_memory_that_says_the_same_takes_over(house: House):
    thread = old_thread(house, "walls", WALNUTS)
    other = thread.fact("Bo paints the kitchen green.", 1)
    run(house)
    assert isinstance(item(house, other).state, Archived)
    assert item(house, other).superseded_by is None


def test_what_nothing_bears_out_goes_out_of_sight_and_is_kept(house: House, thread: Old):
    junk = thread.fact("Mira is okay with it.", 3)
    run(house)
    assert isinstance(item(house, junk).state, Archived)
    assert item(house, junk).superseded_by is None
    assert "Mira is okay with it." in words(house, states=["archived"])


def test_a_memory_that_was_right_word_for_word_stays(house: House, thread: Old):
    right = thread.fact(RIGHT, 2, importance=4)
    found = run(house)
    assert item(house, right).importance == 4
    assert [text for text in words(house) if "Graz" in text] == [RIGHT]
    assert found.renewed == 1
    assert item(house, right).state == right.state


def test_no_cap_leaves_anything_out(house: House, thread: Old):
    facts = " ".join(f"I own boat number {number} since 2020." for number in range(1, 9))
    old = old_thread(house, "boats", facts)
    old.fact("Mira has boats.", 1)
    run(house)
    assert all(any(f"number {number} " in text for text in words(house)) for number in range(1, 9))


def _pin(house: House, fact: Item) -> None:
    house.memory.pin(fact.id)


def _delete(house: House, fact: Item) -> None:
    house.memory.delete(fact.id)


def _protect(house: House, fact: Item) -> None:
    house.world.apply(Protect(fact.id, False, True))


def _promote(house: House, fact: Item) -> None:
    house.memory.promote(fact.id, spoken(house, fact.id).id)
    house.clock.forward(days=1)


def _revise(house: House, fact: Item) -> None:
    house.memory.revise(fact.id, importance=5)


def _core(house: House, fact: Item) -> None:
    held = house.world.held(fact)
    house.world.apply(revise(held.item, replace(held.item, core=True), house.clock.now()), actor=HAMMER)


def _state(house: House, fact: Item) -> None:
    house.memory.remember(spoken(house, fact.id).content)


def _restore(house: House, fact: Item) -> None:
    house.memory.archive(fact.id)
    house.memory.restore(fact.id)


@pytest.mark.parametrize("hand", [_pin, _protect, _promote, _revise, _core, _state, _restore])
def test_what_people_had_a_hand_in_is_left_alone(house: House, thread: Old, hand: Callable[[House, Item], None]):
    fact = thread.fact("Ines is allergic to walnuts.", 1)
    house.clock.forward(seconds=1)
    hand(house, fact)
    before = house.world.held(fact)
    run(house)
    assert house.world.held(fact) == before
    assert not [text for text in words(house) if "walnuts" in text and text != "Ines is allergic to walnuts."]


def test_what_a_reader_changed_by_the_way_was_no_persons_hand(house: House, thread: Old):
    fact = thread.fact("Mira has an allergy.", 1)
    held = house.world.held(fact)
    fuller = house.world.version(fact, EventWitness(thread.events[0].id), content="Ines has an allergy to walnuts.")
    change = revise(held.item, replace(held.item, importance=4), house.clock.now(), Verb.UPDATE)
    house.clock.forward(seconds=1)
    house.world.apply(change, Derive(fuller))  # as a turn that is taken in with `wait` is written
    run(house)
    assert isinstance(item(house, fact).state, Archived)


def test_what_a_language_model_was_this_sure_of_is_left_alone(house: House, thread: Old):
    fact = thread.fact("Ines is allergic to walnuts.", 1, confidence=0.97)
    before = house.world.held(fact)
    run(house)
    assert house.world.held(fact) == before


def test_what_was_stated_is_no_reading_of_rules(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    stated = house.memory.remember("Mira owns the red boat.", thread_id="family")
    before = house.world.held(stated.item_id)
    run(house)
    assert house.world.held(stated.item_id) == before
    assert [text for text in words(house) if "red boat" in text] == ["Mira owns the red boat."]


def test_what_somebody_hid_does_not_come_back_in_other_words(house: House, thread: Old):
    thread.fact(RIGHT, 2)
    forgotten = thread.fact("Mira is allergic to walnuts and Ines cooks.", 1)
    house.memory.delete(forgotten.id)
    run(house)
    assert not [text for text in words(house) if "walnuts" in text]


def test_what_would_come_back_with_hidden_words_stays_as_it_was(house: House, thread: Old):
    hidden = thread.fact("Mira is allergic to walnuts.", 1)
    beside = thread.fact("The sister Ines must never cook with walnuts.", 1)
    house.memory.delete(hidden.id)
    before = house.world.held(beside)
    run(house)
    assert house.world.held(beside) == before
    assert [text for text in words(house) if "walnuts" in text] == ["The sister Ines must never cook with walnuts."]


def test_what_is_only_kept_as_evidence_is_not_read(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    house.memory.append([Message(text="I own the red boat since May.", author="Mira", role="user")], thread_id="raw")
    run(house)
    assert not [text for text in words(house) if "red boat" in text]


def test_what_a_job_is_about_to_read_is_left_to_it(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    said = Message(text="I own the red boat since May.", author="Mira", role="user")
    house.memory.ingest([said], thread_id="family")
    found = run(house)
    assert not [text for text in words(house) if "red boat" in text]
    house.worker({"extract": KINDS["extract"]}).run_until_idle()
    assert len([text for text in words(house) if "red boat" in text]) == 1
    assert found.created == 2


def test_two_threads_that_say_the_same_share_a_memory(house: House, thread: Old):
    other = old_thread(house, "travel", GRAZ)
    one, two = thread.fact("Mira is from Graz.", 2), other.fact("Mira stays in Graz.", 1)
    run(house)
    [said] = [text for text in words(house) if "Graz" in text]
    assert said == RIGHT
    assert item(house, one).superseded_by == item(house, two).superseded_by
    assert item(house, one).superseded_by is not None
    cited = house.store.cited(house.tenant, [spoken(house, item(house, one).superseded_by or one.id).id])
    assert {event.id for event in cited} == {thread.events[1].id, other.events[0].id}


def test_a_memory_that_was_right_is_shared_by_threads_read_later(house: House, thread: Old):
    other = old_thread(house, "travel", GRAZ)
    other.fact(RIGHT, 1)
    thread.fact("Mira is from Graz.", 2)
    run(house)
    assert [text for text in words(house) if "Graz" in text] == [RIGHT]


def test_nothing_is_merged_with_a_memory_that_may_be_wrong(house: House, thread: Old):
    wrong = thread.fact("Mira own two boats Marstal.", 3)
    other = old_thread(house, "boats", "I own two boats in Marstal now.")
    other.fact("Mira has boats.", 1)
    run(house)
    assert isinstance(item(house, wrong).state, Archived)
    [said] = [text for text in words(house) if "boats" in text]
    assert "I own two boats in Marstal now." in said


def test_a_thread_longer_than_a_step_is_read_to_its_end(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(flow, "READ", 3)
    old = old_thread(house, "boats", *(f"I own boat number {number} since 2020." for number in range(1, 12)))
    old.fact("Mira has boats.", 1)
    run(house)
    assert len(words(house)) == 11


def test_what_a_run_has_hidden_itself_holds_nothing_back(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(flow, "READ", 1)
    old = old_thread(house, "boats", "I own two boats in Marstal now.", "I own three green boats in Kiel since 2020.")
    old.fact("Mira has green boats in Kiel since Marstal.", 1, 2)
    run(house)
    assert any("three green boats in Kiel" in text for text in words(house))


def test_what_somebody_pins_while_it_is_read_is_left_alone(house: House, thread: Old):
    fact = thread.fact("Ines is allergic to walnuts.", 1)
    house.memory.remake()
    house.worker(REMAKE).run_once()
    leased = house.store.claim("bo", now=house.clock.now(), lease=timedelta(minutes=1), kinds=["remake"], cap=9)
    assert leased is not None
    outcome = flow.remake(house.parts, leased)
    house.memory.pin(fact.id)
    with pytest.raises(Stale):
        house.worker(REMAKE)._write(leased, outcome)


def test_silos_are_read_again_and_nothing_leaves_them(house: House):
    silo = {"visibility": Visibility.AGENT_SILO, "agent_id": "robin", "user_id": None}
    old = old_thread(house, "inside", GRAZ, **silo)
    false = old.fact("Mira left Graz.", 1, agent_id="robin")
    run(house)
    new = item(house, false).superseded_by
    assert new is not None
    assert item(house, house.world.held(new).item).visibility is Visibility.AGENT_SILO


# -- one run, one undo ---------------------------------------------------------------------------------------


def test_one_rollback_takes_the_whole_run_back(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    thread.fact(RIGHT, 2)
    thread.summary("Ines is allergic to walnuts.")
    other = old_thread(house, "boats", "We decided to use port 5433 for the boat server.", "I own two boats since May.")
    other.fact("The boat server uses port 5433 and 2 boats.", 1, 2)
    before = house.world.state()
    found = run(house)
    assert house.world.state() != before
    house.memory.rollback(Session(found.cause))
    assert house.world.state() == before
    assert house.world.is_whole()


def test_contradictions_that_a_run_finds_go_with_it(house: House):
    old = old_thread(
        house,
        "standup",
        "I always start standup at 9:30 in the small room.",
        "I always start standup at 10:15 in the small room.",
    )
    old.fact("Standup is in the small room.", 1)
    before = house.world.state()
    found = run(house)
    assert house.store.records(house.tenant, "contradiction")
    assert {entry.header.actor for entry in house.store.entries(house.tenant, cause=found.cause)} == {"job:remake"}
    house.memory.rollback(Session(found.cause))
    assert house.world.state() == before


def test_a_second_run_has_nothing_to_do(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    thread.fact(RIGHT, 2)
    thread.summary("Ines is allergic to walnuts.")
    run(house)
    before = house.world.state()
    again = run(house)
    assert entries(house, again.cause) == 0
    assert house.world.state() == before


def test_a_second_run_has_nothing_to_do_where_nobody_is_quoted(house: House):
    thread = old_thread(house, "home", GRAZ, "ok thanks!", "haha, that was quick!")
    thread.fact("Mira moved to Graz.", 1)
    thread.fact(RIGHT, 1)
    thread.summary("Mira moved to Graz.")
    run(house)
    assert house.store.quoted_since(house.tenant) is None
    assert RIGHT in words(house)
    assert entries(house, run(house).cause) == 0


def test_after_an_undo_it_can_be_run_again(house: House, thread: Old):
    false = thread.fact("Ines is allergic to walnuts.", 1)
    house.memory.rollback(Session(run(house).cause))
    assert item(house, false).state == false.state
    again = run(house)
    assert (again.created, again.hidden) == (2, 1)


def test_what_is_made_by_the_rules_of_now_is_not_made_anew(house: House):
    said = Message(text="I own the red boat since May.", author="Mira", role="user")
    quote = Message(text="We decided that it must stay here.", author="Mira", role="user")
    house.memory.ingest([said, quote], thread_id="boats", wait=True)
    assert words(house)
    before = house.world.state()
    assert entries(house, run(house).cause) == 0
    assert house.world.state() == before


@pytest.mark.parametrize("lives", [1, 2])
def test_a_run_that_is_killed_in_every_step_does_nothing_twice(
    house: House, monkeypatch: pytest.MonkeyPatch, lives: int
):
    monkeypatch.setattr(flow, "READ", 1)
    whole, broken = _same_again(house), _same_again(House(house.parts, house.clock))
    run(whole)
    _, cause = broken.memory.remake()
    assert cause is not None
    deaths = 0
    while not broken.memory.remade(cause).settled:
        leased = broken.store.claim("bo", now=house.clock.now(), lease=timedelta(minutes=1), kinds=["remake"], cap=9)
        assert leased is not None
        for _ in range(lives):
            outcome = flow.remake(broken.parts, leased)  # it decides; then the lights go out
            deaths += 1
        house.clock.forward(minutes=2)
        assert broken.worker(REMAKE).run_once()
        with pytest.raises((LeaseLost, Stale)):
            broken.worker(REMAKE)._write(leased, outcome)
    assert deaths > 4
    assert words(broken) == words(whole)
    assert words(broken, states=["archived"]) == words(whole, states=["archived"])
    assert _written(broken) == _written(whole)
    assert broken.world.is_whole()


def _written(house: House) -> list[str]:
    return [entry.header.op for entry in house.world.journal() if entry.header.actor == "job:remake"]


def _same_again(house: House) -> House:
    old = old_thread(house, "family", WALNUTS, GRAZ, "I own the red boat since May.")
    old.fact("Ines is allergic to walnuts.", 1)
    old.fact(RIGHT, 2)
    old.summary("Ines is allergic to walnuts.")
    return house


def test_a_run_that_was_given_up_goes_on_under_its_own_name(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    before = house.world.state()

    def broken(*_: Any) -> Any:
        raise StoreBusy("not now")

    _, cause = house.memory.remake()
    assert cause is not None
    house.worker(REMAKE).run_once()
    house.worker(REMAKE).run_once()
    house.worker({"remake": Kind(broken, attempts=1)}).run_once()
    assert house.memory.remade(cause).failed
    assert house.memory.remade(cause).settled, "nobody need wait for it"
    found = run(house)
    assert found.cause == cause
    house.memory.rollback(Session(cause))
    assert house.world.state() == before


def test_a_run_that_is_asked_for_while_it_is_under_way_is_the_same_run(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    _, cause = house.memory.remake()
    house.worker(REMAKE).run_once()
    assert house.memory.remake()[1] == cause
    house.worker(REMAKE).run_until_idle()
    assert house.status("remake", "remake").done_at is not None


def test_how_far_it_is_shows_with_a_total(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(flow, "READ", 2)
    for name in "abc":
        old = old_thread(house, name, *(f"I own boat number {number} since 2020." for number in range(1, 6)))
        old.fact("Mira has boats.", 1)
    _, cause = house.memory.remake()
    assert cause is not None
    worker, told = house.worker(REMAKE), []
    while worker.run_once():
        told.append(house.memory.remade(cause))
    assert told[-1].settled
    shown = [(one.done, one.total) for one in told[:-1]]
    assert shown[0] == (0, 15)
    assert shown[-1] == (15, 15)
    assert [done for done, _ in shown] == sorted(done for done, _ in shown)
    assert len({done for done, _ in shown}) > 6
    assert {total for _, total in shown} == {15}


def test_others_are_not_kept_waiting_by_a_long_run(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    house.memory.remake()
    house.worker(REMAKE).run_once()
    house.tally(steps=1)
    house.clock.forward(seconds=1)
    both = house.worker({**REMAKE, "tally": house.worker().kinds["tally"]})
    both.run_once()
    both.run_once()
    assert house.left() == ["one 0"]


def test_a_dry_run_counts_and_writes_nothing(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    pinned = thread.fact(RIGHT, 2)
    house.memory.pin(pinned.id)
    thread.summary("Ines is allergic to walnuts.")
    before = house.world.dump()
    found, cause = house.memory.remake(dry_run=True)
    assert cause is None
    assert (found.threads, found.messages, found.memories, found.summaries) == (1, 3, 1, 1)
    assert house.world.dump() == before


@pytest.mark.parametrize("role", [Role.MEMBER, Role.MODERATOR])
def test_it_is_for_admins(house: House, role: Role):
    memory = Memory(house.parts, Principal(tenant=house.tenant, id="bo", role=role))
    with pytest.raises(Forbidden):
        memory.remake(dry_run=True)
    with pytest.raises(Forbidden):
        memory.remade(CauseId("x"))


def test_it_does_not_start_by_itself(house: House):
    assert KINDS["remake"].every is None
    house.memory.bulk([Thread("a", "", (Message(text=GRAZ, author="Mira", role="user"),))])
    house.worker(KINDS).run_until_idle()
    assert "remake" not in {status.job.kind for status in house.store.jobs(house.tenant)}


# -- private words -------------------------------------------------------------------------------------------


def test_private_messages_of_shared_threads_are_marked(house: House):
    shared = {"visibility": Visibility.PROJECT_SHARED, "project_id": "atlas", "user_id": None}
    old = old_thread(house, "lunch", "I was diagnosed with diabetes in May.", "The atlas has two boats.", **shared)
    mine = old_thread(house, "own", "I was diagnosed with diabetes in May.")
    refs = [f"e:{event.id}" for event in (*old.events, *mine.events)]
    assert house.store.withheld(house.tenant, refs, frozenset({"bo"})) == frozenset()
    run(house)
    assert house.store.withheld(house.tenant, refs, frozenset({"bo"})) == {f"e:{old.events[0].id}"}
    assert house.store.withheld(house.tenant, refs, frozenset({"mira"})) == frozenset()


# -- summaries -----------------------------------------------------------------------------------------------


def levels(house: House, item_id: ItemId) -> list[Level]:
    return sorted(version.level for version in house.store.versions(house.tenant, item_id))


def test_a_summary_of_before_is_made_anew_down_to_its_index_word(house: House, thread: Old):
    old = {version.id: version for version in thread.summary("Ines is allergic to walnuts.")}
    found = run(house)
    now = house.store.versions(house.tenant, thread.episode.id)
    assert sorted(version.level for version in now) == [1, 2, 3, 4, 5]
    assert [version.level for version in now if version.id in old] == [Level.R5]
    said = {RIGHT, f'Mira, 1 March 2026: "{WALNUTS}"'}
    assert {bullet.served for bullet in spoken(house, thread.episode.id).bullets} <= said
    assert "Ines is allergic" not in " ".join(version.content for version in now)
    assert found.summaries == 1
    house.memory.rollback(Session(found.cause))
    assert {version.id for version in house.store.versions(house.tenant, thread.episode.id)} == set(old)


def test_a_summary_that_a_language_model_wrote_stays(house: House, thread: Old):
    old = thread.summary("Ines is allergic to walnuts.", reason="named by the model")
    run(house)
    assert house.store.versions(house.tenant, thread.episode.id) == old


def test_what_was_made_of_an_old_summary_later_goes_with_it(house: House, thread: Old):
    old = thread.summary("Ines is allergic to walnuts.")
    said = Message(text="We decided that it must stay here.", author="Mira", role="user")
    house.memory.ingest([said], thread_id="boats", wait=True)
    assert house.store.quoted_since(house.tenant) is not None
    house.clock.forward(seconds=1)
    hint = house.world.version(
        thread.episode, level=Level.R2, content="a new hint", derived_from=old[2].id, derivation=Derivation.COMPRESS
    )
    house.world.apply(Derive(hint), actor=HAMMER)
    run(house)
    assert not {old[2].id, hint.id} & {version.id for version in house.store.versions(house.tenant, thread.episode.id)}


def test_a_summary_that_somebody_promoted_stays(house: House, thread: Old):
    old = thread.summary("Ines is allergic to walnuts.")
    house.memory.promote(thread.episode.id, old[2].id)
    house.clock.forward(days=1)
    run(house)
    assert house.store.versions(house.tenant, thread.episode.id) == old


def test_a_summary_that_the_hammer_promoted_is_made_anew(house: House, thread: Old):
    old = thread.summary("Ines is allergic to walnuts.")
    held = house.world.held(thread.episode)
    named = replace(held.item, active_version_id=old[2].id)
    house.world.apply(revise(held.item, named, house.clock.now(), Verb.PROMOTE), actor=HAMMER)
    run(house)
    assert spoken(house, thread.episode.id).id != old[2].id
    assert item(house, thread.episode).active_version_id is None


def test_a_thread_of_which_nothing_is_worth_a_summary_has_none_then(house: House):
    thread = old_thread(house, "chat", "ok thanks!", "haha")
    old = thread.summary("Mira thanks.")
    run(house)
    assert Level.R3 not in levels(house, thread.episode.id)
    assert house.store.versions(house.tenant, thread.episode.id)[0] == old[0]


def _part(house: House, thread: Old, summary: Version) -> Item:
    """What was split off: a memory of its own with words from the same summary."""
    part = replace(thread.episode, id=ItemId(house.clock.mint()), thread_id=None, topic_key="boats")
    bullet = Bullet("Mira's boat is allergic.", (EventWitness(thread.events[0].id, "said by Mira"),), "Facts")
    version = house.world.version(
        part, content="## Facts\n- Mira's boat is allergic.", bullets=(bullet,),
        derived_from=summary.id, derivation=Derivation.SPLIT,
    )  # fmt: skip
    link = house.world.relation(part, thread.episode, relation_type="part_of")
    house.world.apply(Create(part), Derive(version), Link(link), actor=HAMMER)
    return part


def test_what_was_split_off_goes_with_the_summary_it_came_from(house: House, thread: Old):
    part = _part(house, thread, thread.summary("Ines is allergic to walnuts.")[2])
    before = house.world.state()
    found = run(house)
    assert isinstance(item(house, part).state, Archived)
    assert house.store.versions(house.tenant, part.id) == []
    assert levels(house, thread.episode.id) == [1, 2, 3, 4, 5]
    assert house.store.relations(house.tenant, thread.episode.id) == []
    house.memory.rollback(Session(found.cause))
    assert house.world.state() == before


def test_a_part_that_the_hammer_promoted_a_version_of_goes_too(house: House, thread: Old):
    part = _part(house, thread, thread.summary("Ines is allergic to walnuts.")[2])
    held = house.world.held(part)
    named = replace(held.item, active_version_id=spoken(house, part.id).id)
    house.world.apply(revise(held.item, named, house.clock.now(), Verb.PROMOTE), actor=HAMMER)
    before = house.world.state()
    found = run(house)
    assert house.store.versions(house.tenant, part.id) == []
    assert item(house, part).active_version_id is None
    house.memory.rollback(Session(found.cause))
    assert house.world.state() == before


@pytest.mark.parametrize("hand", [_pin, _delete])
def test_a_part_that_somebody_had_a_hand_in_keeps_the_whole_as_it_is(
    house: House, thread: Old, hand: Callable[[House, Item], None]
):
    old = thread.summary("Ines is allergic to walnuts.")
    part = _part(house, thread, old[2])
    hand(house, part)
    run(house)
    assert house.store.versions(house.tenant, thread.episode.id) == old


def test_a_whole_that_somebody_pinned_keeps_its_parts_as_they_are(house: House, thread: Old):
    part = _part(house, thread, thread.summary("Ines is allergic to walnuts.")[2])
    before = house.store.versions(house.tenant, part.id)
    house.memory.pin(thread.episode.id)
    run(house)
    assert house.store.versions(house.tenant, part.id) == before


def test_threads_that_were_merged_stand_by_themselves_again(house: House):
    topic = {"topic_key": "login"}
    chat = ("Can you look at the login again, please? It is slow.", "haha thanks, that was quick!")
    first = old_thread(house, "one", "We decided to use sessions for the login.", *chat, **topic)
    second = old_thread(house, "two", "I always use passkeys for the login.", *chat, **topic)
    first.summary("The login uses sessions.")
    second.summary("The login uses passkeys.")
    held = house.world.held(first.episode)
    merged = Archived(house.clock.now(), "merged with others of its topic")
    over = replace(held.item, state=merged, superseded_by=second.episode.id)
    base = spoken(house, second.episode.id)
    foreign = Bullet("The login uses sessions.", (EventWitness(first.events[0].id, "said by Mira"),), "Facts")
    house.clock.forward(seconds=1)
    united = house.world.version(
        second.episode, content="## Facts\n- both", bullets=(*base.bullets, foreign),
        derived_from=base.id, derivation=Derivation.MERGE,
    )  # fmt: skip
    house.world.apply(revise(held.item, over, house.clock.now(), Verb.MERGE), Derive(united), actor=HAMMER)
    before = house.world.state()
    found = run(house)
    assert item(house, first.episode).superseded_by is None
    assert item(house, first.episode).state == first.episode.state
    assert "sessions" in spoken(house, first.episode.id).content
    assert "passkeys" in spoken(house, second.episode.id).content
    assert "sessions" not in spoken(house, second.episode.id).content
    house.memory.rollback(Session(found.cause))
    assert house.world.state() == before


# -- with a language model -----------------------------------------------------------------------------------


class Silent:
    """A language model that does not answer."""

    def write(self, prompt: Prompt[T], *, tenant: TenantId) -> T:
        raise ModelFailed("it is out")


def test_with_a_language_model_facts_are_left_alone_and_the_rest_is_done(house: House):
    house.parts = replace(house.parts, writer=Silent())
    house.memory = Memory(house.parts, house.memory.principal)
    shared = {"visibility": Visibility.PROJECT_SHARED, "project_id": "atlas", "user_id": None}
    chat = ("Can you look at the login again, please? It is slow.", "haha thanks, that was quick!")
    old = old_thread(house, "lunch", "I was diagnosed with diabetes in May.", GRAZ, *chat, **shared)
    fact = old.fact("Ines has diabetes.", 1)
    made = old.summary("Ines has diabetes.")
    before = house.world.held(fact)
    assert house.memory.remake(dry_run=True)[0].memories == 0
    run(house)
    assert house.world.held(fact) == before
    assert spoken(house, old.episode.id).id != made[2].id
    marked = house.store.withheld(house.tenant, [f"e:{event.id}" for event in old.events], frozenset({"bo"}))
    assert marked == {f"e:{old.events[0].id}"}


def test_an_event_is_only_ever_read(house: House, thread: Old):
    thread.fact("Ines is allergic to walnuts.", 1)
    before: list[Event] = list(house.store.events(house.tenant, thread.episode.id))
    run(house)
    assert list(house.store.events(house.tenant, thread.episode.id)) == before
