"""`recollect-hook`: what Claude Code runs at the start of a session and before each prompt.

It brings up what memory knows, keeps the prompt as evidence, and never stands in the way: whatever goes wrong, it says
nothing and ends well. It is a fresh process each time, so it imports little of the standard library and nothing else.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

from recollect.interfaces.presence import Presence, beside, find
from recollect.policy.rendering import fenced, listed

PATIENCE = 0.3  # seconds that a question, and then the keeping of the prompt, may take
LONGEST = 4_000  # characters of a prompt that are looked for; the beginning tells what it is about
_START = "What matters in this project: decisions, preferences, conventions, constraints, open tasks."


def main() -> None:
    """Whatever happens, the session goes on."""
    try:
        told = json.loads(sys.stdin.buffer.read(8_000_000))
        _answer(told)
        sys.stdout.flush()
    except Exception:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os._exit(0)  # at once: nothing is left to tidy up


def _answer(told: dict[str, Any]) -> None:
    event = told.get("hook_event_name")
    if event not in ("SessionStart", "UserPromptSubmit"):
        return
    here = find(server_file(os.environ))
    if here is None:
        _start()
        return
    session, project = str(told.get("session_id") or "claude-code"), project_of(str(told.get("cwd") or os.getcwd()))
    prompt = str(told.get("prompt") or "")
    if event == "UserPromptSubmit" and not prompt.strip():
        return
    body = _question(session, project) if event == "SessionStart" else _prompt(session, prompt)
    context = _context(_post(here, "/api/memory/query", body))
    if context:
        out = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
        sys.stdout.write(json.dumps(out) + "\n")
        sys.stdout.flush()
    if event == "UserPromptSubmit":
        _post(here, "/api/memory/ingest", _kept(session, project, prompt))


def _question(session: str, project: str) -> dict[str, Any]:
    """At the start: what is known of this project, best first, whatever the question."""
    asked: dict[str, Any] = {"query": f"{project}: {_START}", "filters": {"project_id": project}}
    return {**asked, "top_k": 8, "budget_tokens": 800, "threshold": 0, "thread_id": session}


def _prompt(session: str, prompt: str) -> dict[str, Any]:
    return {"query": prompt[:LONGEST], "top_k": 6, "budget_tokens": 600, "thread_id": session}


def _kept(session: str, project: str, prompt: str) -> dict[str, Any]:
    """The prompt as evidence: the user's own, in the thread of the session."""
    return {
        "thread_id": session,
        "project_id": project,
        "visibility": "user-private",
        "messages": [{"text": prompt, "role": "user"}],
    }


def _context(answer: dict[str, Any]) -> str:
    lines = [str(line) for line in answer.get("header", [])]
    lines += [
        listed(str(result["id"]), str(result["text"]), result.get("meta") or {}) for result in answer.get("results", [])
    ]
    return fenced(lines) if lines else ""


# -- the server ---------------------------------------------------------------------------------------------


def server_file(environment: Mapping[str, str]) -> str:
    """Where the server of the default store says where it is. The same as recollect.settings and recollect.wiring find,
    without their imports; a test compares them."""
    home = os.path.expanduser(environment.get("RECOLLECT_HOME") or "~/.recollect")
    store = environment.get("RECOLLECT_STORE") or _configured(home) or os.path.join(home, "memory.db")
    if store.startswith(("postgresql://", "postgres://")):
        from hashlib import sha256

        place = store.rpartition("@")[2].partition("?")[0]
        return beside(os.path.join(home, f"postgres-{sha256(place.encode()).hexdigest()[:12]}"))
    return beside(os.path.expanduser(store))


def _configured(home: str) -> str:
    file = os.path.join(home, "recollect.toml")
    if not os.path.exists(file):
        return ""
    import tomllib

    with open(file, "rb") as opened:
        return str(tomllib.load(opened).get("store") or "")


def _start() -> None:
    """A server for the next prompt; this one does not wait for it."""
    import subprocess

    subprocess.Popen(
        [sys.executable, "-m", "recollect.interfaces.cli", "serve"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _post(here: Presence, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The server's answer, or nothing where it is late or refuses."""
    place = here.address.removeprefix("http://").rstrip("/")
    host, _, port = place.rpartition(":")
    sent = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {place}\r\nAuthorization: Bearer {here.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\nConnection: close\r\n\r\n"
    )
    end = time.monotonic() + PATIENCE
    with socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE) as line:
        line.sendall(head.encode() + sent)
        got = b""
        while True:
            line.settimeout(max(end - time.monotonic(), 0.001))
            part = line.recv(65_536)
            if not part:
                break
            got += part
    status, _, rest = got.partition(b"\r\n")
    return json.loads(rest.partition(b"\r\n\r\n")[2]) if status.split()[1:2] == [b"200"] else {}


def project_of(folder: str) -> str:
    """The name of the repository that a folder lies in, or of the folder itself."""
    at = os.path.abspath(folder)
    while at != os.path.dirname(at):
        if os.path.exists(os.path.join(at, ".git")):
            break
        at = os.path.dirname(at)
    else:
        at = os.path.abspath(folder)
    return (os.path.basename(at) or "root")[:200]


if __name__ == "__main__":
    main()
