"""Makes models of 8 bits: standard ONNX files with QuantizeLinear and DequantizeLinear.

* ``onnx_file``: a file whose nodes and weights change; ``fields`` keeps all else as it is. ``opsets``: older operators.
* ``folding``, ``gemms``: what becomes part of weights and biases.
* ``products``: what can be quantised; ``places``: the tensors that are.
* ``calibration``: the values of tensors on samples; ``ranges``: scales and zeros from them.
* ``weights``, ``rewrite``, ``modes``: the new file; ``correction``: its biases.
* ``making``: all of this; ``report``: how near it is to the float model.
"""
