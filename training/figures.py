"""The figures by which models are judged."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from rows import Row


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def average_precision(scores: np.ndarray, truth: np.ndarray) -> float:
    order = np.argsort(-scores, kind="stable")
    hits = truth[order]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float((precision * hits).sum() / max(1, hits.sum()))


def recall_at(scores: np.ndarray, truth: np.ndarray, least: float) -> float:
    """The most that can be found while the precision stays at least so high."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(truth[order])
    precision = hits / np.arange(1, len(hits) + 1)
    fine = np.nonzero(precision >= least)[0]
    return float(hits[fine[-1]] / max(1, truth.sum())) if len(fine) else 0.0


def best_f1(chosen: np.ndarray, truth: np.ndarray) -> float:
    both = (chosen & truth).sum()
    return float(2 * both / max(1, chosen.sum() + truth.sum()))


def calibration_error(sure: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """How far what a model claims is from how often it is right, on average."""
    places = np.minimum((sure * bins).astype(int), bins - 1)
    parts = [(places == number) for number in range(bins)]
    return float(sum(abs(sure[p].mean() - right[p].mean()) * p.mean() for p in parts if p.any()))


def pair_figures(pairs: Sequence[Row], logits: np.ndarray, labels: Sequence[str]) -> dict[str, Any]:
    chances = softmax(logits)
    truth = np.array([labels.index(row["label"]) for row in pairs])
    chosen = chances.argmax(1)
    clashes = [labels.index(name) for name in ("contradiction", "update") if name in labels]
    clash, is_clash = chances[:, clashes].sum(1), np.isin(truth, clashes)
    kinds: dict[str, list[bool]] = defaultdict(list)
    for row, right in zip(pairs, chosen == truth, strict=True):
        kinds[f"{row['label']} {row['kind']}"].append(bool(right))
    said = np.isin(chosen, clashes)
    same = labels.index("same")
    return {
        "rows": len(pairs),
        "accuracy": round(float((chosen == truth).mean()), 4),
        "ap": round(average_precision(clash, is_clash), 4),
        "recall_at_80": round(recall_at(clash, is_clash, 0.8), 4),
        "recall": round(float((said & is_clash).sum() / max(1, is_clash.sum())), 4),
        "precision": round(float((said & is_clash).sum() / max(1, said.sum())), 4),
        "same_f1": round(best_f1(chosen == same, truth == same), 4),
        "calibration": round(calibration_error(chances.max(1), chosen == truth), 4),
        "kinds": {kind: round(float(np.mean(found)), 3) for kind, found in sorted(kinds.items()) if len(found) >= 8},
    }
