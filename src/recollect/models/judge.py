"""The bundled judge: a cross-encoder that reads two statements together, run on this machine."""

from collections.abc import Sequence

from recollect.domain.judgement import Chances
from recollect.models.network import Network, readable, shares

NAME = "recollect-judge-2"
LONGEST = 120
"""Word pieces that are read of each statement."""


class LocalJudge:
    """What it says of two statements depends on them alone, whatever else is judged with them."""

    name = NAME

    def __init__(self) -> None:
        self._network = Network("judge", NAME)

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Chances]:
        return [self._one(a, b) for a, b in pairs]

    def _one(self, a: str, b: str) -> Chances:
        pieces = self._network.pieces
        first, second = (pieces.read(readable(text), LONGEST) for text in (a, b))
        types = [0] * len(first) + [1] * (len(second) - 1)
        return Chances.named(self._labels(), shares(self._network.run([*first, *second[1:]], types).tolist()))

    def _labels(self) -> Sequence[str]:
        return self._network.facts["labels"]
