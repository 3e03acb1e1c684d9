"""The digits example: both readers on valid and broken files, and equal answers from NumPy, pysimd and C."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Callable

import numpy as np
import pytest

import pysimd
from pysimd._library import HEADER_PATH, LIBRARY_PATH

DIGITS = Path(__file__).resolve().parent.parent / "examples" / "digits"
sys.path.insert(0, str(DIGITS))

import digits_files as files  # noqa: E402
import numpy_digits  # noqa: E402
import pysimd_digits  # noqa: E402
import quantised_digits  # noqa: E402

WEIGHTS = DIGITS / "weights.bin"
IMAGES = DIGITS / "images.bin"
STATISTICS = DIGITS / "statistics.json"


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """digits.c, compiled and linked with the library that pysimd uses."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not compiler:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("digits")
    # A link with the library's own file name, for the linker here and the loader later.
    soname = "libsimdnet.so." + ".".join(pysimd.version().split(".")[:2])
    (folder / soname).symlink_to(Path(LIBRARY_PATH).resolve())
    command = [compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{Path(HEADER_PATH).parent}"]
    command += [str(source) for source in sorted(DIGITS.glob("*.c"))]
    command += [str(folder / soname), "-lm", f"-Wl,-rpath,{folder}", "-o", str(folder / "digits")]
    subprocess.run(command, check=True)
    return folder / "digits"


def run(program: Path, *arguments: object, isa: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SIMDNET_MAX_ISA": isa} if isa else None
    return subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=60)


def patched(data: bytes, word: int, value: int) -> bytes:
    """The file with one of its 32-bit words replaced."""
    return data[: 4 * word] + struct.pack("<I", value) + data[4 * word + 4 :]


# Name: (the change of the bytes, a part of the message). Words of a weights file: 0 magic, 1 version, 2 layers, 3 floats,
# 4.. the first record: kind srcC srcH srcW dstC dstH dstW kernel stride pad group relu.
BROKEN_WEIGHTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda d: b"", "is not a digits weights file"),
    "two bytes": (lambda d: d[:2], "is not a digits weights file"),
    "other magic": (lambda d: b"XXXX" + d[4:], "is not a digits weights file"),
    "an images file": (lambda d: IMAGES.read_bytes(), "is not a digits weights file"),
    "no header": (lambda d: d[:12], "cut short"),
    "newer version": (lambda d: patched(d, 1, 2), "version 2"),
    "no layers": (lambda d: patched(d, 2, 0), "0 layers"),
    "too many layers": (lambda d: patched(d, 2, 0xFFFFFFFF), "4294967295 layers"),
    "one more layer": (lambda d: patched(d, 2, struct.unpack_from("<I", d, 8)[0] + 1), "promises"),
    "short layer list": (lambda d: d[:32], "promises"),
    "short by a float": (lambda d: d[:-4], "promises"),
    "short by a byte": (lambda d: d[:-1], "bytes"),
    "long by a float": (lambda d: d + b"\0\0\0\0", "promises"),
    "floats do not match layers": (
        lambda d: patched(d, 3, struct.unpack_from("<I", d, 12)[0] - 1)[:-4],
        "the layers need",
    ),
    "unknown kind": (lambda d: patched(d, 4, 9), "layer 0: unknown kind"),
    "no channels": (lambda d: patched(d, 5, 0), "layer 0: a size is outside"),
    "huge height": (lambda d: patched(d, 6, 0x80000000), "layer 0: a size is outside"),
    "output size": (lambda d: patched(d, 9, 7), "layer 0: output size"),
    "no kernel": (lambda d: patched(d, 11, 0), "layer 0: kernel or stride"),
    "no stride": (lambda d: patched(d, 12, 0), "layer 0: kernel or stride"),
    "large pad": (lambda d: patched(d, 13, 0xFFFFFFFF), "layer 0: pad is not"),
    "other group": (lambda d: patched(d, 14, 3), "layer 0: group is neither"),
    "relu flag": (lambda d: patched(d, 15, 7), "layer 0: the ReLU flag is neither"),
    "chain": (lambda d: patched(d, 8, 5), "layer 1: its input is not the output"),
    "pooling changes channels": (lambda d: patched(d, 4 + 3 * 12 + 4, 5), "layer 3: pooling must keep"),
    "inner product is an image": (lambda d: patched(d, 4 + 6 * 12 + 5, 2), "layer 6: an inner product has"),
    "softmax changes shape": (lambda d: patched(d, 4 + 7 * 12 + 4, 5), "layer 7: softmax must keep"),
    "pooling with ReLU": (lambda d: patched(d, 4 + 3 * 12 + 11, 1), "layer 3: only a convolution"),
}

