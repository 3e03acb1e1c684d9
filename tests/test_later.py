"""Modules that are imported when one of their names is used first."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pysimd

MODULES = pysimd._MODULES  # by public name
LATER = [f"pysimd.{module}" for module in pysimd._LATER]


def _run(*lines: str) -> str:
    """What a new process prints."""
    return subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, stdout=subprocess.PIPE, text=True).stdout


def test_type_checkers_see_the_same_names() -> None:
    """The imports that only type checkers read, and the table by which names are found."""
    blocks = [each for each in ast.parse(Path(pysimd.__file__).read_text()).body if isinstance(each, ast.If)]
    (block,) = (each for each in blocks if isinstance(each.test, ast.Name) and each.test.id == "TYPE_CHECKING")
    seen = {
        alias.name: f"pysimd.{MODULES.get(alias.name)}" == each.module
        for each in block.body
        if isinstance(each, ast.ImportFrom) and each.module != "pysimd"  # whose annotations and lowlevel are modules
        for alias in each.names
    }
    assert set(seen) == set(MODULES)
    assert all(seen.values())
    assert set(MODULES) <= set(pysimd.__all__)


def test_the_table_has_every_public_name() -> None:
    assert {*MODULES, "__version__", "annotations", "lowlevel"} == set(pysimd.__all__)


def test_a_name_is_that_of_its_module() -> None:
    for name, module in MODULES.items():
        assert getattr(pysimd, name) is getattr(import_module(f"pysimd.{module}"), name)
    for name in set(pysimd.__all__) - {"annotations", "lowlevel"}:
        assert not isinstance(getattr(pysimd, name), type(sys)), name


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="module 'pysimd' has no attribute 'activations'"):
        pysimd.activations  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nothing' from 'pysimd'"):
        from pysimd import nothing  # type: ignore[attr-defined]  # noqa: F401


def test_importing_the_package_imports_few_modules() -> None:
    assert _run("import sys, pysimd", f"print([name for name in {LATER!r} if name in sys.modules])") == "[]\n"


ALL = "globals().update({name: getattr(pysimd, name) for name in dir(pysimd)})"


@pytest.mark.parametrize("use", ["from pysimd import *", f"import pysimd; {ALL}"])
def test_all_names_in_a_new_process(use: str) -> None:
    """Those of the table and others, whatever is imported before."""
    found = _run(
        "import pysimd.network.model", use, "import pysimd as p", "print([n for n in p.__all__ if n not in globals()])"
    )
    assert found == "[]\n"
    assert _run(use, "print(callable(relu), callable(gemm), callable(add), Context.__name__)") == "True True True Context\n"


SHARED = [name for name in pysimd._LATER if name in MODULES]  # of a module and of a function in it


@pytest.mark.parametrize("before", ["", "import pysimd.network.planner", *(f"import pysimd.{name}" for name in SHARED[:3])])
def test_functions_whose_modules_have_their_names(before: str) -> None:
    """Whether a module is imported by its name, by another module, or for its function: the name is that of the function."""
    names = f"print([name for name in {SHARED!r} if not callable(getattr(pysimd, name))])"
    modules = [f"import pysimd.{name}" for name in SHARED]
    assert _run(before, "import pysimd", *modules, names) == "[]\n"
    assert _run(before, "import pysimd", names, *modules, names) == "[]\n[]\n"
    imported = "from pysimd.gemm import joined; from pysimd import gemm; print(gemm.__name__, joined.__module__)"
    assert _run(before, imported) == "gemm pysimd.gemm\n"


def test_the_package_is_pickled() -> None:
    """As functions that refer to it are, which cloudpickle sends to other processes."""
    assert pickle.loads(pickle.dumps(pysimd)) is pysimd
