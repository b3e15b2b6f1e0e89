"""A key stands for one value at a time."""

import pytest

from recollect.policy.speech.keys import keyed


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Mara's locker number is 214.", "mara's locker number", "214"),
        ("Mara lives in Ghent.", "mara lives in", "Ghent"),
        ("Mara works at Bol as a buyer.", "mara works at", "Bol as a buyer"),
        ("The staging database listens on port 6432.", "the staging database listens on", "port 6432"),
        ("The budget for the offsite is 6,500 euros.", "the budget for the offsite", "6,500 euros"),
        ("Mara wants to be called Mo.", "mara wants to be called", "Mo"),
    ],
)
def test_what_has_one_value_has_a_key(text: str, key: str, value: str):
    assert keyed(text) == (key, value)


@pytest.mark.parametrize(
    "text",
    [
        "Mara is allergic to walnuts.",
        "Mara is a nurse.",
        "Mara has two cats.",
        "Mara prefers tea.",
        "Mara wants to learn Greek.",
        "The team decided to use Go.",
        "The team is going with Hetzner.",
        "Mara's sister is moving to Bern.",
        "Never push to main.",
    ],
)
def test_what_may_hold_beside_other_things_has_none(text: str):
    assert keyed(text) == (None, None)
