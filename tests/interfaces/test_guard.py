"""Who comes in: token, host, origin and size; and how a refusal is told, whatever was sent."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from recollect.domain.ids import TenantId
from recollect.domain.scope import Principal, Role
from recollect.interfaces.credentials import CredentialFile, Credentials
from recollect.interfaces.http.guard import MAX_BODY, Guard
from tests.hunt import examples
from tests.interfaces.conftest import CommandLine
from tests.interfaces.served import Reply, Served, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("guarded"), "--port", 0) as running:
        yield running


def is_a_problem(reply: Reply, status: int, kind: str) -> dict[str, Any]:
    assert reply.status == status, reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    told = reply.document
    assert set(told) == {"type", "title", "status", "detail", "help"}
    assert (told["type"], told["status"]) == (f"urn:recollect:{kind}", status)
    assert told["title"]
    assert told["detail"]
    return told


# -- who ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/memory/query", "/memory/query", "/api/openapi.json", "/mcp", "/nowhere", "/"])
@pytest.mark.parametrize("token", [None, "", "rec_wrong", "wrong\xff"])
def test_nothing_but_health_answers_without_a_valid_token(server: Served, path: str, token: str | None):
    told = is_a_problem(server.ask("POST", path, {}, token=token), 401, "unauthorized")
    assert "Bearer TOKEN" in told["help"]


def test_the_refusal_says_how_to_come_in(server: Served):
    refused = server.ask("GET", "/api/memory/x", token=None)
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert server.ask("GET", "/api/memory/x", headers={"Authorization": f"Basic {server.token}"}).status == 401
    assert server.ask("GET", "/api/memory/x", headers={"Authorization": f"bearer {server.token}"}).status == 404


@pytest.mark.parametrize("path", ["/api/health", "/health"])
def test_health_needs_no_token(server: Served, path: str):
    assert server.ask("GET", path, token=None).document == {"status": "ok", "version": "0.1.0"}


def test_a_credential_holds_from_when_it_is_made_until_it_is_revoked(recollect: CommandLine, place: Path):
    with serving(place, "--port", 0) as server:
        made = recollect.do("token", "add", "laptop", "--user", "asha", "--role", "member", "--json").document
        assert server.ask("GET", "/api/memory/none", token=made["token"]).status == 404
        [listed] = recollect.do("token", "list", "--json").document["credentials"]
        assert (listed["name"], listed["id"], listed["role"]) == ("laptop", "asha", "member")
        assert made["token"] not in (place / "credentials.toml").read_text()
        recollect.do("token", "revoke", "laptop")
        assert server.ask("GET", "/api/memory/none", token=made["token"]).status == 401


def test_a_credential_reaches_what_it_stands_for_and_nothing_else(recollect: CommandLine, place: Path):
    recollect.do("token", "add", "asha", "--user", "asha", "--role", "member")
    token = recollect.do("token", "add", "asha2", "--user", "asha", "--role", "member", "--json").document["token"]
    mine = recollect.remember("Mira keeps bees.")
    with serving(place, "--port", 0) as server:
        is_a_problem(server.ask("GET", f"/api/memory/{mine}", token=token), 404, "not-found")
        kept = server.ask("POST", "/api/memory/remember", {"text": "Asha keeps goats."}, token=token).document
        told = server.ask("GET", f"/api/memory/{kept['id']}", token=token).document
        assert told["memory"]["user_id"] == "asha"
        others = {"text": "Mira keeps goats.", "user_id": "mira"}
        is_a_problem(server.ask("POST", "/api/memory/remember", others, token=token), 403, "forbidden")


def test_an_agent_speaks_for_itself_alone_and_the_owner_for_any(recollect: CommandLine, place: Path):
    added = recollect.do("token", "add", "robot", "--agent", "planner", "--reach-user", "mira", "--json")
    token = added.document["token"]
    with serving(place, "--port", 0) as server:
        asked = {"query": "deployment", "agent": "stylist"}
        is_a_problem(server.ask("POST", "/api/memory/query", asked, token=token), 403, "forbidden")
        assert server.ask("POST", "/api/memory/query", asked).status == 200
        for agent in ("planner", None):
            own = server.ask("POST", "/api/memory/query", {"query": "deployment", "agent": agent}, token=token)
            assert own.status == 200
            beyond = {"query": "shoes", "agent": agent, "categories": ["style"]}
            is_a_problem(server.ask("POST", "/api/memory/query", beyond, token=token), 403, "forbidden")
        beyond = {"query": "shoes", "agent": "planner", "categories": ["style"]}
        is_a_problem(server.ask("POST", "/api/memory/query", beyond), 403, "forbidden")


def test_broken_credentials_lock_out_their_holders_and_not_the_owner(recollect: CommandLine, place: Path):
    token = recollect.do("token", "add", "laptop", "--json").document["token"]
    with serving(place, "--port", 0) as server:
        (place / "credentials.toml").write_text("[[credential]]\nname = 7\n")
        is_a_problem(server.ask("GET", "/api/memory/none", token=token), 503, "no-credentials")
        assert server.ask("GET", "/api/memory/none").status == 404
    assert "cannot be read" in recollect("token", "list").err


def test_names_of_credentials_are_given_once_and_taken_as_they_are(recollect: CommandLine):
    name = 'odd "name" \\ 🫖'
    recollect.do("token", "add", name, "--reach-project", 'a"b')
    assert "already" in recollect("token", "add", name).err
    [kept] = recollect.do("token", "list", "--json").document["credentials"]
    assert (kept["name"], kept["projects"]) == (name, ['a"b'])
    assert "no credential" in recollect("token", "revoke", "another").err
    assert recollect("token", "add", " ").code == 1
    assert recollect("token", "add").code == 2
    assert recollect("token", "add", "x", "--tenant", "nobody").code == 1


# -- from where -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example.org", "evil.example.org:7077", "localhost.evil.example.org", "192.0.2.7", "", "[::1", "a@b"]
)
def test_a_host_that_is_not_the_servers_own_is_refused(server: Served, host: str):
    for path in ("/api/health", "/api/memory/query", "/mcp"):
        told = is_a_problem(server.ask("POST", path, {}, headers={"Host": host}), 421, "misdirected")
        assert "--allow-host" in told["help"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:1", "[::1]:7077"])
def test_names_of_this_machine_are_the_servers_own(server: Served, host: str):
    assert server.ask("GET", "/api/health", headers={"Host": host}).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example.org", "null", "http://localhost:3000", "file://", ""])
def test_a_page_of_another_site_is_refused_even_with_the_token(server: Served, origin: str):
    is_a_problem(server.ask("POST", "/api/memory/query", {}, headers={"Origin": origin}), 403, "cross-site")
    preflight = server.ask("OPTIONS", "/api/memory/query", headers={"Origin": origin}, token=None)
    assert preflight.status in (401, 403)
    assert not [name for name in preflight.headers if name.startswith("access-control")]


def test_a_page_of_its_own_may_ask(server: Served):
    assert server.ask("GET", "/api/health", headers={"Origin": server.address}).status == 200
    assert server.ask("GET", "/api/health", headers={"Sec-Fetch-Site": "same-origin"}).status == 200
    is_a_problem(server.ask("GET", "/api/health", headers={"Sec-Fetch-Site": "cross-site"}), 403, "cross-site")


# -- what -----------------------------------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_refused_told_or_untold(server: Served):
    big = b'{"text": "' + b"x" * MAX_BODY + b'"}'
    is_a_problem(server.ask("POST", "/api/memory/remember", big), 413, "too-large")
    is_a_problem(server.ask("POST", "/api/memory/remember", headers={"Content-Length": "9" * 15}), 413, "too-large")


BAD: list[tuple[str, object, str]] = [
    ("query", b"", "body"),
    ("query", b"{", "JSON"),
    ("query", b"\xff\xfe", ""),
    ("query", b"[" * 40_000, ""),
    ("query", b'{"query": "x", "top_k": ' + b"9" * 10_000 + b"}", ""),
    ("query", b'{"query": "x", "threshold": NaN}', "threshold"),
    ("query", b'{"query": "\\ud800"}', "query"),
    ("query", [], "body"),
    ("query", {}, "query"),
    ("query", {"query": 7}, "query"),
    ("query", {"query": ""}, "query"),
    ("query", {"query": " \n"}, "blank"),
    ("query", {"query": "x", "topk": 3}, "topk"),
    ("query", {"query": "x", "top_k": 0}, "top_k"),
    ("query", {"query": "x", "budget_tokens": 10**9}, "budget_tokens"),
    ("query", {"query": "x", "return": "song"}, "return"),
    ("query", {"query": "x", "source": "elsewhere"}, "source"),
    ("query", {"query": "x", "filters": {"colour": "red"}}, "filters.colour"),
    ("query", {"query": "x", "filters": {"importance_min": 9}}, "importance_min"),
    ("query", {"query": "x", "filters": {"updated_after": "yesterday"}}, "updated_after"),
    ("query", {"query": "x", "filters": {"updated_after": "0001-01-01T00:00:00+23:59"}}, "updated_after"),
    ("query", {"query": "x", "filters": {"state": "lost"}}, "state"),
    ("query", {"query": "x" * 200_000}, "query"),
    ("remember", {"text": ""}, "blank"),
    ("remember", {"text": "a\x00b"}, "NUL"),
    ("remember", {"text": "x" * 1_000_001}, "1,000,000"),
    ("remember", {"text": "x", "category": ""}, "categor"),
    ("remember", {"text": "x", "importance": 6}, "importance"),
    ("remember", {"text": "x", "visibility": "everyone"}, "visibility"),
    ("remember", {"text": "x", "visibility": "project-shared"}, "project"),
    ("remember", {"text": "x", "thread_id": ""}, "thread"),
    ("remember", {"text": "x", "user_id": "u" * 500}, "user_id"),
    ("remember", {"text": "x", "at": "9999-12-31T23:59:59-23:59"}, "at"),
    ("ingest", {"thread_id": "t", "messages": []}, "messages"),
    ("ingest", {"thread_id": "t", "messages": [{"text": "x", "meta": []}]}, "meta"),
    ("ingest", {"thread_id": "t", "messages": [{"text": " "}]}, "blank"),
    ("ingest", {"thread_id": "t", "messages": [{"text": "x"}], "artifacts": [{"type": "song", "ref": "x"}]}, "type"),
]


def test_bodies_that_are_held_at_a_time_have_a_bound(tmp_path: Path):
    """Who sends many long ones at once is told to wait; short ones are answered, and room is given back."""
    owner = Principal(tenant=TenantId("default"), id="mira", role=Role.ADMIN)
    credentials = Credentials("rec_owner", owner, CredentialFile(tmp_path / "credentials.toml"))

    async def drive() -> None:
        asked, go_on = asyncio.Semaphore(0), asyncio.Event()

        async def house(_scope: Scope, _receive: Receive, send: Send) -> None:
            asked.release()
            await go_on.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        guard = Guard(house, credentials, max_held=1_000_000)

        async def sent(size: int) -> int:
            pieces, statuses = [b" " * 50_000] * (size // 50_000), list[int]()

            async def receive() -> Message:
                return {"type": "http.request", "body": pieces.pop(), "more_body": bool(pieces)}

            async def send(message: Message) -> None:
                statuses.append(message.get("status", 0))

            headers = [(b"host", b"localhost"), (b"authorization", b"Bearer rec_owner")]
            scope = {"type": "http", "method": "POST", "path": "/api/memory/query", "scheme": "http"}
            await guard({**scope, "headers": headers}, receive, send)
            return statuses[0]

        first = asyncio.create_task(sent(200_000))
        await asyncio.wait_for(asked.acquire(), 10)
        assert await asyncio.wait_for(sent(100_000), 10) == 503
        short = asyncio.create_task(sent(50_000))
        await asyncio.wait_for(asked.acquire(), 10)
        go_on.set()
        assert await asyncio.gather(first, short) == [200, 200]
        assert await sent(200_000) == 200

    asyncio.run(drive())


@pytest.mark.parametrize(("route", "body", "word"), BAD, ids=range(len(BAD)))
def test_input_that_cannot_be_used_is_told_of_field_by_field(server: Served, route: str, body: object, word: str):
    reply = server.ask("POST", f"/api/memory/{route}", body)
    assert reply.status in (400, 422), reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    assert word in reply.document["detail"]
    assert "body." not in reply.document["detail"]


def test_what_was_sent_is_not_repeated_in_the_refusal(server: Served):
    reply = server.ask("POST", "/api/memory/query", {"query": {"secret": "hunter2"}})
    assert b"hunter2" not in reply.body


def test_routes_and_methods_that_are_not_there(server: Served):
    is_a_problem(server.ask("GET", "/api/nowhere"), 404, "not-found")
    is_a_problem(server.ask("PUT", "/api/memory/query", {}), 405, "method-not-allowed")
    is_a_problem(server.ask("POST", "/api/memory/query", b"x", headers={"Content-Type": "text/plain"}), 422, "invalid")


@pytest.mark.parametrize("id", ["none", "%00", "%2e%2e", "a" * 400, "%F0%9F%AB%96" * 9, "'; drop table items; --"])
@pytest.mark.parametrize("rest", ["", "/evidence", "/history", "/evidence?witness=x", "/versions", "?level=more"])
def test_a_memory_that_is_not_there(server: Served, id: str, rest: str):
    reply = server.ask("GET", f"/api/memory/{id.replace(' ', '%20')}{rest}")
    assert reply.status in (404, 422), reply.body
    assert reply.headers["content-type"] == "application/problem+json"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = {
    "query": ["query", "agent", "categories", "filters", "top_k", "return", "threshold", "source", "thread_id"],
    "remember": ["text", "category", "importance", "tags", "visibility", "user_id", "thread_id", "at", "trust"],
    "ingest": ["thread_id", "messages", "artifacts", "project_id", "run_id"],
}


@settings(max_examples=examples(60))
@given(data=st.data(), route=st.sampled_from(sorted(FIELDS)))
def test_nothing_that_is_sent_breaks_the_server(server: Served, data: st.DataObject, route: str):
    body = data.draw(st.dictionaries(st.sampled_from(FIELDS[route]), values, max_size=5))
    raw = json.dumps(body).encode()
    reply = server.ask("POST", f"/api/memory/{route}", raw)
    assert reply.status in (200, 400, 403, 404, 422), reply.body
    json.loads(reply.body)


@settings(max_examples=examples(40))
@given(raw=st.binary(max_size=200), key=st.text("abcdef 0123\t\xe9", max_size=300))
def test_bytes_that_mean_nothing_are_refused_in_order(server: Served, raw: bytes, key: str):
    reply = server.ask("POST", "/api/memory/remember", raw, headers={"Idempotency-Key": key.strip() or "k"})
    assert 400 <= reply.status < 500, reply.body
