/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Counters of a stream and the verdict on what limits it.
 * Documentation/streams.rst, "Statistics", has the formula.
 */
#ifndef DLB_STREAM_STATS_H
#define DLB_STREAM_STATS_H

#include <dlboost/stream.h>

#include <stdatomic.h>
#include <stdbool.h>

struct dlb_completion;

/* The verdict looks back over this many marks, one a tick */
#define DLB_STATS_MARKS 32
#define DLB_STATS_TICK_NS 100000000u

/* Sums at one moment; the verdict is about differences of two */
struct dlb_stats_mark {
	uint64_t at_ns;
	uint64_t idle_ns;
	uint64_t read_ns;
	uint64_t decode_ns;	/* resampling included */
	uint64_t wait_ns;
};

/**
 * struct dlb_stats - Counters; guarded by pool->lock but @last_tick_ns
 * @total: sums; gauges and verdict are filled in when somebody asks
 * @first_ns: when the first batch was asked for, 0 before
 * @waiting_since_ns: the caller waits in next() since then, or 0
 * @marks: ring
 * @nr_marks: marks made so far
 * @last_tick_ns: last mark
 */
struct dlb_stats {
	struct dlboost_stream_stats total;
	uint64_t first_ns;
	uint64_t waiting_since_ns;
	struct dlb_stats_mark marks[DLB_STATS_MARKS];
	uint64_t nr_marks;
	atomic_ullong last_tick_ns;
};

/* Caller holds pool->lock */
void dlb_stats_count_completion(struct dlb_stats *stats,
				const struct dlb_completion *c);
/* Caller holds pool->lock */
void dlb_stats_mark_locked(struct dlboost_stream *stream, uint64_t now_ns);
/* Bring window and page up to date, at most ten times a second; no lock held */
void dlb_stats_tick(struct dlboost_stream *stream, uint64_t now_ns);
/*
 * Who waits for whom between two marks: a value of enum dlboost_limit_stage,
 * and its share of the wall time
 */
uint32_t dlb_stats_verdict(const struct dlb_stats_mark *from,
			   const struct dlb_stats_mark *to,
			   unsigned int nr_workers, double *share);

#endif /* DLB_STREAM_STATS_H */
