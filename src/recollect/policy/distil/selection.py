"""Which remarks of a thread its summary keeps: what matters most, what is not said yet, within the room there is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from recollect.domain.text import tokens
from recollect.policy.bands import negated
from recollect.policy.distil.support import stem, words
from recollect.policy.speech.remark import Remark

_SAME = 0.7
"""The share of the shorter one's words that two remarks have in common when they say the same."""
_HALF = 0.5
_LENGTH = 60
"""Tokens that length counts from: a sentence of ten words is not worth twice one of twenty."""
_NOTE = 6
"""Tokens that the witnesses of a bullet and its dash take."""


@dataclass(frozen=True, slots=True)
class Bulletin:
    """A remark on its way into a summary: the section it belongs to, and what it is worth there."""

    remark: Remark
    section: str
    worth: float

    @property
    def cost(self) -> int:
        return tokens(self.remark.served) + _NOTE

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(map(stem, words(self.remark.quotation.words)))


def selected(found: Sequence[Bulletin], room: int) -> list[Bulletin]:
    """Those that fit into so many tokens, in the order of the thread; of two that say the same, the later one."""
    left = _unrepeated(found)
    ranks = _ranks(left)
    kept: list[Bulletin] = []
    said: Counter[str] = Counter()
    spent = 0
    while left:
        best = max(left, key=lambda one: _gain(one, said) / ranks[id(one)])
        left.remove(best)
        if spent + best.cost <= room or not kept:
            kept.append(best)
            said[best.remark.quotation.speaker] += 1
            spent += best.cost
    return sorted(kept, key=lambda one: (one.remark.places[-1], one.remark.quotation.excerpts[-1].start))


def _gain(one: Bulletin, said: Counter[str]) -> float:
    """What a remark adds for its length; less where its speaker has had more than half of the word already."""
    share = said[one.remark.quotation.speaker] / max(1, said.total())
    return one.worth / sqrt(_LENGTH + one.cost) * (1.0 if share <= _HALF else _HALF / share)


def _ranks(found: Sequence[Bulletin]) -> dict[int, int]:
    """The first, second, … of what each turn says, by what it is worth: every turn is heard before one is told out."""
    heard: Counter[int] = Counter()
    ranks: dict[int, int] = {}
    for one in sorted(found, key=lambda one: -one.worth):
        heard[one.remark.places[-1]] += 1
        ranks[id(one)] = heard[one.remark.places[-1]]
    return ranks


def _unrepeated(found: Sequence[Bulletin]) -> list[Bulletin]:
    kept: list[tuple[Bulletin, frozenset[str]]] = []
    for one in found:
        stems = one.stems
        kept = [other for other in kept if not _alike(one, stems, *other)]
        kept.append((one, stems))
    return [one for one, _ in kept]


def _alike(one: Bulletin, stems: frozenset[str], other: Bulletin, others: frozenset[str]) -> bool:
    """Whether two remarks of one speaker say the same, so that the later one says how it stands."""
    least = min(len(stems), len(others))
    if one.remark.quotation.speaker != other.remark.quotation.speaker or not least:
        return False
    if negated(one.remark.quotation.words) != negated(other.remark.quotation.words):
        return False
    return len(stems & others) >= _SAME * least
