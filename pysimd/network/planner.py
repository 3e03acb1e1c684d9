"""What plans a model, in one place: imported when a plan is needed, which one in a file of the model can replace.

These modules are two thirds of all that a preparation needs.
"""

from pysimd.network.check import refused
from pysimd.network.convert import graph_of
from pysimd.network.open_plan import OpenPlan
from pysimd.network.passes import simplified
from pysimd.network.program import Program
from pysimd.network.sizes import Sizes

__all__ = ["OpenPlan", "Program", "Sizes", "graph_of", "refused", "simplified"]
