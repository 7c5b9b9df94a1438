/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * What the resampler needs of the tables beyond coeffs.h: tables of a part of
 * an axis, and room in the cache for tables in an instruction set's own form.
 */
#ifndef DLB_IMAGE_COEFFS_INT_H
#define DLB_IMAGE_COEFFS_INT_H

#include "coeffs.h"

#include <stdbool.h>

#define DLB_COEFF_BITS 22
#define DLB_COEFF_ONE (1 << DLB_COEFF_BITS)

/**
 * struct dlb_taps - Weights of some outputs of an axis
 * @nr: outputs
 * @stride: weights allotted to each output; what is not in use is zero
 * @first: first input index of each
 * @count: taps in use of each, at least 1
 * @weight: @nr rows of @stride
 */
struct dlb_taps {
	uint32_t nr;
	uint32_t stride;
	uint32_t *first;
	uint32_t *count;
	int32_t *weight;
};

/* Most taps one output of @axis can have */
uint32_t dlb_axis_max_taps(const struct dlb_axis *axis);
/* Bytes dlb_axis_fill() needs for @nr outputs, scratch included */
size_t dlb_axis_fill_bytes(const struct dlb_axis *axis, uint32_t nr);
/* @nr outputs of @axis from @out0 on, laid out in @mem (8-byte aligned) */
void dlb_axis_fill(const struct dlb_axis *axis, uint32_t out0, uint32_t nr,
		   void *mem, struct dlb_taps *taps);
/* Drop taps whose weight is zero at either end of each output */
void dlb_taps_trim(struct dlb_taps *taps);
/* Last output first */
void dlb_taps_reverse(struct dlb_taps *taps);
/* Most taps in use */
uint32_t dlb_taps_max(const struct dlb_taps *taps);

/**
 * struct dlb_plan_key - Name of a cached block; all bytes count, so zero first
 * @axis: axis
 * @out0: first output
 * @nr: outputs
 * @kind: owner's number: which form of table
 * @is_reversed: last output first
 */
struct dlb_plan_key {
	struct dlb_axis axis;
	uint32_t out0;
	uint32_t nr;
	uint32_t kind;
	uint32_t is_reversed;
};

#define DLB_PLAN_KIND_TABLE 0	/* struct dlb_coeffs */

/*
 * Blocks are aligned to 64 bytes and may move from one call to the next, so
 * they hold offsets, never addresses.  The two blocks found or added last stay
 * where they are until the next but one addition.
 */
void *dlb_coeff_cache_find(struct dlb_coeff_cache *cache,
			   const struct dlb_plan_key *key);
/* NULL when out of memory; the caller fills the block at once */
void *dlb_coeff_cache_add(struct dlb_coeff_cache *cache,
			  const struct dlb_plan_key *key, size_t bytes);
/* Scratch of the cache, for one table while it is made; NULL: out of memory */
void *dlb_coeff_cache_scratch(struct dlb_coeff_cache *cache, size_t bytes);

#endif /* DLB_IMAGE_COEFFS_INT_H */
