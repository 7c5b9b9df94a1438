/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * What a picture's two passes take from where: made at the start of a picture
 * from tables in the cache, read while rows stream through.
 */
#ifndef DLB_IMAGE_RESAMPLE_PLAN_H
#define DLB_IMAGE_RESAMPLE_PLAN_H

#include "resample_int.h"

/**
 * struct dlb_inner - Part of the window that lies on the resized picture
 * @x: left edge in the resized picture
 * @y: top edge in the resized picture
 * @w: width; 0 when the window misses the picture
 * @h: height
 * @dst_x: column of the tensor where it begins, after the flip
 * @dst_y: row of the tensor
 */
struct dlb_inner {
	uint32_t x, y, w, h;
	uint32_t dst_x, dst_y;
};

/**
 * struct dlb_hpass - The horizontal pass, or the picking of columns
 * @x0: first needed input column
 * @x1: end of the needed ones
 * @packed: weights for dlb_kernels.hrow(), or NULL: no weights
 * @index: without weights: input column, less @x0, of each output; NULL:
 *	all in order
 */
struct dlb_hpass {
	uint32_t x0, x1;
	const void *packed;
	const uint32_t *index;
};

/**
 * struct dlb_vpass - The vertical pass, or the picking of rows
 * @y0: first needed input row
 * @y1: end of the needed ones
 * @first: first input row of each output
 * @count: taps of each output, or NULL: no weights, @first is the row
 * @packed: weights, @packed_bytes for each output
 * @packed_bytes: see there
 * @max_taps: most taps of an output; 0 without weights
 * @ring_rows: rows that must be kept
 * @has_clamp: the filter has negative lobes
 */
struct dlb_vpass {
	uint32_t y0, y1;
	const uint32_t *first;
	const uint32_t *count;
	const uint8_t *packed;
	size_t packed_bytes;
	uint32_t max_taps;
	uint32_t ring_rows;
	bool has_clamp;
};

/* 0 or -ENOMEM */
int dlb_hpass_plan(struct dlb_hpass *h, const struct dlb_kernels *kernels,
		   struct dlb_coeff_cache *cache, struct dlb_arena *arena,
		   const struct dlb_resample_spec *spec,
		   const struct dlb_inner *inner);
int dlb_vpass_plan(struct dlb_vpass *v, const struct dlb_kernels *kernels,
		   struct dlb_coeff_cache *cache, struct dlb_arena *arena,
		   const struct dlb_resample_spec *spec,
		   const struct dlb_inner *inner);

#endif /* DLB_IMAGE_RESAMPLE_PLAN_H */
