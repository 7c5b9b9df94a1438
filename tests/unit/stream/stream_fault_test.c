// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/streams.rst and errors.rst for what goes wrong
 * inside: engines that refuse work for good, orders that cannot be made, the
 * end of all epochs.  No call waits for ever, and no sample is lost.
 */
#include "stream_util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fake_engine.h"
#include "stream/order.h"

#define N 40
#define TIMEOUT_MS 20000

static struct folder folder;
static bool has_no_memory;

int __real_dlb_order_create(uint64_t seed, uint32_t epoch, uint64_t nr_samples,
			    bool no_shuffle, struct dlb_order **out);
int __wrap_dlb_order_create(uint64_t seed, uint32_t epoch, uint64_t nr_samples,
			    bool no_shuffle, struct dlb_order **out);

int __wrap_dlb_order_create(uint64_t seed, uint32_t epoch, uint64_t nr_samples,
			    bool no_shuffle, struct dlb_order **out)
{
	if (has_no_memory)
		return -ENOMEM;
	return __real_dlb_order_create(seed, epoch, nr_samples, no_shuffle,
				       out);
}

static int setup(void **state)
{
	(void)state;
	folder_make(&folder, 2, N / 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_submit_hook = NULL;
	has_no_memory = false;
	folder_remove(&folder);
	return 0;
}

static struct dlb_engine *dying;	/* NULL: all */
static unsigned int nr_left;

/* Guarded by the stream's lock */
static int die_after_some(struct dlb_engine *engine, unsigned int nr)
{
	if (dying && engine != dying)
		return 0;
	if (nr > nr_left)
		return -ESHUTDOWN;
	nr_left -= nr;
	return 0;
}

/* Batches that failed, of all */
static unsigned int nr_refused(struct dlboost_stream *stream, unsigned int *nr)
{
	struct dlboost_batch *batch;
	unsigned int refused = 0;

	for (*nr = 0;; ++*nr) {
		int ret = dlboost_stream_next(stream, TIMEOUT_MS, &batch);

		if (!ret && !batch)
			return refused;
		if (ret) {
			assert_int_equal(ret, -EBADMSG);
			assert_non_null(strstr(dlboost_stream_error(stream),
					       "REMOVED"));
			refused++;
			continue;
		}
		dlboost_batch_release(batch);
	}
}

static void no_engine_left_refuses_what_is_left(void **state)
{
	static const unsigned int limits[] = { 0, 1, 7, 8, 9, 20, 39 };

	(void)state;
	dying = NULL;
	fake_submit_hook = die_after_some;
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct dlboost_stream_attr attr = stream_attr(NULL);
		struct dlboost_stream *stream;
		unsigned int nr;

		attr.on_error = i % 3;
		nr_left = limits[i];
		stream = stream_open(&folder, &attr);
		assert_int_equal(nr_refused(stream, &nr),
				 N / 8 - limits[i] / 8);
		assert_int_equal(nr, N / 8);
		dlboost_stream_destroy(stream);
	}
}

static int remember_and_die(struct dlb_engine *engine, unsigned int nr)
{
	if (!dying)
		dying = engine;
	return die_after_some(engine, nr);
}

static void another_engine_takes_over(void **state)
{
	static const char *const two[] = { "fake:workers=1", "fake:workers=1" };
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream;
	unsigned int nr;

	(void)state;
	attr.engines = two;
	attr.nr_engines = 2;
	fake_submit_hook = remember_and_die;
	for (nr_left = 0; nr_left < N; nr_left += 5) {
		unsigned int before = nr_left;

		dying = NULL;
		stream = stream_open(&folder, &attr);
		assert_int_equal(nr_refused(stream, &nr), 0);
		assert_int_equal(nr, N / 8);
		dlboost_stream_destroy(stream);
		nr_left = before;
	}
}

/* Work under way is not given up for an epoch that cannot be entered */
static void set_epoch_without_memory_changes_nothing(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	uint64_t whole, hash = 0xcbf29ce484222325u;
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;

	(void)state;
	stream = stream_open(&folder, &attr);
	whole = epoch_hash(stream, NULL);
	dlboost_stream_destroy(stream);

	stream = stream_open(&folder, &attr);
	for (int k = 0; k < N / 8; k++) {
		assert_int_equal(dlboost_stream_next(stream, TIMEOUT_MS,
						     &batch), 0);
		hash = batch_hash(batch, hash);
		dlboost_batch_release(batch);
		has_no_memory = true;
		assert_int_equal(dlboost_stream_set_epoch(stream, 5), -ENOMEM);
		assert_non_null(strstr(dlboost_stream_error(stream),
				       "epoch 5"));
		has_no_memory = false;
	}
	assert_true(hash == whole);
	assert_int_equal(dlboost_stream_next(stream, TIMEOUT_MS, &batch), 0);
	assert_null(batch);
	has_no_memory = true;
	assert_int_equal(dlboost_stream_next(stream, TIMEOUT_MS, &batch),
			 -ENOMEM);
	has_no_memory = false;
	assert_int_equal(dlboost_stream_next(stream, TIMEOUT_MS, &batch), 0);
	assert_non_null(batch);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
}

static void the_last_epoch_has_no_next(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream;
	struct dlboost_batch_info info;
	struct dlboost_batch *batch;

	(void)state;
	attr.epoch = UINT32_MAX;
	stream = stream_open(&folder, &attr);
	epoch_hash(stream, NULL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dlboost_stream_next(stream, TIMEOUT_MS,
						     &batch), -EOVERFLOW);
		assert_non_null(strstr(dlboost_stream_error(stream),
				       "4294967295"));
	}
	assert_int_equal(dlboost_stream_set_epoch(stream, 0), 0);
	assert_int_equal(dlboost_stream_next(stream, TIMEOUT_MS, &batch), 0);
	dlboost_batch_info(batch, &info);
	assert_int_equal(info.epoch, 0);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
}

/* The reason comes from the reading itself, not from the path of a moment ago */
static unsigned int fail_with_io(const struct dlb_job *job,
				 struct dlboost_result *result)
{
	(void)result;
	return (uint32_t)job->id == 3 ? DLBOOST_STATUS_IO : DLBOOST_STATUS_OK;
}

static void chdir_makes_no_file_missing(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream;
	struct dlboost_dataset *dataset;
	struct dlboost_batch *batch;
	char before[4096];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder.path), 0);
	dataset = dataset_open("data");
	attr.on_error = DLBOOST_ON_ERROR_SKIP_REPLACE;
	assert_int_equal(dlboost_stream_create(dataset, &attr, NULL, 0,
					       &stream), 0);
	assert_int_equal(chdir("/"), 0);
	fake_hook = fail_with_io;
	assert_int_equal(dlboost_stream_next(stream, TIMEOUT_MS, &batch),
			 -EBADMSG);
	dlboost_stream_destroy(stream);
	fake_hook = NULL;
	dlboost_dataset_close(dataset);
	assert_int_equal(chdir(before), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(no_engine_left_refuses_what_is_left),
		TEST(another_engine_takes_over),
		TEST(set_epoch_without_memory_changes_nothing),
		TEST(the_last_epoch_has_no_next),
		TEST(chdir_makes_no_file_missing),
	};

	fake_engine_register();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
