"""Puts one fault at a time into a copy of the sources and runs the tests until one fails.

A fault that does not change the machine code (comments, other processors, what the compiler removes) does not count.
The tests nearest to the file run first, then those of all families, all of ``make check`` and pytest; of faults in
Python, only tests in Python. Faults that no test can find are in ``equivalent.txt``, and do not count; those that are
known to survive are in ``survivors.txt``, and count; both with reasons, and are tried only with ``--again``, by the
nearest tests. Results are kept in ``build/mutation/``: a caught fault is not tried again while the function around it
is the same, one that survived and is not listed is tried again on another commit. All take hours: the step ``keep``
writes those that were caught to ``caught.txt``, from where another checkout goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import functools
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pysimd
from scorecard import c_tests, mutants
from scorecard.mutants import Mutant
from scorecard.row import print_counts

STATE = pathlib.Path("build/mutation").resolve()
RESULTS = STATE / "results"
CAUGHT = pathlib.Path(__file__).with_name("caught.txt")  # the key of a fault, and the test that caught it
TREE = STATE / "tree"
BUILD = f"build/{os.uname().machine}-cc"
LEVELS = " ".join(level for level in pysimd.isa_levels() if level != "base")
CHECK = f"{BUILD}/tests/check --seed 1 --quick"
MAKE_CHECK = "make check 'CHECK_FLAGS=--seed 1'"

#: Seconds of processor time, seconds without any, bytes of memory: a fault may compute or wait for ever, or fill the memory.
SAMPLE_SECONDS, NEAR_SECONDS, ALL_SECONDS, LONG_SECONDS, IDLE, MEMORY = 20, 60, 600, 3600, 60, 6 << 30

#: The programs and families of the checker that test a file, for those that are not named like their family.
NEAREST = {
    "runtime/threads": "test_threads test_callers test_thread_number test_allocation",
    "runtime/limits": "test_thread_number test_callers",
    "runtime/memory": "test_memory test_allocation",
    "runtime/os_linux": "test_threads test_thread_number test_cpu test_memory test_guarded_memory test_allocation",
    "runtime/os_windows": "test_threads",
    "runtime/preference": "test_dispatch convolution_32f",
    "runtime/arena": "test_memory test_share",
    "runtime/error": "test_error test_init test_allocation",
    "runtime/statistic": "test_verbose",
    "runtime/text": "test_verbose test_error test_thread_number",
    "runtime/cpu": "test_cpu test_dispatch",
    "runtime/traits": "test_cpu test_dispatch",
    "dispatch/*": "test_dispatch test_cpu",
    "api/infrastructure": "test_init test_dispatch test_memory test_thread_number",
    "api/context": "test_context test_init",
    "api/packed": "test_share",
    "api/run_calls": "test_run_calls",
    "api/share": "test_share",
    "api/verbose": "test_verbose",
    "api/call": "test_verbose",
    "api/overlap": "test_overlap gemm_batch attention",
    "api/enums": "test_verbose gather activation",
    "api/forward": "forward test_context",
    "api/parameters": "pixels copy reduce forward",
    "api/arrays": "copy binary gather",
    "api/permute": "copy",
    "api/copy": "copy test_verbose",
    "api/pixelwise": "pixels",
    "api/add": "test_overlap add",
    "api/merged_convolution_32f": "merged_convolution_32f forward",
    "api/merged": "merged_convolution_32f merged_convolution_16b merged_convolution_8i quantized_merged_convolution",
    "api/inner_product": "inner_product_32f inner_product_16b",
    "api/gemm": "gemm gemm_batch",
    "api/attention": "attention",
    "ops/attention": "attention",
    "api/gemm_nbits": "gemm_nbits",
    "api/quantized_gemm": "quantized_gemm",
    "api/quantized_pooling": "quantized_pooling",
    "api/convolution": "test_overlap convolution_32f convolution_8i convolution_16b merged_convolution_32f",
    "isa/avx2/vec_avx2": "test_vec_lanes_avx2 test_vec_moves_avx2 test_vec_numbers_avx2 test_vec_16b_avx2"
    " test_vec_math_avx2 test_vec_memory_avx2",
    "isa/avx2/tiles_32f": "gemm_tile gemm",
    "isa/avx2/tiles_8i": "convolution_8i",
    "isa/avx2/tiles_16b": "convolution_16b",
    "kernels/vec_*": "test_vec_math_avx2 activation unary",
    "kernels/power": "binary",
    "kernels/depthwise/pairs*": "convolution_16b merged_convolution_16b",
    "kernels/depthwise/nhwc*": "convolution_32f convolution_16b deconvolution_32f merged_convolution_32f",
    "kernels/depthwise/*": "convolution_8i convolution_32f",
    "kernels/pooling/*": "pooling",
    "kernels/few_32f": "convolution_32f",
    "kernels/grouped_nhwc_32f": "convolution_32f",
    "kernels/gemm/8i": "convolution_8i",
    "kernels/gemm/16b": "convolution_16b",
    "kernels/convolution_16b": "convolution_16b inner_product_16b",
    "kernels/gemm/*": "gemm_tile gemm gemm_batch inner_product_32f convolution_32f",
    "kernels/result_8i": "convolution_8i",
    "kernels/default/dot_16b": "convolution_16b",
    "kernels/default/pairs_16b": "convolution_16b merged_convolution_16b",
    "kernels/default/collect": "resize grid_sample roi_align",
    "kernels/default/*": "convolution_8i",
    "kernels/winograd/8i": "convolution_8i",
    "kernels/winograd/*": "winograd convolution_32f",
    "kernels/add_8i": "add",
    "kernels/add_quantized": "quantized",
    "kernels/linear_8u": "affine quantized",
    "api/quantized_add": "quantized",
    "api/quantize_linear": "quantize_linear dynamic_quantize",
    "ops/bytes/quantize_linear": "quantize_linear dynamic_quantize",
    "kernels/quantize_linear": "quantize_linear dynamic_quantize",
    "reference/quantize_linear": "quantize_linear dynamic_quantize",
    "api/broadcast": "elementwise quantized_binary",
    "ops/elementwise/broadcast": "elementwise quantized_binary",
    "ops/elementwise/affine": "affine quantized",
    "ops/softmax": "softmax lines_16b",
    "ops/normalize": "normalize lines_16b",
    "ops/widened": "lines_16b",
    "ops/bytes/statistics": "convolution_8i affine",
    "kernels/pointwise": "activation unary vectors",
    "kernels/aligned": "activation eltwise channelwise",
    "kernels/quotient": "binary quantize_linear",
    "kernels/sums": "inner_product reduce",
    "kernels/activate*": "convolution_32f",
    "kernels/nbits*": "gemm_nbits",
    "kernels/layout": "layout copy",
    "kernels/lanes": "layout softmax lrn normalize channelwise",
    "kernels/transpose*": "layout shuffle normalize",
    "kernels/concat": "shuffle channelwise",
    "ops/gemm": "gemm gemm_batch",
    "ops/elementwise/pixelwise": "pixels",
    "ops/pad": "copy",
    "ops/packed_32f": "recurrent",
    "ops/recurrent_bytes": "test_packed recurrent_bytes recurrent",
    "ops/elementwise/pointwise": "activation unary vectors",
    "ops/convolution/dot*": "convolution_8i convolution_16b",
    "ops/convolution/depthwise_rows": "convolution_32f convolution_16b convolution_8i",
    "ops/convolution/tap_rows": "convolution_32f deconvolution_32f",
    "ops/convolution/phase*": "test_share deconvolution_32f convolution_32f",
    "ops/convolution/band": "convolution_32f convolution_8i convolution_16b deconvolution_32f",
    "ops/convolution/nhwc_band": "convolution_32f convolution_8i deconvolution_32f merged_convolution_32f",
    "ops/convolution/nchw_band": "convolution_32f deconvolution_32f",
    "ops/convolution/8i_flat": "convolution_8i forward",
    "ops/convolution/plan": "test_share convolution_32f convolution_8i convolution_16b deconvolution_32f",
    "ops/convolution/add": "forward",
    "ops/convolution/32f*": "convolution_32f",
    "ops/convolution/16b*": "convolution_16b merged_convolution_16b",
    "ops/convolution/8i*": "convolution_8i",
    "ops/convolution/deconvolution_16b": "deconvolution_16b forward",
    "ops/convolution/deconvolution*": "deconvolution_32f deconvolution_16b",
    "ops/convolution/merged_32f": "merged_convolution_32f",
    "ops/convolution/merged": "merged_convolution_32f merged_convolution_16b merged_convolution_8i",
    "ops/convolution/merged_dot": "merged_convolution_16b merged_convolution_8i forward",
    "ops/convolution/merged_quantized": "quantized_merged_convolution",
    "ops/convolution/quantized": "quantized_convolution quantized_inner_product quantized_merged_convolution",
    "ops/convolution/conversion_8i": "merged_convolution_8i",
}

#: The files of pytest that test a file in Python, for those that are not named like their family.
NEAREST_PYTHON = {
    "network/convert/fold*": "test_fold test_convert test_special test_onnx",
    "network/convert/embeddings": "test_embeddings test_onnx",
    "network/convert/attention": "test_microsoft test_convert test_passes test_onnx",
    "network/convert/windows": "test_max_pool test_fold test_convert test_convolutions test_opsets test_onnx",
    "network/convert/images": "test_convert test_resize_positions test_opsets test_onnx",
    "network/convert/result_shapes": "test_fold test_sizes test_open_sizes test_open_arrays test_convert",
    "network/convert/groups": "test_quantised_networks",
    "network/convert/tables": "test_tables",
    "network/convert/quantized*": "test_quantised test_quantised_networks",
    "network/quantize/*": "test_quantize_files test_quantize_modes test_quantize_ranges test_quantize_model",
    "network/convert/*": "test_convert test_microsoft test_special test_opsets test_fold test_supported test_onnx "
    "test_open_sizes",
    "network/passes/*": "test_passes test_layers test_special test_random",
    "network/files": "test_saved",
    "network/courses/carried": "test_course test_course_program",
    "network/courses/course": "test_course test_voice_models test_model_calls",
    "network/courses/control": "test_course test_sequences",
    "network/courses/host*": "test_host_operators test_sequences test_course",
    "network/courses/*": "test_course test_voice_models test_model_calls",
    "network/host": "test_host_operators test_sequences test_course",
    "network/in_place": "test_in_place test_open_memory",
    "network/open_*": "test_open_sizes test_open_arrays test_open_memory test_decoders test_models",
    "network/planning": "test_linear_planning",
    "network/prepared": "test_prepared",
    "network/image*": "test_images",
    "network/sizes": "test_sizes test_open_sizes",
    "network/model": "test_model_calls test_convert test_models test_course test_run_time test_open_program",
    "network/layouts": "test_convert test_passes test_layers test_networks test_random",
    "network/onnx_*": "test_source test_onnx",
    "network/saved": "test_saved test_prepared",
    "network/source": "test_source test_saved",
    "network/views": "test_resize_positions test_run_time test_layers",
    "network/mapped": "test_saved test_models",
    "network/reports/*": "test_models test_pages",
    "network/commands": "test_main test_models test_values test_course",
    "network/c/*": "test_program test_open_program test_program_files test_models",
    "network/*": "test_run_time test_passes test_layers test_packed_weights test_networks test_models test_random",
    "_arrays": "test_messages test_foreign_arrays test_refusals test_subclasses test_set_input test_add test_overlap",
    "_activation_params": "test_convolution test_activation",
    "_convolution": "test_convolution test_deconvolution test_signals",
    "_single_convolution": "test_convolution test_convolution_8i test_deconvolution",
    "_geometry": "test_messages test_pooling test_signals test_convolution test_layout",
    "_pixels": "test_pixels test_forward",
    "_foreign": "test_foreign_arrays",
    "_header": "test_lowlevel test_packaging",
    "_library": "test_lowlevel test_infrastructure test_packaging",
    "_deprecated": "test_names",
    "__init__": "test_lowlevel test_names",
    "inner_product": "test_inner_product test_linear",
    "__main__": "test_main test_models",
    "annotations": "test_types",
    "context": "test_contexts test_share",
    "calls": "test_prepare test_contexts test_models",
    "enums": "test_lowlevel test_convolution",
    "errors": "test_messages test_refusals",
    "models": "test_models",
    "merged_convolution": "test_merged_convolution test_contexts",
    "gemm": "test_gemm test_matmul test_prepare test_foreign_arrays",
    "resize": "test_resize test_resize_positions",
    "threadpools": "test_infrastructure test_prepare",
}


#: How many of the tests.
DEPTHS = ("nearest", "programs", "all")


class Tests(NamedTuple):
    """Tests that run one after the other: the targets of make that they need, and their commands."""

    targets: Sequence[str]
    commands: Sequence[str]
    seconds: int  # see failure_of()
    keep: Sequence[str] = ()  # what is not built again


def main() -> int:
    options = read_options()
    if options.step in ("report", "keep"):
        return report() if options.step == "report" else keep()
    chosen = [m for m in all_mutants() if options.only in f"{m.file} {m.old}"]
    index, count = options.part
    chosen = sorted(chosen, key=lambda m: m.key)[index - 1 :: count][: options.most]
    if options.step == "list":
        for mutant in chosen:
            print(described(mutant))
        return 0
    prepare(all(mutants.is_python(mutant.file) for mutant in chosen))
    for mutant in chosen:
        depth = "nearest" if is_listed(mutant) else options.depth
        before = result_of(mutant)
        survived = before is not None and before["caught_by"] is None
        if before is None or (survived and (options.again or DEPTHS.index(before["depth"]) < DEPTHS.index(depth))):
            result = {**attempt(mutant, stages_of(mutant, depth)), "depth": depth, "commit": commit()}
            require_pass(result["caught_by"])
            write_result(mutant, result)
            print(f"{result['caught_by'] or 'SURVIVED'} ({result['seconds']:.0f} s): {described(mutant)}", flush=True)
    return 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m scorecard.mutation", description=__doc__)
    parser.add_argument("step", choices=("run", "list", "report", "keep"))
    parser.add_argument("--part", type=part, default=(1, 1), metavar="I/N", help="of the faults")
    parser.add_argument("--most", type=int, metavar="N", help="N faults only")
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose file or line contains it")
    parser.add_argument(
        "--depth", choices=DEPTHS, default="all", help="which tests; programs: all but make check and pytest"
    )
    parser.add_argument("--again", action="store_true", help="also those that survived on this commit, or are listed")
    return parser.parse_args()


def part(text: str) -> tuple[int, int]:
    index, count = text.split("/")
    return int(index), int(count)


def all_mutants() -> list[Mutant]:
    return [*mutants.drawn(), *mutants.hand()]


def described(mutant: Mutant) -> str:
    lines = [f"{mutant.file}: {mutant.kind}", *("- " + t.strip() for t in mutant.old.splitlines())]
    return "\n".join(lines + ["+ " + t.strip() for t in mutant.new.splitlines() if t.strip()]) + "\n"


# ---- results


def content_key(mutant: Mutant) -> str:
    """The function around the fault, without and with it: a result holds until that function is changed."""
    return mutants.digest("\n".join(mutants.in_its_function(mutant)))


def result_of(mutant: Mutant) -> dict[str, Any] | None:
    """What the tests said before, if that still holds."""
    key = content_key(mutant)
    file = RESULTS / f"{key}.json"
    if not file.exists():
        test = kept().get(key)
        return {"caught_by": test, "seconds": 0, "depth": "nearest"} if test or is_listed(mutant) else None
    result: dict[str, Any] = json.loads(file.read_text())
    return result if result["caught_by"] or is_listed(mutant) or result["commit"] == commit() else None


@functools.cache
def kept() -> dict[str, str]:
    lines = CAUGHT.read_text().splitlines() if CAUGHT.exists() else []
    return {key: test for key, _, test in (line.partition(" ") for line in lines)}


def keep() -> int:
    """Those whose functions have changed are left out, and so are faults that change no code: elsewhere they may."""
    results = [(content_key(mutant), result_of(mutant)) for mutant in all_mutants()]
    caught = {key: str(r["caught_by"]) for key, r in results if r and r["caught_by"] not in (None, SAME, NOT_C)}
    tests = {key: re.sub(r"\S+/\.venv/", ".venv/", test) for key, test in caught.items()}  # wherever the checkout was
    CAUGHT.write_text("".join(f"{key} {test}\n" for key, test in sorted(tests.items())))
    print(f"{len(caught)} of {len(results)} faults were caught")
    return 0


def write_result(mutant: Mutant, result: dict[str, Any]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{content_key(mutant)}.json").write_text(json.dumps({**result, "mutant": described(mutant)}, indent=1))


def commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def is_equivalent(mutant: Mutant) -> bool:
    return change_of(mutant) in changes_in(mutants.EQUIVALENT)


def is_known(mutant: Mutant) -> bool:
    """As a survivor."""
    return change_of(mutant) in changes_in(mutants.SURVIVORS)


def is_listed(mutant: Mutant) -> bool:
    return is_equivalent(mutant) or is_known(mutant)


def change_of(mutant: Mutant) -> tuple[str, str, str]:
    def trimmed(text: str) -> str:
        return "\n".join(line.strip() for line in text.splitlines() if line.strip())

    return mutant.file, trimmed(mutant.old), trimmed(mutant.new)


@functools.cache
def changes_in(listed: pathlib.Path) -> set[tuple[str, str, str]]:
    return {(entry.file, entry.old, entry.new) for entry in mutants.entries(listed.read_text())}


def report() -> int:
    """The survivors, the tests that caught others, and the counts. Faults that change nothing do not count."""
    results = [(mutant, result_of(mutant)) for mutant in all_mutants()]
    tried = [(mutant, result) for mutant, result in results if result]
    by_test = Counter(str(result["caught_by"]) for _, result in tried)
    survivors = [(mutant, result) for mutant, result in tried if result["caught_by"] is None]
    real = [(mutant, result) for mutant, result in survivors if not is_equivalent(mutant)]
    counted = [mutant for mutant, result in tried if result["caught_by"] not in (None, SAME, NOT_C)] + [m for m, _ in real]
    for mutant, result in real:
        print(f"SURVIVED {result['depth']}: {described(mutant)}")
    for what, number in by_test.most_common():
        print(f"{number:5} {what}")
    counts: dict[str, float] = {
        "equivalent": len(survivors) - len(real),
        "same_code": by_test[SAME],
        "not_c": by_test[NOT_C],
        "not_tried": len(results) - len(tried),
    }
    for prefix, language in (("", False), ("python_", True)):
        faults = [m for m in counted if mutants.is_python(m.file) == language]
        alive = [m for m, _ in real if mutants.is_python(m.file) == language]
        counts[f"{prefix}mutants"] = len(faults)
        counts[f"{prefix}by_hand"] = sum(mutant.kind == "hand" for mutant in faults)
        counts[f"{prefix}survived"] = len(alive)
        counts[f"least_{prefix}caught_percent"] = round(100 * (1 - len(alive) / max(1, len(faults))), 1)
    print_counts(**counts)
    return 0


# ---- the copy of the checkout, and of its build

SAME, NOT_C = "same machine code", "does not compile"
NO_TESTS = 5  # the exit status of pytest where all are skipped
ROOT = pathlib.Path.cwd()
PRISTINE = STATE / "pristine"
PYTEST = f"{ROOT}/.venv/bin/python -m pytest -x -p no:cacheprovider"


def prepare(only_python: bool) -> None:
    """The copy begins with the objects of this checkout's build, if that is not older, so that little is compiled.

    only_python : the programs of the tests in C are not built.
    """
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True).stdout.decode().split("\0")
    first = not TREE.exists()
    for path in [] if first else TREE.rglob("*.[ch]"):  # a source that has moved would be compiled at both places
        name = str(path.relative_to(TREE))
        if not name.startswith("build/") and name not in listed:
            path.unlink()
    for name in filter(None, listed):
        source, copy = pathlib.Path(name), TREE / name
        if source.exists() and (not copy.exists() or copy.read_bytes() != source.read_bytes()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
            if not first:
                copy.touch()
    if first and pathlib.Path(BUILD).exists():
        (TREE / "build").mkdir()
        subprocess.run(["cp", "-Rp", BUILD, str(TREE / BUILD)], check=True)
    if not (TREE / ".git").exists():
        subprocess.run(["git", "init", "-q", str(TREE)], check=True)  # for tests that ask git for the names of files
    built = make(["all"] if only_python else ["all", f"{BUILD}/tests/check", *all_programs()])
    if built.returncode:
        raise SystemExit("the sources without a fault do not build: " + built.stderr[-2000:])
    shutil.rmtree(PRISTINE, ignore_errors=True)
    subprocess.run(["cp", "-Rp", str(TREE / BUILD), str(PRISTINE)], check=True)


def make(targets: Sequence[str], keep: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """All levels, as some tests expect. Files to keep are not built again, although what they depend on has changed."""
    old = [word for name in keep for word in ("-o", name)]
    command = ["make", f"-j{processors()}", *old, *targets]
    return subprocess.run(command, cwd=TREE, capture_output=True, text=True, env=environment(), check=False)


def processors() -> int:
    """How many processes may run at once; JOBS=1 in the environment leaves the other processors to others."""
    return int(os.environ.get("JOBS", len(os.sched_getaffinity(0))))


def environment() -> dict[str, str]:
    left_out = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONPATH")
    kept = {key: value for key, value in os.environ.items() if key not in left_out}
    library = str(TREE / BUILD / "libsimdnet.so")
    return {**kept, "SIMDNET_LIBRARY": library, "PYTHONPATH": str(TREE), "PYTHONDONTWRITEBYTECODE": "1"}


@contextlib.contextmanager
def changed(mutant: Mutant) -> Iterator[None]:
    """The copy has the fault; afterwards sources and build are what they were, with their times."""
    original, copy = ROOT / mutant.file, TREE / mutant.file
    source, times = original.read_bytes(), copy.stat()
    copy.write_bytes(source[: mutant.begin] + mutant.text.encode() + source[mutant.end :])
    try:
        yield
    finally:
        copy.write_bytes(source)
        os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
        for file in different():
            if (PRISTINE / file).exists():
                shutil.copy2(PRISTINE / file, TREE / BUILD / file)
            else:
                (TREE / BUILD / file).unlink()


def different() -> list[pathlib.Path]:
    """The files of the build that the last makes have written."""
    files = [path for path in (TREE / BUILD).rglob("*") if path.is_file() and not path.is_symlink()]
    names = [path.relative_to(TREE / BUILD) for path in files]
    return [n for n in names if not (PRISTINE / n).exists() or time_of(PRISTINE / n) != time_of(TREE / BUILD / n)]


def time_of(file: pathlib.Path) -> int:
    return file.stat().st_mtime_ns


def same_code() -> bool:
    """Whether all objects that were compiled again are the same as without the fault, but for debug information."""
    objects = [name for name in different() if name.suffix == ".o" and name.parts[0] == "obj"]
    return all(code_of(PRISTINE / name) == code_of(TREE / BUILD / name) for name in objects)


def code_of(file: pathlib.Path) -> bytes:
    stripped = STATE / "stripped.o"
    subprocess.run(["objcopy", "--strip-debug", str(file), str(stripped)], check=True)
    return stripped.read_bytes()


# ---- tests


def all_programs() -> list[str]:
    return [f"{BUILD}/tests/{name}" for name in c_tests.programs(LEVELS.split())]


def stages_of(mutant: Mutant, depth: str) -> list[Tests]:
    """The nearest tests first."""
    if mutants.is_python(mutant.file):
        nearest_python = [Tests([], near_in_python(mutant.file), ALL_SECONDS)]
        return nearest_python + ([Tests([], [all_in_python()], LONG_SECONDS)] if depth == "all" else [])
    checker = f"{BUILD}/tests/check"
    stages = nearest(mutant.file)
    if depth == "nearest":
        return stages
    stages.append(Tests([checker], [CHECK, f"{CHECK} --threads 5"], ALL_SECONDS))
    stages.append(Tests(all_programs(), all_programs(), ALL_SECONDS))
    if depth == "all":
        stages += [Tests(["all"], [command], LONG_SECONDS) for command in (MAKE_CHECK, all_in_python())]
    return stages


def all_in_python() -> str:
    return f"{PYTEST} -n {processors()} --dist loadfile"


def near_in_python(file: str) -> list[str]:
    """On one instruction set: what a fault in Python breaks is rarely that of one alone. Then those of models on all."""
    path = pathlib.PurePath(file).relative_to("pysimd").with_suffix("")
    named = next((names for pattern, names in NEAREST_PYTHON.items() if fnmatch.fnmatchcase(str(path), pattern)), None)
    names = (named or f"test_{path.name.lstrip('_')}").split()
    found = [str(file.relative_to(ROOT)) for name in names for file in sorted((ROOT / "tests").rglob(f"{name}.py"))]
    others = LEVELS.replace("avx2", "").split()
    one_level = " and ".join(f"not {level}" for level in ("base", *others))
    return [f"{PYTEST} -k '{one_level}' {name}" for name in found]


def nearest(file: str) -> list[Tests]:
    """Of the vocabulary, which most kernels include, only the tests are compiled; of kernels, at first those of AVX2. A
    sample of the cases comes before all of them."""
    path = pathlib.PurePath(file).relative_to("libsrc").with_suffix("")
    named = next((names.split() for pattern, names in NEAREST.items() if fnmatch.fnmatchcase(str(path), pattern)), None)
    if named is None:
        named = sorted((name for name in c_tests.families() if path.name.startswith(name)), key=len)[-1:]
    programs = [f"{BUILD}/tests/{name}" for name in named if name.startswith("test_")]
    keep = [f"{BUILD}/internal.a"] if any(name.startswith("test_vec") for name in named) else []
    commands = [f"{CHECK} --test {name}" for name in named if not name.startswith("test_")]
    refusals = ["tests/test_refusals.py"] if path.parent.name == "api" else []
    stems = [name.removeprefix("test_") for name in named]
    files = {f"tests/test_{stem.removesuffix(suffix)}.py" for stem in stems for suffix in ("", "_32f")}
    in_python = [f"{PYTEST} {name}" for name in [*sorted(files), *refusals] if (ROOT / name).exists()]
    others = kernels_of_others() if path.parts[0] == "kernels" else []
    sample = [f"{command} --every 8" + (" --isa avx2" if others else "") for command in commands]
    stages = [
        Tests(programs, programs, NEAR_SECONDS, keep),
        Tests([f"{BUILD}/tests/check"], sample, SAMPLE_SECONDS, others),
        Tests([f"{BUILD}/tests/check"], commands, NEAR_SECONDS),
        Tests([f"{BUILD}/libsimdnet.so"], in_python, ALL_SECONDS),
    ]
    return [tests for tests in stages if tests.commands]


def kernels_of_others() -> list[str]:
    """The objects of levels other than AVX2."""
    return [str(file) for file in pathlib.Path(BUILD).glob("obj/*/kernels/**/*.o") if "/avx2/" not in str(file)]


def attempt(mutant: Mutant, stages: Sequence[Tests]) -> dict[str, Any]:
    """Which test catches a fault: None if none does."""
    begin = time.monotonic()
    compared = mutants.is_python(mutant.file)
    with changed(mutant):
        for tests in stages:
            if tests.targets:
                built = make(tests.targets, tests.keep)
                if built.returncode:
                    return {"caught_by": NOT_C, "seconds": time.monotonic() - begin, "output": built.stderr[-2000:]}
                if not tests.keep and not compared and same_code():
                    return {"caught_by": SAME, "seconds": time.monotonic() - begin}
                compared = compared or not tests.keep
            for command in tests.commands:
                failure = failure_of(command, tests.seconds)
                if failure is not None:
                    return {"caught_by": command, "seconds": time.monotonic() - begin, "output": failure}
    return {"caught_by": None, "seconds": time.monotonic() - begin}


def require_pass(command: str | None) -> None:
    """A test that also fails without a fault has caught none, and must be mended first. Each is tried once for a commit."""
    passed_file = STATE / "passed.json"
    passed: dict[str, str] = json.loads(passed_file.read_text()) if passed_file.exists() else {}
    if command in (None, SAME, NOT_C) or passed.get(str(command)) == commit():
        return
    failure = failure_of(str(command), LONG_SECONDS)
    if failure is not None:
        raise SystemExit(f"without a fault, this fails: {command}\n{failure}")
    passed_file.write_text(json.dumps({**passed, str(command): commit()}, indent=1))


def failure_of(command: str, seconds: int) -> str | None:
    """The end of the output of a command that fails, or that needs too much time or memory."""
    output = STATE / "output.txt"
    with open(output, "wb") as file:
        process = subprocess.Popen(
            shlex.split(command), cwd=TREE, env=environment(), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            preexec_fn=no_core, start_new_session=True,
        )  # fmt: skip
        used, memory, since = 0.0, 0, time.monotonic()
        while process.poll() is None and used < seconds and memory < MEMORY and time.monotonic() - since < IDLE:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
            before, (used, memory) = used, usage_of(process.pid)
            since = since if used == before else time.monotonic()
        status = -signal.SIGKILL if process.poll() is None else process.returncode
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # children that a fault has left
        process.wait()
    passed = status in (0, NO_TESTS)
    return None if passed else f"exit status {status}\n" + output.read_text(errors="replace")[-2000:]


def no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def usage_of(session: int) -> tuple[float, int]:
    """Seconds of processor time of the processes of a session, and bytes of memory that they use. The time does not grow if
    all wait, however busy the machine is. Limits of the system would forbid AddressSanitizer, which reserves terabytes of
    addresses, and did not end threads that spin in calls of the system."""
    ticks = pages = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += int(fields[11]) + int(fields[12])
                pages += int(fields[21])
    return ticks / os.sysconf("SC_CLK_TCK"), pages * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main())
