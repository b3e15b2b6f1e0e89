"""What a person says about the answer of a turn: it decides what is served next, and counts for what was served."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.domain.observation import Observation, Use, Used
from recollect.domain.turn import Mark, Turn
from recollect.errors import NotFound
from recollect.policy import access
from recollect.policy.access import Action
from recollect.read.look import Look, agent_reader, person_reader, reader


@dataclass(frozen=True, slots=True)
class Marked:
    """How the turn stands, with those of its memories that may be read; and what is to be recorded of it."""

    turn: Turn
    observations: Sequence[Observation]


def mark(look: Look, turn_id: str, mark: Mark, *, agent: str | None = None) -> Marked:
    """Keep what somebody says about their own turn, or about one of the agent that they name: moderators and admins,
    and who may read all that the agent was served. Raises NotFound where there is no such turn for them. Nobody is
    told of a memory that they may not read."""
    store, principal, at = look.store, look.principal, look.now
    whose = reader(principal) if agent is None or agent == principal.agent_id else agent_reader(agent)
    begun = store.turn(principal.tenant, whose, turn_id, None)
    if begun is None or not _may_mark(look, whose, begun):
        raise _no_turn()
    turn = store.mark(principal.tenant, whose, turn_id, mark, at)
    if turn is None:
        raise _no_turn()
    use = Use.CITED if mark is Mark.CORRECT else Use.IGNORED
    seen = look.seen(turn.items)
    told = replace(turn, items={id: version for id, version in turn.items.items() if id in seen})
    return Marked(told, [Used(item_id, use, at, version) for item_id, version in turn.items.items()])


def _may_mark(look: Look, whose: str, turn: Turn) -> bool:
    """Whether a turn is one's own or for those who look after memory; or, of an agent, served nothing of what is there
    that is not for this one to read."""
    if whose == person_reader(look.principal.id):
        return True
    if isinstance(access.may(look.principal, Action.OVERSEE), access.Allowed):
        return True
    held = look.store.items_by_id(look.principal.tenant, sorted(turn.items))
    return look.readable(turn.items) >= {one.item.id for one in held if not one.withdrawn}


def _no_turn() -> NotFound:
    return NotFound(
        "there is no such turn", "A turn begins with the first query that names it; old ones are forgotten."
    )
