"""Products of floats and matrices of 4 or 8 bits."""

from __future__ import annotations

from math import prod
from typing import Any

from pysimd._arrays import FLOAT32, UINT8, element_of, output, plain, pointer, tensor
from pysimd._library import ffi, lib
from pysimd.annotations import Array, FloatArray, Floats
from pysimd.calls import call_struct

_BYTES = ffi.typeof("uint8_t[]")


def gemm_nbits(
    x: Floats,
    weight: Array,
    scale: Floats,
    *,
    zero: Array | None = None,
    bias: Floats | None = None,
    bits: int = 4,
    quantised: bool = False,
    out: FloatArray | None = None,
) -> FloatArray:
    """``x @ w.T + bias``, where `w` is a matrix of 4 or 8 bits, quantised in blocks: MatMulNBits of ONNX Runtime.

    x : (..., K) float32.
    weight : (N, blocks, bytes) uint8: N rows of blocks of 16, 32, 64 ... numbers, of which the last may be longer than
        needed. With 4 bits there are two numbers in a byte, the lower bits first.
    scale : (N, blocks) float32.
    zero : (N, bytes) uint8, of `blocks` numbers that are packed in the same way; by default 8, or 128 for 8 bits.
    bias : (N,) float32.
    bits : 4 or 8.
    quantised : whether `x` is quantised, too, to bytes in blocks as those of `weight`: the level of accuracy 4. Errors
        are up to 1 / 254 of the largest number of each block, in less time.
    out : (..., N) float32. It must not overlap the other arrays.

    A number q of `weight` stands for ``(q - zero) * scale``. Unless `quantised`, all is computed in float32. One row is
    bound by reading the weights, many are multiplied nearly as fast as by floats, or faster if they are quantised.

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> x, weight = np.ones((1, 16), np.float32), np.full((2, 1, 8), 0x98, np.uint8)  # numbers 8 and 9
    >>> pysimd.gemm_nbits(x, weight, np.array([[1], [0.5]], np.float32))
    array([[8., 4.]], dtype=float32)

    Formula: SimdnetGemmNBits.
    """
    if bits not in (4, 8):
        raise ValueError(f"bits is {bits!r}, expected 4 or 8")
    source, packed = plain(x, "x"), plain(weight, "weight", UINT8)
    element_of(source, "x", (FLOAT32,))
    element_of(packed, "weight", (UINT8,))
    if source.ndim == 0:
        raise ValueError("x has shape (), expected at least one dimension")
    n, blocks, block = _blocks_of(packed, bits, source.shape[-1])
    shape = (*source.shape[:-1], n)
    given: dict[str, Any] = {
        "src": pointer(source, "x", FLOAT32),
        "weight": pointer(packed, "weight", UINT8, False, _BYTES),
        "scale": tensor(scale, "scale", (n, blocks)),
    }
    if zero is not None:
        given["zero"] = tensor(zero, "zero", (n, -(-blocks * bits // 8)), UINT8, _BYTES)
    if bias is not None:
        given["bias"] = tensor(bias, "bias", (n,))
    sources = [(x, "x"), (weight, "weight"), (scale, "scale"), (zero, "zero"), (bias, "bias")]
    arrays, names = zip(*((array, name) for array, name in sources if array is not None))
    out, given["dst"] = output(out, shape, arrays, names)
    arguments = ffi.new("SimdnetGemmNBitsParameters *", given)
    arguments.size = ffi.sizeof("SimdnetGemmNBitsParameters")
    arguments.M, arguments.N, arguments.K = prod(shape[:-1]), n, source.shape[-1]
    arguments.bits, arguments.block, arguments.quantised = bits, block, bool(quantised)
    call_struct(lib.SimdnetGemmNBits, arguments, held=given)
    return out


def _blocks_of(weight: Array, bits: int, depth: int) -> tuple[int, int, int]:
    """Rows, blocks of a row, and numbers of a block."""
    if weight.ndim != 3:
        raise ValueError(f"weight has shape {weight.shape}, expected three dimensions: rows, blocks and bytes")
    n, blocks, size = weight.shape
    block = size * 8 // bits
    if block < 16 or block & (block - 1):
        raise ValueError(f"weight has blocks of {block} numbers, expected a power of two, at least 16")
    if blocks != -(-depth // block):
        raise ValueError(
            f"weight has shape {weight.shape}, expected {(n, -(-depth // block), size)} for rows of {depth} numbers in x"
        )
    return n, blocks, block
