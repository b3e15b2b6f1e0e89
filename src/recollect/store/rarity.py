"""Which words of a query are worth looking for.

A word that half of the texts hold costs a walk through half of the index and tells little. The rarest words are looked
for, as many as a budget of places in the index allows, and always one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

BUDGET = 4_000
_BUDGET_PER_DOCUMENT = 1 / 200
_FIRST_TEXTS = 200
"""Texts of nobody's that are counted along: how rare a word is shows only against more than a handful."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of a query, and in how many texts it is."""

    text: str
    frequency: int

    @property
    def quoted(self) -> str:
        return '"' + self.text.replace('"', '""') + '"'


def rarest(asked: Sequence[Phrase], documents: int, budget: int = BUDGET) -> list[Phrase]:
    """The rarest phrases whose places in the index stay within the budget; at least one of those that occur."""
    budget += int(documents * _BUDGET_PER_DOCUMENT)
    kept: list[Phrase] = []
    spent = 0
    for phrase in sorted({p.text: p for p in asked if p.frequency}.values(), key=lambda p: p.frequency):
        spent += phrase.frequency
        if kept and spent > budget:
            break
        kept.append(phrase)
    return kept


def weight(frequency: int, documents: int) -> float:
    """How much a phrase tells: the rarer, the more."""
    return max(1e-6, log((documents + _FIRST_TEXTS - frequency + 0.5) / (frequency + 0.5)))
