/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * State documents: where a stream stands, as text.  Pure: formats, parses and
 * merges; libdl/stream/stream.c fills and obeys them.  The parser takes hostile
 * input.  Documentation/streams.rst, "State".
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
	uint64_t bad_samples;	/* of this rank in this epoch, for the budget */
	char profile[16];
	char recipe[512];	/* canonical */
	char decoder[64];	/* library version: degraded files depend on it */
};

/* Bytes needed, NUL included; writes at most @buf_bytes */
size_t dlb_state_format(const struct dlb_state *state, char *buf,
			size_t buf_bytes);
/* 0, or -EINVAL with one sentence naming line and reason */
int dlb_state_parse(const char *text, struct dlb_state *out, char *error,
		    size_t error_bytes);
/*
 * The documents of all ranks (or of any of them) -> one.  Positions that differ
 * are refused unless @allow_repeat: then the smallest counts and @repeated
 * receives how many samples repeat.  -EINVAL with a sentence otherwise.
 */
int dlb_state_merge(const char *const *texts, uint32_t nr, bool allow_repeat,
		    struct dlb_state *out, uint64_t *repeated, char *error,
		    size_t error_bytes);

#endif /* DLB_STREAM_STATE_H */
