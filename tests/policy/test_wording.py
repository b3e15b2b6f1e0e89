"""How a memory must be worded, whoever made it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.wording import LONGEST, Sound, Unsound, check, fit


@pytest.mark.parametrize(
    "text",
    [
        "Mara is allergic to walnuts.",
        "The team decided to use Go. Rust is off the table.",
        "Dr. Voss met J. M. Abara at 10.30 a.m. in St. Gallen.",
        "Config lives in src/its/you.py and `my_file`.",
        "Cass uses the pronouns they/them.",
        "The US office is run by IT.",
        "Everything user-visible goes through i18n.",
    ],
)
def test_a_sound_text_passes(text: str):
    assert check(text) == Sound()
    assert fit(text) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  … !!", "empty"),
        ("👍", "empty"),
        ("I am allergic to walnuts.", "pronoun 'I'"),
        ("Mara said that she moved.", "pronoun 'she'"),
        ("It's on port 80.", "pronoun"),
        ("Bring your own keys.", "pronoun 'your'"),
        ("One. Two. Three.", "two sentences"),
        ("x" * 281, "281 characters"),
        ("Mara moved\nto Bern.", "not normal"),
        ("Mara got the job!", "neutral"),
        ("Did Mara get the job?", "neutral"),
        ("Mara moved to Bern lol.", "neutral"),
    ],
)
def test_an_unsound_text_is_refused_with_the_reason(text: str, why: str):
    found = check(text)
    assert isinstance(found, Unsound)
    assert why in found.why


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [
        ("mara moved to Bern", "Mara moved to Bern."),
        ("Mara  moved\nto Bern!!", "Mara moved to Bern."),
        ("Mara moved to Bern 🎉 :)", "Mara moved to Bern."),
        ("One is here. Two is here. Three is here.", "One is here. Two is here."),
        ("src/a.py is generated", "src/a.py is generated."),
    ],
)
def test_what_trimming_can_mend_is_trimmed(text: str, trimmed: str):
    assert fit(text) == trimmed


@pytest.mark.parametrize("text", ["", "?!", "she moved to Bern", "Is Bern far?"])
def test_what_trimming_cannot_mend_is_refused(text: str):
    assert fit(text) is None


def test_a_long_text_is_cut_at_the_end_of_a_clause():
    text = "Mara moved the archive to the new building, " + "and the boxes were carried by hand, " * 10
    found = fit(text)
    assert found is not None
    assert len(found) <= LONGEST
    assert found.endswith("by hand.")


@given(st.text(max_size=600))
def test_whatever_is_trimmed_passes(text: str):
    found = fit(text)
    assert found is None or check(found) == Sound()


@given(st.text(max_size=600))
def test_trimming_twice_is_trimming_once(text: str):
    found = fit(text)
    assert found is None or fit(found) == found
