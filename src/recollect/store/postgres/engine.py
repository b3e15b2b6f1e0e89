"""PostgreSQL through psycopg: row locks and read committed for writes, one snapshot for each read."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import psycopg

from recollect.domain.ids import TenantId
from recollect.errors import RecollectError, StoreError
from recollect.holdings import Wanted
from recollect.store import dumping
from recollect.store.migrations import migrations
from recollect.store.postgres import health
from recollect.store.postgres.address import read_address
from recollect.store.postgres.copying import write_backup
from recollect.store.postgres.failures import typed
from recollect.store.postgres.finding import Finder, place_of_vectors
from recollect.store.postgres.moment import Moment, joined
from recollect.store.postgres.planner_statistics import TextsWritten, analyze_grown
from recollect.store.postgres.pool import Connection, Pool
from recollect.store.postgres.schema import prepare
from recollect.store.postgres.session import CLAIM, READ, WRITE, Kind, Session, transaction
from recollect.store.postgres.statement import translate
from recollect.store.postgres.tx import PostgresOutbox, PostgresTx
from recollect.store.postgres.words import folded
from recollect.store.tx import Proposed, Sought, Tx
from recollect.store.words import phrases

SMALLEST_INDEXED = 32
"""Shorter vectors are compared one by one."""
_MIGRATIONS = "recollect.store.postgres.migrations"
_HURRY = 2.0
_NOBODY = TenantId("")
_CLAIMING = 0x5EC0_11EC_0002


class PostgresEngine:
    """One database, shared with any number of other processes.

    The login that makes the store owns its tables; every transaction runs as a role that does not. Locks are waited
    for as long as `patience` (seconds). `prepare_after` is for servers reached directly: a statement seen so many
    times is planned once per connection, which a pooler that lends connections per transaction may not allow.
    """

    key = "id"
    among = "{0}.tenant = :tenant and {0}.id in :keys[]"

    def __init__(
        self,
        url: str,
        *,
        create: bool = True,
        patience: float = 60.0,
        connections: int = 16,
        prepare_after: int | None = None,
    ) -> None:
        self.address = read_address(url, patience=patience)
        self._patience = patience
        self._indexed: set[tuple[str, int]] = set()
        self._texts = TextsWritten()
        self._pool = Pool(self.address, size=connections, patience=patience, prepare_after=prepare_after)
        known = migrations(_MIGRATIONS)
        try:
            with self._pool.lent() as connection:
                prepare(connection, self.address, known, create=create, patience=patience)
                self._finder = Finder(place_of_vectors(connection))
        except BaseException:
            self._pool.close()
            raise

    # -- transactions -------------------------------------------------------------------------------------

    @contextmanager
    def read(self, tenant: TenantId) -> Generator[Tx]:
        moment = joined(self._pool) or Moment(self._pool, self._transaction(READ, tenant))
        with self._typed(), moment as session:
            yield PostgresTx(session, tenant, for_update="")

    @contextmanager
    def write(self, tenant: TenantId) -> Generator[Tx]:
        with self._transaction(WRITE, tenant) as session:
            tx = PostgresTx(session, tenant, for_update="for update")
            yield tx
        for embedder, dimension in tx.embedded - self._indexed:
            self._index(embedder, dimension)
        if self._texts.due(tx.texts):
            with suppress(RecollectError), self._maintaining() as connection:  # the write itself is done
                analyze_grown(connection)

    def _index(self, embedder: str, dimension: int) -> None:
        """An index for the vectors of an embedder that was not used here before. It is tried when the first ones are
        written; where writers keep it out, the next process tries again, and until then vectors are compared one by
        one."""
        self._indexed.add((embedder, dimension))
        if dimension < SMALLEST_INDEXED:
            return
        with suppress(StoreError), transaction(self._pool, self.address, WRITE, _NOBODY, patience=_HURRY) as session:
            session.send(
                translate("select recollect_index_vectors(:embedder, :dimension)"),
                {"embedder": embedder, "dimension": dimension},
            )

    @contextmanager
    def outbox(self) -> Generator[PostgresOutbox]:
        with self._transaction(CLAIM, _NOBODY) as session:
            # Claims come one after the other: two that count at once would both find room under a tenant's cap.
            session.send(translate("select pg_advisory_xact_lock(:key)"), {"key": _CLAIMING})
            yield PostgresOutbox(session)

    def _transaction(self, kind: Kind, tenant: TenantId) -> AbstractContextManager[Session]:
        return transaction(self._pool, self.address, kind, tenant, patience=self._patience)

    # -- the rest of the port -----------------------------------------------------------------------------

    def tenants(self) -> list[TenantId]:
        with self._transaction(READ, _NOBODY) as session:
            return _tenants(session)

    def search(self, tx: Tx, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        wanted = [text for word in words for phrase in phrases(word) if (text := folded(phrase)).strip()]
        if not wanted:
            return []
        found = tx.all(
            "select ref, score from recollect_search(:words, :limit) where current_setting('app.tenant') = :tenant",
            words=wanted,
            limit=limit,
        )
        return [(ref, score) for ref, score in found]

    def propose(self, tx: Tx, sought: Sought, wanted: Wanted, depth: int) -> Proposed:
        return self._finder.propose(tx, self, sought, wanted, depth)

    def backup(self, target: Path) -> None:
        """A copy of all tenants from one moment, as lines of JSON (gzip): a header, then for every tenant a line with
        its name and its rows as `dump` gives them."""
        with self._transaction(READ, _NOBODY) as session:
            write_backup(target, _lines(session))

    def scrub(self) -> bool:
        """Take erased rows out of tables and indexes (VACUUM). What the server keeps beyond that is out of reach: the
        free space of its pages until it is written over, single words without a place in the text index, its log
        (WAL), replicas and backups."""
        with self._maintaining() as connection:
            if not health.may_vacuum(connection):
                raise StoreError(
                    f"this login may not vacuum {self.address}: what was erased stays in its files for now",
                    "Open the store as its owner, or let the owner run: vacuum",
                )
            return health.vacuum(connection)

    def integrity(self) -> list[str]:
        """Indexes that are not valid, tables or roles whose protection was taken off, and what somebody changed about
        the schema."""
        with self._maintaining() as connection:
            return health.findings(connection, migrations(_MIGRATIONS))

    @contextmanager
    def _maintaining(self) -> Generator[Connection]:
        """A connection as the login itself, outside of a transaction."""
        with self._pool.lent() as connection, self._typed():
            yield connection

    @contextmanager
    def _typed(self) -> Generator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise typed(error, self.address) from error

    def close(self) -> None:
        self._pool.close()


def _tenants(session: Session) -> list[TenantId]:
    return [TenantId(row[0]) for row in session.send(translate("select recollect_tenants()"), {}).fetchall()]


def _lines(session: Session) -> Iterator[Mapping[str, object]]:
    for tenant in _tenants(session):
        yield {"tenant": tenant}
        yield from dumping.dump(PostgresTx(session, tenant, for_update=""))
