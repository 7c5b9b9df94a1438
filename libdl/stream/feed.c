// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Batches become jobs here.  Owns the way from order and shard to an engine's
 * submit(), and prepare(), which reads a sample on a worker's thread.  Knows
 * nothing of what becomes of a job.
 *
 * Everything _locked is called with pool->lock held; prepare() runs without it
 * and touches only the sample it was given.  Documentation/streams.rst.
 */
#include "stream.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "dataset.h"

/* A chunk is this share of a batch: what one engine gets at once */
#define CHUNKS_A_BATCH 8

static void *grow_scratch(void *arg, size_t bytes)
{
	struct dlb_scratch *scratch = arg;

	if (bytes > scratch->cap_bytes && scratch->grow(scratch, bytes))
		return NULL;
	return scratch->buf;
}

static bool is_quarantined(struct dlboost_stream *stream,
			   struct dlb_sample *sample,
			   struct dlboost_result *result)
{
	unsigned int status;

	sample->is_listed = false;
	if (!stream->quarantine ||
	    !dlb_quarantine_knows(stream->quarantine, stream->dataset,
				  sample->id, &status))
		return false;
	sample->is_listed = true;
	result->status = status;
	dlb_sentence(result->message, sizeof(result->message),
		     "named in the quarantine list");
	return true;
}

/* Does opening a file fail for a reason that stays? */
static bool is_lasting(int err)
{
	return err == ENOENT || err == ENOTDIR || err == EACCES || err == ELOOP;
}

/* dlb_job.prepare: bytes, header and geometry of one sample */
static unsigned int prepare(struct dlb_job *job, struct dlb_scratch *scratch,
			    struct dlboost_result *result)
{
	struct dlboost_stream *stream = job->owner;
	struct dlboost_batch *batch = &stream->pool->batches[job->id >> 32];
	uint32_t i = (uint32_t)job->id;
	struct dlb_sample *sample = &batch->samples[i];
	int32_t label = -1;
	unsigned int status;

	sample->is_absent = false;
	if (stream->dataset_info.nr_classes &&
	    dlb_dataset_label(stream->dataset, sample->id, &label)) {
		result->status = DLBOOST_STATUS_IO;
		dlb_sentence(result->message, sizeof(result->message),
			     "the index of the data set cannot be read");
		return DLBOOST_STATUS_IO;
	}
	batch->labels[i] = label;
	if (is_quarantined(stream, sample, result))
		return result->status;
	status = dlb_dataset_load(stream->dataset, sample->id, grow_scratch,
				  scratch, &job->src, &job->src_bytes, result);
	sample->is_absent = status == DLBOOST_STATUS_IO && is_lasting(errno);
	if (status)
		return status;
	status = dlboost_probe(job->src, job->src_bytes, scratch->limits,
			       &job->info, result);
	if (status)
		return status;
	/* A substitute takes the draws of the sample it stands in for */
	return dlb_job_draw(job, stream->augment_seed, batch->epoch,
			    sample->wanted_id, result);
}

static void make_job(struct dlboost_stream *stream, struct dlboost_batch *batch,
		     uint32_t i, struct dlb_job *job)
{
	memset(job, 0, sizeof(*job));
	job->id = dlb_job_name(batch, i);
	job->recipe = stream->recipe;
	job->profile = stream->profile;
	job->dst = dlb_batch_sample_images(batch, i);
	job->dst_bytes = stream->pool->sample_bytes;
	job->prepare = prepare;
	job->owner = stream;
}

/* The engine that would finish first if all pictures took the same time */
static struct dlb_stream_engine *choose_engine(struct dlboost_stream *stream)
{
	struct dlb_stream_engine *best = NULL;

	for (unsigned int i = 0; i < stream->nr_engines; i++) {
		struct dlb_stream_engine *e = &stream->engines[i];

		if (e->is_shut)
			continue;
		if (!best || e->nr_in_flight * best->nr_workers <
			     best->nr_in_flight * e->nr_workers)
			best = e;
	}
	return best;
}

/* How many of the first @nr jobs the engine took */
static unsigned int submit(struct dlboost_stream *stream,
			   struct dlb_stream_engine *e,
			   const struct dlb_job *jobs, unsigned int nr)
{
	int ret = e->engine->ops->submit(e->engine, jobs, nr);

	if (ret < 0) {
		e->is_shut = true;
		return 0;
	}
	e->nr_in_flight += (unsigned int)ret;
	return (unsigned int)ret;
}

