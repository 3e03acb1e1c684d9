"""Where weights come from: what is equal for arrays of equal contents, found without reading the large ones."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.binding import address_of
from pysimd.network.mapped import owner_of

_SMALL = 1 << 12  # bytes, which are copied in a tenth of the time of their digest
#: How passes have computed arrays, by the identities of these, as long as they exist: each with what removes it then, in a
#: fifth of the time of ``weakref.finalize``.
_COMPUTED: dict[int, tuple[Any, Any]] = {}


def origin_of(array: Array) -> Any:
    """Of an array in a file that is mapped its place, of one that passes have computed how; None for others.

    Nearly all large weights are in files, or computed of these, so their bytes need not be read.
    """
    view = array.shape, array.strides, array.dtype.str
    file = owner_of(array)
    if file is not None:
        return (file, address_of(array), *view)
    owner = memory_of(array)
    computed, _ = _COMPUTED.get(id(owner), (None, None))
    return None if computed is None else (computed, address_of(array) - address_of(owner), *view)


def with_origin(array: Array, function: str, *given: Array) -> Array:
    """The array, with a note that this function has computed it of these arrays and of nothing else."""
    found = (function, *(origin_of(each) or (digest(each), each.shape, each.dtype.str) for each in given))
    _COMPUTED[id(array)] = found, weakref.ref(array, partial(_COMPUTED.pop, id(array)))
    return array


def memory_of(array: Array) -> Array:
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def digest(value: Array) -> bytes:
    """What stands for the bytes of an array, in an order that depends on its strides; of a small one these bytes."""
    if value.nbytes <= _SMALL and value.flags.c_contiguous:
        return value.tobytes()
    in_memory = value
    if not value.flags.c_contiguous:
        in_memory = value.transpose(sorted(range(value.ndim), key=lambda axis: -abs(value.strides[axis])))
    data = np.ascontiguousarray(in_memory).reshape(-1).view(np.uint8)
    try:
        from _blake2 import blake2b  # a tenth of the time of hashlib, which takes 3 ms for OpenSSL; so does random of it
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=32).digest()  # type: ignore[arg-type]  # before Python 3.12
