"""Files and folders of models made to do harm: each must be read, or refused with a sentence, in little time and memory.

    python hostile_models.py --seed 1 --cases 3000

Each case is a file of our own format, an ONNX file, or a path. Loading it, and printing what was loaded, may take 1 s of
processor time and, beyond the interpreter, twice the size of the file and 96 MB; only ValueError and OSError may be raised.
A case that waits, such as for the writer of a FIFO, is a finding too.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import pysimd
from network import fuzz as network_fuzz
from pysimd.network import saved
from scorecard.row import print_counts

SECONDS = 1.0  # of the processor
WAIT = 90  # seconds of the clock: a case that takes so long waits for something
SMALL = 96 << 20  # bytes that any file may take
RATIO = 2.0  # and so many times its own size

Case = tuple[str, Path]
Make = Callable[[Random, Path], Path]


# ---- our own format


def own_file(folder: Path, header: Any, data: bytes = b"") -> Path:
    """A file with any header, a checksum and a length that fit."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = b"simdnet model 0001\n" + len(text).to_bytes(8, "little") + bytes(8)
    path = folder / "m.simdnet"
    path.write_bytes(network_fuzz.with_right_checksum(start + text) + data)
    return path


def own_sample(folder: Path) -> tuple[dict[str, Any], bytes]:
    """The header and the data of a valid file."""
    path = folder / "valid.simdnet"
    if not path.exists():
        saved.write(network_fuzz.sample(), path)
    data = path.read_bytes()
    end = network_fuzz.START + network_fuzz.header_bytes(data)
    header: dict[str, Any] = json.loads(data[network_fuzz.START : end])
    return header, data[end:]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """All pairs of a container of JSON and a key in it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def odd_value(random: Random) -> Any:
    """What no header should have at its place."""
    return random.choice(
        [
            -1, 0, 1, 63, 1 << 31, 1 << 63, 1 << 64, 1 << 70, -(1 << 63), 10**400, 1.5, float("nan"), float("inf"), True,
            None, "", "x" * random.choice((1, 1000, 100_000)), "\0", "\ud800", "a/../b", [], {}, [[]], {"array": {}},
            {"graph": {}}, [1 << 40] * 3, list(range(random.choice((1, 100, 10_000)))), [0] * 65, ["x", "x"], [None] * 10,
        ]
    )  # fmt: skip


def own_changed_header(random: Random, folder: Path) -> Path:
    header, data = own_sample(folder)
    for _ in range(random.choice((1, 1, 2, 4))):
        container, key = random.choice(list(places(header)))
        kind = random.randrange(4)
        if kind == 0:
            del container[key]
        elif kind == 1 and isinstance(container, list):
            container.insert(key, json.loads(json.dumps(container[key])))
        else:
            container[key] = odd_value(random)
    return own_file(folder, header, data)


def own_mutated(random: Random, folder: Path) -> Path:
    own_sample(folder)
    data = network_fuzz.mutated((folder / "valid.simdnet").read_bytes(), random)
    path = folder / "m.simdnet"
    path.write_bytes(network_fuzz.with_right_checksum(data) if random.random() < 0.7 else data)
    return path


def own_cut(random: Random, folder: Path) -> Path:
    own_sample(folder)
    data = (folder / "valid.simdnet").read_bytes()
    path = folder / "m.simdnet"
    path.write_bytes(data[: random.randrange(len(data))])
    return path


def own_bomb(random: Random, folder: Path) -> Path:
    """Short text that becomes large, or deep."""
    n = random.choice((100, 10_000, 400_000))
    text = random.choice(
        [
            b"[" * n,
            b"[" * n + b"]" * n,
            b'{"a":' * n + b"1" + b"}" * n,
            b"[" + b"[]," * n + b"1]",
            b"[" + b"{}," * n + b"1]",
            b"[" + b"1," * n + b"1]",
            b'{"bytes":0,"nodes":[' + b"{}," * n + b"{}]}",
            b'{"bytes":' + b"9" * n + b"}",
            b'{"bytes":1e' + b"9" * n + b"}",
            b'{"bytes":0,"weights":{' + b",".join(b'"%d":0' % i for i in range(n)) + b"}}",
            b'"' + b"\\u0041" * n + b'"',
            b'"' + b"x" * n,
            b" " * n,
            b"\xff" * n,
        ]
    )
    return own_file(folder, text)


def own_graph(random: Random, folder: Path) -> Path:
    """Many nodes, many of them in a circle, or graphs within graphs."""
    header, data = own_sample(folder)
    node = {"op": "Relu", "inputs": ["x"], "outputs": ["q"], "attributes": {}, "name": "", "domain": ""}
    n = random.choice((1, 2, 100, 5000))
    kind = random.randrange(4)
    if kind == 0:  # a circle
        header["nodes"] += [{**node, "inputs": [f"c{i}"], "outputs": [f"c{(i + 1) % n}"]} for i in range(n)]
    elif kind == 1:  # each reads many
        names = [f"r{i}" for i in range(n)]
        header["nodes"] += [{**node, "inputs": names if i == 0 else ["x"], "outputs": [names[i]]} for i in range(n)]
    elif kind == 2:
        inner = {"name": "", "opset": 17, "inputs": [], "outputs": [], "nodes": [], "weights": {}}
        for _ in range(min(n, 100)):
            inner = {**inner, "nodes": [{**node, "inputs": [], "outputs": [], "attributes": {"g": {"graph": inner}}}]}
        header["nodes"].append({**node, "attributes": {"g": {"graph": inner}}})
    else:  # one array for all
        place = header["weights"]["k"]
        header["weights"].update({f"w{i}": place for i in range(n)})
    return own_file(folder, header, data)


# ---- ONNX


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))


def field(number: int, content: bytes | int) -> bytes:
    """A field of protobuf."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content & (1 << 64) - 1)
    return varint(number << 3 | 2) + varint(len(content)) + content


