// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * dlboost._core.Dataset: which sample is number 7, and where does it stand.
 * Paths are bytes on disk and str in Python, by os.fsdecode()'s rules.
 */
#include "core.h"

#include <errno.h>

/* dlboost_dataset_sample() promises that this is always enough */
#define PATH_BUF_BYTES (4096 + 256)

struct core_dataset {
	PyObject_HEAD
	struct dlboost_dataset *dataset;
};

struct dlboost_dataset *core_dataset_get(PyObject *dataset)
{
	return ((struct core_dataset *)dataset)->dataset;
}

static void dataset_dealloc(PyObject *obj)
{
	PyTypeObject *type = Py_TYPE(obj);

	dlboost_dataset_close(core_dataset_get(obj));
	PyObject_Free(obj);
	Py_DECREF(type);
}

/* Ctrl-C while a large folder is read; the interpreter's lock is not held */
static int open_progress(void *arg, uint64_t nr_samples)
{
	PyGILState_STATE gil = PyGILState_Ensure();
	int ret = PyErr_CheckSignals();

	PyGILState_Release(gil);
	return ret;
}

PyObject *core_dataset_open(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "path", "index", "allow_empty", "rebuild",
				 NULL };
	struct dlboost_dataset_attr attr = DLBOOST_DATASET_ATTR_INIT;
	struct core_state *state = PyModule_GetState(module);
	char error[DLBOOST_ERROR_BYTES] = "";
	int allow_empty = 0, rebuild = 0, ret;
	struct core_dataset *self;
	const char *path;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y|O&pp:dataset_open",
					 names, &path, core_optional_bytes,
					 &attr.index_path,
					 &allow_empty, &rebuild))
		return NULL;
	attr.allow_empty = (uint32_t)allow_empty;
	attr.rebuild = (uint32_t)rebuild;
	attr.progress = open_progress;
	self = PyObject_New(struct core_dataset, state->dataset_type);
	if (!self)
		return NULL;
	self->dataset = NULL;
	Py_BEGIN_ALLOW_THREADS
	ret = dlboost_dataset_open(path, &attr, error, sizeof(error),
				   &self->dataset);
	Py_END_ALLOW_THREADS
	if (!ret)
		return (PyObject *)self;
	Py_DECREF(self);
	if (PyErr_Occurred())
		return NULL;
	return core_raise(state, ret, error);
}

static int dataset_sample(PyObject *obj, uint64_t sample_id, char *buf,
			  struct dlboost_sample *sample)
{
	int ret = dlboost_dataset_sample(core_dataset_get(obj), sample_id, buf,
					 PATH_BUF_BYTES, sample);

	if (ret == -ERANGE)
		PyErr_Format(PyExc_IndexError, "no sample %llu in the data set",
			     (unsigned long long)sample_id);
	else if (ret)
		core_raise(core_state_of(obj), ret,
			   "the index of the data set cannot be read");
	return ret;
}

PyObject *core_dataset_path(PyObject *dataset, uint64_t sample_id)
{
	struct dlboost_sample sample;
	char buf[PATH_BUF_BYTES];

	if (dataset_sample(dataset, sample_id, buf, &sample))
		return NULL;
	return PyUnicode_DecodeFSDefault(sample.path);
}

static PyObject *dataset_sample_method(PyObject *obj, PyObject *arg)
{
	unsigned long long id = PyLong_AsUnsignedLongLong(arg);
	struct dlboost_sample sample;
	char buf[PATH_BUF_BYTES];
	PyObject *path;

	if (PyErr_Occurred() || dataset_sample(obj, id, buf, &sample))
		return NULL;
	path = PyUnicode_DecodeFSDefault(sample.path);
	if (!path)
		return NULL;
	return Py_BuildValue("(NiKL)", path, (int)sample.label,
			     (unsigned long long)sample.offset_bytes,
			     (long long)sample.len_bytes);
}

