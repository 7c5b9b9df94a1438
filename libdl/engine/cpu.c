// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The engine of worker threads: owns the threads, their input buffers and the
 * delivery of completions.  Knows nothing of pixels (a backend does) and
 * nothing of batches (the sink does).
 *
 * Locks: the queue's own; start_lock only while workers come up.  No lock is
 * held over a backend, a prepare() or the sink.
 * Documentation/streams.rst, "Engines".
 */
#include "cpu.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../base/base.h"
#include "queue.h"

/* Input buffer that a worker keeps between pictures */
#define KEEP_INPUT_BYTES ((size_t)8 << 20)
#define FIRST_INPUT_BYTES ((size_t)1 << 20)
/*
 * A worker delivers what it has done once it has spent this long on it: real
 * pictures go out one by one, cheap jobs in sub-batches.
 */
#define DELIVER_AFTER_NS 50000

struct cpu_input {
	struct dlb_scratch scratch;	/* first member */
	size_t reserved_bytes;
};

struct cpu_engine;

struct cpu_worker {
	struct cpu_engine *engine;
	unsigned int idx;
	pthread_t thread;
	void *state;			/* the backend's */
	struct cpu_input input;
	uint64_t random;		/* jitter */
	atomic_ullong idle_ns;
	atomic_ullong idle_since_ns;	/* 0 while busy */
	atomic_uint nr_running;
	struct dlb_queued_job taken[DLB_QUEUE_MAX_TAKE];
	struct dlb_completion completions[DLB_QUEUE_MAX_TAKE];
	struct dlboost_result results[DLB_QUEUE_MAX_TAKE];
} __attribute__((aligned(64)));

struct cpu_engine {
	struct dlb_engine engine;	/* first member */
	const struct dlb_cpu_backend *backend;
	struct dlb_cpu_options options;
	struct dlb_engine_attr attr;
	void *state;			/* the backend's */
	struct dlb_job_queue queue;
	struct cpu_worker *workers;
	unsigned int nr_threads;	/* of @workers that run */
	pthread_mutex_t start_lock;	/* the next three */
	pthread_cond_t started;
	unsigned int nr_started;
	int start_error;
};

static struct cpu_engine *to_cpu(struct dlb_engine *engine)
{
	return (struct cpu_engine *)engine;
}

static const struct cpu_engine *to_cpu_const(const struct dlb_engine *engine)
{
	return (const struct cpu_engine *)engine;
}

static int input_grow(struct dlb_scratch *scratch, size_t bytes)
{
	struct cpu_input *input = (struct cpu_input *)scratch;

	if (bytes > input->reserved_bytes)
		return -ENOMEM;
	if (bytes > scratch->cap_bytes)
		scratch->cap_bytes = bytes;
	return 0;
}

static int input_init(struct cpu_input *input, size_t bytes,
		      const struct dlboost_limits *limits)
{
	void *buf = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (buf == MAP_FAILED)
		return -ENOMEM;
	input->reserved_bytes = bytes;
	input->scratch.buf = buf;
	input->scratch.cap_bytes = bytes < FIRST_INPUT_BYTES ?
				   bytes : FIRST_INPUT_BYTES;
	input->scratch.grow = input_grow;
	input->scratch.limits = limits;
	return 0;
}

static void input_fini(struct cpu_input *input)
{
	if (input->scratch.buf)
		munmap(input->scratch.buf, input->reserved_bytes);
}

/* One huge file must not leave its size behind in every worker */
static void input_trim(struct cpu_input *input)
{
	if (input->scratch.cap_bytes <= KEEP_INPUT_BYTES)
		return;
	madvise(input->scratch.buf + KEEP_INPUT_BYTES,
		input->reserved_bytes - KEEP_INPUT_BYTES, MADV_DONTNEED);
	input->scratch.cap_bytes = KEEP_INPUT_BYTES;
}

static void worker_jitter(struct cpu_worker *worker)
{
	uint64_t x = worker->random;
	uint64_t us;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	worker->random = x;
	us = x % (worker->engine->options.jitter_us + 1);
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(us / 1000000),
				      .tv_nsec = (long)(us % 1000000) * 1000 },
		  NULL);
}

