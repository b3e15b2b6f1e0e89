"""Tokens that expire and are rotated, also under a server that runs; and a file of credentials that is odd gives access
to nobody."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import settings
from recollect.domain.ids import TenantId
from recollect.domain.scope import Principal, Role
from recollect.errors import Invalid, NotFound, Refused
from recollect.interfaces import server as serving
from recollect.interfaces.credentials import CredentialFile, Credentials, digest, ending, lasting
from tests.interfaces.conftest import CommandLine
from tests.interfaces.inside import Inside, inside

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OWNER = Principal(tenant=TenantId("default"), id="root", role=Role.ADMIN)
BOT = Principal(
    tenant=TenantId("default"), id="mira", role=Role.AGENT, agent_id="bot", relays=frozenset({"mira", "tom"})
)
HOUR = timedelta(hours=1)


@pytest.fixture
def file(tmp_path: Path) -> CredentialFile:
    return CredentialFile(tmp_path / "credentials.toml")


def who(file: CredentialFile, token: str, at: datetime) -> Principal | None:
    return Credentials("the owner's", OWNER, file, lambda: at).principal(token)


def test_a_token_is_taken_until_the_moment_it_expires(file: CredentialFile, tmp_path: Path):
    token = file.add("bot", BOT, NOON, expires=NOON + HOUR)
    again = CredentialFile(tmp_path / "credentials.toml")
    for reader in (file, again):
        assert who(reader, token, NOON + HOUR - timedelta(microseconds=1)) == BOT
        assert who(reader, token, NOON + HOUR) is None
        assert who(reader, "the owner's", NOON + 9999 * HOUR) == OWNER


def test_what_was_revoked_does_not_come_back_when_the_power_goes(
    file: CredentialFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The new file has its name on the disk before the call returns."""
    file.add("bot", BOT, NOON)
    synced: list[tuple[int, bool]] = []
    sync = os.fsync

    def watched(opened: int) -> None:
        named = "sha256" in (tmp_path / "credentials.toml").read_text("utf-8")
        synced.append((os.fstat(opened).st_ino, named))
        sync(opened)

    monkeypatch.setattr(os, "fsync", watched)
    file.revoke("bot")
    assert synced[-1] == (tmp_path.stat().st_ino, False)


@pytest.mark.parametrize("grace", [timedelta(), HOUR / 2, 2 * HOUR])
@pytest.mark.parametrize("lifetime", [None, HOUR])
def test_a_rotated_credential_has_a_new_token_and_the_old_one_for_its_grace(
    file: CredentialFile, grace: timedelta, lifetime: timedelta | None
):
    old = file.add("bot", BOT, NOON, expires=NOON + lifetime if lifetime else None)
    file.add("other", OWNER, NOON)
    new = file.rotate("bot", NOON + HOUR / 4, grace=grace)
    turned = NOON + HOUR / 4
    ends = min(turned + grace, NOON + lifetime if lifetime else turned + grace)
    for at in (turned, ends - timedelta(seconds=1), ends, turned + 3 * HOUR):
        assert (who(file, old, at) is not None) is (turned <= at < ends)
        assert (who(file, new, at) is not None) is (lifetime is None or at < turned + lifetime)
    assert [one.name for one in file.all()] == ["bot", "other"]
    newest = file.rotate("bot", turned, grace=HOUR)
    assert who(file, old, turned) is None
    assert who(file, new, turned) == who(file, newest, turned) == BOT


def test_what_is_not_there_is_not_rotated(file: CredentialFile):
    with pytest.raises(NotFound, match="no credential"):
        file.rotate("bot", NOON)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Inside]:
    with inside(tmp_path, str(tmp_path / "m.db")) as running:
        yield running


def test_a_server_that_runs_says_that_a_token_has_expired_and_to_nobody_else(server: Inside):
    now = datetime.now(UTC)
    late = server.credentials.add("late", BOT, now - 2 * HOUR, expires=now - HOUR)
    good = server.credentials.add("good", BOT, now, expires=now + HOUR)
    turned = server.credentials.rotate("good", now)
    for token, status, said in (
        (late, 401, "the token has expired"),
        (good, 401, "the token is not valid"),
        (turned, 200, ""),
        ("rec_" + "x" * 43, 401, "the token is not valid"),
        ("", 401, "there is no token"),
    ):
        answer = server.ask("POST", "/api/memory/query", {"query": "Graz?"}, token=token)
        assert answer.status == status, token
        assert said in answer.body.decode()


