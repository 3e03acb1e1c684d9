"""Recurrent layers: LSTM, GRU and RNN."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pysimd import calls
from pysimd._arrays import (
    INT8,
    INT64,
    NULL,
    UINT8,
    as_float,
    element_of,
    floats,
    is_array,
    is_number,
    output,
    plain,
    pointer,
    tensor,
)
from pysimd._geometry import number, shape_of
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Direction, FloatArray, Floats, Lengths, RecurrentActivation, Shape
from pysimd.calls import call_struct, create
from pysimd.context import ShapedContext, SharingContext
from pysimd.errors import NO_WEIGHTS, StateError, shown
from pysimd.quantize_linear import SomeBytes

DIRECTIONS = {
    "forward": lib.SimdnetRecurrentForward,
    "reverse": lib.SimdnetRecurrentReverse,
    "bidirectional": lib.SimdnetRecurrentBidirectional,
}
_SIZES = ffi.typeof("size_t[]")


def _direction(name: Direction) -> int:
    try:
        return int(DIRECTIONS[name])
    except (KeyError, TypeError):
        raise ValueError(f"direction is {name!r}, expected one of {', '.join(DIRECTIONS)}") from None


class _Kind(NamedTuple):
    """An activation of the library, and the numbers alpha and beta that it has if none are given."""

    activation: int
    defaults: tuple[float, ...] = ()


#: The defaults are those of the operators of ONNX.
ACTIVATIONS: dict[str, _Kind] = {
    "sigmoid": _Kind(lib.SimdnetRecurrentActivationSigmoid),
    "tanh": _Kind(lib.SimdnetRecurrentActivationTanh),
    "relu": _Kind(lib.SimdnetRecurrentActivationRelu),
    "affine": _Kind(lib.SimdnetRecurrentActivationAffine, (1.0, 0.0)),
    "leaky_relu": _Kind(lib.SimdnetRecurrentActivationLeakyRelu, (0.01,)),
    "thresholded_relu": _Kind(lib.SimdnetRecurrentActivationThresholdedRelu, (1.0,)),
    "scaled_tanh": _Kind(lib.SimdnetRecurrentActivationScaledTanh, (1.0, 1.0)),
    "hard_sigmoid": _Kind(lib.SimdnetRecurrentActivationHardSigmoid, (0.2, 0.5)),
    "elu": _Kind(lib.SimdnetRecurrentActivationElu, (1.0,)),
    "softsign": _Kind(lib.SimdnetRecurrentActivationSoftsign),
    "softplus": _Kind(lib.SimdnetRecurrentActivationSoftplus),
}


def float_of(value: Any, name: str) -> float:
    if not is_number(value):
        raise TypeError(f"{name} is {shown(value)}, expected a number")
    return float(as_float(value, name))


def activation_of(given: Any) -> tuple[Any, ...]:
    """The name of an activation and all its numbers."""
    name, *numbers = given if isinstance(given, (tuple, list)) and given else (given,)
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ValueError(f"activation is {shown(name)}, expected one of {', '.join(ACTIVATIONS)}")
    defaults = ACTIVATIONS[name].defaults
    if len(numbers) > len(defaults):
        raise ValueError(f"the activation {name} has {len(numbers)} numbers, expected at most {len(defaults)}")
    return (name, *(float_of(value, f"a number of {name}") for value in numbers), *defaults[len(numbers) :])


def activations_of(given: Any, places: int, directions: int) -> tuple[tuple[Any, ...], ...] | None:
    """Those of all directions, which have `places` functions each; None for the usual ones."""
    if given is None:
        return None
    if not isinstance(given, Sequence):
        raise TypeError(f"activations is {shown(given)}, expected a sequence of names")
    found = tuple(map(activation_of, [given] if isinstance(given, str) else given))
    if len(found) == places:
        found *= directions
    if len(found) != places * directions:
        several = f" or {places * directions}" if directions > 1 else ""
        raise ValueError(f"activations has length {len(found)}, expected {places}{several}")
    return found


class Recurrent(ShapedContext, SharingContext):
    """What recurrent layers have in common; see :class:`LSTM`."""

    _type: ClassVar[int]
    _gates: ClassVar[int]
    _places: ClassVar[int]  # activations of a direction
    _linear: bool = False
    _input_forget: bool = False

    def __init__(
        self,
        src_shape: Shape,
        hidden: int,
        *,
        direction: Direction = "forward",
        batch_first: bool = False,
        activations: Sequence[RecurrentActivation] | None = None,
        clip: float | None = None,
    ) -> None:
        self._src_shape = shape = shape_of(src_shape, "src_shape")
        if len(shape) not in (2, 3):
            axes = "(batch, steps, input)" if batch_first else "(steps, batch, input)"
            raise ValueError(f"src_shape is {shape}, expected (steps, input) or {axes}")
        batch_first = bool(batch_first)
        self._steps, self._batch = shape[0], 1
        if len(shape) == 3:
            self._steps, self._batch = (shape[1], shape[0]) if batch_first else (shape[0], shape[1])
        self._hidden = number(hidden, "hidden", 1)
        self._state_shape: Shape
        self._directions = 2 if _direction(direction) == lib.SimdnetRecurrentBidirectional else 1
        ends = (self._directions, self._hidden)
        if len(shape) == 2:
            self._state_shape, self._dst_shape = ends, (self._steps, *ends)
        elif batch_first:
            self._state_shape, self._dst_shape = (self._batch, *ends), (self._batch, self._steps, *ends)
        else:
            self._state_shape = (self._directions, self._batch, self._hidden)
            self._dst_shape = (self._steps, *self._state_shape)
        parameters = ffi.new(
            "SimdnetRecurrentParameters *",
            {
                "size": ffi.sizeof("SimdnetRecurrentParameters"),
                "type": self._type,
                "direction": _direction(direction),
                "steps": self._steps,
                "batch": self._batch or 1,  # of an empty batch, which is not computed
                "input": shape[-1],
                "hidden": self._hidden,
                "batchFirst": batch_first,
                "linearBeforeReset": self._linear,
                "inputForget": self._input_forget,
            },
        )
        chosen = activations_of(activations, self._places, self._directions)
        for i, (name, *numbers) in enumerate(chosen or ()):
            at = i // self._places * 3 + i % self._places
            parameters.activations[at] = ACTIVATIONS[name].activation
            parameters.alpha[at], parameters.beta[at] = (*numbers, 0.0, 0.0)[:2]
        if clip is not None:
            clip = float_of(clip, "clip")
            if not (clip > 0 and isfinite(clip)):
                raise ValueError(f"clip is {clip}, expected None or a number above 0")
            parameters.clip = clip
        arguments = {"src_shape": shape, "hidden": self._hidden, "direction": str(direction), "batch_first": batch_first}
        arguments |= {"activations": chosen, "clip": clip}
        super().__init__(create(lib.SimdnetRecurrentInit, parameters), arguments | self._options())

    def _options(self) -> dict[str, Any]:
        """The arguments that other layers do not have."""
        return {}

    def _bytes(self) -> int:
        return self.internal_buffer_size

    @property
    def dst_shape(self) -> Shape:
        """The shape of the output, the states after all steps."""
        return self._dst_shape

    @property
    def state_shape(self) -> Shape:
        """The shape of a state."""
        return self._state_shape

    @property
    def internal_buffer_size(self) -> int:
        """The number of bytes that the context holds now."""
        return int(lib.SimdnetRecurrentInternalBufferSize(self._open()))

    def _set_params(self, weight: Any, recurrent: Any, bias: Any, peephole: Any) -> None:
        handle, rows = self._open(), self._gates * self._hidden
        arrays = [
            tensor(weight, "weight", (self._directions, rows, self._src_shape[-1])),
            tensor(recurrent, "recurrent", (self._directions, rows, self._hidden)),
            NULL if bias is None else tensor(bias, "bias", (self._directions, 2 * rows)),
            NULL if peephole is None else tensor(peephole, "peephole", (self._directions, 3 * self._hidden)),
        ]
        calls.set_params(lib.SimdnetRecurrentSetParams, handle, *arrays)

    def _compute(self, x: Any, lengths: Any, out: Any, before: dict[str, Any], after: dict[str, Any]) -> Array:
        """before : h0 and c0. after : hn and cn, each of which may be the one before."""
        handle = self._open()
        given: dict[str, Any] = {"src": tensor(x, "x", self._src_shape)}
        sources = {"x": x} | {name: state for name, state in before.items() if state is not None}
        given.update((name, tensor(sources[name], name, self._state_shape)) for name in sources if name != "x")
        for name, state in after.items():
            if state is not None:
                own = f"{name[0]}0"  # which it may replace
                names = [*(n for n in sources if n == own), *(n for n in sources if n != own)]
                arrays = [sources[n] for n in names]
                _, given[name] = output(state, self._state_shape, arrays, tuple(names), own in sources, name)
        result, given["dst"] = output(out, self._dst_shape, list(sources.values()), tuple(sources))
        if lengths is not None and self._batch:
            given["lengths"] = self._lengths_of(lengths)
        if self._batch:
            arguments = ffi.new("SimdnetRecurrentArrays *", given)
            arguments.size = ffi.sizeof("SimdnetRecurrentArrays")
            call_struct(lib.SimdnetRecurrentCompute, handle, arguments, held=given)
        elif self._given is None:
            raise StateError(NO_WEIGHTS)
        return result

    def _lengths_of(self, lengths: Any) -> Any:
        """A C array of the lengths. A prepared call reads the caller's own array each time."""
        array = np.asarray(lengths)
        if array.dtype.kind not in "iu" or array.shape != (self._batch,):
            raise ValueError(f"lengths has dtype {array.dtype} and shape {array.shape}, expected ({self._batch},) integers")
        if is_array(lengths) and calls.is_recorded():
            if array.dtype not in (np.intp, np.uintp):
                raise TypeError(
                    f"lengths has dtype {array.dtype}, expected int64 or uint64, which prepared calls read again each time: "
                    "use lengths.astype(np.int64)"
                )
            return pointer(array, "lengths", INT64, ctype=_SIZES)
        if not (array.min() >= 0 and array.max() <= self._steps):
            raise ValueError(f"lengths is {array.tolist()}, expected numbers of 0 to {self._steps}, the steps of x")
        return ffi.from_buffer(_SIZES, array.astype(np.uintp))


