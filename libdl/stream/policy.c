// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * What becomes of a bad sample, and of a batch that has some.  Owns the three
 * error policies, the substitutes and the budget; decides by what a file is,
 * never by when or where it was met, so that every machine decides the same.
 *
 * judge() runs on an engine's thread without a lock: it owns the sample.
 * settle() runs in next(), in sequence order, under pool->lock.
 * Documentation/errors.rst.
 */
#include "stream.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"
#include "dataset.h"

/* The first try and one more, where there is no other engine to go to */
#define MIN_TRIES 2

bool dlb_status_is_of_file(unsigned int status)
{
	return status == DLBOOST_STATUS_CORRUPT ||
	       status == DLBOOST_STATUS_TRUNCATED ||
	       status == DLBOOST_STATUS_UNSUPPORTED ||
	       status == DLBOOST_STATUS_NOT_AN_IMAGE ||
	       status == DLBOOST_STATUS_TOO_LARGE;
}

/* One more failure of sample->id that a further try may mend */
static bool may_try_again(struct dlboost_stream *stream,
			  struct dlb_sample *sample, unsigned int status)
{
	unsigned int tries = stream->nr_engines > MIN_TRIES ?
			     stream->nr_engines : MIN_TRIES;

	if (status == DLBOOST_STATUS_UNSUPPORTED)
		return ++sample->nr_engines < stream->nr_engines;
	if (status == DLBOOST_STATUS_IO && sample->is_absent)
		sample->nr_missing++;
	return ++sample->nr_tries < tries;
}

/* IO that was a missing file each time is the file's fault after all */
static bool is_of_file(const struct dlb_sample *sample, unsigned int status)
{
	if (status == DLBOOST_STATUS_IO)
		return sample->nr_missing >= MIN_TRIES;
	return dlb_status_is_of_file(status);
}

/* F18: the next member of the class that can stand in, or false */
static bool draw_substitute(struct dlboost_stream *stream,
			    struct dlboost_batch *batch, uint32_t i)
{
	struct dlb_sample *sample = &batch->samples[i];
	int32_t label = sample->wanted_label;
	uint32_t nr = dlb_dataset_class_size(stream->dataset, label);

	if (nr <= 1)
		return false;
	while (sample->nr_substitutes < DLB_MAX_SUBSTITUTES) {
		uint32_t member;
		uint64_t id;

		member = dlb_substitute_member(stream->augment_seed,
					       batch->epoch, sample->wanted_id,
					       sample->nr_substitutes++, nr);
		if (dlb_dataset_class_member(stream->dataset, label, member,
					     &id) || id == sample->wanted_id)
			continue;
		sample->id = id;
		sample->nr_tries = 0;
		sample->nr_missing = 0;
		sample->nr_engines = 0;
		return true;
	}
	return false;
}

static void store_result(struct dlboost_batch *batch, uint32_t i,
			 const struct dlboost_result *result)
{
	batch->results[i] = *result;
	batch->samples[i].has_result = true;
}

static void finish_good(struct dlboost_batch *batch, uint32_t i,
			const struct dlboost_result *result)
{
	struct dlb_sample *sample = &batch->samples[i];

	batch->status[i] = DLBOOST_STATUS_OK;
	batch->flags[i] |= (uint8_t)(result->flags &
				     (DLBOOST_SAMPLE_F_WARNED |
				      DLBOOST_SAMPLE_F_DEGRADED));
	batch->ids[i] = (int64_t)sample->id;
	if (sample->id != sample->wanted_id)
		batch->flags[i] |= DLBOOST_SAMPLE_F_REPLACED;
	else if (result->message[0] || result->nr_warnings)
		store_result(batch, i, result);
}

static void finish_bad(struct dlboost_batch *batch, uint32_t i,
		       unsigned int status)
{
	batch->status[i] = (uint8_t)status;
	batch->ids[i] = batch->wanted_ids[i];
	batch->labels[i] = batch->samples[i].wanted_label;
	memset(dlb_batch_sample_images(batch, i), 0, batch->pool->sample_bytes);
}

/* No further try: a substitute, or the end */
static enum dlb_judgement give_up(struct dlboost_stream *stream,
				  struct dlboost_batch *batch, uint32_t i,
				  unsigned int status)
{
	struct dlb_sample *sample = &batch->samples[i];
	bool of_file = sample->is_listed || is_of_file(sample, status);

	if (sample->id == sample->wanted_id)
		sample->is_of_file = of_file;
	if (stream->on_error == DLBOOST_ON_ERROR_SKIP_REPLACE && of_file) {
		if (draw_substitute(stream, batch, i))
			return DLB_JUDGEMENT_AGAIN;
		/* No substitute is good: the batch stays whole, with zeros */
		status = sample->wanted_status;
	} else {
		sample->is_breaking = stream->on_error != DLBOOST_ON_ERROR_ZERO;
	}
	finish_bad(batch, i, status);
	return DLB_JUDGEMENT_DONE;
}

