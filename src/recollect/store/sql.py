"""The Store over either engine: opens a transaction, calls one function, closes it."""

import hashlib
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from recollect.domain import codec
from recollect.domain.change import Change
from recollect.domain.checkpoint import Checkpoint
from recollect.domain.event import Event
from recollect.domain.examination import Examined, Row
from recollect.domain.ids import CauseId, EventId, ItemId, RecordId, Rev, Seq, TenantId, VersionId
from recollect.domain.item import Visibility
from recollect.domain.job import Job, JobStatus, Leased, Step
from recollect.domain.journal import MARKED, Entry, Head, genesis
from recollect.domain.observation import Cursor, Observation, Operation, Usage
from recollect.domain.portion import Spot
from recollect.domain.query import Filters, Page
from recollect.domain.record import Contradiction, Open, Record
from recollect.domain.relation import Relation
from recollect.domain.scope import EVERYBODY, Actor, Readers, Scope, Sight
from recollect.domain.turn import Mark, Serving, Turn
from recollect.domain.version import Version
from recollect.errors import Invalid, StoreBusy, StoreError, StoreUnreachable
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
from recollect.store import (
    door,
    dumping,
    examining,
    finding,
    gathering,
    observing,
    outbox,
    privacy,
    reading,
    records,
    rows,
    sizing,
    turns,
)
from recollect.store.fingerprint import new_key
from recollect.store.journal import Pen, no_tenant, read_entries, read_thread_rev
from recollect.store.tx import Engine, Sought, Tx

START = Seq(0)
T = TypeVar("T")


