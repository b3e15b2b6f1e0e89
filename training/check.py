"""Looks over the training data: what there is, what is there twice, and what is too like the rows that are kept for
measuring.

    training/run check --dev pairs_dev.jsonl --dev extraction_dev.jsonl    # prints what it finds
    training/run check --dev … --drop                                      # and takes it out

Likeness is measured twice: by the bundled embedder's cosine and by the words two texts share. A pair is too like
another when both its statements are.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rows
from rows import Row

from recollect.models.local import LocalEmbedder

TWIN, LIKE, SURELY = 0.95, 0.86, 0.93
"""Cosines: from where on two anchors are one, two statements may be, and surely are, the same."""
SHARED = 0.6
"""Of their words together, how many two texts must share to be too like each other by words alone."""
_WORD = re.compile(r"\w+")


def vectors(texts: Sequence[str]) -> np.ndarray:
    made = LocalEmbedder(threads=2).embed(texts)
    return np.frombuffer(b"".join(made), "<f4").reshape(len(texts), -1)


def overlap(a: str, b: str) -> float:
    left, right = (set(_WORD.findall(text.lower())) for text in (a, b))
    return len(left & right) / max(1, len(left | right))


def twins(pairs: Sequence[Row]) -> set[str]:
    """Blocks whose anchor says what that of an earlier block says."""
    anchors = {row["group"]: row["a"] for row in pairs}
    groups, known = list(anchors), vectors(list(anchors.values()))
    found: set[str] = set()
    for place, group in enumerate(groups[1:], 1):
        near = np.nonzero(known[:place] @ known[place] >= TWIN)[0]
        if any(
            groups[other] not in found and overlap(anchors[groups[other]], anchors[group]) >= SHARED for other in near
        ):
            found.add(group)
    return found


def leaks(pairs: Sequence[Row], dev: Sequence[Row]) -> set[str]:
    """Pairs of which both statements are those of a row that is kept for measuring, or a paraphrase of them."""
    texts = sorted({row[side] for row in pairs for side in "ab"})
    place = {text: number for number, text in enumerate(texts)}
    known = vectors(texts)
    found: set[str] = set()
    first, second = (np.array([place[row[side]] for row in pairs]) for side in "ab")
    sides = [vectors([row[side] for row in dev]) for side in "ab"]
    for number, row in enumerate(dev):
        a, b = (known @ side[number] for side in sides)
        both = np.maximum(np.minimum(a[first], b[second]), np.minimum(a[second], b[first]))
        one = np.maximum.reduce([a[first], b[second], a[second], b[first]])
        near = np.nonzero((both >= LIKE) | (one >= SURELY))[0]
        found |= {pairs[pair]["id"] for pair in near if _alike(pairs[pair], row)}
    return found


def _alike(pair: Row, row: Row) -> bool:
    shares = [overlap(pair[x], row[y]) for x in "ab" for y in "ab"]
    return max(shares) >= SHARED or min(sorted(shares)[-2:]) >= 0.45


def leaked_sentences(talks: Sequence[Row], dev: Sequence[Row]) -> set[str]:
    said = [message["text"] for row in dev for message in row["messages"]]
    theirs = vectors(said)
    found: set[str] = set()
    for talk in talks:
        own = [one["text"] for turn in talk["turns"] for one in turn["sentences"]]
        near = vectors(own) @ theirs.T
        for place, other in zip(*np.nonzero(near >= SURELY), strict=True):
            if overlap(own[place], said[other]) >= SHARED and len(own[place]) > 25:
                found.add(talk["id"])
    return found


def counted(pairs: Sequence[Row], talks: Sequence[Row], worlds: Sequence[Row]) -> Row:
    sentences = [one for talk in talks for turn in talk["turns"] for one in turn["sentences"]]
    labels = Counter(row["label"] for row in pairs)
    return {
        "pairs": len(pairs),
        "blocks": len({row["group"] for row in pairs}),
        "labels": dict(labels),
        "kinds": dict(Counter(f"{row['label']} {row['kind']}" for row in pairs).most_common()),
        "hands": dict(Counter(row["hand"] for row in pairs)),
        "sentences": len(sentences),
        "kept": sum(one["keep"] for one in sentences),
        "sentence_kinds": dict(Counter(one["kind"] for one in sentences).most_common()),
        "private": sum(bool(one["private"]) for one in sentences),
        "conversations": len(worlds),
        "turns": sum(len(world["messages"]) for world in worlds),
        "questions": sum(len(world["questions"]) for world in worlds),
        "question_kinds": dict(
            Counter(one["category"] for world in worlds for one in world["questions"]).most_common()
        ),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dev", type=Path, action="append", default=[], help="rows that are kept for measuring")
    parser.add_argument("--drop", action="store_true", help="take out what is found")
    args = parser.parse_args()
    pairs, talks, worlds = (rows.read(name) for name in ("pairs", "sentences", "conversations"))
    dev = [json.loads(line) for path in args.dev for line in path.read_text("utf-8").splitlines() if line.strip()]
    twice = twins(pairs)
    like = leaks(pairs, [row for row in dev if "label" in row])
    said = leaked_sentences(talks, [row for row in dev if "messages" in row])
    for row in pairs:
        if row["id"] in like:
            print(f"like a measured row: {row['id']} {row['label']}: {row['a']} | {row['b']}")
    if args.drop:
        pairs = [row for row in pairs if row["group"] not in twice and row["id"] not in like]
        talks = [talk for talk in talks if talk["id"] not in said]
        rows.write("pairs", pairs)
        rows.write("sentences", talks)
    found = {"twin_blocks": len(twice), "like_measured_pairs": len(like), "like_measured_talks": len(said)}
    print(json.dumps({**found, **counted(pairs, talks, worlds)}))
    wrong = sum(found.values()) if not args.drop else 0
    few = sum(row["label"] == "compatible" for row in pairs) < sum(row["label"] == "contradiction" for row in pairs)
    return 1 if wrong or few else 0


if __name__ == "__main__":
    sys.exit(main())
