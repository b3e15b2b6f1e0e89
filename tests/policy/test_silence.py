"""Whether what was found speaks of what is asked, or only of the people it names."""

from datetime import date

import pytest

from recollect.policy.asked import asked
from recollect.policy.silence import Line, Signs, about, signs, speaks

TODAY = date(2026, 3, 2)
REST = (Line("Ana", 0.05), Line("Ben", 0.04)) * 38
FAR = (Line("Ana", 0.16), Line("Ben", 0.12), *REST)
NEAR = (Line("Ana", 0.62), Line("Ben", 0.31), *REST)


def seen(text: str, lines: tuple[Line, ...], found: int = 250) -> Signs:
    told = signs(asked(text, TODAY), lines, found, 0.3, 0.3)
    assert told is not None
    return told


def test_what_is_near_speaks_and_what_is_far_does_not():
    assert speaks(seen("What is the name of Ana's dentist?", NEAR))
    assert not speaks(seen("What is the name of Ana's dentist?", FAR))


def test_what_another_person_said_speaks_less_for_the_one_who_is_named():
    own = (Line("Ana", 0.42), Line("Ben", 0.1), *REST)
    others = (Line("Ben", 0.42), Line("Ana", 0.1), *REST)
    assert seen("How long is Ana's boat?", own).elsewhere == 0
    assert seen("How long is Ana's boat?", others).elsewhere == pytest.approx(0.32)
    assert speaks(seen("How long is Ana's boat?", own))
    assert not speaks(seen("How long is Ana's boat?", others))


def test_who_has_heard_little_speaks_sooner():
    assert not speaks(seen("What is the name of Ana's dentist?", FAR, 200))
    assert speaks(seen("What is the name of Ana's dentist?", FAR[:3], 3))
    assert seen("What is the name of Ana's dentist?", FAR, 400).few == 0


def test_who_is_named_and_never_spoke_is_not_held_against_what_others_said():
    found = seen("How long is Vera's boat?", NEAR)
    assert (found.names_a_speaker, found.elsewhere) == (0.0, 0.0)


def test_a_memory_that_is_nearer_than_any_line_speaks_for_itself():
    far = seen("Where is the spare key?", FAR)
    assert not speaks(far)
    assert speaks(far.beside(0.7))
    assert far.beside(0.1) == far


def test_a_memory_that_shares_a_speakers_name_does_not():
    far = seen("What is the name of Ana's dentist?", FAR)
    assert far.beside(0.7) == far


@pytest.mark.parametrize(
    "text",
    [
        "Can you suggest a dentist for Ana?",
        "What did Ana do in May 2024?",
        "Ana wrote this morning that the dentist near the old mill has closed and sent everybody a new address in town",
    ],
)
def test_it_is_not_told_of_advice_of_a_time_or_of_a_whole_message(text: str):
    assert signs(asked(text, TODAY), FAR, 250, 0.3, 0.3) is None


def test_it_is_not_told_where_one_line_holds_every_word():
    assert signs(asked("ERR-4471", TODAY), FAR, 250, 0.3, 1.0) is None


def test_it_is_not_told_while_something_has_no_vector_yet():
    question = asked("What is the name of Ana's dentist?", TODAY)
    assert signs(question, (*FAR, Line("Ana", None)), 250, 0.3, 0.3) is None
    assert signs(question, (), 0, 0.0, 0.0) is None


def test_what_somebody_says_of_the_person_asked_about_is_theirs():
    of_ana = (Line("Ben", 0.42, about("Ana is allergic to nuts.", ["ana"])), Line("Ana", 0.1), *REST)
    assert seen("What can Ana not eat?", of_ana).elsewhere == 0
    assert about("We met ana's aunt", ["ana", "ben"]) == {"ana"}
    for to_ana in ("Ana, I had nuts.", "Thanks, Ana!", "I like Ana", "Banana bread"):
        assert about(to_ana, ["ana"]) == frozenset()
