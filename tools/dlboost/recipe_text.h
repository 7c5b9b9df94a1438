/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and changing a recipe through its canonical text. */
#ifndef DLBOOST_TOOL_RECIPE_TEXT_H
#define DLBOOST_TOOL_RECIPE_TEXT_H

#include "tool.h"

#define RECIPE_TEXT_BYTES 1024

/* Parse, or say why not; the exit code, TOOL_DONE on success */
int recipe_open(const struct context *ctx, const char *spec,
		struct dlboost_recipe **out);
/* Value of @key in the canonical form; false when the recipe has no such key */
bool recipe_value(const struct dlboost_recipe *recipe, const char *key,
		  char *buf, size_t bytes);
/*
 * The same geometry as pixels to look at: u8, rows of RGB.  malloc'ed by the
 * library; NULL and a message on failure.
 */
struct dlboost_recipe *recipe_as_picture(const struct dlboost_recipe *recipe);

/* Mean and standard deviation, 0 and 1 where the recipe has none */
struct recipe_cast {
	float mean[3];
	float std[3];
	bool is_bgr;
};
void recipe_cast_read(const struct dlboost_recipe *recipe,
		      struct recipe_cast *out);
/*
 * One sample of a batch back to bytes, rows of RGB: what a person would see.
 * @rgb has room for width x height x 3.
 */
void recipe_sample_to_rgb(const struct dlboost_tensor_spec *spec,
			  const struct recipe_cast *cast, const void *sample,
			  uint8_t *rgb);
/* float of one f16 or bf16 */
float float_from_f16(uint16_t bits);
float float_from_bf16(uint16_t bits);

#endif /* DLBOOST_TOOL_RECIPE_TEXT_H */
