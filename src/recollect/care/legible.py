"""Journal entries for somebody to read: without the bodies that carry private words of others."""

from collections.abc import Iterable, Sequence

from recollect.domain.ids import ItemId, TenantId
from recollect.domain.journal import Entry
from recollect.domain.refs import refs
from recollect.domain.scope import Readers
from recollect.ports import Store


def legible(store: Store, tenant: TenantId, entries: Sequence[Entry], readers: Readers) -> list[Entry]:
    """The entries; one that carries words which are private and not for these readers has lost its body."""
    carried = {entry.header.seq: refs(entry.change).own for entry in entries if entry.change}
    named = frozenset[str]().union(*carried.values())
    hidden = set(store.withheld(tenant, sorted(named), readers))
    hidden |= _with_private_words(store, tenant, (ItemId(ref[2:]) for ref in named if ref.startswith("i:")), readers)
    return [entry if hidden.isdisjoint(carried.get(entry.header.seq, ())) else entry.blind for entry in entries]


def _with_private_words(store: Store, tenant: TenantId, items: Iterable[ItemId], readers: Readers) -> frozenset[str]:
    """Those of these items of which a version, of now or of before, is kept from the readers: their own fields may have
    held the same words. A thread has none of its own."""
    held = [held.item for item_id in items if (held := store.item(tenant, item_id)) and held.item.kind != "episode"]
    versions = {
        f"v:{version.id}": f"i:{item.id}"
        for item in held
        for version in store.versions(tenant, item.id, withdrawn=True)
    }
    return frozenset(versions[ref] for ref in store.withheld(tenant, sorted(versions), readers))
