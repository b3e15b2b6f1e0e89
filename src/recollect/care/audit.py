"""The journal under examination: its chain, its signed head, and the state that it alone accounts for."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recollect.domain import codec
from recollect.domain.ids import Seq, TenantId
from recollect.domain.journal import Entry, Finding, Head
from recollect.errors import Invalid
from recollect.policy import chain
from recollect.ports import Seal, Store

_PAGE = 2000


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


def verify(store: Store, tenant: TenantId, exported: Head | None = None) -> Verified:
    """Walk the chain from its first entry to the head that the store names."""
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


def sign(head: Head, tenant: TenantId, seal: Seal) -> dict[str, object]:
    """The head as a document to keep elsewhere."""
    content: dict[str, object] = {"recollect": "head", "tenant": tenant, **_plain(head)}
    return {
        **content,
        "public_key": base64.b64encode(seal.public_key()).decode(),
        "signature": base64.b64encode(seal.sign(codec.canonical(content).encode())).decode(),
    }


def read_head(text: str, seal: Seal) -> Head:
    """A head out of its document, its signature checked."""
    try:
        document: dict[str, object] = json.loads(text)
        signature = base64.b64decode(str(document.pop("signature")))
        key = base64.b64decode(str(document.pop("public_key")))
        head = codec.decode(Head, document)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Invalid("this is not an exported head", "Export one with: recollect verify --export-head FILE") from error
    if not seal.valid(codec.canonical(document).encode(), signature, key):
        raise Invalid("the head's signature is not valid: the document was changed")
    return head


def _plain(head: Head) -> Mapping[str, object]:
    encoded = codec.encode(head)
    del encoded["is"]
    return encoded
