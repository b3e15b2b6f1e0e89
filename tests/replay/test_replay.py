"""Good answers of a language model, replayed: they reach memory, each once, whoever waits, is jostled or dies."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Memory, Principal, Role
from recollect.custody import Deps
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, TenantId
from recollect.domain.query import Filters
from recollect.errors import Stale
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.models.form import Form
from recollect.models.local import LocalEmbedder
from recollect.policy.grounded import extracted
from recollect.policy.prompts import ExtractedFacts
from recollect.policy.wording import LONGEST
from recollect.ports import Writer
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from recollect.write import extraction, later
from tests.hunt import examples
from tests.jobs.crew import NOON, Hands
from tests.replay.recorded import Facts, Model, Row, over_the_wire, rows, says, twins
from tests.worlds import ALL

SHARE = 0.93
"""Of the facts of a good model, so many are in memory."""
ROWS = rows()
EXTRACT = {"extract": KINDS["extract"]}


# -- what was recorded ------------------------------------------------------------------------------------------


def test_the_recording_is_large_and_varied():
    assert len(ROWS) >= 140
    assert sum(len(row.facts) for row in ROWS) >= 290
    assert sum(not row.facts for row in ROWS) >= 8
    assert sum(len(answer) > 1 for row in ROWS for answer in row.answers) >= 20
    assert sum(fact["corrects"] for row in ROWS for fact in row.facts) >= 3
    assert sum(fact["private"] for row in ROWS for fact in row.facts) >= 10
    assert len({row.id for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_answer_is_of_the_form_that_is_asked_for(row: Row):
    for place, answer in zip(row.places, row.answers, strict=True):
        shown = min(place, extraction.CONTEXT) + 1
        for fact in Form(ExtractedFacts).fill({"facts": list(answer)}).facts:
            assert len(fact.text) <= LONGEST
            assert max(fact.witnesses) == shown, "the new turn is a witness"


# -- over the wire ----------------------------------------------------------------------------------------------


class Jostled(SqlStore):
    """A store in which others were always quicker: each write has to look again, so many times."""

    times = 0

    def apply(self, *args: Any, **how: Any) -> Any:
        self._tried = getattr(self, "_tried", 0) + 1
        if self._tried <= self.times:
            raise Stale("somebody was quicker", [])
        self._tried = 0
        return super().apply(*args, **how)


@dataclass(frozen=True)
class Replay:
    """What memory held in the end, row by row, and how often the model was asked for each message."""

    held: Mapping[str, Sequence[str]]
    asked: Mapping[tuple[str, ...], int]
    left_out: Sequence[str]

    def reached(self) -> Iterator[tuple[Facts, bool]]:
        for row in (row for row in ROWS if row.id in self.held):
            for fact in row.facts:
                yield fact, any(says(memory, fact["text"]) for memory in self.held[row.id])


def replayed(
    folder: Path, *, wait: bool, jostled: int = 0, together: bool = False, taken_in: Sequence[Row] = ROWS
) -> Replay:
    """Rows taken in, each by a tenant of its own or all by one user."""
    store = Jostled(SqliteEngine(folder / "memory.db"))
    model = Model(taken_in)
    clock = Hands()
    forget_answers()
    held: dict[str, list[str]] = {}
    left_out: list[str] = []
    with over_the_wire(model) as writer:
        deps = Deps(
            store,
            clock,
            FileErasures(folder / "erasures"),
            FileSeal(folder / "key"),
            embedder=LocalEmbedder(),
            writer=writer,
        )
        memories = {row.id: opened(deps, "all" if together else row.id) for row in taken_in}
        store.times = jostled
        for row in taken_in:
            taken = memories[row.id].ingest(row.messages, thread_id=row.id, wait=wait)
            assert taken.later is not wait
            left_out += taken.left_out
        if not wait:
            Worker(deps=deps, kinds=EXTRACT, name="ada").run_until_idle()
        for row in taken_in:
            held[row.id] = facts(memories[row.id])
    store.close()
    return Replay(held, model.asked, left_out)


def forget_answers() -> None:
    """What a process remembers of the model dies with it."""
    extraction._ANSWERS = extraction._Answers()


def opened(deps: Deps, tenant: str) -> Memory:
    deps.store.create_tenant(TenantId(tenant), at=deps.clock.now())
    return Memory(deps, Principal(tenant=TenantId(tenant), id="mira", role=Role.ADMIN))


def facts(memory: Memory) -> list[str]:
    return sorted(shown.words for shown in memory.lines(Filters(kinds=frozenset({"fact"})), ALL))


@pytest.fixture(scope="module")
def waited(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    return replayed(tmp_path_factory.mktemp("waited"), wait=True)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    return replayed(tmp_path_factory.mktemp("worked"), wait=False)


@pytest.fixture(scope="module", params=["waited", "worked"])
def replay(request: pytest.FixtureRequest) -> Replay:
    return request.getfixturevalue(request.param)


def test_what_a_good_model_finds_is_in_memory(replay: Replay):
    reached = list(replay.reached())
    lost = [fact["text"] for fact, found in reached if not found]
    assert len(reached) - len(lost) >= SHARE * len(reached), lost


def test_three_in_four_are_told_in_the_words_of_the_model(replay: Replay):
    """The others are quoted: what is not plainly said so is not told."""
    told = [fact["text"] in replay.held[row.id] for row in ROWS for fact in row.facts]
    assert sum(told) >= 0.75 * len(told)


def test_nothing_is_in_memory_twice(replay: Replay):
    for row in ROWS:
        assert twins(replay.held[row.id]) == []


def test_nothing_is_in_memory_that_no_fact_says(replay: Replay):
    for row in ROWS:
        for memory in replay.held[row.id]:
            assert any(says(memory, fact["text"]) for fact in row.facts) or '"' in memory
        assert bool(replay.held[row.id]) == bool(row.facts)


def test_the_model_is_asked_once_for_each_message(replay: Replay):
    assert len(replay.asked) == sum(len(row.places) for row in ROWS)
    assert set(replay.asked.values()) == {1}


def test_who_waits_and_who_does_not_get_the_same(waited: Replay, worked: Replay):
    assert waited.held == worked.held


def test_what_is_missing_was_left_out_by_a_cap_or_is_quoted(waited: Replay):
    for row in ROWS:
        for fact in row.facts:
            exact = fact["text"] in {*waited.held[row.id], *waited.left_out}
            assert exact or any('"' in memory for memory in waited.held[row.id]) or "!" in fact["text"], fact["text"]


@pytest.mark.parametrize("wait", [True, False])
def test_a_write_that_looks_again_does_not_ask_again(tmp_path: Path, waited: Replay, wait: bool):
    some = ROWS[::4]
    jostled = replayed(tmp_path, wait=wait, jostled=2, taken_in=some)
    assert set(jostled.asked.values()) == {1}
    assert jostled.held == {row.id: waited.held[row.id] for row in some}


def test_all_conversations_of_one_user_together_keep_as_much(tmp_path: Path):
    some = ROWS[::2]  # of all of them, a day's cap would leave some out
    replay = replayed(tmp_path, wait=True, together=True, taken_in=some)
    every = replay.held[some[0].id]
    assert sum(found for _, found in replay.reached()) >= SHARE * sum(len(row.facts) for row in some)
    assert twins(every) == []


# -- whoever dies -----------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process of a worker ends here."""


