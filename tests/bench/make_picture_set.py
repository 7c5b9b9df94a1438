#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cut an ImageNet-like set of JPEG files out of photographs.

Reads what tools/demo/fetch_pictures.sh unpacked, writes OUT/CLASS/NNNNN.jpg,
one class for each photograph, and prints what the set is like.  A file depends
on (kind, seed, number, photographs, version of Pillow and of its JPEG library)
alone: not on --count, --jobs or the order of work.

  main      sizes, qualities and bits a pixel as in ImageNet's training set
  large     8-megapixel pictures
  variants  the first files of "main" coded anew: progressive, 4:4:4, optimised
            Huffman tables, restart markers

Documentation/performance.rst tells why the set looks as it does.
"""

import argparse
import collections
import hashlib
import io
import json
import math
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import PIL
from PIL import Image, ImageFilter, features

# Photographs of the packages; their drawings and renderings are left out.
PHOTOGRAPHS = {
    "aqua": "backgrounds/mate/nature/Aqua.jpg",
    "blinds": "backgrounds/mate/nature/Blinds.jpg",
    "boats": "wallpapers/EveningGlow/contents/images/2560x1600.jpg",
    "bridge": "backgrounds/Bridge_by_Sander_Klootwijk.jpg",
    "brushes": "backgrounds/Picture_1A_by_freespace.jpg",
    "clock": "backgrounds/greentock_by_Peter_Nerlich.jpg",
    "cups": "wallpapers/ColorfulCups/contents/images/2560x1600.jpg",
    "dandelion": "backgrounds/seeding_by_Clements_Engelhardt.jpg",
    "dragonfly": "backgrounds/Dragonfly_by_Bolly.jpg",
    "dune": "backgrounds/mate/nature/Dune.jpg",
    "facade": "wallpapers/Grey/contents/images/2560x1600.jpg",
    "fig": "backgrounds/Picture_0B_by_freespace.jpg",
    "flower": "backgrounds/mate/nature/FreshFlower.jpg",
    "forest": "wallpapers/Path/contents/images/2560x1600.jpg",
    "friends": "backgrounds/friends_by_Aitzol_Berasategi.jpg",
    "garden": "backgrounds/mate/nature/Garden.jpg",
    "glow": "backgrounds/free_by_Peter_Nerlich.jpg",
    "hills": "backgrounds/aitzgorri_by_Aitzol_Berasategi.jpg",
    "kite": "wallpapers/Kite/contents/images/2560x1600.jpg",
    "ladybird": "backgrounds/mate/nature/LadyBird.jpg",
    "lake": "wallpapers/DarkestHour/contents/images/2560x1600.jpg",
    "leaf": "wallpapers/FallenLeaf/contents/images/2560x1600.jpg",
    "meadow": "backgrounds/mate/nature/GreenMeadow.jpg",
    "moss": "wallpapers/OneStandsOut/contents/images/2560x1600.jpg",
    "nuthatch": "backgrounds/Kleiber_by_Lukas_Baubkus.jpg",
    "pattern": "backgrounds/analogpattern_by_Peter_Nerlich.jpg",
    "peaks": "backgrounds/picosdeeuropa_by_Aitzol_Berasategi.jpg",
    "pier": "wallpapers/BytheWater/contents/images/2560x1600.jpg",
    "raindrops": "backgrounds/mate/nature/RainDrops.jpg",
    "ripple": "wallpapers/ColdRipple/contents/images/2560x1600.jpg",
    "seeds": "backgrounds/mate/nature/TwoWings.jpg",
    "storm": "backgrounds/mate/nature/Storm.jpg",
    "stream": "backgrounds/life_by_Aitzol_Berasategi.jpg",
    "sunset": "backgrounds/sunset_by_Aitzol_Berasategi.jpg",
    "summer": "wallpapers/summer_1am/contents/images/2560x1600.jpg",
    "wine": "backgrounds/Wine_by_Jakkub_Mede.jpg",
    "wood": "backgrounds/mate/nature/Wood.jpg",
    "yellowflower": "backgrounds/mate/nature/YellowFlower.jpg",
}

# Sky, water and blur code into half the bytes of ImageNet's pictures: those are
# taken seldom
SMOOTH = {"aqua", "bridge", "clock", "flower", "glow", "kite", "ladybird",
          "lake", "storm", "summer", "yellowflower"}
SMOOTH_SHARE = 0.15

# Width, height, share of the set; two in a hundred are doubled afterwards
SIZES = (
    (500, 375, 45),
    (375, 500, 15),
    (500, 333, 20),
    (333, 500, 9),
    (500, 400, 7),
    (640, 480, 4),
)
DOUBLED_SHARE = 0.02
QUALITIES = (92, 94, 95, 96, 96, 97, 97, 98)
PLACES = 4
# Exponent on the uniform draw of the log scale: below 1 favours reduction
SCALE_BIAS = 0.3
LARGE_SIZES = ((3264, 2448), (2448, 3264), (3456, 2304))
DEFAULT_COUNT = {"main": 1000, "large": 24, "variants": 200}
# What the main set must look like, or it is not the set the figures are for:
# name, value, tolerance
WANTED = (
    ("mean_bytes", 102e3, 0.05),
    ("mean_width", 479, 0.03),
    ("mean_height", 409, 0.03),
    ("bits_per_pixel", 4.2, 0.05),
)

Job = collections.namedtuple("Job", "kind seed source out photo numbers")


def rng_of(kind, seed, number):
    """Independent generator of one file: strings are seeded through SHA-512."""
    return random.Random(f"dlboost-pictures-1/{kind}/{seed}/{number}")


def encode(image, **options):
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


def pick_size(rng):
    width, height, _ = rng.choices(SIZES, [s[2] for s in SIZES])[0]
    if rng.random() < DOUBLED_SHARE:
        return 2 * width, 2 * height
    return width, height


def cut(photo, rng, size, scale):
    """One place of @photo, @scale times as large as @size, reduced to it."""
    width, height = (round(side * scale) for side in size)
    left = rng.randint(0, photo.width - width)
    top = rng.randint(0, photo.height - height)
    tile = photo.resize(size, Image.Resampling.LANCZOS,
                        (left, top, left + width, top + height), 2.0)
    return tile.filter(ImageFilter.UnsharpMask(0.8, 150, 0))


def make_main(photo, rng):
    size = pick_size(rng)
    quality = rng.choice(QUALITIES)
    limit = min(photo.width / size[0], photo.height / size[1])
    if limit < 1:
        size = tuple(math.floor(side * limit) for side in size)
        limit = 1
    scale = limit ** (rng.random() ** SCALE_BIAS)
    return max((encode(cut(photo, rng, size, scale), quality=quality,
                       subsampling=2) for _ in range(PLACES)), key=len)


def make_large(photo, rng):
    fitting = [s for s in LARGE_SIZES
               if s[0] <= photo.width and s[1] <= photo.height]
    size = rng.choice(fitting)
    limit = min(photo.width / size[0], photo.height / size[1])
    tile = cut(photo, rng, size, limit ** rng.random())
    if rng.random() < 0.5:
        tile = tile.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return encode(tile, quality=rng.choice(QUALITIES[:5]), subsampling=2)


def with_restarts(data):
    """Pillow of Debian 12 cannot write restart markers, jpegtran can."""
    return subprocess.run(["jpegtran", "-copy", "none", "-restart", "1"],
                          input=data, stdout=subprocess.PIPE, check=True).stdout


def make_variants(path, rng):
    data = path.read_bytes()
    image = Image.open(io.BytesIO(data))
    quality = rng.choice(QUALITIES)
    made = {
        "progressive": encode(image, quality=quality, subsampling=2,
                              progressive=True),
        "444": encode(image, quality=quality, subsampling=0),
        "optimised": encode(image, quality=quality, subsampling=2,
                            optimize=True),
    }
    if shutil.which("jpegtran"):
        made["restart"] = with_restarts(data)
    return made


def write(path, data):
    """A reader never sees half a file, whenever this is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(data)
    part.rename(path)


