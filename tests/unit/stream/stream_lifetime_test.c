// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of Documentation/streams.rst, "Batches in the caller's hands" and
 * "Waiting": what may be held, views that outlive batch and stream, time limits
 * and interruption, and that a child after fork() is told so.
 */
#include "stream_util.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_engine.h"

#define N 120

static struct folder folder;

/* While it is shut, no job ends: makes "not ready" certain */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool gate_is_shut;

static unsigned int wait_at_gate(const struct dlb_job *job,
				 struct dlboost_result *result)
{
	(void)job;
	(void)result;
	pthread_mutex_lock(&gate_lock);
	while (gate_is_shut)
		pthread_cond_wait(&gate_moved, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
	return DLBOOST_STATUS_OK;
}

static void set_gate(bool is_shut)
{
	pthread_mutex_lock(&gate_lock);
	gate_is_shut = is_shut;
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate_lock);
}

static int setup(void **state)
{
	(void)state;
	fake_engine_register();
	folder_make(&folder, 3, N / 3);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static struct dlboost_stream *open_with(uint32_t slots, uint32_t hold)
{
	struct dlboost_stream_attr attr = stream_attr(NULL);

	attr.slots = slots;
	attr.hold = hold;
	return stream_open(&folder, &attr);
}

static void hold_is_enforced(uint32_t slots, uint32_t hold, uint32_t expect)
{
	struct dlboost_stream *stream = open_with(slots, hold);
	struct dlboost_batch *held[32], *more = NULL;
	struct dlboost_stream_info info;

	dlboost_stream_info(stream, &info);
	assert_int_equal(info.hold, expect);
	for (uint32_t i = 0; i < expect; i++)
		assert_int_equal(dlboost_stream_next(stream, -1, &held[i]), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(dlboost_stream_next(stream, -1, &more),
				 -ENOBUFS);
	assert_null(more);
	assert_non_null(strstr(dlboost_stream_error(stream), "slots="));
	assert_non_null(strstr(dlboost_stream_error(stream), "copy"));
	dlboost_batch_release(held[0]);
	assert_int_equal(dlboost_stream_next(stream, -1, &held[0]), 0);
	for (uint32_t i = 0; i < expect; i++)
		dlboost_batch_release(held[i]);
	dlboost_stream_destroy(stream);
}

static void the_caller_may_hold_so_many(void **state)
{
	(void)state;
	hold_is_enforced(0, 0, 2);
	hold_is_enforced(0, 5, 5);
	/* 2 workers, batches of 8: a window of 4; the rest is the caller's */
	hold_is_enforced(12, 0, 8);
	hold_is_enforced(3, 2, 2);
	hold_is_enforced(2, 0, 1);
}

static void slots_follow_the_formula(void **state)
{
	static const struct {
		const char *spec;
		uint32_t batch;
		uint32_t slots;
	} cases[] = {
		{ "fake:workers=1", 8, 6 }, { "fake:workers=8", 256, 6 },
		{ "fake:workers=9", 256, 7 }, { "fake:workers=17", 256, 8 },
		{ "fake:workers=8", 4, 9 }, { "fake:workers=4", 1, 13 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dlboost_stream_attr attr = stream_attr(&cases[i].spec);
		struct dlboost_stream_info info;
		struct dlboost_stream *stream;

		attr.batch = cases[i].batch;
		stream = stream_open(&folder, &attr);
		dlboost_stream_info(stream, &info);
		assert_int_equal(info.slots, cases[i].slots);
		assert_int_equal(info.slot_bytes, cases[i].batch * 8 * 8 * 3);
		assert_true(info.cap_bytes >= info.slots * info.slot_bytes);
		dlboost_stream_destroy(stream);
	}
}

static void a_slot_waits_for_its_views(void **state)
{
	struct dlboost_stream *stream = open_with(3, 2);
	struct dlboost_batch *first, *batch, *more;
	struct dlboost_batch_info info;
	uint64_t before;

	(void)state;
	assert_int_equal(dlboost_stream_next(stream, -1, &first), 0);
	dlboost_batch_ref(first);
	before = batch_hash(first, 0);
	dlboost_batch_release(first);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
		assert_int_equal(dlboost_stream_next(stream, -1, &more),
				 -ENOBUFS);
		dlboost_batch_release(batch);
	}
	assert_true(batch_hash(first, 0) == before);
	dlboost_batch_unref(first);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), 0);
	assert_int_equal(dlboost_stream_next(stream, -1, &more), 0);
	dlboost_batch_info(more, &info);
	assert_int_equal(info.batch_idx, 12);
	dlboost_batch_release(batch);
	dlboost_batch_release(more);
	dlboost_stream_destroy(stream);
}

