"""The larger judge: a small language model taught to tell how two statements stand to each other, run on this machine.

It comes in a package of its own, recollect-judge. What it says is more often right than what the bundled judge says,
and takes some forty times as long: `second_look` asks it where that is worth it.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from threading import Lock

from recollect.domain.judgement import Chances
from recollect.errors import ModelFailed
from recollect.models.bytepieces import BytePieces
from recollect.models.network import readable, session, shares

NAME = "recollect-larger-judge-1"
PACKAGE = "recollect_judge"
WIDTH, BLOCK = 576, 32
LONGEST = 100
"""Word pieces that are read of each statement."""
_START = 1


class LargerJudge:
    """What it says of two statements, the earlier first, depends on them alone. May be called from any thread."""

    name = NAME

    def __init__(self) -> None:
        self._lock = Lock()
        self._loaded: _Loaded | None = None

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Chances]:
        return [self._load().compare(a, b) for a, b in pairs]

    def _load(self) -> "_Loaded":
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _loaded(NAME)
        return self._loaded


class _Loaded:
    """The network, its word pieces and their table: 8-bit integers, a scale for each 32 of a row."""

    def __init__(self, labels: Sequence[str]) -> None:
        folder, numpy = files(PACKAGE), import_module("numpy")
        self._labels = labels
        self._pieces = BytePieces((folder / "tokenizer.json").read_text(encoding="utf-8"))
        self._line = self._pieces.read("\n", LONGEST)
        data, blocks = (folder / "words.bin").read_bytes(), WIDTH // BLOCK
        count = len(data) // (WIDTH + 2 * blocks)
        self._rows = numpy.frombuffer(data, "i1", count * WIDTH).reshape(count, blocks, BLOCK)
        self._scales = numpy.frombuffer(data, "<f2", count * blocks, count * WIDTH).reshape(count, blocks, 1)
        self._numpy = numpy
        self._session = session((folder / "judge.onnx").read_bytes())

    def compare(self, a: str, b: str) -> Chances:
        first, second = (self._pieces.read(readable(text), LONGEST) for text in (a, b))
        chosen = self._numpy.asarray([_START, *first, *self._line, *second, *self._line])
        rows = self._rows[chosen] * self._scales[chosen].astype("f4")
        logits = self._session.run(None, {"pieces": rows.reshape(1, len(chosen), WIDTH)})[0][0]
        return Chances.named(self._labels, shares(logits.tolist()))


def _loaded(name: str) -> _Loaded:
    try:
        facts = json.loads((files(PACKAGE) / "models.json").read_text(encoding="utf-8"))["judge"]
        if facts["name"] != name:
            raise ModelFailed(
                f"the package recollect-judge brings {facts['name']}, not {name}", "Install the matching release."
            )
        return _Loaded(facts["labels"])
    except ModelFailed:
        raise
    except Exception as error:  # of three libraries and a damaged file, each with errors of its own
        raise ModelFailed(
            f"the larger judge {name} cannot be loaded: {error}",
            "Install recollect[judge] again, or set judge to small.",
        ) from error
