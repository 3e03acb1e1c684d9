"""python -m pysimd: info, selftest."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import pysimd
from pysimd import __main__
from support import ROOT, Array, samples


def test_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "pysimd", "info"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert lines["simdnet"] == pysimd.__version__
    assert lines["levels"].split(";")[0].split() == list(pysimd.isa_levels())
    assert {"library", "header", "package", "Python", "machine", "caches", "threads"} <= lines.keys()


def test_selftest(capsys: pytest.CaptureFixture[str]) -> None:
    before = pysimd.active_isa()
    assert __main__.main(["selftest"]) == 0
    told = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert told == [[level, "ok,"] for level in pysimd.isa_levels()]
    assert pysimd.active_isa() == before


@pytest.mark.parametrize("name", ["relu", "winograd_output", "convolution"])
def test_selftest_finds_what_is_broken(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = getattr(pysimd, name)

    def broken(*args: object, **kwargs: object) -> Array:
        result: Array = right(*args, **kwargs)
        result.flat[-1] += 1
        return result

    monkeypatch.setattr(pysimd, name, broken)
    monkeypatch.setattr(pysimd, "isa_levels", lambda: ("base",))
    assert __main__.main(["selftest"]) == 1
    assert f"    {name}" in capsys.readouterr().out


def test_selftest_calls_every_function_and_class(rng: np.random.Generator) -> None:
    source = (ROOT / "pysimd" / "selftest.py").read_text()
    names = {name.split()[0] for name in (*samples.calls(rng), *samples.contexts(rng))}
    indirect = {"Add16b", "Convolution32f", "Deconvolution32f"}  # called through add, convolution and deconvolution
    assert not {name for name in names - indirect if f"pysimd.{name}(" not in source}


@pytest.mark.parametrize("arguments", [[], ["other"], ["bench"], ["info", "--rounds"], ["selftest", "x"]])
def test_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        __main__.main(arguments)
    assert stopped.value.code == 2
    text = capsys.readouterr().err
    assert "usage: python -m pysimd" in text and "info" in text and "selftest" in text
