// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * DLPack: hands an Array to other frameworks without a copy.  The structures
 * are the binary interface of DLPack 0.x (legacy capsule) and 1.0 (versioned
 * capsule), https://dmlc.github.io/dlpack/latest/.  Deleters take no lock of
 * Python: consumers call them from any thread.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#define DLPACK_CPU 1
#define DLPACK_F_READ_ONLY 1u
#define DLPACK_F_IS_COPIED 2u

struct dlpack_tensor {
	void *data;
	int32_t device_type;
	int32_t device_id;
	int32_t ndim;
	uint8_t dtype_code;
	uint8_t dtype_bits;
	uint16_t dtype_lanes;
	int64_t *shape;
	int64_t *strides;		/* elements */
	uint64_t byte_offset;
};

struct dlpack_legacy {
	struct dlpack_tensor tensor;
	void *manager_ctx;
	void (*deleter)(struct dlpack_legacy *self);
};

struct dlpack_versioned {
	uint32_t major;
	uint32_t minor;
	void *manager_ctx;
	void (*deleter)(struct dlpack_versioned *self);
	uint64_t flags;
	struct dlpack_tensor tensor;
};

/* One export: the structure handed out and what it points to */
struct dlpack_export {
	union {
		struct dlpack_legacy legacy;
		struct dlpack_versioned versioned;
	};
	struct core_memory *memory;
	int64_t shape[CORE_MAX_NDIM];
	int64_t strides[CORE_MAX_NDIM];
};

static void export_free(struct dlpack_export *export)
{
	core_memory_put(export->memory);
	free(export);
}

static void legacy_delete(struct dlpack_legacy *self)
{
	export_free(self->manager_ctx);
}

static void versioned_delete(struct dlpack_versioned *self)
{
	export_free(self->manager_ctx);
}

/* A capsule nobody consumed keeps its first name */
static void capsule_destroy(PyObject *capsule)
{
	struct dlpack_versioned *versioned;
	struct dlpack_legacy *legacy;

	if (PyCapsule_IsValid(capsule, "dltensor")) {
		legacy = PyCapsule_GetPointer(capsule, "dltensor");
		legacy->deleter(legacy);
	} else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
		versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
		versioned->deleter(versioned);
	}
}

static void export_fill(struct dlpack_export *export,
			struct dlpack_tensor *tensor,
			const struct core_array *array, void *data)
{
	const struct core_dtype_info *dtype = &core_dtypes[array->dtype];

	for (int i = 0; i < array->ndim; i++) {
		export->shape[i] = array->shape[i];
		export->strides[i] = array->strides[i] / dtype->bytes;
	}
	*tensor = (struct dlpack_tensor) {
		.data = data,
		.device_type = DLPACK_CPU,
		.ndim = array->ndim,
		.dtype_code = dtype->dlpack_code,
		.dtype_bits = (uint8_t)(dtype->bytes * 8),
		.dtype_lanes = 1,
		.shape = export->shape,
		.strides = export->strides,
	};
}

static PyObject *export_new(const struct core_array *array, bool is_versioned,
			    bool wants_copy)
{
	size_t bytes = (size_t)core_array_bytes(array);
	struct dlpack_export *export = calloc(1, sizeof(*export));
	void *data = array->data;
	PyObject *capsule;

	if (!export)
		return PyErr_NoMemory();
	export->memory = wants_copy ? core_memory_alloc(bytes) :
				      core_memory_get(array->memory);
	if (!export->memory) {
		free(export);
		return PyErr_NoMemory();
	}
	if (wants_copy)
		data = memcpy(export->memory->heap, array->data, bytes);
	if (is_versioned) {
		export->versioned.major = 1;
		export->versioned.manager_ctx = export;
		export->versioned.deleter = versioned_delete;
		if (wants_copy)
			export->versioned.flags = DLPACK_F_IS_COPIED;
		else if (array->is_readonly)
			export->versioned.flags = DLPACK_F_READ_ONLY;
		export_fill(export, &export->versioned.tensor, array, data);
		capsule = PyCapsule_New(&export->versioned,
					"dltensor_versioned", capsule_destroy);
	} else {
		export->legacy.manager_ctx = export;
		export->legacy.deleter = legacy_delete;
		export_fill(export, &export->legacy.tensor, array, data);
		capsule = PyCapsule_New(&export->legacy, "dltensor",
					capsule_destroy);
	}
	if (!capsule)
		export_free(export);
	return capsule;
}

/* (major, minor) or (type, id): the first member, -1 on error */
static long pair_first(PyObject *pair, const char *name, long *second)
{
	PyObject *first_obj = PySequence_GetItem(pair, 0);
	PyObject *second_obj = PySequence_GetItem(pair, 1);
	long first = -1;

	if (first_obj && second_obj) {
		first = PyLong_AsLong(first_obj);
		*second = PyLong_AsLong(second_obj);
	}
	Py_XDECREF(first_obj);
	Py_XDECREF(second_obj);
	if (PyErr_Occurred()) {
		PyErr_Format(PyExc_TypeError, "%s must be two integers", name);
		return -1;
	}
	return first;
}

static int check_device(PyObject *device)
{
	long id = 0;
	long type;

	if (device == Py_None)
		return 0;
	type = pair_first(device, "dl_device", &id);
	if (PyErr_Occurred())
		return -1;
	if (type == DLPACK_CPU && id == 0)
		return 0;
	PyErr_SetString(PyExc_BufferError, "the array is in CPU memory, "
			"(1, 0); let the consumer copy it to its device");
	return -1;
}

PyObject *core_array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "stream", "max_version", "dl_device", "copy",
				 NULL };
	struct core_array *array = (struct core_array *)self;
	PyObject *stream = Py_None, *max_version = Py_None;
	PyObject *device = Py_None, *copy = Py_None;
	long major = 0, minor = 0;
	int wants_copy;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__",
					 names, &stream, &max_version, &device,
					 &copy))
		return NULL;
	if (array->memory->batch &&
	    core_check_pid(core_state_of(self), array->memory->pid, "array"))
		return NULL;
	if (check_device(device))
		return NULL;
	if (max_version != Py_None) {
		major = pair_first(max_version, "max_version", &minor);
		if (PyErr_Occurred())
			return NULL;
	}
	wants_copy = copy != Py_None && PyObject_IsTrue(copy);
	if (PyErr_Occurred())
		return NULL;
	return export_new(array, major >= 1, wants_copy);
}

PyObject *core_array_dlpack_device(PyObject *self, PyObject *ignored)
{
	return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}
