// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested (Documentation/pixels.rst, "Resize"; coeffs.h): the tables'
 * form and values, the bounds that the kernels' arithmetic stands on, and how
 * long a table of the cache stays.  The expected weights are worked out by hand
 * from the filters' definitions.
 */
#include "resample_case.h"

#include <image/coeffs_int.h>

#include <cmocka.h>

#define ONE 4194304

static struct dlb_axis axis_of(uint32_t in, uint32_t out, uint32_t filter)
{
	struct dlb_axis axis = {
		.in = in, .out = out, .box1 = in, .filter = filter,
	};

	return axis;
}

static const struct dlb_coeffs *get(struct dlb_coeff_cache *cache, uint32_t in,
				    uint32_t out, uint32_t filter)
{
	struct dlb_axis axis = axis_of(in, out, filter);
	const struct dlb_coeffs *table = dlb_coeff_cache_get(cache, &axis);

	assert_non_null(table);
	assert_int_equal(table->axis.in, in);
	assert_int_equal(table->axis.out, out);
	return table;
}

/* Halving by triangle: 1/8 3/8 3/8 1/8, and cut off at the edge */
static void halving_bilinear(void **state)
{
	struct dlb_coeff_cache *cache;
	const struct dlb_coeffs *t;
	const int32_t *w;

	(void)state;
	assert_int_equal(dlb_coeff_cache_create(0, &cache), 0);
	t = get(cache, 8, 4, DLBOOST_FILTER_BILINEAR);
	assert_int_equal(t->first[1], 1);
	assert_int_equal(t->count[1], 4);
	w = t->weight + t->taps;
	assert_int_equal(w[0], ONE / 8);
	assert_int_equal(w[1], ONE / 8 * 3);
	assert_int_equal(w[2], ONE / 8 * 3);
	assert_int_equal(w[3], ONE / 8);
	/* 3/8 3/8 1/8 of what is left, 7/8; to nearest */
	assert_int_equal(t->first[0], 0);
	assert_int_equal(t->count[0], 3);
	assert_int_equal(t->weight[0], (ONE * 3 * 2 + 7) / 14);
	assert_int_equal(t->weight[2], (ONE * 2 + 7) / 14);
	dlb_coeff_cache_destroy(cache);
}

/* Doubling by a cubic with a = -1/2: at 1/4 and 3/4 between the pixels */
static void doubling_bicubic(void **state)
{
	struct dlb_coeff_cache *cache;
	const struct dlb_coeffs *t;
	const int32_t *w;

	(void)state;
	assert_int_equal(dlb_coeff_cache_create(0, &cache), 0);
	t = get(cache, 8, 16, DLBOOST_FILTER_BICUBIC);
	/* Output 7 has its centre at 3.75: pixels 2 .. 5, in 128ths */
	assert_int_equal(t->first[7], 2);
	assert_int_equal(t->count[7], 4);
	w = t->weight + 7 * t->taps;
	assert_int_equal(w[0], -9 * (ONE / 128));
	assert_int_equal(w[1], 111 * (ONE / 128));
	assert_int_equal(w[2], 29 * (ONE / 128));
	assert_int_equal(w[3], -3 * (ONE / 128));
	dlb_coeff_cache_destroy(cache);
}

static void nearest_accumulates(void **state)
{
	struct dlb_coeff_cache *cache;
	const struct dlb_coeffs *t;
	double at;

	(void)state;
	assert_int_equal(dlb_coeff_cache_create(0, &cache), 0);
	t = get(cache, 1000, 381, DLBOOST_FILTER_NEAREST);
	assert_int_equal(t->taps, 1);
	at = 1000.0 / 381 * 0.5;
	for (uint32_t i = 0; i < 381; i++, at += 1000.0 / 381) {
		assert_int_equal(t->first[i], (uint32_t)at);
		assert_int_equal(t->count[i], 1);
		assert_int_equal(t->weight[i], ONE);
	}
	dlb_coeff_cache_destroy(cache);
}

/*
 * The kernels take a weight as three signed bytes (below 1.99) and sum in 32
 * bits (absolute weights below 2 in sum, times 255, plus a half).
 */
static void weights_stay_in_bounds(void **state)
{
	struct dlb_coeff_cache *cache;
	int64_t most = 0, most_sum = 0;

	(void)state;
	assert_int_equal(dlb_coeff_cache_create(0, &cache), 0);
	for (uint32_t i = 0; i < 4000; i++) {
		uint32_t in = 1 + below(i, 0, i % 3 ? 12 : 700);
		uint32_t out = 1 + below(i, 1, i % 2 ? 500 : 20);
		const struct dlb_coeffs *t = get(cache, in, out,
						 1 + below(i, 2, 5));

		for (uint32_t o = 0; o < out; o++) {
			int64_t sum = 0, all = 0;

			assert_true(t->count[o] >= 1);
			assert_true(t->first[o] + t->count[o] <= in);
			for (uint32_t k = 0; k < t->taps; k++) {
				int64_t w = t->weight[o * t->taps + k];

				if (k >= t->count[o])
					assert_int_equal(w, 0);
				sum += w;
				w = w < 0 ? -w : w;
				most = w > most ? w : most;
				all += w;
			}
			most_sum = all > most_sum ? all : most_sum;
			/* Each rounding is off by a half at most */
			assert_in_range(sum + t->count[o] - ONE, 0,
					2 * t->count[o]);
		}
	}
	assert_true(most < (int64_t)ONE * 3 / 2);
	assert_true(most_sum < (int64_t)ONE * 2 - 8192);
	dlb_coeff_cache_destroy(cache);
}

