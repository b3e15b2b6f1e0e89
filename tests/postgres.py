"""Databases for tests: each test that asks gets an empty one, and it is gone afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
from psycopg import sql


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


def drop_jobs(url: str) -> None:
    """Leaves nothing to do in a database that tests share."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("delete from recollect.jobs")
