"""Purging: finding what was deleted long enough ago, and what would fall with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.care.erase import Wipe, survey
from recollect.domain.ids import ItemId, Rev, TenantId
from recollect.domain.query import Filters, Page
from recollect.domain.record import Retention, Rules
from recollect.domain.scope import EVERYBODY
from recollect.holdings import Held
from recollect.policy import purge
from recollect.ports import Store

BATCH = 50


@dataclass(frozen=True, slots=True)
class Batch:
    """What to erase, at the revisions it was found at. `last`: the memory behind which the next batch begins."""

    wipe: Wipe
    revs: Mapping[ItemId, Rev]
    last: ItemId


def chosen(store: Store, tenant: TenantId) -> bool:
    """Whether the tenant wants what is deleted to be erased in time."""
    rules = store.record(tenant, "rules", Rules().id)
    return isinstance(rules, Rules) and rules.retention is Retention.PURGE


def next_batch(
    store: Store, tenant: TenantId, now: datetime, *, before: ItemId | None, size: int = BATCH
) -> Batch | None:
    """The next memories that are due, as far as nothing else would fall with them that is not; None at the end."""
    filters = Filters(states=frozenset({"soft_deleted"}), purge_due=now)
    page = store.items(tenant, filters, EVERYBODY, Page(size, before))
    if not page:
        return None
    wipes: list[Wipe] = []
    revs: dict[ItemId, Rev] = {}
    for held in page:
        wipe = survey(store, tenant, [held.item.id])
        reached = _reached(store, tenant, wipe)
        if all(purge.may_fall(other.item, other.withdrawn, now) for other in reached):
            wipes.append(wipe)
            revs |= {other.item.id: other.rev for other in reached}
    return Batch(_together(wipes), revs, page[-1].item.id)


def _reached(store: Store, tenant: TenantId, wipe: Wipe) -> list[Held]:
    """Every memory that would lose content, with those that would lose a version only."""
    named = store.entries(tenant, refs=[f"v:{id}" for id in sorted(wipe.versions)]) if wipe.versions else ()
    owners = {entry.header.item_id for entry in named if entry.header.item_id}
    found = [store.item(tenant, id) for id in sorted(wipe.items | owners)]
    return [held for held in found if held]


def _together(wipes: Sequence[Wipe]) -> Wipe:
    """What falls with several memories is what falls with each of them."""
    return Wipe(
        items=frozenset(id for wipe in wipes for id in wipe.items),
        versions=frozenset(id for wipe in wipes for id in wipe.versions),
        events=frozenset(id for wipe in wipes for id in wipe.events),
    )
