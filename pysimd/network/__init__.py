"""Networks: a graph of operators, simplified, planned into one block of memory, and run.

    builder = Builder("tiny")
    x = builder.input((1, 3, 32, 32))
    x = builder.relu(builder.conv(x, weight, bias, stride=2, padding=1))     # weight: (O, C, ky, kx), float32
    graph = builder.graph(builder.softmax(builder.gemm(builder.flatten(builder.mean(x)), matrix, terms)))
    run = Runner(graph)
    y = run({"x0": image})                                                   # image: (1, 3, 32, 32), float32

A file becomes calls of the library in these steps, each a function of the result of the one before:

* ``onnx_reader``, ``saved``: a file as a :class:`~pysimd.network.source.Source`, which is what the file says.
  ``prepared``: a plan in a file, in place of all up to ``program``; ``planner`` imports what it replaces.
* ``convert``: a source and the shapes of its inputs as a :class:`~pysimd.network.graph.Graph`, whose operators are those
  of ``operators``. What does not depend on inputs is computed here, by ``fold`` or, where it has no function, by
  the library itself.
* ``passes``: graph to graph. Patterns become one node each, neighbours are joined into what one call computes.
* ``layouts``: the order in which the dimensions of each tensor are stored.
* ``memory``: a place for each tensor in one block.
* ``lower``: the calls of each node, whose arguments are numbers and ``views`` of tensors without an address (``calls``);
  ``layers`` those of operators with weights, ``products`` those of matrices, ``functions`` what they share. ``ranks`` merges
  dimensions where a call has too many. ``check``: what the library refuses, before anything is packed.
* ``program``: all calls of a graph. ``binding`` gives them addresses and numbers, ``contexts`` packs the weights, once, and
  ``mapped`` gives the pages of the file back.
* ``runner``: runs the calls. ``model``: all of this for users; ``runners``: what a model that is called has prepared.
* ``sizes``: dimensions that are open, of which a program knows formulas; ``open_plan`` binds it to a shape, ``open_runner``
  runs a model for any.
* ``courses``: a model in which values decide what is computed, in parts; ``partition`` cuts it, ``control`` has branches and
  loops, ``host_operators`` what Python computes between segments, ``runner`` runs it for users.
* ``c``: a program in C of the same calls, ``program`` for shapes, ``open`` with open sizes, ``course`` where values decide;
  ``arrays`` writes the arrays that depend on sizes.
* ``quantize``: a model of 8 bits, made of a float one.
* ``reports``: where the time goes.
* ``images``: a model on the images of a folder.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pysimd.network.build import Builder
    from pysimd.network.courses.runner import CourseRunner
    from pysimd.network.graph import Graph, Node, Type
    from pysimd.network.images import Batch, batches
    from pysimd.network.open_runner import OpenRunner
    from pysimd.network.runner import Runner

__all__ = ["Batch", "Builder", "CourseRunner", "Graph", "Node", "OpenRunner", "Runner", "Type", "batches"]

_MODULES = {
    "Batch": "images", "Builder": "build", "CourseRunner": "courses.runner", "Graph": "graph", "Node": "graph",
    "OpenRunner": "open_runner", "Runner": "runner", "Type": "graph", "batches": "images",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """A public name, imported when it is used: loading a model needs few of these modules."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
