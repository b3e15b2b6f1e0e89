"""What is made of messages after their author has been answered: vectors, and the memories that took too long."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.ids import EventId, ItemId, RecordId, TenantId
from recollect.domain.item import Item
from recollect.domain.observation import Operation
from recollect.domain.scope import Scope
from recollect.holdings import Vector
from recollect.policy.categories import Categories
from recollect.ports import Embedder, Judge, Store
from recollect.write.change_finder import change_finder
from recollect.write.commit import Commit, Decided
from recollect.write.draft import Draft, about
from recollect.write.extraction import Extraction
from recollect.write.owner import owner_of
from recollect.write.private_words import unmarked_events
from recollect.write.vectors import vectors

EMBEDDED = 32
"""Messages of one step that makes vectors."""
READ = 16
"""Messages of one step that makes memories."""


@dataclass(frozen=True, slots=True)
class Made:
    """What is to be written of some messages, and what is to be recorded beside it."""

    decided: Decided = field(default_factory=Decided)
    skipped: Sequence[Operation] = ()
    private: Sequence[EventId] = ()
    """Events that are private, as the memories in them show."""


@dataclass(frozen=True, slots=True)
class Later:
    """The second look at a thread."""

    store: Store
    clock: Clock
    embedder: Embedder | None
    extraction: Extraction
    judge: Judge | None
    categories: Categories
    """Which of them an agent may read whose messages these are."""

    def episode(self, tenant: TenantId, episode_id: ItemId) -> Item | None:
        """The thread, if it is still there."""
        held = self.store.item(tenant, episode_id)
        return held.item if held and not held.withdrawn else None

    def vectors(self, tenant: TenantId, episode_id: ItemId) -> list[Vector]:
        """Vectors of the next messages that have none."""
        if self.embedder is None:
            return []
        return vectors(self.embedder, self.store.unembedded(tenant, self.embedder.name, episode_id, EMBEDDED))

    def memories(self, episode: Item, events: Sequence[EventId], now: datetime, *, capped: bool) -> Made:
        """The memories in some messages of a thread, each read with the messages before it."""
        tenant = self.extraction.tenant
        new = sorted(self.store.events_by_id(tenant, events), key=lambda event: event.seq)
        if not new:
            return Made()
        first = max(1, new[0].seq - self.extraction.context)
        before = self.store.events(tenant, episode.id, first, new[0].seq - 1) if new[0].seq > 1 else ()
        finder = change_finder(self.judge, self.embedder, self.extraction)
        found = self.extraction.found(before, new, episode.user_id, capped=capped, passed_over=finder is not None)
        owner = owner_of(self.store, episode, scope_of(tenant, episode), self.categories)
        commit = Commit(self.store, self.embedder, self.clock, owner)
        decided = commit.decide(about(episode.topic_key, found.drafts), now)
        if finder:
            found = finder.add(commit, decided, found, episode.topic_key, now, capped=capped)
        decided.vectors += vectors(self.embedder, new)
        private = unmarked_events(self.store, scope_of(tenant, episode), episode.visibility, found.drafts)
        return Made(decided, self._named(found.left_out, episode, now), private)

    def _named(self, left_out: Sequence[Draft], episode: Item, now: datetime) -> list[Operation]:
        """What a cap leaves out, as operational events: the thread, the category, that it was left out and why."""
        return [
            Operation(
                id=RecordId(self.clock.mint()),
                user_id=episode.user_id,
                thread_id=episode.thread_id,
                node="extract",
                op="skip",
                status=f"left out by a cap: {draft.witnesses[-1].id}",
                category=draft.category,
                ts=now,
            )
            for draft in left_out
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
