"""One-dimensional signals as images of height 1; padding by name; output_padding; empty batches for all functions."""

from __future__ import annotations

import pickle
from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import Array, floats, samples

F32 = np.float32


def as_images(x: Array, layout: Any) -> Array:
    """A signal with an axis for the height."""
    return np.expand_dims(x, -2 if layout == "ncw" else -3)


def as_kernels(weight: Array, layout: Any) -> Array:
    """The weights of a convolution with an axis for kernel_y."""
    return weight[:, :, None] if layout == "ncw" else weight[None]


def signal(rng: np.random.Generator, layout: Any, channels: int = 8, batch: bool = True, width: int = 11) -> Array:
    shape = (channels, width) if layout == "ncw" else (width, channels)
    return floats(rng, *((2, *shape) if batch else shape))


LAYOUTS = {"nwc": "nhwc", "ncw": "nchw"}
layouts = pytest.mark.parametrize("layout", LAYOUTS)


@layouts
@pytest.mark.parametrize("batch", [False, True])
def test_functions(layout: Any, batch: bool, rng: np.random.Generator) -> None:
    image: Any = LAYOUTS[layout]
    x, z, terms = signal(rng, layout, batch=batch), signal(rng, layout, batch=batch), floats(rng, 8)
    functions: dict[str, Callable[[Array, Array, Any], Any]] = {
        "pooling_max": lambda x, z, to: pysimd.pooling_max(x, kernel=to(3), stride=to(2), padding="same", layout=to.layout),
        "pooling_average": lambda x, z, to: pysimd.pooling_average(
            x, kernel=to(3), stride=to(2), padding=to.sides(2, 1), ceil_mode=True, layout=to.layout
        ),
        "lrn": lambda x, z, to: pysimd.lrn(x, layout=to.layout),
        "shuffle": lambda x, z, to: np.stack(pysimd.shuffle(x, z, layout=to.layout)),
        "scale": lambda x, z, to: pysimd.scale(x, terms, layout=to.layout),
        "fused4": lambda x, z, to: pysimd.fused4(x, bias0=terms, scale1=2, bias1=1, layout=to.layout),
        "fused9": lambda x, z, to: pysimd.fused9(x, z, scale=2, bias=1, layout=to.layout),
    }
    for name, function in functions.items():
        expected = function(as_images(x, layout), as_images(z, layout), Images(image))
        actual = function(x, z, Signals(layout))
        assert as_images(actual, layout).shape == expected.shape, name
        assert actual.tobytes() == expected.tobytes(), name


class Signals:
    """Numbers as arguments for signals."""

    def __init__(self, layout: Any) -> None:
        self.layout = layout

    def __call__(self, value: int) -> Any:
        return value

    def sides(self, before: int, after: int) -> Any:
        return before, after


class Images(Signals):
    """The same for images of height 1."""

    def __call__(self, value: int) -> Any:
        return 1, value

    def sides(self, before: int, after: int) -> Any:
        return 0, before, 0, after


@layouts
def test_convolutions(layout: Any, rng: np.random.Generator) -> None:
    x, bias = signal(rng, layout), floats(rng, 6)
    weight = floats(rng, 6, 4, 3) if layout == "ncw" else floats(rng, 3, 4, 6)
    one, two = Signals(layout), Images(LAYOUTS[layout])
    results = [
        pysimd.convolution(
            images,
            taps,
            bias,
            stride=to(2),
            dilation=to(2),
            padding=to.sides(3, 1),
            group=2,
            activation="relu6",
            layout=to.layout,
        )
        for images, taps, to in ((x, weight, one), (as_images(x, layout), as_kernels(weight, layout), two))
    ]
    assert as_images(results[0], layout).shape == results[1].shape
    assert results[0].tobytes() == results[1].tobytes()
    weight = floats(rng, 8, 6, 3) if layout == "ncw" else floats(rng, 8, 3, 6)
    taps = weight[:, :, None] if layout == "ncw" else weight[:, None]
    results = [
        pysimd.deconvolution(images, taps, bias, stride=to(2), padding=to.sides(1, 1), layout=to.layout, output_padding=more)
        for images, taps, to, more in ((x, weight, one, 1), (as_images(x, layout), taps, two, (0, 1)))
    ]
    assert as_images(results[0], layout).shape == results[1].shape
    assert results[0].tobytes() == results[1].tobytes()


