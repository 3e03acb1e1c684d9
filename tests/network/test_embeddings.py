"""Embeddings and attention of com.microsoft, of floats and of bytes, with masks and a past: formulas in NumPy, and ONNX
Runtime where it is installed.

Each case is converted with what must be known as weights, and with all but the first input as weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", "1.16")

ml_dtypes = pytest.importorskip("ml_dtypes")

from onnx import helper  # noqa: E402

from pysimd.network import onnx_reader  # noqa: E402
from pysimd.network.convert import graph_of  # noqa: E402
from pysimd.network.passes import simplified  # noqa: E402
from pysimd.network.runner import Runner  # noqa: E402
from pysimd.network.unsupported import UnsupportedModel  # noqa: E402

DOMAIN = "com.microsoft"
RTOL, ATOL = 1e-4, 2e-5
_RNG = np.random.default_rng(39)


class Own(NamedTuple):
    """A node: its inputs, the formula of its outputs, and the inputs that must be weights."""

    op: str
    inputs: Sequence[Any]
    formula: Callable[..., Any]
    known: Sequence[int]
    attributes: dict[str, Any] = {}  # noqa: RUF012  nothing writes to it


def floats(*shape: int) -> Any:
    return _RNG.standard_normal(shape, np.float32)


def bytes_of(dtype: str, *shape: int) -> Any:
    limits = np.iinfo(dtype)
    return _RNG.integers(limits.min, limits.max + 1, shape).astype(dtype)


def number(x: float, dtype: str = "float32") -> Any:
    return np.array([x], dtype)


# ---- attention

BATCH, ROWS, WIDTH, HEADS = 2, 3, 8, 2


def mask_bias(mask: Any, columns: int, least: float) -> Any:
    """What is added to scores, for each form of a mask."""
    if mask is None:
        return 0.0
    if mask.ndim == 1:
        places, ends = np.arange(columns), mask[:BATCH, None]
        starts = mask[BATCH:, None] if mask.size > BATCH else np.zeros((BATCH, 1), int)
        seen = ((places < ends) & (places >= starts))[:, None, None]
    else:
        seen = mask[:, None, None] > 0 if mask.ndim == 2 else mask[:, None] > 0
    return np.where(seen, 0.0, least)


def attention(product: Any, mask: Any, past: Any, causal: bool, least: float) -> Any:
    q, k, v = (x.reshape(BATCH, ROWS, HEADS, -1).transpose(0, 2, 1, 3) for x in np.split(product, 3, 2))
    before = 0
    if past is not None:
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
        before = past.shape[3]
    scores = q @ k.swapaxes(2, 3) / math.sqrt(q.shape[3]) + mask_bias(mask, k.shape[2], least)
    if causal:
        columns = np.arange(k.shape[2])
        scores = np.where(columns > np.arange(ROWS)[:, None] + before, -np.inf, scores)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    y = shares / shares.sum(-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(BATCH, ROWS, -1), np.stack([k, v])


def of_floats(causal: bool = False, least: float = -10000.0) -> Callable[..., Any]:
    def computed(x: Any, w: Any, bias: Any, mask: Any = None, past: Any = None) -> Any:
        return attention(x @ w + bias, mask, past, causal, least)

    return computed


def of_bytes(causal: bool = False) -> Callable[..., Any]:
    def computed(
        x: Any, w: Any, b: Any, sx: Any, sw: Any, mask: Any = None, zx: Any = 0, zw: Any = 0, past: Any = None
    ) -> Any:
        sums = (x.astype(np.int64) - np.int64(zx)) @ (w.astype(np.int64) - np.int64(zw))
        return attention(sums * (sx.astype(np.float64) * sw) + b, mask, past, causal, -10000.0)

    return computed


ENDS = np.array([3, 2], np.int32)
BOTH = np.array([5, 4, 1, 0], np.int32)
COLUMNS = np.array([[1, 1, 0], [1, 0, 1]], np.int32)
PAST = floats(2, BATCH, HEADS, 2, WIDTH // HEADS)
SQUARE = (_RNG.random((BATCH, ROWS, ROWS)) < 0.7).astype(np.int32)
SQUARE[..., 0] = 1


def attentions() -> list[Own]:
    x, w, b = floats(BATCH, ROWS, WIDTH), floats(WIDTH, 3 * WIDTH), floats(3 * WIDTH)
    heads, found = {"num_heads": HEADS}, []
    for mask in (ENDS, COLUMNS, SQUARE):
        found.append(Own("Attention", [x, w, b, mask], of_floats(), (1, 2), heads))
    found.append(Own("Attention", [x, w, b, COLUMNS], of_floats(least=-3.0), (1, 2), {**heads, "mask_filter_value": -3.0}))
    found.append(Own("Attention", [x, w, b, BOTH, PAST], of_floats(), (1, 2), heads))
    found.append(Own("Attention", [x, w, b, None, PAST], of_floats(True), (1, 2), {**heads, "unidirectional": 1}))
    for one, two in (("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")):
        xq, wq, zero = bytes_of(one, BATCH, ROWS, WIDTH), bytes_of(two, WIDTH, 3 * WIDTH), number(7, one)
        every = np.abs(floats(3 * WIDTH)) * np.float32(0.01) + np.float32(1e-3)
        scales, many = (number(0.02), number(0.011)), (number(0.02), every)
        found.append(Own("QAttention", [xq, wq, b, *scales], of_bytes(), (2, 3, 4), heads))
        given = [xq, wq, b, *scales, ENDS, zero, number(3, two)]
        found.append(Own("QAttention", given, of_bytes(), (2, 3, 4, 6, 7), heads))
        with_past = [xq, wq, b, *many, None, zero, np.full(3 * WIDTH, 2, two), PAST]
        found.append(Own("QAttention", with_past, of_bytes(True), (2, 3, 4, 6, 7), {**heads, "unidirectional": 1}))
    return found


# ---- embeddings

WORDS = np.array([[3, 0, 6, 1], [2, 2, 5, 4]], np.int32)
SEGMENTS = np.array([[0, 0, 1, 1], [1, 0, 1, 0]], np.int32)
POSITIONS = np.array([[4, 1, 0, 2], [3, 3, 2, 1]], np.int32)
SEEN = np.array([[1, 1, 1, 0], [1, 0, 0, 0]], np.int32)


def norm(x: Any, scale: Any, bias: Any, eps: float = 1e-5) -> Any:
    apart = x - x.mean(-1, keepdims=True)
    return apart / np.sqrt((apart**2).mean(-1, keepdims=True) + eps) * scale + bias


def embedded(
    words: Any, segments: Any, w: Any, p: Any, s: Any, scale: Any, bias: Any, mask: Any = None, at: Any = None
) -> Any:
    total = w[words] + (p[: words.shape[1]] if at is None else p[at]) + (0 if segments is None else s[segments])
    counts = np.zeros(len(words), np.int32) if mask is None else mask.sum(1).astype(np.int32)
    return norm(total, scale, bias), counts, total


def embedded_bytes(words: Any, segments: Any, *given: Any) -> Any:
    tables, mask, scales, zeros = given[:5], given[5], given[6:11], given[11:]
    real = [
        None if each is None else (each.astype(np.float64) - np.float64(zero)) * scale.astype(np.float64)
        for each, scale, zero in zip(tables, scales, zeros)
    ]
    w, p, s, scale, bias = real
    return embedded(words, segments, w, p, s, scale, bias, mask)[:2]


def embeddings() -> list[Own]:
    tables = [floats(7, 8), floats(6, 8), floats(2, 8), floats(8), floats(8)]
    eps, found = {"epsilon": 1e-5}, []
    for segments in (SEGMENTS, None):
        used = [table if segments is not None or i != 2 else None for i, table in enumerate(tables)]
        for mask in (SEEN, None):
            found.append(Own("EmbedLayerNormalization", [WORDS, segments, *used, mask], embedded, (), eps))
        found.append(Own("EmbedLayerNormalization", [WORDS, segments, *used, SEEN, POSITIONS], embedded, (), eps))
    for dtype in ("uint8", "int8"):
        shapes = ((7, 8), (6, 8), (2, 8), (8,), (8,))
        data = [bytes_of(dtype, *shape) for shape in shapes]
        scales = [np.array(each, np.float32) for each in (0.02, 0.01, 0.03, 0.007, 0.005)]
        zeros = [np.array(each, dtype) for each in (120, 3, 77, 100, 15)]
        for mask in (SEEN, None):
            given = [WORDS, SEGMENTS, *data, mask, *scales, *zeros]
            found.append(Own("QEmbedLayerNormalization", given, embedded_bytes, range(8, 18), eps))
    return found


def gathered(bits: int, block: int, axis: int, along: int, packed: bool) -> Callable[..., Any]:
    """Element by element."""

    def at(data: Any, place: tuple[int, ...]) -> int:
        if not packed or bits == 8:  # or of a type of a few bits
            return int(data[place])
        many = 8 // bits
        return int(data[(*place[:-1], place[-1] // many)]) >> place[-1] % many * bits & (1 << bits) - 1

    def computed(data: Any, indices: Any, scale: Any, zero: Any = None) -> Any:
        shape = list(data.shape)
        shape[-1] *= 8 // bits if packed else 1
        whole = np.zeros(shape)
        for place in np.ndindex(*shape):
            of = tuple(n // block if i == along else n for i, n in enumerate(place))
            default = 1 << (bits - 1) if packed else 0
            whole[place] = (at(data, place) - (default if zero is None else at(zero, of))) * float(scale[of])
        return np.take(whole, indices, axis)

    return computed


def gathers() -> list[Own]:
    indices, found = np.array([[4, 0], [1, 1]], np.int64), []
    for size, zeros in ((32, False), (48, True), (40, True), (16, True)):
        blocks = -(-size // 16)
        scale = np.abs(floats(5, blocks)) + np.float32(0.01)
        given = [bytes_of("uint8", 5, size // 2), indices, scale]
        given += [bytes_of("uint8", 5, -(-blocks // 2))] if zeros else []
        attributes = {"bits": 4, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
        found.append(Own("GatherBlockQuantized", given, gathered(4, 16, 0, 1, True), (0, 2, 3), attributes))
    attributes = {"bits": 8, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    given = [bytes_of("uint8", 5, 32), indices, np.abs(floats(5, 2)), bytes_of("uint8", 5, 2)]
    found.append(Own("GatherBlockQuantized", given, gathered(8, 16, 0, 1, True), (0, 2, 3), attributes))
    found.append(Own("GatherBlockQuantized", given[:3], gathered(8, 16, 0, 1, True), (0, 2), attributes))
    for dtype, along, axis in (("int4", 1, 0), ("uint4", 0, 1), ("uint4", 2, 0)):
        shape, scales = [5, 6, 18], [5, 6, 18]
        scales[along] = -(-shape[along] // 16)
        data, zero = (_RNG.integers(0, 8, each).astype(getattr(ml_dtypes, dtype)) for each in (shape, scales))
        attributes = {"block_size": 16, "gather_axis": axis, "quantize_axis": along}
        formula = gathered(4, 16, axis, along, False)
        found.append(Own("GatherBlockQuantized", [data, indices, floats(*scales), zero], formula, (0, 2, 3), attributes))
        found.append(Own("GatherBlockQuantized", [data, indices, floats(*scales)], formula, (0, 2), attributes))
    return found


CASES = [*attentions(), *embeddings(), *gathers()]


def model(case: Own, known: Sequence[int]) -> Any:
    """known : the inputs that are weights."""
    given = {f"x{i}": x for i, x in enumerate(case.inputs) if x is not None}
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(case.inputs)]
    outputs = [f"y{i}" for i in range(len(expected(case)))]
    node = helper.make_node(case.op, names, outputs, case.op, domain=DOMAIN, **case.attributes)
    weights = [f"x{i}" for i in known if f"x{i}" in given]
    types = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in given.items()}
    graph = helper.make_graph(
        [node],
        "own",
        [helper.make_tensor_value_info(name, types[name], x.shape) for name, x in given.items() if name not in weights],
        [
            helper.make_tensor_value_info(name, 6 if y.dtype == np.int32 else 1, None)
            for name, y in zip(outputs, expected(case))
        ],
        [onnx.numpy_helper.from_array(given[name], name) for name in weights],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def expected(case: Own) -> list[Any]:
    wide = (x.astype(np.float64) if x is not None and x.dtype == np.float32 else x for x in case.inputs)
    found = case.formula(*wide)
    return list(found) if isinstance(found, tuple) else [found]


def feeds(case: Own, made: Any) -> dict[str, Any]:
    return {value.name: case.inputs[int(value.name[1:])] for value in made.graph.input}


def _name(case: Own) -> str:
    return f"{case.op}-{'-'.join('' if x is None else x.dtype.name + 'x'.join(map(str, x.shape)) for x in case.inputs)}"


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_formulas(case: Own, isa: str) -> None:
    for known in (case.known, [i for i in range(len(case.inputs)) if i != (1 if case.op.startswith("Gather") else 0)]):
        made = model(case, known)
        given = feeds(case, made)
        graph = graph_of(onnx_reader.read(made), {name: x.shape for name, x in given.items()})
        outputs = Runner(simplified(graph))(given)
        for i, y in enumerate(expected(case)):
            assert outputs[f"y{i}"].dtype == (np.int32 if y.dtype == np.int32 else np.float32)
            np.testing.assert_allclose(outputs[f"y{i}"], y, RTOL, ATOL, err_msg=f"output {i}, known {known}")


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_formulas_are_those_of_onnx_runtime(case: Own) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, which computes the same, is not installed")
    if case.op == "QAttention" and case.inputs[0].dtype == np.int8:
        pytest.skip("ONNX Runtime has it of uint8 only")
    made = model(case, case.known)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for theirs, y in zip(session.run(None, feeds(case, made)), expected(case)):
        np.testing.assert_allclose(theirs, y, RTOL, ATOL)


def test_what_does_not_fit_is_refused() -> None:
    gather = gathers()[0]
    same = gather._replace(attributes={**gather.attributes, "gather_axis": 1})
    wide = attentions()[0]
    mask = wide._replace(inputs=[*wide.inputs[:3], np.ones((2, 2, 2, 2), np.int32)])
    for case, message in ((same, "gather_axis another than quantize_axis"), (mask, "the mask has shape")):
        made = model(case._replace(formula=lambda *given: np.zeros(1, np.float32)), case.known)
        with pytest.raises(UnsupportedModel, match=message):
            graph_of(onnx_reader.read(made), {name: x.shape for name, x in feeds(case, made).items()})
