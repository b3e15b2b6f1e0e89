"""What the journal writes, it reads: every value goes out as JSON and comes back as it was."""

import json
import random
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain import codec
from recollect.domain.change import Append, Change, Create, Verb, revise
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Archived, Fact, Item, Visibility
from recollect.domain.journal import body_text, read_body
from recollect.domain.level import Level
from recollect.domain.record import Record
from tests import strategies as some
from tests.hunt import examples
from tests.strategies import NOON


def named(member: type) -> str:
    return member.__name__


@pytest.mark.parametrize("member", get_args(Change), ids=named)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_every_change_is_read_as_it_was_written(member, data):
    change = data.draw(some.CHANGES[member])
    again = read_body(body_text(change))
    assert again == change
    assert type(again) is member
    assert body_text(again) == body_text(change)


@pytest.mark.parametrize("member", get_args(Record), ids=named)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_every_record_is_read_as_it_was_written(member, data):
    record = data.draw(some.RECORDS[member])
    again = codec.decode(Record, json.loads(codec.canonical(codec.encode(record))))
    assert again == record
    assert type(again) is member


@given(value=st.one_of(some.items(), some.events(), some.versions(), some.relations(), some.scopes(), some.headers()))
def test_every_value_is_read_as_it_was_written(value):
    assert codec.decode(type(value), json.loads(codec.canonical(codec.encode(value)))) == value


def shuffled(value: object, order: random.Random) -> object:
    """The same JSON with the keys of every object in another order."""
    match value:
        case dict():
            keys = list(value)
            order.shuffle(keys)
            return {key: shuffled(value[key], order) for key in keys}
        case list():
            return [shuffled(part, order) for part in value]
        case _:
            return value


@given(value=some.json_values(), order=st.randoms(use_true_random=False))
def test_the_canonical_text_does_not_depend_on_the_order_of_keys(value, order):
    assert codec.canonical(shuffled(value, order)) == codec.canonical(value)


@given(value=some.json_values())
def test_the_canonical_text_loses_nothing(value):
    text = codec.canonical(value)
    assert json.loads(text) == value
    assert codec.canonical(json.loads(text)) == text


@given(change=some.changes(), order=st.randoms(use_true_random=False))
def test_a_body_is_read_whatever_the_order_of_its_keys(change, order):
    assert read_body(json.dumps(shuffled(json.loads(body_text(change)), order))) == change


def test_the_canonical_text_keeps_letters_as_they_are_and_wastes_no_space():
    assert codec.canonical({"b": ["ß", 1.0], "a": None}) == '{"a":null,"b":["ß",1.0]}'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_has_no_number_for_has_no_canonical_text(number):
    with pytest.raises(ValueError, match="JSON"):
        codec.canonical({"score": number})


@given(change=st.builds(Create, some.items()) | st.builds(Append, some.events()))
def test_fields_that_a_newer_recollect_added_are_passed_over(change):
    written = json.loads(body_text(change))
    written["later"] = {"is": "Unknown"}
    written["item" if isinstance(change, Create) else "event"]["later"] = [1]
    assert read_body(json.dumps(written)) == change


def test_a_change_that_no_recollect_knows_is_not_read():
    with pytest.raises(KeyError, match="Forget"):
        read_body('{"is":"Forget"}')


def test_a_field_that_is_missing_is_not_made_up():
    written = json.loads(body_text(Append(evidence())))
    del written["event"]["text"]
    with pytest.raises(TypeError, match="text"):
        read_body(json.dumps(written))


@given(item=some.items())
def test_what_is_not_set_is_not_written(item):
    written = codec.encode(item)
    assert None not in written.values()
    assert {name for name in written if name != "is"} == {
        name for name in Item.__dataclass_fields__ if getattr(item, name) is not None
    }


# -- moments ----------------------------------------------------------------------------------------------


@given(at=st.datetimes(timezones=st.just(UTC)))
def test_a_moment_of_any_year_is_read_as_it_was_written(at):
    assert codec.moment(codec.when(at)) == at
    assert len(codec.when(at)) == len("2026-03-01T12:00:00.000000Z")


@given(
    at=st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),
    minutes=st.integers(-14 * 60, 14 * 60),
)
def test_the_zone_of_a_moment_does_not_change_its_text(at, minutes):
    there = at.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert codec.when(there) == codec.when(there.astimezone(UTC))
    assert codec.moment(codec.when(there)) == there


def test_a_new_year_that_is_still_the_old_year_in_utc_keeps_its_four_digits():
    there = datetime(1000, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert codec.when(there) == "0999-12-31T23:00:00.000000Z"


@given(one=st.datetimes(timezones=st.just(UTC)), other=st.datetimes(timezones=st.just(UTC)))
def test_moments_sort_as_texts_as_they_sort_in_time(one, other):
    assert (codec.when(one) < codec.when(other)) == (one < other)


def test_a_time_without_a_zone_is_refused_with_what_would_help():
    with pytest.raises(ValueError, match="name its zone, for example 2026-03-01T12:00:00Z"):
        codec.moment("2026-03-01T12:00:00")


# -- the text that is hashed ------------------------------------------------------------------------------


def evidence() -> Event:
    return Event(
        id=EventId("0195534c-0000-7000-8000-0000000000e1"),
        item_id=ItemId("0195534c-0000-7000-8000-0000000000a1"),
        seq=1,
        ts=NOON,
        author="ann",
        text="Grüße",
        meta={"b": 1, "a": [0.5]},
    )


def test_the_text_of_an_appended_event_is_fixed_for_ever():
    """Journals of earlier releases must verify: their hashes cover exactly this text."""
    assert body_text(Append(evidence())) == (
        '{"event":{"author":"ann","chunks":[],"id":"0195534c-0000-7000-8000-0000000000e1",'
        '"item_id":"0195534c-0000-7000-8000-0000000000a1","meta":{"a":[0.5],"b":1},"seq":1,'
        '"text":"Grüße","trust":"trusted","ts":"2026-03-01T12:00:00.000000Z"},"is":"Append"}'
    )


def test_the_text_of_a_revision_is_fixed_for_ever():
    before = Item(
        id=ItemId("0195534c-0000-7000-8000-0000000000a1"),
        body=Fact(value="tea"),
        category="taste",
        visibility=Visibility.SYSTEM,
        origin_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )
    after = Item(
        id=before.id,
        body=Fact(value="coffee", confidence=1),
        category="taste",
        visibility=Visibility.SYSTEM,
        state=Archived(NOON, "old"),
        pinned_min_level=Level.R4,
        tags=("b", "a"),
        origin_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )
    assert body_text(revise(before, after, NOON + timedelta(seconds=1), Verb.MERGE)) == (
        '{"edits":[["body",{"confidence":1.0,"is":"Fact","value":"tea"},'
        '{"confidence":1.0,"is":"Fact","value":"coffee"}],["tags",[],["b","a"]],'
        '["state",{"is":"Active"},{"at":"2026-03-01T12:00:00.000000Z","is":"Archived","reason":"old"}],'
        '["pinned_min_level",null,4],'
        '["updated_at","2026-03-01T12:00:00.000000Z","2026-03-01T12:00:01.000000Z"]],'
        '"is":"Revise","item_id":"0195534c-0000-7000-8000-0000000000a1","verb":"merge"}'
    )
