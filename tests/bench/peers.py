#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user would pick instead of dlboost, doing the same work: decode, random
resized crop to 224 x 224, flip, normalise to float32.  Each contestant is a
process driven by bench.py (see worker.h for the protocol); each is written the
way its own documentation recommends.

usage: peers.py torchvision-pil|opencv-linear|dali-cpu|spdl FOLDER LIST THREADS
"""

import json
import math
import random
import sys
import time

SIZE = 224
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
BATCH = 64


def serve(version, one_pass):
    """Answer each line of standard input with one timed pass over the set."""
    one_pass()  # warm up: imports, caches, first allocations
    print("ready " + json.dumps({"version": version}), flush=True)
    for _line in sys.stdin:
        wall, cpu = time.monotonic(), time.process_time()
        images = one_pass()
        print(json.dumps({
            "images": images,
            "cpu_s": time.process_time() - cpu,
            "wall_s": time.monotonic() - wall,
        }), flush=True)


def random_crop(rng, width, height):
    """Random resized crop by the published rule: x, y, w, h."""
    for _ in range(10):
        area = width * height * rng.uniform(0.08, 1.0)
        aspect = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
        w = round(math.sqrt(area * aspect))
        h = round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            return rng.randint(0, width - w), rng.randint(0, height - h), w, h
    return 0, 0, width, height


def torchvision_pil(folder, _files, threads):
    import PIL
    import torch
    import torchvision
    from torchvision import datasets, transforms

    torch.set_num_threads(1)
    dataset = datasets.ImageFolder(folder, transforms.Compose([
        transforms.RandomResizedCrop(SIZE),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ]))
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=BATCH, shuffle=True,
        num_workers=threads if threads > 1 else 0)

    def one_pass():
        return sum(len(labels) for _images, labels in loader)

    return f"torchvision {torchvision.__version__}, Pillow {PIL.__version__}", one_pass


def opencv_linear(_folder, files, _threads):
    import cv2
    import numpy

    cv2.setNumThreads(1)
    rng = random.Random(0)
    mean = numpy.float32(MEAN) * 255
    scale = 1 / (numpy.float32(STD) * 255)
    batch = numpy.empty((BATCH, 3, SIZE, SIZE), numpy.float32)
    planes = [numpy.empty((SIZE, SIZE), numpy.uint8) for _ in range(3)]

    def one(path, out):
        picture = cv2.imdecode(numpy.fromfile(path, numpy.uint8),
                               cv2.IMREAD_COLOR)
        x, y, w, h = random_crop(rng, picture.shape[1], picture.shape[0])
        picture = cv2.resize(picture[y:y + h, x:x + w], (SIZE, SIZE),
                             interpolation=cv2.INTER_LINEAR)
        if rng.random() < 0.5:
            picture = cv2.flip(picture, 1)
        # Of four ways to normalise the quickest (blobFromImage takes 10 x)
        cv2.split(picture, planes)
        for channel in range(3):
            numpy.subtract(planes[2 - channel], mean[channel],
                           out=out[channel], dtype=numpy.float32)
            out[channel] *= scale[channel]

    def one_pass():
        for i, path in enumerate(files):
            one(path, batch[i % BATCH])
        return len(files)

    return f"OpenCV {cv2.__version__}", one_pass


def dali_cpu(_folder, files, threads):
    import nvidia.dali
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None,
                  exec_async=False, exec_pipelined=False,
                  prefetch_queue_depth=1)
    def pipeline():
        encoded, _labels = fn.readers.file(files=files, random_shuffle=True,
                                           name="reader")
        picture = fn.decoders.image_random_crop(
            encoded, random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3])
        picture = fn.resize(picture, size=[SIZE, SIZE], antialias=True,
                            interp_type=types.INTERP_LINEAR)
        return fn.crop_mirror_normalize(
            picture, dtype=types.FLOAT, output_layout="CHW",
            mirror=fn.random.coin_flip(),
            mean=[255 * m for m in MEAN], std=[255 * s for s in STD])

    pipe = pipeline()
    pipe.build()

    def one_pass():
        images = 0
        while images < len(files):
            images += len(pipe.run()[0])
        return images

    return f"DALI {nvidia.dali.__version__}, device_id=None", one_pass


def spdl(_folder, files, _threads):
    import numpy
    import spdl.io

    rng = random.Random(0)
    mean = numpy.float32(MEAN)[:, None, None] * 255
    scale = 1 / (numpy.float32(STD)[:, None, None] * 255)
    batch = numpy.empty((BATCH, 3, SIZE, SIZE), numpy.float32)

    def one(path, out):
        with open(path, "rb") as file:
            packets = spdl.io.demux_image(file.read())
        x, y, w, h = random_crop(rng, packets.codec.width, packets.codec.height)
        flip = ",hflip" if rng.random() < 0.5 else ""
        frames = spdl.io.decode_packets(
            packets, filter_desc=f"crop={w}:{h}:{x}:{y},"
            f"scale={SIZE}:{SIZE}:flags=bilinear{flip},format=pix_fmts=rgb24")
        pixels = spdl.io.to_numpy(spdl.io.convert_frames(frames))
        numpy.subtract(pixels.transpose(2, 0, 1), mean, out=out,
                       dtype=numpy.float32)
        out *= scale

    def one_pass():
        for i, path in enumerate(files):
            one(path, batch[i % BATCH])
        return len(files)

    from importlib.metadata import version
    return f"SPDL {version('spdl_io')}", one_pass


PEERS = {
    "torchvision-pil": torchvision_pil,
    "opencv-linear": opencv_linear,
    "dali-cpu": dali_cpu,
    "spdl": spdl,
}


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in PEERS:
        sys.exit(__doc__)
    _script, name, folder, listing, threads = sys.argv
    with open(listing, encoding="utf-8") as lines:
        files = lines.read().splitlines()
    serve(*PEERS[name](folder, files, int(threads)))


if __name__ == "__main__":
    main()
