"""The same worlds as the store's suite: every engine in turn, a tenant of its own for each test."""

from tests.store.conftest import (  # noqa: F401
    engine,
    found,
    postgres_store,
    postgres_url,
    sqlite_path,
    sqlite_store,
    store,
    world,
)
