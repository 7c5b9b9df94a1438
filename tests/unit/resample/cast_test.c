// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested (Documentation/pixels.rst, "Cast"): floats to f16 and bf16 to
 * nearest, ties to even, over every pattern of bits that differs; the cheap
 * division is used only where it equals the true one on all values, and the
 * kernels are right where it is not.  The expected values are computed in
 * double, by search, from the definition.
 */
#include "resample_case.h"

#include <image/resample_int.h>

#include <math.h>

#include <cmocka.h>

static double half_value(uint16_t half, int exponent_bits, int fraction_bits)
{
	int bias = (1 << (exponent_bits - 1)) - 1;
	int exponent = half >> fraction_bits & ((1 << exponent_bits) - 1);
	double fraction = half & ((1 << fraction_bits) - 1);

	fraction = ldexp(fraction, -fraction_bits);
	if (!exponent)
		return ldexp(fraction, 1 - bias);
	return ldexp(1 + fraction, exponent - bias);
}

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

/* @half and its neighbours: is it the nearest, and the even one of two? */
static void check_half(float f, uint16_t half, int exponent_bits,
		       int fraction_bits)
{
	uint16_t sign = half & 0x8000, magnitude = half & 0x7fff;
	uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1)
				       << fraction_bits);
	double want = fabs((double)f);
	double got = half_value(magnitude, exponent_bits, fraction_bits);

	assert_int_equal(sign != 0, signbit(f) != 0);
	assert_true(magnitude <= infinity);
	for (int step = -1; step <= 1; step += 2) {
		uint16_t other = (uint16_t)(magnitude + step);
		double distance;

		if (other > infinity)
			continue;
		/* Infinity stands where the next number would */
		distance = fabs(half_value(other, exponent_bits,
					   fraction_bits) - want);
		assert_true(fabs(got - want) <= distance);
		if (fabs(got - want) == distance)
			assert_int_equal(magnitude & 1, 0);
	}
}

static void halves_are_nearest(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1u << 20; i++) {
		/* All exponents, the fractions that decide, both signs */
		uint32_t bits = i << 12 | (uint32_t)(mix64(i) & 0xfff);
		uint32_t tie = (i << 12 & 0xffffe000) | 0x1000;
		uint32_t bf16_tie = (i << 12 & 0xffff0000) | 0x8000;

		if ((bits & 0x7f800000) == 0x7f800000)
			continue;
		check_half(float_of(bits), dlb_f32_to_bf16(float_of(bits)), 8,
			   7);
		check_half(float_of(bf16_tie),
			   dlb_f32_to_bf16(float_of(bf16_tie)), 8, 7);
		if ((bits & 0x7fffffff) >= 0x47800000)
			continue;	/* 65536 and more: infinity, below */
		check_half(float_of(bits), dlb_f32_to_f16(float_of(bits)), 5,
			   10);
		check_half(float_of(tie), dlb_f32_to_f16(float_of(tie)), 5, 10);
	}
}

static void halves_overflow(void **state)
{
	(void)state;
	assert_int_equal(dlb_f32_to_f16(65519.99f), 0x7bff);
	assert_int_equal(dlb_f32_to_f16(65520.0f), 0x7c00);
	assert_int_equal(dlb_f32_to_f16(-1e30f), 0xfc00);
	assert_int_equal(dlb_f32_to_f16(INFINITY), 0x7c00);
	assert_int_equal(dlb_f32_to_bf16(-INFINITY), 0xff80);
	assert_true((dlb_f32_to_f16(NAN) & 0x7fff) > 0x7c00);
	assert_true((dlb_f32_to_bf16(NAN) & 0x7fff) > 0x7f80);
}

/* Every value of a byte through a row, in every set */
static void check_values(struct bench *b, const struct dlb_cast *cast)
{
	struct dlb_resample_spec spec;
	const char *names[5];
	uint32_t nr = list_sets(names);
	struct picture p;
	struct tensor t;

	picture_make(&p, 256, 1, 0, 0);
	for (uint32_t i = 0; i < 256; i++)
		memset(p.pixels + 4 * (size_t)i, (int)i, 3);
	spec_whole(&spec, 256, 1, 256, 1, DLBOOST_FILTER_BILINEAR);
	spec.cast = cast;
	tensor_make(&t, 256 * 3 * sizeof(float), 0);
	spec.dst = t.data;
	for (uint32_t s = 0; s < nr; s++) {
		assert_int_equal(dlb_resample_simd_set(names[s]), 0);
		assert_int_equal(run_case(b, &p, &spec, 1), 0);
		for (uint32_t i = 0; i < 3 * 256; i++) {
			uint32_t colour = cast->is_bgr ? 2 - i / 256 : i / 256;
			volatile float x = (float)(i % 256), want;

			if (cast->has_scale_mul)
				x = x * (1.0f / 255.0f);
			else
				x = x / 255.0f;
			x = x - cast->mean[colour];
			want = x / cast->std[colour];
			x = want;
			if (memcmp((const float *)t.data + i, (float *)&x, 4))
				fail_msg("%s: value %u, mean %a, std %a",
					 names[s], i % 256,
					 (double)cast->mean[colour],
					 (double)cast->std[colour]);
		}
	}
	tensor_free(&t);
	picture_free(&p);
}

static void any_mean_and_std(void **state)
{
	struct dlb_cast cast = cast_of(DLBOOST_DTYPE_F32, DLBOOST_LAYOUT_CHW);
	static const float odd[] = { 1e-38f, 3e-42f, 1e38f, 1.0f,
				     0x1.fffffep-1f };
	uint32_t nr_fast = 0, nr_slow = 0;
	struct bench b;

	(void)state;
	bench_make(&b, 0, 1 << 20);
	for (uint32_t i = 0; i < 600; i++) {
		struct dlb_cast_plan plan;

		cast.is_bgr = i & 1;
		cast.has_scale_mul = i % 5 == 4;
		for (uint32_t c = 0; c < 3 && i; c++) {
			cast.mean[c] = (float)below(i, c, 100000) / 100000;
			cast.std[c] = (float)(1 + below(i, 3 + c, 100000)) /
				      100000;
			if (i % 7 == 0)
				cast.std[c] = odd[below(i, 6 + c, 5)];
		}
		dlb_cast_plan_make(&plan, &cast);
		nr_fast += plan.is_fast;
		nr_slow += !plan.is_fast;
		if (i == 0)
			assert_true(plan.is_fast);
		check_values(&b, &cast);
	}
	/* Both ways were tried */
	assert_true(nr_fast > 100);
	assert_true(nr_slow > 10);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halves_are_nearest),
		cmocka_unit_test(halves_overflow),
		cmocka_unit_test(any_mean_and_std),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
