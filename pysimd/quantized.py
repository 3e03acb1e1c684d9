"""Layers of quantised bytes: uint8 tensors, each with one scale and one zero.

A byte q represents ``(q - zero) * scale``; pairs ``(scale, zero)`` describe a tensor, as in ``src=(0.5, 128)``. A scale is
finite and above 0, a zero is 0 .. 255. All instruction sets give the same bytes.

Raises TypeError for another dtype, ValueError for another shape, scale or zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pysimd._arrays import (
    FLOAT32,
    INT8,
    UINT8,
    apart,
    as_float,
    at,
    coefficients,
    coefficients_or_null,
    element_of,
    element_of_dtype,
    is_number,
    output,
    plain,
    pointer,
    several,
    tensor,
)
from pysimd._convolution import ConvolutionContext
from pysimd._geometry import NHWC, axis_of, images_of, integer, layout_of, planes_of, shape_of, with_channels
from pysimd._library import ffi, lib
from pysimd._pixels import AFTER, BEFORE
from pysimd.annotations import Array, ByteArray, Bytes, Coefficients, Layout, Shape, Tensor
from pysimd.calls import call, create, set_params
from pysimd.context import ShapedContext
from pysimd.errors import shown

#: The scale and the zero of a tensor of bytes.
Linear = tuple[float, int]


def linear_of(value: Any, name: str) -> Linear:
    if not (isinstance(value, tuple) and len(value) == 2 and is_number(value[0])):
        raise TypeError(f"{name} is {shown(value)}, expected a tuple (scale, zero)")
    return as_float(value[0], f"{name}[0]"), integer(value[1], f"{name}[1]")


def byte_linears(values: Sequence[Any], names: Sequence[str]) -> list[Linear]:
    """The scales and the zeros of tensors of bytes, for the C functions that take zeros as bytes."""
    linears = [linear_of(value, name) for value, name in zip(values, names)]
    for (_, zero), name in zip(linears, names):
        if not 0 <= zero <= 255:
            raise ValueError(f"{name}[1] is {zero}, expected a byte, 0 to 255")
    return linears


class QuantizedSum(NamedTuple):
    """What a layer of bytes adds: the scales and zeros of a sum, as of :func:`quantized_binary`.

    own : of the bytes that are added to: results of the layer, or, in the order "after", what its table gives.
    add : of the array that :meth:`forward` is given as `add`.
    dst : of the sum.
    add_first : whether `add` is the first operand, which decides in which order the parts of a sum are rounded.
    dtype : "uint8", or "int8": of both operands and of the sum. Signed bytes are given and returned as views as uint8.

    >>> x = np.full((1, 1, 2), 12, np.uint8)
    >>> with pysimd.QuantizedConvolution(x.shape, 2, kernel=1) as context:
    ...     weight, pair = np.ones(context.weight_shape, np.int8), (1.0, 10)
    ...     context.set_params(weight, 1.0, src=pair, dst=pair, addition=pysimd.QuantizedSum(pair, pair, (0.5, 3)))
    ...     context(x, add=x + 3)  # 4 + 5 in steps of 0.5
    array([[[21, 21]]], dtype=uint8)
    """

    own: Linear
    add: Linear
    dst: Linear
    add_first: bool = False
    dtype: str = "uint8"


def set_with_more(
    handle: Any,
    src: Linear,
    dst: Linear,
    arrays: tuple[Any, Any, Any],
    table: Bytes | None,
    addition: QuantizedSum | None,
) -> None:
    """Sets the parameters of a context of bytes, the table of its results, and what it adds.

    arrays : weights, their scales, and the bias, as C arrays.
    """
    given = dict(zip(("weight", "weightScale", "bias"), arrays))
    if table is not None:
        given["table"] = tensor(table, "table", (256,), UINT8, UINT8.ctype)
    arguments = ffi.new("SimdnetQuantizedParams *", given)
    arguments.size = ffi.sizeof("SimdnetQuantizedParams")
    arguments.srcScale, arguments.srcZero = src
    arguments.dstScale, arguments.dstZero = dst
    if addition is not None:
        if not isinstance(addition, QuantizedSum):
            raise TypeError(f"addition is {shown(addition)}, expected a QuantizedSum")
        arguments.adds, arguments.addFirst = 1, bool(addition.add_first)
        arguments.addType = element_of_dtype(addition.dtype, "addition.dtype", (UINT8, INT8)).tensor
        arguments.ownScale, arguments.ownZero = linear_of(addition.own, "addition.own")
        arguments.addScale, arguments.addZero = linear_of(addition.add, "addition.add")
        arguments.sumScale, arguments.sumZero = linear_of(addition.dst, "addition.dst")
    set_params(lib.SimdnetQuantizedSetParams, handle, arguments)


class AddingBytes(ConvolutionContext):
    """A layer of bytes that can add others to its results."""

    def forward(
        self,
        x: Tensor,
        *,
        add: Tensor | None = None,
        after: bool = False,
        out: Array | None = None,
        buf: Array | None = None,
    ) -> Array:
        """Computes the output for `x`.

        x : uint8 of ``src_shape``.
        add : uint8 of ``dst_shape``, added as the `addition` of :meth:`set_params` says.
        after : whether it is added to what the table gives; otherwise the table gives results for sums.
        out : uint8 of ``dst_shape``. Where channels are last, x, add and out may be channel slices of larger arrays.
        buf : uint8 with at least ``external_buffer_size`` elements, for this call only; without it the library uses
            memory of the calling thread. The result does not depend on it.

        Raises TypeError for another dtype, ValueError for another shape, and for `add` without an `addition`,
        :class:`StateError` before :meth:`set_params`.
        """
        if add is None:
            return super().forward(x, out=out, buf=buf)
        if not self._has_gaps(x, add, out):
            tensor(x, "x", self._src_shape, UINT8, UINT8.ctype), tensor(add, "add", self._dst_shape, UINT8, UINT8.ctype)
        return self._forward_pixels(x, add, out, buf, AFTER if after else BEFORE)

    __call__ = forward


def _linears(values: Any, number: int) -> list[Linear]:
    """The scales and zeros of so many sources."""
    if not isinstance(values, (tuple, list)) or len(values) != number:
        raise ValueError(f"src is {shown(values)}, expected {number} tuples (scale, zero), one for each array")
    return [linear_of(value, f"src[{i}]") for i, value in enumerate(values)]


def _bytes(x: Bytes, name: str) -> tuple[Array, Any]:
    """A plain array of bytes, and its C array."""
    array = plain(x, name, UINT8)
    element_of(array, name, (UINT8,))
    return array, pointer(array, name, UINT8)


def _layer(
    function: Any, x: Bytes, terms: dict[str, Any], src: Linear, dst: Linear, layout: Layout, out: ByteArray | None
) -> ByteArray:
    """A layer with coefficients of channels, once for each image. The first coefficients are required."""
    array, data = _bytes(x, "x")
    form = layout_of(layout)
    images, channels, spatial = planes_of(array.shape, form)
    (scale, zero), (dst_scale, dst_zero) = linear_of(src, "src"), linear_of(dst, "dst")
    first, *others = terms
    values = [coefficients(terms[first], first, channels)]
    values += [coefficients_or_null(terms[name], name, channels) for name in others]
    given = {name: value for name, value in terms.items() if value is not None}
    sources, names = (x, *given.values()), ("x", *given)
    out, result = output(out, array.shape, sources, names, 1, element=UINT8, ctype=UINT8.ctype, like=UINT8)
    for begin in [image * channels * spatial for image in range(images)]:
        source, target = at(data, begin), at(result, begin)
        call(function, source, (scale,), zero, channels, spatial, *values, target, (dst_scale,), dst_zero, form)
    return out


def quantized_prelu(
    x: Bytes,
    slope: Coefficients,
    *,
    src: Linear,
    dst: Linear,
    layout: Layout = "nhwc",
    out: ByteArray | None = None,
) -> ByteArray:
    """``max(0, v) + slope[c] * min(0, v)`` of the values v that bytes represent.

    x, out : uint8, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw"; or a batch of them.
        ``out`` may be ``x``.
    slope : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels.
    src, dst : the scale and the zero of `x` and of the result.

    >>> pysimd.quantized_prelu(np.array([[8, 12]], np.uint8), 0.5, src=(1.0, 10), dst=(0.5, 100))
    array([[ 98, 104]], dtype=uint8)

    Formula: SimdSynetQuantizedPreluLayerForward.
    """
    return _layer(lib.SimdSynetQuantizedPreluLayerForward, x, {"slope": slope}, src, dst, layout, out)


def quantized_scale(
    x: Bytes,
    scale: Coefficients,
    bias: Coefficients | None = None,
    *,
    src: Linear,
    dst: Linear,
    layout: Layout = "nhwc",
    out: ByteArray | None = None,
) -> ByteArray:
    """``v * scale[c] + bias[c]``, rounded once, of the values v that bytes represent.

    x, out : uint8, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw"; or a batch of them.
        ``out`` may be ``x``.
    scale, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; None for `bias` is zeros.
    src, dst : the scale and the zero of `x` and of the result.

    >>> pysimd.quantized_scale(np.array([[8, 12]], np.uint8), 3, 1, src=(1.0, 10), dst=(0.5, 100))
    array([[ 90, 114]], dtype=uint8)

    Formula: SimdSynetQuantizedScaleLayerForward.
    """
    return _layer(lib.SimdSynetQuantizedScaleLayerForward, x, {"scale": scale, "bias": bias}, src, dst, layout, out)


def quantized_concatenate(
    arrays: Sequence[Bytes], axis: int = 0, *, src: Sequence[Linear], dst: Linear, out: ByteArray | None = None
) -> ByteArray:
    """The arrays one after another along an axis, each requantised.

    arrays : at least one; uint8, contiguous, of shapes that differ along `axis` only.
    src : the scale and the zero of each of them.
    dst : those of the result.
    out : uint8 of the shape of the result.

    >>> a, b = np.array([8, 10], np.uint8), np.array([3], np.uint8)
    >>> pysimd.quantized_concatenate([a, b], src=[(1.0, 0), (2.0, 0)], dst=(0.5, 0))
    array([16, 20, 12], dtype=uint8)

    Formula: SimdSynetQuantizedConcatLayerForward.
    """
    given = several(arrays, "arrays")
    taken = [_bytes(array, f"arrays[{i}]") for i, array in enumerate(given)]
    if not taken:
        raise ValueError("arrays is empty, expected at least one")
    pairs = _linears(src, len(taken))
    first = taken[0][0].shape
    axis = axis_of(axis, first, "arrays[0]")
    for i, (array, _) in enumerate(taken):
        if array.shape != (*first[:axis], *array.shape[axis : axis + 1], *first[axis + 1 :]):
            raise ValueError(f"arrays[{i}] has shape {array.shape}, expected that of arrays[0] except for axis {axis}")
    extent = sum(array.shape[axis] for array, _ in taken)
    shape = (*first[:axis], extent, *first[axis + 1 :])
    out, result = output(out, shape, given, "arrays", element=UINT8, ctype=UINT8.ctype, like=UINT8)
    scale, zero = linear_of(dst, "dst")
    sizes = ffi.new("size_t[]", [prod(array.shape[axis:]) for array, _ in taken])
    zeros = ffi.new("int32_t[]", [-pair[1] for pair in pairs])
    norms = ffi.new("float[]", [pair[0] for pair in pairs])
    sources = [data for _, data in taken]
    rows = prod(first[:axis])
    call(
        lib.SimdSynetQuantizedConcatLayerForward,
        len(taken), sources, rows, sizes, zeros, norms, (_inverse(scale),), zero, result,
    )  # fmt: skip
    return out


def _inverse(scale: float) -> float:
    """1 / scale in float32, which C refuses where the scale is no scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.float32(1) / np.float32(scale))


