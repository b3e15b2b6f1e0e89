"""Who takes part in the isolation drive, what each of them says, and who may see it: the rules told once more, so that
they can be held against what the server does."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.domain.ids import TenantId
from recollect.domain.item import Item, Visibility
from recollect.domain.scope import Principal, Role

HERE, THERE = TenantId("default"), TenantId("elsewhere")
CANARY = re.compile(r"zq[a-j]{7}")
"""A word that stands in one text and in no other."""
_LISTS: Mapping[str, frozenset[str]] = {"planner": frozenset({"goals", "tasks", "projects", "procedural"})}
WITHHELD = frozenset({"relationship_dynamic"})
"""What an agent without a list of its own does not get."""


def _reach(*names: str) -> frozenset[str]:
    return frozenset(names)


SUBJECTS: Mapping[str, Principal] = {
    "ana": Principal(tenant=HERE, id="ana", role=Role.MEMBER, projects=_reach("house")),
    "robin": Principal(
        tenant=HERE, id="robin", role=Role.AGENT, agent_id="robin", users=_reach("ana"), projects=_reach("house")
    ),
    "planner": Principal(
        tenant=HERE, id="planner", role=Role.AGENT, agent_id="planner", users=_reach("ana"), projects=_reach("house")
    ),
}
"""Those whose answers must be the same whether or not there is anybody else."""
OTHERS: Mapping[str, Principal] = {
    "ben": Principal(tenant=HERE, id="ben", role=Role.MEMBER, projects=_reach("yard", "lab")),
    "cid": Principal(tenant=HERE, id="cid", role=Role.MEMBER, projects=_reach("yard")),
    "wren": Principal(
        tenant=HERE, id="wren", role=Role.AGENT, agent_id="wren", users=_reach("ben"), projects=_reach("yard")
    ),
    "mona": Principal(tenant=HERE, id="mona", role=Role.MODERATOR),
    "root": Principal(tenant=HERE, id="root", role=Role.ADMIN),
    "ana there": Principal(tenant=THERE, id="ana", role=Role.MEMBER, projects=_reach("house")),
    "robin there": Principal(
        tenant=THERE, id="robin", role=Role.AGENT, agent_id="robin", users=_reach("ana"), projects=_reach("house")
    ),
    "root there": Principal(tenant=THERE, id="root", role=Role.ADMIN),
}
EVERYBODY: Mapping[str, Principal] = {**SUBJECTS, **OTHERS}
OVERSEERS = _reach("mona", "root", "root there")
"""They see what is the subjects', too: they ask about others alone, or their use of it would show."""


@dataclass(frozen=True)
class Place:
    """Where something was said. `part`: the thread, where its private words are for who took part."""

    tenant: str
    visibility: Visibility
    user: str | None
    project: str | None
    agent: str | None
    category: str | None = None
    part: tuple[str, ...] | None = None


@dataclass
class Oracle:
    """Who may see each text, by its canary."""

    planted: dict[str, Place] = field(default_factory=dict[str, Place])
    drawn: int = 0
    took_part: dict[tuple[str, ...], set[str]] = field(default_factory=dict[tuple[str, ...], set[str]])

    def canary(self) -> str:
        """A new word."""
        self.drawn += 1
        return "zq" + "".join(chr(ord("a") + int(digit)) for digit in f"{self.drawn:07}")

    def joins(self, who: Principal, thread: tuple[str, ...]) -> None:
        self.took_part.setdefault(thread, set()).add(who.id)

    def sees(self, who: Principal, canary: str) -> bool:
        place = self.planted.get(canary)
        if place is None:
            return False
        if place.part is not None and who.id not in self.took_part.get(place.part, ()):
            return False
        return in_sight(who, place) and (place.category is None or holds(who, place.category))


def in_sight(who: Principal, place: Place) -> bool:
    """Whether somebody sees what is kept there, whatever its category."""
    if who.tenant != place.tenant:
        return False
    match place.visibility:
        case Visibility.SYSTEM:
            return True
        case Visibility.USER_PRIVATE:
            users = _reach(who.id) if who.role is Role.MEMBER else who.users
            return users is None or place.user in users
        case Visibility.PROJECT_SHARED:
            return who.projects is None or place.project in who.projects
        case Visibility.AGENT_SILO:
            return who.agent_id is not None and who.agent_id == place.agent


def holds(who: Principal, category: str) -> bool:
    """Whether a category is on somebody's list. People have none, and read all that they see."""
    if who.agent_id is None:
        return True
    named = _LISTS.get(who.agent_id)
    return category in named if named is not None else category not in WITHHELD


def place_of(tenant: str, item: Item) -> Place:
    """Where a memory is, for who asks whether its id may be told. That there is a thread is told with its events,
    whatever the list; that something private was said is no secret."""
    category = None if item.kind == "episode" else item.category
    return Place(tenant, item.visibility, item.user_id, item.project_id, item.agent_id, category)
