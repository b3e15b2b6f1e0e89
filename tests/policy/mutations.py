"""Good statements, each with one thing in it turned: a negation put in or left out, another day, another number."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
COUNTS = "two three four five six seven eight nine ten eleven twelve".split()
_OPPOSITE = {"cannot": "can", "without": "with", "nobody": "everybody", "nothing": "everything", "none": "all"}
_NEGATION = re.compile(r"\b(?:not|never|no|cannot|without|nobody|nothing|none)\b", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})(?=s?\b)")
_YEAR = re.compile(r"(?<![\d-])(?:19|20)\d\d(?![\d-])")
_IN_DATE = re.compile(rf"\d{{4}}-\d\d(?:-\d\d)?|\b\d{{1,2}} (?:{'|'.join(MONTHS)})|(?:{'|'.join(MONTHS)}) \d{{1,2}}\b")
_COUNT = re.compile(rf"\b(?:{'|'.join(COUNTS)})\b")


def negated(text: str) -> Iterator[str]:
    """With a negation between any two words."""
    for gap in re.finditer(" ", text):
        yield f"{text[: gap.start()]} not{text[gap.start() :]}"
    for gap in list(re.finditer(" ", text))[::3]:
        yield f"{text[: gap.start()]} never{text[gap.start() :]}"


def affirmed(text: str) -> Iterator[str]:
    """Without one of its negations."""
    for found in _NEGATION.finditer(text):
        instead = _OPPOSITE.get(found.group().lower(), "")
        yield " ".join(f"{text[: found.start()]}{instead}{text[found.end() :]}".split())


def redated(text: str) -> Iterator[str]:
    """With another day, month, weekday or year."""
    for found in _DAY.finditer(text):
        for days in (-7, -1, 1, 7, 30, 365):
            yield _with(text, found, str(date.fromisoformat(found.group()) + timedelta(days)))
    for pattern, listed in ((_MONTH, MONTHS), (_WEEKDAY, WEEKDAYS)):
        for found in pattern.finditer(text):
            yield from (_with(text, found, _after(listed, found.group(), steps)) for steps in (1, 4))
    for found in _YEAR.finditer(text):
        yield from (_with(text, found, str(int(found.group()) + years)) for years in (-1, 1, 3))


def recounted(text: str) -> Iterator[str]:
    """With another number, outside its dates."""
    dated = [found.span() for pattern in (_IN_DATE, _YEAR) for found in pattern.finditer(text)]
    for found in re.finditer(r"\d+", text):
        # what follows a point or comma may be the same number with more digits
        whole = text[found.start() - 1 : found.start()] not in (".", ",") and text[found.end() :][:1] not in (".", ",")
        if not any(start <= found.start() < end for start, end in dated):
            count = int(found.group())
            others = {count + 1, count + 10, *([10 * count] if whole and count else [])} - {count}
            yield from (_with(text, found, str(other)) for other in sorted(others))
    for found in _COUNT.finditer(text):
        yield from (_with(text, found, _after(COUNTS, found.group(), steps)) for steps in (1, 4))


def _after(listed: Sequence[str], word: str, steps: int) -> str:
    return listed[(listed.index(word) + steps) % len(listed)]


def _with(text: str, found: re.Match[str], instead: str) -> str:
    return f"{text[: found.start()]}{instead}{text[found.end() :]}"
