"""A refusal leaves nothing behind, and what may not be read does not exist: every route, every role, every kind of
thing that somebody may not reach, held against rules that are told in refused.py once more."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver.exceptions import ToolError

from bench.asking import Reply
from recollect.domain.scope import Role
from recollect.interfaces.mcp import make_server
from recollect.ports import Store
from tests.hunt import TIMES
from tests.interfaces.conftest import CommandLine
from tests.interfaces.refused import EPISODES, EVENTS, PEOPLE, READS, UNKNOWN, House, furnished
from tests.postgres import fresh_database

Target = str
_ON_BOTH = tuple(PEOPLE) if TIMES else ("listed", "stranger")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """For those who change nothing."""
    home = tmp_path_factory.mktemp("house")
    made = furnished(home, str(home / "memory.db"))
    yield made
    made.server.close()


@pytest.fixture(params=[*(("sqlite", who) for who in PEOPLE), *(("postgres", who) for who in _ON_BOTH)])
def try_out(request: pytest.FixtureRequest, tmp_path: Path, postgres_server: str) -> Iterator[tuple[House, str]]:
    """A house that may be changed, and who tries. The rules are the same code on both engines, the statements are not:
    on the second those try whom categories, bounds and tenants keep out."""
    engine, who = request.param
    with ExitStack() as stack:
        url = stack.enter_context(fresh_database(postgres_server)) if engine == "postgres" else ""
        made = furnished(tmp_path, url or str(tmp_path / "memory.db"))
        stack.callback(made.server.close)
        yield made, who


# -- every route, as it is asked for one target ---------------------------------------------------------------

Asking = Callable[[str, str], tuple[str, str, object]]
"""By a target's id and one of its versions: method, path and body."""


def _at(method: str, path: str, body: object = None) -> Asking:
    return lambda id, version: (method, path.format(id=id, version=version), body)


PEOPLE_WRITE = {"POST /api/memory/{id}/pin", "POST /api/memory/{id}/unpin"}
OF_MODERATORS = {
    "GET /api/memory/{id}/versions/{versionId}",
    "PUT /api/memory/{id}/active/{versionId}",
    "POST /api/memory/compress",
}
BY_ID: Mapping[str, Asking] = {
    "GET /api/memory/{id}": _at("GET", "/api/memory/{id}"),
    "GET /api/memory/{id}/evidence": _at("GET", "/api/memory/{id}/evidence"),
    "GET /api/memory/{id}/history": _at("GET", "/api/memory/{id}/history"),
    "GET /api/memory/{id}/versions": _at("GET", "/api/memory/{id}/versions"),
    "GET /api/memory/{id}/versions/{versionId}": _at("GET", "/api/memory/{id}/versions/{version}"),
    "PUT /api/memory/{id}/active/{versionId}": _at("PUT", "/api/memory/{id}/active/{version}", {}),
    "POST /api/memory/{id}/close": _at("POST", "/api/memory/{id}/close"),
    "POST /api/memory/{id}/pin": _at("POST", "/api/memory/{id}/pin"),
    "POST /api/memory/{id}/unpin": _at("POST", "/api/memory/{id}/unpin"),
    "POST /api/memory/{id}/archive": _at("POST", "/api/memory/{id}/archive", {"reason": "tried"}),
    "POST /api/memory/{id}/restore": _at("POST", "/api/memory/{id}/restore"),
    "POST /api/memory/compress": lambda id, _: ("POST", "/api/memory/compress", {"memory_id": id}),
    "POST /api/memory/remember": lambda id, _: (
        "POST",
        "/api/memory/remember",
        {"text": "We decided on a green ladder.", "supersedes": id},
    ),
}
READING = {name for name in BY_ID if name.startswith("GET")}
ELSEWHERE: Mapping[str, list[tuple[str, str, object]]] = {
    "GET /api/health": [("GET", "/api/health", None)],
    "GET /api/pending": [("GET", "/api/pending", None)],
    "GET /api/audit": [("GET", "/api/audit", None)],
    "GET /api/audit/verify": [("GET", "/api/audit/verify", None)],
    "GET /api/projects/{project_id}/epoch": [("GET", f"/api/projects/{name}/epoch", None) for name in ("house", "lab")],
    "POST /api/projects/{project_id}/epoch": [
        ("POST", f"/api/projects/{name}/epoch", {"reason": "tried"}) for name in ("house", "lab")
    ],
    "POST /api/turns/{turn_id}/feedback": [
        ("POST", f"/api/turns/{turn}/feedback", {"mark": "reroll", **named})
        for turn in ("robin's", "ben's", "nobody's")
        for named in ({}, {"agent": "robin"})
    ],
    "POST /api/memory/query": [
        ("POST", "/api/memory/query", {"query": "ladder", "thread_id": "t", **asked})
        for asked in ({}, {"agent": "planner", "categories": ["knowledge"]}, {"agent": "robin"}, {"source": "evidence"})
    ],
    "POST /api/memory/answer": [("POST", "/api/memory/answer", {"query": "ladder"})],
    "POST /api/memory/ingest": [
        ("POST", "/api/memory/ingest", {"thread_id": "tried", "messages": [{"text": "Nobody is at home."}], **place})
        for place in (
            {"user_id": "ana"},
            {"user_id": "ben"},
            {"project_id": "lab"},
            {"visibility": "system"},
            {"visibility": "agent-silo"},
        )
    ],
}
"""What is asked for no memory: for what may be refused, too."""


