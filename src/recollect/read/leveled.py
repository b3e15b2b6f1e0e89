"""One memory at its level: as it is served by default, or a step closer to the evidence."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from recollect.domain.event import Event, Trust, least_trust
from recollect.domain.ids import ItemId, Rev, TenantId, VersionId
from recollect.domain.item import Episode, Item
from recollect.domain.level import Level
from recollect.domain.observation import Observation, Use, Used
from recollect.domain.portion import Portion
from recollect.domain.scope import NOBODY
from recollect.domain.text import tokens
from recollect.domain.turn import NEED_MORE_CONTEXT, Mode, Reason, Task
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness, RangeWitness
from recollect.holdings import Among, Held, Named, VersionOutline
from recollect.policy import level
from recollect.policy.calendar import day_of
from recollect.policy.distil import Draft, Material, packet, served, summarise, trace
from recollect.policy.hammer import places
from recollect.policy.pack import Piece, cost, pack
from recollect.policy.rendering import frame, memory_lead, quoted
from recollect.read import receipts, slices
from recollect.read.look import Look
from recollect.read.over import Made, doubt
from recollect.read.serving import FURTHEST, Course, ask_first, course, nothing_more
from recollect.read.shown import Shown, current, on_lines
from recollect.read.slices import Anchor, Slice, Threads

Readable = Callable[[Iterable[ItemId]], frozenset[ItemId]]
"""Those of these memories that may be read: the gate's own answer."""
_MOST_EVENTS = 1_000
_LATEST = 60
_AROUND = 2
"""Events before and after one that is asked for."""
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leveled:
    """A memory as it is served. `content` is all of it; `events` are those that it shows or cites."""

    item: Item
    rev: Rev
    used_level: Level
    content: str
    bullets: tuple[Bullet, ...]
    events: Sequence[Event]
    version_id: VersionId | None
    """None where no stored version has these words: they were made of others for this reading."""
    escalated: bool
    reason: Reason | None
    more: bool
    """Whether there is more to ask for."""
    turn_id: str | None
    tokens: int
    trust: Trust
    """That of the memory and of the events that it shows: the least of all."""
    event: Event | None = None
    """The event that was asked for, in the place of a memory: `item` is its thread."""
    made: Sequence[Shown] = ()
    """The memories that were made of the event."""
    doubt: Item | None = None
    """What may have taken the memory's place, where nobody is sure."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A memory at its level, and what is to be recorded of having served it."""

    leveled: Leveled
    observations: Sequence[Observation]


@dataclass(frozen=True, slots=True)
class Words:
    """What a memory says at a level."""

    level: Level
    content: str
    bullets: tuple[Bullet, ...] = ()
    events: tuple[Event, ...] = ()
    version_id: VersionId | None = None
    more: bool = True


