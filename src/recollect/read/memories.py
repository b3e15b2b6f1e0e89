"""Memories for a question: ranked, with those they are related to, each with why it is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import sqrt

from recollect.domain.event import Trust
from recollect.domain.ids import ItemId
from recollect.domain.item import Episode, Item
from recollect.domain.observation import Usage
from recollect.domain.query import Filters, Page
from recollect.domain.relation import Relation
from recollect.domain.version import Version
from recollect.holdings import Held, Hit, Hits
from recollect.policy import favour, rank
from recollect.policy.asked import Asked, rarest
from recollect.policy.categories import Categories
from recollect.policy.passing import passes
from recollect.policy.telling import SERVED, telling
from recollect.read.look import Look

REACH = 50
CONSIDERED = 24
RELATED = 2
_WHOLE = 100
_STATEMENTS = frozenset({"fact", "insight", "journal", "pattern", "workflow"})
"""What is made of single events. A summary of a thread says little about one of them."""
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that may answer the question, or stands beside one that does."""

    item: Item
    version: Version
    score: float
    signals: Mapping[str, float]
    related_to: ItemId | None = None
    against: frozenset[ItemId] = frozenset()
    """The memories that it contradicts on record, as long as nobody has resolved it."""
    called: bool = False
    """Whether the question calls it by its name: a tag."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory as the indexes found it: its words, and how well they fit."""

    version: Version
    hit: Hit


@dataclass(frozen=True, slots=True)
class Memories:
    """What was found, best first, how sure it is that there is an answer, and what the question's words are worth."""

    found: Sequence[Found]
    confidence: float
    worth: Mapping[str, float]
    edges: Sequence[Relation]
    filters: Filters
    nearest: float = 0.0
    """The best cosine of a memory that is no thread."""
    statements: Sequence[Statement] = ()
    """The memories among those that were looked at that say something themselves: threads only tell of it."""


def look_up(look: Look, asked: Asked, filters: Filters, categories: Categories, most: int) -> Memories:
    """The memories that may answer a question, best first; `most` are wanted."""
    asked = replace(asked, words=rarest(asked.words, {}), core=rarest(asked.core, {}))
    filters = effective(look, asked, filters)
    made = look.vectors(asked.matter)
    hits = look.store.find_items(
        look.principal.tenant, look.wanted(asked.words, made[0] if made else None, filters, REACH)
    )
    placed = sorted(_placed(asked, hits.hits).items(), key=lambda pair: -sum(pair[1].values()))[: max(CONSIDERED, most)]
    ids = [item_id for item_id, _ in placed]
    known = look.known(ids)
    strengths = _strengths(known.edges)
    found: list[Found] = []
    for item_id, scores in placed:
        if item_id not in known.speaking or not _in_time(asked, item := known.speaking[item_id][0].item, filters):
            continue
        used = known.usage.get(item_id, Usage())
        favoured = favour.signals(item, look.now, asked, strength=strengths.get(item_id, 0.0), usage=used)
        signals = {**scores, **favoured}
        version, against = known.speaking[item_id][1], known.contested.get(item_id, frozenset())
        found.append(Found(item, version, sum(signals.values()), signals, against=against))
    found = rationed(sorted(found, key=lambda one: (-one.score, one.item.id)), categories)
    return replace(_weighed(asked, found, hits, known.edges, filters), statements=_statements(hits, known.speaking))


def statements(look: Look, asked: Asked, vector: bytes | None, most: int) -> list[Statement]:
    """The memories, threads apart, that come nearest to a question by words, and those that do by their sense."""
    filters = effective(look, asked, Filters(kinds=_STATEMENTS))
    hits = look.store.find_items(look.principal.tenant, look.wanted(asked.words, vector, filters, most))
    ids = [hit.item_id for hit in hits.hits]
    return _statements(hits, look.store.speaking(look.principal.tenant, ids, readers=look.readers))


def _statements(hits: Hits, speaking: Mapping[ItemId, tuple[Held, Version]]) -> list[Statement]:
    spoken = [(hit, *speaking[hit.item_id]) for hit in hits.hits if hit.item_id in speaking]
    return [Statement(version, hit) for hit, held, version in spoken if not isinstance(held.item.body, Episode)]


def whole(look: Look, filters: Filters, names: frozenset[str]) -> list[Found]:
    """Every memory of some categories, the most important first."""
    if not names:
        return []
    wanted = replace(filters, categories=names if filters.categories is None else names & filters.categories)
    held = look.store.items(look.principal.tenant, wanted, look.sight, Page(_WHOLE))
    speaking, contested = _told(look, [kept.item.id for kept in held])
    found = [
        Found(kept.item, version, 1.0, {"context": 1.0}, against=contested.get(kept.item.id, frozenset()))
        for kept, version in speaking.values()
    ]
    return sorted(found, key=lambda one: (-one.item.importance, one.item.id))


def _told(
    look: Look, ids: Sequence[ItemId]
) -> tuple[Mapping[ItemId, tuple[Held, Version]], Mapping[ItemId, frozenset[ItemId]]]:
    """What speaks for these memories, and what contradicts them."""
    tenant = look.principal.tenant
    return look.store.speaking(tenant, ids, readers=look.readers), look.store.contested(tenant, ids)


