"""Times that people mention, as days of the calendar: "tomorrow" is said on a day, and means another.

A time told without its year, or a weekday without its week, is taken for the nearest one that suits the sentence: the
one before when the sentence speaks of the past, else the one to come.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from recollect.policy import calendar
from recollect.policy.calendar import MONTHS, WEEKDAYS, Grain, Period


@dataclass(frozen=True, slots=True)
class Mention:
    """A time in a text, from one character to another, and the days it means."""

    start: int
    end: int
    period: Period
    relative: bool
    """Whether the words mean something else when they are read on another day."""

    @property
    def first(self) -> date:
        return self.period.first

    @property
    def last(self) -> date:
        return self.period.last

    def moved(self, by: int) -> "Mention":
        """The same in a text that begins so many characters later or earlier."""
        return Mention(self.start + by, self.end + by, self.period, self.relative)


@dataclass(frozen=True, slots=True)
class _Said:
    """The day a sentence was said, and whether it looks back."""

    at: date
    back: bool

    def nearest(self, of_year: Callable[[int], Period]) -> Period:
        """The period of this year, last or next, that suits the sentence."""
        now = of_year(self.at.year)
        if self.back:
            return of_year(self.at.year - 1) if now.first > self.at else now
        return of_year(self.at.year + 1) if now.last < self.at else now


_Reader = Callable[[re.Match[str], _Said], tuple[Period, bool]]

_DIGITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: number for number, word in enumerate(_DIGITS, 1)} | {
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "couple of": 2,
    "a few": 3,
    "few": 3,
    "several": 4,
}
_COUNT = (
    r"(\d{1,3}|an?|(?:a )?couple of|(?:a )?few|several|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_MONTH_NAMES = {
    **{name.lower(): number for number, name in enumerate(MONTHS, 1)},
    **{name[:3].lower(): number for number, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?:\.(?= \d))?"
)
_DAY_NAMES = {
    **{name.lower(): number for number, name in enumerate(WEEKDAYS)},
    **{name[:3].lower(): number for number, name in enumerate(WEEKDAYS)},
    **{"tues": 1, "thur": 3, "thurs": 3},
}
_WEEKDAY = (
    r"(mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)"
_YEAR = r"((?:19|20)\d\d)"
_SEASON = r"(spring|summer|autumn|fall|winter)"
_NO_NOUN = (
    r"(?=\s*(?:$|[.,;:!?)\n—-]|(?:at|to|and|or|for|with|in|from|until|till|on|we|i|he|she|they|it|you|so|but|if|because|is|"
    r"was|will|then|as|morning|evening|afternoon|night|this|next|last)\b))"
)
"""What follows "the 3rd" where it is a day; before another word it counts floors or attempts."""
_UNIT = r"(day|week|month|year)s?"
_WHICH = r"(this past|this coming|this|next|last|past|previous|coming|upcoming)"
_NAMES = {"may", "jan", "april", "june", "august"}
"""Months that people are called."""
_DOUBTFUL = {"mar", "march", "sun", "sat", "mon", "wed", "fri", "dec", "fall", "second", *_NAMES}
_BEFORE_A_NAME = re.compile(
    r"\b(?:in|on|by|since|until|till|from|of|before|after|for|early|late|mid|due|to|through|between)[ -]$", re.I
)
_WORD_BEFORE = 16
"""Characters that the longest of these words and what parts it from others take."""

_TRIGGER = re.compile(
    r"\d|day|night|morning|evening|afternoon|tomorrow|week|month|year|ago|spring|summer|autumn|fall|winter|"
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)",
    re.I,
)
_BACKWARDS = re.compile(
    r"\b(?:was|were|did|had|went|came|got|said|told|made|took|saw|met|bought|began|ended|left|moved|started|finished|"
    r"\w{2,}ed|ago|last|yesterday|back in|have been|has been|since)\b",
    re.I,
)
_FORWARDS = re.compile(
    r"\b(?:will|'ll|going to|gonna|am \w+ing|are \w+ing|is \w+ing|'m \w+ing|'re \w+ing|plan\w*|due|deadline|until|"
    r"tomorrow|next|by|shall|upcoming|coming|scheduled|booked|starts?|begins?|leaves?|expires?)\b",
    re.I,
)


_GOES_ON = re.compile(r"-[^\W\d_]|[.,:]\d")
_NEXT_SENTENCE = re.compile(r"[a-z]{5}\. \d", re.I)
"""A month at the end of a sentence, and a number that begins the next."""


def mentions(text: str, at: date, *, back: bool | None = None) -> list[Mention]:
    """The times that a text said on that day speaks of, in their order, not overlapping.

    `back`: whether the text looks back; left out, its words tell.
    """
    if not _TRIGGER.search(text):
        return []
    said = _Said(at, looks_back(text) if back is None else back)
    found: list[Mention] = []
    for pattern, read in _FORMS:
        for match in pattern.finditer(text):
            place = bisect_left(found, match.end(), key=_start)
            if place and match.start() < found[place - 1].end:
                continue
            if not _plausible(text, match):
                continue
            try:
                period, relative = read(match, said)
            except (ValueError, OverflowError):
                continue  # the 31st of June, or the year 0: not a day
            found.insert(place, Mention(match.start(), match.end(), period, relative))
    return found


def _start(mention: Mention) -> int:
    return mention.start


def looks_back(text: str) -> bool:
    """Whether a sentence speaks of what has been rather than of what will be."""
    return len(_BACKWARDS.findall(text)) > len(_FORWARDS.findall(text))


def _plausible(text: str, match: re.Match[str]) -> bool:
    """Whether a word that is also another word ("may", "sun"), or a part of one ("Jun-ho"), is meant as a time here."""
    if _GOES_ON.match(text, match.end()) or _NEXT_SENTENCE.search(match.group()):
        return False
    if match.group().lower() not in _DOUBTFUL:
        return True
    return bool(_BEFORE_A_NAME.search(text[max(0, match.start() - _WORD_BEFORE) : match.start()])) or (
        match.group()[0].isupper() and match.start() > 0 and match.group().lower() not in _NAMES
    )


# -- how each form is read ----------------------------------------------------------------------------------


def _count(words: str) -> int:
    return int(words) if words.isdigit() else _NUMBERS[words.lower()]


def _number_of_month(words: str) -> int:
    return _MONTH_NAMES[words.lower().rstrip(".")]


def _iso(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return calendar.day(date(int(match[1]), int(match[2]), int(match[3]))), False


def _dotted(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return calendar.day(date(int(match[3]), int(match[2]), int(match[1]))), False


def _month_day(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return _day_of(_number_of_month(match[1]), int(match[2]), match[3], said)


def _day_month(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return _day_of(_number_of_month(match[2]), int(match[1]), match[3], said)


def _day_of(month: int, day: int, year: str | None, said: _Said) -> tuple[Period, bool]:
    if year:
        return calendar.day(date(int(year), month, day)), False
    return said.nearest(lambda number: calendar.day(date(number, month, day))), True


def _month_year(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return calendar.month(int(match[2]), _number_of_month(match[1])), False


def _season_year(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return calendar.season(match[1].lower(), int(match[2])), False


def _quarter(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    number = int(match[1])
    if match[2]:
        return calendar.quarter(int(match[2]), number), False
    return said.nearest(lambda year: calendar.quarter(year, number)), True


def _year(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return calendar.year(int(match[1])), False


_NEAR_DAYS = {
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "yesterday": -1,
    "yesterday morning": -1,
    "yesterday evening": -1,
    "yesterday afternoon": -1,
    "last night": -1,
    "tomorrow": 1,
    "tomorrow morning": 1,
    "tomorrow evening": 1,
    "tomorrow afternoon": 1,
    "tomorrow night": 1,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "the day before yesterday": -2,
}


def _near_day(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return calendar.day(said.at + timedelta(days=_NEAR_DAYS[match[0].lower()])), True


def _ago(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return _moved(said.at, -_count(match[1]), match[2].lower(), match[1]), True


def _ahead(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return _moved(said.at, _count(match[1]), match[2].lower(), match[1]), True


def _from_today(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    """Counted from the day itself: two weeks from today is a day, in two weeks is a week."""
    count, unit = _count(match[1]), match[2].lower()
    start = said.at + timedelta(days=match[3].lower() == "tomorrow")
    step = -count if " ago " in match[0].lower() else count
    match unit:
        case "day" | "week":
            return calendar.day(start + timedelta(days=step * (7 if unit == "week" else 1))), True
        case _:
            return _moved(start, step, unit, match[1]), True


def _moved(at: date, count: int, unit: str, words: str) -> Period:
    vague = "few" in words or "couple" in words or words == "several"
    match unit:
        case "day" | "night":
            there = at + timedelta(days=count)
            return (
                Period(there - timedelta(days=1), there + timedelta(days=1), Grain.AROUND)
                if vague
                else calendar.day(there)
            )
        case "week":
            there = at + timedelta(weeks=count)
            return (
                Period(there - timedelta(days=7), there + timedelta(days=7), Grain.AROUND)
                if vague
                else calendar.week(there)
            )
        case "month":
            there = calendar.shifted(at, count)
            return calendar.month(there.year, there.month)
        case _:
            return calendar.year(at.year + count)


def _step(which: str) -> int:
    which = which.lower()
    if which in ("next", "coming", "upcoming", "this coming"):
        return 1
    return -1 if which in ("last", "past", "previous", "this past") else 0


def _which_unit(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    step, unit = _step(match[1]), match[2].lower()
    match unit:
        case "week":
            return calendar.week(said.at + timedelta(weeks=step)), True
        case "weekend":
            return _weekend(match[1], said), True
        case "month":
            there = calendar.shifted(said.at.replace(day=1), step)
            return calendar.month(there.year, there.month), True
        case _:
            return calendar.year(said.at.year + step), True


def _weekend(which: str, said: _Said) -> Period:
    this = calendar.weekend(said.at)
    match _step(which):
        case -1:
            return (
                calendar.weekend(this.first - timedelta(days=6))
                if this.first <= said.at
                else calendar.weekend(said.at - timedelta(days=7))
            )
        case 1 if which.lower() != "next":
            return this
        case 1:
            return calendar.weekend(said.at + timedelta(days=7))
        case _:
            return this


def _plain_weekend(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return (_weekend("last", said) if said.back else calendar.weekend(said.at)), True


def _which_month(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    number = _number_of_month(match[2])
    return _which(match[1], said, lambda year: calendar.month(year, number)), True


def _which_season(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return _which(match[1], said, lambda year: calendar.season(match[2].lower(), year)), True


def _which(which: str, said: _Said, of_year: Callable[[int], Period]) -> Period:
    """Last: the latest that is over. Next: the first that is still to begin. This: the one nearest to now."""
    around = [of_year(said.at.year + offset) for offset in (-2, -1, 0, 1, 2)]
    match _step(which):
        case -1:
            return max((period for period in around if period.last < said.at), key=_first)
        case 1:
            return min((period for period in around if period.first > said.at), key=_first)
        case _:
            current = [period for period in around if period.first <= said.at <= period.last]
            return current[0] if current else said.nearest(of_year)


def _first(period: Period) -> date:
    return period.first


def _plain_month(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    number = _number_of_month(match[1])
    return said.nearest(lambda year: calendar.month(year, number)), True


def _plain_season(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    return said.nearest(lambda year: calendar.season(match[1].lower(), year)), True


def _weekday(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    which, number = (match[1] or "").lower(), _DAY_NAMES[match[2].lower()]
    ahead = (number - said.at.weekday()) % 7
    if _step(which) == -1 or (not which and said.back):
        return calendar.day(said.at - timedelta(days=(7 - ahead) % 7 or 7)), True
    if which == "next":
        monday = said.at - timedelta(days=said.at.weekday()) + timedelta(days=7)
        return calendar.day(monday + timedelta(days=number)), True
    return calendar.day(said.at + timedelta(days=ahead or 7)), True


def _nth(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    number = int(match[1])
    begin = said.at.replace(day=1)
    days = (calendar.month((there := calendar.shifted(begin, step)).year, there.month) for step in (-1, 0, 1, 2))
    fitting = [period.first.replace(day=number) for period in days if number <= period.last.day]
    if said.back:
        return calendar.day(max(there for there in fitting if there <= said.at)), True
    return calendar.day(min(there for there in fitting if there >= said.at)), True


def _end_of(match: re.Match[str], said: _Said) -> tuple[Period, bool]:
    whole = calendar.month(said.at.year, said.at.month) if match[1].lower() == "month" else calendar.year(said.at.year)
    return calendar.day(whole.last), True


def _form(pattern: str, read: _Reader) -> tuple[re.Pattern[str], _Reader]:
    return re.compile(rf"(?<![\w/-]){pattern}(?![\w/]|-\d)", re.I), read


# The more a form says, the earlier it stands: what one has read, those after it leave alone.
_FORMS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    _form(r"(\d{4})[-/](\d{2})[-/](\d{2})", _iso),
    _form(r"(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)", _dotted),
    _form(rf"(?:on )?(?:the )?(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? {_YEAR})?", _day_month),
    _form(rf"(?:on )?{_MONTH} (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?:,? {_YEAR})?", _month_day),
    _form(rf"{_MONTH}(?: of)?,? {_YEAR}", _month_year),
    _form(rf"{_SEASON}(?: of)?,? {_YEAR}", _season_year),
    _form(rf"q([1-4])(?: (?:of )?{_YEAR})?", _quarter),
    _form(rf"(?:within |in )?{_COUNT} {_UNIT} (?:from|after) (now|today|tomorrow)", _from_today),
    _form(rf"{_COUNT} {_UNIT} ago (today)", _from_today),
    _form("|".join(sorted(map(re.escape, _NEAR_DAYS), key=len, reverse=True)).join(("(?:", ")")), _near_day),
    _form(rf"(?:about |around |roughly )?{_COUNT} {_UNIT} ago", _ago),
    _form(rf"(?:in {_COUNT} {_UNIT}(?:'s? time)?)", _ahead),
    _form(rf"(?:in |over |during )?(?:the )?{_WHICH} (weekend|week|month|year)", _which_unit),
    _form(r"(?:on |over |at )?the weekend(?! of)", _plain_weekend),
    _form(rf"(?:in )?{_WHICH} {_MONTH}", _which_month),
    _form(rf"(?:in )?{_WHICH} {_SEASON}", _which_season),
    _form(rf"(?:on )?(?:{_WHICH} )?{_WEEKDAY}", _weekday),
    _form(r"(?:at )?the end of (?:the|this) (month|year)", _end_of),
    _form(rf"(?:on )?the {_ORDINAL}{_NO_NOUN}", _nth),
    _form(rf"(?:in|since|around|until|by|from|before|after|during|of|back in) {_YEAR}", _year),
    _form(rf"(?:in |during |early |late |mid-?)?(?:the )?{_MONTH}", _plain_month),
    _form(rf"(?:in |during )(?:the )?{_SEASON}", _plain_season),
)
