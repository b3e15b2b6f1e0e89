"""How sure an answer is: the weights of `policy/rank.confidence`.

    training/run sureness              # fits on the questions of training/data, prints figures and the weights

Each store is asked its own questions and those about other people and other matters; a logistic regression tells the
two apart by the nearest cosine, the share of the question that one text holds and that the ten best hold together, and
the question's length. Memories are asked the same way as events.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import ranker
import rows
from combine import fitted
from figures import average_precision
from rows import Row

from recollect import settings as configuration
from recollect import wiring
from recollect.domain.query import Query, Source
from recollect.minds import Minds
from recollect.models.local import LocalEmbedder
from recollect.policy import rank

Seen = tuple[float, float, float, float]


def asked(worlds: Sequence[Row]) -> Iterator[tuple[Seen, bool]]:
    """What is seen of a question, and whether the store knows anything about it."""
    groups = list(ranker.together(worlds))
    embedder = LocalEmbedder(threads=2)
    for number, some in enumerate(groups):
        with tempfile.TemporaryDirectory() as folder:
            settings = configuration.load({"store": str(Path(folder) / "memory.db"), "user": "mira"})
            memory = wiring.connect(replace(settings, day_cap=1_000_000), create=True, given=Minds(embedder, None))
            memory.bulk(thread for world in some for thread in ranker.threads(world))
            wiring.workers(memory._deps, settings).run_until_idle()
            own = [one["question"] for world in some for one in world["questions"] if one["evidence"]][::3]
            others = [one["question"] for world in groups[(number + 1) % len(groups)] for one in world["questions"]][
                ::3
            ]
            for texts, known in ((own, True), (others, False)):
                for text in texts:
                    if seen := watched(memory, text):
                        yield seen, known
            memory.close()
        print(f"{number + 1} of {len(groups)}", file=sys.stderr, flush=True)


def watched(memory: Any, text: str) -> Seen | None:
    caught: list[Seen] = []
    confidence = rank.confidence

    def catching(cosine: float | None, coverage: float, together: float, words: int) -> float:
        if cosine is not None:
            caught.append((cosine, coverage, together, log(max(words, 1))))
        return confidence(cosine, coverage, together, words)

    rank.confidence = catching
    try:
        memory.query(Query(text=text, source=Source.EVIDENCE, top_k=5, budget_tokens=512))
    finally:
        rank.confidence = confidence
    return caught[0] if caught else None


def line(scores: np.ndarray, known: np.ndarray, lost: float) -> tuple[float, float]:
    """The confidence under which this share of the answerable falls, and the share of the others that does."""
    edge = float(np.quantile(scores[known], lost))
    return round(1 / (1 + float(np.exp(-edge))), 4), round(float((scores[~known] < edge).mean()), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="start", type=int, default=0, help="the first conversation that is asked")
    args = parser.parse_args()
    found = list(asked(rows.read("conversations")[args.start :]))
    seen, known = np.array([one for one, _ in found]), np.array([known for _, known in found])
    weights = fitted(seen, np.where(known, 0, 1), penalty=0.1)
    slope = weights[:, 0] - weights[:, 1]
    scores = seen @ slope[:-1] + slope[-1]
    names = ("cosine", "coverage", "together", "log_words", "bias")
    print(
        json.dumps(
            {
                "questions": len(found),
                "right": round(float(((scores > 0) == known).mean()), 4),
                "ap": round(average_precision(scores, known), 4),
                "lines": {share: line(scores, known, share) for share in (0.01, 0.02, 0.03, 0.05)},
                **{name: round(float(value), 2) for name, value in zip(names, slope, strict=True)},
            }
        )
    )


if __name__ == "__main__":
    main()
