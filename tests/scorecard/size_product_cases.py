"""Calls of products, convolutions, quantization and copies with arrays of more than 2^32 elements, as in `size_cases.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd._library import ffi, lib
from scorecard.size_case import DATA, NCHW, NHWC, A, Call, case, floats, made, pattern, struct

# ---- products


@case("inner product", [A(1), A(1, planes=2)], [A(2, step=0, extra=1)], joint=True, quick=True, name="long")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetInnerProductLayerForward(s[0], s[1], ffi.NULL, 2, n, d[0])


@case("inner product", [A(256)], [A(1)], name="many")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetInnerProductLayerForward(pattern(256), s[0], ffi.NULL, n, 256, d[0])


@case("inner product 32f", [A(256)], [A(4)], quick=True, name="rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    context = made(lib.SimdSynetInnerProduct32fInit(n, 4, 256, 1, 1, 1, 0))
    lib.SimdSynetInnerProduct32fSetParams(context, pattern(1024), ffi.NULL, pattern(4), ffi.NULL)
    lib.SimdSynetInnerProduct32fForward(context, s[0], ffi.NULL, ffi.NULL, d[0])


@case("inner product 32f", [A(1, planes=3)], [A(1, planes=2)], name="columns of an argument")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    context = made(lib.SimdSynetInnerProduct32fInit(2, n, 3, 0, 0, 0, 0))
    lib.SimdSynetInnerProduct32fSetParams(context, ffi.NULL, ffi.NULL, ffi.NULL, ffi.NULL)
    lib.SimdSynetInnerProduct32fForward(context, pattern(6), s[0], ffi.NULL, d[0])


@case("inner product 16b", [A(256, "u2")], [A(4, "u2")], quick=True, name="rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    small = lib.SimdTensorData16b
    context = made(lib.SimdSynetInnerProduct16bInit(n, 4, 256, small, small, small, 1, 1, 1, 0))
    lib.SimdSynetInnerProduct16bSetParams(context, pattern(1024), pattern(4), ffi.NULL)
    lib.SimdSynetInnerProduct16bForward(context, s[0], ffi.NULL, ffi.NULL, d[0])


@case("gemm", [A(256)], [A(4)], quick=True, name="rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdGemm32fNN(n, 4, 256, floats(1), s[0], 256, pattern(1024), 4, floats(0), d[0], 4)


@case("gemm", [A(1, planes=3)], [A(1, planes=2)], name="columns")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdGemm32fNN(2, n, 3, floats(1), pattern(6), 3, s[0], n, floats(0), d[0], n)


@case("gemm", [A(1, planes=2), A(1, planes=2)], [A(4, step=0, extra=1)], joint=True, name="long, transposed")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdGemm32fNT(2, 2, n, floats(1), s[0], n, s[1], n, floats(0), d[0], 2)


@case("gemm", [A(64), A(64)], [A(64)], name="batch", slow=True)
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    strides = {"batch": [n, 1], "strideA": [64, 0], "strideB": [64, 0], "strideC": [64, 0]}
    lib.SimdnetGemm(struct("SimdnetGemmParameters", M=8, N=8, K=8, alpha=1, A=s[0], B=s[1], C=d[0], **strides))


@case("attention", [A(64), A(64), A(64)], [A(64)], name="batch", slow=True)
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    strides = {"batch": [n, 1], **{f"stride{array}": [64, 0] for array in "QKVD"}}
    arrays = {"queries": s[0], "keys": s[1], "values": s[2], "dst": d[0]}
    lib.SimdnetAttention(struct("SimdnetAttentionParameters", M=8, N=8, K=8, width=8, scale=1, **arrays, **strides))


@case("gemm nbits", [A(256)], [A(4)], quick=True, name="rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    weight = ffi.new("uint8_t[]", bytes(range(256)) * 2)
    sizes = {"M": n, "N": 4, "K": 256, "bits": 4, "block": 32}
    lib.SimdnetGemmNBits(struct("SimdnetGemmNBitsParameters", weight=weight, scale=pattern(32), src=s[0], dst=d[0], **sizes))


@case("gemm nbits", [A(32, "u1"), A(2)], [A(1)], joint=True, name="columns")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    sizes = {"M": 1, "N": n, "K": 64, "bits": 4, "block": 32}
    lib.SimdnetGemmNBits(struct("SimdnetGemmNBitsParameters", src=pattern(64), weight=s[0], scale=s[1], dst=d[0], **sizes))


@case("quantized gemm", [A(256, "u1")], [A(4, "u1")], quick=True, name="rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    b = ffi.new("uint8_t[]", bytes(range(256)) * 4)
    types = {"typeA": DATA["u1"], "typeB": lib.SimdTensorData8i, "typeC": DATA["u1"], "scaleC": 9000.0}
    lib.SimdnetQuantizedGemm(struct("SimdnetQuantizedGemmParameters", M=n, N=4, K=256, A=s[0], B=b, C=d[0], **types))


@case("quantized gemm", [A(64, "u1"), A(64, "u1")], [A(64)], joint=True, name="batch")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    sizes = {"M": 8, "N": 8, "K": 8, "batch": n, "strideA": 64, "strideB": 64}
    types = {"typeA": DATA["u1"], "typeB": DATA["u1"], "typeC": lib.SimdTensorData32f}
    lib.SimdnetQuantizedGemm(struct("SimdnetQuantizedGemmParameters", A=s[0], B=s[1], C=d[0], **sizes, **types))


@case("quantized gemm", [A(256, "u1")], [A(4, "u1")], name="packed")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    types = {"typeA": DATA["u1"], "typeB": lib.SimdTensorData8i, "typeC": DATA["u1"], "scaleC": 9000.0}
    context = made(lib.SimdnetQuantizedGemmInit(4, 256, lib.SimdTensorData8i))
    lib.SimdnetQuantizedGemmSetParams(context, ffi.new("uint8_t[]", bytes(range(256)) * 4), lib.SimdFalse)
    lib.SimdnetQuantizedGemmForward(
        context, struct("SimdnetQuantizedGemmParameters", M=n, N=4, K=256, A=s[0], C=d[0], **types)
    )


@case("recurrent", [A(1024)], [A(1)], quick=True, name="lstm")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    recurrent(n, s, d, 0)


@case("recurrent", [A(2 * 512)], [A(2 * 2)], name="gru", slow=True)
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    recurrent(n, s, d, 1, steps=2, hidden=2, input=512)


def recurrent(n: int, s: list[Any], d: list[Any], kind: int, **sizes: int) -> None:
    sizes = {"steps": 1, "hidden": 1, "input": 1024, **sizes}
    context = made(lib.SimdnetRecurrentInit(struct("SimdnetRecurrentParameters", type=kind, batch=n, batchFirst=1, **sizes)))
    gates = (4 - kind) * sizes["hidden"]
    weight = floats(*np.random.default_rng(2).uniform(-0.05, 0.05, gates * sizes["input"]).astype(np.float32).tolist())
    lib.SimdnetRecurrentSetParams(context, weight, pattern(gates * sizes["hidden"]), ffi.NULL, ffi.NULL)
    lib.SimdnetRecurrentCompute(context, struct("SimdnetRecurrentArrays", src=s[0], dst=d[0]))


# ---- convolutions


def shape(n: int, **given: Any) -> dict[str, Any]:
    """A convolution of n rows of results, without padding."""
    p = {"srcC": 16, "dstC": 4, "srcW": 64, "kernel": 3, "stride": 1, "group": 1, "layout": NHWC, "kind": "f4", **given}
    kernel, stride, kind, layout = p.pop("kernel"), p.pop("stride"), p.pop("kind"), p.pop("layout")
    p.update({"kernelY": kernel, "kernelX": kernel, "strideY": stride, "strideX": stride, "dilationY": 1, "dilationX": 1})
    p.update({"srcT": DATA[kind], "dstT": DATA[kind], "srcF": layout, "dstF": layout})
    p.update({"dstH": n, "srcH": (n - 1) * stride + kernel, "dstW": (p["srcW"] - kernel) // stride + 1})
    return p


def convolve(name: str, p: dict[str, Any], s: list[Any], d: list[Any], batch: int = 1) -> None:
    parameters = ffi.new("SimdConvolutionParameters *", p)
    rest: tuple[Any, ...] = (ffi.NULL,) if "32f" in name else (0,) if "16b" in name else ()
    init = getattr(lib, name + "Init")
    context = made(init(batch, parameters, *rest))
    count = p["kernelY"] * p["kernelX"] * p["srcC"] * p["dstC"] // p["group"]
    internal = (ffi.NULL,) if "32f" in name else ()
    stats: tuple[Any, ...] = ()
    if "8i" in name:
        taps = count // p["dstC"]  # of random bytes and of weights around 1: sums vary little around their mean
        limits = (0.0, 255.0, 128 * taps - 240 * taps**0.5, 128 * taps + 240 * taps**0.5)
        kept = [floats(*[limit] * 64) for limit in limits]
        stats = (ffi.new("float *[]", kept),)
    getattr(lib, name + "SetParams")(context, pattern(count), *internal, pattern(p["dstC"], 2), ffi.NULL, *stats)
    getattr(lib, name + "Forward")(context, s[0], ffi.NULL, d[0])


def convolution(name: str, **given: Any) -> Call:
    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        convolve(name, shape(n, **given), s, d)

    return call


def batched(name: str, **given: Any) -> Call:
    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        convolve(name, shape(6, srcW=8, **given), s, d, n)

    return call


FLOAT, BYTE, HALF = "SimdSynetConvolution32f", "SimdSynetConvolution8i", "SimdSynetConvolution16b"
STRIDED = [A(1024, step=2, extra=1)]
case("convolution 32f", STRIDED, [A(31 * 4)], quick=True, slow=True, name="3x3")(convolution(FLOAT, stride=2))
case("convolution 32f", [A(1024)], [A(64 * 4)], name="1x1", slow=True)(convolution(FLOAT, kernel=1))
case("convolution 32f", [A(256)], [A(64 * 64)], name="1x1 to many", slow=True)(convolution(FLOAT, kernel=1, srcC=4, dstC=64))
case("convolution 32f", [A(64, planes=16, step=2, extra=1)], [A(31, planes=4)], name="3x3 nchw", slow=True)(
    convolution(FLOAT, stride=2, layout=NCHW)
)
case("convolution 32f", [A(64, planes=16, extra=2)], [A(62, planes=4)], name="winograd", slow=True)(
    convolution(FLOAT, layout=NCHW)
)
case("convolution 32f", [A(1024, extra=2)], [A(62 * 16)], name="depthwise nhwc", slow=True)(
    convolution(FLOAT, dstC=16, group=16)
)
case("convolution 32f", [A(64, planes=4, extra=2)], [A(62, planes=4)], name="depthwise nchw", slow=True)(
    convolution(FLOAT, srcC=4, dstC=4, group=4, layout=NCHW)
)
case("convolution 32f", [A(1024, extra=2)], [A(62 * 8)], name="grouped", slow=True)(convolution(FLOAT, dstC=8, group=2))
case("convolution 32f", [A(8 * 8 * 16)], [A(6 * 6 * 4)], name="batch", slow=True)(batched(FLOAT))
case("convolution 32f", [A(8 * 8 * 16)], [A(6 * 6 * 4)], name="batch nchw", slow=True)(batched(FLOAT, layout=NCHW))

BYTES = [A(1024, "u1", step=2, extra=1)]
case("convolution 8i", BYTES, [A(31 * 4, "u1")], quick=True, slow=True, name="3x3")(convolution(BYTE, stride=2, kind="u1"))
case("convolution 8i", [A(1024, "u1")], [A(256, "u1")], name="1x1", slow=True)(convolution(BYTE, kernel=1, kind="u1"))
case("convolution 8i", [A(64, "u1", planes=16, extra=2)], [A(62, "u1", planes=4)], name="nchw", slow=True)(
    convolution(BYTE, kind="u1", layout=NCHW)
)
case("convolution 8i", [A(1024, "u1", extra=2)], [A(62 * 16, "u1")], name="depthwise", slow=True)(
    convolution(BYTE, dstC=16, group=16, kind="u1")
)
case("convolution 8i", [A(1024, "u1")], [A(144, "u1")], name="batch", slow=True)(batched(BYTE, kind="u1"))

HALVES = [A(1024, "u2", step=2, extra=1)]
case("convolution 16b", HALVES, [A(31 * 4, "u2")], quick=True, slow=True, name="3x3")(convolution(HALF, stride=2, kind="u2"))
case("convolution 16b", [A(1024, "u2")], [A(256, "u2")], name="1x1", slow=True)(convolution(HALF, kernel=1, kind="u2"))
case("convolution 16b", [A(64, "u2", planes=16, extra=2)], [A(62, "u2", planes=4)], name="nchw", slow=True)(
    convolution(HALF, kind="u2", layout=NCHW)
)
case("convolution 16b", [A(1024, "u2", extra=2)], [A(62 * 16, "u2")], name="depthwise", slow=True)(
    convolution(HALF, dstC=16, group=16, kind="u2")
)
case("convolution 16b", [A(1024, "u2")], [A(144, "u2")], name="batch", slow=True)(batched(HALF, kind="u2"))


def deconvolution(channels: int, outputs: int, layout: int) -> Call:
    """Each pixel becomes 2 x 2 pixels, which no other one reaches."""

    def call(n: int, s: list[Any], d: list[Any], _: Any) -> None:
        p = shape(n, kernel=2, stride=2, srcC=channels, dstC=outputs, layout=layout)
        p.update({"srcH": n, "dstH": 2 * n, "dstW": 128})
        convolve("SimdSynetDeconvolution32f", p, s, d)

    return call


case("deconvolution 32f", [A(1024)], [A(128, step=2)], quick=True, slow=True, name="nhwc")(deconvolution(16, 1, NHWC))
case("deconvolution 16b", [A(1024, "u2")], [A(256, "u2")], slow=True, name="stride 1")(
    convolution("SimdSynetDeconvolution16b", kernel=1, kind="u2")
)
case("deconvolution 32f", [A(64 * 4)], [A(128 * 4, step=2)], slow=True, name="nhwc to many")(deconvolution(4, 4, NHWC))
case("deconvolution 32f", [A(64, planes=4)], [A(128, planes=2, step=2)], slow=True, name="nchw")(deconvolution(4, 2, NCHW))


@case("merged convolution 32f", STRIDED, [A(31 * 2)], quick=True, slow=True, name="three")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    middle = shape(n, stride=2, dstC=16, group=16)
    first = {**shape(middle["srcH"], kernel=1, dstC=16)}
    last = shape(n, kernel=1, dstC=2, srcW=31)
    context = made(
        lib.SimdSynetMergedConvolution32fInit(1, ffi.new("SimdConvolutionParameters[]", [first, middle, last]), 3, 0)
    )
    weights, nothing = [pattern(256), pattern(144), pattern(32)], ffi.new("float *[]", [ffi.NULL] * 3)
    lib.SimdSynetMergedConvolution32fSetParams(context, ffi.new("float *[]", weights), ffi.NULL, nothing, nothing)
    lib.SimdSynetMergedConvolution32fForward(context, s[0], ffi.NULL, d[0])


@case("merged convolution 16b", HALVES, [A(31 * 2, "u2")], slow=True, name="three")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    middle = shape(n, stride=2, dstC=16, group=16, kind="u2")
    first = {**shape(middle["srcH"], kernel=1, dstC=16, kind="u2")}
    last = shape(n, kernel=1, dstC=2, srcW=31, kind="u2")
    convs = ffi.new("SimdConvolutionParameters[]", [first, middle, last])
    context = made(lib.SimdSynetMergedConvolution16bInit(1, convs, 3, 0))
    weights, nothing = [pattern(256), pattern(144), pattern(32)], ffi.new("float *[]", [ffi.NULL] * 3)
    lib.SimdSynetMergedConvolution16bSetParams(context, ffi.new("float *[]", weights), nothing, nothing)
    lib.SimdSynetMergedConvolution16bForward(context, s[0], ffi.NULL, d[0])


@case("merged convolution 8i", BYTES, [A(31 * 2, "u1")], slow=True, name="three")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    middle = shape(n, stride=2, dstC=16, group=16, kind="u1")
    first = {**shape(middle["srcH"], kernel=1, dstC=16, kind="u1")}
    last = shape(n, kernel=1, dstC=2, srcW=31, kind="u1")
    convs = ffi.new("SimdConvolutionParameters[]", [first, middle, last])
    context = made(lib.SimdSynetMergedConvolution8iInit(1, convs, 3, 0))
    weights, nothing = [pattern(256), pattern(144), pattern(32)], ffi.new("float *[]", [ffi.NULL] * 3)
    low, high = ffi.new("float[]", [-100.0] * 16), ffi.new("float[]", [100.0] * 16)
    stats = ffi.new("float *[]", [low, high] * 3)
    lib.SimdSynetMergedConvolution8iSetParams(context, ffi.new("float *[]", weights), ffi.NULL, nothing, nothing, stats)
    lib.SimdSynetMergedConvolution8iForward(context, s[0], ffi.NULL, d[0])


@case("forward", [A(4096)], [A(4)], quick=True, name="convolution of pixels at a distance")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    parameters = ffi.new("SimdConvolutionParameters *", shape(n, kernel=1, srcW=1))
    context = made(lib.SimdSynetConvolution32fInit(1, parameters, ffi.NULL))
    lib.SimdSynetConvolution32fSetParams(context, pattern(64), ffi.NULL, ffi.NULL, ffi.NULL)
    lib.SimdnetForward(context, struct("SimdnetForwardParameters", src=s[0], dst=d[0], srcPixel=4096))


# ---- quantization


@case("quantize linear", [A(1)], [A(1, "u1")], quick=True, name="to bytes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetQuantizeLinear(s[0], n, floats(50), 128, d[0])


@case("quantize linear", [A(1, "u1")], [A(1)], name="to floats")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdSynetDequantizeLinear(s[0], n, -128, floats(0.02), d[0])


@case("quantize linear", [A(64)], [A(64, "u1")], name="channels")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    sizes = {"outer": n, "channels": 64, "inner": 1, "scale": pattern(64), "dataType": DATA["u1"]}
    lib.SimdnetQuantizeLinear(struct("SimdnetQuantizeLinearParameters", src=s[0], dst=d[0], **sizes))


@case("quantize linear", [A(1, "u1", planes=3)], [A(1, planes=3)], name="planes")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    sizes = {"outer": 1, "channels": 3, "inner": n, "scale": pattern(3), "dataType": DATA["u1"]}
    lib.SimdnetDequantizeLinear(struct("SimdnetQuantizeLinearParameters", src=s[0], dst=d[0], **sizes))


@case("dynamic quantize", [A(1)], [A(1, "u1")], quick=True, name="one range")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    found = {"scale": floats(0), "zero": ffi.new("uint8_t *")}
    lib.SimdnetDynamicQuantize(struct("SimdnetDynamicQuantizeParameters", elements=n, src=s[0], dst=d[0], **found))


@case("table8", [A(1, "u1")], [A(1, "u1")], quick=True, name="dense")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    table = ffi.new("uint8_t[]", bytes(reversed(range(256))))
    lib.SimdnetTable8(struct("SimdnetTable8Parameters", table=table, src=s[0], dst=d[0], channels=n, pixels=1))


@case("table8", [A(4096, "u1")], [A(16, "u1")], name="pixels")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    table, sizes = ffi.new("uint8_t[]", bytes(reversed(range(256)))), {"srcPixel": 4096, "channels": 16, "pixels": n}
    lib.SimdnetTable8(struct("SimdnetTable8Parameters", table=table, src=s[0], dst=d[0], **sizes))


# ---- Winograd's transforms


@case("winograd", [A(1, planes=4)], [A(1, planes=9)], quick=True, name="filter")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdWinogradKernel2x2Block2x2SetFilter(s[0], n, d[0], 1)


@case("winograd", [A(64 * 4, step=4, extra=2)], [A(16 * 4, planes=36)], name="input")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdWinogradKernel3x3Block4x4SetInput(s[0], 4, 4 * n + 2, 64, 0, 1, 0, 1, d[0], n * 16 * 4, 1)


@case("winograd", [A(16 * 4, planes=36)], [A(64 * 4, step=4)], name="output")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    lib.SimdWinogradKernel3x3Block4x4SetOutput(s[0], n * 16 * 4, d[0], 4, 4 * n, 64, 1)


# ---- copies


def copied(n: int, s: list[Any], d: list[Any], shape: list[int], source: list[int], result: list[int], kind: str) -> None:
    lib.SimdnetCopy(
        struct(
            "SimdnetCopyParameters",
            dataType=DATA[kind],
            count=len(shape),
            shape=shape,
            src=s[0],
            dst=d[0],
            srcStride=source,
            dstStride=result,
        )
    )


@case("copy", [A(64, "u1")], [A(64, "u1")], quick=True, name="rows to rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    copied(n, s, d, [n, 8, 8], [64, 1, 8], [64, 8, 1], "u1")


@case("copy", [A(1, "u2", planes=2)], [A(2, "u2")], name="planes to pixels")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    copied(n, s, d, [n, 2], [1, n], [2, 1], "u2")


@case("pad", [A(62, "u1")], [A(64, "u1")], quick=True, name="rows")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    extents = {"count": 2, "shape": [n, 62], "before": [0, 1], "after": [0, 1], "dataType": DATA["u1"]}
    lib.SimdnetPad(struct("SimdnetPadParameters", src=s[0], dst=d[0], **extents))


@case("pad", [A(6, planes=2)], [A(8, planes=2)], name="mirrored")
def _(n: int, s: list[Any], d: list[Any], _: Any) -> None:
    extents = {"count": 3, "shape": [2, n, 6], "before": [0, 0, 1], "after": [0, 0, 1], "dataType": DATA["f4"]}
    lib.SimdnetPad(struct("SimdnetPadParameters", mode=1, src=s[0], dst=d[0], **extents))
