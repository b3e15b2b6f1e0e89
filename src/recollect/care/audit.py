"""The journal under examination: its chain, its signed head, and the state that it alone accounts for."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from recollect.domain import codec
from recollect.domain.change import Change
from recollect.domain.ids import Seq, TenantId
from recollect.domain.journal import Entry, Finding, Head
from recollect.errors import Invalid, StoreBusy
from recollect.policy import chain, replay
from recollect.ports import Seal, Store

_PAGE = 2000
_TRIES = 3
_UNREADABLE = (ValueError, KeyError, TypeError, AssertionError)
"""What comes of reading a value that no Recollect wrote. Its own message may quote content, and is left out."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What an examination found. `findings` is empty where all is well."""

    head: Head
    entries: int
    findings: tuple[Finding, ...]

    @property
    def whole(self) -> bool:
        return not self.findings


def entries(store: Store, tenant: TenantId) -> Iterator[Entry]:
    """The whole journal, page by page."""
    after = Seq(0)
    while page := store.entries(tenant, after=after, limit=_PAGE):
        yield from page
        after = page[-1].header.seq


def verify(store: Store, tenant: TenantId, exported: Head | None = None, *, deep: bool = False) -> Verified:
    """Walk the chain from its first entry to the head that the store names; `deep` also holds what it tells of
    against what the store holds."""
    verified = _walk(store, tenant, exported)
    for _ in range(_TRIES):
        if verified.whole or store.head(tenant).seq == verified.head.seq:
            break
        verified = _walk(store, tenant, exported)  # an erasure since may have taken bodies from under the walk
    if deep and verified.whole:  # a journal that is not whole accounts for nothing
        verified = replace(verified, findings=account(store, tenant))
    return verified


def _walk(store: Store, tenant: TenantId, exported: Head | None) -> Verified:
    head = store.head(tenant)
    count = 0

    def counted() -> Iterator[Entry]:
        nonlocal count
        for entry in entries(store, tenant):
            if entry.header.seq > head.seq:
                return  # written since: not part of this examination
            count += 1
            yield entry

    findings = tuple(chain.findings(counted(), head, exported))
    return Verified(head, count, findings)


def account(store: Store, tenant: TenantId) -> tuple[Finding, ...]:
    """Whether the journal alone accounts for what memory holds: what differs, by id and without its content."""
    for _ in range(_TRIES):
        head = store.head(tenant)
        findings = tuple(_differences(store, tenant, head))
        if store.head(tenant).seq == head.seq:
            return findings
    raise StoreBusy("others keep writing to the memory that is examined", "Try again when they are done.")


def _differences(store: Store, tenant: TenantId, head: Head) -> Iterator[Finding]:
    at, last = Seq(0), "the first"

    def changes() -> Iterator[Change | None]:
        nonlocal at
        for entry in entries(store, tenant):
            at = entry.header.seq
            if at > head.seq:
                return  # written since: all of this is done again
            yield entry.change

    def rows() -> Iterator[Mapping[str, object]]:
        nonlocal last
        for row in store.state(tenant):
            yield row
            last = f"the one after {_name(row)}"

    try:
        told = replay.state(changes())
    except _UNREADABLE:
        yield Finding(at, "what the entry tells cannot be read")
        return
    try:
        yield from (Finding(head.seq, what) for what in _compared(told, rows()))
    except _UNREADABLE:
        yield Finding(head.seq, f"a row of the store cannot be read: {last}")


def _compared(told: Iterator[Mapping[str, object]], held: Iterator[Mapping[str, object]]) -> Iterator[str]:
    """Both sides step by step: they come in one order."""
    ours, theirs = next(told, None), next(held, None)
    while ours is not None or theirs is not None:
        mine, yours = _place(ours), _place(theirs)
        if mine < yours:
            yield f"{_name(ours)} is missing: the journal tells of it"
        elif mine > yours:
            yield f"{_name(theirs)} is not accounted for: the journal does not tell of it"
        elif codec.canonical(ours) != codec.canonical(theirs):
            yield f"{_name(theirs)} is not what the journal tells of it"
        ours = next(told, None) if mine <= yours else ours
        theirs = next(held, None) if yours <= mine else theirs


_KINDS = ("item", "version", "event", "relation", "contradiction")


def _place(row: Mapping[str, Any] | None) -> tuple[object, ...]:
    """Where a row stands in the order of states; the end comes last."""
    if row is None:
        return (len(_KINDS),)
    [(kind, value)] = row.items()
    key = (value["from_id"], value["to_id"]) if kind == "relation" else (value["id"],)
    return (_KINDS.index(kind), *key)


def _name(row: Mapping[str, Any] | None) -> str:
    assert row is not None
    [(kind, value)] = row.items()
    return f"{kind} {value['id']}"


def sign(head: Head, tenant: TenantId, seal: Seal) -> dict[str, object]:
    """The head as a document to keep elsewhere."""
    content: dict[str, object] = {"recollect": "head", "tenant": tenant, **_plain(head)}
    return {
        **content,
        "public_key": base64.b64encode(seal.public_key()).decode(),
        "signature": base64.b64encode(seal.sign(codec.canonical(content).encode())).decode(),
    }


def read_head(text: str, seal: Seal, trust: str | None = None) -> Head:
    """A head out of its document, its signature checked. It must be signed with the seal's own key, or with the public
    key in `trust`: a document that is only true to itself proves nothing."""
    try:
        document: dict[str, object] = json.loads(text)
        signature = base64.b64decode(str(document.pop("signature")))
        key = str(document.pop("public_key"))
        head = codec.decode(Head, document)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Invalid("this is not an exported head", "Export one with: recollect verify --export-head FILE") from error
    if key != (trust or base64.b64encode(seal.public_key()).decode()):
        raise Invalid(
            "the head was signed with a key that is not this store's",
            f"If you know whose it is, name it: recollect verify --head FILE --trust {key}",
        )
    if not seal.valid(codec.canonical(document).encode(), signature, base64.b64decode(key)):
        raise Invalid("the head's signature is not valid: the document was changed")
    return head


def _plain(head: Head) -> Mapping[str, object]:
    encoded = codec.encode(head)
    del encoded["is"]
    return encoded