def is_large(size):
    return any(size[0] >= w and size[1] >= h for w, h in LARGE_SIZES)


def run_job(job):
    """All files of one photograph: it is decoded once."""
    if job.kind == "variants":
        for number in job.numbers:
            rng = rng_of(job.kind, job.seed, number)
            path = job.source / job.photo[number]
            for name, data in make_variants(path, rng).items():
                write(job.out / name / f"{number:05d}.jpg", data)
        return len(job.numbers)
    make = make_main if job.kind == "main" else make_large
    photo = Image.open(job.source / PHOTOGRAPHS[job.photo]).convert("RGB")
    for number in job.numbers:
        data = make(photo, rng_of(job.kind, job.seed, number))
        write(job.out / job.photo / f"{number:05d}.jpg", data)
    return len(job.numbers)


def plan(args):
    """Jobs of a few files each, so that the workers end together."""
    if args.kind == "variants":
        paths = sorted(args.source.glob("*/*.jpg"), key=lambda p: p.name)
        paths = [p.relative_to(args.source) for p in paths[:args.count]]
        if len(paths) < args.count:
            sys.exit(f"{args.source}: {len(paths)} pictures, {args.count} "
                     "wanted: make the main set first")
        return [Job(args.kind, args.seed, args.source, args.out, paths,
                    list(range(first, min(first + 8, args.count))))
                for first in range(0, args.count, 8)]
    photos = [n for n, p in PHOTOGRAPHS.items() if (args.source / p).is_file()]
    if args.kind == "large":
        photos = [n for n in photos
                  if is_large(Image.open(args.source / PHOTOGRAPHS[n]).size)]
    if not photos:
        sys.exit(f"{args.source}: none of the photographs is there; "
                 "tools/demo/fetch_pictures.sh brings them")
    if args.all_photographs and len(photos) < len(PHOTOGRAPHS):
        lacking = ", ".join(sorted(set(PHOTOGRAPHS) - set(photos)))
        sys.exit(f"{args.source}: photographs are missing: {lacking}")
    weights = [SMOOTH_SHARE if n in SMOOTH else 1 for n in photos]
    numbers = collections.defaultdict(list)
    for number in range(args.count):
        rng = rng_of(f"{args.kind}-photo", args.seed, number)
        numbers[rng.choices(photos, weights)[0]].append(number)
    return [Job(args.kind, args.seed, args.source, args.out, photo,
                wanted[first:first + 8])
            for photo, wanted in sorted(numbers.items())
            for first in range(0, len(wanted), 8)]


