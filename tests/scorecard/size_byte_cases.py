"""Cases of functions of bytes and of bfloat16 numbers that `size_cases.py` and `size_product_cases.py` lack; see there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pysimd._library import ffi, lib
from scorecard.size_case import DATA, NCHW, NHWC, A, Call, case, floats, made, pattern
from scorecard.size_product_cases import shape

SIGNED = lib.SimdTensorData8i


def signed(count: int) -> Any:
    """Weights of -8 .. 7."""
    return ffi.new("int8_t[]", [i % 16 - 8 for i in range(count)])


def bytes_of(*values: int) -> Any:
    return ffi.new("uint8_t[]", values)


# ---- channels and elements


@case("affine", [A(1, "u2")], [A(1, "u2")], name="relu of bfloat16")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetRelu16b(s[0], n, floats(0.5), d[0])


@case("affine", [A(64, "u1")], [A(64)], name="bytes to floats")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetConvert8uTo32f(s[0], 1, 64, n, 1, NHWC, pattern(64), pattern(64, 2), d[0], 0)


@case("affine", [A(1, "u2", planes=3)], [A(1, planes=3)], name="scale of bfloat16, nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    context = made(lib.SimdSynetScale16bInit(3, n, DATA["u2"], DATA["f4"], NCHW, 1, 1))
    lib.SimdSynetScale16bForward(context, s[0], pattern(3), pattern(3, 2), d[0])


@case("affine", [A(64, "u1")], [A(64, "u1")], name="scale of bytes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    context = made(lib.SimdSynetScale8iInit(1, 64, n, DATA["u1"], DATA["u1"], NHWC, 0))
    limits = [floats(*[limit] * 64) for limit in (0.0, 255.0, 0.0, 255.0)]
    lib.SimdSynetScale8iSetParams(context, floats(*[0.75] * 64), floats(*[9.0] * 64), ffi.new("float *[]", limits))
    lib.SimdSynetScale8iForward(context, s[0], d[0])


@case("normalize", [A(64, "u2")], [A(64, "u2")], name="layer norm of bfloat16")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    terms = pattern(64), pattern(64, 2), floats(1e-3)
    lib.SimdSynetNormalizeLayerForward16bV2(s[0], 1, 64, n, *terms, NHWC, ffi.NULL, d[0])


@case("quantized", [A(64, "u1")], [A(64, "u1")], name="scale")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    one, scale = floats(0.5), floats(*[0.75] * 64)
    lib.SimdSynetQuantizedScaleLayerForward(s[0], one, 3, 64, n, scale, ffi.NULL, d[0], one, 5, NHWC)


@case("quantized", [A(1, "u1"), A(1, "u1")], [A(1, "u1")], name="add")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    one, size = (DATA["u1"], floats(0.5), 3), ffi.new("size_t[]", [n])
    to = DATA["u1"], floats(1.0), 7
    context = made(lib.SimdSynetQuantizedAddInit(size, 1, *one, size, 1, *one, 0, ffi.NULL, *to))
    lib.SimdSynetQuantizedAddForward(context, s[0], s[1], d[0])


@case("quantized", [A(16, "u1"), A(16, "u1")], [A(32, "u1")], quick=True, name="concat")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    sizes, sources = ffi.new("size_t[]", [16, 16]), ffi.new("uint8_t *[]", s)
    terms = ffi.new("int32_t[]", [-3, -9]), floats(0.5, 0.25), floats(2.0)
    lib.SimdSynetQuantizedConcatLayerForward(2, sources, n, sizes, *terms, 5, d[0])


@case("quantized", [A(14, "u1"), A(2, "u1")], [A(8, "u1"), A(8, "u1")], name="shuffle")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    sources = s[0], -3, floats(0.5), 14, s[1], -9, floats(0.25), 2
    lib.SimdSynetQuantizedShuffleLayerForward(*sources, n, d[0], d[1], floats(2.0), 5, NHWC, 0)


def narrowed(name: str) -> Call:
    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        getattr(lib, name)(s[0], n, d[0])

    return call


case("narrow", [A(1)], [A(1, "u2")], name="floats to bfloat16")(narrowed("SimdFloat32ToBFloat16"))
case("narrow", [A(1, "u2")], [A(1)], name="bfloat16 to floats")(narrowed("SimdBFloat16ToFloat32"))
case("narrow", [A(1, "u2")], [A(1)], name="halves to floats")(narrowed("SimdFloat16ToFloat32"))


# ---- products


@case("inner product 8i", [A(256, "u1")], [A(4)], name="rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetInnerProduct8i(n, 4, 256, s[0], signed(1024), ffi.cast("int32_t *", d[0]), 0)


@case("quantized inner product", [A(256, "u1")], [A(4, "u1")], quick=True, name="rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    context = made(lib.SimdSynetQuantizedInnerProductInit(n, 4, 256, DATA["u1"], SIGNED, DATA["u1"], 1, 1, 1))
    terms = floats(0.5), bytes_of(128), signed(1024), floats(*[0.25] * 4), ffi.NULL, floats(60.0), bytes_of(99)
    lib.SimdSynetQuantizedInnerProductSetParams(context, *terms)
    lib.SimdSynetQuantizedInnerProductForward(context, s[0], ffi.NULL, ffi.NULL, d[0])


def quantized(**given: Any) -> Callable[[int, list[Any], list[Any], Any], None]:
    """A convolution of quantised bytes."""

    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        p = shape(n, kind="u1", **given)
        count = p["kernelY"] * p["kernelX"] * p["srcC"] * p["dstC"] // p["group"]
        context = made(lib.SimdSynetQuantizedConvolutionInit(1, ffi.new("SimdConvolutionParameters *", p)))
        ends, scales = (floats(0.5, 1.0, 60.0), bytes_of(128, 0, 99)), floats(*[0.25] * p["dstC"])
        lib.SimdSynetQuantizedConvolutionSetParams(context, *ends, signed(count), scales, ffi.NULL, ffi.NULL)
        lib.SimdSynetQuantizedConvolutionForward(context, s[0], ffi.NULL, d[0])

    return call


case("quantized convolution", [A(1024, "u1", step=2, extra=1)], [A(31 * 4, "u1")], quick=True, slow=True, name="3x3")(
    quantized(stride=2)
)
case("quantized convolution", [A(1024, "u1")], [A(64 * 4, "u1")], slow=True, name="1x1")(quantized(kernel=1))


@case("quantized merged convolution", [A(1024, "u1", step=2, extra=1)], [A(31 * 2, "u1")], slow=True, name="three")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    first, middle = shape(2 * n + 1, kind="u1", kernel=1, dstC=8), shape(n, kind="u1", stride=2, srcC=8, dstC=8, group=8)
    last = shape(n, kind="u1", kernel=1, srcC=8, dstC=2, srcW=31)
    convs = ffi.new("SimdConvolutionParameters[]", [first, middle, last])
    context = made(lib.SimdSynetQuantizedMergedConvolutionInit(1, convs, 3, 0))
    weights = [signed(count) for count in (128, 72, 16)]
    scales = [floats(*[0.25] * count) for count in (8, 8, 2)]
    ends = floats(0.5, 10.0, 20.0, 9.0), bytes_of(128, 128, 128, 128)
    nothing = ffi.new("int32_t *[]", [ffi.NULL] * 3)
    terms = ffi.new("int8_t *[]", weights), ffi.new("float *[]", scales), nothing
    lib.SimdSynetQuantizedMergedConvolutionSetParams(context, *ends, *terms)
    lib.SimdSynetQuantizedMergedConvolutionForward(context, s[0], ffi.NULL, d[0])