@layouts
@pytest.mark.parametrize("cls", [pysimd.Convolution16b, pysimd.Convolution8i])
def test_contexts(cls: Any, layout: Any, rng: np.random.Generator) -> None:
    x = signal(rng, layout)
    weight = floats(rng, 6, 8, 3) if layout == "ncw" else floats(rng, 3, 8, 6)
    stats = pysimd.statistics(x, layout=layout), pysimd.Statistics(np.full(6, -50, F32), np.full(6, 50, F32))
    more: dict[str, Any] = dict(zip(("src_stats", "dst_stats"), stats)) if cls is pysimd.Convolution8i else {}
    options: dict[str, Any] = {"padding": "same", "src_dtype": "float32"}
    one = cls(x.shape, 6, kernel=3, layout=layout, **options)
    two = cls(as_images(x, layout).shape, 6, kernel=(1, 3), layout=LAYOUTS[layout], **options)
    one.set_params(weight, **more)
    two.set_params(as_kernels(weight, layout), **more)
    assert as_images(one(x), layout).tobytes() == two(as_images(x, layout)).tobytes()
    assert pickle.loads(pickle.dumps(one))(x).tobytes() == one(x).tobytes()
    assert f"kernel 3, identity, {layout}" in repr(one)


def test_refused() -> None:
    x = np.ones((11, 8), F32)
    wrong: list[tuple[dict[str, Any], str]] = [
        (
            {"layout": "ncw", "x": np.ones((1, 2, 3, 4), F32)},
            r"x has shape \(1, 2, 3, 4\), expected \(C, W\) or \(N, C, W\)",
        ),
        ({"kernel": (1, 3)}, r"kernel is \(1, 3\), expected a number for a signal"),
        ({"padding": (0, 1, 0, 1)}, r"padding is \(0, 1, 0, 1\), expected a number or a pair \(before, after\)"),
        ({"padding": "full"}, "padding is 'full', expected numbers, 'same' or 'valid'"),
    ]
    for change, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            pysimd.pooling_max(**{"x": x, "kernel": 3, "layout": "nwc", **change})
    with pytest.raises(ValueError, match=r"weight has shape \(1, 3, 8, 4\), expected \(kernel, C / group, dst_c\)"):
        pysimd.convolution(x, np.ones((1, 3, 8, 4), F32), layout="nwc")


def test_plans_of_signals_and_images_are_different() -> None:
    """The layouts have equal numbers, so one plan might be mistaken for the other."""
    x = np.arange(2 * 3 * 4, dtype=F32).reshape(2, 3, 4)
    for _ in range(2):
        assert pysimd.pooling_max(x, kernel=2).shape == (1, 1, 4)
        assert pysimd.pooling_max(x, kernel=2, layout="nwc").shape == (2, 1, 4)


# ------------------------------------------------------------------------------------------------ padding by name


