"""The bundled embedder: all-MiniLM-L6-v2 in int8, run on this machine. Loaded when the first text comes."""

import json
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any

from recollect.domain.embedding import Profile

NAME = "minilm-l6-v2-int8"
_BATCH = 32


class LocalEmbedder:
    """Reads the first 256 word pieces of a text."""

    name = NAME
    profile = Profile()

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import onnxruntime
        from tokenizers import Tokenizer

        folder = files("recollect_models") / "minilm"
        facts = json.loads((folder / "model.json").read_text())
        assert facts["name"] == NAME
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(
            (folder / "model.onnx").read_bytes(), options, providers=["CPUExecutionProvider"]
        )
        return Tokenizer.from_str((folder / "tokenizer.json").read_text()), session

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        import numpy

        tokenizer, session = self._loaded
        read = tokenizer.encode_batch(list(texts))
        order = sorted(range(len(read)), key=lambda number: len(read[number].ids))  # alike lengths share a batch
        vectors: list[bytes] = [b""] * len(read)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            longest = max(len(read[number].ids) for number in batch)
            ids = numpy.zeros((len(batch), longest), dtype=numpy.int64)
            mask = numpy.zeros_like(ids)
            for row, number in enumerate(batch):
                ids[row, : len(read[number].ids)] = read[number].ids
                mask[row, : len(read[number].ids)] = 1
            found = session.run(["vector"], {"input_ids": ids, "attention_mask": mask})[0]
            for row, number in enumerate(batch):
                vectors[number] = found[row].astype("<f4").tobytes()
        return vectors
