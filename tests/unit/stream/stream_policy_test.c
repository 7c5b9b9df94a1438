// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/errors.rst: what each policy does with files that
 * are bad, gone, unreadable or bad only now and then; the budget; and that all
 * of it is the same for any number of workers.
 */
#include "stream_util.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_engine.h"
#include "stream/order.h"

#define NR_CLASSES 4
#define PER_CLASS 20
#define N (NR_CLASSES * PER_CLASS)
#define SAMPLE_BYTES (8 * 8 * 3)

static struct folder folder;

static int setup(void **state)
{
	(void)state;
	folder_make(&folder, NR_CLASSES, PER_CLASS);
	fake_hook = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static struct dlboost_stream_attr policy_attr(uint32_t on_error)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);

	attr.on_error = on_error;
	attr.no_shuffle = 1;
	return attr;
}

static void fail_raises_and_goes_on(void **state)
{
	struct dlboost_stream_attr attr = policy_attr(DLBOOST_ON_ERROR_FAIL);
	struct dlboost_stream *stream;
	struct dlboost_stream_stats stats;
	struct dlboost_result why;
	struct dlboost_batch *batch;
	char path[192];
	uint64_t id;

	(void)state;
	folder_spoil(&folder, 11);
	stream = stream_open(&folder, &attr);
	for (int k = 0; k < N / 8; k++) {
		int ret = dlboost_stream_next(stream, -1, &batch);

		if (k != 1) {
			assert_int_equal(ret, 0);
			dlboost_batch_release(batch);
			continue;
		}
		assert_int_equal(ret, -EBADMSG);
		folder_sample_path(&folder, 11, path);
		assert_non_null(strstr(dlboost_stream_error(stream), path));
		assert_non_null(strstr(dlboost_stream_error(stream),
				       "NOT_AN_IMAGE"));
		assert_non_null(strstr(dlboost_stream_error(stream), "HTML"));
		assert_int_equal(dlboost_stream_bad_sample(stream, &id, &why),
				 0);
		assert_int_equal(id, 11);
		assert_int_equal(why.status, DLBOOST_STATUS_NOT_AN_IMAGE);
	}
	assert_int_equal(dlboost_stream_bad_sample(stream, &id, &why),
			 -ENODATA);
	dlboost_stream_stats(stream, &stats);
	assert_int_equal(stats.bad[DLBOOST_STATUS_NOT_AN_IMAGE], 1);
	assert_int_equal(stats.bad[DLBOOST_STATUS_OK], N - 1);
	assert_int_equal(stats.samples, N - 8);
	dlboost_stream_destroy(stream);
}

static void zero_keeps_the_batch(void **state)
{
	struct dlboost_stream_attr attr = policy_attr(DLBOOST_ON_ERROR_ZERO);
	static const uint8_t zeros[SAMPLE_BYTES];
	struct dlboost_stream *stream;
	struct dlboost_batch_info info;
	struct dlboost_result why;
	struct dlboost_batch *batch;

	(void)state;
	folder_spoil(&folder, 3);
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	dlboost_batch_info(batch, &info);
	assert_int_equal(info.nr_bad, 1);
	for (uint32_t i = 0; i < info.count; i++)
		assert_int_equal(info.status[i], i == 3 ?
				 DLBOOST_STATUS_NOT_AN_IMAGE :
				 DLBOOST_STATUS_OK);
	assert_memory_equal((uint8_t *)info.images + 3 * SAMPLE_BYTES, zeros,
			    SAMPLE_BYTES);
	assert_int_equal(info.ids[3], 3);
	assert_int_equal(dlboost_batch_sample_error(batch, 3, &why), 0);
	assert_int_equal(why.status, DLBOOST_STATUS_NOT_AN_IMAGE);
	assert_non_null(strstr(why.message, "HTML"));
	assert_null(strstr(why.message, "p0003.jpg"));
	assert_int_equal(dlboost_batch_sample_error(batch, 2, &why), 0);
	assert_int_equal(why.status, DLBOOST_STATUS_OK);
	assert_string_equal(why.message, "");
	assert_int_equal(dlboost_batch_sample_error(batch, 8, &why), -ERANGE);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
}

