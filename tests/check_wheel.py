"""Checks wheels, also those for other machines: python3 check_wheel.py WHEEL... prints what is wrong. With auditwheel, which
.venv-tools has, that checks the tags too."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import json
import re
import struct
import subprocess
import sys
import zipfile
from collections import defaultdict
from pathlib import Path

LIBRARY = "pysimd/libsimdnet.so"
DLL = "pysimd/simdnet.dll"
E_MACHINE = {"x86_64": 62, "aarch64": 183}
AMD64 = 0x8664


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


def machine_of(data: bytes) -> int | None:
    """The number of the machine that a file has code for, as ELF files and those of Windows have it; None for others."""
    if data[:4] == b"\x7fELF":
        return int.from_bytes(data[18:20], "little")
    if data[:2] == b"MZ":
        (start,) = struct.unpack_from("<I", data, 0x3C)
        return int.from_bytes(data[start + 4 : start + 6], "little")
    return None


def wrong_machine(archive: zipfile.ZipFile, library: str, machine: int) -> list[str]:
    """Files of machine code that are not the library, and a library for another machine."""
    codes = {name: machine_of(archive.read(name)) for name in archive.namelist()}
    found = {name: code for name, code in codes.items() if code is not None}
    return [] if found == {library: machine} else [f"machines of the files with code: {found}"]


# Some of what the library takes from the C library. ziglang has functions of the same names, with other results or slower.
FROM_LIBC = {"memcpy", "memmove", "memset", "exp", "log", "sin", "cos", "fmodf"}
LIBRARIES = {
    "manylinux": {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"},
    "musllinux": {"libc.musl-x86_64.so.1"},
}
DT_NEEDED, DT_FLAGS, DF_STATIC_TLS = 1, 30, 0x10


def string_at(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()


def dynamic_part(data: bytes) -> tuple[dict[int, list[int]], set[str], set[str]]:
    """The values of each tag of a 64-bit ELF library, the libraries that it needs and the names that it takes from them."""
    (start,) = struct.unpack_from("<Q", data, 40)
    size, number = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(number)]
    values: dict[int, list[int]] = defaultdict(list)
    names = set()
    strings = 0
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind == 6:  # SHT_DYNAMIC
            strings = sections[link][4]
            for tag, value in struct.iter_unpack("<QQ", data[offset : offset + length]):
                values[tag].append(value)
        if kind == 11:  # SHT_DYNSYM
            for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", data[offset : offset + length]):
                if section == 0:
                    names.add(string_at(data, sections[link][4] + name))
    return values, {string_at(data, strings + value) for value in values[DT_NEEDED]}, names


def wrong_linkage(data: bytes, libc: str, newest: tuple[int, ...]) -> list[str]:
    """What the library needs that a system of the tag may lack."""
    values, needed, names = dynamic_part(data)
    found = [f"the library needs {name}" for name in sorted(needed - LIBRARIES[libc])]
    versions = [tuple(map(int, v.split(b"."))) for v in re.findall(rb"\0GLIBC_(\d[\d.]*)(?=\0)", data)]
    if libc == "manylinux" and not (versions and max(versions) <= newest):
        found.append(f"the library needs glibc {max(versions, default=None)}")
    if libc == "musllinux" and versions:
        found.append("the library needs glibc")
    if libc == "musllinux" and any(flags & DF_STATIC_TLS for flags in values[DT_FLAGS]):
        found.append("musl does not open libraries with static TLS")
    return found + [f"the library has its own {name}()" for name in sorted(FROM_LIBC - names)]


def wrong_sbom(archive: zipfile.ZipFile, info: str, version: str, path: str) -> list[str]:
    """The bill of materials (PEP 770) is of this version, and of this library."""
    if f"{info}/sboms/pysimd.cdx.json" not in archive.namelist():
        return ["no SBOM"]
    bom = json.loads(archive.read(f"{info}/sboms/pysimd.cdx.json"))
    (library,) = bom["components"]
    hashes = [{"alg": "SHA-256", "content": hashlib.sha256(archive.read(path)).hexdigest()}]
    stated = bom["bomFormat"], bom["metadata"]["component"]["purl"], library["name"], library["hashes"]
    return [] if stated == ("CycloneDX", f"pkg:pypi/pysimd@{version}", "libsimdnet", hashes) else [f"SBOM: {stated}"]


def audited(wheel: Path, platform: str) -> list[str]:
    """What auditwheel, which knows Linux alone, says about the tag, where it is installed."""
    if importlib.util.find_spec("auditwheel") is None or platform == "win_amd64":
        return []
    # In the usual folders it may find a script of the linker in place of a library.
    paths = ["--ldpaths", "/lib"] if platform.startswith("musl") else []
    command = [sys.executable, "-m", "auditwheel", "show", *paths, str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = " ".join((done.stdout + done.stderr).split())
    stated = platform.replace("manylinux2014", "manylinux_2_17")
    return [] if f'platform tag: "{stated}"' in said else [f"auditwheel says: {said}"]


def faults(wheel: Path) -> list[str]:
    project, version, *tag = wheel.stem.split("-")
    info = f"{project}-{version}.dist-info"
    platform = re.fullmatch(r"(manylinux2014|musllinux_1_2)_(x86_64|aarch64)|win_amd64", tag[-1])
    if project != "pysimd" or tag[:-1] != ["py3", "none"] or not platform:
        return ["its name"]
    with zipfile.ZipFile(wheel) as archive:
        described = archive.read(f"{info}/WHEEL").decode().splitlines()
        found = [
            f"WHEEL has no line {line}"
            for line in (f"Tag: {'-'.join(tag)}", "Root-Is-Purelib: false")
            if line not in described
        ]
        library = LIBRARY if platform[1] else DLL
        found += wrong_record(archive, info) + wrong_sbom(archive, info, version, library)
        found += wrong_machine(archive, library, E_MACHINE[platform[2]] if platform[1] else AMD64)
        if platform[1]:  # of the DLL, check_windows.sh has seen what it needs
            found += wrong_linkage(archive.read(LIBRARY), platform[1][:9], (2, 17))
        size = archive.getinfo(library).file_size
    if size > 12e6:
        found.append(f"the library has {size} bytes: is it not stripped?")
    return found + audited(wheel, tag[-1])


def main() -> int:
    found = {wheel: faults(Path(wheel)) for wheel in sys.argv[1:]}
    without = "" if importlib.util.find_spec("auditwheel") else " (without auditwheel)"
    for wheel, wrong in found.items():
        print(f"{wheel}: {', '.join(wrong) or 'passed'}{without}")
    return not found or any(found.values())


if __name__ == "__main__":
    sys.exit(main())
