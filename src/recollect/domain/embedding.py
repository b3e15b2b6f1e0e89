"""What the numbers of one embedder mean. Every threshold on a similarity is part of a profile: none holds for all."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The bands of one embedder, as cosines of unit vectors, from surely the same down to merely related.

    `same`: two statements above it say the same. `end`: above it one may end the other's time, where a judge finds so.
    `judge`: above it they are about the same matter, and one may renew or contradict the other. `link_min`: above it
    they are worth an edge. `floor`: unrelated texts rarely reach it. `weighed`: the line between an answer and silence
    was fitted to its cosines; where it was not, it is not drawn.
    """

    same: float = 0.92
    end: float = 0.75
    judge: float = 0.70
    link_min: float = 0.55
    floor: float = 0.25
    weighed: bool = False

    def __post_init__(self) -> None:
        if not -1 <= self.floor <= self.link_min <= self.judge <= self.end <= self.same <= 1:
            raise ValueError("the bands of an embedder rise: floor, link_min, judge, end, same, from -1 to 1")
