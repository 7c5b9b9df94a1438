#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write builtin.c: two small JPEGs and what Pillow makes of them.

usage: make_builtin.py > builtin.c

The selftest needs pictures even where the golden table is not installed.
"""

import hashlib
import io
import math

from PIL import Image

WIDTH, HEIGHT = 40, 27
HEAD = """\
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures for a selftest without the golden table, and the SHA-256 of what
 * Pillow makes of them.  Made by make_builtin.py; not to be edited.
 */
#include "builtin.h"
"""


def scene():
    """Waves, an edge and a spot: something for every frequency."""
    image = Image.new("RGB", (WIDTH, HEIGHT))
    for y in range(HEIGHT):
        for x in range(WIDTH):
            wave = math.sin(x / 3) + math.cos(y / 2)
            spot = math.exp(-((x - 28) ** 2 + (y - 9) ** 2) / 20)
            image.putpixel((x, y), tuple(
                max(0, min(255, int(v))) for v in (
                    120 + 60 * wave, 90 + 160 * spot + (40 if x > y else 0),
                    200 - 5 * x + 3 * y)))
    return image


def cases(data):
    """(recipe, geometry, tensor bytes) of one file, by Pillow."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    whole = (0, 0, WIDTH, HEIGHT, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT, 0)
    yield "none", whole, image.tobytes()
    crop = image.crop((5, 3, 36, 25)).resize((24, 20), Image.BILINEAR)
    crop = crop.crop((2, 1, 22, 17)).transpose(Image.FLIP_LEFT_RIGHT)
    yield "none", (5, 3, 31, 22, 24, 20, 2, 1, 20, 16, 1), crop.tobytes()
    tall = image.resize((13, 50), Image.BICUBIC)
    yield ("none:filter=bicubic",
           (0, 0, WIDTH, HEIGHT, 13, 50, 0, 0, 13, 50, 0), tall.tobytes())


def main():
    print(HEAD)
    rows = []
    for name, options in (("baseline 4:2:0", {"subsampling": 2}),
                          ("progressive 4:4:4", {"subsampling": 0,
                                                 "progressive": True})):
        out = io.BytesIO()
        scene().save(out, "JPEG", quality=80, **options)
        data = out.getvalue()
        array = "picture_" + name.split()[0]
        print(f"static const uint8_t {array}[] = {{")
        for i in range(0, len(data), 12):
            print("\t" + " ".join(f"0x{b:02x}," for b in data[i:i + 12]))
        print("};\n")
        rows += [(name, array, *case) for case in cases(data)]
    print("const struct builtin_case builtin_cases[] = {")
    for name, array, recipe, geometry, tensor in rows:
        digest = hashlib.sha256(tensor).hexdigest()
        print(f'\t{{ "{name}", {array}, sizeof({array}),\n\t  "{recipe}",\n'
              f'\t  {{ {", ".join(map(str, geometry))} }},\n'
              f'\t  "{digest}" }},')
    print("};\nconst size_t builtin_nr_cases = "
          "sizeof(builtin_cases) / sizeof(builtin_cases[0]);")


if __name__ == "__main__":
    main()
