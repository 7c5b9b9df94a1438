/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Recipes: what is done to a picture between its bytes and the tensor.
 * Documentation/pixels.rst defines every step to the bit.
 */
#ifndef DLBOOST_RECIPE_H
#define DLBOOST_RECIPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct dlboost_recipe - A parsed recipe; opaque, immutable, reference-free
 *
 * Created by dlboost_recipe_parse(), destroyed by dlboost_recipe_destroy().
 * Any number of threads may use one recipe at the same time.
 *
 * Since: 0.1
 */
struct dlboost_recipe;

/**
 * enum dlboost_profile - How exact the pixels are
 * @DLBOOST_PROFILE_EXACT: bit for bit Pillow's and torchvision's
 * @DLBOOST_PROFILE_FAST: may use scaled IDCT and merged upsampling; bound by
 *	Documentation/pixels.rst, "Profile fast"
 *
 * Since: 0.1
 */
enum dlboost_profile {
	DLBOOST_PROFILE_EXACT = 0,
	DLBOOST_PROFILE_FAST = 1,
};

/**
 * enum dlboost_dtype - Element type of the tensor
 * @DLBOOST_DTYPE_U8: unsigned bytes, 0..255, not normalised
 * @DLBOOST_DTYPE_F16: IEEE half, rounded to nearest even from the float32
 * @DLBOOST_DTYPE_BF16: bfloat16, rounded to nearest even from the float32
 * @DLBOOST_DTYPE_F32: IEEE single
 *
 * Since: 0.1
 */
enum dlboost_dtype {
	DLBOOST_DTYPE_U8 = 0,
	DLBOOST_DTYPE_F16 = 1,
	DLBOOST_DTYPE_BF16 = 2,
	DLBOOST_DTYPE_F32 = 3,
};

/**
 * enum dlboost_layout - Order of the tensor's axes inside a sample
 * @DLBOOST_LAYOUT_HWC: row, column, channel
 * @DLBOOST_LAYOUT_CHW: channel, row, column
 *
 * Since: 0.1
 */
enum dlboost_layout {
	DLBOOST_LAYOUT_HWC = 0,
	DLBOOST_LAYOUT_CHW = 1,
};

/**
 * enum dlboost_filter - Resampling filter, names and supports as Pillow's
 * @DLBOOST_FILTER_NEAREST: one input pixel, no antialiasing
 * @DLBOOST_FILTER_BOX: support 0.5
 * @DLBOOST_FILTER_BILINEAR: support 1, triangle
 * @DLBOOST_FILTER_HAMMING: support 1, windowed sine
 * @DLBOOST_FILTER_BICUBIC: support 2, a = -0.5
 * @DLBOOST_FILTER_LANCZOS: support 3
 *
 * Since: 0.1
 */
enum dlboost_filter {
	DLBOOST_FILTER_NEAREST = 0,
	DLBOOST_FILTER_BOX = 1,
	DLBOOST_FILTER_BILINEAR = 2,
	DLBOOST_FILTER_HAMMING = 3,
	DLBOOST_FILTER_BICUBIC = 4,
	DLBOOST_FILTER_LANCZOS = 5,
};

/**
 * struct dlboost_geometry - The per-sample part of a recipe
 * @crop_x: left edge of the source crop, pixels of the padded, upright picture
 * @crop_y: top edge of the source crop
 * @crop_w: width of the source crop, > 0
 * @crop_h: height of the source crop, > 0
 * @resize_w: width the crop is resized to; equal to @crop_w for no resize
 * @resize_h: height the crop is resized to
 * @window_x: left edge of the window in the resized picture; may be negative
 *	or reach past the picture: what lies outside is the recipe's fill value
 * @window_y: top edge of the window
 * @window_w: width of the window = width of the tensor
 * @window_h: height of the window = height of the tensor
 * @flip: 1 mirrors the window left to right, 0 does not
 *
 * Since: 0.1
 */
struct dlboost_geometry {
	uint32_t crop_x;
	uint32_t crop_y;
	uint32_t crop_w;
	uint32_t crop_h;
	uint32_t resize_w;
	uint32_t resize_h;
	int32_t window_x;
	int32_t window_y;
	uint32_t window_w;
	uint32_t window_h;
	uint32_t flip;
};

/**
 * struct dlboost_tensor_spec - Shape and type of one sample of a recipe
 * @dtype: a value of enum dlboost_dtype
 * @layout: a value of enum dlboost_layout
 * @width: pixels; 0 when it follows the picture (recipes without a size)
 * @height: pixels; 0 likewise
 * @channels: always 3
 * @element_bytes: bytes of one element
 * @sample_bytes: bytes of one sample, 0 when @width is 0
 *
 * Since: 0.1
 */
struct dlboost_tensor_spec {
	uint32_t dtype;
	uint32_t layout;
	uint32_t width;
	uint32_t height;
	uint32_t channels;
	uint32_t element_bytes;
	size_t sample_bytes;
};

/**
 * dlboost_recipe_parse() - Turn "NAME[:key=value,...]" into a recipe
 * @spec: text, e.g. "imagenet-train:size=160,filter=bicubic,dtype=f16"
 * @error: receives one sentence that names the key and the remedy; may be NULL
 * @error_bytes: size of @error
 * @out: receives the recipe; destroy with dlboost_recipe_destroy()
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0		- success
 * * %-EINVAL	- unknown recipe or key, or a value out of range
 * * %-ENOMEM	- out of memory
 */
int dlboost_recipe_parse(const char *spec, char *error, size_t error_bytes,
			 struct dlboost_recipe **out);

/**
 * dlboost_recipe_destroy() - Free a recipe
 * @recipe: from dlboost_recipe_parse(), or NULL
 *
 * Since: 0.1
 */
void dlboost_recipe_destroy(struct dlboost_recipe *recipe);

/**
 * dlboost_recipe_canonical() - The canonical form: every key, fixed order
 * @recipe: the recipe
 *
 * Two recipes with equal canonical forms give equal pixels.
 *
 * Since: 0.1
 *
 * Return: text owned by @recipe.
 */
const char *dlboost_recipe_canonical(const struct dlboost_recipe *recipe);

/**
 * dlboost_recipe_tensor() - Shape and type of a sample
 * @recipe: the recipe
 * @out: receives them
 *
 * Since: 0.1
 */
void dlboost_recipe_tensor(const struct dlboost_recipe *recipe,
			   struct dlboost_tensor_spec *out);

/**
 * dlboost_recipe_name() - Enumerate the built-in recipes
 * @idx: 0, 1, ...
 * @description: receives a static sentence; may be NULL
 *
 * Since: 0.1
 *
 * Return: static name, or NULL past the last one.
 */
const char *dlboost_recipe_name(unsigned int idx, const char **description);

/**
 * dlboost_recipe_draw() - Geometry of one sample, random draws included
 * @recipe: the recipe
 * @width: width of the picture, pixels (upright when orient=exif)
 * @height: height of the picture
 * @augment_seed: key of the draws
 * @epoch: epoch, from 0
 * @sample_id: sample number in the data set
 * @out: receives the geometry
 *
 * A pure function of its arguments, equal on every machine and compiler:
 * Documentation/order.rst, "Draws".
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return:
 * * %0		- success
 * * %-EINVAL	- @width or @height is 0 or above 65535
 */
int dlboost_recipe_draw(const struct dlboost_recipe *recipe, uint32_t width,
			uint32_t height, uint64_t augment_seed, uint32_t epoch,
			uint64_t sample_id, struct dlboost_geometry *out);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_RECIPE_H */
