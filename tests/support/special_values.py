"""Graphs before and after passes, with NaN, infinities, zeros of both signs and denormals in inputs and constants.

Both are computed with the library. NaN must be where NaN is, and infinities must be equal; numbers differ by rounding. What
is not compared is documented in docs/guides/models.md: the signs of zeros, and maxima of windows with NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from network.reference import inputs_of
from pysimd.annotations import Array
from pysimd.network import Graph, Runner

SPECIAL = {
    "nan": (np.nan,),
    "inf": (np.inf,),
    "-inf": (-np.inf,),
    "zeros": (-0.0, 0.0),
    "all": (np.nan, np.inf, -np.inf, -0.0, 0.0),
    "denormals": (1e-42, -1e-42),
}
_PARTS = (0.0, 0.3)  # of all elements; at least one
_TOLERANCE = 1e-4  # relative to the largest number


def with_special(array: Array, kind: str, part: float, seed: int) -> Array:
    """A copy with special values at some places."""
    rng, array = np.random.default_rng(seed), array.copy()
    if array.dtype == np.float32 and array.size:
        places = rng.permutation(array.size)[: max(1, int(part * array.size))]
        array.reshape(-1)[places] = rng.choice(np.array(SPECIAL[kind], np.float32), places.size)
    return array


def feeds(graph: Graph) -> Iterator[tuple[str, dict[str, Array]]]:
    """Inputs of every kind. A window with NaN has an unspecified maximum, and infinities often become NaN."""
    windows = any(node.operator == "MaxPool" for node in graph.nodes)
    for kind in ("zeros", "denormals") if windows else SPECIAL:
        for part in _PARTS:
            yield f"{kind} {part}", {name: with_special(array, kind, part, 1) for name, array in inputs_of(graph).items()}


def with_special_constants(graph: Graph, kind: str, seed: int) -> Graph:
    """Special values in the constants of functions of two tensors, which passes compare with those of formulas."""
    names = {name for node in graph.nodes if node.operator == "Binary" for name in node.inputs if name in graph.constants}
    arrays = {name: with_special(graph.constants[name], kind, 0.3, seed) for name in sorted(names)}
    return graph.replaced(graph.nodes, constants=arrays)


def assert_same(before: Graph, after: Graph) -> None:
    """Both graphs compute the same of special values."""
    first, second = Runner(before), Runner(after)
    with np.errstate(all="ignore"):
        for what, inputs in feeds(before):
            assert_equal(first(inputs), second(inputs), what)


def assert_equal(before: Mapping[str, Array], after: Mapping[str, Array], what: str) -> None:
    """NaN where NaN is, the same infinities, and the same numbers but for rounding."""
    for name, x in before.items():
        y = after[name]
        if x.dtype.kind != "f":
            continue
        np.testing.assert_array_equal(np.isnan(y), np.isnan(x), f"{what}: NaN of {name}")
        infinite, finite = np.isinf(x) | np.isinf(y), np.isfinite(x)
        np.testing.assert_array_equal(y[infinite], x[infinite], f"{what}: infinities of {name}")
        size = np.abs(x[finite]).max(initial=1e-2)
        assert np.abs(x[finite] - y[finite]).max(initial=0) <= _TOLERANCE * size, f"{what}: {name}"
