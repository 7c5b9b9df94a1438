// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Which blocks of which MCU rows a rectangle needs, the strip of samples that
 * one MCU row becomes, and the rows of pixels made of it.  The strip is a few
 * rows high and stays in the cache.  Knows nothing of entropy decoding and
 * nothing of instruction sets.  No locks: one picture, one thread.
 * Documentation/pixels.rst, "Decode".
 */
#include "recon.h"
#include "recon_int.h"

#include <errno.h>
#include <string.h>

#define BLOCK 8u

static const struct dlb_recon_kernels *const sets[] = {
#if defined(__x86_64__)
	&dlb_recon_kernels_avx512,
	&dlb_recon_kernels_avx2,
	&dlb_recon_kernels_sse41,
#elif defined(__aarch64__)
	&dlb_recon_kernels_neon,
#endif
	&dlb_recon_kernels_c,
};

const struct dlb_recon_kernels *dlb_recon_kernels_get(void)
{
	const char *name = dlb_resample_simd_name();
	size_t i = 0;

	while (i + 1 < sizeof(sets) / sizeof(sets[0]) &&
	       strcmp(sets[i]->name, name))
		i++;
	return sets[i];
}

static bool has_fancy_x(const struct dlb_recon_plane *plane)
{
	return plane->mode == DLB_RECON_H2 || plane->mode == DLB_RECON_HV2;
}

static bool has_fancy_y(const struct dlb_recon_plane *plane)
{
	return plane->mode == DLB_RECON_V2 || plane->mode == DLB_RECON_HV2;
}

/* libjpeg-turbo's choice (jdsample.c); by the picture's width, not the crop's */
static enum dlb_recon_mode choose_mode(uint32_t h_ratio, uint32_t v_ratio,
				       uint32_t width)
{
	if (h_ratio == 1 && v_ratio == 1)
		return DLB_RECON_FULL;
	if (h_ratio == 1 && v_ratio == 2)
		return DLB_RECON_V2;
	if (h_ratio == 2 && v_ratio == 1 && width > 2)
		return DLB_RECON_H2;
	if (h_ratio == 2 && v_ratio == 2 && width > 2)
		return DLB_RECON_HV2;
	return DLB_RECON_REPEAT;
}

/* Samples [*s0, *s1) of @size that pixels [p0, p1) are made of */
static void needed_samples(uint32_t p0, uint32_t p1, uint32_t ratio,
			   bool is_fancy, uint32_t size, uint32_t *s0,
			   uint32_t *s1)
{
	uint32_t first = p0 / ratio, last = (p1 - 1) / ratio;

	/* An even pixel leans on the sample before, an odd one on the next */
	if (is_fancy && !(p0 & 1) && first)
		first--;
	if (is_fancy && ((p1 - 1) & 1) && last + 1 < size)
		last++;
	*s0 = first;
	*s1 = last + 1;
}

/* Copies the table; false: libjpeg, which holds it in shorts, would differ */
static bool take_quant(struct dlb_recon_plane *plane, const uint16_t *quant)
{
	uint32_t largest = 1, limit = 1;

	for (uint32_t i = 0; i < DLB_BLOCK_COEFS; i++) {
		if (quant[i] > INT16_MAX)
			return false;
		if (quant[i] > largest)
			largest = quant[i];
		plane->quant[i] = (int16_t)quant[i];
	}
	while (2 * limit * largest <= INT16_MAX)
		limit *= 2;
	plane->coef_mask = (uint16_t)~(limit - 1);
	return true;
}

static int plane_alloc(struct dlb_recon_plane *plane, struct dlb_arena *arena,
		       uint32_t rect_w)
{
	size_t row_bytes = (size_t)(plane->block1 - plane->block0) * BLOCK +
			   DLB_RECON_LEFT_BYTES + DLB_RECON_SLACK_BYTES;
	uint8_t *strip;

	row_bytes = (row_bytes + 63) & ~(size_t)63;
	plane->stride_bytes = (uint32_t)row_bytes;
	strip = dlb_arena_alloc(arena, row_bytes * (1 + plane->v * BLOCK), 64);
	plane->quant = dlb_arena_alloc(arena, DLB_BLOCK_COEFS * sizeof(int16_t),
				       64);
	if (!strip || !plane->quant)
		return -ENOMEM;
	plane->strip = strip + row_bytes + DLB_RECON_LEFT_BYTES;
	if (plane->mode != DLB_RECON_FULL) {
		plane->wide = dlb_arena_alloc(arena, rect_w +
					      2 * DLB_RECON_SLACK_BYTES, 64);
		if (!plane->wide)
			return -ENOMEM;
	}
	return 0;
}

