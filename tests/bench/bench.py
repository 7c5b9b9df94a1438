#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure dlboost beside what its users would pick instead, in one run.

Every contestant is a process of its own (worker.h, peers.py).  They take turns:
in each round each works through the picture set once, pinned to one core, while
the others wait; its rate is divided by the yardstick's of the same round.  The
table shows medians over the rounds, because machines are shared and noisy.

Peers come from PyPI and Debian into private virtual environments below
--work; one that cannot run stays in the table with the reason.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
YARDSTICK = "yardstick-turbojpeg"
YARDSTICK_8MP = "yardstick-turbojpeg-8mp"

# name -> (packages from PyPI, Debian's own packages visible, module to import)
ENVIRONMENTS = {
    "opencv": (["opencv-python-headless>=4.10", "numpy", "matplotlib"], False,
               "cv2, matplotlib"),
    "dali": (["nvidia-dali-cuda120>=1.40"], False, "nvidia.dali"),
    "spdl": (["spdl-io>=0.1", "spdl-core", "numpy"], False, "spdl.io"),
    "torchvision": (["pillow==12.3.0"], True, "torchvision"),
}

# Ratios that must be reached, by instruction set: Documentation/performance.rst
TARGETS = [
    # (row, divided by row, at least, only with these instruction sets)
    ("dlboost-exact-train", YARDSTICK, 1.12, ("avx512",)),
    ("dlboost-exact-train", YARDSTICK, 1.05, ("avx2",)),
    ("dlboost-exact-train", YARDSTICK, 0.95, ("c", "sse4.1", "neon")),
    ("dlboost-exact-train", "opencv-linear", 1.2, ("avx512",)),
    ("dlboost-exact-train", "torchvision-pil", 2.9, None),
    ("dlboost-exact-train", "dali-cpu", 1.0, None),
    ("dlboost-exact-train-8mp", YARDSTICK_8MP, 1 / 0.85, None),
    ("dlboost-fast-train-8mp", YARDSTICK_8MP, 1 / 0.6, None),
]
TWO_CORES = ("dlboost-exact-train-2core", "dlboost-exact-train", 1.9)


def say(text):
    print(text, file=sys.stderr, flush=True)


