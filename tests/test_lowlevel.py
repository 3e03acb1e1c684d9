"""Every name of the header is available, enumerators have the header's values, and C names the invalid argument."""

from __future__ import annotations

import enum
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd import enums, lowlevel
from pysimd._header import declarations
from pysimd._library import HEADER_PATH, LIBRARY_PATH
from pysimd.lowlevel import ffi, lib
from support import ROOT

DECLARATIONS = declarations(Path(HEADER_PATH).read_text())
FUNCTIONS = sorted(set(re.findall(r"^[\w ]+?\**\s*\b(Simd\w+)\(", DECLARATIONS, flags=re.MULTILINE)))
ENUMS = dict(re.findall(r"typedef enum \{([^}]*)\} (\w+);", DECLARATIONS))
ENUMS = {name: dict(re.findall(r"(\w+) = (-?\d+)", body)) for body, name in ENUMS.items()}


def test_every_function() -> None:
    assert len(FUNCTIONS) > 30
    for name in FUNCTIONS:
        assert callable(getattr(lowlevel, name))
        assert name in dir(lowlevel)


def test_functions_are_what_the_library_exports() -> None:
    listing = subprocess.run(["nm", "-D", "--defined-only", str(LIBRARY_PATH)], capture_output=True, text=True, check=True)
    symbols = [line.split()[1:] for line in listing.stdout.splitlines()]
    exported = {name.split("@")[0] for kind, name in symbols if kind != "A"}  # a version of symbols is absolute
    assert exported == set(FUNCTIONS)


def test_every_function_has_a_test_in_c_and_a_place_in_python() -> None:
    def words(pattern: str) -> set[str]:
        return {word for path in ROOT.glob(pattern) for word in re.findall(r"\bSimd\w+", path.read_text())}

    called = words("tests/c/*.c")
    for path in ROOT.glob("tests/c/*.c"):
        for begin in re.findall(r"\bCHECK_LAYER_FUNCTIONS\((\w+)\)", path.read_text()):
            called |= {begin + end for end in ("Init", "SetParams", "Forward", "ExternalBufferSize", "InternalBufferSize")}
    listed = (ROOT / "libsrc/contract/pointwise.h").read_text()  # tests/c/elementwise.h makes calls of this list
    called |= {f"SimdSynet{name}32f" for name in re.findall(r"^ +X\(\w+, (\w+), \w+, \d", listed, re.MULTILINE)}
    assert set(FUNCTIONS) - called == set()
    older = {"SimdSynetPoolingForwardMax", "SimdSynetPoolingForwardAverage"}  # names that have an equivalent
    kinds = [f"{kind}{end}" for kind in ("Convolution", "Deconvolution") for end in ("32f", "16b")]
    kinds += ["Convolution8i", "InnerProduct16b", "MergedConvolution32f", "MergedConvolution16b"]
    kinds += ["MergedConvolution8i"]
    kinds += ["QuantizedConvolution", "QuantizedInnerProduct", "QuantizedMergedConvolution"]
    older |= {"SimdSynetSoftmax32f", *(f"SimdSynet{kind}Info" for kind in kinds)}
    ends = ("Init", "ExternalBufferSize", "InternalBufferSize", "SetParams", "Forward")
    older |= {f"SimdnetConvolution16b{end}" for end in ends}
    memory = {"SimdAlign"}
    numpy = {
        "SimdFill32f",
        "SimdFloat32ToFloat16",
        "SimdFloat16ToFloat32",
        "SimdGetFastMode",
        "SimdSetFastMode",
        *(f"SimdNeural{end}" for end in ("AddValue", "AddVectorMultipliedByValue", "Pow", "ProductSum")),
    }
    scaled = {"SimdSynetQuantizeLinear", "SimdSynetDequantizeLinear"}  # Python divides by the scale
    scaled.add("SimdSynetConvert8uTo32f")  # and subtracts zeros from bytes, which is exact
    assert set(FUNCTIONS) - words("pysimd/**/*.py") == older | memory | numpy | scaled


def test_every_enumerator_and_type() -> None:
    assert len(ENUMS) >= 6
    for name, values in ENUMS.items():
        assert lowlevel.__getattr__(name).kind == "enum"
        for enumerator, value in values.items():
            assert getattr(lowlevel, enumerator) == int(value)
    assert ffi.sizeof(lowlevel.SimdConvolutionParameters) == 160
    assert pysimd.__version__ == lowlevel.SIMDNET_VERSION


def test_unknown_names() -> None:
    for name in ("SimdSynetNothing", "printf"):
        with pytest.raises(AttributeError, match=f"simdnet.h has no {name}"):
            getattr(lowlevel, name)