/* F18 by hand: the first member drawn that is neither itself nor bad */
static uint64_t expect_substitute(uint64_t id, const bool *is_bad)
{
	uint64_t first = id / PER_CLASS * PER_CLASS;

	for (uint32_t a = 0; a < DLB_MAX_SUBSTITUTES; a++) {
		uint64_t s = first + dlb_substitute_member(7, 0, id, a,
							   PER_CLASS);

		if (s != id && !is_bad[s])
			return s;
	}
	return id;
}

static void skip_replace_takes_the_same_class(void **state)
{
	struct dlboost_stream_attr attr =
		policy_attr(DLBOOST_ON_ERROR_SKIP_REPLACE);
	bool is_bad[N] = { false };
	struct dlboost_stream_stats stats;
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	unsigned int nr_replaced = 0;

	(void)state;
	for (unsigned int id = 0; id < N; id += 3) {
		is_bad[id] = true;
		folder_spoil(&folder, id);
	}
	stream = stream_open(&folder, &attr);
	while (!dlboost_stream_next(stream, -1, &batch) && batch) {
		struct dlboost_batch_info info;

		dlboost_batch_info(batch, &info);
		for (uint32_t i = 0; i < info.count; i++) {
			int64_t id = info.wanted_ids[i];
			struct dlboost_result why;

			assert_int_equal(info.status[i], 0);
			assert_int_equal(info.labels[i], id / PER_CLASS);
			assert_int_equal(!!(info.flags[i] &
					    DLBOOST_SAMPLE_F_REPLACED),
					 is_bad[id]);
			if (!is_bad[id]) {
				assert_int_equal(info.ids[i], id);
				continue;
			}
			nr_replaced++;
			assert_int_equal(info.ids[i],
					 expect_substitute((uint64_t)id,
							   is_bad));
			dlboost_batch_sample_error(batch, i, &why);
			assert_int_equal(why.status,
					 DLBOOST_STATUS_NOT_AN_IMAGE);
		}
		dlboost_batch_release(batch);
	}
	assert_int_equal(nr_replaced, (N + 2) / 3);
	dlboost_stream_stats(stream, &stats);
	assert_int_equal(stats.replaced, nr_replaced);
	assert_int_equal(stats.bad[DLBOOST_STATUS_NOT_AN_IMAGE], nr_replaced);
	dlboost_stream_destroy(stream);
}

/* A class without one good file: zeros, and the status says so */
static void no_substitute_gives_zeros(void **state)
{
	struct dlboost_stream_attr attr =
		policy_attr(DLBOOST_ON_ERROR_SKIP_REPLACE);
	struct dlboost_stream *stream;
	struct dlboost_batch_info info;
	struct dlboost_batch *batch;

	(void)state;
	for (unsigned int id = 0; id < PER_CLASS; id++)
		folder_spoil(&folder, id);
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	dlboost_batch_info(batch, &info);
	assert_int_equal(info.nr_bad, 8);
	assert_int_equal(info.status[0], DLBOOST_STATUS_NOT_AN_IMAGE);
	assert_int_equal(info.flags[0], 0);
	assert_int_equal(((uint8_t *)info.images)[0], 0);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
}

static uint64_t hash_policy(const char *spec, uint32_t on_error)
{
	struct dlboost_stream_attr attr = policy_attr(on_error);
	struct dlboost_stream *stream;
	uint64_t hash;

	attr.engines = &spec;
	attr.no_shuffle = 0;
	stream = stream_open(&folder, &attr);
	hash = epoch_hash(stream, NULL);
	dlboost_stream_destroy(stream);
	return hash;
}

static void same_bytes_for_any_workers(void **state)
{
	static const char *const specs[] = {
		"fake:workers=2,jitter=300", "fake:workers=8,jitter=500",
		"fake:workers=3,queue=8",
	};

	(void)state;
	for (unsigned int id = 0; id < N; id += 2)
		folder_spoil(&folder, id);
	for (uint32_t policy = DLBOOST_ON_ERROR_SKIP_REPLACE;
	     policy <= DLBOOST_ON_ERROR_ZERO; policy++) {
		uint64_t first = hash_policy("fake:workers=1", policy);

		for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
			assert_true(hash_policy(specs[i], policy) == first);
	}
}

