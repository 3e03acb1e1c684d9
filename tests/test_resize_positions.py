"""Resizing by scales: sizes and positions in float32, for a table of 1,000 pairs of size and scale, beside ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from test_resize import COORDINATES, float_positions

import pysimd
from network.test_convert import made
from pysimd.network.runner import Runner

ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
USUAL = (0.25, 0.3, 0.5, 0.6, 0.7, 0.75, 0.9, 1.1, 1.2, 1.25, 1.5, 1.6, 2, 2.2, 2.4, 3, 4, 1 / 3, 2 / 3)


def size_of(n: int, scale: float) -> int:
    return int(np.floor(np.float32(scale) * np.float32(n)))


def quotient(m: int, n: int) -> float:
    return float(np.float32(m) / np.float32(n))


def pairs(count: int) -> list[tuple[int, float]]:
    """Sizes and scales: usual ones, quotients of sizes, and decimal fractions."""
    rng = np.random.default_rng(8)
    found: set[tuple[int, float]] = set()
    while len(found) < count:
        n, kind = int(rng.integers(1, 120)), rng.integers(3)
        scale = (rng.choice(USUAL), rng.integers(1, 200) / n, np.round(rng.uniform(0.05, 4), rng.integers(1, 4)))[kind]
        if scale and size_of(n, scale) not in (0, n):
            found.add((n, float(np.float32(scale))))
    return sorted(found)


TABLE = pairs(1000)


def weighted_modes() -> Iterator[dict[str, Any]]:
    for mode in ("linear", "cubic"):
        for antialias in (False, True):
            yield {"mode": mode, "antialias": antialias, "exclude_outside": False}
    yield {"mode": "cubic", "antialias": True, "exclude_outside": True}


def nearest(n: int, m: int, scale: float, coordinates: str, rounding: str) -> Any:
    """The index of each output; a half has a tolerance."""
    x = float_positions(n, m, scale, coordinates).astype(np.float64)
    half = 0.5 + 1e-6
    whole = {
        "round_prefer_floor": np.ceil(x - half), "round_prefer_ceil": np.floor(x + half), "floor": np.floor(x),
        "ceil": np.ceil(x),
    }[rounding]  # fmt: skip
    return np.clip(whole, 0, n - 1).astype(int)


def weighted(x: Any, m: int, scale: float, coordinates: str, rules: Mapping[str, Any]) -> Any:
    """Sums along the last axis, by weights from positions in float32."""
    n, linear = x.shape[-1], rules["mode"] == "linear"
    at = float_positions(n, m, scale, coordinates).astype(np.float64)[:, None]
    narrow = min(float(np.float32(scale)), 1.0) if rules["antialias"] else 1.0
    reach = int(np.ceil((1 if linear else 2) / narrow)) + 1
    taps = np.floor(at) + np.arange(-reach, reach + 1)
    d, a = np.abs(taps - at) * narrow, -0.75
    outer = np.where(d < 2, a * (d**3 - 5 * d**2 + 8 * d - 4), 0)
    weights = np.maximum(1 - d, 0) if linear else np.where(d <= 1, (a + 2) * d**3 - (a + 3) * d**2 + 1, outer)
    if rules["exclude_outside"]:
        weights *= (taps >= 0) & (taps < n)
    if rules["exclude_outside"] or narrow < 1:
        weights /= weights.sum(1, keepdims=True)
    return (weights * x.astype(np.float64)[..., np.clip(taps, 0, n - 1).astype(int)]).sum(-1)


def signal(n: int) -> Any:
    return np.random.default_rng(n).uniform(-1, 1, n).astype(np.float32)


def resized(x: Any, scale: float, **rules: Any) -> Any:
    return pysimd.resize(x[None], scale=scale, layout="ncw", **rules)[0]


def some(rules: Mapping[str, Any]) -> list[tuple[int, float]]:
    """The whole table for what shows positions as they are, some of it for the others."""
    return TABLE if rules["mode"] == "linear" and not rules["antialias"] else TABLE[::8]


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_nearest(coordinates: str) -> None:
    for n, scale in TABLE:
        x = np.arange(n, dtype=np.float32)
        for rounding in ROUNDINGS:
            y = resized(x, scale, coordinates=coordinates, rounding=rounding)
            want = nearest(n, size_of(n, scale), scale, coordinates, rounding)
            np.testing.assert_array_equal(y, want, f"{n} by {scale}, {rounding}")


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_weighted(coordinates: str) -> None:
    for rules in weighted_modes():
        for n, scale in some(rules):
            want = weighted(signal(n), size_of(n, scale), scale, coordinates, rules)
            y = resized(signal(n), scale, coordinates=coordinates, **rules)
            np.testing.assert_allclose(y, want, rtol=0, atol=2e-6, err_msg=f"{n} by {scale}, {rules}")


def test_long_axes_have_exact_positions() -> None:
    """Where float32 has no room for an index and a half."""
    n = (1 << 23) + 4
    x = np.arange(n, dtype=np.uint32).astype(np.uint8).reshape(1, n, 1)
    y = pysimd.resize(x, scale=(1, 0.25))[0, :, 0]
    np.testing.assert_array_equal(y, (np.arange(n // 4) * 4 + 1).astype(np.uint8))


def test_sizes_and_scales_of_one_rule() -> None:
    """What a size and a scale give is taken when both are given; so is the nearest size, but no other."""
    rng = np.random.default_rng(9)
    for n, target in rng.integers(1, 2000, (3000, 2)).tolist():
        scale = quotient(target, n)
        assert pysimd.Resize((1, n, 1), scale=(1, scale)).dst_shape == (1, size_of(n, scale), 1)
        for size in (size_of(n, scale), target):
            assert pysimd.Resize((1, n, 1), (1, size), scale=(1, scale)).dst_shape == (1, size, 1)
    for size in (2, 9):
        with pytest.raises(ValueError, match=r"scaleX is 1\.5, expected .* 5, gives .*, [29], rounded down or to nearest"):
            pysimd.Resize((1, 5, 1), (1, size), scale=(1, 1.5))


# ---- models


def test_models_take_every_scale() -> None:
    """Quotients of usual sizes: the product in float32 may be just below the size, or that size."""
    rng = np.random.default_rng(10)
    for n, target in [(706, 224), (375, 224), (189, 256), (854, 1024), *rng.integers(2, 700, (100, 2)).tolist()]:
        scale = quotient(target, n)
        model = made("Resize", None, np.array([1, 1, 1, scale]), coordinate_transformation_mode="asymmetric")
        x = np.arange(n, dtype=np.float32).reshape(1, 1, 1, n)
        want = nearest(n, size_of(n, scale), scale, "asymmetric", "round_prefer_floor")
        y = Runner(model.graph(*x.shape))({"x": x})["y"].ravel()
        np.testing.assert_array_equal(y, want if len(want) != n else np.arange(n), f"{n} by {scale}")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "float64", "bool"])
def test_models_resize_any_type_to_nearest(dtype: str, isa: str) -> None:
    rows, columns = (nearest(n, size_of(n, s), s, "half_pixel", "round_prefer_floor") for n, s in ((5, 1.2), (7, 0.7)))
    for channels in (1, 3, 17):
        x = np.random.default_rng(11).integers(0, 200, (2, channels, 5, 7)).astype(dtype)
        graph = made("Resize", None, np.array([1, 1, 1.2, 0.7], np.float32), dtype=dtype).graph(*x.shape)
        np.testing.assert_array_equal(Runner(graph)({"x": x})["y"], x[:, :, rows][:, :, :, columns], strict=True)


def test_models_copy_what_keeps_its_shape() -> None:
    graph = made("Resize", None, np.array([1, 1, 1.1, 1.1], np.float32), mode="linear").graph(1, 2, 5, 6)
    x = signal(60).reshape(1, 2, 5, 6)
    np.testing.assert_array_equal(Runner(graph)({"x": x})["y"], x)


def policies() -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    rng = np.random.default_rng(12)
    for policy in ("not_larger", "not_smaller"):
        for _ in range(15):
            yield policy, tuple(rng.integers(1, 14, 2).tolist()), tuple(rng.integers(1, 14, 2).tolist())


def by_policy(policy: str, size: tuple[int, int], sizes: tuple[int, int]) -> tuple[tuple[int, ...], float]:
    """The size and the scale: the smaller or the larger one."""
    scale = (min if policy == "not_larger" else max)(np.float32(m) / np.float32(n) for m, n in zip(sizes, size))
    return tuple(int(np.floor(np.float64(np.float32(n) * scale) + 0.5)) for n in size), float(scale)


def of_policy(x: Any, policy: str, sizes: Any, rules: Mapping[str, Any]) -> Any:
    names = {"mode": rules["mode"], "antialias": int(rules["antialias"]), "exclude_outside": int(rules["exclude_outside"])}
    model = made("Resize", None, None, np.array(sizes), axes=[2, 3], keep_aspect_ratio_policy=policy, **names)
    return Runner(model.graph(*x.shape))({"x": x})["y"]


def test_policies_keep_their_scale() -> None:
    """Positions are those of the scale, not of the size that is rounded."""
    for policy, size, sizes in policies():
        x = signal(2 * size[0] * size[1]).reshape(1, 2, *size)
        (rows, columns), scale = by_policy(policy, size, sizes)
        for rules in weighted_modes():
            want = x
            if (rows, columns) != size:
                want = weighted(x, columns, scale, "half_pixel", rules).swapaxes(2, 3)
                want = weighted(want, rows, scale, "half_pixel", rules).swapaxes(2, 3)
            y = of_policy(x, policy, sizes, rules)
            np.testing.assert_allclose(y, want, rtol=0, atol=5e-6, err_msg=f"{size} to {sizes}, {policy}, {rules}")
        y = of_policy(x, policy, sizes, {"mode": "nearest", "antialias": False, "exclude_outside": False})
        below, right = (nearest(n, m, scale, "half_pixel", "round_prefer_floor") for n, m in zip(size, (rows, columns)))
        np.testing.assert_array_equal(y, x[:, :, below][:, :, :, right] if (rows, columns) != size else x)


# ---- beside ONNX Runtime


class Peer:
    """One Resize of ONNX Runtime, of height and width by scales or to sizes that come at run time."""

    def __init__(self, by_size: bool = False, **rules: Any) -> None:
        onnx = pytest.importorskip("onnx", "1.16")
        onnxruntime = pytest.importorskip("onnxruntime", "1.32")
        helper, kinds = onnx.helper, onnx.TensorProto
        self._type = np.int64 if by_size else np.float32
        values = (
            helper.make_tensor_value_info("x", kinds.FLOAT, [1, "c", "h", "w"]),
            helper.make_tensor_value_info("s", kinds.INT64 if by_size else kinds.FLOAT, [2]),
            helper.make_tensor_value_info("y", kinds.FLOAT, None),
        )
        node = helper.make_node("Resize", ["x", "", *[""] * by_size, "s"], ["y"], axes=[2, 3], **rules)
        graph = helper.make_graph([node], "resize", values[:2], values[2:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        providers = ["CPUExecutionProvider"]
        self._session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)

    def __call__(self, x: Any, *sides: float) -> Any:
        return self._session.run(None, {"x": x, "s": np.array(sides, self._type)})[0]


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_nearest_as_onnxruntime(coordinates: str) -> None:
    for rounding in ROUNDINGS:
        rules: dict[str, Any] = {"coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
        by_scale, by_size = Peer(mode="nearest", **rules), Peer(mode="nearest", by_size=True, **rules)
        for n, scale in TABLE:
            x, m = np.arange(n, dtype=np.float32).reshape(1, 1, 1, n), size_of(n, scale)
            what = f"{n} by {scale} to {m}, {rounding}"
            np.testing.assert_array_equal(by_scale(x, 1, scale)[0, 0, 0], nearest(n, m, scale, coordinates, rounding), what)
            want = nearest(n, m, quotient(m, n), coordinates, rounding)
            np.testing.assert_array_equal(by_size(x, 1, m)[0, 0, 0], want, what)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_weighted_as_onnxruntime(coordinates: str) -> None:
    for rules in weighted_modes():
        peer = Peer(coordinate_transformation_mode=coordinates, **rules)
        for n, scale in some(rules):
            want = peer(signal(n).reshape(1, 1, 1, n), 1, scale)[0, 0, 0]
            y = resized(signal(n), scale, coordinates=coordinates, **rules)
            np.testing.assert_allclose(y, want, rtol=0, atol=2e-5, err_msg=f"{n} by {scale}, {rules}")


def test_policies_as_onnxruntime() -> None:
    for rules in [{"mode": "nearest", "antialias": False, "exclude_outside": False}, *weighted_modes()]:
        for policy, size, sizes in policies():
            x = signal(2 * size[0] * size[1]).reshape(1, 2, *size)
            want = Peer(by_size=True, keep_aspect_ratio_policy=policy, **rules)(x, *sizes)
            y = of_policy(x, policy, sizes, rules)
            np.testing.assert_allclose(y, want, rtol=0, atol=2e-5, err_msg=f"{size} to {sizes}, {policy}, {rules}")
