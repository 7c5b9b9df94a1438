# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Single pictures, recipes and engines."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Union

from . import _core
from ._core import Array
from .errors import BadSample, OptionError, Status

__all__ = [
    "ImageInfo",
    "canonical_recipe",
    "decode",
    "engines",
    "probe",
    "recipes",
]

PathLike = Union[str, "os.PathLike[str]", "os.PathLike[bytes]"]
BytesLike = Union[bytes, bytearray, memoryview]

PROFILES = {"exact": 0, "fast": 1}
WARNINGS = {"accept": 0, "reject": 1}


class ImageInfo(NamedTuple):
    """What the header of a picture says.

    type: "JPEG", "PNG", or what else was recognised ("HTML", "GIF", ...).
    width, height: pixels as stored, before any EXIF orientation.
    components: colour components.  precision_bits: bits a sample.
    sof: JPEG's start-of-frame marker, low byte (0xc0 baseline, 0xc2
    progressive), 0 for others.  sampling: (horizontal, vertical) factors of
    each component.  orientation: EXIF, 1 to 8.  restart_interval: MCUs.
    adobe_transform: 0, 1, 2, or -1 without an Adobe marker.  is_rgb: a JPEG
    whose three components are not YCbCr.
    status: the Status a decoder would give by this header.
    message: one sentence, "" when there is nothing to say.
    """

    type: str
    width: int
    height: int
    components: int
    precision_bits: int
    sof: int
    sampling: tuple[tuple[int, int], ...]
    orientation: int
    restart_interval: int
    is_progressive: bool
    is_arithmetic: bool
    is_interlaced: bool
    has_icc: bool
    adobe_transform: int
    is_rgb: bool
    status: Status
    offset: int | None
    message: str


def choice(name: str, value: str, choices: dict[str, int]) -> int:
    """The number of one of a few words, or an OptionError that lists them."""
    try:
        return choices[value]
    except (KeyError, TypeError):
        words = ", ".join(repr(word) for word in choices)
        raise OptionError(f"{name}={value!r}: must be one of {words}") from None


def text_bytes(name: str, value: str) -> bytes:
    """A text for C, which knows no zero characters inside one."""
    if not isinstance(value, str):
        raise OptionError(f"{name} must be a str, not {type(value).__name__}")
    if "\0" in value:
        raise OptionError(f"{name} contains a zero character")
    return os.fsencode(value)


def _load(source: PathLike | BytesLike) -> tuple[BytesLike, str | None]:
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return file.read(), os.fsdecode(source)
    return source, None


def decode(
    source: PathLike | BytesLike,
    recipe: str = "none",
    profile: str = "exact",
    *,
    seed: int = 0,
    epoch: int = 0,
    sample: int = 0,
    warnings: str = "accept",
) -> Array:
    """Decode one picture on the calling thread.

    source: path of a file, or its bytes (anything with the buffer protocol).
    recipe: "NAME[:key=value,...]"; the default decodes only: uint8, (height,
    width, 3), RGB.
    seed, epoch, sample: key of the random draws (crop, flip): the same
    numbers give the same pixels as a Loader with this augment seed gives for
    sample number *sample* in that epoch.

    Returns an Array without a batch axis: (3, height, width), or (height,
    width, 3) for layout=hwc.

    Raises BadSample for a file that cannot be decoded, OptionError for a bad
    recipe, OSError when the file cannot be read.
    """
    data, path = _load(source)
    result = _core.decode(
        data,
        text_bytes("recipe", recipe),
        choice("profile", profile, PROFILES),
        seed,
        epoch,
        sample,
        bool(choice("warnings", warnings, WARNINGS)),
        path,
    )
    if isinstance(result, BadSample):
        raise result
    return result


def probe(source: PathLike | BytesLike) -> ImageInfo:
    """Read the header of a picture; nothing is decoded, no error is raised
    for a file that is no picture: see status and message of the result.

    source: path of a file, or its bytes.

    Raises OSError when the file cannot be read.
    """
    data, _ = _load(source)
    facts: dict[str, Any] = _core.probe(data)
    factors = ((value >> 4, value & 15) for value in facts["sampling"])
    facts["sampling"] = tuple(pair for pair in factors if pair[0])
    facts["status"] = Status(facts["status"])
    if facts["offset"] < 0:
        facts["offset"] = None
    return ImageInfo(**facts)


def recipes() -> dict[str, str]:
    """Built-in recipes: name to description."""
    return _core.recipes()


def canonical_recipe(recipe: str) -> str:
    """The canonical form of a recipe: every key, in fixed order.

    Two recipes with equal canonical forms give equal pixels.

    Raises OptionError, naming the key that is wrong.
    """
    return _core.recipe_canonical(text_bytes("recipe", recipe))


def engines() -> list[dict[str, Any]]:
    """Kinds of engine and what they are on this machine."""
    return _core.engines()
