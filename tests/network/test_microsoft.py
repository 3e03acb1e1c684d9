"""Operators of the domain com.microsoft, which optimisers and exporters write: beside formulas in NumPy and ONNX Runtime.

Each case is converted with all inputs computed at run time, where its operator permits that, and with all but the first as
weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", "1.16")

from onnx import helper  # noqa: E402

from network.quantised import MICROSOFT  # noqa: E402
from pysimd.network import onnx_reader  # noqa: E402
from pysimd.network.convert import graph_of  # noqa: E402
from pysimd.network.convert.conversion import supported_operators  # noqa: E402
from pysimd.network.passes import simplified  # noqa: E402
from pysimd.network.runner import Runner  # noqa: E402

RTOL, ATOL = 1e-4, 1e-5
DOMAIN = "com.microsoft"
_RNG = np.random.default_rng(5)


def floats(*shape: int) -> Any:
    return _RNG.standard_normal(shape, np.float32)


class Own(NamedTuple):
    """A node, the formula of its outputs (None for one that is not given), and the number of inputs that must be weights.

    formula : of the inputs in double, None for those that are missing.
    theirs : whether ONNX Runtime computes it on a CPU.
    """

    op: str
    inputs: Sequence[Any]
    formula: Callable[..., Any]
    attributes: dict[str, Any] = {}  # noqa: RUF012  nothing writes to it
    must_be_known: bool = False
    theirs: bool = True


# ---- formulas


def normal(x: Any) -> Any:
    """The distribution function of the normal distribution."""
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu(x: Any, bias: Any = 0.0) -> Any:
    return (x + bias) * normal(x + bias)


def fast_gelu(x: Any, bias: Any = 0.0) -> Any:
    x = x + bias
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def layer_norm(x: Any, scale: Any, bias: Any, eps: float) -> Any:
    difference = x - x.mean(-1, keepdims=True)
    y = difference / np.sqrt((difference**2).mean(-1, keepdims=True) + eps) * scale
    return y if bias is None else y + bias


def rms_norm(x: Any, scale: Any, eps: float) -> Any:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * scale


def skip_norm(x: Any, skip: Any, scale: Any, offset: Any = None, bias: Any = None) -> Any:
    total = x + skip + (0 if bias is None else bias)
    return layer_norm(total, scale, offset, 1e-3), None, None, total


def skip_rms_norm(x: Any, skip: Any, scale: Any, bias: Any = None) -> Any:
    total = x + skip + (0 if bias is None else bias)
    return rms_norm(total, scale, 1e-3), None, None, total


def attention(q: Any, k: Any, v: Any, heads: int, bias: Any = None, causal: bool = False) -> Any:
    """q, k, v : (N, rows, heads * size)."""
    q, k, v = (x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.swapaxes(2, 3) / math.sqrt(q.shape[3])
    if bias is not None:
        scores = scores + bias
    if causal:
        scores = np.where(np.tri(*scores.shape[2:]) > 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    y = weights / weights.sum(-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)


def multi_head(q: Any, k: Any, v: Any, bias: Any = None, mask: Any = None, scores: Any = None) -> Any:
    if bias is not None:
        q, k, v = (x + part for x, part in zip((q, k, v), np.split(bias, np.cumsum([q.shape[2], k.shape[2]]))))
    return attention(q, k, v, 2, scores)


def packed(causal: bool) -> Callable[..., Any]:
    def computed(x: Any, weight: Any, bias: Any = None, *rest: Any) -> Any:
        q, k, v = np.split(x @ weight + (0 if bias is None else bias), 3, 2)
        return attention(q, k, v, 2, rest[2] if rest else None, causal)

    return computed


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def fused_matmul(a: Any, b: Any, *, left: bool = False, right: bool = False, alpha: float = 1.0) -> Any:
    return alpha * (a.swapaxes(-1, -2) if left else a) @ (b.swapaxes(-1, -2) if right else b)


def fused_conv(activation: Callable[[Any], Any]) -> Callable[..., Any]:
    """A convolution of 3x3 with padding 1."""

    def computed(x: Any, weight: Any, bias: Any, term: Any = 0.0) -> Any:
        padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        return activation(np.einsum("nchwij,ocij->nohw", windows, weight) + bias.reshape(1, -1, 1, 1) + term)

    return computed


# ---- cases

X, SKIP, ROW = floats(2, 3, 8), floats(2, 3, 8), [floats(8) for _ in range(3)]
Q, K, V = floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 12)
IMAGE, WEIGHT, BIAS = floats(2, 4, 5, 6), floats(6, 4, 3, 3), floats(6)
EPS = {"epsilon": 1e-3}


def matmuls() -> list[Own]:
    """FusedMatMul, with operands of two and of three dimensions, transposed or not."""
    found = []
    for lead_a, lead_b in (((), ()), ((2,), (2,)), ((2,), ()), ((), (2,))):
        for left in (False, True):
            for right in (False, True):
                a = floats(*lead_a, *((4, 3) if left else (3, 4)))
                b = floats(*lead_b, *((5, 4) if right else (4, 5)))

                def formula(a: Any, b: Any, left: bool = left, right: bool = right) -> Any:
                    return fused_matmul(a, b, left=left, right=right, alpha=0.5)

                found.append(Own("FusedMatMul", [a, b], formula, {"transA": left, "transB": right, "alpha": 0.5}))
    return found


CASES = [
    Own("Gelu", [X], gelu),
    Own("BiasGelu", [X, ROW[0]], gelu),
    Own("FastGelu", [X], fast_gelu),
    Own("FastGelu", [X, ROW[0]], fast_gelu),
    Own("QuickGelu", [X], lambda x: x / (1 + np.exp(-1.702 * x))),
    Own("QuickGelu", [X], lambda x: x / (1 + np.exp(-0.7 * x)), {"alpha": 0.7}),
    Own("SimplifiedLayerNormalization", [X, ROW[0]], lambda x, s: rms_norm(x, s, 1e-3), EPS, theirs=False),
    Own("SkipLayerNormalization", [X, SKIP, ROW[0]], skip_norm, EPS),
    Own("SkipLayerNormalization", [X, SKIP, ROW[0], ROW[1]], skip_norm, EPS),
    Own("SkipLayerNormalization", [X, SKIP, *ROW], skip_norm, EPS),
    Own("SkipLayerNormalization", [X, SKIP, ROW[0], None, ROW[2]], skip_norm, EPS),
    Own("SkipSimplifiedLayerNormalization", [X, SKIP, ROW[0]], skip_rms_norm, EPS),
    Own("SkipSimplifiedLayerNormalization", [X, SKIP, ROW[0], ROW[1]], skip_rms_norm, EPS),
    Own("FusedConv", [IMAGE, WEIGHT, BIAS], fused_conv(relu), {"pads": [1] * 4, "activation": "Relu"}),
    Own(
        "FusedConv",
        [IMAGE, WEIGHT, BIAS, floats(2, 6, 5, 6)],
        fused_conv(relu),
        {"pads": [1] * 4, "activation": "Relu"},
    ),
    Own(
        "FusedConv",
        [IMAGE, WEIGHT, BIAS],
        fused_conv(lambda y: np.where(y < 0, 0.3 * y, y)),
        {"pads": [1] * 4, "activation": "LeakyRelu", "activation_params": [0.3]},
    ),
    *matmuls(),
    Own("MultiHeadAttention", [Q, K, V], multi_head, {"num_heads": 2}),
    Own("MultiHeadAttention", [Q, K, V, floats(28)], multi_head, {"num_heads": 2}, must_be_known=True),
    Own("MultiHeadAttention", [Q, K, V, None, None, floats(2, 2, 3, 5)], multi_head, {"num_heads": 2}),
    Own("Attention", [X, floats(8, 24), floats(24)], packed(False), {"num_heads": 2}, must_be_known=True),
    Own("Attention", [X, floats(8, 24), floats(24)], packed(True), {"num_heads": 2, "unidirectional": 1}, True),
    Own("Attention", [X, floats(8, 24), floats(24), None, None, floats(2, 2, 3, 3)], packed(False), {"num_heads": 2}, True),
]


def model(case: Own, known: bool) -> Any:
    """known : all inputs but the first are weights."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(case.inputs)]
    given = {name: x for name, x in zip(names, case.inputs) if name}
    weights = list(given)[1:] if known else []
    outputs = [f"y{i}" if y is not None else "" for i, y in enumerate(expected(case))]
    node = helper.make_node(case.op, names, outputs, case.op, domain=DOMAIN, **case.attributes)
    graph = helper.make_graph(
        [node],
        "own",
        [helper.make_tensor_value_info(name, 1, x.shape) for name, x in given.items() if name not in weights],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs if name],
        [onnx.numpy_helper.from_array(given[name], name) for name in weights],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def expected(case: Own) -> list[Any]:
    found = case.formula(*(None if x is None else x.astype(np.float64) for x in case.inputs))
    return list(found) if isinstance(found, tuple) else [found]


