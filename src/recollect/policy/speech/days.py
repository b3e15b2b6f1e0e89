"""The days that words mean, told beside them; where the words leave it open, nothing is told.

A day without a year is of the nearest year within 120 days. A day that recurs is no day of the calendar.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from recollect.domain.quotation import Meant
from recollect.policy import calendar
from recollect.policy.calendar import MONTHS, SEASONS, WEEKDAYS, Grain, Period
from recollect.policy.dates import Mention, mentions

REACH = timedelta(days=120)
_READ = 4_000
"""Characters that are read for times: a longer text tells of many, and holds from none of them to another."""
_MOST = 60
"""Times that are read: more of them are a table."""
_AROUND, _BEFORE = 300, 120
"""Characters before and behind a time in which it is told how it is meant, and those in which it is told of what."""
_CLAUSE = re.compile(r"[,;:.!?] |\n| (?:and|but|because|so|while|then) ")
_AHEAD = re.compile(
    r"\b(?:will|shall|going to|gonna|gets?|must|has to|have to|needs? to|should(?!'ve| have)|plan\w*|due|deadline|"
    r"until|till|by|next|tomorrow|upcoming|coming|scheduled|booked|starts?|begins?|ends?|leaves?|expires?|moving|flying|"
    r"is on|are on|let's|thinking|hoping|(?:am|is|are)(?: not)? \w+ing)\b|'ll\b|'(?:m|re|s) (?:\w+ing|on|going)\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\b(?:was|were|did|didn't|had|went|came|got|said|told|made|took|saw|met|bought|began|left|ago|yesterday|flew|"
    r"drove|won|lost|ran|sold|found|broke|gave|caught|been|sent|paid|fell|ate|spent|wrote|since|"
    r"died|last (?:night|week\w*|month|year|mon|tue|wed|thu|fri|sat|sun)\w*|"
    r"(?:i|we|he|she|they|it|who|that|you|just|also) \w{2,}ed|"
    r"(?<!is )(?<!are )(?<!be )(?<!gets )(?<!get )\w{3,}ed (?:on|at|in|last))\b|"
    r"\b(?-i:[A-Z])\w+ (?!(?:\w+ )?(?:is|are|gets?)\b)\w{2,}ed\b",
    re.IGNORECASE,
)
_INTENDS = re.compile(r"\bto (?!the|an?|my|our|his|her|their|this|that)[a-z]+\b")
"""What was decided in the past may lie ahead: "we decided to move on Friday"."""
_RECURS_BEFORE = re.compile(
    r"\b(?:every|each|any|alternate|other|most|all|always|usually|only|first|second|third|fourth|last)"
    r"\s+(?:on\s+)?(?:\w+\s+)?$|\b(?:an?|the|some|another|one|good|holy|ash|palm|easter|shrove|whit|black|cyber)\s+$"
    r"|\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)\w*\s*(?:,|and|or|to|through|[-\u2013/&+])\s*(?:on )?$",
    re.IGNORECASE,
)
_RECURS_AFTER = re.compile(
    r"s\b|\s*(?:mornings|evenings|afternoons|nights|(?:and|or|to|till|until|through|[-\u2013/,&+])\s*"
    r"(?:mon|tue|wed|thu|fri|sat|sun))",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:usually|always|never|normally|every|each|weekly|monthly|yearly|annually|generally|per week|a week|"
    r"(?:i|we|you|they) (?:don't |do not )?(?:\w+ )?(?:work|train|play|go|meet|run|swim|have|practi.e|visit|call))\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:(?:19|20)\d\d|(?:next|last|coming|previous) year)\b", re.IGNORECASE)
"""Where a year is named, a day without one may be of that."""
_YEARLY = re.compile(r"\b(?:born|birthdays?|anniversar(?:y|ies)|wedding day)\b", re.IGNORECASE)
"""A day of the calendar that comes back every year: it names no year, and least of all the nearest."""
_ENDS = re.compile(
    r"\s*(?:$|[.,;:!?)\n—\u2013-]|(?:at|to|and|or|for|with|in|from|until|till|on|we|i|he|she|they|it|you|so|but|if|"
    r"because|is|was|will|then|as|morning|evening|afternoon|night|this|when|where|which|that|by|before|after|around|"
    r"about|instead|already|again|not|please|thanks|btw|lol|the|my|our|his|her|a|an)\b)",
    re.IGNORECASE,
)
"""What follows a weekday or "the 3rd" where a day is meant; before a noun it names the noun: "a Saturday girl"."""
_FROM = re.compile(r" (?:from|before|after|of)\b", re.IGNORECASE)
_BESIDE = re.compile(r" (?:before|after|week)\b| in (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
"""What moves a weekday or a weekend to another time."""
_IN = re.compile(r"\b(?:in|by|since|until|till|from|of|early|late)\W*(?:the )?\w*$", re.IGNORECASE)
_WEEKEND = re.compile(r"\bthe weekend$", re.IGNORECASE)
_NUMBERS_IT = re.compile(r"\s*,? the \w+(?:st|nd|rd|th)\b", re.IGNORECASE)
_WEEKDAY = re.compile(
    r"\b(?:on )?(?:(?P<which>this past|this coming|this|next|last|past|previous|coming|upcoming) )?"
    r"(?P<day>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|"
    r"sun(?:day)?)",
    re.IGNORECASE,
)
_NTH = re.compile(r"(?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th)", re.IGNORECASE)
_DAY_NUMBERS = {name[:3].lower(): number for number, name in enumerate(WEEKDAYS)}
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
_SHORT = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
_TOLD = re.compile(
    r"\b(?:this|next|last|past|previous|coming|upcoming|ago|today|tonight|tomorrow|yesterday|weekend|end of|"
    r"(?:in|within) .*(?:day|week|month|year)|from (?:now|today))",
    re.IGNORECASE,
)
"""A time that is reckoned from the day it was said on."""
_LASTS = re.compile(r"(?:with)?in (?:\d|an? |one|two|three|four|five|six|seven|eight|nine|ten)", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:few|couple|several)\b|\bover the\b|\bthe (?:last|past|previous|next|coming) (?!weekend)", re.IGNORECASE
)
"""How long something took, a time that nobody counted, or one that is seen from another."""
_COUNTED = re.compile(r"\b(?:days?|weeks?|months?|years?|fortnight) (?:from|before|after)\s*(?:the )?$", re.IGNORECASE)
"""What counts from a time that is named, rather than naming it: "a fortnight before Easter"."""
_UNTIL = re.compile(r"\b(?:until|till|til|through|expires(?: on)?|ends(?: on)?)\s*(?:on |the )?$", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|as of|starting(?: on| in)?|effective)\s*(?:on |the )?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dated:
    """The times that words mean, and since and until when they say that they hold."""

    meant: tuple[Meant, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@lru_cache(maxsize=512)
def dated(words: str, at: datetime, before: str = "") -> Dated:
    """What is meant by the times in words that were said at that moment; `before`: what they answer."""
    meant: list[Meant] = []
    since = until = None
    words = words[:_READ]
    found = _joined(words, mentions(words, at.date())[:_MOST])
    year = _YEAR.search(f"{before} {words}") is not None
    for mention in found:
        from_ = max(0, mention.start - _AROUND)
        near, here = words[from_ : mention.end + _AROUND], mention.moved(-from_)
        period = _sure(near, here, at.date(), alone=len(found) == 1, year=year)
        if period is None:
            continue
        before, said = _before(near, here), near[here.start : here.end].lower()
        if _UNTIL.search(before) or said.startswith(("until ", "till ")):
            until = _moment(period.last, at.tzinfo, end=True)
        elif _SINCE.search(before) or said.startswith("since "):
            since = _moment(period.first, at.tzinfo)
        if mention.relative:
            meant.append(Meant(mention.end, written(period)))
    if since and until and until < since:
        since = until = None
    return Dated(tuple(meant), since, until)


def bracketed(text: str, at: datetime) -> str:
    """A text of the project's own with the times it means in brackets beside them."""
    for one in reversed(dated(text, at).meant):
        text = f"{text[: one.after]} [{one.time}]{text[one.after :]}"
    return text


