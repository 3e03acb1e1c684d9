"""pnnx, which converts ONNX files for ncnn. It comes with its Python package, which is not imported: that needs PyTorch."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.implementations import Unsupported
from bench.onnx_files import Input

_TYPES = {"float32": "f32", "int32": "i32", "int64": "i64"}
_SECONDS = 60  # a conversion takes less than one


def program() -> str | None:
    """Its path, if it is installed."""
    package = importlib.util.find_spec("pnnx")
    inside = [shutil.which("pnnx", path=folder) for folder in (package.submodule_search_locations or ())] if package else []
    return next(filter(None, inside), None) or shutil.which("pnnx")


def converted(path: Path, inputs: Sequence[Input], folder: Path) -> Path:
    """The .param file in the folder; beside it is the .bin file. Weights keep 32 bits."""
    found = program()
    if found is None:
        raise Unsupported("pnnx, which converts ONNX files for it, is not installed")
    shapes = ",".join(f"[{','.join(map(str, shape))}]{_TYPES[kind]}" for _, kind, shape, _ in inputs)
    source = folder / "model.onnx"  # it writes beside what it reads
    source.symlink_to(path.resolve())
    try:
        done = subprocess.run(
            [found, str(source), f"inputshape={shapes}", "fp16=0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Unsupported(f"pnnx takes more than {_SECONDS} s") from None
    made = folder / "model.ncnn.param"
    if done.returncode or not made.is_file():
        raise Unsupported(f"pnnx does not convert it, status {done.returncode}")
    return made
