"""The default answer: memories and events together, no words twice, best first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import ANY_STATE, Episode
from recollect.domain.level import Level
from recollect.domain.query import Query
from recollect.holdings import Outline
from recollect.policy.asked import Asked
from recollect.policy.pack import cost
from recollect.policy.passing import passes
from recollect.read import lines
from recollect.read.evidence import Proof, Proofs
from recollect.read.lines import Candidate
from recollect.read.over import Ended, Made, doubted, ended, facts_said_in, hidden
from recollect.read.portions import OfEvents, OfMemories, Portion, packed

_SHARE = 3
"""The part of the budget that memories get which say something in words of their own: a third."""
_EVENTS = 20
"""How many events share the rest at least: what is long is cut before others are left out."""
_SAME = 0.8
"""The share of a memory's words in its event from which the two are one."""
_ALONE = 0.1
"""What the score of a memory counts for its event, where the question does not find that: events are ranked better."""
SHORTEST = 12
"""Tokens of a short line, with who said it and when: no more of them are looked at than could be served."""
_BEHIND = 0.98
_AS_WELL = 0.45
"""The share of the best line's score from which another may tell what holds now."""
_NEAR_ENOUGH = 0.35
"""The share of the best line's score from which it is said of a line that it may be over."""
_TO_THE_POINT = 0.2
"""The share of the best line's score from which a line may come before one that it may have replaced. Lower ones bring
nothing more for stories, and more lines to the front that are beside the point."""
_WORD = re.compile(r"\w+")

Outlines = Mapping[EventId, Sequence[Outline]]
"""The memories that cite each event."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line that may be served: a memory in its own words, or an event, with the memory that was made of it."""

    score: float
    line: Candidate
    own: bool
    said: datetime
    event: Event | None = None
    whole: bool = False
    """Of a category that is served whole: before anything found."""

    def scored(self, score: float) -> "_Entry":
        line = replace(self.line, result=replace(self.line.result, score=round(score, 4)))
        return replace(self, score=score, line=line)

    def until(self, over: Ended, score: float) -> "_Entry":
        """The same line, saying until when it held."""
        return replace(self, line=lines.until(self.line, over.until, partly=over.partly)).scored(score)


