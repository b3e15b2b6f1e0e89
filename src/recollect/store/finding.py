"""Finding for a query: candidates of the indexes, confirmed row by row under filters, sight and liveness.

The indexes only propose. What is handed out is read here, in the transaction of the query, so that an index that is
behind or ahead can neither show what is out of sight nor bring back what is gone.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.domain.item import ANY_STATE
from recollect.domain.query import Filters
from recollect.domain.scope import Readers, Sight
from recollect.errors import Unreadable
from recollect.holdings import Hit, Hits, Listed, Wanted
from recollect.store import privacy, rows
from recollect.store.reading import Where, filtered, visible
from recollect.store.speaking import SPEAKS
from recollect.store.tx import Engine, Key, Row, Sought, Tx

_DEEPER = 5


def of_episodes(filters: Filters) -> Filters:
    """What the filters ask of the episode that owns an event."""
    return replace(
        filters,
        role=None,
        kinds=None,
        categories=None,
        without=frozenset(),
        states=ANY_STATE,
        valid_at=None,
        current_at=None,
    )


def passing_events(filters: Filters, sight: Sight, listed: Listed | None = None) -> Where:
    """The condition that an event e of an episode i is live and passes; with a list, that this does not withhold it."""
    where, values = _passing(of_episodes(filters), sight, privacy.found_events_for(sight.readers))
    if filters.role is not None:
        where.append("e.role = :event_role")
        values["event_role"] = filters.role
    if filters.valid_at is not None:
        where.append("e.ts <= :happened_by")
        values["happened_by"] = filters.valid_at
    if listed is not None:
        shown, more = _shown(listed, sight.readers)
        where += shown
        values |= more
    return ["not e.withdrawn", *where], values


def passing_items(filters: Filters, sight: Sight, listed: Listed | None = None) -> Where:
    """The condition that a version v speaks for a live item i that passes; with a list, that it is of a category on it,
    and tells of no thread what the list withholds."""
    where, values = _passing(filters, sight, privacy.speaking_for(sight.readers))
    if listed is not None:
        shown, more = _shown(listed, sight.readers)
        where.append(_holds(listed))
        where.append(
            "(i.kind <> 'episode' or not exists (select 1 from witnesses t "
            "join events e on e.tenant = :tenant and e.id = t.event_id "
            f"where t.tenant = :tenant and t.version_id = v.id and not ({shown[0]})))"
        )
        values |= more
    return [SPEAKS, *where], values


def _shown(listed: Listed, readers: Readers) -> Where:
    """The category rule, as a condition on an event e: no memory was made of it, or one of a category on the list."""
    seen, values = privacy.versions_for(readers)
    made = (
        "exists (select 1 from witnesses w join versions c on c.tenant = :tenant and c.id = w.version_id "
        "and not c.withdrawn join items i on i.tenant = :tenant and i.id = c.item_id and not i.withdrawn "
        "and i.kind <> 'episode' join versions v on v.tenant = :tenant and v.item_id = i.id "
        f"where w.tenant = :tenant and w.event_id = e.id and {' and '.join([SPEAKS, *seen])} and "
    )
    listed_one, other = f"{made} {_holds(listed)})", f"{made} not {_holds(listed)})"
    shown = f"not {other} or {listed_one}" if listed.evidence else listed_one
    # As a case, each event is looked up by itself: PostgreSQL turned it into a join of everything, once for each row.
    named = {"listed": sorted(listed.categories or ()), "unlisted": sorted(listed.without)}
    return [f"case when {shown} then 1 else 0 end = 1"], {**values, **named}


def _holds(listed: Listed) -> str:
    """The condition that the category of an item i is on the list."""
    return "(not i.category in :unlisted[])" if listed.categories is None else "(i.category in :listed[])"


def any_unlisted(tx: Tx, listed: Listed) -> bool:
    """Whether the tenant has anything of a category that is not on the list."""
    found = tx.one(
        f"select 1 from items i where i.tenant = :tenant and not {_holds(listed)} limit 1",
        listed=sorted(listed.categories or ()),
        unlisted=sorted(listed.without),
    )
    return found is not None


def _passing(filters: Filters, sight: Sight, private: Where) -> Where:
    wanted, values = filtered(filters)
    seen, more = visible(sight)
    return ["not i.withdrawn", *wanted, *seen, *private[0]], {**values, **more, **private[1]}


def confirm_events(
    tx: Tx, engine: Engine, keys: Sequence[Key], filters: Filters, sight: Sight, listed: Listed | None = None
) -> dict[Key, Row]:
    """Those of these events that a query may see: id, item, place, time, author."""
    where, values = passing_events(filters, sight, listed)
    found = tx.all(
        f"select e.{engine.key}, e.id, e.item_id, e.seq, e.ts, e.author from events e "
        "join items i on i.tenant = :tenant and i.id = e.item_id "
        f"where {engine.among.format('e')} and {' and '.join(where)}",
        keys=list(keys),
        **values,
    )
    return {row[0]: row[1:] for row in found}


def confirm_items(
    tx: Tx, engine: Engine, keys: Sequence[Key], filters: Filters, sight: Sight, listed: Listed | None = None
) -> dict[Key, Row]:
    """Those of these versions that speak for an item a query may see: the same."""
    where, values = passing_items(filters, sight, listed)
    found = tx.all(
        f"select v.{engine.key}, v.id, i.id, 0, i.updated_at, '' from versions v "
        "join items i on i.tenant = :tenant and i.id = v.item_id "
        f"where {engine.among.format('v')} and {' and '.join(where)}",
        keys=list(keys),
        **values,
    )
    return {row[0]: row[1:] for row in found}


_CONFIRM: Mapping[Sought, Callable[[Tx, Engine, Sequence[Key], Filters, Sight, Listed | None], dict[Key, Row]]] = {
    Sought.EVENTS: confirm_events,
    Sought.ITEMS: confirm_items,
}


def confirm(
    tx: Tx, engine: Engine, sought: Sought, wanted: Wanted, keys: Iterable[Key], known: Container[Key] = ()
) -> dict[Key, Row]:
    """The rows of those that pass, but for those that are known."""
    asked = [key for key in keys if key not in known]
    return _CONFIRM[sought](tx, engine, asked, wanted.filters, wanted.sight, wanted.listed) if asked else {}


def find(tx: Tx, engine: Engine, sought: Sought, wanted: Wanted) -> Hits:
    """The best texts and the best vectors, united. Where too few of the candidates are confirmed, look further down.

    What a list withholds the engine does not propose. That is not confirmed here: who shows it asks the category rule.
    """
    depth = wanted.limit
    seen = wanted if wanted.listed is None else replace(wanted, listed=None)
    while True:
        proposed = engine.propose(tx, sought, wanted, depth)
        keys = list({**proposed.text, **proposed.cosine})
        confirmed = {**proposed.confirmed, **confirm(tx, engine, sought, seen, keys, proposed.confirmed)}
        text = [key for key in proposed.text if key in confirmed][: wanted.limit]
        near = [key for key in proposed.cosine if key in confirmed][: wanted.limit]
        short_of_text = proposed.more_text and len(text) < wanted.limit
        if not short_of_text and not (proposed.more_cosine and len(near) < wanted.limit):
            break
        depth *= _DEEPER
    hits: list[Hit] = []
    mark, words, cosines = sought.value, proposed.text, proposed.cosine
    for key in dict.fromkeys([*text, *near]):
        id, item_id, seq, ts, author = confirmed[key]
        if not isinstance(seq, int):
            raise Unreadable("a row of events")
        hits.append(Hit(mark + id, item_id, rows.moment(ts), words.get(key), cosines.get(key), seq, author))
    return Hits(hits, proposed.documents, proposed.frequency)
