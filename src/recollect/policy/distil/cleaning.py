"""R4, the clean log: every turn that says something, once, with where it stands, who said it and when."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from recollect.domain.event import Event
from recollect.domain.level import Level
from recollect.domain.text import MAX_TEXT
from recollect.domain.witness import written
from recollect.policy.distil.material import Draft, Material, witnesses
from recollect.policy.distil.noise import is_noise, tidied

_ALIKE = 0.9
"""The share of words that two turns have in common when the later one only repeats the earlier."""
_MOST_COMPARED = 40
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")
_ROOM = MAX_TEXT - 50_000


@dataclass(slots=True)
class _Line:
    """A turn of the log and those that say the same."""

    events: list[Event]
    text: str
    words: frozenset[str] = field(default_factory=frozenset[str])


def clean(material: Material) -> Draft:
    """The turns as lines "[s:3-3] author, date: text", without noise; what is said again is one line with all its
    places, and the date stands where the day changes. Where nothing but noise is left, the noise is kept: a log is
    never empty."""
    lines = _lines([event for event, before in _pairs(material.events) if not is_noise(event, before)])
    if not lines:
        lines = _lines(material.events)
    if not lines:
        raise ValueError("a memory without events has no R4: give the events that it rests on")
    texts = _fitted(lines)
    days = [line.events[0].ts.date() for line in lines]
    content = "\n".join(
        f"[{written(witnesses(material.item.id, line.events))}] {_who(line.events[0], day == before)}: {text}"
        for line, text, day, before in zip(lines, texts, days, [None, *days[:-1]], strict=True)
    )
    kept = sum(len(line.events) for line in lines) / max(1, len(material.events))
    return Draft(Level.R4, content[:MAX_TEXT], (), round(kept, 3))


def _pairs(events: Sequence[Event]) -> list[tuple[Event, Event | None]]:
    return [(event, events[place - 1] if place else None) for place, event in enumerate(events)]


def _who(event: Event, same_day: bool) -> str:
    author = " ".join(event.author.split())
    return author if same_day else f"{author}, {event.ts.date().isoformat()}"


def _lines(events: Sequence[Event]) -> list[_Line]:
    found: list[_Line] = []
    known: dict[tuple[str, str, tuple[str, ...]], list[_Line]] = {}
    for event in events:
        line = _Line([event], tidied(event) or event.text.strip())
        numbers = tuple(_NUMBER.findall(line.text))
        words = _WORD.findall(line.text.lower())
        line.words = frozenset(words)
        alike = known.setdefault((event.author, " ".join(words[:2]), numbers), [])
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
