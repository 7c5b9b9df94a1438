# SPDX-License-Identifier: GPL-2.0-or-later
"""dlboost decode: the pixels are Pillow's, wherever they go."""

import io

import numpy
import pytest
from PIL import Image


def pillow(path):
    return numpy.asarray(Image.open(path).convert("RGB"))


@pytest.mark.parametrize("name", ["cat/00.jpg", "dog/01.jpg", "heron/02.jpg"])
def test_npy_and_png_are_pillows_pixels(dlboost, good, tmp_path, name):
    wanted = pillow(good / name)
    dlboost.run("decode", good / name, "--out", tmp_path / "x.npy")
    assert numpy.array_equal(numpy.load(tmp_path / "x.npy"), wanted)
    dlboost.run("decode", good / name, "--out", tmp_path / "x.png")
    assert numpy.array_equal(pillow(tmp_path / "x.png"), wanted)


def test_stdin_and_stdout(dlboost, good):
    data = (good / "dog/01.jpg").read_bytes()
    process = dlboost.start("decode", "-", "--out", "-", stdin=-1)
    out, err = process.communicate(data, timeout=60)
    assert process.returncode == 0 and err == b""
    assert numpy.array_equal(numpy.load(io.BytesIO(out)),
                             pillow(good / "dog/01.jpg"))


def test_engine_and_decoder_agree(dlboost, good, tmp_path):
    args = ["decode", good / "cat/04.jpg", "--recipe", "imagenet-train:size=48",
            "--seed", "3", "--epoch", "2", "--sample", "17"]
    dlboost.run(*args, "--out", tmp_path / "a.npy")
    dlboost.run(*args, "--engine", "cpu:workers=1", "--out", tmp_path / "b.npy")
    a = numpy.load(tmp_path / "a.npy")
    assert a.shape == (3, 48, 48) and a.dtype == numpy.float32
    assert numpy.array_equal(a, numpy.load(tmp_path / "b.npy"))


def test_same_as_the_run_delivers(dlboost, good, tmp_path):
    recipe = "imagenet-train:size=48"
    dlboost.run("run", good, "--no-shuffle", "--batch", "36", "--recipe",
                recipe, "--seed", "9", "--out", tmp_path / "out")
    images = numpy.load(next((tmp_path / "out").glob("*images.npy")))
    files = sorted(good.rglob("*.jpg"))
    for sample in (0, 13, 35):
        dlboost.run("decode", files[sample], "--recipe", recipe, "--seed", "9",
                    "--sample", sample, "--out", tmp_path / "x.npy")
        assert numpy.array_equal(numpy.load(tmp_path / "x.npy"), images[sample])


def test_normalised_recipe_to_png_is_the_picture_before_the_cast(
        dlboost, good, tmp_path):
    recipe = "imagenet-eval:size=24,resize=40"
    source = good / "cat/02.jpg"
    _, err = dlboost.run("decode", source, "--recipe", recipe, "--out",
                         tmp_path / "x.png")
    assert "dtype=u8" in err
    image = Image.open(source).convert("RGB")
    # 120 x 90: shorter side to 40, window of 24 in the centre
    image = image.resize((53, 40), Image.BILINEAR)
    left, top = round((53 - 24) / 2.0), round((40 - 24) / 2.0)
    wanted = image.crop((left, top, left + 24, top + 24))
    assert numpy.array_equal(pillow(tmp_path / "x.png"), numpy.asarray(wanted))


@pytest.mark.parametrize("dtype,numpy_type", [("f32", numpy.float32),
                                              ("f16", numpy.float16),
                                              ("bf16", numpy.uint16),
                                              ("u8", numpy.uint8)])
def test_dtypes_of_npy(dlboost, good, tmp_path, dtype, numpy_type):
    dlboost.run("decode", good / "dog/01.jpg", "--recipe",
                f"none:dtype={dtype}", "--out", tmp_path / "x.npy")
    array = numpy.load(tmp_path / "x.npy")
    assert array.dtype == numpy_type and array.shape == (80, 60, 3)
    exact = pillow(good / "dog/01.jpg").astype(numpy.float32) / \
        numpy.float32(255)
    if dtype == "f32":
        assert numpy.array_equal(array, exact)
    elif dtype == "f16":
        assert numpy.array_equal(array, exact.astype(numpy.float16))


def test_bad_picture_is_named_with_status(dlboost, bad):
    doc = dlboost.json("decode", bad / "cat/page.jpg", code=1)
    assert (doc["status"], doc["type"]) == ("NOT_AN_IMAGE", "HTML")
    _, err = dlboost.run("decode", bad / "cat/cut.jpg", code=1)
    assert "cut.jpg: TRUNCATED at byte" in err


def test_narrow_pictures_are_too_large(dlboost, tmp_path):
    (tmp_path / "data/a").mkdir(parents=True)
    for name, size in (("thin", (1, 65500)), ("wide", (65500, 1))):
        Image.new("RGB", size).save(tmp_path / f"data/a/{name}.jpg")
        _, err = dlboost.run("decode", tmp_path / f"data/a/{name}.jpg",
                             "--recipe", "imagenet-eval", code=1)
        assert f"{size[0]} x {size[1]}" in err and "TOO_LARGE" in err
    doc = dlboost.json("run", tmp_path / "data", "--recipe", "imagenet-eval",
                       "--batch", "1", "--on-error", "zero", "--max-bad", "1")
    assert doc["bad"]["TOO_LARGE"] == doc["nr_bad"] == 2
    assert doc["peak_memory_bytes"] < 64 << 20
    doc = dlboost.json("run", tmp_path / "data", "--batch", "1")
    assert doc["nr_bad"] == 0


def test_limit_of_pixels(dlboost, good):
    _, err = dlboost.run("decode", good / "dog/01.jpg", "--max-pixels", "4799",
                         code=1)
    assert "TOO_LARGE" in err
    dlboost.run("decode", good / "dog/01.jpg", "--max-pixels", "4800")
