"""The time machine: look at what a rollback would do, then do it. It appends inverses and erases nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.ids import CauseId, EventId, ItemId, Rev, Seq, TenantId
from recollect.domain.journal import Entry
from recollect.domain.scope import Actor, Scope
from recollect.errors import BuiltOn, NotFound, Refused
from recollect.policy import rollback
from recollect.policy.rollback import Past, Plan, Standing
from recollect.ports import Store


@dataclass(frozen=True, slots=True)
class OneEntry:
    """Take back one entry of the journal."""

    seq: Seq


@dataclass(frozen=True, slots=True)
class OneMemory:
    """Bring one memory back to how it was at a revision."""

    item_id: ItemId
    rev: Rev


@dataclass(frozen=True, slots=True)
class Session:
    """Take back everything that had one cause: a refinement session, a job, an earlier rollback."""

    cause: CauseId


@dataclass(frozen=True, slots=True)
class ToRevision:
    """Bring a scope, or the whole tenant, back to how it was at a revision."""

    scope: Scope
    rev: Rev


Target = OneEntry | OneMemory | Session | ToRevision


def chosen(store: Store, tenant: TenantId, target: Target) -> Sequence[Entry]:
    """The entries that a target names."""
    match target:
        case OneEntry(seq):
            found = store.entries(tenant, seqs=[seq])
            missing = f"there is no entry {seq} in the journal"
        case OneMemory(item_id, rev):
            found = [
                e for e in store.entries(tenant, refs=[f"i:{item_id}"], rev_after=rev) if e.header.item_id == item_id
            ]
            missing = f"nothing happened to memory {item_id} since revision {rev}"
        case Session(cause):
            found = store.entries(tenant, cause=cause)
            missing = f"nothing in the journal has the cause {cause}"
        case ToRevision(scope, rev):
            found = store.entries(tenant, scope=scope, rev_after=rev)
            missing = f"nothing happened there since revision {rev}"
    if not found:
        raise NotFound(missing, "See recollect history for what can be rolled back.")
    return found


def preview(store: Store, tenant: TenantId, target: Target, *, cascade: bool = False) -> Plan:
    """What a rollback would undo, what would stay and why, and what stands in its way."""
    taken = {entry.header.seq: rollback.past(entry) for entry in chosen(store, tenant, target)}
    later = _later(store, tenant, taken)
    standing = _standing(store, tenant, [*taken.values(), *later])
    _not_undone_already(target, list(taken.values()), later)
    depending = rollback.dependents(list(taken.values()), later)
    return rollback.plan(list(taken.values()), depending, standing, cascade=cascade)


def roll_back(
    store: Store,
    scope: Scope,
    target: Target,
    *,
    actor: Actor,
    at: datetime,
    cause: CauseId,
    cascade: bool = False,
) -> tuple[Rev, Plan]:
    """Do what the preview shows, in one transaction."""
    plan = preview(store, scope.tenant, target, cascade=cascade)
    if plan.blocked_by:
        raise BuiltOn(
            f"{len(plan.blocked_by)} later entries built on this: {', '.join(map(str, plan.blocked_by[:10]))}",
            "Roll those back too with cascade, or roll them back first.",
            plan.blocked_by,
        )
    if not plan.undo:
        reasons = sorted({stay.why for stay in plan.stays})
        raise Refused("there is nothing to roll back" + (f": {'; '.join(reasons)}" if reasons else ""))
    rev = store.apply(scope, plan.undo, actor=actor, at=at, cause=cause)
    return rev, plan


def _later(store: Store, tenant: TenantId, taken: dict[Seq, Past]) -> list[Past]:
    """Every entry after the chosen ones that names what they made or set, or what came of that."""
    first = min(taken)
    seen: set[str] = set()
    found: dict[Seq, Past] = {}
    pool = list(taken.values())
    while pool:
        things = {thing for entry in pool for thing in entry.refs.own} - seen
        seen |= things
        entries = _naming(store, tenant, things, first) + _uncited(store, tenant, pool, taken, found)
        pool = [entry for entry in entries if entry.seq not in found and entry.seq not in taken]
        found |= {entry.seq: entry for entry in pool}
    return list(found.values())


def _naming(store: Store, tenant: TenantId, things: set[str], after: Seq) -> list[Past]:
    if not things:
        return []
    return [rollback.past(entry) for entry in store.entries(tenant, refs=sorted(things), after=after)]


def _uncited(
    store: Store, tenant: TenantId, pool: Sequence[Past], taken: dict[Seq, Past], found: dict[Seq, Past]
) -> list[Past]:
    """The derivation of versions whose last evidence would go."""
    fresh = rollback.withdrawn_events(pool)
    if not fresh:
        return []
    going: set[EventId] = rollback.withdrawn_events([*taken.values(), *found.values(), *pool])
    cited = {citing.version_id: citing.events for citing in store.citing(tenant, sorted(fresh))}
    orphaned = rollback.uncited(going, cited)
    return _naming(store, tenant, {f"v:{version_id}" for version_id in orphaned}, Seq(0))


def _standing(store: Store, tenant: TenantId, entries: Sequence[Past]) -> Standing:
    items = {entry.item_id for entry in entries if entry.item_id}
    held = [store.item(tenant, item_id) for item_id in sorted(items)]
    return Standing(
        constitutional=frozenset(h.item.id for h in held if h and h.item.constitutional),
        erased=frozenset(tombstone.ref for tombstone in store.tombstones(tenant)),
    )


def _not_undone_already(target: Target, taken: list[Past], later: Sequence[Past]) -> None:
    if not isinstance(target, OneEntry):
        return
    in_force = {entry.seq for entry in rollback.effective([*taken, *later])}
    if taken[0].seq not in in_force:
        by = [entry.seq for entry in later if entry.undoes == taken[0].seq]
        raise Refused(
            f"entry {taken[0].seq} is rolled back already, by entry {max(by)}",
            f"To bring it back, roll back entry {max(by)}.",
        )
