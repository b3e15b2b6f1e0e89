"""How common words are among the texts that an asker may read, and how long those are: what others wrote moves no
score.

Every figure is a function of these texts alone, and so is the choice between counting and estimating. Where they are
many, figures are remembered until they have grown by a quarter.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.domain.ids import TenantId
from recollect.domain.item import ANY_STATE
from recollect.domain.query import Filters
from recollect.domain.scope import Sight
from recollect.holdings import Listed
from recollect.store.finding import any_unlisted, passing_events, passing_items
from recollect.store.reading import Where
from recollect.store.tx import Sought, Tx

_EVERYTHING = Filters(states=ANY_STATE)
_COUNTED = 2_000
"""So many texts with a phrase are counted one by one; beyond that, its share of the newest texts is taken for all."""
_SAMPLE = 2_000
_COMMON = 20
"""A word that so many of the newest texts have is common: its share of them is taken for all. How often a phrase in
fewer texts stands in many is not remembered, either: it may be a new word."""
_TOLD = 5
_MOST = 20_000
"""More texts than that are not counted: the weights of words no longer change much."""
_GROWTH = 0.25
_SMALL = 500
"""So many texts are counted anew whenever anything was written."""
_FIRST = 200
"""Who may see no more looks through all of it where so many of the tenant's texts have a phrase."""
_FEW = 5_000
"""So many texts are read one after the other for it."""
_ASKERS = 1_000
"""So many askers are remembered, those who asked last, and so many phrases of each: nobody's questions make the server
forget what it counted for somebody else, unless they are a crowd."""
_PHRASES = 1_000
_REMEMBERED = 20_000
_NAME = {Sought.EVENTS: "e", Sought.ITEMS: "v"}
_OWN = {
    Sought.EVENTS: "items i join events e on e.tenant = :tenant and e.item_id = i.id",
    Sought.ITEMS: "items i join versions v on v.tenant = :tenant and v.item_id = i.id",
}
"""The texts by way of the memories they belong to."""
_NAMED = {
    Sought.EVENTS: "events e join items i on i.tenant = :tenant and i.id = e.item_id",
    Sought.ITEMS: "versions v join items i on i.tenant = :tenant and i.id = v.item_id",
}
_LATEST = {
    Sought.EVENTS: "(select n.* from events n where n.tenant = :tenant and n.item_id = written.item_id "
    "order by n.seq desc limit written.entries) as e",
    Sought.ITEMS: "(select n.* from versions n where n.tenant = :tenant and n.item_id = written.item_id "
    "order by n.id desc limit written.entries) as v",
}
"""As many as the journal has entries of their memory."""
_VECTORS = {Sought.EVENTS: "1 + json_array_length(e.chunks)", Sought.ITEMS: "1"}


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose counts they are: what is in sight, less what a list withholds. `seen` and `withheld`: the same in the
    shortest way to ask for it, without what leaves nothing out while nothing in the tenant is private, or of a category
    that is not listed. That hangs on what others wrote, and has no part in what is remembered for whom."""

    sight: Sight
    listed: Listed | None
    seen: Sight = field(compare=False)
    withheld: Listed | None = field(compare=False)


@dataclass(frozen=True, slots=True)
class Texts:
    """How many texts of one kind an asker may see, how long they are on average, how many vectors they have, and which
    is the newest."""

    count: int
    length: float
    vectors: int
    newest: str


@dataclass(frozen=True, slots=True)
class Size:
    """What an asker may see. `common`: about how many texts have each common word, by its stem. `alone`: most rows of
    its part of the table are the tenant's."""

    texts: Mapping[Sought, Texts]
    common: Mapping[str, int]
    alone: bool

    @property
    def documents(self) -> int:
        return sum(texts.count for texts in self.texts.values())

    @property
    def vectors(self) -> int:
        return sum(texts.vectors for texts in self.texts.values())


@dataclass(frozen=True, slots=True)
class _Count:
    texts: int
    seq: int


@dataclass(frozen=True, slots=True)
class Known:
    """A size, by how many texts it has grown since, and in how many of them phrases were found: looked at when the
    tenant's journal was this long."""

    size: Size
    seq: int
    newest: Mapping[Sought, str]
    grown: int = 0
    counts: dict[str, _Count] = field(default_factory=dict[str, _Count])


