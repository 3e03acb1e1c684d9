"""Layouts, and the numbers that describe a sliding window: kernel, stride, padding, output size."""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any, Callable, NamedTuple

from pysimd._library import lib
from pysimd.annotations import Shape
from pysimd.errors import shown

_LARGEST = 2**64 - 1


class Signal(int):
    """A layout of signals of one dimension, "nwc" or "ncw". It is equal to a layout of images: for the library a
    signal is an image of height 1, an axis that the shapes of Python do not have.
    """

    __slots__ = ()


# The enumerators of TensorFormat, which is equal to them: pysimd.enums takes 2 ms to import, which models do not need.
NCHW: int = lib.SimdTensorFormatNchw
NHWC: int = lib.SimdTensorFormatNhwc
_SIGNALS: dict[Any, int] = {"nwc": Signal(NHWC), "ncw": Signal(NCHW)}
_BLOCKS: dict[int, int] = {lib.SimdTensorFormatNchw4c: 4, lib.SimdTensorFormatNchw8c: 8, lib.SimdTensorFormatNchw16c: 16}
_OIYX: int = lib.SimdTensorFormatOiyx
_FILTER_BLOCKS: dict[int, int] = {
    lib.SimdTensorFormatOyxi4o: 4, lib.SimdTensorFormatOyxi8o: 8, lib.SimdTensorFormatOyxi16o: 16,
}  # fmt: skip


def _named(*names: str) -> dict[Any, int]:
    found: dict[Any, int] = {name: getattr(lib, f"SimdTensorFormat{name.capitalize()}") for name in names}
    return {**found, **{layout: layout for layout in found.values()}}


IMAGE_LAYOUTS = _named("nchw", "nhwc")
PLAIN_LAYOUTS = {**IMAGE_LAYOUTS, **_SIGNALS}
BLOCK_LAYOUTS = _named("nchw", "nhwc", "nchw4c", "nchw8c", "nchw16c")
LAYOUTS = {**BLOCK_LAYOUTS, **_SIGNALS}

FILTER_LAYOUTS = _named("oiyx", "yxio", "oyxi4o", "oyxi8o", "oyxi16o")


def layout_of(layout: Any, name: str = "layout", known: dict[Any, int] = PLAIN_LAYOUTS) -> int:
    """The enumerator of a layout given by name or as :class:`TensorFormat`."""
    try:
        return known[layout]
    except (KeyError, TypeError):
        names = " or ".join(repr(key) for key in known if type(key) is str)
        raise ValueError(f"{name} is {shown(layout)}, expected {names}") from None


def is_signal(layout: int) -> bool:
    """Whether a layout is one of signals of one dimension."""
    return type(layout) is Signal


def name_of(layout: int) -> str:
    """The name of a layout."""
    if is_signal(layout):
        return "ncw" if layout == NCHW else "nwc"
    return next(str(name) for name, known in (*BLOCK_LAYOUTS.items(), *FILTER_LAYOUTS.items()) if known == layout)


def _axes_of(layout: int) -> str:
    if layout in _BLOCKS:
        return "C / x, H, W, x"
    space = "W" if is_signal(layout) else "H, W"
    return f"C, {space}" if layout == NCHW else f"{space}, C"


def images_of(shape: Shape, layout: int, name: str = "x") -> tuple[Shape, int, int, int]:
    """(leading axes, channels, height, width) of an array of images; the leading axes are () or (batch,)."""
    block = _BLOCKS.get(layout)
    rank = 4 if block else 2 if is_signal(layout) else 3
    if len(shape) != rank and len(shape) != rank + 1:
        axes = _axes_of(layout)
        found = f"{name} is" if name == "src_shape" else f"{name} has shape"
        raise ValueError(f"{found} {shape}, expected ({axes}) or (N, {axes}) for layout {name_of(layout)!r}")
    lead = shape[:-rank]
    if rank == 2:
        channels, width = shape[-2:] if layout == NCHW else shape[:-3:-1]
        return lead, channels, 1, width
    if block:
        if shape[-1] != block:
            raise ValueError(f"{name} has shape {shape}, expected a last axis of {block}")
        return lead, shape[-4] * block, shape[-3], shape[-2]
    if layout == NCHW:
        return lead, shape[-3], shape[-2], shape[-1]
    return lead, shape[-1], shape[-3], shape[-2]


