"""Every change has a way back, or says why there is none."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recollect.domain.change import (
    REVISABLE,
    Change,
    Consent,
    Create,
    Disclose,
    Edit,
    Erase,
    Irreversible,
    Note,
    Plain,
    Protect,
    Relink,
    Revise,
    Undo,
    Verb,
    inverse,
    move,
    operation,
    plain,
    revise,
)
from recollect.domain.ids import ItemId, RecordId, Seq
from recollect.domain.item import Active, Archived, Expired, Item, SoftDeleted
from recollect.domain.record import Asked, Decided, Ended, Given, Lapsed, Open, Pending
from recollect.domain.refs import item_of, refs
from tests import strategies as some
from tests.hunt import examples
from tests.strategies import NOON

FOR_GOOD = {Erase, Consent, Protect, Disclose}


def named(member: type) -> str:
    return member.__name__


def said_by_a_person(change: Change) -> bool:
    """Whether a note moves on from what a person decided: the one note without a way back."""
    change = plain(change)
    return isinstance(change, Note) and isinstance(change.before, Decided | Given)


@pytest.mark.parametrize("member", get_args(Change), ids=named)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_every_change_has_a_way_back_or_says_why_there_is_none(member, data):
    change = data.draw(some.CHANGES[member])
    back = inverse(change)
    if type(plain(change)) in FOR_GOOD or said_by_a_person(change):
        assert isinstance(back, Irreversible)
        assert back.why
    else:
        assert isinstance(back, get_args(Plain))


@given(change=some.changes())
def test_taking_back_what_was_taken_back_restores_the_change_up_to_its_verb(change):
    back = inverse(change)
    assume(not isinstance(back, Irreversible))
    again = inverse(back)
    if isinstance(again, Irreversible):  # a person's word, taken back by the time machine, could only be given again
        assert said_by_a_person(back)
        return
    expected = plain(change)
    assert again == (replace(expected, verb=Verb.UNDO) if isinstance(expected, Revise) else expected)


@given(change=some.relinks() | some.notes() | some.revisions())
def test_the_way_back_turns_before_and_after_around(change):
    back = inverse(change)
    if isinstance(change, Revise):
        assert isinstance(back, Revise)
        assert back.edits == tuple(Edit(e.field, e.after, e.before) for e in change.edits[::-1])
    elif not said_by_a_person(change):
        assert back == type(change)(change.after, change.before)


@given(change=some.changes())
def test_the_way_back_touches_what_the_change_touched(change):
    back = inverse(change)
    assume(not isinstance(back, Irreversible))
    assert refs(back) == refs(change)
    assert isinstance(plain(change), Note) or item_of(back) == item_of(change)


@given(change=some.plain_changes(), seq=st.integers(1, 99).map(Seq))
def test_an_undoing_is_about_what_its_change_is_about(change, seq):
    undo = Undo(seq, change)
    assert (refs(undo), item_of(undo), operation(undo)) == (refs(change), item_of(change), operation(change))
    assert inverse(undo) == inverse(change)
    assert plain(undo) is change


@given(change=some.changes())
def test_a_change_about_one_memory_names_it_among_its_refs(change):
    item_id = item_of(change)
    assume(item_id is not None)
    assert f"i:{item_id}" in refs(change).all


@given(change=some.changes())
def test_the_word_for_a_change_holds_no_content(change):
    assert operation(change) in {
        *(verb.value for verb in Verb),
        *("create", "withdraw", "append", "retract", "derive", "discard", "link", "unlink", "relink"),
        *("protect", "unprotect", "disclose", "erase"),
        *("contradiction_open", "contradiction_resolved", "contradiction_retracted"),
        *("proposal_pending", "proposal_lapsed", "proposal_retracted"),
        *("grant_asked", "grant_ended", "grant_retracted"),
        *("refinement_refining", "refinement_refined", "refinement_retracted"),
        *("rules_rules", "rules_retracted", "epoch_epoch", "epoch_retracted"),
        *("consent_decided", "consent_given", "consent_ended"),
    }


def test_the_words_for_changes_follow_what_happened():
    item = ItemId("m")
    assert operation(Protect(item, False, True)) == "protect"
    assert operation(Protect(item, True, False)) == "unprotect"
    found = Open(id=RecordId("c"), memory_a=item, memory_b=ItemId("n"), detected_at=NOON)
    assert operation(Note(None, found)) == "contradiction_open"
    assert operation(Note(found, None)) == "contradiction_retracted"
    assert operation(Revise(item, Verb.MERGE, (Edit("importance", 1, 2),))) == "merge"


# -- revisions --------------------------------------------------------------------------------------------


@given(data=st.data())
def test_a_revision_names_exactly_the_fields_that_differ_and_its_moment(data):
    before = data.draw(some.items())
    after = data.draw(some.edited(before))
    at = data.draw(some.moments())
    change = revise(before, after, at)
    assert {edit.field for edit in change.edits if edit.field != "updated_at"} == {
        name
        for name in Item.__dataclass_fields__
        if name != "updated_at" and getattr(before, name) != getattr(after, name)
    }
    assert change.edits[-1] == Edit("updated_at", before.updated_at, at)
    assert replace(before, **{edit.field: edit.after for edit in change.edits}) == replace(after, updated_at=at)
    back = inverse(change)
    assert isinstance(back, Revise)
    assert replace(after, **{edit.field: edit.after for edit in back.edits}) == before


@given(item=some.items())
def test_a_revision_that_changes_nothing_is_refused(item):
    with pytest.raises(ValueError, match="nothing changes"):
        revise(item, item, NOON)


@pytest.mark.parametrize("field", ["id", "constitutional", "created_at", "colour"])
def test_identity_protection_and_birth_are_not_revised(field):
    assert field not in REVISABLE
    with pytest.raises(ValueError, match=f"'{field}'.*cannot be revised"):
        Revise(ItemId("m"), Verb.UPDATE, (Edit(field, 1, 2),))


@given(item=some.items(state=Active()))
def test_a_move_is_named_for_where_it_leads(item):
    assert move(item, Archived(NOON), NOON).verb is Verb.ARCHIVE
    assert move(item, Expired(NOON), NOON).verb is Verb.EXPIRE
    assert move(item, SoftDeleted(NOON, NOON), NOON).verb is Verb.SOFT_DELETE
    assert move(replace(item, state=Archived(NOON)), Active(), NOON).verb is Verb.RESTORE


# -- changes that cannot be built -------------------------------------------------------------------------


@given(before=some.relations(), after=some.relations())
def test_a_relink_keeps_both_ends(before, after):
    assume((before.from_id, before.to_id) != (after.from_id, after.to_id))
    with pytest.raises(ValueError, match="unlink and link instead"):
        Relink(before, after)


def test_a_note_is_about_something():
    with pytest.raises(ValueError, match="about nothing"):
        Note(None, None)


@given(before=some.record(Open), after=some.record(Lapsed))
def test_a_record_keeps_its_family(before, after):
    with pytest.raises(ValueError, match="keeps its id and its family"):
        Note(before, replace(after, id=before.id))


@given(before=some.record(Open), after=some.record(Open))
def test_a_record_keeps_its_id(before, after):
    assume(before.id != after.id)
    with pytest.raises(ValueError, match="keeps its id and its family"):
        Note(before, after)


@given(word=some.record(Decided) | some.record(Given))
def test_what_a_person_decides_is_not_a_mere_note(word):
    with pytest.raises(ValueError, match="recorded with Consent"):
        Note(None, word)


@given(asked=some.record(Asked), decided=some.record(Decided))
def test_consent_is_given_to_what_was_asked(asked, decided):
    with pytest.raises(ValueError, match="the very thing that was asked"):
        Consent(asked, replace(decided, id=asked.id))


@given(pending=some.record(Pending), decided=some.record(Decided))
def test_consent_to_one_proposal_is_not_consent_to_another(pending, decided):
    assume(pending.id != decided.id)
    with pytest.raises(ValueError, match="the very thing that was asked"):
        Consent(pending, decided)


@given(given_=some.record(Given))
def test_the_end_of_a_grant_is_not_rolled_back_into_a_grant(given_):
    ended = Ended(
        id=given_.id,
        agent_id=given_.agent_id,
        asked_by=given_.asked_by,
        purpose=given_.purpose,
        asked_at=given_.asked_at,
        ended_at=NOON,
        reason="revoked",
    )
    assert isinstance(inverse(Note(given_, ended)), Irreversible)


@given(before=some.record(Open), data=st.data())
def test_a_record_stands_on_the_memories_it_was_about_and_those_it_is_about(before, data):
    after = data.draw(some.record(Open, id=before.id))
    assert refs(Note(before, after)).needs == {
        f"i:{id}" for record in (before, after) for id in (record.memory_a, record.memory_b)
    }


# -- what a change touches and stands on ------------------------------------------------------------------


@given(change=some.revisions())
def test_the_time_of_an_update_is_nobodys_ground(change):
    assert f"i:{change.item_id}/updated_at" not in refs(change).sets
    assert refs(change).sets == {
        f"i:{change.item_id}/{edit.field}" for edit in change.edits if edit.field != "updated_at"
    }


@given(change=some.plain_changes())
def test_what_a_change_owns_is_what_it_makes_or_sets(change):
    named = refs(change)
    assert named.own == named.makes | {field.split("/")[0] for field in named.sets}
    assert named.all == named.own | named.needs
    assert all(":" in thing for thing in named.all)


@given(item=some.items(), at=some.moments())
def test_pointing_at_another_version_stands_on_both(item, at):
    assume(item.active_version_id)
    other = replace(item, active_version_id="01900000-0000-7000-8000-000000000001")
    assume(other != item)
    needs = refs(revise(item, other, at)).needs
    assert {f"v:{item.active_version_id}", f"v:{other.active_version_id}", f"i:{item.id}"} == needs


@given(item=some.items())
def test_a_new_memory_stands_on_the_ones_it_supersedes(item):
    named = refs(Create(item))
    assert named.makes == {f"i:{item.id}"}
    assert named.needs == {f"i:{other}" for other in (item.supersedes, item.superseded_by) if other}


@given(version=some.versions())
def test_a_version_stands_on_its_memory_and_on_what_it_was_derived_from(version):
    named = refs(some.Derive(version))
    expected = {f"i:{version.item_id}"} | ({f"v:{version.derived_from}"} if version.derived_from else set())
    assert (named.makes, named.needs) == ({f"v:{version.id}"}, expected)


@given(event=some.events())
def test_evidence_stands_on_its_episode(event):
    assert refs(some.Append(event)).needs == {f"i:{event.item_id}"}


@given(change=some.erasures())
def test_an_erasure_is_about_one_memory_only_when_it_erases_one(change):
    assert item_of(change) == (change.items[0] if len(change.items) == 1 else None)
