"""What a write hides must carry nothing, and what it brings back must have something to stand on: of its witnesses any
one, of the events that it quotes every one.

This is looked at once the tenant's row is held, so that nobody who built on something in the meantime is missed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from recollect.errors import NotFound, Stale
from recollect.store.tx import Tx

_WITNESS = (
    "select 1 from witnesses w join events e on e.tenant = w.tenant and e.id = w.event_id "
    "where w.tenant = v.tenant and w.version_id = v.id"
)
_LIVE_WITNESS = f"{_WITNESS} and not e.withdrawn"
_HIDDEN_QUOTED = f"{_WITNESS} and w.quoted and e.withdrawn"
_ANY_WITNESS = "select 1 from witnesses a where a.tenant = v.tenant and a.version_id = v.id"
_LIVE_BASE = "select 1 from versions b where b.tenant = v.tenant and b.id = v.derived_from and not b.withdrawn"

_ON_ITEMS = (
    "select id from events where tenant = :tenant and not withdrawn and item_id in :ids[]",
    "select id from versions where tenant = :tenant and not withdrawn and item_id in :ids[]",
    "select id from relations where tenant = :tenant and from_id in :ids[]",
    "select id from relations where tenant = :tenant and to_id in :ids[]",
    "select id from contradictions where tenant = :tenant and memory_a in :ids[]",
    "select id from contradictions where tenant = :tenant and memory_b in :ids[]",
)
_ON_VERSIONS = (
    "select id from versions where tenant = :tenant and not withdrawn and derived_from in :ids[]",
    "select i.id from items i where i.tenant = :tenant and not i.withdrawn and i.active_version_id in :ids[] "
    "and i.id in (select v.item_id from versions v where v.tenant = :tenant and v.id in :ids[])",
)
_ON_EVENTS = (
    "select v.id from versions v where v.tenant = :tenant and not v.withdrawn and v.id in "
    "(select c.version_id from witnesses c where c.tenant = :tenant and c.event_id in :ids[]) "
    f"and (not exists ({_LIVE_WITNESS}) or exists ({_HIDDEN_QUOTED}))",
)
_WITHOUT_FOOTING = (
    "select v.id from versions v where v.tenant = :tenant and v.id in :ids[] and "
    f"((v.derived_from is not null and not exists ({_LIVE_BASE})) "
    f"or (exists ({_ANY_WITNESS}) and not exists ({_LIVE_WITNESS})) or exists ({_HIDDEN_QUOTED}))",
)


@dataclass(slots=True)
class Footing:
    """What a write has hidden, and which versions it has brought back."""

    items: set[str] = field(default_factory=set[str])
    events: set[str] = field(default_factory=set[str])
    versions: set[str] = field(default_factory=set[str])
    shown: set[str] = field(default_factory=set[str])

    def check(self, tx: Tx) -> None:
        for ids, queries in ((self.items, _ON_ITEMS), (self.versions, _ON_VERSIONS), (self.events, _ON_EVENTS)):
            if carried := _found(tx, queries, ids):
                raise Stale(f"{len(carried)} things stand on what is to be hidden: {', '.join(carried[:5])}", carried)
        if bare := _found(tx, _WITHOUT_FOOTING, self.shown):
            raise NotFound(
                f"what version {bare[0]} stands on was withdrawn by a rollback", "Undo that rollback to bring it back."
            )


def _found(tx: Tx, queries: Sequence[str], ids: set[str]) -> list[str]:
    return [str(row[0]) for sql in queries for row in tx.all(sql, ids=sorted(ids))] if ids else []