/* A part of an axis, trimmed and turned round, is the same table */
static void parts_agree_with_the_whole(void **state)
{
	struct dlb_axis axis = axis_of(173, 61, DLBOOST_FILTER_LANCZOS);
	struct dlb_coeff_cache *cache;
	const struct dlb_coeffs *t;
	struct dlb_taps taps;
	void *mem = malloc(dlb_axis_fill_bytes(&axis, 20));

	(void)state;
	assert_non_null(mem);
	assert_int_equal(dlb_coeff_cache_create(0, &cache), 0);
	t = dlb_coeff_cache_get(cache, &axis);
	dlb_axis_fill(&axis, 30, 20, mem, &taps);
	dlb_taps_trim(&taps);
	dlb_taps_reverse(&taps);
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t o = 49 - i, lead = taps.first[i] - t->first[o];

		assert_true(lead < t->count[o]);
		for (uint32_t k = 0; k < t->count[o]; k++) {
			int32_t w = t->weight[o * t->taps + k];
			bool is_kept = k >= lead && k - lead < taps.count[i];

			assert_int_equal(w, is_kept ?
				taps.weight[i * taps.stride + k - lead] : 0);
		}
	}
	dlb_coeff_cache_destroy(cache);
	free(mem);
}

static uint64_t hash_table(const struct dlb_coeffs *t)
{
	uint64_t hash = t->taps;

	for (uint32_t o = 0; o < t->axis.out; o++) {
		hash = mix64(hash ^ t->first[o] ^ (uint64_t)t->count[o] << 32);
		for (uint32_t k = 0; k < t->taps; k++)
			hash = mix64(hash ^ (uint32_t)t->weight[o * t->taps +
								k]);
	}
	return hash;
}

/*
 * The two tables got last are untouched until the next but one miss, in a cache
 * that holds few, over far more tables than it holds; large ones among them.
 */
static void tables_stay_as_promised(void **state)
{
	struct dlb_coeff_cache *cache;
	const struct dlb_coeffs *kept[2] = { NULL, NULL };
	uint64_t hash[2] = { 0, 0 };

	(void)state;
	assert_int_equal(dlb_coeff_cache_create(0, &cache), 0);
	for (uint32_t i = 0; i < 6000; i++) {
		uint32_t size = below(i, 3, 50) ? 300 : 4000;
		/* Some are in the cache, most not */
		uint32_t ago = below(i, 5, 60) % (i + 1);
		uint32_t which = below(i, 4, 4) ? i : i - ago;
		const struct dlb_coeffs *t;

		t = get(cache, 1 + below(which, 0, size),
			1 + below(which, 1, size), 2 + below(which, 2, 3));
		for (uint32_t k = 0; k < 2; k++)
			if (kept[k])
				assert_true(hash[k] == hash_table(kept[k]));
		kept[i % 2] = t;
		hash[i % 2] = hash_table(t);
		/* A new table only now may take the older one's place */
		kept[(i + 1) % 2] = NULL;
		t = get(cache, t->axis.in, t->axis.out, t->axis.filter);
		assert_true(hash[i % 2] == hash_table(t));
		kept[i % 2] = t;
	}
	dlb_coeff_cache_destroy(cache);
}

/*
 * A table of every age is found, or made again, and is whole after a new one
 * took whatever place was next
 */
static void old_tables_outlive_a_miss(void **state)
{
	struct dlb_coeff_cache *cache;

	(void)state;
	assert_int_equal(dlb_coeff_cache_create(0, &cache), 0);
	for (uint32_t i = 256; i < 9000; i++) {
		/* 7 KiB each: four fill a segment, some thirty the cache */
		uint32_t age = 1 + i * 7 % 41;
		const struct dlb_coeffs *old, *new;
		uint64_t hash;

		old = get(cache, 9000 + i - age, 600, DLBOOST_FILTER_NEAREST);
		assert_int_equal(old->first[0],
				 (uint32_t)((9000 + i - age) / 600.0 * 0.5));
		hash = hash_table(old);
		new = get(cache, 9000 + i, 600, DLBOOST_FILTER_NEAREST);
		assert_true(hash == hash_table(old));
		assert_int_equal(new->axis.in, 9000 + i);
	}
	dlb_coeff_cache_destroy(cache);
}

/* Two tables at once: horizontal and vertical, through many misses */
static void pairs_stay_together(void **state)
{
	struct dlb_coeff_cache *cache;

	(void)state;
	assert_int_equal(dlb_coeff_cache_create(0, &cache), 0);
	for (uint32_t i = 0; i < 4000; i++) {
		const struct dlb_coeffs *a, *b;
		uint64_t hash;

		a = get(cache, 1 + below(i, 0, 600), 224,
			DLBOOST_FILTER_BILINEAR);
		hash = hash_table(a);
		b = get(cache, 1 + below(i, 1, 600), 224,
			DLBOOST_FILTER_BICUBIC);
		assert_true(hash == hash_table(a));
		assert_int_equal(b->axis.filter, DLBOOST_FILTER_BICUBIC);
	}
	dlb_coeff_cache_destroy(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halving_bilinear),
		cmocka_unit_test(doubling_bicubic),
		cmocka_unit_test(nearest_accumulates),
		cmocka_unit_test(weights_stay_in_bounds),
		cmocka_unit_test(parts_agree_with_the_whole),
		cmocka_unit_test(tables_stay_as_promised),
		cmocka_unit_test(old_tables_outlive_a_miss),
		cmocka_unit_test(pairs_stay_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
