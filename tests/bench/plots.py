"""The pictures. Each function takes the figures in the form of the JSON and returns a matplotlib figure, or None."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

from matplotlib.figure import Figure

#: Colours that colour-blind readers can distinguish (Okabe and Ito), that of simdnet first.
_OURS, _OTHERS = "#0072b2", ("#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#999999")
_MARKS = "os^Dv<>pP*Xhd"
_HIGHEST = 4.0  # bars of networks are cut above this
_SHORTEST = 2e-7  # seconds; shorter rows consist mostly of call overhead
_LONGEST = 3.3  # bars of limits are cut above this
_RATIO = "time of the other library over that of simdnet"


def draw(figures: Mapping[str, Any]) -> Iterator[tuple[str, str, Figure]]:
    """Name, title and figure of every picture for which there are figures."""
    results = figures.get("results", [])
    networks = [network for network in figures.get("networks", []) if network.get("batch", 1) == 1]
    pictures: list[tuple[str, str, Callable[[], Figure | None]]] = [
        ("networks", "Whole networks compared with other libraries", lambda: _networks(networks)),
        ("networks-scaling", "Whole networks: scaling by threads", lambda: _networks_scaling(networks)),
        ("roofline", "Roofline: every layer that computes", lambda: _roofline(results, figures["machine"])),
        (
            "limits-arithmetic",
            "Layers as fractions of peak arithmetic",
            lambda: _limits(results, ("fma", "dot", "bf16")),
        ),
        ("limits-memory", "Layers as fractions of the speed of a copy", lambda: _limits(results, ("copy",))),
        ("peers", "Layers compared with other libraries", lambda: _peers(results)),
        ("scaling", "Layers: scaling by threads", lambda: _scaling(_of_layers(results))),
        ("models", "Models compared with other libraries", lambda: _peers(_of_models(figures.get("models", [])))),
        ("overview", "Models with one image", lambda: _overview(figures.get("models", []))),
    ]
    for name, title, make in pictures:
        figure = make()
        if figure is not None:
            yield name, title, figure


def _newest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of each layer on the last level that it was timed on, with the fewest threads."""
    best: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in rows:
        key = (row["layer"], row["layout"])
        if key not in best or row["isa"] != best[key]["isa"]:
            best[key] = row
    return list(best.values())


def _bare(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)


def _networks(networks: Sequence[Mapping[str, Any]]) -> Figure | None:
    """A panel for each number of threads: bars of milliseconds, simdnet's and the others', relative to simdnet's."""
    networks = [n for n in networks if n["peers"]]
    if not networks:
        return None
    counts = sorted({n["threads"] for n in networks})
    names = list(dict.fromkeys(name for n in networks for name in n["peers"]))
    figure = Figure(figsize=(11, 3.9 * len(counts) + 0.4), layout="constrained")
    for axes, threads in zip(figure.subplots(len(counts), squeeze=False)[:, 0], counts):
        shown = [n for n in networks if n["threads"] == threads]
        width = 0.82 / (len(names) + 1)
        for k, name in enumerate(["simdnet", *names]):
            times = [n["ours"] if name == "simdnet" else n["peers"].get(name) for n in shown]
            at = [i + (k - len(names) / 2) * width for i, time in enumerate(times) if time]
            ratios = [1.0 if k == 0 else n["ratios"][name][0] for n, time in zip(shown, times) if time]
            spreads = None if k == 0 else [min(n["ratios"][name][1], 0.3) for n, time in zip(shown, times) if time]
            colour = _OURS if k == 0 else _OTHERS[(k - 1) % len(_OTHERS)]
            heights = [min(ratio, _HIGHEST) for ratio in ratios]
            bars = axes.bar(at, heights, width * 0.92, yerr=spreads, color=colour, label=name, ecolor="#555", capsize=2)
            labels = [f"{time['seconds'] * 1e3:.1f}" for time in times if time]
            axes.bar_label(bars, labels, fontsize=7.5, padding=2)
        axes.axhline(1, color=_OURS, linewidth=0.8)
        axes.set_xticks(range(len(shown)), [n["title"] for n in shown])
        axes.set_ylabel("time over that of simdnet")
        axes.set_title(f"{threads} thread{'s' if threads > 1 else ''}; numbers are milliseconds", fontsize=10, loc="left")
        axes.margins(x=0.02, y=0.1)
        _bare(axes)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, ncols=len(names) + 1, frameon=False, fontsize=9, loc="outside upper center")
    return figure


