"""Version, machine, threads, the choice of the instruction set; how the library is found."""

from __future__ import annotations

import graphlib
import os
import pickle
import re
import threading
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import LEVELS, documented_levels

import pysimd
from pysimd import _header, _library
from support import COMPILER, NO_LIBRARIES, OTHER_LIBRARIES, ROOT, assert_refused_library, floats, python


def test_version() -> None:
    assert pysimd.version() == pysimd.__version__
    assert f'#define SIMDNET_VERSION "{pysimd.__version__}"' in (ROOT / "include" / "simdnet.h").read_text()
    major, minor, patch = map(int, pysimd.version().split("."))
    assert pysimd.version_number() == (major * 100 + minor) * 100 + patch


def test_cpu_info() -> None:
    facts = pysimd.cpu_info()
    assert facts.keys() == {kind.name.lower() for kind in pysimd.CpuInfoType}
    assert facts["threads"] >= facts["cores"] >= facts["sockets"] >= 1
    assert facts["cache_l1"] >= 1024
    assert pysimd.cpu_info(pysimd.CpuInfoType.CORES) == pysimd.cpu_info("cores") == facts["cores"]
    assert facts["avx2"] == ("avx2" in pysimd.isa_levels())
    assert facts["neon"] == ("neon" in pysimd.isa_levels())
    with pytest.raises(ValueError, match="what is 'speed'"):
        pysimd.cpu_info("speed")
    with pytest.raises(ValueError, match="99"):
        pysimd.cpu_info(99)  # type: ignore[call-overload]


def test_documented_levels() -> None:
    """Header and documentation list the instruction sets of the library, in its order."""
    rows = re.findall(r"^SN_LEVEL\((\w+),|^#elif (.*)", (ROOT / "libsrc" / "isa" / "levels.h").read_text(), re.MULTILINE)
    border = rows.index(("", "defined(__aarch64__)"))
    base, *x86 = [name for name, _ in rows[:border]]
    expected = {"x86-64": [base, *x86], "aarch64": [base, *(name for name, _ in rows[border + 1 :])]}
    assert {machine: documented_levels(machine) for machine in expected} == expected
    page = (ROOT / "docs" / "functions.md").read_text()
    for machine, names in expected.items():
        row = re.search(rf"^\| {machine} \| (.*) \|$", page, re.MULTILINE)
        assert row and re.findall(r"`(\w+)`", row[1]) == names


def test_no_include_leads_back() -> None:
    """A source and its header are one."""
    folder = ROOT / "libsrc"
    included: dict[str, set[str]] = {}
    for path in folder.rglob("*.[ch]"):
        unit = str(path.relative_to(folder).with_suffix(""))
        others = re.findall(r'^ *# *include "(.+)\.h"', path.read_text(), re.MULTILINE)
        included.setdefault(unit, set()).update(set(others) - {unit})
    assert len(included) > 100
    graphlib.TopologicalSorter(included).prepare()  # raises CycleError, which names the files


def test_no_test_is_skipped_for_a_module_of_ours() -> None:
    """It would be on every machine, once the module is moved."""
    tests = ROOT / "tests"
    files = [path for folder in (".", "network", "scorecard", "support") for path in (tests / folder).glob("*.py")]
    names = {name for path in tests.rglob("*.py") for name in re.findall(r'importorskip\("(\w+)', path.read_text())}
    assert "onnx" in names and names.isdisjoint({"network", "scorecard", "support", *(path.stem for path in files)})


def test_alignment(isa: str) -> None:
    expected = 64 if isa.startswith(("avx512", "amx")) else 32 if isa.startswith("avx") else 16
    assert pysimd.alignment() == expected


def test_performance_statistic() -> None:
    assert isinstance(pysimd.performance_statistic(), str)


def usable_processors() -> int:
    """The number to which threads are limited."""
    try:
        pysimd.set_num_threads(2**80)
        return pysimd.get_num_threads()
    finally:
        pysimd.set_num_threads(1)


