#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write table.tsv from Pillow and numpy (never from dlboost).

usage: make_table.py > table.tsv

Refuses another Pillow than the reference.  README.rst describes the columns.
"""

import hashlib
import random
import sys
from pathlib import Path

import numpy
import PIL
from PIL import features

import order_reference
import reference
from reference import CIFAR, IMAGENET, Cast, Geometry

PICTURES = Path(__file__).resolve().parent / "pictures"
F32 = Cast("f32", "chw", "rgb", "div", *IMAGENET)
U8 = Cast()


class Table:
    def __init__(self):
        self.pictures = {}

    def picture(self, name, **options):
        key = name, tuple(sorted(options.items()))
        if key not in self.pictures:
            self.pictures[key] = reference.decode(
                (PICTURES / name).read_bytes(), **options)
        return self.pictures[key]

    def line(self, name, recipe, keys, geometry, how, filter_name="bilinear",
             draw="-", **options):
        fill = options.get("fill", 0)
        window = reference.pixels(self.picture(name, **options), geometry,
                                  filter_name, fill)
        tensor = reference.cast(window, how).tobytes()
        spec = recipe + ":" + ",".join(keys + how.keys())
        print(name, spec, ",".join(map(str, geometry.members())), draw,
              len(tensor), hashlib.sha256(tensor).hexdigest(), sep="\t")


def whole(picture):
    w, h = picture.size
    return Geometry(0, 0, w, h, w, h, 0, 0, w, h)


def full_decodes(table, names):
    """Every picture as it is, before and after the cast."""
    for name in names:
        for how in (U8, F32):
            table.line(name, "none", [], whole(table.picture(name)), how)
        if name.startswith("orientation"):
            upright = table.picture(name, orient=True)
            table.line(name, "none", ["orient=exif"], whole(upright), U8,
                       orient=True)


def random_geometry(rng, width, height):
    """A crop that often touches an edge, a size, a window inside it."""
    def span(length):
        size = rng.choice((1, rng.randint(1, length), rng.randint(1, length),
                           length))
        return rng.choice((0, length - size, rng.randint(0, length - size))), size

    (x, w), (y, h) = span(width), span(height)
    rw = rng.choice((w, rng.randint(1, 40), rng.randint(1, 130)))
    rh = rng.choice((h, rng.randint(1, 40), rng.randint(1, 130)))
    if rng.random() < 0.5:
        return Geometry(x, y, w, h, rw, rh, 0, 0, rw, rh, rng.randint(0, 1))
    ww, wh = rng.randint(1, rw + 4), rng.randint(1, rh + 4)
    return Geometry(x, y, w, h, rw, rh, rng.randint(-2, max(0, rw - ww)),
                    rng.randint(-2, max(0, rh - wh)), ww, wh, rng.randint(0, 1))


def random_cast(rng):
    if rng.random() < 0.4:
        return Cast("u8", rng.choice(("hwc", "chw")), rng.choice(("rgb", "bgr")))
    mean_std = rng.choice((IMAGENET, CIFAR, ((), ())))
    return Cast(rng.choice(("f32", "f32", "f16", "bf16")),
                rng.choice(("hwc", "chw")), rng.choice(("rgb", "bgr")),
                rng.choice(("div", "mul")), *mean_std)


def crops_and_resizes(table, names):
    """Chosen geometries: every filter on every picture."""
    for name in names:
        for filter_name in reference.FILTERS:
            rng = random.Random(f"{name} {filter_name}")
            picture = table.picture(name)
            geometry = random_geometry(rng, *picture.size)
            keys = ["size=%dx%d" % (geometry.window_w, geometry.window_h),
                    f"filter={filter_name}", "fill=0"]
            for how in (U8, random_cast(rng)):
                table.line(name, "imagenet-train", keys, geometry, how,
                           filter_name)
    for orientation in range(1, 9):
        name = f"orientation-{orientation}.jpg"
        rng = random.Random(name)
        for _ in range(4):
            geometry = random_geometry(
                rng, *table.picture(name, orient=True).size)
            keys = ["size=%dx%d" % (geometry.window_w, geometry.window_h),
                    "filter=bicubic", "orient=exif"]
            table.line(name, "imagenet-train", keys, geometry, U8, "bicubic",
                       orient=True)


def drawn(table, names):
    """The built-in recipes as a stream draws them."""
    cifar = Cast("f32", "chw", "rgb", "div", *CIFAR)
    for number, name in enumerate(names):
        width, height = table.picture(name).size
        for seed, epoch, sample in ((0, 0, number), (7, 3, 10**10 + number)):
            for recipe, keys, casts, options in (
                    ("imagenet-train", ["size=224x224"], (U8, F32), {}),
                    ("imagenet-eval", ["size=224x224", "resize=256"],
                     (U8, F32), {}),
                    ("cifar-train", ["size=32x32", "pad=4"], (cifar,),
                     {"pad": 4})):
                if recipe == "imagenet-eval" and sample >= 10**10:
                    continue  # it draws nothing
                geometry = Geometry(*order_reference.draw(
                    recipe + ":" + ",".join(keys), width, height, seed, epoch,
                    sample))
                for how in casts:
                    table.line(name, recipe, keys, geometry, how,
                               draw=f"{seed},{epoch},{sample}", **options)


def main():
    reference.require_pillow()
    names = sorted(path.name for path in PICTURES.iterdir())
    print("# SPDX-License-Identifier: GPL-2.0-or-later")
    print(f"# Pillow {PIL.__version__}, libjpeg-turbo "
          f"{features.version('libjpeg_turbo')}, numpy {numpy.__version__}")
    print("# picture\trecipe\tgeometry\tdraw\tbytes\tsha256")
    table = Table()
    full_decodes(table, names)
    crops_and_resizes(table, names)
    drawn(table, names)


if __name__ == "__main__":
    sys.exit(main())