@pytest.mark.parametrize(
    ("python", "c", "prefix"),
    [
        (enums.CpuInfoType, "SimdCpuInfoType", "SimdCpuInfo"),
        (enums.TensorFormat, "SimdTensorFormatType", "SimdTensorFormat"),
        (enums.Activation, "SimdConvolutionActivationType", "SimdConvolutionActivation"),
        (enums.EltwiseOperation, "SimdSynetEltwiseOperationType", "SimdSynetEltwiseOperation"),
        (enums.BinaryOperation, "SimdnetBinaryOperation", "SimdnetBinary"),
        (enums.ElementwiseOperation, "SimdnetElementwiseOperation", "SimdnetElementwise"),
        (enums.PixelFormat, "SimdPixelFormatType", "SimdPixelFormat"),
        (enums.UnaryOperation, "SimdSynetUnaryOperation32fType", "SimdSynetUnaryOperation32f"),
    ],
)
def test_enumerations_with_the_names_of_the_header(python: type[enum.IntEnum], c: str, prefix: str) -> None:
    def plain(name: str) -> str:
        return name.replace("_", "").lower()

    assert {plain(member.name): member.value for member in python} == {
        plain(re.sub(f"^({prefix}|{prefix.replace('Simd', 'Simdnet')})", "", name)): int(value)
        for name, value in ENUMS[c].items()
    }


def test_enumerations_with_names_of_their_own() -> None:
    types = {"32f": "FLOAT32", "32i": "INT32", "8i": "INT8", "8u": "UINT8", "64i": "INT64", "64u": "UINT64"}
    types.update({"16b": "BFLOAT16", "16f": "FLOAT16", "Unknown": "UNKNOWN", "Bool": "BOOL"})
    expected = {types[name[len("SimdTensorData") :]]: int(v) for name, v in ENUMS["SimdTensorDataType"].items()}
    assert {member.name: member.value for member in enums.TensorData} == expected

    flags = {}
    for name, value in ENUMS["SimdSynetCompatibilityType"].items():
        short = name[len("SimdSynetCompatibility") :]
        for c, python in (("8i", "INT8_"), ("16bf", "BF16_"), ("16fp", "FP16_"), ("Fma", "FMA_")):
            short = re.sub(f"^{c}", python, short)
        flags[short.replace("NoTail", "NO_TAIL").upper()] = int(value)
    assert {name: int(member) for name, member in enums.Compatibility.__members__.items()} == flags


# ---------------------------------------------------------------------------------- what C says about bad arguments


def address(array: np.ndarray[Any, Any]) -> Any:
    kind = {np.dtype(np.float32): "float[]", np.dtype(np.uint16): "uint16_t[]", np.dtype(np.uint8): "uint8_t[]"}
    return ffi.from_buffer(kind[array.dtype], array)


BIG = 2**40
NULL = ffi.NULL
NHWC = lib.SimdTensorFormatNhwc


def pooling(name: str) -> tuple[dict[str, Any], str, np.dtype[Any]]:
    """The arguments of a pooling function, in order, the name of its output, and the element type."""
    dtype = np.dtype(np.uint16 if name.endswith("16b") else np.uint8 if name.endswith("8u") else np.float32)
    across = name.endswith("Max32f")
    arguments: dict[str, Any] = {"src": np.ones(4 * 4 * 3, dtype), "srcC": 3, "srcH": 4, "srcW": 4}
    for what, value in (("kernel", 2), ("stride", 2), ("pad", 0)):
        if across:
            arguments[f"{what}C"] = 0 if what == "pad" else 1
        arguments[f"{what}Y"] = arguments[f"{what}X"] = value
    arguments["dst"] = np.full(2 * 2 * 3, 7, dtype)
    if across:
        arguments["dstC"] = 3
    arguments.update(dstH=2, dstW=2)
    if "Average" in name:
        arguments["excludePad"] = 0
    arguments["trans" if name.endswith("ForwardMax") else "format"] = NHWC
    return arguments, "dst", dtype


