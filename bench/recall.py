"""Whether a question finds the turns that prove its answer, through the product's own door.

    python -m bench.recall --data shared/data/locomo_dev.jsonl.gz
    python -m bench.recall --data shared/data/beam_100K.jsonl.gz --engine postgres

Every conversation is a tenant of one store; every session of it is a thread, taken in as a user would take it in, with
vectors and memories. Questions go through `Memory.query` with its defaults; only top_k and the budget are varied.
`r5`, `r10` and `r20` are the share of a question's evidence among the first events of the answer, `budget_…` the share
of which the answer holds the text, or a slice of it, within so many tokens: means over questions that have evidence.
Where an assistant takes part, a message and its reply are one event: either counts, and each takes a place.

`conflict_hit5`: the later statement of a contradiction or update is asked, as it was said; is the earlier one among the
first five of all earlier exchanges? `abstain`: questions that the conversation does not answer (those marked so, and
questions about the next conversation of the file) should get no results, the others some.

Vectors are kept between runs in --cache: they depend on the embedder and the text alone.
"""

import argparse
import gzip
import hashlib
import json
import sqlite3
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

from bench.opening import Opened, opened
from bench.postgres import temporary_postgres
from recollect import Message, minds
from recollect import settings as configuration
from recollect.domain.embedding import Profile
from recollect.domain.event import Event
from recollect.domain.ids import ItemId
from recollect.domain.portion import every
from recollect.domain.query import Filters, Page, Query, Source
from recollect.memory import Memory
from recollect.models.local import LocalEmbedder
from recollect.write.formats import Thread

BUDGETS = (512, 1024, 2048)
UNLIMITED = 100_000
START = datetime(2023, 1, 1, 9, 0, tzinfo=UTC)
OTHERS = 40
"""Questions of the next conversation that each is asked."""


class Remembering:
    """The bundled embedder, with what it said before on disk."""

    def __init__(self, path: Path) -> None:
        self._own = LocalEmbedder(threads=2)
        self._kept = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._kept.execute("pragma journal_mode = wal")
        self._kept.execute("create table if not exists vectors (key blob primary key, data blob)")

    @property
    def name(self) -> str:
        return self._own.name

    @property
    def profile(self) -> Profile:
        return self._own.profile

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        keys = [hashlib.sha256(f"{self.name}\n{text}".encode()).digest() for text in texts]
        known = {key: self._known(key) for key in keys}
        new = [(key, text) for key, text in dict(zip(keys, texts, strict=True)).items() if known[key] is None]
        if new:
            made = self._own.embed([text for _, text in new])
            for (key, _), data in zip(new, made, strict=True):
                known[key] = data
                self._kept.execute("insert or replace into vectors values (?, ?)", (key, data))
        return [known[key] or b"" for key in keys]

    def _known(self, key: bytes) -> bytes | None:
        row = self._kept.execute("select data from vectors where key = ?", (key,)).fetchone()
        return row[0] if row else None


@dataclass(frozen=True)
class Asked:
    """A conversation in its store: which exchange each event belongs to, and where each message stands."""

    memory: Memory
    conversation: Mapping[str, Any]
    exchange_of_event: Mapping[str, int]
    exchange_of_message: Mapping[Any, int]
    place_of_event: Mapping[str, int]

    def found(self, text: str, top_k: int, budget: int) -> list[str]:
        query = Query(text=text, source=Source.EVIDENCE, top_k=top_k, budget_tokens=budget)
        return [result.id for result in self.memory.query(query).results]

    def share(self, evidence: frozenset[int], events: Sequence[str]) -> float:
        return len(evidence & {self.exchange_of_event[event] for event in events}) / len(evidence)

    def evidence(self, question: Mapping[str, Any]) -> frozenset[int]:
        named = (self.exchange_of_message.get(message) for message in question["evidence"])
        return frozenset(exchange for exchange in named if exchange is not None)


