// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * dlboost.Batch: the caller's reference to one slot of a stream.  Arrays taken
 * from it hold references of their own, so that release() ends the batch and
 * never a view.  Documentation/python.rst, "Lifetimes".
 */
#include "core.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct core_batch {
	PyObject_HEAD
	struct dlboost_batch *batch;	/* NULL once released */
	struct dlboost_batch_info info;
	struct dlboost_tensor_spec tensor;
	PyObject *dataset;
	pid_t pid;
};

PyObject *core_batch_new(struct core_state *state, struct dlboost_batch *batch,
			 const struct dlboost_tensor_spec *tensor,
			 PyObject *dataset)
{
	struct core_batch *self = PyObject_New(struct core_batch,
					       state->batch_type);

	if (!self) {
		dlboost_batch_release(batch);
		return NULL;
	}
	self->batch = batch;
	self->tensor = *tensor;
	self->pid = getpid();
	Py_INCREF(dataset);
	self->dataset = dataset;
	dlboost_batch_info(batch, &self->info);
	return (PyObject *)self;
}

struct dlboost_batch *core_batch_get(PyObject *batch)
{
	return ((struct core_batch *)batch)->batch;
}

static void batch_drop(struct core_batch *self)
{
	struct dlboost_batch *batch = self->batch;

	self->batch = NULL;
	if (batch && self->pid == getpid())
		dlboost_batch_release(batch);
}

static void batch_dealloc(PyObject *obj)
{
	struct core_batch *self = (struct core_batch *)obj;
	PyTypeObject *type = Py_TYPE(obj);

	batch_drop(self);
	Py_XDECREF(self->dataset);
	PyObject_Free(obj);
	Py_DECREF(type);
}

static int batch_check(struct core_batch *self)
{
	if (core_check_pid(core_state_of((PyObject *)self), self->pid, "batch"))
		return -1;
	if (self->batch)
		return 0;
	PyErr_SetString(PyExc_ValueError, "the batch was released: take the "
			"arrays you want to keep before release()");
	return -1;
}

static PyObject *batch_images(PyObject *obj, void *closure)
{
	struct core_batch *self = (struct core_batch *)obj;

	if (batch_check(self))
		return NULL;
	return core_tensor_new(core_state_of(obj),
			       core_memory_of_batch(self->batch),
			       self->info.images, &self->tensor,
			       self->info.count);
}

/* What a getter of numbers needs to know; its closure */
struct batch_field {
	size_t offset_bytes;
	enum core_dtype dtype;
};

#define BATCH_FIELD(name, type) \
	static const struct batch_field field_##name = { \
		offsetof(struct dlboost_batch_info, name), type \
	}

BATCH_FIELD(labels, CORE_I64);
BATCH_FIELD(ids, CORE_I64);
BATCH_FIELD(wanted_ids, CORE_I64);
BATCH_FIELD(status, CORE_U8);
BATCH_FIELD(flags, CORE_U8);

static PyObject *batch_vector(PyObject *obj, void *closure)
{
	struct core_batch *self = (struct core_batch *)obj;
	const struct batch_field *field = closure;
	Py_ssize_t count = self->info.count;
	PyObject *array;
	void *data;

	if (batch_check(self))
		return NULL;
	memcpy(&data, (char *)&self->info + field->offset_bytes, sizeof(data));
	array = core_array_new(core_state_of(obj),
			       core_memory_of_batch(self->batch), data,
			       field->dtype, 1, &count);
	if (array)
		((struct core_array *)array)->is_readonly = true;
	return array;
}

static PyObject *batch_epoch(PyObject *obj, void *closure)
{
	return PyLong_FromUnsignedLong(((struct core_batch *)obj)->info.epoch);
}

static PyObject *batch_index(PyObject *obj, void *closure)
{
	struct core_batch *self = (struct core_batch *)obj;

	return PyLong_FromUnsignedLongLong(self->info.batch_idx);
}

static PyObject *batch_position(PyObject *obj, void *closure)
{
	struct core_batch *self = (struct core_batch *)obj;

	return PyLong_FromUnsignedLongLong(self->info.position);
}

static PyObject *batch_nr_bad(PyObject *obj, void *closure)
{
	return PyLong_FromUnsignedLong(((struct core_batch *)obj)->info.nr_bad);
}

static PyObject *batch_released(PyObject *obj, void *closure)
{
	return PyBool_FromLong(!((struct core_batch *)obj)->batch);
}

