"""The catalog of a tenant: what filters and sight ask of items, and which event or version is whose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from recollect.domain.query import Filters
from recollect.domain.scope import Sight
from recollect.holdings import Listed
from recollect.store.finding import of_episodes
from recollect.store.rows import micros
from recollect.store.sqlite.resident.columns import Columns, Mask
from recollect.store.tx import Row, Sought

_NAMES = ("user_id", "agent_id", "project_id", "thread_id", "run_id", "actor_id", "role", "topic_key", "category")
_WORDS = ("kind", "state", "visibility")
_TIMES = {"updated_at": 0, "valid_from": -(2**63), "valid_to": 2**63 - 1, "purge_at": 2**63 - 1, "begins": 0}
"""Times, and what stands for none: held since ever, for ever, never due."""

ITEM = (
    "i.id, i.user_id, i.agent_id, i.project_id, i.thread_id, i.run_id, i.actor_id, i.role, i.topic_key, "
    "i.category, i.kind, i.state, i.visibility, i.importance, i.core, i.pinned_min_level is not null, i.withdrawn, "
    "i.superseded_by is not null, i.updated_at, i.valid_from, i.valid_to, i.purge_at, "
    "coalesce(i.valid_from, i.origin_at)"
)
EVENT = "e.rid, e.item_id, e.role, octet_length(e.text), e.ts"
VERSION = "v.rid, v.item_id, null, octet_length(v.content), 0"
NOBODY = -1


def key(id: str) -> bytes:
    """A name in sixteen bytes: of a UUID its own, of anything else a digest."""
    if len(id) == 36:
        try:
            return UUID(id).bytes
        except ValueError:
            pass
    return blake2b(id.encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Withheld:
    """Private words of others: rows of events or versions, and ids of items."""

    rows: tuple[int, ...] = ()
    items: tuple[str, ...] = ()


NOTHING = Withheld()


class Catalog:
    """Items by the key of their id, events and R3 versions by their row in the file."""

    def __init__(self) -> None:
        self._numbers: dict[str | None, int] = {None: 0}
        self.items = Columns(
            **dict.fromkeys(_NAMES, np.int32),
            **dict.fromkeys(_WORDS, np.int16),
            **dict.fromkeys(_TIMES, np.int64),
            importance=np.int8,
            core=np.bool_,
            pinned=np.bool_,
            withdrawn=np.bool_,
            replaced=np.bool_,
            key="S16",
            speaker=np.int64,
        )
        self.docs = {
            sought: Columns(rid=np.int64, item=np.int32, role=np.int32, octets=np.int32, ts=np.int64)
            for sought in Sought
        }
        self._order: NDArray[np.int32] = np.empty(0, np.int32)

    @property
    def nbytes(self) -> int:
        names = sum(120 + len(name or "") for name in self._numbers)
        return self.items.nbytes + self._order.nbytes + names + sum(docs.nbytes for docs in self.docs.values())

    # -- rows in --------------------------------------------------------------------------------------------

    def put_items(self, rows: Sequence[Row]) -> None:
        """Rows of ITEM: new items, or others in the place of known ones."""
        if not rows:
            return
        keys = np.array(_keys([row[0] for row in rows]), "S16")
        made = self._item_columns(rows, keys)
        places = self.places(keys)
        known = places >= 0
        for name, column in made.items():
            if name != "speaker":
                self.items[name][places[known]] = column[known]
        if not known.all():
            self._add_items({name: column[~known] for name, column in made.items()})

    def _add_items(self, made: Mapping[str, NDArray[Any]]) -> None:
        new = np.argsort(made["key"], kind="stable")
        before = np.searchsorted(self.items["key"], made["key"][new], sorter=self._order)
        first = self.items.append(made)
        self._order = np.insert(self._order, before, (first + new).astype(np.int32))

    def _item_columns(self, rows: Sequence[Row], keys: NDArray[Any]) -> dict[str, NDArray[Any]]:
        _, *columns = zip(*rows, strict=True)
        count = len(_NAMES) + len(_WORDS)
        named, rest = columns[:count], columns[count:]
        made: dict[str, NDArray[Any]] = {
            name: np.array(self._interned(column), np.int32)
            for name, column in zip((*_NAMES, *_WORDS), named, strict=True)
        }
        for name, column in zip(("importance", "core", "pinned", "withdrawn", "replaced"), rest[:5], strict=True):
            made[name] = np.array(column)
        for (name, none), column in zip(_TIMES.items(), rest[5:], strict=True):
            made[name] = np.array([none if at is None else at for at in column], np.int64)
        return {**made, "key": keys, "speaker": np.full(len(rows), NOBODY, np.int64)}

    def _interned(self, names: Iterable[str | None]) -> list[int]:
        numbers = self._numbers
        return [numbers.setdefault(name, len(numbers)) for name in names]

    def drop_items(self, ids: Sequence[str]) -> None:
        """They are gone from the file: nothing of theirs passes."""
        places = self.places(np.array(_keys(ids), "S16"))
        self.items["withdrawn"][places[places >= 0]] = True

    def put_docs(self, sought: Sought, rows: Sequence[Row]) -> None:
        """Rows of EVENT or VERSION, in the order of their row in the file."""
        if rows:
            rid, owner, role, octets, ts = zip(*rows, strict=True)
            self.docs[sought].append(
                {
                    "rid": np.array(rid, np.int64),
                    "item": self.places(np.array(_keys(owner), "S16")).astype(np.int32),
                    "role": np.array(self._interned(role), np.int32),
                    "octets": np.array(octets, np.int32),
                    "ts": np.array(ts, np.int64),
                }
            )

    def put_speakers(self, rows: Sequence[Row]) -> None:
        """(item id, row of the version that speaks for it, or None)."""
        if rows:
            places = self.places(np.array(_keys([row[0] for row in rows]), "S16"))
            speakers = np.array([NOBODY if row[1] is None else row[1] for row in rows], np.int64)
            self.items["speaker"][places[places >= 0]] = speakers[places >= 0]

    # -- asking ---------------------------------------------------------------------------------------------

    def places(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        """Where the items of these keys are; -1 for one that is not here."""
        if not self.items.size:
            return np.full(len(keys), -1, np.int64)
        found = np.searchsorted(self.items["key"], keys, sorter=self._order)
        at = self._order[np.minimum(found, self.items.size - 1)].astype(np.int64)
        return np.where(self.items["key"][at] == keys, at, -1)

    def places_of(self, sought: Sought, rids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the events or versions of these rows are; -1 for one that is not here."""
        known = self.docs[sought]["rid"]
        if not len(known):
            return np.full(len(rids), -1, np.int64)
        at = np.minimum(np.searchsorted(known, rids), len(known) - 1)
        return np.where(known[at] == rids, at, -1)

    def places_of_items(self, ids: Sequence[str]) -> NDArray[np.int64]:
        return self.places(np.array(_keys(ids), "S16"))

    def holds_all(self, listed: Listed) -> bool:
        """Whether nothing is of a category that is not on the list."""
        return listed.evidence and bool(self.on(listed).all())

    def on(self, listed: Listed) -> Mask:
        """Which items are of a category on the list."""
        if listed.categories is None:
            return ~self._any_of("category", listed.without)
        return self._any_of("category", listed.categories)

    def episodes(self) -> Mask:
        return self._any_of("kind", ("episode",))

    def passing(
        self, sought: Sought, filters: Filters, sight: Sight, withheld: Withheld, among: Mask | None = None
    ) -> Mask | None:
        """Which events, or versions that speak, pass, among these; None where all do."""
        docs = self.docs[sought]
        if not self.items.size:
            return np.zeros(docs.size, np.bool_)
        asked = filters if sought is Sought.ITEMS else of_episodes(filters)
        items = ~self.items["withdrawn"] & self._filtered(asked) & self._seen(sight)
        if withheld.items:
            places = self.places(np.array(_keys(withheld.items), "S16"))
            items[places[places >= 0]] = False
        passed = items[docs["item"]] & (docs["item"] >= 0)
        if withheld.rows:
            rows = self.places_of(sought, np.array(withheld.rows, np.int64))
            passed[rows[rows >= 0]] = False
        if among is not None:
            passed &= among
        if sought is Sought.ITEMS:
            passed &= self.items["speaker"][docs["item"]] == docs["rid"]
            return None if passed.all() else passed
        if filters.role is not None:
            passed &= docs["role"] == self._number(filters.role)
        if filters.valid_at is not None:
            passed &= docs["ts"] <= micros(filters.valid_at)
        return None if passed.all() else passed

    def _number(self, name: str | None) -> int:
        return self._numbers.get(name, -1)

    def _filtered(self, filters: Filters) -> Mask:
        items = self.items
        passed = np.ones(items.size, np.bool_)
        for name in ("user_id", "agent_id", "project_id", "thread_id", "run_id", "actor_id", "role", "topic_key"):
            if (value := getattr(filters, name)) is not None:
                passed &= items[name] == self._number(value)
        for column, wanted in (("kind", filters.kinds), ("category", filters.categories)):
            if wanted is not None:
                passed &= self._any_of(column, wanted)
        living = self._any_of("state", filters.states)
        if filters.valid_at is not None:
            living |= items["replaced"] & self._any_of("state", ("archived",))
        passed &= living
        if filters.without:
            passed &= ~self._any_of("category", filters.without)
        for name in ("pinned", "core"):
            if (value := getattr(filters, name)) is not None:
                passed &= items[name] == value
        if filters.importance_min is not None:
            passed &= items["importance"] >= filters.importance_min
        if filters.importance_max is not None:
            passed &= items["importance"] <= filters.importance_max
        return self._timely(filters, passed)

    def _timely(self, filters: Filters, passed: Mask) -> Mask:
        items = self.items
        if filters.updated_after is not None:
            passed &= items["updated_at"] > micros(filters.updated_after)
        if filters.updated_before is not None:
            passed &= items["updated_at"] < micros(filters.updated_before)
        if filters.purge_due is not None:
            passed &= items["purge_at"] <= micros(filters.purge_due)
        if filters.valid_at is not None:
            at = micros(filters.valid_at)
            passed &= (items["begins"] <= at) & (items["valid_to"] > at)
        if filters.current_at is not None:
            at = micros(filters.current_at)
            passed &= (items["valid_from"] <= at) & (items["valid_to"] > at)
        return passed

    def _any_of(self, column: str, names: Iterable[str]) -> Mask:
        return np.isin(self.items[column], [self._number(name) for name in names])

    def _seen(self, sight: Sight) -> Mask:
        visibility = self.items["visibility"]
        seen = visibility == self._number("system")
        for name, word, column in (
            (sight.users, "user-private", "user_id"),
            (sight.projects, "project-shared", "project_id"),
            (None if sight.silo is None else {sight.silo}, "agent-silo", "agent_id"),
        ):
            own = visibility == self._number(word)
            if name is not None:
                seen |= own & self._any_of(column, name)
            elif word != "agent-silo":
                seen |= own
        return seen


def _keys(ids: Sequence[str]) -> list[bytes]:
    try:
        joined = bytes.fromhex("".join(ids).replace("-", ""))
    except ValueError:
        return [key(id) for id in ids]
    if len(joined) != 16 * len(ids) or any(len(id) != 36 for id in ids):
        return [key(id) for id in ids]
    return [joined[at : at + 16] for at in range(0, len(joined), 16)]
