"""Durable memories out of conversation turns, by rules and, where there is one, the embedder. No language model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.domain.event import Event
from recollect.domain.item import Fact
from recollect.policy.candidate import Candidate
from recollect.policy.speech import worth
from recollect.policy.speech.draft import Draft
from recollect.policy.speech.keys import keyed
from recollect.policy.speech.reading import read
from recollect.policy.wording import LONGEST
from recollect.ports import Embedder
from recollect.write import worthwhile
from recollect.write.embedded import embedded
from recollect.write.prototypes import Prototypes, matrix

_DECISION = "DECISION"
_SURE = 3
"""How far the words of a category must lead for the embedder not to be asked."""
_LIKENESS = 12
"""What a cosine of one counts against words that speak for a category."""


def extract(
    turns: Sequence[Event], fresh: frozenset[int], embedder: Embedder | None, *, most: int = 5
) -> list[Candidate]:
    """The memories that the fresh turns hold, at most so many a turn. The other turns are context."""
    drafts = [draft for draft in read(turns, fresh) if fresh.intersection(draft.witnesses)]
    if embedder is not None and drafts:
        drafts, near = _weighed(drafts, embedder)
        categories = _categories(drafts, near)
    else:
        categories = _categories(drafts, None)
    by_turn: dict[int, list[Candidate]] = {}
    for draft, category in zip(drafts, categories, strict=True):
        by_turn.setdefault(draft.witnesses[-1], []).append(_candidate(draft, category))
    return [candidate for found in by_turn.values() for candidate in packed(found, most)]


def _weighed(drafts: Sequence[Draft], embedder: Embedder) -> tuple[list[Draft], list[dict[str, float]]]:
    """The drafts that are no idle talk to the embedder either, and how near each is to every category."""
    vectors = matrix(embedded(embedder, [draft.text for draft in drafts]))
    leanings = worthwhile.leanings(embedder, vectors)
    near = Prototypes.of(embedder).near(vectors)
    kept = [number for number, draft in enumerate(drafts) if _firm(draft) or leanings[number] <= _margin(draft)]
    return [drafts[number] for number in kept], [near[number] for number in kept]


def _margin(draft: Draft) -> float:
    return worthwhile.MARGIN_AT_WORK if draft.technical else worthwhile.MARGIN


def _firm(draft: Draft) -> bool:
    """Whether it is kept however it sounds: a rule, a decision, a day, a value of something that is somebody's."""
    key, _ = keyed(draft.text)
    return draft.firm or (key is not None and "'s " in key) or "@" in draft.text or "://" in draft.text


def _categories(drafts: Sequence[Draft], near: Sequence[Mapping[str, float]] | None) -> list[str]:
    """By the words of each; where they leave it open, by the prototypes it is nearest to."""
    found: list[str] = []
    for number, draft in enumerate(drafts):
        ranked = worth.categories(draft.text, tech=draft.technical, times=draft.times)
        if near is not None and worth.lead(ranked) < _SURE:
            for name, cosine in near[number].items():
                ranked[name] = ranked.get(name, 0) + _LIKENESS * cosine
        found.append(max(ranked, key=ranked.__getitem__))
    return found


def _candidate(draft: Draft, category: str) -> Candidate:
    key, value = keyed(draft.text)
    confidence = 0.6 if draft.hedged else 0.9 if draft.decision or draft.corrects else 0.8
    return Candidate(
        text=draft.text,
        body=Fact(key=key, value=value, scope="project" if draft.technical else draft.speaker, confidence=confidence),
        category=category,
        importance=worth.importance(draft.text, category, times=draft.times),
        private=worth.private(f"{draft.said} {draft.text}", tech=draft.technical),
        witnesses=draft.witnesses,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        corrects=draft.corrects,
        tags=(_DECISION,) if draft.decision else (),
    )


def packed(found: list[Candidate], most: int) -> list[Candidate]:
    """No more than so many: neighbours share a memory of two sentences, and what matters least is left out last."""
    found = list(found)
    while len(found) > most:
        pairs = [number for number in range(len(found) - 1) if _fits(found[number], found[number + 1])]
        if pairs:
            first = min(pairs, key=lambda number: (_apart(found[number], found[number + 1]), len(found[number].text)))
            found[first : first + 2] = [_together(found[first], found[first + 1])]
        else:
            found.remove(min(found, key=lambda candidate: candidate.importance))
    return found


def _fits(a: Candidate, b: Candidate) -> bool:
    one_each = all(". " not in candidate.text and candidate.text.endswith(".") for candidate in (a, b))
    return one_each and len(a.text) + 1 + len(b.text) <= LONGEST and a.corrects == b.corrects


def _apart(a: Candidate, b: Candidate) -> bool:
    return a.category != b.category or a.private != b.private


def _together(a: Candidate, b: Candidate) -> Candidate:
    lead = a if a.importance >= b.importance else b
    return replace(
        lead,
        text=f"{a.text} {b.text}",
        body=replace(lead.body, key=None, value=None),
        private=a.private or b.private,
        witnesses=tuple(dict.fromkeys((*a.witnesses, *b.witnesses))),
        tags=tuple(dict.fromkeys((*a.tags, *b.tags))),
        valid_from=None,
        valid_to=None,
    )
