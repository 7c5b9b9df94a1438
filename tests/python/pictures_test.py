# SPDX-License-Identifier: GPL-2.0-or-later
"""Single pictures, and that the pixels are Pillow's.

The expected values are computed with Pillow and NumPy alone, by the rules
that torchvision's documentation states.
"""

import io

import numpy
import pytest
from PIL import Image

import dlboost
from conftest import SMALL, jpeg_bytes, picture

MEAN = numpy.float32([0.485, 0.456, 0.406])
STD = numpy.float32([0.229, 0.224, 0.225])


def pillow_rgb(data):
    return numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def pillow_eval(data, size, resize):
    """Resize(resize), CenterCrop(size), ToTensor, Normalize."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    short, long = sorted(image.size)
    side = int(resize * long / short)
    new = (resize, side) if image.width <= image.height else (side, resize)
    image = image.resize(new, Image.BILINEAR)
    left = int(round((image.width - size) / 2.0))
    top = int(round((image.height - size) / 2.0))
    image = image.crop((left, top, left + size, top + size))
    pixels = numpy.asarray(image).astype(numpy.float32) / numpy.float32(255)
    return ((pixels - MEAN) / STD).transpose(2, 0, 1)


def test_a_narrow_picture_is_too_large_for_a_short_side():
    file = io.BytesIO()
    Image.new("L", (1, 1000)).save(file, "JPEG")
    with pytest.raises(dlboost.BadSample, match="1 x 1000") as caught:
        dlboost.decode(file.getvalue(), "imagenet-eval")
    assert caught.value.status is dlboost.Status.TOO_LARGE


@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
def test_decode_is_pillows(subsampling, progressive):
    for width, height in ((1, 1), (7, 5), (64, 48), (131, 77)):
        data = jpeg_bytes(
            picture(width, width, height),
            subsampling=subsampling,
            progressive=progressive,
        )
        array = dlboost.decode(data)
        assert array.shape == (height, width, 3)
        assert array.dtype == "uint8"
        assert numpy.array_equal(numpy.asarray(array), pillow_rgb(data))


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_other_colours_are_pillows(mode):
    data = jpeg_bytes(picture(3).convert(mode))
    assert numpy.array_equal(numpy.asarray(dlboost.decode(data)), pillow_rgb(data))


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "1"])
def test_png_is_pillows(mode):
    buffer = io.BytesIO()
    picture(4).convert(mode).save(buffer, "PNG")
    data = buffer.getvalue()
    assert numpy.array_equal(numpy.asarray(dlboost.decode(data)), pillow_rgb(data))


def test_orientation_is_applied_on_request():
    image = picture(6, 50, 30)
    exif = Image.Exif()
    exif[0x0112] = 6
    data = jpeg_bytes(image, exif=exif.tobytes())
    assert dlboost.probe(data).orientation == 6
    assert dlboost.decode(data).shape == (30, 50, 3)
    turned = numpy.asarray(dlboost.decode(data, "none:orient=exif"))
    assert numpy.array_equal(turned, numpy.rot90(pillow_rgb(data), -1))


def test_loader_pixels_are_pillows(photos):
    with dlboost.Loader(
        photos, "imagenet-eval:size=56,resize=64", batch=8
    ) as loader:
        for batch in loader:
            images = numpy.asarray(batch.images)
            for i, path in enumerate(loader.paths(batch.ids)):
                with open(path, "rb") as file:
                    expected = pillow_eval(file.read(), 56, 64)
                assert numpy.array_equal(images[i], expected)


def test_decode_draws_what_a_loader_draws(photos):
    with dlboost.Loader(
        photos, SMALL, batch=8, seed=5, augment_seed=21, epoch=3
    ) as loader:
        batch = next(iter(loader))
        images = numpy.asarray(batch.images)
        for i, sample in enumerate(batch.ids):
            one = dlboost.decode(
                loader.read(sample), SMALL, seed=21, epoch=3, sample=sample
            )
            assert one.shape == (3, 32, 32)
            assert numpy.array_equal(numpy.asarray(one), images[i])
        other = dlboost.decode(
            loader.read(sample), SMALL, seed=22, epoch=3, sample=sample
        )
    assert not numpy.array_equal(numpy.asarray(other), images[i])


def test_profile_fast_is_near():
    data = jpeg_bytes(picture(8, 800, 600))
    recipe = "imagenet-eval:size=64,resize=72,dtype=u8,mean=none,std=none"
    exact, fast = (
        numpy.asarray(dlboost.decode(data, recipe, profile)).astype(float)
        for profile in ("exact", "fast")
    )
    error = numpy.mean((exact - fast) ** 2)
    assert error == 0 or 10 * numpy.log10(255**2 / error) >= 30


def test_decode_takes_paths_and_buffers(tmp_path):
    data = jpeg_bytes(picture(2))
    path = tmp_path / "a.jpg"
    path.write_bytes(data)
    expected = pillow_rgb(data)
    for source in (path, str(path), data, bytearray(data), memoryview(data),
                   numpy.frombuffer(data, numpy.uint8)):
        assert numpy.array_equal(numpy.asarray(dlboost.decode(source)), expected)


def test_decode_says_what_is_wrong(tmp_path):
    data = jpeg_bytes(picture(2, 200, 200))
    path = tmp_path / "cut.jpg"
    path.write_bytes(data[:2000])
    with pytest.raises(dlboost.BadSample, match="cut.jpg") as caught:
        dlboost.decode(path)
    assert caught.value.status is dlboost.Status.TRUNCATED
    assert caught.value.path == str(path)
    with pytest.raises(dlboost.BadSample) as caught:
        dlboost.decode(b"<html></html>")
    assert caught.value.status is dlboost.Status.NOT_AN_IMAGE
    assert caught.value.path is None
    with pytest.raises(FileNotFoundError):
        dlboost.decode(tmp_path / "none.jpg")
    with pytest.raises(TypeError):
        dlboost.decode(17)
    with pytest.raises(dlboost.OptionError):
        dlboost.decode(data, "nonne")


def test_probe_reads_headers():
    data = jpeg_bytes(picture(2, 30, 20), subsampling=2, progressive=True)
    info = dlboost.probe(data)
    assert (info.type, info.width, info.height) == ("JPEG", 30, 20)
    assert info.sampling == ((2, 2), (1, 1), (1, 1))
    assert info.is_progressive and info.sof == 0xC2
    assert (info.components, info.precision_bits) == (3, 8)
    assert info.status is dlboost.Status.OK
    html = dlboost.probe(b"<html></html>")
    assert html.status is dlboost.Status.NOT_AN_IMAGE
    assert html.type == "HTML"
    assert dlboost.probe(b"").status is dlboost.Status.NOT_AN_IMAGE


def test_lists():
    assert {"imagenet-train", "imagenet-eval", "cifar-train", "cifar-eval",
            "none"} <= set(dlboost.recipes())
    assert all(dlboost.recipes().values())
    cpu = next(one for one in dlboost.engines() if one["name"] == "cpu")
    assert cpu["is_available"]
    canonical = dlboost.canonical_recipe("imagenet-train:size=160")
    assert "size=160" in canonical
    assert dlboost.canonical_recipe(canonical) == canonical


def test_version():
    parts = dlboost.__version__.split(".")
    assert len(parts) == 3 and all(part.isdigit() for part in parts)
