"""Weights without numbers that are 10^30 times smaller than the largest one beside them: they become 0.

Such numbers, and products with them, are soon denormal, below 2^-126, and processors compute with denormal numbers a hundred
times more slowly. Training with decaying weights leaves many: of a text detector (PP-OCRv6, small) two convolutions, whose
weights were denormal by a quarter and more, took 400 ms in place of 2. Where denormal numbers alone became 0, results of
others still were denormal, and GELU took 7 ms in place of 2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pysimd.annotations import Array
from pysimd.network.mapped import release
from pysimd.network.open_arrays import later
from pysimd.network.origins import with_origin
from pysimd.network.passes.rewrite import Draft

_LAYERS = ("Conv", "ConvTranspose", "Linear", "MergedConvolution")
_RATIO = 1e-30
_LEAST = int(np.float32(_RATIO).view(np.int32))  # its bits
_PART = 1 << 16  # elements: 256 KB, which stay in the caches between the operations
_SMALL = 1 << 10  # elements: arrays that are looked at together


def flushed(draft: Draft) -> None:
    """Writes 0 in place of tiny weights of layers."""
    constants = draft.constants
    names = {name: None for node in draft.nodes_of(_LAYERS) for name in node.inputs[1:] if name in constants}
    small = [name for name in names if _is_small(constants[name])]
    if not _have_tiny([constants[name] for name in small]):  # as nearly always; one by one, they take ten times as long
        for name in small:
            del names[name]
    flushed = {name: later(without_tiny, draft.shape(name), constants[name]) for name in names}
    constants.update((name, array) for name, array in flushed.items() if array is not constants[name])


def _is_small(array: Array) -> bool:
    return type(array) is np.ndarray and array.size <= _SMALL and array.dtype == np.float32


def _have_tiny(arrays: list[Array]) -> bool:
    """Whether a number in any of these arrays could become 0: one that is not 0, and below the ratio itself."""
    numbers = np.concatenate([[np.float32(1)], *(array.ravel(order="K") for array in arrays)], dtype=np.float32)
    return _has_below(numbers.view(np.uint32), _LEAST)


def _has_below(bits: Array, least: int) -> bool:
    """Whether the bits of a number other than 0 are below these, but for its sign."""
    numbers = bits << 1  # without the signs
    numbers -= 1  # and with 0 as the largest number
    return int(numbers.min()) < 2 * least - 1


def _parts(array: Array) -> Iterator[Array]:
    flat = array.ravel(order="K")  # of transposed weights, too, no copy
    return (flat[begin : begin + _PART] for begin in range(0, flat.size, _PART))


def _are_large(array: Array, least: int = _LEAST) -> bool:
    """Whether no number is below one with these bits, but for 0. The bits of floats are ordered as integers, from 0 on and
    from -0 on: two walks without other arrays, a third of the time of absolute values."""
    for part in _parts(array):
        bits, signed = part.view(np.uint32), part.view(np.int32)
        if (bits.min() < least or signed.min() < least - (1 << 31)) and _has_below(bits, least):
            return False
    return True


def _limit(array: Array) -> float:
    """The size below which numbers become 0; 0 if there are none."""
    if array.dtype != np.float32 or not array.size:
        return 0.0
    limit = 0.0
    if not _are_large(array):  # as those of nearly all
        limit = _RATIO * min(1.0, max(float(np.abs(part).max()) for part in _parts(array)))
        if _are_large(array, int(np.float32(limit).view(np.int32))):
            limit = 0.0
    release(array)
    return limit


def without_tiny(array: Array) -> Array:
    """The array with 0 in place of tiny numbers; itself if it has none."""
    limit = _limit(array)
    if not limit > 0:
        return array
    return with_origin(np.where(np.abs(array) < limit, np.float32(0), array), "without tiny", array)
