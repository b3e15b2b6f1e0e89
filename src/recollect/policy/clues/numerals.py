"""Numbers as they are written, in digits or words."""

from collections.abc import Sequence

from recollect.policy.clues.measures import PARTS, SEVERAL, SMALL, TENS, TIMES

_MOST = 1e30
_FEW = 8
"""Words of a number that is added to another: "a hundred and two dozen and a half"."""


def number(words: Sequence[str], at: int) -> tuple[float | None, int]:
    """The number that begins at a place, in digits or words, and where it ends."""
    if at >= len(words):
        return None, at
    word = words[at]
    total: float
    if word[0].isdecimal():
        if ":" in word or "-" in word or len(word) > 15:
            return None, at
        total, at = digits(word), at + 1
        if at < len(words) and words[at] == "k":
            total, at = total * 1000, at + 1
    elif word in TENS:
        total, at = TENS[word], at + 1
        if at < len(words) and 0 < SMALL.get(words[at], 0) < 10:
            total, at = total + SMALL[words[at]], at + 1
    elif word in SMALL:
        total, at = SMALL[word], at + 1
    elif word in ("half", "quarter", "quarters"):
        if words[at + 1 : at + 3] == ["a", "dozen"]:
            return 6.0, at + 3
        return 1 / PARTS[word], at + 1
    elif word in SEVERAL:
        return float(SEVERAL[word]), at + 1 + (words[at + 1 : at + 2] == ["of"])
    elif word in TIMES:
        total = 1
    else:
        return None, at
    while at < len(words) and words[at] in TIMES:
        total, at = min(total * TIMES[words[at]], _MOST), at + 1
        rest, end = _added(words, at + 1) if words[at : at + 1] == ["and"] else (None, at)
        if rest is not None and rest < 100 and words[at + 1] != "half":
            total, at = total + rest, end
    if words[at : at + 3] == ["and", "a", "half"]:
        total, at = total + 0.5, at + 3
    return float(total), at


def _added(words: Sequence[str], at: int) -> tuple[float | None, int]:
    """The number of a few words that follows an "and", and where it ends."""
    found, length = number(words[at : at + _FEW], 0)
    return found, at + length


def digits(word: str) -> float:
    """1,150 is a thousand and more; 9,5 is nine and a half."""
    head, *groups = word.split(",")
    if groups and len(head) <= 3 and all(len(group.split(".")[0]) == 3 for group in groups):
        word = "".join((head, *groups))
    whole, *parts = word.replace(",", ".").split(".")
    return float(f"{whole}.{parts[0]}" if len(parts) == 1 else whole)
