"""Merged convolution on every instruction set against the reference; the life of a context; invalid arguments."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pysimd
from support import PARAMS, Array, assert_refused, assert_same_however_called, assert_within, floats, reference

Stage = pysimd.ConvolutionStage


def block(wide: int, o: int, *, kernel: int = 3, stride: int = 1, expand: int = 1, activation: Any = "relu") -> list[Stage]:
    """The stages of an inverted residual block."""
    return [
        Stage(expand, wide, padding=expand // 2, activation=activation),
        Stage(kernel, stride=stride, padding=kernel // 2, activation=activation),
        Stage(1, o, activation=activation),
    ]


def sides(padding: Any) -> Any:
    return padding if isinstance(padding, tuple) else (padding,) * 4


def check(
    rng: np.random.Generator, shape: tuple[int, int, int], stages: list[Stage], add: bool = False, batch: int = 1
) -> None:
    """Compares a batch of random images with the reference, image by image."""
    x = floats(rng, batch, *shape)
    with pysimd.MergedConvolution32f(x.shape, stages, residual=add) as context:
        weights: list[Any] = [floats(rng, *w) / 4 for w in context.weight_shapes]
        biases = [floats(rng, w[-1]) if i != 1 else None for i, w in enumerate(context.weight_shapes)]
        params = [PARAMS[str(s.activation)](w[-1]) for s, w in zip(stages, context.weight_shapes)]
        context.set_params(weights, biases, params)
        y = context(x)
        assert y.shape == context.dst_shape
    described = [
        (
            w.transpose(3, 2, 0, 1),
            b,
            (s.stride,) * 2,
            sides(s.padding),
            w.shape[3] if s.dst_c is None else 1,
            s.activation,
            p,
        )
        for s, w, b, p in zip(stages, weights, biases, params)
    ]
    for image, result in zip(x, y):
        expected, bound = reference.merged_convolution(image.transpose(2, 0, 1), described, add)
        assert_within(result.transpose(2, 0, 1), expected, bound)


@pytest.mark.parametrize("activation", PARAMS)
def test_blocks(isa: str, rng: np.random.Generator, activation: Any) -> None:
    check(rng, (9, 11, 5), block(17, 5, activation=activation), add=True, batch=2)
    check(rng, (8, 7, 6), block(20, 9, kernel=5, stride=2, expand=3, activation=activation))
    check(rng, (6, 5, 3), block(33, 3, kernel=7, activation=activation)[:2])
    check(rng, (10, 9, 19), block(0, 24, stride=3, activation=activation)[1:])


def test_geometries(isa: str, rng: np.random.Generator) -> None:
    check(rng, (30, 40, 8), block(48, 8), add=True)  # several steps
    check(rng, (21, 20, 3), [Stage(3, 16, stride=2, padding=1), Stage(3, stride=2, padding=(0, 1, 2, 1)), Stage(1, 40)])
    check(rng, (4, 4, 3), block(512, 3), add=True)
    check(rng, (1, 1, 1), block(1, 1), add=True)
    check(rng, (2, 3, 2), [Stage(1, 4), Stage(7, padding=9), Stage(1, 5, padding=2)])  # windows completely in the padding
    check(rng, (50, 1, 4), block(70, 4)[:2])
    check(rng, (1, 50, 4), block(0, 7)[1:])


@st.composite
def geometries(draw: Any) -> Any:
    size, kernels = st.integers(1, 12), [draw(st.sampled_from([1, 3])), draw(st.sampled_from([3, 5, 7])), 1]
    strides = [draw(st.integers(1, 3)), draw(st.integers(1, 3)), 1]
    channels = [draw(st.integers(1, 40)), None, draw(st.integers(1, 40))]
    stages = [
        Stage(k, c, s, draw(st.integers(k // 2, k)), draw(st.sampled_from(sorted(PARAMS))))
        for k, c, s in zip(kernels, channels, strides)
    ]
    return (
        (draw(size), draw(size), draw(st.integers(1, 20))),
        stages,
        draw(st.sampled_from([(0, 3), (0, 3), (0, 2), (1, 3)])),
    )


@given(case=geometries())
def test_any_geometry(isa: str, case: Any) -> None:
    shape, stages, (first, last) = case
    check(np.random.default_rng(3), shape, stages[first:last])


def test_source_is_added_before_the_activation(isa: str) -> None:
    stages = [Stage(1, 4), Stage(3, padding=1), Stage(1, 2, activation="relu")]
    x = np.stack([np.full((3, 3), 5, np.float32), np.full((3, 3), -5, np.float32)], axis=2)
    with pysimd.MergedConvolution32f(x.shape, stages, residual=True) as context:
        context.set_params([np.zeros(shape, np.float32) for shape in context.weight_shapes])
        assert np.array_equal(context(x), np.maximum(x, 0))


# ------------------------------------------------------------------------------------------------------ context


def weights_of(context: pysimd.MergedConvolution32f) -> Any:
    return context._given


def example(rng: np.random.Generator) -> tuple[pysimd.MergedConvolution32f, Array, Array]:
    """A context with weights, its input and its result."""
    stages = [Stage(1, 24, activation="prelu"), Stage(3, padding=1, activation="hswish"), Stage(1, 6)]
    context = pysimd.MergedConvolution32f((2, 9, 10, 6), stages, residual=True)
    weights = [floats(rng, *shape) for shape in context.weight_shapes]
    context.set_params(weights, [floats(rng, 24), None, floats(rng, 6)], [floats(rng, 24), (3, 1 / 6), None])
    x = floats(rng, 2, 9, 10, 6)
    return context, x, context(x)


def test_shapes_and_sizes(rng: np.random.Generator) -> None:
    context, _, y = example(rng)
    assert context.weight_shapes == ((1, 1, 6, 24), (3, 3, 1, 24), (1, 1, 24, 6))
    assert context.src_shape == context.dst_shape == y.shape == (2, 9, 10, 6)
    assert context.external_buffer_size >= 1
    assert context.internal_buffer_size >= sum(int(np.prod(shape)) for shape in context.weight_shapes)
    assert pysimd.active_isa() in context.info
    assert repr(context).startswith("<pysimd.MergedConvolution32f (2, 9, 10, 6) -> (2, 9, 10, 6), expansion 1x1")
    two = pysimd.MergedConvolution32f((9, 10, 6), block(0, 5, stride=2)[1:])
    assert (two.dst_shape, two.weight_shapes) == ((5, 5, 5), ((3, 3, 1, 6), (1, 1, 6, 5)))
    assert "depthwise to projection" in two.info


def test_result_does_not_depend_on_batch_buffer_or_threads(isa: str, rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    assert_same_however_called(context, x, y)
    one = pysimd.MergedConvolution32f(x.shape[1:], context._stages, residual=True)
    one.set_params(*weights_of(context))
    assert np.array_equal(one(x[1]), y[1])


def test_equals_its_stages_one_by_one(isa: str, rng: np.random.Generator) -> None:
    """Up to rounding; the padding of a stage is 0, not the result of the previous stage for its padding."""
    x, stages = floats(rng, 7, 8, 5), block(19, 7, activation="identity")
    with pysimd.MergedConvolution32f(x.shape, stages) as context:
        weights = [floats(rng, *shape) for shape in context.weight_shapes]
        biases = [floats(rng, shape[-1]) for shape in context.weight_shapes]
        context.set_params(weights, biases)
        y = context(x)
    for stage, weight, bias in zip(stages, weights, biases):
        x = pysimd.convolution(x, weight, bias, padding=stage.padding, group=19 if stage.dst_c is None else 1)
    np.testing.assert_allclose(y, x, rtol=1e-4, atol=1e-4 * float(np.abs(x).max()))


def test_workspace_is_a_band_and_two_megabytes(isa: str) -> None:
    if isa == "base":
        pytest.skip("base keeps whole images between its stages")
    rng = np.random.default_rng(5)
    for _ in range(200):
        c, wide, o, h, w = (int(2 ** rng.uniform(0, limit)) for limit in (10, 11, 10, 10, 11))
        kernel, stride, expand = int(rng.choice([3, 5, 7])), int(rng.integers(1, 4)), int(rng.choice([1, 1, 3]))
        first, last = [(0, 3), (0, 2), (1, 3)][int(rng.integers(3))]
        stages = block(wide, o, kernel=kernel, stride=stride, expand=expand)[first:last]
        band = (w + kernel + 16) * ((kernel + 1) * (wide + 16) + 4 * (c + 16))
        with pysimd.MergedConvolution32f((3, h, w, c), stages) as context:
            assert context.external_buffer_size * 4 <= (2 << 20) + band * 4, context.info


def test_set_params_again(rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    weights, biases, params = weights_of(context)
    context.set_params([w * 2 for w in weights], biases, params)
    assert not np.array_equal(context(x), y)
    context.set_params(weights, biases, params)
    assert np.array_equal(context(x), y)
    weights[0][:] = 0  # the context has its own copy
    assert np.array_equal(context(x), y)
    lists = list(weights)
    context.set_params(lists, biases, params)
    lists.clear()  # and of the list
    assert pickle.loads(pickle.dumps(context)).forward(x).shape == y.shape
    with pytest.raises(ValueError, match="bias has 0 elements"):
        context.set_params(weights_of(context)[0], [])


def test_close(rng: np.random.Generator) -> None:
    context, x, _ = example(rng)
    context.close()
    with pytest.raises(pysimd.StateError, match="MergedConvolution32f is closed"):
        context(x)


def test_forward_before_set_params() -> None:
    context = pysimd.MergedConvolution32f((5, 5, 3), block(8, 3))
    out = np.full((5, 5, 3), 7, np.float32)
    assert_refused(context.forward, pysimd.StateError, "call set_params", out, x=np.zeros((5, 5, 3), np.float32))


# ------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"src_shape": (5, 5)}, ValueError, "src_shape is"),
        ({"stages": []}, ValueError, "stages has 0 elements, expected 3 or 2"),
        ({"stages": block(8, 4)[:1]}, ValueError, "stages has 1 elements, expected 3 or 2"),
        ({"stages": [*block(8, 4), Stage(1, 4)]}, ValueError, "stages has 4 elements, expected 3 or 2"),
        ({"stages": [Stage(1, 8), (3, 3)]}, TypeError, r"stages\[1\] is a tuple, expected a ConvolutionStage"),
        ({"stages": [Stage(1, -8), *block(8, 4)[1:]]}, ValueError, r"stages\[0\].dst_c is -8"),
        (
            {"stages": block(8, 4, expand=5)},
            ValueError,
            r"stages\[0\].kernel is \(5, 5\), expected 1 or 3 for the expansion",
        ),
        ({"stages": block(8, 4, stride=4)}, ValueError, r"stages\[1\].stride is \(4, 4\), expected 1, 2 or 3"),
        (
            {"stages": [Stage(1, 8), Stage(3, 8, padding=1), Stage(1, 4)]},
            ValueError,
            r"stages\[1\].dst_c is 8, expected None for the depthwise",
        ),
        (
            {"stages": [Stage(1, 8), Stage((3, 5)), Stage(1, 4)]},
            ValueError,
            r"stages\[1\].kernel is \(3, 5\), expected 3, 5 or 7",
        ),
        (
            {"stages": [Stage(1), Stage(3), Stage(1, 4)]},
            ValueError,
            r"stages\[0\].dst_c is None, expected a number for the expansion",
        ),
        (
            {"stages": [Stage(1, 8), Stage(3), Stage(3, 4)]},
            ValueError,
            r"stages\[2\].kernel is \(3, 3\), expected 1 for the projection",
        ),
        ({"stages": block(8, 4, kernel=9)}, ValueError, r"stages\[1\].kernel is \(9, 9\), expected 3, 5 or 7"),
        ({"stages": block(8, 4, activation="tanhshrink")}, ValueError, "activation is 'tanhshrink'"),
        (
            {"stages": block(8, 6), "residual": True},
            ValueError,
            r"residual is True for an output of \(5, 5, 6\), expected .*\(5, 5, 4\)",
        ),
        ({"stages": block(8, 4, stride=2), "residual": True}, ValueError, r"residual is True for an output of \(3, 3, 4\)"),
    ],
)
def test_refused_stages(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.MergedConvolution32f(**{"src_shape": (5, 5, 4), "stages": block(8, 4), **change})


WEIGHTS = [np.zeros(shape, np.float32) for shape in ((1, 1, 4, 8), (3, 3, 1, 8), (1, 1, 8, 4))]


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"weight": WEIGHTS[:2]}, ValueError, "weight has 2 elements, expected 3, one for each stage"),
        ({"weight": [WEIGHTS[0], WEIGHTS[0], WEIGHTS[2]]}, ValueError, r"weight\[1\] has shape"),
        ({"weight": [*WEIGHTS[:2], WEIGHTS[2].astype(np.float64)]}, TypeError, r"weight\[2\] has dtype float64"),
        ({"bias": [None, np.zeros(4, np.float32), None]}, ValueError, r"bias\[1\] has shape"),
        ({"params": [None, None, None]}, ValueError, r"params\[1\] is None, expected 8 numbers for prelu"),
        ({"params": [None, (1.0, 2.0), None]}, ValueError, r"params\[1\] has shape"),
    ],
)
def test_refused_weights(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    stages = [Stage(1, 8), Stage(3, padding=1, activation="prelu"), Stage(1, 4)]
    context = pysimd.MergedConvolution32f((5, 5, 4), stages)
    slopes = [None, np.zeros(8, np.float32), None]
    with pytest.raises(error, match=sentence):
        context.set_params(**{"weight": WEIGHTS, "params": slopes, **change})
    with pytest.raises(pysimd.StateError):
        context(np.zeros((5, 5, 4), np.float32))


def test_refused_forward() -> None:
    context = pysimd.MergedConvolution32f((5, 5, 4), block(8, 4))
    context.set_params(WEIGHTS)
    x, out = np.zeros((5, 5, 4), np.float32), np.full((5, 5, 4), 7, np.float32)
    assert_refused(context.forward, ValueError, "x has shape", out, x=x[None])
    assert_refused(context.forward, ValueError, "buf has 0 elements", out, x=x, buf=np.zeros(0, np.float32))
    assert_refused(context.forward, ValueError, "out overlaps x", x, x=x)


@pytest.mark.parametrize("dst", ["float32", "bfloat16"])
@pytest.mark.parametrize("src", ["float32", "bfloat16"])
def test_bfloat16_equals_its_stages_one_by_one(isa: str, rng: np.random.Generator, src: str, dst: str) -> None:
    """Rounded before the expansion and before the projection only; the depthwise stage multiplies floats. A convolution that
    algorithms of floats compute adds products in another order."""
    stage = pysimd.ConvolutionStage
    blocks = [
        [stage(1, 40, activation="relu"), stage(3, stride=2, padding=1, activation="relu"), stage(1, 7)],
        [stage(3, 21, padding=1, activation="hswish"), stage(5, padding=2)],
        [stage(3, stride=(1, 2), padding=1, activation="relu"), stage(1, 70, activation="relu")],
    ]
    x = floats(rng, 2, 13, 9, 11)
    given = x if src == "float32" else reference.to_bfloat16(x)
    for stages in blocks:
        with pysimd.MergedConvolution16b(x.shape, stages, src_dtype=src, dst_dtype=dst) as block:
            weights = [floats(rng, *shape) for shape in block.weight_shapes]
            biases = [floats(rng, shape[-1]) for shape in block.weight_shapes]
            block.set_params(weights, biases)
            y = block(given)
        values, ordered = given, True
        for i, (one, weight, bias) in enumerate(zip(stages, weights, biases)):
            last, depthwise = i + 1 == len(stages), one.dst_c is None
            options: dict[str, Any] = {
                "kernel": one.kernel,
                "stride": one.stride,
                "padding": one.padding,
                "activation": one.activation,
                "group": weight.shape[-1] if depthwise else 1,
                "src_dtype": values.dtype if values.dtype == np.float32 else "bfloat16",
                "dst_dtype": dst if last else "bfloat16" if depthwise else "float32",
            }
            with pysimd.Convolution16b(values.shape, weight.shape[-1], **options) as convolution:
                convolution.set_params(weight, bias)
                ordered &= "by floats" not in convolution.info
                values = convolution(values)
        assert y.dtype == values.dtype
        if ordered:
            assert y.tobytes() == values.tobytes()
        else:
            a, b = (array if array.dtype == np.float32 else pysimd.from_bfloat16(array) for array in (y, values))
            np.testing.assert_allclose(a, b, rtol=2**-7, atol=2**-12 * float(np.abs(b).max()))


@pytest.mark.parametrize("src", ["float32", "bfloat16"])
def test_bfloat16_adds_its_source(isa: str, src: str) -> None:
    """The source that is added is not rounded. All numbers but those of the source are small integers, and exact."""
    rng = np.random.default_rng(5)
    stage = pysimd.ConvolutionStage
    stages = [stage(1, 24, activation="relu"), stage(3, padding=1), stage(1, 10, activation="relu")]
    x = rng.integers(-2, 3, (7, 6, 10)).astype(np.float32) * np.float32(1 + 2**-12 * (src == "float32"))
    options: dict[str, Any] = {"residual": True, "dst_dtype": "float32"}
    given = x if src == "float32" else reference.to_bfloat16(x)
    with pysimd.MergedConvolution16b(x.shape, stages, src_dtype=src, **options) as block:
        weights = [rng.integers(-1, 2, shape).astype(np.float32) for shape in block.weight_shapes]
        block.set_params(weights)
        y = block(given)
    rounded = reference.from_bfloat16(reference.to_bfloat16(x))
    with pysimd.MergedConvolution32f(x.shape, [*stages[:2], stage(1, 10)]) as exact:
        exact.set_params(weights)
        sums = exact(rounded)
    assert np.abs(sums).max() < 2**16
    np.testing.assert_array_equal(y, np.maximum(sums + x, 0))


def _byte_statistics(rng: np.random.Generator, values: Array, signed: bool) -> pysimd.Statistics:
    """Of values that may exceed them a little, so that some bytes are limited."""
    size = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0) * rng.uniform(0.9, 1.1, values.shape[-1])
    high = np.maximum(size, 0.01).astype(np.float32)
    return pysimd.Statistics(-high if signed else np.zeros_like(high), high)


def _steps(stats: pysimd.Statistics) -> tuple[Array, np.float32]:
    """The difference between adjacent bytes of each channel, and the byte of 0, from the formulas in the header."""
    negative = bool((stats.min < 0).any())
    step = np.maximum(np.abs(stats.min), np.abs(stats.max)) / np.float32(127 if negative else 255)
    return np.where(step < 1e-7, np.float32(1), step), np.float32(128 if negative else 0)


def _as_bytes(values: Array, stats: pysimd.Statistics) -> Array:
    step, zero = _steps(stats)
    scaled = np.rint(values.astype(np.float32) * (np.float32(1) / step) + zero)
    return np.clip(scaled, 0, 255).astype(np.uint8)


def _product(x: Array, weight: Array, bias: Array, stage: pysimd.ConvolutionStage, seen: pysimd.Statistics) -> Array:
    """An expansion or a projection alone, as floats."""
    unused = pysimd.Statistics(np.full(weight.shape[3], -1, np.float32), np.ones(weight.shape[3], np.float32))
    options: dict[str, Any] = {"kernel": stage.kernel, "padding": stage.padding, "activation": stage.activation}
    with pysimd.Convolution8i(x.shape, weight.shape[3], src_dtype=x.dtype, dst_dtype="float32", **options) as alone:
        alone.set_params(weight, bias, None, seen, unused)
        return alone(x)


@pytest.mark.parametrize("dst", ["float32", "uint8"])
@pytest.mark.parametrize("src", ["float32", "uint8"])
@pytest.mark.parametrize("signed", [False, True])
def test_bytes_equal_their_stages_one_by_one(isa: str, rng: np.random.Generator, src: str, dst: str, signed: bool) -> None:
    """Floats between expansion and depthwise stage, bytes before the projection; NumPy's formulas of a depthwise stage."""
    stage = pysimd.ConvolutionStage
    blocks = [
        [stage(1, 40, activation="relu"), stage(3, stride=2, padding=1, activation="relu"), stage(1, 7)],
        [stage(3, 21, padding=1, activation="hswish"), stage(5, padding=2)],
        [stage(3, stride=2, padding=1, activation="relu"), stage(1, 70, activation="relu")],
    ]
    x = floats(rng, 2, 13, 9, 11)
    seen = _byte_statistics(rng, x, signed)
    given = x if src == "float32" else rng.integers(0, 256, x.shape, np.uint8)
    for stages in blocks:
        block = pysimd.MergedConvolution8i(x.shape, stages, src_dtype=src, dst_dtype=dst)
        weights = [floats(rng, *shape) for shape in block.weight_shapes]
        biases = [floats(rng, shape[-1]) for shape in block.weight_shapes]
        values, before, size = given, seen, 0.0
        stats: dict[str, Any] = {} if stages[0].dst_c is None and src == "float32" else {"src_stats": seen}
        for i, (one, weight, bias) in enumerate(zip(stages, weights, biases)):
            if one.dst_c is not None:
                values = _product(values, weight, bias, one, before)
                if i:  # what one byte more or less before the projection changes
                    size = float((np.abs(weight) * _steps(before)[0][:, None]).max())
                continue
            step, zero = _steps(seen)
            values = _depthwise(values if values.dtype == np.float32 else values * step + -zero * step, weight, bias, one)
            if i + 1 < len(stages):
                stats["middle_stats"] = before = _byte_statistics(rng, values, signed)
        if dst == "uint8":
            stats["dst_stats"] = last = _byte_statistics(rng, values, signed)
            values, size = _as_bytes(values, last).astype(np.float32), np.ceil(size / _steps(last)[0].min()) + 1
        block.set_params(weights, biases, **stats)
        y = block(given)
        block.close()
        assert y.dtype == dst
        difference = np.abs(y.astype(np.float32) - values)
        near = 1e-5 * float(np.abs(values).max())
        assert difference.max() <= 2 * size + near and np.count_nonzero(difference > near) < y.size / 20


