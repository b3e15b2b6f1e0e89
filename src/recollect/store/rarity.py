"""Which words of a query are worth looking for.

A word that half of the texts hold costs a walk through half of the index and tells little. The rarest words are looked
for, as many as a budget of places in the index allows, and always one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

BUDGET = 4_000
_BUDGET_PER_DOCUMENT = 1 / 200


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of a query, and in how many texts its rarest word is."""

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
