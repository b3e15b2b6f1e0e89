"""Portions: an answer that may be long is given a part at a time, and says where the rest begins."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

from recollect.domain.ids import ItemId

MOST = 1_000
"""Events, entries or versions in one portion, at most."""
ROOM = 1_000_000
"""Characters of their text in one portion, at most; one that is longer is a portion by itself."""

T = TypeVar("T", covariant=True)
C = TypeVar("C", covariant=True)
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True, eq=False)
class Portion(Sequence[T], Generic[T, C]):
    """Part of an answer, in its order. `next`: what to ask for the rest with; None where this is the end of it."""

    parts: tuple[T, ...] = ()
    next: C | None = None

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self.parts[place]

    def __eq__(self, other: object) -> bool:
        """Like any other sequence of the same parts."""
        return isinstance(other, Sequence) and list(self.parts) == list(other)  # pyright: ignore[reportUnknownArgumentType]

    __hash__ = None  # type: ignore[assignment]


def every(ask: Callable[[B | None], Portion[A, B]]) -> Iterator[A]:
    """All of a long answer, one portion after the other; `ask` is given where to go on."""
    after: B | None = None
    while True:
        portion = ask(after)
        yield from portion
        if portion.next is None:
            return
        after = portion.next


def limited(limit: int) -> int:
    """How many are asked for at once, or an error."""
    if not 1 <= limit <= MOST:
        raise ValueError(f"limit {limit}: give a number from 1 to {MOST}")
    return limit


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A place in a thread: a portion of events ends there, and the next begins behind it. Written `<thread>:<seq>`."""

    thread: ItemId
    seq: int

    def __str__(self) -> str:
        return f"{self.thread}:{self.seq}"

    @classmethod
    def read(cls, text: str) -> "Spot":
        thread, _, seq = text.partition(":")
        if len(thread) != 36 or not (seq.isascii() and seq.isdigit() and len(seq) <= 9):
            raise ValueError("that is no place to go on from: give the `next` of an earlier answer as it came")
        return cls(ItemId(thread), int(seq))
