#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: exported symbols = version map = public headers = man pages of section 3.

The library is the one DLBOOST_LIBRARY names, else the one of make check or
make all.
"""

import os
import pathlib
import re
import subprocess

from gate import Gate, ROOT, read, tree_files

MAP = "libdl/libdlboost.map"


def from_map():
    return set(re.findall(r"^\s*(dlboost_\w+);", read(MAP), re.M))


def from_headers():
    """Functions declared in public headers; inline ones are not exported."""
    names = set()
    for name in tree_files(".h"):
        if not name.startswith("libdl/include/dlboost/"):
            continue
        text = re.sub(r"/\*.*?\*/", " ", read(name), flags=re.S)
        text = re.sub(r"^#.*(\\\n.*)*", " ", text, flags=re.M)
        text = re.sub(r"\{[^{}]*\}", " ", text.replace('extern "C" {', ""))
        for statement in text.split(";"):
            found = re.search(r"\b(dlboost_\w+)\s*\(", statement)
            if found and "static inline" not in statement:
                names.add(found[1])
    return names


def from_library(path):
    listed = subprocess.run(["nm", "-D", "--defined-only", str(path)],
                            stdout=subprocess.PIPE, check=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines()
            if line.split()[1] in "TDBRV"}


def from_man_pages():
    """Names in the SYNOPSIS of the pages."""
    names = set()
    for name in tree_files(".3.rst"):
        found = re.search(r"^SYNOPSIS\n=+\n(.*?)^\w[^\n]*\n={3,}\n", read(name),
                          re.M | re.S)
        if found:
            names.update(re.findall(r"\b(dlboost_\w+)\s*\\?\(", found[1]))
    return names


def compare(gate, title, left, right, left_name, right_name):
    for name in sorted(left - right):
        gate.problem(right_name, 0, f"{name} is missing ({left_name} has it)")
    for name in sorted(right - left):
        gate.problem(left_name, 0, f"{name} is missing ({right_name} has it)")
    gate.rule(f"symbols: {title}")


def find_library():
    named = os.environ.get("DLBOOST_LIBRARY")
    if named:
        return pathlib.Path(named)
    for build in ("gcc", "release"):
        path = ROOT / "build" / build / "libdl/libdlboost.so"
        if path.exists():
            return path
    return None


def main():
    gate = Gate()
    headers = from_headers()
    compare(gate, "headers = version map", headers, from_map(),
            "public headers", MAP)
    library = find_library()
    if library is None:
        gate.skip("symbols: version map = library",
                  "no libdlboost.so built yet")
    else:
        versions = {n for n in from_library(library) if n.startswith("LIBDLBOOST_")}
        compare(gate, "version map = library", from_map(),
                from_library(library) - versions, MAP, library.name)
    compare(gate, "headers = man pages", headers, from_man_pages(),
            "public headers", "Documentation/man")
    gate.done()


if __name__ == "__main__":
    main()
