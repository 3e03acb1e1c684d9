"""Reading the bytes of ONNX files: without the package onnx, and, where it is installed, as it reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from network import fuzz as network_fuzz
from network.hostile_models import OPSET, field, onnx_node, tensor, varint
from pysimd.network import onnx_reader
from pysimd.network.onnx_wire import Malformed, integers
from support import Array

SUM = field(1, onnx_node([b"x", b"w"], [b"y"], b"Add")) + field(12, field(1, b"y"))


def value(name: bytes, dims: list[int]) -> bytes:
    shape = b"".join(field(1, field(1, n)) for n in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def model(graph: bytes) -> bytes:
    return field(1, 9) + OPSET + field(7, graph + SUM + field(11, value(b"x", [1, 4])))


def weight_of(data: bytes, dims: list[int], kind: int) -> Array:
    return onnx_reader.read(model(field(5, tensor(dims, data, kind=kind)))).weights["w"]


def signed(*numbers: int) -> bytes:
    return b"".join(varint(n & (1 << 64) - 1) for n in numbers)


# ---- without the package


def test_a_model_is_loaded_run_and_compiled_without_the_package(tmp_path: Path) -> None:
    weight = np.arange(4, dtype=np.float32)
    (tmp_path / "m.onnx").write_bytes(model(field(5, tensor([4], field(9, weight.tobytes())))))
    program = """
import sys
sys.modules["onnx"] = sys.modules["google.protobuf"] = None  # an import raises ImportError
import numpy as np, pysimd
from pysimd.__main__ import main
model = pysimd.load("m.onnx")
print(model)
assert model(np.ones((1, 4), np.float32))["y"].tolist() == [[1, 2, 3, 4]]
model.save("m.simdnet")
model.compile("c", {"x": (1, 4)})
assert main(["run", "m.onnx", "--random"]) in (0, None)
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "c").is_dir()


