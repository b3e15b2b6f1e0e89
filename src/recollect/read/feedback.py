"""What a person says about the answer of a turn: it decides what is served next, and counts for what was served."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.ids import ItemId
from recollect.domain.observation import Observation, Use, Used
from recollect.domain.scope import Principal, Role
from recollect.domain.turn import Mark, Turn
from recollect.errors import Forbidden, NotFound
from recollect.policy import access
from recollect.ports import Store
from recollect.read.look import agent_reader, reader


@dataclass(frozen=True, slots=True)
class Marked:
    """How the turn stands, and what is to be recorded of it."""

    turn: Turn
    observations: Sequence[Observation]


def mark(
    store: Store, principal: Principal, turn_id: str, mark: Mark, *, at: datetime, agent: str | None = None
) -> Marked:
    """Keep what somebody says about their own turn, or about one of the agent that they name: moderators and admins,
    and who may read all that the agent was served. Raises NotFound where there is no such turn for them."""
    whose = reader(principal)
    if agent is not None and agent != principal.agent_id:
        if principal.role is Role.AGENT:
            raise Forbidden(f"this credential is of the agent {principal.agent_id!r}, not of {agent!r}")
        whose = agent_reader(agent)
        if principal.role is Role.MEMBER and not _worked_for(store, principal, whose, turn_id, at):
            raise _no_turn(turn_id)
    turn = store.mark(principal.tenant, whose, turn_id, mark, at)
    if turn is None:
        raise _no_turn(turn_id)
    use = Use.CITED if mark is Mark.CORRECT else Use.IGNORED
    return Marked(turn, [Used(item_id, use, at, version) for item_id, version in turn.items.items()])


def _worked_for(store: Store, principal: Principal, whose: str, turn_id: str, at: datetime) -> bool:
    """Whether a turn served nothing but what this person may read, too."""
    turn = store.turn(principal.tenant, whose, turn_id, None)
    return turn is not None and all(_reads(store, principal, item_id, at) for item_id in turn.items)


def _reads(store: Store, principal: Principal, item_id: ItemId, at: datetime) -> bool:
    held = store.item(principal.tenant, item_id)
    return (
        held is not None
        and isinstance(access.may_read(principal, held.item, (), at), access.Allowed)
        and not store.withheld(principal.tenant, [f"i:{item_id}"], access.readers(principal))
    )


def _no_turn(turn_id: str) -> NotFound:
    return NotFound(
        f"there is no turn {turn_id}", "A turn begins with the first query that names it; old ones are forgotten."
    )
