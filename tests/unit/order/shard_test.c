// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises tested: Documentation/order.rst, "Shards and tails" and "Resume":
 * the ranks' batches are the epoch, by counting every position; the examples of
 * the text; after any number of batches any other world goes on without loss or
 * repetition; nothing overflows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/order.h"

#define MAX_SAMPLES 400

struct count {
	uint32_t seen[MAX_SAMPLES];
	uint32_t duplicates[MAX_SAMPLES];
};

static uint64_t below(uint64_t n)
{
	return (uint64_t)(drand48() * (double)n);
}

/* Batch @idx of all ranks; checks what they have in common */
static void take_batch(struct dlb_shard shard, uint64_t idx,
		       struct count *count)
{
	uint32_t most = 0, least = UINT32_MAX;

	for (shard.rank = 0; shard.rank < shard.world; shard.rank++) {
		uint32_t nr = dlb_shard_batch_count(&shard, idx);

		most = nr > most ? nr : most;
		least = nr < least ? nr : least;
		for (uint32_t i = 0; i < nr; i++) {
			bool is_duplicate;
			uint64_t p = dlb_shard_position(&shard, idx, i,
							&is_duplicate);

			assert_true(p < shard.nr_samples);
			if (is_duplicate)
				count->duplicates[p]++;
			else
				count->seen[p]++;
		}
	}
	assert_true(most - least <= 1);
	assert_true(most <= shard.batch);
	if (shard.tail != DLBOOST_TAIL_PARTIAL)
		assert_int_equal(least, shard.batch);
}

static uint64_t take_epoch(const struct dlb_shard *shard, struct count *count)
{
	uint64_t nr = dlb_shard_nr_batches(shard);

	for (uint64_t k = 0; k < nr; k++)
		take_batch(*shard, k, count);
	for (uint32_t r = 0; r < shard->world; r++) {
		struct dlb_shard other = *shard;

		other.rank = r;
		assert_int_equal(dlb_shard_nr_batches(&other), nr);
		assert_int_equal(dlb_shard_batch_count(&other, nr), 0);
	}
	return nr;
}

static struct dlb_shard random_shard(void)
{
	struct dlb_shard shard = {
		.nr_samples = 1 + below(MAX_SAMPLES),
		.batch = 1 + (uint32_t)below(12),
		.world = 1 + (uint32_t)below(9),
		.tail = (uint32_t)below(3),
	};

	shard.start = below(3) ? below(shard.nr_samples + 1) : 0;
	return shard;
}

static void union_of_the_ranks_is_the_epoch(void **state)
{
	(void)state;
	srand48(7);
	for (int n = 0; n < 20000; n++) {
		struct dlb_shard shard = random_shard();
		struct count count = { { 0 }, { 0 } };
		uint64_t left = shard.nr_samples - shard.start;
		uint64_t step = (uint64_t)shard.batch * shard.world;
		uint64_t nr = take_epoch(&shard, &count), end, extra;

		end = shard.tail == DLBOOST_TAIL_DROP ?
		      shard.start + left / step * step : shard.nr_samples;
		extra = shard.tail == DLBOOST_TAIL_PAD ? nr * step - left : 0;
		assert_true(nr * step >= end - shard.start);
		assert_true(nr * step < left + step);
		for (uint64_t p = 0; p < shard.nr_samples; p++) {
			uint64_t again = extra / shard.nr_samples +
					 (p < extra % shard.nr_samples);

			assert_int_equal(count.seen[p],
					 p >= shard.start && p < end);
			assert_int_equal(count.duplicates[p], again);
		}
	}
}

static void examples_of_the_text(void **state)
{
	struct dlb_shard two = { .nr_samples = 103, .batch = 4, .world = 2,
				 .tail = DLBOOST_TAIL_DROP };
	struct dlb_shard eight = two;
	struct dlb_shard four = { .nr_samples = 33, .batch = 8, .world = 4,
				  .tail = DLBOOST_TAIL_PARTIAL };
	struct dlb_shard tiny = { .nr_samples = 3, .batch = 1, .world = 8,
				  .tail = DLBOOST_TAIL_PAD };
	static const uint32_t last[] = { 1, 0, 0, 0 };
	bool is_duplicate;

	(void)state;
	/* 103 samples, 2 ranks of 4: 96; 8 ranks after 5 batches: 72 */
	assert_int_equal(dlb_shard_nr_batches(&two) * 8, 96);
	eight.world = 8;
	eight.start = dlb_shard_cursor(&two, 5);
	assert_int_equal(eight.start, 40);
	assert_int_equal(eight.start + dlb_shard_nr_batches(&eight) * 32, 72);

	/* 33 samples, 4 ranks of 8: two batches each, three of them empty */
	for (uint32_t r = 0; r < 4; r++) {
		four.rank = r;
		assert_int_equal(dlb_shard_nr_batches(&four), 2);
		assert_int_equal(dlb_shard_batch_count(&four, 0), 8);
		assert_int_equal(dlb_shard_batch_count(&four, 1), last[r]);
	}

	/* 3 samples for 8 ranks: padding wraps from the start, twice */
	for (uint32_t r = 0; r < 8; r++) {
		tiny.rank = r;
		assert_int_equal(dlb_shard_nr_batches(&tiny), 1);
		assert_int_equal(dlb_shard_position(&tiny, 0, 0,
						    &is_duplicate), r % 3);
		assert_int_equal(is_duplicate, r >= 3);
	}
}

