#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints what is longer than wished; never fails.

Guides: a function 60 lines (40 wished), a file 800 (500), 6 parameters, 80
columns.
"""

import re

from gate import Gate, read, tree_files

FUNCTION_LINES = 60
FILE_LINES = 800
PARAMETERS = 6
COLUMNS = 80


def functions(lines):
    """(name, first line, number of lines, parameters), by the kernel's layout:
    the body's braces stand in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            head = ""
            back = start - 1
            while back > 0 and lines[back - 1].strip() and \
                    not lines[back - 1].startswith(("}", "#", " *", "/*")):
                back -= 1
                head = lines[back] + " " + head
            found = re.search(r"(\w+)\s*\((.*)\)\s*$", head.strip())
            if found:
                yield found[1], start, number - start + 1, found[2].count(",") + 1
            start = None


def main():
    gate = Gate()
    nr_functions = 0
    lengths = []
    for name in tree_files(".c", ".h"):
        lines = read(name).splitlines()
        if len(lines) > FILE_LINES:
            print(f"# {name}: {len(lines)} lines")
        for function, line, length, parameters in functions(lines):
            nr_functions += 1
            lengths.append(length)
            if length > FUNCTION_LINES:
                print(f"# {name}:{line}: {function}() has {length} lines")
            if parameters > PARAMETERS and name.startswith("libdl/"):
                print(f"# {name}:{line}: {function}() has {parameters} parameters")
        wide = [n for n, text in enumerate(lines, 1)
                if len(text.expandtabs(8)) > COLUMNS]
        if wide:
            shown = ", ".join(map(str, wide[:8])) + (" ..." if wide[8:] else "")
            print(f"# {name}: wider than {COLUMNS} columns: {shown}")
    lengths.sort()
    if lengths:
        print(f"# {nr_functions} functions, lines: median "
              f"{lengths[len(lengths) // 2]}, 90 % below "
              f"{lengths[len(lengths) * 9 // 10] + 1}, longest {lengths[-1]}")
    gate.rule("sizes: looked at")
    gate.done()


if __name__ == "__main__":
    main()