def refusals(name: str, arguments: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """(change, the argument named by the message)"""
    table: list[tuple[dict[str, Any], str]] = []
    for key, value in arguments.items():
        if isinstance(value, np.ndarray):
            table.append(({key: NULL}, key))
        elif key.startswith(("kernel", "stride")):
            table.append(({key: 0}, key))
        elif key == "format":
            table.extend(({key: bad}, key) for bad in (-1, 2, 6, 99))
    if "srcC" in arguments:
        table.append(({"srcC": BIG, "srcH": BIG, "dstC": BIG} if "dstC" in arguments else {"srcC": BIG, "srcH": BIG}, ""))
        table.append(({"dstH": BIG, "dstW": BIG}, ""))
    return table


POOLING = [
    "SimdSynetPoolingMax32f",
    "SimdSynetPoolingMax16b",
    "SimdSynetPoolingMax8u",
    "SimdSynetPoolingAverage",
    "SimdSynetPoolingForwardMax",
    "SimdSynetPoolingForwardAverage",
]


# Element-wise functions, with the names of their parameters.
ACTIVATIONS = {
    name: re.findall(r"\w+(?=,)", parameters)
    for name, parameters in re.findall(
        r"(Simd\w+)\(const float \* src, size_t size,((?:\s+const float \* \w+,)*)\s+float \* dst\)", DECLARATIONS
    )
}


def channelwise(
    f: np.ndarray[Any, Any], s: np.ndarray[Any, Any], d: np.ndarray[Any, Any]
) -> dict[str, tuple[dict[str, Any], str, list[tuple[dict[str, Any], str]]]]:
    refused: list[tuple[dict[str, Any], str]] = [({"format": 99}, "format"), ({"format": 5}, "format")]
    large = [*refused, ({"channels": BIG, "spatial": BIG}, "")]
    sizes, end = {"channels": 4, "spatial": 6}, {"dst": d, "format": NHWC}
    halves = {"channels": 2, "spatial": 6}
    joined = {"channels0": 1, "channels1": 3, "spatial": 6, "dst0": d, "dst1": None, "format": NHWC}
    blocks = [*refused, ({"channels0": BIG, "spatial": BIG}, ""), ({"format": 2}, "channels0")]
    name = "SimdSynetFusedLayerForward"
    return {
        "SimdSynetAddBias": ({"bias": s, **sizes, **end}, "dst", large),
        "SimdSynetScaleLayerForward": ({"src": f, "scale": s, "bias": None, **sizes, **end}, "dst", large),
        "SimdSynetPreluLayerForward": ({"src": f, "slope": s, **sizes, **end}, "dst", large),
        f"{name}0": ({"src": f, "bias": s, "scale": s, **sizes, **end}, "dst", large),
        f"{name}1": ({"src": f, "bias0": s, "scale1": s, "bias1": s, **sizes, **end}, "dst", large),
        f"{name}2": ({"src": f, "scale": s, "bias": s, **sizes, "slope": s, **end}, "dst", large),
        f"{name}3": ({"src": f, "scale": s, "bias": s, **sizes, **end}, "dst", large),
        f"{name}4": (
            {"src": f, "bias0": s, "scale1": s, "bias1": s, **halves, **end},
            "dst",
            [*large, ({"format": 2}, "channels"), ({"format": 4}, "channels")],
        ),
        f"{name}8": ({"src0": f, "src1": f, "src2": s, **sizes, **end}, "dst", large),
        f"{name}9": ({"src0": f, "src1": f, "scale": s, "bias": s, **joined}, "dst0", blocks),
    }


def vectors() -> dict[str, tuple[dict[str, Any], str, list[tuple[dict[str, Any], str]]]]:
    """Functions other than pooling: arguments, the output, and what is refused besides NULL and formats."""
    f = np.ones(24, np.float32)
    u = np.ones(24, np.uint8)
    s = np.ones(4, np.float32)
    d = np.full(24, 7, np.float32)
    g = np.full(75, 7, np.float32)
    pads = dict.fromkeys(("padY", "padX", "padH", "padW"), 0)
    add_8i: dict[str, Any] = {"aData": u, "aScale": s, "aShift": s, "bData": u, "bScale": s, "bShift": s}
    add_8i.update(cData=np.full(24, 7, np.uint8), cScale=s, cShift=s, batch=2, channels=4, spatial=3, format=NHWC)
    add_8i["compatibility"] = 0
    normalized: dict[str, Any] = {"src": f, "batch": 2, "channels": 4, "spatial": 3, "scale": s}
    return {
        **channelwise(f, s, d),
        "SimdSynetAdd8i": (
            add_8i,
            "cData",
            [({"format": 2}, "format"), ({"format": -1}, "format"), ({"channels": BIG, "spatial": BIG}, "")],
        ),
        **{
            name: (
                {"src": f, "size": 24, **dict.fromkeys(parameters, s), "dst": d},
                "dst",
                [({"size": 2**63}, "size")],
            )
            for name, parameters in ACTIVATIONS.items()
        },
        "SimdSynetUnaryOperation32fLayerForward": (
            {"src": f, "size": 24, "type": 1, "dst": d},
            "dst",
            [({"size": 2**63}, "size"), ({"type": len(enums.UnaryOperation)}, "type")],
        ),
        **{
            f"SimdGemm32f{kind}": (
                {"M": 4, "N": 3, "K": 2, "alpha": s, "A": f, "lda": 2, "B": f, "ldb": 3, "beta": s, "C": d, "ldc": 3},
                "C",
                [({"lda": 1}, "lda"), ({"ldb": 1}, "ldb"), ({"ldc": 2}, "ldc"), ({"M": BIG, "lda": BIG}, "")],
            )
            for kind in ("NN", "NT")
        },
        "SimdSynetSoftmaxLayerForward": (
            {"src": f, "outer": 2, "count": 4, "inner": 3, "dst": d},
            "dst",
            [({"outer": BIG, "inner": BIG}, "")],
        ),
        "SimdSynetInnerProductLayerForward": (
            {"src": f, "weight": f, "bias": None, "count": 6, "size": 4, "dst": d},
            "dst",
            [({"count": BIG, "size": BIG}, "")],
        ),
        "SimdWinogradKernel2x2Block2x2SetFilter": (
            {"src": f, "size": 2, "dst": d, "trans": 1},
            "dst",
            [({"size": 2**62}, "size"), ({"trans": 2}, "trans")],
        ),
        "SimdWinogradKernel2x2Block2x2SetInput": (
            {"src": f, "srcChannels": 1, "srcHeight": 4, "srcWidth": 4, **pads, "dst": g, "dstStride": 4, "trans": 0},
            "dst",
            [
                *[({name: 0}, name) for name in ("dstStride", "srcHeight", "srcWidth")],
                *[({name: 2**63}, name) for name in pads],
                ({"trans": 2}, "trans"),
                ({"srcChannels": 2**60}, "srcChannels"),
            ],
        ),
        "SimdWinogradKernel2x2Block2x2SetOutput": (
            {"src": g, "srcStride": 8, "dst": d, "dstChannels": 2, "dstHeight": 3, "dstWidth": 4, "trans": 1},
            "dst",
            [({"srcStride": 7}, "srcStride"), ({"trans": 2}, "trans"), ({"dstChannels": 2**60}, "dstChannels")],
        ),
        "SimdSynetConvertImage": (
            {"batch": 1, "channels": 4, "spatial": 6, "src": f, "srcFormat": 0, "dst": d, "dstFormat": 1},
            "dst",
            [
                ({"srcFormat": 6}, "srcFormat"),
                ({"dstFormat": -1}, "dstFormat"),
                ({"srcFormat": 2, "dstFormat": 3}, "Format"),
                ({"batch": BIG, "channels": BIG}, ""),
                ({"channels": 2**64 - 1, "srcFormat": 4}, ""),
            ],
        ),
        "SimdSynetConvertFilter": (
            {"output": 4, "input": 2, "kernel": 3, "src": f, "srcFormat": 6, "dst": d, "dstFormat": 7},
            "dst",
            [
                ({"srcFormat": 0}, "srcFormat"),
                ({"dstFormat": 11}, "dstFormat"),
                ({"srcFormat": 8, "dstFormat": 9}, "Format"),
                ({"output": BIG, "kernel": BIG}, ""),
                ({"output": 2**64 - 1, "srcFormat": 10}, ""),
            ],
        ),
        "SimdSynetSetInput": (
            {
                "src": u,
                "width": 2,
                "height": 3,
                "stride": 8,
                "srcFormat": 3,
                "lower": s,
                "upper": s,
                "dst": d,
                "channels": 3,
                "dstFormat": NHWC,
            },
            "dst",
            [
                *[({"srcFormat": bad}, "srcFormat") for bad in (0, 2, 5, 17)],
                *[({"dstFormat": bad}, "dstFormat") for bad in (-1, 2, 6)],
                *[({"channels": bad}, "channels") for bad in (0, 2, 4)],
                ({"stride": 5}, "stride"),
                ({"width": BIG, "height": BIG}, ""),
                ({"stride": 2**63}, "stride"),
            ],
        ),
        "SimdSynetShuffleLayerForward": (
            {
                "src0": f,
                "srcC0": 4,
                "src1": f,
                "srcC1": 4,
                "spatial": 6,
                "dst0": d,
                "dst1": d.copy(),
                "dstC": 4,
                "format": NHWC,
            },
            "dst0",
            [
                ({"format": 2}, "format"),
                ({"srcC0": 3}, "srcC0"),
                ({"srcC1": 5}, "srcC1"),
                ({"dstC": 8}, "dstC"),
                ({"spatial": 2**63}, ""),
            ],
        ),
        "SimdSynetLrnLayerCrossChannels": (
            {"src": f, "half": 1, "channels": 4, "spatial": 6, "k": s, "dst": d, "format": NHWC},
            "dst",
            [({"format": 3}, "format"), ({"channels": BIG, "spatial": BIG}, "")],
        ),
        "SimdSynetNormalizeLayerForward": (
            {**normalized, "eps": s, "acrossSpatial": 1, "format": NHWC, "buf": NULL, "dst": d},
            "dst",
            [({"format": 3}, "format"), ({"acrossSpatial": 2}, "acrossSpatial"), ({"batch": BIG, "channels": BIG}, "")],
        ),
        **{
            f"SimdSynetNormalizeLayerForward{version}": (
                {**normalized, "shift": s, "eps": s, "format": NHWC, "buf": NULL, "dst": d},
                "dst",
                [({"format": 3}, "format"), ({"channels": BIG, "spatial": BIG}, "")],
            )
            for version in ("V2", "V3", "V4")
        },
        "SimdnetGroupNorm": (
            {"src": f, "batch": 1, "channels": 4, "spatial": 6, "groups": 2, "scale": s, "shift": s, "eps": s, "dst": d},
            "dst",
            [({"groups": 0}, "groups"), ({"groups": 3}, "groups"), ({"channels": BIG, "spatial": BIG}, "")],
        ),
    }


def cases() -> list[Any]:
    found: list[Any] = []
    for name in POOLING:
        arguments, output, _ = pooling(name)
        found.extend((name, arguments, output, change, word) for change, word in refusals(name, arguments))
    for name, (arguments, output, others) in vectors().items():
        nulls = [({key: NULL}, key) for key, value in arguments.items() if isinstance(value, np.ndarray)]
        found.extend((name, arguments, output, change, word) for change, word in [*nulls, *others])
    return [pytest.param(*case, id=f"{case[0]}-{'-'.join(f'{k}={v}' for k, v in case[3].items())}") for case in found]


@pytest.mark.parametrize(("name", "arguments", "output", "change", "word"), cases())
def test_refused_by_c(name: str, arguments: dict[str, Any], output: str, change: dict[str, Any], word: str) -> None:
    before = arguments[output].tobytes()
    mixed = {**arguments, **{key: value for key, value in change.items() if key in arguments}}
    values = [address(v) if isinstance(v, np.ndarray) else NULL if v is None else v for v in mixed.values()]
    getattr(lib, name)(*values)
    assert lib.SimdnetLastErrorKind() == 1
    sentence = ffi.string(lib.SimdnetLastError()).decode()
    assert sentence.startswith(f"{name}: ")
    assert word in sentence.split(": ", 1)[1]
    assert arguments[output].tobytes() == before
    # and with the expected value, it runs
    getattr(lib, name)(*[address(v) if isinstance(v, np.ndarray) else NULL if v is None else v for v in arguments.values()])
    assert ffi.string(lib.SimdnetLastError()) == b""
    arguments[output][:] = np.frombuffer(before, arguments[output].dtype)


@pytest.mark.parametrize("name", POOLING)
def test_empty_pooling_needs_no_pointers(name: str) -> None:
    arguments, _, _ = pooling(name)
    for change in ({"dstH": 0}, {"dstW": 0}, {"srcC": 0, "dstC": 0}):
        mixed = {**arguments, "src": NULL, "dst": NULL, **{k: v for k, v in change.items() if k in arguments}}
        getattr(lib, name)(*mixed.values())
        assert ffi.string(lib.SimdnetLastError()) == b""


def test_empty_vectors_need_no_pointers() -> None:
    for name, (arguments, _, _) in vectors().items():
        every = (
            "channels",
            "spatial",
            "batch",
            "size",
            "outer",
            "count",
            "inner",
            "width",
            "height",
            "output",
            "input",
            "kernel",
            "M",
            "N",
        )
        sizes = [key for key in every if key in arguments]
        if name == "SimdSynetInnerProductLayerForward":
            sizes = ["count"]  # size 0 gives the bias
        if name == "SimdSynetSetInput":
            sizes.remove("channels")  # 1 or 3
        for size in sizes:
            mixed = {key: NULL if isinstance(v, np.ndarray) or v is None else v for key, v in arguments.items()}
            getattr(lib, name)(*{**mixed, size: 0}.values())
            assert ffi.string(lib.SimdnetLastError()) == b"", (name, size)


def test_inner_product_of_size_0_is_the_bias() -> None:
    bias, dst = np.array([1, 2], np.float32), np.zeros(2, np.float32)
    lib.SimdSynetInnerProductLayerForward(address(bias), address(bias), address(bias), 2, 0, address(dst))
    assert np.array_equal(dst, bias)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"type": 4}, "type"),
        ({"count": 0}, "count"),
        ({"size": 2**62}, "size"),
        ({"src": NULL}, "src"),
        ({"weight": NULL}, "weight"),
        ({"dst": NULL}, "dst"),
        ({"second": NULL}, "src[1]"),
    ],
)
def test_eltwise_refused_by_c(change: dict[str, Any], word: str) -> None:
    data, dst = np.ones(6, np.float32), np.full(6, 7, np.float32)
    values: dict[str, Any] = {
        "first": address(data),
        "second": address(data),
        "weight": address(data),
        "count": 2,
        "size": 6,
    }
    values.update(type=lib.SimdSynetEltwiseOperationSum, dst=address(dst))
    values.update(change)
    listed = ffi.new("float *[]", [values.pop("first"), values.pop("second")])
    lib.SimdSynetEltwiseLayerForward(values.pop("src", listed), *values.values())
    assert lib.SimdnetLastErrorKind() == 1
    assert word in ffi.string(lib.SimdnetLastError()).decode().split(": ", 1)[1]
    assert (dst == 7).all()