# Words of an images file: 0 magic, 1 version, 2 count, 3 height, 4 width.
BROKEN_IMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda d: b"", "is not a digits images file"),
    "other magic": (lambda d: b"XXXX" + d[4:], "is not a digits images file"),
    "no header": (lambda d: d[:16], "cut short"),
    "newer version": (lambda d: patched(d, 1, 7), "version 7"),
    "no images": (lambda d: patched(d, 2, 0), "out of range"),
    "too many": (lambda d: patched(d, 2, 0xFFFFFFFF), "out of range"),
    "flat": (lambda d: patched(d, 3, 0), "out of range"),
    "short by a byte": (lambda d: d[:-1], "promises"),
    "long by a byte": (lambda d: d + b"\0", "promises"),
    "no body": (lambda d: d[:20], "promises"),
}


@pytest.mark.parametrize("name", BROKEN_WEIGHTS)
def test_broken_weights_are_refused(name: str, tmp_path: Path, program: Path) -> None:
    damage, message = BROKEN_WEIGHTS[name]
    path = tmp_path / "weights.bin"
    path.write_bytes(damage(WEIGHTS.read_bytes()))
    with pytest.raises(files.FormatError, match=message) as error:
        files.read_network(path)
    assert str(path) in str(error.value)
    result = run(program, path, IMAGES)
    assert result.returncode == 1 and not result.stdout
    assert str(path) in result.stderr and message in result.stderr


@pytest.mark.parametrize("name", BROKEN_IMAGES)
def test_broken_images_are_refused(name: str, tmp_path: Path, program: Path) -> None:
    damage, message = BROKEN_IMAGES[name]
    path = tmp_path / "images.bin"
    path.write_bytes(damage(IMAGES.read_bytes()))
    with pytest.raises(files.FormatError, match=message) as error:
        files.read_images(path)
    assert str(path) in str(error.value)
    result = run(program, WEIGHTS, path)
    assert result.returncode == 1 and not result.stdout
    assert str(path) in result.stderr and message in result.stderr


def test_missing_file(tmp_path: Path, program: Path) -> None:
    with pytest.raises(OSError):
        files.read_network(tmp_path / "none")
    result = run(program, tmp_path / "none", IMAGES)
    assert result.returncode == 1 and "none: No such file" in result.stderr


def test_images_that_do_not_fit_the_network(tmp_path: Path, program: Path) -> None:
    files.write_images(tmp_path / "images.bin", np.zeros((3, 7, 8)), np.zeros(3))
    result = run(program, WEIGHTS, tmp_path / "images.bin")
    assert result.returncode == 1 and "do not fit the network" in result.stderr


def test_files_survive_a_round_trip(tmp_path: Path) -> None:
    files.write_network(tmp_path / "weights.bin", files.read_network(WEIGHTS))
    files.write_images(tmp_path / "images.bin", *files.read_images(IMAGES))
    assert (tmp_path / "weights.bin").read_bytes() == WEIGHTS.read_bytes()
    assert (tmp_path / "images.bin").read_bytes() == IMAGES.read_bytes()


def test_the_shipped_files() -> None:
    network = files.read_network(WEIGHTS)
    images, labels = files.read_images(IMAGES)
    assert WEIGHTS.stat().st_size <= 300_000
    assert any(layer.group > 1 for layer in network.layers)
    assert {layer.kind for layer in network.layers} >= {
        files.CONVOLUTION, files.MAX_POOLING, files.INNER_PRODUCT, files.SOFTMAX
    }  # fmt: skip
    assert all(np.isfinite(weight).all() for weight in network.weights)
    assert images.shape == (360, 8, 8) and images.max() == 16
    assert np.bincount(labels, minlength=10).min() >= 30


def plain_loops(network: files.Network, image: files.Array) -> files.Array:
    """The network again, with one loop per formula, in double, as the reference for `numpy_digits`."""
    x = image.astype(np.float64)[..., None]
    for layer, weight, bias in zip(*network):
        if layer.kind == files.INNER_PRODUCT:
            x = (weight.astype(np.float64) @ x.ravel() + bias)[None, None]
            continue
        if layer.kind == files.SOFTMAX:
            x = np.exp(x - x.max())
            x /= x.sum()
            continue
        y = np.zeros((layer.dst_h, layer.dst_w, layer.dst_c))
        for oy, ox, oc in np.ndindex(*y.shape):
            top, left = oy * layer.stride - layer.pad, ox * layer.stride - layer.pad
            cells = [
                (ky, kx)
                for ky in range(layer.kernel)
                for kx in range(layer.kernel)
                if 0 <= top + ky < layer.src_h and 0 <= left + kx < layer.src_w
            ]
            if layer.kind == files.CONVOLUTION:
                channels = slice(oc, oc + 1) if layer.group > 1 else slice(None)
                terms = [float(x[top + ky, left + kx, channels] @ weight[ky, kx, :, oc]) for ky, kx in cells]
                total = float(bias[oc]) + sum(terms)
                y[oy, ox, oc] = max(total, 0) if layer.relu else total
            else:
                values = [x[top + ky, left + kx, oc] for ky, kx in cells]
                if layer.kind == files.MAX_POOLING:
                    y[oy, ox, oc] = max(values)
                else:
                    y[oy, ox, oc] = sum(values) / layer.kernel**2
        x = y
    return x.ravel()


