// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Where completions come in, on threads of the engines.  Judges each without a
 * lock (its sample belongs to this thread), then counts them under pool->lock,
 * hands the engines more work and wakes the consumer when its batch is whole.
 */
#include "stream.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "../base/base.h"

#define MAX_AT_ONCE 16

void dlb_stream_wake(struct dlboost_stream *stream)
{
	int saved_errno = errno;

	/*
	 * The count changes before the sleepers are looked for.  Pairs with:
	 * the waiter announces itself before it reads the count, wait_locked().
	 */
	atomic_fetch_add(&stream->wake, 1);
	if (atomic_load(&stream->nr_waiting))
		syscall(SYS_futex, &stream->wake, FUTEX_WAKE_PRIVATE, INT_MAX,
			NULL, NULL, 0);
	errno = saved_errno;
}

static struct dlboost_batch *completion_batch(struct dlboost_stream *stream,
					      const struct dlb_completion *c)
{
	return &stream->pool->batches[c->id >> 32];
}

/* @engine_idx: the engine that had it */
static void finish_locked(struct dlboost_stream *stream,
			  struct dlboost_batch *batch, uint32_t i,
			  enum dlb_judgement judgement, uint8_t engine_idx)
{
	if (judgement == DLB_JUDGEMENT_AGAIN &&
	    batch->state != DLB_SLOT_ABANDONED && !stream->is_stopping) {
		stream->stats.total.rerouted +=
			batch->samples[i].engine_idx != engine_idx;
		dlb_stream_retry_locked(stream, &batch->samples[i]);
		return;
	}
	batch->nr_pending--;
	if (batch->nr_pending == 0 && batch->state == DLB_SLOT_ABANDONED &&
	    batch->nr_submitted == batch->count)
		dlb_batch_recycle_locked(batch);
}

static void complete_some(struct dlboost_stream *stream,
			  const struct dlb_completion *c, unsigned int nr)
{
	enum dlb_judgement judgements[MAX_AT_ONCE];
	uint8_t engines[MAX_AT_ONCE];
	bool was_ready;

	for (unsigned int k = 0; k < nr; k++) {
		struct dlboost_batch *batch = completion_batch(stream, &c[k]);
		uint32_t i = (uint32_t)c[k].id;

		/* judge() may choose another engine for the next try */
		engines[k] = batch->samples[i].engine_idx;
		judgements[k] = dlb_policy_judge(stream, batch, i, &c[k]);
	}
	pthread_mutex_lock(&stream->pool->lock);
	was_ready = dlb_stream_head_is_ready(stream);
	for (unsigned int k = 0; k < nr; k++) {
		stream->engines[engines[k]].nr_in_flight--;
		dlb_stats_count_completion(&stream->stats, &c[k]);
		finish_locked(stream, completion_batch(stream, &c[k]),
			      (uint32_t)c[k].id, judgements[k], engines[k]);
	}
	dlb_stream_feed_locked(stream);
	if (!was_ready && dlb_stream_head_is_ready(stream))
		dlb_stream_wake(stream);
	pthread_mutex_unlock(&stream->pool->lock);
}

void dlb_stream_complete(void *arg, const struct dlb_completion *c,
			 unsigned int nr)
{
	struct dlboost_stream *stream = arg;

	while (nr) {
		unsigned int now = nr < MAX_AT_ONCE ? nr : MAX_AT_ONCE;

		complete_some(stream, c, now);
		c += now;
		nr -= now;
	}
	dlb_stats_tick(stream, dlb_now_ns());
}
