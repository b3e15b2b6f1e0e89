"""Observations: what happened around memory without changing it. Kept in their own tables, not journalled."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.ids import ItemId, RecordId, Rev, Seq, VersionId
from recollect.domain.text import name


class Use(StrEnum):
    RETRIEVED = "retrieved"
    CITED = "cited"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Used:
    """A memory was served, cited, or served and ignored; where it is known, in which of its versions."""

    item_id: ItemId
    use: Use
    at: datetime
    version_id: VersionId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operational event: what a node did, and how it ended."""

    id: RecordId
    user_id: str | None
    thread_id: str | None
    node: str
    op: str
    status: str
    memory_id: ItemId | None = None
    category: str | None = None
    sim: float | None = None
    ts: datetime

    def __post_init__(self) -> None:
        for field in ("user_id", "thread_id", "category"):
            name(getattr(self, field), field)


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a reader has been told what changed: revision, place in the journal, revision of the thread."""

    rev: Rev
    seq: Seq
    thread_rev: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """A reader was told in a thread what has changed, up to here. Cursors only move on."""

    reader: str
    thread_id: str
    cursor: Cursor

    def __post_init__(self) -> None:
        name(self.thread_id, "thread_id")


Observation = Used | Operation | Told


@dataclass(frozen=True, slots=True)
class Usage:
    """What use a memory has been so far."""

    retrieved: int = 0
    cited: int = 0
    ignored: int = 0
    last_accessed_at: datetime | None = None
