"""What is in a text: words, names, numbers and days, found again in whatever form they are written. "Two hundred" is
200, "5 pm" 17:00, "decision" a form of "decide", NYC short for New York City."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from recollect.policy import calendar
from recollect.policy.calendar import Period
from recollect.policy.clues.lexicon import EMPTY, stem
from recollect.policy.clues.measures import SMALL, TENS, TIMES, UNITS, WEEKDAYS
from recollect.policy.clues.numerals import number
from recollect.policy.clues.reading import READ, read
from recollect.policy.dates import Mention, mentions

Values = frozenset[float | str]
"""What a number may mean; a time of the day as "clock" and its minutes on the dial."""

_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0900-\u109f\u3099\u309a])*")
_UNSPACED = re.compile(r"[^\W\d_a-zµßæœøđłþð\u0131ªº\u0370-\u052f]")
"""A letter of a script that is not Latin, Greek or Cyrillic: its words are compared two signs at a time."""
_SIGNS = {"€": "euro", "$": "dollar", "£": "pound", "%": "percent", "&": "and", "°": "degrees"}
_ENGLISH = frozenset("the and is are was to of my with for have has it this that you i we they not but at on".split())
_SPELLED = frozenset({*SMALL, *TENS, *TIMES})
_LONGEST_ENDING = 5
_DIGITS = re.compile(r"\d{1,3}(?:[ '\u202f\u00a0]\d{3})+(?!\d)|\d+(?:[.,]\d+)*")
_OF_THE_DAY = re.compile(r":\d\d|\s?[ap]\.?m\b", re.IGNORECASE)
_SCALE = {"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "bn": 1e9, **{word: float(times) for word, times in TIMES.items()}}
_SCALED = re.compile(rf"\s?-?({'|'.join(sorted(_SCALE, key=len, reverse=True))})\b", re.IGNORECASE)
ORDINALS = {
    count: word
    for count, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        1,
    )
} | {30: "thirtieth"}
_COUNTED = {word: float(count) for count, word in ORDINALS.items()} | {
    "twice": 2.0,
    "couple": 2.0,
    "both": 2.0,
    "half": 0.5,
}
_MONTH = re.compile(r"(?<![\w-])((?:19|20)\d\d)-(\d\d)(?![\w-])")
_RANGE = re.compile(
    rf"(?:\b(?:{'|'.join(WEEKDAYS)}),? )?(?<![\d.,])(\d{{1,2}})(?:st|nd|rd|th)?\s*(?:[-\u2013\u2014/]|to|and|until)\s*"
    rf"(?:(?:{'|'.join(WEEKDAYS)}),? )?(?:the )?$",
    re.IGNORECASE,
)
_YEAR_END = re.compile(r"(?<=\b20\d\d)[/\u2013-](?:20)?\d\d\b(?!-)")
"""The end of "winter 2023/24"."""
_DASH = re.compile(r"(?<=\d)-(?=\d{1,2}(?:st|nd|rd|th)? [A-Z])")
_CAPITAL = re.compile(r"(?<![\w'’.])[^\W\d_][\w-]*")  # noqa: RUF001
_JOINED = re.compile(r"-|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_OPENS = re.compile(r"(?:^|(?<!\b[DM]r)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!\bProf)[.!?:]\s+|[\"“(\[]\s*)$")
_NO_NAMES = frozenset("mr mrs ms dr prof st am pm user users team assistant".split()) | frozenset(WEEKDAYS)


@dataclass(frozen=True, slots=True)
class Name:
    """A word with a capital: plain, and as it is written. One that opens a sentence may be any word."""

    word: str
    written: str
    opens: bool

    @property
    def short(self) -> bool:
        """An abbreviation that may stand for what was said."""
        return len(self.written) <= 3 and self.written.isupper()


@dataclass(frozen=True, slots=True)
class Contents:
    """What there is in a text."""

    words: frozenset[str]
    stems: frozenset[str]
    begins: dict[str, tuple[str, ...]]
    """The words by their first four letters."""
    values: Values
    initials: str

    def has_word(self, word: str) -> bool:
        """Whether a word came up in some form, or within a longer one."""
        if self.has_name(word) or any(alike(word, other) for other in self.begins.get(word[:4], ())):
            return True
        return len(word) >= 5 and any(word in other or (len(other) >= 5 and other in word) for other in self.words)

    def has_name(self, word: str) -> bool:
        """Whether a name came up, with another ending perhaps."""
        if word in self.words or stem(word) in self.stems:
            return True
        return any(alike(word, other, ending=1) for other in self.begins.get(word[:4], ()))

    def abbreviates(self, name: Name, run: Sequence[Name]) -> bool:
        """Whether a short form came up for a name, or for the names that it stands among; or the long form for it."""
        capitals = "".join(sign for sign in name.written if sign.isupper()).lower()
        initials = "".join(one.word[0] for one in run)
        short = {f"{name.word[0]}{len(name.word) - 2}{name.word[-1]}"}  # k8s
        short |= {part for part in (capitals, initials) if len(part) > 1} | {"".join(one.word for one in run)}
        spelled = name.written.isupper() and len(name.word) > 2 and name.word in self.initials
        return bool((short - EMPTY) & self.words) or spelled

    def has_number(self, values: Values) -> bool:
        """Whether a number came up; of a time of the day, perhaps its hour and minutes alone."""
        if values & self.values:
            return True
        clocks = [divmod(int(value.split()[1]), 60) for value in values if isinstance(value, str) and "clock" in value]
        return any(
            {float(hour), float(hour + 12)} & self.values and (not minutes or float(minutes) in self.values)
            for hour, minutes in clocks
        )


@lru_cache(maxsize=512)
def contents(text: str) -> Contents:
    found = words(text)
    begins: dict[str, tuple[str, ...]] = {}
    for word in dict.fromkeys(found):
        begins[word[:4]] = (*begins.get(word[:4], ()), word)
    values: set[float | str] = {value for one in numbers(text) for value in one}
    values |= {float(group) for group in re.findall(r"\d{1,15}", text)}
    values |= {_COUNTED[word] for word in found if word in _COUNTED}
    return Contents(
        words=frozenset(found),
        stems=frozenset(map(stem, found)),
        begins=begins,
        values=frozenset({*values, *spelled(text), *(f"clock {minutes}" for minutes in clocks(text))}),
        initials="".join(word[0] for word in found),
    )


# -- words ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, without accents and capitals."""
    for sign, word in _SIGNS.items():
        text = text.replace(sign, f" {word} ")
    signs = unicodedata.normalize("NFKD", text.casefold())
    plain = unicodedata.normalize("NFC", "".join(sign for sign in signs if unicodedata.category(sign) != "Mn"))
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


