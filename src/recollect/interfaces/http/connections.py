"""Connections: how many there are at a time, and how long each may keep the server waiting.

There are always fewer than the process may have files open, so that the store finds one when it needs one. Where all
are taken, the one that has used up most of its time makes room for the next: whoever opens many and says nothing locks
nobody out.
"""

import asyncio
import logging
import re
import socket
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # Windows counts no files
    resource = None

_MOST_FILES = 4096
"""As many are asked for where the system gives them."""
_FILES_OF_THE_STORE = 80
"""Left to everything else: a request at work, or a job, holds two of the store; then logs, models, what is loaded."""
_MOST = 1000
_LEAST = 8
_RATE = 16_384
"""Bytes in a second: what is sent, or read, faster than this is given the time that it takes."""
_BREATH = 0.05
LONGEST_HEAD = 65_536
_AT_ONCE = 4_096
"""Bytes of one connection that are read before another has its turn: a few bytes make a part of a body, or a line of a
head, and cost as much as a long one."""
_COSTLY_S = 0.001
_REST = 4
"""Times as long as its costly bytes took to read, a connection is not read again, once those before it have rested."""
_LONGEST_REST_S = 2.0
"""For what was read at once. So few bytes never cost half a second: what does is something else, such as a search of
memory for what nobody needs any more, which is not the fault of who happens to send just then."""
_LINES = 256
"""Of one head."""
_HEAD_ENDS = re.compile(rb"\n\r?\n")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a connection may take: until the head of its next request is there, and for a body to be sent
    or an answer to be read, both beyond the time that they take at a modest rate."""

    head: float = 10
    body: float = 30


class Waiting(Enum):
    """What a connection keeps the server waiting for."""

    HEAD = auto()
    BODY = auto()
    READING = auto()
    """The answer is there, and the client does not take it."""
    NOTHING = auto()
    """The server is at work."""


class Connection(H11Protocol):
    """One connection, which knows since when it keeps the server waiting for what."""

    since = 0.0
    _received = 0
    _lines = 0
    _ending = b""
    _wakes: asyncio.TimerHandle | None = None
    _unread: tuple[float, int] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if hasattr(transport, "max_size"):  # those of asyncio itself
            setattr(transport, "max_size", _AT_ONCE)  # noqa: B010 - no type tells of it
        self._begin()

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE and self._head_is_long(data):
            self.transport.abort()
            return
        before = self.cycle
        self._received += len(data)
        began = time.thread_time()
        super().data_received(data)
        self._rest(time.thread_time() - began)
        if self.cycle is not before:
            self._begin()

    def on_response_complete(self) -> None:
        self._begin()
        # The next head is read now, if it came early.
        if self.conn.their_state is h11.DONE and self._head_is_long(self.conn.trailing_data[0]):
            self.transport.abort()
            return
        began = time.thread_time()
        super().on_response_complete()
        self._rest(time.thread_time() - began)

    def resume_writing(self) -> None:
        self._unread = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Where the answer has begun there is no other to give."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def _rest(self, spent: float) -> None:
        """Whose bytes are costly waits before more of them are read: all such together get a part of the time."""
        if spent > _COSTLY_S:
            others = (one.rests_until for one in self.connections if isinstance(one, Connection))
            until = end_of_rest(self.loop.time(), others, spent)
            if self._wakes:
                self._wakes.cancel()
            self.transport.pause_reading()
            self._wakes = self.loop.call_at(until, self._read_on)

    @property
    def rests_until(self) -> float:
        return self._wakes.when() if self._wakes else 0

    def _read_on(self) -> None:
        self._wakes = None
        if not self.flow.read_paused:
            self.transport.resume_reading()

    def _head_is_long(self, data: bytes) -> bool:
        """Whether a head has more lines than any client sends. Its end may come in two parts."""
        seen = self._ending + data
        end = _HEAD_ENDS.search(seen)
        self._lines += seen.count(b"\n", len(self._ending), end.start() if end else len(seen))
        self._ending = seen[-2:]
        return self._lines > _LINES

    def _begin(self) -> None:
        self.since, self._received = self.loop.time(), 0
        self._lines, self._ending = 0, b""

    @property
    def waiting(self) -> Waiting:
        if self.transport.get_write_buffer_size():
            return Waiting.READING
        if not self.cycle or self.cycle.response_complete:
            return Waiting.HEAD
        return Waiting.BODY if self.cycle.more_body else Waiting.NOTHING

    def spent(self, now: float, patience: Patience) -> float:
        """How much of its time the connection has used up, as a share: above 1 it is overdue."""
        waiting = self.waiting
        if waiting is not Waiting.READING:
            self._unread = None
        match waiting:
            case Waiting.HEAD:
                return (now - self.since) / patience.head
            case Waiting.BODY:
                return (now - self.since) / (patience.body + self._received / _RATE)
            case Waiting.READING:
                since, size = self._unread = self._unread or (now, self.transport.get_write_buffer_size())
                return (now - since) / (patience.body + size / _RATE)
            case Waiting.NOTHING:
                return 0


def end_of_rest(now: float, resting: Iterable[float], spent: float) -> float:
    """One rests after the other, so that the pause grows with those who are costly, not with those who are there."""
    return max((now, *resting)) + min(_REST * spent, _LONGEST_REST_S)


class Server(uvicorn.Server):
    """uvicorn with an accept loop that keeps count. `most`: connections at a time."""

    def __init__(self, config: uvicorn.Config, patience: Patience, most: int | None = None) -> None:
        super().__init__(config)
        self._patience = patience
        self._most = most if most is not None else max(_LEAST, min(_MOST, allowed_files() - _FILES_OF_THE_STORE))
        self._tasks: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])  # all but listening
        loop = asyncio.get_running_loop()
        for listener in sockets or []:
            listener.setblocking(False)
            self._tasks.append(loop.create_task(self._accept(listener)))
        self._tasks.append(loop.create_task(self._watch()))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        *accepting, watching = self._tasks
        await _end(accepting)
        await super().shutdown(sockets)
        await _end([watching])

    @property
    def _open(self) -> list[Connection]:
        return [one for one in self.server_state.connections if isinstance(one, Connection)]

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._make_room()
            try:
                accepted, _ = await loop.sock_accept(listener)
                await loop.connect_accepted_socket(self._connection, accepted)
            except OSError as error:  # gone again; or no file left, and then one connection less
                _log.warning("a connection was not accepted: %s", error.strerror)
                self._close_one()
                await asyncio.sleep(_BREATH)

    def _connection(self) -> Connection:
        return Connection(self.config, self.server_state, self.lifespan.state)

    async def _make_room(self) -> None:
        while len(self.server_state.connections) >= self._most:
            closed = self._close_one()
            await asyncio.sleep(0 if closed else _BREATH)

    def _close_one(self) -> bool:
        """Close who has used up the most of its time; False where the server is at work for all of them."""
        now = asyncio.get_running_loop().time()
        waited_for = [one for one in self._open if one.waiting is not Waiting.NOTHING]
        if waited_for:
            max(waited_for, key=lambda one: one.spent(now, self._patience)).transport.abort()
        return bool(waited_for)

    async def _watch(self) -> None:
        pause = min(1.0, self._patience.head / 4, self._patience.body / 4)
        while True:
            await asyncio.sleep(pause)
            now = asyncio.get_running_loop().time()
            for one in self._open:
                if one.spent(now, self._patience) > 1:
                    one.transport.abort()


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def allowed_files() -> int:
    """How many files this process may have open at a time, once it has asked for more."""
    if resource is None:
        return _MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return _MOST_FILES if soft == resource.RLIM_INFINITY else soft
