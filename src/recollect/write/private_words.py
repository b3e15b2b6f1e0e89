"""Which words that come into shared threads are private: for those alone who took part."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Visibility
from recollect.domain.scope import NOBODY, Scope
from recollect.policy.speech.remark import is_private
from recollect.ports import Keeper, Store
from recollect.weighing import weigh
from recollect.write.draft import Draft

SHARED = (Visibility.PROJECT_SHARED, Visibility.SYSTEM)
"""Threads that are seen by people who took no part in them."""


def private_events(events: Sequence[Event], visibility: Visibility, keeper: Keeper | None) -> list[EventId]:
    """Of events of a thread that others see, those with words that are for who took part alone."""
    if visibility not in SHARED:
        return []
    weights = weigh(events, [place for place, event in enumerate(events) if event.role != "tool"], keeper)
    return [events[place].id for place, weighed in weights.items() if is_private(weighed)]


def unmarked_events(
    store: Store, scope: Scope, visibility: Visibility, drafts: Iterable[Draft], marked: Iterable[EventId] = ()
) -> list[EventId]:
    """The events of private memories of which no word is known to be private yet: who made such a memory found it out.
    `marked`: what the write in progress marks already."""
    private = [draft for draft in drafts if draft.private] if visibility in SHARED else []
    if not private:
        return []
    refs = sorted({f"e:{event.id}" for draft in private for event in draft.witnesses})
    return found_private(private, {*marked, *(EventId(ref[2:]) for ref in store.withheld(scope.tenant, refs, NOBODY))})


def found_private(drafts: Iterable[Draft], known: AbstractSet[EventId]) -> list[EventId]:
    """The events that private drafts show to be private, besides those that are known to be."""
    fresh = [draft for draft in drafts if draft.private and known.isdisjoint(event.id for event in draft.witnesses)]
    return [event.id for draft in fresh for event in draft.witnesses]


def open_title(title: str, visibility: Visibility, keeper: Keeper | None, at: datetime) -> str:
    """A title that a thread is given; none where it is private itself, since everybody who sees the thread sees it."""
    if visibility not in SHARED or not title.strip():
        return title
    said = Event(id=EventId("title"), item_id=ItemId("title"), ts=at, author="title", text=title)
    return "" if private_events([said], visibility, keeper) else title
