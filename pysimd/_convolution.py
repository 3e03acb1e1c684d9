"""What the contexts of convolutions share: activations and their parameters, and how they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, ClassVar, NamedTuple, Union

import numpy as np

from pysimd._arrays import FLOAT32, NULL, Array, Element, Shape, apart, element_of, output, plain, pointer, tensor
from pysimd._library import ffi
from pysimd.calls import call
from pysimd.context import Context
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
    return tensor(params, name, (need,))


class Functions(NamedTuple):
    """The C functions of a family."""

    init: Callable[..., Any]
    external: Callable[..., Any]
    internal: Callable[..., Any]
    set_params: Callable[..., Any]
    forward: Callable[..., Any]


class ConvolutionContext(Context):
    """One convolution or several, of images of one shape."""

    _src_shape: Shape
    _dst_shape: Shape
    _functions: ClassVar[Functions]
    _src: Element = FLOAT32
    _dst: Element = FLOAT32
    _unit: ClassVar[Element] = FLOAT32  # what C takes tensors and buffers as
    _given: tuple[Any, ...] | None = None  # the arguments of set_params

    @property
    def src_shape(self) -> Shape:
        """The shape of the input."""
        return self._src_shape

    @property
    def dst_shape(self) -> Shape:
        """The shape of the output."""
        return self._dst_shape

    @property
    def external_buffer_size(self) -> int:
        """The number of elements, floats or for smaller types bytes, of the `buf` that :meth:`forward` can be given."""
        return int(self._functions.external(self._open()))

    @property
    def internal_buffer_size(self) -> int:
        """The number of elements, floats or for smaller types bytes, that the context holds now."""
        return int(self._functions.internal(self._open()))

    def forward(self, x: Array, *, out: Array | None = None, buf: Array | None = None) -> Array:
        """Computes the output for `x`, of ``src_shape``; gives an array of ``dst_shape``. Both are float32, or of the types
        that the context was made for.

        buf : float32, or for smaller types uint8, with ``external_buffer_size`` elements at least, for this call alone;
            without it the library uses memory of the calling thread. The result does not depend on it.
        """
        handle = self._open()
        unit = self._unit
        src = tensor(x, "x", self._src_shape, self._src, unit.ctype)
        # bfloat16 results are as the source is: uint16, or the type of ml_dtypes
        like = x if self._src is self._dst else self._dst
        out, dst = output(out, self._dst_shape, (x,), ("x",), 0, "out", self._dst, unit.ctype, like)
        scratch = NULL if buf is None else self._buffer_of(handle, buf, src, dst)
        call(self._functions.forward, handle, src, scratch, dst)
        return out

    __call__ = forward

    def _buffer_of(self, handle: Any, buf: Array, src: Any, dst: Any) -> Any:
        """The C array of the buffer that a call is given; x and out, which it must not overlap, are C arrays."""
        buf = plain(buf, "buf")
        element_of(buf, "buf", (self._unit,))
        size = self._functions.external(handle)
        if buf.size < size:
            raise ValueError(f"buf has {buf.size} elements, expected at least {size}")
        scratch = pointer(buf, "buf", self._unit, True)
        apart(scratch, "buf", src, "x")
        apart(scratch, "buf", dst, "out")
        return scratch

    def _weights(self) -> tuple[Any, ...] | None:
        return self._given