class SqlStore:
    """Memory in a relational database. What differs between databases is in the engine."""

    def __init__(self, engine: Engine) -> None:
        self._opened = engine
        self._process = os.getpid()

    @property
    def _engine(self) -> Engine:
        """Not for a process that was forked: the locks of SQLite did not come with it, and a connection to PostgreSQL
        is of no use to two."""
        if os.getpid() != self._process:
            raise StoreError("the store was opened by the process that this one was forked from", "Open it again here.")
        return self._opened

    # -- the door and the side doors ------------------------------------------------------------------------

    def apply(
        self,
        scope: Scope,
        changes: Sequence[Change],
        *,
        actor: Actor,
        at: datetime,
        cause: CauseId | None = None,
        expect: Mapping[ItemId, Rev] = {},
        then: Sequence[Job] = (),
        vectors: Sequence[Vector] = (),
        private: Sequence[EventId] = (),
        step: Step | None = None,
        receipt: Receipt | None = None,
    ) -> Rev:
        with self._engine.write(scope.tenant) as tx:
            return door.apply(
                tx,
                scope,
                changes,
                actor=actor,
                at=at,
                cause=cause,
                expect=expect,
                then=then,
                vectors=vectors,
                private=private,
                step=step,
                receipt=receipt,
            )

    def observe(self, tenant: TenantId, observations: Sequence[Observation]) -> None:
        with self._engine.write(tenant) as tx:
            _must_exist(tx)
            observing.observe(tx, observations)

    def cursor(self, tenant: TenantId, reader: str, thread_id: str) -> Cursor | None:
        with self._engine.read(tenant) as tx:
            row = tx.one(
                "select rev, seq, thread_rev from header_cursors "
                "where tenant = :tenant and reader = :reader and thread_id = :thread_id",
                reader=reader,
                thread_id=thread_id,
            )
        return Cursor(*row) if row else None

    def turn(self, tenant: TenantId, reader: str, turn_id: str, subject: str | None) -> Turn | None:
        with self._engine.read(tenant) as tx:
            return turns.turn(tx, reader, turn_id, subject)

    def turns_of(self, tenant: TenantId, readers: str, turn_id: str) -> Sequence[Turn]:
        with self._engine.read(tenant) as tx:
            return turns.turns_of(tx, readers, turn_id)

    def serve(self, tenant: TenantId, reader: str, serving: Serving) -> bool:
        with self._engine.write(tenant) as tx:
            return turns.serve(tx, reader, serving)

    def mark(self, tenant: TenantId, reader: str, turn_id: str, mark: Mark, at: datetime) -> Turn | None:
        with self._engine.write(tenant) as tx:
            return turns.mark(tx, reader, turn_id, mark, at)

    def save_checkpoint(self, scope: Scope, checkpoint: Checkpoint, *, actor: Actor) -> None:
        data = codec.canonical(checkpoint.checkpoint_data)
        nonce = os.urandom(16)
        owner = replace(scope, user_id=checkpoint.user_id, thread_id=checkpoint.thread_id)
        with self._engine.write(scope.tenant) as tx:
            tx.run(
                "insert into supervisor_checkpoints "
                "(tenant, id, user_id, thread_id, checkpoint_data, nonce, created_at, updated_at) "
                "values (:tenant, :id, :user_id, :thread_id, :data, :nonce, :created_at, :updated_at) "
                "on conflict (tenant, user_id, thread_id) do update set "
                "checkpoint_data = excluded.checkpoint_data, nonce = excluded.nonce, updated_at = excluded.updated_at",
                id=checkpoint.id,
                user_id=checkpoint.user_id,
                thread_id=checkpoint.thread_id,
                data=data,
                nonce=nonce,
                created_at=checkpoint.created_at,
                updated_at=checkpoint.updated_at,
            )
            digest = hashlib.sha256(nonce + data.encode()).hexdigest()
            Pen(tx, actor=actor, at=checkpoint.updated_at).write_digest("checkpoint", digest, owner)

    def checkpoint(self, tenant: TenantId, user_id: str, thread_id: str) -> Checkpoint | None:
        with self._engine.read(tenant) as tx:
            row = tx.one(
                "select id, user_id, thread_id, checkpoint_data, created_at, updated_at from supervisor_checkpoints "
                "where tenant = :tenant and user_id = :user_id and thread_id = :thread_id",
                user_id=user_id,
                thread_id=thread_id,
            )
        return dumping.read_checkpoint(row) if row else None

    # -- tenants ------------------------------------------------------------------------------------------

    def create_tenant(self, tenant: TenantId, *, at: datetime) -> bool:
        chain_id = MARKED + os.urandom(16).hex()
        with self._engine.write(tenant) as tx:
            return bool(
                tx.run(
                    "insert into tenants (tenant, chain_id, rev, seq, head, dedup_key, created_at) "
                    "values (:tenant, :chain_id, 0, 0, :head, :key, :at) on conflict do nothing",
                    chain_id=chain_id,
                    head=genesis(chain_id),
                    key=new_key(),
                    at=at,
                )
            )

    def tenants(self) -> Sequence[TenantId]:
        return self._engine.tenants()

    def head(self, tenant: TenantId) -> Head:
        with self._engine.read(tenant) as tx:
            row = tx.one("select chain_id, rev, seq, head from tenants where tenant = :tenant")
            if row is None:
                raise no_tenant(tx)
        return Head(row[0], Rev(row[1]), Seq(row[2]), row[3])

    # -- reading memory -----------------------------------------------------------------------------------

    def item(self, tenant: TenantId, item_id: ItemId) -> Held | None:
        with self._engine.read(tenant) as tx:
            return reading.item(tx, item_id)

    def items_by_id(self, tenant: TenantId, ids: Sequence[ItemId]) -> Sequence[Held]:
        with self._engine.read(tenant) as tx:
            return reading.items_by_id(tx, ids)

    def items(self, tenant: TenantId, filters: Filters, sight: Sight, page: Page) -> Sequence[Held]:
        with self._engine.read(tenant) as tx:
            return reading.items(tx, filters, sight, page)

    def silos(self, tenant: TenantId) -> Sequence[str]:
        with self._engine.read(tenant) as tx:
            return reading.silos(tx)

    def named(
        self,
        tenant: TenantId,
        ending: str,
        sight: Sight,
        *,
        categories: frozenset[str] | None = None,
        without: frozenset[str] = frozenset(),
    ) -> Sequence[ItemId]:
        with self._engine.read(tenant) as tx:
            return reading.named(tx, ending, sight, categories, without)

    def named_events(
        self, tenant: TenantId, ending: str, sight: Sight, *, after: str = "", limit: int = 20
    ) -> Sequence[EventId]:
        with self._engine.read(tenant) as tx:
            return reading.named_events(tx, ending, sight, after, limit)

    def thread(self, scope: Scope, visibility: Visibility) -> Held | None:
        with self._engine.read(scope.tenant) as tx:
            return reading.thread(tx, scope, visibility)

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
        with self._engine.read(tenant) as tx:
            return reading.versions(tx, item_id, withdrawn, readers, abridged, only)

    def version_outlines(
        self, tenant: TenantId, item_id: ItemId, *, readers: Readers = None
    ) -> Sequence[VersionOutline]:
        with self._engine.read(tenant) as tx:
            return sizing.version_outlines(tx, item_id, readers)

    def withheld(self, tenant: TenantId, refs: Sequence[str], readers: Readers) -> frozenset[str]:
        with self._engine.read(tenant) as tx:
            return privacy.withheld(tx, refs, readers)

    def rooted(self, tenant: TenantId, items: Sequence[ItemId], events: Sequence[EventId]) -> Rooted:
        with self._engine.read(tenant) as tx:
            return reading.rooted(tx, items, events)

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
        with self._engine.read(tenant) as tx:
            return reading.events(tx, item_id, first, last, limit, readers)

    def placed_events(
        self, tenant: TenantId, among: Among, *, after: Spot | None = None, limit: int, readers: Readers = None
    ) -> Sequence[Placed]:
        with self._engine.read(tenant) as tx:
            return sizing.placed_events(tx, among, after, limit, readers)

    def extent(self, tenant: TenantId, item_id: ItemId, *, readers: Readers = None) -> Extent:
        with self._engine.read(tenant) as tx:
            return sizing.extent(tx, item_id, readers)

    def latest(self, tenant: TenantId, item_id: ItemId, count: int, *, readers: Readers = None) -> Sequence[Event]:
        with self._engine.read(tenant) as tx:
            return reading.latest(tx, item_id, count, readers)

    def unembedded(self, tenant: TenantId, embedder: str, item_id: ItemId, count: int) -> Sequence[Event]:
        with self._engine.read(tenant) as tx:
            return reading.unembedded(tx, embedder, item_id, count)

    def extracted_since(self, tenant: TenantId, user_id: str, since: datetime, most: int) -> int:
        with self._engine.read(tenant) as tx:
            return reading.extracted_since(tx, user_id, since, most)

    def events_by_id(
        self, tenant: TenantId, ids: Sequence[EventId], *, withdrawn: bool = False, readers: Readers = None
    ) -> Sequence[Event]:
        with self._engine.read(tenant) as tx:
            return reading.events_by_id(tx, ids, withdrawn, readers)

    def cited(
        self, tenant: TenantId, versions: Sequence[VersionId], *, withdrawn: bool = False, readers: Readers = None
    ) -> Sequence[Event]:
        with self._engine.read(tenant) as tx:
            return reading.cited(tx, versions, withdrawn, readers)

    def kept_for(self, tenant: TenantId, user_id: str) -> Kept:
        with self._engine.read(tenant) as tx:
            return reading.kept_for(tx, user_id)

    def outlines(
        self, tenant: TenantId, events: Sequence[EventId], *, readers: Readers = None
    ) -> Mapping[EventId, Sequence[Outline]]:
        with self._engine.read(tenant) as tx:
            return gathering.outlines(tx, events, readers)

    def citing(self, tenant: TenantId, events: Sequence[EventId]) -> Sequence[Citing]:
        with self._engine.read(tenant) as tx:
            return reading.citing(tx, events)

    def relations(self, tenant: TenantId, item_id: ItemId) -> Sequence[Relation]:
        with self._engine.read(tenant) as tx:
            return reading.relations(tx, item_id)

    def records(self, tenant: TenantId, family: str) -> Sequence[Record]:
        with self._engine.read(tenant) as tx:
            return records.list_records(tx, family)

    def record(self, tenant: TenantId, family: str, record_id: RecordId) -> Record | None:
        with self._engine.read(tenant) as tx:
            return records.read_record(tx, family, record_id)

    def usage(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, Usage]:
        with self._engine.read(tenant) as tx:
            return reading.usage(tx, items)

    def version_usage(self, tenant: TenantId, versions: Sequence[VersionId]) -> Mapping[VersionId, Usage]:
        with self._engine.read(tenant) as tx:
            return observing.version_usage(tx, versions)

    def replaced(self, tenant: TenantId, by: Sequence[ItemId]) -> Sequence[Held]:
        with self._engine.read(tenant) as tx:
            return gathering.replaced(tx, by)

    def contradictions(self, tenant: TenantId, items: Sequence[ItemId]) -> Sequence[Contradiction]:
        with self._engine.read(tenant) as tx:
            return records.contradictions(tx, items)

    def open_contradictions(self, tenant: TenantId, after: RecordId | None, limit: int) -> Sequence[Open]:
        with self._engine.read(tenant) as tx:
            return records.open_contradictions(tx, after, limit)

    def contested(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, frozenset[ItemId]]:
        with self._engine.read(tenant) as tx:
            return gathering.contested(tx, items)

    def operations(self, tenant: TenantId, limit: int = 100) -> Sequence[Operation]:
        with self._engine.read(tenant) as tx:
            return reading.operations(tx, limit)

    def counts(self, tenant: TenantId) -> Mapping[tuple[str, str, str], int]:
        with self._engine.read(tenant) as tx:
            found = tx.all(
                "select node, op, status, count(*) from operations where tenant = :tenant group by node, op, status"
            )
        return {(node, op, status): count for node, op, status, count in found}

    def tombstones(self, tenant: TenantId, refs: Sequence[str] | None = None) -> Sequence[Tombstone]:
        with self._engine.read(tenant) as tx:
            if refs is None:
                found = tx.all("select ref, at from tombstones where tenant = :tenant order by ref")
            else:
                found = tx.all(
                    "select ref, at from tombstones where tenant = :tenant and ref in :refs[] order by ref",
                    refs=list(refs),
                )
        return [Tombstone(ref, rows.moment(at)) for ref, at in found]

    def search(self, tenant: TenantId, words: Sequence[str], sight: Sight, limit: int = 20) -> Sequence[Found]:
        with self._engine.read(tenant) as tx:
            sound = [word.replace("\0", " ").encode(errors="ignore").decode() for word in words]
            depth = limit * 5
            while True:
                hits = dict(self._engine.search(tx, sound, depth))
                found = _seen(tx, hits, sight) if hits else []
                if len(found) >= limit or len(hits) < depth:
                    return found[:limit]
                depth *= 10  # most of these are out of sight: look further down

    def find_events(self, tenant: TenantId, wanted: Wanted) -> Hits:
        with self._engine.read(tenant) as tx:
            return finding.find(tx, self._engine, Sought.EVENTS, wanted)

    def find_items(self, tenant: TenantId, wanted: Wanted) -> Hits:
        with self._engine.read(tenant) as tx:
            return finding.find(tx, self._engine, Sought.ITEMS, wanted)

    def speaking(
        self, tenant: TenantId, items: Sequence[ItemId], *, readers: Readers = None
    ) -> Mapping[ItemId, tuple[Held, Version]]:
        with self._engine.read(tenant) as tx:
            return gathering.speaking(tx, items, readers)

    def known(
        self,
        tenant: TenantId,
        items: Sequence[ItemId],
        *,
        sight: Sight = EVERYBODY,
        categories: frozenset[str] | None = None,
        without: frozenset[str] = frozenset(),
    ) -> Known:
        with self._engine.read(tenant) as tx:
            speaking = gathering.speaking(tx, items, sight.readers)
            return Known(
                speaking,
                gathering.edges_between(tx, items, speaking.keys(), sight, categories, without),
                reading.usage(tx, items) if items else {},
                gathering.contested(tx, items),
            )

    def edges(self, tenant: TenantId, items: Sequence[ItemId]) -> Sequence[Relation]:
        with self._engine.read(tenant) as tx:
            return gathering.edges(tx, items)

    def near_events(
        self, tenant: TenantId, places: Sequence[tuple[ItemId, int]], *, readers: Readers = None
    ) -> Sequence[Event]:
        with self._engine.read(tenant) as tx:
            return gathering.near_events(tx, places, readers)

    def repeats(self, tenant: TenantId, item_id: ItemId, texts: Sequence[str]) -> Mapping[str, Sequence[Event]]:
        with self._engine.read(tenant) as tx:
            return gathering.repeats(tx, item_id, texts)

    def quoted_since(self, tenant: TenantId) -> datetime | None:
        with self._engine.read(tenant) as tx:
            return reading.quoted_since(tx)

    def witness_counts(self, tenant: TenantId, items: Sequence[ItemId]) -> Mapping[ItemId, int]:
        with self._engine.read(tenant) as tx:
            return gathering.witness_counts(tx, items)

    # -- reading the journal ------------------------------------------------------------------------------

    def entries(
        self,
        tenant: TenantId,
        *,
        after: Seq = START,
        rev_after: Rev | None = None,
        scope: Scope | None = None,
        cause: CauseId | None = None,
        refs: Sequence[str] | None = None,
        seqs: Sequence[Seq] | None = None,
        limit: int | None = None,
        blind: bool = False,
    ) -> Sequence[Entry]:
        with self._engine.read(tenant) as tx:
            return read_entries(
                tx,
                after=after,
                rev_after=rev_after,
                scope=scope,
                cause=cause,
                refs=refs,
                seqs=seqs,
                limit=limit,
                blind=blind,
            )

    def entry_sizes(
        self, tenant: TenantId, refs: Sequence[str], *, after: Seq, limit: int
    ) -> Sequence[tuple[Seq, int]]:
        with self._engine.read(tenant) as tx:
            return sizing.entry_sizes(tx, refs, after, limit)

    def thread_rev(self, scope: Scope) -> int:
        with self._engine.read(scope.tenant) as tx:
            return read_thread_rev(tx, scope)

    def receipt(self, tenant: TenantId, actor: str, key: str) -> Receipt | None:
        with self._engine.read(tenant) as tx:
            row = tx.one(
                "select key, digest, answer, rev from receipts "
                "where tenant = :tenant and actor = :actor and key = :key",
                actor=actor,
                key=key,
            )
        return Receipt(*row) if row else None

    # -- jobs ---------------------------------------------------------------------------------------------

    def claim(self, worker: str, *, now: datetime, lease: timedelta, kinds: Sequence[str], cap: int) -> Leased | None:
        with self._engine.outbox() as box:
            return outbox.claim(box, now=now, lease=lease, kinds=kinds, cap=cap)

    def renew(self, leased: Leased, *, now: datetime, lease: timedelta) -> bool:
        with self._engine.write(leased.tenant) as tx:
            return outbox.renew(tx, leased, now=now, lease=lease)

    def give_up(self, leased: Leased, *, error: str, now: datetime, retry_at: datetime | None) -> None:
        with self._engine.write(leased.tenant) as tx:
            outbox.give_up(tx, leased, error=error, now=now, retry_at=retry_at)

    def enqueue(self, tenant: TenantId, jobs: Sequence[Job]) -> None:
        with self._engine.write(tenant) as tx:
            _must_exist(tx)
            outbox.enqueue(tx, jobs)

    def jobs(self, tenant: TenantId, *, open_only: bool = False, key: str | None = None) -> Sequence[JobStatus]:
        with self._engine.read(tenant) as tx:
            return outbox.list_jobs(tx, open_only, key)

    def tidy(self, tenant: TenantId, *, before: datetime) -> int:
        with self._engine.write(tenant) as tx:
            return outbox.tidy(tx, before)

    # -- whole stores -------------------------------------------------------------------------------------

    def dump(self, tenant: TenantId) -> Iterator[Mapping[str, object]]:
        return _apart(self._dump(tenant))

    def _dump(self, tenant: TenantId) -> Generator[Mapping[str, object]]:
        with self._engine.read(tenant) as tx:
            _must_exist(tx)
            yield from dumping.dump(tx)

    def load(
        self,
        tenant: TenantId,
        rows: Iterable[Mapping[str, object]],
        *,
        then: Sequence[Job] = (),
        check: Callable[[Iterator[Examined]], None] | None = None,
    ) -> None:
        with self._engine.write(tenant) as tx:
            if row := tx.one("select seq from tenants where tenant = :tenant"):
                if row[0]:
                    raise Invalid(f"the tenant {tenant!r} is not empty", "Import into a new tenant: --tenant NAME")
                tx.run("delete from tenants where tenant = :tenant")
                tx.run("delete from jobs where tenant = :tenant")
            dumping.load(tx, rows)
            if check:
                check(examining.examine(tx, deep=True))
            outbox.enqueue(tx, then)

    def state(self, tenant: TenantId) -> Iterator[Mapping[str, object]]:
        return _apart(self._state(tenant))

    def _state(self, tenant: TenantId) -> Generator[Mapping[str, object]]:
        with self._engine.read(tenant) as tx:
            _must_exist(tx)
            yield from dumping.state(tx)

    def examine(self, tenant: TenantId, *, deep: bool) -> Iterator[Examined]:
        return _apart(self._examine(tenant, deep))

    def _examine(self, tenant: TenantId, deep: bool) -> Generator[Examined]:
        with self._engine.read(tenant) as tx:
            yield from examining.examine(tx, deep=deep)
        if deep:
            yield from (Row("database", (), wrong=wrong) for wrong in self._wrong())

    def _wrong(self) -> Sequence[str]:
        try:
            return self._engine.integrity()
        except (StoreBusy, StoreUnreachable):
            raise
        except StoreError as error:
            return [error.what]

    def backup(self, target: Path) -> None:
        self._engine.backup(target)

    def scrub(self) -> bool:
        return self._engine.scrub()

    def integrity(self) -> Sequence[str]:
        return self._engine.integrity()

    def close(self) -> None:
        if os.getpid() == self._process:  # after a fork it is the parent's to close
            self._engine.close()


