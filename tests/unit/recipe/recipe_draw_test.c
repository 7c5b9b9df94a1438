// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/order.rst, "Draws": crops lie in the picture,
 * their distribution is the published one, the flip has its probability,
 * windows stand where torchvision puts them.  Single crops are compared with an
 * independent script by tests/golden/order_reference.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include <dlboost/recipe.h>

#include "image/draw.h"

static struct dlboost_geometry draw(const char *spec, uint32_t width,
				    uint32_t height, uint64_t sample_id)
{
	struct dlboost_geometry geometry;
	struct dlboost_recipe *recipe;

	assert_int_equal(dlboost_recipe_parse(spec, NULL, 0, &recipe), 0);
	assert_int_equal(dlboost_recipe_draw(recipe, width, height, 1, 2,
					     sample_id, &geometry), 0);
	dlboost_recipe_destroy(recipe);
	return geometry;
}

static void sizes_out_of_range_are_refused(void **state)
{
	struct dlboost_geometry out = { .crop_x = 77 };
	struct dlboost_recipe *recipe;

	(void)state;
	assert_int_equal(dlboost_recipe_parse("none", NULL, 0, &recipe), 0);
	assert_int_equal(dlboost_recipe_draw(recipe, 0, 1, 0, 0, 0, &out),
			 -EINVAL);
	assert_int_equal(dlboost_recipe_draw(recipe, 1, 0, 0, 0, 0, &out),
			 -EINVAL);
	assert_int_equal(dlboost_recipe_draw(recipe, 65536, 1, 0, 0, 0, &out),
			 -EINVAL);
	assert_int_equal(dlboost_recipe_draw(recipe, 1, 65536, 0, 0, 0, &out),
			 -EINVAL);
	assert_int_equal(out.crop_x, 77);
	assert_int_equal(dlboost_recipe_draw(recipe, 65535, 1, 0, 0, 0, &out),
			 0);
	dlboost_recipe_destroy(recipe);
}

static void crops_lie_in_the_picture(void **state)
{
	static const char *const specs[] = {
		"imagenet-train", "imagenet-train:area=0/0.001,ratio=0.001/1000",
		"imagenet-eval", "cifar-train", "cifar-train:size=99,pad=3",
		"cifar-eval", "none",
	};

	(void)state;
	srand48(3);
	for (uint64_t i = 0; i < 20000; i++) {
		const char *spec = specs[i % 7];
		uint32_t w = 1 + (uint32_t)(exp(drand48() * 11.09) - 1);
		uint32_t h = 1 + (uint32_t)(exp(drand48() * 11.09) - 1);
		uint32_t pad = strstr(spec, "pad=3") ? 6 :
			       strstr(spec, "cifar-train") ? 8 : 0;
		struct dlboost_geometry g = draw(spec, w, h, i);

		assert_true(g.crop_w >= 1 && g.crop_h >= 1);
		assert_true((uint64_t)g.crop_x + g.crop_w <= w + pad);
		assert_true((uint64_t)g.crop_y + g.crop_h <= h + pad);
		assert_true(g.resize_w >= 1 && g.resize_h >= 1);
		assert_true(g.window_w >= 1 && g.window_h >= 1);
		assert_true(g.flip <= 1);
	}
}

/* Means over uniform area share and log-uniform ratio, five deviations wide */
static void random_resized_crops_are_spread_as_published(void **state)
{
	double area = 0, log_ratio = 0, x = 0;
	struct dlboost_recipe *recipe;
	uint32_t flips = 0, nr = 100000;

	(void)state;
	assert_int_equal(dlboost_recipe_parse("imagenet-train:area=0.08/0.5",
					      NULL, 0, &recipe), 0);
	for (uint32_t i = 0; i < nr; i++) {
		struct dlboost_geometry g;

		dlboost_recipe_draw(recipe, 1000, 1000, 42, 0, i, &g);
		area += g.crop_w * (double)g.crop_h / 1e6;
		log_ratio += log(g.crop_w / (double)g.crop_h);
		if (g.crop_w < 1000)
			x += (g.crop_x + 0.5) / (1000 - g.crop_w + 1);
		flips += g.flip;
	}
	dlboost_recipe_destroy(recipe);
	/* Deviations of one draw: .42, .5754 and 1 over sqrt(12), and .5 */
	assert_true(fabs(area / nr - 0.29) < 5 * 0.1213 / sqrt(nr));
	assert_true(fabs(log_ratio / nr) < 5 * 0.1662 / sqrt(nr));
	assert_true(fabs(x / nr - 0.5) < 5 * 0.2887 / sqrt(nr));
	assert_true(fabs(flips / (double)nr - 0.5) < 5 * 0.5 / sqrt(nr));
}

