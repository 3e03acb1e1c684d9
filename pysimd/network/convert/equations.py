"""The equations of Einsum."""

from __future__ import annotations

from collections.abc import Sequence

from pysimd.annotations import Shape

_DOTS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def indices_of(equation: str, shapes: Sequence[Shape]) -> tuple[list[str], str, dict[str, int]]:
    """The indices of each operand and of the result, and the size of each index.

    Dots become digits, the same ones from the last dimension on. Raises ValueError for an equation that is wrong, or that
    does not fit the shapes.
    """
    left, arrow, target = equation.replace(" ", "").replace("...", ".").partition("->")
    terms, allowed = left.split(","), set(_LETTERS + ".")
    wrong = any(set(term) - allowed or term.count(".") > 1 for term in (*terms, target))
    if wrong or equation.count(".") != 3 * (left + target).count(".") or len(terms) != len(shapes):
        raise ValueError(f"the equation {equation!r} does not have {len(shapes)} operands")
    counts = [len(shape) - len(term.replace(".", "")) for term, shape in zip(terms, shapes)]
    if any(count < 0 or (count and "." not in term) for term, count in zip(terms, counts)) or max(counts) > 10:
        raise ValueError(f"the equation {equation!r} does not fit the shapes {' and '.join(map(str, shapes))}")
    if not arrow:
        target = "." + "".join(letter for letter in sorted(set(left) & set(_LETTERS)) if left.count(letter) == 1)
    target = target.replace(".", _DOTS[10 - max(counts) :])
    terms = [term.replace(".", _DOTS[10 - count :]) for term, count in zip(terms, counts)]
    if len(set(target)) != len(target) or not set(target) <= set("".join(terms)):
        raise ValueError(f"the equation {equation!r} repeats an index in its result, or has one that is in no operand")
    return terms, target, _sizes(terms, shapes)


def _sizes(terms: Sequence[str], shapes: Sequence[Shape]) -> dict[str, int]:
    """The size of each index; 1 is broadcast."""
    found: dict[str, list[int]] = {}
    for term, shape in zip(terms, shapes):
        for letter, n in zip(term, shape):
            several = found.setdefault(letter, [])
            if n not in several:  # by comparison: sizes may be open
                several.append(n)
    for letter, several in found.items():
        if len([n for n in several if n != 1]) > 1:
            raise ValueError(f"the index {letter!r} has the sizes {' and '.join(map(str, sorted(several)))}")
    return {letter: next((n for n in several if n != 1), 1) for letter, several in found.items()}
