"""A tenant laid open for an examination: its journal with what is said of it, then every row, all of one moment.

A row is read into what it says. What cannot be read, is not of the form that Recollect writes, or is at odds with what
lies beside it (the text index, names, fingerprints) is said to be wrong by itself; whether the rest is what the journal
tells is for others to compare.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, cast

from recollect.domain import codec
from recollect.domain.examination import Examined, Recorded
from recollect.domain.examination import Row as Held
from recollect.domain.ids import Rev, Seq
from recollect.domain.journal import UNREADABLE, Body, Entry, Head, Illegible, header_hash
from recollect.domain.level import Level
from recollect.domain.record import Record, family
from recollect.domain.witness import bare
from recollect.store import form, rows
from recollect.store.fingerprint import fingerprint
from recollect.store.journal import no_tenant
from recollect.store.tx import Row, Text, Tx

_Names = frozenset[tuple[str, bool]]
_NO_MORE: tuple[int, _Names] = (0, frozenset())
_ILLEGIBLE = "cannot be read: it is not one that Recollect wrote"
_MOST = 1000
_HEADER = ", ".join(f"h.{name}" for name in form.names(rows.HEADER))
_JOURNAL = f"{_HEADER}, h.hash, b.nonce, b.body"
_JOURNALS = "journal h left join journal_bodies b on b.tenant = h.tenant and b.seq = h.seq"


def examine(tx: Tx, *, deep: bool) -> Iterator[Examined]:
    """The head, the entries, and when it goes `deep` the rows."""
    head, key = _head(tx)
    yield head
    astray: list[Held] = []
    yield from _journal(tx, _named(tx, astray) if deep else None)
    if deep:
        yield from astray
        yield from _Tables(tx, head, key).rows()


def _head(tx: Tx) -> tuple[Head, bytes]:
    """The head and the key of the tenant's fingerprints; empty ones where they cannot be read."""
    if not tx.one("select 1 from tenants where tenant = :tenant"):
        raise no_tenant(tx)
    try:
        chain_id, rev, seq, hash, key = tx.one(
            "select chain_id, rev, seq, head, dedup_key from tenants where tenant = :tenant"
        ) or (None, None, None, None, None)
        head = Head(form.text(chain_id), Rev(form.number(rev)), Seq(form.number(seq)), form.text(hash))
    except UNREADABLE:
        return Head("", Rev(0), Seq(0), ""), b""
    try:
        return head, form.octets(key)
    except UNREADABLE:
        return head, b""


# -- the journal ------------------------------------------------------------------------------------------


def _journal(tx: Tx, named: Iterator[tuple[int, _Names]] | None) -> Iterator[Recorded]:
    last = Seq(0)
    at, refs = next(named, _NO_MORE) if named else _NO_MORE
    for row in _each(tx, _JOURNALS, _JOURNAL, ("h.seq",)):
        entry = _entry(row.values, last) if row.values is not None else Illegible(Seq(last + 1), "")
        last = entry.seq if isinstance(entry, Illegible) else entry.header.seq
        while named and 0 < at < last:
            at, refs = next(named, _NO_MORE)
        yield Recorded(entry, None if named is None else refs if at == last else _NO_MORE[1])


def _entry(row: Row, last: Seq) -> Entry | Illegible:
    *fields, hash, nonce, body = row
    try:
        header = rows.read_header(tuple(fields))
        form.written_again(rows.HEADER, tuple(fields), rows.header_columns(header))
        header_hash(header)
        return Entry(header, form.text(hash), _body(nonce, body))
    except UNREADABLE:
        return Illegible(Seq(fields[0] if type(fields[0]) is int else last + 1), str(hash))


def _body(nonce: Any, body: Any) -> Body | None:
    if nonce is None and body is None:
        return None
    try:
        return Body(form.octets(nonce), form.text(body))
    except UNREADABLE:
        return Body(b"", "")  # one that no header is the digest of


