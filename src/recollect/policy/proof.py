"""Whether turns bear out a statement that a language model made of them: its names and numbers each, the days that it
tells, most of its words, whom it is about, and that it affirms what they affirm.

What nobody said is made up. What was said in some other way is in doubt, and the words that were said are better.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from recollect.domain.event import Event
from recollect.policy import calendar
from recollect.policy.calendar import Grain
from recollect.policy.clues.measures import WEEKDAYS
from recollect.policy.contents import (
    ORDINALS,
    Contents,
    Name,
    Values,
    alike,
    apart,
    carries,
    clocks,
    contents,
    is_english,
    names,
    numbers,
    periods,
    same_time,
    spelled,
    times,
    undated,
    words,
)
from recollect.policy.dates import Mention
from recollect.policy.sense import KIN, Sense, related
from recollect.policy.speech.hearing import name_of
from recollect.policy.speech.planted import planted

SHARE = 0.5
"""The share of a statement's words that its witnesses must hold, those left out with which anything can be told."""
_MONTH_AND_A_HALF = timedelta(days=45)
_SLACK = 8
"""Days by which the start or end of what holds may miss the day that was said."""
_FRAME = frozenset(
    """user assistant team group others other people person everyone somebody someone nobody said say says told tell
    tells asked asks answered agreed agrees confirmed decided decides chose chosen wanted wants want wishes noted
    mentioned reported explained suggested proposed accepted promised offered considers finds thinks believes expects
    day days week weeks month months year years date time today now currently recently since until till before after
    during ago later always never every each usually again longer anymore next last previous former new need needs
    needed must should may might let make makes made take takes took give gives gave given going goes went keep keeps
    kept become became remains called named known because including according instead per""".split()
)
"""Words with which anything can be told."""
_OPENERS = frozenset(
    "apart besides despite except unless although whereas together according both neither either only".split()
)
_LIGHT = frozenset(
    """work works worked working live lives lived living use uses used using like likes liked love loves loved prefer
    prefers preferred plan plans planned own owns owned dislike dislikes hate hates enjoy enjoys intends hopes start
    starts started""".split()
)
"""Words that say how somebody stands to something: no proof of a statement, but one that has no other words needs
them."""
_BESIDE = re.compile(r"(\w+)(?:['’]\w)?\s*[\[(]$")  # noqa: RUF001
"""The word that a date in brackets stands beside."""
_YEARS = re.compile(r"\b(\d{1,2})\s?(?:years?|yrs?)\b", re.IGNORECASE)


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
    """Whether a day is that of a turn, or about one that the words of a turn mean."""
    there = calendar.day(day)
    return any(
        day == turn.ts.date() or any(apart(there, one) <= _SLACK for one in periods(turn.text, turn.ts.date()))
        for turn in turns
    )


