"""Witnesses resolved: the events that a version cites and quotes. One that points nowhere cannot be stored."""

from collections.abc import Iterable, Mapping

from recollect.domain.event import Event
from recollect.domain.ids import EventId
from recollect.domain.version import Version
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness
from recollect.errors import Invalid
from recollect.store import quoting, rows
from recollect.store.tx import Tx


def resolve(tx: Tx, version: Version, fresh: Mapping[EventId, Event]) -> list[Event]:
    """The events that the witnesses resolve to, each once. `fresh` are those of the write in progress."""
    cited: dict[EventId, None] = {}
    chunks: list[ChunkWitness] = []
    for witness in (witness for bullet in version.bullets for witness in bullet.witnesses):
        match witness:
            case EventWitness(event_id):
                cited[event_id] = None
            case ChunkWitness(event_id):
                cited[event_id] = None
                chunks.append(witness)
            case RangeWitness():
                cited |= dict.fromkeys(_range(tx, witness))
    live = _live(tx, cited, fresh)
    for event_id in cited:
        if event_id not in live:
            raise Invalid(f"witness e:{event_id} points nowhere", "Append the event before the version that cites it.")
    for chunk in chunks:
        if chunk.number > (length := len(live[chunk.event_id].chunks)):
            raise Invalid(f"witness c:{chunk.chunk_id} points nowhere: the event has {length} chunks")
    quoting.check(version, {event_id: live[event_id] for event_id in cited})
    return [live[event_id] for event_id in cited]


def _range(tx: Tx, witness: RangeWitness) -> list[EventId]:
    found = tx.all(
        "select id from events where tenant = :tenant and item_id = :id and not withdrawn "
        "and seq between :first and :last order by seq",
        id=witness.episode_id,
        first=witness.first,
        last=witness.last,
    )
    if not found:
        raise Invalid(f"witness s:{witness.first}-{witness.last} points nowhere in episode {witness.episode_id}")
    return [row[0] for row in found]


def _live(tx: Tx, cited: Iterable[EventId], fresh: Mapping[EventId, Event]) -> dict[EventId, Event]:
    """These events; one that is not live is left out."""
    live = dict(fresh)
    unknown = [event_id for event_id in cited if event_id not in fresh]
    if unknown:
        tx.keep("events", unknown)
        found = tx.all(
            f"select {rows.EVENT} from events where tenant = :tenant and id in :ids[] and not withdrawn", ids=unknown
        )
        live |= {row[0]: rows.read_event(row) for row in found}
    return live
