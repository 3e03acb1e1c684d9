"""What is computed by functions of elements, of channels and of windows of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.vectors.formulas import FORMULAS
from support.vectors.numbers import Array, F
from support.vectors.text import Case

SPECIAL = np.array([np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 1e-45, -1e-45, 0, -0.0, 2147483648, -2147483904, 16777217], F)
LAYOUTS = "nhwc", "nchw"


def case(function: str, about: str, exact: bool = False, **given: Any) -> Case:
    """With what the formula computes. exact : sums of floats have no error."""
    results, within = FORMULAS[function](**given)
    return Case(function, about, given, results, 0 if exact else within)


def by_function(cases: list[Case]) -> list[Case]:
    """Those of a function one after the other."""
    order = list(dict.fromkeys(each.function for each in cases))
    return sorted(cases, key=lambda each: order.index(each.function))


def drawn(rng: np.random.Generator, dtype: Any, *shape: int) -> Array:
    """Bytes, the least and the greatest among them."""
    x = rng.integers(0, 256, shape, np.uint8)
    x.reshape(-1)[:4] = (0, 255, 127, 128)[: x.size]
    return x.view(dtype)


def floats(rng: np.random.Generator, *shape: int) -> Array:
    """Of few digits, which are short to write."""
    return (rng.integers(-199, 200, shape) / F(8)).astype(F)


def zero(value: int, dtype: Any = np.uint8) -> Array:
    return np.array(value, dtype)


def linear_cases(rng: np.random.Generator) -> list[Case]:
    """QuantizeLinear and DequantizeLinear."""
    name, one = "SimdnetQuantizeLinear", np.array(0.5, F)
    quarters = ((np.arange(35) - 17) / F(4)).astype(F)
    cases = []
    for z in (zero(0), zero(7), zero(255), zero(-128, np.int8), zero(-3, np.int8), zero(127, np.int8)):
        cases.append(case(name, "ties, before the zero is added", x=quarters, scale=one, zero=z, axis=None))
        if z != 7 and z != -3:
            about, every = "NaN, infinities and what is beyond the range", np.tile(SPECIAL, 2)[:19]
            cases.append(case(name, about, x=every, scale=one, zero=z, axis=None))
    tenths = ((np.arange(35) - 17.5) * F(0.1)).astype(F)
    cases.append(
        case(name, "quotients, which products do not give", x=tenths, scale=np.array(0.1, F), zero=zero(128), axis=None)
    )
    for scale in (3e38, 1e-38, 1e-45):
        x = np.array([0, 1, -1, 3e38, -3e38, 1e-38, np.nan], F)
        cases.append(
            case(name, "quotients that overflow and underflow", x=x, scale=np.array(scale, F), zero=zero(9), axis=None)
        )
    x = floats(rng, 1, 3, 19)
    for axis in (1, 2):
        count = x.shape[axis]
        scales, zeros = np.resize(np.array([0.25, 0.3, 2], F), count), np.resize(np.array([-128, 127, 5], np.int8), count)
        cases.append(case(name, "for each channel", x=x, scale=scales, zero=zeros, axis=axis))
        y = drawn(rng, np.int8, *x.shape)
        cases.append(case("SimdnetDequantizeLinear", "for each channel", x=y, scale=scales, zero=zeros, axis=axis))
    every_byte = np.arange(0, 256, 15, dtype=np.uint8)
    for z in (zero(0), zero(255), zero(-128, np.int8), zero(127, np.int8)):
        about = "zeros at the ends"
        cases.append(
            case("SimdnetDequantizeLinear", about, x=every_byte.view(z.dtype), scale=np.array(0.3, F), zero=z, axis=None)
        )
    huge = np.array(3e38, F)
    cases.append(
        case("SimdnetDequantizeLinear", "overflow", x=drawn(rng, np.uint8, 9), scale=huge, zero=zero(128), axis=None)
    )
    return cases


def norm_cases(rng: np.random.Generator) -> list[Case]:
    """The same by factors."""
    name, quarters, cases = "SimdSynetQuantizeLinear", ((np.arange(35) - 17) / F(4)).astype(F), []
    for place in (0, 3, 255, -8388608, 8388608):
        cases.append(case(name, "ties; zeros that are no bytes", x=quarters, norm=np.array(2, F), zero=place))
    cases.append(
        case(name, "NaN, infinities and what is beyond the range", x=np.tile(SPECIAL, 2)[:19], norm=np.array(2, F), zero=7)
    )
    cases.append(
        case(
            name,
            "products, which are no quotients",
            x=((np.arange(35) - 17.5) * F(0.1)).astype(F),
            norm=np.array(10, F),
            zero=128,
        )
    )
    for bias in (0, -255, -128, 8388608):
        x = np.arange(0, 256, 15, dtype=np.uint8)
        cases.append(case("SimdSynetDequantizeLinear", "biases at the ends", x=x, norm=np.array(0.3, F), bias=bias))
    return cases


def dynamic_cases(rng: np.random.Generator) -> list[Case]:
    """Scales and zeros of the range of the source."""
    name = "SimdnetDynamicQuantize"
    given = {
        "ties of bytes and of the zero": [-253, 257, 0, 1, 2, 3, 4, 5],
        "zeros alone": [0, -0.0, 0],
        "one number below 0": [-3],
        "one number above 0": [7],
        "numbers below 0": [-255, -1],
        "NaN is left out of the range, and becomes 0": [np.nan, 127, -128],
        "NaN alone": [np.nan],
        "an infinity": [np.inf, 1, -2],
        "infinities": [-np.inf, np.inf, 3],
        "a range that overflows": [3e38, -3e38, 1],
        "a range that underflows": [1e-45, 0, -1e-44],
        "nothing": [],
    }
    cases = [case(name, about, x=np.array(numbers, F)) for about, numbers in given.items()]
    for shift in (0, -9, 40):
        cases.append(case(name, "more than a vector", x=(floats(rng, 3, 13) + F(shift)).astype(F)))
    return cases


def channel_cases(rng: np.random.Generator) -> list[Case]:
    """Conversions, scales and sums with coefficients of channels."""
    cases = []
    for layout in LAYOUTS:
        shape = (1, 3, 3, 5) if layout == "nhwc" else (1, 5, 1, 9)
        scale, shift = np.array([0.5, 2, -1, 0.3, 3e38], F), np.array([0, 128, 255, 3.5, 0], F)
        x = floats(rng, *shape)
        x.reshape(-1)[: 2 * SPECIAL.size] = np.tile(SPECIAL, 2)
        terms: dict[str, Any] = {"scale": scale, "shift": shift, "layout": layout}
        for narrowed in (False, True):
            cases.append(case("SimdSynetConvert32fTo8u", "ties, NaN, infinities", x=x, **terms, narrowed=narrowed))
        y = drawn(rng, np.uint8, *shape)
        cases.append(case("SimdSynetConvert8uTo32f", "products and sums", x=y, **terms))
        coefficients = [
            np.resize(np.array(each, F), 5)
            for each in ([0.5, 1, 0.3], [0, -128, 1.5], [0.25, 1, 0.7], [3, -9], [1, 0.5, 2], [0, 90])
        ]
        for narrowed in (False, True):
            cases.append(
                case(
                    "SimdSynetAdd8i",
                    "ties and both ends",
                    a=y,
                    b=y.reshape(-1)[::-1].reshape(shape).copy(),
                    coefficients=coefficients,
                    layout=layout,
                    narrowed=narrowed,
                )
            )
        coefficients = [np.array([np.inf, 1, np.nan, 3e38, 1e-45], F), *coefficients[1:]]
        cases.append(
            case(
                "SimdSynetAdd8i",
                "NaN is 0",
                a=y,
                b=y.reshape(-1)[::-1].reshape(shape).copy(),
                coefficients=coefficients,
                layout=layout,
                narrowed=False,
            )
        )
        cases += _scales_8i(x=np.clip(np.nan_to_num(x), -99, 99).astype(F), y=y, layout=layout)
    return cases


def _scales_8i(x: Array, y: Array, layout: str) -> list[Case]:
    cases = []
    scale, bias = np.array([1, 0.5, -2, 0.3, 0], F), np.array([0, 3.5, -100, 7, 9], F)
    below, above = np.array([-127, 0, -3, 0, -9], F), np.array([50, 254, 3, 0, 1], F)
    for source in (x, y):
        for i, dst_dtype in enumerate(("uint8", "float32")):
            signed = i == (source.dtype == np.uint8)
            src, dst = (below if signed else np.zeros_like(below), above), (np.zeros_like(below) if signed else below, above)
            given: dict[str, Any] = {"src": src, "dst": dst, "layout": layout, "dst_dtype": dst_dtype}
            about = f"{source.dtype.name} to {dst_dtype}; a channel of zeros"
            cases.append(case("SimdSynetScale8i", about, x=source, scale=scale, bias=bias if signed else None, **given))
    return cases


#: Scales and zeros of two sources and of a result: products that are exact, for ties; zeros at the ends; others.
LINEARS: list[Any] = [
    (((0.5, 0), (0.25, 255)), (0.5, 3)),
    (((1.0, 255), (0.5, 0)), (1.0, 255)),
    (((0.5, 128), (0.5, 127)), (1.0, 0)),
    (((0.013, 3), (0.3, 77)), (0.11, 128)),
]


def quantised_cases(rng: np.random.Generator) -> list[Case]:
    """Sums and products of two tensors, of layers with coefficients, and of parts."""
    cases = []
    a, b, x, y = drawn(rng, np.uint8, 35), drawn(rng, np.uint8, 35)[::-1].copy(), floats(rng, 19), floats(rng, 19)
    for relu in (False, True):
        for src, dst in LINEARS[:: 1 + relu]:
            cases.append(case("SimdSynetQuantizedAdd", "bytes", a=a, b=b, src=src, dst=dst, relu=relu))
    for types in range(7):
        src, dst = LINEARS[types % 4]
        pairs = [pair if types >> i & 1 else None for i, pair in enumerate((*src, dst))]
        given: dict[str, Any] = {
            name: bytes_[:19] if pair else each for name, pair, bytes_, each in zip("ab", pairs, (a, b), (x, y))
        }
        cases.append(case("SimdSynetQuantizedAdd", "with floats", **given, src=pairs[:2], dst=pairs[2], relu=types % 2 == 0))
    for dtype, shift in ((np.uint8, 0), (np.int8, 128)):
        for operation in ("add", "multiply"):
            for pair in LINEARS:
                src = [(scale, place - shift) for scale, place in pair[0]]
                terms: dict[str, Any] = {"operation": operation, "src": src, "dst": (pair[1][0], pair[1][1] - shift)}
                about = f"{np.dtype(dtype).name}, ties, zeros at the ends"
                cases.append(case("SimdnetQuantizedBinary", about, a=a.view(dtype), b=b.view(dtype), **terms))
    rows, column = drawn(rng, np.uint8, 3, 19), drawn(rng, np.uint8, 3, 1)
    src, dst = LINEARS[0]
    about = "a column and rows"
    cases.append(case("SimdnetQuantizedBinary", about, operation="multiply", a=column, b=rows, src=src, dst=dst))
    for i, (src, dst) in enumerate(LINEARS):
        cases += _layers(rng, src, dst, LAYOUTS[i % 2])
    pair = (3e38, 0)
    a, b = np.resize(np.array([0, 1, -1], np.int8), 35), np.ones(35, np.int8)
    cases.append(
        case(
            "SimdnetQuantizedBinary",
            "scales that overflow: NaN is the least",
            operation="multiply",
            a=a,
            b=b,
            src=(pair, pair),
            dst=(1e-38, 5),
        )
    )
    return cases


def _layers(rng: np.random.Generator, src: Any, dst: Any, layout: str) -> list[Case]:
    def image(channels: int) -> Array:
        return drawn(rng, np.uint8, *((2, 3, channels) if layout == "nhwc" else (channels, 1, 9)))

    x, slope, bias = image(5), np.array([0.5, -1, 0, 2, 0.3], F), np.array([0.25, 0, -3, 100, 0.1], F)
    given: dict[str, Any] = {"src": src[0], "dst": dst, "layout": layout}
    cases = [case("SimdSynetQuantizedPreluLayerForward", "slopes of both signs", x=x, slope=slope, **given)]
    for terms in (bias, None):
        cases.append(
            case(
                "SimdSynetQuantizedScaleLayerForward",
                "products and sums, rounded once",
                x=x,
                scale=slope,
                bias=terms,
                **given,
            )
        )
    given["src"] = src
    parts = [image(4), image(2)]
    cases.append(
        case(
            "SimdSynetQuantizedShuffleLayerForward", "even and odd channels", a=parts[0], b=parts[1], **given, channels=None
        )
    )
    halves = [image(3), image(3)]
    cases.append(
        case("SimdSynetQuantizedShuffleLayerForward", "the inverse", a=halves[0], b=halves[1], **given, channels=(4, 2))
    )
    axis = 2 if layout == "nhwc" else 0
    cases.append(case("SimdSynetQuantizedConcatLayerForward", "channels", arrays=parts, axis=axis, src=src, dst=dst))
    return cases


def table_cases(rng: np.random.Generator) -> list[Case]:
    """Tables of a permutation of bytes."""
    table, cases = rng.permutation(256).astype(np.uint8), []
    for source, result in ((np.uint8, np.int8), (np.int8, np.uint8)):
        x = np.resize(np.arange(256, dtype=np.uint8), 259).view(source)
        cases.append(case("SimdnetTable8", "every byte, and a tail", x=x, table=table.view(result)))
    return cases


WINDOWS: list[dict[str, Any]] = [
    {"kernel": (2, 2), "stride": (2, 2), "padding": (0, 0, 0, 0), "ceil_mode": False},
    {"kernel": (3, 3), "stride": (2, 1), "padding": (1, 1, 1, 1), "ceil_mode": True},
    {"kernel": (3, 2), "stride": (1, 3), "padding": (2, 0, 1, 1), "ceil_mode": False},
]


def pooling_cases(rng: np.random.Generator) -> list[Case]:
    """Maxima and means."""
    name, cases = "SimdnetQuantizedPooling", []
    for dtype, least in ((np.uint8, 0), (np.int8, -128)):
        for i, window in enumerate(WINDOWS):
            for layout, exclude, pair, place in list(zip(LAYOUTS, (False, True), ((0.5, 7), (0.3, 255)), (3, 200)))[
                i % 2 :: 2
            ]:
                x = drawn(rng, dtype, *((1, 4, 4, 3) if layout == "nhwc" else (1, 3, 4, 4)))
                src, dst = (pair[0], pair[1] + least), (0.25 if i else 0.7, place + least)
                given: dict[str, Any] = {"x": x, "layout": layout, "exclude_pad": exclude, "src": src, "dst": dst}
                cases.append(case(name, "means; the zero is inside the rounding", kind="average", window=window, **given))
                cases.append(case(name, "maxima", kind="max", window=window, **given))
                cases.append(case(name, "means of images; the zero is outside", kind="global_average", window=None, **given))
                if least == 0:
                    cases.append(case("SimdSynetPoolingMax8u", "maxima", x=x, layout=layout, window=window))
    x = np.array([1, 0, 0, 1], np.uint8).reshape(1, 1, 4, 1)
    one = {"kernel": (1, 2), "stride": (1, 2), "padding": (0, 0, 0, 0), "ceil_mode": False}
    for kind in ("average", "global_average"):
        cases.append(
            case(name, "a tie", kind=kind, x=x, layout="nhwc", window=one, exclude_pad=False, src=(1.0, 0), dst=(1.0, 3))
        )
    return cases


def pointwise_cases() -> list[Case]:
    rng = np.random.default_rng(38)
    parts = linear_cases, norm_cases, dynamic_cases, channel_cases, quantised_cases, table_cases, pooling_cases
    return by_function([each for part in parts for each in part(rng)])