def quantized_shuffle(
    a: Bytes,
    b: Bytes,
    *,
    src: tuple[Linear, Linear],
    dst: Linear,
    channels: tuple[int, int] | None = None,
    layout: Layout = "nhwc",
    out: tuple[ByteArray, ByteArray] | None = None,
) -> tuple[ByteArray, ByteArray]:
    """Splits the channels of `a` followed by those of `b` into the even and the odd ones, and requantises them.

    a, b : uint8, contiguous, each with an even number of channels: (C, H, W) for "nchw", (H, W, C) for "nhwc", (C, W) for
        "ncw", (W, C) for "nwc"; or a batch of them. They may differ in C only.
    src : the scale and the zero of `a`, and those of `b`.
    dst : those of both results.
    channels : the inverse, for the even channels in `a` and the odd ones in `b`: the channels of the two results.
    out : two arrays.

    >>> a, b = np.array([[[0, 1]]], np.uint8), np.array([[[2, 3]]], np.uint8)
    >>> even, odd = pysimd.quantized_shuffle(a, b, src=((1.0, 0), (1.0, 0)), dst=(0.5, 10))
    >>> even, odd
    (array([[[10, 14]]], dtype=uint8), array([[[12, 16]]], dtype=uint8))

    Formula: SimdSynetQuantizedShuffleLayerForward.
    """
    (first, src0), (second, src1) = _bytes(a, "a"), _bytes(b, "b")
    form = layout_of(layout)
    lead, c0, height, width = images_of(first.shape, form, "a")
    c1 = images_of(second.shape, form, "b")[1]
    if second.shape != with_channels(first.shape, form, c1):
        raise ValueError(f"b has shape {second.shape}, expected that of a, {first.shape}, except for the channels")
    wanted = channels if channels is not None else ((c0 + c1) // 2, (c0 + c1) // 2)
    pair = isinstance(channels, tuple) and len(channels) == 2 and all(isinstance(count, int) for count in channels)
    if channels is not None and not (pair and min(channels) >= 0 and c0 == c1 and sum(channels) == c0 + c1):
        raise ValueError(f"channels is {shown(channels)}, expected two numbers, twice as many as a and b have each")
    if out is not None and not (isinstance(out, tuple) and len(out) == 2):
        raise TypeError(f"out is {shown(out)}, expected a tuple of two arrays")
    made = []
    for i, count in enumerate(wanted):
        shape, one = with_channels(first.shape, form, count), None if out is None else out[i]
        made.append(output(one, shape, (a, b), ("a", "b"), element=UINT8, ctype=UINT8.ctype, like=UINT8))
    (out0, dst0), (out1, dst1) = made
    apart(dst0, "out", dst1, "itself")
    (norm0, zero0), (norm1, zero1), (scale, zero) = *_linears(src, 2), linear_of(dst, "dst")
    images, spatial = lead[0] if lead else 1, height * width
    if form == NHWC:  # the images of a batch follow each other, like the pixels of one
        images, spatial = 1, images * spatial
    sizes = (c0, c1) if channels is None else channels
    for i in range(images):
        (from0, from1), (to0, to1) = ([i * spatial * n for n in counts] for counts in ((c0, c1), wanted))
        call(
            lib.SimdSynetQuantizedShuffleLayerForward,
            at(src0, from0), -zero0, (norm0,), sizes[0], at(src1, from1), -zero1, (norm1,), sizes[1], spatial,
            at(dst0, to0), at(dst1, to1), (_inverse(scale),), zero, form, int(channels is not None),
        )  # fmt: skip
    return out0, out1


class QuantizedAdd(ShapedContext):
    """The sum of two tensors of one shape, each of floats or of quantised bytes: QLinearAdd of ONNX for bytes.

    src_shape : the shape of both inputs and of the output.
    a, b, dst : the scale and the zero of a tensor of uint8; None for one of float32.
    relu : whether negative sums become 0.

    Raises ValueError for another scale or zero, or a shape that is too large.

    >>> with pysimd.QuantizedAdd((2,), a=(0.5, 10), b=(1.0, 0), dst=(1.0, 3)) as context:
    ...     context(np.array([10, 14], np.uint8), np.array([1, 2], np.uint8))
    array([4, 7], dtype=uint8)

    Formula: SimdSynetQuantizedAddInit.
    """

    def __init__(
        self,
        src_shape: Shape,
        *,
        a: Linear | None = None,
        b: Linear | None = None,
        dst: Linear | None = None,
        relu: bool = False,
    ) -> None:
        self._src_shape = self._dst_shape = shape_of(src_shape, "src_shape")
        given = {"a": a, "b": b, "dst": dst}
        self._elements = tuple(FLOAT32 if pair is None else UINT8 for pair in given.values())
        terms = [(1.0, 0) if pair is None else linear_of(pair, name) for name, pair in given.items()]
        types = [element.tensor for element in self._elements]
        activation = lib.SimdConvolutionActivationRelu if relu else lib.SimdConvolutionActivationIdentity
        shape, rank = ffi.new("size_t[]", self._src_shape), len(self._src_shape)
        tensors = [(kind, ffi.new("float *", scale), zero) for kind, (scale, zero) in zip(types, terms)]
        super().__init__(
            create(
                lib.SimdSynetQuantizedAddInit,
                shape, rank, *tensors[0], shape, rank, *tensors[1], activation, ffi.NULL, *tensors[2],
            ),
            {"src_shape": self._src_shape, **given, "relu": bool(relu)},
        )  # fmt: skip

    def forward(self, a: Tensor, b: Tensor, *, out: Array | None = None) -> Array:
        """Adds `a` and `b`. ``out`` may be ``a`` or ``b`` if it has the same dtype."""
        handle = self._open()
        first, second, dst = self._elements
        a_data = tensor(a, "a", self._src_shape, first, UINT8.ctype)
        b_data = tensor(b, "b", self._src_shape, second, UINT8.ctype)
        sources, names = ((a, b), ("a", "b")) if first is dst else ((b, a), ("b", "a"))
        same = (first is dst) + (second is dst)
        out, result = output(out, self._src_shape, sources, names, same, element=dst, ctype=UINT8.ctype, like=dst)
        call(lib.SimdSynetQuantizedAddForward, handle, a_data, b_data, result)
        return out

    __call__ = forward