def written(period: Period) -> str:
    """A period in a few words."""
    first = period.first
    day = f"{first.day} {MONTHS[first.month - 1]} {first.year}"
    match period.grain:
        case Grain.DAY:
            return day
        case Grain.WEEK | Grain.WEEKEND:
            return f"{period.grain.value} of {day}"
        case _:
            return str(period) if period.grain is not Grain.AROUND else f"around {period}"


def _sure(words: str, mention: Mention, at: date, *, alone: bool, year: bool) -> Period | None:
    """The period that a mention means, or None where the words leave it open; `alone`: they speak of no other."""
    if not mention.relative:
        return mention.period
    said, after = words[mention.start : mention.end], words[mention.end :]
    if _recurs(words, mention) or after.lower().startswith((" of ", "'s ", "\u2019s ", " after next", " week")):
        return None
    if _COUNTED.search(_before(words, mention)) or _VAGUE.search(said):
        return None
    clause = _clause(words, mention)
    if (both := _WEEKDAY.search(said)) and any(sign.isdigit() for sign in said):
        days = _on_weekday(_DAY_NUMBERS[both["day"].lower()[:3]], mention.first, months=not _MONTH.search(said))
        return _near_weekday(days, clause, at)
    weekday, nth = _WEEKDAY.fullmatch(said), _NTH.fullmatch(said)
    if weekday is not None:
        return _weekday(weekday, mention, clause, after, at)
    if nth is not None:
        return None  # of which month, only those know who speak
    if mention.period.grain in (Grain.WEEK, Grain.WEEKEND) and at.isoweekday() > 5:
        return None  # on a weekend, "this week" is the one that ends, or the one that begins
    if _WEEKEND.search(said):
        ahead = _looks(clause) if _ENDS.match(after) and not _BESIDE.match(after) else None
        return None if ahead is None else calendar.weekend(at if ahead else at - timedelta(days=7))
    if _LASTS.match(said) and (not _AHEAD.search(clause) or _FROM.match(after)):
        return None  # how long it took, or counted from another day
    if "next " in said.lower() and (_MONTH.search(said) or said.lower().endswith(tuple(SEASONS))):
        return None  # in August, "next September" is the one to come, or a year from it
    if mention.period.grain is Grain.YEAR and at.month == 1:
        return None  # in January, "this year" may still be the one that was
    if _TOLD.search(said):
        open_end = "end of the" in said.lower() and not alone
        over = "this " in said.lower() and mention.first > at and _looks(clause) is False  # "lost them this winter"
        return None if open_end or over else mention.period
    if year or _YEARLY.search(_sentence(words, mention)):
        return None
    if _whole(mention.period) and not (_ENDS.match(after) and _IN.search(_before(words, mention) + said.split()[0])):
        return None  # "winter evenings" and "busy are May, June" come every year, and "July 16-18" is no month
    return _agreeing(_nearest(mention.period, at), clause, at)


