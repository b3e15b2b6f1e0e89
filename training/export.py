"""What training made, as the files that ship: `packages/recollect-models/src/recollect_models`.

    training/run export                # every model of which there are weights in training/build
    training/run export judge keeper   # these alone
    training/run export larger         # the larger judge: packages/recollect-judge (export_larger.py)

The table of word pieces is written once, as 8-bit integers with a scale a row; each network is drawn in 8-bit integers
(graph.py) and compared with the same network in 32-bit floats on texts of the training data.
"""

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import export_larger
import judge
import keeper
import numpy as np
import onnxruntime
import rows
from graph import exact, small
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from trunk import BASE, WIDTH, alone, joined, load, tokenizer

TARGET = Path(__file__).parent.parent / "packages" / "recollect-models" / "src" / "recollect_models"
TOPS = {"embedder": "vector", "judge": "pair", "keeper": "turn"}
NAMES = {"embedder": "recollect-embedder-1", "judge": "recollect-judge-2", "keeper": "recollect-keeper-2"}
SAMPLES, PROBES = 64, 256
Read = tuple[list[int], list[int], list[tuple[int, int]]]
"""Word pieces, which text each belongs to, and the stretches that are asked about."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=[], metavar="MODEL")
    asked = parser.parse_args().models
    if "larger" in asked or (not asked and export_larger.taught()):
        export_larger.make()
    chosen = [name for name in TOPS if name in asked or (not asked and (rows.BUILD / f"{name}-1.safetensors").exists())]
    if chosen:
        make(chosen)


def make(chosen: Sequence[str]) -> None:
    table = load_file(BASE)
    words, scales = table["words"], table["words.scale"]
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "words.bin").write_bytes(words.tobytes() + scales.astype("<f4").tobytes())
    _vocabulary(tokenizer()).save(str(TARGET / "tokenizer.json"), pretty=False)
    facts = json.loads((TARGET / "models.json").read_text()) if (TARGET / "models.json").exists() else {}
    for name in chosen:
        weights = {key.removeprefix("trunk.bert."): value for key, value in load(name).items()}
        read = inputs(name)
        rows_of = words.astype(np.float32) * scales
        drawn = small(weights, loudest(weights, read[:SAMPLES], rows_of, TOPS[name]), TOPS[name]).SerializeToString()
        (TARGET / f"{name}.onnx").write_bytes(drawn)
        facts[name] = {"name": NAMES[name], "sha256": hashlib.sha256(drawn).hexdigest(), **outputs(name)}
        print(f"{name}: {len(drawn):,} bytes, {compared(weights, drawn, read[SAMPLES:][:PROBES], rows_of, TOPS[name])}")
    (TARGET / "models.json").write_text(json.dumps(facts, indent=2) + "\n")
    print(f"{sum(path.stat().st_size for path in TARGET.iterdir() if path.is_file()) / 1e6:.1f} MB in all")


def _vocabulary(read: Tokenizer) -> Tokenizer:
    read.no_padding()
    read.no_truncation()
    return read


def outputs(name: str) -> dict[str, object]:
    match name:
        case "judge":
            return {"labels": judge.LABELS}
        case "keeper":
            cuts = json.loads((rows.BUILD / "keeper-cuts.json").read_text())
            return {
                "heads": keeper.HEADS,
                "kinds": keeper.KINDS,
                "categories": keeper.CATEGORIES,
                "importance": cuts,
            }
        case _:
            return {"dimension": WIDTH}


def inputs(name: str) -> list[Read]:
    """Texts of the training data as the model reads them, taken evenly from all of it."""
    tokens, count = tokenizer(), SAMPLES + PROBES
    match name:
        case "judge":
            return [(*joined(tokens, row["a"], row["b"]), []) for row in _evenly(rows.read("pairs"), count)]
        case "keeper":
            return [keeper.pieces(one) for one in _evenly(keeper.cached(), count)]
        case _:
            texts = [message["text"] for world in rows.read("conversations") for message in world["messages"]]
            return [(*alone(tokens, text), []) for text in _evenly(texts, count)]


def _evenly(found: Sequence[object], count: int) -> list:
    order = np.random.default_rng(1).permutation(len(found))[:count]
    return [found[int(place)] for place in order]


def _feed(session: onnxruntime.InferenceSession, read: Read, table: np.ndarray) -> dict[str, np.ndarray]:
    ids, types, spans = read
    shares = np.zeros((len(spans), len(ids)), np.float32)
    for row, (start, end) in enumerate(spans):
        shares[row, start:end] = 1 / (end - start)
    every = {"pieces": table[ids][None], "types": np.array([types], np.int64), "spans": shares}
    return {one.name: every[one.name] for one in session.get_inputs()}


def loudest(
    weights: Mapping[str, np.ndarray], read: Sequence[Read], table: np.ndarray, top: str
) -> dict[str, np.ndarray]:
    """How large each channel gets, for every product of the encoder."""
    model, sites = exact(weights, top)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    runs = [session.run(list(sites.values()), _feed(session, one, table)) for one in read]
    return {site: np.max([np.abs(run[number][0]).max(0) for run in runs], axis=0) for number, site in enumerate(sites)}


def compared(weights: Mapping[str, np.ndarray], drawn: bytes, read: Sequence[Read], table: np.ndarray, top: str) -> str:
    """How far the integers stray from the floats on texts that the scales were not measured on."""
    true, near = (
        onnxruntime.InferenceSession(one, providers=["CPUExecutionProvider"])
        for one in (exact(weights, top)[0].SerializeToString(), drawn)
    )
    name = "vector" if top == "vector" else "logits"
    pairs = [
        (true.run([name], _feed(true, one, table))[0][0], near.run([name], _feed(near, one, table))[0][0])
        for one in read
    ]
    if top == "vector":
        cosines = [float(a @ b) for a, b in pairs]
        return f"cosine to 32-bit floats: least {min(cosines):.4f}, mean {np.mean(cosines):.4f}"
    apart = [float(np.abs(a - b).mean()) for a, b in pairs]
    same = [a[:4].argmax() == b[:4].argmax() for a, b in pairs]
    return f"logits apart {np.mean(apart):.3f} on average, the same answer for {np.mean(same):.1%}"


if __name__ == "__main__":
    main()
