"""Candidates on SQLite: words out of FTS5, vectors out of memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recollect.domain.ids import TenantId
from recollect.domain.query import Filters
from recollect.domain.scope import Sight
from recollect.holdings import Listed, Wanted
from recollect.store.rarity import Phrase
from recollect.store.sqlite.resident.catalog import NOTHING, Withheld
from recollect.store.sqlite.resident.codes import BITS_ABOVE, Codes, unit
from recollect.store.sqlite.resident.columns import Mask
from recollect.store.sqlite.resident.following import Follower, Position
from recollect.store.sqlite.tx import token
from recollect.store.sqlite.word_scores import Visible, WordScores, visible
from recollect.store.sqlite.words import phrases_of
from recollect.store.tx import Key, Proposed, Sought, Tx

RESIDENT = 2 << 30
"""Bytes of tenants that are kept in memory; those asked least recently make room."""
_EXACTLY = 32
"""So many of the best are compared by their floats."""
_MASKS = 8
# The tenant's token counts for next to nothing. Not for nothing: the score of a text would be 0 / 0, and with that no
# number at all, where the mean length of the texts in the file is six words.
_SCORE = "bm25(texts, 1e-9, 1.0)"


_Name = tuple[TenantId, int, Sight, Listed | None]


class Finder:
    """What the indexes of one file propose. Safe to be asked by several threads."""

    def __init__(self, newest: Callable[[TenantId], Position | None], bits_above: int = BITS_ABOVE) -> None:
        self._newest = newest
        self._bits_above = bits_above
        self._tenants: OrderedDict[TenantId, Follower] = OrderedDict()
        self._masks: OrderedDict[tuple[_Name, Sought, Filters], Mask | None] = OrderedDict()
        self._visibles: OrderedDict[_Name, Visible] = OrderedDict()
        self._guard = threading.Lock()

    def search(self, tx: Tx, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """(ref, score) of the texts with any of the words, best first."""
        asked = [Phrase(phrase, 1) for word in words for phrase in phrases_of(word)]
        found = (
            tx.all(
                f"select coalesce('e:' || e.id, 'v:' || v.id), -{_SCORE} from texts "
                "left join events e on e.rid = texts.rowid / 2 and texts.rowid % 2 = 0 and e.tenant = :tenant "
                "left join versions v on v.rid = texts.rowid / 2 and texts.rowid % 2 = 1 and v.tenant = :tenant "
                f"where texts match :match order by {_SCORE} limit :limit",
                match=_match(tx, asked),
                limit=limit,
            )
            if asked
            else []
        )
        return [(ref, score) for ref, score in found if ref]

    def propose(self, tx: Tx, sought: Sought, wanted: Wanted, depth: int) -> Proposed:
        follower = self._follower(tx.tenant)
        with follower.lock:
            follower.follow(tx)
            question = _Question(tx, follower, sought, self._passing(tx, follower, sought, wanted), depth)
            words = WordScores(tx, follower, self._visible(tx, follower, wanted), wanted.words, _shared(tx))
            near = question.near(wanted.embedder, wanted.vector)
            text, more_text = words.best(sought, question.passing, depth, near.rows if near else [])
            cosine = question.cosines(near, list(text)) if near else {}
            return Proposed(
                text, cosine, more_text, near is not None and near.more, words.visible.documents, words.frequency
            )

    def _follower(self, tenant: TenantId) -> Follower:
        with self._guard:
            follower = self._tenants.get(tenant)
            if follower is None:
                follower = self._tenants[tenant] = Follower(lambda: self._newest(tenant), self._bits_above)
            self._tenants.move_to_end(tenant)
            while len(self._tenants) > 1 and sum(f.nbytes for f in self._tenants.values()) > RESIDENT:
                self._tenants.popitem(last=False)
            return follower

    def _passing(self, tx: Tx, follower: Follower, sought: Sought, wanted: Wanted) -> Mask | None:
        """Which texts pass, by their place in the catalog. None where all do."""
        withheld = follower.withheld(tx, sought, wanted.sight.readers)
        shown = follower.shown(tx, wanted.listed, wanted.sight.readers)
        sight = _shared_sight(wanted.sight, [withheld])
        name = ((tx.tenant, follower.generation, sight, wanted.listed if shown else None), sought, wanted.filters)
        with self._guard:
            if name in self._masks:
                return self._masks[name]
        made = follower.catalog.passing(sought, wanted.filters, sight, withheld, shown[sought] if shown else None)
        with self._guard:
            self._masks[name] = made
            while len(self._masks) > _MASKS:
                self._masks.popitem(last=False)
        return made

    def _visible(self, tx: Tx, follower: Follower, wanted: Wanted) -> Visible:
        withheld = {sought: follower.withheld(tx, sought, wanted.sight.readers) for sought in Sought}
        shown = follower.shown(tx, wanted.listed, wanted.sight.readers)
        sight = _shared_sight(wanted.sight, withheld.values())
        name = (tx.tenant, follower.generation, sight, wanted.listed if shown else None)
        with self._guard:
            known = self._visibles.get(name)
        if known is not None:
            return known
        made = visible(follower.catalog, sight, withheld, shown)
        with self._guard:
            self._visibles[name] = made
            while len(self._visibles) > _MASKS:
                self._visibles.popitem(last=False)
        return made


def _shared_sight(sight: Sight, withheld: Iterable[Withheld]) -> Sight:
    """Who looks matters only where something is kept from them: the others share what passes."""
    return sight if any(one != NOTHING for one in withheld) else replace(sight, readers=None)


@dataclass(frozen=True, slots=True)
class _Near:
    """The vectors that are nearest to a question: their places among the codes, their cosines, and the rows of their
    texts, best first; and whether there may be more."""

    query: NDArray[np.float32]
    codes: Codes
    places: NDArray[np.int64]
    cosines: NDArray[np.float32]
    rows: list[Key]
    more: bool


@dataclass(frozen=True, slots=True)
class _Question:
    """One question to one tenant, while its follower is held."""

    tx: Tx
    follower: Follower
    sought: Sought
    passing: Mask | None
    depth: int

    def near(self, embedder: str | None, vector: bytes | None) -> _Near | None:
        """The nearest vectors that pass; None where there are none to compare with."""
        if vector is None or embedder is None:
            return None
        query = unit(np.frombuffer(vector, np.float32)[None, :])[0]
        codes = self.follower.codes(self.tx, embedder, len(query), self.sought)
        if not codes.size:
            return None
        passing = None if self.passing is None else self.passing[codes.rows["doc"]]
        best, cosines = codes.best(query, passing, self.depth)
        cosines[:_EXACTLY] = self._exactly(query, codes, best[:_EXACTLY], cosines[:_EXACTLY])
        more = len(best) < (codes.size if passing is None else int(passing.sum()))
        return _Near(query, codes, best, cosines, self._rows(codes, best), more)

    def _rows(self, codes: Codes, places: NDArray[np.int64]) -> list[Key]:
        """The rows of the texts that these vectors are of."""
        return self.follower.catalog.docs[self.sought]["rid"][codes.rows["doc"][places]].tolist()

    def cosines(self, near: _Near, texts: list[Key]) -> dict[Key, float]:
        """The cosines of the near texts and of these, by their row, best first: of each its best one."""
        also = self._of_texts(near.codes, texts)
        of_texts = near.codes.cosines(near.query, also)
        if len(also) <= _EXACTLY:
            of_texts = self._exactly(near.query, near.codes, also, of_texts)
        found: dict[Key, float] = {}
        for row, cosine in zip(near.rows, near.cosines.tolist(), strict=True):
            found[row] = max(cosine, found.get(row, -1.0))
        others: dict[Key, float] = {}
        for row, cosine in zip(self._rows(near.codes, also), of_texts.tolist(), strict=True):
            if row not in found:
                others[row] = max(cosine, others.get(row, -1.0))
        return dict(sorted({**found, **others}.items(), key=lambda pair: -pair[1]))

    def _of_texts(self, codes: Codes, texts: list[Key]) -> NDArray[np.int64]:
        """The vectors of these texts."""
        places = self.follower.catalog.places_of(self.sought, np.array(texts, np.int64))
        among = np.zeros(self.follower.catalog.docs[self.sought].size, np.bool_)
        among[places[places >= 0]] = True
        return np.flatnonzero(among[codes.rows["doc"]])

    def _exactly(
        self, query: NDArray[np.float32], codes: Codes, places: NDArray[np.int64], cosines: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The cosines of these vectors by their floats in the file; of one that is gone there, as it was."""
        rids = codes.rows["rid"][places].tolist()
        found = self.tx.all("select rid, data from vectors where rid in :rids[] and +tenant = :tenant", rids=rids)
        floats = {rid: data for rid, data in found if len(data) == 4 * codes.dimension}
        vectors = np.frombuffer(b"".join(floats.values()), np.float32).reshape(-1, codes.dimension)
        exact = dict(zip(floats, (unit(vectors) @ query).tolist(), strict=True))
        return np.array([exact.get(rid, cosine) for rid, cosine in zip(rids, cosines, strict=True)], np.float32)


def _shared(tx: Tx) -> bool:
    """Whether the file has other tenants, too."""
    return tx.one("select 1 from tenants where tenant <> :tenant limit 1") is not None


def _match(tx: Tx, kept: Sequence[Phrase]) -> str:
    """The question as FTS5 reads it. In a file of one tenant nobody else's texts have to be told apart, and the walk
    through all places of the tenant's token is saved; either way only the tenant's own rows are confirmed."""
    if not kept:
        return ""
    wanted = "text:(" + " OR ".join(phrase.quoted for phrase in kept) + ")"
    return f"tenant:{token(tx.tenant)} AND {wanted}" if _shared(tx) else wanted
