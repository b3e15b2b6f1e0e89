"""What happened, or would, for somebody to read: without private words of others."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.domain.change import Change, Consent, Note, operation, plain
from recollect.domain.ids import ItemId, TenantId
from recollect.domain.journal import Entry
from recollect.domain.refs import item_of, refs
from recollect.domain.scope import Readers
from recollect.policy.ground import change_of
from recollect.policy.rollback import Plan, Unread
from recollect.ports import Store


def legible(store: Store, tenant: TenantId, entries: Sequence[Entry], readers: Readers) -> list[Entry]:
    """The entries; one that carries words which are private and not for these readers has lost its body."""
    changes = {entry.header.seq: change_of(entry) for entry in entries}
    carried = {seq: _carried(change) for seq, change in changes.items() if change}
    hidden = _hidden(store, tenant, carried.values(), readers)
    return [entry if hidden.isdisjoint(carried.get(entry.header.seq, ())) else entry.blind for entry in entries]


def legible_plan(store: Store, tenant: TenantId, plan: Plan, readers: Readers) -> Plan:
    """The plan of a rollback; of what carries words which are private and not for these readers, that it is undone."""
    carried = {undo.entry: _carried(undo) for undo in plan.undo}
    hidden = _hidden(store, tenant, carried.values(), readers)
    unread = [undo for undo in plan.undo if not hidden.isdisjoint(carried[undo.entry])]
    return replace(
        plan,
        undo=tuple(undo for undo in plan.undo if undo not in unread),
        unread=tuple(Unread(undo.entry, operation(undo), item_of(undo.change)) for undo in unread),
    )


def _carried(change: Change) -> frozenset[str]:
    """The things whose words a change may carry. What is noted of memories may tell what they say."""
    named = refs(change)
    return named.all if isinstance(plain(change), Note | Consent) else named.own


def _hidden(store: Store, tenant: TenantId, carried: Iterable[frozenset[str]], readers: Readers) -> set[str]:
    """Those of the things that hold private words which are not for these readers, or once did."""
    named = frozenset[str]().union(*carried)
    items = (ItemId(ref[2:]) for ref in named if ref.startswith("i:"))
    return {*store.withheld(tenant, sorted(named), readers), *_with_private_words(store, tenant, items, readers)}


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
