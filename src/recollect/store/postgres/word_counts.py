"""How common words are among the texts that an asker may read, and how long those are: what others wrote moves no
score.

Counts are remembered. Where a tenant has many entries they are counted anew only now and then.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

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
"""So many texts with a phrase are looked at one by one; beyond that, its share of the newest texts is taken for all."""
_SAMPLE = 2_000
_MOST = 20_000
"""More texts than that are not counted: the weights of words no longer change much."""
_DRIFT = 1.25
_SMALL = 5_000
_REMEMBERED = 20_000
_TEXTS = {
    Sought.EVENTS: "docs d join events e on e.tenant = :tenant and e.id = substr(d.ref, 3) "
    "join items i on i.tenant = :tenant and i.id = e.item_id",
    Sought.ITEMS: "docs d join versions v on v.tenant = :tenant and v.id = substr(d.ref, 3) "
    "join items i on i.tenant = :tenant and i.id = v.item_id",
}
_OWN = {
    Sought.EVENTS: "items i join events e on e.tenant = :tenant and e.item_id = i.id "
    "join docs d on d.tenant = :tenant and d.ref = 'e:' || e.id",
    Sought.ITEMS: "items i join versions v on v.tenant = :tenant and v.item_id = i.id "
    "join docs d on d.tenant = :tenant and d.ref = 'v:' || v.id",
}
"""The texts by way of the memories they belong to."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many texts an asker may see, and how long they are on average: as it was when the journal was this long."""

    seq: int
    documents: int
    events: float
    versions: float
    alone: bool
    """Most rows of its part of the table are the tenant's."""

    def average(self, sought: Sought) -> float:
        return self.events if sought is Sought.EVENTS else self.versions


@dataclass(frozen=True, slots=True)
class _Count:
    texts: int
    seq: int
    documents: int


