// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/streams.rst, "Order": the bytes and the order of
 * batches do not depend on workers or timing; ranks share the data set; what
 * stands in a batch is what the order says, with the draws of that sample.
 */
#include "stream_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_engine.h"
#include "stream/order.h"

#define NR_CLASSES 5
#define PER_CLASS 23
#define N (NR_CLASSES * PER_CLASS)

static struct folder folder;

static int setup(void **state)
{
	(void)state;
	fake_engine_register();
	folder_make(&folder, NR_CLASSES, PER_CLASS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static uint64_t hash_with(const char *spec, uint32_t batch)
{
	struct dlboost_stream_attr attr = stream_attr(&spec);
	struct dlboost_stream *stream;
	uint64_t hash;

	attr.batch = batch;
	stream = stream_open(&folder, &attr);
	hash = epoch_hash(stream, NULL);
	dlboost_stream_destroy(stream);
	return hash;
}

static void same_bytes_for_any_workers(void **state)
{
	static const char *const specs[] = {
		"fake:workers=1", "fake:workers=2", "fake:workers=8",
		"fake:workers=1,jitter=300", "fake:workers=2,jitter=500",
		"fake:workers=8,jitter=1000", "fake:workers=3,queue=8",
	};

	(void)state;
	for (uint32_t batch = 1; batch <= 64; batch *= 4) {
		uint64_t first = hash_with(specs[0], batch);

		for (size_t i = 1; i < sizeof(specs) / sizeof(*specs); i++)
			assert_true(hash_with(specs[i], batch) == first);
	}
}

static void other_seed_other_bytes(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream = stream_open(&folder, &attr);
	uint64_t first = epoch_hash(stream, NULL);

	(void)state;
	dlboost_stream_destroy(stream);
	attr.seed = 8;
	stream = stream_open(&folder, &attr);
	assert_true(epoch_hash(stream, NULL) != first);
	dlboost_stream_destroy(stream);
}

/* Epochs differ, follow each other by themselves, and can be gone back to */
static void epochs(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream = stream_open(&folder, &attr);
	uint64_t hash[3];

	(void)state;
	for (int e = 0; e < 3; e++)
		hash[e] = epoch_hash(stream, NULL);
	assert_true(hash[0] != hash[1] && hash[1] != hash[2]);
	assert_int_equal(dlboost_stream_set_epoch(stream, 1), 0);
	assert_int_equal(dlboost_stream_set_epoch(stream, 1), 0);
	assert_true(epoch_hash(stream, NULL) == hash[1]);
	dlboost_stream_destroy(stream);
}

/* In the middle of an epoch, with work under way */
static void set_epoch_gives_work_up(void **state)
{
	const char *spec = "fake:workers=2,jitter=200";
	struct dlboost_stream_attr attr = stream_attr(&spec);
	struct dlboost_stream *stream = stream_open(&folder, &attr);
	uint64_t first = epoch_hash(stream, NULL);
	struct dlboost_batch *batch, *kept;

	(void)state;
	assert_int_equal(dlboost_stream_next(stream, -1, &kept), 0);
	for (uint32_t e = 2; e < 30; e++) {
		assert_int_equal(dlboost_stream_set_epoch(stream, e), 0);
		assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
		dlboost_batch_release(batch);
	}
	assert_int_equal(dlboost_stream_set_epoch(stream, 0), 0);
	dlboost_batch_release(kept);
	assert_true(epoch_hash(stream, NULL) == first);
	dlboost_stream_destroy(stream);
}

struct seen {
	unsigned int times[N];
	unsigned int nr_batches;
	unsigned int nr_empty;
	unsigned int nr_duplicates;
};

static void take_epoch(struct dlboost_stream *stream, struct seen *seen)
{
	struct dlboost_batch_info info;
	struct dlboost_batch *batch;

	for (;;) {
		assert_int_equal(dlboost_stream_next(stream, 20000, &batch), 0);
		if (!batch)
			return;
		dlboost_batch_info(batch, &info);
		seen->nr_batches++;
		seen->nr_empty += info.count == 0;
		for (uint32_t i = 0; i < info.count; i++) {
			assert_int_equal(info.labels[i],
					 info.ids[i] / PER_CLASS);
			if (info.flags[i] & DLBOOST_SAMPLE_F_DUPLICATE)
				seen->nr_duplicates++;
			else
				seen->times[info.ids[i]]++;
		}
		dlboost_batch_release(batch);
	}
}

static void take_world(uint32_t world, uint32_t batch, uint32_t tail,
		       struct seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	for (uint32_t rank = 0; rank < world; rank++) {
		struct dlboost_stream_attr attr = stream_attr(NULL);
		struct dlboost_stream *stream;
		unsigned int before = seen->nr_batches;

		attr.rank = rank;
		attr.world = world;
		attr.batch = batch;
		attr.tail = tail;
		stream = stream_open(&folder, &attr);
		take_epoch(stream, seen);
		assert_int_equal(seen->nr_batches - before,
				 dlboost_stream_len(stream));
		dlboost_stream_destroy(stream);
	}
}

/* Over all ranks each sample once, whatever the world; F17's formulas */
static void ranks_share_the_samples(void **state)
{
	static const uint32_t worlds[] = { 1, 2, 3, 8, 50 };
	struct seen seen;

	(void)state;
	for (size_t k = 0; k < sizeof(worlds) / sizeof(*worlds); k++) {
		uint32_t w = worlds[k], full = w * 4, once = 0;

		take_world(w, 4, DLBOOST_TAIL_PARTIAL, &seen);
		for (int id = 0; id < N; id++)
			assert_int_equal(seen.times[id], 1);
		assert_int_equal(seen.nr_batches, (N + full - 1) / full * w);
		take_world(w, 4, DLBOOST_TAIL_PAD, &seen);
		for (int id = 0; id < N; id++)
			assert_int_equal(seen.times[id], 1);
		assert_int_equal(seen.nr_duplicates,
				 (N + full - 1) / full * full - N);
		take_world(w, 4, DLBOOST_TAIL_DROP, &seen);
		for (int id = 0; id < N; id++) {
			assert_true(seen.times[id] <= 1);
			once += seen.times[id];
		}
		assert_int_equal(once, N / full * full);
	}
}

/* More ranks than samples: the ranks without one get an empty batch */
static void empty_batches(void **state)
{
	struct seen seen;

	(void)state;
	take_world(N + 5, 4, DLBOOST_TAIL_PARTIAL, &seen);
	assert_int_equal(seen.nr_batches, N + 5);
	assert_int_equal(seen.nr_empty, 5);
}

/* Sample and draws of each place, worked out from order and recipe alone */
static void places_hold_what_the_order_says(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_recipe *recipe;
	struct dlboost_stream *stream;
	struct dlb_order *order;
	uint64_t position = 0;
	struct dlboost_batch *batch;

	(void)state;
	attr.has_augment_seed = 1;
	attr.augment_seed = 99;
	attr.epoch = 3;
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_recipe_parse(FAKE_RECIPE, NULL, 0, &recipe), 0);
	assert_int_equal(dlb_order_create(7, 3, N, false, &order), 0);
	while (!dlboost_stream_next(stream, -1, &batch) && batch) {
		struct dlboost_batch_info info;

		dlboost_batch_info(batch, &info);
		assert_int_equal(info.position, position);
		for (uint32_t i = 0; i < info.count; i++, position++) {
			uint64_t id = dlb_order_at(order, position), pattern;
			struct dlboost_geometry geometry;
			unsigned char bytes[8192];
			char path[192];
			size_t len;
			FILE *f;

			assert_int_equal(info.ids[i], id);
			folder_sample_path(&folder, (unsigned int)id, path);
			f = fopen(path, "rb");
			assert_non_null(f);
			len = fread(bytes, 1, sizeof(bytes), f);
			fclose(f);
			assert_int_equal(dlboost_recipe_draw(
				recipe, 16 + (uint32_t)id % 48,
				16 + (uint32_t)id % 31, 99, 3, id, &geometry), 0);
			memcpy(&pattern, (char *)info.images +
			       i * info.images_bytes / info.count, 8);
			assert_true(pattern ==
				    fake_pattern(bytes, len, &geometry));
		}
		dlboost_batch_release(batch);
	}
	assert_int_equal(position, N);
	dlb_order_destroy(order);
	dlboost_recipe_destroy(recipe);
	dlboost_stream_destroy(stream);
}

static void no_shuffle_keeps_the_order(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	int64_t want = 0;

	(void)state;
	attr.no_shuffle = 1;
	stream = stream_open(&folder, &attr);
	while (!dlboost_stream_next(stream, -1, &batch) && batch) {
		struct dlboost_batch_info info;

		dlboost_batch_info(batch, &info);
		for (uint32_t i = 0; i < info.count; i++)
			assert_int_equal(info.ids[i], want++);
		dlboost_batch_release(batch);
	}
	assert_int_equal(want, N);
	dlboost_stream_destroy(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes_for_any_workers),
		cmocka_unit_test(other_seed_other_bytes),
		cmocka_unit_test(epochs),
		cmocka_unit_test(set_epoch_gives_work_up),
		cmocka_unit_test(ranks_share_the_samples),
		cmocka_unit_test(empty_batches),
		cmocka_unit_test(places_hold_what_the_order_says),
		cmocka_unit_test(no_shuffle_keeps_the_order),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
