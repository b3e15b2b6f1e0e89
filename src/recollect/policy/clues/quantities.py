"""Numbers, times and measures in a statement, brought to one scale: "2.5 h" and "150 minutes" are the same."""

from collections.abc import Sequence

from recollect.policy.clues.lexicon import EMPTY, stem
from recollect.policy.clues.measures import (
    BOUNDS,
    BREAKS,
    CALENDAR,
    FREQUENT,
    HOURS,
    PARTS,
    PERIODS,
    SEVERAL,
    SIGNS,
    SMALL,
    TENS,
    TIMES,
    UNITS,
    Quantity,
)
from recollect.policy.clues.numerals import digits, number

_CODES = frozenset("eur usd gbp chf sek nok inr pln".split())
_STARTS = frozenset("every each a an half quarter quarters".split()).union(
    PERIODS, FREQUENT, SMALL, TENS, TIMES, SEVERAL, HOURS, CALENDAR, SIGNS, _CODES
)
MOST = 60
"""Quantities of a statement that are read, since each is laid beside each of another: more of them are a table."""
_DAYTIMES = frozenset({"morning", "afternoon", "evening"})
_AT = frozenset("at until till from before after by".split())
_LOOSE = frozenset("and in on every each to until till for at".split())


def quantities(words: Sequence[str]) -> tuple[Quantity, ...]:
    """What is measured, counted and dated in the words of a statement, lower-cased; a month or weekday that is written
    with a capital ends in "#"."""
    found: list[Quantity] = []
    at = 0
    while at < len(words) and len(found) < MOST:
        word = words[at]
        if word[0].isdecimal() or word in _STARTS:
            read, after = _read(words, at)
            found.extend(read)
            at = max(after, at + 1)
        else:
            at += 1
    return tuple(found)


def _read(words: Sequence[str], at: int) -> tuple[list[Quantity], int]:
    word = words[at]
    if word in CALENDAR:
        return _calendar(words, at)
    if word in PERIODS:
        return [Quantity("period", PERIODS[word], word, word)], at + 1
    if word in FREQUENT:
        return _times(words, at, at + 1, FREQUENT[word])
    if word in ("every", "each"):
        return _every(words, at)
    if word in ("a", "an"):
        return _article(words, at)
    if word in HOURS:
        return [_clock(HOURS[word], word, sure=True)], at + 1
    if word in SIGNS or word in _CODES:
        amount, after = number(words, at + 1)
        if amount is None:
            return [], at + 1
        dimension, size = UNITS[word]
        return [Quantity(dimension, amount * size, _said(words, at, after), str(size))], after
    if len(word) == 10 and word[4] == "-":
        return [Quantity("year", float(word[:4]), word), *_day(int(word[5:7]), int(word[8:10]), word)], at + 1
    if len(word) > 15:
        return [], at + 1
    if ":" in word:
        return _hours(words, at, word)
    amount, after = number(words, at)
    return _measured(words, at, after, amount) if amount is not None else ([], at + 1)


def _span(words: Sequence[str], at: int) -> float:
    """How long the unit of time at a place is, in seconds; 0 where there is none."""
    dimension, size = UNITS.get(stem(words[at]), ("", 0.0)) if at < len(words) else ("", 0.0)
    return size if dimension == "span" and len(words[at]) > 1 else 0.0


def _times(words: Sequence[str], at: int, after: int, count: float) -> tuple[list[Quantity], int]:
    """How often: "twice a year", "24 times a day", "once every three months"."""
    if words[after : after + 1] == ["every"]:
        return _every(words, after)
    each = after < len(words) and words[after] in ("a", "an", "per", "each")
    if each and count and (size := _span(words, after + 1)):
        return [Quantity("period", size / count, _said(words, at, after + 2), f"{count} {words[after + 1]}")], after + 2
    return [], after


def _every(words: Sequence[str], at: int) -> tuple[list[Quantity], int]:
    """How often: "every week", "every other week", "every six months"."""
    if words[at + 1 : at + 2] in (["other"], ["second"]) and (size := _span(words, at + 2)):
        return [Quantity("period", 2 * size, _said(words, at, at + 3), words[at + 2])], at + 3
    if (size := _span(words, at + 1)) and words[at + 1] != "second":
        return [Quantity("period", size, _said(words, at, at + 2), words[at + 1])], at + 2
    amount, after = number(words, at + 1)
    if amount is not None and (size := _span(words, after)):
        return [Quantity("period", amount * size, _said(words, at, after + 1), words[after])], after + 1
    return [], at + 1


