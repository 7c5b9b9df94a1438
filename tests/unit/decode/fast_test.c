// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (Documentation/pixels.rst, "Profile fast"): the picture is decoded
 * at N/8, N the smallest of 1, 2 and 4 that keeps 1.25 samples for each output
 * sample on both axes, else at full size; the result stays near that of exact,
 * at every orientation and for crops at every edge; nothing outside the tensor
 * is written; the class of a file is the same.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode_util.h"
#include "image/plan.h"

#define OUT 64
#define BYTES (OUT * OUT * 3)

static struct dlboost_decoder *decoder;

static int setup(void **state)
{
	return dlboost_decoder_create(NULL, &decoder);
}

static int teardown(void **state)
{
	dlboost_decoder_destroy(decoder);
	return 0;
}

static uint32_t scale_for(uint32_t crop_w, uint32_t crop_h, uint32_t out,
			  uint32_t profile)
{
	struct dlboost_image_info info = {
		.type = DLBOOST_IMAGE_JPEG, .width = 4000, .height = 3000,
		.orientation = 1,
	};
	struct dlboost_recipe recipe = recipe_none();
	struct dlboost_geometry g = crop_geometry(0, 0, crop_w, crop_h);
	struct dlb_plan plan;

	g.resize_w = g.resize_h = g.window_w = g.window_h = out;
	assert_int_equal(dlb_plan_init(&plan, &info, &recipe, profile, &g), 0);
	return plan.scale_num;
}

/* 224 x 1.25 = 280; x 2, x 4, x 8 */
static void smallest_scale_that_suffices(void **state)
{
	assert_int_equal(scale_for(559, 2000, 224, DLBOOST_PROFILE_FAST), 8);
	assert_int_equal(scale_for(560, 2000, 224, DLBOOST_PROFILE_FAST), 4);
	assert_int_equal(scale_for(2000, 560, 224, DLBOOST_PROFILE_FAST), 4);
	assert_int_equal(scale_for(1119, 1120, 224, DLBOOST_PROFILE_FAST), 4);
	assert_int_equal(scale_for(1120, 1120, 224, DLBOOST_PROFILE_FAST), 2);
	assert_int_equal(scale_for(2239, 2240, 224, DLBOOST_PROFILE_FAST), 2);
	assert_int_equal(scale_for(2240, 2240, 224, DLBOOST_PROFILE_FAST), 1);
	assert_int_equal(scale_for(2240, 2240, 224, DLBOOST_PROFILE_EXACT), 8);
}

/* The box covers what the crop covers: exact in the scaled grid */
static void box_of_a_scaled_crop(void **state)
{
	struct dlboost_image_info info = {
		.type = DLBOOST_IMAGE_JPEG, .width = 1001, .height = 999,
		.orientation = 3,
	};
	struct dlboost_recipe recipe = recipe_none();
	struct dlboost_geometry g = crop_geometry(3, 5, 900, 901);
	struct dlb_plan plan;

	g.resize_w = g.resize_h = g.window_w = g.window_h = 100;
	assert_int_equal(dlb_plan_init(&plan, &info, &recipe,
				       DLBOOST_PROFILE_FAST, &g), 0);
	assert_int_equal(plan.scale_num, 2);
	assert_int_equal(plan.stored_w, 251);	/* 250.25 */
	assert_int_equal(plan.stored_h, 250);	/* 249.75 */
	/* x: 0.75 .. 225.75; y: 1.25 .. 226.5 */
	assert_int_equal(plan.crop_x, 0);
	assert_int_equal(plan.spec.in_w, 226);
	assert_true(plan.spec.box[0] == 0.75 && plan.spec.box[2] == 225.75);
	assert_int_equal(plan.crop_y, 1);
	assert_int_equal(plan.spec.in_h, 226);
	assert_true(plan.spec.box[1] == 0.25 && plan.spec.box[3] == 225.5);
	/* Turned by 180 degrees the scaled picture's surplus comes first */
	recipe.has_exif = true;
	assert_int_equal(dlb_plan_init(&plan, &info, &recipe,
				       DLBOOST_PROFILE_FAST, &g), 0);
	/* x: + 0.75, y: + 0.25 */
	assert_int_equal(plan.crop_x, 1);
	assert_true(plan.spec.box[0] == 0.5 && plan.spec.box[2] == 225.5);
	assert_int_equal(plan.crop_y, 1);
	assert_true(plan.spec.box[1] == 0.5 && plan.spec.box[3] == 225.75);
}

static void decode(const struct blob *file, const struct dlboost_recipe *recipe,
		   enum dlboost_profile profile,
		   const struct dlboost_geometry *g, uint8_t *out)
{
	uint8_t *tensor = malloc(BYTES + 64);
	struct dlboost_result r;

	memset(tensor, 0xa5, BYTES + 64);
	assert_int_equal(dlboost_decode(decoder, file->bytes, file->len, recipe,
					profile, g, tensor, BYTES, &r), 0);
	assert_int_equal(r.status, DLBOOST_STATUS_OK);
	for (int i = 0; i < 64; i++)
		assert_int_equal(tensor[BYTES + i], 0xa5);
	memcpy(out, tensor, BYTES);
	free(tensor);
}