class LSTM(Recurrent):
    """Long short-term memory, as LSTM of ONNX.

    src_shape : (steps, batch, input), or (batch, steps, input) with `batch_first`; or (steps, input).
    hidden : the number of hidden units.
    direction : "forward", "reverse" or "bidirectional", with `directions` of 1, 1 and 2.
    batch_first : whether the batch is the first axis of all arrays.
    activations : F, of the gates, G, of the candidate, and H, of the cell; for both directions, or those of the first and
        then those of the second; None for sigmoid, tanh and tanh, which take less time than others. Each is a name, or a
        tuple of a name and its numbers alpha and beta: "sigmoid", "tanh", "relu", "affine", "leaky_relu",
        "thresholded_relu", "scaled_tanh", "hard_sigmoid", "elu", "softsign" or "softplus". Without numbers it has those of
        the operator of ONNX: ``("hard_sigmoid", 0.2, 0.5)``, ``("leaky_relu", 0.01)``, ``("elu", 1)``.
    clip : bounds the sums, the arguments of F and G, to ``-clip`` and ``clip``; None for no bounds.
    input_forget : whether the forget gate is 1 less the input gate.

    The output has the shape (steps, directions, batch, hidden), a state (directions, batch, hidden); with `batch_first`
    (batch, steps, directions, hidden) and (batch, directions, hidden); without a batch that axis is missing. Raises
    ValueError for other shapes.

    >>> layer = pysimd.LSTM((5, 1, 3), hidden=2)
    >>> layer.set_params(np.ones((1, 8, 3), np.float32), np.ones((1, 8, 2), np.float32))
    >>> layer(np.ones((5, 1, 3), np.float32))[0].round(2)
    array([[[0.7, 0.7]]], dtype=float32)

    Formula: SimdnetRecurrentInit.
    """

    _type = lib.SimdnetRecurrentLstm
    _gates = 4
    _places = 3

    def __init__(
        self,
        src_shape: Shape,
        hidden: int,
        *,
        direction: Direction = "forward",
        batch_first: bool = False,
        activations: Sequence[RecurrentActivation] | None = None,
        clip: float | None = None,
        input_forget: bool = False,
    ) -> None:
        self._input_forget = bool(input_forget)
        options: dict[str, Any] = {"activations": activations, "clip": clip}
        super().__init__(src_shape, hidden, direction=direction, batch_first=batch_first, **options)

    def _options(self) -> dict[str, Any]:
        return {"input_forget": self._input_forget}

    def set_params(
        self,
        weight: Floats | SomeBytes,
        recurrent: Floats | SomeBytes,
        bias: Floats | None = None,
        peephole: Floats | None = None,
        weight_scale: Floats | None = None,
        recurrent_scale: Floats | None = None,
        weight_zero: SomeBytes | None = None,
        recurrent_zero: SomeBytes | None = None,
    ) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : float32 (directions, 4 * hidden, input), the gates in the order of ONNX: input, output, forget, cell.
        recurrent : float32 (directions, 4 * hidden, hidden), likewise.
        bias : float32 (directions, 8 * hidden), that of `weight` and then that of `recurrent`; None for zeros.
        peephole : float32 (directions, 3 * hidden), of the first three gates; None for zeros.

        Weights of bytes, as of DynamicQuantizeLSTM of ONNX Runtime, have scales. They are transposed:

        weight : uint8 or int8 (directions, input, 4 * hidden).
        recurrent : of the same dtype, (directions, hidden, 4 * hidden).
        weight_scale, recurrent_scale : float32 (directions,) or (directions, 4 * hidden).
        weight_zero, recurrent_zero : of the dtype and the shape of weights and scales; None for zeros.

        Inputs and states are quantised in each call: all inputs with one scale, the states of all sequences with one in each
        step; so the results of a sequence depend on the others.

        PyTorch has the gates in another order: ``w.reshape(4, hidden, -1)[[0, 3, 1, 2]].reshape(1, 4 * hidden, -1)`` are the
        numbers of its ``weight_ih_l0`` and ``weight_hh_l0`` in this one, and its biases are reordered likewise. The context
        copies the numbers. Raises TypeError for another dtype, ValueError for another shape.
        """
        scales, zeros = (weight_scale, recurrent_scale), (weight_zero, recurrent_zero)
        if (weight_scale is None) != (recurrent_scale is None):
            raise TypeError("one of weight_scale and recurrent_scale is None, expected both or none")
        if weight_scale is None:
            if weight_zero is not None or recurrent_zero is not None:
                raise TypeError("a zero is given without scales, expected weight_scale and recurrent_scale")
            self._set_params(weight, recurrent, bias, peephole)
        else:
            self._set_bytes(weight, recurrent, bias, peephole, scales, zeros)
        self._given = (weight, recurrent, bias, peephole, *scales, *zeros)

    def _set_bytes(
        self, weight: Any, recurrent: Any, bias: Any, peephole: Any, scales: Sequence[Any], zeros: Sequence[Any]
    ) -> None:
        handle, columns, directions = self._open(), 4 * self._hidden, self._directions
        element = element_of(plain(weight, "weight", UINT8), "weight", (UINT8, INT8))
        given: dict[str, Any] = {
            "W": tensor(weight, "weight", (directions, self._src_shape[-1], columns), element, element.ctype),
            "R": tensor(recurrent, "recurrent", (directions, self._hidden, columns), element, element.ctype),
        }
        each = any(plain(scale, "weight_scale").ndim == 2 for scale in scales)
        shape = (directions, columns) if each else (directions,)
        for side, name, scale, zero in zip("WR", ("weight", "recurrent"), scales, zeros):
            given[f"scale{side}"] = tensor(scale, f"{name}_scale", shape)
            if zero is not None:
                given[f"zero{side}"] = tensor(zero, f"{name}_zero", shape, element, element.ctype)
        if bias is not None:
            given["bias"] = tensor(bias, "bias", (directions, 2 * columns))
        if peephole is not None:
            given["peephole"] = tensor(peephole, "peephole", (directions, 3 * self._hidden))
        arguments = ffi.new("SimdnetRecurrentQuantizedParams *", given)
        arguments.size = ffi.sizeof("SimdnetRecurrentQuantizedParams")
        arguments.type, arguments.perColumn = element.tensor, each
        calls.set_params(lib.SimdnetRecurrentSetQuantizedParams, handle, arguments)

    def forward(
        self,
        x: Floats,
        h0: Floats | None = None,
        c0: Floats | None = None,
        *,
        lengths: Lengths | None = None,
        hn: FloatArray | None = None,
        cn: FloatArray | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Computes the states after all steps.

        x : float32 of ``src_shape``.
        h0, c0 : float32 of ``state_shape``, state and cell before the first step; None for zeros.
        lengths : the steps of each sequence, (batch,) integers; None if all steps are used. States of other steps are 0. An
            array that is given to :func:`prepare` must be int64 or uint64: each call reads it, and refuses wrong lengths.
        hn, cn : float32 of ``state_shape``, to which state and cell after the last step are written; they may be `h0` and
            `c0`.
        out : float32 of ``dst_shape``.

        Raises TypeError for another dtype, ValueError for another shape, :class:`StateError` before :meth:`set_params`.
        """
        return self._compute(x, lengths, out, {"h0": h0, "c0": c0}, {"hn": hn, "cn": cn})

    __call__ = forward


