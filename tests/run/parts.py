# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of make check, in the order in which they run.

A part is a function that fills a Tally.  Each builds in a folder of its own
below build/, so that a second run compiles only what changed.
"""

import collections
import os
import pathlib

from runner import ROOT, call, meson_setup, meson_test, pytest, step, tap

Part = collections.namedtuple("Part", "name level about run")
Gate = collections.namedtuple("Gate", "script level about")

PYTHON = "/usr/bin/python3"
# Debian 12 has 9.4, whose order of the passes is another one for tall pictures
PILLOW = "pillow==12.3.*"
BUILD = ROOT / "build"
GCC = BUILD / "gcc"
ALL = ["-Dtools=enabled", "-Dtests=enabled", "-Dpython=auto", "--werror"]
SANITIZER_ENV = {
    # dlopen()ed Python and the loader's own caches are not ours to free
    "ASAN_OPTIONS": "abort_on_error=1:strict_string_checks=1:"
                    "detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}

GATES = [
    Gate("spdx.py", "fast", "licence of every file"),
    Gate("includes.py", "fast", "arrows of the architecture"),
    Gate("words.py", "fast", "words that have no place in the tree"),
    Gate("style.py", "fast", "the kernel's coding style"),
    Gate("symbols.py", "fast", "library = map = headers = man pages"),
    Gate("kerneldoc.py", "fast", "every public name is documented"),
    Gate("headers.sh", "fast", "public headers compile alone, C and C++"),
    Gate("spelling.sh", "fast", "codespell"),
    Gate("shell.sh", "fast", "shellcheck"),
    Gate("commits.py", "fast", "messages of the commits not yet published"),
    Gate("sizes.py", "fast", "prints what is longer than wished"),
    Gate("man.py", "full", "man pages render, name every sub-command"),
    Gate("docs.sh", "full", "the documentation builds without a warning"),
    Gate("cppcheck.sh", "full", "static analysis"),
    Gate("install.sh", "full", "make install, pkg-config, a program that uses it"),
]


def library(build=GCC):
    return build / "libdl/libdlboost.so"


def tool_env(build=GCC):
    """What tests outside of Meson need to find the library and the command."""
    return {
        "DLBOOST_LIBRARY": str(library(build)),
        "DLBOOST": str(build / "tools/dlboost"),
        "DLBOOST_BUILD": str(build),
    }


def run_build(tally):
    meson_setup(tally, "gcc", ALL)


def without(*suites):
    return [word for suite in suites for word in ("--no-suite", suite)]


def run_unit(tally):
    meson_test(tally, "gcc", arguments=without("slow", "stress", "python"))


def run_slow(tally):
    meson_test(tally, "gcc", name="slow", arguments=["--suite", "slow",
                                                     "--suite", "stress"])


def selftest(tally, name, env=None):
    step(tally, name, [tool_env()["DLBOOST"], "selftest", "--engine", "cpu"],
         env={"DLBOOST_GOLDEN_DIR": str(ROOT / "tests/golden"), **(env or {})})


def run_golden(tally):
    selftest(tally, "selftest")


def run_gates(level):
    def run(tally):
        for gate in GATES:
            if gate.level == level:
                tap(tally, f"gate-{gate.script.partition('.')[0]}",
                    [ROOT / "tests/checks" / gate.script], env=tool_env())
    return run


def reference_python():
    """A private environment with the Pillow that the pixel contract names, made
    once; None when it cannot be had (no network)."""
    environment = BUILD / "venv/pillow"
    python = environment / "bin/python3"
    ready = environment / "ready"
    if not ready.is_file():
        if not call("venv", [PYTHON, "-m", "venv", "--clear",
                             "--system-site-packages", environment]):
            return None
        if not call("pip", [python, "-m", "pip", "install", "--quiet",
                            "--disable-pip-version-check", PILLOW],
                    is_quiet=True):
            return None
        ready.touch()
    return python


def run_with_pillow(script):
    def run(tally):
        python = reference_python()
        if python is None:
            tally.skip(script, f"pip could not install {PILLOW}; "
                       "build/check/pip.log says why")
            return
        tap(tally, script.partition(".")[0],
            [python, ROOT / "tests/golden" / script], env=tool_env())
    return run


def run_turbo3(tally):
    """Golden table and decoder on libjpeg-turbo 3, which Pillow's wheel carries
    with the interface of Debian's: no second build is needed."""
    python = reference_python()
    library = python and next(python.parents[1].glob(
        "lib/python3*/site-packages/pillow.libs/libjpeg-*.so.62*"), None)
    if not library:
        tally.skip("libjpeg-turbo 3", f"pip could not install {PILLOW}")
        return
    folder = BUILD / "turbo3"
    folder.mkdir(exist_ok=True)
    link = folder / "libjpeg.so.62"
    link.unlink(missing_ok=True)
    link.symlink_to(library)
    env = {**tool_env(), "LD_LIBRARY_PATH": str(folder)}
    tap(tally, "turbo3", [ROOT / "tests/golden/turbo3_test.sh"], env=env)
    meson_test(tally, "gcc", name="turbo3-unit", arguments=["--suite", "decode"],
               env={"LD_LIBRARY_PATH": str(folder)})


