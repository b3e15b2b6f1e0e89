"""What a caller asks for: filters that the stores apply, and a page of the answer."""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.ids import ItemId


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The filter keys of memory.query. A field left out does not narrow; states default to the active ones."""

    user_id: str | None = None
    agent_id: str | None = None
    project_id: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    kinds: frozenset[str] | None = None
    categories: frozenset[str] | None = None
    states: frozenset[str] = frozenset({"active"})
    pinned: bool | None = None
    core: bool | None = None
    importance_min: int | None = None
    importance_max: int | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    purge_due: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """At most `limit` rows, older than the item named in `before`. Items are listed newest first."""

    limit: int = 50
    before: ItemId | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= 1_000:
            raise ValueError(f"limit {self.limit}: give a number from 1 to 1000")
