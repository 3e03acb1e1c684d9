"""Convolutions of float32, bfloat16 or 8-bit images in sequence; the images between them stay in the caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pysimd import calls
from pysimd._activation_params import kind_of, params_of
from pysimd._arrays import (
    BFLOAT16,
    FLOAT32,
    INT8,
    INT32,
    NULL,
    UINT8,
    Element,
    coefficients,
    coefficients_or_null,
    element_of_dtype,
    tensor,
)
from pysimd._convolution import ConvolutionContext, Functions
from pysimd._deprecated import renamed
from pysimd._geometry import (
    NHWC,
    Window,
    images_of,
    number,
    output_size,
    padding_of,
    pair,
    shape_of,
    shape_of_images,
    sides,
)
from pysimd._library import ffi, lib
from pysimd.annotations import ActivationLike, Array, Coefficients, Floats, Padding, Pair, Params, Shape
from pysimd.calls import create
from pysimd.convolution_8i import Statistics, check_statistics
from pysimd.errors import shown
from pysimd.quantized import Linear, byte_linears


@dataclass(frozen=True)
class ConvolutionStage:
    """One of the convolutions of a :class:`MergedConvolution32f`.

    kernel, stride, padding, activation : as of :class:`Convolution32f`.
    dst_c : the number of output channels; None for a depthwise convolution, which has as many as its input.

    >>> pysimd.ConvolutionStage(3, padding="same", activation="relu6")
    ConvolutionStage(kernel=3, dst_c=None, stride=1, padding='same', activation='relu6')
    """

    kernel: Pair
    dst_c: int | None = None
    stride: Pair = 1
    padding: Padding = 0
    activation: ActivationLike = "identity"


class _Merged(ConvolutionContext):
    """Two or three convolutions of NHWC images in one call."""

    def _types(self) -> dict[str, str]:
        """The arguments of the constructor besides those below."""
        return {}

    def _addends(self, residual: bool) -> dict[str, bool]:
        """The argument of the constructor that says whether the image is added, if it has one."""
        return {"residual": bool(residual)}

    def _addition(self, residual: bool) -> int:
        """The last argument of Init."""
        return bool(residual)

    def _create(self, src_shape: Shape, stages: Sequence[ConvolutionStage], residual: bool) -> None:
        self._src_shape = shape_of(src_shape, "src_shape")
        self._stages = tuple(_read(stage, f"stages[{i}]") for i, stage in enumerate(_sequence(stages, "stages")))
        lead, c, h, w = images_of(self._src_shape, NHWC, "src_shape")
        self._images = lead[0] if lead else 1
        first = _first_role(self._stages)
        convs = ffi.new("SimdConvolutionParameters[]", len(self._stages))
        self._weight_shapes: tuple[Shape, ...] = ()
        for i, (conv, stage) in enumerate(zip(convs, self._stages)):
            _check_stage(stage, f"stages[{i}]", _ROLES[first + i])
            weight, (c, h, w) = _describe(conv, stage, c, h, w)
            self._weight_shapes += (weight,)
            if self._src is UINT8:
                conv.srcT = conv.dstT = lib.SimdTensorData8u
        convs[0].srcT, convs[len(convs) - 1].dstT = self._src.tensor, self._dst.tensor
        self._dst_shape = shape_of_images(lead, c, h, w, NHWC)
        if residual and len(self._stages) == 3 and self._dst_shape != self._src_shape:
            raise ValueError(
                f"residual is True for an output of {self._dst_shape}, expected that of the input, {self._src_shape}"
            )
        super().__init__(
            create(self._functions.init, self._images or 1, convs, len(self._stages), self._addition(residual)),
            {"src_shape": self._src_shape, "stages": self._stages, **self._addends(residual), **self._types()},
        )

    def _described(self) -> str:
        roles = _ROLES[_first_role(self._stages) :]
        kernels = ", ".join(
            f"{role} {stage.kernel[0]}x{stage.kernel[1]} {stage.activation}"  # type: ignore[index]
            for role, stage in zip(roles, self._stages)
        )
        residual = ", residual" if self._arguments.get("residual") else ""
        return f"{self._src_shape} -> {self._dst_shape}, {kernels}{residual}"

    @property
    def weight_shapes(self) -> tuple[Shape, ...]:
        """The shape of the weights of each stage."""
        return self._weight_shapes

    def set_params(
        self,
        weight: Sequence[Floats],
        bias: Sequence[Coefficients | None] | None = None,
        params: Sequence[Params | None] | None = None,
    ) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : for each stage, float32 of ``weight_shapes[i]``: (kernel_y, kernel_x, C, dst_c), depthwise (kernel_y,
            kernel_x, 1, C).
        bias : for each stage as of :meth:`Convolution32f.set_params`; None for zeros in all.
        params : for each stage as of :meth:`Convolution32f.set_params`; None for the defaults in all.

        The context copies the numbers. References to the arrays are kept only for pickle and copy, which read the numbers
        that the arrays contain then. Raises TypeError for another dtype, ValueError for another shape.
        """
        self._given = self._set(weight, bias, params)

    def _set(self, weight: Any, bias: Any, params: Any, *rest: Any) -> tuple[Any, ...]:
        """Calls SetParams, whose last arguments are `rest`; returns the lists that were given."""
        handle, count = self._open(), len(self._stages)
        nothing = (None,) * count
        lists = [_sequence(weight, "weight")]
        lists += [nothing if part is None else _sequence(part, name) for part, name in ((bias, "bias"), (params, "params"))]
        for values, name in zip(lists, ("weight", "bias", "params")):
            if len(values) != count:
                raise ValueError(f"{name} has {len(values)} elements, expected {count}, one for each stage")
        arrays: tuple[list[Any], ...] = ([], [], [])
        for i, (values, term, numbers) in enumerate(zip(*lists)):
            shape, kind = self._weight_shapes[i], kind_of(self._stages[i].activation)
            arrays[0].append(tensor(values, f"weight[{i}]", shape))
            arrays[1].append(coefficients_or_null(term, f"bias[{i}]", shape[-1]))
            arrays[2].append(params_of(numbers, kind, shape[-1], f"params[{i}]"))
        weights, terms, numbers = (ffi.new("float *[]", each) for each in arrays)
        internal = (ffi.NULL,) if self._functions.has_internal else ()
        calls.set_params(self._functions.set_params, handle, weights, *internal, terms, numbers, *rest)
        return lists[0], lists[1], lists[2]


