"""A language model behind the Writer port: an answer of the form that was asked for, or ModelFailed."""

import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, TenantId
from recollect.domain.prompt import Prompt
from recollect.errors import Invalid, ModelFailed
from recollect.models.budget import TokenBudget
from recollect.models.writer import LARGEST_ANSWER, Endpoint, ModelWriter, Writers
from recollect.policy.grounded import extracted
from recollect.policy.prompts import extraction
from tests.models.service import Asked, Reply, Service, closed_port, serving

KEY = "sk-never-to-be-seen"
TENANT = TenantId("acme")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    weight: int
    tag: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.weight <= 5:
            raise ValueError(f"weight {self.weight}: give a number from 1 to 5")


@dataclass(frozen=True, slots=True)
class Notes:
    notes: tuple[Note, ...]


PROMPT = Prompt("take_notes", "Take notes.", "The kiln was sold in May.", Notes, longest=300)
GOOD = {"notes": [{"text": "The kiln was sold.", "weight": 3, "tag": None}]}
EXPECTED = Notes((Note("The kiln was sold.", 3),))


def budget(per_day: int = 1_000_000) -> TokenBudget:
    return TokenBudget(per_day, lambda: NOON)


def chat(asked: Asked, answer: object, **more: object) -> Reply:
    """An answer as OpenAI's chat completions give it: the arguments of the tool that the request names."""
    tools = asked.body["tools"]
    assert isinstance(tools, list)
    arguments = answer if isinstance(answer, str) else json.dumps(answer)
    call = {"id": "c1", "type": "function", "function": {"name": tools[0]["function"]["name"], "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return completion(message, **more)


def tool(name: str, arguments: object) -> dict[str, object]:
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(message: object, **more: object) -> Reply:
    usage = {"prompt_tokens": 40, "completion_tokens": 10, "total_tokens": 50}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Reply(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage} | more
    )


def messages(asked: Asked, answer: object) -> Reply:
    """An answer as Anthropic's messages give it."""
    tools = asked.body["tools"]
    assert isinstance(tools, list)
    block = {"type": "tool_use", "id": "t1", "name": tools[0]["name"], "input": answer}
    usage = {"input_tokens": 40, "output_tokens": 10}
    return Reply(
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [block],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": usage,
        }
    )


@pytest.mark.parametrize(
    ("usual", "other", "expected"),
    [
        (Endpoint("openai:a", "http://h/v1", KEY), "openai:b", Endpoint("openai:b", "http://h/v1", KEY)),
        (Endpoint("openai:a", "http://h/v1", KEY), "anthropic:b", Endpoint("anthropic:b")),
        (Endpoint("llama", "http://h/v1", KEY), "qwen:7b", Endpoint("qwen:7b", "http://h/v1", KEY)),
    ],
)
def test_a_key_never_goes_to_another_maker(usual: Endpoint, other: str, expected: Endpoint):
    assert usual.beside(other) == expected


def test_each_task_may_have_a_model_of_its_own_and_all_share_one_budget():
    with serving(*[lambda asked: chat(asked, GOOD)] * 2) as service:
        held = budget(2_000)
        usual = ModelWriter(Endpoint("large", service.url, KEY), held, timeout=20, tries=1)
        other = ModelWriter(Endpoint("small", service.url, KEY), held, timeout=20, tries=1)
        writers = Writers(usual, {"take_notes": other})
        try:
            assert writers.write(PROMPT, tenant=TENANT) == EXPECTED
            assert writers.write(replace(PROMPT, name="other_notes"), tenant=TENANT) == EXPECTED
        finally:
            writers.close()
        assert [asked.body["model"] for asked in service.asked] == ["small", "large"]
        assert held.used(TENANT) == 2 * 50


@contextmanager
def writing(service: Service | str, model: str = "small", **options: object) -> Iterator[ModelWriter]:
    url = service if isinstance(service, str) else service.url
    writer = ModelWriter(Endpoint(model, url, KEY), **({"budget": budget(), "timeout": 20, "tries": 1} | options))  # type: ignore[arg-type]
    try:
        yield writer
    finally:
        writer.close()


def saying(answer: Callable[[AgentInfo], ModelResponse]) -> ModelWriter:
    def reply(history: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return answer(info)

    return ModelWriter(FunctionModel(reply), budget(), timeout=5, tries=1)


def calling(arguments: object) -> ModelWriter:
    """A model that calls the right tool with these arguments."""
    return saying(lambda info: ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, arguments)]))  # type: ignore[arg-type]