def describe(out):
    """Figures and hash of what lies there, from the files themselves."""
    digest = hashlib.sha256()
    nr_files = total_bytes = widths = heights = pixels = 0
    for path in sorted(out.glob("*/*.jpg")):
        data = path.read_bytes()
        width, height = Image.open(io.BytesIO(data)).size
        digest.update(f"{path.relative_to(out)}\0{len(data)}\0".encode())
        digest.update(data)
        nr_files += 1
        total_bytes += len(data)
        widths += width
        heights += height
        pixels += width * height
    return {
        "nr_files": nr_files,
        "mean_bytes": round(total_bytes / nr_files),
        "mean_width": round(widths / nr_files, 1),
        "mean_height": round(heights / nr_files, 1),
        "bits_per_pixel": round(8 * total_bytes / pixels, 3),
        "set_hash": digest.hexdigest(),
    }


def parameters(args):
    return {
        "schema": "dlboost-picture-set",
        "version": 1,
        "kind": args.kind,
        "count": args.count,
        "seed": args.seed,
        "photographs": sorted({str(j.photo) for j in plan(args)})
        if args.kind != "variants" else [],
        "pillow": PIL.__version__,
        "jpeg_library": features.version("jpg"),
    }


def progress(done, total, begin):
    if sys.stderr.isatty() or done == total:
        print(f"\r  {done}/{total} pictures, {time.monotonic() - begin:.0f} s",
              end="\n" if done == total else "", file=sys.stderr, flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=tuple(DEFAULT_COUNT), default="main")
    parser.add_argument("--count", type=int, help="files (variants: originals)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source", type=pathlib.Path, required=True,
                        help="folder of fetch_pictures.sh; variants: a main set")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--all-photographs", action="store_true",
                        help="fail unless every photograph is there")
    parser.add_argument("--check", action="store_true",
                        help="fail unless the set looks like ImageNet's")
    args = parser.parse_args()
    if args.count is None:
        args.count = DEFAULT_COUNT[args.kind]
    if args.count < 1 or args.jobs < 1:
        parser.error("--count and --jobs must be at least 1")
    return args


def check(found):
    bad = [f"{name} is {found[name]}, wanted {value:g} within {share:.0%}"
           for name, value, share in WANTED
           if abs(found[name] / value - 1) > share]
    if bad:
        sys.exit("not the set it should be: " + "; ".join(bad))


def main():
    args = parse_arguments()
    jobs = plan(args)
    wanted = parameters(args)
    record = args.out / ".set.json"
    try:
        found = json.loads(record.read_text())
    except (OSError, ValueError):
        found = {}
    if any(found.get(key) != value for key, value in wanted.items()):
        # A folder of other parameters would leave files behind
        if args.out.exists() and any(args.out.iterdir()):
            if not found:
                sys.exit(f"{args.out}: not empty and no picture set; "
                         "name another folder")
            shutil.rmtree(args.out)
        args.out.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps({"schema": wanted["schema"]}) + "\n")
        begin, done = time.monotonic(), 0
        with multiprocessing.Pool(args.jobs) as pool:
            for count in pool.imap_unordered(run_job, jobs):
                done += count
                progress(done, args.count, begin)
        found = {**wanted, **describe(args.out)}
        record.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{args.out}: {found['nr_files']} pictures, mean "
          f"{found['mean_bytes'] / 1000:.1f} KB, {found['mean_width']:.0f}x"
          f"{found['mean_height']:.0f}, {found['bits_per_pixel']:.2f} bits a "
          f"pixel, hash {found['set_hash'][:16]}")
    if args.check and args.kind == "main":
        check(found)


if __name__ == "__main__":
    main()
