"""Witnesses as people and models write them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ids import EventId, ItemId
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness, bare, named, read, written
from tests import strategies as some

EPISODE = ItemId("01900000-0000-7000-8000-000000000001")
EVENT = "01900000-0000-7000-8000-00000000000e"


@given(witnesses=st.lists(some.witnesses(), min_size=1, max_size=4).map(tuple), episode=some.item_ids())
def test_witnesses_are_read_as_they_were_written(witnesses, episode):
    """The notation has no room for reasons, and ranges are those of the episode at hand."""
    expected = tuple(
        replace(witness, reason="", episode_id=episode)
        if isinstance(witness, RangeWitness)
        else replace(witness, reason="")
        for witness in witnesses
    )
    again = read(written(witnesses), episode)
    assert again == expected
    assert written(again) == written(witnesses)


def test_the_notation_of_each_form():
    witnesses = (EventWitness(EventId(EVENT)), RangeWitness(EPISODE, 3, 17), ChunkWitness(EventId(EVENT), 2))
    assert written(witnesses) == f"e:{EVENT},s:3-17,c:{EVENT}.2"


def test_blanks_around_the_commas_do_not_matter():
    assert read(f" e:{EVENT} , s:1-2 ", EPISODE) == (EventWitness(EventId(EVENT)), RangeWitness(EPISODE, 1, 2))


@pytest.mark.parametrize(
    "notation",
    ["", " ", ",", "e:", "e:tea", f"x:{EVENT}", EVENT, f"e:{EVENT}.1", f"c:{EVENT}", f"c:{EVENT}.", "s:3", "s:3-",
     "s:-3", "s:3-x", "s:1--2", f"e:{EVENT},", f"e:{EVENT};s:1-2", f"e:{EVENT[:-1]}", f"e:{EVENT.upper()}",
     f"e:{EVENT}\ne:{EVENT}", "s:1-2-3", "s:1.5-2", "s:9999999999-9999999999", f"c:{EVENT}.1234567"],
)  # fmt: skip
def test_a_bad_notation_is_refused_with_the_forms_there_are(notation):
    with pytest.raises(ValueError, match=r"write e:<event id>, s:<from>-<to> or c:<chunk id>"):
        read(notation, EPISODE)


@pytest.mark.parametrize("notation", ["s:0-3", "s:4-3"])
def test_a_range_that_cannot_be_is_refused(notation):
    with pytest.raises(ValueError, match=rf"witness {notation}: give a range that starts at 1 or later and runs up"):
        read(notation, EPISODE)


def test_a_refusal_quotes_only_the_part_that_is_wrong():
    with pytest.raises(ValueError, match=r"^witness 'tea':"):
        read(f"e:{EVENT}, tea ,s:1-2", EPISODE)


def test_there_is_no_chunk_0():
    with pytest.raises(ValueError, match=rf"witness c:{EVENT}\.0: chunks are counted from 1"):
        read(f"c:{EVENT}.0", EPISODE)


def test_the_witnesses_that_a_text_notes_are_read_out_of_it_and_taken_off_it():
    text = "The train leaves on Thursday. [s:4-5,s:7-7]\nIt was late. [s:4-5]\n[not a witness] [s:x]"
    assert named(text) == ["s:4-5", "s:7-7"]
    assert bare(text) == "The train leaves on Thursday.\nIt was late.\n[not a witness] [s:x]"
