"""Command line: ``python -m bench``."""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pysimd
from bench import compare, machine, older, pages, report, runner, transformers
from bench.cases import CASES, FUNCTIONS, Case, of_networks
from bench.models import MODELS
from bench.onnx_files import PEERS as FILE_PEERS
from bench.onnx_files import table as onnx_table
from bench.peers import NAMES, workers
from bench.progress import Progress
from bench.runner import Result
from bench.sweep import draw
from bench.sweep import table as sweep_table
from bench.whole import PEERS, USUAL, steps, table


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of at least 1")
    return int(text)


def _threads(text: str) -> list[int]:
    counts = _counts(text)
    with pysimd.num_threads(max(counts)) as most:
        if most < max(counts):
            raise argparse.ArgumentTypeError(f"{max(counts)} is more than the {most} processors that this process may use")
    return counts


def _part(text: str) -> tuple[int, int]:
    """ "I/N" """
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and int(number) < int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is no I/N with I below N")
    return int(number), int(parts)


def _counts(text: str) -> list[int]:
    return sorted({_count(part) for part in text.split(",")})


def _path(text: str) -> Path:
    if not Path(text).exists():
        raise argparse.ArgumentTypeError(f"there is no {text}")
    return Path(text)


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    """ "NAME:N,N" """
    name, _, sizes = text.rpartition(":")
    if not name:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME:N,N")
    return name, tuple(_count(size) for size in sizes.split(","))


def _figures(text: str) -> dict[str, Any]:
    """The figures that ``--json`` wrote to this file."""
    try:
        found: Any = json.loads(Path(text).read_text())
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {error.strerror}") from None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no JSON") from None
    machine_then = found.get("machine") if isinstance(found, dict) and "command" in found else None
    if not isinstance(machine_then, dict) or not {"cpu", "date"} <= machine_then.keys():
        raise argparse.ArgumentTypeError(f"{text} is none of the files that --json writes")
    if not any(found.get(kind) for kind in _KINDS):
        raise argparse.ArgumentTypeError(f"{text} has no rows")
    return dict(found)


_KINDS = ("results", "networks", "steps", "models")  # the tables of a file

# For each mode, the options that have an effect (_OF_USE), or that have none (_IDLE).
_OF_USE = {"compare": {"compare"}, "load": {"load", "functions", "transformers", "keep", "markdown", "plots", "html"}}
_IDLE = {
    "whole": {"functions", "only", "layout", "cold", "part"},
    "steps": {"functions", "only", "layout", "cold", "part"},
    "functions": {"network"},
    "onnx": {"functions", "only", "layout", "cold", "part", "network", "isa", "all_levels", "whole", "steps"},
    "transformers": {
        "functions",
        "only",
        "layout",
        "cold",
        "part",
        "network",
        "isa",
        "all_levels",
        "whole",
        "steps",
        "onnx",
        "batch",
    },
    "sweep": {"functions", "layout", "cold", "part", "network", "batch", "whole", "steps", "onnx", "keep"},
}
# The options that are of use only with one of these modes.
_ONLY_WITH = {
    "shape": ("onnx",),
    "seconds": ("onnx", "transformers"),
    "installed": ("onnx", "transformers"),
    "resume": ("onnx", "transformers", "sweep"),
    "count": ("sweep",),
    "seed": ("sweep",),
}
_OF_MAKE = {"json", "peers"}  # passed by `make bench` itself


def _is_given(arguments: argparse.Namespace) -> Callable[[str], bool]:
    """Tells of a mode whether it is asked for; "" is a word that all names contain."""
    return lambda mode: getattr(arguments, mode) not in (None, False, [])


