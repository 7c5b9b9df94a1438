// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Between a stream and its state documents: which facts a document must share
 * with the stream that resumes from it, and what a stream writes into one.
 * The text itself is state.c's.  Documentation/streams.rst, "State".
 */
#include "resume.h"

#include <errno.h>
#include <string.h>

#include <dlboost/log.h>

#include "../base/base.h"

static const char *profile_name(uint32_t profile)
{
	return profile == DLBOOST_PROFILE_FAST ? "fast" : "exact";
}

static const char *decoder_name(const struct dlboost_stream *stream)
{
	struct dlboost_engine_info info = { .decoder = NULL };

	stream->engines[0].engine->ops->info(&info);
	return info.decoder ? info.decoder : "";
}

static int check_dataset(const struct dlboost_stream *stream,
			 const struct dlb_state *state, char *error,
			 size_t error_bytes)
{
	const struct dlboost_dataset_info *now = &stream->dataset_info;

	if (!strcmp(state->fingerprint, now->fingerprint) &&
	    state->nr_samples == now->nr_samples)
		return 0;
	dlb_sentence(error, error_bytes,
		     "the state belongs to data set %s (%llu samples), this is %s (%llu): the files have changed, or it is another data set",
		     state->fingerprint, (unsigned long long)state->nr_samples,
		     now->fingerprint, (unsigned long long)now->nr_samples);
	return -ESTALE;
}

static int check_pixels(const struct dlboost_stream *stream,
			const struct dlb_state *state, char *error,
			size_t error_bytes)
{
	const char *recipe = dlboost_recipe_canonical(stream->recipe);
	const char *profile = profile_name(stream->profile);

	if (strcmp(state->recipe, recipe)) {
		dlb_sentence(error, error_bytes,
			     "the state was made with recipe %s, not %s",
			     state->recipe, recipe);
		return -EINVAL;
	}
	if (strcmp(state->profile, profile)) {
		dlb_sentence(error, error_bytes,
			     "the state was made with profile %s, not %s",
			     state->profile, profile);
		return -EINVAL;
	}
	return 0;
}

/*
 * Bad samples of the epoch so far.  The rank's own count where its document is
 * there and the world is the same; else an equal share of what is known.
 */
static uint64_t bad_so_far(const struct dlboost_stream_attr *attr,
			   const struct dlb_state *merged, uint32_t world,
			   uint32_t rank)
{
	struct dlb_state own;

	for (uint32_t i = 0; i < attr->nr_states; i++)
		if (merged->world == world &&
		    !dlb_state_parse(attr->states[i], &own, NULL, 0) &&
		    own.rank == rank && own.epoch == merged->epoch)
			return own.bad_samples;
	return (merged->bad_samples + world - 1) / world;
}

/*
 * Documents that all stand at the end of an epoch merge to the beginning of the
 * next.  A stream stays at the end, so that a loop over epochs that begins with
 * set_epoch() of the old one does not see it twice.
 */
static void stay_at_end(const struct dlboost_stream_attr *attr,
			struct dlb_state *merged)
{
	struct dlb_state one;

	if (merged->position)
		return;
	for (uint32_t i = 0; i < attr->nr_states; i++)
		if (dlb_state_parse(attr->states[i], &one, NULL, 0) ||
		    one.epoch == merged->epoch)
			return;
	merged->epoch = one.epoch;
	merged->position = one.position;
}

int dlb_resume_read(struct dlboost_stream *stream,
		    const struct dlboost_stream_attr *attr,
		    struct dlb_resume *out, char *error, size_t error_bytes)
{
	struct dlb_state state;
	const char *decoder = decoder_name(stream);
	int ret;