void dlb_stream_retry_locked(struct dlboost_stream *stream,
			     struct dlb_sample *sample)
{
	sample->next = NULL;
	if (stream->retry_tail)
		stream->retry_tail->next = sample;
	else
		stream->retry_head = sample;
	stream->retry_tail = sample;
}

static struct dlboost_batch *batch_of(struct dlboost_stream *stream,
				      const struct dlb_sample *sample)
{
	for (uint32_t i = 0; i < stream->pool->nr_slots; i++) {
		struct dlboost_batch *batch = &stream->pool->batches[i];

		if (sample >= batch->samples &&
		    sample < batch->samples + stream->pool->batch)
			return batch;
	}
	return NULL;
}

/* Samples that come again are the oldest work there is: they go first */
static bool feed_retries(struct dlboost_stream *stream)
{
	while (stream->retry_head) {
		struct dlb_sample *sample = stream->retry_head;
		struct dlboost_batch *batch = batch_of(stream, sample);
		struct dlb_stream_engine *e =
			&stream->engines[sample->engine_idx];
		struct dlb_job job;

		if (e->is_shut)
			e = choose_engine(stream);
		if (!e)
			return false;
		make_job(stream, batch, dlb_batch_sample_idx(batch, sample),
			 &job);
		sample->engine_idx = (uint8_t)(e - stream->engines);
		if (!submit(stream, e, &job, 1)) {
			if (e->is_shut)
				continue;
			return false;
		}
		stream->retry_head = sample->next;
		if (!stream->retry_head)
			stream->retry_tail = NULL;
	}
	return true;
}

/* False when no engine takes more */
static bool feed_chunk(struct dlboost_stream *stream,
		       struct dlboost_batch *batch)
{
	struct dlb_stream_engine *e = choose_engine(stream);
	struct dlb_job jobs[DLB_MAX_CHUNK];
	uint32_t nr = (batch->count + CHUNKS_A_BATCH - 1) / CHUNKS_A_BATCH;
	uint32_t left = batch->count - batch->nr_submitted;
	unsigned int taken;

	if (!e)
		return false;
	if (nr > DLB_MAX_CHUNK)
		nr = DLB_MAX_CHUNK;
	if (nr > left)
		nr = left;
	for (uint32_t i = 0; i < nr; i++) {
		make_job(stream, batch, batch->nr_submitted + i, &jobs[i]);
		batch->samples[batch->nr_submitted + i].engine_idx =
			(uint8_t)(e - stream->engines);
	}
	taken = submit(stream, e, jobs, nr);
	batch->nr_submitted += taken;
	/* One that shuts down leaves the work to the others */
	return taken == nr || e->is_shut;
}

static void assign_sample(struct dlboost_stream *stream,
			  struct dlboost_batch *batch, uint32_t i)
{
	struct dlb_sample *sample = &batch->samples[i];
	bool is_duplicate = false;
	uint64_t position = dlb_shard_position(&stream->shard, batch->batch_idx,
					       i, &is_duplicate);

	memset(sample, 0, sizeof(*sample));
	sample->wanted_id = dlb_order_at(stream->order, position);
	sample->id = sample->wanted_id;
	sample->is_duplicate = is_duplicate;
	batch->wanted_ids[i] = (int64_t)sample->wanted_id;
	batch->ids[i] = batch->wanted_ids[i];
	batch->labels[i] = -1;
	batch->status[i] = DLBOOST_STATUS_OK;
	batch->flags[i] = is_duplicate ? DLBOOST_SAMPLE_F_DUPLICATE : 0;
	if (i == 0)
		batch->position = position;
}

static void assign_batch(struct dlboost_stream *stream,
			 struct dlboost_batch *batch)
{
	uint64_t idx = stream->feed_idx++;
	uint32_t tail = stream->fifo_head + stream->fifo_count;

	batch->state = DLB_SLOT_FILLING;
	batch->nr_refs = 0;
	batch->is_released = false;
	batch->count = dlb_shard_batch_count(&stream->shard, idx);
	batch->nr_submitted = 0;
	batch->nr_pending = batch->count;
	batch->nr_bad = 0;
	batch->epoch = stream->epoch;
	batch->batch_idx = idx;
	batch->generation = stream->generation;
	batch->cursor_after = dlb_shard_cursor(&stream->shard, idx + 1);
	batch->position = dlb_shard_cursor(&stream->shard, idx);
	for (uint32_t i = 0; i < batch->count; i++)
		assign_sample(stream, batch, i);
	stream->fifo[tail % stream->pool->nr_slots] = batch;
	stream->fifo_count++;
}

