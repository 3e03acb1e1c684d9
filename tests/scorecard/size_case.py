"""What a case of `size_cases.py` and the files beside it is, and helpers for its calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pysimd._library import ffi, lib

NCHW, NHWC = lib.SimdTensorFormatNchw, lib.SimdTensorFormatNhwc
DATA = {"f4": lib.SimdTensorData32f, "u1": lib.SimdTensorData8u, "u2": lib.SimdTensorData16b}
BEYOND = 1 << 20  # elements by which the largest array of a case exceeds a border


@dataclasses.dataclass(frozen=True)
class Array:
    """An array of `planes` planes, each of `step * n + extra` rows of `row` elements in a call of size n.

    kind: f4, u1, i8 as NumPy has it; u2 is bfloat16.
    both: the function reads what it overwrites.
    """

    row: int
    kind: str = "f4"
    planes: int = 1
    step: int = 1
    extra: int = 0
    both: bool = False

    @property
    def row_size(self) -> int:
        return self.row * np.dtype(self.kind).itemsize

    def rows(self, n: int) -> int:
        return n * self.step + self.extra

    def size(self, n: int) -> int:
        return self.planes * self.rows(n) * self.row_size


Call = Callable[[int, list[Any], list[Any], Any], None]


@dataclasses.dataclass(frozen=True)
class Case:
    """call(n, sources, results, places) computes n rows of each plane of the results. A result depends on the rows of all
    sources at the same place; or, if `joint`, on all rows, but those of zeros change nothing. `places` are the rows that
    are not zeros: for functions that are given or return indices, so that these become places among such rows.

    quick: part of the quick form.
    slow: not run on base, where it would take many minutes.
    """

    family: str
    name: str
    call: Call
    sources: Sequence[Array]
    results: Sequence[Array]
    joint: bool = False
    quick: bool = False
    slow: bool = False

    @property
    def arrays(self) -> list[Array]:
        return [*self.sources, *self.results]

    def size(self, border: int) -> int:
        """The smallest size for which the largest array exceeds the border."""
        most = max(a.planes * a.step * a.row for a in self.arrays)
        return (border + BEYOND) // most + 1


CASES: list[Case] = []


def case(
    family: str,
    sources: Sequence[Array],
    results: Sequence[Array],
    *,
    joint: bool = False,
    quick: bool = False,
    slow: bool = False,
    name: str = "",
) -> Callable[[Call], Call]:
    def add(call: Call) -> Call:
        title = name or call.__name__.replace("_", " ").strip()
        CASES.append(Case(family, title, call, sources, results, joint, quick, slow))
        return call

    return add


A = Array


def floats(*values: float) -> Any:
    return ffi.new("float[]", values)


def pattern(count: int, seed: int = 1) -> Any:
    """Small numbers, for weights and coefficients."""
    return floats(*np.random.default_rng(seed).uniform(0.5, 1.5, count).astype(np.float32).tolist())


def struct(name: str, **fields: Any) -> Any:
    return ffi.new(f"{name} *", {"size": ffi.sizeof(name), **fields})


# ---- contexts are released by the caller of a case

contexts: list[Any] = []


def made(context: Any) -> Any:
    assert context != ffi.NULL, ffi.string(lib.SimdnetLastError()).decode()
    contexts.append(context)
    return context


def release() -> None:
    while contexts:
        lib.SimdRelease(contexts.pop())
