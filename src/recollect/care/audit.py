"""The journal under examination: its chain, its signed head, and the state that it alone accounts for."""

import base64
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from recollect.domain import codec
from recollect.domain.examination import Examined, Recorded, Row
from recollect.domain.ids import TenantId
from recollect.domain.journal import MARKED, UNREADABLE, Entry, Finding, Head, Illegible
from recollect.errors import Invalid
from recollect.policy import account, chain, replay
from recollect.ports import Seal, Store

MOST = 1000
"""So many findings are told one by one."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What an examination found. `findings` is empty where all is well."""

    head: Head
    entries: int
    findings: tuple[Finding, ...]

    @property
    def whole(self) -> bool:
        return not self.findings


def verify(store: Store, tenant: TenantId, exported: Head | None = None, *, deep: bool = False) -> Verified:
    """Walk the chain from its first entry to the head that the store names; `deep` also holds every row of the store
    against what the journal tells. All of one moment, however long it takes and whoever writes meanwhile."""
    return _examined(store.examine(tenant, deep=deep), exported, deep=deep)


def refuse_unless_whole(shown: Iterator[Examined]) -> None:
    """Refuse a tenant that does not hold what its own journal tells."""
    findings = _examined(shown, None, deep=True).findings
    if findings:
        raise Invalid(
            f"it is not what its own journal tells: at entry {findings[0].seq}, {findings[0].what}",
            "It was damaged or changed. Examine the store that it came from, and export it again.",
        )


def _examined(shown: Iterator[Examined], exported: Head | None, *, deep: bool) -> Verified:
    examination = _Examination(shown)
    findings = list(islice(examination.findings(exported, deep=deep), MOST + 1))
    if len(findings) > MOST:
        findings[MOST] = Finding(examination.head.seq, f"there is more than these {MOST} findings")
    return Verified(examination.head, examination.entries, tuple(findings))


class _Examination:
    """One pass over what a store shows of itself."""

    def __init__(self, shown: Iterator[Examined]) -> None:
        self._shown = shown
        head = next(shown)
        assert isinstance(head, Head)
        self.head, self.entries = head, 0
        self._account = replay.Account(strict=head.chain_id.startswith(MARKED))
        self._untold: list[Finding] = []
        self._first: Row | None = None

    def findings(self, exported: Head | None, *, deep: bool) -> Iterator[Finding]:
        yield from chain.findings(self._journal(deep=deep), self.head, exported)
        yield from self._untold
        if deep:
            yield from (Finding(self.head.seq, what) for what in self._compared())

    def _journal(self, *, deep: bool) -> Iterator[Entry | Illegible]:
        for one in self._shown:
            if not isinstance(one, Recorded):
                self._first = one if isinstance(one, Row) else None
                return
            self.entries += 1
            if deep:
                wrong = [Finding(one.seq, what) for what in self._account.tell(one)]
                self._untold += wrong[: MOST - len(self._untold)]
            yield one.entry

    def _compared(self) -> Iterator[str]:
        comparison = account.Comparison(self._account)
        for one in itertools.chain([self._first] if self._first else [], self._shown):
            if isinstance(one, Row) and (what := comparison.look(one)):
                yield what
        yield from comparison.missing()


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
    except UNREADABLE as error:
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
