"""Erasing for good: find everything that carries the content, list it outside the store, then remove it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.care.reopen import reopened
from recollect.domain.change import Erase
from recollect.domain.ids import CauseId, EventId, ItemId, JobId, RecordId, Rev, TenantId
from recollect.domain.job import Job, Step
from recollect.domain.scope import Actor, Scope
from recollect.errors import RecollectError, Stale, StoreBusy, StoreUnreachable
from recollect.ports import Erasures, Store

_TRIES = 5
_WHATEVER: Mapping[ItemId, Rev] = {}


@dataclass(frozen=True, slots=True)
class Wipe:
    """What an erasure takes with it."""

    items: frozenset[ItemId]
    versions: frozenset[str]
    events: frozenset[EventId]
    checkpoints: tuple[RecordId, ...] = ()
    proposals: tuple[RecordId, ...] = ()

    @property
    def refs(self) -> list[str]:
        return sorted(
            [f"i:{id}" for id in self.items]
            + [f"v:{id}" for id in self.versions]
            + [f"e:{id}" for id in self.events]
            + [f"checkpoint:{id}" for id in self.checkpoints]
            + [f"proposal:{id}" for id in self.proposals]
        )


def _anything(_: Wipe) -> None:
    """No limit."""


def survey(store: Store, tenant: TenantId, items: Sequence[ItemId], events: Sequence[EventId] = ()) -> Wipe:
    """Everything that falls with these memories and events: their versions, what cites or was derived from them,
    and memories that would be left without a word."""
    gone = set(items)
    rooted = store.rooted(tenant, sorted(gone), list(events))
    while rooted.hollow - gone:
        gone |= rooted.hollow
        rooted = store.rooted(tenant, sorted(gone), list(events))
    return Wipe(frozenset(gone), frozenset(rooted.versions), rooted.events)


def evidence(store: Store, tenant: TenantId, item_id: ItemId) -> list[EventId]:
    """The events that a memory's versions cite or have cited, withdrawn or not."""
    versions = [version.id for version in store.versions(tenant, item_id, withdrawn=True)]
    return [event.id for event in store.cited(tenant, versions, withdrawn=True)]


def erase(
    store: Store,
    erasures: Erasures,
    scope: Scope,
    items: Sequence[ItemId],
    events: Sequence[EventId],
    *,
    checkpoints: Sequence[RecordId] = (),
    proposals: Sequence[RecordId] = (),
    allow: Callable[[Wipe], None] = _anything,
    actor: Actor,
    at: datetime,
    reason: str,
    then: Sequence[Job] = (),
    step: Step | None = None,
) -> Wipe:
    """Find everything that falls with these memories and events, and erase it. `allow` raises where that reaches what
    may not be erased."""
    for _ in range(_TRIES):
        wipe = survey(store, scope.tenant, items, events)
        wipe = replace(wipe, checkpoints=tuple(checkpoints), proposals=tuple(proposals))
        allow(wipe)
        try:
            wipe_out(store, erasures, scope, wipe, actor=actor, at=at, reason=reason, then=then, step=step)
        except Stale:
            continue
        return wipe
    raise StoreBusy("others keep writing to what is to be erased", "Try again when they are done.")


def wipe_out(
    store: Store,
    erasures: Erasures,
    scope: Scope,
    wipe: Wipe,
    *,
    actor: Actor,
    at: datetime,
    reason: str,
    cause: CauseId | None = None,
    expect: Mapping[ItemId, Rev] = _WHATEVER,
    then: Sequence[Job] = (),
    step: Step | None = None,
) -> None:
    """Erase exactly this, and let what it had replaced hold again; Stale when more hangs on it by now, or an expected
    memory has changed. The list outside the
    store is written first: a crash in between forgets too much rather than too little."""
    change = Erase(
        items=tuple(sorted(wipe.items)),
        versions=tuple(sorted(wipe.versions)),  # type: ignore[arg-type]
        events=tuple(sorted(wipe.events)),
        checkpoints=wipe.checkpoints,
        proposals=wipe.proposals,
        reason=reason,
    )
    chain_id = store.head(scope.tenant).chain_id
    erasures.add(chain_id, wipe.refs, at)
    holding = reopened(store, scope.tenant, sorted(wipe.items), at)
    changes, stand = [*(revised for _, revised in holding), change], {one.item.id: one.rev for one, _ in holding}
    try:
        store.apply(scope, changes, actor=actor, at=at, cause=cause, expect={**stand, **expect}, then=then, step=step)
    except StoreUnreachable:
        raise  # it may have come about
    except RecollectError:
        erasures.take_back(chain_id, wipe.refs, at)  # or a memory that was rescued in time would be erased later
        raise


def scrubbing(id: JobId, at: datetime) -> Job:
    """The job that scrubs what the engine's logs still hold of erased content, whatever becomes of who erased it."""
    return Job(id=id, kind="scrub", key="scrub", not_before=at)
