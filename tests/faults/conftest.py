"""The fixtures of the store suite, for what goes wrong around a store."""

from tests.store.conftest import (  # noqa: F401
    engine,
    found,
    other_store,
    postgres_store,
    postgres_url,
    sqlite_path,
    sqlite_store,
    store,
    world,
)
