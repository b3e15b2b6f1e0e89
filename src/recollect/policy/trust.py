"""Whose words come in, and how far they are believed: by who brings them. Nobody raises trust."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.domain.event import CLAIMED_AUTHOR, REPORTED_BY, Trust
from recollect.domain.scope import Principal, Role
from recollect.policy.speech.planted import planted

_PERSON = (None, "user", "human")
"""Roles in which people speak."""
_NOBODY = ("user", "human")
"""Authors that only repeat the role."""
_ASSISTANT = "assistant"
_SOURCES = frozenset({_ASSISTANT, "tool", "function", "system", "developer", "document", "web"})
"""Roles by which a turn may be called that nobody is named as the author of. Any other word may be somebody's name."""


@dataclass(frozen=True, slots=True)
class Attributed:
    """As whose words something is kept, how far they are believed, and what is noted about that."""

    author: str
    trust: Trust
    meta: Mapping[str, object] = field(default_factory=dict[str, object])


def relayed(principal: Principal) -> frozenset[str] | None:
    """The people whose own words a principal brings in; None where it is anybody's. Left open, an agent relays the user
    it stands for and those it reaches by name, an admin anybody, and other people themselves."""
    if principal.relays is not None:
        return principal.relays | {principal.id} if principal.role is not Role.AGENT else principal.relays
    if principal.role is Role.ADMIN:
        return None
    users = principal.users if principal.role is Role.AGENT and principal.users else frozenset[str]()
    return users | {principal.id}


def speaker(principal: Principal, user_id: str | None = None) -> str:
    """Who says a user's turn of which nobody is named as its author: whom the turn is kept for, where the principal
    relays that one, or the only one whom it relays; else the principal itself."""
    people = relayed(principal)
    if people is None:
        return principal.id
    if user_id in people:
        return user_id
    others = people - {principal.agent_id}
    return next(iter(others)) if len(others) == 1 else principal.id


def of_message(
    principal: Principal, author: str, role: str | None, trust: Trust, user_id: str | None = None
) -> Attributed:
    """A turn, document or tool output that a principal brings in. The words of people whom it relays are theirs; those
    of anybody else are what it reports of them, and are not believed. What an agent brings from tools, pages and
    documents is not believed either: it cannot vouch for it. Nothing is believed more than its bringer says."""
    people = relayed(principal)
    if people is None:
        return Attributed(author, trust)
    if role in _PERSON:
        person = speaker(principal, user_id)
        author = person if author in _NOBODY and person in people else author
        own = author in people
    else:
        own = author == (principal.agent_id or principal.id) or (author == role and role in _SOURCES)
    if not own:
        return Attributed(author, Trust.UNTRUSTED, {REPORTED_BY: principal.agent_id or principal.id})
    vouched = role in _PERSON or role == _ASSISTANT or principal.role is not Role.AGENT
    return Attributed(author, trust if vouched else Trust.UNTRUSTED)


def of_statement(principal: Principal, author: str | None, text: str, trust: Trust) -> Attributed:
    """Something that a principal asks to remember. What an agent states is its own, in whoever's name it says it; an
    order to assistants among it is not believed. A person who names another as the author reports of that one."""
    if principal.agent_id is None:
        return of_message(principal, author or principal.id, None, trust)
    believed = Trust.UNTRUSTED if planted(text) else trust
    named = {} if author in (None, principal.agent_id) else {CLAIMED_AUTHOR: author}
    return Attributed(principal.agent_id, believed, named)
