// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested (Documentation/pixels.rst, "Resize", "Cast"): every
 * instruction set gives plain C's bytes, for all sizes, windows, filters, types
 * and layouts; nothing is read past the slack behind a row; nothing is written
 * outside the tensor.  Plain C itself is held to Pillow by pillow_test.c.
 */
#include "resample_case.h"

#include <cmocka.h>

#define ROUNDS_PER_STRATUM 150

/* The strata that random sizes alone would not reach */
enum stratum {
	TINY, TALL, SAME_WIDTH, SAME_HEIGHT, SAME_BOTH, ENLARGE, ONE_PIXEL,
	USUAL, SHRINK_MUCH, WIDE, LARGE_TENSOR, NR_STRATA,
};

struct sizes {
	uint32_t in_w, in_h, out_w, out_h;
};

static void draw_sizes(uint64_t seed, enum stratum stratum, struct sizes *s)
{
	s->in_w = 1 + below(seed, 1, 300);
	s->in_h = 1 + below(seed, 2, 200);
	s->out_w = 1 + below(seed, 3, 260);
	s->out_h = 1 + below(seed, 4, 60);
	switch (stratum) {
	case TINY:
		s->in_w = 1 + below(seed, 1, 3);
		s->in_h = 1 + below(seed, 2, 3);
		break;
	case TALL:
		s->in_w = 1 + below(seed, 1, 4);
		s->in_h = 100 * s->in_w + 1 + below(seed, 2, 500);
		break;
	case SAME_WIDTH:
		s->out_w = s->in_w;
		break;
	case SAME_HEIGHT:
		s->out_h = s->in_h;
		break;
	case SAME_BOTH:
		s->out_w = s->in_w;
		s->out_h = s->in_h;
		break;
	case ENLARGE:
		s->in_w = 1 + below(seed, 1, 5);
		s->in_h = 1 + below(seed, 2, 3);
		s->out_w = s->in_w * 100;
		s->out_h = s->in_h * 100;
		break;
	case ONE_PIXEL:
		s->in_w = 1;
		s->in_h = 1;
		break;
	case SHRINK_MUCH:
		s->in_w = 500 + below(seed, 1, 1500);
		s->out_w = 1 + below(seed, 3, 70);
		s->out_h = 1 + below(seed, 4, 9);
		break;
	case WIDE:
		s->in_w = 400 + below(seed, 1, 1800);
		s->in_h = 1 + below(seed, 2, 30);
		s->out_w = 200 + below(seed, 3, 100);
		break;
	case LARGE_TENSOR:
		s->in_h = 1 + below(seed, 2, 40);
		s->out_w = 64 * (3 + below(seed, 3, 2));
		s->out_h = 240;
		break;
	default:
		break;
	}
}

static void draw_window(uint64_t seed, struct dlb_resample_spec *spec)
{
	uint32_t w = spec->resize_w, h = spec->resize_h;

	if (below(seed, 10, 3) == 0)
		return;
	spec->window_w = 1 + below(seed, 11, w + 8);
	spec->window_h = 1 + below(seed, 12, h + 8);
	spec->window_x = (int32_t)below(seed, 13, w + 12) - 6;
	spec->window_y = (int32_t)below(seed, 14, h + 12) - 6;
}

static struct dlb_cast draw_cast(uint64_t seed)
{
	struct dlb_cast cast = cast_of(below(seed, 20, 4), below(seed, 21, 2));

	cast.is_bgr = below(seed, 22, 2);
	if (cast.dtype == DLBOOST_DTYPE_U8)
		return cast;
	cast.has_scale_mul = below(seed, 23, 4) == 0;
	cast.has_normalise = below(seed, 24, 5) != 0;
	if (below(seed, 25, 3) == 0)
		for (uint32_t c = 0; c < 3; c++) {
			cast.mean[c] = (float)below(seed, 30 + c, 1000) / 1000;
			cast.std[c] = (float)(1 + below(seed, 33 + c, 999)) /
				      1000;
		}
	return cast;
}

static void check_case(struct bench *b, uint64_t seed, enum stratum stratum,
		       const char *const *names, uint32_t nr_names)
{
	struct dlb_cast cast = draw_cast(seed);
	struct dlb_resample_spec spec;
	struct tensor want = { 0 }, got;
	struct picture p;
	struct sizes s;
	size_t bytes;

	draw_sizes(seed, stratum, &s);
	spec_whole(&spec, s.in_w, s.in_h, s.out_w, s.out_h, below(seed, 40, 6));
	/* A whole tensor in whole cache lines may be stored around the cache */
	if (stratum != LARGE_TENSOR)
		draw_window(seed, &spec);
	spec.has_flip = below(seed, 41, 2);
	spec.fill = (uint8_t)below(seed, 42, 256);
	spec.cast = &cast;
	picture_make(&p, s.in_w, s.in_h, seed, below(seed, 43, 2));
	bytes = (size_t)spec.window_w * spec.window_h * 3 * cast_bytes(&cast);
	for (uint32_t i = nr_names; i-- > 0;) {
		tensor_make(&got, bytes, stratum == LARGE_TENSOR ? 0 :
						below(seed, 50 + i, 64));
		assert_int_equal(dlb_resample_simd_set(names[i]), 0);
		spec.dst = got.data;
		assert_int_equal(run_case(b, &p, &spec,
					  1 + below(seed, 44, 20)), 0);
		if (!tensor_guards_hold(&got))
			fail_msg("%s wrote outside the tensor: stratum %d, seed %llu",
				 names[i], (int)stratum,
				 (unsigned long long)seed);
		if (want.mem && memcmp(want.data, got.data, bytes))
			fail_msg("%s differs from c: stratum %d, seed %llu, filter %u, %ux%u to %ux%u, dtype %u, layout %u",
				 names[i], (int)stratum,
				 (unsigned long long)seed, spec.filter,
				 s.in_w, s.in_h, s.out_w, s.out_h, cast.dtype,
				 cast.layout);
		if (want.mem)
			tensor_free(&got);
		else
			want = got;
	}
	tensor_free(&want);
	picture_free(&p);
}

static void every_set_equals_plain_c(void **state)
{
	const char *names[5];
	uint32_t nr = list_sets(names);
	struct bench b;

	(void)state;
	assert_true(nr >= 1);
	assert_string_equal(names[nr - 1], "c");
#if defined(__x86_64__) || defined(__aarch64__)
	/* Else there is nothing to compare */
	assert_true(nr >= 2);
#endif
	bench_make(&b, 1 << 20, 64u << 20);
	for (int stratum = 0; stratum < NR_STRATA; stratum++)
		for (uint32_t i = 0; i < ROUNDS_PER_STRATUM; i++)
			check_case(&b, 1000u * (uint32_t)stratum + i,
				   (enum stratum)stratum, names, nr);
	bench_free(&b);
}

static void names_are_checked(void **state)
{
	const char *names[5];

	(void)state;
	list_sets(names);
	assert_int_equal(dlb_resample_simd_set("mmx"), -22);
	assert_int_equal(dlb_resample_simd_set("c"), 0);
	assert_string_equal(dlb_resample_simd_name(), "c");
	assert_int_equal(dlb_resample_simd_set(names[0]), 0);
	assert_string_equal(dlb_resample_simd_name(), names[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_checked),
		cmocka_unit_test(every_set_equals_plain_c),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
