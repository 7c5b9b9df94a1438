# SPDX-License-Identifier: GPL-2.0-or-later
"""What every gate shares: which files belong to the tree, and TAP output.

A gate prints one TAP line for each rule it knows and "# file:line: why" for
whatever breaks it.  Each can be run alone, from any folder.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tree_files(*suffixes):
    """Paths below ROOT that git knows or would take up; build outputs are out."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", "ls-files",
             "-z", "--cached", "--others", "--exclude-standard"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        names = {os.fsdecode(n) for n in listed.stdout.split(b"\0") if n}
    except (OSError, subprocess.CalledProcessError):
        # An unpacked archive is no repository
        names = {str(p.relative_to(ROOT)) for p in ROOT.rglob("*")
                 if not p.relative_to(ROOT).parts[0].startswith(("build", ".git"))}
    found = [name for name in sorted(names) if (ROOT / name).is_file()]
    return [n for n in found if not suffixes or n.endswith(suffixes)]


def is_text(name):
    return b"\0" not in (ROOT / name).read_bytes()[:8000]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="surrogateescape")


class Gate:
    """One TAP stream; ok(), problem(), skip(), then done()."""

    def __init__(self):
        self.results = []
        self.problems = []

    def problem(self, name, line, why):
        where = f"{name}:{line}" if line else name
        self.problems.append(f"{where}: {why}")

    def rule(self, title):
        """Closes a rule: failed if problem() was called since the last one."""
        number = len(self.results) + 1
        for text in self.problems:
            print("# " + text.encode(errors="replace").decode())
        print(f"{'not ok' if self.problems else 'ok'} {number} - {title}",
              flush=True)
        self.results.append(not self.problems)
        self.problems = []

    def skip(self, title, reason):
        self.results.append(True)
        print(f"ok {len(self.results)} - {title} # SKIP {reason}", flush=True)

    def done(self):
        print(f"1..{len(self.results)}")
        sys.exit(0 if all(self.results) else 1)