/* Batches handed out or refused before -EDQUOT */
static unsigned int batches_before_quota(const char *spec, uint32_t on_error)
{
	struct dlboost_stream_attr attr = policy_attr(on_error);
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	unsigned int nr = 0;
	int ret;

	attr.engines = &spec;
	attr.no_shuffle = 0;
	attr.max_bad = 5.0 / N + 1e-9;
	stream = stream_open(&folder, &attr);
	for (;; nr++) {
		ret = dlboost_stream_next(stream, -1, &batch);
		if (ret == -EDQUOT)
			break;
		if (ret == -EBADMSG)
			continue;
		assert_int_equal(ret, 0);
		assert_non_null(batch);
		dlboost_batch_release(batch);
	}
	assert_non_null(strstr(dlboost_stream_error(stream), "max_bad"));
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), -EDQUOT);
	dlboost_stream_destroy(stream);
	return nr;
}

static void budget_ends_at_the_same_batch(void **state)
{
	unsigned int expect = 0, bad = 0;
	struct dlb_order *order;

	(void)state;
	for (unsigned int id = 0; id < N; id += 4)
		folder_spoil(&folder, id);
	/* The batch in which the sixth bad sample of the order stands */
	assert_int_equal(dlb_order_create(7, 0, N, false, &order), 0);
	for (unsigned int p = 0; p < N && bad < 6; p++)
		if (dlb_order_at(order, p) % 4 == 0 && ++bad == 6)
			expect = p / 8;
	dlb_order_destroy(order);
	for (uint32_t policy = 0; policy <= DLBOOST_ON_ERROR_ZERO; policy++) {
		assert_int_equal(batches_before_quota("fake:workers=1", policy),
				 expect);
		assert_int_equal(batches_before_quota(
			"fake:workers=8,jitter=400", policy), expect);
	}
}

/* A new epoch has a new budget; the state before the end has the old count */
static void budget_is_of_an_epoch_and_in_the_state(void **state)
{
	struct dlboost_stream_attr attr = policy_attr(DLBOOST_ON_ERROR_ZERO);
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	const char *document;
	char buf[4096];

	(void)state;
	for (unsigned int id = 0; id < 24; id += 8)
		folder_spoil(&folder, id);
	attr.max_bad = 2.0 / N + 1e-9;
	stream = stream_open(&folder, &attr);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
		dlboost_batch_release(batch);
	}
	state_of(stream, NULL, buf);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), -EDQUOT);
	assert_int_equal(dlboost_stream_set_epoch(stream, 1), 0);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
	document = buf;
	attr.states = &document;
	attr.nr_states = 1;
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), -EDQUOT);
	dlboost_stream_destroy(stream);
}

/* Share and number of bad samples; the last number that is within budget */
static void budget_is_the_floor_of_the_share(void **state)
{
	static const struct {
		double share;
		unsigned int budget;
	} rows[] = {
		{ 0, 0 }, { -0.0, 0 }, { 1e-9, 1 }, { 1.0 / N, 1 },
		{ 1.99 / N, 1 }, { 0.7, 56 }, { 0.0375, 3 }, { 1, N },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct dlboost_stream_attr attr =
			policy_attr(DLBOOST_ON_ERROR_ZERO);
		unsigned int nr = rows[i].budget < N ? rows[i].budget + 1 : N;
		struct dlboost_batch *batch = NULL;
		struct dlboost_stream *stream;
		int ret = 0;

		for (unsigned int id = 0; id < nr; id++)
			folder_spoil(&folder, id);
		attr.batch = 1;
		attr.max_bad = rows[i].share;
		stream = stream_open(&folder, &attr);
		for (unsigned int id = 0; id < nr; id++) {
			ret = dlboost_stream_next(stream, -1, &batch);
			if (id < rows[i].budget)
				assert_int_equal(ret, 0);
			if (!ret)
				dlboost_batch_release(batch);
		}
		assert_int_equal(ret, nr > rows[i].budget ? -EDQUOT : 0);
		dlboost_stream_destroy(stream);
	}
}

/* "fail" names a sample first, and speaks of the budget when it is used up */
static void fail_names_the_sample_before_the_budget(void **state)
{
	struct dlboost_stream_attr attr = policy_attr(DLBOOST_ON_ERROR_FAIL);
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;

	(void)state;
	for (unsigned int id = 1; id < 20; id += 3)
		folder_spoil(&folder, id);
	attr.max_bad = 1.0 / N;
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), -EBADMSG);
	assert_non_null(strstr(dlboost_stream_error(stream), "p0001.jpg"));
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), -EDQUOT);
	assert_non_null(strstr(dlboost_stream_error(stream), "max_bad"));
	dlboost_stream_destroy(stream);
	attr.max_bad = 0;
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), -EDQUOT);
	dlboost_stream_destroy(stream);
}

