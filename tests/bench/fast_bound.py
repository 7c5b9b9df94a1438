#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How far profile fast is from exact, over a picture set with three seeds.

usage: fast_bound.py FOLDER

The bound of Documentation/pixels.rst: PSNR of the u8 result, mean over the
pictures that differ >= 40 dB, minimum >= 30 dB.  DLBOOST_LIBRARY names
libdlboost.so.  Prints one line a seed; exit 1 when the bound is broken.
"""

import math
import struct
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))
from dlboost_ctypes import Library  # noqa: E402  (after the path is known)

SPEC = "imagenet-train:dtype=u8,layout=hwc"
BYTES = 224 * 224 * 3
SEEDS = (1, 2, 3)


class Drawn:
    """A geometry that comes from the library's own draws."""

    def __init__(self, geometry):
        self.geometry = geometry

    def members(self):
        return [getattr(self.geometry, name)
                for name, _type in self.geometry._fields_]


def jpeg_size(data):
    """Width and height from the frame header."""
    at = 2
    while at + 9 < len(data):
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2:at + 4])[0]
        if 0xc0 <= marker <= 0xcf and marker not in (0xc4, 0xc8, 0xcc):
            height, width = struct.unpack(">HH", data[at + 5:at + 9])
            return width, height
        at += 2 + length
    raise ValueError("no frame header")


def psnr(a, b):
    """Decibels, or None when equal."""
    difference = (numpy.frombuffer(a, numpy.uint8).astype(numpy.int32) -
                  numpy.frombuffer(b, numpy.uint8))
    error = float(numpy.mean(difference * difference))
    return 10 * math.log10(255 * 255 / error) if error else None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    files = sorted(Path(sys.argv[1]).rglob("*.jpg"))
    library = Library()
    broken = False
    for seed in SEEDS:
        values = []
        for sample, path in enumerate(files):
            data = path.read_bytes()
            geometry = Drawn(library.draw(SPEC, *jpeg_size(data), seed, 0, sample))
            exact, fast = (library.decode(data, SPEC, geometry, BYTES, profile)
                           for profile in ("exact", "fast"))
            if exact[0] == fast[0] == "OK":
                values.append(psnr(exact[2], fast[2]))
        differ = [value for value in values if value is not None]
        mean = sum(differ) / len(differ) if differ else math.inf
        least = min(differ, default=math.inf)
        bad = mean < 40 or least < 30
        broken |= bad
        how = (f"{len(differ)} differ, mean {mean:.2f} dB, minimum "
               f"{least:.2f} dB") if differ else "all equal"
        print(f"{'MISSED' if bad else 'reached':8} seed {seed}: {len(values)} "
              f"pictures, {how}", flush=True)
    return broken


if __name__ == "__main__":
    sys.exit(main())
