"""The files of converters that are imported with the first of their operators, as few models have operators of all."""

from __future__ import annotations

from importlib import import_module

#: Their operators; those of the other files are in most models, or files of these here import them.
OPERATORS = {
    "attention": "Attention RotaryEmbedding",
    "attention_packed": "com.microsoft.Attention com.microsoft.MultiHeadAttention com.microsoft.QAttention",
    "embeddings": (
        "com.microsoft.EmbedLayerNormalization com.microsoft.GatherBlockQuantized com.microsoft.QEmbedLayerNormalization"
    ),
    "estimators": (
        "ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.Binarizer ai.onnx.ml.Imputer ai.onnx.ml.LabelEncoder "
        "ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor ai.onnx.ml.Normalizer ai.onnx.ml.OneHotEncoder "
        "ai.onnx.ml.SVMRegressor ai.onnx.ml.Scaler ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor"
    ),
    "fourier": "DFT STFT",
    "integers": (
        "Abs Add And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Clip Div Equal EyeLike Greater "
        "GreaterOrEqual Hardmax IsInf IsNaN Less LessOrEqual Max Min Mod Mul Neg Not OneHot Or Pow Relu Shrink Sign "
        "Sub Sum ThresholdedRelu Trilu Xor"
    ),
    "layers": "Einsum GRU Gemm LSTM MatMul RNN com.microsoft.DynamicQuantizeLSTM com.microsoft.FusedMatMul",
    "normalize": (
        "BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization LpNormalization "
        "MeanVarianceNormalization RMSNormalization SimplifiedLayerNormalization "
        "com.microsoft.SimplifiedLayerNormalization com.microsoft.SkipLayerNormalization "
        "com.microsoft.SkipSimplifiedLayerNormalization"
    ),
    "places": "Col2Im MaxUnpool ReverseSequence",
    "quantized_convolutions": "ConvInteger QLinearConv com.microsoft.QLinearConv",
    "quantized_layers": (
        "com.microsoft.QLinearAdd com.microsoft.QLinearAveragePool com.microsoft.QLinearConcat "
        "com.microsoft.QLinearGlobalAveragePool com.microsoft.QLinearLeakyRelu com.microsoft.QLinearMul "
        "com.microsoft.QLinearReduceMean com.microsoft.QLinearSigmoid com.microsoft.QLinearSoftmax "
        "com.microsoft.QLinearWhere"
    ),
    "quantized_products": (
        "DynamicQuantizeLinear MatMulInteger QLinearMatMul com.microsoft.DynamicQuantizeMatMul "
        "com.microsoft.MatMulIntegerToFloat com.microsoft.MatMulNBits com.microsoft.QGemm"
    ),
    "reductions": (
        "ArgMax ArgMin DequantizeLinear LogSoftmax QuantizeLinear ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
        "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Softmax TopK "
        "com.microsoft.DequantizeLinear com.microsoft.QuantizeLinear"
    ),
    "scatter": "CumSum GatherND Scatter ScatterElements ScatterND",
    "sequences": (
        "ConcatFromSequence Identity Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct "
        "SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence"
    ),
}
_FILES: dict[str, list[str]] = {}
for _file, _names in OPERATORS.items():
    for _name in _names.split():
        _FILES.setdefault(_name, []).append(f"{__package__}.{_file}")


def import_of(operator: str) -> None:
    """Imports the files that convert an operator, which register what does it."""
    for file in _FILES.get(operator, ()):
        import_module(file)


def import_all() -> None:
    """Imports all files."""
    for file in OPERATORS:
        import_module(f"{__package__}.{file}")
