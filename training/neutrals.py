"""Pairs that have nothing to do with each other, though one person said both: what most neighbours in a store are.

    training/run neutrals              # writes build/neutrals.json.gz

Written statements of different blocks that lie fairly near once their subjects have one name; remarks of different
stories and talks in one person's mouth, news above all, since what is news need not be a change of what was said
before; and remarks of one conversation that lie apart.
"""

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence

import numpy as np
import rows
from changes import NEUTRALS
from rows import Row

_NAME = re.compile(r"^([A-Z][\w'’-]*[a-z])(?=[ '’])")  # noqa: RUF001
_NO_NAMES = frozenset(
    "The My Our In On At For After Before When Since From All Every No There It We This As Both Only Each Until With "
    "During Any Two Three Once About Nearly Free Most Some One Four Five Six Seven Eight Nine Ten Her His Their If Not "
    "New Old By To Of Nobody Everyone Anyone Neither Either Instead Because Although Despite Under Over Project".split()
)
_LEAST, _MOST, _TEXTS = 0.42, 0.72, 14_000
_APART = 0.5
"""The cosine below which two remarks of one conversation are taken to be about different matters."""
_NEAREST, _FARTHEST = 15, 300
"""Of remarks of other stories, the nearest might be about the same by chance, and the farthest teach nothing."""
_LONGEST = 500


def named(text: str) -> str | None:
    """The person that a statement begins with."""
    match = _NAME.match(text)
    return match[1] if match and match[1] not in _NO_NAMES else None


def main() -> None:
    chance = random.Random(1)
    made = [*_statements(chance), *_remarks(chance), *_conversations(chance)]
    NEUTRALS.write_bytes(gzip.compress(json.dumps(made, ensure_ascii=False).encode(), 6))
    print(len(made))


def _statements(chance: random.Random) -> Iterator[Row]:
    said = sorted({(row["group"], text) for row in rows.read("pairs") for text in (row["a"], row["b"])})
    about = [(group, name, text) for group, text in said if (name := named(text))]
    chance.shuffle(about)
    about = about[:_TEXTS]
    vectors = _vectors([re.sub(rf"\b{re.escape(name)}\b", "Alex", text) for _, name, text in about])
    for start in range(0, len(about), 500):
        for row, cosines in enumerate(vectors[start : start + 500] @ vectors.T):
            group, name, text = about[start + row]
            places = np.nonzero((cosines > _LEAST) & (cosines < _MOST))[0].tolist()
            others = [place for place in places if about[place][0] != group]
            for place in chance.sample(others, min(2, len(others))):
                _, other, statement = about[place]
                yield _neutral(text, re.sub(rf"\b{re.escape(other)}\b", name, statement))


def _remarks(chance: random.Random) -> Iterator[Row]:
    told = [
        (one["id"], *said)
        for name in ("stories", "threads", "keeping")
        for one in rows.read(name)
        for said in _said(one)
    ]
    changing = [*rows.read("stories"), *rows.read("threads")]
    news = {(one["id"], pair[1]) for one in changing for pair in one["pairs"] if pair[2] == "update"}
    vectors = _vectors([text for *_, text in told])
    for start in range(0, len(told), 500):
        for row, cosines in enumerate(vectors[start : start + 500] @ vectors.T):
            story, number, speaker, text = told[start + row]
            order = np.argsort(-cosines)[_NEAREST:_FARTHEST].tolist()
            others = [place for place in order if told[place][0] != story]
            for place in chance.sample(others, min(6 if (story, number) in news else 3, len(others))):
                _, _, other, before = told[place]
                first = speaker if chance.random() < 0.85 else other
                yield _neutral(f"{first}: {before}", f"{speaker}: {text}")


def _conversations(chance: random.Random) -> Iterator[Row]:
    for talk in rows.read("conversations"):
        told = _said(talk)
        vectors = _vectors([text for *_, text in told])
        for later in range(5, len(told)):
            earlier = np.nonzero(vectors[:later] @ vectors[later] < _APART)[0].tolist()
            same = [place for place in earlier if told[place][1] == told[later][1]] or earlier
            for place in chance.sample(same, min(3, len(same))):
                yield _neutral(*(f"{told[one][1]}: {told[one][2]}" for one in (place, later)))


def _said(one: Row) -> list[tuple[int, str, str]]:
    return [
        (number, message["speaker"], message["text"])
        for number, message in enumerate(one["messages"])
        if message.get("role", message["speaker"].lower()) != "assistant" and len(message["text"]) < _LONGEST
    ]


def _neutral(a: str, b: str) -> Row:
    return {"a": a, "b": b, "label": "compatible", "kind": "neutral"}


def _vectors(texts: Sequence[str]) -> np.ndarray:
    from recollect.models.local import LocalEmbedder

    return np.array([np.frombuffer(one, "<f4") for one in LocalEmbedder(threads=2).embed(list(texts))])


if __name__ == "__main__":
    main()
