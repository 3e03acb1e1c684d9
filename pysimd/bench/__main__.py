"""Command line: ``python -m pysimd.bench``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from pysimd.bench import peers, report, runner
from pysimd.bench.cases import CASES, Case, of_networks
from pysimd.bench.models import MODELS


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="pysimd.bench", description="Times layers as fractions of the machine's limits.")
    parser.add_argument(
        "--isa", action="append", help="a level to time, may be repeated; default: those with kernels of their own"
    )
    parser.add_argument("--all-levels", action="store_true", help="time every level of this machine")
    parser.add_argument("--only", default="", help="cases whose family, layer or layout contains this text")
    parser.add_argument(
        "--network",
        action="append",
        choices=["all", *MODELS],
        help="time the layers of a network, or of all, in place of the short table; may be repeated",
    )
    parser.add_argument("--peers", action="store_true", help="time other libraries beside, on the newest level")
    parser.add_argument("--rounds", type=int, default=9, help="samples of each case (default 9)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--markdown", type=Path, help="write the table to this file, as a page")
    return parser.parse_args()


def _levels(arguments: argparse.Namespace) -> list[str]:
    levels = runner.isa_levels()
    if arguments.isa:
        return list(arguments.isa)
    if arguments.all_levels:
        return levels
    # base is for truth, not for speed; avx512bf16 has no kernel that its parent has not.
    useful = [level for level in levels if level not in ("base", "avx512bf16")] or levels
    return useful[-1:] if arguments.peers else useful


def _cases(arguments: argparse.Namespace) -> list[Case]:
    names = list(MODELS) if "all" in (arguments.network or ()) else arguments.network
    cases = of_networks(names) if names else CASES
    return [case for case in cases if arguments.only in f"{case.family} {case.layer} {case.layout}"]


def main() -> None:
    """Prints the table as it grows, then writes the JSON."""
    arguments = _arguments()
    others, skipped = peers.load() if arguments.peers else ([], {})
    print(report.header(others, skipped), flush=True)
    results = []
    for result in runner.run(_cases(arguments), _levels(arguments), arguments.rounds, others):
        print(report.row(result, others), flush=True)
        results.append(result)
    print(report.footer(results, others))
    if arguments.json:
        report.write_json(results, arguments.json, others, skipped)
        print(f"written: {arguments.json}")
    if arguments.markdown:
        command = " ".join(["python -m pysimd.bench", *map(shlex.quote, sys.argv[1:])])
        report.write_markdown(results, arguments.markdown, command, others, skipped)
        print(f"written: {arguments.markdown}")


if __name__ == "__main__":
    main()
