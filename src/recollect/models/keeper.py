"""The bundled keeper: reads a turn with what was said before it and says what its sentences are worth, run on this
machine."""

from collections.abc import Iterator, Sequence

from recollect.domain.judgement import Heard, Weighed
from recollect.models.network import Network, readable, shares

NAME = "recollect-keeper-2"
BEFORE, SENTENCE, WINDOW = 72, 72, 176
"""Word pieces that are read of what was said before, of one sentence, and of the sentences that are read together."""


class LocalKeeper:
    name = NAME

    def __init__(self) -> None:
        self._network = Network("keeper", NAME)

    def weigh(self, turns: Sequence[Heard]) -> list[tuple[Weighed, ...]]:
        return [self._weighed(turn) for turn in turns]

    def _weighed(self, turn: Heard) -> tuple[Weighed, ...]:
        """What the sentences of a turn are worth. The same ones in the same company are read once."""
        windows = [(tuple(before), tuple(map(tuple, window))) for before, window in self._windows(turn)]
        read = {window: self._read(*window) for window in dict.fromkeys(windows)}
        return tuple(weighed for window in windows for weighed in read[window])

    def _windows(self, turn: Heard) -> Iterator[tuple[list[int], list[list[int]]]]:
        """The sentences of a turn, as many at a time as are read together, with what stands before them."""
        before = self._bare(turn.before)
        window: list[list[int]] = []
        size = 0
        for number, sentence in enumerate(turn.sentences):
            own = self._bare(f"{turn.role}: {sentence}" if not number or not window else sentence)[:SENTENCE]
            if window and size + len(own) + 1 > WINDOW:
                yield before[-BEFORE:], window
                before = [piece for read in window[-2:] for piece in read]
                window, size = [], 0
            window.append(own)
            size += len(own) + 1
        if window:
            yield before[-BEFORE:], window

    def _read(self, before: Sequence[int], window: Sequence[Sequence[int]]) -> list[Weighed]:
        start, stop = self._network.pieces.read("", 2)
        ids, types = [start, *before, stop], [0] * (len(before) + 2)
        spans: list[tuple[int, int]] = []
        for own in window:
            spans.append((len(ids), len(ids) + len(own) + 1))
            ids += [*own, stop]
            types += [1] * (len(own) + 1)
        logits = self._network.run_spans(ids, types, spans)
        return [self._told([float(value) for value in row]) for row in logits]

    def _bare(self, text: str) -> list[int]:
        return self._network.pieces.read(readable(text), 1_024)[1:-1]

    def _told(self, logits: Sequence[float]) -> Weighed:
        facts = self._network.facts
        told: dict[str, list[float]] = {}
        start = 0
        for head, width in facts["heads"].items():
            told[head] = shares(logits[start : start + width])
            start += width
        mean = sum(number * share for number, share in enumerate(told["importance"], 1))
        return Weighed(
            keep=told["keep"][1],
            kinds=dict(zip(facts["kinds"], told["kind"], strict=True)),
            categories=dict(zip(facts["categories"], told["category"], strict=True)),
            importance=_spread(mean, facts["importance"]),
            private=told["private"][1],
            injection=told["injection"][1],
        )


def _spread(mean: float, cuts: Sequence[float]) -> float:
    """The mean of what is likely on the scale from 1 to 5 that labels use: means crowd in the middle. `cuts` are the
    means between two neighbouring grades."""
    bounds = [1.0, *cuts, 5.0]
    grade = sum(mean >= cut for cut in cuts)
    low, high = bounds[grade], bounds[grade + 1]
    return min(5.0, max(1.0, grade + 0.5 + (mean - low) / max(1e-6, high - low)))
