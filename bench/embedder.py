"""What the bundled embedder costs, and what its cosines mean.

    python -m bench.embedder --pairs pairs_dev.jsonl --recall locomo_dev.jsonl.gz

`ms`: CPU milliseconds by number of word pieces (median). `pairs`: the share of the pairs of each label at or above a
cosine; `unrelated` are statements of different pairs. `r10`: of the turns that prove an answer, the share among the ten
nearest to the question, by cosine alone, the speaker's name before each turn.
"""

import argparse
import gzip
import json
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from recollect.models.local import LocalEmbedder

PIECES = (8, 32, 100, 256)
WARM_UP = 5
BANDS = (0.92, 0.70, 0.50, 0.45, 0.25)


def vectors(embedder: LocalEmbedder, texts: Sequence[str]) -> Any:
    return np.stack([np.frombuffer(vector, "<f4") for vector in embedder.embed(texts)])


def cost(embedder: LocalEmbedder, pieces: int, times: int) -> float:
    text = " ".join(["word"] * (pieces - 2))  # a first and a last piece are added
    spent: list[float] = []
    for _ in range(WARM_UP + times):
        began = time.process_time_ns()
        embedder.embed([text])
        spent.append((time.process_time_ns() - began) / 1e6)
    return round(median(spent[WARM_UP:]), 2)


def meaning(embedder: LocalEmbedder, path: Path) -> dict[str, dict[str, float]]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    a, b = vectors(embedder, [row["a"] for row in rows]), vectors(embedder, [row["b"] for row in rows])
    cosines: dict[str, list[float]] = defaultdict(list)
    for row, left, right in zip(rows, a, b, strict=True):
        cosines[row["label"]].append(float(left @ right))
    chance = random.Random(1)
    others = [chance.sample(range(len(rows)), 2) for _ in range(4_000)]
    cosines["unrelated"] = [float(a[one] @ b[other]) for one, other in others]
    return {
        str(band): {label: round(fmean(value >= band for value in found), 4) for label, found in cosines.items()}
        for band in BANDS
    }


def recall(embedder: LocalEmbedder, path: Path) -> float:
    shares: list[float] = []
    for line in gzip.decompress(path.read_bytes()).splitlines():
        talk = json.loads(line)
        turns = talk["messages"]
        known = vectors(embedder, [f"{turn['speaker']}: {turn['text']}" for turn in turns])
        asked = [question for question in talk["questions"] if question["evidence"]]
        for question, vector in zip(asked, vectors(embedder, [one["question"] for one in asked]), strict=True):
            near = {turns[place]["id"] for place in np.argsort(-(known @ vector))[:10]}
            shares.append(len(near & set(question["evidence"])) / len(set(question["evidence"])))
    return round(fmean(shares), 4)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--recall", type=Path)
    parser.add_argument("--times", type=int, default=35, help="how often each length is measured")
    args = parser.parse_args(arguments)
    embedder = LocalEmbedder()
    figures: dict[str, object] = {"ms": {str(pieces): cost(embedder, pieces, args.times) for pieces in PIECES}}
    if args.pairs:
        figures["pairs"] = meaning(embedder, args.pairs)
    if args.recall:
        figures["r10"] = recall(embedder, args.recall)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
