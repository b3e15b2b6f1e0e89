import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from bench.postgres import start_postgres, temporary_postgres
from tests.postgres import fresh_database


def test_the_server_is_recent_enough(postgres_server: str):
    with psycopg.connect(postgres_server) as connection:
        assert connection.info.server_version >= 150000


def test_two_databases_are_separate(postgres_server: str, postgres_database: str):
    with fresh_database(postgres_server) as other:
        with psycopg.connect(postgres_database) as connection:
            connection.execute("create table only_here (x int)")
        with psycopg.connect(other) as connection, pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select x from only_here")


def test_a_database_is_dropped_although_somebody_is_still_connected(postgres_server: str):
    with fresh_database(postgres_server) as url:
        psycopg.connect(url)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(url)


def test_vectors_can_be_compared(postgres_database: str):
    with psycopg.connect(postgres_database) as connection:
        connection.execute("create extension vector")
        assert connection.execute("select '[3,0]'::vector <-> '[0,4]'").fetchone() == (5.0,)


def test_letters_beyond_ascii_are_folded(postgres_database: str):
    with psycopg.connect(postgres_database) as connection:
        assert connection.execute("select lower('ÄÉЖ')").fetchone() == ("äéж",)


def test_a_killed_server_keeps_what_was_committed():
    with temporary_postgres() as first:
        with psycopg.connect(first.url, autocommit=True) as connection:
            assert connection.execute("show fsync").fetchone() == ("on",)
            connection.execute("create table kept as select 1 as x")
            first.kill()
            with pytest.raises(psycopg.OperationalError):
                connection.execute("select 1")
        with (
            start_postgres(first.folder, options={"fsync": "off"}) as again,
            psycopg.connect(again.url) as connection,
        ):
            assert connection.execute("select x from kept").fetchone() == (1,)
            assert connection.execute("show fsync").fetchone() == ("off",)
    assert not first.folder.exists()


def test_a_server_does_not_outlive_the_process_that_started_it():
    source = "from bench.postgres import temporary_postgres as t; s = t(); print(s.folder, flush=True); input()"
    owner = subprocess.Popen(
        [sys.executable, "-c", source],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner:
        assert owner.stdout
        folder = Path(owner.stdout.readline().strip())
        postmaster = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(owner.pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not folder.exists()
    assert not psutil.pid_exists(postmaster) or psutil.Process(postmaster).status() == psutil.STATUS_ZOMBIE
