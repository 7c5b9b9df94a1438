#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Random folders and manifests against an independent reading of the rules.

The reference walks with os.walk, as torchvision's ImageFolder does, sorts
whole relative paths, and computes the fingerprint with its own SipHash.
Usage: listing_property_test.py DATASET_DUMP [ROUNDS] [SEED]
"""

import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

EXTENSIONS = (b".jpg", b".jpeg", b".jpe", b".jfif", b".png")
MASK = (1 << 64) - 1


def rotl(x, n):
    return ((x << n) | (x >> (64 - n))) & MASK


def sip_rounds(v, n):
    a, b, c, d = v
    for _ in range(n):
        a = (a + b) & MASK
        b = rotl(b, 13) ^ a
        a = rotl(a, 32)
        c = (c + d) & MASK
        d = rotl(d, 16) ^ c
        a = (a + d) & MASK
        d = rotl(d, 21) ^ a
        c = (c + b) & MASK
        b = rotl(b, 17) ^ c
        c = rotl(c, 32)
    return [a, b, c, d]


def siphash_2_4_128(key, data):
    k0, k1 = struct.unpack("<QQ", key)
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D ^ 0xEE,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    tail = len(data) % 8
    padded = data + bytes(7 - tail) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        v = sip_rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xEE
    v = sip_rounds(v, 4)
    low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    v = sip_rounds(v, 4)
    return struct.pack("<QQ", low, v[0] ^ v[1] ^ v[2] ^ v[3]).hex()


def fingerprint(samples):
    """samples: (name, label, offset, length) as Documentation/datasets.rst says"""
    data = b"".join(
        name + struct.pack("<xiQq", label, offset, length)
        for name, label, offset, length in samples
    )
    return siphash_2_4_128(b"dlboost-listing1", data)


def random_name(rng, extension_share):
    alphabet = [bytes([c]) for c in b"ab-.0 \n\xffZ\\\t"] + [b"\xc3\xa4"]
    stem = b"".join(rng.choice(alphabet) for _ in range(rng.randint(1, 4)))
    if rng.random() < 0.9 and stem.startswith(b"."):
        stem = b"x" + stem
    if rng.random() < extension_share:
        extension = rng.choice(EXTENSIONS)
        stem += extension.upper() if rng.random() < 0.3 else extension
    return stem


def fill(rng, folder, depth, width, elsewhere):
    for _ in range(rng.randint(0, width)):
        path = os.path.join(folder, random_name(rng, 0.7))
        if path.endswith((b"/.", b"/..")) or os.path.lexists(path):
            continue
        kind = rng.random()
        if kind < 0.3 and depth:
            os.mkdir(path)
            fill(rng, path, depth - 1, width, elsewhere)
        elif kind < 0.35:
            os.mkfifo(path)
        elif kind < 0.42 and depth < 3:
            os.symlink(b"no such file.jpg", path)
        elif kind < 0.47:
            os.symlink(elsewhere, path)
        else:
            with open(path, "wb") as f:
                f.write(bytes(rng.randint(0, 50)))


def is_picture(name):
    lower = name.lower()
    return lower.endswith(EXTENSIONS) and not name.startswith(b".")


def size_of(path):
    """The size of a sample, -1 when not known, None when it is none"""
    try:
        st = os.stat(path)
    except OSError:
        return -1
    return st.st_size if os.path.isfile(path) else None


def walk_files(root, top):
    """Relative names of visible files below top, and how many are skipped"""
    found, skipped = [], 0
    for folder, folders, files in os.walk(os.path.join(root, top), followlinks=True):
        folders[:] = [f for f in folders if not f.startswith(b".")]
        for name in files:
            if name.startswith(b"."):
                continue
            path = os.path.join(folder, name)
            if is_picture(name) and size_of(path) is not None:
                found.append((os.path.relpath(path, root), size_of(path)))
            else:
                skipped += 1
    return sorted(found), skipped


def reference(root):
    """classes, samples (name, label, offset, length), skipped; or an errno"""
    top = sorted(e for e in os.listdir(root) if not e.startswith(b"."))
    classes = [e for e in top if os.path.isdir(os.path.join(root, e))]
    if not classes:
        found, skipped = walk_files(root, b"")
        samples = [(name, -1, 0, size) for name, size in found]
    else:
        skipped = len(top) - len(classes)
        samples = []
        for label, name in enumerate(classes):
            found, more = walk_files(root, name)
            skipped += more
            samples += [(path, label, 0, size) for path, size in found]
    return classes, samples, skipped


def dump(program, path, index):
    command = [program, path, index, "allow_empty"]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return out.split(b"\0")[:-1]


def expected_fields(prefix, classes, samples, skipped, nr_classes, total):
    fields = [b"ok", nr_classes, len(samples), skipped, total, 1, 0, fingerprint(samples)]
    fields += classes
    for name, label, offset, length in samples:
        fields += [name if name.startswith(b"/") else prefix + name, label, offset, length]
    for label in range(nr_classes):
        members = [i for i, s in enumerate(samples) if s[1] == label]
        fields += [len(members)] + members
    return [f if isinstance(f, bytes) else str(f).encode() for f in fields]


def check_folder(program, rng, base):
    root = os.path.join(base, b"data")
    os.mkdir(root)
    elsewhere = os.path.join(base, b"elsewhere")
    os.makedirs(os.path.join(elsewhere, b"deep"))
    for name in (b"1.jpg", b"deep/2.png", b"note"):
        with open(os.path.join(elsewhere, name), "wb") as f:
            f.write(name)
    fill(rng, root, 3, rng.choice([2, 4, 8]), elsewhere)
    for entry in os.listdir(root):
        path = os.path.join(root, entry)
        # A dead link at the top is refused: another test's affair
        if not os.path.exists(path) and not is_picture(entry) and not entry.startswith(b"."):
            os.unlink(path)
    classes, samples, skipped = reference(root)
    got = dump(program, root, os.path.join(base, b"index"))
    if not samples:
        assert got[:2] == [b"error", b"-61"], got
        return 0
    total = sum(s[3] for s in samples if s[3] >= 0)
    want = expected_fields(root + b"/", classes, samples, skipped, len(classes), total)
    assert got == want, "\n%r\n%r" % (got, want)
    return len(samples)


def escape(rng, name):
    out = b""
    for byte in name:
        char = bytes([byte])
        if char == b"\\":
            out += b"\\\\"
        elif char == b"\t":
            out += b"\\t"
        elif char == b"\n":
            out += b"\\n"
        elif rng.random() < 0.05 or (not out and char in b"#\xef"):
            out += b"\\x%02x" % byte
        else:
            out += char
    return out


def check_manifest(program, rng, base):
    folder = os.path.join(base, b"lists")
    os.mkdir(folder)
    path = os.path.join(folder, b"m.tsv")
    end = rng.choice([b"\n", b"\r\n"])
    nr_labels = rng.choice([1, 3, 300])
    lines, samples = [], []
    for _ in range(rng.randint(1, 60)):
        name = bytes(rng.choice(b"ab/#\\\t\n\r \xff\xef") for _ in range(rng.randint(1, 9)))
        label = rng.randint(-1, nr_labels - 1)
        offset, length = 0, -1
        line = escape(rng, name) + b"\t%d" % label
        if rng.random() < 0.5:
            offset = rng.choice([0, rng.getrandbits(40)])
            line += b"\t%d" % offset
            if rng.random() < 0.5:
                length = rng.getrandbits(30)
                line += b"\t%d" % length
        lines.append(line)
        samples.append((name, label, offset, length))
        if rng.random() < 0.1:
            lines.append(rng.choice([b"", b"# comment", b"#"]))
    with open(path, "wb") as f:
        f.write(end.join(lines) + rng.choice([b"", end]))
    nr_classes = max(s[1] for s in samples) + 1
    known = all(s[3] >= 0 for s in samples)
    total = sum(s[3] for s in samples) if known else 0
    want = expected_fields(folder + b"/", [b""] * nr_classes, samples, 0, nr_classes, total)
    got = dump(program, path, os.path.join(base, b"index"))
    assert got == want, "\n%r\n%r" % (got, want)
    return len(samples)


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    # Pinned by OpenSSL: the empty input under the key 00 .. 0f
    assert siphash_2_4_128(bytes(range(16)), b"") == "a3817f04ba25a8e66df67214c7550293"
    print("1..2")
    for number, check in ((1, check_folder), (2, check_manifest)):
        nr_samples = 0
        for _ in range(rounds):
            base = tempfile.mkdtemp(prefix="dlboost-listing-").encode()
            try:
                nr_samples += check(program, rng, base)
            finally:
                shutil.rmtree(base)
        assert nr_samples > rounds
        print("ok %d - %s: %d trees, %d samples" % (number, check.__name__, rounds, nr_samples))


if __name__ == "__main__":
    main()