class MergedConvolution32f(_Merged):
    """Two or three convolutions of NHWC images in one call: the images between them stay in the caches.

    src_shape : (H, W, C), or with a batch in front, whose size is fixed here.
    stages : three :class:`ConvolutionStage`: an expansion (kernel 1 or 3), a depthwise convolution (kernel 3, 5 or 7; dst_c
        None) and a projection (kernel 1, stride 1); or the first two, or the last two of these. Strides are 1, 2 or 3.
    residual : adds the image to the result of three stages, before the last activation; their shapes must be equal. With two
        stages it has no effect.
    prefer : "bfloat16" has an effect, see :func:`pysimd.set_preference`; None for what is set there.

    Attributes: src_shape, dst_shape, weight_shapes (one for each stage).

    An inverted residual block of MobileNetV2:

    >>> stage = pysimd.ConvolutionStage
    >>> stages = [stage(1, 144, activation="relu6"), stage(3, padding=1, activation="relu6"), stage(1, 24)]
    >>> with pysimd.MergedConvolution32f((56, 56, 24), stages, residual=True) as block:
    ...     block.set_params([np.ones(shape, np.float32) for shape in block.weight_shapes])
    ...     y = block(np.ones((56, 56, 24), np.float32))
    >>> y.shape, float(y[5, 5, 0])
    ((56, 56, 24), 865.0)

    Raises ValueError for stages that do not fit. Formula: SimdSynetMergedConvolution32fInit.
    """

    _functions = Functions(
        lib.SimdSynetMergedConvolution32fInit,
        lib.SimdSynetMergedConvolution32fExternalBufferSize,
        lib.SimdSynetMergedConvolution32fInternalBufferSize,
        lib.SimdSynetMergedConvolution32fSetParams,
        lib.SimdSynetMergedConvolution32fForward,
        has_internal=True,
    )

    @renamed(frames=1, add="residual")
    def __init__(
        self, src_shape: Shape, stages: Sequence[ConvolutionStage], *, residual: bool = False, prefer: str | None = None
    ) -> None:
        with self._preferring(prefer):
            self._create(src_shape, stages, residual)


