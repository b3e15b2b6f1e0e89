"""Following a tenant's revision: what is kept of it in memory is loaded once, and caught up before every question."""

import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import numpy as np

from recollect.domain.journal import UNREADABLE
from recollect.domain.level import Level
from recollect.domain.scope import Readers
from recollect.errors import Unreadable
from recollect.holdings import Listed
from recollect.store import privacy
from recollect.store.speaking import SPEAKS
from recollect.store.sqlite.resident import catalog, citations
from recollect.store.sqlite.resident.catalog import NOTHING, Catalog, Withheld
from recollect.store.sqlite.resident.citations import Citations
from recollect.store.sqlite.resident.codes import BITS_ABOVE, Codes
from recollect.store.sqlite.resident.columns import Mask
from recollect.store.sqlite.resident.postings import Postings
from recollect.store.tx import Row, Sought, Tx

_TOO_MUCH = 5_000
_BATCH = 1_024
_LISTS = 8
_OWNER = "substr(rtrim(rtrim(x.ref, '0123456789'), '.'), 3)"
"""The event that a chunk (c:<event>.<number>) is of."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a tenant's journal stands."""

    chain_id: str
    rev: int
    seq: int
    head: str


class Follower:
    """One tenant in memory. Whoever asks holds `lock` while it looks."""

    def __init__(self, newest: Callable[[], Position | None], bits_above: int = BITS_ABOVE) -> None:
        self.lock = threading.RLock()
        self.catalog = Catalog()
        self.postings = Postings()
        self.generation = 0
        self.ahead = False
        """Whether the transaction that looks is older than what is loaded."""
        self._newest = newest
        self._bits_above = bits_above
        self._codes: dict[tuple[str, int, Sought], Codes] = {}
        self._at: Position | None = None
        self._withheld: dict[tuple[Sought, frozenset[str]], Withheld] = {}
        self._citations: Citations | None = None
        self._shown: dict[tuple[Listed, Readers], Mapping[Sought, Mask] | None] = {}

    @property
    def nbytes(self) -> int:
        cited = self._citations.nbytes if self._citations else 0
        codes = sum(codes.nbytes for codes in self._codes.values())
        return self.catalog.nbytes + self.postings.nbytes + cited + codes

    def codes(self, tx: Tx, embedder: str, dimension: int, sought: Sought) -> Codes:
        """The vectors of an embedder, loaded when it is first asked for."""
        name = (embedder, dimension, sought)
        if name not in self._codes:
            codes = Codes(dimension, self._bits_above)
            with _as_written("vectors"):
                self._read_vectors(tx, codes, embedder, sought, after=None)
            self._codes[name] = codes
        return self._codes[name]

    def follow(self, tx: Tx) -> None:
        """As far as the transaction can see; what was loaded for a later moment stays."""
        now = position(tx)
        self.ahead = False
        if now is None or now == self._at:
            return
        known = self._at
        continues = known is not None and self._continues(tx, known, now)
        if known and continues and now.rev < known.rev:
            self.ahead = True
            return
        self._at = None  # what was loaded half is loaded anew
        with _as_written("items, events or versions"):
            if known and continues:
                self._catch_up(tx, known)
            else:
                self._load(tx)
        self._at = now
        self._withheld = {}
        self._shown = {}
        self.generation += 1

    def withheld(self, tx: Tx, sought: Sought, readers: Readers) -> Withheld:
        """What is private and not for these readers, as it was when the generation began."""
        if readers is None:
            return NOTHING
        if (sought, readers) not in self._withheld:
            named = {"readers": sorted(readers)}
            rows = [row[0] for row in tx.all(_WITHHELD[sought], **named)]
            items = [row[0] for row in tx.all(f"select i.id from {privacy.PRIVATE_ITEMS}", **named)]
            self._withheld[sought, readers] = Withheld(tuple(rows), tuple(items))
        return self._withheld[sought, readers]

    def shown(self, tx: Tx, listed: Listed | None, readers: Readers) -> Mapping[Sought, Mask] | None:
        """Which texts a list does not withhold; None where it withholds none."""
        if listed is None:
            return None
        unread = self.withheld(tx, Sought.ITEMS, readers)
        name = (listed, readers if unread.rows else None)
        if name not in self._shown:
            made = None if self.catalog.holds_all(listed) else self._cited(tx).shown(listed, unread.rows)
            if self.ahead:
                return made
            if len(self._shown) >= _LISTS:
                self._shown.clear()
            self._shown[name] = made
        return self._shown[name]

    def _cited(self, tx: Tx) -> Citations:
        """What cites which event, loaded when it is first asked for."""
        if self._citations is not None:
            return self._citations
        cited = Citations(self.catalog)
        with _as_written("witnesses"):
            for batch in _batches(tx.each(citations.EVERY)):
                cited.put(batch)
        if not self.ahead:
            self._citations = cited
        return cited

    def _continues(self, tx: Tx, known: Position, now: Position) -> bool:
        """Whether what is known is a part of the journal that is there now. A file may have been put in its place, and
        a transaction may be older than what others have loaded meanwhile."""
        if now.rev < known.rev:
            newest = self._newest()
            return newest is not None and newest.chain_id == known.chain_id and newest.rev >= known.rev
        if now.chain_id != known.chain_id:
            return False
        if known.seq == 0:
            return True
        row = tx.one("select hash from journal where tenant = :tenant and seq = :seq", seq=known.seq)
        return row is not None and row[0] == known.head

    # -- loading --------------------------------------------------------------------------------------------

    def _load(self, tx: Tx) -> None:
        self._codes = {}
        self._load_catalog(tx)

    def _load_catalog(self, tx: Tx) -> None:
        self.catalog = Catalog()
        self._citations = None
        self.catalog.items.reserve(_count(tx, "select count(*) from items where tenant = :tenant"))
        for batch in _batches(tx.each(f"select {catalog.ITEM} from items i where i.tenant = :tenant order by i.id")):
            self.catalog.put_items(batch)
        self._read_docs(tx)
        for sql in (_NEWEST, _PROMOTED):
            for batch in _batches(tx.each(sql)):
                self.catalog.put_speakers(batch)
        self.postings.forget()

    def _read_docs(self, tx: Tx) -> None:
        """The events and versions that are not known yet."""
        for sought, sql in _DOCS.items():
            known = self.catalog.docs[sought]["rid"]
            for batch in _batches(tx.each(sql, known=int(known[-1]) if len(known) else 0)):
                self.catalog.put_docs(sought, batch)
                self.postings.changed(place(sought, row[0]) for row in batch)

    def _read_vectors(self, tx: Tx, codes: Codes, embedder: str, sought: Sought, after: int | None) -> None:
        """All vectors, or those that came after a revision."""
        values: dict[str, object] = {"embedder": embedder, "octets": 4 * codes.dimension}
        if after is not None:
            values["after"] = after
        for table, mark, id in _MARKS[sought]:
            if after is None:
                codes.rows.reserve(
                    codes.size + _count(tx, _COUNT, embedder=embedder, first=f"{mark}:", last=f"{mark};")
                )
            for batch in _batches(tx.each(_vectors(table, mark, id, newer=after is not None), **values)):
                self._keep_vectors(codes, sought, batch, after is not None)

    def _keep_vectors(self, codes: Codes, sought: Sought, batch: list[Row], replacing: bool) -> None:
        rid, doc, data = zip(*batch, strict=True)
        places = self.catalog.places_of(sought, np.array(doc, np.int64))
        vectors = np.frombuffer(b"".join(data), np.float32).reshape(len(batch), codes.dimension)
        known = places >= 0
        codes.add(np.array(rid, np.int64)[known], places[known].astype(np.int32), vectors[known], replacing)

    # -- catching up ----------------------------------------------------------------------------------------

    def _catch_up(self, tx: Tx, known: Position) -> None:
        headers = tx.all(
            "select op, item_id from journal where tenant = :tenant and seq > :seq limit :limit",
            seq=known.seq,
            limit=_TOO_MUCH + 1,
        )
        if len(headers) > _TOO_MUCH:
            self._load(tx)
            return
        touched = sorted({item_id for _, item_id in headers if item_id is not None})
        if touched:
            found = tx.all(
                f"select {catalog.ITEM} from items i where i.tenant = :tenant and i.id in :ids[]", ids=touched
            )
            self.catalog.put_items(found)
            if len(found) < len(touched):
                self.catalog.drop_items(sorted(set(touched) - {row[0] for row in found}))
        if any(op == "erase" for op, _ in headers):
            self._reconcile(tx, known)
        else:
            self._read_docs(tx)
        if touched:
            self.catalog.put_speakers(tx.all(_SPEAKERS, ids=touched))
            self.postings.changed(place(Sought.ITEMS, row[0]) for row in tx.all(_VERSIONS, ids=touched))
            if self._citations is not None:
                self._citations.drop(touched)
                self._citations.put(tx.all(citations.OF_ITEMS, ids=touched))
        for (embedder, _, sought), codes in self._codes.items():
            self._read_vectors(tx, codes, embedder, sought, after=known.rev)

    def _reconcile(self, tx: Tx, known: Position) -> None:
        """Something was erased: what is gone from the file goes from here. Rows of the file may have been used again
        since, so events and versions are read anew; a vector of before that is still there is the same one."""
        before = {sought: docs["rid"].copy() for sought, docs in self.catalog.docs.items()}
        self._load_catalog(tx)
        for (embedder, _, sought), codes in self._codes.items():
            left = tx.all(
                "select rid from vectors where tenant = :tenant and embedder = :embedder and rev <= :rev",
                embedder=embedder,
                rev=known.rev,
            )
            places = self.catalog.places_of(sought, before[sought][codes.rows["doc"]])
            codes.rows["doc"][:] = places
            codes.keep(np.isin(codes.rows["rid"], np.array([row[0] for row in left], np.int64)) & (places >= 0))