static PyObject *batch_error(PyObject *obj, PyObject *arg)
{
	struct core_batch *self = (struct core_batch *)obj;
	Py_ssize_t idx = PyLong_AsSsize_t(arg);
	struct dlboost_result result;
	PyObject *path, *error;

	if (PyErr_Occurred() || batch_check(self))
		return NULL;
	if (idx < 0)
		idx += self->info.count;
	if (idx < 0 || idx >= self->info.count ||
	    dlboost_batch_sample_error(self->batch, (uint32_t)idx, &result)) {
		PyErr_Format(PyExc_IndexError, "the batch has %u samples",
			     self->info.count);
		return NULL;
	}
	if (result.status == DLBOOST_STATUS_OK)
		Py_RETURN_NONE;
	path = core_dataset_path(self->dataset,
				 (uint64_t)self->info.wanted_ids[idx]);
	if (!path)
		return NULL;
	error = core_bad_sample(core_state_of(obj), NULL, &result, path);
	Py_DECREF(path);
	return error;
}

static PyObject *batch_release(PyObject *obj, PyObject *ignored)
{
	batch_drop((struct core_batch *)obj);
	Py_RETURN_NONE;
}

static PyObject *batch_enter(PyObject *obj, PyObject *ignored)
{
	if (batch_check((struct core_batch *)obj))
		return NULL;
	Py_INCREF(obj);
	return obj;
}

static PyObject *batch_exit(PyObject *obj, PyObject *args)
{
	batch_drop((struct core_batch *)obj);
	Py_RETURN_NONE;
}

static Py_ssize_t batch_length(PyObject *obj)
{
	return ((struct core_batch *)obj)->info.count;
}

static PyObject *batch_repr(PyObject *obj)
{
	struct core_batch *self = (struct core_batch *)obj;

	return PyUnicode_FromFormat(
		"<dlboost.Batch %llu of epoch %u: %u samples, %u bad%s>",
		(unsigned long long)self->info.batch_idx, self->info.epoch,
		self->info.count, self->info.nr_bad,
		self->batch ? "" : ", released");
}

static PyGetSetDef batch_getset[] = {
	{ "images", batch_images, NULL, "Pixels, Array of shape (len(batch), "
	  "3, height, width) or, for layout=hwc, (len(batch), height, width, "
	  "3).", NULL },
	{ "labels", batch_vector, NULL, "Class of each sample, Array of int64; "
	  "-1 for none.",
	  (void *)&field_labels },
	{ "status", batch_vector, NULL, "A dlboost.Status of each sample, "
	  "Array of uint8; 0 is good.",
	  (void *)&field_status },
	{ "flags", batch_vector, NULL, "dlboost.SampleFlag bits of each sample, "
	  "Array of uint8.",
	  (void *)&field_flags },
	{ "ids", batch_vector, NULL, "Number of each sample in the data set, "
	  "Array of int64; the substitute's where one stands in.",
	  (void *)&field_ids },
	{ "wanted_ids", batch_vector, NULL, "Sample numbers before "
	  "replacement, Array of int64.",
	  (void *)&field_wanted_ids },
	{ "epoch", batch_epoch, NULL, "Epoch the batch belongs to.", NULL },
	{ "index", batch_index, NULL, "Number of the batch in its epoch, from "
	  "0 at the epoch's start or the point of resume.", NULL },
	{ "position", batch_position, NULL, "Global position of the first "
	  "sample in the epoch's order.", NULL },
	{ "nr_bad", batch_nr_bad, NULL, "Samples whose status is not 0.",
	  NULL },
	{ "released", batch_released, NULL, "True after release().", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef batch_methods[] = {
	{ "error", batch_error, METH_O,
	  "error($self, i, /)\n--\n\n"
	  "Why sample i is bad: a BadSample with status, path, offset and\n"
	  "message, not raised; None for a good one." },
	{ "release", batch_release, METH_NOARGS,
	  "release($self, /)\n--\n\n"
	  "Say that the batch is done with; a second call does nothing.\n\n"
	  "Its slot is used again once the arrays and tensors taken from it\n"
	  "are gone too.  Happens by itself when the batch is garbage." },
	{ "__enter__", batch_enter, METH_NOARGS, NULL },
	{ "__exit__", batch_exit, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static const char batch_doc[] =
	"One batch: images, labels, status, flags and ids of its samples.\n\n"
	"Made by iterating over a Loader.  len(batch) is the number of samples,\n"
	"which may be smaller, even 0, at the tail of an epoch.  As a context\n"
	"manager it releases itself at the end of the block.";

static PyType_Slot batch_slots[] = {
	{ Py_tp_doc, (void *)batch_doc },
	{ Py_tp_new, core_no_new },
	{ Py_tp_dealloc, batch_dealloc },
	{ Py_tp_repr, batch_repr },
	{ Py_tp_getset, batch_getset },
	{ Py_tp_methods, batch_methods },
	{ Py_sq_length, batch_length },
	{ 0, NULL },
};

PyType_Spec core_batch_spec = {
	.name = "dlboost.Batch",
	.basicsize = sizeof(struct core_batch),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = batch_slots,
};