class WordCounts:
    """Remembers counts, nothing else. Safe to be asked by several threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._sizes: dict[tuple[TenantId, Asker], Known] = {}
        """The one who asked last comes last."""
        self._unlisted: dict[tuple[TenantId, Listed], tuple[int, bool]] = {}
        self._stems: dict[str, str | None] = {}

    def known(self, tx: Tx, asker: Asker, seq: int) -> Known:
        """What is remembered for the asker, made anew where it has grown too old."""
        known = self._sizes.get((tx.tenant, asker))
        if known and known.seq != seq and known.size.documents > _SMALL:
            known = None if _some_gone(tx, asker, known) else _followed(tx, asker, known, seq)
        if known is None or known.seq != seq or known.grown > known.size.documents * _GROWTH:
            size = _measured(tx, asker)
            known = Known(size, seq, {sought: texts.newest for sought, texts in size.texts.items()})
        with self._guard:
            self._sizes.pop((tx.tenant, asker), None)
            self._sizes[tx.tenant, asker] = known
            if len(self._sizes) > _ASKERS:
                del self._sizes[next(iter(self._sizes))]
        return known

    def withholding(self, tx: Tx, listed: Listed | None, seq: int) -> Listed | None:
        """The list, or None where there is nothing that it could withhold."""
        if listed is None or not listed.evidence:
            return listed
        at, some = self._unlisted.get((tx.tenant, listed), (-1, False))
        if not some and at != seq:
            some = any_unlisted(tx, listed)
            with self._guard:
                if len(self._unlisted) > _REMEMBERED:
                    self._unlisted.clear()
                self._unlisted[tx.tenant, listed] = (seq, some)
        return listed if some else None

    def frequencies(self, tx: Tx, asker: Asker, known: Known, phrases: Sequence[str]) -> dict[str, int]:
        """In how many of the texts that the asker may see each phrase is; about so where it is in many."""
        size, seq = known.size, known.seq
        stems = self._stemmed(tx, phrases)
        found = {phrase: size.common[stem] for phrase, stem in stems.items() if stem and stem in size.common}
        unknown: list[str] = []
        for phrase in dict.fromkeys(phrases):
            count = known.counts.get(phrase)
            if count and (count.seq == seq or count.texts >= _COMMON):
                found[phrase] = count.texts
            elif phrase not in found:
                unknown.append(phrase)
        if unknown:
            counted = _counted(tx, asker, unknown, size)
            with self._guard:
                if len(known.counts) > _PHRASES:
                    known.counts.clear()
                known.counts.update({phrase: _Count(texts, seq) for phrase, texts in counted.items()})
            found |= counted
        return {phrase: found[phrase] for phrase in dict.fromkeys(phrases)}

    def _stemmed(self, tx: Tx, phrases: Sequence[str]) -> dict[str, str | None]:
        """The word of the index that each phrase is looked for by; None for one of several words."""
        with self._guard:
            stems = {phrase: self._stems[phrase] for phrase in phrases if phrase in self._stems}
        if unknown := [phrase for phrase in dict.fromkeys(phrases) if phrase not in stems]:
            rows = tx.all(
                "select given.phrase, case when numnode(phraseto_tsquery('words', given.phrase)) = 1 "
                "then (tsvector_to_array(to_tsvector('words', given.phrase)))[1] end "
                "from unnest(:phrases::text[]) as given (phrase) where :tenant <> ''",
                phrases=unknown,
            )
            with self._guard:
                if len(self._stems) > _REMEMBERED:
                    self._stems.clear()
                self._stems |= dict(rows)
            stems |= dict(rows)
        return stems


def _followed(tx: Tx, asker: Asker, known: Known, seq: int) -> Known:
    """How many texts have come that the asker may see: looked for where the journal tells of something new, and told by
    being newer than the newest that was in sight."""
    looks: list[str] = []
    given: dict[str, object] = {}
    for sought, name in _NAME.items():
        where, values = _passing(sought, asker)
        looks.append(
            f"(select '{name}' as kind, count(*), max(id) from (select {name}.id from "
            "(select j.item_id, count(*) as entries from journal j where j.tenant = :tenant and j.seq > :after "
            "and j.item_id is not null group by j.item_id) as written "
            f"cross join lateral {_LATEST[sought]} join items i on i.tenant = :tenant and i.id = {name}.item_id "
            f"where {name}.id > :since_{name} and {' and '.join(where)}) as those)"
        )
        given |= {**values, f"since_{name}": known.newest[sought]}
    come = {
        kind: (int(count), last) for kind, count, last in tx.all(" union all ".join(looks), after=known.seq, **given)
    }
    newest = {sought: come[name][1] or known.newest[sought] for sought, name in _NAME.items()}
    return replace(known, seq=seq, newest=newest, grown=known.grown + sum(count for count, _ in come.values()))


def _some_gone(tx: Tx, asker: Asker, known: Known) -> bool:
    """Whether texts of the asker's own were erased or taken back since, as headers tell. What others took out of a
    shared project is noticed when the asker's texts have grown: of what is gone nobody can tell who saw it."""
    sight = asker.sight
    owners = "true" if sight.users is None else "(j.user_id in :users[] or j.agent_id = :silo)"
    found = tx.one(
        "select 1 from journal j where j.tenant = :tenant and j.seq > :after "
        f"and (j.op = 'erase' or j.undoes is not null) and {owners} limit 1",
        after=known.seq,
        users=sorted(sight.users or ()),
        silo=sight.silo or "",
    )
    return found is not None


