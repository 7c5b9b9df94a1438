# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs `dlboost plan`; DLBOOST names the command under test."""

import json
import os
import subprocess
from pathlib import Path

import pytest


class Plan:
    def __init__(self, command):
        self.command = command

    def run(self, *args, code=0):
        done = subprocess.run([self.command, "plan", *map(str, args)],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == code, f"{args}: {done.stdout}{done.stderr}"
        return done.stdout, done.stderr

    def json(self, *args, code=0):
        return json.loads(self.run(*args, "-j", code=code)[0])

    def periods(self, *args):
        return {row["policy"]: row["period_ns"]
                for row in self.json(*args)["policies"]}


@pytest.fixture(scope="session")
def plan():
    path = os.environ.get("DLBOOST")
    if not path:
        pytest.skip("DLBOOST does not name the command to test")
    return Plan(path)


@pytest.fixture(scope="session")
def tree():
    return Path(__file__).resolve().parents[2]
