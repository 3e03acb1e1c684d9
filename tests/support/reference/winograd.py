"""The transforms of Winograd's algorithm."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from support.reference.numbers import EPS, TINY, Array


def _thirds(text: str) -> Array:
    """Rows of a matrix, as fractions."""
    return np.array([[float(Fraction(number)) for number in row.split()] for row in text.split(",")])


_B_5 = "2 -1 -2 1 0, 0 -2 -1 1 0, 0 2 -3 1 0, 0 -1 0 1 0, 0 2 -1 -2 1"
#: (taps, outputs): G, B', A'
WINOGRAD = {
    (3, 4): (
        "1/4 0 0, -1/6 -1/6 -1/6, -1/6 1/6 -1/6, 1/24 1/12 1/6, 1/24 -1/12 1/6, 0 0 1",
        "4 0 -5 0 1 0, 0 -4 -4 1 1 0, 0 4 -4 -1 1 0, 0 -2 -1 2 1 0, 0 2 -1 -2 1 0, 0 4 0 -5 0 1",
        "1 1 1 1 1 0, 0 1 -1 2 -2 0, 0 1 1 4 4 0, 0 1 -1 8 -8 1",
    ),
    (5, 4): (
        "1/36 0 0 0 0, 1/48 1/48 1/48 1/48 1/48, 1/48 -1/48 1/48 -1/48 1/48, -1/120 -2/120 -4/120 -8/120 -16/120, "
        "-1/120 2/120 -4/120 8/120 -16/120, 1/720 3/720 9/720 27/720 81/720, 1/720 -3/720 9/720 -27/720 81/720, 0 0 0 0 1",
        "36 0 -49 0 14 0 -1 0, 0 36 36 -13 -13 1 1 0, 0 -36 36 13 -13 -1 1 0, 0 18 9 -20 -10 2 1 0, "
        "0 -18 9 20 -10 -2 1 0, 0 12 4 -15 -5 3 1 0, 0 -12 4 15 -5 -3 1 0, 0 -36 0 49 0 -14 0 1",
        "1 1 1 1 1 1 1 0, 0 1 -1 2 -2 3 -3 0, 0 1 1 4 4 9 9 0, 0 1 -1 8 -8 27 -27 1",
    ),
    (2, 2): ("1 0, 1 1, 0 1", "1 -1 0, 0 1 0, 0 -1 1", "1 1 0, 0 1 1"),
    (2, 4): ("1/2 0, -1/2 -1/2, -1/6 1/6, 1/6 1/3, 0 1", _B_5, "1 1 1 1 0, 0 1 -1 2 0, 0 1 1 4 0, 0 1 -1 8 1"),
    (3, 2): ("1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2, 0 0 1", "1 0 -1 0, 0 1 1 0, 0 -1 1 0, 0 1 0 -1", "1 1 1 0, 0 1 -1 -1"),
    (3, 3): (
        "1/2 0 0, -1/2 -1/2 -1/2, -1/6 1/6 -1/6, 1/6 1/3 2/3, 0 0 1",
        _B_5,
        "1 1 1 1 0, 0 1 -1 2 0, 0 1 1 4 1",
    ),
}

Kind = tuple[tuple[int, int], tuple[int, int]]


def _two_sided(which: int, kind: Kind, values: Array) -> tuple[Array, Array]:
    """matrix @ values @ matrix.T over the last two axes, without the left factor for a single row; with its error bound."""
    (ky, kx), (by, bx) = kind
    right = _thirds(WINOGRAD[kx, bx][which])
    left = np.ones((1, 1)) if ky == 1 else _thirds(WINOGRAD[ky, by][which])
    values = values.astype(np.float64)
    result = left @ values @ right.T
    return result, 16 * EPS * (np.abs(left) @ np.abs(values) @ np.abs(right).T) + 64 * TINY


def winograd_filter(weight: Array, kind: Kind) -> tuple[Array, Array]:
    """Filters (D, C, ky, kx) to coefficients (T, D, C), and the bound."""
    u, bound = _two_sided(0, kind, weight)
    return tuple(np.moveaxis(a.reshape(*weight.shape[:2], -1), 2, 0) for a in (u, bound))  # type: ignore[return-value]


def winograd_input(x: Array, kind: Kind, pad: tuple[int, int, int, int]) -> tuple[Array, Array]:
    """An image (C, H, W) to coefficients (T, C, tiles), and the bound."""
    (ky, kx), (by, bx) = kind
    top, left, bottom, right = pad
    tiles_y = -(-(x.shape[1] + top + bottom - ky + 1) // by)
    tiles_x = -(-(x.shape[2] + left + right - kx + 1) // bx)
    whole = np.zeros((x.shape[0], tiles_y * by + ky - 1 + x.shape[1], tiles_x * bx + kx - 1 + x.shape[2]), x.dtype)
    whole[:, top : top + x.shape[1], left : left + x.shape[2]] = x
    tiles = [
        whole[:, i * by : i * by + by + ky - 1, j * bx : j * bx + bx + kx - 1]
        for i in range(tiles_y)
        for j in range(tiles_x)
    ]
    v, bound = _two_sided(1, kind, np.stack(tiles, 1))
    return tuple(np.moveaxis(a.reshape(*a.shape[:2], -1), 2, 0) for a in (v, bound))  # type: ignore[return-value]


def winograd_output(m: Array, kind: Kind, height: int, width: int) -> tuple[Array, Array]:
    """Products (T, D, tiles) to an image (D, height, width), and the bound."""
    (ky, kx), (by, bx) = kind
    tiles_y, tiles_x = -(-height // by), -(-width // bx)
    products = np.moveaxis(m, 0, 2).reshape(m.shape[1], tiles_y, tiles_x, by + ky - 1, bx + kx - 1)
    both = _two_sided(2, kind, products)
    images = [np.moveaxis(a, 3, 2).reshape(m.shape[1], tiles_y * by, tiles_x * bx) for a in both]
    return images[0][:, :height, :width], images[1][:, :height, :width]