def test_a_model_is_loaded_and_run_without_modules_that_it_does_not_need(tmp_path: Path) -> None:
    """Each takes a part of the time to the first result; NumPy and the parser of cffi may import some of them."""
    (tmp_path / "m.onnx").write_bytes(model(field(5, tensor([4], field(9, bytes(16))))))
    program = """
import sys
import cffi, numpy as np
cffi.FFI().cdef("int f(void);")
before = set(sys.modules)
import pysimd
pysimd.load("m.onnx").prepare()(np.ones((1, 4), np.float32))
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True)
    found = set(done.stdout.split())
    assert {"pysimd.network.onnx_wire", "pysimd.network.runner"} <= found
    unneeded = {"argparse", "inspect", "json", "onnx", "pathlib", "shutil", "tempfile", "urllib.parse", "zlib"}
    assert not found & unneeded
    assert not found & {f"pysimd.network.{name}" for name in ("c_program", "commands", "images", "report")}


@pytest.mark.parametrize("numbers", [[0, 1, 127, 128, 300], [-1, -(1 << 31), (1 << 31) - 1, 5, 1 << 20]])
def test_numbers_may_be_in_one_field_or_in_several(numbers: list[int]) -> None:
    packed = field(5, signed(*numbers))
    single = b"".join(field(5, n) for n in numbers)
    parts = field(5, signed(*numbers[:2])) + field(5, numbers[2]) + field(5, signed(*numbers[3:]))
    for data in (packed, single, parts):
        np.testing.assert_array_equal(weight_of(data, [5], 6), np.array(numbers, np.int32), strict=True)
    floats = np.array(numbers, np.float32)
    single = b"".join(varint(4 << 3 | 5) + each.tobytes() for each in floats)
    for data in (field(4, floats.tobytes()), single, field(4, floats[:3].tobytes()) + single[15:]):
        np.testing.assert_array_equal(weight_of(data, [5], 1), floats, strict=True)


def test_long_lists_of_numbers_are_decoded_in_blocks() -> None:
    random = np.random.default_rng(1)
    numbers = random.integers(-(1 << 63), 1 << 63, 30_000, np.int64) >> random.integers(0, 64, 30_000)
    found = integers(signed(*numbers.tolist()), np.dtype(np.int64))
    np.testing.assert_array_equal(found, numbers, strict=True)
    np.testing.assert_array_equal(integers(signed(*numbers.tolist()), np.dtype(np.int8)), numbers.astype(np.int8))
    for data in (b"\x80", b"\1\x80", b"\x80" * 10 + b"\1", b"\1" * 70_000 + b"\x80" * 70_000):
        with pytest.raises(Malformed):
            integers(data, np.dtype(np.int64))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint64", "bool"])
def test_numbers_of_one_byte_are_those_of_lists_of_others(dtype: str) -> None:
    few, kind = [0, 1, 2, 126, 127], np.dtype(dtype)
    found, other = integers(signed(*few), kind), integers(signed(*few, 128), kind)
    np.testing.assert_array_equal(found, np.array(few).astype(kind), strict=True)
    np.testing.assert_array_equal(found, other[:-1], strict=True)
    assert integers(b"", kind).shape == (0,)


def test_booleans_are_true_unless_they_are_zero() -> None:
    np.testing.assert_array_equal(weight_of(field(5, signed(0, 1, 256, -1)), [4], 9), [False, True, True, True])


def test_a_message_may_come_in_parts() -> None:
    data = model(field(5, tensor([4], field(9, bytes(16)))))
    parts = data + field(7, field(2, b"late"))
    assert onnx_reader.read(parts).name == "late" and list(onnx_reader.read(parts).weights) == ["w"]


def test_unknown_fields_are_skipped() -> None:
    unknown = field(90, b"text") + field(91, 1 << 63) + varint(92 << 3 | 5) + bytes(4) + varint(93 << 3 | 1) + bytes(8)
    of_another_kind = field(2, 7)  # the name of a graph is no number
    weight = field(5, tensor([4], unknown + field(9, bytes(16))))
    source = onnx_reader.read(unknown + model(unknown + of_another_kind + weight))
    assert source.weights["w"].shape == (4,)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x0b", "written in the way 3"),  # a group
        (b"\x00\x01", "a field has no number"),
        (b"\x0a\x05abc", "a field is longer than its message"),
        (b"\x0a", "it ends within a field"),
        (b"\xff" * 11, "a number has more than 10 bytes"),
        (field(7, field(1, b"\x0a\x7f")), "a field is longer than its message"),
        (field(7, field(1, field(5, field(8, b"\1\x80")))), "longer than its field|ends within a field"),
        (field(7, field(1, field(5, field(7, bytes(5))))), "a part of one"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=f"the bytes is not an ONNX model, or is truncated: .*({reason})"):
        onnx_reader.read(data)


# ---- as the package reads them

_OF_ARRAYS = (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13)  # the types of tensors that are arrays of NumPy, without strings


def test_weights_have_the_bits_that_the_package_gives_them() -> None:
    onnx = pytest.importorskip("onnx", reason="onnx, with which weights are compared, is not installed")
    random = np.random.default_rng(1)
    for kind in _OF_ARRAYS:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
        array = random.integers(0, 256, (3, 5, dtype.itemsize), np.uint8).view(dtype)[..., 0]
        array = array.view(np.uint8).astype(bool) if dtype.kind == "b" else array
        for raw in (False, True):
            given = onnx.numpy_helper.from_array(array, "w")
            if not raw:
                bits = array.view(np.uint16 if dtype == np.float16 else np.uint8 if dtype.kind == "b" else dtype)
                given = onnx.TensorProto(name="w", data_type=kind, dims=[3, 5])
                getattr(given, onnx.helper.tensor_dtype_to_field(kind)).extend(bits.reshape(-1).tolist())
            found = onnx_reader.read(model(field(5, given.SerializeToString()))).weights["w"]
            expected = onnx.numpy_helper.to_array(given)
            expected = expected.astype(np.float32) if dtype == np.float16 else expected
            assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes(), (kind, raw)


def test_changed_files_are_read_as_the_package_reads_them() -> None:
    """Those that both read; we also refuse names that are not UTF-8, and groups."""
    onnx = pytest.importorskip("onnx", reason="onnx, with which files are compared, is not installed")
    from network.onnx_suite import assert_same, parsed

    random, valid, both = Random(1), [each.SerializeToString() for each in network_fuzz.onnx_samples()], 0
    for _ in range(2000):
        data = network_fuzz.mutated(random.choice(valid), random)
        try:
            theirs = onnx.ModelProto.FromString(data)
            ours = parsed(data)
        except ValueError:
            continue
        except Exception as error:  # of protobuf, whose class depends on its version
            assert isinstance(error, Malformed) or type(error).__name__ == "DecodeError"
            continue
        both += 1
        assert_same(ours, theirs, exact=False)
    assert both > 200


def test_the_newest_versions_are_those_of_the_package() -> None:
    onnx = pytest.importorskip("onnx", "1.23", reason="onnx is not installed, or is older")
    newest = (onnx.IR_VERSION, onnx.defs.onnx_opset_version())
    assert newest >= (onnx_reader._NEWEST_IR, onnx_reader._NEWEST_OPSET)
    assert not onnx.__version__.startswith("1.23.") or newest == (onnx_reader._NEWEST_IR, onnx_reader._NEWEST_OPSET)
