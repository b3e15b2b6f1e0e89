"""What an agent gets by default: the evidence in the answer to a question, through the server.

    python -m bench.served --data shared/data/locomo_dev.jsonl.gz
    python -m bench.served --data shared/data/beam_100K.jsonl.gz --engine postgres

Every conversation is a tenant of one store, taken in as `bench.recall` does. Questions go over HTTP with 1,024 tokens
and nothing else set. `evidence` is the share of a question's evidence whose own words stand in the answer: the whole
event, or a contiguous slice of it of at least 120 characters, apart from the signs of quotation before its lines; a
message and the assistant's reply to it are one.
`first` is the share of questions whose first result holds evidence, `repeated` the share of words that stand in the
answer for the second time, as part of a run of eight or more (shorter ones are turns of phrase: "but I'm not sure how
to"), apart from who said a line and when, which every line says;
`escalated` the share of answers that are more than the default.

With --keep, the store is made in that folder and found there again: for who changes how questions are answered.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.postgres import temporary_postgres
from bench.recall import Remembering, conversations, exchanges, remembering, take_in
from bench.serving import served
from recollect.client import Client
from recollect.domain.query import Query
from recollect.policy.rendering import unquoted

BUDGET = 1_024
SLICE = 120
"""Characters of an event that count for the whole of it."""
RUN = 8
"""Words in a row that stand there twice."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")  # noqa: RUF001
_FRAME = re.compile(r"\A(?:\[[^\]]+\] )?(?:[^:]{1,200}, )?\d{1,2} \w+ \d{4}(?:, [^:]{1,100})?: ")
"""Who said a line and when, and until when it held."""


def plain(text: str) -> str:
    return " ".join(text.split())


def holds(context: str, text: str) -> bool:
    """Whether a context has the words of an event: all of it, or a slice."""
    said = plain(text)
    if len(said) <= SLICE:
        return said in context
    return any(said[start : start + SLICE] in context for start in range(len(said) - SLICE + 1))


def repeated(texts: Sequence[str]) -> float:
    """The share of words that are part of a run which stood there before."""
    words = [_WORD.findall(_FRAME.sub("", text, count=1).lower()) for text in texts]
    known: set[tuple[str, ...]] = set()
    twice = 0
    for line in words:
        runs = [tuple(line[start : start + RUN]) for start in range(len(line) - RUN + 1)]
        again = {place for start, run in enumerate(runs) if run in known for place in range(start, start + RUN)}
        known.update(runs)
        twice += len(again)
    return twice / max(1, sum(map(len, words)))


def rows(client: Client, conversation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    messages = conversation["messages"]
    numbers = dict(zip((message["id"] for message in messages), exchanges(messages), strict=True))
    texts: dict[int, list[str]] = {}
    for message in messages:
        texts.setdefault(numbers[message["id"]], []).append(message["text"])
    for question in conversation["questions"]:
        evidence = {numbers[message] for message in question["evidence"] if message in numbers}
        if not evidence:
            continue
        answer = client.query(Query(text=question["question"], budget_tokens=BUDGET))
        texts_served = [unquoted(result.text) for result in answer.results]
        context = plain("\n".join(texts_served))
        first = plain(texts_served[0]) if texts_served else ""
        yield {
            "category": question["category"],
            "evidence": fmean(any(holds(context, text) for text in texts[number]) for number in evidence),
            "first": any(holds(first, text) for number in evidence for text in texts[number]),
            "tokens": answer.tokens,
            "escalated": answer.escalated,
            "repeated": repeated([result.text for result in answer.results]),
            "answered": bool(answer.results),
        }


def measure(address: str, args: argparse.Namespace, *, made: bool) -> dict[str, Any]:
    found = conversations(args.data)[: args.conversations]
    asked: list[dict[str, Any]] = []
    for number, conversation in enumerate(found):
        tenant = f"bench-{number}"
        if not made:
            with remembering(address, tenant, Remembering(args.cache)) as house:
                take_in(house, conversation)
        with served(address, tenant, {"user": "mira"}) as server:
            asked += rows(server.client, conversation)
        print(f"{conversation['id']}: evidence {fmean(row['evidence'] for row in asked):.3f}", flush=True)
    shares = ("evidence", "tokens", "first", "escalated", "repeated", "answered")
    return {
        "engine": args.engine,
        "questions": len(asked),
        **{name: round(fmean(row[name] for row in asked), 4) for name in shares},
        "by_category": {
            name: round(fmean(row["evidence"] for row in asked if row["category"] == name), 4)
            for name in sorted({row["category"] for row in asked})
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
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
