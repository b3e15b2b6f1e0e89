"""What a caller asks for: filters that the stores apply, and a page of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from recollect.domain.ids import ItemId, Rev, VersionId
from recollect.domain.level import Level
from recollect.domain.text import name, names, sound
from recollect.domain.turn import Mode, Reason, Task

LONGEST_QUERY = 10_000
LONGEST_SAID = 100_000


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
    topic_key: str | None = None
    without: frozenset[str] = frozenset()
    """Categories that are left out."""
    states: frozenset[str] = frozenset({"active"})
    pinned: bool | None = None
    core: bool | None = None
    importance_min: int | None = None
    importance_max: int | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    purge_due: datetime | None = None
    valid_at: datetime | None = None
    """Only what held at that time: begun by then, as it says or else when it was said, and not ended; also what a newer
    memory has replaced since. Of events, those that had happened by then."""
    current_at: datetime | None = None
    """Without what was over by that time, or begins later by its own words: what an answer is made of where no moment
    is named."""

    def __post_init__(self) -> None:
        for what in _NAMED:
            name(getattr(self, what), what)
        for what in _NAMED_SETS:
            names(getattr(self, what), what)


_NAMED = ("user_id", "agent_id", "project_id", "thread_id", "run_id", "actor_id", "role", "topic_key")
_NAMED_SETS = ("kinds", "categories", "without", "states")


@dataclass(frozen=True, slots=True)
class Page:
    """At most `limit` rows, older than the item named in `before`. Items are listed newest first."""

    limit: int = 50
    before: ItemId | None = None

    def __post_init__(self) -> None:
        name(self.before, "before")
        if not 1 <= self.limit <= 1_000:
            raise ValueError(f"limit {self.limit}: give a number from 1 to 1000")


class Form(StrEnum):
    """How long the results are."""

    BULLETS = "bullets"
    """One line each."""
    FULL = "full"
    """The whole summary and what is known about the memory."""


class Source(StrEnum):
    """Where results come from."""

    MEMORY = "memory"
    """Memories: facts and whatever else was made of the evidence."""
    EVIDENCE = "evidence"
    """The events themselves, word for word."""
    ANY = "any"
    """Memories and events together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to memory. `agent` is whose allowlist holds; `thread_id` is the conversation that asks, and gets the
    delta header. `top_k`: at most so many results; left out, as many as the budget holds.
    `threshold` is a calibrated score from 0 to 1; left out, the one that tells noise from memories holds.

    `turn_id` is the turn that the answer is for: the same question again within it is a reroll, and gets another
    context. `task` and `said`, the words of whoever answers so far, tell whether more evidence is called for; `agreed`
    says that people agree to fetch it, where `mode` is to ask them first.
    """

    text: str
    agent: str | None = None
    categories: frozenset[str] | None = None
    filters: Filters = Filters()
    top_k: int | None = None
    form: Form = Form.BULLETS
    budget_tokens: int = 512
    threshold: float | None = None
    source: Source = Source.ANY
    explain: bool = False
    thread_id: str | None = None
    turn_id: str | None = None
    task: Task = Task.ROUTINE
    said: str = ""
    mode: Mode | None = None
    agreed: bool = False

    def __post_init__(self) -> None:
        sound(self.text, "the query", LONGEST_QUERY)
        sound(self.said, "what was said", LONGEST_SAID)
        for what in ("agent", "thread_id", "turn_id"):
            name(getattr(self, what), what)
        names(self.categories, "categories")
        if not self.text.strip():
            raise ValueError("the query is blank: ask something")
        if self.top_k is not None and not 1 <= self.top_k <= 200:
            raise ValueError(f"top_k {self.top_k}: give a number from 1 to 200")
        if not 1 <= self.budget_tokens <= 100_000:
            raise ValueError(f"budget_tokens {self.budget_tokens}: give a number from 1 to 100,000")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold {self.threshold}: give a number from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One answer: a memory, an event, or a memory that is related to one of them."""

    id: str
    """The item's id, or the event's with Source.EVIDENCE."""
    category: str
    text: str
    """What is served: "[category] …" for bullets."""
    score: float
    related_to: ItemId | None = None
    meta: Mapping[str, object] = field(default_factory=dict[str, object])
    """For Form.FULL, and for events: who, when, where, how sure, what it rests on."""
    level: Level = Level.R3
    version_id: VersionId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a query is answered with. No results means that memory knows nothing about it."""

    header: tuple[str, ...] = ()
    """The delta header: its first line, then at most three bullets. Empty where nothing changed."""
    results: tuple[Result, ...] = ()
    explain: tuple[Mapping[str, object], ...] = ()
    """Per result, where it was asked for: the signals that put it there."""
    tokens: int = 0
    rev: Rev
    used_level: Level = Level.R3
    """The closest to the evidence of all that was served."""
    escalated: bool = False
    reason: Reason | None = None
    """Why more was served than by default."""
    more: bool = False
    """Whether there is more evidence to ask for."""
    turn_id: str | None = None
