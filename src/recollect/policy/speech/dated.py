"""Times in a statement made to mean the same for ever, and the time it says it holds for."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from recollect.policy import calendar
from recollect.policy.calendar import WEEKDAYS, Grain
from recollect.policy.dates import Mention, mentions
from recollect.policy.speech.sentences import Sentence
from recollect.policy.speech.verbs import is_past

_WEEKDAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b", re.IGNORECASE
)
_WITHIN = re.compile(
    r"\bwithin (?P<count>\d{1,2}|a|one|two|three|four|five|six|ten) (?P<unit>day|week|month)s?(?: from (?:now|"
    r"today))?\b",
    re.I,
)
_FROM_TOMORROW = re.compile(
    r"\b(?P<count>\d{1,2}|a|one|two|three|four|five|six|ten) (?P<unit>day|week|month)s? (?:from|after) tomorrow\b",
    re.IGNORECASE,
)
_AGO_TODAY = re.compile(
    r"\b(?P<count>\d{1,2}|a|one|two|three|four|five|six|ten) (?P<unit>day|week)s? ago (?:today|on the day)\b",
    re.IGNORECASE,
)
_FROM_TODAY = re.compile(r"\b(\w+ (?:day|week|month|year)s?) from (?:today|now)\b", re.IGNORECASE)
_FROM_NOW_ON = re.compile(r",?\s*\bfrom now on\b,?", re.IGNORECASE)
_NTH = re.compile(r"(?:on |by )?the (\d{1,2})(?:st|nd|rd|th)$", re.IGNORECASE)
_CLAUSE = re.compile(r", (?=[a-z])| answered |: |; |\. | because | and (?=(?:has|have|needs?|wants?|will|plans?) )")
_LASTED = re.compile(r"in (?:an?|one|two|three|\d+) (?:day|week|month|year)s?\b", re.IGNORECASE)
"""How long something took, after a verb in the past."""
_AHEAD = re.compile(
    r"\b(?:is|are|gets?|will|must|has to|have to|needs?|should|can|wants?|going to|decided to|agreed to|promised to|"
    r"goal|deadline|offers?|becomes?|expires?|leaves?|"
    r"starts?)\b",
    re.I,
)
_BEHIND = re.compile(r"\b(?:was|were|has been|have been|had|did|since|ago|last|came|went)\b", re.IGNORECASE)
_TIMELY = frozenset(
    """today tonight tomorrow yesterday morning afternoon evening night day days week weeks weekend month months
    year years ago now spring summer autumn fall winter january february march april may june july august
    september october november december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday
    wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
    mon tue tues wed thu thur thurs fri sat sun quarter within""".split()
)
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_EVERY = re.compile(
    r"\b(?:every|each|any|alternate|other|all|most|only on|first|second|third|fourth|last)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"^\s*(?:mornings|evenings|afternoons|nights|only\b|except\b|(?:and|or|to|through|[-\u2013/,])\s*(?:mon|"
    r"tue|wed|thu|fri|sat|sun))",
    re.IGNORECASE,
)
_HABITUAL = re.compile(
    r"\b(?:usually|always|never|normally|every|each|weekly|only|generally|go out|goes out|runs?|"
    r"works? (?:from|at|nights)|per week|a week|"
    r"mornings|evenings|afternoons|nights|closed|play|train|practise|practice)\b",
    re.IGNORECASE,
)
_FOND = re.compile(
    r"\b(?:loves?|(?<!would )likes?|enjoys?|usually|always|every|prefers?|hates?|never)\b", re.IGNORECASE
)
_DETERMINED = re.compile(r"\b(?:the|a|an|this|our|my|your|\w+'s)\s$", re.IGNORECASE)
_PART = re.compile(r"(?:in\s)?(early|late|mid)\b", re.IGNORECASE)
_LEADS = re.compile(
    r"\b(?:in|on|by|since|until|till|from|of|before|after|for|due|around|within|to|early|late|as of|than|"
    r"starting)[ -]$",
    re.I,
)
_UNTIL = re.compile(
    r"\b(?:until|till|til|through|valid to|expires(?: on)?|ends(?: on)?)\s*(?:on |the )?$", re.IGNORECASE
)
_SINCE = re.compile(
    r"\b(?:since|from|as of|starting(?: on| in)?|effective|starts?(?: on)?|beginning)\s*(?:on |the )?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Dated:
    """A statement with absolute times, how many it names, and since and until when it says that it holds."""

    text: str
    times: int = 0
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def dated(text: str, at: datetime) -> Dated:
    """The statement, said at that moment, with the times that depend on it made absolute. A habit keeps its weekday."""
    words = Sentence(text).words
    if _TIMELY.isdisjoint(words) and not any(sign.isdigit() for sign in text):
        return Dated(text)
    if not {"from", "within", "after", "ago"}.isdisjoint(words):
        text = _spelled(text, at.date())
    found = [
        mention for mention in _anchored(text, _joined(text, _mentions(text, at.date()))) if not _habit(text, mention)
    ]
    parts: list[str] = []
    position = 0
    since = until = None
    for mention in found:
        before = text[: mention.start]
        words = text[mention.start : mention.end].lower()
        if _UNTIL.search(before) or re.match(r"until|till|by the end", words):
            until = _moment(mention.last, at.tzinfo, end=True)
        elif _SINCE.search(before) or words.startswith("since "):
            since = _moment(mention.first, at.tzinfo)
        if mention.relative:
            parts += [text[position : mention.start], _written(text, mention)]
            position = mention.end
    told = "".join([*parts, text[position:]]) if parts else text
    if since and until and until < since:
        since = until = None
    return Dated(told, len(found), since, until)


def _spelled(text: str, at: date) -> str:
    """Spans that are counted from a day: "within two weeks", "a week from tomorrow"."""
    text = _FROM_NOW_ON.sub("", text)
    text = _WITHIN.sub(lambda match: _deadline(match, at), text)
    text = _AGO_TODAY.sub(lambda match: _deadline(match, at, "on", back=True), text)
    text = _FROM_TOMORROW.sub(lambda match: _deadline(match, at + timedelta(days=1), "on"), text)
    return _FROM_TODAY.sub(r"in \1", text)


def _deadline(match: re.Match[str], at: date, word: str = "by", *, back: bool = False) -> str:
    count = (_COUNTS.get(match["count"].lower()) or int(match["count"])) * (-1 if back else 1)
    days = {"day": 1, "week": 7, "month": 30}[match["unit"].lower()]
    try:
        return f"{word} {calendar.day(at + timedelta(days=count * days))}"
    except OverflowError:
        return match.group()


def _mentions(text: str, at: date) -> list[Mention]:
    """The times of each clause by itself: one may look back and the next one ahead."""
    found: list[Mention] = []
    start = 0
    for end in [*(match.end() for match in _CLAUSE.finditer(text)), len(text)]:
        clause = text[start:end]
        back = _looks_back(clause)
        found += [
            replace(each, start=each.start + start, end=each.end + start)
            for each in mentions(clause, at, back=back)
            if not (back and each.first > at and _LASTED.match(clause, each.start))
        ]
        start = end
    return found


def _looks_back(clause: str) -> bool | None:
    """Whether a clause speaks of the past; None: the words of the time itself may tell."""
    if _AHEAD.search(clause):
        return None if _BEHIND.search(clause) else False
    return True if any(is_past(word) for word in Sentence(clause).words) else None


def _anchored(text: str, found: list[Mention]) -> list[Mention]:
    """A bare "the 16th" after a full date is of the same month, or the next."""
    anchored: list[Mention] = []
    anchor: date | None = None
    for mention in found:
        nth = _NTH.match(text[mention.start : mention.end])
        if nth and anchor:
            try:
                there = anchor.replace(day=int(nth[1]))
                there = (
                    there if there >= anchor else calendar.shifted(anchor.replace(day=1), 1).replace(day=int(nth[1]))
                )
                mention = replace(mention, period=calendar.day(there))
            except ValueError:
                pass  # the 31st of a short month: as it was read
        elif _day(mention):
            anchor = mention.first
        anchored.append(mention)
    return anchored


def _joined(text: str, found: list[Mention]) -> list[Mention]:
    """A weekday right before or after its date is one time: "Saturday the 19th"."""
    joined: list[Mention] = []
    for mention in found:
        last = joined[-1] if joined else None
        if last and not text[last.end : mention.start].strip(" ,(") and _day(last) and _day(mention):
            weekday = _WEEKDAY.fullmatch(text[last.start : last.end].removeprefix("on "))
            period = mention.period if weekday else last.period
            joined[-1] = Mention(last.start, mention.end, period, relative=True)
        else:
            joined.append(mention)
    return joined


def _day(mention: Mention) -> bool:
    return mention.period.grain is Grain.DAY


def _habit(text: str, mention: Mention) -> bool:
    """Whether a weekday is every such day: "every second Friday", "Tuesday and Thursday only", "Sunday mornings"."""
    words = text[mention.start : mention.end].lower()
    if (
        mention.period.grain in (Grain.MONTH, Grain.SEASON)
        and _FOND.search(text)
        and not re.search(r"\b(?:next|last|this|coming)\b", words)
    ):
        return mention.relative
    if (
        not _WEEKDAY.search(words)
        or any(sign.isdigit() for sign in words)
        or re.match(r"(?:on )?(?:this|next|last|coming|past)\b", words)
    ):
        return False
    return bool(
        _EVERY.search(text[: mention.start])
        or _HABIT.match(text[mention.end :])
        or re.search(
            r"\b(?:mon|tue|wed|thu|fri|sat|sun)\w*\s*(?:,|and|or|to|through|[-\u2013/])\s*$",
            text[: mention.start],
            re.IGNORECASE,
        )
        or words.endswith("days")
        or _HABITUAL.search(text)
    )


def _written(text: str, mention: Mention) -> str:
    said = text[mention.start : mention.end]
    words = str(mention.period)
    if _DETERMINED.search(text[: mention.start]) and re.match(r"\s+[a-z]", text[mention.end :]):
        return words  # the Thursday demo
    if _day(mention) and _WEEKDAY.search(said):
        words = f"{WEEKDAYS[mention.first.weekday()]}, {words}"
    if part := _PART.match(said):
        words = f"{part[1].lower()} {words}"
    by = re.match(r"by\b", said, re.IGNORECASE)
    if by:
        words = f"by {words}"
    elif (
        re.match(r"(?:on|in)\b", said, re.IGNORECASE)
        or said.endswith("ago")
        or not _LEADS.search(text[: mention.start])
    ):
        words = f"{mention.period.preposition} {words}"
    return words[0].upper() + words[1:] if mention.start == 0 else words


def _moment(day: date, zone: tzinfo | None, *, end: bool = False) -> datetime | None:
    try:
        return datetime.combine(day + timedelta(days=1) if end else day, time(), zone or UTC)
    except OverflowError:
        return None
