// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Any bytes through probe and decoder, both profiles, a recipe of many steps
 * and crops from the input: no crash, no write outside the tensor (it is as
 * long as its bytes), a class that does not depend on the crop, and the same
 * answer twice.
 *
 * Input: 12 bytes of choices, then the file.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dlboost/dlboost.h>

#define NR_CHOICES 12
#define MAX_PIXELS (1u << 18)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct dlboost_decoder *decoder;
static struct dlboost_recipe *recipes[4];

static void prepare(void)
{
	static const char *const specs[4] = {
		"none:orient=exif", "none",
		"imagenet-train:size=32,orient=exif",
		"cifar-train:size=16,pad=9,dtype=f16,fill=3",
	};
	struct dlboost_decoder_attr attr = DLBOOST_DECODER_ATTR_INIT;

	if (decoder)
		return;
	attr.limits.max_pixels = MAX_PIXELS;
	attr.limits.max_scans = 20;
	attr.limits.scratch_bytes = 1 << 20;
	attr.limits.big_scratch_bytes = 4 << 20;
	for (int i = 0; i < 4; i++)
		if (dlboost_recipe_parse(specs[i], NULL, 0, &recipes[i]))
			abort();
	if (dlboost_decoder_create(&attr, &decoder))
		abort();
}

static void upright(const struct dlboost_image_info *info, uint32_t choice,
		    uint32_t *w, uint32_t *h)
{
	bool is_swapped = (choice == 0 || choice == 2) && info->orientation > 4;

	*w = is_swapped ? info->height : info->width;
	*h = is_swapped ? info->width : info->height;
}

static unsigned int decode(const uint8_t *choices, const uint8_t *file,
			   size_t len, uint32_t sample)
{
	uint32_t recipe = choices[0] & 3, profile = choices[0] >> 2 & 1;
	struct dlboost_image_info info;
	struct dlboost_tensor_spec spec;
	struct dlboost_geometry g;
	struct dlboost_result r;
	size_t bytes;
	uint8_t *tensor;
	uint32_t w, h;

	if (dlboost_probe(file, len, NULL, &info, &r))
		return r.status;
	upright(&info, recipe, &w, &h);
	if (w > 65500 || h > 65500 ||
	    dlboost_recipe_draw(recipes[recipe], w, h, choices[1], 0, sample,
				&g))
		return DLBOOST_NR_STATUS;
	if (recipe < 2) {
		g.crop_x = choices[2] * w / 256;
		g.crop_y = choices[3] * h / 256;
		g.crop_w = 1 + choices[4] * (w - g.crop_x - 1) / 255;
		g.crop_h = 1 + choices[5] * (h - g.crop_y - 1) / 255;
		g.resize_w = choices[6] & 1 ? g.crop_w : 1 + choices[6] / 2u;
		g.resize_h = choices[7] & 1 ? g.crop_h : 1 + choices[7] / 2u;
		g.window_x = (int8_t)choices[8] + (int32_t)sample;
		g.window_y = (int8_t)choices[9];
		g.window_w = 1 + choices[10] / 2u;
		g.window_h = 1 + choices[11] / 2u;
	}
	dlboost_recipe_tensor(recipes[recipe], &spec);
	bytes = (size_t)g.window_w * g.window_h * 3 * spec.element_bytes;
	tensor = malloc(bytes);
	if (dlboost_decode(decoder, file, len, recipes[recipe],
			   (enum dlboost_profile)profile, &g, tensor, bytes,
			   &r))
		abort();
	if (r.status >= DLBOOST_NR_STATUS ||
	    (r.status && (!r.message[0] || r.written_bytes)) ||
	    (!r.status && r.written_bytes != bytes))
		abort();
	free(tensor);
	return r.status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned int status;

	prepare();
	if (len < NR_CHOICES)
		return 0;
	status = decode(data, data + NR_CHOICES, len - NR_CHOICES, 0);
	/* A lane may be too small for one crop and large enough for another */
	for (uint32_t sample = 0; sample < 2; sample++) {
		unsigned int again = decode(data, data + NR_CHOICES,
					    len - NR_CHOICES, sample);

		if (again != status && again != DLBOOST_STATUS_TOO_LARGE &&
		    status != DLBOOST_STATUS_TOO_LARGE)
			abort();
	}
	return 0;
}
