"""Rules and model together: a small regression over what the judge says and what the rules see in two statements.

    training/run combine               # figures; writes src/recollect/policy/clues/weights.py
    training/run combine --dry         # figures alone
    training/run combine --rules       # weighs the rules alone anew, too

Rules alone are weighed on every row, and tested by parts. Rules and judge together are weighed on the tenth of the rows
that the judge never saw (build/judge-held.npy, from `training/run judge fit`), and tested by parts of it; so are rules
and both judges, on those of these rows that get a second look (build/larger/said-held-0.npy, from `training/run larger
fit`; where that is missing, the weights of before are kept).

The line of contradictions is drawn on the written pairs, which are like two statements that somebody holds against each
other. The lines for a store are drawn on the rest, where clashes are rare, and through what the judge says by itself:
what rules see in two statements that lie near each other by chance makes it worse. From one line on a clash is acted
on, from the other on it is said that something may have changed.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import changes
import numpy as np
import rows
from figures import best_f1, pair_figures, softmax
from rows import Row

from recollect.models.second_look import SHARE, SUSPECT
from recollect.policy.clues import clues, weights

CLASH = "contradiction"
LABELS = (CLASH, "same", "refines", "compatible")
"""An update clashes with what it replaces, as a contradiction does; which of the two it is, the judge says alone."""
WEIGHTS = Path(__file__).parents[1] / "src/recollect/policy/clues/weights.py"
FLOOR = 1e-4
PRECISION_ALONE, PRECISION = 0.85, 0.83
"""How often a pair that is called a contradiction must be one, on our own rows: by rules alone; by rules and judge, on
written pairs."""
STORE = {"STORE": 0.92, "PERHAPS": 0.50}
"""The same as things lie in a store: where it is acted on, and where it is worth a word."""
WRITTEN = 4.0
"""What a written pair weighs against one as it occurs, of which there are four times as many."""
NEGLIGIBLE = 0.04
"""What weighs less than this beside a judge's word is left out."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="write nothing")
    parser.add_argument("--rules", action="store_true", help="weigh the rules alone anew")
    parser.add_argument("--penalty", type=float, default=1.0, help="what holds the weights of the rules down")
    parser.add_argument("--together", type=float, default=50.0, help="the same where the judge speaks too")
    args = parser.parse_args()
    known = [*rows.read("pairs"), *changes.occurring()]
    parts = {"RULES": alone(known, args.penalty) if args.rules else _kept("RULES", "LINE", "SAME")}
    held = Held.read(known)
    parts["BOTH"] = both(held, args.together)
    has_larger = (rows.BUILD / LARGER).exists()
    parts["SECOND"] = second(held, args.together) if has_larger else _kept("SECOND", *LINES)
    if not args.dry:
        WEIGHTS.write_text(written(parts), "utf-8")


LARGER = "larger/said-held-0.npy"
LINES = ("LINE", "SAME", *STORE)


@dataclass(frozen=True)
class Weighed:
    """The lines of contradictions, repetitions and so on, by name, and what each clue weighs for each relation."""

    lines: Mapping[str, float]
    weights: Mapping[str, Sequence[float]]


def _kept(name: str, *lines: str) -> Weighed:
    return Weighed({line: getattr(weights, f"{name}_{line}") for line in lines}, getattr(weights, name))


@dataclass(frozen=True)
class Held:
    """The rows that no judge learned from, and what the bundled one says of them."""

    pairs: Sequence[Row]
    truth: np.ndarray
    written: np.ndarray
    seen: np.ndarray
    names: Sequence[str]
    said: np.ndarray

    @classmethod
    def read(cls, known: Sequence[Row]) -> "Held":
        pairs = changes.held_out(known)[0]
        clashing = _clashing(pairs)
        seen, names = noticed(clashing)
        beside = np.array([row["kind"].startswith(changes.BESIDE) for row in pairs])
        return cls(
            clashing,
            np.array([LABELS.index(row["label"]) for row in clashing]),
            ~beside,
            seen,
            names,
            _said("judge-held.npy", len(pairs)),
        )


