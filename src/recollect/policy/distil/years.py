"""Days and months that are named without their year, with it: the one that lies nearest to when they were named."""

import re
from datetime import date, datetime

_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = "|".join(f"{month}|{month[:3]}" for month in _MONTHS if month != "May")
_DAY = re.compile(
    rf"\b(?P<month>{_MONTH}|May|Sept)\.? (?P<day>\d{{1,2}})(?P<to>\s?[-\u2013]\s?\d{{1,2}}|(?:st|nd|rd|th))?\b"
    r"(?!,? ?\d{4}|[\d:%]|\.\d| ?(?:am|pm|AM|PM)\b|\s?[-\u2013]\s?\d)"
)
_TURNED = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_MONTH}|May|Sept)\b(?!\.? \d|,? ?\d{{4}})"
)

_MONTH_ALONE = re.compile(
    rf"\b(?P<lead>in|by|starting|starting in|since|until|till|through|from|during|effective|for|of|end of|"
    rf"beginning of) "
    rf"(?P<month>{'|'.join(_MONTHS)})\b(?! \d|,? ?\d{{4}}|'s| [A-Z])"
)

_QUARTER = re.compile(r"\bQ(?P<quarter>[1-4])\b(?!,? ?(?:of )?\d{2}|')")


def with_years(text: str, at: datetime) -> str:
    """The text with a year behind each day that has none. What cannot be a day stays as it is."""
    text = _QUARTER.sub(lambda found: _in_quarter(found, at.date()), text)
    if not any(month[:3] in text for month in _MONTHS):
        return text
    text = _DAY.sub(lambda found: _placed(found, at.date(), behind=True), text)
    text = _TURNED.sub(lambda found: _placed(found, at.date(), behind=False), text)
    return _MONTH_ALONE.sub(lambda found: _in_month(found, at.date()), text)


def _in_quarter(found: re.Match[str], at: date) -> str:
    return f"Q{found['quarter']} {_nearest(3 * int(found['quarter']) - 1, 15, at)}"


def _in_month(found: re.Match[str], at: date) -> str:
    month = next(number for number, name in enumerate(_MONTHS, 1) if name == found["month"])
    return f"{found['lead']} {found['month']} {_nearest(month, 15, at)}"


def _nearest(month: int, day: int, at: date) -> int | None:
    """The year in which a day lies nearest to another; None where there is no such day."""
    near = [year for year in (at.year - 1, at.year, at.year + 1) if _is_day(year, month, day)]
    return min(near, key=lambda year: abs((date(year, month, day) - at).days), default=None)


def _placed(found: re.Match[str], at: date, *, behind: bool) -> str:
    month = next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(found["month"][:3]))
    day = int(found["day"])
    year = _nearest(month, day, at)
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
