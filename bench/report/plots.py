"""The report's plots, each as SVG text."""

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from run import OURS, library_of

COLOURS = {OURS: "#c0392b", "onnxruntime": "#2471a3", "openvino": "#7d3c98", "llama_cpp": "#229954", "torch": "#d68910"}
OTHER = "#7f8c8d"


def colour_of(name):
    return COLOURS.get(library_of(name), OTHER)


def as_svg(figure):
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight")
    plt.close(figure)
    svg = text.getvalue()
    return svg[svg.index("<svg"):]


def fastest_by_library(row):
    """Seconds of the fastest way of each library, and ours."""
    fastest = {}
    for name in row["seconds"]:
        if name.startswith(OURS + ","):
            continue
        library = library_of(name)
        fastest[library] = min(fastest.get(library, float("inf")), row.seconds(name))
    return fastest


def time_against_length(run):
    """One panel a series: milliseconds over tokens, the fastest way of each library."""
    series = run.series()
    if not series:
        return None
    columns = min(3, len(series))
    lines = -(-len(series) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.6 * columns, 3.4 * lines), squeeze=False, layout="constrained")
    for axis, (name, rows) in zip(axes.flat, series.items()):
        for library in dict.fromkeys(lib for row in rows for lib in fastest_by_library(row)):
            points = [(row.length, 1e3 * fastest_by_library(row)[library]) for row in rows if library in fastest_by_library(row)]
            axis.plot(*zip(*points), marker="o", color=colour_of(library), label=library, linewidth=2.4 if library == OURS else 1.2)
        axis.set(xscale="log", yscale="log", title=name, xlabel="tokens", ylabel="ms per call")
        axis.set_xticks([row.length for row in rows], [str(row.length) for row in rows])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    for axis in list(axes.flat)[len(series):]:
        axis.remove()
    return as_svg(figure)


def part_of_peak(run, threads):
    """A bar for us and for every peer, row by row."""
    rows = run.timed(threads)
    if not rows:
        return None
    bars = []  # (label, value, colour), upwards from the last row
    for row in reversed(rows):
        for peer, value in sorted(row["peers"].items(), key=lambda p: p[1]):
            bars.append((f"{peer}", value, colour_of(peer)))
        bars.append((row.work, row["of_peak"], COLOURS[OURS]))
        bars.append(("", 0, "none"))
    figure, axis = plt.subplots(figsize=(10, 0.2 * len(bars) + 1))
    axis.barh(range(len(bars)), [b[1] for b in bars], color=[b[2] for b in bars])
    axis.set_yticks(range(len(bars)), [b[0] for b in bars], fontsize=7)
    for label, (name, _, colour) in zip(axis.get_yticklabels(), bars):
        if colour == COLOURS[OURS]:
            label.set_fontweight("bold")
    for at, (_, value, colour) in enumerate(bars):
        if colour != "none":
            axis.text(value + 0.005, at, f"{value:.2f}", va="center", fontsize=7)
    axis.tick_params(axis="y", length=0)
    axis.set(xlim=(0, 1.05), ylim=(-0.5, len(bars)), xlabel="part of the probe's peak")
    axis.grid(axis="x", alpha=0.3)
    return as_svg(figure)


def roofline(run):
    """Useful GFLOP/s over operations per byte, if each tensor is touched once, under the measured roofs."""
    rows = run.timed()
    peaks = run.machine["peaks"]
    if not rows:
        return None
    figure, axis = plt.subplots(figsize=(9, 5.5))
    intensities = [r["operations"] / r["bytes_at_least"] for r in rows]
    left, right = 0.5 * min(intensities), 2 * max(intensities)
    roofs = {name.split("/")[0]: p["value"] for name, p in peaks.items() if name.endswith("/t1") and p["unit"] == "GFLOP/s"}
    bandwidth = peaks.get("memory_read/t1", {}).get("value")
    if bandwidth and roofs:
        knee = max(roofs.values()) / bandwidth
        axis.plot([left, knee], [left * bandwidth, max(roofs.values())], color="black", linewidth=1)
        axis.text(left * 1.1, left * bandwidth, f"memory read {bandwidth:.0f} GB/s", fontsize=8, va="top")
    for name, value in roofs.items():
        axis.plot([value / bandwidth if bandwidth else left, right], [value, value], color="black", linewidth=1)
        axis.text(right, value * 1.03, f"{name} {value:.0f}", fontsize=8, ha="right")
    families = list(dict.fromkeys(r.series for r in rows))
    for row, intensity in zip(rows, intensities):
        axis.scatter(intensity, row["operations"] / row.seconds(OURS) / 1e9, color=plt.cm.tab20(families.index(row.series) % 20), label=row.series, s=36)
    handles = dict(zip(*reversed(axis.get_legend_handles_labels())))
    axis.legend(handles.values(), handles.keys(), fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    axis.set(xscale="log", yscale="log", xlabel="useful operations per byte, each tensor touched once", ylabel="GFLOP/s", xlim=(left, right))
    axis.grid(alpha=0.3)
    return as_svg(figure)
