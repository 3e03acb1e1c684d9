"""Programs in C as files: as C++, embedded weights, damaged ones, errors of threads, several shapes, licenses."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from network.batch_model import Batch, inputs_of
from pysimd.__main__ import main
from pysimd.network.c import program as c_program
from pysimd.network.model import Model
from pysimd.network.source import Source, SourceNode, Value
from support import COMPILER, ROOT, Array

BUILD = Path(pysimd._library.LIBRARY_PATH).parent

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")

_EMBEDS = [pytest.param("file"), pytest.param("numbers")]


def _random(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def _model(file: str = "") -> Model:
    """Convolutions, of which a small one has other algorithms for some sizes, and a table that runs read."""
    weights = {"w": _random(16, 16, 3, 3), "v": _random(4, 16, 1, 1), "t": _random(4, 1, 1, seed=2), "u": _random(40, 2)}
    nodes = [
        SourceNode("Conv", ("x", "w"), ("a",), {"pads": [1, 1, 1, 1]}, "first"),
        SourceNode("Tanh", ("a",), ("b",)),
        SourceNode("Conv", ("b", "v"), ("c",)),
        SourceNode("Mul", ("c", "t"), ("y",)),
        SourceNode("Gather", ("u", "i"), ("z",), {"axis": 0}),
    ]
    inputs = [Value("x", "float32", (1, 16, "h", "w")), Value("i", "int64", (2,))]
    outputs = [Value(name, "float32", None) for name in "yz"]
    return Model(Source("a net */ of ours", 17, inputs, outputs, nodes, weights), None, file)


def _linked(folder: Path, *files: str, compiler: str | None = None, flags: str = "-std=c99 -pedantic") -> Path:
    program = folder / "program"
    strict = ["-Wall", "-Wextra", "-Werror", *flags.split(), f"-I{ROOT / 'include'}"]
    library = ["-x", "none", f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lsimdnet", "-lm", "-pthread"]
    subprocess.run([compiler or COMPILER or "cc", *strict, *files, *library, "-o", program], cwd=folder, check=True)
    return program


def _run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], cwd=program.parent, capture_output=True, text=True, check=False)


def _replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


# ---- weights in the program


@pytest.mark.parametrize("embed", _EMBEDS)
@pytest.mark.parametrize("language", ["C", "C++"])
def test_embedded_weights_give_the_bits_of_a_file(embed: str, language: str, tmp_path: Path) -> None:
    """All operators, on another model that shares the weights: what a run wrote into those of the program would crash."""
    model = Batch().model()
    files = [path.name for path in model.compile(tmp_path, name="net", embed=embed)]
    assert ("net.bin" in files) == (embed == "file")
    _replaced(tmp_path / "main.c", "net_create(NULL)", "net_create_shared(net_create(NULL))")
    sources = [name for name in files if name.endswith(".c")]
    if language == "C":
        program = _linked(tmp_path, *sources)
    else:
        compiler = shutil.which("c++")
        if compiler is None:
            pytest.skip("there is no C++ compiler")
        program = _linked(tmp_path, *sources, compiler=compiler, flags="-x c++ -std=c++11 -Wpedantic")
    runner = model.prepare()
    given = inputs_of(runner)
    for name, array in given.items():
        array.tofile(tmp_path / name)
    done = _run(program, *given)
    assert done.returncode == 0, done.stderr
    for i, (name, expected) in enumerate(runner(given).items()):
        found = np.fromfile(tmp_path / f"{i}.out", expected.dtype).reshape(expected.shape)
        np.testing.assert_array_equal(found, expected, err_msg=name)


def test_the_makefile_of_embedded_weights(tmp_path: Path) -> None:
    """Its program needs no file, and is built again after a change to the weights, which it then refuses."""
    arguments = ["--shape", "images:1,1,8,8", "--name", "net", "--embed", str(ROOT / "examples/digits/digits.simdnet")]
    assert main(["compile", "-o", str(tmp_path), *arguments]) == 0
    build = ["make", "-s", f"CPPFLAGS=-I{ROOT / 'include'}", f"LDFLAGS=-L{BUILD} -Wl,-rpath,{BUILD}", "CFLAGS=-O0"]
    subprocess.run(["env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", *build], cwd=tmp_path, check=True)
    program = (tmp_path / "net_example").rename(tmp_path / "kept")
    assert _run(program).returncode == 0
    content = bytearray((tmp_path / "net.bin").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "net.bin").write_bytes(content)
    assert _run(program).returncode == 0
    subprocess.run(["env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", *build], cwd=tmp_path, check=True)
    done = _run(tmp_path / "net_example")
    assert done.returncode == 1
    assert done.stderr == "the weights are damaged, or those of another model: their checksum differs\n"


def test_no_weights_in_the_program(tmp_path: Path) -> None:
    _model().compile(tmp_path, {"x": (1, 16, 4, 4)}, name="net")
    _replaced(tmp_path / "main.c", "net_create(argv[1])", "net_create(NULL)")
    done = _run(_linked(tmp_path, "main.c", "net.c"), "net.bin")
    assert done.stderr == "the path of the weights is NULL, and this program has none embedded\n" and done.returncode == 1
    with pytest.raises(ValueError, match=r"^embed is 'yes', expected a bool, 'file' or 'numbers'$"):
        _model().compile(tmp_path, {"x": (1, 16, 4, 4)}, embed="yes")


# ---- damaged files


def test_a_flipped_bit_of_any_section_is_refused(tmp_path: Path) -> None:
    """Of constants that runs read, and of weights that are packed; and other contents."""
    model = Batch().model()
    model.compile(tmp_path, name="net")
    program = _linked(tmp_path, "main.c", "net.c", flags="-std=c99 -O0")
    good = (tmp_path / "net.bin").read_bytes()
    text = (tmp_path / "net.c").read_text()
    run, size = (int(re.findall(rf"define {word}_BYTES \(\(size_t\)(\d+)\)", text)[0]) for word in ("RUN", "DATA"))
    assert 0 < run < size == len(good)
    for place in (0, run - 1, run, size - 1):
        for bit in (1, 128):
            bad = bytearray(good)
            bad[place] ^= bit
            (tmp_path / "bad.bin").write_bytes(bad)
            done = _run(program, "bad.bin")
            assert done.stderr == "bad.bin: is damaged, or the file of another model: its checksum differs\n"
            assert done.returncode == 1
    # Bits whose changes cancel in a sum of words, words that change places, and another end.
    signs = bytearray(good)
    for place in (run + 3, run + 67):
        signs[place] ^= 128
    words = good[:run] + good[run + 4 : run + 8] + good[run : run + 4] + good[run + 8 :]
    for other in (bytes(signs), words, good[: run + 4] + bytes(size - run - 4)):
        assert other != good
        (tmp_path / "bad.bin").write_bytes(other)
        assert _run(program, "bad.bin").returncode == 1
    assert _run(program, "net.bin").returncode == 0


def test_the_checksum_is_that_of_fletcher() -> None:
    """Of more words than Python adds at once, and with sums of more than 64 bits."""
    words = np.random.default_rng(3).integers(0, 2**32, (1 << 20) + 1000, np.uint32)
    words[:1000] = 2**32 - 1
    first = second = 0
    for word in words.tolist():
        first += word
        second += first
    assert c_program._sums(words.tobytes()) == (first % 2**64, second % 2**64)
    assert c_program._sums(b"") == (0, 0)


# ---- errors

_THREADS = """
#include "net.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static net * model;

