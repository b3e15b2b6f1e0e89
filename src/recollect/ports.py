"""The ports. Behind `Store` stand SQLite and PostgreSQL; one conformance suite holds for both."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from recollect.domain.change import Change
from recollect.domain.checkpoint import Checkpoint
from recollect.domain.embedding import Profile
from recollect.domain.event import Event
from recollect.domain.examination import Examined
from recollect.domain.ids import CauseId, EventId, ItemId, RecordId, Rev, Seq, TenantId, VersionId
from recollect.domain.item import Visibility
from recollect.domain.job import Job, JobStatus, Leased, Step
from recollect.domain.journal import Entry, Head
from recollect.domain.judgement import Chances, Heard, Weighed
from recollect.domain.observation import Cursor, Observation, Operation, Usage
from recollect.domain.portion import Spot
from recollect.domain.prompt import Prompt
from recollect.domain.query import Filters, Page
from recollect.domain.record import Contradiction, Open, Record
from recollect.domain.relation import Relation
from recollect.domain.scope import EVERYBODY, Actor, Readers, Scope, Sight
from recollect.domain.turn import Mark, Serving, Turn
from recollect.domain.version import Version
from recollect.holdings import (
    Among,
    Citing,
    Extent,
    Found,
    Held,
    Hits,
    Kept,
    Known,
    Outline,
    Placed,
    Receipt,
    Rooted,
    Tombstone,
    Vector,
    VersionOutline,
    Wanted,
)

T = TypeVar("T")


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


class Judge(Protocol):
    """Compares statements without a language model."""

    @property
    def name(self) -> str: ...

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Chances]:
        """How the second statement of each pair stands to the first. Raises ModelFailed."""
        ...


class Keeper(Protocol):
    """Weighs what was said without a language model."""

    @property
    def name(self) -> str: ...

    def weigh(self, turns: Sequence[Heard]) -> Sequence[Sequence[Weighed]]:
        """What each sentence of each turn is worth. Raises ModelFailed."""
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
        private: Sequence[EventId] = (),
        step: Step | None = None,
        receipt: Receipt | None = None,
    ) -> Rev:
        """Write rows, indexes, journal and follow-up jobs and bump the revision: all of it, or nothing.

        `private`: events, of this write or earlier ones, whose words are for those alone who took part in their thread;
        where the thread is not shared that says nothing. Like vectors it is not journalled.

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

    def turns_of(self, tenant: TenantId, readers: str, turn_id: str) -> Sequence[Turn]:
        """How the turns of this name stand, of all readers that begin so."""
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

    def items_by_id(self, tenant: TenantId, ids: Sequence[ItemId]) -> Sequence[Held]:
        """These items, withdrawn or not, as far as there are any."""
        ...

    def items(self, tenant: TenantId, filters: Filters, sight: Sight, page: Page) -> Sequence[Held]:
        """Live items within sight, newest first."""
        ...

    def silos(self, tenant: TenantId) -> Sequence[str]:
        """The agents that keep memories in a silo of their own."""
        ...

    def named(
        self,
        tenant: TenantId,
        ending: str,
        sight: Sight,
        *,
        categories: frozenset[str] | None = None,
        without: frozenset[str] = frozenset(),
    ) -> Sequence[ItemId]:
        """Items of these categories, withdrawn or not, whose id ends like this: how people abbreviate ids. The first 20
        of them."""
        ...

    def named_events(
        self, tenant: TenantId, ending: str, sight: "Sight", *, after: str = "", limit: int = 20
    ) -> Sequence[EventId]:
        """Live events of threads in sight whose id ends so, in the order of their ids; behind one of them."""
        ...

    def thread(self, scope: Scope, visibility: Visibility) -> Held | None:
        """The episode that owns the events of the scope's thread. Threads of one name that are seen by others are
        threads of their own."""
        ...

    # Here and below, `readers` leaves out what holds private words that are not for them.
    def versions(
        self,
        tenant: TenantId,
        item_id: ItemId,
        *,
        withdrawn: bool = False,
        readers: Readers = None,
        abridged: bool = False,
        only: VersionId | None = None,
    ) -> Sequence[Version]:
        """The live versions of an item, oldest first; with `withdrawn`, the hidden ones too. `abridged`: of clean logs,
        which together are as long as their thread, only the beginning, but for a promoted one. `only`: this one."""
        ...

    def version_outlines(
        self, tenant: TenantId, item_id: ItemId, *, readers: Readers = None
    ) -> Sequence[VersionOutline]:
        """The live versions of an item, oldest first, without their words."""
        ...

    def withheld(self, tenant: TenantId, refs: Sequence[str], readers: Readers) -> frozenset[str]:
        """Those of these items (i:), versions (v:) and events (e:), withdrawn or not, that hold private words which are
        not for these readers. Of an item, the words of the version that speaks for it count; a thread is held back as
        a whole only where it is marked as private itself."""
        ...

    def rooted(self, tenant: TenantId, items: Sequence[ItemId], events: Sequence[EventId]) -> "Rooted":
        """Everything that would fall with these items and events, withdrawn or not."""
        ...

    def events(
        self,
        tenant: TenantId,
        item_id: ItemId,
        first: int = 1,
        last: int | None = None,
        limit: int = 1000,
        *,
        readers: Readers = None,
    ) -> Sequence[Event]:
        """The live events of an episode by sequence number."""
        ...

    def placed_events(
        self, tenant: TenantId, among: Among, *, after: Spot | None = None, limit: int, readers: Readers = None
    ) -> Sequence[Placed]:
        """The live events that are meant, without their words, by thread and sequence number, behind a place."""
        ...

    def extent(self, tenant: TenantId, item_id: ItemId, *, readers: Readers = None) -> Extent:
        """The live events of an episode, counted and not read."""
        ...

    def latest(self, tenant: TenantId, item_id: ItemId, count: int, *, readers: Readers = None) -> Sequence[Event]:
        """The last live events of an episode, in their order."""
        ...

    def unembedded(self, tenant: TenantId, embedder: str, item_id: ItemId, count: int) -> Sequence[Event]:
        """Live events of an episode that have no vector of this embedder yet, in their order."""
        ...

    def extracted_since(self, tenant: TenantId, user_id: str, since: datetime, most: int) -> int:
        """How many memories were made of a user's messages since then, counted no further than `most`."""
        ...

    def events_by_id(
        self, tenant: TenantId, ids: Sequence[EventId], *, withdrawn: bool = False, readers: Readers = None
    ) -> Sequence[Event]:
        """Live events, in the order of their threads; with `withdrawn`, the hidden ones too."""
        ...

    def cited(
        self, tenant: TenantId, versions: Sequence[VersionId], *, withdrawn: bool = False, readers: Readers = None
    ) -> Sequence[Event]:
        """The live events that these versions cite, in the order of their threads; with `withdrawn`, the hidden ones
        too."""
        ...

    def kept_for(self, tenant: TenantId, user_id: str) -> "Kept":
        """What is kept for a user, withdrawn or not."""
        ...

    def citing(self, tenant: TenantId, events: Sequence[EventId]) -> Sequence[Citing]: ...

    def outlines(
        self, tenant: TenantId, events: Sequence[EventId], *, readers: Readers = None
    ) -> Mapping[EventId, Sequence[Outline]]:
        """The live memories that cite each of these events, threads apart, as far as these readers may see them."""
        ...

    def relations(self, tenant: TenantId, item_id: ItemId) -> Sequence[Relation]: ...

    def records(self, tenant: TenantId, family: str) -> Sequence[Record]: ...

    def record(self, tenant: TenantId, family: str, record_id: RecordId) -> Record | None: ...

    def usage(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, Usage]: ...

    def version_usage(self, tenant: TenantId, versions: Sequence[VersionId]) -> Mapping[VersionId, Usage]:
        """What use each of these versions has been so far; those never used are left out."""
        ...

    def replaced(self, tenant: TenantId, by: Sequence[ItemId]) -> Sequence[Held]:
        """Live items that one of these took over from."""
        ...

    def contradictions(self, tenant: TenantId, items: Sequence[ItemId]) -> Sequence[Contradiction]:
        """Contradictions on record, open or resolved, that one of these items is part of."""
        ...

    def open_contradictions(self, tenant: TenantId, after: RecordId | None, limit: int) -> Sequence[Open]:
        """Contradictions that nobody has resolved, in the order of their ids, behind the one that is named."""
        ...

    def contested(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, frozenset[ItemId]]:
        """Those of these items that are part of a contradiction that nobody has resolved, each with what contradicts
        it."""
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

    def speaking(
        self, tenant: TenantId, items: Sequence[ItemId], *, readers: Readers = None
    ) -> Mapping[ItemId, tuple[Held, Version]]:
        """Live items with the R3 that speaks for each: the promoted one, else the newest."""
        ...

    def known(
        self,
        tenant: TenantId,
        items: Sequence[ItemId],
        *,
        sight: Sight = EVERYBODY,
        categories: frozenset[str] | None = None,
        without: frozenset[str] = frozenset(),
    ) -> Known:
        """`speaking`, `edges`, `usage` and `contested` of these items, in one look. Of the edges those to memories in
        sight, of these categories: what may not be read weighs nothing."""
        ...

    def edges(self, tenant: TenantId, items: Sequence[ItemId]) -> Sequence[Relation]:
        """The edges from or to any of these items, strongest first."""
        ...

    def near_events(
        self, tenant: TenantId, places: Sequence[tuple[ItemId, int]], *, readers: Readers = None
    ) -> Sequence[Event]:
        """The live events at these places, each the id of an episode and a sequence number."""
        ...

    def repeats(self, tenant: TenantId, item_id: ItemId, texts: Sequence[str]) -> Mapping[str, Sequence[Event]]:
        """The live events of an episode that have exactly these texts."""
        ...

    def quoted_since(self, tenant: TenantId) -> datetime | None:
        """When the first version was made that quotes somebody, withdrawn or not; None where none ever was."""
        ...

    def witness_counts(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, int]:
        """How many different live events that are not private bear witness to each of these items."""
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
        blind: bool = False,
    ) -> Sequence[Entry]:
        """Entries in order. `refs` keeps those that name any of these things; `scope` those of its ids. `blind`:
        without their bodies, which are not read then."""
        ...

    def entry_sizes(
        self, tenant: TenantId, refs: Sequence[str], *, after: Seq, limit: int
    ) -> Sequence[tuple[Seq, int]]:
        """The entries that name any of these things, behind one of them, each with the characters of its body."""
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

    def jobs(self, tenant: TenantId, *, open_only: bool = False, key: str | None = None) -> Sequence[JobStatus]:
        """How the jobs stand; with `open_only`, without those that are done; with `key`, those about this alone."""
        ...

    def tidy(self, tenant: TenantId, *, before: datetime) -> int:
        """Forget receipts, turns, and jobs that were done, from before then: how many. Memory is not touched."""
        ...

    # -- whole stores -------------------------------------------------------------------------------------
    def dump(self, tenant: TenantId) -> Iterator[Mapping[str, object]]:
        """Everything of a tenant, row by row, from one moment; enough to build it again on any engine."""
        ...

    def load(
        self,
        tenant: TenantId,
        rows: Iterable[Mapping[str, object]],
        *,
        then: Sequence[Job] = (),
        check: Callable[[Iterator[Examined]], None] | None = None,
    ) -> None:
        """Build a tenant from a dump, with follow-up jobs. The tenant must not exist yet. `check` examines it, every
        row, before it counts: when that raises, nothing was loaded."""
        ...

    def state(self, tenant: TenantId) -> Iterator[Mapping[str, object]]:
        """Live items, versions, events, relations and contradictions, in one order that depends on nothing else."""
        ...

    def examine(self, tenant: TenantId, *, deep: bool) -> Iterator[Examined]:
        """The head, every entry of the journal, and when it goes `deep` every row: all of one moment, as they are held,
        whatever somebody made of them."""
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