OPSET = field(8, field(1, b"") + field(2, 17))


def onnx_file(folder: Path, graph: bytes, functions: bytes = b"") -> Path:
    path = folder / "m.onnx"
    path.write_bytes(field(1, 9) + OPSET + functions + field(7, graph))
    return path


def onnx_node(inputs: list[bytes], outputs: list[bytes], op: bytes = b"Relu", rest: bytes = b"") -> bytes:
    names = b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in outputs)
    return names + field(4, op) + rest


def tensor(dims: list[int], rest: bytes = b"", name: bytes = b"w", kind: int = 1) -> bytes:
    return b"".join(field(1, n) for n in dims) + field(2, kind) + field(8, name) + rest


def onnx_mutated(random: Random, folder: Path) -> Path:
    path = folder / "m.onnx"
    data = network_fuzz.mutated(random.choice(onnx_valid()), random)
    path.write_bytes(data[: random.randrange(1, len(data) + 1)] if random.random() < 0.2 and data else data)
    return path


VALID: list[bytes] = []


def onnx_valid() -> list[bytes]:
    if not VALID:
        VALID.extend(message.SerializeToString() for message in network_fuzz.onnx_samples())
    return VALID


def onnx_bomb(random: Random, folder: Path) -> Path:
    """Many messages in few bytes: of nodes, attributes, weights, inputs, numbers, names, or of nothing that is known."""
    n = random.choice((100, 10_000, 200_000))
    node = onnx_node([b"x"], [b"q"])
    graph = random.choice(
        [
            field(1, b"") * n,
            field(1, node) * n,
            field(1, field(4, b"R")) * n,
            b"".join(field(1, onnx_node([b"%d" % i], [b"%d" % (i + 1)])) for i in range(min(n, 20_000))),
            field(1, field(5, b"") * n),
            field(1, field(1, b"") * n),
            field(1, onnx_node([b"x"] * n, [b"y"])),
            field(5, b"") * n,
            b"".join(field(5, tensor([0], name=b"%d" % i)) for i in range(min(n, 20_000))),
            field(5, tensor([1] * n)),
            field(5, tensor([0] * min(n, 100))),
            field(5, tensor([n], field(4, b"\0\0\0\0" * n))),
            field(5, tensor([n], field(5, b"\1" * n), kind=6)),
            field(5, tensor([4], field(9, bytes(16)), name=b"w" * n)),
            field(11, b"") * n,
            field(12, field(1, b"o")) * n,
            field(11, field(1, b"x") + field(2, field(1, field(1, 1) + field(2, field(1, b"") * n)))),
            field(15, b"") * n,
            field(99, b"") * n,
            field(10, b"d" * n),
            field(
                1, onnx_node([], [b"c"], b"Constant", field(5, field(1, b"value_ints") + field(8, b"\1" * n) + field(20, 7)))
            ),
        ]
    )
    reader = field(1, onnx_node([b"w"], [b"y"])) + field(12, field(1, b"y"))  # else, weights are not looked at
    return onnx_file(folder, graph + reader if random.random() < 0.5 else graph)


def onnx_nested(random: Random, folder: Path) -> Path:
    depth = random.choice((1, 20, 24, 25, 30, 49, 60, 98, 200, 3000))
    graph = field(1, onnx_node([b"x"], [b"y"]))
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, graph) + field(20, 5)
        graph = field(1, onnx_node([b"x"], [b"y"], b"If", field(5, attribute)))
    return onnx_file(folder, graph + field(11, field(1, b"x")))


