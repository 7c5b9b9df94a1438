#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw results.json of bench.py as bars: pictures per CPU second.

usage: plot.py results.json bench.png
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after the backend is chosen)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    rows = [row for row in results["rows"]
            if row["img_per_cpu_s"] and not row["name"].endswith("8mp")]
    rows.sort(key=lambda row: row["img_per_cpu_s"])
    names = [row["name"] for row in rows]
    rates = [row["img_per_cpu_s"] for row in rows]
    colours = ["#1f77b4" if name.startswith("dlboost") else
               "#555555" if name.startswith(("yardstick", "floor")) else
               "#bbbbbb" for name in names]
    figure, axes = pyplot.subplots(figsize=(9, 0.5 * len(rows) + 1.6))
    bars = axes.barh(names, rates, color=colours)
    axes.bar_label(bars, labels=[
        f"{row['img_per_cpu_s']:.0f}  ({row['ratio_to_yardstick']:.2f} x)"
        for row in rows], padding=4)
    axes.set_xlabel("pictures per CPU second (x: of the yardstick)")
    axes.set_title("Decode, random resized crop to 224, flip, normalise\n"
                   f"{results['machine']['cpu']}, {results['simd']}", fontsize=10)
    axes.margins(x=0.18)
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=120)


if __name__ == "__main__":
    main()
