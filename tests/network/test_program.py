"""Programs in C: names that models give and that callers choose, types of outputs, and which operators can be written."""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import pysimd
from network.batch_model import Batch, inputs_of, model_of
from pysimd._library import ffi
from pysimd.network import operators
from pysimd.network.c import array_templates, open_templates, templates
from pysimd.network.c.names import checked, identifiers
from pysimd.network.c.program import filled
from pysimd.network.source import SourceNode, Value
from support import COMPILER, ROOT

STRICT = "-std=c99 -trigraphs -Wall -Wextra -Wtrigraphs -Werror -pedantic"

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def _built(folder: Path, name: str) -> Path:
    build = Path(pysimd._library.LIBRARY_PATH).parent
    flags = [f"CPPFLAGS=-I{ROOT / 'include'} {STRICT}", f"LDFLAGS=-L{build} -Wl,-rpath,{build}", "CFLAGS=-O0"]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    subprocess.run(["make", "-s", "-C", folder, *flags], check=True, env=clean)
    return folder / f"{name}_example"


# ---- names of tensors and nodes

_PIECES = (
    *("??/", "??=", "?", "*/", "/*", "//", "\\", '"', "'", "\n", "\r", "\0", "\t", "%s", "%:", "#", "@name@", "{", "}", ";"),
    *("a", "b", "_", "0", "7", "_0", "_1", "_SIZE", "é", "\u2028", "\ud800", " ", "/", ".", "main", "int"),
)
_NAMES = st.lists(
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map("".join), min_size=40, max_size=40, unique=True
)