def conversations(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def exchanges(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """The exchange of each message: one of its own, but for a reply, which belongs to what it replies to."""
    numbers: list[int] = []
    for place, message in enumerate(messages):
        reply = message["speaker"] == "assistant" and place > 0 and messages[place - 1]["speaker"] != "assistant"
        numbers.append(numbers[-1] if reply else len(numbers))
    return numbers


def moments(messages: Sequence[Mapping[str, Any]]) -> list[datetime]:
    """When each message was said: a day where one is named, and a minute after the one before otherwise."""
    found: list[datetime] = []
    session, at = None, START
    for message in messages:
        named = _moment(message["date"]) if message["session"] != session or message["date"] else None
        if named is not None and (message["session"] != session or not found or named.date() != found[-1].date()):
            at = named
        elif message["session"] != session:
            at = at + timedelta(days=1)
        else:
            at = at + timedelta(minutes=1)
        session = message["session"]
        found.append(at)
    return found


def _moment(words: str | None) -> datetime | None:
    for form in ("%I:%M %p on %d %B, %Y", "%B-%d-%Y", "%Y-%m-%d %H:%M"):
        try:
            return datetime.strptime((words or "").strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def threads(conversation: Mapping[str, Any]) -> Iterator[Thread]:
    messages = conversation["messages"]
    sessions: dict[Any, list[Message]] = {}
    for message, at in zip(messages, moments(messages), strict=True):
        role = "assistant" if message["speaker"] == "assistant" else "user"
        said = Message(
            text=message["text"], author=message["speaker"], role=role, ts=at, meta={"message": message["id"]}
        )
        sessions.setdefault(message["session"], []).append(said)
    for session, said in sessions.items():
        yield Thread(f"session {session}", "", tuple(said))


def events_of(memory: Memory, thread: ItemId) -> Iterator[Event]:
    """All events of a thread, however long it is."""
    return every(lambda after: memory.thread(thread, after=after or 0))


def take_in(house: Opened, conversation: Mapping[str, Any]) -> Asked:
    memory = house.memory
    memory.bulk(threads(conversation))
    house.settle()
    messages = conversation["messages"]
    numbers = dict(zip((message["id"] for message in messages), exchanges(messages), strict=True))
    places = {message["id"]: place for place, message in enumerate(messages)}
    texts = {message["id"]: message["text"] for message in messages}
    event_of: dict[Any, str] = {}
    by_text: dict[str, str] = {}
    for episode in memory.items(Filters(kinds=frozenset({"episode"})), Page(limit=1000)):
        for event in events_of(memory, episode.id):
            event_of[event.meta["message"]] = event.id
            by_text[event.text] = event.id
    missing = [message for message in texts if message not in event_of and texts[message] not in by_text]
    if missing:
        print(f"{conversation['id']}: {len(missing)} messages are not in the store", flush=True)
    back = {event: message for message, event in event_of.items()}
    return Asked(
        memory,
        conversation,
        {event: numbers[message] for event, message in back.items()},
        numbers,
        {event: places[message] for event, message in back.items()},
    )


def recall(asked: Asked) -> Iterator[dict[str, Any]]:
    """The measures of each question that has evidence."""
    for question in asked.conversation["questions"]:
        evidence = asked.evidence(question)
        if not evidence:
            continue
        began = time.process_time_ns()
        first = asked.found(question["question"], 20, UNLIMITED)
        spent = (time.process_time_ns() - began) / 1e6
        row: dict[str, Any] = {"category": question["category"], "cpu": spent, "answered": bool(first)}
        for k in (5, 10, 20):
            row[f"r{k}"] = asked.share(evidence, first[:k])
        for budget in BUDGETS:
            row[f"budget_{budget}"] = asked.share(evidence, asked.found(question["question"], 200, budget))
        yield row


def conflicts(asked: Asked) -> Iterator[bool]:
    """Whether the earlier statement is among the first five exchanges that the later one finds before it."""
    messages = {message["id"]: message for message in asked.conversation["messages"]}
    numbers = asked.exchange_of_message
    for question in asked.conversation["questions"]:
        roles = question.get("evidence_roles")
        if question["category"] not in ("contradiction_resolution", "knowledge_update") or not roles:
            continue
        sides = [sorted((m for m in side if m in numbers), key=lambda m: numbers[m]) for side in roles.values()]
        if len(sides) != 2 or not all(sides):
            continue
        earlier, later = sorted(sides, key=lambda side: numbers[side[0]])
        said = numbers[later[0]]
        sought = {numbers[message] for message in earlier if numbers[message] < said}
        if not sought:
            continue
        events = asked.found(messages[later[0]]["text"], 200, UNLIMITED)
        before = list(dict.fromkeys(n for event in events if (n := asked.exchange_of_event[event]) < said))
        yield bool(sought & set(before[:5]))


def abstentions(asked: Asked, other: Mapping[str, Any]) -> Iterator[tuple[bool, bool, str]]:
    """(whether there is an answer, whether one was given, kind) for questions that the conversation does not answer."""
    unanswerable = [
        (question["question"], "said so")
        for question in asked.conversation["questions"]
        if question["category"] == "abstention"
    ]
    step = max(1, len(other["questions"]) // OTHERS)
    strangers = [question for question in other["questions"][::step] if question["category"] != "abstention"]
    for text, kind in [*unanswerable, *((question["question"], "other topic") for question in strangers)]:
        yield False, bool(asked.found(text, 5, 512)), kind


def summary(
    rows: Sequence[Mapping[str, Any]], hits: Sequence[bool], refused: Sequence[tuple[bool, bool, str]]
) -> dict[str, Any]:
    categories = sorted({row["category"] for row in rows})
    silent = [row for row in rows if not row["answered"]]
    abstained = [kind for _, given, kind in refused if not given]
    found: dict[str, Any] = {
        "questions": len(rows),
        **{
            name: round(fmean(row[name] for row in rows), 4)
            for name in ("r5", "r10", "r20", *(f"budget_{budget}" for budget in BUDGETS))
        },
        "by_category": {
            name: round(fmean(row["r10"] for row in rows if row["category"] == name), 4) for name in categories
        },
        "abstain": {
            "precision": round(len(abstained) / max(1, len(abstained) + len(silent)), 4),
            "recall": round(len(abstained) / max(1, len(refused)), 4),
            "by_kind": {
                name: round(abstained.count(name) / sum(kind == name for _, _, kind in refused), 4)
                for name in sorted({kind for _, _, kind in refused})
            },
            "answerable_answered": round(1 - len(silent) / max(1, len(rows)), 4),
        },
        "cpu_p50": round(quantiles([row["cpu"] for row in rows], n=100)[49], 2),
        "cpu_p95": round(quantiles([row["cpu"] for row in rows], n=100)[94], 2),
    }
    if hits:
        found["conflict_hit5"] = round(fmean(hits), 4)
        found["conflicts"] = len(hits)
    return found


@contextmanager
def remembering(address: str, tenant: str, embedder: Remembering) -> Generator[Opened]:
    """A tenant of its own, without the daily cap: no turn is left unread."""
    settings = configuration.load({"store": address, "tenant": tenant, "user": "mira"})
    settings = replace(settings, day_cap=1_000_000)
    with opened(settings, minds.chosen(settings, embedder=embedder)) as house:
        yield house


def measure(address: str, args: argparse.Namespace) -> dict[str, Any]:
    found = conversations(args.data)[: args.conversations]
    embedder = Remembering(args.cache)
    rows: list[dict[str, Any]] = []
    hits: list[bool] = []
    refused: list[tuple[bool, bool, str]] = []
    for number, conversation in enumerate(found):
        with remembering(address, f"bench-{number}", embedder) as house:
            asked = take_in(house, conversation)
            rows += recall(asked)
            hits += conflicts(asked)
            refused += abstentions(asked, found[(number + 1) % len(found)]) if len(found) > 1 else ()
        print(f"{conversation['id']}: r10 {fmean(row['r10'] for row in rows):.3f}", flush=True)
    return {"engine": args.engine, **summary(rows, hits, refused)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--conversations", type=int, default=None, help="only so many of the file")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recollect-bench-vectors.db")
    args = parser.parse_args(arguments)
    if args.engine == "postgres":
        with temporary_postgres() as server:
            print(json.dumps(measure(server.url, args)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(str(Path(folder) / "memory.db"), args)))


if __name__ == "__main__":
    main()
