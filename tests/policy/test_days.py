"""The days that words mean stand beside them, and only where the words leave no doubt."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.policy.calendar import MONTHS, WEEKDAYS
from recollect.policy.dates import mentions
from recollect.policy.speech.days import REACH, bracketed, dated
from recollect.write.extract import extract
from tests.hunt import examples
from tests.policy.talk import SAID, Fake, kept, turns

TUESDAY = datetime(2026, 2, 10, 12, tzinfo=UTC)
JANUARY = datetime(2025, 1, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("The review is tomorrow.", "The review is tomorrow [11 February 2026]."),
        ("The review is due on friday, ok", "The review is due on friday [13 February 2026], ok"),
        ("We met on Friday.", "We met on Friday [6 February 2026]."),
        ("Ben will come on Saturday the 21st.", "Ben will come on Saturday the 21st [21 February 2026]."),
        ("The report came three days ago.", "The report came three days ago [7 February 2026]."),
        ("We met last week.", "We met last week [week of 2 February 2026]."),
        ("See you next weekend.", "See you next weekend [weekend of 21 February 2026]."),
        ("Next month we paint.", "Next month [March 2026] we paint."),
        ("Last year was dry.", "Last year [2025] was dry."),
        ("The fair is on 14 March.", "The fair is on 14 March [14 March 2026]."),
        ("She starts on 2 March, Monday to Thursday.", "She starts on 2 March [2 March 2026], Monday to Thursday."),
        ("9 March 18:30 we start.", "9 March [9 March 2026] 18:30 we start."),
        (
            "Friday is his last day, he is leaving on friday.",
            "Friday is his last day, he is leaving on friday [13 February 2026].",
        ),
        ("I will tell you on the weekend.", "I will tell you on the weekend [weekend of 14 February 2026]."),
        (
            "We plan to ship on Tuesday the 10th of March.",
            "We plan to ship on Tuesday the 10th of March [10 March 2026].",
        ),
        ("It was cold this winter.", "It was cold this winter [winter 2025/26]."),
    ],
)
def test_a_time_that_depends_on_the_day_has_its_day_beside_it(said: str, meant: str):
    assert bracketed(said, TUESDAY) == meant


@pytest.mark.parametrize(
    "said",
    [
        "Jun-ho will start on the sandbox.",
        "May-Britt runs the shop.",
        "We opened in August. 1,150 people came.",
        "We decided to move the launch on Friday.",
    ],
)
def test_a_name_a_number_and_an_intention_are_no_day(said: str):
    assert bracketed(said, TUESDAY) == said


@pytest.mark.parametrize(
    "said",
    [
        "Every Friday we swim.",
        "We swim on Fridays.",
        "The cleaner comes every second Friday.",
        "Deploys go out Tuesday and Thursday only.",
        "Ana trains Mon, Wed and Sat.",
        "Ana calls Ruth on Sunday mornings.",
        "We usually meet on Monday.",
        "I work on Monday.",
        "She was a Saturday girl at the bakery.",
        "I cannot do the Thursday demo.",
        "The Friday market will open.",
        "It is the first Monday of the month.",
        "A fortnight before Easter we leave.",
        "It ran on the 3rd floor.",
        "The exam is on the 25th.",
        "It broke a few weeks ago.",
        "The inspector came on a Tuesday.",
        "It will be some Friday.",
        "He may come.",
        "I sat in the sun.",
        "On Friday.",
        "The fair is on 14 March 2024.",
        "Since 2011.",
        "Next year's budget is set.",
        "Each May we hike.",
        "The shop shuts till the end of the month, from the 2nd on.",
        "She needs a room from March 5 to April 3, 2027.",
        "Nobody moves here in February.",
        "No calls after 4 in winter, 6 in summer.",
        "Never between 20 March and 6 April.",
        "Everyone there is called Jan.",
        "I will come up the weekend before.",
        "The weekend beans will taste better.",
        "Can I tell you on the weekend?",
        "We lost a whole saturday in september.",
        "What will it be in a week from January 10?",
        "I will read on winter evenings.",
        "The site is open, I will work Monday till Saturday.",
        "He lost his hives this summer.",
        "We marry next summer, probably.",
        "We will leave on Good Friday and stay till the Monday.",
        "We will start tomorrow week.",
        "Finance restates the previous month until the 5th.",
        "We will start on friday week.",
        "We will be in Rome in March 16-18.",
        "bins thursday\nback soon, I left early",
        "I was thinking first saturday of october.",
        "march april by miles, everyone wants a knife then",
    ],
)
def test_a_day_that_recurs_names_something_else_or_stays_open_has_none(said: str):
    assert bracketed(said, TUESDAY) == said


@pytest.mark.parametrize(
    "said",
    ["I was born on 1 May.", "My birthday is on 12 May.", "Our anniversary is 3 June.", "Ben's birthday: 9 March"],
)
def test_a_day_of_every_year_gets_no_year(said: str):
    """Nobody was born in the nearest year."""
    for month in range(1, 13):
        assert bracketed(said, TUESDAY.replace(month=month)) == said


def test_a_day_without_a_year_has_none_where_the_question_names_one():
    assert dated("yes 4 march", TUESDAY).meant
    assert not dated("yes 4 march", TUESDAY, "Next year, then: the first Saturday in March?").meant


def test_a_weekday_and_its_number_that_fit_before_and_behind_are_the_one_to_which_the_words_look():
    at = datetime(2025, 3, 4, 12, tzinfo=UTC)
    assert bracketed("I propose Tuesday the 18th.", at) == "I propose Tuesday the 18th."
    assert bracketed("We will ship on Tuesday the 18th.", at) == "We will ship on Tuesday the 18th [18 March 2025]."
    assert bracketed("We met on Tuesday the 18th.", at) == "We met on Tuesday the 18th [18 February 2025]."


def test_where_a_year_is_named_a_day_without_one_may_be_of_that():
    said = "He comes back next year and starts on March 5."
    assert bracketed(said, TUESDAY) == "He comes back next year [2027] and starts on March 5."


def test_the_nearest_year_is_also_the_one_that_is_over():
    assert bracketed("Her January 7th mail got lost.", JANUARY) == "Her January 7th [7 January 2025] mail got lost."
    assert bracketed("It was on 28 December.", JANUARY) == "It was on 28 December [28 December 2024]."


def test_a_week_of_a_month_is_no_week_of_today():
    assert bracketed("It was in the last week of November.", JANUARY) == (
        "It was in the last week of November [November 2024]."
    )
    assert bracketed("It was last week of September.", JANUARY) == "It was last week of September [September 2024]."


def test_a_day_that_is_far_from_today_either_way_stays_open():
    assert bracketed("The fair is on 14 July.", JANUARY) == "The fair is on 14 July."


def test_words_that_look_the_other_way_leave_it_open():
    assert bracketed("We will meet on 7 January.", JANUARY) == "We will meet on 7 January."
    assert bracketed("We met on 20 January.", JANUARY) == "We met on 20 January."


AT = st.dates(date(1990, 1, 1), date(2090, 1, 1))
FRAMES = st.sampled_from(
    ["The fair is on {}.", "{} it is", "We talked about {}, at length", "by {} please", "it was {}"]
)


def at_noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


@settings(max_examples=examples(400), deadline=None)
@given(AT, st.dates(date(2025, 1, 1), date(2025, 12, 31)), FRAMES, st.booleans())
def test_a_day_without_a_year_gets_the_nearest_within_reach_or_none(at: date, day: date, frame: str, american: bool):
    number, name = day.day, MONTHS[day.month - 1]
    said = frame.format(f"{name} {number}" if american else f"{number} {name}")
    found = dated(said, at_noon(at)).meant
    near = min(abs(day.replace(year=at.year + step) - at) for step in (-1, 0, 1)) <= REACH
    ahead = any(timedelta() <= day.replace(year=at.year + step) - at <= REACH for step in (0, 1))
    assert len(found) <= near
    assert len(found) == 1 or not ahead or frame != "{} it is"
    for one in found:
        assert one.time.startswith(f"{number} {name} ")
        told = day.replace(year=int(one.time.split()[2]))
        assert abs(told - at) <= REACH
        assert all(abs(told.replace(year=told.year + step) - at) >= abs(told - at) for step in (-1, 1))


@settings(max_examples=examples(300), deadline=None)
@given(
    AT,
    st.sampled_from(WEEKDAYS),
    st.sampled_from(
        ["every {}", "each {}", "on {}s", "{} mornings", "{} and Thursday", "usually on {}", "Monday to {}",
         "any {}", "on a {}", "some {}", "most {}s", "the second {} of the month", "a {} girl", "the {} crew", "always on {}"]  # noqa: E501
    ),
    st.sampled_from(["We meet {}.", "{} we will swim", "it was {}, I think", "Ben comes {}"]),
)  # fmt: skip
def test_a_bracket_never_stands_beside_a_day_that_recurs(at: date, day: str, recurring: str, frame: str):
    said = frame.format(recurring.format(day))
    assert bracketed(said, at_noon(at)) == said


@settings(max_examples=examples(300), deadline=None)
@given(SAID, AT)
def test_any_words_on_any_day_are_read_and_no_time_is_told_twice(said: str, at: date):
    found = dated(said, at_noon(at))
    assert len({one.after for one in found.meant}) == len(found.meant) <= len(mentions(said, at))
    assert not (found.valid_from and found.valid_to and found.valid_to < found.valid_from)
    without = bracketed(said, at_noon(at))
    for one in found.meant:
        without = without.replace(f" [{one.time}]", "", 1)
    assert without == said


def test_since_and_until_say_when_a_statement_holds():
    leave = dated("I'm on leave until 1 March.", TUESDAY)
    assert (leave.valid_from, leave.valid_to) == (None, datetime(2026, 3, 2, tzinfo=UTC))
    diet = dated("I have been a vegetarian since 2011.", TUESDAY)
    assert (diet.valid_from, diet.valid_to) == (datetime(2011, 1, 1, tzinfo=UTC), None)


def test_each_turn_of_a_quotation_has_the_days_of_its_own_day():
    first, second = turns(("Mira", "Our train leaves tomorrow at nine."), ("Mira", "no wait, it's at ten"))
    later = replace(second, ts=second.ts + timedelta(days=2))
    [one] = extract([first, later], frozenset({0, 1}), Fake())
    assert "tomorrow [4 May 2025]" in one.served


def test_the_days_that_do_not_fit_are_left_out_rather_than_the_words():
    text = "We met yesterday and meet tomorrow and next week and next month and next year " + "in the old harbour " * 7
    [one] = kept(("Mira", text.strip() + "."))
    assert one.quotation is not None
    assert "tomorrow [4 May 2025]" in one.served
    assert one.quotation.words == text.strip() + "."


def test_in_january_this_year_and_last_year_stay_open():
    said = "Last year we were at 118 thousand, this year at 131."
    assert dated(said, at_noon(date(2026, 6, 20))).meant
    assert not dated(said, at_noon(date(2026, 1, 20))).meant
