"""The transaction of one tenant over PostgreSQL."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from struct import pack

from psycopg import Cursor, DataError

from recollect.domain.ids import TenantId
from recollect.errors import Invalid
from recollect.holdings import Vector
from recollect.store.postgres.pool import Binary
from recollect.store.postgres.session import Session
from recollect.store.postgres.statement import of_rows, translate
from recollect.store.postgres.words import folded, parts
from recollect.store.tx import Row, Text, bound
from recollect.store.words import indexed

_BATCH = 100
_ROWS = 50
_DOCUMENT = "array_to_tsvector(array[mark(:tenant)]) || to_tsvector('words', :text)"
_INDEXED = (
    f"select d.item_id, d.octets, d.tsv = ({_DOCUMENT}), strip(d.tsv) = strip({_DOCUMENT}), "
    "(select count(*) from docs o where o.tenant = :tenant and o.ref = :ref) "
    "from docs d where d.tenant = :tenant and d.ref = :ref and d.part = :part"
)


class PostgresTx:
    """The choke point: every statement of a tenant passes here, with the tenant bound and its policy in force."""

    def __init__(self, session: Session, tenant: TenantId, *, for_update: str) -> None:
        self._session = session
        self.tenant = tenant
        self.for_update = for_update
        self.embedded: set[tuple[str, int]] = set()
        """Embedder and dimension of the vectors that were written."""
        self.texts = 0
        """How many texts were added to the index."""

    def _send(self, sql: str, values: Mapping[str, object], *, binary: bool = False) -> Cursor[Row]:
        self._session.become(self.tenant)
        return self._session.send(translate(bound(sql)), {**values, "tenant": self.tenant}, binary=binary)

    def all(self, sql: str, **values: object) -> list[Row]:
        return _fetched(self._send(sql, values))

    def one(self, sql: str, **values: object) -> Row | None:
        found = _fetched(self._send(sql, values))
        return found[0] if found else None

    def run(self, sql: str, **values: object) -> int:
        cursor = self._send(sql, values)
        if translate(sql).writes_one:
            return 1
        self._session.settle()
        return cursor.rowcount

    def do(self, sql: str, **values: object) -> None:
        self._send(sql, values)

    def many(self, sql: str, rows: Sequence[Mapping[str, object]]) -> None:
        if len(rows) < 2 or not translate(bound(sql)).writes_one:
            for row in rows:
                self._send(sql, row)
            return
        self._session.become(self.tenant)
        for start in range(0, len(rows), _ROWS):
            batch = rows[start : start + _ROWS]
            values = {f"{name}_{number}": value for number, row in enumerate(batch) for name, value in row.items()}
            self._session.send(of_rows(sql, len(batch)), {**values, "tenant": self.tenant})

    def each(self, sql: str, **values: object) -> Iterator[Row]:
        return self._each(sql, values)

    def _each(self, sql: str, values: Mapping[str, object], *, binary: bool = False) -> Iterator[Row]:
        """Through a cursor on the server, a batch at a time; other statements may come in between."""
        self._session.cursors += 1
        name = f"each_{self._session.cursors}"
        self._send(f"declare {name} no scroll cursor for {sql}", values)
        fetch = translate(f"fetch {_BATCH} from {name}")
        while True:
            self._session.become(self.tenant)  # a read of another tenant may have come in between
            batch = _fetched(self._session.send(fetch, {}, binary=binary))
            yield from batch
            if len(batch) < _BATCH:
                break
        self._session.send(translate(f"close {name}"), {})

    def lock_items(self, columns: str, ids: Sequence[str]) -> list[Row]:
        return self.all(
            f"select {columns} from items where tenant = :tenant and id in :ids[] order by id {self.for_update}",
            ids=list(ids),
        )

    def keep(self, table: str, ids: Sequence[str]) -> None:
        self.many(
            f"select id from {table} where tenant = :tenant and id in :ids[] order by id for share",
            [{"ids": list(ids)}],
        )

    def add_text(self, ref: str, item_id: str, text: str, names: str) -> None:
        self.texts += 1
        self.many(
            "insert into docs (tenant, ref, part, item_id, octets, tsv) "
            f"values (:tenant, :ref, :part, :item_id, :octets, {_DOCUMENT})",
            [
                {"ref": ref, "item_id": item_id, "part": number, "octets": len(text.encode()), "text": part}
                for number, part in enumerate(parts(folded(indexed(text, names))))
            ],
        )

    def drop_text(self, ref: str, text: str, names: str) -> None:
        self.many("delete from docs where tenant = :tenant and ref = :ref", [{"ref": ref}])

    def add_vectors(self, vectors: Sequence[Vector], rev: int) -> None:
        self.embedded |= {(vector.embedder, len(vector.values) // 4) for vector in vectors}
        self.many(
            "insert into vectors (tenant, embedder, ref, rev, embedding) "
            "values (:tenant, :embedder, :ref, :rev, :embedding) "
            "on conflict (tenant, embedder, ref) do update set rev = excluded.rev, embedding = excluded.embedding",
            [{"embedder": v.embedder, "ref": v.ref, "rev": rev, "embedding": sent(v.values)} for v in vectors],
        )

    def misindexed(self, texts: Callable[[], Iterator[Text]]) -> Iterator[tuple[str, str]]:
        known = iter(texts())
        while batch := list(islice(known, _BATCH)):
            yield from self._misindexed(batch)
        for (ref,) in self.each(
            "select distinct d.ref from docs d where d.tenant = :tenant and not exists "
            "(select 1 from events e where e.tenant = :tenant and d.ref = 'e:' || e.id) and not exists "
            "(select 1 from versions v where v.tenant = :tenant and d.ref = 'v:' || v.id and v.level = 3) "
            "order by d.ref"
        ):
            yield ref, "is indexed, and there is no such text"

    def _misindexed(self, texts: Sequence[Text]) -> Iterator[tuple[str, str]]:
        """All questions go out before the first answer is read."""
        asked = [(text, list(parts(folded(indexed(text.text, text.names))))) for text in texts]
        answers = [
            [self._send(_INDEXED, {"ref": text.ref, "part": n, "text": part}) for n, part in enumerate(cut)]
            for text, cut in asked
        ]
        for (text, cut), cursors in zip(asked, answers, strict=True):
            octets = len(text.text.encode())
            for n, cursor in enumerate(cursors):
                row = cursor.fetchone()
                # names that came with a migration stand at the end of the first part, and not before its words
                words = row is not None and (row[2] or (n == 0 and bool(text.names) and row[3]))
                if row is None or row[:2] != (text.item_id, octets) or row[4] != len(cut) or not words:
                    yield text.ref, "is not indexed as it reads"
                    break

    def vectors(self) -> Iterator[tuple[str, str, int, bytes]]:
        found = self._each(
            "select embedder, ref, rev, embedding from vectors where tenant = :tenant order by embedder, ref",
            {},
            binary=True,
        )
        for embedder, ref, rev, embedding in found:
            yield embedder, ref, rev, _received(embedding)


def _fetched(cursor: Cursor[Row]) -> list[Row]:
    """The rows of an answer. A value that no Python value stands for, such as an infinite time, is a ValueError: it is
    the row that is wrong, and not the server."""
    try:
        return cursor.fetchall()
    except DataError as error:
        if error.sqlstate is None:
            raise ValueError("a value that cannot be read") from error
        raise


class PostgresOutbox:
    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self, sql: str, **values: object) -> list[Row]:
        return self._session.send(translate(sql), values).fetchall()


def sent(values: bytes) -> Binary:
    """Little-endian floats as pgvector takes them: their number, two bytes of nothing, then big-endian."""
    if len(values) % 4 or not 4 <= len(values) <= 4 * 16_000:
        raise Invalid(f"a vector of {len(values)} bytes", "Give 1 to 16,000 numbers of four bytes each.")
    return Binary(pack(">HH", len(values) // 4, 0) + _swapped(values))


def _received(embedding: bytes) -> bytes:
    return _swapped(embedding[4:])


def _swapped(values: bytes) -> bytes:
    numbers = array("f", values)
    numbers.byteswap()
    return numbers.tobytes()
