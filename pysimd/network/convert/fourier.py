"""Fourier transforms of at most some thousand numbers, as products with known matrices. NumPy computes longer ones."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.conversion import Conversion, converts
from pysimd.network.open_arrays import later
from pysimd.network.operators import IDENTITY
from pysimd.network.source import SourceNode

_LONGEST, _LONGEST_FRAME = 1024, 2048  # beyond them Fourier's fast transform by NumPy takes less time, and less memory


@converts("DFT")
def _dft(c: Conversion, node: SourceNode) -> None:
    y = _product(c)
    if y is None:
        c.by_numpy()
    else:
        c.give(y)


def _product(c: Conversion) -> str | None:
    """A transform along any dimension but that of the parts; None if NumPy computes it, or tells what is wrong."""
    shape, inverse, onesided = c.shape(0), c.flag("inverse"), c.flag("onesided")
    rank, is_new = len(shape), c.opset >= 20
    if any(c.has(i) and not c.is_known(i) for i in (1, 2)) or rank < 2:
        return None
    axis = int(c.known(2).reshape(())) if is_new and c.has(2) else -2 if is_new else int(c.attribute("axis", 1))
    if not -rank <= axis < rank or axis % rank == rank - 1 or shape[-1] not in (1, 2):
        return None
    size, parts, to_real = shape[axis], int(shape[-1]), inverse and onesided
    length = c.numbers(1)[0] if c.has(1) else 2 * (size - 1) if to_real else size
    if not (1 <= length <= _LONGEST and 1 <= size <= _LONGEST):
        return None
    order = list(range(rank - 1))
    order.append(order.pop(axis % rank))
    x = c.transpose(c.tensor(0), (*order, rank - 1))
    lead = c.builder.shape(x)[:-2]
    count, of_each = (length, 1) if to_real else (length // 2 + 1 if onesided else length, 2)
    function = partial(_matrix_to_real, parts) if to_real else partial(_matrix, parts, inverse, onesided)
    matrix = later(function, (size * parts, count * of_each), size, length)
    x = c.reshape(x, (prod(lead), size * parts))
    y = c.add("Linear", x, c.constant(matrix), activation=IDENTITY, order="add")
    return c.transpose(c.reshape(y, (*lead, count, of_each)), (*(order.index(i) for i in range(rank - 1)), rank - 1))


@converts("STFT")
def _stft(c: Conversion, node: SourceNode) -> None:
    y = _frames(c)
    if y is None:
        c.by_numpy()
    else:
        c.give(y)


def _frames(c: Conversion) -> str | None:
    """A convolution, whose weights are the matrix of a transform times the window; None if NumPy computes it, or tells
    what is wrong."""
    shape = c.shape(0)
    if any(c.has(i) and not c.is_known(i) for i in (1, 2, 3)) or not (c.has(2) or c.has(3)) or len(shape) not in (2, 3):
        return None
    hop, window, parts = int(c.known(1).reshape(())), c.known(2) if c.has(2) else None, shape[2] if len(shape) == 3 else 1
    length = int(c.known(3).reshape(())) if c.has(3) else len(window)  # type: ignore[arg-type]
    fits = hop >= 1 and parts in (1, 2) and 1 <= length <= shape[1] and length <= _LONGEST_FRAME
    if not fits or (window is not None and window.shape != (length,)):
        return None
    weight = _matrix(int(parts), False, c.flag("onesided", 1), length, length).reshape(length, parts, -1)
    if window is not None:
        weight = weight * window.reshape(-1, 1, 1).astype(np.float32)
    weight = np.ascontiguousarray(weight.transpose(2, 1, 0)[:, :, None])
    x = c.transpose(c.tensor(0), (0, 2, 1)) if parts == 2 else c.tensor(0)
    x = c.reshape(x, (shape[0], parts, 1, shape[1]))
    options: dict[str, Any] = {"strides": (1, hop), "pads": (0, 0, 0, 0), "dilations": (1, 1), "group": 1}
    y = c.add("Conv", x, c.constant(weight), activation=IDENTITY, order="add", **options)
    n, rows, _, frames = c.builder.shape(y)
    y = c.transpose(c.reshape(y, (n, rows, frames)), (0, 2, 1))
    return c.reshape(y, (n, frames, rows // 2, 2))


def _angles(rows: int, columns: int, length: int) -> Array:
    """The products of the numbers of rows and columns, in parts of a circle that is divided into a length."""
    return 2 * np.pi / length * (np.outer(np.arange(rows), np.arange(columns)) % length)


def _matrix(parts: int, inverse: bool, onesided: bool, size: int, length: int) -> Array:
    """The matrix that transforms numbers of 1 or 2 parts, of which those beyond a length do not count."""
    size, length = int(size), int(length)
    count = length // 2 + 1 if onesided else length
    angles = _angles(min(size, length), count, length)
    real, imaginary = np.cos(angles), np.sin(angles if inverse else -angles)
    found = np.zeros((size, parts, count, 2))
    for i, pair in enumerate(((real, imaginary), (-imaginary, real))[:parts]):
        found[: len(angles), i] = np.stack(pair, -1)
    if inverse:
        found /= length
    return found.reshape(size * parts, -1).astype(np.float32)


def _matrix_to_real(parts: int, size: int, length: int) -> Array:
    """The matrix of the way back to real numbers, from the first half of what they become and one more."""
    size, length = int(size), int(length)
    rows = min(size, length // 2 + 1)
    angles = _angles(rows, length, length)
    often = np.full((rows, 1), 2.0)  # as each but the first one, and that in the middle, stands for two
    often[0] = 1
    if rows - 1 == length / 2:
        often[-1] = 1
    found = np.zeros((size, parts, length))
    for i, function in enumerate((np.cos, np.sin)[:parts]):
        found[:rows, i] = (-1) ** i * often * function(angles) / length
    return found.reshape(size * parts, length).astype(np.float32)
