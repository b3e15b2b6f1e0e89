"""Witnesses: what a sentence points at to show where it comes from.

Written `e:<event id>`, `s:<from>-<to>` (sequence numbers of the item's own thread) or `c:<chunk id>`,
several joined by commas.
"""

import re
from dataclasses import dataclass

from recollect.domain.ids import EventId, ItemId
from recollect.domain.quotation import Quotation
from recollect.domain.text import sound


@dataclass(frozen=True, slots=True)
class EventWitness:
    """One event."""

    event_id: EventId
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RangeWitness:
    """The events of an episode from one sequence number to another, both included."""

    episode_id: ItemId
    first: int
    last: int
    reason: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.last:
            raise ValueError(f"witness s:{self.first}-{self.last}: give a range that starts at 1 or later and runs up")


@dataclass(frozen=True, slots=True)
class ChunkWitness:
    """One chunk of a long event; chunks are counted from 1."""

    event_id: EventId
    number: int
    reason: str = ""

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"witness c:{self.event_id}.{self.number}: chunks are counted from 1")

    @property
    def chunk_id(self) -> str:
        return f"{self.event_id}.{self.number}"


Witness = EventWitness | RangeWitness | ChunkWitness

MOST_ASKED = 200
"""Witnesses that can be asked for at once."""
_LONGEST_ASKED = 10_000

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_FORMS = re.compile(rf"e:({_UUID})|s:(\d{{1,9}})-(\d{{1,9}})|c:({_UUID})\.(\d{{1,6}})")
_ONE = rf"(?:e:{_UUID}|s:\d{{1,9}}-\d{{1,9}}|c:{_UUID}\.\d{{1,6}})"
_NOTED = re.compile(rf" ?\[{_ONE}(?:,{_ONE})*\]")


@dataclass(frozen=True, slots=True)
class Bullet:
    """One sentence and the events that bear witness to it. In a summary of several parts, `section` is its part. Of a
    quotation, `text` is the speaker and the words, and `quotation` has what frames them."""

    text: str
    witnesses: tuple[Witness, ...]
    section: str = ""
    quotation: Quotation | None = None

    @property
    def served(self) -> str:
        """The sentence as it is shown: a quotation in its frame."""
        return self.quotation.framed if self.quotation else self.text

    def __post_init__(self) -> None:
        sound(self.text, "a bullet's text")
        sound(self.section, "a bullet's section", 100)
        for witness in self.witnesses:
            sound(witness.reason, "a witness's reason", 2_000)
        if not self.witnesses:
            raise ValueError(f"the bullet {self.text[:60]!r} has no witness: every sentence names its evidence")
        if self.quotation and self.quotation.plain != self.text:
            raise ValueError("the text of a quotation is its speaker and its words")


def written(witnesses: tuple[Witness, ...]) -> str:
    """The witnesses in their text notation."""
    parts: list[str] = []
    for witness in witnesses:
        match witness:
            case EventWitness(event_id):
                parts.append(f"e:{event_id}")
            case RangeWitness(_, first, last):
                parts.append(f"s:{first}-{last}")
            case ChunkWitness():
                parts.append(f"c:{witness.chunk_id}")
    return ",".join(parts)


def read(notation: str, episode_id: ItemId) -> tuple[Witness, ...]:
    """Witnesses out of their notation; `s:` ranges are read within the episode."""
    found: list[Witness] = []
    for part in notation.split(","):
        form = _FORMS.fullmatch(part.strip())
        if form is None:
            raise ValueError(f"witness {part.strip()!r}: write e:<event id>, s:<from>-<to> or c:<chunk id>")
        event, first, last, chunk_of, chunk = form.groups()
        if event:
            found.append(EventWitness(EventId(event)))
        elif first:
            found.append(RangeWitness(episode_id, int(first), int(last)))
        else:
            found.append(ChunkWitness(EventId(chunk_of), int(chunk)))
    return tuple(found)


def asked(notation: str, episode_id: ItemId) -> tuple[Witness, ...]:
    """The witnesses that somebody asks to see, each once. More than can be asked for at once are refused unread."""
    if len(notation) > _LONGEST_ASKED or notation.count(",") >= MOST_ASKED:
        raise ValueError(f"that is too much to ask for at once: give at most {MOST_ASKED} witnesses")
    return tuple(dict.fromkeys(read(notation, episode_id)))


def noted(text: str, witnesses: tuple[Witness, ...]) -> str:
    """A sentence with its witnesses behind it, as summaries write them."""
    return f"{text} [{written(witnesses)}]"


def bare(text: str) -> str:
    """A text without the witnesses that are noted in it: what is searched and embedded."""
    return _NOTED.sub("", text)


def named(text: str) -> list[str]:
    """The witnesses that are noted in a text, each once, in their notation."""
    found = [part for noted in _NOTED.findall(text) for part in noted.strip(" []").split(",")]
    return list(dict.fromkeys(found))
