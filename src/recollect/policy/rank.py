"""Ranking: what the indexes found, put in order of how likely it is to answer the question.

Scores are compared with the others of the same answer (how many standard deviations above the best hundred), so that
an engine's own scale does not matter. A turn is read with its neighbours: what is asked in one is told in the next.

What speaks for a hit are its traits, each a number; the weights say what each is worth. They lie half-way between those
fitted on the questions of `training/data` (`training/run ranker`) and those chosen by hand before, with public
benchmarks in view; `python -m bench.recall --data FILE` measures all of it in the product.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from math import exp, log, nextafter, sqrt
from typing import Final, NamedTuple

from recollect.policy.asked import Asked, stems

BEST: Final = 100
"""How many of the best the others are compared with."""
SESSION: Final = timedelta(hours=6)
"""A longer silence in a thread begins another session."""
STATEMENT: Final = 0.5
"""What the vector of a statement is worth, against that of a question: its words tell more than its direction."""

_MORE: Final = 20
_CALLED: Final = 0.5
_SIGNS: Final = str.maketrans(dict.fromkeys("\n\t\"'(),.;:!?/-_[]{}*`#<>=’“”", " "))  # noqa: RUF001


@dataclass(frozen=True)
class Weights:
    """What each trait is worth. A trait that is a score is in standard deviations, a mark is 0 or 1."""

    text: float = 0.20
    vector: float = 0.59
    first_text: float = 0.03
    first_vector: float = -0.01
    both: float = -0.10
    text_before: float = 0.17
    text_after: float = 0.09
    text_around: float = 0.15
    vector_before: float = 0.23
    vector_after: float = 0.17
    vector_around: float = 0.15
    session_text: float = 0.33
    session_vector: float = 0.17
    speaker: float = 1.97
    length: float = 0.32
    overlong: float = -0.34
    reply: float = -4.50
    reply_asked_for: float = 2.50
    question: float = -0.94
    tells_a_time: float = 1.44
    standing: float = 1.35
    standing_for_advice: float = 2.04
    preference_for_advice: float = 0.62
    same_exchange: float = -2.00
    time: float = 1.46
    recency: float = 0.04
    fact: float = 0.80
    coverage: float = 2.00
    coverage_of_statement: float = 24.00
    hop: float = 0.21

    @cached_property
    def by_name(self) -> Mapping[str, float]:
        return asdict(self)


WEIGHTS: Final = Weights()
SIGNALS: Final[Mapping[str, str]] = {
    "text": "text",
    "first_text": "text",
    "vector": "vector",
    "first_vector": "vector",
    "both": "vector",
    "text_before": "neighbours",
    "text_after": "neighbours",
    "text_around": "neighbours",
    "vector_before": "neighbours",
    "vector_after": "neighbours",
    "vector_around": "neighbours",
    "session_text": "session",
    "session_vector": "session",
    "speaker": "speaker",
    "length": "form",
    "overlong": "form",
    "question": "form",
    "tells_a_time": "form",
    "reply": "role",
    "reply_asked_for": "role",
    "same_exchange": "role",
    "standing": "standing",
    "standing_for_advice": "standing",
    "preference_for_advice": "standing",
    "time": "time",
    "recency": "recency",
    "fact": "fact",
    "coverage": "coverage",
    "coverage_of_statement": "coverage",
    "hop": "hop",
}
"""Under which name each trait is told to whoever asks why something was found."""
_BESIDE: Final = ("text_before", "text_after", "text_around", "vector_before", "vector_after", "vector_around")


class Seen(NamedTuple):
    """An event as the indexes found it."""

    ref: str
    thread: str
    seq: int
    at: datetime
    author: str
    text: float | None
    cosine: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the words of an event show at a glance."""

    length: int
    role: str | None = None
    asks: bool = False
    times: bool = False
    standing: bool = False
    prefers: bool = False
    covers: float = 0.0
    """The share of the question that it holds, its words weighed by their rarity among all that were found."""
    hop: float = 0.0
    """The share that it holds of what the best hits speak of and the question does not."""


@dataclass(slots=True)
class Placed:
    """A hit with the traits that speak for it."""

    seen: Seen
    traits: dict[str, float] = field(default_factory=dict[str, float])
    weights: Weights = WEIGHTS

    @property
    def score(self) -> float:
        worth = self.weights.by_name
        return sum([worth[name] * value for name, value in self.traits.items()])

    @property
    def signals(self) -> dict[str, float]:
        """What speaks for it, summed up for people. Together they are the score."""
        found: dict[str, float] = {}
        worth = self.weights.by_name
        for name, value in self.traits.items():
            told = SIGNALS[name]
            found[told] = found.get(told, 0.0) + worth[name] * value
        return found


