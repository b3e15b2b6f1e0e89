"""The bundled embedder: all-MiniLM-L6-v2 in int8, run on this machine. Loaded when the first text comes."""

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.resources import files
from threading import Lock
from typing import Protocol, cast

from recollect.domain.embedding import Profile
from recollect.errors import ModelFailed
from recollect.models.wordpiece import WordPieces

NAME = "minilm-l6-v2-int8"
DIMENSION = 384
READ = 4_096
"""Characters that are looked at."""
LONGEST = 256
"""Word pieces that the model reads, seldom more than a third of those characters."""


class LocalEmbedder:
    """Reads the first 256 word pieces of a text; a vector depends on its text and nothing else.

    Texts are embedded one by one: the integers that the model counts in are scaled to what it reads at once, so a text
    would come out differently in other company. With several threads the texts are shared out among them. May be
    called from any thread.
    """

    name = NAME
    profile = Profile(same=0.92, judge=0.50, link_min=0.45, floor=0.25)

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"{threads} threads: give at least 1")
        self._threads = threads
        self._lock = Lock()
        self._loaded: _Model | None = None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if not texts:
            return []
        model = self._load()
        if self._threads == 1 or len(texts) == 1:
            return [model.vector(text) for text in texts]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(model.vector, texts))

    def _load(self) -> "_Model":
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _Model()
        return self._loaded


class _Array(Protocol):
    def tobytes(self) -> bytes: ...


class _Session(Protocol):
    def run(self, output_names: Sequence[str], input_feed: Mapping[str, object]) -> Sequence[_Array]: ...


class _Model:
    """The tokenizer and the network, as the package recollect-models brings them."""

    def __init__(self) -> None:
        try:
            folder = files("recollect_models") / "minilm"
            facts = json.loads((folder / "model.json").read_text(encoding="utf-8"))
            if facts["name"] != NAME:
                raise ModelFailed(
                    f"the package recollect-models brings {facts['name']}, not {NAME}", "Install the matching release."
                )
            self._session = _session((folder / "model.onnx").read_bytes())
            self._pieces = WordPieces((folder / "tokenizer.json").read_text(encoding="utf-8"))
            self._array = import_module("numpy").array
        except ModelFailed:
            raise
        except Exception as error:  # of three libraries and a damaged file, each with errors of its own
            raise ModelFailed(
                f"the bundled embedder cannot be loaded: {error}", "Install recollect and recollect-models again."
            ) from error

    def vector(self, text: str) -> bytes:
        readable = text[:READ].encode(errors="replace").decode()
        pieces = self._pieces.read(readable, LONGEST)
        found = self._session.run(["vector"], {"input_ids": self._array([pieces], dtype="int64")})
        return found[0].tobytes()


def _session(network: bytes) -> _Session:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before it is loaded: else it reports to its makers, and leaves files
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # no threads of its own: a fork is harmless
    options.log_severity_level = 3
    return cast(_Session, runtime.InferenceSession(network, options, providers=["CPUExecutionProvider"]))
