"""Writing and reading the journal: chained headers, bodies beside them, and an index over what they name."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from recollect.domain.change import Change, Undo, operation
from recollect.domain.codec import canonical
from recollect.domain.ids import CauseId, EventId, ItemId, Rev, Seq
from recollect.domain.journal import UNREADABLE, Body, Entry, Header, body_hash, body_text, header_hash, mark_hash
from recollect.domain.refs import item_of, name_of, refs
from recollect.domain.scope import Actor, Scope
from recollect.errors import NotFound, StoreDamaged, Unreadable
from recollect.store import form, rows
from recollect.store.tx import Tx

Thread = tuple[str, str]


class Owner(Protocol):
    """Whose an entry is."""

    @property
    def user_id(self) -> str | None: ...
    @property
    def project_id(self) -> str | None: ...
    @property
    def agent_id(self) -> str | None: ...
    @property
    def thread_id(self) -> str | None: ...


class Pen:
    """Holds the tenant's row: the one writer that may extend the chain."""

    def __init__(self, tx: Tx, *, actor: Actor, at: datetime, cause: CauseId | None = None) -> None:
        row = tx.one(f"select rev, seq, head from tenants where tenant = :tenant {tx.for_update}")
        if row is None:
            raise no_tenant(tx)
        if type(row[0]) is not int or type(row[1]) is not int:
            raise Unreadable("the head of the journal")
        self._tx, self._actor, self._at, self._cause = tx, actor, at, cause
        self._seq, self._head = Seq(row[1]), str(row[2])
        self.rev = Rev(row[0])
        self.next_rev = Rev(row[0] + 1)

    def write(self, changes: Sequence[Change], owners: Sequence[Owner], private: Sequence[EventId] = ()) -> None:
        """One entry per change: header, body, and the things it names; one header per event that is private from here
        on. Without either only the revision moves."""
        threads = self._thread_revs(owners)
        headers: list[dict[str, object]] = []
        bodies: list[dict[str, object]] = []
        named: list[dict[str, object]] = []
        for change, owner in zip(changes, owners, strict=True):
            body = Body(os.urandom(16), body_text(change))
            undoes = change.entry if isinstance(change, Undo) else None
            headers.append(self._header(operation(change), item_of(change), owner, undoes, body_hash(body), threads))
            bodies.append({"seq": self._seq, "nonce": body.nonce, "body": body.text})
            for ref, own in refs(change).named:
                named.append({"ref": ref, "seq": self._seq, "own": own})
        for event_id in private:
            headers.append(self._header("private", None, Scope(tenant=self._tx.tenant), None, mark_hash(event_id), {}))
        self._insert(headers)
        self._tx.many(
            "insert into journal_bodies (tenant, seq, nonce, body) values (:tenant, :seq, :nonce, :body)", bodies
        )
        self._tx.many("insert into journal_refs (tenant, ref, seq, own) values (:tenant, :ref, :seq, :own)", named)

    def write_digest(self, op: str, digest: str, owner: Owner) -> None:
        """A header alone, for what is kept beside the journal (checkpoints)."""
        self._insert([self._header(op, None, owner, None, digest, self._thread_revs([owner]))])

    def _header(
        self,
        op: str,
        item_id: ItemId | None,
        owner: Owner,
        undoes: Seq | None,
        digest: str,
        threads: Mapping[Thread, int],
    ) -> dict[str, object]:
        """The next link of the chain, as a row."""
        self._seq = Seq(self._seq + 1)
        header = Header(
            seq=self._seq,
            rev=self.next_rev,
            at=self._at,
            op=op,
            item_id=item_id,
            user_id=owner.user_id,
            project_id=owner.project_id,
            agent_id=owner.agent_id,
            thread_id=owner.thread_id,
            thread_rev=threads.get(_thread(owner)),
            actor=self._actor.id,
            actor_role=self._actor.role,
            actor_agent=self._actor.agent_id,
            cause=self._cause,
            undoes=undoes,
            body_hash=digest,
            prev_hash=self._head,
        )
        self._head = header_hash(header)
        return {**rows.header_columns(header), "hash": self._head}

    def _insert(self, headers: list[dict[str, object]]) -> None:
        self._tx.many(
            f"insert into journal (tenant, hash, {rows.HEADER}) values (:tenant, :hash, {rows.HEADER_VALUES})", headers
        )
        self._tx.do(
            "update tenants set rev = :rev, seq = :seq, head = :head where tenant = :tenant",
            rev=self.next_rev,
            seq=self._seq,
            head=self._head,
        )

    def _thread_revs(self, owners: Sequence[Owner]) -> dict[Thread, int]:
        """The next revision of every thread that is written to."""
        return {thread: self._thread_rev(*thread) for thread in sorted({_thread(o) for o in owners if o.thread_id})}

    def _thread_rev(self, owner: str, thread_id: str) -> int:
        at = "tenant = :tenant and owner = :owner and thread_id = :thread_id"
        if not self._tx.run(f"update thread_revision set rev = rev + 1 where {at}", owner=owner, thread_id=thread_id):
            self._tx.run(
                "insert into thread_revision (tenant, owner, thread_id, rev) values (:tenant, :owner, :thread_id, 1)",
                owner=owner,
                thread_id=thread_id,
            )
        row = self._tx.one(f"select rev from thread_revision where {at}", owner=owner, thread_id=thread_id)
        assert row is not None
        return row[0]


