"""Operators as each opset writes them, through the whole, beside ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", "1.16")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, which computes the expected outputs, is not installed")

from onnx import helper  # noqa: E402

from pysimd.network import onnx_reader  # noqa: E402
from pysimd.network.convert import graph_of  # noqa: E402
from pysimd.network.passes import simplified  # noqa: E402
from pysimd.network.runner import Runner  # noqa: E402

OPSETS = range(7, 22)
_RNG = np.random.default_rng(3)


class One(NamedTuple):
    """A node with inputs that are computed at run time, and others that are known; None for a missing one."""

    op: str
    inputs: Sequence[Any]
    known: Sequence[Any] = ()
    outputs: int = 1
    attributes: dict[str, Any] = {}  # noqa: RUF012  nothing writes to it


def floats(*shape: int) -> Any:
    return _RNG.standard_normal(shape, np.float32)


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


def one(op: str, x: Any, *known: Any, outputs: int = 1, **attributes: Any) -> One:
    return One(op, x if isinstance(x, list) else [x], known, outputs, attributes)


def scales(*last: float) -> Any:
    return np.array([1, 1, *last], np.float32)


X = floats(2, 3, 5, 6)


def softmaxes(opset: int) -> Iterator[One]:
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        yield one(op, X)
        yield from (one(op, X, axis=axis) for axis in (0, 1, 2, 3))


def inputs_or_attributes(opset: int) -> Iterator[One]:
    """What became an input in some opset."""
    pads = [0, 0, 1, 2, 0, 0, 2, 1]
    if opset < 11:
        yield from (one("Clip", X), one("Clip", X, min=-0.5, max=0.3), one("Clip", X, min=0.0))
        yield from (one("Pad", X, mode=mode, pads=pads) for mode in ("constant", "reflect", "edge"))
    else:
        yield from (one("Clip", X), one("Clip", X, np.float32(-0.5), np.float32(0.3)), one("Clip", X, None, np.float32(0.3)))
        yield from (one("Pad", X, ints(*pads), mode=mode) for mode in ("constant", "reflect", "edge"))
        yield one("Pad", X, ints(0, 0, -1, 2, 0, 0, 2, -1), np.float32(0.5))
    if opset < 10:
        yield from (one("Slice", X, starts=[-3, 0], ends=[-1, 100], axes=[3, 1]), one("TopK", X, k=2, outputs=2, axis=2))
    else:
        yield one("TopK", X, ints(2), outputs=2, axis=2)
        for start, end, step in ((4, -100, -2), (0, 2**62, 3), (5, 0, -1), (-1, -(2**62), -3), (-9, -99, -1), (3, 1, 1)):
            yield one("Slice", X, ints(start), ints(end), ints(3), ints(step))
    if opset < 13:
        yield from (
            one("Squeeze", X[:1], axes=[0]),
            one("Unsqueeze", X, axes=[0, 3]),
            one("Split", X, split=[1, 2], axis=1, outputs=2),
        )
    else:
        yield from (
            one("Squeeze", X[:1], ints(-4)),
            one("Unsqueeze", X, ints(0, -1)),
            one("Split", X, ints(1, 2), axis=1, outputs=2),
        )


def reductions(opset: int) -> Iterator[One]:
    for kind in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp", "LogSum"):
        positive = np.abs(X) + 0.1
        axes_are_input = opset >= 18 or (kind == "Sum" and opset >= 13)
        for axes in ([1], [2, 3], [0, 1, 2, 3]):
            if axes_are_input:
                yield one(f"Reduce{kind}", positive, ints(*axes), keepdims=0)
            else:
                yield one(f"Reduce{kind}", positive, axes=axes, keepdims=0)
        yield one(f"Reduce{kind}", positive)
        if axes_are_input:
            yield one(f"Reduce{kind}", positive, noop_with_empty_axes=1)
    yield from (one(op, X, axis=1, keepdims=keepdims) for op in ("ArgMax", "ArgMin") for keepdims in (0, 1))


def resizes(opset: int) -> Iterator[One]:
    none = np.zeros(0, np.float32)
    if opset < 9:
        yield from (one("Upsample", X, mode=mode, scales=[1.0, 1.0, 2.0, 3.0]) for mode in ("nearest", "linear"))
    elif opset < 10:
        yield from (one("Upsample", X, scales(2, 3), mode=mode) for mode in ("nearest", "linear"))
    elif opset == 10:
        for mode in ("nearest", "linear"):
            yield from (one("Resize", X, scales(*some), mode=mode) for some in ((2, 1.5), (0.5, 0.6), (0.5, 2)))
    else:
        for mode in ("nearest", "linear", "cubic"):
            for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
                for rounding in ("round_prefer_floor", "floor", "ceil") if mode == "nearest" else ("floor",):
                    rules: dict[str, Any] = {
                        "mode": mode,
                        "coordinate_transformation_mode": coordinates,
                        "nearest_mode": rounding,
                    }
                    yield one("Resize", X, none, none, ints(2, 3, 8, 9), **rules)
                    yield one("Resize", X, none, scales(2, 0.5), **rules)


def windows(opset: int) -> Iterator[One]:
    ceil: dict[str, Any] = {"ceil_mode": 1} if opset >= 10 else {}
    window: dict[str, Any] = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}
    yield one("MaxPool", X, **window, **ceil)
    yield from (one("AveragePool", X, count_include_pad=some, **window, **ceil) for some in (0, 1))
    for auto in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        yield one("Conv", X, floats(4, 3, 3, 2), floats(4), auto_pad=auto, strides=[2, 2])
        yield one("MaxPool", X, kernel_shape=[2, 2], auto_pad=auto, strides=[1, 2])
        yield one("ConvTranspose", X, floats(3, 4, 3, 2), auto_pad=auto, strides=[2, 2])
    yield one(
        "ConvTranspose", X, floats(3, 2, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 0], dilations=[1, 2]
    )
    yield one("ConvTranspose", X, floats(3, 2, 3, 3), strides=[3, 2], output_shape=[16, 14])
    yield one("Conv", floats(1, 4, 9), floats(6, 2, 3), group=2, pads=[1, 2])
    yield one("Conv", [X, floats(4, 3, 3, 2), floats(4)], pads=[1, 0, 2, 1], strides=[1, 2])
    yield one("ConvTranspose", [X, floats(3, 2, 3, 3)], strides=[2, 3])
    steps: dict[str, Any] = {"strides": [2, 3, 1], "dilations": [3, 1, 2], "pads": [1, 0, 1, 2, 1, 0]}
    steps.update(output_padding=[1, 2, 0], group=2)
    yield one("ConvTranspose", floats(2, 4, 3, 4, 3), floats(4, 3, 3, 2, 2), floats(6), **steps)
    if opset >= 8:
        yield from (one("MaxPool", X, outputs=2, storage_order=order, **window, **ceil) for order in (0, 1))
    if opset >= 12:
        yield one("MaxPool", (X * 50).astype(np.int8), **window, **ceil)


def sums_of_products(opset: int) -> Iterator[One]:
    if opset >= 12:
        yield one("Einsum", [floats(1, 3, 4), floats(2, 4, 5)], equation="...ij,...jk->...ik")
        yield from (one("Einsum", floats(3, 4, 4), equation=equation) for equation in ("...ii->...i", "bii", "bii->bi"))
        yield one("Einsum", [floats(3, 4).astype(np.float64), floats(5, 4).astype(np.float64)], equation="ij,kj")


def groups(opset: int) -> Iterator[One]:
    """Before opset 21, scale and bias have a number for each group."""
    if opset >= 18:
        x, count = floats(2, 6, 3, 4), 3 if opset < 21 else 6
        yield one("GroupNormalization", x, floats(count), floats(count), num_groups=3)
        yield one("GroupNormalization", [x, floats(count), floats(count)], num_groups=3)


_PLAIN = """
ArgMax ArgMin Celu Elu Flatten GlobalLpPool HardSigmoid LeakyRelu LpNormalization MeanVarianceNormalization Selu Shrink
Squeeze ThresholdedRelu Transpose Trilu
"""


def defaults(opset: int) -> Iterator[One]:
    """Nodes without attributes."""
    if opset >= 18:
        yield from (one(op, X) for op in _PLAIN.split())
        yield from (one("LayerNormalization", X, floats(6)), one("InstanceNormalization", X, floats(3), floats(3)))
        yield from (one("Gather", X, ints(1, 0)), one("GatherElements", X, ints(1, 0).reshape(2, 1, 1, 1)))
        yield from (one("TopK", X, ints(2), outputs=2), one("Gemm", floats(2, 3), floats(3, 4), floats(4)))
        yield from (one("BatchNormalization", X, *np.abs(floats(4, 3))), one("LRN", X, size=3))


def layers(opset: int) -> Iterator[One]:
    yield one("Gemm", floats(4, 3), floats(5, 4), floats(3, 1), transA=1, transB=1, alpha=0.5, beta=2.0)
    yield one("Gemm", [floats(3, 4), floats(4, 5), floats(1, 5)], alpha=2.0)
    yield from (one("MatMul", floats(2, 3, 4), floats(4)), one("MatMul", [floats(3, 1, 2, 4), floats(2, 4, 5)]))
    yield from (one("PRelu", X, floats(3, 1, 1)), one("PRelu", X, floats(6)), one("PRelu", X, floats(1)))
    for hidden, direction, count in ((4, "forward", 1), (4, "bidirectional", 2), (3, "reverse", 1)):
        some: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
        x, lengths = floats(5, 2, 3), np.array([5, 3], np.int32)
        lstm = floats(count, 4 * hidden, 3), floats(count, 4 * hidden, hidden), floats(count, 8 * hidden)
        gru = floats(count, 3 * hidden, 3), floats(count, 3 * hidden, hidden), floats(count, 6 * hidden)
        yield one("LSTM", x, *lstm, outputs=3, **some)
        rnn = floats(count, hidden, 3), floats(count, hidden, hidden), floats(count, 2 * hidden)
        yield one("RNN", x, *rnn, lengths, outputs=2, **some)
        others: dict[str, Any] = {"clip": 0.4, "activation_alpha": [0.3, 0.7] * count, "activation_beta": [0.4] * count}
        names = ["HardSigmoid", "LeakyRelu", "Softsign"] * count
        yield one("LSTM", x, *lstm, outputs=3, activations=names, input_forget=1, **others, **some)
        names = ["HardSigmoid", "Elu"] * count
        yield one("GRU", x, *gru, outputs=2, activations=names, **others, **some)
        yield one("GRU", x, *gru, lengths, outputs=2, linear_before_reset=1, **some)


def sequences(opset: int) -> Iterator[One]:
    if opset >= 10:
        for x in (floats(4, 3), floats(4, 3, 2)):
            yield one("ReverseSequence", [x, ints(1, 4, 2)])
            yield one("ReverseSequence", x, ints(2, 3, 1, 2), batch_axis=0, time_axis=1)


def grids(opset: int) -> Iterator[One]:
    if opset >= 20:
        for corners in (0, 1):
            yield one("AffineGrid", floats(2, 2, 3), ints(2, 3, 4, 5), align_corners=corners)
            yield one("AffineGrid", floats(2, 3, 4), ints(2, 3, 4, 5, 2), align_corners=corners)


def regions(opset: int) -> Iterator[One]:
    """Regions of all sizes, in both corners beyond the image, and turned inside out."""
    corners = _RNG.uniform(-4, 14, (40, 2))
    rois = np.concatenate([corners, corners + _RNG.uniform(-1, 9, (40, 2))], 1).astype(np.float32)
    images, x = _RNG.integers(0, 2, 40), floats(2, 3, 11, 13)
    pooled = np.concatenate([images[:, None], rois], 1).astype(np.float32)
    yield from (one("MaxRoiPool", [x, pooled], pooled_shape=[3, 2], spatial_scale=scale) for scale in (1.0, 0.7))
    if opset >= 10:
        size: dict[str, Any] = {"output_height": 3, "output_width": 2, "spatial_scale": 0.7}
        modes: list[dict[str, Any]] = [{}]
        if opset >= 16:
            modes += [{"coordinate_transformation_mode": "output_half_pixel"}]
        for mode in modes:
            yield from (one("RoiAlign", [x, rois, images], sampling_ratio=ratio, **size, **mode) for ratio in (0, 1, 2, 3))
            yield one("RoiAlign", [x, rois, images], mode="max", sampling_ratio=2, **size, **mode)
            yield one("RoiAlign", [x.astype(np.float64), rois.astype(np.float64), images], **size, **mode)


def losses(opset: int) -> Iterator[One]:
    if opset >= 13:
        x, targets, weights = floats(3, 5, 4), _RNG.integers(0, 5, (3, 4)), np.abs(floats(5))
        for reduction in ("none", "sum", "mean"):
            for more in ({}, {"ignore_index": 2}):
                yield one("NegativeLogLikelihoodLoss", [x, targets], reduction=reduction, **more)
                yield one("SoftmaxCrossEntropyLoss", [x, targets], weights, outputs=2, reduction=reduction, **more)


def signals(opset: int) -> Iterator[One]:
    if opset >= 17:
        for n in (7, 10):
            yield from (one(f"{name}Window", [], ints(n).reshape(()), periodic=i) for i in (0, 1) for name in _WINDOWS)
        signal = floats(2, 12, 1)
        yield from (one("STFT", signal, 3, floats(5), onesided=onesided) for onesided in (0, 1))
        yield from (one("STFT", signal, 2, None, 6), one("STFT", signal.astype(np.float64), 2, None, 6))
        yield one("MelWeightMatrix", [], 8, 256, 16000, np.float32(20), np.float32(7600))
        if opset < 20:
            for length in (None, 9, 16):
                yield from (one("DFT", floats(2, 12, parts) / 10, length, inverse=i) for parts in (1, 2) for i in (0, 1))
            yield one("DFT", floats(2, 12, 1) / 10, onesided=1)
        else:
            yield from (one("DFT", floats(2, 12, 4, 2), None, axis, inverse=1) for axis in (0, 1, -2))


_WINDOWS = ("Blackman", "Hamming", "Hann")


def rare(opset: int) -> Iterator[One]:
    if opset >= 11:
        yield from (one("Det", floats(*shape)) for shape in ((3, 3), (2, 4, 5, 5)))
    if opset >= 18:
        for x in (X, (X * 9).astype(np.int32), X.astype(np.float64)):
            yield one("CenterCropPad", x, ints(4, 2, 8, 3))
            yield one("CenterCropPad", x, ints(6, 8), axes=[2, -1])
        blocks = floats(2, 3 * 6, 5 * 4)
        yield one("Col2Im", blocks, ints(6, 5), ints(2, 3), pads=[0, 1, 0, 0])
        yield one("Col2Im", floats(2, 12, 4), ints(8, 9), ints(2, 3), strides=[3, 4], dilations=[2, 1], pads=[0, 0, 0, 1])


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize(
    "family",
    [
        softmaxes,
        inputs_or_attributes,
        reductions,
        resizes,
        windows,
        sums_of_products,
        groups,
        defaults,
        layers,
        sequences,
        grids,
        regions,
        losses,
        signals,
        rare,
    ],
)
def test_opset(family: Any, opset: int) -> None:
    for each in family(opset):
        assert_as_onnxruntime(each, opset)


def assert_as_onnxruntime(case: One, opset: int) -> None:
    model, given = model_of(case, opset), {f"x{i}": array for i, array in enumerate(case.inputs)}
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, given)
    graph = graph_of(onnx_reader.read(model), {name: array.shape for name, array in given.items()})
    actual = Runner(simplified(graph))(given)
    for i, array in enumerate(expected):
        np.testing.assert_allclose(actual[f"y{i}"], array, 1e-4, 1e-5, err_msg=str(case[-1]), strict=True)


def model_of(case: One, opset: int) -> Any:
    names = [f"x{i}" for i in range(len(case.inputs))]
    known = ["" if array is None else f"w{i}" for i, array in enumerate(case.known)]
    weights = [onnx.numpy_helper.from_array(array, name) for array, name in zip(map(np.asarray, case.known), known) if name]
    outputs = [f"y{i}" for i in range(case.outputs)]
    kinds = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in case.inputs]
    inputs = [helper.make_tensor_value_info(name, kind, x.shape) for name, kind, x in zip(names, kinds, case.inputs)]
    node = helper.make_node(case.op, [*names, *known], outputs, **case.attributes)
    graph = helper.make_graph([node], "one", inputs, list(map(helper.make_empty_tensor_value_info, outputs)), weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)
