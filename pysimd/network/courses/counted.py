"""How often a Loop can run whose condition compares a counter with a number, as exporters write ``for`` and ``while``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pysimd.annotations import Array
from pysimd.network.convert.conversion import full_name
from pysimd.network.courses.course import Course
from pysimd.network.source import SourceNode

_LARGEST = 1 << 24  # integers below it are exact in float32, in which older models compare
_SAME = frozenset(("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"))  # of one number
_EXACT = (1, 6, 7, 11)  # ONNX's numbers of float32, int32, int64 and float64
#: The places of the larger and the smaller operand, and what the difference must be at least.
_COMPARISONS = {"Less": (1, 0, 1), "LessOrEqual": (1, 0, 0), "Greater": (0, 1, 1), "GreaterOrEqual": (0, 1, 0)}


class Passes(NamedTuple):
    """How many there are, if the first one runs.

    most : as many at most; None without a bound.
    is_exact : whether there are so many, as nothing else ends the loop.
    """

    most: int | None
    is_exact: bool


_UNKNOWN = Passes(None, False)


class _Line(NamedTuple):
    """A number that grows evenly: in a pass, `first` + `step` * the number of passes before."""

    first: int
    step: int


class Counted:
    """The numbers in the body of a Loop that count.

    known : the value of a state before the first pass, or of a tensor from outside the body; None if it is not known.
    """

    def __init__(self, body: Course, known: Callable[[str], Array | None]) -> None:
        self._known = known
        self._nodes = {
            name: node
            for node in (*body.scope.nodes.values(), *body.source.nodes)
            if full_name(node) == node.op and node.op not in body.scope.fallback
            for name in node.outputs
        }
        self._number, _, *states = body.inputs
        self._next = dict(zip(states, body.outputs[1:]))
        self._open: set[str] = set()  # the states whose steps are being found

    def passes(self, condition: str, negated: bool = False) -> Passes:
        """The passes that a condition permits which the body computes for the next one."""
        node = self._nodes.get(condition)
        if node is None:
            return _UNKNOWN
        if node.op in _SAME or node.op == "Not":
            return self.passes(node.inputs[0], negated != (node.op == "Not"))
        if node.op == ("Or" if negated else "And"):  # the first one that is false ends the loop
            both = [self.passes(name, negated) for name in node.inputs]
            bound = min((each.most for each in both if each.most is not None), default=None)
            return Passes(bound, all(each.is_exact for each in both))
        if node.op not in _COMPARISONS:
            return _UNKNOWN
        larger, smaller, least = _COMPARISONS[node.op]
        lines = [self._line(node.inputs[place]) for place in (larger, smaller)]
        if lines[0] is None or lines[1] is None:
            return _UNKNOWN
        left, step = lines[0].first - lines[1].first - least, lines[0].step - lines[1].step
        if negated:
            left, step = -1 - left, -step
        if left >= 0 and step >= 0:
            return _UNKNOWN
        most = 1 if left < 0 else left // -step + 2  # another pass follows while `left` is not negative
        ends = (line.first + line.step * most for line in lines if line is not None)
        return Passes(most, True) if all(abs(end) < _LARGEST for end in (most, *ends)) else _UNKNOWN

    def _line(self, name: str) -> _Line | None:
        if name == self._number:
            return _Line(0, 1)
        node = self._nodes.get(name)
        if node is None:
            value, step = self._known(name), self._step(name)
            if value is None or step is None or value.size != 1 or value.dtype not in ("int32", "int64"):
                return None
            return _Line(int(value.item()), step) if abs(int(value.item())) < _LARGEST else None
        if _is_same(node):
            return self._line(node.inputs[0])
        if node.op not in ("Add", "Sub"):
            return None
        first, second = map(self._line, node.inputs)
        if first is None or second is None:
            return None
        sign = 1 if node.op == "Add" else -1
        return _Line(first.first + sign * second.first, first.step + sign * second.step)

    def _step(self, name: str) -> int | None:
        """What each pass adds to a state; 0 for a tensor from outside the body."""
        if name not in self._next:
            return 0
        if name in self._open:
            return None
        self._open.add(name)
        try:
            return self._added(self._next[name], name)
        finally:
            self._open.remove(name)

    def _added(self, name: str, state: str) -> int | None:
        """What is added to a state in the same pass; None if it becomes something else."""
        if name == state:
            return 0
        node = self._nodes.get(name)
        if node is None:
            return None
        if _is_same(node):
            return self._added(node.inputs[0], state)
        ways = {"Add": ((0, 1, 1), (1, 0, 1)), "Sub": ((0, 1, -1),)}.get(node.op, ())
        for place, other, sign in ways:
            before = self._added(node.inputs[place], state)
            line = None if before is None else self._line(node.inputs[other])
            if before is not None and line is not None and line.step == 0:
                return before + sign * line.first
        return None


def _is_same(node: SourceNode) -> bool:
    """Whether a node gives the integer that it gets."""
    return node.op in _SAME and (node.op != "Cast" or node.attributes.get("to") in _EXACT)