def _said(name: str, count: int) -> np.ndarray:
    shares = softmax(np.load(rows.BUILD / name).astype(float))
    if len(shares) != count:
        raise SystemExit("the rows have changed since the judges spoke: teach both again")
    return shares


def alone(known: Sequence[Row], penalty: float) -> Weighed:
    pairs = _clashing(known)
    truth = np.array([LABELS.index(row["label"]) for row in pairs])
    seen, names = noticed(pairs)
    logits = held_out(pairs, seen, truth, penalty=penalty)
    told(pairs, "rules", logits)
    told(pairs, "rules, by other hands", held_out(pairs, seen, truth, by_hand=True, penalty=penalty))
    chances = softmax(logits)
    lines = {"LINE": line(chances[:, 0], truth == 0, PRECISION_ALONE), "SAME": same_line(chances, truth)}
    return Weighed(lines, _named([*names, "bias"], fitted(seen, truth, penalty=penalty)))


def both(held: Held, penalty: float) -> Weighed:
    return together("both", held, held.said, np.ones(len(held.pairs), bool), penalty)


def second(held: Held, penalty: float) -> Weighed:
    """Only what gets a second look is weighed by these."""
    large = _said(LARGER, len(held.pairs))
    looked = held.said[:, [0, len(LABELS)]].sum(1) >= SUSPECT
    return together("second", held, (1 - SHARE) * held.said + SHARE * large, looked, penalty)


def together(what: str, held: Held, shares: np.ndarray, asked: np.ndarray, penalty: float) -> Weighed:
    """Rules and what was said, weighed on the rows that were `asked`; the others are no clash, whatever they are."""
    joint, truth = np.hstack([_heard(shares), held.seen])[asked], held.truth[asked]
    pairs = [row for row, is_asked in zip(held.pairs, asked, strict=True) if is_asked]
    counts = np.where(held.written, WRITTEN, 1.0)[asked]
    logits = held_out(pairs, joint, truth, counts=counts, penalty=penalty)
    weighed = fitted(joint, truth, counts, penalty)
    chances, clash = softmax(logits), truth == 0
    for name, some in (("written", held.written[asked]), ("as they occur", ~held.written[asked])):
        chosen = [row for row, is_one in zip(pairs, some, strict=True) if is_one]
        told(chosen, f"{what}: {name}, judge alone", _heard(shares)[asked][some])
        told(chosen, f"{what}: {name}", logits[some])
    written_pairs = held.written[asked]
    beside, clashes = shares[asked][~written_pairs][:, [0, len(LABELS)]].sum(1), clash[~written_pairs]
    lines = {
        "LINE": line(chances[written_pairs, 0], clash[written_pairs], PRECISION),
        "SAME": same_line(chances[written_pairs], truth[written_pairs]),
        **{name: line(beside, clashes, precision) for name, precision in STORE.items()},
    }
    shown(f"{what}: LINE", lines["LINE"], chances[written_pairs, 0], clash[written_pairs])
    for name in STORE:
        shown(f"{what}: {name}", lines[name], beside, clashes)
    named = _named([*(f"judge_{label}" for label in LABELS), *held.names, "bias"], weighed)
    return Weighed(lines, {name: row for name, row in named.items() if max(map(abs, row)) >= NEGLIGIBLE})


def shown(what: str, line: float, chances: np.ndarray, clash: np.ndarray) -> None:
    """What a line finds, and how often it is right."""
    called = chances >= line
    right = f"{(called & clash).sum()} of {called.sum()}"
    print(json.dumps({"what": what, "at": round(line, 3), "right": right, "there": int(clash.sum())}), flush=True)


def _heard(shares: np.ndarray) -> np.ndarray:
    """What a judge says, as its features are: an update is a clash."""
    four = shares[:, : len(LABELS)].copy()
    four[:, 0] += shares[:, len(LABELS)]
    return np.log(np.maximum(four, FLOOR))


