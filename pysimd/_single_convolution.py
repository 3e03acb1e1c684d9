"""The common base of the classes of a convolution and of a deconvolution, which differ in the rule for their sizes."""

from __future__ import annotations

import inspect
from typing import Any, Callable, ClassVar, TypedDict, TypeVar

import _cffi_backend

from pysimd import calls
from pysimd._activation_params import kind_of, params_of
from pysimd._arrays import FLOAT32, NULL, UINT8, Element, coefficients_or_null, element_of_dtype, floats, plain
from pysimd._convolution import ConvolutionContext
from pysimd._geometry import (
    NCHW,
    Window,
    extent,
    images_of,
    is_signal,
    layout_of,
    name_of,
    number,
    output_size,
    padding_of,
    same,
    shape_of,
    shape_of_images,
    window_of,
)
from pysimd._library import ffi
from pysimd.annotations import ActivationLike, Array, Coefficients, Floats, Layout, Padding, Pair, Params, Shape
from pysimd.calls import create

_PARAMETERS = ffi.typeof("SimdConvolutionParameters *")
_new: Any = _cffi_backend.newp  # what ffi.new calls

Init = TypeVar("Init", bound=Callable[..., None])


class _Kernel(TypedDict):
    """The option that must be given."""

    kernel: Pair


class Options(_Kernel, total=False):
    """The options of :class:`SingleConvolution`, as a subclass that has more of them passes them on."""

    stride: Pair
    padding: Padding
    dilation: Pair
    group: int
    activation: ActivationLike
    layout: Layout


