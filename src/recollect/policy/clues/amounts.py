"""The quantities of two statements laid beside each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.policy.clues.measures import Quantity

_DIAL = frozenset({"clock", "hour"})
CALENDAR = frozenset({"clock", "hour", "weekday", "date", "month", "year"})


@dataclass(frozen=True, slots=True)
class Amounts:
    agreed: int
    clashes: tuple[tuple[Quantity, Quantity], ...]
    """Amounts of the same dimension, or of the same counted thing, that are not the same."""
    counts: int
    """Counts of other things that differ."""
    reused: int
    """The same number, of other things."""
    alone: int
    """Quantities of a dimension that only one side has."""


def lay(left: Sequence[Quantity], right: Sequence[Quantity]) -> Amounts:
    if not left or not right:
        return Amounts(0, (), 0, 0, len(left) + len(right))
    agreed, clashes, alone = 0, list[tuple[Quantity, Quantity]](), 0
    for ours, theirs in _by_dimension(left, right):
        if not ours or not theirs:
            alone += len(ours) + len(theirs)
            continue
        apart = [one for one in ours if not any(_same(one, other) for other in theirs)]
        others = [one for one in theirs if not any(_same(one, other) for other in ours)]
        agreed += min(len(ours) - len(apart), len(theirs) - len(others))
        clashes.extend(zip(apart, others, strict=False))
    mine, yours = _counts(left), _counts(right)
    pairs = [(one, other) for one in mine for other in yours]
    akin = [(one, other) for one, other in pairs if one.nouns & other.nouns or not (one.nouns and other.nouns)]
    equal = [(one, other) for one, other in akin if one.agrees(other)]
    settled = {id(one) for pair in equal for one in pair}
    differ = [pair for pair in akin if not settled & {id(one) for one in pair}]
    return Amounts(
        agreed + len(equal),
        (*clashes, *differ),
        int(bool(pairs) and not akin and not any(one.agrees(other) for one, other in pairs)),
        sum(one.agrees(other) for one, other in pairs) - len(equal),
        alone + (len(mine) + len(yours) if not pairs else 0),
    )


def _by_dimension(left: Iterable[Quantity], right: Iterable[Quantity]) -> list[tuple[list[Quantity], list[Quantity]]]:
    sides: dict[str, tuple[list[Quantity], list[Quantity]]] = {}
    for place, quantities in enumerate((left, right)):
        for one in quantities:
            if one.dimension != "count":
                sides.setdefault("dial" if one.dimension in _DIAL else one.dimension, ([], []))[place].append(one)
    if all(sides.get("date", ([], []))):
        sides.pop("month", None)  # of days that differ, the month says nothing more
    return list(sides.values())


def _same(one: Quantity, other: Quantity) -> bool:
    if one.dimension != other.dimension:
        return one.amount % 720 == other.amount % 720
    return one.agrees(other)


def _counts(quantities: Iterable[Quantity]) -> list[Quantity]:
    return [one for one in quantities if one.dimension == "count"]
