"""The networks drawn as ONNX graphs: BERT's layers out of the operators that run fastest on a processor.

What goes in are the rows of the table of word pieces, which all models share, and which of two texts each belongs to.

Drawn by hand instead of traced: a traced graph hides attention, layer norms and GELU in dozens of small operators, and
the tools that put them back together do not know every tracer. The same drawing serves twice: `Exact` for measuring
what flows between the layers, `Small` for the file that is shipped.
"""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

LONGEST = 256
HEADS, WIDTH = 12, 384
MICROSOFT = "com.microsoft"
EASE = 0.7  # of an outlier channel's size, the share that moves from the activations into the weights
Weights = Mapping[str, np.ndarray]


class Sheet:
    """Nodes and constants as they are drawn."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants[name] = np.asarray(value, order="C")
        return name

    def node(self, op: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        return self.nodes_of(op, 1, *inputs, domain=domain, **attributes)[0]

    def nodes_of(self, op: str, count: int, *inputs: str, domain: str = "", **attributes: object) -> list[str]:
        """A node with several outputs."""
        label = f"{op}_{len(self.nodes)}"
        outputs = [f"{label}:{number}" for number in range(count)]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=label, domain=domain, **attributes))
        return outputs

    def model(self, outputs: Mapping[str, list[int | str] | None], width: int = WIDTH) -> ModelProto:
        used = {name for node in self.nodes for name in node.input}
        inputs = [
            helper.make_tensor_value_info("pieces", TensorProto.FLOAT, [1, "length", width]),
            helper.make_tensor_value_info("types", TensorProto.INT64, [1, "length"]),
            helper.make_tensor_value_info("spans", TensorProto.FLOAT, ["stretches", "length"]),
        ]
        graph = helper.make_graph(
            self.nodes,
            "recollect",
            [one for one in inputs if one.name in used],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        versions = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=9)


class Arithmetic(Protocol):
    """How the heavy parts are computed."""

    def linear(self, sheet: Sheet, site: str, x: str, weight: np.ndarray, bias: np.ndarray | None) -> str: ...

    def attention(self, sheet: Sheet, site: str, x: str, weight: np.ndarray, bias: np.ndarray) -> str: ...


class Exact:
    """32-bit floats. Remembers what goes into every product."""

    def __init__(self) -> None:
        self.inputs: dict[str, str] = {}

    def linear(self, sheet: Sheet, site: str, x: str, weight: np.ndarray, bias: np.ndarray | None) -> str:
        self.inputs[site] = x
        product = sheet.node("MatMul", x, sheet.constant(f"{site}.weight", weight))
        return product if bias is None else sheet.node("Add", product, sheet.constant(f"{site}.bias", bias))

    def attention(self, sheet: Sheet, site: str, x: str, weight: np.ndarray, bias: np.ndarray) -> str:
        self.inputs[site] = x
        weight_name, bias_name = sheet.constant(f"{site}.weight", weight), sheet.constant(f"{site}.bias", bias)
        return sheet.node("Attention", x, weight_name, bias_name, domain=MICROSOFT, num_heads=HEADS)


class Small:
    """Products of 8-bit integers: weights with one scale per column, activations with one that is found as they come.

    A few channels of this model are twenty times as loud as the rest and would take the activations' resolution for
    themselves. `loudest` says how loud each channel gets; what exceeds the usual is divided out of the activations and
    multiplied into the weights.
    """

    def __init__(self, loudest: Mapping[str, np.ndarray]) -> None:
        self._loudest = loudest

    def linear(self, sheet: Sheet, site: str, x: str, weight: np.ndarray, bias: np.ndarray | None) -> str:
        x, weight = self._eased(sheet, site, x, weight)
        inputs = [x, *self._weight(sheet, site, weight)]
        if bias is not None:
            inputs.append(sheet.constant(f"{site}.bias", bias))
        return sheet.node("DynamicQuantizeMatMul", *inputs, domain=MICROSOFT)

    def attention(self, sheet: Sheet, site: str, x: str, weight: np.ndarray, bias: np.ndarray) -> str:
        x, weight = self._eased(sheet, site, x, weight)
        small, scale, zero = sheet.nodes_of("DynamicQuantizeLinear", 3, x)
        weights, scales, zeros = self._weight(sheet, site, weight)
        inputs = (small, weights, sheet.constant(f"{site}.bias", bias), scale, scales, "", zero, zeros)
        return sheet.node("QAttention", *inputs, domain=MICROSOFT, num_heads=HEADS)

    def _weight(self, sheet: Sheet, site: str, weight: np.ndarray) -> tuple[str, str, str]:
        scale = (np.abs(weight).max(0) / 127).astype(np.float32)
        return (
            sheet.constant(f"{site}.weight", _rounded(weight, scale)),
            sheet.constant(f"{site}.scale", scale),
            sheet.constant(f"{site}.zero", np.zeros(scale.shape, np.int8)),
        )

    def _eased(self, sheet: Sheet, site: str, x: str, weight: np.ndarray) -> tuple[str, np.ndarray]:
        loudness, reach = self._loudest[site], np.maximum(np.abs(weight).max(1), 1e-6)
        share = loudness**EASE / reach ** (1 - EASE)
        factor = np.maximum(share / np.median(share), 1).astype(np.float32)
        return sheet.node("Mul", x, sheet.constant(f"{site}.ease", 1 / factor)), weight * factor[:, None]


def draw(weights: Weights, arithmetic: Arithmetic, top: str) -> tuple[Sheet, str]:
    """A whole network and the name of what comes out of it: word pieces in; at the top a `vector` of unit length, or
    the `logits` of a head that reads the first piece beside the mean of all ("pair"), or of each of some stretches
    ("turn")."""
    sheet = Sheet()
    x = _embeddings(sheet, weights, paired=top != "vector")
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    for layer in range(layers):
        x = _layer(sheet, weights, arithmetic, f"encoder.layer.{layer}.", x)
    if top == "vector":
        sheet.node("LpNormalization", _mean(sheet, x), axis=1, p=2)
    else:
        first = sheet.node("Gather", x, sheet.constant("first", np.array(0)), axis=1)
        seen = _mean(sheet, x) if top == "pair" else _means_of_spans(sheet, x)
        if top == "turn":
            first = sheet.node("Expand", first, sheet.node("Shape", seen))
        both = sheet.node("Concat", first, seen, axis=1)
        head = (
            sheet.constant("head.weight", weights["head.weight"].T),
            sheet.constant("head.bias", weights["head.bias"]),
        )
        sheet.node("Gemm", both, *head)
    name = "vector" if top == "vector" else "logits"
    sheet.nodes[-1].output[0] = name
    return sheet, name


def _mean(sheet: Sheet, x: str) -> str:
    return sheet.node("ReduceMean", x, sheet.constant("over the pieces", np.array([1])), keepdims=0)


def _means_of_spans(sheet: Sheet, x: str) -> str:
    """The mean of each stretch: the shares of the pieces in it times the pieces."""
    return sheet.node("MatMul", "spans", sheet.node("Squeeze", x, sheet.constant("the one text", np.array([0]))))


def _embeddings(sheet: Sheet, weights: Weights, *, paired: bool) -> str:
    places = weights["embeddings.position_embeddings.weight"][:LONGEST]
    types = weights["embeddings.token_type_embeddings.weight"]
    zero = sheet.constant("zero", np.array([0]))
    length = sheet.node("Shape", "pieces", start=1, end=2)
    here = sheet.node("Slice", sheet.constant("places", places if paired else places + types[0]), zero, length, zero)
    x = sheet.node("Add", "pieces", here)
    if paired:
        x = sheet.node("Add", x, sheet.node("Gather", sheet.constant("kinds of text", types), "types"))
    return _norm(sheet, weights, "embeddings.LayerNorm", x)


def _layer(sheet: Sheet, weights: Weights, arithmetic: Arithmetic, at: str, x: str) -> str:
    parts = [f"{at}attention.self.{part}" for part in ("query", "key", "value")]
    weight = np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
    bias = np.concatenate([weights[f"{part}.bias"] for part in parts])
    seen = arithmetic.attention(sheet, f"{at}attention.self", x, weight, bias)
    x = _joined(sheet, weights, arithmetic, f"{at}attention.output", seen, x)
    inner = f"{at}intermediate.dense"
    wide = arithmetic.linear(sheet, inner, x, weights[f"{inner}.weight"].T, None)
    wide = sheet.node("FastGelu", wide, sheet.constant(f"{inner}.bias", weights[f"{inner}.bias"]), domain=MICROSOFT)
    return _joined(sheet, weights, arithmetic, f"{at}output", wide, x)


def _joined(sheet: Sheet, weights: Weights, arithmetic: Arithmetic, at: str, new: str, old: str) -> str:
    """A product, added to what was there before, at even size. Add and LayerNormalization are faster than the one
    operator that unites them, which does not use the wide registers."""
    product = arithmetic.linear(sheet, f"{at}.dense", new, weights[f"{at}.dense.weight"].T, weights[f"{at}.dense.bias"])
    return _norm(sheet, weights, f"{at}.LayerNorm", sheet.node("Add", product, old))


def _norm(sheet: Sheet, weights: Weights, at: str, x: str) -> str:
    scale = sheet.constant(f"{at}.weight", weights[f"{at}.weight"])
    shift = sheet.constant(f"{at}.bias", weights[f"{at}.bias"])
    return sheet.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-12)


def _rounded(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.clip(np.round(values / scale), -127, 127).astype(np.int8)


def exact(weights: Weights, top: str) -> tuple[ModelProto, Mapping[str, str]]:
    """The network in 32-bit floats, with what goes into each of its products as further outputs, by site."""
    arithmetic = Exact()
    sheet, name = draw(weights, arithmetic, top)
    names = {name: None, **dict.fromkeys(arithmetic.inputs.values())}
    return sheet.model(names), arithmetic.inputs


def small(weights: Weights, loudest: Mapping[str, np.ndarray], top: str) -> ModelProto:
    """The network as it is shipped."""
    sheet, name = draw(weights, Small(loudest), top)
    width = WIDTH if top == "vector" else len(weights["head.bias"])
    model = sheet.model({name: ["stretches" if top == "turn" else 1, width]})
    onnx.checker.check_model(model)
    return model
