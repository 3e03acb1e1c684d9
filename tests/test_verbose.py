"""SIMDNET_VERBOSE: lines that awk can parse, for every function that computes; the table of their times."""

from __future__ import annotations

import re
import subprocess
import threading

import numpy as np
import pytest
from test_lowlevel import DECLARATIONS

import pysimd
from support import ROOT, floats, python

CALL = re.compile(
    r"simdnet: function=(\S+) shape=(\S+) algorithm=(\S+) level=(\S+) threads=(\d+) (?:us=(\d+\.\d{3})|error=(\w+))"
)

PROGRAM = """
import numpy as np
import pysimd
x, weight = np.ones((6, 8, 3), np.float32), np.ones((3, 3, 3, 4), np.float32)
for i in range(3):
    pysimd.relu(x, slope=0.5)
pysimd.convolution(x, weight, stride=2, padding=1)
try:
    pysimd.lowlevel.SimdSynetRelu32f(pysimd.lowlevel.ffi.NULL, 1, pysimd.lowlevel.ffi.NULL, pysimd.lowlevel.ffi.NULL)
finally:
    print(pysimd.performance_statistic(), end="")
"""


def test_lines_and_table() -> None:
    done = python(PROGRAM, SIMDNET_VERBOSE="2")
    first, *lines = done.stderr.splitlines()
    found = re.fullmatch(
        r"simdnet: version=(\S+) cpu=\S+ cores=\d+ levels=(\S+) level=(\S+) threads=(\d+) library=(.*)", first
    )
    assert found
    version, levels, level, threads, library = found.groups()
    assert version == pysimd.__version__
    assert tuple(levels.split(",")) == pysimd.isa_levels()
    assert level == python("import pysimd; print(pysimd.active_isa())").stdout.strip()  # not the last where that is slow
    assert threads == "1"
    assert library.endswith("libsimdnet.so")

    calls = [found.groups() for found in map(CALL.fullmatch, lines) if found]
    assert len(calls) == len(lines) == 6
    assert [call[0] for call in calls] == ["SimdSynetRelu32f"] * 3 + [
        "SimdSynetConvolution32fSetParams",
        "SimdSynetConvolution32fForward",
        "SimdSynetRelu32f",
    ]
    assert [call[1] for call in calls] == ["size:144"] * 3 + ["1x3x6x8->4x3x4,3x3,s2,nhwc"] * 2 + ["size:1"]
    assert calls[0][2] == "-"
    assert calls[4][2] != "-"
    assert {call[3] for call in calls} == {level}
    assert [call[6] for call in calls] == [None] * 5 + ["value"]

    header, *rows = [line.split() for line in done.stdout.splitlines()]
    assert header == ["calls", "total_us", "mean_us", "min_us", "max_us", "function", "shape", "algorithm", "level"]
    totals: dict[tuple[str, ...], list[float]] = {}
    for name, shape, algorithm, isa, _, us, _ in calls[:5]:
        totals.setdefault((name, shape, algorithm, isa), []).append(float(us))
    assert {tuple(row[5:]) for row in rows} == totals.keys()
    for count, *times, name, shape, algorithm, isa in rows:
        each = totals[name, shape, algorithm, isa]
        assert int(count) == len(each)
        expected = [sum(each), sum(each) / len(each), min(each), max(each)]
        assert [float(time) for time in times] == pytest.approx(expected, abs=0.0011)
    order = [float(row[1]) for row in rows]
    assert order == sorted(order, reverse=True)


def test_awk() -> None:
    """The command of the documentation, on the output of a program."""
    text = (ROOT / "docs" / "verbose.md").read_text()
    (command,) = re.findall(r"^(awk .*) stderr\.txt$", text, flags=re.MULTILINE)
    said = python(PROGRAM, SIMDNET_VERBOSE="2").stderr
    done = subprocess.run(["sh", "-ec", command], input=said, capture_output=True, text=True, check=True)
    table = {name: (int(count), float(us)) for name, count, us in map(str.split, done.stdout.splitlines())}
    expected: dict[str, list[float]] = {}
    for found in map(CALL.fullmatch, said.splitlines()):
        if found and found[6]:
            expected.setdefault(found[1], []).append(float(found[6]))
    assert {name: count for name, (count, _) in table.items()} == {name: len(us) for name, us in expected.items()}
    for name, us in expected.items():
        assert table[name][1] == pytest.approx(sum(us), rel=1e-4)
    assert table["SimdSynetRelu32f"][0] == 3


