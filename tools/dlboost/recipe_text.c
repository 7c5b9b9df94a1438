// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recipes as the command needs them beyond the library's calls: a value out of
 * the canonical text, the same recipe with bytes for pixels, and a tensor back
 * to a picture.  The canonical form lists every key (pixels.rst, "Recipes"),
 * which is what makes this sound.
 */
#include "recipe_text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "options.h"

int recipe_open(const struct context *ctx, const char *spec,
		struct dlboost_recipe **out)
{
	char error[DLBOOST_ERROR_BYTES] = "";
	int ret = dlboost_recipe_parse(spec, error, sizeof(error), out);

	if (!ret)
		return TOOL_DONE;
	msg_error("%s", error[0] ? error : strerror(-ret));
	return ret == -EINVAL ? TOOL_USAGE : TOOL_FAILED;
}

/* "key=value" of @key inside the canonical text; NULL when there is none */
static const char *find_item(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (text = strchr(text, ':'); text; text = strchr(text + 1, ','))
		if (!strncmp(text + 1, key, len) && text[1 + len] == '=')
			return text + 1;
	return NULL;
}

bool recipe_value(const struct dlboost_recipe *recipe, const char *key,
		  char *buf, size_t bytes)
{
	const char *item = find_item(dlboost_recipe_canonical(recipe), key);

	if (!item)
		return false;
	item = strchr(item, '=') + 1;
	snprintf(buf, bytes, "%.*s", (int)strcspn(item, ","), item);
	return true;
}

/* Values that make bytes to look at of any recipe */
static const char *picture_value(const char *item)
{
	static const char *const values[] = {
		"dtype=u8", "layout=hwc", "order=rgb", "scale=div", "mean=none",
		"std=none",
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		size_t len = strcspn(values[i], "=") + 1;

		if (!strncmp(values[i], item, len))
			return values[i];
	}
	return NULL;
}

struct dlboost_recipe *recipe_as_picture(const struct dlboost_recipe *recipe)
{
	const char *text = dlboost_recipe_canonical(recipe);
	size_t at = strcspn(text, ":");
	struct dlboost_recipe *out = NULL;
	char spec[RECIPE_TEXT_BYTES], error[DLBOOST_ERROR_BYTES] = "";
	char separator = ':';

	snprintf(spec, sizeof(spec), "%.*s", (int)at, text);
	for (text += at; *text; text += strcspn(text, ",")) {
		const char *value = picture_value(++text);

		at += (size_t)snprintf(spec + at, sizeof(spec) - at, "%c%.*s",
				       separator,
				       value ? (int)strlen(value) :
					       (int)strcspn(text, ","),
				       value ? value : text);
		separator = ',';
		if (at >= sizeof(spec))
			break;
	}
	if (dlboost_recipe_parse(spec, error, sizeof(error), &out))
		msg_error("%s", error);
	return out;
}

static bool read_colour(const struct dlboost_recipe *recipe, const char *key,
			float out[3])
{
	char value[96], *p = value;

	if (!recipe_value(recipe, key, value, sizeof(value)))
		return false;
	for (int c = 0; c < 3; c++) {
		char *end;

		out[c] = strtof(p, &end);
		if (end == p)
			return false;
		p = end + (*end == '/');
	}
	return true;
}

void recipe_cast_read(const struct dlboost_recipe *recipe,
		      struct recipe_cast *out)
{
	char order[16] = "";

	if (!read_colour(recipe, "mean", out->mean) ||
	    !read_colour(recipe, "std", out->std)) {
		memset(out->mean, 0, sizeof(out->mean));
		for (int c = 0; c < 3; c++)
			out->std[c] = 1;
	}
	recipe_value(recipe, "order", order, sizeof(order));
	out->is_bgr = !strcmp(order, "bgr");
}

float float_from_bf16(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof(value));
	return value;
}

float float_from_f16(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	float mantissa = (float)(bits & 0x3ff);
	float value;

	if (exponent == 31)
		value = mantissa != 0.0f ? NAN : INFINITY;
	else if (exponent)
		value = ldexpf(1024 + mantissa, exponent - 25);
	else
		value = ldexpf(mantissa, -24);
	return bits & 0x8000 ? -value : value;
}

static float element(const struct dlboost_tensor_spec *spec, const void *sample,
		     size_t idx)
{
	float value;
	uint16_t half;

	switch (spec->dtype) {
	case DLBOOST_DTYPE_F32:
		memcpy(&value, (const uint8_t *)sample + 4 * idx, 4);
		return value;
	case DLBOOST_DTYPE_F16:
	case DLBOOST_DTYPE_BF16:
		memcpy(&half, (const uint8_t *)sample + 2 * idx, 2);
		return spec->dtype == DLBOOST_DTYPE_F16 ? float_from_f16(half) :
							  float_from_bf16(half);
	default:
		return (float)((const uint8_t *)sample)[idx];
	}
}

static uint8_t to_byte(float value)
{
	return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + 0.5f);
}

void recipe_sample_to_rgb(const struct dlboost_tensor_spec *spec,
			  const struct recipe_cast *cast, const void *sample,
			  uint8_t *rgb)
{
	size_t nr_pixels = (size_t)spec->width * spec->height;
	bool is_chw = spec->layout == DLBOOST_LAYOUT_CHW;

	for (size_t i = 0; i < nr_pixels; i++) {
		for (size_t c = 0; c < 3; c++) {
			size_t plane = cast->is_bgr ? 2 - c : c;
			size_t idx = is_chw ? plane * nr_pixels + i :
					      i * 3 + plane;
			float value = element(spec, sample, idx);

			if (spec->dtype != DLBOOST_DTYPE_U8)
				value = (value * cast->std[c] + cast->mean[c]) *
					255;
			rgb[i * 3 + c] = to_byte(value);
		}
	}
}