@settings(derandomize=True, max_examples=3, phases=[Phase.generate])  # compilers are too slow for smaller examples
@given(_NAMES)
def test_any_name_is_text_in_c(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    """Of inputs, outputs and nodes: the strictest compiler accepts the program, which prints the names as they are."""
    folder = tmp_path_factory.mktemp("names")
    names.insert(0, "long" * 1200)
    half = len(names) // 2
    inputs = [Value(name, "float32", (i + 1,)) for i, name in enumerate(names[:half])]
    nodes = [SourceNode("Relu", (a,), (b,), {}, b) for a, b in zip(names[:half], names[half:])]
    outputs = names[half : 2 * half]
    model_of(nodes, inputs, outputs).compile(folder, name="net")
    done = subprocess.run([_built(folder, "net"), "net.bin"], cwd=folder, capture_output=True, check=True)
    texts = [name.encode("utf-8", "surrogatepass").split(b"\0")[0] for name in outputs]
    numbers = [b" 0" * min(i + 1, 8) + b" ..." * (i >= 8) for i in range(half)]
    assert done.stdout == b"".join(text + b":" + zeros + b"\n" for text, zeros in zip(texts, numbers))
    words = re.findall(r"^#define (NET_\w+?)\b", (folder / "net.h").read_text(), re.M)
    assert len(words) == 4 * half + 2 == len(set(words))  # and NET_H, NET_SHAPES


def test_a_name_that_is_a_word_is_kept() -> None:
    names = ["x", "a/b", "a_b", "a b", "x_SIZE", "9"]
    assert identifiers(names) == ["x", "a_b_1", "a_b", "a_b_3", "x_SIZE_4", "9_5"]


def test_a_program_without_inputs(tmp_path: Path) -> None:
    weight = np.array([-1, 2], np.float32)
    model_of([SourceNode("Relu", ("w",), ("y",))], [], ["y", "w"], w=weight).compile(tmp_path, name="net")
    done = subprocess.run([_built(tmp_path, "net"), "net.bin"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "y: 0 2\nw: -1 2\n"


# ---- the name of the program


@pytest.mark.parametrize("name", ["", "1net", "a b", "a-b", "é", "aé", "_a", "a\n", "../a", "a" * 64])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^name is .*, expected up to 63 letters, digits and .*, with a letter first$"):
        checked(name)


@pytest.mark.parametrize("name", ["int", "main", "class", "size_t", "errno", "string", "simdnet", "printf", "sinf", "file"])
def test_a_name_that_c_has_is_refused(name: str, tmp_path: Path) -> None:
    model = model_of([SourceNode("Relu", ("x",), ("y",))], [Value("x", "float32", (2,))], ["y"])
    with pytest.raises(ValueError, match=f"^name is '{name}', which C or the program uses itself, .* use '{name}_model'$"):
        model.compile(tmp_path / "c", name=name)
    assert not (tmp_path / "c").exists()
    assert checked(f"{name}_model")


@pytest.mark.parametrize("name", ["SimdNet", "SIMD", "pthread_a", "M_1", "SEEK_a", "int8_t", "M_t", "Simd" + "a" * 59])
def test_the_name_that_a_message_proposes_is_not_refused(name: str) -> None:
    with pytest.raises(ValueError, match="which C or the program uses itself") as refusal:
        checked(name)
    assert checked(str(refusal.value).split("'")[-2])


def test_functions_of_c_are_refused_as_names() -> None:
    """Those that the headers of the program declare."""
    headers = re.findall(r"#include <(?:simdnet|[a-z]+)\.h>", templates.SOURCE + templates.MAIN)
    text = "\n".join(header for header in headers if "simdnet" not in header)
    arguments = [COMPILER or "cc", "-std=c99", "-E", "-P", "-"]
    done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True)
    declared = set(re.findall(r"\b([a-z]\w*) ?\(", done.stdout)) - {"__attribute__"}
    assert {"printf", "memcpy", "sqrtf"} <= declared
    for name in declared:
        with pytest.raises(ValueError, match="which C or the program uses itself"):
            checked(name)


def _renamed(program: Path, name: str, folder: Path, other: str) -> None:
    """The program by another name, in less time than compile() takes."""
    folder.mkdir()
    for file in program.iterdir():
        text = file.read_text().replace(name, other).replace(name.upper(), other.upper())
        (folder / file.name.replace(name, other)).write_text(text)


@pytest.mark.parametrize("dims", [{"x": (2,)}, {"x": ("N",)}], ids=["fixed", "open"])
def test_words_of_the_program_are_refused_or_do_no_harm(dims: Any, tmp_path: Path) -> None:
    """A name may be that of a local variable or a member."""
    model = model_of([SourceNode("Relu", ("x",), ("y",))], [Value("x", "float32", tuple(dims["x"]))], ["y"])
    t, o, a = templates, open_templates, array_templates
    text = "".join(
        (t.SOURCE, t.MAIN, t.EMBEDDED, t.WEIGHTS_NUMBERS, *t.CALLED.values(), "create_contexts_0 compute_0 course_0 ")
    )
    if "N" in dims["x"]:
        text += filled("".join((o.PLAN, o.PLANS, *o.HELPERS.values(), *o.OPEN.values())), defaultdict(str, number="0"))
    code = re.sub(r'/\*.*?\*/|"[^"\n]*"', " ", text, flags=re.S)
    words = {word for word in re.findall(r"\b[A-Za-z]\w*", code) if "@" not in word} - {"h"}
    for word in (*a.HELPERS, *o.HELPERS, "release_arrays", "values"):
        with pytest.raises(ValueError, match="which C or the program uses itself"):
            checked(word)
    accepted = []
    for word in sorted(words):
        with suppress(ValueError):
            accepted.append(checked(word))
    model.compile(tmp_path / "q9z", dims, name="q9z", embed="numbers")
    model.compile(tmp_path / "i", dims, name="i", embed="numbers")
    for word in accepted:
        _renamed(tmp_path / "q9z", "q9z", tmp_path / f"renamed_{word}", word)
    for file in sorted((tmp_path / "i").iterdir()):
        assert (tmp_path / "renamed_i" / file.name).read_bytes() == file.read_bytes()
    assert {"model", "m", "data", "i"} <= set(accepted)
    for word in accepted:  # one file each: most of the time is that of the header
        parts = (f"{word}.c", f"{word}_weights.c", "main.c")
        (tmp_path / f"{word}.c").write_text("".join(f'#include "renamed_{word}/{part}"\n' for part in parts))
    files = [tmp_path / f"{word}.c" for word in accepted]
    subprocess.run([COMPILER or "cc", f"-I{ROOT / 'include'}", *STRICT.split(), "-fsyntax-only", *files], check=True)


# ---- what the example prints


_TYPES = ("float32", "float64", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def test_the_example_prints_numbers_of_every_type(tmp_path: Path) -> None:
    inputs = [Value(f"x_{kind}", kind, (2, 2)) for kind in _TYPES]
    outputs = [f"y_{kind}" for kind in _TYPES]
    nodes = [SourceNode("Transpose", (value.name,), (name,), {"perm": [1, 0]}) for value, name in zip(inputs, outputs)]
    model_of(nodes, inputs, outputs).compile(tmp_path, name="net")
    program, expected = _built(tmp_path, "net"), ""
    for kind in _TYPES:
        of = np.dtype(kind)
        ends: Any = (0, 1) if kind == "bool" else (-0.5, 1.5) if of.kind == "f" else (np.iinfo(of).min, np.iinfo(of).max)
        np.array([[ends[0], 1], [0, ends[1]]], of).tofile(tmp_path / kind)
        expected += f"y_{kind}: {ends[0]} 0 1 {ends[1]}\n"
    done = subprocess.run([program, "net.bin", *_TYPES], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == expected


# ---- every operator, of a batch


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_every_operator_of_a_batch_is_written(layout: str, tmp_path: Path) -> None:
    """With the same bits; `elsewhere` are those of test_run_time.py."""
    model = Batch().model()
    runner = model.prepare(layout=layout)
    elsewhere = {
        "ByteLstm",
        "BytesMatMul",
        "CumulativeSum",
        "Elementwise",
        "ExactBinary",
        "GatherNd",
        "NBitsProduct",
        "RmsNorm",
        "RoiAlign",
        "ScatterElements",
        "ScatterNd",
        "Select",
    }
    assert {*operators._RULES} - {step.node.operator for step in runner.steps} <= {"Host", *elsewhere}
    model.compile(tmp_path, layout=layout, name="net")
    given = inputs_of(runner)
    for name, array in given.items():
        array.tofile(tmp_path / name)
    subprocess.run([_built(tmp_path, "net"), "net.bin", *given], cwd=tmp_path, capture_output=True, check=True)
    for i, (name, expected) in enumerate(runner(given).items()):
        found = np.fromfile(tmp_path / f"{i}.out", expected.dtype).reshape(expected.shape)
        np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_models_whose_operators_are_supported_are_written(layout: str) -> None:
    """What runs without steps of Python consists of calls of C, whatever the shapes."""
    pytest.importorskip("onnx", reason="onnx, which makes random models, is not installed")
    from network.random_models import random_model

    for seed in range(40):
        runner = pysimd.load(random_model(seed)).prepare(layout=layout)
        for step in runner.steps:
            for call in () if step.node.operator == "Host" else step.calls:
                assert isinstance(call.function, ffi.CData), f"seed {seed}: {step.node.operator} calls {call.function}"


# ---- what cannot be written


def test_a_step_of_python_is_refused_in_a_sentence(tmp_path: Path) -> None:
    x = Value("x", "float64", (1000,))
    model = model_of([SourceNode("Add", ("x", "x"), ("y",), {}, "sum")], [x], ["y"])
    with pytest.raises(ValueError, match=r"^Host 'sum' cannot be written as C: it is computed by Python, by add\(\)$"):
        model.compile(tmp_path / "c")
    assert not (tmp_path / "c").exists()