/* The batch that is to be fed next; NULL when slots or the epoch are used up */
static struct dlboost_batch *next_to_feed(struct dlboost_stream *stream)
{
	struct dlboost_batch *batch;

	for (uint32_t i = 0; i < stream->fifo_count; i++) {
		batch = stream->fifo[(stream->fifo_head + i) %
				     stream->pool->nr_slots];
		if (batch->nr_submitted < batch->count)
			return batch;
	}
	if (stream->feed_idx >= stream->nr_batches)
		return NULL;
	batch = dlb_pool_find_free_locked(stream->pool);
	if (batch)
		assign_batch(stream, batch);
	return batch;
}

static void fail_sample(struct dlboost_batch *batch, uint32_t i)
{
	struct dlb_sample *sample = &batch->samples[i];

	batch->status[i] = DLBOOST_STATUS_REMOVED;
	sample->wanted_status = DLBOOST_STATUS_REMOVED;
	sample->is_breaking = true;
	batch->nr_pending--;
}

/* No engine is left: what waits for one will never be decoded */
static void fail_unsubmitted(struct dlboost_stream *stream)
{
	for (uint32_t k = 0; k < stream->fifo_count; k++) {
		struct dlboost_batch *batch =
			stream->fifo[(stream->fifo_head + k) %
				     stream->pool->nr_slots];

		for (uint32_t i = batch->nr_submitted; i < batch->count; i++)
			fail_sample(batch, i);
		batch->nr_submitted = batch->count;
	}
	while (stream->retry_head) {
		struct dlb_sample *sample = stream->retry_head;
		struct dlboost_batch *batch = batch_of(stream, sample);

		fail_sample(batch, dlb_batch_sample_idx(batch, sample));
		stream->retry_head = sample->next;
	}
	stream->retry_tail = NULL;
}

static void feed_engines(struct dlboost_stream *stream)
{
	struct dlboost_batch *batch;

	if (!feed_retries(stream))
		return;
	while ((batch = next_to_feed(stream)))
		if (batch->count && !feed_chunk(stream, batch))
			break;
}

void dlb_stream_feed_locked(struct dlboost_stream *stream)
{
	if (stream->is_stopping || stream->is_over)
		return;
	feed_engines(stream);
	/* Also when the last one shut down just now: nobody else would say so */
	if (!choose_engine(stream))
		fail_unsubmitted(stream);
	/* An empty batch is ready without anybody finishing it */
	if (dlb_stream_head_is_ready(stream))
		dlb_stream_wake(stream);
}

int dlb_stream_make_order(const struct dlboost_stream *stream, uint32_t epoch,
			  struct dlb_order **out)
{
	return dlb_order_create(stream->seed, epoch,
				stream->dataset_info.nr_samples,
				stream->no_shuffle, out);
}

void dlb_stream_enter_epoch_locked(struct dlboost_stream *stream,
				   struct dlb_order *order, uint32_t epoch,
				   uint64_t start, uint64_t bad)
{
	dlb_order_destroy(stream->order);
	stream->order = order;
	stream->epoch = epoch;
	stream->shard.start = start;
	stream->nr_batches = dlb_shard_nr_batches(&stream->shard);
	stream->feed_idx = 0;
	stream->take_idx = 0;
	stream->generation++;
	stream->bad = bad;
	stream->is_over = false;
	stream->is_at_end = false;
}

/* Samples never submitted are finished by that; the others when they come in */
static void abandon_batch(struct dlboost_batch *batch)
{
	batch->nr_pending -= batch->count - batch->nr_submitted;
	batch->nr_submitted = batch->count;
	batch->state = DLB_SLOT_ABANDONED;
	if (!batch->nr_pending)
		dlb_batch_recycle_locked(batch);
}

void dlb_stream_abandon_locked(struct dlboost_stream *stream)
{
	while (stream->retry_head) {
		batch_of(stream, stream->retry_head)->nr_pending--;
		stream->retry_head = stream->retry_head->next;
	}
	stream->retry_tail = NULL;
	while (stream->fifo_count) {
		abandon_batch(stream->fifo[stream->fifo_head]);
		stream->fifo_head = (stream->fifo_head + 1) %
				    stream->pool->nr_slots;
		stream->fifo_count--;
	}
}
