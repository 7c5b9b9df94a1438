# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the dlboost command share.

DLBOOST names the command under test.  Pictures are made by Pillow here; none
come from elsewhere.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from PIL import Image

COLOURS = {"cat": (200, 40, 40), "dog": (40, 160, 60), "heron": (60, 80, 210)}
NR_CLASS = 12


class Dlboost:
    """Runs the command with folders of its own for cache and stats pages."""

    def __init__(self, command, home):
        self.command = command
        self.home = home
        self.env = dict(os.environ, XDG_CACHE_HOME=str(home / "cache"),
                        XDG_RUNTIME_DIR=str(home / "run"), LC_ALL="C.UTF-8")
        (home / "run").mkdir(mode=0o700, exist_ok=True)

    def start(self, *args, **options):
        return subprocess.Popen([self.command, *map(str, args)],
                                env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def run(self, *args, code=0, data=None, **options):
        """Stdout and stderr as text; the exit code must be @code."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("timeout", 120)
        done = subprocess.run([self.command, *map(str, args)],
                              env=self.env, stderr=subprocess.PIPE, input=data,
                              **options)
        out = (done.stdout or b"").decode("utf-8", "surrogateescape")
        err = done.stderr.decode("utf-8", "surrogateescape")
        assert done.returncode == code, f"{args}: {done.returncode}\n{out}{err}"
        return out, err

    def json(self, *args, code=0, **options):
        return json.loads(self.run(*args, "-j", code=code, **options)[0])


@pytest.fixture(scope="session")
def command():
    path = os.environ.get("DLBOOST")
    if not path:
        pytest.skip("DLBOOST does not name the command to test")
    return path


@pytest.fixture
def dlboost(command, tmp_path):
    return Dlboost(command, tmp_path)


def picture(path, colour, size=(80, 60), **options):
    """One colour with a gradient, so that no two pixels in a row are alike."""
    image = Image.new("RGB", size, colour)
    for x in range(size[0]):
        image.putpixel((x, x % size[1]), (x % 256, 255 - x % 256, 128))
    image.save(path, **options)


@pytest.fixture(scope="session")
def good(tmp_path_factory):
    """36 good pictures in three classes."""
    root = tmp_path_factory.mktemp("data") / "good"
    for name, colour in COLOURS.items():
        folder = root / name
        folder.mkdir(parents=True)
        for i in range(NR_CLASS):
            picture(folder / f"{i:02d}.jpg", colour,
                    size=((80, 60), (60, 80), (120, 90))[i % 3], quality=95,
                    subsampling=(0, 1, 2)[i % 3], progressive=i % 4 == 0)
    # An index does not trust folders that have changed just now
    for folder in (root, *root.iterdir()):
        os.utime(folder, (1_600_000_000, 1_600_000_000))
    return root


BAD = {
    "page.jpg": "NOT_AN_IMAGE",
    "empty.jpg": "NOT_AN_IMAGE",
    "cut.jpg": "TRUNCATED",
    "gone.jpg": "IO",
}


@pytest.fixture(scope="session")
def bad(good, tmp_path_factory):
    """The good ones and, in the first class, one of each kind of BAD."""
    root = tmp_path_factory.mktemp("data") / "bad"
    for source in sorted(good.rglob("*.jpg")):
        target = root / source.relative_to(good)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    whole = (root / "cat/01.jpg").read_bytes()
    (root / "cat/page.jpg").write_text("<!DOCTYPE html><html>404</html>")
    (root / "cat/empty.jpg").write_bytes(b"")
    (root / "cat/cut.jpg").write_bytes(whole[:len(whole) * 2 // 3])
    (root / "cat/gone.jpg").symlink_to("nowhere.jpg")
    for folder in (root, *root.iterdir()):
        os.utime(folder, (1_600_000_000, 1_600_000_000))
    return root


@pytest.fixture(scope="session")
def tree():
    return Path(__file__).resolve().parents[2]
