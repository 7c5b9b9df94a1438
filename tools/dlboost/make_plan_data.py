#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes plan_data.c: the shipped graphs and devices as texts in C.

usage: make_plan_data.py OUT GRAPH.json... -- DEVICE.json...
"""

import json
import pathlib
import sys

HEAD = """// SPDX-License-Identifier: GPL-2.0-or-later
/* Shipped graphs and devices; made by make_plan_data.py. */
#include "plan_report.h"
"""


def table(name, paths):
    rows = []
    for path in sorted(paths, key=lambda p: p.stem):
        text = json.dumps(json.loads(path.read_text()))
        pieces = [text[i:i + 1000] for i in range(0, len(text), 1000)]
        literal = "\n".join("\t  " + json.dumps(piece) for piece in pieces)
        rows.append(f'\t{{ "{path.stem}",\n{literal} }},\n')
    return (f"\nconst struct plan_file {name}[] = {{\n" + "".join(rows)
            + "\t{ NULL, NULL },\n};\n")


def main():
    out, *names = sys.argv[1:]
    middle = names.index("--")
    graphs = [pathlib.Path(n) for n in names[:middle]]
    devices = [pathlib.Path(n) for n in names[middle + 1:]]
    pathlib.Path(out).write_text(HEAD + table("plan_graph_files", graphs)
                                 + table("plan_hardware_files", devices))


if __name__ == "__main__":
    main()
