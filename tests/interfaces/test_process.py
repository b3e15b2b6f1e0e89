"""The installed program: pipes, terminals, signals, permissions, and how soon it is there."""

import ctypes
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import open_memory
from tests.interfaces.conftest import PROGRAM, CommandLine, program


def test_the_program_remembers_and_shows(place: Path):
    assert program("init").returncode == 0
    kept = program("remember", "-", input="Tea, not coffee. 🫖\n")
    assert (kept.returncode, kept.stderr) == (0, "")
    shown = program("show", "--kind", "fact")
    assert shown.returncode == 0
    assert "Tea, not coffee. 🫖" in shown.stdout
    assert "\x1b" not in shown.stdout


def test_a_refusal_is_two_lines_on_standard_error_and_no_traceback(place: Path):
    refused = program("show")
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.splitlines() == [
        f"✗ there is no store at {place / 'memory.db'}",
        "  Make one with: recollect init",
    ]


def test_the_answer_is_utf8_whatever_the_locale(recollect: CommandLine):
    recollect.remember("Tea, not coffee. 🫖")
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    for args in (["show", "--json"], ["export"], ["show"], ["--help"]):
        answer = program(*args, env=env)
        assert (answer.returncode, answer.stderr) == (0, "")
    assert "🫖" in program("export", env=env).stdout


def test_a_reader_who_has_seen_enough_ends_it_quietly(recollect: CommandLine, store: Path):
    with open_memory(store, user="mira") as memory:
        for number in range(60):  # together more than a pipe holds
            memory.remember(f"{number}: " + "many words " * 170)
    for args in (["export"], ["show", "--limit", "1000"], ["show", "--limit", "1000", "--json"]):
        running = subprocess.Popen([PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert running.stdout
        assert running.stderr
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        running.stderr.close()
        assert running.wait(30) in (0, 1)  # 0 where the pipe took it all before it was closed


def test_ctrl_c_is_quiet(recollect: CommandLine):
    running = subprocess.Popen(
        [PROGRAM, "remember", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's job in the background ignores it
    )
    assert running.stdin
    running.stdin.write(b"tea " * 50_000)  # more than a pipe holds: who is through with this knows that it reads
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert (out, err) == (b"", b"")


def test_a_worker_runs_until_it_is_told_to_stop(recollect: CommandLine, store: Path):
    with open_memory(store, user="mira") as memory:
        memory.erase(memory.remember("Gone soon.").item_id)
    running = subprocess.Popen([PROGRAM, "worker"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not any(job["stage"] == "done" for job in recollect.do("jobs", "--all", "--json").document["jobs"]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (0, "")
    assert out.splitlines()[0].startswith("Working as ")
    assert out.splitlines()[-1] == "✓ stopped"


def test_help_loads_no_more_than_it_shows():
    """What makes a start slow is what is imported; seconds are counted in the benches."""
    told = program("--help", env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"})
    assert told.returncode == 0
    loaded = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in told.stderr.splitlines()}
    assert {"typer", "recollect"} <= loaded
    assert not loaded & {"numpy", "onnxruntime", "tokenizers", "sqlite3", "psycopg", "fastapi", "mcp", "httpx", "rich"}


def test_the_program_tells_its_version():
    told = program("--version")
    assert (told.returncode, told.stdout) == (0, "recollect 0.1.0\n")


def test_without_a_command_it_shows_its_help():
    told = program()
    assert "Usage: recollect" in told.stdout + told.stderr


# -- a real terminal ----------------------------------------------------------------------------------------


def on_terminal(columns: int, *args: object, answer: str = "") -> tuple[int, str]:
    """The exit code, and everything that appeared on a terminal of this width."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color")
        os.environ.pop("NO_COLOR", None)
        os.execv(PROGRAM, [str(PROGRAM), *map(str, args)])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    seen = b""
    try:
        while True:
            if answer and seen.rstrip().endswith(b"[y/N]"):
                os.write(terminal, answer.encode())
                answer = ""
            seen += os.read(terminal, 65536)
    except OSError:  # the program has closed its side
        pass
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), seen.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture
def told(recollect: CommandLine) -> str:
    recollect.remember("Standup is at 9:30.", "--tag", "team")
    words = "The release train leaves on Thursdays at 14:00 UTC; whoever misses it waits a week, unless Ravi holds it."
    return recollect.remember(words, "--project", "apollo")


@pytest.mark.parametrize(("columns", "command"), [(80, "show"), (80, "history"), (120, "doctor")])
def test_a_terminal_gets_colours_and_lines_that_fit(told: str, columns: int, command: str):
    code, seen = on_terminal(columns, command)
    assert code == 0
    assert "\x1b[" in seen
    assert max(len(line) for line in plain(seen).splitlines()) <= columns


@pytest.mark.parametrize("columns", [80, 120])
def test_a_receipt_fits_a_terminal_and_lacks_nothing(told: str, columns: int):
    code, seen = on_terminal(columns, "show", told)
    assert code == 0
    assert "╭─" in seen
    assert max(len(line) for line in plain(seen).splitlines()) <= columns
    unframed = re.sub(r"[│╭╮╰╯─\s]+", " ", plain(seen))
    assert unframed.count("whoever misses it waits a week, unless Ravi holds it.") == 2


def test_a_person_at_a_terminal_is_asked(told: str, recollect: CommandLine):
    recollect.do("delete", told)
    entry = recollect.last_entry()
    code, seen = on_terminal(80, "rollback", "--entry", entry, answer="n\n")
    assert (code, "nothing was changed" in plain(seen)) == (1, True)
    code, seen = on_terminal(80, "rollback", "--entry", entry, answer="y\n")
    assert (code, "rolled back 1 entry" in plain(seen)) == (0, True)


# -- permissions --------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(place: Path, recollect: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store in a directory that may be read and not written."""
    directory = place / "guarded"
    directory.mkdir()
    monkeypatch.setenv("RECOLLECT_STORE", str(directory / "memory.db"))
    recollect.do("init")
    recollect.remember("Tea, not coffee.")
    for path in directory.iterdir():
        path.chmod(0o400)
    directory.chmod(0o500)
    yield directory
    directory.chmod(0o700)


def bound_by_permissions() -> None:
    """Takes from root what lets it pass by permissions (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH)."""
    if os.geteuid() == 0:
        drop_capability = 24
        for capability in (1, 2):
            assert ctypes.CDLL(None).prctl(drop_capability, capability, 0, 0, 0) == 0


def test_a_directory_that_cannot_be_written_is_named(guarded: Path):
    refused = program("init", "--store", guarded / "new.db", preexec_fn=bound_by_permissions)
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        f"✗ {guarded / 'new.db'} cannot be written",
        "  Check the permissions of the file and of its directory.",
    ]


def test_a_store_that_cannot_be_written_is_refused_without_a_traceback(guarded: Path, place: Path):
    before = (guarded / "memory.db").read_bytes()
    for args in (["remember", "More."], ["doctor"]):
        refused = program(*args, preexec_fn=bound_by_permissions)
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        assert str(guarded) in refused.stderr + refused.stdout
    assert (guarded / "memory.db").read_bytes() == before


def test_an_export_that_cannot_be_written_is_refused(guarded: Path, place: Path):
    refused = program("export", guarded / "all.jsonl", "--store", place / "memory.db", preexec_fn=bound_by_permissions)
    assert refused.returncode == 1
    assert "Permission denied" in refused.stderr
    assert len(refused.stderr.splitlines()) == 2
