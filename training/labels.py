"""How two statements may stand to each other, and how a judge is taught it, whichever network it is."""

import math
import random
import time
from collections.abc import Iterator, Sequence

import changes
import torch
import variations
from rows import Row
from torch import Tensor
from torch.nn import functional

LABELS = ("contradiction", "same", "refines", "compatible", "update")
RENAMED, SPOKEN, CLASHING = 0.3, 0.4, 0.15
"""How many of the written pairs are shown under other names, as something that somebody said, with a number changed."""


def varied(row: Row, chance: random.Random) -> Row:
    if row["label"] == "same" and chance.random() < CLASHING and (other := variations.clashing(row, chance)):
        return other
    row = variations.renamed(row, chance) if chance.random() < RENAMED else row
    return variations.spoken(row, chance) if chance.random() < SPOKEN else row


def ordered(row: Row, chance: random.Random) -> Row:
    """The earlier statement first, where it is known which that is; in any order otherwise."""
    if row["kind"].startswith(changes.BESIDE) or chance.random() < 0.5:
        return row
    return {**row, "a": row["b"], "b": row["a"]}


def open_(row: Row) -> bool:
    """Whether two statements clash, and nobody said whether the one tells of a change: the written pairs do not."""
    return row["label"] == "contradiction" and not row["kind"].startswith(changes.BESIDE)


def missed(said: Tensor, truth: Tensor, either: Tensor, smoothing: float) -> Tensor:
    """Cross entropy; where it is open whether something changed, a contradiction and an update are both right."""
    shares = functional.log_softmax(said, 1)
    right = shares.gather(1, truth[:, None]).squeeze(1)
    clash = torch.logaddexp(shares[:, LABELS.index("contradiction")], shares[:, LABELS.index("update")])
    right = torch.where(either, clash, right)
    return -((1 - smoothing) * right + smoothing * shares.mean(1)).mean()


def alike(lengths: Sequence[int], size: int, chance: random.Random) -> Iterator[list[int]]:
    """All places, in batches of about the same length, in any order."""
    places = list(range(len(lengths)))
    chance.shuffle(places)
    for start in range(0, len(places), size * 32):
        some = sorted(places[start : start + size * 32], key=lambda place: lengths[place])
        parts = [some[at : at + size] for at in range(0, len(some), size)]
        chance.shuffle(parts)
        yield from parts


class Course:
    """How far the learning has come, by steps or by the time that there is, whichever is further; and how fast it goes
    there: faster at first, then ever slower."""

    def __init__(self, optimiser: torch.optim.Optimizer, steps: int, seconds: float, warm: float) -> None:
        self._optimiser, self._steps, self._seconds, self._warm = optimiser, steps, seconds, warm
        self._peaks = [group["lr"] for group in optimiser.param_groups]
        self._began, self._done = time.time(), 0
        self.progress = 0.0
        self._set()

    @property
    def over(self) -> bool:
        return self.progress >= 1

    def step(self) -> None:
        self._done += 1
        self.progress = max(self._done / self._steps, (time.time() - self._began) / self._seconds)
        self._set()

    def _set(self) -> None:
        at, warm = min(1.0, self.progress), self._warm
        share = at / warm if at < warm else 0.5 + 0.5 * math.cos(math.pi * (at - warm) / (1 - warm))
        for group, peak in zip(self._optimiser.param_groups, self._peaks, strict=True):
            group["lr"] = peak * max(share, 1e-3)