def _depthwise(x: Array, weight: Array, bias: Array, stage: pysimd.ConvolutionStage) -> Array:
    """In double; both strides are equal, and padding is the same on all sides."""
    assert isinstance(stage.padding, int) and isinstance(stage.kernel, int) and isinstance(stage.stride, int)
    edge = (stage.padding, stage.padding)
    padded = np.pad(x.astype(np.float64), ((0, 0), edge, edge, (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (stage.kernel, stage.kernel), axis=(1, 2))
    windows = windows[:, :: stage.stride, :: stage.stride]
    sums = np.einsum("bhwcyx,yxc->bhwc", windows, weight[:, :, 0].astype(np.float64)) + bias
    result: Array = np.maximum(sums, 0) if stage.activation == "relu" else sums
    return result.astype(np.float32)


def test_bytes_refuse_what_does_not_fit() -> None:
    stage = pysimd.ConvolutionStage
    stages = [stage(1, 6), stage(3, padding=1), stage(1, 4)]
    with pytest.raises(ValueError, match=r"stride\[1\] is 2, expected 1"):
        pysimd.MergedConvolution8i((5, 5, 4), [stages[0], stage(3, stride=(1, 2), padding=1)])
    with pytest.raises(TypeError, match="src_dtype"):
        pysimd.MergedConvolution8i((5, 5, 4), stages, src_dtype="bfloat16")
    block = pysimd.MergedConvolution8i((5, 5, 4), stages)
    weights = [np.ones(shape, np.float32) for shape in block.weight_shapes]
    four, six = (pysimd.Statistics(np.zeros(n, np.float32), np.ones(n, np.float32)) for n in (4, 6))
    for bad in ("src_stats", "middle_stats", "dst_stats"):
        given: dict[str, Any] = {"src_stats": four, "middle_stats": six, "dst_stats": four}
        with pytest.raises(TypeError, match=f"{bad} is None, expected pysimd.Statistics"):
            block.set_params(weights, **{**given, bad: None})
        with pytest.raises(ValueError, match=f"{bad}.min has shape"):
            block.set_params(weights, **{**given, bad: pysimd.Statistics(np.zeros(5, np.float32), np.ones(5, np.float32))})
    with pytest.raises(ValueError, match="weight has 2 elements, expected 3"):
        block.set_params(weights[:2], src_stats=four, middle_stats=six, dst_stats=four)
    block.close()


def test_bytes_need_the_statistics_of_images_that_are_rounded() -> None:
    """Of floats before an expansion, and of bytes before a depthwise stage."""
    stages = [pysimd.ConvolutionStage(1, 4), pysimd.ConvolutionStage(3, padding=1), pysimd.ConvolutionStage(1, 4)]
    four = pysimd.Statistics(np.zeros(4, np.float32), np.ones(4, np.float32))
    for src, chosen in (("float32", stages), ("uint8", stages), ("uint8", stages[1:])):
        with pysimd.MergedConvolution8i((5, 5, 4), chosen, src_dtype=src) as block:
            weights = [np.ones(shape, np.float32) for shape in block.weight_shapes]
            with pytest.raises(TypeError, match="src_stats is None"):
                block.set_params(weights, middle_stats=four, dst_stats=four)
    with pysimd.MergedConvolution8i((5, 5, 4), stages[1:], src_dtype="float32", dst_dtype="float32") as block:
        weights = [np.ones(shape, np.float32) for shape in block.weight_shapes]
        block.set_params(weights, middle_stats=four)
        assert block(np.ones((5, 5, 4), np.float32)).shape == (5, 5, 4)
