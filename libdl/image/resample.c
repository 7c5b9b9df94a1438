// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Rows in, tensor out: order of the passes, the ring of rows between them, the
 * window and what is filled around it.  Which arithmetic runs is the kernels'
 * affair (resample_int.h), which weights that of resample_plan.c.
 * One thread at a time, no locks.  Documentation/pixels.rst, "Resize".
 */
#include "resample_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dlboost/recipe.h>

#include "../base/base.h"

struct dlb_resampler {
	struct dlb_coeff_cache *cache;
	const struct dlb_kernels *kernels;
	struct dlb_resample_spec spec;
	struct dlb_cast_plan cast;
	struct dlb_lines lines;
	struct dlb_inner inner;
	struct dlb_hpass h;
	struct dlb_vpass v;

	uint8_t *ring;			/* rows of lines, or of pixels */
	size_t ring_row_bytes;
	const uint8_t **taps;		/* rows of one output */
	uint8_t *line_row;		/* one row of lines */
	uint8_t *out_pixels;		/* one row, @lines.width pixels */
	uint8_t *in_pixels;		/* one row, h.x1 - h.x0, padded */
	uint32_t next_in;		/* row that is pushed next */
	uint32_t next_out;		/* row of the inner window, likewise */
	uint32_t ring_slot;		/* of row @next_in */
	bool is_streaming;		/* see struct dlb_vjob */
};

int dlb_resampler_create(struct dlb_coeff_cache *cache,
			 struct dlb_resampler **out)
{
	struct dlb_resampler *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return -ENOMEM;
	rs->cache = cache;
	*out = rs;
	return 0;
}

void dlb_resampler_destroy(struct dlb_resampler *rs)
{
	free(rs);
}

static size_t round_up(size_t n, size_t multiple)
{
	return (n + multiple - 1) / multiple * multiple;
}

static bool is_same_cast(const struct dlb_cast *a, const struct dlb_cast *b)
{
	return a->dtype == b->dtype && a->layout == b->layout &&
	       a->is_bgr == b->is_bgr &&
	       a->has_scale_mul == b->has_scale_mul &&
	       a->has_normalise == b->has_normalise &&
	       !memcmp(a->mean, b->mean, sizeof(a->mean)) &&
	       !memcmp(a->std, b->std, sizeof(a->std));
}

/* The part of the window that lies on the resized picture */
static void clip_window(const struct dlb_resample_spec *spec,
			struct dlb_inner *inner)
{
	int64_t x0 = spec->window_x > 0 ? spec->window_x : 0;
	int64_t y0 = spec->window_y > 0 ? spec->window_y : 0;
	int64_t x1 = (int64_t)spec->window_x + spec->window_w;
	int64_t y1 = (int64_t)spec->window_y + spec->window_h;

	if (x1 > spec->resize_w)
		x1 = spec->resize_w;
	if (y1 > spec->resize_h)
		y1 = spec->resize_h;
	memset(inner, 0, sizeof(*inner));
	if (x0 >= x1 || y0 >= y1)
		return;
	inner->x = (uint32_t)x0;
	inner->y = (uint32_t)y0;
	inner->w = (uint32_t)(x1 - x0);
	inner->h = (uint32_t)(y1 - y0);
	inner->dst_x = (uint32_t)(x0 - spec->window_x);
	inner->dst_y = (uint32_t)(y0 - spec->window_y);
	if (spec->has_flip)
		inner->dst_x = spec->window_w - inner->dst_x - inner->w;
}

/* Where element 0 of @line of tensor row @y, column @x stands */
static uint8_t *tensor_at(const struct dlb_resampler *rs, uint32_t line,
			  uint32_t y, uint32_t x)
{
	const struct dlb_resample_spec *spec = &rs->spec;
	size_t bytes = dlb_dtype_bytes(rs->cast.cast.dtype);
	size_t pixel = (size_t)y * spec->window_w + x;

	if (rs->lines.is_packed)
		return (uint8_t *)spec->dst + 3 * pixel * bytes;
	pixel += (size_t)line * spec->window_w * spec->window_h;
	return (uint8_t *)spec->dst + pixel * bytes;
}

/* A batch of tensors this large is in memory before it is read */
#define STREAMING_BYTES (128u << 10)

static bool fills_cache_lines(const struct dlb_resampler *rs)
{
	size_t bytes = dlb_dtype_bytes(rs->cast.cast.dtype);
	size_t row = rs->spec.window_w * bytes * (rs->lines.is_packed ? 3 : 1);
	size_t tensor = 3 * bytes * rs->spec.window_w * rs->spec.window_h;

	return tensor >= STREAMING_BYTES && rs->inner.w == rs->spec.window_w &&
	       row % 64 == 0 && (uintptr_t)rs->spec.dst % 64 == 0;
}

#define FILL_PIXELS 64u

