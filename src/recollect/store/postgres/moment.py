"""The moment a read sees. A read within a read joins it, and the last one to leave ends it."""

import threading
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import TracebackType

from recollect.store.postgres.session import Session


class Moment:
    """One snapshot and those who read in it."""

    def __init__(self, pool: object, opening: AbstractContextManager[Session]) -> None:
        self.pool = pool
        self.before = _current()
        self._opening = opening
        self._session = opening.__enter__()
        self._readers = 0
        self._guard = threading.Lock()
        _CURRENT.set(self)

    @property
    def over(self) -> bool:
        return self._readers == 0

    def __enter__(self) -> Session:
        with self._guard:
            self._readers += 1
        return self._session

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        with self._guard:
            self._readers -= 1
        if not self.over:
            return None
        if _CURRENT.get() is self:
            _CURRENT.set(self.before)
        return self._opening.__exit__(kind, failure, trace)


# Of the context, not of the thread: a stream that a server advances on whichever thread is free must not lend its
# moment, old by then, to the requests that run there in between.
_CURRENT: ContextVar[Moment | None] = ContextVar("recollect_moment", default=None)


def joined(pool: object) -> Moment | None:
    """The moment of this pool that the caller is within."""
    moment = _current()
    while moment is not None and moment.pool is not pool:
        moment = moment.before
    return moment


def _current() -> Moment | None:
    """The innermost moment that is not over. One that ended elsewhere could not take itself out."""
    moment = _CURRENT.get()
    while moment is not None and moment.over:
        moment = moment.before
    return moment
