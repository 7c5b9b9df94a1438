// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * From geometry to rectangles.  Three systems of coordinates meet here: the
 * geometry's (padded, upright, full size), the resampler's (the crop) and the
 * decoder's (stored, perhaps scaled).  Pure functions, no state, no lock.
 *
 * Documentation/pixels.rst, "Orientation", "Pad" and "Profile fast".
 */
#include "plan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Larger tensors are mistakes, and 32-bit sums of sides stay in range */
#define PLAN_MAX_SIDE 65535u

/* A scaled decode keeps at least this many samples for each output sample */
#define FAST_MIN_RATIO 1.25

void dlb_plan_upright(const struct dlboost_image_info *info,
		      const struct dlboost_recipe *recipe, uint32_t *width,
		      uint32_t *height)
{
	bool is_swapped = recipe->has_exif && info->orientation >= 5;

	*width = is_swapped ? info->height : info->width;
	*height = is_swapped ? info->width : info->height;
}

static bool side_fits(uint32_t start, uint32_t len, uint32_t side, uint32_t pad)
{
	uint64_t padded = (uint64_t)side + 2 * (uint64_t)pad;

	return len && start < padded && len <= padded - start;
}

static bool len_fits(uint32_t len)
{
	return len >= 1 && len <= PLAN_MAX_SIDE;
}

static bool geometry_fits(const struct dlboost_geometry *g, uint32_t width,
			  uint32_t height, uint32_t pad)
{
	return side_fits(g->crop_x, g->crop_w, width, pad) &&
	       side_fits(g->crop_y, g->crop_h, height, pad) &&
	       len_fits(g->resize_w) && len_fits(g->resize_h) &&
	       len_fits(g->window_w) && len_fits(g->window_h) && g->flip <= 1;
}

static uint32_t scaled_side(uint32_t side, uint32_t scale_num)
{
	return (uint32_t)(((uint64_t)side * scale_num + 7) / 8);
}

static bool scale_suffices(uint32_t len, uint32_t scale_num, uint32_t out)
{
	return (double)len * scale_num / 8 >= FAST_MIN_RATIO * out;
}

/* Profile fast: N of N/8; 1, 2 and 4 are the sizes with SIMD */
static uint32_t plan_scale(const struct dlboost_image_info *info,
			   const struct dlboost_geometry *g, uint32_t pad)
{
	if (info->type != DLBOOST_IMAGE_JPEG || pad)
		return 8;
	for (uint32_t n = 1; n <= 4; n *= 2)
		if (scale_suffices(g->crop_w, n, g->resize_w) &&
		    scale_suffices(g->crop_h, n, g->resize_h))
			return n;
	return 8;
}

struct axis_crop {
	int64_t origin;
	uint32_t in;
	double box[2];
};

/*
 * One axis of the crop at the decoder's scale.  A mirrored axis starts at the
 * stored side's end, which the scaled picture rounds up.
 */
static struct axis_crop scale_axis(uint32_t scale_num, uint32_t side,
				   bool is_mirrored, uint32_t start,
				   uint32_t len)
{
	uint32_t scaled = scaled_side(side, scale_num);
	double exact = (double)side * scale_num / 8;
	double shift = is_mirrored ? scaled - exact : 0;
	double first = (double)start * scale_num / 8 + shift;
	double last = first + (double)len * scale_num / 8;
	struct axis_crop axis = { .origin = (int64_t)floor(first) };

	axis.in = (uint32_t)((int64_t)fmin(ceil(last), scaled) - axis.origin);
	axis.box[0] = first - (double)axis.origin;
	axis.box[1] = fmin(last - (double)axis.origin, axis.in);
	return axis;
}

static void plan_crop(struct dlb_plan *plan, uint32_t pad,
		      const struct dlboost_geometry *g)
{
	struct dlb_resample_spec *spec = &plan->spec;

	plan->crop_x = (int64_t)g->crop_x - pad;
	plan->crop_y = (int64_t)g->crop_y - pad;
	spec->in_w = g->crop_w;
	spec->in_h = g->crop_h;
	spec->box[2] = g->crop_w;
	spec->box[3] = g->crop_h;
}

static void plan_scaled_crop(struct dlb_plan *plan, uint32_t width,
			     uint32_t height, const struct dlboost_geometry *g)
{
	struct dlb_resample_spec *spec = &plan->spec;
	bool u_mirrored = plan->is_swapped ? plan->is_y_mirrored :
					     plan->is_x_mirrored;
	bool v_mirrored = plan->is_swapped ? plan->is_x_mirrored :
					     plan->is_y_mirrored;
	struct axis_crop x = scale_axis(plan->scale_num, width, u_mirrored,
					g->crop_x, g->crop_w);
	struct axis_crop y = scale_axis(plan->scale_num, height, v_mirrored,
					g->crop_y, g->crop_h);

	plan->crop_x = x.origin;
	plan->crop_y = y.origin;
	spec->in_w = x.in;
	spec->in_h = y.in;
	spec->box[0] = x.box[0];
	spec->box[1] = y.box[0];
	spec->box[2] = x.box[1];
	spec->box[3] = y.box[1];
}

