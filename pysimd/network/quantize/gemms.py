"""Products of matrices, and the terms of columns that are added to them, as one Gemm: its sums have the terms as a bias."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pysimd.network.quantize.calibration import Sample, runs
from pysimd.network.quantize.folding import bias_of
from pysimd.network.quantize.onnx_file import File, Node


def joined(file: File, samples: Sequence[Sample], keep_float: Collection[str]) -> File:
    """The same model; the samples tell which products are of two dimensions. keep_float : names of those that stay."""
    pairs = {node: of for node, of in _pairs(file).items() if _names(node, of[0]).isdisjoint(keep_float)}
    if not pairs or not samples:
        return file
    (values,) = runs(file, sorted({node.inputs[0] for node in pairs}), samples[:1], lambda: None)
    made, gone, new = file.copy(), set(), {}
    for node, (addition, bias) in pairs.items():
        if values[node.inputs[0]].ndim == 2:
            new[node] = Node("Gemm", [*node.inputs, bias], addition.outputs, node.name)
            gone.add(addition)
    made.nodes = [new.get(node, node) for node in file.nodes if node not in gone]
    return made


def _names(*nodes: Node) -> set[str]:
    return {name for node in nodes for name in (node.name, *node.outputs)}


def _pairs(file: File) -> dict[Node, tuple[Node, str]]:
    """The products, with the addition that alone reads each of them, and what is added."""
    readers, uses = {name: node for node in file.nodes for name in node.inputs}, file.uses()
    found: dict[Node, tuple[Node, str]] = {}
    for node in file.nodes:
        weight = file.floats(node.inputs[1]) if node.op == "MatMul" and not node.domain else None
        reader = readers.get(node.outputs[0])
        if weight is None or weight.ndim != 2 or reader is None or uses[node.outputs[0]] != 1:
            continue
        if reader.op != "Add" or reader.domain:
            continue
        bias = reader.inputs[1] if reader.inputs[0] == node.outputs[0] else reader.inputs[0]
        if bias_of(file, bias, weight.shape[1]) is not None:
            found[node] = reader, bias
    return found