def parameters(**change: Any) -> Any:
    """A valid convolution, apart from the changes."""
    conv = ffi.new("SimdConvolutionParameters *")
    values: dict[str, Any] = {"srcC": 4, "srcH": 5, "srcW": 5, "dstC": 6, "dstH": 4, "dstW": 4, "kernelY": 2, "kernelX": 2}
    values.update(dilationY=1, dilationX=1, strideY=1, strideX=1, group=1, srcF=NHWC, dstF=NHWC)
    values.update(change)
    for name, value in values.items():
        setattr(conv, name, value)
    return conv


@pytest.mark.parametrize(
    ("change", "word"),
    [
        *[({name: 0}, name) for name in ("kernelY", "kernelX", "dilationY", "dilationX", "strideY", "strideX", "group")],
        ({"group": 3}, "group"),
        ({"dstH": 5}, "dstH"),
        ({"dstW": 3}, "dstW"),
        ({"kernelY": 6, "dstH": 0}, "kernelY"),
        ({"padH": 2**64 - 1}, ""),
        ({"dilationX": 2**63, "kernelX": 3}, ""),
        ({"srcT": 3}, "srcT"),
        ({"dstT": 7}, "dstT"),
        ({"srcF": 2, "dstF": 2}, "srcF"),
        ({"dstF": 0}, "dstF"),
        ({"activation": 11}, "activation"),
        ({"srcC": BIG, "dstC": BIG}, ""),
    ],
)
def test_convolution_init_refuses(change: dict[str, Any], word: str) -> None:
    assert lib.SimdSynetConvolution32fInit(1, parameters(**change), NULL) == NULL
    sentence = ffi.string(lib.SimdnetLastError()).decode()
    assert sentence.startswith("SimdSynetConvolution32fInit: ")
    assert word in sentence.split(": ", 1)[1]


