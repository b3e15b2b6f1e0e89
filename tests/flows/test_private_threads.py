"""What is made of a shared thread is made of what everybody may see: no length of it holds a private word."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollect.care.restore import OneEntry
from recollect.domain.change import Append, Derive, Note, Retract
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Item, Visibility
from recollect.domain.level import Level
from recollect.domain.query import Query, Source
from recollect.domain.scope import NOBODY, Actor, Role
from recollect.domain.version import Version
from recollect.errors import Forbidden
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.memory import Memory
from recollect.models.keeper import LocalKeeper
from recollect.models.local import LocalEmbedder
from recollect.policy.hammer import Why, reasons
from recollect.policy.prompts import ExtractedFacts
from recollect.write.draft import Draft
from recollect.write.message import Message
from recollect.write.private_words import open_title, unmarked_events
from tests.confided import HOUSE
from tests.doors import CANARY, COLLEAGUES, INSIDER, STATED, acting
from tests.flows.strikes import UPKEEP, hammer, pass_by
from tests.flows.test_writer import Scripted, fact, remembering
from tests.worlds import World

OPEN = (
    "We decided that the boathouse workshop is on Monday at nine.",
    "We agreed that the boathouse workshop has twelve seats.",
    "Cleo must book the boathouse until the third of May.",
)
PRIVATE = "My doctor put me on xyloquill for my diabetes."
ANA = Actor(id="ana", role=Role.MEMBER)


def talk(world: World, *texts: str) -> tuple[Item, list[Event]]:
    """A thread of the house; what is private in it is marked."""
    thread = world.episode("salon", **HOUSE)
    world.keep(thread)
    events = [world.event(thread, text, role="user") for text in texts]
    world.apply(*map(Append, events), private=_private(events), actor=ANA)
    return thread, list(world.store.events_by_id(world.tenant, [event.id for event in events]))


def _private(events: list[Event]) -> list[EventId]:
    return [event.id for event in events if CANARY.search(event.text)]


def closed(world: World, thread: Item) -> list[Version]:
    """The versions of a thread, once it was closed."""
    hammer(world).close(thread.id, actor=ANA)
    return list(world.store.versions(world.tenant, thread.id))


def due(world: World, thread: Item) -> tuple[Why, ...]:
    """Why a thread is struck a few hours later."""
    pass_by(world, timedelta(hours=5))
    [family] = hammer(world).anvil.open_families([world.held(thread)])
    return reasons(family, world.clock.now(), UPKEEP)


def test_every_length_of_a_shared_thread_is_made_without_its_private_words(world: World, tmp_path: Path):
    thread, _ = talk(world, OPEN[0], PRIVATE, OPEN[1], OPEN[2])
    made = closed(world, thread)
    assert {version.level for version in made} == set(Level)
    assert not CANARY.search(repr(made))
    [handle] = [version for version in made if version.level is Level.R5]
    assert "s:1-1" in handle.content
    assert "s:3-4" in handle.content
    assert world.store.withheld(world.tenant, [f"v:{version.id}" for version in made], NOBODY) == frozenset()
    for who in (*COLLEAGUES.values(), INSIDER):
        assert "boathouse" in acting(world.memory(tmp_path), who).show(thread.id).words


def test_a_thread_that_nobody_shares_is_summed_up_as_a_whole(world: World):
    thread, events = world.say(OPEN[0], PRIVATE, OPEN[1], OPEN[2])
    world.apply(private=[events[1].id])
    assert CANARY.search(repr(closed(world, thread)))


@pytest.mark.parametrize("texts", [(*OPEN, PRIVATE), (OPEN[0], PRIVATE, *OPEN[1:]), (PRIVATE, *OPEN)])
def test_a_thread_with_private_words_is_summed_up_once(world: World, texts: tuple[str, ...]):
    thread, _ = talk(world, *texts)
    assert Why.CLOSED in due(world, thread)
    closed(world, thread)
    assert Why.CLOSED not in due(world, thread)
    again = [world.event(thread, PRIVATE, role="user")]
    world.apply(*map(Append, again), private=_private(again), actor=ANA)
    assert Why.CLOSED not in due(world, thread), "a private word more is nothing to sum up"


def test_of_a_thread_with_nothing_but_private_words_nothing_is_made(world: World, tmp_path: Path):
    thread, _ = talk(world, PRIVATE, STATED)
    assert due(world, thread) == ()
    assert closed(world, thread) == []
    assert acting(world.memory(tmp_path), COLLEAGUES["member"]).thread(thread.id) == []
    assert CANARY.search(acting(world.memory(tmp_path), INSIDER).serve(thread.id).content)


def test_a_summary_of_words_that_turn_out_to_be_private_is_made_anew_without_them(world: World, tmp_path: Path):
    thread, events = talk(world, *OPEN, "We decided that the doctor comes for the vaccination on Tuesday.")
    closed(world, thread)
    assert Why.CLOSED not in due(world, thread)
    world.apply(private=[events[3].id])
    ben = acting(world.memory(tmp_path), COLLEAGUES["member"])
    assert not {one.level for one in ben.versions(thread.id)} & {Level.R4, Level.R5}
    assert Why.CLOSED in due(world, thread)
    closed(world, thread)
    assert {one.level for one in ben.versions(thread.id)} == set(Level)
    assert "boathouse" in ben.show(thread.id).words
    assert "doctor" not in repr([ben.show(thread.id), ben.serve(thread.id), ben.history(thread.id)])
    assert Why.CLOSED not in due(world, thread)


@pytest.mark.usefixtures("verbatim")
def test_a_summary_of_before_does_not_hide_that_an_event_was_taken_back(world: World):
    thread, events = talk(world, *OPEN)
    closed(world, thread)
    world.apply(private=[events[1].id])
    closed(world, thread)
    assert Why.CLOSED not in due(world, thread)
    world.apply(Retract(events[2]))
    assert Why.CLOSED in due(world, thread)


def test_nothing_is_made_of_a_version_that_holds_private_words(world: World, tmp_path: Path):
    thread, events = talk(world, PRIVATE)
    old = world.version(thread, events[0], content="# Xyloquill\n- Ana has diabetes.")
    world.apply(Derive(old))
    made = hammer(world).compress(actor=ANA, item_id=thread.id)
    assert not CANARY.search(repr(made))
    assert [version.id for version in world.store.versions(world.tenant, thread.id)] == [old.id]


# -- what comes in ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", COLLEAGUES)
def test_a_private_statement_is_for_who_took_part(world: World, tmp_path: Path, who: str):
    ana, other = acting(world.memory(tmp_path), INSIDER), acting(world.memory(tmp_path), COLLEAGUES[who])
    kept = ana.remember(STATED, project_id="house", thread_id="salon")
    assert world.held(kept.item_id).item.private
    assert world.store.withheld(world.tenant, [f"e:{kept.event_id}"], NOBODY)
    assert STATED in repr(ana.show(kept.item_id))
    thread = world.store.events_by_id(world.tenant, [kept.event_id])[0].item_id
    assert other.thread(thread) == []
    assert kept.item_id not in {item.id for item in other.items()}


def test_a_statement_that_is_not_private_is_for_the_project(world: World, tmp_path: Path):
    kept = acting(world.memory(tmp_path), INSIDER).remember(OPEN[1], project_id="house", thread_id="salon")
    assert not world.held(kept.item_id).item.private
    assert "seats" in acting(world.memory(tmp_path), COLLEAGUES["member"]).show(kept.item_id).words


CODE = "The garage code was changed to 4711 by Carla."
FULLER = "The garage code was changed to 4711 by Carla, and my doctor put me on xyloquill for my diabetes."


def _stated(memory: Memory, text: str, thread: str) -> None:
    memory.remember(text, project_id="house", thread_id=thread)


def _taken_in(memory: Memory, text: str, thread: str) -> None:
    said = [Message(text=text, author=memory.principal.id, role="user")]
    memory.ingest(said, project_id="house", thread_id=thread, wait=True)


def _taken_in_for_later(memory: Memory, text: str, thread: str) -> None:
    said = [Message(text=text, author=memory.principal.id, role="user")]
    memory.ingest(said, project_id="house", thread_id=thread)
    Worker(deps=memory._deps, kinds=KINDS, name="test").run_until_idle()


@pytest.mark.parametrize("says", [_stated, _taken_in, _taken_in_for_later])
@pytest.mark.parametrize("text", [f"{CODE} {PRIVATE}", FULLER])
def test_what_one_says_in_private_takes_no_memory_from_others(
    world: World, tmp_path: Path, says: Callable[[Memory, str, str], None], text: str
):
    """Nobody's memory is renewed, witnessed or ended by words that they may not read, and none of its reasons moves."""
    plain = world.memory(tmp_path)
    memory = Memory(replace(plain._deps, embedder=LocalEmbedder(), keeper=LocalKeeper()), plain.principal)
    ana, ben = acting(memory, INSIDER), acting(memory, COLLEAGUES["member"])
    kept = ana.remember(CODE, project_id="house", thread_id="errands").item_id
    before, asked = ana.show(kept), Query(text="the garage code", source=Source.MEMORY, explain=True)
    answer = ana.query(asked)
    says(ben, text, "clinic")
    assert ana.show(kept) == before
    assert replace(ana.query(asked), rev=answer.rev) == answer
    assert "xyloquill" in repr(ben.query(Query(text="garage code xyloquill")))