static void result_clear(struct dlboost_result *result)
{
	result->status = DLBOOST_STATUS_OK;
	result->flags = 0;
	result->width = 0;
	result->height = 0;
	result->written_bytes = 0;
	result->offset_bytes = -1;
	result->nr_warnings = 0;
	result->message[0] = '\0';
}

/* A refusal of the call itself, not of the picture */
static void result_invalid(struct dlboost_result *result, int ret)
{
	result->status = DLBOOST_STATUS_INVALID;
	if (!result->message[0])
		dlb_sentence(result->message, sizeof(result->message),
			     ret == -ENOSPC ?
			     "the tensor does not fit the destination" :
			     "the geometry does not fit the picture");
}

static void worker_run_job(struct cpu_worker *worker, unsigned int i,
			   uint64_t start_ns)
{
	struct dlb_job *job = &worker->taken[i].job;
	struct dlb_completion *c = &worker->completions[i];
	struct dlboost_result *result = &worker->results[i];
	unsigned int status = DLBOOST_STATUS_OK;

	result_clear(result);
	memset(c, 0, sizeof(*c));
	c->id = job->id;
	c->owner = job->owner;
	c->result = result;
	c->submit_ns = worker->taken[i].submit_ns;
	c->start_ns = start_ns;
	if (job->prepare)
		status = job->prepare(job, &worker->input.scratch, result);
	c->read_done_ns = job->prepare ? dlb_now_ns() : start_ns;
	c->src_bytes = job->src_bytes;
	if (status == DLBOOST_STATUS_OK) {
		int ret = worker->engine->backend->run(worker->state, job,
						       result,
						       &c->resample_ns);
		if (ret)
			result_invalid(result, ret);
	} else {
		result->status = status;
	}
	c->end_ns = dlb_now_ns();
	if (job->prepare)
		input_trim(&worker->input);
}

static void worker_deliver(struct cpu_worker *worker, unsigned int first,
			   unsigned int nr)
{
	const struct dlb_sink *sink = &worker->engine->attr.sink;

	sink->complete(sink->arg, worker->completions + first, nr);
	atomic_fetch_sub_explicit(&worker->nr_running, nr,
				  memory_order_relaxed);
}

static uint64_t worker_run(struct cpu_worker *worker, unsigned int nr,
			   uint64_t now_ns)
{
	unsigned int first = 0;
	uint64_t first_ns = now_ns;

	atomic_store_explicit(&worker->nr_running, nr, memory_order_relaxed);
	for (unsigned int i = 0; i < nr; i++) {
		if (worker->engine->options.jitter_us) {
			worker_jitter(worker);
			now_ns = dlb_now_ns();
		}
		worker_run_job(worker, i, now_ns);
		now_ns = worker->completions[i].end_ns;
		if (i + 1 < nr && now_ns - first_ns < DELIVER_AFTER_NS)
			continue;
		worker_deliver(worker, first, i + 1 - first);
		first = i + 1;
		first_ns = now_ns;
	}
	return dlb_now_ns();
}

static int worker_init(struct cpu_worker *worker)
{
	struct cpu_engine *cpu = worker->engine;
	char name[16];
	int ret;

	snprintf(name, sizeof(name), "dlb-%.6s-%u", cpu->backend->name,
		 worker->idx % 1000);
	pthread_setname_np(pthread_self(), name);
	dlb_cpu_place_worker(&cpu->options, worker->idx);
	ret = input_init(&worker->input, cpu->options.input_bytes,
			 &cpu->attr.limits);
	if (ret)
		return ret;
	ret = cpu->backend->worker_init(cpu->state, &cpu->attr, &worker->state);
	if (ret)
		input_fini(&worker->input);
	return ret;
}

static void worker_report(struct cpu_engine *cpu, int ret)
{
	pthread_mutex_lock(&cpu->start_lock);
	cpu->nr_started++;
	if (ret && !cpu->start_error)
		cpu->start_error = ret;
	pthread_cond_signal(&cpu->started);
	pthread_mutex_unlock(&cpu->start_lock);
}

