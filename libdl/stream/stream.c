// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The consumer's side of a stream: next(), epochs, interruption, the end.
 * Knows how to wait; what is waited for is made in feed.c and complete.c.
 *
 * Lock: pool->lock.  next() sleeps on the futex stream->wake without it, so
 * that interrupt() needs no lock and may be called in a signal handler.
 * Documentation/streams.rst.
 */
#include "stream.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include <dlboost/log.h>

#include "../base/base.h"
#include "dataset.h"

#define QUARANTINE_INTERVAL_NS 30000000000u

static bool is_foreign(const struct dlboost_stream *stream)
{
	return dlb_pool_is_foreign(stream->pool);
}

DLB_EXPORT void dlboost_stream_info(const struct dlboost_stream *stream,
				    struct dlboost_stream_info *out)
{
	*out = stream->info;
}

DLB_EXPORT const char *dlboost_stream_error(const struct dlboost_stream *stream)
{
	return stream->error;
}

DLB_EXPORT int dlboost_stream_bad_sample(const struct dlboost_stream *stream,
					 uint64_t *sample_id,
					 struct dlboost_result *out)
{
	if (!stream->has_failed)
		return -ENODATA;
	if (sample_id)
		*sample_id = stream->failed_id;
	*out = stream->failed_result;
	return 0;
}

DLB_EXPORT uint64_t dlboost_stream_len(const struct dlboost_stream *stream)
{
	return stream->nr_batches;
}

DLB_EXPORT void dlboost_stream_interrupt(struct dlboost_stream *stream)
{
	atomic_store(&stream->is_interrupted, true);
	dlb_stream_wake(stream);
}

