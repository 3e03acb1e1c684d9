"""Functions that compute what an operator of ONNX does, called through the Python package with arguments bound once.

Peers get the operator and the same arrays, in the layout of the row. Shapes are those of networks, in sizes that fit
the first caches, the last one, or none.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Callable

import numpy as np

import pysimd
from bench import arrays
from bench.cases.case import Case, Prepared, floats, some_bytes
from bench.operators import Operator

_nothing = pysimd.prepare(pysimd.relu, floats(1))


def _text(*numbers: int) -> str:
    return "x".join(map(str, numbers))


def _bytes_of(value: Any) -> int:
    """Of the arrays among arguments or results."""
    if isinstance(value, (tuple, list)):
        return sum(map(_bytes_of, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0


def _like(result: Any) -> Any:
    """Arrays for results, at addresses of their own."""
    if isinstance(result, tuple):
        return tuple(map(_like, result))
    return arrays.empty(result.shape, result.dtype)


def prepared(operator: Operator, function: Callable[..., Any], *given: Any, flops: int = 0, **options: Any) -> Prepared:
    """The call with these arguments, whose limit is `flops` or the copy of all arrays that it must read or write."""
    out = _like(function(*given, **options))
    call = pysimd.prepare(function, *given, out=out, **options)

    def result() -> np.ndarray:
        call()
        first: np.ndarray = out[0] if isinstance(out, tuple) else out
        return first

    traffic = 0 if flops else _bytes_of(given) + _bytes_of(out)
    return Prepared(call, _nothing, flops=flops, traffic=traffic, keep=(given, out), result=result, operator=operator)


def of_every_element(name: str, onnx: str, torch: str, *shape: int) -> Case:
    """A function of pysimd that has no other argument."""

    def prepare() -> Prepared:
        x = arrays.placed(np.abs(floats(*shape)) * 4 + 0.01)
        return prepared(Operator(onnx, torch, {"x": x}), getattr(pysimd, name), x)

    family = "activation" if name in vars(pysimd.activation) else "unary"
    return Case(family, f"{name} {_text(*shape)}", "-", prepare)


def binary(operation: str, onnx: str, torch: str, shape: tuple[int, ...], other: tuple[int, ...]) -> Case:
    """Two arrays, the second of which is broadcast."""

    def prepare() -> Prepared:
        a, b = floats(*shape) + 2, floats(*other) + 2
        operator = Operator(f"y = {onnx} (a, b)", torch, {"a": a, "b": b})
        return prepared(operator, pysimd.binary, operation, a, b)

    return Case("binary", f"{operation} {_text(*shape)} and {_text(*other)}", "-", prepare)


def layer_norm(rows: int, columns: int) -> Case:
    def prepare() -> Prepared:
        x, a, b = floats(rows, columns), floats(columns), floats(columns)
        onnx = "y = LayerNormalization <axis = -1> (x, a, b)"
        operator = Operator(onnx, f"functional.layer_norm(x, [{columns}], a, b)", {"x": x}, {"a": a, "b": b})
        return prepared(operator, pysimd.layer_norm, x, a, b)

    return Case("normalize", f"layer {rows}x{columns}", "-", prepare)


def instance_norm(layout: str, c: int, h: int, w: int) -> Case:
    nhwc = layout == "nhwc"

    def prepare() -> Prepared:
        x, a, b = floats(1, h, w, c) if nhwc else floats(1, c, h, w), floats(c), floats(c)
        torch = f"functional.instance_norm({'x.permute(0, 3, 1, 2)' if nhwc else 'x'}, None, None, a, b)"
        onnx = "" if nhwc else "y = InstanceNormalization (x, a, b)"
        operator = Operator(onnx, torch + ".permute(0, 2, 3, 1)" * nhwc, {"x": x}, {"a": a, "b": b})
        return prepared(operator, pysimd.instance_norm, x, a, b, layout=layout)

    return Case("normalize", f"instance {_text(c, h, w)}", layout, prepare)


def group_norm(groups: int, c: int, h: int, w: int) -> Case:
    def prepare() -> Prepared:
        x, a, b = floats(1, c, h, w), floats(c), floats(c)
        onnx = f"y = GroupNormalization <num_groups = {groups}> (x, a, b)"
        operator = Operator(onnx, f"functional.group_norm(x, {groups}, a, b)", {"x": x}, {"a": a, "b": b})
        return prepared(operator, pysimd.group_norm, x, groups, a, b)

    return Case("normalize", f"{groups} groups {_text(c, h, w)}", "nchw", prepare)


def permute(shape: tuple[int, ...], order: tuple[int, ...], make: Callable[..., np.ndarray] = floats) -> Case:
    def prepare() -> Prepared:
        x = make(*shape)
        onnx = f"y = Transpose <perm = [{', '.join(map(str, order))}]> (x)"
        return prepared(Operator(onnx, f"x.permute{order}.contiguous()", {"x": x}), pysimd.permute, x, order)

    kind = " bytes" if make is some_bytes else ""
    return Case("permute", f"{_text(*shape)} by {','.join(map(str, order))}{kind}", "-", prepare)


def concatenate(axis: int, *shapes: tuple[int, ...]) -> Case:
    def prepare() -> Prepared:
        given = {name: floats(*shape) for name, shape in zip("abcd", shapes)}
        names = ", ".join(given)
        operator = Operator(f"y = Concat <axis = {axis}> ({names})", f"torch.cat([{names}], {axis})", given)
        return prepared(operator, pysimd.concatenate, list(given.values()), axis=axis)

    return Case("copy", f"concatenate {' and '.join(_text(*shape) for shape in shapes)} on {axis}", "-", prepare)


def half(axis: int, *shape: int) -> Case:
    """The second half of an axis."""
    first, last = shape[axis] // 2, shape[axis]

    def prepare() -> Prepared:
        x = floats(*shape)
        where = (slice(None),) * axis + (slice(first, last),)
        constants = {name: np.array([value]) for name, value in (("a", first), ("b", last), ("c", axis))}
        torch = f"x.narrow({axis}, {first}, {last - first}).clone(memory_format=torch.contiguous_format)"
        return prepared(Operator("y = Slice (x, a, b, c)", torch, {"x": x}, constants), pysimd.copy, x[where])

    return Case("copy", f"half of {_text(*shape)} on {axis}", "-", prepare)


def pad(mode: str, shape: tuple[int, ...], widths: tuple[int, ...]) -> Case:
    """As much behind as before; PyTorch counts axes from the last one on, without those that remain at the front."""

    def prepare() -> Prepared:
        x = floats(*shape)
        torch_mode = "replicate" if mode == "edge" else mode
        torch_widths = [width for width in reversed(widths) for _ in range(2)]
        while len(torch_widths) > 2 and not torch_widths[-1]:
            torch_widths.pop()
        torch = f'functional.pad(x, {torch_widths}, "{torch_mode}")'
        operator = Operator(f'y = Pad <mode = "{mode}"> (x, a)', torch, {"x": x}, {"a": np.array(widths * 2)})
        return prepared(operator, pysimd.pad, x, tuple((width, width) for width in widths), mode)

    return Case("copy", f"pad {_text(*shape)} by {_text(*widths)} {mode}", "-", prepare)


_TORCH_REDUCTIONS = {
    "l2": "torch.linalg.vector_norm",
    "logsumexp": "torch.logsumexp",
    "max": "torch.amax",
    "mean": "torch.mean",
    "min": "torch.amin",
    "sum": "torch.sum",
}
_ONNX_REDUCTIONS = {"l2": "ReduceL2", "logsumexp": "ReduceLogSumExp"}


def reduce(operation: str, shape: tuple[int, ...], *axes: int) -> Case:
    def prepare() -> Prepared:
        x = floats(*shape)
        name = _ONNX_REDUCTIONS.get(operation, f"Reduce{operation.capitalize()}")
        torch = f"{_TORCH_REDUCTIONS[operation]}(x, dim={axes}, keepdim=True)"
        operator = Operator(f"y = {name} (x, a)", torch, {"x": x}, {"a": np.array(axes)})
        return prepared(operator, pysimd.reduce, x, operation, axes, keepdims=True)

    return Case("reduce", f"{operation} {_text(*shape)} over {','.join(map(str, axes))}", "-", prepare)


def argmax(shape: tuple[int, ...], axis: int) -> Case:
    def prepare() -> Prepared:
        x = floats(*shape)
        onnx = f"y = ArgMax <axis = {axis}, keepdims = 0> (x)"
        return prepared(Operator(onnx, f"torch.argmax(x, {axis})", {"x": x}), pysimd.argmax, x, axis)

    return Case("reduce", f"argmax {_text(*shape)} over {axis}", "-", prepare)


_TORCH_RESIZE = {
    ("nearest", "asymmetric"): 'mode="nearest"',
    ("linear", "half_pixel"): 'mode="bilinear", align_corners=False',
    ("linear", "align_corners"): 'mode="bilinear", align_corners=True',
    ("cubic", "half_pixel"): 'mode="bicubic", align_corners=False',
}


def resize(
    layout: str,
    shape: tuple[int, int, int],
    size: tuple[int, int],
    mode: str,
    coordinates: str = "half_pixel",
    *,
    antialias: bool = False,
    make: Callable[..., np.ndarray] = floats,
) -> Case:
    """An image of this shape, (channels, height, width), to this height and width."""
    c, h, w = shape
    nhwc = layout == "nhwc"

    def prepare() -> Prepared:
        x = make(1, h, w, c) if nhwc else make(1, c, h, w)
        sizes = np.array([1, *size, c] if nhwc else [1, c, *size])
        rounding = "floor" if coordinates == "asymmetric" else "round_prefer_floor"
        onnx = (
            f'y = Resize <mode = "{mode}", coordinate_transformation_mode = "{coordinates}", nearest_mode = "{rounding}", '
            f"antialias = {int(antialias)}, exclude_outside = {int(antialias)}> (x, , , a)"
        )
        image = "x.permute(0, 3, 1, 2)" if nhwc else "x"
        known = f"{_TORCH_RESIZE[mode, coordinates]}{', antialias=True' if antialias else ''}"
        torch = f"functional.interpolate({image}, {size}, {known})" + ".permute(0, 2, 3, 1)" * nhwc
        options: dict[str, Any] = {"mode": mode, "coordinates": coordinates, "rounding": rounding, "antialias": antialias}
        options["exclude_outside"] = antialias  # as in PyTorch, which repeats elements at the edges only without
        operator = Operator(onnx, torch, {"x": x}, {"a": sizes})
        return prepared(operator, pysimd.resize, x, size, layout=layout, **options)

    kind = " bytes" if make is some_bytes else ""
    how = f"{mode} {coordinates}{' antialias' if antialias else ''}{kind}"
    return Case("resize", f"{how} {_text(*shape)} to {_text(*size)}", layout, prepare)


def inner_product_rows(m: int, n: int, k: int, aim: float | None = None) -> Case:
    """A fully connected layer of several rows, with packed weights and bias."""

    def prepare() -> Prepared:
        x, weight, bias = floats(m, k), floats(n, k), floats(n)
        context = pysimd.InnerProduct32f((m, k), n)
        context.set_params(weight, bias)
        operator = Operator(
            "y = Gemm <transB = 1> (x, a, b)", "functional.linear(x, a, b)", {"x": x}, {"a": weight, "b": bias}
        )
        return prepared(operator, context.forward, x, flops=2 * m * n * k)

    return Case("inner_product", f"{m} rows {n} <- {k}", "-", prepare, aim_peak=aim)


def products(kind: str, count: int, m: int, n: int, k: int) -> Case:
    """Products of an attention with `count` heads, each matrix by itself; in NT the second one is transposed."""

    def prepare() -> Prepared:
        turned = kind == "NT"
        a, b = floats(1, count, m, k), floats(1, count, n, k) if turned else floats(1, count, k, n)
        onnx = "t = Transpose <perm = [0, 1, 3, 2]> (b) y = MatMul (a, t)" if turned else "y = MatMul (a, b)"
        operator = Operator(onnx, f"a @ b{'.transpose(-1, -2)' if turned else ''}", {"a": a, "b": b})
        second = b.swapaxes(-1, -2) if turned else b
        return prepared(operator, pysimd.matmul, a, second, flops=2 * count * m * n * k)

    return Case("gemm", f"{count} {kind} M={m} N={n} K={k}", "-", prepare)


def grid_sample(mode: str, c: int, h: int, w: int) -> Case:
    """Positions that are near those of the elements, as of a small motion."""

    def prepare() -> Prepared:
        x = floats(1, c, h, w)
        positions = np.stack(np.meshgrid(np.linspace(-1, 1, w), np.linspace(-1, 1, h)), -1)
        grid = arrays.placed((positions + 0.02 * floats(h, w, 2)).astype(np.float32)[None])
        onnx = f'y = GridSample <mode = "{mode.removeprefix("bi")}"> (x, a)'
        torch = f'functional.grid_sample(x, a, "{mode}", "zeros", False)'
        return prepared(Operator(onnx, torch, {"x": x, "a": grid}), pysimd.grid_sample, x, grid, mode)

    return Case("grid_sample", f"{mode} {_text(c, h, w)}", "nchw", prepare)


def _indices(count: int, *shape: int) -> np.ndarray:
    return arrays.placed(np.random.default_rng(2).integers(0, count, shape))


def gather(count: int, inner: int, indices: int) -> Case:
    """Rows of a table of embeddings; the limit is of a copy of the selected ones."""

    def prepare() -> Prepared:
        x, index = floats(count, inner), _indices(count, indices)
        operator = Operator("y = Gather (x, a)", "torch.embedding(x, a)", {"x": x, "a": index})
        made = prepared(operator, pysimd.gather, x, index)
        return replace(made, traffic=2 * 4 * indices * inner + index.nbytes)

    return Case("gather", f"{indices} of {count}x{inner}", "-", prepare)


def cast(count: int) -> Case:
    """Masks of bytes as floats."""

    def prepare() -> Prepared:
        x = np.arange(count).astype(np.uint8)
        return prepared(Operator("y = Cast <to = 1> (x)", "x.float()", {"x": x}), pysimd.cast, x, "float32")

    return Case("cast", f"{count} bytes", "-", prepare)


def gather_elements(outer: int, count: int, selected: int) -> Case:
    def prepare() -> Prepared:
        x, index = floats(outer, count), _indices(count, outer, selected)
        operator = Operator("y = GatherElements <axis = 1> (x, a)", "torch.gather(x, 1, a)", {"x": x, "a": index})
        made = prepared(operator, pysimd.gather_elements, x, index)
        return replace(made, traffic=2 * 4 * index.size + index.nbytes)

    return Case("gather", f"elements {outer}x{selected} of {count}", "-", prepare)


def top_k(outer: int, count: int, k: int) -> Case:
    def prepare() -> Prepared:
        x = floats(outer, count)
        operator = Operator("y, i = TopK (x, a)", f"torch.topk(x, {k})", {"x": x}, {"a": np.array([k])})
        return prepared(operator, pysimd.top_k, x, k)

    return Case("top_k", f"{k} of {_text(outer, count)}", "-", prepare)


def non_max_suppression(classes: int, count: int) -> Case:
    """At most 100 boxes of each class. The call is the Python function, since the number of results is not known."""

    def prepare() -> Prepared:
        corner, scores = np.abs(floats(1, count, 2)) * 600, np.abs(floats(1, classes, count))
        boxes = arrays.placed(np.concatenate([corner, corner + 20 + np.abs(floats(1, count, 2)) * 60], -1))
        limits: dict[str, Any] = {"max_output": 100, "iou_threshold": 0.5, "score_threshold": 0.25}
        constants = {"a": np.array([100]), "b": np.array([0.5], np.float32), "c": np.array([0.25], np.float32)}
        operator = Operator("y = NonMaxSuppression (x, s, a, b, c)", "", {"x": boxes, "s": scores}, constants)
        call = partial(pysimd.non_max_suppression, boxes, scores, **limits)
        traffic = boxes.nbytes + scores.nbytes
        return Prepared(call, traffic=traffic, keep=(boxes, scores), result=call, operator=operator)

    return Case("non_max_suppression", f"{classes} classes of {count}", "-", prepare)


def tiled_scale(layout: str, c: int, h: int, w: int) -> Case:
    def prepare() -> Prepared:
        nhwc = layout == "nhwc"
        x = floats(1, h, w, c) if nhwc else floats(1, c, h, w)
        ver, hor = (floats(1, 1, w, c), floats(1, h, 1, c)) if nhwc else (floats(1, c, 1, w), floats(1, c, h, 1))
        operator = Operator("t = Mul (x, a) y = Mul (t, b)", "x * a * b", {"x": x, "a": ver, "b": hor})
        return prepared(operator, pysimd.tiled_scale, x, ver, hor, layout=layout)

    return Case("tiled_scale", _text(c, h, w), layout, prepare)


def quantize_linear(shape: tuple[int, ...], axis: int | None = None) -> Case:
    """Floats to unsigned bytes, with a scale of all or of each element of the axis."""

    def prepare() -> Prepared:
        x, (scale, zero), where = floats(*shape) * 4, _steps(shape, axis), f" <axis = {axis or 0}>"
        torch = f"torch.quantize_per_tensor(x, {float(scale)}, {int(zero)}, torch.quint8)" if axis is None else ""
        operator = Operator(f"y = QuantizeLinear{where} (x, a, b)", torch, {"x": x}, {"a": scale, "b": zero})
        return prepared(operator, pysimd.quantize_linear, x, scale, zero, axis=axis)

    return Case("quantize_linear", f"quantize {_text(*shape)}{_on(axis)}", "-", prepare)


def roi_align(c: int, bins: int, ratio: int) -> Case:
    """100 regions of a map of features, as heads of detectors have them."""

    def prepare() -> Prepared:
        x, corner = floats(1, c, 50, 50), np.abs(floats(100, 2)) * 20
        regions = arrays.placed(np.concatenate([corner, corner + 4 + np.abs(floats(100, 2)) * 20], -1))
        images, size = arrays.placed(np.zeros(100, np.int64)), f"output_height = {bins}, output_width = {bins}"
        onnx = f"y = RoiAlign <{size}, sampling_ratio = {ratio}> (x, r, i)"
        operator = Operator(onnx, "", {"x": x, "r": regions, "i": images})
        return prepared(operator, pysimd.roi_align, x, regions, images, bins, sampling_ratio=ratio)

    return Case("roi_align", f"100 of {_text(c, bins, bins)}, ratio {ratio}", "nchw", prepare)


def table8(shape: tuple[int, ...]) -> Case:
    """Bytes replaced by those of a table."""

    def prepare() -> Prepared:
        x, table = some_bytes(*shape), some_bytes(256)
        operator = Operator("i = Cast <to = 6> (x) y = Gather (a, i)", "a[x.int()]", {"x": x}, {"a": table})
        return prepared(operator, pysimd.table8, x, table)

    return Case("table8", _text(*shape), "-", prepare)


def dequantize_linear(shape: tuple[int, ...], axis: int | None = None) -> Case:
    def prepare() -> Prepared:
        x, (scale, zero), where = some_bytes(*shape), _steps(shape, axis), f" <axis = {axis or 0}>"
        torch = f"(x - {float(zero)}) * {float(scale)}" if axis is None else ""
        operator = Operator(f"y = DequantizeLinear{where} (x, a, b)", torch, {"x": x}, {"a": scale, "b": zero})
        return prepared(operator, pysimd.dequantize_linear, x, scale, zero, axis=axis)

    return Case("quantize_linear", f"dequantize {_text(*shape)}{_on(axis)}", "-", prepare)


def _on(axis: int | None) -> str:
    return "" if axis is None else f" on {axis}"


def _steps(shape: tuple[int, ...], axis: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Scales and zeros."""
    count = () if axis is None else (shape[axis],)
    return np.full(count, 0.05, np.float32), np.full(count, 100, np.uint8)


