"""Retiring: memories that nobody asks for leave default retrieval. Nothing is removed, and all of it can be undone.

What hides a memory is kept sure rather than broad: a memory that is missed is worse than one too many.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from recollect.care.cover import Cover
from recollect.domain.change import Change
from recollect.domain.ids import ItemId, Rev, TenantId, short, uuid7
from recollect.domain.item import Archived, Expired, Item
from recollect.domain.observation import Usage
from recollect.domain.query import Filters, Page
from recollect.domain.record import Epoch
from recollect.domain.scope import EVERYBODY
from recollect.holdings import Held
from recollect.policy import lifecycle
from recollect.policy.upkeep import Upkeep
from recollect.ports import Store

BATCH = 100
_IN_SIGHT = Filters(states=frozenset({"active", "archived"}))
_JOB = "job:"
_TELLS = "job:extract"
"""The job that speaks for people: what it writes was said by somebody."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What to hide, and the revisions that this relies on: those of the memories that cover others among them.
    `last`: the memory behind which the next batch begins."""

    changes: tuple[Change, ...]
    expect: Mapping[ItemId, Rev]
    last: ItemId


def retire(
    store: Store, tenant: TenantId, now: datetime, upkeep: Upkeep, before: ItemId | None, *, size: int = BATCH
) -> Batch | None:
    """The next memories, and what becomes of those whose time is over; None at the end. An agent's silo is its own to
    tend, and is left alone."""
    page = store.items(tenant, _IN_SIGHT, EVERYBODY, Page(size, before or _youngest(now, upkeep)))
    if not page:
        return None
    look = _Look(store, tenant, now, upkeep)
    usage = store.usage(tenant, [held.item.id for held in page])
    for held in page:
        look.at(held, usage.get(held.item.id))
    return Batch(tuple(look.changes), look.expect, page[-1].item.id)


def _youngest(now: datetime, upkeep: Upkeep) -> ItemId:
    """The id behind which those begin that are old enough for any rule: ids sort by the time they were made."""
    return ItemId(uuid7(now - min(upkeep.archive_after, upkeep.expire_after), bytes(10)))


@dataclass(slots=True)
class _Look:
    """One batch in the making."""

    store: Store
    tenant: TenantId
    now: datetime
    upkeep: Upkeep
    changes: list[Change] = field(default_factory=list[Change])
    expect: dict[ItemId, Rev] = field(default_factory=dict[ItemId, Rev])
    going: set[ItemId] = field(default_factory=set[ItemId])
    epochs: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        self.epochs = {
            record.project_id: record.number
            for record in self.store.records(self.tenant, "epoch")
            if isinstance(record, Epoch)
        }

    def at(self, held: Held, usage: Usage | None) -> None:
        """Decide about one memory."""
        state = self._expired(held, usage) or self._archived(held, usage)
        if state is not None:
            self.changes.append(lifecycle.hidden(held.item, state, self.now))
            self.expect[held.item.id] = held.rev
            self.going.add(held.item.id)

    def _archived(self, held: Held, usage: Usage | None) -> Archived | None:
        item = held.item
        epoch = self.epochs.get(item.project_id or "", 0)
        used = usage.last_accessed_at if usage else None
        if lifecycle.archivable(item, used, epoch, self.now, self.upkeep) is None:
            return None  # most of them: nobody has to look into the journal
        touched = max(filter(None, (used, self._touched(item))), default=None)
        return lifecycle.archivable(item, touched, epoch, self.now, self.upkeep)

    def _expired(self, held: Held, usage: Usage | None) -> Expired | None:
        item = held.item
        anything = lifecycle.expirable(item, usage, "another memory", self.now, self.upkeep)
        if anything is None:
            return None
        touched = self._touched(item)
        if lifecycle.expirable(item, usage, "another memory", self.now, self.upkeep, touched=touched) is None:
            return None
        cover = Cover(self.store, self.tenant).of(item, self._stays)
        if cover is None:
            return lifecycle.expirable(item, usage, None, self.now, self.upkeep, touched=touched)
        self.expect[cover.item.id] = cover.rev
        return lifecycle.expirable(item, usage, short(cover.item.id), self.now, self.upkeep, touched=touched)

    def _stays(self, held: Held) -> bool:
        """Whether a memory is in sight tomorrow, as far as the rules have a say: what covers another one has to be."""
        usage = self.store.usage(self.tenant, [held.item.id]).get(held.item.id)
        return held.item.id not in self.going and self._archived(held, usage) is None

    def _touched(self, item: Item) -> datetime | None:
        """When somebody last changed it or said it again. What upkeep did to it is no sign of life."""
        if item.kind == "episode":  # it may have thousands of entries, one for each message
            return max((event.ts for event in self.store.latest(self.tenant, item.id, 1)), default=None)
        entries = self.store.entries(self.tenant, refs=[f"i:{item.id}"])
        own = [entry.header for entry in entries if entry.header.item_id == item.id]
        return max((header.at for header in own if _by_somebody(header.actor)), default=None)


def _by_somebody(actor: str) -> bool:
    return actor == _TELLS or not actor.startswith(_JOB)
