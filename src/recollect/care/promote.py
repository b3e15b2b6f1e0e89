"""Promoting: a version speaks for its memory, and is left alone for as long as somebody works with it."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from recollect.domain.change import Change, Revise
from recollect.domain.ids import ItemId, Rev, TenantId, VersionId
from recollect.domain.item import LockReason
from recollect.domain.scope import Actor, Scope
from recollect.errors import NotFound, Stale
from recollect.holdings import Held
from recollect.policy import lifecycle
from recollect.ports import Store


def promote(
    store: Store,
    tenant: TenantId,
    held: Held,
    version_id: VersionId,
    now: datetime,
    lock: timedelta,
    reason: LockReason = LockReason.MANUAL_PROMOTE,
) -> Revise | None:
    """The change by which a version becomes the one that speaks; None where it is that already, and locked for longer.
    It relies on the memory as it was read: expect `held.rev` when it is applied."""
    item = held.item
    live = {version.id: version for version in store.versions(tenant, item.id)}
    if version_id in live:
        return lifecycle.promoted(item, live[version_id], now, lock, reason)
    every = {version.id: version for version in store.versions(tenant, item.id, withdrawn=True)}
    if version_id in every:
        return lifecycle.promoted(item, every[version_id], now, lock, reason, withdrawn=True)
    raise no_such_version()


def no_such_version() -> NotFound:
    """What is said of a version that is not there, or is not for who asks."""
    return NotFound("there is no version of this memory by that id", "List them with: recollect levels ID")


def read(store: Store, scope: Scope, seen: Iterable[Held], now: datetime, lock: timedelta, actor: Actor) -> Rev | None:
    """Memories were read: those that are locked stay locked for the full time again. The revision of the write, None
    where nothing had to be written. Whoever reads is not kept waiting: a memory that somebody has just changed keeps
    the lock it has."""
    changes: list[Change] = []
    expect: dict[ItemId, Rev] = {}
    for held in seen:
        if held.item.id not in expect and (change := lifecycle.extended(held.item, now, lock)):
            changes.append(change)
            expect[held.item.id] = held.rev
    if not changes:
        return None
    try:
        return store.apply(scope, changes, actor=actor, at=now, expect=expect)
    except Stale:
        return None
