#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Order version 1 a second time, from Documentation/order.rst alone.

Nothing here is shared with libdl: plain integers, Python's floats, its own
round() and math library, shards by dealing out a list.  The crop is
torchvision's published algorithm, restated.

  order_reference.py --write             the vectors, to standard output
  order_reference.py --check TSV RST     TSV is what --write gives, and the
                                         block of vectors in RST equals TSV
  order_reference.py --ask PROGRAM       random questions (see order_answer.c)
                                         to PROGRAM, answers compared
"""

import argparse
import math
import random
import struct
import subprocess
import sys
from decimal import Decimal, getcontext

getcontext().prec = 50
MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1


def philox(key, counter):
    c0, c1, c2, c3 = counter
    k0, k1 = key & MASK32, key >> 32
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = ((p1 >> 32) ^ c1 ^ k0, p1 & MASK32,
                          (p0 >> 32) ^ c3 ^ k1, p0 & MASK32)
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return c0, c1, c2, c3


def block(seed, epoch, sample, number):
    return philox(seed, (sample & MASK32, sample >> 32, epoch, number))


def word(seed, epoch, sample, index):
    return block(seed, epoch, sample, index // 4)[index % 4]


# Order ----------------------------------------------------------------------

def epoch_number(seed, epoch, kind, index):
    words = philox(seed, (index // 2, 0, epoch, kind))
    return words[index % 2 * 2] | words[index % 2 * 2 + 1] << 32


def order_table(seed, epoch, n):
    table = list(range(n))
    for i in range(n - 1, 0, -1):
        j = epoch_number(seed, epoch, 0x80000000, i) * (i + 1) >> 64
        table[i], table[j] = table[j], table[i]
    return table


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK64
    return z ^ z >> 31


def order_network(seed, epoch, n, x):
    bits = (n - 1).bit_length()
    low = bits // 2
    high = bits - low
    keys = [epoch_number(seed, epoch, 0x80000001, i) for i in range(8)]
    for _ in range(64):
        left, right = x >> high, x & ((1 << high) - 1)
        for i, key in enumerate(keys):
            if i % 2 == 0:
                left ^= mix(right ^ key) >> (64 - low)
            else:
                right ^= mix(left ^ key) >> (64 - high)
        x = left << high | right
        if x < n:
            return x
    raise ArithmeticError("more than 64 walks")


TABLES = {}


def order_at(seed, epoch, n, position):
    if n > 65536:
        return order_network(seed, epoch, n, position)
    if (seed, epoch, n) not in TABLES:
        TABLES[seed, epoch, n] = order_table(seed, epoch, n)
    return TABLES[seed, epoch, n][position]


# Shards: deal a list out -------------------------------------------------------

def shard(n, start, batch, rank, world, tail, index):
    dealt = [(p, False) for p in range(start, n)]
    step = batch * world
    if tail == "drop":
        del dealt[len(dealt) - len(dealt) % step:]
    extra = 0
    while tail == "pad" and len(dealt) % step:
        dealt.append((extra % n, True))
        extra += 1
    rounds = [dealt[i:i + step] for i in range(0, len(dealt), step)]
    mine = rounds[index][rank::world] if index < len(rounds) else []
    return [str(len(rounds)), str(len(mine)),
            ",".join("%d%s" % (p, "*" if d else "") for p, d in mine) or "-"]


# Logarithm and exponential, as order.rst defines them ---------------------------

LN2 = Decimal(2).ln()
LOG_OF_C = {j: float((Decimal(j) / 32).ln()) for j in range(24, 49)}
EXP2_OF_J = [float((LN2 * j / 32).exp()) for j in range(32)]
LN2_HI, LN2_LO = float.fromhex("0x1.62e42feep-1"), float.fromhex(
    "0x1.a39ef35793c76p-33")
STEP_HI, STEP_LO = LN2_HI / 32, LN2_LO / 32
INV_STEP = float(32 / LN2)


def rule_log(x):
    m, e = math.frexp(x)
    m, e = m * 2, e - 1
    if m >= 1.5:
        m, e = m / 2, e + 1
    j = int(m * 32 + 0.5)
    c = j / 32
    s = (m - c) / (m + c)
    t = s * s
    p = t * (1 / 3 + t * (1 / 5 + t * (1 / 7)))
    return (2 * s + 2 * s * p + e * LN2_LO) + (LOG_OF_C[j] + e * LN2_HI)


def rule_exp(x):
    k = int(x * INV_STEP + (-0.5 if x < 0 else 0.5))
    r = (x - k * STEP_HI) - k * STEP_LO
    p = 1 / 24 + r * (1 / 120 + r * (1 / 720))
    p = r + r * r * (1 / 2 + r * (1 / 6 + r * p))
    base = EXP2_OF_J[k % 32]
    return math.ldexp(base + base * p, k // 32)


# Draws --------------------------------------------------------------------------

def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def uniform_tensor(w, low, high):
    """torch.empty(1).uniform_(low, high).item() for the 24 bits of w"""
    low, high = f32(low), f32(high)
    u = (w >> 8) / 16777216
    return f32(f32(u * f32(high - low)) + low)


def random_resized_crop(width, height, scale, ratio, words):
    """torchvision.transforms.RandomResizedCrop.get_params()"""
    area = height * width
    log_ratio = [f32(math.log(f32(r))) for r in ratio]
    for attempt in range(10):
        drawn = words(8 * attempt)
        target_area = area * uniform_tensor(drawn[0], *scale)
        aspect = f32(math.exp(uniform_tensor(drawn[1], *log_ratio)))
        w = int(round(math.sqrt(target_area * aspect)))
        h = int(round(math.sqrt(target_area / aspect)))
        if 0 < w <= width and 0 < h <= height:
            i = drawn[2] * (height - h + 1) >> 32
            j = drawn[3] * (width - w + 1) >> 32
            return j, i, w, h
    in_ratio = float(width) / float(height)
    w, h = width, height
    if in_ratio < min(ratio):
        h = max(1, int(round(w / min(ratio))))
    elif in_ratio > max(ratio):
        w = max(1, int(round(h * max(ratio))))
    return (width - w) // 2, (height - h) // 2, w, h


def center_crop(length, crop):
    """torchvision.transforms.functional.center_crop(), one axis"""
    if crop > length:
        return -((crop - length) // 2)
    return int(round((length - crop) / 2.0))


def resize_short(width, height, size):
    """torchvision.transforms.functional.resize() with one size"""
    short, long = (width, height) if width <= height else (height, width)
    new_long = int(size * long / short)
    return (size, new_long) if width <= height else (new_long, size)


def random_crop(length, crop, w):
    """One axis of torchvision.transforms.RandomCrop.get_params()"""
    if length < crop:
        return 0, length, -((crop - length) // 2)
    return w * (length - crop + 1) >> 32, crop, 0


DEFAULTS = {
    "imagenet-train": dict(size="224", area="0.08/1",
                           ratio="0.75/1.3333333333333333", flip="0.5"),
    "imagenet-eval": dict(size="224", resize="256", flip="0"),
    "cifar-train": dict(size="32", pad="4", flip="0.5"),
    "cifar-eval": dict(size="32", flip="0"),
    "none": dict(size="none", flip="0"),
}


def draw(spec, width, height, seed, epoch, sample):
    name, _, options = spec.partition(":")
    keys = dict(DEFAULTS[name])
    keys.update(o.split("=") for o in options.split(",") if o)
    size = [width, height]
    if keys["size"] not in ("none", "0"):
        size = [int(n) for n in keys["size"].split("x")] * 2
    tw, th = size[0], size[1]
    crop, resized, window = [0, 0, width, height], (width, height), (0, 0)

    def words(index):
        return block(seed, epoch, sample, index // 4)

    if name == "imagenet-train":
        area, ratio = ([float(v) for v in keys[k].split("/")]
                       for k in ("area", "ratio"))
        crop = random_resized_crop(width, height, area, ratio, words)
        resized = (tw, th)
    elif name == "imagenet-eval":
        resized = resize_short(width, height, int(keys["resize"]))
        window = center_crop(resized[0], tw), center_crop(resized[1], th)
    elif name == "cifar-train":
        pad = 2 * int(keys["pad"])
        _, top, left, _ = words(128)
        x, w, wx = random_crop(width + pad, tw, left)
        y, h, wy = random_crop(height + pad, th, top)
        crop, resized, window = (x, y, w, h), (w, h), (wx, wy)
    flip = (words(128)[0] >> 8) / 16777216 < float(keys["flip"])
    return [*crop, *resized, *window, tw, th, int(flip)]


# Questions and answers ------------------------------------------------------------

def hexes(values, digits):
    return ["%0*x" % (digits, v) for v in values]


def double_bits(x):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", x))[0]


def answer(kind, given):
    if kind == "philox":
        numbers = [int(g, 16) for g in given]
        return hexes(philox(numbers[0], numbers[1:]), 8)
    if kind == "log":
        bits = struct.pack("<I", int(given[0], 16))
        return [double_bits(rule_log(struct.unpack("<f", bits)[0]))]
    if kind == "exp":
        bits = struct.pack("<Q", int(given[0], 16))
        return [double_bits(rule_exp(struct.unpack("<d", bits)[0]))]
    if kind == "draw":
        return [str(v) for v in draw(given[0], *map(int, given[1:]))]
    if kind == "shard":
        numbers = [int(g) for g in given[:5] + given[6:]]
        return shard(*numbers[:5], given[5], numbers[5])
    numbers = [int(g) for g in given]
    if kind == "word":
        return hexes([word(*numbers)], 8)
    if kind == "order":
        return [str(order_at(*numbers))]
    if kind == "substitute":
        seed, epoch, sample, attempt, members = numbers
        return [str(word(seed, epoch, sample, 256 + attempt) * members >> 32)]
    raise ValueError(kind)


def row(kind, *given):
    given = [str(g) for g in given]
    return "\t".join([kind, *given, "=", *answer(kind, given)])


# Random123 1.14, tests/kat_vectors, "philox4x32 10"
KNOWN_ANSWERS = [
    (0, (0, 0, 0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (MASK64, (MASK32,) * 4, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (0x299F31D0A4093822, (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]

HEADER = """\
# Test vectors of order version 1, made by order_reference.py --write.
# One question a line: kind, what is given, "=", what must come out.
# philox: key, counter x 4 (hexadecimal) = 4 words
# word: seed, epoch, sample, word index = word
# order: seed, epoch, samples, position = sample
# shard: samples, start, batch, rank, world, tail, batch index
#   = batches of the rank, samples of this batch, their positions (*: duplicate)
# substitute: augment seed, epoch, sample, attempt, members = member
# log: float32 (bits) = double (bits); exp: double (bits) = double (bits)
# draw: recipe, width, height, augment seed, epoch, sample = crop x, y, width,
#   height, resized width, height, window x, y, width, height, flip"""


