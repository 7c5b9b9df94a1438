# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Build backend (PEP 517) for pip, called from the root or from libdl/python.

setuptools does the work, in this folder.  The source distribution is made
here, because it holds the C library too.
"""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from typing import Any

from setuptools import build_meta

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOURCES = (
    "LICENSES",
    "README.md",
    "libdl",
    "meson.build",
    "meson_options.txt",
    "pyproject.toml",
)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    os.chdir(HERE)
    return build_meta.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    os.chdir(HERE)
    return build_meta.get_requires_for_build_editable(config_settings)


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    os.chdir(HERE)
    return build_meta.get_requires_for_build_sdist(config_settings)


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Any = None
) -> str:
    metadata_directory = os.path.abspath(metadata_directory)
    os.chdir(HERE)
    return build_meta.prepare_metadata_for_build_wheel(
        metadata_directory, config_settings
    )


def build_wheel(
    wheel_directory: str,
    config_settings: Any = None,
    metadata_directory: str | None = None,
) -> str:
    wheel_directory = os.path.abspath(wheel_directory)
    os.chdir(HERE)
    return build_meta.build_wheel(wheel_directory, config_settings)


def build_editable(
    wheel_directory: str,
    config_settings: Any = None,
    metadata_directory: str | None = None,
) -> str:
    wheel_directory = os.path.abspath(wheel_directory)
    os.chdir(HERE)
    return build_meta.build_editable(wheel_directory, config_settings)


def _is_source(name: str) -> bool:
    base = os.path.basename(name)
    return not base.endswith((".so", ".pyc", ".egg-info")) and (
        base != "__pycache__"
    )


def _clean(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info if _is_source(info.name) else None


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    sdist_directory = os.path.abspath(sdist_directory)
    with tempfile.TemporaryDirectory() as folder:
        info_folder = prepare_metadata_for_build_wheel(folder)
        path = os.path.join(folder, info_folder, "METADATA")
        with open(path, "rb") as file:
            metadata = file.read()
    name = info_folder[: -len(".dist-info")]
    archive = os.path.join(sdist_directory, name + ".tar.gz")
    with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo(name + "/PKG-INFO")
        info.size = len(metadata)
        tar.addfile(info, io.BytesIO(metadata))
        for source in SOURCES:
            path = os.path.join(ROOT, source)
            if os.path.exists(path):
                tar.add(path, name + "/" + source, filter=_clean)
    return os.path.basename(archive)
