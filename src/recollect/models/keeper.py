"""The bundled keeper: reads a sentence with its neighbours and says what it is worth, run on this machine."""

from collections.abc import Sequence

from recollect.domain.judgement import Heard, Weighed
from recollect.models.network import Network, readable, shares

NAME = "recollect-keeper-1"
BEFORE, AFTER, OWN = 48, 24, 96
"""Word pieces that are read of what stands before a sentence, after it, and of the sentence itself."""


class LocalKeeper:
    name = NAME

    def __init__(self) -> None:
        self._network = Network("keeper", NAME)

    def weigh(self, sentences: Sequence[Heard]) -> list[Weighed]:
        return [self._one(sentence) for sentence in sentences]

    def _one(self, heard: Heard) -> Weighed:
        before, after = self._bare(heard.before)[-BEFORE:], self._bare(heard.after)[:AFTER]
        own = self._bare(f"{heard.role}: {heard.text}")[:OWN]
        start, stop = self._network.pieces.read("", 2)
        first = [start, *before, stop, *after, stop]
        logits = self._network.run([*first, *own, stop], [0] * len(first) + [1] * (len(own) + 1))
        return self._told([float(value) for value in logits])

    def _bare(self, text: str) -> list[int]:
        return self._network.pieces.read(readable(text), 1_024)[1:-1]

    def _told(self, logits: Sequence[float]) -> Weighed:
        facts = self._network.facts
        told: dict[str, list[float]] = {}
        start = 0
        for head, width in facts["heads"].items():
            told[head] = shares(logits[start : start + width])
            start += width
        return Weighed(
            keep=told["keep"][1],
            kinds=dict(zip(facts["kinds"], told["kind"], strict=True)),
            categories=dict(zip(facts["categories"], told["category"], strict=True)),
            importance=sum(number * share for number, share in enumerate(told["importance"], 1)),
            private=told["private"][1],
            injection=told["injection"][1],
        )
