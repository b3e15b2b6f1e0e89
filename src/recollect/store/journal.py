"""Writing and reading the journal: chained headers, bodies beside them, and an index over what they name."""

import os
from collections.abc import Sequence
from datetime import datetime

from recollect.domain.change import Change, Undo, operation
from recollect.domain.ids import CauseId, Rev, Seq
from recollect.domain.journal import Body, Entry, Header, body_hash, body_text, header_hash
from recollect.domain.refs import item_of, refs
from recollect.domain.scope import Actor, Scope
from recollect.errors import NotFound
from recollect.store import rows
from recollect.store.tx import Tx


class Pen:
    """Holds the tenant's row: the one writer that may extend the chain."""

    def __init__(self, tx: Tx) -> None:
        row = tx.one(f"select rev, seq, head from tenants where tenant = :tenant {tx.for_update}")
        if row is None:
            raise no_tenant(tx)
        self._tx = tx
        self.rev, self._seq, self._head = Rev(row[0]), Seq(row[1]), str(row[2])

    def next_rev(self) -> Rev:
        self.rev = Rev(self.rev + 1)
        self._tx.run("update tenants set rev = :rev where tenant = :tenant", rev=self.rev)
        return self.rev

    def write(
        self,
        changes: Sequence[Change],
        owners: Sequence[Scope],
        *,
        rev: Rev,
        actor: Actor,
        at: datetime,
        cause: CauseId | None,
    ) -> None:
        """One entry per change: header, body, and the things it names."""
        threads = {thread: self._thread_rev(thread) for thread in sorted({o.thread_id for o in owners if o.thread_id})}
        headers: list[dict[str, object]] = []
        bodies: list[dict[str, object]] = []
        named: list[dict[str, object]] = []
        for change, owner in zip(changes, owners, strict=True):
            body = Body(os.urandom(16), body_text(change))
            header = self._header(change, owner, rev, actor, at, cause, body_hash(body), threads)
            headers.append(self._close(header))
            bodies.append({"seq": header.seq, "nonce": body.nonce, "body": body.text})
            touched = refs(change)
            named += [{"ref": ref, "seq": header.seq, "own": True} for ref in touched.own]
            named += [{"ref": ref, "seq": header.seq, "own": False} for ref in touched.needs - touched.own]
        self._insert(headers)
        self._tx.many(
            "insert into journal_bodies (tenant, seq, nonce, body) values (:tenant, :seq, :nonce, :body)", bodies
        )
        self._tx.many("insert into journal_refs (tenant, ref, seq, own) values (:tenant, :ref, :seq, :own)", named)

    def write_digest(self, op: str, digest: str, owner: Scope, *, rev: Rev, actor: Actor, at: datetime) -> None:
        """A header alone, for what is kept beside the journal (checkpoints)."""
        thread = owner.thread_id
        threads = {thread: self._thread_rev(thread)} if thread else {}
        header = self._make(op, None, owner, rev, actor, at, None, None, digest, threads)
        self._insert([self._close(header)])

    def _header(
        self,
        change: Change,
        owner: Scope,
        rev: Rev,
        actor: Actor,
        at: datetime,
        cause: CauseId | None,
        digest: str,
        threads: dict[str, int],
    ) -> Header:
        undoes = change.entry if isinstance(change, Undo) else None
        return self._make(operation(change), item_of(change), owner, rev, actor, at, cause, undoes, digest, threads)

    def _make(
        self,
        op: str,
        item_id: object,
        owner: Scope,
        rev: Rev,
        actor: Actor,
        at: datetime,
        cause: CauseId | None,
        undoes: Seq | None,
        digest: str,
        threads: dict[str, int],
    ) -> Header:
        self._seq = Seq(self._seq + 1)
        return Header(
            seq=self._seq,
            rev=rev,
            at=at,
            op=op,
            item_id=item_id,  # type: ignore[arg-type]
            user_id=owner.user_id,
            project_id=owner.project_id,
            agent_id=owner.agent_id,
            thread_id=owner.thread_id,
            thread_rev=threads.get(owner.thread_id) if owner.thread_id else None,
            actor=actor.id,
            actor_role=actor.role,
            actor_agent=actor.agent_id,
            cause=cause,
            undoes=undoes,
            body_hash=digest,
            prev_hash=self._head,
        )

    def _close(self, header: Header) -> dict[str, object]:
        self._head = header_hash(header)
        return {**rows.header_columns(header), "hash": self._head}

    def _insert(self, headers: list[dict[str, object]]) -> None:
        self._tx.many(
            f"insert into journal (tenant, hash, {rows.HEADER}) values (:tenant, :hash, {rows.HEADER_VALUES})", headers
        )
        self._tx.run(
            "update tenants set seq = :seq, head = :head where tenant = :tenant", seq=self._seq, head=self._head
        )

    def _thread_rev(self, thread_id: str) -> int:
        row = self._tx.one(
            "insert into thread_revision (tenant, thread_id, rev) values (:tenant, :thread_id, 1) "
            "on conflict (tenant, thread_id) do update set rev = thread_revision.rev + 1 returning rev",
            thread_id=thread_id,
        )
        assert row is not None
        return row[0]


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
) -> list[Entry]:
    """Entries that meet every condition given, in order."""
    where = ["h.tenant = :tenant", "h.seq > :after"]
    values: dict[str, object] = {"after": after}
    if rev_after is not None:
        where.append("h.rev > :rev_after")
        values["rev_after"] = rev_after
    if cause is not None:
        where.append("h.cause = :cause")
        values["cause"] = cause
    if seqs is not None:
        where.append("h.seq in :seqs[]")
        values["seqs"] = list(seqs)
    if refs is not None:
        where.append("h.seq in (select r.seq from journal_refs r where r.tenant = :tenant and r.ref in :refs[])")
        values["refs"] = list(refs)
    for name in ("user_id", "project_id", "agent_id", "thread_id"):
        if scope is not None and (value := getattr(scope, name)) is not None:
            where.append(f"h.{name} = :{name}")
            values[name] = value
    tail = ""
    if limit is not None:
        tail = " limit :limit"
        values["limit"] = limit
    header = ", ".join(f"h.{name.strip()}" for name in rows.HEADER.split(","))
    found = tx.all(
        f"select {header}, h.hash, b.nonce, b.body from journal h "
        "left join journal_bodies b on b.tenant = h.tenant and b.seq = h.seq "
        f"where {' and '.join(where)} order by h.seq{tail}",
        **values,
    )
    return [read_entry(row) for row in found]


def read_entry(row: tuple[object, ...]) -> Entry:
    *header, hash, nonce, body = row
    return Entry(
        rows.read_header(tuple(header)),
        str(hash),
        None if nonce is None or body is None else Body(bytes(nonce), str(body)),  # type: ignore[arg-type]
    )
