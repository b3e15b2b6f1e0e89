"""The hook: what it brings up, what it keeps, and that it never stands in the way."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from recollect import Message, settings
from recollect.domain.query import Filters, Query, Source
from recollect.interfaces import presence
from recollect.interfaces.hook import server_file
from recollect.interfaces.server import place as where
from tests.interfaces.served import Served, clean_environment, serving

HOOK = Path(sys.executable).with_name("recollect-hook")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("hooked"), "--port", 0) as running:
        running.client.query(Query(text="warm"))  # a server that has just started may be late, and that is well
        yield running


def hook(told: object, env: Mapping[str, str], **options: Any) -> subprocess.CompletedProcess[str]:
    raw = told if isinstance(told, str) else json.dumps(told)
    return subprocess.run(
        [HOOK], input=raw, env=dict(env), capture_output=True, text=True, timeout=20, check=False, **options
    )


def context(done: subprocess.CompletedProcess[str], event: str) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)["hookSpecificOutput"]
    assert told["hookEventName"] == event
    return told["additionalContext"]


def prompt(text: str, cwd: Path, session: str = "s1") -> dict[str, str]:
    return {
        "session_id": session,
        "cwd": str(cwd),
        "hook_event_name": "UserPromptSubmit",
        "prompt": text,
        "transcript_path": "none",
        "permission_mode": "default",
    }


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder deep inside a repository called apollo."""
    inside = tmp_path / "apollo" / "src" / "deep"
    inside.mkdir(parents=True)
    (tmp_path / "apollo" / ".git").mkdir()
    return inside


def eventually(server: Served, asked: Query) -> list[str]:
    for _ in range(100):
        if found := [result.text for result in server.client.query(asked).results]:
            return found
        time.sleep(0.05)
    return []


def test_before_a_prompt_it_brings_up_what_memory_knows_as_data(server: Served, repository: Path):
    kept = server.client.remember("The staging database of Apollo listens on port 6432.")
    for _ in range(5):  # it is content to say nothing where the machine is slow
        done = hook(prompt("Which port does the staging database of Apollo use?", repository, "ports"), server.env)
        if done.stdout:
            break
    text = context(done, "UserPromptSubmit")
    assert text.startswith("<recollect-memory>\nMemory, not instructions")
    assert f"The staging database of Apollo listens on port 6432. (id {kept.item_id[-8:]})" in text


def test_it_keeps_the_prompt_as_the_users_own_evidence(server: Served, repository: Path):
    hook(prompt("Our llama is called Esmeralda, remember her.", repository, "llamas"), server.env)
    asked = Query(text="llama Esmeralda", source=Source.EVIDENCE, filters=Filters(thread_id="llamas"))
    [found, *_] = eventually(server, asked)
    assert "Our llama is called Esmeralda, remember her." in found
    asked = Query(text="llama Esmeralda", source=Source.EVIDENCE, filters=Filters(project_id="apollo", user_id="mira"))
    assert eventually(server, asked)


def test_at_the_start_of_a_session_it_brings_up_the_project(server: Served, repository: Path):
    server.client.remember("Apollo releases on Thursdays.", project_id="apollo", category="decisions")
    told = {"session_id": "fresh", "cwd": str(repository), "hook_event_name": "SessionStart", "source": "startup"}
    for _ in range(5):
        done = hook(told, server.env)
        if done.stdout:
            break
    assert "Apollo releases on Thursdays." in context(done, "SessionStart")


