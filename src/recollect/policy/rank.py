"""Ranking: what the indexes found, put in order of how likely it is to answer the question.

Scores are compared with the others of the same answer (how many standard deviations above the best hundred), so that
an engine's own scale does not matter. A turn of a conversation is read together with its neighbours: what is asked
about is often said in one turn and answered in the next.

The weights of text, vector, neighbours, session, speaker, form, role and standing orders were fitted on two public
corpora of conversations together (LoCoMo and BEAM), by coordinate ascent on the recall of evidence in the first 5, 10
and 20 and in 1024 tokens. Coverage, which took over a part of the text's weight, and facts were set by hand
afterwards. `python -m bench.recall --data FILE` measures all of it in the product.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from math import exp, log, nextafter, sqrt
from typing import Final

from recollect.policy.asked import Asked, stems

BEST: Final = 100
"""How many of the best the others are compared with."""
SESSION: Final = timedelta(hours=6)
"""A longer silence in a thread begins another session."""
STATEMENT: Final = 0.5
"""What the vector of a statement is worth, against that of a question: its words tell more than its direction."""

_MORE: Final = 20
_SIGNS: Final = str.maketrans(dict.fromkeys("\n\t\"'(),.;:!?/-_[]{}*`#<>=’“”", " "))  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Weights:
    """What a standard deviation, or a mark, is worth."""

    text: float = 0.30
    vector: float = 0.52
    text_before: float = 0.10
    text_after: float = 0.07
    text_around: float = 0.14
    vector_before: float = 0.20
    vector_after: float = 0.25
    vector_around: float = 0.15
    session_text: float = 0.40
    session_vector: float = 0.16
    speaker: float = 1.80
    length: float = 0.32
    overlong: float = -0.34
    reply: float = -4.50
    reply_asked_for: float = 2.50
    question: float = -0.64
    tells_a_time: float = 1.88
    standing: float = 1.35
    standing_for_advice: float = 2.04
    preference_for_advice: float = 0.62
    same_exchange: float = -2.0
    time: float = 1.0
    fact: float = 1.0
    coverage: float = 2.0
    coverage_of_statement: float = 24.0


WEIGHTS: Final = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
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


@dataclass(slots=True)
class Placed:
    """A hit with the signals that speak for it. `score` is their sum."""

    seen: Seen
    signals: dict[str, float] = field(default_factory=dict[str, float])
    around: float = 0.0
    """What its neighbours would add to the shortest of turns."""

    @property
    def score(self) -> float:
        return sum(self.signals.values())


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
    near = above([max(seen.cosine, 0.0) for seen in found if seen.cosine is not None], 0.02)
    told = iter(near)  # what has no vector yet is taken to be as near as its words make it
    vector = [words if seen.cosine is None else next(told) for seen, words in zip(found, text, strict=True)]
    worth = weights.vector * (STATEMENT if asked.statement else 1.0)
    place = {(seen.thread, seen.seq): number for number, seen in enumerate(found)}
    sessions = _sessions(found)
    best_text, best_vector = _best_of(sessions, text), _best_of(sessions, vector)
    speaks = {author: weights.speaker * _speaks(asked, author) for author in {seen.author for seen in found}}
    placed: list[Placed] = []
    for number, seen in enumerate(found):
        beside = [place.get((seen.thread, seen.seq + step)) for step in (-1, 1, -2, 2)]
        words = _around(text, beside, weights.text_before, weights.text_after, weights.text_around)
        sense = _around(vector, beside, weights.vector_before, weights.vector_after, weights.vector_around)
        signals = {
            "text": weights.text * text[number],
            "vector": worth * vector[number],
            "neighbours": 0.5 * (words + sense),
            "session": weights.session_text * best_text[number] + weights.session_vector * best_vector[number],
            "speaker": speaks[seen.author],
            "time": weights.time * within(asked, seen.at.date()) if asked.first else 0.0,
        }
        placed.append(Placed(seen, signals, words + sense))
    placed.sort(key=_best_first)
    return placed[:most]


def settle(
    asked: Asked,
    placed: Sequence[Placed],
    said: Mapping[str, Said],
    facts: Mapping[str, float],
    weights: Weights = WEIGHTS,
) -> list[Placed]:
    """The final order, now that the words are known. `facts`: how well the memories that cite an event fit, 0 to 1."""
    for one in placed:
        words = said[one.seen.ref]
        length = min(max(words.length, 20), 3_000)
        short = 1 / (1 + (length / 400) ** 2)
        one.signals["neighbours"] = short * one.around
        one.signals["form"] = (
            weights.length * (min(log(length), log(300)) - 5)
            + weights.overlong * max(log(length) - log(300), 0)
            + (weights.question * short if words.asks else 0)
            + (weights.tells_a_time if asked.when and words.times else 0)
        )
        worth = weights.coverage_of_statement if asked.statement else weights.coverage
        one.signals["coverage"] = worth * words.covers
        one.signals["standing"] = _standing(asked, words, weights)
        one.signals["role"] = _answers(asked, words, weights)
        one.signals["fact"] = weights.fact * facts.get(one.seen.ref, 0.0)
    return _apart(sorted(placed, key=_best_first), said, weights)


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
        sum_ = 9.8 * cosine + 1.1 * coverage + 2.9 * together - 1.1 * log(max(words, 1)) - 5.5
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
    held = [frozenset(needle for needle in needles if needle in f" {_fold(text)}") for text in texts]
    best = max((sum(needles[needle] for needle in found) for found in held), default=0.0)
    together = frozenset[str]().union(*held[:10])
    return best, sum(needles[needle] for needle in together)


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


def _around(values: Sequence[float], beside: Sequence[int | None], first: float, second: float, rest: float) -> float:
    """What the neighbours add: the one before, the one after, and the two beyond them."""
    total = 0.0
    for number, worth in zip(beside, (first, second, rest, rest), strict=True):
        if number is not None and values[number] > -1.0:
            total += worth * (values[number] + 1.0)
    return total


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


def _standing(asked: Asked, words: Said, weights: Weights) -> float:
    value = 0.0
    if words.standing:
        value += weights.standing + (weights.standing_for_advice if asked.advice else 0)
    if words.prefers and asked.advice:
        value += weights.preference_for_advice
    return value


def _answers(asked: Asked, words: Said, weights: Weights) -> float:
    if words.role != "assistant":
        return 0.0
    return weights.reply + (weights.reply_asked_for if asked.reply else 0)


def _apart(placed: Sequence[Placed], said: Mapping[str, Said], weights: Weights) -> list[Placed]:
    """A message and its reply are one exchange: the lesser of the two makes room for others."""
    ranks = {(one.seen.thread, one.seen.seq): number for number, one in enumerate(placed)}
    for number, one in enumerate(placed):
        step = -1 if said[one.seen.ref].role == "assistant" else 1
        other = ranks.get((one.seen.thread, one.seen.seq + step))
        if other is None or other > number:
            continue
        roles = {said[one.seen.ref].role, said[placed[other].seen.ref].role}
        if roles == {"user", "assistant"}:
            one.signals["role"] += weights.same_exchange
    return sorted(placed, key=_best_first)
