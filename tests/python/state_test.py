# SPDX-License-Identifier: GPL-2.0-or-later
"""Saving and going on: no sample lost, none twice, also on other ranks.

Promises of Documentation/python.rst, "Resuming".
"""

import json
import pickle

import numpy
import pytest

import dlboost
from conftest import SMALL, make_folder


def take(loader, number):
    it = iter(loader)
    return [list(next(it).ids) for _ in range(number)]


def flat(lists):
    return [one for part in lists for one in part]


def test_the_rest_is_the_rest(photos):
    with dlboost.Loader(photos, SMALL, batch=4, seed=2) as loader:
        whole = [(list(b.ids), numpy.array(b.images)) for b in loader]
    for steps in range(len(whole) + 1):
        with dlboost.Loader(photos, SMALL, batch=4, seed=2) as loader:
            it = iter(loader)
            for _ in range(steps):
                next(it)
            state = loader.state_dict()
        with dlboost.Loader(photos, SMALL, batch=4, state=state) as loader:
            assert loader.epoch == 0
            assert len(loader) == len(whole) - steps
            rest = [(list(b.ids), numpy.array(b.images)) for b in loader]
        assert len(rest) == len(whole) - steps
        for (ids, images), (ids2, images2) in zip(whole[steps:], rest):
            assert ids == ids2
            assert numpy.array_equal(images, images2)


def test_the_state_marks_what_next_returned(photos):
    # Prefetched batches and unreleased ones make no difference
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        it = iter(loader)
        batch = next(it)
        held = loader.state_dict()
        batch.release()
        assert loader.state_dict() == held
        again = next(it)
        assert loader.state_dict() != held
        second = list(again.ids)
    with dlboost.Loader(photos, SMALL, batch=4, state=held) as loader:
        assert take(loader, 1) == [second]


def test_a_state_is_plain_data(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        take(loader, 2)
        state = loader.state_dict()
        rest = [list(b.ids) for b in loader]
        assert json.loads(json.dumps(state)) == state
        assert pickle.loads(pickle.dumps(state)) == state
    assert rest  # the next epoch, see loader_test.py


def test_load_state_dict_goes_back(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        it = iter(loader)
        next(it)
        state = loader.state_dict()
        rest = [list(b.ids) for b in it]
        loader.load_state_dict(state)
        with pytest.raises(StopIteration):
            next(it)
        assert [list(b.ids) for b in loader] == rest
        other = iter(loader)
        loader.load_state_dict(state)
        with pytest.raises(dlboost.Error, match="load_state_dict"):
            next(other)


def test_the_loop_of_the_manual(photos):
    """for epoch in range(loader.epoch, N): set_epoch; the pass."""

    def run(steps_before_kill):
        seen, state, done = [], None, False
        while not done:
            with dlboost.Loader(photos, SMALL, batch=4, state=state) as loader:
                steps = 0
                for epoch in range(loader.epoch, 3):
                    loader.set_epoch(epoch)
                    for batch in loader:
                        seen.append((epoch, list(batch.ids)))
                        steps += 1
                        if steps == steps_before_kill:
                            break
                    state = loader.state_dict()
                    if steps == steps_before_kill:
                        break
                else:
                    done = True
        return seen

    straight = run(10**9)
    assert len(straight) == 18
    for steps in (1, 4, 6, 7):
        assert run(steps) == straight


@pytest.mark.parametrize("old, new", [(1, 2), (2, 1), (2, 3), (4, 2), (3, 8)])
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_another_world(tmp_path_factory, photos, old, new, steps):
    states, seen = [], []
    for rank in range(old):
        with dlboost.Loader(
            photos, SMALL, batch=2, rank=rank, world=old, seed=11
        ) as loader:
            seen += flat(take(loader, steps))
            states.append(loader.state_dict())
    for given in (states, states[0]):
        rest = []
        for rank in range(new):
            with dlboost.Loader(
                photos, SMALL, batch=3, rank=rank, world=new, state=given
            ) as loader:
                rest += flat(list(b.ids) for b in loader)
        assert sorted(seen + rest) == list(range(21))


def test_ranks_at_different_steps_are_refused_unless_allowed(photos):
    states = []
    for rank, steps in ((0, 1), (1, 2)):
        with dlboost.Loader(
            photos, SMALL, batch=2, rank=rank, world=2
        ) as loader:
            take(loader, steps)
            states.append(loader.state_dict())
    with pytest.raises(dlboost.Error):
        dlboost.Loader(photos, SMALL, batch=2, state=states)
    with dlboost.Loader(
        photos, SMALL, batch=2, state=states, allow_repeat=True
    ) as loader:
        assert loader.info()["repeated_samples"] == 2


def test_another_data_set_is_stale(photos, tmp_path):
    make_folder(tmp_path / "other", each=6)
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        take(loader, 1)
        state = loader.state_dict()
    with pytest.raises(dlboost.StaleState):
        dlboost.Loader(tmp_path / "other", SMALL, batch=4, state=state)
    with dlboost.Loader(tmp_path / "other", SMALL, batch=4) as loader:
        first = take(loader, 1)
        loader.set_epoch(1)
        loader.set_epoch(0)
        with pytest.raises(dlboost.StaleState):
            loader.load_state_dict(state)
        # A refused state leaves the Loader as it was
        assert take(loader, 1) == first


def test_another_recipe_is_refused(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        take(loader, 1)
        state = loader.state_dict()
    with pytest.raises(dlboost.Error, match="recipe"):
        dlboost.Loader(
            photos, "imagenet-eval:size=32", batch=4, state=state
        )


def test_a_damaged_state_is_refused(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        document = loader.state_dict()["document"]
    assert "\nepoch: 0\n" in document
    for text in ("", document[:-9], document.replace("epoch: 0", "epoch: 1")):
        with pytest.raises(dlboost.Error):
            dlboost.Loader(photos, SMALL, state=text)