/*
 * A sample without a label among labelled ones: each of its substitutes is of
 * the whole data set, whatever class the one before was of.
 */
static void substitutes_of_no_label_are_of_everything(void **state)
{
	struct dlboost_stream_attr attr =
		policy_attr(DLBOOST_ON_ERROR_SKIP_REPLACE);
	struct dlboost_batch_info info;
	char error[DLBOOST_ERROR_BYTES] = "", path[192];
	struct dlboost_dataset *dataset;
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	unsigned int nr_bad = 0;
	uint64_t expect = 0;
	bool is_bad[N] = { [0] = true };
	FILE *manifest;

	(void)state;
	/* The first four substitutes are bad, too */
	for (uint32_t a = 0; a < DLB_MAX_SUBSTITUTES && !expect; a++) {
		uint64_t s = dlb_substitute_member(7, 0, 0, a, N);

		if (!s || is_bad[s])
			continue;
		if (nr_bad++ < 4)
			is_bad[s] = true;
		else
			expect = s;
	}
	assert_true(expect > 0);
	snprintf(path, sizeof(path), "%s/m.tsv", folder.path);
	manifest = fopen(path, "w");
	assert_non_null(manifest);
	for (unsigned int id = 0; id < N; id++) {
		if (is_bad[id])
			folder_spoil(&folder, id);
		fprintf(manifest, "data/c%02u/p%04u.jpg\t%d\n", id / PER_CLASS,
			id % PER_CLASS, id ? (int)(id / PER_CLASS) : -1);
	}
	assert_int_equal(fclose(manifest), 0);
	dataset = dataset_open(path);
	assert_int_equal(dlboost_stream_create(dataset, &attr, error,
					       sizeof(error), &stream), 0);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	dlboost_batch_info(batch, &info);
	assert_int_equal(info.status[0], DLBOOST_STATUS_OK);
	assert_int_equal(info.ids[0], expect);
	assert_int_equal(info.labels[0], expect / PER_CLASS);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
	dlboost_dataset_close(dataset);
}

/* Gone, and not to be opened: the same as bad, after a second look */
static void missing_files_count_as_bad(void **state)
{
	struct dlboost_stream_attr attr =
		policy_attr(DLBOOST_ON_ERROR_SKIP_REPLACE);
	struct dlboost_stream_stats stats;
	struct dlboost_batch_info info;
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	struct dlboost_result why;
	char path[192];

	(void)state;
	stream = stream_open(&folder, &attr);
	folder_sample_path(&folder, 1, path);
	assert_int_equal(unlink(path), 0);
	folder_sample_path(&folder, 2, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(path, path), 0);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	dlboost_batch_info(batch, &info);
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(info.status[i], DLBOOST_STATUS_OK);
		assert_true(info.flags[i] & DLBOOST_SAMPLE_F_REPLACED);
		dlboost_batch_sample_error(batch, (uint32_t)i, &why);
		assert_int_equal(why.status, DLBOOST_STATUS_IO);
	}
	dlboost_stream_stats(stream, &stats);
	assert_int_equal(stats.bad[DLBOOST_STATUS_IO], 2);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
}

/* A file replaced, cut or emptied while the stream runs: named, counted */
static void files_that_change_are_errors(void **state)
{
	struct dlboost_stream_attr attr = policy_attr(DLBOOST_ON_ERROR_ZERO);
	struct dlboost_batch_info info;
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	struct dlboost_result why;
	char path[192];

	(void)state;
	stream = stream_open(&folder, &attr);
	folder_sample_path(&folder, 1, path);
	assert_int_equal(truncate(path, 100), 0);
	folder_sample_path(&folder, 2, path);
	assert_int_equal(truncate(path, 0), 0);
	folder_spoil(&folder, 3);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	dlboost_batch_info(batch, &info);
	assert_int_equal(info.status[0], DLBOOST_STATUS_OK);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_not_equal(info.status[i], DLBOOST_STATUS_OK);
		dlboost_batch_sample_error(batch, i, &why);
		assert_non_null(strstr(why.message, "changed since"));
		assert_null(strstr(why.message, ".jpg"));
	}
	for (uint32_t i = 4; i < 8; i++)
		assert_int_equal(info.status[i], DLBOOST_STATUS_OK);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
}