def test_numpy_network_follows_the_formulas() -> None:
    network = files.read_network(WEIGHTS)
    images, _ = files.read_images(IMAGES)
    p = numpy_digits.classify(network, images[:2])
    expected = np.array([plain_loops(network, image) for image in images[:2]])
    np.testing.assert_allclose(p, expected, atol=1e-5)
    assert p.dtype == np.float32


def test_numpy_network_is_accurate_on_held_out_images() -> None:
    images, labels = files.read_images(IMAGES)
    p = numpy_digits.classify(files.read_network(WEIGHTS), images)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert (p.argmax(axis=1) == labels).mean() >= 0.985


def test_python_and_c_give_the_same_answers(isa: str, program: Path) -> None:
    network = files.read_network(WEIGHTS)
    images, _ = files.read_images(IMAGES)
    p = pysimd_digits.classify(network, images)
    np.testing.assert_allclose(p, numpy_digits.classify(network, images), atol=1e-5)

    result = run(program, "--print", WEIGHTS, IMAGES, isa=isa)
    assert result.returncode == 0 and not result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [int(answer) for answer, _ in lines] == p.argmax(axis=1).tolist()
    assert np.array_equal(np.array([q for _, q in lines], np.float32), p.max(axis=1))

    with pysimd_digits.Classifier(network, 1) as classifier:
        single = np.concatenate([classifier.classify(images[at : at + 1]).copy() for at in range(len(images))])
    assert np.array_equal(single, p), "the bits depend on the position in the batch"


def test_bytes_are_as_accurate_as_floats(isa: str) -> None:
    network = files.read_network(WEIGHTS)
    images, labels = files.read_images(IMAGES)
    statistics = files.read_statistics(STATISTICS, network)
    p = pysimd_digits.classify(network, images, statistics)
    assert (p.argmax(axis=1) == labels).mean() >= 0.985
    plain = numpy_digits.classify(network, images)
    assert 1e-6 < np.abs(p - plain).max() < 0.1, "other than floats, but not by much"
    with pysimd_digits.Classifier(network, 1, statistics) as classifier:
        single = np.concatenate([classifier.classify(images[at : at + 1]).copy() for at in range(20)])
    assert np.array_equal(single, p[:20]), "the bits depend on the position in the batch"


def test_a_model_of_8_bits_is_as_accurate(isa: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Made from the ONNX file by pysimd, and written."""
    path = tmp_path / "digits-int8.onnx"
    assert quantised_digits.main(str(path)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-4:] for line in lines[:2]] == [["300", "of", "300", "right"]] * 2
    assert float(lines[2].split()[-1]) < 0.05
    assert path.stat().st_size < 0.4 * (DIGITS / "digits.onnx").stat().st_size


def test_bfloat16_numbers_are_as_accurate_as_floats(isa: str) -> None:
    network = files.read_network(WEIGHTS)
    images, labels = files.read_images(IMAGES)
    p = pysimd_digits.classify(network, images, bfloat16=True)
    assert (p.argmax(axis=1) == labels).mean() >= 0.985
    plain = numpy_digits.classify(network, images)
    assert 1e-6 < np.abs(p - plain).max() < 0.1, "other than floats, but not by much"
    with pysimd_digits.Classifier(network, 1, bfloat16=True) as classifier:
        single = np.concatenate([classifier.classify(images[at : at + 1]).copy() for at in range(20)])
    assert np.array_equal(single, p[:20]), "the bits depend on the position in the batch"


def test_statistics_are_those_of_the_training_images(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn, which has the training images, is not installed")
    import calibrate

    network = files.read_network(WEIGHTS)
    images, held_images, _, _ = calibrate.split()
    assert np.array_equal(held_images, files.read_images(IMAGES)[0]) and len(images) == 1437
    calibrate.write_statistics(network, images, tmp_path / "statistics.json")
    pairs = zip(files.read_statistics(STATISTICS, network), files.read_statistics(tmp_path / "statistics.json", network))
    for shipped, made in pairs:
        np.testing.assert_allclose(shipped, made, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tensors": [{"min": [0]}]}', '{"tensors": [{"min": [0], "max": ["a"]}]}']
)
def test_broken_statistics_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "statistics.json").write_text(text)
    with pytest.raises(files.FormatError, match="is not a statistics file"):
        files.read_statistics(tmp_path / "statistics.json", files.read_network(WEIGHTS))


def test_statistics_of_another_network_are_refused(tmp_path: Path) -> None:
    (tmp_path / "statistics.json").write_text('{"tensors": [{"min": [0], "max": [16]}]}')
    with pytest.raises(files.FormatError, match="channels"):
        files.read_statistics(tmp_path / "statistics.json", files.read_network(WEIGHTS))


def test_the_program_reports(program: Path) -> None:
    result = run(program, WEIGHTS, IMAGES, isa="base")
    assert re.search(r"^instruction set base\naccuracy 3[56]\d/360 = ", result.stdout)
    assert re.search(r"^batch 1: \d+ images/s\nbatch 360: \d+ images/s$", result.stdout, re.MULTILINE)
    assert "usage" in run(program).stderr
