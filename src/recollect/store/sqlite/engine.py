"""SQLite through apsw: WAL, a full sync at every commit, one writer at a time in order of arrival."""

import errno
import os
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, cast

import apsw

from recollect.domain.ids import TenantId
from recollect.errors import (
    Invalid,
    NotAStore,
    RecollectError,
    SchemaTooNew,
    Stale,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from recollect.holdings import Wanted
from recollect.store.migrations import Migration, migrations
from recollect.store.sqlite import schema
from recollect.store.sqlite.files import Files, files_gone
from recollect.store.sqlite.pages import Pages, read_header
from recollect.store.sqlite.turn import Queue, Turnstile
from recollect.store.sqlite.tx import ALONE, Connection, SqliteOutbox, SqliteTx, connect, no_room_for_index
from recollect.store.tx import Proposed, Sought, Tx
from recollect.store.unfinished import create, sync_directory, unfinished

if TYPE_CHECKING:
    from recollect.store.sqlite.finding import Finder
    from recollect.store.sqlite.resident.following import Position

APPLICATION_ID = 0x5EC0_11EC
_MIGRATIONS = "recollect.store.sqlite.migrations"
_HURRY = 2.0
_PROBING = 10.0
_PRAGMAS = (
    "journal_mode = wal",
    "synchronous = full",
    "wal_autocheckpoint = 4000",
    "secure_delete = on",
    "temp_store = memory",
)
_TAKEN = (
    apsw.SQLITE_CONSTRAINT_UNIQUE,
    apsw.SQLITE_CONSTRAINT_PRIMARYKEY,
    apsw.SQLITE_CONSTRAINT_ROWID,
)


class SqliteEngine:
    """One database file. Readers never wait; writers wait their turn, for as long as `patience` (seconds)."""

    key = "rid"
    among = "{0}.rid in :keys[] and +{0}.tenant = :tenant"  # the plus: no index on the tenant, the rows are known

    def __init__(
        self, path: Path, *, create: bool = True, patience: float = 60.0, bits_above: int | None = None
    ) -> None:
        self.path = path
        self._patience = patience
        self._closed = False
        self._lost = False
        self._alone = False
        self._idle: list[Connection] = []
        self._guard = threading.Lock()
        self._moment: ContextVar[Connection | None] = ContextVar("recollect_moment", default=None)
        self._queue = Queue()
        self._bits_above = bits_above
        self._found: Finder | None = None
        with typed(path):
            recognise(path, create)
            self._turnstile = Turnstile(path.with_name(path.name + "-turn"))
            try:
                with self._turnstile.pass_through(patience) as passed:
                    if not passed:
                        raise self._busy()
                    self._writer = self._connect_first()  # one at a time: two that turn WAL on meet without waiting
                    self._files = Files(path)
                self._migrate(migrations(_MIGRATIONS))
            except BaseException:
                self.close()
                raise

    def _connect(self) -> Connection:
        connection = connect(self.path, alone=self._alone)
        try:
            connection.set_busy_timeout(int(self._patience * 1000))
            for pragma in _PRAGMAS:
                connection.execute(f"pragma {pragma}").fetchall()
            _pragma(connection, "user_version")  # whoever reads has all files open
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_first(self) -> Connection:
        """The first connection. On a full disk there may be no room for the index of the log, without which nothing
        can be read: it is then kept in memory, and until the store is closed nobody else can open it."""
        try:
            return self._connect()
        except apsw.IOError as error:
            if not no_room_for_index(error):
                raise
            self._alone = True
            return self._connect()

    def _usable(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.path} is closed", "Open it again.")
        if self._lost:
            raise files_gone(self.path)

    def _check_files(self) -> None:
        """Refuses to go on where somebody removed or replaced a file of the store: what is written now would be lost,
        and what is read may be of another store. What was acknowledged and is in a removed log is brought into the
        database, where that is still the same."""
        if self._files.are_there():
            return
        self._lost = True
        if self._files.can_be_saved() and not self._writer.in_transaction:
            with suppress(apsw.Error):
                self._writer.execute("pragma wal_checkpoint(full)").fetchall()
        raise files_gone(self.path)

    def _connect_again(self) -> Connection:
        """One more connection, to the files that were opened first. Opening it would begin a new log where that is
        gone: files are looked at before it, and after it, since somebody may have been faster."""
        opened = self._connect() if self._files.are_there() else None
        if opened and self._files.are_there():
            return opened
        if opened:
            opened.close()
        self._lost = True
        if self._queue.take(0):  # else whoever writes now looks at the files when that is done
            try:
                self._check_files()
            finally:
                self._queue.leave()
        raise files_gone(self.path)

    # -- transactions -------------------------------------------------------------------------------------

    @contextmanager
    def read(self, tenant: TenantId) -> Generator[Tx]:
        with self._reading() as reader:
            yield SqliteTx(reader, tenant)

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        """One moment of the whole file. A read within a read sees the same moment."""
        self._usable()
        with typed(self.path):
            outer = self._moment.get()
            if outer is not None:
                yield outer
                return
            reader = self._take()
            inside = self._moment.set(reader)
            try:
                reader.execute("begin")
                yield reader
            finally:
                self._moment.reset(inside)
                self._put(reader)

    def _take(self) -> Connection:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        return self._connect_again()

    def _put(self, reader: Connection) -> None:
        if reader.in_transaction:
            reader.execute("rollback")
        with self._guard:
            if not self._closed:
                self._idle.append(reader)
                return
        reader.close()

    @contextmanager
    def write(self, tenant: TenantId) -> Generator[Tx]:
        with self._writing() as connection:
            yield SqliteTx(connection, tenant)

    @contextmanager
    def outbox(self) -> Generator[SqliteOutbox]:
        with self._writing() as connection:
            yield SqliteOutbox(connection)

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        self._usable()
        with typed(self.path):
            if not self._queue.take(self._patience):
                raise self._busy()
            try:
                self._check_files()
                with self._turnstile.pass_through(self._patience) as passed:
                    if not passed:
                        raise self._busy()
                    self._writer.execute("begin immediate")
                try:
                    yield self._writer
                    self._writer.execute("commit")
                    self._check_files()  # nothing is acknowledged that went into a file which is gone
                except BaseException:
                    if self._writer.in_transaction:
                        self._writer.execute("rollback")
                    raise
            finally:
                self._queue.leave()

    def _busy(self) -> StoreBusy:
        return StoreBusy(
            f"another process has kept {self.path} for {self._patience:g} s",
            "See which one holds it (recollect doctor), stop it, and try again.",
        )

    # -- schema -------------------------------------------------------------------------------------------

    def _migrate(self, known: list[Migration]) -> None:
        for migration in known[_pragma(self._writer, "user_version") :]:
            with self._writing() as connection:
                if _pragma(connection, "user_version") >= migration.number:
                    continue  # another process was faster
                schema.run(connection, migration)
                connection.execute(f"pragma application_id = {APPLICATION_ID}")
                connection.execute(f"pragma user_version = {migration.number}")

    # -- the rest of the port -----------------------------------------------------------------------------

    def tenants(self) -> list[TenantId]:
        with self._reading() as reader:
            return [TenantId(row[0]) for row in reader.execute("select tenant from tenants order by tenant")]

    def search(self, tx: Tx, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        return self._finder().search(tx, words, limit)

    def propose(self, tx: Tx, sought: Sought, wanted: Wanted, depth: int) -> Proposed:
        return self._finder().propose(tx, sought, wanted, depth)

    def _finder(self) -> "Finder":
        """Made when something is first looked for: it brings numpy along, which most commands do without."""
        from recollect.store.sqlite.finding import Finder

        with self._guard:
            if self._found is None:
                self._found = Finder(
                    self._newest, **({} if self._bits_above is None else {"bits_above": self._bits_above})
                )
            return self._found

    def _newest(self, tenant: TenantId) -> "Position | None":
        """Where a tenant's journal stands for somebody who begins to read now."""
        from recollect.store.sqlite.resident.following import position

        reader = self._take()
        try:
            reader.execute("begin")
            return position(SqliteTx(reader, tenant))
        finally:
            self._put(reader)

    def backup(self, target: Path) -> None:
        """An online copy: into a file beside the target first, moved into place when it is whole."""
        with typed(target), unfinished(target) as part:
            if target.exists() and target.samefile(self.path):
                raise Invalid(f"{target} is the store itself", "Name another file for the backup.")
            os.close(create(part))
            copy = connect(part)
            try:
                with self._reading() as reader, copy.backup("main", reader, "main") as work:
                    while not work.done:
                        work.step(1000)
                copy.execute("pragma journal_mode = delete").fetchall()
                copy.close()
                part.replace(target)
                sync_directory(target.parent)
            finally:
                copy.close()

    def scrub(self) -> bool:
        """Remove what is left of erased content in the write-ahead log, where old page images hold it, and in the free
        space of pages."""
        self._usable()
        with typed(self.path):
            if not self._queue.take(self._patience):
                return False
            try:
                self._check_files()
                self._writer.set_busy_timeout(int(_HURRY * 1000))
                return self._empty_log() and self._clean_pages()
            except apsw.FullError:
                return False  # what was erased stays erased; there is no room to clear up after it for now
            finally:
                self._writer.set_busy_timeout(int(self._patience * 1000))
                self._queue.leave()

    def _empty_log(self) -> bool:
        busy, _, _ = self._writer.execute("pragma wal_checkpoint(truncate)").fetchall()[0]
        return not busy

    def _clean_pages(self) -> bool:
        pages = Pages(self.path)
        keeper = self._connect_again()
        keeper.set_busy_timeout(int(_HURRY * 1000))
        try:
            unclean = pages.unclean()
            for _ in range(3 if unclean else 0):
                if self._empty_log() and _alone(keeper, self.path):
                    pages.clean(unclean)
                    # A revision by a connection that has read no page: everybody else forgets the pages they hold.
                    keeper.execute(f"pragma user_version = {_pragma(keeper, 'user_version')}")
                    keeper.execute("commit")
                    return True
            return not unclean
        finally:
            keeper.close()
            pages.close()

    def integrity(self) -> list[str]:
        self._usable()
        with typed(self.path):
            # A connection of its own: FTS5 holds the index against what the connection remembers of it, and one that
            # has read the index before others wrote to it finds damage where there is none.
            fresh = self._connect_again()
            try:
                found = [str(row[0]) for row in fresh.execute("pragma integrity_check")]
                return [*(line for line in found if line != "ok"), *schema.changes(fresh, migrations(_MIGRATIONS))]
            finally:
                fresh.close()

    def close(self) -> None:
        """May be repeated. Reads that are under way end in peace; a write is waited for."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        if hasattr(self, "_writer") and self._queue.take(self._patience):
            self._writer.close()
            self._queue.leave()
        self._turnstile.close()


def _alone(keeper: Connection, path: Path) -> bool:
    """Whether the connection could take the place of the writer while the log was still empty."""
    try:
        keeper.execute("begin immediate")
    except apsw.BusyError:
        return False
    if not path.with_name(path.name + "-wal").stat().st_size:
        return True
    keeper.execute("rollback")
    return False


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.execute(f"pragma {name}").fetchall()[0][0])


def recognise(path: Path, create: bool) -> None:
    """Refuse what is not a store of ours before touching it."""
    if path.is_dir():
        raise NotAStore(f"{path} is a directory", "Name a file for the store.")
    if not path.exists():
        if not create:
            raise NotAStore(f"there is no store at {path}", "Make one with: recollect init")
        if not path.parent.is_dir():
            raise NotAStore(f"the directory {path.parent} does not exist", "Create it first.")
        path.touch(mode=0o600)  # for its owner's eyes only; SQLite gives the files beside it the same mode
        return
    if path.stat().st_size == 0:
        return
    header = read_header(path)
    if not header.startswith(b"SQLite format 3\x00"):
        raise NotAStore(f"{path} is not a Recollect store", "Name another file; this one was left as it is.")
    owner, version, used = _marks(path, header)
    if owner != APPLICATION_ID and used:
        raise NotAStore(f"{path} is the database of another program", "Name another file; this one was left as it is.")
    known = len(migrations(_MIGRATIONS))
    if owner == APPLICATION_ID and version > known:
        raise SchemaTooNew(
            f"{path} has schema {version}, this Recollect knows up to {known}", "Install a newer Recollect."
        )


def _marks(path: Path, header: bytes) -> tuple[int, int, int]:
    """Whose database it is, at which version, and whether there is anything in it. Nothing is touched, a log that
    somebody left behind included."""
    if not path.with_name(path.name + "-wal").exists():
        return int.from_bytes(header[68:72]), int.from_bytes(header[60:64]), int.from_bytes(header[40:44])
    try:
        return _probed(path)
    except apsw.IOError as error:
        if not no_room_for_index(error):
            raise
        return _probed(path, ALONE)


def _probed(path: Path, vfs: str | None = None) -> tuple[int, int, int]:
    probe = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    try:
        probe.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        probe.set_busy_timeout(int(_PROBING * 1000))
        reading = cast(Connection, probe)
        reading.execute("begin")
        reader = cast(Connection, probe)
        return _pragma(reader, "application_id"), _pragma(reader, "user_version"), _pragma(reader, "schema_version")
    finally:
        probe.close()


@contextmanager
def typed(path: Path) -> Generator[None]:
    """SQLite's errors as ours: what happened, and what would help."""
    try:
        yield
    except RecollectError:
        raise
    except UnicodeEncodeError as error:
        raise Invalid("a text holds half of a surrogate pair", "Decode it as UTF-8 first.") from error
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError) as error:
        raise StoreBusy(f"{path} is held by another process", "Try again when it is done.") from error
    except apsw.FullError as error:
        raise StoreFull(
            f"there is no room left for {path}; nothing of this write was kept", "Free some disk space and try again."
        ) from error
    except (apsw.ReadOnlyError, PermissionError) as error:
        raise StoreReadOnly(
            f"{path} cannot be written", "Check the permissions of the file and of its directory."
        ) from error
    except apsw.CantOpenError as error:
        raise StoreReadOnly(
            f"{path} cannot be opened", "Check that its directory exists and that you may write there."
        ) from error
    except apsw.NotADBError as error:
        raise NotAStore(f"{path} is not a Recollect store", "Name another file; this one was left as it is.") from error
    except (apsw.CorruptError, UnicodeDecodeError) as error:
        raise StoreDamaged(
            f"{path} is damaged: {error}", "Keep the file, and restore a backup: recollect restore BACKUP"
        ) from error
    except apsw.ConstraintError as error:
        if getattr(error, "extendedresult", 0) not in _TAKEN:
            raise Invalid(f"{path} cannot hold this: {error}") from error
        raise Stale(f"another write came first: {error}", []) from error
    except (apsw.IOError, OSError) as error:
        if no_room_for_index(error):
            raise StoreFull(f"there is no room left beside {path}", "Free some disk space and try again.") from error
        match getattr(error, "errno", 0):
            case errno.ENOSPC:
                raise StoreFull(f"there is no room left for {path}", "Free some disk space and try again.") from error
            case errno.EROFS:
                raise StoreReadOnly(f"{path} is on a disk that cannot be written") from error
            case _:
                pass
        raise StoreError(f"{path} cannot be read or written: {error}", "Check the disk, then try again.") from error
    except apsw.Error as error:
        raise StoreError(f"{path} cannot be read or written: {error}") from error
