"""Docstrings of all public names: each has an example, and the examples are correct."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pysimd

# Public names whose docstrings need no example: values, and modules with tests of their own.
WITHOUT = {"__version__", "annotations", "lowlevel"}
NAMES = [name for name in pysimd.__all__ if name not in WITHOUT]


@pytest.fixture(autouse=True)
def _settings_of_the_process() -> Iterator[None]:
    """Restores settings that examples change."""
    threads, isa = pysimd.get_num_threads(), pysimd.active_isa()
    yield
    pysimd.set_num_threads(threads)
    pysimd.set_max_isa(isa)


def examples(thing: Any, name: str) -> list[doctest.DocTest]:
    """The examples of a function, or of a class and its methods."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    module = inspect.getmodule(thing)
    found = finder.find(thing, name, module=module, globs={"np": np, "pysimd": pysimd})
    return [test for test in found if test.examples]


def failures(test: doctest.DocTest) -> str:
    """Differences between what an example prints and what it should print; empty if there are none."""
    text: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=text.append)
    return "".join(text)


@pytest.mark.parametrize("name", NAMES)
def test_examples(name: str) -> None:
    found = examples(getattr(pysimd, name), f"pysimd.{name}")
    assert found, f"pysimd.{name} has no example"
    for test in found:
        assert not failures(test), test.name


def test_the_package_has_an_example() -> None:
    (test,) = [test for test in examples(pysimd, "pysimd") if test.name == "pysimd"]
    assert not failures(test)


def test_a_wrong_example_is_noticed() -> None:
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert "Got" in failures(test)


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isroutine(getattr(pysimd, name))])
def test_arguments_are_described(name: str) -> None:
    """Every argument of a function is mentioned in its docstring."""
    function = getattr(pysimd, name)
    text = inspect.getdoc(function) or ""
    for argument in inspect.signature(function).parameters:
        if argument != "layout":  # described by the shapes
            assert argument in text, argument
