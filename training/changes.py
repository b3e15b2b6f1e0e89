"""Pairs as they occur in a store, out of what is kept as stories, as neighbours, and by program.

Stories are told in messages over weeks; of each two of them it is known how they stand to each other, and most can both
be true. Threads are long stories in which much happens; sessions are what one person asks an assistant for over months,
where most messages share their words and hardly any touches another. Neighbours are memories of one conversation that
lie near each other. Neutrals are made by program: unrelated statements about one person, what most neighbours in a
store are (`training/run neutrals`).
"""

import gzip
import json
import random
import zlib
from collections.abc import Sequence

import rows
from rows import Row

BESIDE = ("story", "neighbour")
"""Kinds of rows that are shown as they occur, the earlier statement first: nothing is derived from them."""
NEUTRALS = rows.BUILD / "neutrals.json.gz"
USUAL = "compatible"


def stories(name: str = "stories") -> list[Row]:
    """Every two messages of people in a story, the earlier first."""
    found: list[Row] = []
    for story in rows.read(name):
        told = {(first, second): label for first, second, label in story["pairs"]}
        said = [(place, one) for place, one in enumerate(story["messages"]) if one["role"] == "user"]
        for number, (first, a) in enumerate(said):
            for second, b in said[number + 1 :]:
                label = told.get((first, second))
                found.append(
                    {
                        "id": f"{story['id']}-{first}-{second}",
                        "group": story["id"],
                        "hand": story["id"].split("-")[0],
                        "a": f"{a['speaker']}: {a['text']}",
                        "b": f"{b['speaker']}: {b['text']}",
                        "label": label or USUAL,
                        "kind": f"story {story['kind']}" if label or name == "sessions" else "story beside",
                    }
                )
    return found


def neighbours() -> list[Row]:
    return rows.read("neighbours")


def neutrals() -> list[Row]:
    return json.loads(gzip.decompress(NEUTRALS.read_bytes())) if NEUTRALS.exists() else []


def occurring() -> list[Row]:
    """What is learned and tested beside the written pairs."""
    return [*stories(), *stories("threads"), *stories("sessions"), *neighbours()]


def shown(beside: Sequence[Row], neutral: Sequence[Row], chance: random.Random) -> list[Row]:
    """One epoch of these: what is rare in a store is shown more often, so that it is learned at all, and of what is
    plentiful a part."""
    plenty = [row for row in beside if _plentiful(row)]
    rare = [row for row in beside if not _plentiful(row) for _ in range(_TIMES.get(row["label"], 1))]
    return [
        *rare,
        *chance.sample(plenty, min(len(plenty), _PLENTY)),
        *chance.sample(neutral, min(len(neutral), _NEUTRAL)),
    ]


_TIMES = {"update": 2, "contradiction": 4, "same": 3, "refines": 2}
_PLENTY, _NEUTRAL = 30_000, 25_000


def _plentiful(row: Row) -> bool:
    """Two remarks of one story that have nothing to do with each other."""
    return row["kind"] == "story beside"


def held_out(known: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """A tenth of the rows, whole groups, that no judge learns from: its lines are drawn there; and the rest."""
    held = [row for row in known if zlib.crc32(row["group"].encode()) % 10 == 0]
    return held, [row for row in known if zlib.crc32(row["group"].encode()) % 10]
