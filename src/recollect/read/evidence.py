"""Evidence for a question: the events themselves, ranked, each with why it is there."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import inf

from recollect.domain.event import Event, Trust
from recollect.domain.ids import EventId
from recollect.domain.item import Item
from recollect.domain.query import Filters
from recollect.domain.witness import ChunkWitness, EventWitness
from recollect.holdings import Hits
from recollect.policy import rank, silence
from recollect.policy.asked import Asked, rarest
from recollect.policy.categories import EVIDENCE
from recollect.policy.rank import Placed, Said
from recollect.policy.silence import Line, Signs
from recollect.read import memories
from recollect.read.look import Look, seen
from recollect.read.memories import Statement
from recollect.read.over import Made

REACH = 150
"""The best texts and the best vectors that are looked at, at least."""
_FURTHEST = 400
_FOR_ONE = 2.5
"""So many of each for a line that could be served."""
SHORTLIST = 48
"""Those whose words are read at least; more where more could be served."""
_FEW = 64
_FACTS = 10
_READ = 600
_COMPARED_WORDS = 100
_LEADS = 3
"""The first hits, whose names are followed."""
_COMPARED = 3_000
_COVERED = 20_000

_TIMES = re.compile(
    r"\b(?:yesterday|today|tonight|ago|last|next|this (?:week|month|year|morning|weekend)|tomorrow|recently|since|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|"
    r"november|december|\d{4}|weeks?|months?|years?|weekend|days?)\b",
    re.I,
)
_NAMED = re.compile(r"(?<=[a-z,;] )[A-Z][^\W\d_]{2,}")
"""A name within a sentence."""
_STANDING = re.compile(r"\W*(?:always|never|please (?:always|never)|from now on|whenever|make sure)\b", re.I)
_PREFERS = re.compile(r"\b(?:i|we)(?:'d| would| really|'ve always)? (?:prefer|like to|always|never|hate|love)\b", re.I)


@dataclass(frozen=True, slots=True)
class Proof:
    """An event that may answer the question."""

    event: Event
    score: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Proofs:
    """What was found, best first, how sure it is that there is an answer, and what the question's words are worth."""

    found: Sequence[Proof]
    confidence: float
    worth: Mapping[str, float]
    signs: Signs | None = None
    """What tells whether they speak of what is asked; None where that cannot be told."""


def look_up(look: Look, asked: Asked, filters: Filters, most: int, known: Sequence[Statement] | None = None) -> Proofs:
    """The events in sight that may answer a question, best first, so many that `most` can be served. `known`: the
    memories that come near to it, where they have been looked up."""
    first = _by_words(look, asked, filters)
    sought = asked if first is None else replace(asked, words=rarest(asked.words, first.frequency))
    people = frozenset(name for hit in (first.hits if first else ()) for name in rank.named(hit.author))
    made = look.vectors(asked.without(people), asked.matter)
    hits = look.store.find_events(
        look.principal.tenant, look.wanted(sought.words, made[0] if made else None, filters, _reach(most))
    )
    asked = _timed(look, asked, filters)
    placed = rank.shortlist(asked, [seen(hit) for hit in hits.hits], max(SHORTLIST, most))
    events = _read(look, placed)
    placed = [one for one in placed if one.seen.ref in events]
    compared = {ref: " ".join([event.text[:_COMPARED], *event.names]) for ref, event in events.items()}
    covers = rank.coverage(asked.words[:_COMPARED_WORDS], compared)
    hops = _hops(asked, placed, events)
    said = {ref: _said(event, asked, covers[ref], hops[ref]) for ref, event in events.items()}
    if known is None:
        known = memories.statements(look, sought, made[1] if made else None, _FACTS)
    placed = rank.settle(asked, placed, said, _facts(known))
    return _weighed(replace(asked, core=rarest(asked.core, hits.frequency)), placed, events, hits)


def _reach(most: int) -> int:
    return min(_FURTHEST, max(REACH, round(_FOR_ONE * most)))


def _by_words(look: Look, asked: Asked, filters: Filters) -> Hits | None:
    """A first look by words alone, where the question may name somebody, or is long: who speaks there, and which of the
    words are rare."""
    if not asked.names and rarest(asked.words, {}) == asked.words:
        return None
    return look.store.find_events(look.principal.tenant, look.wanted(asked.words, None, filters, _FEW))


def _timed(look: Look, asked: Asked, filters: Filters) -> Asked:
    """The question with the days it means, where it measures time by something that happened."""
    if asked.anchor is None:
        return asked
    wanted = look.wanted(asked.anchor.words, None, filters, 5)
    hits = look.store.find_events(look.principal.tenant, wanted).hits
    best = max(hits, key=lambda hit: hit.text or 0.0, default=None)
    if best is None:
        return asked
    day, span = best.ts.date(), timedelta(days=180)
    return (
        replace(asked, first=day - span, last=day)
        if asked.anchor.before
        else replace(asked, first=day, last=day + span)
    )


