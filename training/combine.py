"""Rules and model together: a small regression over what the judge says and what the rules see in two statements.

    training/run combine               # figures by parts; writes src/recollect/policy/clues/weights.py
    training/run combine --dry         # figures alone

The judge's word on a pair is that of a model that never saw it (build/judge-part-*.npz, from `training/run judge part
--number N`; as many of the five parts as there are); the regression is tested by the same parts. Without those files
only the rules are weighed.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rows
from figures import best_f1, pair_figures, softmax
from rows import Row

from recollect.policy.clues import clues

LABELS = ("contradiction", "same", "refines", "compatible")
WEIGHTS = Path(__file__).parents[1] / "src/recollect/policy/clues/weights.py"
FLOOR = 1e-4
PRECISION = 0.85
"""How often a pair that is called a contradiction must be one, on our own rows."""
NEGLIGIBLE = 0.04
"""What weighs less than this beside a judge's word is left out."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="write nothing")
    parser.add_argument("--penalty", type=float, default=1.0, help="what holds the weights of the rules down")
    parser.add_argument("--together", type=float, default=100.0, help="the same where the judge speaks too")
    parser.add_argument("--balanced", action="store_true", help="every relation counts the same")
    args = parser.parse_args()
    pairs = rows.read("pairs")
    truth = np.array([LABELS.index(row["label"]) for row in pairs])
    seen, names = noticed(pairs)
    options = {"penalty": args.penalty, "balanced": args.balanced}
    joined = {"penalty": args.together, "balanced": args.balanced}
    heard_of, said = heard(pairs)
    alone = held_out(pairs, seen, truth, **options)
    told(pairs, "rules", alone)
    told(pairs, "rules, by other hands", held_out(pairs, seen, truth, by_hand=True, **options))
    both = alone
    some = [pairs[place] for place in heard_of]
    if some:
        told(some, "rules, on the same", alone[heard_of])
        told(some, "model", said)
        joint = np.hstack([said, seen[heard_of]])
        both = held_out(some, joint, truth[heard_of], **joined)
        told(some, "both", both)
        told(some, "both, by other hands", held_out(some, joint, truth[heard_of], by_hand=True, **joined))
    if args.dry or not some:  # without the judge's word there is nothing to weigh it by: what is there stays
        return
    judges = [f"judge_{label}" for label in LABELS]
    parts = {
        "RULES": (names, fitted(seen, truth, **options), alone, truth),
        "BOTH": ([*judges, *names], fitted(joint, truth[heard_of], **joined), both, truth[heard_of]),
    }
    WEIGHTS.write_text(written(parts), "utf-8")


def noticed(pairs: Sequence[Row]) -> tuple[np.ndarray, list[str]]:
    """The clues of every pair, a column each; those that hardly ever show are left out."""
    found = [clues(row["a"], row["b"]) for row in pairs]
    shown: dict[str, int] = {}
    for one in found:
        for name in one:
            shown[name] = shown.get(name, 0) + 1
    names = sorted(name for name, count in shown.items() if count >= 10)
    return np.array([[one.get(name, 0.0) for name in names] for one in found]), names


