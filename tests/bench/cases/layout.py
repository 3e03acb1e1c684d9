"""Conversions of images and filters between layouts, and sums of channels."""

from __future__ import annotations

from typing import Any, Callable

from bench.cases.case import FORMATS, Case, Prepared, at, bfloats, bind, floats, some_bytes
from pysimd._library import lib


def convert(source: str, target: str, c: int, s: int) -> Case:
    def prepare() -> Prepared:
        src, dst = floats(c, s), floats(c, s)

        def bound(n: int) -> Callable[[], Any]:
            formats = (FORMATS[source], at(dst), FORMATS[target])
            return bind(lib.SimdSynetConvertImage, n, c, s, at(src), *formats)

        return Prepared(bound(1), bound(0), traffic=2 * dst.nbytes, keep=(src, dst))

    return Case("layout", f"convert {c}x{s}", f"{source}->{target}", prepare)


def convert_filter(source: str, target: str, o: int, i: int, k: int) -> Case:
    formats = {"oiyx": 6, "yxio": 7, "oyxi16o": 10}

    def prepare() -> Prepared:
        src, dst = floats(o, i, k), floats(-(-o // 16) * 16, i, k)

        def bound(n: int) -> Callable[[], Any]:
            return bind(lib.SimdSynetConvertFilter, o, n, k, at(src), formats[source], at(dst), formats[target])

        return Prepared(bound(i), bound(0), traffic=2 * src.nbytes, keep=(src, dst))

    return Case("layout", f"filter {o}x{i}x{k}", f"{source}->{target}", prepare)


def set_input(pixel: str, layout: str, channels: int, width: int, height: int, gap: int = 0) -> Case:
    number, size = {"gray8": (1, 1), "bgr24": (3, 3), "rgb24": (16, 3), "bgra32": (4, 4)}[pixel]
    stride = width * size + gap

    def prepare() -> Prepared:
        src, dst, limits = some_bytes(height, stride), floats(channels, height, width), floats(2, 3)
        p_limits = at(limits[0]), at(limits[1])

        def bound(rows: int) -> Callable[[], Any]:
            form = FORMATS[layout]
            picture = at(src, "uint8_t *"), width, rows, stride, number
            return bind(lib.SimdSynetSetInput, *picture, *p_limits, at(dst), channels, form)

        return Prepared(bound(height), bound(0), traffic=width * height * size + dst.nbytes, keep=(src, dst, limits))

    return Case("set_input", f"{pixel}->{channels} {width}x{height}{' rows apart' if gap else ''}", layout, prepare)


def shuffle(layout: str, c0: int, c1: int, s: int) -> Case:
    def prepare() -> Prepared:
        src0, src1, half = floats(c0, s), floats(c1, s), (c0 + c1) // 2
        dst0, dst1 = floats(half, s), floats(half, s)

        def bound(n: int) -> Callable[[], Any]:
            sources = at(src0), c0, at(src1), c1, n
            return bind(lib.SimdSynetShuffleLayerForward, *sources, at(dst0), at(dst1), half, FORMATS[layout])

        return Prepared(bound(s), bound(0), traffic=4 * dst0.nbytes, keep=(src0, src1, dst0, dst1))

    return Case("shuffle", f"{c0}+{c1}x{s}", layout, prepare)


def winograd(layout: str, kind: str, c: int, size: int) -> Case:
    """SetInput of an image with padding 1."""
    block = int(kind[-1])

    def prepare() -> Prepared:
        tiles, planes = (-(-size // block)) ** 2, (block + 2) ** 2
        src, dst = floats(c, size, size), floats(planes, tiles * c)
        function = getattr(lib, f"SimdWinograd{kind}SetInput")

        def bound(channels: int) -> Callable[[], Any]:
            image = (at(src), channels, size, size, 1, 1, 1, 1)
            return bind(function, *image, at(dst), tiles * c, FORMATS[layout])

        return Prepared(bound(c), bound(0), traffic=src.nbytes + dst.nbytes, keep=(src, dst))

    return Case("winograd", f"{kind} input {c}x{size}x{size}", layout, prepare)


def channel_sum(layout: str, c: int, s: int) -> Case:
    def prepare() -> Prepared:
        src, dst = bfloats(c, s), floats(c)

        def bound(n: int) -> Callable[[], Any]:
            return bind(lib.SimdSynetChannelSum16b, at(src, "uint16_t *"), n, s, FORMATS[layout], at(dst))

        return Prepared(bound(c), bound(0), traffic=src.nbytes, keep=(src, dst))

    return Case("channel_sum", f"{c}x{s}", layout, prepare)
