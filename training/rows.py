"""The training data as it lies in `training/data`: JSON lines, compressed. Every file is read and written here."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
BUILD = Path(__file__).parent / "build"
"""What training makes, on its way into the package. Not kept in the repository."""

Row = dict[str, Any]


def read(name: str) -> list[Row]:
    """The rows of a file of `training/data`, by its bare name."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(name: str, rows: Iterable[Row]) -> None:
    """The same rows give the same bytes: no time or name of a file is kept with them."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (DATA / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def folds(rows: Iterable[Row], count: int = 5) -> list[list[Row]]:
    """The rows in so many parts. What belongs to one group stays together: nothing that is tested has a sister among
    what was learned."""
    parts: list[list[Row]] = [[] for _ in range(count)]
    groups: dict[str, int] = {}
    for row in rows:
        parts[groups.setdefault(row["group"], len(groups)) % count].append(row)
    return parts
