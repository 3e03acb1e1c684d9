"""Small decoders with a cache, as exporters write those of GPT-2 and Whisper, with random weights.

Each takes the tokens of a step and the keys and values of all steps before it, and returns those of the next step too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from pysimd.annotations import Array

LAYERS, HEADS, DEPTH, WORDS = 2, 4, 8, 53
WIDTH = HEADS * DEPTH
LONGEST = 256  # tokens
LENGTH = 12  # of the sound that Whisper listens to
_LOWEST = float(np.finfo(np.float32).min)


class _Maker:
    """Adds nodes; each method returns the name of its result."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: dict[str, Array] = {}

    def constant(self, array: Any, dtype: Any = np.int64) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(array, dtype)
        return name

    def number(self, value: float) -> str:
        return self.constant(value, np.float32)

    def weight(self, *shape: int) -> str:
        return self.constant(self._random.standard_normal(shape) / shape[0] ** 0.5, np.float32)

    def add(self, op: str, *inputs: str, outputs: Sequence[str] = (), **attributes: Any) -> str:
        names = list(outputs) or [f"t{len(self.nodes)}"]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0]

    def size(self, x: str, axis: int) -> str:
        """One size of a tensor, as a number."""
        return self.add("Gather", self.add("Shape", x), self.constant(axis), axis=0)

    def vector(self, *numbers: str | int) -> str:
        """Numbers, or names of such, as a vector."""
        parts = [self.add("Unsqueeze", n, self.constant([0])) if isinstance(n, str) else self.constant([n]) for n in numbers]
        return self.add("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]

    def linear(self, x: str, width: int, of: int) -> str:
        return self.add("Add", self.add("MatMul", x, self.weight(of, width)), self.weight(width))

    def rows(self, x: str, width: int, of: int) -> str:
        """The same for GPT-2, whose exporters make a matrix of all tokens."""
        y = self.add("Gemm", self.add("Reshape", x, self.constant([-1, of])), self.weight(of, width), self.weight(width))
        return self.add("Reshape", y, self.vector(self.size(x, 0), self.size(x, 1), width))

    def normalised(self, x: str) -> str:
        """By the operators of which exporters before opset 17 make a layer normalisation."""
        centred = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        variance = self.add("ReduceMean", self.add("Pow", centred, self.number(2)), axes=[-1])
        y = self.add("Div", centred, self.add("Sqrt", self.add("Add", variance, self.number(1e-5))))
        return self.add("Add", self.add("Mul", y, self.weight(WIDTH)), self.weight(WIDTH))

    def heads(self, x: str) -> str:
        """(N, tokens, width) as (N, heads, tokens, depth)."""
        shape = self.vector(self.size(x, 0), self.size(x, 1), HEADS, DEPTH)
        return self.add("Transpose", self.add("Reshape", x, shape), perm=[0, 2, 1, 3])

    def joined(self, x: str) -> str:
        """The reverse."""
        y = self.add("Transpose", x, perm=[0, 2, 1, 3])
        return self.add("Reshape", y, self.vector(self.size(y, 0), self.size(y, 1), WIDTH))

    def cache(self, name: str, new: str) -> str:
        """The keys or values of all steps until now."""
        past, present = f"past.{name}", f"present.{name}"
        return self.add("Concat", past, new, outputs=[present], axis=2)

    def scores(self, queries: str, keys: str) -> str:
        product = self.add("MatMul", queries, self.add("Transpose", keys, perm=[0, 1, 3, 2]))
        return self.add("Div", product, self.number(DEPTH**0.5))

    def model(self, tokens: Sequence[Any], others: Sequence[str] = ()) -> Any:
        """With the cache among its inputs and outputs.

        others : keys and values of another length that do not change.
        """
        cache = [f"{i}.{kind}" for i in range(LAYERS) for kind in ("key", "value")]
        named = {**dict.fromkeys([f"past.{name}" for name in cache], "P"), **dict.fromkeys(others, "L")}
        inputs = [helper.make_tensor_value_info(name, 1, ("N", HEADS, length, DEPTH)) for name, length in named.items()]
        outputs = [helper.make_tensor_value_info("logits", 1, ("N", "S", WORDS))]
        outputs += [helper.make_tensor_value_info(f"present.{name}", 1, ("N", HEADS, "P + S", DEPTH)) for name in cache]
        weights = [numpy_helper.from_array(array, name) for name, array in self.weights.items()]
        graph = helper.make_graph(self.nodes, "decoder", [*tokens, *inputs], outputs, weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def gpt2(seed: int = 1) -> Any:
    """Positions, and the mask of later tokens, follow from the size of the cache; the mask of padding is an input.

    The inputs are tokens (N, S), mask (N, P + S), past.I.key and past.I.value (N, heads, P, depth).
    """
    m = _Maker(seed)
    table = m.weight(WORDS, WIDTH)
    before, count = m.size("past.0.key", 2), m.size("tokens", 1)
    positions = m.add("Range", before, m.add("Add", before, count), m.constant(1))
    positions = m.add("Gather", m.weight(LONGEST, WIDTH), m.add("Unsqueeze", positions, m.constant([0])))
    x = m.add("Add", m.add("Gather", table, "tokens"), positions)
    padding = m.add("Cast", m.add("Unsqueeze", "mask", m.constant([1, 2])), to=1)
    padding = m.add("Mul", m.add("Sub", m.number(1), padding), m.number(_LOWEST))
    earlier = m.constant(np.tri(LONGEST)[None, None], bool)
    for i in range(LAYERS):
        m.add("Split", m.rows(m.normalised(x), 3 * WIDTH, WIDTH), outputs=[f"q{i}", f"k{i}", f"v{i}"], axis=2)
        keys, values = m.cache(f"{i}.key", m.heads(f"k{i}")), m.cache(f"{i}.value", m.heads(f"v{i}"))
        queries = m.heads(f"q{i}")
        length, new = m.size(keys, 2), m.size(queries, 2)
        seen = m.add("Slice", earlier, m.vector(m.add("Sub", length, new)), m.vector(length), m.constant([2]))
        seen = m.add("Slice", seen, m.constant([0]), m.vector(length), m.constant([3]))
        scores = m.add("Add", m.add("Where", seen, m.scores(queries, keys), m.number(_LOWEST)), padding)
        y = m.add("MatMul", m.add("Softmax", scores, axis=-1), values)
        x = m.add("Add", m.rows(m.joined(y), WIDTH, WIDTH), x)
        inner = _gelu_by_tanh(m, m.rows(m.normalised(x), 4 * WIDTH, WIDTH))
        x = m.add("Add", x, m.rows(inner, WIDTH, 4 * WIDTH))
    m.add("MatMul", m.normalised(x), m.add("Transpose", table, perm=[1, 0]), outputs=["logits"])
    return m.model([helper.make_tensor_value_info(*of) for of in (("tokens", 7, ("N", "S")), ("mask", 7, ("N", "P + S")))])


def _gelu_by_tanh(m: _Maker, x: str) -> str:
    inner = m.add("Add", x, m.add("Mul", m.number(0.044715), m.add("Pow", x, m.number(3))))
    inner = m.add("Tanh", m.add("Mul", m.number((2 / np.pi) ** 0.5), inner))
    return m.add("Mul", m.add("Mul", m.number(0.5), x), m.add("Add", m.number(1), inner))


def whisper(seed: int = 2) -> Any:
    """Positions are rows of a table; the mask of later tokens is made of numbers; keys and values of the sound stay.

    The inputs are tokens (N, S), past.I.key and past.I.value (N, heads, P, depth), sound.I.key and sound.I.value.
    """
    m = _Maker(seed)
    table = m.weight(WORDS, WIDTH)
    before, count = m.size("past.0.key", 2), m.size("tokens", 1)
    ends = m.vector(before), m.vector(m.add("Add", before, count)), m.constant([0])
    x = m.add("Add", m.add("Gather", table, "tokens"), m.add("Slice", m.weight(LONGEST, WIDTH), *ends))
    mask = _mask_of_later(m, before, count)
    for i in range(LAYERS):
        y = m.normalised(x)
        queries, key, value = (m.heads(m.linear(y, WIDTH, WIDTH)) for _ in range(3))
        keys, values = m.cache(f"{i}.key", key), m.cache(f"{i}.value", value)
        weights = m.add("Softmax", m.add("Add", m.scores(queries, keys), mask), axis=-1)
        x = m.add("Add", x, m.linear(m.joined(m.add("MatMul", weights, values)), WIDTH, WIDTH))
        queries = m.heads(m.linear(m.normalised(x), WIDTH, WIDTH))
        weights = m.add("Softmax", m.scores(queries, f"sound.{i}.key"), axis=-1)
        x = m.add("Add", x, m.linear(m.joined(m.add("MatMul", weights, f"sound.{i}.value")), WIDTH, WIDTH))
        inner = m.linear(m.normalised(x), 4 * WIDTH, WIDTH)
        gate = m.add("Add", m.add("Erf", m.add("Div", inner, m.number(2**0.5))), m.number(1))
        inner = m.add("Mul", m.add("Mul", inner, gate), m.number(0.5))
        x = m.add("Add", x, m.linear(inner, WIDTH, 4 * WIDTH))
    m.add("MatMul", m.normalised(x), m.add("Transpose", table, perm=[1, 0]), outputs=["logits"])
    sound = [f"sound.{i}.{kind}" for i in range(LAYERS) for kind in ("key", "value")]
    return m.model([helper.make_tensor_value_info("tokens", 7, ("N", "S"))], sound)


def _mask_of_later(m: _Maker, before: str, count: str) -> str:
    """The lowest number where a token would see a later one, else 0, (N, 1, S, P + S)."""
    places = m.add("Range", m.constant(0), count, m.constant(1))
    below = m.add("Reshape", m.add("Add", places, m.constant(1)), m.vector(count, 1))
    mask = m.add("Expand", m.number(_LOWEST), m.vector(count, count))
    mask = m.add("Where", m.add("Less", places, below), m.number(0), mask)
    zero = numpy_helper.from_array(np.zeros(1, np.float32))
    mask = m.add("Concat", m.add("ConstantOfShape", m.vector(count, before), value=zero), mask, axis=-1)
    shape = m.vector(m.size("tokens", 0), 1, count, m.add("Add", before, count))
    return m.add("Expand", m.add("Unsqueeze", mask, m.constant([0, 1])), shape)
