"""Converters of matrix products, recurrent layers and attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, prod
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.conversion import Conversion, Value, converts, float32_of
from pysimd.network.convert.equations import indices_of
from pysimd.network.open_arrays import spread
from pysimd.network.operators import IDENTITY
from pysimd.network.sizes import broadcast_shapes
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported


@converts("Gemm")
def _gemm(c: Conversion, node: SourceNode) -> None:
    """A known `b` takes alpha, and a bias for each column is part of the layer."""
    alpha, beta = float(c.attribute("alpha", 1.0)), float(c.attribute("beta", 1.0))
    if len(c.shape(0)) != 2 or len(c.shape(1)) != 2:
        raise Unsupported(f"the matrices have shapes {c.shape(0)} and {c.shape(1)}")
    a = c.tensor(0)
    if c.flag("transA"):
        a = c.transpose(a, (1, 0))
    term: Any = c.operand(2) if beta else None
    if term is not None and not isinstance(term, str):
        term = float32_of(term) * np.float32(beta)
    elif term is not None and beta != 1:
        term = c.binary("multiply", term, beta)
    if not c.is_known(1):
        b = c.transpose(c.tensor(1), (1, 0)) if c.flag("transB") else c.tensor(1)
        y = c.add("MatMul", a, b)
        y = y if alpha == 1 else c.binary("multiply", y, alpha)
        return c.give(y if term is None else c.binary("add", y, term))
    weight = float32_of(c.operand(1))
    weight = _scaled(weight.transpose((1, 0)) if c.flag("transB") else weight, alpha)
    n, bias = weight.shape[1], []
    is_known = term is not None and not isinstance(term, str)
    if is_known and prod(term.shape[:-1]) == 1 and term.shape[-1:] in ((), (1,), (n,)):
        bias, term = [c.constant(spread(term.reshape(-1), (n,)))], None
    y = c.add("Linear", a, c.constant(weight), *bias, activation=IDENTITY, order="add")
    return c.give(y if term is None else c.binary("add", y, term))


def _scaled(weight: Array, alpha: float) -> Array:
    return weight if alpha == 1 else weight * np.float32(alpha)


@converts("MatMul", "com.microsoft.FusedMatMul")
def _matmul(c: Conversion, node: SourceNode) -> None:
    a, b = c.operand(0), c.operand(1)
    if a is None or b is None:
        raise Unsupported("an input is missing")
    alpha = 1.0
    if node.op == "FusedMatMul":
        c.require(transBatchA=0, transBatchB=0)
        alpha = float(c.attribute("alpha", 1.0))
        a, b = (_swapped(c, x) if c.flag(name) else x for x, name in ((a, "transA"), (b, "transB")))
    if not isinstance(b, str):
        b, alpha = _scaled(float32_of(b), alpha), 1.0
    y = product(c, a, b)
    c.give(y if alpha == 1 else c.binary("multiply", y, alpha))


def _swapped(c: Conversion, x: Value) -> Value:
    rank = len(c.shape_of(x))
    if rank < 2:
        return x
    order = (*range(rank - 2), rank - 1, rank - 2)
    return c.transpose(x, order) if isinstance(x, str) else x.transpose(order)


def product(c: Conversion, a: Value, b: Value) -> str:
    """As numpy.matmul: a fully connected layer if `b` is a known matrix."""
    first, second = c.shape_of(a), c.shape_of(b)
    if not first or not second:
        raise Unsupported(f"the operands have shapes {first} and {second}")
    matrix_a, matrix_b = first if len(first) > 1 else (1, *first), second if len(second) > 1 else (*second, 1)
    lead = broadcast_shapes(matrix_a[:-2], matrix_b[:-2])
    result = (*lead, *first[-2:-1], *(second[-1:] if len(second) > 1 else ()))
    if matrix_a[-1] != matrix_b[-2]:
        raise Unsupported(f"matrices of shapes {first} and {second} cannot be multiplied")
    x = c.reshape(c.named(a), matrix_a)
    if not isinstance(b, str) and prod(matrix_b[:-2]) == 1:
        y = c.add("Linear", x, c.constant(float32_of(b).reshape(matrix_b[-2:])), activation=IDENTITY, order="add")
    else:
        y = c.add("MatMul", x, c.reshape(c.named(b), matrix_b))
    return c.reshape(y, result)


# ---- sums of products


@converts("Einsum")
def _einsum(c: Conversion, node: SourceNode) -> None:
    """One product after the other."""
    terms, target, sizes = indices_of(str(c.attribute("equation")), [c.shape(i) for i in range(len(node.inputs))])
    x, letters = _operand(c, 0, terms[0], sizes)
    for i, term in enumerate(terms[1:], 1):
        later = set("".join(terms[i + 1 :])) | set(target)
        x, letters = _contracted(c, x, letters, *_operand(c, i, term, sizes), later)
    x, letters = _summed(c, x, letters, set(target))
    c.give(c.transpose(x, [letters.index(letter) for letter in target]))


def _operand(c: Conversion, i: int, letters: str, sizes: Mapping[str, int]) -> tuple[str, str]:
    """Input i with each index once: of one that is there twice the diagonal, and without those that are broadcast."""
    x, shape = c.tensor(i), c.shape(i)
    kept = [place for place, letter in enumerate(letters) if shape[place] == sizes[letter]]
    x, letters = c.reshape(x, [shape[place] for place in kept]), "".join(letters[place] for place in kept)
    while len(set(letters)) < len(letters):
        letter = next(letter for letter in letters if letters.count(letter) > 1)
        pair = [letters.index(letter), letters.rindex(letter)]
        others = [place for place in range(len(letters)) if place not in pair]
        x, n = c.transpose(x, [*others, *pair]), sizes[letter]
        lead = c.builder.shape(x)[:-2]
        starts, steps = (0,) * (len(lead) + 1), (*(1,) * len(lead), n + 1)
        x = c.add("Slice", c.reshape(x, (*lead, n * n)), starts=starts, steps=steps, sizes=(*lead, n))
        letters = "".join(letters[place] for place in others) + letter
    return x, letters


def _contracted(c: Conversion, a: str, of_a: str, b: str, of_b: str, later: set[str]) -> tuple[str, str]:
    """The product of two operands, summed over indices that nothing needs any more; and the indices of the result."""
    a, of_a = _summed(c, a, of_a, set(of_b) | later)
    b, of_b = _summed(c, b, of_b, set(of_a) | later)
    sizes = dict(zip(of_a + of_b, (*c.builder.shape(a), *c.builder.shape(b))))
    both = [letter for letter in of_a if letter in of_b]
    batch, inner = ([letter for letter in both if (letter in later) == kept] for kept in (True, False))
    rows, columns = ([letter for letter in own if letter not in both] for own in (of_a, of_b))

    def matrices(x: str, letters: str, parts: Sequence[Sequence[str]]) -> str:
        x = c.transpose(x, [letters.index(letter) for part in parts for letter in part])
        return c.reshape(x, [*(sizes[letter] for letter in parts[0]), *(prod(sizes[k] for k in part) for part in parts[1:])])

    y = c.add("MatMul", matrices(a, of_a, (batch, rows, inner)), matrices(b, of_b, (batch, inner, columns)))
    result = [*batch, *rows, *columns]
    return c.reshape(y, [sizes[letter] for letter in result]), "".join(result)


def _summed(c: Conversion, x: str, letters: str, needed: set[str]) -> tuple[str, str]:
    gone = [place for place, letter in enumerate(letters) if letter not in needed]
    if not gone:
        return x, letters
    return c.reduce(x, "sum", gone, False), "".join(letter for letter in letters if letter in needed)


# ---- recurrent layers


#: The activations of recurrent layers: their names in ONNX and in pysimd.
_ACTIVATIONS = {
    "affine": "affine",
    "elu": "elu",
    "hardsigmoid": "hard_sigmoid",
    "leakyrelu": "leaky_relu",
    "relu": "relu",
    "scaledtanh": "scaled_tanh",
    "sigmoid": "sigmoid",
    "softplus": "softplus",
    "softsign": "softsign",
    "tanh": "tanh",
    "thresholdedrelu": "thresholded_relu",
}


def _activations(c: Conversion, usual: Sequence[str], count: int) -> dict[str, object]:
    """The activations of all directions, if they are not the usual ones. Each takes its numbers from the lists in turn."""
    names, own = [str(name).lower() for name in c.attribute("activations", None) or usual], [name.lower() for name in usual]
    if names in (own, own * 2):
        return {}
    if len(names) != len(usual) * count or not set(names) <= set(_ACTIVATIONS):
        raise Unsupported(f"activations are {names}, supported are {len(usual) * count} of {', '.join(_ACTIVATIONS)}")
    lists = [iter(c.attribute(name, None) or ()) for name in ("activation_alpha", "activation_beta")]
    from pysimd.recurrent import activation_of  # here, as few models need it

    found = []
    for name in names:
        known, *defaults = activation_of(_ACTIVATIONS[name])
        found.append((known, *(float(next(given, value)) for given, value in zip(lists, defaults))))
    if not all(isfinite(value) for _, *values in found for value in values):
        raise Unsupported(f"activations are {found}, expected finite numbers")
    return {"activations": tuple(found)}


def _recurrent(
    c: Conversion, usual: Sequence[str], gates: int, of: Callable[[Array], Array] = float32_of
) -> tuple[dict[str, object], list[str]]:
    """The attributes of a recurrent layer, and its inputs up to the states.

    of : takes the weights; those that are not of floats are transposed.
    """
    direction = c.option("direction", "forward", ("forward", "reverse", "bidirectional"))
    count = 2 if direction == "bidirectional" else 1
    more = _activations(c, usual, count)
    clip = float(c.attribute("clip", 0.0))
    if not (clip >= 0 and isfinite(clip)):
        raise Unsupported(f"clip is {clip}, expected a finite number of at least 0")
    if clip:
        more["clip"] = clip
    weight, recurrent = (of(c.known(i, what)) for i, what in ((1, "the weight"), (2, "the recurrent weight")))
    columns = -1 if of is not float32_of else 1
    hidden = recurrent.shape[-columns]
    shapes = recurrent.shape, (*weight.shape[:1], weight.shape[columns])
    if len(weight.shape) != 3 or shapes != ((count, *(gates * hidden, hidden)[::columns]), (count, gates * hidden)):
        raise Unsupported(f"the weights have shapes {weight.shape} and {recurrent.shape}")
    first = c.flag("layout")
    bias = c.constant(c.known(3, "the bias")) if c.has(3) else ""
    inputs = [c.tensor(0), c.constant(weight), c.constant(recurrent), bias, _lengths(c, c.shape(0)[1 if first else 0])]
    return {"hidden": hidden, "direction": direction, "batch_first": first, **more}, inputs


def _lengths(c: Conversion, steps: int) -> str:
    """The lengths of sequences; none if they are known to be all steps."""
    if not c.has(4):
        return ""
    if c.is_known(4):
        known = c.known(4)
        if (known == steps).all():
            return ""
        if known.min() < 0 or known.max() > steps:
            raise Unsupported(f"sequence_lens is {known.tolist()}, expected numbers of 0 to {steps}")
    return c.indices(4)


def _state(c: Conversion, i: int) -> str:
    """A state before the first step; none if it is known to be 0."""
    return "" if not c.has(i) or (c.is_known(i) and not c.operand(i).any()) else c.tensor(i)


@converts("LSTM", any_type=True)
def _lstm(c: Conversion, node: SourceNode) -> None:
    options, inputs = _recurrent(c, ("Sigmoid", "Tanh", "Tanh"), 4)
    c.give(*c.add_all("Lstm", *inputs, *_of_lstm(c, options), **options))


def _of_lstm(c: Conversion, options: dict[str, object]) -> list[str]:
    """Its inputs behind those of all recurrent layers; its own attribute."""
    if c.flag("input_forget"):
        options["input_forget"] = True
    if c.has(7) and not c.is_known(7):
        raise Unsupported("the peephole weights are computed at run time")
    peephole = c.constant(c.known(7)) if c.has(7) and c.known(7).any() else ""
    return [_state(c, 5), _state(c, 6), peephole]


@converts("com.microsoft.DynamicQuantizeLSTM", any_type=True)
def _lstm_of_bytes(c: Conversion, node: SourceNode) -> None:
    options, inputs = _recurrent(c, ("Sigmoid", "Tanh", "Tanh"), 4, _bytes_of)
    directions, _, columns = c.known(1).shape
    terms = []
    for i, what in ((8, "the scale of W"), (10, "the scale of R"), (9, "the zero point of W"), (11, "the zero point of R")):
        if i in (9, 11) and not c.has(i):
            terms.append("")
            continue
        values = c.known(i, what)
        expected = c.known(1).dtype if i in (9, 11) else np.dtype(np.float32)
        if values.size not in (directions, directions * columns) or values.dtype != expected:
            raise Unsupported(
                f"{what} is {values.dtype} of shape {values.shape}, expected {expected} of each direction or column"
            )
        terms.append(c.constant(values.reshape(directions, -1)))
    c.give(*c.add_all("ByteLstm", *inputs, *_of_lstm(c, options), *terms, **options))


def _bytes_of(weight: Array) -> Array:
    if weight.dtype not in (np.uint8, np.int8):
        raise Unsupported(f"a weight has type {weight.dtype}, supported are uint8 and int8")
    return weight


@converts("GRU", any_type=True)
def _gru(c: Conversion, node: SourceNode) -> None:
    options, inputs = _recurrent(c, ("Sigmoid", "Tanh"), 3)
    before = c.flag("linear_before_reset")
    c.give(*c.add_all("Gru", *inputs, _state(c, 5), linear_before_reset=before, **options))


@converts("RNN", any_type=True)
def _rnn(c: Conversion, node: SourceNode) -> None:
    options, inputs = _recurrent(c, ("Tanh",), 1)
    c.give(*c.add_all("Rnn", *inputs, _state(c, 5), **options))
