// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/order.rst, "Order of an epoch": each sample
 * stands at exactly one position, for every number of samples; small data sets
 * see all their orders equally often, large ones all samples at a position;
 * seed and epoch change the order.
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

#include "stream/order.h"

static struct dlb_order *order_of(uint64_t seed, uint32_t epoch, uint64_t nr)
{
	struct dlb_order *order = NULL;

	assert_int_equal(dlb_order_create(seed, epoch, nr, false, &order), 0);
	return order;
}

static void check_bijection(uint64_t seed, uint64_t nr)
{
	struct dlb_order *order = order_of(seed, 3, nr);
	uint8_t *seen = calloc(nr, 1);

	assert_non_null(seen);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t sample = dlb_order_at(order, i);

		if (sample >= nr || seen[sample]++)
			fail_msg("N %lu: position %lu gives %lu",
				 (unsigned long)nr, (unsigned long)i,
				 (unsigned long)sample);
	}
	free(seen);
	dlb_order_destroy(order);
}

static void every_sample_once(void **state)
{
	(void)state;
	for (uint64_t nr = 1; nr <= 2000; nr++)
		check_bijection(nr, nr);
}

static void every_sample_once_in_large_sets(void **state)
{
	static const uint64_t sizes[] = {
		65535, 65536, 65537, 65600, 131071, 131072, 131073, 200001,
		262144, 262145, 500000, 1281167, 2097153,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_bijection(i, sizes[i]);
}

static int compare_samples(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void no_sample_twice_in_huge_sets(void **state)
{
	static const uint64_t sizes[] = {
		((uint64_t)1 << 32) + 1, 1000000000000, INT64_MAX,
	};
	static uint64_t samples[100000];

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct dlb_order *order = order_of(k, 0, sizes[k]);

		for (uint64_t i = 0; i < 100000; i++) {
			uint64_t position = i % 2 ? sizes[k] - 1 - i : i;

			samples[i] = dlb_order_at(order, position);
			assert_true(samples[i] < sizes[k]);
		}
		qsort(samples, 100000, sizeof(samples[0]), compare_samples);
		for (size_t i = 1; i < 100000; i++)
			assert_true(samples[i] != samples[i - 1]);
		dlb_order_destroy(order);
	}
}

/* Number of an order of up to six samples among all their orders */
static uint32_t rank_of(const struct dlb_order *order, uint32_t nr)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t smaller = 0;

		for (uint32_t j = i + 1; j < nr; j++)
			smaller += dlb_order_at(order, j) <
				   dlb_order_at(order, i);
		rank = rank * (nr - i) + smaller;
	}
	return rank;
}

static double chi_square(const uint32_t *seen, uint32_t cells, double expected)
{
	double sum = 0;

	for (uint32_t i = 0; i < cells; i++)
		sum += (seen[i] - expected) * (seen[i] - expected) / expected;
	return sum;
}

static void small_sets_see_all_orders(void **state)
{
	static const uint32_t orders[] = { 1, 1, 2, 6, 24, 120, 720 };

	(void)state;
	for (uint32_t nr = 2; nr <= 6; nr++) {
		uint32_t seen[720] = { 0 }, df = orders[nr] - 1;
		double chi2;

		for (uint32_t epoch = 0; epoch < 100 * orders[nr]; epoch++) {
			struct dlb_order *order = order_of(nr, epoch, nr);

			seen[rank_of(order, nr)]++;
			dlb_order_destroy(order);
		}
		chi2 = chi_square(seen, orders[nr], 100);
		/* Five deviations of sqrt(2 df) above the mean */
		assert_true((chi2 - df) * (chi2 - df) < 25 * 2.0 * df);
	}
}