def onnx_functions(random: Random, folder: Path) -> Path:
    """Functions that call each other, themselves, or the next one several times."""
    count, depth, kind = random.choice((1, 2, 3, 10)), random.choice((1, 5, 12, 20, 23, 40)), random.randrange(3)
    functions = b""
    for i in range(depth):
        to = b"f%d" % (0 if kind == 0 else i + 1 if kind == 1 else random.randrange(depth + 1))
        calls = b"".join(
            field(7, onnx_node([b"a"], [b"b" if k == 0 else b"c%d" % k], to, field(7, b"own"))) for k in range(count)
        )
        functions += field(25, field(1, b"f%d" % i) + field(4, b"a") + field(5, b"b") + calls + field(10, b"own"))
    graph = (
        field(1, onnx_node([b"x"], [b"y"], b"f0", field(7, b"own"))) + field(11, field(1, b"x")) + field(12, field(1, b"y"))
    )
    return onnx_file(folder, graph, functions)


def onnx_sizes(random: Random, folder: Path) -> Path:
    """Shapes and counts that do not belong to the data."""
    dims = [
        random.choice((-1, 0, 1, 4, 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1)) for _ in range(random.choice((1, 2, 4, 70)))
    ]
    kind = random.choice((0, 1, 2, 6, 7, 8, 10, 11, 14, 16, 17, 22, 23, 99))
    rest = random.choice([b"", field(9, bytes(16)), field(4, bytes(16)), field(5, b"\1"), field(7, b"\1"), field(9, b"")])
    return onnx_file(
        folder, field(1, onnx_node([b"w"], [b"y"])) + field(5, tensor(dims, rest, kind=kind)) + field(12, field(1, b"y"))
    )


def onnx_circle(random: Random, folder: Path) -> Path:
    n = random.choice((1, 2, 3, 1000, 20_000))
    nodes = [field(1, onnx_node([b"c%d" % i], [b"c%d" % ((i + 1) % n)])) for i in range(n)]
    random.shuffle(nodes)
    return onnx_file(folder, b"".join(nodes))


def surroundings(folder: Path) -> Path:
    """A folder for a model, with what is there and what lies outside of it."""
    inner = folder / "model"
    if not inner.exists():
        (inner / "sub").mkdir(parents=True)
        (folder / "model2").mkdir()
        for place in (folder, inner, inner / "sub", folder / "model2"):
            np.zeros(4, np.float32).tofile(place / "data")
        links = {"out": "../data", "up": "..", "loop": "loop", "device": "/dev/zero", "null": "/dev/null", "gone": "nothing"}
        links |= {
            "process": "/proc/self/mem",
            "root": "/",
            "beside": "../model2/data",
            "within": "sub/data",
            "to_fifo": "fifo",
        }
        for name, to in links.items():
            (inner / name).symlink_to(to)
        os.mkfifo(inner / "fifo")
        with socket.socket(socket.AF_UNIX) as server:
            here = os.getcwd()
            os.chdir(inner)  # the path of a socket must be short
            server.bind("socket")
            os.chdir(here)
        (inner / "empty").touch()
        (inner / "closed").touch(0)
        with open(inner / "sparse", "wb") as file:
            file.truncate(1 << 40)
    return inner


def onnx_external(random: Random, folder: Path) -> Path:
    """Weights in files that are none of the model's."""
    inner = surroundings(folder)
    names = [path.name for path in inner.iterdir()]
    location = random.choice(
        [
            *names, "up/data", "root/etc/passwd", "../data", "../model2/data", "/etc/passwd", "/dev/zero", "/dev/stdin", "",
            ".", "..", "./data", "sub/../data", "sub/../../data", "data/", "data/x", "a\0b",
            "a" * 5000, "\\data", "file:///etc/passwd",
            "fd/0", "/proc/self/fd/0", "x/" * 3000, "~/data", "model/../data", str(inner / "data"),
        ]
    )  # fmt: skip
    entries = {"location": location}
    if random.random() < 0.4:
        entries["offset"] = random.choice(("0", "4", "-1", "9" * 50, "9" * 5000, "x", "", "0x10", "1e3", str(1 << 39)))
    if random.random() < 0.4:
        entries["length"] = random.choice(("16", "0", "-16", "9" * 50, str(1 << 40), "x", "12"))
    dims = random.choice(([4], [4], [0], [1 << 38], [1 << 62], [3]))
    rest = b"".join(field(13, field(1, key.encode()) + field(2, value.encode())) for key, value in entries.items())
    reader = onnx_node([b"w"], [b"y"])
    path = onnx_file(inner, field(1, reader) + field(5, tensor(dims, rest + field(14, 1))) + field(12, field(1, b"y")))
    return linked(folder, path) if random.random() < 0.3 else path


