"""The larger judge drawn as an ONNX graph: Llama's layers with four bits a weight.

What goes in are the rows of its table of word pieces for one pair, without padding; at the top a head reads the last
piece. The three products that read the same are one, and so are the two of the inner layer: fewer, wider products are
faster. Scales are kept in 16 bits and widened when the file is loaded.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from graph import MICROSOFT, Sheet
from onnx import ModelProto, TensorProto

BLOCK, BITS, WIDTH, INNER = 32, 4, 576, 1536
HEADS, KEYS = 9, 3
"""Heads that ask, and heads that are asked."""
TURN, LONGEST = 100_000.0, 256
"""How fast the slowest pair of channels turns with the place, and for how many places that is written down."""
INTEGERS = 4
"""The accuracy at which products are computed: of 8-bit integers."""
Weights = Mapping[str, np.ndarray]


def draw(weights: Weights) -> ModelProto:
    """The network as it is shipped."""
    sheet = Sheet()
    width = WIDTH // HEADS
    angles = np.arange(LONGEST)[:, None] / TURN ** (np.arange(0, width, 2) / width)
    for name, turned in (("cosines", np.cos(angles)), ("sines", np.sin(angles))):
        sheet.constant(name, turned.astype(np.float32))
    length = sheet.node("Shape", "pieces", start=1, end=2)
    whole = sheet.node("Cast", length, to=TensorProto.INT32)
    last = sheet.node("Sub", whole, sheet.constant("one", np.array([1], np.int32)))
    total = sheet.node("Squeeze", whole)
    x = "pieces"
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("trunk.layers."))
    for layer in range(layers):
        x = _layer(sheet, weights, f"trunk.layers.{layer}.", x, last, total)
    x = sheet.node("Gather", x, sheet.constant("at the end", np.array(-1)), axis=1)
    head = (
        sheet.constant("head.weight", weights["head.weight"].T),
        sheet.constant("head.bias", weights["head.bias"]),
    )
    sheet.node("Gemm", _norm(sheet, weights, "trunk.norm", x), *head)
    sheet.nodes[-1].output[0] = "logits"
    return sheet.model({"logits": [1, len(weights["head.bias"])]}, WIDTH)


def _layer(sheet: Sheet, weights: Weights, at: str, x: str, last: str, total: str) -> str:
    asked = _product(sheet, weights, at, [f"self_attn.{one}_proj" for one in "qkv"], _normal(sheet, weights, at, x))
    seen = sheet.nodes_of(
        "GroupQueryAttention",
        3,
        *(asked, "", "", "", "", last, total, "cosines", "sines"),
        domain=MICROSOFT,
        num_heads=HEADS,
        kv_num_heads=KEYS,
        do_rotary=1,
    )[0]
    x = sheet.node("Add", x, _product(sheet, weights, at, ["self_attn.o_proj"], seen))
    read = _norm(sheet, weights, f"{at}post_attention_layernorm", x)
    wide = _product(sheet, weights, at, ["mlp.gate_proj", "mlp.up_proj"], read)
    halves = sheet.constant("halves", np.array([INNER, INNER]))
    gate, up = sheet.nodes_of("Split", 2, wide, halves, axis=-1)
    opened = sheet.node("QuickGelu", gate, domain=MICROSOFT, alpha=1.0)
    return sheet.node("Add", x, _product(sheet, weights, at, ["mlp.down_proj"], sheet.node("Mul", opened, up)))


def _normal(sheet: Sheet, weights: Weights, at: str, x: str) -> str:
    return _norm(sheet, weights, f"{at}input_layernorm", x)


def _norm(sheet: Sheet, weights: Weights, at: str, x: str) -> str:
    scale = sheet.constant(f"{at}.weight", weights[f"{at}.weight"])
    return sheet.node("SimplifiedLayerNormalization", x, scale, axis=-1, epsilon=1e-5, stash_type=1)


def _product(sheet: Sheet, weights: Weights, at: str, parts: Sequence[str], x: str) -> str:
    """Products that read the same, side by side."""

    def united(what: str) -> np.ndarray:
        return np.concatenate([weights[f"{at}{part}.weight.{what}"] for part in parts])

    inner = INNER if parts == ["mlp.down_proj"] else WIDTH
    values, site, blocks = united("values"), f"{at}{'+'.join(parts)}", inner // BLOCK
    outer = len(values) // blocks
    scale = sheet.constant(f"{site}.scale", united("scale").reshape(outer, blocks).astype(np.float16))
    return sheet.node(
        "MatMulNBits",
        x,
        sheet.constant(f"{site}.values", values.reshape(outer, blocks, BLOCK // 2)),
        sheet.node("Cast", scale, to=TensorProto.FLOAT),
        sheet.constant(f"{site}.zero", _paired(united("zero").reshape(outer, blocks))),
        domain=MICROSOFT,
        K=inner,
        N=outer,
        bits=BITS,
        block_size=BLOCK,
        accuracy_level=INTEGERS,
    )


def _paired(values: np.ndarray) -> np.ndarray:
    """Numbers from 0 to 15, two to a byte, the first in its low half."""
    even = np.pad(values, ((0, 0), (0, values.shape[1] % 2)))
    return even[:, 0::2] | even[:, 1::2] << BITS