class _WithoutCell(Recurrent):
    """What :class:`GRU` and :class:`RNN` have in common."""

    def forward(
        self,
        x: Floats,
        h0: Floats | None = None,
        *,
        lengths: Lengths | None = None,
        hn: FloatArray | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Computes the states after all steps; see :meth:`LSTM.forward`."""
        return self._compute(x, lengths, out, {"h0": h0}, {"hn": hn})

    __call__ = forward


class GRU(_WithoutCell):
    """Gated recurrent unit, as GRU of ONNX.

    src_shape, hidden, direction, batch_first : as of :class:`LSTM`, with the same shapes of outputs and states.
    linear_before_reset : whether the reset gate is applied after the product with the state, as in PyTorch and cuDNN.
    activations : F, of the gates, and G, of the candidate, as of :class:`LSTM`; None for sigmoid and tanh.
    clip : as of :class:`LSTM`.

    >>> layer = pysimd.GRU((5, 1, 3), hidden=2)
    >>> layer.set_params(np.ones((1, 6, 3), np.float32), np.ones((1, 6, 2), np.float32))
    >>> layer(np.ones((5, 1, 3), np.float32))[-1].round(2)
    array([[[0.19, 0.19]]], dtype=float32)

    Formula: SimdnetRecurrentInit.
    """

    _type = lib.SimdnetRecurrentGru
    _gates = 3
    _places = 2

    def __init__(
        self,
        src_shape: Shape,
        hidden: int,
        *,
        direction: Direction = "forward",
        linear_before_reset: bool = False,
        batch_first: bool = False,
        activations: Sequence[RecurrentActivation] | None = None,
        clip: float | None = None,
    ) -> None:
        self._linear = bool(linear_before_reset)
        options: dict[str, Any] = {"activations": activations, "clip": clip}
        super().__init__(src_shape, hidden, direction=direction, batch_first=batch_first, **options)

    def _options(self) -> dict[str, Any]:
        return {"linear_before_reset": self._linear}

    def set_params(self, weight: Floats, recurrent: Floats, bias: Floats | None = None) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : float32 (directions, 3 * hidden, input), the gates in the order of ONNX: update, reset, hidden.
        recurrent : float32 (directions, 3 * hidden, hidden), likewise.
        bias : float32 (directions, 6 * hidden), that of `weight` and then that of `recurrent`; None for zeros.

        PyTorch has the gates in another order: ``w.reshape(3, hidden, -1)[[1, 0, 2]].reshape(1, 3 * hidden, -1)`` are the
        numbers of its ``weight_ih_l0`` and ``weight_hh_l0`` in this one, and its biases are reordered likewise. The context
        copies the numbers. Raises TypeError for another dtype, ValueError for another shape.
        """
        self._set_params(weight, recurrent, bias, None)
        self._given = weight, recurrent, bias


class RNN(_WithoutCell):
    """A recurrent layer without gates, as RNN of ONNX: the state is ``F(W x + R h + b)``.

    src_shape, hidden, direction, batch_first : as of :class:`LSTM`, with the same shapes of outputs and states.
    activations : F, as of :class:`LSTM`; None for tanh.
    clip : as of :class:`LSTM`.

    >>> layer = pysimd.RNN((5, 1, 3), hidden=2)
    >>> layer.set_params(np.ones((1, 2, 3), np.float32), np.ones((1, 2, 2), np.float32))
    >>> layer(np.full((5, 1, 3), 0.1, np.float32))[-1].round(2)
    array([[[0.98, 0.98]]], dtype=float32)

    Formula: SimdnetRecurrentInit.
    """

    _type = lib.SimdnetRecurrentRnn
    _gates = 1
    _places = 1

    def set_params(self, weight: Floats, recurrent: Floats, bias: Floats | None = None) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : float32 (directions, hidden, input).
        recurrent : float32 (directions, hidden, hidden).
        bias : float32 (directions, 2 * hidden), that of `weight` and then that of `recurrent`; None for zeros.

        The context copies the numbers. Raises TypeError for another dtype, ValueError for another shape.
        """
        self._set_params(weight, recurrent, bias, None)
        self._given = weight, recurrent, bias


def _hidden_of(recurrent: Floats) -> int:
    shape = plain(recurrent, "recurrent").shape
    if len(shape) != 3:
        raise ValueError(f"recurrent has shape {shape}, expected (directions, gates * hidden, hidden)")
    return int(shape[2])


def _computed(kind: type[Any], x: Floats, weights: Sequence[Any], options: Any, *states: Any, **more: Any) -> FloatArray:
    """The states after all steps, by a layer for this call alone; states and more : of its ``forward``."""
    array, _ = floats(x, "x")
    with kind(array.shape, _hidden_of(weights[1]), **options) as layer:
        layer.set_params(*weights)
        found: FloatArray = layer.forward(x, *states, **more)
        return found


def lstm(
    x: Floats,
    weight: Floats,
    recurrent: Floats,
    bias: Floats | None = None,
    peephole: Floats | None = None,
    *,
    h0: Floats | None = None,
    c0: Floats | None = None,
    lengths: Lengths | None = None,
    direction: Direction = "forward",
    batch_first: bool = False,
    activations: Sequence[RecurrentActivation] | None = None,
    clip: float | None = None,
    input_forget: bool = False,
    hn: FloatArray | None = None,
    cn: FloatArray | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Long short-term memory: the states after all steps.

    x : float32, contiguous: (steps, batch, input), or (batch, steps, input) with `batch_first`; or (steps, input).
    weight, recurrent, bias, peephole : as of :meth:`LSTM.set_params`.
    h0, c0, lengths, hn, cn, out : as of :meth:`LSTM.forward`.
    direction, batch_first, activations, clip, input_forget : as of :class:`LSTM`.

    The weights are packed in every call; an :class:`LSTM` packs them once. Raises TypeError for another dtype, ValueError
    for shapes that do not fit.

    >>> x = np.ones((3, 2), np.float32)
    >>> pysimd.lstm(x, np.ones((1, 4, 2), np.float32), np.ones((1, 4, 1), np.float32))[:, 0, 0].round(2)
    array([0.61, 0.87, 0.94], dtype=float32)
    """
    options = {"direction": direction, "batch_first": batch_first, "activations": activations, "clip": clip}
    options["input_forget"] = input_forget
    return _computed(LSTM, x, (weight, recurrent, bias, peephole), options, h0, c0, lengths=lengths, hn=hn, cn=cn, out=out)


def gru(
    x: Floats,
    weight: Floats,
    recurrent: Floats,
    bias: Floats | None = None,
    *,
    h0: Floats | None = None,
    lengths: Lengths | None = None,
    direction: Direction = "forward",
    linear_before_reset: bool = False,
    batch_first: bool = False,
    activations: Sequence[RecurrentActivation] | None = None,
    clip: float | None = None,
    hn: FloatArray | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Gated recurrent unit: the states after all steps.

    x : float32, contiguous: (steps, batch, input), or (batch, steps, input) with `batch_first`; or (steps, input).
    weight, recurrent, bias : as of :meth:`GRU.set_params`.
    h0, lengths, hn, out : as of :meth:`LSTM.forward`.
    direction, linear_before_reset, batch_first, activations, clip : as of :class:`GRU`.

    The weights are packed in every call; a :class:`GRU` packs them once. Raises TypeError for another dtype, ValueError for
    shapes that do not fit.

    >>> x = np.ones((3, 2), np.float32)
    >>> pysimd.gru(x, np.ones((1, 3, 2), np.float32), np.ones((1, 3, 1), np.float32))[:, 0, 0].round(2)
    array([0.11, 0.21, 0.28], dtype=float32)
    """
    options = {"direction": direction, "batch_first": batch_first, "activations": activations, "clip": clip}
    options["linear_before_reset"] = linear_before_reset
    return _computed(GRU, x, (weight, recurrent, bias), options, h0, lengths=lengths, hn=hn, out=out)


def rnn(
    x: Floats,
    weight: Floats,
    recurrent: Floats,
    bias: Floats | None = None,
    *,
    h0: Floats | None = None,
    lengths: Lengths | None = None,
    direction: Direction = "forward",
    batch_first: bool = False,
    activations: Sequence[RecurrentActivation] | None = None,
    clip: float | None = None,
    hn: FloatArray | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """A recurrent layer without gates: the states after all steps.

    x : float32, contiguous: (steps, batch, input), or (batch, steps, input) with `batch_first`; or (steps, input).
    weight, recurrent, bias : as of :meth:`RNN.set_params`.
    h0, lengths, hn, out : as of :meth:`LSTM.forward`.
    direction, batch_first, activations, clip : as of :class:`RNN`.

    The weights are packed in every call; an :class:`RNN` packs them once. Raises TypeError for another dtype, ValueError for
    shapes that do not fit.

    >>> x = np.ones((3, 2), np.float32)
    >>> pysimd.rnn(x, np.ones((1, 1, 2), np.float32), np.ones((1, 1, 1), np.float32), activations=["relu"])[:, 0, 0]
    array([2., 4., 6.], dtype=float32)
    """
    options = {"direction": direction, "batch_first": batch_first, "activations": activations, "clip": clip}
    return _computed(RNN, x, (weight, recurrent, bias), options, h0, lengths=lengths, hn=hn, out=out)
