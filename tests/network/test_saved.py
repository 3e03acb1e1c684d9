"""Files of our own format: what is written is read, and nothing else is."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from network import fuzz as network_fuzz
from pysimd.network import files, mapped, saved
from pysimd.network.mapped import owner_of, release
from pysimd.network.records import replace
from pysimd.network.source import Source, SourceNode, Value


def assert_same(a: Any, b: Any) -> None:
    """Sources, with all that is in them."""
    if isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, strict=True)
    elif isinstance(a, Source):
        assert (a.name, a.opset, a.inputs, a.outputs) == (b.name, b.opset, b.inputs, b.outputs)
        assert (list(a.overridable), list(a.values)) == (list(b.overridable), list(b.values))
        assert len(a.nodes) == len(b.nodes) and a.weights.keys() == b.weights.keys()
        for name, array in a.weights.items():
            assert_same(array, b.weights[name])
        for x, y in zip(a.nodes, b.nodes):
            assert (x.op, x.domain, x.name, x.inputs, x.outputs) == (y.op, y.domain, y.name, y.inputs, y.outputs)
            assert x.attributes.keys() == y.attributes.keys()
            for name, value in x.attributes.items():
                assert_same(value, y.attributes[name])
    else:
        assert a == b and type(a) is type(b)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "model.simdnet"
    saved.write(network_fuzz.sample(), found)
    return found


def changed(path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A file whose header is changed, with a checksum and a length that fit."""
    data = path.read_bytes()
    start = network_fuzz.START
    end = start + network_fuzz.header_bytes(data)
    header = json.loads(data[start:end])
    change(header)
    text = json.dumps(header).encode()
    whole = data[: start - 16] + len(text).to_bytes(8, "little") + bytes(8) + text + data[end:]
    path.unlink()
    path.write_bytes(network_fuzz.with_right_checksum(whole))
    return path


