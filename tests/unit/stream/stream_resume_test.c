// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/streams.rst, "State": each sample exactly once over
 * any chain of resumes with other worlds and batch sizes; what is consumed; and
 * what a state refuses.
 */
#include "stream_util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_engine.h"
#include "stream/state.h"

#define N 157
#define MAX_WORLD 8

static struct folder folder;

static int setup(void **state)
{
	(void)state;
	fake_engine_register();
	folder_make(&folder, 1, N);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

/* xorshift; the seed is printed when a case fails */
static uint32_t draw(uint32_t *random, uint32_t below)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random % below;
}

static void count_batch(struct dlboost_batch *batch, unsigned int *times)
{
	struct dlboost_batch_info info;

	dlboost_batch_info(batch, &info);
	for (uint32_t i = 0; i < info.count; i++)
		times[info.ids[i]]++;
}

/*
 * One leg: all ranks of a world take @nr_batches each (or all there are) and
 * save.  Returns false when the epoch was at its end.
 */
static bool take_leg(uint32_t world, uint32_t batch_size, uint32_t nr_batches,
		     uint32_t nr_states, char states[][4096],
		     unsigned int *times)
{
	static char saved[MAX_WORLD][4096];
	const char *documents[MAX_WORLD];
	bool has_more = true;

	for (uint32_t i = 0; i < nr_states; i++)
		documents[i] = states[i];
	for (uint32_t rank = 0; rank < world; rank++) {
		struct dlboost_stream_attr attr = stream_attr(NULL);
		struct dlboost_batch *batch = NULL;
		struct dlboost_stream *stream;

		attr.world = world;
		attr.rank = rank;
		attr.batch = batch_size;
		attr.states = documents;
		attr.nr_states = nr_states;
		stream = stream_open(&folder, &attr);
		for (uint32_t k = 0; k < nr_batches; k++) {
			assert_int_equal(dlboost_stream_next(stream, -1,
							     &batch), 0);
			if (!batch)
				break;
			count_batch(batch, times);
			/* Both ways of saying what is consumed */
			if (k + 1 == nr_batches && rank % 2)
				state_of(stream, batch, saved[rank]);
			dlboost_batch_release(batch);
		}
		if (!batch || rank % 2 == 0)
			state_of(stream, NULL, saved[rank]);
		has_more &= batch != NULL;
		dlboost_stream_destroy(stream);
	}
	memcpy(states, saved, sizeof(saved));
	return has_more;
}

static void each_sample_once_over_any_resumes(void **state)
{
	static char states[MAX_WORLD][4096];

	(void)state;
	for (uint32_t seed = 1; seed <= 25; seed++) {
		uint32_t random = seed * 2654435761u;
		unsigned int times[N] = { 0 };
		uint32_t nr_states = 0;

		for (bool has_more = true; has_more;) {
			uint32_t world = 1 + draw(&random, MAX_WORLD);

			has_more = take_leg(world, 1 + draw(&random, 7),
					    1 + draw(&random, 4), nr_states,
					    states, times);
			/* All documents, or any one of them */
			nr_states = draw(&random, 2) ? world : 1;
		}
		for (int id = 0; id < N; id++)
			if (times[id] != 1)
				fail_msg("seed %u: sample %d came %u times",
					 seed, id, times[id]);
	}
}

/* The rest of an epoch is the same bytes as without the pause */
static void the_rest_is_the_same(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream = stream_open(&folder, &attr);
	struct dlboost_batch *batch;
	const char *document;
	char buf[4096];
	uint64_t rest, next;

	(void)state;
	for (int k = 0; k < 5; k++) {
		assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
		dlboost_batch_release(batch);
	}
	state_of(stream, NULL, buf);
	rest = epoch_hash(stream, NULL);
	next = epoch_hash(stream, NULL);
	dlboost_stream_destroy(stream);

	document = buf;
	attr.states = &document;
	attr.nr_states = 1;
	attr.seed = 4711;	/* the state's seed counts */
	stream = stream_open(&folder, &attr);
	assert_int_equal(dlboost_stream_len(stream), (N + 7) / 8 - 5);
	/* Setting the epoch it stands in keeps the position */
	assert_int_equal(dlboost_stream_set_epoch(stream, 0), 0);
	assert_true(epoch_hash(stream, NULL) == rest);
	assert_true(epoch_hash(stream, NULL) == next);
	dlboost_stream_destroy(stream);
}

static uint64_t position_in(struct dlboost_stream *stream,
			    struct dlboost_batch *after)
{
	struct dlb_state parsed;
	char buf[4096];

	state_of(stream, after, buf);
	assert_int_equal(dlb_state_parse(buf, &parsed, NULL, 0), 0);
	return parsed.position;
}

