"""Networks: a graph of operators, fused where the library computes several at once, planned into one block of memory, run.

Provisional: the form may change until models can be loaded.

    builder = Builder("tiny")
    x = builder.input((1, 3, 32, 32))
    x = builder.relu(builder.conv(x, weight, bias, stride=2, padding=1))     # weight: (O, C, ky, kx), float32
    graph = builder.graph(builder.softmax(builder.gemm(builder.flatten(builder.mean(x)), matrix, terms)))
    y = Runner(graph)(image)                                                 # image: (H, W, C), float32

* ``graph``: tensors, nodes, and the graph of them; ``operators``: the output shape of each operator.
* ``build``: builds graphs.
* ``passes``: finds nodes that one call can compute.
* ``planner``: steps, memory ranges, layouts of weights.
* ``runner``: contexts and prepared calls.
"""

from pysimd.network.build import Builder
from pysimd.network.graph import Graph, Node, Tensor
from pysimd.network.runner import Runner

__all__ = ["Builder", "Graph", "Node", "Runner", "Tensor"]
