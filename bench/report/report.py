"""usage: report.py FILE.json OUTDIR
Writes OUTDIR/report.html, one file with all tables and plots, from the output of `attune bench --json`."""

import os
import sys
from html import escape
from pathlib import Path

import plots
from run import read_run

STYLE = """body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 1280px; padding: 0 1em; color: #222 }
table { border-collapse: collapse; font-size: 13px } td, th { padding: .2em .7em; text-align: left; border-bottom: 1px solid #ddd }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap } .behind { background: #fdecea } svg { max-width: 100%; height: auto }"""


def table(heading, rows, classes=()):
    """Rows of texts; numbers (as the heading says with a trailing #) to the right."""
    right = [h.endswith("#") for h in heading]
    head = "".join(f"<th>{escape(h.rstrip('#'))}</th>" for h in heading)
    lines = []
    for i, row in enumerate(rows):
        cells = "".join(f'<td{" class=number" if r else ""}>{escape(str(c))}</td>' for c, r in zip(row, right))
        lines.append(f'<tr class="{classes[i] if i < len(classes) else ""}">{cells}</tr>')
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def machine_table(machine):
    load = " → ".join(" ".join(f"{x:.2f}" for x in machine[k]) for k in ("load_before", "load_after"))
    rows = [("CPU", f"{machine['cpu']} (family {machine['family']}, model {machine['model']}), {machine['cores']} cores, of which used: {machine['used_cores']}"),
            ("memory", f"{machine['memory_gib']:.1f} GiB; huge pages {machine['huge_pages']}"),
            ("system", machine["system"]), ("date", machine["date"]), ("load, before and after", load)]
    rows += [(f"{name}", version) for name, version in machine["versions"].items()]
    rows += [(f"peer {name}", version) for name, version in machine["peers"].items()]
    if machine["peers_missing"]:
        rows.append(("peers not installed", ", ".join(machine["peers_missing"])))
    rows += [(f"highest probe {name}", f"{p['value']:.1f} {p['unit']}") for name, p in machine["peaks"].items()]
    return table(("what", "value"), rows)


def number_text(value):
    return f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


def size_text(size):
    return f"{size / 1024:.0f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MiB"


def row_cells(row):
    best = row.best_peer()
    return (row.work, f"{number_text(row['value'])} {row['unit']}", f"{row['of_peak']:.3f}" if row.is_timed else "", f"{best[1]:.3f} {best[0]}" if best else "",
            f"{row['of_peak'] / best[1]:.2f} ×" if best else "", f"{row['speed_up']:.2f} ×" if row["speed_up"] else "",
            f"{100 * row['spread']:.1f} %" if row.is_timed else "", row["disturbed"] or "", len(row["kept_disturbed"] or []) or "", size_text(row["scratch_bytes"]))


def rows_table(run):
    heading = ("work", "value#", "of peak#", "best peer, of peak", "ours to it#", "speed-up of 2 threads#", "spread#", "rounds again#", "disturbed at the last try too#", "scratch#")
    behind = ["behind" if row.best_peer() and row.best_peer()[1] > row["of_peak"] else "" for row in run.rows]
    return table(heading, [row_cells(row) for row in run.rows], behind)


def run_time_table(run):
    rows = [(row.work, f"{row['over_fixed']:.4f}") for row in run.rows if row["over_fixed"]]
    return table(("numbers at the call", "time over the same with numbers in the spec#"), rows) if rows else ""


def left_out_table(run):
    reasons = {}
    for row in run.rows:
        for name, why in (row["left_out"] or {}).items():
            reasons.setdefault((name, why), []).append(row.work)
    for work, why in run.not_run.items():
        reasons.setdefault(("the whole row", why), []).append(work)
    return table(("left out", "why", "works"), [(name, why, ", ".join(works)) for (name, why), works in reasons.items()]) if reasons else ""


def page(run):
    parts = [("Machine", machine_table(run.machine)), ("Rows", rows_table(run)), ("Part of the peak, one thread", plots.part_of_peak(run, 1)),
             ("Part of the peak, two threads", plots.part_of_peak(run, 2)), ("Time against length", plots.time_against_length(run)),
             ("Roofline, one thread", plots.roofline(run)), ("Numbers at the call", run_time_table(run)), ("Left out", left_out_table(run))]
    body = "".join(f"<h2>{title}</h2>{content}" for title, content in parts if content)
    meaning = """<p>Each row is the median over rounds of: probe, our kernel, each peer, probe, on the same cores and inputs; ratios are to the
highest probe of the run. Masked query-key pairs are no work. A shaded row is behind a peer. What each column means and how
peers are called: docs/benchmarks.md.</p>"""
    return f"<!doctype html><html lang=en><meta charset=utf-8><title>attune bench</title><style>{STYLE}</style><h1>attune bench</h1>{meaning}{body}</html>"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        run = read_run(sys.argv[1])
    except (OSError, ValueError) as error:
        sys.exit(f"report: {error}")
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".report.{os.getpid()}.html"
    try:
        unfinished.write_text(page(run), encoding="utf-8")
        unfinished.replace(folder / "report.html")
    finally:
        unfinished.unlink(missing_ok=True)
    print(folder / "report.html")


main()
