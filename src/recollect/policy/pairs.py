"""Two statements side by side: how they stand to each other, how sure that is, and why.

Rules see clues (`policy/clues`); a local judge, where there is one, says how likely each relation is, and a larger one
may have been asked too. A small regression that was fitted to our own pairs weighs all that, another one for each
company of judges: what two say together is spread differently from what one says. Where neither is sure, that is said,
and a language model may be asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log

from recollect.domain.judgement import Chances
from recollect.policy import bands
from recollect.policy.clues import Clues, clues
from recollect.policy.clues import weights as fitted
from recollect.policy.clues.reading import read
from recollect.policy.clues.remarks import ground, remark
from recollect.policy.clues.sure import clash


class Pair(StrEnum):
    """How one statement stands to another."""

    SAME = "same"
    REFINES = "refines"
    CONTRADICTION = "contradiction"
    UPDATE = "update"
    """One of the two tells that the other no longer holds: the later one, wherever it is said."""
    COMPATIBLE = "compatible"
    UNSURE = "unsure"


CLASHES = (Pair.CONTRADICTION, Pair.UPDATE)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is made of two statements, and by what it was told, the weightiest first."""

    verdict: Pair
    chances: Chances
    why: tuple[str, ...]
    grounds: tuple[str, ...]
    """The same without a word of the statements: what may be kept, and outlive them."""
    sure: bool
    """Whether a clash is likely enough to be acted on in a store, where nearly all that lies near each other goes
    together. The verdict calls a clash by a lower line, for pairs that somebody holds against each other."""
    perhaps: bool
    """Whether the later statement may well replace the earlier one: too unlikely to act on it, too likely to pass over
    it. What is sure may be this, too. Rules alone never say so."""

    @property
    def confidence(self) -> float:
        """How likely the verdict is; of what is unsure, the likeliest."""
        shares = _by_label(self.chances)
        if self.verdict is Pair.UNSURE:
            return max(shares.values())
        return shares["contradiction" if self.verdict is Pair.UPDATE else self.verdict]


