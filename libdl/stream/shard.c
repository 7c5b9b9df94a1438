// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Which positions of an epoch a rank takes, and in which batch.  Pure formulas
 * over struct dlb_shard; knows neither the permutation nor the samples.
 * Nothing overflows for up to 2^63 samples: positions are compared with what is
 * left, never added past it.  Documentation/order.rst, "Shards and tails".
 */
#include "order.h"

/* Samples from the shard's start on, M */
static uint64_t shard_left(const struct dlb_shard *shard)
{
	return shard->start < shard->nr_samples ?
	       shard->nr_samples - shard->start : 0;
}

/* Positions that all ranks together take in one step, w * B */
static uint64_t shard_step(const struct dlb_shard *shard)
{
	return (uint64_t)shard->world * shard->batch;
}

/* Of @nr positions dealt out in turn, how many are this rank's */
static uint64_t shard_deal(const struct dlb_shard *shard, uint64_t nr)
{
	return nr > shard->rank ? (nr - shard->rank - 1) / shard->world + 1 : 0;
}

uint64_t dlb_shard_nr_batches(const struct dlb_shard *shard)
{
	uint64_t left = shard_left(shard), step = shard_step(shard);

	if (shard->tail == DLBOOST_TAIL_DROP)
		return left / step;
	return left / step + (left % step != 0);
}

uint32_t dlb_shard_batch_count(const struct dlb_shard *shard,
			       uint64_t batch_idx)
{
	uint64_t nr_batches = dlb_shard_nr_batches(shard);
	uint64_t rest = shard_left(shard) % shard_step(shard);

	if (batch_idx >= nr_batches)
		return 0;
	if (shard->tail != DLBOOST_TAIL_PARTIAL || !rest ||
	    batch_idx + 1 < nr_batches)
		return shard->batch;
	return (uint32_t)shard_deal(shard, rest);
}

uint64_t dlb_shard_position(const struct dlb_shard *shard, uint64_t batch_idx,
			    uint32_t i, bool *is_duplicate)
{
	uint64_t left = shard_left(shard);
	uint64_t ahead = batch_idx * shard_step(shard) +
			 (uint64_t)i * shard->world + shard->rank;

	*is_duplicate = ahead >= left;
	if (*is_duplicate)
		return (ahead - left) % shard->nr_samples;
	return shard->start + ahead;
}

uint64_t dlb_shard_cursor(const struct dlb_shard *shard, uint64_t nr_batches)
{
	uint64_t left = shard_left(shard), step = shard_step(shard);
	uint64_t nr_all = dlb_shard_nr_batches(shard);

	if (nr_batches > nr_all)
		nr_batches = nr_all;
	if (nr_batches > left / step)
		return shard->nr_samples;
	return shard->start + nr_batches * step;
}

uint64_t dlb_shard_nr_positions(const struct dlb_shard *shard, uint64_t end)
{
	return end > shard->start ? shard_deal(shard, end - shard->start) : 0;
}
