"""Random models whose course depends on values: sizes that are computed, branches and loops, within each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support import Array

WIDTH, ROWS = 4, 3
_CONSTANTS: dict[str, Any] = {
    "zero": np.array(0), "one": np.array(1), "zeros": np.array([0]), "ones": np.array([1]), "three": np.array(3),
    "level": np.float32(0.1), "true": np.array(True), "width": np.array([WIDTH]),
}  # fmt: skip


def random_course(seed: int, fixed: bool = False) -> Any:
    """Inputs: x of some rows, and a small count. Outputs: rows, and a sum of each row of something.

    fixed : whether values decide branches and numbers of passes alone: x and all rows have ROWS rows then.
    """
    rng = np.random.default_rng(seed)
    made = _Graph(rng, ["x"], ["count"], 0, fixed=fixed)
    for _ in range(int(rng.integers(3, 7))):
        made.grow()
    made.node("ReduceMean", made.rows[-1], gives="sums", axes=[1], keepdims=0)
    made.node("Identity", made.any_rows(), gives="some")
    weights = {**_CONSTANTS, "w": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32)}
    inputs = [_rows("x"), helper.make_tensor_value_info("count", TensorProto.INT64, [])]
    outputs = [helper.make_tensor_value_info("sums", TensorProto.FLOAT, ["n"]), _rows("some")]
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(made.nodes, "net", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def feeds(seed: int, fixed: bool = False) -> list[dict[str, Array]]:
    """Inputs of several sizes, with counts that change from run to run."""
    rng = np.random.default_rng(seed)
    sizes = [(3, 2), (3, 5), (7, 2), (3, 0), (1, 3), (3, 2)]
    sizes = [(ROWS, k) for n, k in sizes if n == ROWS] if fixed else sizes
    return [{"x": rng.normal(size=(n, WIDTH)).astype(np.float32), "count": np.array(k)} for n, k in sizes]


def _rows(name: str) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, WIDTH])


def _scalar(name: str, kind: int) -> Any:
    return helper.make_tensor_value_info(name, kind, [])


class _Graph:
    """Nodes of a graph; rows and counts are the tensors that others can read."""

    def __init__(
        self, rng: Any, rows: list[str], counts: list[str], depth: int, prefix: str = "", fixed: bool = False
    ) -> None:
        self.rng, self.rows, self.counts, self.depth, self.prefix = rng, list(rows), list(counts), depth, prefix
        self.fixed = fixed
        self.nodes: list[Any] = []

    def name(self) -> str:
        return f"{self.prefix}t{len(self.nodes)}"

    def node(self, op: str, *inputs: str, gives: str = "", **attributes: Any) -> str:
        gives = gives or self.name()
        self.nodes.append(helper.make_node(op, list(inputs), [gives], **attributes))
        return gives

    def any_rows(self) -> str:
        return str(self.rng.choice(self.rows))

    def count(self) -> str:
        """A count as a tensor of one number."""
        return self.node("Unsqueeze", str(self.rng.choice(self.counts)), "zeros")

    def grow(self) -> None:
        kinds = [self._pointwise, self._product]
        if not self.fixed:
            kinds += [self._first, self._repeated, self._joined, self._filled, self._selected]
        kinds += [self._counted] + [self._branch, self._loop, self._scan] * (self.depth < 2)
        self.rng.choice(kinds)()

    # ---- of any values

    def _pointwise(self) -> None:
        self.rows.append(self.node(str(self.rng.choice(["Relu", "Tanh", "Abs"])), self.any_rows()))

    def _product(self) -> None:
        self.rows.append(self.node("Sigmoid", self.node("MatMul", self.any_rows(), "w")))

    def _joined(self) -> None:
        if self.depth < 2:  # not in each pass of a loop within a loop
            self.rows.append(self.node("Concat", self.any_rows(), self.any_rows(), axis=0))

    # ---- sizes that are computed

    def _first(self) -> None:
        self.rows.append(self.node("Slice", self.any_rows(), "zeros", self.count(), "zeros"))

    def _repeated(self) -> None:
        times = self.node("Concat", self.node("Mod", self.count(), "three"), "ones", axis=0)
        self.rows.append(self.node("Tile", self.any_rows(), times))

    def _filled(self) -> None:
        shape = self.node("Concat", self.count(), "width", axis=0)
        self.rows.append(self.node("ConstantOfShape", shape, value=numpy_helper.from_array(np.array([0.5], np.float32))))

    def _selected(self) -> None:
        means = self.node("ReduceMean", self.any_rows(), axes=[1], keepdims=0)
        source = self.nodes[-1].input[0]
        places = self.node("Squeeze", self.node("NonZero", self.node("Greater", means, "level")), "zeros")
        self.rows.append(self.node("Gather", source, places, axis=0))

    def _counted(self) -> None:
        shape = self.node("Shape", self.any_rows())
        rows = self.node("Gather", shape, "zero")
        self.counts.append(self.node("Mod", self.node("Add", rows, "one"), "three"))

    # ---- control

    def _inner(self, rows: list[str], steps: int) -> _Graph:
        made = _Graph(self.rng, [*self.rows, *rows], self.counts, self.depth + 1, self.name() + "_", self.fixed)
        for _ in range(steps):
            made.grow()
        return made

    def _branch(self) -> None:
        total = self.node("ReduceSum", self.any_rows(), keepdims=0)
        condition = self.node("Greater", total, "level")
        graphs = []
        for name in ("then_branch", "else_branch"):
            inner = _Graph(self.rng, self.rows, self.counts, self.depth + 1, f"{self.name()}{name}_", self.fixed)
            for _ in range(2):
                inner.grow()
            result = inner.node("Neg", inner.any_rows())
            graphs.append(helper.make_graph(inner.nodes, name, [], [_rows(result)]))
        self.rows.append(self.node("If", condition, then_branch=graphs[0], else_branch=graphs[1]))

    def _loop(self) -> None:
        number, flag, state = (self.name() + suffix for suffix in ("_i", "_c", "_s"))
        inner = self._inner([state], 1)
        inner.counts.append(number)
        inner.grow()
        changed = inner.node("Tanh", state) if self.rng.random() < 0.5 else inner.node("Neg", inner.rows[-1])
        summed = inner.node("ReduceSum", changed, "zeros", keepdims=0)
        ends = self.fixed and self.rng.random() < 0.5
        on = (
            inner.node("Less", inner.node("ReduceSum", changed, keepdims=0), "level")
            if ends
            else inner.node("Identity", flag)
        )
        inputs = [_scalar(number, TensorProto.INT64), _scalar(flag, TensorProto.BOOL), _rows(state)]
        outputs = [
            _scalar(on, TensorProto.BOOL), _rows(changed), helper.make_tensor_value_info(summed, TensorProto.FLOAT, [WIDTH])
        ]  # fmt: skip
        body = helper.make_graph(inner.nodes, "body", inputs, outputs)
        final, sums = self.name(), self.name() + "_r"
        passes = str(self.rng.choice([*self.counts, "three"] if self.fixed else self.counts))
        self.nodes.append(helper.make_node("Loop", [passes, "true", self.any_rows()], [final, sums], body=body))
        self.rows += [final] if self.fixed and (ends or passes != "three") else [final, sums]

    def _scan(self) -> None:
        state, row = self.name() + "_s", self.name() + "_x"
        inner = _Graph(self.rng, [], [], 9, self.name() + "_")
        changed = inner.node("Add", inner.node("Tanh", state), row)
        twice = inner.node("Mul", changed, changed)
        value = helper.make_tensor_value_info
        inputs = [value(state, TensorProto.FLOAT, [WIDTH]), value(row, TensorProto.FLOAT, [WIDTH])]
        outputs = [value(changed, TensorProto.FLOAT, [WIDTH]), value(twice, TensorProto.FLOAT, [WIDTH])]
        body = helper.make_graph(inner.nodes, "body", inputs, outputs)
        first = self.node("ReduceSum", self.any_rows(), "zeros", keepdims=0)
        rows = (
            self.any_rows() if self.fixed else self.node("Concat", self.any_rows(), "x", axis=0)
        )  # ONNX Runtime refuses a Scan of no rows
        final, sums = self.name(), self.name() + "_r"
        direction = [int(self.rng.integers(2))]
        self.nodes.append(
            helper.make_node(
                "Scan",
                [first, rows],
                [final, sums],
                body=body,
                num_scan_inputs=1,
                scan_input_directions=direction,
            )
        )
        self.rows.append(sums)
