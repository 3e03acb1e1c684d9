"""Quantised models, made from ONNX files of floats. The work is done in :mod:`pysimd.network.quantize`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Union

from pysimd.annotations import Array

if TYPE_CHECKING:
    from pysimd.models import ModelLike
    from pysimd.network.quantize.making import QuantizedModel

Samples = Iterable[Union[Array, Mapping[str, Array]]]


def quantize_model(
    model: ModelLike,
    samples: Samples | None = None,
    *,
    mode: Literal["static", "dynamic", "weights"] = "static",
    method: Literal["minmax", "mse", "percentile", "entropy"] = "minmax",
    keep_float: Collection[str] | Literal["auto"] | None = None,
    float_budget: float = 0.1,
    symmetric: bool = False,
    weight_bits: Literal[4, 8] = 8,
    block: int = 32,
    bias_correction: bool = True,
    percentile: float = 99.999,
    progress: Callable[[float], Any] | None = None,
) -> QuantizedModel:
    """Makes a model of 8 bits from one of floats: a standard ONNX file, which other programs run too.

    Convolutions, Gemm and MatMul whose weights are known get weights of int8, symmetric, with a scale for each channel; what
    they read and what they compute becomes uint8 with one scale and zero (QDQ, operators of version 13 or later), as do sums
    of two such tensors that layers of bytes read (residual blocks). All else stays in float. Factors of channels that are
    computed from their means (squeeze and excitation) are computed in float: of their products only the weights are
    integers; the images that they multiply are bytes. BatchNormalization, and factors and terms of channels, become part of
    the weights of the convolution before them.

    model : the path or the bytes of an ONNX file of opset 11 or later, or an ``onnx.ModelProto``.
    samples : inputs that are similar to those to come, 20 to 500 of them: arrays, or mappings from the names of inputs to
        arrays. Every fifth is held back, for the report. The other modes need none.
    mode : "static" needs samples; "dynamic" takes the range of what a product reads each time when it runs, and its result
        is a float; with "weights" only these are integers, so that the file is smaller, and the model computes in float.
    method : how the range of a tensor follows from its values: "minmax", all of them; "mse", the part with the least squared
        error; "percentile", all but the outermost; "entropy", the part with the least divergence of 255 levels from up to
        2048, of those with at most twice the squared error of all values.
    keep_float : names of nodes, or of their results, that stay in float; () for none. "auto", the default of the mode
        "static", finds them: each product, image with such factors, and sum is measured with bytes at it alone, on up to 4
        samples, and those with the most noise stay in float, until a hundredth of it is left, or a thousandth of the signal
        (30 dB); sums until they add less than a tenth to the noise, or it is below a thousandth of the signal. ``kept`` of
        the result has their names. It takes two runs of the model for each product.
    float_budget : the part of the multiply-adds that products found in this way may have together; none with 0. An element
        of such an image counts as 64. Sums need none of it.
    symmetric : the byte of 0 is 128 where there are negative values, and 0 elsewhere; the zero of 4 bits is 8.
    weight_bits : 4: weights of Gemm and MatMul have 4 bits, with a scale for each block of them (MatMulNBits of
        com.microsoft), and these products compute in float; convolutions are as without it.
    block : the number of weights of a block, a power of 2.
    bias_correction : in the mode "static", biases make up for what rounding changes of the mean of each channel, measured on
        up to 8 samples; it takes the time of some runs of the model for each of them.
    percentile : for that method, the percentage of values that are within the range.
    progress : called with the part that is done, from 0 to 1.

    Returns the quantised model: ``save(path)`` writes the file, ``load()`` returns a model to run, and ``report`` tells how
    near it is to the float model.

    Raises ValueError for a file that is not such a model or has nothing to quantise, for samples that do not fit or are not
    finite, and for options and names that are not known; OSError if the file cannot be read.

    >>> images = [np.load(file) for file in files]  # doctest: +SKIP
    >>> made = pysimd.quantize_model("model.onnx", images)  # doctest: +SKIP
    >>> print(made.report)  # doctest: +SKIP
    >>> made.save("model-int8.onnx")  # doctest: +SKIP
    """
    from pysimd.network.quantize.making import Options, quantize

    options = Options(mode, method, keep_float, float_budget, symmetric, weight_bits, block, bias_correction, percentile)
    return quantize(model, samples, options, progress)
