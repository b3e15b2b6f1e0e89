"""What is made of messages after their author has been answered: vectors, and the memories that took too long."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.ids import EventId, ItemId, TenantId
from recollect.domain.item import Item
from recollect.domain.scope import Scope
from recollect.holdings import Vector
from recollect.ports import Embedder, Store
from recollect.write.commit import Commit, Decided
from recollect.write.draft import Draft, about
from recollect.write.extraction import Extraction
from recollect.write.owner import owner_of
from recollect.write.vectors import vectors

EMBEDDED = 32
"""Messages of one step that makes vectors."""
READ = 8
"""Messages of one step that makes memories: those of a few turns are often about each other, and then wait."""


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
        """Vectors of the next messages that have none."""
        if self.embedder is None:
            return []
        return vectors(self.embedder, self.store.unembedded(tenant, self.embedder.name, episode_id, EMBEDDED))

    def memories(self, episode: Item, events: Sequence[EventId], now: datetime) -> tuple[Decided, int]:
        """The memories in some messages of a thread, each read with the messages before it, and of how many messages
        that is all: where one draft may concern another of the same batch, the rest has to wait for it to be written.
        """
        tenant = self.extraction.tenant
        new = sorted(self.store.events_by_id(tenant, events), key=lambda event: event.seq)
        if not new:
            return Decided(), len(events)
        first = max(1, new[0].seq - self.extraction.context)
        before = self.store.events(tenant, episode.id, first, new[0].seq - 1) if new[0].seq > 1 else ()
        drafts = about(episode.topic_key, self.extraction.drafts(before, new, episode.user_id))
        commit = Commit(self.store, self.embedder, self.clock, owner_of(self.store, episode, scope_of(tenant, episode)))
        decided = commit.decide(drafts, now, apart=True)
        done = _done(events, drafts[decided.read :])
        ready = set(events[:done])
        decided.vectors += vectors(self.embedder, [event for event in new if event.id in ready])
        return decided, done


def _done(events: Sequence[EventId], left: Sequence[Draft]) -> int:
    """How many of the messages come before the first that a draft that is left cites; one at least."""
    waiting = {event.id for draft in left[:1] for event in draft.witnesses[-1:]}
    places = [place for place, event_id in enumerate(events) if event_id in waiting]
    return max(1, places[0]) if places else len(events)


def scope_of(tenant: TenantId, episode: Item) -> Scope:
    return Scope(
        tenant=tenant,
        user_id=episode.user_id,
        agent_id=episode.agent_id,
        project_id=episode.project_id,
        thread_id=episode.thread_id,
        run_id=episode.run_id,
    )
