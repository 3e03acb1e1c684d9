"""Models in 8 bits, made by pysimd, beside their floats and beside peers: times and errors, as rows of tables.

    PYTHONPATH=.:tests python -m bench.quantised MODEL... [--samples FILE.npz] [--all] [--method mse] [--held 600]

A model is an ONNX file of `make models`, by whose name samples are drawn, or another one with --samples: a file with an
array of samples of its only input, one after the other along the first dimension. Errors are measured on other samples that
are drawn, 60 of them, or on every fifth one of the file, which pysimd.quantize_model holds back. The largest error is that
of one sample: compare it on many, with --held, where a model is fast.

Times are the least CPU time of many runs on one thread, which alternate: of the float model, and of the file that pysimd
made, in pysimd, ONNX Runtime and OpenVINO (those that are installed). Errors are those of the outputs, relative to the float
model: of that file, and of the one that ONNX Runtime's quantiser makes from the same samples (products only, per channel,
least to largest value). The ratio of signal to noise is that of all samples, and of the median one in brackets.

With --pairs: the times of pysimd for files of that quantiser with each pair of types of bytes, relative to uint8 for images
and int8 for weights.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pysimd
from pysimd.annotations import Array

Sample = Mapping[str, Array]
Run = Callable[[Sample], list[Any]]
ROUNDS, SAMPLES, HELD_BACK = 20, 40, 60


class Errors(NamedTuple):
    """Of outputs: the largest difference, and the ratio of signal to noise in decibels, of all samples and of the median."""

    largest: float
    ratio: float
    median: float


def ours(model: Any, sample: Sample) -> Run:
    """A model on one thread."""
    run, outputs = model.prepare({name: x.shape for name, x in sample.items()}), list(model.outputs)
    return lambda x: [found[each] for found in [run(x)] for each in outputs]


def of_onnx_runtime(model: str | bytes) -> Run:
    """ONNX Runtime on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda x: list(session.run(None, dict(x)))


def of_openvino(model: str | bytes, sample: Sample) -> Run:
    """OpenVINO on one thread, with float32 where there are floats."""
    import openvino

    core = openvino.Core()
    read = core.read_model(model=model)
    read.reshape({name: list(x.shape) for name, x in sample.items()})
    options = {
        "INFERENCE_NUM_THREADS": 1,
        "INFERENCE_PRECISION_HINT": "f32",
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
    }
    request = core.compile_model(read, "CPU", options).create_infer_request()
    return lambda x: list(request.infer(dict(x), share_inputs=True).values())


