"""Imports go one way, and what decides reads nothing from the world: docs/ARCHITECTURE.md."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "recollect"

BASE = {"domain", "policy", "errors", "holdings", "ports", "clock", "settings", "weighing"}
MEMORY = BASE | {"write", "care", "read"}
WHOLE = MEMORY | {
    "gate",
    "custody",
    "keeping",
    "levels",
    "memory",
    "minds",
    "client",
    "jobs",
    "store",
    "models",
    "wiring",
    "__init__",
}

# What each part of the package may import besides itself. A part not named here does not belong.
MAY_IMPORT: dict[str, set[str]] = {
    "domain": set(),
    "errors": {"domain"},
    "policy": {"domain", "errors"},
    "holdings": {"domain"},
    "ports": {"domain", "errors", "holdings"},
    "clock": {"domain", "errors"},
    "settings": {"domain", "policy", "errors"},
    "store": {"domain", "holdings", "ports", "errors"},
    "models": {"domain", "ports", "errors"},
    "write": BASE,
    "care": BASE | {"repository"},
    "read": BASE,
    "repository": {"domain", "errors"},
    "weighing": {"domain", "policy", "errors", "ports"},
    "gate": MEMORY,
    "custody": MEMORY | {"gate"},
    "keeping": MEMORY | {"gate", "custody"},
    "levels": MEMORY | {"gate", "custody", "keeping"},
    "memory": MEMORY | {"gate", "custody", "levels"},
    "client": {"domain", "errors", "settings", "write"},
    "jobs": MEMORY | {"memory", "custody"},
    "minds": BASE | {"models"},
    "wiring": WHOLE - {"__init__"},
    "__init__": WHOLE,
    "interfaces": WHOLE,
    "integrations": WHOLE,
}
MODULES = {
    "__init__",
    "gate",
    "custody",
    "keeping",
    "levels",
    "memory",
    "minds",
    "client",
    "wiring",
    "settings",
    "holdings",
    "ports",
    "errors",
    "clock",
    "repository",
    "weighing",
}

PURE = {"domain", "policy"}
BUILTINS = {"__import__", "breakpoint", "eval", "exec", "input", "open", "print"}
# A name stands for everything below it; what is pure down there is excepted.
# fmt: off
WORLD = BUILTINS | {
    "asyncio", "concurrent", "ctypes", "datetime.date.today", "datetime.datetime.now",
    "datetime.datetime.today", "datetime.datetime.utcnow", "fcntl", "fileinput", "ftplib", "getpass",
    "glob", "http", "importlib", "io", "linecache", "locale", "logging", "mmap", "multiprocessing", "os",
    "pathlib", "platform", "random", "secrets", "select", "selectors", "shelve", "shutil", "signal",
    "smtplib", "socket", "socketserver", "sqlite3", "ssl", "subprocess", "sys.argv", "sys.stderr",
    "sys.stdin", "sys.stdout", "tempfile", "threading", "time", "urllib", "uuid.getnode", "uuid.uuid1",
    "uuid.uuid4", "uuid.uuid6", "uuid.uuid7",
}
# fmt: on
PURE_AFTER_ALL = {"pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath", "urllib.parse"}
ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "os.unsetenv"}
# The hook is a fresh process before every prompt: it finds the default store by itself, without what settings imports.
# The bundled networks set one variable: the runtime it loads would report to its makers otherwise.
READERS = {"recollect.settings", "recollect.interfaces.hook", "recollect.models.network"}


def complaints(source: str, module: str, *, package: bool = False) -> list[str]:
    """What is wrong with the module of this dotted name; `package` says that it is an `__init__.py`."""
    here = _room(module)
    found: list[str] = []
    for name, line in _names(ast.parse(source), module, package).items():
        top = name.partition(".")[0]
        if top == "recollect":
            there = _room(name)
            broken = there != here and there not in MAY_IMPORT[here] and f"{here} must not import {there}"
        elif here in PURE and top not in sys.stdlib_module_names | BUILTINS:
            broken = f"{here} keeps to the standard library"
        elif here in PURE and _within(name, WORLD) and not _within(name, PURE_AFTER_ALL):
            broken = f"{here} reads nothing from the world"
        else:
            broken = module not in READERS and _within(name, ENVIRONMENT) and "only settings reads the environment"
        if broken:
            found.append(f"{module}:{line}: {broken} ({name})")
    return found


def _room(name: str) -> str:
    """The part of the house that a dotted name lies in; what recollect itself exports lies in `__init__`."""
    second = [*name.split("."), ""][1]
    return second if second in MAY_IMPORT else "__init__"


def _within(name: str, tops: set[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:length]) in tops for length in range(1, len(parts) + 1))


def _names(tree: ast.Module, module: str, package: bool) -> dict[str, int]:
    """Every imported name and every use of an import or of a builtin: in full, with its first line."""
    found: dict[str, int] = {}
    known = {name: name for name in BUILTINS - _bound(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.name, node.lineno)
                top = alias.name.partition(".")[0]
                known[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, module, package)
            for alias in node.names:
                full = f"{origin}.{alias.name}"
                found.setdefault(full, node.lineno)
                known[alias.asname or alias.name] = full
    for line, chain in _chains(tree):
        first, *rest = chain
        if first in known:
            found.setdefault(".".join([known[first], *rest]), line)
    return found


def _bound(tree: ast.Module) -> set[str]:
    """The names the module gives a meaning of its own, which then are not the builtins."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store()) | ast.arg(name) | ast.FunctionDef(name) | ast.ClassDef(name):
                bound.add(name)
            case _:
                pass
    return bound


