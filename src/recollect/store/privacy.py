"""Private words are for those who took part in the thread that they were said in, and for nobody else.

What is kept: who took part in which thread, and which events of shared threads are private. What follows is told by
conditions on an item i, a version v or an event e, which every statement that hands out words has in it. `:readers[]`
are those who look; one of them has to have taken part. A version takes its words from the events that it cites, and one
that cites none from the version that it was derived from.
"""

from collections.abc import Collection, Iterable, Sequence

from recollect.domain.event import Event
from recollect.domain.ids import EventId
from recollect.domain.item import Item
from recollect.domain.scope import Actor, Readers
from recollect.store.speaking import TELLS
from recollect.store.tx import Tx

Where = tuple[list[str], dict[str, object]]

_SHARED = "i.visibility in ('project-shared', 'system')"
ANY_PRIVATE = "exists (select 1 from private_events n where n.tenant = :tenant)"
"""Whether the tenant has private events at all. Asked once a statement: most have none."""
ANY_MARKED = "exists (select 1 from items m where m.tenant = :tenant and m.private)"
"""Whether it has memories that are marked as private. Where it has neither, nothing is kept from any readers."""
_NOTHING_PRIVATE = f"not {ANY_PRIVATE}"


def _took_part(episode: str) -> str:
    return (
        "exists (select 1 from participants t where t.tenant = :tenant "
        f"and t.episode_id = {episode} and t.principal_id in :readers[])"
    )


_CITED = "from versions v join witnesses w on w.tenant = :tenant and w.version_id = v.id"
_OWN_EVENTS = "exists (select 1 from events o where o.tenant = :tenant and o.item_id = i.id)"
_OF_ITEM = f"v.tenant = :tenant and v.item_id = i.id and {TELLS}"
_CITES_ELSEWHERE = (
    f"exists (select 1 {_CITED} join events c on c.tenant = :tenant and c.id = w.event_id "
    f"where {_OF_ITEM} and not {_took_part('c.item_id')})"
)
"""Whether the words of i come out of a thread that nobody who looks took part in."""
_MARKED = (
    f"(not i.private or not {_SHARED} or (not {_CITES_ELSEWHERE} "
    f"and ({_took_part('i.id')} or not {_OWN_EVENTS}) "
    f"and ({_took_part('i.id')} or i.user_id in :readers[] or i.actor_id in :readers[] "
    f"or exists (select 1 from versions v where v.tenant = :tenant and v.item_id = i.id))))"
)
"""An item that is marked as private and shared is seen by who took part in every thread that its words come out of;
one without any words by whose it is."""
_HIDDEN_WITNESS = (
    "select 1 from witnesses w join private_events p on p.tenant = w.tenant and p.event_id = w.event_id "
    f"where w.tenant = :tenant and w.version_id = v.id and not {_took_part('p.episode_id')}"
)
_UNMARKED = (
    f"({_NOTHING_PRIVATE} or not exists (select 1 {_CITED} "
    "join private_events p on p.tenant = w.tenant and p.event_id = w.event_id "
    f"where {_OF_ITEM} and not {_took_part('p.episode_id')}) or {_OWN_EVENTS})"
)
"""Whatever its mark, an item whose words come out of private events is seen by who may see those. A thread is seen in
any case: it has events besides, and of its summaries each is asked about for itself."""
_VERSION = f"({_NOTHING_PRIVATE} or not exists ({_HIDDEN_WITNESS}))"
_EVENT = (
    f"({_NOTHING_PRIVATE} or not exists (select 1 from private_events p where p.tenant = :tenant "
    f"and p.event_id = e.id and not {_took_part('p.episode_id')}))"
)


def items_for(readers: Readers) -> Where:
    """The condition that an item i holds no private words that are not for these readers."""
    return _where([_MARKED, _UNMARKED], readers)


def speaking_for(readers: Readers) -> Where:
    """The same of an item i and the version v that speaks for it."""
    return _where([_MARKED, _VERSION], readers)


def versions_for(readers: Readers) -> Where:
    """The condition that a version v, which cites events itself, takes no words from private events of others."""
    return _where([_VERSION], readers)


def events_for(readers: Readers) -> Where:
    """The condition that an event e is not a private one of others."""
    return _where([_EVENT], readers)


def found_events_for(readers: Readers) -> Where:
    """The same of an event e and the episode i that owns it."""
    return _where([_MARKED, _EVENT], readers)


def _where(conditions: Sequence[str], readers: Readers) -> Where:
    if readers is None:
        return [], {}
    return list(conditions), {"readers": sorted(readers)}


# -- what is kept from somebody -----------------------------------------------------------------------------

PRIVATE_EVENTS = f"private_events p where p.tenant = :tenant and not {_took_part('p.episode_id')}"
"""The private events p that these readers may not see."""
PRIVATE_ITEMS = f"items i where i.tenant = :tenant and i.private and case when {_MARKED} then 0 else 1 end"
"""The items i that are marked as private, and not for these readers."""


# -- asking about single things ---------------------------------------------------------------------------


def withheld(tx: Tx, refs: Collection[str], readers: Readers) -> frozenset[str]:
    """Those of these items (i:), versions (v:) and events (e:), withdrawn or not, that hold private words which are not
    for these readers."""
    if readers is None or not refs or not _any(tx):
        return frozenset()
    named = {mark: sorted({ref[2:] for ref in refs if ref.startswith(mark)}) for mark in ("i:", "v:", "e:")}
    found: set[str] = set()
    for mark, ask in (("i:", _withheld_items), ("v:", withheld_versions), ("e:", _withheld_events)):
        if named[mark]:
            found |= {f"{mark}{id}" for id in ask(tx, named[mark], readers)}
    return frozenset(found)


