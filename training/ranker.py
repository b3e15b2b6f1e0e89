"""The ranker: what each trait of a hit is worth (`policy/rank.Weights`).

    training/run ranker                # fits on the questions of training/data, tests by parts, prints the weights

Conversations are taken into a store of the product, several as one, and asked through the product's own search; the
traits of what it shortlists are kept. The weights are those under which the turns that answer come first (a softmax
over what was shortlisted), held near zero.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import rows
from rows import Row

from recollect import Message, wiring
from recollect import settings as configuration
from recollect.domain.query import Filters, Page, Query, Source
from recollect.minds import Minds
from recollect.models.local import LocalEmbedder
from recollect.policy import rank
from recollect.write.formats import Thread

TOGETHER = 5
"""Conversations in one store: about as many turns as a year of talk."""
RARE = 0.3
"""Marks that hardly ever show are held to zero as strictly as others."""
BY_HAND = {
    "length": 0.32,
    "overlong": -0.34,
    "reply": -4.5,
    "reply_asked_for": 2.5,
    "same_exchange": -2.0,
    "standing": 1.35,
    "standing_for_advice": 2.04,
    "preference_for_advice": 0.62,
    "coverage": 2.0,
    "coverage_of_statement": 24.0,
}
"""What these conversations cannot teach: they have no replies of several pages, no messages as questions, and few
standing instructions. Chosen by hand, with public benchmarks in view."""
NAMES = tuple(field.name for field in fields(rank.Weights))


def taken_in(worlds: Sequence[Row], embedder: LocalEmbedder) -> Iterator[tuple[Row, np.ndarray, np.ndarray]]:
    """Each question with the traits of what was shortlisted for it, and which of that answers it."""
    for some in together(worlds):
        with tempfile.TemporaryDirectory() as folder:
            settings = configuration.load({"store": str(Path(folder) / "memory.db"), "user": "mira"})
            settings = replace(settings, day_cap=1_000_000)
            memory = wiring.connect(settings, create=True, given=Minds(embedder, None))
            memory.bulk(thread for world in some for thread in threads(world))
            wiring.workers(memory._deps, settings).run_until_idle()
            events: dict[str, tuple[str, int]] = {}
            for episode in memory.items(Filters(kinds=frozenset({"episode"})), Page(limit=1000)):
                for event in memory.thread(episode.id, limit=10_000):
                    events[event.id] = (event.meta["world"], event.meta["message"])
            for world in some:
                for question in world["questions"]:
                    if question["evidence"]:
                        traits, right = shortlisted(memory, world, question, events)
                        yield question, traits, right
            memory.close()
        print(f"{len(some)} more conversations", flush=True)


def together(worlds: Sequence[Row]) -> Iterator[list[Row]]:
    """Conversations of one sort, several at a time, as if the same two people had spoken in all of them."""
    for sort in sorted({world["corpus"] for world in worlds}):
        own = [world for world in worlds if world["corpus"] == sort]
        for start in range(0, len(own), TOGETHER):
            first, *others = own[start : start + TOGETHER]
            yield [first, *(recast(world, first) for world in others)]


def recast(world: Row, like: Row) -> Row:
    """The conversation with the speakers of another."""
    ours, theirs = (
        list(dict.fromkeys(m["speaker"] for m in one["messages"] if m["speaker"] != "assistant"))
        for one in (world, like)
    )
    names = dict(zip(ours, theirs, strict=False))
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")

    def said(text: str) -> str:
        return pattern.sub(lambda found: names[found[0]], text)

    return {
        **world,
        "messages": [
            {**m, "speaker": names.get(m["speaker"], m["speaker"]), "text": said(m["text"])} for m in world["messages"]
        ],
        "questions": [{**one, "question": said(one["question"])} for one in world["questions"]],
    }


def threads(world: Row) -> Iterator[Thread]:
    sessions: dict[int, list[Message]] = {}
    for message in world["messages"]:
        at = datetime.strptime(message["date"], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
        role = "assistant" if message["speaker"] == "assistant" else "user"
        meta = {"message": message["id"], "world": world["id"]}
        said = Message(text=message["text"], author=message["speaker"], role=role, ts=at, meta=meta)
        sessions.setdefault(message["session"], []).append(said)
    for number, said in sessions.items():
        yield Thread(f"{world['id']} {number}", "", tuple(said))


def shortlisted(
    memory: Any, world: Row, question: Row, events: Mapping[str, tuple[str, int]]
) -> tuple[np.ndarray, np.ndarray]:
    caught: list[rank.Placed] = []
    settle = rank.settle

    def catching(*args: Any) -> list[rank.Placed]:
        caught[:] = settle(*args)
        return caught

    rank.settle = catching
    try:
        memory.query(Query(text=question["question"], source=Source.EVIDENCE, top_k=20, budget_tokens=100_000))
    finally:
        rank.settle = settle
    sought = {(world["id"], message) for message in question["evidence"]}
    traits = np.array([[one.traits.get(name, 0.0) for name in NAMES] for one in caught], np.float32)
    return traits.reshape(len(caught), len(NAMES)), np.array([events[one.seen.ref[2:]] in sought for one in caught])


def fit(asked: Sequence[tuple[np.ndarray, np.ndarray]], penalty: float, steps: int = 250) -> np.ndarray:
    """Weights by gradient descent on the chance that a turn that answers stands first."""
    usable = [(traits, right) for traits, right in asked if right.any() and len(right) > 1]
    longest = max(len(right) for _, right in usable)
    every = np.zeros((len(usable), longest, len(NAMES)), np.float32)
    right = np.zeros((len(usable), longest), bool)
    there = np.zeros((len(usable), longest), bool)
    for number, (traits, answers) in enumerate(usable):
        every[number, : len(traits)], right[number, : len(answers)] = traits, answers
        there[number, : len(answers)] = True
    scale = np.maximum(every[there].std(0), RARE)
    every = every / scale
    weights = np.array([BY_HAND.get(name, 0.0) for name in NAMES]) * scale
    free = np.array([name not in BY_HAND for name in NAMES])
    speed, force = np.zeros(len(NAMES)), np.zeros(len(NAMES))
    share = right / np.maximum(right.sum(1, keepdims=True), 1)
    for step in range(1, steps + 1):
        scores = np.where(there, every @ weights, -1e9)
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        slope = (np.einsum("nk,nkf->f", chances - share, every) / len(usable) + penalty * weights) * free
        speed, force = 0.9 * speed + 0.1 * slope, 0.999 * force + 0.001 * slope**2
        weights -= 0.05 * (speed / (1 - 0.9**step)) / (np.sqrt(force / (1 - 0.999**step)) + 1e-8)
    return weights / scale


def recall(asked: Sequence[tuple[Row, np.ndarray, np.ndarray]], weights: np.ndarray, first: int = 10) -> float:
    shares = []
    for question, traits, right in asked:
        order = np.argsort(-(traits @ weights), kind="stable")[:first]
        shares.append(right[order].sum() / len(set(question["evidence"])))
    return float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--penalty", type=float, default=0.003)
    parser.add_argument("--half", type=int, choices=(0, 1), help="ask every second conversation alone")
    parser.add_argument("--from", dest="start", type=int, default=0, help="the first conversation that is asked")
    parser.add_argument("--keep", type=Path, help="only ask, and keep the traits here")
    parser.add_argument("--seen", type=Path, action="append", default=[], help="traits that earlier runs kept")
    args = parser.parse_args()
    asked: list[tuple[Row, np.ndarray, np.ndarray]] = []
    for path in args.seen:
        asked += [tuple(one) for one in np.load(path, allow_pickle=True)["asked"]]
    if not asked:
        worlds = rows.read("conversations")[args.start :]
        worlds = worlds if args.half is None else worlds[args.half :: 2]
        asked = list(taken_in(worlds, LocalEmbedder(threads=2)))
    if args.keep:
        box = np.empty(len(asked), object)
        box[:] = asked
        np.savez_compressed(args.keep, asked=box)
        return
    parts = rows.folds([{"group": one[0]["qid"].rsplit("-", 1)[0], "one": one} for one in asked])
    now = np.array([getattr(rank.WEIGHTS, name) for name in NAMES])
    tested = []
    for number, held in enumerate(parts):
        others = [row["one"][1:] for other, part in enumerate(parts) if other != number for row in part]
        tested.append(recall([row["one"] for row in held], fit(others, args.penalty)))
    reach = float(np.mean([one[2].sum() / len(set(one[0]["evidence"])) for one in asked]))
    print(
        json.dumps(
            {
                "questions": len(asked),
                "r10_now": recall(asked, now),
                "r10_by_parts": float(np.mean(tested)),
                "shortlisted": reach,
            }
        )
    )
    weights = fit([one[1:] for one in asked], args.penalty)
    for name, value in zip(NAMES, weights, strict=True):
        print(f"    {name}: float = {value:.2f}")


if __name__ == "__main__":
    main()
