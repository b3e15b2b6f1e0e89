"""The versions of one memory, made from its events down to the one word that stands for it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, TenantId, VersionId
from recollect.domain.level import Derivation, Level
from recollect.domain.portion import Spot
from recollect.domain.scope import NOBODY
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, RangeWitness, Witness
from recollect.errors import ModelFailed
from recollect.holdings import Among, Extent, Named, Placed
from recollect.policy import distil, hammer, prompts, regroup
from recollect.policy.distil import Draft, Material
from recollect.policy.hammer import Allowed, Family, may_compress
from recollect.ports import Keeper, Store, Writer
from recollect.weighing import weigh

LONG = 400
"""Events of a thread from which on its summary goes on from the last one. They are also what is read at once."""
CONTEXT = 40
"""Events before a short stretch that it is read with: a single message seldom makes sense, or a summary, on its own."""
AT_ONCE = 5
"""Stretches of a thread that are summed up in one write."""
_MINTS = 64
_CHARACTERS = 800_000
"""Text of a stretch: a clean log of it fits into a version."""
_CHARACTERS_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a thread, with what it is read with, and its handle and clean log where they are there already."""

    events: Sequence[Event]
    before: Sequence[Event] = ()
    handle: Version | None = None
    log: Version | None = None


@dataclass(frozen=True, slots=True)
class Headway:
    """How far a thread that is too long to be read at once has been summed up: through which event, in which summary,
    and whether its stretches had handles already."""

    through: int
    summary: VersionId | None
    known: bool = False


@dataclass(frozen=True, slots=True)
class Summed:
    """What was made of a thread; `onward` where there is more of it to read."""

    made: Sequence[Version] = ()
    onward: Headway | None = None


