# SPDX-License-Identifier: GPL-2.0-or-later
"""fork(), Ctrl-C, close() from another thread, memory over many epochs.

Promises of Documentation/python.rst, "Threads, signals and fork".
"""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy
import pytest

import dlboost
from conftest import SMALL, jpeg_bytes, picture

FORK = """
import os, sys, warnings, dlboost
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12's, of fork()
loader = dlboost.Loader(sys.argv[1], sys.argv[2], batch=4)
it = iter(loader)
batch = next(it)
images = batch.images
pid = os.fork()
if pid == 0:
    uses = [
        lambda: next(it), lambda: len(loader), lambda: loader.set_epoch(9),
        lambda: loader.stats(), lambda: batch.images, lambda: memoryview(images),
        lambda: images.__dlpack__(), lambda: images[0],
    ]
    for use in uses:
        try:
            use()
        except dlboost.ForkError as error:
            assert "fork" in str(error) and "spawn" in str(error)
        else:
            os._exit(1)
    batch.release()
    loader.close()
    del batch, images
    with dlboost.Loader(sys.argv[1], sys.argv[2], batch=4) as own:
        if sum(len(one) for one in own) != 21:
            os._exit(2)
    sys.exit(0)
_, status = os.waitpid(pid, 0)
assert status == 0, status
del batch, images
rest = sum(len(one) for one in it)
assert rest == 17, rest
"""


def test_fork_is_told_and_a_new_loader_works_there(photos, run_python):
    done = run_python(FORK, photos, SMALL)
    assert (done.returncode, done.stderr) == (0, "")


SLEEPER = """
import sys, dlboost
loader = dlboost.Loader(sys.argv[1], sys.argv[2], batch=256, slots=0,
                        engine="cpu:workers=1")
try:
    print("waiting", flush=True)
    while True:
        for batch in loader:
            pass
except KeyboardInterrupt:
    print("interrupted", flush=True)
loader.close()
"""


@pytest.fixture
def slow_folder(tmp_path):
    """Pictures that take long enough to be interrupted in."""
    large = picture(1, 650, 500).resize((2600, 2000))
    data = jpeg_bytes(large, progressive=True)
    folder = tmp_path / "slow"
    (folder / "c").mkdir(parents=True)
    for i in range(48):
        (folder / "c" / f"{i}.jpg").write_bytes(data)
    return folder


def test_ctrl_c_stops_at_once(slow_folder):
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER, str(slow_folder), SMALL],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "waiting\n"
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        seconds = time.monotonic() - sent
        assert process.wait(timeout=30) == 0
    assert seconds < 2.0


def test_close_by_another_thread_ends_a_wait(slow_folder):
    loader = dlboost.Loader(
        slow_folder, SMALL, batch=256, engine="cpu:workers=1"
    )
    caught = []
    started = threading.Event()

    def wait():
        it = iter(loader)
        started.set()
        try:
            next(it)
        except dlboost.Error as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    started.wait()
    while loader.stats()["queued_samples"] == 0:
        time.sleep(0)
    loader.close()
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert "closed" in str(caught[0])
    assert loader.closed


def resident_bytes():
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    raise AssertionError("no RssAnon")


def test_memory_stays_flat_over_epochs(photos):
    def epochs(number):
        for _ in range(number):
            for batch in loader:
                numpy.asarray(batch.images).sum()
                batch.error(0)
                loader.paths(batch.ids)
                batch.images.__dlpack__(max_version=(1, 0))
            loader.state_dict()
            loader.stats()

    with dlboost.Loader(photos, SMALL, batch=4, on_error="zero") as loader:
        epochs(20)
        gc.collect()
        before = resident_bytes()
        epochs(200)
        gc.collect()
        assert resident_bytes() - before < 1 << 20


def test_no_python_objects_are_left(photos):
    def cycle():
        with dlboost.Loader(photos, SMALL, batch=4) as loader:
            for batch in loader:
                batch.images, batch.labels[0], batch.error(0), repr(batch)
            loader.load_state_dict(loader.state_dict())
            loader.info(), loader.classes, repr(loader)
        dlboost.recipes(), dlboost.engines()
        dlboost.probe(picture_bytes)
        dlboost.decode(picture_bytes)
        for wrong in (b"", b"no picture"):
            with pytest.raises(dlboost.BadSample):
                dlboost.decode(wrong)

    picture_bytes = jpeg_bytes(picture(1))
    cycle()
    cycle()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(30):
            cycle()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # A single object lost a cycle would be 30 times 50 bytes or more
    assert grown < 1500, grown


def test_references_stay_even(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        batch = next(iter(loader))
        names = ("images", "labels", "ids", "status", "flags")
        for name in names:
            getattr(batch, name)
        types = (dlboost.Batch, dlboost.Array)
        before = [sys.getrefcount(one) for one in (None, *types)]
        for _ in range(100):
            for name in names:
                array = getattr(batch, name)
                memoryview(array).release()
                array.shape, array.dtype, array[0], repr(array)
                array.__dlpack__()
            batch.error(0)
        del array
        after = [sys.getrefcount(one) for one in (None, *types)]
    assert [abs(a - b) < 50 for a, b in zip(after, before)] == [True] * 3


def test_there_are_no_worker_processes(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        next(iter(loader))
        tasks = os.listdir("/proc/self/task")
        children = "".join(
            open(f"/proc/self/task/{task}/children", encoding="ascii").read()
            for task in tasks
            if os.path.exists(f"/proc/self/task/{task}/children")
        )
    assert children.split() == []