/* Where do neighbours go, and what do epochs put at one position? */
static void large_sets_are_spread(void **state)
{
	static const uint64_t nr = 1281167;
	uint32_t at_start[64] = { 0 }, step[64] = { 0 };
	struct dlb_order *order = order_of(1, 0, nr);
	double chi2;

	(void)state;
	for (uint64_t i = 0; i < 64000; i++) {
		uint64_t a = dlb_order_at(order, i);
		uint64_t b = dlb_order_at(order, i + 1);

		step[(b + nr - a) % nr * 64 / nr]++;
	}
	dlb_order_destroy(order);
	for (uint32_t epoch = 0; epoch < 64000; epoch++) {
		order = order_of(2, epoch, nr);
		at_start[dlb_order_at(order, 0) * 64 / nr]++;
		dlb_order_destroy(order);
	}
	/* 63 degrees of freedom, deviation 11.2 */
	chi2 = chi_square(step, 64, 1000);
	assert_true(chi2 > 63 - 50 && chi2 < 63 + 56);
	chi2 = chi_square(at_start, 64, 1000);
	assert_true(chi2 > 63 - 50 && chi2 < 63 + 56);
}

static uint32_t nr_equal(const struct dlb_order *a, const struct dlb_order *b)
{
	uint32_t nr = 0;

	for (uint64_t i = 0; i < 10000; i++)
		nr += dlb_order_at(a, i) == dlb_order_at(b, i);
	return nr;
}

static void seed_and_epoch_change_the_order(void **state)
{
	static const uint64_t sizes[] = { 10000, 100000 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct dlb_order *first = order_of(1, 1, sizes[i]);
		struct dlb_order *again = order_of(1, 1, sizes[i]);
		struct dlb_order *epoch = order_of(1, 2, sizes[i]);
		struct dlb_order *low = order_of(2, 1, sizes[i]);
		struct dlb_order *high = order_of(1 + ((uint64_t)1 << 32), 1,
						  sizes[i]);

		assert_int_equal(nr_equal(first, again), 10000);
		/* One is expected by chance, ten are not */
		assert_true(nr_equal(first, epoch) < 10);
		assert_true(nr_equal(first, low) < 10);
		assert_true(nr_equal(first, high) < 10);
		dlb_order_destroy(first);
		dlb_order_destroy(again);
		dlb_order_destroy(epoch);
		dlb_order_destroy(low);
		dlb_order_destroy(high);
	}
}

static void own_order_and_limits(void **state)
{
	struct dlb_order *order = NULL;

	(void)state;
	assert_int_equal(dlb_order_create(1, 0, 0, false, &order), -EINVAL);
	assert_int_equal(dlb_order_create(1, 0, (uint64_t)INT64_MAX + 1, true,
					  &order), -EINVAL);
	assert_null(order);
	assert_int_equal(dlb_order_create(1, 0, 70000, true, &order), 0);
	for (uint64_t i = 0; i < 70000; i++)
		assert_int_equal(dlb_order_at(order, i), i);
	assert_true(dlb_order_at(order, 70000) == DLB_ORDER_NONE);
	dlb_order_destroy(order);
	order = order_of(1, 0, 10);
	assert_true(dlb_order_at(order, 10) == DLB_ORDER_NONE);
	dlb_order_destroy(order);
	dlb_order_destroy(NULL);
}

static void substitutes_are_members(void **state)
{
	uint32_t seen[10] = { 0 };

	(void)state;
	for (uint64_t sample = 0; sample < 1000; sample++)
		for (uint32_t a = 0; a < DLB_MAX_SUBSTITUTES; a++)
			seen[dlb_substitute_member(1, 0, sample, a, 10)]++;
	/* 9 degrees of freedom, deviation 4.2 */
	assert_true(chi_square(seen, 10, 1600) < 30);
	assert_int_equal(dlb_substitute_member(1, 0, 5, 3, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_once),
		cmocka_unit_test(every_sample_once_in_large_sets),
		cmocka_unit_test(no_sample_twice_in_huge_sets),
		cmocka_unit_test(small_sets_see_all_orders),
		cmocka_unit_test(large_sets_are_spread),
		cmocka_unit_test(seed_and_epoch_change_the_order),
		cmocka_unit_test(own_order_and_limits),
		cmocka_unit_test(substitutes_are_members),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
