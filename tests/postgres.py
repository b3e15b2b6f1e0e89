"""Databases for tests: each test that asks gets an empty one, and it is gone afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
from psycopg import sql

from recollect.ports import Store
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql import SqlStore


def database_url(server: str, name: str) -> str:
    """The URL of one database on the server that `server` is a URL of."""
    return urlsplit(server)._replace(path=f"/{name}").geturl()


@contextmanager
def fresh_database(server: str) -> Iterator[str]:
    """Makes an empty database, gives its URL, and drops it whoever is still connected."""
    name = f"test_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        # template0 has no sessions of its own, so workers never wait for each other to leave it.
        connection.execute(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
    try:
        yield database_url(server, name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@contextmanager
def opened_store(url: str) -> Iterator[Store]:
    """The store in a database, closed afterwards."""
    store = SqlStore(PostgresEngine(url, create=True))
    yield store
    store.close()


def drop_jobs(url: str) -> None:
    """Leaves nothing to do in a database that tests share."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("delete from recollect.jobs")