static void *worker_main(void *arg)
{
	struct cpu_worker *worker = arg;
	struct cpu_engine *cpu = worker->engine;
	uint64_t now_ns;
	unsigned int nr;
	int ret = worker_init(worker);

	worker_report(cpu, ret);
	if (ret)
		return NULL;
	now_ns = dlb_now_ns();
	for (;;) {
		uint64_t idle_from_ns = now_ns;

		atomic_store_explicit(&worker->idle_since_ns, idle_from_ns,
				      memory_order_relaxed);
		nr = dlb_job_queue_take(&cpu->queue, worker->taken,
					cpu->options.spin_ns);
		now_ns = dlb_now_ns();
		atomic_store_explicit(&worker->idle_since_ns, 0,
				      memory_order_relaxed);
		atomic_fetch_add_explicit(&worker->idle_ns,
					  now_ns - idle_from_ns,
					  memory_order_relaxed);
		if (!nr)
			break;
		now_ns = worker_run(worker, nr, now_ns);
	}
	cpu->backend->worker_fini(worker->state);
	input_fini(&worker->input);
	return NULL;
}

/* Signals belong to the program's own threads */
static int start_thread(struct cpu_worker *worker)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&worker->thread, NULL, worker_main, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

static int start_workers(struct cpu_engine *cpu)
{
	int ret = 0;

	for (unsigned int i = 0; i < cpu->options.nr_workers && !ret; i++) {
		struct cpu_worker *worker = &cpu->workers[i];

		worker->engine = cpu;
		worker->idx = i;
		worker->random = 0x9e3779b97f4a7c15u * (i + 1);
		ret = start_thread(worker);
		if (!ret)
			cpu->nr_threads++;
	}
	pthread_mutex_lock(&cpu->start_lock);
	while (cpu->nr_started < cpu->nr_threads)
		pthread_cond_wait(&cpu->started, &cpu->start_lock);
	if (!ret)
		ret = cpu->start_error;
	pthread_mutex_unlock(&cpu->start_lock);
	return ret;
}

static void join_workers(struct cpu_engine *cpu)
{
	dlb_job_queue_close(&cpu->queue);
	for (unsigned int i = 0; i < cpu->nr_threads; i++)
		pthread_join(cpu->workers[i].thread, NULL);
}

static void free_engine(struct cpu_engine *cpu)
{
	pthread_cond_destroy(&cpu->started);
	pthread_mutex_destroy(&cpu->start_lock);
	dlb_job_queue_fini(&cpu->queue);
	free(cpu->workers);
	free(cpu);
}

static struct cpu_engine *alloc_engine(const struct dlb_cpu_backend *backend,
				       const struct dlb_engine_ops *ops,
				       const struct dlb_engine_attr *attr,
				       const struct dlb_cpu_options *options)
{
	struct cpu_engine *cpu = calloc(1, sizeof(*cpu));

	if (!cpu)
		return NULL;
	cpu->workers = aligned_alloc(64, options->nr_workers *
					 sizeof(*cpu->workers));
	if (!cpu->workers || dlb_job_queue_init(&cpu->queue,
						options->queue_entries,
						options->nr_workers)) {
		free(cpu->workers);
		free(cpu);
		return NULL;
	}
	memset(cpu->workers, 0, options->nr_workers * sizeof(*cpu->workers));
	pthread_mutex_init(&cpu->start_lock, NULL);
	pthread_cond_init(&cpu->started, NULL);
	cpu->engine.ops = ops;
	cpu->backend = backend;
	cpu->options = *options;
	cpu->attr = *attr;
	cpu->attr.options = NULL;	/* the caller's text may go */
	return cpu;
}

int dlb_cpu_create(const struct dlb_cpu_backend *backend,
		   const struct dlb_engine_ops *ops,
		   const struct dlb_engine_attr *attr, char *error,
		   size_t error_bytes, struct dlb_engine **out)
{
	struct dlb_cpu_options options;
	struct cpu_engine *cpu;
	int ret;

	ret = dlb_cpu_options_parse(attr->options, backend->name, &options,
				    error, error_bytes);
	if (ret)
		return ret;
	cpu = alloc_engine(backend, ops, attr, &options);
	if (!cpu) {
		ret = -ENOMEM;
		goto err_sentence;
	}
	ret = backend->engine_init(attr, &cpu->state);
	if (ret)
		goto err_free;
	ret = start_workers(cpu);
	if (ret)
		goto err_join;
	*out = &cpu->engine;
	return 0;

err_join:
	join_workers(cpu);
	backend->engine_fini(cpu->state);
err_free:
	free_engine(cpu);
err_sentence:
	dlb_sentence(error, error_bytes,
		     "engine %s: cannot start %u workers: %s; use fewer with workers=",
		     backend->name, options.nr_workers, strerror(-ret));
	return ret;
}

