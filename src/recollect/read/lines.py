"""What is served of a memory, an event or a slice of evidence: one result each, before it is known how much fits."""

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.domain.codec import when
from recollect.domain.event import Event, Trust
from recollect.domain.ids import ItemId, VersionId
from recollect.domain.item import Episode, Fact
from recollect.domain.level import Level
from recollect.domain.query import Form, Result
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, RangeWitness, noted, written
from recollect.policy.categories import EVIDENCE
from recollect.policy.distil import served
from recollect.policy.pack import Piece
from recollect.policy.telling import SERVED, telling
from recollect.read.evidence import Proof
from recollect.read.leveled import Words
from recollect.read.look import Look
from recollect.read.memories import Found
from recollect.read.slices import Slice


@dataclass(frozen=True, slots=True)
class Candidate:
    """A result before it is known how much of it fits."""

    result: Result
    item_id: ItemId
    piece: Piece
    signals: Mapping[str, float]

    @property
    def version_id(self) -> VersionId | None:
        return self.result.version_id


def of_memory(found: Found, form: Form, look: Look, worth: Mapping[str, float], shorter: Words | None) -> Candidate:
    """A memory as its R3 says it; `shorter` is what it says where it is served below that."""
    item, version = found.item, found.version
    meta: dict[str, object] = {}
    if item.trust is Trust.UNTRUSTED:
        meta["trust"] = item.trust.value
    if item.valid_to is not None and item.valid_to <= look.now:
        meta["valid_from"], meta["valid_to"] = item.valid_from and when(item.valid_from), when(item.valid_to)
    content = shorter.content if shorter else served(version.content, version.bullets)
    match form:
        case Form.BULLETS:
            told = content if shorter else _told(found, worth)
            piece = Piece(" ".join(told.split()), f"[{item.category}] ", cut=True)
        case Form.FULL:
            piece = Piece(content, cut=True)
            meta |= _described(found)
    result = Result(
        id=item.id,
        category=item.category,
        text=piece.lead + piece.text,
        score=round(found.score, 4),
        related_to=found.related_to,
        meta=meta,
        level=shorter.level if shorter else Level.R3,
        version_id=shorter.version_id if shorter else version.id,
    )
    return Candidate(result, item.id, piece, found.signals)


def _told(found: Found, worth: Mapping[str, float]) -> str:
    """The words of a memory on one line. Of a thread's summary, its title and what speaks of the question, with where
    it was said."""
    item, version = found.item, found.version
    if not isinstance(item.body, Episode) or not version.bullets:
        return served(version.content, version.bullets)
    title = item.body.title or _heading(version)
    spoken = [_placed(bullet) for bullet in telling(version.bullets, worth)[:SERVED]]
    return " ".join([f"{title}:", *spoken] if title else spoken)


def _heading(version: Version) -> str:
    first = version.content.split("\n", 1)[0]
    return first[2:].strip() if first.startswith("# ") else ""


def _placed(bullet: Bullet) -> str:
    """A sentence with its places in the thread; ids of events are too long to read."""
    places = tuple(witness for witness in bullet.witnesses if isinstance(witness, RangeWitness))
    return noted(bullet.served, places) if places else bullet.served


def _described(found: Found) -> dict[str, object]:
    """All that is known about a memory, for who asks for it in full."""
    item, version = found.item, found.version
    about: dict[str, object] = {
        "kind": item.kind,
        "importance": item.importance,
        "updated_at": when(item.updated_at),
        "valid_from": item.valid_from and when(item.valid_from),
        "valid_to": item.valid_to and when(item.valid_to),
        "trust": item.trust.value,
        "tags": list(item.tags),
        "pinned": item.pinned,
        "witnesses": ",".join(written(bullet.witnesses) for bullet in version.bullets),
    }
    if isinstance(item.body, Fact):
        about |= {
            "key": item.body.key,
            "value": item.body.value,
            "scope": item.body.scope,
            "confidence": item.body.confidence,
        }
    return about


def of_event(proof: Proof) -> Candidate:
    """An event, word for word."""
    event = proof.event
    result = Result(
        id=event.id,
        category=EVIDENCE,
        text=event.text,
        score=round(proof.score, 4),
        meta=_said(event),
        level=Level.R5,
    )
    return Candidate(result, event.item_id, Piece(event.text, cut=True), proof.signals)


def of_slice(one: Slice, score: float) -> Candidate:
    """A slice of evidence, as it is: it was cut to fit already."""
    meta = {**_said(one.events[0]), "trust": one.trust.value, "witness": one.witness, "of": list(one.of)}
    result = Result(
        id=one.events[0].id,
        category=EVIDENCE,
        text=one.text,
        score=round(score, 4),
        meta=meta,
        level=one.level,
    )
    return Candidate(result, one.of[0] if one.of else one.episode, Piece(one.text), {"witness": score})


def _said(event: Event) -> dict[str, object]:
    return {
        "author": event.author,
        "role": event.role,
        "ts": when(event.ts),
        "episode": event.item_id,
        "seq": event.seq,
        "trust": event.trust.value,
    }
