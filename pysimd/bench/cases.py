"""The table of layers that the benchmarks time: shapes of published networks, one line each.

Every case calls C through arguments that are bound once, so that a time is the function's and not the wrapper's. An aim is
what we hold the fastest level of a machine to: a fraction of its multiply-add peak for layers that compute, microseconds on
a core whose peak is 118 GFLOP/s (scaled by the measured peak) for layers that move memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Callable

import numpy as np

from pysimd._library import ffi, lib
from pysimd.bench import arrays, overhead
from pysimd.bench.layers import (
    AVERAGE,
    CONVOLUTION,
    DECONVOLUTION,
    INNER_PRODUCT,
    MAX,
    Block,
    Layer,
    Values,
    from_layout,
    in_layout,
    quantised,
    values_of,
)
from pysimd.bench.models import layers_of

_AIM_PEAK = 118e9
_NCHW, _NHWC = 0, 1
_FORMATS = {"nchw": _NCHW, "nhwc": _NHWC}


@dataclass(frozen=True)
class Prepared:
    """A case with its arrays made: what to call, and what that costs at the least."""

    call: Callable[[], Any]
    empty: Callable[[], Any] | None = None  # the same function with nothing to do
    flops: int = 0  # of a case that computes
    products: bool = False  # and computes them as products of bytes
    traffic: int = 0  # bytes read and written, of a case that moves memory
    info: str = ""
    keep: tuple[Any, ...] = ()  # arrays that the calls point to
    values: tuple[Values, ...] = ()  # of the layers, for peers; what goes in is the first one's source
    result: Callable[[], np.ndarray] | None = None  # and what came out, as (channels, height, width)


@dataclass(frozen=True)
class Case:
    """One layer in one layout."""

    family: str
    layer: str
    layout: str
    prepare: Callable[[], Prepared]
    aim_peak: float | None = None
    aim_us: float | None = None
    subject: Block | None = None  # what peers build
    uses: Mapping[str, int] = field(default_factory=dict)  # how often which network has it

    def aim_seconds(self, prepared: Prepared, peak: float, limit_seconds: float) -> float | None:
        """The aim on this machine, whose multiply-add peak is given."""
        if self.aim_peak:
            return limit_seconds / self.aim_peak
        if self.aim_us:
            return self.aim_us * 1e-6 * _AIM_PEAK / peak
        return None


_random = np.random.default_rng(1)


def _floats(*shape: int) -> np.ndarray:
    return arrays.placed(_random.uniform(-1, 1, shape).astype(np.float32))


def _bytes(*shape: int) -> np.ndarray:
    return arrays.placed(_random.integers(0, 256, shape, dtype=np.uint8))


def _bfloats(*shape: int) -> np.ndarray:
    return arrays.placed((_floats(*shape).view(np.uint32) >> 16).astype(np.uint16))


_MAKERS = {"32f": (_floats, "float *"), "16b": (_bfloats, "uint16_t *"), "8u": (_bytes, "uint8_t *")}


def _at(array: np.ndarray, ctype: str = "float *") -> Any:
    return ffi.cast(ctype, array.ctypes.data)


def _bind(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: function(*arguments)


def _small_pooling_prepare(kind: str, layer: Layer, layout: str) -> Prepared:
    """Maxima of bfloat16 or bytes."""
    make, ctype = _MAKERS[kind]
    (_, h, w), function = layer.dst, {"16b": lib.SimdSynetPoolingMax16b, "8u": lib.SimdSynetPoolingMax8u}[kind]
    src, dst = make(*layer.src), make(*layer.dst)
    window = (layer.kernel, layer.kernel, layer.stride, layer.stride, layer.before, layer.before)

    def bound(rows: int) -> Callable[[], Any]:
        return _bind(function, _at(src, ctype), *layer.src, *window, _at(dst, ctype), rows, w, _FORMATS[layout])

    return Prepared(bound(h), bound(0), traffic=src.nbytes + dst.nbytes, keep=(src, dst))


def _pooling(
    op: str, kind: str, layout: str, shape: str, kernel: int, stride: int, pad: int, aim_us: float | None = None
) -> Case:
    c, h, w = (int(n) for n in shape.split("x"))
    layer = Layer(op, c, h, w, c, kernel, stride, pad, pad)
    if kind == "32f":
        return replace(of_layer(layer, layout), aim_us=aim_us)
    name = str(layer).replace("32f", kind)
    return Case("pooling", name, layout, lambda: _small_pooling_prepare(kind, layer, layout), aim_us=aim_us)


_CHANNELWISE: dict[str, tuple[Callable[..., None], int, int]] = {  # function, sources, arrays of coefficients
    "scale": (lib.SimdSynetScaleLayerForward, 1, 2),
    "prelu": (lib.SimdSynetPreluLayerForward, 1, 1),
    "fused0": (lib.SimdSynetFusedLayerForward0, 1, 2),
    "fused1": (lib.SimdSynetFusedLayerForward1, 1, 3),
    "fused2": (lib.SimdSynetFusedLayerForward2, 1, 2),
    "fused3": (lib.SimdSynetFusedLayerForward3, 1, 2),
    "fused4": (lib.SimdSynetFusedLayerForward4, 1, 3),
    "fused8": (lib.SimdSynetFusedLayerForward8, 2, 1),
    "fused9": (lib.SimdSynetFusedLayerForward9, 2, 2),
}


def _channelwise(layer: str, layout: str, c: int, s: int, aim_us: float | None = None) -> Case:
    """fused4 and fused9 make 2 * c channels; fused9 has no second result."""

    def prepare() -> Prepared:
        form = _FORMATS[layout]
        if layer == "add_bias":
            bias, dst = _floats(c) * 0, _floats(c, s)

            def in_place(spatial: int) -> Callable[[], Any]:
                return _bind(lib.SimdSynetAddBias, _at(bias), c, spatial, _at(dst), form)

            return Prepared(in_place(s), in_place(0), traffic=2 * dst.nbytes, keep=(bias, dst))
        function, sources, terms = _CHANNELWISE[layer]
        src, coefficients = [_floats(c, s) for _ in range(sources)], [_floats(2 * c) for _ in range(terms)]
        wide = layer in ("fused4", "fused9")
        dst = _floats(2 * c if wide else c, s)
        single = [coefficients[0]] if layer == "fused2" else []

        def bound(spatial: int) -> Callable[[], Any]:
            sizes = (c, c, spatial) if layer == "fused9" else (c, spatial)
            outputs = [_at(dst), ffi.NULL] if layer == "fused9" else [_at(dst)]
            arguments = [_at(array) for array in (*src, *coefficients)]
            return _bind(function, *arguments, *sizes, *[_at(array) for array in single], *outputs, form)

        traffic = sum(array.nbytes for array in src) + dst.nbytes
        return Prepared(bound(s), bound(0), traffic=traffic, keep=(src, coefficients, dst))

    return Case("channelwise", f"{layer} {c}x{s}", layout, prepare, aim_us=aim_us)


def _add_8i(layout: str, c: int, s: int, aim_us: float | None = None, *, shift: float = 0.5) -> Case:
    def prepare() -> Prepared:
        a, b, dst = _bytes(c, s), _bytes(c, s), _bytes(c, s)
        scales = _floats(6, c) * 0.1 + 0.5
        scales[1::2] *= shift * 2
        p = [_at(scales[i]) for i in range(6)]
        u = "uint8_t *"

        def bound(spatial: int) -> Callable[[], Any]:
            operands = (_at(a, u), p[0], p[1], _at(b, u), p[2], p[3], _at(dst, u), p[4], p[5])
            return _bind(lib.SimdSynetAdd8i, *operands, 1, c, spatial, _FORMATS[layout], 0)

        return Prepared(bound(s), bound(0), traffic=3 * dst.nbytes, keep=(a, b, dst, scales))

    return Case("add", f"8i {c}x{s}" + (" unshifted" if shift == 0 else ""), layout, prepare, aim_us=aim_us)


def _add_16b(kinds: str, size: int, aim_us: float | None = None) -> Case:
    types = {"32f": 0, "16b": 7}

    def prepare() -> Prepared:
        a, b, dst = (_MAKERS[kind][0](size) for kind in kinds.split())
        shape = ffi.new("size_t[1]", [size])
        type_a, type_b, type_dst = (types[kind] for kind in kinds.split())
        context = ffi.gc(lib.SimdSynetAdd16bInit(shape, 1, type_a, shape, 1, type_b, type_dst, -1), lib.SimdRelease)
        u = "uint8_t *"
        call = _bind(lib.SimdSynetAdd16bForward, context, _at(a, u), _at(b, u), _at(dst, u))
        return Prepared(call, traffic=a.nbytes + b.nbytes + dst.nbytes, keep=(a, b, dst, context))

    return Case("add", f"16b {kinds.replace(' ', '+', 1).replace(' ', '->')} {size}", "-", prepare, aim_us=aim_us)


def _activation(name: str, size: int, *parameters: float, aim_us: float | None = None) -> Case:
    def prepare() -> Prepared:
        src, dst, values = _floats(size) * 4, _floats(size), arrays.placed(np.array(parameters, np.float32))
        function = getattr(lib, f"SimdSynet{name}32f")

        def bound(n: int) -> Callable[[], Any]:
            return _bind(function, _at(src), n, *[_at(values[i:]) for i in range(len(parameters))], _at(dst))

        return Prepared(bound(size), bound(0), traffic=2 * dst.nbytes, keep=(src, dst, values))

    return Case("activation", f"{name.lower()} {size}", "-", prepare, aim_us=aim_us)


def _unary(name: str, size: int, aim_us: float | None = None) -> Case:
    def prepare() -> Prepared:
        src, dst = arrays.placed(np.abs(_floats(size)) * 4), _floats(size)
        kind = getattr(lib, f"SimdSynetUnaryOperation32f{name}")

        def bound(n: int) -> Callable[[], Any]:
            return _bind(lib.SimdSynetUnaryOperation32fLayerForward, _at(src), n, kind, _at(dst))

        return Prepared(bound(size), bound(0), traffic=2 * dst.nbytes, keep=(src, dst))

    return Case("unary", f"{name.lower()} {size}", "-", prepare, aim_us=aim_us)


def _softmax(outer: int, count: int, inner: int, aim_us: float | None = None) -> Case:
    def prepare() -> Prepared:
        src, dst = _floats(outer, count, inner), _floats(outer, count, inner)

        def bound(n: int) -> Callable[[], Any]:
            return _bind(lib.SimdSynetSoftmaxLayerForward, _at(src), n, count, inner, _at(dst))

        return Prepared(bound(outer), bound(0), traffic=2 * dst.nbytes, keep=(src, dst))

    return Case("softmax", f"{outer}x{count}x{inner}", "-", prepare, aim_us=aim_us)


def _convert(source: str, target: str, c: int, s: int) -> Case:
    def prepare() -> Prepared:
        src, dst = _floats(c, s), _floats(c, s)

        def bound(n: int) -> Callable[[], Any]:
            formats = (_FORMATS[source], _at(dst), _FORMATS[target])
            return _bind(lib.SimdSynetConvertImage, n, c, s, _at(src), *formats)

        return Prepared(bound(1), bound(0), traffic=2 * dst.nbytes, keep=(src, dst))

    return Case("layout", f"convert {c}x{s}", f"{source}->{target}", prepare)


def _convert_filter(source: str, target: str, o: int, i: int, k: int) -> Case:
    formats = {"oiyx": 6, "yxio": 7, "oyxi16o": 10}

    def prepare() -> Prepared:
        src, dst = _floats(o, i, k), _floats(-(-o // 16) * 16, i, k)

        def bound(n: int) -> Callable[[], Any]:
            return _bind(lib.SimdSynetConvertFilter, o, n, k, _at(src), formats[source], _at(dst), formats[target])

        return Prepared(bound(i), bound(0), traffic=2 * src.nbytes, keep=(src, dst))

    return Case("layout", f"filter {o}x{i}x{k}", f"{source}->{target}", prepare)


def _set_input(pixel: str, layout: str, channels: int, width: int, height: int, gap: int = 0) -> Case:
    number, size = {"gray8": (1, 1), "bgr24": (3, 3), "rgb24": (16, 3), "bgra32": (4, 4)}[pixel]
    stride = width * size + gap

    def prepare() -> Prepared:
        src, dst, limits = _bytes(height, stride), _floats(channels, height, width), _floats(2, 3)
        p_limits = _at(limits[0]), _at(limits[1])

        def bound(rows: int) -> Callable[[], Any]:
            form = _FORMATS[layout]
            picture = _at(src, "uint8_t *"), width, rows, stride, number
            return _bind(lib.SimdSynetSetInput, *picture, *p_limits, _at(dst), channels, form)

        return Prepared(bound(height), bound(0), traffic=width * height * size + dst.nbytes, keep=(src, dst, limits))

    return Case("set_input", f"{pixel}->{channels} {width}x{height}{' rows apart' if gap else ''}", layout, prepare)


def _shuffle(layout: str, c0: int, c1: int, s: int) -> Case:
    def prepare() -> Prepared:
        src0, src1, half = _floats(c0, s), _floats(c1, s), (c0 + c1) // 2
        dst0, dst1 = _floats(half, s), _floats(half, s)

        def bound(n: int) -> Callable[[], Any]:
            sources = _at(src0), c0, _at(src1), c1, n
            return _bind(lib.SimdSynetShuffleLayerForward, *sources, _at(dst0), _at(dst1), half, _FORMATS[layout])

        return Prepared(bound(s), bound(0), traffic=4 * dst0.nbytes, keep=(src0, src1, dst0, dst1))

    return Case("shuffle", f"{c0}+{c1}x{s}", layout, prepare)


def _lrn(layout: str, c: int, s: int, size: int, beta: float = 0.75, aim_us: float | None = None) -> Case:
    def prepare() -> Prepared:
        src, dst, k = _floats(c, s), _floats(c, s), arrays.placed(np.array([1, 1e-4 / size, -beta], np.float32))

        def bound(n: int) -> Callable[[], Any]:
            return _bind(lib.SimdSynetLrnLayerCrossChannels, _at(src), size // 2, c, n, _at(k), _at(dst), _FORMATS[layout])

        return Prepared(bound(s), bound(0), traffic=2 * dst.nbytes, keep=(src, dst, k))

    return Case("lrn", f"{c}x{s} size {size} beta {beta:g}", layout, prepare, aim_us=aim_us)


def _eltwise(operation: str, count: int, size: int, aim_us: float | None = None) -> Case:
    number = ["product", "sum", "max", "min"].index(operation)

    def prepare() -> Prepared:
        sources, weight, dst = [_floats(size) for _ in range(count)], _floats(count), _floats(size)
        pointers = ffi.new("float *[]", [_at(source) for source in sources])

        def bound(n: int) -> Callable[[], Any]:
            return _bind(lib.SimdSynetEltwiseLayerForward, pointers, _at(weight), count, n, number, _at(dst))

        return Prepared(bound(size), bound(0), traffic=(count + 1) * dst.nbytes, keep=(sources, weight, dst, pointers))

    return Case("eltwise", f"{operation} of {count} {size}", "-", prepare, aim_us=aim_us)


def _winograd(layout: str, kind: str, c: int, size: int) -> Case:
    """SetInput of an image with padding 1."""
    block = int(kind[-1])

    def prepare() -> Prepared:
        tiles, planes = (-(-size // block)) ** 2, (block + 2) ** 2
        src, dst = _floats(c, size, size), _floats(planes, tiles * c)
        function = getattr(lib, f"SimdWinograd{kind}SetInput")

        def bound(channels: int) -> Callable[[], Any]:
            image = (_at(src), channels, size, size, 1, 1, 1, 1)
            return _bind(function, *image, _at(dst), tiles * c, _FORMATS[layout])

        return Prepared(bound(c), bound(0), traffic=src.nbytes + dst.nbytes, keep=(src, dst))

    return Case("winograd", f"{kind} input {c}x{size}x{size}", layout, prepare)


def _parameters(layer: Layer, layout: str) -> Any:
    """The struct that the Init of a convolution takes."""
    p = ffi.new("SimdConvolutionParameters *")
    (p.srcC, p.srcH, p.srcW), (p.dstC, p.dstH, p.dstW) = layer.src, layer.dst
    p.srcT = p.dstT = lib.SimdTensorData32f
    p.srcF = p.dstF = _FORMATS[layout]
    p.kernelY = p.kernelX = layer.kernel
    p.dilationY = p.dilationX = 1
    p.strideY = p.strideX = layer.stride
    p.padY = p.padX = layer.before
    p.padH = p.padW = layer.after
    p.group = layer.group
    p.activation = lib.SimdConvolutionActivationRelu if layer.relu else lib.SimdConvolutionActivationIdentity
    return p


def _placed_in(image: np.ndarray, layout: str) -> np.ndarray:
    return arrays.placed(in_layout(image, layout))


def _convolution_prepare(layer: Layer, layout: str) -> Prepared:
    values = values_of(layer)
    src, dst = _placed_in(values.src, layout), _placed_in(np.zeros(layer.dst, np.float32), layout)
    weight = arrays.placed(values.weight.transpose(2, 3, 1, 0) if layout == "nhwc" else values.weight)
    bias = arrays.placed(values.bias)

    def bound(batch: int) -> tuple[Any, Callable[[], Any]]:
        context = lib.SimdSynetConvolution32fInit(batch, _parameters(layer, layout), ffi.NULL)
        context = ffi.gc(context, lib.SimdRelease)
        lib.SimdSynetConvolution32fSetParams(context, _at(weight), ffi.NULL, _at(bias), ffi.NULL)
        return context, _bind(lib.SimdSynetConvolution32fForward, context, _at(src), ffi.NULL, _at(dst))

    (context, call), (_, empty) = bound(1), bound(0)
    return Prepared(
        call,
        empty,
        flops=2 * layer.multiplications,
        info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
        keep=(src, dst),
        values=(values,),
        result=lambda: from_layout(dst, layout),
    )


def _deconvolution_prepare(layer: Layer, layout: str) -> Prepared:
    values = values_of(layer)
    src, dst = _placed_in(values.src, layout), _placed_in(np.zeros(layer.dst, np.float32), layout)
    weight = arrays.placed(values.weight.transpose(0, 2, 3, 1) if layout == "nhwc" else values.weight)
    bias = arrays.placed(values.bias)
    context = ffi.gc(lib.SimdSynetDeconvolution32fInit(1, _parameters(layer, layout), ffi.NULL), lib.SimdRelease)
    lib.SimdSynetDeconvolution32fSetParams(context, _at(weight), ffi.NULL, _at(bias), ffi.NULL)
    return Prepared(
        _bind(lib.SimdSynetDeconvolution32fForward, context, _at(src), ffi.NULL, _at(dst)),
        flops=2 * layer.multiplications,
        info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
        keep=(src, dst),
        values=(values,),
        result=lambda: from_layout(dst, layout),
    )


def _inner_product_prepare(layer: Layer, layout: str) -> Prepared:
    values = values_of(layer)
    src, weight, bias = (arrays.placed(array) for array in (values.src, values.weight, values.bias))
    dst = arrays.placed(np.zeros(layer.dst, np.float32))

    def bound(n: int) -> Callable[[], Any]:
        return _bind(lib.SimdSynetInnerProductLayerForward, _at(src), _at(weight), _at(bias), n, src.size, _at(dst))

    keep = (src, weight, bias, dst)
    return Prepared(bound(layer.o), bound(0), traffic=weight.nbytes, keep=keep, values=(values,), result=lambda: dst)


def _pooling_32f_prepare(layer: Layer, layout: str) -> Prepared:
    """Exclusive of padding where that counts."""
    values = values_of(layer)
    src, dst = _placed_in(values.src, layout), _placed_in(np.zeros(layer.dst, np.float32), layout)
    (_, h, w), form, around = layer.dst, _FORMATS[layout], (layer.before, layer.before)
    window = (layer.kernel, layer.kernel, layer.stride, layer.stride, *around)
    p_src, p_dst = _at(src), _at(dst)

    def bound(rows: int) -> Callable[[], Any]:
        if layer.kind == AVERAGE:
            return _bind(lib.SimdSynetPoolingAverage, p_src, *layer.src, *window, p_dst, rows, w, 1, form)
        planes = (1, layer.kernel, layer.kernel, 1, layer.stride, layer.stride, 0, *around)
        return _bind(lib.SimdSynetPoolingMax32f, p_src, *layer.src, *planes, p_dst, layer.c, rows, w, form)

    return Prepared(
        bound(h),
        bound(0),
        traffic=src.nbytes + dst.nbytes,
        keep=(src, dst),
        values=(values,),
        result=lambda: from_layout(dst, layout),
    )


def _convolution_8i(layout: str, shape: str, o: int, kernel: int, stride: int = 1, *, aim: float | None = None) -> Case:
    """Bytes in, bytes out; no output channels given: depthwise."""
    c, h, w = (int(n) for n in shape.split("x"))
    pad = kernel // 2
    layer = Layer(CONVOLUTION, c, h, w, o or c, kernel, stride, pad, pad, 1 if o else c)

    def prepare() -> Prepared:
        conv = _parameters(layer, layout)
        conv.srcT = conv.dstT = lib.SimdTensorData8u
        values = values_of(layer)
        numbers = quantised(values)
        src, dst = _placed_in(numbers.src, layout), _placed_in(np.zeros(layer.dst, np.uint8), layout)
        weight = arrays.placed(values.weight.transpose(2, 3, 1, 0) if layout == "nhwc" else values.weight)
        limits = _floats(4, max(layer.c, layer.o))
        limits[:] = np.array([[0], [1], [0], [numbers.most]])
        stats = ffi.new("float *[]", [_at(limit) for limit in limits])
        context = ffi.gc(lib.SimdSynetConvolution8iInit(1, conv), lib.SimdRelease)
        lib.SimdSynetConvolution8iSetParams(context, _at(weight), ffi.NULL, ffi.NULL, stats)
        u = "uint8_t *"
        return Prepared(
            _bind(lib.SimdSynetConvolution8iForward, context, _at(src, u), ffi.NULL, _at(dst, u)),
            flops=2 * layer.multiplications,
            products=True,
            info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
            keep=(src, dst),
            values=(values,),
            result=lambda: from_layout(dst * np.float32(numbers.dst_step), layout),
        )

    return Case("convolution_8i", f"8i {layer}", layout, prepare, aim_peak=aim, subject=Block((layer,), quantised=True))


def _convolution_16b(layout: str, shape: str, o: int, kernel: int, stride: int = 1, *, aim: float | None = None) -> Case:
    """bfloat16 in and out; no output channels given: depthwise. Fractions are of the peak of floats, as the aims are."""
    c, h, w = (int(n) for n in shape.split("x"))
    pad = kernel // 2
    layer = Layer(CONVOLUTION, c, h, w, o or c, kernel, stride, pad, pad, 1 if o else c)

    def prepare() -> Prepared:
        conv = _parameters(layer, layout)
        conv.srcT = conv.dstT = lib.SimdTensorData16b
        src, dst = _bfloats(c, h, w), _bfloats(*layer.dst)
        weight = _floats(layer.multiplications // (layer.dst[1] * layer.dst[2]))
        context = ffi.gc(lib.SimdnetConvolution16bInit(1, conv), lib.SimdRelease)
        lib.SimdnetConvolution16bSetParams(context, _at(weight), ffi.NULL, ffi.NULL)
        u = "uint8_t *"
        return Prepared(
            _bind(lib.SimdnetConvolution16bForward, context, _at(src, u), ffi.NULL, _at(dst, u)),
            flops=2 * layer.multiplications,
            info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
            keep=(src, dst),
        )

    return Case("convolution_16b", f"16b {layer}", layout, prepare, aim_peak=aim)


#: Family, and what prepares it, of each kind of layer that has a function of ours.
_LAYERS: dict[str, tuple[str, Callable[[Layer, str], Prepared]]] = {
    CONVOLUTION: ("convolution", _convolution_prepare),
    DECONVOLUTION: ("deconvolution", _deconvolution_prepare),
    INNER_PRODUCT: ("inner_product", _inner_product_prepare),
    MAX: ("pooling", _pooling_32f_prepare),
    AVERAGE: ("pooling", _pooling_32f_prepare),
}


def of_layer(layer: Layer, layout: str) -> Case:
    """The case of a layer that peers can build too."""
    family, prepare = _LAYERS[layer.kind]
    return Case(family, str(layer), layout, lambda: prepare(layer, layout), subject=Block((layer,)))


def of_networks(names: Sequence[str]) -> list[Case]:
    """The layers of networks in both layouts, each shape once."""
    uses: dict[Layer, dict[str, int]] = {}
    for name in names:
        for layer, count in layers_of(name).items():
            uses.setdefault(layer, {})[name] = count
    return [
        replace(of_layer(layer, layout), uses=counts)
        for layer, counts in uses.items()
        if layer.kind in _LAYERS
        for layout in (("-",) if layer.kind == INNER_PRODUCT else ("nhwc", "nchw"))
    ]


def _convolution(layout: str, shape: str, o: int, kernel: int, stride: int = 1, *, aim: float | None = None) -> Case:
    c, h, w = (int(n) for n in shape.split("x"))
    pad = kernel // 2
    group = c if o == 0 else 1  # no output channels given: depthwise
    return replace(of_layer(Layer(CONVOLUTION, c, h, w, o or c, kernel, stride, pad, pad, group), layout), aim_peak=aim)


def _merged_prepare(block: Block) -> Prepared:
    layers, random = block.layers, tuple(values_of(layer) for layer in block.layers)
    src, dst = _placed_in(random[0].src, "nhwc"), _placed_in(np.zeros(block.dst, np.float32), "nhwc")
    weights = [arrays.placed(values.weight.transpose(2, 3, 1, 0)) for values in random]
    biases = [arrays.placed(values.bias) for values in random]
    convs = ffi.new("SimdConvolutionParameters[]", [_parameters(layer, "nhwc")[0] for layer in layers])

    def bound(batch: int) -> tuple[Any, Callable[[], Any]]:
        context = ffi.gc(lib.SimdSynetMergedConvolution32fInit(batch, convs, len(layers), block.add), lib.SimdRelease)
        given = (ffi.new("float *[]", [_at(array) for array in each]) for each in (weights, biases))
        lib.SimdSynetMergedConvolution32fSetParams(context, next(given), ffi.NULL, next(given), ffi.NULL)
        return context, _bind(lib.SimdSynetMergedConvolution32fForward, context, _at(src), ffi.NULL, _at(dst))

    (context, call), (_, empty) = bound(1), bound(0)
    return Prepared(
        call,
        empty,
        flops=2 * sum(layer.multiplications for layer in layers),
        info=ffi.string(lib.SimdnetContextInfo(context)).decode(),
        keep=(src, dst),
        values=random,
        result=lambda: from_layout(dst, "nhwc"),
    )


def _merged(shape: str, wide: int, stride: int, o: int, *, aim: float | None = None) -> Case:
    """An inverted residual block, or with `wide` 0 a depthwise-separable one, of kernel 3x3."""
    c, h, w = (int(n) for n in shape.split("x"))
    depthwise = Layer(CONVOLUTION, wide or c, h, w, wide or c, 3, stride, 1, 1, wide or c)
    projection = Layer(CONVOLUTION, *depthwise.dst, o, relu=not wide)
    add = wide > 0 and (c, h, w) == projection.dst
    block = Block((Layer(CONVOLUTION, c, h, w, wide), depthwise, projection) if wide else (depthwise, projection), add)
    name = f"{shape}{f' -> {wide} 1x1,' if wide else ''} 3x3 s{stride}, -> {o}{' add' if add else ''}"
    return Case("merged", name, "nhwc", lambda: _merged_prepare(block), aim_peak=aim, subject=block)


def _deconvolution(
    layout: str, shape: str, o: int, kernel: int, stride: int, pad: int = 0, *, group: int = 1, aim: float | None = None
) -> Case:
    c, h, w = (int(n) for n in shape.split("x"))
    return replace(of_layer(Layer(DECONVOLUTION, c, h, w, o, kernel, stride, pad, pad, group), layout), aim_peak=aim)


def _inner_product(count: int, size: int) -> Case:
    return of_layer(Layer(INNER_PRODUCT, size, 1, 1, count), "-")


def _gemm(kind: str, m: int, n: int, k: int, aim: float | None = None) -> Case:
    """Matrices that nobody has packed; NT has the second one transposed."""

    def prepare() -> Prepared:
        a, b, c, one, zero = _floats(m, k), _floats(k, n), _floats(m, n), _floats(1) * 0 + 1, _floats(1) * 0
        function, ldb = (lib.SimdGemm32fNN, n) if kind == "NN" else (lib.SimdGemm32fNT, k)

        def bound(rows: int) -> Callable[[], Any]:
            return _bind(function, rows, n, k, _at(one), _at(a), k, _at(b), ldb, _at(zero), _at(c), n)

        return Prepared(bound(m), bound(0), flops=2 * m * n * k, keep=(a, b, c, one, zero))

    return Case("gemm", f"{kind} M={m} N={n} K={k}", "-", prepare, aim_peak=aim)


def _gemm_tile(m: int, n: int, k: int) -> Case:
    """A 1x1 convolution that fits the nearest caches: the tile by itself."""
    layer = Layer(CONVOLUTION, k, 1, m, n)

    def prepare() -> Prepared:
        src, dst, weight = _floats(m, k), _floats(m, n), _floats(k, n)
        context = ffi.gc(lib.SimdSynetConvolution32fInit(1, _parameters(layer, "nhwc"), ffi.NULL), lib.SimdRelease)
        lib.SimdSynetConvolution32fSetParams(context, _at(weight), ffi.NULL, ffi.NULL, ffi.NULL)
        call = _bind(lib.SimdSynetConvolution32fForward, context, _at(src), ffi.NULL, _at(dst))
        return Prepared(
            call, flops=2 * m * n * k, info=ffi.string(lib.SimdnetContextInfo(context)).decode(), keep=(src, dst, context)
        )

    return Case("gemm", f"tile M={m} N={n} K={k}", "-", prepare, aim_peak=0.93)


_PLAIN = ("add_bias", "scale", "prelu", "fused0", "fused1", "fused2", "fused3")


def _cases() -> list[Case]:
    pixels = 56 * 56
    return [
        _pooling("max", "32f", "nhwc", "64x112x112", 3, 2, 1, 55),
        _pooling("max", "32f", "nchw", "64x112x112", 3, 2, 1, 75),
        _pooling("max", "32f", "nchw", "256x20x20", 5, 1, 2, 30),
        _pooling("max", "32f", "nhwc", "256x20x20", 5, 1, 2),
        _pooling("max", "8u", "nchw", "64x112x112", 3, 2, 1, 25),
        _pooling("max", "8u", "nhwc", "64x112x112", 3, 2, 1),
        _pooling("max", "16b", "nchw", "64x112x112", 3, 2, 1),
        _pooling("max", "16b", "nhwc", "64x112x112", 3, 2, 1),
        _pooling("max", "32f", "nchw", "64x112x112", 2, 2, 0),
        _pooling("max", "32f", "nhwc", "64x112x112", 2, 2, 0),
        _pooling("max", "32f", "nchw", "64x57x57", 3, 3, 0),
        _pooling("max", "32f", "nhwc", "3x224x224", 3, 2, 1),
        _pooling("max", "32f", "nhwc", "64x56x56", 2, 1, 0),
        _pooling("max", "32f", "nhwc", "64x56x56", 7, 1, 3),
        _pooling("max", "8u", "nhwc", "64x56x56", 5, 2, 2),
        _pooling("avg", "32f", "nchw", "192x35x35", 3, 1, 1, 45),
        _pooling("avg", "32f", "nhwc", "192x35x35", 3, 1, 1),
        _pooling("avg", "32f", "nchw", "1280x7x7", 7, 1, 0, 6),
        _pooling("avg", "32f", "nhwc", "1280x7x7", 7, 1, 0),
        _activation("Relu", 64 * pixels, 0, aim_us=18),
        _activation("Relu", 1000, 0),
        _activation("Hswish", 64 * pixels, 3, 1 / 6, aim_us=18),
        _activation("RestrictRange", 64 * pixels, 0, 6, aim_us=18),
        _activation("Elu", 64 * pixels, 1, aim_us=30),
        _activation("Sigmoid", 64 * pixels, 1, aim_us=33),
        _activation("Tanh", 64 * pixels, 1, aim_us=35),
        _activation("Softplus", 64 * pixels, 1, 20, aim_us=45),
        _activation("Sigmoid", 49, 1),
        _unary("Exp", 64 * pixels, 24),
        _unary("Log", 64 * pixels, 24),
        _unary("Abs", 64 * pixels, 18),
        _unary("Sqrt", 64 * pixels),
        _unary("Rsqrt", 64 * pixels),
        _unary("Exp", 49),
        *[_channelwise(layer, layout, 64, pixels, 18) for layer in _PLAIN for layout in ("nchw", "nhwc")],
        *[_channelwise("fused8", layout, 64, pixels, 26) for layout in ("nchw", "nhwc")],  # reads twice as much
        *[_channelwise(layer, layout, 32, pixels, 18) for layer in ("fused4",) for layout in ("nchw", "nhwc")],
        *[_channelwise(layer, layout, 32, pixels, 18) for layer in ("fused9",) for layout in ("nchw", "nhwc")],
        *[_channelwise(layer, "nhwc", c, 224 * 224) for layer in ("add_bias", "scale", "fused1", "fused9") for c in (1, 3)],
        *[_channelwise(layer, "nchw", c, s) for layer in ("add_bias", "scale", "fused1") for c, s in ((512, 49), (1280, 7))],
        _add_8i("nchw", 64, pixels, 16),
        _add_8i("nhwc", 64, pixels, 16),
        _add_8i("nhwc", 64, pixels, 16, shift=0),
        _add_8i("nchw", 512, 49),
        _add_8i("nchw", 1280, 7),
        _add_8i("nhwc", 3, 224 * 224),
        _add_16b("16b 16b 16b", 64 * pixels, 13),
        _add_16b("32f 32f 32f", 64 * pixels),
        _add_16b("32f 16b 16b", 64 * pixels),
        _softmax(pixels, 64, 1, 45),
        _softmax(1, 64, pixels, 50),
        _softmax(1, 1000, 1),
        _softmax(1000, 10, 1),
        _softmax(1000, 21, 1),
        _softmax(1000, 100, 1),
        _convert("nchw", "nhwc", 64, pixels),
        _convert("nhwc", "nchw", 64, pixels),
        _convert("nchw", "nhwc", 3, 224 * 224),
        _convert_filter("oiyx", "yxio", 64, 64, 9),
        _convert_filter("oiyx", "yxio", 512, 512, 9),
        _convert_filter("yxio", "oiyx", 256, 256, 9),
        _convert_filter("oiyx", "oyxi16o", 256, 256, 9),
        _convert_filter("yxio", "oyxi16o", 256, 256, 9),
        _set_input("bgr24", "nchw", 3, 224, 224),
        _set_input("rgb24", "nhwc", 3, 224, 224),
        _set_input("rgb24", "nhwc", 3, 224, 224, 96),
        _set_input("bgra32", "nchw", 3, 224, 224),
        _set_input("bgr24", "nchw", 1, 224, 224),
        _set_input("bgr24", "nhwc", 3, 1920, 1080),
        _set_input("rgb24", "nchw", 3, 1920, 1080),
        _shuffle("nchw", 64, 64, pixels),
        _shuffle("nhwc", 64, 64, pixels),
        _shuffle("nhwc", 116, 116, 28 * 28),
        _shuffle("nchw", 464, 464, 49),
        _shuffle("nhwc", 4, 4, pixels),
        _eltwise("sum", 2, 64 * pixels, 26),
        _eltwise("max", 2, 64 * pixels, 26),
        _eltwise("product", 3, 64 * pixels, 34),
        _eltwise("sum", 8, 64 * pixels),
        _eltwise("sum", 2, 49),
        _lrn("nchw", 64, pixels, 5, aim_us=60),
        _lrn("nhwc", 64, pixels, 5, aim_us=60),
        _lrn("nhwc", 64, pixels, 5, 0.6),
        _lrn("nchw", 96, 55 * 55, 11),
        _lrn("nchw", 256, 27 * 27, 5),
        _lrn("nhwc", 3, pixels, 5),
        _lrn("nchw", 512, 7, 5),
        _inner_product(4096, 4096),
        _inner_product(1000, 1280),
        _winograd("nhwc", "Kernel3x3Block4x4", 64, 56),
        _winograd("nchw", "Kernel3x3Block4x4", 64, 56),
        _winograd("nhwc", "Kernel3x3Block2x2", 512, 7),
        _gemm("NN", 1024, 1024, 1024, 0.95),
        _gemm("NT", 1024, 1024, 1024, 0.95),
        _gemm("NN", 49, 512, 4608, 0.92),
        _gemm("NT", 49, 512, 4608, 0.92),
        _gemm("NN", 1, 1000, 1280),
        _gemm("NN", 64, 64, 64),
        _gemm_tile(56, 64, 256),
        _gemm_tile(56, 64, 1024),
        _gemm_tile(168, 192, 512),
        _convolution("nhwc", "64x56x56", 64, 1, aim=0.96),
        _convolution("nhwc", "64x56x56", 64, 3, aim=3.0),
        _convolution("nchw", "64x56x56", 64, 3, aim=2.6),
        _convolution("nhwc", "256x14x14", 256, 3, aim=2.3),
        _convolution("nhwc", "512x7x7", 512, 3, aim=1.6),
        _convolution("nhwc", "256x56x56", 512, 1, 2, aim=0.95),
        _convolution("nhwc", "3x224x224", 64, 7, 2, aim=0.95),
        _convolution("nhwc", "3x224x224", 32, 3, 2, aim=0.90),
        _convolution("nhwc", "32x112x112", 0, 3, aim=0.75),
        _convolution("nhwc", "96x112x112", 0, 3, 2, aim=0.60),
        _convolution("nhwc", "120x28x28", 0, 5, aim=0.80),
        _convolution("nhwc", "16x112x112", 96, 1, aim=0.92),
        _convolution("nhwc", "32x208x208", 64, 3, 2, aim=0.94),
        _convolution_8i("nhwc", "64x56x56", 64, 1, aim=0.80),
        _convolution_8i("nhwc", "256x56x56", 64, 1, aim=0.80),
        _convolution_8i("nhwc", "64x56x56", 256, 1, aim=0.80),
        _convolution_8i("nhwc", "512x28x28", 128, 1, aim=0.85),
        _convolution_8i("nhwc", "128x28x28", 512, 1, aim=0.85),
        _convolution_8i("nhwc", "1024x14x14", 256, 1, aim=0.85),
        _convolution_8i("nhwc", "2048x7x7", 512, 1, aim=0.85),
        _convolution_8i("nhwc", "512x7x7", 2048, 1, aim=0.85),
        _convolution_8i("nhwc", "64x56x56", 64, 3, aim=0.80),
        _convolution_8i("nhwc", "128x28x28", 128, 3, aim=0.85),
        _convolution_8i("nhwc", "128x56x56", 128, 3, 2, aim=0.85),
        _convolution_8i("nhwc", "256x14x14", 256, 3, aim=0.85),
        _convolution_8i("nhwc", "512x7x7", 512, 3, aim=0.85),
        _convolution_8i("nchw", "64x56x56", 64, 3),
        _convolution_8i("nhwc", "3x224x224", 64, 7, 2),
        *[
            _convolution_8i("nhwc", shape, 0, 3)
            for shape in ("32x112x112", "144x56x56", "192x28x28", "384x14x14", "960x7x7")
        ],
        *[_convolution_8i("nhwc", shape, 0, 3, 2) for shape in ("96x112x112", "144x56x56", "576x14x14")],
        *[
            _convolution_16b(layout, shape, o, kernel, stride)
            for layout in ("nhwc", "nchw")
            for shape, o, kernel, stride in (
                ("64x56x56", 64, 1, 1),
                ("256x56x56", 64, 1, 1),
                ("64x56x56", 256, 1, 1),
                ("256x56x56", 512, 1, 2),
                ("512x28x28", 128, 1, 1),
                ("128x28x28", 512, 1, 1),
                ("1024x14x14", 256, 1, 1),
                ("2048x7x7", 512, 1, 1),
                ("512x7x7", 2048, 1, 1),
                ("128x56x56", 128, 3, 2),
                ("256x28x28", 256, 3, 2),
                ("64x56x56", 64, 3, 1),
                ("128x28x28", 128, 3, 1),
                ("512x7x7", 512, 3, 1),
            )
        ],
        *[_convolution_16b("nhwc", shape, 0, 3) for shape in ("32x112x112", "384x14x14")],
        _convolution_16b("nhwc", "3x224x224", 64, 7, 2),
        _merged("16x112x112", 96, 2, 24, aim=0.92),
        _merged("24x56x56", 144, 1, 24, aim=0.90),
        _merged("160x7x7", 960, 1, 160, aim=0.96),
        # the other blocks of MobileNetV2
        _merged("32x112x112", 0, 1, 16),
        _merged("24x56x56", 144, 2, 32),
        _merged("32x28x28", 192, 1, 32),
        _merged("32x28x28", 192, 2, 64),
        _merged("64x14x14", 384, 1, 64),
        _merged("64x14x14", 384, 1, 96),
        _merged("96x14x14", 576, 1, 96),
        _merged("96x14x14", 576, 2, 160),
        _merged("160x7x7", 960, 1, 320),
        # those of MobileNetV1
        _merged("32x112x112", 0, 1, 64),
        _merged("64x112x112", 0, 2, 128),
        _merged("128x56x56", 0, 1, 128),
        _merged("128x56x56", 0, 2, 256),
        _merged("256x28x28", 0, 1, 256),
        _merged("256x28x28", 0, 2, 512),
        _merged("512x14x14", 0, 1, 512),
        _merged("512x14x14", 0, 2, 1024),
        _merged("1024x7x7", 0, 1, 1024),
        _deconvolution("nhwc", "128x28x28", 64, 2, 2, aim=0.97),
        _deconvolution("nhwc", "21x34x34", 21, 4, 2, 1, aim=0.80),
        _deconvolution("nchw", "64x28x28", 32, 3, 1, 1, aim=1.8),
        *[
            _deconvolution(layout, f"{2 * c}x{size}x{size}", c, 2, 2)
            for c, size in ((128, 14), (64, 28), (32, 56), (16, 112))
            for layout in ("nhwc", "nchw")
            if (layout, c) != ("nhwc", 64)
        ],
        *[_deconvolution(layout, "128x16x16", 64, 4, 2, 1) for layout in ("nhwc", "nchw")],
        *[_deconvolution(layout, "64x32x32", 32, 3, 2, 1) for layout in ("nhwc", "nchw")],
        _deconvolution("nhwc", "64x32x32", 32, 5, 2, 2),
        _deconvolution("nhwc", "100x1x1", 512, 4, 1),
        _deconvolution("nchw", "21x34x34", 21, 4, 2, 1),
        _deconvolution("nchw", "64x56x56", 64, 4, 2, 1, group=64),
    ]


def _overhead(row: overhead.Row) -> Case:
    """What Python adds to a call; the limit is a copy of the 16 floats and of little meaning."""
    return Case("overhead", row.name, "-", lambda: Prepared(row.call, row.empty, traffic=128), aim_us=row.aim_us)


#: Every case, in the order of the report.
CASES: list[Case] = [*_cases(), *map(_overhead, overhead.rows())]
