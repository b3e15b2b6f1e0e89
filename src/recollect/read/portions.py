"""What memory has on a question, portion by portion: the memories, then their evidence and what else was said."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Episode, Item
from recollect.domain.level import Level
from recollect.domain.query import Form, Query, Result
from recollect.domain.turn import Task
from recollect.domain.witness import Bullet, ChunkWitness, EventWitness, RangeWitness
from recollect.policy import level
from recollect.policy.pack import SHARES, cost, pack
from recollect.policy.telling import telling
from recollect.read import lines, slices
from recollect.read.evidence import Proofs
from recollect.read.leveled import Family, Words
from recollect.read.lines import Candidate
from recollect.read.look import Look
from recollect.read.memories import Found
from recollect.read.slices import Anchor, Slice, Threads, Unit

_MOST_BULLETS = 6
_APART = 2.0
"""A witness comes after so many of the events that the question itself finds, per memory or witness before it."""
_LATER = 0.5
_SHARE = {False: 3, True: 4}
"""The part of the budget that the memories keep where their evidence is served: a third, then a quarter."""
RAW = 2
"""From this step on, the events themselves are served: around the witnesses, and those that the question finds."""

Kept = Sequence[tuple[Result, Candidate]]


@dataclass(frozen=True, slots=True)
class Portion:
    """What is served at a step."""

    kept: Kept
    escalated: bool
    more: bool
    step: Level | None = None
    """Where on the ladder it stands, if that is not told by how close its results are to the evidence."""

    @property
    def context(self) -> str:
        return "\n".join(result.text for result, _ in self.kept)

    @property
    def used_level(self) -> Level:
        return self.step or max((result.level for result, _ in self.kept), default=Level.R3)


class OfMemories:
    """Portions of memories: first the memories themselves, from one step up with their evidence."""

    first = Level.R3

    def __init__(
        self,
        look: Look,
        query: Query,
        served: Sequence[Found],
        found: Sequence[Found],
        worth: Mapping[str, float],
        find: Callable[[], Proofs],
    ) -> None:
        self._find = find
        self.look, self._query, self.served, self._found, self._worth = look, query, served, found, worth
        self.threads = Threads(look)
        self.proofs: Proofs | None = None
        """What the question finds among the events themselves: looked up when the first portion needs it."""

    @cached_property
    def contested(self) -> frozenset[ItemId]:
        """Those that contradict each other on record, and those that are hardly sure in themselves."""
        ids = frozenset(one.item.id for one in self.served)
        return frozenset(one.item.id for one in self.served if one.against & ids or level.unsure(one.item))

    @property
    def locked(self) -> frozenset[ItemId]:
        """Those whose version is locked."""
        return frozenset(one.item.id for one in self.served if one.item.lock)

    @property
    def doubtful(self) -> bool:
        """Whether even the first portion is more than the memories: one of them is disputed, and has evidence."""
        return bool(self.contested and self._anchors(one for one in self.served if one.item.id in self.contested))

    @property
    def attested(self) -> bool:
        return bool(self._anchors(self._found))

    def at(self, step: int, page: int, room: int) -> Portion | None:
        """What is served so many steps up; None where that is no more than below."""
        levels = {one.item.id: self._level(one, step) for one in self.served}
        evidence = [one for one in self.served if levels[one.item.id] >= Level.R4 and one.related_to is None]
        candidates = [line for one in self.served if (line := self.line(one, levels[one.item.id]))]
        if not evidence and step < RAW:
            raised = step > 0 and any(self._first(one) < min(levels[one.item.id], Level.R3) for one in self.served)
            kept = packed(candidates, room, self._worth)
            return Portion(kept, raised, bool(self._found)) if raised or step == 0 else None
        kept = packed(candidates, room // _SHARE[step >= RAW], self._worth)
        left = room - sum(cost(result.text) for result, _ in kept)
        clean = [one for one in evidence if levels[one.item.id] is Level.R4]
        raw, shown = self._raw([one for one in evidence if levels[one.item.id] is Level.R5], step, page, left)
        if page > 0 and not raw:
            return None
        cleaned = self._cleaned(clean, step, left - slices.spent(raw))
        if step > 0 and not raw and not cleaned:
            return None
        if step == 0 and not raw and not cleaned:  # what it rests on may not be read: the memories are what there is
            return Portion(packed(candidates, room, self._worth), False, bool(self._found))
        scores = {one.item.id: one.score for one in self.served}
        served = [lines.of_slice(one, max((scores[id] for id in one.of), default=0.0)) for one in [*cleaned, *raw]]
        more = step < RAW or bool(self._raw(evidence, step, 0, left, shown)[0])
        disputed = any(id in self.contested for one in [*cleaned, *raw] for id in one.of)
        return Portion([*kept, *((one.result, one) for one in served)], step > 0 or disputed, more)

    # -- levels -------------------------------------------------------------------------------------------

    def _level(self, found: Found, step: int) -> Level:
        disputed = found.item.id in self.contested and self._query.task is Task.ROUTINE
        return level.choose(self._first(found), step + int(disputed))

    def _first(self, found: Found) -> Level:
        item, promoted = found.item, found.item.active_version_id
        if promoted is None:
            return level.start(item)
        return level.start(item, Level.R3) if promoted == found.version.id else self._family(item).first

    def _family(self, item: Item) -> Family:
        if item.id not in self._families:
            versions = self.look.store.versions(
                self.look.principal.tenant, item.id, readers=self.look.readers, abridged=True
            )
            self._families[item.id] = Family(self.look, item, versions)
        return self._families[item.id]

    @cached_property
    def _families(self) -> dict[ItemId, Family]:
        return {}

    def line(self, found: Found, at: Level | None = None) -> Candidate | None:
        """What is served of a memory itself; none of a thread whose telling sentences are memories beside it."""
        at = self._level(found, 0) if at is None else at
        shorter: Words | None = None
        if at < Level.R3:
            shorter = self._family(found.item).words(at, 0, self._query.budget_tokens)
        elif isinstance(found.item.body, Episode) and self._query.form is Form.BULLETS:
            bullets = [one for one in self._told(found) if " ".join(one.text.split()) not in self._said]
            if not bullets:
                return None
            return lines.of_memory(found, self._query.form, self.look, self._worth, shorter, bullets)
        return lines.of_memory(found, self._query.form, self.look, self._worth, shorter)

    @cached_property
    def _said(self) -> frozenset[str]:
        """What the memories that are served beside say."""
        return frozenset(
            " ".join(one.version.content.split()) for one in self.served if not isinstance(one.item.body, Episode)
        )

    # -- evidence -----------------------------------------------------------------------------------------

    def _anchors(self, found: Iterable[Found]) -> list[Anchor]:
        """The witnesses of these memories: the first of each before the second of any."""
        memories = list(found)
        if (key := tuple(one.item.id for one in memories)) in self._ranked:
            return self._ranked[key]
        place = {one.item.id: number for number, one in enumerate(memories)}
        counted: dict[ItemId, int] = {}
        ranked: list[Anchor] = []
        for anchor in self.threads.cited((one.item.id, bullet) for one in memories for bullet in self._told(one)):
            assert anchor.of is not None
            number = counted[anchor.of] = counted.get(anchor.of, -1) + 1
            ranked.append(replace(anchor, rank=_APART * (place[anchor.of] + number) + _LATER))
        self._ranked[key] = ranked
        return ranked

    @cached_property
    def _ranked(self) -> dict[tuple[ItemId, ...], list[Anchor]]:
        return {}

    def _told(self, found: Found) -> Sequence[Bullet]:
        if not isinstance(found.item.body, Episode):
            return found.version.bullets
        if found.item.id not in self._telling:
            self._telling[found.item.id] = telling(found.version.bullets, self._worth, self._fit)[:_MOST_BULLETS]
        return self._telling[found.item.id]

    @cached_property
    def _telling(self) -> dict[ItemId, Sequence[Bullet]]:
        return {}

    def _fit(self, bullet: Bullet) -> float:
        """How well the events answer that a sentence of a thread is made of, against the best of all events."""
        best = 0.0
        for witness in bullet.witnesses:
            match witness:
                case EventWitness(event_id) | ChunkWitness(event_id):
                    best = max(best, self._fits.get(event_id, 0.0))
                case RangeWitness(episode_id, first, last):
                    places = self._places.get(episode_id, ())
                    best = max([best, *(fit for seq, fit in places if first <= seq <= last)])
        return best

    @cached_property
    def _fits(self) -> Mapping[EventId, float]:
        found = self.events.found
        most = max((proof.score for proof in found), default=0.0)
        return {proof.event.id: proof.score / most for proof in found} if most > 0 else {}

    @cached_property
    def _places(self) -> Mapping[ItemId, Sequence[tuple[int, float]]]:
        """The same by thread and place."""
        found: dict[ItemId, list[tuple[int, float]]] = {}
        for proof in self.events.found:
            found.setdefault(proof.event.item_id, []).append((proof.event.seq, self._fits.get(proof.event.id, 0.0)))
        return found

    @cached_property
    def events(self) -> Proofs:
        """What the question finds among the events themselves: it tells which sentences of a thread speak of it."""
        return self._find() if self.proofs is None else self.proofs

    def _raw(
        self, memories: Sequence[Found], step: int, page: int, room: int, shown: frozenset[Unit] = frozenset()
    ) -> tuple[list[Slice], frozenset[Unit]]:
        ordered = self._ordered(memories, step) if memories or step >= RAW else []
        if not ordered or room <= 0:
            return [], shown
        return slices.raw(self.threads, ordered, page, room, self._worth, shown)

    def _cleaned(self, memories: Sequence[Found], step: int, room: int) -> list[Slice]:
        anchors = self._ordered(memories, step) if memories else []
        return slices.cleaned(self._episode, anchors, room, self._worth) if anchors and room > 0 else []

    def _ordered(self, memories: Sequence[Found], step: int) -> list[Anchor]:
        """The witnesses of these memories, and, once more was asked for, what the question itself finds: the most
        telling first."""
        anchors = {(one.event.id, one.chunk): one for one in self._anchors(memories)}
        if step > 0 and self.proofs is not None:
            for rank, proof in enumerate(self.proofs.found):
                known = anchors.get((proof.event.id, 0))
                best = min(rank, known.rank - 1) if known else rank
                anchors[proof.event.id, 0] = Anchor(proof.event, best, 0, known.of if known else None)
        return sorted(anchors.values(), key=lambda one: one.rank)

    def _episode(self, item_id: ItemId) -> Item | None:
        if item_id not in self._episodes:
            held = self.look.store.item(self.look.principal.tenant, item_id)
            self._episodes[item_id] = held.item if held else None
        return self._episodes[item_id]

    @cached_property
    def _episodes(self) -> dict[ItemId, Item | None]:
        return {}


class OfEvents:
    """Portions of events: those that the question finds, then the next ones with what is around them."""

    first = Level.R5
    contested: frozenset[ItemId] = frozenset()
    locked: frozenset[ItemId] = frozenset()
    doubtful = False

    def __init__(self, look: Look, top_k: int | None, proofs: Proofs) -> None:
        self._look, self._top_k, self._proofs = look, top_k, proofs
        self.threads = Threads(look)

    @property
    def attested(self) -> bool:
        return bool(self._proofs.found)

    def at(self, step: int, page: int, room: int) -> Portion | None:
        first = [lines.of_event(proof) for proof in self._proofs.found[: self._top_k]]
        kept = packed(first, room, self._proofs.worth)
        anchors = [Anchor(proof.event, rank) for rank, proof in enumerate(self._proofs.found)]
        shown = frozenset((EventId(one.result.id), 0) for _, one in kept)
        if step == 0:
            return Portion(kept, False, bool(anchors))
        found, shown = slices.raw(self.threads, anchors, max(0, page - 1), room, self._proofs.worth, shown)
        if not found:
            return None
        scores = {proof.event.id: proof.score for proof in self._proofs.found}
        served = [
            lines.of_slice(one, max((scores.get(event.id, 0.0) for event in one.events), default=0.0)) for one in found
        ]
        more = bool(slices.raw(self.threads, anchors, 0, room, self._proofs.worth, shown)[0])
        return Portion([(one.result, one) for one in served], True, more)


def packed(candidates: Sequence[Candidate], room: int, worth: Mapping[str, float], shares: int = SHARES) -> Kept:
    return [
        (replace(candidates[one.place].result, text=one.text), candidates[one.place])
        for one in pack([candidate.piece for candidate in candidates], room, worth, shares)
    ]