def _roofline(results: Sequence[Mapping[str, Any]], machine: Mapping[str, Any]) -> Figure | None:
    """GFLOP/s over operations per byte that must be moved, below the machine's roofs."""
    rows = [r for r in _newest(results) if r["flops"] and r["traffic"] and r["limit"] == "fma"]
    if not rows:
        return None
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    axes = figure.subplots()
    families = list(dict.fromkeys(r["family"] for r in rows))
    intensities = [r["flops"] / r["traffic"] for r in rows]
    left, right = min(intensities) / 1.6, max(intensities) * 1.6
    peak = statistics.median(r["flops"] / r["limit_seconds"] for r in rows)
    last = 1e30
    for size, speed in machine["limits"]["copy"].items():
        end = min(right, peak / speed)
        if end > left and speed < 0.85 * last:  # skip levels that are as fast as the previous one
            last = speed
            axes.plot([left, end], [left * speed / 1e9, end * speed / 1e9], color="#888", linewidth=1)
            axes.annotate(
                f"copy of {size}: {speed / 1e9:.0f} GB/s", (left, left * speed / 1e9), xytext=(4, 4),
                textcoords="offset points", fontsize=8, color="#555",
            )  # fmt: skip
    axes.axhline(peak / 1e9, color="#444", linewidth=1.2)
    axes.annotate(
        f"multiply-adds: {peak / 1e9:.0f} GFLOP/s", (left, peak / 1e9), xytext=(4, 4), textcoords="offset points",
        fontsize=8, color="#444",
    )  # fmt: skip
    for k, family in enumerate(families):
        of_it = [r for r in rows if r["family"] == family]
        colour = (_OURS, *_OTHERS)[k % 7]
        axes.scatter(
            [r["flops"] / r["traffic"] for r in of_it], [r["flops"] / r["seconds"] / 1e9 for r in of_it],
            s=34, marker=_MARKS[k % len(_MARKS)], color=colour, edgecolor="white", linewidth=0.5, label=family, zorder=3,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(left, right))
    axes.set_xlabel("operations of the formula per byte of source, weights and result")
    axes.set_ylabel("GFLOP/s, operations of the formula")
    axes.set_title(
        f"{rows[0]['isa']}, one thread; above the roof: an algorithm with fewer multiplications", fontsize=10, loc="left"
    )
    axes.grid(color="#e6e6e6")
    figure.legend(frameon=False, fontsize=9, loc="outside right upper")
    _bare(axes)
    return figure


def _lines(count: int, each: float = 0.2) -> tuple[float, float]:
    """The size of a picture with this many lines."""
    return 11, each * count + 1.3


def _name(row: Mapping[str, Any]) -> str:
    return row["layer"] if row["layout"] == "-" else f"{row['layer']}  {row['layout']}"


