# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
#
# Sphinx: make doc, tests/checks/docs.sh.  Debian's Sphinx alone, no extensions
# from elsewhere.
import pathlib
import re

_root = pathlib.Path(__file__).resolve().parents[1]

project = "dlboost"
author = "the dlboost authors"
copyright = author  # noqa: A001 (Sphinx's name)
release = re.search(r"version: '([\d.]+)'", (_root / "meson.build").read_text())[1]
version = release

extensions = []
exclude_patterns = ["examples/*"]
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {
    "description": "Training batches from pictures",
    "fixed_sidebar": True,
    "page_width": "70em",
}
html_copy_source = False
nitpicky = True
suppress_warnings = []
