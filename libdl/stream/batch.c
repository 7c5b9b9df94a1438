// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Batches in the caller's hands: what is in one, references, and its way back
 * to the stream.  Works after the stream is gone: everything a batch needs is
 * in its pool.  Lock: pool->lock.  In a child after fork() all of it is
 * harmless and does nothing.
 */
#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dlboost/log.h>

#include "../base/base.h"
#include "dataset.h"
#include "text.h"

#define PATH_BYTES (4096 + 256)

DLB_EXPORT void dlboost_batch_info(const struct dlboost_batch *batch,
				   struct dlboost_batch_info *out)
{
	*out = (struct dlboost_batch_info){
		.images = batch->images,
		.images_bytes = (size_t)batch->count * batch->pool->sample_bytes,
		.labels = batch->labels,
		.ids = batch->ids,
		.wanted_ids = batch->wanted_ids,
		.status = batch->status,
		.flags = batch->flags,
		.count = batch->count,
		.epoch = batch->epoch,
		.batch_idx = batch->batch_idx,
		.position = batch->position,
		.nr_bad = batch->nr_bad,
	};
}

static const char *sample_message(const struct dlboost_batch *batch, uint32_t i)
{
	if (batch->samples[i].has_result && batch->results[i].message[0])
		return batch->results[i].message;
	return batch->samples[i].wanted_status ? "no engine decoded it" : "";
}

void dlb_batch_describe(const struct dlboost_batch *batch, uint32_t i, char *buf,
			size_t buf_bytes)
{
	const struct dlb_sample *sample = &batch->samples[i];
	const struct dlboost_result *result = &batch->results[i];
	unsigned int status = sample->wanted_status;
	struct dlboost_sample where;
	char raw[PATH_BYTES], path[PATH_BYTES];
	const char *message = sample_message(batch, i);
	int ret;

	ret = dlboost_dataset_sample(batch->pool->dataset, sample->wanted_id,
				     raw, sizeof(raw), &where);
	if (ret)
		snprintf(path, sizeof(path), "(path unknown: %s)",
			 strerror(-ret));
	else
		dlb_text_quote(path, buf_bytes < 2 * PATH_BYTES ?
			       buf_bytes / 2 : sizeof(path), where.path,
			       strlen(where.path));
	if (sample->has_result && result->offset_bytes >= 0)
		dlb_sentence(buf, buf_bytes, "%s: %s at byte %lld: %s", path,
			     dlboost_status_name(status),
			     (long long)result->offset_bytes, message);
	else
		dlb_sentence(buf, buf_bytes, "%s: %s: %s", path,
			     dlboost_status_name(status), message);
}

DLB_EXPORT int dlboost_batch_sample_error(const struct dlboost_batch *batch,
					  uint32_t idx,
					  struct dlboost_result *out)
{
	const struct dlb_sample *sample;

	if (idx >= batch->count)
		return -ERANGE;
	sample = &batch->samples[idx];
	memset(out, 0, sizeof(*out));
	out->offset_bytes = -1;
	if (sample->has_result)
		*out = batch->results[idx];
	out->status = sample->wanted_status;
	out->flags = batch->flags[idx];
	dlb_sentence(out->message, sizeof(out->message), "%s",
		     sample_message(batch, idx));
	return 0;
}

void dlb_batch_recycle_locked(struct dlboost_batch *batch)
{
	if (batch->state == DLB_SLOT_HELD)
		batch->pool->nr_held--;
	batch->state = DLB_SLOT_FREE;
}

/* Drop a reference; @is_release marks the batch as consumed too */
static void put_batch(struct dlboost_batch *batch, bool is_release)
{
	struct dlb_pool *pool;
	bool is_last = false;

	if (!batch || dlb_pool_is_foreign(batch->pool))
		return;
	pool = batch->pool;
	pthread_mutex_lock(&pool->lock);
	if (batch->state != DLB_SLOT_HELD ||
	    (is_release && batch->is_released)) {
		pthread_mutex_unlock(&pool->lock);
		dlb_log(DLBOOST_LOG_ERROR,
			"stream: a batch was released twice");
		return;
	}
	if (is_release)
		batch->is_released = true;
	if (--batch->nr_refs == 0) {
		dlb_batch_recycle_locked(batch);
		if (pool->owner)
			dlb_stream_feed_locked(pool->owner);
		else
			is_last = pool->nr_held == 0;
	}
	pthread_mutex_unlock(&pool->lock);
	if (is_last)
		dlb_pool_free(pool);
}

DLB_EXPORT void dlboost_batch_release(struct dlboost_batch *batch)
{
	put_batch(batch, true);
}

DLB_EXPORT void dlboost_batch_ref(struct dlboost_batch *batch)
{
	if (dlb_pool_is_foreign(batch->pool))
		return;
	pthread_mutex_lock(&batch->pool->lock);
	batch->nr_refs++;
	pthread_mutex_unlock(&batch->pool->lock);
}

DLB_EXPORT void dlboost_batch_unref(struct dlboost_batch *batch)
{
	put_batch(batch, false);
}
