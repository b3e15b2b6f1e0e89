"""The time machine: look at what a rollback would do, then do it. It appends inverses and erases nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.change import Discard, Withdraw, plain
from recollect.domain.ids import CauseId, EventId, ItemId, Rev, Seq, TenantId, VersionId
from recollect.domain.item import Episode, Item
from recollect.domain.journal import Entry
from recollect.domain.scope import Actor, Scope
from recollect.errors import BuiltOn, NotFound, Refused, Stale, StoreBusy
from recollect.policy import ground, rollback, times
from recollect.policy.ground import Cited, Past
from recollect.policy.rollback import Plan, Standing
from recollect.ports import Store

_TRIES = 20


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
            found = [e for e in store.entries(tenant, cause=cause) if e.header.op != "private"]
            missing = f"nothing in the journal has the cause {cause}"
        case ToRevision(scope, rev):
            found = [e for e in store.entries(tenant, scope=scope, rev_after=rev) if e.header.op != "private"]
            missing = f"nothing happened there since revision {rev}"
    if not found:
        raise NotFound(missing, "See recollect history for what can be rolled back.")
    return found


def preview(store: Store, tenant: TenantId, target: Target, *, cascade: bool = False) -> Plan:
    """What a rollback would undo, what would stay and why, and what stands in its way."""
    taken = [ground.past(entry) for entry in chosen(store, tenant, target)]
    later, cited = _later(store, tenant, taken)
    _not_undone_already(target, taken, later)
    standing = _standing(store, tenant, [*taken, *later])
    in_force = ground.in_force(taken, later)
    depending = ground.dependents(rollback.movable(in_force, standing), [*taken, *later], cited)
    whole = rollback.plan(in_force, depending, standing, cascade=True)
    if isinstance(target, OneEntry) and target.seq not in {undo.entry for undo in whole.undo}:
        return replace(whole, undo=())  # it stays in any case: then nothing that built on it need go
    plan = whole if cascade else rollback.plan(in_force, depending, standing, cascade=False)
    return _timed(store, tenant, plan)


def _anything(_: Plan) -> None:
    """No limit."""


def roll_back(
    store: Store,
    scope: Scope,
    target: Target,
    *,
    actor: Actor,
    at: datetime,
    cause: CauseId,
    cascade: bool = False,
    allow: Callable[[Plan], None] = _anything,
) -> tuple[Rev, Plan]:
    """Do what the preview shows, in one transaction; when others come in between, look again. `allow` raises where
    that would undo what may not be undone."""
    for _ in range(_TRIES):
        plan = preview(store, scope.tenant, target, cascade=cascade)
        allow(plan)
        if plan.blocked_by:
            raise BuiltOn(
                f"{len(plan.blocked_by)} later entries built on this: {', '.join(map(str, plan.blocked_by[:10]))}",
                "Roll those back too with cascade, or roll them back first.",
                plan.blocked_by,
            )
        if not plan.undo:
            reasons = sorted({stay.why for stay in plan.stays})
            raise Refused("there is nothing to roll back" + (f": {'; '.join(reasons)}" if reasons else ""))
        try:
            return store.apply(scope, plan.undo, actor=actor, at=at, cause=cause), plan
        except Stale:
            continue
    raise StoreBusy("others keep writing to what is to be rolled back", "Try again when they are done.")


def _later(store: Store, tenant: TenantId, taken: Sequence[Past]) -> tuple[list[Past], Cited]:
    """Every entry after the chosen ones that names what they made or set, or what came of that; and which live
    versions cite the events among it."""
    known = {entry.seq: entry for entry in taken}
    first = min(known)
    seen: set[str] = set()
    found: dict[Seq, Past] = {}
    cited: dict[VersionId, Mapping[EventId, bool]] = {}
    pool = list(taken)
    while pool:
        things = {thing for entry in pool for thing in entry.refs.own} - seen
        seen |= things
        entries = _naming(store, tenant, things, first)
        if fresh := ground.withdrawn_events(pool):
            cited |= {citing.version_id: citing.events for citing in store.citing(tenant, sorted(fresh))}
            going = ground.withdrawn_events([*known.values(), *pool])
            bare = {f"v:{version_id}" for version_id in ground.uncited(going, cited)} - seen
            entries += _naming(store, tenant, bare, Seq(0))
        pool = [entry for entry in entries if entry.seq not in known]
        known |= {entry.seq: entry for entry in pool}
        found |= {entry.seq: entry for entry in pool}
    return list(found.values()), cited


def _naming(store: Store, tenant: TenantId, things: set[str], after: Seq) -> list[Past]:
    if not things:
        return []
    return [ground.past(entry) for entry in store.entries(tenant, refs=sorted(things), after=after)]


def _standing(store: Store, tenant: TenantId, entries: Sequence[Past]) -> Standing:
    asked = rollback.asked_for(entries)
    items = {entry.item_id for entry in entries if entry.item_id} | {ItemId(r[2:]) for r in asked if r.startswith("i:")}
    held = [held for item_id in sorted(items) if (held := store.item(tenant, item_id))]
    made = _naming(store, tenant, {ref for ref in asked if ref.startswith("v:")}, Seq(0))
    changes = [plain(entry.change) for entry in entries if entry.change]
    discarded = [change.version.id for change in changes if isinstance(change, Discard)]
    withdrawn = [change.item for change in changes if isinstance(change, Withdraw)]
    threads = {item.id: item for item in withdrawn if isinstance(item.body, Episode) and item.thread_id}
    owners = {id: store.thread(_thread(tenant, item), item.visibility) for id, item in threads.items()}
    return Standing(
        constitutional=frozenset(h.item.id for h in held if h.item.constitutional),
        erased=frozenset(tombstone.ref for tombstone in store.tombstones(tenant)),
        hidden=frozenset({f"i:{h.item.id}" for h in held if h.withdrawn} | (rollback.hidden(made) & asked)),
        evidence=tuple(store.cited(tenant, discarded)) if discarded else None,
        owners={id: owner.item.id for id, owner in owners.items() if owner and owner.item.id != id},
    )


def _thread(tenant: TenantId, item: Item) -> Scope:
    return Scope(
        tenant=tenant,
        user_id=item.user_id,
        agent_id=item.agent_id,
        project_id=item.project_id,
        thread_id=item.thread_id,
    )


def _timed(store: Store, tenant: TenantId, plan: Plan) -> Plan:
    things = {f"i:{item_id}" for item_id in times.retimed(plan)}
    return times.timed(plan, _naming(store, tenant, things, Seq(0))) if things else plan


def _not_undone_already(target: Target, taken: Sequence[Past], later: Sequence[Past]) -> None:
    if isinstance(target, OneEntry) and not ground.in_force(taken, later):
        by = [entry.seq for entry in later if entry.undoes == target.seq]
        raise Refused(
            f"entry {target.seq} is rolled back already, by entry {max(by)}",
            f"To bring it back, roll back entry {max(by)}.",
        )