def _agreeing(period: Period | None, clause: str, at: date) -> Period | None:
    """The period, unless the words around it look the other way; a month or a season only where they look there."""
    ahead = _looks(clause)
    if period is None or (_whole(period) and (ahead is None or period.first <= at <= period.last)):
        return None  # who means this month says so
    if period.last < at:
        return period if ahead is False or (ahead is None and (at - period.last).days <= 21) else None
    return None if ahead is False and period.first > at else period


def _looks(clause: str) -> bool | None:
    """Whether words look ahead, or behind; None where they do neither, or both."""
    ahead, behind = bool(_AHEAD.search(clause)), bool(_BEHIND.search(clause))
    return None if ahead == behind else ahead


def _weekday(found: re.Match[str], mention: Mention, clause: str, after: str, at: date) -> Period | None:
    day, which = found["day"].lower(), (found["which"] or "").lower()
    if (
        not _ENDS.match(after)
        or _NUMBERS_IT.match(after)
        or _BESIDE.match(after)
        or (day in _SHORT and not found.group().lower().startswith(("on ", which or "\0")))
    ):
        return None
    if which and not (which == "this" and _BEHIND.search(clause)):
        near = which == "last" and (at - mention.first).days <= 2  # nobody says "last Friday" of yesterday
        either = which == "next" and mention.first.weekday() > at.weekday()  # of this week, or of the next
        return None if near or either else mention.period
    ahead = _looks(clause)
    if ahead is None or (not ahead and _INTENDS.search(clause)):
        return None
    gap = (mention.first.weekday() - at.weekday()) % 7
    if not gap:
        return None  # on a Sunday, "Sunday" is today, or a week from it
    return calendar.day(at + timedelta(days=gap if ahead else gap - 7))


