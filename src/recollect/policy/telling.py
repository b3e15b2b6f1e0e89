"""Which sentences of a summary speak of a question."""

from collections.abc import Callable, Mapping, Sequence

from recollect.domain.witness import Bullet
from recollect.policy.pack import worth_of

SERVED = 3
"""Sentences of a summary that are served for a question."""
_WORDS = 0.5
"""What the words of a bullet count, against what it is made of."""


def telling(
    bullets: Sequence[Bullet], worth: Mapping[str, float], fit: Callable[[Bullet], float] = lambda bullet: 0.0
) -> list[Bullet]:
    """The bullets that speak of the question, most of it first; where none does, the first one. `fit`: how well what a
    bullet is made of answers, 0 to 1. It was said in more words than the bullet has, and counts for more."""
    weighed = [(_WORDS * worth_of(bullet.text, worth) + fit(bullet), -place) for place, bullet in enumerate(bullets)]
    order = sorted(range(len(bullets)), key=lambda place: weighed[place], reverse=True)
    return [bullets[place] for place in order if weighed[place][0] > 0] or list(bullets[:1])