def _origin(node: ast.ImportFrom, module: str, package: bool) -> str:
    if node.level == 0:
        return node.module or ""
    up = node.level - 1 if package else node.level
    base = module.split(".")[: len(module.split(".")) - up]
    return ".".join([*base, node.module] if node.module else base)


def _chains(node: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Names and whole dotted chains, such as `datetime.now` in `datetime.now(UTC)`."""
    if isinstance(node, ast.Name | ast.Attribute):
        rest: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            rest.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            yield node.lineno, [inner.id, *rest]
            return
    for child in ast.iter_child_nodes(node):
        yield from _chains(child)


def test_the_house_has_only_the_rooms_of_the_picture():
    modules = {path.stem for path in SOURCE.glob("*.py")}
    packages = {path.name for path in SOURCE.iterdir() if any(path.rglob("*.py"))}
    assert modules <= MODULES
    assert packages <= MAY_IMPORT.keys() - MODULES


def test_imports_go_one_way_and_decisions_read_nothing_from_the_world():
    found: list[str] = []
    for path in sorted(SOURCE.rglob("*.py")):
        package = path.name == "__init__.py"
        inside = path.relative_to(SOURCE.parent).with_suffix("")
        module = ".".join((inside.parent if package else inside).parts)
        found += complaints(path.read_text(encoding="utf-8"), module, package=package)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("recollect.domain.item", "from recollect.policy import pairs"),
        ("recollect.domain.item", "from recollect.errors import Refused"),
        ("recollect.domain.item", "from recollect import Memory"),
        ("recollect.domain.item", "import recollect.store.sqlite as db"),
        ("recollect.domain.item", "from .. import store"),
        ("recollect.domain.item", "from ..store.sqlite import SqliteStore"),
        ("recollect.domain.item", "import numpy"),
        ("recollect.policy.pairs", "import numpy as np"),
        ("recollect.policy.pairs", "from recollect.write import commit"),
        ("recollect.policy.pairs", "from recollect.ports import Store"),
        ("recollect.policy.pairs", "def f():\n    from recollect.settings import Settings"),
        ("recollect.write.commit", "from recollect.read import query"),
        ("recollect.care.compress", "from ..write.commit import commit"),
        ("recollect.read.query", "from recollect.care import forget"),
        ("recollect.read.query", "from recollect.memory import Memory"),
        ("recollect.read.query", "from recollect.store.sqlite import SqliteStore"),
        ("recollect.memory", "from recollect.jobs import worker"),
        ("recollect.memory", "from .interfaces import cli"),
        ("recollect.jobs.worker", "from recollect.integrations import langgraph"),
        ("recollect.store.sqlite", "from recollect.policy import pairs"),
        ("recollect.store.sqlite", "from recollect.models import local"),
        ("recollect.models.local", "from recollect.store import sqlite"),
        ("recollect.ports", "if TYPE_CHECKING:\n    from recollect.memory import Memory"),
    ],
)
def test_an_import_against_the_grain_is_seen(module: str, source: str):
    assert complaints(source, module)


@pytest.mark.parametrize("module", ["recollect.domain.item", "recollect.policy.pairs"])
@pytest.mark.parametrize(
    "source",
    [
        "from datetime import datetime\nat = datetime.now()",
        "from datetime import datetime as d\nfield(default_factory=d.utcnow)",
        "import datetime as dt\nat = dt.datetime.now(dt.UTC).isoformat()",
        "import datetime\nat = datetime.date.today()",
        "import time",
        "from time import monotonic",
        "text = open('x').read()",
        "print('hello')",
        "import os",
        "import os.path",
        "from pathlib import Path",
        "import random",
        "from secrets import token_hex",
        "import uuid\nnew = uuid.uuid4()",
        "from uuid import uuid7",
        "import socket",
        "import subprocess",
        "import urllib.request",
        "from urllib import request",
        "import logging.handlers",
        "import sys\nsys.stdout.write('x')",
    ],
)
def test_a_look_at_the_world_is_seen(module: str, source: str):
    assert complaints(source, module)


@pytest.mark.parametrize(
    "source",
    [
        "import os\nhome = os.environ['HOME']",
        "import os as system\nhome = system.getenv('HOME')",
        "from os import environ",
        "from os import getenv as read",
    ],
)
def test_only_settings_reads_the_environment(source: str):
    assert complaints(source, "recollect.interfaces.cli")
    assert not complaints(source, "recollect.settings")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("recollect.domain.item", "from datetime import UTC, datetime\nat = datetime.fromtimestamp(0, UTC)"),
        (
            "recollect.domain.item",
            "from uuid import UUID\nfrom recollect.domain.ids import uuid7\nuuid7(now)",
        ),
        (
            "recollect.domain.item",
            "from pathlib import PurePosixPath\nimport urllib.parse\nurllib.parse.quote('')",
        ),
        ("recollect.domain.record", "def find(open: bool) -> bool:\n    return open"),
        (
            "recollect.policy.pairs",
            "from recollect.domain.item import Item\nfrom recollect.errors import Refused",
        ),
        ("recollect.write.commit", "from recollect.policy import pairs\nfrom recollect.ports import Store"),
        ("recollect.store.sqlite", "import apsw\nfrom pathlib import Path\nfrom .rows import row"),
        ("recollect.clock", "import os\nos.urandom(10)"),
        ("recollect.interfaces.cli", "from recollect import open_memory\nfrom recollect.jobs import worker"),
    ],
)
def test_what_the_picture_allows_passes(module: str, source: str):
    assert complaints(source, module) == []


def test_relative_imports_in_a_package_start_at_the_package_itself():
    assert complaints("from .store import x", "recollect.domain", package=True) == []
    assert complaints("from ..store import x", "recollect.domain", package=True)
