// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What can be tested without a table: pictures whose pixels are known because
 * they are computed here (PNG is lossless), arithmetic that a few lines can
 * repeat, and two JPEGs with the hashes of Pillow's pixels.
 */
#include "selftest.h"

#include <string.h>

#include "builtin.h"
#include "canvas.h"

#define WIDTH 61
#define HEIGHT 47

static void pattern_fill(uint8_t *rgb)
{
	for (unsigned int y = 0; y < HEIGHT; y++)
		for (unsigned int x = 0; x < WIDTH; x++, rgb += 3) {
			rgb[0] = (uint8_t)(x * 4);
			rgb[1] = (uint8_t)(y * 5);
			rgb[2] = (uint8_t)(x * y);
		}
}

static const struct dlboost_geometry whole = {
	.crop_w = WIDTH, .crop_h = HEIGHT, .resize_w = WIDTH,
	.resize_h = HEIGHT, .window_w = WIDTH, .window_h = HEIGHT,
};

static void test_crop(struct selftest *t, struct selftest_case *c,
		      const uint8_t *rgb)
{
	static const struct dlboost_geometry crop = {
		.crop_x = 7, .crop_y = 5, .crop_w = 40, .crop_h = 30,
		.resize_w = 40, .resize_h = 30, .window_x = 3, .window_y = 2,
		.window_w = 20, .window_h = 11, .flip = 1,
	};
	uint8_t expected[20 * 11 * 3];

	for (unsigned int y = 0; y < 11; y++)
		for (unsigned int x = 0; x < 20; x++)
			memcpy(expected + (y * 20 + x) * 3, rgb +
			       ((y + 5 + 2) * WIDTH + 7 + 3 + 19 - x) * 3, 3);
	c->what = "built in: crop, window, flip";
	c->geometry = &crop;
	c->expected = expected;
	c->expected_bytes = sizeof(expected);
	selftest_run_case(t, c);
}

/* Three rounded operations; volatile keeps a compiler from contracting them */
static float cast_one(uint8_t value, float mean, float std)
{
	volatile float x = (float)value / 255.0f;

	x = x - mean;
	x = x / std;
	return x;
}

static void test_cast(struct selftest *t, struct selftest_case *c,
		      const uint8_t *rgb)
{
	static const float mean[3] = { 0.485f, 0.456f, 0.406f };
	static const float std[3] = { 0.229f, 0.224f, 0.225f };
	float expected[3 * WIDTH * HEIGHT];

	for (size_t i = 0; i < WIDTH * HEIGHT; i++)
		for (size_t k = 0; k < 3; k++)
			expected[k * WIDTH * HEIGHT + i] =
				cast_one(rgb[3 * i + k], mean[k], std[k]);
	c->what = "built in: cast to f32, CHW";
	c->recipe = "none:dtype=f32,layout=chw,mean=0.485/0.456/0.406,"
		    "std=0.229/0.224/0.225";
	c->geometry = &whole;
	c->expected = expected;
	c->expected_bytes = sizeof(expected);
	selftest_run_case(t, c);
}

/* Whatever the filter, a picture of one colour stays what it is */
static void test_filters(struct selftest *t)
{
	static const char *const recipes[] = {
		"none:filter=nearest", "none:filter=box",
		"none:filter=bilinear", "none:filter=hamming",
		"none:filter=bicubic", "none:filter=lanczos",
	};
	struct dlboost_geometry geometry = whole;
	uint8_t rgb[WIDTH * HEIGHT * 3], *png = NULL;
	struct selftest_case c = { .expected = rgb };
	size_t nr_bytes = 0;

	for (size_t i = 0; i < WIDTH * HEIGHT; i++)
		memcpy(rgb + 3 * i, (uint8_t[]){ 17, 130, 251 }, 3);
	if (png_encode_rgb(WIDTH, HEIGHT, rgb, &png, &nr_bytes))
		return;
	geometry.resize_w = geometry.window_w = 19;
	geometry.resize_h = geometry.window_h = 33;
	c.bytes = png;
	c.nr_bytes = nr_bytes;
	c.geometry = &geometry;
	c.expected_bytes = 19 * 33 * 3;
	for (size_t i = 0; i < ARRAY_SIZE(recipes); i++) {
		c.recipe = recipes[i];
		c.what = recipes[i];
		selftest_run_case(t, &c);
	}
	free(png);
}

static void test_pattern(struct selftest *t)
{
	uint8_t rgb[WIDTH * HEIGHT * 3], *png = NULL;
	struct selftest_case c = {
		.what = "built in: PNG", .recipe = "none", .geometry = &whole,
		.expected = rgb, .expected_bytes = sizeof(rgb),
	};

	pattern_fill(rgb);
	if (png_encode_rgb(WIDTH, HEIGHT, rgb, &png, &c.nr_bytes)) {
		selftest_fail(t, c.what, "the picture could not be made");
		return;
	}
	c.bytes = png;
	selftest_run_case(t, &c);
	test_crop(t, &c, rgb);
	test_cast(t, &c, rgb);
	free(png);
}

void selftest_builtin(struct selftest *t)
{
	test_pattern(t);
	test_filters(t);
	for (size_t i = 0; i < builtin_nr_cases; i++) {
		const struct builtin_case *b = &builtin_cases[i];
		struct selftest_case c = {
			.what = b->name, .bytes = b->bytes,
			.nr_bytes = b->nr_bytes, .recipe = b->recipe,
			.geometry = &b->geometry, .sha256 = b->sha256,
		};

		selftest_run_case(t, &c);
	}
}
