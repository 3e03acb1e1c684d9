"""Command line: ``python -m pysimd.bench``."""

from __future__ import annotations

import argparse
from pathlib import Path

from pysimd.bench import report, runner
from pysimd.bench.cases import CASES


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="pysimd.bench", description="Times layers as fractions of the machine's limits.")
    parser.add_argument(
        "--isa", action="append", help="a level to time, may be repeated; default: those with kernels of their own"
    )
    parser.add_argument("--all-levels", action="store_true", help="time every level of this machine")
    parser.add_argument("--only", default="", help="cases whose family, layer or layout contains this text")
    parser.add_argument("--rounds", type=int, default=9, help="samples of each case (default 9)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser.parse_args()


def _levels(arguments: argparse.Namespace) -> list[str]:
    levels = runner.isa_levels()
    if arguments.isa:
        return list(arguments.isa)
    if arguments.all_levels:
        return levels
    # base is for truth, not for speed; the small levels hold no kernel of these functions that their parent has not.
    return [level for level in levels if level not in ("base", "avx512vnni", "avx512bf16", "neondotprod")] or levels


def main() -> None:
    """Prints the table as it grows, then writes the JSON."""
    arguments = _arguments()
    chosen = [case for case in CASES if arguments.only in f"{case.family} {case.layer} {case.layout}"]
    print(report.header(), flush=True)
    results = []
    for result in runner.run(chosen, _levels(arguments), arguments.rounds):
        print(report.row(result), flush=True)
        results.append(result)
    print(
        "\nus: median of the samples. of limit: the speed of the same arithmetic as bare multiply-adds (fma), or of copying as"
    )
    print(
        "many bytes (copy), in the same run. of aim: 1 or more when the row's aim is reached; aims are for the newest level."
    )
    if arguments.json:
        report.write_json(results, arguments.json)
        print(f"written: {arguments.json}")


if __name__ == "__main__":
    main()