static PyObject *dataset_read_failed(PyObject *obj, uint64_t sample_id, int ret,
				     const struct dlboost_result *result)
{
	PyObject *path = core_dataset_path(obj, sample_id), *text;

	if (!path)
		return NULL;
	text = PyUnicode_FromFormat("%R: %s", path, result->message[0] ?
				    result->message : "cannot be read");
	Py_DECREF(path);
	return core_raise_text(core_state_of(obj), ret, text);
}

static PyObject *dataset_read(PyObject *obj, PyObject *arg)
{
	unsigned long long id = PyLong_AsUnsignedLongLong(arg);
	struct dlboost_dataset *dataset = core_dataset_get(obj);
	struct dlboost_result result = { 0 };
	size_t len_bytes = 0;
	PyObject *bytes;
	int ret;

	if (PyErr_Occurred())
		return NULL;
	ret = dlboost_dataset_read(dataset, id, NULL, 0, &len_bytes, &result);
	if (ret == -ERANGE)
		return PyErr_Format(PyExc_IndexError,
				    "no sample %llu in the data set", id);
	if (ret && ret != -ENOSPC)
		return dataset_read_failed(obj, id, ret, &result);
	bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)len_bytes);
	if (!bytes || !len_bytes)
		return bytes;
	ret = dlboost_dataset_read(dataset, id, PyBytes_AsString(bytes),
				   len_bytes, &len_bytes, &result);
	if (!ret)
		return bytes;
	Py_DECREF(bytes);
	return dataset_read_failed(obj, id, ret, &result);
}

static PyObject *dataset_class_name(PyObject *obj, PyObject *arg)
{
	unsigned long label = PyLong_AsUnsignedLong(arg);
	const char *name;

	if (PyErr_Occurred())
		return NULL;
	name = dlboost_dataset_class_name(core_dataset_get(obj),
					  (uint32_t)label);
	if (!name)
		return PyUnicode_FromFormat("%lu", label);
	return PyUnicode_DecodeFSDefault(name);
}

PyObject *core_dataset_info_dict(const struct dlboost_dataset_info *info)
{
	static const char *const kinds[] = { "folder", "manifest" };

	return Py_BuildValue(
		"{s:s,s:I,s:K,s:K,s:K,s:K,s:N,s:N,s:s}",
		"kind", info->kind < 2 ? kinds[info->kind] : "unknown",
		"nr_classes", info->nr_classes,
		"nr_samples", (unsigned long long)info->nr_samples,
		"nr_skipped", (unsigned long long)info->nr_skipped,
		"total_bytes", (unsigned long long)info->total_bytes,
		"index_bytes", (unsigned long long)info->index_bytes,
		"index_rebuilt", PyBool_FromLong(info->index_rebuilt),
		"index_in_memory", PyBool_FromLong(info->index_in_memory),
		"fingerprint", info->fingerprint);
}

static PyObject *dataset_info(PyObject *obj, PyObject *ignored)
{
	struct dlboost_dataset_info info;

	dlboost_dataset_info(core_dataset_get(obj), &info);
	return core_dataset_info_dict(&info);
}

static PyMethodDef dataset_methods[] = {
	{ "sample", dataset_sample_method, METH_O,
	  "sample($self, id, /)\n--\n\n(path, label, offset, length) of a "
	  "sample; length -1: to the end of the file." },
	{ "read", dataset_read, METH_O,
	  "read($self, id, /)\n--\n\nThe encoded bytes of a sample." },
	{ "class_name", dataset_class_name, METH_O,
	  "class_name($self, label, /)\n--\n\nName of a class." },
	{ "info", dataset_info, METH_NOARGS,
	  "info($self, /)\n--\n\nWhat the data set is, as a dict." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot dataset_slots[] = {
	{ Py_tp_doc, (void *)"An opened folder of pictures or manifest." },
	{ Py_tp_new, core_no_new },
	{ Py_tp_dealloc, dataset_dealloc },
	{ Py_tp_methods, dataset_methods },
	{ 0, NULL },
};

PyType_Spec core_dataset_spec = {
	.name = "dlboost._core.Dataset",
	.basicsize = sizeof(struct core_dataset),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = dataset_slots,
};
