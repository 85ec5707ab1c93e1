#!/usr/bin/env python3
"""Writes combinations.hpp: small specs, each with a few features, so that every two features meet in at least one of them.
To add a feature: a row here, one in tests/correctness/combinations.cpp, and `tests/specs/combinations.py` once."""

from itertools import combinations
from pathlib import Path

# name: (stage, property, the feature without which it means nothing)
FEATURES = {
    "causal": ("mask", "causal<align::bottom_right>", None),
    "window": ("mask", "sliding_window<19>", "causal"),
    "lengths": ("mask", "key_lengths", None),
    "boolean": ("mask", "boolean<axis::batch, axis::query, axis::key>", None),
    "additive": ("mask", "additive<axis::head, axis::query, axis::key>", None),
    "softcap": ("scores", "softcap<3>", None),
    # Slopes that leave scores small at every length tested: f32 keeps few digits of a score of hundreds. (alibi<> itself: masking.hpp)
    "alibi": ("scores", "[](auto s, auto at) { return s - at(slope{}, at.head) / 512 * (at.query - at.key); }", None),
    "rope": ("rope", "theta<10000>", None),
    "gqa": ("operands", "kv_heads<2>", None),
    "value_dim": ("operands", "value_dim<24>", None),
    "paged": ("operands", "paged<16>", None),
    "lse": ("weighted_sum", "returns<lse>", None),
}
AT_ONCE = 6  # features of one spec, with those that they need
FOREIGN = {"alibi": ("operands", "input<slope>(f32, axis::head)")}  # what a feature brings to another stage
TOGETHER = {("rope", "paged"): ("rope", "keys_rotated")}  # what two features need beside each other

HEAD = """// Written by combinations.py: specs that combine features, so that every two features meet in at least one of them.
#pragma once
#include "dsl/spec.hpp"

namespace combinations {
using namespace attune;

struct slope {};
"""
STAGES = ("operands", "rope", "scores", "mask", "softmax", "weighted_sum")


def with_needs(features: set[str]) -> set[str]:
    return features | {FEATURES[f][2] for f in features if FEATURES[f][2]}


def pairs_of(features: set[str]) -> set[frozenset[str]]:
    return {frozenset(p) for p in combinations(features, 2)}


def covering() -> list[set[str]]:
    """Greedy: starts with a pair that is left, adds what meets most of those that are left."""
    left, rows = pairs_of(set(FEATURES)), []
    while left:
        first = min(left, key=lambda p: sorted(p))
        row = with_needs(set(first))
        while True:
            more = [r for f in FEATURES if f not in row and len(r := with_needs(row | {f})) <= AT_ONCE]
            gain = lambda r: (len(pairs_of(r) & left) - len(pairs_of(row) & left)) / (len(r) - len(row))
            best = max(more, key=gain, default=None)
            if best is None or gain(best) == 0:
                break
            row = best
        rows.append(row)
        left -= pairs_of(row)
    return rows


def text_of(features: set[str]) -> str:
    stages = {stage: [] for stage in STAGES}
    stages["operands"] = ["heads<4>", "head_dim<16>", "element<f32>"]
    ordered = [f for f in FEATURES if f in features]
    for f in ordered:
        stages[FEATURES[f][0]].append(FEATURES[f][1])
        if f in FOREIGN:
            stages[FOREIGN[f][0]].append(FOREIGN[f][1])
    for both, (stage, added) in TOGETHER.items():
        if features.issuperset(both):
            stages[stage].append(added)
    written = [f"{stage}({', '.join(properties)})" for stage, properties in stages.items() if properties or stage != "rope"]
    chain = "\n                             | ".join(written)
    return f"struct {'_'.join(ordered)} {{\n  static constexpr auto spec = {chain};\n}};\n"


if __name__ == "__main__":
    specs = "".join(text_of(row) for row in covering())
    (Path(__file__).parent / "combinations.hpp").write_text(f"{HEAD}\n{specs}\n}} // namespace combinations\n")
