"""The one server of a store: its file, its life, its end."""

import json
import os
import signal
import socket
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest

from recollect.domain.query import Query
from recollect.errors import RecollectError
from recollect.interfaces import presence
from tests.interfaces.conftest import PROGRAM, CommandLine, program
from tests.interfaces.served import serving


@pytest.fixture
def file(place: Path) -> Path:
    return place / "memory.db.server"


def test_a_server_says_where_it_is_to_its_owner_alone_and_takes_that_back(place: Path, file: Path):
    with serving(place, "--port", 0) as server:
        assert json.loads(file.read_text()) == {
            "address": server.address,
            "token": server.token,
            "pid": server.process.pid,
            "version": "0.1.0",
        }
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE((place / "memory.db.token").stat().st_mode) == 0o600
        assert server.client.health() == {"status": "ok", "version": "0.1.0"}
        assert server.stop() == 0
    assert not file.exists()
    assert presence.find(str(file)) is None


def test_a_server_that_is_started_again_answers_to_the_token_it_had(place: Path):
    with serving(place, "--port", 0) as first:
        pass
    with serving(place, "--port", 0) as server:
        assert not server.client.query(Query(text="What is Mira allergic to?")).results
    assert server.token == first.token, "what was connected stays connected"


def test_a_second_server_says_where_the_first_one_is_and_how_to_connect(place: Path):
    with serving(place, "--port", 0) as server:
        again = program("serve", "--json")
        assert again.returncode == 0
        assert json.loads(again.stdout) == server.told
        words = program("serve")
        assert words.returncode == 0
        assert f"served already, by process {server.process.pid}" in words.stdout
        connect = (
            f"claude mcp add --transport http recollect {server.address}/mcp"
            f' --header "Authorization: Bearer {server.token}"'
        )
        assert connect in words.stdout
        line, hooks = program("connect", "claude-code").stdout.splitlines()
        assert line == connect
        commands = [json.loads(hooks)["hooks"][event][0]["hooks"][0] for event in ("SessionStart", "UserPromptSubmit")]
        assert [one["type"] for one in commands] == ["command"] * 2
        assert {Path(one["command"]).name for one in commands} == {"recollect-hook"}
        assert "claude-code" in program("connect", "emacs").stderr
        elsewhere = program("serve", "--port", 1)
        assert elsewhere.returncode == 1
        assert f"served already, at {server.address}" in elsewhere.stderr
        assert server.client.health()["status"] == "ok"


def test_what_a_killed_server_left_is_taken_over(place: Path, file: Path):
    with serving(place, "--port", 0) as first:
        kept = first.client.remember("Mira is allergic to peanuts.")
        first.stop(signal.SIGKILL)
    assert file.exists()
    assert presence.find(str(file)) is None, "nobody is there, whatever the file says"
    with serving(place, "--port", 0) as second:
        assert json.loads(file.read_text())["pid"] == second.process.pid
        assert second.client.show(kept.item_id)["content"] == "Mira is allergic to peanuts."


def test_of_many_servers_that_start_at_once_one_serves(place: Path):
    started = [
        subprocess.Popen([PROGRAM, "serve", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(3)
    ]
    found = presence.wait(str(place / "memory.db.server"), 30)
    try:
        assert found
        others = [one for one in started if one.pid != found.pid]
        assert len(others) == 2
        for one in others:
            out, _ = one.communicate(timeout=30)
            assert one.returncode == 0
            assert json.loads(out)["pid"] == found.pid
    finally:
        for one in started:
            if one.poll() is None:
                one.terminate()
            one.communicate(timeout=30)


def test_a_server_that_is_told_to_stop_loses_nothing_it_acknowledged(place: Path, recollect: CommandLine):
    kept: list[str] = []
    with serving(place, "--port", 0) as server:

        def write(name: int) -> None:
            client = server.client
            try:
                for number in range(1000):
                    kept.append(client.remember(f"Writer {name} wrote the note {number}.").event_id)
            except RecollectError:
                return

        writers = [threading.Thread(target=write, args=(name,)) for name in range(3)]
        for writer in writers:
            writer.start()
        while len(kept) < 10 and any(writer.is_alive() for writer in writers):
            time.sleep(0.01)
        assert server.stop() == 0
        for writer in writers:
            writer.join()
    exported = recollect.do("export").out
    assert len(set(kept)) == len(kept) >= 10
    assert all(event_id in exported for event_id in kept)
    assert recollect.do("verify", "--json").document["whole"]


def test_a_server_does_the_jobs(place: Path, recollect: CommandLine):
    item_id = recollect.remember("The unmistakable word is xylophonist.")
    recollect.do("erase", item_id, "--yes")
    recollect.remember("Another thing.")
    with serving(place, "--port", 0):
        for _ in range(200):
            stages = {job["kind"]: job["stage"] for job in recollect.do("jobs", "--all", "--json").document["jobs"]}
            if stages.get("scrub", "done") == "done":
                break
            time.sleep(0.05)
    assert stages.get("scrub", "done") == "done"


def test_a_port_that_is_taken_is_told_of(place: Path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        refused = program("serve", "--port", other.getsockname()[1])
    assert refused.returncode == 1
    assert "nobody can listen at 127.0.0.1" in refused.stderr
    assert "--port" in refused.stderr
    assert not (place / "memory.db.server").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.com"])
def test_it_does_not_open_to_other_machines_without_credentials(place: Path, host: str):
    refused = program("serve", "--host", host, "--port", 0)
    assert refused.returncode == 1
    assert f"{host} can be reached from other machines" in refused.stderr
    assert "recollect token add" in refused.stderr


def test_with_credentials_it_opens_and_is_called_by_number(place: Path, recollect: CommandLine):
    recollect.do("token", "add", "laptop")
    with serving(place, "--port", 0, "--host", "0.0.0.0", "--allow-host", "memory.example.com") as server:
        assert server.client.health()["status"] == "ok"
        for host, status in (("192.0.2.7:80", 200), ("memory.example.com", 200), ("evil.example.org", 421)):
            assert server.ask("GET", "/api/health", headers={"Host": host}).status == status


def test_a_file_that_was_removed_meanwhile_is_not_mistaken_for_the_own_one(tmp_path: Path):
    path = str(tmp_path / "memory.db.server")
    first = presence.claim(path)
    assert first
    os.unlink(path)
    second = presence.claim(path)
    assert second, "the name was free again"
    first.release()
    assert os.path.exists(path), "what the second one made is not the first one's to remove"
    assert presence.claim(path) is None
    second.release()
    assert not os.path.exists(path)
