"""Edges between items: one per ordered pair."""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.ids import ItemId, RecordId
from recollect.domain.text import name


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    id: RecordId
    from_id: ItemId
    to_id: ItemId
    relation_type: str = "related_to"
    strength: float
    created_at: datetime

    def __post_init__(self) -> None:
        name(self.relation_type, "relation_type")
        if self.from_id == self.to_id:
            raise ValueError("a memory is not related to itself")
        if not 0 <= self.strength <= 1:
            raise ValueError(f"strength {self.strength}: give a number from 0 to 1")
