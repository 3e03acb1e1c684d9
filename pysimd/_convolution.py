"""What the contexts of convolutions share: activations and their parameters, and the buffer of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from pysimd._arrays import FLOAT32, Array, Element, apart, element_of, pointer, vector
from pysimd._library import ffi
from pysimd.enums import Activation

Params = Union[float, Sequence[float], Array]

_ACTIVATIONS = {kind.name.lower(): kind for kind in Activation}
_PARAMS = {
    Activation.IDENTITY: 0,
    Activation.RELU: 0,
    Activation.LEAKY_RELU: 1,
    Activation.RESTRICT_RANGE: 2,
    Activation.ELU: 1,
    Activation.HSWISH: 2,
}  # PRELU has one per output channel


def activation_of(activation: str | Activation) -> Activation:
    """The enumerator of an activation given by name or as such."""
    if isinstance(activation, str):
        found = _ACTIVATIONS.get(activation)
        if found is None:
            raise ValueError(f"activation is {activation!r}, expected one of {', '.join(_ACTIVATIONS)}")
        return found
    return Activation(activation)


def params_of(params: Params | None, activation: Activation, dst_c: int, name: str = "params") -> Any:
    """A C array of what the activation needs. Plain numbers are taken as they come; an array must be float32."""
    need = _PARAMS.get(activation, dst_c)
    if params is None:
        if need:
            raise ValueError(f"{name} is None, expected {need} numbers for {activation.name.lower()}")
        return ffi.NULL
    if not isinstance(params, np.ndarray):
        params = np.array(params, np.float32).reshape(-1)
    return vector(params, name, need)


def buffer_of(buf: Array, size: int, src: Any, dst: Any, element: Element = FLOAT32) -> Any:
    """The C array of the buffer that a call is given; x and out, which it must not overlap, are C arrays."""
    element_of(buf, "buf", (element,))
    if buf.size < size:
        raise ValueError(f"buf has {buf.size} elements, expected at least {size}")
    scratch = pointer(buf, "buf", element, True)
    apart(scratch, "buf", src, "x")
    apart(scratch, "buf", dst, "out")
    return scratch
