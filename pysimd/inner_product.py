"""Inner product: the fully connected layer."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import _cffi_backend

from pysimd import calls
from pysimd._activation_params import kind_of, params_of
from pysimd._arrays import (
    BFLOAT16,
    FLOAT32,
    INT8,
    INT32,
    NULL,
    UINT8,
    coefficients,
    coefficients_or_null,
    element_of,
    element_of_dtype,
    floats,
    output,
    plain,
    pointer,
    tensor,
)
from pysimd._convolution import ConvolutionContext, Functions
from pysimd._geometry import number, shape_of
from pysimd._library import ffi, lib
from pysimd.annotations import ActivationLike, Array, Coefficients, FloatArray, Floats, Params, Shape, Tensor
from pysimd.calls import call, create
from pysimd.quantized import AddingBytes, Linear, QuantizedSum, byte_linears, set_with_more

_gc: Any = _cffi_backend.gcp  # what ffi.gc calls


@lru_cache(maxsize=1024)
def _plan(x: Shape, weight: Shape) -> tuple[Shape, range, int, int]:
    """(shape of the output, rows, count, size) for these two shapes."""
    if len(weight) != 2:
        raise ValueError(f"weight has shape {weight}, expected (count, size)")
    count, size = weight
    if not 1 <= len(x) <= 2 or x[-1] != size:
        raise ValueError(f"x has shape {x}, expected ({size},) or (batch, {size}) for weight {weight}, (count, size)")
    return (*x[:-1], count), range(x[0] if len(x) == 2 else 1), count, size


def inner_product(
    x: Floats, weight: Floats, bias: Coefficients | None = None, *, out: FloatArray | None = None
) -> FloatArray:
    """``weight @ x + bias`` for a vector, or for each row of a batch.

    x : float32, contiguous: (size,) or (batch, size).
    weight : float32, contiguous: (count, size), as of Linear of PyTorch.
    bias : float32 (count,), or one number; None for zeros.
    out : float32 (count,) or (batch, count).

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> weight = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    >>> pysimd.inner_product(np.array([10, 1], np.float32), weight)
    array([12., 34., 56.], dtype=float32)

    Formula: SimdSynetInnerProductLayerForward, once per row.
    """
    array, src = floats(x, "x")
    weights, matrix = floats(weight, "weight")
    shape, rows, count, size = _plan(array.shape, weights.shape)
    terms = coefficients_or_null(bias, "bias", count)
    out, dst = output(out, shape, (x, weight, x if bias is None else bias), ("x", "weight", "bias"))
    for row in rows:
        if row:
            src, dst = src + size, dst + count
        call(lib.SimdSynetInnerProductLayerForward, src, matrix, terms, count, size, dst)
    return out


class _InnerProduct(ConvolutionContext):
    """Inner products of rows with constant weights."""

    def _options(self, transpose: bool, activation: int) -> tuple[Any, ...]:
        """The arguments of Init after M, N and K."""
        return transpose, True, True, activation

    def _others(self) -> dict[str, str]:
        """The arguments of the constructor besides those that all have."""
        return {"activation": self._kind.name}

    def _create(self, src_shape: Shape, dst_c: int, activation: ActivationLike, transpose: bool) -> None:
        self._src_shape = shape_of(src_shape, "src_shape")
        if not self._src_shape:
            raise ValueError("src_shape is (), expected at least one dimension: (..., C)")
        *rows, size = self._src_shape
        count, self._images = number(dst_c, "dst_c", 0), prod(rows)
        self._dst_shape = (*rows, count)
        self._weight_shape = (count, size) if transpose else (size, count)
        self._dst_c, self._kind = count, kind_of(activation)
        arguments = {
            "src_shape": self._src_shape,
            "dst_c": count,
            "transpose": bool(transpose),
            **self._others(),
        }
        options = self._options(bool(transpose), self._kind.activation)
        super().__init__(create(self._functions.init, self._images, count, size, *options), arguments)

    def _described(self) -> str:
        weights = "" if self._arguments["transpose"] else ", not transposed"
        return f"{self._src_shape} -> {self._dst_shape}, {self._kind.name}{weights}"

    @property
    def weight_shape(self) -> Shape:
        """The shape of the weights."""
        return self._weight_shape

    def set_params(self, weight: Floats, bias: Coefficients | None = None, params: Params | None = None) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : float32 of ``weight_shape``.
        bias : float32 (dst_c,), or one number; None for zeros.
        params : the parameters of the activation, as of :meth:`Convolution32f.set_params`.

        The context copies the numbers. References to the arrays are kept only for pickle and copy. Raises TypeError for
        another dtype, ValueError for another shape.
        """
        handle = self._open()
        array, weights = floats(weight, "weight")
        if array.shape != self._weight_shape:
            raise ValueError(f"weight has shape {array.shape}, expected {self._weight_shape}")
        terms, numbers = coefficients_or_null(bias, "bias", self._dst_c), params_of(params, self._kind, self._dst_c)
        internal = (NULL,) if self._functions.has_internal else ()
        calls.set_params(self._functions.set_params, handle, weights, *internal, terms, numbers)
        self._given = weight, bias, params

    def _call_forward(self, handle: Any, src: Any, scratch: Any, dst: Any) -> None:
        call(self._functions.forward, handle, src, NULL, scratch, dst)


