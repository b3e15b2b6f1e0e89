"""Files that are hostile, endless or somebody else's: taken in with care, and never written over."""

import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from recollect import open_memory
from recollect.errors import Invalid, Refused
from recollect.interfaces.cli import ingesting, moving
from recollect.store.unfinished import clear_left_over, unfinished

GONE = 2_000_000_000
"""No process has this number."""


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("x/conversations.json", b'[{"chat_messages": []}]')
    return path


# -- packed -------------------------------------------------------------------------------------------------


def test_an_export_that_is_packed_is_read(chat: Path):
    assert ingesting.unzipped(chat) == b'[{"chat_messages": []}]'


def test_an_encrypted_export_is_refused_with_what_to_do(chat: Path):
    data = bytearray(chat.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag of encryption, in both headers
        place = data.index(mark) + at
        data[place] |= 1
    chat.write_bytes(data)
    with pytest.raises(Invalid, match="encrypted"):
        ingesting.unzipped(chat)


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", b" " * (ingesting.MOST_PACKED + 1))
    assert path.stat().st_size < 1_000_000
    with pytest.raises(Invalid, match="unpacks to"):
        ingesting.unzipped(path)


def test_a_header_that_tells_less_than_there_is_does_not_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ingesting, "MOST_BYTES", 10_000)
    path = tmp_path / "liar.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", b"[" + b" " * 100_000 + b"]")
    with pytest.raises(Invalid, match="larger than"):
        ingesting.unzipped(path)
    data = path.read_bytes().replace(struct.pack("<L", 100_002), struct.pack("<L", 5_000))
    path.write_bytes(data)
    with pytest.raises(Invalid):
        ingesting.unzipped(path)


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_way_of_packing_that_unpacks_in_one_piece_is_refused(way: int, tmp_path: Path):
    """A header that lies about the size would cost all the memory there is."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", way) as packed:
        packed.writestr("conversations.json", b"[" + b" " * 100_000 + b"]")
    with pytest.raises(Invalid, match="unusual"):
        ingesting.unzipped(path)


def test_a_pipe_that_is_called_a_zip_is_refused_at_once(tmp_path: Path):
    path = tmp_path / "export.zip"
    os.mkfifo(path)
    with pytest.raises(Invalid, match="ordinary file"):
        ingesting.unzipped(path)


@pytest.mark.parametrize("cut", [10, 60, 90])
def test_a_damaged_export_is_refused(chat: Path, cut: int):
    chat.write_bytes(chat.read_bytes()[:cut])
    with pytest.raises(Invalid, match="zip"):
        ingesting.unzipped(chat)


# -- folders ------------------------------------------------------------------------------------------------


def test_links_pipes_and_loops_in_a_folder_are_not_followed(tmp_path: Path):
    outside, notes = tmp_path / "outside", tmp_path / "notes"
    outside.mkdir(), (notes / "sub").mkdir(parents=True)
    (outside / "private.md").write_text("The outside is nobody's business.")
    (notes / "own.md").write_text("The boathouse is blue.")
    (notes / "sub" / "more.md").write_text("The gate is green.")
    (notes / "link.md").symlink_to(outside / "private.md")
    (notes / "out").symlink_to(outside)
    (notes / "sub" / "round").symlink_to(notes)
    (notes / "self.md").symlink_to(notes / "self.md")
    (notes / "zero.md").symlink_to("/dev/zero")
    os.mkfifo(notes / "pipe.md")
    read = ingesting.folder(notes, "ana")
    said = " ".join(message.text for thread in read.threads for message in thread.messages)
    assert "boathouse" in said
    assert "gate" in said
    assert "outside" not in said
    assert {one.where for one in read.skipped} == {"link.md", "self.md", "zero.md"}


def test_a_name_with_what_nobody_sees_keeps_nothing_out_and_is_taken_for_no_other(tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    names = ["a.md", "a\u200b.md", "\x1b[31ma.md", "a\u202eb.md", "a\n[3] mira.md"]
    for name in names:
        (notes / name).write_text("The boathouse is blue.")
    read = ingesting.folder(notes, "mi\u200bra")
    assert len({one.id for one in read.threads}) == len(names)
    with open_memory(tmp_path / "m.db", user="mira") as memory:
        assert memory.bulk(read.threads).threads == len(names)
        authors = {event.author for one in memory.items() for event in memory.thread(one.id)}
    assert "mira" not in authors


def test_a_file_in_a_folder_that_is_too_large_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ingesting, "MOST_BYTES", 1000)
    (tmp_path / "large.md").write_text("word " * 1000)
    (tmp_path / "small.md").write_text("The boathouse is blue.")
    read = ingesting.folder(tmp_path, "ana")
    assert [one.where for one in read.skipped] == ["large.md"]
    assert len(read.threads) == 1


@pytest.mark.parametrize("device", ["/dev/zero", "pipe"])
def test_what_never_ends_is_refused_at_once(device: str, tmp_path: Path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(Invalid, match="ordinary"):
        ingesting.contents(Path(device) if device.startswith("/") else path)
    assert not ingesting.is_foreign(str(path))


# -- files in the making ------------------------------------------------------------------------------------


def test_an_export_touches_nobodys_part(tmp_path: Path):
    target, theirs, precious = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part", tmp_path / "precious"
    precious.write_text("precious")
    theirs.symlink_to(precious)
    with moving._fresh_file(target) as file:  # pyright: ignore[reportPrivateUsage]
        file.write(b"whole")
    assert target.read_bytes() == b"whole"
    assert target.stat().st_mode & 0o777 == 0o600
    assert theirs.is_symlink()
    assert precious.read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"out.jsonl", "out.jsonl.part", "precious"}


@pytest.mark.parametrize("taken", ["file", "link", "dead link"])
def test_an_export_writes_over_nothing_not_even_what_comes_meanwhile(taken: str, tmp_path: Path):
    target, other = tmp_path / "out.jsonl", tmp_path / "other"

    def export() -> None:
        with moving._fresh_file(target) as file:  # pyright: ignore[reportPrivateUsage]
            file.write(b"ours")
            if taken == "link":
                other.write_text("theirs")
            target.write_text("theirs") if taken == "file" else target.symlink_to(other)

    with pytest.raises(Refused):
        export()
    with pytest.raises(Refused), moving._fresh_file(target):  # pyright: ignore[reportPrivateUsage]
        pass
    assert taken == "dead link" or target.read_text() == "theirs"
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]


def test_a_failure_leaves_no_part(tmp_path: Path):
    with pytest.raises(OSError, match="stop"), moving._fresh_file(tmp_path / "out.jsonl"):  # pyright: ignore[reportPrivateUsage]
        raise OSError("stop")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_gone_at_the_next_run(tmp_path: Path):
    target = tmp_path / "out.jsonl"
    told = (
        "import os, signal, sys; from pathlib import Path; from recollect.store.unfinished import *\n"
        "with unfinished(Path(sys.argv[1])) as part:\n"
        "    os.close(create(part)); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", told, str(target)], check=False, timeout=60)
    [left] = tmp_path.glob("*.part")
    with moving._fresh_file(target) as file:  # pyright: ignore[reportPrivateUsage]
        file.write(b"whole")
    assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_only_what_is_surely_ours_and_over_is_removed(tmp_path: Path):
    target, mark = tmp_path / "out", "0123456789abcdef"
    ours = [tmp_path / f"out.{GONE}-{mark}.part", tmp_path / f"out.{GONE}-{mark}.part-wal"]
    others = [
        tmp_path / "out.part",
        tmp_path / f"out.{os.getpid()}-{mark}.part",  # at work
        tmp_path / f"out.{GONE}-{mark[:-1]}.part",
        tmp_path / f"out2.{GONE}-{mark}.part",
        tmp_path / f"out.{GONE}-{mark}.restoring",
        tmp_path / f"out.{GONE}-{mark}.part.txt",
    ]
    for path in (*ours, *others):
        path.write_text("x")
    link = tmp_path / f"out.{GONE}-{mark[::-1]}.part"
    link.symlink_to(others[0])
    assert set(clear_left_over(target)) == set(ours)
    assert all(path.exists() for path in (*others, link))
    with unfinished(target, "restoring") as bench:
        assert not bench.exists()
    assert not others[4].exists()
