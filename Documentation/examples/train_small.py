# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Train a small network on real handwritten digits, stored as JPEG.

    train_small.py [--digits digits.csv.gz] [--work DIR] [--epochs 30]

The data are the 1,797 digits of 8 x 8 pixels that scikit-learn ships (Alpaydin
and Kaynak, "Optical Recognition of Handwritten Digits", 1998): `apt install
python3-sklearn`, or `pip install scikit-learn`.  Each becomes a JPEG file of
8 x 8 pixels under train/DIGIT/ or test/DIGIT/ of the work folder; dlboost
streams them, shifted by up to a pixel, into PyTorch.

Ends with the accuracy on the 360 pictures of the test part and with status 1
below 96 %.  Order, draws and initial weights are fixed by seeds, so that two
runs on one machine give the same network.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import pathlib
import sys
import tempfile
import time

import dlboost
import numpy
import torch
from PIL import Image
from torch import nn

ACCURACY_WANTED = 0.96
TEST_SHARE = 5  # every fifth picture

# Bytes are divided by 255; the digits' ink covers 4.9 of 16 on the average
NORM = "mean=0.3/0.3/0.3,std=0.35/0.35/0.35"
TRAIN_RECIPE = f"cifar-train:size=8,pad=1,flip=0,{NORM}"
TEST_RECIPE = f"cifar-eval:size=8,{NORM}"


def find_digits() -> pathlib.Path:
    """digits.csv.gz of an installed scikit-learn, without importing it."""
    spec = importlib.util.find_spec("sklearn")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = pathlib.Path(folder) / "datasets" / "data" / "digits.csv.gz"
        if path.exists():
            return path
    sys.exit(
        "train_small: no digits found: apt install python3-sklearn, or name "
        "the file with --digits"
    )


def write_jpegs(digits: pathlib.Path, work: pathlib.Path) -> None:
    """One grey JPEG a row of the table: 64 values 0 to 16, then the digit."""
    with gzip.open(digits, "rt", encoding="ascii") as file:
        table = numpy.loadtxt(file, delimiter=",")
    for number, row in enumerate(table):
        part = "test" if number % TEST_SHARE == 0 else "train"
        folder = work / part / str(int(row[-1]))
        folder.mkdir(parents=True, exist_ok=True)
        pixels = numpy.rint(row[:-1].reshape(8, 8) * (255 / 16))
        image = Image.fromarray(pixels.astype(numpy.uint8), "L")
        image.save(folder / f"{number:04d}.jpg", quality=95)


def make_net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(32 * 4 * 4, 10),
    )


def train(net: nn.Module, folder: pathlib.Path, epochs: int) -> None:
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    measure = nn.CrossEntropyLoss()
    net.train()
    with dlboost.Loader(
        folder, TRAIN_RECIPE, batch=64, seed=1, drop_last=True
    ) as loader:
        for epoch in range(epochs):
            loader.set_epoch(epoch)
            total = 0.0
            for batch in loader:
                images = torch.from_dlpack(batch.images)
                labels = torch.from_dlpack(batch.labels)
                loss = measure(net(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
            print(f"epoch {epoch:2d}  loss {total / len(loader):.4f}")


def accuracy(net: nn.Module, folder: pathlib.Path) -> float:
    net.eval()
    right = 0
    with torch.no_grad(), dlboost.Loader(
        folder, TEST_RECIPE, batch=64, shuffle=False
    ) as loader:
        for batch in loader:
            guesses = net(torch.from_dlpack(batch.images)).argmax(1)
            labels = torch.from_dlpack(batch.labels)
            right += int((guesses == labels).sum())
        return right / loader.nr_samples


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Train a small network on digits stored as JPEG."
    )
    parser.add_argument("--digits", type=pathlib.Path, help="digits.csv.gz")
    parser.add_argument("--work", type=pathlib.Path, help="folder for the JPEGs")
    parser.add_argument("--epochs", type=int, default=30)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    digits = options.digits or find_digits()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or pathlib.Path(temporary)
        write_jpegs(digits, work)
        start = time.monotonic()
        net = make_net()
        train(net, work / "train", options.epochs)
        reached = accuracy(net, work / "test")
    print(f"accuracy {reached:.4f} in {time.monotonic() - start:.1f} s")
    return 0 if reached >= ACCURACY_WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
