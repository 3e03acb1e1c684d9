"""Changes bytes of valid files of models at random, and reads them: that must give a source, or ValueError, in little time.

    PYTHONPATH=.:tests python -m network.fuzz ROUNDS [SEED]          ROUNDS files of each of the two formats

test_source.py and test_saved.py run a few rounds of it.
"""

from __future__ import annotations

import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from pysimd.network import saved
from pysimd.network.source import Source, SourceNode, Value
from scorecard.row import print_counts

START = 35  # where the header begins in a file of our own format, after its length and its checksum
LONGEST = 5  # seconds to read one small file, on a busy machine


def sample() -> Source:
    """A model with arrays of several types, a subgraph, and attributes of all kinds."""
    branch = Source("branch", 17, [], [Value("z", "float32", None)], [SourceNode("Relu", ("y",), ("z",))], {})
    other = Source("other", 17, [], [Value("w", "float32", None)], [], {"w": np.zeros((2, 0), np.float32)})
    nodes = [
        SourceNode("Conv", ("x", "k"), ("y",), {"pads": [1, 1, 1, 1], "auto_pad": "NOTSET"}, "first"),
        SourceNode("If", ("flag",), ("r",), {"then_branch": branch, "else_branch": other}),
        SourceNode("Own", ("r", ""), ("s",), {"alpha": 0.5, "beta": [0.1, float("inf")], "t": np.arange(3)}, "", "own"),
    ]
    weights = {"k": np.arange(36, dtype=np.float32).reshape(2, 2, 3, 3), "flag": np.array(True)}
    inputs, given = [Value("x", "float32", (1, "n", None, 8))], [Value("flag", "bool", ())]
    return Source("sample", 17, inputs, [Value("s", "float32", None)], nodes, weights, given, ["k"])


def mutated(data: bytes, random: Random) -> bytes:
    """Some bytes changed, inserted, removed or repeated, or the end cut."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        at, n = random.randrange(len(changed) + 1), random.choice((1, 1, 2, 8, 64))
        kind = random.randrange(5)
        if kind == 0:
            changed[at : at + 1] = bytes([random.choice((0, 1, 127, 128, 255, random.randrange(256)))])
        elif kind == 1:
            changed[at:at] = random.randbytes(n)
        elif kind == 2:
            del changed[at : at + n]
        elif kind == 3:
            changed[at:at] = changed[at : at + n]
        elif random.random() < 0.2:
            del changed[at:]
        elif at < len(changed):
            changed[at] ^= 1 << random.randrange(8)
    return bytes(changed)


def with_right_checksum(data: bytes) -> bytes:
    """A file of our own format whose header would else be refused without being looked at."""
    header = data[START : START + header_bytes(data)]
    return data[: START - 8] + zlib.crc32(header).to_bytes(8, "little") + data[START:]


def header_bytes(data: bytes) -> int:
    """The length of the header of a file of our own format."""
    return int.from_bytes(data[START - 16 : START - 8], "little")


def touch(source: Source) -> None:
    """Reads every array."""
    arrays = [value for node in source.nodes for value in node.attributes.values()] + list(source.weights.values())
    for value in arrays:
        if isinstance(value, Source):
            touch(value)
        elif isinstance(value, np.ndarray):
            value.tobytes()


def run(valid: list[bytes], read: Callable[[bytes], Source], rounds: int, seed: int = 0) -> int:
    """How many mutations were still read. Raises AssertionError, with the round, for what must not be."""
    random, accepted = Random(seed), 0
    for i in range(rounds):
        data, start = mutated(random.choice(valid), random), time.perf_counter()
        try:
            touch(read(data))
            accepted += 1
        except ValueError as error:
            assert str(error), f"round {i} of seed {seed}: no text"
        except Exception as error:
            raise AssertionError(f"round {i} of seed {seed}") from error
        assert time.perf_counter() - start < LONGEST, f"round {i} of seed {seed} takes too long"
    return accepted


def run_saved(folder: Path, rounds: int, seed: int = 0) -> int:
    """The files of our own format; every second one with a checksum that fits."""
    path, turn = folder / "fuzzed.simdnet", Random(seed)
    saved.write(sample(), path)
    valid = [path.read_bytes()]

    def read(data: bytes) -> Source:
        path.unlink()  # and a new file, as the old one may still be mapped
        path.write_bytes(with_right_checksum(data) if turn.random() < 0.5 else data)
        return saved.read(path)

    return run(valid, read, rounds, seed)


def run_onnx(rounds: int, seed: int = 0) -> int:
    """ONNX files: one with subgraphs, functions and weights of all types, one with a large weight, which is mapped."""
    from pysimd.network import onnx_reader

    return run([message.SerializeToString() for message in onnx_samples()], onnx_reader.read, rounds, seed)


def onnx_samples() -> list[Any]:
    """Models of ONNX."""
    from onnx import TensorProto, helper, numpy_helper

    node, value = helper.make_node, helper.make_tensor_value_info
    branch = helper.make_graph([node("Relu", ["y"], ["z"])], "branch", [], [value("z", TensorProto.FLOAT, None)])
    nodes = [
        node("Conv", ["x", "k"], ["y"], pads=[1, 1, 1, 1], name="first"),
        node("Constant", [], ["flag"], value=numpy_helper.from_array(np.array(True))),
        node("If", ["flag"], ["r"], then_branch=branch, else_branch=branch),
        node("twice", ["r"], ["s"], domain="own"),
    ]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    inner = [node("Add", ["a", "a"], ["t"]), node("Neg", ["t"], ["b"])]
    twice = helper.make_function("own", "twice", ["a"], ["b"], inner, opsets[:1])
    weights = [
        numpy_helper.from_array(np.ones((2, 2, 3, 3), np.float32), "k"),
        helper.make_tensor("h", TensorProto.FLOAT16, (3,), [1, 2, 3]),
        helper.make_tensor("b", TensorProto.BFLOAT16, (3,), [1, 2, 3]),
        helper.make_tensor("i", TensorProto.INT8, (2, 2), [-1, 2, 3, 4]),
    ]
    x, s = value("x", TensorProto.FLOAT, (1, 2, "h", 8)), value("s", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "sample", [x], [s], weights)
    big = numpy_helper.from_array(np.arange(2048, dtype=np.float32).reshape(2, 1024), "w")
    large = helper.make_graph([node("MatMul", ["x", "w"], ["y"])], "large", [x], [value("y", 1, None)], [big])
    graphs: Any = ((graph, [twice]), (large, []))
    return [helper.make_model(each, functions=f, opset_imports=opsets, ir_version=9) for each, f in graphs]


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    begin = time.monotonic()
    print(run_onnx(count, first), "of", count, "ONNX files were read")
    with tempfile.TemporaryDirectory() as name:
        print(run_saved(Path(name), count, first), "of", count, "files of our own were read")
    rate = int(2 * count / max(time.monotonic() - begin, 1e-3))
    print_counts(files=2 * count, least_file_rate=rate)
