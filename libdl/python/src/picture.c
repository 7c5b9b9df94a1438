// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Single pictures: decode(), probe() and the lists of recipes and engines.
 * One decoder is kept between calls; a second thread makes its own.
 */
#include "core.h"

#include <errno.h>
#include <string.h>

static struct dlboost_decoder *decoder_take(struct core_state *state,
					    bool reject_warnings)
{
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;
	struct dlboost_decoder *decoder = state->idle_decoder;
	int ret;

	if (decoder && !reject_warnings) {
		state->idle_decoder = NULL;
		return decoder;
	}
	attr.reject_warnings = reject_warnings;
	ret = dlboost_decoder_create(&attr, &decoder);
	if (!ret)
		return decoder;
	core_raise(state, ret, "no decoder could be made");
	return NULL;
}

static void decoder_give(struct core_state *state, bool reject_warnings,
			 struct dlboost_decoder *decoder)
{
	if (state->idle_decoder || reject_warnings)
		dlboost_decoder_destroy(decoder);
	else
		state->idle_decoder = decoder;
}

struct decode_job {
	Py_buffer bytes;
	struct dlboost_recipe *recipe;
	enum dlboost_profile profile;
	unsigned long long seed;
	unsigned int epoch;
	unsigned long long sample_id;
	int reject_warnings;
	PyObject *path;			/* str or None, for errors */
	struct dlboost_geometry geometry;
	struct dlboost_tensor_spec tensor;
};

/* Draws are made for the upright picture (<dlboost/recipe.h>) */
static int job_draw(struct core_state *state, struct decode_job *job,
		    const struct dlboost_image_info *info)
{
	const char *canonical = dlboost_recipe_canonical(job->recipe);
	bool is_turned = info->orientation >= 5 &&
			 strstr(canonical, "orient=exif");
	uint32_t width = is_turned ? info->height : info->width;
	uint32_t height = is_turned ? info->width : info->height;
	int ret;

	ret = dlboost_recipe_draw(job->recipe, width, height, job->seed,
				  job->epoch, job->sample_id, &job->geometry);
	if (ret)
		core_raise(state, ret, "the recipe cannot be applied to a "
				       "picture of this size");
	dlboost_recipe_tensor(job->recipe, &job->tensor);
	job->tensor.width = job->geometry.window_w;
	job->tensor.height = job->geometry.window_h;
	return ret;
}

static PyObject *job_decode(struct core_state *state, struct decode_job *job)
{
	const struct dlboost_tensor_spec *tensor = &job->tensor;
	size_t bytes = (size_t)tensor->width * tensor->height *
		       tensor->channels * tensor->element_bytes;
	struct core_memory *memory = core_memory_alloc(bytes);
	struct dlboost_decoder *decoder;
	struct dlboost_result result;
	int ret;

	if (!memory)
		return PyErr_NoMemory();
	decoder = decoder_take(state, job->reject_warnings);
	if (!decoder) {
		core_memory_put(memory);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS
	ret = dlboost_decode(decoder, job->bytes.buf, (size_t)job->bytes.len,
			     job->recipe, job->profile, &job->geometry,
			     memory->heap, bytes, &result);
	Py_END_ALLOW_THREADS
	decoder_give(state, job->reject_warnings, decoder);
	if (!ret && result.status == DLBOOST_STATUS_OK)
		return core_tensor_new(state, memory, memory->heap, tensor, -1);
	core_memory_put(memory);
	if (ret)
		return core_raise(state, ret, "the recipe cannot be applied to "
					      "the picture");
	return core_bad_sample(state, NULL, &result, job->path);
}

static PyObject *job_run(struct core_state *state, struct decode_job *job,
			 const char *recipe)
{
	char error[DLBOOST_ERROR_BYTES] = "";
	struct dlboost_image_info info;
	struct dlboost_result result;
	PyObject *array = NULL;
	int ret;

	ret = dlboost_recipe_parse(recipe, error, sizeof(error), &job->recipe);
	if (ret)
		return core_raise(state, ret, error);
	if (dlboost_probe(job->bytes.buf, (size_t)job->bytes.len, NULL, &info,
			  &result))
		array = core_bad_sample(state, NULL, &result, job->path);
	else if (!job_draw(state, job, &info))
		array = job_decode(state, job);
	dlboost_recipe_destroy(job->recipe);
	return array;
}

/* Returns the Array, or the BadSample that the caller raises with its path */
PyObject *core_decode(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "bytes", "recipe", "profile", "seed", "epoch",
				 "sample", "reject_warnings", "path", NULL };
	struct decode_job job = { 0 };
	unsigned int profile;
	const char *recipe;
	PyObject *array;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*yIKIKpO:decode", names,
					 &job.bytes, &recipe, &profile,
					 &job.seed, &job.epoch, &job.sample_id,
					 &job.reject_warnings, &job.path))
		return NULL;
	job.profile = (enum dlboost_profile)profile;
	array = job_run(PyModule_GetState(module), &job, recipe);
	PyBuffer_Release(&job.bytes);
	return array;
}

