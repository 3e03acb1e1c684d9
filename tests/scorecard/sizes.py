"""Arrays of more than 2^32 elements: ``PYTHONPATH=.:tests python -m scorecard.sizes --help``.

Each case of `size_cases.py`, `size_product_cases.py` and `size_byte_cases.py` is called once with arrays beyond 2^32
elements, in little memory (`huge.py`). Windows at both ends of all arrays, and around 2^31 and 2^32 elements and bytes,
contain numbers; their results are compared with those of level base for these rows alone.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import sys
import time
import traceback
from typing import Any

import numpy as np

from pysimd._library import ffi, lib
from scorecard import size_byte_cases, size_cases, size_product_cases  # noqa: F401 (they fill CASES)
from scorecard.huge import Region
from scorecard.row import print_counts
from scorecard.size_case import CASES, Array, Case, release

SPACE = 192 << 30  # for the sources of a case, and for its results
GAP = 1 << 20  # between two arrays
UNWRITTEN = 0x7F  # each byte of a result before the call; as a float, 3.4e38

regions: list[Region] = []


def main() -> int:
    parser = argparse.ArgumentParser("python -m scorecard.sizes", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one function of each family and one context of each kind")
    parser.add_argument("--level", help="an instruction set; without it, the newest one of this machine")
    parser.add_argument(
        "--power", type=int, default=32, help="arrays exceed this power of 2; from 33 on, the second half does"
    )
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="every N-th case, from the I-th on")
    parser.add_argument("--threads", type=int, default=2, help="of each call, which then begins at other places, too")
    options = parser.parse_args()
    level = options.level or levels()[-1]
    if level not in levels():
        print(f"skipped: this machine has no {level}")
        return 0
    begin, step = map(int, options.part.split("/"))
    cases = [case for case in CASES if case.quick or not options.quick]
    cases = [case for case in cases if options.only in title(case) and not (level == "base" and case.slow)][begin::step]
    cases.sort(key=lambda case: -sum(array.size(case.size(1 << 32)) for array in case.results))  # short ones last
    return run(cases, level, 1 << options.power, options.threads)


def levels() -> list[str]:
    found: list[str] = []
    while name := lib.SimdnetIsaLevel(len(found)):
        found.append(ffi.string(name).decode())
    return found


def title(case: Case) -> str:
    return f"{case.family}: {case.name}"


def run(cases: list[Case], level: str, border: int, threads: int) -> int:
    """A case that crashes breaks the pool: the rest is not run, and the exit status is that of a failure."""
    failed, windows = 0, 0
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork"), start, (threads,)) as pool:
        futures = {pool.submit(attempt, CASES.index(case), level, border): case for case in cases}
        for future in concurrent.futures.as_completed(futures):
            fault, seconds, count = future.result()
            failed += fault is not None
            windows += count
            print(f"{title(futures[future])} on {level}: {fault or 'right'} ({seconds:.1f} s)", flush=True)
    print_counts(huge=len(cases), windows=windows, failed=failed)
    return int(failed > 0)


def start(threads: int) -> None:
    lib.SimdSetThreadNumber(threads)
    regions.extend((Region(SPACE, written=False), Region(SPACE, written=True)))


def attempt(number: int, level: str, border: int) -> tuple[str | None, float, int]:
    """What is wrong with a case, if anything; the processor time that it took; the number of windows."""
    case, begin = CASES[number], time.process_time()
    sys.stderr.write(f"{title(case)} begins\n")  # the last one of these lines tells which case has crashed
    try:
        count = check(case, case.size(border), level)
    except Exception:
        return traceback.format_exc(limit=-2), time.process_time() - begin, 0
    finally:
        for region in regions:
            region.close()
    return None, time.process_time() - begin, count


# ---- windows: ranges of rows


def windows_of(case: Case, n: int) -> list[tuple[int, int]]:
    """Rows at both ends, and those that are around a border of any array."""
    sizes = [array.row_size for array in case.arrays if array.step]
    length = max(2, min(4096 // min(sizes), 65536 // max(sizes)))
    middles = {0, n}
    for array in case.arrays:
        item, plane = np.dtype(array.kind).itemsize, array.rows(n) * array.row_size
        for border in {power * unit for power in (1 << 31, 1 << 32) for unit in (1, item)}:
            if array.step and border < array.size(n):
                middles.add(border % plane // array.row_size // array.step)
    found: list[tuple[int, int]] = []
    for middle in sorted(middles):
        begin = min(max(middle - length // 2, 0), n - length)
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], begin + length)
        else:
            found.append((begin, begin + length))
    return found


def places_of(arrays: list[tuple[int, Array]], n: int, window: tuple[int, int]) -> Any:
    """The begin and the number of elements of what belongs to a window, for each plane of each array at its offset."""
    for offset, array in arrays:
        begin = window[0] * array.step
        count = ((window[1] - window[0]) * array.step + array.extra) * array.row
        for plane in range(array.planes):
            yield offset + (plane * array.rows(n) + begin) * array.row_size, count, array.kind


def check(case: Case, n: int, level: str) -> int:
    windows = windows_of(case, n)
    rng = np.random.default_rng(7)
    placed = []
    for region, arrays in zip(regions, (case.sources, case.results)):
        offset, offsets = 0, []
        for array in arrays:
            offsets.append((offset, array))
            offset += array.size(n) + GAP
        region.use(offset)
        placed.append(offsets)
        for window in windows:
            for begin, count, kind in places_of(offsets, n, window):
                region.open(begin, begin + count * np.dtype(kind).itemsize)
        fill(region, offsets, n, windows, rng)
    groups = [windows] if case.joint else [[window] for window in windows]
    before = [gather(regions[1], placed[1], n, group) for group in groups]
    addresses = [[region.begin + offset for offset, _ in offsets] for region, offsets in zip(regions, placed)]
    call(case, n, level, addresses, np.concatenate([np.arange(*window) for window in windows]))
    for group, old in zip(groups, before):
        compare(case, placed, n, group, old)
    return len(windows)


def fill(region: Region, offsets: list[tuple[int, Array]], n: int, windows: list[tuple[int, int]], rng: Any) -> None:
    """Numbers for sources and for results that are read, else the mark of what is not written."""
    for offset, array in offsets:
        for window in windows:
            for begin, count, kind in places_of([(offset, array)], n, window):
                view = region.view(begin, count, kind)
                if region is regions[1] and not array.both:
                    view.view("u1")[:] = UNWRITTEN
                elif kind == "u1":
                    view[:] = rng.integers(0, 256, count)
                else:
                    numbers = rng.standard_normal(count).astype(np.float32)
                    view[:] = numbers if kind == "f4" else numbers.view(np.uint32) >> 16


def gather(region: Region, offsets: list[tuple[int, Array]], n: int, windows: list[tuple[int, int]]) -> list[Any]:
    """Copies of the arrays, reduced to some windows."""
    copies = []
    for offset, array in offsets:
        per_window = []
        for window in windows if array.step else windows[:1]:
            planes = [region.view(*place) for place in places_of([(offset, array)], n, window)]
            per_window.append(np.stack(planes))
        copies.append(np.ascontiguousarray(np.concatenate(per_window, axis=1)))
    return copies


def call(case: Case, n: int, level: str, addresses: list[list[int]], rows: Any) -> None:
    assert lib.SimdnetSetMaxIsa(level.encode()) == 1
    sources, results = ([ffi.cast("void *", address) for address in some] for some in addresses)
    try:
        case.call(n, sources, results, rows)
        assert lib.SimdnetLastErrorKind() == 0, ffi.string(lib.SimdnetLastError()).decode()
    finally:
        release()


def compare(case: Case, placed: Any, n: int, group: list[tuple[int, int]], expected: list[Any]) -> None:
    count = sum(end - begin for begin, end in group)
    sources = gather(regions[0], placed[0], n, group)
    addresses = [[array.ctypes.data for array in arrays] for arrays in (sources, expected)]
    call(case, count, "base", addresses, np.arange(count))
    for array, right, found in zip(case.results, expected, gather(regions[1], placed[1], n, group)):
        assert_equal(array.kind, found, right, f"{group} of {n} rows")


def assert_equal(kind: str, found: Any, right: Any, where: str) -> None:
    """Equal within far less than other numbers would differ: rounding is not what is tested here."""
    if kind == "u2":
        found, right = [(x.astype(np.uint32) << 16).view(np.float32) for x in (found, right)]
    if kind == "i8":
        good = found == right
    elif kind == "u1":
        good = abs(found.astype(int) - right) <= 1
    else:
        good = np.isclose(found, right, rtol=0.02, atol=1e-3, equal_nan=True)
    bad = np.argwhere(~good)
    assert not len(bad), (
        f"{where}: {len(bad)} of {good.size} are wrong, first {tuple(bad[0])}: {found[tuple(bad[0])]}, "
        f"expected {right[tuple(bad[0])]}"
    )


if __name__ == "__main__":
    sys.exit(main())
