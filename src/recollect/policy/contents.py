"""What is in a text: words, names, numbers and times, found again in whatever form they are written. "Two hundred" is
200, "5 pm" 17:00, "decision" a form of "decide"."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from recollect.policy import calendar
from recollect.policy.calendar import Period
from recollect.policy.clues.lexicon import EMPTY, stem
from recollect.policy.clues.measures import SMALL, TENS, TIMES, UNITS, WEEKDAYS
from recollect.policy.clues.numerals import number
from recollect.policy.clues.reading import READ
from recollect.policy.dates import Mention, mentions
from recollect.policy.speech.sentences import sentences
from recollect.policy.wording import composed

_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0900-\u109f\u3099\u309a])*")
_UNSPACED = re.compile(r"[^\W\d_a-zµßæœøđłþð\u0131ªº\u0370-\u052f]")
"""A letter of a script that is not Latin, Greek or Cyrillic: its words are compared two signs at a time."""
_SIGNS = {"€": "euro", "$": "dollar", "£": "pound", "%": "percent", "&": "and", "°": "degrees"}
_ENGLISH = frozenset(
    """the and is are was to of my with for have has it this that you i we they not but at on what who how when did do
    does he she can will your his her""".split()
)
_SPELLED = frozenset({*SMALL, *TENS, *TIMES})
_LONGEST_ENDING = 5
_FIGURE = re.compile(r"(?<![^\W_])\d+(?:[.,:]\d+)*|[^\W\d_]\w*")
_ORDINALS = dict(enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1))
_COUNTED = {word: float(count) for count, word in _ORDINALS.items()} | {"twice": 2.0, "couple": 2.0, "both": 2.0}
_AROUND = 6
"""How many words away from a number those were said that it is told beside."""
_MONTH = re.compile(r"(?<![\w-])((?:19|20)\d\d)-(0[1-9]|1[0-2])(?![\w-])|\[((?:19|20)\d\d)\]")
"""A month in digits, or a year in brackets."""
_NEAR = timedelta(days=120)
"""A day or month without its year is sure as far off as this."""
_CAPITAL = re.compile(r"(?<![\w'’.])[^\W\d_][\w-]*")  # noqa: RUF001
_JOINED = re.compile(r"-|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_CODE = re.compile(r"(?!\d++[^\W\d_]*+$)[^\W\d]*+\d\w*+")
_OPENS = re.compile(r"(?:^|(?<!\b[DM]r)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!\bProf)[.!?:]\s+|[\"“(\[]\s*)$")
_TITLE = 8
"""Characters that the longest title takes, with its full stop and what parts it from the word before."""
_NO_NAMES = frozenset("mr mrs ms dr prof st am pm user users team assistant".split()) | frozenset(WEEKDAYS)


@dataclass(frozen=True, slots=True)
class Number:
    """A number or weekday: what it may mean, the words beside it, and those around it."""

    values: frozenset[float | str]
    beside: tuple[str, ...]
    around: tuple[str, ...]

    def equals(self, other: "Number") -> bool:
        return bool(self.values & other.values)


@dataclass(frozen=True, slots=True)
class Contents:
    """What there is in a text."""

    words: frozenset[str]
    stems: frozenset[str]
    begins: Mapping[str, Sequence[str]]
    """The words by their first four letters."""
    numbers: tuple[Number, ...]

    def has_word(self, word: str) -> bool:
        """Whether a word came up in some form, or within a longer one."""
        if self.has_name(word) or any(alike(word, other) for other in self.begins.get(word[:4], ())):
            return True
        return len(word) >= 5 and any(word in other or (len(other) >= 5 and other in word) for other in self.words)

    def has_name(self, word: str) -> bool:
        """Whether a name came up, with another ending perhaps; one with a number in it as it is."""
        if word in self.words or _CODE.fullmatch(word) or stem(word) in self.stems:
            return word in self.words or not _CODE.fullmatch(word)
        return any(alike(word, other, ending=1) for other in self.begins.get(word[:4], ()))

    def has_number(self, number: Number) -> bool:
        """Whether a number came up, and not only away from words beside which another stands that it is told with."""
        found = [one for one in self.numbers if number.equals(one)]
        others = [word for one in self.numbers if not number.equals(one) for word in one.beside]
        taken = [word for word in number.beside if any(alike(word, other) for other in others)]
        return any(all(any(alike(word, near) for near in one.around) for word in taken) for one in found)


@lru_cache(maxsize=1024)
def contents(text: str) -> Contents:
    found = words(text)
    begins: dict[str, list[str]] = {}
    for word in dict.fromkeys(found):
        begins.setdefault(word[:4], []).append(word)
    return Contents(frozenset(found), frozenset(map(stem, found)), begins, tuple(numbers(text)))


# -- words ------------------------------------------------------------------------------------------------------


class _Bare(dict[int, str]):
    """Each sign taken apart, without the marks on it."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code))
        return self.setdefault(code, "".join(part for part in parts if unicodedata.category(part) != "Mn"))


