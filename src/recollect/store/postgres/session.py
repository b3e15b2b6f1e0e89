"""One transaction on one connection. Statements that need no answer travel with the next one that does.

Everything a transaction needs of its session is set by its first statement and ends with it (role, tenant, search
path), so a pooler may give the next transaction to another connection.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg
from psycopg import Cursor, Pipeline
from psycopg.pq import TransactionStatus

from recollect.errors import Invalid, RecollectError
from recollect.store.postgres.address import Address
from recollect.store.postgres.failures import cut_off, lost, typed, unconfirmed, undone
from recollect.store.postgres.pool import Connection, Pool
from recollect.store.postgres.statement import Statement
from recollect.store.tx import Row

_QUEUE = 500

_SET_UP = (
    b"select set_config('role', $1, true), set_config('app.tenant', $2, true), set_config('lock_timeout', $3, true), "
    b"set_config('search_path', 'recollect, pg_temp', true), set_config('timezone', 'UTC', true), "
    b"set_config('datestyle', 'ISO', true), set_config('extra_float_digits', '1', true), "
    b"set_config('random_page_cost', '1.1', true), set_config('jit', 'off', true)"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a transaction is for: as whom it runs, and how it begins."""

    begin: bytes
    role: str
    writes: bool


READ = Kind(b"begin isolation level repeatable read read only", "recollect_app", writes=False)
WRITE = Kind(b"begin isolation level read committed", "recollect_app", writes=True)
CLAIM = Kind(b"begin isolation level read committed", "recollect_worker", writes=True)


class Session:
    """A transaction that is under way."""

    def __init__(self, connection: Connection, pipeline: Pipeline, tenant: str) -> None:
        self._connection = connection
        self._pipeline = pipeline
        self._queued = 0
        self.tenant = tenant
        self.cursors = 0

    def send(self, statement: Statement, values: Mapping[str, object], *, binary: bool = False) -> Cursor[Row]:
        """On its way; whoever reads from the cursor waits for the answer. A failure may show at a later statement."""
        cursor = self._connection.execute(statement.text, [values[name] for name in statement.names], binary=binary)
        self._queued += 1
        if self._queued >= _QUEUE:
            self.settle()
        return cursor

    def settle(self) -> None:
        """Wait until everything sent so far is done."""
        self._pipeline.sync()
        self._queued = 0

    def become(self, tenant: str) -> None:
        """The statements that follow are this tenant's."""
        if self.tenant != tenant:
            self._connection.execute(b"select set_config('app.tenant', $1, true)", [tenant])
            self.tenant = tenant


@contextmanager
def transaction(pool: Pool, address: Address, kind: Kind, tenant: str, *, patience: float) -> Generator[Session]:
    """Committed as the block ends, undone if it raises."""
    with pool.lent() as connection:
        failure: BaseException | None = None
        committing = False
        end: Cursor[Row] | None = None
        try:
            with connection.pipeline() as pipeline:
                try:
                    connection.execute(kind.begin)
                    connection.execute(_SET_UP, [kind.role, tenant, str(max(1, int(patience * 1000)))])
                    yield Session(connection, pipeline, tenant)
                    committing = True
                    end = connection.execute(b"commit")
                except BaseException as error:
                    failure = error  # the pipeline ends first: one that ends with an error complains in the log
            if end is not None and end.statusmessage != "COMMIT":
                failure = undone(address)
        except psycopg.Error as error:
            failure = failure or error
        if failure is not None:
            _undo(connection)
        if isinstance(failure, psycopg.Error):
            raise _told(failure, address, kind, committing) from failure
        if isinstance(failure, UnicodeEncodeError):
            raise Invalid("a text holds half of a surrogate pair", "Decode it as UTF-8 first.") from failure
        if failure is not None:
            raise failure


def _told(error: psycopg.Error, address: Address, kind: Kind, committing: bool) -> RecollectError:
    if kind.writes and lost(error):
        return unconfirmed(address) if committing else cut_off(address)
    return typed(error, address)


def _undo(connection: Connection) -> None:
    """Back to where a transaction can begin; a connection that cannot is thrown away by the pool."""
    if connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        with suppress(psycopg.Error):
            connection.execute(b"rollback")