_ACTIVATIONS = {  # the function of pysimd: ONNX, PyTorch
    "swish": ("s = Sigmoid (x) y = Mul (x, s)", "functional.silu(x)"),
    "mish": ("y = Mish (x)", "functional.mish(x)"),
    "hard_sigmoid": ("y = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)", "functional.hardsigmoid(x)"),
    "gelu": ("y = Gelu (x)", "functional.gelu(x)"),
}
_UNARY = {
    "absolute": ("y = Abs (x)", "x.abs()"),
    "ceil": ("y = Ceil (x)", "x.ceil()"),
    "cos": ("y = Cos (x)", "x.cos()"),
    "erf": ("y = Erf (x)", "x.erf()"),
    "exp": ("y = Exp (x)", "x.exp()"),
    "floor": ("y = Floor (x)", "x.floor()"),
    "log": ("y = Log (x)", "x.log()"),
    "reciprocal": ("y = Reciprocal (x)", "x.reciprocal()"),
    "rint": ("y = Round (x)", "x.round()"),
    "rsqrt": ("t = Sqrt (x) y = Reciprocal (t)", "x.rsqrt()"),
    "sign": ("y = Sign (x)", "x.sign()"),
    "sin": ("y = Sin (x)", "x.sin()"),
    "arctan": ("y = Atan (x)", "x.atan()"),
    "sinh": ("y = Sinh (x)", "x.sinh()"),
    "tan": ("y = Tan (x)", "x.tan()"),
    "sqrt": ("y = Sqrt (x)", "x.sqrt()"),
}
_SIZES = ((197, 768), (64, 160, 160), (64, 320, 320))  # in the second cache, the last one, memory
_BINARY = {
    "add": ("Add", "a + b"),
    "subtract": ("Sub", "a - b"),
    "multiply": ("Mul", "a * b"),
    "divide": ("Div", "a / b"),
    "maximum": ("Max", "torch.maximum(a, b)"),
    "minimum": ("Min", "torch.minimum(a, b)"),
    "power": ("Pow", "a ** b"),
}


