"""Whether turns bear out a statement that a language model made of them: its names, numbers and times, each and in
their order, most of its other words, whom it is about, and what it denies.

A statement of which nothing was said is made up. Where anything of it was not said so, it is in doubt, and the words
that were said are better.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import TypeVar

from recollect.domain.event import Event
from recollect.policy.clues.measures import WEEKDAYS
from recollect.policy.contents import (
    Moment,
    Number,
    alike,
    carries,
    contents,
    is_english,
    moments,
    names,
    same_time,
    times,
    undated,
    words,
)
from recollect.policy.dates import Mention, looks_back
from recollect.policy.sense import Sense
from recollect.policy.speech.hearing import name_of
from recollect.policy.speech.planted import planted

Told = TypeVar("Told")
Said = TypeVar("Said")

SHARE = 0.5
"""The share of a statement's words that its witnesses must hold, those left out with which anything can be told."""
_FRAME = frozenset(
    """user assistant team group others other people person everyone somebody someone said say says told tell tells
    asked asks answered agreed agrees confirmed decided decides chose chosen wanted wants want wishes noted mentioned
    reported explained suggested proposed accepted promised offered considers finds thinks believes expects day days
    week weeks month months year years date time today now currently recently since until till before after during ago
    later always every each usually again next last previous former new need needs needed must should may let make
    makes made take takes took give gives gave given going goes went keep keeps kept become became remains called named
    known because including according instead per""".split()
)
"""Words with which anything can be told."""
_KIN = frozenset(
    """mother father parent parents brother brothers sister sisters sibling siblings son sons daughter daughters child
    children baby husband wife partner fiance fiancee boyfriend girlfriend uncle aunt cousin cousins nephew niece
    grandmother grandfather grandson granddaughter twins boss manager colleague colleagues friend friends neighbour
    neighbor roommate flatmate landlord""".split()
)
"""What people are to each other: each such word must have been said, or what it is called besides."""
_CALLED = {"son": "boy", "sons": "boys", "daughter": "girl", "daughters": "girls"}
_BESIDE = re.compile(r"[\w ,]{0,12}[\[(][\w ]{0,12}|,? ")
"""What stands between a time and the date that it means."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The turns that bear a statement out: those that were named, and those that it takes besides. `doubt` says what of
    it they do not quite say; then the words that were said are to be kept, not the statement."""

    places: tuple[int, ...]
    doubt: str = ""


def prove(text: str, named: Sequence[int], turns: Sequence[Event], said: int) -> Proof | None:
    """What proves a statement about the turn at `said`; None where it is made up."""
    return _Trial(text, named, turns, said).verdict()


def day_is_told(day: date, turns: Sequence[Event]) -> bool:
    """Whether a day is that of a turn, or the first or last of a time that a turn means."""
    sure = [
        one.sure for turn in turns for back in (True, False) for one in moments(turn.text, turn.ts.date(), back=back)
    ]
    return any(day == turn.ts.date() for turn in turns) or any(day in (one.first, one.last) for one in sure)


