// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested (resample.h): the extent that is asked for is all that has
 * any influence; rows may come in any portions; a window is the same as cutting
 * the whole; a window beside the picture is fill; memory at its cap is an error
 * and the next picture works; a fractional box moves the centres.
 */
#include "resample_case.h"

#include <errno.h>

#include <cmocka.h>

static struct bench bench;
static struct dlb_cast u8_hwc, f32_chw;

static int setup(void **state)
{
	(void)state;
	u8_hwc = cast_of(DLBOOST_DTYPE_U8, DLBOOST_LAYOUT_HWC);
	f32_chw = cast_of(DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW);
	bench_make(&bench, 0, 8 << 20);
	return dlb_resample_simd_set(NULL);
}

static int teardown(void **state)
{
	(void)state;
	bench_free(&bench);
	return 0;
}

static void run_u8(const struct picture *p, struct dlb_resample_spec *spec,
		   uint32_t batch, uint8_t *dst)
{
	spec->cast = &u8_hwc;
	spec->dst = dst;
	assert_int_equal(run_case(&bench, p, spec, batch), 0);
}

static void extent_of(const struct dlb_resample_spec *spec,
		      struct dlb_extent *need)
{
	dlb_arena_reset(&bench.arena, 0);
	assert_int_equal(dlb_resample_begin(bench.rs, &bench.arena, spec, need),
			 0);
}

/* Change what lies outside the extent: nothing; at its edges: something */
static void extent_is_exact(void **state)
{
	static uint8_t before[40 * 40 * 3], after[40 * 40 * 3];
	struct dlb_resample_spec spec;
	struct dlb_extent need;
	struct picture p;

	(void)state;
	picture_make(&p, 90, 70, 5, PICTURE_NOISE);
	spec_whole(&spec, 90, 70, 40, 40, DLBOOST_FILTER_BILINEAR);
	spec.window_x = 10;
	spec.window_y = 15;
	spec.window_w = 12;
	spec.window_h = 9;
	run_u8(&p, &spec, 7, before);
	extent_of(&spec, &need);
	/* Centres 10.5 * 90/40 and 21.5 * 90/40, support 90/40, in pixels */
	assert_int_equal(need.x0, 21);
	assert_int_equal(need.x1, 51);
	assert_in_range(need.y0, 24, 26);
	assert_in_range(need.y1, 42, 44);
	for (uint32_t y = 0; y < p.h; y++)
		for (uint32_t x = 0; x < p.w; x++)
			if (y < need.y0 || y >= need.y1 || x < need.x0 ||
			    x >= need.x1)
				memset(p.pixels + y * p.row_bytes + 4 * x, 99,
				       3);
	run_u8(&p, &spec, 7, after);
	assert_memory_equal(before, after, 12 * 9 * 3);
	for (uint32_t edge = 0; edge < 2; edge++) {
		uint32_t x = edge ? need.x1 - 1 : need.x0;

		for (uint32_t y = 0; y < p.h; y++)
			p.pixels[y * p.row_bytes + 4 * x] ^= 0xff;
		run_u8(&p, &spec, 7, after);
		assert_memory_not_equal(before, after, 12 * 9 * 3);
		memcpy(before, after, 12 * 9 * 3);
	}
	picture_free(&p);
}

static void portions_do_not_matter(void **state)
{
	static uint8_t one[60 * 50 * 3], many[60 * 50 * 3];
	static const uint32_t batches[] = { 2, 3, 8, 17, 32 };
	struct dlb_resample_spec spec;
	struct picture p;

	(void)state;
	picture_make(&p, 111, 97, 6, PICTURE_NOISE);
	for (uint32_t filter = 0; filter < 6; filter++) {
		spec_whole(&spec, 111, 97, 60, 50, filter);
		run_u8(&p, &spec, 1, one);
		for (uint32_t i = 0; i < 5; i++) {
			run_u8(&p, &spec, batches[i], many);
			assert_memory_equal(one, many, sizeof(one));
		}
	}
	picture_free(&p);
}

