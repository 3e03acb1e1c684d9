"""Functions of bytes and of bfloat16 numbers that no layer is: quantising, arithmetic, products, an LSTM."""

from __future__ import annotations

import numpy as np

import pysimd
from bench import arrays
from bench.cases.case import Case, Prepared, bfloats, floats, some_bytes
from bench.cases.functions import prepared
from bench.operators import Operator


def _text(*numbers: int) -> str:
    return "x".join(map(str, numbers))


def _number(value: float, dtype: type = np.float32) -> np.ndarray:
    return np.asarray(value, dtype)


def dynamic_quantize(*shape: int) -> Case:
    def prepare() -> Prepared:
        x = floats(*shape)
        return prepared(Operator("y, s, z = DynamicQuantizeLinear (x)", "", {"x": x}), pysimd.dynamic_quantize, x)

    return Case("dynamic_quantize", _text(*shape), "-", prepare)


def of_two_bytes(operation: str, *shape: int) -> Case:
    """QLinearAdd and QLinearMul."""

    def prepare() -> Prepared:
        a, b = some_bytes(*shape), some_bytes(*shape)
        names, steps = {"add": "QLinearAdd", "multiply": "QLinearMul"}, ((0.02, 128), (0.03, 110), (0.05, 120))
        constants: dict[str, np.ndarray] = {}
        for name, (scale, zero) in zip("abc", steps):
            constants |= {f"{name}s": _number(scale), f"{name}z": _number(zero, np.uint8)}
        onnx = f"y = com.microsoft.{names[operation]} (a, as, az, b, bs, bz, cs, cz)"
        operator = Operator(onnx, "", {"a": a, "b": b}, constants)
        return prepared(operator, pysimd.quantized_binary, operation, a, b, src=steps[:2], dst=steps[2])

    return Case("quantized_binary", f"{operation} {_text(*shape)}", "-", prepare)


def gemm_nbits(rows: int, n: int, k: int, bits: int = 4, block: int = 32, *, quantised: bool = False) -> Case:
    """MatMulNBits, of floats or at its level of accuracy 4."""

    def prepare() -> Prepared:
        x, weight = floats(rows, k), some_bytes(n, k // block, block * bits // 8)
        scale = np.abs(floats(n, k // block)) / 100
        level = f"K = {k}, N = {n}, bits = {bits}, block_size = {block}, accuracy_level = {4 if quantised else 0}"
        constants = {"w": weight, "s": scale.reshape(-1)}
        operator = Operator(f"y = com.microsoft.MatMulNBits <{level}> (x, w, s)", "", {"x": x}, constants)
        flops, arithmetic = 2 * rows * n * k if rows > 8 else 0, {"bits": bits, "quantised": quantised}
        return prepared(operator, pysimd.gemm_nbits, x, weight, arrays.placed(scale), flops=flops, **arithmetic)

    kind = " quantised" if quantised else ""
    return Case("gemm_nbits", f"{_text(rows, n, k)} {bits} bits by {block}{kind}", "-", prepare)


def quantized_gemm(m: int, n: int, k: int) -> Case:
    """MatMulInteger of two matrices of each call."""

    def prepare() -> Prepared:
        a, b = some_bytes(m, k), some_bytes(k, n).view(np.int8)
        operator = Operator("y = MatMulInteger (a, b)", "", {"a": a, "b": b})
        return prepared(operator, pysimd.quantized_gemm, a, b, flops=2 * m * n * k)

    return Case("quantized_gemm", _text(m, n, k), "-", prepare)


def softmax_16b(*shape: int) -> Case:
    def prepare() -> Prepared:
        x = bfloats(*shape)
        return prepared(Operator("", "", {"x": x}), pysimd.softmax_16b, x)

    return Case("softmax_16b", _text(*shape), "-", prepare)


def few_bits() -> list[Case]:
    return [
        *[dynamic_quantize(*shape) for shape in ((1, 56, 56, 64), (1, 320, 320, 64))],
        *[of_two_bytes(name, *shape) for name in ("add", "multiply") for shape in ((1, 56, 56, 64), (1, 320, 320, 64))],
        *[gemm_nbits(1, 4096, 4096, block=block, quantised=way) for block in (32, 128) for way in (False, True)],
        *[gemm_nbits(128, 2048, 2048, quantised=way) for way in (False, True)],
        *[gemm_nbits(1, 2048, 2048, 8, quantised=way) for way in (False, True)],
        quantized_gemm(128, 512, 512),
        softmax_16b(512, 1000),
    ]
