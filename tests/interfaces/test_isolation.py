"""The isolation drive, short: nobody learns anything of what is not theirs, and the drive would notice. The long form
is `python -m bench.isolation`."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from bench.isolation import drive
from recollect.domain.scope import EVERYBODY
from recollect.policy import access
from recollect.policy.categories import EVERY_CATEGORY, Categories
from recollect.read.look import Look
from tests.hunt import examples
from tests.postgres import fresh_database

OPERATIONS = 120


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_nobody_learns_anything_of_what_is_not_theirs(engine: str, tmp_path: Path, postgres_server: str):
    with ExitStack() as stack:
        at = None
        if engine == "postgres":
            at = (
                stack.enter_context(fresh_database(postgres_server)),
                stack.enter_context(fresh_database(postgres_server)),
            )
        found = drive(engine, examples(OPERATIONS), 1, at)
    assert (found.texts, found.ids, found.counts) == (0, 0, 0), found.examples
    assert found.statuses[200] > OPERATIONS // 3


def _allowed(*_: object) -> access.Answer:
    return access.Allowed()


def without_the_statements_condition(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(Look, "sight", EVERYBODY)


def without_the_gates_question(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(access, "may_read", _allowed)


def without_the_list_of_categories(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(Categories, "allowed", lambda *_: EVERY_CATEGORY)


def with_one_cursor_for_everybody(patched: pytest.MonkeyPatch) -> None:
    patched.setattr("recollect.read.query.told_reader", lambda principal, agent: agent or principal.id)


@pytest.mark.parametrize(
    ("drop", "operations"),
    [
        (without_the_statements_condition, 60),
        (without_the_gates_question, 60),
        (without_the_list_of_categories, 150),
        (with_one_cursor_for_everybody, 250),
    ],
)
def test_the_drive_notices_when_a_rule_is_dropped(
    drop: Callable[[pytest.MonkeyPatch], None], operations: int, monkeypatch: pytest.MonkeyPatch
):
    drop(monkeypatch)
    found = drive("sqlite", operations, 1)
    assert found.texts or found.ids or found.counts
    assert found.examples
