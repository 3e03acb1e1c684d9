"""Products of matrices, and the GEMM tile alone."""

from __future__ import annotations

from typing import Any, Callable

from bench.cases.case import Case, Prepared, at, bind, floats, parameters
from bench.layers import (
    CONVOLUTION,
    Layer,
)
from pysimd._library import ffi, lib


def gemm(kind: str, m: int, n: int, k: int, aim: float | None = None) -> Case:
    """Matrices that are not packed beforehand; in NT the second one is transposed."""

    def prepare() -> Prepared:
        a, b, c, one, zero = floats(m, k), floats(k, n), floats(m, n), floats(1) * 0 + 1, floats(1) * 0
        function, ldb = (lib.SimdGemm32fNN, n) if kind == "NN" else (lib.SimdGemm32fNT, k)

        def bound(rows: int) -> Callable[[], Any]:
            return bind(function, rows, n, k, at(one), at(a), k, at(b), ldb, at(zero), at(c), n)

        return Prepared(bound(m), bound(0), flops=2 * m * n * k, keep=(a, b, c, one, zero))

    return Case("gemm", f"{kind} M={m} N={n} K={k}", "-", prepare, aim_peak=aim)


def gemm_tile(m: int, n: int, k: int) -> Case:
    """A 1x1 convolution that fits the first caches: the tile alone."""
    layer = Layer(CONVOLUTION, k, 1, m, n)

    def prepare() -> Prepared:
        src, dst, weight = floats(m, k), floats(m, n), floats(k, n)
        context = ffi.gc(lib.SimdSynetConvolution32fInit(1, parameters(layer, "nhwc"), ffi.NULL), lib.SimdRelease)
        lib.SimdSynetConvolution32fSetParams(context, at(weight), ffi.NULL, ffi.NULL, ffi.NULL)
        call = bind(lib.SimdSynetConvolution32fForward, context, at(src), ffi.NULL, at(dst))
        return Prepared(
            call, flops=2 * m * n * k, info=ffi.string(lib.SimdnetContextInfo(context)).decode(), keep=(src, dst, context)
        )

    return Case("gemm", f"tile M={m} N={n} K={k}", "-", prepare, aim_peak=0.93)