	ret = dlb_state_merge(attr->states, attr->nr_states,
			      attr->allow_repeat, &state,
			      &stream->info.repeated_samples, error,
			      error_bytes);
	if (ret)
		return ret;
	stay_at_end(attr, &state);
	if (state.order_version != DLB_ORDER_VERSION) {
		dlb_sentence(error, error_bytes,
			     "the state has order version %u, this library has %u",
			     state.order_version, DLB_ORDER_VERSION);
		return -EINVAL;
	}
	ret = check_dataset(stream, &state, error, error_bytes);
	if (!ret)
		ret = check_pixels(stream, &state, error, error_bytes);
	if (ret)
		return ret;
	if (state.position > state.nr_samples) {
		dlb_sentence(error, error_bytes,
			     "the state stands at position %llu of %llu samples",
			     (unsigned long long)state.position,
			     (unsigned long long)state.nr_samples);
		return -EINVAL;
	}
	if (strcmp(state.decoder, decoder))
		dlb_log(DLBOOST_LOG_WARN,
			"resume: the state was made with %s, this is %s: damaged files may give other pixels",
			state.decoder, decoder);
	stream->seed = state.seed;
	stream->augment_seed = state.augment_seed;
	stream->no_shuffle = state.no_shuffle;
	out->epoch = state.epoch;
	out->position = state.position;
	out->bad = bad_so_far(attr, &state, stream->shard.world,
			      stream->shard.rank);
	return 0;
}

/* Where the consumer stands: all batches before the first unreleased one */
static void find_cursor_locked(const struct dlboost_stream *stream,
			       struct dlb_state *state)
{
	const struct dlboost_batch *first = NULL;
	uint64_t idx = stream->take_idx;

	for (uint32_t i = 0; i < stream->pool->nr_slots; i++) {
		const struct dlboost_batch *batch = &stream->pool->batches[i];

		if (batch->state == DLB_SLOT_HELD && !batch->is_released &&
		    batch->generation == stream->generation &&
		    batch->batch_idx < idx) {
			first = batch;
			idx = batch->batch_idx;
		}
	}
	state->epoch = stream->epoch;
	state->position = dlb_shard_cursor(&stream->shard, idx);
	state->bad_samples = first ? first->bad_before : stream->bad;
}

static void fill_state(const struct dlboost_stream *stream,
		       struct dlb_state *state)
{
	state->order_version = DLB_ORDER_VERSION;
	state->nr_samples = stream->dataset_info.nr_samples;
	state->seed = stream->seed;
	state->augment_seed = stream->augment_seed;
	state->rank = stream->shard.rank;
	state->world = stream->shard.world;
	state->batch = stream->shard.batch;
	state->tail = stream->shard.tail;
	state->no_shuffle = stream->no_shuffle;
	dlb_sentence(state->fingerprint, sizeof(state->fingerprint), "%s",
		     stream->dataset_info.fingerprint);
	dlb_sentence(state->profile, sizeof(state->profile), "%s",
		     profile_name(stream->profile));
	dlb_sentence(state->recipe, sizeof(state->recipe), "%s",
		     dlboost_recipe_canonical(stream->recipe));
	dlb_sentence(state->decoder, sizeof(state->decoder), "%s",
		     decoder_name(stream));
}

DLB_EXPORT int dlboost_stream_state(const struct dlboost_stream *stream,
				    const struct dlboost_batch *after,
				    char *buf, size_t buf_bytes,
				    size_t *len_bytes)
{
	struct dlb_state state = { 0 };
	size_t need;

	if (dlb_pool_is_foreign(stream->pool))
		return -EPERM;
	if (after && after->pool != stream->pool)
		return -EINVAL;
	fill_state(stream, &state);
	pthread_mutex_lock(&stream->pool->lock);
	if (after) {
		state.epoch = after->epoch;
		state.position = after->cursor_after;
		state.bad_samples = after->bad_after;
	} else {
		find_cursor_locked(stream, &state);
	}
	pthread_mutex_unlock(&stream->pool->lock);
	need = dlb_state_format(&state, buf, buf_bytes);
	if (len_bytes)
		*len_bytes = need;
	return need > buf_bytes ? -ENOSPC : 0;
}