PyObject *core_probe(PyObject *module, PyObject *args)
{
	struct dlboost_image_info info = { 0 };
	struct dlboost_result result = { 0 };
	Py_buffer bytes;

	if (!PyArg_ParseTuple(args, "y*:probe", &bytes))
		return NULL;
	dlboost_probe(bytes.buf, (size_t)bytes.len, NULL, &info, &result);
	PyBuffer_Release(&bytes);
	return Py_BuildValue(
		"{s:s,s:I,s:I,s:I,s:I,s:I,s:(IIII),s:I,s:I,s:N,s:N,s:N,s:N,s:i,"
		"s:N,s:I,s:L,s:N}",
		"type", dlboost_image_type_name(info.type),
		"width", info.width, "height", info.height,
		"components", info.components,
		"precision_bits", info.precision_bits, "sof", info.sof,
		"sampling", info.sampling[0], info.sampling[1],
		info.sampling[2], info.sampling[3],
		"orientation", info.orientation,
		"restart_interval", info.restart_interval,
		"is_progressive", PyBool_FromLong(info.is_progressive),
		"is_arithmetic", PyBool_FromLong(info.is_arithmetic),
		"is_interlaced", PyBool_FromLong(info.is_interlaced),
		"has_icc", PyBool_FromLong(info.has_icc),
		"adobe_transform", (int)info.adobe_transform,
		"is_rgb", PyBool_FromLong(info.is_rgb),
		"status", result.status,
		"offset", (long long)result.offset_bytes,
		"message", PyUnicode_DecodeFSDefault(result.message));
}

PyObject *core_recipes(PyObject *module, PyObject *ignored)
{
	PyObject *dict = PyDict_New();
	const char *name, *text;

	for (unsigned int i = 0; dict; i++) {
		name = dlboost_recipe_name(i, &text);
		if (!name)
			break;
		if (core_dict_put(dict, name, PyUnicode_FromString(text)))
			return NULL;
	}
	return dict;
}

PyObject *core_recipe_canonical(PyObject *module, PyObject *args)
{
	char error[DLBOOST_ERROR_BYTES] = "";
	struct dlboost_recipe *recipe;
	const char *spec;
	PyObject *text;
	int ret;

	if (!PyArg_ParseTuple(args, "y:recipe_canonical", &spec))
		return NULL;
	ret = dlboost_recipe_parse(spec, error, sizeof(error), &recipe);
	if (ret)
		return core_raise(PyModule_GetState(module), ret, error);
	text = PyUnicode_FromString(dlboost_recipe_canonical(recipe));
	dlboost_recipe_destroy(recipe);
	return text;
}

static PyObject *engine_dict(const struct dlboost_engine_info *info)
{
	return Py_BuildValue("{s:s,s:s,s:N,s:N,s:I,s:z,s:z}",
			     "name", info->name,
			     "description", info->description,
			     "is_available", PyBool_FromLong(info->is_available),
			     "is_emulated", PyBool_FromLong(info->is_emulated),
			     "nr_workers", info->nr_workers,
			     "simd", info->simd, "decoder", info->decoder);
}

PyObject *core_engines(PyObject *module, PyObject *ignored)
{
	struct dlboost_engine_info info;
	PyObject *list = PyList_New(0);

	for (unsigned int i = 0; list && !dlboost_engine_list(i, &info); i++) {
		PyObject *dict = engine_dict(&info);

		if (!dict || PyList_Append(list, dict)) {
			Py_XDECREF(dict);
			Py_DECREF(list);
			return NULL;
		}
		Py_DECREF(dict);
	}
	return list;
}
