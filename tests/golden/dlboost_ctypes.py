# SPDX-License-Identifier: GPL-2.0-or-later
"""The few calls of libdlboost that the golden tests need, by ctypes.

Kept apart from the Python package, so that a fault there cannot hide one here.
"""

import ctypes
import os


class Geometry(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in (
        "crop_x", "crop_y", "crop_w", "crop_h", "resize_w", "resize_h")] + [
            ("window_x", ctypes.c_int32), ("window_y", ctypes.c_int32),
            ("window_w", ctypes.c_uint32), ("window_h", ctypes.c_uint32),
            ("flip", ctypes.c_uint32)]


class Result(ctypes.Structure):
    _fields_ = [("status", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("width", ctypes.c_uint32), ("height", ctypes.c_uint32),
                ("written_bytes", ctypes.c_size_t),
                ("offset_bytes", ctypes.c_int64),
                ("nr_warnings", ctypes.c_uint32),
                ("message", ctypes.c_char * 160)]


WARNED, DEGRADED = 1, 2
PROFILES = {"exact": 0, "fast": 1}


class Library:
    """libdlboost with one decoder."""

    def __init__(self, path=None):
        self.lib = ctypes.CDLL(path or os.environ["DLBOOST_LIBRARY"])
        self.lib.dlboost_status_name.restype = ctypes.c_char_p
        self.decoder = ctypes.c_void_p()
        if self.lib.dlboost_decoder_create(None, ctypes.byref(self.decoder)):
            raise MemoryError("dlboost_decoder_create")
        self.recipes = {}
        self.room = ctypes.create_string_buffer(1 << 20)

    def recipe(self, spec):
        if spec not in self.recipes:
            error = ctypes.create_string_buffer(512)
            recipe = ctypes.c_void_p()
            if self.lib.dlboost_recipe_parse(spec.encode(), error, len(error),
                                             ctypes.byref(recipe)):
                raise ValueError(error.value.decode())
            self.recipes[spec] = recipe
        return self.recipes[spec]

    def draw(self, spec, width, height, seed, epoch, sample):
        geometry = Geometry()
        if self.lib.dlboost_recipe_draw(
                self.recipe(spec), width, height, ctypes.c_uint64(seed), epoch,
                ctypes.c_uint64(sample), ctypes.byref(geometry)):
            raise ValueError("dlboost_recipe_draw")
        return geometry

    def decode(self, data, spec, geometry, nr_bytes, profile="exact"):
        """(status name, flags, tensor bytes, message)"""
        if nr_bytes > len(self.room):
            self.room = ctypes.create_string_buffer(nr_bytes)
        result = Result()
        if geometry is not None:
            geometry = ctypes.byref(Geometry(*geometry.members()))
        ret = self.lib.dlboost_decode(
            self.decoder, data, ctypes.c_size_t(len(data)), self.recipe(spec),
            PROFILES[profile], geometry, self.room, ctypes.c_size_t(nr_bytes),
            ctypes.byref(result))
        if ret:
            raise OSError(-ret, os.strerror(-ret))
        return (self.lib.dlboost_status_name(result.status).decode(),
                result.flags, self.room[:result.written_bytes],
                result.message.decode(errors="replace"))
