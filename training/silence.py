"""Whether there is an answer at all: the weights of `policy/silence`.

    training/run silence               # fits on training/data, prints figures and the weights

Conversations are taken into stores as `ranker` does, several as one, and each alone; stories fifteen to a store, and
one alone. Each store is asked what `questions.jsonl.gz` asks of it, every seventh question of its conversations, and
questions about other conversations with the names of its own people in them. A logistic regression tells what is known
from what is not, by the signs that the product sees. Rows that are marked `blind` are left out: `bench.silence --part
blind` asks them. Figures are of stores that the weights were not fitted to (five parts).
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import ranker
import rows
from figures import average_precision
from rows import Row

from recollect import Message, minds, wiring
from recollect import settings as configuration
from recollect.domain.query import Query
from recollect.models.local import LocalEmbedder
from recollect.policy import silence
from recollect.policy.silence import Signs
from recollect.write.formats import Thread

COUNTS = {"own": 0.5, "said": 3.0, "invented": 3.0, "invented, alone": 3.0, "loose": 0.5}
"""What a question counts for, by its kind; others for one. The embedder has seen the conversations' own questions."""
PENALTY = 3.0
STRANGERS = ("single", "detail", "temporal", "preference", "update")
NAMES = tuple(field.name for field in fields(Signs))
_NAMED = re.compile(r"(?<=[a-z,;] )[A-ZÀ-Þ][^\W\d_]+")


@dataclass(frozen=True)
class Asked:
    store: str
    kind: str
    known: bool
    seen: Signs


@dataclass(frozen=True)
class World:
    """What is taken into one store, and what it is asked: (question, kind, whether the answer is known)."""

    name: str
    threads: Sequence[Thread]
    questions: Sequence[tuple[str, str, bool]]


def of_conversations(written: Sequence[Row]) -> Iterator[World]:
    """Conversations of one sort, several as one, with what is written about them."""
    every = {world["id"]: world for world in rows.read("conversations")}
    about = {row["id"]: row for row in written}
    groups = list(ranker.together(list(every.values())))
    for number, some in enumerate(groups):
        if any(about[world["id"]]["blind"] for world in some if world["id"] in about):
            continue
        texts = [message["text"] for world in some for message in world["messages"]]
        asked: list[tuple[str, str, bool]] = []
        for place, world in enumerate(some):
            own = [one["question"] for one in world["questions"] if one["evidence"]]
            asked += [(text, "own", True) for text in own[place::7]]
            ours = about.get(world["id"], {"questions": []})["questions"]
            cast = ranker.recast({**every[world["id"]], "questions": ours}, some[0])["questions"]
            asked += [(one["question"], one["kind"], one["known"]) for one in cast if not _comes_up(one, texts)]
        alike = [group for group in groups if group[0]["corpus"] == some[0]["corpus"]]
        other = alike[(alike.index(some) + 1) % len(alike)]
        asked += [(text, "stranger", False) for text in _strangers([every[one["id"]] for one in other], some[0])]
        yield World(f"g-{number}", [thread for world in some for thread in ranker.threads(world)], asked)


def of_single_conversations(written: Sequence[Row]) -> Iterator[World]:
    every = {world["id"]: world for world in rows.read("conversations")}
    for row in written:
        if row["from"] == "conversations" and not row["blind"]:
            world = every[row["id"]]
            own = [one["question"] for one in world["questions"] if one["evidence"]]
            asked = [(one["question"], one["kind"], one["known"]) for one in row["questions"]]
            asked += [(text, "own", True) for text in own[2::9]]
            yield World(f"c-{row['id']}", list(ranker.threads(world)), asked)


def _comes_up(question: Row, texts: Sequence[str]) -> bool:
    """Whether a matter that one conversation never comes to is one of another in the same store."""
    never = question.get("never")
    return bool(never) and any(re.search(never, text, re.I) for text in texts)


def _strangers(others: Sequence[Row], first: Row) -> Iterator[str]:
    """Questions about other conversations, as if about these people."""
    people = {message["speaker"] for message in first["messages"]}
    for place, world in enumerate(others):
        cast = [one for one in ranker.recast(world, first)["questions"] if one["evidence"]]
        asked = [one["question"] for one in cast if one["category"] in STRANGERS]
        yield from [text for text in asked if set(_NAMED.findall(text)) <= people][place::9]


