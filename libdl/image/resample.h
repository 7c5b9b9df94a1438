/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Resize, window, flip, cast and layout, streaming: rows of the cropped
 * picture go in from top to bottom, the tensor comes out.  Knows nothing of
 * JPEG.  Results are defined by Documentation/pixels.rst ("Resize", "Cast").
 */
#ifndef DLB_IMAGE_RESAMPLE_H
#define DLB_IMAGE_RESAMPLE_H

#include "arena.h"
#include "coeffs.h"
#include "recipe.h"

/* Input pixels are R, G, B, (ignored): four bytes each */
#define DLB_PIXEL_BYTES 4

/**
 * struct dlb_resample_spec - One picture's resampling
 * @in_w: width of the picture that is resized (the source crop), pixels
 * @in_h: height of it
 * @box: part of it that is resized, x0, y0, x1, y1; exact: 0, 0, in_w, in_h;
 *	after a scaled IDCT the borders are fractional
 * @resize_w: width it is resized to
 * @resize_h: height it is resized to
 * @window_x: left edge of the window; what lies outside the resized picture
 *	becomes @fill
 * @window_y: top edge of the window
 * @window_w: width of the window
 * @window_h: height of the window
 * @has_flip: mirror the window left to right
 * @fill: value outside the picture, before the cast
 * @filter: enum dlboost_filter
 * @is_vertical_first: order of the passes; dlb_resample_vertical_first()
 * @cast: cast and layout; outlives the picture
 * @dst: the tensor, any alignment
 */
struct dlb_resample_spec {
	uint32_t in_w, in_h;
	double box[4];
	uint32_t resize_w, resize_h;
	int32_t window_x, window_y;
	uint32_t window_w, window_h;
	bool has_flip;
	uint8_t fill;
	uint32_t filter;
	bool is_vertical_first;
	const struct dlb_cast *cast;
	void *dst;
};

/* Rows and columns of the input that have any influence: [x0, x1) x [y0, y1) */
struct dlb_extent {
	uint32_t x0, y0, x1, y1;
};

struct dlb_resampler;

/* One per worker; @cache is the worker's table cache */
int dlb_resampler_create(struct dlb_coeff_cache *cache,
			 struct dlb_resampler **out);
void dlb_resampler_destroy(struct dlb_resampler *rs);

/*
 * Start a picture.  Memory for it comes from @arena and lives until the
 * picture's end.  0, or -ENOMEM when @arena is at its cap.  @need receives what
 * of the input must be pushed (empty when the window misses the picture).
 */
int dlb_resample_begin(struct dlb_resampler *rs, struct dlb_arena *arena,
		       const struct dlb_resample_spec *spec,
		       struct dlb_extent *need);
/*
 * Push @nr_rows rows, the next ones from need.y0 on.  @rows[i] points at the
 * pixel of column need.x0; rows are read up to column need.x1 (and may be read,
 * not used, up to 64 bytes past it: the caller allots that much).
 */
void dlb_resample_push(struct dlb_resampler *rs, const uint8_t *const *rows,
		       uint32_t nr_rows);
/* All rows were pushed: writes what is left */
void dlb_resample_end(struct dlb_resampler *rs);

/* Pillow >= 12: vertical pass first for very tall pictures that shrink */
static inline bool dlb_resample_vertical_first(uint32_t in_w, uint32_t in_h,
					       uint32_t out_h)
{
	return in_h > 100 * (uint64_t)in_w && out_h < in_h;
}

/* "avx512", "avx2", "sse4.1", "neon" or "c": what this machine runs */
const char *dlb_resample_simd_name(void);
/*
 * Choose by name (tests, DLBOOST_SIMD in the environment); -EINVAL for a name
 * this machine cannot run
 */
int dlb_resample_simd_set(const char *name);

#endif /* DLB_IMAGE_RESAMPLE_H */
