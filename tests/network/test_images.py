"""Models on images from files: how an image becomes an input, batches, and the command with its table and files."""

from __future__ import annotations

import csv
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.__main__ import main
from pysimd.network import image_commands, images
from pysimd.network.images import Batch, batches, preprocessing_of
from pysimd.network.model import Model
from pysimd.network.source import Source, SourceNode, Value
from support import ROOT, Array

Image = pytest.importorskip("PIL.Image", reason="images are read with Pillow")


def _model(nodes: list[SourceNode], dims: tuple[Any, ...], outputs: tuple[str, ...] = ("y",), **weights: Array) -> Model:
    """A model with the input "x", which needs no package onnx."""
    found = [Value(name, "float32", None) for name in outputs]
    return Model(Source("net", 17, [Value("x", "float32", dims)], found, nodes, weights))


def _identity(*dims: Any) -> Model:
    return _model([SourceNode("Identity", ("x",), ("y",))], dims)


def _means(*dims: Any, gain: float = 1) -> Model:
    """The scores are the means of the channels: red, green, blue."""
    nodes = [
        SourceNode("GlobalAveragePool", ("x",), ("p",)),
        SourceNode("Flatten", ("p",), ("f",)),
        SourceNode("Mul", ("f", "g"), ("y",)),
    ]
    return _model(nodes, dims, g=np.full(1, gain, np.float32))


def _pixels(height: int, width: int, *channels: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).integers(0, 256, (height, width, *channels), dtype=np.uint8)


