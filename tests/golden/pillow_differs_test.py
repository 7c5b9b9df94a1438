#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole files: dlboost's verdict and pixels against Pillow's.

Reads the golden pictures and, where DLBOOST_TEST_CORPUS names a folder, the hard
pictures in it; each also cut short, with a bit flipped, and without its end, so
that damage is compared too.  Files on which the two differ on purpose stand in
pillow-differs.tsv with the reason; any other difference is a failure.

DLBOOST_LIBRARY names libdlboost.so.  Prints TAP.
"""

import io
import os
import random
import struct
import sys
import warnings
from pathlib import Path

import numpy
from PIL import Image

import reference
from dlboost_ctypes import DEGRADED, Library

HERE = Path(__file__).resolve().parent
# A file is compared as it is and with each of these kinds of damage
DAMAGES = ("whole", "cut", "flip", "no end")


def deliberate():
    """Lines of pillow-differs.tsv: (file, kind of damage) -> reason."""
    reasons = {}
    for line in (HERE / "pillow-differs.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, damage, reason = line.split("\t")
            reasons[name, damage] = reason
    return reasons


def damaged(data, name, damage):
    """The file with this damage, or None where it cannot be done."""
    rng = random.Random(f"{name} {damage}")
    if damage != "whole" and len(data) < 16:
        return None
    if damage == "cut":
        return data[:rng.randint(len(data) // 2, len(data) - 3)]
    if damage == "flip":
        at = rng.randint(len(data) // 2, len(data) - 3)
        return (data[:at] + bytes([data[at] ^ 1 << rng.randint(0, 7)]) +
                data[at + 1:])
    if damage == "no end":
        return data[:-2] if data.endswith(b"\xff\xd9") else None
    return data


def by_pillow(data):
    """Pixels as an array, or None where Pillow refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as picture:
                if picture.mode.startswith("I"):
                    return None  # 16 bits: clipped by Pillow, refused by us
                return numpy.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError,
            struct.error):
        return None


def by_dlboost(library, data, room):
    """(status, flags, pixels as bytes)"""
    status, flags, pixels, _message = library.decode(data, "none", None, room)
    return status, flags, pixels


def difference(library, data):
    """None where both agree, else what they say."""
    want = by_pillow(data)
    room = want.nbytes if want is not None else 1 << 27
    try:
        status, flags, pixels = by_dlboost(library, data, room)
    except OSError:
        return f"larger than Pillow's {None if want is None else want.shape}"
    if want is None:
        return None if status != "OK" else "Pillow refuses, dlboost OK"
    if status != "OK":
        return f"Pillow accepts, dlboost {status}"
    if pixels != want.tobytes() and not flags & DEGRADED:
        return "pixels"
    return None


def files():
    for path in sorted((HERE / "pictures").iterdir()):
        yield f"golden/{path.name}", path
    corpus = os.environ.get("DLBOOST_TEST_CORPUS")
    if corpus:
        for path in sorted(Path(corpus).glob("*/*")):
            yield f"{path.parent.name}/{path.name}", path


def main():
    reference.require_pillow()
    Image.MAX_IMAGE_PIXELS = 89478485
    library, reasons, met = Library(), deliberate(), set()
    print("TAP version 13")
    number = 0
    for damage in DAMAGES:
        compared, faults = 0, []
        for name, path in files():
            data = damaged(path.read_bytes(), name, damage)
            if data is None:
                continue
            compared += 1
            found = difference(library, data)
            if found and (name, damage) in reasons:
                met.add((name, damage))
            elif found:
                faults.append(f"# {name}\t{damage}\t{found}")
        print("\n".join(faults))
        number += 1
        print(f"{'not ok' if faults else 'ok'} {number} - {damage}: {compared} "
              f"files, {len(faults)} differ without a reason", flush=True)
    print(f"1..{number}")
    stale = [key for key in reasons if key not in met and
             (os.environ.get("DLBOOST_TEST_CORPUS") or
              key[0].startswith("golden/"))]
    for key in stale:
        print(f"# pillow-differs.tsv: {key} does not differ any more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