def heard(pairs: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
    """Of which pairs there is a word of the judge, by their places, and what it said as logarithms of chances."""
    place = {row["id"]: number for number, row in enumerate(pairs)}
    known: dict[int, np.ndarray] = {}
    for path in sorted(rows.BUILD.glob("judge-part*.npz")):
        told = np.load(path)
        known |= {place[str(id)]: one for id, one in zip(told["ids"], told["logits"], strict=True) if str(id) in place}
    if not known:
        print("no judge-part-*.npz: figures of the rules alone, and nothing is written")
        return np.zeros(0, int), np.zeros((0, len(LABELS)))
    places = np.array(sorted(known))
    return places, np.log(np.maximum(softmax(np.stack([known[number] for number in places]).astype(float)), FLOOR))


def held_out(
    pairs: Sequence[Row], seen: np.ndarray, truth: np.ndarray, *, by_hand: bool = False, **options: float
) -> np.ndarray:
    """The logits of every pair by weights that were fitted to the other folds, or to what other hands wrote."""
    place = {row["id"]: number for number, row in enumerate(pairs)}
    logits = np.zeros((len(pairs), len(LABELS)))
    hands = sorted({row["hand"] for row in pairs})
    parts = [[row for row in pairs if row["hand"] == hand] for hand in hands] if by_hand else rows.folds(pairs)
    for part in parts:
        held = np.array([place[row["id"]] for row in part])
        rest = np.setdiff1d(np.arange(len(pairs)), held)
        logits[held] = _logits(fitted(seen[rest], truth[rest], **options), seen[held])
    return logits


def fitted(seen: np.ndarray, truth: np.ndarray, penalty: float = 1.0, balanced: bool = False) -> np.ndarray:
    """The weights of a multinomial regression, the last row the bias: Newton-like steps by limited memory."""
    wide = np.hstack([seen, np.ones((len(seen), 1))])
    target = np.eye(len(LABELS))[truth]
    worth = np.ones(len(seen))
    if balanced:
        counts = np.bincount(truth, minlength=len(LABELS))
        worth = (len(truth) / len(LABELS) / np.maximum(1, counts))[truth]
    shape = (wide.shape[1], len(LABELS))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        chances = softmax(wide @ weights)
        held = weights.copy()
        held[-1] = 0
        cost = -(worth * np.log(np.maximum(chances[np.arange(len(truth)), truth], 1e-12))).sum()
        slope = wide.T @ ((chances - target) * worth[:, None]) + penalty * held
        return float(cost + penalty / 2 * (held**2).sum()), slope.ravel()

    return _lowest(loss, np.zeros(shape[0] * shape[1])).reshape(shape)


def _lowest(loss, at: np.ndarray, steps: int = 300, memory: int = 10) -> np.ndarray:
    """Where a smooth function is least (L-BFGS with a halving search)."""
    value, slope = loss(at)
    past: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(steps):
        way, kept = slope.copy(), []
        for moved, turned in reversed(past):
            share = moved @ way / (moved @ turned)
            way -= share * turned
            kept.append(share)
        if past:
            way *= past[-1][0] @ past[-1][1] / (past[-1][1] @ past[-1][1])
        for (moved, turned), share in zip(past, reversed(kept), strict=True):
            way += (share - turned @ way / (moved @ turned)) * moved
        size = 1.0 if past else 1.0 / max(1.0, float(np.abs(slope).sum()))
        while True:
            there = at - size * way
            new, turn = loss(there)
            if new <= value - 1e-4 * size * (slope @ way) or size < 1e-10:
                break
            size /= 2
        moved, turned = there - at, turn - slope
        if moved @ turned > 1e-12:
            past = [*past, (moved, turned)][-memory:]
        if value - new < 1e-7 * abs(value):
            return there
        at, value, slope = there, new, turn
    return at


def _logits(weights: np.ndarray, seen: np.ndarray) -> np.ndarray:
    return seen @ weights[:-1] + weights[-1]


def told(pairs: Sequence[Row], what: str, logits: np.ndarray) -> None:
    print(json.dumps({"what": what, **pair_figures(pairs, logits, LABELS)}), flush=True)


def line(chances: np.ndarray, truth: np.ndarray) -> float:
    """The least chance at which what is called a contradiction is one often enough."""
    scores, is_clash = chances[:, 0], truth == 0
    order = np.argsort(-scores, kind="stable")
    precision = np.cumsum(is_clash[order]) / np.arange(1, len(order) + 1)
    fine = np.nonzero(precision >= PRECISION)[0]
    return float(scores[order][fine[-1]]) if len(fine) else 1.0


def same_line(chances: np.ndarray, truth: np.ndarray) -> float:
    """The chance at which "same" is told best."""
    steps = np.arange(0.2, 0.8, 0.02)
    return float(max(steps, key=lambda step: best_f1(chances[:, 1] >= step, truth == 1)))


def written(parts: dict[str, tuple[list[str], np.ndarray, np.ndarray, np.ndarray]]) -> str:
    text = '"""What the clues weigh. Made by training/combine.py: do not edit."""\n\n'
    text += f"LABELS = {LABELS!r}\n".replace("'", '"')
    for part, (names, weights, logits, truth) in parts.items():
        chances = softmax(logits)
        weights = weights - weights.mean(1, keepdims=True)
        text += f"\n{part}_LINE = {line(chances, truth):.3f}\n"
        text += f"{part}_SAME = {same_line(chances, truth):.3f}\n"
        text += f"{part}: dict[str, tuple[float, float, float, float]] = {{\n"
        for name, row in sorted(zip([*names, "bias"], weights, strict=True)):
            if part == "BOTH" and abs(row).max() < NEGLIGIBLE:
                continue
            text += f'    "{name}": ({", ".join(f"{value:.3f}" for value in row)}),\n'
        text += "}\n"
    return text


if __name__ == "__main__":
    main()
