"""Fewer dimensions for the calls of the library, which has a limit: neighbours that need not be apart become one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pysimd._library import lib
from pysimd.annotations import Shape
from pysimd.network.views import View

MOST = int(lib.SIMDNET_MAX_DIMENSIONS)


def groups_of(kinds: Sequence[Any]) -> list[range]:
    """Neighbouring dimensions of the same kind; each by itself if the library has so many."""
    count = len(kinds)
    if count <= MOST:
        return [range(i, i + 1) for i in range(count)]
    starts = [i for i in range(count) if i == 0 or kinds[i] != kinds[i - 1]]
    return [range(start, end) for start, end in zip(starts, [*starts[1:], count])]


def merged(shape: Shape, groups: Sequence[range]) -> Shape:
    """A shape with a dimension for each group."""
    return tuple(prod(shape[i] for i in group) for group in groups)


def packed(a: View, b: View) -> tuple[View, View]:
    """Two arrays of one shape, whose dimensions are one where they follow each other in both, if they have too many."""
    if a.ndim <= MOST:
        return a, b
    sizes: list[int] = []
    strides: list[tuple[int, int]] = []
    for n, *pair in zip(a.shape, a.strides, b.strides):
        if n != 1 and sizes and strides[-1] == (n * pair[0], n * pair[1]):
            sizes[-1], strides[-1] = sizes[-1] * n, (pair[0], pair[1])
        elif n != 1:
            sizes.append(n)
            strides.append((pair[0], pair[1]))
    if len(sizes) > MOST:
        raise ValueError(f"x has {len(sizes)} dimensions, expected at most {MOST}")
    return a.strided(sizes, [pair[0] for pair in strides]), b.strided(sizes, [pair[1] for pair in strides])