def _named(tx: Tx, astray: list[Held]) -> Iterator[tuple[int, _Names]]:
    """What the index over the journal says of each entry, in their order. Rows of no entry go `astray`."""

    def sound() -> Iterator[tuple[int, str, bool]]:
        for row in _each(tx, "journal_refs r", "r.seq, r.ref, r.own", ("r.seq", "r.ref")):
            try:
                seq, ref, own = row.values or (None, None, None)
                yield form.number(seq), form.text(ref), form.flag(own)
            except UNREADABLE:
                if len(astray) < _MOST:
                    astray.append(Held("journal_refs", row.key, wrong=_ILLEGIBLE))

    for seq, group in groupby(sound(), lambda row: row[0]):
        yield seq, frozenset((ref, own) for _, ref, own in group)


# -- rows -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Read:
    """A row as the engine gives it, or None where the engine itself cannot."""

    key: tuple[str, ...]
    values: Row | None


def _each(tx: Tx, source: str, columns: str, keys: Sequence[str]) -> Iterator[_Read]:
    """Every row in the order of its keys. Where the engine stumbles over one, the rest are read one by one."""
    table = source.partition(" ")[2].partition(" ")[0] or source
    where, order = f"{table}.tenant = :tenant", ", ".join(keys)
    many, done = len(keys), 0
    try:
        for row in tx.each(f"select {order}, {columns} from {source} where {where} order by {order}"):
            yield _Read(tuple(str(part) for part in row[:many]), row[many:])
            done += 1
        return
    except UNREADABLE:
        pass
    try:
        known = tx.all(f"select {order} from {source} where {where} order by {order}")
    except UNREADABLE:
        yield _Read((), None)
        return
    one = f"select {columns} from {source} where {where} and " + " and ".join(
        f"{key} = :k{place}" for place, key in enumerate(keys)
    )
    for key in islice(known, done, None):
        try:
            values = tx.one(one, **{f"k{place}": part for place, part in enumerate(key)})
        except UNREADABLE:
            values = None
        yield _Read(tuple(str(part) for part in key), values)