/* @n pixels of the tensor row @y from column @x on become the fill value */
static void fill_pixels(struct dlb_resampler *rs, uint32_t y, uint32_t x,
			uint32_t n)
{
	uint8_t values[3 * FILL_PIXELS];
	size_t per_pixel = rs->lines.is_packed ? 3 : 1;

	memset(values, rs->spec.fill, sizeof(values));
	for (uint32_t line = 0; line < dlb_lines_nr(&rs->lines); line++)
		for (uint32_t at = 0; at < n; at += FILL_PIXELS) {
			uint32_t left = n - at;

			if (left > FILL_PIXELS)
				left = FILL_PIXELS;
			dlb_cast_by_table(&rs->cast, line, values,
					  (uint32_t)(left * per_pixel),
					  tensor_at(rs, line, y, x + at));
		}
}

static void fill_around(struct dlb_resampler *rs)
{
	const struct dlb_resample_spec *spec = &rs->spec;
	const struct dlb_inner *inner = &rs->inner;
	uint32_t right = inner->dst_x + inner->w;

	if (inner->w == spec->window_w && inner->h == spec->window_h)
		return;
	for (uint32_t y = 0; y < spec->window_h; y++) {
		if (y < inner->dst_y || y - inner->dst_y >= inner->h) {
			fill_pixels(rs, y, 0, spec->window_w);
			continue;
		}
		fill_pixels(rs, y, 0, inner->dst_x);
		fill_pixels(rs, y, right, spec->window_w - right);
	}
}

static void shape_lines(struct dlb_resampler *rs)
{
	struct dlb_lines *lines = &rs->lines;
	uint32_t width = rs->inner.w;

	lines->width = width;
	lines->stride_bytes = (uint32_t)round_up(width, DLB_BLOCK_PIXELS);
	/* As much as interleaved lines need, and a vector beyond */
	lines->row_bytes = 3 * lines->stride_bytes + 64;
	lines->is_packed = rs->cast.cast.layout == DLBOOST_LAYOUT_HWC;
	lines->is_bgr = rs->cast.cast.is_bgr;
}

static int alloc_rows(struct dlb_resampler *rs, struct dlb_arena *arena)
{
	size_t in_bytes = round_up((size_t)(rs->h.x1 - rs->h.x0) *
				   DLB_PIXEL_BYTES, 64) + 2 * 64;
	size_t out_bytes = round_up(rs->inner.w, DLB_BLOCK_PIXELS) *
			   DLB_PIXEL_BYTES + 64;
	size_t nr_taps = round_up(rs->v.max_taps, 4);

	rs->ring_row_bytes = rs->spec.is_vertical_first ?
			     in_bytes : rs->lines.row_bytes;
	rs->ring = dlb_arena_alloc(arena, rs->v.ring_rows * rs->ring_row_bytes,
				   64);
	rs->taps = dlb_arena_alloc(arena, nr_taps * sizeof(*rs->taps), 64);
	rs->line_row = dlb_arena_alloc(arena, rs->lines.row_bytes, 64);
	rs->out_pixels = dlb_arena_alloc(arena, out_bytes, 64);
	rs->in_pixels = dlb_arena_alloc(arena, in_bytes, 64);
	if (!rs->ring || !rs->taps || !rs->line_row || !rs->out_pixels ||
	    !rs->in_pixels)
		return -ENOMEM;
	/* Kernels work on whole blocks: what lies past the end is any value */
	memset(rs->in_pixels, 0, in_bytes);
	memset(rs->out_pixels, 0, out_bytes);
	return 0;
}

int dlb_resample_begin(struct dlb_resampler *rs, struct dlb_arena *arena,
		       const struct dlb_resample_spec *spec,
		       struct dlb_extent *need)
{
	int ret;

	rs->spec = *spec;
	rs->kernels = dlb_kernels_get();
	if (!rs->cast.is_ready || !is_same_cast(&rs->cast.cast, spec->cast))
		dlb_cast_plan_make(&rs->cast, spec->cast);
	clip_window(spec, &rs->inner);
	shape_lines(rs);
	fill_around(rs);
	memset(need, 0, sizeof(*need));
	rs->next_out = 0;
	if (!rs->inner.w) {
		rs->inner.h = 0;
		return 0;
	}

	ret = dlb_hpass_plan(&rs->h, rs->kernels, rs->cache, arena, spec,
			     &rs->inner);
	if (!ret)
		ret = dlb_vpass_plan(&rs->v, rs->kernels, rs->cache, arena,
				     spec, &rs->inner);
	if (!ret)
		ret = alloc_rows(rs, arena);
	if (ret)
		return ret;
	rs->next_in = rs->v.y0;
	rs->ring_slot = 0;
	rs->is_streaming = fills_cache_lines(rs);
	need->x0 = rs->h.x0;
	need->x1 = rs->h.x1;
	need->y0 = rs->v.y0;
	need->y1 = rs->v.y1;
	return 0;
}

