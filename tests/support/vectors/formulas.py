"""The formula of each function, by its name in C without the Init, SetParams or Forward of contexts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from support.vectors import floats16, pointwise, products
from support.vectors.numbers import Array


def _bounded(formula: Callable[..., Any]) -> Callable[..., tuple[tuple[Array, ...], float]]:
    """Results, and the bound of those that are computed in floats."""

    def computed(**given: Any) -> tuple[tuple[Array, ...], float]:
        with np.errstate(all="ignore"):
            found = formula(**given)
        if not isinstance(found, tuple):
            return (found,), 0.0
        return ((found[0],), found[1]) if isinstance(found[1], float) else (found, 0.0)

    return computed


def _pooling(kind: str, x: Array, layout: str, window: Any, exclude_pad: bool, src: Any, dst: Any) -> Array:
    if kind == "max":
        return pointwise.pooling_max(x, layout, window)
    if kind == "average":
        return pointwise.quantized_average(x, layout, window, exclude_pad, src, dst)
    return pointwise.quantized_global_average(x, layout, src, dst)


_FORMULAS: dict[str, Callable[..., Any]] = {
    "SimdnetQuantizeLinear": pointwise.quantize_linear,
    "SimdnetDequantizeLinear": pointwise.dequantize_linear,
    "SimdSynetQuantizeLinear": pointwise.quantize_by_norm,
    "SimdSynetDequantizeLinear": pointwise.dequantize_by_norm,
    "SimdnetDynamicQuantize": pointwise.dynamic_quantize,
    "SimdSynetConvert32fTo8u": pointwise.convert_to_8u,
    "SimdSynetConvert8uTo32f": pointwise.convert_to_32f,
    "SimdSynetScale8i": pointwise.scale_8i,
    "SimdSynetAdd8i": pointwise.add_8i,
    "SimdSynetQuantizedAdd": pointwise.quantized_add,
    "SimdnetQuantizedBinary": pointwise.quantized_binary,
    "SimdSynetQuantizedPreluLayerForward": pointwise.quantized_prelu,
    "SimdSynetQuantizedScaleLayerForward": pointwise.quantized_scale,
    "SimdSynetQuantizedConcatLayerForward": pointwise.quantized_concat,
    "SimdSynetQuantizedShuffleLayerForward": pointwise.quantized_shuffle,
    "SimdnetTable8": pointwise.table8,
    "SimdnetQuantizedPooling": _pooling,
    "SimdSynetPoolingMax8u": pointwise.pooling_max,
    "SimdSynetQuantizedConvolution": products.quantized_convolution,
    "SimdSynetQuantizedInnerProduct": products.quantized_inner_product,
    "SimdnetQuantizedSetParams": products.quantized_followed,
    "SimdSynetQuantizedMergedConvolution": products.quantized_merged,
    "SimdSynetInnerProduct8i": products.inner_product_8i,
    "SimdSynetConvolution8i": products.convolution_8i,
    "SimdSynetMergedConvolution8i": products.merged_8i,
    "SimdnetQuantizedGemm": products.quantized_gemm,
    "SimdnetGemmNBits": products.gemm_nbits,
    "SimdnetRecurrentSetQuantizedParams": products.lstm_of_bytes,
    "SimdFloat32ToBFloat16": floats16.bits_to_bfloat16,
    "SimdBFloat16ToFloat32": lambda bits: bits << 16,
    "SimdFloat32ToFloat16": floats16.bits_to_half,
    "SimdFloat16ToFloat32": floats16.bits_from_half,
    "SimdSynetAdd16b": floats16.add_16b,
    "SimdSynetScale16b": floats16.scale_16b,
    "SimdSynetRelu16b": floats16.relu_16b,
    "SimdSynetPoolingMax16b": floats16.pooling_max_16b,
    "SimdSynetChannelSum16b": floats16.channel_sum_16b,
    "SimdSynetSoftmax16b": floats16.softmax_16b,
    "SimdSynetNormalizeLayerForward16bV2": floats16.normalize_16b,
    "SimdSynetConvolution16b": floats16.convolution_16b,
    "SimdnetConvolution16b": floats16.convolution_16b,
    "SimdSynetDeconvolution16b": floats16.deconvolution_16b,
    "SimdSynetInnerProduct16b": floats16.inner_product_16b,
    "SimdSynetMergedConvolution16b": floats16.merged_16b,
}

#: Called with what a case gives: results, and the largest error of those that are computed in floats.
FORMULAS = {name: _bounded(formula) for name, formula in _FORMULAS.items()}
