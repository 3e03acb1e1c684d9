"""Additions: float and bfloat16 tensors, quantised bytes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pysimd._arrays import (
    BFLOAT16,
    FLOAT32,
    UINT8,
    Element,
    coefficients,
    element_of,
    element_of_dtype,
    is_number,
    output,
    plain,
    plain_output,
    pointer,
    tensor,
)
from pysimd._geometry import layout_of, planes_of, shape_of
from pysimd._library import ffi, lib
from pysimd.annotations import Array, ByteArray, Bytes, Coefficients, Layout, Shape, Tensor
from pysimd.binary import binary
from pysimd.calls import call, create
from pysimd.context import Context
from pysimd.enums import BinaryOperation, Compatibility

_SUMMANDS = (FLOAT32, BFLOAT16)

_GIVEN_8I = ("a", "b", "a_scale", "a_shift", "b_scale", "b_shift", "c_scale", "c_shift")


def add_8i(
    a: Bytes,
    b: Bytes,
    *,
    a_scale: Coefficients,
    a_shift: Coefficients,
    b_scale: Coefficients,
    b_shift: Coefficients,
    c_scale: Coefficients,
    c_shift: Coefficients,
    layout: Layout = "nhwc",
    narrowed: bool = False,
    out: ByteArray | None = None,
) -> ByteArray:
    """The sum of two quantised tensors.

    In float32, with a rounding after each operation, for channel c::

        t = (a * a_scale[c] + a_shift[c] + b * b_scale[c] + b_shift[c]) * c_scale[c] + c_shift[c]

    rounded to the nearest integer, ties to even, and limited to 0 .. 255, or to 0 .. 180 if `narrowed`.

    a, b, out : uint8 of one shape, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw"; or a
        batch of them.
    a_scale ... c_shift : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> a, b = np.array([[10, 200]], np.uint8), np.array([[20, 100]], np.uint8)
    >>> pysimd.add_8i(a, b, a_scale=1, a_shift=0, b_scale=1, b_shift=0, c_scale=0.5, c_shift=0)
    array([[ 15, 150]], dtype=uint8)

    Formula: SimdSynetAdd8i.
    """
    first, second = plain(a, "a", UINT8), plain(b, "b", UINT8)
    element_of(first, "a", (UINT8,))
    element_of(second, "b", (UINT8,))
    form = layout_of(layout)
    batch, channels, spatial = planes_of(first.shape, form, "a")
    if second.shape != first.shape:
        raise ValueError(f"b has shape {second.shape}, expected that of a, {first.shape}")
    given = a, b, a_scale, a_shift, b_scale, b_shift, c_scale, c_shift
    terms = [coefficients(each, name, channels) for each, name in zip(given[2:], _GIVEN_8I[2:])]
    a_data, b_data = pointer(first, "a", UINT8), pointer(second, "b", UINT8)
    out, dst = output(out, first.shape, given, _GIVEN_8I, element=UINT8, ctype=UINT8.ctype, like=UINT8)
    mode = Compatibility.INT8_NARROWED if narrowed else Compatibility.DEFAULT
    arguments = a_data, *terms[:2], b_data, *terms[2:4], dst, *terms[4:]
    call(lib.SimdSynetAdd8i, *arguments, batch, channels, spatial, form, mode)
    return out


class Add16b(Context):
    """The sum of two tensors of one shape, each float32 or bfloat16: ``dst = convert(float(a) + float(b))``.

    shape : the shape of both inputs and of the output.
    a_dtype, b_dtype, dst_dtype : "float32" or "bfloat16" (also as numpy.uint16 or ml_dtypes.bfloat16).

    A bfloat16 result is rounded to nearest even. Raises TypeError for another dtype, ValueError for a shape that is too
    large.

    >>> with pysimd.Add16b((2,), b_dtype="bfloat16") as context:
    ...     context(np.array([1, 2], np.float32), pysimd.to_bfloat16(np.array([10, 20], np.float32)))
    array([11., 22.], dtype=float32)

    Formula: SimdSynetAdd16bInit, SimdSynetAdd16bForward.
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
            create(
                lib.SimdSynetAdd16bInit,
                sizes,
                rank,
                self._a.tensor,
                sizes,
                rank,
                self._b.tensor,
                self._dst.tensor,
                lib.SimdTensorFormatUnknown,
            ),
            {"shape": self._shape, "a_dtype": self._a.name, "b_dtype": self._b.name, "dst_dtype": self._dst.name},
        )

    def _described(self) -> str:
        return str(self._shape)

    @property
    def shape(self) -> Shape:
        """The shape of both inputs and of the output."""
        return self._shape

    def forward(self, a: Tensor, b: Tensor, *, out: Array | None = None) -> Array:
        """Adds `a` and `b`. ``out`` may be ``a`` or ``b`` if it has the same dtype."""
        handle = self._open()
        a_data = tensor(a, "a", self._shape, self._a, UINT8.ctype)
        b_data = tensor(b, "b", self._shape, self._b, UINT8.ctype)
        sources, names = ((a, b), ("a", "b")) if self._a is self._dst else ((b, a), ("b", "a"))
        like = sources[0] if self._same else self._dst
        out, dst = output(out, self._shape, sources, names, self._same, element=self._dst, ctype=UINT8.ctype, like=like)
        call(lib.SimdSynetAdd16bForward, handle, a_data, b_data, dst)
        return out

    __call__ = forward


def add(a: Tensor | float, b: Tensor | float, *, dtype: Any = None, out: Array | None = None) -> Array:
    """``a + b`` in float, rounded once.

    a, b : float32 or bfloat16 (uint16 or ml_dtypes.bfloat16), contiguous, of one shape; if both are float32 also of shapes
        that NumPy broadcasts, and one may be a number.
    dtype : that of the result, "float32" or "bfloat16"; by default that of `out` if there is one, else that of `a` and `b`
        if they agree, else float32.
    out : ``out`` may be ``a`` or ``b`` if it has the same dtype.

    Arrays of one shape take an :class:`Add16b`, of which some are kept for later calls with the same shape, others
    :func:`binary`. Raises TypeError for another dtype, ValueError for shapes that cannot be broadcast.

    >>> pysimd.add(np.array([1, 2], np.float32), np.array([10, 20], np.float32))
    array([11., 22.], dtype=float32)
    """
    summands: tuple[Any, Any] = a, b
    if dtype is None and (is_number(a) or is_number(b)):
        return binary(BinaryOperation.ADD, *summands, out=out)
    first, second = plain(a, "a"), plain(b, "b")
    a_element = element_of(first, "a", _SUMMANDS)
    b_element = element_of(second, "b", _SUMMANDS)
    if dtype is None and first.shape != second.shape and a_element is b_element is FLOAT32:
        return binary(BinaryOperation.ADD, *summands, out=out)
    if dtype is not None:
        element = element_of_dtype(dtype, "dtype", _SUMMANDS)
    elif out is not None:
        element = element_of(plain_output(out, "out"), "out", _SUMMANDS)
    else:
        element = a_element if a_element is b_element else FLOAT32
    return _adder(first.shape, a_element, b_element, element, lib.SimdnetActiveIsa()).forward(*summands, out=out)


@lru_cache(maxsize=64)
def _adder(shape: Shape, a: Element, b: Element, dst: Element, isa: Any) -> Add16b:
    """One for each instruction set, too: a context keeps the one it was created with."""
    return Add16b(shape, a_dtype=a.name, b_dtype=b.name, dst_dtype=dst.name)
