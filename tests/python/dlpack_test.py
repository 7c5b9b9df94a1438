# SPDX-License-Identifier: GPL-2.0-or-later
"""Arrays leave without a copy: buffer protocol, DLPack legacy and versioned.

Promises of Documentation/python.rst, "Arrays".  The capsules are read by
ctypes after the published layout of DLPack 1.0, not by dlboost.
"""

import ctypes

import numpy
import pytest

import dlboost
from conftest import SMALL

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(
    torch is None, reason="python3-torch is not installed"
)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Legacy(ctypes.Structure):
    _fields_ = [
        ("tensor", Tensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]


READ_ONLY, IS_COPIED = 1, 2


def pointer(capsule, name, kind):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return kind.from_address(get(capsule, name))


@pytest.fixture
def batch(photos):
    with dlboost.Loader(photos, SMALL, batch=4) as loader:
        yield next(iter(loader))


def test_numpy_shares_the_memory(batch):
    images = numpy.asarray(batch.images)
    assert images.ctypes.data == batch.images.address
    assert images.dtype == numpy.float32
    assert images.shape == (4, 3, 32, 32)
    assert images.flags.writeable
    images[0, 0, 0, 0] = 42
    assert numpy.asarray(batch.images)[0, 0, 0, 0] == 42


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("labels", numpy.int64),
        ("ids", numpy.int64),
        ("wanted_ids", numpy.int64),
        ("status", numpy.uint8),
        ("flags", numpy.uint8),
    ],
)
def test_facts_are_read_only_arrays(batch, name, dtype):
    array = getattr(batch, name)
    seen = numpy.asarray(array)
    assert seen.dtype == dtype
    assert seen.shape == array.shape == (4,)
    assert seen.ctypes.data == array.address
    assert not seen.flags.writeable
    assert memoryview(array).readonly
    assert list(array) == seen.tolist()


def test_numpy_from_dlpack(batch):
    images = numpy.from_dlpack(batch.images)
    labels = numpy.from_dlpack(batch.labels)
    assert images.ctypes.data == batch.images.address
    assert labels.ctypes.data == batch.labels.address
    assert labels.tolist() == list(batch.labels)
    assert not labels.flags.writeable
    if numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0":
        # It asks for versioned capsules, which can say "writable"
        assert images.flags.writeable
        copied = numpy.from_dlpack(batch.images, copy=True)
        assert copied.ctypes.data != batch.images.address


@needs_torch
def test_torch_shares_the_memory(batch):
    images = torch.from_dlpack(batch.images)
    assert images.data_ptr() == batch.images.address
    assert images.dtype == torch.float32
    assert tuple(images.shape) == (4, 3, 32, 32)
    assert images.is_contiguous()
    labels = torch.from_dlpack(batch.labels)
    assert labels.data_ptr() == batch.labels.address
    assert labels.dtype == torch.int64
    assert labels.tolist() == list(batch.labels)
    assert torch.from_numpy(numpy.array(batch.labels)).dtype == torch.int64


@needs_torch
@pytest.mark.parametrize(
    "dtype, torch_dtype, numpy_dtype",
    [
        ("u8", "uint8", numpy.uint8),
        ("f16", "float16", numpy.float16),
        ("bf16", "bfloat16", None),
        ("f32", "float32", numpy.float32),
    ],
)
def test_element_types(photos, dtype, torch_dtype, numpy_dtype):
    recipe = f"imagenet-eval:size=24,resize=32,dtype={dtype},mean=none,std=none"
    with dlboost.Loader(photos, recipe, batch=4) as loader:
        images = next(iter(loader)).images
    tensor = torch.from_dlpack(images)
    assert tensor.dtype == getattr(torch, torch_dtype)
    assert tensor.data_ptr() == images.address
    if numpy_dtype is None:
        with pytest.raises(BufferError, match="DLPack"):
            memoryview(images)
    else:
        seen = numpy.asarray(images)
        assert seen.dtype == numpy_dtype
        assert numpy.array_equal(seen, tensor.numpy())


