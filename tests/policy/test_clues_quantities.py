"""Amounts in a statement, brought to one scale."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.policy.clues import amounts
from recollect.policy.clues.reading import read
from recollect.policy.contents import numbers
from tests.hunt import examples


def measured(text: str) -> set[tuple[str, float]]:
    return {(one.dimension, round(one.amount, 6)) for one in read(text).quantities}


def laid(a: str, b: str) -> amounts.Amounts:
    return amounts.lay(read(a).quantities, read(b).quantities)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,150 people", ("count", 1150)),
        ("1.2k stars", ("count", 1200)),
        ("a dozen eggs", ("count", 12)),
        ("half a dozen rolls", ("count", 6)),
        ("two hundred and fifty goats", ("count", 250)),
        ("twenty-five goats", ("count", 25)),
        ("a couple of goats", ("count", 2)),
        ("is twenty-seven years old", ("count", 27)),
        ("5 km", ("length", 5000)),
        ("500 g", ("mass", 0.5)),
        ("2 dl", ("volume", 0.2)),
        ("two and a half hours", ("span", 9000)),
        ("an hour and a half", ("span", 5400)),
        ("half an hour", ("span", 1800)),
        ("in under a minute", ("span", 60)),
        ("90 s", ("span", 90)),
        ("0.08 s", ("span", 0.08)),
        ("212 °F", ("temperature", 100)),
        ("85 °C", ("temperature", 85)),
        ("16 GB", ("data", 16e9)),
        ("60 per cent", ("share", 0.6)),
        ("three fifths", ("share", 0.6)),
        ("a tenth of it", ("share", 0.1)),
        ("1 in 50", ("share", 0.02)),
        ("£480", ("money gbp", 480)),
        ("9,400 euros", ("money eur", 9400)),
        ("EUR 8k", ("money eur", 8000)),
        ("3 p.m.", ("hour", 900)),
        ("15:00", ("hour", 900)),
        ("midnight", ("hour", 0)),
        ("half past six", ("clock", 390)),
        ("ten past two", ("clock", 130)),
        ("a quarter to three", ("clock", 165)),
        ("at eight.", ("clock", 480)),
        ("4 June", ("date", 604)),
        ("June 4", ("date", 604)),
        ("the 4th of June", ("date", 604)),
        ("2024-06-04", ("date", 604)),
        ("2024-06-04", ("year", 2024)),
        ("in 1987", ("year", 1987)),
        ("in May", ("month", 5)),
        ("on Mondays", ("weekday", 0)),
        ("the 25th", ("ordinal", 25)),
        ("twice a year", ("period", 15_768_000)),
        ("every six months", ("period", 15_552_000)),
        ("every other week", ("period", 1_209_600)),
        ("quarterly", ("period", 7_776_000)),
        ("version 2.7.1", ("version", 2.007001)),
    ],
)
def test_amounts_are_read(text: str, amount: tuple[str, float]):
    assert amount in measured(text)


@pytest.mark.parametrize("text", ["they march on", "C14 is loose", "the sun is out", "a dog", "may", "1" * 400, "5:"])
def test_no_amount_is_read_where_none_stands(text: str):
    assert not measured(text) - {("count", 5)}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("150 minutes", "2.5 h"),
        ("20 millimetres", "2 cm"),
        ("three months", "a quarter of a year"),
        ("26 miles", "42 km"),
        ("15:00", "3 pm"),
        ("15:00", "three o'clock"),
        ("a dozen eggs", "12 eggs"),
        ("60 %", "three fifths"),
        ("twice a year", "every six months"),
        ("4 June 2021", "2021-06-04"),
        ("1,000 users", "1000 users"),
    ],
)
def test_the_same_amount_in_other_words_agrees(a: str, b: str):
    found = laid(a, b)
    assert found.agreed
    assert not found.clashes


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("150 minutes", "3 h"),
        ("99.9 %", "99.5 percent"),
        ("15:00", "4 pm"),
        ("4 June", "5 June"),
        ("Monday", "Tuesday"),
        ("two dogs", "three dogs"),
        ("weekly", "every month"),
        ("£480", "500 gbp"),
    ],
)
def test_other_amounts_of_the_same_clash(a: str, b: str):
    found = laid(a, b)
    assert found.clashes
    assert not found.agreed


def test_other_things_do_not_clash():
    assert not laid("two dogs", "three languages").clashes
    assert not laid("5 km", "5 kg").clashes
    assert laid("5 km", "5 kg").alone == 2


@settings(max_examples=examples(200))
@given(st.text(max_size=80))
def test_every_text_can_be_read(text: str):
    for one in read(text).quantities:
        assert one.said
        assert one.amount == one.amount  # a number at all


@settings(max_examples=examples(100))
@given(st.integers(1, 10**6), st.sampled_from([("km", "m", 1000), ("kg", "g", 1000), ("hours", "minutes", 60)]))
def test_a_unit_and_its_parts_agree(count: int, units: tuple[str, str, int]):
    large, small, times = units
    found = laid(f"It is {count} {large}.", f"It is {count * times} {small}.")
    assert found.agreed == 1
    assert not found.clashes


@pytest.mark.parametrize("word", ["hundred ", "billion ", "hundred and ", "two dozen and "])
def test_numbers_in_words_that_never_end_are_read_like_others(word: str):
    assert all(one.amount < float("inf") for one in read(word * 2_000).quantities)
    assert all(isinstance(one.values, frozenset) for one in numbers(word * 2_000))