def refusal() -> str:
    """The message of the last call, without the name of the function."""
    assert lib.SimdnetLastErrorKind() == 1
    return str(ffi.string(lib.SimdnetLastError()).decode().split(": ", 1)[1])


def test_messages_name_enumerators() -> None:
    """Messages use the names of the header; a value without a name is a number."""

    def names(enumeration: str) -> list[tuple[str, int]]:
        return [(name, int(value)) for name, value in ENUMS[enumeration].items()]

    for name, value in [*names("SimdTensorFormatType"), ("99", 99), ("-2", -2), ("2147483647", 2**31 - 1)]:
        if value not in (0, NHWC):
            lib.SimdSynetConvolution32fInit(1, parameters(srcF=value), NULL)
            assert refusal() == f"srcF is {name}, expected SimdTensorFormatNchw or SimdTensorFormatNhwc"
            lib.SimdSynetConvolution32fInit(1, parameters(dstF=value), NULL)
            assert refusal() == f"dstF is {name}, expected SimdTensorFormatNhwc as srcF"
    for name, value in [*names("SimdTensorDataType"), ("9", 9)]:
        if value:
            lib.SimdSynetConvolution32fInit(1, parameters(srcT=value), NULL)
            assert refusal() == f"srcT is {name}, expected SimdTensorData32f"
    for name, value in [*names("SimdPixelFormatType"), ("17", 17)]:
        if name.removeprefix("SimdPixelFormat") not in ("Gray8", "Bgr24", "Bgra32", "Rgb24"):
            lib.SimdSynetSetInput(NULL, 1, 1, 4, value, NULL, NULL, NULL, 3, NHWC)
            assert refusal() == f"srcFormat is {name}, expected SimdPixelFormatGray8, Bgr24, Bgra32 or Rgb24"
    for name, value in names("SimdConvolutionActivationType"):
        if re.sub("Simd(net)?ConvolutionActivation", "", name) not in ("Identity", "Relu", "Gelu", "Sigmoid"):
            context = lib.SimdSynetConvolution32fInit(1, parameters(activation=value), NULL)
            lib.SimdSynetConvolution32fSetParams(context, ffi.new("float[96]"), NULL, NULL, NULL)
            assert refusal() == f"params is NULL, expected the parameters of {name}"
            lib.SimdRelease(context)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        *[({name: 0}, name) for name in ("kernelY", "kernelX", "dilationY", "dilationX", "strideY", "strideX", "group")],
        ({"group": 3}, "srcC"),
        ({"group": 4}, "dstC"),
        ({"dstH": 5}, "dstH is 5, expected 6"),
        ({"dstW": 0}, "dstW is 0, expected 6"),
        ({"padY": 4, "padH": 2, "dstH": 0}, "padY and padH are 4 and 2"),
        ({"padW": 6, "dstW": 0}, "padX and padW are 0 and 6"),
        ({"padH": 2**64 - 1}, "padH"),
        ({"dilationX": 2**63, "kernelX": 3}, "kernelX"),
        ({"strideX": 2**63}, "strideX"),
        ({"srcH": 2**62}, "srcH"),
        ({"srcT": 3}, "srcT"),
        ({"dstT": 7}, "dstT"),
        ({"srcF": 2, "dstF": 2}, "srcF"),
        ({"dstF": NHWC}, "dstF"),
        ({"activation": 11}, "activation"),
        ({"srcC": BIG, "dstC": BIG}, "conv"),
    ],
)
def test_deconvolution_init_refuses(change: dict[str, Any], word: str) -> None:
    values = {"dstH": 6, "dstW": 6, "srcF": 0, "dstF": 0, **change}
    assert lib.SimdSynetDeconvolution32fInit(1, parameters(**values), NULL) == NULL
    sentence = ffi.string(lib.SimdnetLastError()).decode()
    assert sentence.startswith("SimdSynetDeconvolution32fInit: ")
    assert word in sentence.split(": ", 1)[1]