def forms(case: Own) -> list[bool]:
    return [True] if case.must_be_known or len(case.inputs) == 1 else [False, True]


def feeds(case: Own, made: Any) -> dict[str, Any]:
    return {value.name: case.inputs[int(value.name[1:])] for value in made.graph.input}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{len(case.inputs)}")
def test_formulas(case: Own, isa: str) -> None:
    for known in forms(case):
        made = model(case, known)
        given = feeds(case, made)
        graph = graph_of(onnx_reader.read(made), {name: x.shape for name, x in given.items()})
        outputs = Runner(simplified(graph))(given)
        for i, y in enumerate(expected(case)):
            if y is not None:
                np.testing.assert_allclose(outputs[f"y{i}"], y, RTOL, ATOL, err_msg=f"output {i}, known {known}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{len(case.inputs)}")
def test_formulas_are_those_of_onnx_runtime(case: Own) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, which computes the same, is not installed")
    if not case.theirs:
        pytest.skip(f"ONNX Runtime has no {case.op} of this domain")
    made = model(case, True)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for theirs, y in zip(session.run(None, feeds(case, made)), [y for y in expected(case) if y is not None]):
        np.testing.assert_allclose(theirs, y, RTOL, ATOL)


def test_all_operators_have_cases() -> None:
    ours = {name.rpartition(".")[2] for name in supported_operators() if name.startswith(DOMAIN)}
    assert ours == {case.op for case in CASES} | set(MICROSOFT)