def _of_two(operation: str, shape: tuple[int, ...], other: tuple[int, ...]) -> Case:
    return binary(operation, *_BINARY[operation], shape, other)


def _copies() -> list[Case]:
    return [
        permute((1, 64, 56, 56), (0, 2, 3, 1)),
        permute((1, 56, 56, 64), (0, 3, 1, 2)),
        permute((1, 64, 160, 160), (0, 2, 3, 1)),
        permute((1, 3, 640, 640), (0, 2, 3, 1)),
        permute((1, 640, 640, 3), (0, 3, 1, 2)),
        permute((1, 64, 320, 320), (0, 2, 3, 1)),
        permute((1, 197, 12, 64), (0, 2, 1, 3)),
        permute((1, 12, 197, 64), (0, 1, 3, 2)),
        permute((1, 2, 58, 28, 28), (0, 2, 1, 3, 4)),
        permute((40, 8, 512), (1, 0, 2)),
        permute((1, 640, 640, 3), (0, 3, 1, 2), some_bytes),
        concatenate(1, (1, 128, 20, 20), (1, 128, 20, 20)),
        concatenate(1, (1, 128, 80, 80), (1, 128, 80, 80)),
        concatenate(3, (1, 20, 20, 128), (1, 20, 20, 128)),
        concatenate(3, (1, 80, 80, 128), (1, 80, 80, 128)),
        concatenate(3, *[(1, 20, 20, 256)] * 4),
        concatenate(1, (1, 64, 320, 320), (1, 64, 320, 320)),
        half(1, 1, 128, 80, 80),
        half(3, 1, 80, 80, 128),
        half(1, 1, 116, 28, 28),
        half(3, 1, 28, 28, 116),
        pad("constant", (1, 64, 56, 56), (0, 0, 1, 1)),
        pad("constant", (1, 56, 56, 64), (0, 1, 1, 0)),
        pad("reflect", (1, 64, 56, 56), (0, 0, 3, 3)),
        pad("edge", (1, 64, 160, 160), (0, 0, 1, 1)),
    ]