def planes_of(shape: Shape, layout: int, name: str = "x") -> tuple[int, int, int]:
    """(images, channels, spatial) for a function that treats every position alike.

    NHWC may have any leading axes: all of them are one image.
    """
    if layout == NHWC:
        if len(shape) < 1:
            raise ValueError(f"{name} has shape {shape}, expected (..., C)")
        return 1, shape[-1], prod(shape[:-1])
    lead, channels, height, width = images_of(shape, layout, name)
    return lead[0] if lead else 1, channels, height * width


def shape_of_images(lead: Shape, channels: int, height: int, width: int, layout: int) -> Shape:
    """The shape of an array of images. For NCHWxc channels are rounded up to whole blocks."""
    if is_signal(layout):
        return (*lead, channels, width) if layout == NCHW else (*lead, width, channels)
    block = _BLOCKS.get(layout)
    if block:
        return (*lead, -(-channels // block), height, width, block)
    if layout == NCHW:
        return (*lead, channels, height, width)
    return (*lead, height, width, channels)


def filter_of(shape: Shape, layout: int, name: str = "weight") -> tuple[int, int, int, int]:
    """(outputs, inputs, kernel height, kernel width) of a filter; outputs with the lanes that fill the last block."""
    block = _FILTER_BLOCKS.get(layout)
    if len(shape) != (5 if block else 4):
        taps = "kernel_y, kernel_x"
        axes = f"dst_c / x, {taps}, C, x" if block else f"dst_c, C, {taps}" if layout == _OIYX else f"{taps}, C, dst_c"
        raise ValueError(f"{name} has shape {shape}, expected ({axes})")
    if block:
        if shape[-1] != block:
            raise ValueError(f"{name} has shape {shape}, expected a last axis of {block}")
        return shape[0] * block, shape[3], shape[1], shape[2]
    return shape if layout == _OIYX else (shape[3], shape[2], shape[0], shape[1])  # type: ignore[return-value]


def with_channels(shape: Shape, layout: int, channels: int) -> Shape:
    """The shape of images with another number of channels."""
    if layout in _BLOCKS:
        return (*shape[:-4], channels // shape[-1], *shape[-3:])
    if layout == NHWC:
        return (*shape[:-1], channels)
    axis = -2 if is_signal(layout) else -3
    return (*shape[:axis], channels, *shape[axis + 1 :])


def shape_of_filter(outputs: int, inputs: int, kernel_y: int, kernel_x: int, layout: int) -> Shape:
    """The shape of a filter. For Oyxixo outputs are rounded up to whole blocks."""
    block = _FILTER_BLOCKS.get(layout)
    if block:
        return (-(-outputs // block), kernel_y, kernel_x, inputs, block)
    return (outputs, inputs, kernel_y, kernel_x) if layout == _OIYX else (kernel_y, kernel_x, inputs, outputs)


def integer(value: Any, name: str) -> int:
    """Any integer."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}, expected an integer") from None


def axis_of(axis: Any, shape: Shape, name: str = "x") -> int:
    """An axis of an array of this shape, counted from the first one."""
    found, rank = integer(axis, "axis"), len(shape)
    if not -rank <= found < rank:
        raise ValueError(f"axis is {found}, expected one of the {rank} dimensions of {name}")
    return found % rank


def number(value: Any, name: str, least: int) -> int:
    """An integer of at least `least` that the library can represent."""
    result = value if type(value) is int else integer(value, name)
    if not least <= result <= _LARGEST:
        raise ValueError(f"{name} is {value}, expected at least {least}" if result < least else f"{name} is too large")
    return result


def shape_of(shape: Any, name: str) -> Shape:
    """A shape given as any sequence of integers."""
    try:
        sizes = tuple(map(index, shape))
    except TypeError:
        raise TypeError(f"{name} is {shown(shape)}, expected a tuple of integers") from None
    for size in sizes:
        if not 0 <= size <= _LARGEST:
            number(size, name, 0)  # raises
    return sizes


def pair(value: Any, name: str, least: int) -> tuple[int, int]:
    """(y, x) of a number, which stands for both, or of a pair."""
    if type(value) is int and least <= value <= _LARGEST:
        return value, value
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise ValueError(f"{name} is {shown(value)}, expected a number or a pair (y, x)")
        return number(value[0], name, least), number(value[1], name, least)
    both = number(value, name, least)
    return both, both


def _of_signal(value: Any, name: str, least: int) -> tuple[int, int]:
    """(1, x) of a number, or of a sequence with it."""
    if isinstance(value, (tuple, list)):
        if len(value) != 1:
            raise ValueError(f"{name} is {shown(value)}, expected a number for a signal")
        value = value[0]
    return 1, number(value, name, least)


def extent(value: Any, name: str, least: int, layout: int) -> tuple[int, int]:
    """(y, x) of a kernel, a stride or a dilation; for signals, y is 1."""
    return _of_signal(value, name, least) if is_signal(layout) else pair(value, name, least)


def sides(value: Any, name: str) -> tuple[int, int, int, int]:
    """(top, left, bottom, right) of a number, a pair (y, x) or four sides."""
    if isinstance(value, (tuple, list)) and len(value) != 2:
        if len(value) != 4:
            raise ValueError(f"{name} is {shown(value)}, expected a number, a pair (y, x) or (top, left, bottom, right)")
        top, left, bottom, right = (number(side, name, 0) for side in value)
        return top, left, bottom, right
    y, x = pair(value, name, 0)
    return y, x, y, x


class Window(NamedTuple):
    """The kernel of a convolution, a deconvolution or a pooling, each number as (y, x)."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int] = (1, 1)

    @property
    def span(self) -> tuple[int, int]:
        """The rows and columns from the first to the last element of the kernel."""
        (kernel_y, kernel_x), (dilation_y, dilation_x) = self.kernel, self.dilation
        return dilation_y * (kernel_y - 1) + 1, dilation_x * (kernel_x - 1) + 1


def window_of(kernel: Any, stride: Any, dilation: Any, layout: int) -> Window:
    """The window of a convolution or a deconvolution."""
    read = _of_signal if is_signal(layout) else pair
    return Window(read(kernel, "kernel", 1), read(stride, "stride", 1), read(dilation, "dilation", 1))


def same(size: int, span: int, stride: int) -> int:
    """The padding of an axis for ``padding="same"``, which makes the output ceil(size / stride)."""
    return max((-(-size // stride) - 1) * stride + span - size, 0)


def padding_of(
    padding: Any,
    layout: int,
    sizes: tuple[int, int],
    window: Window,
    total: Callable[[int, int, int], int] = same,
) -> tuple[int, int, int, int]:
    """(top, left, bottom, right) of a padding in any form; `total` is the rule of "same" for an axis."""
    if isinstance(padding, str):
        if padding == "valid":
            return 0, 0, 0, 0
        if padding != "same":
            raise ValueError(f"padding is {shown(padding)}, expected numbers, 'same' or 'valid'")
        y, x = (total(*axis) for axis in zip(sizes, window.span, window.stride))
        return y // 2, x // 2, y - y // 2, x - x // 2
    if is_signal(layout):
        if isinstance(padding, (tuple, list)) and len(padding) != 2:
            raise ValueError(f"padding is {shown(padding)}, expected a number or a pair (before, after)")
        before, after = pair(padding, "padding", 0)
        return 0, before, 0, after
    return sides(padding, "padding")


def output_size(size: int, kernel: int, stride: int, before: int, after: int, ceil: bool, name: str) -> int:
    """The number of windows along an axis.

    The floor rule counts windows that lie wholly inside the padded image. The ceil rule adds one that is cut off at the end
    if they do not reach it, unless that one would begin beyond the image.
    """
    space = size + before + after - kernel
    if size + before + after > _LARGEST:
        raise ValueError(f"padding is too large for the {name}")
    if space < 0 and not ceil:
        raise ValueError(f"kernel is {kernel}, expected at most the padded {name} {size} + {before} + {after}")
    if space < 0:
        return int(size + before > 0)
    whole = space // stride + 1
    if not ceil:
        return whole
    more = -(-space // stride) + 1
    return more if (more - 1) * stride < size + before else whole
