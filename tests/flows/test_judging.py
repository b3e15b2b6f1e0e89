"""A new memory is judged against its neighbours after the write: by rules, by the local judge, by a language model."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import sqrt
from pathlib import Path
from typing import Any

import numpy
import pytest

from recollect import Memory, Principal, Role
from recollect.care import judge as judging
from recollect.care.judge import Bench, Judged
from recollect.custody import Deps
from recollect.domain.change import Derive, Link, Note, Revise, Verb, revise
from recollect.domain.embedding import Profile
from recollect.domain.event import Trust
from recollect.domain.ids import RecordId, TenantId
from recollect.domain.item import Active
from recollect.domain.judgement import Chances
from recollect.domain.prompt import Prompt
from recollect.domain.quotation import Excerpt
from recollect.domain.record import Open, Resolved, Verdict
from recollect.domain.relation import Relation
from recollect.errors import ModelFailed, Stale
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.policy.prompts import Comparison
from recollect.policy.prompts import Verdict as Answered
from recollect.store.sidecar import FileErasures, FileSeal
from tests.worlds import World

BLACK, SWEET = "Mira drinks the morning coffee black.", "Mira drinks the morning coffee sweet."
THREE, FOUR = "Mira's flat in Porto has 3 rooms.", "Mira's flat in Porto has 4 rooms."


def sure(contradiction: float, update: float = 0.0) -> Chances:
    rest = 0.98 - contradiction - update
    return Chances(contradiction=contradiction, same=0.01, refines=0.01, compatible=rest, update=update)


class Told:
    """A judge that says what it is told to, and remembers what it was asked."""

    name = "told"

    def __init__(self, contradiction: float, update: float = 0.0, of: Mapping[str, float] | None = None) -> None:
        self._says, self._of = sure(contradiction, update), of or {}
        self.asked: list[list[tuple[str, str]]] = []

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Chances]:
        self.asked.append(list(pairs))
        return [sure(self._of[a]) if a in self._of else self._says for a, _ in pairs]


class Broken:
    name = "broken"

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Chances]:
        raise ModelFailed("the weights are gone", "Install them again.")


class Writing:
    def __init__(self, answer: Callable[[Prompt[Any]], Any]) -> None:
        self._answer = answer
        self.asked = 0

    def write(self, prompt: Prompt[Any], *, tenant: TenantId) -> Any:
        self.asked += 1
        return self._answer(prompt)


def found(world: World, tmp_path: Path, *texts: str, **minds: Any) -> list[Open | Resolved]:
    """The contradictions on record after these were remembered and judged."""
    deps = Deps(world.store, world.clock, FileErasures(tmp_path / "erasures"), FileSeal(tmp_path / "key"), **minds)
    memory = Memory(deps, Principal(tenant=world.tenant, id="mira", role=Role.ADMIN))
    for text in texts:
        memory.remember(text)
    Worker(deps=deps, kinds=KINDS, name="test").run_until_idle()
    return [one for one in world.store.records(world.tenant, "contradiction") if isinstance(one, Open | Resolved)]


def test_rules_alone_put_a_contradiction_on_record_and_say_why(world: World, tmp_path: Path):
    [record] = found(world, tmp_path, THREE, FOUR)
    assert record.why == "but for it the same words: amounts that differ"
    assert record.confidence == pytest.approx(0.98)


def test_rules_alone_leave_open_what_they_are_not_sure_of(world: World, tmp_path: Path):
    assert found(world, tmp_path, BLACK, SWEET) == []


def test_the_local_judge_is_heard(world: World, tmp_path: Path):
    [record] = found(world, tmp_path, BLACK, SWEET, judge=Told(0.978))
    assert "the local judge finds a contradiction (0.98)" in record.why
    assert 0.5 < record.confidence < 1


@pytest.mark.parametrize("later_first", [False, True])
def test_what_no_longer_holds_is_over_from_when_the_other_began_and_nothing_is_in_dispute(
    world: World, later_first: bool
):
    old, new = world.tell(BLACK), world.tell(SWEET)
    own, other = (old, new) if later_first else (new, old)  # whichever of the two comes in second
    bench = Bench(world.store, world.clock, Told(0.01, update=0.97))
    told = judging.judge(bench, world.tenant, own.item.id, [other.item.id])
    assert not [change for change in told.changes if isinstance(change, Note)]
    world.apply(*told.changes, expect=told.expect)
    after = world.held(old.item).item
    assert (after.superseded_by, after.valid_to, after.state) == (new.item.id, new.item.origin_at, Active())
    assert world.held(new.item).item.valid_to is None
    assert judging.judge(bench, world.tenant, own.item.id, [other.item.id]) == Judged([]), "it is settled"


class Overhearing(Told):
    """A judge to whom only what stands beside the words of a memory tells of a change."""

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Chances]:
        self.asked.append(list(pairs))
        return [sure(0.01, update=0.97 if "haha" in later else 0.0) for _, later in pairs]


def test_what_is_said_beside_a_memory_raises_a_doubt_and_ends_nothing(world: World):
    _, [black, sweet] = world.say("I drink it black.", "I drink it sweet. haha, that is over!")
    old, new = world.keep(), world.keep()
    part = world.quoted(sweet, words="I drink it sweet.", excerpts=(Excerpt(sweet.id, 0, 17),))
    world.apply(Derive(world.quoting(old, black)), Derive(world.version(new, content=part.text, bullets=(part,))))
    judge = Overhearing(0.0)
    told = judging.judge(Bench(world.store, world.clock, judge), world.tenant, new.id, [old.id])
    assert [[later for _, later in asked] for asked in judge.asked] == [
        [f"{sweet.author}: {sweet.text}"],
        [f"{sweet.author}: I drink it sweet."],
    ]
    [edge] = [change.relation for change in told.changes if isinstance(change, Link)]
    assert (edge.from_id, edge.to_id, len(told.changes)) == (new.id, old.id, 1)


def test_an_update_by_who_may_not_say_so_ends_nothing(world: World):
    old = world.tell(BLACK)
    others = [world.tell(SWEET, user_id="ben", thread="other"), world.tell(SWEET, trust=Trust.UNTRUSTED)]
    for other in others:
        bench = Bench(world.store, world.clock, Told(0.01, update=0.97))
        assert judging.judge(bench, world.tenant, other.item.id, [old.item.id]) == Judged([])


@pytest.mark.parametrize("later_first", [False, True])
def test_where_it_is_not_sure_that_something_holds_still_nothing_ends_and_an_edge_says_so(
    world: World, later_first: bool
):
    old, new = world.tell(BLACK), world.tell(SWEET)
    own, other = (old, new) if later_first else (new, old)
    bench = Bench(world.store, world.clock, Told(0.01, update=0.25))
    told = judging.judge(bench, world.tenant, own.item.id, [other.item.id])
    world.apply(*told.changes, expect=told.expect)
    [edge] = world.store.relations(world.tenant, old.item.id)
    assert (edge.from_id, edge.to_id, edge.relation_type) == (new.item.id, old.item.id, "may_replace")
    assert 0 < edge.strength < 0.8
    assert world.held(old.item).item == old.item
    assert world.store.records(world.tenant, "contradiction") == []


def test_a_doubt_takes_the_place_of_the_edge_between_neighbours(world: World):
    old, new = world.tell(BLACK), world.tell(SWEET)
    edge = Relation(
        id=RecordId(world.clock.mint()),
        from_id=new.item.id,
        to_id=old.item.id,
        strength=0.6,
        created_at=world.clock.now(),
    )
    world.apply(Link(edge))
    bench = Bench(world.store, world.clock, Told(0.01, update=0.25))
    told = judging.judge(bench, world.tenant, new.item.id, [old.item.id])
    world.apply(*told.changes, expect=told.expect)
    [after] = world.store.relations(world.tenant, old.item.id)
    assert (after.id, after.relation_type) == (edge.id, "may_replace")


def test_nothing_untrusted_casts_doubt(world: World):
    old, new = world.tell(BLACK), world.tell(SWEET, trust=Trust.UNTRUSTED)
    bench = Bench(world.store, world.clock, Told(0.01, update=0.25))
    assert judging.judge(bench, world.tenant, new.item.id, [old.item.id]) == Judged([])


def test_what_changed_since_the_judgement_is_not_ended_by_it(world: World):
    old, new = world.tell(BLACK), world.tell(SWEET)
    bench = Bench(world.store, world.clock, Told(0.01, update=0.97))
    told = judging.judge(bench, world.tenant, new.item.id, [old.item.id])
    world.apply(revise(old.item, replace(old.item, importance=5), world.clock.now(), Verb.UPDATE))
    with pytest.raises(Stale):
        world.apply(*told.changes, expect=told.expect)


def test_a_judge_that_finds_nothing_leaves_nothing(world: World, tmp_path: Path):
    judge = Told(0.001)
    assert found(world, tmp_path, BLACK, SWEET, judge=judge) == []
    assert judge.asked == [[(BLACK, SWEET)]]


def test_a_judge_that_fails_leaves_it_to_the_rules(world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "recollect.care"):
        [record] = found(world, tmp_path, THREE, FOUR, judge=Broken())
    assert "amounts that differ" in record.why
    assert "the weights are gone" in caplog.text


def test_a_writer_is_asked_only_where_nobody_is_sure(world: World, tmp_path: Path):
    writer = Writing(lambda _: Comparison((Answered(1, "contradiction"),)))
    assert found(world, tmp_path, THREE, FOUR, writer=writer)
    assert writer.asked == 0


def test_the_writer_decides_what_is_unsure(world: World, tmp_path: Path):
    writer = Writing(lambda _: Comparison((Answered(1, "contradiction"),)))
    [record] = found(world, tmp_path, BLACK, SWEET, writer=writer)
    assert record.why.startswith("a language model finds: contradiction")
    assert record.confidence == pytest.approx(0.9)


def test_a_writer_that_fails_leaves_it_unsure(world: World, tmp_path: Path):
    def fail(_: Prompt[Any]) -> Any:
        raise ModelFailed("no answer", "Try later.")

    assert found(world, tmp_path, BLACK, SWEET, writer=Writing(fail)) == []


def test_all_pairs_of_a_job_go_to_the_judge_at_once_and_none_twice(world: World):
    judge = Told(0.978)
    a, b, c = (world.tell(text) for text in (BLACK, SWEET, "Mira drinks the morning coffee with milk."))
    bench = Bench(world.store, world.clock, judge)
    near = [a.item.id, b.item.id, a.item.id, c.item.id]
    told = judging.judge(bench, world.tenant, c.item.id, near)
    assert [len(asked) for asked in judge.asked] == [2]
    world.apply(*told.changes, expect=told.expect)
    assert judging.judge(bench, world.tenant, c.item.id, near) == Judged([])
    assert [len(asked) for asked in judge.asked] == [2, 1], "what is on record is not judged again"


def test_of_what_a_statement_contradicts_the_likeliest_is_put_on_record(world: World):
    milky = "Mira drinks the morning coffee with milk."
    a, b, c = (world.tell(text) for text in (BLACK, milky, SWEET))
    judge = Told(0.0, of={BLACK: 0.972, milky: 0.978})
    found = judging.judge(Bench(world.store, world.clock, judge), world.tenant, c.item.id, [a.item.id, b.item.id])
    [record] = [change.after for change in found.changes if isinstance(change, Note)]
    assert isinstance(record, Open)
    assert {record.memory_a, record.memory_b} == {b.item.id, c.item.id}
    doubted = {change.relation.to_id for change in found.changes if isinstance(change, Link)}
    assert doubted == {a.item.id, b.item.id}, "and the later statement makes one wonder about both"


@pytest.mark.parametrize(("first", "days", "recorded"), [("never", 0, True), ("never", 9, False), ("ever", 9, True)])
def test_what_never_was_may_have_come_about_since(world: World, first: str, days: int, recorded: bool):
    texts = ["Mira has never been to Porto.", "Mira came back from Porto on Sunday."]
    ordered = texts if first == "never" else texts[::-1]
    start = datetime(2025, 5, 3, tzinfo=UTC)
    old, new = (
        world.tell(text, origin_at=start + timedelta(days=number * days, hours=number))
        for number, text in enumerate(ordered)
    )
    bench = Bench(world.store, world.clock, Told(0.978))
    changes = judging.judge(bench, world.tenant, new.item.id, [old.item.id]).changes
    assert any(isinstance(change, Note) for change in changes) is recorded
    assert any(isinstance(change, Link) for change in changes)


class Apart:
    """An embedder that finds so much in common between any two texts."""

    name = "apart"

    def __init__(self, common: float | None) -> None:
        self.common = common
        self.profile = Profile(same=0.9, end=0.6, judge=0.5, link_min=0.4, floor=0.2)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self.common is None:
            raise ModelFailed("no answer", "Try later.")
        vectors = [(1.0, 0.0), (self.common, sqrt(1 - self.common**2))]
        return [numpy.array(vectors[number % 2], "<f4").tobytes() for number in range(len(texts))]


@pytest.mark.parametrize(
    ("common", "ended", "recorded"),
    [(0.7, True, True), (0.55, False, True), (0.45, False, False), (None, False, False)],
)
def test_what_is_not_seen_to_be_about_one_matter_ends_nothing_and_is_not_on_record(
    world: World, common: float | None, ended: bool, recorded: bool
):
    old, new = world.tell(BLACK), world.tell(SWEET)
    for judge, expected in ((Told(0.01, update=0.97), ended), (Told(0.978), recorded)):
        bench = Bench(world.store, world.clock, judge, embedder=Apart(common))
        changes = judging.judge(bench, world.tenant, new.item.id, [old.item.id]).changes
        assert any(isinstance(change, Note | Revise) for change in changes) is expected
        ends = any(isinstance(change, Revise) for change in changes)
        assert any(isinstance(change, Link) for change in changes) is not ends, "what does not end is perhaps over"


def test_a_contradiction_of_before_has_no_reason_and_is_taken_for_sure(world: World):
    a, b = world.tell(BLACK), world.tell(SWEET)
    record = world.contradiction(a.item, b.item)
    world.apply(Note(None, record))
    rows = [{n: v for n, v in row.items() if n not in ("why", "confidence")} for row in world.store.dump(world.tenant)]
    fresh = TenantId(f"{world.tenant}-again")
    world.store.load(fresh, rows)
    [found] = world.store.records(fresh, "contradiction")
    assert isinstance(found, Open)
    assert (found.id, found.why, found.confidence) == (record.id, "", 1.0)


def test_why_and_how_sure_outlive_a_resolution(world: World):
    a, b = world.tell(BLACK), world.tell(SWEET)
    told = judging.judge(Bench(world.store, world.clock, Told(0.978)), world.tenant, b.item.id, [a.item.id]).changes
    [change] = [one for one in told if isinstance(one, Note)]
    record = change.after
    assert isinstance(record, Open)
    world.apply(change)
    assert world.store.record(world.tenant, "contradiction", record.id) == record
    resolved = Resolved(
        id=record.id,
        memory_a=record.memory_a,
        memory_b=record.memory_b,
        detected_at=record.detected_at,
        resolved_at=world.clock.now(),
        resolution=Verdict.B_WINS,
        why=record.why,
        confidence=record.confidence,
    )
    world.apply(Note(record, resolved))
    assert world.store.record(world.tenant, "contradiction", record.id) == resolved