def _read(look: Look, placed: Sequence[Placed]) -> dict[str, Event]:
    """The events, by their references; where the granted categories do not cover evidence, those that memories of
    granted categories cite."""
    ids = [EventId(one.seen.ref[2:]) for one in placed]
    if ids and not look.allowed.holds(EVIDENCE):
        cited = look.store.citing(look.principal.tenant, ids)
        held = look.store.speaking(look.principal.tenant, list({one.item_id for one in cited}), readers=look.readers)
        granted = look.sees(kept.item for kept, _ in held.values())
        proven = {event for one in cited if one.item_id in granted for event in one.events}
        ids = [event_id for event_id in ids if event_id in proven]
    found = look.store.events_by_id(look.principal.tenant, ids, readers=look.readers)
    return {f"e:{event.id}": event for event in look.rule.shown(found)}


def rationed(made: Made, found: Sequence[Proof], served: Sequence[Item], most: Mapping[str, int]) -> Sequence[Proof]:
    """The events without those whose words are more memories of a category than `most` of it are served."""
    if len(found) + len(served) <= min(most.values(), default=len(found) + len(served)):
        return found
    of = made.of(proof.event.id for proof in found)
    counted = Counter(item.category for item in served)
    known = {item.id for item in served}
    kept: list[Proof] = []
    for proof in found:
        said = [one for one in of.get(proof.event.id, ()) if one.said_in == proof.event.id]
        open = [item for item in said if item.id in known or counted[item.category] < most.get(item.category, inf)]
        if said and not open:
            continue
        kept.append(proof)
        if open and not any(item.id in known for item in open):
            counted[open[0].category] += 1
    return kept


def _hops(asked: Asked, placed: Sequence[Placed], events: Mapping[str, Event]) -> dict[str, float]:
    """The second step: who and what the first few hits name, and the question does not, leads on to others."""
    first = [events[one.seen.ref].text[:_READ] for one in placed[:_LEADS]]
    named = [name for text in first for name in _NAMED.findall(text)]
    new = [name for name in dict.fromkeys(named) if name.lower() not in asked.words]
    return rank.coverage(new[:_COMPARED_WORDS], {ref: event.text[:_COMPARED] for ref, event in events.items()})


def _said(event: Event, asked: Asked, covers: float, hop: float) -> Said:
    head = event.text[:_READ]
    return Said(
        length=len(event.text),
        role=event.role,
        asks=event.text.rstrip().endswith("?"),
        times=asked.when and bool(_TIMES.search(head)),
        standing=bool(_STANDING.match(head)),
        prefers=asked.advice and bool(_PREFERS.search(head)),
        covers=covers,
        hop=hop,
    )


def _facts(known: Sequence[Statement]) -> dict[str, float]:
    """How well the memories that cite an event fit the question: what was made of an event speaks for it."""
    text = rank.above([one.hit.text or 0.0 for one in known], 1.0)
    sense = rank.above([one.hit.cosine or 0.0 for one in known], 0.05)
    fits = [words + near for words, near in zip(text, sense, strict=True)]
    best = max(fits, default=0.0)
    lifted: dict[str, float] = {}
    for one, fit in zip(known, fits, strict=True):
        for witness in (witness for bullet in one.version.bullets for witness in bullet.witnesses):
            if isinstance(witness, EventWitness | ChunkWitness):
                ref = f"e:{witness.event_id}"
                lifted[ref] = max(lifted.get(ref, 0.0), rank.relative(fit, best))
    return lifted


def _told(event: Event) -> str:
    """What is known of an event: who said what, and what it is called by."""
    return " ".join([f"{event.author}: {event.text[:_COVERED]}", *event.names])


def _weighed(asked: Asked, placed: Sequence[Placed], events: Mapping[str, Event], hits: Hits) -> Proofs:
    worth = rank.telling(asked.core, hits.frequency, hits.documents)
    if not placed:
        return Proofs((), 0.0, worth)
    texts = [_told(events[one.seen.ref]) for one in placed[:20]]
    nearest = max((one.seen.cosine for one in placed if one.seen.cosine is not None), default=None)
    cosines = [None if rank.called(worth, events[one.seen.ref].names) else one.seen.cosine for one in placed[:20]]
    sure = rank.sure(nearest, cosines, worth, texts, len(asked.core))
    best = placed[0].score
    scores = rank.humbled(
        [sure * rank.relative(one.score, best) for one in placed],
        [events[one.seen.ref].trust is Trust.TRUSTED for one in placed],
    )
    found = [Proof(events[one.seen.ref], score, one.signals) for one, score in zip(placed, scores, strict=True)]
    heard = [
        Line(one.seen.author, one.seen.cosine, silence.about(events[one.seen.ref].text[:_READ], asked.names))
        for one in placed[: silence.MOST]
    ]
    signs = silence.signs(asked, heard, len(hits.hits), sure, rank.covered(worth, texts)[0])
    return Proofs(sorted(found, key=lambda proof: -proof.score), sure, worth, signs)
