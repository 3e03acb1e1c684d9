"""From the contents of a file to a graph of the operators of :mod:`pysimd.network.operators`."""

from pysimd.network.convert import images, moves, pointwise  # noqa: F401  which registers converters
from pysimd.network.convert.conversion import Conversion, converts, graph_of
from pysimd.network.unsupported import Unsupported, UnsupportedModel, UnsupportedNode

__all__ = ["Conversion", "Unsupported", "UnsupportedModel", "UnsupportedNode", "converts", "graph_of"]
