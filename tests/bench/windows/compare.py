"""Times of layers with simdnet.dll under Wine, over those with Linux's library of the same compiler.

    Z=$PWD/.venv-tools/lib/python3.11/site-packages/ziglang/zig
    make TARGET=windows
    make CC="$Z cc -target x86_64-linux-gnu" VARIANT=x86_64-zig BASE_x86_64=-march=x86_64 build/x86_64-zig/libsimdnet.so
    python tests/bench/windows/compare.py "$Z" build/x86_64-windows build/x86_64-zig

Linux gives large pages to arrays of several MB, the library's weights included, and Wine to none. With --small-pages, Linux
does not either, and what remains is the difference of the code.

The program layers.c is run with each library in turn, and of each layer the least time of all runs counts, so that what
else the machine does concerns both alike.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("layers.c")
FLAGS = ["-O2", "-std=c99", f"-I{SOURCE.parents[3] / 'include'}", str(SOURCE)]


def compile_for_windows(zig: str, library: Path, folder: Path) -> Path:
    """The program, beside a copy of the DLL."""
    program = folder / "layers.exe"
    command = [zig, "cc", "-target", "x86_64-windows-gnu", *FLAGS, str(library / "libsimdnet.dll.a"), "-o", str(program)]
    subprocess.run(command, check=True)
    shutil.copy(library / "simdnet.dll", folder)
    return program


def compile_for_linux(zig: str, library: Path, folder: Path) -> Path:
    program = folder / "layers"
    linked = [str(library / "libsimdnet.so"), f"-Wl,-rpath,{library.resolve()}"]
    command = [zig, "cc", "-target", "x86_64-linux-gnu", *FLAGS, *linked, "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def forbid_large_pages() -> None:
    """For this process and those that it becomes."""
    pr_set_thp_disable = 41
    ctypes.CDLL(None).prctl(pr_set_thp_disable, 1, 0, 0, 0)


def times_of(command: list[str], level: str, prefix: Path, small_pages: bool) -> dict[str, int]:
    """Cycles by layer."""
    environment = {**os.environ, "SIMDNET_MAX_ISA": level, "WINEDEBUG": "-all", "WINEPREFIX": str(prefix)}
    before = forbid_large_pages if small_pages else None
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True, preexec_fn=before)
    pairs = (line.split("\t") for line in done.stdout.splitlines())
    return {name: int(cycles) for name, cycles in pairs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zig")
    parser.add_argument("windows", type=Path, help="the folder of simdnet.dll")
    parser.add_argument("linux", type=Path, help="the folder of libsimdnet.so")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--levels", nargs="*", default=["sse41", "avx2", "avx512bf16"])
    parser.add_argument("--small-pages", action="store_true")
    options = parser.parse_args()
    prefix = options.windows.resolve() / "wine"
    wine = shutil.which("wine") or shutil.which("wine64")
    if not wine:
        parser.error("there is no wine")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = {
            "windows": [wine, str(compile_for_windows(options.zig, options.windows, folder))],
            "linux": [str(compile_for_linux(options.zig, options.linux, folder))],
        }
        for level in options.levels:
            best: dict[str, dict[str, int]] = {system: {} for system in commands}
            for _ in range(options.rounds):
                for system, command in commands.items():
                    for layer, cycles in times_of(command, level, prefix, options.small_pages).items():
                        best[system][layer] = min(cycles, best[system].get(layer, cycles))
            ratios = {layer: cycles / best["linux"][layer] for layer, cycles in best["windows"].items()}
            for layer, ratio in ratios.items():
                print(f"{level:11} {layer:36} {best['linux'][layer]:9} cycles, {ratio:.3f}")
            mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
            print(f"{level}: mean {mean:.3f}, least {min(ratios.values()):.3f}, greatest {max(ratios.values()):.3f}")


if __name__ == "__main__":
    main()
