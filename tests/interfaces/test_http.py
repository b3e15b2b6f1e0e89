"""The routes, on both engines, through a real socket and the client."""

import re
import time
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from recollect.client import Client
from recollect.domain.ids import ItemId
from recollect.domain.item import Artifact, ArtifactType, Visibility
from recollect.domain.query import Filters, Form, Query, Source
from recollect.errors import Forbidden, Invalid, KeyReused, NotFound, StoreUnreachable
from recollect.interfaces.http.requests import (
    CompressBody,
    FeedbackBody,
    FilterBody,
    IngestBody,
    MessageBody,
    PromoteBody,
    QueryBody,
    ReasonBody,
    RememberBody,
)
from recollect.write.message import Message
from tests.interfaces.served import Served, serving
from tests.postgres import fresh_database
from tests.test_docs import DOCS, code, prose


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgres_server: str
) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served")
    if request.param == "sqlite":
        with serving(home, "--port", 0) as running:
            yield running
        return
    with fresh_database(postgres_server) as url, serving(home, "--port", 0, env={"RECOLLECT_STORE": url}) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Client:
    return server.client


def test_what_is_remembered_is_found_shown_and_told_of(client: Client):
    kept = client.remember("Mira is allergic to peanuts.", importance=5, tags=["health"])
    assert kept.outcome == "created"
    answer = client.query(Query(text="What is Mira allergic to?"))
    assert answer.results[0].id == kept.item_id
    assert re.fullmatch(
        r"\[knowledge\] mira, \d{1,2} \w+ 20\d\d: Mira is allergic to peanuts\.", answer.results[0].text
    )
    [alone] = client.query(Query(text="What is Mira allergic to?", source=Source.MEMORY)).results
    assert (alone.id, alone.text) == (kept.item_id, "[knowledge] Mira is allergic to peanuts.")
    assert 0 < answer.results[0].score <= 1
    assert answer.tokens > 0
    [event] = client.evidence(kept.item_id)
    assert (event.id, event.author, event.text) == (kept.event_id, "mira", "Mira is allergic to peanuts.")
    assert client.evidence(kept.item_id, f"e:{event.id}") == [event]
    shown = client.show(kept.item_id[-8:])
    assert shown["memory"]["id"] == kept.item_id
    assert shown["memory"]["tags"] == ["health"]
    assert shown["bullets"][0]["witnesses"][0] == {"witness": f"e:{event.id}", "reason": "said so"}
    told = client.history(kept.item_id)
    assert told[0]["event"] == "ADD"
    assert told[0]["actor"] == "mira"
    assert told[0]["memory_id"] == kept.item_id


def test_a_repeat_with_the_same_key_writes_nothing_and_another_use_of_it_is_refused(client: Client):
    first = client.remember("The kettle is in the blue cupboard.", key="kettle")
    again = client.remember("The kettle is in the blue cupboard.", key="kettle")
    assert (again.item_id, again.rev) == (first.item_id, first.rev)
    with pytest.raises(KeyReused):
        client.remember("The kettle is in the green cupboard.", key="kettle")


def test_messages_become_evidence_with_their_artifacts(client: Client):
    said = [
        Message(text="We moved the release of Apollo to Thursday.", author="asha", role="user"),
        Message(text="Noted, the release train leaves on Thursdays.", author="assistant", role="assistant"),
    ]
    kept = client.ingest(
        said, thread_id="standup", project_id="apollo", artifacts=[Artifact(ArtifactType.COMMIT, "4f2a91c")]
    )
    assert len(kept.event_ids) == 2
    events = client.evidence(kept.episode_id)
    assert [event.text for event in events] == [message.text for message in said]
    assert client.show(kept.episode_id)["memory"]["visibility"] == "project-shared"
    asked = Query(text="release of Apollo moved to Thursday", source=Source.EVIDENCE)
    for _ in range(100):
        if found := [result.id for result in client.query(asked).results]:
            break
        time.sleep(0.05)
    assert kept.event_ids[0] in found


def test_a_question_carries_all_its_filters(client: Client):
    private = client.remember("The safe word of the door is kept by Mira.", category="preferences", importance=2)
    shared = client.remember("The safe of Apollo has a blue door.", project_id="apollo", importance=4)

    def ids(**filters: object) -> set[str]:
        asked = Query(text="safe door", filters=Filters(**filters), top_k=50)  # type: ignore[arg-type]
        return {result.id for result in client.query(asked).results}

    assert {private.item_id, shared.item_id} <= ids()
    assert shared.item_id not in ids(user_id="mira")
    assert private.item_id not in ids(project_id="apollo")
    assert private.item_id not in ids(importance_min=3)
    assert shared.item_id not in ids(importance_max=3)
    assert private.item_id not in ids(categories=frozenset({"knowledge"}))
    assert not ids(updated_before=datetime(2020, 1, 1, tzinfo=UTC))
    assert {private.item_id, shared.item_id} <= ids(updated_after=datetime(2020, 1, 1, tzinfo=UTC))
    assert not ids(states=frozenset({"archived"}))


def test_full_results_explain_themselves_when_asked(client: Client):
    client.remember("The turbine hall is cleaned on Mondays.")
    answer = client.query(Query(text="When is the turbine hall cleaned?", form=Form.FULL, explain=True))
    assert answer.results
    assert answer.results[0].meta
    assert len(answer.explain) == len(answer.results)


