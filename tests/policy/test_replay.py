"""The journal told again from its first entry."""

import json
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings

from recollect.domain import codec
from recollect.domain.change import (
    Append,
    Change,
    Create,
    Derive,
    Discard,
    Erase,
    Link,
    Note,
    Protect,
    Relink,
    Retract,
    Undo,
    Unlink,
    Withdraw,
    revise,
)
from recollect.domain.ids import EventId, ItemId, RecordId, Seq, VersionId
from recollect.domain.record import Open
from tests import strategies as some
from tests.hunt import examples
from tests.policy.journals import Life, event, lives, memory, relation, version
from tests.policy.told_again import state
from tests.strategies import NOON

THREAD, A, B = memory("thread", episode=True), memory("a"), memory("b")
TOLD: list[Change | None] = [
    Create(THREAD),
    Append(event("e")),
    Create(A),
    Derive(version("v", "a", "e")),
    Create(B),
    Link(relation("r", "a", "b")),
]


def rows(*changes: Change | None) -> list[dict]:
    return [json.loads(codec.canonical(row)) for row in state(changes)]


def ids(*changes: Change | None) -> list[str]:
    return [f"{kind} {value['id']}" for row in rows(*changes) for kind, value in row.items()]


def test_nothing_told_is_nothing_held():
    assert rows() == []


def test_rows_come_by_kind_and_then_by_id():
    reverse: list[Change] = [Create(B), Create(A), Create(THREAD), Append(event("f")), Append(event("e", seq=2))]
    assert ids(*reverse, Derive(version("w", "a", "e")), Derive(version("v", "a", "e"))) == [
        "item a",
        "item b",
        "item thread",
        "version v",
        "version w",
        "event e",
        "event f",
    ]


def test_edges_come_by_their_ends():
    edges = [relation("1", "b", "a"), relation("2", "a", "thread"), relation("3", "a", "b")]
    created: list[Change] = [Create(THREAD), Create(A), Create(B)]
    assert ids(*created, *map(Link, edges))[3:] == ["relation 3", "relation 2", "relation 1"]


def test_what_was_revised_is_as_it_was_left():
    louder = revise(A, replace(A, importance=5), NOON + timedelta(minutes=1))
    moved = revise(replace(A, importance=5), replace(A, importance=5, category="work"), NOON + timedelta(minutes=2))
    [row] = rows(Create(A), louder, moved)
    assert (row["item"]["importance"], row["item"]["category"]) == (5, "work")
    assert row["item"]["updated_at"] == "2026-03-01T12:02:00.000000Z"


def test_what_was_undone_is_told_like_any_other_change():
    assert rows(Create(A), Undo(Seq(1), Withdraw(A))) == []


def test_a_withdrawn_memory_hides_its_versions_and_a_withdrawn_thread_its_events():
    assert ids(*TOLD[:5], Withdraw(A)) == ["item b", "item thread", "event e"]
    assert ids(*TOLD[:5], Withdraw(THREAD)) == ["item a", "item b", "version v"]


def test_what_comes_back_comes_back_with_its_versions_and_events():
    assert ids(*TOLD, Withdraw(A), Withdraw(THREAD), Create(THREAD), Create(A)) == ids(*TOLD)


def test_a_retracted_event_and_a_discarded_version_are_hidden_until_they_come_back():
    hidden: list[Change] = [Discard(version("v", "a", "e")), Retract(event("e"))]
    assert ids(*TOLD, *hidden) == ["item a", "item b", "item thread", "relation r"]
    assert ids(*TOLD, *hidden, Append(event("e")), Derive(version("v", "a", "e"))) == ids(*TOLD)


def test_protection_outlives_a_withdrawal():
    [row] = rows(Create(A), Protect(A.id, False, True), Withdraw(A), Create(A))
    assert row["item"]["constitutional"] is True
    [row] = rows(Create(A), Protect(A.id, False, True), Protect(A.id, True, False))
    assert row["item"]["constitutional"] is False


def test_an_edge_is_one_per_pair():
    stronger = relation("s", "a", "b", 0.9)
    assert ids(*TOLD, Relink(relation("r", "a", "b"), stronger))[-1] == "relation s"
    assert ids(*TOLD, Unlink(relation("r", "a", "b")))[-1] == "event e"


def test_a_contradiction_is_held_until_it_is_taken_back():
    found = Open(id=RecordId("k"), memory_a=A.id, memory_b=B.id, detected_at=NOON)
    assert ids(*TOLD, Note(None, found))[-1] == "contradiction k"
    assert ids(*TOLD, Note(None, found), Note(found, None)) == ids(*TOLD)


def test_what_was_erased_vanishes_with_its_edges():
    found = Open(id=RecordId("k"), memory_a=B.id, memory_b=A.id, detected_at=NOON)
    told = [*TOLD, Append(event("f", seq=2)), Note(None, found)]
    erase = Erase((A.id,), (VersionId("v"),), (EventId("e"),), (), "")
    assert ids(*told, erase) == ["item b", "item thread", "event f"]


def test_an_entry_whose_content_was_erased_tells_of_nothing():
    erase = Erase((A.id,), (VersionId("v"),), (EventId("e"),), (), "", bodies=(Seq(2), Seq(3), Seq(4), Seq(6)))
    assert ids(TOLD[0], None, None, None, TOLD[4], None, erase) == ["item b", "item thread"]


def test_a_memory_that_pointed_at_an_erased_version_points_nowhere():
    episode = replace(THREAD, active_version_id=VersionId("v"))
    told = [Create(THREAD), revise(THREAD, episode, NOON), Erase((), (VersionId("v"),), (), (), "")]
    [row] = rows(*told)
    assert "active_version_id" not in row["item"]
    pointed = revise(THREAD, replace(THREAD, active_version_id=VersionId("w")), NOON)
    [row] = rows(*told, pointed)
    assert row["item"]["active_version_id"] == "w"


def test_proposals_grants_and_rules_are_not_part_of_the_state():
    @given(record=some.record(some.Rules) | some.record(some.Asked) | some.record(some.Pending))
    @settings(max_examples=examples(10))
    def told(record):
        assert rows(Note(None, record)) == []

    told()


def test_a_change_of_something_unknown_makes_nothing_up():
    """As after a body went that nobody erased: the difference shows, nothing else happens."""
    assert rows(revise(A, replace(A, importance=5), NOON)) == []
    assert (
        rows(Withdraw(A), Retract(event("e")), Discard(version("v", "a", "e")), Unlink(relation("r", "a", "b"))) == []
    )
    assert rows(Protect(ItemId("x"), False, True)) == []


def held(life: Life) -> list[dict]:
    """The state of a life as its own bookkeeping has it."""
    values = [
        *({"item": replace(life.items[id], constitutional=id in life.protected)} for id in sorted(life.items)),
        *({"version": life.versions[id]} for id in sorted(life.versions)),
        *({"event": life.events[id]} for id in sorted(life.events)),
        *({"relation": life.relations[ends]} for ends in sorted(life.relations)),
        *({"contradiction": life.contradictions[id]} for id in sorted(life.contradictions)),
    ]
    return [{kind: json.loads(codec.canonical(codec.encode(value))) for kind, value in row.items()} for row in values]


@given(life=lives(protecting=True, erasing=True, steps=25))
def test_a_life_told_again_is_the_life_that_was_lived(life):
    assert rows(*(entry.change for entry in life.pasts())) == held(life)
