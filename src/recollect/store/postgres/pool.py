"""Connections, made when they are needed and kept for the next one who asks.

There is no thread in the background: who asks makes the connection and learns at once why it cannot be made, and the
first one who asks after a server came back has it. (With psycopg's pool callers wait out their patience for a server
that is down, and found it eight seconds after it was back from a pause of twenty.)
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from selectors import EVENT_READ, DefaultSelector

import psycopg
from psycopg import RawCursor
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format, PipelineStatus, TransactionStatus
from psycopg.types.string import TextLoader

from recollect.errors import StoreBusy, StoreError
from recollect.store.postgres.address import Address
from recollect.store.postgres.failures import unreachable
from recollect.store.tx import Row

Connection = psycopg.Connection[Row]


class Pool:
    """At most `size` connections, each lent to one at a time."""

    def __init__(self, address: Address, *, size: int, patience: float, prepare_after: int | None) -> None:
        self._address = address
        self._patience = patience
        self._prepare_after = prepare_after
        self._room = threading.Semaphore(size)
        self._size = size
        self._idle: list[Connection] = []
        self._guard = threading.Lock()
        self._closed = False

    @contextmanager
    def lent(self) -> Generator[Connection]:
        """A connection that was alive a moment ago. It is kept if it comes back outside of a transaction."""
        if not self._room.acquire(timeout=self._patience):
            raise StoreBusy(
                f"all {self._size} connections to {self._address} were in use for {self._patience:g} s",
                "Try again, or allow more connections.",
            )
        try:
            connection = self._take()
            try:
                yield connection
            finally:
                self._put(connection)
        finally:
            self._room.release()

    def _take(self) -> Connection:
        while (connection := self._kept()) is not None:
            if _alive(connection):
                return connection
            connection.close()
        return self._connect()

    def _kept(self) -> Connection | None:
        with self._guard:
            if self._closed:
                raise StoreError(f"the store at {self._address} is closed", "Open it again.")
            return self._idle.pop() if self._idle else None

    def _put(self, connection: Connection) -> None:
        with self._guard:
            if not self._closed and _at_rest(connection):
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self) -> Connection:
        try:
            connection: Connection = psycopg.connect(
                self._address.conninfo,
                autocommit=True,  # transactions are opened and closed by our own statements
                prepare_threshold=self._prepare_after,
                cursor_factory=RawCursor,
            )
        except psycopg.OperationalError as error:
            raise unreachable(self._address, error) from error
        connection.adapters.register_loader("json", TextLoader)
        connection.adapters.register_loader("timestamptz", _MomentLoader)
        connection.adapters.register_dumper(Binary, _BinaryDumper)
        return connection

    def close(self) -> None:
        """Those that are lent are closed when they come back."""
        with self._guard:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle.clear()


def _at_rest(connection: Connection) -> bool:
    outside = connection.info.transaction_status == TransactionStatus.IDLE
    return outside and connection.info.pipeline_status == PipelineStatus.OFF


def _alive(connection: Connection) -> bool:
    """False when the server has hung up: an idle connection that has something to say says goodbye."""
    if connection.closed:
        return False
    with DefaultSelector() as selector:
        selector.register(connection.fileno(), EVENT_READ)
        return not selector.select(0)


class _MomentLoader(Loader):
    """Every transaction sets UTC and ISO for itself. psycopg's own loader goes by what it last heard of the session,
    and fails at the ends of the calendar when that was another zone."""

    def load(self, data: Buffer) -> datetime | str:
        text = bytes(data).decode()
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return text  # no Recollect wrote it, "infinity" for one: whoever makes a value of the row says so


class Binary(bytes):
    """A value in the binary form of the column it is written to, whatever the type's number on this server."""


class _BinaryDumper(Dumper):
    format = Format.BINARY
    oid = 0

    def dump(self, obj: Binary) -> bytes:
        return obj
