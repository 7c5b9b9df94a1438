# SPDX-License-Identifier: GPL-2.0-or-later
"""Promises of dlboost(1), EXIT STATUS: what is wrong is named, with its code.

Nothing of a wrong call reaches stdout.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

WRONG = [
    (["rnu"], "did you mean 'run'"),
    (["frobnicate"], "no command 'frobnicate'"),
    (["--verison"], "did you mean '--version'"),
    (["--completion"], "needs bash, zsh or fish"),
    (["--completion", "tcsh"], "no shell 'tcsh'"),
    (["run"], "PATH is missing"),
    (["run", "a", "b"], "one argument too many: 'b'"),
    (["run", "{good}", "--bach", "3"], "did you mean '--batch'"),
    (["run", "{good}", "--batch"], "--batch needs a value"),
    (["run", "{good}", "--digest=1"], "--digest takes no value"),
    (["run", "{good}", "-x"], "no option '-x'"),
    (["run", "{good}", "--batch", "0"], "'0' is not a whole number from 1"),
    (["run", "{good}", "--batch", "-1"], "'-1' is not a whole number"),
    (["run", "{good}", "--batch", "3k"], "'3k' is not a whole number"),
    (["run", "{good}", "--seed", "18446744073709551616"], "not a whole number"),
    (["run", "{good}", "--max-bad", "101%"], "is not a share"),
    (["run", "{good}", "--max-bad", "nan"], "is not a share"),
    (["run", "{good}", "--on-error", "skip"], "did you mean 'skip-replace'"),
    (["run", "{good}", "--tail", "x"], "no value 'x'"),
    (["run", "{good}", "--rank", "2"], "--rank 2 is not below --world 1"),
    (["run", "{good}", "--recipe", "imagenet-trian"], "imagenet-train"),
    (["run", "{good}", "--recipe", "imagenet-train:sise=3"], "size"),
    (["run", "{good}", "--engine", "cpux"], "did you mean 'cpu'"),
    (["run", "{good}", "--engine", "cpu:worker=1"], "workers"),
    (["run", "{good}/cat/00.jpg"], "is a picture"),
    (["decode", "{good}/cat/00.jpg", "-j", "--out", "-"], "standard output"),
    (["recipe", "shov"], "did you mean 'show'"),
    (["recipe", "show"], "needs the name of a recipe"),
    (["recipe", "show", "cifar-tain"], "cifar-train"),
    (["engine", "show", "cup"], "did you mean 'cpu'"),
    (["selftest", "--engine", "nope"], "no engine 'nope'"),
    (["bench", "--recipe", "none"], "a recipe with a size"),
    (["plan"], "GRAPH... is missing"),
    (["plan", "resnet5"], "did you mean 'resnet50'"),
    (["plan", "nosuch"], "neither a shipped graph nor a file"),
    (["plan", "vgg16", "--hw", "v10"], "did you mean 'v100-fp32'"),
    (["plan", "vgg16", "--policy", "lis"], "did you mean 'list'"),
    (["plan", "vgg16", "--link", "10"], "'10' is no rate such as 10Gbit"),
    (["plan", "vgg16", "--link", "0Gbit"], "'0Gbit' is no rate"),
    (["plan", "vgg16", "--hop", "15"], "'15' is no time such as 15us"),
    (["plan", "vgg16", "--memory", "-1"], "'-1' is no size such as 16GiB"),
    (["plan", "vgg16", "--ranks", "6", "--local-ranks", "4"], "do not fill"),
    (["plan", "vgg16", "--overlap", "5%"], "needs --streams 2"),
    (["plan", "vgg16", "--jitter", "100%"], "must be below 100%"),
    (["plan", "vgg16", "--full"], "--full needs -j"),
    (["plan", "vgg16", "--svg", "-"], "--svg needs a file"),
    (["plan", "vgg16", "--check", "x"], "--check takes no GRAPH"),
]


@pytest.mark.parametrize("args,said", WRONG, ids=lambda v: " ".join(v)
                         if isinstance(v, list) else None)
def test_wrong_usage_ends_with_2(dlboost, good, args, said):
    out, err = dlboost.run(*(a.replace("{good}", str(good)) for a in args),
                           code=2)
    assert out == ""
    assert said in err
    assert err.startswith("dlboost: ")


FAILED = [
    (["run", "{tmp}/nosuch"], "nosuch: No such file or directory"),
    (["run", "{tmp}/hollow"], "no picture in it"),
    (["index", "{tmp}/hollow"], "no picture in it"),
    (["info", "{tmp}/nosuch"], "No such file"),
    (["verify", "{tmp}/nosuch.jpg"], "No such file"),
    (["decode", "{tmp}/nosuch.jpg"], "No such file"),
    (["decode", "{good}"], "Is a directory"),
    (["run", "{good}", "--resume", "{tmp}/nosuch"], "state"),
    (["run", "{good}", "--resume", "{good}/cat/00.jpg"], "state document"),
    (["run", "{good}", "--quarantine", "{good}/cat/00.jpg"], "quarantine"),
    (["run", "{good}", "--state-out", "{tmp}/no/s"], "cannot be written"),
    (["run", "{good}", "--contact-sheet", "{tmp}/no/s.png"], "cannot be written"),
    (["plan", "{tmp}/nosuch"], "nosuch: No such file or directory"),
    (["plan", "vgg16", "--svg", "{tmp}/no/t.svg"], "cannot be written"),
    (["plan", "--check", "{tmp}/nosuch"], "nosuch: No such file"),
    (["selftest", "--golden", "{tmp}/nosuch"], "table.tsv: No such file"),
]


@pytest.mark.parametrize("args,said", FAILED, ids=lambda v: " ".join(v)
                         if isinstance(v, list) else None)
def test_failures_end_with_1_and_name_the_place(dlboost, good, tmp_path, args,
                                                said):
    (tmp_path / "hollow").mkdir()
    _, err = dlboost.run(*(a.replace("{good}", str(good))
                           .replace("{tmp}", str(tmp_path)) for a in args),
                         code=1)
    assert said in err


def test_missing_device_ends_with_3(dlboost, good):
    for args in (["run", good], ["selftest"], ["recipe", "list"]):
        _, err = dlboost.run(*args, "-d", "dlboost77", code=3)
        assert err == "dlboost: device dlboost77: No such device\n"


@pytest.fixture
def open_folder():
    """A folder that every user may pass, unlike tmp_path."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_no_permission_ends_with_4(dlboost, open_folder):
    locked = open_folder / "locked"
    locked.mkdir(mode=0o000)
    options = {}
    if os.geteuid() == 0:
        options = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            subprocess.run([dlboost.command, "--version"], check=True,
                           stdout=subprocess.DEVNULL, **options)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("another user cannot run the command")
    dlboost.env["XDG_RUNTIME_DIR"] = str(locked)
    _, err = dlboost.run("verify", locked, code=4, **options)
    assert "Permission denied" in err
    _, err = dlboost.run("decode", locked / "x.jpg", code=4, **options)
    assert "Permission denied" in err


