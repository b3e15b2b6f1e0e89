"""The journal: one entry per change, its headers chained by hash.

A header is content-blind. It carries the salted digest of its body, so a body (and its salt) can be erased and
the chain still verifies, while a digest without its salt tells nothing about a short text.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.change import Change
from recollect.domain.codec import canonical, decode, encode, when
from recollect.domain.ids import CauseId, ItemId, Rev, Seq
from recollect.domain.scope import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What happened, when, by whom, to what: everything but the content."""

    seq: Seq
    rev: Rev
    at: datetime
    op: str
    item_id: ItemId | None
    user_id: str | None
    project_id: str | None
    agent_id: str | None
    thread_id: str | None
    thread_rev: int | None
    actor: str
    actor_role: Role
    actor_agent: str | None
    cause: CauseId | None
    undoes: Seq | None
    body_hash: str
    prev_hash: str


@dataclass(frozen=True, slots=True)
class Body:
    """The change itself, with the salt of its digest."""

    nonce: bytes
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A header, its hash as stored, and its body unless that was erased."""

    header: Header
    hash: str
    body: Body | None

    @property
    def change(self) -> Change | None:
        return read_body(self.body.text) if self.body else None

    @property
    def blind(self) -> "Entry":
        """The entry for those who may know that something happened, and not what."""
        return Entry(self.header, self.hash, None)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a tenant's journal. A head that was exported shows whether the journal was cut later."""

    chain_id: str
    rev: Rev
    seq: Seq
    hash: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a journal, and where."""

    seq: Seq
    what: str


def body_text(change: Change) -> str:
    return canonical(encode(change))


def read_body(text: str) -> Change:
    return decode(Change, json.loads(text))  # type: ignore[arg-type]


def body_hash(body: Body) -> str:
    return hashlib.sha256(body.nonce + body.text.encode()).hexdigest()


def genesis(chain_id: str) -> str:
    """What the first header points back at."""
    return hashlib.sha256(f"recollect journal {chain_id}".encode()).hexdigest()


def header_hash(header: Header) -> str:
    """The hash that the next header carries on."""
    parts = [
        header.seq,
        header.rev,
        when(header.at),
        header.op,
        header.item_id,
        header.user_id,
        header.project_id,
        header.agent_id,
        header.thread_id,
        header.thread_rev,
        header.actor,
        header.actor_role.value,
        header.actor_agent,
        header.cause,
        header.undoes,
        header.body_hash,
        header.prev_hash,
    ]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()
