# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Print the folder under PREFIX in which this interpreter looks for packages.

Usage: sitedir.py PREFIX FALLBACK

FALLBACK is printed when the interpreter looks nowhere under PREFIX; the user
then sets PYTHONPATH.
"""

import os
import site
import sys


def main() -> None:
    prefix, fallback = sys.argv[1:]
    for folder in site.getsitepackages():
        if folder.startswith(os.path.join(prefix, "lib")):
            print(folder)
            return
    print(os.path.join(prefix, fallback))


main()