static void pick_pixels(const struct dlb_resampler *rs, const uint8_t *row)
{
	const uint32_t *index = rs->h.index;
	uint8_t *out = rs->out_pixels;

	if (!index) {
		memcpy(out, row, (size_t)rs->inner.w * DLB_PIXEL_BYTES);
		return;
	}
	for (uint32_t i = 0; i < rs->inner.w; i++)
		memcpy(out + (size_t)i * DLB_PIXEL_BYTES,
		       row + (size_t)index[i] * DLB_PIXEL_BYTES,
		       DLB_PIXEL_BYTES);
}

/* Input pixels, column h.x0 first, to a row of lines */
static void make_lines(struct dlb_resampler *rs, const uint8_t *row,
		       uint8_t *out)
{
	uint32_t in_px = rs->h.x1 - rs->h.x0;

	if (!rs->h.packed) {
		pick_pixels(rs, row);
		rs->kernels->hcopy(&rs->lines, rs->out_pixels, out);
		return;
	}
	if (in_px < DLB_MIN_ROW_PIXELS && row != rs->in_pixels) {
		memcpy(rs->in_pixels, row, (size_t)in_px * DLB_PIXEL_BYTES);
		row = rs->in_pixels;
	}
	rs->kernels->hrow(rs->h.packed, &rs->lines, row, out, rs->out_pixels);
}

static void write_row(struct dlb_resampler *rs, const uint8_t *const *rows,
		      const void *weights, uint32_t nr_taps)
{
	uint32_t y = rs->inner.dst_y + rs->next_out;
	struct dlb_vjob job = {
		.lines = &rs->lines,
		.rows = rows,
		.weights = weights,
		.nr_taps = nr_taps,
		.has_clamp = rs->v.has_clamp,
		.is_streaming = rs->is_streaming,
		.cast = &rs->cast,
	};

	for (uint32_t line = 0; line < dlb_lines_nr(&rs->lines); line++)
		job.dst[line] = tensor_at(rs, line, y, rs->inner.dst_x);
	rs->kernels->vrow(&job);
	rs->next_out++;
}

static void collect_taps(struct dlb_resampler *rs, uint32_t first,
			 uint32_t nr_taps)
{
	uint32_t slot = (first - rs->v.y0) % rs->v.ring_rows, k;

	for (k = 0; k < nr_taps; k++) {
		rs->taps[k] = rs->ring + slot * rs->ring_row_bytes;
		slot = slot + 1 == rs->v.ring_rows ? 0 : slot + 1;
	}
	for (; k & 3; k++)
		rs->taps[k] = rs->taps[0];
}

static void emit_row(struct dlb_resampler *rs)
{
	uint32_t nr_taps = rs->v.count[rs->next_out];
	const uint8_t *weights = rs->v.packed +
				 (size_t)rs->next_out * rs->v.packed_bytes;
	const uint8_t *line_row = rs->line_row;

	collect_taps(rs, rs->v.first[rs->next_out], nr_taps);
	if (!rs->spec.is_vertical_first) {
		write_row(rs, rs->taps, weights, nr_taps);
		return;
	}
	rs->kernels->vbytes(rs->taps, weights, nr_taps,
			    (rs->h.x1 - rs->h.x0) * DLB_PIXEL_BYTES,
			    rs->in_pixels);
	make_lines(rs, rs->in_pixels, rs->line_row);
	write_row(rs, &line_row, NULL, 0);
}

/* No vertical weights: row @y goes to every output that names it */
static void push_direct(struct dlb_resampler *rs, const uint8_t *row,
			uint32_t y)
{
	const uint8_t *line_row = rs->line_row;
	bool is_made = false;

	while (rs->next_out < rs->inner.h &&
	       rs->v.first[rs->next_out] == y) {
		if (!is_made)
			make_lines(rs, row, rs->line_row);
		is_made = true;
		write_row(rs, &line_row, NULL, 0);
	}
}

static void push_row(struct dlb_resampler *rs, const uint8_t *row, uint32_t y)
{
	uint8_t *slot = rs->ring + rs->ring_slot * rs->ring_row_bytes;
	const struct dlb_vpass *v = &rs->v;

	if (rs->spec.is_vertical_first)
		memcpy(slot, row, (size_t)(rs->h.x1 - rs->h.x0) *
				  DLB_PIXEL_BYTES);
	else
		make_lines(rs, row, slot);
	rs->ring_slot = rs->ring_slot + 1 == v->ring_rows ? 0 :
							    rs->ring_slot + 1;
	while (rs->next_out < rs->inner.h &&
	       v->first[rs->next_out] + v->count[rs->next_out] <= y + 1)
		emit_row(rs);
}

void dlb_resample_push(struct dlb_resampler *rs, const uint8_t *const *rows,
		       uint32_t nr_rows)
{
	for (uint32_t i = 0; i < nr_rows && rs->next_out < rs->inner.h; i++) {
		if (rs->v.count)
			push_row(rs, rows[i], rs->next_in);
		else
			push_direct(rs, rows[i], rs->next_in);
		rs->next_in++;
	}
}

void dlb_resample_end(struct dlb_resampler *rs)
{
	/* Rows were written as soon as their last input was there */
	rs->kernels->finish();
}
