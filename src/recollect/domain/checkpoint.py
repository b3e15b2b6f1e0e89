"""Checkpoints: where a supervisor stands in a conversation. One per user and thread."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.ids import RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    id: RecordId
    user_id: str
    thread_id: str
    checkpoint_data: Mapping[str, object]
    created_at: datetime
    updated_at: datetime