enum dlb_judgement dlb_policy_judge(struct dlboost_stream *stream,
				    struct dlboost_batch *batch, uint32_t i,
				    const struct dlb_completion *c)
{
	struct dlb_sample *sample = &batch->samples[i];
	unsigned int status = c->result->status;
	bool may_mend = status == DLBOOST_STATUS_UNSUPPORTED ||
			!dlb_status_is_of_file(status);

	if (sample->id == sample->wanted_id) {
		sample->wanted_status = (uint8_t)status;
		sample->was_listed = sample->is_listed;
		sample->wanted_label = (int32_t)batch->labels[i];
		sample->has_result = false;
		if (status != DLBOOST_STATUS_OK)
			store_result(batch, i, c->result);
	}
	if (status == DLBOOST_STATUS_OK) {
		finish_good(batch, i, c->result);
		return DLB_JUDGEMENT_DONE;
	}
	if (!sample->is_listed && may_mend &&
	    may_try_again(stream, sample, status)) {
		sample->engine_idx = (uint8_t)((sample->engine_idx + 1) %
					       stream->nr_engines);
		return DLB_JUDGEMENT_AGAIN;
	}
	return give_up(stream, batch, i, status);
}

static void record_bad(struct dlboost_stream *stream,
		       struct dlboost_batch *batch, uint32_t i)
{
	struct dlb_sample *sample = &batch->samples[i];
	struct dlb_stats *stats = &stream->stats;

	if (sample->was_listed) {
		stats->total.quarantined++;
		return;
	}
	if (!sample->is_duplicate)
		stream->bad++;
	if (stream->quarantine && sample->is_of_file)
		dlb_quarantine_add(stream->quarantine, stream->dataset,
				   sample->wanted_id, sample->wanted_status);
}

/* For dlboost_stream_bad_sample(), as the batch goes back to the pool */
static void keep_failed(struct dlboost_stream *stream,
			const struct dlboost_batch *batch, uint32_t i)
{
	stream->has_failed = true;
	stream->failed_id = (uint64_t)batch->wanted_ids[i];
	dlboost_batch_sample_error(batch, i, &stream->failed_result);
}

static int refuse_batch(struct dlboost_stream *stream,
			struct dlboost_batch *batch, uint32_t first,
			uint32_t nr_broken)
{
	char what[sizeof(stream->error) - 256];

	keep_failed(stream, batch, first);
	dlb_batch_describe(batch, first, what, sizeof(what));
	if (nr_broken > 1)
		dlb_sentence(stream->error, sizeof(stream->error),
			     "epoch %u, batch %llu, sample %lld: %s (and %u more in this batch)",
			     batch->epoch, (unsigned long long)batch->batch_idx,
			     (long long)batch->wanted_ids[first], what,
			     nr_broken - 1);
	else
		dlb_sentence(stream->error, sizeof(stream->error),
			     "epoch %u, batch %llu, sample %lld: %s",
			     batch->epoch, (unsigned long long)batch->batch_idx,
			     (long long)batch->wanted_ids[first], what);
	return -EBADMSG;
}

static int refuse_budget(struct dlboost_stream *stream,
			 struct dlboost_batch *batch, uint32_t last)
{
	char what[sizeof(stream->error) - 256];

	keep_failed(stream, batch, last);
	dlb_batch_describe(batch, last, what, sizeof(what));
	dlb_sentence(stream->error, sizeof(stream->error),
		     "%llu bad samples in epoch %u, more than max_bad allows (%llu); the last: %s",
		     (unsigned long long)stream->bad, batch->epoch,
		     (unsigned long long)stream->max_bad, what);
	return -EDQUOT;
}

/*
 * Under "fail" the first bad batch says which sample it was, however many more
 * are in it, unless none is allowed at all.
 */
static bool is_over_budget(const struct dlboost_stream *stream,
			   const struct dlboost_batch *batch)
{
	if (stream->bad <= stream->max_bad)
		return false;
	return stream->on_error != DLBOOST_ON_ERROR_FAIL ||
	       batch->bad_before || !stream->max_bad;
}

int dlb_policy_settle_locked(struct dlboost_stream *stream,
			     struct dlboost_batch *batch)
{
	struct dlboost_stream_stats *total = &stream->stats.total;
	uint32_t first_broken = 0, nr_broken = 0, last_bad = 0;

	batch->bad_before = stream->bad;
	for (uint32_t i = 0; i < batch->count; i++) {
		unsigned int status = batch->samples[i].wanted_status;

		total->bad[status]++;
		total->warned += !!(batch->flags[i] & DLBOOST_SAMPLE_F_WARNED);
		total->replaced +=
			!!(batch->flags[i] & DLBOOST_SAMPLE_F_REPLACED);
		batch->nr_bad += batch->status[i] != DLBOOST_STATUS_OK;
		if (status != DLBOOST_STATUS_OK) {
			record_bad(stream, batch, i);
			last_bad = i;
		}
		if (batch->samples[i].is_breaking && !nr_broken++)
			first_broken = i;
	}
	batch->bad_after = stream->bad;
	if (is_over_budget(stream, batch))
		return refuse_budget(stream, batch, last_bad);
	if (nr_broken)
		return refuse_batch(stream, batch, first_broken, nr_broken);
	return 0;
}