def _on_weekday(weekday: int, day: date, *, months: bool) -> list[date]:
    """The days of that number that are such a weekday: in the years around, or, without a month, in the months around.
    None where somebody is mistaken."""
    steps = (-1, 0, 1) if months else range(-24, 25, 12)
    return [there for step in steps if (there := _in_month(day, step, day.day)) and there.weekday() == weekday]


def _near_weekday(days: list[date], clause: str, at: date) -> Period | None:
    """The nearest of the days; where one lies before and another behind, that to which the words look."""
    days = [there for there in days if abs(there - at) <= REACH]
    if min(days, default=at) < at < max(days, default=at):
        days = [there for there in days if (there > at) == _looks(clause)]
    return calendar.day(min(days, key=lambda there: abs(there - at))) if days else None


def _in_month(at: date, step: int, number: int) -> date | None:
    try:
        return calendar.shifted(at.replace(day=1), step).replace(day=number)
    except ValueError:
        return None


def _nearest(period: Period, at: date) -> Period | None:
    """The same days of this year, last or next: the nearest, if it is near enough."""
    years = [_moved(period, step) for step in (-2, -1, 0, 1, 2)]
    near = [(gap, one) for one in years if one is not None and (gap := _gap(one, at)) <= REACH]
    return min(near, key=lambda pair: pair[0])[1] if near else None


def _moved(period: Period, years: int) -> Period | None:
    try:
        first, last = (there.replace(year=there.year + years) for there in (period.first, period.last))
        last = calendar.month(last.year, last.month).last if _whole(period) else last
        return Period(first, last, period.grain)
    except ValueError:
        return None


def _whole(period: Period) -> bool:
    return period.grain in (Grain.MONTH, Grain.SEASON, Grain.QUARTER)


def _gap(period: Period, at: date) -> timedelta:
    return max(period.first - at, at - period.last, timedelta(0))


def _recurs(words: str, mention: Mention) -> bool:
    said, after = words[mention.start : mention.end], words[mention.end :]
    if _RECURS_BEFORE.search(_before(words, mention)):
        return True
    if not _WEEKDAY.fullmatch(said) and not _NTH.fullmatch(said):
        return bool(
            re.search(r"\b(?:every|each|always|never|usually|yearly)\b", _sentence(words, mention), re.IGNORECASE)
        ) and (mention.period.grain in (Grain.MONTH, Grain.SEASON, Grain.DAY) and not _TOLD.search(said))
    return bool(_RECURS_AFTER.match(after)) or bool(_HABIT.search(_clause(words, mention)))


def _before(words: str, mention: Mention) -> str:
    return words[max(0, mention.start - _BEFORE) : mention.start]


def _sentence(words: str, mention: Mention) -> str:
    """The words of a sentence up to a time in it."""
    return re.split(r"[.!?] ", words[: mention.start])[-1] + _clause(words, mention)


def _clause(words: str, mention: Mention) -> str:
    starts = [match.end() for match in _CLAUSE.finditer(words) if match.end() <= mention.start]
    ends = [match.start() for match in _CLAUSE.finditer(words) if match.start() >= mention.end]
    return words[starts[-1] if starts else 0 : ends[0] if ends else len(words)]


def _joined(words: str, found: list[Mention]) -> list[Mention]:
    """A weekday beside its date is one time, "Saturday the 19th", unless it begins a span of weekdays."""
    joined: list[Mention] = []
    for mention in found:
        last = joined[-1] if joined else None
        if last and last.relative and mention.relative and not words[last.end : mention.start].strip(" ,("):
            both = (words[last.start : last.end], words[mention.start : mention.end])
            weekdays = [one for one in both if _WEEKDAY.fullmatch(one)]
            recurs = weekdays[-1:] == [both[1]] and _RECURS_AFTER.match(words, mention.end)
            if len(weekdays) == 1 and mention.period.grain is Grain.DAY and not recurs:
                other = mention if _WEEKDAY.fullmatch(both[0]) else last
                joined[-1] = Mention(last.start, mention.end, other.period, relative=True)
                continue
        joined.append(mention)
    return joined


def _moment(day: date, zone: tzinfo | None, *, end: bool = False) -> datetime | None:
    try:
        return datetime.combine(day + timedelta(days=1) if end else day, time(), zone or UTC)
    except OverflowError:
        return None
