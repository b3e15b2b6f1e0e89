"""Observations: what happened around memory without changing it. Kept in their own tables, not journalled."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.ids import ItemId, RecordId


class Use(StrEnum):
    RETRIEVED = "retrieved"
    CITED = "cited"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Used:
    """A memory was served, cited, or served and ignored."""

    item_id: ItemId
    use: Use
    at: datetime


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


Observation = Used | Operation


@dataclass(frozen=True, slots=True)
class Usage:
    """What use a memory has been so far."""

    retrieved: int = 0
    cited: int = 0
    ignored: int = 0
    last_accessed_at: datetime | None = None
