"""A wheel built from a copy of the sources works elsewhere; tests that need a network: tests/sh/check_package.sh."""

from __future__ import annotations

import email
import html
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import check_wheel
import pysimd
from support import COMPILER, NO_LIBRARIES, OTHER_LIBRARIES, ROOT, assert_refused_library

SOURCES = ["Makefile", "LICENSE", "README.md", "CHANGELOG.md", "MANIFEST.in", "pyproject.toml", "setup.py"]
FRAGMENTS = ["tests/tests.mk", "examples/examples.mk"]  # of the Makefile, outside the folders that a package is built from


def run(*command: str, **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, which includes the objects and their timestamps, so that make compiles nothing."""
    copy = tmp_path_factory.mktemp("copy")
    for name in SOURCES + FRAGMENTS:
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
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
        library = {"libsimdnet.so", "simdnet.h", "simdnet_simd.h"}
        assert {f"pysimd/{name}" for name in library | {"_declarations.py", "py.typed", "network/runner.py"}} <= names
        assert not [n for n in names if n.startswith(("tests", "examples", "libsrc")) or "bench" in n or n.endswith(".mk")]
        info = f"pysimd-{pysimd.__version__}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        assert "Root-Is-Purelib: false" in archive.read(f"{info}/WHEEL").decode()
        assert (f"{info}/sboms/pysimd.cdx.json" in names) == (find_spec("cyclonedx") is not None)
    needs = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert sorted(line.split()[1].split(">")[0] for line in needs) == ["cffi", "numpy"]


def library_of(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(check_wheel.LIBRARY)


def newest_glibc(library: bytes) -> tuple[int, ...]:
    versions = re.findall(rb"\0GLIBC_(\d[\d.]*)(?=\0)", library)
    return max((tuple(map(int, version.split(b"."))) for version in versions), default=(0,))


def test_a_library_for_this_machine_alone_is_not_for_older_ones(wheel: Path) -> None:
    """What tests/check_wheel.py says about the library that `pip wheel` links, if its wheel had a tag for other systems."""
    library = library_of(wheel)
    newest = newest_glibc(library)
    if newest == (0,):
        pytest.skip("this machine has no glibc")
    assert check_wheel.wrong_linkage(library, "manylinux", newest) == []
    older = (newest[0], newest[1] - 1)
    assert check_wheel.wrong_linkage(library, "manylinux", older) == [f"the library needs glibc {newest}"]
    found = check_wheel.wrong_linkage(library, "musllinux", newest)
    assert "the library needs glibc" in found
    assert "musl does not open libraries with static TLS" in found


@pytest.mark.skipif(COMPILER is None, reason="no compiler")
def test_functions_in_place_of_those_of_the_c_library_are_found(tmp_path: Path) -> None:
    """As ziglang's memcpy() and exp(), which took the place of glibc's in a library without gcc's own functions."""
    source, library = tmp_path / "own.c", tmp_path / "own.so"
    source.write_text("double log(double); double exp(double x) { return x; } double f(double x) { return log(exp(x)); }")
    flags = ["-shared", "-fPIC", "-fno-builtin", "-fvisibility=hidden", "-lm"]
    run(str(COMPILER), str(source), *flags, "-o", str(library))
    found = check_wheel.wrong_linkage(library.read_bytes(), "manylinux", (9, 0))
    assert "the library has its own exp()" in found
    assert "the library has its own log()" not in found


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read(f"pysimd-{pysimd.__version__}.dist-info/METADATA"))


def description_of(metadata: Message) -> str:
    """What the package index shows, as Markdown."""
    text = metadata.get_payload(decode=True)
    assert isinstance(text, bytes)
    return text.decode()


def test_the_description_stands_alone(metadata: Message) -> None:
    """The README as the package index has it: no comments, and absolute links, whose targets exist in the checkout."""
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = description_of(metadata)
    assert "<!--" not in text
    urls = dict(url.split(", ") for url in metadata.get_all("Project-URL", []))
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]*)\)", text)
    assert len(links) > 20
    for picture, link in links:
        assert link.startswith("https://"), link
        place, _, file = link.partition("/raw/HEAD/" if picture else "/blob/HEAD/")
        if place.startswith(urls["Source"]):
            assert file and (ROOT / file.partition("#")[0]).exists(), link
    assert all(url.startswith(urls["Source"]) for url in urls.values())


