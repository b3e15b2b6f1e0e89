"""What a keeper is given to read, and what happens without one."""

import logging
from collections.abc import Sequence

import pytest

from recollect.domain.judgement import Heard, Weighed
from recollect.errors import ModelFailed
from recollect.policy.speech.sentences import MOST
from recollect.weighing import weigh
from recollect.write.extract import extract
from tests.policy.talk import Fake, Line, kept, turns, weighed


def heard(*lines: Line, of: int) -> list[Heard]:
    keeper = Fake()
    weigh(turns(*lines), range(of, len(lines)), keeper)
    return keeper.heard


def test_a_turn_is_weighed_as_a_whole_with_what_was_said_before_it():
    assert heard(
        ("assistant", "Fennel works too. Shall I rewrite the recipe?"),
        ("Mira", "Go on then. I can't stand liquorice."),
        of=1,
    ) == [
        Heard(
            sentences=("Go on then.", "I can't stand liquorice."),
            role="user",
            before="assistant: Fennel works too. Shall I rewrite the recipe?",
        )
    ]


def test_other_peoples_words_and_code_are_not_weighed():
    [one] = heard(("Mira", 'Ruth wrote "the barn is sold for good" to Tom.\n```\nx = 1\n```'), of=0)
    assert one.sentences == ('Ruth wrote "…" to Tom.',)


def test_of_a_long_past_only_its_end_is_read():
    said = ("Mira", "Yes. We sold the old barn.")
    [one] = heard(*[("Tom", f"{number}: " + "word " * 100) for number in range(5)], said, of=5)
    assert one.before.endswith("word")
    assert len(one.before) < 700


def test_a_turn_without_prose_is_not_weighed():
    assert heard(("Mira", "```\nx = 1\n```"), ("Mira", "..."), of=0) == []
    assert kept(("Mira", "```\nx = 1\n```")) == []


def test_what_is_known_already_is_context_and_not_weighed_again():
    keeper = Fake()
    extract(turns(("Mira", "We sold the old barn."), ("Mira", "It is green. It is old.")), frozenset({1}), keeper)
    assert [one.sentences for one in keeper.heard] == [("It is green.", "It is old.")]


class Misled(Fake):
    """A keeper that is put off by whatever was said before, and finds private by itself what it would not keep."""

    def weigh(self, turns: Sequence[Heard]) -> list[tuple[Weighed, ...]]:
        told = {True: weighed(0.1, private=0.9), False: weighed(0.9)}
        return [tuple(told[bool(turn.before)] for _ in turn.sentences) for turn in turns]


def test_a_sentence_that_is_all_that_somebody_says_is_weighed_by_itself_as_well():
    [[one]] = weigh(turns(("assistant", "Hello!"), ("Mira", "My name is Mira.")), [1], Misled()).values()
    assert (one.keep, one.private) == (0.9, 0.9)
    for said in ("My name is Mira. I like tea.", "My name is Mira " + "and more " * 12):
        [found] = weigh(turns(("assistant", "Hello!"), ("Mira", said)), [1], Misled()).values()
        assert {one.keep for one in found} == {0.1}


class Lulled(Fake):
    """A keeper that hardly finds anything planted behind what was said before."""

    def __init__(self, hint: float) -> None:
        super().__init__()
        self._hint = hint

    def weigh(self, turns: Sequence[Heard]) -> list[tuple[Weighed, ...]]:
        told = {True: weighed(0.9, injection=self._hint), False: weighed(0.4, injection=0.7)}
        return [tuple(told[bool(turn.before)] for _ in turn.sentences) for turn in turns]


@pytest.mark.parametrize(("hint", "found"), [(0.02, 0.7), (0.0, 0.0)])
def test_what_may_be_planted_is_weighed_by_itself_as_well(hint: float, found: float):
    said = turns(("assistant", "Hello!"), ("Mira", "The shed is green. " + "It has very many doors " * 4 + "."))
    [weights] = weigh(said, [1], Lulled(hint)).values()
    assert {(one.keep, one.injection) for one in weights} == {(0.9, found)}


def test_only_what_people_say_is_weighed_for_memories():
    keeper = Fake()
    extract(turns(("assistant", "Noted."), ("tool", "Done."), ("document", "A page.")), frozenset(range(3)), keeper)
    assert keeper.heard == []


def test_of_a_paste_no_more_than_a_few_dozen_sentences_are_weighed():
    [one] = heard(("Mira", " ".join(f"The tram number {number} stops there." for number in range(300))), of=0)
    assert len(one.sentences) == MOST


class Broken(Fake):
    def weigh(self, turns: Sequence[Heard]) -> list[tuple[Weighed, ...]]:
        raise ModelFailed("the bundled model cannot be loaded", "Install it again.")


@pytest.mark.parametrize("keeper", [None, Broken()])
def test_without_a_keeper_plain_signs_decide(keeper: Fake | None, caplog: pytest.LogCaptureFixture):
    lines = [("Mira", "I live in Ghent since 2011."), ("Mira", "haha thanks!"), ("Mira", "Where is the barn?")]
    with caplog.at_level(logging.WARNING):
        found = extract(turns(*lines), frozenset(range(3)), keeper)
    assert [one.served for one in found] == ['Mira, 3 May 2025: "I live in Ghent since 2011."']
    assert ("cannot be loaded" in caplog.text) is (keeper is not None)
