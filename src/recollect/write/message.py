"""What comes in, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.domain.event import Trust
from recollect.domain.ids import EventId, ItemId, Rev
from recollect.domain.item import Body
from recollect.domain.text import name, names, small_json, sound
from recollect.holdings import UNWRITTEN

MOST_TAGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn, document or tool output, word for word."""

    text: str
    author: str
    role: str | None = None
    ts: datetime | None = None
    trust: Trust = Trust.TRUSTED
    meta: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        sound(self.text, "the text")  # before anything reads it
        small_json(self.meta, "the meta data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something to remember as it is said. Left out, its author is whoever states it."""

    text: str
    author: str | None = None
    body: Body | None = None
    category: str = "knowledge"
    importance: int = 3
    tags: tuple[str, ...] = ()
    trust: Trust = Trust.TRUSTED
    ts: datetime | None = None
    topic_key: str | None = None
    supersedes: ItemId | None = None
    """The memory that it takes over from; by its tags it may take over from others."""

    def __post_init__(self) -> None:
        sound(self.text, "the text")
        for text, what in (
            (self.author, "the author"),
            (self.category, "the category"),
            (self.topic_key, "topic_key"),
            (self.supersedes, "supersedes"),
        ):
            name(text, what)
        names(self.tags, "tags", MOST_TAGS)


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory, the event that bears witness to it, and the revision of the write."""

    item_id: ItemId
    event_id: EventId
    rev: Rev
    outcome: str = "created"
    """created, corroborated (it was known: one more witness) or updated (it told more, or took over)."""
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Appended:
    """The thread's episode, the events in their order, and the revision of the write."""

    episode_id: ItemId
    event_ids: tuple[EventId, ...]
    rev: Rev


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What came of messages: their events in their order (a repeat has that of the first time), how many were repeats,
    what kinds of secrets were taken out, the memories that were made or changed at once, and the revision."""

    episode_id: ItemId
    event_ids: tuple[EventId, ...]
    repeats: int
    redacted: tuple[str, ...]
    items: tuple[ItemId, ...]
    later: bool
    """Whether more is made of them by a job."""
    left_out: tuple[str, ...] = ()
    """What was worth remembering and is not, because of a cap on what one turn or day may bring."""
    rev: Rev


@dataclass(frozen=True, slots=True)
class Bulk:
    """What came of many messages."""

    threads: int = 0
    messages: int = 0
    repeats: int = 0
    redacted: tuple[str, ...] = ()
    rev: Rev = UNWRITTEN

    def and_then(self, taken: Ingested) -> "Bulk":
        return replace(
            self,
            messages=self.messages + len(taken.event_ids),
            repeats=self.repeats + taken.repeats,
            redacted=tuple(dict.fromkeys((*self.redacted, *taken.redacted))),
            rev=taken.rev,
        )
