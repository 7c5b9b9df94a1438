// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * struct jpeg_memory_mgr over an arena.  Every pool is the arena: nothing is
 * freed before the picture ends, and then everything is.  Virtual arrays are
 * wholly in memory; their sum is checked before the first of them is touched,
 * so that a header alone cannot make memory resident.
 *
 * Written against jpeglib.h alone: jvirt_sarray_control and
 * jvirt_barray_control are opaque to the library outside its own manager.  A
 * request past the cap ends as JERR_OUT_OF_MEMORY, which the error manager of
 * jpeg.c turns into "try the big lane" or TOO_LARGE.
 */
#include "jpeg_mem.h"

#include <string.h>

#include <jerror.h>

/* What libjpeg-turbo's SIMD code expects of rows: its own manager does this */
#define SMALL_ALIGN_BYTES 32
#define ROW_ALIGN_BYTES 64

struct jvirt_sarray_control {
	JSAMPARRAY rows;
	JDIMENSION nr_rows;
	JDIMENSION samples_per_row;
	JDIMENSION max_access;
	JDIMENSION first_undefined;
	bool has_pre_zero;
	jvirt_sarray_ptr next;
};

struct jvirt_barray_control {
	JBLOCKARRAY rows;
	JDIMENSION nr_rows;
	JDIMENSION blocks_per_row;
	JDIMENSION max_access;
	JDIMENSION first_undefined;
	bool has_pre_zero;
	jvirt_barray_ptr next;
};

static struct dlb_jpeg_mem *mem_of(j_common_ptr cinfo)
{
	return (struct dlb_jpeg_mem *)cinfo->mem;
}

static void mem_fail(j_common_ptr cinfo, int code)
{
	cinfo->err->msg_code = code;
	cinfo->err->msg_parm.i[0] = 0;
	cinfo->err->error_exit(cinfo);
}

static void *mem_get(j_common_ptr cinfo, size_t bytes, size_t align)
{
	void *p = dlb_arena_alloc(mem_of(cinfo)->arena, bytes, align);

	if (!p)
		mem_fail(cinfo, JERR_OUT_OF_MEMORY);
	return p;
}

static void *mem_alloc_small(j_common_ptr cinfo, int pool_id, size_t bytes)
{
	return mem_get(cinfo, bytes, SMALL_ALIGN_BYTES);
}

static void *mem_alloc_large(j_common_ptr cinfo, int pool_id, size_t bytes)
{
	return mem_get(cinfo, bytes, ROW_ALIGN_BYTES);
}

static size_t row_bytes(size_t bytes)
{
	return (bytes + ROW_ALIGN_BYTES - 1) & ~(size_t)(ROW_ALIGN_BYTES - 1);
}

static JSAMPARRAY mem_alloc_sarray(j_common_ptr cinfo, int pool_id,
				   JDIMENSION samples_per_row,
				   JDIMENSION nr_rows)
{
	size_t stride = row_bytes((size_t)samples_per_row * sizeof(JSAMPLE));
	JSAMPARRAY rows = mem_get(cinfo, nr_rows * sizeof(*rows),
				  SMALL_ALIGN_BYTES);
	JSAMPROW base = mem_get(cinfo, stride * nr_rows, ROW_ALIGN_BYTES);

	for (JDIMENSION i = 0; i < nr_rows; i++)
		rows[i] = base + i * stride;
	return rows;
}

static JBLOCKARRAY mem_alloc_barray(j_common_ptr cinfo, int pool_id,
				    JDIMENSION blocks_per_row,
				    JDIMENSION nr_rows)
{
	JBLOCKARRAY rows = mem_get(cinfo, nr_rows * sizeof(*rows),
				   SMALL_ALIGN_BYTES);
	JBLOCKROW base = mem_get(cinfo, (size_t)blocks_per_row * nr_rows *
				 sizeof(JBLOCK), ROW_ALIGN_BYTES);

	for (JDIMENSION i = 0; i < nr_rows; i++)
		rows[i] = base + (size_t)i * blocks_per_row;
	return rows;
}

static jvirt_sarray_ptr mem_request_sarray(j_common_ptr cinfo, int pool_id,
					   boolean pre_zero,
					   JDIMENSION samples_per_row,
					   JDIMENSION nr_rows,
					   JDIMENSION max_access)
{
	jvirt_sarray_ptr array = mem_get(cinfo, sizeof(*array),
					 SMALL_ALIGN_BYTES);

	*array = (struct jvirt_sarray_control){
		.nr_rows = nr_rows,
		.samples_per_row = samples_per_row,
		.max_access = max_access,
		.has_pre_zero = pre_zero,
		.next = mem_of(cinfo)->sarrays,
	};
	mem_of(cinfo)->sarrays = array;
	return array;
}