static void * fails(void * own) {
    const char * path = (const char *)own;
    int i;
    for (i = 0; i < 2000; i++) {
        net * made = i % 100 ? NULL : net_create_shared(model);
        if (made && (*net_error() || !net_run(made, NULL, NULL) || *net_error())) return NULL;
        net_destroy(made);
        if (net_create(path) || strncmp(net_error(), path, strlen(path)) != 0) return NULL;
        if (net_run_shape(model, -1 - i, NULL, NULL) || !strstr(net_error(), "is not one of this model")) return NULL;
    }
    return own;
}

int main(void) {
    pthread_t threads[4];
    char paths[4][16];
    void * result;
    int i, good = 1;
    if (net_run(NULL, NULL, NULL) || net_create_shared(NULL) || strcmp(net_error(), "the model is NULL")) return 2;
    model = net_create("net.bin");
    if (model == NULL || *net_error()) return 3;
    for (i = 0; i < 4; i++) {
        sprintf(paths[i], "none%d.bin", i);
        if (pthread_create(&threads[i], NULL, fails, paths[i])) return 4;
    }
    for (i = 0; i < 4; i++) good &= !pthread_join(threads[i], &result) && result != NULL;
    if (*net_error()) return 5; /* those of the other threads */
    net_destroy(model);
    return good ? 0 : 6;
}
"""


def _sanitizes(tmp_path: Path) -> bool:
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    flags = ["-fsanitize=thread", "empty.c", "-o", "empty"]
    linked = subprocess.run([COMPILER or "cc", *flags], cwd=tmp_path, capture_output=True, check=False).returncode == 0
    return linked and _run(tmp_path / "empty").returncode == 0


def test_errors_are_those_of_a_thread(tmp_path: Path) -> None:
    """Four threads create models, share weights and fail at once; ThreadSanitizer looks on, where there is one."""
    _model().compile(tmp_path, {"x": (1, 16, 4, 4)}, name="net")
    (tmp_path / "threads.c").write_text(_THREADS)
    sanitizer = " -fsanitize=thread" if _sanitizes(tmp_path) else ""
    done = _run(_linked(tmp_path, "threads.c", "net.c", flags=f"-std=c99 -g{sanitizer}"))
    assert done.returncode == 0, done.stderr


# ---- several shapes

_SHAPES = """
#include "net.h"
#include <stdio.h>

