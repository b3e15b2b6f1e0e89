"""A sentence is told in the third person where that is sure. Everything else is quoted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.policy.speech.third_person import AGREEMENT, told
from recollect.policy.wording import Sound, check
from tests.hunt import examples
from tests.policy.talk import SAID, kept


@pytest.mark.parametrize(
    ("said", "third"),
    [
        ("I live in Leeds.", "Mira lives in Leeds."),
        ("I'm allergic to walnuts.", "Mira is allergic to walnuts."),
        ("btw I've moved to Ghent", "Mira has moved to Ghent."),
        ("I don't eat fish", "Mira doesn't eat fish."),
        ("I’d rather walk.", "Mira would rather walk."),  # noqa: RUF001
        ("I still work nights at the bakery.", "Mira still works nights at the bakery."),
        ("I never drink coffee.", "Mira never drinks coffee."),
        ("I speak Finnish, Estonian and a bit of Latvian.", "Mira speaks Finnish, Estonian and a bit of Latvian."),
        ("I teach chemistry in Braga!", "Mira teaches chemistry in Braga."),
        ("My sister Hanna lives in Leeds.", "Mira's sister Hanna lives in Leeds."),
        ("I moved to Leeds yesterday.", "Mira moved to Leeds yesterday [2 May 2025]."),
    ],
)
def test_a_plain_sentence_about_oneself_is_told(said: str, third: str):
    [one] = kept(("Mira", said))
    assert one.served == third
    assert one.quotation is None
    assert one.witnesses == (0,)


@pytest.mark.parametrize(
    "said",
    [
        "Ben works at Acme and I work at Globex.",
        "I work at Globex and Ben, who is new, works at Acme.",
        "My dog Rex died in May, he was a good dog.",
        "We moved to Leeds.",
        "We want no recordings.",
        "There are no recordings.",
        "Our standup is at nine.",
        "I live in Leeds and repair bikes.",
        "I live in Leeds, repair bikes and sail.",
        "I breed dogs in Leeds.",
        "I hundred percent agree with Ben.",
        "I like tea and hate coffee.",
        "I work where Ben works, if they let me.",
        "I told Ben that the barn is sold.",
        "I prefer that one.",
        "I live there.",
        "I gave you the keys.",
        "I live with my sister.",
        "I moved because of the noise.",
        "I'd sold the barn.",
        "I think so.",
        "I work at Acme?",
        "Tom says I work at Acme.",
        "My parents live in Porto.",
        "My sister and I are nurses.",
        "You live in Leeds.",
        "She lives in Leeds.",
        "Live in Leeds.",
    ],
)
def test_what_is_not_sure_is_quoted(said: str):
    assert told(said, "Mira") is None
    for one in kept(("Mira", said)):
        assert one.quotation is not None


def test_of_two_sentences_both_are_told_or_neither():
    [both] = kept(("Mira", "I live in Leeds. I work at Acme."))
    assert both.served == "Mira lives in Leeds. Mira works at Acme."
    [mixed] = kept(("Mira", "I live in Leeds. We sold the old barn."))
    assert mixed.quotation is not None
    assert mixed.quotation.words == "I live in Leeds. We sold the old barn."


def test_an_answer_and_a_correction_are_quoted_however_plain():
    [answer] = kept(("assistant", "Where do you live?"), ("Mira", "I live in Leeds."), fresh=1)
    assert answer.quotation is not None
    assert answer.quotation.asked
    [correction] = kept(("Mira", "I live in Leeds."), ("Mira", "wait, no, I work in Leeds"))
    assert correction.quotation is not None
    assert correction.corrects


@pytest.mark.parametrize("name", ["user", "me", "I", "???"])
def test_somebody_without_a_name_is_the_user(name: str):
    [one] = kept((name, "user", "I live in Ghent."))
    assert one.served == "The user lives in Ghent."


def test_a_document_is_never_told():
    """Whose "I" it is, nobody knows."""
    assert kept(("notes", "document", "I live in Leeds.")) == []


def test_a_name_that_ends_in_s_is_owned_with_an_apostrophe_alone():
    assert told("My sister is a nurse.", "James") == "James' sister is a nurse."


@settings(max_examples=examples(300), deadline=None)
@given(st.one_of(SAID, st.builds("I {} {}".format, st.sampled_from([*AGREEMENT, "work", "breed", "xyz"]), SAID)))
def test_whatever_is_told_is_sound_and_about_its_speaker(said: str):
    third = told(said, "Mira")
    if third is not None:
        assert check(third) == Sound()
        assert third.startswith(("Mira ", "Mira's "))
        assert said.lstrip().lower().split()[0].strip(",:") != "we"