def _measured(tx: Tx, asker: Asker) -> Size:
    texts = _counted_up(tx, asker)
    size = Size(texts, {}, alone=False)
    if size.documents <= _SMALL:
        return size
    return replace(size, common=_common(tx, asker, texts), alone=_alone(tx))


def _counted_up(tx: Tx, asker: Asker) -> dict[Sought, Texts]:
    looks: list[str] = []
    given: dict[str, object] = {}
    for sought, name in _NAME.items():
        where, values = _passing(sought, asker)
        looks.append(
            f"(select '{name}' as kind, count(*), avg(octets)::float8, sum(vectors), max(id) from ("
            f"select {name}.id, d.octets, {_VECTORS[sought]} as vectors from {_OWN[sought]} "
            f"join docs d on d.tenant = :tenant and d.part = 0 and d.ref = '{sought.value}' || {name}.id "
            f"where i.tenant = :tenant and {' and '.join(where)} order by {name}.id desc limit :most) as newest)"
        )
        given |= values
    told = {kind: row for kind, *row in tx.all(" union all ".join(looks), most=_MOST, **given)}
    return {
        sought: Texts(int(count), max(1.0, float(length or 1)), int(vectors or 0), newest or "")
        for sought, (count, length, vectors, newest) in ((sought, told[name]) for sought, name in _NAME.items())
    }


def _common(tx: Tx, asker: Asker, texts: Mapping[Sought, Texts]) -> dict[str, int]:
    """About how many texts have each common word: by their share of the newest."""
    held: dict[str, int] = {}
    shares: dict[str, float] = {}
    for sought in Sought:
        where, values = _passing(sought, asker)
        rows = tx.all(
            f"select word.lexeme, count(*) from (select d.tsv from {_OWN[sought]} join docs d on d.tenant = :tenant "
            f"and d.part = 0 and d.ref = '{sought.value}' || {_NAME[sought]}.id where i.tenant = :tenant "
            f"and {' and '.join(where)} order by {_NAME[sought]}.id desc limit :sample) as newest, "
            "unnest(newest.tsv) as word group by word.lexeme having count(*) >= :told",
            sample=_SAMPLE,
            told=_TOLD,
            **values,
        )
        share = texts[sought].count / max(1, min(texts[sought].count, _SAMPLE))
        for lexeme, count in rows:
            held[lexeme] = held.get(lexeme, 0) + int(count)
            shares[lexeme] = shares.get(lexeme, 0.0) + count * share
    return {lexeme: round(shares[lexeme]) for lexeme, count in held.items() if count >= _COMMON}


def _alone(tx: Tx) -> bool:
    row = tx.one(
        "select (select count(*) from docs where tenant = :tenant), (select c.reltuples from pg_catalog.pg_class c "
        "where c.oid = (select d.tableoid from docs d where d.tenant = :tenant limit 1))"
    )
    assert row is not None
    return 0 < float(row[1] or 0) <= 2 * row[0]


