"""LSTM, GRU and RNN against the formulas in float64; how arrays are laid out, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused, reference

DIRECTIONS = ("forward", "reverse", "bidirectional")
SIZES = [(6, 3, 5, 7), (1, 1, 33, 40), (9, 2, 64, 20), (70, 1, 3, 64)]
#: The error of a state: that of a step's sums, and what is carried from step to step.
BOUND = 1e-5


def weights(rng: np.random.Generator, gates: int, inputs: int, hidden: int, directions: int) -> list[Array]:
    """W, R, bias and, of an LSTM, peephole; such that sums are about 1."""
    shapes: list[tuple[int, ...]] = [(gates * hidden, inputs), (gates * hidden, hidden), (2 * gates * hidden,)]
    shapes += [(3 * hidden,)] * (gates == 4)
    return [(rng.standard_normal((directions, *s)) / np.sqrt(s[-1] if len(s) > 1 else 4)).astype(np.float32) for s in shapes]


def case(rng: np.random.Generator, gates: int, direction: str, steps: int, batch: int, inputs: int, hidden: int) -> Any:
    directions = 2 if direction == "bidirectional" else 1
    x = rng.standard_normal((steps, batch, inputs)).astype(np.float32)
    states = rng.standard_normal((2, directions, batch, hidden)).astype(np.float32)
    return x, weights(rng, gates, inputs, hidden, directions), states


def assert_near(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=BOUND, atol=BOUND)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("steps", "batch", "inputs", "hidden"), SIZES)
def test_lstm(isa: str, rng: np.random.Generator, direction: Any, steps: int, batch: int, inputs: int, hidden: int) -> None:
    x, (w, r, b, p), (h0, c0) = case(rng, 4, direction, steps, batch, inputs, hidden)
    lengths = rng.integers(0, steps + 1, batch)
    for options in ({}, {"bias": b}, {"bias": b, "peephole": p}):
        for more in ({}, {"lengths": lengths}, {"h0": h0, "c0": c0}, {"lengths": lengths, "h0": h0, "c0": c0}):
            hn, cn = np.empty_like(h0), np.empty_like(c0)
            y = pysimd.lstm(x, w, r, **options, **more, direction=direction, hn=hn, cn=cn)
            expected = reference.lstm(x, w, r, options.get("bias"), options.get("peephole"), direction, **more)
            for actual, wanted in zip((y, hn, cn), expected):
                assert_near(actual, wanted)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("steps", "batch", "inputs", "hidden"), SIZES)
def test_gru(
    isa: str, rng: np.random.Generator, linear: bool, direction: Any, steps: int, batch: int, inputs: int, hidden: int
) -> None:
    x, (w, r, b), (h0, _) = case(rng, 3, direction, steps, batch, inputs, hidden)
    lengths = rng.integers(0, steps + 1, batch)
    for bias in (None, b):
        for more in ({}, {"lengths": lengths}, {"h0": h0}, {"lengths": lengths, "h0": h0}):
            hn = np.empty_like(h0)
            y = pysimd.gru(x, w, r, bias, **more, direction=direction, linear_before_reset=linear, hn=hn)
            for actual, wanted in zip((y, hn), reference.gru(x, w, r, bias, direction, linear, **more)):
                assert_near(actual, wanted)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("steps", "batch", "inputs", "hidden"), SIZES)
def test_rnn(isa: str, rng: np.random.Generator, direction: Any, steps: int, batch: int, inputs: int, hidden: int) -> None:
    x, (w, r, b), (h0, _) = case(rng, 1, direction, steps, batch, inputs, hidden)
    r *= np.float32(0.5)  # without gates, what is carried grows
    lengths = rng.integers(0, steps + 1, batch)
    for bias in (None, b):
        for more in ({}, {"lengths": lengths}, {"h0": h0}, {"lengths": lengths, "h0": h0}):
            hn = np.empty_like(h0)
            y = pysimd.rnn(x, w, r, bias, **more, direction=direction, hn=hn)
            for actual, wanted in zip((y, hn), reference.rnn(x, w, r, bias, direction, **more)):
                assert_near(actual, wanted)


#: With numbers of their own, and the numbers that those have for which none are given.
ACTIVATIONS: list[Any] = [
    ("affine", 0.5, 0.25), ("elu", 0.7), ("hard_sigmoid", 0.3, 0.4), ("leaky_relu", 0.2), ("relu",),
    ("scaled_tanh", 0.8, 0.6), ("sigmoid",), ("softplus",), ("softsign",), ("tanh",), ("thresholded_relu", 0.3),
    ("affine", 1.0, 0.0), ("elu", 1.0), ("hard_sigmoid", 0.2, 0.5), ("leaky_relu", 0.01), ("scaled_tanh", 1.0, 1.0),
    ("thresholded_relu", 1.0),
]  # fmt: skip


@pytest.mark.parametrize("clip", [None, 0.6])
@pytest.mark.parametrize("first", range(len(ACTIVATIONS)))
def test_activations(isa: str, rng: np.random.Generator, first: int, clip: float | None) -> None:
    """Each in every place, other ones in each direction, and by its name alone."""
    count = len(ACTIVATIONS)
    for layer, gates, places in ((pysimd.lstm, 4, 3), (pysimd.gru, 3, 2), (pysimd.rnn, 1, 1)):
        x, parameters, _ = case(rng, gates, "bidirectional", 2, 2, 5, 21)
        parameters = [array * np.float32(0.5) for array in parameters]  # gates that are not bounded multiply errors
        chosen = [ACTIVATIONS[(first + 4 * k) % count] for k in range(2 * places)]
        given = [one[0] if (first + 4 * k) % count >= 11 or len(one) == 1 else one for k, one in enumerate(chosen)]
        options: list[dict[str, Any]] = [{}]
        if layer is not pysimd.rnn:
            options.append({"input_forget": True} if layer is pysimd.lstm else {"linear_before_reset": True})
        for more in options:
            y = layer(x, *parameters, direction="bidirectional", activations=given, clip=clip, **more)
            if layer is pysimd.gru:
                more = {"linear": more.get("linear_before_reset", False)}
            formula = getattr(reference, layer.__name__)
            wanted = formula(x, *parameters, direction="bidirectional", activations=chosen, clip=clip, **more)[0]
            np.testing.assert_allclose(y, wanted, rtol=4 * BOUND, atol=4 * BOUND)


def test_usual_activations_have_the_same_bits(isa: str, rng: np.random.Generator) -> None:
    """By their names, and for one direction or for each; a bound that nothing reaches takes other instructions."""
    x, (w, r, b, p), _ = case(rng, 4, "bidirectional", 5, 2, 4, 19)
    y = pysimd.lstm(x, w, r, b, p, direction="bidirectional")
    usual: list[Any] = ["sigmoid", "tanh", "tanh"]
    for names in (usual, usual * 2):
        assert np.array_equal(pysimd.lstm(x, w, r, b, p, direction="bidirectional", activations=names), y)
    assert_near(pysimd.lstm(x, w, r, b, p, direction="bidirectional", clip=100), y)


def byte_case(rng: np.random.Generator, dtype: Any, direction: str, columns: bool, sizes: Any) -> Any:
    """x, the arguments of set_params(), and states."""
    steps, batch, inputs, hidden = sizes
    directions, limits = 2 if direction == "bidirectional" else 1, np.iinfo(dtype)
    shape = (directions, 4 * hidden) if columns else (directions,)
    x = rng.standard_normal((steps, batch, inputs)).astype(np.float32)
    w, r = (rng.integers(limits.min, limits.max + 1, (directions, n, 4 * hidden)).astype(dtype) for n in (inputs, hidden))
    sw, sr = (rng.uniform(0.002, 0.01, shape).astype(np.float32) / np.float32(n**0.5) for n in (inputs, hidden))
    zeros = [
        rng.integers(limits.min, limits.max + 1, shape).astype(dtype) // 4 + (96 if limits.min == 0 else 0) for _ in "wr"
    ]
    bias, peephole = (rng.standard_normal((directions, n * hidden)).astype(np.float32) / 4 for n in (8, 3))
    states = rng.standard_normal((2, directions, batch, hidden)).astype(np.float32)
    return x, (w, r, bias, peephole, sw, sr, *(zero.astype(dtype) for zero in zeros)), states


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("columns", [False, True])
def test_weights_of_bytes(isa: str, rng: np.random.Generator, direction: Any, dtype: Any, columns: bool) -> None:
    for sizes in SIZES:
        x, given, (h0, c0) = byte_case(rng, dtype, direction, columns, sizes)
        w, r, bias, peephole, *terms = given
        (sw, sr), zeros = ([each.reshape(len(w), -1) for each in pair] for pair in (terms[:2], terms[2:]))
        lengths = None if sizes[1] == 1 else rng.integers(0, sizes[0] + 1, sizes[1])
        layer = pysimd.LSTM(x.shape, sizes[-1], direction=direction)
        layer.set_params(*given)
        hn, cn = np.empty_like(h0), np.empty_like(c0)
        y = layer(x, h0, c0, lengths=lengths, hn=hn, cn=cn)
        expected = reference.byte_lstm(x, w, r, bias, peephole, direction, (sw, sr), zeros, h0, c0, lengths)
        for actual, wanted in zip((y, hn, cn), expected):
            near = np.isclose(actual, wanted, BOUND, BOUND)  # but where a state is between two bytes
            assert near.mean() > 0.7 or np.abs(actual - wanted).max() < 1e-3
            np.testing.assert_allclose(actual, wanted, atol=0.03)
        first = pysimd.LSTM((*x.shape[1::-1], x.shape[2]), sizes[-1], direction=direction, batch_first=True)
        first.share_params(layer)
        states = [np.ascontiguousarray(s.swapaxes(0, 1)) for s in (h0, c0)]
        again = first(np.ascontiguousarray(x.swapaxes(0, 1)), *states, lengths=lengths)
        np.testing.assert_array_equal(again, y.transpose(2, 0, 1, 3))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(layer))(x), layer(x))


def test_weights_of_bytes_of_onnx_runtime(isa: str) -> None:
    """Its results, of version 1.32, for weights that are made of integers here."""
    n = np.arange(1 * 3 * 8)
    w = (n * 37 % 251 - 125).astype(np.int8).reshape(1, 3, 8)
    r = (n[:16] * 53 % 241 - 120).astype(np.int8).reshape(1, 2, 8)
    x = ((np.arange(12) * 5 % 13 - 6) / 4).astype(np.float32).reshape(4, 1, 3)
    bias = ((np.arange(16) * 3 % 7 - 3) / 8).astype(np.float32).reshape(1, 16)
    layer = pysimd.LSTM(x.shape, 2)
    layer.set_params(w, r, bias, None, np.array([0.01], np.float32), np.array([0.008], np.float32))
    expected = [[-0.5215552, 0.4627833], [-0.6526326, 0.1229184], [-0.2742746, 0.0230727], [-0.2265478, -0.1492013]]
    np.testing.assert_allclose(layer(x)[:, 0, 0], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({1: np.zeros((1, 2, 8), np.uint8)}, TypeError, "recurrent has dtype uint8, expected int8"),
        ({0: np.zeros((1, 8, 3), np.int8)}, ValueError, r"weight has shape \(1, 8, 3\), expected \(1, 3, 8\)"),
        ({4: None}, TypeError, "one of weight_scale and recurrent_scale is None"),
        ({4: None, 5: None, 6: np.zeros(1, np.int8)}, TypeError, "a zero is given without scales"),
        ({5: np.ones(2, np.float32)}, ValueError, r"recurrent_scale has shape \(2,\), expected \(1,\)"),
        ({5: np.full(1, np.inf, np.float32)}, ValueError, r"scaleR\[0\] is inf, expected a finite number"),
        ({6: np.zeros(1, np.uint8)}, TypeError, "weight_zero has dtype uint8, expected int8"),
        ({0: np.zeros((1, 3, 8), np.int16)}, TypeError, "weight has dtype int16"),
    ],
)
def test_refusals_of_weights_of_bytes(change: dict[int, Any], error: type[Exception], sentence: str) -> None:
    one = np.ones(1, np.float32)
    given: list[Any] = [np.zeros((1, 3, 8), np.int8), np.zeros((1, 2, 8), np.int8), None, None, one, one, None, None]
    for place, value in change.items():
        given[place] = value
    with pytest.raises(error, match=sentence):
        pysimd.LSTM((4, 1, 3), 2).set_params(*given)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_batch_first(isa: str, rng: np.random.Generator, direction: Any) -> None:
    """Layout 1 of ONNX has the bits of layout 0; so has a sequence without a batch."""
    x, (w, r, b, _), (h0, c0) = case(rng, 4, direction, 6, 3, 5, 17)
    options: dict[str, Any] = {"direction": direction, "lengths": [6, 2, 5]}
    hn, first = np.empty_like(h0), np.empty(h0.swapaxes(0, 1).shape, np.float32)
    y = pysimd.lstm(x, w, r, b, h0=h0, c0=c0, hn=hn, **options)
    turned = [np.ascontiguousarray(a.swapaxes(0, 1)) for a in (x, h0, c0)]
    z = pysimd.lstm(turned[0], w, r, b, h0=turned[1], c0=turned[2], hn=first, batch_first=True, **options)
    assert np.array_equal(z, y.transpose(2, 0, 1, 3))
    assert np.array_equal(first, hn.swapaxes(0, 1))
    alone = pysimd.lstm(turned[0][0], w, r, b, h0=turned[1][0], c0=turned[2][0], direction=direction)
    assert np.array_equal(alone, z[0])


def test_continued(isa: str, rng: np.random.Generator) -> None:
    """A state that a call replaces is where the next call goes on."""
    x, (w, r, b, p), _ = case(rng, 4, "forward", 8, 2, 5, 9)
    layer, part = pysimd.LSTM((8, 2, 5), 9), pysimd.LSTM((2, 2, 5), 9)
    layer.set_params(w, r, b, p)
    part.share_params(layer)
    y = layer(x)
    h, c = np.zeros(part.state_shape, np.float32), np.zeros(part.state_shape, np.float32)
    for step in range(0, 8, 2):
        assert np.array_equal(part(x[step : step + 2], h, c, hn=h, cn=c), y[step : step + 2])


def test_threads(rng: np.random.Generator) -> None:
    for batch in (1, 9):
        x, parameters, _ = case(rng, 4, "bidirectional", 20, batch, 128, 128)
        with pysimd.num_threads(1):
            one = pysimd.lstm(x, *parameters, direction="bidirectional")
        with pysimd.num_threads(2):
            assert np.array_equal(pysimd.lstm(x, *parameters, direction="bidirectional"), one)


def test_steps_beyond_a_sequence_are_not_read(isa: str, rng: np.random.Generator) -> None:
    x, (w, r, b, _), _ = case(rng, 4, "bidirectional", 5, 2, 4, 6)
    y = pysimd.lstm(x, w, r, b, lengths=[3, 5], direction="bidirectional")
    x[3:, 0] = np.nan
    assert np.array_equal(pysimd.lstm(x, w, r, b, lengths=[3, 5], direction="bidirectional"), y)
    assert not y[3:, :, 0].any()


def test_prepared_lengths_and_states_stay_alive(rng: np.random.Generator) -> None:
    x, (w, r, b), (h0, _) = case(rng, 3, "forward", 5, 2, 4, 6)
    layer = pysimd.GRU(x.shape, 6)
    layer.set_params(w, r, b)
    prepared = layer.prepare(x, h0.copy(), lengths=np.array([2, 4]))
    assert np.array_equal(prepared(), layer(x, h0, lengths=(2, 4)))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_prepared_calls_read_lengths_each_time(rng: np.random.Generator, dtype: Any) -> None:
    x, (w, r, b, _), _ = case(rng, 4, "bidirectional", 5, 3, 4, 6)
    layer = pysimd.LSTM(x.shape, 6, direction="bidirectional")
    layer.set_params(w, r, b)
    lengths = np.zeros(3, dtype)
    prepared = layer.prepare(x, lengths=lengths)
    assert not prepared().any()
    for some in ([5, 1, 2], [0, 5, 4]):
        lengths[:] = some
        assert np.array_equal(prepared(), layer(x, lengths=some))
    lengths[1] = 6
    with pytest.raises(ValueError, match=r"lengths\[1\] is 6, expected at most 5, the steps"):
        prepared()


def test_prepared_lengths_of_another_type_are_refused(rng: np.random.Generator) -> None:
    x, (w, r, b), _ = case(rng, 3, "forward", 5, 2, 4, 6)
    layer = pysimd.GRU(x.shape, 6)
    layer.set_params(w, r, b)
    with pytest.raises(TypeError, match=r"lengths has dtype int32, expected int64 or uint64, .*: use lengths.astype"):
        layer.prepare(x, lengths=np.array([2, 4], np.int32))
    with pytest.raises(ValueError, match="lengths is not C-contiguous"):
        layer.prepare(x, lengths=np.array([2, 4, 3, 1])[::2])
    assert np.array_equal(layer.prepare(x, lengths=[2, 4])(), layer(x, lengths=np.array([2, 4], np.int8)))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"weight": np.ones((1, 8, 4), np.float32)}, r"weight has shape \(1, 8, 4\), expected \(1, 8, 3\)"),
    ({"recurrent": np.ones((1, 9, 2), np.float32)}, r"recurrent has shape \(1, 9, 2\), expected \(1, 8, 2\)"),
    ({"recurrent": np.ones((8, 2), np.float32)}, r"recurrent has shape \(8, 2\), expected \(directions, gates"),
    ({"bias": np.ones((1, 8), np.float32)}, r"bias has shape \(1, 8\), expected \(1, 16\)"),
    ({"peephole": np.ones((1, 8), np.float32)}, r"peephole has shape \(1, 8\), expected \(1, 6\)"),
    ({"h0": np.ones((1, 2), np.float32)}, r"h0 has shape \(1, 2\), expected \(1, 4, 2\)"),
    ({"cn": np.ones((1, 2), np.float32)}, r"cn has shape \(1, 2\), expected \(1, 4, 2\)"),
    ({"lengths": [1, 2, 3]}, r"lengths has dtype int64 and shape \(3,\), expected \(4,\) integers"),
    ({"lengths": [1.0, 2, 3, 4]}, "lengths has dtype float64"),
    ({"lengths": [1, 2, 3, 6]}, r"lengths is \[1, 2, 3, 6\], expected numbers of 0 to 5"),
    ({"lengths": [1, -1, 3, 4]}, r"lengths is \[1, -1, 3, 4\], expected numbers of 0 to 5"),
    ({"direction": "backward"}, "direction is 'backward', expected one of forward, reverse, bidirectional"),
]


@pytest.mark.parametrize(("change", "sentence"), WRONG)
def test_refusals(change: dict[str, Any], sentence: str) -> None:
    arguments: dict[str, Any] = {
        "x": np.ones((5, 4, 3), np.float32),
        "weight": np.ones((1, 8, 3), np.float32),
        "recurrent": np.ones((1, 8, 2), np.float32),
    }
    out = np.full((5, 1, 4, 2), 7, np.float32)
    assert_refused(pysimd.lstm, ValueError, sentence, out, **{**arguments, **change})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"activations": ["tanh"]}, "activations has length 1, expected 2"),
        ({"activations": ["tanh"] * 4}, "activations has length 4, expected 2"),
        ({"activations": ["cos", "tanh"]}, "activation is 'cos', expected one of sigmoid, tanh, relu"),
        ({"activations": ["tanh", ("relu", 2)]}, "the activation relu has 1 numbers, expected at most 0"),
        ({"activations": ["tanh", ("elu", np.nan)]}, r"alpha\[1\] is nan, expected a finite number"),
        ({"activations": [3, "tanh"]}, "activation is 3, expected one of"),
        ({"clip": 0}, "clip is 0.0, expected None or a number above 0"),
        ({"clip": np.inf}, "clip is inf, expected None or a number above 0"),
    ],
)
def test_refusals_of_activations(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        pysimd.GRU((5, 3), 2, **options)


def test_refusals_of_contexts() -> None:
    with pytest.raises(ValueError, match=r"src_shape is \(3,\), expected \(steps, input\) or \(batch, steps, input\)"):
        pysimd.LSTM((3,), 2, batch_first=True)
    with pytest.raises(ValueError, match="hidden is 0, expected at least 1"):
        pysimd.GRU((5, 3), 0)
    with pytest.raises(ValueError, match="steps is 0, expected at least 1"):
        pysimd.GRU((0, 3), 2)
    lstm, gru = pysimd.LSTM((5, 3), 2), pysimd.GRU((5, 3), 2)
    with pytest.raises(pysimd.StateError, match="call set_params"):
        lstm(np.ones((5, 3), np.float32))
    gru.set_params(np.ones((1, 6, 3), np.float32), np.ones((1, 6, 2), np.float32))
    with pytest.raises(ValueError, match="type of other is GRU, expected LSTM as in this context"):
        lstm.share_params(gru)
    x = np.zeros((5, 3), np.float32)
    with pytest.raises(ValueError, match="hn overlaps x"):
        gru(x, hn=x.reshape(-1)[:2].reshape(1, 2))
    y = np.zeros((5, 1, 2), np.float32)
    with pytest.raises(ValueError, match="hn overlaps dst"):
        gru(x, hn=y[0], out=y)