class _Trial:
    """Each check says "" where all is well, what is in doubt, or None where it is made up. A turn that holds what those
    that were named do not becomes a witness as well."""

    def __init__(self, text: str, named: Sequence[int], turns: Sequence[Event], said: int) -> None:
        self._text, self._turns, self._said = text, turns, said
        self._at = turns[said].ts.date()
        self._undated = undated(text, self._at)
        self._places = [place for place in sorted({*named, said}) if not planted(turns[place].text)]
        self._authors = frozenset(word for turn in turns for word in words(f"{turn.author} {name_of(turn)}"))
        self._found = 0
        self._named: set[str] = set()

    def verdict(self) -> Proof | None:
        doubts: list[str] = []
        for check in (self._days, self._names, self._numbers, self._words, self._relatives):
            found = check()
            if found is None:
                return None
            doubts += [found] if found else []
        doubts += Sense(self._text, self._turns, self._places, self._said).doubts()
        return Proof(tuple(sorted(self._places)), "; ".join(doubts))

    # -- where it is said -----------------------------------------------------------------------------------

    def _said_there(self) -> Contents:
        return contents("\n".join(self._turns[place].text for place in sorted(self._places)))

    def _others(self) -> Iterator[int]:
        """The turns that are no witnesses yet, the latest first."""
        for place in range(len(self._turns) - 1, -1, -1):
            if place not in self._places and not planted(self._turns[place].text):
                yield place

    def _witness(self, place: int) -> bool:
        if place not in self._places:
            self._places.append(place)
        return True

    # -- what it says ---------------------------------------------------------------------------------------

    def _days(self) -> str | None:
        for mention in times(self._text, self._at):
            if not self._day_found(mention):
                return f"the time {self._text[mention.start : mention.end]!r}"
            self._found += 1
        for word in words(self._undated):
            if word in WEEKDAYS and not any(
                WEEKDAYS[word] == WEEKDAYS.get(other) for turn in self._turns for other in words(turn.text)
            ):
                return f"the day {word!r}"
        return ""

    def _day_found(self, mention: Mention) -> bool:
        if mention.first <= self._at <= mention.last:
            return True
        told = self._text[mention.start : mention.end].casefold()
        beside = _BESIDE.search(self._text[: mention.start])
        for place in (*self._places, *self._others()):
            turn = self._turns[place]
            meant = periods(turn.text, turn.ts.date())
            if _told_by(told, turn.text) or any(same_time(mention.period, one) for one in meant):
                return self._witness(place)
            if self._in_parts(mention, turn) or (beside and self._stands_for(beside[1], turn)):
                return self._witness(place)
        return False

    def _in_parts(self, mention: Mention, turn: Event) -> bool:
        """Whether a month or season was said by its name, a year or day by its number: of a day, the month as well, or
        the month is left to be understood."""
        there = contents(turn.text)
        near = abs(mention.first.year - self._at.year) <= 1
        match mention.period.grain:
            case Grain.MONTH:
                name = calendar.MONTHS[mention.first.month - 1].lower()
                return near and (name in there.words or name[:3] in there.words)
            case Grain.SEASON:
                return near and any(
                    alike(season, word) for season in _seasons(mention.first.month) for word in there.words
                )
            case Grain.YEAR:
                return float(mention.first.year) in there.values
            case _ if mention.first != mention.last or not _names_day(turn.text, mention.first.day):
                return False
            case _:
                pass
        months = {one.first.month for other in self._turns for one in periods(other.text, other.ts.date())}
        return mention.first.month in months or abs(mention.first - turn.ts.date()) <= _MONTH_AND_A_HALF

    def _stands_for(self, word: str, turn: Event) -> bool:
        """Whether a date stands beside a word that was said and names a day: a feast, or a day in another language."""
        there = contents(turn.text)
        return any(map(there.has_name, words(word))) and (word[0].isupper() or not is_english(turn.text))

    def _names(self) -> str | None:
        doubt = ""
        for run in names(self._undated):
            for name in run:
                if self._name_found(name, run):
                    self._named.add(name.word)
                    self._found += name.word not in self._authors
                elif name.opens and (name.word in _FRAME or name.word in _LIGHT or name.word in _OPENERS):
                    continue
                elif name.opens or name.short or not is_english(self._text):
                    doubt = doubt or f"the word {name.written!r}"
                else:
                    return None
        return doubt

    def _name_found(self, name: Name, run: Sequence[Name]) -> bool:
        if any(alike(name.word, author) for author in self._authors):
            return True
        for place in (*self._places, *self._others()):
            there = contents(self._turns[place].text)
            if there.has_name(name.word) or there.abbreviates(name, run):
                return self._witness(place)
        return False

    def _numbers(self) -> str | None:
        clock = [frozenset[float | str]({f"clock {minutes}"}) for minutes in clocks(self._undated, digits=True)]
        meant = [one for turn in self._turns for one in periods(turn.text, turn.ts.date())]
        years = {float(year) for one in meant for year in (one.first.year, one.last.year)}
        years |= {float(self._at.year + shift) for shift in (-1, 0, 1)}
        counted = [int(one[1]) for turn in self._turns for one in _YEARS.finditer(turn.text)]
        counted += [int(one) for turn in self._turns for one in spelled(turn.text) if one < 100]
        years |= {float(self._at.year - count) for count in counted}
        for values in (*numbers(self._undated), *clock):
            if not values & years and not self._number_found(values):
                return None
            self._found += 1
        told = [one for one in spelled(self._undated) if one > 1]
        unheard = [one for one in told if not self._number_found(frozenset({one}))]
        self._found += len(told) - len(unheard)
        return f"the number {unheard[0]:g}" if unheard else ""

    def _number_found(self, values: Values) -> bool:
        for place in (*self._places, *self._others()):
            if contents(self._turns[place].text).has_number(values):
                return self._witness(place)
        return False

    def _words(self) -> str | None:
        least = 0 if is_english(self._text) else 4  # the small words of other languages are not known
        every = [word for word in dict.fromkeys(words(self._undated)) if carries(word) and word not in self._authors]
        every = [word for word in every if len(word) >= least or not word.isascii()]
        own = [word for word in every if word not in _FRAME and word not in _LIGHT]
        there = self._said_there()
        held = [word for word in own if word in self._named or there.has_word(word)]
        for place in list(self._others()):
            if len(held) >= SHARE * len(own):
                break
            more = [word for word in own if word not in held and contents(self._turns[place].text).has_word(word)]
            held += more if more and self._witness(place) else []
        self._found += len(held)
        light = [word for word in every if word in _LIGHT]
        stands = any(there.has_word(word) for word in light)
        if not self._found and not self._foreign():
            return "what it says" if stands else None
        if not own:
            return "" if stands or not light else "how it is put"
        return "" if len(held) >= SHARE * len(own) else "most of its words"

    def _foreign(self) -> bool:
        """Whether the statement is in another language than the turn."""
        said = words(self._turns[self._said].text)
        return len(said) >= 3 and is_english(self._text) and not is_english(self._turns[self._said].text)

    def _relatives(self) -> str | None:
        """Whoever is told to be somebody's relative or friend was called that."""
        for word in words(self._undated):
            if word in KIN and word not in self._authors and not related(self._said_there().words, KIN[word]):
                told = [one for one in self._others() if related(contents(self._turns[one].text).words, KIN[word])]
                if not told:
                    return f"who is a {word}"
                self._witness(told[0])
        return ""


def _told_by(told: str, text: str) -> bool:
    """Whether a time was told in these words, a number perhaps in others: "in 31 years"."""
    there = contents(text)
    said = [word for word in words(told) if carries(word)]
    spoken = bool(said) and all(map(there.has_word, said)) and all(map(there.has_number, numbers(told)))
    return told in text.casefold() or spoken


def _names_day(text: str, day: int) -> bool:
    """Whether a day of the month came up: "the 8th", "am 1. Mai", "until 25", "twentieth"."""
    digits = (
        rf"\b(?:[^\W\d_]{{2,5}}\s+)0?{day}(?![\d:%]|[.,]\d)|\b0?{day}(?:st|nd|rd|th|\.(?!\d)|\s*(?:[-\u2013]|to)\s*\d)"
    )
    return bool(re.search(digits, text, re.IGNORECASE)) or ORDINALS.get(day, "-") in text.casefold()


def _seasons(month: int) -> list[str]:
    return [season for season, first in calendar.SEASONS.items() if first == month]
