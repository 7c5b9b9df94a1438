#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make the small pictures of the golden table, below pictures/.

Needs Pillow, numpy, cjpeg (libjpeg-turbo-progs) and convert (imagemagick).  The
files are kept in the tree; run this again only to add kinds of picture.
"""

import io
import subprocess
import sys
from pathlib import Path

import numpy
from PIL import Image

OUT = Path(__file__).resolve().parent / "pictures"


def scene(width, height, seed):
    """A picture with edges, slopes and texture, so that every step shows."""
    rng = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:height, 0:width].astype(numpy.float64)
    planes = []
    for channel in range(3):
        fx, fy, phase = rng.uniform(0.05, 0.6, 2).tolist() + [channel * 2.1]
        plane = 127 + 70 * numpy.sin(fx * x + phase) * numpy.cos(fy * y)
        plane += 50 * ((x * (channel + 1) + y) % 17 < 6)
        plane += rng.normal(0, 12, (height, width))
        planes.append(plane)
    return Image.fromarray(
        numpy.clip(numpy.stack(planes, 2), 0, 255).astype(numpy.uint8), "RGB")


def save(name, data):
    (OUT / name).write_bytes(data)


def pillow(name, picture, kind="JPEG", **options):
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    save(name, buffer.getvalue())


def cjpeg(name, picture, *options, grey=False):
    buffer = io.BytesIO()
    (picture.convert("L") if grey else picture).save(buffer, "PPM")
    save(name, subprocess.run(["cjpeg", *options], input=buffer.getvalue(),
                              stdout=subprocess.PIPE, check=True).stdout)


def convert(name, picture, *options):
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    save(name, subprocess.run(["convert", "png:-", *options, "png:-"],
                              input=buffer.getvalue(), stdout=subprocess.PIPE,
                              check=True).stdout)


def sizes():
    for number, (w, h) in enumerate([
            (1, 1), (1, 7), (2, 3), (3, 2), (8, 8), (15, 15), (16, 16),
            (17, 17), (33, 31), (64, 48), (1, 250), (2, 300), (250, 1),
            (97, 61), (120, 90)]):
        for name, subsampling in (("444", 0), ("420", 2)):
            pillow(f"size-{w}x{h}-{name}.jpg", scene(w, h, number), quality=88,
                   subsampling=subsampling)


def samplings():
    picture = scene(71, 53, 100)
    for factors in ("1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4"):
        for coding, options in (
                ("baseline", ()), ("progressive", ("-progressive",)),
                ("restart", ("-restart", "3B")),
                ("arithmetic", ("-arithmetic",)),
                ("arithmetic-progressive", ("-arithmetic", "-progressive"))):
            cjpeg(f"sampling-{factors}-{coding}.jpg", picture, "-quality", "80",
                  "-sample", factors, *options)
    scans = OUT / "scans.tmp"
    scans.write_text("0;\n1;\n2;\n")
    for factors in ("1x1", "2x2", "2x1"):
        cjpeg(f"sampling-{factors}-noninterleaved.jpg", picture, "-quality",
              "80", "-sample", factors, "-scans", str(scans))
    scans.unlink()


def colours():
    picture = scene(61, 47, 200)
    pillow("grey.jpg", picture.convert("L"), quality=85)
    pillow("grey-progressive.jpg", picture.convert("L"), quality=85,
           progressive=True)
    cjpeg("rgb.jpg", picture, "-quality", "85", "-rgb")
    cjpeg("rgb-progressive.jpg", picture, "-quality", "85", "-rgb",
          "-progressive")
    pillow("cmyk.jpg", picture.convert("CMYK"), quality=85)
    pillow("optimised.jpg", picture, quality=70, optimize=True)
    for quality in (5, 50, 100):
        pillow(f"quality-{quality}.jpg", picture, quality=quality)


def orientations():
    picture = scene(45, 29, 300)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        pillow(f"orientation-{orientation}.jpg", picture, quality=85,
               exif=exif.tobytes())


def pngs():
    picture = scene(51, 37, 400)
    alpha = picture.copy()
    alpha.putalpha(picture.convert("L"))
    pillow("rgb.png", picture, "PNG")
    pillow("rgba.png", alpha, "PNG")
    pillow("grey.png", picture.convert("L"), "PNG")
    pillow("grey-alpha.png", alpha.convert("LA"), "PNG")
    pillow("palette.png", picture.quantize(37), "PNG")
    pillow("palette-2.png", picture.quantize(3), "PNG", bits=2)
    pillow("palette-transparent.png", picture.quantize(37), "PNG",
           transparency=3)
    pillow("bilevel.png", picture.convert("1"), "PNG")
    convert("interlaced.png", picture, "-interlace", "PNG")
    convert("interlaced-grey.png", picture.convert("L"), "-interlace", "PNG")


def main():
    OUT.mkdir(exist_ok=True)
    sizes()
    samplings()
    colours()
    orientations()
    pngs()
    files = sorted(OUT.iterdir())
    total = sum(path.stat().st_size for path in files)
    print(f"{len(files)} pictures, {total} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
