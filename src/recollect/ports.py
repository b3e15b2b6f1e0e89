"""The ports. Behind `Store` stand SQLite and PostgreSQL; one conformance suite holds for both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from recollect.domain.change import Change
from recollect.domain.checkpoint import Checkpoint
from recollect.domain.embedding import Profile
from recollect.domain.event import Event
from recollect.domain.ids import CauseId, EventId, ItemId, RecordId, Rev, Seq, TenantId, VersionId
from recollect.domain.item import Item, Visibility
from recollect.domain.job import Job, JobStatus, Leased, Step
from recollect.domain.journal import Entry, Head
from recollect.domain.observation import Cursor, Observation, Operation, Usage
from recollect.domain.prompt import Prompt
from recollect.domain.query import Filters, Page
from recollect.domain.record import Record
from recollect.domain.relation import Relation
from recollect.domain.scope import Actor, Scope, Sight
from recollect.domain.turn import Mark, Serving, Turn
from recollect.domain.version import Version

UNWRITTEN = Rev(0)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Held:
    """An item as the store holds it: the revision that last changed it, and whether it is withdrawn."""

    item: Item
    rev: Rev
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class Citing:
    """A live version that cites an event, with every event it cites and whether that one is live."""

    version_id: VersionId
    item_id: ItemId
    events: Mapping[EventId, bool]


@dataclass(frozen=True, slots=True)
class Rooted:
    """The content of some items and events and all that was derived from it, withdrawn or not.

    `hollow`: further items with a version among them. Their own fields may hold the same words. Episodes that have
    events stay.
    """

    versions: frozenset[VersionId]
    events: frozenset[EventId]
    hollow: frozenset[ItemId]


@dataclass(frozen=True, slots=True)
class Kept:
    """A user's items, checkpoints and proposals."""

    items: frozenset[ItemId] = frozenset()
    checkpoints: frozenset[RecordId] = frozenset()
    proposals: frozenset[RecordId] = frozenset()


@dataclass(frozen=True, slots=True)
class Vector:
    """The embedding of an event or a version: derived data that follows its text."""

    embedder: str
    ref: str
    values: bytes


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a write with an idempotency key, kept for a repeat of it. It holds ids, never content."""

    key: str
    digest: str
    answer: str
    rev: Rev = UNWRITTEN
    """The revision of the write; the store fills it in."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit of the text index: an event or a version, its item, and the engine's own score (higher is better)."""

    ref: str
    item_id: ItemId
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a query looks for in the store: words, a vector, or both, among the events or the items that pass.

    `filters` and `sight` are enforced by the store. For events the filters are about the episode that owns them, but
    for `role`, which is the event's own. `vector` is of the embedder of that name.
    """

    words: Sequence[str] = ()
    vector: bytes | None = None
    embedder: str | None = None
    filters: Filters
    sight: Sight
    limit: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A live event, or the R3 version of a live item, that a query found.

    `text`: the score of the text index (higher is better, comparable within one answer), None where no word matched.
    `cosine`: of the vectors; of the best chunk of a long event. None where there is no vector of it, or where it was
    out of the vector index's reach.
    """

    ref: str
    item_id: ItemId
    text: float | None = None
    cosine: float | None = None
    seq: int = 0
    """The event's place in its thread; 0 for an item."""
    ts: datetime
    """When the event happened; for an item, when it was last updated."""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Hits:
    """What was found, best text scores and best cosines united, and how common the words are.

    `documents` and `frequency` count the texts of the whole index; they may be estimates.
    """

    hits: Sequence[Hit]
    documents: int
    frequency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Known:
    """What ranking asks about some items: the R3 that speaks for each, their edges, what use they were, and which of
    them an open contradiction is about. All of one moment."""

    speaking: Mapping[ItemId, tuple[Held, Version]]
    edges: Sequence[Relation]
    usage: Mapping[ItemId, Usage]
    contested: frozenset[ItemId]


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of something erased."""

    ref: str
    at: datetime


class Erasures(Protocol):
    """The list of erasures, kept outside the store so that an old copy cannot bring back what was erased."""

    def add(self, chain_id: str, refs: Sequence[str], at: datetime) -> None:
        """Durable before it returns."""
        ...

    def take_back(self, chain_id: str, refs: Sequence[str], at: datetime) -> None:
        """The erasure that was listed last did not come about: what it named is still in the store."""
        ...

    def of(self, chain_id: str) -> frozenset[str]: ...


class Seal(Protocol):
    """Signs what leaves the house."""

    def sign(self, message: bytes) -> bytes: ...

    def public_key(self) -> bytes: ...

    def valid(self, message: bytes, signature: bytes, public_key: bytes) -> bool: ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name under which its vectors are kept: another model, or another build of it, has another name."""
        ...

    @property
    def profile(self) -> Profile: ...

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """One vector of unit length per text, as little-endian floats of four bytes. Raises ModelFailed."""
        ...


