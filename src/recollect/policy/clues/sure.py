"""What rules are sure of: statements of the same words that differ in a "not" or in one amount."""

from recollect.policy.clues import amounts
from recollect.policy.clues.lexicon import NEGATIONS, stem
from recollect.policy.clues.measures import SMALL, TENS, TIMES
from recollect.policy.clues.reading import Reading, read

_LOOSE = NEGATIONS.union(SMALL, TENS, TIMES, "a an the any do does did is are was were has have had am pm".split())
"""Words that come and go with a "not" or a number."""


def clash(a: str, b: str) -> tuple[str, str] | None:
    """In what two statements that are otherwise the same cannot both be true, by the name of the clue and in plain
    words; None where rules are not sure."""
    left, right = read(a), read(b)
    frame = _frame(left)
    if len(frame) < 2 or frame != _frame(right):
        return None
    laid = amounts.lay(left.quantities, right.quantities)
    if bool(left.negations) != bool(right.negations):
        return None if laid.alone or laid.clashes else ("negation_one_side", 'a "not" on one side')
    if len(laid.clashes) != 1 or laid.agreed or laid.alone:
        return None
    one, other = laid.clashes[0]
    return "amount_clash", f"{one.said} against {other.said}"


def _frame(reading: Reading) -> list[str]:
    """The words of a statement in order, without its numbers; codes that digits are part of stay: C14 is not C41."""
    return [stem(word) for word in reading.words if word[0].isalpha() and word not in _LOOSE]
