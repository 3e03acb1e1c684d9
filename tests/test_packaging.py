"""A wheel from a clean copy of the sources works away from them; what needs a network is in tests/check_package.sh."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from support import COMPILER, NO_LIBRARIES, OTHER_LIBRARIES, ROOT, assert_refused_library

import pysimd

SOURCES = ["Makefile", "LICENSE", "README.md", "CHANGELOG.md", "MANIFEST.in", "pyproject.toml", "setup.py"]


def run(*command: str, **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy. It takes the objects along, with their times, so that make has nothing to compile."""
    copy = tmp_path_factory.mktemp("copy")
    for name in SOURCES:
        shutil.copy2(ROOT / name, copy)
    for name in ("libsrc", "include", "pysimd", "build"):
        shutil.copytree(
            ROOT / name,
            copy / name,
            symlinks=True,
            ignore=shutil.ignore_patterns("__pycache__", "tests", "bdist*", "lib*-*"),
        )
    build = ("pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation")
    run(sys.executable, "-m", *build, "--wheel-dir", str(copy / "dist"), ".", cwd=copy)
    (found,) = (copy / "dist").glob("*.whl")
    return found


def test_tag_and_contents(wheel: Path) -> None:
    name, version, *tag = wheel.stem.split("-")
    assert (name, version, tag[:2]) == ("pysimd", pysimd.__version__, ["py3", "none"])
    assert tag[2].startswith("linux_")
    assert tag[2].endswith(platform.machine())
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert {
            f"pysimd/{name}"
            for name in ("libsimdnet.so", "simdnet.h", "_declarations.py", "py.typed", "bench/cases/case.py")
        } <= names
        assert not [n for n in names if n.startswith(("tests", "examples", "libsrc"))]
        info = f"pysimd-{pysimd.__version__}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        assert "Root-Is-Purelib: false" in archive.read(f"{info}/WHEEL").decode()
    needs = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert sorted(line.split()[1].split(">")[0] for line in needs) == ["cffi", "numpy"]


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel is installed."""
    target = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:  # what installing it does
        archive.extractall(target)
    return target


@pytest.mark.parametrize("kind", NO_LIBRARIES)
def test_what_is_no_library_is_refused_by_what_is_installed(site: Path, tmp_path: Path, kind: str) -> None:
    assert_refused_library(kind, tmp_path, site)


@pytest.mark.skipif(COMPILER is None, reason="no compiler")
@pytest.mark.parametrize("kind", OTHER_LIBRARIES)
def test_another_version_is_refused_by_what_is_installed(site: Path, tmp_path: Path, kind: str) -> None:
    assert_refused_library(kind, tmp_path, site)


def test_installed_elsewhere(site: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np, pysimd, pysimd._library as l\n"
        "print(l.LIBRARY_PATH, pysimd.relu(np.array([-1, 2], np.float32)).tolist())\n"
        "assert 'pycparser' not in sys.modules  # the declarations were parsed when the wheel was built"
    )
    environment = {name: value for name, value in os.environ.items() if name != "SIMDNET_LIBRARY"}
    printed = run(sys.executable, "-c", code, str(site), cwd=tmp_path, env=environment)
    assert printed.split(" ", 1) == [str(site / "pysimd" / "libsimdnet.so"), "[0.0, 2.0]\n"]
