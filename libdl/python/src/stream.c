// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * dlboost._core.Stream: waiting for batches so that Ctrl-C, other threads and
 * fork() come to no harm.  A stream is used by one thread at a time; the
 * is_busy mark, guarded by the interpreter's lock, turns a second one away.
 * Documentation/python.rst, "Threads, signals and fork".
 */
#include "core.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* How often a waiting next() looks for signals such as Ctrl-C */
#define SIGNAL_POLL_MS 50

/* Longest state document asked for; the library's own are below a page */
#define STATE_BUF_BYTES 8192

struct core_stream {
	PyObject_HEAD
	struct dlboost_stream *stream;	/* NULL once closed */
	struct dlboost_stream_info info;
	PyObject *dataset;
	pid_t pid;
	bool is_busy;			/* a thread is in next() or set_epoch() */
	bool wants_close;		/* close() came meanwhile */
	bool is_at_end;			/* of an epoch; set_epoch() begins one */
};

/* Texts of a sequence of bytes objects, owned by the sequence */
static int texts_of(PyObject *sequence, const char ***texts, uint32_t *nr)
{
	Py_ssize_t size = sequence == Py_None ? 0 : PySequence_Size(sequence);

	if (size <= 0)
		return (int)size;
	*texts = calloc((size_t)size, sizeof(**texts));
	if (!*texts) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < size; i++) {
		PyObject *text = PyTuple_GetItem(sequence, i);

		(*texts)[i] = text ? PyBytes_AsString(text) : NULL;
		if (!(*texts)[i])
			return -1;
	}
	*nr = (uint32_t)size;
	return 0;
}

static PyObject *stream_start(struct core_state *state, PyObject *dataset,
			      const struct dlboost_stream_attr *attr)
{
	char error[DLBOOST_ERROR_BYTES] = "";
	struct core_stream *self;
	int ret;

	self = PyObject_New(struct core_stream, state->stream_type);
	if (!self)
		return NULL;
	self->stream = NULL;
	self->is_busy = false;
	self->wants_close = false;
	self->is_at_end = false;
	self->pid = getpid();
	Py_INCREF(dataset);
	self->dataset = dataset;
	Py_BEGIN_ALLOW_THREADS
	ret = dlboost_stream_create(core_dataset_get(dataset), attr, error,
				    sizeof(error), &self->stream);
	Py_END_ALLOW_THREADS
	if (ret) {
		Py_DECREF(self);
		return core_raise(state, ret, error);
	}
	dlboost_stream_info(self->stream, &self->info);
	return (PyObject *)self;
}

PyObject *core_stream_create(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {
		"dataset", "recipe", "profile", "batch", "seed", "augment_seed",
		"has_augment_seed", "epoch", "rank", "world", "tail",
		"on_error", "max_bad", "reject_warnings", "slots", "hold",
		"quarantine", "engines", "states", "allow_repeat", "no_shuffle",
		"no_stats_page", "max_pixels", "max_scans", "max_markers",
		"scratch_bytes", "big_scratch_bytes", NULL
	};
	struct dlboost_stream_attr attr = DLBOOST_STREAM_ATTR_INIT;
	struct core_state *state = PyModule_GetState(module);
	PyObject *dataset, *engines, *states, *stream = NULL;
	const char **engine_texts = NULL, **state_texts = NULL;
	unsigned long long seed, augment_seed, max_pixels;
	Py_ssize_t scratch_bytes, big_scratch_bytes;

	if (!PyArg_ParseTupleAndKeywords(
			args, kwargs, "O!yIIKKIIIIIIdIIIO&O!O!IIIKIInn", names,
			state->dataset_type, &dataset, &attr.recipe,
			&attr.profile, &attr.batch, &seed, &augment_seed,
			&attr.has_augment_seed, &attr.epoch, &attr.rank,
			&attr.world, &attr.tail, &attr.on_error, &attr.max_bad,
			&attr.reject_warnings, &attr.slots, &attr.hold,
			core_optional_bytes, &attr.quarantine_path,
			&PyTuple_Type, &engines,
			&PyTuple_Type, &states, &attr.allow_repeat,
			&attr.no_shuffle, &attr.no_stats_page, &max_pixels,
			&attr.limits.max_scans, &attr.limits.max_markers,
			&scratch_bytes, &big_scratch_bytes))
		return NULL;
	attr.seed = seed;
	attr.augment_seed = augment_seed;
	attr.limits.max_pixels = max_pixels;
	attr.limits.scratch_bytes = (size_t)scratch_bytes;
	/* -1 is DLBOOST_NO_BIG_SCRATCH */
	attr.limits.big_scratch_bytes = (size_t)big_scratch_bytes;
	if (!texts_of(engines, &engine_texts, &attr.nr_engines) &&
	    !texts_of(states, &state_texts, &attr.nr_states)) {
		attr.engines = engine_texts;
		attr.states = state_texts;
		stream = stream_start(state, dataset, &attr);
	}
	free(engine_texts);
	free(state_texts);
	return stream;
}