class InnerProduct32f(_InnerProduct):
    """Inner products of rows with constant weights, with bias and activation: Linear of PyTorch, Gemm of ONNX.

    src_shape : (..., C), C inputs for each row; the number of rows is fixed here.
    dst_c : the number of outputs of each row.
    activation : a name or an :class:`Activation`, as of :class:`Convolution32f`, applied to the sum with its bias.
    transpose : the weights are (dst_c, C), as those of Linear; with False they are (C, dst_c).
    prefer : "bfloat16" has an effect, see :func:`pysimd.set_preference`; None for what is set there.

    Attributes: src_shape, dst_shape, weight_shape. Contexts for other numbers of rows may share the packed weights, see
    :meth:`share_params`.

    >>> x, weight = np.array([[1, 2], [3, 4]], np.float32), np.array([[1, 1], [1, 0], [0, -1]], np.float32)
    >>> with pysimd.InnerProduct32f(x.shape, 3, activation="relu") as context:
    ...     context.set_params(weight, bias=1)
    ...     context(x)
    array([[4., 2., 0.],
           [8., 4., 0.]], dtype=float32)

    Raises ValueError for sizes that do not fit. Formula: SimdSynetInnerProduct32fInit.
    """

    _functions = Functions(
        lib.SimdSynetInnerProduct32fInit,
        lib.SimdSynetInnerProduct32fExternalBufferSize,
        lib.SimdSynetInnerProduct32fInternalBufferSize,
        lib.SimdSynetInnerProduct32fSetParams,
        lib.SimdSynetInnerProduct32fForward,
        has_internal=True,
    )

    def __init__(
        self,
        src_shape: Shape,
        dst_c: int,
        *,
        activation: ActivationLike = "identity",
        transpose: bool = True,
        prefer: str | None = None,
    ) -> None:
        with self._preferring(prefer):
            self._create(src_shape, dst_c, activation, transpose)

    def forward(
        self, x: Tensor, *, add: Floats | None = None, out: FloatArray | None = None, buf: FloatArray | None = None
    ) -> FloatArray:
        """Computes the output for `x`.

        x : float32 of ``src_shape``.
        add : float32 of ``dst_shape``, added before the activation.
        out : float32 of ``dst_shape``. x, add and out may be column slices of larger arrays.
        buf : float32 with at least ``external_buffer_size`` elements, for this call only; without it the library uses
            memory of the calling thread. The result does not depend on it.

        Raises TypeError for another dtype, ValueError for another shape, :class:`StateError` before :meth:`set_params`.
        """
        if add is None:
            return super().forward(x, out=out, buf=buf)
        return self._forward_pixels(x, add, out, buf)

    __call__ = forward


