"""The JSON of `attune bench` as rows that plots and tables read."""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median

OURS = "attune"


@dataclass
class Row:
    work: str
    values: dict  # the row as the JSON has it

    def __getitem__(self, key):
        return self.values.get(key)

    @property
    def family(self):
        return self.work.split("/")[0]

    @property
    def is_timed(self):
        return self["of_peak"] is not None

    @property
    def length(self):
        """Tokens or keys, from the name: .../4096, .../512x768, .../8x32."""
        parts = [p for p in self.work.split("/") if p != "t2"]
        return int(parts[-1].split("x")[0])

    @property
    def series(self):
        """The name without its length: rows of one series differ in length only."""
        parts = [p for p in self.work.split("/") if p != "t2"]
        if self.family == "layer":
            return "/".join(parts[:-1] + [parts[-1].split("x")[1]])
        return "/".join(parts[:-1])

    def seconds(self, who):
        return median(self["seconds"][who])

    def best_peer(self):
        """(name, part of the peak), or None."""
        peers = self["peers"]
        return max(peers.items(), key=lambda p: p[1]) if peers else None


@dataclass
class Run:
    machine: dict
    rows: list
    not_run: dict

    def timed(self, threads=1):
        return [r for r in self.rows if r.is_timed and r["threads"] == threads]

    def series(self, threads=1):
        """Rows by series, for those that have several lengths."""
        groups = {}
        for row in self.timed(threads):
            groups.setdefault(row.series, []).append(row)
        return {name: sorted(rows, key=lambda r: r.length) for name, rows in groups.items() if len(rows) > 1}


def read_run(file):
    data = json.loads(Path(file).read_text())
    for key in ("machine", "rows"):
        if key not in data:
            raise ValueError(f"{file} is no output of `attune bench --json`: it has no \"{key}\"")
    return Run(data["machine"], [Row(r["work"], r) for r in data["rows"]], data.get("not_run", {}))


def library_of(peer):
    """ "openvino ScaledDotProductAttention, static" -> "openvino" """
    return peer.split(" ")[0]