_BARE = _Bare()


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, without accents and capitals."""
    for sign, word in _SIGNS.items():
        text = text.replace(sign, f" {word} ")
    plain = text.casefold()
    if not plain.isascii():
        plain = composed(plain.translate(_BARE))
    found: list[str] = []
    for word in _WORD.findall(plain):
        found += [word[at : at + 2] for at in range(max(1, len(word) - 1))] if _UNSPACED.search(word) else [word]
    return tuple(found)


def carries(word: str) -> bool:
    """Whether a word is more than grammar or a number."""
    if _UNSPACED.search(word):
        return True
    return len(word) > 2 and word not in EMPTY and not word[0].isdecimal() and word not in _SPELLED


def is_english(text: str) -> bool:
    said = words(text)
    return sum(word in _ENGLISH for word in said) >= 0.1 * len(said)


def alike(one: str, other: str, ending: int = 2) -> bool:
    """Whether two words are forms of one: "decide" and "decision", "km" and "kilometres". Of the shorter, no more than
    so many of the last letters differ as `ending` says."""
    if one == other or stem(one) == stem(other) or UNITS.get(stem(one), 1) == UNITS.get(stem(other), 2):
        return True
    short, long = sorted(map(len, (one, other)))
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), short)
    return same >= max(4, short - ending) and long - same <= _LONGEST_ENDING


def shared(text: str, other: str) -> int:
    """How many of the words and numbers that carry a text another has as well."""
    there = contents(other)
    held = [word for word in set(words(text)) if carries(word) and there.has_word(word)]
    return len(held) + sum(map(there.has_number, numbers(text)))


def names(text: str, *, first: bool = False) -> Iterator[str]:
    """What is written with a capital within a sentence, and with `first` also what the text begins with; no days, units
    or titles. Words with a number in them, too: v2, p95."""
    for found in _CAPITAL.finditer(text):
        opens = _opens(text, found.start()) and not (first and not found.start())
        for part in _JOINED.split(found.group()):
            word = next(iter(words(part)), "")
            common = len(word) < 2 or word in EMPTY or word in _NO_NAMES or stem(word) in UNITS
            if part[:1].isupper() and not common and not opens:
                yield word
    yield from (word for word in words(text) if _CODE.fullmatch(word))


def _opens(text: str, start: int) -> bool:
    """Whether a sentence or a quotation begins there. Blanks before it are looked at, and the word before them."""
    blank = next((at for at in range(start, 0, -1) if not text[at - 1].isspace()), 0)
    return bool(_OPENS.search(text[max(0, blank - _TITLE) : start]))


# -- numbers ----------------------------------------------------------------------------------------------------


def numbers(text: str) -> Iterator[Number]:
    """The numbers and weekdays of a text, in their order."""
    for sign, word in _SIGNS.items():
        text = text.replace(sign, f" {word} ")
    tokens = [token.casefold() for token in _FIGURE.findall(text)]
    at = 0
    while at < len(tokens):
        values, after = _read(tokens, at)
        if values:
            left = list(filter(carries, tokens[max(0, at - _AROUND) : at]))
            right = list(filter(carries, tokens[after : after + _AROUND]))
            yield Number(frozenset(values), (*left[-1:], *right[:1]), (*left, *right))
        at = after


def _read(tokens: Sequence[str], at: int) -> tuple[set[float | str], int]:
    """What a word or some figures may mean, and where they end: 1.400 is a thousand and more, or a bit more than one;
    3.11.2 is a version. "One" may count nothing and is left out."""
    token, half = tokens[at], next(iter(tokens[at + 1 : at + 2]), "")
    if token in WEEKDAYS:
        return {f"weekday {WEEKDAYS[token]}"}, at + 1
    if token in _COUNTED:
        return {_COUNTED[token]}, at + 1
    if token[0].isdecimal() and (token.count(":") == 1 or half in ("am", "pm")):
        return _clock(token, half), at + 1
    if len(re.findall("[.:]", token)) > 1 or len(token) > 15:
        return {token}, at + 1
    value, after = number(tokens, at)
    if value is None or (value in (0.5, 1.0) and token != "1"):
        return set(), max(after, at + 1)
    return {value, *({value * 1000} if re.fullmatch(r"\d{1,3}\.\d{3}", token) else ())}, after


def _clock(token: str, half: str) -> set[float | str]:
    """A time of the day, which may be past noon unless it says so; a full hour may be told by its number."""
    hour, minutes = (int(part) for part in (*re.split("[:.,]", token), "0")[:2])
    if hour > 24:
        return {token}
    hours = {hour % 12 + 12 * (half == "pm")} if half in ("am", "pm") else {hour, hour + 12} if hour <= 12 else {hour}
    return {*(f"{one}:{minutes:02}" for one in hours), *(() if minutes else map(float, {hour, *hours}))}


# -- times ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as it was said, and the days that it surely means."""

    said: str
    sure: Period