@contextmanager
def _as_written(table: str) -> Generator[None]:
    """Rows are read into columns here: one that no Recollect wrote is told of as such."""
    try:
        yield
    except UNREADABLE as error:
        raise Unreadable(f"a row of {table}") from error


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """A few thousand rows at a time: all of them at once would take more memory than what is kept of them."""
    while batch := list(islice(rows, _BATCH)):
        yield batch


def _count(tx: Tx, sql: str, **values: object) -> int:
    row = tx.one(sql, **values)
    return int(row[0]) if row else 0


def place(sought: Sought, rid: int) -> int:
    """The row of a text in the text index."""
    return 2 * rid + (sought is Sought.ITEMS)


def position(tx: Tx) -> Position | None:
    row = tx.one("select chain_id, rev, seq, head from tenants where tenant = :tenant")
    return Position(*row) if row else None


_DOCS = {
    Sought.EVENTS: f"select {catalog.EVENT} from events e where e.tenant = :tenant and e.rid > :known order by e.rid",
    Sought.ITEMS: f"select {catalog.VERSION} from versions v "
    f"where v.tenant = :tenant and v.rid > :known and v.level = {int(Level.R3)} order by v.rid",
}
_WITHHELD = {
    Sought.EVENTS: "select e.rid from events e where e.tenant = :tenant and e.id in "
    f"(select p.event_id from {privacy.PRIVATE_EVENTS})",
    Sought.ITEMS: "select v.rid from versions v where v.tenant = :tenant and v.id in (select w.version_id "
    "from witnesses w where w.tenant = :tenant and w.event_id in "
    f"(select p.event_id from {privacy.PRIVATE_EVENTS})) and v.level = {int(Level.R3)}",
}
"""The rows of private events, and of what cites them."""
_NEWEST = (
    "select v.item_id, v.rid, max(v.id) from versions v "
    f"where v.tenant = :tenant and v.level = {int(Level.R3)} and not v.withdrawn group by v.item_id"
)
_PROMOTED = (
    "select i.id, v.rid from items i cross join versions v on v.tenant = i.tenant and v.id = i.active_version_id "
    "and v.item_id = i.id "
    f"where i.tenant = :tenant and i.active_version_id is not null and v.level = {int(Level.R3)} and not v.withdrawn"
)
_SPEAKERS = (
    f"select i.id, (select v.rid from versions v where v.tenant = i.tenant and v.item_id = i.id and {SPEAKS}) "
    "from items i where i.tenant = :tenant and i.id in :ids[]"
)
_VERSIONS = f"select rid from versions where tenant = :tenant and item_id in :ids[] and level = {int(Level.R3)}"
"""What a memory is called by may have changed, and its versions are found by that."""
_COUNT = (
    "select count(*) from vectors where tenant = :tenant and embedder = :embedder and ref >= :first and ref < :last"
)
_MARKS = {
    Sought.EVENTS: (("events", "e", "substr(x.ref, 3)"), ("events", "c", _OWNER)),
    Sought.ITEMS: (("versions", "v", "substr(x.ref, 3)"),),
}
"""Where the texts of vectors are, how references begin, and the id in them."""


def _vectors(table: str, mark: str, id: str, *, newer: bool) -> str:
    # The planner takes the range of references for narrower than the revisions that came last.
    index, after = ("indexed by vectors_rev", "and x.rev > :after") if newer else ("", "")
    return (
        f"select x.rid, d.rid, x.data from vectors x {index} "
        f"cross join {table} d on d.tenant = x.tenant and d.id = {id} "
        f"where x.tenant = :tenant and x.embedder = :embedder {after} "
        f"and x.ref >= '{mark}:' and x.ref < '{mark};' and length(x.data) = :octets"
    )
