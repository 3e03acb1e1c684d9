"""Calls of functions and contexts with arrays of more than 2^32 elements: what `sizes.py` runs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pysimd._library import ffi, lib
from pysimd._pixels import FUNCTIONS
from scorecard.size_case import DATA, NCHW, NHWC, A, Call, case, floats, made, pattern, struct

# ---- vectors


@case("vectors", [A(1), A(1)], [A(1, step=0, extra=1)], joint=True, quick=True)
def product_sum(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdNeuralProductSum(s[0], s[1], n, d[0])


@case("vectors", [], [A(1)])
def fill(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdFill32f(d[0], n, floats(3))


@case("vectors", [A(1)], [A(1, both=True)])
def add_multiplied(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdNeuralAddVectorMultipliedByValue(s[0], n, floats(0.5), d[0])


@case("vectors", [], [A(1, both=True)])
def add_value(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdNeuralAddValue(floats(0.5), d[0], n)


@case("vectors", [A(1)], [A(1)], slow=True)
def power(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdNeuralPow(s[0], n, floats(1.5), d[0])


# ---- layouts


@case("layout", [A(1, planes=3)], [A(3)], quick=True, name="image to nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetConvertImage(1, 3, n, s[0], NCHW, d[0], NHWC)


@case("layout", [A(40)], [A(1, planes=40)], name="image to nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetConvertImage(1, 40, n, s[0], NHWC, d[0], NCHW)


@case("layout", [A(12)], [A(12)], name="batch of images")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetConvertImage(n, 3, 4, s[0], NCHW, d[0], NHWC)


@case("layout", [A(1, planes=4)], [A(4)], name="filter")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetConvertFilter(2, 2, n, s[0], lib.SimdTensorFormatOiyx, d[0], lib.SimdTensorFormatYxio)


@case("set input", [A(4 * 1024, "u1")], [A(1024)], quick=True, name="bgra to gray")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetSetInput(s[0], 1024, n, 4096, lib.SimdPixelFormatBgra32, floats(-1), floats(1), d[0], 1, NCHW)


@case("set input", [A(1024, "u1")], [A(1024, planes=3)], name="gray to three planes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lower, upper = floats(-1, 0, 1), floats(1, 2, 3)
    lib.SimdSynetSetInput(s[0], 1024, n, 1024, lib.SimdPixelFormatGray8, lower, upper, d[0], 3, NCHW)


@case("shuffle", [A(14), A(2)], [A(8), A(8)], quick=True, name="nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetShuffleLayerForward(s[0], 14, s[1], 2, n, d[0], d[1], 8, NHWC)


@case("shuffle", [A(1, planes=2), A(1, planes=2)], [A(1, planes=2), A(1, planes=2)], name="nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetShuffleLayerForward(s[0], 2, s[1], 2, n, d[0], d[1], 2, NCHW)


def permuted(kind: str) -> Call:
    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        context = made(lib.SimdSynetPermuteInit(ffi.new("size_t[]", [n, 4]), ffi.new("size_t[]", [1, 0]), 2, DATA[kind]))
        lib.SimdSynetPermuteForward(context, s[0], d[0])

    return call


case("permute", [A(4, "u1")], [A(1, "u1", planes=4)], quick=True, name="bytes")(permuted("u1"))
case("permute", [A(4, "u2")], [A(1, "u2", planes=4)], name="bfloat16")(permuted("u2"))
case("permute", [A(4)], [A(1, planes=4)], name="floats")(permuted("f4"))

# ---- pooling


@case("pooling", [A(64 * 16, step=2)], [A(32 * 16)], quick=True, name="max 32f nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPoolingMax32f(s[0], 16, 2 * n, 64, 1, 2, 2, 1, 2, 2, 0, 0, 0, d[0], 16, n, 32, NHWC)


@case("pooling", [A(64, planes=3, step=2)], [A(32, planes=3)], name="max 32f nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPoolingMax32f(s[0], 3, 2 * n, 64, 1, 2, 2, 1, 2, 2, 0, 0, 0, d[0], 3, n, 32, NCHW)


@case("pooling", [A(64 * 16, "u2", extra=2)], [A(62 * 16, "u2")], name="max 16b nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPoolingMax16b(s[0], 16, n + 2, 64, 3, 3, 1, 1, 0, 0, d[0], n, 62, NHWC)


@case("pooling", [A(64, "u1", planes=3, extra=2)], [A(62, "u1", planes=3)], name="max 8u nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPoolingMax8u(s[0], 3, n + 2, 64, 3, 3, 1, 1, 0, 0, d[0], n, 62, NCHW)


@case("pooling", [A(64 * 16, step=2)], [A(32 * 16)], name="average nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPoolingAverage(s[0], 16, 2 * n, 64, 2, 2, 2, 2, 0, 0, d[0], n, 32, 1, NHWC)


@case("pooling", [A(64, planes=3, extra=2)], [A(62, planes=3)], name="average nchw", slow=True)
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPoolingAverage(s[0], 3, n + 2, 64, 3, 3, 1, 1, 0, 0, d[0], n, 62, 0, NCHW)


@case("pooling", [A(1, planes=9)], [A(1)], name="average of channels nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPoolingAverage(s[0], n, 3, 3, 3, 3, 1, 1, 0, 0, d[0], 1, 1, 0, NHWC)


@case("quantized pooling", [A(64 * 8, "u1")], [A(16 * 8, "u1")], quick=True, name="batch")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    window = {"kernelY": 2, "kernelX": 2, "strideY": 2, "strideX": 2}
    sizes = {"batch": n, "channels": 8, "srcH": 8, "srcW": 8, "dstH": 4, "dstW": 4}
    kinds = {"type": 1, "dataType": DATA["u1"], "format": NHWC, "scaleSrc": 1.0, "scaleDst": 1.0}
    lib.SimdnetQuantizedPooling(struct("SimdnetQuantizedPoolingParameters", src=s[0], dst=d[0], **kinds, **sizes, **window))


@case("pooling", [A(64 * 8, "u1")], [A(16 * 8, "u1")], name="batch of bytes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    window = {"kernelY": 2, "kernelX": 2, "strideY": 2, "strideX": 2}
    sizes = {"batch": n, "channels": 8, "srcH": 8, "srcW": 8, "dstH": 4, "dstW": 4}
    kinds = {"type": 0, "dataType": DATA["u1"], "format": NHWC}
    lib.SimdnetPooling(struct("SimdnetPoolingParameters", src=s[0], dst=d[0], **kinds, **sizes, **window))


# ---- addition


@case("add 8i", [A(64, "u1"), A(64, "u1")], [A(64, "u1")], quick=True, name="nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    scale, shift = pattern(64), floats(*[0.0] * 64)
    lib.SimdSynetAdd8i(s[0], scale, shift, s[1], scale, shift, d[0], floats(*[0.5] * 64), shift, 1, 64, n, NHWC, 0)


@case("add 8i", [A(1, "u1", planes=3), A(1, "u1", planes=3)], [A(1, "u1", planes=3)], name="nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    scale, shift = pattern(3), floats(0, 0, 0)
    lib.SimdSynetAdd8i(s[0], scale, shift, s[1], scale, shift, d[0], floats(0.5, 0.5, 0.5), shift, 1, 3, n, NCHW, 0)


@case("add 16b", [A(1, "u2"), A(1, "u2")], [A(1, "u2")], quick=True, name="bfloat16")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    size, kind = ffi.new("size_t[]", [n]), DATA["u2"]
    lib.SimdSynetAdd16bForward(made(lib.SimdSynetAdd16bInit(size, 1, kind, size, 1, kind, kind, NHWC)), s[0], s[1], d[0])


@case("eltwise", [A(1), A(1)], [A(1)], quick=True, name="sum")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetEltwiseLayerForward(ffi.new("float *[]", s), floats(0.5, 2), 2, n, 1, d[0])


@case("eltwise", [A(1), A(1), A(1)], [A(1)], name="maximum of three")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetEltwiseLayerForward(ffi.new("float *[]", s), ffi.NULL, 3, n, 2, d[0])


# ---- channels


@case("channelwise", [A(64)], [A(64)], quick=True, name="scale nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetScaleLayerForward(s[0], pattern(64), pattern(64, 2), 64, n, d[0], NHWC)


@case("channelwise", [A(1, planes=3)], [A(1, planes=3)], name="scale nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetScaleLayerForward(s[0], pattern(3), pattern(3, 2), 3, n, d[0], NCHW)


@case("channelwise", [], [A(1, planes=3, both=True)], name="bias nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetAddBias(pattern(3), 3, n, d[0], NCHW)


@case("channelwise", [A(1), A(1), A(1)], [A(1)], name="scale of channels")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetScaleLayerForward(s[0], s[1], s[2], n, 1, d[0], NHWC)


@case("channelwise", [A(5)], [A(5)], name="prelu nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPreluLayerForward(s[0], pattern(5), 5, n, d[0], NHWC)


@case("channelwise", [A(8, planes=2)], [A(8, planes=2)], name="prelu nchw8c")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetPreluLayerForward(s[0], pattern(16), 16, n, d[0], lib.SimdTensorFormatNchw8c)


@case("channelwise", [A(16)], [A(16)], name="fused 0")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetFusedLayerForward0(s[0], pattern(16), pattern(16, 2), 16, n, d[0], NHWC)


@case("channelwise", [A(1, planes=2)], [A(1, planes=4)], name="fused 4 nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetFusedLayerForward4(s[0], pattern(2), floats(0.5), floats(2), 2, n, d[0], NCHW)


@case("channelwise", [A(16), A(16)], [A(16)], name="fused 8")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetFusedLayerForward8(s[0], s[1], pattern(16), 16, n, d[0], NHWC)


@case("channelwise", [A(8), A(8)], [A(16), A(16)], name="fused 9")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetFusedLayerForward9(s[0], s[1], pattern(16), pattern(16, 2), 8, 8, n, d[0], d[1], NHWC)


@case("tiled scale", [A(16 * 64), A(16)], [A(16 * 64)], quick=True, name="nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetTiledScale2D32f(s[0], 16, n, 64, NHWC, pattern(16 * 64), s[1], d[0])


@case("tiled scale", [A(1, planes=4), A(1, planes=2)], [A(1, planes=4)], name="nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetTiledScale2D32f(s[0], 2, 2, n, NCHW, s[1], pattern(4), d[0])


@case("channel sum", [A(32, "u2")], [A(32, step=0, extra=1)], joint=True, quick=True, name="nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetChannelSum16b(s[0], 32, n, NHWC, d[0])


@case("channel sum", [A(1, "u2", planes=3)], [A(3, step=0, extra=1)], joint=True, name="nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetChannelSum16b(s[0], 3, n, NCHW, d[0])


# ---- elements


def activation(function: Any) -> Call:
    count = len(ffi.typeof(function).args) - 3  # of its parameters; the first one is usually 1

    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        function(s[0], n, *[floats(number) for number in (1, 1.5)[:count]], d[0])

    return call


for name in FUNCTIONS:
    if function := getattr(lib, f"SimdSynet{name}32f", None):
        title = re.sub("(?<=.)(?=[A-Z])", " ", name).lower()
        smooth = name in ("Softplus", "Tanh", "Mish", "Gelu")
        case("activation", [A(1)], [A(1)], quick=name == "Relu", slow=smooth, name=title)(activation(function))


def unary(operation: int) -> Call:
    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        lib.SimdSynetUnaryOperation32fLayerForward(s[0], n, operation, d[0])

    return call


UNARY = {n.rpartition("32f")[2].lower(): v for v, n in ffi.typeof("SimdSynetUnaryOperation32fType").elements.items()}
for title, number in UNARY.items():
    smooth = title in ("exp", "log", "tanh", "cos", "erf", "sin")
    case("unary", [A(1)], [A(1)], quick=title == "abs", slow=smooth, name=title)(unary(number))


@case("pixelwise", [A(4096)], [A(16)], quick=True, name="sigmoid of pixels at a distance")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    kind = {"function": lib.SimdnetPixelwiseSigmoid, "params": [1, 0]}
    lib.SimdnetPixelwise(
        struct("SimdnetPixelwiseParameters", src=s[0], dst=d[0], srcPixel=4096, channels=16, pixels=n, **kind)
    )


@case("pixelwise", [A(16)], [A(1024, both=True)], name="copy to pixels at a distance")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetPixelwise(struct("SimdnetPixelwiseParameters", src=s[0], dst=d[0], dstPixel=1024, channels=16, pixels=n))


@case("binary", [A(64)], [A(64)], quick=True, name="row added")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shapes = {"count": 2, "shape": [n, 64], "aShape": [n, 64], "bShape": [1, 64]}
    lib.SimdnetBinary(struct("SimdnetBinaryParameters", a=s[0], b=pattern(64), dst=d[0], **shapes))


@case("binary", [A(1), A(1, planes=3)], [A(1, planes=3)], name="repeated plane divided")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shapes = {"count": 2, "shape": [3, n], "aShape": [1, n], "bShape": [3, n]}
    lib.SimdnetBinary(struct("SimdnetBinaryParameters", operation=3, a=s[0], b=s[1], dst=d[0], **shapes))


@case("quantized binary", [A(64, "u1")], [A(64, "u1")], quick=True, name="row of bytes multiplied")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shapes = {"count": 2, "shape": [n, 64], "aShape": [n, 64], "bShape": [1, 64]}
    numbers = {"operation": 2, "dataType": DATA["u1"], "aScale": 0.5, "bScale": 0.25, "dstScale": 0.3, "bZero": 99}
    row = ffi.new("uint8_t[]", bytes(range(64)))
    lib.SimdnetQuantizedBinary(struct("SimdnetQuantizedBinaryParameters", a=s[0], b=row, dst=d[0], **shapes, **numbers))


@case("elementwise", [A(64, "i8")], [A(64, "i8")], quick=True, name="row of integers added to itself")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shapes = {"dataType": lib.SimdTensorData64i, "count": 2, "shape": [n, 64], "aShape": [n, 64], "bShape": [n, 64]}
    lib.SimdnetElementwise(struct("SimdnetElementwiseParameters", a=s[0], b=s[0], dst=d[0], **shapes))


@case("elementwise", [A(1), A(1, planes=3)], [A(1, "u1", planes=3)], name="repeated plane compared")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shapes = {"count": 2, "shape": [3, n], "aShape": [1, n], "bShape": [3, n]}
    lib.SimdnetElementwise(struct("SimdnetElementwiseParameters", operation=16, a=s[0], b=s[1], dst=d[0], **shapes))


@case("select", [A(1, "u1"), A(1, planes=3)], [A(1, planes=3)], quick=True, name="repeated condition")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shapes = {"count": 2, "shape": [3, n], "conditionShape": [1, n], "aShape": [3, n], "bShape": [1, 1]}
    lib.SimdnetSelect(struct("SimdnetSelectParameters", condition=s[0], a=s[1], b=pattern(1), dst=d[0], **shapes))


@case("scatter", [A(64), A(1)], [A(64)], quick=True, name="added to an element of each row")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shapes = {"reduction": 1, "count": 2, "axis": 1, "shape": [n, 64], "updatesShape": [n, 1], "indexShape": [1, 1]}
    fields = {"src": s[0], "updates": s[1], "dst": d[0], "index": ffi.new("int64_t *", -3), **shapes}
    lib.SimdnetScatterElements(struct("SimdnetScatterElementsParameters", **fields))


@case("cumulative sum", [A(1, planes=3)], [A(1, planes=3)], name="planes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetCumulativeSum(lib.SimdTensorData32f, s[0], 1, 3, n, 0, 0, d[0])


# ---- resizing


def resized(kind: str, method: int) -> Call:
    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        sizes = {"batch": n, "channels": 3, "srcH": 32, "srcW": 32, "dstH": 16, "dstW": 16}
        kinds = {"dataType": DATA[kind], "format": NHWC, "method": method}
        lib.SimdnetResizeForward(
            made(lib.SimdnetResizeInit(struct("SimdnetResizeParameters", **kinds, **sizes))), s[0], d[0]
        )

    return call


case("resize", [A(3072, "u1")], [A(768, "u1")], quick=True, name="batch of bytes")(resized("u1", 1))
case("resize", [A(3072)], [A(768)], name="batch of floats")(resized("f4", 2))


@case("resize", [A(1, planes=9)], [A(1)], name="channels")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    sizes = {"batch": 1, "channels": n, "srcH": 3, "srcW": 3, "dstH": 1, "dstW": 1}
    parameters = struct("SimdnetResizeParameters", dataType=0, format=NHWC, method=1, **sizes)
    lib.SimdnetResizeForward(made(lib.SimdnetResizeInit(parameters)), s[0], d[0])


@case("resizer", [A(1024, "u1", step=2)], [A(512, "u1")], quick=True, name="bytes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdResizerRun(made(lib.SimdResizerInit(1024, 2 * n, 512, n, 1, 0, 2)), s[0], 1024, d[0], 512)


@case("resizer", [A(4096, step=2)], [A(2048)], name="floats")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdResizerRun(made(lib.SimdResizerInit(1024, 2 * n, 512, n, 4, 2, 2)), s[0], 4 * 4096, d[0], 4 * 2048)


# ---- sums over channels and positions


def softmaxed(count: int, inner: bool) -> Call:
    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        lib.SimdSynetSoftmaxLayerForward(s[0], 1 if inner else n, count, n if inner else 1, d[0])

    return call


case("softmax", [A(32)], [A(32)], quick=True, slow=True, name="lines")(softmaxed(32, False))
case("softmax", [A(1, planes=3)], [A(1, planes=3)], slow=True, name="planes")(softmaxed(3, True))


@case("lrn", [A(64)], [A(64)], quick=True, slow=True, name="nhwc")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetLrnLayerCrossChannels(s[0], 2, 64, n, floats(1, 0.1, -0.75), d[0], NHWC)


@case("lrn", [A(1, planes=5)], [A(1, planes=5)], slow=True, name="nchw")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetLrnLayerCrossChannels(s[0], 2, 5, n, floats(1, 0.1, -0.75), d[0], NCHW)


def normalized(function: str, channels: int, layout: int, *, across: int | None = None, batch: bool = False) -> Call:
    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        sizes = (n, channels, 4) if batch else (1, channels, n)
        scale, shift, eps = pattern(channels), pattern(channels, 2), floats(1e-3)
        coefficients = (scale, eps, across) if across is not None else (scale, shift, eps)
        getattr(lib, "SimdSynetNormalizeLayerForward" + function)(s[0], *sizes, *coefficients, layout, ffi.NULL, d[0])

    return call


case("normalize", [A(64)], [A(64)], quick=True, name="nhwc")(normalized("", 64, NHWC, across=0))
case("normalize", [A(1, planes=3)], [A(1, planes=3)], name="nchw")(normalized("", 3, NCHW, across=0))
case("normalize", [A(8)], [A(8)], joint=True, name="across")(normalized("", 8, NHWC, across=1))
case("normalize", [A(64)], [A(64)], name="layer norm nhwc")(normalized("V2", 64, NHWC))
case("normalize", [A(1, planes=3)], [A(1, planes=3)], name="layer norm nchw")(normalized("V2", 3, NCHW))
case("normalize", [A(64)], [A(64)], name="instance norm, batch")(normalized("V3", 16, NCHW, batch=True))


@case("normalize", [A(1, planes=6)], [A(1, planes=6)], joint=True, name="group norm")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetGroupNorm(s[0], 1, 6, n, 2, pattern(6), pattern(6, 2), floats(1e-3), d[0])


case("normalize", [A(64)], [A(64)], name="response norm, batch")(normalized("V4", 16, NHWC, batch=True))


@case("reduce", [A(1)], [A(1, step=0, extra=1)], joint=True, quick=True, name="sum")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetReduce(struct("SimdnetReduceParameters", count=1, shape=[n], reduced=[1], src=s[0], dst=d[0]))


@case("reduce", [A(3)], [A(3, step=0, extra=1)], joint=True, name="sum of rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetReduce(struct("SimdnetReduceParameters", count=2, shape=[n, 3], reduced=[1, 0], src=s[0], dst=d[0]))


@case("reduce", [A(1, planes=3)], [A(1)], name="mean of planes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shape = {"count": 2, "shape": [3, n], "reduced": [1, 0]}
    lib.SimdnetReduce(struct("SimdnetReduceParameters", operation=1, src=s[0], dst=d[0], **shape))


@case("reduce", [A(64)], [A(1)], name="l2 of lines")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    shape = {"count": 2, "shape": [n, 64], "reduced": [0, 1]}
    lib.SimdnetReduce(struct("SimdnetReduceParameters", operation=4, src=s[0], dst=d[0], **shape))


def among(places: Any, pointer: Any, count: int, stride: int = 1) -> None:
    """Replaces indices of rows by their number among the places; -1 is another row."""
    indices = np.frombuffer(ffi.buffer(ffi.cast("int64_t *", pointer), 8 * count * stride), np.int64)[::stride]
    found = np.searchsorted(places, indices)
    indices[:] = np.where(places[np.minimum(found, len(places) - 1)] == indices, found, -1)


@case("reduce", [A(1)], [A(1, "i8", step=0, extra=1)], joint=True, name="place of the maximum")
def _(n: int, s: list[Any], d: list[Any], places: Any) -> None:
    shape = {"count": 1, "shape": [n], "reduced": [1]}
    lib.SimdnetReduce(struct("SimdnetReduceParameters", operation=9, src=s[0], dst=d[0], **shape))
    among(places, d[0], 1)


@case("top k", [A(4096)], [A(2), A(2, "i8")], quick=True, name="lines")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetTopK(s[0], n, 4096, 1, 2, 1, 1, d[0], d[1])


@case("top k", [A(1, planes=3)], [A(1), A(1, "i8")], name="planes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetTopK(s[0], 1, 3, n, 1, 1, 1, d[0], d[1])


@case("top k", [A(4096, "i8")], [A(2, "i8"), A(2, "i8")], name="lines of integers")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetTopKIntegers(lib.SimdTensorData64i, s[0], n, 4096, 1, 2, 1, 1, d[0], d[1])


@case("non max suppression", [A(4 * 64), A(64)], [A(3 * 4096, "i8", step=0, extra=1)], joint=True, quick=True, name="images")
def _(n: int, s: list[Any], d: list[Any], places: Any) -> None:
    sizes = {"batch": n, "classes": 1, "count": 64, "maxOutput": 3, "capacity": 4096}
    limits = {"iouThreshold": 0.5, "scoreThreshold": 0.5, "useScoreThreshold": 1}
    count = lib.SimdnetNonMaxSuppression(
        struct("SimdnetNonMaxSuppressionParameters", boxes=s[0], scores=s[1], selected=d[0], **sizes, **limits)
    )
    among(places, d[0], count, 3)


@case("roi align", [A(16)], [A(2048, step=0, extra=1)], joint=True, quick=True, name="images")
def _(n: int, s: list[Any], d: list[Any], places: Any) -> None:
    images, regions = np.ascontiguousarray(places[-1024:]), floats(*[0.25, 0.5, 2.75, 3] * 1024)
    sizes = {"batch": n, "channels": 1, "srcH": 4, "srcW": 4, "count": len(images), "dstH": 1, "dstW": 2, "spatialScale": 1}
    of = ffi.from_buffer("int64_t[]", images)
    lib.SimdnetRoiAlign(struct("SimdnetRoiAlignParameters", src=s[0], dst=d[0], regions=regions, images=of, **sizes))


# ---- indices


@case("gather", [A(1, "u1")], [A(4096, "u1", step=0, extra=1)], joint=True, quick=True, name="bytes")
def _(n: int, s: list[Any], d: list[Any], places: Any) -> None:
    index = np.ascontiguousarray(places[-4096:])
    lib.SimdnetGather(DATA["u1"], s[0], 1, n, 1, ffi.from_buffer("int64_t[]", index), len(index), d[0])


@case("gather", [A(3)], [A(3 * 1024, step=0, extra=1)], joint=True, name="rows of floats")
def _(n: int, s: list[Any], d: list[Any], places: Any) -> None:
    index = np.ascontiguousarray(places[-1024:] - n)  # from the end
    lib.SimdnetGather(DATA["f4"], s[0], 1, n, 3, ffi.from_buffer("int64_t[]", index), len(index), d[0])


@case("cast", [A(1, "u1")], [A(1)], quick=True, name="bytes to floats")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdnetCast(DATA["u1"], s[0], n, DATA["f4"], d[0])


@case("affine", [A(1)], [A(1, "u1")], quick=True, name="floats to bytes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetConvert32fTo8u(s[0], 1, 1, n, 1, NCHW, floats(8.0), floats(3.0), d[0], 0)


@case("softmax 16b", [A(4, "u2")], [A(4, "u2")], name="lines of 4")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetSoftmax16b(s[0], n, 4, 1, d[0])


@case("quantized", [A(1, "u1")], [A(1, "u1")], name="prelu")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    one = floats(0.5)
    lib.SimdSynetQuantizedPreluLayerForward(s[0], one, 3, 1, n, one, d[0], one, 5, NCHW)


@case("narrow", [A(1)], [A(1, "u2")], quick=True, name="floats to halves")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdFloat32ToFloat16(s[0], n, d[0])


@case("gather elements", [A(1, "u1")], [A(4096, "u1", step=0, extra=1)], joint=True, quick=True, name="bytes")
def _(n: int, s: list[Any], d: list[Any], places: Any) -> None:
    index = np.ascontiguousarray(places[-4096:])
    context = lib.SimdSynetGatherElementsInit(DATA["u1"], lib.SimdTensorData64i, 0, 1, ffi.NULL, 0, n, 1, len(index))
    lib.SimdSynetGatherElementsForward(made(context), s[0], ffi.from_buffer("uint8_t[]", index), d[0])


@case("grid sample", [A(4096)], [A(2)], quick=True, name="channels")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    context = lib.SimdSynetGridSample2dInit(1, n, 64, 64, 1, 2, 0, 0, 0, 0)
    lib.SimdSynetGridSample2dForward(made(context), s[0], ffi.cast("uint8_t *", floats(0.3, 0.4, -0.5, -0.6)), d[0])


@case("grid sample", [A(256), A(4)], [A(2)], slow=True, name="images")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    context = lib.SimdSynetGridSample2dInit(n, 1, 16, 16, 1, 2, 0, 2, 1, 0)
    lib.SimdSynetGridSample2dForward(made(context), s[0], s[1], d[0])
