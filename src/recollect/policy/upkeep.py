"""The ages by which memory is looked after. Each is a setting."""

from dataclasses import dataclass
from datetime import timedelta

LEAST_LOCK, LONGEST_LOCK = timedelta(minutes=30), timedelta(minutes=120)


@dataclass(frozen=True, slots=True)
class Upkeep:
    quiet: timedelta = timedelta(minutes=60)
    """A thread that was silent for so long is closed, and summarised."""
    lock: timedelta = timedelta(minutes=60)
    """For how long a promoted version is kept from being compressed; extended whenever it is read."""
    summary_after: timedelta = timedelta(days=7)
    """An episode that nobody asked for since is served as its summary at most (R3)."""
    packet_after: timedelta = timedelta(days=30)
    """An episode that nobody asked for since is served as a hint (R2)."""
    archive_after: timedelta = timedelta(days=30)
    """A memory of a project that nobody asked for since is archived once the project has moved on."""
    expire_after: timedelta = timedelta(days=90)
    """A memory that was never used in all that time expires, where another one covers it."""

    def __post_init__(self) -> None:
        if not LEAST_LOCK <= self.lock <= LONGEST_LOCK:
            raise ValueError("a lock holds for 30 to 120 minutes")
        if self.packet_after < self.summary_after:
            raise ValueError("a hint does not come before the summary")
