"""The time machine: what is undone, in which order, what stays, and what stands in the way."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recollect.domain.change import (
    Append,
    Change,
    Create,
    Derive,
    Discard,
    Disclose,
    Edit,
    Erase,
    Irreversible,
    Link,
    Note,
    Protect,
    Retract,
    Revise,
    Undo,
    Unlink,
    Verb,
    Withdraw,
    inverse,
    plain,
    revise,
)
from recollect.domain.codec import canonical
from recollect.domain.ids import EventId, ItemId, RecordId, Seq, VersionId
from recollect.domain.item import Archived
from recollect.domain.record import Open
from recollect.domain.witness import Bullet, ChunkWitness, RangeWitness
from recollect.policy.rollback import (
    Past,
    Plan,
    Standing,
    builds_on,
    dependents,
    effective,
    plan,
    uncited,
    withdrawn_events,
)
from tests.hunt import examples
from tests.policy import told_again
from tests.policy.journals import Life, event, lives, memory, past, pasts, quoting, relation, version
from tests.strategies import NOON

A = memory("a")


def edit(item, at: int = 1, **values) -> Revise:
    return revise(item, replace(item, **values), NOON + timedelta(minutes=at))


def seqs(entries) -> list[int]:
    return [entry.seq for entry in entries]


def undone(made: Plan) -> list[int]:
    return [undo.entry for undo in made.undo]


def why(made: Plan) -> dict[int, str]:
    return {stay.seq: stay.why for stay in made.stays}


def state(changes: list[Change | None]) -> str:
    return "\n".join(canonical(row) for row in told_again.state(changes))


def timeless(changes: list[Change | None]) -> str:
    """The state but for the times of updates: they follow the latest edit that is still timely."""
    rows = [json.loads(canonical(row)) for row in told_again.state(changes)]
    return "\n".join(canonical({kind: {**value, "updated_at": ""} for kind, value in row.items()}) for row in rows)


# -- what still has an effect -----------------------------------------------------------------------------


def test_an_entry_and_its_undoing_cancel_out():
    entries = pasts([Create(A), Undo(Seq(1), Withdraw(A))])
    assert effective(entries) == []


def test_undoing_the_undoing_brings_the_entry_back():
    entries = pasts([Create(A), Undo(Seq(1), Withdraw(A)), Undo(Seq(2), Create(A))])
    assert seqs(effective(entries)) == [1]


def test_an_undoing_of_something_that_is_not_asked_about_has_an_effect():
    assert seqs(effective([past(7, Undo(Seq(1), Withdraw(A)))])) == [7]


def test_what_was_undone_redone_and_undone_again_is_undone():
    entries = pasts([Create(A), Undo(Seq(1), Withdraw(A)), Undo(Seq(2), Create(A)), Undo(Seq(1), Withdraw(A))])
    assert effective(entries) == []


@given(life=lives(), data=st.data())
def test_any_number_of_undoings_and_redoings_cancel_in_pairs(life, data):
    journal = life.pasts()
    cut = data.draw(st.integers(0, len(journal)))
    rounds = data.draw(st.integers(1, 4))
    latest = journal[cut:]
    for _ in range(rounds):
        made = plan(latest, [], Standing(), cascade=False)
        latest = pasts(list(made.undo), len(journal) + 1)
        journal = journal + latest
    expected = list(range(1, cut + 1)) if rounds % 2 else list(range(1, len(life.changes) + 1))
    assert seqs(effective(journal)) == expected


@given(life=lives(), order=st.randoms(use_true_random=False))
def test_the_order_in_which_entries_are_given_does_not_matter(life, order):
    journal = life.pasts()
    made = plan(journal[1:], [], Standing(), cascade=False)
    journal += pasts(list(made.undo), len(journal) + 1)
    shuffled = list(journal)
    order.shuffle(shuffled)
    assert effective(shuffled) == effective(journal)


# -- what builds on what ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (Create(A), edit(A, importance=5)),
        (Create(A), Protect(A.id, False, True)),
        (Create(A), Derive(version("v", "a", "e"))),
        (Create(A), Link(relation("r", "a", "b"))),
        (Create(A), Link(relation("r", "b", "a"))),
        (Create(A), Disclose(RecordId("g"), A.id)),
        (Create(memory("thread", episode=True)), Append(event("e"))),
        (Create(A), Create(replace(memory("b"), supersedes=A.id))),
        (edit(A, importance=5), edit(A, importance=4)),
        (edit(A, importance=5), Undo(Seq(1), Withdraw(A))),
        (Derive(version("v", "a", "e")), edit(A, active_version_id=VersionId("v"))),
        (
            Derive(version("v", "a", "e")),
            edit(replace(A, active_version_id=VersionId("v")), active_version_id=None),
        ),
        (Derive(version("v", "a", "e")), Derive(version("w", "b", "f", derived_from="v"))),
        (Append(event("e")), Derive(quoting("v", "a", "e"))),
        (Append(event("f")), Derive(quoting("v", "a", "e", "f"))),
        (Undo(Seq(7), Append(event("e"))), Undo(Seq(8), Derive(quoting("v", "a", "e")))),
        (Link(relation("r", "a", "b")), Unlink(relation("r", "a", "b"))),
        (Unlink(relation("r", "a", "b")), Link(relation("s", "a", "b"))),
    ],
    ids=lambda change: type(plain(change)).__name__,
)
def test_it_builds_on_it(earlier, later):
    assert builds_on(past(2, later), past(1, earlier))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (edit(A, importance=5), edit(A, category="work")),
        (edit(A, importance=5), Derive(version("v", "a", "e"))),
        (edit(A, importance=5), Link(relation("r", "a", "b"))),
        (Create(A), Create(memory("b"))),
        (Append(event("e")), Append(event("f", seq=2))),
        (Append(event("e")), Derive(version("v", "a", "e"))),
        (Append(event("f")), Derive(quoting("v", "a", "e", besides="f"))),
        (Link(relation("r", "a", "b")), Link(relation("s", "b", "a"))),
        (Link(relation("r", "a", "b")), edit(A, importance=5)),
        (Derive(version("v", "a", "e")), Derive(version("w", "a", "e"))),
    ],
    ids=lambda change: type(plain(change)).__name__,
)
def test_it_does_not_build_on_it(earlier, later):
    """Of its witnesses a version needs any one: that is asked of all of them together."""
    assert not builds_on(past(2, later), past(1, earlier))


def test_nothing_builds_on_an_entry_whose_content_was_erased():
    gone = past(1, Create(A), erased=True)
    assert not builds_on(past(2, edit(A, importance=5)), gone)
    assert not builds_on(gone, past(2, Create(A)))


@given(life=lives(protecting=True), data=st.data())
def test_dependents_are_exactly_what_builds_on_it_directly_or_through_others(life, data):
    journal = life.pasts()
    chosen = data.draw(st.lists(st.sampled_from(journal), min_size=1, max_size=3, unique_by=lambda e: e.seq))
    found = list(chosen)
    for entry in journal:
        if entry not in found and any(entry.seq > other.seq and builds_on(entry, other) for other in found):
            found.append(entry)
    assert seqs(dependents(chosen, journal)) == sorted(set(seqs(found)) - set(seqs(chosen)))


def test_what_was_taken_back_since_does_not_depend_on_anything():
    louder = edit(A, importance=5)
    journal = pasts([Create(A), louder, Undo(Seq(2), inverse(louder))])  # type: ignore[arg-type]
    assert dependents(journal[:1], journal[1:]) == []


def test_dependents_of_dependents_are_found_through_all_kinds_of_things():
    thread, b = memory("thread", episode=True), memory("b")
    pointed = edit(b, active_version_id=VersionId("w"))
    changes: list[Change] = [
        Create(thread),
        Append(event("e")),
        Create(A),
        Create(b),
        Derive(version("v", "a", "e")),
        Derive(version("w", "b", "e", derived_from="v")),
        pointed,
        edit(b, category="work"),
    ]
    journal = pasts(changes)
    assert seqs(dependents([journal[2]], journal[3:])) == [5, 6, 7]


# -- witnesses --------------------------------------------------------------------------------------------


E, F, V = EventId("e"), EventId("f"), VersionId("v")


def test_a_version_with_another_live_witness_does_not_block_the_retraction_of_one_event():
    journal = pasts([Create(A), Append(event("e")), Append(event("f", seq=2)), Derive(version("v", "a", "e", "f"))])
    assert dependents([journal[1]], journal[2:], {V: {E: True, F: True}}) == []
    assert uncited([E], {V: {E: True, F: True}}) == set()


def test_a_version_goes_with_its_last_live_witness():
    journal = pasts([Create(A), Append(event("e")), Append(event("f", seq=2)), Derive(version("v", "a", "e", "f"))])
    assert seqs(dependents([journal[1]], journal[2:], {V: {E: True, F: False}})) == [4]
    assert seqs(dependents([journal[1], journal[2]], journal[3:], {V: {E: True, F: True}})) == [4]
    assert uncited([E], {V: {E: True, F: False}}) == {V}
    assert uncited([E, F], {V: {E: True, F: True}}) == {V}


def test_what_builds_on_a_version_without_witnesses_goes_too():
    pointed = edit(A, active_version_id=V)
    journal = pasts([Create(A), Append(event("e")), Derive(version("v", "a", "e")), pointed])
    assert seqs(dependents([journal[1]], journal[2:], {V: {E: True}})) == [3, 4]


def test_an_event_that_goes_with_its_episode_takes_its_versions_along():
    thread = memory("thread", episode=True)
    journal = pasts([Create(thread), Create(A), Append(event("e")), Derive(version("v", "a", "e"))])
    assert seqs(dependents([journal[0]], journal[1:], {V: {E: True}})) == [3, 4]


def test_a_version_goes_with_any_event_that_it_quotes_however_many_witnesses_are_left():
    quoted = quoting("v", "a", "e", "f", besides="g")
    journal = pasts([Create(A), *(Append(event(id, seq=seq)) for seq, id in enumerate("efg", 1)), Derive(quoted)])
    live = {V: {E: True, F: True, EventId("g"): True}}
    assert seqs(dependents([journal[1]], journal[2:], live)) == [5]
    assert seqs(dependents([journal[2]], journal[3:], live)) == [5]
    assert dependents([journal[3]], journal[4:], live) == []


@pytest.mark.parametrize("gone", ["e", "f"])
def test_a_version_does_not_come_back_without_every_event_that_it_quotes(gone):
    quoted = quoting("v", "a", "e", "f", besides="g")
    hidden = [past(9, Undo(Seq(5), Discard(quoted)))]
    live = tuple(event(id, seq=seq) for seq, id in enumerate("efg", 1) if id != gone)
    made = plan(hidden, [], Standing(evidence=live), cascade=False)
    assert (made.undo, why(made)) == ((), {9: "what it stands on does not come back"})
    with_it = [past(8, Undo(Seq(1), Retract(event(gone)))), *hidden]
    assert undone(plan(with_it, [], Standing(evidence=live), cascade=False)) == [9, 8]
    whole = tuple(event(id, seq=seq) for seq, id in enumerate("ef", 1))
    assert undone(plan(hidden, [], Standing(evidence=whole), cascade=False)) == [9]


def test_the_events_that_undoing_would_withdraw_are_those_that_were_appended():
    journal = pasts([Append(event("e")), Undo(Seq(9), Append(event("f"))), Undo(Seq(1), Retract(event("e")))])
    assert withdrawn_events(journal) == {E, F}


# -- the plan ---------------------------------------------------------------------------------------------


def test_the_newest_is_undone_first():
    journal = pasts([Create(A), edit(A, importance=5), Link(relation("r", "a", "b"))])
    assert undone(plan([journal[1], journal[2], journal[0]], [], Standing(), cascade=False)) == [3, 2, 1]


def test_independent_fields_of_one_memory_do_not_block_each_other():
    journal = pasts([Create(A), edit(A, 1, importance=5), edit(A, 2, category="work")])
    for one, other in ((1, 2), (2, 1)):
        later = dependents([journal[one]], [journal[other]])
        assert later == []
        assert undone(plan([journal[one]], later, Standing(), cascade=False)) == [one + 1]


def test_a_later_edit_of_the_same_field_blocks():
    journal = pasts([Create(A), edit(A, 1, importance=5), edit(replace(A, importance=5), 2, importance=4)])
    later = dependents([journal[1]], [journal[2]])
    made = plan([journal[1]], later, Standing(), cascade=False)
    assert made.blocked_by == (3,)


def test_with_cascade_what_was_built_on_it_goes_first():
    journal = pasts([Create(A), edit(A, 1, importance=5), edit(replace(A, importance=5), 2, importance=4)])
    made = plan([journal[0]], dependents([journal[0]], journal[1:]), Standing(), cascade=True)
    assert undone(made) == [3, 2, 1]
    assert made.blocked_by == ()


def test_an_entry_that_is_undone_among_the_chosen_is_left_alone():
    journal = pasts([Create(A), Create(memory("b")), Undo(Seq(2), Withdraw(memory("b")))])
    assert undone(plan(journal, [], Standing(), cascade=False)) == [1]


FOR_GOOD = [
    Protect(A.id, False, True),
    Disclose(RecordId("g"), A.id),
    Erase((ItemId("x"),), (), (), (), "asked for"),
]


@pytest.mark.parametrize("change", FOR_GOOD, ids=lambda change: type(change).__name__)
def test_what_is_for_good_stays_and_says_why(change):
    made = plan([past(1, change)], [], Standing(), cascade=True)
    assert made.undo == ()
    back = inverse(change)
    assert isinstance(back, Irreversible)
    assert why(made) == {1: back.why}


def test_entries_about_a_constitutional_memory_stay_and_what_they_stand_on_stays_too():
    thread, b = memory("thread", episode=True), memory("b")
    changes: list[Change] = [
        Create(thread),
        Append(event("e")),
        Append(event("f", seq=2)),
        Create(A),
        Derive(version("v", "a", "e")),
        edit(A, importance=5),
        Create(b),
        edit(b, importance=5),
    ]
    made = plan(pasts(changes), [], Standing(constitutional=frozenset({A.id})), cascade=False)
    assert undone(made) == [8, 7, 3]
    assert why(made) == {
        1: "something that stays is built on it",
        2: "something that stays is built on it",
        4: "the memory is constitutional: lift that first",
        5: "the memory is constitutional: lift that first",
        6: "the memory is constitutional: lift that first",
    }


@pytest.mark.parametrize(
    "witness",
    [RangeWitness(ItemId("thread"), 2, 3), ChunkWitness(EventId("f"), 1)],
    ids=["range", "chunk"],
)
def test_the_evidence_of_a_constitutional_memory_stays_however_it_is_cited(witness):
    made = version("v", "a", "e")
    changes: list[Change] = [
        Append(event("e", seq=1)),
        Append(event("f", seq=2)),
        Append(event("f", "another thread", seq=2)),
        Append(event("g", seq=4)),
        Derive(replace(made, bullets=(Bullet("so", (witness,)),))),
    ]
    if isinstance(witness, ChunkWitness):
        changes[2] = Append(event("h", "another thread", seq=2))
    else:
        changes[2] = Append(event("h", "another thread", seq=3))
    planned = plan(pasts(changes), [], Standing(constitutional=frozenset({A.id})), cascade=False)
    assert undone(planned) == [4, 3, 1]


def test_edges_and_contradictions_of_a_constitutional_memory_may_go():
    found = Open(id=RecordId("k"), memory_a=A.id, memory_b=ItemId("b"), detected_at=NOON)
    journal = pasts([Link(relation("r", "a", "b")), Note(None, found)])
    made = plan(journal, [], Standing(constitutional=frozenset({A.id})), cascade=False)
    assert undone(made) == [2, 1]


def test_what_an_edge_that_goes_stood_on_may_go_too():
    b = memory("b")
    journal = pasts([Create(A), Create(b), Link(relation("r", "a", "b"))])
    made = plan(journal, [], Standing(constitutional=frozenset({A.id})), cascade=False)
    assert undone(made) == [3, 2]


def test_entries_whose_content_was_erased_stay():
    made = plan([past(1, Create(A), erased=True)], [], Standing(erased=frozenset({"i:a"})), cascade=True)
    assert (made.undo, why(made)) == ((), {1: "its content was erased"})


def test_entries_about_an_erased_memory_stay():
    made = plan([past(1, edit(A, importance=5))], [], Standing(erased=frozenset({"i:a"})), cascade=True)
    assert (made.undo, why(made)) == ((), {1: "the memory was erased"})


def test_an_edge_to_an_erased_memory_does_not_come_back():
    found = Open(id=RecordId("k"), memory_a=A.id, memory_b=ItemId("b"), detected_at=NOON)
    for change in (Unlink(relation("r", "a", "b")), Unlink(relation("r", "b", "a")), Note(found, None)):
        gone = plan([past(1, change)], [], Standing(erased=frozenset({"i:b"})), cascade=False)
        assert gone.undo == ()
        assert "erased" in why(gone)[1]
        assert undone(plan([past(1, change)], [], Standing(erased=frozenset({"i:x"})), cascade=False)) == [1]


def test_a_contradiction_with_an_erased_memory_can_still_be_taken_back():
    found = Open(id=RecordId("k"), memory_a=A.id, memory_b=ItemId("b"), detected_at=NOON)
    assert undone(plan([past(1, Note(None, found))], [], Standing(erased=frozenset({"i:b"})), cascade=False)) == [1]


def test_an_episode_does_not_come_back_when_its_thread_goes_on_in_another():
    thread = memory("thread", episode=True)
    hidden = pasts([Undo(Seq(90), Retract(event("e"))), Undo(Seq(91), Withdraw(thread))])
    owned = Standing(owners={thread.id: ItemId("newer")})
    made = plan(hidden, [], owned, cascade=False)
    assert made.undo == ()
    assert why(made).keys() == {1, 2}
    assert undone(plan(hidden, [], Standing(), cascade=False)) == [2, 1]


def test_a_fact_comes_back_whichever_episode_its_thread_goes_on_in():
    hidden = pasts([Undo(Seq(90), Withdraw(A))])
    assert undone(plan(hidden, [], Standing(owners={A.id: ItemId("thread")}), cascade=False)) == [1]


def pointing(before: str | None, after: str | None, **more: object) -> Revise:
    return edit(replace(A, active_version_id=before), active_version_id=after, **more)


@pytest.mark.parametrize(
    ("before", "after", "erased", "expected"),
    [
        ("v", "w", {"v:v"}, ("w", None)),
        ("v", "w", {"v:w"}, (None, "v")),
        (None, "w", {"v:v"}, ("w", None)),
        ("v", None, {"v:w"}, (None, "v")),
    ],
)
def test_pointers_to_erased_versions_are_forgotten(before, after, erased, expected):
    made = plan([past(1, pointing(before, after))], [], Standing(erased=frozenset(erased)), cascade=False)
    [undo] = made.undo
    assert isinstance(undo.change, Revise)
    assert undo.change.verb is Verb.UNDO
    assert undo.change.edits[-1] == Edit("active_version_id", *expected)


@pytest.mark.parametrize(
    ("before", "after"),
    [("v", "w"), (None, "w"), ("v", None)],
)
def test_when_all_it_pointed_at_was_erased_nothing_is_undone(before, after):
    erased = frozenset({"v:v", "v:w"})
    made = plan([past(1, pointing(before, after))], [], Standing(erased=erased), cascade=False)
    assert (made.undo, why(made)) == ((), {1: "what it pointed at was erased"})


def test_other_fields_of_such_an_entry_are_undone_all_the_same():
    change = pointing("v", "w", importance=5)
    made = plan([past(1, change)], [], Standing(erased=frozenset({"v:v", "v:w"})), cascade=False)
    [undo] = made.undo
    assert isinstance(undo.change, Revise)
    assert {e.field for e in undo.change.edits} == {"importance", "updated_at"}


# -- rules over whole lives -------------------------------------------------------------------------------


@given(life=lives(), data=st.data())
def test_a_rollback_to_any_moment_restores_the_state_of_that_moment(life, data):
    cut = data.draw(st.integers(0, len(life.changes)))
    made = plan(life.pasts()[cut:], [], Standing(), cascade=False)
    assert state([*life.changes, *made.undo]) == state(life.changes[:cut])
    assert undone(made) == list(range(len(life.changes), cut, -1))


@given(life=lives(), data=st.data())
def test_a_rollback_that_is_rolled_back_restores_everything(life, data):
    cut = data.draw(st.integers(0, len(life.changes)))
    first = plan(life.pasts()[cut:], [], Standing(), cascade=False)
    again = plan(pasts(list(first.undo), len(life.changes) + 1), [], Standing(), cascade=False)
    assert state([*life.changes, *first.undo, *again.undo]) == state(life.changes)


@settings(max_examples=examples(100))
@given(life=lives(), data=st.data())
def test_without_one_entry_and_what_built_on_it_the_rest_is_as_if_it_had_never_been(life, data):
    journal = life.pasts()
    chosen = data.draw(st.sampled_from(journal))
    later = dependents([chosen], journal, life.cited)
    made = plan([chosen], later, Standing(), cascade=True)
    gone = {chosen.seq, *seqs(later)}
    assert set(undone(made)) == gone
    assert undone(made) == sorted(gone, reverse=True)
    rest = [change for seq, change in enumerate(life.changes, 1) if seq not in gone]
    assert timeless([*life.changes, *made.undo]) == timeless(rest)
    without = plan([chosen], later, Standing(), cascade=False)
    assert without.blocked_by == tuple(seqs(later))


def about(life: Life, made: list[Change | None]) -> dict[str, list[str]]:
    """What the state holds about every constitutional memory: its fields, its words, and their evidence."""
    rows = [json.loads(canonical(row)) for row in told_again.state(made)]
    held: dict[str, list[str]] = {}
    for name in sorted(life.protected):
        words = [row for row in rows if row.get("version", {}).get("item_id") == name]
        cited = {id for row in words for id in life.evidence(life.versions[row["version"]["id"]])}
        own = [row for row in rows if row.get("item", {}).get("id") == name]
        held[name] = [canonical(row) for row in (*own, *words)]
        held[name] += [canonical(row) for row in rows if row.get("event", {}).get("id") in cited]
    return held


@settings(max_examples=examples(100))
@given(life=lives(protecting=True, steps=18), data=st.data())
def test_no_rollback_changes_a_constitutional_memory_its_words_or_their_evidence(life, data):
    journal = life.pasts()
    cut = data.draw(st.integers(0, len(journal)))
    made = plan(journal[cut:], [], life.standing, cascade=False)
    assert about(life, [*life.changes, *made.undo]) == about(life, list(life.changes))


def whole(made: list[Change | None]) -> bool:
    """Whether every edge, version and event in the state has both ends."""
    rows = [json.loads(canonical(row)) for row in told_again.state(made)]
    ids = {value["id"] for row in rows for value in row.values()}
    needed = {
        value[name]
        for row in rows
        for value in row.values()
        for name in ("item_id", "derived_from", "from_id", "to_id", "memory_a", "memory_b", "active_version_id")
        if value.get(name)
    }
    return needed | _quoted(rows) <= ids


def _quoted(rows: list[dict]) -> set[str]:
    """The events that the versions among these rows quote."""
    quotations = [
        bullet["quotation"]
        for row in rows
        for bullet in row.get("version", {}).get("bullets", ())
        if "quotation" in bullet
    ]
    return {excerpt["event_id"] for quotation in quotations for excerpt in quotation["excerpts"]}


@settings(max_examples=examples(200))
@given(life=lives(steps=18), data=st.data())
def test_whichever_event_is_taken_back_no_quotation_of_it_is_left(life, data):
    journal = life.pasts()
    chosen = [entry for entry in journal if isinstance(entry.plain, Append)]
    assume(chosen)
    one = data.draw(st.sampled_from(chosen))
    later = dependents([one], journal, life.cited)
    quoting_it = {made.id for made in life.versions.values() if one.plain.event.id in made.quoted}
    derived = {entry.plain.version.id for entry in later if isinstance(entry.plain, Derive)}
    assert quoting_it <= derived
    made = plan([one], later, Standing(), cascade=True)
    rows = [json.loads(canonical(row)) for row in told_again.state([*life.changes, *made.undo])]
    assert _quoted(rows) <= {value["id"] for row in rows for kind, value in row.items() if kind == "event"}


@settings(max_examples=examples(100))
@given(life=lives(protecting=True, erasing=True, steps=18), data=st.data())
def test_whatever_stays_stands_on_something(life, data):
    journal = life.pasts()
    told = [entry.change for entry in journal]
    assert whole(told)
    cut = data.draw(st.integers(0, len(journal)))
    made = plan(journal[cut:], [], life.standing, cascade=False)
    assert whole([*told, *made.undo])
    assert all(undo.change is not None for undo in made.undo)


@given(life=lives(erasing=True, steps=18), data=st.data())
def test_no_rollback_brings_back_what_was_erased(life, data):
    journal = life.pasts()
    cut = data.draw(st.integers(0, len(journal)))
    made = plan(journal[cut:], [], life.standing, cascade=False)
    after = [json.loads(canonical(row)) for row in told_again.state([*(entry.change for entry in journal), *made.undo])]
    gone = {ref.partition(":")[2] for ref in life.erased}
    assert not gone & {value["id"] for row in after for value in row.values()}
    assert not gone & {value.get("active_version_id") for row in after for value in row.values()}


@given(life=lives(protecting=True, erasing=True, steps=18), data=st.data())
def test_everything_chosen_is_undone_or_stays_for_a_reason(life, data):
    journal = life.pasts()
    chosen = data.draw(st.lists(st.sampled_from(journal), unique_by=lambda entry: entry.seq))
    made = plan(chosen, [], life.standing, cascade=False)
    assert sorted(undone(made) + [stay.seq for stay in made.stays]) == sorted(seqs(chosen))
    assert all(stay.why for stay in made.stays)
    assert undone(made) == sorted(undone(made), reverse=True)


def test_an_archived_memory_comes_back_as_it_was():
    journal = pasts([Create(A), edit(A, state=Archived(NOON, "old"))])
    made = plan([journal[1]], [], Standing(), cascade=False)
    assert state([Create(A), edit(A, state=Archived(NOON, "old")), *made.undo]) == state([Create(A)])


def test_an_entry_is_read_with_the_thing_it_undoes():
    assert Past(Seq(2), "undo", A.id, Seq(1), None).refs.all == frozenset()
