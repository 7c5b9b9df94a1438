#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: commit messages.

usage: commits.py [RANGE]

Without RANGE: what the upstream branch does not have, else the last commit (what
lies before it can be changed no more).  Rules:
"area: verb what" in at most 72 columns without a full stop, a blank second line,
a body wrapped at 72, Signed-off-by.
"""

import re
import subprocess
import sys

from gate import Gate, ROOT

COLUMNS = 72
# As checkpatch: a body wrapped at 72 has a line of 75 where a word demands it
BODY_COLUMNS = 75
SUBJECT = re.compile(r"^[A-Za-z.][\w./+-]*: [a-z]")
TRAILER = re.compile(r"^[A-Z][A-Za-z-]+: ")


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), "-c",
                           f"safe.directory={ROOT}", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, text=True, errors="replace").stdout


def default_range():
    try:
        git("rev-parse", "--verify", "@{upstream}")
        return ["@{upstream}..HEAD"]
    except subprocess.CalledProcessError:
        return ["-1", "HEAD"]


def check_message(gate, commit, message):
    lines = message.rstrip("\n").split("\n")
    subject = lines[0]
    if len(subject) > COLUMNS:
        gate.problem(commit, 0, f"subject has {len(subject)} columns")
    if not SUBJECT.match(subject):
        gate.problem(commit, 0, f"subject is no 'area: verb what': {subject}")
    if subject.endswith("."):
        gate.problem(commit, 0, "subject ends with a full stop")
    if len(lines) > 1 and lines[1]:
        gate.problem(commit, 0, "second line is not blank")
    for text in lines[1:]:
        # What cannot be wrapped: trailers, quoted output, single long words
        if len(text) > BODY_COLUMNS and not TRAILER.match(text) \
                and not text.startswith((" ", "\t")) and " " in text.strip():
            gate.problem(commit, 0, f"line of {len(text)} columns: {text[:40]}...")
    if not re.search(r"^Signed-off-by: .+ <.+@.+>$", message, re.M):
        gate.problem(commit, 0, "no Signed-off-by")


def main():
    gate = Gate()
    try:
        commits = git("rev-list", "--no-merges",
                      *(sys.argv[1:] or default_range())).split()
    except (OSError, subprocess.CalledProcessError):
        gate.skip("commits: messages", "no git history here")
        gate.done()
    for commit in commits:
        check_message(gate, commit[:12], git("log", "-1", "--format=%B", commit))
    gate.rule(f"commits: {len(commits)} messages")
    gate.done()


if __name__ == "__main__":
    main()