static jvirt_barray_ptr mem_request_barray(j_common_ptr cinfo, int pool_id,
					   boolean pre_zero,
					   JDIMENSION blocks_per_row,
					   JDIMENSION nr_rows,
					   JDIMENSION max_access)
{
	jvirt_barray_ptr array = mem_get(cinfo, sizeof(*array),
					 SMALL_ALIGN_BYTES);

	*array = (struct jvirt_barray_control){
		.nr_rows = nr_rows,
		.blocks_per_row = blocks_per_row,
		.max_access = max_access,
		.has_pre_zero = pre_zero,
		.next = mem_of(cinfo)->barrays,
	};
	mem_of(cinfo)->barrays = array;
	return array;
}

/* Bytes of every array not yet realized, row pointers included */
static size_t mem_unrealized_bytes(const struct dlb_jpeg_mem *mem)
{
	size_t sum = 0;

	for (jvirt_sarray_ptr s = mem->sarrays; s; s = s->next)
		if (!s->rows)
			sum += s->nr_rows * (row_bytes(s->samples_per_row) +
					     sizeof(*s->rows));
	for (jvirt_barray_ptr b = mem->barrays; b; b = b->next)
		if (!b->rows)
			sum += (size_t)b->nr_rows *
			       ((size_t)b->blocks_per_row * sizeof(JBLOCK) +
				sizeof(*b->rows));
	return sum;
}

static void mem_realize(j_common_ptr cinfo)
{
	struct dlb_jpeg_mem *mem = mem_of(cinfo);
	struct dlb_arena *arena = mem->arena;

	if (mem_unrealized_bytes(mem) > arena->cap_bytes - arena->used_bytes)
		mem_fail(cinfo, JERR_OUT_OF_MEMORY);
	for (jvirt_sarray_ptr s = mem->sarrays; s; s = s->next)
		if (!s->rows)
			s->rows = mem_alloc_sarray(cinfo, JPOOL_IMAGE,
						   s->samples_per_row,
						   s->nr_rows);
	for (jvirt_barray_ptr b = mem->barrays; b; b = b->next)
		if (!b->rows)
			b->rows = mem_alloc_barray(cinfo, JPOOL_IMAGE,
						   b->blocks_per_row,
						   b->nr_rows);
}

/*
 * Rows are zeroed when they are first reached: a file that ends early does not
 * make the rest of its arrays resident.
 */
static JSAMPARRAY mem_access_sarray(j_common_ptr cinfo, jvirt_sarray_ptr array,
				    JDIMENSION start, JDIMENSION nr,
				    boolean writable)
{
	if (!array->rows || nr > array->max_access ||
	    start > array->nr_rows || nr > array->nr_rows - start)
		mem_fail(cinfo, JERR_BAD_VIRTUAL_ACCESS);
	for (; array->first_undefined < start + nr; array->first_undefined++)
		if (array->has_pre_zero)
			memset(array->rows[array->first_undefined], 0,
			       array->samples_per_row * sizeof(JSAMPLE));
	return array->rows + start;
}

static JBLOCKARRAY mem_access_barray(j_common_ptr cinfo, jvirt_barray_ptr array,
				     JDIMENSION start, JDIMENSION nr,
				     boolean writable)
{
	if (!array->rows || nr > array->max_access ||
	    start > array->nr_rows || nr > array->nr_rows - start)
		mem_fail(cinfo, JERR_BAD_VIRTUAL_ACCESS);
	for (; array->first_undefined < start + nr; array->first_undefined++)
		if (array->has_pre_zero)
			memset(array->rows[array->first_undefined], 0,
			       (size_t)array->blocks_per_row * sizeof(JBLOCK));
	return array->rows + start;
}

/* The picture's end frees everything at once: dlb_arena_reset() */
static void mem_free_pool(j_common_ptr cinfo, int pool_id)
{
	mem_of(cinfo)->sarrays = NULL;
	mem_of(cinfo)->barrays = NULL;
}

static void mem_self_destruct(j_common_ptr cinfo)
{
	mem_free_pool(cinfo, JPOOL_PERMANENT);
	cinfo->mem = NULL;
}

void dlb_jpeg_mem_init(struct dlb_jpeg_mem *mem, struct dlb_arena *arena)
{
	*mem = (struct dlb_jpeg_mem){
		.pub = {
			.alloc_small = mem_alloc_small,
			.alloc_large = mem_alloc_large,
			.alloc_sarray = mem_alloc_sarray,
			.alloc_barray = mem_alloc_barray,
			.request_virt_sarray = mem_request_sarray,
			.request_virt_barray = mem_request_barray,
			.realize_virt_arrays = mem_realize,
			.access_virt_sarray = mem_access_sarray,
			.access_virt_barray = mem_access_barray,
			.free_pool = mem_free_pool,
			.self_destruct = mem_self_destruct,
			.max_memory_to_use = 0,
			.max_alloc_chunk = 1000000000L,
		},
		.arena = arena,
	};
}