def times(text: str, at: date, *, back: bool | None = None) -> list[Mention]:
    """The times that a text tells, in their order, months and years in digits among them."""
    found = mentions(text, at, back=back)
    for match in _MONTH.finditer(text):
        place = bisect_left(found, match.end(), key=lambda one: one.start)
        if not place or found[place - 1].end <= match.start():
            told = calendar.year(int(match[3])) if match[3] else calendar.month(int(match[1]), int(match[2]))
            found.insert(place, Mention(match.start(), match.end(), told, relative=False))
    return found


def undated(text: str, at: date) -> str:
    """A statement without the times that it tells."""
    told = times(text, at)
    ends, starts = [0, *(one.end for one in told)], [*(one.start for one in told), len(text)]
    return " ".join(text[end:start] for end, start in zip(ends, starts, strict=True))


@lru_cache(maxsize=256)
def moments(text: str, at: date, *, back: bool) -> tuple[Moment, ...]:
    """The times in a text that was said on that day. A time that may lie before or behind is sure where only one of
    these is near; else as what is told of it looks back or ahead."""
    found: list[Moment] = []
    for sentence in sentences(text[: 3 * READ]):
        for past, ahead in zip(*(times(sentence.text, at, back=how) for how in (True, False)), strict=False):
            near = {one.period for one in (past, ahead) if abs(one.first - at) <= _NEAR or past.period == ahead.period}
            sure = near.pop() if len(near) == 1 else (past if back else ahead).period
            found.append(Moment(sentence.text[past.start : past.end], sure))
    return tuple(found)


def same_time(told: Period, said: Period) -> bool:
    """Whether a time that is told is the one that was said, holds it, or is the first or last day of a week or less."""
    if told.first <= said.first and said.last <= told.last:
        return True
    short = (said.last - said.first).days < 7
    return short and told.first == told.last and told.first in (said.first, said.last)