def _saved(path: Path, pixels: Array, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


def _read(path: Path, *dims: Any, dtype: str = "float32", **options: Any) -> Array:
    return preprocessing_of(Value("x", dtype, dims), **options)(path)


@pytest.fixture
def colors(tmp_path: Path) -> Path:
    """A folder with a red, a green and a blue image, and files that are not images."""
    for i, name in enumerate(("a.png", "sub/b.JPG", "z.bmp")):
        pixels = np.zeros((6, 9, 3), np.uint8)
        pixels[:, :, i] = 200
        _saved(tmp_path / "in" / name, pixels, **({"quality": 100, "subsampling": 0} if name.endswith("JPG") else {}))
    (tmp_path / "in" / "notes.txt").write_text("no image")
    return tmp_path / "in"


# ---- an image becomes an input


@pytest.mark.parametrize(("dims", "last"), [(("N", 3, 4, 5), False), (("N", 4, 5, 3), True), ((1, 3, "H", "W"), False)])
def test_layout_and_values(dims: tuple[Any, ...], last: bool, tmp_path: Path) -> None:
    pixels = _pixels(4, 5, 3)
    path = _saved(tmp_path / "a.png", pixels)
    size = (4, 5) if "H" in dims else None
    mean, std = np.array(images.IMAGENET_MEAN), np.array(images.IMAGENET_STD)
    expected = ((pixels / 255 - mean) / std).astype(np.float32)
    result = _read(path, *dims, size=size, fit="stretch")
    np.testing.assert_array_equal(result if last else result.transpose(1, 2, 0), expected)


def test_scale_mean_std_and_colors(tmp_path: Path) -> None:
    pixels = _pixels(4, 4, 3)
    path = _saved(tmp_path / "a.png", pixels)
    planes = pixels.transpose(2, 0, 1).astype(np.float64)

    def read(**options: Any) -> Array:
        return _read(path, 1, 3, 4, 4, fit="stretch", **options)

    np.testing.assert_array_equal(read(mean=0.5, std=[0.5, 0.25, 1]), _float((planes / 255 - 0.5) / _each(0.5, 0.25, 1)))
    np.testing.assert_array_equal(read(scale=1, mean=(127, 128, 129)), _float(planes - _each(127, 128, 129)))
    np.testing.assert_array_equal(read(color="bgr", scale=1), _float(planes[::-1]))
    mean, std = _each(*images.IMAGENET_MEAN), _each(*images.IMAGENET_STD)
    np.testing.assert_array_equal(read(color="bgr"), _float((planes / 255 - mean) / std)[::-1])
    gray = _read(path, 1, 1, 4, 4, fit="stretch")
    np.testing.assert_array_equal(gray[0], _float(np.asarray(Image.fromarray(pixels).convert("L")) / 255))
    taken = _read(path, 1, 4, 4, 3, dtype="uint8", fit="stretch")
    assert taken.dtype == np.uint8
    np.testing.assert_array_equal(taken, pixels)


def _each(*values: float) -> Array:
    return np.array(values)[:, None, None]


def _float(values: Array) -> Array:
    return values.astype(np.float32)


def test_crop_is_of_a_resized_image(tmp_path: Path) -> None:
    """As Resize(256) and CenterCrop(224) of torchvision; an image that is smaller is enlarged."""
    for height, width, resized in ((300, 403, (343, 256)), (403, 300, (256, 343)), (10, 10, (256, 256))):
        pixels = _pixels(height, width, 3)
        path = _saved(tmp_path / "a.png", pixels)
        whole = Image.fromarray(pixels).resize(resized, Image.Resampling.BILINEAR)
        left, top = (round((n - 224) / 2) for n in resized)
        expected = np.asarray(whole.crop((left, top, left + 224, top + 224)))
        result = _read(path, 1, 3, 224, 224, scale=1)
        np.testing.assert_array_equal(result.transpose(1, 2, 0), expected.astype(np.float32))
    exact = _read(_saved(tmp_path / "b.png", _pixels(8, 12, 3)), 1, 3, 8, 8, scale=1, crop=1)
    np.testing.assert_array_equal(exact.transpose(1, 2, 0), _pixels(8, 12, 3)[:, 2:10].astype(np.float32))


def test_letterbox_keeps_proportions(tmp_path: Path) -> None:
    wide = _read(_saved(tmp_path / "a.png", np.full((10, 20, 3), 255, np.uint8)), 1, 3, 8, 8, fit="letterbox", scale=1)
    assert (wide[:, 2:6] == 255).all() and (wide[:, :2] == 114).all() and (wide[:, 6:] == 114).all()
    tall = _read(_saved(tmp_path / "b.png", np.full((300, 1), 255, np.uint8)), 1, 1, 8, 8, fit="letterbox", scale=1)
    assert (tall[0, :, 3] == 255).all() and np.count_nonzero(tall == 255) == 8  # one column of at least a pixel
    wide = _read(_saved(tmp_path / "c.png", np.full((1, 300), 255, np.uint8)), 1, 1, 8, 8, fit="letterbox", scale=1)
    assert (wide[0, 3] == 255).all() and np.count_nonzero(wide == 255) == 8


def test_drafts_of_large_files(tmp_path: Path) -> None:
    """Nearly the same, and the same for files that are small or of other formats; the orientation is kept."""
    small = Image.fromarray(_pixels(6, 8, 3))
    large = np.asarray(small.resize((400, 300), Image.Resampling.BICUBIC))
    exif = Image.Exif()
    exif[0x0112] = 6
    for name, reduced in (("a.jpg", True), ("b.png", False)):
        path = _saved(tmp_path / name, large, exif=exif)
        exact = _read(path, 1, 3, 24, 16, scale=1)
        draft = _read(path, 1, 3, 24, 16, scale=1, draft=True)
        assert np.abs(draft - exact).max() < 8
        assert (draft != exact).any() == reduced
        same = _read(path, 1, 3, 96, 128, scale=1, draft=True)  # less than twice as large as needed
        np.testing.assert_array_equal(same, _read(path, 1, 3, 96, 128, scale=1))


def test_orientation_of_exif(tmp_path: Path) -> None:
    pixels = _pixels(4, 6, 3)
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright
    path = _saved(tmp_path / "a.png", pixels, exif=exif)
    result = _read(path, 1, 3, 6, 4, fit="stretch", scale=1)
    np.testing.assert_array_equal(result.transpose(1, 2, 0), np.rot90(pixels, -1).astype(np.float32))


def test_kinds_of_pixels(tmp_path: Path) -> None:
    """16 bits are reduced to 8; of transparent pixels, the colour is taken; a palette is looked up."""
    wide = np.random.default_rng(1).integers(0, 1 << 16, (4, 4)).astype(np.uint16)
    wide[0, :2] = 0, 0xFFFF
    result = _read(_saved(tmp_path / "16.png", wide), 1, 1, 4, 4, fit="stretch", scale=1)
    np.testing.assert_array_equal(result[0], (wide >> 8).astype(np.float32))
    clear = _read(_saved(tmp_path / "rgba.png", _pixels(4, 4, 4)), 1, 3, 4, 4, fit="stretch", scale=1)
    np.testing.assert_array_equal(clear.transpose(1, 2, 0), _pixels(4, 4, 4)[:, :, :3].astype(np.float32))
    palette = Image.fromarray(_pixels(4, 4, 3)).quantize(4)
    palette.save(tmp_path / "p.png")
    result = _read(tmp_path / "p.png", 1, 3, 4, 4, fit="stretch", scale=1)
    np.testing.assert_array_equal(result.transpose(1, 2, 0), np.asarray(palette.convert("RGB")).astype(np.float32))
    for pixels in (np.zeros((4, 4), np.float32), *(np.full((4, 4), n, np.int32) for n in (-1, 1 << 16))):
        with pytest.raises(ValueError, match="expected 8 or 16"):
            _read(_saved(tmp_path / "wide.tif", pixels), 1, 1, 4, 4)


@pytest.mark.parametrize(
    ("dims", "options", "message"),
    [
        ((1, 3, "H", 4), {}, "leaves the height of its images open"),
        ((1, 3, 4, 4), {"size": 5}, "size is 5, but the input x has"),
        ((1, 3, "H", "W"), {"size": (1, 2, 3)}, "expected a number or"),
        ((1, 4, 8, 8), {}, "where C is 1 or 3"),
        ((1, 3, 8, 8), {"color": "gray"}, "where C is 1"),
        ((1, 10), {}, "where C is 1 or 3"),
        (None, {}, "where C is 1 or 3"),
        (("N", None, None, None), {}, "where C is 1 or 3"),
        ((1, 3, 4, 4), {"color": "red"}, "color is 'red'"),
        ((1, 3, 4, 4), {"fit": "fill"}, "fit is 'fill'"),
        ((1, 3, 4, 4), {"crop": 0}, "crop is 0"),
        ((1, 3, 4, 4), {"mean": [1, 2]}, "expected one number or 3"),
        ((1, 3, 4, 4), {"mean": 127.5}, "also give scale=1"),
        ((1, 3, 4, 4), {"std": 0}, "no 0 in std"),
    ],
)
def test_options_that_do_not_fit(dims: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        preprocessing_of(Value("x", "float32", dims), **options)


def test_pixels_of_bytes_are_not_scaled() -> None:
    with pytest.raises(ValueError, match="as they are"):
        preprocessing_of(Value("x", "uint8", (1, 3, 4, 4)), mean=0)


def test_a_colour_tells_open_channels() -> None:
    prepared = preprocessing_of(Value("x", "float32", ("N", None, None, None)), size=4, color="gray")
    assert prepared.shape == (1, 4, 4)


# ---- batches


def _together(found: list[Batch]) -> tuple[list[str], Array]:
    return [file.name for batch in found for file in batch.files], np.concatenate([b.outputs["y"] for b in found if b.files])


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_batches_of_every_size_have_the_same_results(size: int, tmp_path: Path) -> None:
    """The last one is not full; a broken file in the middle."""
    for i in range(7):
        _saved(tmp_path / f"{i}.png", _pixels(5 + i, 7, 3, seed=i))
    (tmp_path / "3.png").write_bytes(b"no image")
    work = batches(_means("N", 3, 4, 4), tmp_path, batch=size, readers=2)
    found = list(work)
    assert len(found) == len(work) == -(-7 // size)
    names, results = _together(found)
    assert names == [f"{i}.png" for i in (0, 1, 2, 4, 5, 6)]
    assert [path.name for batch in found for path in batch.errors] == ["3.png"]
    expected = np.stack([work.preprocessing(tmp_path / name).mean((1, 2)) for name in names])
    np.testing.assert_allclose(results, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(_together(list(work))[1], results)  # once more
    if size == 8:
        assert batches(_means(8, 3, 4, 4), tmp_path).size == 8  # what the file says


def test_arrays_of_a_batch_stay_as_they_are(colors: Path) -> None:
    first, *_ = found = list(batches(_identity(1, 3, 4, 4), colors, fit="stretch", scale=1))
    assert [batch.outputs["y"][0, :, 0, 0].argmax() for batch in found] == [0, 1, 2]
    assert first.outputs["y"].shape == (1, 3, 4, 4)


def test_outputs_without_a_row_for_each_image(colors: Path) -> None:
    model = _model([SourceNode("ReduceSum", ("x",), ("y",), {"keepdims": 0})], ("N", 3, 4, 4))
    assert [batch.outputs["y"].shape for batch in batches(model, colors)] == [()] * 3
    with pytest.raises(ValueError, match=r"not 2 rows, one for each image: use batch=1"):
        batches(model, colors, batch=2)


def test_outputs_whose_shapes_depend_on_values(colors: Path) -> None:
    model = _model([SourceNode("NonZero", ("x",), ("y",))], ("N", 3, 4, 4))
    assert {batch.outputs["y"].shape for batch in batches(model, colors, scale=1, mean=0, std=1, fit="stretch")} == {(4, 16)}
    with pytest.raises(ValueError, match=r"the shapes of outputs depend on values: use batch=1"):
        batches(model, colors, batch=2)


def test_files_that_are_given(colors: Path) -> None:
    model = _means(1, 3, 4, 4)
    one = colors / "z.bmp"
    assert batches(model, one).files == (one,)
    assert batches(model, [one, str(colors / "a.png")]).files == (one, colors / "a.png")
    assert [path.name for path in batches(model, str(colors)).files] == ["a.png", "b.JPG", "z.bmp"]
    assert list(batches(model, [])) == []
    with pytest.raises(OSError, match="none"):
        batches(model, colors / "none")
    (colors / "empty").mkdir()
    with pytest.raises(ValueError, match="has no images"):
        batches(model, colors / "empty")


def test_images_that_are_missing_are_zeros(tmp_path: Path) -> None:
    """Where a model computes something of a whole batch, nothing of the batch before is left in it."""
    for i, pixel in enumerate((90, 100, 20)):
        _saved(tmp_path / f"{i}.png", np.full((2, 2), pixel, np.uint8))
    (tmp_path / "3.png").write_bytes(b"no image")
    nodes = [SourceNode("ReduceMax", ("x",), ("m",)), SourceNode("Sub", ("m", "x"), ("y",))]
    found = list(batches(_model(nodes, ("N", 1, 2, 2)), tmp_path, batch=2, scale=1))
    assert [batch.outputs["y"][:, 0, 0, 0].tolist() for batch in found] == [[10, 0], [0]]


def test_not_all_files_are_read_first(colors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = batches(_means(1, 3, 4, 4), [colors / "a.png"] * 50, readers=1)
    count: list[Path] = []

    def read(file: Path) -> Array:
        count.append(file)
        return work.preprocessing(file)

    monkeypatch.setattr(work, "_read", read)
    walk = iter(work)
    next(walk)
    time.sleep(0.1)
    assert 1 <= len(count) <= 4


def test_a_loop_that_is_left_reads_no_more(colors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second file is being read when the loop is left; those after it are not begun."""
    left = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            left.set()
            super().shutdown(wait)

    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor", Pool)
    work = batches(_means(1, 3, 4, 4), [colors / "a.png"] * 50, readers=1)
    count: list[Path] = []

    def read(file: Path) -> Array:
        count.append(file)
        if len(count) > 1:
            left.wait()
        return work.preprocessing(file)

    monkeypatch.setattr(work, "_read", read)
    for _ in work:
        break
    assert len(count) <= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [({"batch": 2}, "takes 1 at a time"), ({"batch": 0}, "batch is 0"), ({"readers": 0}, "readers is 0")],
)
def test_numbers_that_do_not_fit(options: dict[str, Any], message: str, colors: Path) -> None:
    with pytest.raises(ValueError, match=message):
        batches(_means(1, 3, 4, 4), colors, **options)


def test_models_of_several_inputs_are_refused(colors: Path) -> None:
    values = [Value(name, "float32", (1, 3, 4, 4)) for name in ("a", "b")]
    nodes = [SourceNode("Add", ("a", "b"), ("y",))]
    with pytest.raises(ValueError, match="has 2 inputs, expected one, of images: a, b"):
        batches(Model(Source("net", 17, values, [Value("y", "float32", None)], nodes, {})), colors)


def test_without_pillow(colors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"pip install 'pysimd\[images\]'"):
        batches(_means(1, 3, 4, 4), colors)


# ---- the command


def _file(model: Model, folder: Path) -> str:
    path = folder / "net.simdnet"
    model.save(path)
    return str(path)


def _run(model: Model, folder: Path, *arguments: str) -> int:
    return main(["run", _file(model, folder), *arguments])


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_table_of_classes(colors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "labels.txt").write_text('red\ngreen, "light"\nblue\n', encoding="utf-8")
    out = tmp_path / "out.csv"
    options = ["--images", str(colors), "--csv", str(out), "--scale", "1/200", "--top", "2"]
    assert _run(_means("N", 3, "H", "W"), tmp_path, *options, "--size", "4", "--labels", str(tmp_path / "labels.txt")) == 0
    header, *rows = _rows(out)
    assert header == ["file", "class_1", "score_1", "class_2", "score_2", "error"]
    assert [row[0] for row in rows] == ["a.png", "sub/b.JPG", "z.bmp"]
    assert [row[1] for row in rows] == ["red", 'green, "light"', "blue"]
    assert rows[0] == ["a.png", "red", "1.0", 'green, "light"', "0.0", ""]  # of equal scores, the first class
    assert rows[2][3] == "red"
    shown = capsys.readouterr()
    assert shown.out == "" and "input: rgb 3 x 4 x 4 (channels, height, width), crop 0.875, float32" in shown.err
    assert "3 images in " in shown.err and "batch 1, 1 threads" in shown.err


def test_broken_files_are_named_and_the_others_done(
    colors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jpeg = (colors / "sub" / "b.JPG").read_bytes()
    (colors / "b.jpeg").write_bytes(jpeg[: len(jpeg) * 3 // 4])
    for i in range(11):
        (colors / f"e{i:02}.png").write_bytes(b"")
    out = tmp_path / "out.csv"
    options = ["--images", str(colors), "--csv", str(out), "--batch", "3", "--top", "1"]
    assert _run(_means("N", 3, 4, 4), tmp_path, *options) == 1
    rows = _rows(out)[1:]
    assert [row[0] for row in rows] == ["a.png", "b.jpeg", *(f"e{i:02}.png" for i in range(11)), "sub/b.JPG", "z.bmp"]
    assert [row[1] for row in rows if not row[-1]] == ["0", "1", "2"]
    assert all(row[1:3] == ["", ""] and row[3] for row in rows[1:13])
    err = capsys.readouterr().err
    assert "12 could not be read:\n  b.jpeg: " in err and err.endswith("  and 2 more\n")


@pytest.mark.parametrize("batch", ["1", "2"])
def test_other_outputs_are_columns_or_files(
    batch: str, colors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [
        SourceNode("Identity", ("x",), ("file",)),
        SourceNode("ReduceMax", ("x",), ("a/b",), {"axes": [1, 2, 3], "keepdims": 0}),
    ]
    model = _model(nodes, ("N", 3, 2, 2), ("file", "a/b"))
    options = ["--images", str(colors), "--scale", "1", "--batch", batch]
    assert _run(model, tmp_path, *options) == 0
    header, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert header == ["file", *(f"file[{i}]" for i in range(12)), "a/b", "error"]
    assert rows[0] == ["a.png", *["200.0"] * 4, *["0.0"] * 8, "200.0", ""]
    assert _run(model, tmp_path, *options, "--save", str(tmp_path / "results")) == 0
    assert capsys.readouterr().out == ""
    files = sorted(path.relative_to(tmp_path).as_posix() for path in (tmp_path / "results").rglob("*.*"))
    assert files == ["results/a.png.npz", "results/sub/b.JPG.npz", "results/z.bmp.npz"]
    with np.load(tmp_path / "results" / "z.bmp.npz") as arrays:
        assert sorted(arrays) == ["a/b", "file"] and arrays["file"].shape == (3, 2, 2)
        assert arrays["a/b"].shape == () and arrays["a/b"] == 200


def test_all_scores(colors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "labels.txt").write_text("red\ngreen\nblue\n", encoding="utf-8")
    options = ["--images", str(colors / "a.png"), "--top", "0", "--scale", "1"]
    assert _run(_means(1, 3, 4, 4), tmp_path, *options, "--labels", str(tmp_path / "labels.txt")) == 0
    assert capsys.readouterr().out == "file,red,green,blue,error\na.png,200.0,0.0,0.0,\n"


def test_nan_is_the_worst_score(colors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [SourceNode("Identity", ("x",), ("p",)), SourceNode("GlobalMaxPool", ("p",), ("m",))]
    nodes += [SourceNode("Mul", ("m", "g"), ("y",))]
    gain = np.array([np.nan, 1, 2], np.float32)[:, None, None]
    options = ["--images", str(colors / "z.bmp"), "--scale", "1"]
    assert _run(_model(nodes, (1, 3, 4, 4), g=gain), tmp_path, *options) == 0
    assert capsys.readouterr().out.splitlines()[1] == "z.bmp,2,400.0,1,0.0,0,nan,"


def test_of_equal_scores_the_first_is_better(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pixels = np.zeros((16, 16), np.uint8)
    pixels[:, ::3] = 255
    _saved(tmp_path / "a.png", pixels)
    model = _model([SourceNode("Flatten", ("x",), ("y",))], (1, 1, 16, 16))
    options = ["--images", str(tmp_path / "a.png"), "--scale", "1", "--fit", "stretch", "--top", "40"]
    assert _run(model, tmp_path, *options) == 0
    classes = capsys.readouterr().out.splitlines()[1].split(",")[1:-1:2]
    assert classes == [str(i) for i in np.flatnonzero(pixels)[:40]]


def test_nothing_is_half_written(colors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in the middle leaves the table of before, and no other file."""
    out = tmp_path / "results" / "out.csv"
    out.parent.mkdir()
    out.write_text("before")
    model = _file(_means(1, 3, 4, 4), tmp_path)
    calls: list[int] = []
    computed = images.Batches._computed

    def failing(self: Any, *arguments: Any) -> Batch:
        calls.append(1)
        if len(calls) == 3:
            raise MemoryError("none left")
        return computed(self, *arguments)

    monkeypatch.setattr(images.Batches, "_computed", failing)
    assert main(["run", model, "--images", str(colors), "--csv", str(out)]) == 1
    assert len(calls) == 3 and out.read_text() == "before" and list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--csv", "out.csv"], "--csv needs --images"),
        (["--mean", "0"], "--mean needs --images"),
        (["--images", "in", "--random"], "--random cannot be used with --images"),
        (["--images", "in", "--shape", "x:1,3,4,4"], "see --size"),
        (["--images", "in", "--layout", "nhwc"], "--layout cannot be used"),
        (["--images", "in", "--top", "-1"], "--top is -1"),
        (["--images", "in", "--labels", "labels.txt"], "has 2 lines, expected one for each of 3 classes"),
        (["--images", "none"], "none"),
    ],
)
def test_options_of_the_command(
    options: list[str],
    message: str,
    colors: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(colors.parent)
    Path("labels.txt").write_text("a\nb\n")
    assert _run(_means(1, 3, 4, 4), colors.parent, *options) == 1
    assert message in capsys.readouterr().err


def test_tables_that_do_not_fit(colors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(_identity(1, 3, 64, 64), tmp_path, "--images", str(colors)) == 1
    assert "too large for a table: use --save FOLDER" in capsys.readouterr().err
    assert _run(_identity(1, 3, 4, 4), tmp_path, "--images", str(colors), "--top", "5") == 1
    assert "--top and --labels are for one output of scores" in capsys.readouterr().err
    for wrong in (["--size", "1,2,3"], ["--scale", "1/0"], ["--mean", "a"]):
        with pytest.raises(SystemExit):
            main(["run", "net.onnx", "--images", ".", *wrong])


def test_the_guide_lists_what_is_there() -> None:
    text = (ROOT / "docs" / "guides" / "images.md").read_text(encoding="utf-8")
    assert image_commands.described(preprocessing_of(Value("x", "float32", ("N", 3, 32, 32)))) in text
    assert re.findall(r"`(\.\w+)`", text.split("## From the shell")[1].split("`--images`")[0]) == list(images.ENDINGS)
    for name in ("labels", "top", *image_commands._OPTIONS):
        assert f"`--{name}" in text, name


def test_the_bar(colors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal, unless the table is printed there; without tqdm everything works."""
    pytest.importorskip("tqdm", reason="the bar is drawn by tqdm")
    model = _file(_means(1, 3, 4, 4), tmp_path)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    arguments = ["run", model, "--images", str(colors)]
    assert main([*arguments, "--csv", str(tmp_path / "out.csv")]) == 0
    assert "3/3" in capsys.readouterr().err
    assert main(arguments) == 0
    assert "3/3" not in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert main([*arguments, "--csv", str(tmp_path / "other.csv")]) == 0
    assert (tmp_path / "other.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_results_do_not_depend_on_threads(colors: Path, tmp_path: Path) -> None:
    model = _file(_means("N", 3, 4, 4), tmp_path)
    threads = pysimd.get_num_threads()
    try:
        for n in ("1", "2"):
            options = ["--threads", n, "--readers", n, "--batch", n, "--csv", str(tmp_path / f"{n}.csv")]
            assert main(["run", model, "--images", str(colors), *options]) == 0
    finally:
        pysimd.set_num_threads(threads)
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()