class _OfTypes(_Merged):
    """Images of floats or of small numbers, between which numbers of a type that the class determines."""

    def _create_of(
        self,
        src_shape: Shape,
        stages: Sequence[ConvolutionStage],
        small: Element,
        src: Any,
        dst: Any,
        residual: bool = False,
    ) -> None:
        self._src = element_of_dtype(src, "src_dtype", (FLOAT32, small))
        self._dst = element_of_dtype(dst, "dst_dtype", (FLOAT32, small))
        self._create(src_shape, stages, residual)

    def _types(self) -> dict[str, str]:
        return {"src_dtype": self._src.name, "dst_dtype": self._dst.name}


class MergedConvolution16b(_OfTypes):
    """Two or three convolutions of bfloat16 numbers in one call: the images between them stay in the caches.

    src_shape, stages, residual : as of :class:`MergedConvolution32f`, which has the same attributes; but the projection has
        no padding.
    src_dtype, dst_dtype : "bfloat16" (also numpy.uint16 or ml_dtypes.bfloat16) or "float32", of the input and of the output.

    The expansion and the projection multiply numbers and weights that are rounded to bfloat16; the depthwise convolution has
    weights and inputs of floats, and its results are rounded for the projection.

    >>> stage = pysimd.ConvolutionStage
    >>> stages = [stage(1, 144, activation="relu6"), stage(3, padding=1, activation="relu6"), stage(1, 24)]
    >>> with pysimd.MergedConvolution16b((56, 56, 24), stages, residual=True, dst_dtype="float32") as block:
    ...     block.set_params([np.ones(shape, np.float32) for shape in block.weight_shapes])
    ...     y = block(pysimd.to_bfloat16(np.ones((56, 56, 24), np.float32)))
    >>> y.shape, float(y[5, 5, 0])
    ((56, 56, 24), 865.0)

    Raises TypeError for another dtype, ValueError for stages that do not fit. Formula: SimdSynetMergedConvolution16bInit.
    """

    _unit = UINT8
    _functions = Functions(
        lib.SimdSynetMergedConvolution16bInit,
        lib.SimdSynetMergedConvolution16bExternalBufferSize,
        lib.SimdSynetMergedConvolution16bInternalBufferSize,
        lib.SimdSynetMergedConvolution16bSetParams,
        lib.SimdSynetMergedConvolution16bForward,
    )

    def __init__(
        self,
        src_shape: Shape,
        stages: Sequence[ConvolutionStage],
        *,
        residual: bool = False,
        src_dtype: Any = "bfloat16",
        dst_dtype: Any = "bfloat16",
    ) -> None:
        self._create_of(src_shape, stages, BFLOAT16, src_dtype, dst_dtype, residual)