class InnerProduct16b(_InnerProduct):
    """Inner products of rows of bfloat16 numbers with constant weights, sums of floats, bias and activation.

    src_shape, dst_c, activation, transpose : as of :class:`InnerProduct32f`, which has the same attributes.
    src_dtype, dst_dtype : "bfloat16" (also numpy.uint16 or ml_dtypes.bfloat16) or "float32", of the input and of the output.
        A float input is rounded to bfloat16, as weights are; a bfloat16 output is rounded from float.

    The packed weights take half the memory of floats.

    >>> x, weight = pysimd.to_bfloat16(np.array([[1, 2]], np.float32)), np.array([[1, 1], [0, -1]], np.float32)
    >>> with pysimd.InnerProduct16b(x.shape, 2, dst_dtype="float32") as context:
    ...     context.set_params(weight, bias=1)
    ...     context(x)
    array([[ 4., -1.]], dtype=float32)

    Raises TypeError for another dtype, ValueError for sizes that do not fit. Formula: SimdSynetInnerProduct16bInit.
    """

    _unit = UINT8
    _functions = Functions(
        lib.SimdSynetInnerProduct16bInit,
        lib.SimdSynetInnerProduct16bExternalBufferSize,
        lib.SimdSynetInnerProduct16bInternalBufferSize,
        lib.SimdSynetInnerProduct16bSetParams,
        lib.SimdSynetInnerProduct16bForward,
    )

    def __init__(
        self,
        src_shape: Shape,
        dst_c: int,
        *,
        src_dtype: Any = "bfloat16",
        dst_dtype: Any = "bfloat16",
        activation: ActivationLike = "identity",
        transpose: bool = True,
    ) -> None:
        self._src = element_of_dtype(src_dtype, "src_dtype", (FLOAT32, BFLOAT16))
        self._dst = element_of_dtype(dst_dtype, "dst_dtype", (FLOAT32, BFLOAT16))
        self._create(src_shape, dst_c, activation, transpose)

    def _options(self, transpose: bool, activation: int) -> tuple[Any, ...]:
        types = (
            lib.SimdTensorData32f if each is FLOAT32 else lib.SimdTensorData16b for each in (self._src, FLOAT32, self._dst)
        )
        return (*types, *super()._options(transpose, activation))

    def _others(self) -> dict[str, str]:
        return {"src_dtype": self._src.name, "dst_dtype": self._dst.name, **super()._others()}


