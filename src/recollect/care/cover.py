"""Covering: whether another memory says what one says, so that nobody misses it."""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.domain.event import Trust
from recollect.domain.ids import EventId, ItemId, TenantId
from recollect.domain.item import Active, Item
from recollect.domain.level import Level
from recollect.domain.version import Version
from recollect.domain.witness import bare
from recollect.holdings import Held
from recollect.policy import bands
from recollect.policy.lifecycle import FORGETTABLE
from recollect.ports import Store

SAME = frozenset({"same", "same_as", "duplicate", "duplicate_of"})
"""The edges of memories that say the same. Those that only lie near each other may differ in what matters."""
SURE = 0.92
_READ_BY = ("visibility", "user_id", "project_id", "agent_id", "private", "category")
"""What decides who reads a memory; what is kept for one agent, and of which category, an agent's list among it."""


@dataclass(frozen=True, slots=True)
class Cover:
    """Looks for what covers a memory: one that took over from it, one that is known to say the same, or one that cites
    all that it cites and has all its words. It is served in full, to the same people, is trusted no less, and does not
    expire by itself."""

    store: Store
    tenant: TenantId

    def of(self, item: Item, stays: Callable[[Held], bool] = lambda held: True) -> Held | None:
        """A memory that covers it and stays; None where there is none that surely does."""
        for other in (*self._successor(item), *self._same(item), *self._telling(item)):
            held = self.store.item(self.tenant, other)
            if held and not held.withdrawn and _serves_for(held.item, item) and stays(held):
                return held
        return None

    def _successor(self, item: Item) -> list[ItemId]:
        return [item.superseded_by] if item.superseded_by else []

    def _same(self, item: Item) -> list[ItemId]:
        edges = [edge for edge in self.store.relations(self.tenant, item.id) if edge.strength >= SURE]
        return [edge.to_id if edge.from_id == item.id else edge.from_id for edge in edges if edge.relation_type in SAME]

    def _telling(self, item: Item) -> list[ItemId]:
        """Those that rest on the same events, and more, and say as much."""
        spoken = self.store.speaking(self.tenant, [item.id]).get(item.id)
        if spoken is None:
            return []
        version = spoken[1]
        events = {event.id for event in self.store.cited(self.tenant, [version.id])}
        if not events:
            return []
        citing = {
            one.item_id
            for one in self.store.citing(self.tenant, sorted(events))
            if one.item_id != item.id and events <= one.events.keys()
        }
        told = self.store.speaking(self.tenant, sorted(citing))
        return [other for other, (_, words) in told.items() if self._says(words, version, events)]

    def _says(self, words: Version, own: Version, events: set[EventId]) -> bool:
        """Whether a version cites all of these events itself, and has every word and number that the own one is made
        of, neither denying what the other says."""
        theirs, ours = bare(words.content), bare(own.content)
        return (
            events <= {event.id for event in self.store.cited(self.tenant, [words.id])}
            and bool(bands.content(ours))
            and bands.content(ours) <= bands.content(theirs)
            and bands.numbers(ours) <= bands.numbers(theirs)
            and bands.negated(ours) == bands.negated(theirs)
        )


def _serves_for(other: Item, item: Item) -> bool:
    """Whether who would have been served the item is served the other one instead, in its own words."""
    return (
        isinstance(other.state, Active)
        and other.default_level >= Level.R3
        and other.importance > FORGETTABLE
        and not (other.trust is Trust.UNTRUSTED and item.trust is Trust.TRUSTED)
        and all(getattr(item, name) == getattr(other, name) for name in _READ_BY)
    )