class Family:
    """All that one memory can say, from one word to its evidence. What is not stored is made of what is."""

    def __init__(self, look: Look, item: Item, versions: Sequence[Version], readable: Readable | None = None) -> None:
        self._look, self.item, self._versions = look, item, versions
        self._threads = Threads(look, readable)

    @cached_property
    def first(self) -> Level:
        """The level of a first serving."""
        promoted = next((one.level for one in self._versions if one.id == self.item.active_version_id), None)
        return level.start(self.item, promoted)

    @cached_property
    def summary(self) -> Version | Draft | None:
        """The R3 that speaks for the memory; of a thread that is not summarised yet, one made for this reading."""
        stored = self.stored(Level.R3)
        if stored is not None or not isinstance(self.item.body, Episode):
            return stored
        return summarise(Material(self.item, self._events)) if self._events else None

    @cached_property
    def _events(self) -> list[Event]:
        """The events of a thread that may be read, from its beginning."""
        return self._threads.seen(receipts.events(self._look, Among(self.item.id)))

    @cached_property
    def anchors(self) -> list[Anchor]:
        """The readable events that the memory rests on, in the order of its sentences."""
        bullets = self.summary.bullets if self.summary else ()
        if not bullets:
            bullets = next((one.bullets for one in reversed(self._versions) if one.bullets), ())
        found = self._threads.cited((self.item.id, bullet) for bullet in bullets)
        if found or not isinstance(self.item.body, Episode):
            return found
        latest = self._threads.seen(
            self._look.store.latest(self._tenant, self.item.id, _LATEST, readers=self._look.readers)
        )
        return [Anchor(event, rank, of=self.item.id) for rank, event in enumerate(reversed(latest))]

    @property
    def _tenant(self) -> TenantId:
        return self._look.principal.tenant

    def stored(self, wanted: Level) -> Version | None:
        """The stored version of a level: the promoted one, else the newest."""
        found = [one for one in self._versions if one.level is wanted]
        return next((one for one in found if one.id == self.item.active_version_id), found[-1] if found else None)

    def words(self, wanted: Level, page: int, room: int) -> Words | None:
        """What the memory says at a level within a budget; None where it has nothing to say there."""
        match wanted:
            case Level.R5:
                return self._raw(page, room)
            case Level.R4:
                return self._clean(room)
            case Level.R3:
                told, bullets = self.summary, self.summary.bullets if self.summary else ()
                content = served(told.content, told.bullets) if told else None
            case Level.R2 | Level.R1:
                told = self.stored(wanted)
                content, bullets = told.content if told else self._shortened(wanted), ()
        if content is None:
            return None
        cited = self._threads.cited((self.item.id, bullet) for bullet in bullets)
        return Words(
            wanted,
            _fitting(on_lines(self.item, content, bullets), room, memory_lead(self.trust)),
            bullets,
            tuple({one.event.id: one.event for one in cited}.values()),
            told.id if isinstance(told, Version) else None,
            bool(self.anchors),
        )

    @cached_property
    def trust(self) -> Trust:
        """How far what the memory says may be believed. A thread that is not summarised yet has a trust of its own that
        says nothing of its events."""
        events = self._events if isinstance(self.summary, Draft) else ()
        return least_trust((self.item.trust, *(event.trust for event in events)))

    def _shortened(self, wanted: Level) -> str | None:
        if self.summary is None:
            return None
        stored = self.stored(Level.R2)
        hint = stored.content if stored else packet(self.item, self.summary.content, self.summary.bullets)
        return hint if wanted is Level.R2 else trace(self.item, hint, self.summary.content)

    def _clean(self, room: int) -> Words | None:
        stored = self.stored(Level.R4)
        if stored is not None:  # as it was listed, it may be abridged
            [stored] = self._look.store.versions(self._tenant, self.item.id, only=stored.id) or [stored]
        whole = self._whole_thread(stored) if stored is not None and cost(stored.content) <= room else ""
        if stored is not None and whole and cost(whole) <= room:
            events = tuple({one.event.id: one.event for one in self.anchors}.values())
            return Words(Level.R4, whole, stored.bullets, events, stored.id)
        found = slices.cleaned(self._episode, self.anchors, room, self._worth)
        return _sliced(Level.R4, found, True, stored.id if stored and found else None)

    def _raw(self, page: int, room: int) -> Words | None:
        found, shown = slices.raw(self._threads, self.anchors, page, room, self._worth, frozenset())
        if not found:
            return None
        more, _ = slices.raw(self._threads, self.anchors, 0, room, self._worth, shown)
        handle = self.stored(Level.R5)
        return _sliced(Level.R5, found, bool(more), handle.id if handle else None)

    def _whole_thread(self, log: Version) -> str:
        """The lines of a clean log, where it holds the thread, not only what is cited, and all of it; of a very long
        thread each log holds a stretch. They are written anew from the events that it is made of, which have no private
        words: the stored text leaves out who speaks where that would be longer than the words."""
        if not (self._look.reads_threads and isinstance(self.item.body, Episode)):
            return ""
        handles = {one.id: places(one) for one in self._versions if one.level is Level.R5}
        own = handles.get(log.derived_from, frozenset[int]()) if log.derived_from else frozenset[int]()
        if not own or not all(held <= own for held in handles.values()):
            return ""
        store, first, last = self._look.store, min(own), max(own)
        found = store.events(self._tenant, self.item.id, first, last, limit=_MOST_EVENTS, readers=NOBODY)
        events = [event for event in found if event.seq in own]
        if len(events) < len(own):
            return ""
        return "\n".join(one.lead + one.text for one in slices.clean_lines(self.item, events))

    def _episode(self, item_id: ItemId) -> Item | None:
        if item_id == self.item.id:
            return self.item
        held = self._look.store.item(self._tenant, item_id)
        return held.item if held else None

    @cached_property
    def _worth(self) -> Mapping[str, float]:
        """The words of the memory: of a long event, the part is shown that speaks of them."""
        text = " ".join(bullet.text for bullet in self.summary.bullets) if self.summary else ""
        return {word.lower(): 1.0 for word in _WORD.findall(text)}


