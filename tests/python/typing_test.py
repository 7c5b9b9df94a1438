# SPDX-License-Identifier: GPL-2.0-or-later
"""Types: the stubs say what the extension has, and mypy agrees."""

import ast
import pathlib
import subprocess
import sys

import pytest

import dlboost
from dlboost import _core
from conftest import repository

PACKAGE = repository() / "libdl" / "python" / "dlboost"


def stub_classes():
    tree = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name, {
                one.name
                for one in node.body
                if isinstance(one, ast.FunctionDef)
            }


# From slots of the type; typing knows them by these names
IMPLIED = {"__buffer__", "__len__", "__getitem__", "__iter__"}


@pytest.mark.parametrize("name, stubs", list(stub_classes()))
def test_stubs_have_what_the_types_have(name, stubs):
    kind = getattr(_core, name)
    own = {one for one in vars(kind) if not one.startswith("__")}
    own |= {"__dlpack__", "__dlpack_device__", "__enter__", "__exit__"} & set(
        vars(kind)
    )
    assert stubs - IMPLIED == own


def test_everything_public_has_a_docstring():
    for name in dlboost.__all__:
        one = getattr(dlboost, name)
        if name != "__version__":
            assert one.__doc__, name
    for kind in (dlboost.Array, dlboost.Batch, dlboost.Loader):
        for name, one in vars(kind).items():
            if not name.startswith("_"):
                assert one.__doc__, f"{kind.__name__}.{name}"


def test_the_package_is_marked_as_typed():
    assert (pathlib.Path(dlboost.__file__).parent / "py.typed").exists()


def test_mypy_strict():
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental",
         "--config-file=", str(PACKAGE)],
        text=True,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
