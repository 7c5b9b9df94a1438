# SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
"""The Loader: an iterable of batches over a folder of pictures.

Owns options and passes over epochs; waiting, memory and errors are the C
part's.  Documentation/python.rst is the manual.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

from . import _core
from ._core import Batch
from .errors import Error, ForkError, OptionError
from .pictures import PROFILES, WARNINGS, PathLike, choice, text_bytes

__all__ = ["Loader"]

StateLike = Union[str, Mapping[str, Any]]

_TAILS = {"partial": 0, "drop": 1, "pad": 2}
_ON_ERROR = {"fail": 0, "skip-replace": 1, "zero": 2}
# One line of a manifest can make the number of classes 2**31
_MAX_CLASSES = 1 << 24
_LIMITS = (
    "max_pixels",
    "max_scans",
    "max_markers",
    "scratch_bytes",
    "big_scratch_bytes",
)


def _number(name: str, value: int, low: int, bits: int) -> int:
    try:
        number = int(value.__index__())
    except AttributeError:
        raise OptionError(
            f"{name} must be an int, not {type(value).__name__}"
        ) from None
    if not low <= number < 1 << bits:
        raise OptionError(f"{name}={number}: must be {low} to 2**{bits}-1")
    return number


def _path_bytes(name: str, value: PathLike) -> bytes:
    path = os.fsencode(value)
    if b"\0" in path:
        raise OptionError(f"{name} contains a zero character")
    return path


def _document(state: StateLike) -> bytes:
    if isinstance(state, Mapping):
        if "document" not in state:
            raise OptionError(
                "state has no key 'document': it is not from state_dict()"
            )
        return text_bytes("state", state["document"])
    return text_bytes("state", state)


def _documents(
    state: StateLike | Sequence[StateLike] | None,
) -> tuple[bytes, ...]:
    if state is None:
        return ()
    if isinstance(state, (str, Mapping)):
        return (_document(state),)
    return tuple(_document(one) for one in state)


def _limits(limits: Mapping[str, int] | None) -> dict[str, int]:
    given = dict(limits or {})
    unknown = set(given) - set(_LIMITS)
    if unknown:
        raise OptionError(
            f"limits has unknown keys {sorted(unknown)}; known are "
            + ", ".join(_LIMITS)
        )
    values = {}
    for key in _LIMITS:
        bits = 32 if key in ("max_scans", "max_markers") else 63
        values[key] = _number(f"limits[{key!r}]", given.get(key, 0), 0, bits)
    # 0 means "default" in C; here it means what it says
    if given.get("big_scratch_bytes") == 0:
        values["big_scratch_bytes"] = -1
    return values


class Loader:
    """Batches of decoded pictures, in an order that can be repeated.

    Iterating makes one pass over one epoch and yields a Batch at a time:

        for batch in dlboost.Loader("photos/", batch=64):
            images = torch.from_dlpack(batch.images)
            labels = torch.from_dlpack(batch.labels)

    Pixels are handed out without a copy.  A batch lives until it is released
    or dropped and all arrays and tensors made from it are gone; at most hold=
    may live at a time, else next() raises PoolExhausted.

    Decoding runs in threads of this process; there are no worker processes.
    A Loader is used by one thread at a time and does not survive fork().

    Arguments:
        path: folder of class folders, folder of pictures, or manifest file.
        recipe: "NAME[:key=value,...]", see recipes().
        profile: "exact" (Pillow's and torchvision's pixels, bit for bit) or
            "fast".
        batch: samples a batch.
        rank, world: this consumer of so many that share the data set.
        seed: key of the order.
        augment_seed: key of the random crops and flips; default: seed.
        epoch: epoch of the first pass.
        shuffle: False keeps the data set's own order.
        tail: "partial" (every rank gets the same number of batches, the last
            ones smaller), "drop" or "pad".
        drop_last: True is short for tail="drop".
        on_error: "fail" raises BadSample, "skip-replace" puts another sample
            of the same class there, "zero" leaves zeros; see batch.status.
        max_bad: share of the data set that may be bad in an epoch, 0 to 1;
            one sample at least, none for 0; above it BudgetExceeded is
            raised.
        warnings: "reject" makes samples with decoder warnings CORRUPT.
        quarantine: file that lists bad files, read at start and added to.
        slots: batches in memory; 0 chooses.
        hold: batches the caller may keep at a time; 0 for 2, and for all
            that slots= leaves.
        engine: where decoding happens, "NAME[:key=value,...]", e.g.
            "cpu:workers=2", or a sequence of such.
        state: what state_dict() gave, of one rank or a sequence of all ranks;
            the first pass goes on from there.
        allow_repeat: accept states of ranks that saved at different steps;
            samples between repeat (info()["repeated_samples"]).
        index: index file to use or write; default: in the user's cache.
        rebuild_index: make the index anew.
        allow_empty: let class folders without a picture pass.
        limits: most a picture may ask for: max_pixels, max_scans,
            max_markers, scratch_bytes, big_scratch_bytes.
        stats_page: False publishes no counters for `dlboost stats`.

    Raises OptionError, NotFound, StaleState, OutOfMemory or Error, each with
    one sentence that names what is wrong.
    """

    def __init__(
        self,
        path: PathLike,
        recipe: str = "imagenet-train",
        profile: str = "exact",
        batch: int = 256,
        *,
        rank: int = 0,
        world: int = 1,
        seed: int = 0,
        augment_seed: int | None = None,
        epoch: int = 0,
        shuffle: bool = True,
        tail: str = "partial",
        drop_last: bool = False,
        on_error: str = "fail",
        max_bad: float = 0.001,
        warnings: str = "accept",
        quarantine: PathLike | None = None,
        slots: int = 0,
        hold: int = 0,
        engine: str | Sequence[str] = "cpu",
        state: StateLike | Sequence[StateLike] | None = None,
        allow_repeat: bool = False,
        index: PathLike | None = None,
        rebuild_index: bool = False,
        allow_empty: bool = False,
        limits: Mapping[str, int] | None = None,
        stats_page: bool = True,
    ) -> None:
        if drop_last and tail == "pad":
            raise OptionError("drop_last=True and tail='pad' contradict")
        if not 0 <= max_bad <= 1:
            raise OptionError(f"max_bad={max_bad}: must be 0 to 1")
        seed = _number("seed", seed, 0, 64)
        world = _number("world", world, 1, 32)
        if not 0 <= rank < world:
            raise OptionError(f"rank={rank}: must be 0 to world-1={world - 1}")
        engine = (engine,) if isinstance(engine, str) else tuple(engine)
        self._recipe = recipe
        self._path = os.fsdecode(path)
        self._options: dict[str, Any] = {
            "recipe": text_bytes("recipe", recipe),
            "profile": choice("profile", profile, PROFILES),
            "batch": _number("batch", batch, 1, 32),
            "seed": seed,
            "augment_seed": _number("augment_seed", augment_seed, 0, 64)
            if augment_seed is not None
            else 0,
            "has_augment_seed": int(augment_seed is not None),
            "epoch": _number("epoch", epoch, 0, 32),
            "rank": _number("rank", rank, 0, 32),
            "world": world,
            "tail": 1 if drop_last else choice("tail", tail, _TAILS),
            "on_error": choice("on_error", on_error, _ON_ERROR),
            "max_bad": float(max_bad),
            "reject_warnings": choice("warnings", warnings, WARNINGS),
            "slots": _number("slots", slots, 0, 32),
            "hold": _number("hold", hold, 0, 32),
            "quarantine": None
            if quarantine is None
            else _path_bytes("quarantine", quarantine),
            "engines": tuple(text_bytes("engine", one) for one in engine),
            "allow_repeat": int(bool(allow_repeat)),
            "no_shuffle": int(not shuffle),
            "no_stats_page": int(not stats_page),
            **_limits(limits),
        }
        documents = _documents(state)
        self._dataset = _core.dataset_open(
            _path_bytes("path", path),
            None if index is None else _path_bytes("index", index),
            allow_empty,
            rebuild_index,
        )
        self._dataset_info = self._dataset.info()
        self._classes: list[str] | None = None
        self._pass = 0
        self._stats: dict[str, Any] | None = None
        self._adopt(self._create(documents))

    def _create(self, documents: tuple[bytes, ...]) -> _core.Stream:
        return _core.stream_create(
            self._dataset, states=documents, **self._options
        )

    def _adopt(self, stream: _core.Stream) -> None:
        self._stream = stream
        self._info = stream.info()
        self._state: str | None = None
        self._epoch = int(self._info["epoch"])
        self._is_begun = False
        self._pass += 1

    def __iter__(self) -> Iterator[Batch]:
        """Begin a pass.

        The first one is over the epoch given (or the rest of the one that
        was resumed), each further one over the next epoch, whether or not
        the one before came to its end; set_epoch() chooses another.
        """
        if self._is_begun:
            self.set_epoch(self._epoch + 1)
        self._pass += 1
        return _Pass(self, self._pass)

    def _next(self) -> Batch | None:
        if self._state is None:
            # What a state means until the first batch, failed ones included
            self._state = self._stream.state(None)
        self._is_begun = True
        batch = self._stream.next()
        if batch is not None:
            self._state = self._stream.state(batch)
        return batch

    def __len__(self) -> int:
        """Batches of this rank in the current epoch, from its start or from
        the point of resume."""
        return self._stream.length()

    def set_epoch(self, epoch: int) -> None:
        """Go to the start of an epoch; iterators made before end.

        Does nothing when the Loader stands in that epoch and no batch of it
        was taken yet, so that a resumed position is kept.
        """
        epoch = _number("epoch", epoch, 0, 32)
        if epoch == self._epoch and not self._is_begun:
            return
        self._stream.set_epoch(epoch)
        self._epoch = epoch
        self._state = None
        self._is_begun = False
        self._pass += 1

    def state_dict(self) -> dict[str, Any]:
        """Where the Loader stands: everything up to the last batch that an
        iterator returned counts as consumed, whether released or not.

        The dict holds only texts and numbers, for torch.save() or json.  All
        ranks of a job save at the same step.
        """
        if self._state is None:
            self._state = self._stream.state(None)
        return {"version": 1, "document": self._state}

    def load_state_dict(
        self, state: StateLike | Sequence[StateLike]
    ) -> None:
        """Go on from what state_dict() gave, of one rank or of all, also of
        another world size or batch size; iterators made before end.

        Batches still alive stay readable.

        Raises StaleState when data set, recipe or profile is another.
        """
        documents = _documents(state)
        if not documents:
            raise OptionError("state is empty")
        stream = self._create(documents)
        self._stream.close()
        self._adopt(stream)

    @property
    def epoch(self) -> int:
        """Epoch of the current pass, or of the coming one."""
        return self._epoch

    @property
    def classes(self) -> list[str]:
        """Names of the classes in the order of their labels.

        Raises Error where the labels of a manifest are too large for a list;
        class_name() names single ones.
        """
        if self._dataset_info["nr_classes"] > _MAX_CLASSES:
            raise Error(
                f"labels go up to {self._dataset_info['nr_classes'] - 1}, too "
                "many classes for a list: use class_name(label)"
            )
        if self._classes is None:
            self._classes = [
                self._dataset.class_name(label)
                for label in range(self._dataset_info["nr_classes"])
            ]
        return list(self._classes)

    def class_name(self, label: int) -> str:
        """Name of a class; the label as text where it has none.

        Raises IndexError for a label the data set does not have.
        """
        label = label.__index__()
        if not 0 <= label < self._dataset_info["nr_classes"]:
            raise IndexError(f"no class {label} in the data set")
        return self._dataset.class_name(label)

    @property
    def class_to_idx(self) -> dict[str, int]:
        """Label of each class name, as torchvision's ImageFolder has it."""
        return {name: label for label, name in enumerate(self.classes)}

    @property
    def nr_samples(self) -> int:
        """Samples of the data set, over all ranks."""
        return int(self._dataset_info["nr_samples"])

    @property
    def closed(self) -> bool:
        """True after close()."""
        return self._stream.closed

    def _id(self, sample: int) -> int:
        number = int(sample)
        if not 0 <= number < self.nr_samples:
            raise IndexError(f"no sample {number} in the data set")
        return number

    def paths(self, ids: Iterable[int]) -> list[str]:
        """Paths of samples by their numbers, e.g. paths(batch.ids).

        Bytes that are not UTF-8 appear as os.fsdecode() shows them.

        Raises IndexError for a number the data set does not have.
        """
        return [self._dataset.sample(self._id(one))[0] for one in ids]

    def read(self, sample: int) -> bytes:
        """The encoded bytes of one sample, as its file has them.

        Raises IndexError for a number the data set does not have, StaleState
        when the file changed since the index was made, Error when it cannot
        be read.
        """
        return self._dataset.read(self._id(sample))

    def stats(self) -> dict[str, Any]:
        """Counters since the Loader was made, and what limits its rate.

        Times in ns and sizes in bytes, as the keys say; "bad" counts samples
        by name of status; "limit_stage" is "storage", "decode-cpu", "device",
        "transfer", "consumer" or "unknown", "limit_share" its share of the
        wall time.  May be called from any thread; after close(), the counters
        at that moment.
        """
        if self._stats is not None:
            return dict(self._stats)
        return self._stream.stats()

    def info(self) -> dict[str, Any]:
        """What the Loader is: shape and type of a sample, slots, declared
        memory (cap_bytes), workers, and the data set with its fingerprint."""
        return dict(self._info)

    def close(self) -> None:
        """Stop the engines; a second call does nothing.

        Batches still alive stay readable.  From another thread: ends a
        waiting next() there with an Error.
        """
        if not self.closed:
            # A child of fork() may close what it cannot ask
            with contextlib.suppress(ForkError):
                self._stats = self._stream.stats()
        self._stream.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Loader holds threads and memory and cannot be pickled: send "
            "its arguments and state_dict(), and make one there"
        )

    def __repr__(self) -> str:
        info, data = self._info, self._dataset_info
        return (
            f"<dlboost.Loader {self._path!r}: {data['nr_samples']} samples, "
            f"{data['nr_classes']} classes, recipe {self._recipe!r}, "
            f"batch {info['batch']}, rank {self._options['rank']} of "
            f"{self._options['world']}, epoch {self._epoch}, "
            f"{info['slots']} slots of {info['slot_bytes']} bytes"
            f"{', closed' if self.closed else ''}>"
        )


class _Pass(Iterator[Batch]):
    """One pass over an epoch; over when the Loader begins another."""

    def __init__(self, loader: Loader, number: int) -> None:
        self._loader: Loader | None = loader
        self._number = number

    def __next__(self) -> Batch:
        loader = self._loader
        if loader is None:
            raise StopIteration
        if loader._pass != self._number:
            raise Error(
                "this iterator was ended by a newer iter(), set_epoch() or "
                "load_state_dict() of its Loader"
            )
        batch = loader._next()
        if batch is None:
            self._loader = None
            raise StopIteration
        return batch
