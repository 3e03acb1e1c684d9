"""Convolution of quantised images, and conversion of floats to bytes and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pysimd import calls
from pysimd._arrays import FLOAT32, UINT8, coefficients, element_of, is_array, plain, pointer, tensor
from pysimd._convolution import Functions
from pysimd._geometry import NCHW, is_signal, layout_of
from pysimd._library import ffi, lib
from pysimd._single_convolution import Options, SmallConvolution, with_options
from pysimd.annotations import (
    Array,
    ByteArray,
    Bytes,
    Coefficients,
    FloatArray,
    Floats,
    Layout,
    Params,
    Shape,
)
from pysimd.enums import Compatibility

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, eq=False)
class Statistics:
    """The smallest and the largest value of each channel of a tensor, which determine its quantisation.

    min, max : (C,) float32.

    >>> stats = pysimd.Statistics(np.array([-127, 0], np.float32), np.array([50, 254], np.float32))
    >>> stats.zero, stats.step
    (128, array([1., 2.], dtype=float32))
    """

    min: FloatArray
    max: FloatArray

    @property
    def zero(self) -> int:
        """The byte that represents 0: 128 if some channel has values below 0, else 0."""
        return 128 if (self.min < 0).any() else 0

    @property
    def step(self) -> FloatArray:
        """The difference between the values of adjacent bytes, (C,) float32."""
        step = np.maximum(np.abs(self.min), np.abs(self.max)) / np.float32(127 if self.zero else 255)
        return np.where(step < np.float32(1e-7), np.float32(1), step)

    @property
    def scale(self) -> FloatArray:
        """The factor from values to bytes, (C,) float32: 1 / step."""
        scale: FloatArray = np.float32(1) / self.step
        return scale


def check_statistics(stats: Statistics, name: str = "stats") -> None:
    """Refuses statistics that determine no quantisation."""
    if not isinstance(stats, Statistics):
        raise TypeError(f"{name} is a {type(stats).__name__}, expected pysimd.Statistics: use pysimd.statistics(samples)")
    least, most = plain(stats.min, f"{name}.min"), plain(stats.max, f"{name}.max")
    for part, values in ((f"{name}.min", least), (f"{name}.max", most)):
        element_of(values, part, (FLOAT32,))
        if values.shape != (least.size,):
            raise ValueError(f"{part} has shape {values.shape}, expected one value for each of {least.size} channels")
        if not np.isfinite(values).all():
            raise ValueError(f"{part} contains an infinity or NaN, expected finite numbers")
    if (least > most).any():
        channel = int((least > most).argmax())
        raise ValueError(f"{name}.min of channel {channel} is {least[channel]:g}, expected at most the maximum")


def _axis_of(layout: Layout) -> int:
    """The axis of channels."""
    form = layout_of(layout)
    return -1 if form != NCHW else -2 if is_signal(form) else -3


def _along(coefficients: Array, x: Array, layout: Layout) -> Array:
    """One coefficient per channel, for the channels of `x`."""
    axis = _axis_of(layout)
    if x.ndim < -axis or x.shape[axis] != len(coefficients):
        raise ValueError(f"x has shape {x.shape}, expected {len(coefficients)} channels at axis {axis}")
    return coefficients.reshape((-1,) + (1,) * (-1 - axis))


def statistics(samples: Floats | Iterable[Floats], *, layout: Layout = "nhwc") -> Statistics:
    """The smallest and the largest value of each channel in samples.

    samples : a float32 array, or several, of shape (..., C) for "nhwc" and "nwc", (..., C, H, W) for "nchw", (..., C, W) for
        "ncw".

    Values beyond those of the samples will be clipped, so samples should resemble the data to come. Raises TypeError for
    another dtype, ValueError for infinities, NaN, no samples, or numbers of channels that differ.

    >>> stats = pysimd.statistics(np.array([[-1, 5], [3, 2]], np.float32))
    >>> stats.min, stats.max
    (array([-1.,  2.], dtype=float32), array([3., 5.], dtype=float32))
    """
    axis = _axis_of(layout)
    low: Array | None = None
    high: Array | None = None
    arrays: Any = [samples] if is_array(samples) else samples
    for given in arrays:
        x = plain(given, "samples")
        element_of(x, "samples", (FLOAT32,))
        if x.ndim < -axis:
            raise ValueError(
                f"samples has shape {x.shape}, expected (..., {', '.join('CHW' if axis == -3 else 'CW'[:-axis])})"
            )
        channels = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
        if len(channels) == 0:
            raise ValueError(f"samples has shape {x.shape}, expected at least one value for each channel")
        if low is not None and len(low) != channels.shape[1]:
            raise ValueError(f"samples have {len(low)} and {channels.shape[1]} channels, expected as many in each")
        least, most = channels.min(axis=0), channels.max(axis=0)
        low, high = (least, most) if low is None or high is None else (np.minimum(low, least), np.maximum(high, most))
    if low is None or high is None:
        raise ValueError("samples is empty, expected at least one array")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError("samples contain an infinity or a NaN, expected finite numbers")
    return Statistics(low, high)


def quantize(x: Floats, stats: Statistics, *, layout: Layout = "nhwc") -> ByteArray:
    """Quantises floats, with the bytes that :class:`Convolution8i` would compute of them.

    x : float32 of shape (..., C) for "nhwc" and "nwc", (..., C, H, W) for "nchw", (..., C, W) for "ncw".
    stats : of the channels, as returned by :func:`statistics`.

    Raises TypeError for another dtype, ValueError for another number of channels.

    >>> stats = pysimd.Statistics(np.array([-127], np.float32), np.array([127], np.float32))
    >>> pysimd.quantize(np.array([[-127], [0], [5]], np.float32), stats)[:, 0]
    array([  1, 128, 133], dtype=uint8)
    """
    array = plain(x, "x")
    element_of(array, "x", (FLOAT32,))
    check_statistics(stats)
    scale = _along(stats.scale, array, layout)
    axis, channels = array.ndim + _axis_of(layout), scale.size
    src, result = np.ascontiguousarray(array), np.empty(array.shape, np.uint8)
    before, behind = prod(array.shape[:axis]), prod(array.shape[axis + 1 :])
    terms = coefficients(scale.reshape(-1), "scale", channels), coefficients(float(stats.zero), "zero", channels)
    data, dst = pointer(src, "x", FLOAT32), pointer(result, "result", UINT8, True)
    lib.SimdSynetConvert32fTo8u(data, before, channels, behind, 1, NCHW, *terms, dst, Compatibility.DEFAULT)
    return result


def dequantize(x: Bytes, stats: Statistics, *, layout: Layout = "nhwc") -> FloatArray:
    """The values that bytes represent, as float32.

    x : uint8 of shape (..., C) for "nhwc" and "nwc", (..., C, H, W) for "nchw", (..., C, W) for "ncw".
    stats : of the channels, as passed to :func:`quantize`.

    Raises TypeError for another dtype, ValueError for another number of channels.

    >>> stats = pysimd.Statistics(np.array([-127], np.float32), np.array([127], np.float32))
    >>> pysimd.dequantize(np.array([[1], [128], [133]], np.uint8), stats)[:, 0]
    array([-127.,    0.,    5.], dtype=float32)
    """
    array = plain(x, "x", UINT8)
    element_of(array, "x", (UINT8,))
    check_statistics(stats)
    values: FloatArray = (array.astype(np.float32, order="C") - np.float32(stats.zero)) * _along(stats.step, array, layout)
    return values


class Convolution8i(SmallConvolution):
    """A convolution by 8-bit integers with bias and activation, for one shape of input.

    src_shape, dst_c, kernel, stride, padding, dilation, group, activation, layout : as of :class:`Convolution32f`, which has
        the same attributes. Outside the image is the byte that represents 0.
    src_dtype, dst_dtype : uint8 or float32, of the input and of the output. Bytes represent values according to
        :class:`Statistics`; a float input is quantised, a float output is not.

    Statistics come from samples of the layer's input and output in float:

    >>> x, weight = np.ones((56, 56, 64), np.float32), np.ones((3, 3, 64, 32), np.float32)
    >>> y = pysimd.convolution(x, weight, padding=1)
    >>> src_stats, dst_stats = pysimd.statistics(x), pysimd.statistics(y)
    >>> with pysimd.Convolution8i(x.shape, 32, kernel=3, padding=1) as context:
    ...     context.set_params(weight, src_stats=src_stats, dst_stats=dst_stats)
    ...     z = context(pysimd.quantize(x, src_stats))
    >>> round(float(pysimd.dequantize(z, dst_stats)[5, 5, 0])), float(y[5, 5, 0])
    (576, 576.0)

    Results are bit-identical on every instruction set, except for the activation "elu". Raises TypeError for another dtype,
    ValueError for sizes that do not fit. Formula: SimdSynetConvolution8iInit.
    """

    _small = UINT8
    _functions = Functions(
        lambda batch, conv, gemm: lib.SimdSynetConvolution8iInit(batch, conv),
        lib.SimdSynetConvolution8iExternalBufferSize,
        lib.SimdSynetConvolution8iInternalBufferSize,
        lib.SimdSynetConvolution8iSetParams,
        lib.SimdSynetConvolution8iForward,
    )

    @with_options
    def __init__(
        self,
        src_shape: Shape,
        dst_c: int,
        *,
        src_dtype: Any = np.uint8,
        dst_dtype: Any = np.uint8,
        **options: Unpack[Options],
    ) -> None:
        self._set_types(src_dtype, dst_dtype)
        super().__init__(src_shape, dst_c, **options)

    def set_params(
        self,
        weight: Floats,
        bias: Coefficients | None = None,
        params: Params | None = None,
        src_stats: Statistics | None = None,
        dst_stats: Statistics | None = None,
    ) -> None:
        """Sets the weights and statistics; may be called again, but not while :meth:`forward` runs.

        weight, bias, params : float, as of :meth:`Convolution32f.set_params`; they are quantised here.
        src_stats, dst_stats : of the input and of the output, both required whatever their types are.

        The context copies the numbers. References to the arrays are kept only for pickle and copy, which read the numbers
        that the arrays contain then. Raises TypeError for another dtype, ValueError for another shape.
        """
        handle = self._open()
        numbers = self._numbers(weight, bias, params)
        arrays = []
        for stats, name, channels in ((src_stats, "src_stats", self._src_c), (dst_stats, "dst_stats", self._dst_c)):
            if stats is None:
                raise TypeError(f"{name} is None, expected pysimd.Statistics: use pysimd.statistics(samples)")
            check_statistics(stats, name)
            arrays += [tensor(stats.min, f"{name}.min", (channels,)), tensor(stats.max, f"{name}.max", (channels,))]
        calls.set_params(self._functions.set_params, handle, *numbers, ffi.new("float *[]", arrays))
        self._given = weight, bias, params, src_stats, dst_stats
