#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the tests in parts, count their cases, say what was left out and why.

usage: check.py fast|full|long     what make check-fast, check and check-long run
       check.py --list             the parts
       check.py --list-gates       the gates

PARTS="asan gates" in the environment runs those parts alone.  The output of
each command stays in build/check/*.log; of one that fails the end is shown.
The last line is "N passed, N failed, N skipped".  tests/run/parts.py says what
a part is; this file knows only how to run one.
"""

import os
import signal
import sys
import time

import parts
from runner import Tally, ROOT

LEVELS = ("fast", "full", "long")


def chosen(level):
    names = os.environ.get("PARTS", "").split()
    unknown = set(names) - {p.name for p in parts.PARTS}
    if unknown:
        sys.exit(f"check.py: no part {', '.join(sorted(unknown))}; "
                 "see check.py --list")
    if names:
        return [p for p in parts.PARTS if p.name in names]
    rank = LEVELS.index(level)
    return [p for p in parts.PARTS if LEVELS.index(p.level) <= rank]


def run(level):
    total = Tally()
    begin = time.monotonic()
    for part in chosen(level):
        tally = Tally()
        start = time.monotonic()
        part.run(tally)
        minutes = (time.monotonic() - start) / 60
        print(f"{part.name:10} {minutes:5.1f} min  {tally.passed:5} passed "
              f"{len(tally.failed):4} failed {len(tally.skipped):4} skipped  "
              f"{part.about}", flush=True)
        for name in tally.failed:
            print(f"    FAILED  {name}")
        total.add(tally)
    reasons = {}
    for name, reason in total.skipped:
        reasons.setdefault(reason, []).append(name)
    for reason, names in sorted(reasons.items()):
        shown = ", ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        print(f"skipped {len(names):4}  {reason}: {shown}")
    print(f"{(time.monotonic() - begin) / 60:.1f} minutes in all")
    print(f"{total.passed} passed, {len(total.failed)} failed, "
          f"{len(total.skipped)} skipped", flush=True)
    return 1 if total.failed else 0


def main():
    if sys.argv[1:] == ["--list"]:
        for part in parts.PARTS:
            print(f"  {part.name:10} {part.level:5} {part.about}")
    elif sys.argv[1:] == ["--list-gates"]:
        for gate in parts.GATES:
            print(f"  {gate.script:14} {gate.level:5} {gate.about}")
    elif len(sys.argv) == 2 and sys.argv[1] in LEVELS:
        os.chdir(ROOT)
        # A job in the background is started with both ignored, and would hand
        # that on to tests that send them
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
        sys.exit(run(sys.argv[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
