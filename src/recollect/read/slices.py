"""Witness slices: the events that bear witness, with a little around them, as much as a budget holds. Never a thread.

What is shown or left out as a whole is an event, or a chunk of a long one. Those that are asked for come first; further
slices hold what the earlier ones did not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeVar

from recollect.domain.event import Event, Trust, least_trust
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Item
from recollect.domain.level import Level
from recollect.domain.witness import Bullet, ChunkWitness, EventWitness, RangeWitness
from recollect.holdings import Placed
from recollect.policy.chunks import chunks
from recollect.policy.distil import Material, clean_turns
from recollect.policy.pack import Piece, cost, pack, worth_of
from recollect.policy.rendering import frame, quoted
from recollect.read.look import Look

RADII = (1, 4, 16, 64, 256)
"""How far around the witnesses the first, second, … slices look."""
LONG = 1_200
"""Characters from which an event is shown by its chunks."""
_NEAR = 4.0
"""A neighbour comes after so many further witnesses per step that it stands away."""
_MOST_OF_A_RANGE = 60
_MOST_PACKED = 120
_LEAST = 120
"""Characters of an event that are worth showing, where it has so many."""
_MOST_PLACES = 1_500

InThread = TypeVar("InThread", Event, Placed)

Unit = tuple[EventId, int]
"""An event, and which of its chunks, counted from 1; 0 for all of it."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that is asked for: how many come before it, which chunk of it is meant, and whose witness it is."""

    event: Event
    rank: float
    chunk: int = 0
    of: ItemId | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """Some events of one thread that stand together, as they are served."""

    events: tuple[Event, ...]
    text: str
    level: Level
    of: tuple[ItemId, ...]
    rank: float

    @property
    def episode(self) -> ItemId:
        return self.events[0].item_id

    @property
    def witness(self) -> str:
        """What to ask for to see these events again."""
        return f"s:{self.events[0].seq}-{self.events[-1].seq}"

    @property
    def trust(self) -> Trust:
        return least_trust(event.trust for event in self.events)


@dataclass(frozen=True, slots=True)
class _Part:
    """A unit in its order: what is shown of which event, how near to what is asked for."""

    event: Event
    number: int
    count: int
    text: str
    rank: float

    @property
    def unit(self) -> Unit:
        return self.event.id, self.number

    @property
    def piece(self) -> Piece:
        part = [f"part {self.number} of {self.count}"] if self.number else []
        event, at = self.event, f"[s:{self.event.seq}-{self.event.seq}] "
        return Piece(
            quoted(self.text),
            at + frame(event.author, f"{event.ts:%Y-%m-%d %H:%M}", *part, trust=event.trust),
            cut=True,
        )


