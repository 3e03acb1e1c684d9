"""Memory of runners of any size: it does not grow with the number of shapes, and that of a large shape is given back."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pysimd
from support import process_memory

onnx = pytest.importorskip("onnx", reason="ONNX files need the package onnx")
if not process_memory.is_counted():
    pytest.skip("this system does not count the memory of a process", allow_module_level=True)

MB = 1 << 20


def filters() -> Any:
    """A convolution, a reshaped mean of each row, and a product with it, for images of any height and width."""
    helper, random = onnx.helper, np.random.default_rng(4)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("ReduceMean", ["b"], ["c"], axes=[3], keepdims=0),
        helper.make_node("Unsqueeze", ["c", "last"], ["d"]),
        helper.make_node("Mul", ["b", "d"], ["y"]),
    ]
    arrays = {"w": random.standard_normal((2, 2, 3, 3)).astype(np.float32), "last": np.array([3])}
    graph = helper.make_graph(
        nodes,
        "filters",
        [helper.make_tensor_value_info("x", 1, (1, 2, "H", "W"))],
        [helper.make_tensor_value_info("y", 1, None)],
        [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    return pysimd.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))


def in_new_process(call: str) -> None:
    """Calls a function of this module where no other test has left holes in the memory of the allocator."""
    copies = "in_place.WORTH = 1 << 60"  # else the memory for inputs and outputs is kept, but has no pages
    program = f"from network import test_open_memory as test; from pysimd.network import in_place; {copies}; test.{call}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.full)])
def test_memory_stays_flat(count: int) -> None:
    in_new_process(f"many_shapes({count})")


def many_shapes(count: int) -> None:
    """So many different shapes, some of them larger than all before; what is kept is counted apart."""
    run = filters().prepare()
    pixels = np.random.default_rng(1).random(2 * 400 * 400, np.float32)

    def call(i: int) -> None:
        h, w = 2 + i % 317, 2 + i % 389  # whose product is larger than the number of shapes
        assert run(pixels[: 2 * h * w].reshape(1, 2, h, w))["y"].shape == (1, 2, h, w)

    for i in range(600):
        call(i)
    before = process_memory.anonymous() - run.kept_bytes
    for i in range(600, 600 + count):
        call(i)
    assert process_memory.anonymous() - run.kept_bytes < before + 3 * MB  # parts of blocks have not been used yet
    assert len(run.kept) == 8 and len(run.plans) <= 4


@pytest.mark.parametrize("release", ["trim", "other shapes", "limit"])
def test_memory_of_a_large_shape_is_given_back(release: str) -> None:
    in_new_process(f"a_large_shape({release!r})")


def a_large_shape(release: str) -> None:
    """What a large shape needs, and what is left of it afterwards."""
    run = filters().prepare()
    large, small = np.zeros((1, 2, 3000, 3000), np.float32), np.ones((1, 2, 30, 40), np.float32)
    run(small)
    before = process_memory.anonymous()
    for _ in range(2):
        run(large)
        held = process_memory.anonymous() - before
        assert held > 64 * MB and held > 0.9 * run.kept_bytes
        run(small)
        if release == "trim":
            run.trim()
        elif release == "other shapes":
            for width in range(50, 58):
                run(np.ones((1, 2, 30, width), np.float32))
        else:
            run.most_bytes = 64 * MB
        assert process_memory.anonymous() < before + 0.1 * held