def test_examples_of_the_documentation() -> None:
    text = (ROOT / "docs" / "verbose.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith("simdnet: function=")]
    assert len(lines) == 3
    assert all(CALL.fullmatch(line) for line in lines)


def test_every_function_that_computes_has_a_line() -> None:
    """Called with zeros only, each returns at once, because there is nothing to do or it is refused, and writes a line.

    Formats are printed by name; 0 is nchw.
    """
    declared = re.findall(r"^void (Simd(?:Synet|Winograd|Gemm)\w+)\(([^;]*)\);", DECLARATIONS, flags=re.MULTILINE)
    names = [name for name, _ in declared]
    assert len(names) > 50
    code = f"""
from pysimd.lowlevel import ffi, lib
for name in {names!r}:
    function = getattr(lib, name)
    kinds = [kind.kind for kind in ffi.typeof(function).args]
    function(*[ffi.NULL if kind == "pointer" else 0 for kind in kinds])
"""
    done = python(code, SIMDNET_VERBOSE="2")
    assert done.returncode == 0, done.stderr
    lines = [found for found in map(CALL.fullmatch, done.stderr.splitlines()) if found]
    assert [line[1] for line in lines] == names
    formats = [arguments.count("SimdTensorFormatType") for _, arguments in declared]
    assert [line[2].count("ormat:nchw") for line in lines] == formats
    assert sum(formats) > 20


def test_bad_values_of_the_variable() -> None:
    for value in ("3", "yes", "-1", "1 "):
        done = python("import pysimd; print(repr(pysimd.performance_statistic()))", SIMDNET_VERBOSE=value)
        assert done.stderr == f"simdnet: SIMDNET_VERBOSE is ignored, expected 0, 1 or 2: {value}\n"
        assert done.stdout == "''\n"


def test_levels_in_process(rng: np.random.Generator, capfd: pytest.CaptureFixture[str]) -> None:
    x = floats(rng, 40)
    try:
        pysimd.set_verbose(2)
        pysimd.tanh(x)
        pysimd.set_verbose(1)
        pysimd.tanh(x)
        assert len([line for line in capfd.readouterr().err.splitlines() if CALL.fullmatch(line)]) == 1
        pysimd.set_verbose(0)
        pysimd.tanh(x)
        assert re.search(r"^ +2 .* SimdSynetTanh32f size:40 ", pysimd.performance_statistic(), flags=re.MULTILINE)
        pysimd.set_verbose(1)
        assert pysimd.performance_statistic() == ""
    finally:
        pysimd.set_verbose(0)
    for level in (-1, 3, 2**80):
        with pytest.raises(ValueError, match=f"level is {level}, expected 0, 1 or 2"):
            pysimd.set_verbose(level)
    for wrong in ("2", 1.0, None):
        with pytest.raises(TypeError, match="integer"):
            pysimd.set_verbose(wrong)  # type: ignore[arg-type]


def test_calls_of_many_threads_are_all_counted() -> None:
    def work(size: int) -> None:
        x = np.ones(size, np.float32)
        for _ in range(200):
            pysimd.relu(x, slope=0.5, out=x)

    pysimd.set_verbose(1)
    try:
        threads = [threading.Thread(target=work, args=(1 + i % 3,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        pysimd.set_verbose(0)
    rows = [line.split() for line in pysimd.performance_statistic().splitlines()[1:]]
    assert {(row[6], row[0]) for row in rows if row[5] == "SimdSynetRelu32f"} == {(f"size:{i}", "400") for i in (1, 2, 3)}


def test_lines_of_threads_do_not_mix() -> None:
    code = """
import threading
import numpy as np
import pysimd
def work():
    x = np.ones(4, np.float32)
    for _ in range(100):
        pysimd.relu(x, slope=0.5, out=x)
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
    done = python(code, SIMDNET_VERBOSE="2")
    lines = done.stderr.splitlines()[1:]
    assert len(lines) == 400
    assert all(CALL.fullmatch(line) for line in lines)