def _apart(rows: Generator[T]) -> Iterator[T]:
    """The rows, read in a context of their own. The moment that they show lasts for as long as somebody reads on, on
    whichever thread; no other read is to join it."""
    own = Context()
    try:
        while (row := own.run(next, rows, None)) is not None:
            yield row
    finally:
        own.run(rows.close)


def _must_exist(tx: Tx) -> None:
    if not tx.one("select 1 from tenants where tenant = :tenant"):
        raise no_tenant(tx)


def _seen(tx: Tx, hits: Mapping[str, float], sight: Sight) -> list[Found]:
    """Hits whose text and memory are live and in sight, best first."""
    seen, values = reading.in_sight(sight)
    said, _ = privacy.events_for(sight.readers)
    told, _ = privacy.versions_for(sight.readers)
    live = " and ".join(["not i.withdrawn", *seen])
    found = tx.all(
        "select 'e:' || e.id, i.id from events e join items i on i.tenant = e.tenant and i.id = e.item_id where "
        f"{' and '.join(['e.tenant = :tenant and e.id in :events[] and not e.withdrawn', live, *said])} "
        "union all "
        "select 'v:' || v.id, i.id from versions v join items i on i.tenant = v.tenant and i.id = v.item_id where "
        f"{' and '.join(['v.tenant = :tenant and v.id in :versions[] and not v.withdrawn', live, *told])}",
        events=[ref[2:] for ref in hits if ref.startswith("e:")],
        versions=[ref[2:] for ref in hits if ref.startswith("v:")],
        **values,
    )
    ranked = [Found(ref, ItemId(item_id), hits[ref]) for ref, item_id in found]
    return sorted(ranked, key=lambda hit: (-hit.score, hit.ref))