def test_threads() -> None:
    assert pysimd.get_num_threads() == 1
    assert 1 <= usable_processors() <= len(os.sched_getaffinity(0))
    two = min(2, usable_processors())
    try:
        pysimd.set_num_threads(2)
        assert pysimd.get_num_threads() == two
    finally:
        pysimd.set_num_threads(1)
    with pytest.raises(ValueError, match="number is 0"):
        pysimd.set_num_threads(0)
    for value in ("2", 2.0, None):
        with pytest.raises(TypeError, match="integer"):
            pysimd.set_num_threads(value)  # type: ignore[arg-type]


def test_threads_of_a_block() -> None:
    two = min(2, usable_processors())
    with pysimd.num_threads(2) as number:
        assert number == pysimd.get_num_threads() == two
        with pysimd.num_threads(1) as one:
            assert one == pysimd.get_num_threads() == 1
        assert pysimd.get_num_threads() == two
    with pytest.raises(RuntimeError, match="inside"), pysimd.num_threads(2):
        raise RuntimeError("inside")
    assert pysimd.get_num_threads() == 1
    with pytest.raises(ValueError, match="number is -1"), pysimd.num_threads(-1):
        pass
    assert pysimd.get_num_threads() == 1


@pytest.mark.parametrize(
    ("value", "number", "ignored"),
    [("2", 2, False), ("", 1, False), ("9" * 30, 2**30, False), ("0", 1, True), ("two", 1, True), ("-1", 1, True)],
)
def test_threads_of_the_environment(value: str, number: int, ignored: bool) -> None:
    ran = python("import pysimd; print(pysimd.get_num_threads())", SIMDNET_NUM_THREADS=value)
    assert ran.returncode == 0 and int(ran.stdout) == min(number, usable_processors())
    assert ("SIMDNET_NUM_THREADS is ignored" in ran.stderr) == ignored


def test_threadpoolctl() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    assert pysimd.register_threadpoolctl() and pysimd.register_threadpoolctl()
    if not Path(_library.LIBRARY_PATH).name.startswith("libsimdnet"):
        pytest.skip(f"the library has another name: {_library.LIBRARY_PATH}")
    ours = [pool for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "simdnet"]
    assert len(ours) == 1
    assert ours[0]["num_threads"] == 1 and ours[0]["version"] == pysimd.version()
    assert ours[0]["architecture"] == pysimd.active_isa()
    with pysimd.num_threads(2) as two:
        with threadpoolctl.threadpool_limits(limits=1):
            assert pysimd.get_num_threads() == 1
        assert pysimd.get_num_threads() == two
        with threadpoolctl.threadpool_limits(limits=1, user_api="blas"):
            assert pysimd.get_num_threads() == two


def test_threadpoolctl_is_found_where_it_was_imported_before() -> None:
    pytest.importorskip("threadpoolctl")
    found = "sum(pool['internal_api'] == 'simdnet' for pool in threadpoolctl.threadpool_info())"
    assert python(f"import threadpoolctl, pysimd; print({found})").stdout.strip() == "1"
    assert python("import sys, pysimd; print('threadpoolctl' in sys.modules)").stdout.strip() == "False"


def test_an_old_threadpoolctl_is_left_alone() -> None:
    old = "import sys, types; sys.modules['threadpoolctl'] = types.ModuleType('threadpoolctl')"
    assert python(f"{old}; import pysimd; print(pysimd.register_threadpoolctl())").stdout.strip() == "False"