@pytest.mark.parametrize("size", [1, 5, 6, 7])
@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
def test_same(size: int, kernel: int, stride: int, dilation: int, rng: np.random.Generator) -> None:
    """Equal to SAME_UPPER of ONNX."""
    x, weight = floats(rng, size, size + 3, 2), floats(rng, kernel, kernel, 2, 3)
    (top, bottom), (left, right) = (_sides(n, kernel, stride, dilation) for n in (size, size + 3))
    y = pysimd.convolution(x, weight, stride=stride, dilation=dilation, padding="same")
    assert y.shape == (-(-size // stride), -(-(size + 3) // stride), 3)
    padding = (top, left, bottom, right)
    assert np.array_equal(y, pysimd.convolution(x, weight, stride=stride, dilation=dilation, padding=padding))
    if dilation == 1:
        pooled = pysimd.pooling_max(x, kernel=kernel, stride=stride, padding="same")
        assert np.array_equal(pooled, pysimd.pooling_max(x, kernel=kernel, stride=stride, padding=padding))


def _sides(size: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    total = max((-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


def test_valid(rng: np.random.Generator) -> None:
    x, weight = floats(rng, 5, 6, 2), floats(rng, 3, 3, 2, 3)
    assert np.array_equal(pysimd.convolution(x, weight, padding="valid"), pysimd.convolution(x, weight))
    assert np.array_equal(pysimd.pooling_average(x, kernel=2, padding="valid"), pysimd.pooling_average(x, kernel=2))


def test_same_of_other_classes(rng: np.random.Generator) -> None:
    stages = [
        pysimd.ConvolutionStage(1, 8),
        pysimd.ConvolutionStage(3, stride=2, padding="same"),
        pysimd.ConvolutionStage(1, 4),
    ]
    merged = pysimd.MergedConvolution32f((7, 8, 4), stages)
    assert merged.dst_shape == (4, 4, 4)
    assert pickle.loads(pickle.dumps(merged)).dst_shape == (4, 4, 4)
    assert np.array_equal(
        pysimd.winograd_input(x := floats(rng, 8, 8, 2), padding="same"), pysimd.winograd_input(x, padding=1)
    )
    for kernel, stride in ((2, 2), (3, 2), (4, 2), (3, 1)):
        assert pysimd.Deconvolution32f((5, 6, 4), 3, kernel=kernel, stride=stride, padding="same").dst_shape == (
            5 * stride,
            6 * stride,
            3,
        )
    with pytest.raises(ValueError, match="padding is 'same', expected numbers for a kernel of 1 that is less than stride 2"):
        pysimd.Deconvolution32f((5, 6, 4), 3, kernel=1, stride=2, padding="same")


def test_output_padding(rng: np.random.Generator) -> None:
    x, weight = floats(rng, 5, 6, 2), floats(rng, 2, 3, 3, 4)
    whole = pysimd.deconvolution(x, weight, stride=2)
    y = pysimd.deconvolution(x, weight, stride=2, padding=1, output_padding=1)
    assert y.shape == (10, 12, 4)
    np.testing.assert_array_equal(y, whole[1:, 1:])
    np.testing.assert_array_equal(
        pysimd.deconvolution(x, weight, stride=2, padding=1, output_padding=(0, 1)), whole[1:-1, 1:]
    )
    for output_padding in (2, (0, 2), -1):
        with pytest.raises(ValueError, match="output_padding is"):
            pysimd.deconvolution(x, weight, stride=2, padding=1, output_padding=output_padding)
    line, taps = x[0], weight[:, 0].copy()
    whole = pysimd.deconvolution(line, taps, stride=2, layout="nwc")
    ones: tuple[Any, ...] = (1, (1,), [1])
    for one in ones:
        y = pysimd.deconvolution(line, taps, stride=2, padding=1, output_padding=one, layout="nwc")
        np.testing.assert_array_equal(y, whole[1:])
    with pytest.raises(ValueError, match=r"output_padding is \(0, 1\), expected a number for a signal"):
        pysimd.deconvolution(line, taps, stride=2, padding=1, output_padding=(0, 1), layout="nwc")


# -------------------------------------------------------------------------------------------------- empty batches

BATCHED = [
    name
    for name, (_, args, _) in samples.calls(np.random.default_rng(0)).items()
    if args
    and isinstance(args[0], np.ndarray)
    and args[0].ndim >= 4
    and not name.startswith(("convert_filter", "roi_align", "winograd"))
]
TILED = {"tiled_scale", "tiled_scale nchw"}  # all arguments have the axis of the batch


@pytest.mark.parametrize("name", BATCHED)
def test_empty_batches_of_functions(name: str, rng: np.random.Generator) -> None:
    function, args, kwargs = samples.calls(rng)[name]
    images = args[0].shape
    empty = tuple(
        a[:0]
        if isinstance(a, np.ndarray) and a.shape[:1] == images[:1] and (name in TILED or (i < 2 and a.ndim == len(images)))
        else a
        for i, a in enumerate(args)
    )
    result, expected = function(*empty, **kwargs), function(*args, **kwargs)
    for one, other in zip(*((y if isinstance(y, tuple) else (y,)) for y in (result, expected))):
        assert one.dtype == other.dtype
        if other.shape == ():  # a number of the whole batch
            continue
        axis = next((i for i, (n, m) in enumerate(zip(one.shape, other.shape)) if n != m), 0)
        assert one.shape[axis] == 0 and np.delete(one.shape, axis).tolist() == np.delete(other.shape, axis).tolist()
    assert pysimd.prepare(function, *empty, **kwargs)() is not None


@pytest.mark.parametrize(
    "name",
    [name for name in samples.contexts(np.random.default_rng(0)) if name not in ("Permute", "QuantizedGemm", "Resizer")],
)
def test_empty_batches_of_contexts(name: str, rng: np.random.Generator) -> None:
    context, arrays = samples.contexts(rng)[name]
    key = "shape" if name == "Add16b" else "src_shape"
    empty = type(context)(**{**context._arguments, key: (0, *context._arguments[key][1:])})
    none = [array[:0] if array.ndim > 1 else array for array in arrays]  # but coefficients
    weights = context._weights()
    if weights is not None:
        with pytest.raises(pysimd.StateError, match="call set_params"):
            empty.forward(*none)
        empty.set_params(*weights)  # type: ignore[attr-defined]
    expected = context.forward(*arrays)
    y = empty.forward(*none)
    assert (y.shape, y.dtype) == ((0, *expected.shape[1:]), expected.dtype)
    assert empty.prepare(*none)().shape == y.shape
    assert pickle.loads(pickle.dumps(empty)).forward(*none).shape == y.shape
    with pytest.raises(ValueError, match="has shape"):
        empty.forward(*arrays)