def names(text: str) -> list[list[Name]]:
    """What is written with a capital, neighbours together; days, units and titles are no names."""
    runs: list[list[Name]] = []
    end = -2
    for found in _CAPITAL.finditer(text):
        if not found.group()[0].isupper():
            continue
        opens = bool(_OPENS.search(text[: found.start()]))
        for part in _JOINED.split(found.group()):
            word = next(iter(words(part)), "")
            if not part[:1].isupper() or len(word) < 2 or word in EMPTY or word in _NO_NAMES or stem(word) in UNITS:
                continue
            name = Name(word, part, opens)
            if runs and found.start() in (end + 1, end):
                runs[-1].append(name)
            else:
                runs.append([name])
            end = found.start()
        end = found.end()
    return runs


# -- numbers ----------------------------------------------------------------------------------------------------


def numbers(text: str) -> list[Values]:
    """The numbers that stand in digits, each with what it may mean; 0, 1 and times of the day are left out."""
    found: list[Values] = []
    for match in _DIGITS.finditer(text):
        after = text[match.end() :]
        if _OF_THE_DAY.match(after) or text[max(0, match.start() - 1) : match.start()] == ":":
            continue
        values = _meanings(match.group())
        if scale := _SCALED.match(after):  # "85 to 100k", and 5.8 where others were in millions
            values |= {value * _SCALE[scale[1].lower()] for value in values if isinstance(value, float)}
        if not values <= {0.0, 1.0}:
            found.append(frozenset(values))
    return found


