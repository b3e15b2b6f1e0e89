"""Checkpoints: where a supervisor stands in a conversation. One per user and thread."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.ids import RecordId
from recollect.domain.text import name, sound_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    id: RecordId
    user_id: str
    thread_id: str
    checkpoint_data: Mapping[str, object]
    created_at: datetime
    updated_at: datetime

    def __post_init__(self) -> None:
        name(self.user_id, "user_id")
        name(self.thread_id, "thread_id")
        sound_json(self.checkpoint_data, "the checkpoint")
