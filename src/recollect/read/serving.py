"""What was served in a turn so far, for whoever serves next: no context is served twice."""

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.domain.ids import ItemId, VersionId
from recollect.domain.level import Level
from recollect.domain.observation import Use, Used
from recollect.domain.turn import Mode, Reason, Serving
from recollect.errors import NeedMoreContext, NothingMore, StoreFull, StoreReadOnly
from recollect.policy import level
from recollect.policy.clean import refuse_secret
from recollect.read.look import Look, reader

FURTHEST = 200
"""Steps that are tried before it is said that there is nothing more."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a turn stands about one subject. Without a turn everything is served as if for the first time."""

    look: Look
    subject: str
    turn_id: str | None
    served: int
    bumps: int
    items: Mapping[ItemId, VersionId | None]

    def takes(self, context: str, items: Mapping[ItemId, VersionId | None]) -> bool:
        """Whether this context may be served: not where the turn was served the same words before. A store that cannot
        be written does not keep it: reading goes on, and the turn begins anew."""
        if self.turn_id is None:
            return True
        # That there is nothing is said once per subject, not once per turn.
        words = context or f"nothing about {self.subject}"
        serving = Serving(turn_id=self.turn_id, subject=self.subject, context=words, items=items, at=self.look.now)
        try:
            return self.look.store.serve(self.look.principal.tenant, reader(self.look.principal), serving)
        except (StoreFull, StoreReadOnly):
            return True

    def ignored(self) -> list[Used]:
        """What was served about the subject before and was not enough. What a mark has told is not told again."""
        if self.served <= self.bumps:
            return []
        return [Used(item_id, Use.IGNORED, self.look.now, version) for item_id, version in self.items.items()]


def course(look: Look, turn_id: str | None, subject: str) -> Course:
    """How this reader's turn stands about a subject."""
    turn = None
    if turn_id is not None:
        refuse_secret(turn_id, "the turn's id")
        turn = look.store.turn(look.principal.tenant, reader(look.principal), turn_id, subject)
    if turn is None:
        return Course(look, subject, turn_id, 0, 0, {})
    return Course(look, subject, turn_id, turn.served, turn.bumps, turn.items)


def ask_first(mode: Mode, first: Level, steps: int, *, witnesses: bool, reason: Reason | None) -> None:
    """Raises NeedMoreContext where people want to be asked before more is fetched."""
    if mode is Mode.B and steps > 0:
        raise NeedMoreContext(
            "more evidence is called for, and people are asked before it is fetched",
            "Ask again with agreed, or for more, where they agree.",
            level=level.choose(max(first, Level.R3), steps).name,
            witnesses=witnesses,
            reason=(reason or Reason.UNCERTAINTY).value,
        )


def nothing_more() -> NothingMore:
    return NothingMore("everything that memory has on this was served in this turn", "Begin another turn, or go on.")