def above(values: Sequence[float], least: float) -> list[float]:
    """Each value as standard deviations above the mean of the best hundred."""
    best = sorted(values, reverse=True)[:BEST]
    if not best:
        return []
    mean = sum(best) / len(best)
    spread = max(sqrt(sum((value - mean) ** 2 for value in best) / len(best)), least, 1e-9)
    return [(value - mean) / spread for value in values]


def shortlist(asked: Asked, found: Sequence[Seen], most: int, weights: Weights = WEIGHTS) -> list[Placed]:
    """The most likely of what was found, by what the indexes say, best first."""
    text = above([seen.text or 0.0 for seen in found], 0.05 * max((seen.text or 0.0 for seen in found), default=0.0))
    told = iter(
        above([max(seen.cosine, 0.0) for seen in found if seen.cosine is not None], 0.02)
    )  # what has no vector yet is taken to be as near as its words make it
    vector = [words if seen.cosine is None else next(told) for seen, words in zip(found, text, strict=True)]
    sense = STATEMENT if asked.statement else 1.0
    beside = _beside(found)
    sessions = _sessions(found)
    speaks = {author: _speaks(asked, author) for author in {seen.author for seen in found}}
    traits: dict[str, Sequence[float]] = {
        "text": text,
        "vector": [sense * value for value in vector],
        "first_text": _places(text),
        "first_vector": _places(vector),
        "both": [sense * max(0.0, min(pair)) for pair in zip(text, vector, strict=True)],
        **dict(zip(_BESIDE, (*_around(beside, text), *_around(beside, vector)), strict=True)),
        "session_text": _best_of(sessions, text),
        "session_vector": _best_of(sessions, vector),
        "speaker": [speaks[seen.author] for seen in found],
        "recency": _lateness(found),
    }
    if asked.first:
        traits["time"] = [within(asked, seen.at.date()) for seen in found]
    # How much its neighbours count depends on its length, which nobody has looked at yet.
    whole, near = _summed(traits, traits, weights), _summed(traits, _BESIDE, weights)
    guessed = [one - 0.5 * neighbours for one, neighbours in zip(whole, near, strict=True)]
    order = sorted(range(len(found)), key=lambda number: (-guessed[number], found[number].ref))[:most]
    return [Placed(found[one], {name: traits[name][one] for name in traits}, weights) for one in order]


def _summed(traits: Mapping[str, Sequence[float]], names: Iterable[str], weights: Weights) -> list[float]:
    """What some traits come to, for each that has them."""
    worth = weights.by_name
    sums = [0.0] * len(traits["text"])
    for name in names:
        weight = worth[name]
        sums = [sum_ + weight * value for sum_, value in zip(sums, traits[name], strict=True)]
    return sums


def settle(
    asked: Asked, placed: Sequence[Placed], said: Mapping[str, Said], facts: Mapping[str, float]
) -> list[Placed]:
    """The final order, now that the words are known. `facts`: how well the memories that cite an event fit, 0 to 1."""
    for one in placed:
        words = said[one.seen.ref]
        length = min(max(words.length, 20), 3_000)
        short = 1 / (1 + (length / 400) ** 2)
        for name in _BESIDE:
            one.traits[name] *= short
        one.traits["length"] = min(log(length), log(300)) - 5
        one.traits["overlong"] = max(log(length) - log(300), 0)
        one.traits["question"] = short if words.asks else 0.0
        one.traits["tells_a_time"] = float(asked.when and words.times)
        one.traits["coverage_of_statement" if asked.statement else "coverage"] = words.covers
        one.traits["hop"] = words.hop
        one.traits["standing"] = float(words.standing)
        one.traits["standing_for_advice"] = float(words.standing and asked.advice)
        one.traits["preference_for_advice"] = float(words.prefers and asked.advice)
        one.traits["reply"] = float(words.role == "assistant")
        one.traits["reply_asked_for"] = float(words.role == "assistant" and asked.reply)
        one.traits["fact"] = facts.get(one.seen.ref, 0.0)
    return _apart(sorted(placed, key=_best_first), said)


