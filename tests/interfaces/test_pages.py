"""What is written about the command line is so: docs/cli.md, README.md, and the demo."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from recollect.interfaces.cli.app import app

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "cli.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS: Mapping[str, Any] = getattr(typer.main.get_command(app), "commands")  # noqa: B009 - typed as a plain command
EVERYWHERE = {"--store", "--tenant", "--user", "--role", "--agent"}


def section(command: str) -> str:
    found = re.search(rf"^### {command}\n(.*?)(?=^##|\Z)", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert found, f"docs/cli.md has no section on {command}"
    return found[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_is_in_the_page(command: str):
    told = section(command)
    options = {name for param in COMMANDS[command].params for name in param.opts if name.startswith("-")}
    missing = [name for name in options - EVERYWHERE - {"--help"} if name not in re.findall(r"-{1,2}[a-z-]+", told)]
    assert not missing, f"docs/cli.md does not tell of {command} {', '.join(missing)}"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_in_the_page_exists(command: str):
    there = {name for param in COMMANDS[command].params for name in param.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", section(command))) <= there


def test_no_section_is_about_a_command_that_is_not_there():
    assert set(re.findall(r"^### (.+)$", PAGE, flags=re.MULTILINE)) == set(COMMANDS)


def test_the_options_for_all_commands_are_in_the_page():
    told, _, _ = PAGE.partition("## Remember")
    assert all(option in told for option in EVERYWHERE | {"--json", "--yes", "--help", "--version"})


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_takes_the_common_options(command: str):
    assert COMMANDS[command].help
    assert {name for param in COMMANDS[command].params for name in param.opts} >= EVERYWHERE


def test_the_python_of_the_readme_runs(tmp_path: Path):
    [block] = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    memory, receipt = done.stdout.splitlines()
    assert re.fullmatch(r"[\d.]+ \[profile\] Mira, \d+ \w+ \d{4}: I'm allergic to walnuts, by the way\.", memory)
    assert receipt == "    Mira I'm allergic to walnuts, by the way."


def test_the_tour_runs_and_tidies_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = subprocess.run([ROOT / "scripts" / "tour"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"^\$ recollect (\w+)", done.stdout, flags=re.MULTILINE)
    assert {"init", "remember", "ask", "show", "delete", "history", "rollback", "verify"} <= set(shown)
    assert "Roll this back? [y/N] y" in done.stderr
    assert "✗" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_demo_is_a_server_that_says_how_to_connect(place: Path):
    with subprocess.Popen([ROOT / "scripts" / "demo", "--port", "0"], stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout
        told = ""
        for line in demo.stdout:
            told += line
            if "Stop with Ctrl-C." in line:
                break
        demo.terminate()
        rest = demo.stdout.read()
    assert str(place / "memory.db") in told
    assert re.search(r"claude mcp add --transport http recollect http://127\.0\.0\.1:\d+/mcp --header", told)
    assert "recollect-hook" in told
    assert demo.returncode == 0
    assert "stopped" in rest
