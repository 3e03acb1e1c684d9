"""Layers of bfloat16 numbers and of bytes that change each element by coefficients of its channel."""

from __future__ import annotations

from typing import Any

from pysimd import calls
from pysimd._arrays import (
    BFLOAT16,
    FLOAT32,
    UINT8,
    Element,
    at,
    bfloat16s,
    coefficients,
    coefficients_or_null,
    element_of_dtype,
    output,
    tensor,
)
from pysimd._geometry import layout_of, name_of, planes_of, shape_of
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Coefficients, Layout, Shape, Tensor
from pysimd.calls import call, create
from pysimd.context import ShapedContext, SharingContext
from pysimd.convolution_8i import Statistics, check_statistics
from pysimd.enums import Compatibility


def relu_16b(x: Tensor, *, slope: float = 0.0, out: Array | None = None) -> Array:
    """``max(0, x) + slope * min(0, x)`` of bfloat16 numbers, computed in float and rounded once.

    x, out : bfloat16 (uint16 or ml_dtypes.bfloat16) of any shape, contiguous; ``out`` may be ``x``.

    NaN propagates, and -inf with slope 0 gives NaN, as the formula has it. Raises TypeError for another dtype.

    >>> x = pysimd.to_bfloat16(np.array([-2, 0, 3], np.float32))
    >>> pysimd.from_bfloat16(pysimd.relu_16b(x, slope=0.5))
    array([-1.,  0.,  3.], dtype=float32)

    Formula: SimdSynetRelu16b.
    """
    array, src = bfloat16s(x, "x")
    out, dst = output(out, array.shape, (x,), ("x",), 1, element=BFLOAT16, ctype=BFLOAT16.ctype, like=x)
    call(lib.SimdSynetRelu16b, src, array.size, (slope,), dst)
    return out


class _Scale(ShapedContext):
    """A tensor of channels whose elements are scaled one by one."""

    _small: Element

    def _take(self, src_shape: Shape, src_dtype: Any, dst_dtype: Any, layout: Layout) -> dict[str, Any]:
        """Sets what the arguments describe; returns them for a pickle."""
        self._src_shape = self._dst_shape = shape_of(src_shape, "src_shape")
        self._form = layout_of(layout)
        self._images, self._channels, self._spatial = planes_of(self._src_shape, self._form, "src_shape")
        allowed = FLOAT32, self._small
        self._src = element_of_dtype(src_dtype, "src_dtype", allowed)
        self._dst = element_of_dtype(dst_dtype, "dst_dtype", allowed)
        types = {"src_dtype": self._src.name, "dst_dtype": self._dst.name}
        return {"src_shape": self._src_shape, **types, "layout": name_of(self._form)}

    def _source(self, x: Tensor) -> Any:
        return tensor(x, "x", self._src_shape, self._src, UINT8.ctype)

    def _result(self, x: Tensor, out: Array | None, terms: dict[str, Any]) -> tuple[Array, Any]:
        """The output and its C array. The coefficients must not overlap it."""
        same = self._src is self._dst
        like = x if same else self._dst
        sources, names = (x, *terms.values()), ("x", *terms)
        return output(out, self._dst_shape, sources, names, int(same), element=self._dst, ctype=UINT8.ctype, like=like)


