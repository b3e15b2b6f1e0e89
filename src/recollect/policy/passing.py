"""Whether a memory is one that filters ask for: the stores' own question, for a memory that came another way."""

from recollect.domain.item import STATES, Item
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
    return STATES[type(item.state)] in filters.states and _measured(filters, item) and _timely(filters, item)


def _measured(filters: Filters, item: Item) -> bool:
    least, most = filters.importance_min, filters.importance_max
    return (least is None or item.importance >= least) and (most is None or item.importance <= most)


def _timely(filters: Filters, item: Item) -> bool:
    after, before, at = filters.updated_after, filters.updated_before, filters.valid_at
    if (after is not None and item.updated_at <= after) or (before is not None and item.updated_at >= before):
        return False
    if at is None:
        return True
    return (item.valid_from is None or item.valid_from <= at) and (item.valid_to is None or item.valid_to > at)