def failure(writer: ModelWriter) -> str:
    with pytest.raises(ModelFailed) as caught:
        writer.write(PROMPT, tenant=TENANT)
    writer.close()
    assert KEY not in str(caught.value)
    assert "kiln" not in str(caught.value)
    assert caught.value.__cause__ is None
    return str(caught.value)


# -- over the wire ----------------------------------------------------------------------------------------


def test_an_openai_compatible_model_fills_the_form():
    with serving(lambda asked: chat(asked, GOOD)) as service, writing(service) as writer:
        assert writer.write(PROMPT, tenant=TENANT) == EXPECTED
    (asked,) = service.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["model"] == "small"
    assert asked.body["temperature"] == 0
    assert asked.body.get("max_tokens", asked.body.get("max_completion_tokens")) == 300
    assert "kiln was sold in May" in json.dumps(asked.body["messages"])


def test_an_anthropic_model_fills_the_form():
    with (
        serving(lambda asked: messages(asked, GOOD)) as service,
        writing(service.url.removesuffix("/v1"), "anthropic:claude-haiku-4-5") as writer,
    ):
        assert writer.write(PROMPT, tenant=TENANT) == EXPECTED
    (asked,) = service.asked
    assert asked.path.startswith("/v1/messages")
    assert KEY in asked.headers.get("x-api-key", "") + asked.headers.get("authorization", "")
    assert asked.body["max_tokens"] == 300


def test_an_answer_of_another_form_is_sent_back_once():
    wrong = {"notes": [{"text": "The kiln was sold.", "weight": "3"}]}
    replies = (lambda asked: chat(asked, wrong), lambda asked: chat(asked, GOOD))
    with serving(*replies) as service, writing(service) as writer:
        assert writer.write(PROMPT, tenant=TENANT) == EXPECTED
        assert len(service.asked) == 2


def test_a_failure_that_passes_is_tried_again():
    with serving(Reply("busy", 503), lambda asked: chat(asked, GOOD)) as service, writing(service, tries=3) as writer:
        assert writer.write(PROMPT, tenant=TENANT) == EXPECTED


@pytest.mark.parametrize("model", ["small", "anthropic:claude-haiku-4-5"])
@pytest.mark.parametrize(
    "reply",
    [
        Reply(f"no, {KEY}", 500),
        Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401),
        Reply({"error": {"message": "The kiln was sold in May: too long"}}, 400),
        Reply("", 302, {"Location": "/elsewhere"}),
        Reply("not json"),
        Reply(""),
        Reply("null"),
        Reply([]),
        Reply({}),
        Reply({"choices": []}),
        Reply({"content": 7, "choices": 7}),
        Reply('{"choices": [', cut=True),
        Reply("[" * 200_000),
        Reply("x" * 5_000_000),
    ],
    ids=lambda value: str(getattr(value, "body", value))[:30],
)
def test_a_service_that_misbehaves_is_a_model_that_failed(reply: Reply, model: str):
    with serving(reply) as service:
        url = service.url.removesuffix("/v1") if model.startswith("anthropic") else service.url
        with writing(url, model) as writer:
            failure(writer)


def test_an_answer_larger_than_any_honest_one_is_broken_off():
    with serving(lambda asked: chat(asked, GOOD, padding="x" * LARGEST_ANSWER)) as service, writing(service) as writer:
        failure(writer)


def test_a_packed_answer_is_not_unpacked():
    def packed(asked: Asked) -> Reply:
        body = json.dumps(chat(asked, GOOD).body).encode()
        return Reply(gzip.compress(body), headers={"Content-Encoding": "gzip"})

    with serving(packed) as service, writing(service) as writer:
        failure(writer)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "I would rather not."},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "assistant", "tool_calls": [tool("rm", "{}")]},
        {"role": "assistant", "tool_calls": [tool("", None)]},
        {"role": "assistant", "tool_calls": [{"id": 1, "type": "odd"}]},
        {"role": "assistant", "tool_calls": "all of them"},
        "hello",
    ],
    ids=str,
)
def test_a_message_that_is_no_answer_is_refused(message: object):
    with serving(completion(message)) as service, writing(service) as writer:
        failure(writer)


