"""The pictures of the benchmarks: no text overlaps another, axes have names, with few rows and with many."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

pytest.importorskip("matplotlib")

from bench import plots

PEERS = ("onnxruntime", "openvino", "ncnn", "torch")
NETWORKS = ("MobileNetV1", "MobileNetV2", "ResNet-18", "ResNet-50", "SqueezeNet 1.1", "U-Net")
FAMILIES = ("convolution", "merged", "deconvolution", "gemm", "convolution_8i", "convolution_16b")


def _row(number: int) -> dict[str, Any]:
    """A layer; adjacent rows have limits, fractions and aims close to each other and to 1."""
    limit = ("fma", "dot", "bf16", "copy")[number % 4]
    fraction = (0.97, 1.0, 1.03, 0.2, 3.9)[number % 5]
    seconds = 1e-4 * (1 + number % 7)
    return {
        "family": FAMILIES[number % len(FAMILIES)],
        "layer": f"{number}: 256x112x112 -> 512 depthwise 3x3 s2 d2 add",
        "layout": "nhwc",
        "isa": ("avx512", "avx512vnni", "avx512bf16")[number % 3],
        "threads": 1 + number % 2,
        "seconds": seconds,
        "limit": limit,
        "limit_seconds": seconds * fraction,
        "aim_seconds": seconds * fraction / 0.98,
        "fraction": fraction,
        "flops": 1e8 * (number + 1) if limit == "fma" else 0,
        "traffic": 1e6 + 7e5 * (number % 11),
        "peers": {name: {"ratio": 0.7 + 0.1 * ((number + k) % 9)} for k, name in enumerate(PEERS)},
        "info": "direct NHWC, tile 14x32",
    }


def _model(number: int) -> dict[str, Any]:
    """A model with two numbers of threads."""
    times = {name: {"seconds": 0.0123, "version": "1.2.3"} for name in PEERS}
    ratios = {name: (0.7 + 0.1 * ((number + k) % 9), 0.2) for k, name in enumerate(PEERS)}
    run = {"title": "net", "isa": "avx512", "batch": 1, "ours": {"seconds": 0.01}, "peers": times, "ratios": ratios}
    return {
        "name": f"{number}: ch_ppocr_mobile_v2.0_cls_mobile",
        "runs": [{**run, "threads": threads} for threads in (1, 2)],
    }


def figures_of(rows: int) -> dict[str, Any]:
    """The JSON of the benchmarks, with this many layers."""
    times = {name: {"seconds": 0.0123, "version": "1.2.3"} for name in PEERS}
    network = {"isa": "avx512", "ours": {"seconds": 0.0101}, "peers": times, "ratios": dict.fromkeys(PEERS, (1.4, 0.2))}
    # every second layer with two threads as well
    layers = [_row(i) for i in range(rows)]
    layers += [{**row, "threads": 3 - row["threads"], "seconds": row["seconds"] / 1.9} for row in layers[::2]]
    copies = {"256 KB": 1.0e11, "4 MB": 9.5e10, "256 MB": 2.9e10}
    return {
        "results": layers,
        "networks": [{**network, "title": title, "threads": threads} for title in NETWORKS for threads in (1, 2)],
        "models": [_model(number) for number in range(rows // 4)],
        "peers": dict.fromkeys(PEERS, "1.2.3"),
        "machine": {"line": "simdnet 0.2.0, some processor", "limits": {"copy": copies, "flops": {"avx512": 1.2e11}}},
    }


def _texts(figure: Any) -> list[tuple[str, Any]]:
    """Every text that is drawn, with its box in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas: Any = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()
    figure.draw_without_rendering()
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in shown]
    # ticks outside the axes have a text, which is not drawn
    return [(name, box) for name, box in boxes if figure.bbox.contains(box.x0 + 1, box.y0 + 1) and box.width > 0]


@pytest.mark.parametrize("rows", [20, 400])
def test_no_text_overlaps_another(rows: int) -> None:
    pictures = list(plots.draw(figures_of(rows)))
    names = [name for name, _, _ in pictures]
    assert names[:5] == ["networks", "networks-scaling", "roofline", "limits-arithmetic", "limits-memory"]
    assert names[5:] == ["peers", "scaling", "models", "overview"]
    for name, _, figure in pictures:
        texts = sorted(_texts(figure), key=lambda text: text[1].y0)
        assert len(texts) > 10
        for (one, a), (other, b) in combinations(texts, 2):
            apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
            assert apart, f"{name}: {one!r} overlaps {other!r}"
        if name == "limits-arithmetic":  # three rows of four, each with its level
            for word in ("depthwise", "avx512"):
                assert sum(word in text for text, _ in texts) == rows * 3 // 4


@pytest.mark.parametrize(
    "name", ["networks", "roofline", "limits-arithmetic", "limits-memory", "peers", "scaling", "models", "overview"]
)
def test_axes_have_names(name: str) -> None:
    [figure] = [figure for found, _, figure in plots.draw(figures_of(20)) if found == name]
    assert figure.get_supxlabel() or any(axes.get_xlabel() or axes.get_ylabel() for axes in figure.axes)
