"""R4, the clean log: every turn that says something, once, with who said it and when; never longer than the words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.domain.event import Event, Trust
from recollect.domain.level import Level
from recollect.domain.text import MAX_TEXT, tokens
from recollect.domain.witness import written
from recollect.policy.distil.material import Draft, Material, witnesses
from recollect.policy.distil.noise import is_noise, tidied

_ALIKE = 0.9
"""The share of words that two turns have in common when the later one only repeats the earlier."""
_MOST_COMPARED = 40
_LONGEST_COMPARED = 40_000
"""Characters of a turn whose words are compared; a longer one repeats another where it is the same."""
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")
_ROOM = MAX_TEXT - 50_000


@dataclass(slots=True)
class _Line:
    """A turn of the log and those that say the same."""

    events: list[Event]
    text: str
    words: frozenset[str] = field(default_factory=frozenset[str])


@dataclass(frozen=True, slots=True)
class CleanTurn:
    """A turn of the log: what was said, by whom, when and where, with the events that say the same."""

    events: Sequence[Event]
    text: str
    places: str

    @property
    def author(self) -> str:
        return self.events[0].author

    @property
    def said_at(self) -> datetime:
        return self.events[0].ts


def clean_turns(material: Material) -> list[CleanTurn]:
    """The turns that a clean log is made of."""
    lines = _telling(material)
    texts = _fitted(lines)
    return [
        CleanTurn(line.events, text, written(witnesses(material.item.id, line.events)))
        for line, text in zip(lines, texts, strict=True)
    ]


def clean(material: Material) -> Draft:
    """The turns as lines "[s:3-3] author, date: text", without noise; what is said again is one line with all its
    places, and the date stands where the day changes. Where turns are so short that this is longer than their words,
    places, names and at last both are left out. Where nothing but noise is left, the noise is kept: a log is never
    empty."""
    lines = _telling(material)
    if not lines:
        raise ValueError("a memory without events has no R4: give the events that it rests on")
    raw = tokens("\n".join(event.text for event in material.events))
    forms = list(_forms(material, lines, _fitted(lines)))
    content = next((form for form in forms if tokens(form) <= raw), min(forms, key=len))
    kept = sum(len(line.events) for line in lines) / max(1, len(material.events))
    return Draft(Level.R4, content[:MAX_TEXT], (), round(kept, 3))


def _telling(material: Material) -> list[_Line]:
    """What is left without noise; where that is nothing, the noise."""
    found = _lines([event for event, before in _pairs(material.events) if not is_noise(event, before)])
    return found or _lines(material.events)


def _forms(material: Material, lines: Sequence[_Line], texts: Sequence[str]) -> Iterator[str]:
    """The log with everything, with places alone where somebody else goes on, with names alone, with neither."""
    days = [line.events[0].ts.date() for line in lines]
    new_day = [day != before for day, before in zip(days, [None, *days[:-1]], strict=True)]
    places = [written(witnesses(material.item.id, line.events)) for line in lines]
    full = [
        f"[{place}] {_author(line)}{f', {day.isoformat()}' if starts else ''}: {text}"
        for line, place, text, day, starts in zip(lines, places, texts, days, new_day, strict=True)
    ]
    yield "\n".join(full)
    speakers = [_author(line) for line in lines]
    changes = [name != before for name, before in zip(speakers, ["", *speakers[:-1]], strict=True)]
    yield "\n".join(
        f"{name}: {text}" if new else text for name, text, new in zip(speakers, texts, changes, strict=True)
    )
    if len({name[:1] for name in speakers}) == len(set(speakers)):
        yield "\n".join(
            f"{name[:1]}: {text}" if new else text for name, text, new in zip(speakers, texts, changes, strict=True)
        )
    yield "\n".join(texts)


def _author(line: _Line) -> str:
    return " ".join(line.events[0].author.split())


def _pairs(events: Sequence[Event]) -> list[tuple[Event, Event | None]]:
    return [(event, events[place - 1] if place else None) for place, event in enumerate(events)]


def _lines(events: Sequence[Event]) -> list[_Line]:
    found: list[_Line] = []
    known: dict[tuple[str, Trust, str, tuple[str, ...]], list[_Line]] = {}
    for event in events:
        line = _Line([event], tidied(event) or event.text.strip())
        compared = line.text if len(line.text) <= _LONGEST_COMPARED else ""
        numbers = tuple(_NUMBER.findall(compared))
        words = _WORD.findall(compared.lower())
        line.words = frozenset(words)
        alike = known.setdefault((event.author, event.trust, " ".join(words[:2]), numbers), [])
        earlier = next((other for other in alike[-_MOST_COMPARED:] if _same(line, other)), None)
        if earlier is None:
            alike.append(line)
            found.append(line)
        else:
            earlier.events.append(event)
    return found


def _same(line: _Line, other: _Line) -> bool:
    either = len(line.words | other.words)
    return line.text == other.text or (bool(either) and len(line.words & other.words) >= _ALIKE * either)


def _fitted(lines: Sequence[_Line]) -> list[str]:
    """The texts, the longest of them cut where all together are more than a version may hold."""
    texts = [line.text for line in lines]
    room = _ROOM - 120 * len(lines)
    if sum(map(len, texts)) <= room:
        return texts
    least, most = 0, max(map(len, texts))
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if sum(min(len(text), middle) for text in texts) <= room else (least, middle - 1)
    return [text if len(text) <= least else f"{text[:least]} […]" for text in texts]