@pytest.mark.parametrize("wait", [True, False], ids=["at once", "by a job"])
def test_what_a_language_model_finds_private_takes_no_memory_from_others_either(
    world: World, tmp_path: Path, wait: bool
):
    """Of one message it makes two memories, one of them private: the other one is of a private message then."""
    odd = "On Thursdays I see Dr. Xyloquill at the blue house again."
    found = ExtractedFacts((fact(CODE, 1, category="knowledge"), fact(odd, 1, private=True)))
    plain, worker = remembering(world, tmp_path, Scripted(lambda prompt: found))
    ana, ben = acting(plain, INSIDER), acting(plain, COLLEAGUES["member"])
    kept = ana.remember(CODE, project_id="house", thread_id="errands").item_id
    before = ana.show(kept)
    said = [Message(text=f"{CODE} {odd}", author="ben", role="user")]
    ben.ingest(said, project_id="house", thread_id="clinic", wait=wait)
    worker.run_until_idle()
    assert any("Xyloquill" in line.words for line in ben.lines())
    assert ana.show(kept) == before
    assert "Xyloquill" not in repr(ana.lines())


def test_a_title_that_is_private_is_not_given_to_a_shared_thread(world: World, tmp_path: Path):
    said = [Message(text=OPEN[0], author="ana", role="user")]
    ana = acting(world.memory(tmp_path), INSIDER)

    def titled(title: str, **place: str) -> str:
        return ana.item(ana.ingest(said, title=title, **place).episode_id).body.title  # type: ignore[union-attr, arg-type]

    assert titled("Ana's diabetes", project_id="house", thread_id="one") == ""
    assert titled("The boathouse", project_id="house", thread_id="two") == "The boathouse"
    assert titled("Ana's diabetes", thread_id="three") == "Ana's diabetes", "a thread of her own keeps it"
    assert open_title(" ", Visibility.SYSTEM, None, world.clock.now()) == " "