def last(kind: int = 1) -> str:
    """The last error, which is of this kind."""
    assert lib.SimdnetLastErrorKind() == kind
    return str(ffi.string(lib.SimdnetLastError()).decode())


def refuse_context(context: Any, floats: Any, forward: Any, set_params: Any, sizes: tuple[Any, Any]) -> None:
    """All functions of a convolution refuse a context that is not one of theirs."""
    forward(context, floats, NULL, floats + 100)
    assert "context" in last()
    set_params(context, floats, NULL, NULL, NULL)
    assert "context" in last()
    for size in sizes:
        assert size(context) == 0
        assert "context" in last()


def test_deconvolution_refuses_other_contexts_and_null() -> None:
    assert lib.SimdSynetDeconvolution32fInit(0, parameters(dstH=6, dstW=6), NULL) == NULL
    assert lib.SimdSynetDeconvolution32fInit(1, NULL, NULL) == NULL
    other = ffi.gc(lib.SimdSynetConvolution32fInit(1, parameters(), NULL), lib.SimdRelease)
    floats = address(np.zeros(400, np.float32))
    sizes = (lib.SimdSynetDeconvolution32fExternalBufferSize, lib.SimdSynetDeconvolution32fInternalBufferSize)
    for context in (NULL, other):
        refuse_context(context, floats, lib.SimdSynetDeconvolution32fForward, lib.SimdSynetDeconvolution32fSetParams, sizes)
    conv = ffi.gc(lib.SimdSynetDeconvolution32fInit(1, parameters(dstH=6, dstW=6), NULL), lib.SimdRelease)
    lib.SimdSynetDeconvolution32fSetParams(conv, NULL, NULL, NULL, NULL)
    assert "weight is NULL" in last()
    lib.SimdSynetDeconvolution32fForward(conv, floats, NULL, floats + 100)
    assert lib.SimdnetLastErrorKind() == 3
    internal = ffi.new("SimdBool *", lib.SimdFalse)
    lib.SimdSynetDeconvolution32fSetParams(conv, floats, internal, NULL, NULL)
    assert internal[0] == lib.SimdTrue
    lib.SimdSynetDeconvolution32fForward(conv, NULL, NULL, floats)
    assert "src is NULL" in last()