def test_every_route_is_tried(house: House):
    described = house.server.app.openapi()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    assert routes == BY_ID.keys() | ELSEWHERE.keys()


def may(who: str, route: str, target: Target) -> bool:
    """What the documents say. Where more than this is asked of a target, it may be refused all the same."""
    principal = PEOPLE[who]
    if who not in READS[target]:
        return False
    if route in OF_MODERATORS and principal.role not in (Role.MODERATOR, Role.ADMIN):
        return False
    if route in PEOPLE_WRITE and principal.role is Role.AGENT:
        return False
    if route.endswith("/close"):
        return target in EPISODES
    if route == "POST /api/memory/remember":
        return target not in EVENTS | EPISODES
    return True


def asked(house: House, who: str, route: str, target: Target) -> Reply:
    method, path, body = BY_ID[route](house.targets[target], house.versions[target])
    return house.ask(who, method, path, body)


def test_a_refusal_leaves_everything_as_it_was_and_nothing_else_is_allowed(try_out: tuple[House, str]):
    house, who = try_out
    done: Counter[str] = Counter()
    before = house.state()
    for route in BY_ID:
        refused = [target for target in READS if not may(who, route, target)]
        answers = {target: asked(house, who, route, target).status for target in refused}
        assert {target: status for target, status in answers.items() if status < 400} == {}, route
        assert house.state() == before, route
        for target in READS.keys() - set(refused):
            status, after = asked(house, who, route, target).status, house.state()
            assert status < 400 or after == before, (route, target)
            done[route] += status < 400
            before = after
    for route, asking in ELSEWHERE.items():
        for method, path, body in asking:
            status, after = house.ask(who, method, path, body).status, house.state()
            assert status < 400 or after == before, (route, path, body)
            before = after
    allowed = {route for route in BY_ID if any(may(who, route, target) for target in READS)}
    tried = allowed - {"POST /api/memory/remember"}  # a decision supersedes what is its owner's, and only a decision
    assert tried <= {route for route, times in done.items() if times}, (
        "what is allowed is done for some target, or nothing was shown"
    )


# -- what may not be read does not exist ------------------------------------------------------------------------


@pytest.mark.parametrize("who", PEOPLE)
def test_what_may_not_be_read_is_answered_with_the_bytes_of_what_never_was(house: House, who: str):
    gone = {"erased"} if who == "admin" else set[str]()  # an admin is told that it was erased, and no more
    hidden = [target for target, readers in READS.items() if who not in readers and target not in gone]
    for route, asking in BY_ID.items():
        for name in (slice(None), slice(-12, None)):  # by the whole id, and by its ending
            told: dict[tuple[int, bytes], list[str]] = {}
            for target in hidden:
                reply = house.ask(who, *asking(house.targets[target][name], house.versions[target]))
                told.setdefault((reply.status, reply.body), []).append(target)
            assert len(told) == 1, (route, name, told)
            [(status, body)] = told
            assert status in (403, 404), route
            assert not [id for id in house.targets.values() if id.encode() in body or id[-8:].encode() in body]


def test_an_erased_memory_is_named_to_admins_alone(house: House):
    id = house.targets["erased"]
    assert house.ask("admin", "GET", f"/api/memory/{id[-6:]}").status == 410
    for who in PEOPLE.keys() - {"admin"}:
        endings = [id[-length:] for length in (1, 2, 6, 12)]
        assert not [end for end in endings if id in house.ask(who, "GET", f"/api/memory/{end}").text]


