# SPDX-License-Identifier: GPL-2.0-or-later
"""The progress line: fits any terminal, obeys NO_COLOR, absent elsewhere.

And dlboost stats, which looks at a stream that another process runs.
"""

import fcntl
import json
import os
import pty
import re
import struct
import termios
import time

import pytest

ARGS = ["--batch", "4", "--recipe", "imagenet-train:size=200", "--on-error",
        "zero", "--max-bad", "1", "--epochs", "150"]


def in_terminal(dlboost, columns, *args, **env):
    """(what a terminal of @columns got, seconds it took)."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))
    dlboost.env.pop("NO_COLOR", None)
    dlboost.env.update({"TERM": "xterm"} | env)
    begin = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.dup2(slave, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execve(dlboost.command, [dlboost.command, *map(str, args)],
                  dlboost.env)
    os.close(slave)
    data = b""
    try:
        while chunk := os.read(master, 65536):
            data += chunk
    except OSError:
        pass
    os.close(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return data.decode(), time.monotonic() - begin


def drawn(text):
    """The progress lines, without what is no column."""
    return [re.sub(r"\033\[[0-9;]*[mK]", "", line)
            for line in re.findall(r"\r([^\r\n]*\033\[K)", text)]


@pytest.mark.parametrize("columns", [20, 41, 80, 160])
def test_line_fits_the_terminal(dlboost, bad, columns):
    text, seconds = in_terminal(dlboost, columns, "run", bad, *ARGS)
    lines = [line for line in drawn(text) if line]
    assert lines
    assert max(map(len, lines)) < columns
    # At most ten times a second, and one more for the first
    assert len(lines) <= 10 * seconds + 1
    assert all("%" in line for line in lines)
    assert any("/s" in line for line in lines)
    if columns >= 80:
        assert any(re.search(r"\[#*\.*\].*ETA .* bad", li) for li in lines)
    # The line is gone in the end
    assert text.rstrip("\n").endswith("\r\033[K")


def test_colour_only_where_wanted(dlboost, bad):
    assert "\033[33m" in in_terminal(dlboost, 80, "run", bad, *ARGS)[0]
    assert "\033[33m" not in in_terminal(dlboost, 80, "run", bad, *ARGS,
                                         NO_COLOR="1")[0]


@pytest.mark.parametrize("args,env", [(["--no-progress"], {}),
                                      ([], {"TERM": "dumb"})])
def test_no_line_where_none_is_wanted(dlboost, bad, args, env):
    text, _ = in_terminal(dlboost, 80, "run", bad, *ARGS, *args, **env)
    assert "\033" not in text and "%" not in text


def test_log_lines_without_a_terminal(dlboost, good):
    _, err = dlboost.run("run", good, "--batch", "4", "--recipe", "cifar-eval",
                         "--epochs", "2", "-v")
    assert "\033" not in err and "\r" not in err
    assert "dlboost: epoch 0 is over\n" in err


def test_stats_sees_a_running_stream(dlboost, good):
    process = dlboost.start("run", good, "--batch", "4", "--recipe",
                            "cifar-eval", "--epochs", "1000000")
    try:
        deadline = time.monotonic() + 30
        streams = []
        while not streams or not streams[0]["nr_samples"]:
            assert time.monotonic() < deadline
            streams = dlboost.json("stats")["streams"]
        assert [s["pid"] for s in streams] == [process.pid]
        assert streams[0]["path"] == str(good)
        assert streams[0]["recipe"].startswith("cifar-eval:")
        assert streams[0]["nr_bad"] == 0
        assert streams[0]["limit_stage"] in ("unknown", "storage", "decode-cpu",
                                             "device", "transfer", "consumer")
        text, _ = dlboost.run("stats")
        assert str(process.pid) in text and "limited by" in text
    finally:
        process.kill()
        process.communicate()
    assert dlboost.json("stats")["streams"] == []
    assert dlboost.run("stats")[0] == "no stream is running\n"


def test_stats_documents_grow_only(dlboost, good):
    """What a stream says of itself is the same in run and in stats."""
    process = dlboost.start("run", good, "--batch", "4", "--recipe",
                            "cifar-eval", "--epochs", "1000000")
    try:
        deadline = time.monotonic() + 30
        streams = []
        while not streams:
            assert time.monotonic() < deadline
            streams = dlboost.json("stats")["streams"]
    finally:
        process.kill()
        process.communicate()
    run = json.loads(dlboost.run("run", good, "--recipe", "cifar-eval",
                                 "-j")[0])
    own = {"pid", "stream_idx", "age_s"}
    assert streams[0].keys() - own <= run.keys()