static void run(net * model, int shape, const char * given, const char * found, size_t count, size_t results) {
    static float x[10000], y[10000];
    const void * inputs[] = {x, NULL};
    void * outputs[] = {y, NULL};
    FILE * file = fopen(given, "rb");
    if (fread(x, sizeof(*x), count, file) != count || !net_run_shape(model, shape, inputs, outputs)) puts(net_error());
    fclose(file);
    file = fopen(found, "wb");
    fwrite(y, sizeof(*y), results, file);
    fclose(file);
}

int main(void) {
    net * model = net_create("net.bin"), * other = net_create_shared(model);
    run(model, 0, "0.in", "0.out", NET_INPUT_x_SIZE, NET_OUTPUT_y_SIZE);
    run(model, 1, "1.in", "1.out", NET_SHAPE1_INPUT_x_SIZE, NET_SHAPE1_OUTPUT_y_SIZE);
    run(other, 2, "2.in", "2.out", NET_SHAPE2_INPUT_x_SIZE, NET_SHAPE2_OUTPUT_y_SIZE);
    run(other, 0, "0.in", "3.out", NET_INPUT_x_SIZE, NET_OUTPUT_y_SIZE);
    printf("%d %g\\n", NET_SHAPES, NET_OUTPUT_z(other)[0]);
    net_destroy(other);
    net_destroy(model);
    return 0;
}
"""


def test_shapes_of_one_program_share_weights(tmp_path: Path) -> None:
    """The bits are those of a runner for each; the file has the weights once, and so has memory as far as they are alike."""
    model, sizes = _model(), [(8, 8), (8, 12), (3, 2)]
    shapes: list[dict[str, Any]] = [{"x": (1, 16, *size)} for size in sizes]
    model.compile(tmp_path, shapes, name="net")
    model.compile(tmp_path / "one", shapes[0], name="net")
    assert (tmp_path / "net.bin").stat().st_size == (tmp_path / "one" / "net.bin").stat().st_size
    text = (tmp_path / "net.c").read_text()
    assert text.count("  CREATE(") == 6 and 2 <= text.count("  SHARE(") <= 4
    (tmp_path / "main.c").write_text(_SHAPES)
    expected = []
    for i, shape in enumerate(shapes):
        x = _random(*shape["x"], seed=i)
        x.tofile(tmp_path / f"{i}.in")
        expected.append(model.prepare(shape)({"x": x, "i": np.zeros(2, np.int64)})["y"])
    done = _run(_linked(tmp_path, "main.c", "net.c"))
    assert done.stdout == f"3 {model.source.weights['u'][0, 0]:g}\n"
    for i, values in enumerate([*expected, expected[0]]):
        np.testing.assert_array_equal(np.fromfile(tmp_path / f"{i}.out", np.float32).reshape(values.shape), values)


def test_shapes_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _model().save(tmp_path / "net.simdnet")
    shape = ["compile", str(tmp_path / "net.simdnet"), "-o", str(tmp_path / "c"), "--shape"]
    assert main([*shape, "x:1,16,4,4", "--shape", "x:1,16,5,6", "--shape", "i:2", "--embed-numbers"]) == 0
    assert not (tmp_path / "c" / "model.bin").exists()
    text = (tmp_path / "c" / "model.h").read_text()
    assert "#define MODEL_SHAPES 2\n" in text and "MODEL_SHAPE1_INPUT_x_SIZE 480" in text
    assert main([*shape, "x:1,16,4,4", "--shape", "x:1,16,5,6", "--shape", "x:1,16,3,3", *["--shape", "i:2"] * 2]) != 0
    assert "--shape has 2 shapes for 'i', expected 1 or 3" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"^shapes is empty, expected the shapes of the inputs$"):
        _model().compile(tmp_path, [])


def test_sizes_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One for each plan, unless one plan serves several, in all combinations."""
    _model().save(tmp_path / "net.simdnet")
    shapes = ["--shape", "x:1,16,H,W", "--shape", "i:2"]
    command = ["compile", str(tmp_path / "net.simdnet"), "-o", str(tmp_path / "c"), *shapes, "--size"]
    for plans, sizes in ((1, ["H=8,9"]), (2, ["H=8,1"]), (4, ["H=8", "--size", "H=1,9", "--size", "W=1,7"])):
        assert main([*command, *sizes]) == 0
        assert len(re.findall(r"const char \* unmet_\d", (tmp_path / "c" / "model.c").read_text())) == plans
    assert main([*command, "K=1"]) == 1
    assert "'K' is not an open dimension, expected 'H', 'W'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*command, "H=8,"])
    assert "'H=8,' is not a size, expected NAME=NUMBER or NAME=NUMBER,NUMBER" in capsys.readouterr().err


# ---- what files say of themselves


@pytest.mark.parametrize("embed", ["", *_EMBEDS])
def test_every_file_names_its_license_and_the_model(embed: str, tmp_path: Path) -> None:
    assert (ROOT / "LICENSE").read_text().startswith("MIT License\n")
    for path in _model("ours */ 1.onnx").compile(tmp_path, {"x": (1, 16, 4, 4)}, name="net", embed=embed or False):
        if path.suffix == ".bin":
            continue
        head = path.read_text()[:700]
        assert "SPDX-License-Identifier: MIT\n" in head, path
        if path.suffix:
            assert r"from ours \052/ 1.onnx, where it is called a net \052/ of ours" in head, path


def test_a_model_keeps_the_name_of_its_file(tmp_path: Path) -> None:
    _model().save(tmp_path / "saved.simdnet")
    pysimd.load(tmp_path / "saved.simdnet").compile(tmp_path, {"x": (1, 16, 4, 4)})
    assert "from saved.simdnet, where it is called a net " in (tmp_path / "model.c").read_text()[:200]
