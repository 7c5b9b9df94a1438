// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * dlboost.Array: shape, type and address of pixels or numbers, for the buffer
 * protocol and (dlpack.c) for DLPack.  Computes nothing and copies only on
 * request; always C-contiguous.  Documentation/python.rst, "Arrays".
 */
#include "core.h"

#include <string.h>

const struct core_dtype_info core_dtypes[CORE_NR_DTYPE] = {
	[CORE_U8] = { "uint8", "B", 1, 1 },
	[CORE_F16] = { "float16", "e", 2, 2 },
	[CORE_BF16] = { "bfloat16", NULL, 4, 2 },
	[CORE_F32] = { "float32", "f", 2, 4 },
	/* The native name where there is one: "q" is a type of its own to NumPy */
	[CORE_I64] = { "int64", sizeof(long) == 8 ? "l" : "q", 0, 8 },
};

PyObject *core_array_new(struct core_state *state, struct core_memory *memory,
			 void *data, enum core_dtype dtype, int ndim,
			 const Py_ssize_t *shape)
{
	Py_ssize_t stride = core_dtypes[dtype].bytes;
	struct core_array *array;

	if (!memory)
		return PyErr_NoMemory();
	array = PyObject_New(struct core_array, state->array_type);
	if (!array) {
		core_memory_put(memory);
		return NULL;
	}
	array->memory = memory;
	array->data = data;
	array->dtype = dtype;
	array->ndim = ndim;
	array->is_readonly = false;
	for (int i = ndim - 1; i >= 0; i--) {
		array->shape[i] = shape[i];
		array->strides[i] = stride;
		stride *= shape[i];
	}
	return (PyObject *)array;
}

PyObject *core_tensor_new(struct core_state *state, struct core_memory *memory,
			  void *data, const struct dlboost_tensor_spec *spec,
			  Py_ssize_t count)
{
	bool is_chw = spec->layout == DLBOOST_LAYOUT_CHW;
	Py_ssize_t shape[CORE_MAX_NDIM] = {
		count,
		is_chw ? spec->channels : spec->height,
		is_chw ? spec->height : spec->width,
		is_chw ? spec->width : spec->channels,
	};

	/* A count below 0 stands for one picture without the batch axis */
	return core_array_new(state, memory, data, (enum core_dtype)spec->dtype,
			      count < 0 ? 3 : 4, count < 0 ? shape + 1 : shape);
}

Py_ssize_t core_array_bytes(const struct core_array *array)
{
	Py_ssize_t bytes = core_dtypes[array->dtype].bytes;

	for (int i = 0; i < array->ndim; i++)
		bytes *= array->shape[i];
	return bytes;
}

static void array_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	core_memory_put(((struct core_array *)self)->memory);
	PyObject_Free(self);
	Py_DECREF(type);
}

static int array_check_pid(struct core_array *array)
{
	if (!array->memory->batch)
		return 0;
	return core_check_pid(core_state_of((PyObject *)array),
			      array->memory->pid, "array");
}

static int array_refuse_buffer(const struct core_array *array, int flags)
{
	if (!core_dtypes[array->dtype].format) {
		PyErr_Format(PyExc_BufferError,
			     "the buffer protocol has no %s: use DLPack, e.g. "
			     "torch.from_dlpack()",
			     core_dtypes[array->dtype].name);
		return -1;
	}
	if ((flags & PyBUF_WRITABLE) && array->is_readonly) {
		PyErr_SetString(PyExc_BufferError,
				"labels, ids, status and flags are read-only");
		return -1;
	}
	if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS &&
	    array->ndim > 1) {
		PyErr_SetString(PyExc_BufferError,
				"the array is C-contiguous, not Fortran");
		return -1;
	}
	return 0;
}

static int array_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
	struct core_array *array = (struct core_array *)self;
	bool has_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;

	view->obj = NULL;
	if (array_check_pid(array) || array_refuse_buffer(array, flags))
		return -1;
	view->buf = array->data;
	view->len = core_array_bytes(array);
	view->readonly = array->is_readonly;
	view->itemsize = core_dtypes[array->dtype].bytes;
	view->format = flags & PyBUF_FORMAT ?
		       (char *)core_dtypes[array->dtype].format : NULL;
	view->ndim = flags & PyBUF_ND ? array->ndim : 1;
	view->shape = flags & PyBUF_ND ? array->shape : NULL;
	view->strides = has_strides ? array->strides : NULL;
	view->suboffsets = NULL;
	view->internal = NULL;
	Py_INCREF(self);
	view->obj = self;
	return 0;
}

static PyObject *tuple_of(const Py_ssize_t *values, int nr)
{
	PyObject *tuple = PyTuple_New(nr);

	for (int i = 0; tuple && i < nr; i++) {
		PyObject *value = PyLong_FromSsize_t(values[i]);

		if (!value || PyTuple_SetItem(tuple, i, value)) {
			Py_DECREF(tuple);
			return NULL;
		}
	}
	return tuple;
}

static PyObject *array_shape(PyObject *self, void *closure)
{
	struct core_array *array = (struct core_array *)self;

	return tuple_of(array->shape, array->ndim);
}

