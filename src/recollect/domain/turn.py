"""Turns: one answer in the making. What was served for it so far decides what is served next."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.ids import ItemId, VersionId
from recollect.domain.text import name

NEED_MORE_CONTEXT = "NEED_MORE_CONTEXT"
"""What an agent says when what it was given is not enough. It never says how much more."""


class Task(StrEnum):
    """What the answer is for. All but the first need evidence rather than summaries."""

    ROUTINE = "routine"
    AUDIT = "audit"
    QUOTE = "quote"
    DISPUTE = "dispute"


class Reason(StrEnum):
    """Why more is served than by default."""

    AUDIT = "audit"
    DISPUTE = "dispute"
    UNCERTAINTY = "uncertainty"


class Mode(StrEnum):
    """What happens when more evidence is called for."""

    A = "A"
    """It is served, and the answer says so."""
    B = "B"
    """People are asked first."""


class Mark(StrEnum):
    """What a person says about the answer of a turn."""

    REROLL = "reroll"
    INCORRECT = "incorrect"
    CORRECT = "correct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """One context that was served in a turn. `subject` is what it was about: a question, or a memory."""

    turn_id: str
    subject: str
    context: str
    items: Mapping[ItemId, VersionId | None]
    at: datetime

    def __post_init__(self) -> None:
        name(self.turn_id, "turn_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """How a turn stands, as one reader has it: `served` contexts about the subject that was asked for, and how often a
    person was not content (`bumps`)."""

    id: str
    reader: str
    served: int = 0
    bumps: int = 0
    items: Mapping[ItemId, VersionId | None]
    begun_at: datetime