@pytest.mark.parametrize("constant", [0, 1])
def test_inner_products_refuse(constant: int) -> None:
    floats = address(np.zeros(100, np.float32))
    for change in ((BIG, BIG, 4), (BIG, 3, BIG), (2, BIG, BIG)):
        assert lib.SimdSynetInnerProduct32fInit(*change, 1, constant, 1, 0) == NULL
        assert "too large for an array" in last()
    for flags, word in (
        ((2, 1, 1, 0), "transB"),
        ((1, 2, 1, 0), "constB"),
        ((1, 1, 2, 0), "bias"),
        ((1, 1, 1, 11), "activation"),
    ):
        assert lib.SimdSynetInnerProduct32fInit(2, 3, 4, *flags) == NULL
        assert word in last()
    context = ffi.gc(lib.SimdSynetInnerProduct32fInit(2, 3, 4, 1, constant, 1, 1), lib.SimdRelease)
    lib.SimdSynetInnerProduct32fForward(context, floats, floats + 20, NULL, floats + 50)
    assert "SetParams" in last(3)
    internal = ffi.new("SimdBool *", lib.SimdFalse)
    lib.SimdSynetInnerProduct32fSetParams(context, floats, internal, NULL, NULL)
    assert internal[0] == lib.SimdTrue
    for arguments, word in (
        ((NULL, floats + 20, NULL, floats + 50), "A is NULL"),
        ((floats, floats + 20, NULL, NULL), "C is NULL"),
        ((floats, floats + 20, NULL, floats + 7), "C overlaps A"),
        ((floats, floats + 20, floats + 55, floats + 50), "buf overlaps"),
    ):
        lib.SimdSynetInnerProduct32fForward(context, *arguments)
        assert word in last()
    for other in (NULL, floats):
        lib.SimdSynetInnerProduct32fForward(other, floats, floats + 20, NULL, floats + 50)
        assert "context" in last()
        lib.SimdSynetInnerProduct32fSetParams(other, floats, NULL, NULL, NULL)
        assert "context" in last()
        assert lib.SimdSynetInnerProduct32fExternalBufferSize(other) == 0
        assert lib.SimdSynetInnerProduct32fInternalBufferSize(other) == 0