/* Sleep until stream->wake leaves @seen, a signal, or @deadline_ns (0: never) */
static void futex_sleep(struct dlboost_stream *stream, unsigned int seen,
			uint64_t deadline_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(deadline_ns / 1000000000u),
		.tv_nsec = (long)(deadline_ns % 1000000000u),
	};

	syscall(SYS_futex, &stream->wake,
		FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen,
		deadline_ns ? &ts : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

/*
 * One look: 0 when the batch is there, -EAGAIN after a sleep, or an error.
 * Caller holds pool->lock, which is let go while asleep.
 */
static int look_or_sleep_locked(struct dlboost_stream *stream,
				uint64_t deadline_ns)
{
	unsigned int seen = atomic_load(&stream->wake);

	if (atomic_exchange(&stream->is_interrupted, false))
		return -EINTR;
	if (dlb_stream_head_is_ready(stream))
		return 0;
	if (deadline_ns && dlb_now_ns() >= deadline_ns)
		return -ETIMEDOUT;
	pthread_mutex_unlock(&stream->pool->lock);
	futex_sleep(stream, seen, deadline_ns);
	pthread_mutex_lock(&stream->pool->lock);
	return -EAGAIN;
}

/* Caller holds pool->lock, which is let go while asleep */
static int wait_for_head_locked(struct dlboost_stream *stream,
				uint64_t deadline_ns)
{
	int ret;

	/*
	 * Announced before the count is read.  Pairs with: dlb_stream_wake()
	 * counts before it looks for sleepers.
	 */
	atomic_fetch_add(&stream->nr_waiting, 1);
	do {
		ret = look_or_sleep_locked(stream, deadline_ns);
	} while (ret == -EAGAIN);
	atomic_fetch_sub(&stream->nr_waiting, 1);
	return ret;
}

static int wait_counted_locked(struct dlboost_stream *stream, int timeout_ms)
{
	struct dlb_stats *stats = &stream->stats;
	uint64_t from_ns = dlb_now_ns();
	uint64_t deadline_ns = timeout_ms < 0 ? 0 :
			       from_ns + (uint64_t)timeout_ms * 1000000u;
	int ret;

	stats->waiting_since_ns = from_ns;
	ret = wait_for_head_locked(stream, deadline_ns);
	stats->total.wait_ns += dlb_now_ns() - from_ns;
	stats->waiting_since_ns = 0;
	if (ret == -ETIMEDOUT)
		dlb_sentence(stream->error, sizeof(stream->error),
			     "no batch was ready within %d ms", timeout_ms);
	else if (ret == -EINTR)
		dlb_sentence(stream->error, sizeof(stream->error),
			     "interrupted");
	return ret;
}

static int refuse_hold(struct dlboost_stream *stream)
{
	dlb_sentence(stream->error, sizeof(stream->error),
		     "the caller holds %u of %u slots, all it may (hold=%u): copy what is kept and release the batch, or ask for more with slots=",
		     stream->pool->nr_held, stream->pool->nr_slots,
		     stream->hold);
	return -ENOBUFS;
}

/* The batch whose turn it is goes to the caller, or back if it is refused */
static int take_head_locked(struct dlboost_stream *stream,
			    struct dlboost_batch **out)
{
	struct dlboost_batch *batch = stream->fifo[stream->fifo_head];
	int ret;

	stream->fifo_head = (stream->fifo_head + 1) % stream->pool->nr_slots;
	stream->fifo_count--;
	stream->take_idx++;
	ret = dlb_policy_settle_locked(stream, batch);
	if (ret == -EDQUOT) {
		/* Not consumed: a state taken now begins with this batch */
		stream->take_idx--;
		stream->bad = batch->bad_before;
		stream->is_over = true;
		dlb_stream_abandon_locked(stream);
	}
	if (ret) {
		dlb_batch_recycle_locked(batch);
		dlb_stream_feed_locked(stream);
		return ret;
	}
	stream->stats.total.samples += batch->count;
	stream->stats.total.batches++;
	stream->pool->nr_held++;
	batch->state = DLB_SLOT_HELD;
	batch->nr_refs = 1;
	*out = batch;
	return 0;
}

static int refuse_epoch(struct dlboost_stream *stream, uint32_t epoch, int ret)
{
	dlb_sentence(stream->error, sizeof(stream->error),
		     "no order for epoch %u: %s", epoch, strerror(-ret));
	return ret;
}

static int begin_next_epoch_locked(struct dlboost_stream *stream)
{
	uint32_t epoch = stream->epoch + 1;
	struct dlb_order *order;
	int ret;

	if (!epoch) {
		dlb_sentence(stream->error, sizeof(stream->error),
			     "epoch %u was the last one there is",
			     stream->epoch);
		return -EOVERFLOW;
	}
	ret = dlb_stream_make_order(stream, epoch, &order);
	if (ret)
		return refuse_epoch(stream, epoch, ret);
	dlb_stream_enter_epoch_locked(stream, order, epoch, 0, 0);
	return 0;
}

static int next_locked(struct dlboost_stream *stream, int timeout_ms,
		       struct dlboost_batch **out)
{
	int ret = 0;

	if (stream->is_over)
		return -EDQUOT;
	stream->error[0] = '\0';
	stream->has_failed = false;
	if (stream->is_at_end)
		ret = begin_next_epoch_locked(stream);
	if (ret)
		return ret;
	if (stream->take_idx >= stream->nr_batches) {
		stream->is_at_end = true;
		*out = NULL;
		return 0;
	}
	if (stream->pool->nr_held >= stream->hold)
		return refuse_hold(stream);
	dlb_stream_feed_locked(stream);
	ret = wait_counted_locked(stream, timeout_ms);
	return ret ? ret : take_head_locked(stream, out);
}

/* What is due now and then, between batches and without the lock */
static void keep_house(struct dlboost_stream *stream)
{
	uint64_t now_ns = dlb_now_ns();

	dlb_stats_tick(stream, now_ns);
	if (!stream->quarantine ||
	    now_ns - stream->last_quarantine_ns < QUARANTINE_INTERVAL_NS)
		return;
	stream->last_quarantine_ns = now_ns;
	dlb_quarantine_write(stream->quarantine);
}

DLB_EXPORT int dlboost_stream_next(struct dlboost_stream *stream,
				   int timeout_ms, struct dlboost_batch **out)
{
	int ret;

	if (is_foreign(stream))
		return -EPERM;
	pthread_mutex_lock(&stream->pool->lock);
	if (!stream->stats.first_ns) {
		stream->stats.first_ns = dlb_now_ns();
		dlb_stats_mark_locked(stream, stream->stats.first_ns);
	}
	ret = next_locked(stream, timeout_ms, out);
	pthread_mutex_unlock(&stream->pool->lock);
	keep_house(stream);
	return ret;
}

/* Let go of all work under way; when it returns, nothing of it is queued */
static void drain_engines(struct dlboost_stream *stream)
{
	pthread_mutex_lock(&stream->pool->lock);
	stream->is_stopping = true;
	dlb_stream_abandon_locked(stream);
	pthread_mutex_unlock(&stream->pool->lock);
	for (unsigned int i = 0; i < stream->nr_engines; i++) {
		struct dlb_engine *engine = stream->engines[i].engine;

		engine->ops->cancel(engine);
	}
}

DLB_EXPORT int dlboost_stream_set_epoch(struct dlboost_stream *stream,
					uint32_t epoch)
{
	struct dlb_order *order;
	int ret;

	if (is_foreign(stream))
		return -EPERM;
	if (stream->epoch == epoch && stream->take_idx == 0 &&
	    !stream->is_at_end && !stream->is_over)
		return 0;
	/* First what may fail: a stream without it goes on where it stands */
	ret = dlb_stream_make_order(stream, epoch, &order);
	if (ret)
		return refuse_epoch(stream, epoch, ret);
	drain_engines(stream);
	pthread_mutex_lock(&stream->pool->lock);
	dlb_stream_enter_epoch_locked(stream, order, epoch, 0, 0);
	stream->is_stopping = false;
	stream->error[0] = '\0';
	pthread_mutex_unlock(&stream->pool->lock);
	return 0;
}

DLB_EXPORT void dlboost_stream_destroy(struct dlboost_stream *stream)
{
	/* A child has the memory, not the threads: nothing to stop */
	if (!stream || is_foreign(stream))
		return;
	drain_engines(stream);
	for (unsigned int i = 0; i < stream->nr_engines; i++) {
		struct dlb_engine *engine = stream->engines[i].engine;

		engine->ops->destroy(engine);
	}
	dlb_pool_disown(stream->pool);
	dlb_stats_page_destroy(stream->page);
	if (stream->quarantine)
		dlb_quarantine_write(stream->quarantine);
	dlb_quarantine_close(stream->quarantine);
	dlb_order_destroy(stream->order);
	dlboost_recipe_destroy(stream->recipe);
	dlb_dataset_put(stream->dataset);
	free(stream->fifo);
	free(stream);
}