def test_the_description_as_pypi_renders_it(metadata: Message) -> None:
    """Nothing that PyPI's renderer removes or leaves as text."""
    markdown = pytest.importorskip("readme_renderer.markdown", reason="no readme_renderer")
    rendered = markdown.render(description_of(metadata), stream=io.StringIO())
    if rendered is None:
        pytest.skip("readme_renderer has no Markdown (readme_renderer[md])")
    for address in re.findall(r'(?:href|src)="([^"]*)"', rendered):
        assert address.startswith(("https://", "#")), address
    prose = html.unescape(re.sub(r"(?s)<pre.*?</pre>|<[^>]*>", "", rendered))
    assert not re.search(r"^#|```|\]\(|<!--", prose, re.MULTILINE)
    assert rendered.count("<pre") == description_of(metadata).count("```") / 2
    assert rendered.count("<img") == 1


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the wheel is installed."""
    target = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:  # all that installing it does
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
    others = ("SIMDNET_LIBRARY", "PYTHONDONTWRITEBYTECODE")  # later runs read the bytecode that the first one writes
    environment = {name: value for name, value in os.environ.items() if name not in others}
    printed = run(sys.executable, "-c", code, str(site), cwd=tmp_path, env=environment)
    assert printed.split(" ", 1) == [str(site / "pysimd" / "libsimdnet.so"), "[0.0, 2.0]\n"]


# A document, a pattern of the size in MB that it states, and the file of that size.
SIZES = [
    ("README.md", r"one file of ([\d.]+) MB", "library"),
    ("docs/installing.md", r"^\| code and tables for all instruction sets \| ([\d.]+) MB", "library"),
    ("docs/installing.md", r"^\| the library, installed \| ([\d.]+) MB", "library"),
    ("docs/installing.md", r"^\| the wheel \| ([\d.]+) MB", "wheel"),
]


@pytest.mark.parametrize(("document", "pattern", "what"), SIZES)
def test_sizes_in_documents_are_those_of_the_build(wheel: Path, document: str, pattern: str, what: str) -> None:
    """The stated size is within 5%, plus the rounding of the number."""
    (compiler,) = re.findall(r"^Compiled by gcc (\d+) for x86-64", (ROOT / "docs/installing.md").read_text(), re.MULTILINE)
    if (run("cc", "-dumpversion").split(".")[0].strip(), platform.machine()) != (compiler, "x86_64"):
        pytest.skip(f"the documents state the sizes of gcc {compiler} for x86-64")
    (stated,) = re.findall(pattern, (ROOT / document).read_text(), re.MULTILINE)
    with zipfile.ZipFile(wheel) as archive:
        sizes = {"library": archive.getinfo("pysimd/libsimdnet.so").file_size, "wheel": wheel.stat().st_size}
    assert float(stated) * 1e6 == pytest.approx(sizes[what], rel=0.05, abs=0.05e6)


def test_libraries_in_documents_are_those_of_the_build() -> None:
    """The libraries that a program needs besides the static library, wherever they are documented."""
    (needed,) = re.findall(r"^SN_LIBS *:= (.*)", (ROOT / "libsrc" / "linux.mk").read_text(), re.MULTILINE)
    page = (ROOT / "docs/installing.md").read_text()
    (told,) = re.findall(r"the static library; link with `(.*)`", page)
    assert told == needed
    (row,) = re.findall(r"running it requires (.*?)\. The Python", page.replace("\n", " "))
    assert set(re.findall(r"lib(\w+)", row)) == {"c", *needed.replace("-l", "").split()}
    (example,) = re.findall(r"libsimdnet\.a\" (.*) -o", (ROOT / "examples/20_installed.sh").read_text())
    assert example == needed
    assert "Libs.private: @LIBS@" in (ROOT / "libsrc/simdnet.pc.in").read_text()


def test_pysimd_is_imported_faster_than_numpy(wheel: Path, tmp_path: Path) -> None:
    """As the README states: the smallest of a few ratios, since other processes only increase times."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from time import process_time as now\n"
        "begin = now()\nimport numpy\nmiddle = now()\nimport pysimd\nprint((now() - middle) / (middle - begin))"
    )
    others = ("SIMDNET_LIBRARY", "PYTHONDONTWRITEBYTECODE")  # later runs read the bytecode that the first one writes
    environment = {name: value for name, value in os.environ.items() if name not in others}
    ratios = [float(run(sys.executable, "-c", code, str(tmp_path), cwd=tmp_path, env=environment)) for _ in range(7)]
    assert min(ratios) < 1, ratios
