"""Candidates on PostgreSQL: words out of GIN, vectors one by one or out of HNSW."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace

from recollect.domain.query import Filters
from recollect.holdings import Wanted
from recollect.store.finding import confirm, passing_events, passing_items
from recollect.store.postgres.pool import Connection
from recollect.store.postgres.tx import sent
from recollect.store.postgres.word_counts import Asker, Size, WordCounts
from recollect.store.postgres.words import folded
from recollect.store.privacy import ANY_MARKED, ANY_PRIVATE
from recollect.store.rarity import Phrase, rarest, weight
from recollect.store.tx import Engine, Key, Proposed, Row, Sought, Tx
from recollect.store.words import phrases

EXACT_UP_TO = 5_000
"""So many vectors in the asker's sight are compared one by one. Above it, an index proposes the nearest, whether they
pass or not. Where few of those do, and no more than so many texts pass in all, these are compared one by one."""
_AHEAD = 2
"""How much further down is looked at once where filters or sight narrow the question."""
_DEEPEST = 20_000
"""How far down is looked where few pass and there are many of them."""
_WIDEST = 1_000
_OWNER = "substr(rtrim(rtrim(x.ref, '0123456789'), '.'), 3)"
_EVENT_OF = f"case when x.ref < 'd' then {_OWNER} else substr(x.ref, 3) end"
"""The event that a vector is of: its own (e:<event>), or one of its chunks (c:<event>.<number>)."""


def place_of_vectors(connection: Connection) -> str:
    """The schema that pgvector is in, as SQL names it. Transactions look for names in ours alone."""
    row = connection.execute(
        b"select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace "
        b"where e.extname = 'vector'"
    ).fetchone()
    assert row is not None
    return str(row[0])


class Finder:
    """What the indexes of one database propose. It remembers counts, nothing else."""

    def __init__(self, vectors_in: str, exact_up_to: int = EXACT_UP_TO) -> None:
        self._in = vectors_in
        self._exact_up_to = exact_up_to
        self._counts = WordCounts()

    def propose(self, tx: Tx, engine: Engine, sought: Sought, wanted: Wanted, depth: int) -> Proposed:
        row = tx.one(f"select t.seq, {ANY_PRIVATE} or {ANY_MARKED} from tenants t where t.tenant = :tenant")
        seq, private = (int(row[0]), bool(row[1])) if row else (0, False)
        listed = self._counts.withholding(tx, wanted.listed, seq)
        # Planning the conditions on private words takes longer than most questions, and most tenants have none.
        seen = wanted.sight if private else replace(wanted.sight, readers=None)
        asker = Asker(wanted.sight, wanted.listed, seen, listed)
        narrows = _narrows(wanted)
        wanted = replace(wanted, sight=seen, listed=listed)
        remembered = self._counts.known(tx, asker, seq)
        size = remembered.size
        asked = {word: [text for p in phrases(word) if (text := folded(p)).strip()] for word in wanted.words}
        every = [p for found in asked.values() for p in found]
        known = self._counts.frequencies(tx, asker, remembered, every)
        kept = rarest([Phrase(p, known[p]) for p in known], size.documents)
        near = _Near(tx, sought, wanted, self._in) if wanted.vector is not None and wanted.embedder else None
        few = size.vectors <= self._exact_up_to
        search = _Search(tx, engine, sought, wanted, near, few, lambda *how: self._texts(tx, sought, kept, size, *how))
        found = search.narrowed(depth, self._exact_up_to) if narrows else search.plain(depth)
        text = found.text
        cosine = {**(near.of_texts([id for id in text if id not in found.cosine]) if near else {}), **found.cosine}
        if found.more_text and (others := [f"{sought.value}{id}" for id in cosine if id not in text]):
            text = {**text, **self._texts(tx, sought, kept, size, len(others), others)}
        frequency = {
            word: min(size.documents, min((known[p] for p in found if p in known), default=0))
            for word, found in asked.items()
        }
        nearest = dict(sorted(cosine.items(), key=_best_first))
        return replace(found, text=text, cosine=nearest, documents=size.documents, frequency=frequency)

    def _texts(
        self,
        tx: Tx,
        sought: Sought,
        kept: Sequence[Phrase],
        size: Size,
        depth: int,
        among: Sequence[str] | None = None,
    ) -> dict[Key, float]:
        if not kept:
            return {}
        found = tx.all(
            "select ref, score from recollect_find(:phrases, :weights, :mark, :average, :depth, :among, :alone) "
            "where current_setting('app.tenant') = :tenant",
            phrases=[phrase.text for phrase in kept],
            weights=[weight(phrase.frequency, size.documents) for phrase in kept],
            mark=sought.value,
            average=size.texts[sought].length,
            depth=depth,
            among=among,
            alone=size.alone,
        )
        return {ref[2:]: score for ref, score in found}


class _Search:
    """The walk through both indexes for one question, as far down as it takes."""

    def __init__(
        self,
        tx: Tx,
        engine: Engine,
        sought: Sought,
        wanted: Wanted,
        near: "_Near | None",
        few: bool,
        texts: Callable[..., dict[Key, float]],
    ) -> None:
        self._tx, self._engine, self._sought, self._wanted = tx, engine, sought, wanted
        self._near, self._few, self._texts = near, few, texts

    def plain(self, depth: int) -> Proposed:
        """Everything passes, or nearly so."""
        text = self._texts(depth)
        best = self._nearest(depth)
        passed = confirm(self._tx, self._engine, self._sought, self._wanted, {**text, **best})
        more = self._near is not None and self._near.found >= depth
        found = _proposed(_those(text, passed), _those(best, passed), len(text) >= depth, more)
        return replace(found, confirmed=passed)

    def narrowed(self, depth: int, few: int) -> Proposed:
        """Those that pass, at least `depth` by either index where there are so many. How many do so among the first
        tells how far down to look; where that is far, and few pass in all, they are compared one by one."""
        passed: dict[Key, Row] = {}
        deep = depth * _AHEAD
        while True:
            text = self._texts(deep)
            best = self._nearest(deep)
            more_text = len(text) >= deep
            more = self._near is not None and self._near.found >= deep
            passed |= confirm(self._tx, self._engine, self._sought, self._wanted, {**text, **best}, passed)
            text, best = _those(text, passed), _those(best, passed)
            short = (more_text and len(text) < depth) or (more and len(best) < depth)
            if not short or deep >= _DEEPEST:
                break
            least = min(len(text) if more_text else deep, len(best) if more else deep)
            further = int(1.3 * depth * deep / max(least, 1))
            if further > few // 5 and (listed := self._listed(few)) is not None:
                text = self._texts(len(listed), [f"{self._sought.value}{id}" for id in listed])
                best = self._near.of_texts(listed) if self._near else {}
                more_text = more = False
                break
            deep = min(max(2 * deep, further), _DEEPEST)
        if self._near and more and len(best) < depth:
            best, more = self._near.compared(depth), False
        nearest = dict(sorted(best.items(), key=_best_first)[:depth])
        # Cut where it has enough, there are more: what the vectors bring besides is asked for its words then.
        text, more_text = dict(list(text.items())[:depth]), more_text or len(text) > depth
        return replace(_proposed(text, nearest, more_text, more), confirmed=passed)

    def _nearest(self, depth: int) -> dict[Key, float]:
        if self._near is None:
            return {}
        return self._near.compared(depth) if self._few or depth > 5 * _WIDEST else self._near.indexed(depth)

    def _listed(self, most: int) -> list[Key] | None:
        """All texts that pass; None where there are more."""
        passing = passing_events if self._sought is Sought.EVENTS else passing_items
        name = "e" if self._sought is Sought.EVENTS else "v"
        table = "events e" if self._sought is Sought.EVENTS else "versions v"
        where, values = passing(self._wanted.filters, self._wanted.sight, self._wanted.listed)
        # One memory after the other: few are expected, and the limit ends it where there are more.
        self._plan("off")
        found = self._tx.all(
            f"select {name}.id from items i join {table} on {name}.tenant = :tenant and {name}.item_id = i.id "
            f"where i.tenant = :tenant and {' and '.join(where)} limit :most",
            most=most + 1,
            **values,
        )
        self._plan("on")
        return [row[0] for row in found] if len(found) <= most else None

    def _plan(self, whole: str) -> None:
        """Whether the server may read whole tables to join them."""
        self._tx.one(
            "select set_config('enable_hashjoin', :whole, true), set_config('enable_mergejoin', :whole, true) "
            "where :tenant <> ''",
            whole=whole,
        )


def _proposed(text: Mapping[Key, float], cosine: Mapping[Key, float], more_text: bool, more_cosine: bool) -> Proposed:
    return Proposed(text, cosine, more_text, more_cosine, 0, {})


def _those(found: Mapping[Key, float], passed: Container[Key]) -> dict[Key, float]:
    return {id: score for id, score in found.items() if id in passed}


def _best_first(found: tuple[Key, float]) -> tuple[float, str]:
    """Where two are as near, the older: the server tells them in any order."""
    return -found[1], str(found[0])


class _Near:
    """The vectors of one question. `found`: how many vectors the last look came back with."""

    def __init__(self, tx: Tx, sought: Sought, wanted: Wanted, vectors_in: str) -> None:
        assert wanted.vector is not None
        assert wanted.embedder is not None
        self._tx, self._sought, self._wanted = tx, sought, wanted
        self._in = vectors_in
        self.found = 0
        dimension = len(wanted.vector) // 4
        # Spelt out, not bound: only then does the server see that the index of this embedder is meant.
        self._ours = (
            f"x.tenant = :tenant and x.embedder = '{wanted.embedder.replace(chr(39), chr(39) * 2)}' "
            f"and {self._in}.vector_dims(x.embedding) = {dimension}"
        )
        # The same in a form that the server does not take for rare: it would plan for few, and compare all with all.
        self._like_ours = self._ours.replace(f"and {self._in}.vector_dims", f"and case when {self._in}.vector_dims")
        self._like_ours += " then true else false end"
        self._apart = f"(x.embedding::{self._in}.vector({dimension}) operator({self._in}.<=>) :query)"
        # As the index keeps them: directions, and half as long.
        half = f"{self._in}.l2_normalize({{}})::{self._in}.halfvec({dimension})"
        asked = half.format(f":query::{self._in}.vector")
        self._about = f"({half.format('x.embedding')} operator({self._in}.<=>) {asked})"
        self._query = {"query": sent(wanted.vector)}
        # How references begin, and the text in them. Told apart by equal references where that will do: those are in an
        # index, whichever side the server comes from.
        self._marks = "x.ref < 'f'" if sought is Sought.EVENTS else "x.ref >= 'v:' and x.ref < 'v;'"
        self._name = _EVENT_OF if sought is Sought.EVENTS else "substr(x.ref, 3)"
        self._joins = (
            [("events e", "e", "x.ref = 'e:' || e.id"), ("events e", "e", f"x.ref < 'd' and e.id = {_OWNER}")]
            if sought is Sought.EVENTS
            else [("versions v", "v", "x.ref = 'v:' || v.id")]
        )

    def compared(self, depth: int) -> dict[Key, float]:
        """One by one, those alone that pass."""
        passing = passing_events if self._sought is Sought.EVENTS else passing_items
        where, values = passing(self._wanted.filters, self._wanted.sight, self._wanted.listed)
        looks = [
            f"select {name}.id as id, {self._apart} as apart from vectors x join {table} on {name}.tenant = :tenant "
            f"and {owner} join items i on i.tenant = :tenant and i.id = {name}.item_id "
            f"where {self._like_ours} and {' and '.join(where)}"
            for table, name, owner in self._joins
        ]
        return self._best(
            f"select id, 1 - apart from ({' union all '.join(looks)}) as near order by apart, id limit :depth",
            depth=depth,
            **values,
        )

    def indexed(self, depth: int) -> dict[Key, float]:
        """Out of the index, whether they pass or not; it looks on until there are enough of this tenant's."""
        self._tx.one(
            "select set_config('hnsw.iterative_scan', 'relaxed_order', true), "
            "set_config('hnsw.ef_search', :width, true), set_config('hnsw.max_scan_tuples', :most, true) "
            "where :tenant <> ''",
            width=str(max(100, min(depth, _WIDEST))),
            most=str(max(20_000, 20 * depth)),
        )
        return self._best(
            f"select {self._name}, 1 - {self._apart} from vectors x where {self._ours} and {self._marks} "
            f"order by {self._about} limit :depth",
            depth=depth,
        )

    def of_texts(self, texts: Sequence[Key]) -> dict[Key, float]:
        """The cosines of these texts."""
        if not texts:
            return {}
        before = self.found
        refs = [f"{self._sought.value}{text}" for text in texts]
        if self._sought is Sought.EVENTS:
            chunked = self._tx.all(
                "select id, json_array_length(chunks) from events "
                "where tenant = :tenant and id in :ids[] and json_array_length(chunks) > 0",
                ids=list(texts),
            )
            refs += [f"c:{id}.{number}" for id, count in chunked for number in range(1, count + 1)]
        found = self._best(
            f"select {self._name}, 1 - {self._apart} from vectors x where {self._ours} and x.ref in :refs[]", refs=refs
        )
        self.found = before
        return found

    def _best(self, sql: str, **values: object) -> dict[Key, float]:
        rows = self._tx.all(sql, **values, **self._query)
        self.found = len(rows)
        best: dict[Key, float] = {}
        for id, cosine in rows:
            if cosine == cosine:  # a vector of length nothing is near to none
                best[id] = max(cosine, best.get(id, -1.0))
        return best


def _narrows(wanted: Wanted) -> bool:
    sight = wanted.sight
    narrowed = wanted.filters != Filters() or wanted.listed is not None
    return narrowed or sight.users is not None or sight.projects is not None