static atomic_uint nr_failures;
static unsigned int max_failures;
static unsigned int failure_status;

static unsigned int fail_a_while(const struct dlb_job *job,
				 struct dlboost_result *result)
{
	if ((uint32_t)job->id != 5 || job->id >> 32 != 0 ||
	    atomic_fetch_add(&nr_failures, 1) >= max_failures)
		return DLBOOST_STATUS_OK;
	snprintf(result->message, sizeof(result->message), "made to fail");
	return failure_status;
}

static int next_with_failures(uint32_t on_error, const char *const *engines,
			      uint32_t nr_engines, unsigned int status,
			      unsigned int nr,
			      struct dlboost_stream_stats *stats)
{
	struct dlboost_stream_attr attr = policy_attr(on_error);
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	int ret;

	attr.engines = engines;
	attr.nr_engines = nr_engines;
	atomic_store(&nr_failures, 0);
	max_failures = nr;
	failure_status = status;
	fake_hook = fail_a_while;
	stream = stream_open(&folder, &attr);
	ret = dlboost_stream_next(stream, -1, &batch);
	if (!ret)
		dlboost_batch_release(batch);
	dlboost_stream_stats(stream, stats);
	dlboost_stream_destroy(stream);
	fake_hook = NULL;
	return ret;
}

/* Not the file's fault: once more, then the batch fails */
static void passing_errors_are_tried_again(void **state)
{
	static const char *const one[] = { "fake:workers=2" };
	static const unsigned int statuses[] = {
		DLBOOST_STATUS_IO, DLBOOST_STATUS_TIMEOUT,
		DLBOOST_STATUS_DEVICE_RESET, DLBOOST_STATUS_CRC,
	};
	struct dlboost_stream_stats stats;

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		for (uint32_t p = 0; p <= DLBOOST_ON_ERROR_ZERO; p++) {
			assert_int_equal(next_with_failures(
				p, one, 1, statuses[i], 1, &stats), 0);
			assert_int_equal(stats.bad[DLBOOST_STATUS_OK], 8);
			assert_int_equal(next_with_failures(
				p, one, 1, statuses[i], 99, &stats),
				p == DLBOOST_ON_ERROR_ZERO ? 0 : -EBADMSG);
			assert_int_equal(stats.bad[statuses[i]], 1);
			assert_int_equal(stats.replaced, 0);
		}
	}
}

/* UNSUPPORTED by one engine goes to the next; by all, it is the file's fault */
static void unsupported_goes_to_the_next_engine(void **state)
{
	static const char *const two[] = { "fake:workers=1", "fake:workers=1" };
	struct dlboost_stream_stats stats;

	(void)state;
	assert_int_equal(next_with_failures(
		DLBOOST_ON_ERROR_FAIL, two, 2, DLBOOST_STATUS_UNSUPPORTED, 1,
		&stats), 0);
	assert_int_equal(stats.rerouted, 1);
	assert_int_equal(next_with_failures(
		DLBOOST_ON_ERROR_FAIL, two, 2, DLBOOST_STATUS_UNSUPPORTED, 2,
		&stats), -EBADMSG);
	assert_int_equal(next_with_failures(
		DLBOOST_ON_ERROR_SKIP_REPLACE, two, 2,
		DLBOOST_STATUS_UNSUPPORTED, 2, &stats), 0);
	assert_int_equal(stats.replaced, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(fail_raises_and_goes_on),
		TEST(zero_keeps_the_batch),
		TEST(skip_replace_takes_the_same_class),
		TEST(no_substitute_gives_zeros),
		TEST(same_bytes_for_any_workers),
		TEST(budget_ends_at_the_same_batch),
		TEST(budget_is_of_an_epoch_and_in_the_state),
		TEST(budget_is_the_floor_of_the_share),
		TEST(fail_names_the_sample_before_the_budget),
		TEST(substitutes_of_no_label_are_of_everything),
		TEST(missing_files_count_as_bad),
		TEST(files_that_change_are_errors),
		TEST(passing_errors_are_tried_again),
		TEST(unsupported_goes_to_the_next_engine),
	};

	fake_engine_register();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
