# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""The shortest way from a folder of pictures to PyTorch: loader_torch.py DIR"""
import sys

import dlboost
import torch

loader = dlboost.Loader(sys.argv[1], recipe="imagenet-train", batch=64)
for batch in loader:
    images = torch.from_dlpack(batch.images)
    labels = torch.from_dlpack(batch.labels)
    print(tuple(images.shape), images.mean().item(), labels[:8].tolist())