def _sums() -> list[Case]:
    return [
        *[layer_norm(*shape) for shape in ((50, 384), (197, 768), (1500, 1280), (8192, 1024))],
        *[instance_norm(layout, *shape) for layout in ("nchw", "nhwc") for shape in ((64, 56, 56), (64, 256, 256))],
        *[group_norm(32, *shape) for shape in ((256, 28, 28), (512, 64, 64))],
        reduce("mean", (1, 512, 7, 7), 2, 3),
        reduce("mean", (1, 64, 112, 112), 2, 3),
        reduce("mean", (1, 112, 112, 64), 1, 2),
        reduce("mean", (1, 64, 56, 56), 1),
        reduce("max", (1, 56, 56, 64), 3),
        reduce("max", (1, 64, 160, 160), 1),
        reduce("sum", (64, 320, 320), 0),
        reduce("l2", (3136, 64), 1),
        reduce("logsumexp", (1000, 100), 1),
        argmax((1, 21, 128, 128), 1),
        argmax((40, 6625), 1),
        argmax((8400, 80), 1),
    ]


def _resizes() -> list[Case]:
    enlarged = ((256, 20, 20), (40, 40)), ((128, 80, 80), (160, 160)), ((64, 160, 160), (320, 320))
    return [
        *[
            resize(layout, *shapes, mode, coordinates)
            for mode, coordinates in (("nearest", "asymmetric"), ("linear", "half_pixel"))
            for layout in ("nchw", "nhwc")
            for shapes in enlarged
        ],
        resize("nchw", (21, 65, 65), (513, 513), "linear", "align_corners"),
        resize("nhwc", (21, 65, 65), (513, 513), "linear", "align_corners"),
        resize("nchw", (64, 56, 56), (112, 112), "cubic"),
        resize("nhwc", (64, 56, 56), (112, 112), "cubic"),
        resize("nhwc", (3, 1080, 1920), (360, 640), "linear"),
        resize("nhwc", (3, 1080, 1920), (360, 640), "linear", make=some_bytes),
        resize("nhwc", (3, 480, 640), (224, 224), "linear", antialias=True, make=some_bytes),
        resize("nchw", (3, 480, 640), (224, 224), "linear", antialias=True),
    ]


