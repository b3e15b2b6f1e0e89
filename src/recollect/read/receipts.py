"""Receipts: the events that bear witness, a portion at a time. What a portion will hold is known before it is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recollect.domain import witness as notation
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, Seq, TenantId
from recollect.domain.journal import Entry
from recollect.domain.portion import MOST, ROOM, Portion, Spot, limited
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness, Witness
from recollect.holdings import Among, Named, Placed
from recollect.ports import Store
from recollect.read.look import Look
from recollect.read.slices import Threads


@dataclass(frozen=True, slots=True)
class Wish:
    """Which of the events are asked for: whole ones, and chunks of others."""

    named: Named
    chunks: dict[EventId, list[int]] = field(default_factory=dict[EventId, list[int]])

    def cut(self, event: Event) -> Iterable[Event]:
        """The event, or those of its chunks that are asked for where it is not asked for as a whole."""
        ranged = any(first <= event.seq <= last for first, last in self.named.ranges)
        if ranged or event.id not in self.chunks:
            return [event]
        return [chunk for number in sorted(self.chunks[event.id]) for chunk in event.chunk(number)]


def wish(asked: str, episode_id: ItemId) -> Wish:
    """What a list of witnesses asks for, every event once however often it is named."""
    witnesses = notation.asked(asked, episode_id)
    whole = {one.event_id for one in witnesses if isinstance(one, EventWitness)}
    chunks: dict[EventId, list[int]] = {}
    for one in witnesses:
        if isinstance(one, ChunkWitness) and one.event_id not in whole:
            chunks.setdefault(one.event_id, []).append(one.number)
    return Wish(Named(_united(witnesses), frozenset({*whole, *chunks})), chunks)


def _united(witnesses: Sequence[Witness]) -> tuple[tuple[int, int], ...]:
    """The ranges among the witnesses, those that overlap or touch as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted((one.first, one.last) for one in witnesses if isinstance(one, RangeWitness)):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def events(
    look: Look,
    among: Among,
    threads: Threads | None = None,
    *,
    after: Spot | None = None,
    limit: int = MOST,
) -> Portion[Event, Spot]:
    """The events that are meant, behind a place: as many as a portion holds, and one at least. Where they may lie in
    several threads, those alone that `threads` lets see."""
    store, tenant, readers, rule = look.store, look.principal.tenant, look.readers, look.rule
    taken: list[Placed] = []
    left, looked_at, more = ROOM, after, True
    while more:
        found = store.placed_events(tenant, among, after=looked_at, limit=limited(limit) + 1, readers=readers)
        for one in rule.shown(threads.seen(found) if threads else found):
            if taken and (len(taken) == limit or one.size > left):
                return Portion(_read(look, taken), taken[-1].spot)
            taken.append(one)
            left -= one.size
        more = len(found) > limit
        looked_at = found[-1].spot if found else looked_at
    return Portion(_read(look, taken))


def _read(look: Look, places: Sequence[Placed]) -> tuple[Event, ...]:
    if not places:
        return ()
    ids = [one.id for one in places]
    return tuple(look.store.events_by_id(look.principal.tenant, ids, readers=look.readers))


def entries(store: Store, tenant: TenantId, refs: Sequence[str], *, after: int, limit: int) -> Portion[Entry, int]:
    """The journal's entries about some things, behind one of them: as many as a portion holds, and one at least."""
    found = store.entry_sizes(tenant, refs, after=Seq(after), limit=limited(limit) + 1)
    kept, left = list[Seq](), ROOM
    for seq, size in found[:limit]:
        if kept and size > left:
            break
        kept.append(seq)
        left -= size
    if not kept:
        return Portion()
    return Portion(tuple(store.entries(tenant, seqs=kept)), kept[-1] if len(kept) < len(found) else None)
