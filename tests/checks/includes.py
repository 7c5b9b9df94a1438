#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: includes follow the arrows of Documentation/architecture.rst."""

import os
import re

from gate import Gate, ROOT, read, tree_files

# Who (first match wins) may include which private headers of libdl
ARROWS = (
    (r"libdl/base/", r"libdl/base/"),
    (r"libdl/image/", r"libdl/(base|image)/"),
    (r"libdl/engine/(cpu|job)", r"libdl/(base|image|engine)/"),
    (r"libdl/engine/", r"libdl/((base|engine)/|image/recipe\.h)"),
    (r"libdl/stream/",
     r"libdl/((base|stream)/|image/recipe\.h|engine/engine\.h)"),
    (r"libdl/plan/", r"libdl/(base|plan)/"),
    (r"libdl/include/", r"libdl/include/"),
    (r"libdl/python/", r"libdl/python/"),
    (r"tests/unit/base/", r"libdl/base/|tests/unit/"),
    (r"tests/unit/(recipe|resample|decode)/", r"libdl/(base|image)/|tests/unit/"),
    (r"tests/unit/order/",
     r"libdl/((base|stream)/|image/(recipe|draw)\.h)|tests/unit/"),
    (r"tests/unit/dataset/", r"libdl/(base|stream)/|tests/unit/"),
    (r"tests/(unit|fuzz|stress)/",
     r"libdl/(base|image|engine|stream)/|tests/(unit|fuzz|stress)/"),
    # Measures the resampling alone, below any public call
    (r"tests/bench/resample_bench\.c", r"libdl/(base|image)/|tests/"),
    # Measures what is left of a stream when reading and decoding are taken off
    (r"tests/bench/stream_overhead\.c",
     r"libdl/(base|image|engine|stream)/|tests/"),
    (r"(tools|tests|Documentation)/", r"(tools|tests|Documentation)/"),
)
# Headers of other projects and the folders that may know them
LIBRARIES = (
    (r"jpeglib\.h|jerror\.h|jconfig\.h|jmorecfg\.h",
     r"libdl/image/|tools/dlboost/synth|tests/(unit|golden|bench)/"),
    (r"spng\.h", r"libdl/image/|tools/dlboost/|tests/unit/decode/"),
    (r"turbojpeg\.h", r"tests/bench/"),
    (r"json-c/|json\.h", r"tools/|tests/cli/"),
    (r"numa(if)?\.h", r"libdl/(engine|stream)/"),
    (r"Python\.h", r"libdl/python/"),
    (r"cmocka\.h", r"tests/unit/"),
)
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def resolve(name, path):
    """Path from the root, or None when it is no file of the tree."""
    for base in (os.path.dirname(name), "libdl", "", "tests"):
        full = os.path.normpath(os.path.join(base, path))
        if (ROOT / full).is_file():
            return full
    return None


def check_quoted(gate, name, line, path):
    target = resolve(name, path)
    if target is None:
        # Made at build time, or not there: the compiler has the last word
        return
    for who, what in ARROWS:
        if re.match(who, name):
            if not re.match(what, target):
                gate.problem(name, line, f"must not include {target}")
            return


def check_angled(gate, name, line, path):
    if path.startswith("dlboost/"):
        if not (ROOT / "libdl/include" / path).is_file():
            gate.problem(name, line, f"<{path}> is no public header")
        elif path == "dlboost/dlboost.h" and name.startswith("libdl/include/"):
            gate.problem(name, line, "the headers stand below <dlboost/dlboost.h>")
        return
    for what, who in LIBRARIES:
        if re.match(what, path) and not re.match(who, name):
            gate.problem(name, line, f"must not know <{path}>")


def main():
    gate = Gate()
    for name in tree_files(".c", ".h"):
        includes = [(number, found[1], found[2])
                    for number, text in enumerate(read(name).splitlines(), 1)
                    for found in [INCLUDE.match(text)] if found]
        for number, kind, path in includes:
            if kind == '"':
                check_quoted(gate, name, number, path)
            else:
                check_angled(gate, name, number, path)
    gate.rule("includes: arrows of Documentation/architecture.rst")
    gate.done()


if __name__ == "__main__":
    main()