def _products() -> list[Case]:
    return [
        inner_product_rows(1, 1000, 1280),
        inner_product_rows(14, 512, 384, 0.95),
        inner_product_rows(32, 1000, 1280),
        inner_product_rows(197, 768, 768, 0.95),
        inner_product_rows(197, 3072, 768),
        inner_product_rows(197, 768, 3072),
        products("NT", 12, 197, 197, 64),
        products("NN", 12, 197, 64, 197),
        products("NT", 8, 1024, 1024, 40),
        products("NN", 6, 50, 64, 50),
    ]


def _lookups() -> list[Case]:
    return [
        *[grid_sample(mode, 64, 56, 56) for mode in ("bilinear", "nearest", "bicubic")],
        grid_sample("bilinear", 32, 160, 160),
        gather(30000, 768, 512),
        gather(3136, 1, 3136),
        cast(512 * 512),
        gather_elements(64, 3136, 784),
        top_k(1, 8400, 300),
        top_k(1, 8400 * 80, 300),
        top_k(3136, 64, 1),
        *[roi_align(256, bins, ratio) for bins, ratio in ((7, 2), (14, 2), (7, 0))],
        non_max_suppression(1, 8400),
        non_max_suppression(80, 1000),
        *[
            tiled_scale(layout, *shape)
            for layout in ("nchw", "nhwc")
            for shape in ((64, 56, 56), (256, 14, 14), (64, 320, 320))
        ],
        *[quantize_linear(shape) for shape in ((1, 64, 56, 56), (1, 3, 640, 640), (64, 320, 320))],
        *[dequantize_linear(shape) for shape in ((1, 64, 56, 56), (1, 3, 640, 640), (64, 320, 320))],
        quantize_linear((1, 56, 56, 64), 3),
        *[table8(shape) for shape in ((1, 56, 56, 64), (1, 320, 320, 64))],
        dequantize_linear((1, 64, 56, 56), 1),
    ]