def linked(folder: Path, path: Path) -> Path:
    """A name elsewhere that leads to a model, as in caches."""
    link = folder / "names" / "m.onnx"
    link.parent.mkdir(exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(path)
        (link.parent / "data").symlink_to("../data")
    return link


# ---- paths


def odd_path(random: Random, folder: Path) -> Path:
    """A path of something that is no file, or no model."""
    inner = surroundings(folder)
    for name in ("empty", "fifo", "data", "sub", "device"):
        for suffix in (".onnx", ".simdnet"):
            if not (inner / f"{name}{suffix}").exists():
                (inner / f"{name}{suffix}").symlink_to(name)
    names = [path for path in inner.iterdir() if path.name != "sparse"]
    more = ["/dev/zero", "/dev/null", "/dev/full", "/", ".", "/etc/passwd", "/proc/self/mem", "/proc/kmsg", "a" * 5000, "\0"]
    return random.choice([*names, inner / "m.onnx" / "x", *map(Path, more)])


KINDS: list[tuple[str, Make]] = [
    ("own, changed", own_changed_header),
    ("own, mutated", own_mutated),
    ("own, cut", own_cut),
    ("own, bomb", own_bomb),
    ("own, graph", own_graph),
    ("onnx, mutated", onnx_mutated),
    ("onnx, bomb", onnx_bomb),
    ("onnx, nested", onnx_nested),
    ("onnx, functions", onnx_functions),
    ("onnx, sizes", onnx_sizes),
    ("onnx, circle", onnx_circle),
    ("onnx, external", onnx_external),
    ("path", odd_path),
]

# ---- measuring


class Waits(BaseException):
    """A case does not end."""


def on_alarm(number: int, frame: Any) -> None:
    raise Waits


def resident(key: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM the most since `forget_peak`."""
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{key}:")[1].split()[0]) << 10


def forget_peak() -> None:
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def outcome(path: Path) -> tuple[str | None, str]:
    """What is wrong with loading a path, None if nothing is; and what it said."""
    try:
        return None, f"read: {str(pysimd.load(path))[:60]!r}"
    except (ValueError, OSError) as error:
        return (None if str(error) else "there is no text"), f"{type(error).__name__}: {str(error)[:200]}"
    except Waits:
        return "it waits", ""
    except BaseException as error:
        return f"it raises {type(error).__name__}", str(error)[:200]


def run(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    seed, kinds = options.seed, [each for each in KINDS if options.kind in each[0]]
    signal.signal(signal.SIGALRM, on_alarm)
    keys = ("cases", "refused", "findings", "most_seconds", "most_memory_ratio", "most_mb")
    counts: dict[str, float] = dict.fromkeys(keys, 0)
    for i in range(options.cases):
        random = Random(f"{seed} {i}")
        kind, make = kinds[i % len(kinds)]
        path = make(random, folder)
        size = size_of(path)
        forget_peak()
        before, begin = resident("VmRSS"), time.process_time()
        signal.alarm(WAIT)
        wrong, said = outcome(path)
        signal.alarm(0)
        seconds, memory = time.process_time() - begin, max(resident("VmHWM") - before, 0)
        counts["cases"] += 1
        counts["refused"] += not said.startswith("read")
        counts["most_seconds"] = max(counts["most_seconds"], round(seconds, 3))
        if memory > SMALL:
            counts["most_memory_ratio"] = max(counts["most_memory_ratio"], round((memory - SMALL) / max(size, 1), 2))
        counts["most_mb"] = max(counts["most_mb"], round(memory / 2**20, 1))
        if seconds > SECONDS:
            wrong = wrong or f"it takes {seconds:.2f} s"
        if memory > SMALL + RATIO * size:
            wrong = wrong or f"it takes {memory / 2**20:.1f} MB"
        if wrong or options.show:
            print(f"seed {seed} case {i} ({kind}, {size} bytes, {seconds:.2f} s, {memory / 2**20:.1f} MB): {wrong}: {said}")
        counts["findings"] += wrong is not None
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--kind", default="", help="only kinds whose name contains this")
    parser.add_argument("--show", action="store_true", help="what each case gives")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    os.chdir(folder)
    try:
        pysimd.load(own_file(folder, *own_sample(folder)))  # what is imported late counts for no case
        counts = run(options, folder)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print_counts(**counts)
    return int(counts["findings"] > 0)


if __name__ == "__main__":
    sys.exit(main())