def test_a_forked_child_computes() -> None:
    x = np.ones((64, 64, 32), np.float32)
    weight = np.ones((3, 3, 32, 32), np.float32)
    expected = pysimd.convolution(x, weight, padding=1)
    with pysimd.num_threads(2):
        assert np.array_equal(pysimd.convolution(x, weight, padding=1), expected)
        child = os.fork()
        if child == 0:
            good = False
            try:
                good = np.array_equal(pysimd.convolution(x, weight, padding=1), expected)
            finally:
                os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_results_do_not_depend_on_the_number_of_threads(isa: str, rng: np.random.Generator) -> None:
    x = floats(rng, 2, 40, 60, 24)
    weight, matrix = floats(rng, 3, 3, 24, 40), floats(rng, 500, 300)
    calls: list[Callable[[], Any]] = [
        lambda: pysimd.convolution(x, weight, padding=1),
        lambda: pysimd.inner_product(matrix[0, :300], matrix),
        lambda: pysimd.pooling_max(x, kernel=3, stride=2, padding=1),
        lambda: pysimd.pooling_average(x, kernel=3, layout="nchw"),
        lambda: pysimd.softmax(x, axis=2),
        lambda: pysimd.relu(x, slope=0.5),
        lambda: pysimd.add(x, x, dtype="bfloat16"),
    ]
    alone = [call() for call in calls]
    try:
        pysimd.set_num_threads(2)
        together = [call() for call in calls]
    finally:
        pysimd.set_num_threads(1)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(alone, together))


# -------------------------------------------------------------------------------------------- instruction sets


def test_levels_are_those_of_the_header() -> None:
    levels = pysimd.isa_levels()
    assert list(levels) == [level for level in LEVELS if level in levels]
    assert levels[0] == "base"


def test_cap(isa: str) -> None:
    assert pysimd.active_isa() == isa
    with pysimd.max_isa("base") as inner:
        assert inner == pysimd.active_isa() == "base"
    assert pysimd.active_isa() == isa


def test_cap_is_restored_after_an_exception() -> None:
    before = pysimd.active_isa()
    with pytest.raises(ZeroDivisionError), pysimd.max_isa("base"):
        raise ZeroDivisionError
    assert pysimd.active_isa() == before


def _defaults() -> list[str]:
    """The last level; on some processors, which the library knows, ``avx512bf16`` is not the default but the one below."""
    levels = [level for level in pysimd.isa_levels() if level != "avx512bf16"]
    return [levels[-1], pysimd.isa_levels()[-1]]


def test_cap_is_lifted_and_unknown_names_are_refused() -> None:
    before = pysimd.active_isa()
    try:
        pysimd.set_max_isa(None)
        assert pysimd.active_isa() in _defaults()
        for name in ("avx3", "", "AVX2", "x" * 500):
            with pytest.raises(ValueError, match="name is"):
                pysimd.set_max_isa(name)
        with pytest.raises(TypeError, match="name is 2, expected a str or None"):
            pysimd.set_max_isa(2)  # type: ignore[arg-type]
        assert pysimd.active_isa() in _defaults()
    finally:
        pysimd.set_max_isa(before)


@pytest.mark.parametrize("level", LEVELS)
def test_environment_caps(level: str) -> None:
    done = python("import pysimd; print(pysimd.active_isa())", SIMDNET_MAX_ISA=level)
    expected = [older for older in LEVELS[: LEVELS.index(level) + 1] if older in pysimd.isa_levels()][-1]
    assert (done.stdout.strip(), done.stderr) == (expected, "")


def test_unknown_name_in_the_environment_is_a_warning() -> None:
    done = python("import pysimd; print(pysimd.active_isa())", SIMDNET_MAX_ISA="avx9")
    assert done.stdout.strip() in _defaults()
    assert done.stderr.count("\n") == 1
    assert "avx9" in done.stderr


# ------------------------------------------------------------------------------------------ finding the library


