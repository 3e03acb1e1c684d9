"""Writes the section of from-simd.md on functions that only the Simd Library documents, or only simdnet has.

python docs/simd_names.py, from the checkout. What simdnet.h declares is omitted: a function that simdnet gets
disappears from the table when the page is written again, which a test asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "from-simd.md"
TITLE = "## Functions of other years"

CONTEXT = "Init ExternalBufferSize InternalBufferSize Info SetParams Forward"
CONVERTED = "`SimdSynetDequantizeLinear()`, the function for floats, `SimdSynetQuantizeLinear()`"

#: Functions for neural networks in the documentation of June 2026 that were added after 2020: the beginning of their names,
#: the ends, and what a program can call where simdnet lacks them.
LATER = [
    ("SimdSynetConvolution16b", CONTEXT, "`SimdnetConvolution16bInit()`, which stores `SimdTensorData16b` or floats"),
    ("SimdSynetDeconvolution16b", CONTEXT, "`SimdSynetDeconvolution32fInit()`"),
    (
        "SimdSynetInnerProduct16b",
        CONTEXT,
        "`SimdSynetConvolution16bInit()` with a kernel of 1x1, `SimdSynetInnerProduct32fInit()`",
    ),
    (
        "SimdSynetMergedConvolution16b",
        CONTEXT,
        "`SimdSynetConvolution16bInit()` for each stage, `SimdSynetMergedConvolution32fInit()`",
    ),
    ("SimdSynetScale16b", "Init Forward", "`SimdSynetScaleLayerForward()`"),
    ("SimdSynetRelu16b", "", "`SimdSynetRelu32f()`"),
    ("SimdSynetSoftmax16b", "", "`SimdSynetSoftmaxLayerForward()`"),
    ("SimdSynetNormalizeLayerForward16bV2", "", "`SimdSynetNormalizeLayerForwardV2()`"),
    (
        "SimdSynetMergedConvolution8i",
        CONTEXT,
        "`SimdSynetConvolution8iInit()` with floats between, and `SimdSynetConvolution32fInit()`",
    ),
    ("SimdSynetInnerProduct8i", "", "`SimdSynetInnerProduct32fInit()`"),
    ("SimdSynetScale8i", "Init InternalBufferSize SetParams Forward", "`SimdSynetScaleLayerForward()`"),
    ("SimdSynetConvert32fTo8u", "", "`SimdnetQuantizeLinear()`, which has scales per channel"),
    ("SimdSynetConvert8uTo32f", "", "`SimdnetDequantizeLinear()`, likewise"),
    ("SimdSynetQuantizedConvolution", CONTEXT, CONVERTED),
    ("SimdSynetQuantizedMergedConvolution", CONTEXT, CONVERTED),
    ("SimdSynetQuantizedInnerProduct", CONTEXT, CONVERTED),
    ("SimdSynetQuantizedAdd", "Init Forward", CONVERTED),
    ("SimdSynetQuantized", "ConcatLayerForward PreluLayerForward ScaleLayerForward ShuffleLayerForward", CONVERTED),
    ("SimdSynetSoftmax32f", "", "`SimdSynetSoftmaxLayerForward()`, or `simdnet_simd.h`"),
    ("SimdSynetUnaryOperation32f", "", "`SimdSynetUnaryOperation32fLayerForward()`, or `simdnet_simd.h`"),
    (
        "SimdSynet",
        "Convolution32fInfo Convolution8iInfo Deconvolution32fInfo MergedConvolution32fInfo",
        "`SimdnetContextInfo()`, or `simdnet_simd.h`",
    ),
]

#: Functions of 2020 that the documentation of June 2026 lacks, and what they are called there.
EARLIER = {
    "SimdSynetPoolingForwardMax": "`SimdSynetPoolingMax32f()`",
    "SimdSynetPoolingForwardAverage": "`SimdSynetPoolingAverage()`",
    "SimdSynetSoftmaxLayerForward": "`SimdSynetSoftmax32f()`",
    "SimdSynetUnaryOperation32fLayerForward": "`SimdSynetUnaryOperation32f()`",
    "SimdSynetConvertImage": "none",
    "SimdSynetConvertFilter": "none",
}


def declared() -> set[str]:
    """The functions of simdnet.h."""
    return set(re.findall(r"\b(Simd\w+)\(", (ROOT / "include" / "simdnet.h").read_text(encoding="ascii")))


def absent() -> Iterator[tuple[list[str], str]]:
    """Names that simdnet lacks, and what to call."""
    known = declared()
    for begin, ends, instead in LATER:
        names = [begin + end for end in ends.split() or [""]]
        if missing := [name for name in names if name not in known]:
            yield missing, instead


def section() -> str:
    """The section, with its title."""
    lines = [
        TITLE,
        "",
        "By name, from the documentation of June 2026; `python docs/simd_names.py` writes this section. Functions that",
        "simdnet lacks:",
        "",
        "| Simd, 2026 | Instead |",
        "|---|---|",
        *(f"| {', '.join(f'`{name}`' for name in names)} | {instead} |" for names, instead in absent()),
        "",
        "Functions of 2020 that simdnet has and the documentation of 2026 lacks:",
        "",
        "| simdnet | Simd, 2026 |",
        "|---|---|",
        *(f"| `{name}` | {later} |" for name, later in EARLIER.items()),
        "",
        "",
    ]
    return "\n".join(lines)


def rewritten(page: str) -> str:
    """The page with the section as it should be."""
    return re.sub(rf"^{TITLE}$.*?(?=^## )", lambda _: section(), page, flags=re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