def _arguments(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line. Refuses options without effect, and words that match no case."""
    arguments = parser.parse_args(argv)
    given = {name for name, value in vars(arguments).items() if value != parser.get_default(name)}
    idle = {mode: given - of_use - _OF_MAKE for mode, of_use in _OF_USE.items()}
    for mode, options in {**idle, **{mode: given & options for mode, options in _IDLE.items()}}.items():
        if mode in given and options:
            parser.error(f"--{mode} has no use for {', '.join(sorted('--' + name.replace('_', '-') for name in options))}")
    timed = any(map(_is_given(arguments), ("whole", "steps", "onnx", "transformers", "sweep")))
    if arguments.batch != [1] and not (timed or arguments.compare or arguments.load):
        parser.error("--batch is of use only with --whole, --steps or --onnx")
    for name in sorted(given & _ONLY_WITH.keys()):
        if not any(map(_is_given(arguments), _ONLY_WITH[name])):
            parser.error(f"--{name} is of use only with {' or '.join('--' + mode for mode in _ONLY_WITH[name])}")
    if arguments.resume and not arguments.json:
        parser.error("--resume needs --json, the file whose rows are not timed again")
    if arguments.sweep and not all(word.isdecimal() for word in arguments.only or ()):
        parser.error("with --sweep, --only takes the index of a layer")
    if not (arguments.compare or arguments.load or timed):
        for words in arguments.only or [""]:
            if not _cases(arguments, [words]):
                layout = f" and layout {arguments.layout}" if arguments.layout else ""
                families = ", ".join(sorted({case.family for case in _named(arguments)}))
                parser.error(f"no case has the words {words!r}{layout}; the families are {families}")
    return arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description="Times layers as fractions of the machine's limits.")
    what = parser.add_argument_group("what is timed")
    what.add_argument("--whole", action="store_true", help="whole networks, from image to result, in place of layers")
    what.add_argument("--steps", action="store_true", help="whole networks step by step: in the network, alone, the bound")
    what.add_argument("--onnx", type=_path, nargs="+", metavar="PATH", help="models: ONNX files, and those of folders")
    what.add_argument(
        "--transformers",
        nargs="?",
        const="",
        metavar="WORD",
        help="transformers and graph networks with random weights; those whose names contain a word",
    )
    what.add_argument("--sweep", action="store_true", help="layers drawn at random, beside ONNX Runtime and OpenVINO")
    what.add_argument("--count", type=_count, default=300, help="of layers drawn at random (default 300)")
    what.add_argument("--seed", type=int, default=1, help="of layers drawn at random (default 1)")
    what.add_argument("--cold", action="store_true", help="each layer also cold, after other data went through the caches")
    what.add_argument(
        "--network",
        action="append",
        choices=["all", *MODELS],
        help="the layers of a network, or of all, in place of the short table; may be repeated",
    )
    what.add_argument(
        "--functions",
        action="store_true",
        help="functions named by operators of ONNX, whose tables have a page of their own",
    )
    what.add_argument(
        "--only",
        action="append",
        metavar="WORDS",
        help="cases that have these words, whole and in this order, in family, layer and layout; with --sweep, the layer "
        "of this index, which is timed again with --resume; may be repeated",
    )
    what.add_argument("--part", type=_part, default=(0, 1), metavar="I/N", help="the Ith of N parts of the table, from 0")
    what.add_argument("--layout", choices=["nhwc", "nchw"], help="cases of this layout")
    what.add_argument(
        "--isa",
        action="append",
        choices=runner.isa_levels(),
        help="a level, may be repeated; default: those with kernels of their own",
    )
    what.add_argument("--all-levels", action="store_true", help="every level of this machine, or up to SIMDNET_MAX_ISA")
    what.add_argument(
        "--cpu", choices=older.LEVELS, default="", help="newer instructions are hidden, also from peers: see bench/older.py"
    )
    what.add_argument("--threads", type=_threads, default=[1], metavar="N,N", help="numbers of threads (default 1)")
    what.add_argument("--batch", type=_counts, default=[1], metavar="N,N", help="images in a batch of networks and models")
    what.add_argument("--peers", action="store_true", help="other libraries beside, on the newest level")
    what.add_argument("--rounds", type=_count, default=9, help="samples of each case (default 9)")
    what.add_argument(
        "--shape",
        type=_shape,
        action="append",
        default=[],
        metavar="NAME:N,N",
        help="of an input of an ONNX file whose dimensions are open, by its name or the file's; may be repeated",
    )
    what.add_argument("--seconds", type=_count, default=3, help="for a row of ONNX files, after two rounds (default 3)")
    what.add_argument(
        "--installed", metavar="PYTHON", default="", help="of an environment with the package, for first answers"
    )
    written = parser.add_argument_group("what is written")
    written.add_argument("--json", type=Path, metavar="FILE", help="all figures, with the machine they were taken on")
    written.add_argument("--resume", action="store_true", help="with --onnx, --sweep: rows that the JSON file has are kept")
    written.add_argument("--markdown", type=Path, metavar="FILE", help="the table as a page of Markdown")
    written.add_argument("--keep", type=Path, metavar="FOLDER", help="both, named by the processor")
    written.add_argument("--plots", type=Path, metavar="FOLDER", help="pictures as PNG; needs matplotlib")
    written.add_argument("--html", type=Path, metavar="FILE", help="one page with tables and pictures; needs matplotlib")
    files = parser.add_argument_group("from files, nothing is timed")
    files.add_argument(
        "--load",
        type=_figures,
        nargs="+",
        metavar="FILE",
        help="pictures and page of the figures in these files, and the table of networks",
    )
    files.add_argument(
        "--compare",
        type=_figures,
        nargs=2,
        metavar="FILE",
        help="prints what changed from first to second, beyond noise",
    )
    return parser


def _levels(arguments: argparse.Namespace) -> list[str]:
    levels = runner.isa_levels()
    if arguments.isa:
        return list(dict.fromkeys(arguments.isa))
    if arguments.all_levels:
        return levels
    useful = [level for level in levels if level != "base"] or levels  # base is the reference, and not optimised
    newest = arguments.peers or arguments.whole or arguments.steps or arguments.sweep
    return [pysimd.active_isa()] if newest else useful


def _named(arguments: argparse.Namespace) -> list[Case]:
    """The layers of the networks given by name, the functions, or the short table."""
    if arguments.functions:
        return FUNCTIONS
    names = list(MODELS) if "all" in (arguments.network or ()) else arguments.network
    return of_networks(names) if names else CASES


def _cases(arguments: argparse.Namespace, only: Sequence[str]) -> list[Case]:
    """The cases that contain one of the texts of `only` as whole words; of these, the part."""
    layouts = (arguments.layout, "-") if arguments.layout else ()
    number, parts = arguments.part
    found = [
        case
        for case in _named(arguments)
        if any(_spaced(words) in _spaced(f"{case.family} {case.layer} {case.layout}") for words in only)
        and (not layouts or case.layout in layouts)
    ]
    return found[len(found) * number // parts : len(found) * (number + 1) // parts]


def _spaced(words: str) -> str:
    return f" {' '.join(words.split())} " if words else ""


def _time_layers(arguments: argparse.Namespace) -> dict[str, Any]:
    cases, levels = _cases(arguments, arguments.only or [""]), _levels(arguments)
    results = []
    with workers.started(NAMES if arguments.peers else ()) as (others, skipped):
        print(report.header(others, skipped, cold=arguments.cold), flush=True)
        with Progress(runner.count(cases, levels, arguments.threads)) as progress:
            for result in runner.run(cases, levels, arguments.rounds, others, arguments.threads, cold=arguments.cold):
                progress.step(report.row(result, others))
                results.append(result)
    print(report.footer(results, others))
    return report.figures(results, {peer.NAME: peer.VERSION for peer in others}, skipped)


def _networks(arguments: argparse.Namespace) -> Sequence[str]:
    return list(MODELS) if "all" in (arguments.network or ()) else arguments.network or USUAL


def _time_networks(arguments: argparse.Namespace) -> dict[str, Any]:
    names, levels, others = _networks(arguments), _levels(arguments), PEERS if arguments.peers else ()
    print(table.header(others), flush=True)
    results = []
    with Progress(len(names) * len(levels) * len(arguments.threads) * len(arguments.batch)) as progress:
        for result in table.run(names, arguments.batch, arguments.threads, levels, arguments.rounds, others):
            progress.step(table.row(result, others))
            results.append(result)
    print(table.footer(results))
    return table.figures(results)


def _time_steps(arguments: argparse.Namespace) -> dict[str, Any]:
    results = []
    axes = (_networks(arguments), _levels(arguments), arguments.batch, arguments.threads)
    for name, isa, batch, threads in itertools.product(*axes):
        results.append(steps.time_steps(name, batch, isa, arguments.rounds, threads))
        print(steps.text(results[-1]), flush=True)
    print(steps.footer())
    return steps.figures(results)


def _time_models(arguments: argparse.Namespace) -> dict[str, Any]:
    """Writes the JSON file after each model, so that --resume can go on."""
    others = FILE_PEERS if arguments.peers else ()
    plan = onnx_table.Plan(
        arguments.batch,
        arguments.threads,
        arguments.rounds,
        arguments.seconds,
        others,
        dict(arguments.shape),
        arguments.installed,
    )
    known = onnx_table.read(_figures(str(arguments.json))) if arguments.resume and arguments.json.exists() else []
    paths = onnx_table.files_of(arguments.onnx)
    print(onnx_table.header(others), flush=True)
    results: list[onnx_table.Model] = []
    with Progress(len(paths)) as progress:
        for result in onnx_table.run(paths, plan, known):
            progress.step(onnx_table.text(result, others))
            results.append(result)
            if arguments.json:
                report.write_json({**_origin(arguments), **onnx_table.figures(results)}, arguments.json)
    print(onnx_table.footer(results))
    return onnx_table.figures(results)


def _time_sweep(arguments: argparse.Namespace) -> dict[str, Any]:
    """Writes the JSON file after each layer, so that --resume can go on."""
    known = report.read(_figures(str(arguments.json))) if arguments.resume and arguments.json.exists() else []
    again = {int(index) for index in arguments.only or ()}
    known = [result for result in known if result.draw[:1] == (arguments.seed,) and result.draw[1] not in again]
    indices = again | {result.draw[1] for result in known} if again else set(range(arguments.count))
    layers = [draw.drawn(arguments.seed, index) for index in sorted(indices)]
    levels, results = _levels(arguments), list[Result]()
    with workers.started(sweep_table.PEERS) as (others, skipped):
        print(report.header(others, skipped, width=sweep_table.WIDTH), flush=True)
        versions = {peer.NAME: peer.VERSION for peer in others}
        with Progress(len(layers) * len(levels) * len(arguments.threads)) as progress:
            for result in sweep_table.run(layers, levels, arguments.rounds, others, arguments.threads, known):
                progress.step(report.row(result, others, sweep_table.WIDTH))
                results.append(result)
                if arguments.json:
                    report.write_json({**_origin(arguments), **report.figures(results, versions, skipped)}, arguments.json)
    print(sweep_table.footer(results))
    return report.figures(results, versions, skipped)


# ---- what is written


@cache
def _origin_of(command: str, levels: tuple[str, ...]) -> dict[str, Any]:
    return {"command": command, "machine": machine.facts(levels)}


def _origin(arguments: argparse.Namespace) -> dict[str, Any]:
    """The command, and the machine as it was the first time that this is called."""
    return _origin_of(arguments.command, tuple(_levels(arguments)))


def _page(figures: dict[str, Any], source: str, functions: bool, picture: str = "") -> str:
    """All tables as a page of Markdown; `functions` has a form of its own for the rows. `picture` is that of models."""
    title = "Functions by speed" if functions else "Models by speed" if _of_models(figures) else "Figures"
    where = ", ".join(str(figures["machine"][what]) for what in ("processor", "line", "date") if what in figures["machine"])
    parts = [f"# {title}\n\n{source}; [benchmarks.md](../benchmarks.md) describes how the times are taken.\n\n{where}\n"]
    if wholes := table.read(figures):
        parts.append(table.section(wholes, _named_peers(wholes)))
    if stepped := steps.read(figures):
        parts.append(steps.section(stepped))
    if models := onnx_table.read(figures):
        parts.append(onnx_table.section(models, picture))
    if layers := report.read(figures):
        section = report.section_of_functions if functions else report.section
        parts.append(section(layers, report.peers_of(figures), figures.get("skipped", {})))
    return "\n".join(parts)


def _of_models(figures: Mapping[str, Any]) -> bool:
    """Whether these are figures of models alone, which have a page of their own."""
    return {kind for kind in _KINDS if figures.get(kind)} == {"models"}


def _named_peers(wholes: Sequence[table.Whole]) -> list[str]:
    return list(dict.fromkeys(name for result in wholes for name in result.peers))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(f"written: {path}")


def _kind(figures: Mapping[str, Any], arguments: argparse.Namespace) -> str:
    """What the name of a kept page ends with."""
    if arguments.functions:
        return "-functions"
    if arguments.transformers is not None:
        return "-transformers"
    return "-models" if _of_models(figures) else ""


def _write_all(figures: dict[str, Any], arguments: argparse.Namespace, source: str) -> None:
    """The files that are requested, except for --json."""
    if arguments.markdown:
        _write(arguments.markdown, _page(figures, source, arguments.functions))
    if arguments.keep:
        kind = _kind(figures, arguments)
        path = arguments.keep / (figures["machine"]["processor"] + kind)
        pictures = pages.write_picture(figures, "models", path.with_suffix(".png")) if kind == "-models" else []
        overview = arguments.keep / f"{figures['machine']['processor']}-overview.png"
        if pictures and pages.write_picture(figures, "overview", overview):
            print(f"written: {overview}")
        _write(path.with_suffix(".md"), _page(figures, source, arguments.functions, "".join(p.name for p in pictures)))
        report.write_json(figures, path.with_suffix(".json"))
        print(f"written: {path.with_suffix('.json')}")
    if arguments.plots:
        for path in pages.write_plots(figures, arguments.plots):
            print(f"written: {path}")
    if arguments.html:
        pages.write_html(figures, arguments.html)
        print(f"written: {arguments.html}")


def _load(arguments: argparse.Namespace) -> None:
    """The rows of all files; everything else from the first that has it."""
    files = arguments.load
    rows = {kind: [row for file in files for row in file.get(kind, ())] for kind in _KINDS}
    figures = {**{name: value for file in reversed(files) for name, value in file.items()}, **rows}
    runs = f" and {len(files) - 1} runs more like it" if len(files) > 1 else ""
    if layers := report.read(figures):
        peers_then, cold = report.peers_of(figures), any(result.cold_samples for result in layers)
        print(report.header(peers_then, figures.get("skipped", {}), cold=cold))
        print("\n".join([*(report.row(result, peers_then) for result in layers), report.footer(layers, peers_then)]))
        print(sweep_table.footer([result for result in layers if result.draw]))
    if wholes := table.read(figures):
        others = _named_peers(wholes)
        print("\n".join([table.header(others), *(table.row(result, others) for result in wholes), table.footer(wholes)]))
    if stepped := steps.read(figures):
        print("\n".join([*map(steps.text, stepped), steps.footer()]))
    if models := onnx_table.read(figures):
        others = onnx_table.peers_of(models)
        print(
            "\n".join(
                [onnx_table.header(others), *(onnx_table.text(model, others) for model in models), onnx_table.footer(models)]
            )
        )
    _write_all(figures, arguments, f"From `{figures['command']}`{runs}")


def _time_transformers(arguments: argparse.Namespace) -> dict[str, Any]:
    """As files, which take more than 1 GB while they are timed."""
    with tempfile.TemporaryDirectory() as folder:
        arguments.onnx = transformers.write(Path(folder), arguments.transformers)
        return _time_models(arguments)


# What is timed with these options; without any, layers.
_MODES = {
    "sweep": _time_sweep,
    "transformers": _time_transformers,
    "onnx": _time_models,
    "steps": _time_steps,
    "whole": _time_networks,
    "": _time_layers,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table as it grows, then writes the requested files."""
    arguments = _arguments(_parser(), argv)
    if arguments.compare:
        print(compare.text(*arguments.compare))
        return 0
    words = sys.argv[1:] if argv is None else list(argv)
    if arguments.cpu:
        older.restart(arguments.cpu, words)
    arguments.command = command = " ".join(["python -m bench", *map(shlex.quote, words)])
    if arguments.load:
        _load(arguments)
        return 0
    if arguments.plots or arguments.html:
        pages.need_matplotlib()  # before spending minutes
    print(machine.line())
    measured = next(time for mode, time in _MODES.items() if not mode or _is_given(arguments)(mode))(arguments)
    figures = {**_origin(arguments), **measured}
    if arguments.json:
        report.write_json(figures, arguments.json)
        print(f"written: {arguments.json}")
    _write_all(figures, arguments, f"`{command}` writes this page")
    return 0


if __name__ == "__main__":
    sys.exit(main())
