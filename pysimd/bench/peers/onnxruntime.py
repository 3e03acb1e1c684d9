"""ONNX Runtime: a model of one layer. Images are NCHW outside and, where that is faster, blocks of channels inside."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from pysimd.bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, INNER_PRODUCT, Array, Layer, Values, values_of
from pysimd.bench.peers import Way

NAME = "onnxruntime"
VERSION = str(onnxruntime.__version__)

_Optimization = onnxruntime.GraphOptimizationLevel
_BLOCKED = "com.microsoft.nchwc"  # the domain of operators on blocks of channels


def build(layer: Layer, layout: str, values: Values) -> Iterator[Way]:
    """NCHW with all optimizations, which may convert to blocks and back, and with those that keep the layout. Where the row
    leaves the layout to us, also the convolution of blocks by itself, as it would be within a network."""
    model = _model(layer, values)
    yield _nchw("nchw", layer, model, values, _Optimization.ORT_ENABLE_EXTENDED)
    if layer.kind == CONVOLUTION:
        yield _nchw("nchw, blocks inside", layer, model, values, _Optimization.ORT_ENABLE_ALL)
        blocks = _without_conversions(model)
        if layout == "nhwc" and blocks:
            yield _blocked(layer, blocks, values)


def _model(layer: Layer, values: Values) -> Any:
    shape = [1, values.src.size] if layer.kind == INNER_PRODUCT else [1, *layer.src]
    out = [1, layer.o] if layer.kind == INNER_PRODUCT else [1, *layer.dst]
    graph = helper.make_graph(
        list(_nodes(layer)),
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)],
        [numpy_helper.from_array(values.weight, "w"), numpy_helper.from_array(values.bias, "b")] if layer.weight else [],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _nodes(layer: Layer) -> Iterator[Any]:
    if layer.kind == INNER_PRODUCT:
        yield helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)
        return
    window = {
        "kernel_shape": [layer.kernel] * 2,
        "strides": [layer.stride] * 2,
        "pads": [layer.before] * 2 + [layer.after] * 2,
    }
    if layer.kind in (CONVOLUTION, DECONVOLUTION):
        operator = "Conv" if layer.kind == CONVOLUTION else "ConvTranspose"
        yield helper.make_node(operator, ["x", "w", "b"], ["sum"], group=layer.group, **window)
        yield helper.make_node("Relu", ["sum"], ["y"])
    elif layer.kind == AVERAGE:
        yield helper.make_node("AveragePool", ["x"], ["y"], **window)
    else:
        yield helper.make_node("MaxPool", ["x"], ["y"], **window)


def _session(model: Any, level: Any, optimized: str = "") -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = level
    options.log_severity_level = 3  # it warns that an optimized model belongs to one machine
    if optimized:
        options.optimized_model_filepath = optimized
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _bound(session: Any, src: Array) -> tuple[Callable[[], Any], Callable[[], Array]]:
    """A call that reads and writes memory which the runtime has, and what it wrote."""
    (x,), (y,) = session.get_inputs(), session.get_outputs()
    out = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(y.shape, np.float32))
    binding = session.io_binding()
    binding.bind_ortvalue_input(x.name, onnxruntime.OrtValue.ortvalue_from_numpy(src.reshape(x.shape)))
    binding.bind_ortvalue_output(y.name, out)
    return lambda: session.run_with_iobinding(binding), out.numpy


def _nchw(how: str, layer: Layer, model: Any, values: Values, level: Any) -> Way:
    call, out = _bound(_session(model, level), np.ascontiguousarray(values.src))

    def result() -> Array:
        call()
        return out().reshape(layer.dst)

    return Way(how, call, result, _empty)


def _optimized(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "optimized.onnx"
        _session(model, _Optimization.ORT_ENABLE_ALL, str(path))
        return onnx.load(path)


def _channels_of_weight(model: Any, convolution: Any) -> int:
    """Output channels, filled up to whole blocks."""
    return int(next(t.dims[0] for t in model.graph.initializer if t.name == convolution.input[1]))


def _without_conversions(model: Any) -> Any:
    """The optimized model with its convolution alone, or None if that is not one of blocks."""
    model = _optimized(model)
    graph, nodes = model.graph, list(model.graph.node)
    if {node.op_type for node in nodes} - {"Conv", "ReorderInput", "ReorderOutput"}:
        return None
    convolution = next(node for node in nodes if node.op_type == "Conv")
    if convolution.domain != _BLOCKED:
        return None
    source, target = ([d.dim_value for d in end[0].type.tensor_type.shape.dim] for end in (graph.input, graph.output))
    if any(node.op_type == "ReorderInput" for node in nodes):
        source[1] = -(-source[1] // _BLOCK) * _BLOCK
    target[1] = _channels_of_weight(model, convolution)
    convolution.input[0], convolution.output[0] = "x", "y"
    del graph.node[:]
    graph.node.append(convolution)
    graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, source))
    graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, target))
    return model


def _blocked(layer: Layer, model: Any, values: Values) -> Way:
    session = _session(model, _Optimization.ORT_DISABLE_ALL)
    channels = session.get_inputs()[0].shape[1]
    src, (_, h, w) = values.src, layer.dst
    if channels % _BLOCK == 0:
        src = np.zeros((channels, layer.h, layer.w), np.float32)
        src[: layer.c] = values.src
        src = np.ascontiguousarray(src.reshape(-1, _BLOCK, layer.h, layer.w).transpose(0, 2, 3, 1))
    call, out = _bound(session, src)

    def result() -> Array:
        call()
        return out().reshape(-1, h, w, _BLOCK).transpose(0, 3, 1, 2).reshape(-1, h, w)[: layer.o]

    return Way(f"blocks of {_BLOCK} channels", call, result, _empty)


def _relu_of_one() -> Any:
    one = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "empty", one[:1], one[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _block() -> int:
    """How many channels a block has on this machine: what a convolution to 65 is filled up by, and the one."""
    layer = Layer(CONVOLUTION, 64, 4, 4, 65)
    model = _optimized(_model(layer, values_of(layer)))
    return next(
        (_channels_of_weight(model, n) - 64 for n in model.graph.node if n.domain == _BLOCKED and n.op_type == "Conv"), 1
    )


_BLOCK = _block()
_empty, _ = _bound(_session(_relu_of_one(), _Optimization.ORT_ENABLE_ALL), np.zeros(1, np.float32))
