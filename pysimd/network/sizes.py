"""Sizes that are open: dimensions of which a plan knows the formula, not the number.

A :class:`Size` stands for a number in shapes and attributes. It has a formula, a polynomial of the open dimensions with
whole coefficients, and the number that it has in the example for which the plan is made. Arithmetic builds formulas. A
comparison is answered by the example and recorded as a condition of the plan; one whose answer follows from the formulas is
not. A Size is no ``int``: where a plain number is needed (``int()``, an index, an array of integers, a key of a mapping),
the condition is that the size is that of the example. So a size that gets lost in some code makes a plan serve
fewer shapes, never compute wrong ones.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import gcd, prod
from typing import Any, Union

import numpy as np

from pysimd.annotations import Array

# A product of atoms, each a number in `Sizes`; a formula is a sum of such products with their coefficients.
_Product = tuple[int, ...]
_Formula = tuple[tuple[_Product, int], ...]
_Operand = Union["Size", int]
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Sizes:
    """The open dimensions of one plan, and the conditions on which it holds.

    examples : the names of the dimensions, with the sizes for which the plan is made.
    alike : groups of dimensions that are likely to be equal; if they are so in the example, this is a condition, and they
        are one size: a decoder has two caches for each layer, and computes equal masks for all.
    computed : the arrays of which elements are sizes, or attributes.
    """

    def __init__(self, examples: Mapping[str, int], alike: Iterable[Sequence[str]] = ()) -> None:
        self.names = tuple(examples)
        self._texts: list[str] = []  # of atoms, by other atoms
        self._values: list[int] = []
        self._atoms: dict[Any, int] = {}
        self._conditions: dict[tuple[_Formula, str], None] = {}
        self._of: dict[str, Size] = {}
        self.computed: list[Computed] = []
        self.made: dict[Any, Any] = {}  # arrays by what computes them, while a plan is made
        self._found: tuple[tuple[int, ...], dict[Any, Any]] = ((), {})
        for name, value in examples.items():
            self._of[name] = Size(self, {(self._atom(name, name, value),): 1})
        for first, *others in alike:
            for name in others:
                if examples[name] == examples[first] and self._of[name] == self._of[first]:  # which is a condition
                    self._of[name] = self._of[first]

    def __getitem__(self, name: str) -> Size:
        return self._of[name]

    @property
    def conditions(self) -> list[str]:
        """What must be true of the dimensions, as expressions of Python."""
        return [f"{self._shown(dict(formula))} {sign} 0" for formula, sign in self._conditions]

    def conditions_hold(self) -> Callable[..., bool]:
        """A function of the dimensions, in their order: whether all conditions hold."""
        tests = [f"{_expression(dict(formula))} {sign} 0" for formula, sign in self._conditions]
        plain = [text for text in tests if not self._reads_arrays(text)]
        of_formulas, of_arrays = (
            self._compiled([*(f" if not {test}: return False" for test in some), " return True"])
            for some in (plain, [test for test in tests if test not in plain])
        )

        def hold(*values: int) -> bool:
            try:
                return bool(of_formulas(*values) and of_arrays(*values))
            except MemoryError:
                raise
            except Exception:  # of a function of the user, or of an array that these sizes do not have
                return False

        return hold

    def element(self, array: Computed, place: int, value: int) -> Size:
        """An element of an array of integers that is computed from the sizes, with its number in the example."""
        text = f"int({self._call_of(array)}.flat[{place}])"
        return Size(self, {(self._atom(("element", id(array), place), text, value),): 1})

    def found(self, values: Sequence[int]) -> dict[Any, Any]:
        """What is computed already for these sizes of the open dimensions, in their order; nothing for others is kept."""
        if self._found[0] != tuple(values):
            self._found = tuple(values), {}
        return self._found[1]

    def forget(self) -> None:
        """Releases what :meth:`found` returns."""
        self._found = (), {}

    def _call_of(self, array: Computed) -> str:
        """What computes an array, as an expression of Python."""
        if not any(each is array for each in self.computed):
            self.computed.append(array)
        number = next(i for i, each in enumerate(self.computed) if each is array)
        return f"computed[{number}].at(values)"

    def resolver(self, values: Sequence[Any]) -> Callable[..., list[Any]]:
        """A function of the dimensions, in their order: these shapes or attributes, with numbers in place of sizes."""
        kept: list[Any] = []

        def text(value: Any) -> str:
            if isinstance(value, Size):
                if value.owner is not self:
                    raise ValueError("a size is that of another plan")
                return _expression(value.terms)
            if isinstance(value, Computed):
                return f"{self._call_of(value)}.item()"
            if not sizes_in(value):
                kept.append(value)
                return f"kept[{len(kept) - 1}]"
            if isinstance(value, Mapping):
                return "{" + ", ".join(f"{name!r}: {text(each)}" for name, each in value.items()) + "}"
            inner = ", ".join(map(text, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner},)"

        return self._compiled([" return [", *(f"  {text(value)}," for value in values), " ]"], kept)

    def definitions_in_c(
        self, lines: Iterable[str], real: bool = False, element: Callable[[Computed, int], str] | None = None
    ) -> list[str]:
        """The definitions of the variables that these lines use: formulas of :func:`in_c`.

        real : whether they are numbers of double, with other names, and not whole ones.
        element : writes an element of an array, by its place, as a number.
        """
        needed = self._needed(*lines, letter="d" if real else "a")
        kind, letter, quotient = ("double", "d", "real_quotient") if real else ("int64_t", "a", "quotient")
        found = [f"const {kind} {letter}{i} = ({kind})m->sizes[{i}];" for i in range(len(self.names))]
        for i, key in [*enumerate(self._atoms)][len(self.names) :]:
            if i not in needed:
                found.append("")
            elif key[0] == "element" and element is not None:
                array = next(each for each in self.computed if id(each) == key[1])
                found.append(f"const {kind} {letter}{i} = ({kind}){element(array, key[2])};")
            else:
                dividend, divisor = (in_c(dict(formula), letter) for formula in key[1:])
                found.append(f"const {kind} {letter}{i} = {quotient}({dividend}, {divisor});")
        return [found[i] for i in sorted(needed)]

    def conditions_in_c(self, of_arrays: bool) -> list[tuple[str, str]]:
        """The conditions in C, and for people: those on elements of arrays, or the others.

        Those with numbers beyond those of C are left out: any sizes of tensors meet them if the example does.
        """
        return [
            (f"{in_c(dict(formula))} {sign} 0", f"{self._shown(dict(formula))} {sign} 0")
            for formula, sign in self._conditions
            if all(abs(n) < 1 << 62 for _, n in formula) and self._reads_arrays(_expression(dict(formula))) == of_arrays
        ]

    def _reads_arrays(self, text: str) -> bool:
        return any("computed" in self._texts[i] for i in self._needed(text))

    def _compiled(self, lines: Sequence[str], kept: Sequence[Any] = ()) -> Callable[..., Any]:
        """A function of the dimensions, after the definitions of the atoms in it. Its text has no words but ours: dimensions
        and attributes have numbers in it, and names of attributes are those of our operators."""
        definitions = [f" a{i} = {self._texts[i]}" for i in sorted(self._needed(*lines)) if i >= len(self.names)]
        arguments = "".join(f"a{i}, " for i in range(len(self.names)))
        names: dict[str, Any] = {"kept": tuple(kept), "computed": self.computed}
        exec("\n".join(["def function(*values):", f" ({arguments}) = values", *definitions, *lines]), names)
        return names["function"]  # type: ignore[no-any-return]

    def _needed(self, *lines: str, letter: str = "a") -> set[int]:
        """The atoms in some text, where their names begin with this letter, and those in their definitions."""
        needed = {int(number) for line in lines for number in re.findall(rf"\b{letter}(\d+)\b", line)}
        left = [*needed]
        while left:
            text = self._texts[left.pop()]
            if "computed" in text:  # it uses the open dimensions, which need no definition
                continue
            found = {int(number) for number in re.findall(r"\ba(\d+)\b", text)} - needed
            needed |= found
            left += found
        return needed

    def _atom(self, key: Any, text: str, value: int) -> int:
        if key not in self._atoms:
            self._atoms[key] = len(self._texts)
            self._texts.append(text)
            self._values.append(value)
        return self._atoms[key]

    def _require(self, terms: Mapping[_Product, int], sign: str) -> None:
        common = gcd(*terms.values())
        self._conditions.setdefault((_key({of: n // common for of, n in terms.items()}), sign))

    def _quotient(self, a: Size, b: _Operand) -> _Operand:
        """Rounded down; without a new atom where it is exact."""
        divisor: Mapping[_Product, int] = b.terms if isinstance(b, Size) else {(): b}
        if len(divisor) == 1:
            ((product, coefficient),) = divisor.items()
            exact = {_without(of, product): n // coefficient for of, n in a.terms.items() if n % coefficient == 0}
            if len(exact) == len(a.terms) and None not in exact:
                return _size(self, exact)  # type: ignore[arg-type]
        value = a.value // (b.value if isinstance(b, Size) else b)
        text = f"({_expression(a.terms)}) // (({_expression(divisor)}) or 1)"  # of 0, the plan does not hold
        return _size(self, {(self._atom(("//", _key(a.terms), _key(divisor)), text, value),): 1})

    def value_of(self, terms: Mapping[_Product, int]) -> int:
        """The number of a formula in the example."""
        return sum(n * prod(self._values[atom] for atom in of) for of, n in terms.items())

    def _shown(self, terms: Mapping[_Product, int]) -> str:
        """A formula with the names of the dimensions."""

        def of_atom(i: int) -> str:
            if i < len(self.names):
                return self.names[i]
            kind, a, b = next(key for key, number in self._atoms.items() if number == i)
            if kind == "element":
                return f"array{i}[{b}]"
            return f"(({self._shown(dict(a))}) // ({self._shown(dict(b))}))"

        return _expression(terms, of_atom)


class Computed:
    """What is computed from the open dimensions of a plan: an array of :mod:`pysimd.network.open_arrays`.

    An attribute may be one that has one element.
    """

    owner: Sizes

    def at(self, values: Sequence[int]) -> Array:
        """The array for these sizes of the open dimensions, in their order."""
        raise NotImplementedError


class Size:
    """A number that is known when a plan is bound to a shape; see the module.

    owner : the open dimensions that its formula uses.
    terms : the formula, a mapping from products of atoms to their coefficients.
    value : the number in the example.
    """

    __slots__ = ("owner", "terms", "value")

    def __init__(self, owner: Sizes, terms: Mapping[_Product, int]) -> None:
        self.owner, self.terms = owner, dict(terms)
        self.value = owner.value_of(terms)

    @property
    def formula(self) -> _Formula:
        """The formula as a key of mappings: equal for equal ones."""
        return _key(self.terms)

    # ---- arithmetic

    def _terms_of(self, other: Any) -> Mapping[_Product, int] | None:
        """The formula of an operand; None if it is no whole number."""
        if isinstance(other, Size):
            if other.owner is not self.owner:
                raise ValueError("sizes of different plans cannot be combined")
            return other.terms
        if isinstance(other, (int, np.integer)):
            return {(): int(other)}
        return None

    def __add__(self, other: Any) -> Any:
        terms = self._terms_of(other)
        return self._as_number(other, operator.add) if terms is None else _size(self.owner, _sum(self.terms, terms, 1))

    def __sub__(self, other: Any) -> Any:
        terms = self._terms_of(other)
        return self._as_number(other, operator.sub) if terms is None else _size(self.owner, _sum(self.terms, terms, -1))

    def __rsub__(self, other: Any) -> Any:
        terms = self._terms_of(other)
        if terms is None:
            return self._as_number(other, lambda a, b: b - a)
        return _size(self.owner, _sum(terms, self.terms, -1))

    def __mul__(self, other: Any) -> Any:
        terms = self._terms_of(other)
        if terms is None:
            return self._as_number(other, operator.mul)
        found: dict[_Product, int] = {}
        for a, n in self.terms.items():
            for b, m in terms.items():
                product = tuple(sorted((*a, *b)))
                found[product] = found.get(product, 0) + n * m
        return _size(self.owner, found)

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other: Any) -> Any:
        if self._terms_of(other) is None:
            return self._as_number(other, operator.floordiv)
        if other == 0:
            raise ZeroDivisionError("a size is divided by 0")
        return self.owner._quotient(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        terms = self._terms_of(other)
        if terms is None:
            return self._as_number(other, lambda a, b: b // a)
        if self == 0:
            raise ZeroDivisionError("a number is divided by a size of 0")
        return self.owner._quotient(Size(self.owner, terms), self)

    def __mod__(self, other: Any) -> Any:
        return self - self // other * other

    def __rmod__(self, other: Any) -> Any:
        return other - other // self * self

    def __truediv__(self, other: Any) -> Any:
        return float(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / float(self)

    def __pow__(self, other: Any) -> Any:
        return self.__index__() ** other

    def __rpow__(self, other: Any) -> Any:
        return other ** self.__index__()

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Size:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def _as_number(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        return function(float(self), other) if isinstance(other, (float, np.floating)) else NotImplemented

    # ---- comparisons

    def _compared(self, other: Any, sign: str) -> Any:
        terms = self._terms_of(other)
        if terms is None:
            return _COMPARE[sign](float(self), other) if isinstance(other, (float, np.floating)) else NotImplemented
        difference = _sum(self.terms, terms, -1)
        value = self.owner.value_of(difference)
        answer = _COMPARE[sign](value, 0)
        if set(difference) - {()}:  # else it has this value always
            self.owner._require(difference, sign if answer else _OPPOSITE[sign])
        return answer

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "==")

    def __ne__(self, other: object) -> Any:
        return self._compared(other, "!=")

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "<")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "<=")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, ">")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, ">=")

    def __bool__(self) -> bool:
        return bool(self != 0)

    # ---- as a plain number, which is then that of the example

    def __index__(self) -> int:
        if not self == self.value:
            raise AssertionError("a size differs from its example")
        return self.value

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __repr__(self) -> str:
        return self.owner._shown(self.terms)


def _size(owner: Sizes, terms: Mapping[_Product, int]) -> _Operand:
    """A formula as a Size, or as a number if it is one."""
    terms = {of: n for of, n in terms.items() if n}
    return terms.get((), 0) if not set(terms) - {()} else Size(owner, terms)


def _sum(a: Mapping[_Product, int], b: Mapping[_Product, int], sign: int) -> dict[_Product, int]:
    found = dict(a)
    for of, n in b.items():
        found[of] = found.get(of, 0) + sign * n
    return {of: n for of, n in found.items() if n}


def _without(product: _Product, divisor: _Product) -> _Product | None:
    """The product divided by another one; None if that is no part of it."""
    left = list(product)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _key(terms: Mapping[_Product, int]) -> _Formula:
    return tuple(sorted(terms.items()))


def _expression(terms: Mapping[_Product, int], of_atom: Callable[[int], str] = "a{}".format) -> str:
    products = ["*".join([str(n), *map(of_atom, of)] if n != 1 or not of else map(of_atom, of)) for of, n in terms.items()]
    return " + ".join(products) or "0"


def in_c(value: Any, letter: str = "a") -> str:
    """A number, a size or its terms in C, of variables that :meth:`Sizes.definitions_in_c` defines."""
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return _expression(value.terms if isinstance(value, Size) else value, f"{letter}{{}}".format)


# ---- where numbers and sizes are treated alike


def whole(number: Any) -> Any:
    """``int(number)``; a Size remains one."""
    return number if isinstance(number, Size) else int(number)


def array_of(numbers: Iterable[Any]) -> Array:
    """A vector of int64; of objects if some are sizes."""
    found = list(numbers)
    return np.array(found, object if any(isinstance(n, Size) for n in found) else np.int64)


_OF_NUMBERS = {int}  # types in a shape that is not open


def is_open(value: Any) -> bool:
    """Whether an array has sizes among its elements."""
    return isinstance(value, np.ndarray) and value.dtype == object and any(isinstance(n, Size) for n in value.flat)


def fixed(array: Array, dtype: str = "int64") -> Array:
    """An array with the numbers that its sizes have in the example."""
    return array.astype(dtype) if is_open(array) else array


def broadcast_shapes(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    """As ``numpy.broadcast_shapes``."""
    if shapes and set(map(type, shapes[0])) == _OF_NUMBERS and shapes.count(shapes[0]) == len(shapes):  # as most are
        return tuple(shapes[0])
    rank = max(map(len, shapes), default=0)
    found: list[Any] = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if n is found[i] or n == found[i]:
                continue
            if found[i] == 1:
                found[i] = n
            elif n != 1:
                raise ValueError(f"the shapes {', '.join(str(tuple(each)) for each in shapes)} cannot be broadcast")
    return tuple(found)


def sizes_in(value: Any) -> list[Any]:
    """The sizes in a shape, an attribute, or attributes, and what is computed from sizes."""
    if isinstance(value, (Size, Computed)):
        return [value]
    if isinstance(value, Mapping):
        return sizes_in(list(value.values()))
    return [size for each in value for size in sizes_in(each)] if isinstance(value, (tuple, list)) else []
