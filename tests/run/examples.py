#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Build and run every example a reader meets: Documentation/examples and README.md.

Prints TAP.  DLBOOST_BUILD names the build folder whose library is used.  What an
example must print is stated here, from the pictures this file makes.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DLBOOST_BUILD", ROOT / "build/gcc"))
EXAMPLES = ROOT / "Documentation/examples"
NR_GOOD = 40


def make_pictures(folder):
    """40 good pictures in two classes, and one more folder with bad ones."""
    for number in range(NR_GOOD):
        name = folder / "good" / ("cat", "dog")[number % 2] / f"{number:03d}.jpg"
        name.parent.mkdir(parents=True, exist_ok=True)
        tile = Image.linear_gradient("L").resize((160 + number, 120))
        Image.merge("RGB", [tile, tile.rotate(180), tile]).save(name, quality=90)
    mixed = folder / "mixed/one"
    mixed.mkdir(parents=True)
    data = (folder / "good/cat/000.jpg").read_bytes()
    (mixed / "a.jpg").write_bytes(data)
    (mixed / "b.jpg").write_bytes(data[:len(data) // 2])
    (mixed / "c.jpg").write_bytes(b"")
    return folder / "good", folder / "mixed"


def call(command, folder):
    env = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "libdl"),
           "PYTHONPATH": str(BUILD / "libdl/python"),
           "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=env,
                          timeout=120, cwd=folder)


def compile_c(source, program, folder):
    return call([os.environ.get("CC", "gcc"), "-std=gnu11", "-Wall", "-Wextra",
                 "-Werror", f"-I{ROOT}/libdl/include", source, "-o", program,
                 f"-L{BUILD}/libdl", "-ldlboost"], folder)


class Report:
    def __init__(self):
        self.nr = 0
        self.failed = 0

    def case(self, name, is_good, output):
        self.nr += 1
        if not is_good:
            self.failed += 1
            for line in output.splitlines()[-30:]:
                print(f"# {line}")
        print(f"{'ok' if is_good else 'not ok'} {self.nr} - example {name}",
              flush=True)

    def done(self):
        print(f"1..{self.nr}")
        sys.exit(1 if self.failed else 0)


def c_examples(report, folder, good, mixed):
    picture = good / "cat/000.jpg"
    expected = {
        "recipe": (["imagenet-train:size=96", "500", "375"],
                   r"3x96x96, 110592 bytes\n(epoch \d: \d+x\d+ at .*\n){3}"),
        "decode": ([picture], r"224x224, first value -?\d+\.\d+\n"),
        "probe": ([picture, mixed / "one/c.jpg"],
                  r"JPEG 160x120, OK.*\n.*empty 0x0, NOT_AN_IMAGE"),
        "engine": ([picture], r"cpu: .*\n(.*\n)*cpu:workers=1 says OK"),
        "dataset": ([good], rf"{NR_GOOD} samples, 2 classes(.*\n)+.*class cat\n"),
        "stream": ([good], rf"(epoch \d: {NR_GOOD} samples, sum .*\n){{2}}"),
        "resume": ([good], rf"8 samples before, {NR_GOOD - 8} after\n"),
        "bad_samples": ([mixed], r"b\.jpg: TRUNCATED: .*\n.*c\.jpg: NOT_AN_IMAGE: |"
                        r"c\.jpg: NOT_AN_IMAGE: .*\n.*b\.jpg: TRUNCATED: "),
        "stats": ([], r"^\d+ streams\n|\n\d+ streams\n"),
        "plan": ([], r"^ddp 16\.\d+ ms, list 14\.\d+ ms\n$"),
        "log": ([], r"libdlboost \d+\.\d+\.\d+, status 2 is TRUNCATED\n"),
    }
    sources = sorted(EXAMPLES.glob("*.c"))
    forgotten = {s.stem for s in sources} ^ set(expected)
    report.case("every one has its expectation", not forgotten,
                f"not both there: {forgotten}")
    for source in sources:
        program = folder / source.stem
        built = compile_c(source, program, folder)
        if built.returncode:
            report.case(source.name, False, built.stdout)
            continue
        arguments, pattern = expected[source.stem]
        ran = call([program, *arguments], folder)
        report.case(source.name, ran.returncode == 0
                    and re.search(pattern, ran.stdout) is not None, ran.stdout)


def readme_block(language):
    """The first block of this language in README.md, comment line included."""
    text = (ROOT / "README.md").read_text()
    found = re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    return found[1] if found else ""


def readme_examples(report, folder, good):
    source = folder / "readme.c"
    source.write_text(readme_block("c"))
    program = folder / "readme"
    built = compile_c(source, program, folder)
    output, is_good = built.stdout, False
    if not built.returncode:
        ran = call([program, good], folder)
        output = ran.stdout
        is_good = ran.returncode == 0 and f"{NR_GOOD} samples" in output
    report.case("README.md, C", is_good, output)

    script = folder / "readme.py"
    script.write_text(readme_block("python").replace("pictures/train", str(good)))
    ran = call(["/usr/bin/python3", script], folder)
    report.case("README.md, Python", ran.returncode == 0
                and "float32" in ran.stdout, ran.stdout)


def main():
    report = Report()
    with tempfile.TemporaryDirectory(prefix="dlboost-examples-") as name:
        folder = pathlib.Path(name)
        good, mixed = make_pictures(folder)
        c_examples(report, folder, good, mixed)
        readme_examples(report, folder, good)
    report.done()


if __name__ == "__main__":
    main()