def related(look: Look, memories: Memories, served: Sequence[Found]) -> list[Found]:
    """One or two memories beside those that are served, by the strongest edges. They pass the same filters."""
    known = {one.item.id: one for one in served}
    beside: dict[ItemId, tuple[ItemId, float]] = {}
    for edge in memories.edges:
        for own, other in ((edge.from_id, edge.to_id), (edge.to_id, edge.from_id)):
            if own in known and other not in known and other not in beside:
                beside[other] = (own, edge.strength)
    candidates = list(beside)[: 4 * RELATED]
    if not candidates:
        return []
    speaking, contested = _told(look, candidates)
    seen = look.sees(held.item for held, _ in speaking.values())
    found: list[Found] = []
    for other, (held, version) in ((other, speaking[other]) for other in candidates if other in speaking):
        if other in seen and passes(memories.filters, held.item):
            own, weight = beside[other]
            score = known[own].score * weight
            against = contested.get(other, frozenset())
            found.append(Found(held.item, version, score, {"relation": weight}, own, against))
    return found[:RELATED]


def _strengths(edges: Sequence[Relation]) -> dict[ItemId, float]:
    """The strength of each memory's strongest edge."""
    found: dict[ItemId, float] = {}
    for edge in edges:
        for item_id in (edge.from_id, edge.to_id):
            found[item_id] = max(found.get(item_id, 0.0), edge.strength)
    return found


def effective(look: Look, asked: Asked, filters: Filters) -> Filters:
    """The filters as the store gets them: the granted categories, and what holds now unless a moment is named. A
    question about a time that is over asks for what held then, too."""
    names = filters.categories if look.categories is None else look.categories & (filters.categories or look.categories)
    kinds = look.kinds if filters.kinds is None else filters.kinds
    filters = replace(filters, categories=names, without=filters.without | look.without, kinds=kinds)
    if filters.valid_at is not None or (asked.last is not None and asked.last < look.now.date()):
        return filters
    return replace(filters, current_at=_rounded(look.now))


def _rounded(now: datetime) -> datetime:
    """The end of the minute: questions of the same minute ask the same, and the store remembers who passes."""
    return now.replace(second=0, microsecond=0) + _MINUTE


def _in_time(asked: Asked, item: Item, filters: Filters) -> bool:
    """Whether a memory held at the time that is asked about, or holds still."""
    named = filters.valid_at or filters.current_at
    if named is not None or asked.first is None or asked.last is None or item.valid_to is None:
        return True
    began = item.valid_from or item.origin_at
    return item.valid_to.date() >= asked.first and began.date() <= asked.last


def _placed(asked: Asked, hits: Sequence[Hit]) -> dict[ItemId, dict[str, float]]:
    top = max((hit.text or 0.0 for hit in hits), default=0.0)
    text = rank.above([hit.text or 0.0 for hit in hits], 0.2 * top)
    near = iter(rank.above([hit.cosine for hit in hits if hit.cosine is not None], 0.05))
    sense = [words if hit.cosine is None else next(near) for hit, words in zip(hits, text, strict=True)]
    weights = rank.WEIGHTS
    worth = weights.vector * (rank.STATEMENT if asked.statement else 1.0)
    return {
        hit.item_id: {"text": weights.text * words, "vector": worth * near}
        for hit, words, near in zip(hits, text, sense, strict=True)
    }


def rationed(found: Sequence[Found], categories: Categories) -> list[Found]:
    """At most so many of each category as its rag_length says."""
    counted: dict[str, int] = {}
    kept: list[Found] = []
    for one in found:
        most = categories.most(one.item.category)
        counted[one.item.category] = counted.get(one.item.category, 0) + 1
        if most is None or counted[one.item.category] <= most:
            kept.append(one)
    return kept


def _weighed(asked: Asked, found: Sequence[Found], hits: Hits, edges: Sequence[Relation], filters: Filters) -> Memories:
    worth = rank.telling(asked.core, hits.frequency, hits.documents)
    if not found:
        return Memories((), 0.0, worth, edges, filters)
    cosines = {hit.item_id: hit.cosine for hit in hits.hits}
    nearest = max((cosine for cosine in cosines.values() if cosine is not None), default=None)
    texts = [_served(one, worth) for one in found]
    found = [replace(one, called=rank.called(worth, one.item.names)) for one in found]
    cosines |= {one.item.id: None for one in found if one.called}
    sure = rank.sure(nearest, [cosines.get(one.item.id) for one in found[:20]], worth, texts[:20], len(asked.core))
    fits = [
        rank.confidence(cosines.get(one.item.id), *rank.covered(worth, [text]), len(asked.core))
        for one, text in zip(found, texts, strict=True)
    ]
    # Being the best of a few is not enough: each has to fit the question by itself.
    scores = [sqrt(sure * rank.relative(one.score, found[0].score) * fit) for one, fit in zip(found, fits, strict=True)]
    scores = rank.humbled(scores, [one.item.trust is Trust.TRUSTED for one in found])
    calibrated = [replace(one, score=score) for one, score in zip(found, scores, strict=True)]
    own = [cosines.get(one.item.id) or 0.0 for one in found if not isinstance(one.item.body, Episode)]
    ordered = sorted(calibrated, key=lambda one: (-one.score, one.item.id))
    return Memories(ordered, sure, worth, edges, filters, max(own, default=0.0))


def _served(found: Found, worth: Mapping[str, float]) -> str:
    """What a memory would be served with, and what it is called by. A summary of a long thread has a word on almost
    everything: what counts is whether its telling sentences answer."""
    if not isinstance(found.item.body, Episode):
        return " ".join([found.version.content, *found.item.names])
    spoken = [one.text for one in telling(found.version.bullets, worth)[:SERVED]]
    return " ".join([found.item.body.title, *spoken, *found.item.names])