/* Up to five worlds one after another take parts of one epoch */
static void other_worlds_go_on_where_one_stopped(void **state)
{
	(void)state;
	srand48(11);
	for (int n = 0; n < 10000; n++) {
		struct dlb_shard shard = random_shard();
		struct count count = { { 0 }, { 0 } };

		shard.start = 0;
		shard.tail = DLBOOST_TAIL_PARTIAL;
		for (int stops = (int)below(5); stops; stops--) {
			uint64_t nr = dlb_shard_nr_batches(&shard);
			uint64_t k = below(nr + 1);

			for (uint64_t i = 0; i < k; i++)
				take_batch(shard, i, &count);
			shard.start = dlb_shard_cursor(&shard, k);
			shard.world = 1 + (uint32_t)below(9);
			shard.batch = 1 + (uint32_t)below(12);
		}
		take_epoch(&shard, &count);
		for (uint64_t p = 0; p < shard.nr_samples; p++)
			assert_int_equal(count.seen[p], 1);
	}
}

static void cursor_counts_what_all_have_taken(void **state)
{
	(void)state;
	srand48(13);
	for (int n = 0; n < 5000; n++) {
		struct dlb_shard shard = random_shard();
		uint64_t nr = dlb_shard_nr_batches(&shard), k = below(nr + 1);
		struct count count = { { 0 }, { 0 } };
		uint64_t cursor = dlb_shard_cursor(&shard, k), mine = 0;

		for (uint64_t i = 0; i < k; i++)
			take_batch(shard, i, &count);
		for (uint64_t p = 0; p < shard.nr_samples; p++) {
			assert_int_equal(count.seen[p],
					 p >= shard.start && p < cursor);
			mine += p >= shard.start && p < cursor &&
				(p - shard.start) % shard.world == shard.rank;
		}
		assert_int_equal(dlb_shard_nr_positions(&shard, cursor), mine);
		assert_int_equal(dlb_shard_cursor(&shard, nr + 1 + below(9)),
				 dlb_shard_cursor(&shard, nr));
	}
}

static void largest_numbers_do_not_overflow(void **state)
{
	struct dlb_shard shard = {
		.nr_samples = INT64_MAX, .batch = UINT32_MAX,
		.rank = UINT32_MAX - 1, .world = UINT32_MAX,
		.tail = DLBOOST_TAIL_PAD,
	};
	bool is_duplicate;

	(void)state;
	/* (2^32 - 1)^2 > 2^63 - 1: one step covers the epoch */
	assert_int_equal(dlb_shard_nr_batches(&shard), 1);
	assert_true(dlb_shard_cursor(&shard, 1) == INT64_MAX);
	assert_true(dlb_shard_position(&shard, 0, UINT32_MAX - 1,
				       &is_duplicate) ==
		    (uint64_t)UINT32_MAX * UINT32_MAX - 1 - INT64_MAX);
	assert_true(is_duplicate);
	shard.batch = 1;
	shard.tail = DLBOOST_TAIL_DROP;
	assert_true(dlb_shard_nr_batches(&shard) ==
		    (uint64_t)INT64_MAX / UINT32_MAX);
	shard.start = INT64_MAX;
	assert_int_equal(dlb_shard_nr_batches(&shard), 0);
	assert_int_equal(dlb_shard_batch_count(&shard, 0), 0);
	assert_true(dlb_shard_cursor(&shard, 3) == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(union_of_the_ranks_is_the_epoch),
		cmocka_unit_test(examples_of_the_text),
		cmocka_unit_test(other_worlds_go_on_where_one_stopped),
		cmocka_unit_test(cursor_counts_what_all_have_taken),
		cmocka_unit_test(largest_numbers_do_not_overflow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
