"""Times that people mention, read on the day they were said."""

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.dates import mentions

MONDAY = date(2025, 1, 20)


@pytest.mark.parametrize(
    ("text", "said", "meant"),
    [
        ("I fly tomorrow at 5pm", "tomorrow", "January 21, 2025"),
        ("taking the train on the 25th to help out", "on the 25th", "January 25, 2025"),
        ("it arrived on the 15th.", "on the 15th", "January 15, 2025"),
        ("we met last Friday", "last Friday", "January 17, 2025"),
        ("see you on Friday", "on Friday", "January 24, 2025"),
        ("the party is next friday", "next friday", "January 31, 2025"),
        ("By Friday I need it", "Friday", "January 24, 2025"),
        ("school starts in september", "in september", "September 2025"),
        ("the birthday is on may 2", "on may 2", "May 2, 2025"),
        ("Last spring I went to Rome", "Last spring", "spring 2024"),
        ("two weeks ago we adopted a dog", "two weeks ago", "the week of January 6, 2025"),
        ("on 3 March we shipped it", "on 3 March", "March 3, 2024"),
        ("Moving day is 14 June.", "14 June", "June 14, 2025"),
        ("it is due by the end of the month", "the end of the month", "January 31, 2025"),
        ("over the weekend I hiked a lot and rested", "over the weekend", "the weekend of January 18, 2025"),
        ("this weekend we paint", "this weekend", "the weekend of January 25, 2025"),
        ("Nov. 3 is the start", "Nov. 3", "November 3, 2025"),
        ("ship it in Q3", "Q3", "Q3 2025"),
        ("in three weeks", "in three weeks", "the week of February 10, 2025"),
        ("since last year", "last year", "2024"),
        ("a year ago", "a year ago", "2024"),
    ],
)
def test_times_that_depend_on_the_day_are_read_as_days_of_the_calendar(text: str, said: str, meant: str):
    [mention] = mentions(text, MONDAY)
    assert (text[mention.start : mention.end], str(mention.period)) == (said, meant)
    assert mention.relative


@pytest.mark.parametrize(
    "said",
    [
        "I may go",
        "I sat in the sun",
        "on the 3rd floor",
        "v2.3.1 on port 2019",
        "they march on",
        "the second time",
        "moved here in 2019",
        "on 2025-06-14",
        "on March 3, 2024",
        "ERR-4471 in build 2024-11",
        "",
    ],
)
def test_what_is_no_time_or_stands_for_itself_is_left_alone(said: str):
    assert not any(mention.relative for mention in mentions(said, MONDAY))


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("what happened last spring?", date(2024, 3, 1), date(2024, 5, 31)),
        ("in 2023", date(2023, 1, 1), date(2023, 12, 31)),
        ("in May 2023", date(2023, 5, 1), date(2023, 5, 31)),
        ("last week", date(2025, 1, 13), date(2025, 1, 19)),
        ("winter of 2022", date(2022, 12, 1), date(2023, 2, 28)),
        ("a few days ago", date(2025, 1, 16), date(2025, 1, 18)),
        ("on 7 July, 2022", date(2022, 7, 7), date(2022, 7, 7)),
    ],
)
def test_a_mention_tells_the_days_it_means(asked: str, first: date, last: date):
    [mention] = mentions(asked, MONDAY)
    assert (mention.first, mention.last) == (first, last)


def test_a_sentence_about_the_past_means_the_day_before():
    [went] = mentions("I went there on Friday", MONDAY)
    [go] = mentions("I will go there on Friday", MONDAY)
    assert went.first == date(2025, 1, 17)
    assert go.first == date(2025, 1, 24)


_VOCABULARY = (
    "on the in last next this friday may march 25th 3rd 2025 two weeks ago week weekend spring q3 30 31 of end month "
    "tomorrow yesterday february 29 feb sat sun a few couple years from now , . 0000-00-00 9999-12-31"
)
WORDS = st.sampled_from(_VOCABULARY.split())


@given(st.lists(WORDS, max_size=12).map(" ".join), st.dates())
def test_any_words_on_any_day_are_read_without_fail_and_without_overlap(text: str, at: date):
    found = mentions(text, at)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(mention.first <= mention.last for mention in found)


@given(st.text(max_size=200), st.dates(min_value=date(1900, 1, 1), max_value=date(2200, 1, 1)))
def test_any_text_is_read_without_fail(text: str, at: date):
    assert all(text[mention.start : mention.end].strip() for mention in mentions(text, at))


@given(st.lists(WORDS, max_size=8).map(" ".join), st.dates(min_value=date(1990, 1, 1), max_value=date(2090, 1, 1)))
def test_a_period_in_words_means_the_same_on_every_other_day(text: str, at: date):
    for mention in mentions(text, at):
        if mention.relative:
            again = mentions(f"so in {mention.period} it is", date(2001, 5, 5))
            assert all(not one.relative or mention.period.grain == "around" for one in again)
