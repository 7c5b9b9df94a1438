// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The state documents of several ranks -> the one global cursor from which any
 * number of ranks can go on.  Knows what the documents mean together, not how
 * they are written (state.c).  Pure but for a warning to the log; no locks.
 * Documentation/order.rst, "Resume".
 */
#include "state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dlboost/log.h>

#include "../base/base.h"
#include "order.h"

struct merge {
	const char *const *texts;
	uint32_t nr;
	struct dlb_state first;	/* what all must agree with */
	uint32_t epoch;		/* where the least advanced rank stands */
	uint64_t position;
	bool do_positions_differ;
	uint64_t bad_samples;
	uint32_t *ranks;
	char *error;
	size_t error_bytes;
};

static int merge_parse(const struct merge *m, uint32_t idx,
		       struct dlb_state *out)
{
	char reason[DLBOOST_ERROR_BYTES];

	if (!dlb_state_parse(m->texts[idx], out, reason, sizeof(reason)))
		return 0;
	if (m->nr == 1)
		dlb_sentence(m->error, m->error_bytes, "%s", reason);
	else
		dlb_sentence(m->error, m->error_bytes, "%u of %u: %s", idx + 1,
			     m->nr, reason);
	return -EINVAL;
}

static int merge_check_common(const struct merge *m, uint32_t idx,
			      const struct dlb_state *state)
{
	const char *key = dlb_state_difference(&m->first, state);

	if (key) {
		dlb_sentence(m->error, m->error_bytes,
			     "state documents 1 and %u differ in %s, so they are not of one stream",
			     idx + 1, key);
		return -EINVAL;
	}
	if (strcmp(m->first.decoder, state->decoder))
		dlb_log(DLBOOST_LOG_WARN,
			"rank %u decoded with %s, rank %u with %s: damaged files may differ between them",
			m->first.rank, m->first.decoder, state->rank,
			state->decoder);
	return 0;
}

/* An epoch of which nothing is left is the next one's beginning */
static void state_settle(struct dlb_state *state)
{
	const struct dlb_shard shard = {
		.nr_samples = state->nr_samples, .start = state->position,
		.batch = state->batch, .world = state->world,
		.tail = state->tail,
	};

	if (dlb_shard_nr_batches(&shard) || state->epoch == UINT32_MAX)
		return;
	state->epoch++;
	state->position = 0;
	state->bad_samples = 0;
}

static int compare_ranks(const void *a, const void *b)
{
	uint32_t ra = *(const uint32_t *)a, rb = *(const uint32_t *)b;

	return (ra > rb) - (ra < rb);
}

static int merge_check_ranks(const struct merge *m)
{
	qsort(m->ranks, m->nr, sizeof(*m->ranks), compare_ranks);
	for (uint32_t i = 1; i < m->nr; i++) {
		if (m->ranks[i] != m->ranks[i - 1])
			continue;
		dlb_sentence(m->error, m->error_bytes,
			     "two of the state documents are of rank %u; give one for each rank",
			     m->ranks[i]);
		return -EINVAL;
	}
	return 0;
}

/* Read all once: agreement, ranks, and the least advanced point */
static int merge_survey(struct merge *m)
{
	for (uint32_t i = 0; i < m->nr; i++) {
		struct dlb_state state;
		int ret = merge_parse(m, i, &state);

		if (!ret && i == 0)
			m->first = state;
		if (!ret)
			ret = merge_check_common(m, i, &state);
		if (ret)
			return ret;
		m->ranks[i] = state.rank;
		if (m->nr > 1)
			state_settle(&state);
		if (__builtin_add_overflow(m->bad_samples, state.bad_samples,
					   &m->bad_samples))
			m->bad_samples = UINT64_MAX;
		if (i > 0 && (state.epoch != m->epoch ||
			      state.position != m->position))
			m->do_positions_differ = true;
		if (i == 0 || state.epoch < m->epoch ||
		    (state.epoch == m->epoch &&
		     state.position < m->position)) {
			m->epoch = state.epoch;
			m->position = state.position;
		}
	}
	return merge_check_ranks(m);
}

/* Samples that the rank of @state has consumed past the common point */
static uint64_t merge_repeats(const struct merge *m,
			      const struct dlb_state *state)
{
	struct dlb_shard shard = {
		.nr_samples = state->nr_samples, .start = m->position,
		.batch = state->batch, .rank = state->rank,
		.world = state->world, .tail = state->tail,
	};
	uint64_t nr;

	if (state->epoch == m->epoch)
		return dlb_shard_nr_positions(&shard, state->position);
	nr = dlb_shard_nr_positions(&shard,
				    dlb_shard_cursor(&shard, UINT64_MAX));
	shard.start = 0;
	return nr + dlb_shard_nr_positions(&shard, state->position);
}

static int merge_settle(struct merge *m, bool allow_repeat, uint64_t *repeated)
{
	struct dlb_state state;

	for (uint32_t i = 0; i < m->nr && m->do_positions_differ; i++) {
		if (merge_parse(m, i, &state))
			return -EINVAL;
		state_settle(&state);
		if (state.epoch - m->epoch > 1) {
			dlb_sentence(m->error, m->error_bytes,
				     "the ranks saved in epochs %u and %u; states of one save are needed",
				     m->epoch, state.epoch);
			return -EINVAL;
		}
		*repeated += merge_repeats(m, &state);
	}
	if (!m->do_positions_differ || allow_repeat)
		return 0;
	dlb_sentence(m->error, m->error_bytes,
		     "the ranks saved at different steps; from the earliest, epoch %u position %" PRIu64 ", %" PRIu64 " samples would repeat: allow_repeat accepts that",
		     m->epoch, m->position, *repeated);
	return -EINVAL;
}

int dlb_state_merge(const char *const *texts, uint32_t nr, bool allow_repeat,
		    struct dlb_state *out, uint64_t *repeated, char *error,
		    size_t error_bytes)
{
	struct merge m = {
		.texts = texts, .nr = nr, .error = error,
		.error_bytes = error_bytes,
	};
	_cleanup_free_ uint32_t *ranks = NULL;
	uint64_t nr_repeated = 0;
	int ret;

	if (!nr) {
		dlb_sentence(error, error_bytes, "no state document given");
		return -EINVAL;
	}
	ranks = calloc(nr, sizeof(*ranks));
	if (!ranks) {
		dlb_sentence(error, error_bytes,
			     "out of memory for %u state documents", nr);
		return -ENOMEM;
	}
	m.ranks = ranks;
	ret = merge_survey(&m);
	if (!ret)
		ret = merge_settle(&m, allow_repeat, &nr_repeated);
	if (ret)
		return ret;
	*out = m.first;
	out->epoch = m.epoch;
	out->position = m.position;
	out->bad_samples = m.bad_samples;
	if (repeated)
		*repeated = nr_repeated;
	return 0;
}
