# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""Training batches from pictures, with the pixels of Pillow and torchvision.

    import dlboost, torch

    loader = dlboost.Loader("photos/", recipe="imagenet-train", batch=64)
    for batch in loader:
        images = torch.from_dlpack(batch.images)
        labels = torch.from_dlpack(batch.labels)

Documentation/python.rst is the manual.
"""

from ._core import Array, Batch
from ._core import library_version as _library_version
from .errors import (
    BadSample,
    BudgetExceeded,
    Error,
    ForkError,
    NotFound,
    OptionError,
    OutOfMemory,
    PoolExhausted,
    SampleFlag,
    StaleState,
    Status,
)
from .loader import Loader
from .pictures import (
    ImageInfo,
    canonical_recipe,
    decode,
    engines,
    probe,
    recipes,
)

__version__ = _library_version

__all__ = [
    "Array",
    "BadSample",
    "Batch",
    "BudgetExceeded",
    "Error",
    "ForkError",
    "ImageInfo",
    "Loader",
    "NotFound",
    "OptionError",
    "OutOfMemory",
    "PoolExhausted",
    "SampleFlag",
    "StaleState",
    "Status",
    "__version__",
    "canonical_recipe",
    "decode",
    "engines",
    "probe",
    "recipes",
]
