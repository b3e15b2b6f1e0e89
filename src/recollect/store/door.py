"""The write door: rows, indexes, journal, jobs and revision in one transaction.

Row writes come first and the tenant's row is locked last, so writers of one tenant overlap as long as they can.
Items are locked in the order of their ids, so two writers never wait for each other in a circle.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.domain.change import Change
from recollect.domain.ids import CauseId, EventId, ItemId, Rev
from recollect.domain.job import Job, Step
from recollect.domain.refs import item_of, refs
from recollect.domain.scope import Actor, Scope
from recollect.errors import Repeated
from recollect.holdings import Receipt, Vector
from recollect.store import privacy
from recollect.store.clerk import Clerk
from recollect.store.journal import Owner, Pen
from recollect.store.outbox import advance, enqueue
from recollect.store.tx import Tx


def apply(
    tx: Tx,
    scope: Scope,
    changes: Sequence[Change],
    *,
    actor: Actor,
    at: datetime,
    cause: CauseId | None,
    expect: Mapping[ItemId, Rev],
    then: Sequence[Job],
    vectors: Sequence[Vector],
    private: Sequence[EventId] = (),
    step: Step | None,
    receipt: Receipt | None,
) -> Rev:
    """The whole write, inside a transaction that the engine opened."""
    if receipt and not tx.run(
        "insert into receipts (tenant, actor, key, digest, answer, rev, at) "
        "values (:tenant, :actor, :key, :digest, :answer, 0, :at) on conflict do nothing",
        actor=actor.id,
        key=receipt.key,
        digest=receipt.digest,
        answer=receipt.answer,
        at=at,
    ):
        raise Repeated(f"the idempotency key {receipt.key!r} was used before")
    clerk = Clerk(tx, scope, at)
    clerk.hold(_stood_on(changes) | set(expect))
    clerk.expect(expect)
    written = [clerk.write(change) for change in changes]
    privacy.take_part(tx, clerk.episodes.values(), clerk.fresh.values(), actor)
    if step:  # first: a job that is done may ask to be done again, later
        advance(tx, step, at)
    enqueue(tx, then)
    _keep_texts(tx, [*(text_of(vector.ref) for vector in vectors), *(f"e:{id}" for id in private)])
    pen = Pen(tx, actor=actor, at=at, cause=cause)  # locks the tenant's row: from here on this write is alone
    clerk.footing.check(tx)
    if not changes and not vectors and not private:
        return pen.rev
    if receipt:
        tx.do(
            "update receipts set rev = :rev where tenant = :tenant and actor = :actor and key = :key",
            rev=pen.next_rev,
            actor=actor.id,
            key=receipt.key,
        )
    _stamp(tx, clerk, pen.next_rev)
    _embed(tx, vectors, pen.next_rev)
    pen.write(written, [_owner(clerk, change) for change in written], privacy.mark_private(tx, private))
    return pen.next_rev


def _stood_on(changes: Sequence[Change]) -> set[ItemId]:
    found: set[ItemId] = set()
    for change in changes:
        named = refs(change)
        found |= {ItemId(ref[2:]) for ref in named.needs | named.makes if ref.startswith("i:")}
    return found


def _owner(clerk: Clerk, change: Change) -> Owner:
    """Whose an entry is: the ids of the memory it is about, else those of the write."""
    return clerk.handles.get(item_of(change) or ItemId("")) or clerk.scope


def _stamp(tx: Tx, clerk: Clerk, rev: Rev) -> None:
    touched = [handle.id for handle in clerk.handles.values() if handle.stamped]
    if touched:
        tx.do("update items set rev = :rev where tenant = :tenant and id in :ids[]", rev=rev, ids=touched)


def _keep_texts(tx: Tx, texts: Sequence[str]) -> None:
    # Before the tenant's row: an erasure holds its texts while it waits for that row.
    for table, mark in (("events", "e:"), ("versions", "v:")):
        if ids := sorted({text[2:] for text in texts if text.startswith(mark)}):
            tx.keep(table, ids)


def _embed(tx: Tx, vectors: Sequence[Vector], rev: Rev) -> None:
    """Vectors of texts that are still there: one that was erased meanwhile must not come back as a vector."""
    if not vectors:
        return
    gone = tx.all(
        "select ref from tombstones where tenant = :tenant and ref in :refs[]",
        refs=sorted({text_of(vector.ref) for vector in vectors}),
    )
    erased = {row[0] for row in gone}
    tx.add_vectors([vector for vector in vectors if text_of(vector.ref) not in erased], rev)


def text_of(ref: str) -> str:
    """The event or version that a vector is of: a chunk (c:<event>.<number>) is a part of its event."""
    return f"e:{ref[2:].rpartition('.')[0]}" if ref.startswith("c:") else ref
