"""The composition root: settings become a store, a clock and a Memory."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from socket import gethostname
from urllib.parse import urlsplit

import apsw

from recollect import minds
from recollect import settings as configuration
from recollect.care import checkup, recover, transfer
from recollect.care.checkup import Check, Verdict
from recollect.care.recover import Recovered
from recollect.clock import Clock, SystemClock
from recollect.custody import Deps
from recollect.domain.ids import JobId, TenantId
from recollect.domain.scope import Actor, Principal, Role, actor
from recollect.domain.turn import Mode
from recollect.errors import Forbidden, Invalid, NotAStore, NotFound, RecollectError, Refused, StoreError, checked
from recollect.jobs import schedule
from recollect.jobs.background import Background
from recollect.jobs.kind import Kind
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.memory import Memory
from recollect.minds import Minds
from recollect.policy import access
from recollect.policy.access import Action, Denied
from recollect.policy.categories import parse
from recollect.policy.upkeep import Upkeep
from recollect.ports import Embedder, Judge, Keeper, Store, Writer
from recollect.settings import Settings
from recollect.store.migrations import migrations
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.store.sql import SqlStore
from recollect.store.sqlite import swap
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.tx import Engine
from recollect.write.extraction import Caps

SAFE_SQLITE = "3.51.3"  # the first without the bug that could corrupt a write-ahead log when it is reset


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back, and where the store is that it replaced."""

    found: Recovered
    aside: Path | None


def open_memory(
    store: str | Path | None = None,
    *,
    tenant: str | None = None,
    user: str | None = None,
    role: str | None = None,
    agent: str | None = None,
    embedder: Embedder | None = None,
    writer: Writer | None = None,
    judge: Judge | None = None,
    keeper: Keeper | None = None,
    clock: Clock | None = None,
) -> Memory:
    """Memory in a file or a PostgreSQL database, made on first use.

    Without arguments it is your own, in ~/.recollect/memory.db. Who opens a store owns it: the role is admin unless
    another is named. A model given here is used instead of that of the settings.
    """
    chosen = configuration.load(
        {
            "store": None if store is None else str(store),
            "tenant": tenant,
            "user": user,
            "role": role,
            "agent": agent,
        }
    )
    given = minds.chosen(chosen, embedder=embedder, writer=writer, judge=judge, keeper=keeper)
    return connect(chosen, clock=clock, create=True, given=given, background=True)


def connect(
    settings: Settings,
    *,
    clock: Clock | None = None,
    create: bool = False,
    given: Minds | None = None,
    background: bool = False,
) -> Memory:
    """Memory as the settings describe it. Without `create`, a store that is not there is an error. With `background`,
    what a write leaves for later is done by a thread of this program; without, by a server or a worker."""
    deps = dependencies(settings, clock=clock, create=create, given=given)
    deps = replace(deps, judged=_worker(deps, settings, {"judge": KINDS["judge"]}).run_until_done)
    if background:
        crew = Background(lambda: _worker(deps, settings, errands()))
        deps = replace(deps, wake=crew.wake, rest=crew.close)
    try:
        if create:
            _make_tenant(deps, settings.tenant)
        elif settings.tenant not in deps.store.tenants():
            raise Invalid(
                f"there is no tenant {settings.tenant!r} in this store",
                f"Create it with: recollect init --tenant {settings.tenant}",
            )
        memory = Memory(deps, principal(settings))
        _forget_again(deps, settings.tenant)
        return memory
    except BaseException:
        deps.store.close()
        raise


def _make_tenant(deps: Deps, tenant: TenantId) -> None:
    if deps.store.create_tenant(tenant, at=deps.clock.now()):
        schedule.ensure(deps.store, tenant, deps.clock.now())


def _forget_again(deps: Deps, tenant: TenantId) -> None:
    """What was erased stays erased, also in a file that was copied back by hand or an import that was cut off."""
    transfer.erase_again(deps.store, deps.erasures, tenant, actor=_KEEPER, at=deps.clock.now())


_KEEPER = Actor(id="recollect", role=Role.ADMIN)


def incoming(settings: Settings, *, clock: Clock | None = None) -> Memory:
    """Memory of a tenant that is still to come: an import makes it."""
    return Memory(dependencies(settings, clock=clock, create=True), principal(settings))


def worker(settings: Settings, *, clock: Clock | None = None) -> Worker:
    """A worker for the jobs of all tenants, whose recurring jobs it makes sure of."""
    return workers(dependencies(settings, clock=clock), settings)


