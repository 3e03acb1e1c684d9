"""What is computed by convolutions and products of bytes and of few bits, and by an LSTM of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.vectors.cases_pointwise import by_function, case, drawn
from support.vectors.numbers import Array, F, Linear
from support.vectors.text import PLAIN_OPTIONS, Case

ENDS: list[tuple[Linear, Linear]] = [
    ((0.5, 0), (16.0, 255)),
    ((0.25, 255), (8.0, 0)),
    ((0.5, 128), (8.0, 7)),
    ((0.0625, 3), (1.3, 121)),
]


def options_of(layout: str = "nhwc", **changes: Any) -> dict[str, Any]:
    """Of a convolution."""
    return {**PLAIN_OPTIONS, "layout": layout, **changes}


def _image(rng: np.random.Generator, layout: str, channels: int, height: int, width: int) -> Array:
    return drawn(rng, np.uint8, *((1, height, width, channels) if layout == "nhwc" else (1, channels, height, width)))


def _weight(rng: np.random.Generator, layout: str, outputs: int, inputs: int, kernel: tuple[int, int]) -> Array:
    return drawn(rng, np.int8, *((*kernel, inputs, outputs) if layout == "nhwc" else (outputs, inputs, *kernel)))


#: Input channels, output channels, rows, columns, the kernel, and options.
GEOMETRIES: list[Any] = [
    (7, 5, 2, 3, (1, 1), {}),
    (3, 3, 4, 5, (3, 3), {"padding": (1, 1, 1, 1)}),
    (4, 6, 4, 5, (3, 2), {"group": 2, "stride": (2, 1), "padding": (1, 0, 2, 1)}),
    (5, 5, 3, 4, (3, 3), {"group": 5, "padding": (1, 1, 1, 1)}),
    (2, 3, 5, 6, (3, 3), {"dilation": (2, 2), "stride": (1, 2), "padding": (1, 1, 0, 2)}),
]


def convolution_cases(rng: np.random.Generator) -> list[Case]:
    """QLinearConv, and activations of bytes."""
    name, cases = "SimdSynetQuantizedConvolution", []
    for i, (inputs, outputs, height, width, kernel, changes) in enumerate(GEOMETRIES):
        layout = ("nhwc", "nchw")[i % 2]
        x, w = (
            _image(rng, layout, inputs, height, width),
            _weight(rng, layout, outputs, inputs // changes.get("group", 1), kernel),
        )
        scale = np.resize(np.array([0.0625, 0.01, 0.03125], F), outputs)
        bias = rng.integers(-999, 999, outputs, np.int32)
        src, dst = ENDS[i % 4]
        given: dict[str, Any] = {"x": x, "weight": w, "scale": scale, "bias": bias}
        cases.append(case(name, "a geometry", **given, linears=(src, dst, dst), options=options_of(layout, **changes)))
        more: Any = [
            ("relu", None),
            ("restrict_range", (-30.0, 600.0)),
            ("leaky_relu", (0.25,)),
            ("prelu", scale),
            ("relu", None),
        ][i]
        acted = options_of(layout, **changes, activation=more[0], params=more[1])
        cases.append(case(name, "bytes between", **given, linears=(src, (6.0, 100), dst), options=acted))
    for zero in (0, 1, 255):
        x = np.arange(35, dtype=np.uint8).reshape(1, 1, 35, 1)
        one: dict[str, Any] = {
            "weight": np.ones((1, 1, 1, 1), np.int8),
            "scale": np.array([0.5], F),
            "bias": np.zeros(1, np.int32),
        }
        linears = ((1.0, 16), (1.0, 0), (1.0, zero))
        cases.append(case(name, "ties, before the zero is added", x=x, **one, linears=linears, options=options_of()))
    for count in (1, 2, 3, 7, 300):
        x = np.full((1, 1, 5, count), 255, np.uint8)
        w = np.stack([np.full((1, 1, count), value, np.int8) for value in (127, -127, -128)], -1)
        scale, bias = np.full(3, 1 / count, F), np.zeros(3, np.int32)
        given = {"x": x, "weight": w, "scale": scale, "bias": bias}
        linears = ((1.0, 0), (1.0, 0), (255.0, 128))
        cases.append(case(name, "255 times 127, -127 and -128", **given, linears=linears, options=options_of()))
    x, w = np.full((1, 1, 1, 66400), 255, np.uint8), np.full((1, 1, 66400, 1), 127, np.int8)
    given = {"x": x, "weight": w, "scale": np.array([2.0**-24], F), "bias": np.zeros(1, np.int32)}
    linears = ((1.0, 0), (1.0, 0), (1.0, 200))
    cases.append(case(name, "a sum that wraps around", **given, linears=linears, options=options_of()))
    return cases


def merged_cases(rng: np.random.Generator) -> list[Case]:
    """Convolutions in sequence, and a sum."""
    cases = []
    expand, project = (
        {"kernel": 1, "dst_c": 5, "stride": 1, "padding": 0},
        {"kernel": 1, "dst_c": 3, "stride": 1, "padding": 0},
    )
    depthwise = {"kernel": 3, "dst_c": None, "stride": 1, "padding": 1}
    linears = [(0.5, 0), (4.0, 255), (2.0, 128), (1.0, 3), (1.0, 255)]
    shapes = [(1, 1, 3, 5), (3, 3, 1, 5), (1, 1, 5, 3)]
    weights = [drawn(rng, np.int8, *shape) for shape in shapes]
    scales = [np.resize(np.array([0.25, 0.0625, 0.03125], F), shape[-1]) for shape in shapes]
    biases = [rng.integers(-99, 99, shape[-1], np.int32) for shape in shapes]
    stages = [expand, depthwise, project]
    for first, last, residual in ((0, 3, ""), (0, 3, "result"), (0, 3, "source"), (0, 2, ""), (1, 3, "")):
        x = drawn(rng, np.uint8, 1, 3, 4, (3, 5)[first])
        parts = (each[first:last] for each in (stages, weights, scales, biases))
        given: dict[str, Any] = dict(zip(("stages", "weights", "scales", "biases"), parts))
        pairs = linears[first : last + 1 + bool(residual)]
        about = f"stages {first} to {last - 1}{', and the sum with the ' * bool(residual)}{residual}"
        cases.append(case("SimdSynetQuantizedMergedConvolution", about, x=x, **given, linears=pairs, residual=residual))
    return cases


def product_cases(rng: np.random.Generator) -> list[Case]:
    """Inner products of bytes."""
    cases = []
    for i, (rows, inputs, outputs) in enumerate(((1, 35, 3), (2, 5, 17), (3, 3, 3))):
        x, w = drawn(rng, np.uint8, rows, inputs), drawn(rng, np.int8, outputs, inputs)
        scale = np.resize(np.array([0.0625, 0.01, 0.03125], F), outputs)
        bias, (src, dst) = rng.integers(-999, 999, outputs, np.int32), ENDS[i]
        cases.append(case("SimdSynetQuantizedInnerProduct", "rows", x=x, weight=w, scale=scale, bias=bias, src=src, dst=dst))
        cases.append(case("SimdSynetInnerProduct8i", "rows", x=x, weight=w))
    for count in (1, 2, 3, 67, 66400):
        about = "255 times 127, -127 and -128" if count < 66400 else "sums that wrap around"
        x, w = np.full((1, count), 255, np.uint8), np.stack([np.full(count, value, np.int8) for value in (127, -127, -128)])
        cases.append(case("SimdSynetInnerProduct8i", about, x=x, weight=w))
        scale, bias = np.full(3, 2.0**-7 / count, F), np.zeros(3, np.int32)
        linears: dict[str, Any] = {"src": (1.0, 0), "dst": (2.0, 128)}
        cases.append(case("SimdSynetQuantizedInnerProduct", about, x=x, weight=w, scale=scale, bias=bias, **linears))
    return cases


def followed_cases(rng: np.random.Generator) -> list[Case]:
    """Tables of results, and sums of these with other bytes: ties, which the order of operands decides, and both ends."""
    name, cases = "SimdnetQuantizedSetParams", []
    table = (np.arange(256) * 77 % 251).astype(np.uint8)
    orders = [(where, first) for where in ("before", "after") for first in ("result first", "add first")]
    for i, order in enumerate(orders):
        layout, (inputs, outputs, group) = ("nhwc", "nchw")[i % 2], ((3, 5, 1), (5, 5, 5))[i // 2]
        shift, dtype = (0, np.uint8) if i % 3 else (128, np.int8)
        x, w = _image(rng, layout, inputs, 2, 3), _weight(rng, layout, outputs, inputs // group, (1, 1))
        scale = np.resize(np.array([0.0625, 0.01, 0.03125], F), outputs)
        given: dict[str, Any] = {"x": x, "weight": w, "scale": scale, "linears": ENDS[i], "rows": False}
        given["options"] = options_of(layout, group=group)
        add = _image(rng, layout, outputs, 2, 3).view(dtype)
        pairs = [((0.5, 0), (0.25, 255), (1.0, 128)), ((0.3, 7), (0.7, 255), (0.9, 0))][i % 2]
        sums = [(step, zero - shift) for step, zero in pairs]
        about = f"a sum of {np.dtype(dtype).name} {order[0]} the table, {order[1]}, zeros at the ends"
        cases.append(case(name, about, **given, table=table, sums=sums, add=add, order=order))
    given = {"x": np.arange(64, dtype=np.uint8).reshape(1, 4, 16, 1), "weight": np.ones((1, 1, 1, 1), np.int8)}
    given |= {"scale": np.ones(1, F), "linears": ((1.0, 0), (1.0, 0)), "rows": False, "options": options_of()}
    near: dict[str, Any] = {"sums": [(0.6, 30), (0.2, 223), (1.2, 169)], "add": np.ones((1, 4, 16, 1), np.uint8)}
    for order in orders[:2]:
        about = f"near ties, which the order of operands decides, {order[1]}"
        cases.append(case(name, about, **given, table=None, **near, order=order))
    x, w, scale = drawn(rng, np.uint8, 3, 5), drawn(rng, np.int8, 7, 5), np.full(7, 0.0625, F)
    given = {"x": x, "weight": w, "scale": scale, "linears": ENDS[3], "rows": True, "options": options_of()}
    add, sums = drawn(rng, np.uint8, 3, 7), [(0.5, 0), (0.25, 255), (1.0, 128)]
    for order in orders[::3]:
        about = f"rows, a sum {order[0]} the table, {order[1]}"
        cases.append(case(name, about, **given, table=table, sums=sums, add=add, order=order))
    cases.append(case(name, "rows and a table", **given, table=table, sums=None, add=None, order=orders[3]))
    cases.append(case(name, "rows and a sum", **given, table=None, sums=sums, add=add, order=orders[3]))
    return cases


def statistics_cases(rng: np.random.Generator) -> list[Case]:
    """Convolutions of bytes by statistics."""
    cases = []
    for i, (inputs, outputs, height, width, kernel, changes) in enumerate(GEOMETRIES):
        layout = ("nchw", "nhwc")[i % 2]
        bytes_, w8 = (
            _image(rng, layout, inputs, height, width),
            _weight(rng, layout, outputs, inputs // changes.get("group", 1), kernel),
        )
        w = (w8 / F(64)).astype(F)
        w[(..., 0) if layout == "nhwc" else 0] = 0  # a channel of zeros
        low = np.zeros(inputs, F) if i % 2 else np.resize(np.array([-127, 0, -3], F), inputs)
        src = low, np.resize(np.array([99, 254, 0.5], F), inputs)
        dst = (
            np.zeros(outputs, F) if i % 3 == 0 else np.full(outputs, -90, F),
            np.resize(np.array([999, 255, 3000], F), outputs),
        )
        bias, activation = (rng.integers(-99, 99, outputs) / F(8)).astype(F), ("identity", "relu")[i % 2]
        options = options_of(layout, **changes, activation=activation)
        x = bytes_ if i % 4 < 2 else ((bytes_.astype(np.int32) - 100) / F(2)).astype(F)
        for dst_dtype in ("uint8", "float32")[i % 2 : 2 - (i > 0 and i % 2 == 0)]:
            about = f"{x.dtype.name} to {dst_dtype}"
            terms: dict[str, Any] = {"src": src, "dst": dst, "dst_dtype": dst_dtype, "options": options}
            cases.append(case("SimdSynetConvolution8i", about, x=x, weight=w, bias=bias, **terms))
    for count in (1, 3, 67):
        x, w = np.full((1, 1, 3, count), 255, np.uint8), np.ones((1, 1, count, 2), F) * np.array([1, -1], F)
        src, dst = (np.zeros(count, F), np.full(count, 255, F)), (np.full(2, -127, F), np.full(2, 127, F))
        given: dict[str, Any] = {"src": src, "dst": dst, "dst_dtype": "float32", "options": options_of()}
        cases.append(case("SimdSynetConvolution8i", "255 times 127 and -127", x=x, weight=w, bias=np.zeros(2, F), **given))
    return cases + _merged_8i(rng)


def _merged_8i(rng: np.random.Generator) -> list[Case]:
    """Steps of 1, weights of integers with 127 in each channel: all is exact in float."""
    cases = []
    stages = [
        {"kernel": 1, "dst_c": 5, "stride": 1, "padding": 0, "activation": "relu"},
        {"kernel": 3, "dst_c": None, "stride": 1, "padding": 1, "activation": "relu"},
        {"kernel": 1, "dst_c": 3, "stride": 1, "padding": 0},
    ]
    shapes = [(1, 1, 3, 5), (3, 3, 1, 5), (1, 1, 5, 3)]
    weights = [rng.integers(-4, 5, shape).astype(F) for shape in shapes]
    weights[0][0, 0, 1], weights[2][0, 0, 4] = 127, -127
    weights[1] /= F(512)
    biases = [rng.integers(-9, 9, shape[-1]).astype(F) for shape in shapes]

    def of(channels: int, low: float, high: float) -> tuple[Array, Array]:
        return np.full(channels, low, F), np.full(channels, high, F)

    for i, (first, last) in enumerate(((0, 3), (0, 3), (0, 2), (1, 3), (1, 3))):
        x = drawn(rng, np.uint8, 1, 3, 4, (3, 5)[first])
        source, dst_dtype = (
            ("uint8", "uint8"),
            ("float32", "float32"),
            ("uint8", "float32"),
            ("float32", "uint8"),
            ("uint8", "uint8"),
        )[i]
        given = x if source == "uint8" else (x.astype(F) - F(128))
        parts = (each[first:last] for each in (stages, weights, biases))
        args: dict[str, Any] = dict(zip(("stages", "weights", "biases"), parts))
        stats = [of(x.shape[-1], -127, 127), of(5, 0, 255), of(3 if last == 3 else 5, -127 * 64, 127 * 64)]
        about = f"stages {first} to {last - 1}, {source} to {dst_dtype}"
        cases.append(case("SimdSynetMergedConvolution8i", about, x=given, **args, stats=stats, dst_dtype=dst_dtype))
    return cases


def gemm_cases(rng: np.random.Generator) -> list[Case]:
    """MatMulInteger, MatMulIntegerToFloat and QLinearMatMul: all pairs of types, zeros at their ends."""
    name, cases = "SimdnetQuantizedGemm", []
    for i, (a_type, b_type) in enumerate(
        ((np.uint8, np.int8), (np.int8, np.int8), (np.uint8, np.uint8), (np.int8, np.uint8))
    ):
        m, k, n = ((3, 19, 7), (1, 35, 5), (2, 6, 17), (5, 3, 3))[i]
        a, b = drawn(rng, a_type, m, k), drawn(rng, b_type, k, n)
        limits = np.iinfo(a_type), np.iinfo(b_type)
        one = np.array(limits[0].max, a_type), np.array(limits[1].min, b_type)
        each = (
            np.resize(np.array([limits[0].min, limits[0].max, 3], a_type), (m, 1)),
            np.resize(np.array([limits[1].max, 5], b_type), n),
        )
        scales = np.resize(np.array([0.5, 0.25], F), (m, 1)), np.resize(np.array([0.0625, 0.01], F), n)
        bias, about = rng.integers(-999, 999, n, np.int32), f"{np.dtype(a_type).name} by {np.dtype(b_type).name}"
        given: dict[str, Any] = {"a": a, "b": b}
        cases.append(case(name, about, **given, zeros=one, scales=None, bias=None, dst=None, dtype="int32"))
        if i == 0:
            cases.append(
                case(
                    name,
                    f"{about}, each row and column",
                    **given,
                    zeros=each,
                    scales=None,
                    bias=bias,
                    dst=None,
                    dtype="int32",
                )
            )
        cases.append(
            case(
                name,
                f"{about}, floats",
                **given,
                zeros=each,
                scales=scales,
                bias=(bias / F(8)).astype(F),
                dst=None,
                dtype="float32",
            )
        )
        for dtype, to in (("uint8", (2.0, 255)), ("int8", (0.3, -128)))[i % 2 :: 2]:
            cases.append(case(name, f"{about}, bytes", **given, zeros=each, scales=scales, bias=bias, dst=to, dtype=dtype))
    zeros, scales = (np.array(0, np.uint8), np.array(0, np.int8)), (np.array(0.5, F), np.array(1, F))
    for about, a, b, dst in (
        (
            "ties, before the zero is added",
            np.arange(35, dtype=np.uint8)[:, None],
            np.array([[1, -1, 3]], np.int8),
            (1.0, 7),
        ),
        (
            "255 times 127, -127 and -128",
            np.full((2, 67), 255, np.uint8),
            np.resize(np.array([127, -127, -128], np.int8), (67, 3)),
            (8192.0, 128),
        ),
        ("sums that wrap around", np.full((1, 66400), 255, np.uint8), np.full((66400, 2), 127, np.int8), (2.0**24, 9)),
    ):
        given = {"a": a, "b": b, "zeros": zeros}
        cases.append(case(name, about, **given, scales=None, bias=None, dst=None, dtype="int32"))
        cases.append(case(name, about, **given, scales=scales, bias=None, dst=dst, dtype="uint8"))
    huge = np.array(3e38, F), np.array(3e38, F)
    given = {"a": np.array([[0], [1], [2]], np.uint8), "b": np.array([[0, 1, -1]], np.int8), "zeros": zeros, "scales": huge}
    cases.append(case(name, "scales that overflow: NaN is the least", **given, bias=None, dst=(1.0, 5), dtype="int8"))
    cases.append(case(name, "scales that overflow", **given, bias=None, dst=None, dtype="float32"))
    return cases


def few_bits_cases(rng: np.random.Generator) -> list[Case]:
    """MatMulNBits."""
    name, cases = "SimdnetGemmNBits", []
    for bits, block, depth, rows, outputs in ((4, 16, 35, 1, 5), (4, 32, 33, 3, 3), (8, 16, 19, 2, 3), (4, 32, 32, 1, 17)):
        blocks = -(-depth // block)
        weight = rng.integers(0, 256, (outputs, blocks, block * bits // 8), np.uint8)
        zero = rng.integers(0, 256, (outputs, -(-blocks * bits // 8)), np.uint8)
        scale = np.resize(np.array([0.5, 0.25, 1, 0.125, 2], F), (outputs, blocks))
        bias = rng.integers(-9, 9, outputs).astype(F)
        x = rng.integers(-126, 127, (rows, depth)).astype(F)
        x[:, ::block] = 127  # the step of each block is 1
        for terms in ({"zero": zero, "bias": bias}, {"zero": None, "bias": None})[: 2 - bits // 8]:
            for quantised in (False, True):
                given: dict[str, Any] = {"weight": weight, "scale": scale, **terms, "bits": bits, "quantised": quantised}
                cases.append(case(name, "integers, whose sums are exact", True, x=x, **given))
        for quantised in (False, True)[: 3 - rows]:
            tenths = np.resize(np.array([0.1, 0.3, 0.7], F), scale.shape)
            given = {"weight": weight, "scale": tenths, "zero": zero, "bias": bias, "bits": bits, "quantised": quantised}
            cases.append(case(name, "sums of floats", x=x, **given))
    halves = np.zeros((1, 32), F)
    halves[0, :9], halves[0, 16:20] = (127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5, -126.5), (-254, 1, 3, 5)
    weight = rng.integers(0, 256, (3, 2, 16), np.uint8)
    given = {"weight": weight, "scale": np.full((3, 2), 0.5, F), "zero": None, "bias": None, "bits": 8, "quantised": True}
    cases.append(case(name, "ties of the source", True, x=halves, **given))
    cases.append(case(name, "a block of zeros", True, x=np.where(np.arange(32) < 16, 0, halves).astype(F), **given))
    for value in (np.nan, np.inf):
        cases.append(case(name, "a block with what is not finite", x=np.where(halves == 127, F(value), halves), **given))
    return cases


def recurrent_cases(rng: np.random.Generator) -> list[Case]:
    """DynamicQuantizeLSTM."""
    cases = []
    for dtype, each in ((np.int8, True), (np.uint8, False)):
        directions, inputs, hidden = 2, 5, 3
        x = (rng.integers(-99, 99, (2, 2, inputs)) / F(32)).astype(F)
        weight, recurrent = (drawn(rng, dtype, directions, size, 4 * hidden) for size in (inputs, hidden))
        shape = (directions, 4 * hidden) if each else (directions,)
        scales = [(rng.integers(3, 9, shape) / F(1024)).astype(F) for _ in range(2)]
        zeros = [
            rng.integers(100, 150, shape, np.uint8) if dtype is np.uint8 else np.zeros(shape, np.int8) for _ in range(2)
        ]
        bias = (rng.integers(-64, 64, (directions, 8 * hidden)) / F(64)).astype(F)
        given: dict[str, Any] = {
            "x": x,
            "weight": weight,
            "recurrent": recurrent,
            "scales": scales,
            "zeros": zeros,
            "bias": bias,
        }
        about = f"weights of {np.dtype(dtype).name}, in both directions"
        found = case("SimdnetRecurrentSetQuantizedParams", about, **given)
        cases.append(found._replace(within=1e-5))
    return cases


def products_cases() -> list[Case]:
    rng = np.random.default_rng(39)
    parts = (
        convolution_cases, merged_cases, product_cases, statistics_cases, gemm_cases, few_bits_cases, recurrent_cases,
        followed_cases,
    )  # fmt: skip
    return by_function([each for part in parts for each in part(rng)])
