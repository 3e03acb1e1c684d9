"""The call of each function with what a case gives, under the name that its formula has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pysimd
from pysimd.lowlevel import ffi, lib
from support.vectors.numbers import Array, Linear

_FORMS = {"nchw": lib.SimdTensorFormatNchw, "nhwc": lib.SimdTensorFormatNhwc}


def _at(array: Array, kind: str) -> Any:
    return ffi.from_buffer(f"{kind}[]", array)


def _floats(values: Any) -> Any:
    return ffi.new("float[]", np.asarray(values, np.float32).reshape(-1).tolist())


def _by_norm(x: Array, norm: Array, zero: int) -> Array:
    y = np.empty(x.shape, np.uint8)
    lib.SimdSynetQuantizeLinear(_at(x, "float"), x.size, _floats(norm), zero, _at(y, "uint8_t"))
    return y


def _from_norm(x: Array, norm: Array, bias: int) -> Array:
    y = np.empty(x.shape, np.float32)
    lib.SimdSynetDequantizeLinear(_at(x, "uint8_t"), x.size, bias, _floats(norm), _at(y, "float"))
    return y


def _image(x: Array, layout: str) -> tuple[Any, ...]:
    """Batch, channels, height, width and format."""
    batch, *sizes = x.shape
    channels, height, width = sizes if layout == "nchw" else (sizes[2], *sizes[:2])
    return batch, channels, height, width, _FORMS[layout]


def _to_8u(x: Array, scale: Array, shift: Array, layout: str, narrowed: bool) -> Array:
    y, mode = np.empty(x.shape, np.uint8), pysimd.Compatibility.INT8_NARROWED if narrowed else pysimd.Compatibility.DEFAULT
    terms = _floats(scale), _floats(shift)
    lib.SimdSynetConvert32fTo8u(_at(x, "float"), *_image(x, layout), *terms, _at(y, "uint8_t"), mode)
    return y


def _to_32f(x: Array, scale: Array, shift: Array, layout: str) -> Array:
    y, terms = np.empty(x.shape, np.float32), (_floats(scale), _floats(shift))
    lib.SimdSynetConvert8uTo32f(_at(x, "uint8_t"), *_image(x, layout), *terms, _at(y, "float"), 0)
    return y


def _narrow(function: Any, bits: Array, source: type, result: type) -> Array:
    """A conversion of bits, which has no rounding of its own in NumPy."""
    x = bits.astype(source) if source is np.uint16 else bits
    y: Array = np.empty(bits.shape, result)
    kinds = ["uint16_t" if kind is np.uint16 else "float" for kind in (source, result)]
    function(_at(x, kinds[0]), bits.size, _at(y, kinds[1]))
    return y.astype(np.uint32) if result is np.uint16 else y


def _stats(pair: Sequence[Array]) -> Any:
    return pysimd.Statistics(*pair)


def _scale_8i(x: Array, scale: Array, bias: Any, src: Any, dst: Any, layout: Any, dst_dtype: str) -> Array:
    with pysimd.Scale8i(x.shape, src_dtype=x.dtype.name, dst_dtype=dst_dtype, layout=layout) as context:
        context.set_params(scale, bias, _stats(src), _stats(dst))
        return context(x)


def _add_8i(a: Array, b: Array, coefficients: Any, layout: Any, narrowed: bool) -> Array:
    names = "a_scale", "a_shift", "b_scale", "b_shift", "c_scale", "c_shift"
    return pysimd.add_8i(a, b, **dict(zip(names, coefficients)), layout=layout, narrowed=narrowed)


def _quantized_add(a: Array, b: Array, src: Any, dst: Any, relu: bool) -> Array:
    with pysimd.QuantizedAdd(a.shape, a=src[0], b=src[1], dst=dst, relu=relu) as context:
        return context(a, b)


def _window(window: dict[str, Any]) -> dict[str, Any]:
    return {name: window[name] for name in ("kernel", "stride", "padding", "ceil_mode")}


def _pooling(kind: str, x: Array, layout: Any, window: Any, **linears: Any) -> Array:
    return pysimd.quantized_pooling(x, kind, layout=layout, **(_window(window) if window else {}), **linears)


def _pooling_max(x: Array, layout: Any, window: Any) -> Array:
    return pysimd.pooling_max(x, layout=layout, **_window(window))


def _single(kind: type[Any], x: Array, weight: Array, options: dict[str, Any], **types: Any) -> Any:
    """The context of a convolution or deconvolution, and the parameters of its activation."""
    backwards, layout = issubclass(kind, pysimd.Deconvolution16b), options["layout"]
    kernel = weight.shape[2:] if layout == "nchw" else weight.shape[1:3] if backwards else weight.shape[:2]
    count = weight.shape[0 if layout == "nchw" and not backwards else 1 if layout == "nchw" else 3]
    count *= options["group"] if backwards else 1
    plain = {name: value for name, value in options.items() if name != "params"}
    params = options.get("params")
    return kind(x.shape, count, kernel=kernel, **plain, **types), None if params is None else np.array(params, np.float32)


def _quantized(x: Array, weight: Array, scale: Array, bias: Array, linears: Any, options: dict[str, Any]) -> Array:
    context, params = _single(pysimd.QuantizedConvolution, x, weight, options)
    context.set_params(weight, scale, linears[0], linears[2], bias, params, linears[1])
    y: Array = context(x)
    return y


def _convolution_8i(
    x: Array, weight: Array, bias: Array, src: Any, dst: Any, dst_dtype: str, options: dict[str, Any]
) -> Array:
    context, params = _single(pysimd.Convolution8i, x, weight, options, src_dtype=x.dtype.name, dst_dtype=dst_dtype)
    context.set_params(weight, bias, params, _stats(src), _stats(dst))
    y: Array = context(x)
    return y


def _of_16b(kind: type[Any], x: Array, weight: Array, bias: Array, dst_dtype: str, options: dict[str, Any]) -> Array:
    types = {"src_dtype": _type_of(x), "dst_dtype": dst_dtype}
    context, params = _single(kind, x, weight, options, **types)
    context.set_params(weight, bias, params)
    y: Array = context(x)
    return y


def _type_of(x: Array) -> str:
    return "bfloat16" if x.dtype == np.uint16 else x.dtype.name


def _stages(stages: Any) -> list[Any]:
    return [pysimd.ConvolutionStage(**{name: each[name] for name in each if name != "params"}) for each in stages]


def _quantized_merged(x: Array, stages: Any, weights: Any, scales: Any, biases: Any, linears: Any, residual: str) -> Array:
    first = residual == "source"
    with pysimd.QuantizedMergedConvolution(x.shape, _stages(stages), residual=bool(residual), source_first=first) as context:
        context.set_params(weights, scales, linears, biases)
        return context(x)


def _merged_8i(x: Array, stages: Any, weights: Any, biases: Any, stats: Any, dst_dtype: str) -> Array:
    types: dict[str, Any] = {"src_dtype": x.dtype.name, "dst_dtype": dst_dtype}
    with pysimd.MergedConvolution8i(x.shape, _stages(stages), **types) as context:
        context.set_params(weights, biases, None, *map(_stats, stats))
        return context(x)


def _merged_16b(x: Array, stages: Any, weights: Any, biases: Any, residual: bool, dst_dtype: str) -> Array:
    types: dict[str, Any] = {"src_dtype": _type_of(x), "dst_dtype": dst_dtype, "residual": residual}
    with pysimd.MergedConvolution16b(x.shape, _stages(stages), **types) as context:
        context.set_params(weights, biases)
        return context(x)


def _quantized_product(x: Array, weight: Array, scale: Array, bias: Array, src: Linear, dst: Linear) -> Array:
    with pysimd.QuantizedInnerProduct(x.shape, len(weight)) as context:
        context.set_params(weight, scale, src, dst, bias)
        return context(x)


def _quantized_followed(
    x: Array,
    weight: Array,
    scale: Array,
    linears: Any,
    rows: bool,
    options: Any,
    table: Any,
    sums: Any,
    add: Any,
    order: Any,
) -> Array:
    """A convolution, or an inner product of rows; see the formula."""
    product = pysimd.QuantizedInnerProduct
    context: Any = product(x.shape, len(weight)) if rows else _single(pysimd.QuantizedConvolution, x, weight, options)[0]
    if add is None:
        context.set_params(weight, scale, linears[0], linears[1], table=table)
        return np.asarray(context(x))
    own, other, result = sums
    addition = pysimd.QuantizedSum(own, other, result, order[1] == "add first", add.dtype.name)
    context.set_params(weight, scale, linears[0], linears[1], table=table, addition=addition)
    return np.asarray(context(x, add=add.view(np.uint8), after=order[0] == "after").view(add.dtype))


def _product_16b(x: Array, weight: Array, bias: Array, activation: Any, dst_dtype: str) -> Array:
    types: dict[str, Any] = {"src_dtype": _type_of(x), "dst_dtype": dst_dtype, "activation": activation}
    with pysimd.InnerProduct16b(x.shape, len(weight), **types) as context:
        context.set_params(weight, bias)
        return context(x)


def _gemm(a: Array, b: Array, zeros: Any, scales: Any, bias: Any, dst: Any, dtype: str) -> Array:
    """The same by a function and by a context, which packs the matrix once."""

    def plain(values: Any) -> Any:  # a column has one number for each row
        return None if values is None else values[:, 0].copy() if values.ndim == 2 else values

    def alike(values: Any, other: Any, axis: int) -> Any:  # zeros and scales: one of both, or one for each
        if values is None or other is None or values.size == max(values.size, other.size):
            return values
        return np.full((a.shape[0], 1) if axis == 0 else b.shape[1:], values)

    found: dict[str, Any] = {"bias": bias, "dtype": dtype}
    for i, name in enumerate("ab"):
        scale = None if scales is None else scales[i]
        found[f"{name}_zero"], found[f"{name}_scale"] = plain(alike(zeros[i], scale, i)), plain(scale)
    if dst is not None:
        found["scale"], found["zero"] = dst
    y = pysimd.quantized_gemm(a, b, **found)
    with pysimd.QuantizedGemm(b.shape, b.dtype.name) as context:
        context.set_params(b)
        np.testing.assert_array_equal(context(a, **found), y)
    return y


def _lstm(x: Array, weight: Array, recurrent: Array, scales: Any, zeros: Any, bias: Array) -> Array:
    with pysimd.LSTM(x.shape, recurrent.shape[1], direction="bidirectional") as layer:
        layer.set_params(weight, recurrent, bias, None, *scales, *zeros)
        return layer(x)


def _add_16b(a: Array, b: Array, dst_dtype: str) -> Array:
    with pysimd.Add16b(a.shape, a_dtype=_type_of(a), b_dtype=_type_of(b), dst_dtype=dst_dtype) as context:
        return context(a, b)


def _scale_16b(x: Array, norm: Any, bias: Any, layout: Any, dst_dtype: str) -> Array:
    types: dict[str, Any] = {"src_dtype": _type_of(x), "dst_dtype": dst_dtype, "layout": layout}
    with pysimd.Scale16b(x.shape, norm=norm is not None, bias=bias is not None, **types) as context:
        return context(x, norm, bias)


def _deprecated_16b(x: Array, weight: Array, bias: Array, dst_dtype: str, options: dict[str, Any]) -> Array:
    """By the functions of the former name: one image, NHWC."""
    sizes = _image(x, options["layout"])
    conv = ffi.new("SimdConvolutionParameters *")
    conv.srcC, conv.srcH, conv.srcW, conv.srcF = sizes[1:]
    conv.dstC, conv.dstH, conv.dstW, conv.dstF = (weight.shape[-1], *sizes[2:])
    conv.srcT = lib.SimdTensorData16b if x.dtype == np.uint16 else lib.SimdTensorData32f
    conv.dstT = lib.SimdTensorData16b if dst_dtype == "bfloat16" else lib.SimdTensorData32f
    conv.kernelY, conv.kernelX, conv.group = *weight.shape[:2], options["group"]
    conv.strideY = conv.strideX = conv.dilationY = conv.dilationX = 1
    y = np.empty((*x.shape[:3], weight.shape[-1]), np.uint16 if dst_dtype == "bfloat16" else np.float32)
    context = lib.SimdnetConvolution16bInit(1, conv)
    lib.SimdnetConvolution16bSetParams(context, _at(weight, "float"), _at(bias, "float"), ffi.NULL)
    lib.SimdnetConvolution16bForward(context, _at(x, "uint8_t"), ffi.NULL, _at(y, "uint8_t"))
    lib.SimdRelease(context)
    return y


CALLS: dict[str, Callable[..., Any]] = {
    "SimdnetQuantizeLinear": pysimd.quantize_linear,
    "SimdnetDequantizeLinear": pysimd.dequantize_linear,
    "SimdSynetQuantizeLinear": _by_norm,
    "SimdSynetDequantizeLinear": _from_norm,
    "SimdnetDynamicQuantize": pysimd.dynamic_quantize,
    "SimdSynetConvert32fTo8u": _to_8u,
    "SimdSynetConvert8uTo32f": _to_32f,
    "SimdSynetScale8i": _scale_8i,
    "SimdSynetAdd8i": _add_8i,
    "SimdSynetQuantizedAdd": _quantized_add,
    "SimdnetQuantizedBinary": pysimd.quantized_binary,
    "SimdSynetQuantizedPreluLayerForward": pysimd.quantized_prelu,
    "SimdSynetQuantizedScaleLayerForward": pysimd.quantized_scale,
    "SimdSynetQuantizedConcatLayerForward": pysimd.quantized_concatenate,
    "SimdSynetQuantizedShuffleLayerForward": pysimd.quantized_shuffle,
    "SimdnetTable8": pysimd.table8,
    "SimdnetQuantizedPooling": _pooling,
    "SimdSynetPoolingMax8u": _pooling_max,
    "SimdSynetQuantizedConvolution": _quantized,
    "SimdSynetQuantizedInnerProduct": _quantized_product,
    "SimdnetQuantizedSetParams": _quantized_followed,
    "SimdSynetQuantizedMergedConvolution": _quantized_merged,
    "SimdSynetInnerProduct8i": pysimd.inner_product_8i,
    "SimdSynetConvolution8i": _convolution_8i,
    "SimdSynetMergedConvolution8i": _merged_8i,
    "SimdnetQuantizedGemm": _gemm,
    "SimdnetGemmNBits": pysimd.gemm_nbits,
    "SimdnetRecurrentSetQuantizedParams": _lstm,
    "SimdFloat32ToBFloat16": lambda bits: _narrow(lib.SimdFloat32ToBFloat16, bits, np.uint32, np.uint16),
    "SimdBFloat16ToFloat32": lambda bits: _narrow(lib.SimdBFloat16ToFloat32, bits, np.uint16, np.uint32),
    "SimdFloat32ToFloat16": lambda bits: _narrow(lib.SimdFloat32ToFloat16, bits, np.uint32, np.uint16),
    "SimdFloat16ToFloat32": lambda bits: _narrow(lib.SimdFloat16ToFloat32, bits, np.uint16, np.uint32),
    "SimdSynetAdd16b": _add_16b,
    "SimdSynetScale16b": _scale_16b,
    "SimdSynetRelu16b": pysimd.relu_16b,
    "SimdSynetPoolingMax16b": _pooling_max,
    "SimdSynetChannelSum16b": pysimd.channel_sum,
    "SimdSynetSoftmax16b": pysimd.softmax_16b,
    "SimdSynetNormalizeLayerForward16bV2": lambda x, scale, shift, **more: pysimd.layer_norm_16b(x, scale, shift, **more),
    "SimdSynetConvolution16b": lambda **given: _of_16b(pysimd.Convolution16b, **given),
    "SimdnetConvolution16b": _deprecated_16b,
    "SimdSynetDeconvolution16b": lambda **given: _of_16b(pysimd.Deconvolution16b, **given),
    "SimdSynetInnerProduct16b": _product_16b,
    "SimdSynetMergedConvolution16b": _merged_16b,
}
