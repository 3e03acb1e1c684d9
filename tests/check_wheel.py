"""Checks wheels, also those for other machines: python3 check_wheel.py WHEEL... prints what is wrong."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import sys
import zipfile
from pathlib import Path

LIBRARY = "pysimd/libsimdnet.so"
E_MACHINE = {"x86_64": 62, "aarch64": 183}


def wrong_record(archive: zipfile.ZipFile, info: str) -> list[str]:
    """RECORD lists every file with its hash and size, itself without."""
    record = {name: (code, size) for name, code, size in csv.reader(io.StringIO(archive.read(f"{info}/RECORD").decode()))}
    expected = {f"{info}/RECORD": ("", "")}
    for name in archive.namelist():
        if name not in expected:
            data = archive.read(name)
            code = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            expected[name] = f"sha256={code}", str(len(data))
    return [f"RECORD: {name}" for name in sorted(expected.keys() | record) if expected.get(name) != record.get(name)]


def wrong_machine(archive: zipfile.ZipFile, machine: str) -> list[str]:
    """Files of machine code that are not the library, and a library for another machine."""
    codes = {name: archive.read(name) for name in archive.namelist()}
    found = {name: int.from_bytes(data[18:20], "little") for name, data in codes.items() if data[:4] == b"\x7fELF"}
    return [] if found == {LIBRARY: E_MACHINE[machine]} else [f"e_machine of the files with code: {found}"]


def wrong_glibc(archive: zipfile.ZipFile, oldest: tuple[int, ...]) -> list[str]:
    """The newest symbol version that the library needs is the one in the name of the wheel."""
    needed = re.findall(rb"\0GLIBC_(\d[\d.]*)(?=\0)", archive.read(LIBRARY))
    newest = max((tuple(map(int, version.split(b"."))) for version in needed), default=None)
    return [] if newest == oldest else [f"the library needs glibc {newest}"]


def faults(wheel: Path) -> list[str]:
    project, version, *tag = wheel.stem.split("-")
    info = f"{project}-{version}.dist-info"
    platform = re.fullmatch(r"(manylinux|musllinux)_(\d+)_(\d+)_(x86_64|aarch64)", tag[-1])
    if project != "pysimd" or tag[:-1] != ["py3", "none"] or not platform:
        return ["its name"]
    with zipfile.ZipFile(wheel) as archive:
        described = archive.read(f"{info}/WHEEL").decode().splitlines()
        found = [
            f"WHEEL has no line {line}"
            for line in (f"Tag: {'-'.join(tag)}", "Root-Is-Purelib: false")
            if line not in described
        ]
        found += wrong_record(archive, info) + wrong_machine(archive, platform[4])
        if platform[1] == "manylinux":
            found += wrong_glibc(archive, (int(platform[2]), int(platform[3])))
        size = archive.getinfo(LIBRARY).file_size
    if size > 12e6:
        found.append(f"the library has {size} bytes: is it not stripped?")
    return found


def main() -> int:
    found = {wheel: faults(Path(wheel)) for wheel in sys.argv[1:]}
    for wheel, wrong in found.items():
        print(f"{wheel}: {', '.join(wrong) or 'passed'}")
    return not found or any(found.values())


if __name__ == "__main__":
    sys.exit(main())
