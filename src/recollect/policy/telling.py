"""Which sentences of a summary speak of a question."""

from collections.abc import Mapping, Sequence

from recollect.domain.witness import Bullet
from recollect.policy.pack import worth_of

SERVED = 3
"""Sentences of a summary that are served for a question."""


def telling(bullets: Sequence[Bullet], worth: Mapping[str, float]) -> list[Bullet]:
    """The bullets that speak of the question, most of it first; where none does, the first one."""
    weighed = [(worth_of(bullet.text, worth), -place) for place, bullet in enumerate(bullets)]
    order = sorted(range(len(bullets)), key=lambda place: weighed[place], reverse=True)
    return [bullets[place] for place in order if weighed[place][0] > 0] or list(bullets[:1])