class SingleConvolution(ConvolutionContext):
    """A convolution, or, with other rules for sizes, a deconvolution; see there."""

    _same = staticmethod(same)  # the rule of padding="same"
    _output_padding: Pair = 0  # of a deconvolution

    @staticmethod
    def _size(size: int, span: int, stride: int, before: int, after: int, name: str) -> int:
        """The output size of an axis; span is that of the kernel with its dilation."""
        return output_size(size, span, stride, before, after, False, name)

    @staticmethod
    def _axes_of_weights(form: int) -> str:
        """The axes of the weights, for messages."""
        taps = "kernel" if is_signal(form) else "kernel_y, kernel_x"
        return f"(dst_c, C / group, {taps})" if form == NCHW else f"({taps}, C / group, dst_c)"

    @staticmethod
    def _weights_of(form: int, src_c: int, dst_c: int, taps: Shape, group: int) -> Shape:
        """The shape of the weights."""
        return (dst_c, src_c // group, *taps) if form == NCHW else (*taps, src_c // group, dst_c)

    def __init__(
        self,
        src_shape: Shape,
        dst_c: int,
        *,
        kernel: Pair,
        stride: Pair = 1,
        padding: Padding = 0,
        dilation: Pair = 1,
        group: int = 1,
        activation: ActivationLike = "identity",
        layout: Layout = "nhwc",
    ) -> None:
        form = layout_of(layout)
        self._src_shape = shape_of(src_shape, "src_shape")
        lead, src_c, src_h, src_w = images_of(self._src_shape, form, "src_shape")
        self._images = lead[0] if lead else 1
        dst_c, group = number(dst_c, "dst_c", 0), number(group, "group", 1)
        window = window_of(kernel, stride, dilation, form)
        pads = padding_of(padding, form, (src_h, src_w), window, self._same)
        if self._output_padding != 0:
            pads = _less(pads, self._output_padding, form)
        self._kind = kind_of(activation)
        (span_y, span_x), (stride_y, stride_x) = window.span, window.stride
        dst_h = self._size(src_h, span_y, stride_y, pads[0], pads[2], "height")
        dst_w = self._size(src_w, span_x, stride_x, pads[1], pads[3], "width")
        self._dst_shape = shape_of_images(lead, dst_c, dst_h, dst_w, form)
        if src_c % group or dst_c % group:
            raise ValueError(f"group is {group}, expected a divisor of {src_c} input and {dst_c} output channels")
        taps = window.kernel[1:] if is_signal(form) else window.kernel
        self._weight_shape = self._weights_of(form, src_c, dst_c, taps, group)
        self._src_c, self._dst_c = src_c, dst_c

        src = src_c, src_h, src_w, self._src.tensor, form
        dst = dst_c, dst_h, dst_w, self._dst.tensor, form
        steps = *window.kernel, *window.dilation, *window.stride
        conv = _new(_PARAMETERS, (*src, *dst, *steps, *pads, group, self._kind.activation))  # all members, in order
        arguments = {
            "src_shape": self._src_shape,
            "dst_c": dst_c,
            "group": group,
            "activation": self._kind.name,
            "layout": name_of(form),
            **_arguments(window, pads, form),
            **self._types(),
        }
        super().__init__(create(self._functions.init, self._images or 1, conv, NULL), arguments)

    def _types(self) -> dict[str, str]:
        """The arguments for the element types, where there is a choice."""
        return {}

    def _described(self) -> str:
        kernel = self._arguments["kernel"]
        taps = "x".join(map(str, kernel)) if isinstance(kernel, tuple) else kernel
        options = ", ".join(["", *self._types().values()])
        layout = self._arguments["layout"]
        return f"{self._src_shape} -> {self._dst_shape}, kernel {taps}, {self._kind.name}, {layout}{options}"

    @property
    def weight_shape(self) -> Shape:
        """The shape of the weights."""
        return self._weight_shape

    def set_params(self, weight: Floats, bias: Coefficients | None = None, params: Params | None = None) -> None:
        """Sets the weights; may be called again with others, but not while :meth:`forward` runs.

        weight : float32 of ``weight_shape``.
        bias : float32 of shape (dst_c,), (dst_c, 1, 1) or (1, dst_c, 1, 1), or one number; None for zeros.
        params : the parameters of the activation: a number, a sequence of numbers, a float32 array, or a mapping of their
            names, as ``{"slope": 0.1}``; None for the defaults.

        The context copies the numbers. References to the arrays are kept only for pickle and copy, which read the numbers
        that the arrays contain then. Raises TypeError for another dtype, ValueError for another shape.
        """
        calls.set_params(self._functions.set_params, *self._params(weight, bias, params))
        self._given = weight, bias, params

    def _params(self, weight: Floats, bias: Coefficients | None, params: Params | None) -> tuple[Any, ...]:
        """The arguments of the C function."""
        handle = self._open()
        weights, *numbers = self._numbers(weight, bias, params)
        internal = (NULL,) if self._functions.has_internal else ()
        return handle, weights, *internal, *numbers

    def _numbers(self, weight: Floats, bias: Coefficients | None, params: Params | None) -> tuple[Any, Any, Any]:
        """The C arrays of :meth:`set_params`."""
        array, weights = floats(weight, "weight")
        if array.shape != self._weight_shape:
            layout = self._arguments["layout"]
            raise ValueError(
                f"weight has shape {array.shape}, expected {self._weight_shape}: {self._axes_of_weights(layout_of(layout))} "
                f"for layout {layout!r} and images of shape {self._src_shape}{self._remedy(array.shape)}"
            )
        return weights, coefficients_or_null(bias, "bias", self._dst_c), params_of(params, self._kind, self._dst_c)

    def _remedy(self, shape: Shape) -> str:
        """What to do with weights of this shape, if they are those of another layout: of PyTorch they are."""
        form, kernel = layout_of(self._arguments["layout"]), self._arguments["kernel"]
        taps, group = kernel if isinstance(kernel, tuple) else (kernel,), self._arguments["group"]
        fits = shape == self._weights_of(_other(form), self._src_c, self._dst_c, taps, group)
        return _transposition(type(self), form) if fits else ""


def _other(form: int) -> int:
    """NCHW for NHWC and the reverse, also of signals."""
    return layout_of({"nchw": "nhwc", "nhwc": "nchw", "ncw": "nwc", "nwc": "ncw"}[name_of(form)])


def _axes(kind: type[SingleConvolution], form: int) -> list[int]:
    """The axes of the weights as numbers: 0 is that of output channels, 1 of input channels, the others of the kernel."""
    return list(kind._weights_of(form, 1, 0, (2,) if is_signal(form) else (2, 3), 1))


def _channels_and_taps(kind: type[SingleConvolution], shape: Shape, form: int) -> tuple[int, int]:
    """The input channels, of a group, and the largest side of the kernel of weights that have this layout."""
    sizes = dict(zip(_axes(kind, form), shape))
    return sizes[1], max(size for axis, size in sizes.items() if axis > 1)


def _fits_other(kind: type[SingleConvolution], images: Array, weights: Array, form: int, group: int) -> bool:
    """Whether weights would have the input channels of the images, and the smaller kernel, in the other layout."""
    (_, taps), (channels, fewer) = (_channels_and_taps(kind, weights.shape, each) for each in (form, _other(form)))
    return channels * group == images_of(images.shape, form)[1] and fewer < taps


def with_remedy(
    error: ValueError, kind: type[SingleConvolution], images: Array, weights: Array, layout: Layout, group: int
) -> ValueError:
    """The error of a kernel that is too large, and what to do if it is one because the weights have the other layout."""
    form, text = layout_of(layout), str(error)
    if text.startswith("kernel is ") and _fits_other(kind, images, weights, form, group):
        return ValueError(f"{text}{_transposition(kind, form)}")
    return error


def _transposition(kind: type[SingleConvolution], form: int) -> str:
    """The end of a message about weights of the other layout."""
    other = _axes(kind, _other(form))
    order = tuple(map(other.index, _axes(kind, form)))
    name, wanted = name_of(_other(form)), name_of(form)
    return f"; weight fits layout={name!r}: for {wanted!r} use np.ascontiguousarray(weight.transpose{order})"


def arrays_of(kind: type[SingleConvolution], x: Floats, weight: Floats, layout: Layout, group: int) -> tuple[Array, Array]:
    """The images and the weights of a function that creates a context; refuses other numbers of dimensions, and weights
    whose input channels are where the other layout has them.
    """
    images, weights = plain(x, "x"), plain(weight, "weight")
    form = layout_of(layout)
    rank = 2 if is_signal(form) else 3
    if images.ndim not in (rank, rank + 1):
        images_of(images.shape, form)  # raises: here x is the name of what the context knows as src_shape
    if weights.ndim != rank + 1:
        raise ValueError(f"weight has shape {weights.shape}, expected {kind._axes_of_weights(form)}")
    channels = images_of(images.shape, form)[1]
    if _channels_and_taps(kind, weights.shape, form)[0] * number(group, "group", 1) != channels and _fits_other(
        kind, images, weights, form, group
    ):
        axes, name = kind._axes_of_weights(form), name_of(form)
        raise ValueError(
            f"weight has shape {weights.shape}, expected {axes} for layout {name!r} and images of shape {images.shape}"
            f"{_transposition(kind, form)}"
        )
    return images, weights


def _less(pads: tuple[int, int, int, int], output_padding: Pair, form: int) -> tuple[int, int, int, int]:
    """The padding of a deconvolution less its output_padding, at the bottom and at the right."""
    y, x = extent(output_padding, "output_padding", 0, form)
    if is_signal(form):
        y = 0
    top, left, bottom, right = pads
    if y > bottom or x > right:
        raise ValueError(
            f"output_padding is {output_padding}, expected at most the padding at the bottom and the right, "
            f"{right if is_signal(form) else (bottom, right)}: the library adds no rows beyond the kernel"
        )
    return top, left, bottom - y, right - x


def _arguments(window: Window, pads: tuple[int, int, int, int], form: int) -> dict[str, Any]:
    """The arguments of a window, to pickle."""
    if is_signal(form):
        (_, kernel_x), (_, stride_x), (_, dilation_x) = window
        return {"kernel": kernel_x, "stride": stride_x, "dilation": dilation_x, "padding": (pads[1], pads[3])}
    return {"kernel": window.kernel, "stride": window.stride, "dilation": window.dilation, "padding": pads}


def with_options(init: Init) -> Init:
    """An ``__init__`` whose signature shows the arguments of :class:`SingleConvolution` in place of its ``**options``."""
    shown = dict(inspect.signature(SingleConvolution.__init__).parameters)
    own = inspect.signature(init).parameters.values()
    shown.update((each.name, each) for each in own if each.kind is not inspect.Parameter.VAR_KEYWORD)
    init.__signature__ = inspect.Signature([*shown.values()], return_annotation="None")  # type: ignore[attr-defined]
    return init


class SmallConvolution(SingleConvolution):
    """A convolution whose tensors are each float or of a smaller type: C expects their bytes."""

    _small: ClassVar[Element]
    _unit = UINT8

    def _set_types(self, src_dtype: Any, dst_dtype: Any) -> None:
        self._src = element_of_dtype(src_dtype, "src_dtype", (FLOAT32, self._small))
        self._dst = element_of_dtype(dst_dtype, "dst_dtype", (FLOAT32, self._small))

    def _types(self) -> dict[str, str]:
        return {"src_dtype": self._src.name, "dst_dtype": self._dst.name}