def test_a_slow_model_is_given_up():
    with serving(Reply("", delay=10)) as service, writing(service, timeout=0.5, tries=5) as writer:
        assert "within 0.5 seconds" in failure(writer)


def test_an_answer_that_trickles_is_given_up():
    with serving(Reply("x" * 1000, delay=0.05, drip=1000)) as service, writing(service, timeout=0.7) as writer:
        assert "within 0.7 seconds" in failure(writer)


def test_nobody_there():
    with writing(f"http://127.0.0.1:{closed_port()}/v1", tries=2) as writer:
        assert "could not be reached, 2 times" in failure(writer)


# -- what a model says ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"notes": None},
        {"notes": {}},
        {"notes": ["The kiln was sold."]},
        {"notes": [{"text": "x"}]},
        {"notes": [{"text": "x", "weight": 9}]},
        {"notes": [{"text": "x", "weight": 1.5}]},
        {"notes": [{"text": "x", "weight": True}]},
        {"notes": [{"text": 7, "weight": 1}]},
        {"notes": [{"text": "x", "weight": 1, "extra": "The kiln"}]},
        {"notes": [], "system": "delete everything"},
        "not json",
        '{"notes": [',
        '{"notes": [{"text": "x", "weight": NaN}]}',
        "[]",
        "7",
        "[" * 100_000,
    ],
    ids=lambda answer: str(answer)[:50],
)
def test_an_answer_that_does_not_fill_the_form_is_refused(answer: object):
    assert "no answer of the form" in failure(calling(answer)) or answer == "[" * 100_000


def test_control_characters_are_taken_out_of_an_answer():
    text = "The\x00 kiln\x1b[31m \u202ewas sold\n."
    writer = calling({"notes": [{"text": text, "weight": 3}]})
    assert writer.write(PROMPT, tenant=TENANT).notes[0].text == "The kiln[31m was sold\n."


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("boom"),
        KeyError("x"),
        asyncio.CancelledError(),
        RecursionError(),
        MemoryError(),
        TimeoutError(),
        ModelFailed("inner"),
    ],
    ids=repr,
)
def test_whatever_a_model_raises_is_a_model_that_failed(error: BaseException):
    def explode(info: AgentInfo) -> ModelResponse:
        raise error

    failure(saying(explode))


def test_a_model_that_calls_tools_nobody_has_is_refused():
    failure(saying(lambda info: ModelResponse(parts=[ToolCallPart("shell", {"run": "rm"}), TextPart("done")])))


def test_the_model_for_trials_of_the_library_fills_the_form():
    trial = TestModel(custom_output_args=GOOD)
    assert ModelWriter(trial, budget()).write(PROMPT, tenant=TENANT) == EXPECTED


# -- where it is called from ------------------------------------------------------------------------------


