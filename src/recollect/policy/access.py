"""Who may do what. The one authorisation point behind every door."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from recollect.domain.item import Item, Visibility
from recollect.domain.record import Given
from recollect.domain.scope import Principal, Role, Scope, Sight
from recollect.policy.categories import EVERY_CATEGORY
from recollect.policy.categories import Allowed as Categories


@dataclass(frozen=True, slots=True)
class Allowed:
    """Yes; under a grant when one was needed, so that the reading is recorded."""

    grant: Given | None = None


@dataclass(frozen=True, slots=True)
class Denied:
    why: str


Answer = Allowed | Denied


class Action(StrEnum):
    """What concerns a whole tenant rather than one memory."""

    VERIFY = "verify the journal"
    ROLL_BACK = "roll back a session or a scope"
    EXPORT = "export the whole tenant"
    IMPORT = "import a tenant"
    PROTECT = "make a memory constitutional or lift that"
    CONFIGURE = "change the tenant's rules"
    OVERSEE = "look at the jobs and the journal of others"
    PROMOTE = "promote a version, or lock it"
    COMPRESS = "compress memories now"
    REMAKE = "have old memories made anew"
    INSPECT = "read the words of any version"
    ADVANCE = "advance a project's epoch"


_NEEDS = {
    Action.VERIFY: (Role.MODERATOR, Role.ADMIN),
    Action.OVERSEE: (Role.MODERATOR, Role.ADMIN),
    Action.PROMOTE: (Role.MODERATOR, Role.ADMIN),
    Action.COMPRESS: (Role.MODERATOR, Role.ADMIN),
    Action.INSPECT: (Role.MODERATOR, Role.ADMIN),
    Action.ADVANCE: (Role.MODERATOR, Role.ADMIN),
    Action.REMAKE: (Role.ADMIN,),
    Action.ROLL_BACK: (Role.ADMIN,),
    Action.EXPORT: (Role.ADMIN,),
    Action.IMPORT: (Role.ADMIN,),
    Action.PROTECT: (Role.ADMIN,),
    Action.CONFIGURE: (Role.ADMIN,),
}


_OF_ALL = frozenset(
    {
        Action.VERIFY,
        Action.ROLL_BACK,
        Action.EXPORT,
        Action.IMPORT,
        Action.CONFIGURE,
        Action.OVERSEE,
        Action.REMAKE,
    }
)
"""What is about everybody's at once, and stops at no bounds. The others are done to what the principal reaches."""


def unbound(principal: Principal) -> bool:
    """Whether a principal reaches the whole tenant's users and projects."""
    return principal.users is None and principal.projects is None


def of_whole_tenant(principal: Principal) -> bool:
    """Whether a principal is an admin without bounds: it alone rolls back what it may not read, erases silos, and is
    told what was erased. An admin with bounds reaches what they include, as others do."""
    return principal.role is Role.ADMIN and unbound(principal)


def may(principal: Principal, action: Action) -> Answer:
    """Whether a principal may do what concerns the whole tenant."""
    roles = _NEEDS[action]
    if principal.role not in roles:
        return Denied(f"to {action.value} takes the role {' or '.join(roles)}, {principal.id} is {principal.role}")
    if action in _OF_ALL and not unbound(principal):
        return Denied(f"to {action.value} takes a principal without bounds, {principal.id} has some")
    return Allowed()


def readers(principal: Principal) -> frozenset[str]:
    """Whose part in a thread counts for a principal where words are private: its own, whatever its role."""
    return frozenset({principal.id})


def sight(principal: Principal) -> Sight:
    """What a principal sees in lists and searches. Silos are seen by their own agent alone."""
    users = frozenset({principal.id}) if principal.role is Role.MEMBER else principal.users
    silo = principal.agent_id if principal.role is Role.AGENT else None
    return Sight(users=users, projects=principal.projects, silo=silo, readers=readers(principal))


def reach(principal: Principal) -> Sight:
    """What a principal may name by its id. An admin names private memories within its bounds, too, to erase them or,
    without bounds, to roll them back; that shows none of their words."""
    seen = sight(principal)
    return replace(seen, readers=None) if principal.role is Role.ADMIN else seen