class Mortal(SqlStore):
    """A store at which workers die: when they have taken a job, before they write a step, or right after it. Or a write
    finds that somebody was quicker."""

    point = ""

    def claim(self, *args: Any, **how: Any) -> Any:
        leased = super().claim(*args, **how)
        self._die("claimed", leased is not None)
        return leased

    def apply(self, *args: Any, step: Any = None, **how: Any) -> Any:
        if self.point == "stale" and step:
            self.point = ""
            raise Stale("somebody was quicker", [])
        self._die("before", step is not None)
        rev = super().apply(*args, step=step, **how)
        self._die("after", step is not None)
        return rev

    def _die(self, point: str, here: bool) -> None:
        if here and self.point == point:
            raise Killed


@contextmanager
def mortal(folder: Path) -> Iterator[tuple[Mortal, Hands]]:
    store = Mortal(SqliteEngine(folder / "memory.db"))
    yield store, Hands()
    store.close()


def deps_of(store: SqlStore, clock: Hands, folder: Path, writer: Writer) -> Deps:
    return Deps(store, clock, FileErasures(folder / "erasures"), FileSeal(folder / "key"), writer=writer)


def work(store: Mortal, clock: Hands, deps: Deps, points: Sequence[str]) -> int:
    """Work until nothing is left to do; each look for a job has its end decided. How many died with answers in hand
    that they had not written down."""
    in_vain = 0
    plan = chain(points, repeat(""))
    for _ in range(500):
        store.point = next(plan)
        worker = Worker(deps=deps, kinds=EXTRACT, name=f"w{uuid4().hex}", chance=lambda: 0.0)
        try:
            busy = worker.run_once()
        except Killed:
            in_vain += store.point == "before"
            forget_answers()
            continue
        if not busy:
            clock.forward(minutes=5)
            if store.point == "" and not worker.run_once():
                return in_vain
    raise AssertionError("the work does not end")