static int plane_begin(struct dlb_recon *rc, struct dlb_recon_plane *plane,
		       struct dlb_arena *arena, const struct dlb_frame *frame,
		       const struct dlb_component *comp)
{
	const struct dlb_extent *rect = &rc->rect;
	int ret;

	if (!comp->h || !comp->v || frame->h_max % comp->h ||
	    frame->v_max % comp->v)
		return -EOPNOTSUPP;
	plane->h_ratio = frame->h_max / comp->h;
	plane->v_ratio = frame->v_max / comp->v;
	plane->v = comp->v;
	plane->width = comp->width;
	plane->height = comp->height;
	plane->mcu_row_blocks = comp->mcu_row_blocks;
	plane->mode = choose_mode(plane->h_ratio, plane->v_ratio, comp->width);
	needed_samples(rect->x0, rect->x1, plane->h_ratio, has_fancy_x(plane),
		       plane->width, &plane->x0, &plane->x1);
	needed_samples(rect->y0, rect->y1, plane->v_ratio, has_fancy_y(plane),
		       plane->height, &plane->y0, &plane->y1);
	plane->block0 = plane->x0 / BLOCK;
	plane->block1 = (plane->x1 + BLOCK - 1) / BLOCK;
	ret = plane_alloc(plane, arena, rect->x1 - rect->x0);
	if (ret)
		return ret;
	return take_quant(plane, comp->quant) ? 0 : -ERANGE;
}

/* Widen the range of MCUs by what @plane needs; @h: blocks an MCU of it */
static void add_need(struct dlb_recon *rc, const struct dlb_recon_plane *plane,
		     uint32_t h)
{
	uint32_t row0 = plane->y0 / (plane->v * BLOCK);
	uint32_t row1 = (plane->y1 - 1) / (plane->v * BLOCK) + 1;
	uint32_t col0 = plane->block0 / h;
	uint32_t col1 = (plane->block1 - 1) / h + 1;

	rc->mcu_row0 = row0 < rc->mcu_row0 ? row0 : rc->mcu_row0;
	rc->mcu_row1 = row1 > rc->mcu_row1 ? row1 : rc->mcu_row1;
	rc->mcu_col0 = col0 < rc->mcu_col0 ? col0 : rc->mcu_col0;
	rc->mcu_col1 = col1 > rc->mcu_col1 ? col1 : rc->mcu_col1;
	rc->has_context |= has_fancy_y(plane);
}

int dlb_recon_begin(struct dlb_recon *rc, struct dlb_arena *arena,
		    const struct dlb_frame *frame,
		    const struct dlb_extent *rect)
{
	if (frame->nr_components != 1 && frame->nr_components != 3)
		return -EOPNOTSUPP;
	memset(rc, 0, sizeof(*rc));
	rc->kernels = dlb_recon_kernels_get();
	rc->rect = *rect;
	rc->nr_planes = frame->nr_components;
	rc->is_rgb = frame->is_rgb;
	rc->mcu_height = frame->v_max * BLOCK;
	rc->mcu_row0 = UINT32_MAX;
	rc->mcu_col0 = UINT32_MAX;
	for (uint32_t c = 0; c < rc->nr_planes; c++) {
		int ret = plane_begin(rc, &rc->plane[c], arena, frame,
				      &frame->component[c]);

		if (ret)
			return ret;
		add_need(rc, &rc->plane[c], frame->component[c].h);
	}
	rc->next_mcu_row = rc->mcu_row0;
	rc->next_y = rect->y0;
	rc->ready_y = rect->y0;
	return 0;
}

static bool has_large_product(const struct dlb_idct_job *job)
{
	for (size_t i = 0; i < (size_t)job->nr * DLB_BLOCK_COEFS; i++) {
		int32_t d = job->blocks[i] * job->quant[i % DLB_BLOCK_COEFS];

		if (d < INT16_MIN || d > INT16_MAX)
			return true;
	}
	return false;
}

/* The triangle repeats the picture's border */
static void extend_sides(const struct dlb_recon_plane *plane, uint8_t *row)
{
	uint32_t left = plane->block0 * BLOCK;

	for (uint32_t i = 0; i < BLOCK; i++, row += plane->stride_bytes) {
		if (!plane->x0)
			row[-1] = row[0];
		if (plane->x1 == plane->width)
			row[plane->x1 - left] = row[plane->x1 - left - 1];
	}
}

static int push_block_row(struct dlb_recon *rc, struct dlb_recon_plane *plane,
			  uint32_t c, const struct dlb_coef_row *row,
			  uint32_t block_row)
{
	size_t at = (size_t)block_row * plane->mcu_row_blocks + plane->block0;
	struct dlb_idct_job job = {
		.blocks = row->blocks[c] + at * DLB_BLOCK_COEFS,
		.last = row->last[c] + at,
		.nr = plane->block1 - plane->block0,
		.quant = plane->quant,
		.out = plane->strip +
		       (size_t)block_row * BLOCK * plane->stride_bytes,
		.stride_bytes = plane->stride_bytes,
	};

	rc->kernels->idct(&job);
	if (job.range_bits & DLB_RANGE_MASK)
		return -ERANGE;
	if ((job.coef_bits & plane->coef_mask) && has_large_product(&job))
		return -ERANGE;
	if (has_fancy_x(plane))
		extend_sides(plane, job.out);
	return 0;
}

