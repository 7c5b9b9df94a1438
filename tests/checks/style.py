#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: the part of the kernel's coding style that a script can decide.

CONTRIBUTING.md says why clang-format is a help here and not a judge.
"""

import re

from gate import Gate, is_text, read, tree_files

# 80 is wished (sizes.py lists what is wider), 100 is the end
COLUMNS_C = 100
COLUMNS_OTHER = 100
KEYWORDS = "if|for|while|switch|return|sizeof"


def width(text):
    return len(text.expandtabs(8))


def check_text(gate, name, lines, text):
    """Rules of every text file."""
    if text and not text.endswith("\n"):
        gate.problem(name, len(lines), "no newline at the end")
    if text.endswith("\n\n"):
        gate.problem(name, len(lines), "blank line at the end")
    for number, line in enumerate(lines, 1):
        if line.endswith((" ", "\t", "\r")):
            gate.problem(name, number, "blank at the end of the line")
        elif re.search(r"^ +\t", line) and not name.endswith((".md", ".rst")):
            gate.problem(name, number, "blank before a tab")


def strip_literals(line):
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    return re.sub(r"'(\\.|[^'\\])+'", "' '", line)


def check_layout(gate, name, number, line, code):
    if width(line) > COLUMNS_C and '"' not in line:
        gate.problem(name, number, f"{width(line)} columns")
    if re.match(r" {8}", line):
        gate.problem(name, number, "indented by blanks")
    if re.search(rf"\b({KEYWORDS})\(", code) and \
            re.search(r"\b(if|for|while|switch)\(", code):
        gate.problem(name, number, "no blank after a keyword")
    if re.search(r"\bsizeof \(|\bsizeof [a-z*]", code):
        gate.problem(name, number, "sizeof is written sizeof(x)")
    if re.match(r"\s*(\} else )?(if|for|while|switch)\b.*\)\{$", code):
        gate.problem(name, number, "no blank before {")
    if re.search(r"[^\s(]\s*,[^\s\\]", code) and not code.lstrip().startswith("#"):
        gate.problem(name, number, "no blank after a comma")


def check_words(gate, name, number, code):
    if re.search(r"(?<!:)//", code) and number > 1:
        gate.problem(name, number, "// comment")
    if re.match(r"\s*typedef\b", code) and "(*" not in code:
        gate.problem(name, number, "typedef")
    if re.match(r"#\s*if\s+0\b", code):
        gate.problem(name, number, "dead code")
    if not name.startswith("tests/") and re.search(r"\b(strcpy|strcat|vsprintf|gets|strtok)\s*\(",
                                                     code):
        gate.problem(name, number, "C library call without a bound")
    if re.match(r"^[a-z].*\)\s*\{$", code) and not re.search(
            r"=|\bstruct \w+ \{|^(enum|union)\b", code):
        gate.problem(name, number, "{ of a function stands on its own line")


def code_lines(text):
    """Lines with comments blanked out: same numbers, no words of prose."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])
    return re.sub(r"/\*.*?\*/", blank, text, flags=re.S).splitlines()


def check_c(gate, name, lines, text):
    bare = code_lines(text)
    for number, line in enumerate(lines, 1):
        code = strip_literals(bare[number - 1])
        check_layout(gate, name, number, line, code)
        check_words(gate, name, number, code)


def check_top(gate, name, lines):
    """A .c file begins with what it owns."""
    if len(lines) < 3 or not lines[1].startswith("/*"):
        gate.problem(name, 2, "no comment that says what the file owns")
        return


def main():
    gate = Gate()
    texts = {n: read(n) for n in tree_files()
             if is_text(n) and not n.startswith("LICENSES/")
             and not n.endswith((".svg", ".tsv", ".jsonl"))}
    for name, text in texts.items():
        check_text(gate, name, text.split("\n")[:-1], text)
    gate.rule("style: line ends and blanks")
    for name, text in texts.items():
        if name.endswith((".c", ".h")):
            check_c(gate, name, text.splitlines(), text)
    gate.rule("style: C as the kernel writes it")
    for name, text in texts.items():
        if name.endswith(".c"):
            check_top(gate, name, text.splitlines())
    gate.rule("style: every .c file says what it owns")
    for name, text in texts.items():
        if name.endswith((".py", ".sh", "meson.build", "Makefile")):
            for number, line in enumerate(text.splitlines(), 1):
                if width(line) > COLUMNS_OTHER:
                    gate.problem(name, number, f"{width(line)} columns")
    gate.rule(f"style: scripts within {COLUMNS_OTHER} columns")
    gate.done()


if __name__ == "__main__":
    main()
