"""Attention in graphs: what the pass makes of the ways in which exporters write it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from bench.onnx_files import values_of
from bench.onnx_files.shapes import inputs_of as inputs_of_file
from network.passes import Net, checked
from pysimd.network import Graph, Runner
from pysimd.network.passes import simplified

ROWS = 11


def _net(heads: int = 3, rows: int = ROWS, columns: int = 9) -> Net:
    return Net((2, heads, rows, 8), (2, heads, 8, columns), (2, heads, columns, 5), (2, 1, 1, columns))


def _product(net: Net, q: str, k: str) -> str:
    return net.add("MatMul", q, k)


def _finished(net: Net, scores: str) -> str:
    shares = net.add("Softmax", scores, axis=3, log=False)
    return net.add("MatMul", shares, net.xs[2])


def _divided(net: Net) -> str:
    return net.do("add", net.do("divide", _product(net, *net.xs[:2]), 4), net.xs[3])


def _multiplied(net: Net) -> str:
    return net.do("add", net.xs[3], net.do("multiply", 0.25, _product(net, *net.xs[:2])))


def _by_roots(net: Net) -> str:
    return net.do("add", _product(net, net.do("multiply", net.xs[0], 0.5), net.do("multiply", net.xs[1], 0.5)), net.xs[3])


FORMS: dict[str, Callable[[Net], str]] = {"divided": _divided, "multiplied": _multiplied}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    net = _net()
    (node,) = checked(net.graph(_finished(net, FORMS[form](net))), "Attention", error=3e-6)
    assert node.attributes["scale"] == 0.25
    assert len(node.inputs) == 4


def test_numbers_of_queries_and_keys() -> None:
    net = _net()
    *_, node = checked(net.graph(_finished(net, _by_roots(net))), "Binary", "Binary", "Attention", error=3e-6)
    assert node.attributes["scale"] == 1


def test_without_bias_and_scale() -> None:
    net = Net((2, 3, ROWS, 8), (2, 3, 8, 9), (2, 3, 9, 5))
    (node,) = checked(net.graph(_finished(net, _product(net, *net.xs[:2]))), "Attention", error=3e-6)
    assert (node.attributes["scale"], len(node.inputs)) == (1, 3)


@pytest.mark.parametrize("lead", [(1, 1), (2, 3), (1, 3)])
def test_constant_bias(lead: tuple[int, int]) -> None:
    net = _net()
    scores = net.do("add", _product(net, *net.xs[:2]), net.random(*lead, ROWS, 9))
    checked(net.graph(_finished(net, scores)), "Attention", error=3e-6)


def _windows(rows: int = 1, masked_again: bool = False) -> Graph:
    """As Swin writes it: a bias for each head, then, in another shape, a mask for each window."""
    net = Net((4, 3, ROWS, 8), (4, 3, 8, 9), (4, 3, 9, 5))
    scores = net.do("add", _product(net, *net.xs[:2]), net.random(rows, 3, ROWS, 9))
    masked = net.do("add", net.reshape(scores, 1, 4, 3, ROWS, 9), net.random(1, 4, 1, ROWS, 9))
    result = _finished(net, net.reshape(masked, 4, 3, ROWS, 9))
    return net.graph(result, masked) if masked_again else net.graph(result)


@pytest.mark.parametrize("rows", [1, 4])
def test_masked_windows(rows: int) -> None:
    (node,) = checked(_windows(rows), "Attention", error=3e-6)
    assert len(node.inputs) == 4


def test_masked_windows_that_are_also_a_result() -> None:
    assert [node.operator for node in simplified(_windows(masked_again=True)).nodes].count("MatMul") == 2


def test_transposes_become_views() -> None:
    """Heads in rows: no element is moved."""
    net = Net((2, ROWS, 3, 8), (2, 9, 3, 8), (2, 9, 3, 5))
    q, k, v = (
        net.transpose(net.xs[0], 0, 2, 1, 3),
        net.transpose(net.xs[1], 0, 2, 3, 1),
        net.transpose(net.xs[2], 0, 2, 1, 3),
    )
    shares = net.add("Softmax", _product(net, q, k), axis=3, log=False)
    graph = net.graph(net.transpose(net.add("MatMul", shares, v), 0, 2, 1, 3))
    checked(graph, "Transpose", "Transpose", "Transpose", "Attention", "Transpose", error=3e-6)
    assert [step.node.operator for step in Runner(simplified(graph)).steps] == ["Attention"]


def _refused(what: str) -> Graph:
    net = _net()
    scores = _product(net, *net.xs[:2])
    if what == "scores that are also a result":
        return net.graph(_finished(net, scores), scores)
    if what == "a bias for each row":
        scores = net.do("add", scores, net.random(1, 1, ROWS, 1))
    shares = net.add("Softmax", scores, axis=2 if what == "another axis" else 3, log=what == "logarithms")
    if what == "shares that are also a result":
        return net.graph(net.add("MatMul", shares, net.xs[2]), shares)
    return net.graph(net.add("MatMul", shares, net.xs[2]))


@pytest.mark.parametrize(
    "what",
    [
        "scores that are also a result",
        "shares that are also a result",
        "a bias for each row",
        "another axis",
        "logarithms",
    ],
)
def test_what_is_none(what: str) -> None:
    operators = [node.operator for node in simplified(_refused(what)).nodes]
    assert operators.count("MatMul") == 2
    assert "Attention" not in operators


onnx = pytest.importorskip("onnx", reason="onnx, which makes the files, is not installed")
from bench.transformers import decoders, encoders  # noqa: E402

EXPORTED: dict[str, tuple[Any, int]] = {
    "BERT": (partial(encoders.bert, 17, 64, 2, 1), 1),
    "BERT, scaled_dot_product_attention": (partial(encoders.bert, 17, 64, 2, 1, True), 1),
    "Swin": (encoders.swin, 8),
    "ViT": (partial(encoders.vit, 64, 2, 1), 1),
    "T5": (partial(encoders.t5, 19, 128, 2, 1), 1),
    "Llama": (partial(decoders.llama, 0, 20, 128, 4, 2, 1), 1),
    "GPT-2 step": (partial(decoders.gpt2, 5, 128, 2, 1, 33), 1),
}


@pytest.mark.parametrize("name", EXPORTED)
def test_exported(name: str, tmp_path: Path) -> None:
    make, count = EXPORTED[name]
    onnx.save(make(), tmp_path / "net.onnx")
    inputs = inputs_of_file(tmp_path / "net.onnx", 1, {})
    network = pysimd.load(tmp_path / "net.onnx").prepare({each.name: tuple(each.shape) for each in inputs})
    assert [step.node.operator for step in network.steps].count("Attention") == count
    assert all(np.isfinite(array).all() for array in network(values_of(inputs)).values())
