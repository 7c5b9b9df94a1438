/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Order version 1: which sample stands at a position of an epoch, which
 * positions a rank takes, and who stands in for a bad sample.  Arithmetic
 * only; Documentation/order.rst is the definition.
 */
#ifndef DLB_STREAM_ORDER_H
#define DLB_STREAM_ORDER_H

#include <dlboost/stream.h>

#include <stdbool.h>

#define DLB_ORDER_VERSION 1

/* The permutation of one epoch; immutable, any thread */
struct dlb_order;

/* What dlb_order_at() cannot say; no sample has this number */
#define DLB_ORDER_NONE UINT64_MAX

/* 0, -EINVAL for @nr_samples 0 or above INT64_MAX, -ENOMEM */
int dlb_order_create(uint64_t seed, uint32_t epoch, uint64_t nr_samples,
		     bool no_shuffle, struct dlb_order **out);
void dlb_order_destroy(struct dlb_order *order);
/*
 * @position < nr_samples -> sample, in time that does not depend on either.
 * DLB_ORDER_NONE for a position outside, and after 64 walks of the cycle (less
 * likely than 2^-64 a position).
 */
uint64_t dlb_order_at(const struct dlb_order *order, uint64_t position);

/**
 * struct dlb_shard - The part of an epoch that one rank takes
 * @nr_samples: samples of the data set, N
 * @start: global position where the epoch begins or was resumed, P0
 * @batch: samples of a full batch, B
 * @rank: this rank, r
 * @world: number of ranks, w
 * @tail: enum dlboost_tail
 *
 * With M = N - P0; rank r's i-th position is P0 + r + i * w, batch k holds
 * i in [k * B, (k + 1) * B).
 */
struct dlb_shard {
	uint64_t nr_samples;
	uint64_t start;
	uint32_t batch;
	uint32_t rank;
	uint32_t world;
	uint32_t tail;
};

/* Batches of this rank (the same number for each rank) */
uint64_t dlb_shard_nr_batches(const struct dlb_shard *shard);
/* Samples in batch @batch_idx of this rank; 0 is possible under PARTIAL */
uint32_t dlb_shard_batch_count(const struct dlb_shard *shard,
			       uint64_t batch_idx);
/* Global position of sample @i of a batch; @is_duplicate as F17 says (PAD) */
uint64_t dlb_shard_position(const struct dlb_shard *shard, uint64_t batch_idx,
			    uint32_t i, bool *is_duplicate);
/* Global cursor once all ranks have consumed @nr_batches batches; at most N */
uint64_t dlb_shard_cursor(const struct dlb_shard *shard, uint64_t nr_batches);

#define DLB_MAX_SUBSTITUTES 16

/*
 * How many of the global positions [start, @end) are this rank's
 */
uint64_t dlb_shard_nr_positions(const struct dlb_shard *shard, uint64_t end);

/*
 * F18: member number of the class list that stands in for @sample_id at
 * @attempt (0 .. DLB_MAX_SUBSTITUTES - 1), out of @nr_members.
 */
uint32_t dlb_substitute_member(uint64_t augment_seed, uint32_t epoch,
			       uint64_t sample_id, uint32_t attempt,
			       uint32_t nr_members);

#endif /* DLB_STREAM_ORDER_H */
