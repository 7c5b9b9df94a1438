#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: every file says its licence, and it is the one its folder has."""

import re

from gate import Gate, ROOT, read, tree_files, is_text

PERMISSIVE = "MIT OR LGPL-2.1-or-later"
COPYLEFT = "GPL-2.0-or-later"
# First match wins
FOLDERS = (
    ("libdl/", PERMISSIVE),
    ("Documentation/examples/", PERMISSIVE),
    ("tests/unit/", PERMISSIVE),
    ("tests/fuzz/", PERMISSIVE),
    ("tools/", COPYLEFT),
    ("tests/", (COPYLEFT, PERMISSIVE)),
    (".ci/", COPYLEFT),
    ("Makefile", COPYLEFT),
    ("", (PERMISSIVE, COPYLEFT)),
)
# Formats without comments, and the licences themselves
NO_COMMENT = re.compile(
    r"(^LICENSES/|^COPYING$|\.(json|npy|png|jpg|bin|map|gitkeep)$|"
    r"(^|/)(py\.typed|\.gitignore|\.checkpatch\.conf)$|"
    r"^tests/(golden|fuzz|cli|unit)/.*\.(tsv|txt|out|err|dat|jsonl)$|"
    r"^tests/fuzz/(corpus|seeds)/)")


def check_licence(gate, name, licence):
    for prefix, wanted in FOLDERS:
        if name.startswith(prefix):
            break
    wanted = (wanted,) if isinstance(wanted, str) else wanted
    if licence not in wanted:
        gate.problem(name, 1, f"licence {licence}, this folder has "
                     + " or ".join(wanted))


def main():
    gate = Gate()
    licences = set()
    for name in tree_files():
        if NO_COMMENT.search(name) or not is_text(name):
            continue
        head = "\n".join(read(name).splitlines()[:4])
        found = re.search(
            r"SPDX-License-Identifier: ([A-Za-z0-9.+ -]+?)\s*(\*/|-->|$)", head,
            re.M)
        if not found:
            gate.problem(name, 1, "no SPDX-License-Identifier in the first lines")
            continue
        licences.update(re.split(r" (?:OR|AND|WITH) ", found[1]))
        check_licence(gate, name, found[1])
        if name.endswith(".c") and not read(name).startswith("// SPDX"):
            gate.problem(name, 1, "a .c file begins with // SPDX-License-...")
        if name.endswith(".h") and not read(name).startswith("/* SPDX"):
            gate.problem(name, 1, "a .h file begins with /* SPDX-License-... */")
    gate.rule("spdx: every file names the licence of its folder")
    for licence in sorted(licences):
        if not (ROOT / "LICENSES" / f"{licence}.txt").is_file():
            gate.problem("LICENSES", 0, f"the text of {licence} is missing")
    gate.rule("spdx: the text of every licence is in LICENSES")
    gate.done()


if __name__ == "__main__":
    main()