class Threads:
    """The threads that a look may see into. A witness may lie in one that is another's: it is not shown then."""

    def __init__(self, look: Look, readable: Callable[[Iterable[ItemId]], frozenset[ItemId]] | None = None) -> None:
        self._look, self._readable, self._rule = look, readable or look.readable, look.rule
        self._known: dict[ItemId, bool] = {}
        self._near: dict[frozenset[tuple[ItemId, int]], list[Event]] = {}

    def seen(self, events: Iterable[InThread]) -> list[InThread]:
        """Those of these events that may be read."""
        found = list(events)
        unknown = {event.item_id for event in found} - self._known.keys()
        if unknown:
            readable = self._readable(sorted(unknown))
            self._known |= {item_id: item_id in readable for item_id in unknown}
        return self._rule.shown(event for event in found if self._known[event.item_id])

    def around(self, anchors: Sequence[Anchor], radius: int) -> list[Event]:
        """The events near these, where threads may be read for more than what memories cite."""
        if not self._look.reads_threads or not anchors:
            return []
        known = {(anchor.event.item_id, anchor.event.seq) for anchor in anchors}
        first = sorted(anchors, key=lambda anchor: anchor.rank)[: max(1, _MOST_PLACES // (2 * radius + 1))]
        places = {
            (episode, seq + away)
            for episode, seq in {(anchor.event.item_id, anchor.event.seq) for anchor in first}
            for away in range(-radius, radius + 1)
            if seq + away >= 1 and (episode, seq + away) not in known
        }
        if (key := frozenset(places)) not in self._near:
            look = self._look
            found = (
                look.store.near_events(look.principal.tenant, sorted(places), readers=look.readers) if places else ()
            )
            self._near[key] = self.seen(found)
        return self._near[key]

    def cited(self, bullets: Iterable[tuple[ItemId, Bullet]]) -> list[Anchor]:
        """The readable events that bear witness to these bullets, each once, in the order of the bullets."""
        named = [(of, witness) for of, bullet in bullets for witness in bullet.witnesses]
        ids = [witness.event_id for _, witness in named if isinstance(witness, EventWitness | ChunkWitness)]
        places = [
            (witness.episode_id, seq)
            for _, witness in named
            if isinstance(witness, RangeWitness)
            for seq in range(witness.first, min(witness.last, witness.first + _MOST_OF_A_RANGE) + 1)
        ]
        store, tenant, readers = self._look.store, self._look.principal.tenant, self._look.readers
        found = [
            *(store.events_by_id(tenant, ids, readers=readers) if ids else ()),
            *(store.near_events(tenant, places, readers=readers) if places else ()),
        ]
        seen = self.seen(found)
        by_id = {event.id: event for event in seen}
        by_place = {(event.item_id, event.seq): event for event in seen}
        anchors: dict[Unit, Anchor] = {}
        for of, witness in named:
            chunk, events = 0, list[Event]()
            match witness:
                case EventWitness(event_id):
                    events = [by_id[event_id]] if event_id in by_id else []
                case ChunkWitness(event_id, chunk):
                    events = [by_id[event_id]] if event_id in by_id else []
                case RangeWitness(episode, first, last):
                    events = [
                        by_place[place] for seq in range(first, last + 1) if (place := (episode, seq)) in by_place
                    ]
            for event in events:
                anchors.setdefault((event.id, chunk), Anchor(event, float(len(anchors)), chunk, of))
        return list(anchors.values())


def raw(
    threads: Threads,
    anchors: Sequence[Anchor],
    page: int,
    room: int,
    worth: Mapping[str, float],
    shown: AbstractSet[Unit],
) -> tuple[list[Slice], frozenset[Unit]]:
    """The page of slices that follows the pages before it, and all units that were shown by then. None where there is
    nothing further. The events themselves, word for word, each with its place, who said it and when."""
    of = {anchor.event.id: anchor.of for anchor in anchors}
    past = frozenset(shown)
    kept: list[tuple[_Part, str]] = []
    for number in range(page + 1):
        kept = []
        for radius in RADII[min(number, len(RADII) - 1) :]:
            parts = [part for part in _parts(anchors, threads.around(anchors, radius), worth) if part.unit not in past]
            kept = _filled(parts[:_MOST_PACKED], room, worth)
            if kept:
                break
        past |= {part.unit for part, _ in kept}
    return list(_merged(kept, of)), past


def _filled(parts: Sequence[_Part], room: int, worth: Mapping[str, float]) -> list[tuple[_Part, str]]:
    """The parts that fit. One of which next to nothing does is left to the next slices, and its room to others."""
    packed = [(parts[one.place], one.text) for one in pack([part.piece for part in parts], room, worth)]
    kept = [(part, text) for part, text in packed if len(text) - len(part.piece.lead) >= min(_LEAST, len(part.text))]
    kept = kept or packed[:1]
    left, taken = room - sum(cost(text) for _, text in kept), {part.unit for part, _ in kept}
    for part in parts:
        whole = part.piece.lead + part.piece.text
        if part.unit not in taken and (price := cost(whole)) <= left:
            kept.append((part, whole))
            left -= price
    return kept


def cleaned(
    episodes: Callable[[ItemId], Item | None],
    anchors: Sequence[Anchor],
    room: int,
    worth: Mapping[str, float],
) -> list[Slice]:
    """The same events as the clean log has them: without noise, without repeats."""
    runs = [run for run in _runs(anchors) if episodes(run[0].event.item_id) is not None]
    runs.sort(key=lambda run: min(anchor.rank for anchor in run))
    lines = [(run, line) for run in runs[:_MOST_PACKED] for line in _clean(episodes, run, worth)][:_MOST_PACKED]
    kept: dict[int, tuple[Sequence[Anchor], list[str]]] = {}
    for one in pack([line for _, line in lines], room, worth):
        run = lines[one.place][0]
        kept.setdefault(id(run), (run, []))[1].append(one.text)
    return [
        Slice(
            tuple(anchor.event for anchor in run),
            "\n".join(texts),
            Level.R4,
            tuple(dict.fromkeys(anchor.of for anchor in run if anchor.of)),
            min(anchor.rank for anchor in run),
        )
        for run, texts in kept.values()
    ]


def _clean(episodes: Callable[[ItemId], Item | None], run: Sequence[Anchor], worth: Mapping[str, float]) -> list[Piece]:
    episode = episodes(run[0].event.item_id)
    assert episode is not None
    events = [replace(anchor.event, text=_meant(anchor, worth), chunks=()) for anchor in run]
    return clean_lines(episode, events)


def clean_lines(episode: Item, events: Sequence[Event]) -> list[Piece]:
    """The clean log of some events of a thread, as it is served: every line says where, who, when, and what is
    untrusted. The stored one leaves that out where it would be longer than the words."""
    return [
        Piece(
            quoted(turn.text),
            f"[{turn.places}] "
            + frame(turn.author, f"{turn.said_at:%Y-%m-%d}", trust=least_trust(one.trust for one in turn.events)),
            cut=True,
        )
        for turn in clean_turns(Material(episode, events))
    ]


def _meant(anchor: Anchor, worth: Mapping[str, float]) -> str:
    """The text of an event; of a long one, the chunk that is meant, else the one that speaks most of the matter."""
    parts = _chunks(anchor.event)
    if not parts:
        return anchor.event.text
    number = anchor.chunk if 1 <= anchor.chunk <= len(parts) else _best(parts, worth) + 1
    return parts[number - 1]


def _chunks(event: Event) -> list[str]:
    if len(event.text) < LONG:
        return []
    return [event.text[span.start : span.end] for span in event.chunks or chunks(event.text)]


def _best(parts: Sequence[str], worth: Mapping[str, float]) -> int:
    return max(range(len(parts)), key=lambda number: (worth_of(parts[number], worth), -number))


def _parts(anchors: Sequence[Anchor], around: Sequence[Event], worth: Mapping[str, float]) -> list[_Part]:
    """The units of all these events, those that are asked for first, then what is near them."""
    places: dict[ItemId, list[tuple[int, float]]] = {}
    for anchor in anchors:
        places.setdefault(anchor.event.item_id, []).append((anchor.event.seq, anchor.rank))
    near = [
        Anchor(event, min(rank + _NEAR * abs(event.seq - seq) for seq, rank in places[event.item_id]))
        for event in around
    ]
    found: dict[Unit, _Part] = {}
    for anchor in [*anchors, *near]:
        for part in _of_event(anchor, worth):
            if part.unit not in found or part.rank < found[part.unit].rank:
                found[part.unit] = part
    return sorted(found.values(), key=lambda part: (part.rank, part.event.item_id, part.event.seq, part.number))


def _of_event(anchor: Anchor, worth: Mapping[str, float]) -> Iterator[_Part]:
    parts = _chunks(anchor.event)
    if not parts:
        yield _Part(anchor.event, 0, 0, anchor.event.text.strip(), anchor.rank)
        return
    meant = anchor.chunk - 1 if 1 <= anchor.chunk <= len(parts) else _best(parts, worth)
    for number, text in enumerate(parts):
        if text.strip():
            yield _Part(anchor.event, number + 1, len(parts), text.strip(), anchor.rank + _NEAR * abs(number - meant))


def _runs(anchors: Sequence[Anchor]) -> list[list[Anchor]]:
    """The anchors of each thread in their order, parted where events are missing in between."""
    runs: list[list[Anchor]] = []
    for anchor in sorted(anchors, key=lambda one: (one.event.item_id, one.event.seq, one.chunk)):
        last = runs[-1][-1].event if runs else None
        if last is not None and last.item_id == anchor.event.item_id and anchor.event.seq == last.seq + 1:
            runs[-1].append(anchor)
        elif last is None or last.id != anchor.event.id:
            runs.append([anchor])
    return runs


def _merged(kept: Sequence[tuple[_Part, str]], of: Mapping[EventId, ItemId | None]) -> Iterator[Slice]:
    """Those that touch become one slice; the slices in the order of what they hold."""
    ordered = sorted(kept, key=lambda pair: (pair[0].event.item_id, pair[0].event.seq, pair[0].number))
    groups: list[list[tuple[_Part, str]]] = []
    for pair in ordered:
        last = groups[-1][-1][0].event if groups else None
        event = pair[0].event
        if last is not None and last.item_id == event.item_id and event.seq - last.seq <= 1:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    slices = [
        Slice(
            tuple({part.event.id: part.event for part, _ in group}.values()),
            "\n".join(text for _, text in group),
            Level.R5,
            tuple(dict.fromkeys(item for part, _ in group if (item := of.get(part.event.id)))),
            min(part.rank for part, _ in group),
        )
        for group in groups
    ]
    yield from sorted(slices, key=lambda one: one.rank)


def spent(slices: Iterable[Slice]) -> int:
    """Tokens of these slices, in the stricter count."""
    return sum(cost(one.text) for one in slices)