@pytest.mark.parametrize("point", ["claimed", "after"])
def test_a_worker_that_dies_between_steps_costs_no_second_answer(tmp_path: Path, point: str):
    with mortal(tmp_path) as (store, clock), patch.object(later, "READ", 2):
        model = Model(ROWS)
        deps = deps_of(store, clock, tmp_path, model)
        calm, wild = opened(deps, "calm"), opened(deps, "wild")
        for row in ROWS[:20]:
            calm.ingest(row.messages, thread_id=row.id, wait=True)
            wild.ingest(row.messages, thread_id=row.id)
        model.asked.clear()
        forget_answers()
        assert work(store, clock, deps, [point, ""] * 30) == 0
        assert set(model.asked.values()) == {1}
        assert facts(wild) == facts(calm)


def decided(row: Row) -> Iterator[str]:
    """What is to become of each message of a row, as many as a cap allows."""
    events = [
        Event(
            id=EventId(str(at)), item_id=ItemId("i"), ts=one.ts or NOON, author=one.author, role=one.role, text=one.text
        )
        for at, one in enumerate(row.messages)
    ]
    for place, answer in zip(row.places, row.answers, strict=True):
        shown = events[max(0, place - extraction.CONTEXT) : place + 1]
        made = extracted(Form(ExtractedFacts).fill({"facts": list(answer)}), shown, frozenset({len(shown) - 1}))
        if len(made) <= extraction.Caps().turn:
            yield from (one.served for one in made)


KINDS_OF_END = ("", "claimed", "before", "after", "stale")


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    chosen=st.lists(st.sampled_from([row for row in ROWS if row.facts]), min_size=1, max_size=3, unique_by=id),
    size=st.integers(1, 5),
    batch=st.integers(1, 4),
    points=st.lists(st.sampled_from(KINDS_OF_END), max_size=8),
    shuffled=st.randoms(use_true_random=False),
)
def test_the_facts_of_a_message_are_all_decided_in_any_order_of_jobs_and_crashes(
    tmp_path: Path, chosen: list[Row], size: int, batch: int, points: list[str], shuffled: Any
):
    with mortal(tmp_path) as (store, clock), patch.object(later, "READ", batch):
        model = Model(ROWS)
        forget_answers()
        deps = deps_of(store, clock, tmp_path, model)
        memory = opened(deps, uuid4().hex)
        pieces = {row.id: [row.messages[at : at + size] for at in range(0, len(row.messages), size)] for row in chosen}
        turn = [row.id for row in chosen for _ in pieces[row.id]]
        shuffled.shuffle(turn)
        for name in turn:
            memory.ingest(pieces[name].pop(0), thread_id=name)
        in_vain = work(store, clock, deps, points)
        found = facts(memory)
        for text in chain.from_iterable(map(decided, chosen)):
            assert any(says(one, text) for one in found), text
        assert twins(found) == []
        assert set(model.asked) == set(Model(chosen)._answers)
        assert sum(model.asked.values()) <= len(model.asked) + batch * in_vain
