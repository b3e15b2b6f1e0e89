"""At which level a memory is served: deterministic, monotone, and never as somebody outside wants it."""

import inspect
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.ids import ItemId
from recollect.domain.item import Fact, Item, Visibility
from recollect.domain.level import Level
from recollect.domain.turn import NEED_MORE_CONTEXT, Reason, Task
from recollect.policy import level
from tests.hunt import examples

LEVELS, TASKS = st.sampled_from(Level), st.sampled_from(Task)
SAID = st.sampled_from(["", "Ana drinks tea.", NEED_MORE_CONTEXT, f"I am not sure. {NEED_MORE_CONTEXT}!"])
COUNTS = st.integers(0, 6)


def item(default: Level = Level.R3, floor: Level | None = None) -> Item:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Item(
        id=ItemId("i"),
        body=Fact(),
        category="knowledge",
        visibility=Visibility.USER_PRIVATE,
        user_id="ana",
        default_level=default,
        pinned_min_level=floor,
        origin_at=at,
        created_at=at,
        updated_at=at,
    )


# -- where it starts --------------------------------------------------------------------------------------------


def test_a_memory_is_served_as_its_summary_unless_something_says_otherwise():
    assert level.start(item()) is Level.R3
    assert level.choose(Level.R3, level.steps(Task.ROUTINE, False, "", 0, 0)) is Level.R3


@given(LEVELS, st.none() | LEVELS, st.none() | LEVELS)
@settings(max_examples=examples(200))
def test_a_memory_is_never_served_below_the_floor_of_its_pin(
    default: Level, floor: Level | None, promoted: Level | None
):
    first = level.start(item(default, floor), promoted)
    assert first >= (floor or Level.R1)
    assert first in (default if promoted is None else promoted, floor)


def test_a_promoted_version_decides_where_the_ladder_begins():
    assert level.start(item(), Level.R5) is Level.R5
    assert level.start(item(Level.R2), Level.R3) is Level.R3
    assert level.start(item(floor=Level.R3), Level.R1) is Level.R3


# -- how it climbs ----------------------------------------------------------------------------------------------


def test_a_reroll_climbs_from_the_summary_over_the_clean_log_to_the_evidence():
    climbed = [level.choose(Level.R3, level.steps(Task.ROUTINE, False, "", times, times)) for times in range(5)]
    assert climbed == [Level.R3, Level.R4, Level.R5, Level.R5, Level.R5]
    assert [level.beyond(Level.R3, steps) for steps in range(5)] == [0, 0, 0, 1, 2]


@pytest.mark.parametrize(
    ("task", "contested", "said", "served", "bumps", "why"),
    [
        (Task.AUDIT, False, "", 0, 0, Reason.AUDIT),
        (Task.QUOTE, False, "", 0, 0, Reason.AUDIT),
        (Task.DISPUTE, False, "", 0, 0, Reason.DISPUTE),
        (Task.ROUTINE, True, "", 0, 0, Reason.UNCERTAINTY),
        (Task.ROUTINE, False, NEED_MORE_CONTEXT, 0, 0, Reason.UNCERTAINTY),
        (Task.ROUTINE, False, "", 1, 0, Reason.DISPUTE),
        (Task.ROUTINE, False, "", 0, 1, Reason.DISPUTE),
    ],
)
def test_each_trigger_is_one_step_and_says_why(
    task: Task, contested: bool, said: str, served: int, bumps: int, why: Reason
):
    assert level.steps(task, contested, said, served, bumps) == 1
    assert level.reason(task, contested, said, served, bumps) is why


def test_without_a_trigger_there_is_no_step_and_no_reason():
    assert level.steps(Task.ROUTINE, False, "Ana drinks tea.", 0, 0) == 0
    assert level.reason(Task.ROUTINE, False, "Ana drinks tea.", 0, 0) is None


@given(TASKS, st.booleans(), SAID, COUNTS, COUNTS)
@settings(max_examples=examples(300))
def test_there_is_a_reason_exactly_where_there_is_a_step(
    task: Task, contested: bool, said: str, served: int, bumps: int
):
    stepped = level.steps(task, contested, said, served, bumps) > 0
    assert (level.reason(task, contested, said, served, bumps) is not None) == stepped


@given(
    LEVELS, st.tuples(TASKS, st.booleans(), SAID, COUNTS, COUNTS), st.tuples(TASKS, st.booleans(), SAID, COUNTS, COUNTS)
)
@settings(max_examples=examples(500))
def test_more_triggers_never_lower_the_level(
    first: Level, one: tuple[Task, bool, str, int, int], other: tuple[Task, bool, str, int, int]
):
    both = (
        one[0] if one[0] is not Task.ROUTINE else other[0],
        one[1] or other[1],
        f"{one[2]} {other[2]}",
        max(one[3], other[3]),
        max(one[4], other[4]),
    )
    most = max(level.steps(*one), level.steps(*other))
    assert level.steps(*both) >= most
    assert level.choose(first, level.steps(*both)) >= level.choose(first, most) >= first


def test_one_answer_that_is_marked_and_made_again_is_one_step():
    assert level.steps(Task.ROUTINE, False, "", served=1, bumps=1) == 1
    assert level.steps(Task.ROUTINE, False, NEED_MORE_CONTEXT, served=1, bumps=0) == 1


def test_every_step_up_is_higher_until_the_evidence_itself():
    for first, steps in product(Level, range(8)):
        here, above = level.choose(first, steps), level.choose(first, steps + 1)
        assert above == here + 1 or (above is here is Level.R5)


# -- who asks for more ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", [NEED_MORE_CONTEXT, f"Sorry: {NEED_MORE_CONTEXT}.", f"({NEED_MORE_CONTEXT})", f"a\n{NEED_MORE_CONTEXT}\nb"]
)
def test_the_token_is_heard_as_a_word_of_its_own(said: str):
    assert level.asks_for_more(said)
    assert NEED_MORE_CONTEXT not in level.without_token(said)


@pytest.mark.parametrize(
    "said",
    ["", "need_more_context", f"X{NEED_MORE_CONTEXT}", f"{NEED_MORE_CONTEXT}S", f"_{NEED_MORE_CONTEXT}_", "more"],
)
def test_nothing_else_is_taken_for_it(said: str):
    assert not level.asks_for_more(said)
    assert level.without_token(said) == said.strip()


def test_nobody_outside_names_a_level():
    """Levels come from the memory itself; what a caller says is a task, words, and counts that the store keeps."""
    asked = {**inspect.signature(level.steps).parameters, **inspect.signature(level.reason).parameters}
    assert set(asked) == {"task", "contested", "said", "served", "bumps"}
    assert not {one.annotation for one in asked.values()} & {Level, "Level"}
