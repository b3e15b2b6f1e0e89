"""What a memory is distilled from, and a version of it in the making."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recollect.domain.event import UNPLACED, Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Item
from recollect.domain.judgement import Weighed
from recollect.domain.level import Level
from recollect.domain.witness import Bullet, ChunkWitness, EventWitness, RangeWitness, Witness, written


@dataclass(frozen=True, slots=True)
class Material:
    """A memory, its evidence in order (an episode's live events, or what a fact cites), what its R3 says so far, and
    what a keeper says of the sentences of the events, by their places."""

    item: Item
    events: Sequence[Event]
    bullets: tuple[Bullet, ...] = ()
    weights: Mapping[int, Sequence[Weighed]] | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A version in the making: its level, its text, its sentences with their witnesses, and how good it is (0 to 1)."""

    level: Level
    content: str
    bullets: tuple[Bullet, ...]
    quality: float


def witnesses(item_id: ItemId, events: Iterable[Event], reason: str = "") -> tuple[Witness, ...]:
    """The events as witnesses: ranges where they stand in the memory's own thread, one by one where they do not."""
    found: list[Witness] = []
    for event in events:
        if event.item_id != item_id or event.seq == UNPLACED:
            found.append(EventWitness(event.id, reason))
        elif found and isinstance(last := found[-1], RangeWitness) and last.last in (event.seq - 1, event.seq):
            found[-1] = RangeWitness(item_id, last.first, event.seq, reason)
        else:
            found.append(RangeWitness(item_id, event.seq, event.seq, reason))
    return tuple(found)


def raw(material: Material) -> Draft:
    """R5: the events are the words; their version is a handle that names them."""
    named = witnesses(material.item.id, material.events, "said so")
    if not named:
        raise ValueError("a memory without events has no R5: give the events that it rests on")
    return Draft(Level.R5, written(named), (Bullet(written(named), named),), 1.0)


def cited(bullet: Bullet, events: Sequence[Event]) -> list[Event]:
    """The events among these that bear witness to a bullet, in their order; of a long one, the chunk that does."""
    return [part for event in events for part in _part(bullet.witnesses, event)]


def _part(named: tuple[Witness, ...], event: Event) -> Iterator[Event]:
    chunks: list[Event] = []
    for witness in named:
        match witness:
            case EventWitness(event_id):
                whole = event_id == event.id
            case RangeWitness(episode_id, first, last):
                whole = episode_id == event.item_id and first <= event.seq <= last
            case ChunkWitness(event_id, number):
                whole = False
                chunks += event.chunk(number) if event_id == event.id else ()
        if whole:
            yield event
            return
    yield from chunks


def resolves(witness: Witness, events: Sequence[Event]) -> bool:
    """Whether a witness names one of these events."""
    return bool(cited(Bullet("", (witness,)), events))


def event_ids(events: Iterable[Event]) -> frozenset[EventId]:
    return frozenset(event.id for event in events)
