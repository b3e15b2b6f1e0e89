"""What became of what was said: the events whose memories were replaced, until when they held, and by what; and those
whose memories are out of the way."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Active, Item
from recollect.domain.version import Version
from recollect.holdings import Outline
from recollect.policy.currency import MAY_REPLACE
from recollect.read.look import Look

_SHOWN = frozenset({"active", "expired"})
_FURTHEST = 8
"""How often something may have been replaced that was replaced itself."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Until when the words of an event held; `partly` where they say something else that holds still; and the event
    that tells what holds instead, where it may be read."""

    until: datetime
    partly: bool
    now: Event | None


class Made:
    """What was made of events, threads apart. Each event is looked up once."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._known: dict[EventId, Sequence[Outline]] = {}

    def of(self, events: Iterable[EventId]) -> dict[EventId, Sequence[Outline]]:
        """The memories that cite each of these events; those that none cites are left out."""
        wanted = list(dict.fromkeys(events))
        unknown = [id for id in wanted if id not in self._known]
        if unknown:
            found = self._look.store.outlines(self._look.principal.tenant, unknown, readers=self._look.readers)
            self._known |= {id: found.get(id, ()) for id in unknown}
        return {id: self._known[id] for id in wanted if self._known[id]}


def hidden(look: Look, made: Mapping[EventId, Sequence[Outline]], without: frozenset[str]) -> frozenset[EventId]:
    """Of these events, those whose memories are all out of the way for who looks: archived, deleted, or of a category
    that is left out. What was replaced is not: it says until when it held; nor is what was forgotten for want of use,
    since now it is asked for, nor a fact of a category that is served on request: that it was said is evidence."""

    def served(item: Outline) -> bool:
        kept = item.state in _SHOWN or item.superseded_by is not None
        return kept and look.may_ask_for(item) and item.category not in without

    unserved = {id: items for id, items in made.items() if not any(served(item) for item in items)}
    readable = look.readable({item.id for items in unserved.values() for item in items})
    return frozenset(id for id, items in unserved.items() if any(item.id in readable for item in items))


def ended(look: Look, made: Mapping[EventId, Sequence[Outline]]) -> dict[EventId, Ended]:
    """Of these events, those whose memories are over."""
    said = {id: items for id, cited in made.items() if (items := facts_said_in(id, cited))}
    over = {id: [item for item in items if _is_over(item, look.moment)] for id, items in said.items()}
    told = _instead(look, [item for items in over.values() for item in items])
    return {
        id: Ended(
            max(item.valid_to for item in items if item.valid_to),
            len(items) < len(said[id]),
            next((told[item.id] for item in items if item.id in told), None),
        )
        for id, items in over.items()
        if items
    }


def facts_said_in(event_id: EventId, cited: Iterable[Outline]) -> list[Outline]:
    """Of the memories that cite an event, the facts that were said in it."""
    return [one for one in cited if one.kind == "fact" and one.said_in == event_id]


def doubted(look: Look, shown: Mapping[ItemId, datetime]) -> dict[ItemId, ItemId]:
    """Of these memories, each with when it was said, those that may have been replaced by others among them, and by
    which: the earliest. Of several that may have replaced the same one, each was perhaps replaced by the next. What may
    have been replaced by something that is not there to be read beside it is not doubted."""
    edges = look.store.edges(look.principal.tenant, sorted(shown)) if len(shown) > 1 else ()
    newer: dict[ItemId, list[ItemId]] = {}
    for edge in edges:
        if edge.relation_type == MAY_REPLACE and edge.from_id in shown and edge.to_id in shown:
            newer.setdefault(edge.to_id, []).append(edge.from_id)
    found: dict[ItemId, ItemId] = {}
    for older, doubters in newer.items():
        told = sorted(set(doubters), key=lambda id: (shown[id], id))
        for one, after in pairwise([older, *told]):
            if one == older or shown[one] < shown[after]:
                found[one] = min(found.get(one, after), after, key=lambda id: (shown[id], id))
    return found


def doubt(look: Look, item: Item) -> Item | None:
    """The first memory in sight that may have replaced this one, where nobody is sure."""
    edges = look.store.edges(look.principal.tenant, [item.id])
    newer = [edge.from_id for edge in edges if edge.relation_type == MAY_REPLACE and edge.to_id == item.id]
    held = [one.item for id in newer if (one := look.store.item(look.principal.tenant, id)) and not one.withdrawn]
    seen = look.sees(one for one in held if isinstance(one.state, Active))
    return min((one for one in held if one.id in seen), key=lambda one: one.origin_at, default=None)


def _is_over(item: Outline, now: datetime) -> bool:
    return item.valid_to is not None and item.valid_to <= now


def _instead(look: Look, items: Sequence[Outline]) -> dict[ItemId, Event]:
    """The events that tell what holds instead of these, each followed to the end."""
    tenant, store = look.principal.tenant, look.store
    by = {item.id: item.superseded_by for item in items if item.superseded_by}
    known: dict[ItemId, tuple[Item, Version]] = {}
    for _ in range(_FURTHEST):
        unknown = sorted({id for id in by.values() if id not in known})
        if not unknown:
            break
        found = store.speaking(tenant, unknown, readers=look.readers)
        known |= {id: (held.item, version) for id, (held, version) in found.items()}
        by = {id: _next(known, newer) for id, newer in by.items() if newer in known}
    by = {id: newer for id, newer in by.items() if newer in known}
    seen = look.sees(known[newer][0] for newer in by.values())
    events = {id: event_id for id, newer in by.items() if newer in seen and (event_id := known[newer][1].said_in)}
    read = store.events_by_id(tenant, sorted(set(events.values())), readers=look.readers) if events else ()
    readable = look.readable({event.item_id for event in read})
    known_by = [event for event in read if look.at is None or event.ts <= look.at]
    texts = {event.id: event for event in known_by if event.item_id in readable}
    return {id: texts[event_id] for id, event_id in events.items() if event_id in texts}


def _next(known: dict[ItemId, tuple[Item, Version]], newer: ItemId) -> ItemId:
    after = known[newer][0].superseded_by
    return after or newer
