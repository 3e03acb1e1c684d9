"""A call of every function of the package that computes, and a context of every class, for tests that iterate over them.

A function or a class that is missing here fails tests/test_prepare.py or tests/test_contexts.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

import pysimd
from support import Array, floats

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
Place = tuple[Any, ...]  # index of an array in (args, kwargs)

STAGES = (
    pysimd.ConvolutionStage(1, 16, activation="relu"),
    pysimd.ConvolutionStage(3, padding=1, activation="prelu"),
    pysimd.ConvolutionStage(1, 8),
)
PLAIN_STAGES = (pysimd.ConvolutionStage(1, 64), pysimd.ConvolutionStage(3, padding=1), pysimd.ConvolutionStage(1, 8))


def counts_bytes(name: str) -> bool:
    """Whether the buffers of a class of contexts are bytes, not floats."""
    return name.endswith(("8i", "16b")) or name.startswith("Quantized")


def _bytes(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(0, 256, shape, dtype=np.uint8)


def _bf16(rng: np.random.Generator, *shape: int) -> Array:
    return (floats(rng, *shape).view(np.uint32) >> 16).astype(np.uint16)


def of_each_element() -> Iterator[str]:
    """The functions of every element that can be called with an array alone."""
    for name in pysimd.__all__:
        function = getattr(pysimd, name)
        if getattr(function, "__module__", "") in ("pysimd.activation", "pysimd.unary"):
            _, *others = inspect.signature(function).parameters.values()
            if all(other.default is not inspect.Parameter.empty for other in others):
                yield name


def calls(rng: np.random.Generator) -> dict[str, Call]:
    """Calls by the name of the function, for some followed by a space and a variant; all without ``out=``."""
    x, z = floats(rng, 2, 6, 5, 8), floats(rng, 2, 6, 5, 8)
    planes, blocks = floats(rng, 3, 8, 6, 5), floats(rng, 2, 1, 6, 5, 8)
    a, b, c, d = (floats(rng, 8) for _ in range(4))
    weight, matrix = floats(rng, 3, 3, 8, 4), floats(rng, 7, 8)
    pixels = _bytes(rng, 6, 5, 8)
    six = dict(zip(("a_scale", "a_shift", "b_scale", "b_shift", "c_scale", "c_shift"), (a, b, c, d, a, b)))
    nchw: dict[str, Any] = {"layout": "nchw"}
    pool: dict[str, Any] = {"kernel": 3, "stride": 2, "padding": 1}
    made: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "add": ((x, z), {"dtype": "bfloat16"}),
        "add bfloat16": ((_bf16(rng, 3, 9), _bf16(rng, 3, 9)), {}),
        "add broadcast": ((x, a), {}),
        "add_8i": ((pixels, _bytes(rng, 6, 5, 8)), six),
        "add_bias": ((x, a), {}),
        "add_bias nchw": ((planes, a), nchw),
        "amin": ((x,), {"axis": 1}),
        "amax": ((x,), {"axis": 1}),
        "argmax": ((x,), {"axis": 2}),
        "argmin": ((planes,), {"axis": 1}),
        "concatenate": (([x, z],), {"axis": 1}),
        "cast": ((x, "int64"), {}),
        "cast to float32": ((pixels, np.float32), {}),
        "channel_sum": ((_bf16(rng, 6, 5, 8),), {}),
        "channel_sum nchw": ((_bf16(rng, 8, 6, 5),), nchw),
        "elementwise": (("less", x, a), {}),
        "scatter_elements": ((matrix.copy(), np.zeros((3, 1), np.int64), matrix[:3].copy()), {"reduction": "add"}),
        "scatter_nd": ((matrix.copy(), np.zeros((2, 1), np.int64), matrix[:2].copy()), {}),
        "gather_nd": ((matrix, np.zeros((2, 2), np.int64)), {}),
        "cumulative_sum": ((x,), {"axis": 1}),
        "select": ((x > 0, x, a), {}),
        "binary": (("subtract", x, a), {"activation": "leaky_relu", "params": 0.25}),
        "convert_filter": ((weight,), {"src_layout": "yxio", "dst_layout": "oiyx"}),
        "convert_image": ((planes,), {"src_layout": "nchw", "dst_layout": "nchw4c"}),
        "convolution": ((x, weight, a[:4]), {"padding": 1, "activation": "relu"}),
        "copy": ((x,), {}),
        "deconvolution": ((x, floats(rng, 8, 2, 2, 4)), {"stride": 2}),
        "dequantize_linear": ((pixels, a, _bytes(rng, 8)), {"axis": -1}),
        "divide": ((x, 2.0), {}),
        "dynamic_quantize": ((x,), {}),
        "eltwise": (([x, z, x],), {}),
        "eltwise iterator": ((iter([x.copy(), z.copy()]), "max"), {}),
        "eltwise weights": (((x, z),), {"weights": [0.5, 2]}),
        "elu": ((x,), {"alpha": 0.5}),
        "fused0": ((x,), {"bias": a, "scale": b}),
        "fused0 nchw": ((planes,), {"bias": a, "scale": b, **nchw}),
        "fused1": ((x,), {"bias0": a, "scale1": b, "bias1": c}),
        "fused2": ((x,), {"scale": a, "bias": b, "slope": 0.25}),
        "fused3": ((x,), {"slope": a, "bias": b}),
        "fused4": ((planes,), {"bias0": a, "scale1": 0.5, "bias1": 2.0, **nchw}),
        "fused8": ((planes, planes[::-1].copy()), {"scale": a, **nchw}),
        "fused9": ((x, z), {"scale": floats(rng, 16), "bias": floats(rng, 16)}),
        "fused9 both": ((planes, planes), {"scale": floats(rng, 16), "bias": floats(rng, 16), "both": True, **nchw}),
        "gather": ((x, rng.integers(-6, 6, (3, 4))), {"axis": 1}),
        "gather uint8": ((pixels, rng.integers(-6, 6, 7)), {}),
        "gather_elements": ((x, rng.integers(-5, 5, (2, 6, 9, 8))), {"axis": 2}),
        "gather_elements int32": ((_bf16(rng, 4, 5), rng.integers(0, 5, (4, 3), np.int32)), {}),
        "grid_sample": ((planes, floats(rng, 3, 4, 7, 2)), {"mode": "bicubic", "padding_mode": "reflection"}),
        "roi_align": ((planes, np.abs(floats(rng, 4, 4)), rng.integers(0, 3, 4), (2, 3)), {"sampling_ratio": 2}),
        "gemm": ((matrix, floats(rng, 8, 9)), {"alpha": 0.5}),
        "quantized_gemm": ((_bytes(rng, 4, 7), _bytes(rng, 7, 9)), {}),
        "attention": ((floats(rng, 2, 5, 4), floats(rng, 2, 7, 4), floats(rng, 7, 3)), {"bias": floats(rng, 5, 7)}),
        "gemm_nbits": ((matrix[:, :8].repeat(2, -1), _bytes(rng, 5, 1, 8), floats(rng, 5, 1)), {}),
        "gemm transpose": ((matrix[:, :4], floats(rng, 9, 8)[:, 4:]), {"transpose_b": True}),
        "global_response_norm": ((x, b, c), {}),
        "group_norm": ((planes, 4), nchw),
        "group_norm weight": ((planes, 2, a, b), nchw),
        "gru": ((floats(rng, 3, 2, 5), floats(rng, 2, 9, 5), floats(rng, 2, 9, 3)), {"direction": "bidirectional"}),
        "gru states": ((floats(rng, 3, 5), floats(rng, 1, 9, 5), floats(rng, 1, 9, 3)), {"h0": floats(rng, 1, 3)}),
        "rnn": ((floats(rng, 3, 2, 5), floats(rng, 1, 3, 5), floats(rng, 1, 3, 3)), {"activations": ["relu"]}),
        "gemm transpose_a": ((matrix, floats(rng, 7, 9)), {"transpose_a": True}),
        "hardswish": ((x,), {"scale": 0.25}),
        "inner_product": ((a, matrix), {}),
        "inner_product batch": ((floats(rng, 3, 8), matrix, floats(rng, 7)), {}),
        "instance_norm": ((x, a), {}),
        "instance_norm nchw": ((planes, a, b), nchw),
        "l2_normalize": ((x, a), {}),
        "l2_normalize across": ((x,), {"across": True}),
        "layer_norm": ((x, a, b), {}),
        "layer_norm nchw": ((planes,), nchw),
        "layer_norm_16b": ((_bf16(rng, 6, 5, 8), a, b), {}),
        "layer_norm_16b nchw": ((_bf16(rng, 3, 8, 6, 5), a), nchw),
        "softmax_16b": ((_bf16(rng, 6, 5, 8),), {"axis": 1}),
        "linear": ((x, floats(rng, 4, 8), floats(rng, 4)), {"activation": "gelu"}),
        "log": ((np.abs(x),), {}),
        "lrn": ((planes,), nchw),
        "logsumexp": ((x,), {"axis": (1, 2)}),
        "mean": ((x,), {"axis": (1, 2)}),
        "pad": ((x, ((0, 0), (1, 2), (0, 1), (0, 0)), "reflect"), {}),
        "pad constant": ((pixels, ((0, 2), (1, 1), (0, 0))), {"constant_values": 7.0}),
        "permute": ((x, (0, 3, 1, 2)), {}),
        "lstm": (
            (floats(rng, 3, 2, 5), floats(rng, 1, 12, 5), floats(rng, 1, 12, 3), floats(rng, 1, 24)),
            {"lengths": [3, 2]},
        ),
        "matmul": ((floats(rng, 2, 3, 4, 5), floats(rng, 3, 5, 6)), {}),
        "matmul dimensions": ((floats(rng, 2, 1, 3, 4, 5), floats(rng, 3, 1, 5, 6)), {}),
        "maximum": ((x, z), {}),
        "minimum": ((x, z), {}),
        "multiply": ((planes, floats(rng, 3, 8, 1, 1)), {}),
        "quantized_pooling": ((pixels, "average"), {**pool, "dst": (2.0, 9)}),
        "quantized_pooling global": ((_bytes(rng, 3, 6, 5), "global_average"), nchw),
        "pooling_average": ((x,), pool),
        "pooling_average bfloat16": ((_bf16(rng, 2, 6, 5, 3),), pool),
        "pooling_max": ((planes,), {**pool, **nchw}),
        "pooling_max none": ((planes[:0],), {**pool, **nchw}),
        "pooling_max uint8": ((pixels,), pool),
        "pooling_max bfloat16": ((_bf16(rng, 2, 6, 5, 3),), pool),
        "power": ((np.abs(x), z), {}),
        "prelu": ((blocks, a), {"layout": "nchw8c"}),
        "prod": ((x,), {"axis": -1}),
        "reduce": ((x, "l2"), {"axis": (1, 3)}),
        "quantize_linear": ((planes, np.abs(a) + 1, 3), {"axis": 1, "dtype": "int8"}),
        "quantized_binary": (
            ("multiply", pixels, pixels[:1].copy()),
            {"src": ((0.5, 3), (0.3, 9)), "dst": (1.0, 7)},
        ),
        "quantized_concatenate": (
            ([pixels, pixels[:, :2].copy()],),
            {"axis": 1, "src": [(0.5, 3), (0.3, 9)], "dst": (1.0, 7)},
        ),
        "quantized_prelu": ((pixels, a), {"src": (0.5, 128), "dst": (0.25, 100)}),
        "quantized_scale": ((pixels, a, b), {"src": (0.5, 128), "dst": (0.25, 100)}),
        "quantized_shuffle": ((pixels, pixels[..., :6].copy()), {"src": ((0.5, 3), (0.3, 9)), "dst": (1.0, 7)}),
        "quantized_shuffle inverse": (
            (pixels, _bytes(rng, 6, 5, 8)),
            {"src": ((1.0, 3), (0.3, 9)), "dst": (1.0, 7), "channels": (4, 12)},
        ),
        "relu": ((x,), {"slope": 0.125}),
        "relu_16b": ((_bf16(rng, 3, 9),), {"slope": 0.25}),
        "resize": ((x,), {"scale": 2, "mode": "linear"}),
        "resize nchw": ((planes, (3, 4)), {"mode": "cubic", "antialias": True, **nchw}),
        "resize uint8": ((pixels,), {"size": (7, 5), "mode": "area"}),
        "restrict_range": ((x, -1.0, 1.5), {}),
        "rsqrt": ((np.abs(x) + 1,), {}),
        "scale": ((x, a, b), {}),
        "scale nchw": ((planes, a), nchw),
        "set_input": ((pixels[..., :3].copy(),), {"pixel_format": "bgr24", "lower": [0.0, -1.0, -2.0]}),
        "shuffle": ((planes, planes[:, :6].copy()), nchw),
        "shuffle groups": ((planes,), {"groups": 4, **nchw}),
        "softmax": ((x,), {"axis": 2}),
        "sqrt": ((np.abs(x),), {}),
        "sum": ((x,), {"axis": -1}),
        "transpose": ((matrix,), {}),
        "inner_product_8i": ((pixels, rng.integers(-128, 128, (9, pixels.shape[-1]), np.int8)), {}),
        "table8": ((pixels, _bytes(rng, 256)), {}),
        "tiled_scale": ((x, floats(rng, 2, 5, 8), floats(rng, 2, 6, 1, 8)), {}),
        "tiled_scale nchw": ((planes, floats(rng, 3, 8, 1, 5), floats(rng, 3, 8, 6)), nchw),
        "top_k": ((x, 3), {"axis": 1}),
        "top_k integers": ((_bytes(rng, 2, 6, 5), 3), {"axis": 1}),
        "subtract": ((a, x), {}),
        "unary": ((x, "neg"), {}),
        "winograd_filter": ((weight,), {}),
        "winograd_input": ((x[0],), {"padding": 1}),
        "winograd_output": ((floats(rng, 36, 4, 8), (6, 5)), {}),
    }
    made.update((name, ((x,), {})) for name in of_each_element() if name not in made)
    return {name: (getattr(pysimd, name.split()[0]), args, options) for name, (args, options) in made.items()}


def contexts(rng: np.random.Generator) -> dict[str, tuple[pysimd.Context, tuple[Array, ...]]]:
    """Contexts with weights, by the name of the class, with arguments of ``forward``."""
    x = floats(rng, 2, 9, 10, 8)
    weight, bias = floats(rng, 3, 3, 8, 16), floats(rng, 16)
    options: dict[str, Any] = {"kernel": 3, "padding": 1, "activation": "prelu"}
    seen = pysimd.Statistics(np.full(8, -4, np.float32), np.full(8, 4, np.float32))
    given = pysimd.Statistics(np.full(16, -90, np.float32), np.full(16, 90, np.float32))

    floating = pysimd.Convolution32f(x.shape, 16, stride=2, **options)
    floating.set_params(weight, bias, floats(rng, 16))
    backward = pysimd.Deconvolution32f(x.shape, 16, stride=2, **options)
    backward.set_params(floats(rng, 8, 3, 3, 16), bias, floats(rng, 16))
    backward_small = pysimd.Deconvolution16b(x.shape, 16, src_dtype="float32", stride=2, **options)
    backward_small.set_params(floats(rng, 8, 3, 3, 16), bias, floats(rng, 16))
    merged = pysimd.MergedConvolution32f(x.shape, STAGES, residual=True)
    merged.set_params([floats(rng, *shape) for shape in merged.weight_shapes], None, [None, floats(rng, 16), None])
    merged_small = pysimd.MergedConvolution16b(x.shape, STAGES, src_dtype="float32", residual=True)
    merged_small.set_params(
        [floats(rng, *shape) for shape in merged_small.weight_shapes], None, [None, floats(rng, 16), None]
    )
    merged_bytes = pysimd.MergedConvolution8i(x.shape, STAGES, src_dtype="float32")
    numbers = [floats(rng, *shape) for shape in merged_bytes.weight_shapes]
    middle, last = (pysimd.Statistics(np.full(n, -9, np.float32), np.full(n, 9, np.float32)) for n in (16, 8))
    merged_bytes.set_params(numbers, None, [None, floats(rng, 16), None], seen, middle, last)
    quantised = pysimd.Convolution8i(x.shape, 16, src_dtype="float32", **options)
    quantised.set_params(weight, bias, floats(rng, 16), seen, given)
    whole = pysimd.QuantizedConvolution(x.shape, 16, **options)
    given_bytes = rng.integers(-128, 128, (3, 3, 8, 16), np.int8), np.full(16, 0.01, np.float32)
    whole.set_params(*given_bytes, (0.5, 7), (1.0, 120), rng.integers(-999, 999, 16, np.int32), floats(rng, 16))
    rounded = pysimd.Convolution16b(x.shape, 16, src_dtype="float32", **options)
    rounded.set_params(weight, bias, floats(rng, 16))
    sequences = floats(rng, 2, 5, 8)
    memory, gated = pysimd.LSTM(sequences.shape, 6, batch_first=True), pysimd.GRU(sequences.shape, 6, batch_first=True)
    memory.set_params(floats(rng, 1, 24, 8), floats(rng, 1, 24, 6), floats(rng, 1, 48), floats(rng, 1, 18))
    gated.set_params(floats(rng, 1, 18, 8), floats(rng, 1, 18, 6))
    simple = pysimd.RNN(sequences.shape, 9, batch_first=True, activations=[("leaky_relu", 0.3)], clip=0.5)
    simple.set_params(floats(rng, 1, 9, 8), floats(rng, 1, 9, 9), floats(rng, 1, 18))
    grid, places = floats(rng, 2, 4, 7, 2), rng.integers(-9, 9, (2, 5, 10, 8))
    product = pysimd.InnerProduct32f(x.shape, 16, activation="prelu")
    product.set_params(floats(rng, 16, 8), bias, floats(rng, 16))
    small_product = pysimd.InnerProduct16b(x.shape, 16, src_dtype="float32", activation="prelu")
    small_product.set_params(floats(rng, 16, 8), bias, floats(rng, 16))
    whole_merged = pysimd.QuantizedMergedConvolution(x.shape, PLAIN_STAGES, residual=True)
    weights = [rng.integers(-128, 128, shape, np.int8) for shape in whole_merged.weight_shapes]
    whole_merged.set_params(weights, [0.01, 0.02, 0.01], [(0.5, 7), (1.0, 120), (2.0, 0), (1.0, 99), (0.75, 3)])
    packed = pysimd.QuantizedGemm((40, 20))
    packed.set_params(_bytes(rng, 40, 20).view(np.int8))
    whole_product = pysimd.QuantizedInnerProduct(x.shape, 64)
    matrix, scales = rng.integers(-128, 128, (64, 8), np.int8), np.full(64, 0.01, np.float32)
    for table in (None, _bytes(rng, 256)):
        whole_product.set_params(matrix, scales, (0.5, 7), (1.0, 120), table=table)
    wide = floats(rng, 2, 3, 96)
    many = pysimd.Statistics(np.full(96, -4, np.float32), np.full(96, 4, np.float32))
    scaled = pysimd.Scale8i(wide.shape, src_dtype="float32")
    scaled.set_params(floats(rng, 96), floats(rng, 96), many, many)
    return {
        "Add16b": (pysimd.Add16b(x.shape, b_dtype="bfloat16"), (x, _bf16(rng, *x.shape))),
        "Convolution16b": (rounded, (x,)),
        "Convolution32f": (floating, (x,)),
        "Convolution8i": (quantised, (x,)),
        "Deconvolution16b": (backward_small, (x,)),
        "Deconvolution32f": (backward, (x,)),
        "GRU": (gated, (sequences,)),
        "LSTM": (memory, (sequences,)),
        "RNN": (simple, (sequences,)),
        "GatherElements": (pysimd.GatherElements(x.shape, 5, axis=1), (x, places)),
        "GridSample2d": (pysimd.GridSample2d(x.shape, (4, 7), padding_mode="border"), (x, grid)),
        "InnerProduct16b": (small_product, (x,)),
        "InnerProduct32f": (product, (x,)),
        "MergedConvolution16b": (merged_small, (x,)),
        "MergedConvolution32f": (merged, (x,)),
        "MergedConvolution8i": (merged_bytes, (x,)),
        "Permute": (pysimd.Permute(x.shape, (0, 3, 1, 2)), (x,)),
        "Resize": (pysimd.Resize(x.shape, (12, 7), mode="linear"), (x,)),
        "QuantizedConvolution": (whole, (_bytes(rng, *x.shape),)),
        "QuantizedMergedConvolution": (whole_merged, (_bytes(rng, *x.shape),)),
        "QuantizedGemm": (packed, (_bytes(rng, 5, 40),)),
        "QuantizedInnerProduct": (whole_product, (_bytes(rng, *x.shape),)),
        "QuantizedAdd": (pysimd.QuantizedAdd(x.shape, b=(0.5, 9), dst=(0.125, 3), relu=True), (x, _bytes(rng, *x.shape))),
        "Scale16b": (pysimd.Scale16b(x.shape, src_dtype="float32"), (x, floats(rng, 8), floats(rng, 8))),
        "Scale8i": (scaled, (wide,)),
        "Resizer": (pysimd.Resizer(x.shape[1:], (12, 7), dtype="float32"), (x[0],)),
    }


# ---- what tests do with the arguments


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """The indices of arrays in arguments."""
    if isinstance(value, np.ndarray):
        yield place
    elif isinstance(value, (tuple, list, dict)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*place, key))


def at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def replaced(value: Any, place: Place, array: Any) -> Any:
    """The arguments with another array at this index."""
    if not place:
        return array
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[place[0]] = replaced(value[place[0]], place[1:], array)
    return changed if isinstance(value, dict) else type(value)(changed)


def call_into(function: Callable[..., Any], arguments: Any, outs: list[Array]) -> None:
    """Calls a function with these outputs, which some functions take by different names."""
    args, kwargs = arguments
    if function is pysimd.fused9 and len(outs) == 2:
        function(*args, **kwargs, out=outs[0], out1=outs[1])
    else:
        function(*args, **kwargs, out=tuple(outs) if len(outs) > 1 else outs[0])
