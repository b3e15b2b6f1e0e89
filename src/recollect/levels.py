"""Levels: one memory at the length that helps, the way from there to the evidence, and answers that climb it."""

from collections.abc import Sequence

from recollect.domain import witness as notation
from recollect.domain.event import Event
from recollect.domain.ids import ItemId
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness, Witness
from recollect.errors import checked
from recollect.keeping import Keeping
from recollect.read.shown import Shown


class Levels(Keeping):
    """How single memories are read, as one principal may read them."""

    def show(self, item_id: ItemId) -> Shown:
        """A memory, its versions and the events behind them."""
        held = self._read(item_id)
        versions = self._store.versions(self._tenant, item_id)
        events = self._store.cited(self._tenant, [version.id for version in versions])
        seen = self._gate.readable(event.item_id for event in events)
        return Shown(held.item, held.rev, versions, [event for event in events if event.item_id in seen])

    def thread(self, item_id: ItemId, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """The events of a thread, by the id of its episode, in their order."""
        self._read(item_id)
        return self._store.events(self._tenant, item_id, first=after + 1, limit=limit)

    def evidence(self, item_id: ItemId, witness: str | None = None) -> Sequence[Event]:
        """The events behind a memory; with `witness`, those of them that it names (e:, s:, c:, joined by commas). A
        chunk comes out as its own part of the text."""
        held = self._read(item_id)
        thread = held.item.kind == "episode"
        if witness is None:
            return self.thread(item_id) if thread else self.show(item_id).evidence
        cited = () if thread else self.show(item_id).evidence
        with checked():
            named = notation.read(witness, cited[0].item_id if cited else item_id)
        return [event for one in named for event in self._named(one, item_id if thread else None, cited)]

    def _named(self, witness: Witness, thread: ItemId | None, cited: Sequence[Event]) -> Sequence[Event]:
        """The events that a witness names, out of a thread or out of those that a memory cites."""
        match witness:
            case RangeWitness(_, first, last):
                if thread:
                    return self._store.events(self._tenant, thread, first, last)
                return [event for event in cited if first <= event.seq <= last]
            case EventWitness(event_id) | ChunkWitness(event_id):
                found = self._store.events_by_id(self._tenant, [event_id]) if thread else cited
                events = [
                    event for event in found if event.id == event_id and event.item_id == (thread or event.item_id)
                ]
        if isinstance(witness, EventWitness):
            return events
        return [chunk for event in events for chunk in event.chunk(witness.number)]