def _article(words: Sequence[str], at: int) -> tuple[list[Quantity], int]:
    """ "A minute" where it measures something, "an hour and a half", "a tenth of"."""
    place = at + 1 + (words[at + 1 : at + 2] == ["full"])
    size = _span(words, place)
    if size and words[place + 1 : place + 4] == ["and", "a", "half"]:
        return [Quantity("span", 1.5 * size, _said(words, at, place + 4), words[place])], place + 4
    if size and at and words[at - 1] in BOUNDS:
        return [Quantity("span", size, _said(words, at, place + 1), words[place])], place + 1
    if words[place : place + 1] and words[place] in PARTS and words[place + 1 : place + 2] == ["of"]:
        if _span(words, place + 3):
            return _measured(words, place, place + 1, 1 / PARTS[words[place]])
        return [Quantity("share", 1 / PARTS[words[place]], _said(words, at, place + 1), "part")], place + 1
    return [], at + 1


def _measured(words: Sequence[str], at: int, after: int, amount: float) -> tuple[list[Quantity], int]:
    """What a number that has been read up to `after` is an amount of."""
    said, coming = _said(words, at, after), words[after] if after < len(words) else "."
    if coming in ("times", "time"):
        return _times(words, at, after + 1, amount)
    if coming == "in" and amount == 1 and (among := number(words, after + 1)[0]) and among > 1:
        return [Quantity("share", 1 / among, _said(words, at, after + 2), "part")], after + 2
    if timed := _timed(words, at, after, amount):
        return timed
    if coming in ("st", "nd", "rd", "th") or coming in CALENDAR:
        return _dated(words, after, amount, said)
    if coming == "per" and words[after + 1 : after + 2] == ["cent"]:
        return [Quantity("share", amount / 100, f"{said} per cent", "0.01")], after + 2
    if coming == "°" or coming in ("degree", "degrees"):
        return _degrees(words, after, amount, said)
    if coming in PARTS and amount >= 1 and words[at] not in PARTS:
        return [Quantity("share", amount / PARTS[coming], f"{said} {coming}", "part")], after + 1
    unit_at = after + 2 if words[after : after + 2] == ["of", "a"] else after + 1 if coming in ("a", "an") else after
    name = stem(words[unit_at]) if unit_at < len(words) else ""
    if name == "year" and words[unit_at + 1 : unit_at + 2] == ["old"]:
        return [Quantity("count", amount, _said(words, at, unit_at + 2))], unit_at + 2
    if name in UNITS and (name != "s" or (words[at][0].isdecimal() and amount < 1500)):
        dimension, size = UNITS[name]
        return [Quantity(dimension, amount * size, _said(words, at, unit_at + 1), str(size))], unit_at + 1
    return _counted(words, at, after, amount, said)


def _timed(words: Sequence[str], at: int, after: int, amount: float) -> tuple[list[Quantity], int] | None:
    """The time of day that a number is: "3 pm", "seven o'clock", "ten past two", "five in the afternoon"."""
    said, coming = _said(words, at, after), words[after] if after < len(words) else "."
    if words[after : after + 2] == ["in", "the"] and "".join(words[after + 2 : after + 3]) in _DAYTIMES:
        return [_clock(round(amount % 24) * 60, said)], after + 3
    if coming in ("am", "pm"):
        hour = int(amount) % 12 + (12 if coming == "pm" else 0)
        return [_clock(hour * 60 + round(amount % 1 * 100), f"{said} {coming}", sure=True)], after + 1
    if coming == "o'clock":
        return [_clock(int(amount) % 24 * 60, f"{said} o'clock")], after + 1
    if coming in ("past", "to") and amount < 60:
        minutes = amount * 60 if amount < 1 else amount
        hour, end = number(words, after + 1)
        if hour is not None and hour <= 24 and (coming == "past" or words[at] == "quarter" or hour <= 12 < amount):
            return [_clock(round(hour * 60 + (minutes if coming == "past" else -minutes)), _said(words, at, end))], end
    return None


