"""The moment a read sees. A read within a read joins it."""

from contextvars import ContextVar
from dataclasses import dataclass

from recollect.store.postgres.session import Session


@dataclass(slots=True, eq=False)
class Moment:
    """A snapshot that is open, for the reads of one pool."""

    pool: object
    session: Session
    before: "Moment | None"
    open: bool = True


# Of the context, not of the thread: a stream that a server advances on whichever thread is free must not lend its
# moment, old by then, to the requests that run there in between.
_CURRENT: ContextVar[Moment | None] = ContextVar("recollect_moment", default=None)


def joined(pool: object) -> Moment | None:
    """The open moment of this pool that the caller is within."""
    moment = _CURRENT.get()
    while moment is not None and not (moment.open and moment.pool is pool):
        moment = moment.before
    return moment


def enter(pool: object, session: Session) -> Moment:
    moment = Moment(pool, session, _CURRENT.get())
    _CURRENT.set(moment)
    return moment


def leave(moment: Moment) -> None:
    moment.open = False
    if _CURRENT.get() is moment:
        _CURRENT.set(moment.before)
