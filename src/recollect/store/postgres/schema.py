"""Recognising a database, and bringing it up to date. Everything of ours is in the schema `recollect`."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from recollect.errors import NotAStore, SchemaTooNew, StoreError
from recollect.store.migrations import Migration
from recollect.store.postgres.address import Address
from recollect.store.postgres.failures import typed
from recollect.store.postgres.pool import Connection

OLDEST_SERVER = 15
_LOCK = 0x5EC0_11EC_0001

_LOOK = """
select current_setting('server_version_num')::integer / 10000,
       exists (select from pg_class c where c.relnamespace = n.oid and c.relname = 'recollect_schema'),
       (select count(*) from pg_class c where c.relnamespace = n.oid)
from (values ('recollect')) as ours (name) left join pg_namespace n on n.nspname = ours.name
"""


def prepare(connection: Connection, address: Address, known: list[Migration], *, create: bool, patience: float) -> None:
    """The schema as this Recollect knows it, or an error before anything is changed."""
    try:
        version = _recognise(connection, address, create)
        if version > len(known):
            raise SchemaTooNew(
                f"{address} has schema {version}, this Recollect knows up to {len(known)}",
                "Install a newer Recollect.",
            )
        for migration in known[version:]:
            _migrate(connection, migration, patience)
    except errors.InsufficientPrivilege as error:
        raise _not_allowed(address, error) from error
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:  # 'extension "vector" is not available'
        raise StoreError(
            f"the server of {address} has no pgvector", "Install pgvector 0.8 or newer there, then try again."
        ) from error
    except psycopg.Error as error:
        raise typed(error, address) from error


def _recognise(connection: Connection, address: Address, create: bool) -> int:
    """The version of our schema here; 0 when there is none and there may be one."""
    row = connection.execute(_LOOK.encode()).fetchone()
    assert row is not None
    server, ours, relations = row
    if server < OLDEST_SERVER:
        raise StoreError(f"{address} is PostgreSQL {server}", f"Use PostgreSQL {OLDEST_SERVER} or newer.")
    if ours:
        return _version_as_application(connection)
    if relations:
        raise NotAStore(
            f"the schema recollect of {address} holds the tables of another program",
            "Name another database; this one was left as it is.",
        )
    if not create:
        raise NotAStore(f"there is no store in {address}", "Make one with: recollect init")
    return 0


def _version_as_application(connection: Connection) -> int:
    """Read as the application's role: a login that is nothing but its member can open a store, too."""
    with _transaction(connection):
        connection.execute(b"set local role recollect_app")
        return _version(connection)


def _version(connection: Connection) -> int:
    row = connection.execute(b"select coalesce(max(version), 0) from recollect.recollect_schema").fetchone()
    assert row is not None
    return row[0]


def _migrate(connection: Connection, migration: Migration, patience: float) -> None:
    """One migration, whole or not at all; of several openers one does it and the others wait."""
    with _transaction(connection):
        connection.execute(
            b"select set_config('lock_timeout', $1, true), set_config('search_path', 'recollect', true)",
            [str(max(1, int(patience * 1000)))],
        )
        connection.execute(b"select pg_advisory_xact_lock($1)", [_LOCK])
        if _present(connection) and _version(connection) >= migration.number:
            return
        for statement in migration.statements:
            connection.execute(statement.encode())
        connection.execute(b"insert into recollect.recollect_schema (version) values ($1)", [migration.number])


def _present(connection: Connection) -> bool:
    row = connection.execute(_LOOK.encode()).fetchone()
    return row is not None and bool(row[1])


@contextmanager
def _transaction(connection: Connection) -> Generator[None]:
    connection.execute(b"begin isolation level read committed")
    try:
        yield
        connection.execute(b"commit")
    finally:
        if connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            connection.execute(b"rollback")


def _not_allowed(address: Address, error: psycopg.Error) -> StoreError:
    return StoreError(
        f"the login may not open or set up the store in {address}: {error.diag.message_primary}",
        "To use one that is set up: grant recollect_app, recollect_worker to the login. To set one up, open it once "
        "as a login that may create a schema and roles.",
    )
