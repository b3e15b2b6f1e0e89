"""Bullets of several summaries as one: what is said twice is said once, and somebody's words stay theirs."""

from datetime import UTC, datetime

from recollect.domain.ids import EventId, ItemId
from recollect.domain.quotation import Excerpt, Quotation
from recollect.domain.witness import Bullet, RangeWitness
from recollect.policy.regroup import carried_on, united

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
SHORT, LONG = "I keep two boats in Marstal harbour", "I keep two boats in Marstal harbour near town"


def quoted(words: str, seq: int, speaker: str = "Mira") -> Bullet:
    excerpt = Excerpt(EventId(f"e{seq}"), 0, len(words))
    quotation = Quotation(speaker=speaker, said_at=MARCH, words=words, excerpts=(excerpt,))
    return Bullet(quotation.plain, (RangeWitness(ItemId("i"), seq, seq),), "Facts", quotation)


def told(text: str, seq: int) -> Bullet:
    return Bullet(text, (RangeWitness(ItemId("i"), seq, seq),), "Facts")


def test_of_two_quotations_that_say_the_same_the_fuller_one_stays_with_the_witnesses_of_both():
    for own, other in ((SHORT, LONG), (LONG, SHORT)):
        [one] = united([quoted(own, 1)], [quoted(other, 2)])
        assert one.quotation is not None
        assert one.quotation.words == LONG
        assert {witness.first for witness in one.witnesses if isinstance(witness, RangeWitness)} == {1, 2}


def test_a_summary_goes_on_with_what_is_quoted():
    assert len(carried_on([quoted(SHORT, 1)], [quoted(LONG, 2), quoted("The hull is made of teak", 3)])) == 2


def test_the_same_words_of_two_people_are_two_things():
    words = "I always walk to the old harbour in the early morning with both dogs and a thermos of black coffee"
    assert len(united([quoted(words, 1)], [quoted(words, 2, "Emil")])) == 2


def test_what_is_told_and_what_is_quoted_may_say_the_same():
    [one] = united([told("Mira: I keep two boats in Marstal harbour", 1)], [quoted(LONG, 2)])
    assert one.quotation is not None