static void batches_outlive_the_stream(void **state)
{
	struct dlboost_stream *stream = open_with(0, 3);
	struct dlboost_batch *batches[3];
	struct dlboost_result why;
	uint64_t before[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dlboost_stream_next(stream, -1, &batches[i]),
				 0);
		before[i] = batch_hash(batches[i], 0);
	}
	dlboost_batch_ref(batches[1]);
	dlboost_batch_release(batches[1]);
	dlboost_stream_destroy(stream);
	for (int i = 0; i < 3; i++) {
		assert_true(batch_hash(batches[i], 0) == before[i]);
		assert_int_equal(dlboost_batch_sample_error(batches[i], 0,
							    &why), 0);
	}
	dlboost_batch_unref(batches[1]);
	dlboost_batch_release(batches[2]);
	dlboost_batch_ref(batches[0]);
	dlboost_batch_release(batches[0]);
	assert_true(batch_hash(batches[0], 0) == before[0]);
	dlboost_batch_unref(batches[0]);
}

static void next_gives_up_in_time(void **state)
{
	struct dlboost_stream *stream = open_with(0, 0);
	struct dlboost_batch *batch = NULL;

	(void)state;
	set_gate(true);
	fake_hook = wait_at_gate;
	assert_int_equal(dlboost_stream_next(stream, 0, &batch), -ETIMEDOUT);
	assert_int_equal(dlboost_stream_next(stream, 5, &batch), -ETIMEDOUT);
	assert_null(batch);
	set_gate(false);
	assert_int_equal(dlboost_stream_next(stream, 20000, &batch), 0);
	assert_non_null(batch);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
	fake_hook = NULL;
}

static struct dlboost_stream *interrupted;

static void on_signal(int nr)
{
	(void)nr;
	dlboost_stream_interrupt(interrupted);
}

static void *send_signal(void *arg)
{
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

/* From a signal handler of the waiting thread, and from another thread */
static void interrupt_ends_the_wait(void **state)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct dlboost_stream *stream = open_with(0, 0);
	pthread_t self = pthread_self(), thread;
	struct dlboost_batch *batch = NULL;

	(void)state;
	interrupted = stream;
	set_gate(true);
	fake_hook = wait_at_gate;
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, send_signal, &self);
		assert_int_equal(dlboost_stream_next(stream, -1, &batch),
				 -EINTR);
		pthread_join(thread, NULL);
	}
	/* One that comes before the wait counts too, and counts once */
	dlboost_stream_interrupt(stream);
	assert_int_equal(dlboost_stream_next(stream, -1, &batch), -EINTR);
	assert_int_equal(dlboost_stream_next(stream, 0, &batch), -ETIMEDOUT);
	set_gate(false);
	assert_int_equal(dlboost_stream_next(stream, 20000, &batch), 0);
	dlboost_batch_release(batch);
	dlboost_stream_destroy(stream);
	fake_hook = NULL;
}

struct child {
	struct dlboost_stream *stream;
	struct dlboost_batch *batch;
	int64_t id;
};

