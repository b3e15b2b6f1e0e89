"""What is served of a memory, an event or a slice of evidence: one result each, before it is known how much fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.codec import when
from recollect.domain.event import Event, Trust, least_trust
from recollect.domain.ids import ItemId, VersionId
from recollect.domain.item import Episode, Fact
from recollect.domain.level import Level
from recollect.domain.lines import one_line
from recollect.domain.query import Form, Result
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, RangeWitness, noted, written
from recollect.policy.calendar import day_of
from recollect.policy.categories import EVIDENCE
from recollect.policy.distil import served
from recollect.policy.pack import Piece
from recollect.policy.rendering import category_lead, doubt, frame, memory_lead, quoted, statement
from recollect.policy.telling import SERVED, telling
from recollect.read.evidence import Proof
from recollect.read.leveled import Words
from recollect.read.look import Look
from recollect.read.memories import Found
from recollect.read.shown import on_lines, on_one_line
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


def of_memory(
    found: Found,
    form: Form,
    look: Look,
    worth: Mapping[str, float],
    shorter: Words | None,
    told: Sequence[Bullet] | None = None,
) -> Candidate:
    """A memory as its R3 says it; `shorter` is what it says where it is served below that. `told`: the sentences of a
    thread that speak of the question, most of it first."""
    item, version = found.item, found.version
    meta: dict[str, object] = {}
    if item.trust is Trust.UNTRUSTED:
        meta["trust"] = item.trust.value
    if item.valid_to is not None and item.valid_to <= look.now:
        meta["valid_from"], meta["valid_to"] = item.valid_from and when(item.valid_from), when(item.valid_to)
    content = shorter.content if shorter else served(version.content, version.bullets)
    match form:
        case Form.BULLETS:
            piece = (
                _line(found, content)
                if shorter
                else _told(found, telling(version.bullets, worth) if told is None else told)
            )
        case Form.FULL:
            piece = Piece(
                on_lines(item, content, () if shorter else version.bullets), memory_lead(item.trust), cut=True
            )
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


def _line(found: Found, words: str, bullets: Sequence[Bullet] = ()) -> Piece:
    lead = category_lead(found.item.category, found.item.trust)
    return Piece(on_one_line(words, bullets), lead, cut=True)


def _told(found: Found, bullets: Sequence[Bullet]) -> Piece:
    """The words of a memory on one line. Of a thread's summary, its title and what speaks of the question, with where
    it was said: whole sentences, as many as fit."""
    item, version = found.item, found.version
    if not isinstance(item.body, Episode) or not version.bullets:
        return _line(found, served(version.content, version.bullets), version.bullets)
    title = one_line(item.body.title or _heading(version))
    spoken = tuple(one_line(_placed(bullet)) for bullet in bullets[:SERVED])
    lead = category_lead(item.category, item.trust) + (statement(f"{title}: ") if title else "")
    return Piece(" ".join(spoken), lead, cut=True, parts=spoken)


def _heading(version: Version) -> str:
    first = version.content.split("\n", 1)[0]
    return first[2:].strip() if first.startswith("# ") else ""


def _placed(bullet: Bullet) -> str:
    """A sentence with its places in the thread; ids of events are too long to read."""
    places = tuple(witness for witness in bullet.witnesses if isinstance(witness, RangeWitness))
    said = bullet.served if bullet.quotation else statement(bullet.text)
    return noted(said, places) if places else said


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


def of_event(proof: Proof, *, framed: bool = False) -> Candidate:
    """An event, word for word; framed, behind who said it and when."""
    event = proof.event
    piece = Piece(quoted(event.text), _frame(event), cut=True) if framed else Piece(event.text, cut=True)
    result = Result(
        id=event.id,
        category=EVIDENCE,
        text=piece.lead + piece.text,
        score=round(proof.score, 4),
        meta=_said(event),
        level=Level.R5,
    )
    return Candidate(result, event.item_id, piece, proof.signals)


def of_both(found: Found, proof: Proof, form: Form) -> Candidate:
    """A memory and the event that it is made of, which are one: the memory, in the words that were said."""
    event, item = proof.event, found.item
    about: dict[str, object] = {}
    match form:
        case Form.BULLETS:
            piece = Piece(quoted(event.text), category_lead(item.category) + _frame(event, item.trust), cut=True)
        case Form.FULL:
            piece = Piece(quoted(event.text), _frame(event, item.trust), cut=True)
            about = _described(found)
    result = Result(
        id=item.id,
        category=item.category,
        text=piece.lead + piece.text,
        score=round(proof.score, 4),
        related_to=found.related_to,
        meta={**about, **_said(event), "trust": least_trust((event.trust, item.trust)).value, "event": event.id},
        level=Level.R5,
        version_id=found.version.id,
    )
    own = found.called or "context" in found.signals or not proof.signals
    signals = found.signals if own else proof.signals
    return Candidate(result, item.id, piece, signals)


def attributed(line: Candidate, found: Found, event: Event | None) -> Candidate:
    """A memory in words of its own, behind who said it and when; a quotation says so itself."""
    if any(bullet.quotation for bullet in found.version.bullets):
        return line
    trust, category = found.item.trust, found.item.category
    unmarked = {category_lead(category, trust): category_lead(category), memory_lead(trust): ""}[line.piece.lead]
    about = _frame(event, trust) if event else f"{day(found.item.origin_at)}{doubt(trust)}: "
    piece = replace(line.piece, lead=unmarked + about)
    return replace(line, piece=piece, result=replace(line.result, text=piece.lead + piece.text))


def perhaps_until(line: Candidate, moment: datetime) -> Candidate:
    """A line that says since when it may no longer hold: something that is served with it was said then."""
    told = f"perhaps until {_end(line, moment)}: "
    lead = line.piece.lead
    framed = lead.endswith(": ")
    piece = replace(line.piece, lead=f"{lead.removesuffix(': ')}, {told}" if framed else lead + told)
    meta = {**line.result.meta, "perhaps_until": when(moment)}
    return replace(line, piece=piece, result=replace(line.result, text=piece.lead + piece.text, meta=meta))


def until(line: Candidate, moment: datetime, *, partly: bool) -> Candidate:
    """A framed event that says until when it held."""
    told = f", {'partly ' if partly else ''}until {_end(line, moment)}: "
    piece = replace(line.piece, lead=line.piece.lead.removesuffix(": ") + told)
    meta = {**line.result.meta, "valid_to": when(moment)}
    return replace(line, piece=piece, result=replace(line.result, text=piece.lead + piece.text, meta=meta))


def _end(line: Candidate, moment: datetime) -> str:
    """The day on which something ended; what was said on that day itself says so."""
    return "later that day" if f", {day(moment)}" in line.piece.lead else day(moment)


def day(moment: datetime) -> str:
    return day_of(moment)


def _frame(event: Event, trust: Trust = Trust.TRUSTED) -> str:
    """Who said an event and when; `trust`: that of the memory it stands for, which may rest on others as well."""
    return frame(event.author, day(event.ts), trust=least_trust((event.trust, trust)))


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