ENTRY = {
    "name": '"bot"',
    "sha256": f'"{digest("a token that somebody has")}"',
    "tenant": '"default"',
    "id": '"mira"',
    "role": '"admin"',
    "created_at": '"2026-03-01T12:00:00Z"',
}
ODD = (
    '""',
    "5",
    "true",
    "[]",
    "[5]",
    "{}",
    '"x"',
    "2026-03-01",
    '["mira", 5]',
    '"mira"',
    "nan",
    '"agent"',
    '"\\u0000"',
)


def written(entry: dict[str, str]) -> str:
    return "[[credential]]\n" + "\n".join(f"{key} = {value}" for key, value in entry.items()) + "\n"


@pytest.mark.parametrize("field", [*ENTRY, "users", "projects", "relays", "expires", "old_sha256", "agent", "expirs"])
@pytest.mark.parametrize("value", ODD)
def test_an_odd_entry_gives_no_access_that_a_sound_one_would_not(tmp_path: Path, field: str, value: str):
    path = tmp_path / "credentials.toml"
    path.write_text(written({**ENTRY, field: value}))
    sound = ("[]",) if field in ("users", "projects", "relays") else ('"x"', '"mira"', '"agent"')
    if value in sound and field in ("users", "projects", "relays", "name", "id", "tenant"):
        assert who(CredentialFile(path), "a token that somebody has", NOON) is not None
    else:
        with suppress(Invalid):
            assert who(CredentialFile(path), "a token that somebody has", NOON) is None


@pytest.mark.parametrize(
    "text",
    [
        "credential = 5",
        "credential = [5]",
        '[credential]\nname = "bot"',
        "[[credential]]",
        "[" * 5000,
        "x = " + "9" * 5000,
        "\ud800".encode(errors="surrogatepass").decode("latin1"),
        written(ENTRY) + written({**ENTRY, "name": '"twin"', "role": '"member"'}),
        written({key: value for key, value in ENTRY.items() if key != "role"}),
        written(ENTRY).replace('role = "admin"', 'role = "adminx"'),
    ],
)
def test_a_broken_file_gives_access_to_the_owner_alone(tmp_path: Path, text: str):
    path = tmp_path / "credentials.toml"
    path.write_text(text, "utf-8")
    file = CredentialFile(path)
    assert who(file, "the owner's", NOON) == OWNER
    with pytest.raises(Invalid, match="cannot be read"):
        who(file, "a token that somebody has", NOON)


@pytest.mark.parametrize(
    "made",
    [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.write_text("#" * 5_000_000)],
    ids=["folder", "pipe", "device", "huge"],
)
def test_what_is_no_plain_file_of_some_size_gives_access_to_the_owner_alone(
    tmp_path: Path, made: Callable[[Path], object]
):
    """Nor does it keep the server waiting, or fill its memory."""
    made(tmp_path / "credentials.toml")
    file = CredentialFile(tmp_path / "credentials.toml")
    assert who(file, "the owner's", NOON) == OWNER
    with pytest.raises(Invalid, match="cannot be read"):
        who(file, "any", NOON)


@given(st.text(max_size=12))
def test_a_length_of_time_is_understood_or_refused(text: str):
    for read in (lasting, lambda given: ending(given, NOON) - NOON):
        with suppress(Invalid):
            assert read(text) >= timedelta()


def test_when_a_token_ends():
    assert ending("30d", NOON) == NOON + timedelta(days=30)
    assert ending("2027-01-31T12:00:00Z", NOON) == datetime(2027, 1, 31, 12, tzinfo=UTC)
    for text in ("0m", "2020-01-01T00:00:00Z", "2027-01-31", "soon", "-3d", "99999w9"):
        with pytest.raises(Invalid):
            ending(text, NOON)


