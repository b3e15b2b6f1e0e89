"""What a look into memory stands on: the store, who looks, what they may see, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.item import Item
from recollect.domain.query import Filters
from recollect.domain.scope import Principal, Sight
from recollect.errors import ModelFailed
from recollect.policy import access
from recollect.policy.categories import AllBut, Allowed, Only
from recollect.policy.rank import Seen
from recollect.ports import Embedder, Hit, Store, Wanted


@dataclass(frozen=True, slots=True)
class Look:
    """One principal's look at one moment, with the categories it is granted."""

    store: Store
    embedder: Embedder | None
    principal: Principal
    allowed: Allowed
    now: datetime

    @property
    def sight(self) -> Sight:
        return access.sight(self.principal)

    def sees(self, item: Item) -> bool:
        """Whether an item is in sight and of a category that is granted."""
        answer = access.may_read(self.principal, item, (), self.now)
        return isinstance(answer, access.Allowed) and self.allowed.holds(item.category)

    @property
    def categories(self) -> frozenset[str] | None:
        """The categories to ask the store for; None where all but some are granted."""
        return self.allowed.names if isinstance(self.allowed, Only) else None

    @property
    def without(self) -> frozenset[str]:
        return self.allowed.names if isinstance(self.allowed, AllBut) else frozenset()

    def wanted(self, words: Sequence[str], vector: bytes | None, filters: Filters, limit: int) -> Wanted:
        """What the store is asked for, under what may be seen here."""
        embedder = self.embedder.name if self.embedder and vector is not None else None
        return Wanted(words=words, vector=vector, embedder=embedder, filters=filters, sight=self.sight, limit=limit)

    def vectors(self, *texts: str) -> list[bytes] | None:
        """A vector for each text; None without an embedder, or where it fails: words are found without it."""
        if self.embedder is None:
            return None
        try:
            distinct = list(dict.fromkeys(texts))
            made = dict(zip(distinct, self.embedder.embed(distinct), strict=True))
        except ModelFailed:
            return None
        return [made[text] for text in texts]


def seen(hit: Hit) -> Seen:
    """A hit as ranking takes it."""
    return Seen(
        ref=hit.ref,
        thread=hit.item_id,
        seq=hit.seq,
        at=hit.ts,
        author=hit.author,
        text=hit.text,
        cosine=hit.cosine,
    )
