"""Erasing: content leaves every table, index and journal body; ids and hashes stay."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.change import Erase
from recollect.domain.ids import RecordId, Seq
from recollect.domain.journal import UNREADABLE, blanked_hash, names_hash, read_body
from recollect.domain.level import Level
from recollect.domain.record import Decided, Lapsed, Pending
from recollect.domain.refs import name_of, refs
from recollect.domain.witness import bare
from recollect.errors import Stale, Unreadable
from recollect.store import privacy, turns
from recollect.store.records import list_records
from recollect.store.tx import Tx


def erase(tx: Tx, change: Erase, at: datetime) -> Erase:
    """Do it, and say which journal bodies went with it. Refused when something new hangs on what is to go."""
    _take(tx, change)
    _nothing_new(tx, change)
    change = replace(change, proposals=_proposals(tx, change))
    gone = [
        *(f"i:{id}" for id in change.items),
        *(f"v:{id}" for id in change.versions),
        *(f"e:{id}" for id in change.events),
    ]
    records = [f"checkpoint:{id}" for id in change.checkpoints] + [f"proposal:{id}" for id in change.proposals]
    _drop_texts(tx, change)
    if change.events:
        privacy.leave(tx, change.events)
    turns.erase(tx, change)
    for table, column, ids in (
        ("witnesses", "version_id", change.versions),
        ("witnesses", "event_id", change.events),
        ("versions", "id", change.versions),
        ("private_events", "event_id", change.events),
        ("events", "id", change.events),
        ("participants", "episode_id", change.items),
        ("episode_artifacts", "episode_id", change.items),
        ("relations", "from_id", change.items),
        ("relations", "to_id", change.items),
        ("contradictions", "memory_a", change.items),
        ("contradictions", "memory_b", change.items),
        ("usage", "item_id", change.items),
        ("version_usage", "version_id", change.versions),
        ("items", "id", change.items),
        ("supervisor_checkpoints", "id", change.checkpoints),
        ("vectors", "ref", gone),
    ):
        if ids:
            tx.run(f"delete from {table} where tenant = :tenant and {column} in :ids[]", ids=list(ids))
    if change.events:  # the vectors of their chunks: c:<event>.<number>
        tx.run(
            "delete from vectors where tenant = :tenant and ref >= 'c:' and ref < 'c;' "
            "and rtrim(rtrim(ref, '0123456789'), '.') in :chunked[]",
            chunked=[f"c:{id}" for id in change.events],
        )
    if change.proposals:
        tx.run(
            "delete from records where tenant = :tenant and family = 'proposal' and id in :ids[]",
            ids=list(change.proposals),
        )
    if change.items:  # the category is a word of the memory's own
        tx.run(
            "update operations set category = null where tenant = :tenant and memory_id in :ids[]",
            ids=list(change.items),
        )
    if change.versions:
        tx.run(
            "update items set active_version_id = null where tenant = :tenant and active_version_id in :ids[]",
            ids=list(change.versions),
        )
    named = _bodies(tx, [*gone, *records])
    tx.many(
        "insert into tombstones (tenant, ref, at) values (:tenant, :ref, :at) on conflict do nothing",
        [{"ref": ref, "at": at} for ref in [*gone, *records]],
    )
    return replace(change, bodies=tuple(named), named=blanked_hash(named))


def _take(tx: Tx, change: Erase) -> None:
    """Nobody builds on what is to go from here on; whoever is at it now is waited for, and found by the next look."""
    for table, ids in (("versions", change.versions), ("events", change.events)):
        if ids:
            tx.all(
                f"select id from {table} where tenant = :tenant and id in :ids[] order by id {tx.for_update}",
                ids=list(ids),
            )


def _nothing_new(tx: Tx, change: Erase) -> None:
    """What is to go may have gained versions, events or citations since the caller looked."""
    for sql, ids, known in (
        ("select id from versions where tenant = :tenant and item_id in :ids[]", change.items, change.versions),
        ("select id from events where tenant = :tenant and item_id in :ids[]", change.items, change.events),
        (
            "select version_id from witnesses where tenant = :tenant and event_id in :ids[]",
            change.events,
            change.versions,
        ),
        (
            "select id from versions where tenant = :tenant and derived_from in :ids[]",
            change.versions,
            change.versions,
        ),
    ):
        if ids:
            new = {row[0] for row in tx.all(sql, ids=list(ids))} - set(known)
            if new:
                raise Stale("more hangs on what is to be erased than was known", sorted(new))


def _proposals(tx: Tx, change: Erase) -> tuple[RecordId, ...]:
    """The proposals to erase: those named, and those about a memory that goes."""
    about = [
        record.id
        for record in list_records(tx, "proposal")
        if isinstance(record, Pending | Decided | Lapsed) and record.item_id in change.items
    ]
    return tuple(sorted({*change.proposals, *about}))


def _drop_texts(tx: Tx, change: Erase) -> None:
    if change.events:
        for id, text, names in tx.all(
            "select id, text, names from events where tenant = :tenant and id in :ids[]", ids=list(change.events)
        ):
            tx.drop_text(f"e:{id}", text, names)
    if change.versions:
        for id, content, names in tx.all(
            "select id, content, names from versions where tenant = :tenant and level = :level and id in :ids[]",
            level=int(Level.R3),
            ids=list(change.versions),
        ):
            tx.drop_text(f"v:{id}", bare(content), names)


_EDGES = "h.op like 'contradiction%' or h.op like 'proposal%' or h.op like 'consent%' or h.op like '%link'"


def _bodies(tx: Tx, gone: Sequence[str]) -> dict[Seq, str]:
    """Delete the bodies that carry what is gone, or that tell of its edges, with their salts: which they are, each with
    the digest of what it names."""
    found = tx.all(
        "select distinct b.seq from journal_bodies b join journal_refs r on r.tenant = b.tenant and r.seq = b.seq "
        "join journal h on h.tenant = b.tenant and h.seq = b.seq "
        f"where b.tenant = :tenant and r.ref in :refs[] and (r.own or {_EDGES}) and h.op <> 'erase' order by b.seq",
        refs=[name_of(ref) for ref in gone],
    )
    seqs = [Seq(row[0]) for row in found]
    named: dict[Seq, str] = {}
    if seqs:
        bodies = tx.all(
            "select seq, body from journal_bodies where tenant = :tenant and seq in :seqs[] order by seq", seqs=seqs
        )
        named = {Seq(seq): _named(Seq(seq), body) for seq, body in bodies}
        # a receipt's digest covers the words of its request, and a digest of a short text can be guessed
        tx.run(
            "update receipts set digest = '' where tenant = :tenant and rev in "
            "(select h.rev from journal h where h.tenant = :tenant and h.seq in :seqs[])",
            seqs=seqs,
        )
        tx.run("delete from journal_bodies where tenant = :tenant and seq in :seqs[]", seqs=seqs)
    return named


def _named(seq: Seq, body: str) -> str:
    """The digest of what an entry names."""
    try:
        return names_hash(refs(read_body(body)).named)
    except UNREADABLE as error:
        raise Unreadable(f"entry {seq} of the journal") from error