def run_python(tally):
    pytest(tally, "python", "tests/python", env={
        **tool_env(), "PYTHONPATH": str(GCC / "libdl/python"),
        "PYTHONDONTWRITEBYTECODE": "1"})


def run_cli(tally):
    pytest(tally, "cli", "tests/cli", env=tool_env())


def run_plan(tally):
    pytest(tally, "plan", "tests/plan", env=tool_env())


def run_examples(tally):
    tap(tally, "examples", [ROOT / "tests/run/examples.py"], env=tool_env())


def run_clang(tally):
    if meson_setup(tally, "clang", ALL, env={"CC": "clang"}):
        meson_test(tally, "clang", arguments=without("slow", "python"))


def run_asan(tally):
    if meson_setup(tally, "asan", [*ALL, "-Dbuildtype=debugoptimized",
                                   "-Dpython=disabled",
                                   "-Db_sanitize=address,undefined"]):
        meson_test(tally, "asan", arguments=without("slow"), env=SANITIZER_ENV)


def run_tsan(tally):
    if meson_setup(tally, "tsan", [*ALL, "-Dbuildtype=debugoptimized",
                                   "-Dpython=disabled",
                                   "-Db_sanitize=thread"]):
        meson_test(tally, "tsan", arguments=without("slow"), env=SANITIZER_ENV)


def run_nosimd(tally):
    meson_test(tally, "gcc", name="nosimd", arguments=without("slow", "python"),
               env={"JSIMD_FORCENONE": "1", "DLBOOST_SIMD": "c"})
    selftest(tally, "selftest-nosimd",
             env={"JSIMD_FORCENONE": "1", "DLBOOST_SIMD": "c"})
    for name in ("sse4.1", "avx2"):
        selftest(tally, f"selftest-{name}", env={"DLBOOST_SIMD": name})


def run_fuzz(tally):
    if not meson_setup(tally, "fuzz", ["-Dfuzz=true", "-Dtools=disabled",
                                       "-Dtests=enabled", "-Dpython=disabled",
                                       "-Dbuildtype=debugoptimized",
                                       "-Db_sanitize=address,undefined"],
                       env={"CC": "clang"}):
        return
    meson_test(tally, "fuzz", arguments=["--suite", "fuzz"], env=SANITIZER_ENV)


def run_long_fuzz(tally):
    """Each target for FUZZ_SECONDS, on a corpus that grows from run to run."""
    targets = sorted(p for p in (BUILD / "fuzz/tests/fuzz").glob("*_fuzz")
                     if os.access(p, os.X_OK) and p.is_file())
    for target in targets:
        found = BUILD / "fuzz/corpus" / target.name
        found.mkdir(parents=True, exist_ok=True)
        step(tally, f"long-{target.name}",
             [target, "-rss_limit_mb=2048", "-timeout=20",
              f"-max_total_time={os.environ.get('FUZZ_SECONDS', '600')}",
              f"-artifact_prefix={found.parent}/", found],
             env=SANITIZER_ENV, timeout_s=86400)


def run_fresh(tally):
    tap(tally, "fresh", [ROOT / "tests/run/fresh.sh"], timeout_s=3600)


PARTS = [
    Part("build", "fast", "gcc, every warning an error", run_build),
    Part("unit", "fast", "unit tests", run_unit),
    Part("golden", "fast", "golden table on the cpu engine", run_golden),
    Part("gates", "fast", "cheap gates", run_gates("fast")),
    Part("slow-gates", "full", "gates that take their time", run_gates("full")),
    Part("slow", "full", "stress; order and NEON code on arm64 under qemu", run_slow),
    Part("property", "full", "random cases against Pillow",
         run_with_pillow("property_test.py")),
    Part("differs", "full", "whole and damaged files against Pillow",
         run_with_pillow("pillow_differs_test.py")),
    Part("turbo3", "full", "golden table and decoder on libjpeg-turbo 3",
         run_turbo3),
    Part("cli", "full", "the command", run_cli),
    Part("plan", "full", "plans of training steps, proven by a second checker",
         run_plan),
    Part("python", "full", "the Python package", run_python),
    Part("examples", "full", "examples of README, man pages and Documentation",
         run_examples),
    Part("clang", "full", "unit tests as clang builds them", run_clang),
    Part("nosimd", "full", "unit tests and golden table without SIMD, with less of it",
         run_nosimd),
    Part("asan", "full", "unit tests under ASan and UBSan", run_asan),
    Part("tsan", "full", "unit tests under TSan", run_tsan),
    Part("fuzz", "full", "fuzz targets, a short run each", run_fuzz),
    Part("long-fuzz", "long", "fuzz targets, FUZZ_SECONDS each", run_long_fuzz),
    Part("fresh", "long", "both commands in a fresh Debian", run_fresh),
]
