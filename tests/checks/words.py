#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: words that have no place in the tree.

Unfinished work belongs to the issue tracker; hosts and paths of one machine
make a build depend on it.
"""

import re

from gate import Gate, is_text, read, tree_files

RULES = (
    ("no marks of unfinished work",
     # Split, so that this file does not find itself
     r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"),
    ("no host of a package registry",
     r"(deb|snapshot|security)\.deb" r"ian\.org|py" r"pi\.org|pythonho" r"sted|"
     r"npm" r"js\.org|archive\.ubu" r"ntu"),
    ("no path of one machine",
     r"(?<![\w.])/(work|home|root)/\w|/tmp/[a-z]+\.md"),
    ("no conflict markers", r"^(<{7}|>{7}|={7})( |$)"),
)
# These words are their subject
EXEMPT = {
    "no path of one machine": r"tests/cli/|tests/unit/dataset/",
    "no conflict markers": r"\.rst$",
}


def main():
    gate = Gate()
    names = [n for n in tree_files()
             if is_text(n) and not n.startswith("LICENSES/")]
    for title, pattern in RULES:
        for name in names:
            if title in EXEMPT and re.search(EXEMPT[title], name):
                continue
            for number, text in enumerate(read(name).splitlines(), 1):
                found = re.search(pattern, text)
                if found:
                    gate.problem(name, number, f"'{found[0]}'")
        gate.rule(f"words: {title}")
    gate.done()


if __name__ == "__main__":
    main()
