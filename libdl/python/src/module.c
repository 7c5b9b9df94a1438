// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The module itself: its state, its types, and how errors of the library
 * become exceptions (which class is decided in errors.py).
 */
#include "core.h"

#include <string.h>

struct core_state *core_state_of(PyObject *self)
{
	return PyType_GetModuleState(Py_TYPE(self));
}

PyObject *core_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyErr_SetString(PyExc_TypeError, "objects of this type are made by a "
			"dlboost.Loader, not by themselves");
	return NULL;
}

int core_optional_bytes(PyObject *obj, void *out)
{
	const char **text = out;

	*text = obj == Py_None ? NULL : PyBytes_AsString(obj);
	return obj == Py_None || *text;
}

int core_dict_put(PyObject *dict, const char *key, PyObject *value)
{
	int ret = value ? PyDict_SetItemString(dict, key, value) : -1;

	Py_XDECREF(value);
	if (ret)
		Py_DECREF(dict);
	return ret;
}

PyObject *core_raise(struct core_state *state, int err, const char *sentence)
{
	return core_raise_text(state, err, PyUnicode_DecodeFSDefault(sentence));
}

PyObject *core_raise_text(struct core_state *state, int err, PyObject *text)
{
	PyObject *error = NULL;

	if (text)
		error = PyObject_CallFunction(state->from_errno, "iO", -err,
					      text);
	if (error)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_XDECREF(text);
	Py_XDECREF(error);
	return NULL;
}

PyObject *core_bad_sample(struct core_state *state, const char *sentence,
			  const struct dlboost_result *result, PyObject *path)
{
	PyObject *message = PyUnicode_DecodeFSDefault(result->message);
	PyObject *whole, *error = NULL;

	whole = sentence ? PyUnicode_DecodeFSDefault(sentence) :
			   Py_BuildValue("");
	if (message && whole)
		error = PyObject_CallFunction(state->bad_sample, "OIOLO",
					      message, result->status, path,
					      (long long)result->offset_bytes,
					      whole);
	Py_XDECREF(message);
	Py_XDECREF(whole);
	return error;
}

static PyMethodDef core_methods[] = {
	{ "dataset_open", (PyCFunction)(void (*)(void))core_dataset_open,
	  METH_VARARGS | METH_KEYWORDS, "Open a data set." },
	{ "stream_create", (PyCFunction)(void (*)(void))core_stream_create,
	  METH_VARARGS | METH_KEYWORDS, "Make a stream over a data set." },
	{ "decode", (PyCFunction)(void (*)(void))core_decode,
	  METH_VARARGS | METH_KEYWORDS,
	  "Decode one picture: its Array, or a BadSample to raise." },
	{ "probe", core_probe, METH_VARARGS,
	  "Header of a picture, as a dict." },
	{ "recipes", core_recipes, METH_NOARGS,
	  "Built-in recipes, name to description." },
	{ "recipe_canonical", core_recipe_canonical, METH_VARARGS,
	  "Canonical form of a recipe." },
	{ "engines", core_engines, METH_NOARGS, "Kinds of engine." },
	{ NULL, NULL, 0, NULL },
};

static PyTypeObject *type_add(PyObject *module, PyType_Spec *spec,
			      const char *name)
{
	PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

	if (!type)
		return NULL;
	Py_INCREF(type);
	if (PyModule_AddObject(module, name, type)) {
		Py_DECREF(type);
		Py_DECREF(type);
		return NULL;
	}
	return (PyTypeObject *)type;
}

/*
 * Looked up once: a look-up by a C string puts a new str into the interpreter's
 * cache of attributes each time.
 */
static int errors_import(struct core_state *state)
{
	PyObject *errors = PyImport_ImportModule("dlboost.errors");

	if (!errors)
		return -1;
	state->from_errno = PyObject_GetAttrString(errors, "from_errno");
	state->bad_sample = PyObject_GetAttrString(errors, "bad_sample");
	state->fork_error = PyObject_GetAttrString(errors, "ForkError");
	Py_DECREF(errors);
	return state->from_errno && state->bad_sample && state->fork_error ?
	       0 : -1;
}

static int core_exec(PyObject *module)
{
	struct core_state *state = PyModule_GetState(module);

	if (errors_import(state))
		return -1;
	state->array_type = type_add(module, &core_array_spec, "Array");
	state->batch_type = type_add(module, &core_batch_spec, "Batch");
	state->dataset_type = type_add(module, &core_dataset_spec, "Dataset");
	state->stream_type = type_add(module, &core_stream_spec, "Stream");
	if (!state->array_type || !state->batch_type || !state->dataset_type ||
	    !state->stream_type)
		return -1;
	return PyModule_AddStringConstant(module, "library_version",
					  dlboost_version());
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct core_state *state = PyModule_GetState(module);

	Py_VISIT(state->from_errno);
	Py_VISIT(state->bad_sample);
	Py_VISIT(state->fork_error);
	Py_VISIT(state->array_type);
	Py_VISIT(state->batch_type);
	Py_VISIT(state->dataset_type);
	Py_VISIT(state->stream_type);
	return 0;
}

static int core_clear(PyObject *module)
{
	struct core_state *state = PyModule_GetState(module);

	Py_CLEAR(state->from_errno);
	Py_CLEAR(state->bad_sample);
	Py_CLEAR(state->fork_error);
	Py_CLEAR(state->array_type);
	Py_CLEAR(state->batch_type);
	Py_CLEAR(state->dataset_type);
	Py_CLEAR(state->stream_type);
	return 0;
}

static void core_free(void *module)
{
	struct core_state *state = PyModule_GetState(module);

	core_clear(module);
	dlboost_decoder_destroy(state->idle_decoder);
	state->idle_decoder = NULL;
}

static PyModuleDef_Slot core_slots[] = {
	{ Py_mod_exec, core_exec },
	{ 0, NULL },
};

static struct PyModuleDef core_module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "dlboost._core",
	.m_doc = "The C part of dlboost; use the names of package dlboost.",
	.m_size = sizeof(struct core_state),
	.m_methods = core_methods,
	.m_slots = core_slots,
	.m_traverse = core_traverse,
	.m_clear = core_clear,
	.m_free = core_free,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
	return PyModuleDef_Init(&core_module);
}
