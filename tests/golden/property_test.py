#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random pictures, crops, sizes, filters and casts: dlboost against Pillow.

usage: property_test.py [--cases N] [--seed N]

DLBOOST_LIBRARY names libdlboost.so.  Prints TAP, one line a stratum; a failure
prints the case in full, so that it can be run again.
"""

import argparse
import io
import random
import subprocess
import sys

import numpy
from PIL import Image, ImageFile

import reference
from dlboost_ctypes import Library
from reference import CIFAR, IMAGENET, Cast, Geometry

# Pillow codes a progressive file in one buffer, by default too small for noise
ImageFile.MAXBLOCK = 1 << 24

ENCODINGS = [
    # (sampling for cjpeg, options)
    (sampling, options)
    for sampling in ("1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4",
                     "2x1,1x2,1x1", "2x2,2x1,2x1", "2x2,1x2,1x2", "2x1,2x1,2x1")
    for options in ((), ("-progressive",), ("-restart", "1"),
                    ("-arithmetic",), ("-optimize",))]


def noise_picture(rng, width, height):
    """Texture at several scales; cheap enough for thousands."""
    state = numpy.random.default_rng(rng.getrandbits(64))
    coarse = state.integers(0, 256, (rng.randint(1, 9), rng.randint(1, 9), 3),
                            dtype=numpy.uint8)
    picture = Image.fromarray(coarse).resize((width, height),
                                             Image.Resampling.BICUBIC)
    grain = state.normal(0, rng.choice((0, 4, 30)), (height, width, 3))
    return Image.fromarray(numpy.clip(numpy.asarray(picture) + grain, 0,
                                      255).astype(numpy.uint8))


def encode(rng, picture):
    kind = rng.random()
    buffer = io.BytesIO()
    if kind < 0.06:
        picture.convert(rng.choice(("L", "LA", "P", "RGBA", "1"))).save(
            buffer, "PNG")
        return buffer.getvalue(), "png"
    if kind < 0.12:
        picture.convert("CMYK").save(buffer, "JPEG", quality=rng.randint(5, 100))
        return buffer.getvalue(), "cmyk"
    if kind < 0.18:
        picture.convert("L").save(buffer, "JPEG", quality=rng.randint(5, 100),
                                  progressive=rng.random() < 0.5)
        return buffer.getvalue(), "grey"
    if kind < 0.5:
        picture.save(buffer, "JPEG", quality=rng.randint(5, 100),
                     subsampling=rng.randint(0, 2),
                     progressive=rng.random() < 0.3)
        return buffer.getvalue(), "pillow"
    sampling, options = rng.choice(ENCODINGS)
    if picture.width * picture.height > 20000 and "-arithmetic" in options:
        options = ()  # Pillow refuses arithmetic files above 64 KiB (F1)
    picture.save(buffer, "PPM")
    if rng.random() < 0.1:
        options = (*options, "-rgb")
    data = subprocess.run(
        ["cjpeg", "-quality", str(rng.randint(5, 100)), "-sample", sampling,
         *options], input=buffer.getvalue(), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, check=True).stdout
    return data, f"cjpeg {sampling} {' '.join(options)}"


def side(rng):
    return rng.choice((1, 2, 3, rng.randint(1, 20), rng.randint(1, 90),
                       rng.randint(50, 300)))


def span(rng, length):
    """Where a crop lies on one axis: often a pixel, often at an edge."""
    size = rng.choice((1, length, rng.randint(1, length),
                       rng.randint(1, min(8, length))))
    return rng.choice((0, length - size, rng.randint(0, length - size))), size


class Stratum:
    """How pictures and geometries of one kind are drawn."""

    def __init__(self, name, size=None, out=None, crop=None):
        self.name, self.size, self.out, self.crop = name, size, out, crop

    def picture_size(self, rng):
        return self.size(rng) if self.size else (side(rng), side(rng))

    def geometry(self, rng, width, height):
        crop = self.crop or (lambda r, w, h: (*span(r, w), *span(r, h)))
        x, w, y, h = crop(rng, width, height)
        out = self.out or (lambda r, _w, _h: (r.randint(1, 260),
                                              r.randint(1, 260)))
        rw, rh = out(rng, w, h)
        flip = rng.randint(0, 1)
        if rng.random() < 0.6:
            return Geometry(x, y, w, h, rw, rh, 0, 0, rw, rh, flip)
        ww, wh = rng.randint(1, rw + 3), rng.randint(1, rh + 3)
        return Geometry(x, y, w, h, rw, rh,
                        rng.randint(-3, max(0, rw - ww) + 2),
                        rng.randint(-3, max(0, rh - wh) + 2), ww, wh, flip)


STRATA = [
    Stratum("any"),
    Stratum("sides of 1 to 3", size=lambda r: (r.randint(1, 3), r.randint(1, 3))),
    Stratum("very tall, shrinking",
            size=lambda r: (r.randint(1, 3), r.randint(301, 700)),
            crop=lambda r, w, h: (0, w, *span(r, h)) if r.random() < .3
            else (0, w, 0, h),
            out=lambda r, w, h: (r.randint(1, 30), r.randint(1, 90))),
    Stratum("very wide", size=lambda r: (r.randint(301, 700), r.randint(1, 3))),
    Stratum("width unchanged", out=lambda r, w, h: (w, r.randint(1, 200))),
    Stratum("height unchanged", out=lambda r, w, h: (r.randint(1, 200), h)),
    Stratum("both unchanged", out=lambda r, w, h: (w, h)),
    Stratum("enlarged 100 times",
            size=lambda r: (r.randint(1, 4), r.randint(1, 4)),
            out=lambda r, w, h: (100 * w, 100 * h)),
    Stratum("crop of one pixel",
            crop=lambda r, w, h: (r.randrange(w), 1, r.randrange(h), 1)),
    Stratum("left and top edge",
            crop=lambda r, w, h: (0, r.randint(1, w), 0, r.randint(1, h))),
    Stratum("right and bottom edge", crop=lambda r, w, h: (
        lambda cw, ch: (w - cw, cw, h - ch, ch))(r.randint(1, w),
                                                 r.randint(1, h))),
    Stratum("narrow components", size=lambda r: (r.randint(1, 6),
                                                 r.randint(1, 60))),
    Stratum("photograph sizes", size=lambda r: (r.randint(300, 520),
                                                r.randint(300, 520)),
            out=lambda r, w, h: (224, 224)),
]


def random_cast(rng):
    if rng.random() < 0.5:
        return Cast("u8", rng.choice(("hwc", "chw")), rng.choice(("rgb", "bgr")))
    return Cast(rng.choice(("f32", "f32", "f16", "bf16")),
                rng.choice(("hwc", "chw")), rng.choice(("rgb", "bgr")),
                rng.choice(("div", "mul")),
                *rng.choice((IMAGENET, CIFAR, ((), ()))))


def one_case(library, stratum, seed):
    """None when equal, else a sentence."""
    rng = random.Random(seed)
    data, kind = encode(rng, noise_picture(rng, *stratum.picture_size(rng)))
    pad = rng.choice((0, 0, 0, 4, 1))
    fill = rng.choice((0, 0, 128, 255))
    picture = reference.decode(data, pad=pad, fill=fill)
    geometry = stratum.geometry(rng, *picture.size)
    filter_name = rng.choice(list(reference.FILTERS))
    how = random_cast(rng)
    if pad:
        # Padding belongs to cifar-train, which does not resize
        geometry.resize_w, geometry.resize_h = geometry.crop_w, geometry.crop_h
        recipe, keys = "cifar-train", [f"pad={pad}"]
    else:
        recipe, keys = "imagenet-train", [f"filter={filter_name}"]
    spec = f"{recipe}:" + ",".join(
        [f"size={geometry.window_w}x{geometry.window_h}", f"fill={fill}", *keys,
         *how.keys()])
    want = reference.cast(
        reference.pixels(picture, geometry, filter_name, fill), how).tobytes()
    status, _flags, got, message = library.decode(data, spec, geometry,
                                                  len(want))
    about = (f"{kind}, {picture.width}x{picture.height}, {spec}, "
             f"geometry {geometry.members()}")
    if status != "OK":
        return f"{status} ({message}): {about}"
    if got != want:
        differ = sum(a != b for a, b in zip(got, want))
        return f"{differ} of {len(want)} bytes differ: {about}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2600)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    reference.require_pillow()
    library = Library()
    each = -(-args.cases // len(STRATA))
    failed = 0
    print("TAP version 13")
    print(f"1..{len(STRATA)}")
    for number, stratum in enumerate(STRATA, 1):
        faults = []
        for case in range(each):
            seed = f"{args.seed} {stratum.name} {case}"
            fault = one_case(library, stratum, seed)
            if fault:
                faults.append(f"# seed {seed!r}: {fault}")
        for line in faults[:5]:
            print(line)
        ok = "not ok" if faults else "ok"
        print(f"{ok} {number} - {stratum.name}: {each} cases, "
              f"{len(faults)} differ", flush=True)
        failed += bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