def test_the_un_prefixed_routes_answer_the_same(server: Served):
    kept = server.client.remember("Bees sleep at night.")
    of_it = ["", "/history", "/evidence", "/versions", "?level=more"]
    for path in [*(f"memory/{kept.item_id}{rest}" for rest in of_it), "projects/apollo/epoch", "audit", "audit/verify"]:
        for _ in range(5):  # a job may write between the two
            told, same = (server.ask("GET", f"{prefix}/{path}").document for prefix in ("", "/api"))
            if told == same:
                break
        assert told == same
    asked = {"query": "When do bees sleep?"}
    one, other = (server.ask("POST", f"{prefix}/memory/query", asked).document for prefix in ("", "/api"))
    assert one["results"][0]["text"] == other["results"][0]["text"]
    assert set(one) == {"header", "results", "tokens", "rev", "usedLevel", "escalated", "more", "turn_id"}


def test_every_filter_of_the_domain_can_be_asked_for():
    spelt = {"category": "categories", "kind": "kinds", "state": "states"}
    own = {"current_at"}  # what a query sets itself where no moment is named
    asked = {spelt.get(name, name) for name in FilterBody.model_fields}
    assert asked == {field.name for field in fields(Filters)} - own


BODIES: list[type[BaseModel]] = [
    QueryBody,
    FilterBody,
    RememberBody,
    IngestBody,
    MessageBody,
    PromoteBody,
    ReasonBody,
    CompressBody,
    FeedbackBody,
]


@pytest.mark.parametrize("body", BODIES)
def test_every_field_is_told_of(body: type[BaseModel]):
    told = prose((DOCS / "http.md").read_text("utf-8"))
    words = {word for shown in code(told) for word in re.findall(r"\w+", shown)}
    assert {field.alias or name for name, field in body.model_fields.items()} <= words


def test_every_route_is_told_of(server: Served):
    told = (DOCS / "http.md").read_text("utf-8")
    for path, methods in server.ask("GET", "/api/openapi.json").document["paths"].items():
        for method in methods:
            assert f"### `{method.upper()} {path}" in told


def test_the_contracts_own_example_is_understood(server: Served):
    example = {
        "agent": "planner",
        "query": "deployment plan context",
        "categories": ["tasks", "projects"],
        "filters": {
            "user_id": "mira",
            "agent_id": None,
            "run_id": None,
            "actor_id": None,
            "role": None,
            "pinned": False,
            "importance_min": 1,
            "importance_max": 5,
            "updated_after": "2025-07-01",
            "updated_before": None,
        },
        "top_k": 3,
        "return": "bullets",
        "budget_tokens": 512,
        "threshold": 0.65,
    }
    reply = server.ask("POST", "/api/memory/query", example)
    assert reply.status == 200, reply.body
    assert isinstance(reply.document["results"], list)


def test_what_the_server_refuses_is_the_same_error_here(client: Client, server: Served):
    with pytest.raises(NotFound, match="there is no such memory"):
        client.show(ItemId("0" * 8))
    with pytest.raises(Invalid, match="blank") as refused:
        client.remember(" ")
    assert refused.value.what
    with pytest.raises(Forbidden, match="token is not valid"):
        Client(server.address, "wrong").show("x")
    with pytest.raises(StoreUnreachable, match="recollect serve"):
        Client("http://127.0.0.1:9", "x").health()
    with pytest.raises(Invalid, match="not the address"):
        Client("ftp://x", "y")
    with pytest.raises(Invalid, match="over HTTP"):
        client.remember("x", key="two\nlines")
    with pytest.raises(Invalid, match="agent_id"):
        client.remember("x", visibility=Visibility.AGENT_SILO)


def test_every_route_is_described_with_an_example(server: Served):
    told = server.ask("GET", "/api/openapi.json").document
    assert told["openapi"].startswith("3.1")
    schemas = told["components"]["schemas"]
    for path, methods in told["paths"].items():
        for operation in methods.values():
            assert re.search(r"\n\nFor [a-z]", operation["description"]), f"{path}: for whom?"
            assert operation["security"] == ([] if path == "/api/health" else [{"token": []}])
            for status, answer in operation["responses"].items():
                [(media, shown)] = answer["content"].items()
                assert media == ("application/json" if status.startswith("2") else "application/problem+json")
                for name in named(shown["schema"]):
                    [example] = schemas[name]["examples"]
                    assert validator(schemas, name).is_valid(example), f"the example of {name}"
            if body := operation.get("requestBody"):
                [name] = named(body["content"]["application/json"]["schema"])
                assert schemas[name]["examples"]
                assert all(validator(schemas, name).is_valid(example) for example in schemas[name]["examples"])
    for name in ("QueryBody", "RememberBody", "IngestBody", "CompressBody"):
        route = name.removesuffix("Body").lower()
        for example in schemas[name]["examples"]:
            assert server.ask("POST", f"/api/memory/{route}", example).status == 200


def named(schema: dict[str, Any]) -> list[str]:
    """The models that a schema refers to, itself or in one of its cases."""
    cases = [schema, *schema.get("anyOf", [])]
    return [case["$ref"].rpartition("/")[2] for case in cases if "$ref" in case]


def validator(schemas: dict[str, Any], name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}})
