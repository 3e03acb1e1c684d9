"""The common base of the contexts of convolutions: their C functions, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, ClassVar, NamedTuple

import numpy as np

from pysimd._arrays import (
    FLOAT32,
    NULL,
    Element,
    apart,
    element_of,
    output,
    plain,
    plain_output,
    pointer,
    tensor,
)
from pysimd._pixels import BEFORE, Image
from pysimd._pixels import forward as forward_pixels
from pysimd.annotations import Array, Tensor
from pysimd.calls import call
from pysimd.context import ShapedContext, SharingContext
from pysimd.errors import NO_WEIGHTS, StateError
from pysimd.infrastructure import get_preference, preference


class Functions(NamedTuple):
    """The C functions of a family."""

    init: Callable[..., Any]
    external: Callable[..., Any]
    internal: Callable[..., Any]
    set_params: Callable[..., Any]
    forward: Callable[..., Any]
    has_internal: bool = False  # whether SetParams has the argument `internal`, NULL here


class ConvolutionContext(ShapedContext, SharingContext):
    """One convolution or several, of images of one shape."""

    _images: int  # of a batch; for 0, the library has a context for one, which is not called
    _functions: ClassVar[Functions]
    _src: Element = FLOAT32
    _dst: Element = FLOAT32
    _unit: ClassVar[Element] = FLOAT32  # the type of tensors and buffers in C

    @contextmanager
    def _preferring(self, prefer: str | None) -> Iterator[None]:
        """For what creates the context: with a preference, or that of the calling thread, which a pickle keeps."""
        prefer = get_preference() if prefer is None else prefer
        with preference(prefer):
            yield
        self._arguments["prefer"] = prefer

    @property
    def external_buffer_size(self) -> int:
        """The number of elements, floats or for smaller types bytes, of the `buf` that can be passed to :meth:`forward`."""
        return int(self._functions.external(self._open()))

    @property
    def internal_buffer_size(self) -> int:
        """The number of elements, floats or for smaller types bytes, that the context holds now."""
        return int(self._functions.internal(self._open()))

    def forward(self, x: Tensor, *, out: Array | None = None, buf: Array | None = None) -> Array:
        """Computes the output for `x`.

        x : an array of ``src_shape``, float32 or of the type that the context was created for.
        out : an array of ``dst_shape``, float32 or of the type that the context was created for.
            Where channels are last, x and out may be channel slices of larger arrays, ``big[..., 3:19]``.
        buf : float32, or for smaller types uint8, with at least ``external_buffer_size`` elements, for this call only;
            without it the library uses memory of the calling thread. The result does not depend on it.

        Raises TypeError for another dtype, ValueError for another shape, :class:`StateError` before :meth:`set_params`.
        """
        try:
            return self._forward_dense(x, out, buf)
        except StateError:
            raise
        except ValueError:
            if not self._has_gaps(x, out):
                raise
        return self._forward_pixels(x, None, out, buf)

    def _forward_dense(self, x: Tensor, out: Array | None, buf: Array | None) -> Array:
        handle = self._open()
        unit = self._unit
        src = tensor(x, "x", self._src_shape, self._src, unit.ctype)
        # bfloat16 results have the type of the source: uint16, or that of ml_dtypes
        like = x if self._src is self._dst else self._dst
        out, dst = output(out, self._dst_shape, (x,), ("x",), 0, "out", self._dst, unit.ctype, like)
        scratch = NULL if buf is None else self._buffer_of(handle, buf, src, dst)
        if self._images:
            self._call_forward(handle, src, scratch, dst)
        elif self._given is None:
            raise StateError(NO_WEIGHTS)
        return out

    def _call_forward(self, handle: Any, src: Any, scratch: Any, dst: Any) -> None:
        call(self._functions.forward, handle, src, scratch, dst)

    def _has_gaps(self, *images: Tensor | None) -> bool:
        """Whether one of these images is not dense, which is allowed where the channels of a pixel are neighbours."""
        if not str(self._arguments.get("layout", "nhwc")).endswith("c"):
            return False
        return any(image is not None and not plain(image, "image").flags.c_contiguous for image in images)

    def _forward_pixels(
        self, x: Tensor, add: Tensor | None, out: Array | None, buf: Array | None, order: int = BEFORE
    ) -> Array:
        """The same for arrays with other elements between their pixels."""
        handle, ctype = self._open(), self._unit.ctype
        src = Image(x, "x", self._src_shape, self._src, ctype)
        more = None if add is None else Image(add, "add", self._dst_shape, self._dst, ctype)
        if out is None:
            out = np.empty(self._dst_shape, src.array.dtype if self._src is self._dst else self._dst.dtype)
        dst = Image(out, "out", self._dst_shape, self._dst, ctype, True)
        scratch = None
        if buf is not None:
            scratch = self._buffer_of(handle, buf, src.data, dst.data)
            for each, name in ((src, "x"), (more, "add"), (dst, "out")):
                if each is not None and np.may_share_memory(buf, each.array):
                    raise ValueError(f"buf overlaps {name}, expected memory of its own: use another array")
        if self._images:
            forward_pixels(handle, src, more, dst, scratch, order)
        elif self._given is None:
            raise StateError(NO_WEIGHTS)
        return out

    __call__ = forward

    def _buffer_of(self, handle: Any, buf: Array, src: Any, dst: Any) -> Any:
        """The C array of the buffer of a call; it must not overlap x and out, which are C arrays."""
        buf = plain_output(buf, "buf")
        element_of(buf, "buf", (self._unit,))
        size = self._functions.external(handle)
        if buf.size < size:
            raise ValueError(f"buf has {buf.size} elements, expected at least {size}, the external_buffer_size")
        scratch = pointer(buf, "buf", self._unit, True)
        apart(scratch, "buf", src, "x")
        apart(scratch, "buf", dst, "out")
        return scratch

    def _bytes(self) -> int:
        return self.internal_buffer_size * int(self._unit.dtype.itemsize)
