"""Additions: float and bfloat16 tensors, quantised bytes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pysimd._arrays import (
    BFLOAT16,
    FLOAT32,
    UINT8,
    Array,
    Element,
    Shape,
    element_of,
    element_of_dtype,
    output,
    plain,
    pointer,
    tensor,
)
from pysimd._geometry import Layout, layout_of, planes_of, shape_of
from pysimd._library import ffi, lib
from pysimd.calls import call
from pysimd.context import Context
from pysimd.enums import Compatibility

_SUMMANDS = (FLOAT32, BFLOAT16)

_GIVEN_8I = ("a", "b", "a_scale", "a_shift", "b_scale", "b_shift", "c_scale", "c_shift")


def add_8i(
    a: Array,
    b: Array,
    *,
    a_scale: Array,
    a_shift: Array,
    b_scale: Array,
    b_shift: Array,
    c_scale: Array,
    c_shift: Array,
    layout: Layout = "nhwc",
    narrowed: bool = False,
    out: Array | None = None,
) -> Array:
    """Adds two quantised tensors of bytes.

    In float32, each operation rounded by itself, for channel c::

        t = (a * a_scale[c] + a_shift[c] + b * b_scale[c] + b_shift[c]) * c_scale[c] + c_shift[c]

    rounded to the nearest integer, ties to even, and limited to 0 .. 255, or 0 .. 180 when `narrowed`.

    a, b, out : uint8 of one shape, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc"; or a batch of them.
    the six arrays : (C,) float32.

    Formula: SimdSynetAdd8i.
    """
    a, b = plain(a, "a"), plain(b, "b")
    element_of(a, "a", (UINT8,))
    element_of(b, "b", (UINT8,))
    form = layout_of(layout)
    batch, channels, spatial = planes_of(a.shape, form, "a")
    if b.shape != a.shape:
        raise ValueError(f"b has shape {b.shape}, expected that of a, {a.shape}")
    a_args = pointer(a, "a", UINT8), tensor(a_scale, "a_scale", (channels,)), tensor(a_shift, "a_shift", (channels,))
    b_args = pointer(b, "b", UINT8), tensor(b_scale, "b_scale", (channels,)), tensor(b_shift, "b_shift", (channels,))
    c_scales = tensor(c_scale, "c_scale", (channels,)), tensor(c_shift, "c_shift", (channels,))
    given = a, b, a_scale, a_shift, b_scale, b_shift, c_scale, c_shift
    out, dst = output(out, a.shape, given, _GIVEN_8I, element=UINT8, ctype=UINT8.ctype, like=UINT8)
    mode = Compatibility.INT8_NARROWED if narrowed else Compatibility.DEFAULT
    call(lib.SimdSynetAdd8i, *a_args, *b_args, dst, *c_scales, batch, channels, spatial, form, mode)
    return out


class Add16b(Context):
    """Adds two tensors of one shape, each float32 or bfloat16: ``dst = convert(float(a) + float(b))``.

    shape : the shape of both inputs and of the output.
    a_dtype, b_dtype, dst_dtype : "float32" or "bfloat16" (also as numpy.uint16 or ml_dtypes.bfloat16).

    To bfloat16 it rounds to nearest even. Formula: SimdSynetAdd16bInit, SimdSynetAdd16bForward.
    """

    def __init__(
        self, shape: Shape, *, a_dtype: Any = "float32", b_dtype: Any = "float32", dst_dtype: Any = "float32"
    ) -> None:
        self._shape = shape_of(shape, "shape")
        self._a = element_of_dtype(a_dtype, "a_dtype", _SUMMANDS)
        self._b = element_of_dtype(b_dtype, "b_dtype", _SUMMANDS)
        self._dst = element_of_dtype(dst_dtype, "dst_dtype", _SUMMANDS)
        self._same = (self._a is self._dst) + (self._b is self._dst)  # summands that the sum may overwrite
        rank = len(self._shape)
        sizes = ffi.new("size_t[]", self._shape)
        super().__init__(
            lib.SimdSynetAdd16bInit(
                sizes, rank, self._a.tensor, sizes, rank, self._b.tensor, self._dst.tensor, lib.SimdTensorFormatUnknown
            ),
            {"shape": self._shape, "a_dtype": self._a.name, "b_dtype": self._b.name, "dst_dtype": self._dst.name},
        )

    @property
    def shape(self) -> Shape:
        """The shape of both inputs and of the output."""
        return self._shape

    def forward(self, a: Array, b: Array, *, out: Array | None = None) -> Array:
        """Adds. ``out`` may be ``a`` or ``b`` when it has the same dtype."""
        handle = self._open()
        a_data = tensor(a, "a", self._shape, self._a, UINT8.ctype)
        b_data = tensor(b, "b", self._shape, self._b, UINT8.ctype)
        sources, names = ((a, b), ("a", "b")) if self._a is self._dst else ((b, a), ("b", "a"))
        like = sources[0] if self._same else self._dst
        out, dst = output(out, self._shape, sources, names, self._same, element=self._dst, ctype=UINT8.ctype, like=like)
        call(lib.SimdSynetAdd16bForward, handle, a_data, b_data, dst)
        return out

    __call__ = forward


def add(a: Array, b: Array, *, dtype: Any = None, out: Array | None = None) -> Array:
    """``a + b`` of two arrays of one shape, each float32 or bfloat16, in float, rounded once.

    dtype : of the result: "float32" or "bfloat16"; that of `out` when it is given, else that of `a` and `b` when they agree,
        else float32. ``out`` may be ``a`` or ``b`` when it has the same dtype.

    It makes an :class:`Add16b`, and keeps some for the next calls with the same shape.
    """
    a, b = plain(a, "a"), plain(b, "b")
    a_element = element_of(a, "a", _SUMMANDS)
    b_element = element_of(b, "b", _SUMMANDS)
    if dtype is not None:
        element = element_of_dtype(dtype, "dtype", _SUMMANDS)
    elif out is not None:
        element = element_of(plain(out, "out"), "out", _SUMMANDS)
    else:
        element = a_element if a_element is b_element else FLOAT32
    return _adder(a.shape, a_element, b_element, element, lib.SimdnetActiveIsa()).forward(a, b, out=out)


@lru_cache(maxsize=64)
def _adder(shape: Shape, a: Element, b: Element, dst: Element, isa: Any) -> Add16b:
    """Kept for an instruction set, too: contexts stay with the one that they were made with."""
    return Add16b(shape, a_dtype=a.name, b_dtype=b.name, dst_dtype=dst.name)
