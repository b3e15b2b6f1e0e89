"""What rules see in two statements."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.policy.clues import clues
from recollect.policy.clues.lexicon import stem
from recollect.policy.clues.remarks import ground, remark
from recollect.policy.clues.sure import clash
from recollect.policy.clues.weights import BOTH, RULES
from tests.hunt import examples

WORDS = st.sampled_from(
    "Marta Marta's sister lives in Porto not never used to moved 3 pm 15:00 two 2.5 h 150 minutes all some only often "
    "opens closed May 2021 half a dozen eggs % € °C may if also . ; SLA service level agreement".split()
)
STATEMENTS = st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60)


@settings(max_examples=examples(150))
@given(STATEMENTS, STATEMENTS)
def test_clues_are_the_same_whichever_statement_comes_first(a: str, b: str):
    assert clues(a, b) == clues(b, a)


@settings(max_examples=examples(100))
@given(STATEMENTS, STATEMENTS)
def test_every_clue_is_a_small_number_that_can_be_put_in_words(a: str, b: str):
    for name, value in clues(a, b).items():
        assert 0 < value <= 1
        assert remark(name, a, b)
        assert ground(name)


@settings(max_examples=examples(100))
@given(STATEMENTS)
def test_a_statement_does_not_clash_with_itself(text: str):
    seen = clues(text, text)
    assert seen["words_same"] == 1
    clashes = {"amount_clash", "negation_met", "opposite", "scope_other", "names_exchanged", "swapped"}
    assert not clashes & seen.keys()
    assert clash(text, text) is None


@pytest.mark.parametrize(
    ("a", "b", "clue"),
    [
        ("Ana eats fish on Fridays.", "Ana does not eat fish.", "negation_met"),
        ("Ana does not eat fish.", "Ana has no dog.", "negation_both"),
        ("Ana eats fish.", "Ana has no dog.", "negation_strange"),
        ("The pool is open in winter.", "The pool is closed in winter.", "opposite"),
        ("Ana failed the exam.", "Ana did not pass the exam.", "opposite_negated"),
        ("The shop opens at 9:00.", "The shop opens at 10:00.", "date_clash"),
        ("The bag weighs two kilos.", "The bag weighs 900 g.", "unit_clash"),
        ("The run is 5 km long.", "The run has a length of 5000 metres.", "amount_agrees_all"),
        ("Ana has two dogs.", "Ana has three dogs.", "count_clash"),
        ("Ana has two dogs.", "Ana speaks three languages.", "counts_of_others"),
        ("Ana has two dogs.", "Ana speaks two languages.", "number_reused"),
        ("Ana has a dog.", "Ana bought the dog in 2019.", "amount_one_side"),
        ("The SLA is strict.", "The service level agreement is strict.", "abbreviated"),
        ("Marta's sister lives in Porto.", "Marta lives in Porto.", "owned_strange"),
        ("Marta's sister is ill.", "Marta's brother is ill.", "owned_other"),
        ("Ola lives in Porto.", "Ola lives in Lyon.", "replaced_single"),
        ("Ola lives in Porto.", "Ola lives in Lyon.", "names_exchanged"),
        ("Ola speaks Greek.", "Ola speaks Dutch.", "replaced_several"),
        ("Ola lent Finn the boat.", "Finn lent Ola the boat.", "swapped"),
        ("Ola invited Finn.", "Finn was invited by Ola.", "turned"),
        ("Ola works on weekdays.", "Ola works at weekends.", "scope_other"),
        ("Ola runs daily.", "Ola used to run daily.", "past_one_side"),
        ("Ola lives in Porto.", "Ola sold the flat in Porto.", "changed_one_side"),
        ("Ola lives in Porto.", "Ola might buy a flat in Porto.", "planned_one_side"),
        ("The flat is big.", "Ola thinks the flat is big.", "opinion_one_side"),
        ("Ola has a cat.", "Ola also has a dog.", "also_one_side"),
        ("All guests pay.", "Some guests pay.", "all_against_some"),
        ("Ola never smokes.", "Ola often smokes.", "never_against_some"),
        ("Ola has a cat.", "Ola has a cat called Tom.", "shared_all"),
        ("Ola likes cold showers.", "Ola can't bear cold showers.", "liking_turned"),
        ("Ola does not like cold showers.", "Ola hates cold showers.", "liking_same"),
    ],
)
def test_what_rules_see(a: str, b: str, clue: str):
    assert clue in clues(a, b)


def test_a_month_is_not_a_wish():
    assert "planned_one_side" not in clues("Ola moves to York.", "Ola moves to York in May.")
    assert "planned_one_side" in clues("Ola moves to York.", "Ola may move to York.")


def test_a_no_that_bounds_what_is_said_does_not_deny_it():
    assert "negation_one_side" not in clues("Ola eats only fish.", "Ola eats nothing but fish.")
    assert "negation_one_side" in clues("Ola eats fish.", "Ola eats nothing.")


def test_endings_do_not_make_another_word():
    assert len({stem(word) for word in ("move", "moved", "moving", "moves")}) == 1
    assert stem("left") == stem("leaves")
    assert stem("studies") == stem("study")


def test_remarks_quote_what_was_found_and_grounds_do_not():
    a, b = "The shop closes at 17:00.", "At 16:00 the shop is shut."
    assert remark("date_clash", a, b) == "17:00 against 16:00"
    assert ground("date_clash") == "times that differ"
    assert remark("opposite", "The pool is open.", "The pool is closed.") == '"open" against "clos"'


def test_rules_are_sure_only_where_nothing_else_differs():
    assert clash("Ana eats raw fish.", "Ana never eats raw fish.")
    assert clash("Standup starts at 9:30.", "Standup starts at 10:00.")
    assert clash("Part C14 costs 10 euros.", "Part C41 costs 11 euros.") is None
    assert clash("No data was lost in the fire.", "Data was lost in the fire of 2014.") is None
    assert clash("Standup starts at 9:30.", "Standup ends at 10:00.") is None


def test_every_weight_is_of_a_clue_that_is_known():
    for name in (RULES.keys() | BOTH.keys()) - {"bias"}:
        assert name.startswith("judge_") or ground(name) != name.replace("_", " ")