static void plan_orient(struct dlb_plan *plan, uint32_t orientation)
{
	/* EXIF 1..8: bit 0 swapped, bit 1 x mirrored, bit 2 y mirrored */
	static const uint8_t bits[9] = { 0, 0, 2, 6, 4, 1, 5, 7, 3 };
	uint8_t b = orientation <= 8 ? bits[orientation] : 0;

	plan->is_swapped = b & 1;
	plan->is_x_mirrored = b & 2;
	plan->is_y_mirrored = b & 4;
}

int dlb_plan_init(struct dlb_plan *plan, const struct dlboost_image_info *info,
		  const struct dlboost_recipe *recipe, uint32_t profile,
		  const struct dlboost_geometry *g)
{
	struct dlb_resample_spec *spec = &plan->spec;
	uint32_t width, height;

	memset(plan, 0, sizeof(*plan));
	if (recipe->has_exif)
		plan_orient(plan, info->orientation);
	dlb_plan_upright(info, recipe, &width, &height);
	if (!geometry_fits(g, width, height, recipe->pad))
		return -EINVAL;
	plan->scale_num = profile == DLBOOST_PROFILE_FAST ?
			  plan_scale(info, g, recipe->pad) : 8;
	plan->stored_w = scaled_side(info->width, plan->scale_num);
	plan->stored_h = scaled_side(info->height, plan->scale_num);
	if (plan->scale_num == 8)
		plan_crop(plan, recipe->pad, g);
	else
		plan_scaled_crop(plan, width, height, g);
	spec->resize_w = g->resize_w;
	spec->resize_h = g->resize_h;
	spec->window_x = g->window_x;
	spec->window_y = g->window_y;
	spec->window_w = g->window_w;
	spec->window_h = g->window_h;
	spec->has_flip = g->flip;
	spec->fill = recipe->fill;
	spec->filter = recipe->filter;
	spec->is_vertical_first = dlb_resample_vertical_first(spec->in_w,
							      spec->in_h,
							      spec->resize_h);
	spec->cast = &recipe->cast;
	return 0;
}

struct axis_need {
	uint32_t before, start, end, behind;
};

/* [first, last) of an upright axis: padding before, pixels, padding behind */
static struct axis_need need_axis(int64_t first, int64_t last, uint32_t side)
{
	int64_t lo = first < 0 ? 0 : first;
	int64_t hi = last > (int64_t)side ? (int64_t)side : last;

	if (lo >= hi)
		return (struct axis_need){ .before = (uint32_t)(last - first) };
	return (struct axis_need){
		.before = (uint32_t)(lo - first),
		.start = (uint32_t)lo,
		.end = (uint32_t)hi,
		.behind = (uint32_t)(last - hi),
	};
}

static void mirror(uint32_t side, uint32_t *start, uint32_t *end)
{
	uint32_t s = *start;

	*start = side - *end;
	*end = side - s;
}

void dlb_plan_need(struct dlb_plan *plan, const struct dlb_extent *need)
{
	uint32_t up_w = plan->is_swapped ? plan->stored_h : plan->stored_w;
	uint32_t up_h = plan->is_swapped ? plan->stored_w : plan->stored_h;
	struct axis_need u = need_axis(plan->crop_x + need->x0,
				       plan->crop_x + need->x1, up_w);
	struct axis_need v = need_axis(plan->crop_y + need->y0,
				       plan->crop_y + need->y1, up_h);
	struct dlb_rect *r = &plan->rect;

	*r = (struct dlb_rect){ 0 };
	if (u.start == u.end || v.start == v.end) {
		/* Padding alone: the whole need is rows of it */
		plan->fill_left = need->x1 - need->x0;
		plan->fill_top = need->y1 - need->y0;
		plan->fill_right = plan->fill_bottom = 0;
		return;
	}
	plan->fill_left = u.before;
	plan->fill_right = u.behind;
	plan->fill_top = v.before;
	plan->fill_bottom = v.behind;
	*r = plan->is_swapped ?
	     (struct dlb_rect){ v.start, u.start, v.end, u.end } :
	     (struct dlb_rect){ u.start, v.start, u.end, v.end };
	if (plan->is_x_mirrored)
		mirror(plan->stored_w, &r->x0, &r->x1);
	if (plan->is_y_mirrored)
		mirror(plan->stored_h, &r->y0, &r->y1);
}