def test_the_command_line_makes_rotates_and_lists_tokens_that_expire(recollect: CommandLine, place: Path):
    made = recollect.do("token", "add", "bot", "--agent", "bot", "--expires", "30d", "--json").document
    assert made["expires"] > datetime.now(UTC).isoformat()
    turned = recollect.do("token", "rotate", "bot", "--grace", "1h", "--json").document
    assert turned["token"] != made["token"]
    [listed] = recollect.do("token", "list", "--json").document["credentials"]
    assert listed["former_until"]
    assert not listed["expired"]
    assert "the old one" in " ".join(recollect.do("token", "list").out.split())
    file = CredentialFile(place / "credentials.toml")
    for token in (made["token"], turned["token"]):
        assert who(file, token, datetime.now(UTC)) is not None
    for args in (
        ("token", "rotate", "nobody"),
        ("token", "add", "x", "--expires", "yesterday"),
        ("token", "add", "x", "--grace", "1h"),
        ("token", "rotate", "bot", "--grace", "forever"),
    ):
        assert recollect(*args).code in (1, 2)


# -- passwords on a command line ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("store", "holds"),
    [
        ("postgresql://mira:hunter2@localhost:1/memory", True),
        ("postgres://:hunter2@localhost/memory", True),
        ("postgresql://localhost/memory?user=mira&password=hunter2", True),
        ("postgresql://localhost/memory?user=mira&p%61ssword=hunter2", True),
        ("POSTGRESQL://mira:hunter2@localhost/memory", True),
        ("host=db password=hunter2 dbname=x", True),
        ("host = 'my db' user=mira password = 'hunter2'", True),
        ("sslpassword=hunter2 host=db", True),
        ("postgresql://mira@localhost:5432/memory", False),
        ("host=db passfile=x dbname=password", False),
        ("postgresql://localhost:5432/memory?passfile=x", False),
        ("/tmp/a:b@c.db", False),
        ("memory.db", False),
        ("/tmp/x password=y.db", False),
    ],
)
def test_a_password_on_the_command_line_is_complained_about(bare: CommandLine, store: str, holds: bool):
    assert settings.holds_password(store) is holds
    if store.startswith("postgres"):
        answer = bare("show", "--store", store.replace(":5432", ":1").replace("localhost/", "localhost:1/"))
        assert answer.code == 1
        assert ("seen by every user" in answer.err) is holds
        assert "hunter2" not in answer.err + answer.out


@pytest.mark.parametrize("store", ["host=db password=hunter2 dbname=x", "POSTGRESQL://mira:hunter2@localhost/memory"])
def test_a_password_in_what_is_no_address_is_refused_and_never_repeated(
    bare: CommandLine, monkeypatch: pytest.MonkeyPatch, store: str
):
    for args in (("doctor",), ("show",), ("init",), ("token", "list")):
        for answer in (bare(*args, "--store", store), bare("--store", store, *args)):
            assert answer.code == 1
            assert "RECOLLECT_STORE" in answer.err
            assert "hunter2" not in answer.err + answer.out
    monkeypatch.setenv("RECOLLECT_STORE", store)
    answer = bare("doctor")
    assert answer.code == 1
    assert "postgresql://user:password@host" in answer.err
    assert "hunter2" not in answer.err + answer.out


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_what_goes_on_running_does_not_start_with_a_password_in_its_arguments(bare: CommandLine, command: str):
    answer = bare(command, "--store", "postgresql://mira:hunter2@localhost:1/memory")
    assert answer.code == 1
    assert "RECOLLECT_STORE" in answer.err


def test_a_server_that_is_started_for_a_client_has_no_store_in_its_arguments(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(serving.subprocess, "Popen", lambda args, **more: started.append((args, more["env"])))
    monkeypatch.setenv("RECOLLECT_STORE", "elsewhere.db")
    serving.start({"store": "postgresql://mira:hunter2@localhost:1/memory", "tenant": "default", "user": None})
    serving.start({"store": None})
    [(args, env), (_, inherited)] = started
    assert "hunter2" not in " ".join(args)
    assert env["RECOLLECT_STORE"] == "postgresql://mira:hunter2@localhost:1/memory"
    assert env["PATH"] == os.environ["PATH"]
    assert inherited["RECOLLECT_STORE"] == "elsewhere.db"


def test_no_name_is_taken_twice(file: CredentialFile):
    file.add("bot", BOT, NOON)
    with pytest.raises(Refused):
        file.add("bot", BOT, NOON)
