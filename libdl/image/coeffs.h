/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Coefficient tables of the separable resize, one axis at a time, and a cache
 * of them.  The host computes the tables, engines receive them: no device
 * needs a sine or a double.  Rule F3 (Documentation/pixels.rst, "Resize").
 */
#ifndef DLB_IMAGE_COEFFS_H
#define DLB_IMAGE_COEFFS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct dlb_axis - What one table depends on
 * @in: length of the input axis, pixels
 * @out: length of the output axis, pixels
 * @box0: start of the part that is resized; 0 in profile exact
 * @box1: end of the part that is resized; @in in profile exact
 * @filter: enum dlboost_filter
 */
struct dlb_axis {
	uint32_t in;
	uint32_t out;
	double box0;
	double box1;
	uint32_t filter;
};

/**
 * struct dlb_coeffs - One table
 * @axis: what it was made for
 * @taps: taps stored for each output, a row of @weight; zero-padded
 * @first: first input index of each output, @axis.out entries
 * @count: taps in use of each output
 * @weight: fixed point, 22 fractional bits, @axis.out rows of @taps
 *
 * For nearest @taps is 1 and every weight 1 << 22.
 */
struct dlb_coeffs {
	struct dlb_axis axis;
	uint32_t taps;
	const uint32_t *first;
	const uint32_t *count;
	const int32_t *weight;
};

struct dlb_coeff_cache;

/* One per worker, bounded to @cap_bytes; one thread at a time */
int dlb_coeff_cache_create(size_t cap_bytes, struct dlb_coeff_cache **out);
void dlb_coeff_cache_destroy(struct dlb_coeff_cache *cache);
/*
 * NULL when out of memory.  The two tables got last stay valid until the next
 * but one call for a table that is not in the cache.
 */
const struct dlb_coeffs *dlb_coeff_cache_get(struct dlb_coeff_cache *cache,
					     const struct dlb_axis *axis);

#endif /* DLB_IMAGE_COEFFS_H */
