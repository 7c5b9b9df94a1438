/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * The slots of a stream: a fixed set of batches in memory, mapped once.  A pool
 * outlives its stream while the caller holds batches of it.
 */
#ifndef DLB_STREAM_POOL_H
#define DLB_STREAM_POOL_H

#include <dlboost/stream.h>

#include <pthread.h>
#include <stdbool.h>

/**
 * enum dlb_slot_state - Where a slot stands
 * @DLB_SLOT_FREE: belongs to nobody
 * @DLB_SLOT_FILLING: has a batch; ready when nothing of it is pending
 * @DLB_SLOT_HELD: handed to the caller, until its last reference is gone
 * @DLB_SLOT_ABANDONED: its batch is no longer wanted; free when nothing of it
 *	is pending
 */
enum dlb_slot_state {
	DLB_SLOT_FREE,
	DLB_SLOT_FILLING,
	DLB_SLOT_HELD,
	DLB_SLOT_ABANDONED,
};

/**
 * struct dlb_sample - One sample on its way
 * @wanted_id: sample that the order asks for
 * @id: sample that is decoded now: @wanted_id or a substitute
 * @next: next of the stream's list of samples to be submitted again
 * @nr_substitutes: substitutes drawn so far
 * @nr_tries: failures of @id that were not the file's fault
 * @nr_missing: of these, the ones whose file could not be opened for a reason
 *	that stays
 * @nr_engines: engines that do not support @id
 * @engine_idx: engine that has it, or has had it last
 * @wanted_label: label of @wanted_id, once it was looked at
 * @wanted_status: status of @wanted_id, OK until known otherwise
 * @is_of_file: @wanted_status is the file's fault
 * @is_breaking: it ended so that its batch cannot be handed out
 * @is_duplicate: F17's padding
 * @is_listed: the quarantine list names @id
 * @is_absent: the last try could not open its file, for a reason that stays
 * @was_listed: the quarantine list names @wanted_id
 * @has_result: the batch's result of this sample has something to say
 *
 * Written by whoever has the sample: the stream under its lock until it is
 * submitted, then the engine's thread until it is delivered, then the stream.
 */
struct dlb_sample {
	uint64_t wanted_id;
	uint64_t id;
	struct dlb_sample *next;
	int32_t wanted_label;
	uint8_t nr_substitutes;
	uint8_t nr_tries;
	uint8_t nr_missing;
	uint8_t nr_engines;
	uint8_t engine_idx;
	uint8_t wanted_status;
	bool is_of_file;
	bool is_breaking;
	bool is_duplicate;
	bool is_listed;
	bool is_absent;
	bool was_listed;
	bool has_result;
};

/**
 * struct dlboost_batch - A slot and the batch in it
 * @pool: the pool; never changes
 * @slot_idx: number in the pool; never changes
 * @images: tensor memory, @pool->slot_bytes; never changes
 * @labels: and the four after it: one entry a sample
 * @samples: bookkeeping of each sample
 * @results: first failure of each sample, where has_result
 * @state: where the slot stands
 * @nr_refs: the caller's and its views'
 * @is_released: the caller is done with it, though views may not be
 * @count: samples of the batch
 * @nr_submitted: samples handed to an engine at least once
 * @nr_pending: samples not finished
 * @epoch: of the batch
 * @batch_idx: of the batch
 * @position: global position of its first sample
 * @cursor_after: global cursor once it is consumed
 * @bad_before: samples of this epoch before it that count for the budget
 * @bad_after: the same, it included
 * @generation: which begin of an epoch it belongs to
 * @nr_bad: samples whose status is not OK
 *
 * Members from @state on are guarded by pool->lock.
 */
struct dlboost_batch {
	struct dlb_pool *pool;
	uint32_t slot_idx;
	uint8_t *images;
	int64_t *labels;
	int64_t *ids;
	int64_t *wanted_ids;
	uint8_t *status;
	uint8_t *flags;
	struct dlb_sample *samples;
	struct dlboost_result *results;

	enum dlb_slot_state state;
	uint32_t nr_refs;
	bool is_released;
	uint32_t count;
	uint32_t nr_submitted;
	uint32_t nr_pending;
	uint32_t epoch;
	uint64_t batch_idx;
	uint64_t position;
	uint64_t cursor_after;
	uint64_t bad_before;
	uint64_t bad_after;
	uint64_t generation;
	uint32_t nr_bad;
};

/**
 * struct dlb_pool - The slots
 * @lock: the stream's one lock; guards what the comments of batches, pool and
 *	stream say
 * @owner: the stream, NULL once it is destroyed
 * @nr_held: slots in the caller's hands
 * @pid: process that made it; a child has no images and no threads
 * @dataset: to name files
 * @nr_slots: number of @batches
 * @batch: samples of a full slot
 * @sample_bytes: bytes of one sample's tensor
 * @slot_bytes: bytes of one slot's tensor
 * @stride_bytes: from slot to slot
 * @map_bytes: bytes at @images
 * @meta_bytes: bytes of the bookkeeping
 * @has_huge_pages: the system granted huge pages
 * @images: tensor memory of all slots
 * @batches: the slots
 */
struct dlb_pool {
	pthread_mutex_t lock;
	struct dlboost_stream *owner;
	uint32_t nr_held;
	pid_t pid;
	struct dlboost_dataset *dataset;
	uint32_t nr_slots;
	uint32_t batch;
	size_t sample_bytes;
	size_t slot_bytes;
	size_t stride_bytes;
	size_t map_bytes;
	size_t meta_bytes;
	bool has_huge_pages;
	uint8_t *images;
	struct dlboost_batch *batches;
	void *meta;
};

/* Takes a reference of @dataset; 0, -EOVERFLOW or -ENOMEM */
int dlb_pool_create(struct dlboost_dataset *dataset, uint32_t nr_slots,
		    uint32_t batch, size_t sample_bytes,
		    struct dlb_pool **out);
/* The stream lets go: the pool goes with the last batch held */
void dlb_pool_disown(struct dlb_pool *pool);
/* Only when it has no owner and nothing is held */
void dlb_pool_free(struct dlb_pool *pool);
bool dlb_pool_is_foreign(const struct dlb_pool *pool);
/* Caller holds pool->lock; NULL when none is free */
struct dlboost_batch *dlb_pool_find_free_locked(struct dlb_pool *pool);

static inline uint8_t *dlb_batch_sample_images(const struct dlboost_batch *batch,
					       uint32_t i)
{
	return batch->images + (size_t)i * batch->pool->sample_bytes;
}

static inline uint32_t dlb_batch_sample_idx(const struct dlboost_batch *batch,
					    const struct dlb_sample *sample)
{
	return (uint32_t)(sample - batch->samples);
}

#endif /* DLB_STREAM_POOL_H */
