"""What the documents say is so: settings, changes, roles, folders, commands, links. And they name no machine."""

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from recollect import settings
from recollect.domain.change import Change, Irreversible, Plain, Verb, inverse, operation
from recollect.domain.ids import TenantId
from recollect.domain.scope import Principal, Role
from recollect.interfaces.cli.app import app
from recollect.jobs.kinds import KINDS
from recollect.policy.access import Action, Allowed, may
from recollect.ports import Store
from tests import strategies as some
from tests.policy import threads

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "recollect"
DOCS = ROOT / "docs"
ARCHITECTURE = (DOCS / "ARCHITECTURE.md").read_text("utf-8")
DOMAIN = (DOCS / "DOMAIN.md").read_text("utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
ADRS = sorted((DOCS / "adr").glob("*.md"))

page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
adr = pytest.mark.parametrize("adr", ADRS, ids=lambda adr: adr.stem)


# -- reading Markdown -----------------------------------------------------------------------------------------


def section(text: str, title: str) -> str:
    """What stands under a heading, up to the next one of the same rank."""
    rank = title.partition(" ")[0]
    _, found, rest = text.partition(f"\n{title}\n")
    assert found, f"there is no heading {title!r}"
    return "\n".join(takewhile(lambda line: not line.startswith(f"{rank} "), rest.split("\n")))


def rows(text: str) -> list[list[str]]:
    """The rows of all tables in a text, cell by cell, titles included."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if set("".join(row)) - set("-: ")]


def table(text: str) -> dict[str, list[str]]:
    """The rows by their first cell."""
    return {first.strip("`"): rest for first, *rest in rows(text)}


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def fenced(text: str) -> list[str]:
    """The fenced blocks."""
    return re.findall(r"^```\w*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def slugs(text: str) -> set[str]:
    """The anchors of the headings."""
    titles = re.findall(r"^#+ (.+)$", prose(text), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


# -- settings -------------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> settings.Settings:
    for field in fields(settings.Settings):
        monkeypatch.delenv(f"RECOLLECT_{field.name.upper()}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return settings.load()


def test_every_setting_has_its_row_with_its_variable_and_its_default(nothing_set: settings.Settings):
    told = table((DOCS / "settings.md").read_text("utf-8"))
    del told["TOML key"]
    assert set(told) == {field.name for field in fields(settings.Settings)}
    for name, (variable, default, meaning) in told.items():
        assert variable == f"`RECOLLECT_{name.upper()}`"
        assert meaning
        if name in ("tenant", "role", "patience", "job_cap", "lease"):
            assert default.strip("`") == f"{getattr(nothing_set, name)}".removesuffix(".0"), name
    assert nothing_set.home == Path.home() / ".recollect"
    assert nothing_set.store == str(nothing_set.home / "memory.db")


def test_the_variables_of_the_table_are_the_ones_that_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    given = {
        "store": str(tmp_path / "x.db"),
        "home": str(tmp_path),
        "tenant": "acme",
        "user": "mira",
        "role": "member",
        "agent": "robin",
        "patience": "7",
        "job_cap": "3",
        "lease": "9",
    }
    for name, value in given.items():
        monkeypatch.setenv(f"RECOLLECT_{name.upper()}", value)
    read = settings.load()
    assert {name: f"{getattr(read, name)}".removesuffix(".0") for name in given} == given


# -- changes --------------------------------------------------------------------------------------------------

CHANGES = table(section(DOMAIN, "## Changes"))


@pytest.mark.parametrize("change", get_args(Change), ids=lambda change: change.__name__)
def test_every_change_has_its_row(change: type[Change]):
    assert change.__name__ in CHANGES, f"{change.__name__} has no row in docs/DOMAIN.md"


def test_no_row_tells_of_a_change_that_is_not_there():
    assert set(CHANGES) == {"change"} | {change.__name__ for change in get_args(Change)}


@given(change=some.plain_changes())
def test_the_row_of_a_change_names_its_inverse_and_its_word(change: Plain):
    _, back, word = CHANGES[type(change).__name__]
    match inverse(change):
        case Irreversible(why) if type(change).__name__ != "Note":
            assert back == f"irreversible: {why}"
        case Irreversible():
            assert "irreversible" in back
        case other:
            assert code(back)[0] == type(other).__name__
    told = operation(change)
    assert told in code(word) or (type(change).__name__ == "Note" and told.partition("_")[2])


def test_the_verbs_of_a_revision_are_all_named():
    assert set(code(CHANGES["Revise"][2])) == {verb.value for verb in Verb}


def test_every_operation_word_is_read_as_history_or_left_out_on_purpose():
    told = table(section(DOMAIN, "## The journal as history"))
    words = {word for first in told for word in re.findall(r"\w+", first)}
    spelt = {change.__name__.lower() for change in get_args(Plain)} - {"revise", "note", "consent"}
    spelt |= {verb.value for verb in Verb} | {"unprotect", "checkpoint", "family", "consent_"}
    assert spelt <= words


def test_every_noun_and_verb_of_the_domain_is_in_the_glossary():
    told = set(re.findall(r"\w+", " ".join(code(section(DOMAIN, "## Glossary") + section(DOMAIN, "## Changes")))))
    missing = {name for path in SOURCE.glob("domain/*.py") for name in _public(path.read_text("utf-8"))} - told
    assert not missing, f"docs/DOMAIN.md does not explain {', '.join(sorted(missing))}"


def _public(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name


# -- roles ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", Action)
def test_the_table_of_roles_is_what_the_policy_says(action: Action):
    told = table(section(DOMAIN, "## Roles"))
    assert action.value in told, f"no row for: {action.value}"
    assert told["to …"] == [role.value for role in Role]
    allowed = [isinstance(may(_somebody(role), action), Allowed) for role in Role]
    assert told[action.value] == ["yes" if one else "no" for one in allowed]


def _somebody(role: Role) -> Principal:
    agent = "robin" if role is Role.AGENT else None
    return Principal(tenant=TenantId("acme"), id="mira", role=role, agent_id=agent)


# -- the house ------------------------------------------------------------------------------------------------


def drawn(tree: str) -> set[str]:
    """The paths in a drawn tree: two spaces a level, a folder ends with a slash. The first line is the root."""
    found: set[str] = set()
    above: list[str] = []
    for line in tree.splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2
        above = [*above[: depth - 1], line.split()[0]]
        found.add("".join(above))
    return found


def built(source: Path) -> set[str]:
    """Folders and modules down to the second level. A package's own `__init__.py` goes without saying."""
    found = {"__init__.py"}
    for path in [*source.glob("*"), *source.glob("*/*")]:
        name = path.relative_to(source).as_posix()
        if path.is_dir() and any(path.rglob("*.py")):
            found.add(f"{name}/")
        elif path.suffix == ".py" and path.name != "__init__.py":
            found.add(name)
    return found


def test_the_drawn_house_is_the_one_that_is_built():
    [tree] = [block for block in fenced(section(ARCHITECTURE, "## The house")) if block.startswith("src/recollect/")]
    told, there = drawn(tree), built(SOURCE)
    assert not there - told, f"not in docs/ARCHITECTURE.md: {', '.join(sorted(there - told))}"
    assert not told - there, f"in docs/ARCHITECTURE.md and nowhere else: {', '.join(sorted(told - there))}"


def test_a_tree_is_read_by_its_indentation():
    tree = "house/\n  roof.py   dry\n  cellar/   cold\n    shelf.py\n    wine/\n  attic/\n"
    assert drawn(tree) == {"roof.py", "cellar/", "cellar/shelf.py", "cellar/wine/", "attic/"}


def test_the_door_is_shown_with_the_parameters_it_has():
    waist = section(ARCHITECTURE, "## The waist")
    [shown] = [block for block in fenced(waist) if block.startswith("def apply(")]
    there = [name for name in inspect.signature(Store.apply).parameters if name != "self"]
    assert re.findall(r"^ +(\w+):", shown, flags=re.MULTILINE) == there
    assert [name for name in table(waist) if name != "parameter"] == there


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_job_is_told_of(kind: str):
    assert kind in code(section(ARCHITECTURE, "## Jobs"))


# -- the command line -----------------------------------------------------------------------------------------


def commands() -> Mapping[str, Any]:
    return getattr(typer.main.get_command(app), "commands")  # noqa: B009 - typer calls it a plain command


@page
def test_every_command_that_is_shown_exists(page: Path):
    assert not unknown(page.read_text("utf-8"), commands())


def unknown(text: str, known: Iterable[str]) -> set[str]:
    """Commands in code, inline or fenced, that there are none of."""
    shown = " ; ".join([*fenced(text), *code(prose(text))])
    return set(re.findall(r"(?<![\w/.-])recollect ([a-z][a-z-]*)", shown)) - set(known)


def test_a_command_that_does_not_exist_is_seen():
    text = "`recollect show` and `recollect dance`\n```sh\nrecollect sing\n```\nrecollect words in prose\n"
    assert unknown(text, {"show"}) == {"dance", "sing"}


@pytest.mark.parametrize("command", commands())
def test_every_command_is_told_of(command: str):
    told = {name for shown in code(CHANGELOG) for name in re.findall(r"[a-z-]+", shown)}
    assert command in told, f"CHANGELOG.md does not tell of recollect {command}"


# -- decisions ------------------------------------------------------------------------------------------------


@adr
def test_a_decision_is_short_and_says_what_it_costs(adr: Path):
    text = adr.read_text("utf-8")
    assert len(text.splitlines()) <= 40
    assert re.search(r"^Status: (accepted|superseded)\b", text, flags=re.MULTILINE)
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Context", "## Decision", "## Cost"]


@adr
def test_a_decision_has_the_number_of_its_file(adr: Path):
    assert adr.read_text("utf-8").startswith(f"# {adr.name[:4]}. ")


def test_decisions_are_numbered_without_gaps():
    assert [int(adr.name[:4]) for adr in ADRS] == list(range(1, len(ADRS) + 1))


# -- all pages ------------------------------------------------------------------------------------------------


def dead_links(text: str, page: Path) -> list[str]:
    """Relative links that lead nowhere: to no file, or to no heading of it."""
    found: list[str] = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in slugs(target.read_text("utf-8"))):
            found.append(link)
    return found


