# SPDX-License-Identifier: GPL-2.0-or-later
"""What a recipe's result is, by Pillow and numpy alone.

The counterpart of libdl/image, with no code in common: table and property test
both ask this file.  Documentation/pixels.rst is the definition.
"""

import io
from dataclasses import dataclass, field

import numpy
from PIL import Image, ImageFile

FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}

# EXIF orientation -> what turns the stored picture upright
TRANSPOSES = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CIFAR = ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616))

# The wanted behaviour needs the vertical-first rule of Pillow 12
NEEDED_PILLOW = (12, 3)


def require_pillow():
    """Refuse another Pillow than the one the contract names."""
    import PIL
    version = tuple(int(part) for part in PIL.__version__.split(".")[:2])
    if version < NEEDED_PILLOW:
        raise SystemExit(f"Pillow {PIL.__version__} is not the reference: "
                         "12.3 or newer is needed (F2: order of the passes)")
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    Image.MAX_IMAGE_PIXELS = None


@dataclass
class Geometry:
    """struct dlboost_geometry, member by member."""
    crop_x: int
    crop_y: int
    crop_w: int
    crop_h: int
    resize_w: int
    resize_h: int
    window_x: int
    window_y: int
    window_w: int
    window_h: int
    flip: int = 0

    def members(self):
        return [self.crop_x, self.crop_y, self.crop_w, self.crop_h,
                self.resize_w, self.resize_h, self.window_x, self.window_y,
                self.window_w, self.window_h, self.flip]


@dataclass
class Cast:
    """The last steps of a recipe."""
    dtype: str = "u8"
    layout: str = "hwc"
    order: str = "rgb"
    scale: str = "div"
    mean: tuple = field(default_factory=tuple)
    std: tuple = field(default_factory=tuple)

    def keys(self):
        keys = [f"dtype={self.dtype}", f"layout={self.layout}",
                f"order={self.order}"]
        if self.dtype != "u8":
            keys.append(f"scale={self.scale}")
            for name, values in (("mean", self.mean), ("std", self.std)):
                keys.append(f"{name}=" + ("/".join(map(str, values)) or "none"))
        return keys


def decode(data, orient=False, pad=0, fill=0):
    """Encoded bytes -> upright, padded RGB picture."""
    with Image.open(io.BytesIO(data)) as picture:
        orientation = picture.getexif().get(0x0112, 1) if orient else 1
        picture = picture.convert("RGB")
    if orientation in TRANSPOSES:
        picture = picture.transpose(TRANSPOSES[orientation])
    if pad:
        padded = Image.new("RGB", (picture.width + 2 * pad,
                                   picture.height + 2 * pad), (fill,) * 3)
        padded.paste(picture, (pad, pad))
        picture = padded
    return picture


def pixels(picture, geometry, filter_name, fill=0):
    """Upright picture -> u8 window, height x width x 3."""
    g = geometry
    picture = picture.crop((g.crop_x, g.crop_y, g.crop_x + g.crop_w,
                            g.crop_y + g.crop_h))
    if (g.resize_w, g.resize_h) != (g.crop_w, g.crop_h):
        picture = picture.resize((g.resize_w, g.resize_h), FILTERS[filter_name])
    resized = numpy.asarray(picture)
    window = numpy.full((g.window_h, g.window_w, 3), fill, numpy.uint8)
    x0, y0 = max(0, g.window_x), max(0, g.window_y)
    x1 = min(g.resize_w, g.window_x + g.window_w)
    y1 = min(g.resize_h, g.window_y + g.window_h)
    if x0 < x1 and y0 < y1:
        window[y0 - g.window_y:y1 - g.window_y,
               x0 - g.window_x:x1 - g.window_x] = resized[y0:y1, x0:x1]
    return window[:, ::-1] if g.flip else window


def bfloat16(values):
    """float32 -> the 16 upper bits, rounded to nearest even."""
    bits = values.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


def cast(window, how):
    """u8 window -> tensor as an array of its element type."""
    values = window
    if how.dtype != "u8":
        values = window.astype(numpy.float32)
        if how.scale == "mul":
            values = values * (numpy.float32(1) / numpy.float32(255))
        else:
            values = values / numpy.float32(255)
        if how.mean:
            values = values - numpy.array(how.mean, numpy.float32)
            values = values / numpy.array(how.std, numpy.float32)
        if how.dtype == "f16":
            values = values.astype(numpy.float16)
        elif how.dtype == "bf16":
            values = bfloat16(values)
    if how.order == "bgr":
        values = values[:, :, ::-1]
    if how.layout == "chw":
        values = values.transpose(2, 0, 1)
    return numpy.ascontiguousarray(values)
