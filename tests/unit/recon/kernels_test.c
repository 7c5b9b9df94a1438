// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: every instruction set gives plain C's bytes and flags for
 * any coefficients, any number of blocks, any row; plain C's inverse DCT is
 * IJG's accurate integer method, written here once more in 64 bits; short cuts
 * for few coefficients change nothing (DC alone: all 65536 products); colour is
 * IJG's table for all pairs of chroma; rows are written exactly.
 * Needs no libjpeg, so that it runs on machines that are emulated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <image/recon_int.h>

#define MAX_BLOCKS 13
#define STRIDE (8 * MAX_BLOCKS + DLB_RECON_SLACK_BYTES)
#define MAX_ROW 300
#define GUARD 0xa5

static const char *const all_sets[] = { "c", "sse4.1", "avx2", "avx512",
					"neon" };
static const struct dlb_recon_kernels *sets[5];
static int nr_sets;
static uint64_t rng = 88172645463325252u;

/* xorshift64*: G. Marsaglia, S. Vigna */
static uint32_t below(uint32_t n)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (uint32_t)((rng * 2685821657736338717u >> 33) % n);
}

static const uint8_t natural[64] = {
	 0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

struct blocks {
	int16_t coef[MAX_BLOCKS * 64] __attribute__((aligned(64)));
	int16_t quant[64] __attribute__((aligned(64)));
	uint8_t last[MAX_BLOCKS];
	uint32_t nr;
};

struct samples {
	uint8_t row[8 * STRIDE];
	uint16_t coef_bits, range_bits;
};

static void draw_blocks(struct blocks *b, uint32_t max_coef, uint32_t max_quant,
			uint32_t max_last)
{
	b->nr = 1 + below(MAX_BLOCKS);
	memset(b->coef, 0, sizeof(b->coef));
	for (uint32_t k = 0; k < 64; k++)
		b->quant[k] = (int16_t)(1 + below(max_quant));
	for (uint32_t i = 0; i < b->nr; i++) {
		b->last[i] = (uint8_t)below(max_last + 1);
		for (uint32_t k = 0; k <= b->last[i]; k++)
			if (below(3))
				b->coef[i * 64 + natural[k]] = (int16_t)
					(below(2 * max_coef + 1) - max_coef);
	}
}

static void transform(const struct dlb_recon_kernels *set,
		      const struct blocks *b, struct samples *s)
{
	struct dlb_idct_job job = {
		.blocks = b->coef, .last = b->last, .nr = b->nr,
		.quant = b->quant, .out = s->row, .stride_bytes = STRIDE,
	};

	set->idct(&job);
	s->coef_bits = job.coef_bits;
	s->range_bits = job.range_bits;
}

static void assert_same_samples(const struct samples *a,
				const struct samples *b, uint32_t nr)
{
	for (uint32_t y = 0; y < 8; y++)
		assert_memory_equal(a->row + y * STRIDE, b->row + y * STRIDE,
				    8 * nr);
	assert_int_equal(a->coef_bits, b->coef_bits);
	assert_int_equal(a->range_bits & DLB_RANGE_MASK ? 1 : 0,
			 b->range_bits & DLB_RANGE_MASK ? 1 : 0);
}

static void idct_is_plain_c(void **state)
{
	static const uint32_t coefs[] = { 2, 30, 300, 2000, 32767 };
	static const uint32_t quants[] = { 1, 8, 100, 32767 };
	static const uint32_t lasts[] = { 0, 3, 9, 14, 63 };
	static struct samples want, got;
	static struct blocks b;

	for (uint32_t i = 0; i < 6000; i++) {
		draw_blocks(&b, coefs[i % 5], quants[i / 5 % 4],
			    lasts[i / 20 % 5]);
		transform(&dlb_recon_kernels_c, &b, &want);
		for (int s = 0; s < nr_sets; s++) {
			transform(sets[s], &b, &got);
			assert_same_samples(&want, &got, b.nr);
		}
	}
}

/* IJG's factors: 2^13 times the cosines of their names, rounded */
static void ijg_line(const int64_t *in, int step, int64_t *out, int shift)
{
	int64_t z1 = (in[2 * step] + in[6 * step]) * 4433;
	int64_t t2 = z1 - in[6 * step] * 15137, t3 = z1 + in[2 * step] * 6270;
	int64_t t0 = (in[0] + in[4 * step]) * 8192;
	int64_t t1 = (in[0] - in[4 * step]) * 8192;
	int64_t e[4] = { t0 + t3, t1 + t2, t1 - t2, t0 - t3 }, o[4];
	int64_t a = in[7 * step], b = in[5 * step], c = in[3 * step];
	int64_t d = in[step], z2, z3, z4, z5;

	z1 = (a + d) * -7373;
	z2 = (b + c) * -20995;
	z3 = (a + c) * -16069;
	z4 = (b + d) * -3196;
	z5 = (a + b + c + d) * 9633;
	o[3] = a * 2446 + z1 + z3 + z5;
	o[2] = b * 16819 + z2 + z4 + z5;
	o[1] = c * 25172 + z2 + z3 + z5;
	o[0] = d * 12299 + z1 + z4 + z5;
	for (int i = 0; i < 4; i++) {
		int64_t round = (int64_t)1 << (shift - 1);

		out[i * step] = (e[i] + o[i] + round) >> shift;
		out[(7 - i) * step] = (e[i] - o[i] + round) >> shift;
	}
}

static void ijg_idct(const int16_t *coef, const int16_t *quant, uint8_t *out)
{
	int64_t d[64], w[64], s[64];

	for (int i = 0; i < 64; i++)
		d[i] = (int64_t)coef[i] * quant[i];
	for (int x = 0; x < 8; x++)
		ijg_line(d + x, 8, w + x, 11);
	for (int y = 0; y < 8; y++)
		ijg_line(w + 8 * y, 1, s + 8 * y, 18);
	for (int i = 0; i < 64; i++) {
		int64_t v = s[i] + 128;

		out[i / 8 * STRIDE + i % 8] =
			v < 0 ? 0 : v > 255 ? 255 : (uint8_t)v;
	}
}

static void plain_c_is_the_definition(void **state)
{
	static struct samples want, got;
	static struct blocks b;

	for (uint32_t i = 0; i < 4000; i++) {
		draw_blocks(&b, 1 + below(60), 1 + below(40), below(64));
		for (uint32_t k = 0; k < b.nr; k++)
			ijg_idct(b.coef + k * 64, b.quant, want.row + k * 8);
		transform(&dlb_recon_kernels_c, &b, &got);
		for (uint32_t y = 0; y < 8; y++)
			assert_memory_equal(want.row + y * STRIDE,
					    got.row + y * STRIDE, 8 * b.nr);
	}
}

static void short_cut_for_dc_is_exact(void **state)
{
	static struct samples want, flat, whole;
	static struct blocks b = { .nr = MAX_BLOCKS };

	b.quant[0] = 1;
	for (int32_t dc = INT16_MIN; dc <= INT16_MAX; dc++) {
		for (uint32_t i = 0; i < MAX_BLOCKS; i++)
			b.coef[i * 64] = (int16_t)dc;
		ijg_idct(b.coef, b.quant, want.row);
		for (int s = 0; s < nr_sets; s++) {
			memset(b.last, 0, sizeof(b.last));
			transform(sets[s], &b, &flat);
			memset(b.last, 63, sizeof(b.last));
			transform(sets[s], &b, &whole);
			assert_same_samples(&flat, &whole, b.nr);
			for (uint32_t y = 0; y < 8; y++)
				assert_memory_equal(want.row + y * STRIDE,
						    flat.row + y * STRIDE, 8);
		}
	}
}

static void short_cut_for_few_is_exact(void **state)
{
	static struct samples want, got;
	static struct blocks b;

	for (uint32_t i = 0; i < 3000; i++) {
		draw_blocks(&b, 1 + below(2000), 1 + below(30), 9);
		for (int s = 0; s < nr_sets; s++) {
			uint8_t last[MAX_BLOCKS];

			memcpy(last, b.last, sizeof(last));
			transform(sets[s], &b, &got);
			memset(b.last, 63, sizeof(b.last));
			transform(sets[s], &b, &want);
			memcpy(b.last, last, sizeof(last));
			assert_same_samples(&want, &got, b.nr);
		}
	}
}

/* Rows of noise, or of 0 and 255 alone */
static void draw_row(uint8_t *row, uint32_t n, bool is_extreme)
{
	for (uint32_t i = 0; i < n; i++)
		row[i] = is_extreme ? (below(2) ? 255 : 0) : below(256);
}

static uint32_t triangle(uint32_t near, uint32_t far)
{
	return 3 * near + far;
}

static void check_up(const struct dlb_recon_kernels *set, uint32_t n,
		     const uint8_t *near, const uint8_t *far)
{
	static uint8_t out[2 * MAX_ROW + DLB_RECON_SLACK_BYTES];

	set->up_h2(near, n, out);
	for (int64_t i = 0; i < n; i++) {
		assert_int_equal(out[2 * i], (triangle(near[i], near[i - 1]) +
					      1) >> 2);
		assert_int_equal(out[2 * i + 1],
				 (triangle(near[i], near[i + 1]) + 2) >> 2);
	}
	for (uint32_t bias = 1; bias <= 2; bias++) {
		set->up_v2(near, far, n, bias, out);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(out[i], (triangle(near[i], far[i]) +
						  bias) >> 2);
	}
	set->up_hv2(near, far, n, out);
	for (int64_t i = 0; i < n; i++) {
		uint32_t left = triangle(near[i - 1], far[i - 1]);
		uint32_t here = triangle(near[i], far[i]);
		uint32_t right = triangle(near[i + 1], far[i + 1]);

		assert_int_equal(out[2 * i], (triangle(here, left) + 8) >> 4);
		assert_int_equal(out[2 * i + 1],
				 (triangle(here, right) + 7) >> 4);
	}
}

static void upsampling_is_the_triangle(void **state)
{
	static uint8_t rows[2][DLB_RECON_LEFT_BYTES + MAX_ROW +
			       DLB_RECON_SLACK_BYTES];

	for (uint32_t n = 1; n <= MAX_ROW; n++) {
		draw_row(rows[0], sizeof(rows[0]), n % 3 == 0);
		draw_row(rows[1], sizeof(rows[1]), n % 3 == 0);
		for (int s = 0; s < nr_sets; s++)
			check_up(sets[s], n, rows[0] + DLB_RECON_LEFT_BYTES,
				 rows[1] + DLB_RECON_LEFT_BYTES);
	}
}

static uint8_t clip(int32_t v)
{
	return v < 0 ? 0 : v > 255 ? 255 : (uint8_t)v;
}

/* IJG's jdcolor.c: factors of 2^16, green rounded once for both */
static void ijg_colour(uint8_t y, uint8_t cb, uint8_t cr, uint8_t px[4])
{
	int32_t b = cb - 128, r = cr - 128;

	px[0] = clip(y + ((91881 * r + 32768) >> 16));
	px[1] = clip(y + ((-22554 * b - 46802 * r + 32768) >> 16));
	px[2] = clip(y + ((116130 * b + 32768) >> 16));
	px[3] = 255;
}

static void colour_is_the_table(void **state)
{
	static uint8_t y[256 + 128], cb[256 + 128], cr[256 + 128];
	static uint8_t out[256 * 4];
	const uint8_t *const planes[3] = { y, cb, cr };

	for (uint32_t i = 0; i < 65536; i++) {
		uint32_t k = i % 256;
		uint8_t want[4];

		cb[k] = (uint8_t)k;
		cr[k] = (uint8_t)(i / 256);
		y[k] = (uint8_t)(i * 7 + i / 256 * 13);
		if (k != 255)
			continue;
		for (int s = 0; s < nr_sets; s++) {
			sets[s]->ycc(planes, 256, out);
			for (k = 0; k < 256; k++) {
				ijg_colour(y[k], cb[k], cr[k], want);
				assert_memory_equal(out + 4 * k, want, 4);
			}
		}
	}
}

static void check_exact_rows(const struct dlb_recon_kernels *set, uint32_t n,
			     const uint8_t *const planes[3], uint8_t *out)
{
	memset(out, GUARD, 4 * (MAX_ROW + 64));
	set->ycc(planes, n, out);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t want[4];

		ijg_colour(planes[0][i], planes[1][i], planes[2][i], want);
		assert_memory_equal(out + 4 * i, want, 4);
	}
	assert_int_equal(out[4 * n], GUARD);
	memset(out, GUARD, 4 * (MAX_ROW + 64));
	set->rgb(planes, n, out);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t want[4] = { planes[0][i], planes[1][i], planes[2][i],
				    255 };

		assert_memory_equal(out + 4 * i, want, 4);
	}
	assert_int_equal(out[4 * n], GUARD);
	memset(out, GUARD, 4 * (MAX_ROW + 64));
	set->grey(planes, n, out);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t y = planes[0][i], want[4] = { y, y, y, 255 };

		assert_memory_equal(out + 4 * i, want, 4);
	}
	assert_int_equal(out[4 * n], GUARD);
}

static void rows_are_written_exactly(void **state)
{
	static uint8_t rows[3][MAX_ROW + DLB_RECON_SLACK_BYTES];
	static uint8_t out[4 * (MAX_ROW + 64)];
	const uint8_t *const planes[3] = { rows[0], rows[1], rows[2] };

	for (uint32_t n = 1; n <= MAX_ROW; n++) {
		for (int c = 0; c < 3; c++)
			draw_row(rows[c], sizeof(rows[c]), n % 3 == 0);
		for (int s = 0; s < nr_sets; s++)
			check_exact_rows(sets[s], n, planes, out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idct_is_plain_c),
		cmocka_unit_test(plain_c_is_the_definition),
		cmocka_unit_test(short_cut_for_dc_is_exact),
		cmocka_unit_test(short_cut_for_few_is_exact),
		cmocka_unit_test(upsampling_is_the_triangle),
		cmocka_unit_test(colour_is_the_table),
		cmocka_unit_test(rows_are_written_exactly),
	};

	for (size_t i = 0; i < sizeof(all_sets) / sizeof(all_sets[0]); i++)
		if (!dlb_resample_simd_set(all_sets[i]))
			sets[nr_sets++] = dlb_recon_kernels_get();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
