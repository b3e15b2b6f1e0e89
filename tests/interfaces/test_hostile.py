"""Texts that no store can hold, in every field that takes a text: refused at the door, told without what was sent, and
nothing of them kept. The fields are found by what the doors say of themselves, so that a new one is tried."""

import http.client
import inspect
import json
import re
import time
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import quote, urlencode

import pytest

from recollect.domain.ids import RecordId, TenantId
from recollect.domain.observation import Operation
from recollect.domain.query import Filters, Query
from recollect.errors import RecollectError
from recollect.interfaces import refusals
from recollect.interfaces.http.guard import MAX_BODY
from recollect.memory import Memory
from recollect.write.foreign import Thread
from recollect.write.message import Message
from tests.interfaces.inside import OWNER, Inside, inside
from tests.interfaces.served import Reply

CANARY = "canary7f3a9"
LONG = CANARY + "x" * 110_000  # longer than any field takes, but for texts
LONGEST = CANARY + "x" * 1_000_001
BAD = {"too long": LONG, "half a surrogate pair": CANARY + "\ud800", "a NUL": CANARY + "\x00"}
UNKNOWN = "01970000-0000-7000-8000-000000000000"

Way = tuple[str | int, ...]


@pytest.fixture
def server(tmp_path: Path, where: str) -> Iterator[Inside]:
    with inside(tmp_path, where) as server:
        yield server


@pytest.fixture
def known(server: Inside) -> str:
    return server.memory.remember("The ferry leaves at noon.", topic_key="ferry").item_id


def head(server: Inside) -> object:
    return server.memory.head()


# -- HTTP -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where in a request a text goes: in its body, its path, its query or its headers."""

    method: str
    path: str
    where: str
    name: Way
    body: Any = None

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.where} {'.'.join(map(str, self.name))}"


BODIES: Mapping[str, Any] = {
    "QueryBody": {"query": "When?", "filters": {}},
    "RememberBody": {"text": "The bus leaves at one.", "tags": ["sea"]},
    "IngestBody": {
        "thread_id": "standup",
        "messages": [{"text": "Ahoy.", "meta": {"key": "value"}}],
        "artifacts": [{"type": "file", "ref": "a.txt"}],
    },
    "PromoteBody": {},
    "ReasonBody": {},
    "CompressBody": {"dry_run": True},
    "FeedbackBody": {"mark": "reroll"},
}
"""A usual body of each kind. The texts of the others are added, one at a time."""


def places(api: Mapping[str, Any]) -> Iterator[Place]:
    for path, methods in api["paths"].items():
        for method, told in methods.items():
            schema = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            body = deepcopy(BODIES[_name(schema)]) if schema else None
            here = (method.upper(), path)
            for parameter in told.get("parameters", ()):
                if _takes_text(parameter["schema"]):
                    yield Place(*here, parameter["in"], (parameter["name"],), body)
            if schema:
                for name in _texts(schema, api, ()):
                    yield Place(*here, "body", name, body)


def _name(schema: Mapping[str, Any]) -> str:
    named = [one for one in (schema, *schema.get("anyOf", ())) if "$ref" in one]
    return named[0]["$ref"].rpartition("/")[2]


def _takes_text(schema: Mapping[str, Any]) -> bool:
    if "anyOf" in schema:
        return any(map(_takes_text, schema["anyOf"]))
    return schema.get("type") == "string" and not ({"enum", "const", "format"} & schema.keys())


