"""How well two memories are judged without a language model: by rules, and by rules and the local judge together.

    python -m bench.pairs --data pairs_dev.jsonl
    python -m bench.pairs --data pairs_dev.jsonl -v              # every pair that is told wrongly, and why
    python -m bench.pairs --data pairs_dev.jsonl --judge small   # the bundled judge alone, whatever is installed
    python -m bench.pairs --data pairs_dev.jsonl --judge larger  # the larger judge, asked about every pair, and weighed
                                                                 # as if it were the bundled one

Each pair is judged as the job does it: by the bundled judge, and where recollect-judge is installed, with its second
look at what is suspected. Precision and recall: of what is called a contradiction, or an update, which these pairs do
not tell apart. `average_precision`: of the pairs ordered by how likely a contradiction is said to be. `by_kind`: of
contradictions and of the same, the share that is called so; of all others, the share that is called neither.
`calibration_error`: how far the likelihood of the likeliest relation is from how often it is right. `cpu_…`:
milliseconds for one pair, rules and model. Under `rules`: the same without the model.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.errors import ModelFailed
from recollect.minds import chosen
from recollect.models.larger_judge import LargerJudge
from recollect.policy.clues.weights import LABELS
from recollect.policy.pairs import CLASHES, Pair, Ruling, judged
from recollect.ports import Judge
from recollect.settings import load

Row = Mapping[str, Any]


def rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def ruled(row: Row, judge: Judge | None) -> tuple[Ruling, float]:
    start = time.process_time()
    chances = judge.compare([(row["a"], row["b"])])[0] if judge else None
    ruling = judged(row["a"], row["b"], chances)
    return ruling, (time.process_time() - start) * 1000


def right(row: Row, ruling: Ruling) -> bool:
    told = "contradiction" if ruling.verdict in CLASHES else "same" if ruling.verdict is Pair.SAME else "neither"
    return told == (row["label"] if row["label"] in ("contradiction", "same") else "neither")


def average_precision(scores: Sequence[float], truth: Sequence[bool]) -> float:
    ranked = [is_so for _, is_so in sorted(zip(scores, truth, strict=True), key=lambda pair: -pair[0])]
    hits, total = 0, 0.0
    for place, is_so in enumerate(ranked, 1):
        hits += is_so
        total += hits / place if is_so else 0.0
    return total / max(1, hits)


def calibration_error(sure: Sequence[float], correct: Sequence[bool], bins: int = 10) -> float:
    parts: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for chance, is_so in zip(sure, correct, strict=True):
        parts[min(bins - 1, int(chance * bins))].append((chance, is_so))
    return sum(abs(sum(c for c, _ in part) - sum(r for _, r in part)) for part in parts.values()) / max(1, len(sure))


def figures(data: Sequence[Row], rulings: Sequence[Ruling], cpu: Sequence[float]) -> dict[str, Any]:
    truth = [row["label"] for row in data]
    chances = [{label: getattr(ruling.chances, label) for label in LABELS} for ruling in rulings]
    kinds: dict[str, list[bool]] = defaultdict(list)
    for row, ruling in zip(data, rulings, strict=True):
        kinds[row["kind"]].append(right(row, ruling))
    likeliest = [max(one, key=lambda label: one[label]) for one in chances]
    recall, precision, _ = _found("contradiction", truth, rulings)
    ordered = sorted(cpu)
    return {
        "pairs": len(data),
        "contradiction": {
            "recall": recall,
            "precision": precision,
            "average_precision": round(
                average_precision([one["contradiction"] for one in chances], [one == "contradiction" for one in truth]),
                4,
            ),
        },
        "same": {"f1": _found("same", truth, rulings)[2]},
        "unsure": round(sum(ruling.verdict is Pair.UNSURE for ruling in rulings) / max(1, len(rulings)), 4),
        "by_kind": {kind: round(sum(told) / len(told), 3) for kind, told in sorted(kinds.items())},
        "calibration_error": round(
            calibration_error(
                [max(one.values()) for one in chances], [a == b for a, b in zip(likeliest, truth, strict=True)]
            ),
            4,
        ),
        "cpu_p50": round(ordered[len(ordered) // 2], 3),
        "cpu_p95": round(ordered[int(len(ordered) * 0.95)], 3),
    }


def _found(label: str, truth: Sequence[str], rulings: Sequence[Ruling]) -> tuple[float, float, float]:
    called = ["contradiction" if ruling.verdict in CLASHES else ruling.verdict.value for ruling in rulings]
    said = called.count(label)
    there = sum(one == label for one in truth)
    both = sum(one == label == verdict for one, verdict in zip(truth, called, strict=True))
    return tuple(round(both * times / max(1, of), 4) for times, of in ((1, there), (1, said), (2, there + said)))  # type: ignore[return-value]


def misses(data: Sequence[Row], rulings: Sequence[Ruling]) -> None:
    for row, ruling in zip(data, rulings, strict=True):
        if not right(row, ruling):
            print(f"{row['id']} {row['label']} ({row['kind']}) is told as {ruling.verdict} {ruling.confidence:.2f}")
            print(f"   {row['a']}\n   {row['b']}\n   because {'; '.join(ruling.why)}")


def measure(data: Sequence[Row], judge: Judge | None, *, loud: bool) -> dict[str, Any]:
    told = [ruled(row, judge) for row in data]
    rulings = [ruling for ruling, _ in told]
    if loud:
        misses(data, rulings)
    return figures(data, rulings, [cpu for _, cpu in told])


def sitting(which: str) -> Judge | None:
    """The judge of this name, read into memory before anything is timed."""
    judge = LargerJudge() if which == "larger" else chosen(load({"judge": which})).judge
    assert judge is not None
    try:
        judge.compare([("Ana drinks tea.", "Ana drinks no tea.")])
    except ModelFailed as failed:
        print(f"rules alone: {failed}", file=sys.stderr)
        return None
    return judge


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--judge", choices=("local", "small", "larger"), default="local")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is told wrongly")
    args = parser.parse_args(arguments)
    data = list(rows(args.data))
    if not data:
        sys.exit(f"{args.data} holds no pairs")
    judge = sitting(args.judge)
    together = measure(data, judge, loud=args.verbose)
    alone = measure(data, None, loud=False) if judge else together
    print(json.dumps({**together, "model": judge.name if judge else None, "rules": alone}))


if __name__ == "__main__":
    main()
