# SPDX-License-Identifier: GPL-2.0-or-later
"""How a part of the tests is run: commands, their logs, and the cases in them.

Cases come from Meson's log, JUnit files (pytest) or TAP; a command that reports
neither is one case.  Knows nothing of what is tested.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "build/check"
SHOWN_LINES = 40


class Tally:
    """What became of the cases of one part."""

    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def case(self, name, is_good):
        if is_good:
            self.passed += 1
        else:
            self.failed.append(name)

    def skip(self, name, reason):
        self.skipped.append((name, reason))


def show_end(log):
    lines = log.read_text(errors="replace").splitlines()
    print(f"---- {log.relative_to(ROOT)}, its end:")
    for line in lines[-SHOWN_LINES:]:
        print("  " + line)
    print("----", flush=True)


def call(name, command, env=None, timeout_s=900, is_quiet=False):
    """True if @command ends well; a command that hangs is ended with its children."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [str(c) for c in command], cwd=ROOT, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, **(env or {})})
        try:
            code = process.wait(timeout_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            out.write(f"\ncheck.py: no end after {timeout_s} s\n".encode())
            code = -1
    if code and not is_quiet:
        print(f"{name}: exit status {code}: "
              + " ".join(str(c) for c in command), file=sys.stdout)
        show_end(log)
    return code == 0


def step(tally, name, command, **options):
    """A command that is one case."""
    good = call(name, command, **options)
    tally.case(name, good)
    return good


def count_junit(tally, path, name):
    """Cases of a JUnit file; False when it cannot be read or holds none."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return False
    nr_cases = 0
    for case in root.iter("testcase"):
        nr_cases += 1
        label = f"{name}: {case.get('classname') or ''} {case.get('name')}"
        skipped = case.find("skipped")
        if skipped is not None:
            tally.skip(label, skipped.get("message") or (skipped.text or "").strip()
                       or "no reason given")
        else:
            tally.case(label, case.find("failure") is None
                       and case.find("error") is None)
    return nr_cases > 0


TAP_LINE = re.compile(
    r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*?)(?:\s*#\s*SKIP\S*\s*(.*))?$", re.I)
TAP_PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*SKIP\S*\s*(.*))?$", re.I)


def count_tap(tally, text, name):
    """Cases of a TAP stream; False when its plan does not hold."""
    nr_cases, plan, said = 0, None, ""
    for line in text.splitlines():
        planned = TAP_PLAN.match(line)
        found = TAP_LINE.match(line)
        if planned:
            plan = int(planned[1])
            if plan == 0:
                tally.skip(name, planned[2] or "no reason given")
        elif not found:
            said = line.removeprefix("#").strip()
        elif found[4] is None:
            nr_cases += 1
            tally.case(f"{name}: {found[3] or found[2]}", not found[1])
        elif found[1]:
            # cmocka's form: the name stands where the reason should, which it
            # may have printed before
            nr_cases += 1
            tally.skip(f"{name}: {found[4]}", said or "no reason given")
        else:
            nr_cases += 1
            tally.skip(f"{name}: {found[3] or found[2]}",
                       found[4] or "no reason given")
        if found:
            said = ""
    return plan is not None and plan == nr_cases


def tap(tally, name, command, **options):
    """A command that prints TAP; a broken stream is a failed case."""
    good = call(name, command, is_quiet=True, **options)
    log = LOGS / f"{name}.log"
    before = len(tally.failed)
    whole = count_tap(tally, log.read_text(errors="replace"), name)
    failed = len(tally.failed) - before
    if not whole or (not good and not failed):
        tally.case(f"{name}: TAP stream without its end", False)
        failed += 1
    if failed:
        show_end(log)
    return not failed


def pytest(tally, name, folder, **options):
    report = LOGS / f"{name}.xml"
    report.unlink(missing_ok=True)
    good = call(name, ["/usr/bin/python3", "-m", "pytest", "-q", "-p",
                       "no:cacheprovider", f"--junitxml={report}", folder],
                **options)
    before = len(tally.failed)
    if not count_junit(tally, report, name) or \
            (not good and len(tally.failed) == before):
        tally.case(f"{name}: no report of its cases", False)


def meson_setup(tally, build, options, env=None):
    """Configure (once) and compile; False when either fails, as a failed case."""
    folder = ROOT / "build" / build
    if not (folder / "build.ninja").is_file():
        if not call(f"{build}-setup",
                    ["meson", "setup", folder, *options], env=env):
            tally.case(f"{build}: configure", False)
            return False
    return step(tally, f"{build}-build", ["meson", "compile", "-C", folder],
                timeout_s=1800)


def count_entry(tally, entry, name):
    """One test of a Meson log.  What a program in TAP says counts, and its exit
    status: Meson takes cmocka's way of writing a skipped case for a failure."""
    label = f"{name}: {entry['name'].removeprefix('dlboost / ')}"
    output = entry.get("stdout", "")
    before = len(tally.failed)
    if re.search(r"^1\.\.\d+", output, re.M):
        good = count_tap(tally, output, label) and entry["returncode"] == 0
    elif entry["result"] == "SKIP":
        lines = output.strip().splitlines()
        tally.skip(label, lines[-1] if lines else "no reason given")
        good = True
    else:
        good = entry["result"] in ("OK", "EXPECTEDFAIL")
        if good:
            tally.case(label, True)
    if not good and len(tally.failed) == before:
        tally.case(f"{label}: {entry['result']}", False)


def meson_test(tally, build, arguments=(), name=None, env=None,
               timeout_s=1800):
    """Run the tests of a build folder."""
    folder = ROOT / "build" / build
    name = name or f"{build}-test"
    report = folder / "meson-logs/testlog.json"
    report.unlink(missing_ok=True)
    good = call(name, ["meson", "test", "-C", folder, "--no-rebuild",
                       "--print-errorlogs", *arguments],
                env=env, timeout_s=timeout_s)
    try:
        entries = [json.loads(line) for line in report.read_text().splitlines()]
    except (OSError, ValueError):
        entries = []
    for entry in entries:
        count_entry(tally, entry, build)
    if not entries or (not good and all(e["result"] == "OK" for e in entries)):
        tally.case(f"{name}: meson test ended early", False)
