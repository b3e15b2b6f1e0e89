"""What was said in private, asked for by a colleague over HTTP, MCP and the command line, on both engines."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from recollect.domain.ids import TenantId
from recollect.domain.scope import Role
from tests.confided import LATER, OPEN, PRIVATE, QUESTION, SECRET, THREAD, Confided, confide
from tests.hunt import LONG
from tests.interfaces.conftest import CommandLine
from tests.interfaces.inside import Inside, inside
from tests.worlds import World

QUESTIONS = (QUESTION, "diabetes", "boathouse")
IN_HOUSE = {"projects": frozenset({"house"})}
COLLEAGUES = {
    "member": ("ben", Role.MEMBER, IN_HOUSE),
    "agent": ("pilot", Role.AGENT, {"agent_id": "pilot", **IN_HOUSE}),
    "moderator": ("mona", Role.MODERATOR, {}),
    "admin": ("root", Role.ADMIN, {}),
}


@pytest.fixture
def server(where: str, tmp_path: Path) -> Iterator[Inside]:
    with inside(tmp_path, where) as running:
        yield running


@pytest.fixture
def told(server: Inside) -> Confided:
    return confide(World(server.memory._store, TenantId("default")))  # type: ignore[attr-defined]


def leaked(text: str) -> str:
    """What of a text is private, with what is around it; the questions themselves hold the word, too."""
    for question in QUESTIONS:
        text = text.replace(f'"{question}"', "").replace(QUESTION, "")
    found = SECRET.search(text)
    return text[max(0, found.start() - 200) : found.end() + 200] if found else ""


# -- HTTP ---------------------------------------------------------------------------------------------------


def over_http(server: Inside, told: Confided, token: str) -> str:
    """Everything that every route answers."""
    found: list[bytes] = []
    for number, text in enumerate(QUESTIONS):
        for form in ("bullets", "full"):
            for source in ("memory", "evidence", "any"):
                asked = {"query": text, "return": form, "source": source, "threshold": 0, "budget_tokens": 4000}
                turn = f"{number} {form} {source}"
                for _ in range(5 if LONG else 2):
                    found.append(server.ask("POST", "/memory/query", {**asked, "turn_id": turn}, token=token).body)
    asked = {"query": "boathouse", "thread_id": THREAD, "budget_tokens": 4000}
    found.append(server.ask("POST", "/memory/query", asked, token=token).body)
    for item in told.items:
        paths = ["", "?task=audit", "/versions", "/evidence", "/history"]
        paths += [f"/evidence?witness={quote(witness)}" for witness in told.witnesses]
        paths += [f"/versions/{version.id}" for version in told.versions if version.item_id == item.id]
        paths += [f"?level=more&turn_id={item.id}"] * 6
        found += [server.ask("GET", f"/memory/{item.id}{path}", token=token).body for path in paths]
    found.append(server.ask("GET", "/audit?limit=1000", token=token).body)
    return "\n".join(body.decode() for body in found)


@pytest.mark.parametrize("who", COLLEAGUES)
def test_nothing_private_reaches_a_colleague_over_http(server: Inside, told: Confided, who: str):
    name, role, reach = COLLEAGUES[who]
    answers = over_http(server, told, server.token(name, role, **reach))
    assert OPEN in answers
    assert LATER in answers
    assert leaked(answers) == ""


def test_what_a_colleague_may_not_see_is_not_found_over_http(server: Inside, told: Confided):
    token = server.token("ben", Role.MEMBER, **IN_HOUSE)
    for item in (told.private, told.unmarked, told.marked, told.part):
        for path in ("", "/versions", "/evidence", "/history"):
            assert server.ask("GET", f"/memory/{item.id}{path}", token=token).status == 404


def test_who_took_part_reads_it_over_http(server: Inside, told: Confided):
    token = server.token("ana", Role.MEMBER, **IN_HOUSE)
    answers = over_http(server, told, token)
    assert PRIVATE in answers
    shown = server.ask("GET", f"/memory/{told.private.id}", token=token)
    assert (shown.status, "diabetes" in shown.document["content"]) == (200, True)
    said = server.ask("GET", f"/memory/{told.thread.id}/evidence?witness=s:2-2", token=token).document["events"]
    assert [event["text"] for event in said] == [PRIVATE]


# -- MCP ----------------------------------------------------------------------------------------------------


def over_mcp(server: Inside, told: Confided, token: str) -> str:
    """Everything that every tool answers."""
    found: list[str] = []

    async def play() -> None:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
            connection = streamable_http_client(f"{server.address}/mcp", http_client=http)
            async with Client(connection) as client:
                for text in QUESTIONS:
                    for source in ("any", "memory", "evidence"):
                        asked = {"query": text, "source": source, "budget_tokens": 4000}
                        found.append(repr(await client.call_tool("memory_query", asked)))
                for item in told.items:
                    for _ in range(5):
                        more = {"id": item.id, "turn_id": f"more {item.id}"}
                        found.append(repr(await client.call_tool("memory_more", more)))
                    for witness in (None, *told.witnesses):
                        found.append(
                            repr(await client.call_tool("memory_evidence", {"id": item.id, "witness": witness}))
                        )

    anyio.run(play)
    return "\n".join(found)


def test_nothing_private_reaches_a_colleague_over_mcp(server: Inside, told: Confided):
    answers = over_mcp(server, told, server.token("pilot", Role.AGENT, agent_id="pilot", **IN_HOUSE))
    assert OPEN in answers
    assert leaked(answers) == ""


def test_who_took_part_reads_it_over_mcp(server: Inside, told: Confided):
    answers = over_mcp(server, told, server.token("robin", Role.AGENT, agent_id="robin", **IN_HOUSE))
    assert PRIVATE in answers


# -- the command line ---------------------------------------------------------------------------------------


def over_the_command_line(recollect: CommandLine, told: Confided, where: str, *who: object) -> str:
    """Everything that every command says."""
    given = ["--store", where, *who]
    commands: list[list[object]] = [
        ["ask", text, *options, "--threshold", 0]
        for text in QUESTIONS
        for options in ([], ["--evidence"], ["--full"], ["--explain", "--json"], ["--thread", THREAD])
    ]
    commands += [["show", "--state", "all"], ["show", "--project", "house", "--json"], ["history"]]
    commands += [["export", "--of", who[1]]]
    for item in told.items:
        commands += [[name, item.id] for name in ("show", "history", "levels", "evidence", "more")]
        commands += [["show", item.id, "--json"], ["more", item.id, "--task", "audit"], ["history", item.id, "--json"]]
        commands += [["more", item.id, "--turn", f"turn of {item.id}"]] * (5 if LONG else 2)
        commands += [["evidence", item.id, witness] for witness in told.witnesses]
        commands += [["levels", item.id, one.id] for one in told.versions if one.item_id == item.id]
    answers = [recollect(*command, *given) for command in commands]
    return "\n".join(part for answer in answers for part in (answer.out, answer.err))


@pytest.mark.parametrize("role", ["member", "moderator", "admin"])
def test_nothing_private_reaches_a_colleague_at_the_command_line(
    bare: CommandLine, told: Confided, where: str, role: str
):
    if role != "member" and where.startswith("postgres") and not LONG:
        pytest.skip("every command is tried for every role on both engines in test_doors")
    said = over_the_command_line(bare, told, where, "--user", "ben", "--role", role)
    assert "boathouse is booked" in " ".join(said.split())
    assert leaked(said) == ""


def test_who_took_part_reads_it_at_the_command_line(bare: CommandLine, told: Confided, where: str):
    said = over_the_command_line(bare, told, where, "--user", "ana", "--role", "member")
    assert leaked(said)
    assert bare("show", told.private.id, "--store", where, "--user", "ana", "--role", "member").code == 0


def test_an_admin_erases_at_the_command_line_what_it_may_not_read(bare: CommandLine, told: Confided, where: str):
    who = ("--store", where, "--user", "root", "--role", "admin")
    assert bare("show", told.private.id, *who).code != 0
    bare.do("erase", told.private.id[-12:], "--yes", *who)
    assert told.world.store.item(told.world.tenant, told.private.id) is None
