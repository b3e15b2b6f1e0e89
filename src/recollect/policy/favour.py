"""What speaks for a memory besides its words: how fresh, important, well connected and useful it is, and whether it is
about the time that is asked for. Small weights: they decide between memories that fit the question alike."""

from dataclasses import dataclass
from datetime import datetime
from math import log1p
from typing import Final

from recollect.domain.item import Insight, Item
from recollect.domain.observation import Usage
from recollect.policy.asked import Asked
from recollect.policy.rank import WEIGHTS, within

FRESH_DAYS: Final = 30
"""After so many days since it was said, not since it was taken in, a memory is half as fresh. What is years old can be
told apart still."""


@dataclass(frozen=True, slots=True)
class Favour:
    """Weights of what is known about a memory, in the units of `rank.Weights`."""

    recency: float = 0.2
    importance: float = 0.15
    relation: float = 0.3
    usage: float = 0.15
    insight: float = -1.0
    """Insights are inferred: they are served with a low weight."""


FAVOUR: Final = Favour()


def signals(
    item: Item, now: datetime, asked: Asked, *, strength: float, usage: Usage, favour: Favour = FAVOUR
) -> dict[str, float]:
    """The signals of a memory. `strength`: of its strongest relation."""
    days = max((now - (item.valid_from or item.origin_at)).total_seconds(), 0) / 86_400
    used = log1p(usage.cited) - 0.5 * log1p(usage.ignored)
    found = {
        "recency": favour.recency / (1 + days / FRESH_DAYS),
        "importance": favour.importance * (item.importance - 3),
        "relation": favour.relation * strength,
        "usage": favour.usage * max(-2.0, min(2.0, used)),
        "time": WEIGHTS.time * within(asked, (item.valid_from or item.origin_at).date()),
    }
    if isinstance(item.body, Insight):
        found["insight"] = favour.insight
    return found