def test_what_is_written_is_read(path: Path) -> None:
    source = saved.read(path)
    assert_same(network_fuzz.sample(), source)
    assert isinstance(owner_of(source.weights["k"]), mmap.mmap)


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="this system cannot be told")
def test_only_the_pages_of_an_array_are_released(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "_SMALL", 0)
    told: list[tuple[int, ...]] = []

    class Mapped(mmap.mmap):
        def madvise(self, *given: int) -> None:
            told.append(given)

    page, around = mmap.PAGESIZE, mapped._AROUND
    path.write_bytes(bytes(4 * around - page))
    with open(path, "rb") as file:
        whole: Any = np.ndarray(4 * around - page, np.uint8, Mapped(file.fileno(), 0, access=mmap.ACCESS_READ))
    ranges = (around, 2 * around), (around - 1, around + page), (3 * around, 3 * around + page), (around, around + page - 1)
    for begin, end in ranges:
        release(whole[begin:end])
    expected = (around, around), (0, 2 * around), (3 * around, around - page)  # to the end of the file; too few bytes
    assert told == [(mmap.MADV_DONTNEED, *each) for each in expected]
    monkeypatch.setattr(mapped, "_SMALL", 2 * page)
    told.clear()
    for _ in range(2 * mapped._MOST_WAITING // mapped._BESIDE):
        release(whole[:page])
    assert told == [(mmap.MADV_DONTNEED,)] * 2  # each time as many as wait


@pytest.mark.parametrize(
    "dtype", ["bool", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">f4"]
)
def test_types(dtype: str, tmp_path: Path) -> None:
    array = np.arange(7).astype(dtype)[::-2]
    source = Source("", 17, [], [Value("a", dtype, None)], [], {"a": array})
    saved.write(source, tmp_path / "m")
    np.testing.assert_array_equal(saved.read(tmp_path / "m").weights["a"], array)


def test_a_model_can_be_written_over_its_own_file(path: Path) -> None:
    source = saved.read(path)
    saved.write(source, path)
    assert_same(source, saved.read(path))
    assert os.listdir(path.parent) == [path.name]


def test_nothing_is_left_of_what_cannot_be_written(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match="dtype complex64, which cannot be saved"):
        saved.write(Source("", 17, [], [], [], {"a": np.zeros(1, np.complex64)}), path)
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


def test_messages_name_the_path_that_was_given(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the name under which it is written first."""

    folder, missing = path.parent / "folder", path.parent / "missing"
    folder.mkdir()
    with pytest.raises(IsADirectoryError) as found:
        saved.write(network_fuzz.sample(), folder)
    assert found.value.filename == str(folder)
    with pytest.raises(FileNotFoundError) as found_no_folder:
        saved.write(network_fuzz.sample(), missing / "model.simdnet")
    assert found_no_folder.value.filename == str(missing)

    def fails(*_: Any) -> None:
        raise OSError("after all was written under another name")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="after all"):
        saved.write(network_fuzz.sample(), path.parent / "other")
    assert sorted(os.listdir(path.parent)) == ["folder", path.name]


def test_every_cut_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    for n in range(len(data)):
        short = tmp_path / f"{n}"
        short.write_bytes(data[:n])
        with pytest.raises(ValueError, match=r"not a model file|has version|truncated or modified"):
            saved.read(short)
        short.unlink()
    path.write_bytes(data + bytes(64))
    with pytest.raises(ValueError, match="truncated or modified: its weights have"):
        saved.read(path)


def test_every_changed_byte_before_the_weights_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    other = tmp_path / "other"
    for i in range(network_fuzz.START + network_fuzz.header_bytes(data)):
        other.write_bytes(data[:i] + bytes([data[i] ^ 4]) + data[i + 1 :])
        with pytest.raises(ValueError, match="other"):
            saved.read(other)


def test_a_later_version_is_refused(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data.replace(b"model 0001", b"model 0002", 1))
    with pytest.raises(ValueError, match="has version 0002 of the format, this package reads version 1: update it"):
        saved.read(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda h: h["weights"]["k"].update(offset=-64), "-64 is not a size"),
        (lambda h: h["weights"]["k"].update(offset=True), "True is not a size"),
        (lambda h: h["weights"]["k"].update(offset=4), "is not within"),
        (lambda h: h["weights"]["k"].update(offset=1 << 70), "is not within"),
        (lambda h: h["weights"]["k"].update(shape=[1 << 40, 1 << 40]), "is not within"),
        (lambda h: h["weights"]["k"].update(shape=[2] * 10000), "an array has 10000 dimensions"),
        (lambda h: h["weights"]["k"].update(shape="12"), "'12' is not a list"),
        (lambda h: h["weights"]["k"].update(dtype="object"), "an array has dtype 'object'"),
        (lambda h: h["weights"]["k"].update(dtype=["float32"]), "an array has dtype"),
        (lambda h: h["weights"].update(x=h["weights"]["k"]), "two tensors have the name 'x'"),
        (lambda h: h.pop("nodes"), "its header has no 'nodes'"),
        (lambda h: h.update(nodes={}), "is not a list"),
        (lambda h: h.update(opset="17"), "'17' is not a size"),
        (lambda h: h.update(name=None), "None is not a string"),
        (lambda h: h.update(bytes=1), "expected 1"),
        (lambda h: h["inputs"].append(["q", "float32"]), "not enough values"),
        (lambda h: h["inputs"].append(["q", "float32", [-1]]), "-1 is not a size"),
        (lambda h: h["outputs"].append(["q", "float32", None]), "no node produces the output 'q'"),
        (lambda h: h["nodes"][0].update(inputs=["s"]), "depends on a cycle of nodes"),
        (lambda h: h["nodes"][0].update(inputs=["q"]), r"the node 'first' \(Conv\) reads 'q', which no node produces"),
        (lambda h: h["nodes"][0].update(inputs="xk"), "'xk' is not a list"),
        (lambda h: h["nodes"][0]["attributes"].update(a=None), "unknown type"),
        (lambda h: h["nodes"][0]["attributes"].update(a=[[1]]), "unknown type"),
        (lambda h: h["nodes"][0]["attributes"].update(a={"other": 1}), "its header has no 'graph'"),
    ],
)
def test_changed_headers_are_refused(path: Path, change: Callable[[dict[str, Any]], Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        saved.read(changed(path, change))


def test_subgraphs_too_deep_are_refused(tmp_path: Path) -> None:
    inner = Source("", 17, [], [], [], {})
    for _ in range(30):
        inner = Source("", 17, [], [], [SourceNode("If", (), (), {"then_branch": inner})], {})
    saved.write(inner, tmp_path / "m")
    with pytest.raises(ValueError, match="more than 24 deep"):
        saved.read(tmp_path / "m")


def test_a_fifo_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for read in (saved.read, files.is_saved):
        with pytest.raises(ValueError, match="is not a model: it is empty or not a file"):
            read(tmp_path / "fifo")


def test_a_header_of_short_text_and_many_values_is_refused(path: Path) -> None:
    """A list of empty lists takes twenty times its text."""
    with pytest.raises(ValueError, match="values, which is more than 1048576"):
        saved.read(changed(path, lambda header: header.update(more=[[]] * 600_000)))


def test_the_largest_header(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    length = network_fuzz.header_bytes(path.read_bytes())
    monkeypatch.setattr(saved, "_MOST_HEADER", length)
    saved.write(network_fuzz.sample(), path)
    assert_same(network_fuzz.sample(), saved.read(path))
    monkeypatch.setattr(saved, "_MOST_HEADER", length - 1)
    with pytest.raises(ValueError, match="its header would have"):
        saved.read(path)
    with pytest.raises(ValueError, match="the model without weights has"):
        saved.write(network_fuzz.sample(), path)


def test_nodes_out_of_order_are_sorted(tmp_path: Path) -> None:
    nodes = [SourceNode("Relu", (f"t{i}",), (f"t{i + 1}",)) for i in range(50)]
    source = Source("", 17, [Value("t0", "float32", (1,))], [Value("t50", "float32", None)], nodes[::-1], {})
    saved.write(source, tmp_path / "m")
    assert_same(replace(source, nodes=nodes), saved.read(tmp_path / "m"))


def test_fuzzed_files(tmp_path: Path) -> None:
    assert network_fuzz.run_saved(tmp_path, 2000) > 0
