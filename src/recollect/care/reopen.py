"""What was replaced holds again once what replaced it is gone, and is over again once that is back."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.domain.change import Revise
from recollect.domain.ids import ItemId, TenantId
from recollect.domain.item import Item
from recollect.holdings import Held
from recollect.policy import currency
from recollect.ports import Store


def reopened(store: Store, tenant: TenantId, gone: Sequence[ItemId], now: datetime) -> list[tuple[Held, Revise]]:
    """The memories that these replaced, as they stand without them, each with what it was."""
    going = {id: held.item for id in gone if (held := store.item(tenant, id)) is not None}
    found: list[tuple[Held, Revise]] = []
    for held in store.replaced(tenant, sorted(going)):
        by = held.item.superseded_by
        if held.item.id in going or by is None:
            continue
        change = currency.reopened(held.item, going[by], _heir(going, by), now)
        found += [(held, change)] if change else []
    return found


def closed_again(store: Store, tenant: TenantId, back: Item, now: datetime) -> list[tuple[Held, Revise]]:
    """What a memory that is back took over from, unless something else did meanwhile."""
    held = store.item(tenant, back.supersedes) if back.supersedes else None
    if held is None or held.withdrawn or held.item.superseded_by or held.item.constitutional:
        return []
    return [(held, currency.ended(held.item, back, now))]


def _heir(going: Mapping[ItemId, Item], id: ItemId) -> tuple[ItemId, datetime | None] | None:
    """What replaced one that is going, and is not going itself, and since when it did."""
    seen: set[ItemId] = set()
    while id in going and id not in seen:
        seen.add(id)
        gone = going[id]
        if gone.superseded_by is None:
            return None
        if gone.superseded_by not in going:
            return gone.superseded_by, gone.valid_to
        id = gone.superseded_by
    return None