class MergedConvolution8i(_OfTypes):
    """Two or three convolutions in one call, of which the expansion and the projection multiply bytes.

    src_shape, stages : as of :class:`MergedConvolution32f`, which has the same attributes; but both strides of a stage are
        equal, and the projection has no padding.
    src_dtype, dst_dtype : "uint8" or "float32", of the input and of the output.

    The depthwise convolution multiplies floats; its result becomes bytes for the projection.

    >>> stage = pysimd.ConvolutionStage
    >>> stages = [stage(1, 144, activation="relu6"), stage(3, padding=1, activation="relu6"), stage(1, 24)]
    >>> with pysimd.MergedConvolution8i((56, 56, 24), stages, src_dtype="float32", dst_dtype="float32") as block:
    ...     weights = [np.ones(shape, np.float32) for shape in block.weight_shapes]
    ...     one = pysimd.Statistics(np.zeros(24, np.float32), np.ones(24, np.float32))
    ...     six = pysimd.Statistics(np.zeros(144, np.float32), np.full(144, 6, np.float32))
    ...     block.set_params(weights, src_stats=one, middle_stats=six)
    ...     y = block(np.ones((56, 56, 24), np.float32))
    >>> y.shape, float(y[5, 5, 0])
    ((56, 56, 24), 864.0)

    Raises TypeError for another dtype, ValueError for stages that do not fit. Formula: SimdSynetMergedConvolution8iInit.
    """

    _unit = UINT8
    _functions = Functions(
        lib.SimdSynetMergedConvolution8iInit,
        lib.SimdSynetMergedConvolution8iExternalBufferSize,
        lib.SimdSynetMergedConvolution8iInternalBufferSize,
        lib.SimdSynetMergedConvolution8iSetParams,
        lib.SimdSynetMergedConvolution8iForward,
        has_internal=True,
    )

    def __init__(
        self,
        src_shape: Shape,
        stages: Sequence[ConvolutionStage],
        *,
        src_dtype: Any = "uint8",
        dst_dtype: Any = "uint8",
    ) -> None:
        self._create_of(src_shape, stages, UINT8, src_dtype, dst_dtype)

    def _addends(self, residual: bool) -> dict[str, bool]:
        return {}

    def _addition(self, residual: bool) -> int:
        return int(lib.SimdSynetCompatibilityDefault)

    def set_params(
        self,
        weight: Sequence[Floats],
        bias: Sequence[Coefficients | None] | None = None,
        params: Sequence[Params | None] | None = None,
        src_stats: Statistics | None = None,
        middle_stats: Statistics | None = None,
        dst_stats: Statistics | None = None,
    ) -> None:
        """Sets the weights and statistics; may be called again with others, but not while :meth:`forward` runs.

        weight, bias, params : float, as of :meth:`MergedConvolution32f.set_params`; the weights of the expansion and of the
            projection are quantised here.
        src_stats : of the input; None for a depthwise convolution of floats.
        middle_stats : of the input of the projection; None without one.
        dst_stats : of the output; None for floats.

        The context copies the numbers. References to the arrays are kept only for pickle and copy, which read the numbers
        that the arrays contain then. Raises TypeError for another dtype, ValueError for another shape.
        """
        expands = self._stages[0].dst_c is not None
        projects = self._stages[-1].dst_c is not None
        middle = self._weight_shapes[-1 if projects else 0][2 if projects else 3]
        arrays = [
            *_statistics("src_stats", src_stats, self._src_shape[-1], expands or self._src is UINT8),
            *_statistics("middle_stats", middle_stats, middle, projects),
            *_statistics("dst_stats", dst_stats, self._dst_shape[-1], self._dst is UINT8),
        ]
        given = self._set(weight, bias, params, ffi.new("float *[]", arrays))
        self._given = (*given, src_stats, middle_stats, dst_stats)


def _statistics(name: str, stats: Statistics | None, channels: int, needed: bool) -> list[Any]:
    """The minima and maxima, or nothing in their place."""
    if stats is None and not needed:
        return [NULL, NULL]
    if stats is None:
        raise TypeError(f"{name} is None, expected pysimd.Statistics: use pysimd.statistics(samples)")
    check_statistics(stats, name)
    return [tensor(stats.min, f"{name}.min", (channels,)), tensor(stats.max, f"{name}.max", (channels,))]


