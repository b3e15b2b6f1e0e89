"""Raw evidence (R5): what was said or done, word for word. Appended, never changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import cast

from recollect.domain.ids import EventId, ItemId
from recollect.domain.moment import zoned
from recollect.domain.text import name, sound, sound_json

UNPLACED = 0
"""The sequence number of an event that the store has not placed in its thread yet."""


STATED = "stated"
"""In the meta data of an event: these words were stated to be remembered, and are a memory of their own. A thread of
nothing else tells no story, and is summed up on request alone."""


REPORTED_BY = "reported_by"
"""In the meta data of an event: who brought these words in, which are not the author's own but told of them."""


CLAIMED_AUTHOR = "claimed_author"
"""In the meta data of an event: in whose name an agent stated what is its own statement."""


MARKS = frozenset({STATED, REPORTED_BY, CLAIMED_AUTHOR})
"""What Recollect itself notes in the meta data of an event: nobody else does."""


_NAMES = ("file", "tags", "artifacts")
"""In the meta data of an event: the file that it is of, the tags of its note, the artifacts that came with it."""


class Trust(StrEnum):
    """How far content may be believed. What is derived is only as trusted as its least trusted source."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


def least_trust(of: Iterable[Trust]) -> Trust:
    """The trust of what is made of several things."""
    return Trust.UNTRUSTED if Trust.UNTRUSTED in of else Trust.TRUSTED


@dataclass(frozen=True, slots=True)
class Span:
    """A chunk of a long text: from one character to another, the end excluded."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"chunk {self.start}-{self.end}: a chunk has at least one character")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One turn, document, tool output or artifact, in the thread (episode) that owns it."""

    id: EventId
    item_id: ItemId
    seq: int = UNPLACED
    ts: datetime
    author: str
    role: str | None = None
    text: str
    trust: Trust = Trust.TRUSTED
    chunks: tuple[Span, ...] = ()
    meta: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        sound(self.text, "the text")
        name(self.author, "the author")
        name(self.role, "the role")
        zoned(self.ts, "the time")
        sound_json(self.meta, "the meta data")
        if not self.text.strip():
            raise ValueError("the text is blank: there is nothing to remember")
        if self.chunks and self.chunks[-1].end > len(self.text):
            raise ValueError("a chunk ends after its text")

    @property
    def names(self) -> tuple[str, ...]:
        """What the event is called by, besides its words: it is found by these too."""
        given = [self.meta.get(name) for name in _NAMES]
        listed = [one for value in given for one in (cast(list[object], value) if isinstance(value, list) else [value])]
        return tuple(dict.fromkeys(one for one in listed if isinstance(one, str) and one.strip()))

    def chunk(self, number: int) -> "tuple[Event, ...]":
        """The event cut down to one of its chunks, counted from 1; none where it has no such chunk."""
        if not 1 <= number <= len(self.chunks):
            return ()
        span = self.chunks[number - 1]
        return (replace(self, text=self.text[span.start : span.end], chunks=()),)