def _places(values: Sequence[float]) -> list[float]:
    """One for the best, half for the next, a third for the one after it: what no difference of scores can tell."""
    found = [0.0] * len(values)
    for rank, number in enumerate(sorted(range(len(values)), key=lambda number: -values[number])):
        found[number] = 1 / (1 + rank)
    return found


def _lateness(found: Sequence[Seen]) -> list[float]:
    """0 for the earliest, 1 for the latest."""
    first, last = (edge((seen.at for seen in found), default=None) for edge in (min, max))
    if first is None or last is None or first == last:
        return [0.0] * len(found)
    return [(seen.at - first) / (last - first) for seen in found]


def within(asked: Asked, day: date) -> float:
    """1 where a day lies in the time that a question names; a little where it lies close by."""
    if asked.first is None or asked.last is None:
        return 0.0
    away = max((asked.first - day).days, (day - asked.last).days, 0)
    reach = 7 + (asked.last - asked.first).days
    return max(0.0, 1 - away / reach)


def confidence(cosine: float | None, coverage: float, together: float, words: int) -> float:
    """How likely it is that memory knows anything about a question at all, from 0 to 1.

    `cosine`: of the nearest. `coverage`: the share of the question's words, weighed by their rarity, that one text
    holds; `together`: that the ten best hold. A logistic regression over questions that a conversation answers and
    questions about other conversations.
    """
    if cosine is None:
        sum_ = 3.6 * coverage + 3.0 * together - 4.1
    else:
        sum_ = 11.6 * cosine + 5.3 * coverage + 1.0 * together + 1.6 * log(max(words, 1)) - 8.4
    return 1 / (1 + exp(-sum_))


def sure(
    nearest: float | None, cosines: Sequence[float | None], worth: Mapping[str, float], texts: Sequence[str], words: int
) -> float:
    """How likely it is that memory knows anything about a question, given the best texts and their cosines. What has no
    vector yet, because it came a moment ago, is judged by its words alone."""
    whole = confidence(nearest, *covered(worth, texts), words)
    new = [text for text, cosine in zip(texts, cosines, strict=True) if cosine is None]
    return max(whole, confidence(None, *covered(worth, new), words)) if new and nearest is not None else whole


def humbled(scores: Sequence[float], trusted: Sequence[bool]) -> list[float]:
    """The scores, where what is untrusted never outranks what is trusted and about the same question: a trusted hit
    that is at least a quarter as likely comes first."""
    if all(trusted):
        return list(scores)
    held: list[float] = []
    for score, believed in zip(scores, trusted, strict=True):
        rivals = [other for other, good in zip(scores, trusted, strict=True) if good and 4 * other >= score]
        held.append(score if believed or not rivals else min(score, 0.99 * min(rivals), nextafter(min(rivals), 0)))
    return held


def telling(words: Sequence[str], frequency: Mapping[str, int], documents: int) -> dict[str, float]:
    """The stems of a question's words, and the share of what the question tells that each stands for."""
    worth: dict[str, float] = {}
    for word in words:
        held = frequency.get(word, 0)
        parts = stems(word)
        for part in parts:
            # So many more texts, as if there were always some: in a small store a word nobody used yet tells little.
            rare = max(log((documents + _MORE) / (held + 1)), 0.0) / len(parts)
            worth[part] = worth.get(part, 0.0) + rare
    whole = sum(worth.values()) or 1.0
    return {part: value / whole for part, value in worth.items()}


def covered(worth: Mapping[str, float], texts: Sequence[str]) -> tuple[float, float]:
    """The share of a question that the best of some texts holds, and that its ten first hold together."""
    needles = {(f" {_fold(part)}" if part.isascii() else part): value for part, value in worth.items()}
    folded = [f" {_fold(text)}" for text in texts]
    held = [frozenset(needle for needle in needles if needle in text) for text in folded]
    best = max((sum(needles[needle] for needle in found) for found in held), default=0.0)
    together = frozenset[str]().union(*held[:10])
    return best, sum(needles[needle] for needle in together)


def called(worth: Mapping[str, float], names: Sequence[str]) -> bool:
    """Whether a question calls something by its names, of files or tags: they hold most of it. No vector knows them, so
    what is called so is judged by words alone."""
    return bool(names) and covered(worth, [" ".join(names)])[0] > _CALLED