@page
def test_every_link_leads_somewhere(page: Path):
    assert not dead_links(page.read_text("utf-8"), page)


@pytest.mark.parametrize("link", ["nowhere.md", "adr/9999-nothing.md", "SECURITY.md#no-such-heading", "#nor-here"])
def test_a_dead_link_is_seen(link: str):
    assert dead_links(f"See [this]({link}).", DOCS / "DOMAIN.md") == [link]


PLACES = re.compile(
    r"""
    https?://(?!(?:[\w.-]+\.)?example\.(?:com|org)\b|localhost\b|127\.0\.0\.1\b)\S+     # a host of somebody's
  | postgres(?:ql)?://(?!\S*@?(?:localhost|127\.0\.0\.1|host|[\w.-]*example\.com)[:/…`])[^\s`…]+
  | (?<![\w.~>}/-])/(?:work|home|root|tmp|usr|var|mnt|opt|srv|etc|Users|private)/\S*      # a path of one machine
  | \b[A-Z]:\\\S+
  | \b(?!127\.0\.0\.1\b|0\.0\.0\.0\b)\d{1,3}(?:\.\d{1,3}){3}\b                            # an address
    """,
    re.VERBOSE,
)


@page
def test_no_page_names_a_machine(page: Path):
    assert not PLACES.findall(page.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "see https://wiki.corp.test/page",
        "`http://build-7:8080`",
        "postgresql://me:pw@db7.internal:5432/x",
        "in `/home/ann/docs`",
        "(/home/mira/notes.md)",
        "/tmp/scratch",
        r"C:\Users\mira",
        "at 10.1.2.3",
    ],
)
def test_a_machine_is_seen(text: str):
    assert PLACES.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8080/api",
        "https://docs.example.com/x",
        "postgresql://recollect:secret@localhost:5432/memory",
        "a `postgresql://` address",
        "postgresql://user:password@host:5432/database",
        "`~/.recollect/recollect.toml`",
        "GET /memory/{id}/history",
        "src/recollect/store/tx.py, tests/home/x",
        "0.0.0.0 is every address of the machine",
    ],
)
def test_examples_are_no_machines(text: str):
    assert not PLACES.search(text)


@given(name=st.sampled_from(["work", "home", "root", "tmp"]), rest=st.from_regex(r"[a-z]{1,8}", fullmatch=True))
def test_a_path_is_seen_wherever_it_stands(name: str, rest: str):
    for around in ("{}", "`{}`", "({})", "see {}."):
        assert PLACES.search(around.format(f"/{name}/{rest}"))


def test_the_pairs_of_levels_are_what_the_code_makes_of_the_threads():
    assert threads.page().strip() in (DOCS / "levels.md").read_text("utf-8")
