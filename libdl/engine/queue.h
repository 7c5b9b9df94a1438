/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Bounded queue of jobs, many submitters, many workers.  Order of submission is
 * order of taking.  Only libdl/engine uses it.
 */
#ifndef DLB_ENGINE_QUEUE_H
#define DLB_ENGINE_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine.h"

/* A worker takes at most this many jobs under one lock */
#define DLB_QUEUE_MAX_TAKE 8

struct dlb_queued_job {
	struct dlb_job job;
	uint64_t submit_ns;
};

struct dlb_job_queue {
	pthread_mutex_t lock;		/* all members but @count's readers */
	pthread_cond_t not_empty;
	struct dlb_queued_job *ring;
	unsigned int entries;
	unsigned int head;
	atomic_uint count;		/* written under @lock; spinners read it */
	unsigned int nr_sleeping;
	unsigned int nr_waking;		/* signalled, not yet back from sleep */
	unsigned int nr_takers;
	bool is_closed;
	atomic_bool is_closed_hint;	/* for spinners */
	atomic_ullong nr_wakeups;
};

/* 0 or -ENOMEM; @nr_takers workers will share it */
int dlb_job_queue_init(struct dlb_job_queue *queue, unsigned int entries,
		       unsigned int nr_takers);
void dlb_job_queue_fini(struct dlb_job_queue *queue);
/* How many of @jobs fitted, or -ESHUTDOWN; never waits */
int dlb_job_queue_push(struct dlb_job_queue *queue, const struct dlb_job *jobs,
		       unsigned int nr);
/*
 * 1 .. DLB_QUEUE_MAX_TAKE jobs, a fair share of what waits; waits for them,
 * first awake for @spin_ns.  0 once the queue is closed and empty.
 */
unsigned int dlb_job_queue_take(struct dlb_job_queue *queue,
				struct dlb_queued_job *out, uint64_t spin_ns);
/* The same without waiting; 0 when nothing is there */
unsigned int dlb_job_queue_take_nowait(struct dlb_job_queue *queue,
				       struct dlb_queued_job *out);
/* Refuse new jobs; takers get what is left, then 0 */
void dlb_job_queue_close(struct dlb_job_queue *queue);

#endif /* DLB_ENGINE_QUEUE_H */