static PyObject *array_strides(PyObject *self, void *closure)
{
	struct core_array *array = (struct core_array *)self;

	return tuple_of(array->strides, array->ndim);
}

static PyObject *array_dtype(PyObject *self, void *closure)
{
	struct core_array *array = (struct core_array *)self;

	return PyUnicode_FromString(core_dtypes[array->dtype].name);
}

static PyObject *array_ndim(PyObject *self, void *closure)
{
	return PyLong_FromLong(((struct core_array *)self)->ndim);
}

static PyObject *array_nbytes(PyObject *self, void *closure)
{
	return PyLong_FromSsize_t(core_array_bytes((struct core_array *)self));
}

static PyObject *array_address(PyObject *self, void *closure)
{
	return PyLong_FromVoidPtr(((struct core_array *)self)->data);
}

static Py_ssize_t array_length(PyObject *self)
{
	return ((struct core_array *)self)->shape[0];
}

static PyObject *array_scalar(const struct core_array *array, const char *data)
{
	uint64_t bits = 0;
	float value;

	memcpy(&bits, data, (size_t)core_dtypes[array->dtype].bytes);
	switch (array->dtype) {
	case CORE_U8:
	case CORE_I64:
		return PyLong_FromLongLong((long long)bits);
	case CORE_F32:
		memcpy(&value, data, sizeof(value));
		return PyFloat_FromDouble((double)value);
	default:
		PyErr_Format(PyExc_TypeError, "single %s elements cannot be "
			     "taken: view the array through NumPy or DLPack",
			     core_dtypes[array->dtype].name);
		return NULL;
	}
}

static PyObject *array_item(PyObject *self, Py_ssize_t idx)
{
	struct core_array *array = (struct core_array *)self;
	PyObject *item;
	char *data;

	if (idx < 0 || idx >= array->shape[0]) {
		PyErr_SetString(PyExc_IndexError, "index out of range");
		return NULL;
	}
	if (array_check_pid(array))
		return NULL;
	data = array->data + idx * array->strides[0];
	if (array->ndim == 1)
		return array_scalar(array, data);
	item = core_array_new(core_state_of(self),
			      core_memory_get(array->memory), data,
			      array->dtype, array->ndim - 1, array->shape + 1);
	if (item)
		((struct core_array *)item)->is_readonly = array->is_readonly;
	return item;
}

static PyObject *array_repr(PyObject *self)
{
	struct core_array *array = (struct core_array *)self;
	PyObject *shape = tuple_of(array->shape, array->ndim);
	PyObject *repr = NULL;

	if (shape)
		repr = PyUnicode_FromFormat("<dlboost.Array %R %s>", shape,
					    core_dtypes[array->dtype].name);
	Py_XDECREF(shape);
	return repr;
}

static PyGetSetDef array_getset[] = {
	{ "shape", array_shape, NULL, "Lengths of the axes, tuple of int.",
	  NULL },
	{ "strides", array_strides, NULL, "Bytes from one element to the next "
	  "along each axis, tuple of int.", NULL },
	{ "dtype", array_dtype, NULL, "Element type: 'uint8', 'float16', "
	  "'bfloat16', 'float32' or 'int64'.", NULL },
	{ "ndim", array_ndim, NULL, "Number of axes.", NULL },
	{ "nbytes", array_nbytes, NULL, "Bytes of all elements.", NULL },
	{ "address", array_address, NULL, "Address of the first element.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef array_methods[] = {
	{ "__dlpack__", (PyCFunction)(void (*)(void))core_array_dlpack,
	  METH_VARARGS | METH_KEYWORDS,
	  "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, "
	  "copy=None)\n--\n\n"
	  "A DLPack capsule over the same memory (array API standard).\n\n"
	  "A versioned capsule when max_version is (1, 0) or later, else a\n"
	  "legacy one.  The memory stays until the consumer drops its tensor.\n"
	  "stream has no meaning on a CPU and is ignored.\n\n"
	  "Raises BufferError for a device other than the CPU." },
	{ "__dlpack_device__", core_array_dlpack_device, METH_NOARGS,
	  "__dlpack_device__($self, /)\n--\n\n(1, 0): the CPU." },
	{ NULL, NULL, 0, NULL },
};

static const char array_doc[] =
	"Numbers in memory that dlboost owns, seen without a copy.\n\n"
	"numpy.asarray(array), memoryview(array) and torch.from_dlpack(array)\n"
	"share the memory and keep it alive.  array[i] is the i-th element, or\n"
	"an Array with one axis less.  bfloat16 is offered through DLPack only.";

static PyType_Slot array_slots[] = {
	{ Py_tp_doc, (void *)array_doc },
	{ Py_tp_new, core_no_new },
	{ Py_tp_dealloc, array_dealloc },
	{ Py_tp_repr, array_repr },
	{ Py_tp_getset, array_getset },
	{ Py_tp_methods, array_methods },
	{ Py_sq_length, array_length },
	{ Py_sq_item, array_item },
	{ Py_bf_getbuffer, array_getbuffer },
	{ 0, NULL },
};

PyType_Spec core_array_spec = {
	.name = "dlboost.Array",
	.basicsize = sizeof(struct core_array),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = array_slots,
};
