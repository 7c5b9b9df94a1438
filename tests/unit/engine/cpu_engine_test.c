// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises of libdl/engine/engine.h, kept by the engine of worker threads: one
 * completion for each accepted job and none for others, order of taking,
 * refusal when full or shut, cancel and destroy, counters, options.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "engine/cpu.h"

#define MAX_JOBS 4096

static atomic_uint times[MAX_JOBS];
static atomic_uint nr_done, nr_cancelled, nr_prepared;
static atomic_uint next_place;
static unsigned int places[MAX_JOBS];

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool gate_is_shut;
static unsigned int nr_at_gate;

static int test_init(const struct dlb_engine_attr *attr, void **engine)
{
	(void)attr;
	*engine = NULL;
	return 0;
}

static void test_fini(void *state)
{
	(void)state;
}

static int refuse_workers_from = -1;

static int test_worker_init(void *engine, const struct dlb_engine_attr *attr,
			    void **worker)
{
	static atomic_int nr;

	(void)engine;
	(void)attr;
	*worker = NULL;
	if (refuse_workers_from < 0) {
		atomic_store(&nr, 0);
		return 0;
	}
	return atomic_fetch_add(&nr, 1) >= refuse_workers_from ? -ENOMEM : 0;
}

static int test_run(void *worker, const struct dlb_job *job,
		    struct dlboost_result *result, uint64_t *resample_ns)
{
	(void)worker;
	*resample_ns = 3;
	places[atomic_fetch_add(&next_place, 1) % MAX_JOBS] =
		(unsigned int)job->id;
	pthread_mutex_lock(&gate_lock);
	nr_at_gate++;
	pthread_cond_broadcast(&gate_moved);
	while (gate_is_shut)
		pthread_cond_wait(&gate_moved, &gate_lock);
	nr_at_gate--;
	pthread_mutex_unlock(&gate_lock);
	if (job->flags == 1)
		return -EINVAL;
	if (job->flags == 2)
		return -ENOSPC;
	result->written_bytes = job->dst_bytes;
	return 0;
}

static size_t test_bytes(const struct dlb_engine_attr *attr)
{
	(void)attr;
	return 1000;
}

static const struct dlb_cpu_backend backend = {
	.name = "test",
	.engine_init = test_init,
	.engine_fini = test_fini,
	.worker_init = test_worker_init,
	.worker_fini = test_fini,
	.run = test_run,
	.worker_bytes = test_bytes,
	.engine_bytes = test_bytes,
};

/* Guarded by gate_lock while completions come in */
static unsigned int last_status;
static char last_message[DLBOOST_MESSAGE_BYTES];

static void count(void *arg, const struct dlb_completion *c, unsigned int nr)
{
	(void)arg;
	pthread_mutex_lock(&gate_lock);
	for (unsigned int i = 0; i < nr; i++) {
		atomic_fetch_add(&times[c[i].id], 1);
		if (c[i].result->status == DLBOOST_STATUS_CANCELLED)
			atomic_fetch_add(&nr_cancelled, 1);
		if (c[i].submit_ns > c[i].start_ns ||
		    c[i].start_ns > c[i].read_done_ns ||
		    c[i].read_done_ns > c[i].end_ns)
			abort();
		last_status = c[i].result->status;
		snprintf(last_message, sizeof(last_message), "%s",
			 c[i].result->message);
	}
	atomic_fetch_add(&nr_done, nr);
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate_lock);
}

static int setup(void **state)
{
	(void)state;
	memset(times, 0, sizeof(times));
	nr_done = nr_cancelled = nr_prepared = next_place = 0;
	gate_is_shut = false;
	refuse_workers_from = -1;
	return 0;
}

static void set_gate(bool is_shut)
{
	pthread_mutex_lock(&gate_lock);
	gate_is_shut = is_shut;
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate_lock);
}

