"""Pairs that nobody labelled, for the larger judge to say what they are and the small one to learn it from.

    training/run beside                # writes build/beside.json.gz

Statements of different blocks that lie near each other, once they are about one person; remarks of one conversation
that lie near each other; and remarks of different stories, as if one person had made both.
"""

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import rows
import torch
import variations
from neutrals import named
from rows import Row
from torch.nn import functional
from trunk import DEVICE, Batch, Trunk, alone, base, mean, tokenizer

MADE = rows.BUILD / "beside.json.gz"
_LEAST, _FARTHEST, _EACH, _MOST = 0.25, 40, 4, 160_000


def main() -> None:
    chance = random.Random(1)
    made = [*_statements(chance), *_conversations(chance), *_remarks(chance)]
    chance.shuffle(made)
    made = made[:_MOST]
    MADE.write_bytes(gzip.compress(json.dumps(made, ensure_ascii=False).encode(), 5))
    print(len(made))


def _statements(chance: random.Random) -> Iterator[Row]:
    """Two statements of different blocks, the second about the first one's person."""
    said = sorted({(row["group"], text) for row in rows.read("pairs") for text in (row["a"], row["b"])})
    people = [named(text) for _, text in said]
    same = [_called(text, name, "Alex") for (_, text), name in zip(said, people, strict=True)]
    for place, other in _near(same, chance):
        if said[place][0] == said[other][0] or bool(people[place]) != bool(people[other]):
            continue
        a, b = said[place][1], _called(said[other][1], people[other], people[place] or "")
        row = {"a": a, "b": b, "kind": "statement"}
        yield variations.spoken(row, chance) if chance.random() < 0.3 else row


def _conversations(chance: random.Random) -> Iterator[Row]:
    """Two remarks of one conversation, the earlier first."""
    for talk in rows.read("conversations"):
        said = [f"{one['speaker']}: {one['text']}" for one in talk["messages"] if len(one["text"]) < 400]
        for place, other in _near(said, chance):
            yield {"a": said[min(place, other)], "b": said[max(place, other)], "kind": "conversation"}


def _remarks(chance: random.Random) -> Iterator[Row]:
    """Two remarks of different stories, mostly as if one person had made both."""
    told = [
        (one["id"], message["speaker"], message["text"])
        for name in ("stories", "threads", "keeping")
        for one in rows.read(name)
        for message in one["messages"]
        if message["role"] == "user" and len(message["text"]) < 400
    ]
    for place, other in _near([text for _, _, text in told], chance):
        if told[place][0] != told[other][0]:
            first = told[place][1]
            second = first if chance.random() < 0.75 else told[other][1]
            yield {"a": f"{first}: {told[place][2]}", "b": f"{second}: {told[other][2]}", "kind": "remark"}


def _called(text: str, name: str | None, other: str) -> str:
    return re.sub(rf"\b{re.escape(name)}\b", other, text) if name else text


def _near(texts: Sequence[str], chance: random.Random) -> Iterator[tuple[int, int]]:
    """For each text some of those that lie nearest, the very nearest more often."""
    vectors = _vectors(texts)
    met: dict[int, set[int]] = defaultdict(set)
    for start in range(0, len(texts), 2048):
        cosines = vectors[start : start + 2048] @ vectors.T
        near = cosines.topk(min(_FARTHEST + 1, len(texts)), 1)
        for row, (places, values) in enumerate(zip(near.indices.tolist(), near.values.tolist(), strict=True)):
            place = start + row
            others = [one for one, value in zip(places, values, strict=True) if one != place and value >= _LEAST]
            chosen = [*others[:2], *chance.sample(others[2:], min(_EACH - 2, max(0, len(others) - 2)))]
            for other in chosen:
                if other not in met[place]:
                    met[place].add(other)
                    met[other].add(place)
                    yield place, other


@torch.no_grad()
def _vectors(texts: Sequence[str]) -> torch.Tensor:
    tokens, trunk = tokenizer(), _trunk()
    found = []
    for start in range(0, len(texts), 512):
        batch = Batch([alone(tokens, text, 120) for text in texts[start : start + 512]])
        with torch.autocast(DEVICE.type, torch.bfloat16):
            found.append(functional.normalize(mean(trunk(batch), batch.mask).float(), dim=1))
    return torch.cat(found)


_KEPT: list[Trunk] = []


def _trunk() -> Trunk:
    if not _KEPT:
        _KEPT.append(Trunk(base()).to(DEVICE).eval())
    return _KEPT[0]


if __name__ == "__main__":
    main()
