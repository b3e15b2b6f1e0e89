"""Privacy at every route, tool and command: a colleague asks everywhere, and a private word comes out nowhere."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import pytest
import typer
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.routing import Route

from recollect.domain.ids import TenantId
from recollect.interfaces import hook
from recollect.interfaces.cli.app import app
from recollect.interfaces.credentials import Credentials
from recollect.interfaces.http import make_app
from recollect.interfaces.http.routes import ROOMS
from recollect.interfaces.presence import Presence
from tests.doors import COLLEAGUES, INSIDER, QUESTIONS, SALON, House, furnished, leaking
from tests.interfaces.conftest import CommandLine
from tests.interfaces.inside import Inside, inside
from tests.worlds import World


@pytest.fixture
def server(where: str, tmp_path: Path) -> Iterator[Inside]:
    with inside(tmp_path, where, keeper="none") as running:
        yield running


@pytest.fixture
def house(server: Inside) -> House:
    world = World(server.memory._store, TenantId("default"), server.clock)  # type: ignore[attr-defined, arg-type]
    return furnished(world, server.memory)


def token(server: Inside, who: Mapping[str, Any]) -> str:
    given = {name: value for name, value in who.items() if name not in ("id", "role")}
    return server.token(who["id"], who["role"], **given)


# -- HTTP ---------------------------------------------------------------------------------------------------


def routes(server: Inside) -> set[str]:
    """Every route of the server, whether or not it is described."""
    app = make_app(server.memory, Credentials("", server.memory.principal, server.credentials), escalation_status=409)
    own = [route for route in app.routes if isinstance(route, Route)]
    assert len(app.routes) == len(own) + 2 * len(ROOMS), "each room is there under /api, and the same without it"
    every = [*own, *(route for room in ROOMS for route in room.routes if isinstance(route, Route))]
    assert len(every) == len(own) + sum(len(room.routes) for room in ROOMS)
    return {f"{method} {route.path}" for route in every for method in route.methods or ()}


def requests(house: House) -> dict[str, list[tuple[str, object]]]:
    """Requests to each route: what stands for the names in it, and the body. Those that change memory come last."""
    questions = [
        {"query": text, "return": form, "source": source, "threshold": 0, "turn_id": f"{text} {form} {source}"[:200]}
        for text in QUESTIONS
        for form in ("bullets", "full")
        for source in ("memory", "evidence", "any")
        for _ in range(4)
    ]
    questions.append({"query": "boathouse", "thread_id": SALON, "budget_tokens": 4000})
    each: list[tuple[str, object]] = [(f"/{item}", None) for item in house.items]
    versions = [(item, version) for item, made in house.versions.items() for version in made]
    place = {"thread_id": "elsewhere", "project_id": "house"}
    return {
        "GET /health": [("", None)],
        "GET /pending": [("", None)],
        "GET /audit": [("?limit=1000", None)],
        "GET /audit/verify": [("?deep=true", None)],
        "POST /memory/query": [("", body) for body in questions],
        "POST /memory/answer": [("", questions[0])],
        "GET /memory/{id}": [
            *each,
            *((f"/{item}?task=audit", None) for item in house.items),
            *((f"/{item}?level=more&turn_id={item}", None) for item in house.items for _ in range(6)),
        ],
        "GET /memory/{id}/versions": each,
        "GET /memory/{id}/versions/{versionId}": [(f"/{item}/{version}", None) for item, version in versions],
        "GET /memory/{id}/evidence": [
            *each,
            *((f"/{item}?witness={quote(witness)}", None) for item in house.items for witness in house.witnesses),
        ],
        "GET /memory/{id}/history": each,
        "GET /projects/{project_id}/epoch": [("/house", None)],
        "POST /memory/remember": [("", {"text": "The boathouse workshop is not on Monday.", **place})],
        "POST /memory/ingest": [("", {"messages": [{"text": "Nobody comes on Monday.", "role": "user"}], **place})],
        "POST /turns/{turn_id}/feedback": [(f"/{item}", {"mark": "incorrect"}) for item in house.items],
        "POST /memory/compress": [("", {"dry_run": True}), *(("", {"memory_id": item}) for item in house.items)],
        "POST /memory/{id}/close": each,
        "PUT /memory/{id}/active/{versionId}": [(f"/{item}/{version}", {}) for item, version in versions],
        "POST /memory/{id}/pin": each,
        "POST /memory/{id}/unpin": each,
        "POST /memory/{id}/archive": each,
        "POST /memory/{id}/restore": each,
        "POST /projects/{project_id}/epoch": [("/house", {})],
    }


def over_http(server: Inside, house: House, bearer: str) -> dict[str, str]:
    """What every route answers."""
    told: dict[str, str] = {}
    for route, asked in requests(house).items():
        method, path = route.split()
        found: list[str] = []
        for named, body in asked:
            names, _, options = named.partition("?")
            at = path
            for name in names.split("/")[1:]:
                at = at[: at.index("{")] + name + at[at.index("}") + 1 :]
            answer = server.ask(method, at + (f"?{options}" if options else ""), body, token=bearer)
            assert answer.status not in (405, 500), (route, named, answer.body)
            assert b"openapi.json" not in answer.body, "the request is not one that the route takes"
            found.append(answer.body.decode())
        told[route] = "\n".join(found)
    return told


def test_every_route_is_tried(server: Inside, house: House):
    assert routes(server) == {*requests(house), "POST /mcp", "GET /api/openapi.json", "HEAD /api/openapi.json"}


@pytest.mark.parametrize("who", COLLEAGUES)
def test_nothing_private_comes_out_of_any_route(server: Inside, house: House, who: str):
    told = over_http(server, house, token(server, COLLEAGUES[who]))
    assert "boathouse" in told["POST /memory/query"]
    assert leaking(told) == {}


def test_who_took_part_hears_it_over_http(server: Inside, house: House):
    told = leaking(over_http(server, house, token(server, INSIDER)))
    assert told.keys() >= {"POST /memory/query", "GET /memory/{id}", "GET /memory/{id}/evidence"}
    assert "GET /memory/{id}/history" in told


# -- the hook -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [True, False])
def test_nothing_private_comes_out_of_the_hook(
    server: Inside, house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], start: bool
):
    """It asks as whoever the server is for; here, as a colleague who works in the same project."""

    def told(who: Mapping[str, Any]) -> str:
        here = Presence(server.address, token(server, who), 0, "")
        monkeypatch.setattr(hook, "find", lambda file: here)
        for question in QUESTIONS:
            event = "SessionStart" if start else "UserPromptSubmit"
            asked = {"hook_event_name": event, "session_id": question, "cwd": "/srv/house", "prompt": question}
            hook._answer(asked)  # type: ignore[attr-defined]
        return capsys.readouterr().out

    monkeypatch.setattr(hook, "PATIENCE", 20)
    said = told(COLLEAGUES["member"])
    assert start or "boathouse" in said
    assert leaking({"hook": said}) == {}


# -- MCP ----------------------------------------------------------------------------------------------------


def over_mcp(server: Inside, house: House, bearer: str) -> dict[str, str]:
    """What every tool answers."""
    calls: dict[str, list[dict[str, object]]] = {
        "memory_query": [
            {"query": text, "source": source, "budget_tokens": 4000, "turn_id": f"{text} {source}"}
            for text in QUESTIONS
            for source in ("any", "memory", "evidence")
            for _ in range(3)
        ],
        "memory_more": [{"id": item, "turn_id": f"more {item}"} for item in house.items for _ in range(5)],
        "memory_evidence": [
            {"id": item, "witness": witness} for item in house.items for witness in (None, *house.witnesses)
        ],
        "memory_remember": [{"text": "The boathouse workshop is not on Monday.", "project_id": "house"}],
    }
    told: dict[str, str] = {}

    async def play() -> None:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {bearer}"}) as http:
            connection = streamable_http_client(f"{server.address}/mcp", http_client=http)
            async with Client(connection) as client:
                tools = {tool.name for tool in (await client.list_tools()).tools}
                assert tools == set(calls), "every tool is tried"
                for name, asked in calls.items():
                    told[name] = "\n".join([repr(await client.call_tool(name, one)) for one in asked])

    anyio.run(play)
    return told


@pytest.mark.parametrize("who", ["member", "agent", "admin"])
def test_nothing_private_comes_out_of_any_tool(server: Inside, house: House, who: str):
    told = over_mcp(server, house, token(server, COLLEAGUES[who]))
    assert "boathouse" in told["memory_query"]
    assert leaking(told) == {}


def test_who_took_part_hears_it_over_mcp(server: Inside, house: House):
    told = leaking(over_mcp(server, house, token(server, INSIDER)))
    assert told.keys() >= {"memory_query", "memory_more", "memory_evidence"}


# -- the command line ---------------------------------------------------------------------------------------

ELSEWHERE = {
    "init": "makes a store",
    "serve": "the routes are tried above",
    "mcp": "the tools are tried above",
    "connect": "writes settings of other programs",
    "token": "credentials, no memory",
    "worker": "does jobs, and says how many",
    "restore": "brings a backup back, for who runs the store",
    "backup": "copies the store, for who runs it",
    "import": "brings an export in",
}
"""Commands that give out no words, or do so by a door that is tried elsewhere."""


def command_lines(house: House, folder: Path, role: str) -> dict[str, list[list[object]]]:
    """Calls of each command that reads or changes memory. Those that change it come last."""
    notes = folder / "notes.md"
    notes.write_text("# Boathouse\nNobody comes on Monday.\n", "utf-8")
    items = house.items
    versions = [(item, version) for item, made in house.versions.items() for version in made]
    whole = [] if role == "admin" else [["export"], ["export", "--state"]]
    entries = [["rollback", "--entry", seq, "--cascade"] for seq in house.entries[-8:]]
    return {
        "ask": [
            ["ask", text, *options, "--threshold", 0]
            for text in QUESTIONS
            for options in ([], ["--evidence"], ["--full"], ["--explain", "--json"], ["--thread", SALON])
        ],
        "show": [
            ["show", "--state", "all"],
            ["show", "--project", "house", "--json"],
            *(["show", item, *more] for item in items for more in ([], ["--json"])),
        ],
        "history": [["history"], *(["history", item, *more] for item in items for more in ([], ["--json"]))],
        "levels": [*(["levels", item] for item in items), *(["levels", *both] for both in versions)],
        "evidence": [["evidence", item, *one] for item in items for one in ([], *([w] for w in house.witnesses))],
        "more": [["more", item, *one] for item in items for one in ([], ["--task", "audit"], *[["--turn", "t"]] * 4)],
        "verify": [["verify", "--deep"]],
        "doctor": [["doctor"]],
        "jobs": [["jobs"], ["jobs", "--json"]],
        "export": [["export", "--of", "ben"], *whole],
        "epoch": [["epoch", "house"]],
        "remember": [["remember", "The boathouse workshop is not on Monday.", "--project", "house"]],
        "ingest": [["ingest", notes, "--project", "house"]],
        "compress": [["compress", "--dry-run"], *(["compress", item] for item in items)],
        "close": [["close", item] for item in items],
        "promote": [["promote", *both] for both in versions],
        "pin": [["pin", item] for item in items],
        "unpin": [["unpin", item] for item in items],
        "archive": [["archive", item] for item in items],
        "undelete": [["undelete", item] for item in items],
        "remake": [["remake", "--dry-run"]],
        "rejudge": [["rejudge", "--dry-run"]],
        "rollback": [[*one, *how] for one in entries for how in (["--preview"], ["--preview", "--json"], ["--yes"])],
        "delete": [["delete", item] for item in items],
        "erase": [["erase", item, "--yes"] for item in items],
    }


def test_every_command_is_tried(house: House, tmp_path: Path):
    known = set(getattr(typer.main.get_command(app), "commands"))  # noqa: B009 - typer calls it a plain command
    assert command_lines(house, tmp_path, "member").keys() | ELSEWHERE.keys() == known


@pytest.mark.parametrize("role", ["member", "moderator", "admin"])
def test_nothing_private_comes_out_of_any_command(
    bare: CommandLine, house: House, where: str, tmp_path: Path, role: str
):
    told: dict[str, str] = {}
    for name, calls in command_lines(house, tmp_path, role).items():
        answers = [bare(*call, "--store", where, "--user", "ben", "--role", role) for call in calls]
        assert not [answer.err for answer in answers if "Usage:" in answer.err]
        told[name] = "\n".join(part for answer in answers for part in (answer.out, answer.err))
    assert "boathouse" in told["show"]
    assert leaking(told) == {}


def test_who_took_part_hears_it_at_the_command_line(bare: CommandLine, house: House, where: str):
    who = ["--store", where, "--user", "ana", "--role", "member"]
    assert leaking({"show": bare("show", house.stated, *who).out}).keys() == {"show"}
