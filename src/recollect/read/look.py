"""What a look into memory stands on: the store, who looks, what they may see, and when."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.codec import canonical
from recollect.domain.ids import ItemId
from recollect.domain.item import Item
from recollect.domain.query import Filters
from recollect.domain.scope import Principal, Sight
from recollect.errors import ModelFailed
from recollect.holdings import Hit, Known, Listed, Outline, Wanted
from recollect.policy import access
from recollect.policy.categories import EVERY_CATEGORY, EVIDENCE, AllBut, Allowed, Only, sides
from recollect.policy.rank import Seen
from recollect.ports import Embedder, Store
from recollect.read.category_rule import CategoryRule


@dataclass(frozen=True, slots=True)
class Look:
    """One principal's look at one moment, with the categories it is granted."""

    store: Store
    embedder: Embedder | None
    principal: Principal
    allowed: Allowed
    now: datetime
    at: datetime | None = None
    """The moment that is asked about, where it is not now."""
    kinds: frozenset[str] | None = None
    """The kinds of memories that are served; None where all are."""
    within_reach: Allowed | None = None
    """The categories that would be served if they were asked for by name; None where that is `allowed`."""
    listed: Allowed = EVERY_CATEGORY
    """The categories on the agent's list, whatever is asked for: what it withholds is not shown in any way."""

    @property
    def rule(self) -> CategoryRule:
        return CategoryRule(self.store, self.principal.tenant, self.readers, self.listed)

    @property
    def moment(self) -> datetime:
        return self.at or self.now

    @property
    def sight(self) -> Sight:
        return access.sight(self.principal)

    @property
    def readers(self) -> frozenset[str]:
        """Whose part in a thread counts where its words are private."""
        return access.readers(self.principal)

    def sees(self, items: Iterable[Item]) -> frozenset[ItemId]:
        """Those of these items that are in sight and of a category that is granted."""
        return self._open([item for item in items if self.serves(item)])

    def serves(self, item: Item) -> bool:
        """Whether a memory is of a category and a kind that are served here."""
        return self.allowed.holds(item.category) and (self.kinds is None or item.kind in self.kinds)

    def may_ask_for(self, item: Item | Outline) -> bool:
        """Whether a memory is of a kind that is served here, and of a category that is, if only on request."""
        granted = (self.within_reach or self.allowed).holds(item.category)
        return granted and (self.kinds is None or item.kind in self.kinds)

    def seen(self, ids: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these items that may be read, by their category as well."""
        held = self.store.items_by_id(self.principal.tenant, sorted(set(ids)))
        return self._open([one.item for one in held if not one.withdrawn and self.listed.holds(one.item.category)])

    def readable(self, ids: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these items that are in sight, whatever their category: whether words may be shown."""
        held = self.store.items_by_id(self.principal.tenant, sorted(set(ids)))
        return self._open([one.item for one in held if not one.withdrawn])

    def _open(self, items: Sequence[Item]) -> frozenset[ItemId]:
        """Those that may be read, and hold no private words of others."""
        found = [
            item.id for item in items if isinstance(access.may_read(self.principal, item, (), self.now), access.Allowed)
        ]
        if not found:
            return frozenset()
        hidden = self.store.withheld(self.principal.tenant, [f"i:{item_id}" for item_id in found], self.readers)
        return frozenset(item_id for item_id in found if f"i:{item_id}" not in hidden)

    @property
    def reads_threads(self) -> bool:
        """Whether what was said may be read beyond what memories cite."""
        return self.allowed.holds(EVIDENCE)

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
        return Wanted(
            words=words,
            vector=vector,
            embedder=embedder,
            filters=filters,
            sight=self.sight,
            listed=None if self.listed == EVERY_CATEGORY else Listed(*sides(self.listed), self.listed.holds(EVIDENCE)),
            limit=limit,
        )

    def known(self, ids: Sequence[ItemId]) -> Known:
        """What ranking asks about these items: of their edges those to what may be read, whatever is asked for."""
        names, without = sides(self.listed)
        return self.store.known(self.principal.tenant, ids, sight=self.sight, categories=names, without=without)

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


def reader(principal: Principal) -> str:
    """Who a turn belongs to: a person, or an agent in somebody's service. What an agent does for one is not told, nor
    felt, where it asks for another; and no person's name is mistaken for an agent's."""
    return agent_reader(principal.agent_id, principal.id) if principal.agent_id else f"person:{principal.id}"


def agent_reader(agent_id: str, id: str) -> str:
    return f"{agents_readers(agent_id)}{canonical(id)}]"


def agents_readers(agent_id: str) -> str:
    """What an agent's readers begin with, and those of no other."""
    return f"agent:[{canonical(agent_id)},"


def told_reader(principal: Principal, agent: str | None) -> str:
    """Who is told of changes: one credential's principal, speaking as one agent. Nobody else's question moves on what
    it was told, whatever agent that names."""
    own = f"agent:{principal.agent_id}" if principal.agent_id else f"person:{principal.id}"
    return canonical([own, principal.id, agent])


def seen(hit: Hit) -> Seen:
    """A hit as ranking takes it."""
    return Seen(hit.ref, hit.item_id, hit.seq, hit.ts, hit.author, hit.text, hit.cosine)
