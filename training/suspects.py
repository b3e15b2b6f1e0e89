"""Which pairs deserve a second look: what each line costs, and what it finds.

    training/run suspects

Reads what both judges say of the rows that neither learned from (`judge fit`, `larger fit`). A line is the least chance
of a clash, by the small judge, at which the larger one is asked; the chances are then what both say together (SHARE in
`models/second_look.py`). `looks`: the share of pairs above the line, of those that clash and of those that do not. Then
the same by what the larger one's word counts for, at the line of `models/second_look.py`.
"""

import sys

import changes
import numpy as np
import rows
from figures import average_precision, recall_at, softmax
from labels import LABELS

from recollect.models.second_look import SHARE, SUSPECT

LINES = (0.02, 0.04, 0.05, 0.06, 0.08, 0.10, 0.15, 0.20, 0.30, 0.50)
SHARES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
CLASHES = [LABELS.index("contradiction"), LABELS.index("update")]


def main() -> None:
    held = changes.held_out([*rows.read("pairs"), *changes.occurring()])[0]
    small, large = (
        softmax(np.load(rows.BUILD / name).astype(float)) for name in ("judge-held.npy", "larger/said-held-0.npy")
    )
    if not len(held) == len(small) == len(large):
        sys.exit("the rows have changed since the judges spoke: teach both again")
    clash = np.isin([LABELS.index(row["label"]) for row in held], CLASHES)
    told = np.array([row["kind"].startswith(changes.BESIDE) for row in held])
    suspected = small[:, CLASHES].sum(1)
    for name, some in (("as they occur", told), ("written", ~told)):
        print(f"{name}: {some.sum()} pairs, {(some & clash).sum()} of them clash")
        for line in (*LINES, 1.01, 0.0):
            looked = suspected >= line
            said = _clash(small, large, looked, SHARE)
            what = {1.01: "never", 0.0: "always"}.get(line, f"{line:.2f}")
            print(
                f"  {what:>6}  looks {looked[some & clash].mean():6.1%} of clashes, "
                f"{looked[some & ~clash].mean():6.1%} of others; "
                f"average precision {average_precision(said[some], clash[some]):.3f}, "
                f"recall at precision .80 {recall_at(said[some], clash[some], 0.8):.3f}"
            )
        for share in SHARES:
            said = _clash(small, large, suspected >= SUSPECT, share)
            print(
                f"  larger counts {share:.1f}: average precision {average_precision(said[some], clash[some]):.3f}, "
                f"recall at precision .80 {recall_at(said[some], clash[some], 0.8):.3f}, "
                f".90 {recall_at(said[some], clash[some], 0.9):.3f}"
            )


def _clash(small: np.ndarray, large: np.ndarray, looked: np.ndarray, share: float) -> np.ndarray:
    return np.where(looked[:, None], (1 - share) * small + share * large, small)[:, CLASHES].sum(1)


if __name__ == "__main__":
    main()
