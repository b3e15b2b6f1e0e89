"""Whose the memories are that are made: every one of a write has the same owner."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from recollect.domain.ids import ItemId
from recollect.domain.item import Body, Item, Visibility
from recollect.domain.record import Epoch
from recollect.domain.scope import Scope, Sight
from recollect.policy.categories import EVERY_CATEGORY, Allowed, Categories
from recollect.policy.lifecycle import epoch_id
from recollect.ports import Store

_KEYS: Mapping[Visibility, tuple[str, ...]] = {
    Visibility.USER_PRIVATE: ("user_id", "project_id"),
    Visibility.PROJECT_SHARED: ("project_id",),
    Visibility.SYSTEM: (),
    Visibility.AGENT_SILO: ("agent_id", "user_id"),
}
"""The ids that two memories of one visibility share when the same people see them and they are about the same."""

_THREAD = ("user_id", "agent_id", "project_id", "thread_id")


@dataclass(frozen=True)  # no slots: the epoch is looked up once, and only where something is made in a project
class Owner:
    store: Store
    scope: Scope
    visibility: Visibility
    actor_id: str | None
    categories: Allowed = EVERY_CATEGORY
    """Those that who writes may read: memories of others are not compared, merged or replaced, as if not there."""

    @cached_property
    def epoch(self) -> int:
        """How far the project has come at the moment of the write."""
        if self.scope.project_id is None:
            return 0
        found = self.store.record(self.scope.tenant, "epoch", epoch_id(self.scope.project_id))
        return found.number if isinstance(found, Epoch) else 0

    @property
    def sight(self) -> Sight:
        """What is compared and merged: what the owner's own memories are among, and no more."""
        users = {self.scope.user_id} if self.visibility is Visibility.USER_PRIVATE else set[str | None]()
        projects = {self.scope.project_id} if self.visibility is Visibility.PROJECT_SHARED else set[str | None]()
        silo = self.scope.agent_id if self.visibility is Visibility.AGENT_SILO else None
        return Sight(
            users=frozenset(user for user in users if user),
            projects=frozenset(project for project in projects if project),
            silo=silo,
            readers=frozenset({self.actor_id} if self.actor_id else ()),
        )

    def owns(self, item: Item) -> bool:
        """Whether a memory is seen by exactly those who see what is made here, the one who makes it among them."""
        return (
            item.visibility is self.visibility
            and all(getattr(item, name) == getattr(self.scope, name) for name in _KEYS[self.visibility])
            and self.categories.holds(item.category)
        )

    def may_change(self, item: Item) -> bool:
        """Whether one of the owner's memories is renewed or witnessed by what is made here: an agent leaves alone what
        is kept for another one."""
        return self.scope.agent_id is None or item.agent_id in (None, self.scope.agent_id)

    def of_thread(self, item: Item) -> bool:
        """Whether a memory comes out of the thread that is written to, not another of the same name."""
        return all(getattr(item, name) == getattr(self.scope, name) for name in _THREAD)

    def item(self, item_id: ItemId, body: Body, now: datetime, **fields: object) -> Item:
        return Item(
            id=item_id,
            body=body,
            visibility=self.visibility,
            user_id=self.scope.user_id,
            agent_id=self.scope.agent_id,
            project_id=self.scope.project_id,
            thread_id=self.scope.thread_id,
            run_id=self.scope.run_id,
            actor_id=self.actor_id,
            project_epoch=self.epoch,
            created_at=now,
            updated_at=now,
            **{"origin_at": now, **fields},  # type: ignore[arg-type]
        )


def owner_of(store: Store, episode: Item, scope: Scope, categories: Categories) -> Owner:
    """Whose a thread is, and all that is made of it, whenever it is made: what an agent brings in is compared with what
    that agent may read."""
    return Owner(store, scope, episode.visibility, episode.actor_id, categories.allowed(episode.agent_id))
