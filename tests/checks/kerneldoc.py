#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: kernel-doc of the public headers is complete and in its fixed order.

Asks more than scripts/kernel-doc of the kernel, which reads only what is there:
every public name has a comment; its parameters or members are all described, in
their order; summary, parameters, text, Since, Context, Return stand in this
order; what returns something says what.
"""

import re

from gate import Gate, read, tree_files

COMMENT = re.compile(r"/\*\*[ \n](.*?)\*/", re.S)
SUMMARY_COLUMNS = 72


def declaration_after(text, end):
    """The declaration a comment stands on, up to its ; (or the } of a body)."""
    depth = 0
    for index in range(end, len(text)):
        char = text[index]
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == ";" and depth == 0:
            return text[end:index]
    return ""


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def parameters_of(declaration):
    inside = declaration[declaration.index("(") + 1:declaration.rindex(")")]
    parts, depth, part = [], 0, ""
    for char in inside + ",":
        if char == "," and depth == 0:
            parts.append(part.strip())
            part = ""
            continue
        depth += (char == "(") - (char == ")")
        part += char
    names = []
    for part in parts:
        if part in ("void", ""):
            continue
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", part)
        names.append(pointer[1] if pointer else
                     re.search(r"(\w+)\s*(\[[^]]*\])?$", part)[1])
    return names


def members_of(declaration):
    body = declaration[declaration.index("{") + 1:declaration.rindex("}")]
    names = []
    for part in body.split(";"):
        part = part.strip()
        if not part:
            continue
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", part)
        if pointer:
            names.append(pointer[1])
            continue
        for piece in part.split(","):
            names.append(re.search(r"(\w+)\s*(\[[^]]*\])*$", piece.strip())[1])
    return names


def enumerators_of(declaration):
    body = declaration[declaration.index("{") + 1:declaration.rindex("}")]
    return [p.split("=")[0].strip() for p in body.split(",") if p.strip()]


class Comment:
    """One kernel-doc comment, taken apart."""

    def __init__(self, raw, line):
        self.line = line
        self.lines = [re.sub(r"^\s*\* ?", "", text).rstrip()
                      for text in raw.strip().splitlines()]
        self.head = self.lines[0]
        self.described = []
        for text in self.lines[1:]:
            found = re.match(r"@(\w+):", text)
            if found:
                self.described.append(found[1])
            elif not text:
                break
        self.sections = [found[1] for text in self.lines
                         for found in [re.match(r"(Since|Context|Return):", text)]
                         if found]


def check_summary(gate, name, comment, wanted):
    found = re.match(rf"{re.escape(wanted)} - (.+)$", comment.head)
    if not found:
        gate.problem(name, comment.line, f"begins with '{wanted} - Summary'")
        return
    if found[1].endswith("."):
        gate.problem(name, comment.line, "the summary ends without a full stop")
    if len(comment.head) > SUMMARY_COLUMNS + 4:
        gate.problem(name, comment.line, "summary too long")
    if not found[1][0].isupper() and not found[1].startswith('"'):
        gate.problem(name, comment.line, "the summary begins with a capital")


def check_described(gate, name, comment, names, what):
    if comment.described == names:
        return
    missing = [n for n in names if n not in comment.described]
    extra = [n for n in comment.described if n not in names]
    why = "; ".join(filter(None, (
        "not described: " + ", ".join(missing) if missing else "",
        "described but not there: " + ", ".join(extra) if extra else "")))
    gate.problem(name, comment.line, why or f"{what} in another order")


def check_function(gate, name, comment, declaration):
    function = re.search(r"\b(\w+)\s*\(", declaration)[1]
    check_summary(gate, name, comment, f"{function}()")
    check_described(gate, name, comment, parameters_of(declaration), "parameters")
    wanted = [s for s in ("Since", "Context", "Return") if s in comment.sections]
    if comment.sections != wanted:
        gate.problem(name, comment.line, "sections are Since, Context, Return")
    returns = not re.match(r"\s*void\s+\w+\s*\(", declaration)
    if returns != ("Return" in comment.sections):
        gate.problem(name, comment.line, "says what it returns" if returns
                     else "returns nothing, but says so")


def check_declaration(gate, name, comment, declaration):
    declaration = without_comments(declaration).strip()
    found = re.match(r"(struct|enum|union)\s+(\w+)\s*(\{)?", declaration)
    if found and (found[3] or declaration == found[0].strip()):
        check_summary(gate, name, comment, f"{found[1]} {found[2]}")
        if found[3]:
            names = (enumerators_of if found[1] == "enum" else members_of)(
                declaration)
            check_described(gate, name, comment, names, "members")
    elif "(" in declaration:
        check_function(gate, name, comment, declaration)
    else:
        gate.problem(name, comment.line, "stands on no declaration")


def check_header(gate, name, text):
    documented = set()
    for found in COMMENT.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        comment = Comment(found[1], line)
        if comment.head.startswith("DOC:"):
            continue
        declaration = declaration_after(text, found.end())
        check_declaration(gate, name, comment, declaration)
        bare = without_comments(declaration)
        documented.update(re.findall(r"\b(dlboost_\w+)", bare.split("{")[0]))
    bare = without_comments(text)
    for found in re.finditer(
            r"^(?:struct|enum) (dlboost_\w+)\s*[{;]|^\w[\w *]*?\b(dlboost_\w+)\(",
            bare, re.M):
        public = found[1] or found[2]
        if public not in documented:
            gate.problem(name, 0, f"{public} has no kernel-doc comment")


def main():
    gate = Gate()
    for name in tree_files(".h"):
        if name.startswith("libdl/include/dlboost/"):
            check_header(gate, name, read(name))
    gate.rule("kerneldoc: public headers describe everything they declare")
    gate.done()


if __name__ == "__main__":
    main()