def test_library_named_by_the_environment(tmp_path: Path) -> None:
    library = str(Path(_library.LIBRARY_PATH).resolve())
    done = python(
        "import pysimd._library as l; print(l.LIBRARY_PATH, l.VERSION)",
        SIMDNET_LIBRARY=library,
    )
    assert done.stdout.split() == [library, pysimd.__version__], done.stderr
    link = tmp_path / "libsimdnet.so"
    link.symlink_to(library)
    code = f"import os; os.chdir({str(tmp_path)!r}); import pysimd._library as l; print(l.LIBRARY_PATH)"
    done = python(f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}", SIMDNET_LIBRARY="libsimdnet.so")
    assert done.stdout.strip() == str(link), done.stderr


@pytest.mark.parametrize("name", ["geteuid", "getegid"])
def test_library_of_the_environment_is_ignored_with_raised_privileges(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("SIMDNET_LIBRARY", "/nowhere/libsimdnet.so")
    with pytest.raises(ImportError, match="SIMDNET_LIBRARY is /nowhere"):
        _library._library()
    monkeypatch.setattr(os, name, lambda: 123456)
    assert Path(_library._library()).name == _library.LIBRARY


@pytest.mark.parametrize("kind", NO_LIBRARIES)
def test_what_is_no_library_is_refused(tmp_path: Path, kind: str) -> None:
    assert_refused_library(kind, tmp_path, ROOT)


@pytest.mark.skipif(COMPILER is None, reason="no compiler")
@pytest.mark.parametrize("kind", OTHER_LIBRARIES)
def test_another_version_is_refused(tmp_path: Path, kind: str) -> None:
    assert_refused_library(kind, tmp_path, ROOT)


def test_missing_library_tells_what_was_tried(tmp_path: Path) -> None:
    package = tmp_path / "pysimd"
    package.mkdir()
    for file in (ROOT / "pysimd").glob("*.py"):
        (package / file.name).write_text(file.read_text())
    done = python(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pysimd")
    assert "ImportError: pysimd found no libsimdnet.so" in done.stderr
    for place in (package / "libsimdnet.so", tmp_path / "build" / "libsimdnet.so"):
        assert str(place) in done.stderr


def test_declarations_have_nothing_of_the_preprocessor() -> None:
    text = _header.declarations(Path(_library.HEADER_PATH).read_text())
    assert "#" not in text
    assert 'extern "C"' not in text
    assert "/*" not in text
    assert text.count("{") == text.count("}")


# ------------------------------------------------------------------------------------------------------- errors


def test_errors_belong_to_their_thread() -> None:
    from pysimd.lowlevel import ffi, lib

    lib.SimdSynetRelu32f(ffi.NULL, 1, ffi.NULL, ffi.NULL)
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(lib.SimdnetLastErrorKind()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert lib.SimdnetLastErrorKind() == 1
    assert ffi.string(lib.SimdnetLastError()) == b"SimdSynetRelu32f: src is NULL, expected an array"
    pysimd.relu(np.zeros(1, np.float32))
    assert lib.SimdnetLastErrorKind() == 0
    assert ffi.string(lib.SimdnetLastError()) == b""


def test_errno_of_another_is_no_error() -> None:
    """A refusal is detected by errno; a value left by other code is recognised, and cleared."""
    import _cffi_backend

    x = np.ones(4, np.float32)
    prepared = pysimd.prepare(pysimd.relu, x)
    calls: list[Callable[[], Any]] = [lambda: pysimd.relu(x), prepared]
    for call in calls:
        _cffi_backend.set_errno(77)
        assert (call() == x).all()
        assert _cffi_backend.get_errno() == 0
    with pytest.raises(ValueError, match="no such level"):
        pysimd.set_max_isa("no such level")
    assert (prepared() == x).all()
    context = pysimd.Convolution32f((1, 1, 4), 4, kernel=1)
    with pytest.raises(pysimd.StateError):  # for a call that computes
        context.forward(x.reshape(1, 1, 4))
    assert _cffi_backend.get_errno() == 0


def test_state_error_is_a_value_error() -> None:
    assert issubclass(pysimd.StateError, ValueError)
    assert pickle.loads(pickle.dumps(pysimd.StateError("closed"))).args == ("closed",)
