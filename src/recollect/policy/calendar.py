"""Days, weeks, months and seasons as ranges of dates, and how they are written so that they mean the same for ever."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month each begins with, in the north."""


def day_of(moment: datetime) -> str:
    """A moment by its day, in words."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


class Grain(StrEnum):
    """How fine a time is told."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    QUARTER = "quarter"
    YEAR = "year"
    AROUND = "around"


@dataclass(frozen=True, slots=True)
class Period:
    """From one day to another, both included."""

    first: date
    last: date
    grain: Grain

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"a period from {self.first} to {self.last} runs backwards")

    def __str__(self) -> str:
        """The period without a preposition."""
        match self.grain:
            case Grain.DAY:
                return f"{MONTHS[self.first.month - 1]} {self.first.day}, {self.first.year}"
            case Grain.WEEKEND:
                return f"the weekend of {day(self.first)}"
            case Grain.WEEK:
                return f"the week of {day(self.first)}"
            case Grain.MONTH:
                return f"{MONTHS[self.first.month - 1]} {self.first.year}"
            case Grain.SEASON:
                named = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}[self.first.month]
                return f"{named} {self.first.year}" + (f"/{self.last.year % 100:02}" if named == "winter" else "")
            case Grain.QUARTER:
                return f"Q{(self.first.month + 2) // 3} {self.first.year}"
            case Grain.YEAR:
                return str(self.first.year)
            case Grain.AROUND:
                middle = self.first + (self.last - self.first) / 2
                return f"{MONTHS[middle.month - 1]} {middle.year}"


def day(at: date) -> Period:
    return Period(at, at, Grain.DAY)


def week(at: date) -> Period:
    first = at - timedelta(days=at.weekday())
    return Period(first, first + timedelta(days=6), Grain.WEEK)


def weekend(at: date) -> Period:
    saturday = at - timedelta(days=at.weekday()) + timedelta(days=5)
    return Period(saturday, saturday + timedelta(days=1), Grain.WEEKEND)


def month(year: int, number: int) -> Period:
    return Period(date(year, number, 1), date(year, number, monthrange(year, number)[1]), Grain.MONTH)


def quarter(year: int, number: int) -> Period:
    last = month(year, 3 * number).last
    return Period(date(year, 3 * number - 2, 1), last, Grain.QUARTER)


def year(number: int) -> Period:
    return Period(date(number, 1, 1), date(number, 12, 31), Grain.YEAR)


def season(name: str, year: int) -> Period:
    """The season that begins in that year."""
    begins = SEASONS[name]
    return Period(date(year, begins, 1), shifted(date(year, begins, 1), 3) - timedelta(days=1), Grain.SEASON)


def shifted(at: date, months: int) -> date:
    """The same day so many months later, or the last one of that month."""
    total = at.year * 12 + at.month - 1 + months
    to_year, to_month = divmod(total, 12)
    return date(to_year, to_month + 1, min(at.day, monthrange(to_year, to_month + 1)[1]))