static void stream_drop(struct core_stream *self)
{
	struct dlboost_stream *stream = self->stream;

	self->stream = NULL;
	/* The engine's threads do not exist in a child of fork() */
	if (!stream || self->pid != getpid())
		return;
	Py_BEGIN_ALLOW_THREADS
	dlboost_stream_destroy(stream);
	Py_END_ALLOW_THREADS
}

static void stream_dealloc(PyObject *obj)
{
	struct core_stream *self = (struct core_stream *)obj;
	PyTypeObject *type = Py_TYPE(obj);

	stream_drop(self);
	Py_XDECREF(self->dataset);
	PyObject_Free(obj);
	Py_DECREF(type);
}

static int stream_check(struct core_stream *self)
{
	struct core_state *state = core_state_of((PyObject *)self);

	if (core_check_pid(state, self->pid, "Loader"))
		return -1;
	if (!self->stream) {
		core_raise(state, -EBADF, "the Loader is closed");
		return -1;
	}
	if (!self->is_busy)
		return 0;
	core_raise(state, -EBUSY, "the Loader is in use by another thread: "
		   "give each thread its own, or guard it with a lock");
	return -1;
}

/* Ends a busy section; -1 with an error set when close() came meanwhile */
static int stream_unbusy(struct core_stream *self)
{
	self->is_busy = false;
	if (!self->wants_close)
		return 0;
	stream_drop(self);
	if (!PyErr_Occurred())
		core_raise(core_state_of((PyObject *)self), -EBADF,
			   "the Loader was closed by another thread");
	return -1;
}

static int stream_wait(struct core_stream *self, struct dlboost_batch **batch)
{
	int ret;

	do {
		Py_BEGIN_ALLOW_THREADS
		ret = dlboost_stream_next(self->stream, SIGNAL_POLL_MS, batch);
		Py_END_ALLOW_THREADS
	} while ((ret == -ETIMEDOUT || ret == -EINTR) && !self->wants_close &&
		 !PyErr_CheckSignals());
	return ret;
}

static void stream_raise(struct core_stream *self, int ret)
{
	struct core_state *state = core_state_of((PyObject *)self);
	const char *sentence = dlboost_stream_error(self->stream);
	PyObject *path, *error = NULL;
	struct dlboost_result result;
	uint64_t sample_id;

	if (ret != -EBADMSG ||
	    dlboost_stream_bad_sample(self->stream, &sample_id, &result)) {
		core_raise(state, ret, sentence);
		return;
	}
	path = core_dataset_path(self->dataset, sample_id);
	if (path)
		error = core_bad_sample(state, sentence, &result, path);
	if (error)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_XDECREF(path);
	Py_XDECREF(error);
}