def _limits(results: Sequence[Mapping[str, Any]], limits: tuple[str, ...]) -> Figure | None:
    """A bar for each layer, grouped by family; its fraction of the limit and its level are on the right."""
    rows = [r for r in _newest(results) if r["limit"] in limits and r["seconds"] > _SHORTEST]
    if not rows:
        return None
    figure = Figure(figsize=_lines(len(rows)), layout="constrained")
    axes = figure.subplots()
    colours = {"fma": _OURS, "dot": _OTHERS[1], "bf16": _OTHERS[2], "copy": _OTHERS[0]}
    labels = {
        "fma": "peak of multiply-adds",
        "dot": "peak of products of bytes",
        "bf16": "peak of products of bfloat16 numbers",
        "copy": "speed of a copy",
    }
    for limit in limits:
        at = [i for i, r in enumerate(rows) if r["limit"] == limit]
        if at:
            lengths = [min(rows[i]["fraction"], _LONGEST) for i in at]
            axes.barh(at, lengths, 0.72, color=colours[limit], label=labels[limit])
    axes.axvline(1, color="#444", linewidth=1)
    aims = [(i, r["limit_seconds"] / r["aim_seconds"]) for i, r in enumerate(rows) if r["aim_seconds"]]
    if aims:
        axes.scatter([a for _, a in aims], [i for i, _ in aims], marker="|", s=70, color="black", label="aim", zorder=3)
    axes.set_xlabel("fraction of the limit, one thread")
    return _of_lines(figure, axes, [_name(r) for r in rows], [f"{r['fraction']:.2f}  {r['isa']}" for r in rows])


def _of_lines(figure: Figure, axes: Any, labels: Sequence[str], values: Sequence[str] = ()) -> Figure:
    """The names of the lines on the left, their values, if any, on the right, the legend on top."""
    axes.set_yticks(range(len(labels)), labels, fontsize=7.5)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(color="#e6e6e6")
    if values:
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(values)), values, fontsize=7.5)
        right.tick_params(length=0)
        right.spines["right"].set_visible(False)
    figure.legend(frameon=False, fontsize=9, loc="outside upper center", ncols=5)
    _bare(axes)
    return figure


def _peers(results: Sequence[Mapping[str, Any]]) -> Figure | None:
    """For each layer the others' times relative to ours, the closest first."""
    timed = [({name: p["ratio"] for name, p in r["peers"].items() if p["ratio"]}, r) for r in results]
    timed = sorted((pair for pair in timed if pair[0]), key=lambda pair: min(pair[0].values()))
    if not timed:
        return None
    figure = Figure(figsize=_lines(len(timed)), layout="constrained")
    axes = figure.subplots()
    _ratios(axes, [ratios for ratios, _ in timed])
    axes.set_xlabel(f"{_RATIO}: right of the line, simdnet is faster")
    return _of_lines(figure, axes, [_name(r) for _, r in timed])


def _ratios(axes: Any, rows: Sequence[Mapping[str, float]]) -> None:
    """A line for each row, with a mark for each library at the ratio of its time to ours, and one at 1."""
    names = list(dict.fromkeys(name for ratios in rows for name in ratios))
    for k, name in enumerate(names):
        points = [(ratios[name], i) for i, ratios in enumerate(rows) if name in ratios]
        axes.scatter(
            [x for x, _ in points], [y for _, y in points], s=26, color=_OTHERS[k % len(_OTHERS)],
            marker=_MARKS[k % len(_MARKS)], label=name, zorder=3,
        )  # fmt: skip
    axes.axvline(1, color=_OURS, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_xticks(ticks := [t for t in _TICKS if _inside(t, rows)], [f"{t:g}" for t in ticks])
    axes.minorticks_off()


def _overview(models: Sequence[Mapping[str, Any]]) -> Figure | None:
    """The README's picture: a panel for each number of threads, a line for each model with one image, the closest first."""
    timed = {
        (run["threads"], model["name"]): {name: ratio for name, (ratio, _) in run["ratios"].items()}
        for model in models
        for run in model["runs"]
        if run["batch"] == 1 and run["ratios"]
    }
    if not timed:
        return None
    counts = sorted({threads for threads, _ in timed})
    closest = {name: min(min(of.values()) for (_, other), of in timed.items() if other == name) for _, name in timed}
    names = sorted(closest, key=closest.__getitem__)
    figure = Figure(figsize=(9, 0.19 * len(names) + 1.4), layout="constrained")
    panels = figure.subplots(1, len(counts), squeeze=False, sharex=True, sharey=True)[0]
    for axes, threads in zip(panels, counts):
        _ratios(axes, [timed.get((threads, name), {}) for name in names])
        axes.set_title(f"{threads} thread{'s' if threads > 1 else ''}", fontsize=10, loc="left")
        axes.grid(color="#e6e6e6")
        _bare(axes)
    panels[0].set_yticks(range(len(names)), names, fontsize=9)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=9.5, loc="outside upper center", ncols=5)
    figure.supxlabel(f"{_RATIO}, one image: right of the line, simdnet is faster", fontsize=10)
    return figure


