"""What the stores are asked for and what they give: memory as it is held, found, cited and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from recollect.domain.event import Trust
from recollect.domain.ids import EventId, ItemId, RecordId, Rev, VersionId
from recollect.domain.item import Item
from recollect.domain.level import Derivation, Level
from recollect.domain.observation import Usage
from recollect.domain.portion import Spot
from recollect.domain.query import Filters
from recollect.domain.relation import Relation
from recollect.domain.scope import Sight
from recollect.domain.version import Version

UNWRITTEN = Rev(0)


@dataclass(frozen=True, slots=True)
class Held:
    """An item as the store holds it: the revision that last changed it, and whether it is withdrawn."""

    item: Item
    rev: Rev
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class Citing:
    """A live version that cites an event, with every event it cites and whether that one is live."""

    version_id: VersionId
    item_id: ItemId
    events: Mapping[EventId, bool]


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of a memory without its words: what it is, whether it is in the way, until when it held, what took
    its place, and the event that it was said in."""

    id: ItemId
    kind: str
    category: str
    state: str
    valid_to: datetime | None
    superseded_by: ItemId | None
    said_in: EventId | None


@dataclass(frozen=True, slots=True)
class Named:
    """Events that are asked for: those in ranges of sequence numbers, both ends included, and those with these ids."""

    ranges: tuple[tuple[int, int], ...] = ()
    ids: frozenset[EventId] = frozenset()


@dataclass(frozen=True, slots=True)
class Among:
    """Which events are meant: those of a thread, those that a version cites, or, with neither, all; where some are
    named, these alone."""

    thread: ItemId | None = None
    version: VersionId | None = None
    named: Named | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """An event without its words: where it stands, and how many characters it would bring along."""

    id: EventId
    item_id: ItemId
    seq: int
    size: int

    @property
    def spot(self) -> Spot:
        return Spot(self.item_id, self.seq)


@dataclass(frozen=True, slots=True)
class Extent:
    """The places of a thread that have an event, how many tokens these have, and whether all of them are trusted."""

    places: frozenset[int]
    tokens: int
    trust: Trust


@dataclass(frozen=True, slots=True)
class VersionOutline:
    """What is known of a version without its words. `tokens` of an R5 are those of the events that it stands for."""

    id: VersionId
    level: Level
    created_at: datetime
    derivation: Derivation | None
    derived_from: VersionId | None
    quality_score: float | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Rooted:
    """The content of some items and events and all that was derived from it, withdrawn or not.

    `hollow`: further items with a version among them. Their own fields may hold the same words. Episodes that have
    events stay.
    """

    versions: frozenset[VersionId]
    events: frozenset[EventId]
    hollow: frozenset[ItemId]


@dataclass(frozen=True, slots=True)
class Kept:
    """A user's items, checkpoints and proposals."""

    items: frozenset[ItemId] = frozenset()
    checkpoints: frozenset[RecordId] = frozenset()
    proposals: frozenset[RecordId] = frozenset()


@dataclass(frozen=True, slots=True)
class Vector:
    """The embedding of an event or a version: derived data that follows its text."""

    embedder: str
    ref: str
    values: bytes


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a write with an idempotency key, kept for a repeat of it. It holds ids, never content."""

    key: str
    digest: str
    answer: str
    rev: Rev = UNWRITTEN
    """The revision of the write; the store fills it in."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit of the text index: an event or a version, its item, and the engine's own score (higher is better)."""

    ref: str
    item_id: ItemId
    score: float


@dataclass(frozen=True, slots=True)
class Listed:
    """The categories on the asker's list, all where `categories` is None, and those that it leaves out. `evidence`: the
    list holds what was said in threads and no memory was made of."""

    categories: frozenset[str] | None
    without: frozenset[str]
    evidence: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a query looks for in the store: words, a vector, or both, among the events or the items that pass.

    `filters` and `sight` are enforced by the store. For events the filters are about the episode that owns them, but
    for `role`, which is the event's own. `vector` is of the embedder of that name. What a list keeps from the asker is
    neither proposed nor counted; whoever shows what was found asks the category rule.
    """

    words: Sequence[str] = ()
    vector: bytes | None = None
    embedder: str | None = None
    filters: Filters
    sight: Sight
    listed: Listed | None = None
    """None: every category."""
    limit: int = 200


class Hit(NamedTuple):
    """A live event, or the R3 version of a live item, that a query found.

    `text`: the score of the text index (higher is better, comparable within one answer), None where no word matched.
    `cosine`: of the vectors; of the best chunk of a long event. None where there is no vector of it, or where it was
    out of the vector index's reach.
    """

    ref: str
    item_id: ItemId
    ts: datetime
    """When the event happened; for an item, when it was last updated."""
    text: float | None = None
    cosine: float | None = None
    seq: int = 0
    """The event's place in its thread; 0 for an item."""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Hits:
    """What was found, best text scores and best cosines united, and how common the words are.

    `documents` and `frequency` count the texts that the asker may read; they may be estimates.
    """

    hits: Sequence[Hit]
    documents: int
    frequency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Known:
    """What ranking asks about some items: the R3 that speaks for each, their edges, what use they were, and what
    contradicts those that an open contradiction is about. All of one moment."""

    speaking: Mapping[ItemId, tuple[Held, Version]]
    edges: Sequence[Relation]
    usage: Mapping[ItemId, Usage]
    contested: Mapping[ItemId, frozenset[ItemId]]


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of something erased."""

    ref: str
    at: datetime