def _texts(schema: Mapping[str, Any], api: Mapping[str, Any], at: Way) -> Iterator[tuple[str | int, ...]]:
    """The places below a schema that take a text, keys of free objects among them."""
    if "$ref" in schema:
        schema = api["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for one in schema.get("anyOf", ()):
        yield from _texts(one, api, at)
    if schema.get("type") == "array":
        yield from _texts(schema["items"], api, (*at, 0))
    elif schema.get("type") == "object" and schema.get("additionalProperties") is True:
        yield (*at, "key")
    elif schema.get("type") == "object":
        for name, inner in schema.get("properties", {}).items():
            yield from _texts(inner, api, (*at, name))
    elif _takes_text(schema):
        yield at


def with_text(body: Any, at: Way, text: str) -> Any:
    """The body with a text at a place, which is made where it is not there."""
    if not at:
        return text
    first, *rest = at
    if isinstance(first, int):
        return [with_text(body[0] if body else None, tuple(rest), text)]
    return {**(body or {}), first: with_text((body or {}).get(first), tuple(rest), text)}


def send(server: Inside, place: Place, known: str, text: str) -> Reply:
    wire = text.encode("utf-8", "surrogatepass")[:5_000]
    names = {"id": known, "versionId": UNKNOWN, "turn_id": "turn", "project_id": "apollo"}
    path = place.path
    for name, usual in names.items():
        given = quote(wire, safe="") if place.where == "path" and place.name == (name,) else usual
        path = path.replace("{" + name + "}", given)
    if place.where == "query":
        path += "?" + urlencode({str(place.name[0]): wire})
    if text is LONG and place.name[-1] == "text":
        text = LONGEST
    body = with_text(place.body, place.name, text) if place.where == "body" else place.body
    headers = {str(place.name[0]): text[:5_000]} if place.where == "header" else {}
    return ask(server, place.method, path, body, headers)


def ask(server: Inside, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Reply:
    told = {"Authorization": f"Bearer {OWNER}", "Content-Type": "application/json", **headers}
    raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=60)
    try:
        connection.putrequest(method, path)
        for name, value in told.items():
            connection._buffer.append(f"{name}: {value}".encode("utf-8", "surrogatepass"))  # type: ignore[attr-defined]
        if raw is not None:
            connection.putheader("Content-Length", str(len(raw)))
        connection.endheaders(raw)
        answer = connection.getresponse()
        try:
            said = answer.read()
        except ConnectionResetError:  # what was sent is no HTTP: the server does not read the rest of it
            said = b""
        return Reply(answer.status, dict(answer.getheaders()), said)
    finally:
        connection.close()


def test_no_field_of_any_route_takes_a_text_that_no_store_can_hold(server: Inside, known: str):
    before = head(server)
    tried = list(places(ask(server, "GET", "/api/openapi.json", None, {}).document))
    assert len(tried) > 60
    wrong: list[str] = []
    for place, text in product(tried, BAD.values()):
        if place.where != "body" and "\ud800" in text:
            continue  # what is no UTF-8 there arrives as something else, which is a text
        reply = send(server, place, known, text)
        if not 400 <= reply.status < 500:
            wrong.append(f"{place}: {reply.status} {reply.body[:200]!r}")
        if CANARY in reply.body.decode(errors="replace"):
            wrong.append(f"{place}: repeats what was sent: {reply.body[:300]!r}")
        if head(server) != before:
            wrong.append(f"{place}: something was kept")
            before = head(server)
    assert server.memory.query(Query(text="When does the ferry leave?")).results
    assert not wrong, "\n".join(wrong)


BODIES_OF_NO_USE: Mapping[str, bytes] = {
    "deep lists": b'{"query": "x", "filters": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "a deep object": b'{"query": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
    "a number of many digits": b'{"query": "x", "top_k": ' + b"9" * 5_000 + b"}",
    "no number": b'{"query": "x", "threshold": NaN}',
    "an endless number": b'{"query": "x", "threshold": Infinity}',
    "a number beyond all": b'{"query": "x", "threshold": 1e400}',
    "a key twice": b'{"query": "x", "query": 7}',
    "a long key": b'{"query": "x", "' + b"k" * 1_000_000 + b'": 1}',
    "half a pair": b'{"query": "\\ud800"}',
    "no UTF-8": b'{"query": "\xff\xfe"}',
    "a NUL as it is": b'{"query": "\x00"}',
    "nothing": b"",
    "a list": b"[]",
    "a text": b'"x"',
    "null": b"null",
}


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_no_body_breaks_a_route(server: Inside, known: str):
    api = ask(server, "GET", "/api/openapi.json", None, {}).document
    before = head(server)
    for path, methods in api["paths"].items():
        for method, told in methods.items():
            if "requestBody" not in told:
                continue
            filled = path.replace("{id}", known).replace("{turn_id}", "turn").replace("{project_id}", "apollo")
            for what, raw in BODIES_OF_NO_USE.items():
                if "reason" not in path and raw in (b"", b"null") and not told["requestBody"].get("required"):
                    continue  # a body that may be left out, and is
                reply = ask(server, method.upper(), filled.replace("{versionId}", UNKNOWN), raw, {})
                assert 400 <= reply.status < 500, f"{method} {path}, {what}: {reply.status} {reply.body!r}"
    assert head(server) == before


def many(head: bytes, part: bytes, end: bytes) -> bytes:
    return head + (part + b",") * ((MAX_BODY - 1_000) // (len(part) + 1)) + part + end


CALL = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_query", "arguments": '
BODIES_OF_MANY_PARTS: Mapping[str, tuple[str, bytes]] = {
    "states that are none": ("/api/memory/query", many(b'{"query": "x", "filters": {"state": [', b'"x"', b"]}}")),
    "fields that are none": ("/api/memory/query", many(b'{"query": "x", "filters": {', b'"k": 1', b"}}")),
    "messages without a text": ("/api/memory/ingest", many(b'{"thread_id": "x", "messages": [', b"{}", b"]}")),
    "meta data": ("/api/memory/ingest", many(b'{"messages": [{"text": "x", "meta": {"a": [', b"1", b"]}}]}")),
    "a list": ("/api/memory/remember", many(b"[", b"1", b"]")),
    "brackets": ("/api/memory/remember", b"[" * (MAX_BODY - 1)),
    "quotation marks": ("/api/memory/remember", b'"' * (MAX_BODY - 1)),
    "categories of a tool": ("/mcp", many(CALL + b'{"query": "x", "categories": [', b"1", b"]}}}")),
    "arguments of a tool": ("/mcp", many(CALL + b'{"query": "x", ', b'"k": 1', b"}}}")),
}
MOST_CPU_S = 1.0
"""Generous: the worst of them took twenty seconds, and four gigabytes."""


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
@pytest.mark.parametrize("what", BODIES_OF_MANY_PARTS)
def test_a_body_of_very_many_parts_is_refused_before_it_is_read(server: Inside, what: str):
    path, raw = BODIES_OF_MANY_PARTS[what]
    began = time.process_time()
    reply = ask(server, "POST", path, raw, {"Accept": "application/json"})
    assert reply.status == 413, reply.body[:300]
    assert time.process_time() - began < MOST_CPU_S


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_no_body_hides_its_parts_by_how_its_signs_are_written(server: Inside):
    """One that is no UTF-8 is refused: in "≡", a byte looks like the quotation mark that begins a text."""
    few, hidden = '{"query": "noon?"}', '{"≡": [' + ", ".join(["[]"] * 100_000) + "]}"
    written = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
    for path, body, signs in product(("/api/memory/query", "/mcp"), (few, hidden), written):
        reply = ask(server, "POST", path, body.encode(signs), {"Accept": "application/json"})
        assert (reply.status, "UTF-8" in reply.document["help"]) == (400, True)


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_what_a_text_is_made_of_does_not_count_as_parts(server: Inside):
    for text in ('"a",[{' * 30_000, "\\" * 200_000 + '"'):
        body = {"thread_id": "standup", "messages": [{"text": text, "role": "tool"}]}
        assert ask(server, "POST", "/api/memory/ingest", body, {}).status == 200


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_a_text_that_is_too_long_is_refused_before_it_is_read(server: Inside):
    body = {"thread_id": "standup", "messages": [{"text": "password=" * (MAX_BODY // 9 - 100)}]}
    began = time.process_time()
    assert ask(server, "POST", "/api/memory/ingest", body, {}).status == 422
    assert time.process_time() - began < MOST_CPU_S


META: Mapping[str, Any] = {
    "deep": lambda: json.loads('{"a":' * 490 + "1" + "}" * 490),
    "a deep list": lambda: {"a": json.loads("[" * 490 + "]" * 490)},
    "much": lambda: {"a": "x" * 500_000},
    "many": lambda: {f"key {number}": number for number in range(12_000)},
    "a long key": lambda: {CANARY * 20_000: 1},
    "a number of many digits": lambda: {"a": 10**4_000},
}


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_meta_data_is_bounded_in_depth_and_in_size(server: Inside):
    before = head(server)
    for what, meta in META.items():
        body = {"thread_id": "standup", "messages": [{"text": "Ahoy.", "meta": meta()}]}
        reply = ask(server, "POST", "/api/memory/ingest", body, {})
        assert reply.status == 422, f"{what}: {reply.body[:300]!r}"
        assert "meta" in reply.document["detail"]
        assert CANARY not in reply.body.decode()
    assert head(server) == before


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "content", [None, b"[[credential", b"\xff\xfe", b'[[credential]]\nname = "canary7f3a9"\n', b"x = 1\ncredential = 7"]
)
def test_credentials_that_cannot_be_read_are_told_of_in_the_log_alone(
    server: Inside, tmp_path: Path, content: bytes | None, caplog: pytest.LogCaptureFixture
):
    file = tmp_path / "credentials.toml"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    reply = server.ask("GET", f"/api/memory/{UNKNOWN}", token="somebody's")
    assert reply.status == 503
    told = reply.body.decode()
    assert str(tmp_path) not in told
    assert "credentials.toml" not in told
    assert CANARY not in told
    assert "credentials.toml" in caplog.text
    assert server.ask("GET", f"/api/memory/{UNKNOWN}").status == 404  # the owner is not locked out


# -- MCP ------------------------------------------------------------------------------------------------------


def call(server: Inside, method: str, params: Mapping[str, Any]) -> Reply:
    headers = {"Accept": "application/json, text/event-stream"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return ask(server, "POST", "/mcp", asked, headers)


def test_no_argument_of_any_tool_takes_a_text_that_no_store_can_hold(server: Inside, known: str):
    usual = {"query": "When?", "text": "The bus leaves at one.", "id": known}
    before = head(server)
    wrong: list[str] = []
    for tool in call(server, "tools/list", {}).document["result"]["tools"]:
        needed = {name: usual[name] for name in tool["inputSchema"].get("required", ())}
        for at, text in product(_texts(tool["inputSchema"], {}, ()), BAD.values()):
            given = with_text(needed, at, LONGEST if text is LONG and at == ("text",) else text)
            reply = call(server, "tools/call", {"name": tool["name"], "arguments": given})
            if reply.status >= 500 or not _refused(reply):
                wrong.append(f"{tool['name']} {at}: {reply.status} {reply.body[:200]!r}")
            if CANARY in reply.body.decode():
                wrong.append(f"{tool['name']} {at}: repeats what was sent: {reply.body[:400]!r}")
    assert head(server) == before
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_what_the_protocol_refuses_is_not_repeated(server: Inside):
    version = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    meta = {"_meta": {**version, "io.modelcontextprotocol/clientCapabilities": {}}}
    for method, params in {
        CANARY: {},
        f"{CANARY}\nand more": {},
        f"{'x ' * 1_000}{CANARY}{' x' * 1_000}": {},
        "resources/read": {"uri": f"file:///{CANARY}"},
        "prompts/get": {"name": CANARY},
        "tools/call": {"name": [CANARY]},
        "initialize": {"protocolVersion": CANARY},
    }.items():
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        modern = {**asked, "params": {**params, **meta}}
        name = str(params.get("name", params.get("uri", "")))
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method.partition("\n")[0], "Mcp-Name": name}
        for body, more in ((asked, {}), ([asked], {}), (modern, headers), ([CANARY], headers)):
            reply = ask(server, "POST", "/mcp", body, {"Accept": "application/json", **more})
            assert "error" in reply.document, f"{method}: {reply.body!r}"
            assert CANARY not in reply.body.decode(), f"{method}: {reply.body!r}"


def test_a_refusal_without_what_was_sent_costs_no_more_than_its_length():
    """A method that the protocol does not know, of thousands of words that were sent one by one, took minutes."""
    sent = [",".join(f"{n:02x}{m:03x}" for m in range(1_600)) for n in range(8)]
    began = time.thread_time()
    left = refusals.unsaid(f"unknown: {' '.join(sent)}", sent)
    assert time.thread_time() - began < 0.5
    assert left.startswith("unknown: …,…,…")
    assert not set(re.split(r"\W+", left)) & set(",".join(sent).split(","))


def test_what_is_taken_out_of_a_refusal_is_a_word_and_no_part_of_one():
    assert refusals.unsaid("name is no name, names are", ["name"]) == "… is no …, names are"


def _refused(reply: Reply) -> bool:
    document = reply.document
    return "error" in document or (
        document["result"]["isError"] and document["result"]["content"][0]["text"].count(" ") > 4
    )


# -- Python ---------------------------------------------------------------------------------------------------

USUAL: Mapping[str, Any] = {
    "text": "The bus leaves at one.",
    "messages": [Message(text="Ahoy.", author="mira")],
    "thread_id": "standup",
    "threads": [Thread("standup", "", (Message(text="Ahoy.", author="mira"),))],
    "query": Query(text="When?"),
    "name": "ferry",
    "mark": "reroll",
    "version_id": UNKNOWN,
    "project_id": "apollo",
    "turn_id": "turn",
    "user_id": "mira",
    "cause": UNKNOWN,
}
LEFT_OUT = {"acting", "close", "import_", "export", "export_state", "backup", "rollback", "preview_rollback", "verify"}
"""For the owner of the store: they take whole files, or no text from outside."""


def test_no_method_of_memory_takes_a_text_that_no_store_can_hold(server: Inside, known: str):
    before = head(server)
    wrong: list[str] = []
    tried = 0
    for name, method in inspect.getmembers(Memory, inspect.isfunction):
        if name.startswith("_") or name in LEFT_OUT:
            continue
        signature = inspect.signature(method)
        needed = {
            parameter.name: known if parameter.name == "item_id" else USUAL.get(parameter.name)
            for parameter in list(signature.parameters.values())[1:]
            if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        }
        for parameter in list(signature.parameters.values())[1:]:
            if not _is_text(parameter.annotation):
                continue
            for what, text in {**BAD, "too long": LONGEST}.items():
                tried += 1
                wrong += _tried(server, f"{name}({parameter.name}: {what})", name, {**needed, parameter.name: text})
    assert tried > 100
    assert head(server) == before
    assert not wrong, "\n".join(wrong)


def _is_text(annotation: object) -> bool:
    told = str(annotation)
    return any(word in told for word in ("str'", "str |", "ItemId", "EventId", "VersionId", "CauseId")) and (
        "Sequence" not in told and "Mapping" not in told
    )


def _tried(server: Inside, what: str, name: str, given: Mapping[str, Any]) -> list[str]:
    """What is wrong with what came of it."""
    try:
        answer = getattr(server.memory, name)(**given)
        if name == "export_user":
            list(answer)
    except RecollectError as error:
        return [f"{what}: repeats {len(str(error))} characters"] if len(str(error)) > 2_000 else []
    except Exception as error:
        return [f"{what}: {type(error).__name__} {str(error)[:100]}"]
    return [f"{what}: it was taken"]


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_every_text_of_a_question_and_of_its_filters_is_looked_at(server: Inside):
    for kind, usual in ((Filters, Filters()), (Query, Query(text="When?"))):
        hints = get_type_hints(kind)
        for field in fields(kind):
            told = str(hints[field.name])
            if "str" not in told or "StrEnum" in told:
                continue
            for text in BAD.values():
                value = frozenset({text}) if "frozenset" in told else text
                with pytest.raises(ValueError, match=r"surrogate|NUL|characters"):
                    replace(usual, **{field.name: value})


def test_what_one_tenant_asks_never_fails_the_question_of_another(server: Inside):
    """Not even where something gets past the door: what is counted of one tenant is its own."""
    odd = object.__new__(Operation)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    usual = {"id": RecordId(UNKNOWN), "user_id": "\ud800", "thread_id": None, "node": "n", "op": "o", "status": "ok"}
    for name, value in {**usual, "memory_id": None, "category": None, "sim": None, "ts": at}.items():
        object.__setattr__(odd, name, value)
    server.memory._tally.add(TenantId("other"), [odd])
    server.clock.forward(seconds=60)
    server.memory.query(Query(text="When does the ferry leave?"))
    assert server.memory.counts()
