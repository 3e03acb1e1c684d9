"""What pyproject.toml cannot say: the version is the header's, and the package carries the library that make builds."""

import shutil
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import cffi
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
HEADER = ROOT / "include" / "simdnet.h"


class BuildWithLibrary(build_py):
    """Has make put libsimdnet.so and its header beside the modules, and what cffi's parser, which is slow, makes of it. An
    editable install uses the checkout's own."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        if not sys.platform.startswith("linux") or shutil.which("make") is None:
            raise SystemExit("pysimd is built on Linux, with GNU make and gcc or clang")
        shutil.rmtree(self.build_lib, ignore_errors=True)  # may hold modules that are no more
        super().run()
        into = Path(self.build_lib).resolve() / "pysimd"
        subprocess.run(["make", "-C", str(ROOT), "python-files", f"INTO={into}"], check=True)
        interface = cffi.FFI()
        interface.set_source("pysimd._declarations", None)
        interface.cdef(run_path(str(ROOT / "pysimd" / "_header.py"))["declarations"](HEADER.read_text(encoding="ascii")))
        interface.emit_python_code(str(into / "_declarations.py"))


class AnyPython(bdist_wheel):
    """The library depends on the platform and not on the Python version."""

    def get_tag(self) -> "tuple[str, str, str]":
        return "py3", "none", super().get_tag()[2]


class WithBinary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(
    version=HEADER.read_text().partition('#define SIMDNET_VERSION "')[2].partition('"')[0],
    packages=[".".join(p.parent.relative_to(ROOT).parts) for p in sorted((ROOT / "pysimd").rglob("__init__.py"))],
    package_data={"pysimd": ["py.typed"]},
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython},
    distclass=WithBinary,
)
