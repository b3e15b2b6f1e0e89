"""Moments: they name their zone, so that every store and every reader means the same one."""

from datetime import datetime


def zoned(at: datetime | None, what: str) -> None:
    """Refuses a time without a zone: it would be another moment on another machine."""
    if at is not None and at.tzinfo is None:
        raise ValueError(f"{what} {at.isoformat()} has no zone: name one, for example datetime(..., tzinfo=UTC)")
