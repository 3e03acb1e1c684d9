"""From the contents of a file to a graph of the operators of :mod:`pysimd.network.operators`."""

from pysimd.network.convert import (  # noqa: F401  which registers converters
    attention,
    images,
    integers,
    layers,
    moves,
    normalize,
    places,
    pointwise,
    quantized_convolutions,
    quantized_layers,
    quantized_products,
    reductions,
    scatter,
    sequences,
)
from pysimd.network.convert.conversion import Conversion, converts, graph_of
from pysimd.network.unsupported import Unsupported, UnsupportedModel, UnsupportedNode

__all__ = ["Conversion", "Unsupported", "UnsupportedModel", "UnsupportedNode", "converts", "graph_of"]
