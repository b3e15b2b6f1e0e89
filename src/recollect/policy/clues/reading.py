"""One statement as the rules read it: once for each text, however many others it is laid beside."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from recollect.policy.clues.lexicon import DISLIKED, EMPTY, LIKED, MARKS, NEGATIONS, NO_MORE, PHRASES, stem
from recollect.policy.clues.measures import BREAKS, MONTHS, WEEKDAYS, Quantity
from recollect.policy.clues.quantities import quantities

READ = 2_000
"""Characters of a statement that are looked at."""
_TOKEN = re.compile(
    r"\d{4}-\d\d-\d\d|\d\d?:\d\d|\d+(?:[.,]\d+)*|[^\W\d_]+\d\w*|[^\W\d_]+(?:'[^\W\d_]+)*|[€$£¥%°.,;:!?]"
)
_ENDS = frozenset(".!?")
_UNDER = 6
"""Words that a negation reaches."""


@dataclass(frozen=True, slots=True)
class Reading:
    words: tuple[str, ...]
    """Every word in lower case, in order, without punctuation."""
    order: tuple[str, ...]
    """The stems of the words that carry it, in order."""
    content: frozenset[str]
    names: frozenset[str]
    """Stems of the words written with a capital; the first word of a sentence only where it owns something."""
    first: str
    """The stem of the first word that carries it."""
    owned: frozenset[tuple[str, str]]
    """Whose is what: ("marta", "sister")."""
    negations: int
    denied: frozenset[str]
    """Stems that stand under a negation."""
    liking: int
    """1 where it tells of a liking, -1 of a dislike, 0 of neither or both."""
    quantities: tuple[Quantity, ...]
    marks: frozenset[str]


@lru_cache(maxsize=2_048)
def read(text: str) -> Reading:
    plain = text[:READ].replace("’", "'").replace("a.m.", "am").replace("p.m.", "pm")  # noqa: RUF001
    tokens: list[str] = _TOKEN.findall(plain)
    lower = [token.lower() for token in tokens]
    words = tuple(word for word in lower if word not in BREAKS)
    bare = [word[:-2] if word.endswith("'s") else word.rstrip("'") for word in lower]
    stems = [stem(word) for word in bare]
    carried = tuple(s for s, word in zip(stems, bare, strict=True) if _carries(word))
    told = [_calendar(token, word) for token, word in zip(tokens, lower, strict=True)]
    marks = {mark for word in told for mark in MARKS.get(word, ())}
    marks.update(mark for pair in pairwise(words) for mark in PHRASES.get(" ".join(pair), ()))
    return Reading(
        words=words,
        order=carried,
        content=frozenset(carried),
        names=frozenset(_names(tokens, bare, stems)),
        first=carried[0] if carried else "",
        owned=frozenset(_owned(lower, bare, stems)),
        negations=sum(_denies(lower, place) for place in range(len(lower))),
        denied=frozenset(_denied(lower, stems)),
        liking=_liking(lower, stems),
        quantities=quantities(told),
        marks=frozenset(marks),
    )


def _carries(word: str) -> bool:
    return word not in EMPTY and word not in NEGATIONS and word not in BREAKS


def _calendar(token: str, word: str) -> str:
    return f"{word}#" if token[0].isupper() and (word in MONTHS or word in WEEKDAYS) else word


def _names(tokens: Sequence[str], bare: Sequence[str], stems: Sequence[str]) -> Iterator[str]:
    starts = True
    for token, word, one in zip(tokens, bare, stems, strict=True):
        if token[0].isupper() and (not starts or token.endswith("'s") or token[1:].isupper()) and _carries(word):
            yield one
        starts = token in _ENDS


def _owned(lower: Sequence[str], bare: Sequence[str], stems: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(lower):
        if word.endswith("'s") and place + 1 < len(lower) and _carries(bare[place + 1]) and _carries(bare[place]):
            yield stems[place], stems[place + 1]


def _denies(lower: Sequence[str], place: int) -> bool:
    """Whether a word denies what follows it; "nothing but" and "no more than" do not."""
    return lower[place] in NEGATIONS and (place + 1 == len(lower) or lower[place + 1] not in NO_MORE)


def _liking(lower: Sequence[str], stems: Sequence[str]) -> int:
    found: set[int] = set()
    for place, word in enumerate(stems):
        if word in LIKED or word in DISLIKED:
            turned = any(_denies(lower, before) for before in range(max(0, place - 3), place))
            found.add(-1 if turned or word in DISLIKED else 1)
    return found.pop() if len(found) == 1 else 0


def _denied(lower: Sequence[str], stems: Sequence[str]) -> Iterator[str]:
    for place in range(len(lower)):
        if _denies(lower, place):
            for under in range(place + 1, min(len(lower), place + 1 + _UNDER)):
                if lower[under] in BREAKS:
                    break
                if _carries(lower[under]):
                    yield stems[under]
