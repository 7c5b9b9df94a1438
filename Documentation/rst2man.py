#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turn a man page in reStructuredText into roff that mandoc has no word against.

usage: rst2man.py PAGE.rst PAGE.N VERSION
       rst2man.py --names PAGE.rst...

The page has bpftool's form: a title, a subtitle that becomes the NAME section,
and ":Manual section: N".  docutils does the work; what mandoc would complain of
in its output is put right here.  --names prints "PAGE.N alias" for each function
in a SYNOPSIS of section 3 that is not the page's own name.
"""

import os
import re
import sys
import time

PAGE = re.compile(r"(?P<name>[\w.-]+)\.(?P<section>[1-9])\.rst$")


def fields(path):
    found = PAGE.match(os.path.basename(path))
    if not found:
        sys.exit(f"{path}: not NAME.SECTION.rst")
    return found["name"], found["section"]


def synopsis(text):
    found = re.search(r"^SYNOPSIS\n=+\n(.*?)^\w[^\n]*\n={3,}\n", text, re.M | re.S)
    return found[1] if found else ""


def print_names(paths):
    for path in paths:
        name, section = fields(path)
        if section != "3":
            continue
        with open(path, encoding="utf-8") as page:
            called = re.findall(r"\b(dlboost_\w+)\s*\\?\(", synopsis(page.read()))
        for alias in sorted(set(called) - {name}):
            print(f"{name}.{section} {alias}.{section}")


def date_of(path):
    """The page's own date, or the one a reproducible build demands."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or os.stat(path).st_mtime
    return time.strftime("%Y-%m-%d", time.gmtime(float(seconds)))


def tidy(roff, name, section, date, version):
    roff = re.sub(r'^\.TH .*$',
                  f'.TH "{name.upper()}" "{section}" "{date}" '
                  f'"dlboost {version}" "dlboost manual"', roff, flags=re.M)
    # The font of an output device that is no longer made
    roff = re.sub(r"^\.ft C$", ".ft CR", roff, flags=re.M)
    # docutils wraps every block in two macros of its own
    roff = re.sub(r"^\.INDENT ([\d.]+)$", r".RS \1", roff, flags=re.M)
    roff = re.sub(r"^\.UNINDENT$", ".RE", roff, flags=re.M)
    roff = re.sub(r"^\.\n\.nr rst2man-indent-level.*?^\.\.\n(?=\.TH)", "", roff,
                  flags=re.M | re.S)
    # Vertical space where a macro already makes it
    roff = re.sub(r"^(\.S[HS] .*\n)(\.sp\n)+", r"\1", roff, flags=re.M)
    roff = re.sub(r"^\.sp\n(?=\.RS)", "", roff, flags=re.M)
    roff = re.sub(r"^\.$\n", "", roff, flags=re.M)
    return roff


def convert(source, target, version):
    import docutils.core
    from docutils.writers import manpage

    name, section = fields(source)
    roff = docutils.core.publish_file(
        source_path=source, destination_path=target, writer=manpage.Writer(),
        settings_overrides={"report_level": 2, "halt_level": 2,
                            "input_encoding": "utf-8",
                            "output_encoding": "utf-8"})
    with open(target, "w", encoding="utf-8") as out:
        out.write(tidy(roff, name, section, date_of(source), version))


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--names":
        print_names(sys.argv[2:])
    elif len(sys.argv) == 4:
        convert(*sys.argv[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
