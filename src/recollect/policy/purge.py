"""What a purge may erase. Pins and locks keep a memory from being hidden; they have no say here."""

from datetime import datetime

from recollect.domain.item import Item, SoftDeleted, Visibility


def exempt(item: Item) -> bool:
    """Whether no job ever erases it: a constitutional memory, or one in an agent's silo."""
    return item.constitutional or item.visibility is Visibility.AGENT_SILO


def due(item: Item, now: datetime) -> bool:
    """Whether its time is over: it was deleted, and the day of its purge has come."""
    return isinstance(item.state, SoftDeleted) and item.state.purge_at <= now and not exempt(item)


def may_fall(item: Item, withdrawn: bool, now: datetime) -> bool:
    """Whether it may be erased along with something it came from. What somebody can still read may not; what a
    rollback has hidden may."""
    return due(item, now) or (withdrawn and not exempt(item))
