"""Two statements side by side: what can be told of them by rules alone. Where the rules are not sure, they say so."""

from enum import StrEnum

from recollect.policy import bands


class Pair(StrEnum):
    """How one statement stands to another."""

    SAME = "same"
    REFINES = "refines"
    CONTRADICTION = "contradiction"
    COMPATIBLE = "compatible"
    UNSURE = "unsure"


def compare(a: str, b: str) -> Pair:
    """What the words alone tell: the same words are the same statement; the same words of which one side is negated, or
    has another number, cannot both be true."""
    if bands.same_words(a, b):
        return Pair.SAME
    left, right = bands.frame(a), bands.frame(b)
    if len(left) < 2 or left != right:
        return Pair.UNSURE
    if bands.negated(a) != bands.negated(b):
        return Pair.CONTRADICTION
    ours, theirs = bands.numbers(a), bands.numbers(b)
    return Pair.CONTRADICTION if len(ours) == len(theirs) and ours != theirs else Pair.UNSURE