@pytest.mark.parametrize("args", [["info", "{good}"], ["recipe", "list"],
                                  ["run", "--help"], ["--version"],
                                  ["engine", "list", "-j"]])
def test_full_stdout_is_a_failure(dlboost, good, args):
    with open("/dev/full", "wb") as full:
        _, err = dlboost.run(*(a.replace("{good}", str(good)) for a in args),
                             code=1, stdout=full)
    assert "standard output: No space left on device" in err


def test_full_disk_is_named(dlboost, good):
    one = good / "cat/00.jpg"
    for args, code in ((["decode", one, "--out", "/dev/full"], 1),
                       (["run", good, "--state-out", "/dev/full"], 1),
                       (["run", good, "--contact-sheet", "/dev/full"], 1),
                       (["info", good, "--histogram", "/dev/full"], 1)):
        _, err = dlboost.run(*args, code=code)
        assert "/dev/full: No space left on device" in err


def test_closed_pipe_ends_quietly(dlboost, good):
    process = dlboost.start("verify", good, "-v", "-j")
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    # By SIGPIPE, or done before it could notice
    assert process.wait(timeout=60) in (-13, 0)
    assert err == b""


def test_help_and_version(dlboost):
    out, err = dlboost.run("--help")
    assert "dlboost COMMAND" in out and err == ""
    assert dlboost.run("help")[0] == out
    assert dlboost.run("help", "run")[0] == dlboost.run("run", "--help")[0]
    version, _ = dlboost.run("--version")
    assert "libdlboost" in version and "libjpeg-turbo" in version
    assert "SIMD" in version
    out, err = dlboost.run(code=2)
    assert out == "" and "usage:" in err
