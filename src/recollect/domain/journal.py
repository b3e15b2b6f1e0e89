"""The journal: one entry per change, its headers chained by hash.

A header is content-blind. It carries the salted digest of its body, so a body (and its salt) can be erased and
the chain still verifies, while a digest without its salt tells nothing about a short text.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.change import Change
from recollect.domain.codec import canonical, decode, encode, when
from recollect.domain.ids import CauseId, EventId, ItemId, Rev, Seq
from recollect.domain.scope import Role

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError, RecursionError)
"""What comes of reading a value that no Recollect wrote. Its own message may quote content, and is left out."""
MARKED = "m"
"""How the id of a chain begins whose every private mark has an entry, and whose items count every word of theirs."""
BODILESS = frozenset({"checkpoint", "private"})
"""Operations whose entries are a header alone: its digest is of what is kept beside the journal."""


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
    def told(self) -> Change | None:
        """The change, or None where the body was erased or says what cannot be read."""
        try:
            return self.change
        except UNREADABLE:
            return None

    @property
    def blind(self) -> "Entry":
        """The entry for those who may know that something happened, and not what."""
        return Entry(self.header, self.hash, None)


@dataclass(frozen=True, slots=True)
class Illegible:
    """A row of the journal that no Recollect wrote: where it stands, and its hash as stored."""

    seq: Seq
    hash: str


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


def mark_hash(event_id: EventId) -> str:
    """The digest in the header that tells of an event that it is private. An id is no content, so it needs no salt."""
    return hashlib.sha256(f"private {event_id}".encode()).hexdigest()


def names_hash(names: Iterable[tuple[str, bool]]) -> str:
    """The digest of what one entry names, and of which of it it carries the content."""
    return hashlib.sha256(canonical(sorted([ref, own] for ref, own in names)).encode()).hexdigest()


def blanked_hash(named: Mapping[Seq, str]) -> str:
    """One digest of what several entries name, by the digest of each."""
    return hashlib.sha256(canonical(sorted([seq, digest] for seq, digest in named.items())).encode()).hexdigest()


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
