"""What is made of messages after their author has been answered: vectors, and the memories that took too long."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, TenantId
from recollect.domain.item import Item
from recollect.domain.scope import Scope
from recollect.ports import Embedder, Store, Vector
from recollect.write.commit import Commit, Decided
from recollect.write.extraction import Extraction
from recollect.write.owner import owner_of

BATCH = 32
"""Messages of one step."""


@dataclass(frozen=True, slots=True)
class Later:
    """The second look at a thread."""

    store: Store
    clock: Clock
    embedder: Embedder | None
    extraction: Extraction

    def episode(self, tenant: TenantId, episode_id: ItemId) -> Item | None:
        """The thread, if it is still there."""
        held = self.store.item(tenant, episode_id)
        return held.item if held and not held.withdrawn else None

    def vectors(self, tenant: TenantId, episode_id: ItemId) -> list[Vector]:
        """Vectors of the next messages that have none; of a long one, of its chunks."""
        if self.embedder is None:
            return []
        events = self.store.unembedded(tenant, self.embedder.name, episode_id, BATCH)
        texts = dict(part for event in events for part in pieces(event))
        found = self.embedder.embed(list(texts.values()))
        return [Vector(self.embedder.name, ref, vector) for ref, vector in zip(texts, found, strict=True)]

    def memories(self, episode: Item, events: Sequence[EventId], now: datetime) -> Decided:
        """The memories in some messages of a thread, each read with the messages before it."""
        tenant = self.extraction.tenant
        new = self.store.events_by_id(tenant, events)
        if not new:
            return Decided()
        first = max(1, new[0].seq - self.extraction.context)
        before = self.store.events(tenant, episode.id, first, new[0].seq - 1)
        drafts = self.extraction.drafts(before, new, episode.user_id)
        return Commit(self.store, self.embedder, self.clock, owner_of(episode, scope_of(tenant, episode))).decide(
            drafts, now
        )


def pieces(event: Event) -> list[tuple[str, str]]:
    """What of an event gets a vector, by the name the vector has: the whole, or each chunk."""
    if not event.chunks:
        return [(f"e:{event.id}", event.text)]
    return [
        (f"c:{event.id}.{number}", event.text[span.start : span.end]) for number, span in enumerate(event.chunks, 1)
    ]


def scope_of(tenant: TenantId, episode: Item) -> Scope:
    return Scope(
        tenant=tenant,
        user_id=episode.user_id,
        agent_id=episode.agent_id,
        project_id=episode.project_id,
        thread_id=episode.thread_id,
        run_id=episode.run_id,
    )
