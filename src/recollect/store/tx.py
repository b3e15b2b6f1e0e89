"""One transaction of one tenant: the choke point that every statement passes.

SQL is written once for both engines, with `:name` for a value and `:name[]` for a list behind `in`. A statement
that does not bind `:tenant` is refused here, whatever it does; PostgreSQL's row level security stands behind it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from recollect.domain.ids import TenantId
from recollect.holdings import Vector, Wanted

Row = tuple[Any, ...]
Key = str | int


class Text(NamedTuple):
    """A text that the text index holds: of which event or version, and what that is called by besides."""

    ref: str
    item_id: str
    text: str
    names: str


class Sought(Enum):
    """What a query looks for, and how its references begin."""

    EVENTS = "e:"
    ITEMS = "v:"


@dataclass(frozen=True, slots=True)
class Proposed:
    """Candidates of an engine's indexes by the key of their event or version, each index best first.

    `more_text` / `more_cosine`: whether that index might have more. `documents` and `frequency` as in Hits.
    `confirmed`: the rows of those that pass, where the engine has looked already.
    """

    text: Mapping[Key, float]
    cosine: Mapping[Key, float]
    more_text: bool
    more_cosine: bool
    documents: int
    frequency: Mapping[str, int]
    confirmed: Mapping[Key, Row] = field(default_factory=dict[Key, Row])


class Tx(Protocol):
    """A transaction in which only one tenant's rows are in reach."""

    tenant: TenantId
    for_update: str
    """What an engine with row locks appends to a select."""

    def all(self, sql: str, **values: object) -> list[Row]: ...

    def one(self, sql: str, **values: object) -> Row | None: ...

    def run(self, sql: str, **values: object) -> int:
        """Execute; the number of rows changed."""
        ...

    def do(self, sql: str, **values: object) -> None:
        """Execute; nobody asks how many rows that changed, so nobody waits for the answer."""
        ...

    def many(self, sql: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Execute once per row."""
        ...

    def each(self, sql: str, **values: object) -> Iterator[Row]:
        """Rows one by one, for results that may not fit into memory."""
        ...

    def lock_items(self, columns: str, ids: Sequence[str]) -> list[Row]:
        """These columns of the items with these ids, locked in the order of their ids where the engine locks rows."""
        ...

    def keep(self, table: str, ids: Sequence[str]) -> None:
        """These events or versions are neither erased nor hidden before this transaction ends. Where rows are locked
        it waits for those who are at it; what is read after it is what is left."""
        ...

    def add_text(self, ref: str, item_id: str, text: str, names: str) -> None:
        """Put the text of an event or a version that is written into the text index, and what it is called by."""
        ...

    def add_vectors(self, vectors: Sequence[Vector], rev: int) -> None:
        """Keep embeddings; a newer one of the same text replaces the older."""
        ...

    def vectors(self) -> Iterator[tuple[str, str, int, bytes]]:
        """(embedder, ref, revision, values) of all embeddings."""
        ...

    def drop_text(self, ref: str, text: str, names: str) -> None:
        """Take a text and its names, as they were put in, out of the text index so that nothing of it is left."""
        ...

    def misindexed(self, texts: Callable[[], Iterator[Text]]) -> Iterator[tuple[str, str]]:
        """Where the text index holds anything but these texts: what, and how."""
        ...


class Engine(Protocol):
    """What differs between the engines."""

    key: str
    """The column of events and versions that candidates are named by."""
    among: str
    """The condition that a row of the table {0} is one of the tenant's :keys[]."""

    def read(self, tenant: TenantId) -> AbstractContextManager[Tx]:
        """A consistent view."""
        ...

    def write(self, tenant: TenantId) -> AbstractContextManager[Tx]:
        """Committed as the block ends, undone if it raises."""
        ...

    def outbox(self) -> AbstractContextManager["Outbox"]:
        """A transaction over the jobs of all tenants, and nothing else; one at a time."""
        ...

    def tenants(self) -> list[TenantId]: ...

    def search(self, tx: Tx, words: Sequence[str], limit: int) -> Iterable[tuple[str, float]]:
        """(ref, score) of the indexed texts with any of the words, best first."""
        ...

    def propose(self, tx: Tx, sought: Sought, wanted: Wanted, depth: int) -> Proposed:
        """At least the best `depth` texts and vectors that pass the filters and are in sight, as far as the indexes
        know; whoever asked confirms them."""
        ...

    def backup(self, target: Path) -> None: ...

    def scrub(self) -> bool: ...

    def integrity(self) -> list[str]: ...

    def close(self) -> None: ...


class Outbox(Protocol):
    """The jobs of all tenants, for the claim alone. It is the one view that is not bound to a tenant."""

    def all(self, sql: str, **values: object) -> list[Row]: ...


def bound(sql: str) -> str:
    """The statement, or an error when it names no tenant: no query can forget it."""
    if ":tenant" not in sql:
        raise AssertionError(f"a statement without its tenant: {sql[:80]}")
    return sql
