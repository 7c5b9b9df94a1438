# SPDX-License-Identifier: GPL-2.0-or-later
"""How long pixels live: until release() and the last view are gone.

Promises of Documentation/python.rst, "Lifetimes".
"""

import gc
import os
import threading

import numpy
import pytest

import dlboost
from conftest import SMALL


def test_a_plain_loop_needs_no_release(photos):
    with dlboost.Loader(photos, SMALL, batch=1, hold=2) as loader:
        for batch in loader:
            images = numpy.asarray(batch.images)
            assert images.shape[0] == 1


def test_keeping_too_many_names_the_remedies(photos):
    with dlboost.Loader(photos, SMALL, batch=1, hold=2) as loader:
        kept = []
        with pytest.raises(dlboost.PoolExhausted) as caught:
            for batch in loader:
                kept.append(batch)
        assert len(kept) == 2
        text = str(caught.value)
        assert "copy" in text.lower()
        assert "hold" in text or "slots" in text
        # Nothing is lost: the pass goes on once one was let go
        kept.pop(0).release()
        del batch
        assert len(next(iter(loader))) == 1


def test_views_count_too(photos):
    with dlboost.Loader(photos, SMALL, batch=1, hold=2) as loader:
        it = iter(loader)
        views = []
        for _ in range(2):
            batch = next(it)
            views.append(numpy.asarray(batch.images))
            batch.release()
        with pytest.raises(dlboost.PoolExhausted):
            next(it)
        views.pop()
        assert len(next(it)) == 1


def test_a_larger_hold_holds_more(photos):
    with dlboost.Loader(photos, SMALL, batch=1, hold=21) as loader:
        batches = list(loader)
        assert len({batch.images.address for batch in batches}) == 21


def test_copies_do_not_count(photos):
    with dlboost.Loader(photos, SMALL, batch=1) as loader:
        assert len([numpy.array(batch.images) for batch in loader]) == 21


def test_release_leaves_views_alone(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        it = iter(loader)
        batch = next(it)
        view = numpy.asarray(batch.images)
        copy = view.copy()
        assert not batch.released
        batch.release()
        batch.release()
        assert batch.released
        for _ in range(3):
            next(it)
        assert numpy.array_equal(view, copy)
        with pytest.raises(ValueError, match="released"):
            batch.images
        with pytest.raises(ValueError, match="released"):
            batch.error(0)


def test_a_batch_is_a_context_manager(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        for batch in loader:
            with batch as same:
                assert same is batch
            assert batch.released


@pytest.mark.parametrize("view", ["numpy", "torch", "array", "memoryview"])
def test_views_outlive_batch_and_loader(photos, view):
    torch = pytest.importorskip("torch")
    make = {
        "numpy": numpy.asarray,
        "torch": torch.from_dlpack,
        "array": lambda array: array,
        "memoryview": memoryview,
    }[view]
    loader = dlboost.Loader(photos, SMALL, batch=4)
    it = iter(loader)
    batch = next(it)
    expected = numpy.array(batch.images)
    seen = make(batch.images)
    loader.close()
    del batch, it, loader
    gc.collect()
    assert numpy.array_equal(numpy.asarray(seen), expected)


def test_an_unused_capsule_gives_its_batch_back(photos):
    with dlboost.Loader(photos, SMALL, batch=1, hold=1) as loader:
        it = iter(loader)
        for _ in range(5):
            batch = next(it)
            capsules = [
                batch.images.__dlpack__(),
                batch.images.__dlpack__(max_version=(1, 0)),
            ]
            del batch, capsules


def test_tensors_dropped_by_another_thread(photos):
    torch = pytest.importorskip("torch")
    with dlboost.Loader(photos, SMALL, batch=1, hold=1) as loader:
        for batch in loader:
            box = [torch.from_dlpack(batch.images)]
            batch.release()
            thread = threading.Thread(target=box.clear)
            thread.start()
            thread.join()


def test_one_thread_at_a_time(photos):
    # Two threads ask as fast as they can; each gets a batch or is told
    with dlboost.Loader(photos, SMALL, batch=1, epoch=0, hold=8) as loader:
        it = iter(loader)
        seen, errors = [], []

        def take():
            while True:
                try:
                    batch = next(it)
                except StopIteration:
                    return
                except dlboost.Error as error:
                    errors.append(error)
                else:
                    seen.append(batch.ids[0])

        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(seen) == list(range(21))
    assert all("another thread" in str(error) for error in errors)


def threads_and_files():
    gc.collect()  # what failed tests and caught exceptions still refer to
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def test_closing_returns_threads_and_files(photos):
    dlboost.Loader(photos, SMALL).close()
    before = threads_and_files()
    for _ in range(10):
        with dlboost.Loader(photos, SMALL, batch=4) as loader:
            next(iter(loader))
        del loader
    assert threads_and_files() == before


def test_a_dropped_loader_closes_itself(photos):
    dlboost.Loader(photos, SMALL).close()
    before = threads_and_files()
    for _ in range(3):
        loader = dlboost.Loader(photos, SMALL, batch=4)
        it = iter(loader)
        next(it)
        del loader, it
    gc.collect()
    assert threads_and_files() == before


def test_a_live_loader_at_exit_does_no_harm(photos, run_python):
    program = (
        "import sys, dlboost\n"
        "loader = dlboost.Loader(sys.argv[1], sys.argv[2], batch=1)\n"
        "it = iter(loader)\n"
        "batch = next(it)\n"
        "images = batch.images\n"
    )
    done = run_python(program, photos, SMALL)
    assert (done.returncode, done.stderr) == (0, "")
