# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong options and folders: each is named in a sentence."""

import copy
import os
import pickle

import pytest

import dlboost
from conftest import SMALL


@pytest.mark.parametrize(
    "options, words",
    [
        ({"profile": "exakt"}, "profile='exakt'.*'exact', 'fast'"),
        ({"batch": 0}, "batch=0"),
        ({"batch": 2.5}, "batch must be an int"),
        ({"rank": 2, "world": 2}, "rank=2"),
        ({"world": 0}, "world=0"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1 << 64}, "seed="),
        ({"epoch": 1 << 32}, "epoch="),
        ({"tail": "keep"}, "tail='keep'.*'partial'"),
        ({"tail": "pad", "drop_last": True}, "contradict"),
        ({"on_error": "ignore"}, "on_error='ignore'.*'skip-replace'"),
        ({"max_bad": 1.5}, "max_bad=1.5"),
        ({"warnings": "no"}, "warnings='no'"),
        ({"hold": -1}, "hold=-1"),
        ({"hold": 4, "slots": 3}, "slots=3"),
        ({"limits": {"max_pixel": 1}}, "max_pixel.*max_pixels"),
        ({"limits": {"max_pixels": -1}}, "max_pixels"),
        ({"engine": "gpu9"}, "gpu9"),
        ({"engine": "cpu:workers=many"}, "workers|many"),
        ({"recipe": "imagenet"}, "imagenet"),
        ({"recipe": "imagenet-train:sise=3"}, "sise"),
        ({"recipe": "a\0b"}, "zero character"),
        ({"recipe": "none"}, "size"),
        ({"state": "nonsense"}, "state"),
        ({"state": {"epoch": 1}}, "document"),
    ],
)
def test_a_wrong_option_is_named(photos, options, words):
    with pytest.raises(dlboost.OptionError, match=words) as caught:
        dlboost.Loader(photos, **{"recipe": SMALL, **options})
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, dlboost.Error)


def test_missing_folder_is_a_file_not_found_error(tmp_path):
    missing = tmp_path / "nothing"
    with pytest.raises(FileNotFoundError, match=str(missing)) as caught:
        dlboost.Loader(missing, SMALL)
    assert isinstance(caught.value, dlboost.Error)


def test_empty_folder_is_an_error(tmp_path):
    with pytest.raises(dlboost.Error, match=str(tmp_path)):
        dlboost.Loader(tmp_path, SMALL)


def test_empty_class_is_an_error_unless_allowed(folder):
    (folder / "dog").mkdir()
    with pytest.raises(dlboost.Error, match="dog"):
        dlboost.Loader(folder, SMALL)
    with dlboost.Loader(folder, SMALL, allow_empty=True) as loader:
        assert loader.classes == ["ape", "bee", "cat", "dog"]


def test_index_goes_where_it_is_told(folder, tmp_path):
    index = tmp_path / "index"
    # A folder changed a moment ago might change again unseen: see datasets.rst
    for path in (folder, *folder.iterdir()):
        os.utime(path, (1e9, 1e9))
    with dlboost.Loader(folder, SMALL, index=index) as loader:
        assert loader.info()["dataset"]["index_rebuilt"]
    assert index.stat().st_size > 0
    with dlboost.Loader(folder, SMALL, index=index) as loader:
        assert not loader.info()["dataset"]["index_rebuilt"]
    with dlboost.Loader(
        folder, SMALL, index=index, rebuild_index=True
    ) as loader:
        assert loader.info()["dataset"]["index_rebuilt"]


def test_quarantine_file_lists_bad_files(folder, tmp_path):
    (folder / "bee" / "003.jpg").write_bytes(b"")
    quarantine = tmp_path / "bad.tsv"
    with dlboost.Loader(
        folder, SMALL, on_error="zero", max_bad=1, quarantine=quarantine
    ) as loader:
        for _ in loader:
            pass
    assert "003.jpg" in quarantine.read_text()


@pytest.mark.parametrize("action", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_loader_cannot_be_pickled_and_says_why(photos, action):
    with dlboost.Loader(photos, SMALL) as loader:
        with pytest.raises(TypeError, match="threads"):
            action(loader)


def test_types_of_the_c_part_are_not_made_by_hand():
    for kind in (dlboost.Array, dlboost.Batch):
        with pytest.raises(TypeError, match="Loader"):
            kind()
