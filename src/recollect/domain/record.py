"""Records: what care and governance keep about memories. One class per stage, so no stage can lack its fields."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.ids import ItemId, RecordId
from recollect.domain.text import name, sound


class Verdict(StrEnum):
    A_WINS = "a_wins"
    B_WINS = "b_wins"
    BOTH_VALID = "both_valid"
    MERGED = "merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Two memories that cannot both be true, as far as is known."""

    id: RecordId
    memory_a: ItemId
    memory_b: ItemId
    detected_at: datetime
    why: str = ""
    """By what it was told, in plain words."""
    confidence: float = 1.0

    def __post_init__(self) -> None:
        _told(self.why, self.confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    id: RecordId
    memory_a: ItemId
    memory_b: ItemId
    detected_at: datetime
    resolved_at: datetime
    resolution: Verdict
    resolution_note: str = ""
    why: str = ""
    confidence: float = 1.0

    def __post_init__(self) -> None:
        sound(self.resolution_note, "the note", 10_000)
        _told(self.why, self.confidence)


def _told(why: str, confidence: float) -> None:
    sound(why, "the reason", 2_000)
    if not 0 <= confidence <= 1:
        raise ValueError(f"how sure it is: a number from 0 to 1, not {confidence}")


Contradiction = Open | Resolved


class ProfileField(StrEnum):
    """Fields of a person's profile. The first four are sensitive: they need consent."""

    PREFERRED_NAME = "preferred_name"
    PRONOUNS = "pronouns"
    CITY = "city"
    LANGUAGE = "language"
    TONE = "tone"
    GOALS_ADD = "goals_add"

    @property
    def sensitive(self) -> bool:
        return self not in (ProfileField.TONE, ProfileField.GOALS_ADD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A change to a profile that waits for the person's word. It is not memory: nothing serves it."""

    id: RecordId
    user_id: str
    field: ProfileField
    value: str
    signals: int
    item_id: ItemId | None
    proposed_at: datetime
    lapses_at: datetime

    def __post_init__(self) -> None:
        sound(self.value, "the proposed value", 2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What the person said to it."""

    id: RecordId
    user_id: str
    field: ProfileField
    value: str
    signals: int
    item_id: ItemId | None
    proposed_at: datetime
    accepted: bool
    decided_by: str
    decided_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapsed:
    """Nobody answered in time."""

    id: RecordId
    user_id: str
    field: ProfileField
    item_id: ItemId | None
    proposed_at: datetime
    lapsed_at: datetime


Proposal = Pending | Decided | Lapsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A person asks to look into an agent's silo (the mechanic's exception)."""

    id: RecordId
    agent_id: str
    asked_by: str
    purpose: str
    asked_at: datetime

    def __post_init__(self) -> None:
        name(self.agent_id, "agent_id")
        if not sound(self.purpose, "the purpose", 2_000).strip():
            raise ValueError("a grant needs a purpose: say what the reading is for")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Consented, for this purpose and until this moment."""

    id: RecordId
    agent_id: str
    asked_by: str
    purpose: str
    asked_at: datetime
    given_by: str
    given_at: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Declined, revoked or run out."""

    id: RecordId
    agent_id: str
    asked_by: str
    purpose: str
    asked_at: datetime
    ended_at: datetime
    reason: str

    def __post_init__(self) -> None:
        sound(self.reason, "the reason", 10_000)


Grant = Asked | Given | Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Refining:
    """A refinement session in progress: the agent works on its own core memory."""

    id: RecordId
    agent_id: str
    started_at: datetime
    started_by: str
    tokens: int
    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """A refinement session and what came of it."""

    id: RecordId
    agent_id: str
    started_at: datetime
    started_by: str
    tokens: int
    target: int
    completed_at: datetime
    tokens_after: int
    summary: str
    consolidated: int
    updated: int
    deleted: int
    protected: int

    def __post_init__(self) -> None:
        sound(self.summary, "the summary", 10_000)


Refinement = Refining | Refined


class Retention(StrEnum):
    """What a tenant wants done with what is soft-deleted."""

    KEEP = "keep"
    PURGE = "purge"


RULES = RecordId("rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A tenant's own choices. There is one such record per tenant."""

    id: RecordId = RULES
    retention: Retention = Retention.KEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """How far a project has come. The record's id is `epoch:<project id>`."""

    id: RecordId
    project_id: str
    number: int
    advanced_at: datetime
    reason: str = ""
    mark: str = ""
    """How far the project's repository was followed, where a rule on git advances the epoch."""

    def __post_init__(self) -> None:
        name(self.project_id, "project_id")
        sound(self.reason, "the reason", 10_000)
        sound(self.mark, "the mark", 2_000)


Record = Contradiction | Proposal | Grant | Refinement | Rules | Epoch

FAMILIES: dict[type[Record], str] = {
    Open: "contradiction",
    Resolved: "contradiction",
    Pending: "proposal",
    Decided: "proposal",
    Lapsed: "proposal",
    Asked: "grant",
    Given: "grant",
    Ended: "grant",
    Refining: "refinement",
    Refined: "refinement",
    Rules: "rules",
    Epoch: "epoch",
}


def family(record: Record) -> str:
    """Which table of nouns the record belongs to, whatever its stage."""
    return FAMILIES[type(record)]


def concerns(record: Record) -> tuple[ItemId, ...]:
    """The items a record is about."""
    match record:
        case Open() | Resolved():
            return (record.memory_a, record.memory_b)
        case Pending() | Decided() | Lapsed():
            return (record.item_id,) if record.item_id else ()
        case _:
            return ()