static PyObject *stream_next(PyObject *obj, PyObject *ignored)
{
	struct core_stream *self = (struct core_stream *)obj;
	struct core_state *state = core_state_of(obj);
	struct dlboost_batch *batch = NULL;
	int ret;

	if (stream_check(self))
		return NULL;
	/* The library would go on to the next epoch by itself */
	if (self->is_at_end)
		Py_RETURN_NONE;
	self->is_busy = true;
	ret = stream_wait(self, &batch);
	if (!ret && !batch) {
		self->is_at_end = true;
		if (stream_unbusy(self))
			return NULL;
		Py_RETURN_NONE;
	}
	if (!ret) {
		PyObject *result = core_batch_new(state, batch,
						  &self->info.tensor,
						  self->dataset);

		if (!stream_unbusy(self))
			return result;
		Py_XDECREF(result);
		return NULL;
	}
	if (!PyErr_Occurred() && !self->wants_close)
		stream_raise(self, ret);
	stream_unbusy(self);
	return NULL;
}

static PyObject *stream_set_epoch(PyObject *obj, PyObject *arg)
{
	struct core_stream *self = (struct core_stream *)obj;
	unsigned long epoch = PyLong_AsUnsignedLong(arg);
	int ret;

	if (PyErr_Occurred() || stream_check(self))
		return NULL;
	if (epoch > UINT32_MAX) {
		PyErr_SetString(PyExc_OverflowError, "epoch is above 2**32-1");
		return NULL;
	}
	self->is_busy = true;
	self->is_at_end = false;
	Py_BEGIN_ALLOW_THREADS
	ret = dlboost_stream_set_epoch(self->stream, (uint32_t)epoch);
	Py_END_ALLOW_THREADS
	if (ret)
		core_raise(core_state_of(obj), ret,
			   dlboost_stream_error(self->stream));
	if (stream_unbusy(self) || ret)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *stream_state(PyObject *obj, PyObject *after)
{
	struct core_stream *self = (struct core_stream *)obj;
	struct core_state *state = core_state_of(obj);
	struct dlboost_batch *batch = NULL;
	char buf[STATE_BUF_BYTES];
	int ret;

	if (stream_check(self))
		return NULL;
	if (after != Py_None) {
		if (Py_TYPE(after) != state->batch_type) {
			PyErr_SetString(PyExc_TypeError,
					"after must be a Batch or None");
			return NULL;
		}
		batch = core_batch_get(after);
	}
	ret = dlboost_stream_state(self->stream, batch, buf, sizeof(buf), NULL);
	if (ret)
		return core_raise(state, ret, dlboost_stream_error(self->stream));
	return PyUnicode_FromString(buf);
}

static PyObject *stream_length(PyObject *obj, PyObject *ignored)
{
	struct core_stream *self = (struct core_stream *)obj;

	if (stream_check(self))
		return NULL;
	return PyLong_FromUnsignedLongLong(dlboost_stream_len(self->stream));
}

static PyObject *bad_dict(const uint64_t *bad)
{
	PyObject *dict = PyDict_New();

	for (unsigned int i = 1; dict && i < DLBOOST_NR_STATUS; i++)
		if (core_dict_put(dict, dlboost_status_name(i),
				  PyLong_FromUnsignedLongLong(bad[i])))
			return NULL;
	return dict;
}

static PyObject *stats_dict(const struct dlboost_stream_stats *stats)
{
	PyObject *bad = bad_dict(stats->bad);

	if (!bad)
		return NULL;
#define U64(name) #name, (unsigned long long)stats->name
	return Py_BuildValue(
		"{s:K,s:K,s:K,s:N,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,"
		"s:K,s:K,s:K,s:s,s:d}",
		U64(samples), U64(batches), "good",
		(unsigned long long)stats->bad[DLBOOST_STATUS_OK], "bad", bad,
		U64(warned), U64(replaced), U64(quarantined), U64(rerouted),
		U64(encoded_bytes), U64(elapsed_ns), U64(read_ns),
		U64(decode_ns), U64(resample_ns), U64(idle_ns),
		U64(worker_cpu_ns), U64(wait_ns), U64(queued_samples),
		U64(ready_batches),
		"limit_stage", dlboost_limit_stage_name(stats->limit_stage),
		"limit_share", stats->limit_share);
#undef U64
}

/* Counters may be read while another thread waits in next() */
static PyObject *stream_stats(PyObject *obj, PyObject *ignored)
{
	struct core_stream *self = (struct core_stream *)obj;
	struct dlboost_stream_stats stats;

	if ((!self->is_busy || self->pid != getpid()) && stream_check(self))
		return NULL;
	dlboost_stream_stats(self->stream, &stats);
	return stats_dict(&stats);
}

static PyObject *stream_info(PyObject *obj, PyObject *ignored)
{
	struct core_stream *self = (struct core_stream *)obj;
	const struct dlboost_stream_info *info = &self->info;
	const struct dlboost_tensor_spec *tensor = &info->tensor;
	PyObject *dataset = core_dataset_info_dict(&info->dataset);

	if (!dataset)
		return NULL;
	return Py_BuildValue(
		"{s:N,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:K,s:K,s:N,s:I,s:K,s:K}",
		"dataset", dataset,
		"dtype", tensor->dtype < CORE_NR_DTYPE ?
			 core_dtypes[tensor->dtype].name : "unknown",
		"layout", tensor->layout == DLBOOST_LAYOUT_CHW ? "chw" : "hwc",
		"width", tensor->width, "height", tensor->height,
		"channels", tensor->channels, "batch", info->batch,
		"slots", info->slots, "hold", info->hold,
		"nr_workers", info->nr_workers,
		"slot_bytes", (unsigned long long)info->slot_bytes,
		"cap_bytes", (unsigned long long)info->cap_bytes,
		"has_huge_pages", PyBool_FromLong(info->has_huge_pages),
		"epoch", info->epoch,
		"position", (unsigned long long)info->position,
		"repeated_samples", (unsigned long long)info->repeated_samples);
}

static PyObject *stream_close(PyObject *obj, PyObject *ignored)
{
	struct core_stream *self = (struct core_stream *)obj;

	if (self->is_busy && self->pid == getpid()) {
		self->wants_close = true;
		dlboost_stream_interrupt(self->stream);
	} else {
		stream_drop(self);
	}
	Py_RETURN_NONE;
}

static PyObject *stream_closed(PyObject *obj, void *closure)
{
	return PyBool_FromLong(!((struct core_stream *)obj)->stream);
}

static PyGetSetDef stream_getset[] = {
	{ "closed", stream_closed, NULL, "True after close().", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef stream_methods[] = {
	{ "next", stream_next, METH_NOARGS,
	  "next($self, /)\n--\n\nThe next Batch, or None at the end of the "
	  "epoch." },
	{ "set_epoch", stream_set_epoch, METH_O,
	  "set_epoch($self, epoch, /)\n--\n\nGo to the start of an epoch." },
	{ "state", stream_state, METH_O,
	  "state($self, after, /)\n--\n\nThe state document with everything up "
	  "to the Batch *after* consumed." },
	{ "length", stream_length, METH_NOARGS,
	  "length($self, /)\n--\n\nBatches of this rank in this epoch." },
	{ "stats", stream_stats, METH_NOARGS,
	  "stats($self, /)\n--\n\nCounters since the start, as a dict." },
	{ "info", stream_info, METH_NOARGS,
	  "info($self, /)\n--\n\nWhat the stream is, as a dict." },
	{ "close", stream_close, METH_NOARGS,
	  "close($self, /)\n--\n\nStop the engines." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot stream_slots[] = {
	{ Py_tp_doc, (void *)"A stream of batches; dlboost.Loader wraps it." },
	{ Py_tp_new, core_no_new },
	{ Py_tp_dealloc, stream_dealloc },
	{ Py_tp_getset, stream_getset },
	{ Py_tp_methods, stream_methods },
	{ 0, NULL },
};

PyType_Spec core_stream_spec = {
	.name = "dlboost._core.Stream",
	.basicsize = sizeof(struct core_stream),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = stream_slots,
};
