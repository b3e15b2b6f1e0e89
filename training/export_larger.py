"""The larger judge as the files that ship: `packages/recollect-judge/src/recollect_judge`.

The table of word pieces is that of the model it started from, bit by bit. The network is compared with what it said on
the card where it was taught.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import changes
import larger
import numpy as np
import onnxruntime
import rows
from graph_larger import draw
from labels import LABELS
from rows import Row
from tokenizers import Tokenizer

TARGET = Path(__file__).parent.parent / "packages" / "recollect-judge" / "src" / "recollect_judge"
NAME = "recollect-larger-judge-1"
PROBES, SHOWN = 300, 12
"""Rows that it is compared on, and how many of them are shipped for others to compare it on."""


def taught() -> list[Path]:
    """The files of what was learned."""
    return sorted(larger.FOLDER.glob("taught-*.npz"))


def make() -> None:
    weights = {name: value for path in taught() for name, value in np.load(path).items()}
    values, scales = _words()
    network = draw(weights).SerializeToString()
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "judge.onnx").write_bytes(network)
    (TARGET / "words.bin").write_bytes(values.tobytes() + scales.astype("<f2").tobytes())
    pieces = Tokenizer.from_file(str(larger.FOLDER / "tokenizer.json"))
    pieces.no_padding()
    pieces.no_truncation()
    pieces.save(str(TARGET / "tokenizer.json"), pretty=False)
    files = ("judge.onnx", "tokenizer.json", "words.bin")
    sums = {name: hashlib.sha256((TARGET / name).read_bytes()).hexdigest() for name in files}
    held = changes.held_out([*rows.read("pairs"), *changes.occurring()])[0][:PROBES]
    said = np.load(larger.FOLDER / "said-held-0.npy")[:PROBES].astype(float)
    step = PROBES // SHOWN
    probes = [
        {"a": row["a"], "b": row["b"], "logits": logits.tolist()}
        for row, logits in zip(held[::step], said[::step], strict=True)
    ]
    facts = {"judge": {"name": NAME, "labels": LABELS, "sha256": sums, "probes": probes}}
    (TARGET / "models.json").write_text(json.dumps(facts, indent=2) + "\n")
    table = (values * scales[..., None]).reshape(-1, larger.WIDTH)
    print(f"larger: {len(network):,} bytes, {_compared(network, table, held, said)}")
    print(f"{sum(path.stat().st_size for path in TARGET.iterdir() if path.is_file()) / 1e6:.1f} MB in all")


def _words() -> tuple[np.ndarray, np.ndarray]:
    """The table of word pieces as the file has it: 8-bit integers, and a scale for each 32 of a row."""
    told = json.loads((larger.FOLDER / "index.json").read_text())
    [table] = [one for one in told if one["name"] == "token_embd.weight"]
    data = np.fromfile(larger.GGUF, np.uint8, table["nbytes"], offset=table["offset"])
    blocks = data.reshape(-1, larger.WIDTH // larger.BLOCK, 2 + larger.BLOCK)
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2")[..., 0]
    return np.ascontiguousarray(blocks[..., 2:]).view(np.int8), scales.astype(np.float32)


def _compared(network: bytes, table: np.ndarray, held: Sequence[Row], true: np.ndarray) -> str:
    """How far it strays on this processor, on rows that it never learned from."""
    session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
    said = [session.run(None, {"pieces": table[read][None]})[0][0] for read in larger.Pieces().read(held)]
    near = np.array(said)
    same = (true.argmax(1) == near.argmax(1)).mean()
    return f"logits apart {np.abs(true - near).mean():.3f} on average, the same answer for {same:.1%}"


if __name__ == "__main__":
    make()
