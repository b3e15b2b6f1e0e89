"""The versions of one memory, made from its events down to the one word that stands for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, TenantId, VersionId
from recollect.domain.level import Derivation, Level
from recollect.domain.scope import NOBODY
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, RangeWitness, Witness
from recollect.errors import ModelFailed
from recollect.policy import distil, hammer, prompts, regroup
from recollect.policy.distil import Draft, Material
from recollect.policy.hammer import Allowed, Family, may_compress
from recollect.ports import Keeper, Store, Writer
from recollect.weighing import weigh

LONG = 400
"""Events of a thread from which on its summary goes on from the last one. They are also what is read at once."""
CONTEXT = 40
"""Events before a short stretch that it is read with: a single message seldom makes sense, or a summary, on its own."""
_MINTS = 64
_CHARACTERS = 800_000
"""Text that is read at once: a clean log of it fits into a version."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a thread, with what it is read with, and its handle and clean log where they are there already."""

    events: Sequence[Event]
    before: Sequence[Event] = ()
    handle: Version | None = None
    log: Version | None = None


@dataclass(frozen=True, slots=True)
class Ladder:
    """Makes what is missing of a memory's versions. What is there is not made again."""

    store: Store
    clock: Clock
    writer: Writer | None
    tenant: TenantId
    keeper: Keeper | None = None

    def events(self, item_id: ItemId) -> list[Event]:
        """All live events of a thread that its versions may be made of. Private ones of a shared thread are not among
        them: nothing that is made of it has their words, and who took part finds them as evidence."""
        found: list[Event] = []
        while page := self.store.events(self.tenant, item_id, found[-1].seq + 1 if found else 1, readers=NOBODY):
            found += page
        return found

    def summed_up(self, family: Family, events: Sequence[Event], now: datetime) -> list[Version]:
        """Handle, clean log and summary of a thread, as far as they do not cover all of its events. A long thread that
        was summed up before is read on from there; so is one whose summary was split."""
        live = {event.seq: event for event in events}
        standing = hammer.handles(family, frozenset(live))
        named = {seq for handle in standing for seq in hammer.places(handle)}
        left = [event for event in events if event.seq not in named]
        former = (hammer.summaries(family, standing) or [None])[-1] if standing else None
        if former and not left:
            return []
        onward = former and (len(events) > LONG or len(standing) > 1 or former.derivation is Derivation.SPLIT)
        if former and onward and left[0].seq > max(named):
            before = [event for event in events if event.seq in named][-CONTEXT:]
            parts = [_Part(part, before if len(part) < CONTEXT else ()) for part in _cut(left)]
            title = distil.parse(former.content, family.item.id)[0]
            return self._parts(family, parts, title, self._alive(former, events), now)
        carried = self._foreign(family, events)
        if left:
            return self._parts(family, [_Part(part) for part in _cut(events)], "", carried, now)
        known = [
            _Part([live[seq] for seq in sorted(hammer.places(handle))], (), handle, _child(family, handle))
            for handle in standing
        ]
        return self._parts(family, known, "", carried, now)

    def handle(self, family: Family, summary: Version, now: datetime) -> list[Version]:
        """The handle of what a memory without a thread rests on. Its words stay where they are: in their threads."""
        events = self.store.cited(self.tenant, [summary.id])
        if not events:
            return []
        draft = distil.raw(Material(family.item, events))
        if any(known.content == draft.content for known in family.at(Level.R5)):
            return []
        return [self._version(family, draft, None, None, now)]

    def shorter(self, family: Family, summary: Version, now: datetime) -> list[Version]:
        """Packet and trace of a summary, as far as they may be made and are not there."""
        made: list[Version] = []
        packet = hammer.abreast(family, Level.R2, summary)
        if packet is None and isinstance(may_compress(family.item, Level.R2, now), Allowed):
            content = distil.packet(family.item, summary.content, summary.bullets)
            draft = Draft(Level.R2, content, (), summary.quality_score or 0.0)
            packet = self._version(family, draft, summary, Derivation.COMPRESS, now)
            made.append(packet)
        trace = hammer.abreast(family, Level.R1, summary)
        if packet and trace is None and isinstance(may_compress(family.item, Level.R1, now), Allowed):
            content = distil.trace(family.item, packet.content, summary.content)
            draft = Draft(Level.R1, content, (), packet.quality_score or 0.0)
            made.append(self._version(family, draft, packet, Derivation.TRACE, now))
        return made

    def derived(
        self, family: Family, base: Version, title: str, bullets: Sequence[Bullet], how: Derivation, now: datetime
    ) -> Version:
        """A summary made out of summaries."""
        draft = Draft(Level.R3, distil.write(title, bullets), tuple(bullets), base.quality_score or 0.0)
        made = self._version(family, draft, base, how, now)
        for _ in range(_MINTS):  # ids of one moment come in any order, and the newest summary is the one that speaks
            if made.id > base.id:
                break
            made = replace(made, id=VersionId(self.clock.mint()))
        return made

    # -- parts ----------------------------------------------------------------------------------------------

    def _parts(
        self, family: Family, parts: Sequence[_Part], title: str, carried: Sequence[Bullet], now: datetime
    ) -> list[Version]:
        """Each stretch of a thread gets its handle and its log; one summary covers them all."""
        made: list[Version] = []
        told = Draft(Level.R3, "", tuple(carried), 0.0)
        log: Version | None = None
        for part in parts:
            material = Material(family.item, part.events)
            handle = part.handle or self._version(family, distil.raw(material), None, None, now)
            log = part.log or self._version(family, distil.clean(material), handle, Derivation.NORMALIZE, now)
            made += [*(() if part.handle else [handle]), *(() if part.log else [log])]
            told = self._told(family, part, told, title)
        if log is None or not told.bullets:
            return made
        if not told.content:
            told = replace(told, content=distil.write(title, told.bullets))
        return [*made, self._version(family, told, log, Derivation.SUMMARIZE, now)]

    def _told(self, family: Family, part: _Part, so_far: Draft, title: str) -> Draft:
        """The summary with what a stretch adds to it."""
        draft = self._summary(Material(family.item, [*part.before, *part.events]))
        if draft is None:
            return so_far
        fresh = [bullet for bullet in draft.bullets if distil.cited(bullet, part.events)]
        if not so_far.bullets and not part.before:
            return draft
        titles = (distil.parse(one.content, family.item.id)[0] for one in (so_far, draft))
        bullets = regroup.carried_on(so_far.bullets, fresh)
        name = title or next(filter(None, titles), "")
        return Draft(Level.R3, distil.write(name, bullets), bullets, max(so_far.quality, draft.quality))

    def _summary(self, material: Material) -> Draft | None:
        """Written by a language model where there is one and the events bear out what it writes, else of what a keeper
        finds worth keeping."""
        if self.writer is not None:
            try:
                answer = self.writer.write(prompts.summary(material), tenant=self.tenant)
            except ModelFailed:
                answer = None
            written = distil.accepted(answer, material) if answer is not None else None
            if written is not None:
                return written
        weights = weigh(material.events, range(len(material.events)), self.keeper)
        return distil.summarise(replace(material, weights=weights))

    def _alive(self, summary: Version, events: Sequence[Event]) -> list[Bullet]:
        """The bullets of a summary with those of their witnesses that still stand."""
        places = {event.seq for event in events}
        ids = {event.id for event in events}
        named = [witness for bullet in summary.bullets for witness in bullet.witnesses]
        elsewhere = {one.event_id for one in named if not isinstance(one, RangeWitness)} - ids
        if elsewhere:
            ids |= {event.id for event in self.store.events_by_id(self.tenant, sorted(elsewhere))}
        standing = [
            (bullet, tuple(one for one in bullet.witnesses if _stands(one, summary.item_id, places, ids)))
            for bullet in summary.bullets
        ]
        return [replace(bullet, witnesses=witnesses) for bullet, witnesses in standing if witnesses]

    def _foreign(self, family: Family, events: Sequence[Event]) -> list[Bullet]:
        """What the last summary says of events of other threads, which were merged into this memory."""
        if family.speaking is None:
            return []
        own = {event.id for event in events}
        return [
            bullet
            for bullet in self._alive(family.speaking, events)
            if not any(isinstance(one, RangeWitness) or one.event_id in own for one in bullet.witnesses)
        ]

    def _version(
        self, family: Family, draft: Draft, base: Version | None, how: Derivation | None, now: datetime
    ) -> Version:
        return Version(
            id=VersionId(self.clock.mint()),
            item_id=family.item.id,
            level=draft.level,
            content=draft.content,
            bullets=draft.bullets,
            derived_from=base.id if base else None,
            derivation=how,
            created_at=now,
            quality_score=draft.quality,
        )


def _child(family: Family, handle: Version) -> Version | None:
    found = [log for log in family.at(Level.R4) if log.derived_from == handle.id]
    return (found or [None])[-1]


def _stands(witness: Witness, episode_id: ItemId, places: set[int], ids: set[EventId]) -> bool:
    if isinstance(witness, RangeWitness):
        return witness.episode_id == episode_id and any(seq in places for seq in range(witness.first, witness.last + 1))
    return witness.event_id in ids


def _cut(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events in stretches that can be read at once."""
    part: list[Event] = []
    size = 0
    for event in events:
        if part and (len(part) >= LONG or size + len(event.text) > _CHARACTERS):
            yield part
            part, size = [], 0
        part.append(event)
        size += len(event.text)
    if part:
        yield part