def coverage(words: Sequence[str], texts: Mapping[str, str]) -> dict[str, float]:
    """The share of a question that each text holds. Words are weighed by their rarity among these texts: they are one
    tenant's, and about the matter; the index counts others' too."""
    folded = {ref: f" {_fold(text)}" for ref, text in texts.items()}
    needles = [[f" {_fold(part)}" if part.isascii() else part for part in stems(word)] for word in words]
    held = [[ref for ref, text in folded.items() if any(needle in text for needle in parts)] for parts in needles]
    worth = [log((len(texts) + 1) / (len(refs) + 0.5)) if refs else 0.0 for refs in held]
    whole = sum(worth) or 1.0
    usual = sum(map(len, texts.values())) / max(1, len(texts))
    shares = dict.fromkeys(texts, 0.0)
    for value, refs in zip(worth, held, strict=True):
        for ref in refs:
            shares[ref] += value / whole
    # A long text holds more words by chance: what it holds counts for less, as in BM25 with its usual constants.
    return {ref: share * 2.2 / (1.3 + 0.9 * len(texts[ref]) / usual) for ref, share in shares.items()}


def _fold(text: str) -> str:
    return text.lower().translate(_SIGNS)


def relative(score: float, best: float) -> float:
    """How much less likely a hit is than the best one."""
    return exp(min(0.0, score - best) / 3)


def _best_first(one: Placed) -> tuple[float, str]:
    return (-one.score, one.seen.ref)


def _beside(found: Sequence[Seen]) -> dict[int, list[int | None]]:
    """For each, which of them stands one or two places before or after it in its thread, if it was found too."""
    threads: dict[str, dict[int, int]] = {}
    for number, seen in enumerate(found):
        threads.setdefault(seen.thread, {})[seen.seq] = number
    own = [(threads[seen.thread], seen.seq) for seen in found]
    return {step: [thread.get(seq + step) for thread, seq in own] for step in (-2, -1, 1, 2)}


def _around(
    beside: Mapping[int, Sequence[int | None]], values: Sequence[float]
) -> tuple[list[float], list[float], list[float]]:
    """What stands beside each: the one before, the one after, and the two beyond them."""
    near = [max(value + 1.0, 0.0) for value in values]
    far, before, after, beyond = (
        [0.0 if other is None else near[other] for other in beside[step]] for step in (-2, -1, 1, 2)
    )
    return before, after, [one + other for one, other in zip(far, beyond, strict=True)]


def _sessions(found: Sequence[Seen]) -> list[list[int]]:
    """Those of the same thread with no long silence between them."""
    order = sorted(range(len(found)), key=lambda number: (found[number].thread, found[number].seq))
    groups: list[list[int]] = []
    for number in order:
        last = groups[-1][-1] if groups else None
        near = last is not None and (
            found[last].thread == found[number].thread and abs(found[number].at - found[last].at) <= SESSION
        )
        if near:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _best_of(groups: Iterable[Sequence[int]], values: Sequence[float]) -> list[float]:
    """For each, the mean of the three best of its session; a session with fewer is filled up with the least."""
    means = [0.0] * len(values)
    least = min(values, default=0.0)
    for group in groups:
        best = sorted((values[number] for number in group), reverse=True)[:3]
        mean = (sum(best) + least * (3 - len(best))) / 3
        for number in group:
            means[number] = mean
    return means


def _speaks(asked: Asked, author: str) -> float:
    return 1.0 if any(part in asked.names for part in named(author)) else 0.0


def named(author: str) -> frozenset[str]:
    """The names an author may be called by."""
    whole = author.strip().lower()
    parts = [part for part in whole.replace(".", " ").replace("_", " ").split() if len(part) > 2]
    return frozenset({whole, *parts}) - {"user", "assistant", "system", "tool"}


def _apart(placed: Sequence[Placed], said: Mapping[str, Said]) -> list[Placed]:
    """A message and its reply are one exchange: the lesser of the two makes room for others."""
    ranks = {(one.seen.thread, one.seen.seq): number for number, one in enumerate(placed)}
    for number, one in enumerate(placed):
        step = -1 if said[one.seen.ref].role == "assistant" else 1
        other = ranks.get((one.seen.thread, one.seen.seq + step))
        if other is None or other > number:
            continue
        roles = {said[one.seen.ref].role, said[placed[other].seen.ref].role}
        if roles == {"user", "assistant"}:
            one.traits["same_exchange"] = 1.0
    return sorted(placed, key=_best_first)