def _named(names: Sequence[str], weighed: np.ndarray) -> dict[str, Sequence[float]]:
    return dict(zip(names, (weighed - weighed.mean(1, keepdims=True)).tolist(), strict=True))


def _clashing(pairs: Sequence[Row]) -> list[Row]:
    return [{**row, "label": CLASH if row["label"] == "update" else row["label"]} for row in pairs]


def noticed(pairs: Sequence[Row]) -> tuple[np.ndarray, list[str]]:
    """The clues of every pair, a column each; those that hardly ever show are left out."""
    found = [clues(row["a"], row["b"]) for row in pairs]
    shown: dict[str, int] = {}
    for one in found:
        for name in one:
            shown[name] = shown.get(name, 0) + 1
    names = sorted(name for name, count in shown.items() if count >= 10)
    return np.array([[one.get(name, 0.0) for name in names] for one in found]), names


def held_out(
    pairs: Sequence[Row],
    seen: np.ndarray,
    truth: np.ndarray,
    *,
    counts: np.ndarray | None = None,
    by_hand: bool = False,
    penalty: float,
) -> np.ndarray:
    """The logits of every pair by weights that were fitted to the other folds, or to what other hands wrote."""
    place = {row["id"]: number for number, row in enumerate(pairs)}
    logits = np.zeros((len(pairs), len(LABELS)))
    hands = sorted({row["hand"] for row in pairs})
    parts = [[row for row in pairs if row["hand"] == hand] for hand in hands] if by_hand else rows.folds(pairs)
    for part in parts:
        held = np.array([place[row["id"]] for row in part])
        rest = np.setdiff1d(np.arange(len(pairs)), held)
        some = None if counts is None else counts[rest]
        logits[held] = _logits(fitted(seen[rest], truth[rest], some, penalty), seen[held])
    return logits


def fitted(seen: np.ndarray, truth: np.ndarray, counts: np.ndarray | None = None, penalty: float = 1.0) -> np.ndarray:
    """The weights of a multinomial regression, the last row the bias: Newton-like steps by limited memory. `counts`:
    what each row counts for, one unless said."""
    much = np.ones(len(truth)) if counts is None else counts
    wide = np.hstack([seen, np.ones((len(seen), 1))])
    target = np.eye(len(LABELS))[truth]
    shape = (wide.shape[1], len(LABELS))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        now = flat.reshape(shape)
        chances = softmax(wide @ now)
        held = now.copy()
        held[-1] = 0
        cost = -np.log(np.maximum(chances[np.arange(len(truth)), truth], 1e-12)) @ much
        slope = wide.T @ ((chances - target) * much[:, None]) + penalty * held
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


def line(scores: np.ndarray, is_clash: np.ndarray, precision: float) -> float:
    """The least chance at which what is called a contradiction is one often enough."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(is_clash[order]) / np.arange(1, len(order) + 1)
    fine = np.nonzero(right >= precision)[0]
    return float(scores[order][fine[-1]]) if len(fine) else 1.0


def same_line(chances: np.ndarray, truth: np.ndarray) -> float:
    """The chance at which "same" is told best."""
    steps = np.arange(0.2, 0.8, 0.02)
    return float(max(steps, key=lambda step: best_f1(chances[:, 1] >= step, truth == 1)))


def written(parts: Mapping[str, Weighed]) -> str:
    text = '"""What the clues weigh. Made by training/combine.py: do not edit."""\n\n'
    text += f"LABELS = {LABELS!r}\n".replace("'", '"')
    for name, part in parts.items():
        text += "\n" + "".join(f"{name}_{line} = {value:.3f}\n" for line, value in part.lines.items())
        text += f"{name}: dict[str, tuple[float, float, float, float]] = {{\n"
        for clue, row in sorted(part.weights.items()):
            text += f'    "{clue}": ({", ".join(f"{value:.3f}" for value in row)}),\n'
        text += "}\n"
    return text


if __name__ == "__main__":
    main()
