"""The delta header: what changed, once, in a few lines."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ids import ItemId, Rev, Seq
from recollect.domain.journal import Header
from recollect.domain.scope import Role
from recollect.policy.delta import Subject, Transition, header, sign, transitions

OPS = (
    "create withdraw update merge supersede archive expire soft_delete restore promote pin unpin lock undo append "
    "retract derive discard link unlink relink protect unprotect erase disclose checkpoint contradiction_open"
).split()


def entry(seq: int, op: str, item: str = "a", undoes: int | None = None) -> Header:
    return Header(
        seq=Seq(seq),
        rev=Rev(seq),
        at=datetime(2026, 1, 1, tzinfo=UTC),
        op=op,
        item_id=ItemId(item),
        user_id=None,
        project_id=None,
        agent_id=None,
        thread_id=None,
        thread_rev=None,
        actor="mira",
        actor_role=Role.ADMIN,
        actor_agent=None,
        cause=None,
        undoes=Seq(undoes) if undoes else None,
        body_hash="",
        prev_hash="",
    )


def told(sign: str, category: str, importance: int, words: str | None, seq: int = 1) -> tuple[Transition, Subject]:
    return Transition(ItemId(f"i{seq}"), sign, Seq(seq), 1), Subject(category, importance, words)


def test_the_header_is_written_as_the_source_has_it():
    lines = header(
        7,
        [
            told("+created", "personal", 2, "Preferred name is Ana"),
            told("↑updated", "goals", 3, "Ship v1 by Sep", 2),
            told("↔merged", "health", 1, "lactose intolerance", 3),
        ],
    )
    assert lines == (
        "Memory updates since rev 7:",
        "- ↑updated: [Goals] Ship v1 by Sep",
        "- +created: [Personal] Preferred name is Ana (imp=2)",
        "- ↔merged: Combined 2 notes about lactose intolerance",
    )


def test_nothing_new_is_no_header():
    assert header(3, []) == ()


def test_at_most_three_bullets_the_most_important_first():
    lines = header(1, [told("+created", "goals", number % 5 + 1, f"Goal {number}", number + 1) for number in range(9)])
    assert len(lines) == 4
    assert "(imp=5)" in lines[1]


def test_every_operation_has_the_sign_of_the_glossary():
    signs = {op: sign(entry(1, op)) for op in OPS}
    assert signs["create"] == "+created"
    assert signs["withdraw"] == signs["erase"] == "−deleted"  # noqa: RUF001
    assert signs["soft_delete"] == "◌soft_deleted"
    assert signs["restore"] == "⟲restored" == sign(entry(2, "create", undoes=1))
    assert signs["merge"] == "↔merged"
    assert {signs[op] for op in ("update", "promote", "pin", "derive", "protect")} == {"↑updated"}
    assert {signs[op] for op in ("link", "archive", "expire", "disclose", "checkpoint")} == {None}


def test_of_several_things_that_happened_to_a_memory_one_is_told():
    made = [entry(1, "create"), entry(2, "derive"), entry(3, "update"), entry(4, "update", "b")]
    assert [(one.item_id, one.sign) for one in transitions(made)] == [("b", "↑updated"), ("a", "+created")]


def test_what_came_and_went_in_between_is_not_told():
    assert transitions([entry(1, "create"), entry(2, "soft_delete")]) == []
    assert [one.sign for one in transitions([entry(1, "soft_delete"), entry(2, "restore")])] == ["⟲restored"]


@given(st.lists(st.tuples(st.sampled_from(OPS), st.sampled_from("abcd")), max_size=40))
def test_a_memory_is_told_of_once_at_most(happened):
    found = transitions([entry(seq, op, item) for seq, (op, item) in enumerate(happened, 1)])
    assert len({one.item_id for one in found}) == len(found)
    assert [one.seq for one in found] == sorted((one.seq for one in found), reverse=True)


def test_long_words_are_cut_to_one_line():
    (_, line) = header(1, [told("↑updated", "goals", 3, "a\nb " * 200)])
    assert "\n" not in line
    assert line.endswith("…")
    assert len(line) < 200


def test_what_is_gone_is_told_without_its_words():
    assert header(1, [told("−deleted", "goals", 3, None)])[1] == "- −deleted: [Goals] a memory"  # noqa: RUF001
    assert replace(entry(1, "erase"), item_id=None).item_id is None
    assert transitions([replace(entry(1, "erase"), item_id=None)]) == []


def test_a_memory_that_was_brought_back_is_restored_whatever_was_done_to_it_since():
    for back in ([entry(3, "restore")], [entry(3, "undo", undoes=2)]):
        for since in ([], [entry(4, "update")], [entry(4, "derive"), entry(5, "merge")]):
            found = transitions([entry(1, "update"), entry(2, "soft_delete"), *back, *since])
            assert [one.sign for one in found] == ["⟲restored"]


def test_an_undoing_says_what_the_undone_says_wherever_that_stands():
    assert transitions([entry(9, "undo", undoes=2)], {Seq(2): "soft_delete"})[0].sign == "⟲restored"
    assert transitions([entry(9, "undo", undoes=2)], {Seq(2): "restore"})[0].sign == "◌soft_deleted"
    assert transitions([entry(9, "undo", undoes=2)], {Seq(2): "update"})[0].sign == "↑updated"


def test_who_was_told_nothing_yet_is_told_so():
    assert header(None, [told("+created", "goals", 3, "Ship")])[0] == "Memory updates, nothing told before:"