@needs_torch
def test_bfloat16_is_float32_rounded_to_nearest_even(photos):
    def run(dtype):
        recipe = f"imagenet-eval:size=24,resize=32,dtype={dtype}"
        with dlboost.Loader(photos, recipe, batch=21) as loader:
            return torch.from_dlpack(next(iter(loader)).images).clone()

    assert torch.equal(run("bf16"), run("f32").to(torch.bfloat16))
    assert torch.equal(run("f16"), run("f32").to(torch.float16))


def test_layout_hwc(photos):
    recipe = "imagenet-eval:size=24x16,resize=32,layout=hwc"
    with dlboost.Loader(photos, recipe, batch=4) as loader:
        assert next(iter(loader)).images.shape == (4, 16, 24, 3)


def test_versioned_capsule(batch):
    images = batch.images
    for version in ((1, 0), (1, 3), (2, 0)):
        capsule = images.__dlpack__(max_version=version)
        managed = pointer(capsule, b"dltensor_versioned", Versioned)
        assert managed.major == 1
        assert managed.flags == 0
        tensor = managed.tensor
        assert tensor.data == images.address
        assert (tensor.device_type, tensor.device_id) == (1, 0)
        assert (tensor.code, tensor.bits, tensor.lanes) == (2, 32, 1)
        assert tensor.shape[: tensor.ndim] == [4, 3, 32, 32]
        assert tensor.strides[: tensor.ndim] == [3072, 1024, 32, 1]
        assert tensor.byte_offset == 0


def test_legacy_capsule(batch):
    labels = batch.labels
    for options in ({}, {"max_version": None}, {"max_version": (0, 8)}):
        capsule = labels.__dlpack__(**options)
        tensor = pointer(capsule, b"dltensor", Legacy).tensor
        assert tensor.data == labels.address
        assert (tensor.code, tensor.bits, tensor.ndim) == (0, 64, 1)
        assert (tensor.shape[0], tensor.strides[0]) == (4, 1)


def test_flags_of_versioned_capsules(batch):
    def flags(array, **options):
        capsule = array.__dlpack__(max_version=(1, 0), **options)
        return pointer(capsule, b"dltensor_versioned", Versioned).flags

    assert flags(batch.labels) == READ_ONLY
    assert flags(batch.labels, copy=True) == IS_COPIED
    assert flags(batch.images, copy=False) == 0
    assert flags(batch.images, stream=-1) == 0


@needs_torch
def test_copy_is_a_copy(batch):
    capsule = batch.images.__dlpack__(copy=True)
    copied = torch.utils.dlpack.from_dlpack(capsule)
    assert copied.data_ptr() != batch.images.address
    assert numpy.array_equal(copied.numpy(), numpy.asarray(batch.images))


def test_other_devices_are_refused(batch):
    assert batch.images.__dlpack_device__() == (1, 0)
    batch.images.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match="CPU"):
        batch.images.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError):
        batch.images.__dlpack__(dl_device="cuda")
    with pytest.raises(TypeError):
        batch.images.__dlpack__(max_version=1)


def test_indexing(batch):
    images = numpy.asarray(batch.images)
    one = batch.images[2]
    assert one.shape == (3, 32, 32)
    assert one.address == images[2].ctypes.data
    assert one[1][5][7] == images[2, 1, 5, 7]
    assert batch.labels[-1] == list(batch.labels)[3]
    with pytest.raises(IndexError):
        batch.images[4]
    assert len(batch.images) == 4
    assert batch.images.nbytes == images.nbytes
    assert batch.images.strides == images.strides


@needs_torch
def test_empty_batches_have_empty_arrays(photos):
    with dlboost.Loader(
        photos, SMALL, batch=8, rank=7, world=8
    ) as loader:
        sizes = [
            (len(one), torch.from_dlpack(one.images).shape[0],
             numpy.asarray(one.labels).size)
            for one in loader
        ]
    assert sizes == [(2, 2, 2)]
    with dlboost.Loader(
        photos, SMALL, batch=8, rank=30, world=32
    ) as loader:
        (batch,) = loader
        assert len(batch) == 0
        assert torch.from_dlpack(batch.images).shape == (0, 3, 32, 32)
        assert numpy.asarray(batch.images).shape == (0, 3, 32, 32)
