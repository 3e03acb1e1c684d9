"""A program whose types are right: mypy and pyright report nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import pysimd
from pysimd.annotations import FloatArray, Floats, Layout


class Tensor:
    """An array of another library."""

    def __dlpack__(self, *, stream: int | None = None) -> object:
        return None

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def block(x: Floats, weight: FloatArray, layout: Layout) -> NDArray[np.float32]:
    y = pysimd.convolution(x, weight, 0.5, padding="same", activation="leaky_relu", params={"slope": 0.1}, layout=layout)
    y = pysimd.pooling_max(y, kernel=2, stride=(2, 2))
    return pysimd.softmax(pysimd.scale(y, np.ones(4, np.float32)))


def run(x: NDArray[np.float32], other: Tensor) -> None:
    weight = np.zeros((3, 3, 8, 4), np.float32)
    layout: Literal["nhwc"] = "nhwc"
    y: NDArray[np.float32] = block(x, weight, layout)
    y = block(other, weight, pysimd.TensorFormat.NHWC)
    context = pysimd.Convolution8i((5, 6, 8), 4, kernel=3, padding=(1, 1), activation="relu6", src_dtype="float32")
    context.set_params(weight, 1.0, None, pysimd.statistics([x]), pysimd.statistics(y))
    halves: NDArray[np.uint16] = pysimd.pooling_max(pysimd.to_bfloat16(x), kernel=(3, 3), layout="nchw")
    halves = pysimd.pooling_average(halves, kernel=2)
    pysimd.Convolution16b((5, 6, 8), 4, kernel=3, dst_dtype="float32").forward(halves)
    with pysimd.Convolution32f((5, 6, 8), 8, kernel=3, padding="same", group=8) as depthwise:
        y = depthwise(x, add=x, out=y)
    y = pysimd.gemm(other, y, c=y, beta=2, transpose_a=True)
    call = pysimd.prepare(pysimd.relu, x, slope=0.5)
    y = call()
    pysimd.MergedConvolution32f((5, 6, 8), [pysimd.ConvolutionStage(1, 8, activation="relu6")] * 2, residual=True)


def models(data: bytes, image: NDArray[np.float32], other: Tensor) -> NDArray[np.float32]:
    model = pysimd.load(Path("model.onnx"))
    run = pysimd.load(data, fallback={"Cubed": lambda x: x**3}).prepare((1, 3, 224, 224))
    model.prepare({"x": (1, 3, 224, 224)}, layout="nhwc").run()
    named: dict[str, NDArray[np.float32]] = {"x": image}
    y: NDArray[np.float32] = model(image)["y"] + model({"x": other})["y"] + run(named)["y"]
    return y
