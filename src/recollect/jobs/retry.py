"""After a failure: when to try again, and what may be said about it."""

from datetime import timedelta

from recollect.errors import RecollectError

FIRST = timedelta(seconds=5)
LONGEST = timedelta(hours=1)


def delay(attempts: int, chance: float) -> timedelta:
    """How long to wait after so many attempts: twice as long each time, and by `chance` (0 to 1) up to half less, so
    that what failed together does not come back together."""
    doublings = min(attempts - 1, 20)  # far beyond the longest wait
    return min(FIRST * 2**doublings, LONGEST) * (1 - chance / 2)


def told(error: Exception) -> str:
    """An error in words that hold no memory. Our own say what was refused and of which id; those of others may quote
    what they were given."""
    kind = type(error).__name__
    return f"{kind}: {error.what}" if isinstance(error, RecollectError) else kind