def _thread(owner: Owner) -> Thread:
    """A thread is told from others of its name by whose it is."""
    return _whose(owner.user_id, owner.agent_id, owner.project_id), owner.thread_id or ""


@lru_cache(maxsize=1024)
def _whose(user_id: str | None, agent_id: str | None, project_id: str | None) -> str:
    """Asked several times for each change of a write: the same few owners, again and again."""
    return canonical([user_id, agent_id, project_id])


def read_thread_rev(tx: Tx, of: Owner) -> int:
    owner, thread_id = _thread(of)
    row = tx.one(
        "select rev from thread_revision where tenant = :tenant and owner = :owner and thread_id = :thread_id",
        owner=owner,
        thread_id=thread_id,
    )
    return row[0] if row else 0


def no_tenant(tx: Tx) -> NotFound:
    return NotFound(f"there is no tenant {tx.tenant!r} in this store", "Create it with: recollect init --tenant NAME")


def read_entries(
    tx: Tx,
    *,
    after: Seq,
    rev_after: Rev | None,
    scope: Scope | None,
    cause: CauseId | None,
    refs: Sequence[str] | None,
    seqs: Sequence[Seq] | None,
    limit: int | None,
    blind: bool,
) -> list[Entry]:
    """Entries that meet every condition given, in order; `blind`, without their bodies."""
    where = ["h.tenant = :tenant", "h.seq > :after"]
    values: dict[str, object] = {"after": after}
    if rev_after is not None:
        values["after"] = max(after, _last_seq_of(tx, rev_after))
    if cause is not None:
        where.append("h.cause = :cause")
        values["cause"] = cause
    if seqs is not None:
        where.append("h.seq in :seqs[]")
        values["seqs"] = list(seqs)
    if refs is not None:
        where.append("h.seq in (select r.seq from journal_refs r where r.tenant = :tenant and r.ref in :refs[])")
        values["refs"] = sorted({name_of(ref) for ref in refs})
    for name in ("user_id", "project_id", "agent_id", "thread_id"):
        if scope is not None and (value := getattr(scope, name)) is not None:
            where.append(f"h.{name} = :{name}")
            values[name] = value
    tail = ""
    if limit is not None:
        tail = " limit :limit"
        values["limit"] = limit
    header = ", ".join(f"h.{name.strip()}" for name in rows.HEADER.split(","))
    body = "b.nonce, b.body" if not blind else "null, null"
    beside = "left join journal_bodies b on b.tenant = h.tenant and b.seq = h.seq " if not blind else ""
    found = tx.all(
        f"select {header}, h.hash, {body} from journal h {beside}where {' and '.join(where)} order by h.seq{tail}",
        **values,
    )
    return [read_entry(row) for row in found]


def _last_seq_of(tx: Tx, rev: Rev) -> Seq:
    """The last entry of a revision or of those before it. Revisions only grow along the journal, so halving finds it
    without an index of its own."""
    head = tx.one("select seq from tenants where tenant = :tenant")
    low, high = 0, head[0] if head else 0
    while low < high:
        middle = (low + high + 1) // 2
        row = tx.one("select rev from journal where tenant = :tenant and seq = :seq", seq=middle)
        if row is not None and type(row[0]) is not int:
            raise Unreadable("a row of journal")
        if row is None or row[0] > rev:
            high = middle - 1
        else:
            low = middle
    return Seq(low)


def read_entry(row: tuple[object, ...]) -> Entry:
    *header, hash, nonce, body = row
    try:
        return Entry(
            rows.read_header(tuple(header)),
            str(hash),
            None if nonce is None or body is None else Body(bytes(nonce), form.text(body)),  # type: ignore[arg-type]
        )
    except UNREADABLE as error:
        raise StoreDamaged(
            f"entry {header[0]} of the journal cannot be read",
            "See what was changed: recollect verify --deep; a backup comes back by recollect restore",
        ) from error
