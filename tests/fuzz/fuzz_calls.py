"""Builds the program of tests/fuzz with clang's libFuzzer, and runs it from the committed corpus.

    python tests/fuzz/fuzz_calls.py --seed 1 --executions 100000     prints how many it made, the rate, and findings
    python tests/fuzz/fuzz_calls.py --minimise     adds what runs have found to the corpus, and minimises it

What a finding was called with is in build/fuzz/, and the program repeats it: build/<variant>/fuzz/calls FILE.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "fuzz"
CORPUS = ROOT / "tests" / "fuzz" / "corpus" / "calls.txt"  # an input in a line, in hexadecimal digits
PROGRAM = ROOT / "build" / f"{platform.machine()}-clang-fuzz" / "fuzz" / "calls"
LONGEST = 400  # bytes of an input: no target reads more
MOST_CORPUS = 300_000  # bytes


def main() -> int:
    options = read_options()
    os.chdir(ROOT)
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        return 0
    build()
    if options.minimise:
        return minimise()
    return run(options.seed, options.executions, options.seconds)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=0, help="ends earlier, after so many seconds")
    parser.add_argument("--minimise", action="store_true")
    return parser.parse_args()


def missing() -> str | None:
    """Why the program cannot be built here; None if it can."""
    if not shutil.which("clang"):
        return "no clang (package clang)"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("#include <stddef.h>\nint LLVMFuzzerTestOneInput(const void * d, size_t n) { return !d && n; }\n")
        command = ["clang", "-fsanitize=fuzzer,address", str(source), "-o", str(source.with_suffix(""))]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return "clang has no libFuzzer with AddressSanitizer (package libclang-rt-14-dev, or that of its version)"
    return None


def levels() -> list[str]:
    """The levels of this machine except base: a build of the others would take longer and run nothing of them."""
    library = ctypes.CDLL(str(ROOT / "build" / "libsimdnet.so"))
    library.SimdnetIsaLevel.restype = ctypes.c_char_p
    library.SimdnetIsaLevel.argtypes = [ctypes.c_size_t]
    found: list[str] = []
    while (name := library.SimdnetIsaLevel(len(found))) is not None:
        found.append(name.decode())
    return found[1:]


def build() -> None:
    subprocess.run(["make", "-s", "fuzz-program", f"FUZZ_ISAS={' '.join(levels())}"], check=True)


def unpacked(folder: Path) -> Path:
    """A folder with the committed corpus, as the program reads it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = CORPUS.read_text().split() if CORPUS.exists() else []
    for i, line in enumerate(lines):
        (folder / f"{i:05}").write_bytes(bytes.fromhex(line))
    return folder


def call(*arguments: str) -> tuple[int, str]:
    environment = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1:handle_abort=1"}
    environment.pop("SIMDNET_MAX_ISA", None)
    done = subprocess.run(
        [str(PROGRAM), *arguments], env=environment, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace")


def run(seed: int, executions: int, seconds: int) -> int:
    begin = time.monotonic()
    status, output = call(
        f"-seed={seed}",
        f"-runs={executions}",
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        "-len_control=0",
        "-entropic=0",  # its statistics took half of the time
        "-timeout=30",
        "-rss_limit_mb=4096",
        "-malloc_limit_mb=4096",
        f"-artifact_prefix={WORK}/",
        "-print_final_stats=1",
        str(unpacked(WORK / f"corpus-{seed}")),
    )
    took = time.monotonic() - begin
    done = sum(map(int, re.findall(r"stat::number_of_executed_units:\s*(\d+)", output)))
    if status:
        print(output[-6000:])
    print("\n".join(line for line in output.splitlines() if line.startswith(("fuzz:", "skipped:"))))
    counts = {"executions": done, "findings": int(status != 0), "least_rate": int(done / max(took, 1))}
    print("scorecard: " + json.dumps(counts))
    return int(status != 0)


def minimise() -> int:
    """Writes the fewest inputs that reach all that the committed corpus and those of earlier runs reach."""
    kept = WORK / "minimised"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    given = [str(unpacked(WORK / "corpus"))]
    given += [str(folder) for folder in WORK.glob("corpus-*")]
    status, output = call("-set_cover_merge=1", f"-max_len={LONGEST}", str(kept), *given)
    if status:
        print(output[-6000:])
        return status
    lines = sorted((file.read_bytes().hex() for file in kept.iterdir()), key=lambda line: (len(line), line))
    size = 0
    while lines and (size := sum(len(line) + 1 for line in lines)) > MOST_CORPUS:
        lines.pop()
    CORPUS.parent.mkdir(exist_ok=True)
    CORPUS.write_text("".join(f"{line}\n" for line in lines))
    print(f"{len(lines)} inputs, {size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
