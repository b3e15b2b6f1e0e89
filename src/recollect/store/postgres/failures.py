"""PostgreSQL's errors as ours: what happened, and what would help. Only primary messages are passed on: the details
of an error quote rows."""

import psycopg
from psycopg import errors

from recollect.errors import (
    Invalid,
    RecollectError,
    Stale,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from recollect.store.postgres.address import Address

_LOST = ("08", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04")


def lost(error: psycopg.Error) -> bool:
    """Whether the connection went with the error. One that the client finds broken has no code."""
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError) and not isinstance(error, errors.PipelineAborted)
    return error.sqlstate.startswith(_LOST)


def unreachable(address: Address, error: psycopg.Error) -> StoreUnreachable:
    return StoreUnreachable(
        f"PostgreSQL at {address} does not answer: {address.shown(str(error))}",
        "Check that it runs, and that host, port, database and login are right; then try again.",
    )


def cut_off(address: Address) -> StoreUnreachable:
    return StoreUnreachable(
        f"the connection to PostgreSQL at {address} was lost; nothing of this write was kept",
        "Try again, with the same idempotency key.",
    )


def unconfirmed(address: Address) -> StoreUnreachable:
    return StoreUnreachable(
        f"the connection to PostgreSQL at {address} was lost during the commit: the write was not confirmed, "
        "it is there as a whole or not at all",
        "Repeat it with the same idempotency key: what was kept is not written twice.",
    )


def undone(address: Address) -> StoreError:
    return StoreError(f"{address} undid this write, since a statement of it had failed", "Nothing of it was kept.")


def typed(error: psycopg.Error, address: Address) -> RecollectError:
    """The error that says it in our words."""
    if lost(error):
        return unreachable(address, error)
    said = address.shown(error.diag.message_primary or str(error))
    match error:
        case errors.UniqueViolation() | errors.ExclusionViolation():
            return Stale(f"another write came first: {said}", [])
        case errors.DeadlockDetected() | errors.SerializationFailure():
            return Stale(f"another write was in the way: {said}", [])
        case errors.LockNotAvailable() | errors.QueryCanceled():
            return StoreBusy(f"others kept {address} busy for too long: {said}", "Try again when they are done.")
        case errors.DiskFull():
            return StoreFull(
                f"there is no room left on the server of {address}; nothing of this write was kept",
                "Free some disk space there and try again.",
            )
        case errors.ReadOnlySqlTransaction():
            return StoreReadOnly(f"{address} cannot be written: {said}", "Name the primary server, not a standby.")
        case errors.InsufficientPrivilege():
            return StoreError(
                f"the login may not do this at {address}: {said}",
                f'Have its owner run: grant recollect_app, recollect_worker to "{address.user or "LOGIN"}"',
            )
        case errors.PipelineAborted():
            return undone(address)
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return StoreDamaged(f"{address} is damaged: {said}", "Restore a backup: recollect restore BACKUP")
        case psycopg.DataError() | psycopg.IntegrityError() | errors.ProgramLimitExceeded():
            return Invalid(f"PostgreSQL cannot hold this: {said}")
        case _:
            return StoreError(f"{address} cannot be read or written: {said}", "Look into the server's log.")
