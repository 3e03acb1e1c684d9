"""The inputs of ONNX files, and the shapes in which they are timed where a file leaves dimensions open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.implementations import Unsupported
from bench.onnx_files import Input

Shape = tuple[int, ...]

#: By the names of files of published models, those of their packages and of `make models`: for each input the first that
#: fits it. Their authors use these shapes.
KNOWN: Mapping[str, Sequence[Shape]] = {
    "320n": [(1, 3, 320, 320)],
    "captcha-detection": [(1, 3, 416, 416)],
    "captcha-recognition": [(1, 1, 64, 160)],
    "ch_PP-OCRv4_det_infer": [(1, 3, 640, 640)],
    "ch_PP-OCRv4_rec_infer": [(1, 3, 48, 320)],
    "ch_ppocr_mobile_v2.0_cls_infer": [(1, 3, 48, 192)],
    "ch_ppocr_mobile_v2.0_cls_mobile": [(1, 3, 48, 192)],
    "cls": [(1, 3, 48, 192)],
    "common": [(1, 1, 64, 160)],
    "common_old": [(1, 1, 64, 160)],
    "det": [(1, 3, 640, 640)],
    "layout": [(1, 3, 800, 608)],
    "melspectrogram": [(1, 12800)],
    "nudenet": [(1, 3, 320, 320)],
    "ocr-angle": [(1, 3, 48, 192)],
    "ocr4-detection": [(1, 3, 640, 640)],
    "ocr4-recognition": [(1, 3, 48, 320)],
    "ocr6-detection": [(1, 3, 640, 640)],
    "ocr6-recognition": [(1, 3, 48, 320)],
    "ocr6-tiny-detection": [(1, 3, 640, 640)],
    "ocr6-tiny-recognition": [(1, 3, 48, 320)],
    "onet": [(1, 48, 48, 3)],
    "orientation": [(1, 3, 224, 224)],
    "pnet": [(1, 120, 120, 3)],
    "pp-ocrv4_mobile_seal_det": [(1, 3, 640, 640)],
    "PP-OCRv6_det_small": [(1, 3, 640, 640)],
    "PP-OCRv6_rec_small": [(1, 3, 48, 320)],
    "rec": [(1, 3, 48, 320)],
    "rnet": [(1, 24, 24, 3)],
    "silero-vad-4-16000": [(1, 512), (2, 1, 64)],
    "silero-vad-4-8000": [(1, 256), (2, 1, 64)],
    "silero_vad": [(1, 576), (2, 1, 128)],
    "silero_vad-16000": [(1, 576), (2, 1, 128)],
    "silero_vad-8000": [(1, 288), (2, 1, 128)],
    "silero_vad_16k_op15": [(1, 576), (2, 1, 128)],
    "silero_vad_16k_op15-16000": [(1, 576), (2, 1, 128)],
    "silero_vad_16k_sequence": [(1, 576)],
    "silero_vad_half": [(1, 576), (2, 1, 128)],
    "silero_vad_op18_ifless": [(1, 576), (2, 1, 128)],
    "silero_vad_op18_ifless-16000": [(1, 576), (2, 1, 128)],
    "silero_vad_op18_ifless-8000": [(1, 288), (2, 1, 128)],
    "slanet-1m": [(1, 3, 488, 488)],
}

_Open = Sequence["int | None"]  # dimensions, None if the file leaves them open


def read(path: Path) -> list[tuple[str, str, _Open]]:
    """Name, type and dimensions of each input."""
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    found: list[tuple[str, str, _Open]] = []
    for value in graph.input:
        if value.name not in weights:
            kind = value.type.tensor_type
            dims = [dim.dim_value if dim.dim_value > 0 else None for dim in kind.shape.dim]  # some write -1
            name = str(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
            found.append((value.name, name, dims))
    return found


def inputs_of(path: Path, batch: int, given: Mapping[str, Shape]) -> list[Input]:
    """The inputs with all their dimensions. `given` and `KNOWN` tell those that the file leaves open, by the name of the
    input or of the file; a first dimension that alone is open is 1. Raises Unsupported if dimensions remain open, or for a
    batch if the first one of an input is fixed."""
    found = []
    for name, kind, dims in read(path):
        told = [*(given[key] for key in (name, path.stem) if key in given), *KNOWN.get(path.stem, ())]
        if None not in dims[1:]:
            told.append(tuple(dim or 1 for dim in dims))
        shape = next((shape for shape in told if _fits(shape, dims)), None)
        if shape is None:
            shown = ",".join("?" if dim is None else str(dim) for dim in dims)
            raise Unsupported(f"dimensions of {name} ({shown}) are open: give --shape {name}:...")
        if batch > 1:
            if not dims or dims[0] is not None:
                raise Unsupported(f"the first dimension of {name} is fixed")
            shape = (batch, *shape[1:])
        found.append(Input(name, kind, shape, _rate(path) if name == "sr" else 1))
    return found


def _rate(path: Path) -> int:
    """The samples in a second that a detector of voices gets, which the file's name ends with."""
    rate = path.stem.rpartition("-")[2]
    return int(rate) if rate.isdigit() else 16000


def _fits(shape: Shape, dims: _Open) -> bool:
    return len(shape) == len(dims) and all(dim in (None, size) for size, dim in zip(shape, dims))