void dlb_cpu_cancel(struct dlb_engine *engine)
{
	struct cpu_engine *cpu = to_cpu(engine);
	struct dlb_queued_job taken[DLB_QUEUE_MAX_TAKE];
	struct dlb_completion c[DLB_QUEUE_MAX_TAKE];
	struct dlboost_result result;
	unsigned int nr;

	result_clear(&result);
	result.status = DLBOOST_STATUS_CANCELLED;
	while ((nr = dlb_job_queue_take_nowait(&cpu->queue, taken)) > 0) {
		uint64_t now_ns = dlb_now_ns();

		for (unsigned int i = 0; i < nr; i++)
			c[i] = (struct dlb_completion){
				.id = taken[i].job.id,
				.owner = taken[i].job.owner,
				.result = &result,
				.submit_ns = taken[i].submit_ns,
				.start_ns = now_ns,
				.read_done_ns = now_ns,
				.end_ns = now_ns,
			};
		cpu->attr.sink.complete(cpu->attr.sink.arg, c, nr);
	}
}

void dlb_cpu_destroy(struct dlb_engine *engine)
{
	struct cpu_engine *cpu = to_cpu(engine);

	dlb_job_queue_close(&cpu->queue);
	dlb_cpu_cancel(engine);
	join_workers(cpu);
	cpu->backend->engine_fini(cpu->state);
	free_engine(cpu);
}

int dlb_cpu_submit(struct dlb_engine *engine, const struct dlb_job *jobs,
		   unsigned int nr)
{
	return dlb_job_queue_push(&to_cpu(engine)->queue, jobs, nr);
}

static uint64_t thread_cpu_ns(pthread_t thread)
{
	struct timespec ts;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void dlb_cpu_counters(struct dlb_engine *engine,
		      struct dlb_engine_counters *out)
{
	struct cpu_engine *cpu = to_cpu(engine);
	uint64_t now_ns = dlb_now_ns();

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < cpu->nr_threads; i++) {
		struct cpu_worker *worker = &cpu->workers[i];
		uint64_t since_ns =
			atomic_load_explicit(&worker->idle_since_ns,
					     memory_order_relaxed);

		out->idle_ns += atomic_load_explicit(&worker->idle_ns,
						     memory_order_relaxed);
		if (since_ns && since_ns < now_ns)
			out->idle_ns += now_ns - since_ns;
		out->running += atomic_load_explicit(&worker->nr_running,
						     memory_order_relaxed);
		out->cpu_ns += thread_cpu_ns(worker->thread);
	}
	out->queued = atomic_load_explicit(&cpu->queue.count,
					   memory_order_relaxed);
}

unsigned int dlb_cpu_nr_workers(const struct dlb_engine *engine)
{
	return to_cpu_const(engine)->options.nr_workers;
}

unsigned int dlb_cpu_queue_entries(const struct dlb_engine *engine)
{
	return to_cpu_const(engine)->options.queue_entries;
}

size_t dlb_cpu_memory_bytes(const struct dlb_engine *engine)
{
	const struct cpu_engine *cpu = to_cpu_const(engine);
	size_t per_worker = cpu->options.input_bytes +
			    cpu->backend->worker_bytes(&cpu->attr);

	return cpu->options.nr_workers * per_worker +
	       cpu->backend->engine_bytes(&cpu->attr);
}

uint64_t dlb_cpu_nr_wakeups(const struct dlb_engine *engine)
{
	const struct cpu_engine *cpu = to_cpu_const(engine);

	return atomic_load_explicit(&cpu->queue.nr_wakeups,
				    memory_order_relaxed);
}