class WordCounts:
    """Remembers counts, nothing else. Safe to be asked by several threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._sizes: dict[tuple[TenantId, Sight, Listed | None], Size] = {}
        self._unlisted: dict[tuple[TenantId, Listed], tuple[int, bool]] = {}
        self._counts: dict[tuple[TenantId, Sight, Listed | None, str], _Count] = {}

    def size(self, tx: Tx, sight: Sight, listed: Listed | None, seq: int) -> Size:
        known = self._sizes.get((tx.tenant, sight, listed))
        if known and known.seq <= seq <= (known.seq * _DRIFT if known.seq > _SMALL else known.seq):
            return known
        events, event_length = self._measured(tx, Sought.EVENTS, sight, listed)
        versions, version_length = self._measured(tx, Sought.ITEMS, sight, listed)
        size = Size(seq, events + versions, event_length, version_length, self._alone(tx))
        with self._guard:
            if len(self._sizes) > _REMEMBERED:
                self._sizes.clear()
            self._sizes[tx.tenant, sight, listed] = size
        return size

    def withholding(self, tx: Tx, listed: Listed | None, seq: int) -> Listed | None:
        """The list, or None where there is nothing that it could withhold."""
        if listed is None or not listed.evidence:
            return listed
        at, any = self._unlisted.get((tx.tenant, listed), (-1, False))
        if not any and at != seq:
            any = any_unlisted(tx, listed)
            with self._guard:
                if len(self._unlisted) > _REMEMBERED:
                    self._unlisted.clear()
                self._unlisted[tx.tenant, listed] = (seq, any)
        return listed if any else None

    def _measured(self, tx: Tx, sought: Sought, sight: Sight, listed: Listed | None) -> tuple[int, float]:
        where, values = _passing(sought, sight, listed)
        row = tx.one(
            f"select count(*), avg(octets)::float8 from (select d.octets from {_OWN[sought]} "
            f"where i.tenant = :tenant and d.part = 0 and {' and '.join(where)} limit :most) as few",
            most=_MOST,
            **values,
        )
        assert row is not None
        return int(row[0]), max(1.0, float(row[1] or 1))

    def _alone(self, tx: Tx) -> bool:
        row = tx.one(
            "select (select count(*) from docs where tenant = :tenant), (select c.reltuples from pg_catalog.pg_class c "
            "where c.oid = (select d.tableoid from docs d where d.tenant = :tenant limit 1))"
        )
        assert row is not None
        return 0 < float(row[1] or 0) <= 2 * row[0]

    def frequencies(
        self, tx: Tx, sight: Sight, listed: Listed | None, phrases: Sequence[str], seq: int, size: Size
    ) -> dict[str, int]:
        """In how many of the texts that the asker may see each phrase is; about so where it is in many."""
        found: dict[str, int] = {}
        unknown: list[str] = []
        for phrase in dict.fromkeys(phrases):
            known = self._counts.get((tx.tenant, sight, listed, phrase))
            if known and (known.seq == seq or (known.texts >= _COUNTED and _near(known.documents, size.documents))):
                found[phrase] = known.texts
            else:
                unknown.append(phrase)
        if unknown:
            counted = self._counted(tx, sight, listed, unknown, size)
            with self._guard:
                if len(self._counts) > _REMEMBERED:
                    self._counts.clear()
                for phrase, texts in counted.items():
                    self._counts[tx.tenant, sight, listed, phrase] = _Count(texts, seq, size.documents)
            found |= counted
        return found

    def _counted(
        self, tx: Tx, sight: Sight, listed: Listed | None, phrases: Sequence[str], size: Size
    ) -> dict[str, int]:
        counted = dict.fromkeys(phrases, 0)
        many: set[str] = set()
        for sought in Sought:
            where, values = _passing(sought, sight, listed)
            rows = tx.all(
                "select asked.phrase, count(*), count(seen.ref) from (select given.phrase "
                "from unnest(:phrases::text[]) as given (phrase) "
                "where numnode(phraseto_tsquery('words', given.phrase)) > 0 offset 0) as asked "
                "cross join lateral recollect_find("
                "array[asked.phrase], array[1.0::float8], :mark, 1.0::float8, :most, null, :alone) as hit "
                f"left join lateral (select d.ref from {_TEXTS[sought]} where d.tenant = :tenant and d.part = 0 "
                f"and d.ref = hit.ref and {' and '.join(where)}) as seen on true group by asked.phrase",
                phrases=list(phrases),
                mark=sought.value,
                most=_COUNTED,
                alone=size.alone,
                **values,
            )
            for phrase, texts, seen in rows:
                counted[phrase] += int(seen)
                if texts >= _COUNTED:
                    many.add(phrase)
        if many:
            counted |= self._estimated(tx, sight, listed, sorted(many), size)
        return {phrase: min(texts, size.documents) for phrase, texts in counted.items()}

    def _estimated(
        self, tx: Tx, sight: Sight, listed: Listed | None, phrases: Sequence[str], size: Size
    ) -> dict[str, int]:
        """By their share of the newest texts that the asker may see."""
        held = dict.fromkeys(phrases, 0)
        looked_at = 0
        for sought in Sought:
            where, values = _passing(sought, sight, listed)
            name = "e" if sought is Sought.EVENTS else "v"
            sample = (
                f"(select d.tsv from {_OWN[sought]} where i.tenant = :tenant and d.part = 0 and {' and '.join(where)} "
                f"order by {name}.id desc limit :sample) as sample"
            )
            rows = tx.all(
                f"select count(*), null from {sample} union all select count(*), asked.phrase from {sample}, "
                "unnest(:phrases::text[]) as asked (phrase) "
                "where sample.tsv @@ phraseto_tsquery('words', asked.phrase) group by asked.phrase",
                phrases=list(phrases),
                sample=_SAMPLE,
                **values,
            )
            for count, phrase in rows:
                if phrase is None:
                    looked_at += int(count)
                else:
                    held[phrase] += int(count)
        return {phrase: round(count * size.documents / max(looked_at, 1)) for phrase, count in held.items()}


def _passing(sought: Sought, sight: Sight, listed: Listed | None) -> Where:
    return (passing_events if sought is Sought.EVENTS else passing_items)(_EVERYTHING, sight, listed)


def _near(one: int, other: int) -> bool:
    return one <= other * _DRIFT and other <= one * _DRIFT
