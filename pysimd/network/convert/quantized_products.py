"""Converters of products of quantised matrices, and of what quantises them at run time."""

from __future__ import annotations

from pysimd.network.convert.conversion import Conversion, converts
from pysimd.network.convert.errors import Unsupported
from pysimd.network.convert.quantized import bytes_at, dynamic, product
from pysimd.network.source import SourceNode


@converts("DynamicQuantizeLinear", any_type=True)
def _dynamic_quantize(c: Conversion, node: SourceNode) -> None:
    if c.dtype(0) != "float32":
        raise Unsupported(f"its input is {c.dtype(0)}, supported is float32")
    c.give(*dynamic(c, c.tensor(0)))


@converts("MatMulInteger", any_type=True)
def _matmul_integer(c: Conversion, node: SourceNode) -> None:
    c.give(product(c, bytes_at(c, 0, 2, "a"), bytes_at(c, 1, 3, "b")))
