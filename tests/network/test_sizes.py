"""Sizes that are open: formulas have the values of the same arithmetic on numbers, and every answer that depends on the
example is a condition."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pysimd.network.open_arrays import opened, release
from pysimd.network.sizes import Sizes, array_of, broadcast_shapes, fixed, is_open

EXAMPLES = {"N": 2, "W": 320}


def conditions_of(compute: Callable[[Any, Any], Any]) -> tuple[Any, list[str]]:
    sizes = Sizes(EXAMPLES)
    return compute(sizes["N"], sizes["W"]), sizes.conditions


@pytest.mark.parametrize(
    ("compute", "answer", "conditions"),
    [
        (lambda n, w: w == 320, True, ["-320 + W == 0"]),
        (lambda n, w: w > 7, True, ["-7 + W > 0"]),
        (lambda n, w: w < n, False, ["-1*N + W >= 0"]),
        (lambda n, w: bool(w), True, ["W != 0"]),
        (lambda n, w: int(w), 320, ["-320 + W == 0"]),
        (lambda n, w: [*range(n)], [0, 1], ["-2 + N == 0"]),
        (lambda n, w: {w: 1}[320], 1, ["-320 + W == 0"]),
        (lambda n, w: np.array([n, 3], np.int64).tolist(), [2, 3], ["-2 + N == 0"]),
        (lambda n, w: w / 2, 160.0, ["-320 + W == 0"]),
        (lambda n, w: w**0.5 < 18, True, ["-320 + W == 0"]),
        (lambda n, w: w < 320.5, True, ["-320 + W == 0"]),
        (lambda n, w: n * w * 8 == 8 * w * n, True, []),
        (lambda n, w: w + 1 > w, True, []),
        (lambda n, w: (w + 3) // 4 == (w + 3) // 4, True, []),
        (lambda n, w: n * w * 64 // (8 * w) == 8 * n, True, ["W != 0"]),
        (lambda n, w: w == "W", False, []),
    ],
)
def test_answers_are_conditions(compute: Callable[[Any, Any], Any], answer: Any, conditions: list[str]) -> None:
    assert conditions_of(compute) == (answer, conditions)


OPERATORS = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, min, max)


def random_formula(random: np.random.Generator) -> Callable[[Any, Any], Any]:
    """Some operations on the two dimensions, on numbers, and on earlier results."""
    steps = [(OPERATORS[random.integers(len(OPERATORS))], *random.integers(0, 12, 2).tolist()) for _ in range(8)]

    def compute(n: Any, w: Any) -> list[Any]:
        values = [n, w, 1, 2, 3, 5]
        for function, a, b in steps:
            if (
                a < len(values)
                and b < len(values)
                and not (function in (operator.floordiv, operator.mod) and values[b] == 0)
            ):
                values.append(function(values[a], values[b]))
        return values[6:]

    return compute


def test_formulas_have_the_values_of_numbers() -> None:
    """Where the conditions hold; of the formulas with conditions, some are tried where they do not."""
    random = np.random.default_rng(1)
    held = refused = 0
    for _ in range(400):
        compute = random_formula(random)
        sizes = Sizes(EXAMPLES)
        found = compute(sizes["N"], sizes["W"])
        resolve, hold = sizes.resolver([tuple(found)]), sizes.conditions_hold()
        assert hold(2, 320)
        for n, w in random.integers(0, 400, (20, 2)).tolist():
            if hold(n, w):
                assert resolve(n, w) == [tuple(compute(n, w))]
                held += 1
            else:
                refused += 1
    assert held > 1000 and refused > 1000


def test_resolved_values_keep_their_form() -> None:
    sizes = Sizes({"W": 8})
    w = sizes["W"]
    value = {"pads": ((0, w), [1, w - 3]), "mode": "constant", "size": w // 3, "scale": (0.1, 2)}
    assert sizes.resolver([value, (w,), (), "text"])(10) == [
        {"pads": ((0, 10), [1, 7]), "mode": "constant", "size": 3, "scale": (0.1, 2)}, (10,), (), "text",
    ]  # fmt: skip


def test_sizes_of_other_plans_are_refused() -> None:
    a, b = Sizes({"W": 8}), Sizes({"W": 8})
    with pytest.raises(ValueError, match="different plans"):
        a["W"] + b["W"]
    with pytest.raises(ValueError, match="another plan"):
        a.resolver([(b["W"],)])


def test_a_quotient_of_a_size_that_can_be_0() -> None:
    sizes = Sizes(EXAMPLES)
    assert repr(7 * sizes["N"] // sizes["W"]) == "((7*N) // (W))"
    hold = sizes.conditions_hold()
    assert hold(1, 1) and not hold(1, 0)
    with pytest.raises(ZeroDivisionError):
        sizes["N"] // (sizes["W"] - 320)


def test_shapes() -> None:
    sizes = Sizes(EXAMPLES)
    n, w = sizes["N"], sizes["W"]
    assert broadcast_shapes((n, 1, 5), (w, 1)) == (n, w, 5)
    array = array_of([1, w])
    assert is_open(array) and fixed(array, "int32").tolist() == [1, 320] and array_of([1, 2]).dtype == np.int64
    with pytest.raises(ValueError, match="cannot be broadcast"):
        broadcast_shapes((3, w), (2, w))


def test_dimensions_that_are_likely_to_be_equal() -> None:
    """They are one size if they are equal in the example, which is a condition then; nothing is said of others."""
    sizes = Sizes({"a": 4, "b": 4, "c": 5}, [["a", "b", "c"]])
    assert sizes["a"] is sizes["b"] and sizes["c"] is not sizes["a"]
    holds = sizes.conditions_hold()
    assert holds(7, 7, 3) and holds(7, 7, 7) and not holds(7, 6, 5) and len(sizes.conditions) == 1


def test_equal_functions_of_sizes_are_computed_once() -> None:
    sizes = Sizes({"n": 4, "m": 3})
    n, m = sizes["n"], sizes["m"]
    first, second = ((opened(np.array([n, m + 1], object)) * 2).reshape(2, 1) for _ in range(2))
    other = (opened(np.array([n, m + 2], object)) * 2).reshape(2, 1)
    assert first is second and other is not first
    np.testing.assert_array_equal(other.at((5, 7)), [[10], [18]])
    release([first])
    assert (opened(np.array([n, m + 1], object)) * 2).reshape(2, 1) is not first
