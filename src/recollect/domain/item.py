"""Items: the memories themselves, whatever their length at the moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.event import Trust
from recollect.domain.ids import ItemId, VersionId
from recollect.domain.level import Level
from recollect.domain.moment import zoned
from recollect.domain.text import name, sound, sound_json

LONGEST_VALUE = 2_000


@dataclass(frozen=True, slots=True)
class Fact:
    """An atomic statement: key, value, what it applies to, how sure it is."""

    key: str | None = None
    value: str | None = None
    scope: str | None = None
    confidence: float = 1.0

    def __post_init__(self) -> None:
        for text, what in ((self.key, "key"), (self.value, "value"), (self.scope, "scope")):
            if text is not None:
                sound(text, f"a fact's {what}", LONGEST_VALUE)
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence {self.confidence}: give a number from 0 to 1")


class ArtifactType(StrEnum):
    COMMIT = "commit"
    PR = "pr"
    ADR = "adr"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Artifact:
    type: ArtifactType
    ref: str

    def __post_init__(self) -> None:
        name(self.ref, "an artifact's reference")


@dataclass(frozen=True, slots=True)
class Episode:
    """A thread of events and what came of it."""

    title: str = ""
    artifacts: tuple[Artifact, ...] = ()

    def __post_init__(self) -> None:
        sound(self.title, "a title", 2_000)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A code template taken from syntax trees."""

    trigger: str
    template: Mapping[str, object]
    hint: str

    def __post_init__(self) -> None:
        sound(self.trigger, "a pattern's trigger")
        sound_json(self.template, "a pattern's template")
        sound(self.hint, "a pattern's hint")


@dataclass(frozen=True, slots=True)
class Workflow:
    """Steps that worked, and when to take them (procedural memory)."""

    trigger: str
    steps: tuple[str, ...]
    hint: str
    details: Mapping[str, object]

    def __post_init__(self) -> None:
        for text, what in ((self.trigger, "trigger"), (self.hint, "hint"), *((step, "step") for step in self.steps)):
            sound(text, f"a workflow's {what}")
        sound_json(self.details, "a workflow's details")


@dataclass(frozen=True, slots=True)
class Insight:
    """Something inferred about people and how they work together."""


@dataclass(frozen=True, slots=True)
class Journal:
    """What an agent wrote down about its own upkeep."""


Body = Fact | Episode | Pattern | Workflow | Insight | Journal


def kind(body: Body) -> str:
    """The kind of memory in one word, as routes and tables spell it."""
    return type(body).__name__.lower()


KINDS = frozenset(made.__name__.lower() for made in (Fact, Episode, Pattern, Workflow, Insight, Journal))
PROCEDURAL = frozenset({"pattern", "workflow"})
"""How something is done: served to who asks for it."""


class Visibility(StrEnum):
    USER_PRIVATE = "user-private"
    PROJECT_SHARED = "project-shared"
    SYSTEM = "system"
    AGENT_SILO = "agent-silo"


@dataclass(frozen=True, slots=True)
class Active:
    """In default retrieval."""


@dataclass(frozen=True, slots=True)
class Archived:
    """Out of default retrieval, still searchable, can be escalated."""

    at: datetime
    reason: str = ""

    def __post_init__(self) -> None:
        sound(self.reason, "the reason", 10_000)


@dataclass(frozen=True, slots=True)
class Expired:
    """Shown only on explicit request."""

    at: datetime
    reason: str = ""

    def __post_init__(self) -> None:
        sound(self.reason, "the reason", 10_000)


@dataclass(frozen=True, slots=True)
class SoftDeleted:
    """Hidden; erased after `purge_at` only where the tenant chose to purge."""

    at: datetime
    purge_at: datetime
    reason: str = ""

    def __post_init__(self) -> None:
        sound(self.reason, "the reason", 10_000)


State = Active | Archived | Expired | SoftDeleted
STATES: Mapping[type[State], str] = {
    Active: "active",
    Archived: "archived",
    Expired: "expired",
    SoftDeleted: "soft_deleted",
}

ANY_STATE = frozenset(STATES.values())


class LockReason(StrEnum):
    MANUAL_PROMOTE = "manual-promote"
    DISPUTE = "dispute"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Lock:
    """Keeps the active version from being compressed while somebody works with it."""

    until: datetime
    reason: LockReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A memory: whose it is, what it is about, how it may be served. Its words are in its versions."""

    id: ItemId
    body: Body
    category: str
    visibility: Visibility
    user_id: str | None = None
    agent_id: str | None = None
    project_id: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    topic_key: str | None = None
    importance: int = 3
    tags: tuple[str, ...] = ()
    trust: Trust = Trust.TRUSTED
    private: bool = False
    core: bool = False
    constitutional: bool = False
    state: State = Active()
    default_level: Level = Level.R3
    active_version_id: VersionId | None = None
    pinned_min_level: Level | None = None
    lock: Lock | None = None
    project_epoch: int = 0
    origin_at: datetime
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: ItemId | None = None
    superseded_by: ItemId | None = None

    def __post_init__(self) -> None:
        for field in (
            "user_id",
            "agent_id",
            "project_id",
            "thread_id",
            "run_id",
            "actor_id",
            "role",
            "topic_key",
        ):
            name(getattr(self, field), field)
        name(self.category, "the category")
        for tag in self.tags:
            name(tag, "a tag")
        for field in ("origin_at", "created_at", "updated_at", "valid_from", "valid_to"):
            zoned(getattr(self, field), field)
        if not 1 <= self.importance <= 5:
            raise ValueError(f"importance {self.importance}: give a whole number from 1 to 5")
        match self.visibility:
            case Visibility.USER_PRIVATE if self.user_id is None:
                raise ValueError("a user-private memory needs a user_id")
            case Visibility.PROJECT_SHARED if self.project_id is None:
                raise ValueError("a project-shared memory needs a project_id")
            case Visibility.AGENT_SILO if self.agent_id is None:
                raise ValueError("a memory in an agent's silo needs an agent_id")
            case _:
                pass
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError("valid_to lies before valid_from")

    @property
    def kind(self) -> str:
        return kind(self.body)

    @property
    def names(self) -> tuple[str, ...]:
        """What the memory is called by, besides its words: it is found by these too."""
        artifacts = self.body.artifacts if isinstance(self.body, Episode) else ()
        return tuple(dict.fromkeys((*self.tags, *(artifact.ref for artifact in artifacts))))

    @property
    def pinned(self) -> bool:
        return self.pinned_min_level is not None
