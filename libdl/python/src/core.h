/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The extension module dlboost._core: a thin skin over <dlboost/...>.  What can
 * be said in Python (defaults, names of options, passes over epochs) is said in
 * loader.py; here live memory, waiting and errors.
 *
 * Locks: the interpreter's lock guards every structure but core_memory, whose
 * count is atomic, because DLPack consumers drop tensors from any thread.
 */
#ifndef DLB_PYTHON_CORE_H
#define DLB_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <sys/types.h>

#include <dlboost/dlboost.h>

#define CORE_MAX_NDIM 4

/* Element types; the first four are enum dlboost_dtype's */
enum core_dtype {
	CORE_U8 = DLBOOST_DTYPE_U8,
	CORE_F16 = DLBOOST_DTYPE_F16,
	CORE_BF16 = DLBOOST_DTYPE_BF16,
	CORE_F32 = DLBOOST_DTYPE_F32,
	CORE_I64,
	CORE_NR_DTYPE,
};

struct core_state {
	PyObject *from_errno;		/* of dlboost.errors */
	PyObject *bad_sample;
	PyObject *fork_error;
	PyTypeObject *array_type;
	PyTypeObject *batch_type;
	PyTypeObject *dataset_type;
	PyTypeObject *stream_type;
	struct dlboost_decoder *idle_decoder;	/* kept between decode() calls */
};

/*
 * What keeps pixels alive: a reference to a batch, or memory of our own.  A
 * batch's memory belongs to the process that made it; a child of fork() leaves
 * it alone.
 */
struct core_memory {
	unsigned int nr_refs;		/* atomic */
	pid_t pid;
	struct dlboost_batch *batch;
	void *heap;
};

struct core_array {
	PyObject_HEAD
	struct core_memory *memory;
	char *data;
	enum core_dtype dtype;
	int ndim;
	bool is_readonly;
	Py_ssize_t shape[CORE_MAX_NDIM];
	Py_ssize_t strides[CORE_MAX_NDIM];	/* bytes */
};

struct core_dtype_info {
	const char *name;
	const char *format;		/* of module struct; NULL: has none */
	uint8_t dlpack_code;
	Py_ssize_t bytes;
};

extern const struct core_dtype_info core_dtypes[CORE_NR_DTYPE];

/* memory.c */
struct core_memory *core_memory_of_batch(struct dlboost_batch *batch);
struct core_memory *core_memory_alloc(size_t bytes);
struct core_memory *core_memory_get(struct core_memory *memory);
void core_memory_put(struct core_memory *memory);
/* 0, or -1 with ForkError set when @pid is not this process */
int core_check_pid(struct core_state *state, pid_t pid, const char *what);

/* array.c: takes over @memory, also on failure; the array may be written to */
PyObject *core_array_new(struct core_state *state, struct core_memory *memory,
			 void *data, enum core_dtype dtype, int ndim,
			 const Py_ssize_t *shape);
Py_ssize_t core_array_bytes(const struct core_array *array);
PyObject *core_tensor_new(struct core_state *state, struct core_memory *memory,
			  void *data, const struct dlboost_tensor_spec *spec,
			  Py_ssize_t count);

/* dlpack.c */
PyObject *core_array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *core_array_dlpack_device(PyObject *self, PyObject *ignored);

/* batch.c: takes over the caller's reference to @batch, also on failure */
PyObject *core_batch_new(struct core_state *state, struct dlboost_batch *batch,
			 const struct dlboost_tensor_spec *tensor,
			 PyObject *dataset);
/* NULL once released */
struct dlboost_batch *core_batch_get(PyObject *batch);

/* dataset.c */
struct dlboost_dataset *core_dataset_get(PyObject *dataset);
PyObject *core_dataset_open(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_dataset_path(PyObject *dataset, uint64_t sample_id);
PyObject *core_dataset_info_dict(const struct dlboost_dataset_info *info);

/* stream.c */
PyObject *core_stream_create(PyObject *module, PyObject *args,
			     PyObject *kwargs);

/* picture.c */
PyObject *core_decode(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_probe(PyObject *module, PyObject *args);
PyObject *core_recipes(PyObject *module, PyObject *ignored);
PyObject *core_recipe_canonical(PyObject *module, PyObject *args);
PyObject *core_engines(PyObject *module, PyObject *ignored);

/* module.c */
struct core_state *core_state_of(PyObject *self);
/* Raises what dlboost.errors makes of it; NULL always */
PyObject *core_raise(struct core_state *state, int err, const char *sentence);
/* The same; steals @text, which may be NULL with an error set */
PyObject *core_raise_text(struct core_state *state, int err, PyObject *text);
/* A new BadSample, not raised; @sentence: all of it, NULL to make one */
PyObject *core_bad_sample(struct core_state *state, const char *sentence,
			  const struct dlboost_result *result, PyObject *path);
PyObject *core_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* Converter for "O&": bytes -> const char *, None -> NULL */
int core_optional_bytes(PyObject *obj, void *out);
/* Steals @value; 0 or -1 */
int core_dict_put(PyObject *dict, const char *key, PyObject *value);

extern PyType_Spec core_array_spec;
extern PyType_Spec core_batch_spec;
extern PyType_Spec core_dataset_spec;
extern PyType_Spec core_stream_spec;

#endif /* DLB_PYTHON_CORE_H */
