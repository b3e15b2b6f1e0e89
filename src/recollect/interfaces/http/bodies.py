"""The bodies that are being read or answered: how many bytes of them are held at a time, how many of one sender, and
which gives way where another one does not fit."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from recollect.domain.ids import TenantId

SMALL = 65_536
"""Bytes of a body that always find room."""
_PARTS = 4
"""One sender has at most such a part of the room: who fills it locks out nobody else."""
_STILL_S = 1.0
"""A long body of which not so much as a small one came for so long gives way: whoever sends a few bytes now and then,
or none, keeps no room that others need."""
Sender = tuple[TenantId, str]


class Bodies:
    """One event loop asks, one after the other."""

    def __init__(self, most: int) -> None:
        self._most, self._part = most, most // _PARTS
        self._held, self._held_of = 0, Counter[Sender]()
        self._open: set[Body] = set()

    @contextmanager
    def body(self, sender: Sender, now: float) -> Generator["Body"]:
        """One body, from its first byte until it is answered."""
        body = Body(self, sender, now)
        self._open.add(body)
        try:
            yield body
        finally:
            self._open.remove(body)
            body.let_go()

    def make_room(self, body: "Body", more: int, now: float) -> bool:
        """Whether there is room for so many bytes more of the body, now that others have given way."""
        while body.size + more > SMALL:
            part_is_full = self._held_of[body.sender] + more > self._part
            if not part_is_full and self._held + more <= self._most:
                break
            asked = (one for one in self._open if one.sender == body.sender or not part_is_full)
            stillest = min((one for one in asked if one.is_still(now)), key=lambda one: one.moved_at, default=body)
            if stillest is body:
                return False
            stillest.let_go()
        return True

    def take(self, sender: Sender, more: int) -> None:
        self._held += more
        self._held_of[sender] += more
        if not self._held_of[sender]:
            del self._held_of[sender]


class Body:
    def __init__(self, bodies: Bodies, sender: Sender, now: float) -> None:
        self._bodies, self.sender = bodies, sender
        self._content = bytearray()
        self.size = 0
        """Bytes that are held of it."""
        self.moved_at, self._moved_to = now, 0
        self._is_sent = self.is_let_go = False

    def add(self, piece: bytes, now: float) -> None:
        """Some more of it, which is held where there is room for it; else nothing of it is any more."""
        if self.is_let_go:
            return
        if self.size + len(piece) - self._moved_to >= SMALL:
            self.moved_at, self._moved_to = now, self.size + len(piece)
        if not self._bodies.make_room(self, len(piece), now):
            self.let_go()
            return
        self._bodies.take(self.sender, len(piece))
        self.size += len(piece)
        self._content += piece

    def is_still(self, now: float) -> bool:
        """Whether it is long, and its sender keeps it from coming to its end."""
        return self.size > SMALL and not self._is_sent and now - self.moved_at > _STILL_S

    def let_go(self) -> None:
        self._bodies.take(self.sender, -self.size)
        self.size, self._content, self.is_let_go = 0, bytearray(), True

    def whole(self) -> bytes:
        """What was sent, to be read once. It has its room until it is answered."""
        content, self._content, self._is_sent = bytes(self._content), bytearray(), True
        return content
