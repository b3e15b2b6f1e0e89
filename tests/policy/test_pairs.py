"""How two statements stand to each other, how sure that is, and why."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.judgement import Chances
from recollect.policy.pairs import Pair, in_context, judged
from tests.hunt import examples

TEXTS = st.text(max_size=80)
CHANCES = st.lists(st.floats(0.001, 1), min_size=4, max_size=4).map(
    lambda parts: Chances(
        contradiction=parts[0] / sum(parts),
        same=parts[1] / sum(parts),
        refines=parts[2] / sum(parts),
        compatible=parts[3] / sum(parts),
    )
)


def heard(contradiction: float = 0.01, same: float = 0.01, refines: float = 0.01, compatible: float = 0.01) -> Chances:
    total = contradiction + same + refines + compatible
    return Chances(
        contradiction=contradiction / total, same=same / total, refines=refines / total, compatible=compatible / total
    )


def test_the_same_words_are_the_same_whatever_the_judge_says():
    ruling = judged("Ana eats fish.", "ana eats fish", heard(contradiction=1))
    assert ruling.verdict is Pair.SAME
    assert ruling.confidence == 1
    assert ruling.why == ("the same words",)


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("Ana eats raw fish.", "Ana never eats raw fish.", 'a "not" on one side'),
        ("Standup starts at 9:30.", "Standup starts at 10:00.", "9:30 against 10:00"),
    ],
)
def test_rules_alone_tell_what_cannot_both_be_true(a: str, b: str, why: str):
    ruling = judged(a, b)
    assert ruling.verdict is Pair.CONTRADICTION
    assert ruling.confidence > 0.9
    assert why in ruling.why[0]


def test_rules_alone_are_not_sure_of_what_takes_knowledge_of_the_world():
    assert (
        judged("Mira drinks her morning coffee black.", "Mira drinks her morning coffee sweet.").verdict is Pair.UNSURE
    )


def test_rules_alone_tell_that_one_says_more():
    assert judged("Ben owns a dog.", "Ben owns a dog called Rex.").verdict is Pair.REFINES


@pytest.mark.parametrize("label", ["contradiction", "same", "refines", "compatible"])
def test_a_judge_that_is_sure_is_followed(label: str):
    said = heard(**{label: 1.0})
    ruling = judged("Ola keeps bees behind the barn.", "The barn at Ola's place has hives at its back.", said)
    assert ruling.verdict == label
    assert "the local judge finds" in ruling.why[0]


def test_the_judge_makes_a_contradiction_likelier():
    pair = ("Ola lives in Porto.", "Ola rents a flat in Lyon.")
    low, high = (judged(*pair, said).chances.contradiction for said in (heard(compatible=1), heard(contradiction=1)))
    assert low < 0.5 < high


MUGS = ("Ola drinks from the green mug.", "Ola drinks from a chipped cup with a blue rim.")
"""Nothing that rules could be certain of."""


def clashing(share: float, *, update: float = 0.0, again: bool = False) -> Chances:
    """A judge that finds a clash so likely, `update` of it a change."""
    rest = (1 - share) / 3
    return Chances(
        contradiction=share * (1 - update),
        same=rest,
        refines=rest,
        compatible=rest,
        update=share * update,
        again=again,
    )


@pytest.mark.parametrize("again", [False, True])
def test_a_store_takes_a_clash_for_sure_later_than_it_is_called_one(again: bool):
    rulings = [judged(*MUGS, clashing(share / 1000, again=again)) for share in range(1000)]
    called = [ruling.verdict is Pair.CONTRADICTION for ruling in rulings]
    sure = [ruling.sure for ruling in rulings]
    assert called.index(True) < sure.index(True)
    assert all(sure[sure.index(True) :])


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("update", [0.1, 0.9])
def test_something_may_have_changed_before_it_is_sure(update: float, again: bool):
    rulings = [judged(*MUGS, clashing(share / 1000, update=update, again=again)) for share in range(1000)]
    perhaps, sure = ([getattr(one, name) for one in rulings] for name in ("perhaps", "sure"))
    assert not perhaps[0]
    assert perhaps.index(True) < sure.index(True)
    assert all(perhaps[perhaps.index(True) :])


def test_what_two_judges_say_is_weighed_otherwise_than_what_one_says():
    one, two = (judged(*MUGS, clashing(0.6, again=again)) for again in (False, True))
    assert one.chances.contradiction != pytest.approx(two.chances.contradiction, abs=0.01)


def test_rules_alone_are_sure_of_what_they_call_a_contradiction_and_of_nothing_else():
    hours = judged("Standup starts at 9:30.", "Standup starts at 10:00.")
    assert (hours.sure, hours.perhaps) == (True, False)
    dog = judged("Ben owns a dog.", "Ben owns a dog called Rex.")
    assert (dog.sure, dog.perhaps) == (False, False)


def test_the_same_words_never_clash_in_a_store():
    ruling = judged("Ana eats fish.", "ana eats fish", clashing(0.99, update=0.9))
    assert (ruling.sure, ruling.perhaps) == (False, False)


def test_what_is_kept_of_the_reasons_has_no_word_of_the_statements():
    ruling = judged("The shop closes at 17:00.", "The shop closes at 16:00.")
    assert "17:00" in "; ".join(ruling.why)
    assert "17:00" not in "; ".join(ruling.grounds)


@settings(max_examples=examples(100))
@given(TEXTS, TEXTS, st.none() | CHANCES)
def test_every_pair_has_a_ruling_that_is_explained(a: str, b: str, chances: Chances | None):
    ruling = judged(a, b, chances)
    found = ruling.chances
    assert found.contradiction + found.same + found.refines + found.compatible == pytest.approx(1)
    assert 0 < ruling.confidence <= 1
    assert 1 <= len(ruling.why) <= 3
    assert all(ruling.why)
    assert all(ruling.grounds)


@settings(max_examples=examples(100))
@given(TEXTS, TEXTS)
def test_rules_alone_call_a_contradiction_what_they_are_sure_of_and_never_speak_of_change(a: str, b: str):
    ruling = judged(a, b)
    assert ruling.sure == (ruling.verdict is Pair.CONTRADICTION)
    assert not ruling.perhaps


@settings(max_examples=examples(100))
@given(TEXTS, TEXTS, st.none() | CHANCES)
def test_a_ruling_is_the_same_whichever_statement_comes_first(a: str, b: str, chances: Chances | None):
    one, other = judged(a, b, chances), judged(b, a, chances)
    assert one.verdict is other.verdict
    assert one.chances.contradiction == pytest.approx(other.chances.contradiction)


def test_a_statement_is_shown_with_all_of_a_short_message_and_alone_where_the_message_is_long():
    said = "got the actual files.\n every picture is square"
    assert in_context("Thabo: every picture is square", said) == "Thabo: got the actual files. every picture is square"
    assert in_context("Thabo: every picture is square", said * 20) == "Thabo: every picture is square"
    assert in_context("Every picture is square.", said) == "Every picture is square."
