"""Convolutions of float32 images one after the other, without images in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pysimd._arrays import Array, Shape, tensor, tensor_or_null
from pysimd._convolution import ConvolutionContext, Functions, Params, activation_of, params_of
from pysimd._geometry import NHWC, Padding, Pair, images_of, number, output_size, pair, shape_of, shape_of_images, sides
from pysimd._library import ffi, lib
from pysimd.enums import Activation
from pysimd.errors import check


@dataclass(frozen=True)
class ConvolutionStage:
    """One of the convolutions of a :class:`MergedConvolution32f`.

    kernel, stride, padding, activation : as in :class:`Convolution32f`.
    dst_c : output channels; None for a depthwise convolution, which has as many as its input.
    """

    kernel: Pair
    dst_c: int | None = None
    stride: Pair = 1
    padding: Padding = 0
    activation: str | Activation = "identity"


class MergedConvolution32f(ConvolutionContext):
    """Two or three convolutions of NHWC images in one go: what lies between them stays in the caches.

    src_shape : (H, W, C), or a batch of them, which has its size fixed here.
    stages : three :class:`ConvolutionStage`, an expansion (kernel 1 or 3), a depthwise convolution (kernel 3, 5 or 7; dst_c
        None) and a projection (kernel 1, stride 1); or the first two, or the last two of these. Strides are 1, 2 or 3.
    add : adds the image to the result of three stages, before the last activation; their shapes must be equal. Of two
        stages it changes nothing.

    Attributes: src_shape, dst_shape, weight_shapes (one for each stage).

    An inverted residual block of MobileNetV2::

        stage = pysimd.ConvolutionStage
        expand, depthwise, project = stage(1, 144, activation="relu"), stage(3, padding=1, activation="relu"), stage(1, 24)
        with pysimd.MergedConvolution32f((56, 56, 24), [expand, depthwise, project], add=True) as block:
            block.set_params([weight0, weight1, weight2], [bias0, bias1, bias2])
            y = block(x)

    Raises ValueError for stages that cannot be. Formula: SimdSynetMergedConvolution32fInit.
    """

    _functions = Functions(
        lib.SimdSynetMergedConvolution32fInit,
        lib.SimdSynetMergedConvolution32fExternalBufferSize,
        lib.SimdSynetMergedConvolution32fInternalBufferSize,
        lib.SimdSynetMergedConvolution32fSetParams,
        lib.SimdSynetMergedConvolution32fForward,
    )

    def __init__(self, src_shape: Shape, stages: Sequence[ConvolutionStage], *, add: bool = False) -> None:
        self._src_shape = shape_of(src_shape, "src_shape")
        self._stages = tuple(_read(stage, f"stages[{i}]") for i, stage in enumerate(stages))
        lead, c, h, w = images_of(self._src_shape, NHWC, "src_shape")
        convs = ffi.new("SimdConvolutionParameters[]", max(len(self._stages), 1))
        self._weight_shapes: tuple[Shape, ...] = ()
        for conv, stage in zip(convs, self._stages):
            weight, (c, h, w) = _describe(conv, stage, c, h, w)
            self._weight_shapes += (weight,)
        self._dst_shape = shape_of_images(lead, c, h, w, NHWC)
        super().__init__(
            self._functions.init(lead[0] if lead else 1, convs, len(self._stages), lib.SimdTrue if add else lib.SimdFalse),
            {"src_shape": self._src_shape, "stages": self._stages, "add": bool(add)},
        )

    @property
    def weight_shapes(self) -> tuple[Shape, ...]:
        """The shape of the weights of each stage."""
        return self._weight_shapes

    def set_params(
        self,
        weight: Sequence[Array],
        bias: Sequence[Array | None] | None = None,
        params: Sequence[Params | None] | None = None,
    ) -> None:
        """Gives the context its weights; may be called again with others, but not while :meth:`forward` runs.

        weight : for each stage, float32 of ``weight_shapes[i]``: (kernel_y, kernel_x, C, dst_c), depthwise (kernel_y,
            kernel_x, 1, C).
        bias : for each stage (dst_c,) float32, or None for zeros; None for zeros in all.
        params : for each stage what its activation needs, as in :meth:`Convolution32f.set_params`; None for nothing in all.

        The context copies what it needs. The arrays are kept, not copied, for pickle and copy alone: what these give has the
        numbers that are in them then.
        """
        handle, count = self._open(), len(self._stages)
        nothing = (None,) * count
        lists = [tuple(values) if values is not None else nothing for values in (weight, bias, params)]
        for values, name in zip(lists, ("weight", "bias", "params")):
            if len(values) != count:
                raise ValueError(f"{name} has {len(values)} elements, expected {count}, one for each stage")
        arrays: tuple[list[Any], ...] = ([], [], [])
        for i, (values, term, numbers) in enumerate(zip(*lists)):
            shape, activation = self._weight_shapes[i], activation_of(self._stages[i].activation)
            arrays[0].append(tensor(values, f"weight[{i}]", shape))
            arrays[1].append(tensor_or_null(term, f"bias[{i}]", (shape[-1],)))
            arrays[2].append(params_of(numbers, activation, shape[-1], f"params[{i}]"))
        weights, terms, numbers = (ffi.new("float *[]", each) for each in arrays)
        self._functions.set_params(handle, weights, ffi.NULL, terms, numbers)
        check()
        self._given = lists[0], lists[1], lists[2]


def _read(stage: ConvolutionStage, name: str) -> ConvolutionStage:
    """A stage with the numbers that the given one has now: a list in that may change."""
    if not isinstance(stage, ConvolutionStage):
        raise TypeError(f"{name} is a {type(stage).__name__}, expected a ConvolutionStage")
    return ConvolutionStage(
        pair(stage.kernel, f"{name}.kernel", 1),
        None if stage.dst_c is None else number(stage.dst_c, f"{name}.dst_c", 0),
        pair(stage.stride, f"{name}.stride", 1),
        sides(stage.padding, f"{name}.padding"),
        activation_of(stage.activation),
    )


def _describe(conv: Any, stage: ConvolutionStage, c: int, h: int, w: int) -> tuple[Shape, tuple[int, int, int]]:
    """Fills the parameters of a stage behind an image; returns the shape of its weights, and the image that it gives."""
    depthwise = stage.dst_c is None
    dst_c = c if stage.dst_c is None else stage.dst_c
    kernel, stride = pair(stage.kernel, "kernel", 1), pair(stage.stride, "stride", 1)
    top, left, bottom, right = sides(stage.padding, "padding")
    dst_h = output_size(h, kernel[0], stride[0], top, bottom, False, "height")
    dst_w = output_size(w, kernel[1], stride[1], left, right, False, "width")
    conv.srcC, conv.srcH, conv.srcW, conv.srcT, conv.srcF = c, h, w, lib.SimdTensorData32f, NHWC
    conv.dstC, conv.dstH, conv.dstW, conv.dstT, conv.dstF = dst_c, dst_h, dst_w, lib.SimdTensorData32f, NHWC
    (conv.kernelY, conv.kernelX), (conv.strideY, conv.strideX) = kernel, stride
    conv.dilationY = conv.dilationX = 1
    conv.padY, conv.padX, conv.padH, conv.padW = top, left, bottom, right
    conv.group, conv.activation = c if depthwise else 1, activation_of(stage.activation)
    return (*kernel, 1 if depthwise else c, dst_c), (dst_c, dst_h, dst_w)
