"""Whether memory keeps silent about what was never said, and answers the rest.

    python -m bench.silence --data training/data/questions.jsonl.gz --part blind
    python -m bench.silence --data shared/data/locomo_dev.jsonl.gz --asks unknown.jsonl

Questions go through `Memory.query` with 1,024 tokens and nothing else set. `answered` is the share of those with an
answer that get any results, `unknown_silent` the share of those without one that get none, `by_kind` the share that
gets none, by kind.

A row of the data is a conversation with its questions, as for `bench.recall`; or it names those that lie in a file
beside it (`from`, `of`), each of which is a thread of the same tenant. A question says whether the answer is `known`,
and its `kind`; where it does not, what has evidence is known, unless its category says that it has no answer. With
--asks, further questions come from a file of lines: {conversation, question, answerable}. `blind` marks the rows that
nothing was fitted on: --part picks those, or the others.

With --keep, the store is made in that folder and found there again.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.postgres import temporary_postgres
from bench.recall import Remembering, conversations, remembering, threads
from recollect.domain.query import Query
from recollect.memory import Memory

BUDGET = 1_024
UNKNOWN = frozenset({"adversarial", "abstention", "none"})
"""Categories of questions that have no answer."""


def worlds(path: Path, part: str | None) -> list[dict[str, Any]]:
    """The conversations of a file with their questions, those that are named filled in."""
    found = [row for row in conversations(path) if part is None or bool(row.get("blind")) is (part == "blind")]
    named = {row["from"] for row in found if "from" in row}
    beside = {name: {one["id"]: one for one in conversations(path.parent / f"{name}.jsonl.gz")} for name in named}
    return [row if "messages" in row else {**row, "messages": said(row, beside[row["from"]])} for row in found]


def said(row: Mapping[str, Any], beside: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages of the conversations that a row names, each with a session of its own."""
    messages: list[dict[str, Any]] = []
    for name in row["of"]:
        for message in beside[name]["messages"]:
            session = f"{name} {message.get('session', 1)}"
            speaker = "assistant" if message.get("role") == "assistant" else message["speaker"]
            date = message["date"] if " " in message["date"] else f"{message['date']} 09:00"
            messages.append(
                {"id": len(messages), "session": session, "speaker": speaker, "date": date, "text": message["text"]}
            )
    return messages


def questions(world: Mapping[str, Any], asks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool, str]]:
    """(question, whether the answer is known, kind)."""
    for one in world["questions"]:
        kind = str(one.get("kind") or one["category"])
        known = one.get("known", kind not in UNKNOWN)
        if "known" in one or one["evidence"] or kind in UNKNOWN:
            yield one["question"], known, kind
    for one in asks:
        if one["conversation"] == world["id"]:
            yield one["question"], one["answerable"], "asked beside"


def rows(memory: Memory, asked: Iterator[tuple[str, bool, str]]) -> Iterator[dict[str, Any]]:
    for text, known, kind in asked:
        answer = memory.query(Query(text=text, budget_tokens=BUDGET))
        yield {"known": known, "kind": kind, "answered": bool(answer.results)}


def measure(address: str, args: argparse.Namespace, *, made: bool) -> dict[str, Any]:
    asks = [json.loads(line) for line in args.asks.read_text("utf-8").splitlines()] if args.asks else []
    embedder = Remembering(args.cache)
    found: list[dict[str, Any]] = []
    for number, world in enumerate(worlds(args.data, args.part)[: args.conversations]):
        with remembering(address, f"bench-{number}", embedder) as house:
            if not made:
                house.memory.bulk(threads(world))
                house.settle()
            found += rows(house.memory, questions(world, asks))
        print(f"{world['id']}: {len(found)} questions", flush=True)
    return {"engine": args.engine, **summary(found)}


def summary(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    known = [row["answered"] for row in found if row["known"]]
    unknown = [not row["answered"] for row in found if not row["known"]]
    kinds = sorted({row["kind"] for row in found})
    return {
        "questions": len(found),
        "answerable": len(known),
        "answered": round(fmean(known), 4) if known else None,
        "unknown": len(unknown),
        "unknown_silent": round(fmean(unknown), 4) if unknown else None,
        "by_kind": {
            kind: round(fmean(not row["answered"] for row in found if row["kind"] == kind), 4) for kind in kinds
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--asks", type=Path, default=None, help="further questions, a line each")
    parser.add_argument("--part", choices=("blind", "fitted"), default=None)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--conversations", type=int, default=None, help="only so many of the file")
    parser.add_argument("--keep", type=Path, default=None, help="a folder in which the store stays (SQLite)")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recollect-bench-vectors.db")
    args = parser.parse_args(arguments)
    if args.engine == "postgres":
        with temporary_postgres() as server:
            print(json.dumps(measure(server.url, args, made=False)))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = (args.keep or Path(folder)) / "memory.db"
        place.parent.mkdir(parents=True, exist_ok=True)
        print(json.dumps(measure(str(place), args, made=place.exists())))


if __name__ == "__main__":
    main()
