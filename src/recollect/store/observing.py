"""What happened around memory, written down: uses of memories and of their versions, operations, how far readers were
told. None of it is journalled."""

from collections.abc import Sequence

from recollect.domain.ids import VersionId
from recollect.domain.observation import Observation, Operation, Told, Usage, Use, Used
from recollect.store import rows
from recollect.store.tx import Tx

# Only where the memory, or the version, is still there: what was erased leaves no count. In the order of their ids: of
# two who count the same things at once, one waits for the other.
_COUNT = (
    "with counted (id, retrieved, cited, ignored, accessed) as (values {rows}) "
    "insert into {table} (tenant, {column}, retrieval_count, citation_count, ignore_count, last_accessed) "
    "select :tenant, x.id, c.retrieved, c.cited, c.ignored, c.accessed from counted c "
    # not a plain join: SQLite might walk through all items to have them in their order
    "cross join {counted} x where x.tenant = :tenant and x.id = c.id order by c.id "
    "on conflict (tenant, {column}) do update set "
    "retrieval_count = {table}.retrieval_count + excluded.retrieval_count, "
    "citation_count = {table}.citation_count + excluded.citation_count, "
    "ignore_count = {table}.ignore_count + excluded.ignore_count, "
    "last_accessed = coalesce(excluded.last_accessed, {table}.last_accessed)"
)
_ROW = (
    "(:id_{0}, cast(:retrieved_{0} as integer), cast(:cited_{0} as integer), cast(:ignored_{0} as integer), "
    "cast(:accessed_{0} as timestamptz))"
)
_BATCH = 64


def observe(tx: Tx, observations: Sequence[Observation]) -> None:
    uses = [one for one in observations if isinstance(one, Used)]
    _count(tx, "usage", "item_id", "items", [(use.item_id, use) for use in uses])
    named = [(use.version_id, use) for use in uses if use.version_id is not None]
    _count(tx, "version_usage", "version_id", "versions", named)
    tx.many(
        "insert into operations "
        "(tenant, id, user_id, thread_id, node, op, status, memory_id, category, sim, ts) values "
        "(:tenant, :id, :user_id, :thread_id, :node, :op, :status, :memory_id, :category, :sim, :ts)",
        [
            {name: getattr(one, name) for name in Operation.__dataclass_fields__}
            for one in observations
            if isinstance(one, Operation)
        ],
    )
    told = [one for one in observations if isinstance(one, Told)]
    tx.many(
        "insert into header_cursors (tenant, reader, thread_id, rev, seq, thread_rev) "
        "values (:tenant, :reader, :thread_id, :rev, :seq, :thread_rev) "
        "on conflict (tenant, reader, thread_id) do update set rev = excluded.rev, seq = excluded.seq, "
        "thread_rev = excluded.thread_rev where header_cursors.rev <= excluded.rev",
        [
            {
                "reader": one.reader,
                "thread_id": one.thread_id,
                "rev": one.cursor.rev,
                "seq": one.cursor.seq,
                "thread_rev": one.cursor.thread_rev,
            }
            for one in sorted(told, key=lambda one: (one.reader, one.thread_id))
        ],
    )


def _count(tx: Tx, table: str, column: str, counted: str, uses: Sequence[tuple[str, Used]]) -> None:
    """Add up what is counted under the same id, and write it in few statements."""
    summed: dict[str, Usage] = {}
    for id, use in uses:
        so_far = summed.get(id, Usage())
        summed[id] = Usage(
            so_far.retrieved + int(use.use is Use.RETRIEVED),
            so_far.cited + int(use.use is Use.CITED),
            so_far.ignored + int(use.use is Use.IGNORED),
            use.at if use.use is Use.RETRIEVED else so_far.last_accessed_at,
        )
    ids = sorted(summed)
    for start in range(0, len(ids), _BATCH):
        batch = ids[start : start + _BATCH]
        values: dict[str, object] = {}
        for number, id in enumerate(batch):
            told = summed[id]
            values |= {f"id_{number}": id, f"retrieved_{number}": told.retrieved, f"cited_{number}": told.cited}
            values |= {f"ignored_{number}": told.ignored, f"accessed_{number}": told.last_accessed_at}
        rows_of = ", ".join(_ROW.format(number) for number in range(len(batch)))
        tx.do(_COUNT.format(rows=rows_of, table=table, column=column, counted=counted), **values)


def version_usage(tx: Tx, versions: Sequence[VersionId]) -> dict[VersionId, Usage]:
    found = tx.all(
        "select version_id, retrieval_count, citation_count, ignore_count, last_accessed from version_usage "
        "where tenant = :tenant and version_id in :ids[]",
        ids=list(versions),
    )
    return {VersionId(id): Usage(r, c, g, rows.moment(at)) for id, r, c, g, at in found}
