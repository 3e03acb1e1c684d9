"""Recurrent layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.reference.numbers import Array


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


#: The activations of recurrent layers, as functions of an array and their numbers.
RECURRENT: dict[str, Any] = {
    "affine": lambda x, alpha, beta: alpha * x + beta,
    "elu": lambda x, alpha: np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0))),
    "hard_sigmoid": lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
    "leaky_relu": lambda x, alpha: np.where(x >= 0, x, alpha * x),
    "relu": lambda x: np.maximum(x, 0),
    "scaled_tanh": lambda x, alpha, beta: alpha * np.tanh(beta * x),
    "sigmoid": _sigmoid,
    "softplus": lambda x: np.logaddexp(0, x),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
    "thresholded_relu": lambda x, alpha: np.where(x >= alpha, x, 0),
}


def _functions(given: Any, usual: tuple[str, ...], clip: float | None, directions: int) -> list[list[Any]]:
    """The activations f, g and h of each direction; given : a name and numbers for each, or None."""

    def function(place: int, name: str, *numbers: float) -> Any:
        bound = np.inf if clip is None or place == 2 else clip
        return lambda x: RECURRENT[name](np.clip(x, -bound, bound), *numbers)

    chosen = [(name,) for name in usual] * directions if given is None else list(given)
    places = len(usual)
    return [[function(i, *chosen[d * places + i]) for i in range(places)] for d in range(directions)]


def _lstm_step(x: Array, h: Array, c: Array, w: Array, r: Array, b: Array, p: Array, functions: Any, forget: bool) -> Any:
    f_of, g_of, h_of = functions
    i, o, f, g = np.split(w @ x + r @ h + b[0] + b[1], 4)
    p_i, p_o, p_f = np.split(p, 3)
    i = f_of(i + p_i * c)
    f = 1 - i if forget else f_of(f + p_f * c)
    c = f * c + i * g_of(g)
    return f_of(o + p_o * c) * h_of(c), c


def _gru_step(x: Array, h: Array, w: Array, r: Array, b: Array, linear: bool, functions: Any) -> Array:
    f_of, g_of = functions
    (w_z, w_r, w_h), (r_z, r_r, r_h) = np.split(w, 3), np.split(r, 3)
    (a_z, a_r, a_h), (b_z, b_r, b_h) = np.split(b[0], 3), np.split(b[1], 3)
    z = f_of(w_z @ x + r_z @ h + a_z + b_z)
    reset = f_of(w_r @ x + r_r @ h + a_r + b_r)
    inner = reset * (r_h @ h + b_h) if linear else r_h @ (reset * h) + b_h
    return np.asarray((1 - z) * g_of(w_h @ x + a_h + inner) + z * h)


def _recurrent(
    x: Array, w: Array, r: Array, b: Any, direction: str, states: list[Any], lengths: Any, cell: Any
) -> tuple[Array, ...]:
    """The states after all steps, and the last ones.

    cell : of a direction, the inputs and the states of a step, and the weights: the states after it.
    """
    steps, batch, _ = x.shape
    directions, rows, _ = w.shape
    b = np.zeros((directions, 2, rows)) if b is None else b.reshape(directions, 2, -1)
    x, w, r, b = (array.astype(np.float64) for array in (x, w, r, b))
    reverse = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    y = np.zeros((steps, directions, batch, r.shape[-1]))
    last = [np.zeros(y.shape[1:]) if state is None else state.astype(np.float64) for state in states]
    for d, turned in enumerate(reverse):
        for n in range(batch):
            order = range(steps if lengths is None else lengths[n])
            for t in reversed(order) if turned else order:
                for state, value in zip(last, cell(d, x[t, n], [state[d, n] for state in last], w[d], r[d], b[d])):
                    state[d, n] = value
                y[t, d, n] = last[0][d, n]
    return (y, *last)


def lstm(
    x: Array,
    w: Array,
    r: Array,
    b: Any,
    p: Any,
    direction: str,
    h0: Any = None,
    c0: Any = None,
    lengths: Any = None,
    activations: Any = None,
    clip: float | None = None,
    input_forget: bool = False,
) -> tuple[Array, ...]:
    """(Y, Y_h, Y_c) of LSTM of ONNX."""
    peephole = np.zeros((len(w), 3 * r.shape[-1])) if p is None else p.astype(np.float64)
    functions = _functions(activations, ("sigmoid", "tanh", "tanh"), clip, len(w))

    def cell(d: int, x: Array, states: list[Array], w: Array, r: Array, b: Array) -> Any:
        h, c = states
        return _lstm_step(x, h, c, w, r, b, peephole[d], functions[d], input_forget)

    return _recurrent(x, w, r, b, direction, [h0, c0], lengths, cell)


def gru(
    x: Array,
    w: Array,
    r: Array,
    b: Any,
    direction: str,
    linear: bool,
    h0: Any = None,
    lengths: Any = None,
    activations: Any = None,
    clip: float | None = None,
) -> tuple[Array, ...]:
    """(Y, Y_h) of GRU of ONNX."""
    functions = _functions(activations, ("sigmoid", "tanh"), clip, len(w))

    def cell(d: int, x: Array, states: list[Array], w: Array, r: Array, b: Array) -> Any:
        return [_gru_step(x, states[0], w, r, b, linear, functions[d])]

    return _recurrent(x, w, r, b, direction, [h0], lengths, cell)


def rnn(
    x: Array,
    w: Array,
    r: Array,
    b: Any,
    direction: str,
    h0: Any = None,
    lengths: Any = None,
    activations: Any = None,
    clip: float | None = None,
) -> tuple[Array, ...]:
    """(Y, Y_h) of RNN of ONNX."""
    functions = _functions(activations, ("tanh",), clip, len(w))

    def cell(d: int, x: Array, states: list[Array], w: Array, r: Array, b: Array) -> Any:
        return [functions[d][0](w @ x + r @ states[0] + b.sum(0))]

    return _recurrent(x, w, r, b, direction, [h0], lengths, cell)


# ---- with weights of bytes


def _as_bytes(x: Array) -> tuple[Array, Any]:
    """The bytes of a dynamic quantisation, less their zero, and the scale."""
    f = np.float32
    most, least = f(max(0, x.max(initial=0))), f(min(0, x.min(initial=0)))
    scale = f(f(most - least) / f(255)) or f(1)
    zero = np.rint(np.clip(f(0) - f(least / scale), 0, 255))
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - zero).astype(np.int64), scale


def _byte_product(x: Array, w: Array, scale: Array, zero: Any) -> Array:
    q, own = _as_bytes(x)
    sums = q @ (w.astype(np.int64) - (0 if zero is None else zero.astype(np.int64)))
    return np.asarray(sums.astype(np.int32).astype(np.float32) * (own * scale))


def byte_lstm(
    x: Array, w: Array, r: Array, b: Any, p: Any, direction: str, scales: Any, zeros: Any, h0: Any, c0: Any, lengths: Any
) -> tuple[Array, ...]:
    """(Y, Y_h, Y_c) of DynamicQuantizeLSTM; scales and zeros : of W and R, (directions, 1 or 4 * hidden)."""
    (steps, batch, _), (count, hidden, columns) = x.shape, r.shape
    lengths = np.full(batch, steps) if lengths is None else lengths
    x = np.where((np.arange(steps)[:, None] < lengths)[..., None], x, np.float32(0)).astype(np.float32)
    y = np.zeros((steps, count, batch, hidden), np.float32)
    states = [np.zeros((count, batch, hidden), np.float32) if s is None else s.astype(np.float32) for s in (h0, c0)]
    for d in range(count):
        (zw, zr), peephole = (None if z is None else z[d] for z in zeros), np.zeros((3, hidden)) if p is None else p[d]
        h, c = (s[d].copy() for s in states)
        products = _byte_product(x, w[d], scales[0][d], zw) + (0 if b is None else b[d, :columns])
        for i in range(lengths.max(initial=0)):
            has = i < lengths
            sums = _byte_product(np.where(has[:, None], h, np.float32(0)), r[d], scales[1][d], zr)
            sums = sums + (0 if b is None else b[d, columns:])
            for k in np.flatnonzero(has):
                at = lengths[k] - 1 - i if d or direction == "reverse" else i
                gates = np.split(products[at, k] + sums[k], 4)
                p_i, p_o, p_f = np.reshape(peephole, (3, hidden))
                f = _sigmoid(gates[2] + p_f * c[k])
                c[k] = f * c[k] + _sigmoid(gates[0] + p_i * c[k]) * np.tanh(gates[3])
                h[k] = y[at, d, k] = _sigmoid(gates[1] + p_o * c[k]) * np.tanh(c[k])
        states[0][d], states[1][d] = h, c
    return y, *states
