#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: man pages render without a warning, have their sections, name everything.

That every function is in a page is symbols.py's business; this one asks for
every sub-command of the dlboost command that DLBOOST names, or of make check's.
"""

import os
import pathlib
import re
import subprocess
import tempfile

from gate import Gate, ROOT, read, tree_files

FOLDER = "Documentation/man/"
SECTIONS = {
    "1": ["SYNOPSIS", "DESCRIPTION", "EXAMPLES", "SEE ALSO"],
    "3": ["SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "NOTES", "EXAMPLES",
          "SEE ALSO"],
    "7": ["DESCRIPTION", "EXAMPLES", "SEE ALSO"],
}


def render(gate, name, folder):
    page = folder / pathlib.Path(name).name.removesuffix(".rst")
    made = subprocess.run(["/usr/bin/python3", "Documentation/rst2man.py", name,
                           str(page), "0"], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if made.returncode or made.stdout:
        gate.problem(name, 0, made.stdout.strip().splitlines()[-1])
        return
    lint = subprocess.run(["mandoc", "-Tlint", "-W", "warning", str(page)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    for line in lint.stdout.splitlines():
        gate.problem(name, 0, line.removeprefix("mandoc: "))


def check_sections(gate, name):
    found = re.findall(r"^([A-Z][A-Z ]+)\n=+$", read(name), re.M)
    for section in SECTIONS.get(name.split(".")[-2], []):
        if section not in found:
            gate.problem(name, 0, f"no section {section}")


def check_links(gate, names):
    """Every page named under SEE ALSO exists."""
    present = {pathlib.Path(n).name.removesuffix(".rst") for n in names}
    for name in names:
        for page, section in re.findall(r"\*\*(dlboost[\w-]*)\*\*\\ \((\d)\)",
                                        read(name)):
            if section == "3" and f"{page}.3" not in present and \
                    re.search(rf"\b{page}\(", "".join(map(read, names))):
                continue
            if f"{page}.{section}" not in present:
                gate.problem(name, 0, f"names {page}({section}), no such page")


def sub_commands():
    command = os.environ.get("DLBOOST", str(ROOT / "build/gcc/tools/dlboost"))
    if not os.access(command, os.X_OK):
        return None
    usage = subprocess.run([command, "--help"], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True).stdout
    return set(re.findall(r"^  ([a-z]+)(?: |$)", usage, re.M))


def main():
    gate = Gate()
    names = [n for n in tree_files(".rst") if n.startswith(FOLDER)]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            render(gate, name, pathlib.Path(folder))
    gate.rule(f"man: {len(names)} pages render without a warning")
    for name in names:
        check_sections(gate, name)
    gate.rule("man: pages have their sections")
    check_links(gate, names)
    gate.rule("man: pages named are there")
    commands = sub_commands()
    title = "man: every sub-command has a page or a place in dlboost(1)"
    if commands is None:
        gate.skip(title, "the dlboost command is not built")
    else:
        text = "".join(read(n) for n in names if n.endswith(".1.rst"))
        if not commands:
            gate.problem("dlboost --help", 0, "lists no sub-commands")
        for command in sorted(commands):
            if not re.search(rf"dlboost[- *`]+{command}\b", text):
                gate.problem(FOLDER, 0, f"'dlboost {command}' is in no page")
        gate.rule(title)
    gate.done()


if __name__ == "__main__":
    main()
