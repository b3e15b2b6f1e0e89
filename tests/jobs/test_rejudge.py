"""Contradictions that an earlier judge put on record are judged anew: one run, one undo, nobody's own touched."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from recollect.care import rejudge as rejudging
from recollect.care.rejudge import Rejudged
from recollect.care.restore import Session
from recollect.domain.change import Note
from recollect.domain.ids import CauseId, ItemId, TenantId
from recollect.domain.item import Fact, Item
from recollect.domain.judgement import Chances
from recollect.domain.prompt import Prompt
from recollect.domain.record import Open, Resolved, Verdict
from recollect.domain.scope import Actor, Principal, Role
from recollect.errors import Forbidden, ModelFailed
from recollect.jobs.kinds import KINDS
from recollect.memory import Memory
from recollect.policy.prompts import Comparison
from recollect.policy.prompts import Verdict as Answered
from tests.jobs.conftest import House

REJUDGE = {"rejudge": KINDS["rejudge"]}
JUDGE = Actor(id="job:judge", role=Role.ADMIN)
PERSON = Actor(id="mira", role=Role.ADMIN)
TEA, PLANE = "Mira drinks tea in the morning.", "Mira flew a small plane over the lake."
BLACK, SWEET = "Mira drinks the morning coffee black.", "Mira drinks the morning coffee sweet."
PORTO, GRAZ = "Mira lives in a flat in Porto.", "Mira has moved to a house in Graz."
LATER = "Mira has moved again, to a boat in Linz."
STANDS = Chances(contradiction=0.985, same=0.005, refines=0.005, compatible=0.005)
BOTH = Chances(contradiction=0.001, same=0.001, refines=0.001, compatible=0.997)
CHANGED = Chances(contradiction=0.005, same=0.005, refines=0.005, compatible=0.005, update=0.98)
OPEN = Chances(contradiction=0.3, same=0.1, refines=0.3, compatible=0.3)


class Saying:
    """A judge that says of each pair what it is told to."""

    name = "saying"

    def __init__(self, says: Mapping[frozenset[str], Chances]) -> None:
        self._says = says

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Chances]:
        return [self._says.get(frozenset(pair), BOTH) for pair in pairs]


class Broken:
    name = "broken"

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Chances]:
        raise ModelFailed("the weights are gone", "Install them again.")


class Writing:
    """A language model that finds this between any two statements, or fails."""

    def __init__(self, relation: str | None) -> None:
        self._relation = relation

    def write(self, prompt: Prompt[Any], *, tenant: TenantId) -> Any:
        if self._relation is None:
            raise ModelFailed("nobody answers", "Try again.")
        return Comparison((Answered(1, self._relation),))  # type: ignore[arg-type]


def fact(house: House, text: str, **fields: Any) -> Item:
    house.clock.forward(days=1)
    return house.world.tell(text, body=Fact(scope="Mira", confidence=0.8), **fields).item


def on_record(house: House, a: Item, b: Item, actor: Actor = JUDGE, why: str = "the local judge finds it") -> Open:
    house.clock.forward(seconds=1)
    record = replace(house.world.contradiction(a, b), why=why, confidence=0.96)
    house.world.apply(Note(None, record), actor=actor)
    return record


def run(house: House, says: Mapping[frozenset[str], Chances] | None = None, **minds: Any) -> Rejudged:
    """A whole run, with a judge that says this."""
    house.clock.forward(seconds=1)
    house.parts = replace(house.parts, **{"judge": Saying(says or {}), **minds})
    _, cause = house.memory.rejudge()
    assert cause is not None
    while house.worker(REJUDGE).run_once():
        house.clock.forward(seconds=1)
    return house.memory.rejudged(cause)


def record(house: House, of: Open) -> object:
    return house.store.record(house.tenant, "contradiction", of.id)


def item(house: House, item_id: ItemId) -> Item:
    held = house.store.item(house.tenant, item_id)
    assert held is not None
    return held.item


def test_what_does_not_stand_is_closed_and_what_stands_stays(house: House):
    tea, plane, black, sweet = (fact(house, text) for text in (TEA, PLANE, BLACK, SWEET))
    false, true = on_record(house, tea, plane), on_record(house, black, sweet)
    done = run(house, {frozenset((BLACK, SWEET)): STANDS})
    assert (done.settled, done.failed, done.closed, done.ended) == (True, "", 1, 0)
    assert record(house, true) == true
    closed = record(house, false)
    assert isinstance(closed, Resolved)
    assert closed.resolution is Verdict.BOTH_VALID
    assert closed.resolution_note.startswith("judged again: ")
    assert (closed.why, closed.confidence) == (false.why, false.confidence)
    assert not house.store.contested(house.tenant, [tea.id, plane.id])
    assert item(house, tea.id) == tea


def test_an_update_ends_the_time_of_what_it_replaces(house: House):
    porto, graz = fact(house, PORTO), fact(house, GRAZ)
    wrong = on_record(house, porto, graz)
    done = run(house, {frozenset((PORTO, GRAZ)): CHANGED})
    assert (done.closed, done.ended) == (0, 1)
    old, new = item(house, porto.id), item(house, graz.id)
    assert (old.superseded_by, old.valid_to) == (graz.id, graz.origin_at)
    assert (new.supersedes, new.valid_from, new.superseded_by) == (porto.id, graz.origin_at, None)
    closed = record(house, wrong)
    assert isinstance(closed, Resolved)
    assert closed.resolution is Verdict.B_WINS


def test_an_update_that_its_speaker_may_not_tell_ends_nothing(house: House):
    porto = fact(house, PORTO)
    house.clock.forward(days=1)
    other = house.world.tell(GRAZ, body=Fact(scope="Otto", confidence=0.8)).item
    wrong = on_record(house, porto, other)
    run(house, {frozenset((PORTO, GRAZ)): CHANGED})
    assert item(house, porto.id) == porto
    closed = record(house, wrong)
    assert isinstance(closed, Resolved)
    assert closed.resolution is Verdict.BOTH_VALID


def test_one_memory_in_several_contradictions_is_ended_once(house: House):
    porto, graz, later = (fact(house, text) for text in (PORTO, GRAZ, LATER))
    pairs = ((porto, graz), (porto, later), (graz, later))
    opened = [on_record(house, *pair) for pair in pairs]
    says = {frozenset(pair): CHANGED for pair in ((PORTO, GRAZ), (PORTO, LATER), (GRAZ, LATER))}
    done = run(house, says)
    assert not done.failed
    assert item(house, porto.id).superseded_by == graz.id
    assert item(house, graz.id).superseded_by == later.id
    assert item(house, later.id).superseded_by is None
    assert all(isinstance(record(house, one), Resolved) for one in opened)


def test_one_undo_takes_the_whole_run_back(house: House):
    opened: list[Open] = []
    for number in range(rejudging.STEP + 3):
        a, b = fact(house, f"Mira saw {number} herons at the lake."), fact(house, f"Mira bought {number} red boats.")
        opened.append(on_record(house, a, b))
    porto, graz = fact(house, PORTO), fact(house, GRAZ)
    opened.append(on_record(house, porto, graz))
    before = list(house.memory.export_state())
    done = run(house, {frozenset((PORTO, GRAZ)): CHANGED})
    assert (done.closed, done.ended) == (rejudging.STEP + 3, 1)
    assert not house.store.open_contradictions(house.tenant, None, 1)
    house.memory.rollback(Session(CauseId(done.cause)))
    assert list(house.memory.export_state()) == before
    assert {record(house, one) for one in opened} == set(opened)


def test_what_people_reported_or_brought_back_is_left_alone(house: House):
    tea, plane, black, sweet = (fact(house, text) for text in (TEA, PLANE, BLACK, SWEET))
    reported = on_record(house, tea, plane, PERSON)
    brought_back = on_record(house, black, sweet)
    resolved = Resolved(
        id=brought_back.id,
        memory_a=brought_back.memory_a,
        memory_b=brought_back.memory_b,
        detected_at=brought_back.detected_at,
        resolved_at=house.clock.now(),
        resolution=Verdict.A_WINS,
        why=brought_back.why,
        confidence=brought_back.confidence,
    )
    house.world.apply(Note(brought_back, resolved), actor=PERSON)
    house.world.apply(Note(resolved, brought_back), actor=PERSON)
    found, cause = house.memory.rejudge(dry_run=True)
    assert (found.contradictions, found.left_alone, cause) == (0, 2, None)
    done = run(house)
    assert (done.closed, done.ended) == (0, 0)
    assert (record(house, reported), record(house, brought_back)) == (reported, brought_back)


def test_what_is_found_while_it_runs_is_left_to_the_judge_of_now(house: House):
    tea, plane, black, sweet = (fact(house, text) for text in (TEA, PLANE, BLACK, SWEET))
    on_record(house, tea, plane)
    house.clock.forward(seconds=1)
    house.parts = replace(house.parts, judge=Saying({}))
    house.memory.rejudge()
    assert house.worker(REJUDGE).run_once()
    house.clock.forward(seconds=1)
    new = on_record(house, black, sweet)
    house.worker(REJUDGE).run_until_idle()
    assert record(house, new) == new


def test_a_judge_that_fails_closes_nothing(house: House):
    opened = on_record(house, fact(house, TEA), fact(house, PLANE))
    done = run(house, judge=Broken())
    assert not done.settled
    assert "ModelFailed" in (house.status("rejudge", "rejudge").last_error or "")
    assert record(house, opened) == opened


@pytest.mark.parametrize(("relation", "stands"), [("contradiction", True), ("compatible", False), (None, True)])
def test_a_language_model_has_the_word_where_nobody_is_sure(house: House, relation: str | None, stands: bool):
    opened = on_record(house, fact(house, BLACK), fact(house, SWEET))
    run(house, {frozenset((BLACK, SWEET)): OPEN}, writer=Writing(relation))
    assert (record(house, opened) == opened) is stands


@pytest.mark.parametrize(("why", "stands"), [("a language model finds: contradiction", True), ("clues", False)])
def test_without_one_only_what_it_once_found_stands_in_doubt(house: House, why: str, stands: bool):
    opened = on_record(house, fact(house, BLACK), fact(house, SWEET), why=why)
    run(house, {frozenset((BLACK, SWEET)): OPEN})
    assert (record(house, opened) == opened) is stands


def test_a_second_run_finds_nothing_to_do_and_only_admins_ask_for_one(house: House):
    on_record(house, fact(house, TEA), fact(house, PLANE))
    assert run(house).closed == 1
    again = run(house)
    assert (again.settled, again.closed, again.ended) == (True, 0, 0)
    moderator = Memory(house.parts, Principal(tenant=house.tenant, id="ben", role=Role.MODERATOR))
    with pytest.raises(Forbidden):
        moderator.rejudge()
    with pytest.raises(Forbidden):
        moderator.rejudged(again.cause)
