// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The bounded job queue.  Owns the copies of jobs between submission and a
 * worker; knows nothing of what a job does.
 *
 * One mutex, held for a copy of a few jobs.  Wake-ups form a tree: a submitter
 * wakes one sleeper, each woken worker wakes up to two more while work is left,
 * so neither a submitter pays for many wake-ups nor does a herd run for one job.
 */
#include "queue.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"

/* Sleepers that a worker wakes when it leaves work behind */
#define WAKE_FANOUT 2

int dlb_job_queue_init(struct dlb_job_queue *queue, unsigned int entries,
		       unsigned int nr_takers)
{
	memset(queue, 0, sizeof(*queue));
	queue->ring = calloc(entries, sizeof(*queue->ring));
	if (!queue->ring)
		return -ENOMEM;
	queue->entries = entries;
	queue->nr_takers = nr_takers;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->not_empty, NULL);
	return 0;
}

void dlb_job_queue_fini(struct dlb_job_queue *queue)
{
	pthread_cond_destroy(&queue->not_empty);
	pthread_mutex_destroy(&queue->lock);
	free(queue->ring);
}

/* Caller holds queue->lock */
static void wake_locked(struct dlb_job_queue *queue, unsigned int max)
{
	unsigned int count = atomic_load_explicit(&queue->count,
						  memory_order_relaxed);

	while (max-- && queue->nr_waking < count &&
	       queue->nr_waking < queue->nr_sleeping) {
		queue->nr_waking++;
		atomic_fetch_add_explicit(&queue->nr_wakeups, 1,
					  memory_order_relaxed);
		pthread_cond_signal(&queue->not_empty);
	}
}

int dlb_job_queue_push(struct dlb_job_queue *queue, const struct dlb_job *jobs,
		       unsigned int nr)
{
	uint64_t now_ns = dlb_now_ns();
	unsigned int count, room, tail;

	pthread_mutex_lock(&queue->lock);
	if (queue->is_closed) {
		pthread_mutex_unlock(&queue->lock);
		return -ESHUTDOWN;
	}
	count = atomic_load_explicit(&queue->count, memory_order_relaxed);
	room = queue->entries - count;
	if (nr > room)
		nr = room;
	tail = (queue->head + count) % queue->entries;
	for (unsigned int i = 0; i < nr; i++) {
		queue->ring[tail].job = jobs[i];
		queue->ring[tail].submit_ns = now_ns;
		tail = tail + 1 == queue->entries ? 0 : tail + 1;
	}
	atomic_store_explicit(&queue->count, count + nr, memory_order_relaxed);
	wake_locked(queue, 1);
	pthread_mutex_unlock(&queue->lock);
	return (int)nr;
}

/*
 * Caller holds queue->lock.  Half of an equal share: few locks while much
 * waits, and no worker left idle behind another's long turn when little does.
 */
static unsigned int take_locked(struct dlb_job_queue *queue,
				struct dlb_queued_job *out)
{
	unsigned int count = atomic_load_explicit(&queue->count,
						  memory_order_relaxed);
	unsigned int nr = count / (2 * queue->nr_takers);

	if (nr > DLB_QUEUE_MAX_TAKE)
		nr = DLB_QUEUE_MAX_TAKE;
	if (!nr && count)
		nr = 1;
	for (unsigned int i = 0; i < nr; i++) {
		out[i] = queue->ring[queue->head];
		queue->head = queue->head + 1 == queue->entries ?
			      0 : queue->head + 1;
	}
	atomic_store_explicit(&queue->count, count - nr, memory_order_relaxed);
	return nr;
}

static void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void spin_for_work(struct dlb_job_queue *queue, uint64_t spin_ns)
{
	uint64_t end_ns;

	if (!spin_ns)
		return;
	end_ns = dlb_now_ns() + spin_ns;
	while (!atomic_load_explicit(&queue->count, memory_order_relaxed) &&
	       !atomic_load_explicit(&queue->is_closed_hint,
				     memory_order_relaxed) &&
	       dlb_now_ns() < end_ns)
		cpu_relax();
}

unsigned int dlb_job_queue_take(struct dlb_job_queue *queue,
				struct dlb_queued_job *out, uint64_t spin_ns)
{
	unsigned int nr;

	if (!atomic_load_explicit(&queue->count, memory_order_relaxed))
		spin_for_work(queue, spin_ns);
	pthread_mutex_lock(&queue->lock);
	while (!atomic_load_explicit(&queue->count, memory_order_relaxed) &&
	       !queue->is_closed) {
		queue->nr_sleeping++;
		pthread_cond_wait(&queue->not_empty, &queue->lock);
		queue->nr_sleeping--;
		if (queue->nr_waking)
			queue->nr_waking--;
	}
	nr = take_locked(queue, out);
	wake_locked(queue, WAKE_FANOUT);
	pthread_mutex_unlock(&queue->lock);
	return nr;
}

unsigned int dlb_job_queue_take_nowait(struct dlb_job_queue *queue,
				       struct dlb_queued_job *out)
{
	unsigned int nr;

	pthread_mutex_lock(&queue->lock);
	nr = take_locked(queue, out);
	pthread_mutex_unlock(&queue->lock);
	return nr;
}

void dlb_job_queue_close(struct dlb_job_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->is_closed = true;
	atomic_store_explicit(&queue->is_closed_hint, true,
			      memory_order_relaxed);
	pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}