def _meanings(written: str) -> set[float | str]:
    """1.400 is a thousand and more, or a little more than one; 3.11.2 is a version."""
    parts = re.split(r"[.,' \u202f\u00a0]", written)
    if any(len(part) > 15 for part in parts):
        return {written}
    if len(parts) == 1:
        return {float(written)}
    values: set[float | str] = {written.replace(",", ".")}
    if len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:]):
        values.add(float("".join(parts)))
    if len(parts) == 2:
        values.add(float(".".join(parts)))
    return values


def spelled(text: str) -> list[float]:
    """The numbers that are written in words."""
    said = list(words(text))
    found: list[float] = []
    at = 0
    while at < len(said):
        value, after = number(said, at) if said[at] in _SPELLED else (None, at)
        rest = number(said, after)[0] if value and value % 1000 == 0 and said[after : after + 1] != ["a"] else None
        found += [] if value is None else [value, *([value + rest] if rest and rest < 1000 else [])]
        at = max(after, at + 1)
    return found


def clocks(text: str, *, digits: bool = False) -> list[int]:
    """The times of the day in a text, as minutes on the dial; with `digits` those alone that are written in digits."""
    pieces = [text[start : start + READ] for start in range(0, len(text), READ)]
    found = [one for piece in pieces for one in read(piece).quantities if one.dimension in ("hour", "clock")]
    return [round(one.amount) % 720 for one in found if not digits or _OF_THE_DAY.search(one.said)]


# -- days -------------------------------------------------------------------------------------------------------


def times(text: str, at: date) -> list[Mention]:
    """The times that a statement tells, in their order: a month in digits among them, a weekday with its date and a
    range of days as one."""
    text = _DASH.sub("\u2013", text)
    found = mentions(text, at)
    for match in _MONTH.finditer(text):
        if 1 <= int(match[2]) <= 12 and not any(one.start < match.end() and match.start() < one.end for one in found):
            month = calendar.month(int(match[1]), int(match[2]))
            found.append(Mention(match.start(), match.end(), month, relative=False))
    joined: list[Mention] = []
    for one in sorted(found, key=lambda one: one.start):
        last = joined[-1] if joined else None
        between = text[last.end : one.start] if last else "-"
        if last and not between.strip(" ,([") and _is_weekday_of(text[last.start : last.end], one):
            joined[-1] = Mention(last.start, one.end, one.period, one.relative)
        else:
            joined.append(_ranged(text, one))
    return joined


def undated(text: str, at: date) -> str:
    """A statement without the times that it tells."""
    text = _YEAR_END.sub("", text)
    for one in reversed(times(text, at)):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text


def _is_weekday_of(word: str, one: Mention) -> bool:
    day = WEEKDAYS.get(words(word)[-1]) if one.first == one.last and words(word) else None
    return day is not None and day == one.first.weekday()


def _ranged(text: str, one: Mention) -> Mention:
    """A day with the one that a range begins with: "17 to 18 May", "from Thursday 14 to Sunday 17 September"."""
    before = _RANGE.search(text[: one.start])
    if before is None or one.first != one.last or not 1 <= int(before[1]) <= one.first.day:
        return one
    period = Period(one.first.replace(day=int(before[1])), one.last, calendar.Grain.AROUND)
    return Mention(before.start(), one.end, period, one.relative)


@lru_cache(maxsize=256)
def periods(text: str, at: date) -> tuple[Period, ...]:
    """The times that a text means that was said on that day, whether it looks back or ahead."""
    return tuple(one.period for back in (True, False) for one in mentions(text[: 3 * READ], at, back=back))


def same_time(told: Period, said: Period) -> bool:
    """Whether a time that is told may be the one that was said: the same, a week off where a weekday leaves that open,
    and not much finer."""
    short, long = (told.last - told.first).days + 1, (said.last - said.first).days + 1
    gap = apart(told, said)
    if short == long == 1:
        return gap in (0, 7)
    return gap <= 7 and (long <= 8 or 4 * short >= long)


def apart(one: Period, other: Period) -> int:
    """Days between two periods."""
    return max((other.first - one.last).days, (one.first - other.last).days, 0)
