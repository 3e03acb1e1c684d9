"""Permutations, concatenations, padding and reductions."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from bench.cases.case import MAKERS, Case, Prepared, at, bind, floats
from pysimd._library import ffi, lib

_TYPES = {"32f": lib.SimdTensorData32f, "16b": lib.SimdTensorData16b, "8u": lib.SimdTensorData8u}


def _struct(name: str, **members: Any) -> Any:
    """A struct of arguments."""
    return ffi.new(f"Simdnet{name}Parameters *", {"size": ffi.sizeof(f"Simdnet{name}Parameters"), **members})


def _text(numbers: tuple[int, ...]) -> str:
    return "x".join(map(str, numbers))


def permute(shape: tuple[int, ...], order: tuple[int, ...], kind: str = "32f") -> Case:
    def prepare() -> Prepared:
        make, _ = MAKERS[kind]
        src, dst = make(*shape), make(*shape)
        sizes = ffi.new("size_t[]", shape), ffi.new("size_t[]", order)
        context = ffi.gc(lib.SimdSynetPermuteInit(*sizes, len(shape), _TYPES[kind]), lib.SimdRelease)
        call = bind(lib.SimdSynetPermuteForward, context, at(src, "uint8_t *"), at(dst, "uint8_t *"))
        return Prepared(call, traffic=2 * src.nbytes, keep=(src, dst, context))

    return Case("copy", f"permute {_text(shape)} {','.join(map(str, order))} {kind}", "", prepare)


def join(rows: int, columns: int, total: int) -> Case:
    """One array of a concatenation along the last axis."""

    def prepare() -> Prepared:
        src, dst = floats(rows, columns), floats(rows, total)

        def bound(n: int) -> Callable[[], Any]:
            strides = {"srcStride": [columns, 1], "dstStride": [total, 1]}
            arguments = _struct("Copy", count=2, shape=[n, columns], src=at(src), dst=at(dst), **strides)
            return bind(lib.SimdnetCopy, arguments)

        return Prepared(bound(rows), bound(0), traffic=2 * src.nbytes, keep=(src, dst))

    return Case("copy", f"{rows}x{columns} into {total}", "", prepare)


def pad(shape: tuple[int, ...], before: tuple[int, ...], mode: str) -> Case:
    """As much behind as before."""

    def prepare() -> Prepared:
        src, dst = floats(*shape), floats(*(n + 2 * b for n, b in zip(shape, before)))

        def bound(n: int) -> Callable[[], Any]:
            widths = {"before": before if n else [0] * len(shape), "after": before if n else [0] * len(shape)}
            sizes = [n, *shape[1:]]
            kind = getattr(lib, f"SimdnetPad{mode.capitalize()}")
            return bind(
                lib.SimdnetPad, _struct("Pad", mode=kind, count=len(shape), shape=sizes, src=at(src), dst=at(dst), **widths)
            )

        return Prepared(bound(shape[0]), bound(0), traffic=src.nbytes + dst.nbytes, keep=(src, dst))

    return Case("copy", f"pad {_text(shape)} by {_text(before)} {mode}", "", prepare)


def reduce(operation: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> Case:
    def prepare() -> Prepared:
        src = floats(*shape)
        dst = np.zeros(src.size, np.int64)
        kind = getattr(lib, f"SimdnetReduce{operation}")
        reduced = [int(axis in axes) for axis in range(len(shape))]
        kept = next(axis for axis in range(len(shape)) if axis not in axes)

        def bound(n: int) -> Callable[[], Any]:
            sizes = [n if axis == kept else extent for axis, extent in enumerate(shape)]
            arguments = _struct(
                "Reduce", operation=kind, count=len(shape), shape=sizes, reduced=reduced, src=at(src), dst=at(dst)
            )
            return bind(lib.SimdnetReduce, arguments)

        return Prepared(bound(shape[kept]), bound(0), traffic=src.nbytes, keep=(src, dst))

    return Case("reduce", f"{operation} {_text(shape)} over {','.join(map(str, axes))}", "", prepare)