class Writer(Protocol):
    """A language model that answers a prompt in the form that the prompt asks for, or fails."""

    def write(self, prompt: Prompt[T], *, tenant: TenantId) -> T:
        """The answer, checked against the prompt's form. Raises ModelFailed; nothing else comes out of it."""
        ...


class Store(Protocol):
    """Where memory rests. `apply` is the only way to change it."""

    # -- the door -----------------------------------------------------------------------------------------
    def apply(
        self,
        scope: Scope,
        changes: Sequence[Change],
        *,
        actor: Actor,
        at: datetime,
        cause: CauseId | None = None,
        expect: Mapping[ItemId, Rev] = ...,
        then: Sequence[Job] = (),
        vectors: Sequence[Vector] = (),
        step: Step | None = None,
        receipt: Receipt | None = None,
    ) -> Rev:
        """Write rows, indexes, journal and follow-up jobs and bump the revision: all of it, or nothing.

        Raises Stale when an item in `expect`, or a value that a change says was there before, has moved on.
        """
        ...

    # -- the side doors -----------------------------------------------------------------------------------
    def observe(self, tenant: TenantId, observations: Sequence[Observation]) -> None:
        """Count uses and keep operational events. Not journalled."""
        ...

    def cursor(self, tenant: TenantId, reader: str, thread_id: str) -> Cursor | None:
        """How far a reader was told in a thread what has changed; None where it never was. Moved on by observing
        Told."""
        ...

    def turn(self, tenant: TenantId, reader: str, turn_id: str, subject: str | None) -> Turn | None:
        """How a turn of this reader stands, with the contexts it was served about the subject, or about all of them;
        None for a new one."""
        ...

    def serve(self, tenant: TenantId, reader: str, serving: Serving) -> bool:
        """Keep that a context is served in a turn. False, with nothing kept, where the turn was served the same words
        before: whoever serves looks for others. Subject and context are kept as fingerprints, never as words."""
        ...

    def mark(self, tenant: TenantId, reader: str, turn_id: str, mark: Mark, at: datetime) -> Turn | None:
        """Keep what a person says about a turn; None where this reader has no such turn."""
        ...

    def save_checkpoint(self, scope: Scope, checkpoint: Checkpoint, *, actor: Actor) -> None:
        """Keep a supervisor's checkpoint; the journal gets a header with its digest, and no body."""
        ...

    def checkpoint(self, tenant: TenantId, user_id: str, thread_id: str) -> Checkpoint | None: ...

    # -- tenants ------------------------------------------------------------------------------------------
    def create_tenant(self, tenant: TenantId, *, at: datetime) -> bool:
        """Make room for a tenant; False when it is there already."""
        ...

    def tenants(self) -> Sequence[TenantId]: ...

    def head(self, tenant: TenantId) -> Head: ...

    # -- reading memory -----------------------------------------------------------------------------------
    def item(self, tenant: TenantId, item_id: ItemId) -> Held | None:
        """An item, withdrawn or not. None when it never was or is erased."""
        ...

    def items(self, tenant: TenantId, filters: Filters, sight: Sight, page: Page) -> Sequence[Held]:
        """Live items within sight, newest first."""
        ...

    def silos(self, tenant: TenantId) -> Sequence[str]:
        """The agents that keep memories in a silo of their own."""
        ...

    def named(self, tenant: TenantId, ending: str, sight: Sight) -> Sequence[ItemId]:
        """Items, withdrawn or not, whose id ends like this: how people abbreviate ids."""
        ...

    def thread(self, scope: Scope, visibility: Visibility) -> Held | None:
        """The episode that owns the events of the scope's thread. Threads of one name that are seen by others are
        threads of their own."""
        ...

    def versions(self, tenant: TenantId, item_id: ItemId, *, withdrawn: bool = False) -> Sequence[Version]:
        """The live versions of an item, oldest first; with `withdrawn`, the hidden ones too."""
        ...

    def rooted(self, tenant: TenantId, items: Sequence[ItemId], events: Sequence[EventId]) -> "Rooted":
        """Everything that would fall with these items and events, withdrawn or not."""
        ...

    def events(
        self, tenant: TenantId, item_id: ItemId, first: int = 1, last: int | None = None, limit: int = 1000
    ) -> Sequence[Event]:
        """The live events of an episode by sequence number."""
        ...

    def latest(self, tenant: TenantId, item_id: ItemId, count: int) -> Sequence[Event]:
        """The last live events of an episode, in their order."""
        ...

    def unembedded(self, tenant: TenantId, embedder: str, item_id: ItemId, count: int) -> Sequence[Event]:
        """Live events of an episode that have no vector of this embedder yet, in their order."""
        ...

    def extracted_since(self, tenant: TenantId, user_id: str, since: datetime, most: int) -> int:
        """How many memories were made of a user's messages since then, counted no further than `most`."""
        ...

    def events_by_id(self, tenant: TenantId, ids: Sequence[EventId], *, withdrawn: bool = False) -> Sequence[Event]:
        """Live events, in the order of their threads; with `withdrawn`, the hidden ones too."""
        ...

    def cited(self, tenant: TenantId, versions: Sequence[VersionId], *, withdrawn: bool = False) -> Sequence[Event]:
        """The live events that these versions cite, in the order of their threads; with `withdrawn`, the hidden ones
        too."""
        ...

    def kept_for(self, tenant: TenantId, user_id: str) -> "Kept":
        """What is kept for a user, withdrawn or not."""
        ...

    def citing(self, tenant: TenantId, events: Sequence[EventId]) -> Sequence[Citing]: ...

    def relations(self, tenant: TenantId, item_id: ItemId) -> Sequence[Relation]: ...

    def records(self, tenant: TenantId, family: str) -> Sequence[Record]: ...

    def record(self, tenant: TenantId, family: str, record_id: RecordId) -> Record | None: ...

    def usage(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, Usage]: ...

    def version_usage(self, tenant: TenantId, versions: Sequence[VersionId]) -> Mapping[VersionId, Usage]:
        """What use each of these versions has been so far; those never used are left out."""
        ...

    def contested(self, tenant: TenantId, items: Sequence[ItemId]) -> frozenset[ItemId]:
        """Those of these items that are part of a contradiction that nobody has resolved."""
        ...

    def operations(self, tenant: TenantId, limit: int = 100) -> Sequence[Operation]: ...

    def counts(self, tenant: TenantId) -> Mapping[tuple[str, str, str], int]:
        """Operational events by (node, op, status)."""
        ...

    def tombstones(self, tenant: TenantId, refs: Sequence[str] | None = None) -> Sequence[Tombstone]:
        """What was erased; of these things alone where they are named."""
        ...

    def search(self, tenant: TenantId, words: Sequence[str], sight: Sight, limit: int = 20) -> Sequence[Found]:
        """Live events and versions in sight that hold any of the words, best first."""
        ...

    def find_events(self, tenant: TenantId, wanted: Wanted) -> Hits:
        """Events for a query. States and categories of the filters are not asked of the episodes that own them."""
        ...

    def find_items(self, tenant: TenantId, wanted: Wanted) -> Hits:
        """Items for a query, by the R3 that speaks for each."""
        ...

    def speaking(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, tuple[Held, Version]]:
        """Live items with the R3 that speaks for each: the promoted one, else the newest."""
        ...

    def known(self, tenant: TenantId, items: Sequence[ItemId]) -> Known:
        """`speaking`, `edges`, `usage` and `contested` of these items, in one look."""
        ...

    def edges(self, tenant: TenantId, items: Sequence[ItemId]) -> Sequence[Relation]:
        """The edges from or to any of these items, strongest first."""
        ...

    def near_events(self, tenant: TenantId, places: Sequence[tuple[ItemId, int]]) -> Sequence[Event]:
        """The live events at these places, each the id of an episode and a sequence number."""
        ...

    def repeats(self, tenant: TenantId, item_id: ItemId, texts: Sequence[str]) -> Mapping[str, Sequence[Event]]:
        """The live events of an episode that have exactly these texts."""
        ...

    def witness_counts(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, int]:
        """How many different live events bear witness to each of these items."""
        ...

    # -- reading the journal ------------------------------------------------------------------------------
    def entries(
        self,
        tenant: TenantId,
        *,
        after: Seq = ...,
        rev_after: Rev | None = None,
        scope: Scope | None = None,
        cause: CauseId | None = None,
        refs: Sequence[str] | None = None,
        seqs: Sequence[Seq] | None = None,
        limit: int | None = None,
    ) -> Sequence[Entry]:
        """Entries in order. `refs` keeps those that name any of these things; `scope` those of its ids."""
        ...

    def thread_rev(self, scope: Scope) -> int:
        """How often the scope's thread was written to."""
        ...

    def receipt(self, tenant: TenantId, actor: str, key: str) -> Receipt | None: ...

    # -- jobs ---------------------------------------------------------------------------------------------
    def claim(self, worker: str, *, now: datetime, lease: timedelta, kinds: Sequence[str], cap: int) -> Leased | None:
        """The next job that is due, held for this worker; never more than `cap` of one tenant at a time."""
        ...

    def renew(self, leased: Leased, *, now: datetime, lease: timedelta) -> bool:
        """Hold on to a job for longer; False when it was lost."""
        ...

    def give_up(self, leased: Leased, *, error: str, now: datetime, retry_at: datetime | None) -> None:
        """A step failed: try again at that time, or never. A recurring job starts anew at its next time instead."""
        ...

    def enqueue(self, tenant: TenantId, jobs: Sequence[Job]) -> None: ...

    def jobs(self, tenant: TenantId) -> Sequence[JobStatus]: ...

    def tidy(self, tenant: TenantId, *, before: datetime) -> int:
        """Forget receipts, turns, and jobs that were done, from before then: how many. Memory is not touched."""
        ...

    # -- whole stores -------------------------------------------------------------------------------------
    def dump(self, tenant: TenantId) -> Iterator[Mapping[str, object]]:
        """Everything of a tenant, row by row, from one moment; enough to build it again on any engine."""
        ...

    def load(self, tenant: TenantId, rows: Iterable[Mapping[str, object]]) -> None:
        """Build a tenant from a dump. The tenant must not exist yet."""
        ...

    def state(self, tenant: TenantId) -> Iterator[Mapping[str, object]]:
        """Live items, versions, events, relations and contradictions, in one order that depends on nothing else."""
        ...

    def backup(self, target: Path) -> None:
        """A whole, consistent copy while others read and write."""
        ...

    def scrub(self) -> bool:
        """Remove what is left of erased content in logs and free pages; False when others hold it up for now."""
        ...

    def integrity(self) -> Sequence[str]:
        """What the engine itself finds wrong. Empty is well."""
        ...

    def close(self) -> None: ...