static void flip_has_its_probability(void **state)
{
	static const char *const specs[] = {
		"cifar-train:flip=0", "cifar-train:flip=0.1",
		"cifar-train:flip=0.9", "cifar-train:flip=1",
	};
	static const double p[] = { 0, 0.1, 0.9, 1 };

	(void)state;
	for (int k = 0; k < 4; k++) {
		uint32_t flips = 0;

		for (uint32_t i = 0; i < 10000; i++)
			flips += draw(specs[k], 32, 32, i).flip;
		assert_true(fabs(flips - 10000 * p[k]) <=
			    5 * sqrt(10000 * p[k] * (1 - p[k])));
	}
	assert_int_equal(draw("imagenet-eval", 32, 32, 0).flip, 0);
}

static void padded_crop_takes_every_place(void **state)
{
	uint32_t seen[9][9] = { { 0 } };
	double chi2 = 0;

	(void)state;
	for (uint32_t i = 0; i < 81000; i++) {
		struct dlboost_geometry g = draw("cifar-train", 32, 32, i);

		seen[g.crop_y][g.crop_x]++;
		assert_int_equal(g.crop_w, 32);
		assert_int_equal(g.window_x, 0);
	}
	for (int i = 0; i < 81; i++) {
		double off = seen[i / 9][i % 9] - 1000.0;

		chi2 += off * off / 1000.0;
	}
	/* 80 degrees of freedom, deviation 12.6 */
	assert_true(chi2 > 80 - 50 && chi2 < 80 + 63);
}

/* Values from torchvision's resize() and center_crop() */
static void windows_stand_as_in_torchvision(void **state)
{
	static const struct {
		const char *spec;
		uint32_t w, h, resize_w, resize_h;
		int32_t x, y;
	} known[] = {
		{ "imagenet-eval", 500, 375, 341, 256, 58, 16 },
		{ "imagenet-eval", 375, 500, 256, 341, 16, 58 },
		{ "imagenet-eval", 256, 256, 256, 256, 16, 16 },
		{ "imagenet-eval", 100, 333, 256, 852, 16, 314 },
		{ "imagenet-eval:resize=225", 10, 10, 225, 225, 0, 0 },
		{ "imagenet-eval:resize=227", 10, 10, 227, 227, 2, 2 },
		{ "imagenet-eval:size=300", 500, 375, 341, 256, 20, -22 },
		{ "imagenet-eval:size=301", 375, 500, 256, 341, -22, 20 },
		{ "imagenet-eval:size=1,resize=65500", 1, 65535, 65500,
		  4292542500u, 32750, 2146271250 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct dlboost_geometry g = draw(known[i].spec, known[i].w,
						 known[i].h, i);

		assert_int_equal(g.crop_w, known[i].w);
		assert_int_equal(g.crop_h, known[i].h);
		assert_int_equal(g.resize_w, known[i].resize_w);
		assert_int_equal(g.resize_h, known[i].resize_h);
		assert_int_equal(g.window_x, known[i].x);
		assert_int_equal(g.window_y, known[i].y);
	}
}

/* Two units in the last place; torch rounds both to float32 */
static void log_and_exp_are_accurate(void **state)
{
	(void)state;
	srand48(5);
	for (int i = 0; i < 200000; i++) {
		double x = drand48() * 14 - 7;
		float r = (float)exp(x), e = (float)x;

		assert_true((float)dlb_draw_exp(e) == (float)exp(e));
		assert_true((float)dlb_draw_log(r) == (float)log(r));
		assert_true(fabs(dlb_draw_exp(x) / exp(x) - 1) < 4.5e-16);
		assert_true(fabs(dlb_draw_log(r) - log(r)) <=
			    4.5e-16 * fabs(log(r)));
	}
	assert_true(dlb_draw_log(1.0f) == 0.0);
	assert_true(dlb_draw_exp(0.0) == 1.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_out_of_range_are_refused),
		cmocka_unit_test(crops_lie_in_the_picture),
		cmocka_unit_test(random_resized_crops_are_spread_as_published),
		cmocka_unit_test(flip_has_its_probability),
		cmocka_unit_test(padded_crop_takes_every_place),
		cmocka_unit_test(windows_stand_as_in_torchvision),
		cmocka_unit_test(log_and_exp_are_accurate),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