/* Handed out is not consumed; released before an older one is not either */
static void consumed_is_released_in_order(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_batch *b[4];
	struct dlboost_stream *stream;

	(void)state;
	attr.hold = 4;
	stream = stream_open(&folder, &attr);
	assert_int_equal(position_in(stream, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(dlboost_stream_next(stream, -1, &b[i]), 0);
	assert_int_equal(position_in(stream, NULL), 0);
	assert_int_equal(position_in(stream, b[2]), 24);
	dlboost_batch_release(b[1]);
	assert_int_equal(position_in(stream, NULL), 0);
	/* A view does not keep a batch from being consumed */
	dlboost_batch_ref(b[0]);
	dlboost_batch_release(b[0]);
	assert_int_equal(position_in(stream, NULL), 16);
	dlboost_batch_unref(b[0]);
	dlboost_batch_release(b[3]);
	assert_int_equal(position_in(stream, NULL), 16);
	dlboost_batch_release(b[2]);
	assert_int_equal(position_in(stream, NULL), 32);
	dlboost_stream_destroy(stream);
}

static void a_short_buffer_is_refused(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream = stream_open(&folder, &attr);
	char buf[4096];
	size_t need = 0;

	(void)state;
	assert_int_equal(dlboost_stream_state(stream, NULL, buf, 10, &need),
			 -ENOSPC);
	assert_true(need > 10 && need <= sizeof(buf));
	assert_int_equal(dlboost_stream_state(stream, NULL, buf, need, &need),
			 0);
	assert_int_equal(strlen(buf) + 1, need);
	dlboost_stream_destroy(stream);
}

/* Every refusal names both values */
static void refuse(const struct dlboost_stream_attr *attr,
		   struct dlboost_dataset *dataset, int expect,
		   const char *const *words)
{
	struct dlboost_stream *stream = NULL;
	char error[DLBOOST_ERROR_BYTES] = "";

	assert_int_equal(dlboost_stream_create(dataset, attr, error,
					       sizeof(error), &stream), expect);
	assert_null(stream);
	for (; *words; words++)
		if (!strstr(error, *words))
			fail_msg("'%s' lacks '%s'", error, *words);
}

static void what_a_state_refuses(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream *stream = stream_open(&folder, &attr);
	struct dlboost_dataset_info info;
	struct dlboost_dataset *dataset;
	const char *documents[2];
	char first[4096], second[4096], path[192];
	struct dlboost_batch *batch;
	struct folder other;

	(void)state;
	state_of(stream, NULL, first);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	state_of(stream, batch, second);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
	snprintf(path, sizeof(path), "%s/data", folder.path);
	dataset = dataset_open(path);
	documents[0] = first;
	documents[1] = second;
	attr.states = documents;

	attr.nr_states = 1;
	attr.recipe = "imagenet-train:size=9,dtype=u8,layout=hwc";
	refuse(&attr, dataset, -EINVAL,
	       (const char *[]){ "recipe", "size=8", "size=9", NULL });
	attr.recipe = FAKE_RECIPE;
	attr.profile = DLBOOST_PROFILE_FAST;
	refuse(&attr, dataset, -EINVAL,
	       (const char *[]){ "profile", "exact", "fast", NULL });
	attr.profile = DLBOOST_PROFILE_EXACT;
	attr.nr_states = 2;
	refuse(&attr, dataset, -EINVAL, (const char *[]){ NULL });
	documents[0] = "no state at all";
	attr.nr_states = 1;
	refuse(&attr, dataset, -EINVAL, (const char *[]){ NULL });

	documents[0] = first;
	dlboost_dataset_info(dataset, &info);
	dlboost_dataset_close(dataset);
	folder_make(&other, 1, 3);
	snprintf(path, sizeof(path), "%s/data", other.path);
	dataset = dataset_open(path);
	refuse(&attr, dataset, -ESTALE,
	       (const char *[]){ info.fingerprint, "157", "(3)", NULL });
	dlboost_dataset_close(dataset);
	folder_remove(&other);
	setenv("XDG_CACHE_HOME", folder.path, 1);
}

static void repeats_are_allowed_on_request(void **state)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);
	struct dlboost_stream_info info;
	struct dlboost_batch *batch;
	struct dlboost_stream *stream;
	const char *documents[2];
	char bufs[2][4096];

	(void)state;
	attr.world = 2;
	for (uint32_t rank = 0; rank < 2; rank++) {
		attr.rank = rank;
		stream = stream_open(&folder, &attr);
		for (uint32_t k = 0; k <= rank; k++) {
			dlboost_stream_next(stream, -1, &batch);
			dlboost_batch_release(batch);
		}
		state_of(stream, NULL, bufs[rank]);
		documents[rank] = bufs[rank];
		dlboost_stream_destroy(stream);
	}
	attr.states = documents;
	attr.nr_states = 2;
	attr.allow_repeat = 1;
	stream = stream_open(&folder, &attr);
	dlboost_stream_info(stream, &info);
	assert_int_equal(info.position, 16);
	assert_int_equal(info.repeated_samples, 8);
	dlboost_stream_destroy(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sample_once_over_any_resumes),
		cmocka_unit_test(the_rest_is_the_same),
		cmocka_unit_test(consumed_is_released_in_order),
		cmocka_unit_test(a_short_buffer_is_refused),
		cmocka_unit_test(what_a_state_refuses),
		cmocka_unit_test(repeats_are_allowed_on_request),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