def vectors():
    lines = [HEADER]
    for key, counter, _ in KNOWN_ANSWERS:
        lines.append(row("philox", *hexes([key], 16), *hexes(counter, 8)))
    for args in [(1, 0, 0, 0), (1, 0, 0, 5), (MASK64, MASK32, 1 << 40, 131),
                 (12345, 7, 1281166, 257)]:
        lines.append(row("word", *args))
    for n in (1, 2, 6, 103, 65536):
        lines += [row("order", 1, 0, n, p) for p in sorted({0, n // 2, n - 1})]
    for n in (65537, 131072, 1281167, 10 ** 12, (1 << 63) - 1):
        lines += [row("order", 1, 0, n, p) for p in (0, 1, n // 2, n - 1)]
    lines += [row("order", MASK64, 89, 1281167, p) for p in (0, 1000000)]
    for args in [(103, 0, 4, 1, 2, "drop", 11), (103, 40, 4, 7, 8, "drop", 0),
                 (33, 0, 8, 0, 4, "partial", 1), (33, 0, 8, 1, 4, "partial", 1),
                 (33, 0, 8, 3, 4, "pad", 1), (3, 0, 1, 7, 8, "pad", 0),
                 (10, 7, 2, 1, 3, "partial", 0), (10, 4, 2, 1, 3, "pad", 0)]:
        lines.append(row("shard", *args))
    for args in [(1, 0, 0, 0, 1300), (1, 0, 0, 15, 1300), (9, 3, 77, 2, 2)]:
        lines.append(row("substitute", *args))
    for x in ("3f400000", "3faaaaab", "3f800000", "3f7fffff", "447a0000"):
        lines.append(row("log", x))
    for x in ("3fd2695800000000", "bfd2695800000000", "0000000000000000",
              "4015000000000000", "bfb0000020000000"):
        lines.append(row("exp", x))
    for sample in range(4):
        lines.append(row("draw", "imagenet-train", 500, 375, 1, 0, sample))
    for recipe, w, h in [
            ("imagenet-train", 1, 1000), ("imagenet-train", 1000, 3),
            ("imagenet-train:size=160x192,area=0.3/0.9,flip=0.25", 333, 500),
            ("imagenet-train:ratio=0.001/1000", 65535, 65535),
            ("imagenet-eval", 500, 375), ("imagenet-eval", 256, 341),
            ("imagenet-eval:size=300,resize=257", 333, 500),
            ("imagenet-eval:size=225x200", 375, 500),
            ("cifar-train", 32, 32), ("cifar-train:pad=0", 32, 32),
            ("cifar-train:size=48", 30, 61), ("cifar-eval", 32, 32),
            ("cifar-eval:size=40", 32, 50), ("none", 640, 480)]:
        lines.append(row("draw", recipe, w, h, 20240229, 5, 123456789012))
    return lines


def check_self():
    for key, counter, known in KNOWN_ANSWERS:
        if " ".join(hexes(philox(key, counter), 8)) != known:
            sys.exit("the script's own Philox is wrong")


def check(tsv, rst):
    wanted = vectors()
    with open(tsv, encoding="ascii") as f:
        lines = f.read().splitlines()
    if lines != "\n".join(wanted).splitlines():
        sys.exit("%s is not what --write gives" % tsv)
    with open(rst, encoding="utf-8") as f:
        text = f.read()
    begin, end = ".. order-v1-vectors-begin", ".. order-v1-vectors-end"
    shown = text.partition(begin)[2].partition(end)[0].splitlines()
    shown = [s.split() for s in shown if s.startswith("   ")]
    if shown != [s.split() for s in lines if not s.startswith("#")]:
        sys.exit("the vectors in %s are not those of %s" % (rst, tsv))
    check_state_example(rst, text)
    print("%d vectors" % len(shown))


def check_state_example(rst, text):
    lines = text.partition("   dlboost-state 1\n")[2].splitlines()
    document = "dlboost-state 1\n"
    for line in lines:
        if line.startswith("   checksum: "):
            total = 0xCBF29CE484222325
            for byte in document.encode("ascii"):
                total = (total ^ byte) * 0x100000001B3 & MASK64
            if line != "   checksum: %016x" % total:
                sys.exit("%s: the state's checksum is %016x" % (rst, total))
            return
        document += line[3:] + "\n"
    sys.exit("%s: no state document" % rst)


def questions(rng, nr_crops):
    """Draws above all; then what the vectors cannot cover for their number"""
    seeds = [rng.getrandbits(64) for _ in range(8)]
    for i in range(nr_crops):
        w, h = rng.choice([(500, 375), (375, 500), (rng.randint(1, 900),
                          rng.randint(1, 900)), (rng.randint(1, 65535),
                          rng.randint(1, 9))])
        recipe = "imagenet-train"
        if i % 8 == 0:
            recipe += ":area=%.3g/1,ratio=%.3g/%.3g,flip=%.3g" % (
                rng.random(), rng.uniform(.01, 1), rng.uniform(1, 50),
                rng.random())
        yield "draw", (recipe, w, h, rng.choice(seeds),
                       rng.getrandbits(32), rng.getrandbits(40))
    for _ in range(4000):
        recipe = rng.choice(
            ["imagenet-eval:size=%dx%d,resize=%d" % (
                rng.randint(1, 600), rng.randint(1, 600), rng.randint(1, 600)),
             "cifar-train:size=%d,pad=%d" % (rng.randint(1, 40),
                                             rng.randint(0, 9)),
             "cifar-eval:size=%d" % rng.randint(1, 60)])
        yield "draw", (recipe, rng.randint(1, 700), rng.randint(1, 700),
                       rng.choice(seeds), rng.getrandbits(8), rng.getrandbits(64))
    for _ in range(2000):
        n = rng.randint(65537, 1 << rng.randint(17, 63))
        yield "order", (rng.choice(seeds), rng.getrandbits(32), n,
                        rng.randrange(n))
        n = rng.choice([7, 1000, 65535])
        yield "order", (seeds[0], 1, n, rng.randrange(n))
        world = rng.randint(1, 9)
        n = rng.randint(1, 200)
        yield "shard", (n, rng.randint(0, n), rng.randint(1, 9),
                        rng.randrange(world), world,
                        rng.choice(["drop", "pad", "partial"]),
                        rng.randint(0, 30))
    for j in range(-400, 401):
        yield "exp", (double_bits(j / 32 * math.log(2) + rng.uniform(-.01, .01)),)
        x = struct.pack("<f", 2 ** (rng.uniform(-9.9, 9.9)))
        yield "log", ("%08x" % struct.unpack("<I", x),)


def ask(program, nr_crops, seed, answers_only):
    rng = random.Random(seed)
    rows = [(kind, [str(g) for g in given])
            for kind, given in questions(rng, nr_crops)]
    text = "".join("\t".join([k, *g, "="]) + "\n" for k, g in rows)
    said = subprocess.run(program, input=text, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    if answers_only:
        sys.stdout.write(said)
        return
    said = said.splitlines()
    if len(said) != len(rows):
        sys.exit("%d answers to %d questions" % (len(said), len(rows)))
    for (kind, given), line in zip(rows, said):
        if row(kind, *given) != line:
            sys.exit("seed %d: %s gave\n%s\nwanted\n%s" % (
                seed, program, line, row(kind, *given)))
    print("%d answers, %d of them crops" % (len(said), nr_crops))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", nargs=2, metavar=("TSV", "RST"))
    parser.add_argument("--ask", nargs="+", metavar="PROGRAM")
    parser.add_argument("--crops", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers-only", action="store_true",
                        help="print the answers, compare nothing")
    args = parser.parse_args()
    check_self()
    if args.write:
        print("\n".join(vectors()))
    if args.check:
        check(*args.check)
    if args.ask:
        ask(args.ask, args.crops, args.seed, args.answers_only)


if __name__ == "__main__":
    main()
