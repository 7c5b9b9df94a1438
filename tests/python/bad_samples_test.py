# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad files under the three policies, and what the user is told of them.

Promises of Documentation/python.rst, "Bad samples".
"""

import contextlib
import os
import pickle

import numpy
import pytest

import dlboost
from conftest import SMALL, jpeg_bytes, picture
from dlboost import SampleFlag, Status


@pytest.fixture
def spoilt(folder):
    """Of 21 files: one cut, one a web page, one empty."""
    whole = jpeg_bytes(picture(99, 120, 90))
    (folder / "ape" / "002.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "bee" / "000.jpg").write_bytes(
        b"<!DOCTYPE html>\n<html><body>404</body></html>\n"
    )
    (folder / "cat" / "006.jpg").write_bytes(b"")
    return folder


BAD = {
    2: (Status.TRUNCATED, "ape/002.jpg"),
    7: (Status.NOT_AN_IMAGE, "bee/000.jpg"),
    20: (Status.NOT_AN_IMAGE, "cat/006.jpg"),
}


def test_fail_raises_and_goes_on(spoilt):
    with dlboost.Loader(spoilt, SMALL, batch=1, max_bad=1) as loader:
        it = iter(loader)
        good, bad = [], []
        while True:
            try:
                good += list(next(it).ids)
            except dlboost.BadSample as error:
                bad.append(error)
            except StopIteration:
                break
    assert sorted(good) == sorted(set(range(21)) - set(BAD))
    assert sorted((one.status, one.path) for one in bad) == sorted(
        (status, os.path.join(spoilt, path)) for status, path in BAD.values()
    )
    for error in bad:
        assert error.path in str(error)
    assert {one.offset is not None for one in bad if one.status == 2} == {True}


def test_a_failed_batch_is_asked_for_again_after_a_resume(spoilt):
    with dlboost.Loader(
        spoilt, SMALL, batch=7, shuffle=False, max_bad=1
    ) as loader:
        with pytest.raises(dlboost.BadSample):
            next(iter(loader))
        state = loader.state_dict()
    with dlboost.Loader(
        spoilt, SMALL, batch=7, on_error="zero", max_bad=1, state=state
    ) as loader:
        assert list(next(iter(loader)).ids) == list(range(7))


def test_zero_leaves_zeros_and_a_status(spoilt):
    with dlboost.Loader(
        spoilt, SMALL, batch=4, on_error="zero", max_bad=1
    ) as loader:
        found = {}
        for batch in loader:
            images = numpy.asarray(batch.images)
            for i, sample in enumerate(batch.ids):
                if batch.status[i]:
                    found[sample] = batch.error(i)
                    assert not images[i].any()
                else:
                    assert images[i].any()
                    assert batch.error(i) is None
            assert batch.nr_bad == numpy.count_nonzero(
                numpy.asarray(batch.status)
            )
        stats = loader.stats()
    assert set(found) == set(BAD)
    for sample, error in found.items():
        status, path = BAD[sample]
        assert isinstance(error, dlboost.BadSample)
        assert error.status is status
        assert error.path == os.path.join(spoilt, path)
        assert error.path in str(error)
    assert stats["bad"]["TRUNCATED"] == 1
    assert stats["bad"]["NOT_AN_IMAGE"] == 2


def test_skip_replace_takes_another_of_the_class(spoilt):
    with dlboost.Loader(
        spoilt, SMALL, batch=4, on_error="skip-replace", max_bad=1
    ) as loader:
        replaced, labels = {}, {}
        for batch in loader:
            assert batch.nr_bad == 0
            for i, sample in enumerate(batch.ids):
                wanted = batch.wanted_ids[i]
                labels[wanted] = batch.labels[i]
                if batch.flags[i] & SampleFlag.REPLACED:
                    replaced[wanted] = sample
                else:
                    assert wanted == sample
    assert set(replaced) == set(BAD)
    assert sorted(labels) == list(range(21))
    for wanted, sample in replaced.items():
        assert sample not in BAD
        assert sample // 7 == wanted // 7 == labels[wanted]


def test_every_error_names_the_bad_file_once(spoilt):
    (spoilt / "bee" / "003.jpg").unlink()
    (spoilt / "bee" / "003.jpg").symlink_to("nowhere")
    bad = {**BAD, 10: (Status.IO, "bee/003.jpg")}
    for policy in ("zero", "skip-replace"):
        with dlboost.Loader(
            spoilt, SMALL, batch=21, shuffle=False, on_error=policy, max_bad=1
        ) as loader:
            batch = next(iter(loader))
            found = {i: batch.error(i) for i in range(21) if batch.error(i)}
        assert set(found) == set(bad)
        for sample, error in found.items():
            status, path = bad[sample]
            assert (error.status, error.path) == (
                status,
                os.path.join(spoilt, path),
            )
            assert str(error).count(".jpg") == 1
            assert str(error).count(status.name) == 1
    for sample, (_, path) in bad.items():
        with dlboost.Loader(
            spoilt / os.path.dirname(path),
            SMALL,
            batch=1,
            shuffle=False,
            max_bad=1,
        ) as loader:
            it = iter(loader)
            for _ in range(sample % 7):
                with contextlib.suppress(dlboost.Error):
                    next(it)
            with pytest.raises(dlboost.BadSample) as caught:
                next(it)
        assert str(caught.value).count(".jpg") == 1
    with pytest.raises(dlboost.BadSample) as caught:
        dlboost.decode(spoilt / "cat" / "006.jpg")
    assert str(caught.value).count("006.jpg") == 1
    with dlboost.Loader(spoilt, SMALL) as loader:
        with pytest.raises(dlboost.Error) as caught:
            loader.read(10)
    assert str(caught.value).count("003.jpg") == 1


def test_the_budget_ends_the_pass(spoilt):
    with dlboost.Loader(
        spoilt, SMALL, batch=1, on_error="zero", max_bad=0.1
    ) as loader:
        seen = 0
        with pytest.raises(dlboost.BudgetExceeded, match="bad"):
            for batch in loader:
                seen += len(batch)
        assert seen < 21


def test_warnings_can_be_rejected(folder):
    # The end marker comes early: libjpeg warns and fills up
    data = jpeg_bytes(picture(5, 160, 120))
    data = data[: len(data) // 2] + b"\xff\xd9"
    (folder / "ape" / "000.jpg").write_bytes(data)
    with dlboost.Loader(folder, SMALL, batch=21, shuffle=False) as loader:
        flags = list(next(iter(loader)).flags)
        assert loader.stats()["warned"] == 1
    assert [i for i, one in enumerate(flags) if one] == [0]
    assert flags[0] & SampleFlag.WARNED
    with dlboost.Loader(
        folder, SMALL, batch=21, shuffle=False, warnings="reject"
    ) as loader:
        with pytest.raises(dlboost.BadSample) as caught:
            next(iter(loader))
    assert caught.value.status is Status.CORRUPT


def test_limits_are_kept(folder):
    with dlboost.Loader(
        folder, SMALL, on_error="zero", max_bad=1, limits={"max_pixels": 2700}
    ) as loader:
        (batch,) = loader
        status = dict(zip(batch.ids, batch.status))
    # conftest.make_folder(): (40 + 9 i) x (64 - 3 i) pixels
    for sample, one in status.items():
        i = sample % 7
        too_large = (40 + 9 * i) * (64 - 3 * i) > 2700
        assert one == (Status.TOO_LARGE if too_large else Status.OK)


def test_a_file_that_vanished_is_io(folder):
    with dlboost.Loader(
        folder, SMALL, on_error="zero", max_bad=1
    ) as loader:
        (folder / "cat" / "000.jpg").unlink()
        (batch,) = loader
        status = dict(zip(batch.ids, batch.status))
        where = list(batch.ids).index(14)
        assert "000.jpg" in str(batch.error(where))
    assert [one for one, value in status.items() if value] == [14]
    assert status[14] == Status.IO


def test_errors_travel_between_processes():
    error = dlboost.errors.bad_sample("cut", 2, "/x/y.jpg", 17)
    again = pickle.loads(pickle.dumps(error))
    assert (again.status, again.path, again.offset) == (
        Status.TRUNCATED,
        "/x/y.jpg",
        17,
    )
    assert str(again) == str(error)
