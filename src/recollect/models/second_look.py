"""A quick judge for all pairs, and a thorough one for those that the quick one suspects of a clash."""

import logging
from collections.abc import Sequence

from recollect.domain.judgement import Chances
from recollect.errors import ModelFailed
from recollect.ports import Judge

log = logging.getLogger(__name__)

SUSPECT = 0.05
"""How likely a clash must be for a second look. In stories that no judge learned from, one pair in twenty that can both
be true comes up to it, and seven clashes in ten (training/run suspects)."""
SHARE = 0.6
"""What the word of the thorough judge counts for; the rest is the quick one's. The weights of both together
(policy/clues/weights.py) were made for this share: after a change, training/run combine."""


class SecondLook:
    """Of what is suspected, what both say together. Where the thorough one fails, the quick one's word stands."""

    def __init__(self, quick: Judge, thorough: Judge, suspect: float = SUSPECT) -> None:
        self._quick, self._thorough, self._suspect = quick, thorough, suspect
        self.name = f"{quick.name}+{thorough.name}"

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Chances]:
        found = list(self._quick.compare(pairs))
        suspects = [place for place, said in enumerate(found) if said.contradiction + said.update >= self._suspect]
        if not suspects:
            return found
        try:
            again = self._thorough.compare([pairs[place] for place in suspects])
        except ModelFailed as failed:
            log.warning("%d pairs get no second look: %s", len(suspects), failed.what)
            return found
        for place, said in zip(suspects, again, strict=True):
            found[place] = _together(found[place], said)
        return found


def _together(quick: Chances, thorough: Chances) -> Chances:
    def share(one: float, other: float) -> float:
        return (1 - SHARE) * one + SHARE * other

    return Chances(
        contradiction=share(quick.contradiction, thorough.contradiction),
        same=share(quick.same, thorough.same),
        refines=share(quick.refines, thorough.refines),
        compatible=share(quick.compatible, thorough.compatible),
        update=share(quick.update, thorough.update),
        again=True,
    )
