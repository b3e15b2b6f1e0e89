"""Conversations with the answers that a good language model gave to the product's own prompt, message by message, and a
model that gives these answers again, over the wire."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect import Message
from recollect.domain.ids import TenantId
from recollect.domain.prompt import Prompt
from recollect.errors import ModelFailed
from recollect.models.budget import TokenBudget
from recollect.models.form import Form
from recollect.models.writer import Endpoint, ModelWriter
from recollect.policy.prompts import ExtractedFacts
from recollect.write.extraction import CONTEXT
from tests.models.service import Asked, Reply, Service, serving

ANSWERS = Path(__file__).with_name("answers.jsonl")
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A conversation; `answers` has the facts of each message that a person wrote."""

    id: str
    messages: tuple[Message, ...]
    answers: tuple[tuple[Facts, ...], ...]

    @property
    def places(self) -> list[int]:
        """Where a person speaks."""
        return [place for place, message in enumerate(self.messages) if message.role == "user"]

    @property
    def facts(self) -> list[Facts]:
        return [fact for answer in self.answers for fact in answer]


def rows() -> list[Row]:
    found = [json.loads(line) for line in ANSWERS.read_text().splitlines()]
    return [
        Row(
            row["id"],
            tuple(
                Message(text=one["text"], author=one["author"], role=one["role"], ts=datetime.fromisoformat(one["ts"]))
                for one in row["messages"]
            ),
            tuple(tuple(answer["facts"]) for answer in row["answers"]),
        )
        for row in found
    ]


class Model:
    """Answers each prompt for facts as it was answered when it was recorded: over the wire when it is called as a
    service, or within the process as a writer. What else it is asked it does not know."""

    def __init__(self, known: Sequence[Row]) -> None:
        self._answers = {
            _seen(row.messages[max(0, place - CONTEXT) : place + 1]): answer
            for row in known
            for place, answer in zip(row.places, row.answers, strict=True)
        }
        assert len(self._answers) == sum(len(row.places) for row in known), "two messages that look the same"
        self.asked: Counter[tuple[str, ...]] = Counter()

    def __call__(self, asked: Asked) -> Reply:
        (tool,) = _of(asked, "tools")
        if "facts" not in tool["function"]["parameters"]["properties"]:
            return Reply({"error": {"message": "no idea"}}, 400)
        (user,) = [one["content"] for one in _of(asked, "messages") if one["role"] == "user"]
        return _answered(tool["function"]["name"], self._answer(user))

    def write(self, prompt: Prompt[Any], *, tenant: TenantId) -> Any:
        if prompt.form is not ExtractedFacts:
            raise ModelFailed("no idea")
        return Form(prompt.form).fill(self._answer(prompt.user))

    def _answer(self, user: str) -> object:
        turns = [json.loads(line) for line in user.splitlines() if line.startswith('{"turn"')]
        assert [turn["new"] for turn in turns] == [False] * (len(turns) - 1) + [True], "one message is asked about"
        seen = tuple(f"{turn['author']} {turn['date']} {turn['text'][:12]}" for turn in turns)
        self.asked[seen] += 1
        return {"facts": list(self._answers[seen])}


def _seen(messages: Sequence[Message]) -> tuple[str, ...]:
    """What a message is known by: who said what when, with what was said before. Of the words only the first ones:
    secrets are taken out of them."""
    return tuple(f"{one.author} {one.ts:%Y-%m-%d} {one.text[:12]}" for one in messages)


def _of(asked: Asked, field: str) -> list[Any]:
    found = asked.body[field]
    assert isinstance(found, list)
    return found


def _answered(tool: str, arguments: object) -> Reply:
    """As OpenAI's chat completions put it."""
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": 40, "completion_tokens": 10, "total_tokens": 50}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return Reply(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


@contextmanager
def over_the_wire(model: Model) -> Iterator[ModelWriter]:
    """The product's own writer, and behind it the model at an OpenAI-compatible address."""
    with serving(model) as service:
        writer = _writer(service)
        try:
            yield writer
        finally:
            writer.close()


def _writer(service: Service) -> ModelWriter:
    budget = TokenBudget(100_000_000, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    return ModelWriter(Endpoint("recorded", service.url, "sk-test"), budget, timeout=60, tries=1)


# -- what came of it --------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_]+")
_CALENDAR = re.compile(r"\[[^\]]*\]")
_SMALL = frozenset(
    "the and for that with has had have was were are not who which from until since because wants said user".split()
)


def words(text: str) -> frozenset[str]:
    """The first letters of the words that carry a text; the dates in brackets are left out."""
    plain = _CALENDAR.sub(" ", text).casefold()
    long = [word for word in _WORD.findall(plain) if len(word) > 2 or word.isdigit()]
    return frozenset(word[:4] for word in long if word not in _SMALL)


def says(memory: str, fact: str) -> bool:
    """Whether a memory is the fact, or quotes somebody with most of its words."""
    quoted = re.match(r'.*: ".*"$', memory)
    held = words(fact) & words(memory)
    return memory == fact or len(held) >= (0.5 if quoted else 0.9) * len(words(fact))


def twins(memories: Sequence[str]) -> list[tuple[str, str]]:
    """Memories of which each has nearly all the words of the other."""
    return [
        (one, other)
        for number, one in enumerate(memories)
        for other in memories[:number]
        if len(words(one) & words(other)) >= 0.9 * max(len(words(one)), len(words(other)))
        and re.findall(r"\d+", one) == re.findall(r"\d+", other)
    ]
