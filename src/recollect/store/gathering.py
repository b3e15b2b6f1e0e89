"""Reading much at once: what a query or a write needs to know about many things, each in one statement."""

from collections.abc import Container, Mapping, Sequence

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.relation import Relation
from recollect.domain.scope import NOBODY, Readers, Sight
from recollect.domain.version import Version
from recollect.holdings import Held, Outline
from recollect.store import privacy, rows
from recollect.store.fingerprint import fingerprint
from recollect.store.reading import held_columns, in_sight_of, read_held
from recollect.store.speaking import SPEAKS
from recollect.store.tx import Tx

_OF_VERSION = ", ".join(f"v.{name.strip()}" for name in rows.VERSION.split(","))
_WIDTH = len(rows.VERSION.split(","))


def speaking(tx: Tx, items: Sequence[ItemId], readers: Readers = None) -> Mapping[ItemId, tuple[Held, Version]]:
    """Live items with the version that speaks for each, in the order asked; an item without one that these readers may
    see is left out."""
    if not items:
        return {}
    seen, values = privacy.versions_for(readers)
    found = tx.all(
        f"select {_OF_VERSION}, {held_columns()} from items i "
        "join versions v on v.tenant = i.tenant and v.item_id = i.id "
        f"where {' and '.join(['i.tenant = :tenant and i.id in :ids[] and not i.withdrawn', SPEAKS, *seen])}",
        ids=list(items),
        **values,
    )
    spoken = [(read_held(row[_WIDTH:]), rows.read_version(row[:_WIDTH])) for row in found]
    by_id = {held.item.id: (held, version) for held, version in spoken}
    return {id: by_id[id] for id in items if id in by_id}


def outlines(tx: Tx, events: Sequence[EventId], readers: Readers = None) -> Mapping[EventId, Sequence[Outline]]:
    """The live memories of which a live version cites one of these events, each as the version tells it that speaks."""
    if not events:
        return {}
    seen, values = privacy.versions_for(readers)
    found = tx.all(
        "select cited.event_id, i.id, i.kind, i.category, i.state, i.valid_to, i.superseded_by, v.bullets from "
        "(select distinct w.event_id, c.item_id from witnesses w "
        "join versions c on c.tenant = w.tenant and c.id = w.version_id and not c.withdrawn "
        "where w.tenant = :tenant and w.event_id in :ids[]) as cited "
        "join items i on i.tenant = :tenant and i.id = cited.item_id and not i.withdrawn and i.kind <> 'episode' "
        "join versions v on v.tenant = :tenant and v.item_id = i.id "
        f"where {' and '.join([SPEAKS, *seen])} order by i.id",
        ids=list(events),
        **values,
    )
    cited: dict[EventId, list[Outline]] = {}
    for event_id, id, kind, category, state, valid_to, superseded_by, bullets in found:
        outline = Outline(id, kind, category, state, rows.moment(valid_to), superseded_by, rows.said_in(bullets))
        cited.setdefault(event_id, []).append(outline)
    return cited


def replaced(tx: Tx, by: Sequence[ItemId]) -> list[Held]:
    """Live items that one of these took over from."""
    if not by:
        return []
    found = tx.all(
        f"select {held_columns()} from items i where i.tenant = :tenant and i.superseded_by in :ids[] "
        "and not i.withdrawn order by i.id",
        ids=list(by),
    )
    return [read_held(row) for row in found]


def edges(tx: Tx, items: Sequence[ItemId]) -> list[Relation]:
    """The edges from or to any of these items, strongest first."""
    if not items:
        return []
    found = tx.all(
        f"select {rows.RELATION} from relations where tenant = :tenant and from_id in :ids[] "
        f"union select {rows.RELATION} from relations where tenant = :tenant and to_id in :ids[]",
        ids=list(items),
    )
    return sorted((rows.read_relation(row) for row in found), key=lambda edge: (-edge.strength, edge.id))


