/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The parsed recipe, as the stages of libdl/image read it.  Immutable after
 * dlboost_recipe_parse(); only recipe.c writes it.
 */
#ifndef DLB_IMAGE_RECIPE_H
#define DLB_IMAGE_RECIPE_H

#include <dlboost/recipe.h>

#include <stdbool.h>

/* libjpeg's own limit; a tensor or a shorter side is not larger */
#define DLB_RECIPE_MAX_SIDE	65500
#define DLB_RECIPE_MAX_PAD	1024
/* Pictures that a draw takes */
#define DLB_RECIPE_MAX_PICTURE	65535

/**
 * enum dlb_geometry_rule - How the per-sample geometry follows from the picture
 * @DLB_GEOMETRY_WHOLE: all of it, no resize; window of the recipe's size at
 *	the top left corner when a size is given
 * @DLB_GEOMETRY_RANDOM_RESIZED_CROP: F11 of the pixel rules
 * @DLB_GEOMETRY_SHORT_SIDE_CENTER: shorter side to @resize_short, window of
 *	the recipe's size in the centre
 * @DLB_GEOMETRY_PAD_RANDOM_CROP: pad, then a crop of the recipe's size at a
 *	random place
 */
enum dlb_geometry_rule {
	DLB_GEOMETRY_WHOLE,
	DLB_GEOMETRY_RANDOM_RESIZED_CROP,
	DLB_GEOMETRY_SHORT_SIDE_CENTER,
	DLB_GEOMETRY_PAD_RANDOM_CROP,
};

/**
 * struct dlb_cast - The last two steps: cast and layout
 * @dtype: a value of enum dlboost_dtype
 * @layout: a value of enum dlboost_layout
 * @is_bgr: true for BGR channel order; @mean and @std stay in R, G, B order
 * @has_scale_mul: true: x * float32(1/255) instead of x / 255
 * @has_normalise: false leaves x / 255 as it is (mean 0, std 1)
 * @mean: mean of R, G, B
 * @std: standard deviation of R, G, B
 */
struct dlb_cast {
	uint32_t dtype;
	uint32_t layout;
	bool is_bgr;
	bool has_scale_mul;
	bool has_normalise;
	float mean[3];
	float std[3];
};

struct dlboost_recipe {
	char name[32];
	enum dlb_geometry_rule rule;
	uint32_t width;		/* of the tensor; 0: follows the picture */
	uint32_t height;
	uint32_t resize_short;		/* SHORT_SIDE_CENTER */
	double area_min, area_max;	/* share of the picture's area */
	double ratio_min, ratio_max;	/* width / height */
	float log_ratio_min, log_ratio_max;	/* of the float32 ratios */
	uint32_t pad;			/* pixels on each side */
	uint8_t fill;		/* value of what is padded, all channels */
	uint32_t filter;		/* enum dlboost_filter */
	double flip;			/* probability of a mirror image */
	bool has_exif;			/* orient=exif */
	struct dlb_cast cast;
	char canonical[512];
};

#endif /* DLB_IMAGE_RECIPE_H */
