# SPDX-License-Identifier: GPL-2.0-or-later
"""Passes over a folder: which samples, in which order, with which labels.

Promises of Documentation/python.rst, "Loader".
"""

import os

import numpy
import pytest

import dlboost
from conftest import SMALL


def ids_of(loader):
    return [list(batch.ids) for batch in loader]


def flat(lists):
    return [one for part in lists for one in part]


def test_every_sample_once_an_epoch(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        assert sorted(flat(ids_of(loader))) == list(range(21))


def test_len_is_the_number_of_batches(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        assert len(loader) == 6
        assert len(ids_of(loader)) == 6


def test_last_batch_is_smaller_by_default(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        assert [len(one) for one in ids_of(loader)] == [4, 4, 4, 4, 4, 1]


def test_drop_last(photos):
    with dlboost.Loader(photos, SMALL, batch=4, drop_last=True) as loader:
        assert [len(one) for one in ids_of(loader)] == [4] * 5
        assert len(loader) == 5


def test_pad_marks_duplicates(photos):
    with dlboost.Loader(photos, SMALL, batch=4, tail="pad") as loader:
        flags = flat([list(batch.flags) for batch in loader])
    duplicate = dlboost.SampleFlag.DUPLICATE
    assert [i for i, one in enumerate(flags) if one & duplicate] == [21, 22, 23]


def test_labels_are_torchvisions(photos):
    # torchvision.datasets.ImageFolder: sorted names of the class folders
    names = sorted(entry.name for entry in os.scandir(photos))
    expected = {name: i for i, name in enumerate(names)}
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        assert loader.classes == names
        assert loader.class_to_idx == expected
        for batch in loader:
            for path, label in zip(loader.paths(batch.ids), batch.labels):
                assert label == expected[os.path.basename(os.path.dirname(path))]


def test_paths_are_in_byte_order(photos):
    expected = sorted(str(path) for path in photos.glob("*/*.jpg"))
    with dlboost.Loader(photos, SMALL) as loader:
        assert loader.paths(range(21)) == expected
        with pytest.raises(IndexError):
            loader.paths([21])
        with pytest.raises(IndexError):
            loader.paths([-1])
        with pytest.raises(IndexError):
            loader.read(-1)


def test_read_gives_the_bytes_of_the_file(photos):
    with dlboost.Loader(photos, SMALL) as loader:
        with open(loader.paths([5])[0], "rb") as file:
            assert loader.read(5) == file.read()


def test_names_that_are_not_utf8(tmp_path, photos):
    name = os.fsdecode(b"b\xffd\n.jpg")
    source = next(photos.glob("*/*.jpg"))
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / name).write_bytes(source.read_bytes())
    with dlboost.Loader(tmp_path, SMALL) as loader:
        assert loader.paths([0]) == [str(tmp_path / "c" / name)]


def test_same_seed_same_pixels(photos):
    def run(seed):
        with dlboost.Loader(
            photos, SMALL, batch=4, seed=seed, engine="cpu:workers=2"
        ) as loader:
            return [
                (list(batch.ids), numpy.array(batch.images)) for batch in loader
            ]

    first, again, other = run(7), run(7), run(8)
    for (ids, images), (ids2, images2) in zip(first, again):
        assert ids == ids2
        assert numpy.array_equal(images, images2)
    assert flat(ids for ids, _ in first) != flat(ids for ids, _ in other)


def test_augment_seed_changes_pixels_alone(photos):
    def run(augment_seed):
        with dlboost.Loader(
            photos, SMALL, seed=3, augment_seed=augment_seed
        ) as loader:
            (batch,) = loader
            return list(batch.ids), numpy.array(batch.images)

    ids, images = run(3)
    ids2, images2 = run(4)
    assert ids == ids2
    assert not numpy.array_equal(images, images2)
    assert numpy.array_equal(images, run(None)[1])


def test_no_shuffle_keeps_the_order(photos):
    with dlboost.Loader(photos, SMALL, batch=4, shuffle=False) as loader:
        assert flat(ids_of(loader)) == list(range(21))


def test_each_pass_is_the_next_epoch(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        first = ids_of(loader)
        assert loader.epoch == 0
        second = ids_of(loader)
        assert loader.epoch == 1
        assert sorted(flat(second)) == list(range(21))
        assert first != second
        loader.set_epoch(0)
        assert ids_of(loader) == first
        loader.set_epoch(1)
        assert ids_of(loader) == second


def test_a_pass_left_early_is_followed_by_a_whole_one(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        for batch in loader:
            batch.release()
            break
        assert sorted(flat(ids_of(loader))) == list(range(21))
        assert loader.epoch == 1


def test_the_first_epoch_can_be_chosen(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        ids_of(loader)
        ids_of(loader)
        third = ids_of(loader)
    with dlboost.Loader(photos, SMALL, batch=4, epoch=2) as loader:
        assert loader.epoch == 2
        assert ids_of(loader) == third


def test_an_older_iterator_says_that_it_ended(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        old = iter(loader)
        next(old)
        new = iter(loader)
        with pytest.raises(dlboost.Error, match="newer"):
            next(old)
        assert len(next(new)) == 4


def test_a_finished_iterator_stays_finished(photos):
    with dlboost.Loader(photos, SMALL) as loader:
        it = iter(loader)
        assert len(list(it)) == 1
        with pytest.raises(StopIteration):
            next(it)


@pytest.mark.parametrize("world", [2, 3, 8])
def test_ranks_share_the_data_set(photos, world):
    seen, batches = [], set()
    for rank in range(world):
        with dlboost.Loader(
            photos, SMALL, batch=2, rank=rank, world=world, seed=5
        ) as loader:
            ids = ids_of(loader)
        batches.add(len(ids))
        seen += flat(ids)
    assert sorted(seen) == list(range(21))
    assert len(batches) == 1  # every rank steps equally often


def test_batch_facts(photos):
    with dlboost.Loader(photos, SMALL, batch=4, epoch=3) as loader:
        for i, batch in enumerate(loader):
            assert (batch.epoch, batch.index, batch.nr_bad) == (3, i, 0)
            assert batch.position == 4 * i
            assert batch.images.shape == (len(batch), 3, 32, 32)
            assert list(batch.status) == [0] * len(batch)
            assert list(batch.wanted_ids) == list(batch.ids)
            assert batch.error(0) is None
            with pytest.raises(IndexError):
                batch.error(len(batch))


def test_info_and_stats(photos):
    with dlboost.Loader(photos, SMALL, batch=4, slots=5) as loader:
        info = loader.info()
        assert info["slots"] == 5
        assert (info["dtype"], info["layout"]) == ("float32", "chw")
        assert info["slot_bytes"] >= 4 * 3 * 32 * 32 * 4
        assert info["dataset"]["nr_samples"] == loader.nr_samples == 21
        for _ in loader:
            pass
        stats = loader.stats()
    assert loader.stats()["samples"] == 21  # closed, and still to be asked
    assert stats["samples"] == 21
    assert stats["batches"] == 6
    assert stats["encoded_bytes"] == sum(
        path.stat().st_size for path in photos.glob("*/*.jpg")
    )
    assert not any(stats["bad"].values())


def test_repr_names_what_it_reads(photos):
    loader = dlboost.Loader(photos, SMALL, batch=4)
    assert str(photos) in repr(loader)
    assert "21 samples, 3 classes" in repr(loader)
    loader.close()
    assert "closed" in repr(loader)


def test_closed_loader_says_so(photos):
    loader = dlboost.Loader(photos, SMALL)
    loader.close()
    loader.close()
    assert loader.closed
    with pytest.raises(dlboost.Error, match="closed"):
        next(iter(loader))


def test_labels_of_a_manifest_may_be_huge(folder, tmp_path):
    manifest = tmp_path / "m.tsv"
    manifest.write_text(
        f"{folder}/ape/001.jpg\t2147483647\n{folder}/ape/002.jpg\t-1\n"
    )
    with dlboost.Loader(manifest, SMALL, batch=2, shuffle=False) as loader:
        assert list(next(iter(loader)).labels) == [2147483647, -1]
        with pytest.raises(dlboost.Error, match="class_name"):
            print(loader.classes)
        with pytest.raises(dlboost.Error):
            print(loader.class_to_idx)
        assert loader.class_name(2147483647) == "2147483647"
        with pytest.raises(IndexError):
            loader.class_name(2147483648)
        with pytest.raises(IndexError):
            loader.class_name(-1)
    with dlboost.Loader(folder, SMALL) as loader:
        assert [loader.class_name(i) for i in range(3)] == loader.classes