/* The last row becomes the row before the first */
static void keep_last_row(const struct dlb_recon_plane *plane)
{
	uint8_t *to = plane->strip - plane->stride_bytes;
	const uint8_t *from = plane->strip +
			      (plane->v * BLOCK - 1) * (size_t)plane->stride_bytes;

	memcpy(to - DLB_RECON_LEFT_BYTES, from - DLB_RECON_LEFT_BYTES,
	       plane->stride_bytes);
}

int dlb_recon_push(struct dlb_recon *rc, const struct dlb_coef_row *row)
{
	uint32_t m = rc->next_mcu_row, ready;

	for (uint32_t c = 0; c < rc->nr_planes; c++) {
		struct dlb_recon_plane *plane = &rc->plane[c];

		if (rc->has_context && m > rc->mcu_row0)
			keep_last_row(plane);
		for (uint32_t i = 0; i < plane->v; i++) {
			uint32_t y = (m * plane->v + i) * BLOCK;
			int ret;

			if (y >= plane->y1 || y + BLOCK <= plane->y0)
				continue;
			ret = push_block_row(rc, plane, c, row, i);
			if (ret)
				return ret;
		}
	}
	rc->next_mcu_row++;
	ready = (m + 1) * rc->mcu_height - (rc->has_context ? 1 : 0);
	if (rc->next_mcu_row == rc->mcu_row1 || ready > rc->rect.y1)
		ready = rc->rect.y1;
	if (ready > rc->ready_y)
		rc->ready_y = ready;
	return 0;
}

/* Row @y of a component, from the strip; may be the one above the MCU row */
static const uint8_t *strip_row(const struct dlb_recon *rc,
				const struct dlb_recon_plane *plane, uint32_t y)
{
	int64_t top = (int64_t)(rc->next_mcu_row - 1) * plane->v * BLOCK;

	return plane->strip + ((int64_t)y - top) * plane->stride_bytes;
}

static void repeat_samples(const struct dlb_recon_plane *plane,
			   const uint8_t *in, uint32_t n)
{
	uint8_t *out = plane->wide;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < plane->h_ratio; k++)
			*out++ = in[i];
}

/* One row of a component in the picture's size, from pixel rect.x0 on */
static const uint8_t *wide_row(const struct dlb_recon *rc,
			       const struct dlb_recon_plane *plane, uint32_t y)
{
	const struct dlb_recon_kernels *kernels = rc->kernels;
	uint32_t first = rc->rect.x0 / plane->h_ratio;
	uint32_t n = (rc->rect.x1 - 1) / plane->h_ratio + 1 - first;
	uint32_t left = first - plane->block0 * BLOCK;
	uint32_t row = y / plane->v_ratio, other = row;
	const uint8_t *near = strip_row(rc, plane, row) + left, *far;

	if (plane->h_ratio == 1 && !has_fancy_y(plane))
		return near;
	if (has_fancy_y(plane) && !(y & 1) && row)
		other = row - 1;
	else if (has_fancy_y(plane) && (y & 1) && row + 1 < plane->height)
		other = row + 1;
	far = strip_row(rc, plane, other) + left;
	if (plane->mode == DLB_RECON_HV2)
		kernels->up_hv2(near, far, n, plane->wide);
	else if (plane->mode == DLB_RECON_V2)
		kernels->up_v2(near, far, n, 1 + (y & 1), plane->wide);
	else if (plane->mode == DLB_RECON_H2)
		kernels->up_h2(near, n, plane->wide);
	else
		repeat_samples(plane, near, n);
	return plane->wide + (rc->rect.x0 - first * plane->h_ratio);
}

uint32_t dlb_recon_take(struct dlb_recon *rc, uint8_t *dst, size_t stride_bytes,
			uint32_t max_rows)
{
	const struct dlb_recon_kernels *kernels = rc->kernels;
	uint32_t n = rc->rect.x1 - rc->rect.x0, nr = 0;

	for (; nr < max_rows && rc->next_y < rc->ready_y; nr++) {
		const uint8_t *planes[3] = { NULL };

		for (uint32_t c = 0; c < rc->nr_planes; c++)
			planes[c] = wide_row(rc, &rc->plane[c], rc->next_y);
		if (rc->nr_planes == 1)
			kernels->grey(planes, n, dst);
		else if (rc->is_rgb)
			kernels->rgb(planes, n, dst);
		else
			kernels->ycc(planes, n, dst);
		dst += stride_bytes;
		rc->next_y++;
	}
	return nr;
}