class Contestant:
    """One process that works through a picture set when asked to."""

    def __init__(self, name, command, cores, yardstick):
        self.name, self.yardstick = name, yardstick
        self.command, self.cores = command, cores
        self.passes, self.ratios, self.about, self.reason = [], [], {}, None
        self.process = None

    def start(self, log):
        cores = ",".join(str(core) for core in self.cores)
        try:
            self.process = subprocess.Popen(
                ["taskset", "-c", cores, *self.command], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"})
        except OSError as error:
            self.give_up(str(error))
            return
        line = self.process.stdout.readline()
        if line.startswith("ready "):
            self.about = json.loads(line[6:])
        else:
            self.give_up("did not start: see the log")

    def give_up(self, reason):
        self.reason = reason
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def one_pass(self):
        if not self.process:
            return None
        try:
            self.process.stdin.write("pass\n")
            self.process.stdin.flush()
            result = json.loads(self.process.stdout.readline())
        except (OSError, ValueError) as error:
            self.give_up(f"stopped during the run: {error}")
            return None
        self.passes.append(result)
        return result["images"] / result["cpu_s"]

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None

    def row(self):
        def median(of):
            return statistics.median(of) if of else None

        return {
            "name": self.name,
            "img_per_cpu_s": median([p["images"] / p["cpu_s"]
                                     for p in self.passes]),
            "wall_img_per_s": median([p["images"] / p["wall_s"]
                                      for p in self.passes]),
            "ratio_to_yardstick": median(self.ratios),
            "rounds": len(self.passes),
            "version": self.about.get("version"),
            "reason": self.reason,
        }


def make_environment(work, name):
    """A private virtual environment; (python, None) or (None, reason)."""
    packages, sees_debian, module = ENVIRONMENTS[name]
    folder = work / f"venv-{name}"
    python = folder / "bin" / "python"
    done = folder / "complete"
    if not done.exists() or done.read_text() != repr(packages):
        say(f"bench: installing {', '.join(packages)}")
        shutil.rmtree(folder, ignore_errors=True)
        options = ["--system-site-packages"] if sees_debian else []
        for command in (
                ["/usr/bin/python3", "-m", "venv", *options, str(folder)],
                [str(python), "-m", "pip", "install", "--quiet",
                 "--disable-pip-version-check", *packages]):
            ran = subprocess.run(command, capture_output=True, text=True,
                                 check=False)
            if ran.returncode:
                return None, "cannot install: " + last_line(ran)
    ran = subprocess.run([str(python), "-c", f"import {module}"],
                         capture_output=True, text=True, check=False)
    if ran.returncode:
        return None, "cannot import: " + last_line(ran)
    done.write_text(repr(packages))
    return python, None


def last_line(ran):
    lines = (ran.stderr or ran.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit {ran.returncode}"


def set_files(folder):
    return sorted(path for path in folder.rglob("*.jpg") if path.is_file())


def set_hash(files):
    digest = hashlib.sha256()
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        models = [line.split(":", 1)[1].strip() for line in lines
                  if line.startswith("model name")]
    return {"cpu": models[0] if models else platform.machine(),
            "cores": os.cpu_count(), "kernel": platform.release()}


def dlboost_contestants(args, cores):
    def stream(name, folder, profile, workers, batch, yardstick):
        return Contestant(
            name, [str(args.build / "stream_worker"), str(folder),
                   "imagenet-train", profile, f"cpu:workers={workers}",
                   str(batch)], cores[:workers], yardstick)

    def turbo(name, what, listing):
        return Contestant(name, [str(args.build / "turbojpeg_worker"), what,
                                 str(listing)], cores[:1], None)

    main, large = args.work / "main.list", args.work / "large.list"
    rows = [
        turbo(YARDSTICK, "full", main),
        turbo("floor-entropy", "entropy", main),
        stream("dlboost-exact-train", args.set, "exact", 1, 64, YARDSTICK),
        stream("dlboost-fast-train", args.set, "fast", 1, 64, YARDSTICK),
    ]
    rows[1].yardstick = YARDSTICK
    if len(cores) > 1:
        rows.append(stream("dlboost-exact-train-2core", args.set, "exact", 2,
                           64, YARDSTICK))
    if args.large:
        rows += [
            turbo(YARDSTICK_8MP, "full", large),
            stream("dlboost-exact-train-8mp", args.large, "exact", 1, 16,
                   YARDSTICK_8MP),
            stream("dlboost-fast-train-8mp", args.large, "fast", 1, 16,
                   YARDSTICK_8MP),
        ]
    return rows


def peer_contestants(args, cores):
    rows = []
    for name, environment in (("opencv-linear", "opencv"),
                              ("torchvision-pil", "torchvision"),
                              ("dali-cpu", "dali"), ("spdl", "spdl")):
        python, reason = make_environment(args.work, environment)
        peer = Contestant(
            name, [str(python), str(HERE / "peers.py"), name, str(args.set),
                   str(args.work / "main.list"), "1"], cores[:1], YARDSTICK)
        peer.reason = reason
        rows.append(peer)
    return rows


def run_rounds(contestants, rounds):
    for number in range(rounds):
        rates = {}
        for contestant in contestants:
            say(f"bench: round {number + 1}/{rounds}: {contestant.name}")
            rates[contestant.name] = contestant.one_pass()
        for contestant in contestants:
            rate, yard = rates[contestant.name], rates.get(contestant.yardstick)
            if contestant.name in (YARDSTICK, YARDSTICK_8MP):
                yard = rate
            if rate and yard:
                contestant.ratios.append(rate / yard)


def ratio(contestants, name, other, key=None):
    """Median over the rounds of one contestant's rate over another's."""
    a, b = contestants.get(name), contestants.get(other)
    if not a or not b or not a.passes or not b.passes:
        return None
    key = key or "cpu_s"
    return statistics.median(
        (p["images"] / p[key]) / (q["images"] / q[key])
        for p, q in zip(a.passes, b.passes))


def check(contestants):
    """Decide the targets of this machine; prints one line each."""
    by_name = {c.name: c for c in contestants}
    simd = by_name["dlboost-exact-train"].about.get("simd")
    wanted = [(n, o, t, None) for n, o, t, sets in TARGETS
              if sets is None or simd in sets]
    wanted.append((*TWO_CORES, "wall_s"))
    failed = 0
    for name, other, target, key in wanted:
        got = ratio(by_name, name, other, key)
        if got is None:
            verdict = "not measured"
        else:
            verdict = "reached" if got >= target else "MISSED"
            failed += got < target
        shown = "-" if got is None else f"{got:.3f}"
        print(f"{verdict:12} {name} >= {target:.3f} x {other}: {shown} ({simd})")
    return failed


def table(rows):
    print(f"{'row':28} {'img/cpu-s':>10} {'img/s':>8} {'x yardstick':>12}  version")
    for row in rows:
        def number(key, digits, row=row):
            return "-" if row[key] is None else f"{row[key]:.{digits}f}"

        print(f"{row['name']:28} {number('img_per_cpu_s', 0):>10} "
              f"{number('wall_img_per_s', 0):>8} "
              f"{number('ratio_to_yardstick', 3):>12}  "
              f"{row['reason'] or row['version'] or ''}")


def plot(args, results):
    python = args.work / "venv-opencv" / "bin" / "python"
    if not python.exists():
        return "no plot: matplotlib could not be installed"
    out = args.out / "bench.png"
    ran = subprocess.run([str(python), str(HERE / "plot.py"), str(results),
                          str(out)], capture_output=True, text=True, check=False)
    return f"no plot: {last_line(ran)}" if ran.returncode else f"plot: {out}"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=Path, required=True,
                        help="folder of stream_worker and turbojpeg_worker")
    parser.add_argument("--set", type=Path, required=True,
                        help="picture set: a folder with class folders")
    parser.add_argument("--large", type=Path, help="set of 8-megapixel pictures")
    parser.add_argument("--work", type=Path, required=True,
                        help="folder for virtual environments and lists")
    parser.add_argument("--out", type=Path, required=True,
                        help="folder for results.json and bench.png")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--check", action="store_true",
                        help="exit 1 when a target of this machine is missed")
    return parser.parse_args()


