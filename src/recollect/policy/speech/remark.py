"""Something that was said and is worth keeping, with what a keeper says of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.judgement import Weighed
from recollect.domain.quotation import Quotation

PRIVATE = 0.5
Weights = Mapping[int, Sequence[Weighed]]
"""What the sentences of turns are worth, by the place of their turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that was said and is worth keeping. `told` says it in the third person where that is sure."""

    quotation: Quotation
    told: str | None
    places: tuple[int, ...]
    """The turns that bear it out, the one it was said in last."""
    weighed: tuple[Weighed, ...]
    beside: tuple[Weighed, ...] = ()
    """What the sentences are worth that are quoted because of these."""
    corrects: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @property
    def text(self) -> str:
        """What is compared and embedded."""
        return self.told or self.quotation.plain

    @property
    def served(self) -> str:
        return self.told or self.quotation.framed

    @property
    def keep(self) -> float:
        return max(one.keep for one in self.weighed)

    @property
    def importance(self) -> int:
        """From 1 to 5, as the sentence that matters most."""
        return max(min(5, max(1, round(one.importance))) for one in self.weighed)

    @property
    def category(self) -> str:
        """The likeliest for all its sentences together."""
        names = self.weighed[0].categories
        return max(names, key=lambda name: sum(one.categories[name] * one.keep for one in self.weighed))

    @property
    def private(self) -> bool:
        return is_private((*self.weighed, *self.beside))

    def kind(self, *names: str) -> float:
        """How likely it is one of these kinds of talk."""
        return max(sum(one.kinds.get(name, 0.0) for name in names) for one in self.weighed)


def is_private(weighed: Sequence[Weighed]) -> bool:
    """Whether one of some sentences is for those alone who were there."""
    return any(one.private >= PRIVATE for one in weighed)