/* Every window of a small picture, against the whole of it */
static void window_is_a_cut(void **state)
{
	static uint8_t whole[9 * 7 * 3], window[9 * 7 * 3], want[9 * 7 * 3];
	struct dlb_resample_spec spec;
	struct picture p;

	(void)state;
	picture_make(&p, 23, 19, 8, PICTURE_NOISE);
	spec_whole(&spec, 23, 19, 9, 7, DLBOOST_FILTER_BICUBIC);
	spec.fill = 200;
	run_u8(&p, &spec, 4, whole);
	for (int i = 0; i < 17 * 13; i++) {
		spec.window_x = i % 17 - 8;
		spec.window_y = i / 17 - 6;
		spec.has_flip = i % 3 == 0;
		for (int at = 0; at < 9 * 7; at++) {
			int column = at % 9;
			int x = spec.window_x +
				(spec.has_flip ? 8 - column : column);
			int y = spec.window_y + at / 9;

			memset(want + 3 * at, 200, 3);
			if (x >= 0 && x < 9 && y >= 0 && y < 7)
				memcpy(want + 3 * at, whole + 3 * (9 * y + x),
				       3);
		}
		run_u8(&p, &spec, 4, window);
		assert_memory_equal(window, want, sizeof(want));
	}
	picture_free(&p);
}

static void window_beside_the_picture(void **state)
{
	struct dlb_resample_spec spec;
	struct dlb_extent need;
	float tensor[3 * 4 * 5];

	(void)state;
	spec_whole(&spec, 30, 30, 10, 10, DLBOOST_FILTER_BOX);
	spec.window_x = -4;
	spec.window_y = 2;
	spec.window_w = 4;
	spec.window_h = 5;
	spec.fill = 51;
	spec.cast = &f32_chw;
	spec.dst = tensor;
	extent_of(&spec, &need);
	assert_int_equal(need.x0, need.x1);
	assert_int_equal(need.y0, need.y1);
	dlb_resample_end(bench.rs);
	for (int i = 0; i < 60; i++) {
		volatile float want = 51.0f / 255.0f;

		want = want - f32_chw.mean[i / 20];
		want = want / f32_chw.std[i / 20];
		assert_true(tensor[i] == want);
	}
}

static void cap_is_an_error(void **state)
{
	static uint8_t first[64 * 64 * 3], second[64 * 64 * 3];
	struct dlb_resample_spec spec;
	struct dlb_extent need;
	struct dlb_arena tiny;
	struct picture p;

	(void)state;
	/* Some 40 rows of 256 bytes must be kept */
	picture_make(&p, 400, 400, 9, PICTURE_NOISE);
	spec_whole(&spec, 400, 400, 64, 64, DLBOOST_FILTER_LANCZOS);
	run_u8(&p, &spec, 8, first);
	assert_int_equal(dlb_arena_init(&tiny, 4096), 0);
	assert_int_equal(dlb_resample_begin(bench.rs, &tiny, &spec, &need),
			 -ENOMEM);
	dlb_arena_fini(&tiny);
	run_u8(&p, &spec, 8, second);
	assert_memory_equal(first, second, sizeof(first));
	picture_free(&p);
}

/* A ramp, resized from a box: the value is the place */
static void box_moves_the_centres(void **state)
{
	const char *names[5];
	uint32_t nr = list_sets(names);
	struct dlb_resample_spec spec;
	struct picture p;
	uint8_t out[16 * 3];

	(void)state;
	picture_make(&p, 100, 4, 1, PICTURE_NOISE);
	for (uint32_t i = 0; i < 400; i++)
		memset(p.pixels + 4 * (size_t)i, (int)(2 * (i % 100)), 3);
	spec_whole(&spec, 100, 4, 16, 1, DLBOOST_FILTER_BILINEAR);
	spec.box[0] = 10.25;
	spec.box[2] = 74.25;
	for (uint32_t s = 0; s < nr; s++) {
		assert_int_equal(dlb_resample_simd_set(names[s]), 0);
		run_u8(&p, &spec, 4, out);
		/* Centre 10.25 + 4 (i + 1/2); pixel x, at x + 1/2, holds 2 x */
		for (int i = 0; i < 16; i++)
			assert_int_equal(out[3 * i],
					 (int)(2 * (10.25 + 4 * i + 1.5) + .5));
	}
	picture_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extent_is_exact),
		cmocka_unit_test(portions_do_not_matter),
		cmocka_unit_test(window_is_a_cut),
		cmocka_unit_test(window_beside_the_picture),
		cmocka_unit_test(cap_is_an_error),
		cmocka_unit_test(box_moves_the_centres),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
