"""Whose memory, and who is asking."""

from dataclasses import dataclass
from enum import StrEnum

from recollect.domain.ids import TenantId
from recollect.domain.text import name


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The part of a tenant that a read or a write is about. Fields left out do not narrow it."""

    tenant: TenantId
    user_id: str | None = None
    agent_id: str | None = None
    project_id: str | None = None
    thread_id: str | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        for field in ("user_id", "agent_id", "project_id", "thread_id", "run_id"):
            name(getattr(self, field), field)


class Role(StrEnum):
    AGENT = "agent"
    MEMBER = "member"
    MODERATOR = "moderator"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who a credential stands for. `users` and `projects` bound what it reaches; None means the whole tenant's.
    `relays`: the people whose own words it brings in; None is what `policy.trust.relayed` says."""

    tenant: TenantId
    id: str
    role: Role
    agent_id: str | None = None
    users: frozenset[str] | None = None
    projects: frozenset[str] | None = None
    relays: frozenset[str] | None = None

    def __post_init__(self) -> None:
        name(self.id, "the principal")
        name(self.agent_id, "agent_id")
        if self.role is Role.AGENT and self.agent_id is None:
            raise ValueError("a principal with the role agent needs an agent_id")
        if self.role is not Role.AGENT and self.agent_id is not None:
            raise ValueError("only a principal with the role agent has an agent_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who did it, as the journal records it."""

    id: str
    role: Role
    agent_id: str | None = None


def actor(principal: Principal) -> Actor:
    return Actor(id=principal.id, role=principal.role, agent_id=principal.agent_id)


Readers = frozenset[str] | None
"""Who looks: private words are shown where one of these took part in the thread. None is shown all of them."""
NOBODY: frozenset[str] = frozenset()
"""Readers who took part nowhere: what is left is for everybody who sees the thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a principal may see, as the stores enforce it on every list and search.

    `users` / `projects`: None sees those of the whole tenant. `silo`: the agent whose own silo is in sight. `readers`:
    whose part in a thread counts where its words are private.
    """

    users: frozenset[str] | None
    projects: frozenset[str] | None
    silo: str | None
    readers: Readers


EVERYBODY = Sight(users=None, projects=None, silo=None, readers=None)
"""What care sees: all but the silos, of which each is its own agent's."""
