// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (Documentation/pixels.rst, "Decode" and "Partial decoding"):
 * a crop has the pixels of the full decode, for every sampling, coding and
 * colour form, at every edge, in pictures of every size from 1 x 1 on; so has
 * a window of the crop; incomplete progressive files are marked DEGRADED and
 * still obey; nothing outside the tensor is written.
 *
 * Reference: libjpeg used plainly (decode_util.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode_util.h"

#define GUARD_BYTES 64
#define MAX_SIDE 160

static struct dlboost_decoder *decoder;
static struct dlboost_recipe recipe;
static uint8_t tensor[MAX_SIDE * MAX_SIDE * 3 + 2 * GUARD_BYTES];

static int setup(void **state)
{
	recipe = recipe_none();
	return dlboost_decoder_create(NULL, &decoder);
}

static int teardown(void **state)
{
	dlboost_decoder_destroy(decoder);
	return 0;
}

static void assert_guards(size_t bytes)
{
	for (size_t i = 0; i < GUARD_BYTES; i++) {
		assert_int_equal(tensor[i], 0xa5);
		assert_int_equal(tensor[GUARD_BYTES + bytes + i], 0xa5);
	}
}

static struct dlboost_result decode(const struct blob *file,
				    const struct dlboost_geometry *g)
{
	struct dlboost_result result;
	size_t bytes = (size_t)g->window_w * g->window_h * 3;

	memset(tensor, 0xa5, sizeof(tensor));
	assert_int_equal(dlboost_decode(decoder, file->bytes, file->len,
					&recipe, DLBOOST_PROFILE_EXACT, g,
					tensor + GUARD_BYTES, bytes, &result),
			 0);
	assert_guards(bytes);
	return result;
}

/* Rows of @o from (x, y) against the tensor's window */
static bool is_same(const struct opinion *o, const struct dlboost_geometry *g)
{
	const uint8_t *out = tensor + GUARD_BYTES;
	uint32_t x = g->crop_x + (uint32_t)g->window_x;

	for (uint32_t row = 0; row < g->window_h; row++) {
		uint32_t y = g->crop_y + (uint32_t)g->window_y + row;
		const uint8_t *want = o->rgb + ((size_t)y * o->width + x) * 3;

		if (memcmp(out, want, (size_t)g->window_w * 3))
			return false;
		out += (size_t)g->window_w * 3;
	}
	return true;
}

/* One span of an axis: single pixels, edges and the whole often */
static void span(uint64_t *rng, uint32_t side, uint32_t *start, uint32_t *len)
{
	switch (rng_below(rng, 8)) {
	case 0:
		*len = 1;
		break;
	case 1:
		*len = side;
		break;
	case 2:
		*len = 1 + rng_below(rng, side < 8 ? side : 8);
		break;
	default:
		*len = 1 + rng_below(rng, side);
	}
	switch (rng_below(rng, 4)) {
	case 0:
		*start = 0;
		break;
	case 1:
		*start = side - *len;
		break;
	default:
		*start = rng_below(rng, side - *len + 1);
	}
}

static struct dlboost_geometry random_crop(uint64_t *rng,
					   const struct opinion *o)
{
	uint32_t x, y, w, h, start, len;
	struct dlboost_geometry g;

	span(rng, o->width, &x, &w);
	span(rng, o->height, &y, &h);
	g = crop_geometry(x, y, w, h);
	if (rng_below(rng, 3) == 0) {
		span(rng, w, &start, &len);
		g.window_x = (int32_t)start;
		g.window_w = len;
		span(rng, h, &start, &len);
		g.window_y = (int32_t)start;
		g.window_h = len;
	}
	return g;
}

static void check_file(const struct make *how, unsigned int nr_crops,
		       uint32_t flags)
{
	struct blob file = make_jpeg(how);
	struct opinion o = plain_decode(file.bytes, file.len);
	uint64_t rng = how->seed * 977 + how->width;

	assert_int_equal(o.status, DLBOOST_STATUS_OK);
	for (unsigned int i = 0; i < nr_crops; i++) {
		struct dlboost_geometry g = random_crop(&rng, &o);
		struct dlboost_result result = decode(&file, &g);

		if (result.status || !is_same(&o, &g))
			fail_msg("%ux%u sampling %02x,%02x,%02x coding %d restart %d: crop %u,%u %ux%u window %d,%d %ux%u: %s",
				 how->width, how->height, how->sampling[0],
				 how->sampling[1], how->sampling[2],
				 how->coding, how->restart, g.crop_x, g.crop_y,
				 g.crop_w, g.crop_h, g.window_x, g.window_y,
				 g.window_w, g.window_h, result.message);
		assert_int_equal(result.flags, flags);
	}
	free(o.rgb);
	free(file.bytes);
}

static const uint8_t luma[] = {
	0x11, 0x21, 0x12, 0x22, 0x41, 0x14, 0x42, 0x24, 0x31, 0x13,
};

static void every_sampling_and_coding(void **state)
{
	for (size_t s = 0; s < sizeof(luma); s++) {
		for (int coding = 0; coding < NR_CODINGS; coding++) {
			struct make how = {
				.width = 97, .height = 75,
				.sampling = { luma[s], 0x11, 0x11 },
				.coding = (enum coding)coding,
				.seed = s * NR_CODINGS + (uint64_t)coding,
			};

			check_file(&how, 40, 0);
			how.width = 64;
			how.height = 48;
			how.restart = 2;
			check_file(&how, 20, 0);
		}
	}
}

static void odd_chroma_samplings(void **state)
{
	static const uint8_t odd[][3] = {
		{ 0x22, 0x21, 0x11 }, { 0x41, 0x21, 0x22 }, { 0x22, 0x22, 0x22 },
		{ 0x11, 0x21, 0x11 }, { 0x12, 0x11, 0x12 }, { 0x22, 0x12, 0x21 },
		{ 0x11, 0x11, 0x22 }, { 0x42, 0x22, 0x21 },
	};

	for (size_t s = 0; s < sizeof(odd) / sizeof(odd[0]); s++) {
		struct make how = { .width = 101, .height = 66, .seed = s };

		memcpy(how.sampling, odd[s], 3);
		how.coding = s == 3 || s == 5 ? CODING_PROGRESSIVE :
						CODING_SEPARATE_SCANS;
		check_file(&how, 60, 0);
	}
}

static void tiny_pictures(void **state)
{
	for (uint32_t w = 1; w <= 5; w++) {
		for (uint32_t h = 1; h <= 5; h++) {
			for (size_t s = 0; s < sizeof(luma); s++) {
				struct make how = {
					.width = w, .height = h,
					.sampling = { luma[s], 0x11, 0x11 },
					.coding = (enum coding)((w + h + s) %
								NR_CODINGS),
					.seed = s,
				};

				check_file(&how, 4, 0);
			}
		}
	}
}

/* One and two MCU columns and a bit: what a margin may not miss */
static void narrow_pictures(void **state)
{
	for (uint32_t w = 15; w <= 35; w++) {
		struct make how = {
			.width = w, .height = 40, .seed = w,
			.sampling = { luma[w % 4], 0x11, 0x11 },
			.coding = w % 2 ? CODING_BASELINE : CODING_PROGRESSIVE,
		};

		check_file(&how, 40, 0);
	}
}

static void every_colour_form(void **state)
{
	static const struct make forms[] = {
		{ .components = 1 },
		{ .components = 1, .sampling = { 0x22 } },
		{ .components = 1, .coding = CODING_PROGRESSIVE },
		{ .components = 3, .space = JCS_RGB },
		{ .components = 3, .space = JCS_RGB, .has_no_markers = true },
		{ .components = 3, .space = JCS_YCbCr, .has_no_markers = true },
		{ .components = 4, .space = JCS_CMYK },
		{ .components = 4, .space = JCS_CMYK, .has_no_markers = true },
		{ .components = 4, .space = JCS_YCCK },
		{ .components = 4, .space = JCS_YCCK,
		  .sampling = { 0x22, 0x11, 0x11, 0x22 } },
		{ .components = 4, .space = JCS_YCCK,
		  .sampling = { 0x21, 0x11, 0x11, 0x21 },
		  .coding = CODING_PROGRESSIVE },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct make how = forms[i];

		how.width = 83;
		how.height = 61;
		how.seed = i;
		check_file(&how, 60, 0);
	}
}

static void incomplete_progressive(void **state)
{
	for (int nr_scans = 1; nr_scans < 9; nr_scans++) {
		struct make how = {
			.width = 120, .height = 90,
			.sampling = { 0x22, 0x11, 0x11 },
			.coding = nr_scans % 2 ? CODING_PROGRESSIVE :
						 CODING_ARITHMETIC_PROGRESSIVE,
			.nr_scans = nr_scans, .quality = 30,
			.seed = (uint64_t)nr_scans,
		};

		check_file(&how, 60, DLBOOST_SAMPLE_F_DEGRADED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sampling_and_coding),
		cmocka_unit_test(odd_chroma_samplings),
		cmocka_unit_test(tiny_pictures),
		cmocka_unit_test(narrow_pictures),
		cmocka_unit_test(every_colour_form),
		cmocka_unit_test(incomplete_progressive),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