def test_the_events_of_a_memory_that_was_found_to_be_private_are_private_too(world: World):
    thread, events = talk(world, OPEN[0], OPEN[1], PRIVATE)

    def found(*cited: Event, visibility: Visibility = Visibility.PROJECT_SHARED, private: bool = True) -> list[EventId]:
        body = world.item().body
        draft = Draft(text="x", body=body, category="knowledge", importance=3, witnesses=cited, private=private)
        return unmarked_events(world.store, world.scope, visibility, [draft], marked)

    marked: list[EventId] = []
    assert found(events[0], events[1]) == [events[0].id, events[1].id]
    assert found(events[0], events[2]) == [], "one of them is known to be private: the others need not be"
    assert found(events[0], private=False) == []
    assert found(events[0], visibility=Visibility.USER_PRIVATE) == []
    marked = [events[0].id]
    assert found(events[0], events[1]) == []
    assert thread.id == events[0].item_id


# -- going back in time -------------------------------------------------------------------------------------


def test_who_may_not_read_an_event_does_not_take_it_back(world: World, tmp_path: Path):
    thread, events = talk(world, OPEN[0], PRIVATE)
    seqs = {e.header.seq: e for e in world.journal() if e.header.op == "append"}
    open_entry, private_entry = (OneEntry(seq) for seq in sorted(seqs))
    for who in ("member", "moderator"):
        other: Memory = acting(world.memory(tmp_path), COLLEAGUES[who])
        assert other.preview_rollback(open_entry).undo
        with pytest.raises(Forbidden, match="private words of others") as refused:
            other.preview_rollback(private_entry)
        assert not CANARY.search(repr(refused.value))
    admin = acting(world.memory(tmp_path), COLLEAGUES["admin"])
    plan = admin.preview_rollback(private_entry)
    assert plan.undo == ()
    assert [(one.does, one.item_id) for one in plan.unread] == [("retract", thread.id)]
    assert acting(world.memory(tmp_path), INSIDER).preview_rollback(private_entry).unread == ()
    _, done = admin.rollback(private_entry)
    assert done == plan
    assert [event.id for event in world.store.events(world.tenant, ItemId(thread.id))] == [events[0].id]


def test_a_contradiction_does_not_tell_what_a_private_memory_says(world: World, tmp_path: Path):
    memory = world.memory(tmp_path)
    ana, ben = acting(memory, INSIDER), acting(memory, COLLEAGUES["member"])
    private = ana.remember(STATED, project_id="house", thread_id="salon").item_id
    plain = ben.remember("Nobody is ill.", user_id="ben").item_id
    found = replace(world.contradiction(world.held(plain).item, world.held(private).item), why="xyloquill or not ill")
    world.apply(Note(None, found))
    assert not CANARY.search(repr([ben.history(plain), list(ben.export_user("ben"))]))
    assert found.id not in "\n".join(line for line in ben.export_user("ben") if '"contradiction"' in line)
    shared = ana.remember("The doctor is on holiday.", project_id="house", thread_id="salon").item_id
    world.apply(Note(None, world.contradiction(world.held(shared).item, world.held(private).item)))
    assert [entry.body is not None for entry in ana.history(shared) if "contradiction" in entry.header.op] == [True]
