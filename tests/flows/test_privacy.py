"""Privacy belongs to the words: by no way of reading do they reach somebody who took no part in the thread."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from recollect.care.restore import OneMemory
from recollect.domain.change import Append, Create, Derive, Discard, revise
from recollect.domain.event import Trust
from recollect.domain.ids import Rev
from recollect.domain.item import Fact
from recollect.domain.level import Level
from recollect.domain.query import Filters, Form, Query, Source
from recollect.domain.scope import Actor, Principal, Role
from recollect.domain.turn import NEED_MORE_CONTEXT, Task
from recollect.errors import Invalid, NotFound
from recollect.memory import Memory
from tests.confided import HOUSE, LATER, OPEN, PRIVATE, QUESTION, SECRET, THREAD, Confided, again, confide, ids, tried
from tests.flows.conftest import every_event
from tests.worlds import World

COLLEAGUES = {
    "member": {"id": "ben", "role": Role.MEMBER, "projects": frozenset({"house"})},
    "agent": {"id": "pilot", "role": Role.AGENT, "agent_id": "pilot"},
    "moderator": {"id": "mona", "role": Role.MODERATOR},
    "admin": {"id": "root", "role": Role.ADMIN},
}
INSIDERS = {
    "speaker": {"id": "ana", "role": Role.MEMBER, "projects": frozenset({"house"})},
    "agent": {"id": "robin", "role": Role.AGENT, "agent_id": "robin"},
}


@pytest.fixture
def told(world: World) -> Confided:
    return confide(world)


def memory_of(told: Confided, who: dict, folder: Path) -> Memory:
    return told.world.memory(folder).acting(Principal(tenant=told.world.tenant, **who))


@pytest.fixture(params=COLLEAGUES)
def colleague(request: pytest.FixtureRequest, told: Confided, tmp_path: Path) -> Memory:
    return memory_of(told, COLLEAGUES[request.param], tmp_path)


@pytest.fixture(params=INSIDERS)
def insider(request: pytest.FixtureRequest, told: Confided, tmp_path: Path) -> Memory:
    return memory_of(told, INSIDERS[request.param], tmp_path)


def questions() -> list[Query]:
    """Questions in every form, of every source."""
    ways = product((QUESTION, "diabetes", "insulin", "boathouse"), Form, Source, (Task.ROUTINE, Task.QUOTE))
    return [
        Query(text=text, form=form, source=source, task=task, threshold=0.0, turn_id=f"turn {number}")
        for number, (text, form, source, task) in enumerate(ways)
    ]


def asked(memory: Memory, query: Query) -> object:
    return again(lambda: memory.query(query))


def read(memory: Memory, told: Confided) -> str:
    """Everything that comes out of every way of reading."""
    found: list[str] = [repr(asked(memory, query)) for query in questions()]
    served: list[str] = []

    def model(asking: object) -> str:
        served.append(repr(asking))
        return NEED_MORE_CONTEXT

    found += tried(
        lambda: memory.answer(Query(text=QUESTION), model),
        lambda: memory.query(Query(text="boathouse", thread_id=THREAD, budget_tokens=4000)),
        lambda: memory.query(Query(text="boathouse", categories=frozenset({"knowledge", "episode"}))),
        lambda: memory.items(Filters(project_id="house")),
        lambda: memory.lines(Filters(project_id="house")),
        lambda: list(memory.export_user(memory.principal.id)),
        lambda: memory.journal(limit=1000),
        lambda: memory.compress(dry_run=True),
    )
    for item_id in ids(told):
        found += tried(
            lambda item_id=item_id: memory.show(item_id),
            lambda item_id=item_id: memory.item(item_id),
            lambda item_id=item_id: memory.serve(item_id),
            lambda item_id=item_id: memory.serve(item_id, task=Task.AUDIT),
            lambda item_id=item_id: again(lambda: memory.serve(item_id, more=True, turn_id=f"more {item_id}")),
            lambda item_id=item_id: memory.thread(item_id),
            lambda item_id=item_id: memory.evidence(item_id),
            lambda item_id=item_id: memory.versions(item_id),
            lambda item_id=item_id: memory.history(item_id),
            *(lambda item_id=item_id, w=w: memory.evidence(item_id, w) for w in told.witnesses),
            *(lambda item_id=item_id, v=v: memory.version(item_id, v.id) for v in told.versions),
        )
    return "\n".join([*found, *served])


def without_question(text: str) -> str:
    """The question itself holds the word."""
    return text.replace(QUESTION, "").replace("'diabetes'", "").replace("'insulin'", "")


def test_nothing_private_reaches_a_colleague(told: Confided, colleague: Memory):
    everything = without_question(read(colleague, told))
    assert OPEN in everything
    assert LATER in everything
    assert not SECRET.search(everything), everything[max(0, SECRET.search(everything).start() - 300) :][:600]  # type: ignore[union-attr]


def test_who_took_part_reads_all_of_it(told: Confided, insider: Memory):
    for query in questions():
        if query.text == QUESTION:
            assert SECRET.search(without_question(repr(asked(insider, query)))), query
    shown = insider.show(told.private.id)
    assert PRIVATE in shown.words
    assert [event.text for event in shown.evidence] == [PRIVATE]
    assert [event.text for event in insider.thread(told.thread.id)] == [OPEN, PRIVATE, LATER]
    assert [event.text for event in insider.evidence(told.thread.id, "s:2-2")] == [PRIVATE]
    assert SECRET.search(insider.show(told.thread.id).words)
    assert {item.id for item in insider.items(Filters(project_id="house"))} == set(ids(told))
    assert SECRET.search(repr([line.words for line in insider.lines(Filters(project_id="house"))]))
    assert any(entry.body and PRIVATE in entry.body.text for entry in insider.history(told.thread.id))
    assert len(insider.versions(told.thread.id)) == 6
    assert PRIVATE in insider.serve(told.thread.id, task=Task.AUDIT).content
    header = insider.query(Query(text="boathouse", thread_id=THREAD, budget_tokens=4000)).header
    assert SECRET.search("\n".join(header))


def test_what_a_colleague_may_not_see_is_not_there(told: Confided, colleague: Memory):
    for item in (told.private, told.unmarked, told.marked, told.part):
        for way in (colleague.show, colleague.item, colleague.serve, colleague.history, colleague.versions):
            with pytest.raises(NotFound, match="there is no such memory"):
                way(item.id)
        if colleague.principal.role is not Role.ADMIN:
            with pytest.raises(NotFound):
                colleague.find(item.id)
    assert {item.id for item in colleague.items(Filters(project_id="house"))} == {told.thread.id, told.open.id}


def test_of_a_thread_a_colleague_gets_the_version_that_holds_nothing_private(told: Confided, colleague: Memory):
    assert [one.level for one in colleague.versions(told.thread.id)] == [Level.R3]
    words = colleague.show(told.thread.id).words
    assert OPEN in words
    assert LATER not in words
    assert [event.text for event in colleague.thread(told.thread.id)] == [OPEN, LATER]
    assert [event.text for event in colleague.evidence(told.thread.id, "s:1-3")] == [OPEN, LATER]
    assert [event.text for event in colleague.evidence(told.thread.id, "s:2-2")] == []


@pytest.mark.parametrize("summary", [every_event, lambda material: None], ids=["summed up", "not summed up"])
def test_where_every_version_holds_something_private_the_words_are_made_of_what_may_be_seen(
    world: World, colleague: Memory, told: Confided, monkeypatch: pytest.MonkeyPatch, summary: object
):
    monkeypatch.setattr("recollect.read.leveled.summarise", summary)
    world.apply(Discard(told.versions[7]))
    assert colleague.versions(told.thread.id) == []
    for task in (Task.ROUTINE, Task.AUDIT):
        turn = f"turn {task}"
        served = repr(again(lambda task=task, turn=turn: colleague.serve(told.thread.id, task=task, turn_id=turn)))
        assert OPEN in served
        assert LATER in served
        assert not SECRET.search(served)


def test_the_history_of_a_thread_tells_that_something_was_said_and_not_what(told: Confided, colleague: Memory):
    bodies = [entry.body for entry in colleague.history(told.thread.id) if entry.header.op == "append"]
    assert [body is not None for body in bodies] == [True, False, True]


def test_the_history_of_a_memory_does_not_tell_what_it_said_before(
    world: World, told: Confided, colleague: Memory, insider: Memory
):
    """It has other words by now, which come out of what everybody may see."""
    item = world.held(told.unmarked).item
    other = replace(item, body=Fact(value="Friday"), topic_key="workshop")
    world.apply(revise(item, other, world.clock.now()), Derive(world.version(item, told.events[2], content=LATER)))
    assert colleague.show(item.id).words == LATER
    assert not SECRET.search(repr(colleague.show(item.id)))
    assert not SECRET.search(repr(colleague.history(item.id)))
    assert not SECRET.search(repr(colleague.versions(item.id)))
    assert SECRET.search(repr(insider.history(item.id)))


def test_a_shorter_version_of_private_words_does_not_stand_for_later_words(
    world: World, told: Confided, colleague: Memory, insider: Memory
):
    item = world.item(Fact(value="Friday"), default_level=Level.R2, **HOUSE)
    old = world.version(item, told.events[1], content="No boathouse on Monday: diabetes.")
    new = world.version(item, told.events[2], content="The boathouse workshop is on Friday.")
    world.apply(Create(item), *map(Derive, (old, world.shorter(old, "boathouse: diabetes"), new)))
    served = repr([colleague.query(Query(text="boathouse on Friday", threshold=0.0)), colleague.serve(item.id)])
    assert item.id in served
    assert not SECRET.search(served)
    assert "boathouse: diabetes" in repr(insider.query(Query(text="boathouse on Friday", threshold=0.0)))


def test_a_category_that_is_served_as_a_whole_is_served_without_private_words(
    world: World, told: Confided, colleague: Memory
):
    thread = world.held(told.thread).item
    world.apply(revise(thread, replace(thread, category="profile"), world.clock.now()))
    for item in (told.private, told.unmarked, told.marked, told.open):
        world.apply(revise(item, replace(item, category="profile"), world.clock.now()))
    asked = Query(text="boathouse", categories=frozenset({"profile"}), budget_tokens=4000, form=Form.FULL)
    served = repr(colleague.query(asked))
    assert OPEN in served
    assert not SECRET.search(served)


def test_an_export_for_a_user_leaves_out_private_words_of_others(world: World, told: Confided, tmp_path: Path):
    admin = world.memory(tmp_path)
    for user in ("ana", "ben"):
        world.tell(f"{user} rows", user_id=user)
        item = world.item(Fact(value="diabetes"), user_id=user)
        world.apply(Create(item), Derive(world.version(item, told.events[1], content="Ana has diabetes.")))
        own = memory_of(told, {"id": user, "role": Role.MEMBER}, tmp_path)
        for memory in (own, admin):
            lines = "\n".join(memory.export_user(user))
            assert f"{user} rows" in lines
            assert bool(SECRET.search(lines)) == (user == "ana")
            assert item.id in lines, "the headers tell that there is something"


# -- what goes on working -----------------------------------------------------------------------------------


def test_an_admin_erases_what_it_may_not_read(told: Confided, tmp_path: Path):
    admin, ben = (memory_of(told, COLLEAGUES[who], tmp_path) for who in ("admin", "member"))
    named = admin.find(told.private.id[-12:])
    assert named == told.private.id
    assert told.events[1].id in admin.preview_erase(named).events
    with pytest.raises(NotFound):
        ben.erase(told.private.id)
    admin.erase(named)
    assert told.world.store.item(told.world.tenant, told.private.id) is None
    assert told.world.store.events_by_id(told.world.tenant, [told.events[1].id]) == []


def test_an_admin_rolls_back_what_it_may_not_read(told: Confided, tmp_path: Path):
    admin, mona, ana = (
        memory_of(told, who, tmp_path) for who in (COLLEAGUES["admin"], COLLEAGUES["moderator"], INSIDERS["speaker"])
    )
    target = OneMemory(told.private.id, Rev(0))
    with pytest.raises(NotFound):
        mona.preview_rollback(target, cascade=True)
    before = told.world.state()
    _, plan = admin.rollback(target, cascade=True)
    assert "withdraw" in {one.does for one in plan.unread}
    assert not SECRET.search(repr(plan))
    with pytest.raises(NotFound):
        ana.show(told.private.id)
    assert SECRET.search(repr(ana.history(told.private.id))), "who took part still sees what became of it"
    admin.rollback(OneMemory(told.private.id, Rev(told.world.store.head(told.world.tenant).rev - 1)), cascade=True)
    assert PRIVATE in ana.show(told.private.id).words
    assert len(told.world.state()) == len(before) - 1, "the edge was another memory's"


def test_an_admin_sees_the_headers_of_the_journal(told: Confided, tmp_path: Path):
    admin = memory_of(told, COLLEAGUES["admin"], tmp_path)
    headers = [entry.header for entry in admin.journal(limit=1000)]
    assert told.private.id in {header.item_id for header in headers}
    assert admin.verify(deep=True).whole


def test_who_joins_a_thread_takes_part_in_it(told: Confided, tmp_path: Path):
    ben = memory_of(told, COLLEAGUES["member"], tmp_path)
    said = told.world.event(told.thread, "I see.", author="ben")
    told.world.apply(Append(said), actor=Actor(id="ben", role=Role.MEMBER))
    assert PRIVATE in ben.show(told.private.id).words


def test_what_a_colleague_remembers_is_not_merged_with_what_they_may_not_see(told: Confided, tmp_path: Path):
    ben, ana = memory_of(told, COLLEAGUES["member"], tmp_path), memory_of(told, INSIDERS["speaker"], tmp_path)
    words = "Ana has diabetes and cannot come to the boathouse workshop."
    kept = ben.remember(words, project_id="house", thread_id="gossip")
    assert kept.item_id not in (told.private.id, told.unmarked.id)
    assert ben.show(kept.item_id).words == words, "what they know by themselves is theirs to tell"
    assert PRIVATE in ana.show(told.private.id).words


def test_a_colleague_cannot_change_what_they_may_not_see(told: Confided, colleague: Memory):
    for way in (colleague.archive, colleague.delete, colleague.pin):
        with (
            pytest.raises((NotFound, Invalid))
            if colleague.principal.role is not Role.AGENT
            else pytest.raises(Exception, match="no such memory|agents do not")  # noqa: RUF043
        ):
            way(told.private.id)
    assert told.world.held(told.private).item == told.private


def test_a_private_memory_of_ones_own_is_read_as_before(world: World, tmp_path: Path):
    kept = world.tell("Ana has diabetes.", private=True, trust=Trust.TRUSTED)
    world.apply(private=[kept.event.id])
    for who in ({"id": "ana", "role": Role.MEMBER}, {"id": "pilot", "role": Role.AGENT, "agent_id": "pilot"}):
        memory = world.memory(tmp_path).acting(Principal(tenant=world.tenant, **who))
        assert memory.show(kept.item.id).words == "Ana has diabetes."
        assert HOUSE["project_id"] not in repr(memory.items())
