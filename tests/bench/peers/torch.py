"""PyTorch: its usual functions, and the ones with packed weights and fused ReLU that its compiler substitutes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Callable

import torch
from torch.nn import functional

from bench import arrays
from bench.implementations import Unsupported
from bench.layers import (
    AVERAGE,
    CONVOLUTION,
    DECONVOLUTION,
    GATES,
    INNER_PRODUCT,
    LSTM,
    MAX,
    Array,
    Block,
    Layer,
    Values,
    in_layout,
    sequence_of,
    states_as_image,
)
from bench.operators import Operator
from bench.peers import Implementation

NAME = "torch"
VERSION = str(torch.__version__)

torch.set_num_threads(1)
torch.set_num_interop_threads(1)
torch.set_grad_enabled(False)

_mkldnn = torch.ops.mkldnn
_little = torch.zeros(1)


def build(block: Block, layout: str, values: tuple[Values, ...]) -> Iterator[Callable[[], Implementation]]:
    """In the layout of the row: PyTorch supports both."""
    if block.quantised:
        raise Unsupported("quantised layers are not compared here")
    if block.layers[0].kind in GATES:
        yield partial(_recurrent, block.layers[0], values[0])
        return
    if block.batch > 1:
        raise Unsupported("batches are not compared here")
    x = torch.from_numpy(arrays.placed(in_layout(values[0].src, layout)))
    x = (x.permute(2, 0, 1) if layout == "nhwc" else x).unsqueeze(0)  # NHWC is what PyTorch calls channels_last
    if len(block.layers) > 1:
        yield partial(_implementation, "fused", block, _chain(block, x, values))
        return
    (layer,), weight, bias = block.layers, *_tensors(values[0])
    implementations = {
        CONVOLUTION: _convolution,
        DECONVOLUTION: _deconvolution,
        INNER_PRODUCT: _inner_product,
        MAX: _pooling,
        AVERAGE: _pooling,
    }
    if layer.before != layer.after:
        raise Unsupported("padding differs from side to side")
    for how, call in implementations[layer.kind](layer, x, weight, bias):
        yield partial(_implementation, how, block, call)


def of_operator(operator: Operator, expected: Array) -> Iterator[Callable[[], Implementation]]:
    """The expression, in eager mode."""
    if not operator.torch:
        raise Unsupported("PyTorch has no such function")
    yield partial(_operator, operator)


def _operator(operator: Operator) -> Implementation:
    known = {name: torch.from_numpy(arrays.placed(a)) for name, a in {**operator.inputs, **operator.constants}.items()}
    call: Callable[[], Any] = eval(f"lambda: {operator.torch}", {"torch": torch, "functional": functional, **known})

    def result() -> Array:
        y = call()
        y = y if torch.is_tensor(y) else y[0]
        array: Array = (y.int_repr() if y.is_quantized else y).numpy()
        return array

    return Implementation(operator.torch, call, result, lambda: functional.relu(_little))


def _recurrent(layer: Layer, values: Values) -> Implementation:
    """Its module, with the gates in its own order."""
    module = (torch.nn.LSTM if layer.kind == LSTM else torch.nn.GRU)(layer.c, layer.o, bidirectional=layer.group == 2)
    steps, weight, recurrent = sequence_of(layer, values)
    gates, order = GATES[layer.kind], [0, 2, 3, 1] if layer.kind == LSTM else [1, 0, 2]
    both = values.bias.reshape(layer.group, 2, -1)
    for d, end in enumerate(("_l0", "_l0_reverse")[: layer.group]):
        given = {"weight_ih": weight[d], "weight_hh": recurrent[d], "bias_ih": both[d, 0], "bias_hh": both[d, 1]}
        for name, array in given.items():
            own = getattr(module, name + end)
            own.data = torch.from_numpy(array.reshape(gates, layer.o, -1)[order].copy()).reshape(own.shape)
    x = torch.from_numpy(arrays.placed(steps))
    return Implementation(
        "module", lambda: module(x), lambda: states_as_image(module(x)[0].numpy()), lambda: functional.relu(_little)
    )


def _tensors(values: Values) -> tuple[Any, Any]:
    """Weight and bias."""
    return torch.from_numpy(arrays.placed(values.weight)), torch.from_numpy(arrays.placed(values.bias))


def _implementation(how: str, block: Block, call: Callable[[], Any]) -> Implementation:
    def result() -> Array:
        array: Array = call().numpy().reshape(block.dst)
        return array

    return Implementation(how, call, result, lambda: functional.relu(_little))


def _chain(block: Block, x: Any, values: tuple[Values, ...]) -> Callable[[], Any]:
    """Consecutive convolutions, each with its fused function; the last one adds."""
    steps, shape = [], list(x.shape)
    for layer, its in zip(block.layers, values):
        weight, bias = _tensors(its)
        stride, pad, apart = [layer.stride] * 2, list(layer.pads[:2]), [layer.dilation] * 2
        packed = _mkldnn._reorder_convolution_weight(weight, pad, stride, apart, layer.group, shape)
        steps.append((packed, bias, pad, stride, apart, layer.group))
        shape = [1, *layer.dst]
    fused, kinds = _mkldnn._convolution_pointwise, ["relu" if layer.relu else "none" for layer in block.layers]

    def call() -> Any:
        y = x
        for step, kind in zip(steps[:-1], kinds):
            y = fused(y, *step, kind, [], "")
        if block.add:
            return fused.binary(y, x, *steps[-1], "add", None, None, [], None)
        return fused(y, *steps[-1], kinds[-1], [], "")

    return call


def _convolution(layer: Layer, x: Any, weight: Any, bias: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    stride, pad, apart = [layer.stride] * 2, list(layer.pads[:2]), [layer.dilation] * 2
    like = torch.channels_last if x.is_contiguous(memory_format=torch.channels_last) else torch.contiguous_format
    usual = weight.to(memory_format=like)
    yield "conv2d", lambda: functional.conv2d(x, usual, bias, stride, pad, apart, layer.group).relu_()
    packed = _mkldnn._reorder_convolution_weight(weight, pad, stride, apart, layer.group, list(x.shape))
    fused = _mkldnn._convolution_pointwise
    yield "fused", lambda: fused(x, packed, bias, pad, stride, apart, layer.group, "relu", [], "")


def _deconvolution(layer: Layer, x: Any, weight: Any, bias: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    stride, pad, none, one = [layer.stride] * 2, [layer.before] * 2, [0, 0], [1, 1]
    transpose = functional.conv_transpose2d
    yield "conv_transpose2d", lambda: transpose(x, weight, bias, stride, pad, none, layer.group, one).relu_()
    packed = _mkldnn._reorder_convolution_transpose_weight(weight, pad, none, stride, one, layer.group, list(x.shape))
    fused = _mkldnn._convolution_transpose_pointwise
    yield "fused", lambda: fused(x, packed, bias, pad, none, stride, one, layer.group, "relu", [], "")


def _inner_product(layer: Layer, x: Any, weight: Any, bias: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    row = x.reshape(1, -1)
    yield "linear", lambda: functional.linear(row, weight, bias)
    packed = _mkldnn._reorder_linear_weight(weight, 1)
    yield "packed", lambda: _mkldnn._linear_pointwise(row, packed, bias, "none", [], "")


def _pooling(layer: Layer, x: Any, weight: Any, bias: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    pool = functional.max_pool2d if layer.kind == MAX else functional.avg_pool2d
    options = {} if layer.kind == MAX else {"count_include_pad": False}
    yield "pool2d", lambda: pool(x, layer.kernel, layer.stride, layer.before, **options)
    if layer.kernel == layer.h == layer.w and layer.kind == AVERAGE:
        yield "adaptive_avg_pool2d", lambda: functional.adaptive_avg_pool2d(x, 1)