class _Trial:
    """Each check yields what is in doubt. A turn that holds what those that were named do not becomes a witness too."""

    def __init__(self, text: str, named: Sequence[int], turns: Sequence[Event], said: int) -> None:
        self._text, self._turns, self._said = text, turns, said
        self._at = turns[said].ts.date()
        self._undated = undated(text, self._at)
        self._places = [place for place in sorted({*named, said}) if not planted(turns[place].text)]
        self._authors = frozenset(word for turn in turns for word in words(f"{turn.author} {name_of(turn)}"))
        self._own = [
            word for word in dict.fromkeys(words(self._undated)) if carries(word) and word not in self._authors
        ]
        self._found = 0

    def verdict(self) -> Proof | None:
        doubts = [*self._times(), *self._names(), *self._numbers(), *self._words()]
        if not self._found and not self._translated():
            return None
        doubts += Sense(self._text, self._turns, self._places, self._said).doubts()
        return Proof(tuple(sorted(self._places)), "; ".join(doubts))

    def _heard(self, told: Callable[[Event], bool]) -> bool:
        """Whether a turn tells something: one that was named, else the latest other one, which becomes a witness."""
        others = [place for place in range(len(self._turns) - 1, -1, -1) if place not in self._places]
        for place in (*self._places, *others):
            if not planted(self._turns[place].text) and told(self._turns[place]):
                self._places += [] if place in self._places else [place]
                self._found += 1
                return True
        return False

    def _witnesses(self) -> list[Event]:
        return [self._turns[place] for place in sorted(self._places)]

    # -- names, numbers, times ------------------------------------------------------------------------------

    def _names(self) -> Iterator[str]:
        for name in names(self._undated, first=True):
            own = name in _FRAME or any(alike(name, author) for author in self._authors)
            if not own and not self._heard(lambda turn, name=name: contents(turn.text).has_name(name)):
                yield f"the name {name!r}"

    def _numbers(self) -> Iterator[str]:
        told = contents(self._undated).numbers
        for one in told:
            if not self._heard(lambda turn, one=one: contents(turn.text).has_number(one)):
                yield f"the number {min(map(str, one.values))}"
        if not _in_order(
            told, [one for turn in self._witnesses() for one in contents(turn.text).numbers], Number.equals
        ):
            yield "the order of its numbers"

    def _times(self) -> Iterator[str]:
        told = times(self._text, self._at)
        for one, beside in list(pairwise(told)):
            if _BESIDE.fullmatch(self._text[one.end : beside.start]):
                told.remove(one)
                if not self._agree(one, beside):
                    yield f"the day beside {self._written(one)!r}"
        for one in told:
            if not self._heard(
                lambda turn, one=one: (
                    self._is_now(one, turn) or any(self._means(one, said) for said in self._moments(turn))
                )
            ):
                yield f"the time {self._written(one)!r}"
        dated = [one for one in told if not any(self._is_now(one, turn) for turn in self._turns)]
        if not _in_order(dated, [one for turn in self._witnesses() for one in self._moments(turn)], self._means):
            yield "the order of its times"

    def _moments(self, turn: Event) -> Sequence[Moment]:
        return moments(turn.text, turn.ts.date(), back=looks_back(self._text))

    def _written(self, time: Mention) -> str:
        return self._text[time.start : time.end]

    def _means(self, told: Mention, said: Moment) -> bool:
        """Whether a time that is told is one that was said: the same days, or the same words."""
        if same_time(told.period, said.sure):
            return True
        ours, theirs = contents(self._written(told)), contents(said.said)
        return all(map(theirs.has_name, filter(carries, ours.words))) and all(map(theirs.has_number, ours.numbers))

    def _is_now(self, told: Mention, turn: Event) -> bool:
        """Whether a date in brackets is that of the turn, and the words beside it are the turn's: "from now on"."""
        before = self._text[: told.start]
        day = before.endswith("[") and told.first == told.last == turn.ts.date()
        return day and " ".join(words(before)[-2:]) in " ".join(words(turn.text))

    def _agree(self, time: Mention, date: Mention) -> bool:
        """Whether a date is one that the words beside it can mean."""
        written = self._written(time)
        if any(word in WEEKDAYS for word in words(written)):
            return date.first == date.last and date.first.weekday() == time.first.weekday()
        readings = [one.period for back in (True, False) for one in times(written, self._at, back=back)]
        return any(same_time(date.period, one) or same_time(one, date.period) for one in readings)

    # -- words ----------------------------------------------------------------------------------------------

    def _words(self) -> Iterator[str]:
        least = 0 if is_english(self._text) else 4  # the small words of other languages are not known
        own = [word for word in self._own if word not in _FRAME and (len(word) >= least or not word.isascii())]
        strange = self._strange(own)
        while len(strange) > (1 - SHARE) * len(own) and self._heard(
            lambda turn, strange=tuple(strange): any(map(contents(turn.text).has_word, strange))
        ):
            strange = self._strange(own)
        self._found += len(own) - len(strange)
        if len(strange) > (1 - SHARE) * len(own):
            yield f"the words {', '.join(strange)}"
        for word in strange:
            called = _CALLED.get(word, word)
            if word in _KIN and not self._heard(lambda turn, called=called: contents(turn.text).has_word(called)):
                yield f"who is a {word}"

    def _strange(self, own: Sequence[str]) -> list[str]:
        return [word for word in own if not any(contents(turn.text).has_word(word) for turn in self._witnesses())]

    def _translated(self) -> bool:
        """Whether the statement is in another language than the turn."""
        said = self._turns[self._said].text
        return len(words(said)) >= 3 and is_english(self._text) and not is_english(said)


def _in_order(told: Sequence[Told], said: Sequence[Said], same: Callable[[Told, Said], bool]) -> bool:
    """Whether what is told came up in that order, each by itself."""
    rest = iter(said)
    return all(any(same(one, other) for other in rest) for one in told)