@dataclass(frozen=True, slots=True)
class Ladder:
    """Makes what is missing of a memory's versions. What is there is not made again."""

    store: Store
    clock: Clock
    writer: Writer | None
    tenant: TenantId
    keeper: Keeper | None = None

    def summed_up(self, family: Family, extent: Extent, now: datetime, so_far: Headway | None = None) -> Summed:
        """Handle, clean log and summary of a thread, as far as they do not cover all of its events. A long thread that
        was summed up before is read on from there; so is one whose summary was split. Of a thread that is too long to
        be read at once, the next stretches: who goes on says how far it has come (`so_far`)."""
        live = extent.places
        standing = hammer.handles(family, live)
        named = frozenset(seq for handle in standing for seq in hammer.places(handle))
        if so_far is not None:
            begun = next((one for one in family.versions if one.id == so_far.summary), None)
            done = frozenset(seq for seq in live if seq <= so_far.through)
            return self._read_on(family, begun, done, live, now, standing if so_far.known else ())
        former = _former(family, standing)
        if former and live <= named:
            return Summed()
        if former and _goes_on(standing, former, named, live):
            return self._read_on(family, former, named, live, now)
        carried = self._foreign(family, live)
        return self._read_from(family, 0, (), "", carried, now, standing if live <= named else ())

    def is_long(self, family: Family, extent: Extent) -> bool:
        """Whether there is more to read than is summed up in one write, as far as can be told without reading it."""
        live = extent.places
        standing = hammer.handles(family, live)
        named = frozenset(seq for handle in standing for seq in hammer.places(handle))
        former = _former(family, standing)
        left = live
        if former and (live <= named or _goes_on(standing, former, named, live)):
            left = live - named
        characters = 4 * extent.tokens * len(left) / max(1, len(live))
        return len(left) > AT_ONCE * LONG or characters > _CHARACTERS_AT_ONCE

    def is_read(self, family: Family, extent: Extent) -> bool:
        """Whether each event is in a stretch that has its handle, which it gets with what is made of it."""
        named = {seq for handle in hammer.handles(family, extent.places) for seq in hammer.places(handle)}
        return extent.places <= named

    def _read_on(
        self,
        family: Family,
        former: Version | None,
        done: frozenset[int],
        live: frozenset[int],
        now: datetime,
        standing: Sequence[Version] = (),
    ) -> Summed:
        """What comes behind those that are done, with their last ones as context, added to the summary of them."""
        places = [(family.item.id, seq) for seq in sorted(done & live)[-CONTEXT:]]
        before = self.store.near_events(self.tenant, places, readers=NOBODY) if places else ()
        title = distil.parse(former.content, family.item.id)[0] if former else ""
        carried = self._alive(former, live) if former else ()
        return self._read_from(family, max(done, default=0), before, title, carried, now, standing)

    def _read_from(
        self,
        family: Family,
        after: int,
        before: Sequence[Event],
        title: str,
        carried: Sequence[Bullet],
        now: datetime,
        standing: Sequence[Version],
    ) -> Summed:
        """The next stretches behind a place, as many as are read at once. `standing`: the handles they have already."""
        parts: list[_Part] = []
        size, through = 0, after
        for places in self._stretches(family.item.id, after, standing):
            size += sum(one.size for one in places)
            if parts and (len(parts) >= AT_ONCE or size > _CHARACTERS_AT_ONCE):
                made = self._parts(family, parts, title, carried, now)
                summary = next((one.id for one in made if one.level is Level.R3), None)
                return Summed(made, Headway(through, summary, bool(standing)))
            through = places[-1].seq
            # Private ones of a shared thread are not among them: nothing that is made of it has their words, and who
            # took part finds them as evidence.
            events = self.store.events_by_id(self.tenant, [one.id for one in places], readers=NOBODY)
            seqs = frozenset(event.seq for event in events)
            handle = next((one for one in standing if hammer.places(one) == seqs), None)
            log = _child(family, handle) if handle else None
            if events:  # they may have been taken back since they were counted
                parts.append(_Part(events, before if len(events) < CONTEXT else (), handle, log))
        return Summed(self._parts(family, parts, title, carried, now))

    def _stretches(self, item_id: ItemId, after: int, standing: Sequence[Version]) -> Iterator[list[Placed]]:
        """The events of a thread behind a place, in stretches that can be read at once: those of the handles, where
        there are any."""
        ends = frozenset(max(hammer.places(handle)) for handle in standing)
        return _cut(self._placed(item_id, after), ends)

    def _placed(self, item_id: ItemId, after: int) -> Iterator[Placed]:
        spot: Spot | None = Spot(item_id, after)
        while spot:
            found = self.store.placed_events(self.tenant, Among(item_id), after=spot, limit=LONG, readers=NOBODY)
            yield from found
            spot = found[-1].spot if found else None

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

    def named_singly(self, bullets: Iterable[Bullet]) -> list[Placed]:
        """The live events that these bullets name one by one, in whatever thread."""
        named = (witness for bullet in bullets for witness in bullet.witnesses)
        ids = sorted({one.event_id for one in named if not isinstance(one, RangeWitness)})
        return [
            one
            for start in range(0, len(ids), LONG)
            for one in self.store.placed_events(
                self.tenant, Among(named=Named(ids=frozenset(ids[start : start + LONG]))), limit=LONG
            )
        ]

    def _alive(self, summary: Version, live: frozenset[int]) -> list[Bullet]:
        """The bullets of a summary with those of their witnesses that still stand."""
        ids = {one.id for one in self.named_singly(summary.bullets)}
        standing = [
            (bullet, tuple(one for one in bullet.witnesses if _stands(one, summary.item_id, live, ids)))
            for bullet in summary.bullets
        ]
        return [replace(bullet, witnesses=witnesses) for bullet, witnesses in standing if witnesses]

    def _foreign(self, family: Family, live: frozenset[int]) -> list[Bullet]:
        """What the last summary says of events of other threads, which were merged into this memory."""
        if family.speaking is None:
            return []
        own = {one.id for one in self.named_singly(family.speaking.bullets) if one.item_id == family.item.id}
        return [
            bullet
            for bullet in self._alive(family.speaking, live)
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


def _former(family: Family, standing: Sequence[Version]) -> Version | None:
    """The summary that covers the stretches of these handles."""
    return (hammer.summaries(family, standing) or [None])[-1] if standing else None


def _goes_on(standing: Sequence[Version], former: Version, named: frozenset[int], live: frozenset[int]) -> bool:
    """Whether a thread is read on from its last summary, rather than anew."""
    long = len(live) > LONG or len(standing) > 1 or former.derivation is Derivation.SPLIT
    return long and min(live - named, default=0) > max(named)


def _child(family: Family, handle: Version) -> Version | None:
    found = [log for log in family.at(Level.R4) if log.derived_from == handle.id]
    return (found or [None])[-1]


def _stands(witness: Witness, episode_id: ItemId, places: frozenset[int], ids: set[EventId]) -> bool:
    if isinstance(witness, RangeWitness):
        return witness.episode_id == episode_id and any(seq in places for seq in range(witness.first, witness.last + 1))
    return witness.event_id in ids


def _cut(places: Iterable[Placed], ends: frozenset[int]) -> Iterator[list[Placed]]:
    """The events in stretches that can be read at once; `ends`: where stretches end, where that is known."""
    part: list[Placed] = []
    size = 0
    for one in places:
        if part and (part[-1].seq in ends if ends else len(part) >= LONG or size + one.size > _CHARACTERS):
            yield part
            part, size = [], 0
        part.append(one)
        size += one.size
    if part:
        yield part