def workers(deps: Deps, settings: Settings) -> Worker:
    """A worker over what is open already."""
    clockwork = schedule.Schedule(deps.store, deps.clock)
    clockwork.keep()
    return _worker(deps, settings, KINDS, clockwork.keep)


def errands(kinds: Mapping[str, Kind] = KINDS) -> Mapping[str, Kind]:
    """The kinds that follow from a write, as opposed to those that come by the clock."""
    return {name: kind for name, kind in kinds.items() if kind.every is None}


def _worker(
    deps: Deps, settings: Settings, kinds: Mapping[str, Kind], prepare: Callable[[], None] = lambda: None
) -> Worker:
    return Worker(
        deps=deps,
        kinds=kinds,
        name=f"{gethostname()}:{os.getpid()}",
        lease=timedelta(seconds=settings.lease),
        cap=settings.job_cap,
        prepare=prepare,
    )


def dependencies(
    settings: Settings, *, clock: Clock | None = None, create: bool = False, given: Minds | None = None
) -> Deps:
    beside = sidecar(settings)
    given = given or minds.chosen(settings)
    lists: Mapping[str, object] = configuration.read_categories(settings.categories) if settings.categories else {}
    return Deps(
        store=open_store(settings, create=create),
        clock=clock or SystemClock(),
        erasures=_erasures(settings),
        seal=FileSeal(beside.with_name(beside.name + ".key")),
        embedder=given.embedder,
        writer=given.writer,
        judge=given.judge,
        keeper=given.keeper,
        categories=parse(lists),
        caps=Caps(settings.turn_cap, settings.day_cap),
        upkeep=_upkeep(settings),
        mode=Mode(settings.escalation_mode),
        repositories=settings.repositories,
    )


def _erasures(settings: Settings) -> FileErasures:
    beside = sidecar(settings)
    return FileErasures(beside.with_name(beside.name + ".erasures"))


def _upkeep(settings: Settings) -> Upkeep:
    with checked():
        return Upkeep(
            quiet=timedelta(minutes=settings.episode_idle),
            lock=timedelta(minutes=settings.lock_minutes),
            summary_after=timedelta(days=settings.summary_days),
            packet_after=timedelta(days=settings.packet_days),
            archive_after=timedelta(days=settings.archive_days),
            expire_after=timedelta(days=settings.expire_days),
        )


def principal(settings: Settings) -> Principal:
    role = Role.AGENT if settings.agent else settings.role
    with checked():
        return Principal(tenant=settings.tenant, id=settings.user, role=role, agent_id=settings.agent)


def open_store(settings: Settings, *, create: bool = False) -> Store:
    """The store that the settings name."""
    if settings.postgres:
        return SqlStore(_postgres(settings, create))
    path = Path(settings.store).expanduser()
    if create:
        _make_home(settings, path)
    return SqlStore(SqliteEngine(path, create=create, patience=settings.patience))


def _make_home(settings: Settings, path: Path) -> None:
    if path.parent == settings.home:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)


def _postgres(settings: Settings, create: bool) -> Engine:
    try:
        from recollect.store.postgres.engine import PostgresEngine
    except ImportError as error:
        raise StoreError(
            f"PostgreSQL needs a package that is not installed ({error.name})",
            "Install it with: pip install 'recollect[postgres]'",
        ) from None
    return PostgresEngine(settings.store, create=create, patience=settings.patience)


def place(settings: Settings) -> str:
    """Where the store is, in words that hold no password."""
    if not settings.postgres:
        return str(Path(settings.store).expanduser().absolute())
    address = urlsplit(settings.store)
    host = address.netloc.rpartition("@")[2]
    return f"{address.scheme}://{host}{address.path}"


def sidecar(settings: Settings) -> Path:
    """The name that files beside the store start with."""
    if not settings.postgres:
        return Path(settings.store).expanduser()
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = settings.store.rpartition("@")[2].partition("?")[0]
    return settings.home / f"postgres-{hashlib.sha256(place.encode()).hexdigest()[:12]}"


# -- the whole store ----------------------------------------------------------------------------------------


def back_up(settings: Settings, target: Path) -> None:
    """A whole copy of the store with all its tenants, while it is in use. For who runs the store."""
    _must(settings, Action.EXPORT)
    store = open_store(settings)
    try:
        store.backup(target)
    finally:
        store.close()