def times(runs: Mapping[str, Run], x: Sample, rounds: int = ROUNDS) -> dict[str, float]:
    """Milliseconds of each, the least of many."""
    least = dict.fromkeys(runs, np.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            begin = time.process_time()
            run(x)
            least[name] = min(least[name], time.process_time() - begin)
    return {name: 1000 * seconds for name, seconds in least.items()}


def errors(run: Run, expected: Run, given: Sequence[Sample]) -> Errors:
    """Of the outputs that are floats."""
    largest, signal, noise = 0.0, [0.0] * len(given), [0.0] * len(given)
    for i, x in enumerate(given):
        for one, other in zip(expected(x), run(x)):
            if one.dtype.kind != "f" or not one.size:
                continue
            apart = other.astype(np.float64) - one
            largest = max(largest, float(abs(apart).max()))
            signal[i] += float((one.astype(np.float64) ** 2).sum())
            noise[i] += float((apart**2).sum())
    each = [decibels(a, b) for a, b in zip(signal, noise)]
    return Errors(largest, decibels(sum(signal), sum(noise)), float(np.median(each)))


def decibels(signal: float, noise: float) -> float:
    """The ratio of signal to noise."""
    return float(10 * np.log10(signal / noise)) if noise and signal else np.inf


def by_onnx_runtime(path: str, samples: Sequence[Sample], folder: Path, weights: str = "QInt8") -> str:
    """The file that ONNX Runtime's quantiser makes: QDQ of products, per channel, by minimum and maximum."""
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static, shape_inference

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = iter([dict(x) for x in samples])

        def get_next(self) -> Any:
            return next(self.left, None)

    model = onnx.load(path)
    if next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx")) < 13:
        model = onnx.version_converter.convert_version(model, 13)
        model.ir_version = max(model.ir_version, 8)
    files = [str(folder / f"{step}.onnx") for step in ("converted", "prepared", "quantised")]
    onnx.save(model, files[0])
    try:
        shape_inference.quant_pre_process(files[0], files[1], skip_symbolic_shape=True)
    except Exception:
        files[1] = files[0]
    options = {"per_channel": True, "activation_type": QuantType.QUInt8, "weight_type": QuantType[weights]}
    products = ["Conv", "MatMul", "Gemm"]
    quantize_static(files[1], files[2], Reader(), QuantFormat.QDQ, op_types_to_quantize=products, **options)
    return files[2]


def with_signs(path: str) -> bytes:
    """A file of bytes without a sign for images, with int8 in place of these: the same values."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    zeros = {node.input[2] for node in model.graph.node if node.op_type == "QuantizeLinear"}
    for tensor in model.graph.initializer:
        if tensor.name in zeros:
            zero = numpy_helper.to_array(tensor).astype(np.int32) - 128
            tensor.CopyFrom(numpy_helper.from_array(zero.astype(np.int8), tensor.name))
    del model.graph.value_info[:]
    return bytes(model.SerializeToString())


def compare_pairs(path: str, samples: Sequence[Sample], folder: Path) -> None:
    """Prints the times of each pair of types."""
    runs: dict[str, Run] = {}
    for weights in ("QInt8", "QUInt8"):
        made = by_onnx_runtime(path, samples, folder, weights)
        for images, model in (("uint8", Path(made).read_bytes()), ("int8", with_signs(made))):
            runs[f"{images} x {weights[1:].lower()}"] = ours(pysimd.load(model), samples[0])
    found = times(runs, samples[0], 10 * ROUNDS)
    least = found["uint8 x int8"]
    print(f"{Path(path).stem}: " + ", ".join(f"{name} {ms / least:.3f}" for name, ms in found.items()), flush=True)


def peers(path: str, made: bytes, sample: Sample) -> dict[str, Run]:
    """The float model and the one of 8 bits in other libraries that are installed and run it."""
    found: dict[str, Run] = {}
    makers: tuple[tuple[str, Callable[[str | bytes], Run]], ...] = (
        ("ONNX Runtime", of_onnx_runtime),
        ("OpenVINO", lambda model: of_openvino(model, sample)),
    )
    for name, maker in makers:
        for what, model in (("float", path), ("8 bits", made)):
            try:
                found[f"{name}, {what}"] = run = maker(model)
                run(sample)
            except Exception as error:
                found.pop(f"{name}, {what}", None)
                print(f"  {name} does not run the model of {what}: {str(error).strip().splitlines()[-1][:150]}")
    return found


def measured(path: str, samples: Sequence[Sample], held: Sequence[Sample], options: Mapping[str, Any], folder: Path) -> None:
    """Prints what is found for a model. held : the samples on which errors are measured."""
    begin = time.process_time()
    made = pysimd.quantize_model(path, samples, **options)
    seconds = time.process_time() - begin
    runs = {"float": ours(pysimd.load(path), samples[0]), "8 bits": ours(made.load(), samples[0])}
    used = [x for i, x in enumerate(samples) if i % 5 != 4]
    more = peers(path, made.data, samples[0])
    print(f"{Path(path).stem}: made in {seconds:.1f} s, {len(made.products)} products, in float {len(made.kept)}")
    found = times({**runs, **more}, samples[0])
    print("  ms: " + ", ".join(f"{name} {ms:.3g}" for name, ms in found.items()))
    best = min((ms for name, ms in found.items() if name in more and "8 bits" in name), default=np.nan)
    print(
        f"  8 bits: {found['float'] / found['8 bits']:.2f} times our float, {best / found['8 bits']:.2f} times the best peer"
    )
    told = {"8 bits": errors(runs["8 bits"], runs["float"], held)}
    try:
        other = of_onnx_runtime(by_onnx_runtime(path, used, folder))
        told["made by ONNX Runtime"] = errors(other, of_onnx_runtime(path), held)
    except Exception as error:
        print(f"  ONNX Runtime's quantiser: {str(error).strip().splitlines()[-1][:150]}")
    for name, (largest, ratio, median) in told.items():
        print(f"  {name}: largest error {largest:.4g}, {ratio:.1f} dB ({median:.1f})", flush=True)


def main() -> None:
    """Prints the rows."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--samples", metavar="FILE.npz", help="of the only input, in place of those that are drawn")
    parser.add_argument("--count", type=int, default=SAMPLES, help=f"of samples that are drawn (default: {SAMPLES})")
    parser.add_argument("--held", type=int, default=HELD_BACK, help=f"the number of others (default: {HELD_BACK})")
    parser.add_argument("--all", action="store_true", help="also what loses most, which is kept in float otherwise")
    parser.add_argument("--method", default="minmax")
    parser.add_argument("--pairs", action="store_true", help="only the times of all pairs of types of bytes")
    given = parser.parse_args()
    options = {"method": given.method, "keep_float": () if given.all else "auto"}
    for path in given.models:
        inputs = list(pysimd.load(path).inputs)
        if given.samples:
            (every,) = np.load(given.samples).values()
            samples: list[Any] = [{inputs[0]: np.ascontiguousarray(every[i : i + 1])} for i in range(len(every))]
            held = samples[4::5]
        else:
            from bench.quantised_samples import samples_of

            samples = samples_of(Path(path).stem, inputs, given.count + given.held)
            samples, held = samples[: given.count], samples[given.count :]
        try:
            with tempfile.TemporaryDirectory() as folder:
                if given.pairs:
                    compare_pairs(path, samples[:4], Path(folder))
                    continue
                measured(path, samples, held, options, Path(folder))
        except ValueError as error:
            print(f"{Path(path).stem}: {str(error).splitlines()[0][:200]}", flush=True)


if __name__ == "__main__":
    main()
