/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * A stream as its own files see it.  A stream has no thread: work is handed to
 * the engines in next(), in release() and where completions come in.
 *
 *	open.c		attributes and state documents -> a stream
 *	stream.c	the consumer's side: next, set_epoch, errors, end
 *	feed.c		batches -> jobs
 *	complete.c	completions -> finished samples
 *	policy.c	what becomes of a bad sample, and of a batch with some
 *	batch.c		batches in the caller's hands
 *	pool.c		their memory
 *	quarantine.c	the list of bad files
 *	stats.c, stats_page.c	counters, verdict, and their publication
 *
 * Lock order: pool->lock (one a stream), then the locks inside engines.  An
 * engine's cancel() and destroy() deliver, so they run without pool->lock.
 */
#ifndef DLB_STREAM_STREAM_H
#define DLB_STREAM_STREAM_H

#include <dlboost/stream.h>

#include <stdatomic.h>

#include "../engine/engine.h"
#include "order.h"
#include "pool.h"
#include "quarantine.h"
#include "state.h"
#include "stats.h"
#include "stats_page.h"

#define DLB_MAX_STREAM_ENGINES 8
/* Jobs in one call of an engine's submit(), at most */
#define DLB_MAX_CHUNK 32

struct dlb_stream_engine {
	struct dlb_engine *engine;
	unsigned int nr_workers;
	uint64_t nr_in_flight;	/* jobs submitted and not delivered */
	bool is_shut;		/* refused jobs for good */
};

/**
 * struct dlboost_stream - A stream
 *
 * Members above @order never change after creation; the others are guarded by
 * pool->lock unless they are atomic.
 */
struct dlboost_stream {
	struct dlb_pool *pool;
	struct dlboost_dataset *dataset;
	struct dlboost_dataset_info dataset_info;
	struct dlboost_recipe *recipe;
	struct dlboost_tensor_spec tensor;
	struct dlboost_stream_info info;
	uint32_t profile;
	uint32_t on_error;
	uint64_t seed;
	uint64_t augment_seed;
	bool no_shuffle;
	uint32_t hold;
	uint64_t max_bad;		/* budget of an epoch, samples */
	struct dlb_stream_engine engines[DLB_MAX_STREAM_ENGINES];
	unsigned int nr_engines;
	unsigned int nr_workers;
	struct dlb_quarantine *quarantine;	/* NULL for none */

	struct dlb_order *order;
	struct dlb_shard shard;
	uint32_t epoch;
	uint64_t nr_batches;	/* of this rank in this epoch, from the start */
	uint64_t feed_idx;	/* next batch to get a slot */
	uint64_t take_idx;	/* next batch to be handed out */
	uint64_t generation;	/* counts begins of epochs */
	uint64_t bad;		/* budget used */
	bool is_over;		/* budget passed */
	bool is_at_end;		/* NULL was handed out */
	bool is_stopping;	/* destroy has begun: no more work */
	struct dlboost_batch **fifo;	/* batches in order, ring of nr_slots */
	uint32_t fifo_head;
	uint32_t fifo_count;
	struct dlb_sample *retry_head;	/* samples to submit again */
	struct dlb_sample *retry_tail;
	uint64_t last_quarantine_ns;
	struct dlb_stats stats;
	struct dlb_stats_page *page;	/* NULL for none */
	char error[DLBOOST_ERROR_BYTES + 4096];
	bool has_failed;	/* next() refused a batch for one sample: */
	uint64_t failed_id;
	struct dlboost_result failed_result;

	atomic_uint wake;		/* futex: counts reasons to look again */
	atomic_uint nr_waiting;
	atomic_bool is_interrupted;
};

/* feed.c */

/* Give free slots their batches and engines their jobs; never waits */
void dlb_stream_feed_locked(struct dlboost_stream *stream);
/* The order of an epoch of this stream; 0 or -ENOMEM */
int dlb_stream_make_order(const struct dlboost_stream *stream, uint32_t epoch,
			  struct dlb_order **out);
/* Point the stream at [start, N) of an epoch; takes @order */
void dlb_stream_enter_epoch_locked(struct dlboost_stream *stream,
				   struct dlb_order *order, uint32_t epoch,
				   uint64_t start, uint64_t bad);
/* Batches under way are no longer wanted */
void dlb_stream_abandon_locked(struct dlboost_stream *stream);
/* One sample is to be submitted again */
void dlb_stream_retry_locked(struct dlboost_stream *stream,
			     struct dlb_sample *sample);
/* A job's name for its sample, and back */
static inline uint64_t dlb_job_name(const struct dlboost_batch *batch,
				    uint32_t i)
{
	return (uint64_t)batch->slot_idx << 32 | i;
}

/* Caller holds pool->lock: is the batch whose turn it is finished? */
static inline bool dlb_stream_head_is_ready(const struct dlboost_stream *stream)
{
	return stream->fifo_count &&
	       stream->fifo[stream->fifo_head]->nr_pending == 0;
}

/* complete.c */

void dlb_stream_complete(void *arg, const struct dlb_completion *c,
			 unsigned int nr);
/* Wake a waiting next(); any thread, async-signal-safe */
void dlb_stream_wake(struct dlboost_stream *stream);

/* policy.c */

enum dlb_judgement { DLB_JUDGEMENT_DONE, DLB_JUDGEMENT_AGAIN };

/*
 * Look at a completion; write what is final into the batch.  Called by the one
 * thread that has the sample, without a lock.
 */
enum dlb_judgement dlb_policy_judge(struct dlboost_stream *stream,
				    struct dlboost_batch *batch, uint32_t i,
				    const struct dlb_completion *c);
/*
 * A finished batch, in its turn: count its bad samples.  0, -EBADMSG or
 * -EDQUOT with stream->error set.
 */
int dlb_policy_settle_locked(struct dlboost_stream *stream,
			     struct dlboost_batch *batch);
/* Is it the file's fault, on every engine? */
bool dlb_status_is_of_file(unsigned int status);

/* batch.c */

/* The slot of a batch that is not the caller's becomes free */
void dlb_batch_recycle_locked(struct dlboost_batch *batch);
/* "PATH: message" of a sample's first failure; needs no lock */
void dlb_batch_describe(const struct dlboost_batch *batch, uint32_t i, char *buf,
			size_t buf_bytes);

#endif /* DLB_STREAM_STREAM_H */
