"""ONNX Runtime: a model of the block. Images are NCHW outside and, where that is faster, blocks of channels inside."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Callable

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from bench.layers import (
    AVERAGE,
    CONVOLUTION,
    DECONVOLUTION,
    GATES,
    GRU,
    INNER_PRODUCT,
    Array,
    Block,
    Layer,
    Values,
    from_layout,
    in_layout,
    quantised,
    sequence_of,
    states_as_image,
    values_of,
)
from bench.operators import Operator
from bench.peers import Implementation
from bench.peers.onnx_model import model_of

NAME = "onnxruntime"
VERSION = str(onnxruntime.__version__)

_Optimization = onnxruntime.GraphOptimizationLevel
_BLOCKED = "com.microsoft.nchwc"  # the domain of operators on blocks of channels


def build(block: Block, layout: str, values: tuple[Values, ...]) -> Iterator[Callable[[], Implementation]]:
    """NCHW with all optimizations, which may convert to blocks and back, and with those that keep the layout. If the row
    does not fix the layout, also the convolutions on blocks alone, as within a network. Quantised layers as QLinearConv, in
    either layout of the images, and with weights of either sign: on a processor without VNNI, pairs of products with signed
    weights saturate, which is wrong for large values."""
    if block.quantised:
        for last in (True, False) if layout == "nhwc" else (False,):
            for signed in (True, False):
                yield partial(_quantised, block, values[0], last, signed)
        return
    if block.layers[0].kind in GATES:
        yield partial(_recurrent, block.layers[0], values[0])
        return
    model = _model(block, values)
    yield partial(_nchw, "nchw", block, model, values, _Optimization.ORT_ENABLE_EXTENDED)
    if block.layers[0].kind == CONVOLUTION:
        yield partial(_nchw, "nchw, blocks inside", block, model, values, _Optimization.ORT_ENABLE_ALL)
        blocks = _without_conversions(model) if layout == "nhwc" else None
        if blocks:
            yield partial(_blocked, block, blocks, values)


def of_operator(operator: Operator, expected: Array) -> Iterator[Callable[[], Implementation]]:
    """A model of the operator alone."""
    yield partial(_operator, operator, expected)


def _operator(operator: Operator, expected: Array) -> Implementation:
    session = _session(model_of(operator, expected), _Optimization.ORT_ENABLE_ALL)
    call, out = _bound_to(session, operator.inputs, np.zeros_like(expected))

    def result() -> Array:
        call()
        return out()

    return Implementation("a model", call, result, _empty)


def _recurrent(layer: Layer, values: Values) -> Implementation:
    """A single sequence."""
    steps, weight, recurrent = sequence_of(layer, values)
    options = {"hidden_size": layer.o, "direction": "bidirectional" if layer.group == 2 else "forward"}
    if layer.kind == GRU:
        options["linear_before_reset"] = 1
    tensors = [numpy_helper.from_array(array, name) for name, array in (("w", weight), ("r", recurrent), ("b", values.bias))]
    node = helper.make_node(layer.kind.upper(), ["x", "w", "r", "b"], ["y"], **options)
    shapes = {"x": [layer.w, 1, layer.c], "y": [layer.w, layer.group, 1, layer.o]}
    ends = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name, shape in shapes.items())
    graph = helper.make_graph([node], "block", *ends, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    call, out = _bound(_session(model, _Optimization.ORT_ENABLE_ALL), steps)

    def result() -> Array:
        call()
        return states_as_image(out())

    return Implementation(layer.kind.upper(), call, result, _empty)


def _model(block: Block, values: tuple[Values, ...]) -> Any:
    """x, x1, x2 ... y are the images between layers."""
    first, last = block.layers[0], block.layers[-1]
    shape = [1, values[0].src.size] if first.kind == INNER_PRODUCT else [first.batch, *first.src]
    out = [1, last.o] if last.kind == INNER_PRODUCT else [last.batch, *last.dst]
    nodes, tensors, x = [], [], "x"
    for i, (layer, its) in enumerate(zip(block.layers, values), 1):
        y = f"x{i}" if i < len(values) or block.add else "y"
        nodes += list(_nodes(layer, x, f"w{i}", f"b{i}", y))
        if layer.weight:
            tensors += [numpy_helper.from_array(its.weight, f"w{i}"), numpy_helper.from_array(its.bias, f"b{i}")]
        x = y
    if block.add:
        nodes.append(helper.make_node("Add", [x, "x"], ["y"]))
    source, target = ("x", shape), ("y", out)
    ends = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, end)] for name, end in (source, target))
    graph = helper.make_graph(nodes, "block", *ends, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _nodes(layer: Layer, x: str, w: str, b: str, y: str) -> Iterator[Any]:
    if layer.kind == INNER_PRODUCT:
        yield helper.make_node("Gemm", [x, w, b], [y], transB=1)
        return
    window = {
        "kernel_shape": layer.window,
        "strides": [layer.stride] * 2,
        "pads": layer.pads,
    }
    if layer.kind in (CONVOLUTION, DECONVOLUTION):
        operator, window["dilations"] = "Conv" if layer.kind == CONVOLUTION else "ConvTranspose", [layer.dilation] * 2
        yield helper.make_node(operator, [x, w, b], [f"{y}_sum" if layer.relu else y], group=layer.group, **window)
        if layer.relu:
            yield helper.make_node("Relu", [f"{y}_sum"], [y])
    elif layer.kind == AVERAGE:
        yield helper.make_node("AveragePool", [x], [y], **window)
    else:
        yield helper.make_node("MaxPool", [x], [y], **window)


def _session(model: Any, level: Any, optimized: str = "") -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = level
    options.log_severity_level = 3  # it warns that an optimized model belongs to one machine
    if optimized:
        options.optimized_model_filepath = optimized
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _bound(session: Any, src: Array) -> tuple[Callable[[], Any], Callable[[], Array]]:
    """A call with one input, and its result."""
    (x,), (y,) = session.get_inputs(), session.get_outputs()
    dst = np.zeros(y.shape, np.uint8 if y.type == "tensor(uint8)" else np.float32)
    return _bound_to(session, {x.name: src.reshape(x.shape)}, dst)


def _bound_to(session: Any, inputs: Mapping[str, Array], dst: Array) -> tuple[Callable[[], Any], Callable[[], Array]]:
    """A call that reads and writes bound memory of the runtime, and its result."""
    out = onnxruntime.OrtValue.ortvalue_from_numpy(dst)
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    binding.bind_ortvalue_output(session.get_outputs()[0].name, out)
    return lambda: session.run_with_iobinding(binding), out.numpy


def _nchw(how: str, block: Block, model: Any, values: tuple[Values, ...], level: Any) -> Implementation:
    call, out = _bound(_session(model, level), np.ascontiguousarray(values[0].src))

    def result() -> Array:
        call()
        return out().reshape(block.images(block.dst))

    return Implementation(how, call, result, _empty)


def _optimized(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "optimized.onnx"
        _session(model, _Optimization.ORT_ENABLE_ALL, str(path))
        return onnx.load(path)


def _without_conversions(model: Any) -> Any:
    """The optimized model with only its convolutions, or None if they do not use blocks."""
    model = _optimized(model)
    graph, nodes = model.graph, list(model.graph.node)
    convolutions = [node for node in nodes if node.op_type == "Conv" and node.domain == _BLOCKED]
    reorders = Counter(node.op_type for node in nodes if node.op_type.startswith("Reorder"))
    if len(convolutions) + sum(reorders.values()) < len(nodes) or not convolutions or max(reorders.values(), default=0) > 1:
        return None  # or convert between two of them
    source, target = ([d.dim_value for d in end[0].type.tensor_type.shape.dim] for end in (graph.input, graph.output))
    inner = {}  # names that replace those of converted inputs and outputs
    for node in nodes:
        if node.op_type == "ReorderInput":
            inner[node.output[0]] = "x"
            source[1] = -(-source[1] // _BLOCK) * _BLOCK
        elif node.op_type == "ReorderOutput":
            inner[node.input[0]] = "y"
            target[1] = -(-target[1] // _BLOCK) * _BLOCK
    for node in convolutions:
        node.input[:] = [inner.get(name, name) for name in node.input]
        node.output[:] = [inner.get(name, name) for name in node.output]
    del graph.node[:]
    graph.node.extend(convolutions)
    graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, source))
    graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, target))
    return model


def _blocked(block: Block, model: Any, values: tuple[Values, ...]) -> Implementation:
    session = _session(model, _Optimization.ORT_DISABLE_ALL)
    channels = session.get_inputs()[0].shape[1]
    (c, rows, columns), src, (o, h, w), n = block.layers[0].src, values[0].src, block.dst, block.batch
    if channels % _BLOCK == 0:
        src = np.zeros((n, channels, rows, columns), np.float32)
        src[:, :c] = values[0].src
        src = np.ascontiguousarray(src.reshape(n, -1, _BLOCK, rows, columns).transpose(0, 1, 3, 4, 2))
    call, out = _bound(session, src)

    def result() -> Array:
        call()
        planes = out().reshape(n, -1, h, w, _BLOCK).transpose(0, 1, 4, 2, 3).reshape(n, -1, h, w)
        return planes[:, :o].reshape(block.images(block.dst))

    return Implementation(f"blocks of {_BLOCK} channels", call, result, _empty)


def _quantised(block: Block, values: Values, last: bool, signed: bool) -> Implementation:
    """With the channels last, or first. Quantisation clamps the sums at 0, so ReLU needs no operator. Weights that are not
    signed have 128 added, and 128 as their zero."""
    layer, numbers, layout = block.layers[0], quantised(values), "nhwc" if last else "nchw"
    weight = numbers.weight if signed else (numbers.weight.astype(np.int16) + 128).astype(np.uint8)
    tensors = {
        "s": np.float32(numbers.src_step),
        "zero": np.uint8(0),
        "w": weight,
        "ws": numbers.weight_step.astype(np.float32),
        "wz": np.full(layer.o, 0 if signed else 128, weight.dtype),
        "t": np.float32(numbers.dst_step),
    }
    names = ["x", "s", "zero", "w", "ws", "wz", "t", "zero"]
    window = {"kernel_shape": layer.window, "strides": [layer.stride] * 2, "group": layer.group}
    window.update(pads=layer.pads, dilations=[layer.dilation] * 2)
    own = {"domain": "com.microsoft", "channels_last": 1} if last else {}
    node = helper.make_node("QLinearConv", names, ["y"], **window, **own)
    shapes = ((h, w, c) if last else (c, h, w) for c, h, w in (layer.src, layer.dst))
    ends = [[helper.make_tensor_value_info(n, TensorProto.UINT8, [layer.batch, *shape])] for n, shape in zip("xy", shapes)]
    constants = [numpy_helper.from_array(np.asarray(t), n) for n, t in tensors.items()]
    graph = helper.make_graph([node], "block", *ends, constants)
    versions = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=9)
    src = np.ascontiguousarray(in_layout(numbers.src, layout))
    call, out = _bound(_session(model, _Optimization.ORT_ENABLE_ALL), src)

    def result() -> Array:
        call()
        return from_layout(out() * np.float32(numbers.dst_step), layout).reshape(block.images(block.dst))

    return Implementation(f"QLinearConv, {layout}, {weight.dtype} weights", call, result, _empty)


def _relu_of_one() -> Any:
    one = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "empty", one[:1], one[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _block() -> int:
    """The number of channels per block on this machine, from the padded weights of a convolution to 65 channels; else 1."""
    layer = Layer(CONVOLUTION, 64, 4, 4, 65)
    model = _optimized(_model(Block((layer,)), (values_of(layer),)))
    weights = [node.input[1] for node in model.graph.node if node.domain == _BLOCKED and node.op_type == "Conv"]
    return next((int(tensor.dims[0]) - 64 for tensor in model.graph.initializer if tensor.name in weights), 1)


_BLOCK = _block()
_empty, _ = _bound(_session(_relu_of_one(), _Optimization.ORT_ENABLE_ALL), np.zeros(1, np.float32))