def _counted(words: Sequence[str], at: int, after: int, amount: float, said: str) -> tuple[list[Quantity], int]:
    word, coming = words[at], words[after] if after < len(words) else "."
    if word[0].isdecimal() and len(word) == 4 and 1500 <= amount <= 2100:
        return [Quantity("year", amount, said)], after
    if at and words[at - 1] == "minus":
        amount = -amount
    if 0 < amount < 1 and not word[0].isdecimal():
        return [Quantity("share", amount, said, "part")], after
    if word.count(".") > 1:
        return [Quantity("version", _version(word), said)], after
    before, bare = words[at - 1] if at else "", coming in BREAKS or coming in _LOOSE
    if before in _AT and bare and amount <= 24 and amount == int(amount):
        return [_clock(int(amount) % 24 * 60, said)], after
    nouns: list[str] = []
    for word in words[after : after + 4]:
        if word in BREAKS or word[0].isdecimal() or word in _STARTS or len(nouns) == 2:
            break
        if word not in EMPTY:
            nouns.append(stem(word))
    return [Quantity("count", amount, f"{said} {coming}" if nouns else said, nouns=frozenset(nouns))], after


def _version(word: str) -> float:
    return sum(digits(part) / 1000**place for place, part in enumerate(word.split(".")[:4]))


def _hours(words: Sequence[str], at: int, word: str) -> tuple[list[Quantity], int]:
    hour, minute = (int(part) for part in word.split(":")[:2])
    coming = words[at + 1] if at + 1 < len(words) else ""
    if coming in ("am", "pm"):
        hour = hour % 12 + (12 if coming == "pm" else 0)
        return [_clock(hour * 60 + minute, f"{word} {coming}", sure=True)], at + 2
    return [_clock(hour % 24 * 60 + minute, word, sure=hour > 12 or len(word) == 5)], at + 1


def _clock(minutes: int, said: str, *, sure: bool = False) -> Quantity:
    """A time of the day. Where the words leave open which half of the day is meant, only the dial counts."""
    return Quantity("hour", minutes % 1440, said) if sure else Quantity("clock", minutes % 720, said)


def _calendar(words: Sequence[str], at: int) -> tuple[list[Quantity], int]:
    """A weekday; or a month, with the day and the year that may follow it."""
    dimension, number = CALENDAR[words[at]]
    said = words[at][:-1]
    if dimension == "weekday":
        return [Quantity("weekday", number, said)], at + 1
    after = at + 1
    if after < len(words) and words[after].isdecimal() and len(words[after]) <= 2 and 1 <= int(words[after]) <= 31:
        return _day(number, int(words[after]), f"{said} {words[after]}"), after + 1
    return [Quantity("month", number, said)], after


def _dated(words: Sequence[str], after: int, amount: float, said: str) -> tuple[list[Quantity], int]:
    """A day: "4 June", "the 4th of June", "the 4th"."""
    after += words[after] in ("st", "nd", "rd", "th")
    after += words[after : after + 1] == ["of"]
    kind, number = CALENDAR.get(words[after], ("", 0)) if after < len(words) else ("", 0)
    if kind == "month" and amount <= 31:
        return _day(number, int(amount), f"{said} {words[after][:-1]}"), after + 1
    return [Quantity("ordinal", amount, said)], after


def _day(month: int, day: int, said: str) -> list[Quantity]:
    return [Quantity("date", month * 100 + day, said), Quantity("month", month, said)]


def _degrees(words: Sequence[str], after: int, amount: float, said: str) -> tuple[list[Quantity], int]:
    scale = words[after + 1] if after + 1 < len(words) else ""
    celsius = (amount - 32) / 1.8 if scale in ("f", "fahrenheit") else amount
    known = scale in ("f", "fahrenheit", "c", "celsius", "centigrade")
    named = f"{said} °{scale[:1].upper()}" if known else f"{said} degrees"
    return [Quantity("temperature", celsius, named, scale[:1] if known else "c")], after + 1 + known


def _said(words: Sequence[str], at: int, after: int) -> str:
    return " ".join(word.rstrip("#") for word in words[at:after])
