"""What an answer would hold, before any of it is read: places and sizes, so that no more is read than is served."""

from collections.abc import Sequence

from recollect.domain.event import Trust
from recollect.domain.ids import EventId, ItemId, Seq, VersionId
from recollect.domain.level import Derivation, Level
from recollect.domain.portion import Spot
from recollect.domain.scope import Readers
from recollect.holdings import Among, Extent, Named, Placed, VersionOutline
from recollect.store import privacy, rows
from recollect.store.journal import name_of
from recollect.store.privacy import Where
from recollect.store.tx import Tx

_SIZE = "length(e.text) + length(cast(e.meta as text))"
_TOKENS = "(length(e.text) + 3) / 4"


def placed_events(tx: Tx, among: Among, after: Spot | None, limit: int, readers: Readers) -> list[Placed]:
    """The live events that are meant, by thread and sequence number, behind a place."""
    where, values = _meant(among)
    seen, more = privacy.events_for(readers)
    # Not the bare column: SQLite would walk through all events in the order of an index rather than sort a few.
    thread = "e.item_id" if among.thread is not None else "e.item_id || ''"
    if after is not None:
        where.append(f"({thread}, e.seq) > (:after_thread, :after_seq)")
        values |= {"after_thread": after.thread, "after_seq": after.seq}
    found = tx.all(
        f"select e.id, e.item_id, e.seq, {_SIZE} from events e where e.tenant = :tenant and not e.withdrawn "
        f"{''.join(f'and {one} ' for one in [*where, *seen])}order by {thread}, e.seq limit :limit",
        limit=limit,
        **values,
        **more,
    )
    return [Placed(EventId(id), ItemId(item_id), seq, size) for id, item_id, seq, size in found]


def _meant(among: Among) -> Where:
    where: list[str] = []
    values: dict[str, object] = {}
    if among.thread is not None:
        where.append("e.item_id = :thread")
        values["thread"] = among.thread
    if among.version is not None:
        where.append(
            "e.id in (select w.event_id from witnesses w where w.tenant = :tenant and w.version_id = :version)"
        )
        values["version"] = among.version
    if among.named is not None:
        named, more = _named(among.named)
        where.append(named)
        values |= more
    return where, values


def _named(named: Named) -> tuple[str, dict[str, object]]:
    any_of: list[str] = []
    values: dict[str, object] = {}
    for number, (first, last) in enumerate(named.ranges):
        any_of.append(f"e.seq between :first_{number} and :last_{number}")
        values |= {f"first_{number}": first, f"last_{number}": last}
    if named.ids:
        any_of.append("e.id in :named[]")
        values["named"] = sorted(named.ids)
    return f"({' or '.join(any_of)})" if any_of else "e.seq < 0", values


def extent(tx: Tx, item_id: ItemId, readers: Readers) -> Extent:
    """The live events of a thread, counted."""
    seen, values = privacy.events_for(readers)
    places: set[int] = set()
    tokens, doubtful = 0, False
    for seq, count, trust in tx.each(
        f"select e.seq, {_TOKENS}, e.trust from events e "
        f"where {' and '.join(['e.tenant = :tenant and e.item_id = :id and not e.withdrawn', *seen])}",
        id=item_id,
        **values,
    ):
        places.add(seq)
        tokens += count
        doubtful = doubtful or trust == Trust.UNTRUSTED.value
    return Extent(frozenset(places), tokens, Trust.UNTRUSTED if doubtful else Trust.TRUSTED)


def entry_sizes(tx: Tx, refs: Sequence[str], after: Seq, limit: int) -> list[tuple[Seq, int]]:
    """The entries that name one of these things, behind one of them, each with the characters of its body."""
    found = tx.all(
        "select h.seq, coalesce(length(b.body), 0) from journal h "
        "left join journal_bodies b on b.tenant = h.tenant and b.seq = h.seq "
        "where h.tenant = :tenant and h.seq > :after and h.seq in "
        "(select r.seq from journal_refs r where r.tenant = :tenant and r.ref in :refs[]) order by h.seq limit :limit",
        refs=sorted({name_of(ref) for ref in refs}),
        after=after,
        limit=limit,
    )
    return [(Seq(seq), size) for seq, size in found]


def version_outlines(tx: Tx, item_id: ItemId, readers: Readers) -> list[VersionOutline]:
    """The live versions of an item, oldest first, without their words."""
    found = tx.all(
        f"select {privacy.ANY_PRIVATE}, v.id, v.level, v.created_at, v.derivation, v.derived_from, v.quality_score, "
        f"case when v.level = {Level.R5.value} then coalesce((select sum({_TOKENS}) from events e where "
        "e.tenant = :tenant and not e.withdrawn and e.id in (select w.event_id from witnesses w "
        "where w.tenant = :tenant and w.version_id = v.id)), 0) else (length(v.content) + 3) / 4 end "
        "from versions v where v.tenant = :tenant and v.item_id = :id and not v.withdrawn order by v.id",
        id=item_id,
    )
    hidden: set[str] = set()
    if readers is not None and found and found[0][0]:
        hidden = privacy.withheld_versions(tx, [row[1] for row in found], readers)
    return [
        VersionOutline(
            VersionId(id), Level(level), rows.moment(at), Derivation(how) if how else None, base, quality, int(tokens)
        )
        for _, id, level, at, how, base, quality, tokens in found
        if id not in hidden
    ]
