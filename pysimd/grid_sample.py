"""Images at the positions of a grid."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from pysimd._arrays import UINT8, floats, output, plain, tensor
from pysimd._geometry import pair, shape_of
from pysimd._library import lib
from pysimd.annotations import FloatArray, Floats, Pair, Shape
from pysimd.calls import call, create
from pysimd.context import ShapedContext
from pysimd.errors import shown

GridMode = Literal["bilinear", "nearest", "bicubic"]
GridPadding = Literal["zeros", "border", "reflection"]

MODES = {
    "bilinear": lib.SimdGridSampleInterpBilinear,
    "nearest": lib.SimdGridSampleInterpNearest,
    "bicubic": lib.SimdGridSampleInterpBicubic,
}
PADDINGS = {
    "zeros": lib.SimdGridSamplePaddingZeros,
    "border": lib.SimdGridSamplePaddingBorder,
    "reflection": lib.SimdGridSamplePaddingReflect,
}


def _chosen(value: Any, name: str, known: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} is {shown(value)}, expected {' or '.join(map(repr, known))}")
    return known[value]


class GridSample2d(ShapedContext):
    """A batch of images at the positions of a grid: ``torch.nn.functional.grid_sample``, GridSample of ONNX.

    src_shape : the shape of the images, (N, C, H, W).
    dst_size : the size of the grid and of the output, (H, W), or one number for both.
    mode, padding_mode, align_corners : see :func:`grid_sample`.

    Raises ValueError for another mode and for images without elements.

    >>> with pysimd.GridSample2d((1, 1, 2, 2), (1, 3), align_corners=True) as context:
    ...     grid = np.array([[-1, -1], [0, 0], [1, 1]], np.float32).reshape(1, 1, 3, 2)
    ...     context(np.array([[[[0, 1], [2, 3]]]], np.float32), grid)
    array([[[[0. , 1.5, 3. ]]]], dtype=float32)

    Formula: SimdSynetGridSample2dInit, SimdSynetGridSample2dForward.
    """

    def __init__(
        self,
        src_shape: Shape,
        dst_size: Pair,
        *,
        mode: GridMode = "bilinear",
        padding_mode: GridPadding = "zeros",
        align_corners: bool = False,
    ) -> None:
        self._src_shape = shape_of(src_shape, "src_shape")
        if len(self._src_shape) != 4:
            raise ValueError(f"src_shape is {self._src_shape}, expected (N, C, H, W)")
        size = pair(dst_size, "dst_size", 0)
        chosen = _chosen(mode, "mode", MODES), _chosen(padding_mode, "padding_mode", PADDINGS), bool(align_corners)
        self._dst_shape = (*self._src_shape[:2], *size)
        self._grid_shape = (self._src_shape[0], *size, 2)
        super().__init__(
            create(lib.SimdSynetGridSample2dInit, *self._src_shape, *size, lib.SimdTensorData32f, *chosen),
            {
                "src_shape": self._src_shape,
                "dst_size": size,
                "mode": mode,
                "padding_mode": padding_mode,
                "align_corners": chosen[2],
            },
        )

    @property
    def src_shape(self) -> Shape:
        """The shape of the images."""
        return self._src_shape

    @property
    def grid_shape(self) -> Shape:
        """The shape of the grid."""
        return self._grid_shape

    @property
    def internal_buffer_size(self) -> int:
        """The bytes that the context holds: 0."""
        return int(lib.SimdSynetGridSample2dInternalBufferSize(self._open()))

    def forward(self, input: Floats, grid: Floats, *, out: FloatArray | None = None) -> FloatArray:
        """Reads the images at the positions of the grid."""
        handle = self._open()
        src = tensor(input, "input", self._src_shape, ctype=UINT8.ctype)
        grd = tensor(grid, "grid", self._grid_shape, ctype=UINT8.ctype)
        out, dst = output(out, self._dst_shape, (input, grid), ("input", "grid"), ctype=UINT8.ctype)
        call(lib.SimdSynetGridSample2dForward, handle, src, grd, dst)
        return out

    __call__ = forward


def grid_sample(
    input: Floats,
    grid: Floats,
    mode: GridMode = "bilinear",
    padding_mode: GridPadding = "zeros",
    align_corners: bool = False,
    *,
    out: FloatArray | None = None,
) -> FloatArray:
    """A batch of images at the positions of a grid: ``torch.nn.functional.grid_sample``, GridSample of ONNX.

    input : float32 of shape (N, C, H, W), contiguous.
    grid : float32 of shape (N, H_out, W_out, 2), contiguous: pairs (x, y).
    mode : "bilinear", "nearest" or "bicubic".
    padding_mode : what is outside of the image: "zeros"; "border", the nearest element; "reflection", mirror images.
    align_corners : if true, -1 and 1 are the centres of the first and the last element of an axis, else their outer edges.
    out : float32 of shape (N, C, H_out, W_out).

    A coordinate that is NaN gives NaN.

    It creates a :class:`GridSample2d` and keeps some of them for later calls with the same shapes. Raises TypeError for
    another dtype, ValueError for another shape or mode.

    >>> image = np.array([[[[0, 1], [2, 3]]]], np.float32)
    >>> grid = np.array([[-1, -1], [0, 0], [1, 1]], np.float32).reshape(1, 1, 3, 2)
    >>> pysimd.grid_sample(image, grid, align_corners=True)
    array([[[[0. , 1.5, 3. ]]]], dtype=float32)
    """
    image, positions = floats(input, "input")[0], plain(grid, "grid")
    if image.ndim != 4:
        raise ValueError(f"input has shape {image.shape}, expected (N, C, H, W)")
    if positions.ndim != 4 or positions.shape[0] != image.shape[0] or positions.shape[3] != 2:
        raise ValueError(f"grid has shape {positions.shape}, expected ({image.shape[0]}, H, W, 2)")
    size = positions.shape[1], positions.shape[2]
    sampler = _sampler(image.shape, size, mode, padding_mode, bool(align_corners), lib.SimdnetActiveIsa())
    return sampler.forward(input, grid, out=out)


@lru_cache(maxsize=64)
def _sampler(
    shape: Shape, size: tuple[int, int], mode: GridMode, padding_mode: GridPadding, align_corners: bool, isa: Any
) -> GridSample2d:
    """One for each instruction set, too: a context keeps the one it was created with."""
    return GridSample2d(shape, size, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
