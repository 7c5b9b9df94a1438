# SPDX-License-Identifier: GPL-2.0-or-later
"""pip installs the package: offline, from a source distribution.

Promises of Documentation/python.rst, "Installing".  Compiles the library once.
"""

import os
import pathlib
import subprocess
import sys
import tarfile

import pytest

from conftest import jpeg_bytes, picture, repository

for module in ("setuptools", "wheel", "mesonbuild", "pip"):
    pytest.importorskip(module, reason=f"{module} is not installed")

BACKEND = """
import os, sys
sys.path.insert(0, sys.argv[1])
import dlboost_backend
print(getattr(dlboost_backend, sys.argv[2])(sys.argv[3]))
"""

USE = """
import sys, dlboost
with open(sys.argv[1], "rb") as file:
    array = dlboost.decode(file.read())
print(dlboost.__file__, dlboost.__version__, *array.shape)
"""


def last_line(*argv, **kwargs):
    done = subprocess.run(
        [sys.executable, *map(str, argv)],
        text=True,
        capture_output=True,
        check=False,
        timeout=600,
        **kwargs,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """What the source distribution holds, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    backend = repository() / "libdl" / "python"
    name = last_line("-c", BACKEND, backend, "build_sdist", folder)
    with tarfile.open(folder / name) as archive:
        archive.extractall(folder)
    return folder / name[: -len(".tar.gz")]


def test_the_source_distribution_is_of_sources(sources):
    names = {path.suffix for path in sources.rglob("*") if path.is_file()}
    assert not names & {".so", ".pyc", ".o", ".a"}
    assert (sources / "PKG-INFO").read_text().startswith("Metadata-Version")
    assert list((sources / "LICENSES").iterdir())


@pytest.mark.parametrize("where", [".", "libdl/python"])
def test_both_folders_can_be_installed(sources, tmp_path, where):
    # What pip asks first of the folder it is given
    text = (sources / where / "pyproject.toml").read_text()
    assert 'build-backend = "dlboost_backend"' in text
    backend = sources / "libdl" / "python"
    folder = last_line(
        "-c", BACKEND, backend, "prepare_metadata_for_build_wheel", tmp_path,
        cwd=sources / where,
    )
    metadata = (tmp_path / folder / "METADATA").read_text()
    assert "Name: dlboost\n" in metadata


def test_pip_installs_without_the_network(sources, tmp_path):
    target = tmp_path / "target"
    last_line(
        "-m", "pip", "install", "--no-build-isolation", "--no-index",
        "--no-deps", "--disable-pip-version-check", "--target", target, sources,
        cwd=tmp_path,
    )
    file = tmp_path / "a.jpg"
    file.write_bytes(jpeg_bytes(picture(1, 30, 20)))
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD")
    }
    where, version, *shape = last_line(
        "-c", USE, file, cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(target)},
    ).split()
    assert pathlib.Path(where).is_relative_to(target)
    assert f"version: '{version}'" in (sources / "meson.build").read_text()
    assert shape == ["20", "30", "3"]
    (extension,) = target.glob("dlboost/_core*.so")
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", extension],
        text=True,
        capture_output=True,
        check=True,
    ).stdout.split()
    assert symbols[2::3] == ["PyInit__core"]