def serve(
    look: Look,
    held: Held,
    readable: Readable,
    *,
    more: bool = False,
    turn_id: str | None = None,
    task: Task = Task.ROUTINE,
    mode: Mode = Mode.A,
    budget_tokens: int = 2_000,
) -> Rendered:
    """A memory that may be read, at the level that the turn and the task call for; `more` is a step further. Raises
    NothingMore where everything was served in this turn, NeedMoreContext where people are to be asked first."""
    item = held.item
    versions = open_versions(look, item)
    family = Family(look, item, versions, readable)
    turn = course(look, turn_id, f"memory {item.id}")
    against = look.store.contested(look.principal.tenant, [item.id]).get(item.id, frozenset())
    contested = level.unsure(item) or bool(look.seen(against))
    said = NEED_MORE_CONTEXT if more else ""
    steps = level.steps(task, contested, said, turn.served, turn.bumps)
    reason = level.reason(task, contested, said, turn.served, turn.bumps)
    if not more:  # who asks for more has been asked
        ask_first(mode, family.first, steps, witnesses=bool(family.anchors), reason=reason)
    words = _chosen(family, turn, steps, budget_tokens, more=more)
    escalated = words.level > family.first or turn.served > 0
    leveled = Leveled(
        item=item,
        rev=held.rev,
        used_level=words.level,
        content=words.content,
        bullets=words.bullets,
        events=words.events,
        version_id=words.version_id,
        escalated=escalated,
        reason=reason if escalated else None,
        more=words.more,
        turn_id=turn_id,
        tokens=tokens(words.content),
        trust=least_trust((family.trust, *(event.trust for event in words.events))),
        doubt=doubt(look, item),
    )
    return Rendered(leveled, [*turn.ignored(), Used(item.id, Use.RETRIEVED, look.now, words.version_id)])


def _chosen(family: Family, turn: Course, steps: int, room: int, *, more: bool) -> Words:
    """The first words, from this step upwards, that the turn was not served yet. Where there is nothing up there, what
    is below it, for who was served nothing about it yet and did not ask for more: a ladder is not climbed down."""
    for tried in range(FURTHEST):
        page = min(level.beyond(family.first, steps + tried), turn.served + tried)
        words = family.words(level.choose(family.first, steps + tried), page, room)
        if words is not None and turn.takes(words.content, _items(family, words)):
            return words
        if words is None and level.choose(family.first, steps + tried) is level.TOP:
            break
    if not more and not turn.served:
        for below in range(steps - 1, -1, -1):
            words = family.words(level.choose(family.first, below), 0, room)
            if words is not None and turn.takes(words.content, _items(family, words)):
                return words
    nothing = Words(family.first, "", more=False)
    if not more and not turn.served and turn.takes("", _items(family, nothing)):
        return nothing
    raise nothing_more()


def _items(family: Family, words: Words) -> dict[ItemId, VersionId | None]:
    """What a context is made of: the memory, and the threads whose words are in it."""
    threads: dict[ItemId, VersionId | None] = {}
    if words.level >= Level.R4:
        threads = dict.fromkeys(event.item_id for event in words.events)
    return {**threads, family.item.id: words.version_id}


def open_versions(look: Look, item: Item) -> Sequence[Version]:
    """The versions of a memory that hold nothing which is withheld from who looks."""
    found = look.store.versions(look.principal.tenant, item.id, readers=look.readers, abridged=True)
    return look.rule.versions(item, found)


def open_outlines(look: Look, item: Item) -> Sequence[VersionOutline]:
    """The same, as they are listed: without their words."""
    found = look.store.version_outlines(look.principal.tenant, item.id, readers=look.readers)
    if not look.rule.holds:
        return found
    open = {version.id for version in open_versions(look, item)}
    return [outline for outline in found if outline.id in open]