def edges_between(
    tx: Tx,
    items: Sequence[ItemId],
    seen: Container[ItemId],
    sight: Sight,
    categories: frozenset[str] | None,
    without: frozenset[str],
) -> list[Relation]:
    """The same without those to items that are not there, out of sight or of a category that may not be read. `seen`:
    items of which it is known that they may be."""
    found = edges(tx, items)
    others = sorted({id for edge in found for id in (edge.from_id, edge.to_id) if id not in seen})
    if not others:
        return found
    where, values = in_sight_of(sight, categories, without)
    read = tx.all(
        f"select i.id from items i where i.tenant = :tenant and i.id in :ids[] and not i.withdrawn and {where[0]}",
        ids=others,
        **values,
    )
    hidden = set(others) - {row[0] for row in read}
    return [edge for edge in found if edge.from_id not in hidden and edge.to_id not in hidden]


def near_events(tx: Tx, places: Sequence[tuple[ItemId, int]], readers: Readers = None) -> list[Event]:
    """The live events at these places, each the id of an episode and a sequence number."""
    seen, values = privacy.events_for(readers)
    where = " and ".join(["tenant = :tenant and item_id = :id and seq in :seqs[] and not withdrawn", *seen])
    by_episode: dict[ItemId, list[int]] = {}
    for episode, seq in places:
        by_episode.setdefault(episode, []).append(seq)
    return [
        rows.read_event(row)
        for episode, seqs in by_episode.items()
        for row in tx.all(
            f"select {rows.EVENT} from events e where {where} order by seq",
            id=episode,
            seqs=sorted(set(seqs)),
            **values,
        )
    ]


def repeats(tx: Tx, item_id: ItemId, texts: Sequence[str]) -> Mapping[str, Sequence[Event]]:
    """The live events of an episode that have exactly these texts."""
    row = tx.one("select dedup_key from tenants where tenant = :tenant")
    if row is None or not texts:
        return {}
    key = bytes(row[0])
    found = tx.all(
        f"select {rows.EVENT} from events where tenant = :tenant and item_id = :id and digest in :digests[] "
        "and not withdrawn order by seq + 0",  # not the bare column: its index would be walked, not that of the digests
        id=item_id,
        digests=sorted({fingerprint(key, text) for text in texts}),
    )
    same: dict[str, list[Event]] = {}
    for event in map(rows.read_event, found):
        same.setdefault(event.text, []).append(event)
    return same


def witness_counts(tx: Tx, items: Sequence[ItemId]) -> Mapping[ItemId, int]:
    """How many different live events that are not private bear witness to each of these items."""
    if not items:
        return {}
    seen, values = privacy.events_for(NOBODY)
    found = tx.all(
        "select v.item_id, count(distinct w.event_id) from versions v "
        "join witnesses w on w.tenant = v.tenant and w.version_id = v.id "
        "join events e on e.tenant = w.tenant and e.id = w.event_id and not e.withdrawn "
        f"where {' and '.join(['v.tenant = :tenant and v.item_id in :ids[] and not v.withdrawn', *seen])} "
        "group by v.item_id",
        ids=list(items),
        **values,
    )
    return {ItemId(item_id): int(count) for item_id, count in found}


def contested(tx: Tx, items: Sequence[ItemId]) -> Mapping[ItemId, frozenset[ItemId]]:
    """Those of these items that are part of a contradiction that nobody has resolved, each with what contradicts it."""
    if not items:
        return {}
    found = tx.all(
        "select memory_a, memory_b from contradictions where tenant = :tenant and memory_a in :ids[] "
        "and resolved_at is null union select memory_b, memory_a from contradictions where tenant = :tenant "
        "and memory_b in :ids[] and resolved_at is null",
        ids=list(items),
    )
    against: dict[ItemId, set[ItemId]] = {}
    for own, other in found:
        against.setdefault(ItemId(own), set()).add(ItemId(other))
    return {item_id: frozenset(others) for item_id, others in against.items()}
