"""Coverage-guided fuzzing of the readers of models, by the package atheris: a file is read, or refused by a ValueError.

    python tests/fuzz/fuzz_models.py --seed 1 --files 25000

The first byte of an input chooses the format. Headers of our own format get a checksum that fits.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "fuzz"


def main() -> int:
    """Runs this file again as the program that libFuzzer ends, and prints what it counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=25_000)
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("no package atheris (make .venv/fuzz.stamp, on Python 3.11 to 3.13): nothing was tested")
        return 1
    corpus = WORK / f"models-{options.seed}"
    shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True)
    flags = [f"-seed={options.seed}", f"-runs={options.files}", "-max_len=8192", "-len_control=0", "-timeout=30"]
    flags += [f"-artifact_prefix={WORK}/", "-print_final_stats=1", str(corpus)]
    done = subprocess.run(
        [sys.executable, __file__, "--child", *flags], capture_output=True, text=True, errors="replace", check=False
    )
    files = sum(map(int, re.findall(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)))
    if done.returncode:
        print(done.stdout[-2000:] + done.stderr[-6000:])
    print("scorecard: " + json.dumps({"files": files, "file_findings": int(done.returncode != 0)}))
    return int(done.returncode != 0)


def child(flags: list[str]) -> None:
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["pysimd.network"]):
        from pysimd.network import onnx_reader, saved

    from network import fuzz as network_fuzz

    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    path = folder / "m.simdnet"
    corpus = Path(flags[-1])
    saved.write(network_fuzz.sample(), path)
    (corpus / "own").write_bytes(b"\0" + path.read_bytes())
    for i, message in enumerate(network_fuzz.onnx_samples()):
        (corpus / f"onnx{i}").write_bytes(b"\1" + message.SerializeToString())

    def one(data: bytes) -> None:
        try:
            if data[:1] == b"\1":
                network_fuzz.touch(onnx_reader.read(data[1:]))
            else:
                path.unlink(missing_ok=True)  # and a new file, as the old one may still be mapped
                path.write_bytes(network_fuzz.with_right_checksum(data[1:]))
                network_fuzz.touch(saved.read(path))
        except ValueError as error:
            if not str(error):
                raise AssertionError("no text") from error

    atheris.Setup([sys.argv[0], *flags], one)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    else:
        sys.exit(main())