class _Tables:
    """The tables one after the other."""

    def __init__(self, tx: Tx, head: Head, key: bytes) -> None:
        self._tx, self._head, self._key = tx, head, key
        self._names: dict[str, str] = {}
        """What memories are called by, where they are called by anything."""

    def rows(self) -> Iterator[Held]:
        yield from self._tenant()
        yield from self._read("items", f"{rows.ITEM}, withdrawn, last_seq, rev", ("id",), self._item)
        yield from self._read("events", f"{rows.EVENT}, withdrawn, digest, names", ("id",), self._event)
        yield from self._read("versions", f"{rows.VERSION}, withdrawn, names", ("id",), self._version)
        yield from self._texts()
        yield from self._together("witnesses", "event_id, quoted", ("version_id", "event_id"), _cited)
        yield from self._together("participants", "principal_id", ("episode_id", "principal_id"), _part)
        yield from self._together(
            "episode_artifacts",
            "artifact_type, artifact_ref",
            ("episode_id", "artifact_type", "artifact_ref"),
            lambda row: (form.text(row[0]), form.text(row[1])),
        )
        yield from self._read("private_events", "episode_id", ("event_id",), lambda row: (form.text(row[0]), ()))
        yield from self._read("relations", rows.RELATION, ("id",), _relation)
        yield from self._read("contradictions", rows.CONTRADICTION, ("id",), _contradiction)
        yield from self._read("records", "family, id, stage, body", ("family", "id"), _record)
        yield from self._read("tombstones", "at", ("ref",), lambda row: (codec.when(rows.moment(row[0])), ()))
        yield from self._read("thread_revision", "rev", ("owner", "thread_id"), lambda row: (form.number(row[0]), ()))
        checkpoint = "checkpoint_data, nonce, updated_at, id, created_at"
        yield from self._read("supervisor_checkpoints", checkpoint, ("user_id", "thread_id"), _checkpoint)
        yield from self._whole("journal", self._orphans())
        yield from self._whole("vectors", self._vectors())
        for table, columns, keys in _BESIDE:
            yield from self._form(table, columns, keys)

    def _tenant(self) -> Iterator[Held]:
        try:
            row = self._tx.one("select chain_id, rev, seq, head, created_at from tenants where tenant = :tenant")
            form.typed(("chain_id", "rev", "seq", "head", "created_at"), row or ())
            sound = bool(self._key)
        except UNREADABLE:
            sound = False
        if not sound:
            yield Held("tenants", (self._tx.tenant,), wrong=_ILLEGIBLE)

    def _read(
        self, table: str, columns: str, keys: Sequence[str], read: Callable[[Row], tuple[object, tuple[object, ...]]]
    ) -> Iterator[Held]:
        for row in _each(self._tx, table, columns, keys):
            try:
                if row.values is None:
                    raise ValueError("nothing to read")
                value, beside = read(row.values)
                codec.canonical(value)
                yield Held(table, row.key, value, beside)
            except UNREADABLE:
                yield Held(table, row.key, wrong=_ILLEGIBLE)

    def _together(self, table: str, columns: str, keys: Sequence[str], read: Callable[[Row], object]) -> Iterator[Held]:
        """The rows of one thing, as one."""
        for name, group in groupby(_each(self._tx, table, columns, keys), lambda row: row.key[:1]):
            try:
                held = [read(row.values or ()) for row in group]
            except UNREADABLE:
                yield Held(table, name, wrong=_ILLEGIBLE)
                continue
            yield Held(table, name, held, tuple(held) if table == "participants" else ())

    def _item(self, row: Row) -> tuple[object, tuple[object, ...]]:
        *fields, withdrawn, last_seq, rev = row
        item = rows.read_item(tuple(fields))
        form.written_again(rows.ITEM, tuple(fields), rows.item_columns(item))
        if called := rows.names(item):
            self._names[item.id] = called
        return codec.encode(item), (form.flag(withdrawn), form.number(last_seq), form.number(rev))

    def _event(self, row: Row) -> tuple[object, tuple[object, ...]]:
        *fields, withdrawn, digest, names = row
        event = rows.read_event(tuple(fields))
        form.written_again(rows.EVENT, tuple(fields), rows.event_columns(event))
        if fingerprint(self._key, event.text) != digest or not _called(names, rows.names(event)):
            form.refuse("fingerprint or names")
        return codec.encode(event), (form.flag(withdrawn),)

    def _version(self, row: Row) -> tuple[object, tuple[object, ...]]:
        *fields, withdrawn, names = row
        version = rows.read_version(tuple(fields))
        form.written_again(rows.VERSION, tuple(fields), rows.version_columns(version))
        if not _called(names, self._names.get(version.item_id, "") if version.level is Level.R3 else ""):
            form.refuse("names")
        return codec.encode(version), (form.flag(withdrawn),)

    def _texts(self) -> Iterator[Held]:
        for ref, what in self._tx.misindexed(self._indexed):
            yield Held("text index", (ref,), wrong=what)

    def _indexed(self) -> Iterator[Text]:
        """Every text that the index must hold, with what it is called by, as the rows say."""
        for row in _each(self._tx, "events", "id, item_id, text, names", ("id",)):
            if row.values and all(type(part) is str for part in row.values):
                yield Text(f"e:{row.values[0]}", *row.values[1:])
        for row in _each(self._tx, "versions", "id, item_id, content, names, level", ("id",)):
            if row.values and all(type(part) is str for part in row.values[:4]) and row.values[4] == int(Level.R3):
                id, item_id, content, names, _ = row.values
                yield Text(f"v:{id}", item_id, bare(content), names)

    def _whole(self, table: str, held: Iterator[Held]) -> Iterator[Held]:
        try:
            yield from held
        except UNREADABLE:
            yield Held(table, (), wrong=_ILLEGIBLE)

    def _orphans(self) -> Iterator[Held]:
        for table in ("journal_bodies", "journal_refs"):
            for row in self._tx.each(
                f"select distinct b.seq from {table} b where b.tenant = :tenant and not exists "
                "(select 1 from journal h where h.tenant = :tenant and h.seq = b.seq) order by b.seq"
            ):
                yield Held(table, (str(row[0]),), wrong="belongs to no entry of the journal")

    def _vectors(self) -> Iterator[Held]:
        """Vectors of texts that are not there, and such as are none. What a vector says only its embedder could
        tell."""
        for _, ref, _, values in self._tx.vectors():
            if type(values) is not bytes or not values or len(values) % 4:
                yield Held("vectors", (str(ref),), wrong=_ILLEGIBLE)
        text = "case when x.ref >= 'c:' and x.ref < 'c;' then 'e:' || rtrim(rtrim(substr(x.ref, 3), '0123456789'), '.')"
        for (ref,) in self._tx.each(
            "select v.ref from (select x.tenant, x.ref, x.rev, "
            f"{text} else x.ref end as text from vectors x where x.tenant = :tenant) v where v.rev > :rev or not ("
            "exists (select 1 from events e where e.tenant = :tenant and e.id = substr(v.text, 3) "
            "and v.text like 'e:%') "
            "or exists (select 1 from versions w where w.tenant = :tenant and w.id = substr(v.text, 3) "
            "and v.text like 'v:%')) order by v.ref",
            rev=self._head.rev,
        ):
            yield Held("vectors", (str(ref),), wrong="is of a text that is not there, or of a revision to come")

    def _form(self, table: str, columns: str, keys: Sequence[str]) -> Iterator[Held]:
        names = form.names(columns)
        for row in _each(self._tx, table, columns, keys):
            try:
                form.typed(names, row.values or ())
            except UNREADABLE:
                yield Held(table, row.key, wrong=_ILLEGIBLE)


