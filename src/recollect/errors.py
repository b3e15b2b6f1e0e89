"""One small tree of errors. Each says what was refused, of which thing, and what would help."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

_LONGEST = 1_500


class RecollectError(Exception):
    """Anything Recollect refuses or cannot do."""

    def __init__(self, what: str, help: str = "") -> None:
        what, help = _short(what), _short(help)
        super().__init__(f"{what}. {help}".rstrip() if help else what)
        self.what = what
        self.help = help


def _short(words: str) -> str:
    """A refusal is read by people, whatever was sent to bring it about."""
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


class Invalid(RecollectError, ValueError):
    """The input cannot be used as it is."""


class NotFound(RecollectError, LookupError):
    """There is no such thing, or it is not for the one who asks."""


class Gone(NotFound):
    """It was here and was erased."""


class Refused(RecollectError):
    """A rule says no."""


class Forbidden(Refused):
    """The one who asks may not do this."""


class NothingMore(Refused):
    """Everything there is was served in this turn."""


class NeedMoreContext(RecollectError):
    """More evidence is needed, and people want to be asked before it is fetched."""

    def __init__(self, what: str, help: str, *, level: str, witnesses: bool, reason: str) -> None:
        super().__init__(what, help)
        self.recommended_next_level = level
        self.witnesses_available = witnesses
        self.reason = reason


class BuiltOn(Refused):
    """Later entries stand on what is to be rolled back."""

    def __init__(self, what: str, help: str, entries: Sequence[int]) -> None:
        super().__init__(what, help)
        self.entries = tuple(entries)


class Stale(RecollectError):
    """What was read has changed since. Look again, then decide again."""

    def __init__(self, what: str, things: Sequence[str]) -> None:
        super().__init__(what, "Read it again and decide again.")
        self.things = tuple(things)


class Repeated(RecollectError):
    """The idempotency key was used before: the first answer stands."""


class KeyReused(Invalid):
    """The idempotency key was used before for something else."""


class LeaseLost(RecollectError):
    """Another worker holds the job by now; nothing of this step was written."""


class ModelFailed(RecollectError):
    """A model did not answer, answered too late, or answered something that cannot be used."""


class StoreError(RecollectError):
    """The store cannot do its work at the moment. Nothing was half written."""


class StoreBusy(StoreError):
    """Others kept the store for longer than the patience that was set."""


class StoreFull(StoreError):
    """There is no room left."""


class StoreReadOnly(StoreError):
    """The store can be read, not written."""


class StoreUnreachable(StoreError):
    """The database does not answer."""


class StoreDamaged(StoreError):
    """The file or the database is not whole."""


class Unreadable(StoreDamaged, ValueError):
    """A row is not one that Recollect wrote."""

    def __init__(self, of: str) -> None:
        super().__init__(f"{of} is not as Recollect wrote it", "See what was changed: recollect verify --deep")


class NotAStore(StoreError):
    """This is somebody else's file or database."""


class SchemaTooNew(StoreError):
    """A newer Recollect wrote this."""


@contextmanager
def checked() -> Generator[None]:
    """Where input becomes domain values: what they refuse is Invalid, in their own words."""
    try:
        yield
    except RecollectError:
        raise
    except ValueError as error:
        raise Invalid(str(error)) from error