class Blended:
    """Memories and events together; from one step up, what the memories rest on, or more events without them."""

    def __init__(self, known: OfMemories, proofs: Proofs, query: Query, question: Asked, made: Made) -> None:
        self._known, self._proofs, self._query, self._question, self._made = known, proofs, query, question, made
        self._events = OfEvents(known.look, query.top_k, proofs)

    @property
    def first(self) -> Level:
        """Where the ladder begins: at the memories; at the events where there are no others."""
        return Level.R3 if self._known.served else Level.R5

    @property
    def contested(self) -> frozenset[ItemId]:
        return self._known.contested

    @property
    def locked(self) -> frozenset[ItemId]:
        return self._known.locked

    @property
    def doubtful(self) -> bool:
        return False  # the events are served as it is

    @property
    def attested(self) -> bool:
        return self._known.attested or self._events.attested

    def at(self, step: int, page: int, room: int) -> Portion | None:
        """What is served so many steps up; None where that is no more than below."""
        if step > 0:
            return self._known.at(step, page, room) if self._known.served else self._events.at(step, page, room)
        entries = sorted(self._entries(), key=lambda entry: -entry.score)[: max(1, room // SHORTEST)]
        of = self._made.of(one.event.id for one in entries if one.event)
        current = self._current(self._open(entries, of), of)
        ranked = self._doubted(self._ranked(_once(sorted(current, key=lambda entry: -entry.score))), of)
        best = sorted(ranked, key=lambda entry: -entry.score)
        own = packed([entry.line for entry in best if entry.own], room // _SHARE, self._proofs.worth)
        left = room - sum(cost(result.text) for result, _ in own)
        events = packed([entry.line for entry in best if not entry.own], left, self._proofs.worth, _EVENTS)
        place = {entry.line.result.id: number for number, entry in enumerate(ranked)}
        kept = sorted([*own, *events], key=lambda one: place[one[0].id])
        return Portion(kept, False, bool(self._proofs.found or self._known.served), self.first)

    def _ranked(self, best: Sequence[_Entry]) -> list[_Entry]:
        """The best first; where a question asks how things stand, the latest first of those that fit about as well as
        the best: that is the likeliest to hold still."""
        first, found = [one for one in best if one.whole], [one for one in best if not one.whole]
        if not found or not self._question.now:
            return [*first, *found]
        least = _AS_WELL * found[0].score
        fitting = [one for one in found if one.score >= least]
        return [*first, *sorted(fitting, key=lambda one: one.said, reverse=True), *found[len(fitting) :]]

    def _entries(self) -> list[_Entry]:
        events = {proof.event.id: proof for proof in self._proofs.found}
        said_in = self._said_in()
        entries: list[_Entry] = []
        merged: set[EventId] = set()
        for found in self._known.served:
            if isinstance(found.item.body, Episode):
                continue
            event, whole = said_in.get(found.item.id), "context" in found.signals
            line = self._known.line(found)
            if event is None or line is None or not _says(event, found.version.content):
                if line:
                    line = lines.attributed(line, found, event)
                    entries.append(_Entry(found.score, line, own=True, said=found.item.origin_at, whole=whole))
            elif event.id not in merged:
                merged.add(event.id)
                proof = events.get(event.id) or Proof(event, _ALONE * found.score, {})
                if found.called or whole:  # by its tag
                    proof = replace(proof, score=found.score)
                line = lines.of_both(found, proof, self._query.form)
                entries.append(_Entry(proof.score, line, own=False, said=event.ts, event=event, whole=whole))
        for proof in self._proofs.found:
            if proof.event.id not in merged:
                line = lines.of_event(proof, framed=True)
                entries.append(_Entry(proof.score, line, own=False, said=proof.event.ts, event=proof.event))
        return entries

    def _open(self, entries: Sequence[_Entry], of: Outlines) -> list[_Entry]:
        """The same without the events that stand for themselves while what was made of them is out of the way: nobody
        is told by the back door what was archived or deleted."""
        alone = {one.event.id for one in entries if one.event and one.line.version_id is None}
        closed = hidden(self._known.look, {id: of[id] for id in alone if id in of}, self._query.filters.without)
        return [one for one in entries if one.event is None or one.event.id not in closed]

    def _current(self, entries: Sequence[_Entry], of: Outlines) -> list[_Entry]:
        """The same, where what no longer holds says until when it did, and stands behind what holds instead."""
        shown = [one.event.id for one in entries if one.event]
        over = ended(self._known.look, {id: of[id] for id in shown if id in of})
        if not over:
            return list(entries)
        scores = {one.event.id: one.score for one in entries if one.event}
        wanted: dict[EventId, float] = {}
        for id, one in over.items():
            if one.now is not None and one.now.id not in over:
                wanted[one.now.id] = max(wanted.get(one.now.id, 0.0), scores[id], scores.get(one.now.id, 0.0))
        found: list[_Entry] = []
        for entry in entries:
            event = entry.event
            if event is None or (event.id not in over and event.id not in wanted):
                found.append(entry)
            elif event.id in over:
                now = over[event.id].now
                best = wanted[now.id] if now and now.id in wanted else entry.score
                found.append(entry.until(over[event.id], min(entry.score, _BEHIND * best)))
            else:
                found.append(entry.scored(wanted[event.id]))
        missing = {one.now.id: one.now for one in over.values() if one.now and one.now.id not in scores}
        for id, event in missing.items():
            if id in wanted and self._asked_for(event):
                proof = Proof(event, wanted[id], {})
                found.append(
                    _Entry(proof.score, lines.of_event(proof, framed=True), own=False, said=event.ts, event=event)
                )
        return found

    def _doubted(self, entries: Sequence[_Entry], of: Outlines) -> list[_Entry]:
        """As many of them as are wanted. What another line may have replaced comes behind that one where the question
        asks how things stand, and says so where both are served."""
        by = self._newer(entries, of)
        order: Sequence[int] = range(len(entries))
        if self._question.now:
            order = newer_first(self._moved(entries, by), len(entries))
        kept = order[: self._query.top_k]
        return [
            replace(entries[one], line=lines.perhaps_until(entries[one].line, entries[by[one]].said))
            if by.get(one) in kept
            else entries[one]
            for one in kept
        ]

    def _moved(self, entries: Sequence[_Entry], by: Mapping[int, int]) -> dict[int, int]:
        """Of the lines that others may have replaced, those that come behind the other: it must have to do with the
        question, too. What is served whole stays where it is."""
        least = _TO_THE_POINT * max((one.score for one in entries if not one.whole), default=0.0)
        return {
            older: newer for older, newer in by.items() if not entries[older].whole and entries[newer].score >= least
        }

    def _newer(self, entries: Sequence[_Entry], of: Outlines) -> dict[int, int]:
        """The places of lines that others among them may have replaced, each with the place of the first of those, if
        it is near enough to the question: of what is far from it nobody needs to know."""
        found_ones = [one for one in entries if not one.whole]
        least = {  # memories in their own words and events are not scored alike
            own: _NEAR_ENOUGH * max((one.score for one in found_ones if one.own is own), default=0.0)
            for own in (False, True)
        }
        memories = {number: _memories(entry, of) for number, entry in enumerate(entries)}
        tells = {id: number for number, ids in memories.items() for id in ids}
        found = doubted(self._known.look, {id: entries[number].said for id, number in tells.items()})
        by: dict[int, int] = {}
        for number, entry in enumerate(entries):
            newer = [tells[found[id]] for id in memories[number] if id in found and tells[found[id]] != number]
            if newer and entry.score >= least[entry.own] and "valid_to" not in entry.line.result.meta:
                by[number] = min(newer, key=lambda one: entries[one].said)
        return by

    def _asked_for(self, event: Event) -> bool:
        """Whether an event that came another way is one that the question is narrowed to."""
        look, asked = self._known.look, self._query.filters
        episode = look.store.item(look.principal.tenant, event.item_id)
        of_thread = replace(asked, role=None, categories=None, without=frozenset(), states=ANY_STATE, valid_at=None)
        return episode is not None and passes(of_thread, episode.item) and asked.role in (None, event.role)

    def _said_in(self) -> dict[ItemId, Event]:
        """The event that a memory was said in, where it may be read."""
        served = [one for one in self._known.served if not isinstance(one.item.body, Episode)]
        said_in = {one.item.id: event_id for one in served if (event_id := one.version.said_in) is not None}
        look = self._known.look
        events = {proof.event.id: proof.event for proof in self._proofs.found}
        ids = sorted(set(said_in.values()) - events.keys())
        found = look.store.events_by_id(look.principal.tenant, ids, readers=look.readers) if ids else ()
        events |= {event.id: event for event in self._known.threads.seen(found)}
        return {id: events[event_id] for id, event_id in said_in.items() if event_id in events}


def newer_first(by: Mapping[int, int], count: int) -> list[int]:
    """The places of so many lines, each right behind the one that may have replaced it, unless that comes first
    already."""
    placed: dict[int, None] = {}
    for number in range(count):
        chain = [number]
        while (newer := by.get(chain[-1])) is not None and newer not in placed and newer not in chain:
            chain.append(newer)
        placed.update(dict.fromkeys(one for one in reversed(chain) if one not in placed))
    return list(placed)


def _memories(entry: _Entry, of: Outlines) -> list[ItemId]:
    """The facts that a line tells: the memory itself, or what was said in the event."""
    if entry.event is None:
        return [entry.line.item_id]
    return [one.id for one in facts_said_in(entry.event.id, of.get(entry.event.id, ()))]


def _once(entries: Sequence[_Entry]) -> list[_Entry]:
    """The same without what somebody said a second time on the same day, word for word."""
    found: dict[object, _Entry] = {}
    for one in entries:
        event = one.event
        said = (event.author, lines.day(event.ts), " ".join(event.text.split())) if event else one.line.result.id
        found.setdefault(said, one)
    return list(found.values())


def _says(event: Event, words: str) -> bool:
    """Whether an event holds the words of a memory, but for a few."""
    said = set(_WORD.findall(words.lower()))
    return len(said & set(_WORD.findall(f"{event.author} {event.text}".lower()))) >= _SAME * len(said)