/* 0 when the child saw what is promised, else the number of what it did not */
static int in_child(const struct child *c)
{
	struct dlboost_stream_stats stats;
	struct dlboost_batch_info info;
	struct dlboost_batch *batch;
	char buf[4096];

	if (dlboost_stream_next(c->stream, -1, &batch) != -EPERM)
		return 1;
	if (dlboost_stream_set_epoch(c->stream, 5) != -EPERM)
		return 2;
	if (dlboost_stream_state(c->stream, NULL, buf, 4096, NULL) != -EPERM)
		return 3;
	dlboost_batch_info(c->batch, &info);
	if (info.ids[0] != c->id)
		return 4;
	dlboost_stream_stats(c->stream, &stats);
	dlboost_batch_ref(c->batch);
	dlboost_batch_unref(c->batch);
	dlboost_batch_release(c->batch);
	dlboost_stream_destroy(c->stream);
	return 0;
}

static void a_child_is_told_so(void **state)
{
	struct dlboost_stream *stream = open_with(0, 0);
	struct dlboost_batch_info info;
	struct child child = { .stream = stream };
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(dlboost_stream_next(stream, -1, &child.batch), 0);
	dlboost_batch_info(child.batch, &info);
	child.id = info.ids[0];
	for (int i = 0; i < 20; i++) {
		pid = fork();
		if (pid == 0)
			_exit(in_child(&child));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	dlboost_batch_release(child.batch);
	epoch_hash(stream, NULL);
	dlboost_stream_destroy(stream);
}

static void *release_all(void *arg)
{
	struct dlboost_batch **batch = arg;

	dlboost_batch_release(*batch);
	return NULL;
}

/* Releases from other threads while the consumer goes on */
static void release_from_other_threads(void **state)
{
	struct dlboost_stream *stream = open_with(0, 4);
	struct dlboost_batch *batches[4];
	pthread_t threads[4];
	uint64_t hash = 0xcbf29ce484222325u, alone;
	unsigned int nr = 0;

	(void)state;
	alone = epoch_hash(stream, NULL);
	assert_int_equal(dlboost_stream_set_epoch(stream, 0), 0);
	for (;;) {
		if (nr >= 4)
			pthread_join(threads[nr % 4], NULL);
		assert_int_equal(dlboost_stream_next(stream, -1,
						     &batches[nr % 4]), 0);
		if (!batches[nr % 4])
			break;
		hash = batch_hash(batches[nr % 4], hash);
		pthread_create(&threads[nr % 4], NULL, release_all,
			       &batches[nr % 4]);
		nr++;
	}
	for (unsigned int i = nr - 3; i < nr; i++)
		pthread_join(threads[i % 4], NULL);
	assert_true(hash == alone);
	dlboost_stream_destroy(stream);
}

/* Destroyed with work under way, at every stage of it */
static void destroy_at_any_time(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++) {
		const char *spec = "fake:workers=3,jitter=50";
		struct dlboost_stream_attr attr = stream_attr(&spec);
		struct dlboost_stream *stream = stream_open(&folder, &attr);
		struct dlboost_batch *batch = NULL;

		for (int k = 0; k < i % 5; k++) {
			assert_int_equal(dlboost_stream_next(stream, -1,
							     &batch), 0);
			dlboost_batch_release(batch);
		}
		batch = NULL;
		dlboost_stream_next(stream, 0, &batch);
		dlboost_stream_destroy(stream);
		dlboost_batch_release(batch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_may_hold_so_many),
		cmocka_unit_test(slots_follow_the_formula),
		cmocka_unit_test(a_slot_waits_for_its_views),
		cmocka_unit_test(batches_outlive_the_stream),
		cmocka_unit_test(next_gives_up_in_time),
		cmocka_unit_test(interrupt_ends_the_wait),
		cmocka_unit_test(a_child_is_told_so),
		cmocka_unit_test(release_from_other_threads),
		cmocka_unit_test(destroy_at_any_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
