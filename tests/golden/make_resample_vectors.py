#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write tests/unit/resample/pillow.tsv: what Pillow makes of resize, window,
flip and cast, as hashes.

Pictures come from a counter-based generator that pillow_test.c repeats, so the
table holds none.  The floats are numpy's: three float32 operations, each
rounded.  Only the Pillow that the pixel contract names will do.

    make_resample_vectors.py > tests/unit/resample/pillow.tsv
"""

import random
import sys

import numpy as np
import PIL
from PIL import Image

PILLOW = "12.3"
SEED = 20240501
PER_STRATUM = 50
FILTERS = [("nearest", Image.NEAREST), ("box", Image.BOX), ("bilinear", Image.BILINEAR),
           ("hamming", Image.HAMMING), ("bicubic", Image.BICUBIC), ("lanczos", Image.LANCZOS)]
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)


def mix64(x):
    """Steele, Lea, Flood, "Fast splittable pseudorandom number generators"."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def picture(width, height, seed, kind):
    nr = width * height * 3
    words = np.arange((nr + 7) // 8, dtype=np.uint64) + np.uint64(seed << 32)
    data = mix64(words).astype("<u8").view(np.uint8)[:nr]
    if kind:
        data = np.where(data & 1, 255, 0).astype(np.uint8)
    return data.reshape(height, width, 3)


def digest(array):
    """Upper half of a polynomial over the bytes, modulo 2^64."""
    data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8).astype(np.uint64)
    factor = np.full(len(data), 0x9E3779B97F4A7C15, np.uint64)
    factor[0] = 1
    power = np.multiply.accumulate(factor)
    total = np.add.reduce((data + np.uint64(1)) * power[::-1])
    return f"{int(total) >> 32:08x}"


def sizes(rnd, stratum):
    """Input and output size; the strata that photographs never reach first."""
    in_w, in_h = rnd.randint(1, 300), rnd.randint(1, 220)
    out_w, out_h = rnd.randint(1, 260), rnd.randint(1, 120)
    if stratum == "tiny":
        in_w, in_h = rnd.randint(1, 3), rnd.randint(1, 3)
    elif stratum == "tall":
        in_w = rnd.randint(1, 4)
        in_h = 100 * in_w + rnd.randint(-20, 300)
        out_w = rnd.randint(1, 40)
        out_h = rnd.choice([rnd.randint(1, in_h), in_h, in_h + 1])
    elif stratum == "same-width":
        out_w = in_w
    elif stratum == "same-height":
        out_h = in_h
    elif stratum == "same-both":
        out_w, out_h = in_w, in_h
    elif stratum == "enlarge":
        in_w, in_h = rnd.randint(1, 4), rnd.randint(1, 3)
        out_w, out_h = in_w * 100, in_h * 100
    elif stratum == "one-pixel":
        in_w = in_h = 1
    elif stratum == "shrink-much":
        in_w, in_h = rnd.randint(400, 2600), rnd.randint(40, 160)
        out_w, out_h = rnd.randint(1, 60), rnd.randint(1, 9)
    elif stratum == "usual":
        in_w, in_h = rnd.randint(80, 500), rnd.randint(80, 400)
        out_w = out_h = 224
    return in_w, in_h, out_w, out_h


def window(rnd, out_w, out_h):
    if rnd.random() < 0.4:
        return 0, 0, out_w, out_h
    return (rnd.randint(-5, out_w + 3), rnd.randint(-5, out_h + 3),
            rnd.randint(1, out_w + 7), rnd.randint(1, out_h + 7))


def cut(pixels, at, fill):
    """The window; what lies outside the picture is the fill value."""
    x, y, width, height = at
    out = np.full((height, width, 3), fill, np.uint8)
    x0, y0 = max(x, 0), max(y, 0)
    x1, y1 = min(x + width, pixels.shape[1]), min(y + height, pixels.shape[0])
    if x0 < x1 and y0 < y1:
        out[y0 - y:y1 - y, x0 - x:x1 - x] = pixels[y0:y1, x0:x1]
    return out


def bf16(floats):
    bits = floats.view(np.uint32).astype(np.uint64)
    upper, lower = bits >> np.uint64(16), bits & np.uint64(0xFFFF)
    is_up = (lower > 0x8000) | ((lower == 0x8000) & ((upper & np.uint64(1)) == 1))
    return (upper + is_up).astype("<u2")


def row(rnd, stratum, index):
    in_w, in_h, out_w, out_h = sizes(rnd, stratum)
    filter_index = index % len(FILTERS)
    at = window(rnd, out_w, out_h)
    flip, fill, kind = rnd.randint(0, 1), rnd.randint(0, 255), rnd.randint(0, 1)
    seed = rnd.randint(0, 1 << 30)
    image = Image.fromarray(picture(in_w, in_h, seed, kind))
    pixels = np.asarray(image.resize((out_w, out_h), FILTERS[filter_index][1]))
    pixels = cut(pixels, at, fill)
    if flip:
        pixels = pixels[:, ::-1]
    scaled = pixels.astype(np.float32) / np.float32(255)
    floats = np.ascontiguousarray(((scaled - MEAN) / STD).transpose(2, 0, 1), "<f4")
    hashes = [digest(pixels), digest(floats), digest(floats.astype("<f2")), digest(bf16(floats))]
    fields = [stratum, FILTERS[filter_index][0], in_w, in_h, out_w, out_h, *at, flip, fill, kind,
              seed, *hashes]
    return "\t".join(map(str, fields))


def main():
    if not PIL.__version__.startswith(PILLOW + "."):
        sys.exit(f"make_resample_vectors.py: Pillow {PIL.__version__}: the contract names "
                 f"{PILLOW}; install it in a private environment")
    np.seterr(over="ignore")
    rnd = random.Random(SEED)
    print("# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later")
    print(f"# Made by tests/golden/make_resample_vectors.py with Pillow {PIL.__version__} and")
    print(f"# numpy {np.__version__}.  Fields: stratum, filter, input width and height, output")
    print("# width and height, window x y w h, flip, fill, kind and seed of the picture; hashes")
    print("# of u8 HWC, f32 CHW, f16 CHW, bf16 CHW.")
    for stratum in ["tiny", "tall", "same-width", "same-height", "same-both", "enlarge",
                    "one-pixel", "shrink-much", "any", "usual"]:
        for index in range(PER_STRATUM * (2 if stratum in ("tall", "usual") else 1)):
            print(row(rnd, stratum, index))


if __name__ == "__main__":
    main()
