"""Days and months that are named without their year, with it: the one that lies nearest to when they were named."""

import re
from datetime import date, datetime

_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = "|".join(f"{month}|{month[:3]}" for month in _MONTHS if month != "May")
_DAY = re.compile(
    rf"\b(?P<month>{_MONTH}|May|Sept)\.? (?P<day>\d{{1,2}})(?P<to>\s?[-\u2013]\s?\d{{1,2}}|(?:st|nd|rd|th))?\b"
    r"(?!,? ?\d{4}|[\d:%]|\.\d| ?(?:am|pm|AM|PM)\b|\s?[-\u2013]\s?\d)"
)
_SPAN = re.compile(
    rf"\b(?P<month>{_MONTH}|May|Sept)\.? (?P<days>\d{{1,2}}\s?[-\u2013]\s?\d{{1,2}}),? (?P<year>\d{{4}})\b"
)
_TURNED = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_MONTH}|May|Sept)\b(?!\.? \d|,? ?\d{{4}})"
)

_MONTH_ALONE = re.compile(
    rf"\b(?P<lead>in|by|starting|starting in|since|until|till|through|from|during|effective|for|of|end of|"
    rf"beginning of) "
    rf"(?P<month>{'|'.join(_MONTHS)})\b(?! \d|,? ?\d{{4}}| [A-Z])"
    r"(?!(?:(?<=April)|(?<=May)|(?<=June))'s)"
)

_AHEAD = re.compile(
    r"\b(?:will|going to|gonna|plan(?:s|ning)?(?: to)?|starts?|begins?|due|deadline|upcoming|expires?|scheduled|"
    r"book(?:ed)?|leaves?|fly|flies|arrives?|launch(?:es)?|is on|are on|by|until)\b|'ll\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\b(?:ago|since|last (?:week|month|year|night|spring|summer|autumn|fall|winter|\w+day)|was|were|went|had|"
    r"did|started|began|happened|\w+ed on)\b(?! to\b)",
    re.IGNORECASE,
)
_FAR = 45
"""Days in the wrong direction from which on the words decide, and not what lies nearest."""
_YEAR = 366

_QUARTER = re.compile(r"\bQ(?P<quarter>[1-4])\b(?!,? ?(?:of )?\d{2}|')")


def with_years(text: str, at: datetime) -> str:
    """The text with a year behind each day that has none. What cannot be a day stays as it is."""
    text = _QUARTER.sub(lambda found: _in_quarter(found, at.date()), text)
    if not any(month[:3] in text for month in _MONTHS):
        return text
    text = _SPAN.sub(r"\g<days> \g<month> \g<year>", text)  # so that nobody takes the month for all of it
    text = _DAY.sub(lambda found: _placed(found, at.date(), behind=True), text)
    text = _TURNED.sub(lambda found: _placed(found, at.date(), behind=False), text)
    return _MONTH_ALONE.sub(lambda found: _in_month(found, at.date()), text)


def _in_quarter(found: re.Match[str], at: date) -> str:
    return f"Q{found['quarter']} {_nearest(3 * int(found['quarter']) - 1, 15, at, _lean(found))}"


def _in_month(found: re.Match[str], at: date) -> str:
    month = next(number for number, name in enumerate(_MONTHS, 1) if name == found["month"])
    return f"{found['lead']} {found['month']} {_nearest(month, 15, at, _lean(found))}"


def _lean(found: re.Match[str]) -> int:
    """Whether the sentence around a day speaks of what is to come (1) or what has been (-1)."""
    before, after = found.string[: found.start()], found.string[found.end() :]
    said = re.split(r"[.!?\n]\s", before)[-1] + found.group() + re.split(r"[.!?\n]", after, maxsplit=1)[0]
    return int(bool(_AHEAD.search(said))) - int(bool(_BEHIND.search(said)))


def _nearest(month: int, day: int, at: date, lean: int = 0) -> int | None:
    """The year in which a day lies nearest to another, in the direction that the words lean to where that is clear;
    None where there is no such day."""

    def distance(year: int) -> int:
        ahead = (date(year, month, day) - at).days
        return abs(ahead) + (_YEAR if ahead * lean < -_FAR else 0)

    near = [year for year in (at.year - 1, at.year, at.year + 1) if _is_day(year, month, day)]
    return min(near, key=distance, default=None)


def _placed(found: re.Match[str], at: date, *, behind: bool) -> str:
    month = next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(found["month"][:3]))
    day = int(found["day"])
    year = _nearest(month, day, at, _lean(found))
    if year is None:
        return found.group()
    span = (found["to"] or "") if behind else ""
    if span and not span.isalpha():
        return f"{day}{span} {_MONTHS[month - 1]} {year}"
    return f"{_MONTHS[month - 1]} {day}, {year}"


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