def main():
    args = arguments()
    args.work.mkdir(parents=True, exist_ok=True)
    args.out.mkdir(parents=True, exist_ok=True)
    files = set_files(args.set)
    if not files:
        sys.exit(f"bench: {args.set}: no pictures; make them with "
                 "make_picture_set.py")
    for folder, name in ((args.set, "main"), (args.large, "large")):
        if folder:
            (args.work / f"{name}.list").write_text(
                "".join(f"{path}\n" for path in set_files(folder)))

    cores = sorted(os.sched_getaffinity(0))[:2]
    contestants = dlboost_contestants(args, cores)
    if not args.no_peers:
        contestants += peer_contestants(args, cores)
    with open(args.out / "bench.log", "w", encoding="utf-8") as log:
        for contestant in contestants:
            if not contestant.reason:
                contestant.start(log)
        run_rounds(contestants, args.rounds)
        for contestant in contestants:
            contestant.stop()

    rows = [contestant.row() for contestant in contestants]
    results = args.out / "results.json"
    results.write_text(json.dumps({
        "schema": "dlboost-bench", "version": 1, "machine": machine(),
        "set_hash": set_hash(files), "nr_pictures": len(files),
        "simd": contestants[2].about.get("simd"), "rows": rows,
    }, indent=1) + "\n")
    table(rows)
    say(plot(args, results))
    print(f"results: {results}")
    failed = check(contestants)
    sys.exit(1 if args.check and failed else 0)


if __name__ == "__main__":
    main()
