/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * State documents: where a stream stands, as text.  Pure: formats, parses and
 * merges; libdl/stream/stream.c fills and obeys them.  The parser takes hostile
 * input.  Documentation/order.rst, "State documents".
 */
#ifndef DLB_STREAM_STATE_H
#define DLB_STREAM_STATE_H

#include <dlboost/stream.h>

#include <stdbool.h>

#define DLB_STATE_MAX_BYTES 4096

struct dlb_state {
	uint32_t order_version;
	char fingerprint[DLBOOST_FINGERPRINT_BYTES];
	uint64_t nr_samples;
	uint64_t seed;
	uint64_t augment_seed;
	uint32_t epoch;
	uint64_t position;	/* global: all before it are consumed */
	uint32_t rank;
	uint32_t world;
	uint32_t batch;
	uint32_t tail;
	uint32_t no_shuffle;
	uint64_t bad_samples;	/* of this rank in this epoch */
	char profile[16];
	char recipe[512];	/* canonical */
	char decoder[64];	/* degraded files depend on its version */
};

/* Bytes needed, NUL included; writes at most @buf_bytes */
size_t dlb_state_format(const struct dlb_state *state, char *buf,
			size_t buf_bytes);
/* 0, or -EINVAL with one sentence naming line and reason */
int dlb_state_parse(const char *text, struct dlb_state *out, char *error,
		    size_t error_bytes);
/*
 * Key of the first entry that ranks of one stream must have in common and these
 * two have not, or NULL
 */
const char *dlb_state_difference(const struct dlb_state *a,
				 const struct dlb_state *b);
/*
 * The documents of all ranks (or of any of them) -> one.  Positions that differ
 * are refused unless @allow_repeat: then the smallest counts and @repeated (may
 * be NULL) receives how many samples repeat.  @out->bad_samples is the sum over
 * the documents, @out->rank means nothing, the rest is common to all.
 * -EINVAL with a sentence otherwise, -ENOMEM.
 */
int dlb_state_merge(const char *const *texts, uint32_t nr, bool allow_repeat,
		    struct dlb_state *out, uint64_t *repeated, char *error,
		    size_t error_bytes);

#endif /* DLB_STREAM_STATE_H */
