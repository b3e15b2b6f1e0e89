"""The same commands on PostgreSQL, and backups between databases."""

import gzip
from pathlib import Path

import pytest

from recollect import settings, wiring
from tests.interfaces.conftest import CommandLine, without_models
from tests.postgres import fresh_database


@pytest.fixture
def database(bare: CommandLine, postgres_database: str, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("RECOLLECT_STORE", postgres_database)
    bare.do("init")
    return bare


def test_a_day_on_postgres(database: CommandLine):
    item_id = database.remember("Mira is allergic to peanuts.", "--importance", 5)
    assert "[1] mira" in database.do("show", item_id[-8:]).out
    database.do("delete", item_id)
    database.do("rollback", "--entry", database.last_entry(), "--yes")
    assert database.do("show", item_id, "--json").document["memory"]["state"] == "active"
    database.do("erase", item_id, "--yes")
    assert "was erased" in database("show", item_id).err
    assert database.do("verify", "--json").document["whole"]
    database.do("worker", "--once")
    doctor = database.do("doctor", "--json").document
    assert {check["verdict"] for check in doctor["checks"]} == {"well"}


def test_a_backup_fills_an_empty_database_and_no_other(database: CommandLine, place: Path, postgres_server: str):
    erased = database.remember("The unmistakable word is xylophonist.")
    database.remember("Kept.")
    database.do("init", "--tenant", "acme")
    database.do("backup", place / "backup.gz")
    database.do("erase", erased, "--yes")
    everything = database.do("export", "--state").out
    refused = database("restore", place / "backup.gz")
    assert refused.code == 1
    assert "the database is not empty" in refused.err
    with fresh_database(postgres_server) as other:
        take_the_list_of_erasures_along(place, other)
        done = database.do("restore", place / "backup.gz", "--store", other, "--json").document
        assert done["tenants"] == ["acme", "default"]
        assert (done["erased"], done["aside"]) == (3, None)
        assert other not in str(done)
        assert database.do("export", "--state", "--store", other).out == everything
        assert database.do("verify", "--store", other, "--json").document["whole"]


def take_the_list_of_erasures_along(place: Path, other: str) -> None:
    """It lies beside the store, and for a database that is a file of its own in the home directory."""
    [listed] = place.glob("postgres-*.erasures")
    beside = wiring.sidecar(settings.load({"store": other}))
    beside.with_name(beside.name + ".erasures").write_bytes(listed.read_bytes())


def test_a_backup_of_postgres_becomes_a_sqlite_store(database: CommandLine, place: Path):
    database.remember("Mira is allergic to peanuts.")
    database.do("backup", place / "backup.gz")
    done = database.do("restore", place / "backup.gz", "--store", place / "file.db", "--json").document
    assert done["entries"] == 4
    assert database.do("export", "--store", place / "file.db").out == database.do("export").out


def test_a_backup_that_was_cut_short_fills_nothing(
    database: CommandLine, place: Path, postgres_server: str, monkeypatch: pytest.MonkeyPatch
):
    without_models(monkeypatch)
    for number in range(50):
        database.remember(f"Number {number}.")
    database.do("backup", place / "backup.gz")
    whole = (place / "backup.gz").read_bytes()
    (place / "cut.gz").write_bytes(whole[: len(whole) // 2])
    (place / "other.gz").write_bytes(gzip.compress(b'{"recollect":"backup","format":99}\n'))
    with fresh_database(postgres_server) as other:
        for file, said in (("cut.gz", "damaged or cut short"), ("other.gz", "has format 99")):
            refused = database("restore", place / file, "--store", other)
            assert refused.code == 1
            assert said in refused.err
        database.do("restore", place / "backup.gz", "--store", other)


def test_a_sqlite_backup_does_not_fit_into_postgres(database: CommandLine, place: Path):
    database.do("init", "--store", place / "file.db")
    refused = database("restore", place / "file.db")
    assert refused.code == 1
    assert "is not a backup of a PostgreSQL store" in refused.err


def test_passwords_are_never_shown(bare: CommandLine):
    url = "postgresql://mira:hunter2@localhost:1/memory"
    for args in (["show"], ["init"], ["doctor"], ["doctor", "--json"]):
        answer = bare(*args, "--store", url)
        assert answer.code == 1
        assert "localhost:1/memory" in answer.out + answer.err
        assert "hunter2" not in answer.out + answer.err