@dataclass(frozen=True, slots=True)
class _Lines:
    """How likely a relation must be to be called so."""

    contradiction: float
    same: float
    sure: float
    doubt: float
    """From here on a contradiction is too likely for a pair to be called compatible without a second look."""
    store: float
    """From here on, by the judge's own word, a clash is sure enough for a store."""
    perhaps: float
    """From here on, by the same, something may have changed."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """What each clue weighs, and where the lines lie."""

    weights: Mapping[str, tuple[float, ...]]
    lines: _Lines


_RULES = _Scale(
    fitted.RULES,
    _Lines(fitted.RULES_LINE, fitted.RULES_SAME, sure=0.8, doubt=0.1, store=fitted.RULES_LINE, perhaps=1.0),
)
_BOTH = _Scale(
    fitted.BOTH,
    _Lines(
        fitted.BOTH_LINE,
        fitted.BOTH_SAME,
        sure=0.5,
        doubt=0.25,
        store=fitted.BOTH_STORE,
        perhaps=fitted.BOTH_PERHAPS,
    ),
)
_SECOND = _Scale(
    fitted.SECOND,
    _Lines(
        fitted.SECOND_LINE,
        fitted.SECOND_SAME,
        sure=0.5,
        doubt=0.15,
        store=fitted.SECOND_STORE,
        perhaps=fitted.SECOND_PERHAPS,
    ),
)
_FLOOR = 1e-4
_TELLING = 0.25
"""What a clue must weigh to be named."""
_CERTAIN = 0.98
_SHORT = 280
"""Characters of a message that is judged as a whole."""
_JUDGED = "judge_"
_NEVER = "never"


def judged(a: str, b: str, chances: Chances | None = None) -> Ruling:
    """How two statements stand to each other, whichever was first. `chances` is what a judge says of them; without it,
    rules decide alone."""
    if bands.same_words(a, b):
        said = ("the same words",)
        agreed = Chances(contradiction=0.0, same=1.0, refines=0.0, compatible=0.0)
        return Ruling(Pair.SAME, agreed, said, said, sure=False, perhaps=False)
    changed = chances is not None and chances.update >= chances.contradiction
    if certain := clash(a, b):
        rest, told = (1 - _CERTAIN) / 3, "but for it the same words: "
        return Ruling(
            Pair.UPDATE if changed else Pair.CONTRADICTION,
            Chances(contradiction=_CERTAIN, same=rest, refines=rest, compatible=rest),
            (told + certain[1],),
            (told + ground(certain[0]),),
            sure=True,
            perhaps=chances is not None,
        )
    seen = clues(a, b)
    scale = _RULES if chances is None else _SECOND if chances.again else _BOTH
    features = seen if chances is None else {**seen, **_heard(chances)}
    found = _shares(_scores(features, scale.weights))
    chance = found.contradiction if chances is None else chances.contradiction + chances.update
    verdict = _verdict(found, scale.lines)
    if verdict is Pair.CONTRADICTION and changed:
        verdict = Pair.UPDATE
    heard = _said(chances)
    label = {Pair.UNSURE: _likeliest(found), Pair.UPDATE: Pair.CONTRADICTION.value}.get(verdict, verdict.value)
    spoke = _weightiest(seen, label, scale.weights)
    return Ruling(
        verdict,
        found,
        _reasons(heard, [remark(name, a, b) for name in spoke]),
        _reasons(heard, [ground(name) for name in spoke]),
        sure=verdict in CLASHES and chance >= scale.lines.store,
        perhaps=chance >= scale.lines.perhaps,
    )


def in_context(words: str, message: str) -> str:
    """What a judge is shown of a statement that somebody made in a message: all of that where it is short. A change is
    often told in the sentence beside the one that is kept."""
    speaker, framed, _ = words.partition(": ")
    return f"{speaker}: {' '.join(message.split())}" if framed and len(message) <= _SHORT else words


def came_true_since(earlier: str, later: str) -> bool:
    """Whether the earlier of two statements, of different days, says that something never was, and the later one does
    not: what it tells may have come about in between."""
    return _NEVER in read(earlier).marks and _NEVER not in read(later).marks


def _heard(chances: Chances) -> dict[str, float]:
    return {_JUDGED + label: log(max(_FLOOR, share)) for label, share in _by_label(chances).items()}


def _by_label(chances: Chances) -> dict[str, float]:
    """The four relations that rules know: an update clashes with what it replaces."""
    return {
        "contradiction": chances.contradiction + chances.update,
        "same": chances.same,
        "refines": chances.refines,
        "compatible": chances.compatible,
    }


def _scores(features: Clues, weights: Mapping[str, tuple[float, ...]]) -> list[float]:
    scores = list(weights["bias"])
    for name, value in features.items():
        for place, weight in enumerate(weights.get(name, ())):
            scores[place] += value * weight
    return scores


def _shares(scores: list[float]) -> Chances:
    most = max(scores)
    raised = [exp(score - most) for score in scores]
    return Chances.named(fitted.LABELS, [value / sum(raised) for value in raised])


def _verdict(found: Chances, lines: _Lines) -> Pair:
    if found.contradiction >= lines.contradiction:
        return Pair.CONTRADICTION
    if found.same >= lines.same:
        return Pair.SAME
    if found.contradiction >= lines.doubt or max(found.refines, found.compatible) < lines.sure:
        return Pair.UNSURE
    return Pair.REFINES if found.refines >= found.compatible else Pair.COMPATIBLE


_CHANGED = "that one no longer holds"
_NAMED = {
    "contradiction": "a contradiction",
    "same": "the same",
    "refines": "that one says more than the other",
    "compatible": "that both can be true",
}


def _likeliest(chances: Chances) -> str:
    shares = _by_label(chances)
    return max(shares, key=lambda label: shares[label])


def _said(chances: Chances | None) -> list[str]:
    if chances is None:
        return []
    label = _likeliest(chances)
    named = _CHANGED if label == "contradiction" and chances.update >= chances.contradiction else _NAMED[label]
    return [f"the local judge finds {named} ({_by_label(chances)[label]:.2f})"]


def _weightiest(seen: Clues, label: str, weights: Mapping[str, tuple[float, ...]]) -> list[str]:
    """The clues that speak most for a relation, the weightiest first."""
    place = fitted.LABELS.index(label)
    known = ((value, name) for name, value in seen.items() if name in weights)
    spoke = sorted(((value * weights[name][place], name) for value, name in known), reverse=True)
    return [name for weight, name in spoke[:4] if weight >= _TELLING]


def _reasons(heard: Sequence[str], clues_named: Sequence[str]) -> tuple[str, ...]:
    said = tuple(dict.fromkeys((*heard, *clues_named)))
    return said[:3] or ("nothing speaks clearly for or against it",)