def may_read(
    principal: Principal,
    item: Item,
    grants: Iterable[Given],
    now: datetime,
    categories: Categories = EVERY_CATEGORY,
) -> Answer:
    """Whether a principal may read a memory, as far as the memory itself tells. A person reads a silo only under a
    grant that is in force, and an agent what its `categories` hold. Whether it holds private words of others is the
    store's to say (`Store.withheld`)."""
    if not categories.holds(item.category):
        return Denied("its category is not on the agent's list")
    seen = sight(principal)
    match item.visibility:
        case Visibility.SYSTEM:
            return Allowed()
        case Visibility.USER_PRIVATE:
            if seen.users is None or item.user_id in seen.users:
                return Allowed()
            return Denied("it is another user's")
        case Visibility.PROJECT_SHARED:
            if seen.projects is None or item.project_id in seen.projects:
                return Allowed()
            return Denied("it belongs to another project")
        case Visibility.AGENT_SILO:
            if seen.silo == item.agent_id:
                return Allowed()
            if principal.role is not Role.AGENT:
                for grant in grants:
                    if grant.agent_id == item.agent_id and grant.asked_by == principal.id and now < grant.until:
                        return Allowed(grant)
            return Denied(f"it lies in the silo of {item.agent_id}")


def may_write(principal: Principal, item: Item) -> Answer:
    """Whether a principal may create or change a memory."""
    seen = sight(principal)
    match item.visibility:
        case Visibility.SYSTEM:
            if principal.role in (Role.MODERATOR, Role.ADMIN):
                return Allowed()
            return Denied("system memories are written by moderators and admins")
        case Visibility.AGENT_SILO:
            if seen.silo == item.agent_id:
                return Allowed()
            return Denied(f"the silo of {item.agent_id} is written by that agent alone")
        case Visibility.USER_PRIVATE:
            if seen.users is None or item.user_id in seen.users:
                return _not_for_another_agent(principal, item)
            return Denied("it is another user's")
        case Visibility.PROJECT_SHARED:
            if seen.projects is None or item.project_id in seen.projects:
                return _not_for_another_agent(principal, item)
            return Denied("it belongs to another project")


def _not_for_another_agent(principal: Principal, item: Item) -> Answer:
    if principal.role is Role.AGENT and item.agent_id not in (None, principal.agent_id):
        return Denied(f"it is kept for the agent {item.agent_id}")
    return Allowed()


def may_erase(principal: Principal, item: Item) -> Answer:
    """Whether a principal may erase a memory for good: an admin what is within its bounds, without bounds silos too, or
    the person it is about. Never an agent, and what is constitutional or in a silo only an admin."""
    within = principal.role is Role.ADMIN and isinstance(may_write(principal, item), Allowed)
    if within or of_whole_tenant(principal):
        return Allowed()
    if principal.role is Role.AGENT or item.user_id != principal.id:
        return Denied("erasing is for admins, within their bounds, and for the person concerned")
    if item.constitutional or item.visibility is Visibility.AGENT_SILO:
        return Denied("what is constitutional, or in a silo, is erased by an admin")
    return Allowed()


def may_erase_user(principal: Principal, user_id: str) -> Answer:
    """Whether a principal may erase all that is kept for a user."""
    if of_whole_tenant(principal) or (principal.role is not Role.AGENT and principal.id == user_id):
        return Allowed()
    return Denied("erasing a user is for admins without bounds and for the person concerned")


def may_act_in(principal: Principal, scope: Scope) -> Answer:
    """Whether the ids a request names are within reach of its credential. `agent` must be the credential's own."""
    if scope.tenant != principal.tenant:
        return Denied("the credential is for another tenant")
    if principal.role is Role.AGENT and scope.agent_id not in (None, principal.agent_id):
        return Denied(f"the credential is {principal.agent_id}'s, not {scope.agent_id}'s")
    seen = sight(principal)
    if scope.user_id is not None and seen.users is not None and scope.user_id not in seen.users:
        return Denied(f"{principal.id} may not act for the user {scope.user_id}")
    if scope.project_id is not None and seen.projects is not None and scope.project_id not in seen.projects:
        return Denied(f"{principal.id} may not act in the project {scope.project_id}")
    return Allowed()