def _counted(tx: Tx, asker: Asker, phrases: Sequence[str], size: Size) -> dict[str, int]:
    """Where few texts have a phrase, whoever may see them, those of the asker are told out of the index; where many
    have it, by looking through the asker's own."""
    counted = dict.fromkeys(phrases, 0)
    enough = _COUNTED if size.documents > _SMALL else _FIRST
    seen: list[str] = []
    given: dict[str, object] = {}
    for sought, name in _NAME.items():
        where, values = _passing(sought, asker)
        seen.append(
            f"left join lateral (select {name}.id from {_NAMED[sought]} where {name}.tenant = :tenant "
            f"and {name}.id = substr(hit.ref, 3) and hit.ref >= '{sought.value}' and hit.ref < '{sought.value}~' "
            f"and {' and '.join(where)} offset 0) as seen_{name} on true"
        )
        given |= values
    rows = tx.all(
        "select hit.phrase, count(*), count(distinct seen_e.id) + count(distinct seen_v.id) "
        f"from recollect_hits(:phrases, :most, :alone) as hit {' '.join(seen)} where :tenant <> '' group by hit.phrase",
        phrases=list(phrases),
        most=enough,
        alone=size.alone,
        **given,
    )
    counted |= {phrase: int(own) for phrase, texts, own in rows if texts < enough}
    many = sorted(phrase for phrase, texts, _ in rows if texts >= enough)
    look = _looked_through if size.documents <= _FEW else _looked_for
    for sought in Sought if many else ():
        for phrase, own in look(tx, sought, asker, many, size).items():
            counted[phrase] += own
    return {phrase: min(texts, size.documents) for phrase, texts in counted.items()}


def _looked_through(tx: Tx, sought: Sought, asker: Asker, phrases: Sequence[str], size: Size) -> dict[str, int]:
    """In how many of the texts of one kind that the asker may see these phrases are: each text is read once."""
    where, values = _passing(sought, asker)
    name = _NAME[sought]
    rows = tx.all(
        f"with own as materialized (select d.ref, d.tsv from {_OWN[sought]} join docs d on d.tenant = :tenant "
        f"and d.ref = '{sought.value}' || {name}.id where i.tenant = :tenant and {' and '.join(where)}) "
        "select asked.phrase, count(distinct own.ref) from unnest(:phrases::text[]) as asked (phrase) "
        "join own on own.tsv @@ phraseto_tsquery('words', asked.phrase) group by asked.phrase",
        phrases=list(phrases),
        **values,
    )
    return {phrase: int(count) for phrase, count in rows}


def _looked_for(tx: Tx, sought: Sought, asker: Asker, phrases: Sequence[str], size: Size) -> dict[str, int]:
    """The same where there are more texts, until enough are found; then by the share of the newest."""
    where, values = _passing(sought, asker)
    own = f"select {_NAME[sought]}.id from {_OWN[sought]} where i.tenant = :tenant and {' and '.join(where)}"
    holds = (
        f"exists (select 1 from docs d where d.tenant = :tenant and d.ref = '{sought.value}' || {{}}.id "
        "and d.tsv @@ phraseto_tsquery('words', asked.phrase))"
    )
    asked = "unnest(:phrases::text[]) as asked (phrase)"
    rows = tx.all(
        f"select asked.phrase, (select count(*) from ({own} and {holds.format(_NAME[sought])} limit :most) as few) "
        f"from {asked}",
        phrases=list(phrases),
        most=_COUNTED,
        **values,
    )
    found = {phrase: int(count) for phrase, count in rows}
    if many := [phrase for phrase, count in found.items() if count >= _COUNTED]:
        rows = tx.all(
            f"select asked.phrase, count(*) from ({own} order by 1 desc limit :sample) as newest, {asked} "
            f"where {holds.format('newest')} group by asked.phrase",
            phrases=many,
            sample=_SAMPLE,
            **values,
        )
        shares = {phrase: int(count) * size.texts[sought].count // _SAMPLE for phrase, count in rows}
        found |= {phrase: max(_COUNTED, shares.get(phrase, 0)) for phrase in many}
    return found


def _passing(sought: Sought, asker: Asker) -> Where:
    return (passing_events if sought is Sought.EVENTS else passing_items)(_EVERYTHING, asker.seen, asker.withheld)
