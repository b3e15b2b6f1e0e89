"""The bodies that are being read or answered: how many bytes of them are held at a time."""

from collections.abc import Generator
from contextlib import contextmanager

SMALL = 65_536
"""Bytes of a body that always find room."""


class Bodies:
    """One event loop asks, one after the other."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0

    @contextmanager
    def body(self) -> Generator["Body"]:
        """One body, from its first byte until it is answered."""
        body = Body(self)
        try:
            yield body
        finally:
            body.let_go()

    def has_room(self, body: "Body", more: int) -> bool:
        return body.size + more <= SMALL or self._held + more <= self._most

    def take(self, more: int) -> None:
        self._held += more


class Body:
    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._content = bytearray()
        self.size = 0
        """Bytes that are held of it."""
        self.is_let_go = False

    def add(self, piece: bytes) -> None:
        """Some more of it, which is held where there is room for it; else nothing of it is any more."""
        if self.is_let_go:
            return
        if not self._bodies.has_room(self, len(piece)):
            self.let_go()
            return
        self._bodies.take(len(piece))
        self.size += len(piece)
        self._content += piece

    def let_go(self) -> None:
        self._bodies.take(-self.size)
        self.size, self._content, self.is_let_go = 0, bytearray(), True

    def whole(self) -> bytes:
        """What was sent, to be read once. It has its room until it is answered."""
        content, self._content = bytes(self._content), bytearray()
        return content