def of_stories(written: Sequence[Row]) -> Iterator[World]:
    stories = {story["id"]: story for story in rows.read("stories")}
    groups = [row for row in written if row["from"] == "stories"]
    for number, row in enumerate(groups):
        if row["blind"]:
            continue
        some = [stories[name] for name in row["of"]]
        asked = [(one["question"], one["kind"], one["known"]) for one in row["questions"]]
        other = groups[(number + 10) % len(groups)]["of"][::3]
        asked += [(stories[name]["question"], "stranger", False) for name in other]
        yield World(row["id"], [told(story) for story in some], asked)
        alone = [one for one in asked if one[1] in ("invented", "loose") or one[0] == some[0]["question"]]
        yield World(
            row["id"].replace("s-", "t-"),
            [told(some[0])],
            [(text, f"{kind}, alone", known) for text, kind, known in alone],
        )


def told(story: Row) -> Thread:
    said = [
        Message(
            text=message["text"],
            author=message["speaker"],
            role="assistant" if message["role"] == "assistant" else "user",
            ts=datetime.fromisoformat(message["date"]).replace(hour=9, tzinfo=UTC),
        )
        for message in story["messages"]
    ]
    return Thread(story["id"], "", tuple(said))


def asked(worlds: Iterator[World], folder: Path) -> Iterator[Asked]:
    """What is seen of each question that can be told."""
    embedder = LocalEmbedder(threads=2)
    for world in worlds:
        path = folder / f"{world.name[0]}.db"
        settings = configuration.load({"store": str(path), "tenant": world.name, "user": "mira"})
        settings = replace(settings, day_cap=1_000_000)
        mind = replace(minds.chosen(settings, embedder=embedder), judge=None)
        memory = wiring.connect(settings, create=True, given=mind)
        if not memory.items():
            memory.bulk(world.threads)
            wiring.workers(memory._deps, settings).run_until_idle()
        for text, kind, known in world.questions:
            if seen := watched(memory, text):
                yield Asked(world.name, kind, known, seen)
        memory.close()
        print(world.name, file=sys.stderr, flush=True)


def watched(memory: Any, text: str) -> Signs | None:
    caught: list[Signs] = []
    speaks = silence.speaks

    def catching(seen: Signs) -> bool:
        caught.append(seen)
        return speaks(seen)

    silence.speaks = catching
    try:
        memory.query(Query(text=text, budget_tokens=1_024))
    finally:
        silence.speaks = speaks
    return caught[0] if caught else None


def fitted(seen: np.ndarray, known: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The weights of a logistic regression on signs of equal spread, the last the bias: Newton's steps."""
    mean, spread = seen.mean(0), seen.std(0) + 1e-9
    wide = np.hstack([(seen - mean) / spread, np.ones((len(seen), 1))])
    held = np.diag([PENALTY] * seen.shape[1] + [0.0])
    weights = np.zeros(wide.shape[1])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-wide @ weights))
        slope = wide.T @ (counts * (chances - known)) + held @ weights
        bend = (wide * (counts * chances * (1 - chances))[:, None]).T @ wide + held
        weights -= np.linalg.solve(bend, slope)
    return np.append(weights[:-1] / spread, weights[-1] - (weights[:-1] * mean / spread).sum())


def held_out(found: Sequence[Asked], seen: np.ndarray, known: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The sum of every question by weights that were fitted to the other stores."""
    stores = sorted({one.store for one in found})
    part = np.array([stores.index(one.store) % 5 for one in found])
    sums = np.zeros(len(found))
    for number in range(5):
        weights = fitted(seen[part != number], known[part != number], counts[part != number])
        sums[part == number] = seen[part == number] @ weights[:-1] + weights[-1]
    return sums


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, default=None, help="a folder in which the stores stay")
    args = parser.parse_args()
    written = rows.read("questions")
    with tempfile.TemporaryDirectory() as folder:
        place = args.keep or Path(folder)
        worlds = chain(of_conversations(written), of_single_conversations(written), of_stories(written))
        found = list(asked(worlds, place))
    seen = np.array([astuple(one.seen) for one in found])
    known = np.array([one.known for one in found])
    counts = np.array([COUNTS.get(one.kind, 1.0) for one in found])
    sums = held_out(found, seen, known, counts)
    weights = fitted(seen, known, counts)
    lines = sorted({silence.LINE, *(round(float(np.quantile(sums[known], lost)), 2) for lost in (0.005, 0.01, 0.02))})
    kinds = sorted({(one.kind, one.known) for one in found})
    of = {kind: np.array([(one.kind, one.known) == kind for one in found]) for kind in kinds}
    print(
        json.dumps(
            {
                "questions": len(found),
                "ap": round(average_precision(sums, known), 4),
                "silent": {
                    line: {
                        f"{kind}{'' if answer else ' (unknown)'}": round(
                            float((sums[of[kind, answer]] < line).mean()), 3
                        )
                        for kind, answer in kinds
                    }
                    for line in lines
                },
                **{name: round(float(value), 2) for name, value in zip((*NAMES, "bias"), weights, strict=True)},
            }
        )
    )


if __name__ == "__main__":
    main()
