#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Put into a folder of pictures what real data sets hold besides good files.

usage: add_hard_files.py FOLDER

Bad ones: two cut off, one damaged in its tables, one that is noise, one web
page, one empty file.  Good ones that loaders stumble over: progressive,
greyscale, CMYK, PNG under a .jpg name.  Prints how many of each.
"""

import io
import pathlib
import random
import sys

from PIL import Image

PAGE = b"<!DOCTYPE html>\n<html><body><h1>404 Not Found</h1></body></html>\n"


def encode(image, kind="JPEG", **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def with_absurd_huffman_table(data):
    """As after a bad disk block: a table that claims 4,080 codes."""
    counts = data.index(b"\xff\xc4") + 5
    return data[:counts] + b"\xff" * 16 + data[counts + 16:]


def bad_files(data):
    return {
        "truncated-1": data[:len(data) * 2 // 5],
        "truncated-2": data[:-500],
        "damaged-tables": with_absurd_huffman_table(data),
        "noise": random.Random(1).randbytes(5000),
        "web-page": PAGE,
        "empty": b"",
    }


def good_files(image):
    return {
        "progressive": encode(image, quality=92, progressive=True),
        "grey": encode(image.convert("L"), quality=92),
        "cmyk": encode(image.convert("CMYK"), quality=92),
        "png": encode(image, "PNG"),
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    folder = pathlib.Path(sys.argv[1])
    classes = sorted(p for p in folder.iterdir() if p.is_dir())
    if not classes:
        sys.exit(f"{folder}: no class folders")
    pictures = sorted(classes[0].glob("*.jpg"))
    data = pictures[0].read_bytes()
    image = Image.open(io.BytesIO(data)).convert("RGB")
    made = {**bad_files(data), **good_files(image)}
    for number, (name, content) in enumerate(made.items()):
        target = classes[number % len(classes)] / f"hard-{name}.jpg"
        target.write_bytes(content)
    print(f"{len(bad_files(data))} bad and {len(good_files(image))} unusual files")


if __name__ == "__main__":
    main()
