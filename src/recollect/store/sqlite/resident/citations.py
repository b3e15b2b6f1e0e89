"""Which events the memories of a tenant cite: what the category rule asks, for all texts at once."""

from collections.abc import Mapping, Sequence

import numpy as np

from recollect.holdings import Listed
from recollect.store.sqlite.resident.catalog import NOBODY, Catalog
from recollect.store.sqlite.resident.columns import Columns, Mask
from recollect.store.tx import Row, Sought

EVERY = (
    "select e.rid, c.item_id, c.rid from witnesses w "
    "join versions c on c.tenant = :tenant and c.id = w.version_id and not c.withdrawn "
    "join events e on e.tenant = :tenant and e.id = w.event_id where w.tenant = :tenant"
)
OF_ITEMS = (
    "select e.rid, c.item_id, c.rid from versions c join witnesses w on w.tenant = :tenant and w.version_id = c.id "
    "join events e on e.tenant = :tenant and e.id = w.event_id "
    "where c.tenant = :tenant and c.item_id in :ids[] and not c.withdrawn"
)


class Citations:
    """Live versions and the events that they cite, by their places in a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._rows = Columns(event=np.int32, item=np.int32, version=np.int64)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def put(self, rows: Sequence[Row]) -> None:
        """Rows of EVERY or OF_ITEMS."""
        if not rows:
            return
        event, item, version = zip(*rows, strict=True)
        events = self._catalog.places_of(Sought.EVENTS, np.array(event, np.int64))
        items = self._catalog.places_of_items(item)
        known = (events >= 0) & (items >= 0)
        made = {"event": events, "item": items, "version": np.array(version, np.int64)}
        self._rows.append({name: column[known] for name, column in made.items()})

    def drop(self, ids: Sequence[str]) -> None:
        """What these items cite is told anew."""
        self._rows.keep(~np.isin(self._rows["item"], self._catalog.places_of_items(ids)))

    def shown(self, listed: Listed, unread: Sequence[int]) -> Mapping[Sought, Mask]:
        """Which texts a list does not withhold: the category rule. `unread`: rows of versions that whoever asks may not
        read."""
        catalog, cited = self._catalog, self._rows
        items, events, versions = catalog.items, catalog.docs[Sought.EVENTS], catalog.docs[Sought.ITEMS]
        on_list = catalog.on(listed)
        thread = catalog.episodes()
        speaks = (~items["withdrawn"] & (items["speaker"] != NOBODY) & ~thread)[cited["item"]]
        if unread:
            speaks &= ~np.isin(items["speaker"], np.array(unread, np.int64))[cited["item"]]
        readable, made = np.zeros(events.size, np.bool_), np.zeros(events.size, np.bool_)
        readable[cited["event"][speaks & on_list[cited["item"]]]] = True
        made[cited["event"][speaks]] = True
        shown = (readable | ~made) if listed.evidence else readable
        told = on_list[versions["item"]]
        summaries = cited["version"][thread[cited["item"]] & ~shown[cited["event"]]]
        places = catalog.places_of(Sought.ITEMS, summaries)
        told[places[places >= 0]] = False
        return {Sought.EVENTS: shown, Sought.ITEMS: told}
