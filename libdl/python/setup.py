# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Build the package with setuptools, its C part with Meson.

The wheel's extension contains the library's own objects, so that nothing of
dlboost's need be installed before, and no second version gets in the way.
Meson compiles them, since it knows the flags each SIMD file needs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
IS_ABI3 = sys.version_info >= (3, 11)
DEBIAN_PACKAGES = (
    "build-essential pkg-config meson python3-dev libjpeg62-turbo-dev "
    "libspng-dev"
)
ADVICE = (
    "dlboost: the C part could not be built; the reason stands above.\n"
    f"On Debian, `apt install {DEBIAN_PACKAGES}` installs what it needs."
)


def root_text(name: str) -> str:
    path = os.path.join(ROOT, name)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def version() -> str:
    match = re.search(r"version: '([^']+)'", root_text("meson.build"))
    if match is None:
        sys.exit(
            f"dlboost: no meson.build in {ROOT}: build from a whole source "
            "tree or a source distribution"
        )
    return match[1]


def meson_command() -> list[str]:
    """Meson as a module of this Python, else the command on PATH."""
    try:
        import mesonbuild  # noqa: F401
    except ImportError:
        meson = shutil.which("meson")
        if meson is None:
            sys.exit("dlboost: Meson is missing.\n" + ADVICE)
        return [meson]
    return [sys.executable, "-m", "mesonbuild.mesonmain"]


class MesonBuild(build_ext):
    """Lets Meson build the extension and copies it where setuptools wants."""

    def build_extension(self, ext: Extension) -> None:
        folder = os.path.join(
            BUILD, f"meson-{sys.implementation.cache_tag}-{TAG}"
        )
        meson = meson_command()
        options = [
            "-Dbuildtype=release",
            "-Ddebug=false",
            "-Dtools=disabled",
            "-Dtests=disabled",
            "-Dpython=enabled",
            "-Dpython_bundled=true",
            f"-Dpython_interpreter={sys.executable}",
        ]
        if os.path.exists(os.path.join(folder, "build.ninja")):
            # A new interpreter (each isolated build has its own), new tools
            options.append("--wipe")
        try:
            subprocess.run([*meson, "setup", folder, ROOT, *options], check=True)
            subprocess.run([*meson, "compile", "-C", folder, "_core"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"dlboost: {error}\n{ADVICE}")
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        name = "_core.abi3.so" if IS_ABI3 else os.path.basename(target)
        shutil.copy2(
            os.path.join(folder, "libdl", "python", "dlboost", name), target
        )


BUILD = os.path.join(ROOT, "build-wheel")
TAG = sysconfig.get_platform()

setup(
    name="dlboost",
    version=version(),
    description="Training batches from pictures, with Pillow's pixels",
    long_description=root_text("README.md"),
    long_description_content_type="text/markdown",
    license="MIT OR LGPL-2.1-or-later",
    python_requires=">=3.9",
    packages=["dlboost"],
    package_data={"dlboost": ["py.typed", "_core.pyi"]},
    ext_modules=[Extension("dlboost._core", [], py_limited_api=IS_ABI3)],
    cmdclass={"build_ext": MesonBuild},
    options={
        "build": {"build_base": os.path.join(BUILD, "setuptools")},
        "bdist_wheel": {"py_limited_api": "cp311"} if IS_ABI3 else {},
    },
    zip_safe=False,
)
