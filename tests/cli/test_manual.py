# SPDX-License-Identifier: GPL-2.0-or-later
"""The option tables, the manual pages and the completion say the same."""

import re
import shutil
import subprocess

import pytest

COMMANDS = ["run", "index", "info", "decode", "verify", "selftest", "bench",
            "recipe", "engine", "stats", "plan"]
COMMON = {"--json", "--pretty", "--verbose", "--device", "--help"}


def page(tree, command):
    return (tree / f"Documentation/man/dlboost-{command}.1.rst").read_text()


def help_options(dlboost, command):
    text, _ = dlboost.run(command, "--help")
    return {name: value for name, value in
            re.findall(r"^ {2}(?:-\w, | {4})(--[\w-]+)(?: (\S+))?", text, re.M)}


@pytest.mark.parametrize("name", COMMANDS)
def test_synopsis_is_the_usage_line(dlboost, tree, name):
    usage = dlboost.run(name, "--help")[0].splitlines()[0]
    synopsis = re.search(r"^SYNOPSIS\n=+\n\n(.*?)\n\n", page(tree, name),
                         re.M | re.S)[1]
    plain = re.sub(r"[*\\]", "", synopsis.replace("\n", " "))
    assert "usage: " + " ".join(plain.split()) == usage


@pytest.mark.parametrize("name", COMMANDS)
def test_page_has_exactly_the_options(dlboost, tree, name):
    options = help_options(dlboost, name)
    assert COMMON <= options.keys()
    heads = re.findall(r"^((?:-\w, )?--[a-z][\w-]*.*)$", page(tree, name), re.M)
    told = {re.search(r"--[\w-]+", head)[0]: head for head in heads}
    assert told.keys() == options.keys() - COMMON
    for option, value in options.items():
        if option not in COMMON and value:
            assert re.search(rf"{option} {re.escape(value)}$", told[option])


def test_main_page_has_common_options_and_commands(tree):
    text = (tree / "Documentation/man/dlboost.1.rst").read_text()
    for name in COMMON:
        assert name in text
    for command in COMMANDS:
        assert f"**dlboost-{command}**\\ (1)" in text


def test_usage_lists_the_commands(dlboost):
    out, _ = dlboost.run("--help")
    assert re.findall(r"^  ([a-z]+) {2,}\S", out, re.M) == COMMANDS


def test_help_fits_80_columns(dlboost):
    for command in COMMANDS:
        for line in dlboost.run(command, "--help")[0].splitlines():
            assert len(line) <= 80, line


def complete(dlboost, *words):
    """What bash would offer for the last word."""
    script = dlboost.run("--completion", "bash")[0]
    array = " ".join(f"'{w}'" for w in ("dlboost", *words))
    script += (f"\nCOMP_WORDS=({array}); COMP_CWORD={len(words)}\n"
               "_dlboost 2>/dev/null; printf '%s\\n' \"${COMPREPLY[@]}\"\n")
    return subprocess.run(["bash", "-c", script], capture_output=True,
                          check=True, text=True).stdout.split()


def test_bash_completes_commands_options_and_values(dlboost):
    assert complete(dlboost, "ve") == ["verify"]
    assert set(COMMANDS) <= set(complete(dlboost, ""))
    assert complete(dlboost, "verify", "--war") == ["--warnings"]
    assert complete(dlboost, "run", "--on-error", "") == \
        ["fail", "skip-replace", "zero"]
    assert complete(dlboost, "run", "--recipe", "cifar") == \
        ["cifar-train", "cifar-eval"]
    assert "cpu" in complete(dlboost, "run", "--engine", "")
    assert complete(dlboost, "recipe", "") == ["list", "show"]
    assert complete(dlboost, "plan", "res") == ["resnet50"]
    assert complete(dlboost, "plan", "--policy", "l") == ["list"]
    for command in COMMANDS:
        offered = set(complete(dlboost, command, "--"))
        assert offered == help_options(dlboost, command).keys()


def test_bash_completes_files(dlboost, good):
    assert f"{good}/cat" in complete(dlboost, "run", f"{good}/c")


def test_completion_is_sound_shell(dlboost, tmp_path):
    script = tmp_path / "dlboost.bash"
    script.write_text(dlboost.run("--completion", "bash")[0])
    subprocess.run(["bash", "-n", script], check=True)
    for shell in ("zsh", "fish"):
        text, _ = dlboost.run("--completion", shell)
        for command in COMMANDS:
            assert command in text
        if shutil.which(shell):
            script = tmp_path / f"dlboost.{shell}"
            script.write_text(text)
            subprocess.run([shell, "-n", script], check=True)
