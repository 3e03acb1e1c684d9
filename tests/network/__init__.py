"""Tests of pysimd.network: models, ONNX files, passes, compiled programs; and the models and formulas that they need."""
