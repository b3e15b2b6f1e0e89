"""Ranking: what the indexes found, in order of how likely it answers the question."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.policy.asked import Asked, asked
from recollect.policy.rank import (
    Said,
    Seen,
    above,
    confidence,
    covered,
    humbled,
    named,
    relative,
    settle,
    shortlist,
    telling,
    within,
)

TODAY = date(2026, 6, 10)
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def turn(seq: int, text: float | None = None, cosine: float | None = None, **fields: object) -> Seen:
    given = {"thread": "kitchen", "at": NOON + timedelta(minutes=seq), "author": "ana"}
    return Seen(**{"ref": f"e:{seq}", "seq": seq, "text": text, "cosine": cosine, **given, **fields})  # type: ignore[arg-type]


def order(question: Asked, *found: Seen, said: dict[str, Said] | None = None) -> list[str]:
    words = {seen.ref: Said(length=100) for seen in found} | (said or {})
    return [one.seen.ref for one in settle(question, shortlist(question, found, 50), words, {})]


QUESTION = asked("What did Ana plant in the garden?", TODAY)


def test_what_both_indexes_find_comes_before_what_one_of_them_finds():
    found = order(QUESTION, turn(1, 5.0, 0.1), turn(20, 5.0, 0.6), turn(40, None, 0.6))
    assert found[0] == "e:20"


def test_a_turn_beside_one_that_fits_comes_before_one_far_from_it():
    said = [turn(seq, 0.1, 0.1, at=NOON + timedelta(days=seq)) for seq in (1, 10, 11, 12, 40)]
    said[2] = turn(11, 8.0, 0.6, at=said[2].at)
    found = order(QUESTION, *said)
    assert found[0] == "e:11"
    assert set(found[1:3]) == {"e:10", "e:12"}


def test_who_is_asked_about_is_preferred_as_a_speaker():
    assert order(QUESTION, turn(1, 3.0, 0.4, author="ben"), turn(30, 3.0, 0.4, author="ana"))[0] == "e:30"
    assert named("Ana.Lopez") == {"ana.lopez", "ana", "lopez"}
    assert named("assistant") == frozenset()


def test_a_turn_of_the_time_that_is_asked_about_is_preferred():
    question = asked("What did we eat last month?", TODAY)
    may, march = datetime(2026, 5, 7, tzinfo=UTC), datetime(2026, 3, 7, tzinfo=UTC)
    assert order(question, turn(1, 3.0, 0.4, at=march), turn(30, 3.0, 0.4, at=may))[0] == "e:30"
    assert within(question, date(2026, 5, 20)) == 1
    assert 0 < within(question, date(2026, 6, 3)) < 1
    assert within(question, date(2025, 5, 20)) == 0
    assert within(QUESTION, TODAY) == 0


def test_a_reply_makes_room_for_the_message_it_answers_unless_it_is_asked_for():
    replies = {"e:1": Said(length=100, role="user"), "e:2": Said(length=100, role="assistant")}
    both = (turn(1, 3.0, 0.4), turn(2, 3.5, 0.5))
    assert order(QUESTION, *both, said=replies) == ["e:1", "e:2"]


def test_a_standing_instruction_counts_where_advice_is_asked_for():
    advice = asked("How should I water the garden?", TODAY)
    said = {"e:1": Said(length=100), "e:30": Said(length=100, standing=True)}
    assert order(advice, turn(1, 3.0, 0.4), turn(30, 2.8, 0.38), said=said)[0] == "e:30"


def test_a_turn_that_tells_a_time_is_preferred_where_one_is_asked_for():
    when = asked("When did Ana plant the garden?", TODAY)
    said = {"e:1": Said(length=100), "e:30": Said(length=100, times=True)}
    assert order(when, turn(1, 3.0, 0.4), turn(30, 3.0, 0.4), said=said)[0] == "e:30"


def test_what_a_memory_was_made_of_is_lifted():
    placed = shortlist(QUESTION, [turn(1, 3.0, 0.4), turn(30, 2.9, 0.4)], 10)
    words = {ref: Said(length=100) for ref in ("e:1", "e:30")}
    assert settle(QUESTION, placed, words, {"e:30": 1.0})[0].seen.ref == "e:30"


@given(st.lists(st.floats(0, 100), max_size=150), st.floats(0.001, 100))
def test_scores_are_compared_whatever_the_scale_of_the_engine(values, scale):
    plain = above(values, 0.0)
    scaled = above([value * scale for value in values], 0.0)
    if values and max(values) - min(values) > 0.01:
        assert scaled == pytest.approx(plain, rel=1e-3, abs=1e-3)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=30))
@example([(5e-324, False), (5e-324, True)])
def test_what_is_untrusted_never_outranks_what_is_trusted_on_the_same_question(hits):
    scores, trusted = [score for score, _ in hits], [good for _, good in hits]
    held = humbled(scores, trusted)
    for score, own, good in zip(scores, held, trusted, strict=True):
        assert own <= score
        if good:
            assert own == score
            continue
        for other, believed in zip(scores, trusted, strict=True):
            if believed and 4 * other >= score and other > 0:
                assert own < other


def test_confidence_grows_with_nearness_and_coverage():
    assert confidence(0.2, 0.1, 0.2, 5) < 0.1 < 0.8 < confidence(0.6, 0.8, 1.0, 5)
    assert confidence(None, 0.0, 0.0, 4) < 0.1 < confidence(None, 1.0, 1.0, 2)
    assert relative(3.0, 3.0) == 1
    assert relative(1.0, 3.0) > relative(0.0, 3.0)


def test_the_rare_words_of_a_question_tell_the_most():
    worth = telling(("garden", "zebra"), {"garden": 900, "zebra": 2}, 1000)
    assert worth["zeb" if "zeb" in worth else "zebr"] > 0.8
    assert sum(worth.values()) == pytest.approx(1)
    best, together = covered(worth, ["A zebra stood there.", "Gardens are green."])
    assert best < together == pytest.approx(1)
    assert covered(worth, []) == (0, 0)


def test_codes_and_other_scripts_are_covered_as_they_are_written():
    assert covered(telling(("err-4471",), {}, 10), ["It said (ERR-4471)."]) == (1, 1)
    assert covered(telling(("我的猫",), {}, 10), ["我的猫叫小白"])[0] == pytest.approx(1)
