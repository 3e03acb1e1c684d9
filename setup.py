"""What pyproject.toml cannot express: the version is the header's, the package contains the library that make builds, and
the same sources give the same packages, bit by bit."""

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import uuid
from datetime import datetime, timezone
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from typing import Any

import cffi
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

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


def description() -> str:
    """README.md for the package index, which shows it by itself: links are absolute, and there are no comments."""
    (source,) = re.findall(r'^Source = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    text = re.sub(r"<!--.*?-->\n", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"(!\[[^]]*\]\()(?!https?:)", rf"\1{source}/raw/HEAD/", text)
    return re.sub(r"(\]\()(?!https?:)", rf"\1{source}/blob/HEAD/", text)


def date_of_sources() -> str:
    """Seconds since 1970: the date of the commit, or in an sdist, whose files all have that date, of one of them."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "log", "-1", "--format=%ct"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    return str(int((ROOT / "CHANGELOG.md").stat().st_mtime))


os.environ.setdefault("SOURCE_DATE_EPOCH", date_of_sources())  # bdist_wheel gives it to the files of a wheel


def usual_mode(mode: int) -> int:
    """Permissions that do not depend on the umask of who builds, or who checked out the sources."""
    return 0o755 if mode & 0o100 else 0o644


def bill_of_materials(library: Path, version: str) -> str:
    """The wheel's components as CycloneDX JSON; number and time are those of the library and of the sources."""
    from cyclonedx.factory.license import LicenseFactory
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.bom import Bom, BomMetaData
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6
    from packageurl import PackageURL

    digest = hashlib.sha256(library.read_bytes()).hexdigest()

    def component(name: str, **more: Any) -> Component:
        mit = LicenseFactory().make_with_id("MIT")
        return Component(name=name, version=version, bom_ref=name, type=ComponentType.LIBRARY, licenses=[mit], **more)

    package = component("pysimd", purl=PackageURL("pypi", name="pysimd", version=version))
    binary = component("libsimdnet", hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)])
    date = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"pkg:pypi/pysimd@{version}#{digest}")
    bom = Bom(components=[binary], serial_number=number, metadata=BomMetaData(component=package, timestamp=date))
    bom.register_dependency(package, [binary])
    return str(JsonV1Dot6(bom).output_as_string(indent=2)) + "\n"


class ReproducibleWheel(bdist_wheel):
    """The library depends on the platform and not on the Python version."""

    def get_tag(self) -> "tuple[str, str, str]":
        return "py3", "none", super().get_tag()[2]

    def write_wheelfile(self, *arguments: Any, **options: Any) -> None:
        """Called when all files of the wheel are in a folder."""
        super().write_wheelfile(*arguments, **options)
        folder = Path(str(self.bdist_dir))
        if find_spec("cyclonedx"):  # which `make wheel` installs, and a build from source may lack
            (info,) = folder.glob("*.dist-info")
            sbom = info / "sboms" / "pysimd.cdx.json"  # where PEP 770 has it
            sbom.parent.mkdir()
            (library,) = (path for path in (folder / "pysimd").iterdir() if path.suffix in (".so", ".dll"))
            text = bill_of_materials(library, self.distribution.get_version())
            sbom.write_text(text, encoding="utf-8")
        for path in folder.rglob("*"):
            if path.is_file():
                path.chmod(usual_mode(path.stat().st_mode))


class ReproducibleSdist(sdist):
    """A .tar.gz that does not depend on who packs it, and when; setuptools' own contains the user's name and the time."""

    def make_archive(self, base_name: Any, format: str, *arguments: Any, **options: Any) -> str:
        date = int(os.environ["SOURCE_DATE_EPOCH"])

        def usual(member: tarfile.TarInfo) -> tarfile.TarInfo:
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = date
            member.mode = usual_mode(member.mode)
            return member

        name = f"{base_name}.tar.gz"
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(options["base_dir"], filter=usual)
        Path(name).write_bytes(gzip.compress(packed.getvalue(), mtime=date))
        return name


class WithBinary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(
    version=HEADER.read_text().partition('#define SIMDNET_VERSION "')[2].partition('"')[0],
    long_description=description(),
    long_description_content_type="text/markdown",
    packages=[".".join(p.parent.relative_to(ROOT).parts) for p in sorted((ROOT / "pysimd").rglob("__init__.py"))],
    package_data={"pysimd": ["py.typed"]},
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": ReproducibleWheel, "sdist": ReproducibleSdist},
    distclass=WithBinary,
)
