# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""What can go wrong: the exceptions of dlboost, all derived from Error.

The C part calls from_errno() and bad_sample(); which error number becomes
which class is decided here and nowhere else.
"""

from __future__ import annotations

import enum
import errno as _errno
import os

__all__ = [
    "BadSample",
    "BudgetExceeded",
    "Error",
    "ForkError",
    "NotFound",
    "OptionError",
    "OutOfMemory",
    "PoolExhausted",
    "SampleFlag",
    "StaleState",
    "Status",
]


class Status(enum.IntEnum):
    """What became of one sample; the numbers of batch.status.

    The same numbers stand in C, in JSON and in the kernel interface;
    Documentation/errors.rst explains each.
    """

    OK = 0
    CORRUPT = 1
    TRUNCATED = 2
    UNSUPPORTED = 3
    NOT_AN_IMAGE = 4
    TOO_LARGE = 5
    IO = 6
    TIMEOUT = 7
    DEVICE_RESET = 8
    REVOKED = 9
    CANCELLED = 10
    INVALID = 11
    ACCESS = 12
    CRC = 13
    EXPIRED = 14
    REMOVED = 15
    STALE = 16


class SampleFlag(enum.IntFlag):
    """Bits beside the status of a sample; the numbers of batch.flags.

    WARNED: the decoder warned.  DEGRADED: damaged or incomplete file, whose
    pixels depend on the version of libjpeg-turbo.  DUPLICATE: repeats a
    position (tail="pad").  REPLACED: another sample stands in for a bad one.
    WORD_NOT_WRITTEN: from devices.
    """

    WARNED = 1
    DEGRADED = 2
    DUPLICATE = 4
    REPLACED = 8
    WORD_NOT_WRITTEN = 16


class Error(Exception):
    """Base of all exceptions of dlboost.

    errno: the operating system's error number, or None.
    """

    errno: int | None = None


class OptionError(Error, ValueError):
    """An option, recipe, engine or manifest is wrong; the text names which."""


class NotFound(Error, FileNotFoundError):
    """No such file or folder."""

    errno: int


class OutOfMemory(Error, MemoryError):
    """The memory a Loader declares at its start cannot be had."""


class StaleState(Error):
    """A state document belongs to another data set, recipe or profile."""


class PoolExhausted(Error):
    """All batches the caller may keep (hold=) are still alive.

    Raised instead of waiting for ever.  Copy what is to be kept, release or
    drop batches and views of them, or raise hold=.
    """


class BudgetExceeded(Error):
    """More bad samples in an epoch than max_bad= allows; the pass is over."""


class ForkError(Error):
    """A Loader, batch or array was used in a child of fork()."""


class BadSample(Error):
    """A sample that could not be decoded.

    status: a Status.
    path: its file, as os.fsdecode() gives it, or None.
    offset: byte in the file where the trouble was noticed, or None.
    """

    status: Status | None = None
    path: str | None = None
    offset: int | None = None


_CLASSES: dict[int, type[Error]] = {
    _errno.EINVAL: OptionError,
    _errno.ENOENT: NotFound,
    _errno.ENOMEM: OutOfMemory,
    _errno.ESTALE: StaleState,
    _errno.ENOBUFS: PoolExhausted,
    _errno.EDQUOT: BudgetExceeded,
    _errno.EPERM: ForkError,
    _errno.EBADMSG: BadSample,
}


def from_errno(number: int, sentence: str) -> Error:
    """The exception for a positive error number and the library's sentence."""
    error = _CLASSES.get(number, Error)(sentence or os.strerror(number))
    error.errno = number
    return error


def bad_sample(
    message: str,
    status: int,
    path: str | None,
    offset: int,
    sentence: str | None = None,
) -> BadSample:
    """A BadSample with its facts; offset below 0 stands for none.

    message names no file; sentence, where there is one, says everything.
    """
    name = Status(status)
    if sentence is None:
        sentence = name.name if path is None else f"{path!r}: {name.name}"
        if offset >= 0:
            sentence += f" at byte {offset}"
        if message:
            sentence += f": {message}"
    error = BadSample(sentence)
    error.status = name
    error.path = path
    error.offset = offset if offset >= 0 else None
    return error
