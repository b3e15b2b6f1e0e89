"""What the tests of a memory's life have in common: a clock whose hands they move, and words for a night's work."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Memory, Principal, Role, Visibility
from recollect.care import epoch as epochs
from recollect.care import promote as promotion
from recollect.care.restore import ToRevision
from recollect.care.retire import retire
from recollect.custody import Deps
from recollect.domain.ids import ItemId, Rev, VersionId
from recollect.domain.item import Item, LockReason
from recollect.domain.observation import Use, Used
from recollect.domain.scope import Actor, Scope
from recollect.policy.upkeep import Upkeep
from recollect.store.sidecar import FileErasures, FileSeal
from tests.jobs.crew import Hands
from tests.worlds import Told, World

UPKEEP = Upkeep()
HOUR = timedelta(minutes=60)
NIGHT = Actor(id="job:retire", role=Role.ADMIN)
PROJECT = {"visibility": Visibility.PROJECT_SHARED, "project_id": "atlas", "user_id": None}


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def memory(world: World, clock: Hands, tmp_path: Path) -> Memory:
    world.clock = clock  # type: ignore[assignment]
    deps = Deps(world.store, clock, FileErasures(tmp_path / "erasures"), FileSeal(tmp_path / "key"))
    return Memory(deps, Principal(tenant=world.tenant, id="mira", role=Role.ADMIN))


def item(world: World, item_id: ItemId) -> Item:
    return world.held(item_id).item


def rev(world: World) -> Rev:
    return world.store.head(world.tenant).rev


def taken_back(world: World, memory: Memory, to: Rev) -> list[str]:
    memory.rollback(ToRevision(Scope(tenant=world.tenant), to))
    assert world.is_whole()
    return world.state()


def promote(
    world: World, told: Told, version: VersionId, lock: timedelta = HOUR, reason: LockReason = LockReason.AUDIT
) -> None:
    held = world.held(told.item)
    change = promotion.promote(world.store, world.tenant, held, version, world.clock.now(), lock, reason)
    assert change is not None
    world.apply(change, expect={held.item.id: held.rev})


def sweep(world: World, *, size: int = 100) -> int:
    """All batches of one night: how many memories were hidden."""
    before, hidden = None, 0
    while batch := retire(world.store, world.tenant, world.clock.now(), UPKEEP, before, size=size):
        if batch.changes:
            world.apply(*batch.changes, actor=NIGHT, expect=batch.expect)
        before, hidden = batch.last, hidden + len(batch.changes)
    return hidden


def advance(world: World, reason: str = "released") -> None:
    world.apply(epochs.advance(world.store, world.tenant, "atlas", reason, world.clock.now()))


def use(world: World, told: Told, what: Use = Use.RETRIEVED) -> None:
    world.store.observe(world.tenant, [Used(told.item.id, what, world.clock.now())])
