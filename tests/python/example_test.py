# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of Documentation/examples run and do what they claim."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import repository

EXAMPLES = repository() / "Documentation" / "examples"


def run(name, *argv):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *map(str, argv)],
        timeout=120,
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """digits.csv.gz: named, installed, or out of Debian's package."""
    if "DLBOOST_TEST_DIGITS" in os.environ:
        return os.environ["DLBOOST_TEST_DIGITS"]
    spec = importlib.util.find_spec("sklearn")
    if spec is not None:
        return None  # the example finds it by itself
    if shutil.which("apt-get") is None:
        pytest.skip("no scikit-learn, and no apt-get to fetch its digits")
    folder = tmp_path_factory.mktemp("sklearn")
    fetched = subprocess.run(
        ["apt-get", "download", "-qq", "python3-sklearn"],
        cwd=folder,
        timeout=100,
        capture_output=True,
        check=False,
    )
    packages = list(folder.glob("*.deb"))
    if fetched.returncode or not packages:
        pytest.skip("no scikit-learn, and its package cannot be fetched")
    subprocess.run(["dpkg-deb", "-x", packages[0], folder], check=True)
    (path,) = folder.glob("usr/**/digits.csv.gz")
    return path


def test_train_small_reaches_its_accuracy_twice(digits):
    pytest.importorskip("torch", reason="python3-torch is not installed")
    argv = ("--digits", digits) if digits else ()
    first = run("train_small.py", *argv)
    assert first.returncode == 0, first.stdout + first.stderr
    accuracy = float(re.search(r"accuracy (\S+)", first.stdout)[1])
    assert accuracy >= 0.96
    losses = re.findall(r"loss (\S+)", first.stdout)
    assert len(losses) == 30
    # Same seeds, same network: the losses of the first epochs are the same
    again = run("train_small.py", *argv, "--epochs", "3")
    assert re.findall(r"loss (\S+)", again.stdout) == losses[:3]


def test_resume_exact_sees_what_one_run_sees(photos, tmp_path):
    def samples(text):
        return [line for line in text.splitlines() if "samples" in line]

    straight = run("resume_exact.py", photos, tmp_path / "a.json")
    assert straight.stdout.endswith("done\n"), straight.stderr
    lines = []
    for _ in range(10):
        part = run("resume_exact.py", photos, tmp_path / "b.json", 2)
        assert part.returncode == 0, part.stderr
        lines += samples(part.stdout)
        if part.stdout.endswith("done\n"):
            break
    assert lines == samples(straight.stdout)
    assert len(lines) == 6


def test_loader_torch_prints_batches(photos):
    pytest.importorskip("torch", reason="python3-torch is not installed")
    done = run("loader_torch.py", photos)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(21, 3, 224, 224)")
