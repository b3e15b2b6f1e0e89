"""The composition root: settings become a store, a clock and a Memory."""

import hashlib
from pathlib import Path

from recollect import settings as configuration
from recollect.clock import Clock, SystemClock
from recollect.domain.scope import Principal, Role
from recollect.errors import Invalid, StoreError
from recollect.memory import Deps, Memory
from recollect.ports import Store
from recollect.settings import Settings
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.tx import Engine


def open_memory(
    store: str | Path | None = None,
    *,
    tenant: str | None = None,
    user: str | None = None,
    role: str | None = None,
    agent: str | None = None,
    clock: Clock | None = None,
) -> Memory:
    """Memory in a file or a PostgreSQL database, made on first use.

    Without arguments it is your own, in ~/.recollect/memory.db. Who opens a store owns it: the role is admin unless
    another is named.
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
    return connect(chosen, clock=clock, create=True)


def connect(settings: Settings, *, clock: Clock | None = None, create: bool = False) -> Memory:
    """Memory as the settings describe it. Without `create`, a store that is not there is an error."""
    deps = dependencies(settings, clock=clock, create=create)
    if create:
        deps.store.create_tenant(settings.tenant, at=deps.clock.now())
    elif settings.tenant not in deps.store.tenants():
        deps.store.close()
        raise Invalid(
            f"there is no tenant {settings.tenant!r} in this store",
            f"Create it with: recollect init --tenant {settings.tenant}",
        )
    return Memory(deps, principal(settings))


def dependencies(settings: Settings, *, clock: Clock | None = None, create: bool = False) -> Deps:
    beside = sidecar(settings)
    return Deps(
        store=open_store(settings, create=create),
        clock=clock or SystemClock(),
        erasures=FileErasures(beside.with_name(beside.name + ".erasures")),
        seal=FileSeal(beside.with_name(beside.name + ".key")),
    )


def principal(settings: Settings) -> Principal:
    role = Role.AGENT if settings.agent else settings.role
    return Principal(tenant=settings.tenant, id=settings.user, role=role, agent_id=settings.agent)


def open_store(settings: Settings, *, create: bool = False) -> Store:
    """The store that the settings name."""
    if settings.postgres:
        return SqlStore(_postgres(settings, create))
    path = Path(settings.store).expanduser()
    if create and path.parent == settings.home:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return SqlStore(SqliteEngine(path, create=create, patience=settings.patience))


def _postgres(settings: Settings, create: bool) -> Engine:
    try:
        from recollect.store.postgres.engine import PostgresEngine
    except ImportError as error:
        raise StoreError(
            f"PostgreSQL needs a package that is not installed ({error.name})",
            "Install it with: pip install 'recollect[postgres]'",
        ) from None
    return PostgresEngine(settings.store, create=create, patience=settings.patience)


def sidecar(settings: Settings) -> Path:
    """The name that files beside the store start with."""
    if not settings.postgres:
        return Path(settings.store).expanduser()
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = settings.store.rpartition("@")[2].partition("?")[0]
    return settings.home / f"postgres-{hashlib.sha256(place.encode()).hexdigest()[:12]}"
