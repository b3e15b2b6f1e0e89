"""Whether the events that a sentence of a language model names bear it out; and what words have in common."""

import re
from collections.abc import Sequence
from functools import lru_cache

from recollect.domain.event import Event
from recollect.domain.witness import Bullet
from recollect.policy import bands
from recollect.policy.distil.material import cited
from recollect.policy.proof import prove

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = "ations ation ingly ings ies ied ing ions ion ers ed es er ly s y e".split()


def supported(bullet: Bullet, events: Sequence[Event]) -> bool:
    """Whether the bullet's witnesses among the events prove it, and leave no doubt."""
    heard = cited(bullet, events)
    proof = prove(bullet.text, range(len(heard)), heard, len(heard) - 1) if heard else None
    return proof is not None and not proof.doubt


def named(text: str, heard: Sequence[Event]) -> bool:
    """Whether every word of a title that carries it was said."""
    said = frozenset(stem(word) for event in heard for word in _WORD.findall(f"{event.author} {event.text}".lower()))
    return all(stem(word) in said for word in words(text))


def words(text: str) -> list[str]:
    """The words of a text that carry it, as they stand, in small letters."""
    return [word for part in bands.content(text) for word in _WORD.findall(part) if len(word) > 2]


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The part of a word that its forms share: "decided" and "decision" have one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
