"""What plans a model, in one place: imported when a plan is needed, which one in a file of the model can replace.

These modules are two thirds of all that a preparation needs.
"""

from pysimd.network.convert import graph_of
from pysimd.network.passes import simplified
from pysimd.network.program import Program
from pysimd.network.sizes import Sizes

__all__ = ["Program", "Sizes", "graph_of", "simplified"]