static void wait_at_gate(unsigned int nr)
{
	pthread_mutex_lock(&gate_lock);
	while (nr_at_gate < nr)
		pthread_cond_wait(&gate_moved, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
}

static void wait_done(unsigned int nr)
{
	pthread_mutex_lock(&gate_lock);
	while (atomic_load(&nr_done) < nr)
		pthread_cond_wait(&gate_moved, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
}

static struct dlb_engine *start(const char *options)
{
	struct dlb_engine_attr attr = {
		.options = options,
		.sink = { count, NULL },
	};
	char error[256] = "";
	struct dlb_engine *engine = NULL;

	if (dlb_cpu_create(&backend, &dlb_cpu_engine_ops, &attr, error,
			   sizeof(error), &engine))
		fail_msg("%s", error);
	return engine;
}

static unsigned int submit(struct dlb_engine *engine, unsigned int first,
			   unsigned int nr)
{
	struct dlb_job jobs[64];
	int ret;

	memset(jobs, 0, sizeof(jobs));
	for (unsigned int i = 0; i < nr; i++)
		jobs[i].id = first + i;
	ret = dlb_cpu_submit(engine, jobs, nr);
	assert_true(ret >= 0 && (unsigned int)ret <= nr);
	return (unsigned int)ret;
}

static void one_completion_for_each_job(void **state)
{
	static const char *const options[] = {
		"workers=1", "workers=2", "workers=8,queue=8",
		"workers=3,jitter=20", "workers=2,spin=20",
	};

	for (size_t k = 0; k < sizeof(options) / sizeof(*options); k++) {
		struct dlb_engine *engine;
		unsigned int nr = 0;

		setup(state);
		engine = start(options[k]);
		while (nr < MAX_JOBS) {
			unsigned int want = 1 + nr % 64;

			if (want > MAX_JOBS - nr)
				want = MAX_JOBS - nr;
			nr += submit(engine, nr, want);
		}
		wait_done(MAX_JOBS);
		dlb_cpu_destroy(engine);
		for (unsigned int i = 0; i < MAX_JOBS; i++)
			assert_int_equal(times[i], 1);
		assert_int_equal(nr_cancelled, 0);
	}
}

static void jobs_are_taken_in_order(void **state)
{
	struct dlb_engine *engine = start("workers=1");

	(void)state;
	for (unsigned int nr = 0; nr < 1000;)
		nr += submit(engine, nr, 50);
	wait_done(1000);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(places[i], i);
	dlb_cpu_destroy(engine);
}

/* Full: the first ones are taken, the others get no completion */
static void a_full_queue_refuses(void **state)
{
	struct dlb_engine *engine = start("workers=1,queue=8");
	unsigned int nr;

	(void)state;
	assert_int_equal(dlb_cpu_queue_entries(engine), 8);
	set_gate(true);
	assert_int_equal(submit(engine, 0, 1), 1);
	wait_at_gate(1);
	nr = submit(engine, 1, 20);
	assert_int_equal(nr, 8);
	assert_int_equal(submit(engine, 9, 1), 0);
	set_gate(false);
	wait_done(9);
	dlb_cpu_destroy(engine);
	for (unsigned int i = 0; i < 30; i++)
		assert_int_equal(times[i], i < 9);
}

static void cancel_ends_what_waits(void **state)
{
	struct dlb_engine *engine = start("workers=2,queue=64");
	struct dlb_engine_counters counters;

	(void)state;
	set_gate(true);
	assert_int_equal(submit(engine, 0, 2), 2);
	wait_at_gate(2);
	assert_int_equal(submit(engine, 2, 30), 30);
	dlb_cpu_counters(engine, &counters);
	assert_int_equal(counters.queued, 30);
	assert_int_equal(counters.running, 2);
	dlb_cpu_cancel(engine);
	assert_int_equal(nr_cancelled, 30);
	set_gate(false);
	wait_done(32);
	assert_int_equal(submit(engine, 100, 1), 1);
	wait_done(33);
	dlb_cpu_destroy(engine);
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(times[i], 1);
	assert_int_equal(nr_cancelled, 30);
}

static void *open_gate_when_cancelled(void *arg)
{
	(void)arg;
	wait_done(20);
	set_gate(false);
	return NULL;
}

static void destroy_waits_for_what_runs(void **state)
{
	struct dlb_engine *engine = start("workers=2,queue=64");
	pthread_t thread;

	(void)state;
	set_gate(true);
	assert_int_equal(submit(engine, 0, 2), 2);
	wait_at_gate(2);
	assert_int_equal(submit(engine, 2, 20), 20);
	pthread_create(&thread, NULL, open_gate_when_cancelled, NULL);
	dlb_cpu_destroy(engine);
	pthread_join(thread, NULL);
	assert_int_equal(nr_done, 22);
	assert_int_equal(nr_cancelled, 20);
}

static unsigned int prepare(struct dlb_job *job, struct dlb_scratch *scratch,
			    struct dlboost_result *result)
{
	size_t want = (size_t)job->dst_bytes;

	atomic_fetch_add(&nr_prepared, 1);
	if (want > scratch->cap_bytes && scratch->grow(scratch, want)) {
		snprintf(result->message, sizeof(result->message), "too big");
		return DLBOOST_STATUS_TOO_LARGE;
	}
	memset(scratch->buf, 1, want);
	job->src = scratch->buf;
	job->src_bytes = want;
	return DLBOOST_STATUS_OK;
}

static unsigned int status_of(struct dlb_engine *engine, uint32_t flags,
			      size_t input_bytes)
{
	struct dlb_job job = {
		.flags = flags,
		.dst_bytes = input_bytes,
		.prepare = prepare,
	};
	unsigned int before = atomic_load(&nr_done);

	assert_int_equal(dlb_cpu_submit(engine, &job, 1), 1);
	wait_done(before + 1);
	return last_status;
}

static void prepare_gets_room_up_to_the_cap(void **state)
{
	struct dlb_engine *engine = start("workers=1,input=20m");

	(void)state;
	assert_int_equal(status_of(engine, 0, 100), DLBOOST_STATUS_OK);
	assert_int_equal(status_of(engine, 0, 20 << 20), DLBOOST_STATUS_OK);
	assert_int_equal(status_of(engine, 0, 100), DLBOOST_STATUS_OK);
	assert_int_equal(status_of(engine, 0, 12 << 20), DLBOOST_STATUS_OK);
	assert_int_equal(status_of(engine, 0, (20 << 20) + 1),
			 DLBOOST_STATUS_TOO_LARGE);
	assert_string_equal(last_message, "too big");
	assert_int_equal(nr_prepared, 5);
	/* A refusal of the call is not the picture's fault */
	assert_int_equal(status_of(engine, 1, 1), DLBOOST_STATUS_INVALID);
	assert_int_equal(status_of(engine, 2, 1), DLBOOST_STATUS_INVALID);
	assert_int_equal(dlb_cpu_memory_bytes(engine), (20 << 20) + 2000);
	dlb_cpu_destroy(engine);
}

static void counters_grow(void **state)
{
	struct dlb_engine *engine = start("workers=2");
	struct dlb_engine_counters before, after;

	(void)state;
	dlb_cpu_counters(engine, &before);
	for (unsigned int nr = 0; nr < 2000;)
		nr += submit(engine, nr, 1);
	wait_done(2000);
	dlb_cpu_counters(engine, &after);
	assert_true(after.cpu_ns > before.cpu_ns);
	assert_true(after.idle_ns >= before.idle_ns);
	assert_true(dlb_cpu_nr_wakeups(engine) <= 2000);
	assert_int_equal(after.queued, 0);
	dlb_cpu_destroy(engine);
}

static void a_worker_that_fails_fails_the_engine(void **state)
{
	struct dlb_engine_attr attr = { .options = "workers=4",
					.sink = { count, NULL } };
	struct dlb_engine *engine = NULL;
	char error[256] = "";

	(void)state;
	refuse_workers_from = 2;
	assert_int_equal(dlb_cpu_create(&backend, &dlb_cpu_engine_ops, &attr,
					error, sizeof(error), &engine),
			 -ENOMEM);
	assert_null(engine);
	assert_non_null(strstr(error, "4 workers"));
}

static void read_status(char *buf, size_t bytes, pid_t tid)
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(buf, 1, bytes - 1, f);
	buf[n] = '\0';
	fclose(f);
}

static atomic_int worker_tid;

static unsigned int tell_tid(struct dlb_job *job, struct dlb_scratch *scratch,
			     struct dlboost_result *result)
{
	(void)job;
	(void)scratch;
	(void)result;
	worker_tid = gettid();
	return DLBOOST_STATUS_OK;
}

/* Signals belong to the program's own threads; names show in top */
static void workers_block_signals_and_have_names(void **state)
{
	struct dlb_engine *engine = start("workers=1");
	struct dlb_job job = { .prepare = tell_tid };
	unsigned long long blocked;
	char status[4096];

	(void)state;
	assert_int_equal(dlb_cpu_submit(engine, &job, 1), 1);
	wait_done(1);
	read_status(status, sizeof(status), worker_tid);
	assert_non_null(strstr(status, "dlb-test-0"));
	assert_int_equal(sscanf(strstr(status, "SigBlk:"), "SigBlk: %llx",
				&blocked), 1);
	for (int nr = 1; nr < 32; nr++)
		if (nr != SIGKILL && nr != SIGSTOP)
			assert_true(blocked >> (nr - 1) & 1);
	dlb_cpu_destroy(engine);
}

static void pinned_to_the_list(void **state)
{
	struct dlb_job job = { .prepare = tell_tid };
	struct dlb_engine *engine;
	cpu_set_t allowed, set;
	char options[64];
	int cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	snprintf(options, sizeof(options), "affinity=%d", cpu);
	engine = start(options);
	assert_int_equal(dlb_cpu_nr_workers(engine), 1);
	assert_int_equal(dlb_cpu_submit(engine, &job, 1), 1);
	wait_done(1);
	assert_int_equal(sched_getaffinity(worker_tid, sizeof(set), &set), 0);
	assert_int_equal(CPU_COUNT(&set), 1);
	assert_true(CPU_ISSET(cpu, &set));
	dlb_cpu_destroy(engine);
}

static void options_are_checked(void **state)
{
	static const char *const wrong[] = {
		"workers=0", "workers=x", "workers=", "workers=1025",
		"workers=-1", "queue=7", "queue=65537", "input=1", "input=3g",
		"input=64kk", "input=99999999999999999999", "jitter=-1",
		"spin=1001", "affinity=", "affinity=1-", "affinity=3-1",
		"affinity=1024", "affinity=0,1", "numa=x", "numa=1000",
		"nothing", "nothing=1",
	};
	struct dlb_cpu_options options;
	char error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		error[0] = '\0';
		if (dlb_cpu_options_parse(wrong[i], "test", &options, error,
					  sizeof(error)) != -EINVAL)
			fail_msg("taken: %s", wrong[i]);
		assert_memory_equal(error, "engine test: ", 13);
	}
	assert_int_equal(dlb_cpu_options_parse(
		"workers=3,affinity=0-2+5,numa=none,input=1m,queue=9,spin=2,jitter=4",
		"test", &options, NULL, 0), 0);
	assert_int_equal(options.nr_workers, 3);
	assert_int_equal(options.nr_cpus, 4);
	assert_int_equal(options.cpus[3], 5);
	assert_int_equal(options.numa_node, DLB_CPU_NUMA_NONE);
	assert_int_equal(options.input_bytes, 1 << 20);
	assert_int_equal(options.queue_entries, 9);
	assert_int_equal(options.spin_ns, 2000);
	assert_int_equal(options.jitter_us, 4);
	assert_int_equal(dlb_cpu_options_parse("", "test", &options, NULL, 0),
			 0);
	assert_int_equal(options.nr_workers, dlb_cpu_nr_allowed());
	assert_int_equal(options.input_bytes, 64 << 20);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		TEST(one_completion_for_each_job),
		TEST(jobs_are_taken_in_order),
		TEST(a_full_queue_refuses),
		TEST(cancel_ends_what_waits),
		TEST(destroy_waits_for_what_runs),
		TEST(prepare_gets_room_up_to_the_cap),
		TEST(counters_grow),
		TEST(a_worker_that_fails_fails_the_engine),
		TEST(workers_block_signals_and_have_names),
		TEST(pinned_to_the_list),
		TEST(options_are_checked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