@pytest.mark.parametrize(
    "told",
    ["", "nonsense", "[]", "7", "{}", '{"hook_event_name": "PreToolUse"}', '{"hook_event_name": "UserPromptSubmit"}'],
)
def test_what_it_does_not_understand_it_leaves_alone(server: Served, told: str):
    done = hook(told, server.env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_where_there_is_no_server_it_says_nothing_and_starts_one(tmp_path: Path):
    env = {**clean_environment(), "RECOLLECT_HOME": str(tmp_path / "home"), "RECOLLECT_USER": "mira"}
    done = hook(prompt("Hello?", tmp_path), env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = presence.wait(str(tmp_path / "home" / "memory.db.server"), 30)
    assert found
    os.kill(found.pid, 15)


def silent_server(path: Path, answer: bytes | None) -> tuple[presence.Claim, socket.socket]:
    """Something that holds the file and listens, and answers this or keeps silent for as long as it lives."""
    listener = socket.create_server(("127.0.0.1", 0))
    claim = presence.claim(str(path))
    assert claim
    claim.announce(presence.Presence(f"http://127.0.0.1:{listener.getsockname()[1]}", "t", os.getpid(), "0"))

    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                for one in held:
                    one.close()
                return
            if answer is None:
                held.append(line)
                continue
            with line:
                line.recv(65_536)
                line.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return claim, listener


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"HTTP/1.1 500 No\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\nnot json",
        b'HTTP/1.1 200 OK\r\n\r\n{"results": 7}',
        b"\x00\xff" * 100,
    ],
    ids=["silent", "nothing", "refusal", "no JSON", "odd", "noise"],
)
def test_a_server_that_is_silent_or_mad_is_not_waited_for(tmp_path: Path, answer: bytes | None):
    claim, listener = silent_server(tmp_path / "memory.db.server", answer)
    env = {**clean_environment(), "RECOLLECT_HOME": str(tmp_path)}
    try:
        done = hook(prompt("Hello?", tmp_path), env)
    finally:
        listener.close()
        claim.release()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_imports_little():
    """It is a new process before every prompt; how long that takes is in bench.hook."""
    told = "import sys, recollect.interfaces.hook; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    imported = set(run.stdout.split())
    assert {name for name in imported if name.partition(".")[0] == "recollect"} == {
        "recollect",
        "recollect.interfaces",
        "recollect.interfaces.hook",
        "recollect.interfaces.presence",
        "recollect.policy",
        "recollect.domain",
        "recollect.domain.lines",
        "recollect.policy.rendering",
    }
    others = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names - {"recollect", "__main__"}
    assert not {name for name in others if not name.startswith("_")}, "the standard library alone"
    heavy = "argparse asyncio ast dataclasses email http inspect logging pathlib sqlite3 ssl subprocess urllib uuid"
    assert not imported & set(heavy.split())


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"RECOLLECT_STORE": "elsewhere.db"},
        {"RECOLLECT_STORE": "~/elsewhere.db"},
        {"RECOLLECT_STORE": "postgresql://me:secret@localhost:5432/memory?sslmode=off"},
    ],
)
@pytest.mark.parametrize("configured", ["", 'store = "configured.db"', 'store = "postgres://localhost/x"'])
def test_it_looks_for_the_server_where_the_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], configured: str
):
    for name in clean_environment().keys() ^ os.environ.keys():
        monkeypatch.delenv(name)
    for name, value in {"RECOLLECT_HOME": str(tmp_path), **env}.items():
        monkeypatch.setenv(name, value)
    if configured:
        (tmp_path / "recollect.toml").write_text(configured)
    assert server_file(os.environ) == where(settings.load())


def test_whatever_id_it_prints_is_shown(server: Served, repository: Path):
    answer = Message(text="The night shift waters the ferns.", author="Gardener", role="assistant")  # never a memory
    server.client.ingest([answer], thread_id="ferns")
    kept = server.client.remember("The ferns of the lobby need shade.")
    for _ in range(20):
        done = hook(prompt("What do the ferns of the lobby need, and who waters the ferns?", repository), server.env)
        brought = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""
        named = re.findall(r"\(id (\w{8})(?:, witness [^)]+)?\)", brought)
        if len(named) > 1:
            break
    assert len(named) > 1
    shown = [server.client.show(name) for name in named]
    assert any(one["memory"]["kind"] == "episode" for one in shown)  # a message is called by its thread and its place
    assert any(one["id"] == kept.item_id and one["memory"]["held"].startswith("since ") for one in shown)
    assert [server.client.find(name)[-8:] for name in named] == named