class QuantizedInnerProduct(AddingBytes, _InnerProduct):
    """Inner products of rows of quantised bytes with constant weights: QLinearMatMul of ONNX, with a bias.

    src_shape, dst_c, transpose : as of :class:`InnerProduct32f`, which has the same attributes.

    Inputs and results are uint8, weights int8.

    >>> x, weight = np.array([[12, 14]], np.uint8), np.array([[1, 1], [0, -2]], np.int8)
    >>> with pysimd.QuantizedInnerProduct(x.shape, 2) as context:
    ...     context.set_params(weight, 0.5, src=(1.0, 10), dst=(1.0, 128))
    ...     context(x)
    array([[131, 124]], dtype=uint8)

    Results are bit-identical on every instruction set. Raises ValueError for sizes that do not fit. Formula:
    SimdSynetQuantizedInnerProductInit.
    """

    _src = _dst = _unit = UINT8
    _functions = Functions(
        lib.SimdSynetQuantizedInnerProductInit,
        lib.SimdSynetQuantizedInnerProductExternalBufferSize,
        lib.SimdSynetQuantizedInnerProductInternalBufferSize,
        lib.SimdSynetQuantizedInnerProductSetParams,
        lib.SimdSynetQuantizedInnerProductForward,
    )

    def __init__(self, src_shape: Shape, dst_c: int, *, transpose: bool = True) -> None:
        self._create(src_shape, dst_c, "identity", transpose)

    def _others(self) -> dict[str, str]:
        return {}

    def _options(self, transpose: bool, activation: int) -> tuple[Any, ...]:
        return UINT8.tensor, INT8.tensor, UINT8.tensor, transpose, True, True

    def set_params(  # type: ignore[override]
        self,
        weight: Array,
        weight_scale: Coefficients,
        src: Linear,
        dst: Linear,
        bias: Array | None = None,
        table: Array | None = None,
        addition: QuantizedSum | None = None,
    ) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : int8 of ``weight_shape``.
        weight_scale : float32 (dst_c,), or one number; finite and above 0.
        src, dst : the scale and the zero of inputs and of results.
        bias : int32 (dst_c,), in units of the scale of `src` times `weight_scale`; None for zeros.
        table : uint8 (256,): results are ``table[y]``, for bytes y of `dst`, as of :func:`pysimd.table8`; None for y.
        addition : the scales and zeros of sums, for calls with `add`; None if there are none.

        The context copies the numbers. References to the arrays are kept only for pickle and copy. Raises TypeError for
        another dtype, ValueError for another shape, scale or zero.
        """
        handle = self._open()
        (scale, zero), (to_scale, to_zero) = byte_linears((src, dst), ("src", "dst"))
        weights = tensor(weight, "weight", self._weight_shape, INT8, INT8.ctype)
        scales, terms = coefficients(weight_scale, "weight_scale", self._dst_c), NULL
        if bias is not None:
            terms = tensor(bias, "bias", (self._dst_c,), INT32, INT32.ctype)
        source = ffi.new("float *", scale), ffi.new("uint8_t *", zero)
        result = ffi.new("float *", to_scale), ffi.new("uint8_t *", to_zero)
        if table is None and addition is None:
            calls.set_params(self._functions.set_params, handle, *source, weights, scales, terms, *result)
        else:
            set_with_more(handle, (scale, zero), (to_scale, to_zero), (weights, scales, terms), table, addition)
        self._given = weight, weight_scale, src, dst, bias, table, addition


def inner_product_8i(x: Array, weight: Array, *, out: Array | None = None) -> Array:
    """``x @ weight.T`` of bytes, as exact sums.

    x : uint8, contiguous: (..., C).
    weight : int8, contiguous: (count, C), packed in every call; a :class:`QuantizedInnerProduct` packs once.
    out : int32 (..., count).

    Sums wrap around at 32 bits. Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> x, weight = np.array([255, 255], np.uint8), np.array([[127, 127], [1, -128]], np.int8)
    >>> pysimd.inner_product_8i(x, weight)
    array([ 64770, -32385], dtype=int32)

    Formula: SimdSynetInnerProduct8i.
    """
    array, weights = plain(x, "x", UINT8), plain(weight, "weight", INT8)
    element_of(array, "x", (UINT8,)), element_of(weights, "weight", (INT8,))
    if array.ndim == 0 or weights.ndim != 2 or weights.shape[1] != array.shape[-1]:
        size = array.shape[-1] if array.ndim else "C"
        raise ValueError(f"weight has shape {weights.shape}, expected (count, {size}) for x of shape {array.shape}")
    *rows, size = array.shape
    src, matrix = pointer(array, "x", UINT8), pointer(weights, "weight", INT8)
    shape = (*rows, weights.shape[0])
    out, dst = output(out, shape, (x, weight), ("x", "weight"), element=INT32, ctype=INT32.ctype, like=INT32)
    call(lib.SimdSynetInnerProduct8i, prod(rows), weights.shape[0], size, src, matrix, dst, 0)
    return out


def linear(
    x: Floats,
    weight: Floats,
    bias: Coefficients | None = None,
    *,
    activation: ActivationLike = "identity",
    params: Params | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """``activation(x @ weight.T + bias)`` for any number of rows, as linear of PyTorch.

    x : float32, contiguous: (..., C).
    weight : float32, contiguous: (dst_c, C).
    bias : float32 (dst_c,), or one number; None for zeros.
    activation : a name or an :class:`Activation`, as of :class:`Convolution32f`.
    params : the parameters of the activation, as of :meth:`Convolution32f.set_params`.
    out : float32 (..., dst_c).

    The weights are packed in every call; an :class:`InnerProduct32f` packs them once. Raises TypeError for another dtype,
    ValueError for shapes that do not fit.

    >>> x, weight = np.array([[1, 2], [3, 4]], np.float32), np.array([[1, 1], [0, -1]], np.float32)
    >>> pysimd.linear(x, weight, bias=-4, activation="relu")
    array([[0., 0.],
           [3., 0.]], dtype=float32)

    Formula: SimdSynetInnerProduct32fInit with constB SimdFalse.
    """
    array, src = floats(x, "x")
    weights, matrix = floats(weight, "weight")
    if array.ndim == 0 or weights.ndim != 2 or weights.shape[1] != array.shape[-1]:
        size = array.shape[-1] if array.ndim else "C"
        raise ValueError(f"weight has shape {weights.shape}, expected (dst_c, {size}) for x of shape {array.shape}")
    *rows, size = array.shape
    kind, count = kind_of(activation), weights.shape[0]
    terms, numbers = coefficients_or_null(bias, "bias", count), params_of(params, kind, count)
    out, dst = output(out, (*rows, count), (x, weight, x if bias is None else bias), ("x", "weight", "bias"))
    if out.size:
        handle = create(lib.SimdSynetInnerProduct32fInit, prod(rows), count, size, True, False, True, kind.activation)
        call(lib.SimdSynetInnerProduct32fSetParams, handle, NULL, NULL, terms, numbers)
        call(lib.SimdSynetInnerProduct32fForward, handle, src, matrix, NULL, dst)
    return out
