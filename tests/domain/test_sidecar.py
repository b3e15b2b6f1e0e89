"""What lies beside a store: the list of erasures, which outlives it, and the key that signs its heads."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import StoreDamaged, StoreFull
from recollect.store.sidecar import FileErasures, FileSeal
from tests.strategies import NOON

CHAIN, OTHER = "c" * 32, "d" * 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db.erasures"


# -- the list of erasures ---------------------------------------------------------------------------------


def test_nothing_is_listed_where_nothing_was_erased(path):
    assert FileErasures(path).of(CHAIN) == frozenset()
    assert not path.exists()


def test_what_was_listed_is_there_for_the_next_process(path):
    FileErasures(path).add(CHAIN, ["i:1", "e:2"], NOON)
    FileErasures(path).add(CHAIN, ["v:3"], NOON)
    assert FileErasures(path).of(CHAIN) == {"i:1", "e:2", "v:3"}


def test_each_journal_has_a_list_of_its_own(path):
    erasures = FileErasures(path)
    erasures.add(CHAIN, ["i:1"], NOON)
    erasures.add(OTHER, ["i:2"], NOON)
    assert (erasures.of(CHAIN), erasures.of(OTHER)) == ({"i:1"}, {"i:2"})


def test_the_list_holds_the_journal_the_ids_and_the_moment_and_nothing_else(path):
    FileErasures(path).add(CHAIN, ["i:1"], NOON)
    assert json.loads(path.read_text("utf-8")) == {
        "chain": CHAIN,
        "refs": ["i:1"],
        "at": "2026-03-01T12:00:00.000000Z",
    }


def test_only_the_owner_reads_the_list(path):
    FileErasures(path).add(CHAIN, ["i:1"], NOON)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_erasure_is_on_the_disk_before_the_call_returns(path, monkeypatch):
    """Synced after the words are in it."""
    synced: list[int] = []
    sync = os.fsync

    def watched(file: int) -> None:
        synced.append(os.fstat(file).st_size if stat.S_ISREG(os.fstat(file).st_mode) else 0)
        sync(file)

    monkeypatch.setattr(os, "fsync", watched)
    FileErasures(path).add(CHAIN, ["i:1"], NOON)
    assert path.stat().st_size in synced


def test_what_does_not_fit_on_the_disk_is_an_error(path, monkeypatch):
    """A write may be cut short without an error of its own."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]))
    try:
        FileErasures(path).add(CHAIN, ["i:1"], NOON)
    except (OSError, StoreFull):
        return
    monkeypatch.undo()
    assert FileErasures(path).of(CHAIN) == {"i:1"}


def test_erasures_of_many_threads_do_not_mix(path):
    erasures = FileErasures(path)

    def list_some(start: int) -> None:
        for number in range(start, start + 25):
            erasures.add(CHAIN, [f"i:{number}-{'x' * 500}"], NOON)

    threads = [threading.Thread(target=list_some, args=(start,)) for start in (0, 100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(erasures.of(CHAIN)) == 100


DAMAGE = {
    "cut short": b'{"chain":"cccc',
    "not json": b"hello",
    "blank": b"",
    "a list": b"[]",
    "a word": b'"tea"',
    "without its refs": b'{"chain":"' + CHAIN.encode() + b'"}',
    "without its journal": b'{"refs":["i:1"]}',
    "not text": b"\xff\xfe",
}


@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_a_damaged_line_is_named_rather_than_passed_over(damage, path):
    FileErasures(path).add(CHAIN, ["i:1"], NOON)
    with path.open("ab") as file:
        file.write(DAMAGE[damage] + b"\n")
    FileErasures(path).add(CHAIN, ["i:2"], NOON)
    with pytest.raises(StoreDamaged, match=r"line 2 of the list of erasures .*m\.db\.erasures") as refusal:
        FileErasures(path).of(CHAIN)
    assert "old backup could bring back what was erased" in refusal.value.help


@pytest.mark.parametrize("length", [1, 40, 100_000])
def test_half_a_line_of_who_was_killed_is_passed_over_and_goes(length, path):
    FileErasures(path).add(CHAIN, ["i:1"], NOON)
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write((b'{"at":"' + b"x" * length)[:length])
    assert FileErasures(path).of(CHAIN) == {"i:1"}
    FileErasures(path).add(CHAIN, ["i:2"], NOON)
    assert FileErasures(path).of(CHAIN) == {"i:1", "i:2"}
    assert path.read_bytes().startswith(whole + b"{")
    path.write_bytes(b"half")
    assert FileErasures(path).of(CHAIN) == frozenset()
    FileErasures(path).add(CHAIN, ["i:3"], NOON)
    assert FileErasures(path).of(CHAIN) == {"i:3"}


# -- the key ----------------------------------------------------------------------------------------------


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "m.db.key"


def test_a_key_is_made_when_it_is_first_needed_and_kept(key):
    assert not key.exists()
    public = FileSeal(key).public_key()
    assert FileSeal(key).public_key() == public
    assert FileSeal(key).valid(b"head", FileSeal(key).sign(b"head"), public)


def test_only_the_owner_reads_the_key(key):
    mask = os.umask(0)
    try:
        FileSeal(key).public_key()
    finally:
        os.umask(mask)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_nothing_is_left_lying_about_when_the_key_is_made(key):
    FileSeal(key).public_key()
    assert [path.name for path in key.parent.iterdir()] == ["m.db.key"]


def test_two_stores_have_two_keys(tmp_path):
    assert FileSeal(tmp_path / "a.key").public_key() != FileSeal(tmp_path / "b.key").public_key()


def test_threads_that_need_the_key_at_once_get_the_same(key):
    found: list[object] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        try:
            found.append(FileSeal(key).public_key())
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1, found


ASK = """
import sys
from pathlib import Path
from recollect.store.sidecar import FileSeal
seal = FileSeal(Path(sys.argv[1]))
sys.stdin.readline()
print(seal.public_key().hex())
"""


def test_processes_that_need_the_key_at_once_get_the_same(key):
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", ASK, str(key)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in asking:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    answers = {process.communicate(timeout=60)[0] for process in asking}
    assert answers == {FileSeal(key).public_key().hex() + "\n"}


def test_what_a_crashed_process_left_does_not_stand_in_the_way(key):
    """A half-made key of a process that had our number before us."""
    key.with_name(f"{key.name}.{os.getpid()}").write_text("half")
    assert FileSeal(key).public_key()


@given(message=st.binary(max_size=40), at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_single_bit_changed_in_message_or_signature_or_key_is_seen(message, at, bit):
    signature, public = SEAL.sign(message), SEAL.public_key()
    assert SEAL.valid(message, signature, public)
    assert not SEAL.valid(message, flipped(signature, at, bit), public)
    assert not SEAL.valid(message, signature, flipped(public, at, bit))
    assert not SEAL.valid(flipped(message, at, bit) if message else b"x", signature, public)


@pytest.mark.parametrize("signature", [b"", b"short", b"x" * 65])
def test_what_is_not_a_signature_is_not_valid(signature):
    assert not SEAL.valid(b"head", signature, SEAL.public_key())


@pytest.mark.parametrize("public", [b"", b"short", b"x" * 33])
def test_what_is_not_a_key_makes_nothing_valid(public):
    assert not SEAL.valid(b"head", SEAL.sign(b"head"), public)


def flipped(data: bytes, at: int, bit: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


@pytest.fixture(autouse=True, scope="module")
def _seal(tmp_path_factory: pytest.TempPathFactory) -> None:
    global SEAL
    SEAL = FileSeal(tmp_path_factory.mktemp("seal") / "key")


SEAL: FileSeal
