"""The category rule: which words of threads an agent is shown, when its list leaves categories out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from recollect.domain.ids import EventId, TenantId, VersionId
from recollect.domain.item import Episode, Item
from recollect.domain.scope import Readers
from recollect.domain.version import Version
from recollect.policy.categories import EVERY_CATEGORY, EVIDENCE, Allowed
from recollect.ports import Store


class _Event(Protocol):
    @property
    def id(self) -> EventId: ...


E = TypeVar("E", bound=_Event)


class CategoryRule:
    """What was said is withheld where memories were made of it and none of them is of a category that may be read;
    without the category of threads, so is all that no such memory cites. Nothing is looked up for who may read every
    category."""

    def __init__(self, store: Store, tenant: TenantId, readers: Readers, allowed: Allowed) -> None:
        self._store, self._tenant, self._readers, self._allowed = store, tenant, readers, allowed
        self._known: dict[EventId, bool] = {}

    @property
    def holds(self) -> bool:
        """Whether there is anything that the rule may withhold."""
        return self._allowed != EVERY_CATEGORY

    def shown(self, events: Iterable[E]) -> list[E]:
        """Those of these events that the rule does not withhold."""
        found = list(events)
        if not self.holds or not found:
            return found
        unknown = list(dict.fromkeys(event.id for event in found if event.id not in self._known))
        made = self._store.outlines(self._tenant, unknown, readers=self._readers)
        for id in unknown:
            categories = [outline.category for outline in made.get(id, ())]
            granted = any(self._allowed.holds(category) for category in categories)
            self._known[id] = granted or (not categories and self._allowed.holds(EVIDENCE))
        return [event for event in found if self._known[event.id]]

    def versions(self, item: Item, versions: Sequence[Version]) -> list[Version]:
        """The versions of a memory without those of a thread that cite withheld events, or come from one that does."""
        if not self.holds or not isinstance(item.body, Episode):
            return list(versions)
        by_id = {version.id: version for version in versions}
        open = {id: self._is_open(version) for id, version in by_id.items() if version.bullets}
        return [version for version in versions if _root(version, by_id, open)]

    def _is_open(self, version: Version) -> bool:
        cited = self._store.cited(self._tenant, [version.id])
        return len(self.shown(cited)) == len(cited)


def _root(version: Version, by_id: Mapping[VersionId, Version], open: Mapping[VersionId, bool]) -> bool:
    """Whether the nearest version with witnesses that this one comes from is open. One without any is not."""
    known: set[VersionId] = set()
    while version.id not in open:
        if version.derived_from is None or version.derived_from in known or version.derived_from not in by_id:
            return False
        known.add(version.id)
        version = by_id[version.derived_from]
    return open[version.id]