def functions() -> list[Case]:
    """The cases of the page of functions."""
    return [
        *[of_every_element(name, *_ACTIVATIONS[name], *size) for name in _ACTIVATIONS for size in _SIZES],
        *[of_every_element(name, *_UNARY[name], *size) for name in _UNARY for size in _SIZES[:2]],
        *[
            _of_two("add", shape, shape)
            for shape in ((1, 64, 28, 28), (1, 64, 56, 56), (1, 64, 160, 160), (1, 64, 320, 320))
        ],
        *[_of_two(operation, (1, 64, 56, 56), (1, 64, 56, 56)) for operation in _BINARY if operation != "add"],
        *[_of_two(operation, (1, 64, 56, 56), (1,)) for operation in ("multiply", "divide", "power")],
        *[_of_two("multiply", shape, (*shape[:2], 1, 1)) for shape in ((1, 64, 56, 56), (8, 512, 7, 7), (1, 64, 320, 320))],
        *[_of_two("multiply", shape, (1, 1, 1, shape[3])) for shape in ((1, 56, 56, 64), (1, 320, 320, 64))],
        _of_two("add", (1, 197, 768), (768,)),
        _of_two("add", (1, 12, 197, 197), (1, 1, 197, 197)),
        _of_two("multiply", (1, 64, 56, 56), (1, 1, 56, 56)),
        *_sums(),
        *_copies(),
        *_resizes(),
        *_products(),
        *_lookups(),
    ]