def _of_models(models: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of models in the form of layers."""
    return [
        {
            "layer": f"{model['name']}  batch {run['batch']}, threads {run['threads']}",
            "layout": "-",
            "peers": {name: {"ratio": ratio} for name, (ratio, _) in run["ratios"].items()},
        }
        for model in models
        for run in model["runs"]
    ]


def _inside(tick: float, rows: Sequence[Mapping[str, float]]) -> bool:
    ratios = [ratio for row in rows for ratio in row.values()]
    return min(ratios) / 1.3 <= tick <= max(ratios) * 1.3 or tick == 1


_TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200)
_Series = dict[str, dict[int, float]]  # times of a row by the number of threads


def _of_layers(results: Sequence[Mapping[str, Any]]) -> _Series:
    series: _Series = {}
    for r in results:
        series.setdefault(f"{_name(r)}  {r['isa']}", {})[r["threads"]] = r["seconds"]
    return series


def _scaling(series: _Series) -> Figure | None:
    """The speedup of each row with more threads, the slowest rows first."""
    counts = sorted({threads for times in series.values() for threads in times})
    series = {name: times for name, times in series.items() if counts[0] in times and len(times) > 1}
    if not series:
        return None
    rows = sorted(series.items(), key=lambda item: -item[1][counts[0]])
    figure = Figure(figsize=_lines(len(rows)), layout="constrained")
    axes = figure.subplots()
    for k, threads in enumerate(counts[1:]):
        at = [i for i, (_, times) in enumerate(rows) if threads in times]
        gains = [rows[i][1][counts[0]] / rows[i][1][threads] for i in at]
        axes.scatter(gains, at, s=26, color=(_OURS, *_OTHERS)[k % 7], label=f"{threads} threads", zorder=3)
    _gains(axes, counts)
    return _of_lines(figure, axes, [f"{name}  {_duration(times[counts[0]])}" for name, times in rows])


def _gains(axes: Any, counts: Sequence[int]) -> None:
    axes.axvline(1, color="#444", linewidth=1)
    for threads in counts[1:]:
        axes.axvline(threads / counts[0], color="#888", linewidth=1, linestyle="--")
    few = f"{counts[0]} thread{'s' if counts[0] > 1 else ''}"
    axes.set_xlabel(f"speed relative to {few}; dashed: proportional to the number of threads")


def _networks_scaling(networks: Sequence[Mapping[str, Any]]) -> Figure | None:
    """A line for each network, a mark for each library, fewest threads against most."""
    counts = sorted({n["threads"] for n in networks})
    if len(counts) < 2:
        return None
    titles = list(dict.fromkeys(n["title"] for n in networks))
    names = ["simdnet", *dict.fromkeys(name for n in networks for name in n["peers"])]
    figure = Figure(figsize=_lines(len(titles), 0.5), layout="constrained")
    axes = figure.subplots()
    for k, name in enumerate(names):
        times = {
            (n["title"], n["threads"]): (n["ours"] if k == 0 else n["peers"][name])["seconds"]
            for n in networks
            if k == 0 or name in n["peers"]
        }
        at = [i for i, title in enumerate(titles) if {(title, counts[0]), (title, counts[-1])} <= set(times)]
        gains = [times[titles[i], counts[0]] / times[titles[i], counts[-1]] for i in at]
        axes.scatter(gains, at, s=60, marker=_MARKS[k], color=(_OURS, *_OTHERS)[k % 8], label=name, zorder=3)
    _gains(axes, [counts[0], counts[-1]])
    figure = _of_lines(figure, axes, titles)
    axes.tick_params(axis="y", labelsize=10)
    return figure


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"
