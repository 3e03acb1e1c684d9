"""What is computed by functions of bfloat16 numbers and of half precision.

Sums of integers are exact in any order, so results have the same bits on every instruction set; others are within a bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from support.vectors.cases_pointwise import LAYOUTS, WINDOWS, by_function, case
from support.vectors.cases_products import GEOMETRIES, options_of
from support.vectors.numbers import Array, F, to_bfloat16
from support.vectors.text import Case

#: Floats by their bits: zeros, subnormal numbers, ties to even and odd, the greatest, infinities, NaN of several payloads.
BITS = np.array(
    [
         0, 1, 0x7F, 0x8000, 0x8001, 0x18000, 0x7FFFFF, 0x800000, 0x3F800000,
         0x3F808000, 0x3F807FFF, 0x3F808001, 0x3F818000, 0x3F817FFF, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000,
         0x7F800001, 0x7F80FFFF, 0x7FC00000, 0x7FFFFFFF, 0x33000000, 0x33000001, 0x33800000, 0x33C00000, 0x387FC000,
         0x387FE000, 0x38800000, 0x38801000, 0x38803000, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x477FF001,
    ],
    np.uint32,
)  # fmt: skip


def floats(rng: np.random.Generator, *shape: int) -> Array:
    """Integers, many of which bfloat16 does not have."""
    return rng.integers(-999, 1000, shape).astype(F)


def conversion_cases(rng: np.random.Generator) -> list[Case]:
    """From and to float."""
    floats_ = np.concatenate([BITS, BITS | np.uint32(0x80000000)])
    halves = np.array([0, 1, 0x3FF, 0x400, 0x3C00, 0x3C01, 0x7BFF, 0x7C00, 0x7C01, 0x7DFF, 0x7E00, 0x7FFF], np.uint32)
    halves = np.concatenate([halves, halves | 0x8000, rng.integers(0, 0x7C00, 43).astype(np.uint32)])
    tops = np.concatenate([floats_ >> 16, np.array([0x7F81, 0xFFBF], np.uint32)])
    about = "both signs, ties, subnormal numbers, NaN"
    return [
        case("SimdFloat32ToBFloat16", about, bits=floats_),
        case("SimdFloat32ToFloat16", about, bits=floats_),
        case("SimdBFloat16ToFloat32", about, bits=tops),
        case("SimdFloat16ToFloat32", about, bits=halves),
    ]


def element_cases(rng: np.random.Generator) -> list[Case]:
    """Sums, scales, ReLU, maxima, sums of channels."""
    cases = []
    a, b = floats(rng, 25), floats(rng, 25)
    special = np.array([np.nan, np.inf, -np.inf, 3.4e38, 1, 1.0078125, 0, -0.0], F)
    a[:8], b[:8] = special, np.array([1, -np.inf, 1, 3.4e38, 0.00390625, 0.00390625, -0.0, -0.0], F)
    narrow = to_bfloat16(a), to_bfloat16(b)
    for i in range(8):
        pair: dict[str, Any] = {"a": (a, narrow[0])[i & 1], "b": (b, narrow[1])[i >> 1 & 1]}
        cases.append(case("SimdSynetAdd16b", "sums, rounded once", **pair, dst_dtype=("float32", "bfloat16")[i >> 2]))
    for slope in (0.0, 0.25, -1.0):
        cases.append(case("SimdSynetRelu16b", "NaN, infinities and both zeros", x=narrow[0], slope=slope))
    norm, bias = np.array([1, -0.5, 3, 0.1, 0], F), np.array([0.5, 0, -9, 0.3, 1], F)
    for layout in LAYOUTS:
        x = floats(rng, *((3, 3, 5) if layout == "nhwc" else (5, 1, 9)))
        cases.append(case("SimdSynetChannelSum16b", "sums that are exact", True, x=to_bfloat16(x), layout=layout))
        for source, dst_dtype, terms in (
            (x, "bfloat16", (norm, bias)),
            (to_bfloat16(x), "float32", (norm, None)),
            (to_bfloat16(x), "bfloat16", (None, bias)),
        ):
            given: dict[str, Any] = {"norm": terms[0], "bias": terms[1], "layout": layout, "dst_dtype": dst_dtype}
            cases.append(case("SimdSynetScale16b", "products and sums, each rounded", x=source, **given))
        for window in WINDOWS[: 2 if layout == "nhwc" else 3]:
            y = to_bfloat16(floats(rng, *((1, 4, 4, 3) if layout == "nhwc" else (1, 3, 4, 4))))
            cases.append(case("SimdSynetPoolingMax16b", "maxima", x=y, layout=layout, window=window))
        y = to_bfloat16(floats(rng, *((3, 3, 7) if layout == "nhwc" else (7, 3, 3))))
        scale, shift = np.resize(norm, 7), np.resize(bias, 7)
        cases.append(
            case(
                "SimdSynetNormalizeLayerForward16bV2", "of channels", x=y, scale=scale, shift=shift, eps=1e-5, layout=layout
            )
        )
    x = to_bfloat16((floats(rng, 3, 5, 3) / F(256)).astype(F))
    for axis in (0, 1, 2):
        cases.append(case("SimdSynetSoftmax16b", "along an axis", x=x, axis=axis))
    equal = to_bfloat16(np.full((3, 8, 2), 99, F))
    cases.append(case("SimdSynetSoftmax16b", "equal numbers: 1 / 8", True, x=equal, axis=1))
    return cases


def _integers(rng: np.random.Generator, *shape: int) -> Array:
    """Sources, whose products with floats() have sums below 2^24."""
    return rng.integers(-40, 41, shape).astype(F)


def layer_cases(rng: np.random.Generator) -> list[Case]:
    """Convolutions, deconvolutions and inner products."""
    cases = []
    for i, (inputs, outputs, height, width, kernel, changes) in enumerate(GEOMETRIES):
        for layout in LAYOUTS[i % 2 :][:1] if changes.get("group") != 5 else LAYOUTS:
            group = changes.get("group", 1)
            x = _integers(rng, *((1, height, width, inputs) if layout == "nhwc" else (1, inputs, height, width)))
            w = floats(
                rng, *((*kernel, inputs // group, outputs) if layout == "nhwc" else (outputs, inputs // group, *kernel))
            )
            bias = _integers(rng, outputs)
            options = options_of(layout, **changes, activation=("identity", "relu")[i % 2])
            source, dst_dtype = (x, to_bfloat16(x))[i % 2], ("float32", "bfloat16")[(i + (layout == "nchw")) % 2]
            given: dict[str, Any] = {"weight": w, "bias": bias, "dst_dtype": dst_dtype, "options": options}
            for name in ("SimdSynetConvolution16b", "SimdnetConvolution16b")[: 1 + (i == 0)]:
                cases.append(case(name, "integers: weights are rounded, sums exact", True, x=source, **given))
            if i in (1, 2):
                w = floats(
                    rng, *((inputs, *kernel, outputs // group) if layout == "nhwc" else (inputs, outputs // group, *kernel))
                )
                given["weight"] = w
                cases.append(
                    case("SimdSynetDeconvolution16b", "integers: weights are rounded, sums exact", True, x=source, **given)
                )
    for rows, inputs, outputs in ((1, 35, 3), (2, 5, 17)):
        x, w, bias = _integers(rng, rows, inputs), floats(rng, outputs, inputs), floats(rng, outputs)
        for source, dst_dtype in ((x, "bfloat16"), (to_bfloat16(x), "float32")):
            given = {"bias": bias, "activation": "relu", "dst_dtype": dst_dtype}
            cases.append(
                case(
                    "SimdSynetInnerProduct16b",
                    "integers: weights are rounded, sums exact",
                    True,
                    x=source,
                    weight=w,
                    **given,
                )
            )
    return cases + _merged(rng)


def _merged(rng: np.random.Generator) -> list[Case]:
    cases = []
    stages = [
        {"kernel": 1, "dst_c": 5, "stride": 1, "padding": 0, "activation": "relu"},
        {"kernel": 3, "dst_c": None, "stride": 1, "padding": 1},
        {"kernel": 1, "dst_c": 3, "stride": 1, "padding": 0},
    ]
    shapes = [(1, 1, 3, 5), (3, 3, 1, 5), (1, 1, 5, 3)]
    for first, last, residual, dst_dtype in (
        (0, 3, False, "bfloat16"),
        (0, 3, True, "float32"),
        (0, 2, False, "bfloat16"),
        (1, 3, False, "float32"),
    ):
        weights = [rng.integers(-most, most + 1, shape).astype(F) for shape, most in zip(shapes, (300, 2, 5))][first:last]
        biases = [_integers(rng, shape[-1]) for shape in shapes][first:last]
        x = rng.integers(-9, 10, (1, 3, 4, (3, 5)[first])).astype(F)
        given: dict[str, Any] = {"stages": stages[first:last], "residual": residual, "dst_dtype": dst_dtype}
        name, about = "SimdSynetMergedConvolution16b", f"stages {first} to {last - 1}"
        source = to_bfloat16(x) if residual else x
        cases.append(
            case(name, f"{about}, integers: sums are exact", True, x=source, weights=weights, biases=biases, **given)
        )
    return cases


def floats16_cases() -> list[Case]:
    rng = np.random.default_rng(40)
    return by_function([each for part in (conversion_cases, element_cases, layer_cases) for each in part(rng)])