def restore(settings: Settings, backup: Path, *, replace: bool = False, clock: Clock | None = None) -> Restored:
    """A backup becomes the store, examined first and rid of what was erased since it was made.

    A SQLite store that is there is set aside, and only when `replace` says so. A PostgreSQL database must be empty.
    """
    _must(settings, Action.IMPORT)
    if not backup.is_file():
        raise NotFound(f"there is no backup at {backup}", "Check the name.")
    if settings.postgres:
        return _restore_database(settings, backup, clock or SystemClock())
    return _restore_file(settings, backup, replace, clock or SystemClock())


def _restore_file(settings: Settings, backup: Path, over: bool, clock: Clock) -> Restored:
    target = Path(settings.store).expanduser()
    if target.exists():
        if target.samefile(backup):
            raise Invalid(f"{backup} is the store itself", "Name a backup of it.")
        if not over:
            raise Refused(f"there is a store at {target}", "With --replace it is set aside; nothing of it is removed.")
    _make_home(settings, target)
    if not target.parent.is_dir():
        raise NotAStore(f"the directory {target.parent} does not exist", "Create it first.")
    with swap.workbench(target) as bench:
        packed = recover.is_packed(backup)
        if not packed:
            swap.copy_store(backup, bench)
        store = SqlStore(SqliteEngine(bench, create=packed, patience=settings.patience))
        try:
            if packed:
                recover.unpack(store, backup)
            found = recover.make_ready(store, _erasures(settings), actor=actor(principal(settings)), at=clock.now())
        finally:
            store.close()
        return Restored(found, swap.put_in_place(bench, target, clock.now()))


_RESTORE = "restore"
"""What is left to do of a restore, as long as it was not finished: another try goes on from there."""


def _restore_database(settings: Settings, backup: Path, clock: Clock) -> Restored:
    if not recover.is_packed(backup):
        raise NotAStore(
            f"{backup} is not a backup of a PostgreSQL store",
            "Move a tenant from SQLite to PostgreSQL with: recollect export, then recollect import",
        )
    store = open_store(settings, create=True)
    try:
        if not all(store.jobs(tenant, open_only=True, key=_RESTORE) for tenant in store.tenants()):
            raise Refused("the database is not empty", "Name an empty one: a restore does not mix stores.")
        recover.unpack(store, backup, lambda: [transfer.erasing_again(JobId(clock.mint()), clock.now(), _RESTORE)])
        found = recover.make_ready(store, _erasures(settings), actor=actor(principal(settings)), at=clock.now())
        seal = FileSeal(sidecar(settings).with_name(sidecar(settings).name + ".key"))
        again = {transfer.AGAIN: KINDS[transfer.AGAIN]}
        _worker(Deps(store, clock, _erasures(settings), seal), settings, again).run_until_idle()
        return Restored(found, None)
    finally:
        store.close()


def examine(settings: Settings, *, clock: Clock | None = None) -> Iterator[Check]:
    """Everything that can be looked at without knowing what memory says."""
    _must(settings, Action.VERIFY)
    _must(settings, Action.OVERSEE)
    yield checkup.interpreter()
    path = Path(settings.store).expanduser()
    if not settings.postgres:
        yield checkup.library("SQLite", apsw.sqlite_lib_version(), SAFE_SQLITE)
    try:
        deps = dependencies(settings, clock=clock)
    except RecollectError as error:
        yield checkup.unreachable(error)
        return
    try:
        yield from _examine(settings, deps, path)
    finally:
        deps.store.close()


def _examine(settings: Settings, deps: Deps, path: Path) -> Iterator[Check]:
    engine = "postgres" if settings.postgres else "sqlite"
    tenants = deps.store.tenants()
    yield Check("store", Verdict.WELL, f"{place(settings)}, tenants: {len(tenants)}")
    newest = len(migrations(f"recollect.store.{engine}.migrations"))
    yield Check("schema", Verdict.WELL, f"{newest}, the newest this Recollect knows")
    yield checkup.models([one.name for one in (deps.embedder, deps.keeper, deps.judge) if one])
    beside = sidecar(settings)
    endings = ("", "-wal", ".erasures", ".key", ".server", ".token")
    files = [beside.with_name(beside.name + ending) for ending in endings]
    yield checkup.privacy(files)
    if not settings.postgres:
        yield checkup.writable(path)
        yield checkup.room(path)
    yield checkup.engine(deps.store)
    for tenant in tenants:
        yield from checkup.tenant(deps.store, deps.erasures, tenant, deps.clock.now())


def _must(settings: Settings, action: Action) -> None:
    answer = access.may(principal(settings), action)
    if isinstance(answer, Denied):
        raise Forbidden(answer.why)