def test_contexts_refuse_null_and_each_other() -> None:
    assert lib.SimdSynetConvolution32fInit(1, NULL, NULL) == NULL
    assert lib.SimdSynetConvolution32fInit(0, parameters(), NULL) == NULL
    conv = ffi.gc(lib.SimdSynetConvolution32fInit(1, parameters(), NULL), lib.SimdRelease)
    shape = ffi.new("size_t[]", [4])
    add = ffi.gc(lib.SimdSynetAdd16bInit(shape, 1, 0, shape, 1, 0, 0, -1), lib.SimdRelease)
    assert conv != NULL
    assert add != NULL
    data = np.zeros(200, np.float32)
    floats, octets = address(data), address(data.view(np.uint8))
    sizes = (lib.SimdSynetConvolution32fExternalBufferSize, lib.SimdSynetConvolution32fInternalBufferSize)
    for context in (NULL, add, floats):
        refuse_context(context, floats, lib.SimdSynetConvolution32fForward, lib.SimdSynetConvolution32fSetParams, sizes)
    for context in (NULL, conv, floats):
        lib.SimdSynetAdd16bForward(context, octets, octets, octets)
        assert "context" in last()
    lib.SimdRelease(floats)
    assert "context" in last()
    lib.SimdRelease(NULL)
    assert lib.SimdnetLastErrorKind() == 0
    assert lib.SimdnetContextInfo(NULL) == NULL
    for change in ({"a": NULL}, {"b": NULL}, {"dst": NULL}):
        values = {"a": octets, "b": octets, "dst": octets, **change}
        lib.SimdSynetAdd16bForward(add, *values.values())
        assert next(iter(change)) + " is NULL" in last()
    lib.SimdSynetConvolution32fSetParams(conv, NULL, NULL, NULL, NULL)
    assert "weight is NULL" in last()
    lib.SimdSynetConvolution32fForward(conv, floats, NULL, floats + 100)
    assert lib.SimdnetLastErrorKind() == 3
    internal = ffi.new("SimdBool *", lib.SimdFalse)
    lib.SimdSynetConvolution32fSetParams(conv, floats, internal, NULL, NULL)
    assert internal[0] == lib.SimdTrue


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"aShape": NULL}, "aShape"),
        ({"bShape": NULL}, "bShape"),
        ({"bCount": 1}, "bCount"),
        ({"bShape": [3, 5]}, "bShape"),
        ({"aType": 3}, "aType"),
        ({"bType": -1}, "bType"),
        ({"dstType": 8}, "dstType"),
        ({"format": 2}, "format"),
        ({"aShape": [BIG, BIG], "bShape": [BIG, BIG]}, ""),
    ],
)
def test_add_16b_init_refuses(change: dict[str, Any], word: str) -> None:
    values: dict[str, Any] = {"aShape": [3, 4], "aCount": 2, "aType": 0, "bShape": [3, 4], "bCount": 2, "bType": 7}
    values.update(dstType=0, format=-1)
    values.update(change)
    sizes = [ffi.new("size_t[]", v) if isinstance(v, list) else v for v in values.values()]
    assert lib.SimdSynetAdd16bInit(*sizes) == NULL
    sentence = ffi.string(lib.SimdnetLastError()).decode()
    assert sentence.startswith("SimdSynetAdd16bInit: ")
    assert word in sentence.split(": ", 1)[1]


def test_memory_functions() -> None:
    for align in (1, 8, 64, 4096):
        block = lib.SimdAllocate(100, align)
        assert int(ffi.cast("uintptr_t", block)) % align == 0
        ffi.memmove(block, b"x" * 100, 100)
        lib.SimdFree(block)
    lib.SimdFree(NULL)
    assert lib.SimdAllocate(8, 24) == NULL
    assert lib.SimdnetLastErrorKind() == 1
    assert lib.SimdAllocate(2**62, 64) == NULL
    assert lib.SimdnetLastErrorKind() == 2
    assert [lib.SimdAlign(n, 16) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]
    assert (lib.SimdAlign(5, 1), lib.SimdAlign(5, 0)) == (5, 0)
    assert lib.SimdCpuInfo(99) == 0
