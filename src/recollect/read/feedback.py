"""What a person says about the answer of a turn: it decides what is served next, and counts for what was served."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.domain.observation import Observation, Use, Used
from recollect.domain.turn import Mark, Turn
from recollect.errors import NotFound
from recollect.policy import access
from recollect.policy.access import Action
from recollect.read.look import Look, agent_reader, agents_readers, reader


@dataclass(frozen=True, slots=True)
class Marked:
    """How the turn stands, with those of its memories that may be read; and what is to be recorded of it."""

    turn: Turn
    observations: Sequence[Observation]


def mark(look: Look, turn_id: str, mark: Mark, *, agent: str | None = None) -> Marked:
    """Keep what somebody says about their own turn, or about one of the agent that they name: moderators and admins,
    and who may read all that the agent was served; the agent's turn in their own service, or else its latest of that
    name. Raises NotFound where there is no such turn for them. Nobody is told of a memory that they may not read."""
    store, principal, at = look.store, look.principal, look.now
    whose = reader(principal) if agent is None or agent == principal.agent_id else _of_agent(look, agent, turn_id)
    turn = store.mark(principal.tenant, whose, turn_id, mark, at) if whose else None
    if turn is None:
        raise _no_turn()
    use = Use.CITED if mark is Mark.CORRECT else Use.IGNORED
    seen = look.seen(turn.items)
    told = replace(turn, items={id: version for id, version in turn.items.items() if id in seen})
    return Marked(told, [Used(item_id, use, at, version) for item_id, version in turn.items.items()])


def _of_agent(look: Look, agent: str, turn_id: str) -> str | None:
    """The reader whose turn is meant."""
    own = agent_reader(agent, look.principal.id)
    found = look.store.turns_of(look.principal.tenant, agents_readers(agent), turn_id)
    ranked = sorted(found, key=lambda turn: (turn.reader == own, turn.begun_at, turn.reader), reverse=True)
    return next((turn.reader for turn in ranked if _may_mark(look, turn, own=turn.reader == own)), None)


def _may_mark(look: Look, turn: Turn, *, own: bool) -> bool:
    """Whether an agent's turn is for those who look after memory to mark, or served nothing of what is there that is
    not for this one to read; nothing at all, where it is in this one's service."""
    if isinstance(access.may(look.principal, Action.OVERSEE), access.Allowed):
        return True
    held = look.store.items_by_id(look.principal.tenant, sorted(turn.items))
    there = {one.item.id for one in held if not one.withdrawn}
    return look.readable(turn.items) >= there and (own or bool(there))


def _no_turn() -> NotFound:
    return NotFound(
        "there is no such turn", "A turn begins with the first query that names it; old ones are forgotten."
    )
