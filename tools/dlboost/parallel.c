// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Worker threads that take item numbers from a counter and put results into a
 * bounded ring, from which the main thread takes them.  One lock guards ring
 * and counters.  Signals are blocked in the workers, so that the main thread
 * gets them.
 */
#include "parallel.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#define RING_ENTRIES 64
#define TICK_NS 100000000l

struct crew {
	const struct parallel *what;
	pthread_mutex_t lock;
	pthread_cond_t has_result;	/* the main thread waits for it */
	pthread_cond_t has_room;	/* workers wait for it */
	uint64_t next_idx;		/* @lock */
	uint64_t nr_put;		/* @lock */
	uint64_t nr_taken;		/* @lock */
	unsigned int nr_running;	/* @lock; workers that may still put */
	bool is_stopped;		/* @lock */
	uint8_t *ring;			/* @lock */
};

struct worker {
	struct crew *crew;
	void *state;
	void *result;
	pthread_t thread;
};

static bool next_item(struct crew *crew, uint64_t *idx)
{
	bool has_one;

	pthread_mutex_lock(&crew->lock);
	has_one = !crew->is_stopped && crew->next_idx < crew->what->nr_items;
	if (has_one)
		*idx = crew->next_idx++;
	pthread_mutex_unlock(&crew->lock);
	return has_one;
}

static void put_result(struct crew *crew, const void *result)
{
	size_t bytes = crew->what->result_bytes;

	pthread_mutex_lock(&crew->lock);
	while (!crew->is_stopped &&
	       crew->nr_put - crew->nr_taken == RING_ENTRIES)
		pthread_cond_wait(&crew->has_room, &crew->lock);
	memcpy(crew->ring + crew->nr_put % RING_ENTRIES * bytes, result, bytes);
	if (!crew->is_stopped)
		crew->nr_put++;
	pthread_cond_signal(&crew->has_result);
	pthread_mutex_unlock(&crew->lock);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct crew *crew = worker->crew;
	uint64_t idx;

	while (next_item(crew, &idx)) {
		memset(worker->result, 0, crew->what->result_bytes);
		crew->what->work(worker->state, idx, worker->result);
		put_result(crew, worker->result);
	}
	pthread_mutex_lock(&crew->lock);
	crew->nr_running--;
	pthread_cond_signal(&crew->has_result);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* True with a result in @result; false after a tick's time or at the end */
static bool take_result(struct crew *crew, void *result, bool *is_over)
{
	size_t bytes = crew->what->result_bytes;
	struct timespec until;
	bool has_one;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TICK_NS;
	if (until.tv_nsec >= 1000000000l) {
		until.tv_nsec -= 1000000000l;
		until.tv_sec++;
	}
	pthread_mutex_lock(&crew->lock);
	while (crew->nr_put == crew->nr_taken && crew->nr_running)
		if (pthread_cond_timedwait(&crew->has_result, &crew->lock,
					   &until))
			break;
	has_one = crew->nr_put != crew->nr_taken;
	if (has_one) {
		memcpy(result, crew->ring + crew->nr_taken % RING_ENTRIES *
		       bytes, bytes);
		crew->nr_taken++;
		pthread_cond_signal(&crew->has_room);
	}
	*is_over = !has_one && !crew->nr_running;
	pthread_mutex_unlock(&crew->lock);
	return has_one;
}

static void crew_stop(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->is_stopped = true;
	pthread_cond_broadcast(&crew->has_room);
	pthread_mutex_unlock(&crew->lock);
}

static int consume_all(struct crew *crew, void *result)
{
	const struct parallel *what = crew->what;
	bool is_over = false;
	int ret = 0;

	while (!ret && !is_over) {
		if (take_result(crew, result, &is_over))
			ret = what->consume(what->arg, result);
		if (what->tick)
			what->tick(what->arg);
		if (!ret && signals_caught())
			ret = -EINTR;
	}
	return ret;
}

static int worker_start(struct crew *crew, struct worker *worker)
{
	sigset_t all, old;
	int ret;

	worker->crew = crew;
	worker->state = crew->what->worker_create(crew->what->arg);
	worker->result = malloc(crew->what->result_bytes);
	if (!worker->state || !worker->result)
		return -ENOMEM;
	pthread_mutex_lock(&crew->lock);
	crew->nr_running++;
	pthread_mutex_unlock(&crew->lock);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&worker->thread, NULL, worker_main, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret) {
		pthread_mutex_lock(&crew->lock);
		crew->nr_running--;
		pthread_mutex_unlock(&crew->lock);
	}
	return ret;
}

static int crew_run(struct crew *crew, struct worker *workers, void *result)
{
	unsigned int nr = 0;
	int ret = 0;

	while (!ret && nr < crew->what->nr_threads) {
		ret = worker_start(crew, &workers[nr]);
		nr += !ret;
	}
	/* Fewer threads than asked for still do the work */
	if (nr)
		ret = consume_all(crew, result);
	crew_stop(crew);
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned int i = 0; i < crew->what->nr_threads; i++) {
		if (workers[i].state)
			crew->what->worker_destroy(workers[i].state);
		free(workers[i].result);
	}
	return ret;
}

int parallel_run(const struct parallel *what)
{
	struct crew crew = { .what = what };
	struct worker *workers = calloc(what->nr_threads, sizeof(*workers));
	void *result = malloc(what->result_bytes);
	pthread_condattr_t attr;
	int ret = -ENOMEM;

	crew.ring = malloc(RING_ENTRIES * what->result_bytes);
	pthread_mutex_init(&crew.lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&crew.has_result, &attr);
	pthread_cond_init(&crew.has_room, NULL);
	pthread_condattr_destroy(&attr);
	if (workers && result && crew.ring)
		ret = crew_run(&crew, workers, result);
	pthread_cond_destroy(&crew.has_room);
	pthread_cond_destroy(&crew.has_result);
	pthread_mutex_destroy(&crew.lock);
	free(crew.ring);
	free(result);
	free(workers);
	return ret;
}
