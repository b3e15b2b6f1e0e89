"""The bundled networks: one table of word pieces for all of them, each loaded when it is first asked something."""

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from math import exp
from threading import Lock
from typing import Any, Protocol, cast

from recollect.errors import ModelFailed
from recollect.models.wordpiece import WordPieces

WIDTH = 384
READ = 4_096
"""Characters that are looked at."""


class Session(Protocol):
    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, object]) -> Sequence[Any]: ...


class Network:
    """One of the networks of the package recollect-models. May be called from any thread."""

    def __init__(self, file: str, name: str) -> None:
        self._file, self._name = file, name
        self._lock = Lock()
        self._loaded: _Loaded | None = None

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the package says about the model: what its outputs mean."""
        return self._load().facts

    @property
    def pieces(self) -> WordPieces:
        return self._load().vocabulary.pieces

    def run(self, ids: Sequence[int], types: Sequence[int] | None = None) -> Any:
        """What the network says about one text, or about two of which the second is of type 1."""
        return self._load().run(ids, types)

    def run_spans(self, ids: Sequence[int], types: Sequence[int], spans: Sequence[tuple[int, int]]) -> Any:
        """What the network says about each of some stretches of a text."""
        return self._load().run_spans(ids, types, spans)

    def _load(self) -> "_Loaded":
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _loaded(self._file, self._name)
        return self._loaded


class _Vocabulary:
    """The word pieces and their table: 8-bit integers, a scale for each row."""

    def __init__(self) -> None:
        numpy = import_module("numpy")
        folder = files("recollect_models")
        self.pieces = WordPieces((folder / "tokenizer.json").read_text(encoding="utf-8"))
        data = (folder / "words.bin").read_bytes()
        count = len(data) // (WIDTH + 4)
        self._rows = numpy.frombuffer(data, "i1", count * WIDTH).reshape(count, WIDTH)
        self._scales = numpy.frombuffer(data, "<f4", count, count * WIDTH).reshape(count, 1)
        self._numpy = numpy

    def rows(self, ids: Sequence[int]) -> Any:
        chosen = self._numpy.asarray(ids)
        return (self._rows[chosen] * self._scales[chosen])[None]

    def types(self, types: Sequence[int]) -> Any:
        return self._numpy.asarray([types], dtype="int64")

    def spans(self, spans: Sequence[tuple[int, int]], length: int) -> Any:
        """For each stretch, the share that each piece has in its mean."""
        shares = self._numpy.zeros((len(spans), length), dtype="float32")
        for row, (start, end) in enumerate(spans):
            shares[row, start:end] = 1 / (end - start)
        return shares


_vocabulary = cache(_Vocabulary)


class _Loaded:
    def __init__(self, network: bytes, facts: Mapping[str, Any]) -> None:
        self.facts = facts
        self.vocabulary = _vocabulary()
        self._session = session(network)

    def run(self, ids: Sequence[int], types: Sequence[int] | None) -> Any:
        feed = {"pieces": self.vocabulary.rows(ids)}
        if types is not None:
            feed["types"] = self.vocabulary.types(types)
        return self._session.run(None, feed)[0][0]

    def run_spans(self, ids: Sequence[int], types: Sequence[int], spans: Sequence[tuple[int, int]]) -> Any:
        words = self.vocabulary
        feed = {"pieces": words.rows(ids), "types": words.types(types), "spans": words.spans(spans, len(ids))}
        return self._session.run(None, feed)[0]


def _loaded(file: str, name: str) -> _Loaded:
    try:
        folder = files("recollect_models")
        facts = json.loads((folder / "models.json").read_text(encoding="utf-8"))[file]
        if facts["name"] != name:
            raise ModelFailed(
                f"the package recollect-models brings {facts['name']}, not {name}", "Install the matching release."
            )
        return _Loaded((folder / f"{file}.onnx").read_bytes(), facts)
    except ModelFailed:
        raise
    except Exception as error:  # of three libraries and a damaged file, each with errors of its own
        raise ModelFailed(
            f"the bundled model {name} cannot be loaded: {error}", "Install recollect and recollect-models again."
        ) from error


def shares(logits: Sequence[float]) -> list[float]:
    """Logits as likelihoods that add up to one."""
    most = max(logits)
    raised = [exp(value - most) for value in logits]
    whole = sum(raised)
    return [value / whole for value in raised]


def readable(text: str) -> str:
    """As much of a text as is looked at, with nothing that has no place in UTF-8."""
    return text[:READ].encode(errors="replace").decode()


def session(network: bytes) -> Session:
    """A network of this file, ready to run on one thread."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before it is loaded: else it reports to its makers, and leaves files
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # no threads of its own: a fork is harmless
    options.log_severity_level = 3
    # Processors without VNNI add up pairs of products in 16 bits, which overflow: the same words would be judged
    # otherwise there. This has them take a slower way that does not; the others are as fast as before.
    options.add_session_config_entry("session.x64quantprecision", "1")
    return cast(Session, runtime.InferenceSession(network, options, providers=["CPUExecutionProvider"]))
