"""Whether a memory is one that filters ask for: the stores' own question, for a memory that came another way."""

from datetime import datetime

from recollect.domain.item import STATES, Archived, Item
from recollect.domain.query import Filters

_SAME = ("user_id", "agent_id", "project_id", "thread_id", "run_id", "actor_id", "role", "pinned", "core", "topic_key")


def passes(filters: Filters, item: Item) -> bool:
    """Whether the memory passes; one whose time is over passes where no moment of validity is asked for."""
    if any((wanted := getattr(filters, name)) is not None and getattr(item, name) != wanted for name in _SAME):
        return False
    if filters.kinds is not None and item.kind not in filters.kinds:
        return False
    if (filters.categories is not None and item.category not in filters.categories) or item.category in filters.without:
        return False
    return _living(filters, item) and _measured(filters, item) and _timely(filters, item)


def _living(filters: Filters, item: Item) -> bool:
    """Whether it is in a state that is asked for. At a moment of the past, what was replaced since is there still."""
    replaced = filters.valid_at is not None and isinstance(item.state, Archived) and item.superseded_by is not None
    return replaced or STATES[type(item.state)] in filters.states


def _measured(filters: Filters, item: Item) -> bool:
    least, most = filters.importance_min, filters.importance_max
    return (least is None or item.importance >= least) and (most is None or item.importance <= most)


def _timely(filters: Filters, item: Item) -> bool:
    after, before = filters.updated_after, filters.updated_before
    if (after is not None and item.updated_at <= after) or (before is not None and item.updated_at >= before):
        return False
    at, now = filters.valid_at, filters.current_at
    if at is not None and not _held(item.valid_from or item.origin_at, at, item.valid_to):
        return False
    return now is None or _held(item.valid_from, now, item.valid_to)


def _held(since: datetime | None, at: datetime, until: datetime | None) -> bool:
    return (since is None or since <= at) and (until is None or until > at)
