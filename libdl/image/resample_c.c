// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The kernels in plain C: what all others must equal, byte for byte, and what
 * runs where no other does.  Lines are in natural order here.
 * See resample_int.h for the words.
 */
#include "resample_int.h"

#include <string.h>

#include <dlboost/recipe.h>

struct c_hplan {
	uint32_t nr;
	uint32_t stride;
	uint32_t words[];	/* first, count, then weights */
};

static size_t c_hpack(const struct dlb_taps *taps, uint32_t in_px, void *packed)
{
	struct c_hplan *plan = packed;
	size_t nr = taps->nr, nr_weights = nr * taps->stride;

	(void)in_px;
	if (plan) {
		plan->nr = taps->nr;
		plan->stride = taps->stride;
		memcpy(plan->words, taps->first, nr * 4);
		memcpy(plan->words + nr, taps->count, nr * 4);
		memcpy(plan->words + 2 * nr, taps->weight, nr_weights * 4);
	}
	return sizeof(*plan) + (2 * nr + nr_weights) * 4;
}

static void c_hrow(const void *packed, const struct dlb_lines *lines,
		   const uint8_t *row, uint8_t *out, uint8_t *tmp)
{
	const struct c_hplan *plan = packed;
	const uint32_t *first = plan->words, *count = first + plan->nr;
	const int32_t *weight = (const int32_t *)(count + plan->nr);
	size_t step = lines->is_packed ? 3 : 1;
	size_t stride = lines->is_packed ? 1 : lines->stride_bytes;
	uint8_t *red = out + (lines->is_bgr ? 2 * stride : 0);
	uint8_t *green = out + stride;
	uint8_t *blue = out + (lines->is_bgr ? 0 : 2 * stride);

	(void)tmp;
	for (uint32_t i = 0; i < plan->nr; i++, weight += plan->stride) {
		const uint8_t *px = row + (size_t)first[i] * DLB_PIXEL_BYTES;
		int32_t r = 1 << 21, g = 1 << 21, b = 1 << 21;

		for (uint32_t k = 0; k < count[i]; k++, px += 4) {
			r += px[0] * weight[k];
			g += px[1] * weight[k];
			b += px[2] * weight[k];
		}
		red[i * step] = dlb_round_sum(r);
		green[i * step] = dlb_round_sum(g);
		blue[i * step] = dlb_round_sum(b);
	}
}

static void c_hcopy(const struct dlb_lines *lines, const uint8_t *row,
		    uint8_t *out)
{
	size_t step = lines->is_packed ? 3 : 1;
	size_t stride = lines->is_packed ? 1 : lines->stride_bytes;

	for (uint32_t c = 0; c < 3; c++) {
		const uint8_t *from = row + (lines->is_bgr ? 2 - c : c);
		uint8_t *to = out + c * stride;

		for (uint32_t i = 0; i < lines->width; i++)
			to[i * step] = from[(size_t)i * DLB_PIXEL_BYTES];
	}
}

static size_t c_vpack_bytes(uint32_t nr_taps)
{
	return (size_t)nr_taps * sizeof(int32_t);
}

static void c_vpack(const int32_t *weight, uint32_t nr_taps, void *packed)
{
	memcpy(packed, weight, (size_t)nr_taps * sizeof(*weight));
}

#define COLUMNS 256u

/* One stretch of columns, sums kept near */
static void c_sum_columns(const uint8_t *const *rows, size_t at, uint32_t n,
			  const int32_t *weight, uint32_t nr_taps, uint8_t *dst)
{
	int32_t sum[COLUMNS];

	for (uint32_t i = 0; i < n; i++)
		sum[i] = 1 << 21;
	for (uint32_t k = 0; k < nr_taps; k++) {
		const uint8_t *row = rows[k] + at;
		int32_t w = weight[k];

		for (uint32_t i = 0; i < n; i++)
			sum[i] += row[i] * w;
	}
	for (uint32_t i = 0; i < n; i++)
		dst[i] = dlb_round_sum(sum[i]);
}

static void c_vbytes(const uint8_t *const *rows, const void *weights,
		     uint32_t nr_taps, uint32_t n, uint8_t *dst)
{
	for (uint32_t at = 0; at < n; at += COLUMNS) {
		uint32_t left = n - at;

		c_sum_columns(rows, at, left < COLUMNS ? left : COLUMNS,
			      weights, nr_taps, dst + at);
	}
}

static void c_vline(const struct dlb_vjob *job, uint32_t line,
		    const uint8_t *src, uint32_t at, uint32_t n)
{
	const struct dlb_cast_plan *cast = job->cast;
	size_t bytes = dlb_dtype_bytes(cast->cast.dtype);

	dlb_cast_by_table(cast, line, src, n,
			  (uint8_t *)job->dst[line] + at * bytes);
}

/* A multiple of 3, so that an interleaved line keeps its phase */
#define STRETCH (COLUMNS - COLUMNS % 3)

static void c_vrow(const struct dlb_vjob *job)
{
	uint32_t n = dlb_lines_elements(job->lines);
	uint8_t bytes[STRETCH];

	for (uint32_t line = 0; line < dlb_lines_nr(job->lines); line++) {
		size_t base = (size_t)line * job->lines->stride_bytes;

		for (uint32_t at = 0; at < n; at += STRETCH) {
			uint32_t left = n - at < STRETCH ? n - at : STRETCH;

			if (!job->nr_taps) {
				c_vline(job, line, job->rows[0] + base + at, at,
					left);
				continue;
			}
			c_sum_columns(job->rows, base + at, left, job->weights,
				      job->nr_taps, bytes);
			c_vline(job, line, bytes, at, left);
		}
	}
}

/* Plain stores: nothing to order */
static void c_finish(void)
{
}

const struct dlb_kernels dlb_kernels_c = {
	.name = "c",
	.id = 1,
	.hpack = c_hpack,
	.hrow = c_hrow,
	.hcopy = c_hcopy,
	.vpack_bytes = c_vpack_bytes,
	.vpack = c_vpack,
	.vrow = c_vrow,
	.vbytes = c_vbytes,
	.finish = c_finish,
};
