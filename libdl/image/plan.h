/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * What one picture's geometry asks of the decoder: which rectangle of the
 * stored picture, at which scale, and how its pixels lie in the upright,
 * padded crop.  Pure arithmetic.
 */
#ifndef DLB_IMAGE_PLAN_H
#define DLB_IMAGE_PLAN_H

#include <dlboost/image.h>

#include "resample.h"

/* Half-open: [x0, x1) x [y0, y1) */
struct dlb_rect {
	uint32_t x0, y0, x1, y1;
};

/**
 * struct dlb_plan - How one picture is decoded
 * @scale_num: the decoder gives the picture at scale_num / 8; 8 for full size
 * @stored_w: width the decoder gives, pixels
 * @stored_h: height
 * @is_swapped: upright columns are stored rows
 * @is_x_mirrored: stored columns run from right to left
 * @is_y_mirrored: stored rows run from bottom to top
 * @crop_x: left edge of the resampler's input, upright pixels at the decoder's
 *	scale; negative inside the padding
 * @crop_y: top edge
 * @spec: for dlb_resample_begin(), all but @dst
 * @rect: needed part of the stored picture; empty when only padding is needed
 * @fill_left: columns of padding left of the picture's pixels
 * @fill_right: columns right of them
 * @fill_top: rows of padding above
 * @fill_bottom: rows below
 *
 * The last five are known after dlb_plan_need().
 */
struct dlb_plan {
	uint32_t scale_num;
	uint32_t stored_w, stored_h;
	bool is_swapped, is_x_mirrored, is_y_mirrored;
	int64_t crop_x, crop_y;
	struct dlb_resample_spec spec;
	struct dlb_rect rect;
	uint32_t fill_left, fill_right, fill_top, fill_bottom;
};

/* Size of the picture as the recipe sees it: upright if it asks for that */
void dlb_plan_upright(const struct dlboost_image_info *info,
		      const struct dlboost_recipe *recipe, uint32_t *width,
		      uint32_t *height);
/* 0, or -EINVAL when @geometry does not fit the picture */
int dlb_plan_init(struct dlb_plan *plan, const struct dlboost_image_info *info,
		  const struct dlboost_recipe *recipe, uint32_t profile,
		  const struct dlboost_geometry *geometry);
/* Take the part of the crop that the resampler asked for */
void dlb_plan_need(struct dlb_plan *plan, const struct dlb_extent *need);

#endif /* DLB_IMAGE_PLAN_H */