def test_many_threads_share_one_writer():
    with serving(lambda asked: chat(asked, GOOD)) as service, writing(service) as writer:
        found: list[Notes] = []
        threads = [threading.Thread(target=lambda: found.append(writer.write(PROMPT, tenant=TENANT))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [EXPECTED] * 8


def test_it_can_be_called_below_a_running_event_loop_and_beside_it():
    with serving(lambda asked: chat(asked, GOOD)) as service, writing(service) as writer:

        async def both() -> list[Notes]:
            beside = await asyncio.to_thread(writer.write, PROMPT, tenant=TENANT)
            return [beside, writer.write(PROMPT, tenant=TENANT)]

        assert asyncio.run(both()) == [EXPECTED] * 2
        assert asyncio.run(both()) == [EXPECTED] * 2


def test_it_can_be_used_again_after_it_was_closed():
    with serving(lambda asked: chat(asked, GOOD)) as service, writing(service) as writer:
        writer.write(PROMPT, tenant=TENANT)
        writer.close()
        assert writer.write(PROMPT, tenant=TENANT) == EXPECTED


# -- the budget -------------------------------------------------------------------------------------------


def test_tokens_are_counted_for_the_tenant_that_asked():
    tokens = budget()
    with serving(lambda asked: chat(asked, GOOD)) as service, writing(service, budget=tokens) as writer:
        writer.write(PROMPT, tenant=TENANT)
    assert tokens.used(TENANT) == 50
    assert tokens.used(TenantId("other")) == 0


def test_a_service_that_reports_nothing_is_counted_by_its_texts():
    none = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    tokens = budget()
    with serving(lambda asked: chat(asked, GOOD, usage=none)) as service, writing(service, budget=tokens) as writer:
        writer.write(PROMPT, tenant=TENANT)
    assert tokens.used(TENANT) > 10


def test_a_tenant_over_its_budget_is_told_so_and_nobody_is_asked():
    tokens = budget(400)
    with serving(lambda asked: chat(asked, GOOD)) as service, writing(service, budget=tokens) as writer:
        writer.write(PROMPT, tenant=TENANT)
        writer.write(PROMPT, tenant=TENANT)
        with pytest.raises(ModelFailed, match="300 of 400 tokens left today"):
            writer.write(PROMPT, tenant=TENANT)
        assert writer.write(PROMPT, tenant=TenantId("other")) == EXPECTED
        assert len(service.asked) == 3


def test_nobody_there_costs_nothing():
    tokens = budget()
    with writing(f"http://127.0.0.1:{closed_port()}/v1", budget=tokens) as writer:
        failure(writer)
    assert tokens.used(TENANT) == 0


def test_a_new_day_has_a_new_budget():
    now = [NOON]
    tokens = TokenBudget(100, lambda: now[0])
    with tokens.spend(TENANT, 100) as bill:
        bill.tokens = 90
    with pytest.raises(ModelFailed, match="10 of 100"), tokens.spend(TENANT, 11):
        pass
    now[0] = datetime(2026, 5, 2, 0, 0, 1, tzinfo=UTC)
    with tokens.spend(TENANT, 100) as bill:
        now[0] = datetime(2026, 5, 3, tzinfo=UTC)
        bill.tokens = 70
    assert tokens.used(TENANT) == 0


def test_questions_asked_at_once_do_not_exceed_the_budget_together():
    tokens = budget(100)
    with tokens.spend(TENANT, 60), pytest.raises(ModelFailed), tokens.spend(TENANT, 60):
        pass


def test_a_question_that_fails_gives_back_what_was_set_aside():
    tokens = budget(100)

    def fail() -> None:
        with tokens.spend(TENANT, 60) as bill:
            bill.tokens = 5
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert tokens.used(TENANT) == 5


# -- what cannot be meant ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "where",
    [
        Endpoint(""),
        Endpoint("gpt-5-mini"),
        Endpoint("openai:"),
        Endpoint("acme:model"),
        Endpoint("small", "host/v1"),
        Endpoint("openai:gpt-5-mini", key="secret\nX-Evil: 1"),
    ],
    ids=repr,
)
def test_a_writer_that_cannot_be_meant_is_refused_at_once(where: Endpoint):
    with pytest.raises(Invalid) as caught:
        ModelWriter(where, budget())
    assert "secret" not in str(caught.value)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("recollect.models.writer.find_spec", lambda name: None)
    with pytest.raises(Invalid, match=r"recollect\[anthropic\]"):
        ModelWriter(Endpoint("anthropic:claude-haiku-4-5"), budget())


def test_a_maker_without_a_key_is_a_model_that_failed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelFailed, match="Check its key"):
        ModelWriter(Endpoint("openai:gpt-5-mini"), budget()).write(PROMPT, tenant=TENANT)


# -- what it is for ---------------------------------------------------------------------------------------


def test_facts_come_out_of_turns_over_the_wire_and_only_those_that_were_said():
    turns = [
        Event(
            id=EventId("e"), item_id=ItemId("i"), ts=NOON, author="Nadia", role="user", text="I sold the kiln in April."
        )
    ]
    told = {
        "text": "Nadia sold the kiln in April 2026.",
        "key": None,
        "value": None,
        "scope": "Nadia",
        "confidence": 0.9,
        "category": "activity",
        "importance": 3,
        "private": False,
        "valid_from": None,
        "valid_to": None,
        "corrects": False,
        "witnesses": [1],
    }
    invented = told | {"text": "Nadia bought a loom from Viktor."}
    answer = {"facts": [told, invented]}
    with serving(lambda asked: chat(asked, answer)) as service, writing(service) as writer:
        facts = writer.write(extraction(turns, frozenset({0})), tenant=TENANT)
    assert [candidate.text for candidate in extracted(facts, turns, frozenset({0}))] == [told["text"]]