def test_feedback_names_nothing_that_may_not_be_read(house: House):
    """Robin's turn served Ana's memories: a moderator marks it and sees which; what robin keeps to itself stays so."""
    robin = PEOPLE["agent"]
    asked = {"query": "Ana is slow in the morning", "turn_id": "inward", "threshold": 0}
    served = house.ask("agent", "POST", "/api/memory/query", asked).text
    assert house.targets["silo"] in served
    mark = {"mark": "reroll", "agent": robin.agent_id}
    told = {who: house.ask(who, "POST", "/api/turns/inward/feedback", mark) for who in PEOPLE if who != "agent"}
    assert {who for who, reply in told.items() if reply.status == 200} == {"admin", "moderator"}
    assert not [who for who, reply in told.items() if house.targets["silo"] in reply.text]
    unknown = house.ask("member", "POST", "/api/turns/nothing/feedback", mark)
    assert {(told[who].status, told[who].body) for who in ("member", "other", "stranger")} == {
        (unknown.status, unknown.body)
    }


class Recording:
    """A store that notes what is asked of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        def noted(*given: Any, **named: Any) -> Any:
            self.calls.append(name)
            return found(*given, **named)

        return noted


def test_what_may_not_be_read_is_found_out_by_the_same_lookups(tmp_path: Path):
    made: list[Recording] = []

    def wrapped(store: Store) -> Store:
        made.append(Recording(store))
        return made[0]  # type: ignore[return-value]

    house = furnished(tmp_path, str(tmp_path / "m.db"), wrapped)
    try:
        for who in ("member", "listed", "moderator"):
            hidden = [target for target, readers in READS.items() if who not in readers and target not in EVENTS]
            for route, asking in BY_ID.items():
                if route == "POST /api/memory/remember":
                    continue
                looked: dict[tuple[str, ...], str] = {}
                for target in hidden:
                    made[0].calls.clear()
                    house.ask(who, *asking(house.targets[target], house.versions[target]))
                    looked[tuple(made[0].calls)] = target
                assert len(looked) == 1, (who, route, looked)
    finally:
        house.server.close()


# -- the other doors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["member", "listed"])
def test_the_tools_say_the_same_of_what_is_hidden_and_of_what_never_was(house: House, who: str):
    server = make_server(lambda _: house.server.acting(PEOPLE[who]))
    hidden = [house.targets[target] for target, readers in READS.items() if who not in readers]

    async def told(tool: str, id: str) -> str:
        with pytest.raises(ToolError) as refused:
            await server.call_tool(tool, {"id": id, "turn_id": "t"} if tool == "memory_more" else {"id": id})
        return str(refused.value)

    before = house.heads()
    for tool in ("memory_more", "memory_evidence"):
        unknown = anyio.run(told, tool, UNKNOWN)
        assert "there is no such memory" in unknown
        assert {anyio.run(told, tool, id) for id in hidden} == {unknown}
        assert {anyio.run(told, tool, id[-8:]) for id in hidden} == {unknown}
    assert house.heads() == before


@pytest.mark.parametrize("who", ["member", "listed"])
def test_the_command_line_says_the_same_of_what_is_hidden_and_of_what_never_was(
    bare: CommandLine, house: House, who: str
):
    principal = PEOPLE[who]
    tried = ("silo", "withheld", "private", "erased", "foreign") if who == "listed" else ("other's", "silo", "erased")
    hidden = [house.targets[target] for target in tried]
    options = ["--store", house.server.store, "--user", principal.id]
    options += ["--agent", principal.agent_id] if principal.agent_id else ["--role", principal.role.value]
    commands = [["show"], ["history"], ["levels"], ["evidence"], ["more"], ["archive"], ["undelete"], ["close"]]
    commands += [["delete", "--yes"], ["erase", "--yes"]]
    commands += [["pin"], ["unpin"]] if principal.role is not Role.AGENT else []
    before = house.heads()
    for command in commands:
        unknown = bare(command[0], UNKNOWN, *command[1:], *options)
        assert unknown.code != 0, command
        for id in hidden:
            answer = bare(command[0], id, *command[1:], *options)
            assert (answer.code, answer.out, answer.err) == (unknown.code, unknown.out, unknown.err), command
    assert house.heads() == before