class Scale16b(_Scale):
    """Channels of floats or bfloat16 numbers: ``convert(x * norm[c] + bias[c])``, product and sum each rounded to float.

    src_shape : the shape of the input and of the output: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for
        "ncw"; or a batch of them.
    src_dtype, dst_dtype : "float32" or "bfloat16" (also as numpy.uint16 or ml_dtypes.bfloat16).
    norm, bias : which coefficients there are, at least one of them.

    Raises TypeError for another dtype, ValueError for a shape that is too large and without coefficients.

    >>> with pysimd.Scale16b((2, 2), dst_dtype="float32") as context:
    ...     x = pysimd.to_bfloat16(np.ones((2, 2), np.float32))
    ...     context(x, np.array([3, 4], np.float32), 0.5)
    array([[3.5, 4.5],
           [3.5, 4.5]], dtype=float32)

    Formula: SimdSynetScale16bInit, SimdSynetScale16bForward.
    """

    _small = BFLOAT16

    def __init__(
        self,
        src_shape: Shape,
        *,
        src_dtype: Any = "bfloat16",
        dst_dtype: Any = "bfloat16",
        norm: bool = True,
        bias: bool = True,
        layout: Layout = "nhwc",
    ) -> None:
        arguments = self._take(src_shape, src_dtype, dst_dtype, layout)
        self._terms = bool(norm), bool(bias)
        sizes = self._channels, self._spatial, self._src.tensor, self._dst.tensor, self._form
        super().__init__(
            create(lib.SimdSynetScale16bInit, *sizes, *self._terms), {**arguments, "norm": bool(norm), "bias": bool(bias)}
        )

    def forward(
        self, x: Tensor, norm: Coefficients | None = None, bias: Coefficients | None = None, *, out: Array | None = None
    ) -> Array:
        """Scales `x`.

        norm, bias : those that were announced: float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all
            channels.
        out : ``out`` may be ``x`` if the types are equal.
        """
        handle, src = self._open(), self._source(x)
        for wanted, value, name in zip(self._terms, (norm, bias), ("norm", "bias")):
            if wanted is (value is None):
                raise TypeError(f"{name} is {'None, expected coefficients' if wanted else 'given, expected None'}")
        norms, biases = (coefficients_or_null(v, name, self._channels) for v, name in ((norm, "norm"), (bias, "bias")))
        out, dst = self._result(x, out, {k: v for k, v in (("norm", norm), ("bias", bias)) if v is not None})
        size = self._channels * self._spatial
        for image in range(self._images):
            begin, end = size * image * self._src.dtype.itemsize, size * image * self._dst.dtype.itemsize
            call(lib.SimdSynetScale16bForward, handle, at(src, begin), norms, biases, at(dst, end))
        return out

    __call__ = forward


class Scale8i(_Scale, SharingContext):
    """Channels of floats or quantised bytes: ``x * scale[c] + bias[c]`` of the values that bytes represent.

    src_shape : the shape of the input and of the output: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for
        "ncw"; or a batch of them.
    src_dtype, dst_dtype : uint8 or float32. Bytes represent values according to :class:`Statistics`.

    Raises TypeError for another dtype, ValueError for a shape that is too large.

    >>> stats = pysimd.Statistics(np.array([0], np.float32), np.array([255], np.float32))
    >>> with pysimd.Scale8i((3, 1)) as context:
    ...     context.set_params(2.0, 1.0, stats, stats)
    ...     context(np.array([[0], [10], [200]], np.uint8))[:, 0]
    array([  1,  21, 255], dtype=uint8)

    Formula: SimdSynetScale8iInit.
    """

    _small = UINT8

    def __init__(
        self, src_shape: Shape, *, src_dtype: Any = "uint8", dst_dtype: Any = "uint8", layout: Layout = "nhwc"
    ) -> None:
        arguments = self._take(src_shape, src_dtype, dst_dtype, layout)
        sizes = self._images, self._channels, self._spatial, self._src.tensor, self._dst.tensor, self._form
        super().__init__(create(lib.SimdSynetScale8iInit, *sizes, Compatibility.DEFAULT), arguments)

    @property
    def internal_buffer_size(self) -> int:
        """The bytes that the context holds; 0 before :meth:`set_params`."""
        return int(lib.SimdSynetScale8iInternalBufferSize(self._open()))

    def _bytes(self) -> int:
        return self.internal_buffer_size

    def set_params(
        self,
        scale: Coefficients,
        bias: Coefficients | None = None,
        src_stats: Statistics | None = None,
        dst_stats: Statistics | None = None,
    ) -> None:
        """Sets the coefficients and statistics, which are copied; may be called again, but not while :meth:`forward` runs.

        scale, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; None for no bias.
        src_stats, dst_stats : of the input and of the output, both required whatever their types are.

        Raises TypeError for another dtype, ValueError for another shape and for numbers that are not finite.
        """
        handle = self._open()
        numbers = coefficients(scale, "scale", self._channels), coefficients_or_null(bias, "bias", self._channels)
        arrays = []
        for stats, name in ((src_stats, "src_stats"), (dst_stats, "dst_stats")):
            if stats is None:
                raise TypeError(f"{name} is None, expected pysimd.Statistics: use pysimd.statistics(samples)")
            check_statistics(stats, name)
            for end, values in (("min", stats.min), ("max", stats.max)):
                arrays.append(tensor(values, f"{name}.{end}", (self._channels,)))
        calls.set_params(lib.SimdSynetScale8iSetParams, handle, *numbers, ffi.new("float *[]", arrays))
        self._given = scale, bias, src_stats, dst_stats

    def forward(self, x: Tensor, *, out: Array | None = None) -> Array:
        """Computes the layer. ``out`` may be ``x`` if the types are equal."""
        handle, src = self._open(), self._source(x)
        out, dst = self._result(x, out, {})
        call(lib.SimdSynetScale8iForward, handle, src, dst)
        return out

    __call__ = forward
