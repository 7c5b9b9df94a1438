/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NumPy's .npy files, format version 1.0. */
#ifndef DLBOOST_TOOL_NPY_H
#define DLBOOST_TOOL_NPY_H

#include "tool.h"

/**
 * struct npy_array - An array in memory
 * @descr: NumPy's type, "<f4"
 * @shape: lengths of the axes
 * @nr_axes: 1..4
 * @data: elements, C order
 * @nr_bytes: length of @data
 */
struct npy_array {
	const char *descr;
	uint64_t shape[4];
	unsigned int nr_axes;
	const void *data;
	size_t nr_bytes;
};

/* "<f4" of a value of enum dlboost_dtype; bf16, unknown to NumPy, is "<u2" */
const char *npy_descr(uint32_t dtype);
const char *dtype_name(uint32_t dtype);
/* 0 or a negative error number; "-" is stdout */
int npy_write(const char *path, const struct npy_array *array);

#endif /* DLBOOST_TOOL_NPY_H */
