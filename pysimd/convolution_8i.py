"""Convolution of quantised images, and the way from floats to bytes and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pysimd._arrays import (
    FLOAT32,
    UINT8,
    Array,
    Shape,
    element_of,
    plain,
    tensor,
)
from pysimd._convolution import Functions, Params
from pysimd._geometry import NCHW, Layout, layout_of
from pysimd._library import ffi, lib
from pysimd._single_convolution import SmallConvolution
from pysimd.convolution import Convolution32f
from pysimd.errors import check


@dataclass(frozen=True, eq=False)
class Statistics:
    """The smallest and the largest value of each channel of a tensor, from which its bytes follow.

    min, max : (C,) float32.
    """

    min: Array
    max: Array

    @property
    def zero(self) -> int:
        """The byte that stands for 0: 128 when some channel has values below 0, else 0."""
        return 128 if (self.min < 0).any() else 0

    @property
    def step(self) -> Array:
        """What one byte more is worth, (C,) float32."""
        step = np.maximum(np.abs(self.min), np.abs(self.max)) / np.float32(127 if self.zero else 255)
        return np.where(step < np.float32(1e-7), np.float32(1), step)

    @property
    def scale(self) -> Array:
        """What values are multiplied by to become bytes, (C,) float32: 1 / step."""
        scale: Array = np.float32(1) / self.step
        return scale


def _check(stats: Statistics) -> None:
    """Refuses what tells nothing, as :meth:`Convolution8i.set_params` does."""
    if not isinstance(stats, Statistics):
        raise TypeError(f"stats is a {type(stats).__name__}, expected pysimd.Statistics")
    for name, values in (("min", stats.min), ("max", stats.max)):
        element_of(plain(values, f"stats.{name}"), f"stats.{name}", (FLOAT32,))
        if values.shape != (stats.min.size,):
            raise ValueError(
                f"stats.{name} has shape {values.shape}, expected one value for each of {stats.min.size} channels"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"stats.{name} holds an infinity or a NaN, expected finite numbers")
    if (stats.min > stats.max).any():
        channel = int((stats.min > stats.max).argmax())
        raise ValueError(f"stats.min of channel {channel} is {stats.min[channel]:g}, expected at most the maximum")


def _along(coefficients: Array, x: Array, layout: Layout) -> Array:
    """One coefficient per channel, for the channels of `x`."""
    axis = -3 if layout_of(layout) == NCHW else -1
    if x.ndim < -axis or x.shape[axis] != len(coefficients):
        raise ValueError(f"x has shape {x.shape}, expected {len(coefficients)} channels at axis {axis}")
    return coefficients.reshape((-1,) + (1,) * (-1 - axis))


def statistics(samples: Array | Iterable[Array], *, layout: Layout = "nhwc") -> Statistics:
    """The statistics of sample arrays: one float32 array, or some, of images (..., H, W, C) or (..., C, H, W) for "nchw".

    Values outside what the samples show will be cut off, so take samples that are like the data to come.
    """
    nchw = layout_of(layout) == NCHW
    low: Array | None = None
    high: Array | None = None
    for x in [samples] if isinstance(samples, np.ndarray) else samples:
        x = plain(x, "samples")
        element_of(x, "samples", (FLOAT32,))
        if x.ndim < (3 if nchw else 1):
            raise ValueError(f"samples has shape {x.shape}, expected (..., {'C, H, W' if nchw else 'C'})")
        channels = np.moveaxis(x, -3, -1) if nchw else x
        channels = channels.reshape(-1, channels.shape[-1])
        if len(channels) == 0:
            raise ValueError(f"samples has shape {x.shape}, expected at least one value for each channel")
        if low is not None and len(low) != channels.shape[1]:
            raise ValueError(f"samples have {len(low)} and {channels.shape[1]} channels, expected as many in each")
        least, most = channels.min(axis=0), channels.max(axis=0)
        low, high = (least, most) if low is None or high is None else (np.minimum(low, least), np.maximum(high, most))
    if low is None or high is None:
        raise ValueError("samples are none, expected at least one array")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError("samples hold an infinity or a NaN, expected finite numbers")
    return Statistics(low, high)


def quantize(x: Array, stats: Statistics, *, layout: Layout = "nhwc") -> Array:
    """The bytes of `x`, float32 (..., H, W, C) or (..., C, H, W): just those that :class:`Convolution8i` makes of them."""
    x = plain(x, "x")
    element_of(x, "x", (FLOAT32,))
    _check(stats)
    with np.errstate(all="ignore"):
        scaled = x * _along(stats.scale, x, layout) + np.float32(stats.zero)
    bytes_: Array = np.rint(np.clip(np.nan_to_num(scaled, posinf=255), 0, 255)).astype(np.uint8, order="C")
    return bytes_


def dequantize(x: Array, stats: Statistics, *, layout: Layout = "nhwc") -> Array:
    """The values that the bytes `x` stand for, as float32."""
    x = plain(x, "x")
    element_of(x, "x", (UINT8,))
    _check(stats)
    values: Array = (x.astype(np.float32, order="C") - np.float32(stats.zero)) * _along(stats.step, x, layout)
    return values


class Convolution8i(SmallConvolution):
    """A convolution by 8-bit integers with bias and activation, for one shape of input.

    src_dtype, dst_dtype : float32 or uint8, of the input and of the output. Bytes stand for values as :class:`Statistics`
        tell; a float input is quantised, a float output is not.

    options : kernel, stride, padding, dilation, group, activation and layout, as of :class:`Convolution32f`, whose
        attributes it has too. Outside the image lies the byte that stands for 0.

    Statistics come from samples of the layer's input and output in float::

        seen, given = pysimd.statistics(inputs), pysimd.statistics(outputs)
        with pysimd.Convolution8i((56, 56, 64), 64, kernel=3, padding=1, activation="relu") as convolution:
            convolution.set_params(weight, bias, src_stats=seen, dst_stats=given)
            y = convolution(pysimd.quantize(x, seen))

    Results have the same bits on every instruction set, but for the activation "elu". Formula: SimdSynetConvolution8iInit.
    """

    _small = UINT8
    _functions = Functions(
        lambda batch, conv, gemm: lib.SimdSynetConvolution8iInit(batch, conv),
        lib.SimdSynetConvolution8iExternalBufferSize,
        lib.SimdSynetConvolution8iInternalBufferSize,
        lib.SimdSynetConvolution8iSetParams,
        lib.SimdSynetConvolution8iForward,
    )
    _size = staticmethod(Convolution32f._size)
    _weights_of = staticmethod(Convolution32f._weights_of)

    def __init__(
        self, src_shape: Shape, dst_c: int, *, src_dtype: Any = np.uint8, dst_dtype: Any = np.uint8, **options: Any
    ) -> None:
        super().__init__(src_shape, dst_c, src_dtype, dst_dtype, options)

    def set_params(
        self,
        weight: Array,
        bias: Array | None = None,
        params: Params | None = None,
        src_stats: Statistics | None = None,
        dst_stats: Statistics | None = None,
    ) -> None:
        """Gives the context its weights and statistics; may be called again, but not while :meth:`forward` runs.

        weight, bias, params : float, as in :meth:`Convolution32f.set_params`; they are quantised here.
        src_stats, dst_stats : of the input and of the output, both needed whatever their types are.

        The context copies what it needs. The arrays are kept, not copied, for pickle and copy alone: what these give has the
        numbers that are in them then.
        """
        handle = self._open()
        numbers = self._numbers(weight, bias, params)
        arrays = []
        for stats, name, channels in ((src_stats, "src_stats", self._src_c), (dst_stats, "dst_stats", self._dst_c)):
            if not isinstance(stats, Statistics):
                raise TypeError(f"{name} is a {type(stats).__name__}, expected pysimd.Statistics")
            arrays += [tensor(stats.min, f"{name}.min", (channels,)), tensor(stats.max, f"{name}.max", (channels,))]
        lib.SimdSynetConvolution8iSetParams(handle, *numbers, ffi.new("float *[]", arrays))
        check()
        self._given = weight, bias, params, src_stats, dst_stats
