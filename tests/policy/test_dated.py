"""Times in a statement are told so that they mean the same when it is read later."""

from datetime import UTC, datetime

import pytest

from recollect.policy.speech.dated import dated

TUESDAY = datetime(2026, 2, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The review is tomorrow.", "The review is on February 11, 2026."),
        ("The review is on Friday.", "The review is on Friday, February 13, 2026."),
        ("The party is on Saturday the 21st.", "The party is on Saturday, February 21, 2026."),
        ("The report came in three days ago.", "The report came in on February 7, 2026."),
        ("The host gets switched off on Friday.", "The host gets switched off on Friday, February 13, 2026."),
        ("Both must be fixed within two weeks from today.", "Both must be fixed by February 24, 2026."),
        ("The lease ends a week from tomorrow.", "The lease ends on February 18, 2026."),
        (
            "Ana ordered a lute, and Ana wants to play it in October.",
            "Ana ordered a lute, and Ana wants to play it in October 2026.",
        ),
        (
            "Ana flies out on 2 August and has to be back by the 16th.",
            "Ana flies out on August 2, 2026 and has to be back by August 16, 2026.",
        ),
        ("Ana cannot do the Thursday demo.", "Ana cannot do the February 12, 2026 demo."),
    ],
)
def test_a_time_that_depends_on_the_day_is_put_as_a_date(said: str, told: str):
    assert dated(said, TUESDAY).text == told


@pytest.mark.parametrize(
    "said",
    [
        "The cleaner comes every second Friday.",
        "Deploys go out Tuesday and Thursday only.",
        "Ana trains Mon, Wed and Sat.",
        "Ana calls Ruth on Sunday mornings.",
        "Ana loves hiking in September.",
        "The practice is closed on Wednesdays.",
    ],
)
def test_a_habit_keeps_its_day(said: str):
    assert dated(said, TUESDAY).text == said


def test_since_and_until_say_when_a_statement_holds():
    leave = dated("Ana is on leave until 1 March.", TUESDAY)
    assert leave.valid_to == datetime(2026, 3, 2, tzinfo=UTC)
    diet = dated("Ana has been a vegetarian since 2011.", TUESDAY)
    assert diet.valid_from == datetime(2011, 1, 1, tzinfo=UTC)
    assert diet.valid_to is None
