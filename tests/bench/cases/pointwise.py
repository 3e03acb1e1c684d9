"""Functions of each element or pixel, or along one axis."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from bench import arrays
from bench.cases.case import FORMATS, MAKERS, Case, Prepared, at, bind, floats, some_bytes
from pysimd._library import ffi, lib

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


def channelwise(layer: str, layout: str, c: int, s: int, aim_us: float | None = None) -> Case:
    """fused4 and fused9 produce 2 * c channels; fused9 has no second result."""

    def prepare() -> Prepared:
        form = FORMATS[layout]
        if layer == "add_bias":
            bias, dst = floats(c) * 0, floats(c, s)

            def in_place(spatial: int) -> Callable[[], Any]:
                return bind(lib.SimdSynetAddBias, at(bias), c, spatial, at(dst), form)

            return Prepared(in_place(s), in_place(0), traffic=2 * dst.nbytes, keep=(bias, dst))
        function, sources, terms = _CHANNELWISE[layer]
        src, coefficients = [floats(c, s) for _ in range(sources)], [floats(2 * c) for _ in range(terms)]
        wide = layer in ("fused4", "fused9")
        dst = floats(2 * c if wide else c, s)
        single = [coefficients[0]] if layer == "fused2" else []

        def bound(spatial: int) -> Callable[[], Any]:
            sizes = (c, c, spatial) if layer == "fused9" else (c, spatial)
            outputs = [at(dst), ffi.NULL] if layer == "fused9" else [at(dst)]
            arguments = [at(array) for array in (*src, *coefficients)]
            return bind(function, *arguments, *sizes, *[at(array) for array in single], *outputs, form)

        traffic = sum(array.nbytes for array in src) + dst.nbytes
        return Prepared(bound(s), bound(0), traffic=traffic, keep=(src, coefficients, dst))

    return Case("channelwise", f"{layer} {c}x{s}", layout, prepare, aim_us=aim_us)


def add_8i(layout: str, c: int, s: int, aim_us: float | None = None, *, shift: float = 0.5) -> Case:
    def prepare() -> Prepared:
        a, b, dst = some_bytes(c, s), some_bytes(c, s), some_bytes(c, s)
        scales = floats(6, c) * 0.1 + 0.5
        scales[1::2] *= shift * 2
        p = [at(scales[i]) for i in range(6)]
        u = "uint8_t *"

        def bound(spatial: int) -> Callable[[], Any]:
            operands = (at(a, u), p[0], p[1], at(b, u), p[2], p[3], at(dst, u), p[4], p[5])
            return bind(lib.SimdSynetAdd8i, *operands, 1, c, spatial, FORMATS[layout], 0)

        return Prepared(bound(s), bound(0), traffic=3 * dst.nbytes, keep=(a, b, dst, scales))

    return Case("add", f"8i {c}x{s}" + (" unshifted" if shift == 0 else ""), layout, prepare, aim_us=aim_us)


def add_16b(kinds: str, size: int, aim_us: float | None = None) -> Case:
    types = {"32f": 0, "16b": 7}

    def prepare() -> Prepared:
        a, b, dst = (MAKERS[kind][0](size) for kind in kinds.split())
        shape = ffi.new("size_t[1]", [size])
        type_a, type_b, type_dst = (types[kind] for kind in kinds.split())
        context = ffi.gc(lib.SimdSynetAdd16bInit(shape, 1, type_a, shape, 1, type_b, type_dst, -1), lib.SimdRelease)
        u = "uint8_t *"
        call = bind(lib.SimdSynetAdd16bForward, context, at(a, u), at(b, u), at(dst, u))
        return Prepared(call, traffic=a.nbytes + b.nbytes + dst.nbytes, keep=(a, b, dst, context))

    return Case("add", f"16b {kinds.replace(' ', '+', 1).replace(' ', '->')} {size}", "-", prepare, aim_us=aim_us)


def activation(name: str, size: int, *parameters: float, aim_us: float | None = None) -> Case:
    def prepare() -> Prepared:
        src, dst, values = floats(size) * 4, floats(size), arrays.placed(np.array(parameters, np.float32))
        function = getattr(lib, f"SimdSynet{name}32f")

        def bound(n: int) -> Callable[[], Any]:
            return bind(function, at(src), n, *[at(values[i:]) for i in range(len(parameters))], at(dst))

        return Prepared(bound(size), bound(0), traffic=2 * dst.nbytes, keep=(src, dst, values))

    return Case("activation", f"{name.lower()} {size}", "-", prepare, aim_us=aim_us)


def softmax(outer: int, count: int, inner: int, aim_us: float | None = None) -> Case:
    def prepare() -> Prepared:
        src, dst = floats(outer, count, inner), floats(outer, count, inner)

        def bound(n: int) -> Callable[[], Any]:
            return bind(lib.SimdSynetSoftmaxLayerForward, at(src), n, count, inner, at(dst))

        return Prepared(bound(outer), bound(0), traffic=2 * dst.nbytes, keep=(src, dst))

    return Case("softmax", f"{outer}x{count}x{inner}", "-", prepare, aim_us=aim_us)


def lrn(layout: str, c: int, s: int, size: int, beta: float = 0.75, aim_us: float | None = None) -> Case:
    def prepare() -> Prepared:
        src, dst, k = floats(c, s), floats(c, s), arrays.placed(np.array([1, 1e-4 / size, -beta], np.float32))

        def bound(n: int) -> Callable[[], Any]:
            return bind(lib.SimdSynetLrnLayerCrossChannels, at(src), size // 2, c, n, at(k), at(dst), FORMATS[layout])

        return Prepared(bound(s), bound(0), traffic=2 * dst.nbytes, keep=(src, dst, k))

    return Case("lrn", f"{c}x{s} size {size} beta {beta:g}", layout, prepare, aim_us=aim_us)


def eltwise(operation: str, count: int, size: int, aim_us: float | None = None) -> Case:
    number = ["product", "sum", "max", "min"].index(operation)

    def prepare() -> Prepared:
        sources, weight, dst = [floats(size) for _ in range(count)], floats(count), floats(size)
        pointers = ffi.new("float *[]", [at(source) for source in sources])

        def bound(n: int) -> Callable[[], Any]:
            return bind(lib.SimdSynetEltwiseLayerForward, pointers, at(weight), count, n, number, at(dst))

        return Prepared(bound(size), bound(0), traffic=(count + 1) * dst.nbytes, keep=(sources, weight, dst, pointers))

    return Case("eltwise", f"{operation} of {count} {size}", "-", prepare, aim_us=aim_us)
