"""The orders of elements in memory."""

from __future__ import annotations

import numpy as np

from support.reference.numbers import Array

BLOCK = {"nchw4c": 4, "nchw8c": 8, "nchw16c": 16}


def to_chw(x: Array, layout: str, channels: int | None = None) -> Array:
    """One image as (C, H, W); from a blocked layout, only the first `channels` lanes."""
    if layout == "nchw":
        return x
    if layout == "nhwc":
        return np.moveaxis(x, 2, 0)
    blocks, height, width, lanes = x.shape
    return np.moveaxis(x, 3, 1).reshape(blocks * lanes, height, width)[:channels]


def from_chw(x: Array, layout: str) -> Array:
    """The inverse; unused lanes of the last block are 0."""
    if layout == "nchw":
        return np.ascontiguousarray(x)
    if layout == "nhwc":
        return np.ascontiguousarray(np.moveaxis(x, 0, 2))
    channels, height, width = x.shape
    lanes = BLOCK[layout]
    blocks = (channels + lanes - 1) // lanes
    full = np.zeros((blocks * lanes, height, width), x.dtype)
    full[:channels] = x
    return np.ascontiguousarray(np.moveaxis(full.reshape(blocks, lanes, height, width), 1, 3))


def filter_to_oiyx(weight: Array, layout: str, outputs: int | None = None) -> Array:
    """A filter as (O, I, kernel_y, kernel_x); from a blocked layout, only the first `outputs` lanes."""
    if layout == "oiyx":
        return weight
    if layout == "yxio":
        return np.transpose(weight, (3, 2, 0, 1))
    blocks, kernel_y, kernel_x, inputs, lanes = weight.shape
    return np.transpose(weight, (0, 4, 3, 1, 2)).reshape(blocks * lanes, inputs, kernel_y, kernel_x)[:outputs]


def filter_from_oiyx(weight: Array, layout: str) -> Array:
    """The inverse; unused lanes of the last block are 0."""
    if layout == "oiyx":
        return np.ascontiguousarray(weight)
    if layout == "yxio":
        return np.ascontiguousarray(np.transpose(weight, (2, 3, 1, 0)))
    outputs, inputs, kernel_y, kernel_x = weight.shape
    lanes = {"oyxi4o": 4, "oyxi8o": 8, "oyxi16o": 16}[layout]
    blocks = -(-outputs // lanes)
    full = np.zeros((blocks * lanes, inputs, kernel_y, kernel_x), weight.dtype)
    full[:outputs] = weight
    return np.ascontiguousarray(full.reshape(blocks, lanes, inputs, kernel_y, kernel_x).transpose(0, 3, 4, 2, 1))
