"""A program whose types are wrong in the lines that say so: mypy and pyright report exactly these."""

from __future__ import annotations

import numpy as np

import pysimd

x, weight = np.zeros((5, 6, 8), np.float32), np.zeros((3, 3, 8, 4), np.float32)
doubles = np.zeros((5, 6, 8))
name = "nh" + str(x.ndim)

pysimd.relu(doubles)  # wrong
pysimd.relu([1.0, 2.0])  # wrong
pysimd.relu(x, alpha=0.1)  # wrong
pysimd.relu(x, out=doubles)  # wrong
pysimd.convolution(x, weight, layout="nhcw")  # wrong
pysimd.convolution(x, weight, layout=name)  # wrong
pysimd.convolution(x, weight, activation="tanhshrink")  # wrong
pysimd.convolution(x, doubles)  # wrong
pysimd.convolution(x, weight, padding="full")  # wrong
pysimd.convolution(x, weight, layout="nwc")
pysimd.pooling_max(x, kernel=2, layout="nchw8c")  # wrong
pysimd.pooling_max(x, kernel=2.5)  # wrong
pysimd.pooling_max(x, kernel="2")  # wrong
pysimd.pooling_average(np.zeros((5, 6, 8), np.uint8), kernel=2)  # wrong
pysimd.fused8(x, x, src2=weight)  # wrong
pysimd.Convolution32f((5, 6, 8), 4, kernal=3)  # wrong
pysimd.Convolution8i((5, 6, 8), 4, kernel=3, strides=2)  # wrong
pysimd.Convolution16b((5, 6, 8), 4, kernel=3, activation="softsign")  # wrong
pysimd.Convolution32f((5, 6, 8), 4)  # wrong
pysimd.MergedConvolution32f((5, 6, 8), [], add=True)  # wrong
pysimd.ConvolutionStage(3, activation="tanhshrink")  # wrong
pysimd.unary(x, "cosh")  # wrong
pysimd.eltwise([x, doubles])  # wrong
pysimd.add_bias(x, "bias")  # wrong
pysimd.set_input(x, pixel_format="bgr24")  # wrong
pysimd.quantize(x, (0, 1))  # wrong
pysimd.gemm(x, x, transposed=True)  # wrong
pysimd.load(42)  # wrong
pysimd.load([b"model"])  # wrong
pysimd.load("model.onnx")([1.0, 2.0])  # wrong
pysimd.load("model.onnx").prepare({"x": 3})  # wrong
