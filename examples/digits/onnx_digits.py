"""The digits network as an ONNX file, and classified from it.

python onnx_digits.py --write     writes digits.onnx and digits.simdnet from weights.bin: that is how the files were made
python onnx_digits.py             loads one with pysimd; accuracy and speed on the held-out images

Exporters would write such an ONNX file; this program shows what is in one. digits.simdnet has the same model in the format
of pysimd.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import digits_files as files
import numpy as np
import numpy_digits

import pysimd

HERE = Path(__file__).resolve().parent
PATH = HERE / "digits.onnx"
_FLOAT = 1  # the type of a tensor


def model_of(network: files.Network) -> Any:
    """The network as a model of images (N, 1, H, W) with the values of their pixels."""
    from onnx import helper, numpy_helper

    nodes, constants, x = [], [], "images"

    def constant(name: str, array: files.Array) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array, np.float32), name))
        return name

    for number, (layer, weight, bias) in enumerate(zip(*network), 1):
        y = f"y{number}"
        window = {"kernel_shape": [layer.kernel] * 2, "strides": [layer.stride] * 2, "pads": [layer.pad] * 4}
        if layer.kind == files.CONVOLUTION:
            names = [constant(f"w{number}", weight.transpose(3, 2, 0, 1)), constant(f"b{number}", bias)]
            nodes.append(helper.make_node("Conv", [x, *names], [y], f"conv{number}", group=layer.group, **window))
            if layer.relu:
                nodes.append(helper.make_node("Relu", [y], [f"{y}.relu"], f"relu{number}"))
                y = f"{y}.relu"
        elif layer.kind == files.MAX_POOLING:
            nodes.append(helper.make_node("MaxPool", [x], [y], f"pool{number}", **window))
        elif layer.kind == files.AVERAGE_POOLING:
            nodes.append(helper.make_node("AveragePool", [x], [y], f"pool{number}", count_include_pad=1, **window))
        elif layer.kind == files.INNER_PRODUCT:
            shape = (layer.dst_c, layer.src_h, layer.src_w, layer.src_c)
            rows = weight.reshape(shape).transpose(0, 3, 1, 2).reshape(layer.dst_c, -1)
            names = [constant(f"w{number}", rows), constant(f"b{number}", bias)]
            nodes.append(helper.make_node("Flatten", [x], [f"{y}.flat"], f"flatten{number}"))
            nodes.append(helper.make_node("Gemm", [f"{y}.flat", *names], [y], f"gemm{number}", transB=1))
        else:
            nodes.append(helper.make_node("Softmax", [x], [y], f"softmax{number}"))
        x = y
    nodes[-1].output[0] = "probabilities"
    first, last = network.layers[0], network.layers[-1]
    source = helper.make_tensor_value_info("images", _FLOAT, ["N", first.src_c, first.src_h, first.src_w])
    target = helper.make_tensor_value_info("probabilities", _FLOAT, ["N", last.dst_c])
    graph = helper.make_graph(nodes, "digits", [source], [target], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="digits")


def runner(batch: int, images: files.Array) -> Any:
    """The model from the file, ready for batches of this size of such images."""
    return pysimd.load(PATH).prepare({"images": (batch, 1, *images.shape[1:])})


def classify(network: files.Network | None, images: files.Array) -> files.Array:
    """Probabilities of all images, in one batch; the weights are those of the file."""
    run = runner(len(images), images)
    run.inputs["images"][:, 0] = images
    return np.asarray(run()["probabilities"])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PATH.write_bytes(model_of(files.read_network(HERE / "weights.bin")).SerializeToString())
        pysimd.load(PATH).save(PATH.with_suffix(".simdnet"))
        print(PATH, PATH.with_suffix(".simdnet"))
    else:
        sys.exit(numpy_digits.main(classify, f"{PATH.name} through pysimd, {pysimd.active_isa()}"))
