# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures and folders for the tests of the Python package.

The package under test is found by PYTHONPATH (the build tree, set by
`meson test`) or where it is installed.
"""

import io
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
from PIL import Image


@pytest.fixture(autouse=True, scope="session")
def private_folders(tmp_path_factory):
    """Indexes and stats pages of the tests stay out of the user's folders."""
    base = tmp_path_factory.mktemp("xdg")
    for name in ("XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        folder = base / name
        folder.mkdir(mode=0o700)
        os.environ[name] = str(folder)


def picture(number, width=64, height=48):
    """A picture with gradients and noise, another one for each number."""
    random = numpy.random.default_rng(number)
    y, x = numpy.mgrid[0:height, 0:width]
    base = numpy.stack(
        [x * 255 / width, y * 255 / height, (x + y + number * 16) % 256], -1
    )
    noise = random.normal(0, 12, base.shape)
    return Image.fromarray(
        numpy.clip(base + noise, 0, 255).astype(numpy.uint8)
    )


def jpeg_bytes(image, **options):
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **{"quality": 90, **options})
    return buffer.getvalue()


def make_folder(folder, classes=("ape", "bee", "cat"), each=7):
    """A folder of class folders; returns the paths in dlboost's order."""
    paths = []
    number = 0
    for name in classes:
        (folder / name).mkdir(parents=True)
        for i in range(each):
            path = folder / name / f"{i:03d}.jpg"
            path.write_bytes(
                jpeg_bytes(
                    picture(number, 40 + 9 * i, 64 - 3 * i),
                    subsampling=number % 3,
                )
            )
            paths.append(str(path))
            number += 1
    return paths


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """21 good pictures in 3 classes."""
    folder = tmp_path_factory.mktemp("photos")
    make_folder(folder)
    return folder


@pytest.fixture
def folder(tmp_path):
    """21 good pictures in 3 classes, for the test alone to spoil."""
    folder = tmp_path / "data"
    make_folder(folder)
    return folder


@pytest.fixture
def run_python():
    """Run a program in another process; it gets argv and must exit with 0."""

    def run(program, *argv, timeout=60, **kwargs):
        return subprocess.run(
            [sys.executable, "-c", program, *map(str, argv)],
            timeout=timeout,
            text=True,
            capture_output=True,
            check=False,
            **kwargs,
        )

    return run


SMALL = "imagenet-train:size=32"


def repository():
    return pathlib.Path(__file__).resolve().parents[2]