static double psnr(const uint8_t *a, const uint8_t *b)
{
	double sum = 0;

	for (int i = 0; i < BYTES; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum > 0 ? 10 * log10(255.0 * 255.0 * BYTES / sum) : 99;
}

static void check_near(const struct make *how, uint32_t orientation,
		       uint64_t *rng)
{
	uint32_t up_w = orientation > 4 ? how->height : how->width;
	uint32_t up_h = orientation > 4 ? how->width : how->height;
	struct dlboost_recipe recipe = recipe_none();
	struct blob plain = make_jpeg(how);
	struct blob file = with_orientation(&plain, (uint8_t)orientation, true);
	static uint8_t exact[BYTES], fast[BYTES];

	recipe.has_exif = true;
	for (int i = 0; i < 8; i++) {
		uint32_t w = OUT + rng_below(rng, up_w - OUT + 1);
		uint32_t h = OUT + rng_below(rng, up_h - OUT + 1);
		struct dlboost_geometry g =
			crop_geometry(rng_below(rng, up_w - w + 1),
				      rng_below(rng, up_h - h + 1), w, h);
		double db;

		if (i % 4 == 0)
			g.crop_x = i % 8 ? up_w - w : 0;
		if (i % 4 == 1)
			g.crop_y = i % 8 == 1 ? up_h - h : 0;
		g.resize_w = g.resize_h = g.window_w = g.window_h = OUT;
		decode(&file, &recipe, DLBOOST_PROFILE_EXACT, &g, exact);
		decode(&file, &recipe, DLBOOST_PROFILE_FAST, &g, fast);
		db = psnr(exact, fast);
		if (db < 30)
			fail_msg("%ux%u coding %d sampling %02x orientation %u: crop %u,%u %ux%u: %.1f dB",
				 how->width, how->height, how->coding,
				 how->sampling[0], orientation, g.crop_x,
				 g.crop_y, w, h, db);
	}
	free(file.bytes);
	free(plain.bytes);
}

static void near_exact(void **state)
{
	static const uint8_t luma[] = { 0x11, 0x21, 0x12, 0x22, 0x41 };
	uint64_t rng = 4;

	for (size_t s = 0; s < sizeof(luma); s++) {
		for (int coding = 0; coding < NR_CODINGS; coding++) {
			struct make how = {
				.width = 601, .height = 597, .quality = 95,
				.sampling = { luma[s], 0x11, 0x11 },
				.coding = (enum coding)coding,
				.is_smooth = true, .seed = s,
			};

			check_near(&how, 1, &rng);
		}
	}
}

/* A scaled grid turned the wrong way would be off by far more than this */
static void every_orientation(void **state)
{
	uint64_t rng = 6;

	for (uint32_t orientation = 1; orientation <= 8; orientation++) {
		struct make how = {
			.width = 605, .height = 515, .quality = 97,
			.is_smooth = true, .seed = orientation,
		};

		check_near(&how, orientation, &rng);
	}
}

static void every_colour_form(void **state)
{
	static const struct make forms[] = {
		{ .components = 1 },
		{ .components = 3, .space = JCS_RGB },
		{ .components = 4, .space = JCS_CMYK },
		{ .components = 4, .space = JCS_YCCK,
		  .sampling = { 0x22, 0x11, 0x11, 0x22 } },
	};
	uint64_t rng = 5;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct make how = forms[i];

		how.width = 530;
		how.height = 610;
		how.quality = 95;
		how.is_smooth = true;
		check_near(&how, 1, &rng);
	}
}

/* Rows in pairs by merged upsampling: every height, start and end */
static void odd_sizes(void **state)
{
	static uint8_t exact[BYTES], fast[BYTES];
	struct dlboost_recipe recipe = recipe_none();

	for (uint32_t side = 66; side < 90; side++) {
		struct make how = {
			.width = side, .height = side + 1, .quality = 95,
			.sampling = { side & 1 ? 0x22 : 0x21, 0x11, 0x11 },
			.is_smooth = true,
		};
		struct blob file = make_jpeg(&how);

		for (uint32_t y = 0; y + OUT <= how.height; y++) {
			struct dlboost_geometry g =
				crop_geometry(side - OUT, y, OUT, OUT);

			decode(&file, &recipe, DLBOOST_PROFILE_EXACT, &g,
			       exact);
			decode(&file, &recipe, DLBOOST_PROFILE_FAST, &g, fast);
			assert_true(psnr(exact, fast) > 32);
		}
		free(file.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smallest_scale_that_suffices),
		cmocka_unit_test(box_of_a_scaled_crop),
		cmocka_unit_test(near_exact),
		cmocka_unit_test(every_orientation),
		cmocka_unit_test(every_colour_form),
		cmocka_unit_test(odd_sizes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