class QuantizedMergedConvolution(_Merged):
    """Two or three convolutions of quantised bytes in one call: each as :class:`QuantizedConvolution` without an activation.

    src_shape, stages : as of :class:`MergedConvolution32f`, which has the same attributes; all activations are "identity",
        and the projection has no padding. A stage whose zero is 0 has the limit of a ReLU.
    residual : adds the image to the result of three stages, with a scale and a zero of its own.
    source_first : the sum is rounded as that of the image and the result, instead of the result and the image: the last bit
        may differ.

    Inputs and results are uint8, weights int8.

    >>> stage = pysimd.ConvolutionStage
    >>> with pysimd.QuantizedMergedConvolution((8, 8, 4), [stage(1, 16), stage(3, padding=1), stage(1, 4)]) as block:
    ...     weights = [np.ones(shape, np.int8) for shape in block.weight_shapes]
    ...     block.set_params(weights, [1.0, 1.0, 1.0], [(1.0, 0), (1.0, 0), (9.0, 0), (144.0, 0)])
    ...     y = block(np.full((8, 8, 4), 10, np.uint8))
    >>> int(y[4, 4, 0])
    40

    Results are bit-identical on every instruction set. Raises ValueError for stages that do not fit. Formula:
    SimdSynetQuantizedMergedConvolutionInit.
    """

    _src = _dst = _unit = UINT8
    _functions = Functions(
        lib.SimdSynetQuantizedMergedConvolutionInit,
        lib.SimdSynetQuantizedMergedConvolutionExternalBufferSize,
        lib.SimdSynetQuantizedMergedConvolutionInternalBufferSize,
        lib.SimdSynetQuantizedMergedConvolutionSetParams,
        lib.SimdSynetQuantizedMergedConvolutionForward,
    )

    def __init__(
        self,
        src_shape: Shape,
        stages: Sequence[ConvolutionStage],
        *,
        residual: bool = False,
        source_first: bool = False,
    ) -> None:
        self._source_first = bool(source_first)
        self._create(src_shape, stages, residual)

    def _addition(self, residual: bool) -> int:
        return 0 if not residual else 2 if self._source_first else 1

    def _types(self) -> dict[str, Any]:
        return {"source_first": self._source_first}

    def set_params(  # type: ignore[override]
        self,
        weight: Sequence[Array],
        weight_scale: Sequence[Coefficients],
        linear: Sequence[Linear],
        bias: Sequence[Array | None] | None = None,
    ) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : for each stage, int8 of ``weight_shapes[i]``.
        weight_scale : for each stage, float32 (dst_c,), or one number; finite and above 0.
        linear : the scale and the zero of the input, of the result of each stage and, with `residual`, of the sum.
        bias : for each stage, int32 (dst_c,), in units of the scale of its input times `weight_scale`, or None for zeros.

        The context copies the numbers. References to the arrays are kept only for pickle and copy. Raises TypeError for
        another dtype, ValueError for another shape, scale or zero.
        """
        handle, count = self._open(), len(self._stages)
        lists = [_sequence(weight, "weight"), _sequence(weight_scale, "weight_scale")]
        lists.append((None,) * count if bias is None else _sequence(bias, "bias"))
        pairs, expected = _sequence(linear, "linear"), count + 1 + bool(self._arguments["residual"])
        for values, name in zip(lists, ("weight", "weight_scale", "bias")):
            if len(values) != count:
                raise ValueError(f"{name} has {len(values)} elements, expected {count}, one for each stage")
        if len(pairs) != expected:
            raise ValueError(f"linear has {len(pairs)} elements, expected {expected} pairs of scale and zero")
        linears = byte_linears(pairs, [f"linear[{i}]" for i in range(expected)])
        arrays: tuple[list[Any], ...] = ([], [], [])
        for i, (values, scale, term) in enumerate(zip(*lists)):
            shape = self._weight_shapes[i]
            arrays[0].append(tensor(values, f"weight[{i}]", shape, INT8, INT8.ctype))
            arrays[1].append(coefficients(scale, f"weight_scale[{i}]", shape[-1]))
            arrays[2].append(NULL if term is None else tensor(term, f"bias[{i}]", shape[-1:], INT32, INT32.ctype))
        io_scale, io_zero = ffi.new("float[]", [s for s, _ in linears]), ffi.new("uint8_t[]", [z for _, z in linears])
        types = ("int8_t *[]", "float *[]", "int32_t *[]")
        numbers = [ffi.new(ctype, each) for ctype, each in zip(types, arrays)]
        calls.set_params(self._functions.set_params, handle, io_scale, io_zero, *numbers)
        self._given = lists[0], lists[1], pairs, lists[2]


def _sequence(values: Any, name: str) -> tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(f"{name} is {shown(values)}, expected a sequence with an element for each stage") from None


_ROLES = ("expansion", "depthwise", "projection")


def _first_role(stages: tuple[ConvolutionStage, ...]) -> int:
    """The index of the role of the first stage; the kernel of the second of two decides."""
    if len(stages) not in (2, 3):
        raise ValueError(f"stages has {len(stages)} elements, expected 3 or 2")
    return 1 if len(stages) == 2 and stages[1].kernel == (1, 1) else 0


def _check_stage(stage: ConvolutionStage, name: str, role: str) -> None:
    """Refuses a stage that the library does not have."""
    kernels = {"expansion": (1, 3), "depthwise": (3, 5, 7), "projection": (1,)}[role]
    strides = (1,) if role == "projection" else (1, 2, 3)
    (kernel_y, kernel_x), step = pair(stage.kernel, "kernel", 1), pair(stage.stride, "stride", 1)
    if kernel_y != kernel_x or kernel_y not in kernels:
        raise ValueError(f"{name}.kernel is {stage.kernel}, expected {_either(kernels)} for the {role}")
    if step[0] not in strides or step[1] not in strides:
        raise ValueError(f"{name}.stride is {stage.stride}, expected {_either(strides)} for the {role}")
    if (stage.dst_c is None) != (role == "depthwise"):
        expected = "None" if role == "depthwise" else "a number"
        raise ValueError(f"{name}.dst_c is {stage.dst_c}, expected {expected} for the {role}")


def _either(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers[:-1])) + " or " * (len(numbers) > 1) + str(numbers[-1])


def _read(stage: ConvolutionStage, name: str) -> ConvolutionStage:
    """A copy of a stage with tuples of numbers, which do not change as a list may."""
    if not isinstance(stage, ConvolutionStage):
        raise TypeError(f"{name} is a {type(stage).__name__}, expected a ConvolutionStage")
    return ConvolutionStage(
        pair(stage.kernel, f"{name}.kernel", 1),
        None if stage.dst_c is None else number(stage.dst_c, f"{name}.dst_c", 0),
        pair(stage.stride, f"{name}.stride", 1),
        stage.padding if isinstance(stage.padding, str) else sides(stage.padding, f"{name}.padding"),
        kind_of(stage.activation).name,  # type: ignore[arg-type]
    )


def _describe(conv: Any, stage: ConvolutionStage, c: int, h: int, w: int) -> tuple[Shape, tuple[int, int, int]]:
    """Sets the parameters of a stage for an input image; returns the shape of its weights and the output image."""
    depthwise = stage.dst_c is None
    dst_c = c if stage.dst_c is None else stage.dst_c
    window = Window(pair(stage.kernel, "kernel", 1), pair(stage.stride, "stride", 1))
    kernel, stride = window.kernel, window.stride
    top, left, bottom, right = padding_of(stage.padding, NHWC, (h, w), window)
    dst_h = output_size(h, kernel[0], stride[0], top, bottom, False, "height")
    dst_w = output_size(w, kernel[1], stride[1], left, right, False, "width")
    conv.srcC, conv.srcH, conv.srcW, conv.srcT, conv.srcF = c, h, w, lib.SimdTensorData32f, NHWC
    conv.dstC, conv.dstH, conv.dstW, conv.dstT, conv.dstF = dst_c, dst_h, dst_w, lib.SimdTensorData32f, NHWC
    (conv.kernelY, conv.kernelX), (conv.strideY, conv.strideX) = kernel, stride
    conv.dilationY = conv.dilationX = 1
    conv.padY, conv.padX, conv.padH, conv.padW = top, left, bottom, right
    conv.group, conv.activation = c if depthwise else 1, kind_of(stage.activation).activation
    return (*kernel, 1 if depthwise else c, dst_c), (dst_c, dst_h, dst_w)