def shown(look: Look, held: Held, readable: Readable) -> Shown:
    """A memory with the one version that is served by default, and the readable events that it cites, as many of them
    as an answer holds."""
    spoken = _spoken(look, held.item)
    if spoken is None:
        return Shown(held.item, held.rev, None, Portion())
    speaking, attested = spoken
    events = receipts.events(look, Among(version=attested.id), Threads(look, readable))
    return Shown(held.item, held.rev, speaking, events, doubt=doubt(look, held.item))


def attesting(look: Look, item: Item) -> VersionId | None:
    """The version whose witnesses bear out what a first serving gives."""
    spoken = _spoken(look, item)
    return spoken[1].id if spoken else None


def _spoken(look: Look, item: Item) -> tuple[Version, Version] | None:
    """The version that a first serving gives, and the one with its witnesses: itself, or what it was made of."""
    tenant, readers = look.principal.tenant, look.readers
    versions = open_versions(look, item)
    speaking = current(item, versions)
    if speaking is None:
        return None
    attested, by_id = speaking, {version.id: version for version in versions}
    while not attested.bullets and attested.derived_from is not None and attested.derived_from in by_id:
        attested = by_id[attested.derived_from]
    [whole] = look.store.versions(tenant, item.id, readers=readers, only=speaking.id) or [speaking]
    return whole, attested


def shown_event(look: Look, event: Event, thread: Held, readable: Readable) -> Shown:
    """An event in its thread, with what was said around it and the memories that were made of it."""
    tenant = look.principal.tenant
    near = receipts.events(look, Among(event.item_id, named=Named((around_it(event.seq),))))
    of = [one.id for one in Made(look).of([event.id]).get(event.id, ())]
    seen = look.seen(of) & readable(of)
    held = look.store.speaking(tenant, sorted(seen), readers=look.readers)
    memories = [
        Shown(one.item, one.rev, version, Portion((event,)), doubt=doubt(look, one.item))
        for _, (one, version) in sorted(held.items())
    ]
    return Shown(thread.item, thread.rev, None, near, event, memories)


def around_it(seq: int) -> tuple[int, int]:
    """The places around one, the first and the last."""
    return max(1, seq - _AROUND), seq + _AROUND


def around(shown: Shown, turn_id: str | None, budget_tokens: int) -> Leveled:
    """The same, as memories are served: the words themselves, with those around them as far as there is room."""
    leads = {one.id: frame(one.author, day_of(one.ts), trust=one.trust) for one in shown.evidence}
    whole = "\n".join(leads[one.id] + quoted(one.text) for one in shown.evidence)
    content = whole if cost(whole) <= budget_tokens else ""
    if not content and shown.event:
        content = _fitting(quoted(shown.event.text), budget_tokens, leads[shown.event.id])
    return Leveled(
        item=shown.item,
        rev=shown.rev,
        used_level=Level.R5,
        content=content,
        bullets=tuple(Bullet(one.text, (EventWitness(one.id),)) for one in shown.evidence),
        events=shown.evidence,
        version_id=None,
        escalated=False,
        reason=None,
        more=False,
        turn_id=turn_id,
        tokens=tokens(content),
        trust=least_trust(event.trust for event in shown.evidence),
        event=shown.event,
        made=shown.made,
    )


def _sliced(wanted: Level, found: Sequence[Slice], more: bool, version_id: VersionId | None) -> Words | None:
    if not found:
        return None
    ordered = sorted(found, key=lambda one: (one.episode, one.events[0].seq))
    bullets = tuple(
        Bullet(
            one.text,
            (RangeWitness(one.episode, one.events[0].seq, one.events[-1].seq, "these very events"),),
        )
        for one in ordered
    )
    events = tuple(event for one in ordered for event in one.events)
    return Words(wanted, "\n".join(one.text for one in ordered), bullets, events, version_id, more)


def _fitting(content: str, room: int, lead: str = "") -> str:
    """The first lines of a text that fit, with what stands before it; of a single long one, its beginning."""
    if cost(lead + content) <= room:
        return lead + content
    kept: list[str] = []
    for line in content.split("\n"):
        if cost(lead + "\n".join([*kept, line])) > room:
            break
        kept.append(line)
    if kept:
        return lead + "\n".join(kept)
    return next((one.text for one in pack([Piece(content, lead, cut=True)], room, {})), "")