def _any(tx: Tx) -> bool:
    row = tx.one(f"select {ANY_PRIVATE} or {ANY_MARKED} where :tenant <> ''")
    return row is not None and bool(row[0])


def _withheld_items(tx: Tx, ids: Sequence[str], readers: frozenset[str]) -> set[str]:
    found = tx.all(
        f"select i.id, case when {_MARKED} and {_UNMARKED} then 1 else 0 end from items i "
        "where i.tenant = :tenant and i.id in :ids[]",
        ids=list(ids),
        readers=sorted(readers),
    )
    return {id for id, seen in found if not seen}


def withheld_versions(tx: Tx, ids: Sequence[str], readers: frozenset[str]) -> set[str]:
    """Those of these versions that take words from private events of others, by themselves or through what they were
    derived from."""
    found = tx.all(
        "with recursive source (id, version_id) as ("
        "select v.id, v.id from versions v where v.tenant = :tenant and v.id in :ids[] "
        f"and {ANY_PRIVATE} "
        "union select s.id, b.derived_from from source s "
        "join versions b on b.tenant = :tenant and b.id = s.version_id where b.derived_from is not null "
        "and not exists (select 1 from witnesses x where x.tenant = :tenant and x.version_id = b.id)) "
        "select distinct s.id from source s join witnesses w on w.tenant = :tenant and w.version_id = s.version_id "
        "join private_events p on p.tenant = :tenant and p.event_id = w.event_id "
        f"where not {_took_part('p.episode_id')}",
        ids=list(ids),
        readers=sorted(readers),
    )
    return {row[0] for row in found}


def _withheld_events(tx: Tx, ids: Sequence[str], readers: frozenset[str]) -> set[str]:
    found = tx.all(
        "select p.event_id from private_events p where p.tenant = :tenant and p.event_id in :ids[] "
        f"and not {_took_part('p.episode_id')}",
        ids=list(ids),
        readers=sorted(readers),
    )
    return {row[0] for row in found}


# -- writing it down --------------------------------------------------------------------------------------


def mark_private(tx: Tx, events: Sequence[EventId]) -> list[EventId]:
    """These events are private from here on: those of shared threads that are there. Elsewhere it would say nothing.
    Those that were not marked before, in the order of their ids: the journal tells of them."""
    if not events:
        return []
    marked = tx.all(
        "insert into private_events (tenant, event_id, episode_id) "
        "select e.tenant, e.id, e.item_id from events e join items i on i.tenant = e.tenant and i.id = e.item_id "
        f"where e.tenant = :tenant and e.id in :ids[] and {_SHARED} on conflict do nothing returning event_id",
        ids=sorted(set(events)),
    )
    return sorted(row[0] for row in marked)


def take_part(tx: Tx, episodes: Iterable[Item], fresh: Iterable[Event], actor: Actor) -> None:
    """Whose these episodes are takes part in them; so does who appended the fresh events, and who speaks in them."""
    found = {(item.id, name) for item in episodes for name in (item.user_id, item.actor_id) if name}
    found |= {(event.item_id, name) for event in fresh for name in (actor.id, event.author)}
    tx.many(
        "insert into participants (tenant, episode_id, principal_id) values (:tenant, :episode, :name) "
        "on conflict do nothing",
        [{"episode": episode, "name": name} for episode, name in sorted(found)],
    )


def leave(tx: Tx, erased: Sequence[EventId]) -> None:
    """Who took part in a thread as the author of these events alone, which are about to be erased, no longer does."""
    found = tx.all(
        "select distinct e.item_id, e.author from events e where e.tenant = :tenant and e.id in :erased[] "
        "and not exists (select 1 from items i where i.tenant = :tenant and i.id = e.item_id "
        "and e.author in (i.user_id, i.actor_id)) "
        "and not exists (select 1 from events o where o.tenant = :tenant and o.item_id = e.item_id "
        "and o.author = e.author and not (o.id in :erased[])) "
        "and not exists (select 1 from journal_refs r join journal h on h.tenant = r.tenant and h.seq = r.seq "
        "where r.tenant = :tenant and r.ref = e.item_id and h.op = 'append' and h.undoes is null "
        "and h.item_id = e.item_id and h.actor = e.author)",
        erased=list(erased),
    )
    tx.many(
        "delete from participants where tenant = :tenant and episode_id = :episode and principal_id = :name",
        [{"episode": episode, "name": name} for episode, name in found],
    )


def derive_participants(tx: Tx) -> None:
    """The same out of what is there: for what was exported before it was kept."""
    tx.do(
        "insert into participants (tenant, episode_id, principal_id) "
        "select tenant, id, user_id from items where tenant = :tenant and kind = 'episode' and user_id is not null "
        "union select tenant, id, actor_id from items "
        "where tenant = :tenant and kind = 'episode' and actor_id is not null "
        "union select tenant, item_id, author from events where tenant = :tenant "
        "union select h.tenant, h.item_id, h.actor from journal h where h.tenant = :tenant and h.op = 'append' "
        "and h.undoes is null and exists (select 1 from items i where i.tenant = :tenant and i.id = h.item_id) "
        "on conflict do nothing"
    )
