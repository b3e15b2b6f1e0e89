"""What a question asks: its matter, its words, its people, its times."""

from datetime import date

import pytest

from recollect.policy.asked import asked, rarest, stems, words

TODAY = date(2026, 6, 10)


@pytest.mark.parametrize(
    ("question", "matter"),
    [
        ("Can you list the order in which I brought up my plants across our conversations, in order?", "my plants?"),
        ("Give me a comprehensive summary of how the roof was repaired.", "the roof was repaired."),
        ("Could you please tell me about my sister? Mention only three items.", "my sister?"),
        ("What did Ana plant?", "What did Ana plant?"),
    ],
)
def test_only_the_matter_of_a_question_is_looked_for(question, matter):
    assert asked(question, TODAY).matter == matter


def test_question_words_are_not_looked_for():
    assert words("When did the cat move to the blue house?") == ("cat", "move", "blue", "house")
    assert words("who was it?") == ("who", "was", "it")


def test_codes_paths_hashes_and_numbers_stay_whole():
    found = words("What is ERR-4471 in src/store.py at 9fceb02d, page 1,200 of 2026-03-15 by ana@home.org?")
    assert found == ("err-4471", "src/store.py", "9fceb02d", "page", "1,200", "2026-03-15", "ana@home.org")


def test_words_of_other_scripts_are_looked_for():
    assert words("我的猫叫什么") == ("我的猫叫什么",)
    assert words("Где живёт Анна?") == ("где", "живёт", "анна")
    assert words("Wann hat Jörg die Straße gekauft?") == ("hat", "jörg", "die", "straße", "gekauft")


def test_what_somebody_said_is_looked_for_without_their_name():
    question = asked("What did Caroline's brother buy?", TODAY)
    assert question.without(frozenset({"caroline"})) == "What did brother buy?"
    assert question.without(frozenset({"melanie"})) == "What did Caroline's brother buy?"
    assert asked("Caroline?", TODAY).without(frozenset({"caroline"})) == "Caroline?"


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did Ana do last spring?", date(2026, 3, 1), date(2026, 5, 31)),
        ("Who called two weeks ago?", date(2026, 5, 25), date(2026, 5, 31)),
        ("What happened in May 2025?", date(2025, 5, 1), date(2025, 5, 31)),
        ("What happened yesterday?", date(2026, 6, 9), date(2026, 6, 9)),
    ],
)
def test_times_in_a_question_are_days_of_the_calendar(question, first, last):
    found = asked(question, TODAY)
    assert (found.first, found.last) == (first, last)


def test_a_question_may_measure_time_by_something_that_happened():
    before = asked("What did Ana buy before the move to Graz?", TODAY).anchor
    after = asked("Where did we eat after the concert?", TODAY).anchor
    assert before is not None
    assert before.before
    assert before.words == ("move", "graz")
    assert after is not None
    assert not after.before
    assert after.words == ("concert",)
    assert asked("Did it rain?", TODAY).anchor is None


def test_questions_for_a_time_for_advice_and_for_what_was_answered_are_told_apart():
    assert asked("When did Ana move?", TODAY).when
    assert asked("How should I store my seeds?", TODAY).advice
    assert not asked("How did I say I should store my seeds? What was I told?", TODAY).advice
    assert asked("What did you recommend for the roof?", TODAY).reply
    assert not asked("Can you list the roofs?", TODAY).reply


def test_of_a_whole_message_the_rarest_words_are_looked_for_in_their_order():
    many = [f"word{number}" for number in range(40)]
    found = rarest(many, {word: 1000 for word in many[:30]}, most=10)
    assert found == tuple(many[30:])
    assert rarest(many[:5], {}) == tuple(many[:5])


def test_a_stem_is_what_the_forms_of_a_word_share():
    assert stems("gardening") == ["garden"]
    assert stems("tea") == ["tea"]
    assert stems("err-4471") == ["err-4471"]
    assert stems("我的猫") == ["我的", "的猫"]