_BESIDE = (
    ("usage", "item_id, retrieval_count, citation_count, ignore_count, last_accessed", ("item_id",)),
    ("version_usage", "version_id, retrieval_count, citation_count, ignore_count, last_accessed", ("version_id",)),
    ("operations", "id, user_id, thread_id, node, op, status, memory_id, category, sim, ts", ("id",)),
    ("header_cursors", "reader, thread_id, rev, seq, thread_rev", ("reader", "thread_id")),
    ("receipts", "actor, key, digest, answer, rev, at", ("actor", "key")),
    (
        "jobs",
        f"{rows.JOB}, step, state, attempts, again, lease_token, lease_until, done_at, failed_at, last_error",
        ("id",),
    ),
    ("turns", "reader, turn_id, begun_at, bumps, mark, marked_at", ("reader", "turn_id")),
    ("turn_servings", "reader, turn_id, context, subject, at", ("reader", "turn_id", "context")),
    ("turn_items", "reader, turn_id, context, item_id, version_id", ("reader", "turn_id", "context", "item_id")),
)
"""What is kept beside memory, and the journal does not tell of."""


def _called(held: object, told: str) -> bool:
    return type(held) is str and sorted(held.split()) == sorted(told.split())


def _cited(row: Row) -> object:
    return [form.text(row[0]), form.flag(row[1])]


def _part(row: Row) -> object:
    return form.text(row[0])


def _relation(row: Row) -> tuple[object, tuple[object, ...]]:
    relation = rows.read_relation(row)
    form.written_again(rows.RELATION, row, rows.relation_columns(relation))
    return codec.encode(relation), ()


def _contradiction(row: Row) -> tuple[object, tuple[object, ...]]:
    record = rows.read_contradiction(row)
    again = rows.contradiction_columns(record)
    if row[-2] is None and row[-1] is None:  # from before it was said why
        again |= {"why": None, "confidence": None}
    form.written_again(rows.CONTRADICTION, row, again)
    return codec.encode(record), ()


def _record(row: Row) -> tuple[object, tuple[object, ...]]:
    kind, id, stage, body = row
    record = cast(Record, codec.decode(cast(type[Any], Record), form.loads(body)))
    if (kind, id, stage) != (family(record), record.id, type(record).__name__.lower()) or kind == "contradiction":
        form.refuse("family, id or stage")
    form.written_again("body", (body,), {"body": codec.canonical(codec.encode(record))})
    return codec.encode(record), ()


def _checkpoint(row: Row) -> tuple[object, tuple[object, ...]]:
    data, nonce, at, id, made = row
    form.typed(("id", "created_at"), (id, made))
    digest = hashlib.sha256(form.octets(nonce) + form.text(data).encode()).hexdigest()
    return [digest, codec.when(rows.moment(at))], ()
