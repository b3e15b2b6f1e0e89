"""Vectors of messages: of the whole of a short one, of every chunk of a long one."""

from collections.abc import Sequence

from recollect.domain.event import Event
from recollect.holdings import Vector
from recollect.ports import Embedder


def vectors(embedder: Embedder | None, events: Sequence[Event]) -> list[Vector]:
    if embedder is None or not events:
        return []
    texts = dict(piece for event in events for piece in pieces(event))
    found = embedder.embed(list(texts.values()))
    return [Vector(embedder.name, ref, vector) for ref, vector in zip(texts, found, strict=True)]


def pieces(event: Event) -> list[tuple[str, str]]:
    """What of an event gets a vector, by the name the vector has."""
    if not event.chunks:
        return [(f"e:{event.id}", event.text)]
    return [
        (f"c:{event.id}.{number}", event.text[span.start : span.end]) for number, span in enumerate(event.chunks, 1)
    ]
