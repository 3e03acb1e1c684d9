"""Models are loaded and prepared without importing what they do not need: tables say where it is."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from inspect import signature
from typing import Any

import pysimd
from pysimd.network.convert import conversion, files, fold
from pysimd.network.operators import UNARY


def test_operators_of_files_that_are_imported_later() -> None:
    """Each file converts just the operators that the table has for it."""
    files.import_all()
    found: dict[str, set[str]] = {}
    for entries in (conversion._REGISTRY, conversion._OF_OTHERS):
        for operator, entry in entries.items():
            convert: Any = getattr(entry, "convert", entry)
            found.setdefault(convert.__module__.rpartition(".")[2], set()).add(operator)
    at_once = {"images", "moves", "pointwise"}
    assert {file: set(names.split()) for file, names in files.OPERATORS.items()} == {
        file: names for file, names in found.items() if file not in at_once
    }


def test_functions_of_files_that_are_imported_later() -> None:
    for place, operators in fold._LATER.items():
        file, table = place.split(".")
        assert sorted(vars(import_module(f"pysimd.network.convert.{file}"))[table]) == operators.split()


def test_functions_of_every_element() -> None:
    """The table has the names of parameters, and all functions that the modules have, without their other names."""
    others = {"relu6", "unary"}  # a range in the place of the first
    functions = {name: getattr(pysimd, name) for name in pysimd.__all__ if name not in others}
    assert {
        name: () if name == "relu" else tuple(each for each in signature(function).parameters if each not in ("x", "out"))
        for name, function in functions.items()
        if getattr(function, "__module__", "") in ("pysimd.activation", "pysimd.unary") and function.__name__ == name
    } == UNARY


def test_a_model_imports_what_it_needs() -> None:
    """A model of float layers: no file of other operators, and none of functions of the package."""
    lines = [
        "import sys",
        "from pysimd.network import planner",
        "from pysimd.network.convert.files import OPERATORS",
        "needed = {'pysimd.calls', 'pysimd.cast', 'pysimd.context', 'pysimd.copy', 'pysimd.gemm', 'pysimd.reduce'}",
        "needed |= {'pysimd.errors', 'pysimd.infrastructure', 'pysimd'}",
        "others = ['rare', 'regions', 'signals', 'groups', 'float_products', 'tables']",
        "files = [f'pysimd.network.convert.{name}' for name in (*OPERATORS, *others)]",
        "files += [f'pysimd.{name}' for name in sys.modules['pysimd']._LATER]",
        "files += ['numpy.typing', 'pysimd.recurrent', 'pysimd.network.open_plan', 'pysimd.network.check']",
        "print(sorted(name for name in files if name in sys.modules and name not in needed))",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "[]\n"
