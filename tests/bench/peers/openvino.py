"""OpenVINO: a model of the block, in the layout of the row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Callable

import numpy as np
import openvino
from openvino import opset1 as op

from bench import arrays
from bench.implementations import Unsupported
from bench.layers import (
    AVERAGE,
    CONVOLUTION,
    DECONVOLUTION,
    GATES,
    INNER_PRODUCT,
    Array,
    Block,
    Layer,
    Values,
    from_layout,
    in_layout,
    quantised,
)
from bench.operators import Operator
from bench.peers import Implementation
from bench.peers.onnx_model import model_of

NAME = "openvino"
VERSION = str(openvino.__version__).split("-")[0]

_core = openvino.Core()
_OPTIONS = {
    "PERFORMANCE_HINT": "LATENCY",
    "NUM_STREAMS": 1,
    "INFERENCE_NUM_THREADS": 1,
    "INFERENCE_PRECISION_HINT": "f32",
    "ENABLE_CPU_PINNING": False,  # the process is already pinned
}


def build(block: Block, layout: str, values: tuple[Values, ...]) -> Iterator[Callable[[], Implementation]]:
    """Yields one implementation."""
    if block.layers[0].kind in GATES:
        raise Unsupported("recurrent layers are not compared here")
    if block.quantised:
        yield partial(_quantised, block, layout, values[0])
    else:
        yield partial(_float, block, layout, values)


def of_operator(operator: Operator, expected: Array) -> Iterator[Callable[[], Implementation]]:
    """A model read from ONNX; a source that is multiplied by few bits is quantised, too, unless an option forbids it."""
    yield partial(_operator, operator, expected)
    if "MatMulNBits" in operator.onnx:
        yield partial(_operator, operator, expected, {"DYNAMIC_QUANTIZATION_GROUP_SIZE": 0})


def _operator(operator: Operator, expected: Array, options: dict[str, Any] | None = None) -> Implementation:
    model = _core.read_model(model_of(operator, expected).SerializeToString())
    call, request = _prepared(model, *operator.inputs.values(), options=options)

    def result() -> Array:
        call()
        array: Array = request.get_output_tensor().data
        return array

    return Implementation("a model", call, result, _empty)


def _float(block: Block, layout: str, values: tuple[Values, ...]) -> Implementation:
    first, image = block.layers[0], values[0].src
    shape = [1, image.size] if first.kind == INNER_PRODUCT else [first.batch, *first.src]
    x = y = op.parameter(shape, np.float32)
    for layer, its in zip(block.layers, values):
        y = _node(layer, y, its)
    model = openvino.Model([op.add(y, x) if block.add else y], [x])
    if first.kind == INNER_PRODUCT:
        layout = "nchw"  # a vector has no layout
        src = image.reshape(1, -1)
    else:
        src = in_layout(image.reshape(shape), layout)
    if layout == "nhwc":
        model = _in_nhwc(model)
    call, request = _prepared(model, src)

    def result() -> Array:
        call()
        array: Array = request.get_output_tensor().data
        return (from_layout(array, layout) if array.ndim == 4 else array).reshape(block.images(block.dst))

    return Implementation(layout, call, result, _empty)


def _quantised(block: Block, layout: str, values: Values) -> Implementation:
    """A model as quantised by OpenVINO's own tools: the plugin turns it into one convolution of bytes. Images are transposed
    as floats, since the plugin would not detect the pattern after bytes."""
    layer, numbers = block.layers[0], quantised(values)
    src = in_layout(numbers.src.reshape(layer.batch, *layer.src), layout)
    x = op.parameter(src.shape, np.uint8)
    steps = numbers.weight_step.astype(np.float32).reshape(-1, 1, 1, 1)
    weight = op.multiply(op.convert(op.constant(numbers.weight), np.float32), op.constant(steps))
    image = op.multiply(op.convert(x, np.float32), op.constant(np.float32(numbers.src_step)))
    if layout == "nhwc":
        image = op.transpose(image, op.constant(np.array([0, 3, 1, 2])))
    window = [layer.stride] * 2, list(layer.pads[:2]), list(layer.pads[2:]), [layer.dilation] * 2
    if layer.group > 1:
        grouped = op.constant(np.array([layer.group, layer.o // layer.group, *layer.weight[1:]], np.int64))
        y = op.group_convolution(image, op.reshape(weight, grouped, False), *window)
    else:
        y = op.convolution(image, weight, *window)
    limits = [op.constant(np.float32(value)) for value in (0, numbers.most, 0, 255)]
    y = op.fake_quantize(op.relu(y), *limits, 256)
    if layout == "nhwc":
        y = op.transpose(y, op.constant(np.array([0, 2, 3, 1])))
    call, request = _prepared(openvino.Model([op.convert(y, np.uint8)], [x]), src)

    def result() -> Array:
        call()
        array = request.get_output_tensor().data * np.float32(numbers.dst_step)
        return from_layout(array, layout).reshape(block.images(block.dst))

    return Implementation(f"{layout}, quantised", call, result, _empty)


def _prepared(model: Any, *sources: Array, options: dict[str, Any] | None = None) -> tuple[Callable[[], Any], Any]:
    request = _core.compile_model(model, "CPU", _OPTIONS | (options or {})).create_infer_request()
    placed = [arrays.placed(src) for src in sources]
    for i, src in enumerate(placed):
        request.set_input_tensor(i, openvino.Tensor(src, shared_memory=True))

    def call(_: Any = placed) -> Any:  # a request does not keep the arrays alive
        return request.infer(share_outputs=True)

    return call, request


def _in_nhwc(model: Any) -> Any:
    """The same with images as NHWC outside. OpenVINO then computes in NHWC."""
    outside = openvino.preprocess.PrePostProcessor(model)
    inside, nhwc = openvino.Layout("NCHW"), openvino.Layout("NHWC")
    outside.input().model().set_layout(inside)
    outside.input().tensor().set_layout(nhwc)
    outside.output().model().set_layout(inside)
    outside.output().tensor().set_layout(nhwc)
    return outside.build()


def _node(layer: Layer, x: Any, values: Values) -> Any:
    window = list(layer.window)
    strides, ones, apart = [layer.stride] * 2, [1, 1], [layer.dilation] * 2
    before, after = list(layer.pads[:2]), list(layer.pads[2:])
    if layer.kind == INNER_PRODUCT:
        return op.add(op.matmul(x, op.constant(values.weight), False, True), op.constant(values.bias[None]))
    if layer.kind == CONVOLUTION and layer.group > 1:
        grouped = values.weight.reshape(layer.group, -1, *values.weight.shape[1:])
        y = op.group_convolution(x, op.constant(grouped), strides, before, after, apart)
    elif layer.kind == CONVOLUTION:
        y = op.convolution(x, op.constant(values.weight), strides, before, after, apart)
    elif layer.kind == DECONVOLUTION:
        grouped = values.weight.reshape(layer.group, -1, *values.weight.shape[1:])
        around = {"pads_begin": before, "pads_end": after, "dilations": ones}
        if layer.group > 1:
            y = op.group_convolution_backprop_data(x, op.constant(grouped), strides, **around)
        else:
            y = op.convolution_backprop_data(x, op.constant(values.weight), strides, **around)
    elif layer.kind == AVERAGE:
        return op.avg_pool(x, strides, before, after, window, True)
    else:
        return op.max_pool(x, strides, before, after, window)
    y = op.add(y, op.constant(values.bias.reshape(1, -1, 1, 1)))
    return op.relu(y) if layer.relu else y


def _relu_of_one() -> Any:
    x = op.parameter([1], np.float32)
    return openvino.Model([op.relu(x)], [x])


_empty, _ = _prepared(_relu_of_one(), np.zeros(1, np.float32))
