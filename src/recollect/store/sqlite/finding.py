"""Candidates on SQLite: words out of FTS5, vectors out of memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recollect.domain.ids import TenantId
from recollect.domain.query import Filters
from recollect.domain.scope import Sight
from recollect.holdings import Wanted
from recollect.store.rarity import Phrase, rarest
from recollect.store.sqlite.resident.catalog import NOTHING
from recollect.store.sqlite.resident.codes import BITS_ABOVE, Codes, unit
from recollect.store.sqlite.resident.columns import Mask
from recollect.store.sqlite.resident.following import Follower, Position
from recollect.store.sqlite.tx import token
from recollect.store.sqlite.words import Vocabulary
from recollect.store.tx import Key, Proposed, Sought, Tx

RESIDENT = 2 << 30
"""Bytes of tenants that are kept in memory; those asked least recently make room."""
_MARGIN = 3
_EXACTLY = 32
"""So many of the best are compared by their floats."""
_MASKS = 8
_ODD = {Sought.EVENTS: 0, Sought.ITEMS: 1}
_YES = 1
# The tenant's token counts for next to nothing. Not for nothing: the score of a text would be 0 / 0, and with that no
# number at all, where the mean length of the texts in the file is six words.
_SCORE = "bm25(texts, 1e-9, 1.0)"


@dataclass(frozen=True, slots=True)
class Passing:
    """Which texts pass: by their place in the catalog, and by their row in the file. None where all do."""

    docs: Mask | None
    rows: bytes | None


class Finder:
    """What the indexes of one file propose. Safe to be asked by several threads."""

    def __init__(self, newest: Callable[[TenantId], Position | None], bits_above: int = BITS_ABOVE) -> None:
        self._vocabulary = Vocabulary()
        self._newest = newest
        self._bits_above = bits_above
        self._tenants: OrderedDict[TenantId, Follower] = OrderedDict()
        self._masks: OrderedDict[tuple[TenantId, int, Sought, Filters, Sight], Passing] = OrderedDict()
        self._guard = threading.Lock()

    def search(self, tx: Tx, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """(ref, score) of the texts with any of the words, best first."""
        documents = _documents(tx)
        asked = [phrase for word in words for phrase in self._vocabulary.phrases(tx, word, documents)]
        found = (
            tx.all(
                f"select coalesce('e:' || e.id, 'v:' || v.id), -{_SCORE} from texts "
                "left join events e on e.rid = texts.rowid / 2 and texts.rowid % 2 = 0 and e.tenant = :tenant "
                "left join versions v on v.rid = texts.rowid / 2 and texts.rowid % 2 = 1 and v.tenant = :tenant "
                f"where texts match :match order by {_SCORE} limit :limit",
                match=_match(tx, rarest(asked, documents)),
                limit=limit,
            )
            if any(phrase.frequency for phrase in asked)
            else []
        )
        return [(ref, score) for ref, score in found if ref]

    def propose(self, tx: Tx, sought: Sought, wanted: Wanted, depth: int) -> Proposed:
        follower = self._follower(tx.tenant)
        with follower.lock:
            follower.follow(tx)
            question = _Question(tx, follower, sought, self._passing(tx, follower, sought, wanted), depth)
            documents = sum(docs.size for docs in follower.catalog.docs.values())
            asked = {word: self._vocabulary.phrases(tx, word, documents) for word in wanted.words}
            match = _match(tx, rarest([phrase for found in asked.values() for phrase in found], documents))
            near = question.near(wanted.embedder, wanted.vector)
            text, more_text = question.texts(match, near.rows if near else []) if match else ({}, False)
            cosine = question.cosines(near, list(text)) if near else {}
        frequency = {word: min((p.frequency for p in found), default=0) for word, found in asked.items()}
        return Proposed(
            text,
            cosine,
            more_text,
            near is not None and near.more,
            documents,
            {w: min(f, documents) for w, f in frequency.items()},
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

    def _passing(self, tx: Tx, follower: Follower, sought: Sought, wanted: Wanted) -> Passing:
        withheld = follower.withheld(tx, sought, wanted.sight.readers)
        # Who looks matters only where something is kept from them: the others share what passes.
        sight = wanted.sight if withheld != NOTHING else replace(wanted.sight, readers=None)
        name = (tx.tenant, follower.generation, sought, wanted.filters, sight)
        with self._guard:
            known = self._masks.get(name)
        if known is not None:
            return known
        mask = follower.catalog.passing(sought, wanted.filters, sight, withheld)
        made = Passing(mask, None if mask is None else _spread(follower.catalog.docs[sought]["rid"], mask))
        with self._guard:
            self._masks[name] = made
            while len(self._masks) > _MASKS:
                self._masks.popitem(last=False)
        return made


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
    passing: Passing
    depth: int

    def texts(self, match: str, near: Sequence[Key]) -> tuple[dict[Key, float], bool]:
        """The best texts by their row, then those of the near ones that match too; and whether there may be more.

        Both come out of one walk through the index.
        """
        known, margin = set(near), self.depth * _MARGIN
        found = self._matching(match, near, margin + len(near))
        scored = self._by_length(found)
        ranked = sorted(scored.items(), key=lambda pair: -pair[1])
        others = sum(row not in known for row, _ in found)
        best = dict(ranked[: self.depth])
        return {**best, **{row: scored[row] for row in near if row in scored}}, others >= margin or len(ranked) > len(
            best
        )

    def _matching(self, match: str, near: Sequence[Key], limit: int) -> list[tuple[int, float]]:
        values: dict[str, object] = {}
        among = first = ""
        if self.passing.rows is not None:
            among = f"and substr(:rows, texts.rowid / 2 + 1, 1) = x'{_YES:02x}'"
            values["rows"] = self.passing.rows
        if near:
            first = "substr(:near, texts.rowid / 2 + 1, 1) desc, "
            chosen = np.array(near, np.int64)
            values["near"] = _spread(chosen, np.ones(len(chosen), np.bool_))
        found = self.tx.all(
            f"select texts.rowid / 2, -{_SCORE} from texts "
            f"where texts match :match and texts.rowid % 2 = {_ODD[self.sought]} {among} "
            f"and :tenant is not null order by {first} 2 desc limit :limit",
            match=match,
            limit=limit,
            **values,
        )
        return [(row, score) for row, score in found]

    def _by_length(self, found: Sequence[tuple[int, float]]) -> dict[Key, float]:
        """Scores for texts of unequal length; the index itself does not keep lengths. Others' texts fall out here."""
        if not found:
            return {}
        rows = np.array([row for row, _ in found], np.int64)
        scores = np.array([score for _, score in found])
        octets = self.follower.catalog.docs[self.sought]["octets"]
        places = self.follower.catalog.places_of(self.sought, rows)
        known = places >= 0
        share = octets[places[known]] / max(1.0, float(octets.mean()) if len(octets) else 1.0)
        adapted = scores[known] / np.sqrt(0.35 + 0.65 * share)
        return dict(zip(rows[known].tolist(), adapted.tolist(), strict=True))

    def near(self, embedder: str | None, vector: bytes | None) -> _Near | None:
        """The nearest vectors that pass; None where there are none to compare with."""
        if vector is None or embedder is None:
            return None
        query = unit(np.frombuffer(vector, np.float32)[None, :])[0]
        codes = self.follower.codes(self.tx, embedder, len(query), self.sought)
        if not codes.size:
            return None
        passing = None if self.passing.docs is None else self.passing.docs[codes.rows["doc"]]
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


def _spread(rows: NDArray[np.int64], mask: Mask) -> bytes:
    """A byte for every row of the file up to the last one: whether it is among these."""
    chosen = rows[mask]
    spread = np.zeros(int(chosen.max()) + 1 if len(chosen) else 0, np.uint8)
    spread[chosen] = _YES
    return spread.tobytes()


def _documents(tx: Tx) -> int:
    row = tx.one(
        "select coalesce((select max(rid) from events), 0) + coalesce((select max(rid) from versions), 0) "
        "where :tenant is not null"
    )
    return int(row[0]) if row else 0


def _match(tx: Tx, kept: Sequence[Phrase]) -> str:
    """The question as FTS5 reads it. In a file of one tenant nobody else's texts have to be told apart, and the walk
    through all places of the tenant's token is saved; either way only the tenant's own rows are confirmed."""
    if not kept:
        return ""
    wanted = "text:(" + " OR ".join(phrase.quoted for phrase in kept) + ")"
    others = tx.one("select 1 from tenants where tenant <> :tenant limit 1")
    return f"tenant:{token(tx.tenant)} AND {wanted}" if others else wanted
