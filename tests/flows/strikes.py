"""A vocabulary for striking memories: what is said, the hammer, and what it leaves."""

from datetime import timedelta
from typing import Any

from recollect.care.compress import Hammer, Hammered
from recollect.domain.ids import ItemId
from recollect.domain.item import Item
from recollect.domain.level import Level
from recollect.domain.version import Version
from recollect.policy.upkeep import Upkeep
from tests.worlds import MIRA, World

LOGIN = (
    "We decided to move the login from JWT tokens to sessions because the tokens were too large.",
    "Good morning!",
    "The session cookie lives for 30 days and is signed with the server key.",
    "Which database should hold the sessions?",
    "The sessions live in PostgreSQL, in the schema auth.",
    "I fixed the logout endpoint /api/logout, it now clears the cookie.",
    "Thanks!",
)
UPKEEP = Upkeep()


def hammer(world: World, **parts: Any) -> Hammer:
    given = {"embedder": None, "writer": None, "upkeep": UPKEEP}
    return Hammer(world.store, world.clock, tenant=world.tenant, **{**given, **parts})


def strike(world: World, item: Item | ItemId, **how: Any) -> Hammered:
    return hammer(world).compress(actor=MIRA, item_id=item if isinstance(item, str) else item.id, **how)


def pass_by(world: World, time: timedelta) -> None:
    world.clock._at += time


def versions(world: World, item: Item, level: Level | None = None) -> list[Version]:
    found = world.store.versions(world.tenant, item.id)
    return [version for version in found if level is None or version.level is level]


def summary(world: World, item: Item) -> Version:
    return world.store.speaking(world.tenant, [item.id])[item.id][1]


def cited(world: World, version: Version) -> set[str]:
    return {event.id for event in world.store.cited(world.tenant, [version.id])}
