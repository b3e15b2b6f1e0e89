"""Two statements side by side: what rules can see in them, as numbers that a small regression weighs.

Every clue is the same whichever of the two comes first: what was said earlier is not always what was stored earlier.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from recollect.policy.clues import amounts
from recollect.policy.clues.amounts import CALENDAR, Amounts
from recollect.policy.clues.lexicon import MANY, OPPOSITES, SCOPES, SINGLE
from recollect.policy.clues.reading import Reading, read

Clues = Mapping[str, float]


@lru_cache(maxsize=256)
def clues(a: str, b: str) -> Clues:
    """What rules see in two statements: by name, 0 to 1 or a small count. What is not named is 0."""
    left, right = read(a), read(b)
    shared = left.content & right.content
    seen = _words(left, right, shared)
    near = seen["shared_less"]
    seen |= _names(left, right)
    seen |= _subjects(left, right)
    seen |= _denials(left, right, near)
    seen |= _frames(left, right, shared)
    seen |= _amounts(amounts.lay(left.quantities, right.quantities), near)
    seen |= _marks(left, right, near)
    seen["abbreviated"] = float(any(True for _ in abbreviations(left, right)))
    return {name: value for name, value in seen.items() if value}


def _words(left: Reading, right: Reading, shared: frozenset[str]) -> dict[str, float]:
    small, large = sorted((len(left.content), len(right.content)))
    less, more = len(shared) / max(1, small), len(shared) / max(1, large)
    steps, others = (set(pairwise(one.order)) for one in (left, right))
    roots, theirs = ({word[:5] for word in one.content} for one in (left, right))
    together = len(steps & others) / max(1, min(len(steps), len(others)))
    return {
        "words_same": float(left.words == right.words),
        "shared_less": less,
        "shared_more": more,
        "shared_all": float(small >= 2 and len(shared) == small),
        "shared_most": float(less >= 0.75),
        "shared_little": float(less <= 0.25),
        "contained": less * float(less >= 0.8) * (1 - more),
        "roots_less": len(roots & theirs) / max(1, min(len(roots), len(theirs))),
        "roots_more": len(roots & theirs) / max(1, max(len(roots), len(theirs))),
        "steps": together,
        "steps_contained": together * (1 - more),
        "unshared_few": 1 / (1 + small - len(shared)),
        "unshared_many": min(10, large - len(shared)) / 10,
    }


def _names(left: Reading, right: Reading) -> dict[str, float]:
    starts = {left.first, right.first} & left.content & right.content
    ours = left.names | (starts & {left.first} & (right.names | {right.first}))
    theirs = right.names | (starts & {right.first} & (left.names | {left.first}))
    both = ours & theirs
    only, others = ours - right.content, theirs - left.content
    few, many = sorted((len(only), len(others)))
    return {
        "names_both": min(3, len(both)) / 3,
        "names_exchanged": float(few > 0),
        "names_one_side": float(few == 0 < many),
        "names_new": min(3, many) / 3,
        "names_none_shared": float(not both and bool(ours or theirs)),
    }


def _subjects(left: Reading, right: Reading) -> dict[str, float]:
    owners = {owner for owner, _ in left.owned} & {owner for owner, _ in right.owned}
    same = {owner for owner, _ in left.owned & right.owned}
    strange = [
        head
        for one, other in ((left, right), (right, left))
        for owner, head in one.owned
        if owner in other.content and head not in other.content
    ]
    return {
        "subject_same": float(left.first == right.first != ""),
        "subject_known": float(left.first in right.content and right.first in left.content),
        "subject_strange": float(left.first not in right.content or right.first not in left.content),
        "owner_same": float(bool(same)),
        "owned_other": float(bool(owners - same)),
        "owned_strange": float(bool(strange)),
    }


def _denials(left: Reading, right: Reading, near: float) -> dict[str, float]:
    uneven = left.negations % 2 != right.negations % 2
    met = denied(left, right)
    turned = list(opposites(left, right))
    lacking = ("lacking" in left.marks) != ("lacking" in right.marks)
    return {
        "negation_one_side": float(bool(left.negations) != bool(right.negations)),
        "negation_uneven_near": near * uneven,
        "negation_both": float(bool(left.negations and right.negations)),
        "negation_met": float(bool(met)),
        "negation_met_near": near * bool(met),
        "negation_met_more": min(3, len(met)) / 3,
        "negation_strange": float(uneven and not met),
        "denied_both": float(bool(left.denied & right.denied)),
        "negation_met_whole": float(bool(met) and near >= 0.75),
        "liking_turned": float(left.liking * right.liking < 0),
        "liking_turned_near": near * (left.liking * right.liking < 0),
        "liking_same": float(left.liking * right.liking > 0),
        "opposite": float(bool(turned) and not uneven),
        "opposite_whole": float(bool(turned) and not uneven and near >= 0.6),
        "opposite_negated_whole": float(bool(turned) and uneven and near >= 0.6),
        "opposite_near": near * (bool(turned) and not uneven),
        "opposite_negated": float(bool(turned) and uneven),
        "opposite_negated_near": near * (bool(turned) and uneven),
        "lacking_one_side": float(lacking),
        "lacking_against_not": float(lacking and uneven),
    }


def denied(left: Reading, right: Reading) -> frozenset[str]:
    """What one side denies and the other says without a "not"."""
    return (left.denied & right.content) - right.denied | (right.denied & left.content) - left.denied


def opposites(left: Reading, right: Reading) -> Iterator[tuple[str, str]]:
    """Words of which one side has one, and the other its opposite."""
    theirs = right.content - left.content
    for word in left.content - right.content:
        for other in OPPOSITES.get(word, ()):
            if other in theirs:
                yield word, other


def _frames(left: Reading, right: Reading, shared: frozenset[str]) -> dict[str, float]:
    ours, theirs = left.content - shared, right.content - shared
    few, many = sorted((len(ours), len(theirs)))
    replaced = len(shared) >= 2 and 0 < few <= many <= 3
    single, several = bool(shared & SINGLE), bool(shared & MANY)
    common = list(dict.fromkeys(word for word in left.order if word in shared))
    back = list(dict.fromkeys(word for word in right.order if word in shared))
    turned = len(common) >= 2 and common != back
    named = (left.names | {left.first}) & (right.names | {right.first})
    names = [word for word in common if word in named]
    swapped = len(names) >= 2 and [word for word in back if word in names] == names[::-1]
    passive = ("passive" in left.marks) != ("passive" in right.marks)
    bounds = scopes(left, right)
    return {
        "replaced": float(replaced),
        "replaced_one": float(len(shared) >= 2 and few == many == 1),
        "replaced_single": float(replaced and single),
        "replaced_several": float(replaced and several and not single),
        "replaced_name": float(replaced and bool(ours & left.names) and bool(theirs & right.names)),
        "single": float(single),
        "several": float(several),
        "turned": float(turned),
        "turned_whole": float(turned and many <= 1),
        "swapped": float(swapped and not passive),
        "swapped_passive": float(swapped and passive),
        "passive_one_side": float(passive),
        "scope_other": float(bool(bounds)),
        "scope_other_near": len(shared) / max(1, len(shared) + few) * bool(bounds),
        "scope_one_side": float(not bounds and bool(_scoped(ours) or _scoped(theirs))),
    }


def scopes(left: Reading, right: Reading) -> list[tuple[str, str]]:
    """Words that bound what is said, and exclude each other: weekdays here, weekends there."""
    ours, theirs = _scoped(left.content), _scoped(right.content)
    return [
        (ours[group][0][1], theirs[group][0][1])
        for group in ours.keys() & theirs.keys()
        if not {place for place, _ in ours[group]} & {place for place, _ in theirs[group]}
    ]


def _scoped(content: frozenset[str]) -> dict[int, list[tuple[int, str]]]:
    found: dict[int, list[tuple[int, str]]] = {}
    for word in content & SCOPES.keys():
        group, place = SCOPES[word]
        found.setdefault(group, []).append((place, word))
    return found


def _amounts(laid: Amounts, near: float) -> dict[str, float]:
    dated = [pair for pair in laid.clashes if pair[0].dimension in CALENDAR]
    converted = [pair for pair in laid.clashes if pair[0].unit != pair[1].unit]
    counted = [pair for pair in laid.clashes if pair[0].dimension == "count"]
    return {
        "amount_agrees": min(2, laid.agreed) / 2,
        "amount_agrees_all": float(laid.agreed > 0 and not laid.clashes and not laid.alone and not laid.counts),
        "amount_clash": float(bool(laid.clashes)),
        "amount_clash_near": near * bool(laid.clashes),
        "amount_clash_all": float(bool(laid.clashes) and not laid.agreed),
        "amount_clash_all_near": near * (bool(laid.clashes) and not laid.agreed),
        "date_clash": float(bool(dated)),
        "date_clash_near": near * bool(dated),
        "unit_clash": float(bool(converted)),
        "count_clash": float(bool(counted)),
        "count_clash_near": near * bool(counted),
        "counts_of_others": float(laid.counts),
        "number_reused": float(laid.reused > 0),
        "number_reused_near": near * (laid.reused > 0),
        "amount_one_side": min(3, laid.alone) / 3,
        "amount_one_side_near": near * float(laid.alone > 0),
    }


_NEAR = frozenset("changed past planned opinion also other reason since all only some".split())
_AGAINST = (
    ("all", "some"), ("never", "some"), ("never", "all"), ("only", "also"), ("only", "some"), ("only", "all"),
    ("may", "must"), ("before", "after"), ("changed", "since"), ("past", "since"), ("planned", "changed"),
)  # fmt: skip


def _marks(left: Reading, right: Reading, near: float) -> dict[str, float]:
    ours, theirs = left.marks, right.marks
    seen: dict[str, float] = {}
    for mark in ours ^ theirs:
        seen[f"{mark}_one_side"] = 1.0
        if mark in _NEAR:
            seen[f"{mark}_one_side_near"] = near
    for mark in ours & theirs & {"changed", "planned", "past", "only", "all"}:
        seen[f"{mark}_both"] = 1.0
    for one, other in _AGAINST:
        here, there = one in ours and other in theirs - ours, one in theirs and other in ours - theirs
        if here or there:
            seen[f"{one}_against_{other}"] = 1.0
            seen[f"{one}_against_{other}_near"] = near
    return seen


def abbreviations(left: Reading, right: Reading) -> Iterator[tuple[str, str]]:
    """Short words of one side that are the initials of words in a row of the other."""
    for one, other in ((left, right), (right, left)):
        initials = "".join(word[0] for word in other.words)
        for word in one.words:
            if 2 <= len(word) <= 5 and word.isalpha() and word not in other.words and (at := initials.find(word)) >= 0:
                meant = other.words[at : at + len(word)]
                if not one.content >= set(meant) and sum(len(part) > 2 for part in meant) >= 2:
                    yield word, " ".join(meant)
