"""Vectors of messages: of the whole of a short one, of the chunks of a long one."""

from collections.abc import Sequence

from recollect.domain.event import Event
from recollect.holdings import Vector
from recollect.policy import chunks
from recollect.ports import Embedder


def vectors(embedder: Embedder | None, events: Sequence[Event]) -> list[Vector]:
    if embedder is None or not events:
        return []
    texts = dict(piece for event in events for piece in pieces(event))
    each = list(dict.fromkeys(texts.values()))
    found = dict(zip(each, embedder.embed(each), strict=True))
    return [Vector(embedder.name, ref, found[text]) for ref, text in texts.items()]


def pieces(event: Event) -> list[tuple[str, str]]:
    """What of an event gets a vector, by the name the vector has."""
    if not event.chunks:
        return [(f"e:{event.id}", event.text)]
    found = chunks.telling(event.text, event.chunks)
    if event.role != "document":  # nobody speaks for so long: it is a paste, or what a tool prints
        found = found[: chunks.MANY]
    return [(f"c:{event.id}.{number}", _of(event, number)) for number in found]


def _of(event: Event, number: int) -> str:
    span = event.chunks[number - 1]
    return event.text[span.start : span.end]
